"""Triangulation: exact on exact data, weighted as it says, missing points missing, and a real recording."""

from dataclasses import replace

import numpy as np
import pytest
from motionbook import rotations as rot
from motionbook.capture import project, read_cameras, semicircle, triangulate
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


def test_real_recording_comes_close_to_the_peers_result(shared_data):
    """Pose2Sim's own run on its demo: raw pixels, confidence at least 0.3 as weight, x = 0 is missing, no lens.

    Compared where the mean error is at most 15 px, the limit under which that program drops no camera. It solves the
    homogeneous system, ours the inhomogeneous one; they differ by 0.7 mm at these residuals and agree to 0.02 mm
    where two cameras leave no conflict.
    """
    folder = shared_data / "capture" / "pose2sim_demo"
    cameras = tuple(replace(camera, distortion=()) for camera in read_cameras(folder / "Calib_qualisys.toml"))
    with np.load(folder / "openpose_body25b_2d.npz") as arrays:
        seen, names = arrays["xyc"].astype(float), list(arrays["names"])
    confidence = np.where((seen[..., 0] == 0) | ~(seen[..., 2] >= 0.3), 0.0, seen[..., 2])
    result = triangulate(cameras, seen[..., :2], confidence, max_error=None)
    markers, peer = _trc(folder / "pose2sim_body25b_0-99.trc")
    columns = [names.index(marker) for marker in markers]
    apart = 1000 * np.linalg.norm(result.positions[:, columns] - peer[..., [2, 0, 1]], axis=-1)
    error, used = result.error[:, columns], result.cameras_used[:, columns]
    same_rules = (error <= 15) & (used >= 2) & np.isfinite(apart)
    assert same_rules.sum() > 1200
    assert np.median(apart[same_rules]) < 1.0 and np.percentile(apart[same_rules], 95) < 1.5
    assert np.median(apart[same_rules & (used == 2)]) < 0.02


def _trc(path):
    rows = [line.rstrip("\n").split("\t") for line in path.read_text().splitlines()]
    markers = [name for name in rows[3][2:] if name]
    values = [[float(v) if v else np.nan for v in row[2 : 2 + 3 * len(markers)]] for row in rows[5:] if len(row) > 5]
    return markers, np.array(values).reshape(-1, len(markers), 3)
