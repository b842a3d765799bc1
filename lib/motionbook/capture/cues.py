"""Synchronisation by a cue every camera records: a clap in the sound, a flash of light in the picture."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionbook.capture.clocks import Synchronisation, camera_names, camera_rates, find_reference, warn_of
from motionbook.capture.lags import combine, correlate, find_peak, fit_drift, with_drift
from motionbook.checks import check_finite

_HOP = 1000  # samples of the onset signal per second


class _Sound(NamedTuple):
    """A recording for correlation: high-passed samples, their rate, and the onset signal (milliseconds, 1)."""

    samples: np.ndarray
    rate: float
    onsets: np.ndarray


def _high_passed(samples: np.ndarray, rate: float, low: float) -> np.ndarray:
    from scipy.signal import butter, sosfilt

    return sosfilt(butter(4, 2 * low / rate, "highpass", output="sos"), samples)


def _fine_lag(a: _Sound, b: _Sound, at: float, lag: float) -> float:
    """The lag in seconds refined on the waves around an onset at ``at`` seconds of a; unchanged where they differ.

    Microphones agree on the first milliseconds of a clap, before the room answers; where they do not, the onset
    signals' lag, good to a millisecond, is the better one.
    """
    rate = max(a.rate, b.rate)
    reach = 0.02
    grid = np.arange(at - 0.005, at + 0.04, 1 / rate)
    wide = np.arange(grid[0] - reach, grid[-1] + reach, 1 / rate)
    first = np.full(len(wide), np.nan)
    start = round(reach * rate)
    first[start : start + len(grid)] = np.interp(
        wide[start : start + len(grid)] * a.rate, np.arange(len(a.samples)), a.samples
    )
    second = np.interp((wide + lag) * b.rate, np.arange(len(b.samples)), b.samples, left=np.nan, right=np.nan)
    peak = find_peak(correlate(first[:, None], second[:, None], start, len(grid) // 2), lobe=round(0.0005 * rate))
    if peak is None or peak.at_edge or peak.height < 0.5 or peak.margin < 0.1:
        return lag
    return lag + peak.lag / rate


def _shared_onset(a: _Sound, b: _Sound, lag: float) -> float:
    """Second of a's recording at which both grow louder most, given the lag."""
    shift = round(lag * _HOP)
    frames = np.arange(max(0, -shift), min(len(a.onsets), len(b.onsets) - shift))
    return float(frames[(a.onsets[frames, 0] * b.onsets[frames + shift, 0]).argmax()]) / _HOP


def onset_strength(samples, rate: float, low: float = 500.0) -> np.ndarray:
    """How suddenly a sound grows louder, (milliseconds,): 0 in steady sound, high at a clap.

    Energy above ``low`` Hz (hum, wind and voices lie below most of it) in steps of 1 ms, its logarithm over a floor
    at the recording's median energy, and the rises of that.
    """
    from scipy.ndimage import gaussian_filter1d

    samples = np.asarray(samples, dtype=np.float64)
    if samples.ndim != 1 or not len(samples):
        raise ValueError(f"sound: expected samples in one channel, got shape {samples.shape}")
    check_finite(samples, "sound")
    if not rate >= 4 * low:
        raise ValueError(f"rate: expected at least {4 * low:g} samples per second to hear a clap, got {rate:g}")
    high = _high_passed(samples, rate, low)
    edges = np.round(np.arange(int(len(samples) / rate * _HOP) + 1) * rate / _HOP).astype(int)
    total = np.concatenate([[0.0], np.cumsum(high**2)])
    energy = np.maximum(np.diff(total[np.minimum(edges, len(samples))]), 0.0)
    floor = max(float(np.median(energy)), 1e-9 * float(energy.max(initial=0.0)), 1e-30)
    loud = np.log1p(energy / floor)
    # wide enough that the correlation's peak is a parabola over its three samples
    return gaussian_filter1d(np.maximum(np.diff(loud, prepend=loud[:1]), 0.0), 1.5)


def by_clap(
    sounds: Sequence[tuple[np.ndarray, float]],
    fps,
    *,
    names=None,
    reference: int | str = 0,
    max_seconds: float | None = None,
    distances=None,
    speed_of_sound: float = 343.0,
    windows: int = 0,
    min_margin: float = 0.2,
) -> Synchronisation:
    """Offsets from what all microphones heard, a clap best of all.

    The onset signals of every two recordings are correlated over the whole length, so the clap need not be found
    first, and other shared sounds help. Sound takes 2.9 ms for a metre: pass ``distances`` when cameras stand at
    different distances from the clap.

    Parameters
    ----------
    sounds : sequence of (samples, rate)
        One per camera, as `motionbook.capture.footage.read_wav` gives them; sound and picture start together.
    fps : float or (cameras,)
        Frame rate of each camera's video.
    max_seconds : float, optional
        Largest offset searched; half the shorter recording when not given (5 s with ``windows``).
    distances : (cameras,), optional
        Metres from the clap to each microphone.
    windows : int
        With 3 or more, rates are measured too: the loudest onset of the reference in each of so many windows is
        looked for in the other sounds, within ``max_seconds`` (5 s when not given), which clocks that drift by more
        than a few milliseconds need.
    min_margin : float
        A smaller margin is warned about.

    Raises
    ------
    ValueError
        When a recording is silent or the recordings share no sound.
    """
    names = camera_names(names, len(sounds))
    first, rates = find_reference(reference, names), camera_rates(fps, len(names))
    signals = []
    for name, (samples, rate) in zip(names, sounds, strict=True):
        strength = onset_strength(samples, rate)
        if not strength.any():
            raise ValueError(f"{name}: the recording is silent; use a flash, the motion or the reprojection error")
        signals.append(
            _Sound(_high_passed(np.asarray(samples, dtype=np.float64), rate, 500.0), rate, strength[:, None])
        )
    travel = np.zeros(len(names))
    if distances is not None:
        travel = np.asarray(distances, dtype=float) / speed_of_sound
        if travel.shape != (len(names),):
            raise ValueError(f"distances: expected one per camera ({len(names)}), got shape {travel.shape}")
    if windows >= 3:
        return _claps_in_windows(signals, rates, names, first, windows, max_seconds, travel)
    pairs, evidence, score, margin, doubts = [], [], np.full(len(names), np.nan), np.full(len(names), np.nan), []
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            a, b = signals[i].onsets, signals[j].onsets
            reach = min(len(a), len(b)) // 2 if max_seconds is None else round(max_seconds * _HOP)
            peak = find_peak(correlate(a, b, reach, min(len(a), len(b)) // 4), lobe=20)
            if peak is None:
                continue
            lag = peak.lag / _HOP
            lag = _fine_lag(signals[i], signals[j], _shared_onset(signals[i], signals[j], lag), lag)
            lag -= travel[j] - travel[i]
            pairs.append((i, j, lag, max(peak.height, 1e-3) ** 2))
            evidence.append(
                {
                    "cameras": f"{names[i]} {names[j]}",
                    "lag [s]": lag,
                    "correlation": peak.height,
                    "rival [s]": peak.rival / _HOP,
                    "margin": peak.margin,
                }
            )
            if first in (i, j):
                other = j if i == first else i
                score[other], margin[other] = peak.height, peak.margin
    found = combine(pairs, len(names), first)
    for c, name in enumerate(names):
        if c != first and not (margin[c] >= min_margin and score[c] >= 0.1):
            doubts.append(
                f"{name}: the sound fits {100 * score[c]:.0f} % and another place {100 * (1 - margin[c]):.0f} % as "
                "well as the best; look for the clap by hand"
            )
        if found.misfit[c] * rates[c] > 0.5:
            doubts.append(f"{name}: pairs of cameras contradict each other by {found.misfit[c] * rates[c]:.1f} frames")
    offsets, spread = found.offsets, np.maximum(found.misfit, 0.3 / _HOP)
    warn_of(doubts, "by_clap")
    return Synchronisation(
        names, rates[first], offsets, rates, score, margin, spread, "clap", tuple(evidence), tuple(doubts)
    )


def _claps_in_windows(signals, rates, names, first, count, max_seconds, travel) -> Synchronisation:
    """Offsets and rates from the loudest onset of the reference in each of ``count`` windows, each found by itself."""
    base = signals[first].onsets[:, 0]
    half, reach = round(0.6 * _HOP), round((5.0 if max_seconds is None else max_seconds) * _HOP)
    edges = np.linspace(0, len(base), count + 1).astype(int)
    centres = np.array([start + int(base[start:stop].argmax()) for start, stop in pairwise(edges)])
    lags, heights, margins = (np.full((count, len(names)), np.nan) for _ in range(3))
    lags[:, first] = 0.0
    evidence, doubts = [], []
    for c, name in enumerate(names):
        for w, centre in enumerate(centres if c != first else ()):
            start = max(centre - half, 0)
            a = base[start : centre + half]
            frames = np.arange(start - reach, start + len(a) + reach)
            good = (frames >= 0) & (frames < len(signals[c].onsets))
            b = np.full(len(frames), np.nan)
            b[good] = signals[c].onsets[frames[good], 0]
            a = np.concatenate([np.full(reach, np.nan), a])
            peak = find_peak(correlate(a[:, None], b[:, None], reach, half), lobe=20)
            if peak is None or peak.at_edge:
                continue
            heights[w, c], margins[w, c] = peak.height, peak.margin
            lag = _fine_lag(signals[first], signals[c], centre / _HOP, peak.lag / _HOP) - (travel[c] - travel[first])
            row = {"cameras": f"{names[first]} {name}", "time [s]": centre / _HOP, "lag [s]": lag}
            evidence.append(row | {"correlation": peak.height, "margin": peak.margin})
            if peak.height > 0.3 and peak.margin > 0.2:
                lags[w, c] = lag
        if c != first:
            lags[:, c] = _on_one_line(centres / _HOP, lags[:, c])
    drift = fit_drift(centres / _HOP, lags, rates[first], names, np.full(lags.shape, 0.3 / _HOP))
    offsets, spread = np.zeros(len(names)), np.zeros(len(names))
    for c, name in enumerate(names):
        found = np.isfinite(lags[:, c])
        if found.sum() < 3:
            raise ValueError(
                f"{name}: {found.sum()} of {count} windows share a clear sound with {names[first]}, rates need 3; "
                "synchronise without windows"
            )
        offsets[c] = lags[found, c].mean()
        spread[c] = max(lags[found, c].std(), 0.3 / _HOP) / np.sqrt(found.sum())
        if drift.drifting[c]:
            spread[c] = max(drift.scatter[c], 0.3 / _HOP) / np.sqrt(found.sum())
        if drift.jumping[c]:
            doubts.append(drift.report[c])
    spread[first] = 0.0
    offsets, rates = with_drift(offsets, rates, drift)
    score, margin = np.full(len(names), np.nan), np.full(len(names), np.nan)
    for c in (c for c in range(len(names)) if c != first):
        score[c], margin[c] = np.nanmedian(heights[:, c]), np.nanmedian(margins[:, c])
    warn_of(doubts, "by_clap")
    return Synchronisation(
        names, rates[first], offsets, rates, score, margin, spread, "clap", tuple(evidence), tuple(doubts)
    )


def _on_one_line(t: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Values off the line that most of them lie on set to NaN; all kept when no line holds two thirds of them."""
    known = np.flatnonzero(np.isfinite(y))
    if len(known) < 4:
        return y
    i, j = (known[k] for k in np.triu_indices(len(known), 1))
    slope = np.median((y[j] - y[i]) / (t[j] - t[i]))
    off = y - slope * t
    off = np.abs(off - np.nanmedian(off))
    near = off <= max(4 * 1.4826 * float(np.nanmedian(off)), 0.005)
    return np.where(near, y, np.nan) if near.sum() >= 2 * len(known) / 3 else y


class Flashes(NamedTuple):
    """Moments (flashes,) in frames at which light came on, their strength over the noise, and standard errors."""

    frames: np.ndarray
    strength: np.ndarray
    spread: np.ndarray


def find_flashes(brightness, *, exposure: float = 1.0, threshold: float = 10.0) -> Flashes:
    """Sudden brightenings in a camera's mean brightness, to a fraction of a frame.

    The frame in which the light comes on is lit for only part of its exposure; how bright it is between the frames
    before and after tells which part. So a flash must last two frames or more to be placed within a frame; a shorter
    one is placed to about 0.3 of a frame, and its standard error says so.

    Parameters
    ----------
    brightness : (frames,)
        Mean grey value of each picture.
    exposure : float
        Share of the frame time the shutter is open; a light that comes on while it is shut cannot be placed closer.
    threshold : float
        Rise over two frames that counts as a flash, in standard deviations of the rises of ordinary frames.
    """
    b = np.asarray(brightness, dtype=np.float64)
    if b.ndim != 1 or len(b) < 5:
        raise ValueError(f"brightness: expected (frames,) with at least 5 frames, got {b.shape}")
    check_finite(b, "brightness")
    if not 0 < exposure <= 1:
        raise ValueError(f"exposure: expected a share of the frame time above 0 and at most 1, got {exposure}")
    rise = np.zeros(len(b))
    rise[1:-1] = b[2:] - b[:-2]
    noise = max(1.4826 * float(np.median(np.abs(rise - np.median(rise)))), 1e-3 * float(np.ptp(b)), 1e-9)
    frames, strength, spread = [], [], []
    for f in np.flatnonzero(rise > threshold * noise):
        if rise[f] < rise[max(f - 2, 0) : f + 3].max() or (frames and f - 1 <= frames[-1] + 1):
            continue
        before = float(np.median(b[max(f - 4, 0) : f]))
        after = b[f + 1]
        # lasting light: the frame after next is lit as well
        lasting = f + 2 < len(b) and b[f + 2] - before > 0.7 * (after - before)
        share = float(np.clip((b[f] - before) / (after - before), 0.0, 1.0)) if after > before else 1.0
        moment = f + exposure * (1 - share)
        error = noise / max(after - before, 1e-9) * exposure
        if exposure < 1 and (share > 0.98 or share < 0.02):
            # it came on while the shutter was shut, before this frame or after it
            moment = f - (1 - exposure) / 2 if share > 0.5 else f + 1 - (1 - exposure) / 2
            error = (1 - exposure) / np.sqrt(12)
        frames.append(moment)
        strength.append(rise[f] / noise)
        spread.append(error if lasting else max(error, 0.3))
    return Flashes(np.array(frames), np.array(strength), np.array(spread))


def by_flash(
    brightness: Sequence[np.ndarray],
    fps,
    *,
    names=None,
    reference: int | str = 0,
    exposure: float = 1.0,
    threshold: float = 10.0,
    min_margin: float = 0.2,
) -> Synchronisation:
    """Offsets from flashes of light that all cameras saw; rates too when two or more lie 10 s apart.

    Parameters
    ----------
    brightness : sequence of (frames,)
        Mean grey value per frame and camera (`motionbook.capture.footage.scan_video`); lengths may differ.
    fps : float or (cameras,)
    exposure, threshold : float
        As in `find_flashes`.
    min_margin : float
        A smaller margin, as when one camera saw two flashes and another one of them, is warned about.

    Raises
    ------
    ValueError
        When a camera saw no flash; the message names it.
    """
    names = camera_names(names, len(brightness))
    first, rates = find_reference(reference, names), camera_rates(fps, len(names))
    found = []
    for name, series in zip(names, brightness, strict=True):
        try:
            flashes = find_flashes(series, exposure=exposure, threshold=threshold)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
        if not len(flashes.frames):
            raise ValueError(
                f"{name}: no flash: no brightening stands out by {threshold:g} standard deviations; lower threshold, "
                "or use sound, motion or the reprojection error"
            )
        found.append(flashes)
    n = len(names)
    offsets, score, margin, spread = np.zeros(n), np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
    evidence, doubts = [], []
    base = found[first]
    base_times = base.frames / rates[first]
    for c, flashes in enumerate(found):
        times = flashes.frames / rates[c]
        evidence += [
            {"camera": names[c], "flash [frames]": float(f), "strength": float(s), "standard error [frames]": float(e)}
            for f, s, e in zip(*flashes, strict=True)
        ]
        if c == first:
            continue
        # nominal rates may be off by 0.1 %, so distant flashes of one pattern need that much room
        room = 1.5 / min(rates[first], rates[c]) + 0.0015 * max(np.ptp(base_times), np.ptp(times))
        matches = _match(base_times, base.strength, times, flashes.strength, room)
        total, _, chosen = matches[0]
        rivals = [m for m in matches if abs(m[1] - matches[0][1]) > room]
        score[c] = total
        margin[c] = 1 - rivals[0][0] / total if rivals else 1.0
        i, j = np.array(chosen).T
        lag = times[j] - base_times[i]
        error = np.hypot(base.spread[i] / rates[first], flashes.spread[j] / rates[c])
        weight = 1 / np.maximum(error, 1e-4) ** 2
        offsets[c] = np.average(lag, weights=weight)
        spread[c] = 1 / np.sqrt(weight.sum())
        if len(i) > 1 and np.ptp(base_times[i]) >= 10:
            middle = np.average(base_times[i], weights=weight)
            reach = (weight * (base_times[i] - middle) ** 2).sum()
            slope = (weight * (base_times[i] - middle) * (lag - offsets[c])).sum() / reach
            if abs(slope) > 3 / np.sqrt(reach):
                offsets[c] = (offsets[c] - slope * middle) / (1 + slope)
                rates[c] *= 1 + slope
        elif len(i) > 1 and np.abs(lag - offsets[c]).max() * rates[c] > 1:
            doubts.append(f"{names[c]}: its flashes lie up to {np.abs(lag - offsets[c]).max():.3f} s off one offset")
        if margin[c] < min_margin:
            doubts.append(
                f"{names[c]}: another flash fits {100 * (1 - margin[c]):.0f} % as well (offset {rivals[0][1]:.3f} s "
                f"instead of {offsets[c]:.3f} s)"
            )
    spread[first] = 0.0
    warn_of(doubts, "by_flash")
    return Synchronisation(
        names, rates[first], offsets, rates, score, margin, spread, "flash", tuple(evidence), tuple(doubts)
    )


def _match(a, strength_a, b, strength_b, room):
    """Candidates (score, lag, matched pairs), best first: lags that put flashes b onto flashes a within ``room``."""
    a_share, b_share = strength_a / strength_a.max(), strength_b / strength_b.max()
    whole = min(a_share.sum(), b_share.sum())
    candidates = []
    for lag in np.unique((b[None, :] - a[:, None]).ravel()):
        apart = np.abs(b[None, :] - a[:, None] - lag)
        pairs, total, used = [], 0.0, set()
        for i in range(len(a)):
            j = int(apart[i].argmin())
            if apart[i, j] <= room and j not in used:
                used.add(j)
                pairs.append((i, j))
                total += min(a_share[i], b_share[j])
        # of equally many matches the closer ones, by a hair
        off = np.mean([apart[i, j] for i, j in pairs]) / room
        candidates.append((total / whole - 1e-3 * off, float(lag), pairs))
    return sorted(candidates, key=lambda m: -m[0])
