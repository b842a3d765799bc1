"""From landmarks to a clip: gaps, filter, constant bones, rotations; and the simulated detector."""

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import LANDMARKS, Landmarks, assemble, fill_gaps, low_pass, observe, semicircle, true_landmarks
from motionbook.capture.assembly import with_virtual_points
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.skeletons import FREEMOCAP, LAFAN1, t_pose


def moving_clip(frames=90, seed=0):
    """LaFAN1's T-pose with smooth turns of up to 0.4 rad on every joint."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames) / 30.0
    joints = len(LAFAN1)
    waves = rng.uniform(-0.2, 0.2, (2, joints, 3, 1)) * np.sin(2 * np.pi * rng.uniform(0.1, 0.5, (2, joints, 3, 1)) * t)
    local = np.broadcast_to(local_rotations(LAFAN1.parents, t_pose(LAFAN1)), (frames, joints, 4))
    turns = rot.from_rotation_vector(np.moveaxis(waves.sum(axis=0), -1, 0))
    return Clip(LAFAN1, np.tile([0.0, 0.92, 0.0], (frames, 1)), rot.multiply(local, turns), 30.0)


def test_landmarks_are_the_33_of_mediapipe_and_sit_where_the_body_has_them():
    assert len(LANDMARKS) == 33 and LANDMARKS[0] == "nose" and LANDMARKS[31:] == ("left_foot_index", "right_foot_index")
    still = Clip(LAFAN1, [[0.0, 0.92, 0.0]], local_rotations(LAFAN1.parents, t_pose(LAFAN1))[None], 30.0)
    place = dict(zip(LANDMARKS, true_landmarks(still).positions[0], strict=True))
    assert place["left_wrist"][0] > 0.7 > -0.7 > place["right_wrist"][0]  # the figure's left is +X
    assert place["nose"][2] > place["left_ear"][2] + 0.08 and place["left_heel"][2] < place["left_ankle"][2]
    np.testing.assert_allclose(place["left_index"] * [-1, 1, 1], place["right_index"], atol=1e-9)
    with pytest.raises(ValueError, match="LaFAN1"):
        true_landmarks(Clip(FREEMOCAP, np.zeros((1, 3)), rot.identity((1, 19)), 30.0))


def test_simulated_detector_has_the_noise_and_losses_it_was_asked_for():
    truth = true_landmarks(moving_clip(600))
    seen = observe(truth, semicircle(4), np.random.default_rng(1), noise=2.0, drop_share=0.1)
    exact = observe(truth, semicircle(4), np.random.default_rng(1), noise=0.0, drop_share=0.0).pixels
    off = seen.pixels - exact
    lost = np.isnan(seen.pixels[..., 0])
    assert 0.08 < lost.mean() < 0.12
    assert (seen.confidence[lost] == 0).all() and (seen.confidence[~lost] > 0).all()
    assert np.nanstd(off) == pytest.approx(2.0, rel=0.05) and abs(np.nanmean(off)) < 0.05
    lengths = np.diff(np.flatnonzero(np.diff(np.pad(lost[0, :, 0].astype(int), 1))))[::2]
    assert lengths.min() >= 6  # 0.2 s at 30 fps: losses come in bursts


def test_same_seed_same_pictures():
    truth = true_landmarks(moving_clip(30))
    a, b, c = (observe(truth, semicircle(2), np.random.default_rng(s)).pixels for s in (4, 4, 5))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


def test_gaps_are_filled_up_to_a_limit_and_longer_ones_reported():
    line = np.linspace([0, 0, 0], [1, 2, 3], 101)
    points = np.repeat(line[:, None], 3, axis=1)
    points[10:16, 0] = np.nan  # 6 frames
    points[10:24, 1] = np.nan  # 14 frames: too long at 0.4 s
    points[:4, 2] = np.nan  # at the start: nothing to lean on
    result = fill_gaps(points, 30.0, max_seconds=0.4)
    np.testing.assert_allclose(result.points[:, 0], line, atol=1e-12)
    assert result.filled[:, 0].sum() == 6 and result.filled[:, 1:].sum() == 0
    assert np.isnan(result.points[10:24, 1]).all() and np.isnan(result.points[:4, 2]).all()
    assert result.left.sum() == 14 + 4


def test_low_pass_is_3_db_down_at_the_cutoff_and_shifts_nothing():
    """Without the correction for running twice the gain at the cutoff is 0.5, not 0.707."""
    t = np.arange(3000) / 30.0
    for frequency, gain, tolerance in ((7.0, np.sqrt(0.5), 0.002), (2.0, 1.0, 0.002), (12.0, 0.0, 0.01)):
        wave = np.sin(2 * np.pi * frequency * t)
        out = low_pass(wave[:, None], 30.0, cutoff=7.0)[300:-300, 0]
        inside = wave[300:-300]
        along = (out @ inside) / (inside @ inside)
        assert along == pytest.approx(gain, abs=tolerance)  # in phase: all of the gain is along the input
        assert np.abs(out - along * inside).max() < 0.01


def test_low_pass_leaves_gaps_open_and_does_not_smear_over_them():
    wave = np.sin(np.arange(200) / 9.0)
    broken = wave.copy()
    broken[90:100] = np.nan
    broken[100:] += 50.0
    out = low_pass(broken[:, None], 30.0)[:, 0]
    assert np.isnan(out[90:100]).all() and np.isfinite(np.delete(out, np.s_[90:100])).all()
    np.testing.assert_allclose(out[:90], wave[:90], atol=0.02)
    with pytest.raises(ValueError, match="fps / 2"):
        low_pass(wave[:, None], 30.0, cutoff=15.0)


def test_clip_stands_where_the_landmarks_are():
    """Exact landmarks of constant bones: joints agree to what the two halves of the trunk leave open, under 3 mm."""
    landmarks = true_landmarks(moving_clip())
    result = assemble(landmarks)
    points = with_virtual_points(landmarks)
    skeleton = result.clip.skeleton
    places, turned = forward_kinematics(result.clip)
    limbs = [skeleton.index(name) for name in ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R")]
    assert result.residual[:, limbs].max() < 1e-6 and result.residual.max() < 0.02 and result.bridged == 0
    for end, bone in (("left_wrist", "forearm.L"), ("nose", "face"), ("right_foot_index", "foot.R")):
        joint = skeleton.index(bone)
        tip = places[:, joint] + rot.rotate(turned[:, joint], dict(skeleton.end_offsets)[joint])
        along, wanted = tip - places[:, joint], points[end] - points[_start(bone)]
        cosine = np.einsum("ti,ti->t", along, wanted) / np.linalg.norm(along, axis=1) / np.linalg.norm(wanted, axis=1)
        assert np.rad2deg(np.arccos(np.clip(cosine, -1, 1))).max() < 1e-3


def _start(bone):
    return {"forearm.L": "left_elbow", "face": "head_center", "foot.R": "right_ankle"}[bone]


def test_bones_have_constant_length_and_limbs_no_twist():
    rng = np.random.default_rng(2)
    landmarks = true_landmarks(moving_clip())
    noisy = landmarks.positions + 0.004 * rng.standard_normal(landmarks.positions.shape)
    clip = assemble(Landmarks(LANDMARKS, noisy, landmarks.confidence, 30.0)).clip
    assert clip.translations is None and clip.skeleton.names == FREEMOCAP.names
    shin = clip.skeleton.index("shin.L")
    assert np.linalg.norm(clip.skeleton.offsets[shin]) == pytest.approx(0.435, abs=0.002)
    for name in ("shin.L", "forearm.R"):
        joint = clip.skeleton.index(name)
        bone = clip.skeleton.offsets[joint + 1] if name == "shin.L" else dict(clip.skeleton.end_offsets)[joint]
        _, twist = rot.swing_twist(clip.rotations[:, joint], np.array(bone) / np.linalg.norm(bone))
        assert rot.angle_between(twist, rot.identity()).max() < 1e-6


def test_facing_and_heading_are_kept():
    clip = moving_clip(30)
    turn = rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.array(1.1))
    turned = clip.rotations.copy()
    turned[:, 0] = rot.multiply(turn, turned[:, 0])
    away = np.array([2.0, 0.0, -1.0])
    moved = Clip(LAFAN1, rot.rotate(turn, clip.root_positions) + away, turned, 30.0)
    a, b = (forward_kinematics(assemble(true_landmarks(c)).clip).positions for c in (clip, moved))
    np.testing.assert_allclose(rot.rotate(turn, a) + away, b, atol=1e-9)


def test_unknown_stretches_are_carried_over_and_said():
    landmarks = true_landmarks(moving_clip())
    hidden = landmarks.positions.copy()
    hidden[30:60, LANDMARKS.index("left_wrist")] = np.nan
    with pytest.warns(UserWarning, match="30 bone directions and 0 root places of 90"):
        result = assemble(Landmarks(LANDMARKS, hidden, landmarks.confidence, 30.0))
    assert result.bridged == 30
    hidden[:, LANDMARKS.index("left_wrist")] = np.nan
    with pytest.raises(ValueError, match=r"forearm\.L"):
        assemble(Landmarks(LANDMARKS, hidden, landmarks.confidence, 30.0))
