"""Does embedded idle motion move like recorded idle motion? Speed, stillness and spectrum, side by side.

``motionbook.inbetweening.naturalness.compare_idle`` makes the whole table, with how predictable the motion is.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics

STILL_SPEED = 0.02  # a frame is still when the mean speed of its joints is below this, m/s
SLOPE_BAND = (0.1, 3.0)  # Hz
_SEGMENT = 10.0  # seconds of a spectrum's segment
FACTOR = 2.0  # how far apart two statistics may be

SPEED, STILL, SLOPE = "median joint speed (m/s)", "share of still frames", "spectral slope of joint places"


def motion_statistics(clips: Iterable[Clip]) -> dict[str, float]:
    """Median joint speed, share of still frames and spectral slope of a set of clips on one kind of skeleton.

    Speeds are those of the world places of all joints from frame to frame; the median is over joints and frames of
    all clips, a frame is still when the mean over its joints is below `STILL_SPEED`. The slope is that of the power
    of all joint coordinates against frequency, both logarithmic, over `SLOPE_BAND`: Welch's method with 10 s segments
    that have their trend removed, powers averaged over coordinates, slopes averaged over the clips long enough.

    Raises
    ------
    ValueError
        Without clips, or when none is as long as a segment.
    """
    speeds, frame_speeds, slopes = [], [], []
    for clip in clips:
        places = forward_kinematics(clip).positions
        speed = np.linalg.norm(np.diff(places, axis=0), axis=-1) * clip.fps
        speeds.append(speed.ravel())
        frame_speeds.append(speed.mean(axis=1))
        if clip.duration >= _SEGMENT:
            slopes.append(spectral_slope(places, clip.fps))
    if not slopes:
        raise ValueError(f"clips: expected at least one of {_SEGMENT:g} s or more, got {len(speeds)} shorter ones")
    still = np.concatenate(frame_speeds) < STILL_SPEED
    return {
        SPEED: float(np.median(np.concatenate(speeds))),
        STILL: float(still.mean()),
        SLOPE: float(np.mean(slopes)),
    }


def spectral_slope(places, fps: float) -> float:
    """Slope of log power against log frequency of places (frames, joints, 3); noise of power 1/f^k gives -k."""
    from scipy.signal import welch

    segment = round(_SEGMENT * fps)
    frequency, power = welch(np.reshape(places, (len(places), -1)), fps, nperseg=segment, axis=0, detrend="linear")
    band = (frequency >= SLOPE_BAND[0]) & (frequency <= SLOPE_BAND[1])
    return float(np.polyfit(np.log(frequency[band]), np.log(power[band].mean(axis=1)), 1)[0])


def comparison(measured: Mapping[str, float], recorded: Mapping[str, float]):
    """One row per statistic of ``measured``: embedded, recorded, their ratio, and whether it is within a factor of 2.

    Raises
    ------
    KeyError
        When a statistic was not recorded.
    """
    import pandas as pd

    missing = [name for name in measured if name not in recorded]
    if missing:
        raise KeyError(f"recorded: no value for {', '.join(missing)}; measure the reference again")
    rows = []
    for name, value in measured.items():
        ratio = value / recorded[name]
        rows.append((name, value, float(recorded[name]), ratio, bool(1.0 / FACTOR <= ratio <= FACTOR)))
    return pd.DataFrame(rows, columns=["statistic", "embedded", "recorded", "ratio", "within factor 2"])
