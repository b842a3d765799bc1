"""From a score of intentions to a whole body that carries them out: balance, posture, limbs, breath and sway.

The order is that of a standing person. The trunk and head follow their plans; the arms move between poses and are
held to what they touch; the pelvis then goes where it must for the centre of mass to be over the feet as planned;
the legs reach from there to the feet, which stand still unless they step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton
from motionbook.inverse_kinematics import two_bone_pose
from motionbook.kinematics import world_pose
from motionbook.skeletons import t_pose
from motionbook.synthesis import anatomy
from motionbook.synthesis.arms import (
    ARM_POSES,
    ArmKey,
    ArmState,
    arm_places,
    clavicle_turn,
    forearm_turns,
    reach,
    solve_arm,
)
from motionbook.synthesis.performer import FPS, SIDES, TOE_HEIGHT, Performer
from motionbook.synthesis.signals import (
    Key,
    blend_keys,
    breathing,
    coloured_noise,
    minimum_jerk,
    slerp_keys,
    wiggle_path,
)

# Order of the numbers in a trunk key, radians except crouch in metres
TRUNK = ("pelvis yaw", "pelvis tilt", "spine flexion", "spine sideways", "spine rotation", "crouch")


class Step(NamedTuple):
    """A foot that is set down elsewhere: side 0 left or 1 right, start and duration (s), where to, and how high."""

    side: int
    start: float
    duration: float
    place: tuple[float, float]
    toe_out: float
    lift: float


@dataclass(frozen=True, eq=False)
class Score:
    """What a person is going to do, as keys per part of the body; lists are filled by the planning functions.

    ``weight`` keys have one number from -1 (all on the right foot) to 1 (left); ``gaze`` three: yaw to the left,
    pitch down, roll, radians in the room; ``trunk`` those named in `TRUNK`; ``arms`` one list per side.
    """

    seconds: float
    first_weight: float
    first_arms: tuple[ArmState, ArmState]
    restlessness: float = 1.0
    weight: list[Key] = field(default_factory=list)
    gaze: list[Key] = field(default_factory=list)
    trunk: list[Key] = field(default_factory=list)
    arms: tuple[list[ArmKey], list[ArmKey]] = field(default_factory=lambda: ([], []))
    steps: list[Step] = field(default_factory=list)


class Stand(NamedTuple):
    """Places and body turns of a person's joints in one neutral stance, (joints, 3) and (joints, 4)."""

    skeleton: Skeleton
    stature: float
    positions: np.ndarray
    turns: np.ndarray


class _Pose(NamedTuple):
    places: np.ndarray
    turned: np.ndarray


def neutral_stand(performer: Performer, arms: tuple[ArmState | None, ArmState | None] = (None, None)) -> Stand:
    """The person upright with the given arms (hanging straight where None), feet flat, no sway."""
    turns = _trunk_turns(performer, np.zeros((1, len(TRUNK))), np.zeros((1, 3)), np.zeros(1))
    for side, state in zip(SIDES, arms, strict=True):
        hanging = rot.from_euler(np.array([0.0, 0.0, -1.4 if side == "Left" else 1.4]), "XYZ")
        turn = hanging if state is None else state.turn
        _set_arm(performer.skeleton, turns, side, np.zeros((1, 5)) if state is None else state.angles[None], turn[None])
    pose = _place(performer.skeleton, turns, np.zeros((1, 3)))
    return Stand(performer.skeleton, performer.stature, pose.places[0], pose.turned[0])


@lru_cache(maxsize=256)
def _stand_hanging(performer: Performer) -> Stand:
    return neutral_stand(performer)


def arm_state(performer: Performer, side: int, name: str, rng=None, other: ArmState | None = None) -> ArmState:
    """A named pose of one arm in this person's joint space; ``other`` is the other arm where the pose touches it."""
    pose = ARM_POSES[name]
    if other is not None and pose.frame.startswith("Other"):
        stand = neutral_stand(performer, (other, None) if side == 1 else (None, other))
    else:
        stand = _stand_hanging(performer)
    return solve_arm(stand, SIDES[side], pose, rng)


def home_feet(performer: Performer) -> np.ndarray:
    """Ankle places on the floor (left, right; x, z) of the person's usual stance, metres."""
    half = 0.5 * performer.stance
    back = -0.05 * performer.stature / 1.75
    return np.array([[half, back], [-half, back]])


def render(performer: Performer, score: Score, rng: np.random.Generator) -> Clip:
    """The motion of a score: a clip at 30 fps on the person's LaFAN1 skeleton.

    Parameters
    ----------
    performer : Performer
    score : Score
    rng : numpy Generator
        Draws what is not intended: sway, breath, tremor of held poses, rhythm of scratching.
    """
    frames = max(2, round(score.seconds * FPS))
    seconds = np.arange(frames) / FPS
    skeleton = performer.skeleton
    lively = performer.energy * score.restlessness
    # strands are planned one after the other; what starts later takes over
    score = _in_time(score)
    breath = breathing(frames, FPS, performer.breath[0], rng) * performer.breath[1]
    slow = coloured_noise(frames, 10, FPS, rng, corner=0.12, slope=3.6)
    sway = coloured_noise(frames, 2, FPS, rng, corner=0.20, slope=3.2)
    arm_noise = coloured_noise(frames, 16, FPS, rng, corner=0.15, slope=3.4)

    weight = blend_keys([score.first_weight], score.weight, seconds)[:, 0] + 0.16 * lively * slow[:, 0]
    weight = 0.97 * np.tanh(weight / 0.97)
    gaze = blend_keys(np.zeros(3), score.gaze, seconds) + np.deg2rad([1.8, 1.3, 0.9]) * lively * slow[:, 1:4]
    trunk = blend_keys(np.zeros(len(TRUNK)), score.trunk, seconds) + _following(score.gaze, seconds)
    trunk[:, 2] -= np.deg2rad(0.45) * breath
    trunk[:, :5] += np.deg2rad([1.5, 0.7, 1.3, 1.0, 1.3]) * lively * slow[:, 4:9]
    turns = _trunk_turns(performer, trunk, gaze, weight)
    for s, side in enumerate(SIDES):
        noise = arm_noise[:, 8 * s : 8 * s + 8]
        _move_arm(performer, turns, side, score.first_arms[s], score.arms[s], seconds, noise, breath)

    feet = _feet(performer, score.steps, seconds)
    target = _support(performer, feet, weight) + performer.sway * sway * [0.6, 1.0]
    root = _balance(performer, turns, feet, target, trunk[:, 5])
    pose = _place(skeleton, turns, root)
    for s, side in enumerate(SIDES):
        _hold_arm(performer, turns, pose, side, score.first_arms[s], score.arms[s], seconds, rng)
    root = _balance(performer, turns, feet, target, trunk[:, 5])
    local = anatomy.rotations_from_turns(skeleton, turns)
    return Clip(skeleton, root, rot.normalize(local), FPS)


def _in_time(score: Score) -> Score:
    def ordered(keys):
        return sorted(keys, key=lambda key: key.start)

    return replace(
        score,
        weight=ordered(score.weight),
        gaze=ordered(score.gaze),
        trunk=ordered(score.trunk),
        arms=tuple(ordered(keys) for keys in score.arms),
        steps=ordered(score.steps),
    )


def _place(skeleton: Skeleton, turns, root) -> _Pose:
    """World places and world turns from the T-pose."""
    world = world_pose(skeleton, root, anatomy.rotations_from_turns(skeleton, turns))
    return _Pose(world.positions, rot.multiply(world.rotations, rot.inverse(t_pose(skeleton))))


def _following(gaze: Sequence[Key], seconds) -> np.ndarray:
    """How the trunk (frames, 6) follows the head: later, slower, and the more the further the head turns."""
    keys = []
    for key in gaze:
        yaw, pitch, _ = key.value
        # beyond what the neck does at ease, the trunk and then the pelvis take over
        far = np.sign(yaw) * max(0.0, abs(yaw) - np.deg2rad(35.0))
        value = np.array([0.04 * yaw + 0.28 * far, 0.03 * pitch, 0.12 * pitch, 0.0, 0.12 * yaw + 0.24 * far, 0.0])
        keys.append(Key(key.start + 0.12, 1.5 * key.duration, value))
    return blend_keys(np.zeros(len(TRUNK)), keys, seconds)


def _trunk_turns(performer, trunk, gaze, weight) -> np.ndarray:
    """Body turns (frames, 22, 4) of pelvis, spine, neck and head; the limbs are left as in the T-pose."""
    skeleton = performer.skeleton
    turns = np.tile(rot.identity(), (len(trunk), len(skeleton), 1))
    tilt, flexion, forward, down = performer.posture
    drop = performer.hip_drop * weight
    zero = np.zeros(len(trunk))
    pelvis = rot.from_euler(np.stack([trunk[:, 0], tilt + trunk[:, 1], drop], -1), "YXZ")
    spine = np.stack([trunk[:, 4], flexion + trunk[:, 2], trunk[:, 3] - 1.15 * drop], -1)
    third = _soft_limit(spine, np.deg2rad([42.0, 70.0, 28.0])) / 3.0
    chest = pelvis
    turns[:, 0] = pelvis
    for name in ("Spine", "Spine1", "Spine2"):
        turns[:, skeleton.index(name)] = rot.from_euler(third, "YXZ")
        chest = rot.multiply(chest, turns[:, skeleton.index(name)])
    head = rot.from_euler(np.add(gaze, [0.0, down, performer.head_tilt]), "YXZ")
    # a neck goes no further; the head then waits for the trunk to bring it round
    bend = rot.to_rotation_vector(rot.multiply(rot.inverse(chest), head))
    half = rot.from_rotation_vector(0.5 * _soft_limit(bend, np.deg2rad([55.0, 72.0, 38.0])))
    carried = rot.from_euler(np.stack([forward + zero, zero, zero], -1), "XYZ")
    turns[:, skeleton.index("Neck")] = rot.multiply(half, carried)
    turns[:, skeleton.index("Head")] = rot.multiply(rot.inverse(carried), half)
    return turns


def _soft_limit(x, limit):
    """x while it is well below the limit, bent smoothly so that it never passes it."""
    return x / (1.0 + np.abs(x / limit) ** 6) ** (1.0 / 6.0)


def _set_arm(skeleton, turns, side, angles, against_chest):
    """Write an arm's joint turns from its five angles (frames, 5) and its upper arm's turn against the chest."""
    collar = clavicle_turn(angles[:, 3:5], side)
    forearm, hand = forearm_turns(angles, side)
    turns[:, skeleton.index(f"{side}Shoulder")] = collar
    turns[:, skeleton.index(f"{side}Arm")] = rot.multiply(rot.inverse(collar), against_chest)
    turns[:, skeleton.index(f"{side}ForeArm")] = forearm
    turns[:, skeleton.index(f"{side}Hand")] = hand


def _move_arm(performer, turns, side, first: ArmState, keys: Sequence[ArmKey], seconds, noise, breath):
    """Arms between poses, in joint space: arcs from shoulder and elbow, gravity where they hang, a little tremor."""
    turn = slerp_keys(first.turn, [Key(k.start, k.duration, k.value.turn) for k in keys], seconds)
    angles = blend_keys(first.angles, [Key(k.start, k.duration, k.value.angles) for k in keys], seconds)
    free = blend_keys([first.pose.gravity], [Key(k.start, k.duration, [k.value.pose.gravity]) for k in keys], seconds)
    skeleton = performer.skeleton
    chest = turns[:, 0]
    for name in ("Spine", "Spine1", "Spine2"):
        chest = rot.multiply(chest, turns[:, skeleton.index(name)])
    # the tilt of the chest without its heading: what a hanging arm does not follow
    yaw = rot.swing_twist(chest, [0.0, 1.0, 0.0])[1]
    tilt = rot.to_rotation_vector(rot.multiply(rot.inverse(yaw), chest))
    hung = rot.from_rotation_vector(-free * tilt)
    size = np.deg2rad(2.2) * performer.energy
    turn = rot.multiply(hung, rot.multiply(turn, rot.from_rotation_vector(size * noise[:, :3] * [0.8, 1.0, 1.0])))
    angles = angles + np.deg2rad([3.0, 3.5, 2.0, 0.8, 0.9]) * performer.energy * noise[:, 3:8]
    angles[:, 0] = np.clip(angles[:, 0], np.deg2rad(3.0), np.deg2rad(147.0))
    angles[:, 3] += np.deg2rad(0.8) * breath
    _set_arm(skeleton, turns, side, angles, turn)


def _hold_arm(performer, turns, pose: _Pose, side, first: ArmState, keys: Sequence[ArmKey], seconds, rng):
    """Bring the wrist onto what it touches while that moves, add scratching, and keep it out of the trunk."""
    skeleton = performer.skeleton
    j = skeleton.index
    wrist = pose.places[:, j(f"{side}Hand")]
    aimed = wrist
    for state, held in _contacts(first, keys, seconds):
        at = j(state.frame)
        goal = pose.places[:, at] + rot.rotate(pose.turned[:, at], state.wrist)
        aimed = aimed + held[:, None] * (goal - wrist)
    for key in keys:
        at = j(key.value.frame)
        for wiggle in key.wiggles:
            aimed = aimed + rot.rotate(pose.turned[:, at], wiggle_path(wiggle, seconds, rng))
    shoulder, elbow = pose.places[:, j(f"{side}Arm")], pose.places[:, j(f"{side}ForeArm")]
    lengths = tuple(np.linalg.norm(skeleton.offsets[j(side + name)]) for name in ("ForeArm", "Hand"))
    # with the elbow nearly straight, its own place says little about where it points: the hinge does
    bend = rot.rotate(pose.turned[:, j(f"{side}Arm")], [0.0, 0.0, -1.0])
    pole = elbow - 0.5 * (shoulder + wrist) + 0.02 * bend
    pelvis = 0.5 * (pose.places[:, j("LeftUpLeg")] + pose.places[:, j("RightUpLeg")])
    shoulders = 0.5 * (pose.places[:, j("LeftArm")] + pose.places[:, j("RightArm")])
    trunk = (pelvis, shoulders, pose.turned[:, j("Spine1")], performer.stature, 0.03 * performer.stature / 1.75)
    for _ in range(3):
        world, flexion = reach(shoulder, aimed, pole, lengths, side)
        elbow, wrist = arm_places(shoulder, world, flexion, lengths, side)
        along = np.array([0.0, 0.35, 0.7, 1.0])[:, None]
        shift = anatomy.out_of_trunk(elbow[:, None] * (1.0 - along) + wrist[:, None] * along, *trunk)
        # the hand gives way as far as the worst placed point of the forearm asks; the elbow swivels out
        aimed = aimed + shift[:, 1:].mean(axis=1) * 1.5
        pole = pole + 2.0 * shift[:, 0] + shift[:, 1]
    world, flexion = reach(shoulder, aimed, pole, lengths, side)
    parent = pose.turned[:, j(f"{side}Shoulder")]
    turns[:, j(f"{side}Arm")] = rot.multiply(rot.inverse(parent), world)
    pronation = rot.to_euler(turns[:, j(f"{side}ForeArm")], "YZX")[:, 2]
    sign = 1.0 if side == "Left" else -1.0
    bent = np.stack([-sign * flexion, np.zeros_like(flexion), pronation], -1)
    turns[:, j(f"{side}ForeArm")] = rot.from_euler(bent, "YZX")


def _contacts(first: ArmState, keys: Sequence[ArmKey], seconds) -> list[tuple[ArmState, np.ndarray]]:
    """Poses in contact with a part of the body, and how firmly (frames,): only around the rest, not on the way."""
    held = [(first, np.ones(len(seconds)))]
    for key in keys:
        share = np.clip((seconds - key.start) / key.duration, 0.0, 1.0)
        held = [(state, firm * (1.0 - minimum_jerk(share / 0.45))) for state, firm in held]
        held.append((key.value, minimum_jerk((share - 0.55) / 0.45)))
    return [(state, firm) for state, firm in held if state.pose.contact and firm.max() > 0.0]


class _Feet(NamedTuple):
    ankles: np.ndarray  # (frames, 2, 3)
    yaw: np.ndarray  # (frames, 2), to the left
    pitch: np.ndarray  # (frames, 2), heel up


def _feet(performer: Performer, steps: Sequence[Step], seconds) -> _Feet:
    """Ankles and foot angles: flat and still, but for the steps."""
    home = home_feet(performer)
    out = np.array([1.0, -1.0])
    ankles, yaw, pitch = np.zeros((len(seconds), 2, 3)), np.zeros((len(seconds), 2)), np.zeros((len(seconds), 2))
    for side in (0, 1):
        first = [*home[side], out[side] * performer.toe_out[side]]
        mine = [step for step in steps if step.side == side]
        keys = [Key(s.start, s.duration, np.array([*s.place, out[side] * s.toe_out])) for s in mine]
        path = blend_keys(first, keys, seconds)
        lift = np.zeros(len(seconds))
        for step in mine:
            share = np.clip((seconds - step.start) / step.duration, 0.0, 1.0)
            lift += step.lift * 16.0 * share**2 * (1.0 - share) ** 2
            # the heel leaves first and lands first
            pitch[:, side] += (
                np.deg2rad(260.0) * step.lift * (minimum_jerk(share / 0.4) - minimum_jerk(share / 0.8 - 0.25))
            )
        toe = performer.skeleton.offsets[performer.skeleton.index("LeftToe"), 0]
        angle = np.deg2rad(21.7) + pitch[:, side]
        ankles[:, side] = np.stack([path[:, 0], toe * np.sin(angle) + TOE_HEIGHT + lift, path[:, 1]], axis=-1)
        yaw[:, side] = path[:, 2]
    return _Feet(ankles, yaw, pitch)


def _support(performer, feet: _Feet, weight) -> np.ndarray:
    """Where the centre of mass should be over the floor (frames, 2): in front of the ankles, between by weight."""
    ahead = 0.26 * performer.skeleton.offsets[performer.skeleton.index("LeftToe"), 0]
    points = feet.ankles[..., [0, 2]] + ahead * np.stack([np.sin(feet.yaw), np.cos(feet.yaw)], -1)
    left = 0.5 * (1.0 + 0.88 * weight)[:, None]
    return left * points[:, 0] + (1.0 - left) * points[:, 1]


def _balance(performer, turns, feet: _Feet, target, crouch) -> np.ndarray:
    """Pelvis path (frames, 3) that brings the centre of mass over the target; writes the legs' turns."""
    skeleton = performer.skeleton
    upper = _place(skeleton, turns, np.zeros((len(turns), 3)))
    root = np.zeros((len(turns), 3))
    root[:, [0, 2]] = target
    for _ in range(3):
        hips = upper.places[:, [skeleton.index("LeftUpLeg"), skeleton.index("RightUpLeg")]]
        root[:, 1] = _pelvis_height(performer, hips, feet, root) - crouch
        legs = _legs(performer, turns, hips + root[:, None], feet)
        places = upper.places + root[:, None]
        for s, side in enumerate(SIDES):
            for name, place in zip(("Leg", "Foot", "Toe"), legs[s], strict=True):
                places[:, skeleton.index(side + name)] = place
        root[:, [0, 2]] += target - anatomy.centre_of_mass(skeleton, places)[:, [0, 2]]
    root[:, 1] = _pelvis_height(performer, hips, feet, root) - crouch
    _legs(performer, turns, hips + root[:, None], feet)
    return root


def _pelvis_height(performer, hips, feet: _Feet, root) -> np.ndarray:
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


def _legs(performer, turns, hips, feet: _Feet):
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
        level = rot.from_euler(np.stack([feet.yaw[:, s], np.zeros_like(aim), np.zeros_like(aim)], -1), "YXZ")
        foot = rot.from_euler(np.stack([feet.yaw[:, s], feet.pitch[:, s], np.zeros_like(aim)], -1), "YXZ")
        chain = [pelvis, *world, foot, level]
        for (parent, child), name in zip(pairwise(chain), ("UpLeg", "Leg", "Foot", "Toe"), strict=True):
            turns[:, skeleton.index(side + name)] = rot.multiply(rot.inverse(parent), child)
        pitch = np.deg2rad(21.7)
        tip = limb.end + rot.rotate(foot, toe * np.array([0.0, -np.sin(pitch), np.cos(pitch)]))
        places.append((limb.middle, limb.end, tip))
    return places
