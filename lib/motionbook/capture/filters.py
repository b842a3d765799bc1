"""Gap filling and filters for points over time, NaN-aware and without phase shift.

A gap is filled only between two measured frames and only up to a stated length. A cutoff is the frequency at which the
result is 3 dB down, although the filter runs twice.
"""

import warnings
from typing import NamedTuple

import numpy as np

from motionbook.checks import check_shape


class Filled(NamedTuple):
    """Points with short gaps closed, and which of them were, (frames, points) bool; long gaps stay NaN."""

    points: np.ndarray
    filled: np.ndarray
    left: np.ndarray


def runs(mask) -> np.ndarray:
    """First and one-past-last index of each run of True in a mask (frames,), as rows (runs, 2)."""
    return np.flatnonzero(np.diff(np.concatenate([[0], np.asarray(mask, dtype=int), [0]]))).reshape(-1, 2)


def fill_gaps(points, fps: float, max_seconds: float = 0.4, method: str = "linear") -> Filled:
    """Short gaps (NaN) of each point closed from its own neighbours; longer ones, and those at the ends, stay.

    Parameters
    ----------
    points : (frames, points, 3)
    fps : float
    max_seconds : float
        Longest gap that is closed. There is no "any length".
    method : "linear" or "cubic"
        Cubic: a piecewise curve through the measured frames that never goes beyond the two at a gap's edges (pchip).

    Raises
    ------
    ValueError
        When the limit is not a finite number of seconds, or the method is another.
    """
    points = check_shape(points, "frames points 3", "points").copy()
    if not (np.isfinite(max_seconds) and max_seconds >= 0):
        raise ValueError(f"max_seconds: expected a finite limit in seconds, got {max_seconds}; long gaps stay NaN")
    if method not in ("linear", "cubic"):
        raise ValueError(f"method: expected 'linear' or 'cubic', got {method!r}; a mean or the last value is no motion")
    missing = np.isnan(points).any(axis=-1)
    points[missing] = np.nan
    frames = np.arange(len(points))
    longest = max_seconds * fps + 1e-9
    filled = np.zeros_like(missing)
    for index in np.flatnonzero(missing.any(axis=0)):
        for start, stop in runs(missing[:, index]):
            if start > 0 and stop < len(points) and stop - start <= longest:
                filled[start:stop, index] = True
        fill, known = filled[:, index], ~missing[:, index]
        if not fill.any():
            continue
        if method == "cubic":
            from scipy.interpolate import PchipInterpolator

            points[fill, index] = PchipInterpolator(frames[known], points[known, index])(frames[fill])
        else:
            for axis in range(3):
                points[fill, index, axis] = np.interp(frames[fill], frames[known], points[known, index, axis])
    return Filled(points, filled, missing & ~filled)


def drop_islands(points, fps: float, min_seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Points without the measured runs shorter than ``min_seconds`` between gaps, and which went, (frames, points).

    A run that touches the first or last frame is judged like any other.
    """
    points = check_shape(points, "frames points 3", "points").copy()
    known = ~np.isnan(points).any(axis=-1)
    gone = np.zeros_like(known)
    for index in np.flatnonzero((~known).any(axis=0)):
        for start, stop in runs(known[:, index]):
            if stop - start < min_seconds * fps - 1e-9:
                gone[start:stop, index] = True
    points[gone] = np.nan
    return points, gone


def drop_jumps(points, window: int, metres: float) -> tuple[np.ndarray, np.ndarray]:
    """Points without those further than ``metres`` from their running median, and which went, (frames, points).

    Parameters
    ----------
    points : (frames, points, 3)
    window : int
        Odd number of frames; NaN count in no median, the ends use what there is.
    """
    points = check_shape(points, "frames points 3", "points").copy()
    if window < 3 or window % 2 == 0:
        raise ValueError(f"window: expected an odd number of frames of at least 3, got {window}")
    edge = np.full((window // 2, *points.shape[1:]), np.nan)
    around = np.lib.stride_tricks.sliding_window_view(np.concatenate([edge, points, edge]), window, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a window of nothing but NaN has no median
        median = np.nanmedian(around, axis=-1)
    with np.errstate(invalid="ignore"):
        gone = np.linalg.norm(points - median, axis=-1) > metres
    points[gone] = np.nan
    return points, gone


def hampel(points, window: int = 7, sigmas: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Spikes replaced by the median around them, and where, per coordinate (same shape, bool).

    A value further from the median of its ``window`` frames than ``sigmas`` times 1.4826 times their median absolute
    deviation is a spike (Pearson et al. 2016). NaN stay NaN and count in no median; the half window at either end of
    a recording, where the window is cut, is left as it is.

    Parameters
    ----------
    points : (frames, ...)
    window : int
        Odd.
    sigmas : float
    """
    points = np.array(points, dtype=np.float64)
    if window < 3 or window % 2 == 0:
        raise ValueError(f"window: expected an odd number of frames of at least 3, got {window}")
    changed = np.zeros(points.shape, dtype=bool)
    if len(points) < window:
        return points, changed
    around = np.lib.stride_tricks.sliding_window_view(points, window, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # windows of nothing but NaN have no median, and stay NaN
        median = np.nanmedian(around, axis=-1)
        deviation = 1.4826 * np.nanmedian(np.abs(around - median[..., None]), axis=-1)
    half = window // 2
    middle = points[half : len(points) - half]
    with np.errstate(invalid="ignore"):
        spikes = np.abs(middle - median) > sigmas * deviation
    changed[half : len(points) - half] = spikes
    middle[spikes] = median[spikes]
    return points, changed


def reached_cutoff(nominal: float, fps: float, order: int) -> float:
    """Frequency in Hz at which a Butterworth filter designed at ``nominal`` is 3 dB down after running twice.

    Run forwards and backwards, a filter's gain is squared: -6 dB at its own cutoff. Half of that is reached at
    (sqrt(2) - 1)^(1 / 2 order) of the pre-warped frequency.
    """
    _check_cutoff(nominal, fps, order)
    return fps / np.pi * float(np.arctan(np.tan(np.pi * nominal / fps) * (np.sqrt(2.0) - 1.0) ** (0.5 / order)))


def low_pass(points, fps: float, cutoff: float = 7.0, order: int = 4) -> np.ndarray:
    """Zero-phase Butterworth low-pass of points (frames, ...), 3 dB down at ``cutoff`` although it runs twice.

    Running forwards and backwards doubles the order and would move the -3 dB point below ``cutoff`` (6.5 Hz for 7 Hz
    at order 4 and 30 fps); the filter is designed at a frequency raised to make up for that (`reached_cutoff`). Each
    stretch between NaN is filtered by itself; stretches too short to filter are kept as they are.

    Parameters
    ----------
    points : (frames, ...)
    fps : float
        The true rate.
    cutoff : float
        Hz, of the result.
    order : int
        Of the one pass; the result falls as one of twice that order.

    Raises
    ------
    ValueError
        When the cutoff is not below half the frame rate.
    """
    from scipy.signal import butter, sosfiltfilt

    points = np.asarray(points, dtype=np.float64)
    _check_cutoff(cutoff, fps, order)
    raised = np.tan(np.pi * cutoff / fps) / (np.sqrt(2.0) - 1.0) ** (0.5 / order)
    sections = butter(order, 2.0 * np.arctan(raised) / np.pi, output="sos")
    flat = points.reshape(len(points), -1).copy()
    shortest = 3 * (2 * len(sections) + 1) + 1
    whole = ~np.isnan(flat).any(axis=0)
    if len(flat) >= shortest:
        flat[:, whole] = sosfiltfilt(sections, flat[:, whole], axis=0)
    for column in np.flatnonzero(~whole):
        for start, stop in runs(~np.isnan(flat[:, column])):
            if stop - start >= shortest:
                flat[start:stop, column] = sosfiltfilt(sections, flat[start:stop, column])
    return flat.reshape(points.shape)


def _check_cutoff(cutoff: float, fps: float, order: int) -> None:
    if not 0 < cutoff < 0.5 * fps:
        raise ValueError(f"cutoff: expected a frequency between 0 and fps / 2 = {fps / 2:g} Hz, got {cutoff:g}")
    if order < 1:
        raise ValueError(f"order: expected 1 or more, got {order}")
