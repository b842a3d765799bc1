"""A cubic between the keys that leaves with the context's velocity: interpolation with one more thing known.

Seen from the last context frame as rotation vectors and root offsets, SLERP is the straight line t D to the target's
offset D. The cubic starts with the velocity V of the context instead (per gap: the last step times T + 1) and ends
without curvature, since with which velocity a person passes the target is not known:

    h(t) = t D + (V - D) t (1 - t) (1 - t / 2),    h(0) = 0,  h'(0) = V,  h(1) = D,  h''(1) = 0

At the target the velocity is that of the chord, less half of what the start was faster: D - (V - D) / 2. Nothing is
learned. Over long gaps a velocity held for the whole of it leads too far, and the cubic becomes worse than SLERP.
"""

import numpy as np

from motionbook import rotations as rot
from motionbook.inbetweening.baselines import LocalPose, check_transition, evenly
from motionbook.inbetweening.windows import CONTEXT, Windows


def cubic(windows: Windows, transition: int) -> LocalPose:
    """From the last context frame to the target, leaving with the velocity between the last two context frames."""
    check_transition(windows, transition)
    before, last, target = CONTEXT - 2, CONTEXT - 1, CONTEXT + transition
    root, rotations = windows.root_positions, windows.rotations
    start = rotations[:, last]
    turned = rot.to_rotation_vector(rot.multiply(rot.inverse(rotations[:, before]), start))
    turn = rot.to_rotation_vector(rot.multiply(rot.inverse(start), rotations[:, target]))
    moved, way = root[:, last] - root[:, before], root[:, target] - root[:, last]
    t = evenly(transition)
    h = _path(t[:, None, None], turn[:, None], (transition + 1) * turned[:, None])
    places = root[:, last, None] + _path(t[:, None], way[:, None], (transition + 1) * moved[:, None])
    return LocalPose(places, rot.normalize(rot.multiply(start[:, None], rot.from_rotation_vector(h))))


def _path(t: np.ndarray, chord: np.ndarray, velocity: np.ndarray) -> np.ndarray:
    return t * chord + t * (1 - t) * (1 - t / 2) * (velocity - chord)


EXTRA_BASELINES = {"Cubic": cubic}
