"""Stretches of a capture that went wrong: found by joint speed or listed by hand, and cut out.

The automatic rule is StayStill's published one: the speed of every joint as a z-score within its clip, a frame is bad
where any joint exceeds 5, ten frames on either side are bad with it, and of what remains only runs of at least 60
frames are kept (all at 30 fps; here in seconds). A z-score is relative: in a clip in which hardly anything moves, a
shift of the weight is an outlier. ``min_speed`` adds an absolute floor, below which no speed is a fault.

Ranges are half-open inside, [start, stop), and inclusive in annotation files.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.clip import Clip
from motionbook.data.names import staystill_name
from motionbook.kinematics import forward_kinematics

# A joint that jumps 7 cm between two frames at 30 fps moves at 2 m/s; hands in everyday gestures peak below that.
SPEED_FLOOR = 2.0

COLUMNS = ("Animation name", "From frame", "To frame")


class Fault(NamedTuple):
    """One bad stretch [start, stop) with the joint and frame that stand out most; joint "" when listed by hand."""

    start: int
    stop: int
    joint: str
    frame: int
    z: float
    speed: float


class Faults(NamedTuple):
    """What to remove and what to keep.

    Attributes
    ----------
    faults : tuple of Fault
    kept : tuple of (start, stop)
        Runs long enough to keep, in order. The whole clip when there is no fault, however short it is.
    frames : int
        Length of the clip.
    """

    faults: tuple[Fault, ...]
    kept: tuple[tuple[int, int], ...]
    frames: int

    @property
    def removed(self) -> int:
        """Frames outside the kept runs: bad ones, and good ones in runs too short to keep."""
        return self.frames - sum(stop - start for start, stop in self.kept)


def joint_speeds(clip: Clip) -> np.ndarray:
    """World speed (frames, joints) in m/s of every joint from the frame before; the first frame repeats the second."""
    steps = np.linalg.norm(np.diff(forward_kinematics(clip).positions, axis=0), axis=-1) * clip.fps
    if not len(steps):
        return np.zeros((len(clip), len(clip.skeleton)))
    return np.concatenate([steps[:1], steps])


def find_faults(
    clip: Clip,
    *,
    threshold: float = 5.0,
    min_speed: float = SPEED_FLOOR,
    margin_seconds: float = 10 / 30,
    min_seconds: float = 2.0,
) -> Faults:
    """Stretches in which a joint moves far faster than it does in the rest of the clip.

    Parameters
    ----------
    clip : Clip
    threshold : float
        z-score of a joint's speed within the clip.
    min_speed : float
        Speeds below this (m/s) are never faults. 0 is the published rule, which in still clips also removes ordinary
        motion.
    margin_seconds : float
        How much is bad on either side of a bad frame.
    min_seconds : float
        Shortest run that is kept.

    Returns
    -------
    Faults
    """
    speeds = joint_speeds(clip)
    spread = speeds.std(axis=0)
    z = np.abs(speeds - speeds.mean(axis=0)) / np.where(spread > 0, spread, np.inf)
    score = np.where(speeds >= min_speed, z, 0.0)
    peak = score > threshold
    margin = round(margin_seconds * clip.fps)
    bad = _widened(peak.any(axis=1), margin)
    faults = []
    for start, stop in runs(bad):
        frame, joint = np.unravel_index(np.argmax(score[start:stop]), (stop - start, score.shape[1]))
        frame = int(frame) + start
        name = clip.skeleton.names[int(joint)]
        faults.append(Fault(start, stop, name, frame, float(z[frame, joint]), float(speeds[frame, joint])))
    return Faults(tuple(faults), _kept(bad, clip.fps, min_seconds), len(clip))


def listed_faults(clip: Clip, ranges: Iterable[tuple[int, int]], *, min_seconds: float = 0.0) -> Faults:
    """The same record for ranges (first, last) listed by hand, inclusive as in annotation files.

    Raises
    ------
    ValueError
        When a range is reversed or reaches outside the clip.
    """
    bad = np.zeros(len(clip), dtype=bool)
    for first, last in ranges:
        if not 0 <= first <= last < len(clip):
            raise ValueError(f"ranges: expected 0 <= first <= last < {len(clip)} frames, got {first} to {last}")
        bad[first : last + 1] = True
    faults = tuple(Fault(start, stop, "", start, np.nan, np.nan) for start, stop in runs(bad))
    return Faults(faults, _kept(bad, clip.fps, min_seconds), len(clip))


def cut_faults(clip: Clip, faults: Faults) -> tuple[Clip, ...]:
    """The kept runs of a clip, each a clip of its own; ``faults.kept`` says which frames they were."""
    if faults.frames != len(clip):
        raise ValueError(f"faults: expected those of this clip of {len(clip)} frames, got those of {faults.frames}")
    return tuple(clip[start:stop] for start, stop in faults.kept)


def runs(mask: Sequence[bool]) -> list[tuple[int, int]]:
    """Stretches [start, stop) in which a mask (frames,) is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(mask, dtype=np.int8), [0]])))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def _widened(mask: np.ndarray, margin: int) -> np.ndarray:
    """The mask with ``margin`` frames more on both sides of every true one."""
    return np.convolve(mask, np.ones(2 * margin + 1), mode="full")[margin : margin + len(mask)] > 0.5


def _kept(bad: np.ndarray, fps: float, min_seconds: float) -> tuple[tuple[int, int], ...]:
    if not bad.any():
        return ((0, len(bad)),) if len(bad) else ()
    shortest = max(round(min_seconds * fps), 1)
    return tuple((start, stop) for start, stop in runs(~bad) if stop - start >= shortest)


def read_annotations(path: str | Path) -> dict[tuple[str, str], list[tuple[int, int]]]:
    """Ranges listed by hand: clip key (see `clip_key`) -> (first, last) inclusive, in the file's order.

    The file has the columns ``Animation name,From frame,To frame`` of the StayStill authors' removeParts.csv.

    Raises
    ------
    ValueError
        With the line number, for a missing column, a frame that is no whole number or a reversed range.
    """
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = csv.DictReader(file)
        missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
        if missing:
            raise ValueError(f"{path}: expected the columns {', '.join(COLUMNS)}, found no {', '.join(missing)}")
        found: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for row in rows:
            name, first, last = ((row[column] or "").strip() for column in COLUMNS)
            if not (first.isdigit() and last.isdigit()):
                raise ValueError(f"{path}:{rows.line_num}: expected two frame numbers, got {first!r} and {last!r}")
            if int(last) < int(first):
                raise ValueError(f"{path}:{rows.line_num}: the range ends before it starts: {first} to {last}")
            found.setdefault(clip_key(name), []).append((int(first), int(last)))
    return found


def clip_key(name: str) -> tuple[str, str]:
    """Subject and motion of a clip's name in either order: ``Idle_07`` and ``07_idle`` are both ("07", "idle").

    Numbers are compared as numbers, so that subject 1 is not found in 10 or 21; see `motionbook.data.names`.

    Raises
    ------
    ValueError
        When the name does not say who moves.
    """
    parts = staystill_name(re.sub(r"\.bvh$", "", name.strip(), flags=re.IGNORECASE))
    if parts is None or not parts.subject:
        raise ValueError(f"name: expected a subject number at its start or end, e.g. 07_idle, got {name!r}")
    return parts.subject, "_".join(part for part in (parts.label, parts.take, parts.piece) if part)


def join_faults(first: Faults, second: Faults, fps: float, min_seconds: float = 2.0) -> Faults:
    """Both records as one; a frame is bad when either says so."""
    if first.frames != second.frames:
        raise ValueError(f"faults: expected two records of one clip, got {first.frames} and {second.frames} frames")
    bad = np.zeros(first.frames, dtype=bool)
    faults = sorted((*first.faults, *second.faults), key=lambda fault: (fault.start, fault.stop))
    for fault in faults:
        bad[fault.start : fault.stop] = True
    return Faults(tuple(faults), _kept(bad, fps, min_seconds), first.frames)
