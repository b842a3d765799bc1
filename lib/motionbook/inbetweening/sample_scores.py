"""How good samples of motion are: are they different, is a good one among them, does the truth lie where they say.

For the windows of a fold, each with ``count`` samples between the same keys:

* ``diversity``: mean L2P between two samples.
* ``best``: L2P of the nearest sample to the truth; ``mean``: of the samples' mean.
* ``coverage``: the share of joint coordinates, over frames, whose truth lies between the least and the greatest sample.
  Were the truth one more draw from the same distribution, it would be (count - 1) / (count + 1), 15 / 17 for 16.
* ``energy``: the energy score (Gneiting and Raftery 2007) in L2P, mean error of a sample less half the mean distance
  of two; ``crps``: its form for one coordinate, mean over joint coordinates, in centimetres. Both are least for the
  true distribution, and both are the mean absolute error where all samples are the same. Unbiased in ``count``.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from motionbook.inbetweening.baselines import LocalPose, slerp
from motionbook.inbetweening.comparison import compare
from motionbook.inbetweening.evaluation import FoldWindows
from motionbook.inbetweening.scoring import Predictor, world
from motionbook.inbetweening.windows import CONTEXT, LENGTHS, Windows

COUNT = 16
_CHUNK = 16  # windows whose samples are held together


class SampleScores(NamedTuple):
    """Of each window, (windows,); see the head of this module. ``sample`` is the mean L2P of single samples."""

    sample: np.ndarray
    mean: np.ndarray
    best: np.ndarray
    diversity: np.ndarray
    energy: np.ndarray
    crps: np.ndarray
    coverage: np.ndarray


def nominal_coverage(count: int) -> float:
    """How often the truth lies between the least and the greatest of ``count`` draws from its own distribution."""
    return (count - 1) / (count + 1)


def score_samples(truth, samples, mean, std) -> SampleScores:
    """Scores from places.

    Parameters
    ----------
    truth : (windows, frames, joints, 3)
        Centimetres.
    samples : (count, windows, frames, joints, 3)
        At least two.
    mean : (windows, frames, joints, 3)
        Of the pose that stands for the samples' mean.
    std : (joints, 3)
        Scale of L2P.
    """
    count = len(samples)
    if count < 2:
        raise ValueError(f"samples: expected at least two between the same keys, got {count}")
    errors = np.stack([_l2p(truth, sample, std) for sample in samples])
    apart = np.mean([_l2p(samples[i], samples[j], std) for i in range(count) for j in range(i)], axis=0)
    inside = (truth >= samples.min(axis=0)) & (truth <= samples.max(axis=0))
    # the sum of all |s_i - s_j| from the order of the samples
    ranks = 2.0 * np.arange(1, count + 1) - count - 1
    spread = np.tensordot(ranks, np.sort(samples, axis=0), 1) / (count * (count - 1))
    crps = np.abs(samples - truth).mean(axis=0) - spread
    return SampleScores(
        errors.mean(axis=0),
        _l2p(truth, mean, std),
        errors.min(axis=0),
        apart,
        errors.mean(axis=0) - 0.5 * apart,
        crps.mean(axis=(1, 2, 3)),
        inside.mean(axis=(1, 2, 3)),
    )


def window_sample_scores(
    windows: Windows, std: np.ndarray, transition: int, flow, count: int = COUNT, seed: int = 0
) -> SampleScores:
    """``score_samples`` of what a probabilistic system with ``sample`` draws in windows."""
    parts, gap = [], slice(CONTEXT, CONTEXT + transition)
    for first in range(0, len(windows), _CHUNK):
        part = windows[first : first + _CHUNK]
        truth = world(part, LocalPose(part.root_positions[:, gap], part.rotations[:, gap])).positions
        drawn = flow.sample(part, transition, count, seed)
        samples = np.stack([world(part, LocalPose(*each)).positions for each in zip(*drawn, strict=True)])
        middle = world(part, flow.answering("mean", seed, count)(part, transition)).positions
        parts.append(score_samples(truth, samples, middle, std))
    return SampleScores(*(np.concatenate(p) for p in zip(*parts, strict=True)))


def sample_scores(
    folds: Sequence[FoldWindows],
    name: str,
    lengths: Sequence[int] = LENGTHS,
    systems: Mapping[str, Predictor] | None = None,
    *,
    count: int = COUNT,
    seed: int = 0,
):
    """Scores of a learned probabilistic system on the test windows of all folds, with what it is to be seen beside.

    Parameters
    ----------
    folds : sequence of FoldWindows
        From ``evaluation.fold_windows``.
    name : str
        The learner whose predictor has ``sample``.
    lengths : transition lengths in frames
    systems : mapping of name to predictor, optional
        Scored beside in L2P, SLERP always; and of what the folds have learned, all but ``name``.

    Returns
    -------
    pandas.DataFrame
        Columns fold, length, subject, window, the fields of ``SampleScores``, and the L2P of every other system by
        its name. ``attrs`` has name and count.
    """
    import pandas as pd

    parts = []
    for fold in folds:
        if name not in fold.learned or not hasattr(fold.learned[name], "sample"):
            raise KeyError(f"fold {fold.number}: no learned system {name!r} with samples")
        others = {"SLERP": slerp, **(systems or {}), **{k: v for k, v in fold.learned.items() if k != name}}
        for length in lengths:
            found = window_sample_scores(fold.windows, fold.std, length, fold.learned[name], count, seed)
            gap = slice(CONTEXT, CONTEXT + length)
            pose = LocalPose(fold.windows.root_positions[:, gap], fold.windows.rotations[:, gap])
            truth = world(fold.windows, pose).positions
            beside = {
                k: _l2p(truth, world(fold.windows, predict(fold.windows, length)).positions, fold.std)
                for k, predict in others.items()
            }
            about = {"fold": fold.number, "length": length, "subject": fold.subjects}
            about["window"] = np.arange(len(fold.windows))
            parts.append(pd.DataFrame({**about, **found._asdict(), **beside}))
    table = pd.concat(parts, ignore_index=True)
    table.attrs = {"name": name, "count": count}
    return table


def sample_table(scores, against: str = "SLERP", *, draws: int = 2000, seed: int = 0):
    """What the aims are stated in, by transition length, with 95 % intervals over people.

    Parameters
    ----------
    scores : pandas.DataFrame
        From ``sample_scores``.
    against : str
        The deterministic system that the best sample is compared with.

    Returns
    -------
    pandas.DataFrame
        A row per length: diversity (mean L2P between samples in % of SLERP's L2P), best (L2P of the best sample,
        difference to ``against`` in %), mean (of the samples' mean, likewise), energy (score against the L2P of
        ``against``, which is its energy score, in %), each with low and high; coverage and nominal in %; crps in cm;
        n_windows, n_subjects.
    """
    import pandas as pd

    def long(values: Mapping[str, str]):
        kept = scores[["length", "subject"]]
        parts = [kept.assign(system=system, l2p=scores[column]) for system, column in values.items()]
        return pd.concat(parts, ignore_index=True)

    columns = {}
    for word, column, other in (
        ("diversity", "diversity", "SLERP"),
        ("best", "best", against),
        ("mean", "mean", against),
        ("energy", "energy", against),
    ):
        found = compare(long({"one": column, "other": other}), "one", "other", draws=draws, seed=seed)
        shift = 100.0 if word == "diversity" else 0.0
        columns[word] = found["difference"] + shift
        columns[f"{word}_low"], columns[f"{word}_high"] = found["low"] + shift, found["high"] + shift
    table = pd.DataFrame(columns)
    covered = _over_people(scores, "coverage", draws, seed)
    table["coverage"], table["coverage_low"], table["coverage_high"] = (100.0 * covered).T
    table["nominal"] = 100.0 * nominal_coverage(scores.attrs["count"])
    table["crps"] = scores.groupby("length").crps.mean()
    table["n_windows"] = scores.groupby("length").size()
    table["n_subjects"] = scores.groupby("length").subject.nunique()
    table.attrs = {**scores.attrs, "against": against, "draws": draws}
    return table


def _over_people(scores, column: str, draws: int, seed: int) -> np.ndarray:
    """Mean, low and high by length, (lengths, 3)."""
    rng, rows = np.random.default_rng(seed), []
    for _, part in scores.groupby("length", sort=True):
        sums = part.groupby("subject")[column].agg(["sum", "size"]).to_numpy()
        drawn = sums[rng.integers(len(sums), size=(draws, len(sums)))].sum(axis=1)
        low, high = np.percentile(drawn[:, 0] / drawn[:, 1], [2.5, 97.5])
        rows.append((sums[:, 0].sum() / sums[:, 1].sum(), low, high))
    return np.array(rows)


def _l2p(a, b, std) -> np.ndarray:
    error = (a - b) / std
    return np.sqrt(np.einsum("wfjc,wfjc->wf", error, error)).mean(axis=-1)
