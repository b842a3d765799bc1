"""Calibration files: written for and read as the field's tools do, sizes and units compared, wrong numbers noticed."""

import tomllib
import warnings
from dataclasses import replace

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import camera_centre, project, read_cameras, semicircle, write_cameras
from motionbook.capture.camera_files import CalibrationWarning, check_sizes, doubts, scale_camera, video_size

LENS = (-0.1, 0.03, 0.0012, -0.0007, -0.004)
POINTS = np.random.default_rng(0).uniform((-0.5, 0, -0.5), (0.5, 1.8, 0.5), (20, 3))


def cameras():
    return semicircle(3, distortion=LENS)


def same(one, other):
    for a, b in zip(one, other, strict=True):
        assert (a.name, a.size) == (b.name, b.size)
        np.testing.assert_allclose(project(a, POINTS), project(b, POINTS), atol=1e-6)


@pytest.mark.parametrize(("up", "unit"), [("y", "m"), ("z", "m"), ("z", "mm"), ("y", "cm")])
def test_cameras_come_back_whatever_the_axes_and_unit(tmp_path, up, unit):
    path = write_cameras(
        tmp_path / "c.toml", cameras(), up=up, unit=unit, error=0.4, metadata={"board": 'a "b"', "n": 3}
    )
    same(read_cameras(path), cameras())
    table = tomllib.loads(path.read_text())["metadata"]
    assert table == {"adjusted": True, "error": 0.4, "up_axis": up, "unit": unit, "board": 'a "b"', "n": 3}


def test_pose2sim_reads_what_we_write(tmp_path):
    """Its reader by its own rules: tables but metadata, Rodrigues vector, metres, z up, OpenCV's projection."""
    cv2 = pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
    data = tomllib.loads(write_cameras(tmp_path / "Calib.toml", cameras(), up="z").read_text())
    z_up = POINTS[:, [2, 0, 1]]  # its world (x, y, z) is our (y, z, x)
    for key, camera in zip([k for k in data if k != "metadata"], cameras(), strict=True):
        table = data[key]
        assert set(table) == {"name", "size", "matrix", "distortions", "rotation", "translation", "fisheye"}
        seen, _ = cv2.projectPoints(
            z_up, *(np.array(table[k]) for k in ("rotation", "translation", "matrix", "distortions"))
        )
        np.testing.assert_allclose(seen[:, 0], project(camera, POINTS), atol=1e-6)
        assert table["size"] == [1920.0, 1080.0] and table["fisheye"] is False


def test_anipose_finds_the_cameras_in_their_order(tmp_path):
    """It sorts the tables by name and takes all but metadata."""
    data = tomllib.loads(write_cameras(tmp_path / "c.toml", cameras()).read_text())
    assert [data[k]["name"] for k in sorted(data) if k != "metadata"] == ["cam01", "cam02", "cam03"]
    spaced = [replace(c, name=f"cam {i}") for i, c in enumerate(cameras())]
    same(read_cameras(write_cameras(tmp_path / "d.toml", spaced)), spaced)
    with pytest.raises(ValueError, match="different names"):
        write_cameras(tmp_path / "e.toml", [cameras()[0]] * 2)


def test_freemocaps_millimetres_are_noticed_and_read(tmp_path):
    path = write_cameras(tmp_path / "c.toml", cameras(), unit="mm")
    path.write_text(path.read_text().replace('unit = "mm"\n', ""))
    with pytest.warns(CalibrationWarning, match="millimetres: read with unit='mm'"):
        read_cameras(path)
    same(read_cameras(path, unit="mm"), cameras())
    with pytest.raises(ValueError, match="unit: expected one of m, cm, mm, got 'inch'"):
        read_cameras(path, unit="inch")


def test_caliscopes_file_is_read(shared_data):
    found = read_cameras(shared_data / "capture" / "caliscope_charuco" / "camera_array.toml")
    assert [c.size for c in found] == [(1280, 720)] * 4
    np.testing.assert_allclose(rot.to_matrix(found[1].rotation)[0], [0.66139, 0.74692, -0.06834], atol=1e-5)


def test_fisheye_files_are_refused(tmp_path):
    path = write_cameras(tmp_path / "c.toml", cameras())
    path.write_text(path.read_text().replace("fisheye = false", "fisheye = true"))
    with pytest.raises(ValueError, match="'cam01' is fisheye"):
        read_cameras(path)


def test_files_with_values_that_are_not_numbers_are_refused(tmp_path):
    path = write_cameras(tmp_path / "c.toml", cameras())
    path.write_text(path.read_text().replace("1010.0", "nan", 1))
    with pytest.raises(ValueError, match="cam01: intrinsics: 1 values are not finite"):
        read_cameras(path)


def test_sizes_of_videos_are_compared(tmp_path):
    """1080 for 1088 is reported, portrait for landscape refused, nothing scaled in silence."""
    path = write_cameras(tmp_path / "c.toml", cameras())
    right = {"cam01": (1920, 1080), "cam02": (1920, 1080), "cam03": (1920, 1080)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_cameras(path, sizes=right)
    with pytest.warns(CalibrationWarning, match=r"cam02: calibrated for 1920 x 1080 pixels, the video is 1920 x 1072"):
        same(read_cameras(path, sizes={**right, "cam02": (1920, 1072)}), cameras())
    with pytest.raises(ValueError, match=r"cam03: .*lies on its side.*x and y would be exchanged"):
        read_cameras(path, sizes={**right, "cam03": (1080, 1920)})
    assert "0.5 times as large" in check_sizes(cameras(), {**right, "cam01": (960, 540)})[0]
    with pytest.raises(KeyError, match="cam03"):
        check_sizes(cameras(), {"cam01": (1920, 1080), "cam02": (1920, 1080)})


def test_a_camera_for_the_scaled_picture():
    half = scale_camera(cameras()[0], (960, 540))
    np.testing.assert_allclose(project(half, POINTS) + 0.5, (project(cameras()[0], POINTS) + 0.5) / 2, atol=1e-9)


def test_size_of_a_video(tmp_path):
    cv2 = pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
    video = cv2.VideoWriter(str(tmp_path / "v.avi"), cv2.VideoWriter_fourcc(*"MJPG"), 30, (64, 48))
    video.write(np.zeros((48, 64, 3), np.uint8))
    video.release()
    assert video_size(tmp_path / "v.avi") == (64, 48)
    (tmp_path / "w.avi").write_bytes(b"no video")
    with pytest.raises(ValueError, match="no picture can be decoded"):
        video_size(tmp_path / "w.avi")


def test_distortion_divided_by_64_is_noticed_from_its_digits():
    """Printed with six decimals, then divided: nine lenses in ten thousand look so by chance."""
    printed = np.array([-0.046183, 0.139983, 0.000608, 0.00069])
    wrong = [replace(c, distortion=printed / 64) for c in cameras()]
    assert len(doubts(wrong)) == 1 and "64 times" in doubts(wrong)[0] and "cam01, cam02, cam03" in doubts(wrong)[0]
    assert doubts([replace(c, distortion=printed) for c in cameras()]) == []
    assert doubts([replace(c, distortion=np.random.default_rng(1).normal(0, 0.01, 5)) for c in cameras()]) == []
    assert doubts(semicircle(3)) == []


def test_principal_points_of_turned_pictures_are_noticed():
    turned = [replace(c, size=(1080, 1920)) for c in cameras()]
    assert all("picture turned by 90 degrees" in text for text in doubts(turned)) and len(doubts(turned)) == 3


def test_cameras_all_in_one_place_are_noticed():
    near = [replace(c, translation=c.translation + rot.rotate(c.rotation, camera_centre(c) * 0.995)) for c in cameras()]
    assert "0.0277 m apart: is the unit metres" in doubts(near)[0]
