"""Rows of tables that people write by hand, as spreadsheet programs save them."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Problem(NamedTuple):
    """What is wrong with a line of a table."""

    line: int
    text: str


class TableError(ValueError):
    """Everything that is wrong with a table; ``problems`` holds it line by line."""

    def __init__(self, source: str, problems: Iterable[Problem]):
        self.problems = tuple(sorted(problems))
        count = f"{len(self.problems)} problem" + "s" * (len(self.problems) != 1)
        lines = "\n".join(f"  line {problem.line}: {problem.text}" for problem in self.problems)
        super().__init__(f"{source}: {count}\n{lines}")


def csv_rows(path: str | Path) -> list[tuple[int, list[str]]]:
    """The rows of a CSV file with the number of their line, fields without blanks around them.

    Commas, semicolons and tabs separate, whichever the first row has most of; UTF-8 with or without its mark, and
    UTF-16 with it; any line ends. Empty rows, rows that begin with # and Excel's first line ``sep=;`` are left out.

    Raises
    ------
    ValueError
        For another encoding, with the file and the line.
    """
    text = _text(Path(path))
    lines = text.splitlines(keepends=True)
    first = next((line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")), "")
    told = first[4] if first.lower().startswith("sep=") and len(first) == 5 else ""
    reader = csv.reader(lines, delimiter=told or max(",;\t", key=first.count))
    rows = []
    try:
        for fields in reader:
            fields = [field.strip() for field in fields]
            if any(fields) and not fields[0].startswith("#") and "".join(fields).lower() != "sep=":
                rows.append((reader.line_num, fields))
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: expected a CSV file, {error}") from None
    return rows


def _text(path: Path) -> str:
    raw = path.read_bytes()
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: expected text in UTF-8, got another encoding; save it as UTF-8"
        ) from None
