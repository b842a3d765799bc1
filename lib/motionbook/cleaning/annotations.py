"""Ranges of clips listed by hand as faulty: StayStill's removeParts.csv and tables like it.

Frames count from 0 and both ends of a range belong to it.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from motionbook.cleaning.fault_records import COLUMNS
from motionbook.csv_rows import Problem, TableError, csv_rows
from motionbook.data.names import staystill_name


class RangeError(ValueError):
    """A listed range that its clip does not have."""


class ListedRange(tuple):
    """(first, last), both inclusive, and ``where`` that stands, in words."""

    where: str

    def __new__(cls, ends: Iterable[int], where: str = ""):
        """A range of two frame numbers."""
        made = super().__new__(cls, ends)
        made.where = where
        return made


def read_annotations(path: str | Path) -> dict[tuple[str, str], list[ListedRange]]:
    """Ranges listed by hand: clip key (see `annotation_key`) -> ranges in the file's order.

    The file has the columns ``Animation name,From frame,To frame`` of the StayStill authors' removeParts.csv, in any
    case and order; further columns are not read. `motionbook.csv_rows.csv_rows` says which CSV files are read.

    Raises
    ------
    ValueError
        For a missing column.
    TableError
        With every line in which a frame is no whole number, the range is reversed or there is no name.
    """
    rows = csv_rows(path)
    header = [name.lower() for name in rows[0][1]] if rows else []
    missing = [column for column in COLUMNS if header.count(column.lower()) != 1]
    if missing:
        raise ValueError(
            f"{path}: expected one column each of {', '.join(COLUMNS)}, found none or two of {', '.join(missing)}"
        )
    found: dict[tuple[str, str], list[ListedRange]] = {}
    problems = []
    for line, fields in rows[1:]:
        if len(fields) < len(header):
            problems.append(Problem(line, f"expected {len(header)} fields, got {len(fields)}"))
            continue
        name, first, last = (fields[header.index(column.lower())] for column in COLUMNS)
        if not (first.isdecimal() and last.isdecimal()):
            problems.append(Problem(line, f"expected two frame numbers, got {first!r} and {last!r}"))
        elif int(last) < int(first):
            problems.append(Problem(line, f"the range ends before it starts: {first} to {last}"))
        elif not name:
            problems.append(Problem(line, f"expected the name of a clip in {COLUMNS[0]!r}, got nothing"))
        else:
            found.setdefault(annotation_key(name), []).append(
                ListedRange((int(first), int(last)), f"{path}, line {line}")
            )
    if problems:
        raise TableError(str(path), problems)
    return found


def clip_key(name: str) -> tuple[str, str]:
    """Subject and motion of a clip's name in either order: ``Idle_07`` and ``07_idle`` are both ("07", "idle").

    Numbers are compared as numbers, so that subject 1 is not found in 10 or 21; see `motionbook.data.names`. Folders
    before the name do not count.

    Raises
    ------
    ValueError
        When the name does not say who moves.
    """
    parts = staystill_name(_stem(name))
    if parts is None or not parts.subject:
        raise ValueError(f"name: expected a subject number at its start or end, e.g. 07_idle, got {name!r}")
    return parts.subject, "_".join(part for part in (parts.label, parts.take, parts.piece) if part)


def annotation_key(name: str) -> tuple[str, str]:
    """`clip_key`, or ("", the name in lower case) of a clip whose name does not say who moves."""
    try:
        return clip_key(name)
    except ValueError:
        return "", _stem(name).lower()


def _stem(name: str) -> str:
    return re.sub(r"\.(bvh|npz)$", "", re.split(r"[/\\]", name.strip())[-1], flags=re.IGNORECASE)


def unused_annotations(listed: Mapping[tuple[str, str], list], used: Iterable[tuple[str, str]]) -> list[str]:
    """Names of the clips that are listed and not among the keys ``used``."""
    return ["_".join(key).strip("_") for key in sorted(set(listed) - set(used))]
