"""Stretches of a capture that went wrong: found automatically or listed by hand, and cut out or kept.

Two automatic rules. ``"published"`` is StayStill's: the speed of every joint as a z-score within its clip, a frame is
bad where any joint exceeds 5, ten frames on either side are bad with it, and of what remains only runs of at least 60
frames are kept (all at 30 fps; here in seconds). A z-score is relative: in a clip in which hardly anything moves, a
shift of the weight is an outlier. ``"robust"``, the default, asks for motion that no waiting person makes; see
`motionbook.cleaning.robust_faults`.

Ranges are half-open inside, [start, stop), and inclusive in annotation files.
"""

from collections.abc import Iterable

import numpy as np

from motionbook.cleaning.annotations import RangeError, clip_key, read_annotations
from motionbook.cleaning.fault_records import (
    COLUMNS,
    Fault,
    Faults,
    cut_rows,
    join_faults,
    long_runs,
    runs,
    widened,
    write_cuts,
)
from motionbook.cleaning.robust_faults import LIMITS, Limits, find_robust_faults
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics

__all__ = [
    "COLUMNS",
    "Fault",
    "Faults",
    "RangeError",
    "apply_ranges",
    "clip_key",
    "cut_faults",
    "cut_rows",
    "find_faults",
    "find_published_faults",
    "join_faults",
    "joint_speeds",
    "listed_faults",
    "read_annotations",
    "runs",
    "write_cuts",
]

METHODS = ("robust", "published")
CHOICES = ("cut", "keep", "extract")


def joint_speeds(clip: Clip) -> np.ndarray:
    """World speed (frames, joints) in m/s of every joint from the frame before; the first frame repeats the second."""
    steps = np.linalg.norm(np.diff(forward_kinematics(clip).positions, axis=0), axis=-1) * clip.fps
    if not len(steps):
        return np.zeros((len(clip), len(clip.skeleton)))
    return np.concatenate([steps[:1], steps])


def find_faults(clip: Clip, *, method: str = "robust", limits: Limits = LIMITS, min_seconds: float = 2.0) -> Faults:
    """Stretches of a take of somebody who waits that no waiting person moved like.

    Parameters
    ----------
    clip : Clip
    method : str
        "robust" or "published".
    limits : Limits
        Of the robust rule.
    min_seconds : float
        Shortest run that is kept.

    Returns
    -------
    Faults
    """
    if method not in METHODS:
        raise ValueError(f"method: expected one of {', '.join(METHODS)}, got {method!r}")
    if method == "robust":
        return find_robust_faults(clip, limits=limits, min_seconds=min_seconds)
    return find_published_faults(clip, min_seconds=min_seconds)


def find_published_faults(
    clip: Clip,
    *,
    threshold: float = 5.0,
    min_speed: float = 0.0,
    margin_seconds: float = 10 / 30,
    min_seconds: float = 2.0,
) -> Faults:
    """StayStill's rule: stretches in which a joint moves far faster than it does in the rest of the clip.

    Parameters
    ----------
    clip : Clip
    threshold : float
        z-score of a joint's speed within the clip.
    min_speed : float
        Speeds below this (m/s) are never faults; the published rule has no such floor.
    margin_seconds : float
        How much is bad on either side of a bad frame.
    min_seconds : float
        Shortest run that is kept.

    Returns
    -------
    Faults
    """
    speeds = joint_speeds(clip)
    if not len(speeds):
        return Faults((), (), 0)
    spread = speeds.std(axis=0)
    z = np.abs(speeds - speeds.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    score = np.where(speeds >= min_speed, z, 0.0)
    bad = widened((score > threshold).any(axis=1), round(margin_seconds * clip.fps))
    faults = []
    for start, stop in runs(bad):
        frame, joint = np.unravel_index(np.argmax(score[start:stop]), (stop - start, score.shape[1]))
        frame = int(frame) + start
        name = clip.skeleton.names[int(joint)]
        faults.append(Fault(start, stop, name, frame, float(z[frame, joint]), float(speeds[frame, joint])))
    return Faults(tuple(faults), long_runs(bad, clip.fps, min_seconds), len(clip))


def listed_faults(
    clip: Clip, ranges: Iterable[tuple[int, int]], *, min_seconds: float = 0.0, source: str = "listed by hand"
) -> Faults:
    """The same record for ranges (first, last) listed by hand, inclusive as in annotation files.

    Raises
    ------
    RangeError
        When a range is reversed or reaches outside the clip, with its place in the file it is from.
    """
    bad = np.zeros(len(clip), dtype=bool)
    for span in ranges:
        first, last = span
        if not 0 <= first <= last < len(clip):
            where = getattr(span, "where", "ranges")
            raise RangeError(f"{where}: expected 0 <= first <= last < {len(clip)} frames, got {first} to {last}")
        bad[first : last + 1] = True
    faults = tuple(Fault(a, b, "", a, np.nan, np.nan, "listed", source) for a, b in runs(bad))
    return Faults(faults, long_runs(bad, clip.fps, min_seconds), len(clip))


def apply_ranges(
    clip: Clip, ranges: Iterable[tuple[int, int]], choice: str = "cut", *, min_seconds: float = 0.0
) -> tuple[Faults, tuple[Clip, ...]]:
    """What becomes of the ranges listed by hand is the user's choice, as StayStill leaves it to them.

    Parameters
    ----------
    clip : Clip
    ranges : iterable of (first, last)
        Inclusive, as in annotation files.
    choice : str
        "cut" removes the ranges, "keep" leaves the clip whole and only lists them, "extract" keeps nothing else, to
        look at what was annotated.
    min_seconds : float
        Shortest run that "cut" keeps.

    Returns
    -------
    faults : Faults
        ``faults.kept`` says which frames the clips are.
    clips : tuple of Clip
    """
    if choice not in CHOICES:
        raise ValueError(f"choice: expected one of {', '.join(CHOICES)}, got {choice!r}")
    faults = listed_faults(clip, ranges, min_seconds=min_seconds)
    if choice == "keep":
        faults = faults._replace(kept=((0, len(clip)),) if len(clip) else ())
    elif choice == "extract":
        listed = tuple((f.start, f.stop) for f in faults.faults)
        rest = np.ones(len(clip), dtype=bool)
        for start, stop in listed:
            rest[start:stop] = False
        others = tuple(Fault(a, b, "", a, np.nan, np.nan, "listed", "not listed") for a, b in runs(rest))
        faults = Faults(others, listed, len(clip))
    return faults, cut_faults(clip, faults)


def cut_faults(clip: Clip, faults: Faults) -> tuple[Clip, ...]:
    """The kept runs of a clip, each a clip of its own; ``faults.kept`` says which frames they were."""
    if faults.frames != len(clip):
        raise ValueError(f"faults: expected those of this clip of {len(clip)} frames, got those of {faults.frames}")
    return tuple(clip[start:stop] for start, stop in faults.kept)
