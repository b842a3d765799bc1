"""Scored answers as index arrays and as sparse tables of weighted wins: what all fits and resamples work on."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

SCALE = 400.0 / np.log(10.0)
CENTRE = 1000.0
WEIGHTS = {0: 1.0, 1: 2.0, 2: 4.0}


class Votes(NamedTuple):
    """Answers by number: names sorted, and for each answer the places of its user, systems and clip in them.

    ``user``, ``left``, ``right``, ``choice`` and ``clip`` are (answers,); ``clips`` is empty and ``clip`` all 0 when
    the answers name no clips.
    """

    systems: list[str]
    users: list[str]
    clips: list[str]
    user: np.ndarray
    left: np.ndarray
    right: np.ndarray
    choice: np.ndarray
    clip: np.ndarray


def votes_of(responses, weights: Mapping[int, float] = WEIGHTS) -> Votes:
    """Check scored answers at the door and number them.

    Parameters
    ----------
    responses : data frame
        ``userID``, ``left``, ``right``, ``choice``, maybe ``clip``.
    weights : dict
        The grades that may occur.

    Raises
    ------
    ValueError
        When columns or answers are missing, a choice is none of the grades, or a pair sets a system against itself.
    """
    import pandas as pd

    if missing := [name for name in ("userID", "left", "right", "choice") if name not in responses]:
        raise ValueError(f"responses: no column {', '.join(missing)}; it has {', '.join(map(str, responses.columns))}")
    if not len(responses):
        raise ValueError("responses: expected scored answers, got none; see the flow of perception.exclude")
    choice = responses.choice.to_numpy()
    grades = sorted({sign * size for size in weights for sign in (-1, 1)})
    if (wrong := ~np.isin(choice, grades)).any():
        words = ", ".join(map(str, grades[:-1])) + f" or {grades[-1]}"
        raise ValueError(f"responses: choice must be {words}, got {choice[wrong][0]}")
    count = len(responses)
    codes, names = pd.factorize(pd.concat([responses.left, responses.right], ignore_index=True), sort=True)
    left, right = codes[:count], codes[count:]
    if (left == right).any():
        raise ValueError(f"{int((left == right).sum())} answers compare a system with itself; a pair needs two systems")
    user, users = pd.factorize(responses.userID, sort=True)
    clip, clips = np.zeros(count, dtype=np.int64), []
    if "clip" in responses:
        # not .clip, which is a method of every frame
        names_of_clips = responses["clip"].astype(str)
        if not (responses["clip"].isna() | (names_of_clips == "")).all():
            clip, clips = pd.factorize(names_of_clips, sort=True)
    if min(user.min(), left.min(), right.min()) < 0:
        raise ValueError("responses: userID, left and right must not be empty")
    return Votes(list(names), list(users), list(clips), user, left, right, choice.astype(np.int64), clip)


def systems_of(responses, weights: Mapping[int, float] = WEIGHTS) -> list[str]:
    """The systems compared, sorted; ValueError where ``votes_of`` refuses the answers."""
    return votes_of(responses, weights).systems


def weighted_pairs(votes: Votes, weights: Mapping[int, float] = WEIGHTS):
    """Wins one by one: number of the answer, cell ``winner * systems + loser`` and weight, each (wins,).

    A tie is a win for either side; what weighs 0 is left out.
    """
    worth = np.zeros(max(weights) + 1)
    worth[list(weights)] = list(weights.values())
    weight = worth[np.abs(votes.choice)]
    count = len(votes.systems)
    for_left, for_right = (np.flatnonzero((side >= 0) & (weight > 0)) for side in (-votes.choice, votes.choice))
    answer = np.concatenate([for_left, for_right])
    cell = np.concatenate(
        [
            votes.left[for_left] * count + votes.right[for_left],
            votes.right[for_right] * count + votes.left[for_right],
        ]
    )
    return answer, cell, weight[answer]


def win_table(votes: Votes, weights: Mapping[int, float] = WEIGHTS, unit=None, units: int | None = None):
    """Weighted wins of every unit (units, systems * systems), sparse: row over column.

    Parameters
    ----------
    unit : (answers,) int array, optional
        The unit each answer belongs to; default its user. ``np.arange(answers)`` gives a row to every answer.
    units : int, optional
        How many there are; default up to the largest.
    """
    from scipy import sparse

    unit = votes.user if unit is None else np.asarray(unit)
    answer, cell, weight = weighted_pairs(votes, weights)
    shape = (int(unit.max()) + 1 if units is None else units, len(votes.systems) ** 2)
    return sparse.csr_matrix((weight, (unit[answer], cell)), shape=shape)


def total_wins(votes: Votes, weights: Mapping[int, float] = WEIGHTS) -> np.ndarray:
    """Weighted wins (systems, systems) of all answers: row over column."""
    count = len(votes.systems)
    _, cell, weight = weighted_pairs(votes, weights)
    return np.bincount(cell, weight, count * count).reshape(count, count)


def shown_pairs(votes: Votes) -> np.ndarray:
    """How often each system stood left (row) against each other right (column), (systems, systems)."""
    count = len(votes.systems)
    return np.bincount(votes.left * count + votes.right, minlength=count * count).reshape(count, count)
