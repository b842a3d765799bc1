"""Answer scales of pairwise studies: what a study's answers mean as signed preferences, and what each is worth.

Inside the library a preference is a whole number: negative for the left, positive for the right, 0 for none, its size
the grade. The published scale has five answers, -2 to 2, and counts a tie once for either side, a slight preference
twice and a clear one four times (StayStill, section 4.3.3). Other scales keep that rule, twice as much for every grade,
unless weights are given.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np


class Scale(NamedTuple):
    """A study's answers from clearest preference for the left to clearest for the right, and the weight of each grade.

    ``answers`` are the values as a file holds them; for a slider they are its two ends and ``cuts`` are distances from
    the middle, as shares of half its length, at which the grade rises. ``weights`` maps grades to weights.
    """

    answers: tuple
    weights: dict[int, float]
    cuts: tuple[float, ...] = ()

    @property
    def grades(self) -> tuple[int, ...]:
        """The signed preferences that can occur, in order."""
        sizes = [size for size in sorted(self.weights) if size > 0]
        return (*(-size for size in reversed(sizes)), *((0,) if 0 in self.weights else ()), *sizes)


def options_scale(answers: int | Sequence, weights: Mapping[int, float] | None = None) -> Scale:
    """A scale of separate answers.

    Parameters
    ----------
    answers : int or sequence
        How many answers (5 stands for -2, -1, 0, 1, 2 and 2 for -1, 1), or the answers as the file writes them, from
        the clearest preference for the left to the clearest for the right: ``range(1, 8)``, ``("left", "same",
        "right")``. With an even number there is no tie.
    weights : dict, optional
        Weight of each grade, 0 for a tie; default 1, 2, 4, 8 ...

    Raises
    ------
    ValueError
        For fewer than two answers, repeated answers, or weights that are missing, negative or all zero.
    """
    count = answers if isinstance(answers, int) else len(answers)
    if count < 2:
        raise ValueError(f"scale: expected at least two answers, got {count}")
    half = count // 2
    sizes = range(0 if count % 2 else 1, half + 1)
    if isinstance(answers, int):
        answers = [grade for grade in range(-half, half + 1) if grade or count % 2]
    if len({str(answer) for answer in answers}) < count:
        raise ValueError(f"scale: every answer once, got {', '.join(map(str, answers))}")
    return Scale(tuple(answers), _weights(sizes, weights))


def slider_scale(
    low: float = 0.0,
    high: float = 100.0,
    cuts: Sequence[float] = (0.1, 0.5),
    weights: Mapping[int, float] | None = None,
) -> Scale:
    """A slider from ``low``, clearly the left, to ``high``, clearly the right (``low`` may be the larger number).

    With the cuts (0.1, 0.5) a slider of 0 to 100 gives a tie from 45 to 55, a slight preference up to 25 or 75 and a
    clear one beyond. Where to cut is the reader's assumption; ``weight_sensitivity`` shows what weights change.
    """
    if low == high or list(cuts) != sorted({*cuts}) or not all(0 <= cut < 1 for cut in cuts) or not cuts:
        raise ValueError(f"slider: expected two different ends and rising cuts in 0..1, got {low}, {high}, {cuts}")
    return Scale((low, high), _weights(range(len(cuts) + 1), weights), tuple(cuts))


def _weights(sizes, weights) -> dict[int, float]:
    if weights is None:
        return {size: float(2**size) for size in sizes}
    if set(weights) != set(sizes):
        raise ValueError(f"weights: expected one for each of the grades {', '.join(map(str, sizes))}, got {weights}")
    if min(weights.values()) < 0 or max(weights[size] for size in sizes if size) <= 0:
        raise ValueError(f"weights: expected numbers from 0 up and not only ties above 0, got {weights}")
    return {size: float(weights[size]) for size in sizes}


FIVE = options_scale(5)


def _is_number(answer: str) -> bool:
    return bool(re.fullmatch(r"[-+]?\d+(\.\d+)?", answer.strip()))


def signed_preferences(values, scale: Scale) -> np.ndarray:
    """Signed preferences (n,), float, of answers as a file holds them; NaN where the answer is none of the scale's."""
    import pandas as pd

    numbers = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(dtype=np.float64)
    if scale.cuts:
        low, high = scale.answers
        place = (numbers - 0.5 * (low + high)) / (0.5 * (high - low))
        # the ends of the tie belong to the tie, in spite of the last bit
        size = np.searchsorted(np.asarray(scale.cuts) + 1e-12, np.abs(place), side="left")
        return np.where(np.abs(place) <= 1.0, np.sign(place) * size, np.nan)
    grades = np.asarray(scale.grades, dtype=np.float64)
    signed = np.full(len(numbers), np.nan)
    words = None
    for answer, grade in zip(scale.answers, grades, strict=True):
        if isinstance(answer, str):
            words = pd.Series(values).astype(str).str.strip().to_numpy() if words is None else words
            signed[words == answer] = grade
            # a column with a gap or a decimal elsewhere holds 1.0 for 1
            if _is_number(answer):
                signed[numbers == float(answer)] = grade
        else:
            signed[numbers == answer] = grade
    return signed
