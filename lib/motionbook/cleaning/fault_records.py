"""What a fault search returns: stretches with their reason, the runs that are kept, and the source of every cut.

Ranges are half-open inside, [start, stop), and inclusive, first to last, in tables and files.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class Fault(NamedTuple):
    """One bad stretch [start, stop) and what gave it away.

    Attributes
    ----------
    start, stop : int
        Half-open.
    joint : str
        The joint that stands out most; "" when listed by hand or when the whole body is meant.
    frame : int
        Where it stands out most.
    z : float
        Its speed in standard deviations of the clip (published rule), or its signal as a multiple of the limit
        (robust rule); NaN when listed by hand.
    speed : float
        Its speed there in m/s; NaN when listed by hand.
    kind : str
        "speed", "jerk", "jitter", "blip", "twist", "bone", "held", "swap", "slide", "dropout" or "listed".
    source : str
        Which rule or file says so.
    """

    start: int
    stop: int
    joint: str
    frame: int
    z: float
    speed: float
    kind: str = "speed"
    source: str = "published rule"


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

    def removed_mask(self) -> np.ndarray:
        """Whether each frame is removed, (frames,) bool."""
        mask = np.ones(self.frames, dtype=bool)
        for start, stop in self.kept:
            mask[start:stop] = False
        return mask


def runs(mask: Sequence[bool]) -> list[tuple[int, int]]:
    """Stretches [start, stop) in which a mask (frames,) is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(mask, dtype=np.int8), [0]])))
    return [(int(start), int(stop)) for start, stop in edges.reshape(-1, 2)]


def widened(mask: np.ndarray, margin: int) -> np.ndarray:
    """The mask (frames,) with ``margin`` frames more on both sides of every true one."""
    wide = np.asarray(mask, dtype=bool).copy()
    for start, stop in runs(mask) if margin else ():
        wide[max(start - margin, 0) : stop + margin] = True
    return wide


def joined(mask: np.ndarray, gap: int) -> np.ndarray:
    """The mask (frames,) with gaps of up to ``gap`` frames between two true stretches filled."""
    full = np.asarray(mask, dtype=bool).copy()
    stretches = runs(mask)
    for (_, stop), (start, _) in pairwise(stretches):
        if start - stop <= gap:
            full[stop:start] = True
    return full


def long_runs(bad: np.ndarray, fps: float, min_seconds: float) -> tuple[tuple[int, int], ...]:
    """Stretches outside ``bad`` (frames,) of at least ``min_seconds``; the whole clip when nothing is bad."""
    if not bad.any():
        return ((0, len(bad)),) if len(bad) else ()
    shortest = max(round(min_seconds * fps), 1)
    return tuple((start, stop) for start, stop in runs(~bad) if stop - start >= shortest)


def join_faults(first: Faults, second: Faults, fps: float, min_seconds: float = 2.0) -> Faults:
    """Both records as one; a frame is bad when either says so."""
    if first.frames != second.frames:
        raise ValueError(f"faults: expected two records of one clip, got {first.frames} and {second.frames} frames")
    bad = np.zeros(first.frames, dtype=bool)
    faults = sorted((*first.faults, *second.faults), key=lambda fault: (fault.start, fault.stop))
    for fault in faults:
        bad[fault.start : fault.stop] = True
    return Faults(tuple(faults), long_runs(bad, fps, min_seconds), first.frames)


COLUMNS = ("Animation name", "From frame", "To frame")


def cut_rows(name: str, faults: Faults) -> list[dict]:
    """Why each removed frame of a clip is gone: one row per stretch and reason.

    A frame that several rules call bad has a row of each; frames that only fell because the run they lie in is too
    short to keep have the source "short run". Together the rows cover exactly the removed frames.

    Returns
    -------
    list of dict
        The published columns ``Animation name, From frame, To frame`` (both inclusive), then ``Source``, ``Kind``,
        ``Joint`` and ``Frames``, in the order of the frames.
    """
    rest = faults.removed_mask()
    # a range that was listed and kept is no cut
    spans = [(f.start, f.stop, f.source, f.kind, f.joint) for f in faults.faults if rest[f.start : f.stop].all()]
    for start, stop, *_ in spans:
        rest[start:stop] = False
    spans += [(start, stop, "short run", "", "") for start, stop in runs(rest)]
    return [
        dict(zip((*COLUMNS, "Source", "Kind", "Joint", "Frames"), row, strict=True))
        for row in ((name, a, b - 1, source, kind, joint, b - a) for a, b, source, kind, joint in sorted(spans))
    ]


def write_cuts(path, rows: Iterable[dict]) -> None:
    """Write rows of `cut_rows` as CSV; `motionbook.cleaning.faults.read_annotations` reads them back."""
    import csv
    import io

    from motionbook.files import write_whole

    text = io.StringIO()
    table = csv.DictWriter(text, (*COLUMNS, "Source", "Kind", "Joint", "Frames"), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    write_whole(path, text.getvalue())
