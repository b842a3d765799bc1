"""Detections and points of other programs, read into `Observations` and `Landmarks` with their names and sizes.

OpenPose, and RTMPose run by Pose2Sim, write one JSON file per camera and frame, with all people they saw; one of them
has to be chosen (`motionbook.capture.people`). Several cameras' detections in one array are NPZ files. FreeMoCap's own
files are read in `motionbook.capture.freemocap`, whose doors stand here too.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from motionbook.capture.cameras import Camera
from motionbook.capture.freemocap import observations, rate_of, read_freemocap_2d, read_freemocap_3d
from motionbook.capture.landmarks import LANDMARKS, Observations
from motionbook.capture.people import choose_person

__all__ = [
    "BODY_25",
    "BODY_25B",
    "COCO_17",
    "HALPE_26",
    "MODELS",
    "rate_of",
    "read_arrays",
    "read_freemocap_2d",
    "read_freemocap_3d",
    "read_pose_folders",
    "read_timestamps",
]

# Keypoint order by number of keypoints, as the detectors document it.
_ARM = "Shoulder Elbow Wrist".split()
_LEG = "Hip Knee Ankle".split()
COCO_17 = tuple("Nose LEye REye LEar REar".split()) + tuple(f"{s}{p}" for p in (*_ARM, *_LEG) for s in "LR")
HALPE_26 = (*COCO_17, *"Head Neck Hip LBigToe RBigToe LSmallToe RSmallToe LHeel RHeel".split())
BODY_25 = (
    "Nose",
    "Neck",
    *(f"R{p}" for p in _ARM),
    *(f"L{p}" for p in _ARM),
    "MidHip",
    *(f"R{p}" for p in _LEG),
    *(f"L{p}" for p in _LEG),
    *"REye LEye REar LEar LBigToe LSmallToe LHeel RBigToe RSmallToe RHeel".split(),
)
BODY_25B = (*COCO_17, *"Neck Head LBigToe LSmallToe LHeel RBigToe RSmallToe RHeel".split())
MODELS = {"COCO_17": COCO_17, "HALPE_26": HALPE_26, "BODY_25": BODY_25, "BODY_25B": BODY_25B, "BLAZEPOSE": LANDMARKS}


def read_pose_folders(
    folders: Sequence[str | Path] | str | Path,
    *,
    model: str | Sequence[str],
    fps: float,
    person: str | int = "track",
    cameras: Sequence[Camera] | None = None,
    sizes: Sequence[tuple[int, int]] | None = None,
    source: str = "",
) -> Observations:
    """Detections from OpenPose-style JSON files, a folder per camera and a file per frame.

    A file's frame is the last number in its name (before ``_keypoints``); frames without a file are unknown. A
    keypoint with x = 0 or confidence 0 was not detected. Cameras may hold different frames: the result runs from the
    first to the last frame that any of them has.

    Parameters
    ----------
    folders : sequence of path, or path
        One folder per camera; or one folder that holds them, taken in the order of their names.
    model : str or sequence of str
        Name of a keypoint order in `MODELS`, or the names themselves: a file does not say which it holds, and two
        have 25 keypoints.
    fps : float
        True rate of the recording, which the files do not hold.
    person : str or int
        Who, where a frame holds several people, as in `motionbook.capture.people.choose_person`: "track", "agree"
        (needs ``cameras``), "confident", "largest" or a place in the file.
    cameras : sequence of Camera, optional
        Calibrated cameras in the order of the folders, for "agree"; their sizes are taken as the pictures'.
    sizes : sequence of (width, height), optional
        Of the pictures, which the files do not hold either.

    Raises
    ------
    FileNotFoundError
        For a folder without JSON files.
    ValueError
        Naming the file and the field.
    """
    names = _names(model)
    if not (np.isfinite(fps) and fps > 0):
        raise ValueError(f"fps: expected the recording's frames per second, got {fps}")
    if isinstance(folders, (str, Path)):
        folders = sorted(path for path in Path(folders).iterdir() if path.is_dir())
    folders = [Path(folder) for folder in folders]
    if not folders:
        raise FileNotFoundError("folders: expected a folder of JSON files per camera, found none")
    files = [_frames(folder) for folder in folders]
    first, last = min(min(found) for found in files), max(max(found) for found in files)
    people = [
        [_people(found[frame], names) if frame in found else [] for frame in range(first, last + 1)] for found in files
    ]
    seen = choose_person(people, len(names), person, cameras)
    if sizes is None and cameras is not None:
        sizes = tuple(camera.size for camera in cameras)
    labels = tuple(folder.name.removesuffix("_json") for folder in folders)
    return observations(names, seen, fps, sizes, labels, source or "OpenPose-style JSON")


def _names(model) -> tuple[str, ...]:
    if not isinstance(model, str):
        return tuple(model)
    if model not in MODELS:
        raise ValueError(f"model: expected {', '.join(MODELS)} or the keypoints' names, got {model!r}")
    return MODELS[model]


def _frames(folder: Path) -> dict[int, Path]:
    """JSON file of each frame of a camera."""
    found = {}
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: expected a camera's folder of JSON files, found no folder")
    for path in sorted(folder.glob("*.json")):
        numbers = re.findall(r"\d+", path.stem.removesuffix("_keypoints"))
        if not numbers:
            raise ValueError(f"{path}: expected a frame number in the file's name, found none")
        frame = int(numbers[-1])
        if frame in found:
            raise ValueError(f"{path}: frame {frame} is in {found[frame].name} as well; keep one file per frame")
        found[frame] = path
    if not found:
        raise FileNotFoundError(f"{folder}: expected JSON files, found none")
    return found


def _people(path: Path, names) -> list[np.ndarray]:
    """Keypoints (points, 3) of each person in a file, NaN where not detected."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a JSON file: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("people"), list):
        raise ValueError(f"{path}: people: expected a list, got {_kind(content)}")
    people = []
    for number, entry in enumerate(content["people"]):
        where = f"{path}: people[{number}].pose_keypoints_2d"
        flat = entry.get("pose_keypoints_2d") if isinstance(entry, dict) else None
        if flat is None:
            raise ValueError(f"{where}: expected x, y, confidence per keypoint, found nothing")
        if not flat:
            continue  # a face or hand without a body
        if len(flat) != 3 * len(names):
            fits = [name for name, order in MODELS.items() if 3 * len(order) == len(flat)]
            way = f"; {len(flat) // 3} keypoints fit model={' or '.join(fits)}" if fits else ""
            raise ValueError(f"{where}: expected 3 x {len(names)} numbers, got {len(flat)}{way}")
        try:
            values = np.array([np.nan if v is None else v for v in flat], dtype=np.float64).reshape(-1, 3)
        except (TypeError, ValueError):
            raise ValueError(f"{where}: expected numbers, got something else among them") from None
        values[(values[:, 0] == 0) | ~(values[:, 2] > 0)] = np.nan
        if np.isfinite(values).any():
            people.append(values)
    return people


def _kind(content) -> str:
    return f"keys {', '.join(map(str, content))}" if isinstance(content, dict) else type(content).__name__


def read_arrays(path: str | Path, *, fps: float | None = None) -> Observations:
    """Detections from an NPZ file with ``xyc`` or ``xyv`` (cameras, frames, points, 3), ``names`` and ``fps``.

    The third number is a confidence or visibility; x = 0 or NaN means not detected. ``sizes_wh`` and ``cameras`` are
    kept where the file has them.

    Parameters
    ----------
    path : path
    fps : float, optional
        Instead of the file's.

    Raises
    ------
    ValueError
        Naming the file and the field.
    """
    path = Path(path)
    with np.load(path, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files}
    key = next((key for key in ("xyc", "xyv") if key in arrays), None)
    if key is None:
        raise ValueError(f"{path}: expected an array 'xyc' or 'xyv', found {', '.join(arrays) or 'nothing'}")
    seen = arrays[key].astype(np.float64)
    if seen.ndim != 4 or seen.shape[-1] != 3:
        raise ValueError(f"{path}: {key}: expected (cameras, frames, points, 3), got {seen.shape}")
    if "names" not in arrays:
        raise ValueError(f"{path}: names: expected one name per point, found no such field")
    names = tuple(str(name) for name in arrays["names"])
    if len(names) != seen.shape[2]:
        raise ValueError(f"{path}: names: expected one per point ({seen.shape[2]}), got {len(names)}")
    if fps is None and "fps" not in arrays:
        raise ValueError(f"{path}: fps: the file does not say; pass fps=")
    for field in ("sizes_wh", "cameras"):
        if field in arrays and len(arrays[field]) != len(seen):
            raise ValueError(f"{path}: {field}: expected one per camera ({len(seen)}), got {len(arrays[field])}")
    seen[seen[..., 0] == 0] = np.nan
    cameras = tuple(str(c) for c in arrays["cameras"]) if "cameras" in arrays else None
    rate = float(arrays["fps"]) if fps is None else fps
    return observations(names, seen, rate, arrays.get("sizes_wh"), cameras, path.stem)


def read_timestamps(path: str | Path) -> dict[str, np.ndarray]:
    """Seconds of every frame of each camera, from a CSV with the columns ``cam_id`` and ``frame_time``."""
    import pandas as pd

    table = pd.read_csv(path)
    missing = [name for name in ("cam_id", "frame_time") if name not in table]
    if missing:
        raise ValueError(f"{path}: expected the columns cam_id and frame_time, found no {', '.join(missing)}")
    return {str(camera): np.sort(rows["frame_time"].dropna().to_numpy()) for camera, rows in table.groupby("cam_id")}
