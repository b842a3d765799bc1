"""From a Clip to a BVH file, in LaFAN1's form or in that of another file."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.bvh.guess import TURNS
from motionbook.bvh.header import ROTATION, EndSite, Header, frame_rate, parse_header
from motionbook.bvh.read import BvhReport, read_bvh_report, turn_basis
from motionbook.bvh.text import exact_text, rounded, rows_text, rows_text_exactly
from motionbook.clip import Clip
from motionbook.files import write_whole

_LETTERS = "XYZ"
_MOST_DECIMALS = 12  # a degree or centimetre of float64 has no more that mean anything


def write_bvh(
    clip: Clip,
    path,
    like=None,
    *,
    metres_per_unit: float = 0.01,
    order: str = "ZYX",
    decimals: int | str = 6,
    up: str = "Y",
) -> Path:
    """Write a clip as BVH.

    Parameters
    ----------
    clip : Clip
    path : path
        Written whole or not at all; equal clips give equal bytes whatever the locale.
    like : path or BvhReport, optional
        A file, or the report ``read_bvh_report`` gave for it, whose joint names, channel orders, end sites, up axis,
        unit and positions rule are kept, and the text of its frame time where the clip has the rate it stands for. Its
        skeleton must have the same tree. A path is read with the reader's own guesses; pass the report when the file
        was read with other options.
    metres_per_unit, order, up : float, str, str
        Without ``like``: unit (centimetres), order of the rotation channels and up axis ("Y", "Z", "-Y" or "-Z"). The
        root has six channels with absolute positions and OFFSET 0; a joint has positions as well only where
        ``clip.translations`` differ from its offset.
    decimals : int, "like" or "exact"
        Digits behind the point. "like": as many as the file ``like`` has, in its OFFSETs and in its rows, 12 at most.
        "exact": for every number the fewest that read back to the same float64.

    Returns
    -------
    Path

    Raises
    ------
    ValueError
        When the clip has no frame, a name that a BVH file cannot hold, or motion that ``like`` has no channel for.
    """
    if not len(clip):
        raise ValueError("clip: expected at least one frame, got none; a BVH file without rows cannot be read")
    report = like if like is None or isinstance(like, BvhReport) else read_bvh_report(like)[1]
    digits = _digits(decimals, report)
    if report is None:
        if up not in TURNS:
            raise ValueError(f"up: expected one of {', '.join(TURNS)}, got {up!r}")
        header, turn, scale, rule = _own_layout(clip, order), TURNS[up], float(metres_per_unit), "replace"
    else:
        header, scale, rule = _borrowed_layout(clip, report), report.metres_per_unit, report.positions
        turn = TURNS["Y"] if report.up == "file" else TURNS[report.up]
    offsets, ends = clip.skeleton.offsets @ turn / scale, header.ends
    if report is None:
        offsets[0] = 0.0
        ends = tuple(end._replace(offset=np.array(end.offset) @ turn / scale) for end in ends)
    values = _values(clip, header, offsets, turn, scale, rule)
    time = _frame_time(clip.fps)
    if report is not None and frame_rate(header.frame_time) == clip.fps:
        time = header.frame_time
    text = _hierarchy(header, offsets, ends, digits.offsets)
    text += f"MOTION\nFrames: {len(clip)}\nFrame Time: {time}\n"
    rows = rows_text_exactly(values) if digits.rows is None else rows_text(values, digits.rows)

    def write(temporary: Path) -> None:
        with open(temporary, "wb") as file:
            file.write(text.encode())
            file.writelines(rows)

    return write_whole(path, write)


class _Digits(NamedTuple):
    """Decimals of the OFFSETs and of the rows; None for as many as it takes."""

    offsets: int | None
    rows: int | None


def _digits(decimals, report: BvhReport | None) -> _Digits:
    if decimals == "exact":
        return _Digits(None, None)
    if decimals == "like":
        if report is None:
            raise ValueError('decimals: "like" needs like=, the file whose decimals are meant')
        return _Digits(*file_decimals(report.path))
    if isinstance(decimals, bool) or not isinstance(decimals, int | np.integer) or not 0 <= decimals <= 300:
        raise ValueError(f'decimals: expected a whole number from 0, "like" or "exact", got {decimals!r}')
    return _Digits(int(decimals), int(decimals))


def file_decimals(path) -> tuple[int, int]:
    """Most digits behind the point in the OFFSETs and in the rows of a BVH file, 12 at most.

    Digits of a number with an exponent are counted as they would stand without it.
    """
    data = Path(path).read_bytes()
    at = parse_header(data.removeprefix(b"\xef\xbb\xbf"), Path(path).name).body_start
    offsets = b" ".join(re.findall(rb"OFFSET([^A-Za-z{}]*(?:[eE][+-]?\d+[^A-Za-z{}]*)*)", data[:at], re.IGNORECASE))
    return _most_decimals(offsets), _most_decimals(data[at:])


def _most_decimals(text: bytes) -> int:
    found = re.findall(rb"(?:\.(\d*))?(?:[eE]([+-]?\d+))?(?=\s|$)", text)
    return min(max((len(d) - int(e or 0) for d, e in found if d or e), default=0), _MOST_DECIMALS)


def _own_layout(clip: Clip, order: str) -> Header:
    skeleton = clip.skeleton
    turns = tuple(ROTATION + _LETTERS.index(letter) for letter in rot.check_order(order))
    channels = [turns] * len(skeleton)
    channels[0] = (0, 1, 2, *turns)
    if clip.translations is not None:
        for joint in range(1, len(skeleton)):
            if np.abs(clip.translations[:, joint] - skeleton.offsets[joint]).max(initial=0.0) > 1e-9:
                channels[joint] = (0, 1, 2, *turns)
    ends = tuple(EndSite(joint, offset, "Site") for joint, offset in skeleton.end_offsets)
    offsets = tuple(map(tuple, skeleton.offsets.tolist()))
    for name in skeleton.names:
        if name != name.strip() or not name or set(name) & set("{}\r\n"):
            raise ValueError(f"clip: joint name {name!r} cannot stand in a BVH file (braces, line ends, outer blanks)")
    lines = (0,) * len(skeleton)
    return Header(skeleton.names, lines, skeleton.parents, offsets, ends, tuple(channels), len(clip), 0, "", 0, 0)


def _borrowed_layout(clip: Clip, report: BvhReport) -> Header:
    header = report.header
    if header.parents != clip.skeleton.parents:
        trees = [f"{len(names)} joints ({', '.join(names)})" for names in (header.names, clip.skeleton.names)]
        raise ValueError(
            f"like: expected the tree of {report.path.name}, {trees[0]}, got {trees[1]}; "
            "retarget the clip to that skeleton or leave like out"
        )
    return header


def _values(clip: Clip, header: Header, offsets, turn, scale, rule) -> np.ndarray:
    """The rows of numbers (frames, channels), in file units, axes and degrees."""
    rotations = turn_basis(clip.rotations, turn.T)
    out = np.empty((len(clip), header.width))
    column = 0
    for joint in depth_first(header.parents):
        channels = header.channels[joint]
        if joint == 0:
            place = clip.root_positions @ turn / scale
        elif clip.translations is None:
            place = np.broadcast_to(offsets[joint], (len(clip), 3))
        else:
            place = clip.translations[:, joint] @ turn / scale
        if rule == "add" or (rule == "add_root" and joint == 0):
            written, held = place - offsets[joint], np.zeros(3)
        else:
            written, held = place, offsets[joint]
        for axis in {0, 1, 2} - set(channels):
            # an axis without a channel stays at its OFFSET
            if np.abs(written[:, axis] - held[axis]).max(initial=0.0) > 1e-6 * max(1.0, np.abs(offsets).max()):
                raise ValueError(
                    f"like: joint {header.names[joint]} leaves its OFFSET but has no {_LETTERS[axis]}position channel; "
                    "leave like out, or call constant_bones(clip) first if it is not the root"
                )
        angles = _angles(rotations[:, joint], [c - ROTATION for c in channels if c >= ROTATION], header.names[joint])
        turns = iter(range(3))
        for channel in channels:
            out[:, column] = written[:, channel] if channel < ROTATION else angles[:, next(turns)]
            column += 1
    return out


def _angles(rotations: np.ndarray, axes: list[int], joint: str) -> np.ndarray:
    """Degrees about the axes listed; fewer than three only carry rotations that need no more."""
    if len(set(axes)) < len(axes):
        raise ValueError(f"like: joint {joint} turns twice about one axis, which can be read but not written")
    order = "".join(_LETTERS[axis] for axis in (*axes, *sorted({0, 1, 2} - set(axes))))
    angles = rot.to_euler(rotations, order)
    if len(axes) == 2:
        # the other triple of angles of the same rotation may be the one whose last angle is zero
        other = np.stack([angles[:, 0] + np.pi, np.pi - angles[:, 1], angles[:, 2] + np.pi], axis=-1)
        other = (other + np.pi) % (2 * np.pi) - np.pi
        angles = np.where(np.abs(other[:, 2:]) < np.abs(angles[:, 2:]), other, angles)
    if len(axes) < 3 and np.abs(angles[:, len(axes) :]).max(initial=0.0) > 1e-5:
        raise ValueError(f"like: joint {joint} has {len(axes)} rotation channels, too few for its rotation in the clip")
    return np.rad2deg(angles)


def _frame_time(fps: float) -> str:
    """Seconds per frame: six decimals as usual where they mean this rate to the reader, else all digits."""
    short = f"{1 / fps:.6f}"
    return short if frame_rate(short) == fps else repr(1 / fps)


def _hierarchy(header: Header, offsets: np.ndarray, ends: tuple[EndSite, ...], decimals: int | None) -> str:
    lines = ["HIERARCHY"]

    def numbers(vector) -> str:
        if decimals is None:
            return " ".join(exact_text(float(x)) for x in vector)
        return " ".join(f"{x:.{decimals}f}" for x in rounded(np.asarray(vector, dtype=np.float64), decimals))

    depth = {-1: -1}
    open_joints: list[int] = []

    def close(until: int) -> None:
        while open_joints and open_joints[-1] != until:
            joint = open_joints.pop()
            tab = "\t" * depth[joint]
            for end in ends:
                if end.joint == joint:
                    lines.extend([f"{tab}\tEnd {end.label}", f"{tab}\t{{"])
                    lines.extend([f"{tab}\t\tOFFSET {numbers(end.offset)}", f"{tab}\t}}"])
            lines.append(f"{tab}}}")

    for joint in depth_first(header.parents):
        parent, channels = header.parents[joint], header.channels[joint]
        close(parent)
        depth[joint] = depth[parent] + 1
        open_joints.append(joint)
        tab = "\t" * depth[joint]
        names = [f"{_LETTERS[c % 3]}{'position' if c < ROTATION else 'rotation'}" for c in channels]
        lines.append(f"{tab}{'JOINT' if parent >= 0 else 'ROOT'} {header.names[joint]}")
        lines.extend([f"{tab}{{", f"{tab}\tOFFSET {numbers(offsets[joint])}"])
        lines.append(f"{tab}\tCHANNELS {' '.join([str(len(channels)), *names])}")
    close(-1)
    return "\n".join(lines) + "\n"


def depth_first(parents: tuple[int, ...]) -> list[int]:
    """Joints in the order a BVH file lists them: each before its children, siblings by index."""
    children: dict[int, list[int]] = {}
    for joint, parent in enumerate(parents):
        children.setdefault(parent, []).append(joint)
    order, waiting = [], [0]
    while waiting:
        order.append(waiting.pop())
        waiting.extend(reversed(children.get(order[-1], ())))
    return order
