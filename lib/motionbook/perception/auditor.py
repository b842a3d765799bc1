"""Can a printed row of an analysis of variance be right? p and effect size follow from F and the degrees of freedom.

The rounding rule: a printed number stands for every value that rounds to it (half a unit of its last digit either way,
ends included; 0.000 for anything below 0.0005). From all F and degrees of freedom that the row stands for, the least
and the greatest p and partial eta squared are computed. A row fails where they miss what is printed.
"""

from collections import Counter
from collections.abc import Mapping
from itertools import product

import numpy as np

from motionbook.data.published import published_item, read_number

RULE = (
    "a printed number stands for all values that round to it, ends included; a row fails when no F and degrees of "
    "freedom it stands for give its p, its effect size, or error degrees of freedom that all rows share"
)
COLUMNS = {
    "F": ("F", "f"),
    "df1": ("df1", "num_df"),
    "df2": ("df2", "den_df"),
    "p": ("p", "p-value", "p_value"),
    "eta": ("eta_p^2", "pes", "eta", "np2"),
    "correction": ("correction",),
}


def published_rows(item: str = "quality4d_table1"):
    """A published table as a data frame of strings as printed (rows, columns); empty where nothing is printed."""
    import pandas as pd

    about = published_item(item)
    rows = [[about.cells[r, c].printed if (r, c) in about.cells else "" for c in about.columns] for r in about.rows]
    return pd.DataFrame(rows, index=pd.Index(about.rows, name="row"), columns=list(about.columns))


def audit_anova_rows(frame, *, error_df: float | str | None = "shared", columns: Mapping[str, str] | None = None):
    """Recompute p and partial eta squared of printed rows and say which rows cannot be right.

    Parameters
    ----------
    frame : data frame
        ``F``, ``df1``, ``df2``, and what is printed of ``p-value`` and ``eta_p^2``; best as printed strings, so that
        closing zeros count as digits (4.50 is not 4.5). Rows named "block: effect" are also compared between blocks.
    error_df : number, "shared" or None
        Subjects less between cells. In a mixed design df2 / df1 is that number in every row, corrected or not;
        "shared" takes the most frequent ratio, None leaves the rule out (for designs where error terms differ).
    columns : mapping, optional
        Names of F, df1, df2, p, eta and correction in ``frame`` where they are others.

    Returns
    -------
    pandas.DataFrame
        By row: ``F``, ``df1``, ``df2``, ``p``, ``eta`` as printed; ``p_low``, ``p_high``, ``eta_low``, ``eta_high``
        (least and greatest that the row allows); ``p_ok``, ``eta_ok``, ``df_ok`` (None where nothing is printed);
        ``F_of_p``, ``F_of_eta`` (the F that the printed p or effect size would need); ``copy_of`` (an earlier row of
        another block with the same effect and values); ``verdict``: "consistent", "impossible", or "copied". The rule
        and the error degrees of freedom are in ``.attrs``.
    """
    import pandas as pd
    from scipy.special import fdtri

    names = _named_columns(frame, columns)
    if not len(frame):
        raise ValueError("frame: expected printed rows, got none")
    printed = {key: [_text(v) for v in frame[name]] for key, name in names.items()}
    numbers = {
        key: [read_number(text) for text in printed[key]] for key in ("F", "df1", "df2", "p", "eta") if key in names
    }
    for key in ("F", "df1", "df2"):
        if None in numbers[key]:
            at = numbers[key].index(None)
            raise ValueError(f"{frame.index[at]}: {names[key]} must be a number, got {printed[key][at]!r}")
    for key in ("df1", "df2"):
        if wrong := [i for i, number in enumerate(numbers[key]) if number.value <= 0]:
            raise ValueError(f"{frame.index[wrong[0]]}: {names[key]} must be above 0, got {printed[key][wrong[0]]!r}")
    shared = _shared_df(numbers) if error_df == "shared" else error_df
    copies = _copies(list(map(str, frame.index)), printed)
    records = []
    for i in range(len(frame)):
        f, df1, df2 = (numbers[key][i] for key in ("F", "df1", "df2"))
        p, eta = (numbers[key][i] if key in numbers else None for key in ("p", "eta"))
        corners = np.array(list(product(_ends(f, 0.0), _ends(df1, 1e-6, exact=True), _ends(df2, 1e-6, exact=True)))).T
        p_range, eta_range = _p_values(*corners), corners[0] * corners[1] / (corners[0] * corners[1] + corners[2])
        p_ok, eta_ok = _meets(p, p_range), _meets(eta, eta_range)
        df_ok = None if shared is None else _meets_ratio(df1, df2, shared)
        f_of_p = fdtri(df1.value, df2.value, 1 - p.value) if p and 0 < p.value < 1 and not p.bound else np.nan
        f_of_eta = eta.value / (1 - eta.value) * df2.value / df1.value if eta and 0 < eta.value < 1 else np.nan
        wrong = False in (p_ok, eta_ok, df_ok)
        records.append(
            {
                **{key: printed[key][i] for key in ("F", "df1", "df2", "p", "eta") if key in printed},
                **{"p_low": p_range.min(), "p_high": p_range.max()},
                **{"eta_low": eta_range.min(), "eta_high": eta_range.max()},
                **{"p_ok": p_ok, "eta_ok": eta_ok, "df_ok": df_ok, "F_of_p": f_of_p, "F_of_eta": f_of_eta},
                "copy_of": copies[i],
                "verdict": "copied" if copies[i] else "impossible" if wrong else "consistent",
            }
        )
    out = pd.DataFrame(records, index=frame.index)
    out.attrs = {"rule": RULE, "error_df": shared}
    return out


def audit_sphericity(frame, between=("Motion Type", "Gender"), *, columns: Mapping[str, str] | None = None):
    """Rows left without a correction although another row of their stratum has one, and their p with its epsilon.

    All crossings of one within effect with between factors share an error term and so an epsilon. Rows are named
    "block: effect" with factors joined by " × "; epsilon is the corrected row's df2 over the uncorrected one's.

    Returns
    -------
    pandas.DataFrame
        By row: ``corrected_row``, ``epsilon``, ``p`` as printed, ``p_corrected`` recomputed.
    """
    import pandas as pd

    names = _named_columns(frame, columns)
    if "correction" not in names:
        raise ValueError("audit_sphericity: expected a column 'correction' that marks corrected rows")
    strata: dict[tuple, list] = {}
    for row in frame.index:
        block, _, effect = str(row).partition(": ")
        inside = frozenset(part.strip() for part in effect.split("×")) - set(between)
        strata.setdefault((block, inside), []).append(row)
    records = {}
    for rows in strata.values():
        marked = [row for row in rows if _text(frame.at[row, names["correction"]])]
        for row in rows:
            if not marked or row in marked:
                continue
            f, df1, df2 = (read_number(_text(frame.at[row, names[key]])).value for key in ("F", "df1", "df2"))
            epsilon = read_number(_text(frame.at[marked[0], names["df2"]])).value / df2
            corrected = float(_p_values(f, epsilon * df1, epsilon * df2))
            records[row] = (marked[0], epsilon, _text(frame.at[row, names["p"]]), corrected)
    columns_out = ["corrected_row", "epsilon", "p", "p_corrected"]
    return pd.DataFrame.from_dict(records, orient="index", columns=columns_out).rename_axis("row")


def _named_columns(frame, columns) -> dict[str, str]:
    given = dict(columns or {})
    names = {}
    for key, usual in COLUMNS.items():
        found = [given[key]] if key in given else [name for name in usual if name in frame]
        if found and found[0] in frame:
            names[key] = found[0]
        elif key in given or key in ("F", "df1", "df2"):
            raise ValueError(f"frame: no column {given.get(key, key)}; it has {', '.join(map(str, frame.columns))}")
    return names


def _text(value) -> str:
    return "" if value is None or (isinstance(value, float) and np.isnan(value)) else str(value).strip()


def _ends(number, least: float, exact: bool = False) -> tuple[float, float]:
    """Ends of what a printed number stands for; degrees of freedom printed as whole numbers are exact."""
    half = 0.0 if exact and number.half_unit >= 0.5 else number.half_unit
    return max(number.value - half, least), number.value + half


def _p_values(f, df1, df2):
    from scipy.special import fdtrc

    return fdtrc(df1, df2, f)


def _meets(number, values) -> bool | None:
    if number is None:
        return None
    low, high = number.value - number.half_unit, number.value + number.half_unit
    if number.bound == "below":
        low, high = -np.inf, number.value
    elif number.bound == "above":
        low, high = number.value, np.inf
    slack = 1e-12
    return bool(values.min() <= high + slack and values.max() >= low - slack)


def _shared_df(numbers) -> float:
    ratios = Counter(
        round(two.value / one.value, 6)
        for one, two in zip(numbers["df1"], numbers["df2"], strict=True)
        if one.value > 0
    )
    return ratios.most_common(1)[0][0]


def _meets_ratio(df1, df2, shared: float) -> bool:
    low, high = (shared * end for end in _ends(df1, 0.0, exact=True))
    least, most = _ends(df2, 0.0, exact=True)
    return bool(low <= most + 1e-9 and high >= least - 1e-9)


def _copies(names, printed) -> list[str]:
    """For each row the earlier row of another block with the same effect and every printed value the same, or ""."""
    seen: dict[tuple, str] = {}
    out = []
    for i, name in enumerate(names):
        _, colon, effect = name.partition(": ")
        key = (effect, *(printed[k][i] for k in sorted(printed)))
        out.append(seen.get(key, "") if colon else "")
        if colon:
            seen.setdefault(key, name)
    return out
