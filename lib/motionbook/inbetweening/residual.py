"""What interpolation leaves over: the motion between two keys as a residual over the geodesic, and its inverse.

The learned systems that are built on interpolation share this representation. The base runs from the last context frame
to the target, straight for the root and at constant speed on the manifold for each joint's own rotation. The residual
of a frame is, for each of the 22 joints, the rotation vector log(base^-1 truth) in radians, and for the root the
difference of its places in metres, seen from the last context frame (its heading along +X):

    66 + 3 = 69 numbers, (windows, frames, 69)

It vanishes at both keys by construction, it knows neither place nor heading, and any residual gives rotations that are
rotations and bones of the right length. Offsets between two poses are written the same way, so that features and
residual share their units.
"""

from collections.abc import Sequence

import numpy as np

from motionbook import rotations as rot
from motionbook.inbetweening.baselines import LocalPose, check_transition, evenly
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import CENTIMETRES, CONTEXT, Windows, heading_turn, make_windows

JOINTS = 22
SIZE = 3 * JOINTS + 3
LAST = CONTEXT - 1  # the last context frame, one of the two keys
# size of what no one moves less than: the trembling of a capture, a thousandth of a radian in each of 66 angles
_STILL = 0.03


def base_pose(windows: Windows, transition: int, t=None) -> LocalPose:
    """The geodesic between the last context frame and the target.

    Parameters
    ----------
    windows : Windows
    transition : int
        Frames between the keys.
    t : (frames,), optional
        Times between 0 (last context frame) and 1 (target); those of the frames to be filled when left out.

    Notes
    -----
    The published SLERP blends rotations less than 16 degrees apart linearly, which this does not: with the ends of the
    gap a residual must vanish exactly.
    """
    check_transition(windows, transition)
    t = evenly(transition) if t is None else np.asarray(t, dtype=np.float64)
    target = CONTEXT + transition
    root, rotations = windows.root_positions, windows.rotations
    step = rot.to_rotation_vector(rot.multiply(rot.inverse(rotations[:, LAST]), rotations[:, target]))
    turns = rot.from_rotation_vector(t[:, None, None] * step[:, None])
    places = root[:, LAST, None] + t[:, None] * (root[:, target] - root[:, LAST])[:, None]
    return LocalPose(places, rot.multiply(rotations[:, LAST, None], turns))


def residual(windows: Windows, transition: int) -> np.ndarray:
    """What the true frames differ from the base by, (windows, transition, 69)."""
    base, gap = base_pose(windows, transition), slice(CONTEXT, CONTEXT + transition)
    return _offsets(windows, base, LocalPose(windows.root_positions[:, gap], windows.rotations[:, gap]))


def apply_residual(windows: Windows, transition: int, residual, t=None) -> LocalPose:
    """The frames that a residual (windows, frames, 69) stands for; the inverse of ``residual``.

    ``t`` as in ``base_pose``, where the residual is not given at the frames to be filled.
    """
    base = base_pose(windows, transition, t)
    residual = np.asarray(residual, dtype=np.float64)
    expected = (*base.root_positions.shape[:2], SIZE)
    if residual.shape != expected:
        raise ValueError(f"residual: expected {expected} (windows, frames, numbers), got {residual.shape}")
    turns = rot.from_rotation_vector(residual[..., :-3].reshape(*residual.shape[:2], JOINTS, 3))
    moved = rot.rotate(rot.inverse(_heading(windows))[:, None], CENTIMETRES * residual[..., -3:])
    return LocalPose(base.root_positions + moved, rot.normalize(rot.multiply(base.rotations, turns)))


def track(windows: Windows) -> np.ndarray:
    """Every frame of the windows seen from frame 9, (windows, frames, 69); zero at frame 9 itself."""
    return _offsets(windows, _last(windows), LocalPose(windows.root_positions, windows.rotations))


def context_offsets(windows: Windows) -> np.ndarray:
    """The context frames 0 .. 8 seen from frame 9, (windows, 9, 69): how the person came here."""
    before = LocalPose(windows.root_positions[:, :LAST], windows.rotations[:, :LAST])
    return _offsets(windows, _last(windows), before)


def target_offset(windows: Windows, transition: int) -> np.ndarray:
    """The target seen from frame 9, (windows, 69): where the person must get to."""
    check_transition(windows, transition)
    target = slice(CONTEXT + transition, CONTEXT + transition + 1)
    pose = LocalPose(windows.root_positions[:, target], windows.rotations[:, target])
    return _offsets(windows, _last(windows), pose)[:, 0]


def pose_features(windows: Windows) -> np.ndarray:
    """The pose at frame 9 itself, (windows, 70): rotation vectors of all joints but the root, the root's two axes seen
    from its heading, and its height in metres."""
    limbs = rot.to_rotation_vector(windows.rotations[:, LAST, 1:]).reshape(len(windows), 3 * JOINTS - 3)
    root = rot.to_6d(rot.multiply(_heading(windows), windows.rotations[:, LAST, 0]))
    return np.concatenate([limbs, root, windows.root_positions[:, LAST, 1:2] / CENTIMETRES], axis=-1)


def motion_features(windows: Windows, transition: int) -> np.ndarray:
    """How the person moves and where to, (windows, 483).

    The last three steps of the context, its mean steps over the last 3, 5 and 9 frames, and the step to the target, all
    per frame. Nothing of the gap and nothing after the target. Steps rather than places: velocities hide in the small
    differences of places, where any penalty on large weights keeps a model from finding them.
    """
    seen = context_offsets(windows)
    steps = -np.diff(np.concatenate([seen[:, -3:], np.zeros_like(seen[:, :1])], axis=1), axis=1)
    means = np.stack([-seen[:, -span] / span for span in (3, 5, 9)], axis=1)
    onward = target_offset(windows, transition)[:, None] / (transition + 1)
    return np.concatenate([steps, means, onward], axis=1).reshape(len(windows), 7 * SIZE)


def features(windows: Windows, transition: int) -> np.ndarray:
    """All that a model may know before the gap is filled, (windows, 553): motion and the pose at frame 9."""
    return np.concatenate([motion_features(windows, transition), pose_features(windows)], axis=-1)


def motion_size(windows: Windows, transition: int) -> np.ndarray:
    """How much a person moves around the gap, (windows,): the way to the target and the way that the context's last
    four frames would lead to, in the units of an offset.

    A residual is about as large as this. A model that works on residuals and features divided by it has no favourites:
    people who nearly stand still weigh as much as lively ones, and little motion gives little residual.
    """
    onward = target_offset(windows, transition)
    before = context_offsets(windows)[:, -4] * (transition / 4.0)
    return np.sqrt((onward**2).sum(axis=-1) + (before**2).sum(axis=-1) + _STILL**2)


def time_waves(transition: int, count: int = 8) -> np.ndarray:
    """Half sines that vanish at both keys, (transition, min(count, transition)), orthonormal over the frames.

    A smooth residual needs only the first few: its numbers in them are ``waves.T @ residual``.
    """
    waves = np.outer(np.arange(1, transition + 1), np.arange(1, min(count, transition) + 1))
    return np.sqrt(2.0 / (transition + 1)) * np.sin(np.pi * waves / (transition + 1))


def training_windows(recordings: Sequence[Recording], transition: int, offset: int = 1) -> Windows:
    """Windows that just hold a transition and its target, from every ``offset``-th frame on, frame 9 at the origin."""
    return make_windows([r.clip for r in recordings], CONTEXT + transition + 1, offset, centre="start")


def _last(windows: Windows) -> LocalPose:
    return LocalPose(windows.root_positions[:, LAST : LAST + 1], windows.rotations[:, LAST : LAST + 1])


def _heading(windows: Windows) -> np.ndarray:
    """The turn (windows, 4) about the vertical that makes frame 9 head along +X."""
    return heading_turn(windows.rotations[:, LAST, 0])


def _offsets(windows: Windows, base: LocalPose, pose: LocalPose) -> np.ndarray:
    """Pose seen from base, (windows, frames, 69)."""
    turns = rot.to_rotation_vector(rot.multiply(rot.inverse(base.rotations), pose.rotations))
    moved = rot.rotate(_heading(windows)[:, None], pose.root_positions - base.root_positions) / CENTIMETRES
    return np.concatenate([turns.reshape(*turns.shape[:2], 3 * JOINTS), moved], axis=-1)
