"""Calibration: boards rendered through known cameras give these cameras back; what cannot be calibrated is refused."""

from dataclasses import replace

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import calibrate, camera_centre, project, semicircle
from motionbook.capture.boards import Board, board_edges, board_points, render_board
from motionbook.capture.bundle import bundle_adjust
from motionbook.capture.calibration import (
    check_distance,
    corner_places,
    errors_by_camera,
    errors_by_image,
    shared_table,
    strongest_tree,
    tie_scale,
)
from motionbook.capture.detection import Sightings
from motionbook.capture.intrinsics import calibrate_intrinsics
from motionbook.capture.poses import Relation, board_candidates, relation

cv2 = pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
BOARD = Board(7, 5, 0.12, 0.096)
LENS = (-0.08, 0.03, 0.0, 0.0, 0.0)


def room(count=4, size=(640, 480), focal=500.0):
    return semicircle(count, radius=2.4, spread=np.deg2rad(100), focal=focal, size=size, distortion=LENS)


def board_walk(frames, seed=3, board=BOARD):
    """Poses of a board carried about before the cameras."""
    rng = np.random.default_rng(seed)
    middle = np.array([board.columns, board.rows, 0]) * board.square / 2
    yaw, tilt, roll = rng.uniform(-1, 1, (3, frames)) * np.array([[0.8], [0.6], [0.4]])
    turn = rot.multiply(
        rot.from_axis_angle(np.array([[0, 1.0, 0]]), yaw),
        rot.multiply(
            rot.from_axis_angle(np.array([[1.0, 0, 0]]), np.pi + tilt),
            rot.from_axis_angle(np.array([[0, 0, 1.0]]), roll),
        ),
    )
    return turn, rng.uniform((-0.6, 0.6, -0.5), (0.6, 1.6, 0.9), (frames, 3)) - rot.rotate(turn, middle)


def sighted(cameras, turn, shift, noise=0.1, seed=0, board=BOARD):
    """What the cameras see of the board, with noise; corners outside the picture and of a board's back are not seen."""
    world = rot.rotate(turn[:, None], board_points(board)) + shift[:, None]
    seen = np.stack([project(camera, world) for camera in cameras])
    seen += np.random.default_rng(seed).normal(0, noise, seen.shape)
    for camera, points in zip(cameras, seen, strict=True):
        away = rot.rotate(turn, [0, 0, 1.0])
        back = ((shift - camera_centre(camera)) * away).sum(axis=-1) < 0.2
        points[back] = np.nan
        with np.errstate(invalid="ignore"):
            points[~((points > 0) & (points < np.array(camera.size) - 1)).all(axis=-1)] = np.nan
    names = tuple(camera.name for camera in cameras)
    return Sightings(board, names, tuple(camera.size for camera in cameras), tuple(range(len(turn))), seen)


@pytest.fixture(scope="module")
def walk():
    cameras = room()
    return cameras, sighted(cameras, *board_walk(40))


def apart(cameras):
    centres = np.array([camera_centre(camera) for camera in cameras])
    return np.linalg.norm(centres[:, None] - centres, axis=-1)


def angles(cameras):
    """Turn from the first camera to each other, as quaternions."""
    return np.array([rot.multiply(c.rotation, rot.inverse(cameras[0].rotation)) for c in cameras])


def test_boards_rendered_through_known_cameras_recover_them():
    """From pictures on: focal length to 0.5 %, principal point to 2 px, places to 3 mm, turns to 0.3 degree."""
    cameras = room(3)
    turn, shift = board_walk(16, seed=4)
    pictures = {
        c.name: [
            render_board(BOARD, c, q, t, noise=2.0, seed=i) for i, (q, t) in enumerate(zip(turn, shift, strict=True))
        ]
        for c in cameras
    }
    found = calibrate(BOARD, pictures)
    assert found.rmse < 0.35
    for got, true in zip(found.cameras, cameras, strict=True):
        assert abs(got.intrinsics[0, 0] / 500 - 1) < 0.005 and abs(got.intrinsics[1, 1] / 500 - 1) < 0.005
        assert np.abs(got.intrinsics[:2, 2] - true.intrinsics[:2, 2]).max() < 2
        # k1 and k2 trade against each other; where they put a point 300 px from the middle does not
        radius = 300 / 500
        bend = [radius * (d[0] * radius**2 + d[1] * radius**4) * 500 for d in (got.distortion, true.distortion)]
        assert abs(bend[0] - bend[1]) < 1.5
    np.testing.assert_allclose(apart(found.cameras), apart(cameras), atol=0.003)
    dots = np.abs((angles(found.cameras) * angles(cameras)).sum(axis=-1)).clip(0, 1)
    assert np.rad2deg(2 * np.arccos(dots)).max() < 0.3  # 2 px of 500 are 0.23 degree
    edges = np.linalg.norm(np.diff(corner_places(found)[:, board_edges(BOARD)], axis=2), axis=-1)
    np.testing.assert_allclose(edges[np.isfinite(edges)], 0.12, atol=1e-9)
    assert camera_centre(found.cameras[0]) == pytest.approx(0, abs=1e-9)


def test_known_lenses_are_kept_and_places_found(walk):
    cameras, seen = walk
    found = calibrate(BOARD, seen, cameras=cameras)
    np.testing.assert_allclose(apart(found.cameras), apart(cameras), atol=0.001)
    for got, true in zip(found.cameras, cameras, strict=True):
        np.testing.assert_array_equal(got.intrinsics, true.intrinsics)
    assert found.rmse == pytest.approx(0.1 * np.sqrt(2), rel=0.05)


def test_errors_are_listed_per_camera_and_per_image(walk):
    cameras, seen = walk
    points = seen.points.copy()
    points[1, 7] += 4.0  # one picture shifted, as by a moving board
    found = calibrate(BOARD, seen._replace(points=points), cameras=cameras)
    by_camera, by_image = errors_by_camera(found), errors_by_image(found)
    assert list(by_camera.index) == [c.name for c in cameras]
    counts = np.isfinite(found.residuals).all(axis=-1)
    np.testing.assert_array_equal(by_camera["corners"], counts.sum(axis=(1, 2)))
    assert len(by_image) == (counts.any(axis=-1)).sum() and by_image["corners"].sum() == counts.sum()
    total = np.sqrt((by_image["rms [px]"] ** 2 * by_image["corners"]).sum() / by_image["corners"].sum())
    assert total == pytest.approx(found.rmse)
    worst = by_image.sort_values("rms [px]").iloc[-1]
    assert (worst["camera"], worst["frame"]) == ("cam02", 7)
    assert any("cam02: 1 pictures err much more" in note and "frames 7" in note for note in found.notes)


def test_both_answers_of_a_flat_board_are_weighed():
    """Far, small boards: each camera alone takes the wrong tilt for many of them, together they do not."""
    cameras = semicircle(3, radius=5.0, spread=np.deg2rad(60), focal=500.0, size=(640, 480))
    small = Board(5, 4, 0.07, 0.0525)
    turn, shift = board_walk(40, seed=6, board=small)
    seen = sighted(cameras, turn, shift, noise=0.3, board=small)
    both = [
        [board_candidates(cv2, small, c, p) for p in points] for c, points in zip(cameras, seen.points, strict=True)
    ]
    alone = [[options[:1] for options in row] for row in both]
    assert relation(both[0], both[2]).support > 1.5 * relation(alone[0], alone[2]).support
    found = calibrate(small, seen, cameras=cameras)
    np.testing.assert_allclose(apart(found.cameras), apart(cameras), rtol=0.003)
    assert found.rmse < 0.5


def test_relation_of_two_cameras_ignores_boards_that_moved():
    """A third of the poses wrong, as by a hand-held board between two shutters: a mean over all is 10 degrees off."""
    cameras = room(2)
    seen = sighted(cameras, *board_walk(30))
    poses = [
        [board_candidates(cv2, BOARD, c, p) for p in points] for c, points in zip(cameras, seen.points, strict=True)
    ]
    both = [i for i in range(30) if poses[0][i] and poses[1][i]]
    jolt = rot.from_rotation_vector([0.3, 0.5, -0.2])
    for i in both[::3]:
        poses[1][i] = tuple(
            p._replace(rotation=rot.multiply(jolt, p.rotation), translation=p.translation + 0.3) for p in poses[1][i]
        )
    found = relation(poses[0], poses[1])
    turn = rot.multiply(cameras[1].rotation, rot.inverse(cameras[0].rotation))
    assert found.support == len(both) - len(both[::3]) >= 6
    assert np.rad2deg(2 * np.arccos(min(1.0, abs(float(found.rotation @ turn))))) < 0.3
    shift = cameras[1].translation - rot.rotate(turn, cameras[0].translation)
    np.testing.assert_allclose(found.translation, shift, atol=0.01)
    assert relation([()], [()]) is None


def test_cameras_are_joined_by_the_relations_with_most_boards():
    def link(support):
        return Relation(np.array([1.0, 0, 0, 0]), np.zeros(3), support)

    links = {(0, 1): link(5), (0, 2): link(40), (1, 2): link(30), (2, 3): link(9), (1, 3): link(12)}
    used, group = strongest_tree(5, links)
    assert [(i, j) for i, j, _ in used] == [(0, 2), (1, 2), (1, 3)]
    assert len(set(group[:4])) == 1 and group[4] not in group[:4]


def test_cameras_that_share_no_boards_are_named_with_the_counts(walk):
    """Numbers of groups alone (anipose) leave the reader without a hint."""
    cameras, seen = walk
    points = seen.points.copy()
    points[2:, :20] = np.nan
    points[:2, 20:] = np.nan
    cut = seen._replace(points=points)
    with pytest.raises(ValueError) as error:
        calibrate(BOARD, cut, cameras=cameras)
    text = str(error.value)
    assert "{cam01, cam02}; {cam03, cam04}" in text and "cam01-cam03 0" in text and "cam03-cam04" in text
    with pytest.raises(ValueError, match="only_connected"):
        calibrate(BOARD, cut, cameras=cameras)
    points[3] = np.nan
    points[3, :25] = seen.points[3, :25]
    points[2] = np.nan
    points[2, 35:] = seen.points[2, 35:]
    points[[0, 1, 3], 30:] = np.nan
    points[:2, :25] = seen.points[:2, :25]
    part = calibrate(BOARD, seen._replace(points=points), cameras=cameras, only_connected=True)
    assert [c.name for c in part.cameras] == ["cam01", "cam02", "cam04"] and part.residuals.shape[0] == 3
    assert any("Not calibrated: cam03" in note for note in part.notes)
    np.testing.assert_allclose(apart(part.cameras), apart([cameras[i] for i in (0, 1, 3)]), atol=0.003)


def test_boards_shared_out_of_step_are_not_a_relation(walk):
    """One camera half a second off: poses disagree, and the message asks about synchronisation."""
    cameras, seen = walk
    points = seen.points.copy()
    points[3] = np.roll(points[3], 7, axis=0)
    with pytest.raises(ValueError, match=r"cam04.*check that the recordings are synchronised"):
        calibrate(BOARD, seen._replace(points=points), cameras=cameras)


def test_a_camera_that_never_saw_the_board_is_named(walk):
    _cameras, seen = walk
    points = seen.points.copy()
    points[2] = np.nan
    with pytest.raises(
        ValueError, match=r"cam03: the board .7 columns x 5 rows.* was never seen: show it to this camera"
    ):
        calibrate(BOARD, seen._replace(points=points))
    points[2, 0, :8] = seen.points[2, 0, :8]
    with pytest.raises(ValueError, match=r"cam03: 1 pictures show 6 corners.*at least 4 are needed"):
        calibrate(BOARD, seen._replace(points=points))


def test_corners_on_one_line_are_no_view(walk):
    _cameras, seen = walk
    points = np.full_like(seen.points[1], np.nan)
    points[:, :6] = seen.points[1, :, :6]  # the first row of corners
    with pytest.raises(ValueError, match="cam02: 0 pictures show 6 corners or more that are not on one line"):
        calibrate_intrinsics(BOARD, points, (640, 480), name="cam02")


def test_mirrored_corners_are_refused(walk):
    _, seen = walk
    points = seen.points[1].copy()
    points[..., 0] = 639 - points[..., 0]
    with pytest.raises(ValueError, match=r"cam02: the board's corners run the wrong way round.*selfie"):
        calibrate_intrinsics(BOARD, points, (640, 480), name="cam02")


def test_mis_sized_boards_and_pictures_are_refused(walk):
    cameras, seen = walk
    with pytest.raises(ValueError, match=r"cam02: the corners are .* px from where a board with 7 columns x 5 rows"):
        # 24 corners too, but 4 columns of 6
        order = np.arange(24).reshape(6, 4)[::-1].T.ravel()
        scrambled = seen.points[1][:, order]
        calibrate_intrinsics(BOARD, scrambled, (640, 480), name="cam02")
    with pytest.raises(ValueError, match=r"cam02: .*corners lie outside the picture of 480 x 640 .*turned"):
        calibrate_intrinsics(BOARD, seen.points[1], (480, 640), name="cam02")
    with pytest.raises(
        ValueError, match="cam01: its lens was calibrated at 1280 x 960 pixels, the board was filmed at 640"
    ):
        calibrate(BOARD, seen, cameras=[replace(c, size=(1280, 960)) for c in cameras])
    with pytest.raises(ValueError, match="no lens for cam04"):
        calibrate(BOARD, seen, cameras=cameras[:3])


def test_a_wrong_square_is_seen_against_a_tape_measure(walk):
    """Pictures cannot show it: a board of 120 mm squares given as 100 mm calibrates as well and everything shrinks."""
    cameras, seen = walk
    wrong = replace(BOARD, square=0.1, marker=0.08)
    found = calibrate(wrong, seen._replace(board=wrong), cameras=cameras)
    true = apart(cameras)[0, 3]
    assert found.rmse < 0.2
    with pytest.raises(ValueError, match=r"mis-sized.*100.0 mm was given, 120.0 mm would fit"):
        check_distance(found, "cam01", "cam04", true)
    assert check_distance(found, "cam01", "cam04", true / 1.2) == pytest.approx(true / 1.2, abs=0.002)
    with pytest.raises(KeyError, match="cam9"):
        check_distance(found, "cam01", "cam9", 1.0)
    with pytest.raises(ValueError, match="another board"):
        calibrate(wrong, seen, cameras=cameras)


def test_scale_of_free_points_is_tied_to_the_board(walk):
    cameras, seen = walk
    found = calibrate(BOARD, seen, cameras=cameras)
    grown = corner_places(found) * 1.0085
    assert tie_scale(grown, BOARD) == pytest.approx(1 / 1.0085)
    free = bundle_adjust(found.cameras, seen.points, places=corner_places(found))
    assert tie_scale(free.points, BOARD) == pytest.approx(1, abs=0.002)


def test_views_that_do_not_determine_the_focal_length_are_refused():
    """Boards held square to the camera: nearer and larger lens look alike."""
    (camera,) = room(2)[:1]
    rng = np.random.default_rng(1)
    flat = rot.inverse(camera.rotation)
    shift = camera_centre(camera) + rot.rotate(flat, rng.uniform((-0.7, -0.6, 1.9), (0.1, 0.1, 2.0), (8, 3)))
    seen = sighted([camera], np.repeat(flat[None], 8, axis=0), shift, noise=0.5)
    with pytest.raises(
        ValueError, match=r"cam01: .*focal length.*tilted|cam01: .*too few corners|cam01: intrinsics came out"
    ):
        calibrate_intrinsics(BOARD, seen.points[0], camera.size, name="cam01")


def test_intrinsics_that_are_not_finite_are_refused(walk, monkeypatch):
    _, seen = walk
    real = cv2.calibrateCameraExtended

    def broken(*args, **kwargs):
        out = list(real(*args, **kwargs))
        out[1] = np.full((3, 3), np.nan)
        return tuple(out)

    monkeypatch.setattr(cv2, "calibrateCameraExtended", broken)
    with pytest.raises(ValueError, match=r"cam02: intrinsics came out as fx nan.*show the board whole"):
        calibrate_intrinsics(BOARD, seen.points[1], (640, 480), name="cam02")


def test_one_bad_picture_is_left_out_and_named(walk):
    _, seen = walk
    points = seen.points[1].copy()
    clean = calibrate_intrinsics(BOARD, points, (640, 480), name="cam02", labels=seen.frames)
    good = int(np.isfinite(points).all(axis=(1, 2)).argmax())
    points[good] += np.random.default_rng(0).normal(0, 3, points[good].shape)
    found = calibrate_intrinsics(BOARD, points, (640, 480), name="cam02", labels=seen.frames)
    assert not clean.notes and len(found.notes) == 1 and f": {good} (" in found.notes[0]
    assert np.isnan(found.view_rms[good]) and found.camera.intrinsics[0, 0] == pytest.approx(500, rel=0.003)


def test_symmetric_chessboards_are_refused_across_cameras(walk):
    _cameras, seen = walk
    plain = replace(BOARD, marker=0.0)
    with pytest.raises(ValueError, match=r"7 x 5 squares looks the same upside down.*ChArUco"):
        calibrate(plain, seen._replace(board=plain))


def test_shared_boards_in_words():
    assert shared_table(("a", "b", "c"), np.array([[9, 4, 0], [4, 9, 2], [0, 2, 9]])) == "a-b 4, a-c 0, b-c 2"
