"""Foot skate, smoothness, penetration and bone change against closed forms."""

import numpy as np
import pytest

from motionbook import read_bvh
from motionbook import rotations as rot
from motionbook.cleaning import motion_signals as signals
from motionbook.cleaning.clip_quality import (
    bone_length_change,
    clip_quality,
    foot_skate,
    log_dimensionless_jerk,
    quality_table,
    windowed_ldlj,
)
from motionbook.cleaning.penetration import LimbPairs, limb_pairs, penetration_depths
from motionbook.clip import Clip
from motionbook.drawing import Body
from motionbook.kinematics import WorldPose, local_rotations
from motionbook.skeletons import FREEMOCAP, LAFAN1, t_pose
from motionbook.synthesis.performers import idle, make_performer


def standing(skeleton, path):
    """The skeleton in its T-pose with the root along ``path`` (frames, 3), 30 fps."""
    pose = local_rotations(skeleton.parents, t_pose(skeleton))
    return Clip(skeleton, np.asarray(path, float), np.broadcast_to(pose, (len(path), *pose.shape)), 30.0)


def minimum_jerk(seconds, fps):
    s = np.arange(0, seconds + 0.5 / fps, 1 / fps) / seconds
    return 10 * s**3 - 15 * s**4 + 6 * s**5


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_a_minimum_jerk_movement_has_minus_ln_720(fps):
    """Flash and Hogan's movement: integral of squared jerk 720 A^2/T^5, at any amplitude and rate.

    Slow ones, for a third difference over a thirtieth of a second leaves the first and last tenth out.
    """
    for metres, seconds in ((0.3, 20.0), (2.0, 40.0)):
        path = metres * minimum_jerk(seconds, fps) * np.array([[0.6], [0.0], [0.8]])
        found = log_dimensionless_jerk(path[:, None], fps)
        assert found.shape == (1,) and found[0] == pytest.approx(-np.log(720), abs=0.03)


def test_ldlj_of_a_sine_and_of_rest():
    """k periods of A sin(wt): length 4 A k, integral of jerk^2 A^2 w^6 T/2, so -ln(T^6 w^6 / (32 k^2)); at rest NaN."""
    t = np.arange(0, 10, 1 / 240)
    w = 2 * np.pi * 0.5
    path = np.stack([[0.1 * np.sin(w * t)], [0 * t], [0 * t]])
    assert log_dimensionless_jerk(path, 240.0)[0] == pytest.approx(-np.log((10 * w) ** 6 / (32 * 25)), abs=0.02)
    assert np.isnan(log_dimensionless_jerk(0 * path, 240.0)[0])
    # a window of 2 s holds one period, however many there are
    assert windowed_ldlj(path, 240.0) == pytest.approx(-np.log((2 * w) ** 6 / 32), abs=0.05)
    assert np.isnan(windowed_ldlj(0 * path, 240.0))


def test_noise_lowers_ldlj():
    t = np.arange(0, 10, 1 / 30)
    path = np.stack([[0.3 * np.sin(t)], [0 * t], [0 * t]])
    noisy = path + 0.002 * np.random.default_rng(0).standard_normal(path.shape)
    assert windowed_ldlj(noisy, 30.0) < windowed_ldlj(path, 30.0) - 3


@pytest.mark.parametrize("skeleton", [LAFAN1, FREEMOCAP], ids=["lafan1", "freemocap"])
def test_a_sliding_foot_slides_as_fast_as_it_slides(skeleton):
    """A T-pose that glides 12 cm a second: both feet are planted all the time and skate 12 cm per planted second."""
    path = np.outer(np.arange(90) / 30, [0.12 * 0.6, 0.0, 0.12 * 0.8]) + np.array([0.0, 1.0, 0.0])
    quality = clip_quality(standing(skeleton, path))
    assert quality.foot_skate == pytest.approx(12.0) and quality.planted == 1.0
    still = clip_quality(standing(skeleton, 0 * path + np.array([0.0, 1.0, 0.0])))
    assert still.foot_skate == pytest.approx(0.0, abs=1e-9)


def test_a_jump_from_a_t_pose_elsewhere_is_no_skate():
    """The first row is 2 m away: 60 m/s, which no foot does. The rest glides 12 cm a second."""
    path = np.outer(np.arange(150) / 30, [0.12, 0.0, 0.0]) + np.array([0.0, 1.0, 0.0])
    path[0, 2] = 2.0
    quality = clip_quality(standing(LAFAN1, path))
    assert quality.foot_skate == pytest.approx(12.0) and quality.planted == pytest.approx(148 / 149)


def test_too_short_a_clip_has_no_number_but_a_reason():
    """7 frames say nothing about skating, 59 nothing about smoothness that a longer clip's could be compared with."""
    clip = idle(make_performer(2, 0), 5.0)
    assert np.isfinite(clip_quality(clip).foot_skate) and np.isfinite(clip_quality(clip).ldlj)
    assert clip_quality(clip).note == ""
    brief, shorter = clip_quality(clip[:7]), clip_quality(clip[:59])
    assert (
        np.isnan(brief.foot_skate) and brief.note == "foot skate: planted for less than 0.5 s; LDLJ: shorter than 2 s"
    )
    assert np.isfinite(shorter.foot_skate) and np.isnan(shorter.ldlj) and shorter.note == "LDLJ: shorter than 2 s"
    assert np.isfinite(clip_quality(clip[:60]).ldlj)


def test_a_body_without_arms_has_feet(shared_data):
    clip = read_bvh(shared_data / "bvh" / "real" / "27_slimevr_hmd_root.bvh")
    quality = clip_quality(clip)
    assert quality.planted > 0.9 and quality.foot_skate < 1.0
    assert "penetration: the joint names tell no head or no arms" in quality.note and "feet" not in quality.note


def test_a_lifted_or_turning_foot_does_not_skate():
    """Half of the time 10 cm up and moving on: planted half the time, no skate. A turn about a toe is none either."""
    frames = np.arange(200)
    up = (frames >= 100).astype(float)
    path = np.stack([0.5 * up * (frames - 100) / 30, 1.0 + 0.1 * up, 0 * up], axis=-1)
    quality = clip_quality(standing(LAFAN1, path))
    assert quality.planted == pytest.approx(0.5, abs=0.01) and quality.foot_skate == pytest.approx(0.0, abs=1e-9)
    points = signals.body_points(LAFAN1)
    clip = standing(LAFAN1, np.zeros((60, 3)) + np.array([0.0, 1.0, 0.0]))
    places = signals.point_places(clip, points).copy()
    for foot in points.feet:  # the ankle circles about the toe
        ankle, toe = foot[:2]
        turn = rot.from_axis_angle([0.0, 1.0, 0.0], np.arange(60) / 30)
        places[:, ankle] = (places[:, toe].T + rot.rotate(turn, (places[:, ankle] - places[:, toe]).T)).T
    assert foot_skate(places, points, 30.0)[0] == pytest.approx(0.0, abs=1e-9)


def crossing(gap: float, angle: float) -> float:
    """Depth of two capsules, 1 m long and of radii 5 and 3 cm, crossed at their middles ``gap`` metres apart."""
    joints = np.array([0, 1])
    ends = np.array([[0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])
    body = Body(joints, -ends, ends, np.array([[0.05, 0.05], [0.03, 0.03]]))
    turns = np.stack([rot.identity(), rot.from_axis_angle([0.0, 1.0, 0.0], angle)])[None]
    world = WorldPose(np.array([[[0.0, 0.0, 0.0], [0.0, gap, 0.0]]]), turns)
    depths, _ = penetration_depths(world, LimbPairs(body, np.array([[0, 1]]), ("a in b",)))
    return float(depths[0])


def test_crossed_capsules_are_as_deep_as_the_radii_exceed_the_gap():
    for angle in (0.0, 0.3, np.pi / 2, np.pi):  # parallel ones too
        assert crossing(0.02, angle) == pytest.approx(0.05 + 0.03 - 0.02, abs=1e-9)
        assert crossing(0.20, angle) == pytest.approx(0.08 - 0.20, abs=1e-9)


def test_a_cone_is_as_thick_as_it_is_where_it_is_met():
    """A thin rod 4 cm over a cone of 6 cm at its start and 2 cm at its end, near the start, midway, near the end."""
    for share, radius in ((0.1, 0.056), (0.5, 0.04), (0.9, 0.024)):
        starts = np.array([[share - 0.5, 0.04, -0.2], [-0.5, 0.0, 0.0]])
        ends = np.array([[share - 0.5, 0.04, 0.2], [0.5, 0.0, 0.0]])
        for order in ([0, 1], [1, 0]):  # whichever of the two is asked first
            body = Body(np.array([0, 0]), starts, ends, np.array([[0.01, 0.01], [0.06, 0.02]]))
            world = WorldPose(np.zeros((1, 1, 3)), rot.identity((1, 1)))
            depths, _ = penetration_depths(world, LimbPairs(body, np.array([order]), ("",)))
            assert depths[0] == pytest.approx(0.01 + radius - 0.04, abs=1e-9)


def test_closest_points_agree_with_a_dense_search():
    """Random cones against all pairs of 400 points on either axis."""
    rng = np.random.default_rng(2)
    share = np.linspace(0, 1, 400)
    for _ in range(20):
        starts, ends = rng.normal(0, 0.3, (2, 2, 3))
        body = Body(np.array([0, 0]), starts, ends, np.full((2, 2), 0.05))
        world = WorldPose(np.zeros((1, 1, 3)), rot.identity((1, 1)))
        depths, _ = penetration_depths(world, LimbPairs(body, np.array([[0, 1]]), ("",)))
        a, b = (starts[i] + share[:, None] * (ends[i] - starts[i]) for i in range(2))
        least = np.linalg.norm(a[:, None] - b[None], axis=-1).min()
        assert depths[0] == pytest.approx(0.1 - least, abs=2e-3) and depths[0] >= 0.1 - least - 1e-12


def test_an_arm_through_the_trunk_is_found_and_a_t_pose_is_clear():
    clip = standing(LAFAN1, np.zeros((30, 3)) + np.array([0.0, 1.0, 0.0]))
    assert clip_quality(clip).penetration == 0 and clip_quality(clip).depth == 0
    world = np.broadcast_to(t_pose(LAFAN1), clip.rotations.shape).copy()
    across = rot.from_axis_angle([0.0, 1.0, 0.0], np.pi)  # the forearm folded back at the elbow, into the shoulder
    for name in ("LeftForeArm", "LeftHand"):
        joint = LAFAN1.index(name)
        world[15:, joint] = rot.multiply(across, world[15:, joint])
    folded = Clip(LAFAN1, clip.root_positions, local_rotations(LAFAN1.parents, world), 30.0)
    quality = clip_quality(folded)
    assert quality.penetration == pytest.approx(0.5) and quality.deepest == "left arm in trunk"
    assert 0.08 < quality.depth < 0.25


def test_pairs_leave_neighbours_out():
    for skeleton in (LAFAN1, FREEMOCAP):
        words = set(limb_pairs(skeleton).words)
        assert {"left arm in trunk", "right arm in head", "left shin in right shin"} <= words
        assert ("left arm in right arm" in words) != ("right arm in left arm" in words)
        assert not any("upper arm in" in w or w == "left arm in left upper arm" or w.startswith("trunk") for w in words)


def test_a_stretched_bone_is_reported_with_its_joint():
    """10 % more in one frame of one bone; a clip without bones of its own has none."""
    clip = standing(FREEMOCAP, np.zeros((40, 3)))
    assert bone_length_change(clip) == (0.0, "")
    moved = np.broadcast_to(FREEMOCAP.offsets, (40, *FREEMOCAP.offsets.shape)).copy()
    shin = FREEMOCAP.index("shin.L")
    moved[20, shin] *= 1.1
    change, joint = bone_length_change(Clip(FREEMOCAP, clip.root_positions, clip.rotations, 30.0, moved))
    assert change == pytest.approx(0.1) and joint == "shin.L"


def test_table_of_clips_and_the_least_length():
    clip = idle(make_performer(2, 0), 5.0)
    table = quality_table({"a": clip, "b": clip[:60]})
    assert list(table.index) == ["a", "b"] and table["Duration [s]"].tolist() == pytest.approx([5.0, 2.0])
    with pytest.raises(ValueError, match="at least 2 frames, got 1"):
        clip_quality(clip[:1])


def test_real_clips(shared_data):
    """FreeMoCap's bones are rigid and its standing feet creep by less than a centimetre a second."""
    clip = read_bvh(shared_data / "reactidle" / "acted" / "009_acted.bvh", positions="add_root", fps=30.0)
    quality = clip_quality(clip)
    assert 0.1 < quality.foot_skate < 1.0 and quality.planted > 0.95 and quality.bone_change < 1e-3
    assert -17 < quality.ldlj < -12
