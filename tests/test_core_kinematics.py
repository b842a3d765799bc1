"""Kinematics against chained 4x4 matrices, and what is done about bones that change."""

import logging
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from motionbook import Clip, Skeleton, forward_kinematics
from motionbook import rotations as rot
from motionbook.kinematics import (
    constant_bones,
    local_rotations,
    merge_root,
    translation_spread,
    world_pose,
    world_pose_slowly,
)
from motionbook.skeletons import LAFAN1

PARENTS = (-1, 0, 1, 1, 3, 0, 5, 0)  # three branches from the root, one branch inside a branch


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def branching_clip(rng, frames=7, moving=False):
    skeleton = Skeleton(tuple(f"joint{j}" for j in range(8)), PARENTS, rng.standard_normal((8, 3)))
    translations = rng.standard_normal((frames, 8, 3)) if moving else None
    turns = rot.random_rotations((frames, 8), rng)
    return Clip(skeleton, rng.standard_normal((frames, 3)) * 10, turns, 30.0, translations)


def matrix_chain(clip):
    """World 4x4 matrices (frames, joints, 4, 4), one product per frame and joint."""
    world = np.zeros((*clip.rotations.shape[:2], 4, 4))
    for frame in range(len(clip)):
        for joint, parent in enumerate(clip.skeleton.parents):
            local = np.eye(4)
            local[:3, :3] = Rotation.from_quat(clip.rotations[frame, joint], scalar_first=True).as_matrix()
            local[:3, 3] = (
                clip.skeleton.offsets[joint] if clip.translations is None else clip.translations[frame, joint]
            )
            if parent < 0:
                local[:3, 3] = clip.root_positions[frame]
            world[frame, joint] = local if parent < 0 else world[frame, parent] @ local
    return world


@pytest.mark.parametrize("moving", [False, True])
def test_forward_kinematics_agrees_with_chained_matrices(moving, rng):
    clip = branching_clip(rng, moving=moving)
    world = matrix_chain(clip)
    pose = forward_kinematics(clip)
    assert np.abs(pose.positions - world[..., :3, 3]).max() < 1e-10
    turned = Rotation.from_matrix(world[..., :3, :3].reshape(-1, 3, 3)).as_quat(scalar_first=True).reshape(7, 8, 4)
    assert rot.angle_between(pose.rotations, turned).max() < 1e-10


def test_kinematics_takes_any_leading_axes(rng):
    clip = branching_clip(rng, frames=6)
    whole = forward_kinematics(clip)
    one = world_pose(clip.skeleton, clip.root_positions[2], clip.rotations[2])
    assert np.array_equal(one.positions, whole.positions[2])
    batch = world_pose(clip.skeleton, clip.root_positions.reshape(2, 3, 3), clip.rotations.reshape(2, 3, 8, 4))
    assert np.array_equal(batch.positions.reshape(6, 8, 3), whole.positions)
    assert np.array_equal(batch.rotations.reshape(6, 8, 4), whole.rotations)


def test_kinematics_of_a_moved_and_turned_figure_moves_and_turns_with_it(rng):
    clip = branching_clip(rng)
    turn, shift = rot.random_rotations((), rng), rng.standard_normal(3)
    turned = clip.rotations.copy()
    turned[:, 0] = rot.multiply(turn, clip.rotations[:, 0])
    moved = replace(clip, root_positions=rot.rotate(turn, clip.root_positions) + shift, rotations=turned)
    expected = rot.rotate(turn, forward_kinematics(clip).positions) + shift
    assert np.abs(forward_kinematics(moved).positions - expected).max() < 1e-12


def test_kinematics_names_the_array_of_the_wrong_shape(rng):
    clip = branching_clip(rng)
    with pytest.raises(ValueError, match=r"rotations: expected \(\.\.\., 8, 4\), got \(7, 7, 4\)"):
        world_pose(clip.skeleton, clip.root_positions, clip.rotations[:, :7])
    with pytest.raises(ValueError, match="root_positions"):
        world_pose(clip.skeleton, clip.root_positions[:, :2], clip.rotations)


def test_local_rotations_undo_the_chain(rng):
    clip = branching_clip(rng)
    world = forward_kinematics(clip).rotations
    assert rot.angle_between(local_rotations(PARENTS, world), clip.rotations).max() < 1e-12


def test_constant_bones_takes_medians_and_reports_the_largest_change(rng, caplog):
    clip = branching_clip(rng, frames=9)
    places = np.tile(clip.skeleton.offsets, (9, 1, 1))
    places[3, 4] += [0.0, 0.013, 0.0]
    places[:, 0] = 99.0  # the root's row is not used
    clip = replace(clip, translations=places)
    assert np.allclose(translation_spread(clip), [0, 0, 0, 0, 0.013, 0, 0, 0])
    with caplog.at_level(logging.INFO, logger="motionbook"):
        fixed = constant_bones(clip)
    assert fixed.translations is None
    assert np.allclose(fixed.skeleton.offsets, clip.skeleton.offsets, atol=1e-15)
    assert "largest change 0.0130 m at joint4" in caplog.text
    with pytest.raises(ValueError, match=r"joint4 moves by 0\.013 m in its parent"):
        constant_bones(clip, max_change=0.01)
    assert constant_bones(fixed).skeleton is fixed.skeleton
    assert (translation_spread(fixed) == 0).all()


def test_merge_root_gives_the_pelvis_the_world_motion(rng):
    parents = (-1, 0, 1, 2, 1)
    skeleton = Skeleton(
        ("root", "hips", "spine", "head", "leg"), parents, rng.standard_normal((5, 3)), ((3, (0, 1, 0)),)
    )
    places = np.tile(skeleton.offsets, (4, 1, 1))
    places[:, 1] = rng.standard_normal((4, 3)) * 2
    clip = Clip(skeleton, rng.standard_normal((4, 3)), rot.random_rotations((4, 5), rng), 30.0, places)
    merged = merge_root(clip)
    before, after = forward_kinematics(clip), forward_kinematics(merged)
    assert merged.skeleton.names == ("hips", "spine", "head", "leg")
    assert merged.skeleton.parents == (-1, 0, 1, 0)
    assert merged.skeleton.end_offsets == ((2, (0.0, 1.0, 0.0)),)
    assert merged.translations is None
    assert np.abs(after.positions - before.positions[:, 1:]).max() < 1e-12
    assert rot.angle_between(after.rotations, before.rotations[:, 1:]).max() < 1e-12
    with pytest.raises(ValueError, match="one child"):
        merge_root(merged)


def test_kinematics_of_no_frames_is_empty():
    skeleton = Skeleton(("a", "b"), (-1, 0), np.zeros((2, 3)))
    pose = forward_kinematics(Clip(skeleton, np.zeros((0, 3)), np.zeros((0, 2, 4)), 30.0))
    assert pose.positions.shape == (0, 2, 3)
    assert pose.rotations.shape == (0, 2, 4)


def test_without_numba_the_result_is_the_same_to_the_last_bit():
    rng = np.random.default_rng(5)
    joints = len(LAFAN1)
    rotations = rot.random_rotations((3, 4, joints), rng)
    roots, bones = rng.normal(size=(3, 4, 3)), rng.normal(size=(3, 1, joints, 3))
    for moved in (None, bones, np.broadcast_to(bones, (3, 4, joints, 3))):
        fast = world_pose(LAFAN1, roots, rotations, moved)
        offsets = LAFAN1.offsets if moved is None else moved
        slow = world_pose_slowly(LAFAN1.parents, offsets, roots, rotations)
        assert np.array_equal(fast.positions, slow.positions) and np.array_equal(fast.rotations, slow.rotations)
