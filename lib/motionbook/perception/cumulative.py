"""Cumulative-logit comparison model, fitted to tables of counts, many tables at once.

A viewer who sees system l on the left and r on the right answers grade c or lower with the chance
``F(t_c - (theta_r - theta_l - bias))``, F the logistic function: ``bias`` above 0 favours the left, and thresholds are
symmetric, ``t_{-c} = -t_{c-1}``. With two answers, no tie and weighted counts this is Bradley-Terry with a left/right
term. The log-likelihood is concave (Pratt 1981), so Newton steps that never lower it find its only maximum.
"""

from typing import NamedTuple

import numpy as np


class Layout(NamedTuple):
    """Linear predictors of a table's cells (ordered pair, answer), answers varying fastest.

    ``upper``, ``lower`` : (cells, parameters), of the thresholds above and below an answer; ``top`` and ``bottom`` mark
    answers without one. Parameters: ``systems`` strengths, the bias when ``position``, then ``thresholds`` of them.
    """

    upper: np.ndarray
    lower: np.ndarray
    top: np.ndarray
    bottom: np.ndarray
    systems: int
    position: bool
    thresholds: int


class Fitted(NamedTuple):
    """Parameters (tables, parameters), strengths centred; log-likelihoods (tables,); slopes of the cells' log chances
    (tables, cells, parameters); and the inverse information among centred strengths (tables, parameters, parameters).
    """

    parameters: np.ndarray
    log_likelihood: np.ndarray
    scores: np.ndarray
    inverse: np.ndarray


def ordered_pairs(systems: int) -> np.ndarray:
    """All (left, right) of different systems, (pairs, 2), in the order of a table's cells."""
    return np.array([(a, b) for a in range(systems) for b in range(systems) if a != b])


def layout(pairs, systems: int, answers: int, *, position: bool = True) -> Layout:
    """Predictors of every cell for (pairs, 2) systems left and right and that many answers."""
    pairs = np.asarray(pairs)
    free = (answers - 1) // 2
    # row k: the k-th threshold from below as a combination of the free ones, which are those above the middle
    lines = np.zeros((answers - 1, free))
    for k in range(free):
        lines[answers - 2 - k, free - 1 - k], lines[k, free - 1 - k] = 1.0, -1.0
    base = np.zeros((len(pairs), systems + position + free))
    base[np.arange(len(pairs)), pairs[:, 0]], base[np.arange(len(pairs)), pairs[:, 1]] = 1.0, -1.0
    if position:
        base[:, systems] = 1.0
    cells = np.repeat(base, answers, axis=0)
    upper, lower = cells.copy(), cells.copy()
    answer = np.tile(np.arange(answers), len(pairs))
    top, bottom = answer == answers - 1, answer == 0
    upper[~top, systems + position :] = lines[answer[~top]]
    lower[~bottom, systems + position :] = lines[answer[~bottom] - 1]
    return Layout(upper, lower, top, bottom, systems, position, free)


def _slopes(plan, parameters):
    """Log probabilities of cells and their derivatives by upper and lower predictor, each (tables, cells)."""
    from scipy.special import expit

    above = parameters @ plan.upper.T
    below = parameters @ plan.lower.T
    above[:, plan.top], below[:, plan.bottom] = np.inf, -np.inf
    # differences of small tails keep their digits, differences of numbers near one do not
    turned = above + below > 0
    high, low = np.where(turned, -below, above), np.where(turned, -above, below)
    chance = expit(high) - expit(low)
    first, second = expit(above), expit(below)
    first, second = first * expit(-above), second * expit(-below)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(chance), first / chance, -second / chance, chance, above, below


def _total(counts, logs):
    """Log-likelihoods; a cell without counts adds nothing, one with counts and no chance makes it -inf."""
    with np.errstate(invalid="ignore"):
        product = counts * logs
    product[counts == 0] = 0.0
    product[np.isnan(product)] = -np.inf
    return product.sum(1)


def fit_counts(plan: Layout, counts, start, *, tolerance: float = 1e-9, steps: int = 100) -> Fitted:
    """Maximum-likelihood parameters of tables of counts (tables, cells), Newton steps on all tables at once.

    Tables must connect all systems and use every grade; ``ordinal`` checks that.

    Raises
    ------
    RuntimeError
        When the steps do not settle.
    """
    counts = np.asarray(counts, dtype=np.float64)
    parameters = np.tile(np.asarray(start, dtype=np.float64), (len(counts), 1))
    logs, *_ = found = _slopes(plan, parameters)
    reached = _total(counts, logs)
    for _ in range(steps):
        gradient, information, _ = _derivatives(plan, counts, found)
        change = np.linalg.solve(information, gradient[..., None])[..., 0]
        scale = np.minimum(1.0, 2.0 / np.maximum(np.abs(change).max(1), 1e-300))
        for _ in range(40):
            tried = parameters + scale[:, None] * change
            found = _slopes(plan, tried)
            gained = _total(counts, found[0])
            worse = ~(gained >= reached - 1e-9 * np.abs(reached))
            if not worse.any():
                break
            scale[worse] *= 0.5
        parameters, reached = tried, gained
        if np.abs(change).max(initial=0.0) < tolerance:
            break
    else:
        raise RuntimeError(f"fit_counts: {steps} Newton steps, last change {np.abs(change).max():.3g} logits")
    _, information, scores = _derivatives(plan, counts, found)
    inverse = np.linalg.inv(information)
    inverse[:, : plan.systems, : plan.systems] -= 1.0 / plan.systems
    centred = parameters.copy()
    centred[:, : plan.systems] -= centred[:, : plan.systems].mean(1, keepdims=True)
    return Fitted(centred, reached, scores, inverse)


def _derivatives(plan, counts, found):
    """Gradients (tables, parameters), negative Hessians with the mean of strengths pinned, and scores of cells."""
    _, up, down, chance, above, below = found
    up, down = np.where(chance > 0, up, 0.0), np.where(chance > 0, down, 0.0)
    scores = up[..., None] * plan.upper + down[..., None] * plan.lower
    gradient = (counts[:, None, :] @ scores)[:, 0]
    # second derivatives of log p: f'(x)/p less the product of the slopes; f' = f (1 - 2F)
    twist_up = np.where(plan.top, 0.0, -np.tanh(0.5 * np.where(plan.top, 0.0, above))) * up
    twist_down = np.where(plan.bottom, 0.0, -np.tanh(0.5 * np.where(plan.bottom, 0.0, below))) * down
    information = np.empty((len(counts), plan.upper.shape[1], plan.upper.shape[1]))
    for i in range(len(counts)):
        used = counts[i] > 0
        weight, upper, lower = counts[i, used, None], plan.upper[used], plan.lower[used]
        bend = upper.T @ (weight * twist_up[i, used, None] * upper) + lower.T @ (
            weight * twist_down[i, used, None] * lower
        )
        score = scores[i, used]
        information[i] = score.T @ (weight * score) - bend
    information[:, : plan.systems, : plan.systems] += 1.0 / plan.systems
    return gradient, information, scores
