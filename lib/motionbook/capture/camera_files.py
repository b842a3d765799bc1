"""Calibration files in TOML as Pose2Sim, anipose, FreeMoCap and caliscope know them, and what may be wrong with one.

The four agree on a table per camera with name, size, matrix, distortions, rotation (Rodrigues vector) and translation.
They differ in the unit (Pose2Sim metres, FreeMoCap millimetres), the world's up axis (Pose2Sim z) and in small things:
anipose sorts the tables and skips ``metadata``, caliscope puts them under ``cameras`` and writes rotations as matrices.
"""

import tomllib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.cameras import Camera, camera_centre
from motionbook.files import write_whole

# takes a world with that axis up to one with Y up
_TO_Y_UP = {
    "y": np.array([1.0, 0.0, 0.0, 0.0]),
    "z": np.array([0.5, -0.5, -0.5, -0.5]),  # (x, y, z) -> (y, z, x), as Pose2Sim writes TRC
}
_METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}


class CalibrationWarning(UserWarning):
    """Something about a calibration that was repaired or should be looked at."""


def read_cameras(
    path: str | Path, *, up: str = "auto", unit: str = "auto", sizes: Mapping[str, tuple[int, int]] | None = None
) -> tuple[Camera, ...]:
    """Cameras of a calibration file, with warnings for what looks wrong in it.

    Parameters
    ----------
    path : path
    up : "auto", "y" or "z"
        The file's up axis; the cameras come back with Y up. "auto" goes by the file's own ``[metadata] up_axis`` and
        leaves the axes as they are where it says nothing, as do all files but ours.
    unit : "auto", "m", "cm" or "mm"
        The file's unit of length; translations come back in metres. "auto" likewise, by ``[metadata] unit``.
    sizes : mapping, optional
        Camera name to width and height of its video, to compare with (see `check_sizes`).

    Warns
    -----
    CalibrationWarning
        For every finding of `doubts` and `check_sizes`.

    Raises
    ------
    ValueError
        When a camera's table lacks a key or holds no finite camera, the file holds no camera, a video is turned against
        its calibration, or a camera is fisheye.
    """
    with open(path, "rb") as file:
        tables = tomllib.load(file)
    metadata = tables.get("metadata", {})
    cameras, found = [], {}
    for key, table in {**tables, **tables.get("cameras", {})}.items():
        if isinstance(table, dict) and "matrix" in table:
            found[key] = table
    for key, table in found.items():
        missing = [k for k in ("size", "distortions", "rotation", "translation") if k not in table]
        if missing:
            raise ValueError(f"{path}: camera {key!r} has no {', '.join(missing)}")
        if table.get("fisheye"):
            raise ValueError(
                f"{path}: camera {key!r} is fisheye; only the lens model k1 k2 p1 p2 k3 is read. Calibrate "
                f"again without, "
                "or film with the linear field of view"
            )
        turn = np.asarray(table["rotation"], dtype=np.float64)
        rotation = rot.from_matrix(turn) if turn.shape == (3, 3) else rot.from_rotation_vector(turn)
        name = str(table.get("name", key))
        cameras.append(
            Camera(table["matrix"], table["distortions"], rotation, table["translation"], tuple(table["size"]), name)
        )
    if not cameras:
        raise ValueError(f"{path}: expected a table with 'matrix' per camera, found {', '.join(tables) or 'nothing'}")
    cameras = _from_file_world(
        cameras, _known(metadata, "up_axis", up, _TO_Y_UP), _known(metadata, "unit", unit, _METRES)
    )
    findings = list(doubts(cameras))
    if sizes is not None:
        findings += check_sizes(cameras, sizes)
    for text in findings:
        warnings.warn(f"{Path(path).name}: {text}", CalibrationWarning, stacklevel=2)
    return cameras


def _known(metadata, key, asked, table):
    value = metadata.get(key, next(iter(table))) if asked == "auto" else asked
    if value not in table:
        raise ValueError(f"{key}: expected one of {', '.join(table)}, got {value!r}")
    return table[value]


def _from_file_world(cameras, turn, metres):
    return tuple(
        replace(
            camera,
            rotation=rot.normalize(rot.multiply(camera.rotation, rot.inverse(turn))),
            translation=camera.translation * metres,
        )
        for camera in cameras
    )


def write_cameras(
    path: str | Path,
    cameras: Sequence[Camera],
    *,
    up: str = "y",
    unit: str = "m",
    error: float | None = None,
    metadata: Mapping[str, object] | None = None,
) -> Path:
    """Write cameras as TOML that `read_cameras`, Pose2Sim, anipose and FreeMoCap read.

    Parameters
    ----------
    up : "y" or "z"
        Pose2Sim expects z. Written to ``[metadata]``, as is the unit, so that reading gives the same cameras back.
    unit : "m", "cm" or "mm"
        Pose2Sim expects metres, FreeMoCap's own files hold millimetres.
    error : float, optional
        Root mean squared reprojection error in pixels, for ``[metadata]``.
    metadata : mapping, optional
        More numbers, texts or booleans for ``[metadata]``, such as the board.
    """
    if not cameras or len({camera.name for camera in cameras}) != len(cameras):
        raise ValueError(f"cameras: expected one or more with different names, got {[c.name for c in cameras]}")
    turn, metres = _known({}, "up", up, _TO_Y_UP), _known({}, "unit", unit, _METRES)
    lines = []
    for camera in cameras:
        rotation = rot.to_rotation_vector(rot.normalize(rot.multiply(camera.rotation, turn)))
        lines += [
            f"[{_key(camera.name)}]",
            f"name = {_value(camera.name)}",
            f"size = {_value([float(n) for n in camera.size])}",
            f"matrix = {_value(camera.intrinsics)}",
            f"distortions = {_value(camera.distortion)}",
            f"rotation = {_value(rotation)}",
            f"translation = {_value(camera.translation / metres)}",
            "fisheye = false",
            "",
        ]
    entries = {"adjusted": True, "error": 0.0 if error is None else float(error), "up_axis": up, "unit": unit}
    lines += ["[metadata]", *(f"{key} = {_value(value)}" for key, value in {**entries, **(metadata or {})}.items()), ""]
    return write_whole(path, "\n".join(lines))


def _key(name):
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _value(name)


def _value(value) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return "[" + ", ".join(_value(v) for v in value) + "]"


def doubts(cameras: Sequence[Camera]) -> list[str]:
    """What looks wrong in a calibration by itself, in words.

    Distortion divided by 64 (as Pose2Sim's converter of Qualisys files does), lengths that are not metres, a principal
    point outside the middle of the picture or in that of a turned one.
    """
    found = []
    divided = [camera.name for camera in cameras if _divided_by_64(camera)]
    if divided:
        worst = max(np.abs(camera.distortion[:2]).max() for camera in cameras if camera.name in divided)
        found.append(
            f"{', '.join(divided)}: the distortion (largest {worst:.5f}) has the digits of printed values "
            f"divided by 64, "
            "the sub-pixel factor of Qualisys files, which belongs to pixels only: the lens is treated as 64 times "
            "straighter than it is. Compare it with a board (lens_check.check_lens), or repair it with "
            "lens_check.rescale_lens(cameras, 64)"
        )
    for camera in cameras:
        width, height = camera.size
        cx, cy = camera.intrinsics[:2, 2]
        if not (0.25 < cx / width < 0.75 and 0.25 < cy / height < 0.75):
            turned = 0.25 < cx / height < 0.75 and 0.25 < cy / width < 0.75
            found.append(
                f"{camera.name}: the principal point ({cx:.0f}, {cy:.0f}) is far from the middle of {width} x {height}"
                + ("; it would suit a picture turned by 90 degrees" if turned else "; is the matrix for another size?")
            )
    if len(cameras) > 1:
        centres = np.array([camera_centre(camera) for camera in cameras])
        widest = float(np.linalg.norm(centres[:, None] - centres, axis=-1).max())
        if widest > 50:
            way = "millimetres: read with unit='mm'" if widest > 500 else "centimetres or squares: read with unit='cm'"
            found.append(f"cameras stand up to {widest:.0f} m apart: the lengths are probably in {way}")
        elif widest < 0.1:
            found.append(f"cameras stand at most {widest:.3g} m apart: is the unit metres, and the translation set?")
    return found


def _divided_by_64(camera) -> bool:
    given = camera.distortion[np.abs(camera.distortion) > 0]
    if len(given) < 2:
        return False

    def printed(values):
        return np.abs(values * 1e6 - np.round(values * 1e6)).max() < 1e-5

    return bool(printed(given * 64) and not printed(given) and np.abs(given).max() * 64 < 2)


def check_sizes(cameras: Sequence[Camera], sizes: Mapping[str, tuple[int, int]]) -> list[str]:
    """How the sizes of videos differ from the calibration's, in words, one entry per camera.

    Nothing is scaled or shifted: whether a narrower picture was cut (where?) or squeezed cannot be known from its size.

    Raises
    ------
    KeyError
        When a camera has no size.
    ValueError
        When a video lies on its side against its calibration: x and y would be exchanged.
    """
    notes = []
    for camera in cameras:
        if camera.name not in sizes:
            raise KeyError(f"{camera.name}: no video size given; there are {', '.join(map(str, sizes))}")
        have, want = tuple(int(n) for n in sizes[camera.name]), camera.size
        if have == want:
            continue
        where = f"{camera.name}: calibrated for {want[0]} x {want[1]} pixels, the video is {have[0]} x {have[1]}"
        if (have[0] > have[1]) != (want[0] > want[1]) and want[0] != want[1]:
            raise ValueError(
                f"{where}: one lies on its side against the other, x and y would be exchanged; turn the "
                f"video or calibrate "
                "as it was filmed"
            )
        ratio = np.array(have) / want
        if abs(ratio[0] / ratio[1] - 1) < 1e-3:
            notes.append(f"{where}: {ratio[0]:.4g} times as large; if it was scaled, use scale_camera")
        else:
            notes.append(
                f"{where}: {have[0] - want[0]:+d} x {have[1] - want[1]:+d} pixels; a cut at the left or "
                f"top shifts every "
                "point, one at the right or bottom does not: find out which"
            )
    return notes


def scale_camera(camera: Camera, size: tuple[int, int]) -> Camera:
    """The camera for its picture scaled to another size, for use when scaling is what was done.

    The principal point follows pixel centres: (c + 1/2) scales, c does not.
    """
    sx, sy = size[0] / camera.size[0], size[1] / camera.size[1]
    k = camera.intrinsics
    scaled = np.array(
        [[k[0, 0] * sx, 0, (k[0, 2] + 0.5) * sx - 0.5], [0, k[1, 1] * sy, (k[1, 2] + 0.5) * sy - 0.5], [0, 0, 1]]
    )
    return replace(camera, intrinsics=scaled, size=tuple(size))


def video_size(path: str | Path) -> tuple[int, int]:
    """Width and height of a video's first decoded picture, after the rotation its container asks for."""
    from motionbook.capture.boards import opencv

    video = opencv().VideoCapture(str(path))
    good, picture = video.read()
    video.release()
    if not good:
        raise ValueError(f"{path}: no picture can be decoded from it")
    return picture.shape[1], picture.shape[0]
