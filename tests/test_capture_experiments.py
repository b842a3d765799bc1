"""The chapter's experiments: calibration from rendered boards, clocks found again, errors that go the right way."""

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import board_walk, experiments, semicircle, session
from motionbook.capture.boards import board_points
from motionbook.capture.landmarks import REALISTIC

ROOM = semicircle(4, distortion=session.LENS)


@pytest.fixture(scope="module")
def clip():
    return session.embedded_idle(1, 8.0, 2)


@pytest.fixture(scope="module")
def pictures():
    pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
    return board_walk.film_board(ROOM, 11, 0)


@pytest.fixture(scope="module")
def calibration(pictures):
    return board_walk.calibrate_room(pictures)


def test_the_board_lies_on_the_floor_first():
    turns, places = board_walk.walk(5, 1)
    corners = rot.rotate(turns[:, None], board_points(board_walk.BOARD)) + places[:, None]
    np.testing.assert_allclose(corners[0].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(corners[0, :, 1], 0.0, atol=1e-12)
    assert rot.rotate(turns[0], [0.0, 0.0, 1.0])[1] == pytest.approx(-1)  # z goes into the board: printed side up
    assert (corners[1:, :, 1] > 0).all()


def test_rendered_boards_calibrate_the_room(calibration):
    """Fault seen: the floor's picture left out, so that the world is the first camera's."""
    assert calibration.rmse < 0.4
    errors = board_walk.camera_errors(calibration.cameras, ROOM)
    assert errors["place [mm]"].max() < 15 and errors["direction [degrees]"].max() < 0.5
    assert errors["at the performer [mm]"].max() < 3 and errors["focal length [%]"].abs().max() < 0.5
    none = board_walk.camera_errors(ROOM, ROOM).to_numpy()
    np.testing.assert_allclose(none, 0.0, atol=1e-5)


def test_equal_pictures_give_equal_cameras(pictures, calibration):
    """Fault seen: OpenCV's threads, which end in another order each time."""
    again = board_walk.calibrate_room(pictures)
    for one, other in zip(calibration.cameras, again.cameras, strict=True):
        np.testing.assert_array_equal(one.intrinsics, other.intrinsics)
        np.testing.assert_array_equal(one.translation, other.translation)


def test_a_calibration_costs_little_and_a_wrong_one_much(clip, calibration):
    error = experiments.by_calibration(clip, ROOM, 0, calibration.cameras)["MPJPE raw [mm]"]
    assert error["calibrated from the board"] < 1.1 * error["known exactly"]
    turned = [error[f"each camera turned by {angle} degrees"] for angle in ("0.1", "0.3", "1")]
    assert error["known exactly"] < turned[0] < turned[1] < turned[2]


def test_a_turned_camera_stays_where_it_is():
    from motionbook.capture import camera_centre

    turned = experiments._turned(ROOM[0], np.array([0.0, 0.02, 0.0]))
    np.testing.assert_allclose(camera_centre(turned), camera_centre(ROOM[0]), atol=1e-12)
    assert rot.angle_between(turned.rotation, ROOM[0].rotation) == pytest.approx(0.02)


def test_noise_and_faults_raise_the_error(clip):
    noise = experiments.by_noise(clip, ROOM, 0, levels=(1.0, 4.0))["MPJPE raw [mm]"]
    assert noise["4 px"] == pytest.approx(4 * noise["1 px"], rel=0.15)
    faults = experiments.by_fault(clip, ROOM, 0)
    assert faults["MPJPE raw [mm]"].idxmin() == "noise alone"
    assert faults.loc["points lost, 30 %", experiments.KNOWN] < faults.loc["points lost, 10 %", experiments.KNOWN] < 100


def test_more_cameras_lower_the_error(clip):
    table = experiments.by_cameras({1: clip}, (2, 3, 4, 8), 0)
    assert table["MPJPE raw [mm]"].is_monotonic_decreasing and list(table.index) == [2, 3, 4, 8]


def test_every_cleaning_step_counts_what_it_leaves_out(clip):
    heavy = {**REALISTIC, "outlier_share": 0.05, "drop_share": 0.1}
    take = session.record(clip, ROOM, 5, **heavy)
    steps = experiments.cleaning_steps(take, ROOM)
    error = steps["mean error [mm]"]
    assert error["constant bones"] < 0.5 * error["linear triangulation"] and error["constant bones"] < 15
    assert steps.loc["constant bones", "bone spread [mm]"] < 1e-6
    assert steps.loc["bad cameras left out", "known [%]"] < steps.loc["short gaps closed", "known [%]"] <= 100


def test_offsets_put_in_are_found(clip):
    late = (2.0, 5.0, -3.5, 9.0)
    truth, seen = experiments.film_unsynchronised(clip, ROOM, late, 0)
    offsets, cost, _ = experiments.synchronise(ROOM, seen, late, truth)
    np.testing.assert_allclose(offsets["true [frames]"], [0, 3, -5.5, 7])
    missed = (offsets["by reprojection [frames]"] - offsets["true [frames]"]).abs().max()
    assert missed < 1.0
    assert cost.loc["as started", "MPJPE [mm]"] > 1.1 * cost.loc["by reprojection", "MPJPE [mm]"]


def test_without_noise_true_offsets_give_the_truth(clip):
    """Fault seen: the truth compared with the frame of another clock."""
    late = (2.0, 5.0, -3.0, 9.0)
    truth, seen = experiments.film_unsynchronised(clip, ROOM, late, 0, noise=0.0, drop_share=0.0)
    cost = experiments.synchronise(ROOM, seen, late, truth)[1]
    assert cost.loc["true offsets", "MPJPE [mm]"] < 1e-3


@pytest.mark.parametrize(("late", "message"), [((0, 1), "one number per camera"), ((0, 0, 0, 999), "too few")])
def test_impossible_offsets_are_refused(clip, late, message):
    with pytest.raises(ValueError, match=message):
        experiments.film_unsynchronised(clip, ROOM, late, 0)
