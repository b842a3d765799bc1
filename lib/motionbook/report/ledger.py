"""What the papers print beside what the chapters computed: one line per number, one per table, figure and experiment.

The ledger walks ``data_manifests/published/index.yaml``, so that what nobody has reproduced is listed too. For each
item it looks for ``<out>/<chapter>/tables/<id>.csv`` (``figures/<id>.*`` for a figure) with the ``.json`` beside it,
and joins cell by cell. States follow from these files alone:

exact
    Not simulated, and every printed cell is there and rounds to the printed number. A figure: drawn from the paper's
    own data at the full budget.
reproduced on simulated data
    The data label says that people, motions or answers were simulated, whatever else is true.
reduced
    From recorded data, but other data than the paper's, a smaller budget, part of the cells, or other values.
missing
    No such artefact, or none of its printed cells.
"""

import csv
import json
import math
import re
from html import escape
from pathlib import Path
from typing import NamedTuple

from motionbook.data.published import Cell, Item, load_published, papers, read_number
from motionbook.files import sha256, write_whole

EXACT, SIMULATED, REDUCED, MISSING = STATES = ("exact", "reproduced on simulated data", "reduced", "missing")
LEDGER_MARK = "<!-- ledger -->"

_SIMULATED = re.compile(r"\b(synthe\w+|simulat\w+|embedded|procedural\w*|artificial|invented|stand-ins?|toy)\b", re.I)
_CELLS = (
    "id chapter kind row column unit published reproduced difference relative agrees data budget seed version state "
    "source note"
).split()
_ITEMS = "id title chapter kind state cells reproduced agreeing largest_relative data budget seed version note".split()


class Ledger(NamedTuple):
    """``cells``: one row per published number or figure. ``items``: one row per table, figure and experiment."""

    cells: object
    items: object


class _Artefact(NamedTuple):
    """A saved table or figure: its values as text by (row, column) key, and where they come from."""

    path: str
    values: dict
    data: str
    budget: str
    seed: str
    version: str
    note: str


def ledger(out: str | Path) -> Ledger:
    """Join the published values to the artefacts under ``out``.

    Parameters
    ----------
    out : folder of all results
        It may be empty or absent: everything is then missing.

    Returns
    -------
    Ledger
        Two pandas data frames. In ``cells``, ``published`` is text as printed and ``reproduced`` text as saved;
        ``difference`` is reproduced less published and ``relative`` its size over the published size, NaN for words and
        figures; ``agrees`` says whether the reproduced value rounds to the printed one. In ``items``,
        ``largest_relative`` is the largest ``relative`` of the item, p-values left out, whose ratios say nothing;
        ``cells`` counts printed cells only.
    """
    import pandas as pd

    out = Path(out)
    runs = _runs(out)
    rows = []
    for item in load_published().values():
        artefact, note = _find(out, item, runs)
        rows += _figure_rows(item, artefact, note) if item.kind == "figure" else _cell_rows(item, artefact, note)
    cells = pd.DataFrame(rows, columns=_CELLS)
    return Ledger(cells, _summary(cells))


def write_ledger(out: str | Path) -> Path:
    """Write ``<out>/ledger.csv``, the ``cells`` of the ledger, and return its path."""
    cells = ledger(out).cells
    return write_whole(Path(out) / "ledger.csv", cells.to_csv(index=False, float_format="%.6g", lineterminator="\n"))


def shown_state(entry) -> str:
    """The state of a row of ``items`` in words; "partly" with the counts when printed cells lack a counterpart."""
    if not 0 < entry.reproduced < entry.cells:
        return entry.state
    return f"{entry.state}, partly ({entry.reproduced} of {entry.cells} cells)"


def ledger_text(items) -> str:
    """``items`` as lines for a terminal: id, state with counts, largest difference."""
    rows = [("item", "state", "largest difference")]
    for entry in items.itertuples():
        rows.append((entry.id, shown_state(entry), _percent(entry.largest_relative)))
    wide = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{a:{wide[0]}}  {b:{wide[1]}}  {c}".rstrip() for a, b, c in rows)


def is_simulated(label: str) -> bool:
    """Whether a data label says that the data was simulated: "synthetic", "simulated", "embedded" or the like."""
    return bool(_SIMULATED.search(label))


def ledger_markdown(cells) -> str:
    """The ledger as Markdown with HTML tables: counts of states, a table of all items per paper, and every number.

    Parameters
    ----------
    cells : pandas.DataFrame
        ``ledger(out).cells``, or ``ledger.csv`` read back with ``dtype=str``.
    """
    cells = _as_text(cells)
    items = _summary(cells)
    counts = items.state.value_counts()
    shares = ", ".join(f"{counts.get(state, 0)} {state}" for state in STATES)
    partly = sum(0 < entry.reproduced < entry.cells for entry in items.itertuples())
    counted = f"Of {len(items)} tables, figures and in-text experiments: {shares}."
    parts = [f"{counted} Of those that are not missing, {partly} lack some of the printed numbers (*partly*)."]
    for paper in papers().values():
        mine = items[items.id.str.startswith(paper.key + "_")]
        parts += [f"## {paper.short}", _items_table(mine)]
        parts += [_details(entry, cells[cells.id == entry.id]) for entry in mine.itertuples()]
    return "\n\n".join(parts) + "\n"


def ledger_page(template: str, cells) -> str:
    """The text of the book's ledger page: ``template`` with its line ``<!-- ledger -->`` replaced by the tables."""
    if template.count(LEDGER_MARK) != 1:
        raise ValueError(f"template: expected one line {LEDGER_MARK}, got {template.count(LEDGER_MARK)}")
    return template.replace(LEDGER_MARK, ledger_markdown(cells).strip())


def _as_text(cells):
    """The frame with numbers in ``difference`` and ``relative`` and text, "" for nothing, elsewhere."""
    import pandas as pd

    numbers = ("difference", "relative")
    return pd.DataFrame(
        {
            name: pd.to_numeric(column) if name in numbers else column.astype(object).where(column.notna(), "").map(str)
            for name, column in cells.items()
        }
    )


def _runs(out: Path) -> dict[str, dict]:
    """The run records by chapter; unreadable ones are left out, their artefacts then carry no version."""
    records = {}
    for path in sorted((out / "runs").glob("*.json")):
        try:
            records[path.stem] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
    return records


def _find(out: Path, item: Item, runs: dict) -> tuple[_Artefact | None, str]:
    """The item's artefact, of its own chapter before any other, and why there is none or what is odd about it."""
    folder, suffixes = ("figures", (".svg", ".png", ".html")) if item.kind == "figure" else ("tables", (".csv",))
    found = [path for path in out.glob(f"*/{folder}/{item.id}.*") if path.suffix in suffixes]
    found.sort(
        key=lambda path: (path.parents[1].name != item.chapter, path.parents[1].name, suffixes.index(path.suffix))
    )
    if not found:
        return None, ""
    path = found[0]
    name = path.relative_to(out).as_posix()
    try:
        about = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        values = {} if item.kind == "figure" else _read_table(path, item)
        data, budget, seed = str(about["data"]), str(about["budget"]), str(about["seed"])
    except (OSError, ValueError, KeyError, IndexError, csv.Error) as error:
        return None, f"{name} cannot be used: {type(error).__name__} {error}"
    record = runs.get(path.parents[1].name, {})
    entry = next((entry for entry in record.get("artefacts", ()) if entry.get("path") == name), None)
    if entry is None:
        version, odd = "", "not of a finished run"
    elif entry.get("sha256") != sha256(path):
        version, odd = "", "changed after its run"
    else:
        commit = record.get("commit")
        version, odd = str(record.get("version", "")) + (f" ({commit})" if commit else ""), ""
    note = "; ".join(text for text in (about.get("note", ""), odd) if text)
    return _Artefact(name, values, data, budget, seed, version, note), note


def _read_table(path: Path, item: Item) -> dict[tuple[str, str], str]:
    """Cells as text by the keys of row and column names; the row names stand in the first or the second column."""
    with open(path, newline="", encoding="utf-8") as file:
        header, *lines = list(csv.reader(file))
    wanted = {_key(row) for row in item.rows}
    names = max((0, 1) if len(header) > 2 else (0,), key=lambda i: len(wanted & {_key(line[i]) for line in lines}))
    columns = [_key(name) for name in header]
    if len(item.columns) == 1 and len(header) == names + 2:
        columns[-1] = _key(item.columns[0])
    return {
        (_key(line[names]), column): value
        for line in lines
        for column, value in zip(columns, line, strict=True)
        if value.strip() and value.strip().lower() != "nan"
    }


def _key(name: str) -> str:
    """A name without what differs between typings: case, spaces, dashes, 1 or 1.0, and the order of "A - B"."""
    name = re.sub(r"\s+", " ", name.replace("×", "x").replace("–", "-").replace("−", "-")).strip().casefold()
    try:
        return f"{float(name):g}"
    except ValueError:
        return " - ".join(sorted(name.split(" - ")))


def _cell_rows(item: Item, artefact: _Artefact | None, note: str) -> list[dict]:
    rows = []
    if artefact and not any((_key(row), _key(column)) in artefact.values for row, column in item.cells):
        artefact, note = None, f"{artefact.path} holds none of the published rows and columns"
    for (row, column), cell in item.cells.items():
        text = artefact.values.get((_key(row), _key(column))) if artefact else None
        number = read_number(text) if text else None
        difference = relative = math.nan
        if number is not None and not math.isnan(cell.value):
            difference = number.value - cell.value
            relative = abs(difference / cell.value) if cell.value else math.nan
        agrees = text is not None and _agrees(cell, text)
        if text is None:
            state = MISSING
        else:
            state = SIMULATED if is_simulated(artefact.data) else EXACT if agrees else REDUCED
        unit = "" if cell.unit == "%" and "%" in cell.printed else cell.unit
        values = {"published": cell.printed, "reproduced": text or "", "difference": difference, "relative": relative}
        facts = _facts(artefact if text is not None else None, note)
        place = {"id": item.id, "chapter": item.chapter, "kind": item.kind, "row": row, "column": column, "unit": unit}
        rows.append({**place, **values, "agrees": agrees, "state": state, "source": cell.source, **facts})
    return rows


def _figure_rows(item: Item, artefact: _Artefact | None, note: str) -> list[dict]:
    if artefact is None:
        state = MISSING
    elif is_simulated(artefact.data):
        state = SIMULATED
    else:
        own = any(word.casefold() in artefact.data.casefold() for word in papers()[item.paper].data)
        state = EXACT if own and artefact.budget == "full" else REDUCED
    row = {"id": item.id, "chapter": item.chapter, "kind": item.kind, "row": "", "column": "", "unit": ""}
    row |= {"published": item.place, "reproduced": artefact.path if artefact else "", "difference": math.nan}
    row |= {"relative": math.nan, "agrees": state == EXACT, "state": state, "source": "paper"}
    return [{**row, **_facts(artefact, note)}]


def _facts(artefact: _Artefact | None, note: str) -> dict:
    if artefact is None:
        return {"data": "", "budget": "", "seed": "", "version": "", "note": note}
    return {name: getattr(artefact, name) for name in ("data", "budget", "seed", "version", "note")}


def _agrees(cell: Cell, text: str) -> bool:
    """Whether a saved value rounds to the printed one, keeps its bound, or, for words, has the same words."""
    number = read_number(text)
    if math.isnan(cell.value) or number is None:
        return _words(cell.printed) == _words(text)
    if cell.bound == "below":
        return number.value < cell.value
    if cell.bound == "above":
        return number.value > cell.value
    return abs(number.value - cell.value) <= cell.half_unit * (1 + 1e-9)


def _words(text: str) -> list[str]:
    """Words in any order: a list of subjects is a set. A truth value is yes or no."""
    same = {"true": "yes", "false": "no"}
    return sorted(same.get(word, word) for word in re.split(r"[\s,;]+", text.strip().casefold()))


def _summary(cells):
    import pandas as pd

    items = load_published()
    rows = []
    for name, group in cells.groupby("id", sort=False):
        printed = group[group.source == "paper"]
        there = printed[printed.state != MISSING]
        names = zip(there.row, there.column, strict=True)
        compared = there.relative[[not (_is_p_value(row) or _is_p_value(column)) for row, column in names]]
        agreeing = int((printed.agrees.astype(str) == "True").sum())
        if there.empty:
            state = MISSING
        elif (there.state == SIMULATED).any():
            state = SIMULATED
        else:
            state = EXACT if agreeing == len(printed) else REDUCED
        first = (there if len(there) else group).iloc[0]
        rows.append(
            {
                "id": name,
                "title": items[name].title,
                "chapter": first.chapter,
                "kind": first.kind,
                "state": state,
                "cells": len(printed),
                "reproduced": len(there),
                "agreeing": agreeing,
                "largest_relative": compared.max() if len(compared) else math.nan,
                **{fact: first[fact] for fact in ("data", "budget", "seed", "version", "note")},
            }
        )
    return pd.DataFrame(rows, columns=_ITEMS)


def _is_p_value(name: str) -> bool:
    return bool(re.search(r"(^|\s)p(-value)?$", name.strip()))


def _percent(relative: float) -> str:
    return "" if math.isnan(relative) else f"{100 * relative:.3g} %"


def _items_table(items) -> str:
    head = "Place,What,Chapter,State,Cells,Largest difference,Data,Budget,Seed,Version".split(",")
    published = load_published()
    body = []
    for entry in items.itertuples():
        largest = _percent(entry.largest_relative)
        count = f"{entry.reproduced} of {entry.cells}"
        place = re.split(r", (?=section|appendix|title|supplement)", published[entry.id].place, flags=re.I)[0]
        state = entry.state + (", partly" if 0 < entry.reproduced < entry.cells else "")
        row = [place, entry.title, entry.chapter, state, count, largest]
        body.append([*row, entry.data, entry.budget, entry.seed, entry.version])
    return _html_table(head, body, links=[f"#{name}" for name in items.id])


def _details(entry, cells) -> str:
    """Every number of one item in a part of the page that opens on a click, with the known slips below."""
    item = load_published()[entry.id]
    lines = [f"<summary>{escape(item.title)} (<code>{escape(item.id)}</code>): {escape(shown_state(entry))}</summary>"]
    lines.append(f"<p>{escape(item.place)}. {escape(item.description)} {escape(str(entry.note))}</p>")
    if item.kind != "figure":
        head = "Row,Column,Published,Reproduced,Difference,State".split(",")
        body = []
        for cell in cells.itertuples():
            published = f"{cell.published} {cell.unit}".strip()
            published += "" if cell.source == "paper" else " (authors' repository, not printed)"
            difference = "" if math.isnan(cell.difference) else f"{cell.difference:+.3g}"
            body.append([cell.row, cell.column, published, _shorten(cell.reproduced), difference, cell.state])
        lines.append(_html_table(head, body))
    for problem in item.problems:
        where = ", ".join(name for name in (problem.row, problem.column) if name)
        lines.append(f"<p>{escape(f'{where}: ' if where else '')}{escape(problem.note)}</p>")
    return "\n".join([f'<details id="{escape(item.id)}">', *lines, "</details>"])


def _shorten(text: str) -> str:
    number = read_number(text)
    return text if number is None or ":" in text or len(text) < 8 else f"{number.value:.5g}"


def _html_table(head: list[str], body: list[list[str]], links: list[str] | None = None) -> str:
    """A plain table without blank lines, which would end the HTML block in Markdown; the second cell may be a link."""
    lines = ['<div class="ledger-table" style="overflow-x: auto">', '<table class="table">', "<thead>"]
    lines += ["<tr>" + "".join(f"<th>{escape(name)}</th>" for name in head) + "</tr>", "</thead>", "<tbody>"]
    for number, row in enumerate(body):
        cells = [escape(str(value)) for value in row]
        if links:
            cells[1] = f'<a href="{escape(links[number])}">{cells[1]}</a>'
        lines.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    return "\n".join([*lines, "</tbody>", "</table>", "</div>"])
