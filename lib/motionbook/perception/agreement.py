"""Do raters agree: intraclass correlations, Krippendorff's alpha, intervals for correlations of few stimuli."""

from collections.abc import Sequence

import numpy as np

from motionbook.perception.opinion import score_matrix

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def _matrix(ratings) -> np.ndarray:
    """(stimuli, raters) from ratings or from such a matrix."""
    if hasattr(ratings, "columns") and "score" in ratings:
        return score_matrix(ratings).to_numpy()
    matrix = np.asarray(ratings, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(
            f"ratings: expected a table with scores or a (stimuli, raters) array, got shape {matrix.shape}"
        )
    return matrix


def icc(ratings, *, level: float = 0.95):
    """The six intraclass correlations of Shrout and Fleiss (1979), with F tests and intervals.

    ICC1: every stimulus has raters of its own; ICC2: raters are a sample, their differences in level count as error;
    ICC3: these raters only, differences in level do not count. With k: of the mean of all raters.

    Parameters
    ----------
    ratings : data frame of ratings, or (stimuli, raters) array
        Stimuli without a score of every rater are left out; how many is in ``.attrs["dropped"]``.
    level : float

    Returns
    -------
    pandas.DataFrame
        By ``form`` (ICC1, ICC2, ICC3, ICC1k, ICC2k, ICC3k): ``icc``, ``F``, ``df1``, ``df2``, ``p``, ``low``, ``high``.
    """
    import pandas as pd
    from scipy import stats

    matrix = _matrix(ratings)
    whole = np.isfinite(matrix).all(1)
    x = matrix[whole]
    n, k = x.shape
    if n < 2 or k < 2:
        raise ValueError(
            f"icc: expected at least two stimuli that at least two raters all rated, got {n} of {len(matrix)} stimuli "
            f"and {k} raters; krippendorff_alpha takes missing scores"
        )
    rows, columns = x.mean(1), x.mean(0)
    ms_rows = k * ((rows - x.mean()) ** 2).sum() / (n - 1)
    ms_columns = n * ((columns - x.mean()) ** 2).sum() / (k - 1)
    within = ((x - rows[:, None]) ** 2).sum()
    ms_within = within / (n * (k - 1))
    df_error = (n - 1) * (k - 1)
    ms_error = max((within - ms_columns * (k - 1)) / df_error, 0.0)
    if ms_error <= 1e-12 * (ms_rows + ms_columns) or ms_rows <= 0:
        raise ValueError("icc: the scores leave no error (or no difference between stimuli) to estimate")
    tests = {1: (ms_rows / ms_within, n * (k - 1)), 3: (ms_rows / ms_error, df_error)}
    single = {
        1: (ms_rows - ms_within) / (ms_rows + (k - 1) * ms_within),
        2: (ms_rows - ms_error) / (ms_rows + (k - 1) * ms_error + k * (ms_columns - ms_error) / n),
        3: (ms_rows - ms_error) / (ms_rows + (k - 1) * ms_error),
    }
    mean = {
        1: (ms_rows - ms_within) / ms_rows,
        2: (ms_rows - ms_error) / (ms_rows + (ms_columns - ms_error) / n),
        3: (ms_rows - ms_error) / ms_rows,
    }
    tail = 0.5 + level / 2
    bounds = {}
    for form, (f, df2) in tests.items():
        low, high = f / stats.f.ppf(tail, n - 1, df2), f * stats.f.ppf(tail, df2, n - 1)
        bounds[form] = tuple((v - 1) / (v + k - 1) for v in (low, high)), (1 - 1 / low, 1 - 1 / high)
    bounds[2] = _icc2_bounds(single[2], ms_rows, ms_columns, ms_error, n, k, tail)
    records = {}
    for label, values, which in (("", single, 0), ("k", mean, 1)):
        for form in (1, 2, 3):
            f, df2 = tests[3 if form == 2 else form]
            records[f"ICC{form}{label}"] = (
                values[form],
                f,
                n - 1,
                df2,
                stats.f.sf(f, n - 1, df2),
                *bounds[form][which],
            )
    frame = pd.DataFrame.from_dict(records, orient="index", columns=["icc", "F", "df1", "df2", "p", "low", "high"])
    frame.attrs = {"stimuli": n, "raters": k, "dropped": int((~whole).sum())}
    return frame.rename_axis("form")


def _icc2_bounds(value, ms_rows, ms_columns, ms_error, n, k, tail):
    from scipy import stats

    ratio = ms_columns / ms_error
    top = k * value * ratio + n * (1 + (k - 1) * value) - k * value
    bottom = (n - 1) * k**2 * value**2 * ratio**2 + (n * (1 + (k - 1) * value) - k * value) ** 2
    df = (k - 1) * (n - 1) * top**2 / bottom
    f_low, f_high = stats.f.ppf(tail, n - 1, df), stats.f.ppf(tail, df, n - 1)
    other = k * ms_columns + (k * n - k - n) * ms_error
    low = n * (ms_rows - f_low * ms_error) / (f_low * other + n * ms_rows)
    high = n * (f_high * ms_rows - ms_error) / (other + n * f_high * ms_rows)
    return (low, high), tuple(k * v / (1 + (k - 1) * v) for v in (low, high))


def krippendorff_alpha(ratings, level: str = "ordinal", *, values: Sequence[float] | None = None) -> float:
    """Krippendorff's alpha: 1 less the disagreement within stimuli over chance's; scores may be missing.

    Parameters
    ----------
    ratings : data frame of ratings, or (stimuli, raters) array with NaN
    level : {"nominal", "ordinal", "interval", "ratio"}
        What a difference of two scores counts; ratio needs scores of 0 or more.
    values : sequence, optional
        The answers that the scale has; by default those that occur. It changes nothing but says what is allowed.

    Raises
    ------
    ValueError
        When no stimulus has two scores, or all scores are equal, which leaves alpha undefined.
    """
    if level not in LEVELS:
        raise ValueError(f"level: expected one of {', '.join(LEVELS)}, got {level!r}")
    matrix = _matrix(ratings)
    matrix = matrix[np.isfinite(matrix).sum(1) >= 2]
    if not len(matrix):
        raise ValueError("krippendorff_alpha: expected a stimulus with two scores, got none")
    given = np.isfinite(matrix)
    answers = np.unique(matrix[given])
    if values is not None and not np.isin(answers, values).all():
        raise ValueError(f"scores that the scale does not have: {answers[~np.isin(answers, values)][:5].tolist()}")
    if len(answers) < 2:
        raise ValueError("krippendorff_alpha: all scores are equal, so nothing tells agreement from chance")
    stimulus, _ = np.nonzero(given)
    counts = np.zeros((len(matrix), len(answers)))
    np.add.at(counts, (stimulus, np.searchsorted(answers, matrix[given])), 1.0)
    per_stimulus = counts.sum(1)
    weighted = counts / (per_stimulus - 1)[:, None]
    coincidences = counts.T @ weighted - np.diag(weighted.sum(0))
    total = coincidences.sum(0)
    distance = _squared_distance(answers, total, level)
    observed = (coincidences * distance).sum()
    expected = (np.outer(total, total) * distance).sum() / (total.sum() - 1)
    return float(1 - observed / expected)


def _squared_distance(answers, total, level: str) -> np.ndarray:
    a, b = answers[:, None], answers[None]
    if level == "nominal":
        return (a != b).astype(np.float64)
    if level == "interval":
        return (a - b) ** 2
    if level == "ratio":
        if (answers < 0).any():
            raise ValueError(f"ratio: expected scores of 0 or more, got {answers.min():g}")
        return ((a - b) / np.where(a + b > 0, a + b, 1.0)) ** 2
    # ordinal: how many answers lie between, the two ends counted by half
    places = np.cumsum(total) - total / 2
    return (places[:, None] - places[None]) ** 2


def pearson_interval(r: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Interval of a correlation of n pairs by Fisher's z. Ten stimuli at r = 0.917 leave 0.68 to 0.98."""
    from scipy import stats

    if not -1 < r < 1 or n < 4:
        raise ValueError(f"expected a correlation inside -1..1 of at least 4 pairs, got {r} of {n}")
    reach = stats.norm.ppf(0.5 + level / 2) / np.sqrt(n - 3)
    return float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))


def spearman_exact(x, y) -> tuple[float, float]:
    """Spearman's correlation and its exact two-sided permutation p, ties included, for up to 14 pairs.

    All orders are counted, not listed: a count over subsets of how many orders give each sum of rank products.
    """
    from scipy.stats import rankdata

    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = len(x)
    if x.shape != y.shape or x.ndim != 1 or not 3 <= n <= 14:
        raise ValueError(f"expected two series of equal length from 3 to 14, got {x.shape} and {y.shape}")
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        raise ValueError("a constant series has no rank correlation")
    # tied ranks are halves; doubled, all products are whole numbers
    a, b = np.rint(2 * rankdata(x)).astype(int), np.rint(2 * rankdata(y)).astype(int)
    top = int(np.sort(a) @ np.sort(b)) + 1
    orders = {0: np.zeros(top, dtype=np.int64)}
    orders[0][0] = 1
    for place in range(n):
        following: dict[int, np.ndarray] = {}
        for used, count in orders.items():
            for other in range(n):
                if used >> other & 1:
                    continue
                shift = a[place] * b[other]
                moved = following.setdefault(used | 1 << other, np.zeros(top, dtype=np.int64))
                moved[shift:] += count[: top - shift]
        orders = following
    (count,) = orders.values()
    middle = n * a.mean() * b.mean()
    found = abs(int(a @ b) - middle)
    extreme = np.abs(np.arange(top) - middle) >= found - 1e-9
    return float(np.corrcoef(a, b)[0, 1]), float(count[extreme].sum() / count.sum())
