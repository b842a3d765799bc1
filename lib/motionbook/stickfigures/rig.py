"""Motion read from the rig instead of the pixels: how far each limb's picture turns."""

import numpy as np

from motionbook.skeletons import CSKEL27
from motionbook.stickfigures.camera import View, project
from motionbook.stickfigures.figure import LIMBS
from motionbook.stickfigures.motion_metrics import half_turn_steps

_BONES = {"arm": ("Arm", "ForeArm"), "fore": ("ForeArm", "Hand"), "leg": ("UpLeg", "Leg"), "shin": ("Leg", "Foot")}


def angular_path(joints, view: View) -> np.ndarray:
    """Radians that each limb turns through in the picture, (8,) in the order of ``figure.LIMBS``.

    Steps are taken modulo half a turn, as for the colours of rendered limbs; their sum over limbs is the data set's
    "projected-rig angular path" (Dancing Stick Figures, section 3).

    Parameters
    ----------
    joints : (frames, 27, 3)
        In the figure frame.
    """
    points = project(joints, view, 1.0).points
    angles = []
    for limb in LIMBS:
        bone, side = limb.split("_")
        start, end = (CSKEL27.index({"L": "Left", "R": "Right"}[side] + name) for name in _BONES[bone])
        across, down = np.moveaxis(points[:, end] - points[:, start], -1, 0)
        angles.append(np.arctan2(down, across))
    return np.abs(half_turn_steps(np.stack(angles))).sum(axis=-1)
