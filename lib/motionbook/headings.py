"""Where a body faces."""

import numpy as np

from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import find_legs


def heading(clip: Clip) -> np.ndarray:
    """Where the hips face, (frames,) radians about the vertical: 0 is +Z, a quarter turn is +X."""
    legs = find_legs(clip.skeleton)
    places = forward_kinematics(clip).positions
    left = places[:, legs["left", "thigh"]] - places[:, legs["right", "thigh"]]
    return np.arctan2(-left[:, 2], left[:, 0])  # forward = left x up
