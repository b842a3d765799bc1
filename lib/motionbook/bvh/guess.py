"""What a BVH file leaves unsaid: which way is up, how long a unit is, and whether positions replace the OFFSET.

All three are read off the poses of a few frames, and every answer comes with its reason in words.
"""

import re
from typing import NamedTuple

import numpy as np

from motionbook.clip import Skeleton
from motionbook.kinematics import world_pose

UP_AXES = {"Y": (0, 1, 0), "-Y": (0, -1, 0), "Z": (0, 0, 1), "-Z": (0, 0, -1)}

# Rows turn file axes into ours: right-handed, Y up, and a figure that faces -Y in a Z-up file, or +Z in a Y-down
# (camera) one, as those sources have it, faces +Z in front of the viewer afterwards.
TURNS = {
    "Y": np.eye(3),
    "-Y": np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]]),
    "Z": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
    "-Z": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]]),
}

_UNITS = {"cm": 0.01, "m": 1.0, "inch": 0.0254}
_RARE_UNITS = {"mm": 0.001, "dm": 0.1, "CMU unit (1/0.45 inch)": 0.0254 / 0.45}
_PERSON, _SURE_PERSON = (1.0, 2.4), (1.4, 2.1)
_BODY_JOINTS = 14
FLOOR_SHARE = 0.15


class Guess(NamedTuple):
    """A choice and the reason for it in words."""

    choice: str
    reason: str


class Poses(NamedTuple):
    """Poses of a few frames in file units and axes, with the root at its position channels and the OFFSET not added."""

    skeleton: Skeleton
    positions: np.ndarray
    """(frames, joints, 3)"""
    body: np.ndarray
    """(frames, points, 3): joints and end sites without the root, which may be a helper far from the body."""
    height: float
    """Largest distance of two body points in a frame, median over frames: about a standing person's height."""


def sample_poses(skeleton: Skeleton, root_positions, rotations, translations) -> Poses:
    """Poses of the frames given, all in file units and axes."""
    pose = world_pose(skeleton, root_positions, rotations, translations)
    points = [pose.positions[:, 1:]]
    if skeleton.end_offsets:
        from motionbook import rotations as rot

        joints = [joint for joint, _ in skeleton.end_offsets]
        offsets = np.array([offset for _, offset in skeleton.end_offsets])
        points.append(pose.positions[:, joints] + rot.rotate(pose.rotations[:, joints], offsets))
    body = np.concatenate(points, axis=1)
    if body.shape[1] < 2:
        body = np.concatenate([pose.positions[:, :1], body], axis=1)
    return Poses(skeleton, pose.positions, body, float(np.median([_diameter(frame) for frame in body])))


def _diameter(points: np.ndarray) -> float:
    squares = (points**2).sum(-1)
    return float(np.sqrt(max(0.0, (squares[:, None] + squares - 2 * points @ points.T).max())))


def guess_up(poses: Poses) -> Guess:
    """The axis from the feet to the head: ``Y`` unless the poses say otherwise and the rest pose does not object."""
    skeleton = poses.skeleton
    heads = [j for j, name in enumerate(skeleton.names) if re.search(r"head|neck|face", name, re.IGNORECASE)]
    feet = [j for j, name in enumerate(skeleton.names) if re.search(r"foot|feet|ankle|toe", name, re.IGNORECASE)]
    if not heads or not feet:
        return Guess("Y", "no joint is named head, neck, foot, ankle or toe to judge by")
    rest = world_pose(skeleton, np.zeros(3), np.eye(1, 4).repeat(len(skeleton), 0)).positions
    rest_up = _direction(rest[heads].mean(0) - rest[feet].mean(0))
    pose_up = _direction(poses.positions[:, heads].mean(1) - poses.positions[:, feet].mean(1)).mean(0)
    for axis, direction in UP_AXES.items():
        # lying on the floor looks like another up axis, but then the rest pose still stands
        agree = rest_up @ direction > 0.8 and pose_up @ direction > 0.3
        if agree or (pose_up @ direction > 0.8 and rest_up @ UP_AXES["Y"] < 0.8):
            return Guess(axis, f"feet to head is {axis} in the poses")
    return Guess("Y", "no axis leads clearly from feet to head")


def _direction(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length > 0, length, 1.0)


def guess_unit(poses: Poses) -> tuple[float, Guess]:
    """Metres per unit: cm, m or inch, whichever makes the body a person's size.

    Millimetres, decimetres and the unit of the CMU conversions are considered only when none of the three does and
    the skeleton is a whole body; without any answer it is centimetres, BVH's habit.
    """
    height = poses.height

    def distance(scale):
        return abs(np.log(height * scale / 1.7)) if height > 0 else np.inf

    def fits(scale, bounds):
        return bounds[0] <= height * scale <= bounds[1]

    unit = min(_UNITS, key=lambda u: distance(_UNITS[u]))
    if fits(_UNITS[unit], _PERSON):
        return _UNITS[unit], Guess(unit, f"the body is then {height * _UNITS[unit]:.2f} m long")
    if len(poses.skeleton) >= _BODY_JOINTS:
        rare = min(_RARE_UNITS, key=lambda u: distance(_RARE_UNITS[u]))
        if fits(_RARE_UNITS[rare], _SURE_PERSON):
            return _RARE_UNITS[rare], Guess(rare, f"the body is then {height * _RARE_UNITS[rare]:.2f} m long")
    return 0.01, Guess("cm", f"no unit makes {height:g} units a person's height; pass metres_per_unit if it is not cm")


def guess_positions(poses: Poses, up: str, root_offset) -> Guess:
    """``add_root`` when it, and not ``replace``, puts the lowest joint near the floor, else ``replace``.

    Near is within 15 % of the body height; the lowest joint of a frame, median over frames.
    """
    axis = np.asarray(UP_AXES[up], dtype=np.float64)
    replaced = float(np.median((poses.positions @ axis).min(1)))
    added = replaced + float(np.asarray(root_offset) @ axis)
    near = FLOOR_SHARE * poses.height
    heights = f"lowest joint at {replaced:.4g} with replace, {added:.4g} with add_root, floor within {near:.4g} units"
    if abs(added) <= near < abs(replaced):
        return Guess("add_root", heights)
    return Guess("replace", heights)
