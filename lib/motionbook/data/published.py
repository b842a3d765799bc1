"""The numbers that the three papers print, as data.

``data_manifests/published/index.yaml`` lists every table and figure and every in-text experiment that a chapter
reproduces; ``<paper>.yaml`` holds their values as printed, so that a difference can be judged against the last printed
digit. Files are read without guessing types: ``0.900`` stays ``"0.900"``, from which the number is taken.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from motionbook.data.locations import manifests_folder

KINDS = ("table", "figure", "text")
_KEYS = {"place", "columns", "rows", "repository", "units", "better", "reference", "blocks", "problems", "description"}
_NUMBER = re.compile(
    r"(?P<bound>[<>]?)\s*(?P<number>[+-]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(?P<tail>%?\*?)", re.I
)
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,3}):(\d{2}(?:\.\d+)?)")


class Number(NamedTuple):
    """A printed number: its value, half a unit of its last printed place, and "above" or "below" for a bound."""

    value: float
    half_unit: float
    bound: str


class Cell(NamedTuple):
    """One published value.

    ``value`` is NaN for words (``printed`` then holds them). ``half_unit`` is the most by which a number that rounds to
    the printed one can differ. ``source`` is "paper", or "repository" for values that the authors' result files hold
    and the paper does not print.
    """

    value: float
    printed: str
    half_unit: float
    bound: str
    unit: str
    source: str


class Problem(NamedTuple):
    """A known slip or ambiguity; an empty row or column means all of them."""

    row: str
    column: str
    note: str


class Item(NamedTuple):
    """One table, figure or in-text experiment of a paper.

    ``cells`` maps (row, column) to a Cell; empty cells are absent. ``better`` maps a column (or a row) to "lower" or
    "higher"; rows in ``reference`` do not compete, and rows compete only inside their block of ``blocks``.
    """

    id: str
    paper: str
    kind: str
    chapter: str
    title: str
    place: str
    description: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    units: Mapping[str, str]
    better: Mapping[str, str]
    reference: tuple[str, ...]
    blocks: Mapping[str, tuple[str, ...]]
    problems: tuple[Problem, ...]


class Paper(NamedTuple):
    """A paper: key, title, short name, and the words by which a data label shows that it is the paper's own data."""

    key: str
    title: str
    short: str
    data: tuple[str, ...]


def read_number(text: str) -> Number | None:
    """The number in a printed string, None when it is words.

    Thousands commas, a sign, ``%``, a significance star, ``<`` and ``>`` are understood; ``h:mm:ss`` and ``m:ss`` are
    seconds. Percentages stay percentages. Half a unit of a clock time is one second, because such times are cut.

    >>> read_number("12,345"), read_number("1:30").value, read_number("<0.001*").bound
    (Number(value=12345.0, half_unit=0.5, bound=''), 90.0, 'below')
    """
    text = text.strip()
    clock = _CLOCK.fullmatch(text)
    if clock:
        hours, minutes, seconds = clock.groups()
        return Number(int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds), 1.0, "")
    match = _NUMBER.fullmatch(text)
    if not match:
        return None
    digits = match["number"].replace(",", "")
    mantissa, _, exponent = digits.lower().partition("e")
    places = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return Number(float(digits), 0.5 * 10.0**-places, {"<": "below", ">": "above", "": ""}[match["bound"]])


def load_published(folder: str | Path | None = None) -> Mapping[str, Item]:
    """All items in the order of the index, by id.

    Parameters
    ----------
    folder : path, optional
        Holds ``index.yaml`` and one file per paper; the library's own when left out.

    Raises
    ------
    ValueError
        With file and id: an item without an entry, an entry without an item, a row of the wrong length, an unknown key,
        or a note about a row or column that is not there.
    """
    return _load(Path(folder) if folder else manifests_folder() / "published")[1]


def papers(folder: str | Path | None = None) -> Mapping[str, Paper]:
    """The papers by key, in the order of the index."""
    return _load(Path(folder) if folder else manifests_folder() / "published")[0]


def published_item(item: str) -> Item:
    """One item by its id; KeyError names the ids of that paper."""
    items = load_published()
    if item not in items:
        near = [name for name in items if name.split("_")[0] == str(item).split("_")[0]] or list(items)
        raise KeyError(f"no published item {item!r}; there are {', '.join(near)}")
    return items[item]


@lru_cache(maxsize=8)
def _load(folder: Path) -> tuple[Mapping[str, Paper], Mapping[str, Item]]:
    index = _read(folder / "index.yaml")
    known = {
        key: Paper(key, about["title"], about["short"], tuple(about["data"])) for key, about in index["papers"].items()
    }
    files = {key: _read(folder / f"{key}.yaml") for key in known}
    items = {}
    for line in index["items"]:
        name = line["id"]
        paper = name.split("_")[0]
        if name in items:
            raise ValueError(f"index.yaml: {name} is listed twice")
        if paper not in known:
            raise ValueError(f"index.yaml: {name} belongs to no paper; ids begin with {', '.join(known)}")
        if line["kind"] not in KINDS:
            raise ValueError(f"index.yaml: {name} has kind {line['kind']!r}; expected one of {', '.join(KINDS)}")
        if name not in files[paper]:
            raise ValueError(f"{paper}.yaml: no entry for {name}, which index.yaml lists")
        items[name] = _item(line, paper, files[paper][name])
    strangers = [name for entries in files.values() for name in entries if name not in items]
    if strangers:
        raise ValueError(f"not in index.yaml: {', '.join(strangers)}")
    return known, items


def _read(path: Path) -> dict:
    import yaml

    with open(path, encoding="utf-8") as file:
        return yaml.load(file, Loader=yaml.BaseLoader)  # a BaseLoader makes nothing but strings, lists and dicts


def _item(line: dict, paper: str, entry: dict) -> Item:
    name = line["id"]
    unknown = set(entry) - _KEYS
    if unknown:
        raise ValueError(f"{paper}.yaml, {name}: unknown keys {', '.join(sorted(unknown))}; known: {sorted(_KEYS)}")
    columns = tuple(entry.get("columns", ()))
    units = entry.get("units", {})
    cells = {}
    for source in ("rows", "repository"):
        for row, values in entry.get(source, {}).items():
            values = values if isinstance(values, list) else [values]
            if len(values) != len(columns):
                raise ValueError(
                    f"{paper}.yaml, {name}, row {row!r}: expected {len(columns)} values, got {len(values)}"
                )
            for column, value in zip(columns, values, strict=True):
                if value in ("null", "~", ""):
                    continue
                if (row, column) in cells:
                    raise ValueError(f"{paper}.yaml, {name}: {row!r}, {column!r} stands under rows and repository")
                unit = units.get(column) or units.get(row, "")
                cells[row, column] = _cell(value, unit, "paper" if source == "rows" else source)
    rows = tuple(dict.fromkeys(row for source in ("rows", "repository") for row in entry.get(source, {})))
    problems = tuple(Problem(p.get("row", ""), p.get("column", ""), p["note"]) for p in entry.get("problems", ()))
    places = {"", *rows, *columns}
    named = [p.row for p in problems] + [p.column for p in problems] + list(units) + list(entry.get("better", {}))
    named += entry.get("reference", []) + [row for block in entry.get("blocks", {}).values() for row in block]
    lost = [place for place in named if place not in places]
    if lost:
        raise ValueError(f"{paper}.yaml, {name}: no row or column {', '.join(map(repr, lost))}")
    if line["kind"] == "figure" and not entry.get("description"):
        raise ValueError(f"{paper}.yaml, {name}: a figure needs a description")
    if line["kind"] != "figure" and not cells:
        raise ValueError(f"{paper}.yaml, {name}: no values")
    return Item(
        name,
        paper,
        line["kind"],
        line["chapter"],
        line["title"],
        entry["place"],
        entry.get("description", ""),
        columns,
        rows,
        cells,
        units,
        entry.get("better", {}),
        tuple(entry.get("reference", ())),
        {block: tuple(members) for block, members in entry.get("blocks", {}).items()},
        problems,
    )


def _cell(value, unit: str, source: str) -> Cell:
    """``value`` is the printed string, or {value: number, printed: what stands on the page, bound: above | below}."""
    about = value if isinstance(value, dict) else {"value": value}
    printed = about.get("printed", about["value"])
    number = read_number(about["value"])
    if number is None:
        return Cell(float("nan"), printed, 0.0, "", unit, source)
    unit = unit or ("%" if "%" in printed else "")
    return Cell(number.value, printed, number.half_unit, about.get("bound", number.bound), unit, source)
