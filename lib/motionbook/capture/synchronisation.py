"""Synchronisation of cameras from what they filmed: the motion in the pictures, and, once calibrated, the geometry.

The other ways are in `motionbook.capture.cues` (clap, flash) and `motionbook.capture.clocks` (by hand, timestamps);
all give a `Synchronisation`, and `motionbook.capture.clocks.apply` moves the observations. Motion is a coarse way: what
a camera sees of a movement depends on where it stands, and on a real recording of four cameras it puts all of them
within a frame of each other although one is two frames late. The reprojection error has no such blind spot.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.cameras import Camera, normalised
from motionbook.capture.clocks import (
    Aligned,
    Synchronisation,
    apply,
    by_hand,
    by_timestamps,
    camera_names,
    camera_rates,
    check_tracks,
    find_reference,
    frame_times,
    sample,
    summary,
    warn_of,
)
from motionbook.capture.cues import by_clap, by_flash
from motionbook.capture.lags import Drift, combine, correlate, find_peak, fit_drift, vertex, windows, with_drift
from motionbook.capture.landmarks import Observations

__all__ = [
    "Aligned",
    "Drift",
    "Synchronisation",
    "apply",
    "by_clap",
    "by_flash",
    "by_hand",
    "by_motion",
    "by_reprojection",
    "by_timestamps",
    "motion_drift",
    "motion_energy",
    "reprojection_drift",
    "shift_errors",
    "summary",
]

_SMOOTH = 0.04  # seconds, standard deviation of the Gaussian that keeps interpolation from changing the noise


def _smoothed(values: np.ndarray, rate: float, seconds: float = _SMOOTH) -> np.ndarray:
    """Values (frames, ...) averaged over known neighbours with Gaussian weights; unknown stay NaN."""
    from scipy.ndimage import gaussian_filter1d

    known = np.isfinite(values)
    total = gaussian_filter1d(np.where(known, values, 0.0), seconds * rate, axis=0, mode="constant")
    weight = gaussian_filter1d(known.astype(float), seconds * rate, axis=0, mode="constant")
    return np.where(known, total / np.maximum(weight, 1e-9), np.nan)


def _known(pixels, confidence, names, min_confidence: float) -> list[np.ndarray]:
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


def _unpacked(pixels, confidence, fps):
    if isinstance(pixels, Observations):
        return pixels.pixels, (pixels.confidence if confidence is None else confidence), (fps or pixels.fps)
    if fps is None:
        raise ValueError("fps: expected the frame rate (one number, or one per camera), got none")
    return pixels, confidence, fps


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
    smooth = _smoothed(np.asarray(pixels, dtype=np.float64), rate)
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
        out.append(sample(energy, clock, at, 1.75 / rate))
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
    pixels, confidence, fps = _unpacked(pixels, confidence, fps)
    names = camera_names(names, len(pixels))
    first, rates = find_reference(reference, names), camera_rates(fps, len(names))
    tracks = _known(pixels, confidence, names, min_confidence)
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
        evidence += _drift_rows(drift, names)
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
    pixels, confidence, fps = _unpacked(pixels, confidence, fps)
    names = camera_names(names, len(pixels))
    first, rates = find_reference(reference, names), camera_rates(fps, len(names))
    tracks = _known(pixels, confidence, names, min_confidence)
    signals = _signals(tracks, rates, float(rates.max()), signal)
    if offsets is None:
        offsets = _motion_lags(signals, float(rates.max()), names, first, 5.0)[0].offsets
    centres, found = _motion_windows(signals, float(rates.max()), np.asarray(offsets), first, count, 0.5)
    return fit_drift(centres, found, rates[first], names)


def _drift_rows(drift: Drift, names):
    return [
        {"window [s]": float(t), "camera": name, "offset [s]": float(drift.offsets[w, c])}
        for w, t in enumerate(drift.centres)
        for c, name in enumerate(names)
    ]


def _ideal(cameras: Sequence[Camera], tracks) -> list[np.ndarray]:
    """Pixels freed of lens distortion, so that the search need not do it in every step."""
    return [
        normalised(camera, track) * camera.intrinsics[[0, 1], [0, 1]] + camera.intrinsics[:2, 2]
        for camera, track in zip(cameras, tracks, strict=True)
    ]


def _reprojection(cameras: Sequence[Camera], pixels: np.ndarray) -> np.ndarray:
    """Errors (cameras, ...) in pixels of the unweighted linear triangulation of ideal pixels (cameras, ..., 2).

    Unweighted and without rejection on purpose: dropping the camera that disagrees would hide that it is late.
    """
    seen = np.isfinite(pixels).all(axis=-1)
    counted = seen.sum(axis=0) >= 2
    shape = pixels.shape[1:-1]
    normal, side = np.zeros((*shape, 3, 3)), np.zeros((*shape, 3))
    turns = [rot.to_matrix(camera.rotation) for camera in cameras]
    for camera, turn, place, good in zip(cameras, turns, pixels, seen, strict=True):
        for axis in (0, 1):
            focal, centre = camera.intrinsics[axis, axis], camera.intrinsics[axis, 2]
            u = np.where(good, place[..., axis] - centre, 0.0)[..., None]
            row = np.where(good[..., None], u * turn[2] - focal * turn[axis], 0.0)
            right = np.where(good, focal * camera.translation[axis] - u[..., 0] * camera.translation[2], 0.0)
            normal += row[..., :, None] * row[..., None, :]
            side += row * right[..., None]
    trace = np.trace(normal, axis1=-2, axis2=-1)
    # a touch of identity keeps unseen points and parallel rays solvable; they are masked below or change by nothing
    normal += (np.where(counted, 1e-12 * trace, 1.0))[..., None, None] * np.eye(3)
    points = np.linalg.solve(normal, side[..., None])[..., 0]
    errors = np.full(seen.shape, np.nan)
    for c, (camera, turn) in enumerate(zip(cameras, turns, strict=True)):
        local = points @ turn.T + camera.translation
        depth = np.where(local[..., 2] > 1e-6, local[..., 2], np.nan)
        focal, centre = camera.intrinsics[[0, 1], [0, 1]], camera.intrinsics[:2, 2]
        back = local[..., :2] / depth[..., None] * focal + centre
        errors[c] = np.where(seen[c] & counted, np.linalg.norm(back - pixels[c], axis=-1), np.nan)
    return errors


def shift_errors(
    cameras: Sequence[Camera], pixels, confidence=None, *, camera: int | str, shifts, min_confidence: float = 0.3
) -> list[dict]:
    """Reprojection error over all observations when one camera is read some whole frames later, one row per shift.

    Columns: shift in frames, mean and median error in pixels, observations. Frames outside a camera are left out, the
    other cameras' points in them stay. Frames count from 0 in every camera, whatever its rate.
    """
    names = camera_names([c.name for c in cameras], len(cameras))
    index = find_reference(camera, names)
    tracks = _ideal(cameras, _known(pixels, confidence, names, min_confidence))
    length = max(len(track) for track in tracks)
    rows = []
    for shift in shifts:
        moved = np.full((len(cameras), length, *tracks[0].shape[1:]), np.nan)
        for c, track in enumerate(tracks):
            frames = np.arange(length) + (int(shift) if c == index else 0)
            good = (frames >= 0) & (frames < len(track))
            moved[c, good] = track[frames[good]]
        errors = _reprojection(cameras, moved)
        errors = errors[np.isfinite(errors)]
        rows.append(
            {
                "shift [frames]": int(shift),
                "mean [px]": float(errors.mean()) if len(errors) else np.nan,
                "median [px]": float(np.median(errors)) if len(errors) else np.nan,
                "observations": len(errors),
            }
        )
    return rows


def by_reprojection(
    cameras: Sequence[Camera],
    pixels,
    confidence=None,
    *,
    fps=None,
    start: Synchronisation | None = None,
    reference: int | str = 0,
    precision: str = "subframe",
    max_shift: int = 12,
    min_confidence: float = 0.3,
    max_moments: int = 400,
    min_margin: float = 0.2,
) -> Synchronisation:
    """Offsets that give the least mean reprojection error of unweighted linear triangulation.

    Whole frames first: in each round the camera whose shift lowers the error most is moved, until no single move
    lowers it by more than two standard errors (over blocks of time, the same moments before and after). Cameras that
    fit as they are stay where they are. Then, with ``precision="subframe"``, all offsets together, on tracks smoothed
    so that interpolating between frames does not itself lower the error.

    Parameters
    ----------
    cameras : sequence of Camera
    pixels : Observations, or sequence of (frames, points, 2)
        Numbers of frames may differ.
    confidence : sequence of (frames, points), optional
    fps : float or (cameras,)
    start : Synchronisation, optional
        Where to begin (by clap, motion ...); frame 0 of all cameras together when not given.
    precision : {"subframe", "frame"}
    max_shift : int
        Frames searched on either side of the start.
    max_moments : int
        Moments of the recording that are compared, evenly spread.
    """
    pixels, confidence, fps = _unpacked(pixels, confidence, fps)
    names = camera_names([camera.name for camera in cameras], len(cameras))
    if precision not in ("subframe", "frame"):
        raise ValueError(f"precision: expected 'subframe' or 'frame', got {precision!r}")
    if len(cameras) < 2:
        raise ValueError(f"cameras: expected at least 2, got {len(cameras)}")
    first = find_reference(reference, names)
    tracks = _ideal(cameras, _known(pixels, confidence, names, min_confidence))
    base = by_hand(fps, seconds=np.zeros(len(names)), names=names) if start is None else start
    if base.names != names:
        raise ValueError(f"start: expected the cameras {', '.join(names)}, got {', '.join(base.names)}")
    clocks = [frame_times(base, c, len(track)) for c, track in enumerate(tracks)]
    search = _Search(cameras, tracks, clocks, base, max_shift, max_moments)
    shifts, rounds = search.whole_frames()
    curves = [search.curve(c, shifts) for c in range(len(names))]
    score, margin, spread = (np.full(len(names), np.nan) for _ in range(3))
    evidence, doubts = list(rounds), []
    for c, name in enumerate(names):
        curve = curves[c]
        score[c] = curve.error
        peak = find_peak(curve.depth)
        margin[c] = peak.margin if peak else 0.0
        spread[c] = curve.spread / base.fps
        evidence.append({"camera": name, "shift [frames]": int(shifts[c]), "neighbours [px]": curve.neighbours})
        if peak is None or peak.at_edge:
            doubts.append(f"{name}: the error still falls {max_shift} frames away from the start; search further")
        elif peak.margin < min_margin:
            doubts.append(f"{name}: a shift of {peak.rival:+.0f} frames fits {100 * (1 - peak.margin):.0f} % as well")
        if not curve.spread <= 0.5:
            doubts.append(f"{name}: uncertain by {curve.spread:.1f} frames; the person hardly moves")
        if curve.tied and precision == "frame":
            doubts.append(
                f"{name}: one frame {'later' if curve.tied > 0 else 'earlier'} fits as well within the error's scatter, "
                "it lies between two frames; precision='subframe' places it there"
            )
    late = shifts / base.fps
    if precision == "subframe":
        late = search.fraction(late, first)
    if start is not None or precision == "subframe":
        late = late + base.offsets
    late = late - late[first]
    warn_of(doubts, "by_reprojection")
    times = base.times
    if times is not None:
        moved = late - base.offsets
        times = tuple(clock - step for clock, step in zip(times, moved, strict=True))
    spread[first] = 0.0
    return Synchronisation(
        names, base.fps, late, base.rates, score, margin, spread, f"reprojection ({precision})", tuple(evidence),
        tuple(doubts), times,
    )  # fmt: skip


class _Curve:
    """Mean error of one camera's shifts with the others held, and what follows from it."""

    def __init__(self, errors, shifts, at):
        # errors: (shifts, moments, observations summed) as sums and counts per moment
        sums, counts = errors
        total = np.where(counts.sum(axis=1) > 0, sums.sum(axis=1) / np.maximum(counts.sum(axis=1), 1), np.nan)
        self.error = float(total[at])
        middle = np.nanmedian(total)
        self.depth = np.roll(middle - total, 0)
        self.tied, self.spread, self.neighbours = 0, np.inf, ""
        if not 0 < at < len(total) - 1 or not np.isfinite(total[at - 1 : at + 2]).all():
            return
        blocks = np.array_split(np.arange(sums.shape[1]), min(10, sums.shape[1]))
        block_sums = np.stack([sums[:, b].sum(axis=1) for b in blocks])
        block_counts = np.stack([counts[:, b].sum(axis=1) for b in blocks])
        places, near = [], []
        for b in range(len(blocks)):
            left = (block_sums.sum(axis=0) - block_sums[b]) / np.maximum(block_counts.sum(axis=0) - block_counts[b], 1)
            # on squares the valley is a parabola
            places.append(vertex(*(left[at - 1 : at + 2] ** 2)))
            near.append([left[at - 1] - left[at], left[at + 1] - left[at]])
        n = len(blocks)
        self.spread = float(np.sqrt((n - 1) / n * np.sum((places - np.mean(places)) ** 2)))
        near = np.array(near)
        rise = np.array([total[at - 1], total[at + 1]]) - total[at]
        scatter = np.sqrt((n - 1) / n * ((near - near.mean(axis=0)) ** 2).sum(axis=0))
        closest = int(np.argmin(rise))
        if rise[closest] < 2 * scatter[closest]:
            self.tied = (-1, 1)[closest]
        self.neighbours = f"{rise[0]:+.3f} (-1), {rise[1]:+.3f} (+1), scatter {scatter.max():.3f}"


class _Search:
    """The tracks, the moments that are compared, and the cameras' pictures at every whole-frame shift."""

    def __init__(self, cameras, tracks, clocks, base, max_shift, max_moments):
        self.cameras, self.tracks, self.clocks, self.base = cameras, tracks, clocks, base
        self.fps, self.reach = base.fps, int(max_shift)
        start, stop = max(c[0] for c in clocks), min(c[-1] for c in clocks)
        ticks = np.arange(np.ceil(start * self.fps - 1e-6), np.floor(stop * self.fps + 1e-6) + 1)
        if len(ticks) < 8:
            raise ValueError(f"the cameras share {max(len(ticks), 0)} frames at the start given; expected at least 8")
        keep = np.unique(np.linspace(0, len(ticks) - 1, min(len(ticks), max_moments)).round().astype(int))
        self.at = ticks[keep] / self.fps
        self.range = np.arange(-self.reach, self.reach + 1)
        gaps = 1.75 / base.rates
        self.pictures = [
            np.stack([sample(track, clock, self.at + k / self.fps, gap) for k in self.range])
            for track, clock, gap in zip(tracks, clocks, gaps, strict=True)
        ]
        self.inside = [
            np.stack(
                [(self.at + k / self.fps >= c[0] - 1e-9) & (self.at + k / self.fps <= c[-1] + 1e-9) for k in self.range]
            )
            for c in clocks
        ]

    def _sums(self, shifts):
        """Error sums and counts (moments,) and the moments that lie inside every camera."""
        places = np.asarray(shifts) + self.reach
        errors = _reprojection(self.cameras, np.stack([p[k] for p, k in zip(self.pictures, places, strict=True)]))
        known = np.isfinite(errors)
        inside = np.all([i[k] for i, k in zip(self.inside, places, strict=True)], axis=0)
        return np.where(known, errors, 0.0).sum(axis=(0, 2)), known.sum(axis=(0, 2)), inside

    def whole_frames(self):
        """Shifts (cameras,) int, and a row per move with what it gained."""
        count = len(self.cameras)
        shifts, rows = np.zeros(count, dtype=int), []
        for _ in range(4 * count):
            now_sums, now_counts, now_inside = self._sums(shifts)
            best = None
            for c in range(count):
                for k in self.range:
                    if k == shifts[c]:
                        continue
                    trial = shifts.copy()
                    trial[c] = k
                    sums, counts, inside = self._sums(trial)
                    shared = now_inside & inside & (counts > 0) & (now_counts > 0)
                    if shared.sum() < max(8, len(self.at) // 4):
                        continue
                    gain, scatter = _gain(now_sums[shared], now_counts[shared], sums[shared], counts[shared])
                    if best is None or gain > best[0]:
                        best = gain, scatter, c, int(k)
            if best is None or best[0] <= max(2 * best[1], 1e-9):
                break
            gain, scatter, c, k = best
            rows.append(
                {
                    "camera": self.cameras[c].name,
                    "moved to [frames]": k,
                    "gain [px]": gain,
                    "standard error [px]": scatter,
                    "mean before [px]": float(now_sums.sum() / max(now_counts.sum(), 1)),
                }
            )
            shifts[c] = k
        return shifts, rows

    def curve(self, camera, shifts):
        """How the error changes when one camera moves from where it is, over the moments inside all."""
        all_sums, all_counts = [], []
        for k in self.range:
            trial = np.array(shifts)
            trial[camera] = k
            sums, counts, inside = self._sums(trial)
            all_sums.append(np.where(inside, sums, 0.0))
            all_counts.append(np.where(inside, counts, 0))
        counts = np.array(all_counts)
        thin = counts.sum(axis=1) < 0.25 * counts.sum(axis=1).max()
        counts[thin] = 0
        # the same moments for the neighbours that are compared, so that no easy moment drops out on one side only
        at = int(shifts[camera] + self.reach)
        near = slice(max(at - 1, 0), at + 2)
        common = (counts[near] > 0).all(axis=0)
        sums = np.array(all_sums)
        sums[near], counts[near] = sums[near] * common, counts[near] * common
        return _Curve((sums, counts), self.range, at)

    def fraction(self, late, first):
        """Offsets (cameras,) in seconds beside the base's, all together, the reference held where it is."""
        from scipy.optimize import minimize

        smooth = [_smoothed(t, r) for t, r in zip(self.tracks, self.base.rates, strict=True)]
        gaps = 1.75 / self.base.rates
        margin = 1.5 / self.fps
        good = np.ones(len(self.at), dtype=bool)
        for clock, off in zip(self.clocks, late, strict=True):
            good &= (self.at + off - margin >= clock[0]) & (self.at + off + margin <= clock[-1])
        if good.sum() < 8:
            return late
        at = self.at[good]
        fixed = [
            np.all([np.isfinite(sample(t, c, at + off + s, g)) for s in (-margin, 0.0, margin)], axis=0)
            for t, c, off, g in zip(smooth, self.clocks, late, gaps, strict=True)
        ]
        cache: dict[int, tuple[float, np.ndarray]] = {}

        def picture(c, seconds):
            if c not in cache or cache[c][0] != seconds:
                values = sample(smooth[c], self.clocks[c], at + seconds, gaps[c])
                cache[c] = seconds, np.where(fixed[c], values, np.nan)
            return cache[c][1]

        free = [c for c in range(len(self.cameras)) if c != first]

        def cost(frames):
            seconds = late.copy()
            seconds[free] += np.asarray(frames) / self.fps
            errors = _reprojection(self.cameras, np.stack([picture(c, s) for c, s in enumerate(seconds)]))
            known = np.isfinite(errors)
            return errors[known].mean() if known.any() else np.inf

        if not np.isfinite(cost(np.zeros(len(free)))):
            return late
        limits = [(-1.49, 1.49)] * len(free)
        found = minimize(
            cost, np.zeros(len(free)), method="Powell", bounds=limits, options={"xtol": 2e-3, "ftol": 1e-7}
        )
        out = late.copy()
        out[free] += np.atleast_1d(found.x) / self.fps
        return out


def _gain(sums_before, counts_before, sums_after, counts_after):
    """Fall of the mean error and its standard error over at most 10 blocks of time (jackknife)."""
    total = sums_before.sum() / counts_before.sum() - sums_after.sum() / counts_after.sum()
    blocks = np.array_split(np.arange(len(sums_before)), min(10, len(sums_before)))
    left = []
    for block in blocks:
        keep = np.ones(len(sums_before), dtype=bool)
        keep[block] = False
        before = sums_before[keep].sum() / max(counts_before[keep].sum(), 1)
        left.append(before - sums_after[keep].sum() / max(counts_after[keep].sum(), 1))
    n = len(blocks)
    return float(total), float(np.sqrt((n - 1) / n * np.sum((left - np.mean(left)) ** 2)))


def reprojection_drift(
    cameras: Sequence[Camera],
    pixels,
    confidence=None,
    *,
    synchronisation: Synchronisation,
    reference: int | str = 0,
    count: int = 6,
    min_confidence: float = 0.3,
    max_moments: int = 100,
) -> tuple[Drift, Synchronisation]:
    """Sub-frame offsets in ``count`` windows of the recording, and the synchronisation with drifting clocks corrected.

    Parameters
    ----------
    synchronisation : Synchronisation
        Found for the whole recording; each window is searched within 1.5 frames of it.
    """
    pixels, confidence, _ = _unpacked(pixels, confidence, synchronisation.fps)
    names = camera_names([camera.name for camera in cameras], len(cameras))
    first = find_reference(reference, names)
    tracks = _ideal(cameras, _known(pixels, confidence, names, min_confidence))
    base = synchronisation
    clocks = [frame_times(base, c, len(track)) for c, track in enumerate(tracks)]
    start, stop = max(c[0] for c in clocks), min(c[-1] for c in clocks)
    found, centres = [], []
    for a, b in windows(stop - start, count):
        a, b = a + start, b + start
        centres.append(0.5 * (a + b))
        row = np.full(len(names), np.nan)
        inner = [(c >= a - 3 / base.fps) & (c <= b + 3 / base.fps) for c in clocks]
        if min(int(i.sum()) for i in inner) >= 16:
            piece = _Search(
                cameras,
                [t[i] for t, i in zip(tracks, inner, strict=True)],
                [c[i] for c, i in zip(clocks, inner, strict=True)],
                base, 0, max_moments,
            )  # fmt: skip
            row = base.offsets + piece.fraction(np.zeros(len(names)), first)
        found.append(row)
    drift = fit_drift(centres, np.array(found), base.fps, names)
    offsets, rates = with_drift(base.offsets, base.rates, drift)
    evidence = (*base.evidence, *_drift_rows(drift, names))
    doubts = tuple(text for c, text in enumerate(drift.report) if drift.jumping[c])
    warn_of(doubts, "reprojection_drift")
    return drift, replace(base, offsets=offsets, rates=rates, evidence=evidence, doubts=(*base.doubts, *doubts))
