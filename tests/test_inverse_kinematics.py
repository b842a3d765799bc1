"""Two-bone inverse kinematics against forward kinematics and against a triangle solved by hand."""

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inverse_kinematics import place_limb_end, two_bone_ik, two_bone_pose
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import LAFAN1

LEG = ("LeftUpLeg", "LeftLeg", "LeftFoot")


def random_clip(frames, rng, spread=0.5):
    turns = rot.from_rotation_vector(spread * rng.standard_normal((frames, 22, 3)))
    return Clip(LAFAN1, rng.standard_normal((frames, 3)), turns, 30.0)


def test_three_four_five_triangle():
    # upper 3, lower 4, target at 5: the middle joint is where the right angle is, (9/5, 12/5)
    pose = two_bone_pose([0.0, 0, 0], [5.0, 0, 0], 3.0, 4.0, [1.0, 2.0, 0.0])
    assert np.allclose(pose.middle, [1.8, 2.4, 0.0])
    assert np.allclose(pose.end, [5.0, 0, 0])


def test_out_of_reach_is_pulled_in_along_its_direction():
    pose = two_bone_pose([1.0, 0, 0], [1.0, 9.0, 0], 1.0, 1.0, [0.0, 0, 1.0], straightest=0.999)
    assert np.allclose(pose.end, [1.0, 1.998, 0.0])
    assert pose.middle[2] > 0


def test_limb_reaches_target_and_keeps_bones_hinge_and_foot():
    """Planted faults seen to fail it: hinge not turned with the plane, turns applied after instead of before."""
    rng = np.random.default_rng(1)
    clip = random_clip(200, rng)
    before = forward_kinematics(clip)
    a, b, c = (LAFAN1.index(n) for n in LEG)
    target = before.positions[:, a] + 0.6 * rot.rotate(rot.random_rotations((200,), rng), [1.0, 0, 0])
    moved = place_limb_end(clip, LEG, target)
    after = forward_kinematics(moved)
    assert np.abs(after.positions[:, c] - target).max() < 1e-9
    assert rot.angle_between(after.rotations[:, c], before.rotations[:, c]).max() < 1e-7
    others = [j for j in range(22) if j not in (a, b, c)]
    assert np.array_equal(moved.rotations[:, others], clip.rotations[:, others])
    # the knee joint only flexes: between old and new local rotation of the knee lies a turn about the limb's normal
    normal = np.cross(before.positions[:, b] - before.positions[:, a], before.positions[:, c] - before.positions[:, b])
    in_thigh = rot.rotate(rot.inverse(before.rotations[:, a]), normal)
    flex = rot.to_rotation_vector(rot.multiply(moved.rotations[:, b], rot.inverse(clip.rotations[:, b])))
    assert np.abs(np.cross(flex, in_thigh / np.linalg.norm(in_thigh, axis=-1, keepdims=True))).max() < 1e-6


def test_pole_turns_the_knee():
    rng = np.random.default_rng(2)
    start, middle, end = np.zeros((50, 3)), rng.standard_normal((50, 3)), rng.standard_normal((50, 3))
    end = middle + end
    target = 0.5 * (np.linalg.norm(middle, axis=-1) + np.linalg.norm(end - middle, axis=-1))[:, None] * [0.0, -1.0, 0]
    target = np.where(np.linalg.norm(target, axis=-1, keepdims=True) < 0.1, [[0, -0.5, 0]], target)
    turns = two_bone_ik(start, middle, end, target, pole=np.array([0.0, 0.2, 1.0]))
    knee = rot.rotate(turns.upper, middle)
    assert np.allclose(knee, turns.pose.middle)
    assert np.allclose(knee + rot.rotate(turns.lower, end - middle), turns.pose.end)
    assert np.abs(knee[:, 0]).max() < 1e-9 and (knee[:, 2] > -1e-9).all()


def test_target_equal_to_present_place_changes_nothing():
    clip = random_clip(20, np.random.default_rng(3))
    ankle = forward_kinematics(clip).positions[:, LAFAN1.index("LeftFoot")]
    # the random knees stay short of full stretch, where the target would be pulled in
    assert rot.angle_between(place_limb_end(clip, LEG, ankle).rotations, clip.rotations).max() < 1e-6


def test_errors_say_the_way_out():
    line = np.array([[0.0, 0, 0], [0, -1, 0], [0, -2, 0]])
    with pytest.raises(ValueError, match="give pole"):
        two_bone_ik(*line, [0.0, -1, 1])
    with pytest.raises(ValueError, match="no direction"):
        two_bone_pose([0.0, 0, 0], [0.0, 0, 0], 1.0, 1.0, [0.0, 0, 1])
    with pytest.raises(ValueError, match="a chain"):
        place_limb_end(random_clip(2, np.random.default_rng(0)), ("Hips", "LeftLeg", "LeftFoot"), np.zeros((2, 3)))
