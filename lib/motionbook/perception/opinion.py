"""Mean opinion scores of a rating study."""

import numpy as np

LOWEST, HIGHEST = 1, 5


def read_ratings(path):
    """Ratings as a data frame: ``participant``, ``stimulus``, ``score`` and others.

    Scores run from 1, imperceptible, to 5, very annoying (4DHumanQA, section V), against the ITU scale's direction.

    Raises
    ------
    ValueError
        Naming the file, and the column or line that is wrong.
    """
    import pandas as pd

    frame = pd.read_csv(path, dtype={"participant": str, "stimulus": str})
    missing = [name for name in ("participant", "stimulus", "score") if name not in frame]
    if missing:
        raise ValueError(f"{path}: no column {', '.join(missing)}; it has {', '.join(frame.columns)}")
    wrong = ~pd.to_numeric(frame.score, errors="coerce").between(LOWEST, HIGHEST)
    if wrong.any():
        raise ValueError(f"{path}, line {frame.index[wrong][0] + 2}: score must lie in {LOWEST}..{HIGHEST}")
    twice = frame.duplicated(["participant", "stimulus"])
    if twice.any():
        raise ValueError(f"{path}, line {frame.index[twice][0] + 2}: this participant rated this stimulus before")
    return frame


def mos(ratings):
    """Mean opinion score of every stimulus (4DHumanQA, Eq. 12) with a 95 % interval.

    Returns
    -------
    pandas.DataFrame
        By stimulus, sorted: ``n``, ``mos``, ``sd`` (n - 1), ``ci95`` (half width from Student's t).
    """
    from scipy import stats

    groups = ratings.groupby("stimulus", sort=True).score
    frame = groups.agg(n="count", mos="mean", sd="std")
    frame["ci95"] = stats.t.ppf(0.975, frame.n - 1) * frame.sd / np.sqrt(frame.n)
    return frame
