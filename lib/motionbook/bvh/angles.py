"""Rotation channels in degrees to quaternions, each joint by its own order, compiled by numba like the scanner."""

import functools
import math

import numpy as np

from motionbook import rotations as rot
from motionbook.bvh.header import ROTATION, Header
from motionbook.bvh.scan import compiled

_BLOCK = 1 << 18  # numbers turned at a time without numba, which bounds the memory of the intermediate arrays
_HALF_DEGREE = math.pi / 360


def channel_rotations(header: Header, values: np.ndarray) -> np.ndarray:
    """Parent-relative rotations (frames, joints, 4) from rows of numbers; a joint without channels does not turn."""
    turns = _turns(header)
    columns, axes = np.zeros((2, len(turns), 3), dtype=np.int64)
    axes[:] = -1
    for joint, pairs in enumerate(turns):
        for place, (column, axis) in enumerate(pairs):
            columns[joint, place], axes[joint, place] = column, axis
    try:
        turn = _compiled()
    except ImportError:
        return channel_rotations_slowly(header, values)
    out = np.empty((len(values), len(turns), 4))
    turn(np.ascontiguousarray(values), columns, axes, out)
    return out


def channel_rotations_slowly(header: Header, values: np.ndarray) -> np.ndarray:
    """``channel_rotations`` without numba: joints that share an order are turned together, in blocks of frames."""
    groups: dict[str, list[tuple[int, list[int]]]] = {}
    for joint, pairs in enumerate(_turns(header)):
        order = "".join("XYZ"[axis] for _, axis in pairs)
        groups.setdefault(order, []).append((joint, [column for column, _ in pairs]))
    groups.pop("", None)
    out = rot.identity((len(values), len(header.names)))
    step = max(1, _BLOCK // max(1, values.shape[1]))
    for order, members in groups.items():
        joints, columns = [joint for joint, _ in members], [columns for _, columns in members]
        for first in range(0, len(values), step):
            block = slice(first, first + step)
            out[block, joints] = rot.from_euler(np.deg2rad(values[block][:, columns]), order)
    return out


def _turns(header: Header) -> list[list[tuple[int, int]]]:
    """Per joint, column and axis of each rotation channel."""
    return [
        [(column, c - ROTATION) for column, c in enumerate(channels, start=start) if c >= ROTATION]
        for start, channels in header.columns
    ]


@functools.cache
def _compiled():
    from numba import types

    places = types.int64[:, ::1]
    return compiled(_turn, types.void(types.float64[:, ::1], places, places, types.float64[:, :, ::1]))


def _turn(values, columns, axes, out):
    for frame in range(values.shape[0]):
        for joint in range(columns.shape[0]):
            w, x, y, z = 1.0, 0.0, 0.0, 0.0
            for place in range(3):
                axis = axes[joint, place]
                if axis < 0:
                    break
                half = values[frame, columns[joint, place]] * _HALF_DEGREE
                c, s = math.cos(half), math.sin(half)
                # the turn so far times (c, s on this axis)
                if axis == 0:
                    w, x, y, z = w * c - x * s, x * c + w * s, y * c + z * s, z * c - y * s
                elif axis == 1:
                    w, x, y, z = w * c - y * s, x * c - z * s, y * c + w * s, z * c + x * s
                else:
                    w, x, y, z = w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s
            out[frame, joint, 0], out[frame, joint, 1], out[frame, joint, 2], out[frame, joint, 3] = w, x, y, z
