"""The room of chapter 1 in three dimensions: cameras, board and performer (StayStill, Figure 1)."""

import os
from collections.abc import Sequence

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.boards import Board
from motionbook.capture.cameras import Camera, camera_centre, normalised
from motionbook.clip import Clip
from motionbook.report.players import Prop, live_scene, player
from motionbook.report.theme import CYCLE


def camera_rods(camera: Camera, depth: float = 0.45) -> np.ndarray:
    """A camera as a pyramid (rods, 2, 3): from its centre to the picture's corners ``depth`` metres ahead.

    The triangle above the picture shows which way is up.
    """
    width, height = camera.size
    corners = normalised(camera, np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=float))
    ahead = depth * np.concatenate([corners, np.ones((4, 1))], axis=1)
    roof = 0.5 * (ahead[0] + ahead[1]) - [0.0, 0.25 * depth, 0.0]
    back = rot.inverse(camera.rotation)
    *frame, top = rot.rotate(back, np.concatenate([ahead, roof[None]]) - camera.translation)
    centre = camera_centre(camera)
    rods = [(centre, corner) for corner in frame]
    rods += [(frame[i], frame[(i + 1) % 4]) for i in range(4)]
    return np.array([*rods, (frame[0], top), (top, frame[1])])


def board_rods(board: Board, rotation, translation) -> np.ndarray:
    """The lines of a board's squares, (rods, 2, 3), at its pose in the world."""
    x, y = np.arange(board.columns + 1) * board.square, np.arange(board.rows + 1) * board.square
    lines = [((a, 0, 0), (a, y[-1], 0)) for a in x] + [((0, b, 0), (x[-1], b, 0)) for b in y]
    return rot.rotate(np.asarray(rotation), np.array(lines, dtype=np.float64)) + translation


def room_props(cameras: Sequence[Camera], board: Board | None = None, poses=()) -> list[Prop]:
    """Props for `motionbook.report.player`: each camera as a pyramid, the board at every (rotation, translation)."""
    props = [Prop(camera_rods(camera), CYCLE[0]) for camera in cameras]
    if board is not None and len(poses):
        props.append(Prop(np.concatenate([board_rods(board, *pose) for pose in poses]), CYCLE[1], 0.004))
    return props


def room(clip: Clip, cameras: Sequence[Camera], board: Board | None = None, poses=(), *, caption: str = ""):
    """The room with a performer in motion: pythreejs where a kernel runs it, the book's player otherwise.

    In the rendered book (``MOTIONBOOK_STATIC=1``), and where pythreejs is not installed, it is the player.
    """
    props = room_props(cameras, board, poses)
    if os.environ.get("MOTIONBOOK_STATIC") != "1":
        try:
            return live_room(clip, props)
        except ImportError:
            pass  # the player shows the same room
    return player([("performer", clip)], caption=caption, props=props)


def live_room(clip: Clip, props: Sequence[Prop]):
    """A pythreejs scene of a clip with props in the clip's world; needs a running kernel."""
    import pythreejs as three

    box = live_scene(clip, height=460)
    view = box.children[0]
    people = view.scene.children[0]
    for prop in props:
        ends = np.asarray(prop.rods, dtype=np.float32).reshape(-1, 3)
        lines = three.LineSegments(
            three.BufferGeometry(attributes={"position": three.BufferAttribute(ends, normalized=False)}),
            three.LineBasicMaterial(color=prop.colour),
        )
        people.add(lines)
    view.camera.position = (2.6, 2.6, 7.5)
    return box
