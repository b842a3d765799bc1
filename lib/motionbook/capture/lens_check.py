"""Whether a calibration file's lens agrees with pictures of a board."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook.capture.boards import Board, board_points, opencv
from motionbook.capture.cameras import Camera
from motionbook.capture.intrinsics import calibrate_intrinsics

# what files get wrong: Qualisys' sub-pixel factor either way, and the sign (a model that goes the other way)
FACTORS = (64.0, 1 / 64, -1.0)
F_LIMIT = 10.0


class LensCheck(NamedTuple):
    """A file's lens against the board.

    Attributes
    ----------
    camera : Camera
        As in the file.
    measured : Camera
        Estimated from the board, all but k3.
    deviations : (9,)
        Standard deviations of the measured fx fy cx cy k1 k2 p1 p2 k3.
    rms, rms_measured, rms_straight : float
        Pixels: with the file's distortion, with the measured one, and with none.
    factor : float
        1, or the factor on the file's distortion that makes it agree with the board.
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

    The file's distortion is tried as it stands, 64 times larger, 64 times smaller, with its sign turned, and against k1
    and k2 free; focal lengths, principal point, p1, p2 and the board's poses are fitted each time, since a few pictures
    do not tell them from each other. The file is contradicted when its two numbers cost more squared error than chance
    would (F above 10, where 4.6 happens once in a hundred times).

    Parameters
    ----------
    points : (views, corners, 2)
        Corners in pictures of the calibration's size.
    """
    cv2 = opencv()
    points = np.asarray(points, dtype=np.float64)
    own = calibrate_intrinsics(board, points, camera.size, name=camera.name, centre="fixed")
    views = points[np.isfinite(own.view_rms)]  # without those it left out
    count = int(np.isfinite(views).all(axis=-1).sum())
    freedom = 2 * count - 6 * len(views) - 8
    rms = {factor: _fit(cv2, board, _rescaled(camera, factor), views)[0] for factor in (1.0, 0.0, *FACTORS)}
    least, measured, deviations = _fit(cv2, board, camera, views, free=True)

    def statistic(factor):
        return (rms[factor] ** 2 - least**2) / 2 / (least**2 / freedom)

    contradicted = statistic(1.0) > F_LIMIT
    best = min(FACTORS, key=lambda factor: rms[factor])
    factor = best if contradicted and statistic(best) < min(F_LIMIT, 0.5 * statistic(1.0)) else 1.0
    k1, k2 = camera.distortion[:2]
    m1, m2 = measured.distortion[:2]
    verdict = (
        f"{camera.name}: the file's k1 {k1:+.5f}, k2 {k2:+.5f} leave {rms[1.0]:.3f} px; the board asks for "
        f"{m1:+.4f} +- "
        f"{deviations[4]:.4f}, {m2:+.4f} +- {deviations[5]:.4f} ({least:.3f} px, F {statistic(1.0):.0f}); "
        f"no distortion "
        f"leaves {rms[0.0]:.3f} px. "
    )
    if factor != 1.0:
        words = {64.0: "64 times larger", 1 / 64: "64 times smaller", -1.0: "with the sign turned"}[factor]
        verdict += f"The file is contradicted; its values {words} agree with the board ({rms[factor]:.3f} px)"
    elif contradicted:
        verdict += "The file is contradicted: calibrate this lens again"
    else:
        verdict += "The board does not contradict the file"
    return LensCheck(
        camera, measured, deviations, rms[1.0], least, rms[0.0], factor, bool(contradicted), verdict
    )  # fmt: skip


def rescale_lens(cameras: Sequence[Camera], factor: float) -> tuple[Camera, ...]:
    """Cameras with all distortion coefficients times ``factor``."""
    return tuple(_rescaled(camera, factor) for camera in cameras)


def _rescaled(camera, factor):
    return replace(camera, distortion=camera.distortion * factor)


def _fit(cv2, board, camera, views, *, free=False):
    """Rms in pixels, camera and deviations with all but k3 fitted, k1 and k2 on wish."""
    places = board_points(board).astype(np.float32)
    seen = [np.isfinite(view).all(axis=-1) for view in views]
    flags = (
        cv2.CALIB_USE_INTRINSIC_GUESS | cv2.CALIB_FIX_K3
        | (0 if free else cv2.CALIB_FIX_K1 | cv2.CALIB_FIX_K2)
    )  # fmt: skip
    rms, k, distortion, _, _, deviations, _, _ = cv2.calibrateCameraExtended(
        [places[s] for s in seen], [v[s].astype(np.float32) for v, s in zip(views, seen, strict=True)], camera.size,
        camera.intrinsics.copy(), camera.distortion.copy(), flags=flags,
        criteria=(cv2.TERM_CRITERIA_COUNT + cv2.TERM_CRITERIA_EPS, 200, 1e-10),
    )  # fmt: skip
    fitted = replace(camera, intrinsics=k, distortion=np.ravel(distortion)[:5])
    return float(rms), fitted, np.ravel(deviations)[:9]
