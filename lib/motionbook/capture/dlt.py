"""The linear equations of triangulation for many points at once, and two ways to solve them.

Each picture of a point gives two equations in its world place (direct linear transform, Hartley and Zisserman, section
12.2), row . X = side, scaled by the focal length so that every camera's residuals are pixels (times depth) and by the
confidence. Products of rows are quadratic in the picture's coordinates; with the five numbers w^2 (u^2, u, v^2, v, 1)
of each picture, the normal matrix of any set of cameras is one matrix product. That is what makes trying every subset
of cameras cheap.

Arrays here have the coordinates in front and the points last, (cameras, 2, points) and (3, points): every component
is contiguous.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.capture import lens
from motionbook.capture.cameras import Camera

# Upper triangle of the products of a row with itself, rows of four numbers (three of the place, the side last).
_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3), (3, 3))


class Rig(NamedTuple):
    """Cameras as arrays: rotation (cameras, 3, 3), translation (cameras, 3), focal and principal (cameras, 2),
    distortion (cameras, 5), and the coefficients (10, cameras, 5) of the normal equations."""

    rotation: np.ndarray
    translation: np.ndarray
    focal: np.ndarray
    principal: np.ndarray
    distortion: np.ndarray
    coefficients: np.ndarray


class Views(NamedTuple):
    """Pictures of points: ``bent`` (cameras, 2, points) in units of the focal length as seen, ``flat`` without the
    lens, ``usable`` (cameras, points), ``weight`` (cameras, points)."""

    bent: np.ndarray
    flat: np.ndarray
    usable: np.ndarray
    weight: np.ndarray


def make_rig(cameras: Sequence[Camera], *, undistort: bool = True) -> Rig:
    """Cameras as arrays; without ``undistort`` their lenses are taken as perfect."""
    rotation = np.stack([rot.to_matrix(camera.rotation) for camera in cameras])
    translation = np.stack([camera.translation for camera in cameras])
    focal = np.stack([camera.intrinsics[[0, 1], [0, 1]] for camera in cameras])
    principal = np.stack([camera.intrinsics[:2, 2] for camera in cameras])
    distortion = np.stack([camera.distortion for camera in cameras])
    coefficients = np.zeros((10, len(cameras), 5))
    for c in range(len(cameras)):
        # row_k(u) = focal (u * slope_k + offset_k) with k = 0..3; the side carries the opposite sign
        slope = np.append(rotation[c, 2], -translation[c, 2])
        for axis in (0, 1):
            offset = -np.append(rotation[c, axis], -translation[c, axis])
            square = focal[c, axis] ** 2
            for k, (i, j) in enumerate(_PAIRS):
                coefficients[k, c, 2 * axis] = square * slope[i] * slope[j]
                coefficients[k, c, 2 * axis + 1] = square * (slope[i] * offset[j] + slope[j] * offset[i])
                coefficients[k, c, 4] += square * offset[i] * offset[j]
    return Rig(rotation, translation, focal, principal, distortion if undistort else 0 * distortion, coefficients)


def basis(flat, weight) -> np.ndarray:
    """The five numbers (cameras, 5, points) of each picture from flat (cameras, 2, points), weight (cameras, points).

    Pictures of weight 0 must still be finite.
    """
    five = np.empty((len(flat), 5, flat.shape[2]))
    np.multiply(weight, weight, out=five[:, 4])
    for axis in (0, 1):
        np.multiply(five[:, 4], flat[:, axis], out=five[:, 2 * axis + 1])
        np.multiply(five[:, 2 * axis + 1], flat[:, axis], out=five[:, 2 * axis])
    return five


def solve(rig: Rig, five: np.ndarray, kept: Sequence[int], method: str = "normal") -> np.ndarray:
    """World places (3, points) from the cameras ``kept``; NaN where their rays have no single meeting point.

    Parameters
    ----------
    rig : Rig
    five : (cameras, 5, points)
        Of `basis`.
    kept : sequence of int
    method : {"normal", "homogeneous"}
        "normal" solves the 3 x 3 normal equations by their closed-form inverse. "homogeneous" takes (X, 1) along the
        eigenvector of the smallest eigenvalue of the 4 x 4 matrix, the singular vector that Pose2Sim takes; its
        answer depends on the unit and origin of the world, by 0.7 mm at residuals of 10 px.
    """
    kept = list(kept)
    terms = rig.coefficients[:, kept].reshape(10, -1) @ five[kept].reshape(5 * len(kept), -1)
    return _closed_form(terms) if method == "normal" else _smallest_eigenvector(terms)


def _closed_form(terms):
    a, b, c, d, e, f, x, y, z, _ = terms
    i00, i01, i02 = d * f - e * e, c * e - b * f, b * e - c * d  # adjugate
    i11, i12, i22 = a * f - c * c, b * c - a * e, a * d - b * b
    determinant = a * i00 + b * i01 + c * i02
    # Rays that are all but parallel leave the matrix singular to rounding: no place, rather than a wild one.
    size = np.maximum(a + d + f, 1e-300)
    scale = 1.0 / np.where(determinant > 1e-13 * size**3, determinant, np.nan)
    return np.stack(
        [
            (i00 * x + i01 * y + i02 * z) * scale,
            (i01 * x + i11 * y + i12 * z) * scale,
            (i02 * x + i12 * y + i22 * z) * scale,
        ]
    )


def _smallest_eigenvector(terms):
    regular = np.isfinite(_closed_form(terms)).all(axis=0)
    matrix = np.empty((terms.shape[1], 4, 4))
    for k, (i, j) in enumerate(_PAIRS):
        matrix[:, i, j] = matrix[:, j, i] = terms[k] if (j < 3 or i == 3) else -terms[k]
    vector = np.linalg.eigh(matrix)[1][:, :, 0].T
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(regular, vector[:3] / vector[3], np.nan)


def in_camera(rig: Rig, places: np.ndarray) -> np.ndarray:
    """World places (3, points) in every camera's axes, (cameras, 3, points)."""
    count = len(rig.rotation)
    turned = (rig.rotation.reshape(3 * count, 3) @ places).reshape(count, 3, -1)
    turned += rig.translation[..., None]
    return turned


def residuals(rig: Rig, places: np.ndarray, bent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pixels (cameras, points) in x and in y from what was seen to where the places (3, points) appear.

    The lens is included; a place behind a camera gives NaN.
    """
    seen = in_camera(rig, places)
    off = np.empty((2, *bent.shape[::2]))
    for c in range(len(seen)):
        scale = 1.0 / np.where(seen[c, 2] > 1e-6, seen[c, 2], np.nan)
        x, y = seen[c, 0] * scale, seen[c, 1] * scale
        if rig.distortion[c].any():
            x, y = lens.distort(rig.distortion[c], x, y)
        off[0, c] = (x - bent[c, 0]) * rig.focal[c, 0]
        off[1, c] = (y - bent[c, 1]) * rig.focal[c, 1]
    return off[0], off[1]


def pixel_errors(rig: Rig, places: np.ndarray, bent: np.ndarray) -> np.ndarray:
    """Distance in pixels (cameras, points) between where places (3, points) appear and what was seen."""
    x, y = residuals(rig, places, bent)
    return np.sqrt(x * x + y * y)


def look(rig: Rig, pixels: np.ndarray, weight: np.ndarray, usable: np.ndarray) -> tuple[Views, np.ndarray]:
    """Views of pixels (cameras, 2, points), and which usable ones lie where the lens reaches no place.

    Those are not usable; every picture that is not usable has weight 0 and lies at the centre.
    """
    bent = (pixels - rig.principal[..., None]) / rig.focal[..., None]
    flat = bent.copy()
    for c, coefficients in enumerate(rig.distortion):
        if coefficients.any():
            flat[c] = lens.undistort(coefficients, bent[c, 0], bent[c, 1])
    outside = usable & np.isnan(flat[:, 0])
    usable = usable & ~outside
    np.copyto(flat, 0.0, where=~usable[:, None])
    return Views(bent, flat, usable, np.where(usable, weight, 0.0)), outside
