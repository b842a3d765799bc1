"""The room in the player: rods where the cameras and the board are, and data that the page's script can read."""

import json

import numpy as np
import pytest

from motionbook.capture import board_walk, camera_centre, project, semicircle, session
from motionbook.report import capture_scene, player
from motionbook.report.players import Prop

ROOM = semicircle(4, distortion=session.LENS)


def test_a_camera_pyramid_shows_what_the_camera_sees():
    """Fault seen: the pyramid turned by world to camera instead of back."""
    rods = capture_scene.camera_rods(ROOM[1])
    np.testing.assert_allclose(rods[:4, 0], np.tile(camera_centre(ROOM[1]), (4, 1)), atol=1e-12)
    corners = project(ROOM[1], rods[:4, 1])
    np.testing.assert_allclose(corners, [[0, 0], [1920, 0], [1920, 1080], [0, 1080]], atol=1e-6)
    roof = rods[-1, 0]
    assert roof[1] > rods[:4, 1, 1].max()


def test_board_lines_are_a_square_apart():
    turns, places = board_walk.walk(3, 0)
    rods = capture_scene.board_rods(board_walk.BOARD, turns[0], places[0])
    assert len(rods) == 8 + 6 and np.abs(rods[..., 1]).max() < 1e-12
    assert np.linalg.norm(rods[1, 0] - rods[0, 0]) == pytest.approx(board_walk.BOARD.square)


def test_the_page_holds_the_room(monkeypatch):
    monkeypatch.setenv("MOTIONBOOK_STATIC", "1")
    turns, places = board_walk.walk(3, 0)
    poses = [(turns[0], places[0])]
    clip = session.embedded_idle(0, 1.0, 0)
    shown = capture_scene.room(clip, ROOM, board_walk.BOARD, poses)
    props = shown.data["props"]
    assert [len(prop["rods"]) for prop in props] == [10, 10, 10, 10, 14]
    assert all(len(rod) == 8 and min(rod[6:]) > 0 for prop in props for rod in prop["rods"])
    json.dumps(props, allow_nan=False)
    assert "props" not in player([("performer", clip)]).data


def test_live_room_has_lines_for_every_prop(recwarn):
    pytest.importorskip("pythreejs")
    box = capture_scene.live_room(session.embedded_idle(0, 0.5, 0), capture_scene.room_props(ROOM))
    people = box.children[0].scene.children[0]
    assert len(people.children) == 1 + len(ROOM)
    box.close()


@pytest.mark.parametrize("rods", [np.zeros((0, 2, 3)), np.full((1, 2, 3), np.nan), np.zeros((2, 3))])
def test_wrong_rods_are_refused(rods):
    with pytest.raises(ValueError, match="rod"):
        player([("a", session.embedded_idle(0, 0.5, 0))], props=[Prop(rods)])
