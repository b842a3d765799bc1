"""Is a clip fit for use? Foot skate, smoothness, limbs inside one another and bones that change, one row per clip."""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from motionbook.cleaning import motion_signals as signals
from motionbook.cleaning.penetration import limb_pairs, penetration_depths
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.smoothness import log_dimensionless

PLANTED_HEIGHT = 0.025  # metres over its standing height; Zhang et al. 2018 count skating below as much
JUMP = 10.0  # m/s; no foot on the floor is that fast: the take jumps there, as after a T-pose in its first row
LEAST_PLANTED = 0.5  # seconds, both feet together; less says nothing about skating
WINDOW_SECONDS = 2.0
# metres that a point must travel in a window before its smoothness means anything: less is noise about a rest
MOVING = 0.05
# metres, the radius of a forearm: until then its bone is still outside the other part. Flesh gives way, folded arms and
# hands on thighs press, and how stout a body is the skeleton does not say.
CONTACT = 0.04


class ClipQuality(NamedTuple):
    """Physical plausibility of one clip.

    Attributes
    ----------
    seconds : float
    foot_skate : float
        Centimetres that a planted foot slides per second, mean over planted frames of both feet; NaN without feet and
        when they are planted for less than half a second together.
    planted : float
        Share of the frames in which a foot is planted, mean over both.
    ldlj : float
        Log dimensionless jerk of hands, feet, head and root against their parents, mean over windows of 2 s in which
        they move; higher is smoother, a single minimum-jerk movement as long as the window has -6.58. NaN when nothing
        moves, and for clips of less than 2 s: LDLJ falls with the time that is looked at.
    penetration : float
        Share of the frames in which a limb is deeper than 4 cm in another part of the body; NaN when the joint names
        tell no head or no arms.
    depth : float
        Metres of the deepest, over the whole clip; 0 when nothing touches.
    deepest : str
        What it is between, e.g. "left arm in head".
    bone_change : float
        Largest change of a bone's length relative to its median.
    bone : str
        The joint at its end; "" when no bone changes.
    note : str
        Why a number is lacking.
    """

    seconds: float
    foot_skate: float
    planted: float
    ldlj: float
    penetration: float
    depth: float
    deepest: str
    bone_change: float
    bone: str
    note: str


def clip_quality(clip: Clip) -> ClipQuality:
    """Foot skate, smoothness, self-penetration and bone-length change of a clip."""
    if len(clip) < 2:
        raise ValueError(f"clip: expected at least 2 frames, got {len(clip)}")
    points = signals.body_points(clip.skeleton)
    world = forward_kinematics(clip)
    places = signals.point_places(clip, points, world)
    skate, planted = foot_skate(places, points, clip.fps)
    shown = _shown(points)
    tips = places[:, shown] - np.where(points.parents[shown][:, None] >= 0, places[:, points.parents[shown]], 0.0)
    body = limb_pairs(clip.skeleton, clip.translations)
    if body is None:
        share, depth, deepest = np.nan, np.nan, ""
    else:
        depths, pairs = penetration_depths(world, body)
        worst = int(depths.argmax())
        share, depth = float((depths > CONTACT).mean()), float(max(depths[worst], 0.0))
        deepest = body.words[pairs[worst]] if depth > 0 else ""
    ldlj = windowed_ldlj(tips, clip.fps)
    return ClipQuality(
        clip.duration,
        100 * skate,
        planted,
        ldlj,
        share,
        depth,
        deepest,
        *bone_length_change(clip),
        "; ".join(_lacking(clip, points, skate, ldlj, share)),
    )


def _lacking(clip: Clip, points: signals.Points, skate: float, ldlj: float, share: float) -> list[str]:
    """Why numbers of a clip are NaN."""
    why = []
    if np.isnan(skate):
        why.append(f"foot skate: planted for less than {LEAST_PLANTED:g} s" if all(points.feet) else "no feet by name")
    if np.isnan(ldlj):
        short = _frames_of(WINDOW_SECONDS, clip.fps) > len(clip)
        why.append(f"LDLJ: shorter than {WINDOW_SECONDS:g} s" if short else "LDLJ: nothing moves")
    if np.isnan(share):
        why.append("penetration: the joint names tell no head or no arms")
    return why


def quality_table(clips: Mapping[str, Clip]):
    """`clip_quality` of many clips.

    Returns
    -------
    pandas.DataFrame
        Indexed by clip; the attributes of ClipQuality in the units of a table.
    """
    import pandas as pd

    rows = {name: clip_quality(clip)._asdict() for name, clip in clips.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("clip")
    for name in ("planted", "penetration", "bone_change", "depth"):
        frame[name] *= 100
    return frame.rename(
        columns={
            "seconds": "Duration [s]",
            "foot_skate": "Foot skate [cm/s]",
            "planted": "Planted [%]",
            "ldlj": "LDLJ",
            "penetration": "Penetration [% of frames]",
            "depth": "Deepest [cm]",
            "deepest": "between",
            "bone_change": "Bone change [%]",
            "bone": "of",
            "note": "lacking",
        }
    )


@lru_cache(maxsize=64)
def _tips_of(parents: tuple[int, ...], parts: tuple[str, ...]) -> tuple[int, ...]:
    return (0, *(p for p in range(1, len(parts)) if p not in parents))


def _shown(points: signals.Points) -> np.ndarray:
    """The root and the points that nothing hangs on: hands, toes, head."""
    return np.array(_tips_of(tuple(int(p) for p in points.parents), points.parts))


def foot_skate(places: np.ndarray, points: signals.Points, fps: float) -> tuple[float, float]:
    """Mean horizontal speed of planted feet in m/s, and the share of the frames in which a foot is planted.

    A foot is planted while all of its points lie within ``PLANTED_HEIGHT`` of the height at which they stand, the tenth
    percentile of the clip. Its speed is that of its slower point, so that turning on the ball of the foot is no skate;
    steps faster than ``JUMP`` are none of a foot and do not count.

    NaN for a speed that fewer than ``LEAST_PLANTED`` seconds would show.

    Parameters
    ----------
    places : (3, points, frames)
    points : Points
    fps : float
    """
    total, planted, frames = 0.0, 0, 0
    for foot in points.feet:
        if not foot:
            return np.nan, np.nan
        at = list(foot)
        height = places[1, at]
        low = (height < np.quantile(height, 0.1, axis=-1)[:, None] + PLANTED_HEIGHT).all(axis=0)
        speed = signals.speeds(places[0::2, at], fps).min(axis=0)
        step = signals.lag(fps)
        both = low[step:] & low[:-step] & (speed[step:] < JUMP)
        total += float(speed[step:][both].sum())
        planted += int(both.sum())
        frames += len(both)
    told = planted and planted >= LEAST_PLANTED * fps
    return (total / planted if told else np.nan), (planted / frames if frames else np.nan)


def log_dimensionless_jerk(path: np.ndarray, fps: float) -> np.ndarray:
    """LDLJ (points,) of paths (3, points, frames) from places a thirtieth of a second apart.

    NaN for a path shorter than ``MOVING``; see `motionbook.smoothness.log_dimensionless`.
    """
    step = signals.lag(fps)
    if path.shape[-1] <= 3 * step:
        return np.full(path.shape[1], np.nan)
    jerk, speed = signals.jerks(path, fps)[:, step : -2 * step], signals.speeds(path, fps)[:, step:]
    return _ldlj(jerk, speed, (path.shape[-1] - 1) / fps)


def windowed_ldlj(path: np.ndarray, fps: float, seconds: float = WINDOW_SECONDS) -> float:
    """Mean LDLJ over points and windows in which they move; NaN when none does, or less than a window is there.

    Of one kind of motion LDLJ falls as T^4 with the time that is looked at, so that only windows of one length compare.
    """
    width = _frames_of(seconds, fps)
    count = path.shape[-1] // width
    if not count:
        return np.nan
    jerk, speed = (
        signal[:, : count * width].reshape(len(signal), count, width).transpose(1, 0, 2)
        for signal in (signals.jerks(path, fps), signals.speeds(path, fps))
    )
    values = _ldlj(jerk, speed, (width - 1) / fps)
    return float(np.nanmean(values)) if np.isfinite(values).any() else np.nan


def _frames_of(seconds: float, fps: float) -> int:
    return max(2, round(seconds * fps))


def _ldlj(jerk, speed, duration) -> np.ndarray:
    """(..., points) from signals (..., points, frames) that stand for ``duration`` seconds."""
    integral = np.square(jerk).mean(axis=-1) * duration
    return log_dimensionless(integral, speed.mean(axis=-1) * duration, duration, MOVING)


def bone_length_change(clip: Clip) -> tuple[float, str]:
    """Largest change of a bone's length over its median, and the joint at its end; bones below 3 cm do not count."""
    if clip.translations is None:
        return 0.0, ""
    lengths = np.linalg.norm(clip.translations[:, 1:], axis=-1)
    usual = np.median(lengths, axis=0)
    change = np.where(usual > 0.03, np.abs(lengths / np.where(usual > 0, usual, 1.0) - 1.0), 0.0).max(axis=0)
    if not len(change) or change.max() < 1e-6:
        return 0.0, ""
    return float(change.max()), clip.skeleton.names[1 + int(change.argmax())]
