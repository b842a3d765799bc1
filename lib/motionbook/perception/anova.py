"""Analysis of variance for mixed designs: any number of within and between factors, unbalanced groups.

The multivariate route (as R's car and afex take): the scores of a subject form a row; every within effect is a set of
orthonormal contrasts of the row; on those contrasts the between terms are tested against the pooled residual of the
between cells. All effects that share a set of contrasts share an error term and a departure from sphericity.
"""

from functools import reduce

import numpy as np

from motionbook.perception.designs import Design, read_design, subsets

INTERCEPT = "(Intercept)"
COLUMNS = (
    *("SS", "num_df", "SS_error", "den_df", "F", "p", "W", "W_p", "eps_GG", "GG_num_df", "GG_den_df", "p_GG"),
    *("eps_HF", "HF_num_df", "HF_den_df", "p_HF", "pes", "ges"),
)


def mixed_anova(data, dv, subject, within=(), between=(), *, type: int = 3, missing: str = "error"):
    """Univariate tests of every effect of a mixed design, with sphericity corrections and effect sizes.

    Parameters
    ----------
    data : data frame, one score per row
    dv, subject : str
        Columns of the scores and of the people. Several scores of a person in one cell are averaged first, as they are
        when a within factor is not named.
    within, between : str or sequence of str
        Columns of the factors.
    type : {3, 2}
        Sums of squares of the between terms: each after all others (3, with sum contrasts), or after those that do not
        contain it (2). They differ only when groups are unequal.
    missing : {"error", "drop"}
        Refuse subjects who lack a cell, or leave them out whole; who was left out is in ``.attrs["dropped"]``.

    Returns
    -------
    pandas.DataFrame
        By ``effect`` ("motion:gender:identity", between factors first), the intercept first, in afex's order: ``SS``,
        ``num_df``, ``SS_error``, ``den_df``, ``F``, ``p`` (no correction); Mauchly's ``W`` and ``W_p`` (as R gives it,
        see ``mauchly``); ``eps_GG``, ``GG_num_df``, ``GG_den_df``, ``p_GG`` (Greenhouse-Geisser); ``eps_HF``
        (Huynh-Feldt, may exceed 1, which is cut to 1 for the df and ``p_HF``); ``pes`` and ``ges``, partial and
        generalised eta squared. Where sphericity is no question (one degree of freedom) there is no epsilon, and the
        corrected df and p repeat the plain ones. ``.attrs`` tells ``n``,
        ``dropped``, ``type``, ``within``, ``between`` and ``per_cell``.

    Raises
    ------
    ValueError
        See ``designs.read_design``; and when a score never varies within a cell, so that there is no error term.
    """
    import pandas as pd

    if type not in (2, 3):
        raise ValueError(f"type: expected 2 or 3, got {type!r}")
    design = read_design(data, dv, subject, within, between, missing=missing)
    frame = pd.DataFrame(anova_rows(design, type), columns=["effect", *COLUMNS]).set_index("effect")
    _add_p_values(frame)
    frame.attrs = {
        "n": len(design.scores),
        "dropped": list(design.dropped),
        "type": type,
        "within": list(design.within),
        "between": list(design.between),
        "per_cell": list(design.per_cell),
    }
    return frame


def anova_rows(design: Design, type: int = 3) -> list[tuple]:
    """Rows of ``mixed_anova`` before the p-values: the effect's name, then ``COLUMNS``."""
    dfe = design.error_df
    codes = _group_levels(design)
    counts = np.bincount(design.group, minlength=len(design.groups)).astype(np.float64)
    means = _group_sums(design.scores, design.group, len(design.groups)) / counts[:, None]
    residuals = design.scores - means[design.group]
    pooled = residuals.T @ residuals  # (cells, cells), error sums of squares and products
    terms = subsets(design.between)
    tests = _term_projections(terms, design, codes, counts, type)
    rows, strata = [], {}
    for effect in subsets(design.within):
        basis = within_contrasts(design.within, effect)
        error = basis.T @ pooled @ basis
        projected = means @ basis  # (groups, q)
        wide = basis.shape[1]
        ss_error, den = float(np.trace(error)), float(dfe * wide)
        # what rounding alone leaves is no error term
        if ss_error <= 1e-12 * max(float((design.scores**2).sum()), 1e-300):
            raise ValueError(
                f"{':'.join(effect) or 'between subjects'}: subjects of a group do not differ at all here, so there is "
                "no error term to test against"
            )
        strata[effect] = ss_error
        shape = _sphericity(error, dfe, len(pooled))
        for term in terms:
            rank, half = tests[term]
            ss = float(((half @ projected) ** 2).sum())
            num = float(rank * wide)
            f = (ss / num) / (ss_error / den)
            name = ":".join((*term, *effect)) or INTERCEPT
            rows.append([name, ss, num, ss_error, den, f, np.nan, *shape, ss / (ss + ss_error), np.nan])
    total = sum(strata.values())
    for row in rows:
        row[-1] = row[1] / (row[1] + total)
    rows[0][-2] = rows[0][-1] = np.nan  # of an intercept no effect size is meant
    return [tuple(row) for row in rows]


def _sphericity(error, dfe: int, cells: int) -> tuple:
    """W, its p, and for each correction epsilon with room for df and p; NaN where a single contrast has no shape."""
    nan, wide = np.nan, len(error)
    if wide == 1:
        return (nan,) * 10
    w, w_p = mauchly(error, dfe, cells)
    greenhouse = np.trace(error) ** 2 / (wide * (error**2).sum())
    below = dfe - wide * greenhouse
    # error of a single direction leaves nothing to divide by; the epsilon is then beyond 1, which is cut
    huynh = ((dfe + 1) * wide * greenhouse - 2) / (wide * below) if below > 1e-12 * dfe else np.inf
    return w, w_p, greenhouse, nan, nan, nan, huynh, nan, nan, nan


def mauchly(error, dfe: int, cells: int | None = None) -> tuple[float, float]:
    """Mauchly's W of an error matrix (q, q) of orthonormal contrasts, and its p (Box's second-order chi-squared).

    The second-order coefficient holds 2 q^3 + 6 q^2 + 3 q + 2. R (stats and car, and so afex) has the number of all
    within cells in place of the last q; with ``cells`` given, p is R's. The two differ in the second order only.
    NaN for both when there are fewer error degrees of freedom than contrasts, where W is always 0.
    """
    from scipy.special import chdtrc

    wide = len(error)
    if dfe < wide:
        return np.nan, np.nan
    sign, logarithm = np.linalg.slogdet(error)
    log_w = logarithm - wide * np.log(np.trace(error) / wide) if sign > 0 else -np.inf
    rho = 1 - (2 * wide**2 + wide + 2) / (6 * wide * dfe)
    second = (wide + 2) * (wide - 1) * (wide - 2) * (2 * wide**3 + 6 * wide**2 + 3 * (cells or wide) + 2)
    second /= 288 * (dfe * wide * rho) ** 2
    z, df = -dfe * rho * log_w, wide * (wide + 1) / 2 - 1
    first = chdtrc(df, z)
    return float(np.exp(log_w)), float(min(1.0, first + second * (chdtrc(df + 4, z) - first)))


def _add_p_values(frame) -> None:
    """Fill p and the corrected df and p in place, all rows at once."""
    from scipy.special import fdtrc

    num, den, f = (frame[name].to_numpy() for name in ("num_df", "den_df", "F"))
    frame["p"] = fdtrc(num, den, f)
    for kind in ("GG", "HF"):
        factor = frame[f"eps_{kind}"].fillna(1.0).clip(upper=1.0).to_numpy()
        frame[f"{kind}_num_df"], frame[f"{kind}_den_df"] = factor * num, factor * den
        frame[f"p_{kind}"] = fdtrc(factor * num, factor * den, f)
    frame.iloc[0, [COLUMNS.index(f"{kind}_{part}") for kind in ("GG", "HF") for part in ("num_df", "den_df")]] = np.nan
    frame.iloc[0, [COLUMNS.index(name) for name in ("p_GG", "p_HF")]] = np.nan


def within_contrasts(within: dict[str, tuple], effect) -> np.ndarray:
    """Orthonormal contrasts (cells, q) of a within effect: averages over factors outside it, differences inside."""
    parts = [np.ones((1, 1))]
    for name, levels in within.items():
        size = len(levels)
        parts.append(_differences(size) if name in effect else np.full((size, 1), size**-0.5))
    return reduce(np.kron, parts)


def _differences(size: int) -> np.ndarray:
    """Helmert contrasts of unit length (size, size - 1)."""
    columns = np.triu(np.ones((size, size - 1)))
    columns[np.arange(1, size), np.arange(size - 1)] = -np.arange(1, size)
    return columns / np.linalg.norm(columns, axis=0)


def _group_levels(design: Design) -> np.ndarray:
    """Level number of every between factor in every group (groups, factors)."""
    levels = list(design.between.values())
    return np.array([[own.index(value) for own, value in zip(levels, group, strict=True)] for group in design.groups])


def _group_sums(values, group, count: int) -> np.ndarray:
    sums = np.zeros((count, values.shape[1]))
    np.add.at(sums, group, values)
    return sums


def _term_projections(terms, design: Design, codes, counts, type: int) -> dict:
    """For every between term its rank and a matrix (rank, groups): its product with group means, squared, sums to SS.

    The model is saturated over between cells, so that all that depends on the data is the cells' means.
    """
    sizes = {name: len(levels) for name, levels in design.between.items()}
    columns = {}
    for term in terms:
        parts = [np.ones((1, len(counts)))]
        for place, name in enumerate(design.between):
            if name in term:
                # sum contrasts: the last level is minus the others
                table = np.vstack([np.eye(sizes[name] - 1), -np.ones(sizes[name] - 1)])
                parts.append(table[codes[:, place]].T)
        columns[term] = reduce(lambda a, b: (a[:, None] * b[None]).reshape(-1, b.shape[1]), parts).T
    root = np.sqrt(counts)[:, None]
    tests = {}
    for term in terms:
        if type == 3:
            others = [t for t in terms if t != term]
        else:
            others = [t for t in terms if t != term and not set(term) <= set(t)]
        own = root * columns[term]
        if others:
            q, _ = np.linalg.qr(root * np.hstack([columns[t] for t in others]))
            own = own - q @ (q.T @ own)
        q, _ = np.linalg.qr(own)
        tests[term] = (own.shape[1], q.T * root[:, 0])
    return tests
