"""Boards: their geometry against OpenCV's, printing to scale, rendering through known cameras, and finding them."""

import re
import struct
import warnings
import zlib

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.capture import look_at, project
from motionbook.capture.boards import (
    Board,
    board_edges,
    board_image,
    board_points,
    describe,
    opencv_board,
    print_board,
    render_board,
    square_in_picture,
    symmetric,
)
from motionbook.capture.camera_files import CalibrationWarning
from motionbook.capture.detection import corner_counts, find_boards

cv2 = pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
BOARD = Board(7, 5, 0.06, 0.048)
CAMERA = look_at(
    (0.1, 1.2, 0.75), (0.0, 1.0, 0.0), focal=480.0, size=(640, 480), distortion=(-0.1, 0.03, 0.001, -0.0007, 0)
)


def posed(board, yaw=0.2, tilt=0.25):
    """A board's pose, printed side towards +Z, its middle at (0, 1, 0)."""
    rotation = rot.multiply(rot.from_axis_angle([0, 1.0, 0], yaw), rot.from_axis_angle([1.0, 0, 0], np.pi + tilt))
    middle = np.array([board.columns, board.rows, 0]) * board.square / 2
    return rotation, np.array([0.0, 1.0, 0.0]) - rot.rotate(rotation, middle)


def picture(board=BOARD, **kwargs):
    return render_board(board, CAMERA, *posed(board), noise=2.0, seed=1, **kwargs)


@pytest.fixture(scope="module")
def shot():
    return picture()


def test_corners_are_numbered_as_opencv_numbers_them():
    np.testing.assert_allclose(board_points(BOARD), opencv_board(BOARD).getChessboardCorners(), atol=1e-7)
    pairs = board_edges(BOARD)
    assert len(pairs) == 5 * 4 + 6 * 3
    points = board_points(BOARD)
    np.testing.assert_allclose(np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1), 0.06)


@pytest.mark.parametrize(
    "board", [Board(7, 5, 0.05, 0.04), Board(5, 4, 0.05, 0.03), Board(5, 4, 0.05, 0.03, legacy=True)]
)
def test_picture_of_a_board_is_opencvs(board):
    truth = opencv_board(board).generateImage((board.columns * 80, board.rows * 80), marginSize=0, borderBits=1)
    ours = board_image(board, 80)
    assert (ours != truth).mean() < 0.002  # module edges fall between pixels in one of the two


def test_corners_are_found_where_the_camera_must_see_them(shot):
    """Half a pixel of bias, the usual slip between pixel centres and corners, fails this."""
    rotation, translation = posed(BOARD)
    truth = project(CAMERA, rot.rotate(rotation, board_points(BOARD)) + translation)
    found = find_boards(BOARD, {"cam01": [shot]})
    off = found.points[0, 0] - truth
    assert corner_counts(found)[0, 0] == 24 and found.sizes == ((640, 480),) and found.board == BOARD
    assert np.linalg.norm(off, axis=-1).mean() < 0.15 and np.abs(off.mean(axis=0)).max() < 0.05


def test_the_back_of_a_board_shows_nothing():
    rotation, translation = posed(BOARD)
    flipped = rot.multiply(rotation, rot.from_axis_angle([1.0, 0, 0], np.pi))
    assert np.ptp(render_board(BOARD, CAMERA, flipped, translation)) == 0


def test_corner_shapes_of_opencv_4_and_5_are_both_read(shot, monkeypatch):
    real = cv2.aruco.CharucoDetector
    new = find_boards(BOARD, {"a": [shot]}).points

    class Four:
        def __init__(self, board):
            self.detector = real(board)

        def detectBoard(self, grey):
            corners, ids, marker_corners, marker_ids = self.detector.detectBoard(grey)
            return (np.reshape(corners, (-1, 1, 2)), np.reshape(ids, (-1, 1)),
                    [np.reshape(m, (1, 4, 2)) for m in marker_corners], np.reshape(marker_ids, (-1, 1)))  # fmt: skip

    class Five(Four):
        def detectBoard(self, grey):
            corners, ids, marker_corners, marker_ids = self.detector.detectBoard(grey)
            return (np.reshape(corners, (-1, 2)), np.ravel(ids),
                    [np.reshape(m, (4, 2)) for m in marker_corners], np.ravel(marker_ids))  # fmt: skip

    for shape in (Four, Five):
        monkeypatch.setattr(cv2.aruco, "CharucoDetector", shape)
        np.testing.assert_array_equal(find_boards(BOARD, {"a": [shot]}).points, new)


def test_board_of_the_old_layout_is_found_and_said():
    """Boards with an even number of rows printed before OpenCV 4.6: markers, but no corner, with today's layout."""
    old = Board(5, 4, 0.08, 0.06, legacy=True)
    asked = Board(5, 4, 0.08, 0.06)
    with pytest.warns(CalibrationWarning, match="before OpenCV 4.6"):
        found = find_boards(asked, {"cam01": [picture(old)], "cam02": [picture(old)]})
    assert found.board.legacy and (corner_counts(found) == 12).all() and "legacy=True" in found.notes[0]


def test_inverted_board_is_found_only_as_such():
    inverted = Board(7, 5, 0.06, 0.048, inverted=True)
    assert corner_counts(find_boards(inverted, {"a": [picture(inverted)]}))[0, 0] == 24


def test_mirrored_pictures_are_refused(shot):
    with pytest.raises(ValueError, match=r"cam02: .* mirrored left to right: switch off"):
        find_boards(BOARD, {"cam01": [shot], "cam02": [np.ascontiguousarray(shot[:, ::-1])]})


def test_boards_of_another_size_are_refused(shot):
    with pytest.raises(ValueError, match=r"cam01: markers \[7, .*16\] were found.*ends at number 6"):
        find_boards(Board(5, 3, 0.06, 0.048), {"cam01": [shot] * 3})
    # columns and rows exchanged: 5 x 7 has as many markers, at other places
    with pytest.raises(ValueError, match="count its columns and rows again"):
        find_boards(Board(5, 7, 0.06, 0.048), {"cam01": [shot]})
    with pytest.warns(CalibrationWarning, match=r"measures 0\.7[89] of a square's, the board as given says 0\.60"):
        find_boards(Board(7, 5, 0.06, 0.036), {"cam01": [shot]})


def test_sizes_in_millimetres_are_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"in metres.*got 54; is it in millimetres \(0.054 m\)"):
        Board(7, 5, 54.0, 43.0)
    with pytest.raises(ValueError, match="still 'one square'"):
        Board(7, 5, 1.5)
    with pytest.raises(ValueError, match="below the square"):
        Board(7, 5, 0.05, 0.05)
    with pytest.raises(ValueError, match="at least 3 x 3"):
        Board(2, 5, 0.05)


def test_pictures_that_cannot_be_used_are_named(shot, tmp_path):
    with pytest.raises(ValueError, match="cam01: picture 1 is 640 x 400, the ones before are 640 x 480"):
        find_boards(BOARD, {"cam01": [shot, shot[:400]]})
    with pytest.raises(ValueError, match=r"cam01: .*there is no .*gone.mp4"):
        find_boards(BOARD, {"cam01": tmp_path / "gone.mp4"})
    with pytest.raises(ValueError, match=r"cam01: .*found no picture"):
        find_boards(BOARD, {"cam01": tmp_path})
    with pytest.raises(ValueError, match="uint8"):
        find_boards(BOARD, {"cam01": [shot / 255.0]})
    with pytest.raises(ValueError, match=r"DICT_4X4_50.*got 'DICT_9'"):
        find_boards(Board(7, 5, 0.06, 0.048, dictionary="DICT_9"), {"cam01": [shot]})
    with pytest.raises(ValueError, match=r"17 x 17|144 markers needed, DICT_4X4_50 has 50"):
        opencv_board(Board(17, 17, 0.02, 0.015, dictionary="DICT_4X4_50"))
    found = find_boards(BOARD, {"cam01": [shot], "cam02": [np.full_like(shot, 90)]})
    assert "cam02: the board was never found" in found.notes


def test_video_and_folder_give_what_their_pictures_give(shot, tmp_path):
    blank = np.full_like(shot, 90)
    video = cv2.VideoWriter(str(tmp_path / "v.avi"), cv2.VideoWriter_fourcc(*"MJPG"), 30, (640, 480))
    for frame in (blank, shot, blank, shot, blank):
        video.write(np.repeat(frame[..., None], 3, axis=2))
    video.release()
    (tmp_path / "stills").mkdir()
    for name, frame in (("b.png", shot), ("a.png", blank)):
        cv2.imwrite(str(tmp_path / "stills" / name), frame)
    found = find_boards(BOARD, {"video": tmp_path / "v.avi", "stills": tmp_path / "stills"})
    np.testing.assert_array_equal(corner_counts(found), [[0, 24, 0, 24, 0], [0, 24, 0, 0, 0]])
    assert found.frames == (0, 1, 2, 3, 4) and "different numbers of pictures (video 5, stills 2)" in found.notes[0]
    straight = find_boards(BOARD, {"a": [shot]}).points[0, 0]
    assert np.linalg.norm(found.points[0, 1] - straight, axis=-1).max() < 0.3  # JPEG inside
    np.testing.assert_array_equal(found.points[1, 1], straight)
    assert find_boards(BOARD, {"video": tmp_path / "v.avi"}, every=3).frames == (0, 3)


def png(path):
    """Grey pixels and dots per metre of a PNG written by us, read without our writer's help."""
    data, at, rows, dots = path.read_bytes(), 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        rows += body if kind == b"IDAT" else b""
        dots = struct.unpack(">II", body[:8]) if kind == b"pHYs" else dots
        at += 12 + length
    picture = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    return picture, dots


def test_printed_board_has_its_size_a_scale_bar_and_its_parameters(tmp_path):
    board = Board(5, 7, 0.03, 0.024)
    sheet, dots = png(print_board(board, tmp_path / "board.png", dpi=300))
    assert dots == (11811, 11811) and sheet.shape == (3508, 2480)
    found = find_boards(board, {"print": [sheet]})
    grid = found.points[0, 0]
    pairs = board_edges(board)
    side = np.linalg.norm(grid[pairs[:, 0]] - grid[pairs[:, 1]], axis=1) / 11811
    np.testing.assert_allclose(side.mean(), 0.03, atol=2e-5)
    bar = np.flatnonzero((sheet[-80:] == 0).sum(axis=1) > 1000)
    columns = np.flatnonzero(sheet[len(sheet) - 80 + bar[0]] == 0)
    assert abs((columns[-1] - columns[0] + 1) / 11811 - 0.100) < 1e-4
    assert describe(board) == "5 columns x 7 rows, square 30 mm, ChArUco DICT_4X4_250, marker 24 mm"
    with pytest.raises(ValueError, match=r"420 x 300 mm and needs 436 x 330 mm .*A4 has 297 x 210"):
        print_board(BOARD, tmp_path / "board.png")
    with pytest.raises(ValueError, match=r"png or .pdf"):
        print_board(board, tmp_path / "board.gif")


def test_printed_pdf_is_one_page_of_the_paper_with_the_same_pixels(tmp_path):
    board = Board(5, 7, 0.03, 0.024)
    data = print_board(board, tmp_path / "board.pdf", dpi=150).read_bytes()
    box = [float(v) for v in re.search(rb"/MediaBox \[([^]]+)\]", data).group(1).split()]
    np.testing.assert_allclose(box, [0, 0, 210 / 25.4 * 72, 297 / 25.4 * 72], atol=1e-3)
    for number, place in enumerate(re.findall(rb"(\d{10}) 00000 n", data), start=1):
        assert data[int(place) :].startswith(b"%d 0 obj" % number)
    assert data[int(re.search(rb"startxref\n(\d+)", data).group(1)) :].startswith(b"xref")
    size = [int(re.search(rb"/%b (\d+)" % k, data).group(1)) for k in (b"Height", b"Width")]
    pixels = np.frombuffer(zlib.decompress(data.split(b"stream\n")[3].split(b"\nendstream")[0]), np.uint8).reshape(size)
    sheet, _ = png(print_board(board, tmp_path / "board.png", dpi=150))
    np.testing.assert_array_equal(pixels, sheet)


def test_small_boards_and_symmetric_boards_are_told():
    """An A4 board of 30 mm squares two metres from a 1010-pixel lens has 15 pixels a square: too few."""
    assert square_in_picture(Board(7, 5, 0.03, 0.024), 1010.0, 2.0) == pytest.approx(15.15)
    assert symmetric(Board(8, 6, 0.03)) and not symmetric(Board(8, 5, 0.03)) and not symmetric(Board(7, 5, 0.03, 0.02))


def test_no_warning_for_a_good_board(shot):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_boards(BOARD, {"cam01": [shot]}).notes == ()
