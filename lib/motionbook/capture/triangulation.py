"""World points from the same points in several pictures: confidence-weighted linear triangulation.

Each picture of a point gives two linear equations in its world place (direct linear transform, Hartley and Zisserman,
section 12.2). They are weighted by the detector's confidence and solved in the least-squares sense for all frames and
points at once through the 3 x 3 normal equations, whose inverse is closed form.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.cameras import Camera, normalised, project
from motionbook.checks import check_shape


class Triangulation(NamedTuple):
    """World points and how far to trust them.

    Attributes
    ----------
    positions : (..., 3)
        Metres (the cameras' unit); NaN where fewer than two cameras saw the point or their rays are parallel.
    error : (...)
        Mean distance in pixels between the point put back into the pictures that were used and what was seen there.
    cameras_used : (...) int
    camera_errors : (cameras, ...)
        The same distance per camera, NaN where a camera was not used.
    """

    positions: np.ndarray
    error: np.ndarray
    cameras_used: np.ndarray
    camera_errors: np.ndarray


def triangulate(
    cameras: Sequence[Camera], points, confidence=None, *, min_confidence: float = 0.0, min_cameras: int = 2
) -> Triangulation:
    """Weighted direct linear triangulation of all points of all frames.

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

    Raises
    ------
    ValueError
        When shapes do not agree with the number of cameras, or min_cameras is below 2.
    """
    points = check_shape(points, f"{len(cameras)} ... 2".replace("...", _axes(points)), "points")
    weight = np.ones(points.shape[:-1]) if confidence is None else np.array(confidence, dtype=np.float64)
    if weight.shape != points.shape[:-1]:
        raise ValueError(f"confidence: expected one number per point {points.shape[:-1]}, got {weight.shape}")
    if min_cameras < 2:
        raise ValueError(f"min_cameras: expected at least 2, one camera sees no depth, got {min_cameras}")
    flat = np.stack([normalised(camera, seen) for camera, seen in zip(cameras, points, strict=True)])
    used = np.isfinite(flat).all(axis=-1) & np.isfinite(weight) & (weight > 0) & (weight >= min_confidence)
    count = used.sum(axis=0)
    positions = _solve(cameras, np.where(used[..., None], flat, 0.0), np.where(used, weight, 0.0))
    positions[count < min_cameras] = np.nan
    errors = np.full(used.shape, np.nan)
    for index, camera in enumerate(cameras):
        back = project(camera, positions)
        errors[index] = np.where(used[index], np.linalg.norm(back - points[index], axis=-1), np.nan)
    seen = np.isfinite(errors)
    total = np.where(seen, errors, 0.0).sum(axis=0)
    mean = np.where(seen.any(axis=0), total / np.maximum(seen.sum(axis=0), 1), np.nan)
    return Triangulation(positions, mean, count, errors)


def _axes(points) -> str:
    return " ".join(f"axis{i}" for i in range(1, np.ndim(points) - 1))


def _solve(cameras, flat, weight) -> np.ndarray:
    """Least squares of the weighted equations row . X = side; NaN where they have no single solution."""
    shape = flat.shape[1:-1]
    m = np.zeros((6, *shape))  # upper triangle of the normal matrix: 00 01 02 11 12 22
    v = np.zeros((3, *shape))
    pairs = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    for camera, place, w in zip(cameras, flat, weight, strict=True):
        r, t = rot.to_matrix(camera.rotation), camera.translation
        for axis in (0, 1):
            # scaled by the focal length so that residuals are pixels in every camera
            scale = camera.intrinsics[axis, axis] * w
            u = place[..., axis]
            row = [scale * (u * r[2, k] - r[axis, k]) for k in range(3)]
            side = scale * (t[axis] - u * t[2])
            for k, (i, j) in enumerate(pairs):
                m[k] += row[i] * row[j]
            for k in range(3):
                v[k] += row[k] * side
    a, b, c, d, e, f = m
    inverse = np.stack(
        [d * f - e * e, c * e - b * f, b * e - c * d, a * f - c * c, b * c - a * e, a * d - b * b]
    )  # adjugate, same order
    determinant = a * inverse[0] + b * inverse[1] + c * inverse[2]
    # Rays that are all but parallel leave the normal matrix singular to rounding: no place, rather than a wild one.
    size = np.maximum(a + d + f, 1e-300)
    solvable = determinant > 1e-13 * size**3
    determinant = np.where(solvable, determinant, np.nan)
    i00, i01, i02, i11, i12, i22 = inverse
    x, y, z = v
    solved = np.stack([i00 * x + i01 * y + i02 * z, i01 * x + i11 * y + i12 * z, i02 * x + i12 * y + i22 * z], axis=-1)
    return solved / determinant[..., None]
