"""Tables for the reader: ours with the best marked, the paper's beside it in grey, and what it was computed from."""

import hashlib
import math
import re
from collections.abc import Mapping
from html import escape

from motionbook.data.published import Item, published_item

# No colours: bold and transparency read the same in print, on white and in dark mode.
_STYLES = [
    {"selector": "caption", "props": "caption-side: bottom; text-align: left; font-size: 85%; padding-top: 0.4em"},
    {"selector": "th, td", "props": "padding: 0.25em 0.7em; white-space: nowrap"},
    {"selector": "td", "props": "text-align: right; font-variant-numeric: tabular-nums"},
    {"selector": "th.row_heading", "props": "text-align: left; font-weight: normal"},
    {"selector": "th.col_heading", "props": "text-align: right"},
    {"selector": "td.best .ours", "props": "font-weight: bold"},
    {"selector": ".published", "props": "opacity: 0.62; font-size: 85%; margin-left: 0.45em"},
]
# twelve pairs of numbers do not fit a page side by side, so wide tables put the published one below
_WIDE = [
    {"selector": "", "props": "font-size: 85%"},
    {"selector": "th, td", "props": "padding: 0.2em 0.4em; white-space: nowrap"},
    {"selector": ".published", "props": "display: block; margin-left: 0"},
]


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


def show_table(frame, item: str | None = None, *, note: str = "", better: Mapping[str, str] | None = None):
    """A styled table; with ``item``, the published values stand in grey beside ours.

    Numbers have as many decimals as the published column, else about four significant digits. The best value of a
    column (or row) is bold where a direction is known; reference rows do not compete, and rows compete only inside
    their block. Published rows that the frame lacks follow below, in grey only.

    Parameters
    ----------
    frame : pandas.DataFrame
        Indexed by row names. It is not changed.
    item : str, optional
        Id of the published table.
    note : str
        What the numbers were computed from and what a reader must know; the caption.
    better : mapping of a column to "lower" or "higher", optional
        For tables that the papers do not have; by default the published item's.

    Returns
    -------
    pandas.io.formats.style.Styler
        Renders as HTML, byte-identical for equal input.
    """
    import pandas as pd

    about = published_item(item) if item else None
    theirs = published_frame(item, printed=True) if about and about.cells else pd.DataFrame()
    rows = [*map(str, frame.index), *(row for row in theirs.index if row not in set(map(str, frame.index)))]
    ours = frame.set_axis(list(map(str, frame.index))).set_axis(list(map(str, frame.columns)), axis=1)
    if not (ours.index.is_unique and ours.columns.is_unique):
        raise ValueError("frame: expected unique row and column names; name every row of a table")
    columns = [*ours.columns, *(column for column in theirs.columns if column not in ours.columns)]
    decimals = {column: _decimals(ours[column], theirs.get(column)) for column in ours.columns}
    text = pd.DataFrame("", index=rows, columns=columns, dtype=object)
    for column in columns:
        for row in rows:
            mine = ours.at[row, column] if column in ours.columns and row in ours.index else None
            own = _number(mine, 0 if about and about.kind == "text" and _is_whole(mine) else decimals.get(column, 0))
            paper = theirs.at[row, column] if row in theirs.index and column in theirs.columns else ""
            text.at[row, column] = _cell_html(own, paper)
    marks = pd.DataFrame("", index=rows, columns=columns)
    for row, column in _best(ours, dict(better or (about.better if about else {})), about, decimals):
        marks.at[row, column] = "best"
    # as the name of the columns it stands in the corner; as the name of the index it would take a line of its own
    text.columns.name = marks.columns.name = frame.index.name
    caption = _caption(about, note, has_published=not theirs.empty)
    identity = hashlib.sha256(f"{item}{caption}{text.to_csv()}{marks.to_csv()}".encode()).hexdigest()[:12]
    styler = text.style.format(escape=None).set_uuid(identity).set_td_classes(marks)
    styler = styler.set_table_styles(_STYLES + (_WIDE if len(theirs.columns) > 5 else []))
    styler = styler.format_index(escape="html", axis=0).format_index(escape="html", axis=1)
    # "dataframe" is the class by which book themes recognise a table that follows their light and dark colours
    styler = styler.set_table_attributes('class="dataframe motionbook-table"')
    if isinstance(frame.index, pd.RangeIndex) and theirs.empty:
        styler = styler.hide(axis="index")
    return styler.set_caption(caption) if caption else styler


def _number(value, decimals: int) -> str:
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
    if number and abs(number) < 0.5 * 10.0**-decimals:
        return f"{number:.1e}"
    return f"{number:,.{decimals}f}" if abs(number) >= 10_000 else f"{number:.{decimals}f}"


def _decimals(column, printed) -> int:
    """The most decimals of the published column, else enough for four significant digits of its largest value."""
    if printed is not None:
        shown = [re.match(r"[<>]?\s*-?[\d,]*\.?(\d*)(?!\d|e)", text) for text in printed if text]
        if shown:
            return max((len(match[1]) for match in shown if match), default=0)
    numbers = [float(v) for v in column if isinstance(v, int | float) or hasattr(v, "dtype")]
    numbers = [abs(v) for v in numbers if math.isfinite(v)]
    if not numbers or all(v == round(v) for v in numbers):
        return 0
    return min(6, max(0, 3 - math.floor(math.log10(max(numbers)))))


def _cell_html(own: str, paper: str) -> str:
    if own == paper and not any(sign.isdigit() for sign in own):
        paper = ""  # words need not stand twice
    parts = [f'<span class="ours">{escape(own)}</span>'] if own else []
    parts += [f'<span class="published" title="published">{escape(paper)}</span>'] if paper else []
    return "".join(parts)


def _best(ours, better: Mapping[str, str], about: Item | None, decimals: Mapping[str, int]):
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
            values = {at: round(float(ours.at[at]), decimals[at[1]]) for at in places if _is_number(ours.at[at])}
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


def _is_whole(value) -> bool:
    # the columns of text items mix counts with measures, and a count reads oddly with decimals
    return _is_number(value) and float(value) == round(float(value))


def _caption(about: Item | None, note: str, has_published: bool) -> str:
    parts = [escape(note.strip())] if note.strip() else []
    if about and has_published:
        parts.append(f"Grey: as published ({escape(about.place)}).")
        parts += [
            f"{escape(', '.join(n for n in (p.row, p.column) if n))}: {escape(p.note)}" for p in about.problems if p.row
        ]
    return "<br>".join(parts)
