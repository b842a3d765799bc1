"""Waiting in the street: shifting weight, looking about, changing how the arms rest, now and then a step or a scratch.

Each strand is a renewal process: something is held for a random time and then changes in one smooth move. Strands
are drawn apart and meet in the body, which keeps its balance over whatever they ask.
"""

import numpy as np

from motionbook.clip import Clip
from motionbook.synthesis.body import Score, render
from motionbook.synthesis.gestures import TOUCHES, add_gesture
from motionbook.synthesis.performer import Performer, random_stream
from motionbook.synthesis.plans import (
    LINKED,
    draw_rest,
    ease_foot,
    hold_time,
    lean,
    look,
    move_arm,
    move_time,
    shift_weight,
    standing,
    step,
)
from motionbook.synthesis.takes import kept_take

# How often one gesture comes up beside another while waiting
FIDGETS = {
    "touch face": 1.6,
    "scratch head": 1.0,
    "scratch arm": 0.7,
    "check watch": 0.6,
    "rub eyes": 0.5,
    "scratch leg": 0.4,
    "scratch back": 0.3,
}


def idle(performer: Performer, seconds: float, take: int = 0) -> Clip:
    """The person waiting, without a phone.

    Parameters
    ----------
    performer : Performer
    seconds : float
    take : int
        Takes of one person are different stretches of waiting (`takes.kept_take`); the same number gives the
        same motion.

    Returns
    -------
    Clip
        30 fps, LaFAN1's joints at the person's lengths; it starts near the origin and faces +Z.
    """
    return kept_take(lambda number, attempt: _wait(performer, seconds, number, attempt), take)


def _wait(performer: Performer, seconds: float, take: int, attempt: int) -> Clip:
    rng = random_stream(performer.seed, performer.subject, "idle", take, attempt)
    pair = draw_rest(performer, rng)
    score = standing(performer, seconds, rng, pair)
    plan_weight(performer, score, rng)
    plan_gaze(performer, score, rng)
    plan_arms(performer, score, rng, pair)
    return render(performer, score, rng)


def plan_weight(performer: Performer, score: Score, rng: np.random.Generator, rate: float = 1.0) -> None:
    """Shifts of weight from leg to leg, some with a step of the unloaded foot, some with its heel or toes lifted."""
    mean = performer.intervals["weight"] / rate
    time, level = rng.uniform(0.2, 1.0) * hold_time(mean, rng), score.first_weight
    while time < score.seconds - 1.0:
        if rng.random() < performer.intervals["steps"]:
            time = step(performer, score, rng, time, int(rng.integers(2)))
            level = float(score.weight[-1].value[0])
        else:
            goal = _next_level(performer, rng, level)
            duration = move_time(performer, rng, 1.0, 1.8) * (0.6 + 0.5 * abs(goal - level))
            shift_weight(score, time, duration, goal)
            yaw, tilt, flexion, sideways, turn = rng.normal(0.0, [3.0, 1.2, 2.2, 1.5, 1.5]) * performer.energy
            lean(
                score, time, 1.2 * duration,
                pelvis_yaw=yaw, pelvis_tilt=tilt, spine_flexion=flexion, spine_sideways=sideways, spine_rotation=turn,
            )  # fmt: skip
            time, level = time + duration, goal
        held = hold_time(mean, rng)
        ease_foot(performer, score, rng, level, time, min(time + held, score.seconds))
        time += held


def _next_level(performer, rng, level):
    """The next load, -1 to 1: mostly the other leg, sometimes both legs, or a little more or less on the same."""
    kind = rng.random()
    if kind < 0.60:
        side = -np.sign(level) if abs(level) > 0.15 else np.sign(rng.normal(performer.leg_habit, 0.7))
        return float(np.clip(side * rng.uniform(0.35, 1.0) * np.sqrt(performer.energy), -0.95, 0.95))
    centre, spread = (0.3 * performer.leg_habit, 0.15) if kind < 0.85 else (level, 0.25)
    return float(np.clip(rng.normal(centre, spread), -0.95, 0.95))


def plan_gaze(performer: Performer, score: Score, rng: np.random.Generator, rate: float = 1.0) -> None:
    """Looks here and there: mostly straight on and along the street, now and then at the ground."""
    mean = performer.intervals["gaze"] / rate
    time, at = rng.uniform(0.3, 1.0) * hold_time(mean, rng), np.zeros(2)
    street = rng.choice([-1.0, 1.0]) * rng.uniform(15.0, 40.0)
    while time < score.seconds - 0.5:
        kind = rng.random()
        if kind < 0.35:
            goal = [rng.normal(0.0, 8.0), rng.normal(2.0, 4.0)]
        elif kind < 0.65:
            goal = [street + rng.normal(0.0, 10.0), rng.normal(2.0, 4.0)]
        elif kind < 0.80:
            goal = [-0.8 * street + rng.normal(0.0, 12.0), rng.normal(0.0, 4.0)]
        else:
            goal = [rng.normal(0.0, 14.0), rng.uniform(18.0, 38.0)]
        goal = np.deg2rad(np.clip(goal, -60.0, 60.0)) * [np.sqrt(performer.energy), 1.0]
        time = look(performer, score, rng, time, goal, at) + hold_time(mean, rng)
        at = goal


def plan_arms(performer: Performer, score: Score, rng: np.random.Generator, pair) -> None:
    """Changes of how the arms rest, and between them gestures of one hand that end where they began."""
    names, shares = list(FIDGETS), np.array(list(FIDGETS.values()))
    waits = performer.intervals["arms"], performer.intervals["gesture"]
    change, gesture = (rng.uniform(0.15, 1.0) * hold_time(mean, rng) for mean in waits)
    while min(change, gesture) < score.seconds - 1.5:
        if gesture < change:
            end = gesture
            if gesture < score.seconds - 4.0:
                side = performer.handed if rng.random() < 0.7 else 1 - performer.handed
                touch = TOUCHES[names[rng.choice(len(names), p=shares / shares.sum())]]
                touch = touch[rng.choice(len(touch), p=_ease(touch))]
                if set(pair) & set(LINKED) and touch.other is None:
                    # the other hand would be left holding on to nothing
                    touch = touch._replace(other="hang")
                end = add_gesture(performer, score, rng, touch, side, gesture, move_time(performer, rng, 2.6, 4.5))
            change = max(change, end + 0.5)
            gesture = end + hold_time(waits[1], rng)
        else:
            pair = draw_rest(performer, rng, pair)
            end = change
            for side in (0, 1):
                lag = rng.uniform(0.05, 0.3) if side != performer.handed else 0.0
                end = max(
                    end,
                    move_arm(
                        performer, score, rng, side, pair[side], change + lag, move_time(performer, rng, 0.95, 1.5)
                    ),
                )
            gesture = max(gesture, end + 0.5)
            change = end + hold_time(waits[0], rng)


def _ease(touches):
    """Nobody bends to the shin in the middle of waiting as readily as they touch a thigh."""
    shares = np.array([1.0 / (1.0 + sum(abs(v) for v in t.trunk.values()) / 20.0) for t in touches])
    return shares / shares.sum()
