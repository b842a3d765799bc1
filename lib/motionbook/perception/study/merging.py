"""Exports of many people, from downloads and from the receiver, into the one table that the chapter reads."""

import csv
import io
import json
from pathlib import Path
from typing import NamedTuple

from motionbook.files import write_whole
from motionbook.perception.study.records import COLUMNS, PERSON, crc, is_check, problem, row_checksum


class Export(NamedTuple):
    """Rows of one file, people who withdrew, and the place of a last line that was torn ("" for none)."""

    rows: list[dict]
    withdrawn: set[str]
    torn: str = ""


class Merged(NamedTuple):
    """What was merged: rows written, people, those who left or did not finish, and where torn lines were left out."""

    path: Path
    rows: int
    people: int
    repeated: int
    withdrawn: tuple[str, ...]
    unfinished: tuple[str, ...]
    failed_check: tuple[str, ...]
    torn: tuple[str, ...] = ()


def read_export(path: str | Path) -> Export:
    """Rows of one export (the page's CSV or JSON, or the receiver's .jsonl), and the people who withdrew.

    The receiver writes an answer with the end of its line, waits for the disk and only then acknowledges it. So a last
    line without an end that cannot be read is one that a stop cut short: its answer was never acknowledged, and the
    page keeps it and sends it again. It is left out and its place told. Anything else that cannot be read is an error,
    for an acknowledged answer would be missing.

    Raises
    ------
    ValueError
        Naming the file and the line for what cannot be read or whose checksum does not fit.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    if path.suffix == ".jsonl":
        return _received(path, path.read_bytes())
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text in UTF-8, as the page and the receiver write") from None
    if path.suffix == ".json":
        return Export(_downloaded(path, text), set())
    lines = list(csv.reader(io.StringIO(text.rstrip("\r\n"), newline="")))
    design = next((name for name, columns in COLUMNS.items() if lines and tuple(lines[0]) == columns), None)
    if design is None:
        raise ValueError(f"{path}: the first line is not that of an export of the study page")
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != len(lines[0]):
            raise ValueError(f"{path}, line {number}: expected {len(lines[0])} values, got {len(line)}")
    return Export([dict(zip(lines[0], line, strict=True)) for line in lines[1:]], set())


def _downloaded(path: Path, text: str) -> list[dict]:
    try:
        made = json.loads(text)
        rows, total = made["rows"], made["checksum"]
        if made["format"] != "motionbook-answers" or not all(isinstance(row, dict) for row in rows):
            raise KeyError("format")
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: not an export of the study page ({error})") from None
    if total != crc("\n".join(str(row.get("checksum")) for row in rows)):
        raise ValueError(f"{path}: the checksum of the file does not fit; a row is missing or was changed")
    return rows


def _received(path: Path, content: bytes) -> Export:
    rows, withdrawn = [], set()
    # by the byte that the receiver ends a line with: texts may hold other characters that Python, too, splits lines at
    *lines, rest = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate([*lines, rest] if rest.strip() else lines, start=1):
        try:
            message = json.loads(line.decode())
            if message["type"] == "withdraw":
                withdrawn.add(message["participant"])
            else:
                rows.append(message["row"])
        except (UnicodeDecodeError, json.JSONDecodeError):
            if number > len(lines):
                return Export(rows, withdrawn, f"{path}, line {number}")
            raise ValueError(
                f"{path}, line {number}: not a message of the receiver, and not a last line that a stop cut short; "
                "was the file edited?"
            ) from None
        except (KeyError, TypeError):
            raise ValueError(f"{path}, line {number}: not a message of the receiver") from None
    return Export(rows, withdrawn)


def merge_exports(files, out: str | Path, *, plan: dict | None = None) -> Merged:
    """One table of all answers: ``responses.csv`` for pairs, ratings (item, subject, score) for DSIS.

    An answer that comes in several files is written once. A last line of a receiver's file that a stop cut short is
    left out and named in ``torn``: it was never acknowledged. Answers of people who withdrew are left out; of those who
    did not finish, what they gave stays in a table of pairs, whose reader has its own rule for them. A table of
    ratings holds the scored trials only, of people who passed every attention check.

    Parameters
    ----------
    files : sequence of path
    out : path
    plan : dict, optional
        When given, every row is compared with its trial, and people who did not finish are named.

    Raises
    ------
    ValueError
        For no rows, rows of different plans, different rows under one id, checksums that do not fit.
    """
    rows, withdrawn, torn, origin, repeated = {}, set(), [], {}, 0
    hashes = {}
    for path in files:
        found, gone, place = read_export(path)
        withdrawn |= gone
        torn += [place] if place else []
        for row in found:
            design = "pairs" if "choice" in row else "dsis"
            if set(row) != set(COLUMNS[design]):
                raise ValueError(f"{path}: a row has other columns than the study page writes")
            if not all(isinstance(value, str) for value in row.values()):
                raise ValueError(f"{path}: a row holds values that are no texts, as the study page writes none")
            if row["checksum"] != row_checksum(row, design):
                raise ValueError(f"{path}: the checksum of answer {row['answerID']} does not fit; the row was changed")
            hashes.setdefault((row["plan"], design), path)
            if len(hashes) > 1:
                (a, first), (b, second) = ((key[0][:12], file) for key, file in hashes.items())
                raise ValueError(f"answers of two plans cannot be merged: {a} in {first}, {b} in {second}")
            known = rows.setdefault(row["answerID"], row)
            if known != row:
                raise ValueError(f"answer {row['answerID']} differs between {origin[row['answerID']]} and {path}")
            repeated += row["answerID"] in origin
            origin.setdefault(row["answerID"], path)
    if not rows:
        raise ValueError("no answers in the given files" + "".join(f"; {place} is torn" for place in torn))
    _, design = next(iter(hashes))
    person = PERSON[design]
    if plan is not None:
        wrong = [(row["answerID"], said) for row in rows.values() if (said := problem(row, plan))]
        if wrong:
            raise ValueError(f"answer {wrong[0][0]}: {wrong[0][1]} ({len(wrong)} such answers)")
    kept = [row for row in rows.values() if row[person] not in withdrawn]
    unfinished = _unfinished(kept, plan, person) if plan is not None else ()
    answer, expected = ("choice", "2") if design == "pairs" else ("score", "4")
    failed = sorted({row[person] for row in kept if is_check(row) and row[answer] != expected})
    people = len({row[person] for row in kept})
    if design == "dsis":
        kept = [row for row in kept if row["kind"] == "scored" and row[person] not in failed]
    kept.sort(key=lambda row: (row[person], int(row["responseCount"])))
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS[design], lineterminator="\n")
    writer.writeheader()
    writer.writerows(kept)
    path = write_whole(out, text.getvalue())
    lists = (tuple(sorted(withdrawn)), tuple(unfinished), tuple(failed), tuple(torn))
    return Merged(path, len(kept), people, repeated, *lists)


def _unfinished(rows, plan: dict, person: str) -> list[str]:
    given = {}
    for row in rows:
        given.setdefault(row[person], (int(row["slot"]), set()))[1].add(int(row["responseCount"]))
    names = []
    for name, (slot, counts) in sorted(given.items()):
        wanted = {trial["count"] for trial in plan["people"][slot]["trials"] if trial["count"] is not None}
        if counts != wanted:
            names.append(name)
    return names
