"""Cameras: projection against OpenCV-style formulas worked by hand, the lens undone, the layout of Figure 1."""

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import Camera, camera_centre, look_at, project, read_cameras, semicircle
from motionbook.capture.cameras import normalised

LENS = (-0.1, 0.03, 0.0012, -0.0007, -0.004)


def lens_camera():
    return look_at((0.4, 1.3, 3.1), (0.1, 0.9, 0.0), focal=1010.0, size=(1920, 1080), distortion=LENS)


def test_projection_is_a_pinhole_by_similar_triangles():
    """A swapped axis or a lost principal point moves these numbers, which are worked out by hand."""
    camera = look_at((0.0, 1.0, 4.0), (0.0, 1.0, 0.0), focal=1000.0, size=(1920, 1080))
    # the person's left (+X) is to the right of a camera that faces them; y down in the picture
    seen = project(camera, [[0.0, 1.0, 0.0], [0.4, 1.0, 0.0], [0.0, 1.6, 0.0], [0.4, 1.0, 2.0]])
    np.testing.assert_allclose(seen, [[960, 540], [1060, 540], [960, 390], [1160, 540]], atol=1e-9)
    assert np.isnan(project(camera, [0.0, 1.0, 5.0])).all()  # behind
    np.testing.assert_allclose(camera_centre(camera), [0, 1, 4], atol=1e-12)


def test_lens_distortion_agrees_with_opencv():
    """Exchanging p1 and p2 or dropping k3 moves points by more than a hundredth of a pixel."""
    cv2 = pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
    camera = lens_camera()
    rng = np.random.default_rng(5)
    points = rng.uniform((-1, 0, -1), (1, 2, 1), (200, 3))
    rvec = rot.to_rotation_vector(camera.rotation)
    truth, _ = cv2.projectPoints(points, rvec, camera.translation, camera.intrinsics, camera.distortion)
    np.testing.assert_allclose(project(camera, points), truth[:, 0], atol=1e-6)


def test_lens_is_undone():
    camera = lens_camera()
    pixels = np.stack(np.meshgrid(np.linspace(0, 1920, 13), np.linspace(0, 1080, 9)), axis=-1)
    flat = normalised(camera, pixels)
    rays = np.concatenate([flat, np.ones((*flat.shape[:-1], 1))], axis=-1) * 2.5
    world = rot.rotate(rot.inverse(camera.rotation), rays - camera.translation)
    assert np.linalg.norm(flat * camera.intrinsics[0, 0] - (pixels - [960, 540]), axis=-1).max() > 50  # it bends
    np.testing.assert_allclose(project(camera, world), pixels, atol=1e-5)


def test_pixels_the_lens_cannot_have_made_are_nan():
    assert np.isnan(normalised(lens_camera(), [1e5, 1e5])).all()


def test_four_cameras_stand_in_a_semicircle_before_the_person_and_see_all_of_them():
    cameras = semicircle()
    assert [camera.size for camera in cameras] == [(1920, 1080)] * 4
    centres = np.array([camera_centre(camera) for camera in cameras])
    np.testing.assert_allclose(np.linalg.norm(centres[:, [0, 2]], axis=1), 3.0, atol=1e-12)
    assert (centres[:, 2] > 0).all() and np.ptp(np.arctan2(centres[:, 0], centres[:, 2])) == pytest.approx(
        2.356, abs=1e-3
    )
    reach = np.array([[x, y, z] for x in (-0.7, 0.7) for y in (0.0, 2.0) for z in (-0.5, 0.5)])
    for camera in cameras:
        seen = project(camera, reach)
        assert (seen > 0).all() and (seen < [1920, 1080]).all()


def test_wrong_cameras_are_refused_in_words():
    with pytest.raises(ValueError, match="at least 2 cameras"):
        semicircle(1)
    with pytest.raises(ValueError, match="4 or 5 numbers"):
        Camera(np.eye(3), (0.1, 0.2), rot.identity(), np.zeros(3), (10, 10))
    with pytest.raises(ValueError, match="cam7: rotation"):
        Camera(np.eye(3), (), np.array([2.0, 0, 0, 0]), np.zeros(3), (10, 10), "cam7")


def test_calibration_file_is_read(tmp_path):
    text = (
        '[metadata]\nerror = 0.3\n[a]\nname = "left"\nsize = [640.0, 480.0]\n'
        "matrix = [[500.0, 0.0, 320.0], [0.0, 510.0, 240.0], [0.0, 0.0, 1.0]]\ndistortions = [0.1, 0.0, 0.0, 0.0]\n"
        "rotation = [0.0, 1.5707963267948966, 0.0]\ntranslation = [0.0, 0.0, 2.0]\n"
    )
    (tmp_path / "c.toml").write_text(text)
    (camera,) = read_cameras(tmp_path / "c.toml")
    assert camera.name == "left" and camera.size == (640, 480) and len(camera.distortion) == 5
    np.testing.assert_allclose(rot.rotate(camera.rotation, [1.0, 0, 0]), [0, 0, -1], atol=1e-12)
    (tmp_path / "d.toml").write_text(text.replace("translation", "place"))
    with pytest.raises(ValueError, match="'a' has no translation"):
        read_cameras(tmp_path / "d.toml")
    (tmp_path / "e.toml").write_text("[metadata]\nx = 1\n")
    with pytest.raises(ValueError, match="found metadata"):
        read_cameras(tmp_path / "e.toml")
