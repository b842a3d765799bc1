"""From a session recording and a table of what is in it to labelled takes.

Tables are those of `motionbook.cleaning.label_tables`, in frames or seconds, inclusive. In seconds a take has the
frames whose time k / fps lies in from <= k / fps <= to; where one row ends at the very time the next begins, the shared
frame is the later row's. The end of the recording, frames / fps, may be written as ``to``.
"""

import math
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from motionbook.cleaning.label_tables import LabelError, Problem, Row, Take, read_labels, refuse_or_skip, rows_of
from motionbook.clip import Clip
from motionbook.data.names import ACTION_LABELS, staystill_name, worded_name
from motionbook.synthesis.actions import ACTION_ROWS

__all__ = ["LABELS", "LabelError", "Problem", "Row", "Segmented", "Take", "locate", "read_labels", "segment"]

LABELS = (*ACTION_LABELS, "idle", "phone")
_WORDS = {row.words: row.code for row in ACTION_ROWS}


class Segmented(NamedTuple):
    """Takes in the order of the table's recordings and times, their clips, and the lines that were left out."""

    takes: tuple[Take, ...]
    clips: tuple[Clip, ...]
    problems: tuple[Problem, ...]


def locate(
    rows: Iterable[Row],
    recordings: Mapping[str, tuple[int, float]],
    *,
    labels: Iterable[str] | None = LABELS,
    problems: list[Problem] | None = None,
    every_overlap: bool = True,
) -> tuple[Take, ...]:
    """The takes that rows of a table mean, in the recordings' order and then in time.

    Parameters
    ----------
    rows : iterable of Row
    recordings : mapping
        Name -> (frames, fps). A row's clip is a name with or without ``.bvh`` and folders, in any case.
    labels : iterable of str, or None
        Those that are known; None takes any word. Table 3's words ("scratch head") stand for their codes.
    problems : list, optional
        As for `read_labels`: unknown clips and labels, ranges outside the recording, overlaps, of which the row that
        begins later is left out.
    every_overlap : bool
        Whether to report rows too that overlap nothing but a row that is left out.
    """
    found: list[Problem] = []
    known = None if labels is None else tuple(labels)
    order = {name: number for number, name in enumerate(recordings)}
    placed: list[tuple[Take, Row]] = []
    for row in rows:
        name = _recording(row, recordings, found)
        label = _label(row, known, found)
        span = None if name is None else _span(row, *recordings[name], found)
        if name is not None and label is not None and span is not None:
            subject = row.subject or _subject(name)
            placed.append((Take(name, *span, label, subject, row.take, row.line), row))
    placed.sort(key=lambda pair: (order[pair[0].clip], pair[0].start, pair[0].line))
    takes = _apart(placed, found, every_overlap)
    if problems is None and found:
        raise LabelError("labels", found)
    if problems is not None:
        problems += found
    return takes


def segment(
    recordings: Mapping[str, Clip],
    table: str | Path | Iterable[Row],
    *,
    unit: str = "frames",
    labels: Iterable[str] | None = LABELS,
    on_problem: str = "refuse",
) -> Segmented:
    """Cut recordings into labelled takes.

    Parameters
    ----------
    recordings : mapping of str to Clip
    table : path or iterable of Row
    unit, labels
        As for `read_labels` and `locate`.
    on_problem : "refuse" or "skip"
        Refuse the whole table with all that is wrong in it, or leave those lines out and return what was wrong.

    Raises
    ------
    LabelError
        With every problem of the table, by line.
    """
    problems: list[Problem] = []
    rows = rows_of(table, unit, problems)
    sizes = {name: (len(clip), clip.fps) for name, clip in recordings.items()}
    takes = locate(rows, sizes, labels=labels, problems=problems, every_overlap=on_problem == "refuse")
    refuse_or_skip(table, problems, on_problem)
    clips = tuple(recordings[take.clip][take.start : take.stop] for take in takes)
    return Segmented(takes, clips, tuple(sorted(problems)))


def _recording(row: Row, recordings: Mapping, found: list[Problem]) -> str | None:
    """The recording a row means; a problem when there is none or several."""
    wanted = _bare(row.clip)
    fits = [name for name in recordings if _bare(name) == wanted]
    fits = fits or [name for name in recordings if _bare(name).endswith("/" + wanted)]
    parts = staystill_name(wanted)
    if not fits and parts is not None and parts.subject:
        fits = [name for name in recordings if staystill_name(_bare(name).rsplit("/", 1)[-1]) == parts]
    if len(fits) == 1:
        return fits[0]
    if fits:
        found.append(Problem(row.line, f"clip {row.clip!r} could be {' or '.join(fits)}; write its folder too"))
        return None
    close = get_close_matches(wanted, [_bare(name) for name in recordings], 1)
    hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(list(recordings)[:5])}"
    found.append(Problem(row.line, f"unknown clip {row.clip!r}{hint}"))
    return None


def _bare(name: str) -> str:
    return re.sub(r"\.bvh$", "", name.strip().replace("\\", "/").lower()).removeprefix("./")


def _label(row: Row, known: tuple[str, ...] | None, found: list[Problem]) -> str | None:
    label = _WORDS.get(row.label.lower(), row.label)
    if known is None:
        if re.fullmatch(r"[A-Za-z][A-Za-z-]*(_[A-Za-z][A-Za-z-]*)*", label):
            return label
        found.append(Problem(row.line, f"label {row.label!r} cannot stand in a file name: letters, - and _ can"))
        return None
    for one in known:
        if label.lower() == one.lower():
            return one
    close = get_close_matches(label.lower(), [*known, *_WORDS], 1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"
    found.append(Problem(row.line, f"unknown label {row.label!r}; {hint}"))
    return None


def _span(row: Row, frames: int, fps: float, found: list[Problem]) -> tuple[int, int] | None:
    if row.unit == "seconds":
        first, last = math.ceil(row.first * fps - 1e-6), math.floor(row.last * fps + 1e-6)
        if last == frames:  # the recording's end, frames / fps, is a time people write
            last = frames - 1
    else:
        first, last = int(row.first), int(row.last)
    if first < 0 or last >= frames:
        end = f"{(frames - 1) / fps:.3f} s" if row.unit == "seconds" else f"{frames - 1}"
        found.append(Problem(row.line, f"{row.first:g} to {row.last:g} is outside {row.clip}, which has 0 to {end}"))
        return None
    if last < first:
        found.append(Problem(row.line, f"{row.first:g} to {row.last:g} s lies between two frames of {row.clip}"))
        return None
    return first, last + 1


def _subject(name: str) -> str:
    """Who moves, by the recording's name; "" when it does not say."""
    stem = _bare(name).rsplit("/", 1)[-1]
    parts = staystill_name(stem) or worded_name(stem)
    return parts.subject if parts else ""


def _apart(placed: list[tuple[Take, Row]], found: list[Problem], every_overlap: bool) -> tuple[Take, ...]:
    """The takes without those that overlap an earlier one of their recording that stays."""
    kept: list[tuple[Take, Row]] = []
    dropped: list[Take] = []
    for take, row in placed:
        if kept and (before := _cut_at_shared_time(*kept[-1], take, row)):
            kept[-1] = (before, kept[-1][1])
        earlier = [one for one, _ in kept[-1:] if _overlap(one, take)]
        stays = not earlier
        if every_overlap:
            earlier = earlier or [one for one in dropped if _overlap(one, take)]
        for one in earlier[:1]:
            shared = f"{take.start} to {min(one.stop, take.stop) - 1}"
            found.append(Problem(take.line, f"overlaps line {one.line} in {take.clip}: frames {shared} are in both"))
        if stays:
            kept.append((take, row))
        else:
            dropped.append(take)
    return tuple(take for take, _ in kept)


def _overlap(before: Take, after: Take) -> bool:
    return before.clip == after.clip and after.start < before.stop


def _cut_at_shared_time(before: Take, its: Row, after: Take, row: Row) -> Take | None:
    """The earlier take without the frame that it shares with a row in seconds that begins when it ends."""
    touching = before.clip == after.clip and its.unit == row.unit == "seconds" and its.last == row.first
    shared = touching and after.start == before.stop - 1 and before.stop - before.start > 1
    return before._replace(stop=after.start) if shared else None
