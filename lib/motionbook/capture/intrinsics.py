"""One camera's lens from pictures of a board: Zhang's method (2000) through OpenCV, with its failures put in words."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionbook.capture.boards import Board, board_points, describe, opencv
from motionbook.capture.bundle import LENS_NAMES
from motionbook.capture.cameras import Camera
from motionbook.checks import check_shape

MIN_CORNERS = 6
MIN_VIEWS = 4
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


class Intrinsics(NamedTuple):
    """A camera's lens and how well it is known.

    Attributes
    ----------
    camera : Camera
        At the origin, looking along +z.
    deviations : (9,)
        Standard deviations of fx fy cx cy k1 k2 p1 p2 k3; 0 for what was held fixed.
    rms : float
        Root of the mean squared distance in pixels over the corners of the views used.
    view_rms : (views,)
        The same for every view; NaN for views that were not used.
    notes : tuple of str
    """

    camera: Camera
    deviations: np.ndarray
    rms: float
    view_rms: np.ndarray
    notes: tuple[str, ...]


def calibrate_intrinsics(
    board: Board,
    points,
    size: tuple[int, int],
    *,
    name: str = "camera",
    lens: Sequence[str] = ("k1", "k2"),
    centre: str = "free",
    views: int = 60,
    labels: Sequence | None = None,
    loosest: float = 0.05,
) -> Intrinsics:
    """Focal lengths, principal point and distortion of one camera.

    Parameters
    ----------
    points : (views, corners, 2)
        Pixels of the board's inner corners, NaN where not seen.
    size : (int, int)
        Width and height of the pictures.
    lens : sequence of str
        Which of k1 k2 p1 p2 k3 to estimate; the others are 0.
    centre : "free" or "fixed"
        Whether the principal point is estimated or held in the picture's middle; few views do not determine it.
    views : int
        At most so many views are used, spread over the picture and over distances.
    labels : sequence, optional
        Names of the views for the report.
    loosest : float
        Refuse a focal length whose standard deviation is a larger part of it.

    Raises
    ------
    ValueError
        With the camera's name and what to do: board never seen, too few or mirrored views, corners that lie on
        another board, views that leave the focal length undetermined, a result that is not finite.
    """
    cv2 = opencv()
    points = check_shape(points, f"views {len(board_points(board))} 2", f"{name}: points")
    unknown = set(lens) - set(LENS_NAMES[4:])
    if unknown or centre not in ("free", "fixed"):
        raise ValueError(f"lens: expected some of k1 k2 p1 p2 k3 and centre 'free' or 'fixed', got {lens}, {centre!r}")
    labels = list(range(len(points))) if labels is None else list(labels)
    usable = check_views(board, points, size, name)
    chosen = _spread(points, usable, views)
    solved = _solve(cv2, board, points, chosen, size, lens, centre, name)
    notes = []
    errors = solved[2]
    bad = errors > max(1.0, 3 * np.median(errors))
    if bad.any() and (~bad).sum() >= MIN_VIEWS:
        listed = ", ".join(f"{labels[i]} ({e:.2f} px)" for i, e in zip(chosen[bad], errors[bad], strict=True))
        notes.append(f"{name}: left out, far above the others' {np.median(errors):.2f} px: {listed}")
        chosen = chosen[~bad]
        solved = _solve(cv2, board, points, chosen, size, lens, centre, name)
    values, deviations, errors = solved
    view_rms = np.full(len(points), np.nan)
    view_rms[chosen] = errors
    counts = np.isfinite(points[chosen]).all(axis=-1).sum(axis=-1)
    rms = float(np.sqrt((errors**2 * counts).sum() / counts.sum()))
    side = _square_pixels(board, points[chosen])
    if rms > max(3.0, 0.06 * side):
        raise ValueError(
            f"{name}: the corners are {rms:.1f} px from where a board with {describe(board)} can put them (a square is "
            f"{side:.0f} px): is it another board, are columns and rows exchanged, or is the print bent?"
        )
    loose = deviations[:2].max() / values[0]
    if not loose <= loosest:
        raise ValueError(
            f"{name}: the views leave the focal length undetermined ({values[0]:.0f} +- {deviations[0]:.0f} px): hold "
            "the board tilted by 20 to 45 degrees to either side, also near the edges, not only facing the camera; or "
            "estimate less (centre='fixed', lens=('k1',))"
        )
    if loose > 0.01:
        notes.append(f"{name}: focal length known to {100 * loose:.1f} % only; add tilted views")
    if abs(values[0] / values[1] - 1) > max(0.02, 3 * loose):
        notes.append(
            f"{name}: fx and fy differ by {100 * abs(values[0] / values[1] - 1):.1f} %: was the board printed with its "
            "two sides scaled differently, or the video squeezed?"
        )
    if rms > 2.0:
        notes.append(f"{name}: {rms:.2f} px is much; a very wide lens needs k3 as well, or a fisheye model")
    intrinsics = np.array([[values[0], 0, values[2]], [0, values[1], values[3]], [0, 0, 1]])
    camera = Camera(intrinsics, values[4:], IDENTITY, np.zeros(3), size, name)
    return Intrinsics(camera, deviations, rms, view_rms, tuple(notes))


def check_views(board: Board, points, size: tuple[int, int], name: str) -> np.ndarray:
    """Indices of the views with enough corners that do not lie on one line; refuses what cannot be calibrated."""
    seen = np.isfinite(points).all(axis=-1)
    counts = seen.sum(axis=-1)
    if not seen.any():
        raise ValueError(
            f"{name}: the board ({describe(board)}) was never seen: show it to this camera, and check the board's "
            "parameters and that its squares cover at least 20 pixels"
        )
    width, height = size
    outside = seen & ~((points >= -1) & (points <= [width, height])).all(axis=-1)
    if outside.mean(where=seen) > 0.01:
        far = np.nanmax(points, axis=(0, 1))
        raise ValueError(
            f"{name}: {outside.sum()} of {seen.sum()} corners lie outside the picture of {width} x {height} pixels "
            f"(up to {far[0]:.0f}, {far[1]:.0f}): the size is wrong, turned (portrait) or scaled"
        )
    usable = np.flatnonzero(counts >= MIN_CORNERS)
    usable = np.array([i for i in usable if _spans(board, seen[i])], dtype=int)
    if len(usable) < MIN_VIEWS:
        raise ValueError(
            f"{name}: {len(usable)} pictures show {MIN_CORNERS} corners or more that are not on one line, at least "
            f"{MIN_VIEWS} are needed (the most seen at once is {counts.max()} of {points.shape[1]}): hold "
            f"the board closer, "
            "whole and still, and avoid glare"
        )
    mirrored = np.array([_orientation(board, points[i]) < 0 for i in usable])
    if mirrored.mean() > 0.5:
        raise ValueError(
            f"{name}: the board's corners run the wrong way round in {mirrored.sum()} of {len(usable)} "
            f"pictures: the video "
            "is mirrored (switch off selfie mode), or x and y, or the order of corners, are exchanged"
        )
    return usable[~mirrored]


def _spans(board, seen) -> bool:
    on = board_points(board)[seen, :2]
    return np.linalg.matrix_rank(on - on.mean(axis=0), tol=1e-9) == 2


def _orientation(board, points) -> float:
    """Positive when x to y turns the same way on the board's printed side and in the picture (y down in both)."""
    seen = np.isfinite(points).all(axis=-1)
    on = np.column_stack([board_points(board)[seen, :2], np.ones(seen.sum())])
    linear = np.linalg.lstsq(on, points[seen], rcond=None)[0][:2]
    return float(np.linalg.det(linear))


def _square_pixels(board, points) -> float:
    columns, rows = board.columns - 1, board.rows - 1
    grid = points.reshape(len(points), rows, columns, 2)
    steps = np.concatenate([np.linalg.norm(np.diff(grid, axis=a), axis=-1).ravel() for a in (1, 2)])
    return float(np.nanmedian(steps)) if np.isfinite(steps).any() else np.nan


def _spread(points, usable, most) -> np.ndarray:
    """Farthest-point choice of views by where the board is and how large."""
    if len(usable) <= most:
        return usable
    middle, extent = np.nanmean(points[usable], axis=1), np.nanstd(points[usable], axis=1)
    feature = np.column_stack([middle, 2 * extent])
    feature = (feature - feature.mean(axis=0)) / np.maximum(feature.std(axis=0), 1e-9)
    chosen = [int(np.isfinite(points[usable]).all(axis=-1).sum(axis=-1).argmax())]
    away = np.linalg.norm(feature - feature[chosen[0]], axis=1)
    while len(chosen) < most:
        chosen.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(feature - feature[chosen[-1]], axis=1))
    return usable[np.sort(chosen)]


def _solve(cv2, board, points, chosen, size, lens, centre, name):
    """Values and deviations of the nine lens parameters, and the rms of every chosen view."""
    places = board_points(board).astype(np.float32)
    seen = [np.isfinite(points[i]).all(axis=-1) for i in chosen]
    on = [places[s] for s in seen]
    at = [points[i][s].astype(np.float32) for i, s in zip(chosen, seen, strict=True)]
    flags = 0
    if centre == "fixed":
        flags |= cv2.CALIB_FIX_PRINCIPAL_POINT
    if not {"p1", "p2"} & set(lens):
        flags |= cv2.CALIB_ZERO_TANGENT_DIST
    for value in ("k1", "k2", "k3"):
        if value not in lens:
            flags |= getattr(cv2, f"CALIB_FIX_{value.upper()}")
    # 2 views of one lens estimated twice from different starts agree to 1e-4 px with these limits
    stop = (cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 200, 1e-10)
    try:
        _, k, d, _, _, off, _, errors = cv2.calibrateCameraExtended(
            on, at, tuple(int(n) for n in size), None, None, flags=flags, criteria=stop
        )
    except cv2.error as error:
        raise ValueError(
            f"{name}: {len(chosen)} views gave OpenCV nothing to start from "
            f"({str(error).strip().splitlines()[-1]}); show "
            "the board whole and tilted"
        ) from error
    values = np.concatenate([[k[0, 0], k[1, 1], k[0, 2], k[1, 2]], np.ravel(d)[:5]])
    if not np.isfinite(values).all() or min(values[:2]) <= 0:
        raise ValueError(
            f"{name}: intrinsics came out as fx {values[0]:g}, fy {values[1]:g} from {len(chosen)} views: "
            f"too few corners "
            "or all from one direction; show the board whole, tilted, and at several distances"
        )
    return values, np.ravel(off)[:9], np.ravel(errors)
