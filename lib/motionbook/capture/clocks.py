"""Clocks of several cameras: how their frames lie on one time axis.

Camera c takes its frame f at f = rate * (t + offset) of the common time t (seconds, 0 at the reference camera's first
frame). A positive offset means that the camera is *late*: what the reference shows in frame f shows up ``offset``
seconds later in its file, because it was started earlier. The rate is in frames per second of the common clock, so a
29.97 fps camera beside a 30 fps one, or a crystal that runs fast, needs no special case. Real clocks with dropped
frames are kept frame by frame in ``times``.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from motionbook.checks import check_finite

# What cameras are built to run at; "29.97" and "59.94" are roundings of the NTSC fractions.
_RATES = tuple(Fraction(n, d) for n in (24, 25, 30, 48, 50, 60, 90, 100, 120, 240) for d in (1,)) + tuple(
    Fraction(1000 * n, 1001) for n in (24, 30, 48, 60, 120, 240)
)


@dataclass(frozen=True, eq=False)
class Synchronisation:
    """Where each camera's frames lie on the common clock, and how sure that is.

    Attributes
    ----------
    names : tuple of str
        The cameras.
    fps : float
        Frames per second of the common clock, the reference camera's.
    offsets : (cameras,)
        Seconds by which a camera is late (see the module's docstring); 0 for the reference.
    rates : (cameras,)
        Frames per second of each camera on the common clock.
    score : (cameras,)
        How well the best place fits, in the method's unit: correlation for clap and motion, share of matched flashes,
        mean reprojection error in pixels; NaN where nothing was measured.
    margin : (cameras,)
        1 when no other place fits nearly as well, 0 when another does as well as the best; NaN if not measured.
    spread : (cameras,)
        Standard error of the offset in seconds, NaN if not measured.
    method : str
    evidence : tuple of dict
        Rows of a table: what was compared and what came out.
    doubts : tuple of str
        What was warned about; empty when nothing speaks against the result.
    times : tuple of (frames,) arrays, or None
        Time in seconds of every frame on the common clock where it was measured (timestamps); offsets and rates then
        are the straight lines through them.
    """

    names: tuple[str, ...]
    fps: float
    offsets: np.ndarray
    rates: np.ndarray
    score: np.ndarray
    margin: np.ndarray
    spread: np.ndarray
    method: str
    evidence: tuple[dict, ...] = ()
    doubts: tuple[str, ...] = ()
    times: tuple[np.ndarray, ...] | None = None

    def __post_init__(self):
        names = tuple(self.names)
        for field in ("offsets", "rates", "score", "margin", "spread"):
            value = np.array(getattr(self, field), dtype=np.float64)
            if value.shape != (len(names),):
                raise ValueError(f"{field}: expected one number per camera ({len(names)}), got {value.shape}")
            object.__setattr__(self, field, value)
        check_finite(self.offsets, "offsets")
        if not (np.isfinite(self.rates).all() and (self.rates > 0).all()):
            raise ValueError(f"rates: expected positive frames per second per camera, got {self.rates}")
        if self.times is not None and len(self.times) != len(names):
            raise ValueError(f"times: expected one array per camera ({len(names)}), got {len(self.times)}")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "fps", float(check_fps(self.fps)))

    @property
    def frames_late(self) -> np.ndarray:
        """Offsets (cameras,) in frames of each camera."""
        return self.offsets * self.rates


def check_fps(fps, name: str = "fps") -> Fraction | float:
    """The rate, or ValueError when it is not a positive number."""
    if not (np.isfinite(float(fps)) and fps > 0):
        raise ValueError(f"{name}: expected a positive number of frames per second, got {fps}")
    return fps


def exact_rate(rate) -> Fraction:
    """The rational frame rate meant by a number or a text such as ``29.97`` or ``"30000/1001"``.

    A rate within 0.02 % of one that cameras are built for is that one (29.97 is 30000/1001, 30 stays 30: they are
    0.1 % apart, 3.6 s an hour); any other is kept as a fraction with a denominator of at most 1001.
    """
    try:
        value = Fraction(rate) if isinstance(rate, str | int | Fraction) else Fraction(float(rate))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise ValueError(f"rate: expected frames per second such as 30, 29.97 or '30000/1001', got {rate!r}") from None
    check_fps(value, "rate")
    nearest = min(_RATES, key=lambda known: abs(known - value))
    return nearest if abs(nearest - value) < value / 5000 else value.limit_denominator(1001)


def camera_rates(fps, cameras: int) -> np.ndarray:
    """Rates (cameras,) from one number for all or one for each."""
    rates = np.array(fps, dtype=np.float64)
    if rates.ndim and rates.shape != (cameras,):
        raise ValueError(f"fps: expected one number, or one for each of {cameras} cameras, got shape {rates.shape}")
    for rate in rates.ravel():
        check_fps(rate)
    return np.broadcast_to(rates, (cameras,)).copy()


def camera_names(names, cameras: int) -> tuple[str, ...]:
    """The names given, checked, or cam01, cam02, ..."""
    if names is None:
        return tuple(f"cam{index + 1:02d}" for index in range(cameras))
    names = tuple(str(name) for name in names)
    if len(names) != cameras or len(set(names)) != cameras:
        raise ValueError(f"names: expected {cameras} different camera names, got {', '.join(names) or 'none'}")
    return names


def find_reference(reference: int | str, names: Sequence[str]) -> int:
    """Index of the reference camera, given by index or name."""
    if isinstance(reference, str):
        if reference not in names:
            raise KeyError(f"reference: no camera {reference!r}; there are {', '.join(names)}")
        return list(names).index(reference)
    if not 0 <= reference < len(names):
        raise KeyError(f"reference: expected 0 to {len(names) - 1}, got {reference}")
    return int(reference)


def by_hand(fps, *, frames=None, seconds=None, names=None) -> Synchronisation:
    """Offsets found by eye, as StayStill's were with a clapperboard (section 3.1.1).

    Parameters
    ----------
    fps : float or (cameras,)
    frames, seconds : (cameras,)
        By how much each camera is late, in its own frames or in seconds; one of the two. For a clapperboard: the
        frame (or time) at which it shuts in each camera. The first camera is the reference.
    names : sequence of str, optional
    """
    if (frames is None) == (seconds is None):
        raise ValueError("by_hand: expected either frames or seconds, one number per camera")
    late = np.array(frames if seconds is None else seconds, dtype=np.float64)
    if late.ndim != 1 or not len(late):
        raise ValueError(f"by_hand: expected one number per camera, got shape {late.shape}")
    check_finite(late, "frames" if seconds is None else "seconds")
    rates = camera_rates(fps, len(late))
    offsets = late / rates if seconds is None else late
    unknown = np.full(len(late), np.nan)
    return Synchronisation(
        camera_names(names, len(late)), rates[0], offsets - offsets[0], rates, unknown, unknown, unknown, "by hand"
    )


def by_timestamps(times, *, names=None, stated_fps=None, reference: int | str = 0) -> Synchronisation:
    """Synchronisation from the real time of every frame, dropped frames and uneven clocks included.

    The frame period is the one whose multiples the timestamps lie closest to, which neither jitter nor dropped frames
    move; the frames a camera dropped are the multiples nobody took.

    Parameters
    ----------
    times : sequence of (frames,)
        Seconds, one array per camera, all on the same computer clock.
    stated_fps : float or (cameras,), optional
        What the file headers say; a warning names the cameras whose timestamps differ by more than 0.2 %.

    Raises
    ------
    ValueError
        When a camera has fewer than three frames or its timestamps do not increase.
    """
    names = camera_names(names, len(times))
    first = find_reference(reference, names)
    clocks = []
    for name, stamps in zip(names, times, strict=True):
        stamps = np.asarray(stamps, dtype=np.float64)
        if stamps.ndim != 1 or len(stamps) < 3:
            raise ValueError(f"{name}: times: expected at least 3 timestamps, got shape {stamps.shape}")
        check_finite(stamps, f"{name}: times")
        back = np.flatnonzero(np.diff(stamps) <= 0)
        if len(back):
            raise ValueError(
                f"{name}: times: expected every frame later than the one before; frame {back[0] + 1} "
                f"({stamps[back[0] + 1]:.6f} s) is not, {len(back)} such frames in all"
            )
        clocks.append(stamps)
    # the common time is 0 where the reference camera's clock has its first tick, jitter aside
    period, slots = frame_slots(clocks[first])
    zero = float(np.mean(clocks[first] - period * slots))
    clocks = [stamps - zero for stamps in clocks]
    rates, offsets, spread, evidence, doubts = [], [], [], [], []
    stated = None if stated_fps is None else camera_rates(stated_fps, len(names))
    for index, (name, stamps) in enumerate(zip(names, clocks, strict=True)):
        period, slots = frame_slots(stamps)
        start = float(np.mean(stamps - period * slots))
        off = stamps - start - period * slots
        mean = float((len(stamps) - 1) / (stamps[-1] - stamps[0]))
        dropped = int(slots[-1] - slots[0] + 1 - len(stamps))
        rates.append(1 / period)
        offsets.append(-start)
        spread.append(off.std() / np.sqrt(len(stamps)))
        evidence.append(
            {
                "camera": name,
                "frames": len(stamps),
                "mean fps": mean,
                "clock fps": 1 / period,
                "dropped frames": dropped,
                "dropped after frames": tuple(int(i) for i in np.flatnonzero(np.diff(slots) > 1)),
                "longest interval [ms]": 1000 * float(np.diff(stamps).max()),
                "jitter [ms]": 1000 * float(off.std()),
            }
        )
        if stated is not None and abs(mean / stated[index] - 1) > 0.002:
            doubts.append(
                f"{name}: the header says {stated[index]:g} fps, its timestamps {mean:.3f} ({dropped} dropped frames); "
                "the timestamps are used"
            )
    offsets = np.array(offsets)
    offsets[first] = 0.0
    warn_of(doubts, "by_timestamps")
    unknown = np.full(len(names), np.nan)
    return Synchronisation(
        names, rates[first], offsets, rates, unknown, unknown, spread, "timestamps", tuple(evidence), tuple(doubts),
        tuple(clocks),
    )  # fmt: skip


def frame_slots(stamps: np.ndarray) -> tuple[float, np.ndarray]:
    """Frame period in seconds and the multiple of it, (frames,) int from 0, at which each frame was taken."""
    stamps = np.asarray(stamps, dtype=np.float64) - stamps[0]
    middle = float(np.median(np.diff(stamps)))
    # A period fits when all stamps share one phase of it: the peak of their spectrum near the median interval.
    length = stamps[-1] / middle
    step = 1 / (8 * max(length, 1.0) * middle)
    rates = np.arange(0.93 / middle, 1.07 / middle + step, step)
    # twice: round the coarse peak, then finely
    for _ in range(2):
        phases = np.exp(2j * np.pi * np.outer(rates, stamps)).mean(axis=1)
        best = int(np.abs(phases).argmax())
        rates = np.linspace(rates[best] - step, rates[best] + step, 81)
    period = 1 / rates[40]
    phase = np.angle(np.exp(2j * np.pi * stamps / period).mean()) / (2 * np.pi) * period
    slots = np.rint((stamps - phase) / period).astype(int)
    # A slot holds one frame; one that came a little late must not push out its successor.
    order = np.arange(len(slots))
    slots = np.maximum.accumulate(slots - order) + order
    if len(stamps) > 3:
        period = float(np.polyfit(slots, stamps, 1)[0])
    return period, slots - slots[0]


def frame_times(synchronisation: Synchronisation, camera: int | str, frames: int) -> np.ndarray:
    """Common time (frames,) in seconds of a camera's frames."""
    camera = find_reference(camera, synchronisation.names)
    if synchronisation.times is not None:
        times = synchronisation.times[camera]
        if len(times) != frames:
            raise ValueError(
                f"{synchronisation.names[camera]}: {frames} frames but {len(times)} timestamps; decode-count the video "
                "and match them first"
            )
        return times
    return np.arange(frames) / synchronisation.rates[camera] - synchronisation.offsets[camera]


def warn_of(doubts: Sequence[str], method: str) -> None:
    """One warning that lists all doubts."""
    if doubts:
        warnings.warn(f"{method}: " + "; ".join(doubts), stacklevel=3)


def summary(synchronisation: Synchronisation) -> list[dict]:
    """One row per camera: how late in frames and seconds, rate, score, margin and standard error."""
    s = synchronisation
    return [
        {
            "camera": name,
            "late [frames]": float(s.frames_late[c]),
            "late [s]": float(s.offsets[c]),
            "rate [fps]": float(s.rates[c]),
            "score": float(s.score[c]),
            "margin": float(s.margin[c]),
            "standard error [frames]": float(s.spread[c] * s.rates[c]),
            "method": s.method,
        }
        for c, name in enumerate(s.names)
    ]
