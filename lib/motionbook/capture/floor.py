"""The floor from a board that lay still on it, with both answers a flat board allows.

Seen from far away by one camera, a board fits nearly as well when it is tilted the other way: the reprojection error
stays small while the floor is mirrored, other cameras stand under it and heels hang below it. Every camera's two
answers are put before all cameras here, and an answer that cannot be true is never taken.
"""

import warnings

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.boards import board_points, opencv
from motionbook.capture.calibration import Calibration, move_world
from motionbook.capture.camera_files import CalibrationWarning
from motionbook.capture.cameras import camera_centre, project
from motionbook.capture.detection import Sightings
from motionbook.capture.poses import board_candidates, pose_error, world_candidates

_AXES = {"x": (1.0, 0, 0), "-x": (-1.0, 0, 0), "y": (0, 1.0, 0), "-y": (0, -1.0, 0), "board": (0, 0, -1.0)}


def still_frames(sightings: Sightings, *, limit: float = 1.0, shortest: int = 5) -> np.ndarray:
    """Indices of the longest time in which the board is seen and no camera sees it move.

    Parameters
    ----------
    limit : float
        Median movement of the corners from one frame to the next, pixels.
    shortest : int
        Frames.

    Raises
    ------
    ValueError
        When the board never lies still for so long.
    """
    steps = np.linalg.norm(np.diff(sightings.points, axis=1), axis=-1)
    counts = np.isfinite(steps).sum(axis=-1)
    moved = np.full(steps.shape[:2], np.nan)
    moved[counts > 0] = np.nanmedian(steps[counts > 0], axis=-1)
    known = np.isfinite(moved)
    still = known.any(axis=0) & (np.where(known, moved, 0).max(axis=0) <= limit)
    best, start = (0, 0), None
    for index, value in enumerate([*still, False]):
        if value and start is None:
            start = index
        elif not value and start is not None:
            best = max(best, (index - start + 1, -start))
            start = None
    if best[0] < shortest:
        raise ValueError(
            f"board: never still (below {limit:g} px a frame) for {shortest} frames, the longest is "
            f"{best[0]}: lay it on the "
            "floor before or after moving it, or name the frame at which it lay there"
        )
    return np.arange(-best[1], -best[1] + best[0])


def place_on_board(calibration: Calibration, frame=None, *, up: str = "board", thickness: float = 0.0) -> Calibration:
    """The calibration in a world with the floor where the board lay: Y up, origin in its middle, +Z to the cameras.

    Parameters
    ----------
    frame : label in ``sightings.frames``, optional
        When the board lay on the floor; by default the longest time it was still.
    up : "board", "x", "-x", "y" or "-y"
        What pointed up: the printed side, or an axis of a board that stood or hung upright (y runs down its columns).
    thickness : float
        Of the board, metres: its printed side is that far above the floor.

    Warns
    -----
    CalibrationWarning
        When the answer that fits best was refused for another that can be true.

    Raises
    ------
    ValueError
        When no camera saw the board then, or every answer puts cameras under the floor or the floor on edge.
    """
    if up not in _AXES:
        raise ValueError(f"up: expected one of {', '.join(_AXES)}, got {up!r}")
    sightings, cameras = calibration.sightings, calibration.cameras
    if frame is None:
        frames = still_frames(sightings)
    elif frame in sightings.frames:
        frames = np.array([sightings.frames.index(frame)])
    else:
        raise KeyError(f"frame: {frame!r} is not one of {sightings.frames[0]!r} to {sightings.frames[-1]!r}")
    seen = np.isfinite(sightings.points[:, frames]).all(axis=-1, keepdims=True)
    total = np.where(seen, sightings.points[:, frames], 0).sum(axis=1)
    points = np.where(seen.any(axis=1), total / np.maximum(seen.sum(axis=1), 1), np.nan)
    answers = floor_answers(calibration, points)
    if not answers:
        raise ValueError(
            f"board: at frame {sightings.frames[frames[0]]!r} no camera saw six of its corners; name a "
            f"frame when it lay on "
            "the floor in view"
        )
    best = answers[0]
    judged = [(answer, _objection(cameras, answer, up)) for answer in answers if _fits(answer, best)]
    chosen = next((answer for answer, objection in judged if objection is None), None)
    if chosen is None:
        raise ValueError(f"board: the floor cannot be where it lay: {judged[0][1]}")
    if judged[0][1] is not None:
        warnings.warn(
            f"the best fit of the board on the floor ({best[2]:.2f} px) was refused: {judged[0][1]}. The "
            f"other answer of a "
            f"flat board is used ({chosen[2]:.2f} px)",
            CalibrationWarning,
            stacklevel=2,
        )
    return _stand_up(calibration, chosen, up, thickness)


def floor_answers(calibration: Calibration, points) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Different poses (rotation, translation, rms in pixels) of a board that fit one moment's points, the best first.

    Each is fitted to what all cameras saw together.

    Parameters
    ----------
    points : (cameras, corners, 2)
    """
    cv2, board = opencv(), calibration.sightings.board
    options = [
        board_candidates(cv2, board, camera, seen) for camera, seen in zip(calibration.cameras, points, strict=True)
    ]
    answers = []
    for rotation, translation in world_candidates(calibration.cameras, options):
        rotation, translation = _refine(calibration, rotation, translation, points)
        error = np.sqrt(pose_error(board, calibration.cameras, rotation, translation, points)[0])
        if all(abs(float(rotation @ other[0])) < np.cos(np.deg2rad(1)) for other in answers):
            answers.append((rotation, translation, float(error)))
    return sorted(answers, key=lambda answer: answer[2])


def _fits(answer, best) -> bool:
    return answer[2] <= 2 * best[2] + 0.5


def _refine(calibration, rotation, translation, points):
    from scipy.optimize import least_squares

    board = board_points(calibration.sightings.board)
    valid = np.isfinite(points).all(axis=-1)

    def residuals(x):
        turn = rot.multiply(rot.from_rotation_vector(x[:3]), rotation)
        world = rot.rotate(turn, board) + x[3:]
        parts = [project(c, world[s]) - p[s] for c, p, s in zip(calibration.cameras, points, valid, strict=True)]
        return np.nan_to_num(np.concatenate(parts).ravel(), nan=50.0)

    found = least_squares(residuals, np.concatenate([np.zeros(3), translation]), loss="soft_l1")
    return rot.normalize(rot.multiply(rot.from_rotation_vector(found.x[:3]), rotation)), found.x[3:]


def _objection(cameras, answer, up) -> str | None:
    """Why a floor cannot be there, in words."""
    normal = rot.rotate(answer[0], np.array(_AXES[up]))
    if up == "board":
        heights = np.array([camera_centre(camera) - answer[1] for camera in cameras]) @ normal
        under = [f"{camera.name} by {-h:.2f} m" for camera, h in zip(cameras, heights, strict=True) if h < 0]
        if under:
            return (
                f"cameras would stand under the floor ({', '.join(under)}): the plane is mirrored, or the "
                f"board's printed "
                "side did not point up"
            )
    ups = np.array([rot.rotate(rot.inverse(camera.rotation), np.array([0.0, -1.0, 0.0])) for camera in cameras])
    angle = np.rad2deg(np.arccos(np.clip(np.median(ups @ normal), -1, 1)))
    if angle > 60:
        return (
            f"the floor's upward direction would be {angle:.0f} degrees from the cameras' own: did the "
            f"board stand upright? "
            "Then say which of its axes pointed up (up='-y' when its columns ran down), or lay it flat"
        )
    return None


def _stand_up(calibration, answer, up, thickness) -> Calibration:
    rotation, translation, _ = answer
    board = calibration.sightings.board
    sides = np.array([board.columns, board.rows]) * board.square
    outline = np.array([[x, y, 0.0] for x in (0, sides[0]) for y in (0, sides[1])])
    corners = rot.rotate(rotation, outline) + translation
    y = rot.rotate(rotation, np.array(_AXES[up]))
    middle = corners.mean(axis=0)
    z = np.mean([camera_centre(camera) for camera in calibration.cameras], axis=0) - middle
    z = z - (z @ y) * y
    if np.linalg.norm(z) < 1e-6:
        z = rot.rotate(
            rotation, np.array([0.0, 1.0, 0.0])
        )  # cameras all around: the board's columns say where front is
        z = z - (z @ y) * y
    z = z / np.linalg.norm(z)
    turn = rot.from_matrix(np.stack([np.cross(y, z), y, z]))
    low = (rot.rotate(turn, corners)[:, 1]).min()
    at = rot.rotate(turn, middle)
    return move_world(calibration, turn, np.array([-at[0], thickness - low, -at[2]]))
