"""A table of scores as a designed experiment: who saw which cell, as a wide matrix, with what is missing said aloud."""

from itertools import combinations, product
from typing import NamedTuple

import numpy as np


class Design(NamedTuple):
    """Scores of a mixed design.

    ``scores`` (subjects, cells), cells in the order of the product of the within factors' levels, the last factor
    fastest; ``group`` (subjects,) is the row of ``groups``, the between cells, each a tuple of levels in the order of
    ``between``. ``within`` and ``between`` map a factor to its levels. ``dropped`` are subjects left out because a cell
    of theirs is empty; ``per_cell`` is the least and greatest number of scores that were averaged into one cell.
    """

    scores: np.ndarray
    group: np.ndarray
    groups: tuple[tuple, ...]
    within: dict[str, tuple]
    between: dict[str, tuple]
    subjects: tuple
    dropped: tuple
    per_cell: tuple[int, int]

    @property
    def cells(self) -> list[tuple]:
        """Levels of every within cell, in the order of the columns of ``scores``."""
        return list(product(*self.within.values()))

    @property
    def error_df(self) -> int:
        """Subjects less between cells."""
        return len(self.scores) - len(self.groups)


def read_design(data, dv: str, subject: str, within=(), between=(), *, missing: str = "error") -> Design:
    """The wide form of a long table with one score (or several, which are averaged) per subject and within cell.

    Parameters
    ----------
    data : data frame
    dv, subject : str
        Columns of the scores and of the people.
    within, between : str or sequence of str
        Columns of the factors that vary within and between subjects.
    missing : {"error", "drop"}
        What a subject without a score in some cell does: stop with an error, or be left out whole and be listed in
        ``dropped``.

    Raises
    ------
    ValueError
        A column or score is missing or wrong, a factor has one level or is in the wrong list, a between cell is empty.
    """
    import pandas as pd

    within, between = as_names(within), as_names(between)
    factors = [*within, *between]
    if absent := [name for name in (dv, subject, *factors) if name not in data]:
        raise ValueError(f"data: no column {', '.join(absent)}; it has {', '.join(map(str, data.columns))}")
    if len({dv, subject, *factors}) < 2 + len(factors):
        raise ValueError(f"dv, subject, within and between must be different columns, got {[dv, subject, *factors]}")
    if not factors:
        raise ValueError("expected at least one factor in within or between")
    if missing not in ("error", "drop"):
        raise ValueError(f"missing: expected 'error' or 'drop', got {missing!r}")
    if not len(data):
        raise ValueError("data: expected scores, got an empty table")
    if data[[subject, *factors]].isna().to_numpy().any():
        holes = [name for name in (subject, *factors) if data[name].isna().any()]
        raise ValueError(f"data: rows without a value in {', '.join(holes)}; fill them or leave those rows out")
    scores = pd.to_numeric(data[dv], errors="coerce").to_numpy(dtype=np.float64)
    if wrong := int((~np.isfinite(scores) & data[dv].notna().to_numpy()).sum()):
        raise ValueError(f"{dv}: expected finite numbers, got {wrong} that are not")
    codes, levels = {}, {}
    for name in (subject, *factors):
        codes[name], found = pd.factorize(data[name], sort=True)
        levels[name] = tuple(found.tolist() if hasattr(found, "tolist") else found)
        if name != subject and len(levels[name]) < 2:
            raise ValueError(f"{name}: a factor needs two levels, got only {levels[name][0]!r}; leave it out")
    people, who = len(levels[subject]), codes[subject]

    group_of = _between_codes(who, people, codes, levels, subject, between)
    sizes = [len(levels[name]) for name in within]
    cell = np.zeros(len(data), dtype=np.int64)
    for name, size in zip(within, sizes, strict=True):
        cell = cell * size + codes[name]
    width = int(np.prod(sizes, dtype=np.int64))
    place, given = who * width + cell, np.isfinite(scores)
    count = np.bincount(place[given], minlength=people * width).reshape(people, width)
    with np.errstate(invalid="ignore"):
        wide = np.bincount(place[given], scores[given], people * width).reshape(people, width) / count

    whole = (count > 0).all(1)
    gone = tuple(levels[subject][i] for i in np.flatnonzero(~whole))
    if gone and missing == "error":
        lacking = int((count[~whole] == 0).sum())
        raise ValueError(
            f"{len(gone)} of {people} subjects lack {lacking} of the scores that {width} within cells need: "
            f"{_some(gone)}; add the scores, or leave these subjects out with missing='drop'"
        )
    return _assemble(wide, whole, group_of, count, levels, within, between, subject, gone)


def _assemble(wide, whole, group_of, count, levels, within, between, subject, gone) -> Design:
    groups = tuple(product(*(levels[name] for name in between)))
    kept = np.bincount(group_of[whole], minlength=len(groups))
    if (kept == 0).any():
        empty = ["/".join(map(str, groups[i])) if groups[i] else "all" for i in np.flatnonzero(kept == 0)]
        raise ValueError(
            f"no complete subject in {_some(empty)} ({' x '.join(between) or 'all subjects'}): effects of such a "
            "design cannot be told apart; collect subjects there, or leave out a factor or a level"
        )
    if len(wide[whole]) <= len(groups):
        raise ValueError(f"expected more complete subjects than between cells ({len(groups)}), got {int(whole.sum())}")
    return Design(
        wide[whole],
        group_of[whole],
        groups,
        {name: levels[name] for name in within},
        {name: levels[name] for name in between},
        tuple(levels[subject][i] for i in np.flatnonzero(whole)),
        gone,
        (int(count[whole].min()), int(count[whole].max())),
    )


def subsets(names) -> list[tuple[str, ...]]:
    """All subsets by size, the empty one first: the order in which R lists the terms of a full model."""
    return [chosen for size in range(len(names) + 1) for chosen in combinations(tuple(names), size)]


def as_names(given) -> list[str]:
    """A list of column names from one name, several or none."""
    return [given] if isinstance(given, str) else list(given or ())


def _some(names, limit: int = 6) -> str:
    shown = ", ".join(map(str, names[:limit]))
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _between_codes(who, people, codes, levels, subject, between) -> np.ndarray:
    """Between cell of each subject; ValueError when a between factor changes within one."""
    total = np.zeros(people, dtype=np.int64)
    for name in between:
        own = np.zeros(people, dtype=np.int64)
        own[who] = codes[name]
        if (own[who] != codes[name]).any():
            first = levels[subject][who[np.flatnonzero(own[who] != codes[name])[0]]]
            raise ValueError(f"{name}: listed as between, but it changes within subject {first}; list it as within")
        total = total * len(levels[name]) + own
    return total
