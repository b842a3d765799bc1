"""What a BVH file leaves unsaid: which way is up, how long a unit is, and whether positions replace the OFFSET.

All three are read off the poses of a few frames, and every answer comes with its reason in words.
"""

import re
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
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
_PERSON = (1.0, 2.4)  # metres
# Millimetres are ten times away from the next unit, the other two are not and need a body that fits well.
_RARE_UNITS = {
    "mm": (0.001, _PERSON),
    "dm": (0.1, (1.4, 2.1)),
    "CMU unit (1/0.45 inch)": (0.0254 / 0.45, (1.4, 2.1)),
}
_BODY_JOINTS = 14
_PAIRS = 1 << 20
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
        joints = [joint for joint, _ in skeleton.end_offsets]
        offsets = np.array([offset for _, offset in skeleton.end_offsets])
        points.append(pose.positions[:, joints] + rot.rotate(pose.rotations[:, joints], offsets))
    body = np.concatenate(points, axis=1)
    if body.shape[1] < 2:
        body = np.concatenate([pose.positions[:, :1], body], axis=1)
    # all pairs of points: of a rig with hundreds of joints fewer frames will do
    some = body[:: 1 + len(body) * body.shape[1] ** 2 // _PAIRS]
    return Poses(skeleton, pose.positions, body, float(np.median(_diameters(some))))


def _diameters(points: np.ndarray) -> np.ndarray:
    """Largest distance of two points in each frame."""
    points = points - points[:, :1]
    squares = (points**2).sum(-1)
    between = squares[:, :, None] + squares[:, None] - 2 * points @ points.swapaxes(1, 2)
    return np.sqrt(np.maximum(between.max((1, 2)), 0.0))


def guess_up(poses: Poses) -> Guess:
    """The axis from the feet to the head: ``Y`` unless the poses say otherwise and the rest pose does not object."""
    skeleton = poses.skeleton
    heads = [j for j, name in enumerate(skeleton.names) if re.search(r"head|neck|face", name, re.IGNORECASE)]
    feet = [j for j, name in enumerate(skeleton.names) if re.search(r"foot|feet|ankle|toe", name, re.IGNORECASE)]
    if not heads or not feet:
        return Guess("Y", "no joint is named head, neck, foot, ankle or toe to judge by")
    rest = np.zeros((len(skeleton), 3))
    for joint, parent in enumerate(skeleton.parents[1:], start=1):
        rest[joint] = rest[parent] + skeleton.offsets[joint]
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
    choices = [(abs(np.log(max(height, 1e-300) * scale / 1.7)), unit, scale) for unit, scale in _UNITS.items()]
    _, unit, scale = min(choices)
    if not _PERSON[0] <= height * scale <= _PERSON[1]:
        unit, scale = "cm", 0.01
        rare = [(u, s) for u, (s, (low, high)) in _RARE_UNITS.items() if low <= height * s <= high]
        if not rare or len(poses.skeleton) < _BODY_JOINTS:
            reason = f"no unit makes {height:.4g} units the length of a body; pass metres_per_unit if it is not cm"
            return scale, Guess(unit, reason)
        unit, scale = rare[0]
    return scale, Guess(unit, f"the body is then {height * scale:.2f} m long")


def guess_positions(poses: Poses, up: str, root_offset: np.ndarray) -> Guess:
    """``add_root`` when it, and not ``replace``, puts the lowest joint near the floor, else ``replace``.

    Near is within 15 % of the body height; the height of the lowest joint is the median over frames. ``root_offset``
    (3,) is what add_root would add.
    """
    axis = np.asarray(UP_AXES[up], dtype=np.float64)
    replaced = float(np.median((poses.positions @ axis).min(1)))
    added = replaced + float(root_offset @ axis)
    near = FLOOR_SHARE * poses.height
    heights = f"lowest joint at {replaced:.4g} with replace, {added:.4g} with add_root, floor within {near:.4g} units"
    if abs(added) <= near < abs(replaced):
        return Guess("add_root", heights)
    return Guess("replace", heights)
