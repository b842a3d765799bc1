"""Curves in time: minimum-jerk moves between held values, noise with a given spectrum, breathing, rubbing.

A curve is described by keys, each of which starts at a moment and takes the value from wherever it is then to the
key's own. Keys may overlap: the later one takes over smoothly, which is how people pass through a via point.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot


class Key(NamedTuple):
    """A move that starts at ``start`` (s), takes ``duration`` (s) and ends at ``value`` (numbers, or wxyz)."""

    start: float
    duration: float
    value: np.ndarray


def minimum_jerk(share) -> np.ndarray:
    """Share of a reaching movement done at a share of its time: 10 s^3 - 15 s^4 + 6 s^5, 0 before and 1 after.

    Flash and Hogan (1985): the path of a hand from rest to rest has this profile, of least squared jerk.
    """
    s = np.clip(share, 0.0, 1.0)
    return s**3 * (10.0 + s * (6.0 * s - 15.0))


def progress(key: Key, seconds) -> np.ndarray:
    """Share of a key's move that is done at each time (frames,)."""
    return minimum_jerk((np.asarray(seconds) - key.start) / key.duration)


def blend_keys(first, keys: Iterable[Key], seconds) -> np.ndarray:
    """Numbers (frames, k) that start at ``first`` (k,) and follow the keys at the times ``seconds`` (frames,)."""
    values = np.repeat(np.atleast_2d(np.asarray(first, dtype=np.float64)), len(seconds), axis=0)
    for key in keys:
        values += progress(key, seconds)[:, None] * (key.value - values)
    return values


def slerp_keys(first, keys: Iterable[Key], seconds) -> np.ndarray:
    """Rotations (frames, 4) that start at ``first`` (4,) and follow the keys along shortest arcs."""
    turns = np.repeat(np.atleast_2d(np.asarray(first, dtype=np.float64)), len(seconds), axis=0)
    for key in keys:
        later = int(np.searchsorted(seconds, key.start))
        turns[later:] = rot.slerp(turns[later:], key.value, progress(key, seconds[later:]))
    return turns


def coloured_noise(frames: int, channels: int, fps: float, rng: np.random.Generator, corner: float, slope: float):
    """Gaussian noise (frames, channels) of unit expected variance whose power is flat up to ``corner`` (Hz) and then
    falls as frequency to the power -``slope``.

    A longer stretch than asked for is made and cut, so that the ends do not match up as one period of a Fourier
    series would. Above 6 Hz, where people do not sway, the spectrum is closed smoothly.
    """
    length = frames + int(np.ceil(3.0 * fps / corner))
    frequency = np.fft.rfftfreq(length, 1.0 / fps)
    power = (frequency**2 + corner**2) ** (-0.5 * slope) * np.exp(-((frequency / 6.0) ** 4))
    power[0] = 0.0
    spectrum = rng.standard_normal((len(frequency), channels)) + 1j * rng.standard_normal((len(frequency), channels))
    noise = np.fft.irfft(spectrum * np.sqrt(power / (2.0 * power.sum()))[:, None], length, axis=0)
    # irfft of N(0,1) coefficients with sum of power P has variance 4 P / length^2
    return noise[:frames] * (length / np.sqrt(2.0))


def breathing(frames: int, fps: float, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Depth of breath (frames,), about -1 (out) to 1 (in), at about ``rate`` breaths per second.

    Rate and depth wander by about a tenth, and breathing in takes less time than breathing out, as at rest.
    """
    wander = coloured_noise(frames, 2, fps, rng, corner=0.05, slope=2.0)
    phase = 2.0 * np.pi * (rng.random() + np.cumsum(rate * np.exp(0.12 * wander[:, 0])) / fps)
    return np.exp(0.15 * wander[:, 1]) * (np.sin(phase + 0.45 * np.sin(phase)))


class Wiggle(NamedTuple):
    """A back-and-forth of the hand while it scratches or rubs: Hz, direction and size (3,) in metres, from-to (s)."""

    frequency: float
    swing: np.ndarray
    start: float
    stop: float


def wiggle_path(wiggle: Wiggle, seconds, rng: np.random.Generator) -> np.ndarray:
    """Offsets (frames, 3) of a wiggle, faded in and out over a quarter of a second, in one to three bursts."""
    seconds = np.asarray(seconds)
    fps = 1.0 / (seconds[1] - seconds[0])
    wander = coloured_noise(len(seconds), 2, fps, rng, corner=0.3, slope=2.0)
    phase = 2.0 * np.pi * np.cumsum(wiggle.frequency * np.exp(0.2 * wander[:, 0])) / fps
    bursts = int(rng.integers(1, 4)) if wiggle.stop - wiggle.start > 1.2 else 1
    edges = np.linspace(wiggle.start, wiggle.stop, bursts + 1)
    envelope = np.zeros(len(seconds))
    for begin, end in pairwise(edges):
        end = begin + (end - begin) * (0.8 if bursts > 1 else 1.0)
        envelope += minimum_jerk((seconds - begin) / 0.25) * (1.0 - minimum_jerk((seconds - end + 0.25) / 0.25))
    return (envelope * np.exp(0.25 * wander[:, 1]) * np.sin(phase))[:, None] * wiggle.swing
