"""The scanner of rows: exactly float()'s numbers, with and without numba."""

import sys

import numpy as np
import pytest
from bvh_samples import BODY

from motionbook import read_bvh
from motionbook.bvh import angles, scan


@pytest.fixture
def save(tmp_path):
    def write(text, name="clip.bvh"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def awkward_numbers():
    rng = np.random.default_rng(4)
    values = [repr(float(x)) for x in rng.standard_normal(300) * 10.0 ** rng.integers(-300, 300, 300)]
    values += [f"{x:.{d}f}" for x, d in zip(rng.standard_normal(300) * 200, rng.integers(0, 25, 300), strict=True)]
    values += [f"{x:.{d}e}" for x, d in zip(rng.standard_normal(300) * 1e3, rng.integers(0, 20, 300), strict=True)]
    values += [
        "0",
        "-0",
        "+0.0",
        "-0.000000",
        ".5",
        "5.",
        "-.5E-3",
        "+7",
        "007.50",
        "1e0",
        "1E+05",
        "0e999",
        "0.0e-999",
    ]
    values += [
        "9007199254740992",
        "9007199254740993",
        "9007199254740993.0",
        "12345678901234567890123",
        "4.9e-324",
        "1e-400",
    ]
    values += [
        "1.7976931348623157e308",
        "0." + "0" * 40 + "123",
        "1" + "0" * 22,
        "1" + "0" * 23,
        "123456789012345678e-22",
    ]
    values += [
        "0.1234567890123456789e+3",
        "999999999999999999",
        "1000000000000000000",
        "18446744073709551617",
        "2e22",
        "3e23",
    ]
    return (values + ["1"] * (-len(values) % 7)), 7


def as_text(values, width):
    return "".join(" ".join(values[i : i + width]) + "\n" for i in range(0, len(values), width)).encode()


@pytest.mark.parametrize("room", [1 << 16, 3])
def test_numbers_are_read_exactly_as_float_reads_them(room, monkeypatch):
    values, width = awkward_numbers()
    monkeypatch.setattr(scan, "_SLOW_ROOM", room)  # 3: the long numbers are handled in many small batches
    expected = np.array([float(x) for x in values]).reshape(-1, width)
    for read in (scan.scan_rows, scan.scan_rows_slowly):
        found, error = read(b"skipped" + as_text(values, width), 7, width)
        assert error is None
        assert np.array_equal(found.view(np.int64), expected.view(np.int64))  # to the last bit, the sign of zero too


@pytest.mark.parametrize(
    "text",
    [b"1 2\n3", b"1 2\n3\n4 5", b"1 2 3\n", b"1 x\n", b"1 2\n\n \t\r\n3 4 ", b"", b"1 2\n3 nan", b"1 2\n3 1e999",
     b"1 2x", b"1\x002", b"1 2\n3 4 5", b"1 --2", b"1 .", b"1 e5", b"1 2e+", b"1 0x10",
     b"1 12345678901234567890123e400\n3 y", b"\n\n1"],
)  # fmt: skip
def test_reading_with_and_without_numba_agrees_on_rows_and_errors(text):
    fast, slow = scan.scan_rows(text, 0, 2), scan.scan_rows_slowly(text, 0, 2)
    assert np.array_equal(fast[0], slow[0]) and fast[0].shape == slow[0].shape
    assert fast[1] == slow[1]


def test_files_are_read_where_numba_is_missing(save, monkeypatch):
    path = save(BODY)
    with_numba = read_bvh(path)
    for module in (scan, angles):
        module._compiled.cache_clear()
    monkeypatch.setitem(sys.modules, "numba", None)
    try:
        without = read_bvh(path)
    finally:
        for module in (scan, angles):
            module._compiled.cache_clear()
    assert np.abs(with_numba.rotations - without.rotations).max() < 1e-15
    assert np.array_equal(with_numba.root_positions, without.root_positions)


def test_many_blank_lines_do_not_cost_rows_of_memory():
    values, error = scan.scan_rows(b"\n" * 100_000 + b"1 2\n", 0, 1_000_000)
    assert values.shape == (0, 1_000_000) and error.problem == "short"
