"""Calibration on two real recordings, against two other toolchains (caliscope, and Qualisys through Pose2Sim)."""

import warnings

import numpy as np
import pytest

from motionbook.capture import calibrate, camera_centre, read_cameras, triangulate
from motionbook.capture.boards import Board, board_edges
from motionbook.capture.bundle import bundle_adjust
from motionbook.capture.calibration import check_distance, errors_by_camera, shared_table, tie_scale
from motionbook.capture.camera_files import CalibrationWarning
from motionbook.capture.detection import read_sightings
from motionbook.capture.intrinsics import calibrate_intrinsics
from motionbook.capture.lens_check import check_lens, rescale_lens

pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
pd = pytest.importorskip("pandas")
CALISCOPE = Board(4, 5, 0.054, 0.75 * 0.054, dictionary="DICT_4X4_1000", inverted=True)
CHESS = Board(5, 8, 0.06)
# what the Qualisys file prints, before the converter divides by 64 (data README)
QUALISYS = (-0.0462, 0.140)


@pytest.fixture(scope="module")
def charuco(shared_data):
    """Peer's cameras, our sightings, plain triangulation of all corners, and the peer's corners."""
    folder = shared_data / "capture" / "caliscope_charuco"
    cameras = read_cameras(folder / "camera_array.toml")
    seen = read_sightings(folder / "xy_CHARUCO.csv", CALISCOPE, {c.name: c.size for c in cameras})
    places = triangulate(cameras, seen.points).positions
    table = pd.read_csv(folder / "xyz_CHARUCO.csv")
    peer = np.full_like(places, np.nan)
    peer[np.searchsorted(seen.frames, table["sync_index"]), table["keypoint_id"]] = table[
        ["x_coord", "y_coord", "z_coord"]
    ]
    return cameras, seen, places, peer


def edges(points):
    pairs = board_edges(CALISCOPE)
    lengths = np.linalg.norm(points[:, pairs[:, 0]] - points[:, pairs[:, 1]], axis=-1)
    return lengths[np.isfinite(lengths)] * 1000


def rigidly_apart(points, other):
    """Distances in mm after the best rotation and shift (Kabsch), no scaling."""
    both = np.isfinite(points).all(axis=-1) & np.isfinite(other).all(axis=-1)
    a, b = points[both] - points[both].mean(axis=0), other[both] - other[both].mean(axis=0)
    u, _, v = np.linalg.svd(a.T @ b)
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ v))]) @ v
    return np.linalg.norm(a @ turn - b, axis=-1) * 1000


def test_recording_is_what_its_readme_says(charuco):
    _, seen, _, peer = charuco
    counts = np.isfinite(seen.points).all(axis=-1).sum(axis=-1)
    assert counts.sum() == 2175 and len(seen.frames) == 57 and np.isfinite(peer).all(axis=-1).sum() == 660
    shared = (counts >= 6).astype(int) @ (counts >= 6).astype(int).T
    assert shared_table(seen.names, shared) == "0-1 48, 0-2 50, 0-3 38, 1-2 48, 1-3 31, 2-3 31"


def test_bundle_adjustment_reaches_the_peers_optimum_and_corners(charuco):
    """RMSE at most 1.56 px with fixed lenses and linear loss; corners within 0.1 mm of the peer's, edges 54 +- 1 mm."""
    cameras, seen, places, peer = charuco
    found = bundle_adjust(cameras, seen.points, places=places)
    assert found.converged and found.rmse == pytest.approx(1.559, abs=5e-4) and found.rmse <= 1.56
    off = rigidly_apart(found.points, peer)
    assert len(off) == 660 and off.max() < 0.1
    # plain triangulation without adjustment is not there: the test can fail
    assert np.median(rigidly_apart(places, peer)) > 0.3
    assert abs(edges(found.points).mean() - 54) < 1 and abs(edges(peer).mean() - edges(found.points).mean()) < 0.05


def test_what_is_left_between_us_and_the_peer_is_scale(charuco):
    """Free points leave the scale of the scene open; it is what differs, by 0.01 to 0.05 %, and the board fixes it."""
    cameras, seen, places, peer = charuco
    found = bundle_adjust(cameras, seen.points, places=places)
    ratio = edges(peer).mean() / edges(found.points).mean()
    assert 0 < abs(ratio - 1) < 5e-4
    assert rigidly_apart(found.points * ratio, peer).max() < 0.01
    scale = tie_scale(found.points, CALISCOPE)
    assert 1.002 < scale < 1.005  # both had come out 0.35 % small: 53.81 mm
    assert edges(found.points * scale).mean() == pytest.approx(54.0, abs=1e-6)


@pytest.mark.parametrize(
    ("loss", "low", "high"), [("soft_l1", 1.59, 1.70), ("huber", 1.59, 1.75), ("cauchy", 1.59, 2.1)]
)
def test_robust_losses_are_reported_beside(charuco, loss, low, high):
    """They fit the many better and the few worse, so their plain RMSE is larger and the median error smaller."""
    cameras, seen, places, _ = charuco
    plain = bundle_adjust(cameras, seen.points, places=places)
    robust = bundle_adjust(cameras, seen.points, places=places, loss=loss)
    medians = [np.nanmedian(np.linalg.norm(f.residuals, axis=-1)) for f in (plain, robust)]
    assert low < robust.rmse < high and medians[1] < medians[0]
    assert abs(edges(robust.points).mean() - 54) < 1


def test_calibration_from_the_corners_alone_agrees_with_the_peers_cameras(charuco):
    """Lenses given, places not: camera distances within 6 mm of the peer's and the board rigid at 54 mm."""
    cameras, seen, _, _ = charuco
    found = calibrate(CALISCOPE, seen, cameras=cameras)
    for i in range(4):
        for j in range(i):
            peer = np.linalg.norm(camera_centre(cameras[i]) - camera_centre(cameras[j]))
            ours = np.linalg.norm(camera_centre(found.cameras[i]) - camera_centre(found.cameras[j]))
            assert abs(ours - peer) < 0.006
    assert shared_table(seen.names, found.shared) == "0-1 48, 0-2 50, 0-3 38, 1-2 48, 1-3 31, 2-3 31"
    table = errors_by_camera(found)
    assert table["corners"].sum() == 2175 and table["rms [px]"].max() < 2.5
    assert abs(edges(triangulate(found.cameras, seen.points).positions).mean() - 54) < 1
    # 50 mm instead of 54: as good in pixels, refused against one measured distance
    wrong = Board(4, 5, 0.05, 0.0375, dictionary="DICT_4X4_1000", inverted=True)
    small = calibrate(wrong, seen._replace(board=wrong), cameras=cameras)
    with pytest.raises(ValueError, match=r"50\.0 mm was given, 5[34]\.\d mm would fit"):
        check_distance(small, "0", "1", np.linalg.norm(camera_centre(cameras[0]) - camera_centre(cameras[1])))


def test_lenses_this_recording_does_not_hold_are_refused(charuco):
    """Cameras 2 and 3 saw the board too far off for a lens: the peer used other recordings for those."""
    _, seen, _, _ = charuco
    with pytest.raises(ValueError, match="3: the views leave the focal length undetermined"):
        calibrate_intrinsics(CALISCOPE, seen.points[3], seen.sizes[3], name="3")


def test_table_on_another_board_is_refused(shared_data, charuco):
    path = shared_data / "capture" / "caliscope_charuco" / "xy_CHARUCO.csv"
    sizes = {c.name: c.size for c in charuco[0]}
    with pytest.raises(ValueError, match=r"1.08 times as large"):
        read_sightings(path, Board(4, 5, 0.05, 0.0375), sizes)
    with pytest.raises(ValueError, match="corner 11 is named"):
        read_sightings(path, Board(4, 4, 0.054, 0.04), sizes)
    with pytest.raises(ValueError, match="no size was given for camera 3"):
        read_sightings(path, CALISCOPE, dict(list(sizes.items())[:3]))


@pytest.fixture(scope="module")
def pose2sim(shared_data):
    """The file's cameras and each camera's pictures of the chessboard (views, corners, 2)."""
    folder = shared_data / "capture" / "pose2sim_demo"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        cameras = read_cameras(folder / "Calib_qualisys.toml")
    table = pd.read_csv(folder / "checkerboard_corners.csv")
    views = [
        np.stack([view[["x_px", "y_px"]].to_numpy() for _, view in rows.groupby("image")])
        for _, rows in table.groupby("camera")
    ]
    return folder, cameras, views


def test_loader_reports_the_narrow_videos_and_the_divided_lens(pose2sim):
    """Videos of cam01 and cam02 are 1080 wide, the calibration says 1088; and the digits of the lens tell on it."""
    folder, cameras, _ = pose2sim
    sizes = dict(zip([c.name for c in cameras], [(1080, 1920)] * 2 + [(1088, 1920)] * 2, strict=True))
    with pytest.warns(CalibrationWarning) as told:
        read_cameras(folder / "Calib_qualisys.toml", sizes=sizes)
    texts = [str(w.message) for w in told]
    assert len(texts) == 3 and "64 times" in texts[0] and "cam01, cam02, cam03, cam04" in texts[0]
    assert "cam01: calibrated for 1088 x 1920 pixels, the video is 1080 x 1920" in texts[1] and "cam02" in texts[2]


@pytest.mark.parametrize("index", range(4))
def test_board_contradicts_the_files_lens_and_says_64(pose2sim, index):
    _, cameras, views = pose2sim
    found = check_lens(cameras[index], CHESS, views[index])
    assert found.contradicted and found.factor == 64 and "64 times larger agree with the board" in found.verdict
    # what the file holds is hardly different from no lens at all
    assert found.rms_straight - found.rms < 0.003 < 0.04 < found.rms - found.rms_measured
    k1, k2 = found.measured.distortion[:2]
    assert abs(k1 - QUALISYS[0]) < 3 * found.deviations[4] and abs(k2 - QUALISYS[1]) < 3 * found.deviations[5]
    assert abs(k1 - cameras[index].distortion[0]) > 4 * found.deviations[4]


@pytest.mark.parametrize("index", range(4))
def test_board_does_not_contradict_the_repaired_lens(pose2sim, index):
    _, cameras, views = pose2sim
    repaired = rescale_lens(cameras, 64)
    np.testing.assert_allclose(repaired[index].distortion[:2], QUALISYS, atol=0.006)
    found = check_lens(repaired[index], CHESS, views[index])
    assert not found.contradicted and found.factor == 1 and "does not contradict" in found.verdict
    # and the other way: a file that was multiplied
    again = check_lens(rescale_lens(cameras, 64 * 64)[index], CHESS, views[index])
    assert again.contradicted and again.factor == 1 / 64


def test_chessboard_with_rows_and_columns_exchanged_is_told(pose2sim):
    _, cameras, views = pose2sim
    with pytest.raises(ValueError, match="cam01: the board's corners run the wrong way round"):
        check_lens(cameras[0], Board(8, 5, 0.06), views[0])


def test_focal_lengths_agree_with_qualisys_to_two_percent(pose2sim):
    _, cameras, views = pose2sim
    for camera, seen in zip(cameras, views, strict=True):
        found = calibrate_intrinsics(CHESS, seen, camera.size, name=camera.name, centre="fixed")
        assert found.camera.intrinsics[0, 0] == pytest.approx(camera.intrinsics[0, 0], rel=0.02) and found.rms < 0.4
        assert -0.07 < found.camera.distortion[0] < -0.02
