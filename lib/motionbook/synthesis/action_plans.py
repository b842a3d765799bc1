"""How each of the 19 actions is done: keys for trunk, head, arms and feet between a lead-in and a return."""

from typing import NamedTuple

import numpy as np

from motionbook.synthesis.balance import home_feet
from motionbook.synthesis.body import Score
from motionbook.synthesis.gestures import TOUCHES, add_gesture
from motionbook.synthesis.performer import Performer
from motionbook.synthesis.plans import SIGN, draw_rest, ease_foot, lean, look, move_arm, move_time, shift_weight, step


class Cue(NamedTuple):
    """When an action begins, how long it takes with the return (s), and the hand that acts (0 left, 1 right)."""

    start: float
    duration: float
    hand: int


def _touch(performer: Performer, score: Score, rng, row, cue: Cue) -> None:
    """One or two of the ways to scratch, rub or touch, one after the other."""
    touches = TOUCHES["touch face" if row.words.startswith("touch face") else row.words]
    # a watch is worn on the wrist of the other hand
    side = 1 - cue.hand if row.words == "check watch" else cue.hand
    bouts = 2 if cue.duration > 5.0 and rng.random() < 0.3 else 1
    shares = rng.uniform(0.4, 0.6) if bouts == 2 else 1.0
    time = cue.start
    for share in (shares, 1.0 - shares)[:bouts]:
        touch = touches[rng.integers(len(touches))]
        time = add_gesture(performer, score, rng, touch, side, time, share * cue.duration, rng.uniform(0.85, 1.15))


def _look_up(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    at, time, looks = np.zeros(2), start, int(rng.integers(1, 4))
    lean(score, start, 1.2, spine_flexion=-rng.uniform(4.0, 9.0))
    for _ in range(looks):
        goal = np.deg2rad([rng.normal(0.0, 18.0), -rng.uniform(26.0, 46.0)])
        time = max(look(performer, score, rng, time, goal, at, pace=0.8), time + duration / (looks + 0.8))
        at = goal
    end = start + duration
    look(performer, score, rng, end - 0.9, np.deg2rad([rng.normal(0.0, 5.0), 2.0]), at)
    lean(score, end - 0.9, 1.3)
    _maybe_hand(performer, score, rng, cue, "brow", 0.25)


def _maybe_hand(performer, score, rng, cue, pose, chance):
    """Sometimes a hand joins in, e.g. against the sun, or both go to the hips."""
    kind = rng.random()
    if kind < chance:
        start, duration, side = cue
        back = score.first_arms[side]
        there = move_arm(performer, score, rng, side, pose, start + 0.2, move_time(performer, rng, 0.7, 1.0))
        home = move_time(performer, rng, 0.8, 1.1)
        move_arm(performer, score, rng, side, back, max(there + 0.3, start + duration - home), home)
    elif kind < chance + 0.3:
        _other_rest(performer, score, rng, cue.start + rng.uniform(0.1, 0.5) * cue.duration)


def _other_rest(performer, score, rng, time):
    """The arms change how they rest meanwhile, one after the other."""
    pair = draw_rest(performer, rng, ("hang", "hang"))
    for side in (0, 1):
        lag = rng.uniform(0.0, 0.4)
        move_arm(performer, score, rng, side, pair[side], time + lag, move_time(performer, rng, 0.9, 1.3))


def _look_around(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    at, time = np.zeros(2), start
    side = rng.choice([-1.0, 1.0])
    while time < start + duration - 1.4:
        goal = np.deg2rad([side * rng.uniform(30.0, 72.0), rng.normal(0.0, 6.0)])
        time = look(performer, score, rng, time, goal, at, pace=1.1) + hold(rng, 0.2, 0.9)
        at, side = goal, -side if rng.random() < 0.75 else side
    look(performer, score, rng, max(time, start + duration - 1.0), np.zeros(2), at)
    if rng.random() < 0.35:
        step(performer, score, rng, start + 0.1 * duration, int(rng.integers(2)))
    elif rng.random() < 0.6:
        shift_weight(score, start + rng.uniform(0.1, 0.5) * duration, 1.5, float(rng.uniform(-0.8, 0.8)))
    _maybe_hand(performer, score, rng, cue, "hip", 0.2)


def hold(rng, low: float, high: float) -> float:
    """A pause in seconds."""
    return float(rng.uniform(low, high))


def _look_down(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    at, time = np.zeros(2), start
    lean(score, start, 1.3, spine_flexion=rng.uniform(4.0, 12.0))
    while time < start + duration - 1.2:
        goal = np.deg2rad([rng.normal(0.0, 22.0), rng.uniform(32.0, 50.0)])
        time = look(performer, score, rng, time, goal, at, pace=0.9) + hold(rng, 0.3, 1.3)
        at = goal
    end = max(time, start + duration - 1.0)
    look(performer, score, rng, end, np.deg2rad([0.0, 2.0]), at)
    lean(score, end, 1.2)
    _maybe_hand(performer, score, rng, cue, "hip", 0.15)


def _look_shoes(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    foot = int(rng.integers(2))
    sign = SIGN[foot]
    lean(
        score,
        start,
        1.2,
        spine_flexion=rng.uniform(12.0, 24.0),
        pelvis_tilt=rng.uniform(3.0, 12.0),
        spine_rotation=4.0 * sign,
    )
    goal = np.deg2rad([sign * rng.uniform(2.0, 14.0), rng.uniform(42.0, 54.0)])
    look(performer, score, rng, start, goal, np.zeros(2), pace=0.9)
    end = start + duration - 1.1
    if rng.random() < 0.6:  # the foot is put forward or turned out to be seen
        home = home_feet(performer)[foot]
        forward = np.add(home, [sign * rng.uniform(0.0, 0.04), rng.uniform(0.04, 0.12)])
        done = step(
            performer, score, rng, start + 0.2, foot, forward, performer.toe_out[foot] + np.deg2rad(rng.uniform(0, 15))
        )
        if done < end - 0.5:
            other = np.deg2rad([-sign * rng.uniform(2.0, 12.0), rng.uniform(40.0, 52.0)])
            look(performer, score, rng, done, other, goal)
            goal = other
    else:
        level = 0.8 * rng.choice([-1.0, 1.0])
        shift_weight(score, start + 0.3, 1.4, level)
        other = np.deg2rad([-sign * rng.uniform(2.0, 12.0), rng.uniform(42.0, 54.0)])
        look(performer, score, rng, start + 0.5 * duration, other, goal)
        goal = other
    look(performer, score, rng, end, np.deg2rad([0.0, 3.0]), goal)
    lean(score, end, 1.2)
    if rng.random() < 0.45:  # a hand on the thigh to bend over
        side = cue.hand
        back = score.first_arms[side]
        move_arm(performer, score, rng, side, "thigh", start + 0.1, move_time(performer, rng, 0.8, 1.1))
        move_arm(performer, score, rng, side, back, end, move_time(performer, rng, 0.8, 1.1))


def _check_phone(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    side = cue.hand
    pocket = "back pocket" if rng.random() < 0.3 else "pocket"
    back = score.first_arms
    time = move_arm(performer, score, rng, side, pocket, start, move_time(performer, rng, 0.6, 0.9))
    look(performer, score, rng, start + 0.2, np.deg2rad([SIGN[side] * 12.0, 18.0]), np.zeros(2))
    held = "phone" if rng.random() < 0.7 else "phone low"
    time = move_arm(performer, score, rng, side, held, time + hold(rng, 0.1, 0.4), move_time(performer, rng, 0.7, 1.0))
    screen = np.deg2rad([SIGN[side] * rng.uniform(0.0, 6.0), rng.uniform(22.0, 34.0)])
    look(performer, score, rng, time - 0.7, screen, np.zeros(2))
    lean(score, time - 0.7, 1.0, spine_flexion=rng.uniform(2.0, 8.0))
    home = move_time(performer, rng, 0.7, 1.0)
    leave = start + duration - 2.0 * home
    if rng.random() < 0.5 and leave - time > 1.5:
        there = move_arm(
            performer,
            score,
            rng,
            1 - side,
            "phone support",
            time + hold(rng, 0.0, 0.4),
            move_time(performer, rng, 0.7, 1.0),
        )
        move_arm(performer, score, rng, 1 - side, back[1 - side], max(there + 0.3, leave - hold(rng, 0.0, 0.5)), home)
    leave = max(leave, time + 0.3)
    look(performer, score, rng, leave + hold(rng, -0.2, 0.4), np.deg2rad([rng.normal(0, 10.0), 2.0]), screen)
    lean(score, leave, 1.2)
    if rng.random() < 0.75:
        leave = move_arm(performer, score, rng, side, pocket, leave, home)
    move_arm(performer, score, rng, side, back[side], leave, home)


def _both(performer, score, rng, poses, time, duration, lag):
    """Both arms to their poses, the handed one first."""
    ends = [
        move_arm(performer, score, rng, side, poses[side], time + (lag if side != performer.handed else 0.0), duration)
        for side in (0, 1)
    ]
    return max(ends)


def _stretch_arms(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    back = score.first_arms
    raise_, home = move_time(performer, rng, 0.9, 1.4), move_time(performer, rng, 0.9, 1.3)
    leave = start + duration - home
    kind = rng.integers(4)
    if kind == 3:
        side = int(rng.integers(2))  # one arm across the chest, pulled in by the other
        time = move_arm(performer, score, rng, side, "across", start, raise_)
        other = score.arms[side][-1].value
        move_arm(performer, score, rng, 1 - side, "pull elbow", start + 0.3, raise_, other=other)
        if leave - time > 2.6 and rng.random() < 0.6:  # and then the other side
            middle = 0.5 * (time + leave)
            move_arm(performer, score, rng, 1 - side, "across", middle - 0.2, raise_)
            move_arm(performer, score, rng, side, "pull elbow", middle, raise_, other=score.arms[1 - side][-1].value)
        lean(score, start, raise_, spine_rotation=-8.0 * SIGN[side])
        lean(score, leave, home)
    else:
        first = ("overhead", "wide", "forward")[kind]
        lag = rng.uniform(0.0, 0.35)
        time = _both(performer, score, rng, (first, first), start, raise_, lag)
        bend = {"overhead": -9.0, "wide": -7.0, "forward": 8.0}[first]
        lean(score, start + 0.2, 1.2 * raise_, spine_flexion=bend, spine_sideways=rng.normal(0.0, 5.0))
        look(performer, score, rng, start + 0.2, np.deg2rad([rng.normal(0, 6), 1.6 * bend]), np.zeros(2))
        if leave - time > 1.6 and rng.random() < 0.7:  # a second stretch in between
            second = ("overhead bent", "fold up", "wide")[rng.integers(3)]
            _both(
                performer,
                score,
                rng,
                (second, second),
                hold(rng, time, leave - 1.1),
                move_time(performer, rng, 0.8, 1.1),
                lag,
            )
        look(performer, score, rng, leave, np.zeros(2), (0.0, 0.0))
        lean(score, leave, 1.2 * home)
    _both(performer, score, rng, back, leave, home, rng.uniform(0.0, 0.3))


def _stretch_back(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    back = score.first_arms
    go, home = move_time(performer, rng, 0.9, 1.3), move_time(performer, rng, 0.9, 1.3)
    leave = start + duration - home
    kind = rng.integers(4)
    lag = rng.uniform(0.0, 0.4)
    if kind == 0:  # hands on the back, arch
        _both(performer, score, rng, ("back support", "back support"), start, go, lag)
        lean(score, start + 0.5 * go, 1.2, spine_flexion=-rng.uniform(17.0, 25.0), pelvis_tilt=-3.0)
        look(
            performer, score, rng, start + 0.5 * go, np.deg2rad([0.0, -rng.uniform(26.0, 40.0)]), np.zeros(2), pace=0.8
        )
    elif kind == 1:  # twist left and right
        poses = ("fold up", "fold up") if rng.random() < 0.5 else ("hip", "hip")
        time = _both(performer, score, rng, poses, start, go, lag)
        sign = rng.choice([-1.0, 1.0])
        while time < leave - 0.8:
            span = move_time(performer, rng, 0.9, 1.3)
            lean(score, time, span, spine_rotation=sign * rng.uniform(22.0, 34.0), pelvis_yaw=sign * 10.0)
            look(performer, score, rng, time, np.deg2rad([sign * rng.uniform(30, 55), 4.0]), np.zeros(2))
            time, sign = time + span + hold(rng, 0.1, 0.5), -sign
    elif kind == 2:  # bend forward, arms hanging or hands on the thighs
        if rng.random() < 0.5:
            _both(performer, score, rng, ("thigh", "thigh"), start, go, lag)
        lean(score, start, 1.5, spine_flexion=rng.uniform(38.0, 52.0), pelvis_tilt=rng.uniform(14.0, 26.0), crouch=0.02)
        look(performer, score, rng, start, np.deg2rad([0.0, rng.uniform(66.0, 88.0)]), np.zeros(2), pace=0.8)
    else:  # overhead and to one side
        sign = rng.choice([-1.0, 1.0])
        time = _both(performer, score, rng, ("overhead bent", "overhead bent"), start, go, lag)
        lean(score, start + 0.4 * go, 1.3, spine_flexion=-6.0, spine_sideways=sign * rng.uniform(10.0, 18.0))
        if leave - time > 1.8:
            lean(score, 0.5 * (time + leave), 1.4, spine_flexion=-6.0, spine_sideways=-sign * rng.uniform(10.0, 18.0))
    look(performer, score, rng, leave, np.deg2rad([0.0, 2.0]), (0.0, 0.0), pace=0.8)
    lean(score, leave, 1.3 * home)
    _both(performer, score, rng, back, leave + 0.1, home, rng.uniform(0.0, 0.3))


def _look_back(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    sign = 1.0 if row.code == "lb_lef" else -1.0
    foot = 0 if sign > 0 else 1
    far = np.deg2rad([sign * rng.uniform(108.0, 132.0), rng.normal(2.0, 5.0)])
    if rng.random() < 0.4:  # the foot on that side opens first
        home = np.add(home_feet(performer)[foot], [0.02 * sign, -0.03])
        step(performer, score, rng, start - 0.3, foot, home, performer.toe_out[foot] + np.deg2rad(rng.uniform(10, 20)))
    else:
        shift_weight(score, start, 1.3, float(rng.uniform(-0.7, 0.7)))
    there = look(performer, score, rng, start, far, np.zeros(2), pace=1.2)
    lean(score, start + 0.1, 1.2, spine_sideways=rng.normal(0.0, 4.0), spine_flexion=rng.normal(0.0, 3.0))
    back = max(there + 0.3, start + duration - 1.2)
    if back - there > 1.5 and rng.random() < 0.5:
        near = far * [rng.uniform(0.7, 0.9), 1.0]
        look(performer, score, rng, there + 0.5, near, far)
        far = near
    look(performer, score, rng, back, np.deg2rad([rng.normal(0.0, 8.0), 2.0]), far, pace=1.2)
    lean(score, back, 1.2)
    _maybe_hand(performer, score, rng, cue, "hip", 0.2)


def _balance(performer, score, rng, row, cue):
    start, duration = cue.start, cue.duration
    first = 1.0 if row.code == "wei_lr" else -1.0
    swaps = int(rng.integers(1, 4))
    level = first * rng.uniform(0.75, 0.95)
    shift_weight(score, 0.0, 1.0, level)
    for k in range(swaps):
        level = -np.sign(level) * rng.uniform(0.75, 0.95)
        time = start + (k + rng.uniform(-0.12, 0.12)) * duration / swaps
        span = min(move_time(performer, rng, 1.0, 1.9), duration / swaps)
        shift_weight(score, max(time, 0.6), span, level)
        ease_foot(performer, score, rng, level, max(time, 0.6) + span, start + (k + 0.85) * duration / swaps)
        lean(
            score,
            time,
            1.5,
            pelvis_yaw=rng.normal(0, 5.0),
            spine_sideways=rng.normal(0, 3.0),
            spine_rotation=rng.normal(0, 4.0),
        )
    look(
        performer,
        score,
        rng,
        start + rng.uniform(0.0, 0.4) * duration,
        np.deg2rad([rng.normal(0, 20), rng.normal(8, 8)]),
        np.zeros(2),
    )
    if rng.random() < 0.5:
        _other_rest(performer, score, rng, start + rng.uniform(0.0, 0.6) * duration)


PLANS = {
    "l_up": _look_up,
    "l_aro": _look_around,
    "l_dow": _look_down,
    "l_sho": _look_shoes,
    "l_pho": _check_phone,
    "st_arm": _stretch_arms,
    "st_bac": _stretch_back,
    "lb_lef": _look_back,
    "lb_rig": _look_back,
    "wei_lr": _balance,
    "wei_rl": _balance,
} | dict.fromkeys(("l_wat", "sc_hea", "sc_arm", "sc_leg", "sc_bac", "t_fac", "sc_eye", "yaw"), _touch)
