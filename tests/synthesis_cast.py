"""The performers that the synthesis tests watch, and measurements written apart from the library's own."""

import numpy as np
from scipy.spatial.transform import Rotation

from motionbook.kinematics import forward_kinematics
from motionbook.synthesis.performers import ACTIONS, action, idle, make_performer, phone

SEED, SUBJECTS = 5, (0, 1, 2)
ARM_JOINTS = ("LeftArm", "LeftForeArm", "RightArm", "RightForeArm")


def everything(subject: int) -> dict:
    """One take of all that a person does, by name."""
    performer = make_performer(subject, SEED)
    motions = {"idle": idle(performer, 40.0), "phone": phone(performer, 25.0)}
    return motions | {label: action(performer, label) for label in ACTIONS}


def places(clip, *names):
    """World places (frames, 3) of joints."""
    positions = forward_kinematics(clip).positions
    return [positions[:, clip.skeleton.index(name)] for name in names]


def largest_correlation(a, b) -> float:
    """Largest Pearson correlation of a rotation-vector component of an arm joint, time-normalised, at lag 0."""
    most = -1.0
    for name in ARM_JOINTS:
        joint = a.skeleton.index(name)
        u, v = (Rotation.from_quat(c.rotations[:, joint], scalar_first=True).as_rotvec() for c in (a, b))
        at = np.linspace(0.0, 1.0, 300)
        for k in range(3):
            x, y = (np.interp(at, np.linspace(0.0, 1.0, len(w)), w[:, k]) for w in (u, v))
            most = max(most, np.corrcoef(x, y)[0, 1])
    return most
