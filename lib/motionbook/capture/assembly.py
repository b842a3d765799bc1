"""From triangulated landmarks to a clip: gaps, smoothing, constant bones, joint rotations.

The rig is FreeMoCap's (19 body joints). Its bones run between landmarks and four virtual points: head centre (mean of
the ears), neck centre (of the shoulders), hips centre (of the hips) and trunk centre (of hips and shoulders). Pelvis,
chest and neck have two directions each and get a full frame by Gram-Schmidt; every other bone has one and gets the
smallest turn from where its parent would carry it, so it adds no twist.
"""

import warnings
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.landmarks import Landmarks
from motionbook.checks import check_shape
from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.skeletons import FREEMOCAP

VIRTUAL = {
    "head_center": ("left_ear", "right_ear"),
    "neck_center": ("left_shoulder", "right_shoulder"),
    "hips_center": ("left_hip", "right_hip"),
    "trunk_center": ("left_hip", "right_hip", "left_shoulder", "right_shoulder"),
}

# Joint of the rig -> the points its bone runs between; the first is the joint's place.
_BONES = {
    "spine": ("hips_center", "trunk_center"),
    "spine.001": ("trunk_center", "neck_center"),
    "neck": ("neck_center", "head_center"),
    "face": ("head_center", "nose"),
}
for _side, _ending in (("left", ".L"), ("right", ".R")):
    _BONES |= {
        f"shoulder{_ending}": ("neck_center", f"{_side}_shoulder"),
        f"upper_arm{_ending}": (f"{_side}_shoulder", f"{_side}_elbow"),
        f"forearm{_ending}": (f"{_side}_elbow", f"{_side}_wrist"),
        f"pelvis{_ending}": ("hips_center", f"{_side}_hip"),
        f"thigh{_ending}": (f"{_side}_hip", f"{_side}_knee"),
        f"shin{_ending}": (f"{_side}_knee", f"{_side}_ankle"),
        f"foot{_ending}": (f"{_side}_ankle", f"{_side}_foot_index"),
    }
# Joints whose place is another bone's tip, with the bone that carries them there.
_TIPS = {"spine.001": "spine", "neck": "spine.001", "face": "neck"}
for _ending in (".L", ".R"):
    _TIPS |= {
        f"shoulder{_ending}": "spine.001",
        f"upper_arm{_ending}": f"shoulder{_ending}",
        f"forearm{_ending}": f"upper_arm{_ending}",
        f"thigh{_ending}": f"pelvis{_ending}",
        f"shin{_ending}": f"thigh{_ending}",
        f"foot{_ending}": f"shin{_ending}",
    }


class Filled(NamedTuple):
    """Points with short gaps closed, and which of them were, (frames, points) bool; long gaps stay NaN."""

    points: np.ndarray
    filled: np.ndarray
    left: np.ndarray


class Assembly(NamedTuple):
    """A clip and how well it fits.

    Attributes
    ----------
    clip : Clip
        On the FreeMoCap rig with the person's bone lengths.
    residual : (frames, joints)
        Distance in metres between a joint of the clip and the point it was made from, NaN where there was none.
    bridged : int
        Bone directions (bone x frame) that no landmark gave and that were taken from the frames around.
    """

    clip: Clip
    residual: np.ndarray
    bridged: int


def fill_gaps(points, fps: float, max_seconds: float = 0.4) -> Filled:
    """Short gaps (NaN) of each point closed by straight lines; longer ones, and those at the ends, stay.

    Parameters
    ----------
    points : (frames, points, 3)
    fps : float
    max_seconds : float
        Longest gap that is closed.
    """
    points = check_shape(points, "frames points 3", "points").copy()
    missing = np.isnan(points).any(axis=-1)
    frames = np.arange(len(points))
    longest = max_seconds * fps + 1e-9
    filled = np.zeros_like(missing)
    for index in np.flatnonzero(missing.any(axis=0)):
        gone = missing[:, index]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], gone.astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2):
            if start > 0 and stop < len(points) and stop - start <= longest:
                filled[start:stop, index] = True
        fill, known = filled[:, index], ~gone
        for axis in range(3):
            points[fill, index, axis] = np.interp(frames[fill], frames[known], points[known, index, axis])
    return Filled(points, filled, missing & ~filled)


def low_pass(points, fps: float, cutoff: float = 7.0, order: int = 4) -> np.ndarray:
    """Zero-phase Butterworth low-pass of points (frames, ...), run forwards and backwards.

    Running twice doubles the order and would move the -3 dB point below ``cutoff`` (6.5 Hz for 7 Hz at order 4 and
    30 fps); the filter is designed at a frequency raised to make up for that, (sqrt(2) - 1)^(1 / 2 order) on the
    pre-warped axis. Each stretch between NaN is filtered by itself; stretches too short to filter are kept as they
    are.

    Raises
    ------
    ValueError
        When the cutoff is not below half the frame rate.
    """
    from scipy.signal import butter, sosfiltfilt

    points = np.asarray(points, dtype=np.float64)
    if not 0 < cutoff < 0.5 * fps:
        raise ValueError(f"cutoff: expected a frequency between 0 and fps / 2 = {fps / 2:g} Hz, got {cutoff:g}")
    raised = np.tan(np.pi * cutoff / fps) / (np.sqrt(2.0) - 1.0) ** (1.0 / (2 * order))
    sections = butter(order, 2.0 * np.arctan(raised) / np.pi, output="sos")
    flat = points.reshape(len(points), -1).copy()
    shortest = 3 * (2 * len(sections) + 1) + 1
    whole = ~np.isnan(flat).any(axis=0)
    if len(flat) >= shortest:
        flat[:, whole] = sosfiltfilt(sections, flat[:, whole], axis=0)
    for column in np.flatnonzero(~whole):
        known = ~np.isnan(flat[:, column])
        edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2):
            if stop - start >= shortest:
                flat[start:stop, column] = sosfiltfilt(sections, flat[start:stop, column])
    return flat.reshape(points.shape)


def with_virtual_points(landmarks: Landmarks) -> dict[str, np.ndarray]:
    """Every landmark and the four virtual points by name, each (frames, 3)."""
    named = {name: landmarks.positions[:, i] for i, name in enumerate(landmarks.names)}
    missing = sorted({part for parts in VIRTUAL.values() for part in parts} - set(named))
    if missing:
        raise ValueError(f"landmarks: expected MediaPipe's names, found no {', '.join(missing)}")
    return named | {name: np.mean([named[part] for part in parts], axis=0) for name, parts in VIRTUAL.items()}


def bone_lengths(landmarks: Landmarks) -> dict[str, np.ndarray]:
    """Length (frames,) in metres of each bone of the rig, NaN where an end is unknown."""
    points = with_virtual_points(landmarks)
    return {bone: np.linalg.norm(points[b] - points[a], axis=-1) for bone, (a, b) in _BONES.items()}


def assemble(landmarks: Landmarks) -> Assembly:
    """A clip on the FreeMoCap rig from landmarks in space.

    The bones get their median length over the clip (the two halves of the pelvis their common one) and keep it in
    every frame. Where a bone's landmarks are unknown, its direction is carried over from the frames around, counted
    and warned about.

    Raises
    ------
    ValueError
        When a landmark the rig needs is unknown in every frame.
    """
    points = with_virtual_points(landmarks)
    directions, bridged = {}, 0
    for bone, (a, b) in _BONES.items():
        directions[bone], count = _bridge(points[b] - points[a], bone)
        bridged += count
    root, count = _bridge(points["hips_center"], "pelvis")
    if bridged + count:
        warnings.warn(
            f"assemble: {bridged} bone directions and {count} root places of {len(root)} frames had no landmarks and "
            "were carried over from the frames around",
            stacklevel=2,
        )
    skeleton = _sized(landmarks)
    rest = {bone: _rest_bone(skeleton, bone) for bone in _BONES}
    across = directions["pelvis.L"] - directions["pelvis.R"]
    shoulders = directions["shoulder.L"] - directions["shoulder.R"]
    full = {  # two directions each, the first exact
        "pelvis": ((np.array([1.0, 0, 0]), across), (rest["spine"], directions["spine"])),
        "spine.001": ((rest["spine.001"], directions["spine.001"]), (np.array([1.0, 0, 0]), shoulders)),
        "neck": ((rest["neck"], directions["neck"]), (rest["face"], directions["face"])),
    }
    world = np.empty((len(root), len(skeleton), 4))
    for joint, name in enumerate(skeleton.names):
        if name in full:
            (x, to_x), (y, to_y) = full[name]
            world[:, joint] = rot.multiply(_frame(to_x, to_y), rot.inverse(_frame(x, y)))
            continue
        carried = world[:, skeleton.parents[joint]]
        world[:, joint] = rot.multiply(rot.between(rot.rotate(carried, rest[name]), directions[name]), carried)
    local = rot.unroll(rot.normalize(local_rotations(skeleton.parents, world)))
    clip = Clip(skeleton, root, local, landmarks.fps)
    places = forward_kinematics(clip).positions
    measured = np.stack([points[_BONES.get(name, ("hips_center",))[0]] for name in skeleton.names], axis=1)
    return Assembly(clip, np.linalg.norm(places - measured, axis=-1), bridged)


def _bridge(vectors: np.ndarray, name: str) -> tuple[np.ndarray, int]:
    """Vectors (frames, 3) with unknown ones put on a line between their neighbours, and how many there were."""
    unknown = np.isnan(vectors).any(axis=-1)
    if unknown.all():
        raise ValueError(f"landmarks: nothing is known of {name!r} in any frame; more cameras must see its landmarks")
    if not unknown.any():
        return vectors, 0
    vectors, frames = vectors.copy(), np.arange(len(vectors))
    for axis in range(3):
        vectors[unknown, axis] = np.interp(frames[unknown], frames[~unknown], vectors[~unknown, axis])
    return vectors, int(unknown.sum())


def _sized(landmarks: Landmarks) -> Skeleton:
    """The rig in the straight pose of `motionbook.skeletons.FREEMOCAP` with the person's median bone lengths."""
    lengths = {bone: float(np.nanmedian(values)) for bone, values in bone_lengths(landmarks).items()}
    lengths["pelvis.L"] = lengths["pelvis.R"] = 0.5 * (lengths["pelvis.L"] + lengths["pelvis.R"])
    offsets = FREEMOCAP.offsets.copy()
    for joint, name in enumerate(FREEMOCAP.names):
        if name in _TIPS:
            offset = FREEMOCAP.offsets[joint]
            offsets[joint] = offset / np.linalg.norm(offset) * lengths[_TIPS[name]]
    ends = []
    for joint, offset in FREEMOCAP.end_offsets:
        offset = np.array(offset)
        ends.append((joint, tuple(offset / np.linalg.norm(offset) * lengths[FREEMOCAP.names[joint]])))
    return Skeleton(FREEMOCAP.names, FREEMOCAP.parents, offsets, tuple(ends))


def _rest_bone(skeleton: Skeleton, bone: str) -> np.ndarray:
    """Direction (3,) of a bone in the straight pose."""
    for child, carrier in _TIPS.items():
        if carrier == bone and child not in ("shoulder.L", "shoulder.R"):
            return skeleton.offsets[skeleton.index(child)]
    joint = skeleton.index(bone)
    return np.array(next(offset for j, offset in skeleton.end_offsets if j == joint))


def _frame(x, y) -> np.ndarray:
    """Rotation (..., 4) whose first axis is along x and whose second lies in the plane of x and y."""
    return rot.from_6d(np.concatenate(np.broadcast_arrays(x, y), axis=-1))
