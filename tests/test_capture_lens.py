"""Lens distortion: undone to rounding wherever the lens reaches, refused beyond, slopes against differences."""

import numpy as np
import pytest

from motionbook.capture import lens

MILD = (-0.02, 0.01, 0.0003, -0.0002, 0.0)
STRONG = (-0.3, 0.09, 0.001, -0.001, 0.0)
FOLDING = (-0.3, 0.0, 0.0, 0.0, 0.0)  # turns back at radius 1.054, where it shows 0.703
CUSHION = (0.2, 0.1, -0.002, 0.001, 0.02)


@pytest.mark.parametrize("coefficients", [MILD, STRONG, FOLDING, CUSHION])
def test_undone_to_rounding(coefficients):
    radius, angle = np.meshgrid(np.linspace(0, 0.95, 40), np.linspace(0, 2 * np.pi, 25))
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    again = lens.undistort(coefficients, *lens.distort(coefficients, x, y))
    np.testing.assert_allclose(again, (x, y), atol=1e-11)


def test_undone_is_what_opencv_bends_back():
    cv2 = pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
    rng = np.random.default_rng(0)
    bent = rng.uniform(-0.5, 0.5, (200, 2))
    x, y = lens.undistort(STRONG, *bent.T)
    rays = np.stack([x, y, np.ones_like(x)], axis=-1)
    again, _ = cv2.projectPoints(rays, np.zeros(3), np.zeros(3), np.eye(3), np.array(STRONG))
    np.testing.assert_allclose(again[:, 0], bent, atol=1e-9)
    assert np.abs(np.stack([x, y], axis=-1) - bent).max() > 0.03  # it bends


def test_slopes_are_the_derivatives():
    rng = np.random.default_rng(1)
    x, y = rng.uniform(-0.6, 0.6, (2, 50))
    step = 1e-6
    by_x = (np.subtract(lens.distort(CUSHION, x + step, y), lens.distort(CUSHION, x - step, y))) / (2 * step)
    by_y = (np.subtract(lens.distort(CUSHION, x, y + step), lens.distort(CUSHION, x, y - step))) / (2 * step)
    xx, xy, yy = lens.slopes(CUSHION, x, y)
    for got, want in ((xx, by_x[0]), (xy, by_y[0]), (xy, by_x[1]), (yy, by_y[1])):
        np.testing.assert_allclose(got, want, atol=1e-8)


def test_beyond_the_fold_there_is_no_place():
    x, y = lens.undistort(FOLDING, np.array([0.70, 0.71, 5.0, np.nan]), np.zeros(4))
    assert x[0] == pytest.approx(0.995, abs=0.01) and y[0] == 0
    assert np.isnan(x[1:]).all() and np.isnan(y[1:]).all()


def test_no_lens_changes_nothing_and_shapes_are_kept():
    bent = np.random.default_rng(2).uniform(-3, 3, (2, 4, 5))
    np.testing.assert_array_equal(lens.undistort((0, 0, 0, 0, 0), *bent), bent)
    assert lens.undistort(MILD, *bent)[0].shape == (4, 5)
    assert lens.undistort(MILD, 0.1, 0.2)[0].shape == ()
