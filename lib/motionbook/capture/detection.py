"""Finding ChArUco boards in pictures and videos, and what was found, as one array per recording."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.capture.boards import Board, board_points, describe, opencv, opencv_board
from motionbook.capture.camera_files import CalibrationWarning

PICTURES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")


class Sightings(NamedTuple):
    """Where every camera saw every inner corner of a board.

    Attributes
    ----------
    board : Board
        As found: a board of the layout before OpenCV 4.6 says ``legacy=True`` even if it was asked for without.
    names : tuple of str
        Cameras.
    sizes : tuple of (int, int)
        Width and height of each camera's pictures.
    frames : tuple
        One label per moment, the same for all cameras (pictures of one camera: their names).
    points : (cameras, frames, corners, 2)
        Pixels, NaN where not seen.
    notes : tuple of str
    """

    board: Board
    names: tuple[str, ...]
    sizes: tuple[tuple[int, int], ...]
    frames: tuple
    points: np.ndarray
    notes: tuple[str, ...] = ()


def corner_counts(sightings: Sightings) -> np.ndarray:
    """Corners seen (cameras, frames)."""
    return np.isfinite(sightings.points).all(axis=-1).sum(axis=-1)


def find_boards(board: Board, recordings: Mapping[str, object], *, every: int = 1) -> Sightings:
    """Search every camera's recording for the board.

    Parameters
    ----------
    recordings : mapping
        Camera name to a video, a folder of pictures, or pictures (height, width[, 3]) uint8 in BGR or grey.
    every : int
        Look at each ``every``-th picture only; neighbouring pictures of a video say the same thing.

    Returns
    -------
    Sightings
        With ``board.legacy`` turned around when the markers, but no corners, were found until then.

    Raises
    ------
    ValueError
        When a camera's pictures differ in size or cannot be read, when they are mirrored, when markers are seen that
        the board does not have, or markers but never a corner. The camera is named.
    """
    cv2 = opencv()
    if not recordings:
        raise ValueError("recordings: expected at least one camera, got none")
    found, sizes, labels, notes = {}, {}, {}, []
    for name, recording in recordings.items():
        labels[name], found[name], sizes[name], seen = _search(cv2, board, name, recording, every)
        if seen.foreign:
            raise ValueError(
                f"{name}: markers {sorted(seen.foreign)} were found, but a board with {describe(board)} ends at number "
                f"{board.columns * board.rows // 2 - 1}: it has more squares than stated, or two boards are in view"
            )
        if not seen.corners:
            other = replace(board, legacy=not board.legacy)
            again = _search(cv2, other, name, recording, every) if seen.markers and board.rows % 2 == 0 else None
            if again is not None and again[3].corners:
                words = "before" if other.legacy else "since"
                text = (
                    f"{name}: {seen.markers} markers but no corner with the board as given; its layout is the one "
                    f"{words} OpenCV 4.6. legacy={other.legacy} is used from here on"
                )
                warnings.warn(text, CalibrationWarning, stacklevel=2)
                notes.append(text)
                board = other
                labels[name], found[name], sizes[name], seen = again
            else:
                notes.append(_why_never(cv2, board, name, recording, every, seen))
        notes += _marker_doubts(board, name, seen)
    counts = {name: len(frames) for name, frames in labels.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        notes.append(f"the cameras have different numbers of pictures ({listed}): synchronise them before extrinsics")
    longest = max(counts, key=counts.get)
    points = np.full((len(found), counts[longest], len(board_points(board)), 2), np.nan)
    for index, corners in enumerate(found.values()):
        points[index, : len(corners)] = corners
    return Sightings(board, tuple(found), tuple(sizes.values()), tuple(labels[longest]), points, tuple(notes))


class _Seen(NamedTuple):
    markers: int  # on the board
    foreign: set  # marker numbers the board does not have
    corners: int
    ratio: list  # marker side over square side, measured


def _search(cv2, board, name, recording, every):
    detector = cv2.aruco.CharucoDetector(opencv_board(board))
    count, places = len(board_points(board)), board_points(board)[:, :2].astype(np.float32)
    labels, points, size = [], [], None
    markers, corners_seen, foreign, ratios = 0, 0, {}, []
    for label, picture in _pictures(cv2, name, recording, every):
        here = (picture.shape[1], picture.shape[0])
        if size not in (None, here):
            raise ValueError(
                f"{name}: picture {label} is {here[0]} x {here[1]}, the ones before are {size[0]} x {size[1]}; "
                "calibrate with pictures of one size, the one the camera films in"
            )
        size = here
        corners, ids, marker_corners, marker_ids = detector.detectBoard(255 - picture if board.inverted else picture)
        row = np.full((count, 2), np.nan)
        # OpenCV 4 gives (n, 1, 2) and (n, 1), OpenCV 5 (n, 2) and (n,)
        if ids is not None and len(ids):
            row[np.ravel(ids)] = np.reshape(corners, (-1, 2))
            corners_seen += len(ids)
        for number, square in zip(
            np.ravel(marker_ids if marker_ids is not None else []), marker_corners or (), strict=False
        ):
            if number >= board.columns * board.rows // 2:
                foreign[int(number)] = foreign.get(int(number), 0) + 1
            else:
                markers += 1
            # blur eats into small markers: only large ones are measured
            if ids is not None and len(ids) >= 6 and np.ptp(np.reshape(square, (4, 2)), axis=0).min() >= 25:
                ratios.append(_marker_side(cv2, places, row, np.reshape(square, (4, 2))) / board.square)
        labels.append(label)
        points.append(row)
    if not points:
        raise ValueError(f"{name}: expected a video or pictures, found no picture in {recording}")
    # one stray number in a textured room is a false alarm of the detector, a repeated one is a marker
    often = {number for number, times in foreign.items() if times > max(1, len(points) // 10)}
    return labels, np.array(points), size, _Seen(markers, often, corners_seen, ratios)


def _marker_side(cv2, places, row, square):
    seen = np.isfinite(row).all(axis=-1)
    flat, _ = cv2.findHomography(row[seen].astype(np.float32), places[seen])
    if flat is None:
        return np.nan
    on = cv2.perspectiveTransform(square[None].astype(np.float32), flat)[0]
    return float(np.linalg.norm(on - np.roll(on, 1, axis=0), axis=-1).mean())


def _why_never(cv2, board, name, recording, every, seen) -> str:
    """A note when no board was in view; an error when there was one that cannot be used."""
    if _search(cv2, board, name, _Mirrored(recording), every)[3].corners:
        raise ValueError(
            f"{name}: the board is found only when the pictures are mirrored left to right: switch off the "
            "camera's mirror (selfie) mode and record again, or flip its video"
        )
    if seen.markers >= 4:
        raise ValueError(
            f"{name}: {seen.markers} markers of {board.dictionary} were found but no corner of a board with "
            f"{describe(board)}: count its columns and rows again, they may be exchanged"
        )
    return f"{name}: the board was never found"


def _marker_doubts(board, name, seen) -> list[str]:
    ratio = np.nanmedian(seen.ratio) if np.isfinite(seen.ratio).any() else np.nan
    stated = board.marker / board.square
    if not abs(ratio - stated) > 0.05:
        return []
    text = (
        f"{name}: a marker's side measures {ratio:.2f} of a square's, the board as given says {stated:.2f}: "
        "measure both on the print, one of them is wrong or it is another board"
    )
    warnings.warn(text, CalibrationWarning, stacklevel=3)
    return [text]


class _Mirrored(NamedTuple):
    recording: object


def _pictures(cv2, name, recording, every) -> Iterable:
    """(label, grey picture) of a video, folder or sequence."""
    if isinstance(recording, _Mirrored):
        for label, picture in _pictures(cv2, name, recording.recording, every):
            yield label, np.ascontiguousarray(picture[:, ::-1])
    elif isinstance(recording, (str, Path)) and Path(recording).is_dir():
        files = sorted(f for f in Path(recording).iterdir() if f.suffix.lower() in PICTURES)
        for file in files[::every]:
            picture = cv2.imread(str(file), cv2.IMREAD_GRAYSCALE)
            if picture is None:
                raise ValueError(f"{name}: {file} cannot be read as a picture")
            yield file.name, picture
    elif isinstance(recording, (str, Path)):
        if not Path(recording).is_file():
            raise ValueError(f"{name}: expected a video or a folder of pictures, there is no {recording}")
        video = cv2.VideoCapture(str(recording))
        # frames are counted while decoding: the number in a container's header is often wrong
        index = 0
        while video.grab():
            if index % every == 0:
                good, picture = video.retrieve()
                if good:
                    yield index, _grey(cv2, picture)
            index += 1
        video.release()
    elif isinstance(recording, Sequence) or hasattr(recording, "__array__"):
        for index in range(0, len(recording), every):
            yield index, _grey(cv2, np.asarray(recording[index]))
    else:
        raise ValueError(f"{name}: expected a video, a folder or pictures, got {type(recording).__name__}")


def _grey(cv2, picture):
    if picture.dtype != np.uint8 or picture.ndim not in (2, 3):
        raise ValueError(f"pictures: expected (height, width[, 3]) uint8, got {picture.shape} {picture.dtype}")
    return cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY) if picture.ndim == 3 else picture


def read_sightings(path: str | Path, board: Board, sizes: Mapping[str, tuple[int, int]]) -> Sightings:
    """Corners of a table as caliscope writes it: sync_index, cam_id, keypoint_id, img_loc_x, img_loc_y[, obj_loc_*].

    Parameters
    ----------
    sizes : mapping
        cam_id (as text) to width and height of its pictures; cameras come in this order.

    Raises
    ------
    ValueError
        When the table names corners the board does not have, or places on the board (obj_loc) that are not this
        board's: then the scale would be wrong.
    """
    import pandas as pd

    table = pd.read_csv(path)
    missing = {"sync_index", "cam_id", "keypoint_id", "img_loc_x", "img_loc_y"} - set(table.columns)
    if missing:
        raise ValueError(f"{path}: no column {', '.join(sorted(missing))}; found {', '.join(table.columns)}")
    places = board_points(board)
    if table["keypoint_id"].max() >= len(places):
        raise ValueError(
            f"{path}: corner {table['keypoint_id'].max()} is named, a board with {describe(board)} has {len(places)}"
        )
    if {"obj_loc_x", "obj_loc_y"} <= set(table.columns):
        stated = table[["obj_loc_x", "obj_loc_y"]].to_numpy()
        true = places[table["keypoint_id"], :2]
        if np.abs(stated - true).max() > 1e-3 * board.square:
            ratio = np.median(stated[true > 0] / true[true > 0])
            raise ValueError(
                f"{path}: its corners lie on a board {ratio:.4g} times as large as {describe(board)}; give the square "
                f"that was printed (the file's: {board.square * ratio:.4g} in its unit)"
            )
    names = tuple(str(name) for name in sizes)
    unknown = sorted(set(table["cam_id"].astype(str)) - set(names))
    if unknown:
        raise ValueError(f"{path}: no size was given for camera {', '.join(unknown)}")
    frames = tuple(int(i) for i in np.unique(table["sync_index"]))
    points = np.full((len(names), len(frames), len(places), 2), np.nan)
    camera = table["cam_id"].astype(str).map(names.index).to_numpy()
    frame = np.searchsorted(frames, table["sync_index"])
    points[camera, frame, table["keypoint_id"]] = table[["img_loc_x", "img_loc_y"]]
    return Sightings(board, names, tuple(tuple(s) for s in sizes.values()), frames, points)
