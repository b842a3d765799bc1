"""Rows of numbers as text with a fixed number of decimals, the same bytes that Python's own formatting gives.

A number times a power of ten, rounded, is a whole number whose digits are the text as long as it stays below 2**52;
a short loop compiled by numba writes those. Larger numbers, more decimals than that leaves room for, and systems
without numba take Python's ``%``, which is ten times slower.
"""

import functools
from collections.abc import Iterator

import numpy as np

from motionbook.compiling import compiled

_BLOCK = 1 << 14  # numbers turned to text at a time
_MOST_DECIMALS = 15


def rows_text(values: np.ndarray, decimals: int) -> Iterator[bytes]:
    """Lines of a table (rows, columns), numbers a blank apart, some rows at a time; never a negative zero."""
    step = max(1, _BLOCK // values.shape[1])
    try:
        put = _compiled() if decimals <= _MOST_DECIMALS else None
    except ImportError:
        put = None
    room = np.empty(step * values.shape[1] * 20, dtype=np.uint8)  # at most 16 digits, sign, point, blank
    for first in range(0, len(values), step):
        block = np.ascontiguousarray(values[first : first + step], dtype=np.float64)
        used = put(block, 10.0**decimals, decimals, room) if put else -1
        yield room[:used].tobytes() if used >= 0 else _block_slowly(block, decimals)


def rows_text_slowly(values: np.ndarray, decimals: int) -> Iterator[bytes]:
    """``rows_text`` without numba: one ``%`` per block is the fastest formatting Python has."""
    step = max(1, _BLOCK // values.shape[1])
    for first in range(0, len(values), step):
        yield _block_slowly(values[first : first + step], decimals)


def _block_slowly(block: np.ndarray, decimals: int) -> bytes:
    row = " ".join([f"%.{decimals}f"] * block.shape[1]) + "\n"
    return (row * len(block) % tuple(rounded(block, decimals).ravel().tolist())).encode()


def rows_text_exactly(values: np.ndarray) -> Iterator[bytes]:
    """Lines in which every number has the fewest digits that read back to the same float64."""
    for row in values.tolist():
        yield (" ".join(map(exact_text, row)) + "\n").encode()


def exact_text(value: float) -> str:
    """Shortest decimal text without exponent that reads back to the same float64."""
    return np.format_float_positional(value + 0.0, unique=True, trim="0")


def rounded(values: np.ndarray, decimals: int) -> np.ndarray:
    """Rounded values; adding zero turns -0.0, which would be written with its sign, into 0.0."""
    return np.round(values, decimals) + 0.0


@functools.cache
def _compiled():
    from numba import types

    return compiled(_put, types.int64(types.float64[:, ::1], types.float64, types.int64, types.uint8[::1]))


# "00" to "99": two digits cost one division
_PAIRS = np.frombuffer(b"".join(b"%02d" % number for number in range(100)), np.uint8).reshape(100, 2).copy()


def _put(values, power, decimals, out):
    """Bytes written, or -1 where a number is too large to be a whole one after ``power``."""
    hundred = np.uint64(100)
    at = 0
    digits = np.empty(24, dtype=np.uint8)  # filled from its end
    for row in range(values.shape[0]):
        for column in range(values.shape[1]):
            scaled = np.rint(values[row, column] * power)
            if not -4503599627370496.0 < scaled < 4503599627370496.0:
                return -1
            if scaled < 0.0:
                out[at] = 45
                at += 1
                scaled = -scaled
            left = np.uint64(scaled)
            start = 24
            while left >= hundred:
                shorter = left // hundred
                pair = np.int64(left - shorter * hundred)
                start -= 2
                digits[start], digits[start + 1] = _PAIRS[pair, 0], _PAIRS[pair, 1]
                left = shorter
            pair = np.int64(left)
            start -= 2
            digits[start], digits[start + 1] = _PAIRS[pair, 0], _PAIRS[pair, 1]
            if pair < 10:
                start += 1
            while start > 23 - decimals:
                start -= 1
                digits[start] = 48
            for place in range(start, 24 - decimals):
                out[at] = digits[place]
                at += 1
            if decimals > 0:
                out[at] = 46
                at += 1
                for place in range(24 - decimals, 24):
                    out[at] = digits[place]
                    at += 1
            out[at] = 32
            at += 1
        out[at - 1] = 10
    return at
