"""The rows of numbers of a BVH file: text to float64, a few hundred megabytes a second, exactly as float() reads it.

A short scanner compiled by numba does the work; numba is imported when the first file is read. Where numba is not
installed the same rows are read by Python's own float(), far slower, with the same values and errors.
"""

import functools
import re
from typing import NamedTuple

import numpy as np

from motionbook.compiling import compiled

_DONE, _LONG_NUMBERS, _BAD_NUMBER, _SHORT_ROW, _LONG_ROW = range(5)
_SLOW_ROOM = 1 << 16


class ScanError(NamedTuple):
    """Where reading stopped: byte, row and column from 0, and the problem (``"number"``, ``"short"``, ``"long"``)."""

    position: int
    row: int
    column: int
    problem: str


def scan_rows(data: bytes, start: int, width: int) -> tuple[np.ndarray, ScanError | None]:
    """All rows from byte ``start`` to the end, one row a line, blank lines skipped.

    Returns
    -------
    values : (rows, width) array
    error : ScanError or None
        Set when a word is not a finite number or a line has not ``width`` numbers.
    """
    try:
        scan = _compiled()
    except ImportError:
        return scan_rows_slowly(data, start, width)
    if not data.endswith(b"\n"):
        data += b"\n"
    # A number takes two bytes at least, which bounds the rows. Memory that no row reaches is never touched.
    values = np.empty(((len(data) - start) // (2 * width) + 1, width))
    text = np.frombuffer(data, np.uint8)
    state = np.array([start, 0, 0, 0], dtype=np.int64)  # byte, row, column, long numbers set aside
    slow = np.empty((_SLOW_ROOM, 4), dtype=np.int64)  # row, column, first byte, byte after
    while True:
        code = scan(text, values, state, slow)
        for row, column, first, last in slow[: state[3]].tolist():
            values[row, column] = float(data[first:last])
            if not np.isfinite(values[row, column]):
                return values[:row], ScanError(first, row, column, "number")
        if code == _DONE:
            return values[: state[1]], None
        if code != _LONG_NUMBERS:
            problem = {_BAD_NUMBER: "number", _SHORT_ROW: "short", _LONG_ROW: "long"}[code]
            return values[: state[1]], ScanError(int(state[0]), int(state[1]), int(state[2]), problem)


def scan_rows_slowly(data: bytes, start: int, width: int) -> tuple[np.ndarray, ScanError | None]:
    """``scan_rows`` without numba."""
    plain = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
    rows, position = [], start
    while position < len(data):
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        words = [(found.group(), found.start()) for found in re.finditer(rb"[^ \t\r\v\f]+", data[position:end])]
        row = []
        for column, (word, at) in enumerate(words):
            if column == width:
                return _array(rows, width), ScanError(position + at, len(rows), column, "long")
            if not plain.fullmatch(word) or not np.isfinite(float(word)):
                return _array(rows, width), ScanError(position + at, len(rows), column, "number")
            row.append(float(word))
        if row and len(row) < width:
            return _array(rows, width), ScanError(end, len(rows), len(row), "short")
        if row:
            rows.append(row)
        position = end + 1
    return _array(rows, width), None


def _array(rows: list, width: int) -> np.ndarray:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


@functools.cache
def _compiled():
    from numba import types

    text = types.Array(types.uint8, 1, "C", readonly=True)
    return compiled(_scan, types.int64(text, types.float64[:, ::1], types.int64[::1], types.int64[:, ::1]))


# Powers of ten that float64 holds exactly: a whole number below 2**53 times or over one of them is rounded once,
# which is what float() returns (Clinger 1990). Anything else is left to float() itself.
_POWERS = 10.0 ** np.arange(23)


def _scan(text, values, state, slow):
    # Unsigned positions spare numba the check for negative ones; the text ends in a line feed, which no loop over
    # the characters of a number passes.
    one, ten, zero = np.uint64(1), np.uint64(10), np.uint8(48)
    position, size = np.uint64(state[0]), np.uint64(len(text))
    row, column, waiting = state[1], state[2], 0
    width = values.shape[1]
    code = 0
    while position < size:
        c = text[position]
        if c == 32 or c == 9 or c == 13 or c == 11 or c == 12:
            position += one
            continue
        if c == 10:
            if column == width:
                row += 1
                column = 0
            elif column > 0:
                code = 3
                break
            position += one
            continue
        if column == width:
            code = 4
            break
        if waiting == len(slow):
            code = 1
            break
        first = position
        negative = c == 45
        if negative or c == 43:
            position += one
        number = np.uint64(0)
        start = position
        digit = np.uint8(text[position] - zero)
        while digit < 10:
            number = number * ten + np.uint64(digit)
            position += one
            digit = np.uint8(text[position] - zero)
        digits = np.int64(position - start)
        power = 0
        if text[position] == 46:
            position += one
            start = position
            digit = np.uint8(text[position] - zero)
            while digit < 10:
                number = number * ten + np.uint64(digit)
                position += one
                digit = np.uint8(text[position] - zero)
            power = -np.int64(position - start)
            digits -= power
        good = digits > 0
        c = text[position]
        if good and (c == 101 or c == 69):
            position += one
            minus = text[position] == 45
            if minus or text[position] == 43:
                position += one
            exponent = 0
            start = position
            while 48 <= text[position] <= 57:
                if exponent < 100000:
                    exponent = exponent * 10 + (np.int64(text[position]) - 48)
                position += one
            good = position > start
            power += -exponent if minus else exponent
            c = text[position]
        if not (good and (c == 32 or c == 9 or c == 10 or c == 13 or c == 11 or c == 12)):
            position = first
            code = 2
            break
        value = 0.0
        if digits <= 18 and number <= np.uint64(9007199254740992) and -22 <= power <= 22:
            value = np.float64(number)
            value = value / _POWERS[-power] if power < 0 else value * _POWERS[power]
        else:
            slow[waiting, 0], slow[waiting, 1] = row, column
            slow[waiting, 2], slow[waiting, 3] = np.int64(first), np.int64(position)
            waiting += 1
        values[row, column] = -value if negative else value
        column += 1
    state[0], state[1], state[2], state[3] = np.int64(position), row, column, waiting
    return code
