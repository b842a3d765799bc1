"""Constant bone lengths for landmarks: every segment gets its median length, pushed outwards from the hips.

The tree runs from the hips' centre over trunk and neck to the head, and from hips and shoulders along the limbs.
Lengths of single frames scatter with the noise; their median over the recording does not.
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
_SHORTEST = 1e-6  # metres; two points in one place have no direction


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


def rigid_bones(landmarks: Landmarks) -> Rigid:
    """Landmarks whose segments keep their median length in every frame; directions stay as measured.

    A segment that is NaN, or has no length, in a frame leaves its outer point as it is there: nothing is invented and
    nothing is divided by zero. One that is so in every frame is named in a warning.
    """
    points = with_virtual_points(landmarks)
    placed = {"hips_center": points["hips_center"]}
    lengths, unmeasured = {}, []
    for child, parent in SEGMENTS.items():
        if child not in points:
            continue
        bone = points[child] - points[parent]
        length = np.linalg.norm(bone, axis=-1)
        with np.errstate(invalid="ignore"):
            measured = length > _SHORTEST
        placed[child] = points[child]
        if not measured.any():
            unmeasured.append(child)
            continue
        lengths[child] = float(np.median(length[measured]))
        known = measured & np.isfinite(placed[parent]).all(axis=-1)
        direction = bone[known] / length[known, None]
        placed[child] = points[child].copy()
        placed[child][known] = placed[parent][known] + direction * lengths[child]
    if unmeasured:
        warnings.warn(
            f"rigid_bones: no frame gives a length for {', '.join(unmeasured)}; these points stay as measured",
            stacklevel=2,
        )
    positions = np.stack([placed.get(name, points[name]) for name in landmarks.names], axis=1)
    moved = np.linalg.norm(positions - landmarks.positions, axis=-1)
    steps = (*landmarks.steps, "rigid bones")
    return Rigid(replace(landmarks, positions=positions, steps=steps), lengths, tuple(unmeasured), moved)
