"""Edits are rigid motions that put a clip where they say."""

import numpy as np
import pytest
from clips_for_editing import REAL, assert_same, moving, real

from motionbook import read_bvh
from motionbook import rotations as rot
from motionbook.cleaning.editing import (
    Placement,
    centre_first_frame,
    centring,
    face_forward,
    facing,
    flooring,
    follow,
    heading,
    place,
    put_on_floor,
    rescale,
    reverse,
    shift,
    sole_heights,
    turn,
    turn_up,
)
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.skeletons import CSKEL27, FREEMOCAP, LAFAN1, t_pose


def standing(skeleton, frames=3):
    local = local_rotations(skeleton.parents, t_pose(skeleton))
    return Clip(skeleton, np.tile([0.4, 0.9, -0.3], (frames, 1)), np.tile(local, (frames, 1, 1)), 30.0)


@pytest.mark.parametrize("skeleton", [LAFAN1, FREEMOCAP, CSKEL27], ids=["lafan1", "freemocap", "cskel27"])
def test_heading_is_zero_at_plus_z_and_a_quarter_at_plus_x(skeleton):
    clip = standing(skeleton)
    np.testing.assert_allclose(heading(clip), 0.0, atol=1e-9)
    np.testing.assert_allclose(heading(turn(clip, 0.5 * np.pi)), 0.5 * np.pi, atol=1e-9)
    nose = forward_kinematics(turn(clip, 0.5 * np.pi)).rotations[:, 0]
    forward = rot.rotate(nose, rot.rotate(rot.inverse(t_pose(skeleton)[0]), [0.0, 0, 1]))
    np.testing.assert_allclose(forward, np.tile([1.0, 0, 0], (3, 1)), atol=1e-9)


def test_centred_and_forward_in_the_first_frame_only():
    clip = turn(standing(LAFAN1), 2.0)
    clip = Clip(LAFAN1, clip.root_positions + np.arange(3)[:, None] * [0.1, 0, 0.2], clip.rotations, 30.0)
    result = centre_first_frame(face_forward(clip))
    assert heading(result)[0] == pytest.approx(0, abs=1e-9)
    feet = forward_kinematics(result).positions[0, [LAFAN1.index("LeftFoot"), LAFAN1.index("RightFoot")]].mean(axis=0)
    np.testing.assert_allclose(feet[[0, 2]], 0, atol=1e-9)
    a, b = forward_kinematics(clip).positions, forward_kinematics(result).positions
    np.testing.assert_allclose(b[..., 1], a[..., 1], atol=1e-12)  # heights are kept
    np.testing.assert_allclose(np.linalg.norm(a[2] - a[0], axis=-1), np.linalg.norm(b[2] - b[0], axis=-1), atol=1e-12)


@pytest.mark.parametrize("skeleton", [LAFAN1, FREEMOCAP], ids=["lafan1", "freemocap"])
def test_lower_foot_comes_to_the_floor(skeleton):
    clip = standing(skeleton, 40)
    heights = np.where(np.arange(40) < 8, -0.05, 0.0)  # a fifth of the frames sunk by noise
    sunk = Clip(skeleton, clip.root_positions + heights[:, None] * [0, 1.0, 0], clip.rotations, 30.0)
    soles = sole_heights(put_on_floor(shift(sunk, [0, 3.0, 0])))
    np.testing.assert_allclose(soles[8:], 0.0, atol=1e-6)
    np.testing.assert_allclose(soles[:8], -0.05, atol=1e-6)


def a_placement(scale=1.7):
    rng = np.random.default_rng(3)
    return Placement(rot.random_rotations((), rng), rng.normal(size=3), scale)


@pytest.mark.parametrize("translations", [False, True], ids=["bones", "places per frame"])
def test_a_placement_moves_every_joint_as_its_formula_says(translations):
    # seen to fail with the scale left out of the end sites, and with the turn after the translation
    clip, placement = moving(FREEMOCAP, translations=translations), a_placement()
    before, after = forward_kinematics(clip), forward_kinematics(place(clip, placement))
    matrix = rot.to_matrix(placement.rotation)
    truth = 1.7 * before.positions @ matrix.T + placement.translation
    np.testing.assert_allclose(after.positions, truth, atol=1e-12)
    ends = []
    for world, skeleton in ((before, clip.skeleton), (after, place(clip, placement).skeleton)):
        joint, end = skeleton.end_offsets[0]
        ends.append(world.positions[:, joint] + rot.rotate(world.rotations[:, joint], np.array(end)))
    np.testing.assert_allclose(ends[1], 1.7 * ends[0] @ matrix.T + placement.translation, atol=1e-12)


@pytest.mark.parametrize("name", REAL)
def test_each_edit_of_a_real_clip_is_undone(shared_data, name):
    clip = real(shared_data, name)
    edits = [a_placement(), centring(clip), facing(clip), flooring(clip), a_placement(0.6)]
    joined = edits[0]
    for edit in edits:
        moved = place(clip, edit)
        assert_same(place(moved, reverse(edit)), clip)
    for edit in edits[1:]:
        joined = follow(joined, edit)
    one_by_one = clip
    for edit in edits:
        one_by_one = place(one_by_one, edit)
    assert_same(place(clip, joined), one_by_one)
    assert_same(place(one_by_one, reverse(joined)), clip)
    assert_same(rescale(rescale(clip, 100), 0.01), clip)


@pytest.mark.parametrize("name", REAL)
def test_rigid_edits_keep_shapes_and_do_what_they_say(shared_data, name):
    clip = real(shared_data, name)
    edited = put_on_floor(centre_first_frame(face_forward(clip)))
    assert abs(heading(edited)[0]) < 1e-9
    assert abs(np.quantile(sole_heights(edited).min(axis=1), 0.25)) < 1e-9
    a, b = forward_kinematics(clip).positions, forward_kinematics(edited).positions
    apart = [np.linalg.norm(x[:, :, None] - x[:, None], axis=-1) for x in (a[::10], b[::10])]
    np.testing.assert_allclose(apart[1], apart[0], atol=1e-9)
    speeds = [np.linalg.norm(np.diff(x, axis=0), axis=-1) for x in (a, b)]
    np.testing.assert_allclose(speeds[1], speeds[0], atol=1e-9)
    np.testing.assert_array_equal(edited.rotations[:, 1:], clip.rotations[:, 1:])


def test_a_scale_of_a_hundred_is_centimetres():
    clip = moving(LAFAN1)
    metres, centimetres = forward_kinematics(clip).positions, forward_kinematics(rescale(clip, 100)).positions
    np.testing.assert_allclose(centimetres, 100 * metres, atol=1e-9)


@pytest.mark.parametrize("up", ["Z", "-Z", "-Y"])
def test_up_axis_is_turned_and_turned_back(up):
    clip = moving(FREEMOCAP, translations=True)
    there = turn_up(clip, "Y", up)
    axis, sign = "XYZ".index(up[-1]), -1.0 if up[0] == "-" else 1.0
    before, after = forward_kinematics(clip).positions, forward_kinematics(there).positions
    np.testing.assert_allclose(sign * after[..., axis], before[..., 1], atol=1e-12)
    apart = [np.linalg.norm(x - x[:, :1], axis=-1) for x in (before, after)]
    np.testing.assert_allclose(apart[1], apart[0], atol=1e-12)
    assert_same(turn_up(there, up, "Y"), clip, 1e-15)


def test_up_axis_turns_as_the_reader_does(shared_data):
    path = shared_data / "bvh/real/31_no_end_sites_inches_zup.bvh"
    there, turned = read_bvh(path, up="file", metres_per_unit=0.0254), read_bvh(path, up="Z", metres_per_unit=0.0254)
    assert_same(turn_up(there, "Z"), turned, 1e-12)
    assert_same(turn_up(turned, "Y", "Z"), there, 1e-12)


@pytest.mark.parametrize(
    ("placement", "words"),
    [
        (Placement(np.array([1.0, 1, 0, 0]), np.zeros(3)), "unit quaternions"),
        (Placement(rot.identity(), np.zeros(2)), "translation"),
        (Placement(rot.identity(), np.zeros(3), 0.0), "scale"),
        (Placement(rot.identity(), np.zeros(3), -1.0), "scale"),
    ],
)
def test_a_placement_that_is_none_is_refused(placement, words):
    with pytest.raises(ValueError, match=words):
        place(standing(LAFAN1), placement)


def test_an_unknown_up_axis_is_refused():
    with pytest.raises(ValueError, match="source: expected one of Y, -Y, Z, -Z, got 'X'"):
        turn_up(standing(LAFAN1), "X")


@pytest.mark.parametrize("edit", [centre_first_frame, face_forward, put_on_floor])
def test_an_empty_clip_is_refused_in_words(edit):
    with pytest.raises(ValueError, match="clip: expected at least one frame, got none"):
        edit(standing(LAFAN1)[:0])


def test_a_body_without_arms_that_hangs_from_a_headset_is_placed(shared_data):
    """StayStill's three edits need feet and hips; this file has no more."""
    clip = read_bvh(shared_data / "bvh" / "real" / "27_slimevr_hmd_root.bvh")
    placed = centre_first_frame(face_forward(put_on_floor(clip)))
    ankles = forward_kinematics(placed).positions[0, [clip.skeleton.index(f"{s}-Ankle") for s in ("Left", "Right")]]
    np.testing.assert_allclose(ankles.mean(axis=0)[[0, 2]], 0.0, atol=1e-9)
    assert heading(placed)[0] == pytest.approx(0.0, abs=1e-9)
