"""Mirrored clips against the reflection of their joints, on every kind of rig."""

from dataclasses import replace

import numpy as np
import pytest
from clips_for_editing import REAL, assert_same, moving, real

from motionbook import rotations as rot
from motionbook.cleaning.editing import heading
from motionbook.cleaning.mirroring import asymmetry, mirror, opposite_joints
from motionbook.cleaning.rest_pose import standing
from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import CSKEL27, FREEMOCAP, LAFAN1, lafan_to_staystill, staystill_to_lafan

X = np.array([-1.0, 1.0, 1.0])


def tips(clip: Clip) -> np.ndarray:
    """World places (frames, joints + end sites, 3)."""
    places, turned = forward_kinematics(clip)
    ends = [places[:, j] + rot.rotate(turned[:, j], np.array(end)) for j, end in clip.skeleton.end_offsets]
    return np.concatenate([places, *[end[:, None] for end in ends]], axis=1)


def test_opposites_by_hand():
    other = opposite_joints(FREEMOCAP)
    names = FREEMOCAP.names
    said = {names[j]: names[k] for j, k in enumerate(other)}
    assert said["thigh.L"] == "thigh.R" and said["forearm.R"] == "forearm.L" and said["pelvis.L"] == "pelvis.R"
    assert all(said[name] == name for name in ("pelvis", "spine", "spine.001", "neck", "face"))


@pytest.mark.parametrize("translations", [False, True], ids=["bones", "places per frame"])
@pytest.mark.parametrize("skeleton", [LAFAN1, FREEMOCAP, CSKEL27], ids=["lafan1", "freemocap", "cskel27"])
def test_symmetric_skeletons_are_reflected_and_stay(skeleton, translations):
    # seen to fail without the exchange of the joints, and with S left out of the local rotations
    clip = moving(skeleton, translations=translations)
    mirrored = mirror(clip)
    assert mirrored.skeleton is clip.skeleton and asymmetry(skeleton) < 1e-12
    other = opposite_joints(skeleton)
    before, after = forward_kinematics(clip), forward_kinematics(mirrored)
    np.testing.assert_allclose(after.positions, before.positions[:, other] * X, atol=1e-12)
    np.testing.assert_allclose(heading(mirrored), -heading(clip), atol=1e-9)
    assert_same(mirror(mirrored), clip, 1e-12)
    assert_same(mirror(clip, bones="kept"), mirrored, 1e-12)


def test_staystills_frames_mirror_to_the_same_motion():
    clip = moving(LAFAN1)
    there = mirror(lafan_to_staystill(clip))
    assert_same(staystill_to_lafan(there), mirror(clip), 1e-12)


@pytest.mark.parametrize("name", REAL)
def test_real_clips_are_reflected_exactly(shared_data, name):
    clip = real(shared_data, name)
    other = opposite_joints(clip.skeleton)
    mirrored = mirror(clip)
    after = forward_kinematics(mirrored).positions
    np.testing.assert_allclose(after, forward_kinematics(clip).positions[:, other] * X, atol=1e-9)
    assert_same(mirror(mirrored), clip)


@pytest.mark.parametrize("name", ["06_bandai1_bow", "08_rokoko_studio"])
def test_rigs_that_do_not_stand_at_rest_mirror_about_a_pose_from_their_motion(shared_data, name):
    clip = real(shared_data, f"bvh/real/{name}.bvh")
    with pytest.raises(ValueError, match="rest pose"):
        mirror(clip)
    pose = standing(clip).pose
    mirrored = mirror(clip, rest=pose)
    truth = forward_kinematics(clip).positions[:, opposite_joints(clip.skeleton)] * X
    np.testing.assert_allclose(forward_kinematics(mirrored).positions, truth, atol=1e-9)
    assert_same(mirror(mirrored, rest=pose), clip)


@pytest.mark.parametrize("name", REAL)
def test_kept_bones_keep_the_skeleton_and_miss_by_the_asymmetry(shared_data, name):
    clip = real(shared_data, name)
    kept = mirror(clip, bones="kept")
    assert kept.skeleton is clip.skeleton
    assert_same(mirror(kept, bones="kept"), clip)
    off = forward_kinematics(kept).positions - forward_kinematics(mirror(clip)).positions
    # two chains of at most eight bones, each off by no more than the worst
    assert np.linalg.norm(off, axis=-1).max() <= 8 * asymmetry(clip.skeleton) + 1e-9


def test_end_sites_are_exchanged_with_their_joints():
    ends = tuple((joint, (0.1 + 0.01 * joint, 0.02, 0.03)) for joint, _ in LAFAN1.end_offsets)
    clip = replace(moving(LAFAN1), skeleton=replace(LAFAN1, end_offsets=ends))
    mirrored = mirror(clip)
    other = opposite_joints(LAFAN1)
    joints = [joint for joint, _ in ends]
    order = [*other, *(len(LAFAN1) + joints.index(other[joint]) for joint in joints)]
    np.testing.assert_allclose(tips(mirrored), tips(clip)[:, order] * X, atol=1e-12)
    assert_same(mirror(mirrored), clip, 1e-12)


def test_opposites_that_names_do_not_say_can_be_given():
    pairs = {"thigh.L": "hind leg", "arm one": "arm two"}
    skeleton = Skeleton(
        ("hips", "hind leg", "thigh.L", "arm one", "arm two"),
        (-1, 0, 0, 0, 0),
        np.array([[0, 0, 0], [-0.1, 0, 0], [0.1, 0, 0], [0.2, 0.5, 0], [-0.2, 0.5, 0.0]]),
    )
    rng = np.random.default_rng(0)
    clip = Clip(skeleton, rng.normal(size=(4, 3)), rot.random_rotations((4, 5), rng), 30.0)
    with pytest.raises(ValueError, match=r"no opposite for thigh\.L .* pairs="):
        mirror(clip)
    mirrored = mirror(clip, pairs=pairs, rest=rot.identity((5,)))
    order = [0, 2, 1, 4, 3]
    truth = forward_kinematics(clip).positions[:, order] * X
    np.testing.assert_allclose(forward_kinematics(mirrored).positions, truth, atol=1e-12)


def test_sides_built_differently_are_refused():
    skeleton = Skeleton(("Hips", "LeftLeg", "RightLeg", "LeftFoot", "RightFoot"), (-1, 0, 0, 1, 1), np.zeros((5, 3)))
    clip = Clip(skeleton, np.zeros((1, 3)), rot.identity((1, 5)), 30.0)
    with pytest.raises(ValueError, match="hang together alike"):
        mirror(clip)
    with pytest.raises(ValueError, match="bones: expected one of mirrored, kept"):
        mirror(moving(LAFAN1), bones="both")
