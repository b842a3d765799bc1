"""Faults that show against what a waiting person can do, not against the rest of the clip.

A limit on speed or jerk is stated as the fastest movement that is granted to a part of the body: so many metres in so
many seconds, along the minimum-jerk path that unhurried hands follow (Flash and Hogan 1985). Its peak speed is
1.875 A/T, its peak jerk 60 A/T^3, its root mean square jerk sqrt(720) A/T^3. A recording noisier than that raises its
own limits, by median and median absolute deviation per joint, which outliers do not move as they move a standard
deviation.

Both are those of bones, end sites included, against their parents. Beside them: bones that change length,
limbs that are away for a moment,
joints that are held or interpolated, limbs that change sides, bones that spin, feet that both slide, dropped frames.
"""

from typing import NamedTuple

import numpy as np

from motionbook.cleaning import motion_signals as signals
from motionbook.cleaning.fault_records import Fault, Faults, joined, long_runs, runs, widened
from motionbook.clip import Clip

SOURCE = "robust rule"


class Movement(NamedTuple):
    """A minimum-jerk movement over ``metres`` in ``seconds``."""

    metres: float
    seconds: float

    @property
    def speed(self) -> float:
        """Peak speed, m/s."""
        return 1.875 * self.metres / self.seconds

    @property
    def jerk(self) -> float:
        """Peak jerk, m/s^3."""
        return 60.0 * self.metres / self.seconds**3

    @property
    def rms_jerk(self) -> float:
        """Root mean square of jerk over the movement, m/s^3."""
        return np.sqrt(720.0) * self.metres / self.seconds**3


class Limits(NamedTuple):
    """What is granted to somebody who waits.

    Attributes
    ----------
    trunk : Movement
        Half a metre in 0.45 s peaks at 2.1 m/s; people walk at 1.4 m/s and nobody who waits runs. It holds for the
        root in the world and for hips, spine, head and shoulders against their parents.
    leg : Movement
        Knees, ankles and toes against their parents; in a brisk step the foot swings past at 2.5 m/s.
    arm : Movement
        40 cm in 0.3 s is a hand slapping at a fly; reaching unhurriedly takes twice as long. Elbows and hands against
        their parents: who scratches their back shakes the elbow as well.
    z : float
        Standard deviations, by median absolute deviation, that a joint's signal must lie above its median as well.
    blip, blip_seconds : float
        Metres that a bone's end may leave its place and be back within the seconds, at rest before and after. Hands
        tap six times a second at most, by 2 or 3 cm, and that is never once only.
    turn : float
        rad/s of a joint. Turning a key or waving stays below 10; a bone whose twist flips turns 3 rad in a frame.
    bone : float
        Metres that a joint may stray from its usual place in its parent. Skin over bone moves by up to 3 cm
        (Leardini et al. 2005), detected joint centres with it.
    held_seconds : float
        A joint that neither rests on noise nor bends its path for this long is not measured but filled in. An arm
        that speeds up at a (rad/s^2) leaves a gap's straight filling by a T^2/8, at the 2 rad/s^2 of idle arms 2 cm
        at the wrist in 0.6 s; shorter gaps stay within what markerless capture is off by anyway.
    slide : float
        m/s of the slowest point of both feet over 0.2 s; somebody who stands or walks has one at rest. Recorded idle
        motion stays below 0.11, all of it noise.
    join_seconds : float
        What lies between two faults of one kind, no further apart than this, is faulty too: a limb that jumped away
        and has not come back.
    margin_seconds : float
        Bad on either side of a fault: for so long the 7 Hz low-pass of capture rings above a twentieth of a spike.
    """

    trunk: Movement = Movement(0.5, 0.45)
    leg: Movement = Movement(0.4, 0.3)
    arm: Movement = Movement(0.4, 0.3)
    z: float = 6.0
    blip: float = 0.04
    blip_seconds: float = 0.3
    turn: float = 15.0
    bone: float = 0.03
    held_seconds: float = 0.6
    slide: float = 0.12
    join_seconds: float = 0.5
    margin_seconds: float = 1 / 6


LIMITS = Limits()
_STILL = 0.01  # share of its usual bend below which a joint's path is no measurement
_SWAP_JUMP = 0.2  # metres that the bones of both limbs jump together, else a swap changes nothing that matters
_SWAP_SECONDS = 5.0  # two swaps further apart are not taken for the two ends of one
_SLIDE_SECONDS = 0.2


class Signal(NamedTuple):
    """One detector's answer: ``excess`` (frames,) as a multiple of its limit, ``joint`` (frames,) index of the worst.

    ``bad`` (frames,) is where it speaks, which for some detectors is more than where the excess is above 1.
    """

    kind: str
    excess: np.ndarray
    joint: np.ndarray
    bad: np.ndarray


def find_robust_faults(clip: Clip, *, limits: Limits = LIMITS, min_seconds: float = 2.0) -> Faults:
    """Stretches that break a limit, each with the kind of limit; see the module.

    Parameters
    ----------
    clip : Clip
    limits : Limits
    min_seconds : float
        Shortest run that is kept.
    """
    if not len(clip):
        return Faults((), (), 0)
    points = signals.body_points(clip.skeleton)
    places = signals.point_places(clip, points)
    paths = signals.bone_paths(places, points)
    speed = signals.speeds(paths, clip.fps)
    found = [
        *_fast(speed, paths, points, clip.fps, limits),
        _blips(paths, clip.fps, limits),
        _spinning(clip, limits),
        _stretched(clip, limits),
        _held(clip, points, limits),
        _swapped(paths, points, clip.fps),
        _sliding(places, points, clip.fps, limits),
        _dropped(clip),
    ]
    bad = np.zeros(len(clip), dtype=bool)
    faults = []
    gap, margin = (round(s * clip.fps) for s in (limits.join_seconds, limits.margin_seconds))
    for signal in found:
        if not signal.bad.any():
            continue
        wide = widened(joined(signal.bad, gap), margin)
        bad |= wide
        for start, stop in runs(wide):
            frame = start + int(np.argmax(signal.excess[start:stop]))
            point = int(signal.joint[frame])
            name = points.names[point] if point >= 0 else ""
            pace = float(speed[max(point, 0), frame])
            faults.append(Fault(start, stop, name, frame, float(signal.excess[frame]), pace, signal.kind, SOURCE))
    faults.sort(key=lambda fault: (fault.start, fault.stop, fault.kind))
    return Faults(tuple(faults), long_runs(bad, clip.fps, min_seconds), len(clip))


def _fast(speed, paths, points, fps, limits) -> list[Signal]:
    """Speed, jerk, and jerk that lasts."""
    granted = [getattr(limits, part) for part in points.parts]
    over = speed / _limit(speed, [m.speed for m in granted], limits.z)[:, None]
    # a speed is that of the step from an earlier frame, and either end may be the wrong one
    step = signals.lag(fps)
    found = [_signal("speed", over, back=step)]
    jerk = signals.jerks(paths, fps)
    usual = signals.robust_limit(jerk, limits.z)
    over = jerk / np.maximum(usual, [m.jerk for m in granted])[:, None]
    found.append(_signal("jerk", over, ahead=step))
    lasting = np.maximum(usual, [m.rms_jerk for m in granted])[:, None]
    over = signals.rms(jerk, max(1, round(0.3 * fps))) / lasting
    found.append(_signal("jitter", np.where(jerk > 0.5 * lasting, over, 0.0), ahead=step))
    return found


def _blips(paths, fps, limits) -> Signal:
    """Bones that leave and are back before anybody could have moved them."""
    away, rested = signals.excursions(paths, fps, limits.blip_seconds)
    over = away / _limit(away, limits.blip, limits.z)[:, None]
    reach = max(1, round(0.25 * limits.blip_seconds * fps))
    return _signal("blip", np.where(rested, over, 0.0), back=reach, ahead=reach)


def _limit(signal, floors, z) -> np.ndarray:
    return np.maximum(signals.robust_limit(signal, z), floors)


def _signal(kind: str, excess: np.ndarray, back: int = 0, ahead: int = 0) -> Signal:
    """The worst point of each frame; each bad frame takes ``back`` frames before and ``ahead`` after it along."""
    worst = excess.argmax(axis=0)
    highest = np.take_along_axis(excess, worst[None], axis=0)[0]
    bad = highest > 1.0
    for start, stop in runs(bad):
        bad[max(start - back, 0) : stop + ahead] = True
    return Signal(kind, highest, worst, bad)


def _spinning(clip: Clip, limits: Limits) -> Signal:
    step = signals.lag(clip.fps)
    steps = signals.turn_steps(clip)
    worst = steps.argmin(axis=1)
    least = np.take_along_axis(steps, worst[:, None], axis=1)[:, 0]
    rate = 2 * np.arccos(np.minimum(least, 1.0)) * clip.fps / step
    return _signal_of_one("twist", rate / limits.turn, worst, back=step)


def _signal_of_one(kind, excess, joint, back=0) -> Signal:
    found = _signal(kind, excess[None], back=back)
    return found._replace(joint=np.broadcast_to(joint, excess.shape))


def _stretched(clip: Clip, limits: Limits) -> Signal:
    """Joints away from their usual place in their parent, for sources that store it per frame."""
    nothing = np.zeros(len(clip))
    if clip.translations is None or len(clip.skeleton) < 2:
        return Signal("bone", nothing, nothing.astype(int), nothing > 1)
    moved = np.linalg.norm(clip.translations - np.median(clip.translations, axis=0), axis=-1).T
    moved[0] = 0.0
    return _signal("bone", moved / _limit(moved, limits.bone, limits.z)[:, None])


def _held(clip: Clip, points, limits: Limits) -> Signal:
    """Joints that are held or interpolated, though they move in the rest of the clip."""
    bends = signals.turn_bends(clip)
    usual = np.median(bends, axis=0)
    # below 1e-5 rad a joint is as good as constant, and a file's decimals make the rest
    still = (bends < _STILL * usual) & (usual > 1e-5)
    shortest = max(1, round(limits.held_seconds * clip.fps) - 2 * signals.lag(clip.fps))
    length = np.zeros(still.shape, dtype=np.int64)
    for joint in np.flatnonzero(still.any(axis=0)):
        for start, stop in runs(still[:, joint]):
            length[start:stop, joint] = stop - start
    for joint in range(1, len(clip.skeleton)):
        # a knee that is stretched through is locked, not filled in, as long as its thigh lives
        if points.parts[joint] == "leg":
            length[:, joint] = np.minimum(length[:, joint], length[:, clip.skeleton.parents[joint]])
    worst = length.argmax(axis=1)
    longest = length.max(axis=1)
    found = _signal_of_one("held", longest / shortest, worst)
    bad = longest >= shortest
    for start, stop in runs(bad):
        bad[max(start - signals.lag(clip.fps), 0) : stop + signals.lag(clip.fps)] = True
    return found._replace(bad=bad)


def _swapped(paths, points, fps) -> Signal:
    """Limbs that change sides: each bone is where its counterpart was."""
    frames, step = paths.shape[-1], signals.lag(fps)
    excess, joint, bad = np.zeros(frames), np.full(frames, -1), np.zeros(frames, dtype=bool)
    if frames <= step:
        return Signal("swap", excess, joint, bad)
    for limb in ("arm", "leg"):
        pairs = [(left, right) for left, right, name in points.pairs if name == limb]
        if not pairs:
            continue
        left, right = (paths[:, list(side)] for side in zip(*pairs, strict=True))
        own = _moved(left, left, step) + _moved(right, right, step)
        other = _moved(left, right, step) + _moved(right, left, step)
        jump = np.zeros(frames)
        jump[step:] = np.where(2 * other < own, own / _SWAP_JUMP, 0.0)
        events = runs(jump > 1)
        for start, stop in events:
            bad[start - step : stop] = True
        here = jump > excess
        joint[here] = pairs[0][0]
        excess = np.maximum(excess, jump)
        i = 0
        while i + 1 < len(events):
            (_, first), (second, _) = events[i], events[i + 1]
            if second - first <= _SWAP_SECONDS * fps:
                bad[first:second] = True
                i += 1
            i += 1
    return Signal("swap", excess, joint, bad)


def _moved(now, before, step) -> np.ndarray:
    return np.sqrt(np.square(now[..., step:] - before[..., :-step]).sum(axis=0)).sum(axis=0)


def _sliding(places, points, fps, limits) -> Signal:
    travel = signals.foot_travel(places, points, fps, _SLIDE_SECONDS)[None]
    return _signal("slide", travel / _limit(travel, limits.slide, limits.z)[:, None])


def _dropped(clip: Clip) -> Signal:
    """Frames whose numbers are all zero: the root at the origin, or every rotation none."""
    root = np.abs(clip.root_positions).max(axis=1) < 1e-9
    pose = np.abs(clip.rotations[..., 0]).min(axis=1) > 1 - 1e-12
    # a clip that is mostly so was made so
    zero = (root & (root.mean() < 0.5)) | (pose & (pose.mean() < 0.5))
    return Signal("dropout", zero.astype(float), np.full(len(clip), -1), zero)
