"""What kind of motion is it? Speed, stillness, range of motion and energy by frequency, per clip and per class.

Everything that grows with the time one looks is taken in windows of four seconds, so that a gesture of six seconds and
two minutes of waiting compare. Speeds are those of joints in the world on the clip's own skeleton; of a data set on one
skeleton they compare between people.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType

import numpy as np

from motionbook import rotations as rot
from motionbook.cleaning.motion_signals import lag
from motionbook.clip import Clip
from motionbook.data.layouts import ClipFile, load_clip
from motionbook.kinematics import forward_kinematics
from motionbook.parallel import map_jobs
from motionbook.rigs import SIDES, find_rig
from motionbook.synthesis.naturalness import STILL_SPEED

WINDOW_SECONDS = 4.0
# Hz: sway and posture, gestures, quick movements, tremor and the noise of a capture
BANDS = ((0.0, 1.0), (1.0, 3.0), (3.0, 8.0), (8.0, np.inf))
PARTS = ("head", "arms", "trunk", "legs")
# m/s of a frame's mean joint speed: somebody does something
MOVE_SPEED = 0.1
_HEADINGS = {
    "speed": "speed [cm/s]",
    "fast": "fast [cm/s]",
    "still": "still [%]",
    "moves": "moves [1/min]",
    **{part: f"{part} [deg]" for part in PARTS},
    "sway": "sway [cm]",
    "energy": "energy [cm²/s²]",
}


def clip_statistics(clip: Clip) -> dict[str, float]:
    """How one clip moves.

    Returns
    -------
    dict
        ``speed``: mean joint speed in m/s, median of the frames; ``fast``: its 95 % quantile. ``still``: share of the
        frames with a mean joint speed below 2 cm/s (`motionbook.synthesis.naturalness.STILL_SPEED`). ``moves``: per
        minute, how often it rises over 10 cm/s. ``head``, ``arms``, ``trunk``, ``legs``: range of motion in radians,
        the angle from their joints' mean rotation that 95 % of a window's frames stay within, mean over the joints of
        the part and the windows; NaN when the joint names do not tell the part. ``sway``: metres that the root is
        away from its mean place in the window, horizontally, 95 % quantile. ``energy``: mean squared joint speed in
        m²/s², and ``band 0`` to ``band 3`` the shares of it in `BANDS`.

    Raises
    ------
    ValueError
        For a clip of fewer than 2 seconds.
    """
    if clip.duration < 2.0 - 1e-6:
        raise ValueError(f"clip: expected at least 2 s, got {clip.duration:.2f} s")
    places = forward_kinematics(clip).positions
    step = lag(clip.fps)
    velocity = (places[step:] - places[:-step]) * (clip.fps / step)
    speed = np.linalg.norm(velocity, axis=-1).mean(axis=1)
    moving = speed > MOVE_SPEED
    windows = _windows(len(clip), clip.fps)
    energies = _energies(velocity.reshape(len(velocity), -1), clip.fps, len(clip.skeleton))
    total = sum(energies)
    return {
        "speed": float(np.median(speed)),
        "fast": float(np.quantile(speed, 0.95)),
        "still": float((speed < STILL_SPEED).mean()),
        "moves": 60.0 * float(moving[0] + (moving[1:] & ~moving[:-1]).sum()) / clip.duration,
        **_ranges(clip, windows),
        "sway": float(np.mean([_sway(places[a:b, 0]) for a, b in windows])),
        "energy": total,
        **{f"band {i}": energy / total if total > 0 else np.nan for i, energy in enumerate(energies)},
    }


def _windows(frames: int, fps: float) -> list[tuple[int, int]]:
    """Equal windows [start, stop) of about four seconds that cover all frames; a shorter clip is one."""
    count = max(1, round(frames / (WINDOW_SECONDS * fps)))
    edges = np.linspace(0, frames, count + 1).round().astype(int)
    return [(int(a), int(b)) for a, b in pairwise(edges)]


def _energies(velocity: np.ndarray, fps: float, joints: int) -> list[float]:
    """Mean squared joint speed in m²/s² by band, from the spectra (Welch 1967) of velocities (frames, coordinates)."""
    from scipy.signal import welch

    segment = min(round(WINDOW_SECONDS * fps), len(velocity))
    frequency, density = welch(velocity, fps, nperseg=segment, axis=0, detrend=False)
    power = density.sum(axis=1) * (frequency[1] - frequency[0]) / joints
    return [float(power[(frequency >= low) & (frequency < high)].sum()) for low, high in BANDS]


def _ranges(clip: Clip, windows: Sequence[tuple[int, int]]) -> dict[str, float]:
    parts = _joints_of_parts(clip)
    used = sorted({joint for joints in parts.values() for joint in joints})
    if not used:
        return dict.fromkeys(PARTS, np.nan)
    angles = np.zeros(len(clip.skeleton))
    for start, stop in windows:
        # in one half of the sphere, the mean of unit quaternions is all but their mean rotation
        some = rot.unroll(clip.rotations[start:stop, used])
        mean = rot.normalize(some.mean(axis=0))
        angles[used] += np.quantile(rot.angle_between(some, mean), 0.95, axis=0)
    angles /= len(windows)
    return {part: float(angles[joints].mean()) if joints else np.nan for part, joints in parts.items()}


def _joints_of_parts(clip: Clip) -> dict[str, list[int]]:
    try:
        rig = find_rig(clip.skeleton, armless=True)
    except ValueError:
        return {part: [] for part in PARTS}

    def limbs(*names):
        found = (rig.limbs.get((side, name)) for side in SIDES for name in names)
        return [joint for joint in found if joint is not None]

    head = [*rig.neck, *([] if rig.head is None else [rig.head])]
    return {
        "head": head,
        "arms": limbs("upper_arm", "forearm"),
        "trunk": [rig.hips, *rig.spine],
        "legs": limbs("thigh", "shin"),
    }


def _sway(root: np.ndarray) -> float:
    flat = root[:, [0, 2]]
    return float(np.quantile(np.linalg.norm(flat - flat.mean(axis=0), axis=-1), 0.95))


def listed_files(folder: str | Path, entries: Iterable[Mapping], read: Mapping | None = None) -> list[ClipFile]:
    """Entries of a ``dataset.json`` as files; ``read`` has keywords of ``read_bvh``, by default for own files."""
    read = MappingProxyType(dict(read or {"metres_per_unit": 0.01, "positions": "replace", "up": "Y"}))
    return [ClipFile(Path(folder) / e["path"], e["subject"], e["group"], e["label"], read=read) for e in entries]


def dataset_statistics(files: Sequence[ClipFile], jobs: int | None = None, function=clip_statistics) -> list[dict]:
    """`clip_statistics` of every file: one dict per clip, with subject, group, label, clip (its path) and frames.

    A clip of fewer than two seconds is left out. Clips are read one at a time by each process.
    """
    # read-only mappings do not travel to other processes
    plain = [{**vars(file), "read": dict(file.read)} for file in files]
    rows = map_jobs(partial(_of_file, function=function), plain, jobs=jobs, describe="measuring")
    return [row for row in rows if row is not None]


def _of_file(fields: dict, function) -> dict | None:
    file = ClipFile(**{**fields, "read": MappingProxyType(fields["read"])})
    clip = load_clip(file)
    if clip.duration < 2.0 - 1e-6:
        return None
    about = {"clip": file.path.as_posix(), "subject": file.subject, "group": file.group, "label": file.label}
    return {**about, "frames": len(clip), **function(clip)}


def class_statistics(rows: Iterable[Mapping], class_of):
    """Means of `dataset_statistics` by class, every clip counting by its frames.

    Parameters
    ----------
    rows : iterable of mappings
    class_of : function of (group, label)
        The name of a clip's class or classes, a str or several; e.g. `motionbook.cleaning.summary.motion_rows`.

    Returns
    -------
    pandas.DataFrame
        Indexed by class in order of appearance: clips; speed and fast in cm/s, still in %, moves per minute; range of
        motion in degrees; sway in cm; energy in cm²/s² and its shares by band in %.
    """
    import pandas as pd

    classes: dict[str, list[Mapping]] = {}
    for row in rows:
        names = class_of(row["group"], row["label"])
        for name in (names,) if isinstance(names, str) else names:
            classes.setdefault(name, []).append(row)
    bands = {f"band {i}": f"{band_words(i)} [%]" for i in range(len(BANDS))}
    headings = _HEADINGS | bands
    factors = {"speed": 100.0, "fast": 100.0, "still": 100.0, "sway": 100.0, "energy": 1e4}
    factors |= dict.fromkeys(PARTS, float(np.rad2deg(1.0))) | dict.fromkeys(bands, 100.0)
    table = {}
    for name, members in classes.items():
        weights = np.array([row["frames"] for row in members], dtype=float)
        means = {}
        for key, heading in headings.items():
            values = np.array([row[key] for row in members], dtype=float)
            # a share of the energy counts by the energy it is a share of
            weight = weights * [row["energy"] for row in members] if key.startswith("band") else weights
            known = np.isfinite(values) & (weight > 0)
            total = weight[known].sum()
            means[heading] = factors.get(key, 1.0) * (values[known] @ weight[known]) / total if total else np.nan
        table[name] = {"clips": len(members), **means}
    frame = pd.DataFrame.from_dict(table, orient="index").rename_axis("motion")
    return frame.astype({"clips": int}) if len(frame) else frame


def band_words(number: int) -> str:
    """A band of `BANDS` in words."""
    low, high = BANDS[number]
    if low == 0:
        return f"under {high:g} Hz"
    return f"over {low:g} Hz" if np.isinf(high) else f"{low:g} to {high:g} Hz"
