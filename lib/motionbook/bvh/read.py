"""From the bytes of a BVH file to a Clip in metres, Y up."""

import itertools
import logging
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.bvh.angles import channel_rotations
from motionbook.bvh.guess import TURNS, Guess, guess_positions, guess_unit, guess_up, sample_poses
from motionbook.bvh.header import (
    LARGEST,
    ROTATION,
    Header,
    bvh_error,
    frame_rate,
    is_number,
    line_of,
    not_a_number,
    parse_header,
)
from motionbook.bvh.scan import ScanError, scan_rows
from motionbook.clip import Clip, Skeleton

POSITION_RULES = ("auto", "replace", "add_root", "add")
_SAMPLES = 64
_log = logging.getLogger("motionbook")


class BvhReport(NamedTuple):
    """What the reader found and chose. ``notes`` says it in words, one line per choice."""

    path: Path
    frames: int
    frames_declared: int
    fps: float
    metres_per_unit: float
    unit: str
    up: str
    """Up axis of the file: "Y", "-Y", "Z" or "-Z"; "file" when the axes were left alone."""
    positions: str
    """Rule of the position channels: "replace", "add_root" or "add"."""
    body_height: float
    """Metres, the largest distance of two body points, median over frames."""
    notes: tuple[str, ...]
    header: Header
    """Names, orders, end sites and channels as the file has them, for ``write_bvh(like=...)``."""


def read_bvh(
    path, metres_per_unit="auto", positions="auto", up="auto", fps: float | None = None, strict: bool = False
) -> Clip:
    """The motion of a BVH file.

    Parameters
    ----------
    path : path
    metres_per_unit : "auto" or float
        "auto" takes cm, m or inch, whichever gives the body a person's size (mm, dm and the CMU conversions' unit when
        none of them does), else cm. The choice is logged under "motionbook" and returned by ``read_bvh_report``.
    positions : "auto", "replace", "add_root" or "add"
        Whether position channels stand for a joint's OFFSET (replace), are added to it at the root only (add_root,
        FreeMoCap's exporter) or at every joint (add). "auto" takes add_root only when it, and not replace, puts the
        lowest joint within 15 % of the body height of the floor, else replace.
    up : "auto", "Y", "Z", "-Y", "-Z" or "file"
        Up axis of the file, turned to Y: offsets, places and rotations alike. "file" keeps the file's axes.
    fps : float, optional
        Relabels the frames with another rate; nothing is resampled. Without it the frame time is used, and 0.033333
        means 30 (see ``motionbook.bvh.header.frame_rate``).
    strict : bool
        Refuse, rather than warn about, a row count other than the declared one (the rows count) and repeated names.

    Returns
    -------
    Clip
        Metres, Y up. ``translations`` is set when a joint below the root has position channels that differ anywhere
        from its OFFSET, else None.

    Raises
    ------
    BvhError
        A ValueError that names the file, the line and the way out.
    """
    return read_bvh_report(path, metres_per_unit, positions, up, fps, strict)[0]


def read_bvh_report(
    path, metres_per_unit="auto", positions="auto", up="auto", fps: float | None = None, strict: bool = False
) -> tuple[Clip, BvhReport]:
    """As ``read_bvh``, with a ``BvhReport`` of what was found and chosen."""
    path = Path(path)
    if positions not in POSITION_RULES:
        raise ValueError(f"positions: expected one of {', '.join(POSITION_RULES)}, got {positions!r}")
    if up not in ("auto", "file", *TURNS):
        raise ValueError(f"up: expected one of auto, file, {', '.join(TURNS)}, got {up!r}")
    if metres_per_unit != "auto" and not _is_positive(metres_per_unit):
        raise ValueError(
            f"metres_per_unit: expected 'auto' or a positive number, got {metres_per_unit!r}; centimetres are 0.01"
        )
    header, values = _read_numbers(path)
    notes = _check_count(path, header, len(values), strict)
    rate, rate_note = _choose_rate(path, header, fps)
    skeleton, renamed = _skeleton(path, header, strict)

    some = np.unique(np.linspace(0, len(values) - 1, _SAMPLES).astype(int))
    root, moved = _places(header, values[some], "add" if positions == "add" else "replace")
    poses = sample_poses(skeleton, root, channel_rotations(header, values[some]), moved)
    guessed_up = guess_up(poses)
    axis = guessed_up.choice if up in ("auto", "file") else up
    rule = Guess(positions, "asked for")
    if positions == "auto":
        moving = np.isin((0, 1, 2), header.channels[0])
        rule = guess_positions(poses, axis, np.where(moving, header.offsets[0], 0.0))
    scale, unit = guess_unit(poses)
    if metres_per_unit != "auto":
        scale, unit = float(metres_per_unit), Guess(f"{float(metres_per_unit):g} m", "asked for")

    root, moved = _places(header, values, rule.choice)
    turn = np.eye(3) if up == "file" else TURNS[axis]
    clip = Clip(
        Skeleton(
            skeleton.names,
            skeleton.parents,
            skeleton.offsets @ turn.T * scale,
            tuple((joint, tuple(turn @ offset * scale)) for joint, offset in skeleton.end_offsets),
        ),
        root @ turn.T * scale,
        turn_basis(channel_rotations(header, values), turn),
        rate,
        None if moved is None else moved @ turn.T * scale,
    )
    notes += renamed
    notes += (
        f"{len(clip)} frames x {len(skeleton)} joints at {clip.fps:g} fps: {rate_note}",
        f"unit {unit.choice}: {unit.reason}",
        f"positions {rule.choice}: {rule.reason}",
        f"up {axis}: {guessed_up.reason if up in ('auto', 'file') else 'asked for'}"
        + ("; left in the file's axes" if up == "file" else ""),
    )
    _log.info("%s: %s", path.name, "; ".join(notes))
    report = BvhReport(
        path,
        len(clip),
        header.frames,
        clip.fps,
        scale,
        unit.choice,
        "file" if up == "file" else axis,
        rule.choice,
        poses.height * scale,
        notes,
        header,
    )
    return clip, report


def turn_basis(rotations: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Rotations (..., 4) of the same motion seen in axes turned by ``turn`` (3, 3): R becomes T R T^-1."""
    if np.array_equal(turn, np.eye(3)):
        return rotations
    out = rotations.copy()
    out[..., 1:] = rotations[..., 1:] @ turn.T
    return out


def _is_positive(value) -> bool:
    try:
        return bool(np.isfinite(float(value)) and float(value) > 0)
    except (TypeError, ValueError):
        return False


def _read_numbers(path: Path) -> tuple[Header, np.ndarray]:
    data = path.read_bytes()
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", errors="replace").encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    header = parse_header(data, path.name)
    if header.width == 0:
        raise bvh_error(path.name, header.frames_line, "no joint has channels, so there is no motion to read")
    values, error = scan_rows(data, header.body_start, header.width)
    if error is not None:
        raise bvh_error(path.name, line_of(data, error.position), _explain(data, header, error))
    if not len(values):
        line = line_of(data, header.body_start)
        raise bvh_error(path.name, line, f"no rows of motion, {header.frames} frames are declared")
    if max(values.max(), -values.min()) > LARGEST:
        row, column = (int(i) for i in np.argwhere(np.abs(values) > LARGEST)[0])
        problem = f"frame {row}, joint {_owner(header, column)}: {values[row, column]:g} is too large a number"
        raise bvh_error(path.name, _line_of_row(data, header, row), problem)
    return header, values


def _line_of_row(data: bytes, header: Header, row: int) -> int:
    filled = (number for number, line in enumerate(data[header.body_start :].split(b"\n")) if line.strip())
    return line_of(data, header.body_start) + next(itertools.islice(filled, row, None))


def _owner(header: Header, column: int) -> str:
    """Name of the joint that a column belongs to."""
    return next(
        name
        for name, (start, channels) in zip(header.names, header.columns, strict=True)
        if column < start + len(channels)
    )


def _explain(data: bytes, header: Header, error: ScanError) -> str:
    if error.problem == "short":
        cut = "; the file seems cut off, fetch or export it again" if error.position >= len(data.rstrip()) else ""
        return f"frame {error.row}: expected {header.width} numbers, got {error.column}{cut}"
    if error.problem == "long":
        return f"frame {error.row}: more than the {header.width} numbers that the CHANNELS add up to"
    word = data[error.position : error.position + 40].split(maxsplit=1)[0].decode("latin-1")
    problem = f"{word!r} is too large a number" if is_number(word) else not_a_number(word)
    return f"frame {error.row}, joint {_owner(header, error.column)}: {problem}"


def _check_count(path: Path, header: Header, rows: int, strict: bool) -> tuple[str, ...]:
    if rows == header.frames:
        return ()
    text = f"declares {header.frames} frames and holds {rows} rows"
    if strict:
        advice = "correct the count, or read with strict=False to take the rows"
        raise bvh_error(path.name, header.frames_line, f"{text}; {advice}")
    warnings.warn(f"{path.name} {text}; the {rows} rows are taken", stacklevel=4)
    return (f"{text}; the rows are taken",)


def _choose_rate(path: Path, header: Header, fps: float | None) -> tuple[float, str]:
    if fps is not None:
        return float(fps), f"relabelled, the file says Frame Time {header.frame_time}"
    rate = frame_rate(header.frame_time)
    if rate is None:
        problem = f"Frame Time: expected seconds above zero, got {header.frame_time}; pass fps= to set the rate"
        raise bvh_error(path.name, header.frame_time_line, problem)
    return rate, f"Frame Time {header.frame_time}"


def _skeleton(path: Path, header: Header, strict: bool) -> tuple[Skeleton, tuple[str, ...]]:
    """The skeleton in file units and axes; repeated names get a number."""
    names, notes = [], ()
    for name in header.names:
        number = 1
        while name in names or (number > 1 and name in header.names):
            number += 1
            name = f"{header.names[len(names)]}.{number}"
        names.append(name)
    twice = sorted({name for name in header.names if header.names.count(name) > 1})
    if twice:
        text = f"uses joint names more than once: {', '.join(twice)}"
        if strict:
            line = next(line for name, line in zip(names, header.lines, strict=True) if name not in header.names)
            raise bvh_error(path.name, line, f"{text}; rename them, or read with strict=False to have them numbered")
        warnings.warn(f"{path.name} {text}; the later ones are numbered", stacklevel=4)
        notes = (f"{text}; the later ones are numbered",)
    ends = tuple((end.joint, end.offset) for end in header.ends)
    return Skeleton(tuple(names), header.parents, np.array(header.offsets), ends), notes


def _places(header: Header, values: np.ndarray, rule: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Root path (frames, 3) and, where joints below the root move in their parents, all places (frames, joints, 3)."""
    offsets = np.array(header.offsets)
    root, moving = np.tile(offsets[0], (len(values), 1)), []
    for joint, (start, channels) in enumerate(header.columns):
        if not any(channel < ROTATION for channel in channels):
            continue
        place = np.tile(offsets[joint], (len(values), 1))
        add = rule == "add" or (rule == "add_root" and joint == 0)
        for column, channel in enumerate(channels, start=start):
            if channel < ROTATION:
                place[:, channel] = values[:, column] + (offsets[joint, channel] if add else 0.0)
        if joint == 0:
            root = place
        elif not np.array_equal(place, np.broadcast_to(offsets[joint], place.shape)):
            moving.append((joint, place))
    if not moving:
        return root, None
    moved = np.tile(offsets, (len(values), 1, 1))
    moved[:, 0] = root
    for joint, place in moving:
        moved[:, joint] = place
    return root, moved
