"""Mean opinion scores of a rating study, on a scale whose range and direction travel with the scores.

In 4DHumanQA 1 is imperceptible and 5 very annoying; on the ITU's impairment scale it is the other way round. A table
keeps its ``Scale`` in ``attrs["scale"]`` and, in a file, in a column ``scale``; two directions are never mixed.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from motionbook.perception.tables import read_table

LOWEST, HIGHEST = 1, 5


class Scale(NamedTuple):
    """Range of a rating scale and the end at which quality is best ("low" or "high")."""

    low: float
    high: float
    best: str

    def __str__(self) -> str:
        return f"{self.low:g}..{self.high:g}, best {self.low if self.best == 'low' else self.high:g}"


IMPAIRMENT = Scale(1, 5, "low")  # 4DHumanQA, section V
ITU_IMPAIRMENT = Scale(1, 5, "high")
ITU_QUALITY = Scale(1, 5, "high")
SEVEN_POINTS = Scale(1, 7, "high")
HUNDRED = Scale(0, 100, "high")

_NUMBER = r"-?\d+(?:\.\d+)?"
SYNONYMS = {"participant": ("subject", "userID", "rater"), "stimulus": ("item", "clip"), "score": ("rating",)}


def as_scale(scale) -> Scale:
    """A scale from itself, from (low, high, best) or from its words, "1..5, best 1"; ValueError for anything else."""
    if isinstance(scale, str):
        match = re.fullmatch(rf"\s*({_NUMBER})\.\.({_NUMBER}), best ({_NUMBER})\s*", scale)
        if not match or float(match[3]) not in (float(match[1]), float(match[2])):
            raise ValueError(f"scale: expected words such as '1..5, best 1', got {scale!r}")
        scale = (float(match[1]), float(match[2]), "low" if float(match[3]) == float(match[1]) else "high")
    if len(scale) != 3:
        raise ValueError(f"scale: expected (low, high, 'low' or 'high', where quality is best), got {tuple(scale)}")
    scale = Scale(*scale)
    if not scale.low < scale.high or scale.best not in ("low", "high"):
        raise ValueError(f"scale: expected (low, high, 'low' or 'high'), low below high, got {tuple(scale)}")
    return scale


def read_ratings(path, *, columns: Mapping[str, str] | None = None, scale=None):
    """Ratings as a data frame: ``participant``, ``stimulus``, ``score`` and others.

    Parameters
    ----------
    path : path or data frame
        A CSV file or spreadsheet with one score per row; see ``tables.read_table``.
    columns : mapping, optional
        Names of these three in the file, {"participant": "who", ...}. Without it ``subject``, ``item`` and ``rating``
        are understood too.
    scale : Scale, (low, high, best) or words such as "0..100, best 100", optional
        By default what the file's column ``scale`` says; without one 4DHumanQA's, 1, imperceptible, to 5, very
        annoying.

    Raises
    ------
    ValueError
        Naming the file, and the column or line that is wrong.
    """
    import pandas as pd

    columns = dict(columns or {})
    if hasattr(path, "columns"):
        named, frame = "ratings", path.copy()
        lines = np.arange(len(frame)) + 2
    else:
        names = [n for name in ("participant", "stimulus") for n in (name, *SYNONYMS[name], columns.get(name, name))]
        named, frame = str(path), read_table(path, names)
        lines = frame.index.to_numpy() + 2
        frame = frame.replace("", np.nan).reset_index(drop=True)
    if unknown := set(columns) - set(SYNONYMS):
        raise ValueError(f"columns: expected names for {', '.join(SYNONYMS)}, got {', '.join(sorted(unknown))}")
    for name, others in SYNONYMS.items():
        present = [columns[name]] if name in columns else [n for n in (name, *others) if n in frame]
        if not present or present[0] not in frame:
            missing = columns.get(name, name)
            raise ValueError(
                f"{named}: no column {missing}; it has {', '.join(map(str, frame.columns))}; name yours with "
                f"columns={{'{name}': ...}}"
            )
        if present[0] != name:
            # a column that happens to carry the name but was not meant stands back
            frame = frame.drop(columns=[name], errors="ignore").rename(columns={present[0]: name})
    if not len(frame):
        raise ValueError(f"{named}: expected scores, got a table without rows")
    for name in ("participant", "stimulus"):
        empty = frame[name].isna() | (frame[name].astype(str).str.strip() == "")
        if empty.any():
            raise ValueError(f"{named}, line {lines[empty.to_numpy()][0]}: {name} must not be empty")
        frame[name] = frame[name].astype(str)
    said = _said_scale(frame, named)
    if scale is not None and said is not None and as_scale(scale) != said:
        raise ValueError(f"{named}: its scale is {said}, not {as_scale(scale)} as given")
    scale = said or (as_scale(scale) if scale is not None else IMPAIRMENT)
    score = pd.to_numeric(frame.score, errors="coerce")
    wrong = ~score.between(scale.low, scale.high)
    if wrong.any():
        line = lines[wrong.to_numpy()][0]
        raise ValueError(
            f"{named}, line {line}: score must lie in {scale.low:g}..{scale.high:g}; name another scale with "
            "scale=(low, high, best)"
        )
    frame["score"] = score
    twice = frame.duplicated(["participant", "stimulus"]).to_numpy()
    if twice.any():
        line = lines[twice][0]
        raise ValueError(f"{named}, line {line}: this participant rated this stimulus before")
    frame.attrs["scale"] = scale
    return frame


def _said_scale(frame, named: str) -> Scale | None:
    """The one scale that a table says it is on, in its column or its notes."""
    said = frame.attrs.get("scale")
    if "scale" not in frame:
        return said
    words = frame.scale.astype(str).unique()
    if len(words) != 1:
        raise ValueError(
            f"{named}: scores on different scales ({'; '.join(map(str, words[:3]))}) in one table; read each alone and "
            "turn one with perception.reversed_scale"
        )
    return as_scale(words[0])


def scale_of(ratings) -> Scale:
    """The scale a table of ratings or opinion scores is on; ValueError when it does not say, or says two."""
    scale = _said_scale(ratings, "ratings")
    if scale is None:
        raise ValueError("these scores do not say which scale they are on; use read_ratings(frame, scale=...)")
    return scale


def reversed_scale(ratings, column: str = "score"):
    """The same opinions counted from the other end of the scale: 1 becomes 5 and the best end changes sides."""
    scale = scale_of(ratings)
    turned = Scale(scale.low, scale.high, "high" if scale.best == "low" else "low")
    out = ratings.copy()
    out[column] = scale.low + scale.high - out[column]
    out.attrs["scale"] = turned
    if "scale" in out:
        out["scale"] = str(turned)
    return out


def combine_ratings(tables):
    """Ratings of several studies in one table; ValueError when they are on different scales or run in opposite ways."""
    import pandas as pd

    tables = list(tables)
    scale = same_scale(*tables)
    frame = pd.concat([pd.DataFrame(table) for table in tables], ignore_index=True)
    frame.attrs = {"scale": scale}
    return frame


def same_scale(*tables) -> Scale:
    """The scale that all tables share; ValueError naming the scales when they do not."""
    scales = list(dict.fromkeys(scale_of(table) for table in tables))
    if len(scales) != 1:
        raise ValueError(
            f"scores on different scales: {'; '.join(map(str, scales))}; turn one with perception.reversed_scale "
            "before they are pooled or compared"
        )
    return scales[0]


def mos(ratings, *, interval: str = "t", level: float = 0.95):
    """Mean opinion score of every stimulus (4DHumanQA, Eq. 12) with an interval.

    Parameters
    ----------
    ratings : data frame
        ``stimulus``, ``score``.
    interval : {"t", "normal"}
        Student's t, or the normal distribution that BT.500 uses (1.96 at 95 %), which is too narrow for few raters.
    level : float

    Returns
    -------
    pandas.DataFrame
        By stimulus, sorted: ``n``, ``mos``, ``sd`` (n - 1), ``ci95`` (half width; named so at any level). A stimulus
        with one score has no ``sd``. The scale, when known, is in ``.attrs["scale"]``.
    """
    from scipy import stats

    if interval not in ("t", "normal"):
        raise ValueError(f"interval: expected 't' or 'normal', got {interval!r}")
    groups = ratings.groupby("stimulus", sort=True).score
    frame = groups.agg(n="count", mos="mean", sd="std")
    upper = 0.5 + level / 2
    factor = stats.norm.ppf(upper) if interval == "normal" else stats.t.ppf(upper, frame.n - 1)
    frame["ci95"] = factor * frame.sd / np.sqrt(frame.n)
    if (scale := _said_scale(ratings, "ratings")) is not None:
        frame.attrs["scale"] = scale
    return frame


def score_matrix(ratings):
    """Scores as a data frame (stimuli, participants), both sorted, NaN where somebody did not rate."""
    table = ratings.pivot(index="stimulus", columns="participant", values="score").sort_index(axis=0).sort_index(axis=1)
    if (scale := _said_scale(ratings, "ratings")) is not None:
        table.attrs["scale"] = scale
    return table.astype(float)


def long_ratings(matrix, scale=None):
    """Ratings, one a row, from a data frame or array (stimuli, participants); NaN are left out."""
    import pandas as pd

    table = pd.DataFrame(matrix)
    scale = as_scale(scale) if scale is not None else table.attrs.get("scale", IMPAIRMENT)
    table.attrs = {}
    frame = table.rename_axis(index="stimulus", columns="participant").stack().dropna().rename("score").reset_index()
    return read_ratings(frame, scale=scale)


def join_stimuli(ratings, stimuli):
    """Ratings with the columns of a table of stimuli (its factors) beside them; ValueError for a stimulus not in it."""
    if "stimulus" not in stimuli:
        raise ValueError(f"stimuli: no column stimulus; it has {', '.join(map(str, stimuli.columns))}")
    if unknown := sorted(set(ratings.stimulus) - set(stimuli.stimulus)):
        raise ValueError(f"stimuli: {len(unknown)} that were rated are not in the table, such as {unknown[0]}")
    fresh = ["stimulus", *(name for name in stimuli.columns if name not in ratings)]
    out = ratings.merge(stimuli[fresh], on="stimulus", how="left", validate="many_to_one")
    out.attrs = dict(ratings.attrs)
    return out
