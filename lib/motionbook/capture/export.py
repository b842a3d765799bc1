"""Points in the files of other programs: TRC (OpenSim, Pose2Sim), the CSV of C3D programs, FreeMoCap's arrays.

All of them keep the true frame rate: 29.97 stays 29.97, where Pose2Sim writes 30 and lets its time column drift by a
millisecond per second. A point that is not known is an empty cell, never a zero.
"""

import csv
import io
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.capture.ground import turn_up
from motionbook.capture.landmarks import Landmarks
from motionbook.files import write_whole

METRES = {"m": 1.0, "cm": 0.01, "mm": 0.001}


class Trc(NamedTuple):
    """What a TRC file holds.

    Attributes
    ----------
    landmarks : Landmarks
        Metres; confidence 1 where a point is given, 0 where its cells are empty.
    times : (frames,)
        Seconds, as printed.
    start : int
        Number of the first frame.
    units : str
        Of the file.
    stated_frames : int
        What the header says; a warning when it is not the number of rows.
    stated_rate : float
        The header's DataRate.
    """

    landmarks: Landmarks
    times: np.ndarray
    start: int
    units: str
    stated_frames: int
    stated_rate: float


def write_trc(path: str | Path, landmarks: Landmarks, *, units: str = "m", start: int = 0) -> Path:
    """Write a TRC file in Pose2Sim's layout: the same header lines, tabs and six decimals, Y up.

    Parameters
    ----------
    path : path
        Its name stands in the first line.
    landmarks : Landmarks
    units : "m", "cm" or "mm"
    start : int
        Number of the first frame; its time is start / fps.
    """
    _check_units(units, "units")
    names, rate, frames = landmarks.names, f"{landmarks.fps:.10g}", len(landmarks.positions)
    head = "DataRate CameraRate NumFrames NumMarkers Units OrigDataRate OrigDataStartFrame OrigNumFrames".split()
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{Path(path).name}",
        "\t".join(head),
        "\t".join([rate, rate, str(frames), str(len(names)), units, rate, str(start), str(frames)]),
        "Frame#\tTime\t" + "".join(f"{name}\t\t\t" for name in names),
        "\t\t" + "".join(f"X{i}\tY{i}\tZ{i}\t" for i in range(1, len(names) + 1)),
    ]
    rows = landmarks.positions.reshape(frames, -1) / METRES[units]
    for frame, row in enumerate(rows, start=start):
        cells = ["" if np.isnan(value) else f"{value:.6f}" for value in row]
        lines.append("\t".join([str(frame), f"{frame / landmarks.fps:.6f}", *cells]))
    return write_whole(path, "\n".join(lines) + "\n")


def read_trc(path: str | Path, *, fps: float | None = None, up: str = "y") -> Trc:
    """Read a TRC file.

    Parameters
    ----------
    path : path
    fps : float, optional
        The true rate, where the file has it rounded; otherwise the header's, or the time column's where the two
        disagree (with a warning).
    up : str
        The file's vertical axis (`motionbook.capture.ground.turn_up`).

    Raises
    ------
    ValueError
        Naming the file, the line, what was expected there and what was found.
    """
    path = Path(path)
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    if len(lines) < 5 or not lines[0].startswith("PathFileType"):
        raise ValueError(f"{path}: line 1: expected a TRC file, which starts with PathFileType, got {_first(lines)!r}")
    header = dict(zip(lines[1].split("\t"), lines[2].split("\t"), strict=False))
    missing = [key for key in ("DataRate", "NumFrames", "NumMarkers", "Units") if not header.get(key, "").strip()]
    if missing:
        raise ValueError(f"{path}: lines 2 and 3: the header has no {', '.join(missing)}")
    units = header["Units"].strip()
    _check_units(units, f"{path}: line 3: Units")
    stated_rate, stated_frames, count = (
        _number(header[key], path, 3, key) for key in ("DataRate", "NumFrames", "NumMarkers")
    )
    names = tuple(name.strip() for name in lines[3].split("\t")[2:] if name.strip())
    if len(names) != count:
        raise ValueError(f"{path}: line 4: expected {count:g} marker names (NumMarkers), got {len(names)}")
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"{path}: line 4: expected every marker name once, got {', '.join(twice)} more than once")
    numbers, rows = [], []
    for line, text in enumerate(lines[5:], start=6):
        if not text.strip():
            continue
        cells = text.split("\t")
        if len(cells) < 2 + 3 * len(names):
            raise ValueError(
                f"{path}: line {line}: expected {2 + 3 * len(names)} values, got {len(cells)}: it is cut short"
            )
        numbers.append([_number(cell, path, line, "Frame# and Time") for cell in cells[:2]])
        rows.append([_number(cell, path, line, "a coordinate") for cell in cells[2 : 2 + 3 * len(names)]])
    if not rows:
        raise ValueError(f"{path}: no frames after the header")
    if len(rows) != stated_frames:
        warnings.warn(
            f"{path.name}: the header says {stated_frames:g} frames, holds {len(rows)} rows; the rows count",
            stacklevel=2,
        )
    points = np.array(rows).reshape(len(rows), len(names), 3) * METRES[units]
    numbers = np.array(numbers)
    rate = float(fps) if fps else _rate(path, stated_rate, numbers[:, 1], lines)
    known = np.isfinite(points).all(axis=-1)
    landmarks = Landmarks(names, turn_up(points, up), known.astype(float), rate)
    return Trc(landmarks, numbers[:, 1], int(numbers[0, 0]), units, int(stated_frames), float(stated_rate))


def _rate(path, stated: float, times: np.ndarray, lines) -> float:
    """The header's rate, or the time column's where they differ by more than the column's rounding."""
    if len(times) < 2 or not times[-1] > times[0]:
        return stated
    digits = max(len(line.split("\t")[1].partition(".")[2]) for line in lines[5:] if line.strip())
    span, steps = times[-1] - times[0], len(times) - 1
    if abs(span - steps / stated) <= 1.5 * 10.0**-digits:
        return stated
    rate = steps / span
    warnings.warn(
        f"{path.name}: the header says {stated:g} frames per second, the time column {rate:.6g}; the times count. Pass "
        "fps= when you know better",
        stacklevel=3,
    )
    return float(rate)


def _check_units(units: str, where: str) -> None:
    if units not in METRES:
        raise ValueError(f"{where}: expected {', '.join(METRES)}, got {units!r}")


def _first(lines) -> str:
    return lines[0][:40] if lines else ""


def _number(text: str, path, line: int, what: str) -> float:
    text = text.strip()
    if text.lower() in ("", "nan"):
        return np.nan
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{path}: line {line}: expected a number for {what}, got {text!r}") from None


def write_c3d_csv(path: str | Path, landmarks: Landmarks, *, units: str = "mm", start: int = 1) -> Path:
    """Write points as the programs that edit C3D files export and import them (Vicon's "trajectories" CSV).

    Lines: the word Trajectories, the rate, the names above their three columns, Frame, Sub Frame and axes, the units,
    then a row per frame. Millimetres and frames from 1, as C3D has them; Y stays up.
    """
    _check_units(units, "units")
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["Trajectories"])
    rows.writerow([f"{landmarks.fps:.10g}"])
    rows.writerow(["", "", *(cell for name in landmarks.names for cell in (name, "", ""))])
    rows.writerow(["Frame", "Sub Frame", *("X Y Z".split() * len(landmarks.names))])
    rows.writerow(["", "", *[units] * (3 * len(landmarks.names))])
    values = landmarks.positions.reshape(len(landmarks.positions), -1) / METRES[units]
    for frame, row in enumerate(values, start=start):
        rows.writerow([frame, 0, *("" if np.isnan(value) else f"{value:.10g}" for value in row)])
    return write_whole(path, out.getvalue())


def read_c3d_csv(path: str | Path, *, up: str = "y") -> Landmarks:
    """Read what `write_c3d_csv` or Vicon's export writes: the block after the line "Trajectories", in metres.

    Names keep what stands after their subject's colon.

    Raises
    ------
    ValueError
        Naming the file and line.
    """
    path = Path(path)
    with open(path, newline="", encoding="utf-8-sig") as file:
        table = list(csv.reader(file))
    starts = [i for i, row in enumerate(table) if row and row[0].strip() == "Trajectories"]
    if not starts or len(table) < starts[0] + 6:
        raise ValueError(f"{path}: expected a line 'Trajectories' followed by a header of four lines, found none")
    top = starts[0]
    rate = _number(table[top + 1][0], path, top + 2, "the rate")
    names = tuple(cell.strip().rpartition(":")[2] for cell in table[top + 2][2::3] if cell.strip())
    units = next((cell.strip() for cell in table[top + 4] if cell.strip()), "")
    _check_units(units, f"{path}: line {top + 5}: units")
    rows = []
    for line, row in enumerate(table[top + 5 :], start=top + 6):
        if not any(cell.strip() for cell in row):
            break
        row = row + [""] * (2 + 3 * len(names) - len(row))
        rows.append([_number(cell, path, line, "a coordinate") for cell in row[2 : 2 + 3 * len(names)]])
    points = turn_up(np.array(rows).reshape(len(rows), len(names), 3) * METRES[units], up)
    return Landmarks(names, points, np.isfinite(points).all(axis=-1).astype(float), rate)


FREEMOCAP_3D = "mediapipe_3dData_numFrames_numTrackedPoints_spatialXYZ.npy"
FREEMOCAP_CSV = "mediapipe_body_3d_xyz.csv"


def write_freemocap(folder: str | Path, landmarks: Landmarks, *, name: str = "recording") -> list[Path]:
    """Write points where FreeMoCap's own tools look for them, in its unit (millimetres) and with Z up.

    ``output_data/raw_data/`` gets the array (frames, points, 3), ``output_data/`` the body's CSV with a column per
    coordinate, and the folder ``<name>_by_trajectory.csv`` with the time of every frame: the only one of the three
    that knows the rate.
    """
    folder = Path(folder)
    points = 1000.0 * landmarks.positions[..., [2, 0, 1]]  # Y up to Z up, the reverse of turn_up(points, "z")
    raw = folder / "output_data" / "raw_data" / FREEMOCAP_3D
    written = [write_whole(raw, lambda place: np.save(place, points))]
    columns = [f"{point}_{axis}" for point in landmarks.names for axis in "xyz"]
    flat = points.reshape(len(points), -1)
    for path, times in (
        (folder / "output_data" / FREEMOCAP_CSV, None),
        (folder / f"{name}_by_trajectory.csv", np.arange(len(points)) / landmarks.fps),
    ):
        lines = [",".join(columns if times is None else ["timestamp", *columns])]
        for index, row in enumerate(flat):
            cells = ["" if np.isnan(value) else f"{value:.10g}" for value in row]
            lines.append(",".join(cells if times is None else [f"{times[index]:.10g}", *cells]))
        written.append(write_whole(path, "\n".join(lines) + "\n"))
    return written


def write_gaps(path: str | Path, gaps) -> Path:
    """Write the gaps of `motionbook.capture.postprocess.clean` as CSV, beside a file that cannot hold their reasons."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["point", "first_frame", "last_frame", "seconds", "reason", "filled"])
    for gap in gaps:
        rows.writerow([gap.name, gap.start, gap.stop - 1, f"{gap.seconds:.10g}", gap.reason, int(gap.filled)])
    return write_whole(path, out.getvalue())
