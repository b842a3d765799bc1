"""Standing on two feet: where they are, where the weight is, and the pelvis and legs that follow from it.

The pelvis goes where the centre of mass is over the point of support, at the height that the straighter leg allows;
two-bone inverse kinematics then brings the legs to the feet, so that a planted foot does not move at all.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Skeleton
from motionbook.inverse_kinematics import two_bone_pose
from motionbook.kinematics import world_pose
from motionbook.skeletons import t_pose
from motionbook.synthesis import anatomy
from motionbook.synthesis.performer import FOOT_PITCH, SIDES, TOE_HEIGHT, Performer
from motionbook.synthesis.signals import Key, blend_keys, minimum_jerk


class Step(NamedTuple):
    """A foot that is set down elsewhere: side 0 left or 1 right, start and duration (s), where to, and how high."""

    side: int
    start: float
    duration: float
    place: tuple[float, float]
    toe_out: float
    lift: float


class Roll(NamedTuple):
    """A foot that stays and rolls: side, start and duration (s), and pitch (radians, heel up or, below 0, toes up)."""

    side: int
    start: float
    duration: float
    pitch: float


class Pose(NamedTuple):
    """World places (frames, joints, 3) and world turns from the T-pose (frames, joints, 4)."""

    places: np.ndarray
    turned: np.ndarray


def place(skeleton: Skeleton, turns, root) -> Pose:
    """World places and world turns from the T-pose."""
    world = world_pose(skeleton, root, anatomy.rotations_from_turns(skeleton, turns))
    return Pose(world.positions, rot.multiply(world.rotations, rot.inverse(t_pose(skeleton))))


def home_feet(performer: Performer) -> np.ndarray:
    """Ankle places on the floor (left, right; x, z) of the person's usual stance, metres."""
    half = 0.5 * performer.stance
    back = -0.05 * performer.stature / 1.75
    return np.array([[half, back], [-half, back]])


class Feet(NamedTuple):
    """Left and right foot: ankles (frames, 2, 3), yaw to the left and pitch with the heel up (frames, 2), radians."""

    ankles: np.ndarray
    yaw: np.ndarray
    pitch: np.ndarray


def place_feet(performer: Performer, steps: Sequence[Step], rolls: Sequence[Roll], seconds) -> Feet:
    """Ankles and foot angles: flat and still, but for steps, and for rolls over the planted toes or heel."""
    home = home_feet(performer)
    out = np.array([1.0, -1.0])
    ankles, yaw, pitch = np.zeros((len(seconds), 2, 3)), np.zeros((len(seconds), 2)), np.zeros((len(seconds), 2))
    for side in (0, 1):
        first = [*home[side], out[side] * performer.toe_out[side]]
        mine = [step for step in steps if step.side == side]
        # up first, then across: a foot that still carries weight does not slide
        keys = [
            Key(s.start + 0.15 * s.duration, 0.7 * s.duration, np.array([*s.place, out[side] * s.toe_out]))
            for s in mine
        ]
        path = blend_keys(first, keys, seconds)
        lift = np.zeros(len(seconds))
        for step in mine:
            share = np.clip((seconds - step.start) / step.duration, 0.0, 1.0)
            lift += step.lift * 16.0 * share**2 * (1.0 - share) ** 2
            # the heel leaves first and lands first
            pitch[:, side] += (
                np.deg2rad(260.0) * step.lift * (minimum_jerk(share / 0.4) - minimum_jerk(share / 0.8 - 0.25))
            )
        for roll in rolls:
            if roll.side == side:
                rise = min(0.45, 0.4 * roll.duration)
                since, left = seconds - roll.start, roll.start + roll.duration - seconds
                pitch[:, side] += roll.pitch * minimum_jerk(since / rise) * minimum_jerk(left / rise)
        toe = performer.skeleton.offsets[performer.skeleton.index("LeftToe"), 0]
        # over the toes the ankle rises and comes forward; with the toes up it stays where it is
        angle = FOOT_PITCH + np.maximum(pitch[:, side], 0.0)
        forward = toe * (np.cos(FOOT_PITCH) - np.cos(angle))
        ankles[:, side] = np.stack(
            [
                path[:, 0] + forward * np.sin(path[:, 2]),
                toe * np.sin(angle) + TOE_HEIGHT + lift,
                path[:, 1] + forward * np.cos(path[:, 2]),
            ],
            axis=-1,
        )
        yaw[:, side] = path[:, 2]
    return Feet(ankles, yaw, pitch)


def support(performer, feet: Feet, weight) -> np.ndarray:
    """Where the centre of mass should be over the floor (frames, 2): in front of the ankles, between by weight."""
    ahead = 0.26 * performer.skeleton.offsets[performer.skeleton.index("LeftToe"), 0]
    points = feet.ankles[..., [0, 2]] + ahead * np.stack([np.sin(feet.yaw), np.cos(feet.yaw)], -1)
    left = 0.5 * (1.0 + 0.88 * weight)[:, None]
    return left * points[:, 0] + (1.0 - left) * points[:, 1]


def balance(performer, turns, feet: Feet, target, crouch) -> np.ndarray:
    """Pelvis path (frames, 3) that brings the centre of mass over the target; writes the legs' turns."""
    skeleton = performer.skeleton
    upper = place(skeleton, turns, np.zeros((len(turns), 3)))
    root = np.zeros((len(turns), 3))
    root[:, [0, 2]] = target
    for _ in range(3):
        hips = upper.places[:, [skeleton.index("LeftUpLeg"), skeleton.index("RightUpLeg")]]
        root[:, 1] = _pelvis_height(performer, hips, feet, root) - crouch
        legs = _legs(performer, turns, hips + root[:, None], feet)
        places = upper.places + root[:, None]
        for s, side in enumerate(SIDES):
            for name, joint in zip(("Leg", "Foot", "Toe"), legs[s], strict=True):
                places[:, skeleton.index(side + name)] = joint
        root[:, [0, 2]] += target - anatomy.centre_of_mass(skeleton, places)[:, [0, 2]]
    root[:, 1] = _pelvis_height(performer, hips, feet, root) - crouch
    _legs(performer, turns, hips + root[:, None], feet)
    return root


def _pelvis_height(performer, hips, feet: Feet, root) -> np.ndarray:
    """Height at which the lower of the two legs' reaches is used up but for the habitual bend of the knee."""
    thigh, shin = _leg_lengths(performer)
    reach_ = np.sqrt(thigh**2 + shin**2 + 2 * thigh * shin * np.cos(performer.knee_flexion))
    aside = (hips + root[:, None] - feet.ankles)[..., [0, 2]]
    heights = feet.ankles[..., 1] - hips[..., 1] + np.sqrt(np.maximum(reach_**2 - np.sum(aside**2, -1), 0.01))
    # a smooth minimum: the pelvis does not jerk when the other leg becomes the limit
    soft = 0.004
    lowest = heights.min(axis=1)
    return lowest - soft * np.log(np.exp(-(heights - lowest[:, None]) / soft).sum(axis=1))


def _leg_lengths(performer) -> tuple[float, float]:
    skeleton = performer.skeleton
    return skeleton.offsets[skeleton.index("LeftLeg"), 0], skeleton.offsets[skeleton.index("LeftFoot"), 0]


def _legs(performer, turns, hips, feet: Feet):
    """Write the turns of thigh, shin, foot and toe; return world places (knee, ankle, toe) per side."""
    skeleton = performer.skeleton
    thigh, shin = _leg_lengths(performer)
    toe = skeleton.offsets[skeleton.index("LeftToe"), 0]
    pelvis = turns[:, 0]
    forward = rot.rotate(pelvis, [0.0, 0.0, 1.0])
    heading = np.arctan2(forward[:, 0], forward[:, 2])
    places = []
    for s, side in enumerate(SIDES):
        # knees point mostly where the toes do
        aim = heading + 0.75 * (feet.yaw[:, s] - heading)
        pole = np.stack([np.sin(aim), np.zeros_like(aim), np.cos(aim)], -1)
        limb = two_bone_pose(hips[:, s], feet.ankles[:, s], thigh, shin, pole)
        world = []
        along = limb.end - hips[:, s]
        hinge = np.cross(pole, along)
        hinge = hinge / np.linalg.norm(hinge, axis=-1, keepdims=True)
        for bone in (limb.middle - hips[:, s], limb.end - limb.middle):
            up = -bone / np.linalg.norm(bone, axis=-1, keepdims=True)
            world.append(rot.from_matrix(np.stack([hinge, up, np.cross(hinge, up)], axis=-1)))
        toes_up = np.minimum(feet.pitch[:, s], 0.0)
        level = rot.from_euler(np.stack([feet.yaw[:, s], toes_up, np.zeros_like(aim)], -1), "YXZ")
        foot = rot.from_euler(np.stack([feet.yaw[:, s], feet.pitch[:, s], np.zeros_like(aim)], -1), "YXZ")
        chain = [pelvis, *world, foot, level]
        for (parent, child), name in zip(pairwise(chain), ("UpLeg", "Leg", "Foot", "Toe"), strict=True):
            turns[:, skeleton.index(side + name)] = rot.multiply(rot.inverse(parent), child)
        tip = limb.end + rot.rotate(foot, toe * np.array([0.0, -np.sin(FOOT_PITCH), np.cos(FOOT_PITCH)]))
        places.append((limb.middle, limb.end, tip))
    return places
