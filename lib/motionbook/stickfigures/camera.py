"""From the world to the figure's own frame, and from there to the picture.

The figure frame is fixed by the first frame of a clip: x the figure's left, y up, z forward. The hips stay in the
middle of the picture (horizontal travel is taken out in every frame); vertical travel and turning stay. Pictures are
orthographic. All lengths in metres, angles in radians, picture places in pixels of a 128-pixel frame.

Source: Dancing Stick Figures, section 3; its builder.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionbook.checks import check_shape
from motionbook.skeletons import CSKEL27

CANVAS = 128  # pixels; every published length in pixels refers to this size
SUPERSAMPLING = 4  # samples per pixel and axis
_HIPS, _HEAD = CSKEL27.index("Hips"), CSKEL27.index("Head")
_THIGHS = CSKEL27.index("LeftUpLeg"), CSKEL27.index("RightUpLeg")


@dataclass(frozen=True)
class View:
    """An orthographic camera that does not move.

    ``yaw`` 0 sees the figure from the front, with its left on the right of the picture; at pi/2 the figure faces the
    right edge. A positive ``pitch`` puts the camera below the figure. ``centre`` is the pixel where the hips land.
    """

    yaw: float = 0.0
    pitch: float = 0.0
    centre: tuple[float, float] = (64.0, 66.0)


class FigureMotion(NamedTuple):
    """A motion in its figure frame.

    joints (frames, 27, 3): horizontally centred on the hips in every frame. basis (3, 3): rows left, up, forward in
    world axes. root_positions (frames, 3): path of the hips from its start; root_velocities (frames, 3) in m/s by
    central differences; root_headings (frames, 2): cosine and sine of the hips' left axis, the sine growing as the
    figure turns right.
    """

    joints: np.ndarray
    basis: np.ndarray
    root_positions: np.ndarray
    root_velocities: np.ndarray
    root_headings: np.ndarray


def figure_motion(positions, fps: float) -> FigureMotion:
    """World joint places (frames, 27, 3) of CSKEL27 seen from the figure.

    Raises
    ------
    ValueError
        When the thighs of the first frame have no horizontal distance, so that no left is defined.
    """
    positions = check_shape(positions, "frames 27 3", "positions")
    up = np.zeros(3)
    trunk = positions[0, _HEAD] - positions[0, _HIPS]
    axis = int(np.argmax(np.abs(trunk)))
    up[axis] = 1.0 if trunk[axis] >= 0 else -1.0
    left = positions[0, _THIGHS[0]] - positions[0, _THIGHS[1]]
    left = left - (left @ up) * up
    if np.linalg.norm(left) < 1e-9:
        raise ValueError("positions: the thighs of the first frame coincide seen from above; expected a standing body")
    left = left / np.linalg.norm(left)
    basis = np.stack([left, up, np.cross(left, up)])
    hips = positions[:, _HIPS]
    joints = (positions - hips[:, None]) @ basis.T
    root = (hips - hips[0]) @ basis.T
    joints[..., 1] += root[:, 1, None]
    velocity = np.gradient(root, 1.0 / fps, axis=0) if len(root) > 1 else np.zeros_like(root)
    across = (positions[:, _THIGHS[0]] - positions[:, _THIGHS[1]]) @ basis.T
    angle = np.arctan2(across[:, 2], across[:, 0])
    return FigureMotion(joints, basis, root, velocity, np.stack([np.cos(angle), np.sin(angle)], axis=-1))


class Projection(NamedTuple):
    """Picture places (..., 2) in pixels of a 128-pixel frame, and depths (...) in metres, larger is nearer."""

    points: np.ndarray
    depths: np.ndarray


def project(joints, view: View, px_per_m: float) -> Projection:
    """Joint places (..., 3) in the figure frame on the picture of a view."""
    x, y, z = np.moveaxis(np.asarray(joints, dtype=np.float64), -1, 0)
    cos_yaw, sin_yaw, cos_pitch, sin_pitch = np.cos(view.yaw), np.sin(view.yaw), np.cos(view.pitch), np.sin(view.pitch)
    across = x * cos_yaw + z * sin_yaw
    toward = z * cos_yaw - x * sin_yaw
    height = y * cos_pitch + toward * sin_pitch
    depth = toward * cos_pitch - y * sin_pitch
    points = np.stack([view.centre[0] + px_per_m * across, view.centre[1] - px_per_m * height], axis=-1)
    return Projection(points, depth)
