"""Kriging across the gap: the best linear guess of each number of the pose from its own past and its own target.

How strongly two frames of a person's motion go together is measured as the second moments of each of the 69
offsets over a window; the least-squares predictor of every frame of a gap of any length follows from them in closed
form, together with how far off it must be expected to be (Krige 1951; Matheron 1963). That deviation is zero at the
two keys and grows towards the middle, so it is also the natural size of whatever a network adds.

Windows weigh by the inverse square of how much the person moves, seen from what is known before the gap is filled. The
predictor has no constant: half the motion gives half the residual, and a person who stands still is not moved.

How far the last speed can be trusted differs from capture to capture: where joints tremble by what the cameras are off,
it says little. So the moments are measured for smooth to rough contexts apart, and a window's guess is made of those of
the contexts like its own. (One table for all makes filmed takes a third worse than interpolation at gaps of
half a second and more, where most of the training people are not filmed.)
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from motionbook.inbetweening import residual as res
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import CONTEXT, LENGTHS, Windows
from motionbook.skeletons import LAFAN1

LONGEST = max(LENGTHS)
OFFSET = 2  # frames between the windows that the moments are measured on
# What a person moves in the gap, guessed from the mean speed before it times so many frames
_FRAMES_AHEAD = 20.0
_TARGET_SHARE = 0.3
# No one moves less than a capture trembles, a thousandth of a radian (or a millimetre) in each number
_STILL = 1e-3
# Ridge, as a share of each number's own power; small, for velocities hide in small differences of places
_RIDGE = 1e-6
_DEAD = 1e-7  # power below which a number is taken not to move at all
_CHUNK = 512  # windows held at a time
BINS = 6  # tables of moments, from smooth to rough contexts
_OVERLAP = 0.5  # width of a bin in distances of two
_PRIOR = 20.0  # windows of all contexts that every bin holds beside its own
_UNMOVED = 1e-6  # steps below which all contexts are alike
VERSION = 2  # of the moments; fitted models of another are fitted anew


class Moments(NamedTuple):
    """What ``gap_moments`` measures.

    Attributes
    ----------
    tables : (bins, 69, frames, frames)
        Second moments over time of the offsets from frame 9 over their motion scale.
    pooled : (69, frames, frames)
        Those of all contexts.
    centres : (bins,)
        Roughness of the contexts that each stands for, see ``roughness``.
    width : float
        How far from it a context may be.
    """

    tables: np.ndarray
    pooled: np.ndarray
    centres: np.ndarray
    width: float


class GapMap(NamedTuple):
    """The linear predictor of one transition length, from key to key: frames 9 .. 10 + transition.

    Attributes
    ----------
    weights : (69, 10, transition + 2)
        From the known offsets (frames 8, 7, ..., 0 and the target) to the residual over the geodesic. Zero at both
        keys, which the prediction therefore meets.
    whitening : (69, 10, 10)
        Turns the known offsets of a window of motion scale 1 into ten numbers of about unit size that do not go
        together: what each older frame, and at last the target, adds to the frames before it in the list.
    deviation : (69, transition + 2)
        Expected size of what the linear guess leaves over, at motion scale 1. Zero at both keys.
    """

    weights: np.ndarray
    whitening: np.ndarray
    deviation: np.ndarray


class GapMaps(NamedTuple):
    """The predictor of one transition length by roughness: the fields of `GapMap` and of `Moments`.

    Only ``weights`` are there for every bin, (bins, 69, 10, transition + 2): a network that is given what is known in
    units of its own bin no longer sees how much it trembles.
    """

    weights: np.ndarray
    whitening: np.ndarray
    deviation: np.ndarray
    centres: np.ndarray
    width: float

    def guess(self, known, shares) -> np.ndarray:
        """The residual from key to key, (windows, transition + 2, 69); zero in the first and the last.

        From the known offsets (windows, 10, 69) and every window's ``shares`` of the bins.
        """
        left = np.zeros((len(known), self.weights.shape[-1], known.shape[-1]))
        for share, weights in zip(shares.T, self.weights, strict=True):
            left += share[:, None, None] * np.einsum("cit,nic->ntc", weights, known)
        return left


def kriging_learner(longest: int = LONGEST, offset: int = OFFSET) -> Callable[..., Callable]:
    """A learner for ``evaluation``: one set of moments, all transition lengths up to ``longest``."""

    def learner(train: Sequence[Recording], validation: Sequence[Recording] = (), *, seed: int = 0):
        moments = gap_moments(train, longest, offset)
        maps = lru_cache(maxsize=None)(lambda transition: gap_maps(moments, transition))

        def predict(windows: Windows, transition: int) -> LocalPose:
            known = known_offsets(windows, transition)
            left = maps(transition).guess(known, shares(moments, known))
            return res.apply_residual(windows, transition, left[:, 1:-1])

        return predict

    return learner


def known_offsets(windows: Windows, transition: int) -> np.ndarray:
    """Frames 8, 7, ..., 0 and the target seen from frame 9, (windows, 10, 69)."""
    target = res.target_offset(windows, transition)[:, None]
    return np.concatenate([res.context_offsets(windows)[:, ::-1], target], axis=1)


def motion_scale(known) -> np.ndarray:
    """How much a person moves around the gap, (windows,), from the known offsets (windows, 10, 69).

    The root mean square, over the numbers of the pose, of the way that the context's speed would lead in two thirds of
    a second and of the way to the target.
    """
    steps = np.diff(known[:, :-1], axis=1, prepend=0.0)
    before = _FRAMES_AHEAD**2 * (steps**2).mean(axis=(1, 2))
    return np.sqrt(before + _TARGET_SHARE * (known[:, -1] ** 2).mean(axis=-1) + _STILL**2)


def roughness(known) -> np.ndarray:
    """How much the context's steps differ from one to the next, beside how large they are, (windows,): the logarithm.

    From the known offsets (windows, 10, 69). About -2 for smooth motion, 0.5 where it trembles (white noise: 0.55).
    """
    steps = np.diff(known[:, :-1], axis=1, prepend=0.0)
    powers = [(x**2).mean(axis=(1, 2)) + _UNMOVED**2 for x in (np.diff(steps, axis=1), steps)]
    return 0.5 * np.log(powers[0] / powers[1])


def shares(moments: Moments | GapMaps, known) -> np.ndarray:
    """How much each window's context belongs to every bin, (windows, bins); the sum is 1."""
    apart = -0.5 * ((roughness(known)[:, None] - moments.centres) / moments.width) ** 2
    found = np.exp(apart - apart.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def gap_moments(
    recordings: Sequence[Recording], longest: int = LONGEST, offset: int = OFFSET, bins: int = BINS
) -> Moments:
    """Second moments over time of the offsets from frame 9, of windows over their motion scale and mirror images.

    Raises
    ------
    ValueError
        When no recording holds a window.
    """
    frames = CONTEXT + longest + 1
    rough = [roughness(known_offsets(windows, longest)) for windows in _chunks(recordings, longest, offset)]
    if not rough:
        raise ValueError(f"kriging: no training clip holds a window of {frames} frames; give longer recordings")
    centres = np.quantile(np.concatenate(rough), (np.arange(bins) + 0.5) / bins)
    width = max(_OVERLAP * (centres[-1] - centres[0]) / max(bins - 1, 1), 1e-3)
    tables, counts = np.zeros((bins, res.SIZE, frames, frames)), np.zeros(bins)
    moments = Moments(tables, tables[0], centres, float(width))
    for windows in _chunks(recordings, longest, offset):
        known = known_offsets(windows, longest)
        scaled = np.moveaxis(res.track(windows) / motion_scale(known)[:, None, None], 2, 0)
        belongs = shares(moments, known)
        for share, table in zip(belongs.T, tables, strict=True):
            held = share > 1e-4  # the others would take as long and count for nothing
            table += np.swapaxes(scaled[:, held] * share[held, None], 1, 2) @ scaled[:, held]
        counts += belongs.sum(axis=0)
    tables = 0.5 * (tables + tables[:, mirror_order()])
    pooled = tables.sum(axis=0) / counts.sum()
    tables = (tables + _PRIOR * pooled) / (counts + _PRIOR)[:, None, None, None]
    return moments._replace(tables=tables, pooled=pooled)


def _chunks(recordings: Sequence[Recording], longest: int, offset: int):
    """Training windows, some at a time."""
    for recording in recordings:
        windows = res.training_windows([recording], longest, offset)
        for first in range(0, len(windows), _CHUNK):
            yield windows[first : first + _CHUNK]


def gap_maps(moments: Moments, transition: int) -> GapMaps:
    """The predictor of a transition length; ValueError when it is longer than the moments reach."""
    weights = np.stack([gap_map(table, transition).weights for table in moments.tables])
    _, whitening, deviation = gap_map(moments.pooled, transition)
    return GapMaps(weights, whitening, deviation, moments.centres, moments.width)


def gap_map(moments: np.ndarray, transition: int) -> GapMap:
    """The predictor of a transition length from one table of moments (69, frames, frames).

    ValueError when it is longer than they reach.
    """
    longest = moments.shape[1] - CONTEXT - 1
    if not 1 <= transition <= longest:
        raise ValueError(f"transition: the moments reach over 1 to {longest} frames, got {transition}; fit longer ones")
    known = [*range(CONTEXT - 2, -1, -1), CONTEXT + transition]
    frames = slice(CONTEXT - 1, CONTEXT + transition + 1)
    inside, across = moments[:, known][:, :, known], moments[:, known, frames]
    powers = np.einsum("cii->ci", inside).mean(axis=1)
    # what nobody's pose changes tells nothing: such a number keeps to the geodesic
    alive = powers > _DEAD
    inside[~alive], across[~alive] = np.eye(len(known)), 0.0
    ridge = np.full(len(known), _RIDGE)
    ridge[-1] = 0.0  # the target is met, not approached
    inside = inside + (powers * alive)[:, None, None] * np.diag(ridge)
    weights = np.linalg.solve(inside, across)
    weights[:, -1] -= alive[:, None] * np.linspace(0.0, 1.0, transition + 2)  # from the offset to the residual
    root = np.linalg.cholesky(inside)
    explained = np.linalg.solve(root, across)
    variance = np.einsum("cii->ci", moments)[:, frames] - (explained**2).sum(axis=1)
    deviation = np.sqrt(np.maximum(variance, 0.0)) * alive[:, None]
    # exact in theory, rounding otherwise
    weights[:, :, [0, -1]], deviation[:, [0, -1]] = 0.0, 0.0
    return GapMap(weights, np.linalg.inv(root) * alive[:, None, None], deviation)


def mirror_joints() -> list[int]:
    """The joint on the other side of the body for each of the 22."""
    other = {"Left": "Right", "Right": "Left"}
    swapped = (next((other[s] + n.removeprefix(s) for s in other if n.startswith(s)), n) for n in LAFAN1.names)
    return [LAFAN1.index(name) for name in swapped]


def mirror_order() -> list[int]:
    """Where each of the 69 numbers goes when left and right change places (some also change sign)."""
    joints = [3 * joint + axis for joint in mirror_joints() for axis in range(3)]
    return [*joints, *range(3 * len(LAFAN1), res.SIZE)]
