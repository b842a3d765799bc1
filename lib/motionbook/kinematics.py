"""Forward kinematics: from parent-relative rotations to world places, all frames of a joint at once."""

from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton


class WorldPose(NamedTuple):
    """World places (..., joints, 3) in metres and world rotations (..., joints, 4), wxyz."""

    positions: np.ndarray
    rotations: np.ndarray


def forward_kinematics(clip: Clip) -> WorldPose:
    """World places and rotations of every joint of a clip in every frame.

    Returns
    -------
    WorldPose
        positions (frames, joints, 3) in metres, rotations (frames, joints, 4).
    """
    return world_pose(clip.skeleton, clip.root_positions, clip.rotations, clip.translations)


def world_pose(skeleton: Skeleton, root_positions, rotations, translations=None) -> WorldPose:
    """Forward kinematics over plain arrays with any leading axes.

    Parameters
    ----------
    skeleton : Skeleton
    root_positions : (..., 3)
    rotations : (..., joints, 4)
        Parent-relative.
    translations : (..., joints, 3), optional
        Parent-relative places that stand for the skeleton's offsets.
    """
    # Components first, (4, joints, frames): each product is then one pass over contiguous memory.
    local = np.ascontiguousarray(np.moveaxis(np.asarray(rotations, dtype=np.float64), (-1, -2), (0, 1)))
    root = np.moveaxis(np.asarray(root_positions, dtype=np.float64), -1, 0)
    turned = np.empty_like(local)
    placed = np.empty((3, *local.shape[1:]))
    if translations is None:
        offsets = skeleton.offsets.T.reshape(3, len(skeleton), *(1,) * (local.ndim - 2))
    else:
        offsets = np.moveaxis(np.asarray(translations, dtype=np.float64), (-1, -2), (0, 1))
    turned[:, 0], placed[:, 0] = local[:, 0], root
    for joint, parent in enumerate(skeleton.parents[1:], start=1):
        w, x, y, z = turned[:, parent]
        bw, bx, by, bz = local[:, joint]
        turned[0, joint] = w * bw - x * bx - y * by - z * bz
        turned[1, joint] = w * bx + x * bw + y * bz - z * by
        turned[2, joint] = w * by - x * bz + y * bw + z * bx
        turned[3, joint] = w * bz + x * by - y * bx + z * bw
        ox, oy, oz = offsets[:, joint]
        tx, ty, tz = 2 * (y * oz - z * oy), 2 * (z * ox - x * oz), 2 * (x * oy - y * ox)
        placed[0, joint] = placed[0, parent] + ox + w * tx + y * tz - z * ty
        placed[1, joint] = placed[1, parent] + oy + w * ty + z * tx - x * tz
        placed[2, joint] = placed[2, parent] + oz + w * tz + x * ty - y * tx
    return WorldPose(np.moveaxis(placed, (0, 1), (-1, -2)), np.moveaxis(turned, (0, 1), (-1, -2)))


def local_rotations(parents, world_rotations) -> np.ndarray:
    """Parent-relative rotations (..., joints, 4) from world ones; the inverse of the chain above."""
    world = np.asarray(world_rotations, dtype=np.float64)
    parents = np.asarray(parents)
    local = world.copy()
    local[..., 1:, :] = rot.multiply(rot.inverse(world[..., parents[1:], :]), world[..., 1:, :])
    return local
