"""Simulate and recover: do the intervals of a fit hold what they promise?

Answers are drawn from the five-level ordinal model at known scores. The ordinal fit has to find those scores. The
weighted fit has a large-sample limit of its own, further apart than the scores the answers came from, as it counts a
clear preference as four wins; its intervals have to hold that limit, and hold the simulating scores only by chance.
"""

import numpy as np

from motionbook.perception.comparisons import THRESHOLDS, simulate_counts
from motionbook.perception.planner import expected_fit, fit_studies
from motionbook.perception.votes import WEIGHTS

_BATCH = 100


def recovery(
    elo,
    *,
    raters: int = 118,
    studies: int = 100,
    seed: int = 0,
    answers_each: int = 16,
    thresholds=THRESHOLDS,
    weights=WEIGHTS,
    level: float = 0.95,
):
    """Coverage of intervals (sandwich over raters, Student's t) in simulated studies.

    Parameters
    ----------
    elo : series by system
        Scores that the answers are simulated from; StayStill's Table 2, say.
    raters, answers_each : int
        Of every study.
    studies : int
    seed : int

    Returns
    -------
    pandas.DataFrame
        By system: ``simulated`` score; ``ordinal_mean`` and ``ordinal_coverage`` of it by the ordinal fit; the weighted
        fit's ``limit``, its ``weighted_mean``, ``weighted_coverage`` of the limit and ``weighted_coverage_simulated``
        of the simulating score.
    """
    import pandas as pd
    from scipy import stats

    truth = elo.to_numpy(dtype=np.float64)
    truth = truth - truth.mean() + 1000.0
    limit, _ = expected_fit(truth, answers_each=answers_each, thresholds=thresholds, weights=weights)
    rng = np.random.default_rng([seed, 0xC0DE])
    width = stats.t.ppf(0.5 + level / 2, raters - 1)
    held = {name: [] for name in ("ordinal", "weighted", "simulated")}
    found = {"ordinal": [], "weighted": []}
    for first in range(0, studies, _BATCH):
        size = min(_BATCH, studies - first)
        counts = simulate_counts(truth, raters, size, rng, answers_each=answers_each, thresholds=thresholds)
        for model, target in (("ordinal", truth), ("weighted", limit)):
            scores, covariance = fit_studies(counts, len(truth), model=model, thresholds=thresholds, weights=weights)
            half = width * np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
            found[model].append(scores)
            held[model].append(np.abs(scores - target) <= half)
            if model == "weighted":
                held["simulated"].append(np.abs(scores - truth) <= half)
    return pd.DataFrame(
        {
            "simulated": truth,
            "ordinal_mean": np.concatenate(found["ordinal"]).mean(0),
            "ordinal_coverage": np.concatenate(held["ordinal"]).mean(0),
            "limit": limit,
            "weighted_mean": np.concatenate(found["weighted"]).mean(0),
            "weighted_coverage": np.concatenate(held["weighted"]).mean(0),
            "weighted_coverage_simulated": np.concatenate(held["simulated"]).mean(0),
        },
        index=elo.index,
    )
