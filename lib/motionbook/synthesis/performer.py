"""People: their build, posture, tempo and habits, all drawn from one seed.

A performer is a value; what it does is decided by the functions that take it. Two performers of the same seed and
subject number are equal, whoever else is made.
"""

import zlib
from dataclasses import dataclass

import numpy as np

from motionbook.clip import Skeleton
from motionbook.skeletons import LAFAN1

FPS = 30.0
SIDES = ("Left", "Right")

# The T-pose height of LaFAN1's head joint above the sole, metres, and its share of a person's stature: the head
# joint is at the base of the skull, and the crown is about a tenth of the stature above it.
_HEAD_JOINT, _HEAD_JOINT_SHARE = 1.628, 0.90
TOE_HEIGHT = 0.006  # of LaFAN1's toe joint above the floor when the foot is flat, metres
FOOT_PITCH = np.deg2rad(21.7)  # of the line from ankle to toe joint below level then

# How likely people are to stand with their arms so: the habit of each performer is drawn around these shares.
REST_PAIRS = {
    ("hang", "hang"): 5.0,
    ("pocket", "pocket"): 2.0,
    ("pocket", "hang"): 1.6,
    ("hang", "pocket"): 1.6,
    ("clasp front", "clasp front"): 1.6,
    ("clasp back", "clasp back"): 1.3,
    ("crossed over", "crossed under"): 1.6,
    ("crossed under", "crossed over"): 1.6,
    ("hip", "hang"): 0.7,
    ("hang", "hip"): 0.7,
    ("hip", "hip"): 0.5,
    ("hold arm", "hang"): 0.6,
    ("hang", "hold arm"): 0.6,
    ("strap", "hang"): 0.4,
    ("hang", "strap"): 0.4,
}


@dataclass(frozen=True, eq=False)
class Performer:
    """A person who can stand, use a phone and act.

    Attributes
    ----------
    subject, seed : int
    stature : float
        Height from sole to crown, metres, 1.55 to 1.95.
    skeleton : Skeleton
        LaFAN1's joints at this person's bone lengths.
    tempo : float
        How fast moves are done, 1 on average.
    energy : float
        How large and how frequent movements are, 1 on average.
    handed : int
        Index into SIDES of the hand that acts by default.
    stance : float
        Distance between the ankles, metres.
    toe_out : (left, right) radians
        Positive outward.
    knee_flexion : float
        Of the standing leg, radians.
    posture : (pelvis tilt, spine flexion, neck forward, chin down) radians
    head_tilt : float
        Habitual sideways tilt of the head, radians.
    sway : float
        Standard deviation of the centre of mass in quiet standing, metres.
    breath : (breaths per second, depth)
    hip_drop : float
        Tilt of the pelvis when all weight is on one leg, radians.
    leg_habit : float
        Favourite leg, -1 right to 1 left.
    intervals : dict of str to float
        Mean seconds between weight shifts ("weight"), looks ("gaze"), changes of the arms ("arms") and gestures
        ("gesture"), and the share of weight shifts that are steps ("steps").
    rest_habit : tuple of ((left, right), share)
        How the arms rest, shares adding to 1.
    """

    subject: int
    seed: int
    stature: float
    skeleton: Skeleton
    tempo: float
    energy: float
    handed: int
    stance: float
    toe_out: tuple[float, float]
    knee_flexion: float
    posture: tuple[float, float, float, float]
    head_tilt: float
    sway: float
    breath: tuple[float, float]
    hip_drop: float
    leg_habit: float
    intervals: dict[str, float]
    rest_habit: tuple[tuple[tuple[str, str], float], ...]

    def __post_init__(self):
        if not 1.4 <= self.stature <= 2.1:
            raise ValueError(f"stature: expected metres between 1.4 and 2.1, got {self.stature}")
        if self.skeleton.names != LAFAN1.names:
            raise ValueError("skeleton: expected LaFAN1's 22 joints in their order; scale skeletons.LAFAN1")


def make_performer(subject: int, seed: int) -> Performer:
    """The person with this number among the people of this seed.

    Parameters
    ----------
    subject, seed : int
        Both 0 or more.

    Raises
    ------
    ValueError
        For a negative number.
    """
    rng = random_stream(seed, subject, "body")
    stature = float(np.clip(rng.normal(1.73, 0.095), 1.55, 1.95))
    tempo = float(np.exp(np.clip(rng.normal(0.0, 0.14), -0.3, 0.3)))
    energy = float(np.exp(np.clip(rng.normal(0.0, 0.33), -0.6, 0.6)))
    skeleton = _skeleton(stature, rng)
    scale = stature / 1.75
    shares = rng.gamma(np.array(list(REST_PAIRS.values())) * 0.55)
    shares = np.round(shares / shares.sum(), 6)
    degrees = np.deg2rad
    return Performer(
        subject=int(subject),
        seed=int(seed),
        stature=stature,
        skeleton=skeleton,
        tempo=tempo,
        energy=energy,
        handed=int(rng.random() < 0.88),
        stance=scale * float(rng.uniform(0.17, 0.30)),
        toe_out=tuple(degrees(np.clip(rng.normal(9.0, 5.0, 2), -2.0, 22.0))),
        knee_flexion=float(degrees(rng.uniform(3.0, 8.0))),
        posture=tuple(degrees(rng.normal([1.0, 5.0, 14.0, 3.0], [2.0, 2.5, 4.0, 3.0]))),
        head_tilt=float(degrees(rng.normal(0.0, 2.0))),
        sway=scale * float(rng.uniform(0.005, 0.009)),
        breath=(float(rng.uniform(0.2, 0.32)), float(rng.uniform(0.7, 1.4))),
        hip_drop=float(degrees(rng.uniform(3.0, 7.0))),
        leg_habit=float(rng.uniform(-0.6, 0.6)),
        intervals={
            "weight": float(rng.uniform(4.0, 8.0)) / energy,
            "gaze": float(rng.uniform(2.5, 4.5)) / energy,
            "arms": float(rng.uniform(10.0, 18.0)) / energy,
            "gesture": float(rng.uniform(20.0, 40.0)) / energy,
            "steps": float(rng.uniform(0.08, 0.3)),
        },
        rest_habit=tuple(zip(REST_PAIRS, shares.tolist(), strict=True)),
    )


def random_stream(seed: int, subject: int, *names: str | int) -> np.random.Generator:
    """The generator for one purpose of one person; independent of every other purpose and person."""
    if seed < 0 or subject < 0:
        raise ValueError(f"seed, subject: expected whole numbers from 0, got seed {seed}, subject {subject}")
    # crc32 rather than hash(), which differs from run to run
    words = [n if isinstance(n, int) else zlib.crc32(n.encode()) for n in names]
    return np.random.default_rng([seed, subject, *words])


def _skeleton(stature: float, rng) -> Skeleton:
    """LaFAN1's bones with this person's proportions, the same left and right, at the stature asked for."""
    part = dict(
        zip(
            ("leg", "thigh", "foot", "hips", "trunk", "neck", "shoulders", "arm", "upper arm"),
            np.exp(np.clip(rng.normal(0.0, 1.0, 9), -2, 2) * [0.03, 0.02, 0.04, 0.05, 0.03, 0.05, 0.05, 0.035, 0.025]),
            strict=True,
        )
    )
    factor = {
        "UpLeg": part["hips"],
        "Leg": part["leg"] * part["thigh"],
        "Foot": part["leg"] / part["thigh"],
        "Toe": part["foot"],
        "Spine": part["trunk"],
        "Spine1": part["trunk"],
        "Spine2": part["trunk"],
        "Neck": part["trunk"],
        "Head": part["neck"],
        "Shoulder": part["trunk"],
        "Arm": part["shoulders"],
        "ForeArm": part["arm"] * part["upper arm"],
        "Hand": part["arm"] / part["upper arm"],
        "Hips": 1.0,
    }
    names = [name.removeprefix("Left").removeprefix("Right") for name in LAFAN1.names]
    offsets = LAFAN1.offsets * np.array([factor[name] for name in names])[:, None]
    leg = offsets[LAFAN1.index("LeftLeg"), 0] + offsets[LAFAN1.index("LeftFoot"), 0]
    ankle = offsets[LAFAN1.index("LeftToe"), 0] * np.sin(FOOT_PITCH) + TOE_HEIGHT
    trunk = sum(offsets[LAFAN1.index(name), 0] for name in ("Spine", "Spine1", "Spine2", "Neck", "Head"))
    offsets *= stature * _HEAD_JOINT_SHARE / (leg + ankle + trunk)
    return Skeleton(LAFAN1.names, LAFAN1.parents, offsets, LAFAN1.end_offsets)
