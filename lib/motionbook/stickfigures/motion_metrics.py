"""How a clip of frames moves, read from the figure's mask and the direction of each limb's colour.

All lengths are pixels of the frames given, all times frames: numbers compare only at one size and frame rate (the
paper's are 64 px and 20 frames per second). Steps of a limb's direction are taken modulo half a turn, since a limb's
mask has no head or tail.

Source: Dancing Stick Figures, section 4 and Figure 5; its evaluator.
"""

from typing import NamedTuple

import numpy as np

from motionbook.stickfigures.figure import LIMBS, PALETTE

_LEAST_FIGURE = 10  # pixels; a frame with fewer has no centre
_LEAST_LIMB = 6  # pixels; a limb with fewer has no direction
_STILL = 0.25  # pixels per frame
_NO_SPEED, _NO_JERK = 1000.0, 1.0  # what an empty clip gets, so that it never looks calm


class Motion(NamedTuple):
    """Of one clip.

    centroid_speed, centroid_accel : pixels per frame, per frame squared; means over frames.
    motion_fraction : share of steps faster than a quarter pixel.
    angle_speed, angle_jerk : radians per frame, and per frame squared (the paper's "jerk" is a second difference).
    angle_paths : (8,) radians each limb colour turns through, in the order of ``figure.LIMBS``; angle_path their sum.
    mass_drift : relative change of limb areas; height_var : of the figure's height.
    """

    centroid_speed: float
    centroid_accel: float
    motion_fraction: float
    angle_speed: float
    angle_jerk: float
    angle_path: float
    mass_drift: float
    height_var: float
    angle_paths: np.ndarray


def motion(labels) -> Motion:
    """The motion metrics of labelled frames (``topology.label_colours``)."""
    labels = np.asarray(labels)
    figure = labels > 0
    centres = _centroids(figure)
    steps = np.linalg.norm(np.diff(centres, axis=0), axis=-1)
    turns = np.linalg.norm(np.diff(centres, n=2, axis=0), axis=-1)
    known = steps[np.isfinite(steps)]

    masks = [labels == list(PALETTE).index(name) + 1 for name in LIMBS]
    angles = np.stack([_directions(mask) for mask in masks])
    swings = half_turn_steps(angles)
    speeds, jerks, paths = [], [], np.zeros(len(LIMBS))
    for limb, swing in enumerate(swings):
        valid = swing[np.isfinite(swing)]
        change = np.diff(swing)
        change = change[np.isfinite(change)]
        if len(valid):
            speeds.append(np.abs(valid).mean())
        if len(change):
            jerks.append(np.abs(change).mean())
        if np.isfinite(angles[limb]).sum() >= 3:
            paths[limb] = np.abs(valid).sum()

    areas = np.stack([mask.sum(axis=(-2, -1)) for mask in masks])
    drift = areas.std(axis=1) / np.maximum(areas.mean(axis=1), 1)
    return Motion(
        centroid_speed=_mean(steps, _NO_SPEED),
        centroid_accel=_mean(turns, _NO_SPEED),
        motion_fraction=float((known > _STILL).mean()) if len(known) else 0.0,
        angle_speed=float(np.mean(speeds)) if speeds else _NO_JERK,
        angle_jerk=float(np.mean(jerks)) if jerks else _NO_JERK,
        angle_path=float(paths.sum()),
        mass_drift=float(drift.mean()),
        height_var=_height_variation(figure),
        angle_paths=paths,
    )


def half_turn_steps(angles) -> np.ndarray:
    """Changes between neighbours on the last axis, taken modulo pi into [-pi/2, pi/2)."""
    return (np.diff(angles, axis=-1) + np.pi / 2) % np.pi - np.pi / 2


def _centroids(masks):
    """Mean row and column of each mask, (frames, 2); NaN where it is nearly empty."""
    area = masks.sum(axis=(-2, -1))
    rows = masks.sum(axis=-1) @ np.arange(masks.shape[-2], dtype=float)
    columns = masks.sum(axis=-2) @ np.arange(masks.shape[-1], dtype=float)
    with np.errstate(invalid="ignore", divide="ignore"):
        centres = np.stack([rows, columns], axis=-1) / area[:, None]
    return np.where((area >= _LEAST_FIGURE)[:, None], centres, np.nan)


def _directions(masks):
    """Angle of the long axis of each mask, (frames,), modulo pi; NaN where the mask is nearly empty."""
    frame, row, column = np.nonzero(masks)
    area = np.bincount(frame, minlength=len(masks)).astype(float)
    area[area == 0] = np.nan
    row = row - (np.bincount(frame, row, len(masks)) / area)[frame]
    column = column - (np.bincount(frame, column, len(masks)) / area)[frame]
    xx, yy, xy = (np.bincount(frame, w, len(masks)) for w in (column * column, row * row, row * column))
    angle = 0.5 * np.arctan2(2 * xy, xx - yy)
    return np.where(area >= _LEAST_LIMB, angle, np.nan)


def _height_variation(figure):
    filled = figure.any(axis=-1)
    seen = filled.any(axis=-1)
    if not seen.any():
        return 0.0
    filled = filled[seen]
    heights = filled.shape[-1] - 1 - filled[:, ::-1].argmax(axis=-1) - filled.argmax(axis=-1)
    return float(heights.std() / max(heights.mean(), 1.0))


def _mean(values, fallback):
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else fallback
