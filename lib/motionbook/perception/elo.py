"""Bradley-Terry strengths on the Elo scale from graded pairwise answers, with a bootstrap over people or clips.

StayStill, section 4.3.3: a tie gives one win to either side, a slight preference two, a clear one four; strengths are
fitted by maximum likelihood and put on a scale of base 10, 400 points, mean 1000 over the systems.
"""

import numpy as np

from motionbook.perception.connectivity import is_connected, pseudo_wins, require_connected
from motionbook.perception.votes import (
    CENTRE,
    SCALE,
    WEIGHTS,
    shown_pairs,
    systems_of,
    total_wins,
    votes_of,
    weighted_pairs,
    win_table,
)

__all__ = [
    "CENTRE",
    "SCALE",
    "WEIGHTS",
    "bootstrap_elo",
    "elo_from_wins",
    "fit_elo",
    "is_connected",
    "pair_differences",
    "systems_of",
    "win_rate_from_wins",
]

# numbers per temporary array: small enough to stay in the processor's cache, and a bound on memory
_CHUNK = 2**18


def elo_from_wins(wins, *, start=None, tolerance: float = 1e-9, steps: int = 100) -> np.ndarray:
    """Elo scores (..., systems) of weighted win matrices (..., systems, systems), all matrices at once by Newton steps.

    Matrices whose systems are not connected give NaN.

    Parameters
    ----------
    wins : (..., systems, systems) array
        Weighted wins, row over column.
    start : (systems,) array, optional
        Elo scores to start from; near the answer they save steps and change nothing else.
    tolerance : float
        Logits; the error left after a last step this small is of the order of its square.

    Raises
    ------
    RuntimeError
        When the steps do not settle, with their number and the last change.
    """
    wins = np.asarray(wins, dtype=np.float64)
    count = wins.shape[-1]
    flat = wins.reshape(-1, count, count)
    first = np.zeros(count) if start is None else (np.asarray(start, dtype=np.float64) - CENTRE) / SCALE
    size = max(1, _CHUNK // count**2)
    parts = [_newton(flat[i : i + size], first, tolerance, steps) for i in range(0, len(flat), size)]
    strength = np.concatenate(parts) if parts else np.empty((0, count))
    return (CENTRE + SCALE * strength).reshape(wins.shape[:-1])


def _newton(wins, first, tolerance, steps) -> np.ndarray:
    """Centred strengths (matrices, systems) in logits, NaN where the systems are not connected."""
    count = wins.shape[-1]
    connected = is_connected(wins)
    # a stand-in keeps the batch rectangular; its result is thrown away below
    safe = np.where(connected[:, None, None], wins, 1.0 - np.eye(count))
    total = safe + np.swapaxes(safe, -1, -2)
    won = safe.sum(-1)
    strength = np.tile(first, (len(wins), 1))
    diagonal = np.arange(count)
    for _ in range(steps):
        expected = strength[:, None, :] - strength[:, :, None]
        np.exp(expected, out=expected)
        expected += 1.0
        np.divide(1.0, expected, out=expected)
        likely = total * expected
        gradient = won - likely.sum(-1)
        hessian = likely * expected
        # curvature n p (1 - p), its sign turned: off the diagonal the Hessian's entries are negative
        hessian -= likely
        hessian[:, diagonal, diagonal] -= hessian.sum(-1)
        # the likelihood does not fix the mean; a constant matrix pins it without touching differences
        hessian += 1.0 / count
        change = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        # far from the maximum a full step overshoots, two logits is the most that is safe
        np.clip(change, -2.0, 2.0, out=change)
        strength += change
        if np.abs(change).max(initial=0.0) < tolerance:
            break
    else:
        raise RuntimeError(f"elo_from_wins: {steps} Newton steps, last change {np.abs(change).max():.3g} logits")
    strength -= strength.mean(-1, keepdims=True)
    return np.where(connected[:, None], strength, np.nan)


def win_rate_from_wins(wins) -> np.ndarray:
    """Share of its weighted comparisons that a system wins (..., systems), ties split."""
    won, lost = np.asarray(wins).sum(-1), np.asarray(wins).sum(-2)
    with np.errstate(invalid="ignore"):
        return won / (won + lost)


def fit_elo(responses, *, weights=WEIGHTS, pseudo: float = 0.0):
    """Elo and win rate of every system.

    Parameters
    ----------
    responses : data frame
        Scored answers (``exclude(...).answers``): userID, left, right, choice.
    weights : dict
        Weight of each grade of preference, 0 for a tie; default the published 1, 2, 4.
    pseudo : float
        Wins added to either side of every pair that was shown, for answers that do not connect all systems; it pulls
        scores together and is to be reported where it is used.

    Returns
    -------
    pandas.DataFrame
        By system, best first: ``appearances``, ``elo``, ``win_rate`` (without the pseudo-count).

    Raises
    ------
    ValueError
        When the answers do not connect all systems, naming those that never lose, never win or never meet the others.
    """
    import pandas as pd

    votes = votes_of(responses, weights)
    wins, shown = total_wins(votes, weights), shown_pairs(votes)
    padded = wins + pseudo_wins(shown, pseudo)
    require_connected(responses, padded, weights)
    frame = pd.DataFrame(
        {
            "appearances": shown.sum(0) + shown.sum(1),
            "elo": elo_from_wins(padded),
            "win_rate": win_rate_from_wins(wins),
        },
        index=pd.Index(votes.systems, name="system"),
    )
    return frame.sort_values("elo", ascending=False, kind="stable")


def bootstrap_elo(
    responses, n: int = 10_000, seed: int = 0, *, user_counts=None, unit: str = "user", weights=WEIGHTS, pseudo=0.0
):
    """Elo scores and win rates of n resamples, by default of people, each with all of that person's answers.

    Parameters
    ----------
    responses : data frame
        As for ``fit_elo``.
    n, seed : int
    user_counts : (n, users) array, optional
        How often each user (sorted) was drawn, in place of drawing them here.
    unit : {"user", "clip", "user and clip"}
        What is drawn. With both, an answer counts as often as its person times as often as its clip (the pigeonhole
        bootstrap, Owen 2007). That is safe and wide: an answer's own chance enters three times, so where people and
        clips hardly matter the variance is up to three times too large; ``sandwich`` of both has no such excess.
    weights, pseudo
        As for ``fit_elo``.

    Returns
    -------
    (elo, win_rate) : two data frames (n rows, one column per system)
        NaN in resamples whose answers do not connect all systems.
    """
    import pandas as pd

    if unit not in ("user", "clip", "user and clip"):
        raise ValueError(f"unit: expected 'user', 'clip' or 'user and clip', got {unit!r}")
    if user_counts is None and n < 1:
        raise ValueError(f"n: expected at least one resample, got {n}")
    votes = votes_of(responses, weights)
    if "clip" in unit and not votes.clips:
        raise ValueError("responses: no column clip, so clips cannot be resampled")
    rng = np.random.default_rng(seed)
    draws = []
    if "user" in unit:
        people = len(votes.users)
        if user_counts is None:
            user_counts = rng.multinomial(people, np.full(people, 1 / people), size=n)
        counts = np.asarray(user_counts)
        if counts.ndim != 2 or counts.shape[1] != people:
            raise ValueError(f"user_counts: expected (n, {people}), one column per user, got {counts.shape}")
        draws.append((counts, votes.user))
    if "clip" in unit:
        clips, size = len(votes.clips), n if user_counts is None else len(user_counts)
        draws.append((rng.multinomial(clips, np.full(clips, 1 / clips), size=size), votes.clip))
    wins, count = total_wins(votes, weights), len(votes.systems)
    extra = pseudo_wins(shown_pairs(votes), pseudo)
    start = elo_from_wins(wins + extra)
    start = start if np.isfinite(start).all() else None
    elo, rate = [], []
    for part in _resampled_wins(votes, weights, draws):
        rate.append(win_rate_from_wins(part))
        elo.append(elo_from_wins(part + extra if pseudo else part, start=start))
    elo, rate = np.concatenate([*elo, np.empty((0, count))]), np.concatenate([*rate, np.empty((0, count))])
    return pd.DataFrame(elo, columns=votes.systems), pd.DataFrame(rate, columns=votes.systems)


def _resampled_wins(votes, weights, draws):
    """Win matrices of resamples, some at a time; draws are pairs of counts (resamples, units) and units of answers."""
    count = len(votes.systems)
    resamples = len(draws[0][0])
    if len(draws) == 1:
        counts, unit = draws[0]
        table = win_table(votes, weights, unit, counts.shape[1]).T.tocsr()
        # a person of a small study has answered a good part of all pairs, and dense tables multiply faster
        table = table.toarray() if np.prod(table.shape) < 2**20 else table
        size = max(1, 2**22 // max(count**2, 1))
        for i in range(0, resamples, size):
            part = table @ np.ascontiguousarray(counts[i : i + size].T, dtype=np.float64)
            yield np.ascontiguousarray(part.T).reshape(-1, count, count)
        return
    answer, cell, weight = weighted_pairs(votes, weights)
    from scipy import sparse

    table = sparse.csr_matrix((weight, (cell, answer)), shape=(count**2, len(votes.user)))
    size = max(1, 2**23 // len(votes.user))
    for i in range(0, resamples, size):
        times = np.ones((len(votes.user), len(draws[0][0][i : i + size])))
        for counts, unit in draws:
            times *= counts[i : i + size].T[unit]
        yield np.ascontiguousarray((table @ times).T).reshape(-1, count, count)


def pair_differences(elo, resampled):
    """Elo difference of every pair of systems with its 95 % bootstrap interval.

    Parameters
    ----------
    elo : series by system
    resampled : data frame
        Elo scores of resamples from ``bootstrap_elo``.

    Returns
    -------
    pandas.DataFrame
        By pair "A - B": ``difference``, ``low``, ``high``, ``significant`` (zero lies outside).
    """
    import pandas as pd

    kept = resampled[list(elo.index)].dropna().to_numpy()
    rows = {}
    for i, a in enumerate(elo.index[:-1]):
        low, high = np.percentile(kept[:, [i]] - kept[:, i + 1 :], [2.5, 97.5], axis=0)
        for j, b in enumerate(elo.index[i + 1 :]):
            rows[f"{a} - {b}"] = (elo[a] - elo[b], low[j], high[j], bool(low[j] > 0 or high[j] < 0))
    return pd.DataFrame.from_dict(rows, orient="index", columns=["difference", "low", "high", "significant"])
