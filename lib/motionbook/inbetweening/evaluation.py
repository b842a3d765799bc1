"""The benchmark: score predictors on a subset of a data set, subject-disjoint folds, four transition lengths.

Everything that a number depends on is an argument, nothing is kept between folds: the scale of L2P comes from the
training people of the fold that is being scored, and a system that learns is fitted anew on them. (The released
evaluator caches the scale by window settings alone, so that all folds run in one folder silently use the first fold's.)

``fold_windows`` prepares the folds once; ``window_scores`` scores every window of them, ``fold_scores`` and
``summarise`` make a table's cells of that, and ``comparison`` says how sure a difference between two systems is.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from motionbook.inbetweening.baselines import BASELINES
from motionbook.inbetweening.comparison import compare, compare_subjects
from motionbook.inbetweening.recordings import Recording, select
from motionbook.inbetweening.scoring import (
    Moments,
    Predictor,
    Scores,
    error_over_time,
    position_moments,
    position_statistics,
    score_windows,
    world,
)
from motionbook.inbetweening.windows import BENCHMARK, LENGTHS, STATISTICS, Windows, make_windows

__all__ = [
    "METRICS",
    "FoldWindows",
    "Learner",
    "Moments",
    "Predictor",
    "Scores",
    "compare",
    "compare_subjects",
    "error_curves",
    "error_over_time",
    "evaluate",
    "evaluate_folds",
    "fold_scores",
    "fold_windows",
    "position_moments",
    "position_statistics",
    "published_table",
    "score_windows",
    "summarise",
    "window_scores",
    "world",
]

METRICS = ("L2P", "L2Q", "NPSS")

# learner(train recordings, validation recordings, seed=...) -> predictor
Learner = Callable[..., Predictor]


class FoldWindows(NamedTuple):
    """What one fold is tested on.

    Attributes
    ----------
    number : int
        From 1.
    windows : Windows
    std : (joints, 3)
        Scale of L2P, centimetres.
    subjects : tuple of str
        Each window's person.
    learned : mapping of name to predictor
        The systems that were fitted on this fold's training people.
    """

    number: int
    windows: Windows
    std: np.ndarray
    subjects: tuple[str, ...]
    learned: Mapping[str, Predictor] = MappingProxyType({})


def evaluate_folds(
    recordings: Sequence[Recording],
    subset: str,
    folds: Sequence[Mapping],
    lengths: Sequence[int] = LENGTHS,
    systems: Mapping[str, Predictor] = BASELINES,
    learners: Mapping[str, Learner] | None = None,
    *,
    seed: int = 0,
    strict: bool = False,
):
    """Every number of every fold.

    Parameters
    ----------
    recordings : sequence of Recording
    subset : str
        The group that is trained and tested on.
    folds : sequence of mappings
        With ``"train"`` and ``"test"``, lists of subjects that must not overlap, and ``"validation"`` where there is
        any.
    lengths, systems
        See ``scoring.score_windows``.
    learners : mapping of name to learner, optional
        Each is called once per fold as ``learner(train, validation, seed=seed)`` with the recordings of the subset of
        those people, and returns a predictor, which is scored beside ``systems``.
    seed : int
        Handed to the learners.
    strict : bool
        LaFAN1's own count of windows, see ``windows.window_starts``.

    Returns
    -------
    pandas.DataFrame
        Columns fold, system, length, metric, value, n_windows, subjects (the tested ones that gave windows, with
        spaces between); folds count from 1. A fold whose test people have no window is left out.
    """
    found = fold_windows(recordings, subset, folds, learners, seed=seed, strict=strict)
    return fold_scores(window_scores(found, lengths, systems))


def fold_windows(
    recordings: Sequence[Recording],
    subset: str,
    folds: Sequence[Mapping],
    learners: Mapping[str, Learner] | None = None,
    *,
    seed: int = 0,
    strict: bool = False,
) -> list[FoldWindows]:
    """The test windows of every fold, the scale of its training people, and the learners fitted on them.

    Arguments as in ``evaluate_folds``. Fitting is the expensive part: keep the result for all tables and figures.
    """
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
            if not any(moments[s].count for s in fold["train"]):
                raise ValueError(
                    f"fold {number}: none of its training people ({', '.join(fold['train'])}) has a clip of "
                    f"{STATISTICS[0]} frames; give longer recordings, or folds with other people in training"
                )
            _, std = position_statistics(moments[s] for s in fold["train"])
            people = tuple(tested[i].subject for i in windows.clips)
            parts = select(mine, subset, fold["train"]), select(mine, subset, fold.get("validation", ()))
            learned = {name: learn(*parts, seed=seed) for name, learn in (learners or {}).items()}
            found.append(FoldWindows(number, windows, std, people, learned))
    if not found:
        longest = max((len(r.clip) for r in mine), default=0)
        raise ValueError(
            f"{subset}: no test clip of any fold is as long as a window of {BENCHMARK[0]} frames, the longest clip has "
            f"{longest}; give longer recordings"
        )
    return found


def window_scores(
    folds: Sequence[FoldWindows],
    lengths: Sequence[int] = LENGTHS,
    systems: Mapping[str, Predictor] = BASELINES,
    *,
    aligned: bool = False,
    spectrum: str = "real part",
):
    """Every window's scores, of ``systems`` and of what each fold has learned.

    ``aligned`` and ``spectrum`` as in ``scoring.score_windows``.

    Returns
    -------
    pandas.DataFrame
        Columns fold, system, length, subject, window (its index in the fold), l2p, l2q, npss_distance, npss_power.
        The NPSS of any set of rows is the sum of distances over the sum of powers; L2P and L2Q are means.
    """
    import pandas as pd

    parts = []
    for fold in folds:
        known = sorted(set(systems) & set(fold.learned))
        if known:
            raise ValueError(f"systems: {', '.join(known)} is also the name of a learner; every row needs its own name")
        everything = {**systems, **fold.learned}
        found = score_windows(fold.windows, fold.std, lengths, everything, aligned=aligned, spectrum=spectrum)
        for (system, length), scores in found.items():
            about = {"fold": fold.number, "system": system, "length": length, "subject": fold.subjects}
            parts.append(pd.DataFrame({**about, "window": np.arange(len(fold.windows)), **scores._asdict()}))
    return pd.concat(parts, ignore_index=True)


def fold_scores(scores):
    """The numbers of every fold, from ``window_scores``; columns as in ``evaluate_folds``."""
    import pandas as pd

    rows = []
    for (fold, system, length), part in scores.groupby(["fold", "system", "length"], sort=False):
        npss = part.npss_distance.sum() / part.npss_power.sum()
        subjects = " ".join(sorted(set(part.subject)))
        for metric, value in zip(METRICS, (part.l2p.mean(), part.l2q.mean(), npss), strict=True):
            rows.append((fold, system, length, metric, float(value), len(part), subjects))
    columns = ["fold", "system", "length", "metric", "value", "n_windows", "subjects"]
    return pd.DataFrame(rows, columns=columns)


def error_curves(folds: Sequence[FoldWindows], lengths: Sequence[int] = LENGTHS, systems=BASELINES):
    """Where in the gap the systems go wrong: L2P by frame, averaged over all windows of all folds.

    Of ``systems`` and of what each fold has learned.

    Returns
    -------
    pandas.DataFrame
        Columns system, length, frame (1 is the first predicted) and error.
    """
    import pandas as pd

    parts = []
    for length in lengths:
        for system in (*systems, *folds[0].learned):
            errors = np.concatenate(
                [error_over_time(f.windows, f.std, length, {**systems, **f.learned}[system]) for f in folds]
            )
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
    learners: Mapping[str, Learner] | None = None,
    *,
    seed: int = 0,
    strict: bool = False,
):
    """Mean and spread over folds of L2P, L2Q and NPSS: ``summarise(evaluate_folds(...))``."""
    return summarise(evaluate_folds(recordings, subset, folds, lengths, systems, learners, seed=seed, strict=strict))


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
        # whoever decides which state of a network is kept must not be tested with it
        if both := sorted(set(fold.get("validation", ())) & {*fold["train"], *fold["test"]}):
            raise ValueError(f"fold {number}: {', '.join(both)} validate and are in another part; folds go by subject")
    if not people & {subject for fold in folds for subject in fold["test"]}:
        raise ValueError(f"folds: none tests anybody who is there: {', '.join(sorted(people))}")
