"""Whether a calibration file's lens agrees with pictures of a board."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook.capture.boards import Board, board_points, opencv
from motionbook.capture.cameras import Camera, normalised
from motionbook.capture.intrinsics import calibrate_intrinsics, check_views

# what files get wrong: Qualisys' sub-pixel factor either way, and the sign (a model that goes the other way)
FACTORS = (64.0, 1 / 64, -1.0)


class LensCheck(NamedTuple):
    """A file's lens against the board.

    Attributes
    ----------
    camera : Camera
        As in the file.
    measured : Camera
        Estimated from the board: principal point held where the file has it, k1 and k2 free.
    deviations : (9,)
        Standard deviations of the measured fx fy cx cy k1 k2 p1 p2 k3.
    rms, rms_measured, rms_straight : float
        Pixels: with the file's lens, with the measured one, and with no distortion at all; poses refitted each time.
    factor : float
        1, or the factor on the file's distortion with which it agrees with the board clearly better.
    contradicted : bool
        Whether the file's distortion is clearly worse than the measured one.
    verdict : str
        In words.
    """

    camera: Camera
    measured: Camera
    deviations: np.ndarray
    rms: float
    rms_measured: float
    rms_straight: float
    factor: float
    contradicted: bool
    verdict: str


def check_lens(camera: Camera, board: Board, points) -> LensCheck:
    """Compare a camera's distortion with what pictures of a board say.

    Focal length and principal point stay the file's while its distortion is tried as it stands, 64 times larger, 64 times
    smaller and with its sign turned; the poses of the board are refitted for each. The file is contradicted when the
    measured k1 and k2, or one of those, fit clearly better.

    Parameters
    ----------
    points : (views, corners, 2)
        Corners in pictures of the calibration's size.
    """
    cv2 = opencv()
    points = np.asarray(points, dtype=np.float64)
    usable = check_views(board, points, camera.size, camera.name)
    own = calibrate_intrinsics(board, points, camera.size, name=camera.name, centre="fixed")
    usable = np.array([i for i in usable if np.isfinite(own.view_rms[i])])  # without the views it left out
    views = points[usable]
    rms = {factor: _fit(cv2, board, _rescaled(camera, factor), views) for factor in (1.0, 0.0, *FACTORS)}
    free = _best_lens(cv2, board, camera, views)
    measured = replace(camera, intrinsics=own.camera.intrinsics, distortion=free.distortion)
    best = min(FACTORS, key=lambda factor: rms[factor])
    least = _fit(cv2, board, free, views)
    count = np.isfinite(views).all(axis=-1).sum()
    # a fifth in squared error with hundreds of corners is far beyond chance; below 1/50 px nobody is harmed
    contradicted = rms[1.0] ** 2 > least**2 * (1 + max(0.2, 40 / count)) and rms[1.0] - least > 0.02
    factor = best if contradicted and rms[best] ** 2 < (0.5 * rms[1.0] ** 2 + 0.5 * least**2) else 1.0
    k1, k2 = camera.distortion[:2]
    m1, m2 = free.distortion[:2]
    verdict = (
        f"{camera.name}: the file's k1 {k1:+.5f}, k2 {k2:+.5f} leave {rms[1.0]:.3f} px; the board asks for {m1:+.4f} +- "
        f"{own.deviations[4]:.4f}, {m2:+.4f} +- {own.deviations[5]:.4f} ({least:.3f} px); no distortion leaves {rms[0.0]:.3f} px. "
    )
    if factor != 1.0:
        words = f"{factor:g} times as large" if abs(factor) >= 1 else f"{1 / factor:g} times smaller"
        verdict += f"The file is contradicted: its values, {words}, leave {rms[factor]:.3f} px"
    elif contradicted:
        verdict += "The file is contradicted: calibrate this lens again"
    else:
        verdict += "The board agrees with the file"
    return LensCheck(
        camera, measured, own.deviations, rms[1.0], least, rms[0.0], factor, bool(contradicted), verdict
    )  # fmt: skip


def rescale_lens(cameras: Sequence[Camera], factor: float) -> tuple[Camera, ...]:
    """Cameras with all distortion coefficients times ``factor``."""
    return tuple(_rescaled(camera, factor) for camera in cameras)


def _rescaled(camera, factor):
    return replace(camera, distortion=camera.distortion * factor)


def _fit(cv2, board, camera, views) -> float:
    """Root mean squared distance in pixels with every view's pose refitted to this lens."""
    places = board_points(board)
    total, count = 0.0, 0
    for view in views:
        seen = np.isfinite(normalised(camera, view)).all(axis=-1)
        lens = camera.intrinsics, camera.distortion
        _, turn, shift = cv2.solvePnP(places[seen], view[seen], *lens, flags=cv2.SOLVEPNP_IPPE)
        turn, shift = cv2.solvePnPRefineLM(places[seen], view[seen], *lens, turn, shift)
        at, _ = cv2.projectPoints(places[seen], turn, shift, *lens)
        total += ((at.reshape(-1, 2) - view[seen]) ** 2).sum()
        count += seen.sum()
    return float(np.sqrt(total / count)) if count else np.inf


def _best_lens(cv2, board, camera, views) -> Camera:
    """The camera with k1 and k2 as the board has them, all else the file's."""
    places = board_points(board).astype(np.float32)
    seen = [np.isfinite(view).all(axis=-1) for view in views]
    flags = (
        cv2.CALIB_USE_INTRINSIC_GUESS | cv2.CALIB_FIX_FOCAL_LENGTH | cv2.CALIB_FIX_PRINCIPAL_POINT
        | cv2.CALIB_ZERO_TANGENT_DIST | cv2.CALIB_FIX_K3
    )  # fmt: skip
    _, _, distortion, _, _ = cv2.calibrateCamera(
        [places[s] for s in seen], [v[s].astype(np.float32) for v, s in zip(views, seen, strict=True)], camera.size,
        camera.intrinsics.copy(), np.zeros(5), flags=flags,
    )  # fmt: skip
    return replace(camera, distortion=np.ravel(distortion)[:5])
