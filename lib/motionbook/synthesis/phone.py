"""Waiting with a phone in hand: reading, typing with one or two thumbs, looking up now and then, changing hands."""

import numpy as np

from motionbook.clip import Clip
from motionbook.synthesis.body import Score, render
from motionbook.synthesis.idle import plan_weight
from motionbook.synthesis.performer import Performer, random_stream
from motionbook.synthesis.plans import current_arm, hold_time, lean, look, move_arm, move_time, standing
from motionbook.synthesis.signals import Wiggle
from motionbook.synthesis.takes import kept_take

# What the other hand does while one holds the phone
_COMPANY = {"phone support": 3.0, "hang": 2.0, "pocket": 1.5, "hold arm": 1.2, "hip": 0.4}


def phone(performer: Performer, seconds: float, take: int = 0) -> Clip:
    """The person using a phone while waiting; parameters and result as in `idle.idle`."""
    return kept_take(lambda number, attempt: _use(performer, seconds, number, attempt), take)


def _use(performer: Performer, seconds: float, take: int, attempt: int) -> Clip:
    rng = random_stream(performer.seed, performer.subject, "phone", take, attempt)
    side = performer.handed if rng.random() < 0.8 else 1 - performer.handed
    pair = ["hang", "hang"]
    pair[side], pair[1 - side] = _hold_name(rng), _company(rng)
    score = standing(performer, seconds, rng, tuple(pair), restlessness=0.75)
    plan_weight(performer, score, rng, rate=0.75)
    plan_reading(performer, score, rng, side)
    return render(performer, score, rng)


def _hold_name(rng):
    return "phone" if rng.random() < 0.65 else "phone low"


def _company(rng):
    names, shares = list(_COMPANY), np.array(list(_COMPANY.values()))
    return names[rng.choice(len(names), p=shares / shares.sum())]


def _screen(rng) -> np.ndarray:
    """Where the head points while reading: (yaw, pitch down) radians."""
    return np.deg2rad([rng.normal(0.0, 3.0), np.clip(rng.normal(29.0, 5.0), 16.0, 42.0)])


def plan_reading(performer: Performer, score: Score, rng: np.random.Generator, side: int) -> None:
    """Head down on the phone with glances up; the hands type, support, rest and now and then swap."""
    at = _screen(rng)
    look(performer, score, rng, -2.0, at, (0.0, 0.0))
    lean(score, -2.0, 1.0, spine_flexion=rng.uniform(3.0, 9.0))
    glance = hold_time(1.9 * performer.intervals["gaze"], rng)
    change = rng.uniform(0.3, 1.0) * hold_time(0.6 * performer.intervals["arms"], rng)
    _type(score, rng, side, 0.0, min(glance, change))
    while min(glance, change) < score.seconds - 1.5:
        if glance < change:
            up = np.deg2rad([rng.normal(0.0, 24.0), rng.normal(4.0, 4.0)])
            there = look(performer, score, rng, glance, up, at)
            back = there + hold_time(0.35 * performer.intervals["gaze"], rng)
            at = _screen(rng)
            end = look(performer, score, rng, back, at, up)
            glance = end + hold_time(1.9 * performer.intervals["gaze"], rng)
            change = max(change, end)
        else:
            kind, end = rng.random(), change
            if kind < 0.5:  # the other hand comes or goes
                end = move_arm(
                    performer, score, rng, 1 - side, _company(rng), change, move_time(performer, rng, 0.8, 1.2)
                )
            elif kind < 0.8:  # hold it elsewhere
                end = move_arm(
                    performer, score, rng, side, _hold_name(rng), change, move_time(performer, rng, 0.7, 1.1)
                )
                lean(
                    score,
                    change,
                    end - change,
                    spine_flexion=rng.uniform(2.0, 10.0),
                    spine_rotation=rng.normal(0.0, 3.0),
                )
            else:  # hand over: both hands meet at the phone, then the first one leaves
                met = move_arm(
                    performer, score, rng, 1 - side, "phone support", change, move_time(performer, rng, 0.7, 1.0)
                )
                end = move_arm(performer, score, rng, 1 - side, "phone", met, 0.6)
                move_arm(
                    performer,
                    score,
                    rng,
                    side,
                    ("hang", "pocket")[int(rng.random() < 0.4)],
                    met + 0.25,
                    move_time(performer, rng, 0.8, 1.2),
                )
                side = 1 - side
            change = end + hold_time(0.6 * performer.intervals["arms"], rng)
            glance = max(glance, end)
        _type(score, rng, side, end, min(glance, change, score.seconds))


def _type(score: Score, rng, side: int, start: float, stop: float) -> None:
    """Scrolling or typing shakes hand and phone a few millimetres, in spells."""
    if stop - start < 1.0 or not current_arm(score, side).pose.name.startswith("phone"):
        return
    swing = np.array([rng.normal(0.0, 0.0015), rng.normal(0.0, 0.003), rng.normal(0.0, 0.002)])
    wiggle = Wiggle(
        rng.uniform(1.2, 2.6), swing, start + 0.4, start + 0.4 + rng.uniform(0.4, 0.9) * (stop - start - 0.4)
    )
    if score.arms[side]:
        score.arms[side][-1] = score.arms[side][-1]._replace(wiggles=(*score.arms[side][-1].wiggles, wiggle))
