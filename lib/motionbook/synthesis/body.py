"""From a score of intentions to a whole body that carries them out: balance, posture, limbs, breath and sway.

The order is that of a standing person. The trunk and head follow their plans; the arms move between poses and are
held to what they touch; the pelvis then goes where it must for the centre of mass to be over the feet as planned;
the legs reach from there to the feet, which stand still unless they step.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton
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
from motionbook.synthesis.balance import Pose, Roll, Step, balance, place, place_feet, support
from motionbook.synthesis.performer import FPS, SIDES, Performer
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
    rolls: list[Roll] = field(default_factory=list)


class Stand(NamedTuple):
    """Places and body turns of a person's joints in one neutral stance, (joints, 3) and (joints, 4)."""

    skeleton: Skeleton
    stature: float
    positions: np.ndarray
    turns: np.ndarray


def neutral_stand(performer: Performer, arms: tuple[ArmState | None, ArmState | None] = (None, None)) -> Stand:
    """The person upright with the given arms (hanging straight where None), feet flat, no sway."""
    turns = _trunk_turns(performer, np.zeros((1, len(TRUNK))), np.zeros((1, 3)), np.zeros(1))
    for side, state in zip(SIDES, arms, strict=True):
        hanging = rot.from_euler(np.array([0.0, 0.0, -1.4 if side == "Left" else 1.4]), "XYZ")
        turn = hanging if state is None else state.turn
        _set_arm(performer.skeleton, turns, side, np.zeros((1, 5)) if state is None else state.angles[None], turn[None])
    pose = place(performer.skeleton, turns, np.zeros((1, 3)))
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
    slow = coloured_noise(frames, 10, FPS, rng, corner=0.12, slope=3.2)
    sway = coloured_noise(frames, 2, FPS, rng, corner=0.20, slope=2.9)
    arm_noise = coloured_noise(frames, 16, FPS, rng, corner=0.15, slope=3.0)

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

    feet = place_feet(performer, score.steps, score.rolls, seconds)
    target = support(performer, feet, weight) + performer.sway * sway * [0.6, 1.0]
    root = balance(performer, turns, feet, target, trunk[:, 5])
    pose = place(skeleton, turns, root)
    for s, side in enumerate(SIDES):
        _hold_arm(performer, turns, pose, side, score.first_arms[s], score.arms[s], seconds, rng)
    root = balance(performer, turns, feet, target, trunk[:, 5])
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
    half = rot.from_rotation_vector(0.5 * _soft_limit(bend, np.deg2rad([50.0, 68.0, 26.0])))
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


def _hold_arm(performer, turns, pose: Pose, side, first: ArmState, keys: Sequence[ArmKey], seconds, rng):
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
    pole = elbow - 0.5 * (shoulder + wrist) + 0.06 * bend
    pole *= 0.15 / np.linalg.norm(pole, axis=-1, keepdims=True)
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
