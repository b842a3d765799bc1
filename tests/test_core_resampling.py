"""Resampling against SciPy's slerp, and against motions whose values between frames are known."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from clips_for_editing import real
from scipy.spatial.transform import Rotation, Slerp

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics
from motionbook.resampling import resample
from motionbook.skeletons import CSKEL27


def random_clip(frames, fps, seed=0):
    rng = np.random.default_rng(seed)
    turns = rot.random_rotations((frames, 27), rng)
    turns[rng.random((frames, 27)) < 0.5] *= -1  # the sign of a quaternion must not matter
    return Clip(CSKEL27, rng.normal(size=(frames, 3)), turns, fps, rng.normal(size=(frames, 27, 3)))


def test_thirty_to_twenty_agrees_with_scipy():
    # seen to fail with the shorter arc left out, and with at * fps / clip.fps the wrong way round
    clip = random_clip(31, 30.0)
    result = resample(clip, 20.0)
    assert len(result) == 21 and result.fps == 20.0
    old, new = np.arange(31) / 30, np.arange(21) / 20
    for joint in (0, 5, 26):
        truth = Slerp(old, Rotation.from_quat(clip.rotations[:, joint], scalar_first=True))(new)
        assert rot.angle_between(result.rotations[:, joint], truth.as_quat(scalar_first=True)).max() < 1e-7
    for ours, source in ((result.root_positions, clip.root_positions), (result.translations, clip.translations)):
        flat = source.reshape(31, -1)
        truth = np.stack([np.interp(new, old, column) for column in flat.T], axis=-1)
        np.testing.assert_allclose(ours.reshape(21, -1), truth, atol=1e-12)


def test_frames_that_fall_on_source_frames_are_untouched():
    clip = random_clip(61, 30.0)
    result = resample(clip, 20.0)
    np.testing.assert_array_equal(result.rotations[::2], clip.rotations[::3])
    np.testing.assert_array_equal(result.root_positions[::2], clip.root_positions[::3])
    np.testing.assert_array_equal(resample(clip, 30.0).rotations, clip.rotations)


def test_a_steady_turn_stays_steady():
    angle = np.linspace(0, 2.0, 25)
    turns = rot.identity((25, 27))
    turns[:, 3] = rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    result = resample(Clip(CSKEL27, np.zeros((25, 3)), turns, 24.0), 60.0)
    assert len(result) == 61  # one second
    steps = rot.angle_between(result.rotations[1:, 3], result.rotations[:-1, 3])
    np.testing.assert_allclose(steps, 2.0 / 60, atol=1e-9)


def test_the_result_does_not_reach_beyond_the_last_frame():
    assert [len(resample(random_clip(n, 30.0), 20.0)) for n in (1, 2, 3, 4, 96)] == [1, 1, 2, 3, 64]


@pytest.mark.parametrize("fps", [0, -5, np.nan])
def test_a_rate_that_is_none_is_refused(fps):
    with pytest.raises(ValueError, match="fps"):
        resample(random_clip(5, 30.0), fps)


RATES = {
    24: Fraction(24),
    25: Fraction(25),
    29.97: Fraction(2997, 100),
    30: Fraction(30),
    60: Fraction(60),
    120: Fraction(120),
}


def shared_frames(source: Fraction, target: Fraction, frames: int) -> list[tuple[int, int]]:
    """Frames (of the source, of the target) at equal time stamps, in exact arithmetic."""
    at = [(Fraction(i) / target * source, i) for i in range(int(frames * target / source) + 1)]
    return [(int(k), i) for k, i in at if k.denominator == 1 and k < frames]


@pytest.mark.parametrize("source", RATES)
@pytest.mark.parametrize("target", RATES)
def test_any_rate_keeps_first_frame_duration_and_shared_time_stamps(source, target):
    whole = random_clip(4101, source)  # 120 and 29.97 meet again after 4000 frames only
    few = Skeleton(CSKEL27.names[:4], CSKEL27.parents[:4], CSKEL27.offsets[:4])
    clip = Clip(few, whole.root_positions, whole.rotations[:, :4], source, whole.translations[:, :4])
    result = resample(clip, target)
    assert result.fps == target
    np.testing.assert_array_equal(result.rotations[0], clip.rotations[0])
    span, was = (len(result) - 1) / target, (len(clip) - 1) / source
    assert was - 1 / target < span <= was + 1e-9  # less than one frame of the new rate is lost, nothing is invented
    shared = shared_frames(RATES[source], RATES[target], len(clip))
    assert len(shared) > 1
    ours, theirs = (np.array(k) for k in zip(*shared, strict=True))
    a, b = forward_kinematics(clip).positions[ours], forward_kinematics(result).positions[theirs]
    np.testing.assert_allclose(b, a, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "rate"), [("bvh/lafan1/walk1_subject1.bvh", 30), ("reactidle/acted/004_acted.bvh", 24)]
)
@pytest.mark.parametrize("up", [60, 120, 29.97, 25])
def test_up_and_down_again_is_the_clip_at_shared_frames(shared_data, name, rate, up):
    """At a whole multiple of the rate every frame is shared, so that the clip comes back as a whole."""
    clip = replace(real(shared_data, name, 1200), fps=rate)
    back = resample(resample(clip, up), clip.fps)
    frames = [k for k, _ in shared_frames(RATES[rate], RATES[up], len(clip)) if k < len(back)]
    if (RATES[up] / RATES[rate]).denominator == 1:
        assert len(frames) == len(back) == len(clip)
    a, b = forward_kinematics(clip).positions[frames], forward_kinematics(back).positions[frames]
    np.testing.assert_allclose(b, a, rtol=0, atol=1e-9)
    assert rot.angle_between(back.rotations[frames], clip.rotations[frames]).max() < 1e-9
