"""Lags between signals: correlation with unknown samples, peaks and rivals, pairs combined, drift over windows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Peak(NamedTuple):
    """The best lag of a correlation.

    Attributes
    ----------
    lag : float
        In samples, to a fraction; positive when the second signal is late.
    height : float
        Correlation there, -1 to 1.
    margin : float
        1 - rival / height, with the rival the highest correlation outside the peak's own lobe.
    rival : float
        The rival's lag in samples.
    at_edge : bool
        The correlation is still rising at the end of the searched range.
    """

    lag: float
    height: float
    margin: float
    rival: float
    at_edge: bool


def correlate(a, b, max_lag: int, min_overlap: int) -> np.ndarray:
    """Correlation coefficient (2 max_lag + 1,) of a at f and b at f + lag, lags from -max_lag on; NaN is left out.

    Parameters
    ----------
    a, b : (samples, channels)
        Lengths may differ. Means and variances are taken over the samples both know at that lag, and pooled over the
        channels (Padfield, Masked object registration in the Fourier domain, 2012).
    min_overlap : int
        Fewest common samples per channel; lags with fewer, on average over the channels, are NaN.
    """
    from scipy.fft import irfft, next_fast_len, rfft

    size = next_fast_len(len(a) + len(b), real=True)
    known_a, known_b = np.isfinite(a), np.isfinite(b)
    spectra = []
    for values, known in ((a, known_a), (b, known_b)):
        clean = np.where(known, values, 0.0)
        count = np.maximum(known.sum(axis=0), 1)
        centred = np.where(known, values - clean.sum(axis=0) / count, 0.0)
        # one scale for all channels, against rounding: what moves more counts for more, as noise is alike in all
        centred = centred / max(np.sqrt((centred**2).sum() / count.sum()), 1e-300)
        spectra.append([rfft(part, size, axis=0) for part in (known.astype(float), centred, centred**2)])
    (wa, xa, qa), (wb, xb, qb) = spectra
    lags = np.arange(-max_lag, max_lag + 1)

    def over(first, second):
        # lags beyond the padding have no overlap at all
        full = irfft(np.conj(first) * second, size, axis=0)
        return np.where(((lags < len(b)) & (-lags < len(a)))[:, None], full[lags % size], 0.0)

    n = np.round(over(wa, wb))
    safe = np.maximum(n, 1.0)
    sa, sb = over(xa, wb), over(wa, xb)
    covariance = (over(xa, xb) - sa * sb / safe).sum(axis=1)
    power = (over(qa, wb) - sa**2 / safe).sum(axis=1) * (over(wa, qb) - sb**2 / safe).sum(axis=1)
    enough = (n.mean(axis=1) >= min_overlap) & (power > 1e-12)
    return np.where(enough, covariance / np.sqrt(np.where(enough, power, 1.0)), np.nan)


def find_peak(correlation: np.ndarray, lobe: int = 1) -> Peak | None:
    """The highest point of a correlation over lags -n..n, to a fraction of a sample; None when nothing is known.

    Parameters
    ----------
    lobe : int
        Samples on either side of the peak that count as part of it even if the correlation rises again.
    """
    if not np.isfinite(correlation).any():
        return None
    middle = len(correlation) // 2
    filled = np.where(np.isfinite(correlation), correlation, -np.inf)
    best = int(filled.argmax())
    at_edge = best in (0, len(filled) - 1) or not np.isfinite(filled[[best - 1, best + 1]]).all()
    lag = 0.0 if at_edge else vertex(*filled[best - 1 : best + 2])
    left, right = max(best - lobe, 0), min(best + lobe, len(filled) - 1)
    while left > 0 and filled[left - 1] < filled[left]:
        left -= 1
    while right < len(filled) - 1 and filled[right + 1] < filled[right]:
        right += 1
    outside = filled.copy()
    outside[left : right + 1] = -np.inf
    rival = int(outside.argmax())
    height, second = float(filled[best]), float(outside[rival])
    margin = 0.0 if height <= 0 else 1.0 if not np.isfinite(second) else float(np.clip(1 - second / height, 0, 1))
    return Peak(best + lag - middle, height, margin, float(rival - middle), bool(at_edge))


def vertex(before: float, at: float, after: float) -> float:
    """Place of the top (or bottom) of the parabola through three samples, -0.5 to 0.5 from the middle one."""
    bend = before - 2 * at + after
    return float(np.clip(0.5 * (before - after) / bend, -0.5, 0.5)) if bend else 0.0


class Combined(NamedTuple):
    """One place per camera from lags between pairs: offsets, and the root mean square misfit of each one's pairs."""

    offsets: np.ndarray
    misfit: np.ndarray


def combine(pairs: Sequence[tuple[int, int, float, float]], cameras: int, reference: int) -> Combined:
    """Least squares of offset[j] - offset[i] = lag over (i, j, lag, weight), the reference's offset 0.

    Pairs that contradict the others by more than three times the median misfit are weighed down (one round each of
    five), as one bad pair must not bend all cameras.

    Raises
    ------
    ValueError
        When the pairs do not tie all cameras to the reference.
    """
    i, j = np.array([p[0] for p in pairs], dtype=int), np.array([p[1] for p in pairs], dtype=int)
    lag, weight = np.array([p[2] for p in pairs], dtype=float), np.array([p[3] for p in pairs], dtype=float)
    reached = {reference}
    while True:
        more = {b for a, b in zip([*i, *j], [*j, *i], strict=True) if a in reached} - reached
        if not more:
            break
        reached |= more
    if len(reached) < cameras:
        raise ValueError(f"cameras {sorted(set(range(cameras)) - reached)} share nothing with the reference camera")
    free = [c for c in range(cameras) if c != reference]
    offsets, misfit = np.zeros(cameras), np.zeros(cameras)
    if not free:
        return Combined(offsets, misfit)
    matrix = np.zeros((len(lag), cameras))
    matrix[np.arange(len(lag)), j] += 1
    matrix[np.arange(len(lag)), i] -= 1
    robust = np.ones(len(lag))
    for _ in range(5):
        root = np.sqrt(weight * robust)
        offsets[free] = np.linalg.lstsq(matrix[:, free] * root[:, None], lag * root, rcond=None)[0]
        off = np.abs(matrix @ offsets - lag)
        limit = 3 * max(np.median(off), 1e-9)
        robust = np.minimum(1.0, limit / np.maximum(off, 1e-12))
    for camera in range(cameras):
        own = (i == camera) | (j == camera)
        misfit[camera] = np.sqrt(np.mean(off[own] ** 2))
    return Combined(offsets, misfit)


class Drift(NamedTuple):
    """How offsets change over a recording.

    Attributes
    ----------
    centres : (windows,)
        Middle of each window, seconds.
    offsets : (windows, cameras)
        Seconds, NaN where a window gave none.
    slopes, slope_errors : (cameras,)
        Seconds of offset gained per second, and their standard errors.
    starts : (cameras,)
        The line's offset at time 0.
    scatter : (cameras,)
        Root mean square of the windows around the line, seconds.
    drifting, jumping : (cameras,) bool
        The slope is more than three standard errors from 0 and moves the camera by a tenth of a frame or more over
        the recording; the offset steps by a frame or more between two neighbouring windows, off the line.
    report : tuple of str
        A sentence per camera.
    """

    centres: np.ndarray
    offsets: np.ndarray
    slopes: np.ndarray
    slope_errors: np.ndarray
    starts: np.ndarray
    scatter: np.ndarray
    drifting: np.ndarray
    jumping: np.ndarray
    report: tuple[str, ...]


def fit_drift(centres, offsets, fps: float, names: Sequence[str], spread=None) -> Drift:
    """Straight line of each camera's offset over the windows' middles, and whether it drifts or jumps.

    Parameters
    ----------
    centres : (windows,)
        Seconds.
    offsets : (windows, cameras)
        Seconds, NaN where unknown.
    spread : (windows, cameras), optional
        Standard errors, seconds; the scatter around the line alone is used when not given.
    """
    centres, offsets = np.asarray(centres, dtype=float), np.asarray(offsets, dtype=float)
    cameras = offsets.shape[1]
    out = {key: np.full(cameras, np.nan) for key in ("slope", "error", "start", "scatter")}
    drifting, jumping, report = np.zeros(cameras, bool), np.zeros(cameras, bool), []
    for c, name in enumerate(names):
        known = np.isfinite(offsets[:, c])
        t, y = centres[known], offsets[known, c]
        if len(t) < 3:
            report.append(f"{name}: {len(t)} of {len(centres)} windows gave an offset, too few to tell drift")
            continue
        middle = t.mean()
        steps = (t - middle) ** 2
        slope = float(((t - middle) * (y - y.mean())).sum() / steps.sum())
        off = y - y.mean() - slope * (t - middle)
        scatter = float(np.sqrt((off**2).sum() / max(len(t) - 2, 1)))
        noise = scatter
        if spread is not None and np.isfinite(spread[known, c]).any():
            noise = max(scatter, float(np.sqrt(np.nanmean(np.asarray(spread)[known, c] ** 2))))
        error = noise / np.sqrt(steps.sum())
        length = t[-1] - t[0]
        out["slope"][c], out["error"][c], out["scatter"][c] = slope, error, scatter
        out["start"][c] = y.mean() - slope * middle
        drifting[c] = abs(slope) > 3 * error and abs(slope) * length * fps >= 0.1
        # a step shows as two level stretches: compare the best step with the line, on equal numbers of parameters
        step, place = _best_step(t, y)
        flat = np.where(t < place, y[t < place].mean(), y[t >= place].mean())
        jumping[c] = abs(step) * fps >= 1 and np.sum((y - flat) ** 2) < 0.25 * np.sum(off**2)
        size = f"{1e6 * slope:+.0f} +- {1e6 * error:.0f} ppm ({slope * length * fps:+.2f} frames over {length:.0f} s)"
        if jumping[c]:
            drifting[c] = False
            report.append(
                f"{name}: jumps by {step * fps:+.1f} frames near {place:.1f} s (frames lost or added there); "
                "synchronise the parts before and after by themselves"
            )
        elif drifting[c]:
            report.append(f"{name}: drifts by {size}")
        else:
            report.append(f"{name}: no drift seen, {size}")
    return Drift(
        centres, offsets, out["slope"], out["error"], out["start"], out["scatter"], drifting, jumping, tuple(report)
    )


def with_drift(offsets, rates, drift) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and rates on the common clock where a camera drifts, both unchanged where it does not.

    A camera whose own clock shows t + start + slope t at common time t runs at rate (1 + slope).
    """
    offsets, rates = offsets.copy(), rates.copy()
    for c in np.flatnonzero(drift.drifting):
        rates[c] *= 1 + drift.slopes[c]
        offsets[c] = drift.starts[c] / (1 + drift.slopes[c])
    return offsets, rates


def drift_rows(drift: Drift, names: Sequence[str]) -> list[dict]:
    """The windows' offsets as rows of a table of evidence."""
    return [
        {"window [s]": float(t), "camera": name, "offset [s]": float(drift.offsets[w, c])}
        for w, t in enumerate(drift.centres)
        for c, name in enumerate(names)
    ]


def _best_step(t: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Size of the step that two levels explain best, and the time it happens."""
    costs = []
    for cut in range(1, len(t)):
        before, after = y[:cut], y[cut:]
        cost = ((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum()
        costs.append((cost, cut, after.mean() - before.mean()))
    _, cut, step = min(costs)
    return float(step), float(0.5 * (t[cut - 1] + t[cut]))


def windows(duration: float, count: int) -> list[tuple[float, float]]:
    """``count`` windows of equal length side by side over a recording, (start, stop) in seconds."""
    edges = np.linspace(0.0, duration, count + 1)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
