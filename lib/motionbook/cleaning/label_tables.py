"""The table of what is in a session recording, read and written: clip, from, to, label.

A CSV with the columns ``clip``, ``from``, ``to`` and ``label``, and optionally ``subject``, ``take`` and others, which
are left alone. Frames count from 0 and ``to`` is the last frame of the take, as people write it; inside, ranges are
half-open, [start, stop). Everything wrong with a table is reported at once, by line.
"""

import csv
import io
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from motionbook.csv_rows import Problem, TableError, csv_rows
from motionbook.files import write_whole

UNITS = ("frames", "seconds")
_COLUMNS = {
    "clip": ("clip", None),
    "recording": ("clip", None),
    "file": ("clip", None),
    "animation name": ("clip", None),
    "from": ("from", None),
    "from frame": ("from", "frames"),
    "from seconds": ("from", "seconds"),
    "to": ("to", None),
    "to frame": ("to", "frames"),
    "to seconds": ("to", "seconds"),
    "label": ("label", None),
    "subject": ("subject", None),
    "take": ("take", None),
}


class Take(NamedTuple):
    """Frames [start, stop) of a recording and what they show; ``line`` of the table, 0 when there is none."""

    clip: str
    start: int
    stop: int
    label: str
    subject: str = ""
    take: str = ""
    line: int = 0


class Row(NamedTuple):
    """A line of the table as written: ``first`` and ``last`` in ``unit``, inclusive."""

    line: int
    clip: str
    first: float
    last: float
    label: str
    unit: str
    subject: str = ""
    take: str = ""


class LabelError(TableError):
    """Everything that is wrong with a table of labels."""


def read_labels(path: str | Path, *, unit: str = "frames", problems: list[Problem] | None = None) -> tuple[Row, ...]:
    """The rows of an annotation table.

    Parameters
    ----------
    path : path
        As `motionbook.csv_rows.csv_rows` reads it. The names of the columns do not depend on case; ``from frame`` or
        ``from seconds`` (and ``to ...``) settle the unit.
    unit : "frames" or "seconds"
        Of columns that are called ``from`` and ``to`` only.
    problems : list, optional
        Gets what is wrong with single lines, which are then left out; without it they are refused, all at once.

    Raises
    ------
    ValueError
        When a column is missing or the two units differ.
    LabelError
        For lines with too few or too many fields, without clip or label, with something else than numbers, and for
        reversed ranges.
    """
    if unit not in UNITS:
        raise ValueError(f"unit: expected one of {', '.join(UNITS)}, got {unit!r}")
    header, names, found, rows = None, [], [], []
    for line, fields in csv_rows(path):
        if header is None:
            header, names, unit = fields, *_header(path, fields, unit)
            continue
        row = _row(line, fields, names, unit)
        (found if isinstance(row, Problem) else rows).append(row)
    if header is None:
        raise ValueError(f"{path}: expected a first line with the columns clip, from, to and label, found nothing")
    if problems is None and found:
        raise LabelError(str(path), found)
    if problems is not None:
        problems += found
    return tuple(rows)


def rows_of(table: str | Path | Iterable[Row], unit: str, problems: list[Problem]) -> tuple[Row, ...]:
    """Rows as they are, or read from a path."""
    return read_labels(table, unit=unit, problems=problems) if isinstance(table, (str, Path)) else tuple(table)


def refuse_or_skip(table, problems: list[Problem], on_problem: str) -> None:
    """Raise LabelError unless problems are to be skipped."""
    if on_problem not in ("refuse", "skip"):
        raise ValueError(f"on_problem: expected refuse or skip, got {on_problem!r}")
    if problems and on_problem == "refuse":
        raise LabelError(str(table) if isinstance(table, (str, Path)) else "table", problems)


def rows_of_takes(takes: Iterable[Take]) -> tuple[Row, ...]:
    """Takes as rows of a table in frames, numbered as `write_labels` writes them."""
    return tuple(
        Row(line, take.clip, take.start, take.stop - 1, take.label, "frames", take.subject, take.take)
        for line, take in enumerate(takes, start=2)
    )


def write_labels(path: str | Path, takes: Iterable[Take], confidences: Iterable[float] | None = None) -> Path:
    """Write takes as a table that `read_labels` reads, with a column ``confidence`` where there are some."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    takes = tuple(takes)
    sure = None if confidences is None else tuple(confidences)
    more = () if sure is None else ("confidence",)
    writer.writerow(("clip", "from frame", "to frame", "label", "subject", "take", *more))
    for number, take in enumerate(takes):
        last = () if sure is None else (f"{sure[number]:.3f}",)
        writer.writerow((take.clip, take.start, take.stop - 1, take.label, take.subject, take.take, *last))
    return write_whole(path, out.getvalue())


def _header(path, fields: list[str], unit: str) -> tuple[list[str], str]:
    """What each column holds ("" for others), and the unit."""
    known = [_COLUMNS.get(re.sub(r"[^a-z]+", " ", field.lower()).strip(), ("", None)) for field in fields]
    names = [name for name, _ in known]
    missing = [name for name in ("clip", "from", "to", "label") if names.count(name) != 1]
    if missing:
        raise ValueError(
            f"{path}: expected one column each of clip, from, to and label, got "
            f"{', '.join(fields)}; missing or there twice: {', '.join(missing)}"
        )
    stated = {said for _, said in known if said}
    if len(stated) > 1:
        raise ValueError(f"{path}: expected one unit, got from and to in {' and '.join(sorted(stated))}")
    return names, (stated.pop() if stated else unit)


def _row(line: int, fields: list[str], names: list[str], unit: str) -> Row | Problem:
    if len(fields) != len(names):
        return Problem(line, f"expected {len(names)} fields, got {len(fields)}")
    said = {name: field for name, field in zip(names, fields, strict=True) if name}
    if empty := [name for name in ("clip", "label") if not said[name]]:
        return Problem(line, f"no {' and no '.join(empty)}; fill it in or delete the line")
    numbers = []
    for name in ("from", "to"):
        try:
            number = float(said[name])
        except ValueError:
            number = math.nan
        whole = unit == "seconds" or number == math.floor(number) if math.isfinite(number) else False
        if not whole:
            wanted = "a number of seconds" if unit == "seconds" else "a whole frame number"
            return Problem(line, f"expected {wanted} in {name!r}, got {said[name]!r}")
        numbers.append(number)
    if numbers[1] < numbers[0]:
        return Problem(line, f"ends before it starts: {said['from']} to {said['to']}")
    return Row(line, said["clip"], *numbers, said["label"], unit, said.get("subject", ""), said.get("take", ""))
