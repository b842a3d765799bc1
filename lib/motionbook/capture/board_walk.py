"""Calibration of the embedded cameras: a printed board carried through the room, filmed, found again and solved."""

from collections.abc import Mapping, Sequence

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.boards import Board, opencv, render_board
from motionbook.capture.calibration import Calibration, calibrate
from motionbook.capture.cameras import Camera, camera_centre, project
from motionbook.capture.floor import place_on_board

# 1.05 x 0.75 m, a sheet of A0: at three metres and 1010 pixels of focal length a square covers 50 pixels.
BOARD = Board(7, 5, 0.15, 0.12)


def walk(pictures: int, seed: int, board: Board = BOARD) -> tuple[np.ndarray, np.ndarray]:
    """Poses of a board: it lies on the floor in the middle of the room, then is carried about before the cameras.

    Returns
    -------
    rotations, translations : (pictures, 4), (pictures, 3)
        Board to world; in the first picture it lies there, printed side up.
    """
    if pictures < 2:
        raise ValueError(f"pictures: expected at least 2, the first shows the board on the floor, got {pictures}")
    rng = np.random.default_rng(seed)
    count = pictures - 1
    # from one end of the cameras' arc to the other and slower there, since the cameras in the middle see both halves
    place = np.deg2rad(62.0) * np.sin(0.5 * np.pi * np.linspace(-1, 1, 2 * count + 1)[1::2])
    away = rng.uniform(0.0, 1.1, count)
    yaw = np.concatenate([[0.0], place + rng.uniform(-0.3, 0.3, count)])
    # upright the printed side looks along +Z; tipped back by a quarter turn it looks up
    tilt = np.concatenate([[-np.pi / 2], rng.uniform(-0.5, 0.5, count)])
    roll = np.concatenate([[0.0], rng.uniform(-0.5, 0.5, count)])
    x = away * np.sin(place) + rng.uniform(-0.3, 0.3, count)
    middles = np.stack([x, rng.uniform(0.6, 1.5, count), away * np.cos(place)], axis=-1)
    turns = rot.multiply(
        rot.from_axis_angle(np.array([[0.0, 1.0, 0.0]]), yaw),
        rot.multiply(
            rot.from_axis_angle(np.array([[1.0, 0.0, 0.0]]), np.pi + tilt),
            rot.from_axis_angle(np.array([[0.0, 0.0, 1.0]]), roll),
        ),
    )
    half = np.array([board.columns, board.rows, 0]) * board.square / 2
    return turns, np.concatenate([np.zeros((1, 3)), middles]) - rot.rotate(turns, half)


def film_board(
    cameras: Sequence[Camera], pictures: int, seed: int, *, board: Board = BOARD, noise: float = 2.0
) -> dict[str, list[np.ndarray]]:
    """Pictures (height, width) uint8 of the walk, by the cameras' names; ``noise`` in grey levels."""
    turns, places = walk(pictures, seed, board)
    return {
        camera.name: [
            render_board(board, camera, turn, place, noise=noise, seed=1000 * seed + index)
            for index, (turn, place) in enumerate(zip(turns, places, strict=True))
        ]
        for camera in cameras
    }


def calibrate_room(pictures: Mapping[str, Sequence[np.ndarray]], *, board: Board = BOARD) -> Calibration:
    """Lenses and places of cameras from nothing but their pictures of a board, the world where the board lay first.

    The calibrated world is the cameras' own when the first picture shows the board in its middle, as `walk` does: what
    is left between the two is the calibration's error.
    """
    cv2 = opencv()
    threads = cv2.getNumThreads()
    # OpenCV's calibration adds up in the order its threads finish, and equal runs must give equal bytes
    cv2.setNumThreads(1)
    try:
        found = calibrate(board, pictures)
        return place_on_board(found, found.sightings.frames[0])
    finally:
        cv2.setNumThreads(threads)


def camera_errors(found: Sequence[Camera], true: Sequence[Camera]):
    """How far calibrated cameras are from the true ones, one row per camera.

    Columns: focal length in percent, principal point in pixels, place in millimetres, direction in degrees, and
    ``at the performer [mm]``: how far off the true camera's picture of a point in the middle of the room, one metre
    above the floor, lies there.

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    rows = {}
    middle = np.array([0.0, 1.0, 0.0])
    for got, wanted in zip(found, true, strict=True):
        off = np.linalg.norm(project(got, middle) - project(wanted, middle))
        distance = np.linalg.norm(camera_centre(wanted) - middle)
        rows[wanted.name] = {
            "focal length [%]": 100 * (got.intrinsics[0, 0] / wanted.intrinsics[0, 0] - 1),
            "principal point [px]": float(np.linalg.norm(got.intrinsics[:2, 2] - wanted.intrinsics[:2, 2])),
            "place [mm]": 1000 * float(np.linalg.norm(camera_centre(got) - camera_centre(wanted))),
            "direction [degrees]": float(np.rad2deg(rot.angle_between(got.rotation, wanted.rotation))),
            "at the performer [mm]": 1000 * float(off * distance / wanted.intrinsics[0, 0]),
        }
    return pd.DataFrame(rows).T.rename_axis("camera")
