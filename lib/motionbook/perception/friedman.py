"""Rank tests for a few people who rated every level: Friedman's test and Durbin-Conover comparisons."""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from motionbook.perception.posthoc import adjust_p


class Friedman(NamedTuple):
    """Chi-squared (corrected for ties), its degrees of freedom and p, and Kendall's W, agreement from 0 to 1."""

    chi2: float
    df: int
    p: float
    kendall_w: float


def friedman(table) -> Friedman:
    """Friedman's test on scores (people, levels), each person having rated every level.

    Raises
    ------
    ValueError
        Too few people or levels, a missing score, or people who told no two levels apart.
    """
    from scipy.special import chdtrc

    ranks = _ranks(table)
    people, levels = ranks.shape
    spread = ((ranks - (levels + 1) / 2) ** 2).sum()
    sums = ranks.sum(0)
    chi2 = (levels - 1) * ((sums - people * (levels + 1) / 2) ** 2).sum() / spread
    return Friedman(float(chi2), levels - 1, float(chdtrc(levels - 1, chi2)), float(chi2 / (people * (levels - 1))))


def durbin_conover(table, adjust: str = "holm"):
    """Every pair of levels compared after Friedman's test (Conover 1999; what jamovi calls Durbin-Conover).

    Parameters
    ----------
    table : data frame or array (people, levels)
    adjust : {"holm", "bonferroni", "fdr", "none"}

    Returns
    -------
    pandas.DataFrame
        ``a``, ``b`` (names of the columns), ``t`` (absolute), ``df``, ``p``, ``p_adjusted``.
    """
    import pandas as pd
    from scipy import stats

    names = list(getattr(table, "columns", range(np.shape(table)[1])))
    ranks = _ranks(table)
    people, levels = ranks.shape
    sums, squares = ranks.sum(0), (ranks**2).sum()
    df = (people - 1) * (levels - 1)
    spread = 2 * (people * squares - (sums**2).sum()) / df
    if spread <= 1e-12:
        raise ValueError("durbin_conover: all people give the same order, which leaves no error to compare with")
    rows = [
        (a, b, abs(sums[i] - sums[j]) / np.sqrt(spread), df) for (i, a), (j, b) in combinations(enumerate(names), 2)
    ]
    frame = pd.DataFrame(rows, columns=["a", "b", "t", "df"])
    frame["p"] = 2 * stats.t.sf(frame.t, df)
    frame["p_adjusted"] = adjust_p(frame.p, adjust)
    return frame


def _ranks(table) -> np.ndarray:
    from scipy.stats import rankdata

    scores = np.asarray(table, dtype=np.float64)
    if scores.ndim != 2 or scores.shape[0] < 2 or scores.shape[1] < 3:
        raise ValueError(f"table: expected at least 2 people by 3 levels, got {scores.shape}")
    if not np.isfinite(scores).all():
        raise ValueError(f"table: {int((~np.isfinite(scores)).sum())} scores are missing; every person must rate all")
    ranks = rankdata(scores, axis=1)
    if (ranks == ranks[:, :1]).all():
        raise ValueError("table: nobody told any two levels apart, so there are no ranks to test")
    return ranks
