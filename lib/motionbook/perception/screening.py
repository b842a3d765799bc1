"""Who rated how: BT.500 screening, bias removal, the observer model of P.910 Annex E, correlation with the others.

The rules are those of ITU-R BT.500 (rejection), ITU-T P.913 12.4 (bias), now part of P.910 together with its Annex E
(bias and inconsistency). Each works on ratings with missing scores: people need not have rated the same stimuli.
"""

from typing import NamedTuple

import numpy as np

from motionbook.perception.agreement import pearson_interval
from motionbook.perception.opinion import score_matrix


class ObserverModel(NamedTuple):
    """Quality of stimuli and habits of people from ``observer_model``.

    ``stimuli``: data frame by stimulus, ``mos``, ``ci95`` (half width, from the inconsistencies) and ``se`` (standard
    error from the spread of what is left at this stimulus); ``people``: by participant, ``bias`` (mean zero over people
    linked by common stimuli) and ``inconsistency`` (standard deviation of what is left); ``steps`` taken.
    """

    stimuli: object
    people: object
    steps: int


def screen_bt500(ratings):
    """BT.500's rule for people whose scores are far out in both directions.

    A score counts as high (``p``) or low (``q``) when it is two standard deviations of its stimulus from the mean, or
    the square root of 20 when the stimulus' kurtosis is not in 2..4. A person goes when more than 5 % of their scores
    count and high and low ones balance (|p - q| / (p + q) below 0.3). Somebody who turned the scale round can pass.

    Returns
    -------
    pandas.DataFrame
        By participant: ``p``, ``q``, ``ratio`` ((p + q) / scores), ``balance`` (NaN without any), ``rejected``. The
        stimuli's kurtosis is in ``.attrs["kurtosis"]``.
    """
    import pandas as pd

    table = score_matrix(ratings)
    scores = table.to_numpy()
    mean, departure = _about(scores)
    second = np.nanmean(departure**2, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        kurtosis = np.nanmean(departure**4, axis=1) / second**2
    count = np.isfinite(scores).sum(1)
    deviation = np.sqrt(second * count / np.maximum(count - 1, 1))
    reach = np.where((kurtosis >= 2) & (kurtosis <= 4), 2.0, np.sqrt(20.0)) * deviation
    # where all gave the same score nobody is far out
    reach = np.where(deviation > 0, reach, np.inf)[:, None]
    with np.errstate(invalid="ignore"):
        p, q = (scores >= mean[:, None] + reach).sum(0), (scores <= mean[:, None] - reach).sum(0)
        given = np.isfinite(scores).sum(0)
        ratio, balance = (p + q) / given, np.where(p + q > 0, np.abs(p - q) / np.maximum(p + q, 1), np.nan)
        rejected = (ratio > 0.05) & (balance < 0.3)
    frame = pd.DataFrame(
        {"p": p, "q": q, "ratio": ratio, "balance": balance, "rejected": rejected}, index=table.columns
    )
    frame.attrs["kurtosis"] = dict(zip(table.index, kurtosis.tolist(), strict=True))
    return frame


def without(ratings, people):
    """Ratings less those of the named people; the notes of the table stay."""
    out = ratings[~ratings.participant.isin(list(people))].copy()
    out.attrs = dict(ratings.attrs)
    return out


def remove_bias(ratings):
    """Ratings less each person's mean distance from the stimuli's means (P.913, 12.4); ``mos`` of them is unbiased.

    Returns
    -------
    (ratings, bias)
        A copy with ``score`` corrected (it may leave the scale's range), and a series by participant.
    """
    table = score_matrix(ratings)
    _, departure = _about(table.to_numpy())
    bias = table.iloc[0].rename("bias")
    bias[:] = np.nanmean(departure, axis=0)
    out = ratings.assign(score=ratings.score - ratings.participant.map(bias))
    out.attrs = dict(ratings.attrs)
    return out, bias


def observer_model(ratings, *, tolerance: float = 1e-10, steps: int = 5000) -> ObserverModel:
    """Score = quality of the stimulus + bias of the person + inconsistency of the person x noise (P.910, Annex E).

    Alternating projection: biases from the distances to the qualities, inconsistencies from what is left, qualities as
    means weighted by the inconsistencies, until the qualities settle. Erratic people count little instead of being
    thrown out.

    Raises
    ------
    RuntimeError
        When the qualities do not settle, with the number of steps and the last change.
    ValueError
        When somebody's scores are fitted without any remainder, which leaves their weight without bound.
    """
    import pandas as pd

    table = score_matrix(ratings)
    scores = table.to_numpy()
    given = np.isfinite(scores)
    filled = np.where(given, scores, 0.0)
    per_person, quality = given.sum(0), filled.sum(1) / given.sum(1)
    taken, change = 0, np.inf
    while change >= tolerance:
        if taken == steps:
            raise RuntimeError(f"observer_model: {steps} steps, last change of a quality {change:.3g}")
        taken += 1
        bias = ((filled - quality[:, None]) * given).sum(0) / per_person
        rest = (filled - quality[:, None] - bias) * given
        spread = np.sqrt((rest**2).sum(0) / per_person)
        if (spread <= 1e-9).any():
            who = ", ".join(map(str, table.columns[spread <= 1e-9]))
            raise ValueError(
                f"{who}: these scores follow the panel without any remainder, so their weight has no bound; leave them "
                "out, or collect more scores from them"
            )
        weights = given / spread**2
        before, quality = quality, ((filled - bias) * weights).sum(1) / weights.sum(1)
        change = float(np.abs(quality - before).max())
    quality, bias = _centred(quality, bias, given)
    half = 1.96 / np.sqrt(weights.sum(1))
    scatter = np.nanstd(scores - quality[:, None] - bias, axis=1) / np.sqrt(given.sum(1))
    stimuli = pd.DataFrame({"mos": quality, "ci95": half, "se": scatter}, index=table.index)
    stimuli.attrs.update(table.attrs)
    people = pd.DataFrame({"bias": bias, "inconsistency": spread}, index=table.columns)
    return ObserverModel(stimuli, people, taken)


def _centred(quality, bias, given):
    """Move what scores cannot tell apart, a shift of all qualities against all biases, so that biases average to zero.

    Done for each set of people who are linked by common stimuli; between sets without any, nothing can be compared.
    """
    quality, bias = quality.copy(), bias.copy()
    for people in _linked(given):
        shift = bias[people].mean()
        bias[people] -= shift
        quality[given[:, people].any(1)] += shift
    return quality, bias


def _linked(given) -> list[np.ndarray]:
    """Masks of people (raters,) who are linked by common stimuli, directly or through others."""
    sets, waiting = [], given.any(0)
    while waiting.any():
        people = np.zeros(given.shape[1], dtype=bool)
        people[np.flatnonzero(waiting)[0]] = True
        while not ((reached := given[given[:, people].any(1)].any(0)) == people).all():
            people = reached
        sets.append(people)
        waiting &= ~people
    return sets


def panels(ratings) -> list:
    """The ratings split into panels, people linked by common stimuli; no score ties one panel to another."""
    table = score_matrix(ratings)
    names = [set(table.columns[people]) for people in _linked(np.isfinite(table.to_numpy()))]
    parts = [ratings[ratings.participant.isin(people)] for people in names]
    for part in parts:
        part.attrs = dict(ratings.attrs)
    return parts


def rater_correlation(ratings):
    """Pearson correlation of every person's scores with the mean opinion scores.

    Returns
    -------
    pandas.DataFrame
        By participant: ``with_mos`` (their own scores count in the means), ``with_others`` (means of all others),
        ``inverted`` (the latter's 95 % interval lies below 0), ``unrelated`` (it holds 0). NaN for constant scores.
    """
    import pandas as pd

    table = score_matrix(ratings)
    scores = table.to_numpy()
    given = np.isfinite(scores)
    filled = np.where(given, scores, 0.0)
    total, count = filled.sum(1), given.sum(1)
    own, others = np.full(len(table.columns), np.nan), np.full(len(table.columns), np.nan)
    lower, upper = own.copy(), own.copy()
    for person in range(len(own)):
        mine = given[:, person] & (count > 1)
        x = scores[mine, person]
        own[person] = _pearson(x, total[mine] / count[mine])
        others[person] = _pearson(x, (total[mine] - x) / (count[mine] - 1))
        if mine.sum() > 3 and abs(others[person]) < 1:
            lower[person], upper[person] = pearson_interval(others[person], int(mine.sum()))
    columns = {"with_mos": own, "with_others": others, "inverted": upper < 0, "unrelated": (lower <= 0) & (upper >= 0)}
    return pd.DataFrame(columns, index=table.columns)


def rater_table(ratings):
    """All that is known of every person: BT.500's counts and verdict, bias, inconsistency, correlations.

    Returns
    -------
    pandas.DataFrame
        By participant: ``scores`` given, then the columns of ``screen_bt500``, ``observer_model`` and
        ``rater_correlation``. Where the observer model has no solution (few scores), its columns are NaN and
        ``.attrs["observer_model"]`` tells why; else it is "".
    """
    counts = ratings.groupby("participant", sort=True).score.count().rename("scores")
    frame = counts.to_frame().join(screen_bt500(ratings))
    model, reason = try_observer_model(ratings)
    frame["bias"], frame["inconsistency"] = (
        (np.nan, np.nan) if model is None else (model.people[n] for n in model.people)
    )
    frame = frame.join(rater_correlation(ratings))
    frame.attrs = {"observer_model": reason}
    return frame


def try_observer_model(ratings) -> tuple[ObserverModel | None, str]:
    """The observer model, or None and the reason why these ratings have none."""
    try:
        return observer_model(ratings), ""
    except (ValueError, RuntimeError) as error:
        return None, str(error)


def _about(scores):
    mean = np.nanmean(scores, axis=1)
    return mean, scores - mean[:, None]


def _pearson(x, y) -> float:
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    return float(np.corrcoef(x, y)[0, 1])
