"""Score predictors on windows: world poses, the scale of L2P, L2P, L2Q and the terms of NPSS of every window."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from motionbook.inbetweening.baselines import BASELINES, LocalPose
from motionbook.inbetweening.metrics import continuous_signs, l2p, l2q, normalised_spectrum, spectral_distance
from motionbook.inbetweening.windows import CONTEXT, LENGTHS, STATISTICS, Windows
from motionbook.kinematics import WorldPose, world_pose

# a coordinate that never moves in training would make every error infinite; no real joint stands this still
SMALLEST_STD_CM = 1e-3
_CHUNK = 128  # windows scored together: few calls, and still small enough to stay in the processor's cache

Predictor = Callable[[Windows, int], LocalPose]


class Scores(NamedTuple):
    """One system at one transition length, an entry per window, (windows,) each.

    The NPSS of the set is ``npss_distance.sum() / npss_power.sum()``; L2P and L2Q are means.
    """

    l2p: np.ndarray
    l2q: np.ndarray
    npss_distance: np.ndarray
    npss_power: np.ndarray


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
    *,
    aligned: bool = False,
    spectrum: str = "real part",
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
    aligned, spectrum
        Of ``metrics.l2q`` and ``metrics.npss_terms``; other values than these give numbers of their own, which cannot
        stand beside published ones.

    Returns
    -------
    dict
        By (system, length).

    Raises
    ------
    ValueError
        For lengths that are no number of frames, and systems whose answer has another shape or holds NaN.
    """
    if not lengths or min(lengths) < 1:
        raise ValueError(f"lengths: expected numbers of frames of at least 1, got {list(lengths)}")
    found = {(system, length): [] for system in systems for length in lengths}
    last = CONTEXT + max(lengths)
    for first in range(0, len(windows), _CHUNK):
        part = windows[first : first + _CHUNK]
        # the truth once for all systems and lengths, and no frame beyond the longest transition
        truth = world(part, LocalPose(part.root_positions[:, :last], part.rotations[:, :last]))
        signed = continuous_signs(truth.rotations)
        for length in lengths:
            gap = slice(CONTEXT, CONTEXT + length)
            true_spectrum = normalised_spectrum(signed[:, gap], spectrum)
            for system, predict in systems.items():
                guess = world(part, checked_answer(predict(part, length), part, length, system))
                turned = continuous_signs(guess.rotations, before=signed[:, CONTEXT - 1])
                found[system, length].append(
                    (
                        l2p(truth.positions[:, gap], guess.positions, std, per_window=True),
                        l2q(signed[:, gap], turned, aligned=aligned, per_window=True),
                        *spectral_distance(true_spectrum, normalised_spectrum(turned, spectrum)),
                    )
                )
    empty = np.zeros((4, 0))
    return {
        key: Scores(*(np.concatenate(p) for p in zip(*parts, strict=True)) if parts else empty)
        for key, parts in found.items()
    }


def checked_answer(pose, windows: Windows, length: int, system: str) -> LocalPose:
    """What a system answered, if it can be scored; ValueError with its name and what is wrong otherwise."""
    try:
        root, rotations = pose
        shapes = np.shape(root), np.shape(rotations)
    except (TypeError, ValueError):
        raise ValueError(
            f"{system}: expected root places and rotations at T = {length}, got {type(pose).__name__}"
        ) from None
    count, joints = len(windows), len(windows.skeleton)
    expected = (count, length, 3), (count, length, joints, 4)
    if shapes != expected:
        raise ValueError(
            f"{system}: expected root places {expected[0]} and rotations {expected[1]} at T = {length}, got "
            f"{shapes[0]} and {shapes[1]}"
        )
    if not (np.isfinite(root).all() and np.isfinite(rotations).all()):
        raise ValueError(f"{system}: some numbers of its answer at T = {length} are not finite")
    return LocalPose(root, rotations)


def error_over_time(windows: Windows, std: np.ndarray, length: int, predictor: Predictor) -> np.ndarray:
    """L2P's summand by window and predicted frame, (windows, length): where in the gap a system goes wrong."""
    gap = slice(CONTEXT, CONTEXT + length)
    truth = world(windows, LocalPose(windows.root_positions[:, gap], windows.rotations[:, gap]))
    guess = world(windows, predictor(windows, length))
    return np.linalg.norm(((truth.positions - guess.positions) / std).reshape(len(windows), length, -1), axis=-1)
