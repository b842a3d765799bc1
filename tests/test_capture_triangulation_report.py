"""The tables of triangulation: shares and counts against counting by hand."""

import numpy as np
import pytest

from motionbook.capture import Reason, project, semicircle, triangulate
from motionbook.capture.triangulation_report import camera_table, keypoint_table, swap_table

CAMERAS = semicircle(4)


@pytest.fixture(scope="module")
def filmed():
    """Ten frames of two points: point b is outlying in camera 3 in four frames, unseen in two, weak in one."""
    rng = np.random.default_rng(0)
    truth = rng.uniform((-0.4, 0.4, -0.2), (0.4, 1.6, 0.2), (10, 2, 3))
    pixels = np.stack([project(camera, truth) for camera in CAMERAS])
    confidence = np.full((4, 10, 2), 0.8)
    pixels[2, :4, 1] += [90.0, 60.0]
    pixels[:, 4:6, 1] = np.nan
    confidence[:3, 6, 1] = 0.1
    return triangulate(CAMERAS, pixels, confidence, min_confidence=0.3)


def test_landmarks(filmed):
    table = keypoint_table(filmed, ["a", "b"], CAMERAS)
    assert table.index.tolist() == ["a", "b", "all"]
    assert table["solved [%]"].tolist() == [100, 70, 85]
    # camera 3 saw b in 10 - 2 unseen - 1 weak frames
    np.testing.assert_allclose(table["excluded cam03 [%]"], [0, 400 / 7, 400 / 17])
    assert (table["excluded cam01 [%]"] == 0).all()
    assert table["not seen"].tolist() == [0, 2, 2] and table["low confidence"].tolist() == [0, 1, 1]
    assert "error too large" not in table
    np.testing.assert_allclose(table["cameras"], [4, (4 * 3 + 3 * 4) / 7, (40 + 24) / 17])
    assert (table["error [px]"] < 1e-6).all()


def test_millimetres_are_pixels_at_the_cameras_distance():
    """3 m away and f = 1010 px, a pixel is about 3 mm wide."""
    truth = np.array([[[0.0, 0.95, 0.0]]])
    pixels = np.stack([project(camera, truth) for camera in CAMERAS])
    pixels += np.array([[3.0, 0], [-3.0, 0], [0, 3.0], [0, -3.0]])[:, None, None]
    table = keypoint_table(triangulate(CAMERAS, pixels), ["a"], CAMERAS)
    width = 1000 * np.hypot(3.0, 1.4 - 0.95) / 1010
    assert table.loc["a", "error [mm]"] == pytest.approx(width * table.loc["a", "error [px]"], rel=1e-3)
    assert 2 < table.loc["a", "error [px]"] < 3.1


def test_cameras(filmed):
    table = camera_table(filmed, CAMERAS)
    assert table.loc["cam03", "excluded [%]"] == pytest.approx(400 / 17) and table.loc["cam01", "excluded [%]"] == 0
    assert table["not seen [%]"].tolist() == [10] * 4 and table["low confidence [%]"].tolist() == [5, 5, 5, 0]
    assert table.loc["cam03", "error of excluded [px]"] == pytest.approx(np.hypot(90, 60), rel=0.01)
    assert (table["verdict"] == "ok").all() and "swapped [%]" not in table
    with pytest.raises(ValueError, match="sides"):
        swap_table(filmed, CAMERAS)


def test_dead_and_misplaced_cameras_are_named():
    rng = np.random.default_rng(1)
    truth = rng.uniform((-0.4, 0.4, -0.2), (0.4, 1.6, 0.2), (30, 5, 3))
    cameras = semicircle(5)
    pixels = np.stack([project(camera, truth) for camera in cameras])
    pixels[0] = np.nan
    pixels[4] += [200.0, 100.0]
    result = triangulate(cameras, pixels)
    table = camera_table(result, cameras)
    assert table["verdict"].tolist() == ["dead", "ok", "ok", "ok", "contradicts the others"]
    assert np.isnan(table.loc["cam01", "error [px]"]) and (result.reason == Reason.SOLVED).all()


def test_nothing_solved_is_a_table_too():
    table = keypoint_table(triangulate(CAMERAS, np.full((4, 3, 2, 2), np.nan)), ["a", "b"], CAMERAS)
    assert table["solved [%]"].tolist() == [0, 0, 0] and table["error [px]"].isna().all()
    assert table["not seen"].tolist() == [3, 3, 6] and table["excluded cam01 [%]"].isna().all()


def test_names_and_cameras_must_fit(filmed):
    with pytest.raises(ValueError, match="names: expected 2"):
        keypoint_table(filmed, ["a"], CAMERAS)
    with pytest.raises(ValueError, match="cameras: expected the 4"):
        keypoint_table(filmed, ["a", "b"], CAMERAS[:3])
