"""After an analysis of variance: marginal means, comparisons within people, corrections for many tests.

Means weigh all cells equally, whatever the sizes of groups. Their covariance comes from the subjects' own rows, so that
a comparison within subjects has the error of the differences, not that of the levels.
"""

from itertools import combinations, product

import numpy as np

from motionbook.perception.anova import mixed_anova
from motionbook.perception.designs import Design, as_names, read_design

ADJUSTMENTS = ("holm", "bonferroni", "fdr", "none")


def adjust_p(p, method: str = "holm") -> np.ndarray:
    """p-values corrected for their number, in the order given; NaN stay NaN and are not counted.

    ``holm`` and ``bonferroni`` hold the chance of any false finding, ``fdr`` (Benjamini-Hochberg) the share of false
    ones among the findings.
    """
    if method not in ADJUSTMENTS:
        raise ValueError(f"method: expected one of {', '.join(ADJUSTMENTS)}, got {method!r}")
    p = np.asarray(p, dtype=np.float64)
    given = ~np.isnan(p)
    values, count = p[given], int(given.sum())
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    if method == "holm":
        ranked = np.maximum.accumulate((count - np.arange(count)) * ranked)
    elif method == "bonferroni":
        ranked = count * ranked
    elif method == "fdr":
        ranked = np.minimum.accumulate((ranked * count / np.arange(1, count + 1))[::-1])[::-1]
    out = np.full(p.shape, np.nan)
    corrected = np.empty(count)
    corrected[order] = np.minimum(ranked, 1.0)
    out[given] = corrected
    return out


def marginal_means(data, dv, subject, within=(), between=(), *, factors, level: float = 0.95, missing: str = "error"):
    """Estimated mean at every combination of levels of ``factors``, all cells of the other factors weighed equally.

    Returns
    -------
    pandas.DataFrame
        Indexed by the factors: ``mean``, ``se``, ``df``, ``low``, ``high`` (Student's t at ``level``).
    """
    import pandas as pd
    from scipy import stats

    design = read_design(data, dv, subject, within, between, missing=missing)
    factors = _known(design, factors)
    keys, weights = _weights(design, factors)
    estimate, se = _estimates(design, np.array(weights))
    half = stats.t.ppf(0.5 + level / 2, design.error_df) * se
    index = pd.MultiIndex.from_tuples(keys, names=factors) if len(factors) > 1 else None
    if index is None:
        index = pd.Index([key[0] for key in keys], name=factors[0])
    values = {"mean": estimate, "se": se, "df": design.error_df, "low": estimate - half, "high": estimate + half}
    return pd.DataFrame(values, index=index)


def pairwise(
    data, dv, subject, within=(), between=(), *, factor: str, by=(), adjust: str = "tukey", missing: str = "error"
):
    """Every pair of levels of ``factor`` compared, separately at each combination of levels of ``by``.

    A t test on the subjects' own differences (or on group means for a between factor), with the subjects less the
    between cells as degrees of freedom. For two levels Tukey's correction changes nothing.

    Parameters
    ----------
    data, dv, subject, within, between, missing
        As for ``mixed_anova``.
    factor : str
    by : str or sequence of str
    adjust : {"tukey", "holm", "bonferroni", "fdr", "none"}
        Correction over the pairs of one combination of ``by``; Tukey's uses the studentised range.

    Returns
    -------
    pandas.DataFrame
        The columns of ``by``, then ``a``, ``b``, ``difference`` (a - b), ``se``, ``df``, ``t``, ``p`` (uncorrected),
        ``p_adjusted``; the correction is in ``.attrs["adjust"]``.
    """
    import pandas as pd
    from scipy import stats

    if adjust not in ("tukey", *ADJUSTMENTS):
        raise ValueError(f"adjust: expected tukey, {', '.join(ADJUSTMENTS)}, got {adjust!r}")
    design = read_design(data, dv, subject, within, between, missing=missing)
    by = _known(design, by) if by else []
    _known(design, [factor])
    if factor in by:
        raise ValueError(f"by: {factor} is the factor compared; name others")
    levels = {**design.within, **design.between}[factor]
    keys, weights = _weights(design, [*by, factor])
    lookup = dict(zip(keys, weights, strict=True))
    parts = []
    for place in product(*({**design.within, **design.between}[name] for name in by)):
        pairs = list(combinations(levels, 2))
        contrast = np.array([lookup[(*place, a)] - lookup[(*place, b)] for a, b in pairs])
        difference, se = _estimates(design, contrast)
        if (se <= 1e-12).any():
            raise ValueError(f"{factor}: a pair differs by the same amount in every subject, so there is no error term")
        part = pd.DataFrame(pairs, columns=["a", "b"])
        for column, name in enumerate(by):
            part.insert(column, name, place[column])
        part = part.assign(difference=difference, se=se, df=design.error_df, t=difference / se)
        part["p"] = 2 * stats.t.sf(part.t.abs(), design.error_df)
        if adjust == "tukey":
            statistic = np.sqrt(2) * part.t.abs().to_numpy()
            part["p_adjusted"] = np.clip(stats.studentized_range.sf(statistic, len(levels), design.error_df), 0, 1)
        else:
            part["p_adjusted"] = adjust_p(part.p, adjust)
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    frame.attrs = {"adjust": adjust, "n": len(design.scores), "dropped": list(design.dropped)}
    return frame


def tukey_unpaired(data, dv, factor):
    """Tukey's HSD on the long table, as if every score came from somebody else.

    For comparison with results that were computed so; where people give several scores, use ``pairwise``.

    Returns
    -------
    pandas.DataFrame
        ``a``, ``b``, ``difference``, ``p_adjusted``.
    """
    import pandas as pd
    from scipy import stats

    samples = {level: part[dv].to_numpy(dtype=np.float64) for level, part in data.groupby(factor, sort=True)}
    result, names = stats.tukey_hsd(*samples.values()), list(samples)
    rows = [(a, b, result.statistic[i, j], result.pvalue[i, j]) for (i, a), (j, b) in combinations(enumerate(names), 2)]
    return pd.DataFrame(rows, columns=["a", "b", "difference", "p_adjusted"])


def simple_effects(data, dv, subject, within=(), between=(), *, at: str, missing: str = "error"):
    """The analysis of variance inside each level of ``at``, with that level's own error terms.

    Returns
    -------
    pandas.DataFrame
        ``mixed_anova``'s columns, indexed by level of ``at`` and effect.
    """
    import pandas as pd

    within, between = as_names(within), as_names(between)
    if at not in (*within, *between):
        raise ValueError(f"at: expected one of {', '.join([*within, *between])}, got {at!r}")
    left = ([name for name in within if name != at], [name for name in between if name != at])
    parts = {
        level: mixed_anova(part, dv, subject, *left, missing=missing) for level, part in data.groupby(at, sort=True)
    }
    # concat would compare the notes of the parts, which are each level's own
    notes = {level: dict(part.attrs) for level, part in parts.items()}
    for part in parts.values():
        part.attrs = {}
    frame = pd.concat(parts, names=[at])
    frame.attrs = {"levels": notes}
    return frame


def _known(design: Design, factors) -> list[str]:
    factors = as_names(factors)
    known = [*design.within, *design.between]
    if not factors or (wrong := [name for name in factors if name not in known]):
        raise ValueError(f"factors: expected some of {', '.join(known)}, got {', '.join(wrong) if factors else 'none'}")
    return factors


def _weights(design: Design, factors):
    """Combinations of levels, and for each the weight of every cell (groups, cells), summing to 1."""
    everything = {**design.within, **design.between}
    names_in, names_out = list(design.within), list(design.between)
    keys, weights = list(product(*(everything[name] for name in factors))), []
    for key in keys:
        chosen = dict(zip(factors, key, strict=True))
        own = np.array([all(chosen.get(n, v) == v for n, v in zip(names_in, c, strict=True)) for c in design.cells])
        who = np.array([all(chosen.get(n, v) == v for n, v in zip(names_out, g, strict=True)) for g in design.groups])
        weights.append(np.outer(who / who.sum(), own / own.sum()))
    return keys, weights


def _estimates(design: Design, weights):
    """Weighted sums of cell means and their standard errors (n,), for weights (n, groups, cells)."""
    count = len(design.groups)
    sizes = np.bincount(design.group, minlength=count)
    means = np.zeros((count, design.scores.shape[1]))
    np.add.at(means, design.group, design.scores)
    means /= sizes[:, None]
    residuals = design.scores - means[design.group]
    covariance = residuals.T @ residuals / design.error_df
    estimate = (weights * means).sum((1, 2))
    variance = np.einsum("ngc,cd,ngd,g->n", weights, covariance, weights, 1.0 / sizes, optimize=True)
    return estimate, np.sqrt(variance.clip(min=0.0))
