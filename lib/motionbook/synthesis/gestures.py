"""What one hand does on the way: scratch, rub, look at a watch; used by the actions and, briefer, while idling."""

from typing import NamedTuple

import numpy as np

from motionbook.synthesis.arms import ARM_POSES
from motionbook.synthesis.body import Score, arm_state
from motionbook.synthesis.performer import Performer
from motionbook.synthesis.plans import SIGN, arm_time, current_arm, lean, look, move_arm, move_time
from motionbook.synthesis.signals import Wiggle


class Touch(NamedTuple):
    """One way to do a gesture; written for the left hand.

    ``pose`` of the acting arm; ``rhythm`` (Hz, metres x, y, z) of the hand in the frame of what it touches; ``gaze``
    (yaw to the acting side, pitch down) degrees or None; ``trunk`` degrees as in `plans.lean`, sideways and rotation
    positive to the acting side; ``other`` pose of the other arm or None.
    """

    pose: str
    rhythm: tuple[float, float, float, float]
    gaze: tuple[float, float] | None = None
    trunk: dict[str, float] = {}  # noqa: RUF012 - a default that is never changed
    other: str | None = None


_STILL = (0.0, 0.0, 0.0, 0.0)
TOUCHES = {
    "scratch head": (
        Touch("head side", (3.6, 0.004, 0.018, 0.012), (4, 8)),
        Touch("head top", (3.3, 0.012, 0.004, 0.018), (2, 12)),
        Touch("head back", (3.4, 0.004, 0.020, 0.006), (-6, 16)),
        Touch("neck", (2.6, 0.014, 0.012, 0.004), (-10, 14)),
    ),
    "scratch arm": (
        Touch("upper arm", (3.2, 0.022, 0.004, 0.004), (-14, 14)),
        Touch("forearm", (3.4, 0.026, 0.004, 0.004), (-8, 28), {}, "offered"),
        Touch("shoulder", (3.0, 0.014, 0.010, 0.004), (-18, 8)),
    ),
    "scratch leg": (
        Touch("thigh", (3.2, 0.004, 0.024, 0.004), (8, 22), dict(spine_flexion=18, pelvis_tilt=8, spine_sideways=8)),
        Touch(
            "knee",
            (3.0, 0.004, 0.022, 0.004),
            (6, 62),
            dict(spine_flexion=44, pelvis_tilt=30, spine_rotation=-8, crouch=0.03),
        ),
        Touch(
            "thigh back",
            (3.0, 0.004, 0.022, 0.006),
            (14, 14),
            dict(spine_flexion=10, spine_sideways=12, spine_rotation=8),
        ),
        Touch(
            "shin",
            (3.0, 0.004, 0.024, 0.004),
            (4, 74),
            dict(spine_flexion=52, pelvis_tilt=42, spine_sideways=6, crouch=0.07),
        ),
    ),
    "scratch back": (
        Touch("lower back", (3.0, 0.016, 0.014, 0.002), (6, 10), dict(spine_flexion=6, spine_rotation=5)),
        Touch("over shoulder", (3.0, 0.004, 0.018, 0.006), (-8, 20), dict(spine_flexion=8, spine_sideways=-4)),
        Touch("middle back", (2.8, 0.014, 0.016, 0.002), (8, 6), dict(spine_flexion=8, spine_rotation=8)),
    ),
    "touch face": (
        Touch("chin", (1.1, 0.004, 0.010, 0.008), (4, 6)),
        Touch("cheek", (1.6, 0.004, 0.014, 0.008), (0, 6)),
        Touch("nose", (2.2, 0.008, 0.010, 0.003), (-4, 10)),
        Touch("chin cross", (0.9, 0.003, 0.008, 0.006), (-6, 4), {}, "hold arm"),
        Touch("ear", (1.8, 0.004, 0.014, 0.008), (-6, 6)),
    ),
    "rub eyes": (
        Touch("eye", (2.4, 0.014, 0.008, 0.003), (0, 14)),
        Touch("eye", (2.0, 0.012, 0.010, 0.003), (0, 18), {}, "eye"),
        Touch("brow", (1.5, 0.020, 0.004, 0.003), (-3, 16)),
    ),
    "yawn": (
        Touch("mouth", (0.8, 0.002, 0.004, 0.004), (0, -14), dict(spine_flexion=-7)),
        Touch("mouth", (0.6, 0.002, 0.004, 0.004), (-10, -6), dict(spine_flexion=-4, spine_rotation=-5), "hold arm"),
        Touch("nose", (0.7, 0.002, 0.005, 0.004), (6, -18), dict(spine_flexion=-9)),
    ),
    "check watch": (
        Touch("watch", _STILL, (8, 24)),
        Touch("watch low", _STILL, (14, 34), dict(spine_flexion=4)),
        Touch("watch", (0.7, 0.004, 0.006, 0.008), (6, 26), {}, "sleeve"),
    ),
}


def add_gesture(
    performer: Performer,
    score: Score,
    rng: np.random.Generator,
    touch: Touch,
    side: int,
    start: float,
    duration: float,
    size: float = 1.0,
    back: tuple | None = None,
) -> float:
    """Reach, touch for a while, come back; head, trunk and the other hand go along.

    Parameters
    ----------
    touch : Touch
    side : int
        0 left or 1 right hand.
    start, duration : float
        Seconds, reach and return included.
    size : float
        Scales the lean of the trunk and the rhythm's swing.
    back : (left, right) arm states, optional
        Where the arms go afterwards; by default where they were.

    Returns
    -------
    float
        When the arms are back.
    """
    sign = SIGN[side]
    before = (current_arm(score, 0), current_arm(score, 1))
    back = before if back is None else back
    far = 1.25 if touch.pose in ("over shoulder", "middle back", "knee", "shin", "head back") else 1.0
    reach = min(move_time(performer, rng, 0.85, 1.2) * far, 0.42 * duration)
    home = min(move_time(performer, rng, 0.9, 1.3) * far, 0.42 * duration)
    # whichever arm touches the other is placed second
    acting, helping = touch.pose, touch.other
    if helping and ARM_POSES[acting].frame.startswith("Other"):
        helping = arm_state(performer, 1 - side, helping, rng)
        acting = arm_state(performer, side, acting, rng, helping)
    else:
        acting = arm_state(performer, side, acting, rng, before[1 - side])
        helping = helping and arm_state(performer, 1 - side, helping, rng, acting)
    if helping:
        move_arm(performer, score, rng, 1 - side, helping, start + rng.uniform(0.0, 0.2), reach)
    there = move_arm(performer, score, rng, side, acting, start, reach)
    leave = max(start + duration - arm_time(performer, side, acting, back[side], home), there + 0.15)
    rate, *swing = touch.rhythm
    if rate > 0.0 and leave - there > 0.3:
        swing = np.array(swing) * [sign, 1.0, 1.0] * size * rng.uniform(0.8, 1.3)
        wiggle = Wiggle(rate * rng.uniform(0.85, 1.2) * performer.tempo**0.5, swing, there - 0.1 * reach, leave)
        score.arms[side][-1] = score.arms[side][-1]._replace(wiggles=(wiggle,))
    if touch.gaze is not None:
        goal = np.deg2rad(np.array(touch.gaze) * [sign, 1.0] + rng.normal(0.0, 4.0, 2))
        look(performer, score, rng, start + rng.uniform(-0.1, 0.25) * reach, goal, (0.0, 0.0), pace=0.9)
        rest = np.deg2rad([rng.normal(0.0, 8.0), rng.normal(2.0, 3.0)])
        look(performer, score, rng, leave + rng.uniform(-0.15, 0.2) * home, rest, goal, pace=0.9)
    if touch.trunk:
        around = {"spine_sideways": -sign, "spine_rotation": sign, "pelvis_yaw": sign}
        bend = {name: around.get(name, 1.0) * value * size for name, value in touch.trunk.items()}
        lean(score, start, 1.15 * reach, **bend)
        lean(score, leave, 1.1 * home)
    end = move_arm(performer, score, rng, side, back[side], leave, home)
    if helping:
        end = max(end, move_arm(performer, score, rng, 1 - side, back[1 - side], leave + rng.uniform(0.0, 0.2), home))
    return end
