"""How many raters separate two systems, from closed forms, from a pilot's answers, and by simulation."""

from typing import NamedTuple

import numpy as np

from motionbook.perception.comparisons import THRESHOLDS, answer_chances, full_layout, simulate_counts, win_cells
from motionbook.perception.cumulative import fit_counts
from motionbook.perception.elo import elo_from_wins, is_connected
from motionbook.perception.ordinal import start_of
from motionbook.perception.sandwich import inverse_information, sandwich, score_matrix
from motionbook.perception.votes import CENTRE, SCALE, WEIGHTS


class Plan(NamedTuple):
    """Raters needed for two systems, the difference that the fit tends to, and its deviation with one rater."""

    raters: int
    difference: float
    sd_of_one: float


def _quantiles(raters, power, alpha, comparisons):
    """Standard deviations that a difference must measure to be found with that many raters (t tests)."""
    from scipy import stats

    if not 0 < alpha < power < 1 or comparisons < 1:
        raise ValueError(f"expected 0 < alpha < power < 1 and comparisons from 1, got {alpha}, {power}, {comparisons}")
    degrees = np.maximum(np.asarray(raters, dtype=np.float64), 2) - 1
    return stats.t.isf(alpha / comparisons / 2, degrees) + stats.t.ppf(power, degrees)


def _enough(ratio, power, alpha, comparisons) -> float:
    """Least number of raters for a difference of ``1 / ratio`` standard deviations of one rater; at least two."""
    if not np.isfinite(ratio):
        return np.inf
    # fewer raters have wider quantiles, so the number rises from a great many's to where it stays
    raters = needed = max(2.0, np.ceil((_quantiles(1e9, power, alpha, comparisons) * ratio) ** 2))
    for _ in range(100):
        needed = max(2.0, np.ceil((_quantiles(raters, power, alpha, comparisons) * ratio) ** 2))
        if needed <= raters:
            break
        raters = raters + 1 if needed < 2 * raters else 2 * raters
    return raters


def raters_needed(
    elo,
    a: str,
    b: str,
    *,
    power: float = 0.8,
    alpha: float = 0.05,
    comparisons: int = 1,
    answers_each: int = 16,
    thresholds=THRESHOLDS,
    model: str = "weighted",
    weights=WEIGHTS,
) -> Plan:
    """Raters for whom two systems of assumed scores are told apart with the given power, in closed form.

    Answers follow the cumulative-logit model, independent of each other, on pairs drawn evenly. Where people differ in
    taste, more are needed; ``raters_from_answers`` takes that from a pilot.

    Parameters
    ----------
    elo : series by system
        Assumed scores of the ordinal model.
    a, b : str
    power, alpha : float
    comparisons : int
        Tests among which alpha is shared (Bonferroni); systems * (systems - 1) / 2 for all pairs.
    answers_each : int
        Scored answers of a rater.
    model : {"weighted", "ordinal"}
        The fit that will be used.
    """
    for name in (a, b):
        if name not in elo.index:
            raise KeyError(f"no system {name!r}; the scores are of {', '.join(elo.index)}")
    _quantiles(2, power, alpha, comparisons)
    limit, covariance = expected_fit(
        elo, answers_each=answers_each, thresholds=thresholds, model=model, weights=weights
    )
    i, j = list(elo.index).index(a), list(elo.index).index(b)
    difference = float(limit[i] - limit[j])
    sd = float(np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]))
    if difference == 0:
        raise ValueError(f"{a} and {b} have the same score, which no number of raters tells apart")
    return Plan(int(_enough(sd / abs(difference), power, alpha, comparisons)), difference, sd)


def expected_fit(elo, *, answers_each: int = 16, thresholds=THRESHOLDS, model: str = "weighted", weights=WEIGHTS):
    """What a fit tends to with ever more raters (systems,), and its covariance with one rater, in Elo points.

    The weighted fit does not tend to the scores that the answers were drawn from: its weights stretch differences.
    """
    if model not in ("weighted", "ordinal"):
        raise ValueError(f"model: expected 'weighted' or 'ordinal', got {model!r}")
    scores = np.asarray(elo, dtype=np.float64)
    count = len(scores)
    chances = answer_chances(scores, thresholds)
    expected = (chances / len(chances)).ravel()
    if model == "ordinal":
        plan = full_layout(count, thresholds)
        start = np.concatenate([(scores - CENTRE) / SCALE, [0.0], thresholds])
        fit = fit_counts(plan, expected[None], start)
        return CENTRE + SCALE * fit.parameters[0, :count], SCALE**2 * fit.inverse[0, :count, :count] / answers_each
    if max(weights) != len(thresholds):
        raise ValueError(f"weights: expected grades 0 to {len(thresholds)} as the thresholds say, got {weights}")
    cells = win_cells(count, weights).reshape(len(expected), -1)
    wins = (expected @ cells).reshape(count, count)
    limit = elo_from_wins(wins)
    slopes = cells @ score_matrix(limit)
    bread = inverse_information(wins, limit)
    meat = slopes.T @ (expected[:, None] * slopes)
    return limit, SCALE**2 * bread @ meat @ bread / answers_each


def raters_from_answers(
    answers, *, difference: float | None = None, power=0.8, alpha=0.05, comparisons=None, weights=WEIGHTS, pseudo=0.0
):
    """Raters that a study like the one at hand needs for each pair of its systems.

    The spread between its people is taken from the sandwich, so tastes that differ count.

    Parameters
    ----------
    difference : float, optional
        Elo points to be told apart; default each pair's own difference, which is itself an estimate: a pair found close
        by luck seems to need more raters than it does.
    comparisons : int, optional
        Default the number of pairs, so that all hold together.

    Returns
    -------
    pandas.DataFrame
        By pair, best first: ``difference``, ``sd_of_one`` (Elo points, one rater), ``raters``, and ``detectable``, the
        difference that as many raters as took part find with that power.
    """
    import pandas as pd

    found = sandwich(answers, weights=weights, pseudo=pseudo)
    order = np.argsort(-found.elo, kind="stable")
    pairs = [(i, j) for n, i in enumerate(order) for j in order[n + 1 :]]
    shared = comparisons or len(pairs)
    total = _quantiles(found.units, power, alpha, shared)
    rows = {}
    for i, j in pairs:
        variance = max(0.0, found.covariance[i, i] + found.covariance[j, j] - 2 * found.covariance[i, j])
        gap = found.elo[i] - found.elo[j] if difference is None else difference
        sd = np.sqrt(variance * found.units)
        need = _enough(sd / abs(gap) if gap else np.inf, power, alpha, shared)
        rows[f"{found.systems[i]} - {found.systems[j]}"] = (gap, sd, need, total * np.sqrt(variance))
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["difference", "sd_of_one", "raters", "detectable"])
    return frame.rename_axis("pair")


def simulated_power(
    elo,
    a: str,
    b: str,
    raters: int,
    *,
    studies: int = 500,
    seed: int = 0,
    alpha=0.05,
    comparisons=1,
    answers_each=16,
    thresholds=THRESHOLDS,
    model: str = "weighted",
    weights=WEIGHTS,
) -> float:
    """Share of simulated studies that tell a and b apart: ``raters_needed`` the long way round."""
    from scipy import stats

    names = list(elo.index)
    counts = simulate_counts(
        elo.to_numpy(), raters, studies, np.random.default_rng(seed), answers_each=answers_each, thresholds=thresholds
    )
    limit = stats.t.isf(alpha / comparisons / 2, raters - 1)
    scores, covariance = fit_studies(counts, len(names), model=model, thresholds=thresholds, weights=weights)
    i, j = names.index(a), names.index(b)
    sd = np.sqrt(covariance[:, i, i] + covariance[:, j, j] - 2 * covariance[:, i, j])
    return float((np.abs(scores[:, i] - scores[:, j]) > limit * sd).mean())


def fit_studies(counts, systems: int, *, model: str, thresholds=THRESHOLDS, weights=WEIGHTS):
    """Elo scores (studies, systems) and covariances over raters (studies, systems, systems) of simulated studies.

    Parameters
    ----------
    counts : (studies, raters, cells) array
        From ``simulate_counts``. Studies that leave a system without a score give NaN.
    """
    counts = np.asarray(counts)
    raters = counts.shape[1]
    total = counts.sum(1)
    if model == "ordinal":
        plan = full_layout(systems, thresholds)
        answers = 2 * len(thresholds) + 1
        by_answer = total.reshape(len(total), -1, answers).sum((0, 1))
        half = len(thresholds)
        sizes = np.array([by_answer[half], *(by_answer[half + k] + by_answer[half - k] for k in range(1, half + 1))])
        fit = fit_counts(plan, total, start_of(sizes, systems, answers))
        slopes, bread = fit.scores, fit.inverse
        elo = CENTRE + SCALE * fit.parameters[:, :systems]
    else:
        cells = win_cells(systems, weights).reshape(total.shape[1], -1)
        wins = (total @ cells).reshape(-1, systems, systems)
        elo = elo_from_wins(wins)
        known = is_connected(wins)
        bread = np.full_like(wins, np.nan)
        bread[known] = [inverse_information(w, e) for w, e in zip(wins[known], elo[known], strict=True)]
        slopes = np.stack([cells @ (score_matrix(e)) for e in elo])
    each = counts.astype(np.float64) @ slopes
    meat = raters / (raters - 1) * np.swapaxes(each, 1, 2) @ each
    covariance = SCALE**2 * (bread @ meat @ bread)[:, :systems, :systems]
    return elo, covariance


def plan_curve(differences, *, systems: int = 5, models=("weighted", "ordinal"), **options):
    """Raters needed over a range of differences, for ``systems`` systems spread evenly with that step.

    Parameters
    ----------
    differences : sequence of float
        Elo points between neighbours; the two in the middle are the ones to be told apart.
    options
        As for ``raters_needed``.

    Returns
    -------
    pandas.DataFrame
        ``difference``, ``model``, ``raters``.
    """
    import pandas as pd

    names = [f"{i + 1}" for i in range(systems)]
    rows = []
    for model in models:
        for difference in differences:
            elo = pd.Series(CENTRE - difference * (np.arange(systems) - (systems - 1) / 2), index=names)
            middle = (systems - 1) // 2
            plan = raters_needed(elo, names[middle], names[middle + 1], model=model, **options)
            rows.append((difference, model, plan.raters))
    return pd.DataFrame(rows, columns=["difference", "model", "raters"])
