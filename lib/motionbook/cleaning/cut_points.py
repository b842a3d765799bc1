"""Where to cut a session recording: suggestions from how much moves, and from whether it comes back.

Someone who does one thing after another stands still between them, but also in the middle of most of them: the hand is
at the chin and stays there. Little motion alone therefore does not end an action. Holds are told from rests by their
pose: a hold is a detour from the way that leads through the poses of rest.
"""

from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.cleaning.faults import runs
from motionbook.cleaning.label_tables import Take
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics

# Radius of gyration in metres that makes a turn of a joint count as a movement of the flesh around it: about a head's.
RADIUS = 0.1
# (m/s)^2; sway, breath and the jitter of a capture stay below it, moving a hand or turning the head goes above it.
FLOOR = 5e-3
_LEAVE = 0.7  # share of the threshold at which motion ends again
_POSE_SECONDS = 0.1  # standard deviation; jitter between frames is no motion


class Cut(NamedTuple):
    """One suggested cut: first frame of an action ("start") or first frame after it ("end").

    ``confidence`` is 1 - r, with r the energy on the still side over that on the moving side (means over a second,
    0 when the still side has as much): how clear the edge is, not a probability.
    """

    frame: int
    seconds: float
    kind: str
    confidence: float


class Suggestion(NamedTuple):
    """Suggested cuts and what they were read off.

    Attributes
    ----------
    cuts : tuple of Cut
        In order, two per stretch, without those at the very ends of the clip.
    stretches : tuple of (start, stop)
        Frames [start, stop) in which the person does something.
    confidences : tuple of float
        Per stretch, the lower one of its two edges.
    energy : (frames,) array
        `motion_energy`, (m/s)^2.
    enter, leave : float
        Thresholds of the energy: motion begins above the one and ends below the other.
    """

    cuts: tuple[Cut, ...]
    stretches: tuple[tuple[int, int], ...]
    confidences: tuple[float, ...]
    energy: np.ndarray
    enter: float
    leave: float


def motion_energy(clip: Clip, smooth_seconds: float = 0.2) -> np.ndarray:
    """Kinetic energy per mass and joint, times two: (frames,) in (m/s)^2.

    Mean over joints of |v|^2 + (RADIUS w)^2, v the velocity and w the angular velocity of the joint in the world. The
    turn counts because a head that looks about stays where it is. Poses are smoothed over 0.1 s before they are
    differentiated and the energy over ``smooth_seconds`` afterwards (standard deviations of Gaussians).
    """
    if len(clip) < 2:
        return np.zeros(len(clip))
    return _energy(clip, *_features(clip), smooth_seconds)


def _energy(clip: Clip, places: np.ndarray, turns: np.ndarray, smooth_seconds: float = 0.2) -> np.ndarray:
    squares = sum(np.square(np.gradient(values, axis=0)).sum(axis=(1, 2)) for values in (places, turns))
    energy = squares * clip.fps**2 / len(clip.skeleton)
    return _smoothed(energy, smooth_seconds * clip.fps, mode="edge")


def suggest_cuts(
    clip: Clip,
    *,
    floor: float = FLOOR,
    min_seconds: float = 1.0,
    min_rest_seconds: float = 0.5,
    max_seconds: float = 10.0,
    detour: float = 0.07,
    min_way: float = 0.055,
    edge: float = 0.1,
) -> Suggestion:
    """Suggest where actions begin and end in a recording in which the person rests between them.

    Motion begins where the energy exceeds Otsu's threshold of its logarithm and ends at 0.7 of it. Bursts of motion
    are then put together to actions (`_actions`), and both ends moved in to where the outermost burst reaches the
    share ``edge`` of its peak. The numbers were set on six embedded sessions of one seed; on others about three
    quarters of the true cuts are found within half a second, and about four fifths of the suggestions are true. They
    are a start for whoever labels the session, not a replacement.

    Parameters
    ----------
    clip : Clip
    floor : float
        (m/s)^2; motion never begins below it, so that there is nothing to cut where nobody does anything.
    min_seconds : float
        Shortest action.
    min_rest_seconds : float
        Shortest still stretch.
    max_seconds : float
        Longest action made of several bursts.
    detour : float
        Metres; see `_actions`. Smaller ones make more cuts.
    min_way : float
        Metres that an action leads away from the pose before it, at least, as a mean over the joints (root of the mean
        square, turns counted as in `motion_energy`); a shift of the weight does 0.04 to 0.06.
    edge : float
        Share of the peak.

    Returns
    -------
    Suggestion
    """
    if len(clip) < 2:
        raise ValueError(f"clip: expected at least 2 frames, got {len(clip)}")
    places, turns = _features(clip)
    energy = _energy(clip, places, turns)
    enter = max(float(floor), _otsu(energy))
    leave = enter * _LEAVE
    moving = [run for run in runs(energy > leave) if energy[slice(*run)].max() > enter]
    bursts = _bridged(moving, min_rest_seconds * clip.fps)
    stretches = []
    for outer_start, outer_stop, way in _actions(_poses(places, turns), bursts, max_seconds * clip.fps, detour):
        start = _edge(energy, outer_start, outer_stop, edge)
        stop = _edge(energy, outer_stop, outer_start, edge)
        if stop - start >= min_seconds * clip.fps and way >= min_way:
            stretches.append((start, stop))
    edges = [(_clearness(energy, a, clip.fps, -1), _clearness(energy, b, clip.fps, 1)) for a, b in stretches]
    cuts = []
    for (start, stop), (first, last) in zip(stretches, edges, strict=True):
        if start > 0:
            cuts.append(Cut(start, start / clip.fps, "start", first))
        if stop < len(clip):
            cuts.append(Cut(stop, stop / clip.fps, "end", last))
    return Suggestion(tuple(cuts), tuple(stretches), tuple(min(pair) for pair in edges), energy, enter, leave)


def suggested_takes(name: str, suggestion: Suggestion, subject: str = "") -> tuple[Take, ...]:
    """Suggested stretches of the recording ``name`` as takes whose labels are to be filled in.

    ``write_labels(path, suggested_takes(name, s), s.confidences)`` is the table to edit; `read_labels` reports the
    lines still without a label.
    """
    return tuple(Take(name, start, stop, "", subject) for start, stop in suggestion.stretches)


def _features(clip: Clip) -> tuple[np.ndarray, np.ndarray]:
    """Smoothed world places (frames, joints, 3) and turns (frames, joints, 9), both in metres.

    The distance of two rotation matrices is sqrt(2) times the angle between them, for small ones.
    """
    places, turned = forward_kinematics(clip)
    matrices = rot.to_matrix(turned).reshape(len(clip), len(clip.skeleton), 9)
    sigma = _POSE_SECONDS * clip.fps
    # mirrored through the last value, so that who walks out of the recording does not slow down there
    places, matrices = (_smoothed(x, sigma, mode="reflect", reflect_type="odd") for x in (places, matrices))
    return places, matrices * (RADIUS / np.sqrt(2.0))


def _poses(places: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """One point (frames, k) per pose, wherever the person is; distances are root mean squares over the joints."""
    joints = places.shape[1]
    return np.concatenate([places - places[:, :1], turns], axis=-1).reshape(len(places), -1) / np.sqrt(joints)


def _smoothed(values: np.ndarray, sigma: float, **beyond) -> np.ndarray:
    """Gaussian over the frames; ``beyond`` says how `numpy.pad` continues them at both ends."""
    reach = int(np.ceil(4 * sigma))
    if reach < 1:
        return np.array(values)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    flat = np.pad(values.reshape(len(values), -1), ((reach, reach), (0, 0)), **beyond)
    kernel /= kernel.sum()
    out = np.stack([np.convolve(column, kernel, mode="valid") for column in flat.T], axis=-1)
    return out.reshape(values.shape)


def _otsu(energy: np.ndarray) -> float:
    """The threshold that splits the logarithms into the two classes with the least variance (Otsu 1979)."""
    x = np.sort(np.log(np.maximum(energy, 1e-9)))
    n = np.arange(1, len(x))
    total = np.cumsum(x)
    low, high = total[:-1] / n, (total[-1] - total[:-1]) / (len(x) - n)
    between = n * (len(x) - n) * (high - low) ** 2
    best = int(np.argmax(between))
    return float(np.exp(0.5 * (x[best] + x[best + 1])))


def _bridged(spans: list[tuple[int, int]], gap: float) -> list[tuple[int, int]]:
    """Spans with gaps of fewer than ``gap`` frames closed."""
    joined: list[tuple[int, int]] = []
    for start, stop in spans:
        if joined and start - joined[-1][1] < gap:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((start, stop))
    return joined


def _actions(pose: np.ndarray, bursts, longest: float, detour: float) -> list[tuple[int, int, float]]:
    """Bursts of motion put together to actions (start, stop, way), with the holds between them told from the rests.

    The poses of the still stretches are points; rests are those on the way that the person takes from first to last
    pose, holds are detours. Leaving a still stretch out of the way saves length; what it saves must be ``detour``
    metres, else the stretch is a rest. The best choice is the shortest path with that much reward per stop.
    """
    if not bursts:
        return []
    ends = [0, *(frame for burst in bursts for frame in burst), len(pose)]
    middles = [min((a + b) // 2, len(pose) - 1) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    at = pose[middles]
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1)
    best, came = np.zeros(len(at)), np.zeros(len(at), dtype=int)
    for j in range(1, len(at)):
        options = [i for i in range(j) if i == j - 1 or bursts[j - 1][1] - bursts[i][0] <= longest]
        costs = [best[i] + apart[i, j] - detour for i in options]
        came[j] = options[int(np.argmin(costs))]
        best[j] = min(costs)
    actions, j = [], len(at) - 1
    while j > 0:
        i = int(came[j])
        start, stop = bursts[i][0], bursts[j - 1][1]
        way = np.linalg.norm(pose[start:stop] - at[i], axis=-1).max()
        actions.append((start, stop, float(way)))
        j = i
    return actions[::-1]


def _edge(energy: np.ndarray, outer: int, inner: int, share: float) -> int:
    """The frame from ``outer`` towards ``inner`` at which the first burst reaches ``share`` of its peak.

    Smoothing and the low threshold reach out beyond a fast movement further than beyond a slow one.
    """
    inwards = energy[outer:inner] if outer < inner else energy[inner:outer][::-1]
    falls = np.flatnonzero(np.diff(inwards) < 0)
    peak = inwards[: falls[0] + 1].max() if len(falls) else inwards.max()
    skipped = int(np.argmax(inwards >= share * peak))
    return outer + skipped if outer < inner else outer - skipped


def _clearness(energy: np.ndarray, edge: int, fps: float, side: int) -> float:
    """1 - still over moving energy in the second on either side of an edge; side -1: still before, 1: still after."""
    reach = max(1, round(fps))
    before, after = energy[max(0, edge - reach) : edge], energy[edge : edge + reach]
    still, moving = (before, after) if side < 0 else (after, before)
    if not len(still) or not len(moving):
        return 1.0  # the clip itself begins or ends there
    return float(np.clip(1.0 - still.mean() / max(moving.mean(), 1e-12), 0.0, 1.0))
