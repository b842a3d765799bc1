"""What moves the error of a capture: cameras, noise, occlusion, lost points, calibration, clocks, and each step.

Every function films an embedded performer under stated conditions and gives a data frame with one row per condition.
Errors are measured against the performer's own landmarks, in metres of the true world.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.capture import session
from motionbook.capture.bones import rigid_bones
from motionbook.capture.cameras import Camera
from motionbook.capture.landmarks import (
    LANDMARKS,
    REALISTIC,
    Landmarks,
    Observations,
    observe,
    true_landmarks,
)
from motionbook.capture.postprocess import SETTINGS, Settings, clean
from motionbook.capture.swaps import side_pairs
from motionbook.capture.synchronisation import apply, by_hand, by_motion, by_reprojection
from motionbook.capture.triangulation import triangulate
from motionbook.clip import Clip

COLUMNS = ("reprojection [px]", "MPJPE raw [mm]", "MPJPE filtered [mm]", "MPJPE clip [mm]", "bone spread [mm]")
KNOWN = "known [%]"


def compare(rows: Mapping[str, Callable[[], session.Take]], name: str):
    """One row of `COLUMNS` per take, with the share of landmarks that were known before gaps were closed.

    Parameters
    ----------
    rows : mapping of a row's name to a function that films
    name : str
        Of the first column.

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    table = {}
    for label, film in rows.items():
        take = film()
        found = session.errors(take)
        known = 100 * float(np.isfinite(take.raw.positions[..., 0]).mean())
        table[label] = {KNOWN: known, **{column: found[column] for column in COLUMNS}}
    return pd.DataFrame(table).T.rename_axis(name)


def by_noise(clip: Clip, cameras: Sequence[Camera], seed: int, levels: Sequence[float] = (0.5, 1.0, 2.0, 4.0, 8.0)):
    """Errors by the detector's noise in pixels per axis, all else as the embedded detector is."""
    return compare(
        {f"{level:g} px": _film(clip, cameras, seed, noise=level) for level in levels},
        "noise",
    )


def by_fault(clip: Clip, cameras: Sequence[Camera], seed: int):
    """Errors as the detector's faults are added one by one, and with more lost than usual."""
    plain = {"drop_share": 0.0, "occlusion": False, "swap_share": 0.0, "outlier_share": 0.0}
    steps = (
        ("noise alone", {}),
        ("points lost, 3 %", {"drop_share": 0.03}),
        ("limbs hidden by the body", {"occlusion": True}),
        ("sides exchanged, 1 %", {"swap_share": 0.01}),
        ("outliers, 0.5 %: as embedded", {"outlier_share": 0.005}),
        ("points lost, 10 %", {"drop_share": 0.1}),
        ("points lost, 30 %", {"drop_share": 0.3}),
        ("outliers, 5 %, and 10 % lost", {"drop_share": 0.1, "outlier_share": 0.05}),
    )
    rows, now = {}, plain
    for label, change in steps:
        now = {**now, **change}
        rows[label] = _film(clip, cameras, seed, **now)
    return compare(rows, "detector, faults added one by one")


def by_calibration(clip: Clip, cameras: Sequence[Camera], seed: int, calibrated: Sequence[Camera]):
    """Errors by what is believed of the cameras: the truth, the board's calibration, and ones that are wrong."""
    rng = np.random.default_rng([seed, 7])
    axes = rng.standard_normal((len(cameras), 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    flat = [replace(camera, distortion=np.zeros(5)) for camera in cameras]
    rows = {"known exactly": cameras, "calibrated from the board": calibrated, "lens taken as perfect": flat}
    for degrees in (0.1, 0.3, 1.0):
        rows[f"each camera turned by {degrees:g} degrees"] = [
            _turned(camera, axis * np.deg2rad(degrees)) for camera, axis in zip(cameras, axes, strict=True)
        ]
    longer = [
        replace(camera, intrinsics=camera.intrinsics * [[1.01, 1, 1], [1, 1.01, 1], [1, 1, 1]]) for camera in cameras
    ]
    rows["focal lengths 1 % too long"] = longer
    films = {
        label: lambda believed=believed: session.record(clip, cameras, seed, solve_with=believed, **REALISTIC)
        for label, believed in rows.items()
    }
    return compare(films, "cameras")


def by_cameras(clips: Mapping[int, Clip], counts: Sequence[int], seed: int):
    """Errors by number of cameras on the semicircle, mean over people; cameras known exactly."""
    import pandas as pd

    from motionbook.capture.cameras import semicircle

    rows = {}
    for count in counts:
        room = semicircle(count, distortion=session.LENS)
        tables = [
            compare({count: _film(clip, room, [seed, subject, count])}, "cameras") for subject, clip in clips.items()
        ]
        rows[count] = pd.concat(tables).mean()
    return pd.DataFrame(rows).T.rename_axis("cameras")


def cleaning_steps(take: session.Take, cameras: Sequence[Camera], settings: Settings | str = "motionbook"):
    """What each step from pixels to rigid bones buys: one row per step, all steps before it included.

    Columns: landmarks known in percent, mean, 95th percentile and largest error in millimetres over all landmarks that
    plain triangulation and closed gaps know, where an unknown one counts as the plain one's error, and the spread of
    limb lengths. So no step looks good by leaving points out.
    """
    import pandas as pd

    settings = SETTINGS[settings] if isinstance(settings, str) else settings
    seen, truth = take.seen, take.truth
    known = np.isfinite(seen.pixels).all(axis=-1)
    plain = triangulate(cameras, seen.pixels, known.astype(float), max_error=None)
    weighted = triangulate(cameras, seen.pixels, seen.confidence, max_error=None)
    sided = triangulate(cameras, seen.pixels, seen.confidence, max_error=None, sides=side_pairs(seen.names))
    robust = triangulate(cameras, seen.pixels, seen.confidence, sides=side_pairs(seen.names))
    steps = {
        "linear triangulation": plain.positions,
        "weighted with confidence": weighted.positions,
        "sides put right": sided.positions,
        "bad cameras left out": robust.positions,
    }
    raw = replace(take.raw, positions=robust.positions, steps=())
    for label, change in (
        ("short gaps closed", {"hampel_window": None, "cutoff": None}),
        ("spikes replaced", {"cutoff": None}),
        ("low-pass filter", {}),
    ):
        smooth = clean(raw, replace(settings, **change)).landmarks
        steps[label] = smooth.positions
    steps["constant bones"] = rigid_bones(smooth).landmarks.positions
    worst = np.linalg.norm(plain.positions - truth.positions, axis=-1)
    counted = np.isfinite(worst)
    rows = {}
    for label, positions in steps.items():
        error = np.linalg.norm(positions - truth.positions, axis=-1)
        filled = 1000 * np.where(np.isfinite(error), error, worst)[counted]
        rows[label] = {
            KNOWN: 100 * float(np.isfinite(error).mean()),
            "mean error [mm]": float(filled.mean()),
            "95 % below [mm]": float(np.percentile(filled, 95)),
            "largest [mm]": float(filled.max()),
            "bone spread [mm]": session.bone_spread(replace(raw, positions=positions)),
        }
    return pd.DataFrame(rows).T.rename_axis("after this step")


def film_unsynchronised(
    clip: Clip, cameras: Sequence[Camera], frames_late: Sequence[float], seed, **errors
) -> tuple[Landmarks, Observations]:
    """Truth and observations of cameras that were not started together.

    Camera c shows in its frame f what happens in frame f - frames_late[c] of the common clock, whose frame 0 is late
    enough for all of them; what happens between two frames of the performer is a spline. Fractions of frames stand for
    shutters that do not open together.
    """
    from scipy.interpolate import CubicSpline

    truth = true_landmarks(clip)
    late = np.asarray(frames_late, dtype=np.float64)
    if late.shape != (len(cameras),):
        raise ValueError(f"frames_late: expected one number per camera ({len(cameras)}), got shape {late.shape}")
    before, after = max(int(np.ceil(late.max())), 0), max(int(np.ceil(-late.min())), 0)
    frames = len(clip) - before - after
    if frames < 2:
        raise ValueError(f"frames_late: the clip has {len(clip)} frames, too few for these offsets")
    path = CubicSpline(np.arange(len(clip)), truth.positions, axis=0)
    rng = np.random.default_rng(seed)
    seen = []
    for camera, shift in zip(cameras, late, strict=True):
        places = path(np.arange(frames) + before - shift)
        seen.append(observe(Landmarks(LANDMARKS, places, np.ones(places.shape[:2]), clip.fps), [camera], rng, **errors))
    kept = slice(before, before + frames)
    common = Landmarks(LANDMARKS, truth.positions[kept], truth.confidence[kept], clip.fps)
    return common, Observations(
        LANDMARKS,
        np.concatenate([s.pixels for s in seen]),
        np.concatenate([s.confidence for s in seen]),
        clip.fps,
        tuple(camera.size for camera in cameras),
        tuple(camera.name for camera in cameras),
        "simulated detector",
    )


def synchronise(
    cameras: Sequence[Camera],
    seen: Observations,
    frames_late: Sequence[float],
    truth: Landmarks,
    *,
    max_seconds: float = 1.0,
):
    """Offsets of an unsynchronised recording as injected and as found, and what each answer does to the points.

    Offsets of up to ``max_seconds`` are searched.

    Returns
    -------
    (pandas.DataFrame, pandas.DataFrame, tuple of str)
        One row per camera, frames late: true, by motion, by reprojection, and its standard error. And one row per way
        to synchronise: mean reprojection error in pixels and MPJPE in millimetres of what is then triangulated, over
        the frames that all have. Last, what the two ways doubt about their answers.
    """
    import pandas as pd

    names = [camera.name for camera in cameras]
    late = np.asarray(frames_late, dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the doubts are returned
        motion = by_motion(seen, names=names, max_seconds=max_seconds)
        # a calm performer may mislead the motion by seconds: the search also begins at the frames as they are
        shift = round(max_seconds * seen.fps)
        tried = [by_reprojection(cameras, seen, start=start, max_shift=shift) for start in (motion, None)]
        found = min(tried, key=lambda clocks: float(np.nanmean(clocks.score)))
    offsets = pd.DataFrame(
        {
            "true [frames]": late - late[0],
            "by motion [frames]": motion.frames_late,
            "by reprojection [frames]": found.frames_late,
            "standard error [frames]": found.spread * found.rates,
        },
        index=pd.Index(names, name="camera"),
    )
    zeros = by_hand(seen.fps, frames=np.zeros(len(cameras)), names=names)
    true = by_hand(seen.fps, frames=late, names=names)
    rows = {}
    for label, clocks in (
        ("as started", zeros),
        ("by motion", motion),
        ("by reprojection", found),
        ("true offsets", true),
    ):
        aligned = apply(clocks, seen)
        solved = triangulate(
            cameras, aligned.observations.pixels, aligned.observations.confidence, sides=side_pairs(seen.names)
        )
        # the reference camera's frame 0 is this many frames after the truth's first
        start = np.round(aligned.times * seen.fps - late[0]).astype(int)
        inside = (start >= 0) & (start < len(truth.positions))
        off = np.linalg.norm(solved.positions[inside] - truth.positions[start[inside]], axis=-1)
        rows[label] = {
            KNOWN: 100 * float(np.isfinite(solved.error).mean()),
            "reprojection [px]": float(np.nanmean(solved.error)),
            "MPJPE [mm]": 1000 * float(np.nanmean(off)),
        }
    doubts = tuple(f"{clocks.method}: {text}" for clocks in (motion, found) for text in clocks.doubts)
    return offsets, pd.DataFrame(rows).T.rename_axis("synchronised"), doubts


def _film(clip, cameras, seed, **changed):
    return lambda: session.record(clip, cameras, seed, **{**REALISTIC, **changed})


def _turned(camera: Camera, turn) -> Camera:
    """The camera turned about its own place by a rotation vector, radians."""
    extra = rot.from_rotation_vector(turn)
    return replace(
        camera,
        rotation=rot.normalize(rot.multiply(extra, camera.rotation)),
        translation=rot.rotate(extra, camera.translation),
    )
