"""Recordings with known clocks for the tests of synchronisation: filmed performers, sounds, lights."""

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.ndimage import gaussian_filter1d

from motionbook.capture import LANDMARKS, Landmarks, observe, semicircle, true_landmarks


def film(clip, offsets, rates, seconds, seed, noise=2.0, skip=2.0):
    """Cameras, and per camera pixels and confidence; camera c takes frame f at the time f / rate - offset.

    The common time 0 is ``skip`` seconds into the clip; the performer's landmarks are splines between its frames.
    """
    truth = true_landmarks(clip)
    path = CubicSpline(np.arange(len(clip)) / clip.fps, truth.positions, axis=0)
    cameras = semicircle(len(offsets), distortion=(-0.02, 0.01, 0.0003, -0.0002, 0.0))
    rng = np.random.default_rng(seed)
    pixels, confidence = [], []
    for camera, offset, rate, length in zip(cameras, offsets, rates, seconds, strict=True):
        count = round(length * rate)
        places = path(np.arange(count) / rate - offset + skip)
        seen = observe(
            Landmarks(LANDMARKS, places, np.ones(places.shape[:2]), rate), [camera], rng, noise=noise, drop_share=0.03
        )
        pixels.append(seen.pixels[0])
        confidence.append(seen.confidence[0])
    return cameras, pixels, confidence


def sound(claps, offset, seconds, seed, rate=48000, stretch=1.0, noise=0.003, gain=1.0):
    """Sound of a camera that is ``offset`` seconds late and whose clock shows ``stretch`` seconds per second.

    A clap is noise that dies away within 20 ms, alike for all cameras; each microphone has its own noise and hum.
    """
    t = np.arange(int(seconds * rate)) / rate
    rng = np.random.default_rng(seed)
    out = noise * rng.standard_normal(len(t)) + 0.02 * np.sin(2 * np.pi * 50 * t + seed)
    for number, clap in enumerate(claps):
        wave = np.random.default_rng(1000 + number)
        start = (clap + offset) * stretch
        grid = np.arange(0, 0.05, 1 / 192000)
        # a microphone hears nothing above half its sampling rate
        shape = 8 * gaussian_filter1d(wave.standard_normal(len(grid)), 12) * np.exp(-grid / 0.008)
        inside = (t >= start) & (t < start + 0.049)
        out[inside] += gain * np.interp((t[inside] - start) / stretch, grid, shape)
    return out, float(rate)


def light(flashes, offset, fps, seconds, seed, exposure=1.0, noise=0.2, base=80.0, height=40.0):
    """Mean brightness (frames,) under lamps lit during ``flashes`` [(on, off), ...] of the common time.

    Frame f is exposed from f / fps - offset on, for a share ``exposure`` of the frame time; the light it gathers is
    the overlap with the time a lamp is lit.
    """
    start = np.arange(round(seconds * fps)) / fps - offset
    stop = start + exposure / fps
    lit = sum(np.clip(np.minimum(stop, off) - np.maximum(start, on), 0, None) for on, off in flashes)
    rng = np.random.default_rng(seed)
    return base + height * lit * fps / exposure + noise * rng.standard_normal(len(start))
