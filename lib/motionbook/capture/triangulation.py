"""World points from the same points in several pictures: robust, confidence-weighted linear triangulation.

All points of all frames are solved at once (`motionbook.capture.dlt`); cameras that contradict the others are left out
point by point (`motionbook.capture.rejection`); left and right exchanged in a camera are put right before that
(`motionbook.capture.swaps`). What cannot be solved is NaN and carries the reason.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from math import gcd
from typing import NamedTuple

import numpy as np

from motionbook.capture import dlt
from motionbook.capture.cameras import Camera
from motionbook.capture.refinement import refine as refine_places
from motionbook.capture.rejection import RULES, agree, limit_for, ordinary_error
from motionbook.capture.swaps import Swaps, exchange_sides, find_swaps
from motionbook.checks import check_shape

METHODS = ("normal", "homogeneous")
# Points per round: few enough that the work arrays stay in the processor's cache.
_CHUNK = 8192
_SAMPLE = 4000


class Reason(IntEnum):
    """Why a point has no place."""

    SOLVED = 0
    NOT_SEEN = 1
    """No camera delivered it."""
    TOO_FEW_CAMERAS = 2
    """Fewer cameras than needed delivered it."""
    LOW_CONFIDENCE = 3
    """Enough cameras delivered it, too few of them with enough confidence."""
    OUTSIDE_LENS = 4
    """Too few are left because pixels lie where the lens shows nothing."""
    PARALLEL_RAYS = 5
    """The rays have no single meeting point."""
    BEHIND_CAMERA = 6
    """The rays meet behind a camera that saw the point."""
    ERROR_TOO_LARGE = 7
    """No set of cameras agrees within the limit."""
    SIDES_UNCLEAR = 8
    """Left and right are exchanged in half of the cameras; nothing says in which half."""


class Observed(IntEnum):
    """What became of one camera's picture of one point."""

    NOT_SEEN = 0
    LOW_CONFIDENCE = 1
    OUTSIDE_LENS = 2
    REJECTED = 3
    """It contradicted the cameras that were used, or no cameras agreed."""
    USED = 4


class Triangulation(NamedTuple):
    """World points and how far to trust them.

    Attributes
    ----------
    positions : (..., 3)
        Metres (the cameras' unit); NaN where there is no place, for the ``reason`` given.
    error : (...)
        Mean distance in pixels, lens included, between the point put back into the pictures that were used and what
        was seen there; NaN where there is no place.
    cameras_used : (...) int
        Cameras whose picture was usable and not rejected.
    camera_errors : (cameras, ...)
        The same distance per camera, of rejected pictures too, NaN where a picture was not usable. Where no cameras
        agreed they are those of the solution from all of them.
    reason : (...) int8
        A `Reason`.
    observed : (cameras, ...) int8
        An `Observed`.
    max_error : float
        The limit in pixels that was used, infinite for none.
    swaps : Swaps or None
        Where left and right were exchanged; None when it was not looked for.
    """

    positions: np.ndarray
    error: np.ndarray
    cameras_used: np.ndarray
    camera_errors: np.ndarray
    reason: np.ndarray
    observed: np.ndarray
    max_error: float
    swaps: Swaps | None


def triangulate(
    cameras: Sequence[Camera],
    points,
    confidence=None,
    *,
    min_confidence: float = 0.0,
    min_cameras: int = 2,
    max_error: float | str | None = "auto",
    rule: str = "each",
    method: str = "normal",
    undistort: bool = True,
    refine: bool = False,
    sides: Mapping[str, Sequence[tuple[int, int]]] | None = None,
) -> Triangulation:
    """Robust weighted triangulation of all points of all frames.

    Parameters
    ----------
    cameras : sequence of Camera
    points : (cameras, ..., 2)
        Pixels, NaN where nothing was seen.
    confidence : (cameras, ...), optional
        Weight of each observation, 0 to 1; 0 or NaN leaves it out. All 1 when not given.
    min_confidence : float
        Observations below it are left out.
    min_cameras : int
        Points seen by fewer cameras stay NaN; at least 2.
    max_error : "auto", float or None
        Pixels. Cameras are left out of a point until those that remain agree this well; a point on which not even
        ``min_cameras`` agree stays NaN. "auto" is six times the recording's ordinary error
        (`motionbook.capture.rejection.ordinary_error`), at least 8 and at most 60. None takes every camera as it is:
        plain linear triangulation.
    rule : {"each", "mean"}
        Whether every remaining camera must be within ``max_error``, or their mean as in Pose2Sim (whose limit is 15).
    method : {"normal", "homogeneous"}
        The linear system's solution: closed-form normal equations (fast), or the homogeneous one that Pose2Sim takes;
        `motionbook.capture.dlt.solve` says how they differ.
    undistort : bool
        False takes the lenses as perfect, as Pose2Sim does unless told otherwise.
    refine : bool
        Minimise the reprojection error itself, starting from the linear solution.
    sides : mapping of str to sequence of (int, int), optional
        Left and right points by part of the body, as `motionbook.capture.swaps.side_pairs` gives them. Points must
        then be (cameras, frames, points, 2); parts whose sides one camera exchanges are exchanged back before solving
        and reported.

    Raises
    ------
    ValueError
        When shapes do not agree with the number of cameras, or an option is unknown or out of range.
    """
    points = check_shape(points, f"{len(cameras)} ... 2".replace("...", _axes(points)), "points")
    weight = np.ones(points.shape[:-1]) if confidence is None else np.array(confidence, dtype=np.float64)
    if weight.shape != points.shape[:-1]:
        raise ValueError(f"confidence: expected one number per point {points.shape[:-1]}, got {weight.shape}")
    if min_cameras < 2:
        raise ValueError(f"min_cameras: expected at least 2, one camera sees no depth, got {min_cameras}")
    if not (max_error is None or max_error == "auto" or (not isinstance(max_error, str) and max_error > 0)):
        raise ValueError(f"max_error: expected pixels above 0, 'auto', or None for no limit, got {max_error!r}")
    for name, value, known in (("rule", rule, RULES), ("method", method, METHODS)):
        if value not in known:
            raise ValueError(f"{name}: expected {' or '.join(map(repr, known))}, got {value!r}")
    rig = dlt.make_rig(cameras, undistort=undistort)
    seen = np.isfinite(points).all(axis=-1) & (weight > 0)
    usable = seen & (weight >= min_confidence)
    swaps, ordinary = None, 0.0
    if max_error == "auto" or sides is not None:
        ordinary = _ordinary_error(rig, points, np.where(usable, weight, 0.0))
    if sides is not None:
        if points.ndim != 4:
            raise ValueError(f"points: expected (cameras, frames, points, 2) to compare sides, got {points.shape}")
        swaps = find_swaps(rig, points, np.where(usable, weight, 0.0), sides, ordinary)
        points, weight, seen, usable = (exchange_sides(array, swaps) for array in (points, weight, seen, usable))
    shape, count = points.shape[1:-1], len(cameras)
    seen, usable = seen.reshape(count, -1), usable.reshape(count, -1)
    limit = np.inf if max_error is None else limit_for(ordinary) if max_error == "auto" else float(max_error)
    options = {
        "method": method,
        "rule": rule,
        "max_error": limit,
        "min_cameras": min_cameras,
        "search": max_error is not None,
    }
    total = usable.shape[1]
    found = _solve_all(rig, points.reshape(count, total, 2), weight.reshape(count, total), usable, refine, options)
    unclear = np.zeros(total, dtype=bool) if swaps is None else swaps.unclear_points.ravel()
    reason = _reasons(seen, usable, found, unclear, min_cameras)
    solved = reason == Reason.SOLVED
    fit = usable & ~found.outside
    # below the minimum nothing contradicts a picture: it is left over, not rejected
    used = fit & found.kept & (solved | (fit.sum(axis=0) < min_cameras))
    observed = np.full(seen.shape, Observed.NOT_SEEN, dtype=np.int8)
    for which, state in (
        (seen, Observed.LOW_CONFIDENCE),
        (found.outside, Observed.OUTSIDE_LENS),
        (fit, Observed.REJECTED),
        (used, Observed.USED),
    ):
        observed[which] = state
    cameras_used = used.sum(axis=0)
    mean = np.where(used, found.errors, 0.0).sum(axis=0) / np.maximum(cameras_used, 1)
    return Triangulation(
        np.where(solved[:, None], found.places, np.nan).reshape(*shape, 3),
        np.where(solved, mean, np.nan).reshape(shape),
        cameras_used.reshape(shape),
        found.errors.reshape(count, *shape),
        reason.reshape(shape),
        observed.reshape(count, *shape),
        limit,
        swaps,
    )


class _Solved(NamedTuple):
    """Of all points: places (points, 3); errors, kept, outside (cameras, points); agrees, parallel, behind (points)."""

    places: np.ndarray
    errors: np.ndarray
    kept: np.ndarray
    outside: np.ndarray
    agrees: np.ndarray
    parallel: np.ndarray
    behind: np.ndarray


def _ordinary_error(rig, points, weight) -> float:
    """Of a few thousand points spread over the recording and over the landmarks."""
    landmarks = points.shape[-2]
    points, weight = points.reshape(len(points), -1, 2), weight.reshape(len(points), -1)
    every = max(weight.shape[1] // _SAMPLE, 1)
    while gcd(every, landmarks) > 1:  # else the same few landmarks would be taken in every frame
        every -= 1
    points, weight = points[:, ::every], weight[:, ::every]
    views, _ = dlt.look(rig, np.ascontiguousarray(points.transpose(0, 2, 1)), weight, weight > 0)
    return ordinary_error(rig, views)


def _solve_all(rig, points, weight, usable, refine, options) -> _Solved:
    """Round by round, from pixels (cameras, points, 2), weight and usable (cameras, points)."""
    count, total = usable.shape
    every = _Solved(
        np.empty((total, 3)),
        np.empty((count, total)),
        *(np.empty((count, total), dtype=bool) for _ in range(2)),
        *(np.empty(total, dtype=bool) for _ in range(3)),
    )
    for start in range(0, total, _CHUNK):
        part = slice(start, start + _CHUNK)
        pixels = np.ascontiguousarray(points[:, part].transpose(0, 2, 1))
        views, every.outside[:, part] = dlt.look(rig, pixels, weight[:, part], usable[:, part])
        found = agree(rig, views, **options)
        places, errors = found.places, found.errors
        if refine:
            places = np.where(found.agrees, places, np.nan)
            places = refine_places(rig, views.bent, np.where(found.kept, views.weight, 0.0), places)
            again = dlt.pixel_errors(rig, places, views.bent)
            errors = np.where(views.usable & found.agrees, again, errors)
        every.places[part], every.errors[:, part], every.kept[:, part] = places.T, errors, found.kept
        every.agrees[part], every.parallel[part], every.behind[part] = found.agrees, found.parallel, found.behind
    return every


def _reasons(seen, usable, found, unclear, min_cameras) -> np.ndarray:
    """A `Reason` per point; the first that applies."""
    few = {
        Reason.NOT_SEEN: ~seen.any(axis=0),
        Reason.TOO_FEW_CAMERAS: seen.sum(axis=0) < min_cameras,
        Reason.LOW_CONFIDENCE: usable.sum(axis=0) < min_cameras,
        Reason.OUTSIDE_LENS: (usable & ~found.outside).sum(axis=0) < min_cameras,
        Reason.SIDES_UNCLEAR: unclear,
        Reason.PARALLEL_RAYS: found.parallel,
        Reason.BEHIND_CAMERA: found.behind,
        Reason.ERROR_TOO_LARGE: ~found.agrees,
    }
    return np.select(list(few.values()), list(few), Reason.SOLVED).astype(np.int8)


def _axes(points) -> str:
    return " ".join(f"axis{i}" for i in range(1, np.ndim(points) - 1))
