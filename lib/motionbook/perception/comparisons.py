"""Comparison studies by the numbers: what a study of given strengths is expected to answer, and simulated answers.

Simulated people here have no habits of their own; every answer comes from the cumulative-logit model with the given
scores and thresholds. Tables and figures made from them have to say *simulated*.
"""

import numpy as np

from motionbook.perception.cumulative import layout, ordered_pairs
from motionbook.perception.votes import CENTRE, SCALE

# logits; they call a fifth of the comparisons of equals a tie (an assumption, in the range of real five-level answers)
THRESHOLDS = (0.42, 1.63)


def answer_chances(elo, thresholds=THRESHOLDS, left_bias: float = 0.0) -> np.ndarray:
    """Chance of each answer, clear left to clear right, for every ordered pair of systems (pairs, answers).

    Pairs in the order of ``cumulative.ordered_pairs``; ``thresholds`` are the positive ones of an odd scale, rising.
    """
    from scipy.special import expit

    strength = (np.asarray(elo, dtype=np.float64) - CENTRE) / SCALE
    cuts = np.asarray(thresholds, dtype=np.float64)
    if not len(cuts) or (np.diff(cuts) <= 0).any() or cuts[0] <= 0:
        raise ValueError(f"thresholds: expected positive rising numbers, got {thresholds}")
    pairs = ordered_pairs(len(strength))
    lean = strength[pairs[:, 1]] - strength[pairs[:, 0]] - left_bias
    below = expit(np.concatenate([-cuts[::-1], cuts])[None, :] - lean[:, None])
    return np.diff(below, axis=1, prepend=0.0, append=1.0)


def simulate_counts(elo, raters: int, studies: int, rng, *, answers_each=16, thresholds=THRESHOLDS, left_bias=0.0):
    """Simulated studies as counts (studies, raters, cells): how often each rater gave each answer to each pair.

    Every rater sees ``answers_each`` ordered pairs drawn evenly at random; cells as in ``cumulative.layout``.
    """
    chances = answer_chances(elo, thresholds, left_bias)
    pairs, answers = chances.shape
    pair = rng.integers(pairs, size=(studies, raters, answers_each))
    grade = (rng.random(pair.shape)[..., None] > np.cumsum(chances, axis=1)[pair][..., :-1]).sum(-1)
    cell = pair * answers + grade
    row = np.arange(studies * raters).reshape(studies, raters, 1)
    counts = np.bincount((row * pairs * answers + cell).ravel(), minlength=studies * raters * pairs * answers)
    return counts.reshape(studies, raters, pairs * answers)


def simulated_answers(elo, raters: int, seed: int, *, answers_each=16, thresholds=THRESHOLDS, left_bias=0.0, clips=50):
    """One simulated study as scored answers: ``userID``, ``left``, ``right``, ``clip``, ``choice``.

    Parameters
    ----------
    elo : series by system
        For StayStill's study, the scores of its Table 2.
    """
    import pandas as pd

    rng = np.random.default_rng([seed, 0xE10])
    names = list(elo.index)
    chances = answer_chances(elo.to_numpy(), thresholds, left_bias)
    pairs, half = ordered_pairs(len(names)), len(thresholds)
    pair = rng.integers(len(pairs), size=raters * answers_each)
    grade = (rng.random(len(pair))[:, None] > np.cumsum(chances, axis=1)[pair][:, :-1]).sum(-1)
    return pd.DataFrame(
        {
            "userID": [f"s{i + 1:04d}" for i in np.repeat(np.arange(raters), answers_each)],
            "left": [names[i] for i in pairs[pair, 0]],
            "right": [names[i] for i in pairs[pair, 1]],
            "clip": [f"c{i + 1:02d}" for i in rng.integers(clips, size=len(pair))],
            "choice": grade - half,
        }
    )


def simulated_study(elo, participants: int, seed: int, *, thresholds=THRESHOLDS, left_bias=0.0, clips=50):
    """Answers of a whole study in StayStill's form: calibration pairs, attention checks, people who leave, the rest.

    The course of the study and its people are those of ``synthesis.raters.pairwise_study``; the answers to pairs come
    from the five-level model at the given scores.

    Parameters
    ----------
    elo : series by system
        For StayStill's study, the scores of its Table 2.
    participants : int
        People whose answers pass the exclusions.

    Returns
    -------
    pandas.DataFrame
        In the columns of ``read_responses``.
    """
    import pandas as pd

    from motionbook.synthesis.raters import pairwise_study

    names = list(elo.index)
    # the order of the scores only decides which pair is shown for calibration
    level = np.tile(elo.to_numpy(dtype=np.float64) / SCALE, (clips, 1))
    frame = pairwise_study(
        pd.DataFrame(level, columns=names, index=[f"c{i + 1:02d}" for i in range(clips)]), participants, seed
    )
    rng = np.random.default_rng([seed, 0x57D1])
    asked = frame.left.isin(names)
    place = np.full((len(names), len(names)), -1)
    pairs = ordered_pairs(len(names))
    place[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    number = {name: i for i, name in enumerate(names)}
    pair = place[frame.left[asked].map(number).to_numpy(int), frame.right[asked].map(number).to_numpy(int)]
    chances = answer_chances(elo.to_numpy(), thresholds, left_bias)
    grade = (rng.random(len(pair))[:, None] > np.cumsum(chances, axis=1)[pair][:, :-1]).sum(-1)
    frame.loc[asked, "choice"] = grade - len(thresholds)
    return frame


def win_cells(systems: int, weights) -> np.ndarray:
    """What each cell (ordered pair, answer) adds to the weighted wins (cells, systems, systems)."""
    top = max(weights)
    pairs = ordered_pairs(systems)
    cells = np.zeros((len(pairs), 2 * top + 1, systems, systems))
    for row, (left, right) in enumerate(pairs):
        for choice in range(-top, top + 1):
            if choice <= 0:
                cells[row, choice + top, left, right] = weights[abs(choice)]
            if choice >= 0:
                cells[row, choice + top, right, left] = weights[abs(choice)]
    return cells.reshape(-1, systems, systems)


def full_layout(systems: int, thresholds=THRESHOLDS):
    """Layout of the ordinal model over all ordered pairs of systems."""
    return layout(ordered_pairs(systems), systems, 2 * len(thresholds) + 1)
