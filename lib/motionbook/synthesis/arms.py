"""Where hands rest and what they touch, as wrist places in the frame of a body part, and the arm that gets there.

A pose is written for the left arm of a person of 1.75 m; the right arm uses its mirror image. Solved once per person
in a neutral stance it becomes turns of the joints, between which arms move in natural arcs; while a hand rests on a
body part that moves, the wrist is then held to it by inverse kinematics.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.inverse_kinematics import two_bone_pose

_MOST_FLEXED = np.deg2rad(146.0)  # elbow; closer targets are met by moving the wrist out


@dataclass(frozen=True)
class ArmPose:
    """Where the wrist is and how the arm gets there.

    Attributes
    ----------
    name : str
    frame : str
        Joint whose place and turn the wrist is given in; "Side..." is the acting side's, "Other..." the other's.
        "Shoulder" means the acting shoulder joint with the chest's turn, and lengths in arm lengths.
    wrist : (x, y, z)
        Metres at 1.75 m: x to the acting side, y up, z forward (of a T-pose, for limbs).
    elbow : (x, y, z)
        Direction, in the chest's axes, in which the elbow points.
    pronation, flexion : float
        Of forearm and wrist, degrees; pronation 0 is half-way.
    shoulder : (elevation, protraction)
        Of the clavicle, degrees.
    contact : bool
        Whether the hand stays on the frame's body part while that moves.
    gravity : float
        Share of the trunk's tilt that the arm does not follow because it hangs.
    spread : (x, y, z)
        Standard deviation from one time to the next, metres.
    """

    name: str
    frame: str
    wrist: tuple[float, float, float]
    elbow: tuple[float, float, float]
    pronation: float = 0.0
    flexion: float = 0.0
    shoulder: tuple[float, float] = (0.0, 0.0)
    contact: bool = True
    gravity: float = 0.0
    spread: tuple[float, float, float] = (0.012, 0.012, 0.010)


_POSES = (
    # resting
    ArmPose(
        "hang", "Shoulder", (0.15, -0.965, 0.10), (0.35, 0.0, -1.0), 15, 5, (0, 0), False, 0.7, (0.03, 0.005, 0.04)
    ),
    ArmPose("hang wide", "Shoulder", (0.35, -0.90, 0.08), (0.6, 0.0, -1.0), 10, 5, (0, 0), False, 0.5),
    ArmPose("pocket", "Hips", (0.205, 0.015, 0.045), (0.75, 0.0, -1.0), 20, 10, (3, 0)),
    ArmPose("back pocket", "Hips", (0.175, 0.00, -0.135), (0.6, 0.0, -1.0), 60, 5, (0, -8)),
    ArmPose("hip", "Hips", (0.215, 0.115, -0.01), (1.0, 0.0, -0.35), 30, 40, (6, 0)),
    ArmPose("clasp front", "Spine2", (0.045, -0.303, 0.200), (1.0, -0.2, -0.5), 25, 10, (0, 8)),
    ArmPose("clasp back", "Spine2", (0.060, -0.288, -0.140), (0.9, 0.0, -0.7), 45, 5, (0, -12)),
    ArmPose("crossed over", "Spine2", (-0.105, -0.035, 0.215), (1.0, -0.6, 0.0), 30, 20, (4, 10)),
    ArmPose("crossed under", "Spine2", (-0.075, -0.060, 0.175), (1.0, -0.5, 0.0), 15, 0, (4, 10)),
    ArmPose("hold arm", "Spine2", (-0.070, -0.120, 0.200), (1.0, -0.4, -0.2), 40, 10, (2, 8)),
    ArmPose("strap", "Spine2", (0.105, 0.095, 0.170), (0.7, -1.0, -0.3), 40, 35, (2, 0)),
    ArmPose("raised", "Shoulder", (0.28, -0.08, 0.50), (1.0, -0.9, -0.2), 10, 0, (4, 4), False),  # on the way up
    # phone and watch
    ArmPose(
        "phone", "Spine2", (0.070, -0.020, 0.290), (0.45, -1.0, -0.1), -25, 15, (2, 6), True, 0, (0.03, 0.03, 0.02)
    ),
    ArmPose(
        "phone low", "Spine2", (0.085, -0.11, 0.250), (0.5, -1.0, -0.2), -20, 15, (0, 4), True, 0, (0.03, 0.03, 0.02)
    ),
    ArmPose("phone support", "Spine2", (0.045, -0.030, 0.275), (0.6, -1.0, -0.1), -5, 15, (2, 6)),
    ArmPose("phone ear", "Head", (0.155, -0.030, 0.100), (0.6, -1.0, 0.2), 0, 20, (6, 0)),
    ArmPose("watch", "Spine2", (0.060, 0.060, 0.300), (1.0, -0.5, -0.1), 35, 10, (4, 8), True, 0, (0.03, 0.03, 0.02)),
    ArmPose(
        "watch low", "Spine2", (0.110, -0.06, 0.270), (1.0, -0.7, -0.2), 25, 5, (2, 4), True, 0, (0.03, 0.03, 0.02)
    ),
    ArmPose("sleeve", "OtherForeArm", (-0.205, -0.020, 0.060), (1.0, -0.6, -0.1), 40, 15, (2, 10)),
    # head and face
    ArmPose("head side", "Head", (0.165, 0.070, 0.035), (1.0, -0.3, 0.15), 20, 30, (15, 0)),
    ArmPose("head top", "Head", (0.125, 0.185, 0.050), (1.0, 0.0, 0.2), 30, 40, (20, 0)),
    ArmPose("head back", "Head", (0.130, 0.090, -0.100), (0.8, 0.2, 1.0), 35, 30, (18, -5)),
    ArmPose("neck", "Head", (0.150, -0.010, -0.075), (0.6, 0.1, 1.0), 35, 30, (15, -3)),
    ArmPose("ear", "Head", (0.160, -0.020, 0.100), (0.8, -0.8, 0.1), 10, 25, (8, 0)),
    ArmPose("chin", "Head", (0.050, -0.170, 0.130), (0.8, -1.0, -0.1), -20, 20, (2, 5)),
    ArmPose("chin cross", "Head", (0.020, -0.175, 0.140), (0.8, -1.0, 0.1), 0, 15, (2, 8)),
    ArmPose("cheek", "Head", (0.095, -0.115, 0.130), (0.8, -1.0, 0.0), -10, 20, (3, 3)),
    ArmPose("nose", "Head", (0.055, -0.110, 0.175), (0.5, -1.0, 0.0), 20, 15, (4, 6)),
    ArmPose("mouth", "Head", (0.070, -0.125, 0.165), (0.6, -1.0, 0.0), 40, 20, (4, 6)),
    ArmPose("eye", "Head", (0.075, -0.050, 0.175), (0.6, -1.0, 0.0), 20, 25, (6, 6)),
    ArmPose("brow", "Head", (0.085, 0.005, 0.190), (0.9, -0.7, 0.1), 40, 20, (8, 6)),
    # body
    ArmPose("upper arm", "OtherArm", (-0.130, 0.000, 0.165), (0.5, -1.0, 0.5), 30, 30, (3, 12)),
    ArmPose("shoulder", "OtherArm", (-0.040, 0.050, 0.155), (0.4, -1.0, 0.3), 40, 30, (6, 14)),
    ArmPose("forearm", "OtherForeArm", (-0.165, -0.030, 0.075), (1.0, -0.6, -0.1), 30, 25, (2, 10)),
    ArmPose("offered", "Spine2", (0.050, -0.080, 0.300), (0.7, -1.0, -0.2), 20, 0, (0, 5), True, 0, (0.03, 0.03, 0.02)),
    ArmPose("thigh", "SideUpLeg", (0.085, -0.110, 0.070), (0.6, 0.3, -1.0), 10, 15, (-4, 5)),
    ArmPose("thigh back", "SideUpLeg", (0.085, -0.090, -0.085), (0.8, 0.3, -1.0), 30, 10, (-4, -5)),
    ArmPose("knee", "SideUpLeg", (0.060, -0.300, 0.100), (0.8, 0.3, -0.8), 10, 10, (-6, 12)),
    ArmPose("shin", "SideLeg", (0.060, -0.085, 0.080), (0.8, 0.3, -0.8), 10, 10, (-6, 15)),
    ArmPose("over shoulder", "Spine2", (0.095, 0.335, -0.085), (0.5, 1.0, 1.0), 20, 30, (25, 0)),
    ArmPose("lower back", "Hips", (0.110, 0.130, -0.150), (1.0, 0.0, -0.6), 60, 20, (2, -15)),
    ArmPose("middle back", "Spine2", (0.085, -0.085, -0.150), (1.0, 0.0, -0.5), 60, 20, (4, -18)),
    ArmPose("back support", "Hips", (0.155, 0.125, -0.105), (0.8, 0.0, -1.0), 60, 35, (4, -12)),
    # stretching
    ArmPose(
        "overhead", "Shoulder", (-0.10, 0.965, 0.10), (1.0, 0.0, 0.3), 0, -10, (28, 0), False, 0.0, (0.06, 0.01, 0.06)
    ),
    ArmPose("overhead bent", "Spine2", (0.060, 0.560, -0.010), (1.0, 0.3, 0.2), 0, -20, (28, 0), False),
    ArmPose(
        "wide", "Shoulder", (0.965, 0.10, 0.00), (0.0, -1.0, -0.4), 0, -20, (10, -12), False, 0.0, (0.01, 0.12, 0.10)
    ),
    ArmPose(
        "forward", "Shoulder", (-0.22, -0.02, 0.95), (0.8, -0.8, 0.0), 40, -20, (6, 22), False, 0.0, (0.05, 0.08, 0.01)
    ),
    ArmPose("across", "Spine2", (-0.240, 0.110, 0.300), (0.4, -0.8, 0.5), 20, 0, (6, 25), False),
    ArmPose("pull elbow", "OtherArm", (-0.260, -0.040, 0.090), (1.0, -0.6, 0.3), 10, 20, (4, 15)),
    ArmPose("fold up", "Shoulder", (0.15, 0.30, 0.15), (1.0, 0.1, 0.05), 20, 10, (14, -8), False),
)
ARM_POSES = {pose.name: pose for pose in _POSES}


class ArmState(NamedTuple):
    """An arm in joint space, solved for one person and side.

    ``turn`` (4,) is that of the upper arm against the chest's turn from the T-pose; ``angles`` (5,) are elbow flexion,
    pronation, wrist flexion, clavicle elevation and protraction in radians; ``wrist`` (3,) is the place in the frame
    of joint ``frame``, metres; ``pose`` the pose it was solved from.
    """

    turn: np.ndarray
    angles: np.ndarray
    frame: str
    wrist: np.ndarray
    pose: ArmPose


class ArmKey(NamedTuple):
    """A move of an arm: start and duration (s), where to, and what the hand does there."""

    start: float
    duration: float
    value: ArmState
    wiggles: tuple = ()


def frame_joint(frame: str, side: str) -> str:
    """Name of the joint that an arm pose's frame stands for when ``side`` acts."""
    other = "Right" if side == "Left" else "Left"
    if frame == "Shoulder":
        return f"{side}Arm"
    return frame.replace("Side", side).replace("Other", other)


def clavicle_turn(angles, side: str) -> np.ndarray:
    """Turn (..., 4) of the clavicle from elevation and protraction (..., 2), radians."""
    sign = 1.0 if side == "Left" else -1.0
    elevation, protraction = np.asarray(angles)[..., 0], np.asarray(angles)[..., 1]
    zero = np.zeros_like(elevation)
    return rot.from_euler(np.stack([-sign * protraction, sign * elevation, zero], axis=-1), "YZX")


def forearm_turns(angles, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Turns (..., 4) of forearm and hand from elbow flexion, pronation and wrist flexion (..., 3), radians.

    Pronation is shared by the two joints, as the skin of a forearm shares it.
    """
    sign = 1.0 if side == "Left" else -1.0
    elbow, pronation, wrist = np.moveaxis(np.asarray(angles)[..., :3], -1, 0)
    zero = np.zeros_like(elbow)
    forearm = rot.from_euler(np.stack([-sign * elbow, zero, 0.5 * pronation], axis=-1), "YZX")
    hand = rot.from_euler(np.stack([0.5 * pronation, zero, -sign * wrist], axis=-1), "XYZ")
    return forearm, hand


def reach(shoulder, wrist, pole, lengths, side: str) -> tuple[np.ndarray, np.ndarray]:
    """World turn of the upper arm (..., 4) and elbow flexion (...) that put the wrist on a place (..., 3)."""
    upper, lower = lengths
    away = wrist - shoulder
    distance = np.linalg.norm(away, axis=-1, keepdims=True)
    closest = np.sqrt(upper**2 + lower**2 + 2 * upper * lower * np.cos(_MOST_FLEXED))
    wrist = shoulder + away * np.maximum(closest / distance, 1.0)
    pose = two_bone_pose(shoulder, wrist, upper, lower, pole, straightest=0.9985)
    along = pose.end - shoulder
    bone = (pose.middle - shoulder) / upper
    aside = pole - np.sum(pole * along, -1, keepdims=True) / np.sum(along * along, -1, keepdims=True) * along
    normal = np.cross(along, aside)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    bending = np.cross(bone, normal)
    sign = 1.0 if side == "Left" else -1.0
    turn = rot.from_matrix(np.stack([sign * bone, sign * normal, bending], axis=-1))
    forearm = (pose.end - pose.middle) / lower
    flexion = np.arctan2(np.sum(forearm * bending, -1), np.sum(forearm * bone, -1))
    return turn, flexion


def arm_places(shoulder, turn, flexion, lengths, side: str) -> tuple[np.ndarray, np.ndarray]:
    """World places (..., 3) of elbow and wrist from the upper arm's world turn and the elbow's flexion (...)."""
    sign = 1.0 if side == "Left" else -1.0
    upper, lower = lengths
    elbow = shoulder + rot.rotate(turn, [sign * upper, 0.0, 0.0])
    forearm = np.stack([sign * np.cos(flexion), np.zeros_like(flexion), np.sin(flexion)], axis=-1)
    return elbow, elbow + lower * rot.rotate(turn, forearm)


def solve_arm(stand, side: str, pose: ArmPose, rng: np.random.Generator | None = None) -> ArmState:
    """The arm of a person in a neutral stance whose wrist is where the pose says.

    Parameters
    ----------
    stand : body.Stand
        Places and turns of the person's joints in the neutral stance, with the other arm where it is at that time.
    side : str
        "Left" or "Right".
    pose : ArmPose
    rng : Generator, optional
        Draws this time's deviation from the pose.
    """
    sign = np.array([1.0 if side == "Left" else -1.0, 1.0, 1.0])
    skeleton, scale = stand.skeleton, stand.stature / 1.75
    joint = frame_joint(pose.frame, side)
    wrist = np.array(pose.wrist)
    if rng is not None:
        spread = np.array(pose.spread)
        wrist = wrist + np.clip(rng.standard_normal(3), -2, 2) * spread
    upper = np.linalg.norm(skeleton.offsets[skeleton.index(f"{side}ForeArm")])
    lower = np.linalg.norm(skeleton.offsets[skeleton.index(f"{side}Hand")])
    chest = stand.turns[skeleton.index("Spine2")]
    clavicle = np.deg2rad(np.array(pose.shoulder, dtype=float))
    collar = skeleton.index(f"{side}Shoulder")
    rest_bone = sign * np.array([np.linalg.norm(skeleton.offsets[skeleton.index(f"{side}Arm")]), 0.0, 0.0])
    shoulder = stand.positions[collar] + rot.rotate(rot.multiply(chest, clavicle_turn(clavicle, side)), rest_bone)
    if pose.frame == "Shoulder":
        local = wrist * sign * (upper + lower)
        place = shoulder + rot.rotate(chest, local)
    else:
        # lengths along a limb follow that limb; x of trunk and head follows the shoulders
        local = wrist * sign * scale
        place = stand.positions[skeleton.index(joint)] + rot.rotate(stand.turns[skeleton.index(joint)], local)
    pole = np.array(pose.elbow)
    if rng is not None:
        pole = pole + 0.08 * np.clip(rng.standard_normal(3), -2, 2)
    world, flexion = reach(shoulder, place, rot.rotate(chest, pole * sign), (upper, lower), side)
    angles = np.array([flexion, np.deg2rad(pose.pronation), np.deg2rad(pose.flexion), *clavicle])
    return ArmState(rot.multiply(rot.inverse(chest), world), angles, joint, local, pose)
