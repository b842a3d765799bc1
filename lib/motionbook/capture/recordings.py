"""A recording of the reader's own: a folder with calibrated cameras and the points seen in their videos.

The folder holds one calibration (TOML, see `motionbook.capture.camera_files`) and one set of 2-D points: an NPZ file
(`motionbook.capture.readers.read_arrays`), a folder of OpenPose-style JSON files per camera, or FreeMoCap's
``...pixelXY.npy``. What these files do not say stands in ``recording.toml`` beside them, all keys optional::

    fps = 60.0             # of the videos; needed for JSON and npy, and for NPZ files without fps
    up = "z"               # the calibration's vertical axis: y, z or auto
    unit = "m"             # of its lengths: m, cm, mm or auto
    model = "BODY_25B"     # order of the keypoints in JSON files
    person = "agree"       # whose, where several people are in the picture
    offsets = [0, 0, 2, 0] # frames each camera is late; found from the points when not given
"""

import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.capture.camera_files import read_cameras
from motionbook.capture.cameras import Camera
from motionbook.capture.ground import find_contradictions
from motionbook.capture.landmarks import Observations
from motionbook.capture.readers import MODELS, read_arrays, read_freemocap_2d, read_pose_folders
from motionbook.capture.session import Solved, solve
from motionbook.capture.synchronisation import Synchronisation, apply, by_hand, by_reprojection

_KEYS = {"fps", "up", "unit", "model", "person", "offsets"}
_PARTS = ("Shoulder", "Elbow", "Wrist", "Hip", "Knee", "Ankle", "Heel", "Ear", "Eye")
# Names of OpenPose and RTMPose -> MediaPipe's, for what the rig is made of.
TO_MEDIAPIPE = {"Nose": "nose"}
for _letter, _side in (("L", "left"), ("R", "right")):
    TO_MEDIAPIPE |= {f"{_letter}{part}": f"{_side}_{part.lower()}" for part in _PARTS}
    TO_MEDIAPIPE[f"{_letter}BigToe"] = f"{_side}_foot_index"


class Recording(NamedTuple):
    """Cameras and what they saw, not yet synchronised; ``files`` are all that was read, ``notes`` what was found."""

    cameras: tuple[Camera, ...]
    seen: Observations
    offsets: tuple[float, ...] | None
    files: tuple[Path, ...]
    notes: tuple[str, ...]


class Reconstruction(NamedTuple):
    """A recording after the whole chain; ``notes`` are the recording's and those of synchronising and solving."""

    clocks: Synchronisation
    seen: Observations
    solved: Solved
    notes: tuple[str, ...]


def is_recording(folder: str | Path) -> bool:
    """Whether a folder holds a calibration and points in pictures."""
    folder = Path(folder)
    return folder.is_dir() and bool(_calibrations(folder)) and bool(_points(folder))


def read_recording(folder: str | Path) -> Recording:
    """The recording in a folder.

    Raises
    ------
    FileNotFoundError
        When there is no calibration, or no points.
    ValueError
        When there are several of either, the cameras of the two differ in number, or a setting is missing or unknown.
    """
    folder = Path(folder)
    settings = _settings(folder)
    calibration, points = (
        _only(folder, _calibrations(folder), "calibration (.toml with a matrix per camera)"),
        _only(folder, _points(folder), "set of 2-D points (.npz, .npy or a folder per camera of .json)"),
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cameras = read_cameras(calibration, up=settings.get("up", "auto"), unit=settings.get("unit", "auto"))
        seen = _read_points(points, settings, cameras)
        if len(seen.pixels) != len(cameras):
            raise ValueError(
                f"{folder}: {calibration.name} has {len(cameras)} cameras, {points.name} those of {len(seen.pixels)}"
            )
        if seen.sizes is not None:
            from motionbook.capture.camera_files import check_sizes

            sizes = {camera.name: size for camera, size in zip(cameras, seen.sizes, strict=True)}
            size_notes = check_sizes(cameras, sizes)
        else:
            size_notes = []
    offsets = settings.get("offsets")
    if offsets is not None and len(offsets) != len(cameras):
        raise ValueError(f"{folder}/recording.toml: offsets: expected one per camera ({len(cameras)}), got {offsets}")
    listed = sorted(points.rglob("*.json")) if points.is_dir() else [points]
    own = [folder / "recording.toml"] if (folder / "recording.toml").is_file() else []
    notes = (*(str(w.message) for w in caught), *size_notes)
    return Recording(cameras, seen, None if offsets is None else tuple(offsets), (calibration, *listed, *own), notes)


def reconstruct(recording: Recording) -> Reconstruction:
    """Synchronise by the recording's offsets or else by reprojection, solve, and say what looks wrong.

    Raises
    ------
    ValueError
        When the points lack a landmark that the rig needs.
    """
    cameras = recording.cameras
    names = [camera.name for camera in cameras]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if recording.offsets is not None:
            clocks = by_hand(recording.seen.fps, frames=recording.offsets, names=names)
        else:
            unnamed = replace(recording.seen, cameras=tuple(names))
            clocks = by_reprojection(cameras, unnamed)
        aligned = apply(clocks, recording.seen).observations
        seen = as_mediapipe(aligned)
        solved = solve(cameras, seen)
    found = find_contradictions(solved.cleaned.landmarks, cameras)
    notes = [*recording.notes, *(str(w.message) for w in caught), *found]
    return Reconstruction(clocks, seen, solved, tuple(dict.fromkeys(notes)))


def as_mediapipe(seen: Observations) -> Observations:
    """Observations under MediaPipe's names: points of OpenPose or RTMPose that have none there are left out."""
    names = [TO_MEDIAPIPE.get(name, name if "_" in name or name == "nose" else None) for name in seen.names]
    kept = [i for i, name in enumerate(names) if name is not None]
    return replace(
        seen,
        names=tuple(names[i] for i in kept),
        pixels=seen.pixels[:, :, kept],
        confidence=seen.confidence[:, :, kept],
    )


def report(recording: Recording, made: Reconstruction) -> Mapping[str, float]:
    """What can be said of a recording without knowing the truth, in the chapter's columns."""
    from motionbook.capture.session import bone_spread

    solved = made.solved
    return {
        "cameras": len(recording.cameras),
        "frames": len(solved.raw.positions),
        "frame rate": made.seen.fps,
        "reprojection [px]": float(np.nanmean(solved.triangulation.error)),
        "known [%]": 100 * float(np.isfinite(solved.raw.positions[..., 0]).mean()),
        "cameras per point": float(solved.triangulation.cameras_used.mean()),
        "bone spread raw [mm]": bone_spread(solved.raw),
        "bone spread filtered [mm]": bone_spread(solved.cleaned.landmarks),
        "bridged": int(solved.assembly.bridged),
    }


def offsets_table(recording: Recording, made: Reconstruction):
    """Frames by which each camera is late, one row per camera, as a data frame with the column ``value``."""
    import pandas as pd

    rows = {f"{c.name} late [frames]": late for c, late in zip(recording.cameras, made.clocks.frames_late, strict=True)}
    return pd.DataFrame({"value": pd.Series(rows)})


def _settings(folder: Path) -> dict:
    path = folder / "recording.toml"
    if not path.is_file():
        return {}
    with open(path, "rb") as file:
        settings = tomllib.load(file)
    unknown = sorted(set(settings) - _KEYS)
    if unknown:
        raise ValueError(f"{path}: unknown keys {', '.join(unknown)}; known are {', '.join(sorted(_KEYS))}")
    return settings


def _calibrations(folder: Path) -> list[Path]:
    found = []
    for path in sorted(folder.glob("*.toml")):
        with open(path, "rb") as file:
            try:
                tables = tomllib.load(file)
            except tomllib.TOMLDecodeError:
                continue
        if any(isinstance(t, dict) and "matrix" in t for t in [*tables.values(), *tables.get("cameras", {}).values()]):
            found.append(path)
    return found


def _points(folder: Path) -> list[Path]:
    arrays = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as file:
            if {"xyc", "xyv"} & set(file.files):
                arrays.append(path)
    arrays += sorted(folder.glob("*pixelXY.npy"))
    groups = {path.parent.parent for path in folder.glob("*/*.json")} | {
        path.parent.parent for path in folder.glob("*/*/*.json")
    }
    return arrays + sorted(groups)


def _only(folder: Path, found: list[Path], what: str) -> Path:
    if not found:
        raise FileNotFoundError(f"{folder}: expected a {what}, found none")
    if len(found) > 1:
        raise ValueError(f"{folder}: expected one {what}, found {', '.join(p.name for p in found)}; keep one")
    return found[0]


def _read_points(path: Path, settings: dict, cameras) -> Observations:
    fps = settings.get("fps")
    if path.suffix == ".npz":
        return read_arrays(path, fps=fps)
    if fps is None:
        raise ValueError(f"{path}: the files do not say how many frames a second: put fps into recording.toml")
    if path.suffix == ".npy":
        return read_freemocap_2d(path, fps=fps, sizes=tuple(camera.size for camera in cameras))
    if "model" not in settings:
        raise ValueError(f"{path}: put model into recording.toml, one of {', '.join(MODELS)}: the files do not say")
    person = settings.get("person", "agree")
    return read_pose_folders(path, model=settings["model"], fps=fps, person=person, cameras=cameras)
