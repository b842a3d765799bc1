"""Rankings from the likelihood of the scale itself, and whether the side on which a clip is shown matters.

The weighted Bradley-Terry fit of StayStill counts a clear preference as four wins, a choice that stretches differences.
The five-level model takes the answers as grades of one impression: a cumulative logit with symmetric thresholds and a
term for the side. ``fit_position`` adds the same term to the weighted fit. Errors are the sandwich's, over people.
"""

from typing import NamedTuple

import numpy as np

from motionbook.perception.connectivity import is_connected
from motionbook.perception.cumulative import fit_counts, layout, ordered_pairs
from motionbook.perception.votes import CENTRE, SCALE, WEIGHTS, votes_of


class OrdinalFit(NamedTuple):
    """A fitted cumulative-logit model.

    ``scores`` : data frame by system, best first, ``elo`` and ``sd`` (over people). ``terms`` : data frame with
    ``value`` and ``sd`` in logits, and ``elo``, the value in Elo points, for ``left_bias`` (above 0 favours the left)
    and the thresholds ``t1``, ``t2`` ... ``covariance`` : of the scores, in the order of ``systems``.
    """

    scores: object
    terms: object
    log_likelihood: float
    systems: list[str]
    covariance: np.ndarray


def fit_ordinal(responses, *, weights=WEIGHTS) -> OrdinalFit:
    """Elo scores by the cumulative-logit model with symmetric thresholds and a left/right term.

    Parameters
    ----------
    responses : data frame
        As for ``fit_elo``.
    weights : dict
        Only its grades matter: which answers the scale has. They have to be 0 or 1 up to the largest without a gap.

    Raises
    ------
    ValueError
        When a grade was never given, or the answers do not bound all scores.
    """
    votes = votes_of(responses, weights)
    top = max(weights)
    tie = 0 in weights
    answers = 2 * top + tie
    # answers as 0, 1, ..., from clear left to clear right; without a tie no place is kept for it
    grade = votes.choice + top - ((votes.choice > 0) if not tie else 0)
    sizes = np.bincount(np.abs(votes.choice), minlength=top + 1)
    if unused := [size for size in range(0 if tie else 1, top + 1) if not sizes[size]]:
        raise ValueError(
            f"responses: nobody gave an answer of grade {unused[0]}, so the model has no threshold for it; "
            "read the answers with a scale of fewer grades"
        )
    _require_bounds(votes, top)
    fit, covariance, plan = _fit(votes, grade, np.ones(len(grade)), answers)
    return _result(votes, fit, covariance, plan)


def fit_position(responses, *, weights=WEIGHTS) -> OrdinalFit:
    """The weighted Bradley-Terry fit with a term for the side: ``terms.loc["left_bias"]``, above 0 for the left.

    Parameters and errors as for ``fit_elo``.
    """
    from motionbook.perception.connectivity import require_connected
    from motionbook.perception.votes import total_wins

    votes = votes_of(responses, weights)
    require_connected(responses, total_wins(votes, weights), weights)
    worth = np.zeros(max(weights) + 1)
    worth[list(weights)] = list(weights.values())
    weight = worth[np.abs(votes.choice)]
    # a tie is a win for either side: the answer enters twice
    halves = [votes.choice <= 0, votes.choice >= 0]
    chosen = np.concatenate([np.flatnonzero(half) for half in halves])
    side = np.repeat([0, 1], [int(half.sum()) for half in halves])
    doubled = votes._replace(**{name: getattr(votes, name)[chosen] for name in ("user", "left", "right", "choice")})
    fit, covariance, plan = _fit(doubled, side, weight[chosen], 2)
    return _result(votes, fit, covariance, plan)


def start_of(sizes, systems: int, answers: int) -> np.ndarray:
    """Parameters to start from: equal systems, no bias, the thresholds that give each grade its share.

    ``sizes`` counts the answers of each grade, from 0.
    """
    free = (answers - 1) // 2
    start = np.zeros(systems + 1 + free)
    share = np.cumsum(sizes)[: max(sizes.size - 1, 0)] / max(sizes.sum(), 1)
    below = np.clip(0.5 + 0.5 * share[share.size - free :], 0.5 + 1e-3, 1 - 1e-3)
    start[systems + 1 :] = np.log(below / (1 - below)) + 1e-3 * np.arange(free)
    return start


def _fit(votes, grade, weight, answers):
    """The fit of one study, its covariance over people in logits, and the layout."""
    from scipy import sparse

    count = len(votes.systems)
    shown, pair = np.unique(votes.left * count + votes.right, return_inverse=True)
    plan = layout(np.stack([shown // count, shown % count], axis=1), count, answers)
    cell = pair * answers + grade
    counts = np.bincount(cell, weight, len(plan.upper))
    sizes = np.bincount(np.abs(votes.choice), minlength=answers // 2 + 1) if answers > 2 else np.zeros(2)
    try:
        fit = fit_counts(plan, counts[None], start_of(sizes, count, answers))
    except (np.linalg.LinAlgError, RuntimeError) as error:
        raise ValueError(
            f"the {len(grade)} answers do not determine scores, thresholds and side at once ({error}); collect more, "
            "or show every pair both ways round"
        ) from error
    people = len(votes.users)
    table = sparse.csr_matrix((weight, (votes.user, cell)), shape=(people, len(counts)))
    inverse = fit.inverse[0]
    scores = table @ fit.scores[0]
    covariance = people / max(people - 1, 1) * inverse @ scores.T @ scores @ inverse
    return fit, covariance, plan


def _result(votes, fit, covariance, plan) -> OrdinalFit:
    import pandas as pd

    count = plan.systems
    values, sd = fit.parameters[0], np.sqrt(np.diag(covariance).clip(min=0.0))
    scores = pd.DataFrame(
        {"elo": CENTRE + SCALE * values[:count], "sd": SCALE * sd[:count]}, index=pd.Index(votes.systems, name="system")
    )
    names = ["left_bias", *(f"t{i + 1}" for i in range(plan.thresholds))]
    terms = pd.DataFrame(
        {"value": values[count:], "sd": sd[count:], "elo": SCALE * values[count:]}, index=pd.Index(names, name="term")
    )
    order = scores.sort_values("elo", ascending=False, kind="stable")
    return OrdinalFit(order, terms, float(fit.log_likelihood[0]), votes.systems, SCALE**2 * covariance[:count, :count])


def _require_bounds(votes, top) -> None:
    """Only answers at an end of the scale leave a difference unbounded: every system needs one answer short of it."""
    count = len(votes.systems)
    wins = np.zeros((count, count))
    short = np.abs(votes.choice) < top
    won = np.where(votes.choice > 0, votes.right, votes.left), np.where(votes.choice > 0, votes.left, votes.right)
    wins[won] = 1.0
    wins[won[1][short], won[0][short]] = 1.0
    if not is_connected(wins):
        free = [name for i, name in enumerate(votes.systems) if not (wins[i].any() and wins[:, i].any())]
        raise ValueError(
            f"the answers do not bound the scores of {', '.join(free or votes.systems)}: every comparison with the "
            "rest ended in the clearest answer, or there was none; collect more answers or leave those systems out"
        )


class Davidson(NamedTuple):
    """Fit of Davidson's model of ties (1970): ``scores`` by system, ``tie`` and ``left_bias`` in logits.

    Of two equal systems a share ``nu / (2 + nu)`` of comparisons ends in a tie, ``nu = exp(tie)``.
    """

    scores: object
    tie: float
    left_bias: float
    log_likelihood: float


def fit_davidson(responses, *, weights=WEIGHTS, tolerance: float = 1e-9, steps: int = 100) -> Davidson:
    """Elo scores from left, tie and right alone, every answer once, by Davidson's model with a left/right term.

    The chances of left, tie and right are in the proportion of ``exp(theta_l + b/2)``, ``exp(tie + (theta_l +
    theta_r)/2)`` and ``exp(theta_r - b/2)``.

    Raises
    ------
    ValueError
        When there are no ties, or the answers do not connect all systems.
    """
    import pandas as pd

    from motionbook.perception.connectivity import require_connected
    from motionbook.perception.votes import total_wins

    once = dict.fromkeys(weights, 1.0)
    votes = votes_of(responses, weights)
    require_connected(responses, total_wins(votes, once), weights)
    if not (votes.choice == 0).any():
        raise ValueError("responses: no ties, so Davidson's model has no tie to fit; fit_elo serves")
    count = len(votes.systems)
    pairs = ordered_pairs(count)
    place = np.full((count, count), -1)
    place[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
    counts = np.bincount(place[votes.left, votes.right] * 3 + np.sign(votes.choice) + 1, minlength=3 * len(pairs))
    counts = counts.reshape(-1, 3).astype(np.float64)
    features = np.zeros((len(pairs), 3, count + 2))
    rows = np.arange(len(pairs))
    features[rows, 0, pairs[:, 0]] = features[rows, 2, pairs[:, 1]] = 1.0
    features[rows, 1, pairs[:, 0]] = features[rows, 1, pairs[:, 1]] = 0.5
    features[:, 1, count], features[:, 0, count + 1], features[:, 2, count + 1] = 1.0, 0.5, -0.5
    values = np.zeros(count + 2)
    for _ in range(steps):
        lines = features @ values
        chance = np.exp(lines - lines.max(1, keepdims=True))
        chance /= chance.sum(1, keepdims=True)
        expected = counts.sum(1, keepdims=True) * chance
        mean = (chance[..., None] * features).sum(1, keepdims=True)
        gradient = ((counts - expected)[..., None] * features).sum((0, 1))
        off = features - mean
        information = np.einsum("pa,pai,paj->ij", expected, off, off)
        information[:count, :count] += 1.0 / count
        change = np.clip(np.linalg.solve(information, gradient), -2.0, 2.0)
        values = values + change
        if np.abs(change).max() < tolerance:
            break
    else:
        raise RuntimeError(f"fit_davidson: {steps} Newton steps, last change {np.abs(change).max():.3g} logits")
    strength = values[:count] - values[:count].mean()
    scores = pd.DataFrame({"elo": CENTRE + SCALE * strength}, index=pd.Index(votes.systems, name="system"))
    used = counts > 0
    likelihood = float((counts[used] * np.log(chance[used])).sum())
    return Davidson(scores.sort_values("elo", ascending=False), float(values[count]), float(values[-1]), likelihood)
