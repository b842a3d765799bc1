"""Surfaces, distortions, features and the linear measure of chapter 06, against closed forms."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.spatial import cKDTree

from motionbook import quality, rotations, skeletons
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.quality.body import MeshSequence
from motionbook.quality.distortion import hold, middle_window
from motionbook.quality.features import (
    Performance,
    foot_contact_difference,
    log_dimensionless_jerk,
    surface_distances,
    surface_speed,
)


def standing(frames=60, fps=30.0) -> Clip:
    """A person who sways, turns and swings the arms a little in the T-pose."""
    skeleton = skeletons.LAFAN1
    local = local_rotations(skeleton.parents, skeletons.t_pose(skeleton))
    t = np.arange(frames) / fps
    rng = np.random.default_rng(3)
    swing = 0.3 * np.sin(2 * np.pi * (0.3 + 0.4 * rng.random((22, 3))) * t[:, None, None] + 6 * rng.random((22, 3)))
    turned = rotations.multiply(local, rotations.from_rotation_vector(swing))
    root = np.stack([0.2 * np.sin(t), 0.95 + 0.01 * np.sin(2 * t), 0.3 * t], axis=-1)
    return Clip(skeleton, root, turned, fps)


@pytest.fixture(scope="module")
def clip():
    return standing()


@pytest.fixture(scope="module")
def surface():
    return quality.make_surface(skeletons.LAFAN1, 1_500, spacing=0.02)


def test_surface_is_closed_and_of_a_persons_size(surface):
    assert abs(len(surface.vertices) - 1_500) < 30
    edges = np.sort(surface.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    # every edge of a closed surface belongs to two faces
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    a, b, c = surface.vertices[surface.faces].transpose(1, 0, 2)
    volume = np.einsum("fi,fi->f", a, np.cross(b, c)).sum() / 6
    assert 0.045 < abs(volume) < 0.1  # cubic metres: 45 to 100 litres
    assert 1.5 < np.ptp(surface.vertices[:, 1]) < 1.95
    np.testing.assert_allclose(surface.weights.sum(1), 1.0)


def test_skinning_moves_rigidly_with_the_whole_body(surface, clip):
    still = replace(clip, root_positions=np.zeros((60, 3)), rotations=np.repeat(clip.rotations[:1], 60, axis=0))
    turn = rotations.from_rotation_vector([0.3, -1.0, 0.2])
    moved = still.rotations.copy()
    moved[:, 0] = rotations.multiply(turn, moved[:, 0])
    shifted = replace(still, root_positions=np.tile([1.0, 2.0, 3.0], (60, 1)), rotations=moved)
    expected = rotations.rotate(turn, quality.move_surface(surface, still).vertices[0]) + np.array([1, 2, 3])
    np.testing.assert_allclose(quality.move_surface(surface, shifted).vertices[0], expected, atol=1e-12)


def test_rest_pose_gives_the_rest_surface(surface):
    skeleton = skeletons.LAFAN1
    rest = local_rotations(skeleton.parents, skeletons.t_pose(skeleton))[None]
    moved = quality.move_surface(surface, Clip(skeleton, np.zeros((1, 3)), rest, 30.0))
    np.testing.assert_allclose(moved.vertices[0], surface.vertices, atol=1e-12)


def test_features_of_a_copy_are_zero_and_a_lift_is_read_exactly(surface, clip):
    reference = Performance(quality.move_surface(surface, clip), clip)
    assert all(value == 0 for value in quality.features(reference, reference, frame_step=20).values())
    lifted = quality.distort(clip, "contact", 2).clip
    values = quality.features(reference, Performance(quality.move_surface(surface, lifted), lifted), frame_step=20)
    assert [values[name] for name in ("F3", "F4", "F7")] == pytest.approx([0.15] * 3)
    assert abs(values["F6"]) < 1e-9 and values["F5"] < 1e-12
    assert 0 < values["F2"] <= 0.15 + 1e-12 and 0 < values["F1"] <= 2 * 0.15**2


def test_surface_distances_by_hand():
    a = MeshSequence(np.array([[[0, 0, 0], [1, 0, 0]]], float), np.zeros((0, 3), int), 30)
    g = MeshSequence(np.array([[[0, 0, 0], [3, 0, 0]]], float), np.zeros((0, 3), int), 30)
    # a to g: 0 and 1; g to a: 0 and 2. Chamfer 1/2 + 4/2, Hausdorff 2
    assert surface_distances(a, g, {0: cKDTree(a.vertices[0])}) == (2.5, 2.0)
    steps = np.cumsum(np.full((5, 1, 3), [0.0, 0.0, 0.01]), axis=0)
    assert surface_speed(MeshSequence(steps, np.zeros((0, 3), int), 20)) == pytest.approx(0.01 / (4 / 20))


def test_smoothness_of_a_minimum_jerk_movement_is_minus_ln_720():
    t = np.linspace(0, 1, 2001)
    path = (10 * t**3 - 15 * t**4 + 6 * t**5)[:, None, None] * np.array([0.4, 0.3, 0.0])
    assert log_dimensionless_jerk(path, 2000.0)[0] == pytest.approx(-np.log(720), abs=0.01)
    # without dimension: size and pace do not matter
    assert log_dimensionless_jerk(7 * path, 150.0)[0] == pytest.approx(log_dimensionless_jerk(path, 2000.0)[0])
    assert np.isnan(log_dimensionless_jerk(0.001 * path, 2000.0)[0])


def test_foot_contact_reads_sliding_only_while_the_foot_is_down(clip):
    feet = [3, 4, 7, 8]
    places = np.zeros((11, 22, 3))
    places[6:, feet, 1] = 0.5  # after the sixth frame the feet are in the air
    moved = places.copy()
    moved[:, feet, 0] += np.arange(11)[:, None] * 0.02
    assert foot_contact_difference(places, moved, clip) == pytest.approx(0.02 * 30)


def test_distortions_do_what_their_strength_says(clip):
    path = clip.root_positions - clip.root_positions[0]
    glide = quality.distort(clip, "glide", 5).clip.root_positions - clip.root_positions[0]
    np.testing.assert_allclose(glide[:, [0, 2]], 2 * path[:, [0, 2]])
    np.testing.assert_allclose(glide[:, 1], path[:, 1])
    shown = hold(400, 0.3, seed=5)
    assert (np.diff(shown) == 0).sum() == round(0.3 * 399) and shown[0] == 0 and (shown <= np.arange(400)).all()
    assert not np.array_equal(shown, hold(400, 0.3, seed=6))
    twisted = quality.distort(clip, "twist", 5).clip
    angles = rotations.angle_between(twisted.rotations, clip.rotations).max(0)
    foot = clip.skeleton.index("LeftFoot")
    assert angles[foot] == pytest.approx(0.3, abs=0.002) and set(angles.argsort()[-2:]) == {foot, foot + 4}
    assert middle_window(100)[[0, 99]].max() == 0 and middle_window(101)[50] == 1


def test_intersection_brings_both_hands_closer_to_the_trunk():
    skeleton = skeletons.LAFAN1
    world = skeletons.t_pose(skeleton)
    for side, sign in (("Left", -1.0), ("Right", 1.0)):
        for name in ("Arm", "ForeArm", "Hand"):
            joint = skeleton.index(side + name)
            world[joint] = rotations.multiply(rotations.from_rotation_vector([0, 0, 1.2 * sign]), world[joint])
    hanging = np.repeat(local_rotations(skeleton.parents, world)[None], 41, axis=0)
    clip = Clip(skeleton, np.tile([0, 0.95, 0], (41, 1)), hanging, 30.0)
    before, after = (forward_kinematics(c).positions[20] for c in (clip, quality.distort(clip, "intersection", 5).clip))
    for name in ("LeftHand", "RightHand"):
        joint = skeleton.index(name)
        assert abs(after[joint, 0]) < abs(before[joint, 0]) - 0.03


def test_linear_model_recovers_its_own_scores_and_survives_saving(tmp_path):
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.random((60, 7)), columns=list(quality.FEATURES))
    values["F7"] = values["F4"]  # an exact copy must not break the fit
    scores = 1.5 + values @ np.array([0.2, 0.1, 0.5, 1.0, 0.3, -0.2, 0.7])
    model = quality.fit(values, scores)
    np.testing.assert_allclose(model.predict(values), scores, atol=1e-10)
    loaded = quality.QualityModel.load(model.save(tmp_path / "model.json"))
    assert loaded == model
    with pytest.raises(ValueError, match=r"values: expected \(stimuli, 7\), got \(60, 6\)"):
        model.predict(values.to_numpy()[:, :6])


def test_ridge_is_that_of_scikit_learn_and_tames_near_copies():
    """Penalty n x ridge in scikit-learn's terms; F4 and F7 apart by noise get no weights of hundreds."""
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(1)
    values = pd.DataFrame(rng.random((30, 7)), columns=list(quality.FEATURES))
    values["F7"] = values["F4"] + 1e-4 * rng.standard_normal(30)
    scores = 1.0 + 3.0 * values["F4"] + 0.3 * rng.standard_normal(30)
    plain, ridged = quality.fit(values, scores), quality.fit(values, scores, ridge=0.01)
    standard = (values - values.mean()) / values.std(ddof=0)
    expected = Ridge(alpha=30 * 0.01).fit(standard, scores)
    np.testing.assert_allclose(ridged.weights, expected.coef_, atol=1e-8)
    np.testing.assert_allclose(ridged.predict(values), expected.predict(standard), atol=1e-7)
    assert (plain.ridge, ridged.ridge) == (0.0, 0.01)
    assert max(np.abs(plain.weights)) > 20 > 2 > max(np.abs(ridged.weights))
    with pytest.raises(ValueError, match="ridge: expected 0 or more, got -1"):
        quality.fit(values, scores, ridge=-1)


def test_path_distortions_move_a_walker_by_the_stretch_of_the_way(clip):
    """Twice the way is one way too far, a fifth of it 0.8 too short."""
    from motionbook.quality.inputs import travel

    way = np.linalg.norm((clip.root_positions - clip.root_positions[0])[:, [0, 2]], axis=1).max()
    np.testing.assert_allclose(travel({"walk": clip}).loc["walk", ["glide", "moonwalk"]], [way, 0.8 * way])


def test_judgement_against_scipy_free_formulas():
    predicted, scores = np.array([1.0, 2.0, 3.5, 3.0]), np.array([1.0, 2.5, 3.0, 4.0])
    result = quality.judge(predicted, scores)
    assert result["Mean squared error"] == pytest.approx((0.25 + 0.25 + 1.0) / 4)
    assert result["PLCC"] == pytest.approx(np.corrcoef(predicted, scores)[0, 1])
    assert result["SROCC"] == pytest.approx(0.8)  # one neighbouring pair of four ranks swapped
    with pytest.raises(KeyError, match="no distortion 'blur'; there are glide"):
        quality.distort(standing(8), "blur", 1)
