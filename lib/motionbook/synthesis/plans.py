"""The vocabulary of intentions: stand, look somewhere, step, bring an arm somewhere. Each adds keys to a score."""

import numpy as np

from motionbook import rotations as rot
from motionbook.synthesis.arms import ArmKey, ArmState
from motionbook.synthesis.balance import Roll, Step, home_feet
from motionbook.synthesis.body import TRUNK, Score, arm_state
from motionbook.synthesis.performer import Performer
from motionbook.synthesis.signals import Key

LEFT, RIGHT = 0, 1
SIGN = (1.0, -1.0)  # x and yaw of the acting side
# From one group to the other the arm goes round the trunk
FRONT = (
    "clasp front", "crossed over", "crossed under", "hold arm", "strap", "phone", "phone low", "phone support",
    "upper arm", "shoulder", "forearm", "sleeve", "across", "pull elbow", "chin cross",
)  # fmt: skip
BEHIND = ("clasp back", "back pocket", "lower back", "middle back", "back support", "hip")
# and up to these it goes in front of the shoulder, not behind it
HIGH = (
    "head side", "head top", "head back", "neck", "ear", "phone ear", "brow", "over shoulder", "overhead",
    "overhead bent", "fold up",
)  # fmt: skip
LINKED = ("clasp front", "clasp back", "crossed over", "crossed under", "hold arm")  # one hand leans on the other arm


def standing(performer: Performer, seconds: float, rng: np.random.Generator, pair, restlessness: float = 1.0) -> Score:
    """A score with nothing in it yet: a first load of the legs and the arms at rest as in ``pair``.

    Raises
    ------
    ValueError
        When there is no time to do anything.
    """
    if not seconds > 0.2:
        raise ValueError(f"seconds: expected more than 0.2, got {seconds}")
    weight = float(np.clip(rng.normal(0.5 * performer.leg_habit, 0.4), -0.9, 0.9))
    arms = tuple(arm_state(performer, side, pair[side], rng) for side in (LEFT, RIGHT))
    return Score(seconds, weight, arms, restlessness * float(np.exp(rng.normal(0.0, 0.1))))


def draw_rest(performer: Performer, rng: np.random.Generator, instead_of=None, linked: bool = True) -> tuple[str, str]:
    """A pair of resting arm poses by the person's habits, another than ``instead_of``.

    With ``linked`` False both hands are free, as they are before an action.
    """
    pairs, shares = zip(*performer.rest_habit, strict=True)
    allowed = [pair != instead_of and (linked or not set(pair) & set(LINKED)) for pair in pairs]
    shares = np.array(shares) * allowed
    if shares.sum() <= 0.0:
        return ("hang", "hang")
    return pairs[rng.choice(len(pairs), p=shares / shares.sum())]


def hold_time(mean: float, rng: np.random.Generator) -> float:
    """A waiting time in seconds around a mean: log-normal, so that short ones are common and long ones happen."""
    return float(mean * np.exp(rng.normal(-0.18, 0.6)))


def move_time(performer: Performer, rng: np.random.Generator, low: float, high: float) -> float:
    """A duration in seconds between two, at the person's tempo."""
    return float(rng.uniform(low, high)) / performer.tempo


def shift_weight(score: Score, time: float, duration: float, level: float) -> None:
    """Load the legs from -1 (right only) to 1 (left only)."""
    score.weight.append(Key(time, duration, np.array([level])))


def look(
    performer: Performer, score: Score, rng: np.random.Generator, time: float, goal, at, pace: float = 1.0
) -> float:
    """Turn the head to ``goal`` = (yaw, pitch) from ``at``, radians; far looks take longer. Returns the end."""
    far = float(np.hypot(goal[0] - at[0], goal[1] - at[1]))
    duration = (0.45 + 0.55 * far) * rng.uniform(0.85, 1.25) / (performer.tempo * pace)
    roll = -0.05 * goal[0] + np.deg2rad(rng.normal(0.0, 1.5))
    score.gaze.append(Key(time, duration, np.array([goal[0], goal[1], roll])))
    return time + duration


def lean(score: Score, time: float, duration: float, **degrees: float) -> None:
    """Bend the trunk; names as in `body.TRUNK` with underscores, degrees, and ``crouch`` in metres; others to 0."""
    unknown = set(degrees) - {name.replace(" ", "_") for name in TRUNK}
    if unknown:
        raise KeyError(f"no trunk angle {', '.join(sorted(unknown))}; there are {', '.join(TRUNK)}")
    value = np.deg2rad([degrees.get(name.replace(" ", "_"), 0.0) for name in TRUNK[:5]])
    score.trunk.append(Key(time, duration, np.array([*value, degrees.get("crouch", 0.0)])))


def step(
    performer: Performer, score: Score, rng: np.random.Generator, time: float, side: int, to=None, toe_out=None
) -> float:
    """Unload a foot, set it down near its home (or at ``to``), share the weight again; returns when that is done."""
    load = -0.95 if side == LEFT else 0.95
    shift, duration = move_time(performer, rng, 0.7, 1.0), move_time(performer, rng, 0.5, 0.65)
    shift_weight(score, time, shift, load)
    if to is None:
        to = home_feet(performer)[side] + np.clip(rng.normal(0.0, [0.025, 0.045]), -0.08, 0.08)
    if toe_out is None:
        toe_out = performer.toe_out[side] + np.deg2rad(rng.normal(0.0, 5.0))
    toe_out = float(np.clip(toe_out, np.deg2rad(-5.0), np.deg2rad(32.0)))
    score.steps.append(Step(side, time + 0.9 * shift, duration, tuple(to), toe_out, rng.uniform(0.025, 0.05)))
    landed = time + 0.9 * shift + duration
    settle = move_time(performer, rng, 0.7, 1.1)
    shift_weight(score, landed - 0.1, settle, float(np.clip(rng.normal(0.0, 0.35), -0.8, 0.8)))
    return landed + settle


def ease_foot(
    performer: Performer, score: Score, rng: np.random.Generator, level: float, start: float, stop: float
) -> None:
    """The unloaded foot between two shifts of weight: it may rest on its toes, or tap them once or a few times."""
    side, kind = (RIGHT if level > 0.0 else LEFT), rng.random()
    if abs(level) < 0.4 or stop - start < 1.2 or kind > 0.65:
        return
    begin = start + rng.uniform(0.0, 0.35) * (stop - start)
    if kind < 0.45:
        pitch = np.deg2rad(rng.uniform(8.0, 26.0)) * min(1.3, performer.energy)
        score.rolls.append(Roll(side, begin, rng.uniform(0.6, 1.0) * (stop - begin), pitch))
        return
    beat = move_time(performer, rng, 0.45, 0.7)
    for tap in range(min(int(rng.integers(1, 6)), int((stop - begin) / beat))):
        score.rolls.append(Roll(side, begin + tap * beat, beat, -np.deg2rad(rng.uniform(7.0, 14.0))))


def current_arm(score: Score, side: int) -> ArmState:
    """Where an arm is after all its keys so far."""
    return score.arms[side][-1].value if score.arms[side] else score.first_arms[side]


def move_arm(
    performer, score: Score, rng, side: int, goal: str | ArmState, time: float, duration: float, wiggles=(), other=None
):
    """Bring one arm to a pose, around the trunk rather than through it; returns when it is there.

    Parameters
    ----------
    goal : str or ArmState
        Name in `arms.ARM_POSES`, or a state to come back to.
    wiggles : sequence of Wiggle
        What the hand does once there.
    other : ArmState, optional
        The other arm, where the pose touches it.
    """
    state = arm_state(performer, side, goal, rng, other) if isinstance(goal, str) else goal
    before = current_arm(score, side)
    via, lead, duration = _route(performer, side, before, state, duration)
    if via:
        score.arms[side].append(ArmKey(time, 0.75 * duration, arm_state(performer, side, via, rng)))
    score.arms[side].append(ArmKey(time + lead, duration, state, tuple(wiggles)))
    return time + lead + duration


def arm_time(performer: Performer, side: int, before: ArmState, after: ArmState, duration: float) -> float:
    """Seconds that `move_arm` takes from one pose to another when asked to take ``duration``."""
    _, lead, duration = _route(performer, side, before, after, duration)
    return lead + duration


def _route(performer, side, before: ArmState, after: ArmState, duration: float) -> tuple[str | None, float, float]:
    """The pose on the way, if any, the lead it needs, and the time of the move itself, not faster than people move."""
    names = {before.pose.name, after.pose.name}
    duration = max(duration, _travel(performer, side, before, after) / (0.95 * performer.tempo))
    if len(names & set(BEHIND)) == 1 and names & {*FRONT, "clasp back", "lower back", "middle back"}:
        return "hang wide", 0.35 * duration, 0.9 * duration
    if len(names & set(HIGH)) == 1:
        return "raised", 0.30 * duration, 0.85 * duration
    return None, 0.0, duration


def _travel(performer: Performer, side: int, before: ArmState, after: ArmState) -> float:
    """About how far the hand travels between two poses, metres: turn of the shoulder and bend of the elbow."""
    skeleton = performer.skeleton
    upper, lower = (np.linalg.norm(skeleton.offsets[skeleton.index(name)]) for name in ("LeftForeArm", "LeftHand"))
    bend = abs(after.angles[0] - before.angles[0])
    return float(rot.angle_between(before.turn, after.turn) * (upper + 0.4 * lower) + 0.7 * bend * lower)
