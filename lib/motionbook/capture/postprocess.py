"""Cleaning points over time: short gaps, spikes and noise, each with a record of what was done and what was left.

Three rules hold for everything here. A gap is filled only between two measured frames and only up to a stated length;
what is longer stays NaN, with the reason why it was missing. A cutoff is the frequency at which the result is 3 dB
down, although the filter runs twice. And no points are filtered twice: they carry the steps taken (`Landmarks.steps`).

Other programs' defaults are settings of the same functions (`SETTINGS`): their nominal cutoff is turned into the one
that they reach, their gap limits and spike filters are theirs. Their fills without limit, by the mean of all
coordinates or by the last value, are not offered.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from motionbook.capture.filters import (
    drop_islands,
    drop_jumps,
    fill_gaps,
    hampel,
    low_pass,
    reached_cutoff,
    runs,
)
from motionbook.capture.landmarks import Landmarks


class Gap(NamedTuple):
    """A run of frames, start to stop - 1, without a point: its name, length, why, and whether it was filled."""

    name: str
    start: int
    stop: int
    seconds: float
    reason: str
    filled: bool


def list_gaps(names, missing, filled, fps: float, reasons=None) -> tuple[Gap, ...]:
    """Every gap with its length and its reason, in the order of the points and of time.

    Parameters
    ----------
    names : sequence of str
    missing, filled : (frames, points) bool
        Before filling, and what was filled of it.
    reasons : (frames, points) of str, optional
        Why a point was missing in a frame; a gap gets the most frequent one. "not given" without.
    """
    missing, filled = np.asarray(missing, dtype=bool), np.asarray(filled, dtype=bool)
    if reasons is not None:
        reasons = check_reasons(reasons, missing.shape)
    found = []
    for index, name in enumerate(names):
        for start, stop in runs(missing[:, index]):
            reason = "not given"
            if reasons is not None:
                words, counts = np.unique(reasons[start:stop, index], return_counts=True)
                reason = str(words[counts.argmax()]) or reason
            seconds = (stop - start) / fps
            found.append(Gap(name, int(start), int(stop), seconds, reason, bool(filled[start:stop, index].all())))
    return tuple(found)


def check_reasons(reasons, shape) -> np.ndarray:
    """Reasons as words (frames, points); the codes of `triangulate` are spelt out.

    Raises
    ------
    ValueError
        For another shape.
    """
    reasons = np.asarray(reasons)
    if reasons.shape != tuple(shape):
        raise ValueError(f"reasons: expected one per frame and point {tuple(shape)}, got {reasons.shape}")
    if reasons.dtype.kind not in "iu":
        return reasons.astype(str)
    from motionbook.capture.triangulation import Reason

    words = np.array([Reason(code).name.lower().replace("_", " ") for code in range(len(Reason))])
    return words[reasons]


@dataclass(frozen=True)
class Settings:
    """What `clean` does, in this order; None leaves a step out.

    Attributes
    ----------
    min_island_seconds : float or None
        Shorter measured runs between gaps are dropped.
    max_gap_seconds : float
        Longest gap that is filled.
    min_island_frames, max_gap_frames : int or None
        The same in frames, for programs that count frames whatever the rate; they win over seconds.
    gap_method : "linear" or "cubic"
    hampel_window, hampel_sigmas : int or None, float
    jump_window, jump_metres : int or None, float
        Points further than that from the median of a window of frames are dropped before gaps are filled.
    cutoff : float or None
        Hz at which the result is 3 dB down, or, with ``nominal``, at which one pass of a program that runs its filter
        twice is designed; `clean` then uses the cutoff that program reaches.
    order : int
        Of one pass.
    nominal : bool
    """

    min_island_seconds: float | None = None
    max_gap_seconds: float = 0.4
    min_island_frames: int | None = None
    max_gap_frames: int | None = None
    gap_method: str = "linear"
    hampel_window: int | None = 7
    hampel_sigmas: float = 3.0
    jump_window: int | None = None
    jump_metres: float = 0.04
    cutoff: float | None = 7.0
    order: int = 4
    nominal: bool = False


# Defaults of Pose2Sim 0.10.49; of FreeMoCap 1.8.2, whose gap limit of 10 frames exists and is never used there; and of
# anipose's three-dimensional filter (window 7, 40 in the unit of its calibration, usually mm, then a spline), which has
# no gap limit: ours stands in. Pose2Sim judges a gap as whole frames under 20.
SETTINGS = {
    "motionbook": Settings(),
    "pose2sim": Settings(max_gap_frames=19, min_island_frames=10, hampel_sigmas=2.0, cutoff=6.0, order=2, nominal=True),
    "freemocap": Settings(max_gap_frames=10, hampel_window=None, cutoff=7.0, order=4, nominal=True),
    "anipose": Settings(gap_method="cubic", hampel_window=None, jump_window=7, jump_metres=0.04, cutoff=None),
}


class Cleaned(NamedTuple):
    """Landmarks after `clean`, and what happened to them.

    Attributes
    ----------
    landmarks : Landmarks
        NaN where a gap was too long; confidence 0 there, that of the frames around where it was filled.
    filled, left, dropped : (frames, points) bool
        Gaps closed, gaps left open, measured islands and jumps taken out.
    spikes : (frames, points) bool
        A coordinate was replaced by the median around it.
    gaps : tuple of Gap
    cutoff : float or None
        Hz, where the filter is 3 dB down.
    """

    landmarks: Landmarks
    filled: np.ndarray
    left: np.ndarray
    dropped: np.ndarray
    spikes: np.ndarray
    gaps: tuple[Gap, ...]
    cutoff: float | None


def clean(landmarks: Landmarks, settings: Settings | str = "motionbook", reasons=None) -> Cleaned:
    """Jumps, islands, gaps, spikes and noise taken care of once, in that order, with a record.

    Parameters
    ----------
    landmarks : Landmarks
    settings : Settings or str
        Or the name of one of `SETTINGS`.
    reasons : (frames, points) of str, or of `triangulate`'s codes, optional
        Why points are missing, kept for the list of gaps.

    Raises
    ------
    ValueError
        When these landmarks have been filtered before: twice is a stronger filter than either states.
    KeyError
        For a name that is not in SETTINGS.
    """
    if isinstance(settings, str):
        if settings not in SETTINGS:
            raise KeyError(f"no settings {settings!r}; there are {', '.join(SETTINGS)}")
        settings = SETTINGS[settings]
    fps, names, points = landmarks.fps, landmarks.names, landmarks.positions
    before = [step for step in landmarks.steps if step.startswith("low-pass")]
    if before and settings.cutoff:
        raise ValueError(
            f"landmarks: already filtered ({', '.join(before)}); a second filter would be stronger than stated. Start "
            "from the unfiltered points, or clean with cutoff=None"
        )
    steps = list(landmarks.steps)
    why = np.full(points.shape[:2], "not given", dtype=object)
    if reasons is not None:
        why[:] = check_reasons(reasons, why.shape)
    dropped = np.zeros(points.shape[:2], dtype=bool)
    if settings.jump_window:
        points, jumps = drop_jumps(points, settings.jump_window, settings.jump_metres)
        dropped |= jumps
        why[jumps] = f"jump over {settings.jump_metres:g} m"
        steps.append(f"jumps over {settings.jump_metres:g} m dropped")
    shortest = _seconds(settings.min_island_frames, settings.min_island_seconds, fps)
    if shortest:
        points, islands = drop_islands(points, fps, shortest)
        dropped |= islands
        why[islands] = f"island under {shortest:.3g} s"
        steps.append(f"islands under {shortest:.3g} s dropped")
    missing = np.isnan(points).any(axis=-1)
    limit = _seconds(settings.max_gap_frames, settings.max_gap_seconds, fps)
    points, filled, left = fill_gaps(points, fps, limit, settings.gap_method)
    steps.append(f"gaps up to {limit:.3g} s filled ({settings.gap_method})")
    spikes = np.zeros_like(missing)
    if settings.hampel_window:
        points, changed = hampel(points, settings.hampel_window, settings.hampel_sigmas)
        spikes = changed.any(axis=-1)
        steps.append(f"hampel {settings.hampel_window} frames {settings.hampel_sigmas:g} sigma")
    cutoff = settings.cutoff
    if cutoff:
        cutoff = reached_cutoff(cutoff, fps, settings.order) if settings.nominal else cutoff
        points = low_pass(points, fps, cutoff, settings.order)
        steps.append(f"low-pass {cutoff:.4g} Hz (-3 dB), order {settings.order} twice")
    confidence = _carried(landmarks.confidence, missing, filled)
    result = replace(landmarks, positions=points, confidence=confidence, steps=tuple(steps))
    gaps = list_gaps(names, missing, filled, fps, why)
    return Cleaned(result, filled, left, dropped, spikes, gaps, cutoff or None)


def _seconds(frames: int | None, seconds: float | None, fps: float) -> float | None:
    return frames / fps if frames is not None else seconds


def _carried(confidence: np.ndarray, missing: np.ndarray, filled: np.ndarray) -> np.ndarray:
    """Confidence (frames, points): 0 where nothing is known, the lower of a gap's two edges where it was filled."""
    confidence = np.where(missing & ~filled, 0.0, confidence)
    for index in np.flatnonzero(filled.any(axis=0)):
        for start, stop in runs(filled[:, index]):
            confidence[start:stop, index] = min(confidence[start - 1, index], confidence[stop, index])
    return confidence
