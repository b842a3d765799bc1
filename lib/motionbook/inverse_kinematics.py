"""Analytic inverse kinematics of a limb of two bones: shoulder-elbow-wrist or hip-knee-ankle.

With the two lengths and the target given, only the swivel of the middle joint about the line from start to end is
free; a pole says where it points. Everything is closed form, all frames at once.
"""

from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.checks import check_shape
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics, local_rotations


class LimbPose(NamedTuple):
    """World places (..., 3) of the middle and the end joint, metres; end is the target where it is in reach."""

    middle: np.ndarray
    end: np.ndarray


class LimbTurns(NamedTuple):
    """What brings a limb to its target: world turns (..., 4) to put before each bone's world rotation, and the pose.

    ``multiply(turns.upper, world_rotation)`` is the new world rotation of the start joint (it carries the upper
    bone); ``turns.lower`` does the same for the middle joint.
    """

    upper: np.ndarray
    lower: np.ndarray
    pose: LimbPose


def two_bone_pose(start, target, upper, lower, pole, straightest: float = 0.9998) -> LimbPose:
    """Middle and end joint of a two-bone limb that reaches for a target.

    Parameters
    ----------
    start, target : (..., 3)
        World places, metres.
    upper, lower : (...)
        Bone lengths, metres.
    pole : (..., 3)
        Direction towards which the middle joint points; only its part at right angles to start-target counts.
    straightest : float
        Share of upper + lower beyond which a target is out of reach; it is then pulled in along its direction. Below
        1 because the bend angle changes infinitely fast at full stretch, which shows as a snap of the joint.

    Raises
    ------
    ValueError
        When the target coincides with the start or the pole is along the limb, so that no plane is defined.
    """
    start, target = check_shape(start, "... 3", "start"), check_shape(target, "... 3", "target")
    upper, lower = np.asarray(upper, dtype=np.float64), np.asarray(lower, dtype=np.float64)
    along = target - start
    distance = np.linalg.norm(along, axis=-1)
    if (distance < 1e-9).any():
        raise ValueError("target: it lies on the start of the limb, so it has no direction; move one of them")
    along = along / distance[..., None]
    aside = _perpendicular(check_shape(pole, "... 3", "pole"), along)
    distance = np.clip(distance, np.abs(upper - lower) * 1.0001 + 1e-9, straightest * (upper + lower))
    forward = (distance**2 + upper**2 - lower**2) / (2 * distance)
    sideways = np.sqrt(np.maximum(upper**2 - forward**2, 0.0))
    middle = start + forward[..., None] * along + sideways[..., None] * aside
    return LimbPose(middle, start + distance[..., None] * along)


def two_bone_ik(start, middle, end, target, pole=None, straightest: float = 0.9998) -> LimbTurns:
    """World turns of the two bones that bring the end of a posed limb to a target.

    The hinge axis (the normal of the limb's plane) turns with the plane, so knees and elbows keep bending about the
    axis they had.

    Parameters
    ----------
    start, middle, end : (..., 3)
        Present world places, metres: hip, knee, ankle, or shoulder, elbow, wrist.
    target : (..., 3)
        Where the end should be.
    pole : (..., 3), optional
        Direction towards which the middle joint points. Without it the limb keeps its present swivel: the plane is
        carried along by the smallest turn from the old to the new direction.
    straightest : float
        As in `two_bone_pose`.

    Returns
    -------
    LimbTurns
        New world rotation of the start joint = multiply(upper, old), of the middle joint = multiply(lower, old).

    Raises
    ------
    ValueError
        When a limb is exactly straight and no pole says to which side it bends.
    """
    start, middle, end = (check_shape(p, "... 3", n) for p, n in ((start, "start"), (middle, "middle"), (end, "end")))
    target = check_shape(target, "... 3", "target")
    first, second = middle - start, end - middle
    upper, lower = np.linalg.norm(first, axis=-1), np.linalg.norm(second, axis=-1)
    old_along = end - start
    old_bend = first - _project(first, old_along)
    straight = np.linalg.norm(old_bend, axis=-1) < 1e-7 * (upper + lower)
    if straight.any():
        if pole is None:
            raise ValueError(
                f"middle: {int(straight.sum())} limbs are exactly straight, so the plane they bend in is unknown; "
                "give pole, the direction in which the knee or elbow points"
            )
        old_bend = np.where(straight[..., None], np.broadcast_to(pole, old_bend.shape), old_bend)
    old_bend = _perpendicular(old_bend, old_along)
    if pole is None:
        pole = rot.rotate(rot.between(old_along, target - start), old_bend)
    pose = two_bone_pose(start, target, upper, lower, pole, straightest)
    new_along = pose.end - start
    old_hinge = np.cross(old_along, old_bend)
    new_hinge = np.cross(new_along, _perpendicular(np.broadcast_to(pole, new_along.shape), new_along))
    return LimbTurns(
        _turn(first, old_hinge, pose.middle - start, new_hinge),
        _turn(second, old_hinge, pose.end - pose.middle, new_hinge),
        pose,
    )


def place_limb_end(clip: Clip, joints: tuple[str, str, str], target, pole=None, keep_end: bool = True) -> Clip:
    """The clip with one limb bent so that its end stands on a target in every frame.

    Parameters
    ----------
    clip : Clip
    joints : (start, middle, end) names
        A chain, e.g. ``("LeftUpLeg", "LeftLeg", "LeftFoot")``; all other joints keep their local rotations.
    target : (frames, 3)
        World places for the end joint, metres.
    pole : (frames, 3) or (3,), optional
        As in `two_bone_ik`.
    keep_end : bool
        The end joint keeps its world rotation (a planted foot stays flat) rather than its local one.

    Raises
    ------
    ValueError
        When the three joints are not a chain.
    """
    skeleton = clip.skeleton
    a, b, c = (skeleton.index(name) for name in joints)
    if skeleton.parents[b] != a or skeleton.parents[c] != b:
        raise ValueError(f"joints: expected a chain of parent and child, got {', '.join(joints)}")
    places, turned = forward_kinematics(clip)
    target = check_shape(target, f"{len(clip)} 3", "target")
    turns = two_bone_ik(places[:, a], places[:, b], places[:, c], target, pole)
    world = turned.copy()
    world[:, a], world[:, b] = rot.multiply(turns.upper, turned[:, a]), rot.multiply(turns.lower, turned[:, b])
    local = clip.rotations.copy()
    changed = local_rotations(skeleton.parents, world)
    for joint in (a, b, c) if keep_end else (a, b):
        local[:, joint] = rot.normalize(changed[:, joint])
    return Clip(skeleton, clip.root_positions, local, clip.fps, clip.translations)


def _project(v, onto):
    return np.sum(v * onto, axis=-1, keepdims=True) / np.sum(onto * onto, axis=-1, keepdims=True) * onto


def _perpendicular(v, along):
    """The unit part of v at right angles to ``along``; ValueError where there is none."""
    v = v - _project(v, along)
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    if (length < 1e-9).any():
        raise ValueError("pole: it points along the limb, so it does not say where the middle joint goes; turn it")
    return v / length


def _turn(old_x, old_z, new_x, new_z):
    return rot.multiply(_frame(new_x, new_z), rot.inverse(_frame(old_x, old_z)))


def _frame(x, z):
    """Rotation whose first column is along x and third along z (already at right angles)."""
    x, z = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (x, z))
    return rot.from_matrix(np.stack([x, np.cross(z, x), z], axis=-1))
