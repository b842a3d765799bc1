"""FreeMoCap's files: arrays and CSV files in millimetres, Z up, most of them without a frame rate.

Their points are the 33 of the body, then 21 per hand and 478 of the face; the body's are read.
"""

import re
from pathlib import Path

import numpy as np

from motionbook.capture.ground import turn_up
from motionbook.capture.landmarks import LANDMARKS, Landmarks, Observations


def observations(names, seen, fps, sizes, cameras, source) -> Observations:
    """Observations from arrays (cameras, frames, points, 3) of x, y, confidence; what has none is not seen."""
    pixels, confidence = seen[..., :2].copy(), seen[..., 2].copy()
    gone = ~np.isfinite(seen).all(axis=-1) | ~(confidence > 0)
    pixels[gone], confidence[gone] = np.nan, 0.0
    sizes = None if sizes is None else tuple((int(w), int(h)) for w, h in sizes)
    return Observations(tuple(names), pixels, np.clip(confidence, 0.0, 1.0), float(fps), sizes, cameras, source)


def read_freemocap_2d(path: str | Path, *, fps: float, sizes=None, third: str = "ignore") -> Observations:
    """FreeMoCap's 2-D array (cameras, frames, points, 2 or 3) in pixels; the 33 points of the body of it.

    Parameters
    ----------
    path : path
        ``mediapipe_2dData_numCams_numFrames_numTrackedPoints_pixelXY.npy``, or a recording's folder that holds it
        (older recordings spell it ``mediaPipe2dData...``).
    fps : float
        The array does not say.
    third : "ignore" or "confidence"
        What a third number is: versions differ, and in most it is a depth and no confidence.

    Raises
    ------
    ValueError
        Naming the file and what was expected of it.
    """
    path = _freemocap_file(path, "2d", "pixelXY")
    array = np.load(path, allow_pickle=False).astype(np.float64)
    if array.ndim != 4 or array.shape[-1] not in (2, 3) or array.shape[2] < len(LANDMARKS):
        raise ValueError(f"{path}: expected (cameras, frames, 33 or more points, 2 or 3), got {array.shape}")
    if third not in ("ignore", "confidence"):
        raise ValueError(f"third: expected 'ignore' or 'confidence', got {third!r}")
    array = array[:, :, : len(LANDMARKS)]
    if third == "confidence":
        if array.shape[-1] != 3:
            raise ValueError(f"{path}: third='confidence': expected 3 numbers per point, got 2")
        confidence = array[..., 2]
        if np.nanmin(confidence) < 0 or np.nanmax(confidence) > 1:
            low, high = np.nanmin(confidence), np.nanmax(confidence)
            raise ValueError(f"{path}: third number: expected a confidence of 0 to 1, got {low:g} to {high:g}")
    else:
        confidence = np.isfinite(array[..., :2]).all(axis=-1).astype(np.float64)
    seen = np.concatenate([array[..., :2], confidence[..., None]], axis=-1)
    return observations(LANDMARKS, seen, fps, sizes, None, "FreeMoCap array")


def read_freemocap_3d(
    path: str | Path, *, fps: float | None = None, up: str = "z", metres_per_unit: float = 0.001
) -> Landmarks:
    """FreeMoCap's points in space, the 33 of the body: an array, or one of its three kinds of CSV.

    Read are ``..._spatialXYZ.npy`` and ``mediapipe_skeleton_3d.npy`` (frames, points, 3), ``mediapipe_body_3d_xyz.csv``
    and ``*_by_trajectory.csv`` (columns ``nose_x`` ...), and ``*_by_frame.csv`` (a row per frame and point). Those with
    time stamps give the rate; the others need ``fps``.

    Parameters
    ----------
    path : path
        The file, or a recording's folder, whose array is taken.
    fps : float, optional
    up : str
        Vertical axis of the file; Z when the calibration board lay on the floor, otherwise whatever camera 0 saw.
    metres_per_unit : float
        The array has the unit in which the size of the board's squares was typed, usually millimetres.

    Raises
    ------
    ValueError
        Naming the file and field, also when nothing gives the rate.
    """
    path = _freemocap_file(path, "3d", "spatialXYZ")
    names, points, times = _freemocap_array(path) if path.suffix == ".npy" else _freemocap_csv(path)
    if fps is None:
        if times is None:
            raise ValueError(f"{path}: fps: this file does not say its rate; pass fps=")
        fps = rate_of(times)
    points = turn_up(points * metres_per_unit, up)
    return Landmarks(names, points, np.isfinite(points).all(axis=-1).astype(float), float(fps))


def rate_of(times) -> float:
    """Frames per second of time stamps (frames,) in seconds: the number of steps by the time they take.

    Raises
    ------
    ValueError
        When there are fewer than two, they are not finite, or time does not run forward.
    """
    times = np.asarray(times, dtype=np.float64)
    if times.ndim != 1 or len(times) < 2 or not np.isfinite(times).all() or not (np.diff(times) > 0).all():
        raise ValueError(f"times: expected two or more rising time stamps in seconds, got {times.shape} values")
    return float((len(times) - 1) / (times[-1] - times[0]))


def _freemocap_file(path, dimension: str, ending: str) -> Path:
    path = Path(path)
    if not path.is_dir():
        return path
    pattern = re.compile(rf"media_?pipe_?{dimension}data.*{ending}\.npy", re.IGNORECASE)
    found = sorted(place for place in path.rglob("*.npy") if pattern.fullmatch(place.name))
    if len(found) != 1:
        names = ", ".join(str(place.relative_to(path)) for place in found) or "none"
        raise ValueError(f"{path}: expected one file like mediapipe_{dimension}Data_..._{ending}.npy, found {names}")
    return found[0]


def _freemocap_array(path: Path):
    array = np.load(path, allow_pickle=False).astype(np.float64)
    if array.ndim != 3 or array.shape[-1] != 3 or array.shape[1] < len(LANDMARKS):
        raise ValueError(f"{path}: expected (frames, 33 or more points, 3), got {array.shape}")
    return LANDMARKS, array[:, : len(LANDMARKS)], None


def _freemocap_csv(path: Path):
    """Names, points (frames, points, 3) and times or None, of either kind of CSV."""
    import pandas as pd

    table = pd.read_csv(path)
    columns = ", ".join(map(str, table.columns[:6]))
    tidy = {"frame", "keypoint", "x", "y", "z"} <= set(table)
    there = set(table["keypoint"]) if tidy else {str(c)[:-2] for c in table.columns if str(c).endswith("_x")}
    names = tuple(name for name in LANDMARKS if name in there)
    if not names:
        raise ValueError(f"{path}: expected columns such as nose_x, or frame, keypoint, x, y, z; found {columns}")
    if tidy:
        table = table[table["keypoint"].isin(names)]
        twice = table.duplicated(["frame", "keypoint"])
        if twice.any():
            row = table[twice].iloc[0]
            raise ValueError(f"{path}: keypoint {row['keypoint']!r} stands twice in frame {row['frame']}")
        frames = np.arange(int(table["frame"].min()), int(table["frame"].max()) + 1)
        wide = table.pivot(index="frame", columns="keypoint", values=["x", "y", "z"]).reindex(frames)
        points = np.stack([wide.xs(name, axis=1, level="keypoint")[["x", "y", "z"]] for name in names], axis=1)
        times = None
        if "timestamp" in table:  # a frame without any point has no row, and still took its time
            stamps = table.groupby("frame")["timestamp"].first().astype(float)
            times = np.interp(frames, stamps.index, stamps)
    else:
        lacking = [f"{name}_{axis}" for name in names for axis in "xyz" if f"{name}_{axis}" not in table]
        if lacking:
            raise ValueError(f"{path}: expected three columns per point, found no {', '.join(lacking[:5])}")
        points = np.stack([table[[f"{name}_{axis}" for axis in "xyz"]] for name in names], axis=1)
        times = table["timestamp"].to_numpy(dtype=float) if "timestamp" in table else None
    return names, points.astype(np.float64), times
