"""Poses of a flat board in one camera, both answers a flat thing allows, and how two cameras stand to each other."""

from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.boards import Board, board_points
from motionbook.capture.cameras import Camera, normalised, project
from motionbook.capture.intrinsics import MIN_CORNERS


class Pose(NamedTuple):
    """A board in a camera's axes.

    Attributes
    ----------
    rotation, translation : (4,), (3,)
        Board to camera.
    error : float
        Root mean squared distance in pixels.
    """

    rotation: np.ndarray
    translation: np.ndarray
    error: float


class Relation(NamedTuple):
    """How camera b stands to camera a.

    Attributes
    ----------
    rotation, translation : (4,), (3,)
        Camera a's axes to camera b's.
    support : int
        Shared boards that agree with it.
    """

    rotation: np.ndarray
    translation: np.ndarray
    support: int


def board_candidates(cv2, board: Board, camera: Camera, points) -> tuple[Pose, ...]:
    """Up to two poses of the board in the camera's axes, the better one first; none with too few corners.

    A flat board seen nearly as by a parallel projection looks the same tilted towards and away from the camera. The
    second answer (Collins and Bartoli 2014, infinitesimal plane-based pose) is refined and kept: other cameras, or the
    floor, decide.
    """
    seen = np.isfinite(points).all(axis=-1)
    if seen.sum() < MIN_CORNERS:
        return ()
    on = board_points(board)[seen]
    if np.linalg.matrix_rank(on[:, :2] - on[:, :2].mean(axis=0), tol=1e-9) < 2:
        return ()
    flat = normalised(camera, points[seen])
    if not np.isfinite(flat).all():
        return ()
    middle = on.mean(axis=0)
    count, turns, shifts, _ = cv2.solvePnPGeneric(on - middle, flat, np.eye(3), None, flags=cv2.SOLVEPNP_IPPE)
    poses = []
    for turn, shift in zip(turns[:count], shifts[:count], strict=False):
        turn, shift = cv2.solvePnPRefineLM(on - middle, flat, np.eye(3), None, turn.copy(), shift.copy())
        if not (np.isfinite(turn).all() and np.isfinite(shift).all()) or shift[2, 0] <= 0:
            continue
        rotation = rot.from_rotation_vector(turn[:, 0])
        translation = shift[:, 0] - rot.rotate(rotation, middle)
        view = rot.rotate(rotation, on) + translation
        off = (view[:, :2] / view[:, 2:] - flat) * camera.intrinsics[[0, 1], [0, 1]]
        poses.append(Pose(rotation, translation, float(np.sqrt((off**2).sum(axis=1).mean()))))
    poses.sort(key=lambda pose: pose.error)
    if len(poses) == 2 and _angle(poses[0].rotation, poses[1].rotation) < np.deg2rad(1):
        poses = poses[:1]
    # a second answer that fits several times worse is none
    return tuple(pose for pose in poses if pose.error < 4 * poses[0].error + 0.5)


def relation(first, second, *, angle: float = np.deg2rad(6.0), distance: float = 0.08) -> Relation | None:
    """The pose of camera b in a's axes that most shared boards agree on; None without a shared board.

    Parameters
    ----------
    first, second : sequences over moments of tuples of Pose
        The same moments in cameras a and b.
    angle, distance : float
        Boards within so many radians, and within that part of the board's distance, agree.
    """
    turns, shifts, moment, reach = [], [], [], []
    for index, (ours, theirs) in enumerate(zip(first, second, strict=True)):
        for a in ours:
            for b in theirs:
                turn = rot.multiply(b.rotation, rot.inverse(a.rotation))
                turns.append(turn)
                shifts.append(b.translation - rot.rotate(turn, a.translation))
                moment.append(index)
                reach.append(np.linalg.norm(a.translation) + np.linalg.norm(b.translation))
    if not turns:
        return None
    turns, shifts, moment = rot.normalize(np.array(turns)), np.array(shifts), np.array(moment)
    near = distance * np.array(reach)
    dots = np.abs(turns @ turns.T).clip(0, 1)
    agree = (2 * np.arccos(dots) < angle) & (np.linalg.norm(shifts[:, None] - shifts, axis=-1) < near)
    # one moment counts once, whichever of its answers agrees
    votes = np.zeros((len(turns), moment.max() + 1), dtype=bool)
    for index in range(len(turns)):
        votes[:, moment[index]] |= agree[:, index]
    chosen = agree[votes.sum(axis=1).argmax()]
    best = turns[votes.sum(axis=1).argmax()]
    same = np.where((turns[chosen] @ best)[:, None] < 0, -turns[chosen], turns[chosen])
    mean = rot.normalize(same.mean(axis=0))
    return Relation(mean, np.median(shifts[chosen], axis=0), int(votes.sum(axis=1).max()))


def pose_error(board: Board, cameras, rotation, translation, points) -> tuple[float, int]:
    """Mean of squared pixel distances, each capped at 50 px, of a board pose in the world, and how many there are."""
    world = rot.rotate(rotation, board_points(board)) + translation
    total, count = 0.0, 0
    for camera, seen in zip(cameras, points, strict=True):
        there = np.isfinite(seen).all(axis=-1)
        off = np.linalg.norm(project(camera, world[there]) - seen[there], axis=-1)
        total += (np.where(np.isfinite(off), np.minimum(off, 50.0), 50.0) ** 2).sum()
        count += int(there.sum())
    return total / max(count, 1), count


def world_candidates(cameras, candidates):
    """Possible poses of the board in the world, (rotation, translation) pairs, from one moment's candidates."""
    for camera, options in zip(cameras, candidates, strict=True):
        back = rot.inverse(camera.rotation)
        for pose in options:
            yield rot.multiply(back, pose.rotation), rot.rotate(back, pose.translation - camera.translation)


def best_pose(board: Board, cameras, candidates, points):
    """Of all cameras' answers at one moment, the one that fits what all of them saw; None when there is none."""
    options = list(world_candidates(cameras, candidates))
    if not options:
        return None
    errors = [pose_error(board, cameras, *option, points)[0] for option in options]
    return options[int(np.argmin(errors))]


def _angle(a, b) -> float:
    return float(2 * np.arccos(min(1.0, abs(float(a @ b)))))
