"""Bundle adjustment: the exact Jacobian against differences, known cameras recovered, outliers, free parts."""

from dataclasses import replace

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import camera_centre, project, semicircle
from motionbook.capture.boards import Board, board_points
from motionbook.capture.bundle import LENS_NAMES, LOSSES, _Problem, bundle_adjust

BOARD = board_points(Board(6, 5, 0.1))
LENS = (-0.08, 0.03, 0.001, -0.0007, -0.004)


def scene(frames=12, noise=0.0, seed=2):
    """Three cameras with a lens, board poses between them, and what is seen."""
    rng = np.random.default_rng(seed)
    cameras = semicircle(3, radius=2.5, focal=900.0, size=(1280, 960), distortion=LENS)
    turn = rot.multiply(
        rot.from_rotation_vector(rng.uniform(-0.5, 0.5, (frames, 3))), rot.from_axis_angle([1.0, 0, 0], np.pi)
    )
    shift = rng.uniform((-0.4, 0.7, -0.3), (0.2, 1.6, 0.4), (frames, 3))
    world = rot.rotate(turn[:, None], BOARD) + shift[:, None]
    seen = np.stack([project(camera, world) for camera in cameras]) + rng.normal(0, noise, (3, frames, len(BOARD), 2))
    seen[1, 2] = np.nan
    seen[2, :, 3] = np.nan
    return cameras, turn, shift, world, seen


def shaken(cameras, size=0.02, seed=3):
    rng = np.random.default_rng(seed)
    moved = [cameras[0]]
    for camera in cameras[1:]:
        turn = rot.multiply(rot.from_rotation_vector(rng.normal(0, size, 3)), camera.rotation)
        moved.append(replace(camera, rotation=turn, translation=camera.translation + rng.normal(0, size, 3)))
    return moved


@pytest.mark.parametrize("rigid", [True, False])
def test_jacobian_is_the_slope_of_the_residuals(rigid):
    """A lost term of the rotation's derivative or p1 and p2 exchanged shows here, away from the start too."""
    cameras, turn, shift, world, seen = scene(frames=3)
    problem = _Problem(
        cameras, seen, None if rigid else world, BOARD if rigid else None, (turn, shift) if rigid else None, LENS_NAMES
    )
    x = problem.start()
    x = x + np.random.default_rng(0).normal(0, 0.05, len(x)) * np.where(np.abs(x) > 10, 10, 1)
    jacobian = problem.jacobian(x).toarray()
    for column in range(0, len(x), 1 if rigid else 7):
        step = np.zeros_like(x)
        step[column] = 1e-6 * max(1.0, abs(x[column]))
        slope = (problem.residuals(x + step) - problem.residuals(x - step)) / (2 * step[column])
        np.testing.assert_allclose(jacobian[:, column], slope, atol=1e-6 * max(1.0, np.abs(slope).max()) + 2e-3)
    assert (jacobian != 0).mean() < 0.5 and problem.jacobian(x).nnz < 0.5 * jacobian.size


def test_cameras_and_boards_come_back_exactly():
    cameras, turn, shift, world, seen = scene()
    rng = np.random.default_rng(5)
    start = (
        rot.multiply(rot.from_rotation_vector(rng.normal(0, 0.02, (12, 3))), turn),
        shift + rng.normal(0, 0.02, (12, 3)),
    )
    found = bundle_adjust(shaken(cameras), seen, board=BOARD, poses=start)
    assert found.converged and found.rmse < 1e-6 < 5 < found.rmse_before
    for got, true in zip(found.cameras, cameras, strict=True):
        np.testing.assert_allclose(camera_centre(got), camera_centre(true), atol=1e-8)
        assert got.name == true.name and got.size == true.size
    np.testing.assert_allclose(found.points, world, atol=1e-8)
    np.testing.assert_array_equal(np.isfinite(found.residuals), np.isfinite(seen))


def test_lenses_come_back_when_free_and_stay_when_not():
    cameras, turn, shift, _, seen = scene(frames=25)
    wrong = [
        replace(
            c, intrinsics=c.intrinsics * [[1.02, 1, 1.01], [1, 0.98, 1], [1, 1, 1]], distortion=[0, 0, 0, 0, LENS[4]]
        )
        for c in shaken(cameras, 0.005)
    ]
    free = ("fx", "fy", "cx", "cy", "k1", "k2", "p1", "p2")
    found = bundle_adjust(wrong, seen, board=BOARD, poses=(turn, shift), free=free)
    for got in found.cameras:
        np.testing.assert_allclose(got.intrinsics, cameras[0].intrinsics, atol=1e-3)
        np.testing.assert_allclose(got.distortion, LENS, atol=1e-5)
    kept = bundle_adjust(wrong, seen, board=BOARD, poses=(turn, shift))
    assert kept.rmse > 0.5 > 1e-3 > found.rmse
    np.testing.assert_array_equal(kept.cameras[1].intrinsics, wrong[1].intrinsics)


def test_free_points_need_two_cameras_and_keep_pixels_when_the_scene_grows():
    cameras, _, _, world, seen = scene(noise=0.3)
    seen[1:, 4, 7] = np.nan
    found = bundle_adjust(shaken(cameras, 0.005), seen, places=world)
    assert np.isnan(found.points[4, 7]).all() and np.isnan(found.residuals[:, 4, 7]).all()
    assert found.rmse < 0.5
    # about the first camera's centre everything may be scaled without a pixel moving
    centre = camera_centre(cameras[0])
    grown = [
        replace(c, translation=-rot.rotate(c.rotation, centre + 1.1 * (camera_centre(c) - centre)))
        for c in found.cameras
    ]
    points = centre + 1.1 * (found.points - centre)
    for camera, same in zip(grown, found.cameras, strict=True):
        np.testing.assert_allclose(project(camera, points), project(same, found.points), atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES[1:])
def test_robust_losses_resist_what_pulls_the_linear_one_away(loss):
    cameras, turn, shift, _, seen = scene(frames=20, noise=0.3)
    rng = np.random.default_rng(8)
    bad = rng.random(seen.shape[:-1]) < 0.05
    seen[bad] += rng.uniform(-40, 40, (int(bad.sum()), 2))
    off = {}
    for name in ("linear", loss):
        found = bundle_adjust(shaken(cameras, 0.01), seen, board=BOARD, poses=(turn, shift), loss=name, scale=1.0)
        assert found.converged
        off[name] = max(
            np.linalg.norm(camera_centre(a) - camera_centre(b)) for a, b in zip(found.cameras, cameras, strict=True)
        )
    assert off[loss] < 0.25 * off["linear"] and off[loss] < 0.003


def test_wrong_calls_are_refused_in_words():
    cameras, _, _, world, seen = scene(frames=3)
    with pytest.raises(ValueError, match="either places"):
        bundle_adjust(cameras, seen)
    with pytest.raises(ValueError, match="free: expected names of fx fy"):
        bundle_adjust(cameras, seen, places=world, free=("f",))
    with pytest.raises(ValueError, match="loss: expected one of linear"):
        bundle_adjust(cameras, seen, places=world, loss="tukey")
    with pytest.raises(ValueError, match="no observation is left"):
        bundle_adjust(cameras, np.full_like(seen, np.nan), places=world)
