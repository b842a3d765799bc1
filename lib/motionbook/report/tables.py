"""Tables for the reader: ours with the best marked, the paper's beside it in grey, and what it was computed from."""

import hashlib
import math
from collections.abc import Mapping
from html import escape

from motionbook.data.published import Item, published_item, read_number

# No colours: bold and transparency read the same in print, on white and in dark mode.
_STYLES = [
    {"selector": "", "props": "margin: 0"},
    {"selector": "th, td", "props": "padding: 0.25em 0.7em"},
    {"selector": "td", "props": "text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap"},
    {"selector": "td.words", "props": "text-align: left; white-space: normal; min-width: 5em"},
    {"selector": "td.long", "props": "white-space: normal; min-width: 9em"},
    {"selector": "th.row_heading, th.index_name", "props": "text-align: left; font-weight: normal; min-width: 6em"},
    {"selector": "th.col_heading", "props": "text-align: right; vertical-align: bottom"},
    {"selector": "td.best .ours", "props": "font-weight: bold"},
    {"selector": ".published", "props": "opacity: 0.62; font-size: 85%; margin-left: 0.45em"},
    {"selector": ".unit", "props": "opacity: 0.62; font-weight: normal; white-space: nowrap"},
]
# pairs of numbers side by side do not fit a page in wide tables, so those put the published one below
_WIDE = [
    {"selector": "", "props": "font-size: 88%"},
    {"selector": "th, td", "props": "padding: 0.2em 0.45em"},
    {"selector": ".published", "props": "display: block; margin-left: 0"},
]
_WIDEST = [
    {"selector": "", "props": "font-size: 80%"},
    {"selector": "th, td", "props": "padding: 0.2em 0.3em"},
    {"selector": "th.row_heading, th.index_name", "props": "min-width: 5em"},
]
_NOTE = "font-size: 85%; line-height: 1.45; margin: 0.4em 0 0; min-width: min(30em, 100%)"


class ShownTable:
    """A table with its note below, for Jupyter; the note takes the width of the page, not that of the table."""

    def __init__(self, html: str, shape: tuple[int, int]) -> None:
        self._html, self.shape = html, shape

    def to_html(self) -> str:
        """The same bytes for equal input."""
        return self._html

    _repr_html_ = to_html

    def __repr__(self) -> str:
        return f"table of {self.shape[0]} rows and {self.shape[1]} columns"


def published_frame(item: str, *, printed: bool = False, repository: bool = False):
    """A published table as a data frame: index the row names, columns as printed.

    Parameters
    ----------
    item : str
        Id of ``data_manifests/published/index.yaml``.
    printed : bool
        Values as the strings on the page; otherwise numbers, with clock times in seconds and percentages as percent.
    repository : bool
        Also values that the paper does not print and its authors' result files hold.

    Returns
    -------
    pandas.DataFrame
        Columns of numbers are float64, columns that hold words are objects. Empty cells are NaN ("" with ``printed``).

    Raises
    ------
    KeyError
        No such item, with the ids of that paper.
    ValueError
        A figure, which has no values.
    """
    import pandas as pd

    about = published_item(item)
    if not about.cells:
        raise ValueError(f"{item} is a {about.kind} without values: {about.description}")
    cells = {at: cell for at, cell in about.cells.items() if repository or cell.source == "paper"}
    rows = [row for row in about.rows if any(at[0] == row for at in cells)]
    columns = {}
    for column in about.columns:
        mine = [cells.get((row, column)) for row in rows]
        words = any(cell is not None and math.isnan(cell.value) for cell in mine)
        if printed or words:
            empty = "" if printed else None
            columns[column] = pd.Series([cell.printed if cell else empty for cell in mine], index=rows, dtype=object)
        else:
            columns[column] = pd.Series([cell.value if cell else math.nan for cell in mine], index=rows, dtype=float)
    return pd.DataFrame(columns, index=rows)


def show_table(
    frame,
    item: str | None = None,
    *,
    note: str = "",
    better: Mapping[str, str] | None = None,
    by_row: bool = False,
) -> ShownTable:
    """A styled table; with ``item``, the published values stand in grey beside ours.

    Every column has one number of decimals: that of the published column, else what three or four significant digits
    of its largest value need. Tables of facts (a column ``value``) and tables with ``by_row`` have it by row. Columns
    named ``metric@frames`` stand under one heading per metric. The best value of a column (or row) is bold where a
    direction is known; reference rows do not compete, and rows compete only inside their block. Published rows that
    the frame lacks follow below, in grey only; published columns that it lacks and mostly empty go to the note.

    Parameters
    ----------
    frame : pandas.DataFrame
        Indexed by row names. It is not changed.
    item : str, optional
        Id of the published table.
    note : str
        What the numbers were computed from and what a reader must know; stands below.
    better : mapping of a column to "lower" or "higher", optional
        For tables that the papers do not have; by default the published item's.
    by_row : bool
        Each row is a quantity of its own, with its own decimals.
    """
    import pandas as pd

    about = published_item(item) if item else None
    theirs = published_frame(item, printed=True) if about and about.cells else pd.DataFrame()
    rows = [*map(str, frame.index), *(row for row in theirs.index if row not in set(map(str, frame.index)))]
    ours = frame.set_axis(list(map(str, frame.index))).set_axis(list(map(str, frame.columns)), axis=1)
    if not (ours.index.is_unique and ours.columns.is_unique):
        raise ValueError("frame: expected unique row and column names; name every row of a table")
    columns = [*ours.columns, *(column for column in theirs.columns if column not in ours.columns)]
    columns = [c for c in columns if c in theirs.columns or not ours[c].isna().all()]
    aside = [c for c in theirs.columns if c not in ours.columns and (theirs[c] != "").mean() < 0.5]
    columns = [c for c in columns if c not in aside]
    decimals = _all_decimals(ours, theirs, by_row or "value" in columns)
    # a fact has no low and high, or nothing else: an empty cell says so more quietly than a dash
    sparse = {column for column in ours.columns if "value" in columns or ours[column].isna().mean() > 0.5}
    text, marks = (pd.DataFrame("", index=rows, columns=columns, dtype=object) for _ in range(2))
    for column in columns:
        for row in rows:
            mine = ours.at[row, column] if column in ours.columns and row in ours.index else None
            if column in sparse and pd.isna(mine):
                mine = None
            own = _number(mine, decimals.get((row, column), 0), _is_p(row) or _is_p(column))
            paper = theirs.at[row, column] if row in theirs.index and column in theirs.columns else ""
            if own and paper.endswith("%") and _is_number(mine):
                own += "%"
            text.at[row, column] = _cell_html(own, paper)
            if max(len(own), len(paper)) > 18:
                marks.at[row, column] = "long"
    for column in columns:
        if column in ours and column != "value" and ours[column].map(lambda v: isinstance(v, str)).any():
            marks[column] = "words"
    for row, column in _best(ours, dict(better or (about.better if about else {})), about, decimals):
        marks.at[row, column] = "best"
    units = _shown_units(about, ours, theirs)
    text.index = marks.index = [_with_unit(row, units) for row in rows]
    words = [i for i, column in enumerate(columns) if (marks[column] == "words").all()]
    text.columns = marks.columns = _headings(columns, units, frame.index.name)
    below = _note_html(about, note, has_published=not theirs.empty, aside=theirs[aside] if aside else None)
    identity = hashlib.sha256(f"{item}{below}{text.to_csv()}{marks.to_csv()}".encode()).hexdigest()[:12]
    styler = text.style.format(escape=None).set_uuid(identity).set_td_classes(marks)
    wide = len(theirs.columns) > 5 or len(columns) > 6
    more = [{"selector": f"th.col{i}", "props": "text-align: left"} for i in words] + _group_styles(text.columns)
    styler = styler.set_table_styles(_STYLES + _WIDE * wide + _WIDEST * (len(columns) > 8) + more)
    # "dataframe" is the class by which book themes recognise a table that follows their light and dark colours
    styler = styler.set_table_attributes('class="dataframe motionbook-table"')
    if isinstance(frame.index, pd.RangeIndex) and theirs.empty:
        styler = styler.hide(axis="index")
    table = f'<div class="motionbook-scroll" style="overflow-x: auto">{styler.to_html()}</div>'
    note_html = f'<p class="motionbook-note" style="{_NOTE}">{below}</p>' if below else ""
    return ShownTable(f'<div class="motionbook-shown" style="margin: 0.6em 0 1em">{table}{note_html}</div>', text.shape)


def _headings(columns: list[str], units: Mapping[str, str], corner: str | None):
    """Names of the columns, in two levels where all are ``metric@frames``; the corner names the rows."""
    import pandas as pd

    parts = [column.split("@") for column in columns]
    if len(columns) > 4 and all(len(part) == 2 and part[1].isdigit() for part in parts):
        return pd.MultiIndex.from_tuples([(escape(a), b) for a, b in parts], names=[corner, "frames"])
    # as the name of the columns it stands in the corner; as the name of the index it would take a line of its own
    return pd.Index([_with_unit(column, units) for column in columns], name=corner)


def _group_styles(columns) -> list[dict]:
    if columns.nlevels == 1:
        return []
    first = [i for i in range(len(columns)) if i == 0 or columns[i][0] != columns[i - 1][0]]
    line = ", ".join(f"td.col{i}, th.level1.col{i}, th.level0.col{i}" for i in first)
    return [
        {"selector": "th.level0.col_heading", "props": "text-align: center"},
        {"selector": line, "props": "border-left: 1px solid #9aa2ac; padding-left: 0.6em"},
    ]


def _with_unit(name: str, units: Mapping[str, str]) -> str:
    return escape(name) + (
        f' <span class="unit">[{escape(units[name].replace("^2", "²"))}]</span>' if name in units else ""
    )


def _shown_units(about: Item | None, ours, theirs) -> dict[str, str]:
    """Units of rows and columns of numbers whose name does not say them already; clock times say theirs."""
    shown = {}
    for name, unit in (about.units if about else {}).items():
        if name in theirs.columns:
            values = [*(ours[name] if name in ours.columns else []), *theirs[name]]
        else:
            values = [
                *(ours.loc[name] if name in ours.index else []),
                *(theirs.loc[name] if name in theirs.index else []),
            ]
        printed = [str(value) for value in values if isinstance(value, str)]
        named = unit.lower() in name.lower().split() or any(" " in text or ":" in text for text in printed)
        if not named and "[" not in name:
            shown[name] = unit
    return shown


def _is_p(name: str) -> bool:
    return name.split()[-1:] in (["p"], ["p-value"])


def _number(value, decimals: int, is_p: bool = False) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    if isinstance(value, bool) or str(value) in ("True", "False"):
        return "yes" if value else "no"
    if not math.isfinite(number):
        return "–" if math.isnan(number) else str(number)
    if decimals < 0:
        return f"{number:.1e}" if number else "0"
    if abs(number) < 0.5 * 10.0**-decimals:
        return f"<{10.0**-decimals:.{decimals}f}" if is_p and number else "0"
    return f"{number:,.{decimals}f}" if abs(number) >= 10_000 else f"{number:.{decimals}f}"


def _all_decimals(ours, theirs, by_row: bool) -> dict[tuple[str, str], int]:
    """Decimals of every cell of ours; one number for each column, or for each row."""
    significant = 3 if by_row or len(ours.columns) > 7 else 4
    found = {}
    for name in ours.index if by_row else ours.columns:
        cells = ours.loc[name] if by_row else ours[name]
        if by_row:
            printed = theirs.loc[name] if name in theirs.index else None
        else:
            printed = theirs[name] if name in theirs.columns else None
        count = min(_decimals(cells, printed, significant), 4 if _is_p(name) else 6)
        found |= {((name, other) if by_row else (other, name)): count for other in cells.index}
    return found


def _decimals(cells, printed, significant: int = 4) -> int:
    """The most decimals of the published cells, else what the significant digits of the largest value need.

    Never more than the values have; -1 stands for powers of ten.
    """
    numbers = [float(v) for v in cells if _is_number(v)]
    if not numbers or all(v == round(v) for v in numbers):
        return 0
    shown = [read_number(text) for text in ([] if printed is None else printed) if text]
    if any(shown):
        return min(6, max(0, *(round(-math.log10(2 * n.half_unit)) for n in shown if n), 0))
    largest = max(map(abs, numbers))
    if largest < 1e-6:
        return -1
    most = min(6, max(0, significant - 1 - math.floor(math.log10(largest))))
    return next((d for d in range(most) if all(abs(v - round(v, d)) < 1e-9 for v in numbers)), most)


def _cell_html(own: str, paper: str) -> str:
    if own == paper and not any(sign.isdigit() for sign in own):
        paper = ""  # words need not stand twice
    parts = [f'<span class="ours">{escape(own)}</span>'] if own else []
    parts += [f'<span class="published" title="published">{escape(paper)}</span>'] if paper else []
    return " ".join(parts)


def _best(ours, better: Mapping[str, str], about: Item | None, decimals: Mapping[tuple[str, str], int]):
    """Places of the best values, ties at the shown precision included."""
    reference = set(about.reference) if about else set()
    blocks = list(about.blocks.values()) if about and about.blocks else [tuple(ours.index)]
    for name, direction in better.items():
        if direction not in ("lower", "higher"):
            raise ValueError(f"better: expected lower or higher for {name!r}, got {direction!r}")
        if name in ours.columns:
            runs = [[(row, name) for row in block if row in ours.index and row not in reference] for block in blocks]
        elif name in ours.index:
            runs = [[(name, column) for column in ours.columns]]
        else:
            continue
        for places in runs:
            values = {at: _rounded(ours.at[at], decimals[at]) for at in places if _is_number(ours.at[at])}
            if len(values) > 1:
                top = min(values.values()) if direction == "lower" else max(values.values())
                yield from (at for at, value in values.items() if value == top)


def _is_number(value) -> bool:
    if isinstance(value, str) or value is None:
        return False
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def _rounded(value, decimals: int) -> float:
    return float(f"{float(value):.1e}") if decimals < 0 else round(float(value), decimals)


def _note_html(about: Item | None, note: str, has_published: bool, aside=None) -> str:
    parts = [escape(note.strip())] if note.strip() else []
    if about and has_published:
        parts.append(f"Grey: as published ({escape(about.place)}).")
        for row, cells in aside.iterrows() if aside is not None else ():
            values = ", ".join(f"{name} {text}" for name, text in cells.items() if text)
            parts += [f"Published besides, {escape(row)}: {escape(values)}."] if values else []
        parts += [
            f"{escape(', '.join(n for n in (p.row, p.column) if n))}: {escape(p.note)}" for p in about.problems if p.row
        ]
    return "<br>".join(parts)
