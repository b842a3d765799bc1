"""Eighteen pitfalls of the published in-betweening evaluations: what Motionbook does instead, and the way back.

``pitfalls_table`` lists them. Each is fixed, or kept because no published number could be compared otherwise, and has a
switch where a number of the benchmark depends on it. Where the switch belongs to no function of the benchmark itself,
the released behaviour is written down here, so that its effect on a number can be measured: ``released_turn``,
``released_window_count``, ``single_precision``, ``slerp_q_single_precision``, ``with_first_scale``; ``easing_bound``
tests a published cell.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.inbetweening.baselines import LocalPose, ease, evenly, interpolate
from motionbook.inbetweening.windows import CONTEXT, Windows

if TYPE_CHECKING:
    from motionbook.inbetweening.evaluation import FoldWindows


class Pitfall(NamedTuple):
    """A row of the table: what goes wrong, "fixed" or "kept", what is done here, the switch, the numbers it touches."""

    number: int
    what: str
    status: str
    here: str
    switch: str
    touches: str


PITFALLS = (
    Pitfall(
        1,
        "Features are divided by their standard deviation, which is 0 for joints that never turn (toes): 0 / 0",
        "fixed",
        "the deviation is at least 0.001 (rotation entries, centimetres)",
        "motion_tensors.feature_statistics(smallest=0)",
        "any network on clips with frozen toes: NaN",
    ),
    Pitfall(
        2,
        "The heading is a cross product without an axis: a batch of exactly 3 windows is crossed along the batch and "
        "not turned to face +X",
        "fixed",
        "the heading is an angle about the vertical, window by window",
        "pitfalls.released_turn",
        "L2P and NPSS of any set that ends in a batch of 3, and what a network is given there",
    ),
    Pitfall(
        3,
        "Truth and prediction get the signs of their quaternions separately, and may disagree",
        "kept",
        "as published; with aligned signs as an extra",
        "evaluation.window_scores(aligned=True)",
        "every L2Q; most at 45 frames and in lively motion",
    ),
    Pitfall(
        4,
        "NPSS takes the squared real part of the Fourier transform for its power",
        "kept",
        "as published; with the true power, two- or one-sided, as an extra",
        'evaluation.window_scores(spectrum="power" or "one-sided")',
        "every NPSS",
    ),
    Pitfall(
        5,
        "Networks are scored in float32, baselines in float64; small quaternion components vanish, spectra fall below "
        "the guard",
        "fixed",
        "every metric in float64",
        "pitfalls.single_precision",
        "NPSS of every network row",
    ),
    Pitfall(
        6,
        "The scale of L2P is cached by window settings alone: later folds use the first fold's; a network's statistics "
        "are cached in its folder in the same way",
        "fixed",
        "each fold has the scale and the statistics of its own training people",
        "pitfalls.with_first_scale",
        "L2P, and the networks' rows, of folds 2 to 5 in StayStill's Tables 1, 5 and 6, if run in one folder",
    ),
    Pitfall(
        7,
        "A clip shorter than a window gives a negative number of windows or one that is too short",
        "fixed",
        "it gives none; strict=True counts as LaFAN1's authors do",
        "windows.window_starts(strict=), pitfalls.released_window_count",
        "StayStill's actions (Table 6) and every cleaned set",
    ),
    Pitfall(
        8,
        "The person is the text after the last underscore; after cleaning that is the number of the slice",
        "fixed",
        "the label is found first, slices are told from people; folds are checked to be disjoint",
        "data.layouts.open_dataset(subject_pattern=)",
        "every fold of a cleaned data set",
    ),
    Pitfall(
        9,
        "Slices are cut without their last frame, since ends are given inclusive and taken exclusive; outliers are "
        "widened by 10 frames before and 9 after",
        "fixed",
        "ranges are half-open inside and inclusive in files only, and widened alike on both sides; kept and removed "
        "frames add up to the clip",
        "none: no number depends on it but the count of frames",
        "frames of the cleaned data set",
    ),
    Pitfall(
        10,
        "A foot's contact looks to the next frame, its velocity in the loss to the frame before",
        "kept",
        "as published, in the network's loss only; the panels measure both the same way",
        "none: the loss is defined by it",
        "rows of the detail network",
    ),
    Pitfall(
        11,
        "The second stage is trained on the last state of the first one and evaluated on its best state",
        "kept",
        "as published by default; the book's short runs train it on the best",
        'two_stage_training.TwoStageConfig(detail_on="best")',
        "rows of the detail network",
    ),
    Pitfall(
        12,
        "Two-stage networks read the frame after the target",
        "kept",
        "as published by default; no other system reads it",
        "two_stage.TwoStage.keys_only(), two_stage_training.TwoStageConfig(after_target=False)",
        "rows of the context network with its shift, and of the detail network",
    ),
    Pitfall(
        13,
        "Places of joints in their parents are copied from the truth into every prediction",
        "fixed",
        "clips whose bones change length are refused",
        "kinematics.constant_bones(clip) first",
        "evaluations on FreeMoCap's rig",
    ),
    Pitfall(
        14,
        "SLERP-Q computes its times in float32",
        "fixed",
        "float64; 7e-8 apart, agreement is asked for to 1e-6",
        "pitfalls.slerp_q_single_precision",
        "SLERP-Q, beyond the printed digits",
    ),
    Pitfall(
        15,
        "Readers take one rotation order for all joints and x, y, z first at the root",
        "fixed",
        "every joint's channels are read in their own order",
        "none: other readings are wrong by up to 2.3 m",
        "evaluations on FreeMoCap's rig",
    ),
    Pitfall(
        16,
        "Fold 3 tests a subject 50, of people numbered 0 to 49, and leaves out 40",
        "fixed",
        "read as 40",
        "data.splits.published_folds(correct=False)",
        "fold 3 of StayStill's Tables 1, 5 and 6",
    ),
    Pitfall(
        17,
        "SLERP-Q on the phone subset at 5 frames is worse than 0-velocity and than the other rows allow",
        "kept",
        "printed as published, with a note; pitfalls.easing_bound gives the bound",
        "none: it is a published number",
        "Table 5: SLERP-Q L2P and L2Q at 5 frames, L2Q at 15; 0-velocity NPSS at 30",
    ),
    Pitfall(
        18,
        "The second stage is evaluated with statistics found again under its own settings",
        "fixed",
        "one predictor holds one set of statistics for both stages, and its file carries them",
        "two_stage.TwoStage(statistics=)",
        "rows of the detail network",
    ),
)


def pitfalls_table():
    """All eighteen as a pandas.DataFrame: number (index), what, status, here, switch, touches."""
    import pandas as pd

    return pd.DataFrame(PITFALLS).set_index("number")


def released_turn(root_rotations) -> np.ndarray:
    """What ``windows.heading_turn`` was as released: turns about +Y (windows, 4) from root rotations (windows, 4).

    The sine of the angle comes from a cross product along the first axis of length 3. For 3 windows that is the batch;
    the product then has no vertical part, so that each window is left as it is or, facing rather -X, turned by half.
    """
    heading = rot.rotate(root_rotations, [0.0, 1.0, 0.0]) * [1.0, 0.0, 1.0]
    heading = heading / np.linalg.norm(heading, axis=-1, keepdims=True)
    axis = heading.shape.index(3)
    sine = np.cross(heading, np.broadcast_to([1.0, 0.0, 0.0], heading.shape), axis=axis)[..., 1]
    return rot.from_axis_angle([0.0, 1.0, 0.0], np.arctan2(sine, heading[..., 0]))


def released_window_count(frames: int, length: int, offset: int) -> int:
    """Windows that the released loaders count in a clip: below zero or one too many when it is short."""
    return int((frames - length) / offset) + 1


def single_precision(rotations) -> np.ndarray:
    """Rotations (..., 4) the way networks' outputs reach the metrics: float32 matrices, and square roots of them.

    A component is half the root of a sum of four numbers near 1 or -1, so that components below about 3e-4 come out as
    multiples of that or as zero.
    """
    m = rot.to_matrix(rotations).astype(np.float32)
    d0, d1, d2 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    sums = np.stack([1 + d0 + d1 + d2, 1 + d0 - d1 - d2, 1 - d0 + d1 - d2, 1 - d0 - d1 + d2], axis=-1)
    q = np.float32(0.5) * np.sqrt(np.maximum(sums, np.float32(0.0)))
    q[..., 1] = np.copysign(q[..., 1], m[..., 2, 1] - m[..., 1, 2])
    q[..., 2] = np.copysign(q[..., 2], m[..., 0, 2] - m[..., 2, 0])
    q[..., 3] = np.copysign(q[..., 3], m[..., 1, 0] - m[..., 0, 1])
    return q


def slerp_q_single_precision(windows: Windows, transition: int) -> LocalPose:
    """SLERP-Q with its times in float32, as released."""
    t = ease(evenly(transition)).astype(np.float32).astype(np.float64)
    root, rotations = windows.root_positions, windows.rotations
    last, target = CONTEXT - 1, CONTEXT + transition
    return interpolate(root[:, last], root[:, target], rotations[:, last], rotations[:, target], t)


def with_first_scale(folds: Sequence["FoldWindows"]) -> list["FoldWindows"]:
    """The folds of ``evaluation.fold_windows`` with the first one's scale of L2P in all of them."""
    return [fold._replace(std=folds[0].std) for fold in folds]


def easing_bound(zero_velocity: float, slerp: float, transition: int) -> float:
    """The largest error that SLERP-Q can have, given those of 0-velocity and SLERP on the same windows (L2P or L2Q).

    Both interpolate along the same path, at times t and e(t). By the triangle inequality the path is at most
    (0-velocity + SLERP) / mean(t) long, and SLERP-Q at most mean|e(t) - t| of it farther from the truth than SLERP.
    Exact for root places and nearly so for joints, whose arcs are a little longer than their chords.
    """
    t = evenly(transition)
    return slerp + np.abs(ease(t) - t).mean() / t.mean() * (zero_velocity + slerp)
