"""Lens distortion on plain coordinate arrays: OpenCV's model k1 k2 p1 p2 k3, and its inverse by Newton's method.

Places are x/z and y/z in a camera's axes, given as two arrays of any one shape. The radial polynomial of a lens with
negative coefficients turns back at some radius; what lies beyond it is no picture of anything, and a place there has
no inverse.
"""

import numpy as np


def distort(coefficients, x, y) -> tuple[np.ndarray, np.ndarray]:
    """Where the lens puts the places x, y (...)."""
    k1, k2, p1, p2, k3 = coefficients
    square = x * x + y * y
    radial = 1.0 + square * (k1 + square * (k2 + square * k3))
    cross = 2.0 * x * y
    return (
        x * radial + p1 * cross + p2 * (square + 2.0 * x * x),
        y * radial + p1 * (square + 2.0 * y * y) + p2 * cross,
    )


def slopes(coefficients, x, y) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Derivatives of `distort`: of its x by x, of its x by y (equal to its y by x), of its y by y, each (...)."""
    k1, k2, p1, p2, k3 = coefficients
    square = x * x + y * y
    radial = 1.0 + square * (k1 + square * (k2 + square * k3))
    steep = 2.0 * (k1 + square * (2.0 * k2 + 3.0 * k3 * square))
    return (
        radial + steep * x * x + 2.0 * p1 * y + 6.0 * p2 * x,
        steep * x * y + 2.0 * p1 * x + 2.0 * p2 * y,
        radial + steep * y * y + 6.0 * p1 * y + 2.0 * p2 * x,
    )


def undistort(coefficients, bent_x, bent_y, *, tolerance: float = 1e-9, rounds: int = 30):
    """Inverse of `distort`: x and y (...), NaN where the lens reaches no such place.

    Newton's method converges quadratically, so a last step below ``tolerance`` leaves only rounding. Most places are
    done after three rounds; only the others go on.
    """
    coefficients = np.asarray(coefficients, dtype=np.float64)
    if not coefficients.any():
        return np.array(bent_x), np.array(bent_y)
    shape = np.shape(bent_x)
    bent_x, bent_y = np.ravel(bent_x), np.ravel(bent_y)
    x, y = bent_x.copy(), bent_y.copy()
    done = np.zeros(x.shape, dtype=bool)
    with np.errstate(all="ignore"):
        for _ in range(3):
            step = _newton(coefficients, x, y, bent_x, bent_y)
        done = step < tolerance
        rest = np.flatnonzero(~done & np.isfinite(bent_x) & np.isfinite(bent_y))
        for _ in range(rounds):
            if not len(rest):
                break
            px, py = x[rest], y[rest]
            step = _newton(coefficients, px, py, bent_x[rest], bent_y[rest])
            x[rest], y[rest] = px, py
            done[rest] = step < tolerance
            rest = rest[(step >= tolerance)]
        good = done & (x * x + y * y < _reach(coefficients))
    x[~good] = y[~good] = np.nan
    return x.reshape(shape), y.reshape(shape)


def _newton(coefficients, x, y, bent_x, bent_y):
    """One step in place; its larger component."""
    got_x, got_y = distort(coefficients, x, y)
    xx, xy, yy = slopes(coefficients, x, y)
    off_x, off_y = bent_x - got_x, bent_y - got_y
    determinant = xx * yy - xy * xy
    step_x, step_y = (yy * off_x - xy * off_y) / determinant, (xx * off_y - xy * off_x) / determinant
    x += step_x
    y += step_y
    return np.maximum(np.abs(step_x), np.abs(step_y))


def _reach(coefficients) -> float:
    """Squared radius at which the radial polynomial turns back; infinite where it never does."""
    k1, k2, _, _, k3 = coefficients
    roots = np.roots([7.0 * k3, 5.0 * k2, 3.0 * k1, 1.0])
    real = roots[np.abs(roots.imag) < 1e-9 * np.maximum(np.abs(roots), 1e-300)].real
    return float(min(real[real > 0], default=np.inf))
