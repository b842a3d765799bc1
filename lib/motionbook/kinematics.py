"""Forward kinematics: from parent-relative rotations to world places, all frames of a joint at once."""

import logging
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.checks import check_shape
from motionbook.clip import Clip, Skeleton

_log = logging.getLogger("motionbook")


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
    joints = len(skeleton)
    rotations = check_shape(rotations, f"... {joints} 4", "rotations")
    root_positions = check_shape(root_positions, "... 3", "root_positions")
    offsets = skeleton.offsets
    if translations is not None:
        offsets = check_shape(translations, f"... {joints} 3", "translations")
    # Components first, (4, joints, frames): each product is then one pass over contiguous memory. The results are
    # views of these two arrays in the usual order of axes.
    turned = np.empty((4, joints, *rotations.shape[:-2]))
    placed = np.empty((3, joints, *rotations.shape[:-2]))
    local, bones = (np.moveaxis(a, (-1, -2), (0, 1)) for a in (rotations, offsets))
    turned[:, 0], placed[:, 0] = local[:, 0], np.moveaxis(root_positions, -1, 0)
    for joint, parent in enumerate(skeleton.parents[1:], start=1):
        w, x, y, z = turned[:, parent]
        bw, bx, by, bz = np.ascontiguousarray(local[:, joint])
        turned[0, joint] = w * bw - x * bx - y * by - z * bz
        turned[1, joint] = w * bx + x * bw + y * bz - z * by
        turned[2, joint] = w * by - x * bz + y * bw + z * bx
        turned[3, joint] = w * bz + x * by - y * bx + z * bw
        ox, oy, oz = bones[:, joint]
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


def translation_spread(clip: Clip) -> np.ndarray:
    """How far each joint strays from its median place in its parent, (joints,) metres; 0 at the root.

    All zero for a clip without ``translations``.
    """
    if clip.translations is None:
        return np.zeros(len(clip.skeleton))
    spread = np.linalg.norm(clip.translations - np.median(clip.translations, axis=0), axis=-1).max(axis=0, initial=0.0)
    spread[0] = 0.0
    return spread


def constant_bones(clip: Clip, max_change: float = 0.05) -> Clip:
    """The clip with ``translations`` resolved: each joint stays at its median place in its parent.

    Rotations are kept, so joints move by what their bone changed; the largest change is logged under "motionbook" and
    ``translation_spread`` gives it per joint.

    Parameters
    ----------
    clip : Clip
    max_change : float
        Metres. FreeMoCap's hips change by up to 13 mm; a joint that strays farther carries motion of its own.

    Raises
    ------
    ValueError
        When a joint strays by more than ``max_change``.
    """
    if clip.translations is None or not len(clip):
        return replace(clip, translations=None)
    spread = translation_spread(clip)
    worst = int(np.argmax(spread))
    name = clip.skeleton.names[worst]
    if spread[worst] > max_change:
        raise ValueError(
            f"constant_bones: {name} moves by {spread[worst]:.3f} m in its parent, more than max_change={max_change}; "
            "call merge_root(clip) first if it hangs on a root that stands still, or raise max_change"
        )
    _log.info("constant_bones: largest change %.4f m at %s", spread[worst], name)
    offsets = np.median(clip.translations, axis=0)
    offsets[0] = clip.skeleton.offsets[0]
    return replace(clip, skeleton=replace(clip.skeleton, offsets=offsets), translations=None)


def merge_root(clip: Clip) -> Clip:
    """The clip without its root, whose only child becomes the root with the same motion in the world.

    For sources that hang a moving pelvis on a root that stands still (Bandai-Namco's joint_Root): speed and floor
    features look at the root and must find the body there.
    """
    skeleton = clip.skeleton
    if skeleton.parents.count(0) != 1 or any(joint == 0 for joint, _ in skeleton.end_offsets):
        children = [skeleton.names[j] for j, parent in enumerate(skeleton.parents) if parent == 0]
        raise ValueError(
            f"merge_root: expected a root {skeleton.names[0]} with one child and no end site, got children "
            f"{', '.join(children) or 'none'}"
        )
    world = forward_kinematics(clip)
    rotations = np.concatenate([world.rotations[:, 1:2], clip.rotations[:, 2:]], axis=1)
    moved = None
    if clip.translations is not None and (clip.translations[:, 2:] != skeleton.offsets[2:]).any():
        moved = clip.translations[:, 1:]
    below = Skeleton(
        skeleton.names[1:],
        tuple(max(parent - 1, -1) for parent in skeleton.parents[1:]),
        skeleton.offsets[1:],
        tuple((joint - 1, offset) for joint, offset in skeleton.end_offsets),
    )
    return Clip(below, world.positions[:, 1], rotations, clip.fps, moved)
