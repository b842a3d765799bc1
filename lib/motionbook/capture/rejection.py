"""Leaving out cameras that contradict the others, point by point.

A point is first solved from every camera that saw it. Where the reprojection error is too large, all subsets with one
camera fewer are tried, then two fewer, and so on; the first size at which a subset agrees ends the search, and of the
agreeing subsets of that size the one with the least mean error is taken. What "agrees" means is the rule:

"each"
    every kept camera is at most ``max_error`` pixels off. A mean hides one bad camera among three good ones.
"mean"
    the mean over the kept cameras is at most ``max_error``: Pose2Sim's rule, for comparison with its results.

Where not even a pair agrees, nothing says which camera is right: the point stays unsolved.

A limit close to a recording's ordinary error is worse than none: ordinary points then change their cameras from frame
to frame, and every change is a jump. The limit should only part what is gross from what is ordinary, so by default it
is a multiple of the recording's own error.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from motionbook.capture import dlt

RULES = ("each", "mean")
# The limit is this many times the ordinary error, and lies between these pixels.
_TIMES, _LEAST, _MOST = 6.0, 8.0, 60.0


class Agreement(NamedTuple):
    """Places (3, points), the cameras they rest on (cameras, points), pixel errors of all usable cameras (cameras,
    points), and per point whether its cameras agree, whether its rays are parallel and whether it lies behind one of
    its cameras. Places of points without agreement are those of all cameras together."""

    places: np.ndarray
    kept: np.ndarray
    errors: np.ndarray
    agrees: np.ndarray
    parallel: np.ndarray
    behind: np.ndarray


def ordinary_error(rig: dlt.Rig, views: dlt.Views) -> float:
    """Root mean square distance in pixels of an ordinary picture of a point from the point.

    The median over points of what their best set without one camera shows, corrected for the three numbers fitted to
    it; so neither outliers nor one bad camera count. It comes out low, by up to half, because the best set is taken.
    """
    cameras = len(views.usable)
    five = dlt.basis(views.flat, views.weight)
    best = np.full(views.usable.shape[1], np.inf)
    for keep in combinations(range(cameras), max(cameras - 1, 2)):
        keep = list(keep)
        used = views.usable[keep]
        count = used.sum(axis=0)
        error = dlt.pixel_errors(_part(rig, keep), dlt.solve(rig, five, keep), views.bent[keep])
        square = np.where(used, error**2, 0.0).sum(axis=0) * 2.0 / np.maximum(2 * count - 3, 1)
        best = np.minimum(best, np.where((count >= 2) & np.isfinite(square), square, np.inf))
    best = best[np.isfinite(best)]
    return float(np.sqrt(np.median(best))) if len(best) else 0.0


def limit_for(ordinary: float) -> float:
    """The reprojection error in pixels above which a picture contradicts, for a recording's ordinary error."""
    return float(np.clip(_TIMES * ordinary, _LEAST, _MOST))


def agree(
    rig: dlt.Rig, views: dlt.Views, *, method: str, rule: str, max_error: float, min_cameras: int, search: bool = True
) -> Agreement:
    """Solve every point from the largest set of cameras that agrees on it (see the module's text).

    Parameters
    ----------
    rig : Rig
    views : Views
    method : str
        Of `motionbook.capture.dlt.solve`.
    rule : {"each", "mean"}
    max_error : float
        Pixels; infinite takes every solution that lies in front of its cameras.
    min_cameras : int
    search : bool
        Without it a point whose cameras do not agree stays unsolved.
    """
    cameras = len(views.usable)
    count = views.usable.sum(axis=0)
    five = dlt.basis(views.flat, views.weight)
    places = dlt.solve(rig, five, range(cameras), method)
    places[:, count < min_cameras] = np.nan
    errors = np.where(views.usable, dlt.pixel_errors(rig, places, views.bent), np.nan)
    kept = views.usable.copy()
    score = _score(errors, kept, rule)
    agrees = np.isfinite(score) & (score <= max_error)
    parallel = np.isnan(places[0]) & (count >= min_cameras)
    behind = np.isinf(score) & ~np.isnan(places[0])
    pending = np.flatnonzero(~agrees & (count > min_cameras) & search)
    for dropped in range(1, cameras - min_cameras + 1):
        pending = pending[count[pending] - dropped >= min_cameras]
        if not len(pending):
            break
        hit, got, sets = _best_subset(rig, views, five[:, :, pending], pending, dropped, method, rule, max_error)
        won = pending[hit]
        places[:, won], kept[:, won], agrees[won] = got[:, hit], sets[:, hit], True
        parallel[won] = behind[won] = False
        pending = pending[~hit]
        if len(won):
            again = dlt.pixel_errors(rig, places[:, won], views.bent[:, :, won])
            errors[:, won] = np.where(views.usable[:, won], again, np.nan)
    return Agreement(places, kept, errors, agrees, parallel, behind)


def _best_subset(rig, views, five, pending, dropped, method, rule, max_error):
    """Which pending points some subset without ``dropped`` cameras agrees on, its places and its cameras."""
    cameras = len(views.usable)
    usable, bent = views.usable[:, pending], views.bent[:, :, pending]
    best = np.full(len(pending), np.inf)
    places = np.full((3, len(pending)), np.nan)
    sets = np.zeros_like(usable)
    for out in combinations(range(cameras), dropped):
        rows = np.flatnonzero(usable[list(out)].all(axis=0))
        if not len(rows):
            continue
        keep = [c for c in range(cameras) if c not in out]
        subset = five if len(rows) == len(pending) else five[:, :, rows]
        got = dlt.solve(rig, subset, keep, method)
        errors = dlt.pixel_errors(_part(rig, keep), got, bent[keep][:, :, rows])
        seen = usable[keep][:, rows]
        mean = _score(errors, seen, "mean")
        worst = mean if rule == "mean" else _score(errors, seen, rule)
        better = np.isfinite(worst) & (worst <= max_error) & (mean < best[rows])
        won = rows[better]
        best[won], places[:, won] = mean[better], got[:, better]
        sets[:, won] = usable[:, won]
        sets[np.ix_(out, won)] = False
    return np.isfinite(best), places, sets


def _part(rig: dlt.Rig, keep) -> dlt.Rig:
    return dlt.Rig(*(values[keep] for values in rig[:5]), rig.coefficients[:, keep])


def _score(errors, kept, rule):
    """What the rule compares with the limit, (points,); infinite where a kept camera has the point behind it."""
    if rule == "each":
        worst = np.where(kept, errors, -np.inf).max(axis=0)  # NaN wins in max, as it must
        return np.where(np.isnan(worst) | ~kept.any(axis=0), np.inf, worst)
    mean = np.where(kept, errors, 0.0).sum(axis=0) / np.maximum(kept.sum(axis=0), 1)
    return np.where(np.isnan(mean) | ~kept.any(axis=0), np.inf, mean)
