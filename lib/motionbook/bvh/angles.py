"""Rotation channels in degrees to quaternions, each joint by its own order, compiled by numba like the scanner."""

import functools
import math

import numpy as np

from motionbook import rotations as rot
from motionbook.bvh.header import ROTATION, Header
from motionbook.compiling import compiled

_BLOCK = 1 << 18  # numbers turned at a time without numba, which bounds the memory of the intermediate arrays


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


# Sine and cosine on [-pi/4, pi/4] as polynomials, good to the last bit or two: the coefficients of Sun's fdlibm (1993).
_S1, _S2, _S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
_S4, _S5, _S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
_C1, _C2, _C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
_C4, _C5, _C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


def _turn(values, columns, axes, out):
    width = values.shape[1]
    cosines, sines = np.empty(width), np.empty(width)
    for frame in range(values.shape[0]):
        # Of the half angle of every number of the row, positions too: without branches the compiler takes several at
        # a time. Whole quarter turns are taken off while the angle is still in degrees, which is exact.
        for column in range(width):
            half = 0.5 * values[frame, column]
            quarters = np.floor(half * (1 / 90) + 0.5)
            x = (half - 90.0 * quarters) * (math.pi / 180)
            z = x * x
            sine = x + x * z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * (_S5 + z * _S6)))))
            cosine = 1.0 - (0.5 * z - z * z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * (_C5 + z * _C6))))))
            quarter = quarters - 4.0 * np.floor(quarters * 0.25)
            odd = quarter == 1.0 or quarter == 3.0
            c = sine if odd else cosine
            s = cosine if odd else sine
            cosines[column] = -c if quarter == 1.0 or quarter == 2.0 else c
            sines[column] = -s if quarter >= 2.0 else s
        for joint in range(columns.shape[0]):
            w, x, y, z = 1.0, 0.0, 0.0, 0.0
            for place in range(3):
                axis = axes[joint, place]
                if axis < 0:
                    break
                c, s = cosines[columns[joint, place]], sines[columns[joint, place]]
                # the turn so far times (c, s on this axis)
                if axis == 0:
                    w, x, y, z = w * c - x * s, x * c + w * s, y * c + z * s, z * c - y * s
                elif axis == 1:
                    w, x, y, z = w * c - y * s, x * c - z * s, y * c + w * s, z * c + x * s
                else:
                    w, x, y, z = w * c - z * s, x * c + y * s, y * c - x * s, z * c + w * s
            out[frame, joint, 0], out[frame, joint, 1], out[frame, joint, 2], out[frame, joint, 3] = w, x, y, z
