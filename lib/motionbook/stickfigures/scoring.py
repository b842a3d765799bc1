"""All diagnostics of one clip of frames in one call."""

from typing import NamedTuple

import numpy as np

from motionbook.stickfigures.motion_metrics import motion
from motionbook.stickfigures.topology import check_frames, label_colours, topology


class Score(NamedTuple):
    """The paper's diagnostics of one clip; see ``topology.Topology`` and ``motion_metrics.Motion`` for each.

    TVR, LIE, CPE, foreground and clean are means over frames.
    """

    TVR: float
    LIE: float
    CPE: float
    foreground: float
    clean: float
    centroid_speed: float
    centroid_accel: float
    motion_fraction: float
    angle_speed: float
    angle_jerk: float
    angle_path: float
    mass_drift: float
    height_var: float
    angle_paths: np.ndarray


def score(frames) -> Score:
    """Diagnostics of frames (frames, height, width, 4) uint8, straight RGBA; no labels are needed."""
    labels = label_colours(check_frames(frames))
    return Score(*(float(rate.mean()) for rate in topology(labels)), *motion(labels))
