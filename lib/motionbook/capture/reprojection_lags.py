"""Synchronisation of calibrated cameras by the shift that gives the least mean reprojection error."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from motionbook.capture.alignment import known, unpacked
from motionbook.capture.cameras import Camera
from motionbook.capture.clocks import Synchronisation, by_hand, camera_names, find_reference, frame_times, warn_of
from motionbook.capture.lags import Drift, drift_rows, find_peak, fit_drift, windows, with_drift
from motionbook.capture.reprojection_search import Search, Solver, ideal


def shift_errors(
    cameras: Sequence[Camera], pixels, confidence=None, *, camera: int | str, shifts, min_confidence: float = 0.3
) -> list[dict]:
    """Reprojection error over all observations when one camera is read some whole frames later, one row per shift.

    Columns: shift in frames, mean and median error in pixels, observations. Frames outside a camera are left out, the
    other cameras' points in them stay. Frames count from 0 in every camera, whatever its rate.
    """
    names = camera_names([c.name for c in cameras], len(cameras))
    index = find_reference(camera, names)
    tracks = ideal(cameras, known(pixels, confidence, names, min_confidence))
    length = max(len(track) for track in tracks)
    rows = []
    for shift in shifts:
        moved = np.full((len(cameras), length, *tracks[0].shape[1:]), np.nan)
        for c, track in enumerate(tracks):
            frames = np.arange(length) + (int(shift) if c == index else 0)
            good = (frames >= 0) & (frames < len(track))
            moved[c, good] = track[frames[good]]
        errors = Solver(cameras)(moved)
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
    pixels, confidence, fps = unpacked(pixels, confidence, fps)
    names = camera_names([camera.name for camera in cameras], len(cameras))
    if precision not in ("subframe", "frame"):
        raise ValueError(f"precision: expected 'subframe' or 'frame', got {precision!r}")
    if len(cameras) < 2:
        raise ValueError(f"cameras: expected at least 2, got {len(cameras)}")
    first = find_reference(reference, names)
    tracks = ideal(cameras, known(pixels, confidence, names, min_confidence))
    base = by_hand(fps, seconds=np.zeros(len(names)), names=names) if start is None else start
    if base.names != names:
        raise ValueError(f"start: expected the cameras {', '.join(names)}, got {', '.join(base.names)}")
    clocks = [frame_times(base, c, len(track)) for c, track in enumerate(tracks)]
    search = Search(cameras, tracks, clocks, base, max_shift, max_moments)
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
        if curve.tied and precision == "frame":
            doubts.append(
                f"{name}: a frame {'later' if curve.tied > 0 else 'earlier'} fits as well within the error's scatter; "
                "it lies between two frames; precision='subframe' places it there"
            )
    late = shifts / base.fps
    if precision == "subframe":
        late, spread = search.refine(late, first, 4)
    for c, name in enumerate(names):
        if c != first and not spread[c] * base.fps <= 0.5:
            doubts.append(f"{name}: uncertain by {spread[c] * base.fps:.1f} frames; there is too little motion to tell")
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
        Found for the whole recording; each window is searched from there.
    """
    pixels, confidence, _ = unpacked(pixels, confidence, synchronisation.fps)
    names = camera_names([camera.name for camera in cameras], len(cameras))
    first = find_reference(reference, names)
    tracks = ideal(cameras, known(pixels, confidence, names, min_confidence))
    base = synchronisation
    clocks = [frame_times(base, c, len(track)) for c, track in enumerate(tracks)]
    start, stop = max(c[0] for c in clocks), min(c[-1] for c in clocks)
    found, errors, centres = [], [], []
    for a, b in windows(stop - start, count):
        a, b = a + start, b + start
        centres.append(0.5 * (a + b))
        row = np.full(len(names), np.nan)
        errors.append(row)
        inner = [(c >= a - 3 / base.fps) & (c <= b + 3 / base.fps) for c in clocks]
        if min(int(i.sum()) for i in inner) >= 16:
            piece = Search(
                cameras,
                [t[i] for t, i in zip(tracks, inner, strict=True)],
                [c[i] for c, i in zip(clocks, inner, strict=True)],
                base, 0, max_moments,
            )  # fmt: skip
            late, error = piece.refine(np.zeros(len(names)), first, 12)
            row = np.where(error * base.fps < 2, base.offsets + late, np.nan)
            errors[-1] = error
        found.append(row)
    drift = fit_drift(centres, np.array(found), base.fps, names, np.array(errors))
    offsets, rates = with_drift(base.offsets, base.rates, drift)
    evidence = (*base.evidence, *drift_rows(drift, names))
    doubts = tuple(text for c, text in enumerate(drift.report) if drift.jumping[c])
    warn_of(doubts, "reprojection_drift")
    times = base.times
    if times is not None:
        slopes = np.where(drift.drifting, drift.slopes, 0.0)
        starts = np.where(drift.drifting, drift.starts - base.offsets, 0.0)
        times = tuple((clock - a) / (1 + m) for clock, a, m in zip(times, starts, slopes, strict=True))
    return drift, replace(
        base, offsets=offsets, rates=rates, evidence=evidence, doubts=(*base.doubts, *doubts), times=times
    )
