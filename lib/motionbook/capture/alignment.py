"""Observations of several cameras moved onto their common clock."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from motionbook.capture.clocks import Synchronisation, check_fps, frame_times
from motionbook.capture.landmarks import Observations

# An interval longer than this many frame periods is a gap: a frame is missing in it, nothing is put there.
GAP = 1.75


SMOOTH = 0.04  # seconds, standard deviation of the Gaussian that keeps interpolation from changing the noise


class Aligned(NamedTuple):
    """Observations on the common clock.

    Attributes
    ----------
    observations : Observations
        NaN and confidence 0 where a camera had no frame or did not see the point.
    times : (frames,)
        Seconds on the common clock.
    report : tuple of dict
        Per camera: frames given, first and last frame used, frames cut at either end, moments without a frame inside
        the span (dropped frames), and whether frames were copied or interpolated.
    """

    observations: Observations
    times: np.ndarray
    report: tuple[dict, ...]


def sample(values, times, at, max_gap: float, cubic: bool = True) -> np.ndarray:
    """Values (frames, ...) known at ``times`` (frames,), read at the moments ``at`` (moments,).

    Cubic between frames (Hermite, slopes from the neighbours), straight where a neighbour is missing or ``cubic`` is
    off, exact copies at
    the frames themselves; NaN outside, beside unknown values, and in intervals longer than ``max_gap`` seconds.
    """
    values, times, at = np.asarray(values, dtype=np.float64), np.asarray(times), np.asarray(at)
    last = len(times) - 1
    out = np.full((len(at), *values.shape[1:]), np.nan)
    if last < 1:
        same = np.abs(at - times[0]) < 1e-9 if last == 0 else np.zeros(len(at), dtype=bool)
        out[same] = values[0] if last == 0 else np.nan
        return out
    left = np.clip(np.searchsorted(times, at, side="right") - 1, 0, last - 1)
    width = times[left + 1] - times[left]
    u = (at - times[left]) / width
    inside = (u > -1e-6) & (u < 1 + 1e-6)
    at_left, at_right = inside & (np.abs(u) <= 1e-6), inside & (np.abs(u - 1) <= 1e-6)
    between = inside & ~at_left & ~at_right & (width <= max_gap)
    out[at_left] = values[left[at_left]]
    out[at_right] = values[left[at_right] + 1]
    if between.any():
        i, axes = left[between], (-1, *[1] * (values.ndim - 1))
        w, h = u[between].reshape(axes), width[between].reshape(axes)
        before, after = np.maximum(i - 1, 0), np.minimum(i + 2, last)
        start, stop = values[i], values[i + 1]
        slope_left = (stop - values[before]) / (times[i + 1] - times[before]).reshape(axes) * h
        slope_right = (values[after] - start) / (times[after] - times[i]).reshape(axes) * h
        straight = (1 - w) * start + w * stop
        bent = (
            (1 + 2 * w) * (1 - w) ** 2 * start
            + w * (1 - w) ** 2 * slope_left
            + w**2 * (3 - 2 * w) * stop
            - w**2 * (1 - w) * slope_right
        )
        inner = cubic & ((times[i] - times[before] <= max_gap) & (times[after] - times[i + 1] <= max_gap)).reshape(axes)
        out[between] = np.where(inner & np.isfinite(bent), bent, straight)
    return out


def apply(
    synchronisation: Synchronisation,
    pixels,
    confidence=None,
    names: Sequence[str] | None = None,
    *,
    fps: float | None = None,
    span: str = "shared",
    max_gap: float | None = None,
) -> Aligned:
    """Observations of all cameras resampled to the common clock.

    Parameters
    ----------
    synchronisation : Synchronisation
    pixels : Observations, or sequence of (frames, points, 2)
        One array per camera; the numbers of frames may differ.
    confidence : sequence of (frames, points), optional
        1 where a point is known when not given. Interpolated like the pixels, in straight lines.
    names : sequence of str, optional
        Of the points.
    fps : float, optional
        Of the result; the reference camera's when not given.
    span : {"shared", "any"}
        From when all cameras recorded, or from when any did (NaN for the others).
    max_gap : float, optional
        Longest interval in seconds between two frames that is interpolated; 1.75 periods of the camera, which leaves
        moments beside a dropped frame unknown.

    Raises
    ------
    ValueError
        When cameras, shapes or names disagree, or the cameras never recorded at the same time.
    """
    if isinstance(pixels, Observations):
        confidence = pixels.confidence if confidence is None else confidence
        names, pixels = pixels.names if names is None else names, pixels.pixels
    cameras = synchronisation.names
    tracks = check_tracks(pixels, cameras)
    points = tracks[0].shape[1]
    weights = [np.isfinite(t).all(axis=-1).astype(float) for t in tracks] if confidence is None else list(confidence)
    if len(weights) != len(tracks):
        raise ValueError(f"confidence: expected one array for each of {len(tracks)} cameras, got {len(weights)}")
    names = tuple(f"point{i}" for i in range(points)) if names is None else tuple(names)
    if span not in ("shared", "any"):
        raise ValueError(f"span: expected 'shared' or 'any', got {span!r}")
    fps = float(check_fps(synchronisation.fps if fps is None else fps))
    clocks = [frame_times(synchronisation, c, len(track)) for c, track in enumerate(tracks)]
    starts, stops = [clock[0] for clock in clocks], [clock[-1] for clock in clocks]
    start, stop = (max(starts), min(stops)) if span == "shared" else (min(starts), max(stops))
    # on whole frames of the common clock, so that the reference camera's frames are copied and not interpolated
    ticks = np.arange(np.ceil(start * fps - 1e-6), np.floor(stop * fps + 1e-6) + 1)
    if not len(ticks):
        spans = ", ".join(f"{n} {a:.3f} to {b:.3f} s" for n, a, b in zip(cameras, starts, stops, strict=True))
        raise ValueError(f"the cameras never recorded at the same time ({spans}); check the offsets")
    at = ticks / fps
    seen = np.full((len(tracks), len(at), points, 2), np.nan)
    trust = np.zeros(seen.shape[:-1])
    report = []
    for c, (track, weight, clock) in enumerate(zip(tracks, weights, clocks, strict=True)):
        weight = np.asarray(weight, dtype=np.float64)
        if weight.shape != track.shape[:-1]:
            raise ValueError(f"{cameras[c]}: confidence: expected {track.shape[:-1]}, got {weight.shape}")
        gap = GAP / synchronisation.rates[c] if max_gap is None else max_gap
        seen[c] = sample(track, clock, at, gap)
        steps = sample(np.nan_to_num(weight), clock, at, gap, cubic=False)
        trust[c] = np.where(np.isfinite(seen[c]).all(axis=-1), np.nan_to_num(steps), 0.0)
        seen[c][trust[c] == 0] = np.nan
        within = (at >= clock[0] - 1e-9) & (at <= clock[-1] + 1e-9)
        used = np.flatnonzero((clock >= at[0] - 1e-9) & (clock <= at[-1] + 1e-9))
        place = np.searchsorted(clock, at[within])
        nearest = np.minimum(
            np.abs(clock[np.minimum(place, len(clock) - 1)] - at[within]),
            np.abs(clock[np.maximum(place - 1, 0)] - at[within]),
        )
        holes = np.isnan(sample(np.zeros(len(clock)), clock, at[within], gap))
        report.append(
            {
                "camera": cameras[c],
                "frames given": len(track),
                "first used": int(used[0]) if len(used) else -1,
                "last used": int(used[-1]) if len(used) else -1,
                "cut at start": int(used[0]) if len(used) else len(track),
                "cut at end": int(len(track) - 1 - used[-1]) if len(used) else 0,
                "moments without a frame": int(holes.sum() + (~within).sum()),
                "frames": "copied" if (nearest < 1e-6 / fps).all() else "interpolated",
            }
        )
    return Aligned(Observations(names, seen, trust, fps), at, tuple(report))


def smoothed(values: np.ndarray, rate: float, seconds: float = SMOOTH) -> np.ndarray:
    """Values (frames, ...) averaged over known neighbours with Gaussian weights; unknown stay NaN."""
    from scipy.ndimage import gaussian_filter1d

    known = np.isfinite(values)
    total = gaussian_filter1d(np.where(known, values, 0.0), seconds * rate, axis=0, mode="constant")
    weight = gaussian_filter1d(known.astype(float), seconds * rate, axis=0, mode="constant")
    return np.where(known, total / np.maximum(weight, 1e-9), np.nan)


def check_tracks(pixels, cameras: Sequence[str]) -> list[np.ndarray]:
    """One (frames, points, 2) array per camera, or ValueError naming the camera that differs."""
    tracks = [np.asarray(track, dtype=np.float64) for track in pixels]
    if len(tracks) != len(cameras):
        raise ValueError(f"pixels: expected one array for each of {len(cameras)} cameras, got {len(tracks)}")
    for name, track in zip(cameras, tracks, strict=True):
        if track.ndim != 3 or track.shape[-1] != 2 or not len(track):
            raise ValueError(f"{name}: pixels: expected (frames, points, 2), got {track.shape}")
        if track.shape[1] != tracks[0].shape[1]:
            raise ValueError(
                f"{name}: pixels: expected {tracks[0].shape[1]} points as in {cameras[0]}, got {track.shape[1]}"
            )
    return tracks


def known(pixels, confidence, names, min_confidence: float) -> list[np.ndarray]:
    """Tracks per camera with what is not trusted set to NaN."""
    tracks = [track.copy() for track in check_tracks(pixels, names)]
    if confidence is not None:
        if len(confidence) != len(tracks):
            raise ValueError(f"confidence: expected one array for each of {len(tracks)} cameras, got {len(confidence)}")
        for name, track, weight in zip(names, tracks, confidence, strict=True):
            weight = np.asarray(weight, dtype=np.float64)
            if weight.shape != track.shape[:-1]:
                raise ValueError(f"{name}: confidence: expected {track.shape[:-1]}, got {weight.shape}")
            track[~(weight >= min_confidence)] = np.nan
    for name, track in zip(names, tracks, strict=True):
        track[~np.isfinite(track).all(axis=-1)] = np.nan
        if np.isnan(track).all():
            raise ValueError(f"{name}: no point is seen with a confidence of {min_confidence:g} or more in any frame")
    return tracks


def unpacked(pixels, confidence, fps):
    """Pixels, confidence and rate, those of Observations where they come with it."""
    if isinstance(pixels, Observations):
        return pixels.pixels, (pixels.confidence if confidence is None else confidence), (fps or pixels.fps)
    if fps is None:
        raise ValueError("fps: expected the frame rate (one number, or one per camera), got none")
    return pixels, confidence, fps
