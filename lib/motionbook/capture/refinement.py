"""Places that minimise the reprojection error itself, from linear solutions.

The linear solution minimises pixels times depth and so trusts far cameras too much. Levenberg-Marquardt on the pixel
distances, lens included, corrects that; every point has its own damping and all points step at once.
"""

import numpy as np

from motionbook.capture import dlt, lens


def refine(rig: dlt.Rig, bent, weight, places, *, rounds: int = 10, tolerance: float = 1e-9) -> np.ndarray:
    """Places (3, points) of least weighted squared pixel distance, by Levenberg-Marquardt.

    Parameters
    ----------
    rig : Rig
    bent : (cameras, 2, points)
        What was seen, as `motionbook.capture.dlt.Views` holds it.
    weight : (cameras, points)
        0 leaves a picture out.
    places : (3, points)
        Where to start; NaN stays NaN. A step is taken only where it lowers the cost.
    rounds : int
    tolerance : float
        Metres; points whose last step is shorter are done.
    """
    places = places.copy()
    active = np.flatnonzero(np.isfinite(places[0]))
    damping = np.full(places.shape[1], 1e-6)
    cost = np.full(places.shape[1], np.nan)
    cost[active] = _cost(rig, bent[:, :, active], weight[:, active], places[:, active])
    for _ in range(rounds):
        if not len(active):
            break
        seen, w, start = bent[:, :, active], weight[:, active], places[:, active]
        normal, slope = _normal_equations(rig, seen, w, start)
        normal[:, [0, 1, 2], [0, 1, 2]] *= (1.0 + damping[active])[:, None]
        step = -np.linalg.solve(normal, slope[..., None])[..., 0].T
        new = _cost(rig, seen, w, start + step)
        better = new <= cost[active]
        places[:, active[better]] += step[:, better]
        cost[active[better]] = new[better]
        damping[active] *= np.where(better, 0.1, 100.0)
        active = active[np.abs(step).max(axis=0) > tolerance]
    return places


def _cost(rig, bent, weight, places):
    """Weighted squared pixels (points,), infinite where a picture with weight has the place behind it."""
    x, y = dlt.residuals(rig, places, bent)
    square = np.where(weight > 0, weight**2 * (x * x + y * y), 0.0).sum(axis=0)
    return np.where(np.isnan(square), np.inf, square)


def _normal_equations(rig, bent, weight, places):
    """Gauss-Newton matrix (points, 3, 3) and gradient (points, 3)."""
    seen = dlt.in_camera(rig, places)
    normal, slope = np.zeros((places.shape[1], 3, 3)), np.zeros((places.shape[1], 3))
    for c in range(len(seen)):
        on = (weight[c] > 0) & (seen[c, 2] > 1e-6)
        scale = 1.0 / np.where(on, seen[c, 2], 1.0)
        x, y = np.where(on, seen[c, :2] * scale, 0.0)
        got_x, got_y = lens.distort(rig.distortion[c], x, y)
        xx, xy, yy = lens.slopes(rig.distortion[c], x, y)
        # d(x, y) / d(camera axes) = [[1, 0, -x], [0, 1, -y]] / depth
        fx, fy = rig.focal[c]
        w = np.where(on, weight[c], 0.0)
        for focal, got, want, by_x, by_y in ((fx, got_x, bent[c, 0], xx, xy), (fy, got_y, bent[c, 1], xy, yy)):
            camera_row = np.stack([by_x, by_y, -(by_x * x + by_y * y)], axis=-1) * (focal * w * scale)[:, None]
            row = camera_row @ rig.rotation[c]
            off = np.where(on, focal * w * (got - want), 0.0)
            normal += row[:, :, None] * row[:, None, :]
            slope += row * off[:, None]
    return normal, slope
