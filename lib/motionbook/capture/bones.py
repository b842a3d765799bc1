"""Constant bone lengths for landmarks: every segment gets its median length.

The tree runs from the hips' centre over trunk and neck to the head, and from hips and shoulders along the limbs.
Lengths of single frames scatter with the noise; their median over the recording does not. Only the limbs' segments are
bones: from the neck's centre to a shoulder the distance changes whenever the shoulder is lifted.
"""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook.capture.landmarks import LANDMARKS, Landmarks

# Virtual points: means of landmarks.
VIRTUAL = {
    "head_center": ("left_ear", "right_ear"),
    "neck_center": ("left_shoulder", "right_shoulder"),
    "hips_center": ("left_hip", "right_hip"),
    "trunk_center": ("left_hip", "right_hip", "left_shoulder", "right_shoulder"),
}

# child -> parent, parents first
SEGMENTS = {"trunk_center": "hips_center", "neck_center": "trunk_center", "head_center": "neck_center"}
SEGMENTS |= {name: "head_center" for name in LANDMARKS[:11]}
for _side in ("left", "right"):
    SEGMENTS |= {
        f"{_side}_shoulder": "neck_center",
        f"{_side}_elbow": f"{_side}_shoulder",
        f"{_side}_wrist": f"{_side}_elbow",
        **{f"{_side}_{finger}": f"{_side}_wrist" for finger in ("pinky", "index", "thumb")},
        f"{_side}_hip": "hips_center",
        f"{_side}_knee": f"{_side}_hip",
        f"{_side}_ankle": f"{_side}_knee",
        f"{_side}_heel": f"{_side}_ankle",
        f"{_side}_foot_index": f"{_side}_ankle",
    }
LIMBS = tuple(child for child, parent in SEGMENTS.items() if not parent.endswith("_center"))
_SHORTEST = 1e-6  # metres; two points in one place have no direction
_ROUNDS = 30  # after which the lengths of a limb agree to less than a millimetre; the last round makes them exact


class Rigid(NamedTuple):
    """Landmarks with constant segments.

    Attributes
    ----------
    landmarks : Landmarks
    lengths : dict of segment (its child's name) -> metres
    unmeasured : tuple of str
        Segments whose length no frame gives; their points stay as they were.
    moved : (frames, points)
        How far each point was moved, metres; NaN where it is unknown.
    """

    landmarks: Landmarks
    lengths: dict[str, float]
    unmeasured: tuple[str, ...]
    moved: np.ndarray


def with_virtual_points(landmarks: Landmarks) -> dict[str, np.ndarray]:
    """Every landmark and the four virtual points by name, each (frames, 3)."""
    named = {name: landmarks.positions[:, i] for i, name in enumerate(landmarks.names)}
    missing = sorted({part for parts in VIRTUAL.values() for part in parts} - set(named))
    if missing:
        raise ValueError(f"landmarks: expected MediaPipe's names, found no {', '.join(missing)}")
    return named | {name: np.mean([named[part] for part in parts], axis=0) for name, parts in VIRTUAL.items()}


def rigid_bones(landmarks: Landmarks, *, share: bool = True, trunk: bool = False) -> Rigid:
    """Landmarks whose segments keep their median length in every frame.

    Parameters
    ----------
    landmarks : Landmarks
    share : bool
        Both ends of a segment move, by half of what is wrong each, round after round, until all lengths agree: the
        nearest pose, more or less, and less noise than before. False pushes every error outwards to the children, as
        FreeMoCap does: directions stay as measured, and a wrist inherits the errors of shoulder and elbow.
    trunk : bool
        Whether the segments between the virtual points of trunk, neck and head are held as well, as in FreeMoCap.
        They are then pushed, whatever ``share`` says.

    A segment that is NaN, or has no length, in a frame leaves its outer point as it is there: nothing is invented and
    nothing is divided by zero. One that is so in every frame is named in a warning.
    """
    points = with_virtual_points(landmarks)
    segments = {child: parent for child, parent in SEGMENTS.items() if child in points and (trunk or child in LIMBS)}
    lengths, unmeasured = {}, []
    for child, parent in segments.items():
        length = np.linalg.norm(points[child] - points[parent], axis=-1)
        with np.errstate(invalid="ignore"):
            measured = length > _SHORTEST
        if measured.any():
            lengths[child] = float(np.median(length[measured]))
        else:
            unmeasured.append(child)
    if unmeasured:
        warnings.warn(
            f"rigid_bones: no frame gives a length for {', '.join(unmeasured)}; these points stay as measured",
            stacklevel=2,
        )
    placed = {name: place.copy() for name, place in points.items()}
    for _ in range(_ROUNDS if share else 0):
        for child in lengths:
            if child in LIMBS:
                _set_length(placed, segments[child], child, lengths[child], 0.5)
    reference = {name: place.copy() for name, place in placed.items()}
    for child, length in lengths.items():
        _set_length(placed, segments[child], child, length, 1.0, reference)
    positions = np.stack([placed[name] for name in landmarks.names], axis=1)
    moved = np.linalg.norm(positions - landmarks.positions, axis=-1)
    steps = (*landmarks.steps, "rigid bones")
    return Rigid(replace(landmarks, positions=positions, steps=steps), lengths, tuple(unmeasured), moved)


def _set_length(placed, parent: str, child: str, length: float, outwards: float, reference=None) -> None:
    """Give a segment its length in place: the child takes the share ``outwards`` of the move, the parent the rest.

    With a reference, the direction is taken from there, and the child follows its parent.
    """
    source = placed if reference is None else reference
    bone = source[child] - source[parent]
    now = np.linalg.norm(bone, axis=-1)
    with np.errstate(invalid="ignore"):
        known = (now > _SHORTEST) & np.isfinite(placed[parent]).all(axis=-1)
    direction = bone[known] / now[known, None]
    if reference is not None:
        placed[child][known] = placed[parent][known] + length * direction
        return
    wrong = (length - now[known, None]) * direction
    placed[child][known] += outwards * wrong
    placed[parent][known] -= (1.0 - outwards) * wrong
