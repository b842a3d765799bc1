"""The benchmark: score predictors on a subset of a data set, subject-disjoint folds, four transition lengths.

Everything that a number depends on is an argument, nothing is kept between folds: the scale of L2P comes from the
training people of the fold that is being scored. (The released evaluator caches it by window settings alone, so that
all folds run in one folder silently use the first fold's.)
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from motionbook.inbetweening.baselines import BASELINES, LocalPose
from motionbook.inbetweening.metrics import continuous_signs, l2p, l2q, npss_terms
from motionbook.inbetweening.recordings import Recording, select
from motionbook.inbetweening.windows import BENCHMARK, CONTEXT, LENGTHS, STATISTICS, Windows, make_windows
from motionbook.kinematics import WorldPose, world_pose

METRICS = ("L2P", "L2Q", "NPSS")
# a coordinate that never moves in training would make every error infinite; no real joint stands this still
SMALLEST_STD_CM = 1e-3
_CHUNK = 64  # windows scored together: small enough to stay in the processor's cache

Predictor = Callable[[Windows, int], LocalPose]


class Scores(NamedTuple):
    """One system at one transition length, an entry per window, (windows,) each.

    The NPSS of the set is ``npss_distance.sum() / npss_power.sum()``; L2P and L2Q are means.
    """

    l2p: np.ndarray
    l2q: np.ndarray
    npss_distance: np.ndarray
    npss_power: np.ndarray


class FoldWindows(NamedTuple):
    """What one fold is tested on: its number from 1, windows, scale of L2P (joints, 3), and each window's person."""

    number: int
    windows: Windows
    std: np.ndarray
    subjects: tuple[str, ...]


class Moments(NamedTuple):
    """Count, mean (joints, 3) and sum of squared deviations (joints, 3) of joint places, centimetres."""

    count: int
    mean: np.ndarray
    squares: np.ndarray


def world(windows: Windows, pose: LocalPose) -> WorldPose:
    """World places (cm) and rotations of predicted frames, with each window's own bones."""
    root, rotations = pose
    held = rotations.shape[1] > 1 and rotations.strides[1] == 0 and root.strides[1] == 0
    if held:  # one pose broadcast over time needs kinematics once
        root, rotations = root[:, :1], rotations[:, :1]
    placed = world_pose(windows.skeleton, root, rotations, windows.offsets[:, None])
    if held:
        frames = pose.rotations.shape[1]
        placed = WorldPose(*(np.broadcast_to(p, (len(p), frames, *p.shape[2:])) for p in placed))
    return placed


def position_moments(windows: Windows) -> Moments:
    """What ``position_statistics`` needs of some windows, in a form that adds up over people."""
    joints = len(windows.skeleton)
    if not len(windows):
        return Moments(0, np.zeros((joints, 3)), np.zeros((joints, 3)))
    places = world(windows, LocalPose(windows.root_positions, windows.rotations)).positions
    mean = places.mean(axis=(0, 1))
    return Moments(places.shape[0] * places.shape[1], mean, ((places - mean) ** 2).sum(axis=(0, 1)))


def position_statistics(parts: Iterable[Moments]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (joints, 3) of joint places in centimetres, from the moments of several sets.

    Notes
    -----
    Over all frames of mean-centred windows of 50 frames, 20 apart; the population form (divided by the count).
    """
    parts = [p for p in parts if p.count]
    if not parts:
        raise ValueError(f"statistics: no training clip is as long as a window of {STATISTICS[0]} frames")
    count = sum(p.count for p in parts)
    mean = sum(p.count * p.mean for p in parts) / count
    squares = sum(p.squares + p.count * (p.mean - mean) ** 2 for p in parts)
    return mean, np.maximum(np.sqrt(squares / count), SMALLEST_STD_CM)


def score_windows(
    windows: Windows,
    std: np.ndarray,
    lengths: Sequence[int] = LENGTHS,
    systems: Mapping[str, Predictor] = BASELINES,
) -> dict[tuple[str, int], Scores]:
    """Scores of every system at every transition length, from the same window starts.

    Parameters
    ----------
    windows : Windows
        At least ``10 + max(lengths) + 1`` frames long.
    std : (joints, 3)
        Centimetres, see ``position_statistics``.
    lengths : transition lengths in frames
    systems : name to predictor

    Returns
    -------
    dict
        By (system, length).
    """
    found = {(system, length): [] for system in systems for length in lengths}
    last = CONTEXT + max(lengths)
    for first in range(0, len(windows), _CHUNK):
        part = windows[first : first + _CHUNK]
        # the truth once for all systems and lengths, and no frame beyond the longest transition
        truth = world(part, LocalPose(part.root_positions[:, :last], part.rotations[:, :last]))
        signed = continuous_signs(truth.rotations)
        for length in lengths:
            gap = slice(CONTEXT, CONTEXT + length)
            for system, predict in systems.items():
                guess = world(part, predict(part, length))
                turned = continuous_signs(guess.rotations, before=signed[:, CONTEXT - 1])
                found[system, length].append(
                    (
                        l2p(truth.positions[:, gap], guess.positions, std, per_window=True),
                        l2q(signed[:, gap], turned, per_window=True),
                        *npss_terms(signed[:, gap], turned),
                    )
                )
    empty = np.zeros((4, 0))
    return {
        key: Scores(*(np.concatenate(p) for p in zip(*parts, strict=True)) if parts else empty)
        for key, parts in found.items()
    }


def error_over_time(windows: Windows, std: np.ndarray, length: int, predictor: Predictor) -> np.ndarray:
    """L2P's summand by window and predicted frame, (windows, length): where in the gap a system goes wrong."""
    gap = slice(CONTEXT, CONTEXT + length)
    truth = world(windows, LocalPose(windows.root_positions[:, gap], windows.rotations[:, gap]))
    guess = world(windows, predictor(windows, length))
    return np.linalg.norm(((truth.positions - guess.positions) / std).reshape(len(windows), length, -1), axis=-1)


def evaluate_folds(
    recordings: Sequence[Recording],
    subset: str,
    folds: Sequence[Mapping],
    lengths: Sequence[int] = LENGTHS,
    systems: Mapping[str, Predictor] = BASELINES,
    *,
    strict: bool = False,
):
    """Every number of every fold.

    Parameters
    ----------
    recordings : sequence of Recording
    subset : str
        The group that is trained and tested on.
    folds : sequence of mappings
        With ``"train"`` and ``"test"``, lists of subjects that must not overlap.
    lengths, systems
        See ``score_windows``.
    strict : bool
        LaFAN1's own count of windows, see ``windows.window_starts``.

    Returns
    -------
    pandas.DataFrame
        Columns fold, system, length, metric, value, n_windows, subjects (the tested ones that gave windows, with
        spaces between); folds count from 1. A fold whose test people have no window is left out.
    """
    import pandas as pd

    rows = []
    for fold in fold_windows(recordings, subset, folds, strict=strict):
        for (system, length), scores in score_windows(fold.windows, fold.std, lengths, systems).items():
            npss = scores.npss_distance.sum() / scores.npss_power.sum()
            values = (scores.l2p.mean(), scores.l2q.mean(), npss)
            for metric, value in zip(METRICS, values, strict=True):
                subjects = " ".join(sorted(set(fold.subjects)))
                rows.append((fold.number, system, length, metric, float(value), len(fold.windows), subjects))
    columns = ["fold", "system", "length", "metric", "value", "n_windows", "subjects"]
    return pd.DataFrame(rows, columns=columns)


def fold_windows(
    recordings: Sequence[Recording], subset: str, folds: Sequence[Mapping], *, strict: bool = False
) -> list[FoldWindows]:
    """The test windows of every fold with the scale of its training people; arguments as in ``evaluate_folds``."""
    mine = select(recordings, subset)
    if not mine:
        groups = ", ".join(sorted({r.group for r in recordings})) or "none"
        raise ValueError(f"subset: no recording belongs to {subset!r}; the groups are {groups}")
    _check_folds(folds, {r.subject for r in mine})
    # each person's moments once; every fold adds up its own people's
    moments = {
        s: position_moments(make_windows([r.clip for r in mine if r.subject == s], *STATISTICS, strict=strict))
        for s in sorted({s for fold in folds for s in fold["train"]})
    }
    found = []
    for number, fold in enumerate(folds, start=1):
        tested = select(mine, subset, fold["test"])
        windows = make_windows([r.clip for r in tested], *BENCHMARK, strict=strict)
        if len(windows):
            _, std = position_statistics(moments[s] for s in fold["train"])
            found.append(FoldWindows(number, windows, std, tuple(tested[i].subject for i in windows.clips)))
    if not found:
        longest = max((len(r.clip) for r in mine), default=0)
        raise ValueError(
            f"{subset}: no test clip of any fold is as long as a window of {BENCHMARK[0]} frames, the longest clip has "
            f"{longest}; give longer recordings"
        )
    return found


def error_curves(folds: Sequence[FoldWindows], lengths: Sequence[int] = LENGTHS, systems=BASELINES):
    """Where in the gap the systems go wrong: L2P by frame, averaged over all windows of all folds.

    Returns
    -------
    pandas.DataFrame
        Columns system, length, frame (1 is the first predicted) and error.
    """
    import pandas as pd

    parts = []
    for length in lengths:
        for system, predict in systems.items():
            errors = np.concatenate([error_over_time(f.windows, f.std, length, predict) for f in folds])
            frame = {"frame": np.arange(1, length + 1), "error": errors.mean(axis=0)}
            parts.append(pd.DataFrame({"system": system, "length": length, **frame}))
    return pd.concat(parts, ignore_index=True)


def summarise(per_fold):
    """Mean and spread over folds, with the counts behind every cell.

    Returns
    -------
    pandas.DataFrame
        One row per system, length and metric: mean, spread (standard deviation over folds, n - 1; NaN for one fold),
        n_windows (added over folds), n_subjects (different people), n_folds.
    """
    cells = per_fold.groupby(["system", "length", "metric"], sort=False)
    frame = cells.agg(
        mean=("value", "mean"),
        spread=("value", "std"),
        n_windows=("n_windows", "sum"),
        n_subjects=("subjects", lambda lists: len({s for people in lists for s in people.split()})),
        n_folds=("fold", "nunique"),
    )
    return frame.reset_index()


def evaluate(
    recordings: Sequence[Recording],
    subset: str,
    folds: Sequence[Mapping],
    lengths: Sequence[int] = LENGTHS,
    systems: Mapping[str, Predictor] = BASELINES,
    *,
    strict: bool = False,
):
    """Mean and spread over folds of L2P, L2Q and NPSS: ``summarise(evaluate_folds(...))``."""
    return summarise(evaluate_folds(recordings, subset, folds, lengths, systems, strict=strict))


def published_table(summary, value: str = "mean"):
    """A summary in the shape of StayStill's Tables 1, 5 and 6.

    Parameters
    ----------
    summary : pandas.DataFrame
        From ``evaluate``.
    value : "mean" or "spread"
        What of the folds stands in the cells.

    Returns
    -------
    pandas.DataFrame
        A row per system; columns "L2P@5" ... "NPSS@45", then n_windows, n_subjects, n_folds.
    """
    counts = ["n_windows", "n_subjects", "n_folds"]
    lengths = sorted(summary["length"].unique())
    cells = summary.set_index(["system", "metric", "length"])[value].unstack(["metric", "length"])
    table = cells[[(metric, length) for metric in METRICS for length in lengths]]
    table.columns = [f"{metric}@{length}" for metric, length in table.columns]
    order = list(dict.fromkeys(summary["system"]))
    return table.join(summary.groupby("system")[counts].max()).loc[order]


def _check_folds(folds: Sequence[Mapping], people: set[str]) -> None:
    if not folds:
        raise ValueError("folds: expected at least one, with its train and test subjects")
    for number, fold in enumerate(folds, start=1):
        if missing := [part for part in ("train", "test") if part not in fold]:
            raise ValueError(f"fold {number}: expected subjects under train and test, got none under {missing[0]}")
        both = sorted(set(fold["train"]) & set(fold["test"]))
        if both and set(fold["train"]) == set(fold["test"]) and len(both) == 1:
            warnings.warn(f"fold {number}: {both[0]} is the only person, trained on and tested", stacklevel=3)
        elif both:
            raise ValueError(f"fold {number}: {', '.join(both)} are trained on and tested; folds go by subject")
    if not people & {subject for fold in folds for subject in fold["test"]}:
        raise ValueError(f"folds: none tests anybody who is there: {', '.join(sorted(people))}")
