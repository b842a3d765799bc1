"""How much better one system is than another, and how sure that is: differences with subject-bootstrap intervals.

The windows of one person are alike, so people are drawn, never windows: an interval says what another group of people
of the same kind could have given.
"""

import numpy as np

# columns of ``evaluation.window_scores`` whose sums make a metric: numerator and denominator (None: number of windows)
_TERMS = {"L2P": ("l2p", None), "L2Q": ("l2q", None), "NPSS": ("npss_distance", "npss_power")}


def compare(scores, system: str, against: str, metric: str = "L2P", *, draws: int = 2000, seed: int = 0):
    """The difference between two systems at every length, over all windows of all folds.

    Parameters
    ----------
    scores : pandas.DataFrame
        From ``evaluation.window_scores``.
    system, against : str
    metric : "L2P", "L2Q" or "NPSS"
    draws : int
        Of the bootstrap over people: as many people as there are, with replacement, all their windows with them.
    seed : int

    Returns
    -------
    pandas.DataFrame
        A row per length: value and against (window-weighted means over all folds), difference (in % of the second;
        negative is better), low and high (its 95 % interval), n_windows, n_subjects. ``attrs`` says what was compared.

    Notes
    -----
    Percentile interval. Both systems are drawn with the same people, so that what is common to a person cancels.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = []
    for length, people in _people(scores, system, against, metric).groupby("length", sort=True):
        parts = people[["upper", "lower", "against_upper", "against_lower"]].to_numpy()
        drawn = rng.integers(len(parts), size=(draws, len(parts)))
        low, high = np.percentile(_difference(parts[drawn].sum(axis=1)), [2.5, 97.5])
        upper, lower, other_upper, other_lower = whole = parts.sum(axis=0)
        counts = int(people.n_windows.sum()), len(people)
        rows.append((length, upper / lower, other_upper / other_lower, _difference(whole), low, high, *counts))
    columns = ["length", "value", "against", "difference", "low", "high", "n_windows", "n_subjects"]
    table = pd.DataFrame(rows, columns=columns).set_index("length")
    table.attrs = {"system": system, "against": against, "metric": metric, "draws": draws}
    return table


def compare_subjects(scores, system: str, against: str, metric: str = "L2P"):
    """The difference between two systems in % for every person, so that nobody disappears in the mean.

    Returns
    -------
    pandas.DataFrame
        A row per person: one column per length in frames, and n_windows.
    """
    people = _people(scores, system, against, metric)
    people["difference"] = _difference(people[["upper", "lower", "against_upper", "against_lower"]].to_numpy())
    table = people.reset_index().pivot(index="subject", columns="length", values="difference")
    table["n_windows"] = people.groupby("subject").n_windows.max()
    table.columns.name = None
    return table


def _people(scores, system: str, against: str, metric: str):
    """Sums by length and person for both systems."""
    if metric not in _TERMS:
        raise KeyError(f"no metric {metric!r}; there are {', '.join(_TERMS)}")
    known = list(dict.fromkeys(scores["system"]))
    if missing := [name for name in (system, against) if name not in known]:
        raise KeyError(f"no system {missing[0]!r}; there are {', '.join(known)}")
    upper, lower = _TERMS[metric]
    table = scores[["system", "length", "subject"]].assign(
        upper=scores[upper], lower=1.0 if lower is None else scores[lower], n_windows=1
    )
    sums = table.groupby(["system", "length", "subject"]).sum()
    other = sums.loc[against].drop(columns="n_windows").add_prefix("against_")
    return sums.loc[system].join(other)


def _difference(parts):
    """Per cent by which the first ratio differs from the second; ``parts`` is (..., 4)."""
    upper, lower, other_upper, other_lower = np.moveaxis(np.asarray(parts), -1, 0)
    return 100.0 * (upper / lower / (other_upper / other_lower) - 1.0)
