"""Checks made once at public doors: shape, finiteness and unit length, in words a reader can act on."""

import numpy as np


def check_shape(array, axes: str, name: str) -> np.ndarray:
    """The array as float64, or an error that says which axis is wrong.

    Parameters
    ----------
    array : array_like
    axes : str
        One word per axis, e.g. ``"frames joints 4"``. A number fixes the length of its axis, a word leaves it free;
        a leading ``...`` allows any number of axes in front.
    name : str
        What the caller calls the array.

    Raises
    ------
    ValueError
        With the expected axes and the shape received.
    """
    array = np.asarray(array, dtype=np.float64)
    words = axes.split()
    free_front = bool(words) and words[0] == "..."
    fixed = words[1:] if free_front else words
    tail = array.shape[array.ndim - len(fixed) :] if len(fixed) <= array.ndim else None
    right_count = tail is not None and (free_front or array.ndim == len(fixed))
    if not right_count or any(w.isdigit() and int(w) != n for w, n in zip(fixed, tail, strict=True)):
        raise ValueError(f"{name}: expected ({', '.join(words)}), got {array.shape}")
    return array


def check_finite(array: np.ndarray, name: str) -> None:
    """Raise ValueError with the number and first place of NaN or infinite entries."""
    if not np.isfinite(array).all():
        bad = ~np.isfinite(array)
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name}: {int(bad.sum())} values are not finite, the first at index {first}")


def check_unit(quaternions: np.ndarray, name: str, tolerance: float = 1e-6) -> None:
    """Raise ValueError when a quaternion is not of unit length; no silent renormalisation."""
    # written out, this takes half the time of einsum over an axis of four
    squares = sum(component * component for component in np.moveaxis(np.asarray(quaternions), -1, 0))
    if squares.size and max(squares.max() - 1.0, 1.0 - squares.min()) > 2 * tolerance:
        off = np.abs(squares - 1.0)
        first = tuple(int(i) for i in np.argwhere(off > 2 * tolerance)[0])
        raise ValueError(
            f"{name}: expected unit quaternions (wxyz), {int((off > 2 * tolerance).sum())} are not, the first at "
            f"index {first}; call rotations.normalize first if that is intended"
        )
