"""The three baselines of every in-betweening table: hold the last pose, interpolate, interpolate with easing.

A predictor is any function ``(windows, transition) -> LocalPose`` that looks at the context and the target and
returns the frames between them; these three are the ones without parameters.
"""

from typing import NamedTuple

import numpy as np

from motionbook.inbetweening.windows import CONTEXT, Windows


class LocalPose(NamedTuple):
    """Predicted frames: root places (windows, frames, 3) and parent-relative rotations (windows, frames, joints, 4)."""

    root_positions: np.ndarray
    rotations: np.ndarray


def zero_velocity(windows: Windows, transition: int) -> LocalPose:
    """The last context frame, held."""
    check_transition(windows, transition)
    count, _, joints, _ = windows.rotations.shape
    return LocalPose(
        np.broadcast_to(windows.root_positions[:, CONTEXT - 1 : CONTEXT], (count, transition, 3)),
        np.broadcast_to(windows.rotations[:, CONTEXT - 1 : CONTEXT], (count, transition, joints, 4)),
    )


def slerp(windows: Windows, transition: int) -> LocalPose:
    """From the last context frame to the target at constant speed."""
    return _between_keys(windows, transition, evenly(transition))


def slerp_q(windows: Windows, transition: int) -> LocalPose:
    """From the last context frame to the target with quadratic ease-in and ease-out."""
    return _between_keys(windows, transition, ease(evenly(transition)))


def evenly(transition: int) -> np.ndarray:
    """Times (transition,) of the frames strictly between two keys at 0 and 1."""
    return np.arange(1, transition + 1) / (transition + 1)


def ease(t: np.ndarray) -> np.ndarray:
    """Quadratic ease-in, ease-out: 2 t^2 up to the middle, mirrored after it."""
    return np.where(t < 0.5, 2 * t**2, 1 - 2 * (1 - t) ** 2)


def interpolate(root_from, root_to, rotations_from, rotations_to, t: np.ndarray) -> LocalPose:
    """Poses between two: straight lines for the root, spherical interpolation for every joint's own rotation.

    Parameters
    ----------
    root_from, root_to : (windows, 3)
    rotations_from, rotations_to : (windows, joints, 4)
    t : (frames,)

    Returns
    -------
    LocalPose
        (windows, frames, 3) and (windows, frames, joints, 4).

    Notes
    -----
    As in LaFAN1's evaluator, rotations less than 16 degrees apart (dot product above 0.99) are blended linearly and
    normalised: indistinguishable to the eye, but the published numbers contain it.
    """
    root_from, root_to = np.asarray(root_from)[:, None], np.asarray(root_to)[:, None]
    root = root_from + t[:, None] * (root_to - root_from)
    # components first and frames last, (4, joints, windows, frames): the order in which kinematics works
    a, b = (np.moveaxis(np.asarray(q), (-1, -2), (0, 1)) for q in (rotations_from, rotations_to))
    dot = (a * b).sum(axis=0)
    b = np.where(dot < 0, -b, b)
    dot = np.minimum(np.abs(dot), 1.0)
    near = 1.0 - dot < 0.01
    angle = np.where(near, 1.0, np.arccos(dot))
    weight_a = np.where(near[..., None], 1 - t, np.sin(angle[..., None] * (1 - t)) / np.sin(angle)[..., None])
    weight_b = np.where(near[..., None], t, np.sin(angle[..., None] * t) / np.sin(angle)[..., None])
    q = weight_a * a[..., None] + weight_b * b[..., None]
    q /= np.sqrt((q * q).sum(axis=0))
    return LocalPose(root, np.moveaxis(q, (0, 1), (-1, -2)))


def _between_keys(windows: Windows, transition: int, t: np.ndarray) -> LocalPose:
    check_transition(windows, transition)
    last, target = CONTEXT - 1, CONTEXT + transition
    root, rotations = windows.root_positions, windows.rotations
    return interpolate(root[:, last], root[:, target], rotations[:, last], rotations[:, target], t)


def check_transition(windows: Windows, transition: int) -> None:
    """Refuse a gap whose target lies outside the windows."""
    longest = windows.rotations.shape[1] - CONTEXT - 1
    if not 1 <= transition <= longest:
        raise ValueError(f"transition: windows of this length hold 1 to {longest} frames to fill, got {transition}")


BASELINES = {"0-velocity": zero_velocity, "SLERP": slerp, "SLERP-Q": slerp_q}
