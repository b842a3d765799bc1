"""How generated clips move, apart from how near they come to the recording: foot skate, jitter, spectrum.

Errors against the recording punish every motion but one. These measures ask what people see whichever motion it is:
do planted feet slide, is the motion jerky or too smooth, and how much of it is slow or fast.

Sources: log dimensionless jerk after Balasubramanian et al. 2015, on the speed of world places.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics

BANDS = ((0.0, 1.0), (1.0, 3.0), (3.0, 6.0), (6.0, 15.0))  # Hz; the last ends at half of 30 frames per second
FEET = ("LeftFoot", "LeftToe", "RightFoot", "RightToe")
PLANTED_SPEED = 0.05  # m/s; cleaning's threshold for a foot that stands
MEASURES = ("foot_skate_cm_s", "jerk_m_s3", "ldlj", *(f"power_{low:g}_{high:g}_hz" for low, high in BANDS))


def motion_panel(clips_by_system: Mapping[str, Sequence[Clip]], *, contacts: str | None = "GT"):
    """Foot skate, jitter and spectrum of every clip of every system.

    Parameters
    ----------
    clips_by_system : mapping of system to sequence of Clip
        LaFAN1's joints; metres.
    contacts : str or None
        The system that says when a foot stands, frame by frame, so that sliding does not hide a contact; all systems
        then need its clips' number and lengths. None: each clip by its own feet.

    Returns
    -------
    pandas.DataFrame
        One row per system and clip number, columns system, clip and:

        ``foot_skate_cm_s``
            Mean horizontal speed of ankles and toes while they stand (slower than 5 cm/s); NaN if none ever does.
        ``jerk_m_s3``
            Mean length of the third derivative of all joints' world places.
        ``ldlj``
            Log dimensionless jerk, mean over joints that move; more negative is less smooth.
        ``power_<low>_<high>_hz``
            Power of joint velocities in the band, (cm/s)^2, mean over joints.
    """
    import pandas as pd

    names = list(clips_by_system)
    if not names:
        raise ValueError("motion_panel: expected at least one system, got none")
    standing = None
    if contacts is not None:
        if contacts not in clips_by_system:
            raise KeyError(
                f"contacts: no system {contacts!r}, there are {', '.join(names)}; None takes each clip's own"
            )
        standing = [_standing(clip) for clip in clips_by_system[contacts]]
    rows = []
    for system, clips in clips_by_system.items():
        if standing is not None and [len(c) for c in clips] != [len(c) for c in clips_by_system[contacts]]:
            raise ValueError(f"{system}: expected as many clips of the same lengths as {contacts} has")
        for number, clip in enumerate(clips):
            feet = _standing(clip) if standing is None else standing[number]
            rows.append({"system": system, "clip": number, **_measures(clip, feet)})
    return pd.DataFrame(rows)


def motion_summary(panel, *, seed: int = 0, draws: int = 1000):
    """Mean of every measure by system with its 95 % interval over clips.

    Parameters
    ----------
    panel : data frame
        From ``motion_panel``.
    seed, draws : int
        Of the bootstrap over clips.

    Returns
    -------
    pandas.DataFrame
        Columns system, measure, mean, low, high, n_clips; NaN intervals for one clip.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    rows = []
    for system, part in panel.groupby("system", sort=False):
        for measure in MEASURES:
            values = part[measure].to_numpy()
            values = values[np.isfinite(values)]
            low = high = mean = float("nan")
            if len(values):
                mean = float(values.mean())
            if len(values) > 1:
                means = values[rng.integers(0, len(values), (draws, len(values)))].mean(axis=1)
                low, high = (float(x) for x in np.quantile(means, (0.025, 0.975)))
            rows.append((system, measure, mean, low, high, len(values)))
    return pd.DataFrame(rows, columns=["system", "measure", "mean", "low", "high", "n_clips"])


def motion_table(summary):
    """The means of ``motion_summary`` as a table: a row per system, a column per measure, then n_clips."""
    table = summary.pivot(index="system", columns="measure", values="mean")
    table = table.loc[list(dict.fromkeys(summary.system)), list(MEASURES)]
    return table.join(summary.groupby("system").n_clips.max())


def mean_spectra(clips_by_system: Mapping[str, Sequence[Clip]]):
    """Power of joint velocities by frequency, mean over joints and clips.

    Returns
    -------
    pandas.DataFrame
        Columns system, frequency (Hz) and power, (cm/s)^2 per Hz. Clips of a system need one length.
    """
    import pandas as pd

    parts = []
    for system, clips in clips_by_system.items():
        if len({(len(clip), clip.fps) for clip in clips}) != 1:
            raise ValueError(f"{system}: expected clips of one length and frame rate")
        spectra = [_spectrum(forward_kinematics(clip).positions, clip.fps) for clip in clips]
        frequency = spectra[0][0]
        power = np.mean([s[1] for s in spectra], axis=0) / frequency[1]
        parts.append(pd.DataFrame({"system": system, "frequency": frequency, "power": power}))
    return pd.concat(parts, ignore_index=True)


def _measures(clip: Clip, standing: np.ndarray) -> dict[str, float]:
    if len(clip) < 5:
        raise ValueError(f"motion_panel: expected clips of 5 frames or more, got {len(clip)}")
    places = forward_kinematics(clip).positions
    feet = places[:, [clip.skeleton.index(name) for name in FEET]]
    slide = 100.0 * np.linalg.norm(np.diff(feet[..., [0, 2]], axis=0), axis=-1) * clip.fps
    velocity = np.diff(places, axis=0) * clip.fps
    jerk = np.diff(velocity, n=2, axis=0) * clip.fps**2
    size = np.linalg.norm(jerk, axis=-1)
    speed = np.linalg.norm(velocity, axis=-1)
    peak = speed.max(axis=0)
    moving = peak > 1e-6
    duration = len(velocity) / clip.fps
    effort = (size[:, moving] ** 2).sum(axis=0) / clip.fps * duration**3 / peak[moving] ** 2
    # motion at constant speed has no jerk at all, and no logarithm
    smooth = -np.log(np.maximum(effort, np.finfo(float).tiny))
    frequency, power = _spectrum(places, clip.fps)
    measures = {
        "foot_skate_cm_s": float(slide[standing].mean()) if standing.any() else float("nan"),
        "jerk_m_s3": float(size.mean()),
        "ldlj": float(smooth.mean()) if moving.any() else float("nan"),
    }
    for low, high in BANDS:
        inside = (frequency >= low) & ((frequency < high) | (high == BANDS[-1][1]))
        measures[f"power_{low:g}_{high:g}_hz"] = float(power[inside].sum())
    return measures


def _standing(clip: Clip) -> np.ndarray:
    """Whether each of ``FEET`` is slower than ``PLANTED_SPEED`` from a frame to the next, (frames - 1, 4)."""
    places = forward_kinematics(clip).positions[:, [clip.skeleton.index(name) for name in FEET]]
    return np.linalg.norm(np.diff(places, axis=0), axis=-1) * clip.fps < PLANTED_SPEED


def _spectrum(places, fps: float):
    """Frequencies and power of joint velocities, (cm/s)^2: the powers add up to the mean square over a Hann window."""
    velocity = 100.0 * np.diff(places, axis=0) * fps
    window = np.hanning(len(velocity) + 2)[1:-1]
    window /= np.sqrt(np.mean(window**2))
    power = np.abs(np.fft.rfft(velocity * window[:, None, None], axis=0)) ** 2 / len(velocity) ** 2
    twice = np.full(len(power), 2.0)
    twice[0] = 1.0
    if len(velocity) % 2 == 0:
        twice[-1] = 1.0
    return np.fft.rfftfreq(len(velocity), 1 / fps), twice * power.sum(axis=-1).mean(axis=-1)
