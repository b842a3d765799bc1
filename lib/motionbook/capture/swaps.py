"""Left and right exchanged by a detector: in one camera for some frames, or in a mirrored video throughout.

Detectors confuse the sides when a person turns, for a whole body or for the legs only, and every point of that part is
then wrong in that camera by the width of the body. For each frame and part of the body every choice of exchanged
cameras (fewer than half of them, or half) is triangulated; the right one brings the reprojection error down. When
half of the cameras say one thing and half the other, reprojection cannot tell who is right, and this says so.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from motionbook.capture import dlt
from motionbook.capture.cameras import Camera
from motionbook.capture.rejection import agree, limit_for
from motionbook.checks import check_shape

# Which part of the body a point's name belongs to; the first match counts (MediaPipe's foot_index is no finger).
_PARTS = (
    ("legs", ("hip", "knee", "ankle", "heel", "toe", "foot", "leg")),
    ("arms", ("shoulder", "elbow", "wrist", "hand", "thumb", "index", "pinky", "arm", "clavicle")),
    ("face", ("eye", "ear", "mouth", "cheek")),
)
# A point speaks for an exchange when it takes off this many pixels, more than the recording's ordinary error, and
# leaves this share of the error at most; an exchange needs this share of a part's points, and two.
MIN_GAIN = 3.0
MAX_SHARE = 0.6
_VOTES = 0.25


class Swaps(NamedTuple):
    """Where left and right are exchanged.

    Attributes
    ----------
    parts : tuple of str
    pairs : tuple of tuple of (int, int)
        Left and right points of each part.
    swapped : (cameras, frames, parts) bool
        Exchanged and to be exchanged back.
    unclear : (frames, parts) bool
        Half of the cameras disagree with the other half; nothing is exchanged.
    gain : (frames, parts)
        Pixels by which the reprojection error of the part's points falls, mean with each counted up to the limit of
        `motionbook.capture.rejection.limit_for`; 0 where nothing is exchanged.
    unclear_points : (frames, points) bool
        ``unclear`` for each point.
    """

    parts: tuple[str, ...]
    pairs: tuple[tuple[tuple[int, int], ...], ...]
    swapped: np.ndarray
    unclear: np.ndarray
    gain: np.ndarray
    unclear_points: np.ndarray


def side_pairs(names: Sequence[str]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Indices of left and right points by part of the body, from names such as left_hip, mouth_left, LHip or L_hip."""
    found: dict[str, list[tuple[int, int]]] = {}
    index = {name: i for i, name in enumerate(names)}
    for name, i in index.items():
        other = _right_of(name)
        if other not in index:
            continue
        lower = name.lower()
        part = next((part for part, words in _PARTS if any(word in lower for word in words)), "other")
        found.setdefault(part, []).append((i, index[other]))
    return {part: tuple(pairs) for part, pairs in found.items()}


def _right_of(name: str) -> str | None:
    """The name of the same point on the right, None for a name that is not of the left."""
    for pattern, right in ((r"left", "right"), (r"Left", "Right"), (r"^L(?=[A-Z_.])", "R"), (r"^l(?=_)", "r")):
        if re.search(pattern, name):
            return re.sub(pattern, right, name, count=1)
    return None


def find_swaps(
    rig: dlt.Rig,
    points: np.ndarray,
    weight: np.ndarray,
    sides: Mapping[str, Sequence[tuple[int, int]]],
    ordinary: float = 0.0,
) -> Swaps:
    """Frames, cameras and parts of the body whose sides are exchanged.

    Parameters
    ----------
    rig : Rig
    points : (cameras, frames, points, 2)
        Pixels.
    weight : (cameras, frames, points)
        0 leaves a picture out.
    sides : mapping of part to pairs of (left, right) point indices
    ordinary : float
        Pixels, of `motionbook.capture.rejection.ordinary_error`.

    Raises
    ------
    ValueError
        When a pair names a point there is not.
    """
    cameras, frames, count = weight.shape
    parts = tuple(sides)
    pairs = tuple(tuple((int(a), int(b)) for a, b in sides[part]) for part in parts)
    wrong = [i for part in pairs for pair in part for i in pair if not 0 <= i < count]
    if wrong:
        raise ValueError(f"sides: expected point indices from 0 to {count - 1}, got {wrong[0]}")
    least_gain, limit = max(MIN_GAIN, ordinary), limit_for(ordinary)
    swapped = np.zeros((cameras, frames, len(parts)), dtype=bool)
    unclear, gain = np.zeros((frames, len(parts)), dtype=bool), np.zeros((frames, len(parts)))
    unclear_points = np.zeros((frames, count), dtype=bool)
    for k, part in enumerate(pairs):
        left, right = (list(side) for side in zip(*part, strict=True))
        size = len(part)
        pixels = np.moveaxis(points[:, :, left + right], -1, 1)  # cameras, 2, frames, points
        w = weight[:, :, left + right]
        looks, _ = dlt.look(rig, pixels.reshape(cameras, 2, -1), w.reshape(cameras, -1), w.reshape(cameras, -1) > 0)
        bent, flat = (a.reshape(cameras, 2, frames, 2 * size) for a in (looks.bent, looks.flat))
        w = looks.weight.reshape(cameras, frames, 2 * size)
        mirror = np.r_[size : 2 * size, :size]
        asis = _errors(rig, bent, flat, w)
        # an exchange moves many points of a part, an outlier one
        enough = np.maximum(2, np.ceil(_VOTES * np.isfinite(asis).sum(axis=1)))
        rows = np.flatnonzero((asis > least_gain).sum(axis=1) >= enough)
        if not len(rows):
            continue
        bent, flat, w, asis, enough = bent[:, :, rows], flat[:, :, rows], w[:, rows], asis[rows], enough[rows]
        choices = _choices(cameras)
        tried = np.stack(
            [asis, *(_errors(rig, *(_exchange(a, c, mirror) for a in (bent, flat, w))) for c in choices[1:])]
        )
        costs = _capped_mean(tried, limit)
        least = costs.min(axis=0)
        best = (costs <= least + 1e-9 * (1 + least)).argmax(axis=0)  # of equal choices the smallest
        after = tried[best, np.arange(len(rows))]
        improved = (asis - after >= least_gain) & (after <= MAX_SHARE * asis)
        worsened = (after - asis >= least_gain) & (asis <= MAX_SHARE * after)
        active = (w > 0).any(axis=-1)
        exchanged = np.array([[c in choice for c in range(cameras)] for choice in choices])[best].T & active
        believed = (improved.sum(axis=1) - worsened.sum(axis=1) >= enough) & exchanged.any(axis=0)
        halves = 2 * exchanged.sum(axis=0) >= active.sum(axis=0)
        swapped[:, rows, k] = exchanged & believed & ~halves
        unclear[rows, k] = believed & halves
        gain[rows, k] = np.where(believed, costs[0] - least, 0.0)
        unclear_points[:, left + right] |= unclear[:, [k]]
    return Swaps(parts, pairs, swapped, unclear, gain, unclear_points)


def exchange_sides(array: np.ndarray, swaps: Swaps) -> np.ndarray:
    """A copy of (cameras, frames, points, ...) with left and right exchanged where ``swaps.swapped``."""
    array = array.copy()
    for k, part in enumerate(swaps.pairs):
        camera, frame = np.nonzero(swaps.swapped[:, :, k])
        for left, right in part:
            kept = array[camera, frame, left].copy()
            array[camera, frame, left] = array[camera, frame, right]
            array[camera, frame, right] = kept
    return array


def find_mirrored(
    cameras: Sequence[Camera], points, confidence, sides: Mapping[str, Sequence[tuple[int, int]]]
) -> np.ndarray:
    """Which cameras (cameras,) deliver a mirrored video, as webcams do: bool.

    Each camera is compared with what the others triangulate: as it is, and with its picture flipped back and its
    sides exchanged (a detector calls the left of a mirrored person the right). At least three cameras are needed.

    Raises
    ------
    ValueError
        With fewer than three cameras or shapes that do not fit.
    """
    points = check_shape(points, f"{len(cameras)} frames points 2", "points")
    if len(cameras) < 3:
        raise ValueError(f"cameras: expected at least 3, two cannot tell which of them is mirrored, got {len(cameras)}")
    confidence = check_shape(confidence, " ".join(map(str, points.shape[:-1])), "confidence")
    usable = np.isfinite(points).all(axis=-1) & (confidence > 0)
    partner = np.arange(points.shape[2])
    for left, right in (pair for part in sides.values() for pair in part):
        partner[[left, right]] = right, left
    found = np.zeros(len(cameras), dtype=bool)
    for c, camera in enumerate(cameras):
        rest = [i for i in range(len(cameras)) if i != c]
        others = dlt.make_rig([cameras[i] for i in rest])
        n = points[0, ..., 0].size
        looks, _ = dlt.look(
            others,
            points[rest].reshape(len(rest), n, 2).swapaxes(1, 2),
            confidence[rest].reshape(len(rest), n),
            usable[rest].reshape(len(rest), n),
        )
        # one of the others may be mirrored as well: places on which they do not agree say nothing
        solved = agree(others, looks, method="normal", rule="each", max_error=15.0, min_cameras=2)
        places = np.where(solved.agrees, solved.places, np.nan)
        flipped = points[c][:, partner] * [-1, 1] + [camera.size[0], 0]
        one = dlt.make_rig([camera])
        errors = []
        for seen, on in ((points[c], usable[c]), (flipped, usable[c][:, partner])):
            bent = (seen.reshape(-1, 2).T - one.principal[0][:, None]) / one.focal[0][:, None]
            error = dlt.pixel_errors(one, places, bent[None])[0][on.ravel()]
            errors.append(np.median(error[np.isfinite(error)]) if np.isfinite(error).any() else np.nan)
        found[c] = errors[0] - errors[1] >= MIN_GAIN and errors[1] <= MAX_SHARE * errors[0]
    return found


def find_turned(positions, names: Sequence[str], up=(0.0, 1.0, 0.0)) -> np.ndarray:
    """Frames (frames,) bool in which left and right contradict the way the person faces.

    Reprojection cannot see sides exchanged in every camera at once. Hips and shoulders say where the left is, toes
    and nose where the front is; a frame is turned when both toes and nose (or the one that is known) lie behind. Where
    neither is known nothing is claimed.

    Parameters
    ----------
    positions : (frames, points, 3)
    names : sequence of str
        MediaPipe's or OpenPose's (BODY_25) names of the points.
    up : (3,)
        The world's up axis.

    Raises
    ------
    ValueError
        When there is no pair of hips or shoulders among the names.
    """
    positions = check_shape(positions, f"frames {len(names)} 3", "positions")
    index = {name: i for i, name in enumerate(names)}

    def middle(*wanted):
        """Mean place of both sides of the first of the wanted points that is there."""
        for left in wanted:
            right = _right_of(left) or left
            if left in index and right in index:
                return positions[:, [index[left], index[right]]].mean(axis=1)
        return np.full((len(positions), 3), np.nan)

    across = [
        positions[:, index[left]] - positions[:, index[_right_of(left)]]
        for left in ("left_hip", "left_shoulder", "LHip", "LShoulder")
        if left in index
    ]
    if not across:
        raise ValueError(f"names: expected left and right hips or shoulders, got {', '.join(names)}")
    front = np.cross(np.sum(across, axis=0), up)
    toes = middle("left_foot_index", "LBigToe") - middle("left_heel", "LHeel")
    face = middle("nose", "Nose") - middle("left_ear", "LEar")
    ahead = np.stack([np.einsum("fi,fi->f", front, towards) for towards in (toes, face)])
    known = np.isfinite(ahead)
    return known.any(axis=0) & ((ahead < 0) | ~known).all(axis=0)


def _choices(cameras: int) -> list[tuple[int, ...]]:
    """Sets of exchanged cameras to try, none first: up to half, of many cameras up to two."""
    most = cameras // 2 if cameras <= 8 else 2
    return [choice for size in range(most + 1) for choice in combinations(range(cameras), size)]


def _exchange(array, choice, mirror):
    """A copy of (cameras, ..., points) with the points of the chosen cameras mirrored."""
    array = array.copy()
    array[list(choice)] = array[list(choice)][..., mirror]
    return array


def _errors(rig, bent, flat, weight):
    """Mean reprojection error of every point from all its cameras, (frames, points); NaN where not seen twice."""
    cameras, frames, size = weight.shape
    bent, flat = bent.reshape(cameras, 2, -1), flat.reshape(cameras, 2, -1)
    weight = weight.reshape(cameras, -1)
    used = weight > 0
    count = used.sum(axis=0)
    places = dlt.solve(rig, dlt.basis(flat, weight), range(cameras))
    error = np.where(used, dlt.pixel_errors(rig, places, bent), 0.0).sum(axis=0) / np.maximum(count, 1)
    return np.where(count >= 2, error, np.nan).reshape(frames, size)


def _capped_mean(errors, cap):
    """Mean over points (..., points) of errors, none counted above ``cap``; 0 where none is known."""
    known = np.isfinite(errors)
    return np.where(known, np.minimum(errors, cap), 0.0).sum(axis=-1) / np.maximum(known.sum(axis=-1), 1)
