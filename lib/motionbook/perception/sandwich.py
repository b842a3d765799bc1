"""Standard deviations of Elo scores without resampling, and how well the Bradley-Terry model fits.

Weights multiply answers, and answers of one person resemble each other, so the likelihood's own errors are too small.
The sandwich estimate (Liang and Zeger 1986) takes the spread of people's contributions to the score equations instead;
it is the bootstrap over people in closed form. With people and clips it is the two-way one of Cameron, Gelbach and
Miller (2011): the two sandwiches added, less the one of their intersections.
"""

from typing import NamedTuple

import numpy as np

from motionbook.perception.connectivity import pseudo_wins, require_connected
from motionbook.perception.elo import elo_from_wins
from motionbook.perception.votes import CENTRE, SCALE, WEIGHTS, shown_pairs, total_wins, votes_of, win_table

MOST_DEGREES = 500


class Sandwich(NamedTuple):
    """Elo scores (systems,), their covariance (systems, systems) in squared Elo points, and the units counted."""

    systems: list[str]
    elo: np.ndarray
    covariance: np.ndarray
    units: int

    def frame(self):
        """By system, best first: ``elo`` and ``sd``."""
        import pandas as pd

        sd = np.sqrt(np.diag(self.covariance).clip(min=0.0))
        frame = pd.DataFrame({"elo": self.elo, "sd": sd}, index=pd.Index(self.systems, name="system"))
        return frame.sort_values("elo", ascending=False, kind="stable")


def sandwich(responses, *, unit: str = "user", weights=WEIGHTS, pseudo: float = 0.0) -> Sandwich:
    """Elo scores with the covariance that the spread between people (or clips, or both) implies.

    Parameters
    ----------
    responses, weights, pseudo
        As for ``fit_elo``.
    unit : {"user", "clip", "user and clip", "answer"}

    Raises
    ------
    ValueError
        When answers do not connect all systems, or there are fewer than two units.
    """
    votes = votes_of(responses, weights)
    wins = total_wins(votes, weights) + pseudo_wins(shown_pairs(votes), pseudo)
    require_connected(responses, wins, weights)
    elo = elo_from_wins(wins)
    bread = inverse_information(wins, elo)
    scores = score_matrix(elo)
    meat, units = 0.0, []
    for sign, codes in _units(votes, unit):
        contribution = win_table(votes, weights, codes) @ scores
        contribution = contribution - contribution.mean(0)
        count = len(contribution)
        meat = meat + sign * count / (count - 1) * contribution.T @ contribution
        units.append(count)
    return Sandwich(votes.systems, elo, SCALE**2 * bread @ meat @ bread, min(units))


def _units(votes, unit):
    """Signs and codes of the groupings whose sandwiches add up."""
    groups = {"user": (votes.user, len(votes.users)), "clip": (votes.clip, len(votes.clips))}
    groups["answer"] = (np.arange(len(votes.user)), len(votes.user))
    both = np.unique(votes.user * max(len(votes.clips), 1) + votes.clip, return_inverse=True)[1]
    names = ("user", "clip") if unit == "user and clip" else (unit,)
    if missing := [name for name in names if name not in groups]:
        raise ValueError(f"unit: expected 'user', 'clip', 'user and clip' or 'answer', got {missing[0]!r}")
    for name in names:
        if groups[name][1] < 2:
            raise ValueError(f"responses: expected answers of at least two {name}s, got {groups[name][1]}")
    found = [(1.0, groups[name][0]) for name in names]
    return [*found, (-1.0, both)] if len(names) == 2 else found


def _beats(elo) -> np.ndarray:
    """Chance that the row beats the column (systems, systems)."""
    strength = (np.asarray(elo) - CENTRE) / SCALE
    return 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))


def inverse_information(wins, elo) -> np.ndarray:
    """Inverse information (systems, systems) among centred strengths, in logits."""
    count = len(elo)
    expected = _beats(elo)
    curvature = (wins + wins.T) * expected * expected.T
    information = np.diag(curvature.sum(1)) - curvature
    return np.linalg.inv(information + 1.0 / count) - 1.0 / count


def score_matrix(elo):
    """What one win of row over column adds to the score equations, (systems * systems, systems)."""
    from scipy import sparse

    count = len(elo)
    cell = np.arange(count * count)
    surprise = 1.0 - _beats(elo).ravel()
    rows, columns = np.concatenate([cell, cell]), np.concatenate([cell // count, cell % count])
    values = np.concatenate([surprise, -surprise])
    return sparse.csr_matrix((values, (rows, columns)), shape=(count * count, count)).toarray()


class Fit(NamedTuple):
    """How well Bradley-Terry fits: a summary (series) and the pairs (data frame)."""

    summary: object
    pairs: object


def goodness_of_fit(responses, *, weights=WEIGHTS) -> Fit:
    """Deviance of the weighted wins, and a test of the pairs' residuals that allows for weights and for people.

    The deviance on its nominal degrees of freedom is what a program without clusters prints; as weights multiply
    answers its p is not one. ``robust_chi2`` compares the residuals of all pairs with their spread between people and
    has the same degrees of freedom; it needs many more people than pairs, and is NaN with fewer than five for each
    degree of freedom, and with more than 500 of these.

    Returns
    -------
    Fit
        ``summary``: ``deviance``, ``df``, ``robust_chi2``, ``robust_p``, ``people``. ``pairs``, by "A - B": weighted
        ``wins`` of A, ``comparisons``, ``share`` won, ``expected`` share, and ``z``, the residual in units of its
        robust standard deviation.
    """
    import pandas as pd
    from scipy import stats
    from scipy.special import xlogy

    votes = votes_of(responses, weights)
    wins = total_wins(votes, weights)
    require_connected(responses, wins, weights)
    elo = elo_from_wins(wins)
    count = len(elo)
    first, second = np.triu_indices(count, 1)
    met = (wins + wins.T)[first, second] > 0
    first, second = first[met], second[met]
    won, lost = wins[first, second], wins[second, first]
    compared, share = won + lost, _beats(elo)[first, second]
    deviance = 2 * float((xlogy(won, won / (compared * share)) + xlogy(lost, lost / (compared * (1 - share)))).sum())
    degrees = len(first) - (count - 1)
    # a person's residual of each pair, less the part that the fitted scores take up; only its squares are needed, so
    # the table of people by pairs stays sparse
    table = win_table(votes, weights).tocsc()
    raw = table[:, first * count + second].multiply(1 - share) - table[:, second * count + first].multiply(share)
    raw = raw.tocsc()
    design = np.zeros((len(first), count))
    design[np.arange(len(first)), first], design[np.arange(len(first)), second] = 1.0, -1.0
    taken = (compared * share * (1 - share))[:, None] * design @ inverse_information(wins, elo)
    each = raw @ design
    crossed, inner = np.asarray(raw.T @ each), each.T @ each
    people, total = raw.shape[0], np.asarray(raw.sum(0)).ravel()
    factor = people / max(people - 1, 1)
    squares = np.asarray(raw.multiply(raw).sum(0)).ravel()
    squares += ((taken @ inner - 2 * crossed) * taken).sum(1) - total**2 / people
    sd = np.sqrt(factor * squares.clip(min=0.0)) if people > 1 else np.full(len(first), np.nan)
    chi2 = p = np.nan
    if 0 < degrees <= MOST_DEGREES and people >= 5 * degrees:
        covariance = (raw.T @ raw).toarray() - crossed @ taken.T - taken @ crossed.T + taken @ inner @ taken.T
        values, vectors = np.linalg.eigh(factor * (covariance - np.outer(total, total) / people))
        values, vectors = values[-degrees:], vectors[:, -degrees:]
        chi2 = float((((total @ vectors) ** 2) / values).sum())
        p = float(stats.chi2.sf(chi2, degrees))
    with np.errstate(invalid="ignore", divide="ignore"):
        pairs = pd.DataFrame(
            {
                "wins": won,
                "comparisons": compared,
                "share": won / compared,
                "expected": share,
                "z": np.where(sd > 1e-9, total / sd, np.nan),
            },
            index=pd.Index(
                [f"{votes.systems[i]} - {votes.systems[j]}" for i, j in zip(first, second, strict=True)], name="pair"
            ),
        )
    values = {"deviance": deviance, "df": degrees, "robust_chi2": chi2, "robust_p": p, "people": people}
    return Fit(pd.Series(values, name="value"), pairs)
