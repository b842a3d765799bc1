"""Triangulation: exact on exact data, weighted as it says, equal to slow references, missing points with a reason."""

from dataclasses import replace

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import Observed, Reason, look_at, project, semicircle, triangulate
from motionbook.capture.cameras import normalised

CAMERAS = tuple(replace(camera, distortion=np.array([-0.05, 0.1, 0.001, -0.001, 0])) for camera in semicircle(4))


def scene(rng, frames=20, points=7):
    return rng.uniform((-0.6, 0.1, -0.4), (0.6, 1.8, 0.4), (frames, points, 3))


def pictures(truth):
    return np.stack([project(camera, truth) for camera in CAMERAS])


def test_exact_pictures_give_exact_points():
    truth = scene(np.random.default_rng(0))
    result = triangulate(CAMERAS, pictures(truth))
    np.testing.assert_allclose(result.positions, truth, atol=1e-8)
    assert result.error.max() < 1e-5 and (result.cameras_used == 4).all()


def test_agrees_with_weighted_least_squares_by_lstsq():
    """Dropping the weights, or squaring them twice, changes this by millimetres."""
    rng = np.random.default_rng(1)
    pixels = pictures(scene(rng)) + 5.0 * rng.standard_normal((4, 20, 7, 2))
    weight = rng.uniform(0.2, 1.0, (4, 20, 7))
    result = triangulate(CAMERAS, pixels, weight)
    for frame, point in ((0, 0), (13, 4), (19, 6)):
        rows, sides = [], []
        for c, camera in enumerate(CAMERAS):
            r, t = rot.to_matrix(camera.rotation), camera.translation
            u = normalised(camera, pixels[c, frame, point])
            for axis in (0, 1):
                scale = weight[c, frame, point] * camera.intrinsics[axis, axis]
                rows.append(scale * (u[axis] * r[2] - r[axis]))
                sides.append(scale * (t[axis] - u[axis] * t[2]))
        truth = np.linalg.lstsq(np.array(rows), np.array(sides), rcond=None)[0]
        np.testing.assert_allclose(result.positions[frame, point], truth, atol=1e-9)


def test_points_seen_by_fewer_than_two_cameras_are_missing_not_guessed():
    truth = scene(np.random.default_rng(2))
    pixels, confidence = pictures(truth), np.ones((4, 20, 7))
    pixels[1:, 3, 2] = np.nan  # one camera left
    confidence[:, 5, 1] = [0, 0.9, 0, 0.9]  # two left
    confidence[:, 6, 0] = 0.2  # all below the limit
    result = triangulate(CAMERAS, pixels, confidence, min_confidence=0.3)
    assert np.isnan(result.positions[3, 2]).all() and np.isnan(result.error[3, 2]) and result.cameras_used[3, 2] == 1
    assert np.isnan(result.positions[6, 0]).all() and result.cameras_used[6, 0] == 0
    assert result.cameras_used[5, 1] == 2 and np.isnan(result.camera_errors[[0, 2], 5, 1]).all()
    np.testing.assert_allclose(result.positions[5, 1], truth[5, 1], atol=1e-8)
    assert np.isnan(result.positions).any(axis=-1).sum() == 2
    strict = triangulate(CAMERAS, pixels, confidence, min_confidence=0.3, min_cameras=3)
    assert np.isnan(strict.positions[5, 1]).all() and np.isnan(strict.positions).any(axis=-1).sum() == 3


def test_parallel_rays_have_no_place():
    result = triangulate((CAMERAS[0], CAMERAS[0]), np.full((2, 1, 1, 2), 900.0))
    assert np.isnan(result.positions).all()


def test_an_unseen_outlier_shows_in_its_cameras_error():
    pixels = pictures(scene(np.random.default_rng(3)))
    pixels[2] += [60.0, 0.0]
    result = triangulate(CAMERAS, pixels, max_error=None)
    assert (np.argmax(result.camera_errors, axis=0) == 2).all()
    np.testing.assert_allclose(result.error, result.camera_errors.mean(axis=0))


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="points: expected"):
        triangulate(CAMERAS, np.zeros((3, 5, 2)))
    with pytest.raises(ValueError, match="confidence: expected one number per point"):
        triangulate(CAMERAS, np.zeros((4, 5, 2)), np.zeros((4, 6)))
    with pytest.raises(ValueError, match="min_cameras"):
        triangulate(CAMERAS, np.zeros((4, 5, 2)), min_cameras=1)
    for options in ({"rule": "median"}, {"method": "svd"}, {"max_error": 0.0}, {"max_error": "none"}):
        with pytest.raises(ValueError, match=f"{next(iter(options))}: expected"):
            triangulate(CAMERAS, np.zeros((4, 5, 2)), **options)
    with pytest.raises(ValueError, match="to compare sides"):
        triangulate(CAMERAS, np.zeros((4, 5, 2)), sides={"legs": ((0, 1),)})
    with pytest.raises(ValueError, match="sides: expected point indices from 0 to 4"):
        triangulate(CAMERAS, np.zeros((4, 1, 5, 2)), sides={"legs": ((0, 5),)})


def test_homogeneous_solution_is_the_smallest_singular_vector():
    """Pose2Sim's system, row by row in pixels through P = K [R t], by numpy's SVD; a lost weight moves it by mm."""
    rng = np.random.default_rng(4)
    cameras = tuple(replace(camera, distortion=np.zeros(5)) for camera in CAMERAS)
    truth = scene(rng)
    pixels = np.stack([project(camera, truth) for camera in cameras]) + 8.0 * rng.standard_normal((4, 20, 7, 2))
    weight = rng.uniform(0.3, 1.0, (4, 20, 7))
    result = triangulate(cameras, pixels, weight, method="homogeneous", max_error=None)
    linear = triangulate(cameras, pixels, weight, max_error=None)
    for frame, point in ((0, 0), (9, 3), (19, 6)):
        rows = []
        for camera, (x, y), w in zip(cameras, pixels[:, frame, point], weight[:, frame, point], strict=True):
            matrix = camera.intrinsics @ np.c_[rot.to_matrix(camera.rotation), camera.translation]
            rows += [w * (matrix[0] - x * matrix[2]), w * (matrix[1] - y * matrix[2])]
        vector = np.linalg.svd(np.array(rows))[2][-1]
        np.testing.assert_allclose(result.positions[frame, point], vector[:3] / vector[3], atol=1e-9)
    apart = np.linalg.norm(result.positions - linear.positions, axis=-1)
    assert 1e-5 < np.median(apart) < 1e-3  # two different answers, and close


def test_refinement_reaches_the_least_reprojection_error():
    """Against SciPy's least squares of the same residuals; the linear solution is tenths of a millimetre away."""
    from scipy.optimize import least_squares

    rng = np.random.default_rng(5)
    pixels = pictures(scene(rng, 6)) + 6.0 * rng.standard_normal((4, 6, 7, 2))
    weight = rng.uniform(0.3, 1.0, (4, 6, 7))
    pixels[1, 2, 3], weight[1, 2, 3] = np.nan, 0.0
    linear = triangulate(CAMERAS, pixels, weight, max_error=None)
    refined = triangulate(CAMERAS, pixels, weight, max_error=None, refine=True)
    moved = []
    for frame, point in ((0, 0), (2, 3), (5, 6)):

        def off(place, frame=frame, point=point):
            back = np.stack([project(camera, place) for camera in CAMERAS])
            return np.nan_to_num(weight[:, frame, point, None] * (back - pixels[:, frame, point])).ravel()

        truth = least_squares(off, linear.positions[frame, point], xtol=1e-14, ftol=1e-14, gtol=1e-14).x
        np.testing.assert_allclose(refined.positions[frame, point], truth, atol=1e-7)
        moved.append(np.linalg.norm(linear.positions[frame, point] - truth))
    assert max(moved) > 1e-4
    square = [np.nansum((weight * r.camera_errors) ** 2) for r in (linear, refined)]
    assert square[1] < square[0]


def test_every_missing_point_says_why():
    """One point per reason, each made by its cause alone."""
    truth = np.array([[[0.0, 1.0, 0.0]]]).repeat(7, axis=0)
    pixels, confidence = pictures(truth), np.full((4, 7, 1), 0.9)
    pixels[:, 1] = np.nan
    pixels[1:, 2] = np.nan
    confidence[:3, 3] = 0.1
    confidence[:3, 4], pixels[3, 4] = 0.0, np.nan  # nothing delivered: a confidence of 0 is no picture
    pixels[2:, 5] = np.nan
    pixels[1, 5] += [0.0, 300.0]  # two cameras that contradict each other
    result = triangulate(CAMERAS, pixels, confidence, min_confidence=0.3)
    assert [Reason(code) for code in result.reason[:, 0]] == [
        Reason.SOLVED,
        Reason.NOT_SEEN,
        Reason.TOO_FEW_CAMERAS,
        Reason.LOW_CONFIDENCE,
        Reason.NOT_SEEN,
        Reason.ERROR_TOO_LARGE,
        Reason.SOLVED,
    ]
    np.testing.assert_array_equal(np.isnan(result.positions).all(axis=-1), result.reason != Reason.SOLVED)
    np.testing.assert_array_equal(np.isnan(result.error), result.reason != Reason.SOLVED)
    assert result.cameras_used[:, 0].tolist() == [4, 0, 1, 1, 0, 0, 4]
    assert result.observed[:, 3, 0].tolist() == [Observed.LOW_CONFIDENCE] * 3 + [Observed.USED]
    assert result.observed[:, 5, 0].tolist() == [Observed.REJECTED] * 2 + [Observed.NOT_SEEN] * 2
    assert (result.camera_errors[:2, 5, 0] > 50).all()  # how far apart they were is not lost


def test_rays_that_meet_behind_the_cameras_are_no_point():
    pair = tuple(look_at((x, 1.0, 3.0), (x, 1.0, 0.0), focal=1000.0, size=(1920, 1080)) for x in (-0.2, 0.2))
    apart = np.array([[[860.0, 540.0]], [[1060.0, 540.0]]])  # toed out: they diverge in front
    result = triangulate(pair, apart)
    assert result.reason == Reason.BEHIND_CAMERA and np.isnan(result.positions).all()
    assert triangulate(pair, apart[::-1]).reason == Reason.SOLVED
    assert triangulate(pair, np.full((2, 1, 2), 900.0)).reason == Reason.PARALLEL_RAYS
    # a third camera that throws the common solution behind them is left out, and then the point is solved
    three = (*pair, look_at((0.0, 1.3, 3.0), (0.0, 1.3, 0.0), focal=1000.0, size=(1920, 1080)))
    truth = np.array([[0.0, 1.0, -17.0]])
    pixels = np.stack([project(camera, truth) for camera in three])
    pixels[2] -= [0.0, 200.0]
    assert triangulate(three, pixels, max_error=None).reason == Reason.BEHIND_CAMERA
    saved = triangulate(three, pixels)
    assert saved.reason == Reason.SOLVED
    np.testing.assert_allclose(saved.positions, truth, atol=1e-6)


def test_pixels_outside_the_lens_are_counted_as_such():
    folding = tuple(replace(camera, distortion=np.array([-0.3, 0, 0, 0, 0])) for camera in CAMERAS)
    truth = np.array([[0.1, 1.0, 0.0]])
    pixels = np.stack([project(camera, truth) for camera in folding])
    pixels[1:] = [960 + 0.8 * 1010, 540]
    result = triangulate(folding, pixels)
    assert result.reason == Reason.OUTSIDE_LENS
    assert result.observed[:, 0].tolist() == [Observed.USED] + [Observed.OUTSIDE_LENS] * 3
    pixels[1:3] = np.stack([project(camera, truth) for camera in folding[1:3]])
    for max_error in ("auto", None):
        result = triangulate(folding, pixels, max_error=max_error)
        np.testing.assert_allclose(result.positions, truth, atol=1e-8)
        assert result.observed[:, 0].tolist() == [Observed.USED] * 3 + [Observed.OUTSIDE_LENS]


def test_shapes_without_frames_and_empty_ones():
    truth = scene(np.random.default_rng(6), 1, 1)
    result = triangulate(CAMERAS, pictures(truth)[:, 0, 0])
    np.testing.assert_allclose(result.positions, truth[0, 0], atol=1e-8)
    assert result.error.shape == () and result.observed.shape == (4,)
    nothing = triangulate(CAMERAS, np.empty((4, 0, 33, 2)))
    assert nothing.positions.shape == (0, 33, 3) and nothing.reason.shape == (0, 33)


def test_recordings_longer_than_one_round_are_whole():
    """More points than are worked on at once; an off-by-one between rounds loses or shifts one."""
    truth = scene(np.random.default_rng(7), 1300, 7)
    result = triangulate(CAMERAS, pictures(truth))
    np.testing.assert_allclose(result.positions, truth, atol=1e-8)
