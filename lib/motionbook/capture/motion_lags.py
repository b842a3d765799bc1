"""Synchronisation by the motion that the cameras see in their pictures, without calibration.

What a camera sees of a movement depends on where it stands, so this is a coarse way. On a real recording of four
cameras, of which one is two frames late, motion energy puts that one within a frame of the others, and the vertical
velocity moves a second camera along with it. Where parts of the recording or pairs of cameras disagree, it warns.
"""

import numpy as np

from motionbook.capture.alignment import GAP, known, sample, smoothed, unpacked
from motionbook.capture.clocks import Synchronisation, camera_names, camera_rates, find_reference, warn_of
from motionbook.capture.lags import Drift, combine, correlate, drift_rows, find_peak, fit_drift, windows, with_drift


def motion_energy(pixels, rate: float, signal: str = "energy") -> np.ndarray:
    """How each landmark moves in one camera's picture, (frames, points).

    Parameters
    ----------
    pixels : (frames, points, 2)
    rate : float
        Frames per second.
    signal : {"energy", "vertical", "total"}
        Speed of each point in pixels per second; its signed vertical velocity (cameras at one height agree on it from
        all sides); or the root mean square speed over all points as the only column.
    """
    if signal not in ("energy", "vertical", "total"):
        raise ValueError(f"signal: expected 'energy', 'vertical' or 'total', got {signal!r}")
    smooth = smoothed(np.asarray(pixels, dtype=np.float64), rate)
    velocity = np.full_like(smooth, np.nan)
    if len(smooth) > 2:
        velocity[1:-1] = (smooth[2:] - smooth[:-2]) * (rate / 2)
    if signal == "vertical":
        return velocity[..., 1]
    square = (velocity**2).sum(axis=-1)
    if signal == "energy":
        return np.sqrt(square)
    known = np.isfinite(square)
    count = known.sum(axis=1, keepdims=True)
    mean = np.where(known, square, 0.0).sum(axis=1, keepdims=True) / np.maximum(count, 1)
    return np.where(count > 0, np.sqrt(mean), np.nan)


def _signals(tracks, rates, grid_rate, signal):
    """Motion signals on one grid per camera, and the seconds from a camera's first frame to its grid's first point."""
    out = []
    for track, rate in zip(tracks, rates, strict=True):
        energy = motion_energy(track, rate, signal)
        clock = np.arange(len(track)) / rate
        at = np.arange(int(clock[-1] * grid_rate + 1e-6) + 1) / grid_rate
        out.append(sample(energy, clock, at, GAP / rate))
    return out


def by_motion(
    pixels,
    confidence=None,
    *,
    fps=None,
    names=None,
    reference: int | str = 0,
    max_seconds: float = 5.0,
    min_confidence: float = 0.3,
    signal: str = "vertical",
    windows: int = 0,
    min_margin: float = 0.2,
    max_spread: float = 0.5,
) -> Synchronisation:
    """Offsets by correlating the motion that every two cameras see, to a fraction of a frame.

    Parameters
    ----------
    pixels : Observations, or sequence of (frames, points, 2)
        One array per camera; numbers of frames may differ.
    confidence : sequence of (frames, points), optional
    fps : float or (cameras,)
        Rates of the cameras; taken from Observations.
    max_seconds : float
        Largest offset searched.
    signal : {"vertical", "energy", "total"}
        As in `motion_energy`.
    windows : int
        With 3 or more, drift is tested in that many windows and rates are fitted where it is found.
    min_margin, max_spread : float
        Warned about: a smaller margin; a standard error above ``max_spread`` frames, taken from how the quarters of
        the recording and the pairs of cameras agree.
    """
    pixels, confidence, fps = unpacked(pixels, confidence, fps)
    names = camera_names(names, len(pixels))
    first, rates = find_reference(reference, names), camera_rates(fps, len(names))
    tracks = known(pixels, confidence, names, min_confidence)
    grid = float(rates.max())
    signals = _signals(tracks, rates, grid, signal)
    found, peaks, evidence = _motion_lags(signals, grid, names, first, max_seconds)
    offsets = found.offsets
    # the same in quarters of the recording, near the whole recording's answer: do they agree?
    parts = _motion_windows(signals, grid, offsets, first, 4, 0.5)[1]
    agree = np.isfinite(parts).sum(axis=0)
    spread = np.full(len(names), np.nan)
    for c in np.flatnonzero(agree >= 2):
        values = parts[np.isfinite(parts[:, c]), c]
        spread[c] = values.std(ddof=1) / np.sqrt(len(values))
    spread = np.fmax(spread, found.misfit)
    spread[first] = 0.0
    score, margin, doubts = np.full(len(names), np.nan), np.full(len(names), np.nan), []
    for c, name in enumerate(names):
        if c == first:
            continue
        peak = peaks.get((min(c, first), max(c, first)))
        if peak is None:
            doubts.append(f"{name}: shares too little motion with {names[first]}; placed through other cameras only")
            continue
        score[c], margin[c] = peak.height, peak.margin
        if peak.at_edge:
            doubts.append(f"{name}: the correlation still rises at the largest offset searched, {max_seconds:g} s")
        if peak.margin < min_margin:
            doubts.append(
                f"{name}: an offset of {abs(peak.rival) / grid:.2f} s fits {100 * (1 - peak.margin):.0f} % as well"
            )
        if not spread[c] * rates[c] <= max_spread:
            doubts.append(
                f"{name}: parts of the recording and pairs of cameras disagree, {offsets[c] * rates[c]:+.1f} +- "
                f"{spread[c] * rates[c]:.1f} frames; refine with by_reprojection"
            )
    if windows >= 3:
        drift = motion_drift(
            tracks, fps=rates, names=names, reference=first, offsets=offsets, count=windows, signal=signal
        )
        offsets, rates = with_drift(offsets, rates, drift)
        evidence += drift_rows(drift, names)
        doubts += [text for c, text in enumerate(drift.report) if drift.jumping[c]]
    warn_of(doubts, "by_motion")
    return Synchronisation(
        names, rates[first], offsets, rates, score, margin, spread, "motion", tuple(evidence), tuple(doubts)
    )


def _motion_lags(signals, grid, names, first, max_seconds):
    pairs, peaks, evidence = [], {}, []
    for i in range(len(signals)):
        for j in range(i + 1, len(signals)):
            shorter = min(len(signals[i]), len(signals[j]))
            reach = min(round(max_seconds * grid), shorter - 1)
            peak = find_peak(correlate(signals[i], signals[j], reach, max(shorter // 2, 8)))
            if peak is None:
                continue
            peaks[i, j] = peak
            pairs.append((i, j, peak.lag / grid, max(peak.height, 1e-3) ** 2))
            evidence.append(
                {
                    "cameras": f"{names[i]} {names[j]}",
                    "lag [frames]": peak.lag,
                    "correlation": peak.height,
                    "rival [frames]": peak.rival,
                    "margin": peak.margin,
                }
            )
    if not pairs:
        raise ValueError("no two cameras share enough known motion; lower min_confidence or use another way")
    return combine(pairs, len(signals), first), peaks, evidence


def _motion_windows(signals, grid, offsets, first, count, reach_seconds):
    """Middles (windows,) on the reference's clock and offsets (windows, cameras) found in each, NaN where none."""
    n = len(signals[first])
    shifts = np.round(offsets * grid).astype(int)
    centres, found = [], []
    for start, stop in windows(n, count):
        start, stop = int(start), int(stop)
        centres.append(0.5 * (start + stop - 1) / grid)
        reach = max(min(round(reach_seconds * grid), (stop - start) // 3), 1)
        cut = []
        for values, shift in zip(signals, shifts, strict=True):
            frames = np.arange(start, stop) + shift
            good = (frames >= 0) & (frames < len(values))
            piece = np.full((stop - start, values.shape[1]), np.nan)
            piece[good] = values[frames[good]]
            cut.append(piece)
        pairs = []
        for i in range(len(cut)):
            for j in range(i + 1, len(cut)):
                peak = find_peak(correlate(cut[i], cut[j], reach, (stop - start) // 2))
                if peak is not None and peak.height > 0 and not peak.at_edge:
                    lag = (peak.lag + shifts[j] - shifts[i]) / grid
                    pairs.append((i, j, lag, max(peak.height, 1e-3) ** 2))
        row = np.full(len(cut), np.nan)
        linked = _linked(pairs, first)
        if len(linked) > 1:
            order = sorted(linked)
            renamed = [(order.index(i), order.index(j), lag, w) for i, j, lag, w in pairs if i in linked]
            row[order] = combine(renamed, len(order), order.index(first)).offsets
        found.append(row)
    return np.array(centres), np.array(found)


def _linked(pairs, first):
    linked = {first}
    while True:
        more = {b for i, j, *_ in pairs for a, b in ((i, j), (j, i)) if a in linked} - linked
        if not more:
            return linked
        linked |= more


def motion_drift(
    pixels,
    confidence=None,
    *,
    fps=None,
    names=None,
    reference: int | str = 0,
    offsets=None,
    count: int = 8,
    min_confidence: float = 0.3,
    signal: str = "vertical",
) -> Drift:
    """Offsets by motion in ``count`` windows of the recording and what they say about the clocks.

    Parameters
    ----------
    offsets : (cameras,), optional
        Seconds near which each window is searched (half a second either way); by `by_motion` when not given.
    """
    pixels, confidence, fps = unpacked(pixels, confidence, fps)
    names = camera_names(names, len(pixels))
    first, rates = find_reference(reference, names), camera_rates(fps, len(names))
    tracks = known(pixels, confidence, names, min_confidence)
    signals = _signals(tracks, rates, float(rates.max()), signal)
    if offsets is None:
        offsets = _motion_lags(signals, float(rates.max()), names, first, 5.0)[0].offsets
    centres, found = _motion_windows(signals, float(rates.max()), np.asarray(offsets), first, count, 0.5)
    return fit_drift(centres, found, rates[first], names)
