"""Joined clips: the frames outside a blend are the clips' own, the blend goes the shortest way and does not jump."""

from dataclasses import replace

import numpy as np
import pytest
from clips_for_editing import assert_same, moving, real
from scipy.spatial.transform import Rotation, Slerp

from motionbook import rotations as rot
from motionbook.cleaning.editing import heading, shift, turn
from motionbook.cleaning.joining import concatenate, joined_ranges
from motionbook.kinematics import forward_kinematics
from motionbook.resampling import resample
from motionbook.skeletons import CSKEL27, FREEMOCAP, LAFAN1


def test_one_clip_is_itself_and_none_is_refused():
    clip = moving(LAFAN1)
    assert concatenate([clip]) is clip
    with pytest.raises(ValueError, match="at least one"):
        concatenate([])


@pytest.mark.parametrize("seconds", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("translations", [False, True], ids=["bones", "places per frame"])
def test_frames_outside_the_blends_are_the_clips_own(seconds, translations):
    clips = [moving(FREEMOCAP, n, seed, translations=translations) for seed, n in enumerate((50, 64, 41))]
    result = concatenate(clips, seconds, align=False)
    assert len(result) == 155 - 2 * round(30 * seconds)
    for (start, stop), clip, lost in zip(joined_ranges(clips, seconds), clips, (1, 2, 1), strict=True):
        blend = round(30 * seconds)
        assert stop - start == len(clip) - lost * blend
        first = 0 if clip is clips[0] else blend
        assert_same(result[start:stop], clip[first : first + stop - start], 1e-12)


def test_the_blend_agrees_with_scipys_slerp():
    # seen to fail with u for 3 u^2 - 2 u^3, with the clips exchanged, and with one frame less of overlap
    a, b = moving(CSKEL27, 40, 1), moving(CSKEL27, 40, 2)
    b = replace(b, rotations=-b.rotations)  # the sign of a quaternion must not matter
    result = concatenate([a, b], 0.4, align=False)
    u = np.arange(1, 13) / 13
    weight = 3 * u**2 - 2 * u**3
    for joint in (0, 4, 17):
        for i in range(12):
            ends = np.stack([a.rotations[28 + i, joint], b.rotations[i, joint]])
            truth = Slerp([0, 1], Rotation.from_quat(ends, scalar_first=True))(weight[i])
            assert rot.angle_between(result.rotations[28 + i, joint], truth.as_quat(scalar_first=True)) < 1e-7
    line = a.root_positions[28:] + weight[:, None] * (b.root_positions[:12] - a.root_positions[28:])
    np.testing.assert_allclose(result.root_positions[28:40], line, atol=1e-12)


def test_two_poses_held_turn_into_each_other_without_a_jump():
    """Closed form: between two still clips a joint turns by weight(u) of the angle, at most 1.5 of it per blend."""
    a, b = moving(LAFAN1, 1, 1), moving(LAFAN1, 1, 2)
    b = replace(b, rotations=np.concatenate([a.rotations[:, :1], b.rotations[:, 1:]], axis=1))
    still = [
        replace(c, root_positions=np.repeat(a.root_positions, 40, 0), rotations=np.repeat(c.rotations, 40, 0))
        for c in (a, b)
    ]
    result = concatenate(still, 0.5, align=False)
    whole = rot.angle_between(a.rotations[0], b.rotations[0])
    steps = rot.angle_between(result.rotations[1:], result.rotations[:-1])
    np.testing.assert_allclose(steps.sum(axis=0), whole, atol=1e-9)
    assert (steps.max(axis=0) <= 1.5 * whole / 16 + 1e-12).all()
    assert steps[:24].max() < 1e-12 and steps[40:].max() < 1e-12
    # nor does the speed: it begins and ends with 3 u^2 of the first share, 1/16 of the way and less than 1.2 % of it
    assert (steps[24] < 0.012 * whole + 1e-12).all() and (steps[39] < 0.012 * whole + 1e-12).all()


@pytest.mark.parametrize("seconds", [0.0, 0.2, 0.3])
def test_aligned_clips_meet_in_place_and_heading(seconds):
    a = moving(LAFAN1, 60, 1)
    b = shift(turn(moving(LAFAN1, 60, 2), 2.0), [3.0, 0.0, -5.0])
    result = concatenate([a, b], seconds)
    blend = round(30 * seconds)
    begin, stop = joined_ranges([a, b], seconds)[1]
    own, moved = b[blend:], result[begin:stop]
    # one rigid motion over the floor: heights and everything within the clip stay
    first, second = forward_kinematics(own).positions, forward_kinematics(moved).positions
    np.testing.assert_allclose(second[..., 1], first[..., 1], atol=1e-9)
    apart = [np.linalg.norm(x[:, None, :5] - x[:, :5, None], axis=-1) for x in (first, second)]
    np.testing.assert_allclose(apart[1], apart[0], atol=1e-9)
    turned = (heading(moved) - heading(own) + np.pi) % (2 * np.pi) - np.pi
    np.testing.assert_allclose(turned, turned[0], atol=1e-9)
    # in the middle of the overlap, or from last to first frame, the two are at one place
    k = (blend - 1) // 2 if blend else 0
    at = len(a) - blend + k if blend else len(a) - 1
    q = rot.from_axis_angle(np.array([0.0, 1, 0]), turned[0])
    there = rot.rotate(q, b.root_positions[k] - b.root_positions[blend]) + moved.root_positions[0]
    np.testing.assert_allclose((there - a.root_positions[at])[[0, 2]], 0, atol=1e-9)
    faced = heading(b)[k] + turned[0] - heading(a)[at]
    assert abs((faced + np.pi) % (2 * np.pi) - np.pi) < 1e-9


def test_feet_of_real_clips_do_not_jump(shared_data):
    """No foot is faster in the blend than in the clips by more than the way between the poses at 1.5 per blend."""
    clip = real(shared_data, "reactidle/genuine/007_genuine.bvh", 600)
    a, b = clip[:200], turn(shift(clip[350:550], [2.0, 0, 1.0]), 1.0)
    result = concatenate([a, b], 0.5)
    feet = [clip.skeleton.index(name) for name in ("foot.L", "foot.R")]
    steps = [
        np.linalg.norm(np.diff(forward_kinematics(c).positions[:, feet], axis=0), axis=-1).max() for c in (result, a, b)
    ]
    (_, end), (begin, _) = joined_ranges([a, b], 0.5)
    places = forward_kinematics(result).positions[:, feet]
    way = np.linalg.norm(places[begin] - places[end - 1], axis=-1).max()
    blend = begin - end
    assert steps[0] <= max(steps[1:]) + 1.5 * (way + steps[1] * blend + steps[2] * blend) / (blend + 1)
    hard = concatenate([a, b], 0.0, align=False)
    jump = np.linalg.norm(np.diff(forward_kinematics(hard).positions[:, feet], axis=0), axis=-1).max()
    assert jump > 20 * steps[0]


def test_a_clip_cut_in_two_comes_together_again():
    clip = moving(LAFAN1, 90, 4)
    again = concatenate([clip[:50], clip[38:]], 0.4, align=False)
    assert_same(again, clip, 1e-9)
    assert_same(concatenate([clip[:50], clip[38:]], 0.4), clip, 1e-9)
    assert_same(concatenate([clip[:50], clip[50:]], 0.0, align=False), clip, 1e-12)


def test_translations_of_one_clip_only():
    a, b = moving(FREEMOCAP, 30, 1, translations=True), moving(FREEMOCAP, 30, 2)
    result = concatenate([a, b], 0.2, align=False)
    np.testing.assert_array_equal(result.translations[:24], a.translations[:24])
    np.testing.assert_array_equal(result.translations[30:], np.broadcast_to(FREEMOCAP.offsets, (24, 19, 3)))


def test_clips_that_do_not_fit_are_refused():
    clip = moving(LAFAN1)
    with pytest.raises(ValueError, match=r"clip 1 differs from clip 0 in .*retarget"):
        concatenate([clip, moving(CSKEL27)])
    longer = LAFAN1.offsets.copy()
    longer[LAFAN1.index("LeftLeg"), 0] += 0.02
    with pytest.raises(ValueError, match=r"LeftLeg of clip 1 lies 0\.0200 m .*retarget"):
        concatenate([clip, replace(clip, skeleton=replace(LAFAN1, offsets=longer))])
    with pytest.raises(ValueError, match=r"clip 1 has 60 and clip 0 30 .*resample"):
        concatenate([clip, resample(clip, 60)])
    with pytest.raises(ValueError, match=r"at least 30 frames, clip 1 has 29"):
        concatenate([clip, clip[:29], clip], 0.5)
    with pytest.raises(ValueError, match="blend_seconds"):
        concatenate([clip, clip], -1.0)
