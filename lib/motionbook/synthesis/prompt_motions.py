"""Procedural performances of a dozen stick-figure prompts, two of each group, for readers without the data set.

Each performance is a handful of curves over time (root, trunk, arms as angles, feet as targets) turned into a Clip on
CSKEL27 at 20 frames per second. The seed varies tempo, size, posture and small unrest, so that seeds of a prompt
differ as takes of a person do. They are simple by design: they exercise the renderer and the diagnostics, and do not
stand for the source motions of the published set.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from zlib import crc32

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inverse_kinematics import place_limb_end
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import CSKEL27
from motionbook.synthesis.prompts import find_prompt

FPS, FRAMES = 20.0, 120
STANDING_HEIGHT = 0.955  # of the hips over the floor, knees soft
ANKLE_HEIGHT = 0.08
_X, _Y, _Z = np.eye(3)
_SPINE = ("Spine", "Spine1", "Spine2", "Spine3")


@dataclass
class _Arm:
    """Angles (frames,) in radians: swing forward and abduct outward from hanging, roll about the upper arm, elbow."""

    swing: np.ndarray | float = 0.05
    abduct: np.ndarray | float = 0.14
    roll: np.ndarray | float = 0.1
    elbow: np.ndarray | float = 0.25


@dataclass
class _Foot:
    """Ankle target (frames, 3) in metres, yaw and pitch (frames,) of the sole; positive pitch points the toes down."""

    ankle: np.ndarray
    yaw: np.ndarray | float = 0.0
    pitch: np.ndarray | float = 0.0


@dataclass
class _Pose:
    """All curves of a performance; left first where there are two."""

    root: np.ndarray
    heading: np.ndarray | float = 0.0
    bend: np.ndarray | float = 0.05
    lean: np.ndarray | float = 0.0
    twist: np.ndarray | float = 0.0
    nod: np.ndarray | float = 0.0
    look: np.ndarray | float = 0.0
    arms: tuple[_Arm, _Arm] = field(default_factory=lambda: (_Arm(), _Arm()))
    feet: tuple[_Foot, _Foot] | None = None


class _Take:
    """The clock and the character of one seed of one prompt."""

    def __init__(self, text: str, seed: int):
        self.rng = np.random.default_rng([crc32(text.encode()), seed])
        self.tempo, self.size = self.rng.uniform(0.85, 1.18), self.rng.uniform(0.85, 1.12)
        self.stance = self.rng.uniform(0.09, 0.13)
        self.phase = self.rng.uniform(0, 2 * np.pi)
        self.time = np.arange(FRAMES) / FPS

    def wave(self, hertz: float, shift: float = 0.0) -> np.ndarray:
        """A sine at a frequency in hertz, at this take's tempo and phase; shift in turns."""
        return np.sin(2 * np.pi * (hertz * self.tempo * self.time + shift) + self.phase)

    def unrest(self, size: float) -> np.ndarray:
        """A slow irregular curve of about this size."""
        hertz, shift = self.rng.uniform(0.08, 0.5, 4), self.rng.uniform(0, 2 * np.pi, 4)
        return size * np.sin(2 * np.pi * hertz * self.time[:, None] + shift).sum(axis=1) / 2.0

    def stand(self, height=STANDING_HEIGHT, sideways=0.0, forward=0.0, spread=1.0) -> _Pose:
        """Standing on two planted feet with the hips at (sideways, height, forward)."""
        root = np.zeros((FRAMES, 3))
        root[:, 0], root[:, 1], root[:, 2] = sideways, height, forward
        feet = tuple(
            _Foot(np.tile([side * self.stance * spread, ANKLE_HEIGHT, 0.0], (FRAMES, 1)), side * 0.15)
            for side in (1, -1)
        )
        arms = tuple(
            _Arm(*(base + self.unrest(0.03) for base in self.rng.normal([0.05, 0.14, 0.1, 0.3], 0.05))) for _ in "LR"
        )
        return _Pose(root, bend=0.05 + self.unrest(0.01), look=self.unrest(0.05), arms=arms, feet=feet)


def _steps(take: _Take, place, heading, hertz: float, lift: float, width: float) -> tuple[_Foot, _Foot]:
    """Feet that stand still, then swing to where ``place(t)`` and ``heading(t)`` will be at their next mid-stance."""
    feet = []
    for side, shift in ((1, 0.0), (-1, 0.5)):
        cycle = hertz * take.time + shift
        count = np.floor(cycle)
        swing = np.clip((cycle - count - 0.58) / 0.42, 0, 1)
        share = (swing**2 * (3 - 2 * swing))[:, None]
        middle = (count + 0.29 - shift) / hertz
        prints, turns = [], []
        for when in (middle, middle + 1 / hertz):
            angle = heading(when)
            aside = side * width * np.stack([np.cos(angle), np.zeros(FRAMES), -np.sin(angle)], axis=-1)
            prints.append(place(when) + aside)
            turns.append(angle)
        ankle = prints[0] + share * (prints[1] - prints[0])
        ankle[:, 1] = ANKLE_HEIGHT + lift * np.sin(np.pi * swing)
        yaw = turns[0] + share[:, 0] * (turns[1] - turns[0]) + side * 0.1
        feet.append(_Foot(ankle, yaw, 0.45 * np.sin(2 * np.pi * swing) * (swing < 0.5)))
    return tuple(feet)


def _pulse(x):
    """From a sine to a rounded square wave between 0 and 1."""
    return 0.5 + 0.5 * np.tanh(1.4 * x) / np.tanh(1.4)


def _breathe(take: _Take) -> _Pose:
    breath = take.wave(0.28)
    pose = take.stand(STANDING_HEIGHT + 0.003 * breath, sideways=take.unrest(0.006))
    return replace(pose, bend=pose.bend - 0.02 * breath)


def _shift_weight(take: _Take) -> _Pose:
    shift = 0.075 * take.size * np.tanh(2.5 * take.wave(0.22)) / np.tanh(2.5)
    pose = take.stand(STANDING_HEIGHT - 0.012, sideways=shift)
    return replace(pose, lean=-0.9 * shift, twist=0.6 * shift)


def _walk_in_circle(take: _Take) -> _Pose:
    radius, speed = 0.9 * take.size, 0.85 * take.tempo
    way = take.rng.choice([-1.0, 1.0])  # round to the left or to the right
    hertz = speed / 1.15

    def heading(t):
        return way * speed * t / radius

    def place(t):
        angle = heading(t)
        return radius * np.stack([way * (1 - np.cos(angle)), 0 * t, way * np.sin(angle)], axis=-1)

    pose = take.stand()
    stride = np.sin(2 * np.pi * hertz * take.time)
    root = place(take.time)
    root[:, 1] = STANDING_HEIGHT - 0.03 + 0.018 * np.cos(4 * np.pi * (hertz * take.time - 0.04))
    arms = tuple(
        replace(a, swing=a.swing - s * 0.45 * take.size * stride) for a, s in zip(pose.arms, (1, -1), strict=True)
    )
    feet = _steps(take, place, heading, hertz, 0.09, 0.07)
    return replace(
        pose, root=root, heading=heading(take.time), twist=0.12 * stride, lean=0.06 * way, arms=arms, feet=feet
    )


def _march(take: _Take) -> _Pose:
    hertz = 0.95 * take.tempo
    pose = take.stand()
    stride = np.sin(2 * np.pi * (hertz * take.time - 0.29))
    feet = _steps(take, lambda t: np.zeros((FRAMES, 3)), lambda t: 0 * t, hertz, 0.28 * take.size, 0.09)
    arms = tuple(
        replace(a, swing=-s * 0.6 * take.size * stride, elbow=0.7) for a, s in zip(pose.arms, (1, -1), strict=True)
    )
    root = pose.root + np.outer(0.012 * np.cos(4 * np.pi * hertz * take.time), _Y) + np.outer(0.03 * stride, _X)
    return replace(pose, root=root, arms=arms, feet=feet)


def _wave_hello(take: _Take) -> _Pose:
    pose = take.stand()
    raised = np.clip(take.time / 0.7, 0, 1) * np.clip((5.4 - take.time) / 0.7, 0, 1)
    raised = raised**2 * (3 - 2 * raised)
    arm, high = pose.arms[1], _Arm(0.1, 1.45 * take.size, -1.5, 1.15 + 0.45 * take.wave(1.9))
    mixed = _Arm(*(getattr(arm, k) + raised * (getattr(high, k) - getattr(arm, k)) for k in high.__dict__))
    return replace(pose, arms=(pose.arms[0], mixed), lean=pose.lean + 0.05 * raised)


def _clap(take: _Take) -> _Pose:
    pose = take.stand()
    close = 0.36 + 0.27 * take.size * take.wave(1.6)
    arms = tuple(replace(a, swing=0.55, abduct=0.12, roll=close, elbow=1.5) for a in pose.arms)
    return replace(pose, arms=arms, nod=0.1 + 0.03 * take.wave(0.8))


def _twist(take: _Take) -> _Pose:
    turn = 0.55 * take.size * take.wave(1.15)
    pose = take.stand(STANDING_HEIGHT - 0.14 - 0.03 * take.wave(0.29), spread=1.3)
    feet = tuple(replace(f, yaw=f.yaw + 0.9 * turn) for f in pose.feet)
    arms = tuple(_Arm(0.3 + s * 0.9 * turn, 0.45, 0.35, 1.45) for s in (1, -1))
    return replace(pose, heading=turn, twist=-1.6 * turn, bend=0.15, arms=arms, feet=feet)


def _disco_point(take: _Take) -> _Pose:
    up = _pulse(take.wave(0.7))
    hip = 0.06 * take.size * take.wave(0.7)
    pose = take.stand(STANDING_HEIGHT - 0.04 - 0.02 * take.wave(1.4), sideways=hip, spread=1.7)
    point = _Arm(0.25 - 0.1 * up, -0.55 + 2.85 * up, 0.0, 0.08)
    on_hip = _Arm(-0.35, 0.85, 0.55, 1.75)
    return replace(
        pose, lean=-0.10 * (2 * up - 1), twist=0.25 * (2 * up - 1), look=0.3 * (1 - 2 * up), arms=(on_hip, point)
    )


def _jumping_jacks(take: _Take) -> _Pose:
    hertz = 1.05 * take.tempo
    cycle = (hertz * take.time) % 1.0
    spread = 0.5 - 0.5 * np.cos(2 * np.pi * cycle)
    air = 0.09 * take.size * np.maximum(0, np.sin(4 * np.pi * cycle)) ** 0.8
    pose = take.stand(STANDING_HEIGHT - 0.05 * spread - 0.02 + air)
    feet = []
    for foot, side in zip(pose.feet, (1, -1), strict=True):
        ankle = np.column_stack([side * (0.09 + 0.24 * take.size * spread), ANKLE_HEIGHT + 0.8 * air, np.zeros(FRAMES)])
        feet.append(_Foot(ankle, foot.yaw, 3.0 * air))
    arms = tuple(_Arm(0.03, 0.2 + 2.45 * spread, 0.0, 0.25) for _ in "LR")
    return replace(pose, arms=arms, feet=tuple(feet))


def _squats(take: _Take) -> _Pose:
    down = (0.5 - 0.5 * np.cos(2 * np.pi * 0.5 * take.tempo * take.time)) * take.size
    pose = take.stand(STANDING_HEIGHT - 0.38 * down, forward=-0.16 * down, spread=1.6)
    arms = tuple(replace(a, swing=a.swing + 1.45 * down, abduct=0.1, elbow=0.2) for a in pose.arms)
    return replace(pose, bend=0.05 + 0.55 * down, nod=-0.3 * down, arms=arms)


def _turn_around(take: _Take) -> _Pose:
    way = take.rng.choice([-1.0, 1.0])
    start, length = 1.2 / take.tempo, 2.6 / take.tempo

    def heading(t):
        x = np.clip((t - start) / length, 0, 1)
        return way * np.pi * x * x * (3 - 2 * x)

    pose = take.stand()
    feet = _steps(take, lambda t: np.zeros((FRAMES, 3)), heading, 1.1 * take.tempo, 0.06, take.stance)
    ahead = heading(take.time + 0.25) - heading(take.time)
    return replace(pose, heading=heading(take.time), twist=0.3 * ahead, look=0.6 * ahead, feet=feet)


def _sit_down(take: _Take) -> _Pose:
    x = np.clip((take.time - 1.0 / take.tempo) / (1.7 / take.tempo), 0, 1)
    seated = x * x * (3 - 2 * x)
    pose = take.stand(STANDING_HEIGHT - 0.44 * seated, forward=-0.42 * seated, spread=1.3)
    reach = np.sin(np.pi * x) * take.size
    arms = tuple(replace(a, swing=a.swing + 0.75 * seated, elbow=0.3 + 0.75 * seated) for a in pose.arms)
    return replace(pose, bend=0.05 + 0.75 * reach, nod=-0.25 * reach, arms=arms)


PERFORMANCES: dict[str, Callable[[_Take], _Pose]] = {
    "A person stands still and breathes.": _breathe,
    "A person stands idle, shifting weight from foot to foot.": _shift_weight,
    "A person walks in a circle.": _walk_in_circle,
    "A person marches in place.": _march,
    "A person waves hello with the right hand.": _wave_hello,
    "A person claps their hands.": _clap,
    "A person does the twist.": _twist,
    "A person does the disco point dance.": _disco_point,
    "A person does jumping jacks.": _jumping_jacks,
    "A person does squats.": _squats,
    "A person turns around 180 degrees.": _turn_around,
    "A person sits down on a chair.": _sit_down,
}


def perform(text: str, seed: int) -> Clip:
    """A performance of a prompt on CSKEL27, 120 frames at 20 per second, facing +Z at the start, floor at y = 0.

    Parameters
    ----------
    text : str
        A key of ``PERFORMANCES``.
    seed : int
        The take; the same seed gives the same clip.
    """
    if text not in PERFORMANCES:
        known = "listed, but without a performance here" if find_prompt(text) else "not a listed prompt"
        raise KeyError(f"{text!r} is {known}; there are: {' | '.join(PERFORMANCES)}")
    return _clip(PERFORMANCES[text](_Take(text, seed)))


def _turn(axis, angle) -> np.ndarray:
    return rot.from_axis_angle(axis, np.broadcast_to(np.asarray(angle, dtype=np.float64), (FRAMES,)))


def _clip(pose: _Pose) -> Clip:
    """The curves as rotations: trunk and arms directly, legs by inverse kinematics, soles as asked."""
    local = rot.identity((FRAMES, len(CSKEL27)))
    local[:, 0] = _turn(_Y, pose.heading)
    trunk = rot.multiply(
        _turn(_Y, np.asarray(pose.twist) / 4),
        rot.multiply(_turn(_X, np.asarray(pose.bend) / 4), _turn(_Z, np.asarray(pose.lean) / 4)),
    )
    for name in _SPINE:
        local[:, CSKEL27.index(name)] = trunk
    head = rot.multiply(_turn(_Y, np.asarray(pose.look) / 2), _turn(_X, np.asarray(pose.nod) / 2))
    for name in ("Neck", "Head"):
        local[:, CSKEL27.index(name)] = head
    for side, sign, arm in zip(("Left", "Right"), (1.0, -1.0), pose.arms, strict=True):
        a, b = np.broadcast_arrays(np.asarray(arm.swing, float), np.asarray(arm.abduct, float))
        direction = np.stack([sign * np.sin(b), -np.cos(a) * np.cos(b), np.sin(a) * np.cos(b)], axis=-1)
        upper = rot.multiply(rot.between(sign * _X, direction), rot.from_axis_angle(_X, np.asarray(arm.roll, float)))
        local[:, CSKEL27.index(f"{side}Arm")] = upper
        local[:, CSKEL27.index(f"{side}ForeArm")] = _turn(-sign * _Y, arm.elbow)
    clip = Clip(CSKEL27, pose.root, rot.normalize(local), FPS)
    for side, sign, foot in zip(("Left", "Right"), (1.0, -1.0), pose.feet, strict=True):
        names = tuple(side + bone for bone in ("UpLeg", "Leg", "Foot"))
        sole = _turn(_Y, foot.yaw)
        pole = rot.rotate(rot.slerp(sole, local[:, 0], 0.5), np.array([0.12 * sign, 0.0, 1.0]))
        clip = place_limb_end(clip, names, foot.ankle, pole, keep_end=False)
        world = forward_kinematics(clip).rotations[:, CSKEL27.index(names[1])]
        turned = clip.rotations.copy()
        turned[:, CSKEL27.index(names[2])] = rot.multiply(rot.inverse(world), rot.multiply(sole, _turn(_X, foot.pitch)))
        clip = replace(clip, rotations=rot.normalize(turned))
    return clip
