"""Where all cameras stand, from one board shown to them: poses, a graph of shared boards, bundle adjustment.

Each camera sees the board's pose by itself; two that see it at the same moment know where they stand to each other. The
relations that rest on most boards (a maximum spanning tree) carry all cameras into the first one's axes, and a
bundle adjustment with a rigid board then moves everything together. The board's printed square sets the scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.boards import Board, board_points, opencv, symmetric
from motionbook.capture.bundle import bundle_adjust
from motionbook.capture.cameras import Camera, camera_centre
from motionbook.capture.detection import Sightings, find_boards
from motionbook.capture.intrinsics import MIN_CORNERS, calibrate_intrinsics, check_views
from motionbook.capture.poses import Relation, best_pose, board_candidates, relation

MIN_SHARED = 3


@dataclass(frozen=True, eq=False)
class Calibration:
    """Calibrated cameras and what supports them.

    Attributes
    ----------
    cameras : tuple of Camera
    sightings : Sightings
    rotations, translations : (frames, 4), (frames, 3)
        The board's pose at every moment, board to world; NaN where it was not seen well enough.
    residuals : (cameras, frames, corners, 2)
        Calculated minus seen, pixels; NaN where not used.
    shared : (cameras, cameras) int
        Moments at which both cameras saw at least six corners; the diagonal counts one camera's.
    rmse : float
        Root of the mean squared distance over all corners used, pixels.
    notes : tuple of str
        What was left out, repaired or is doubtful.
    """

    cameras: tuple[Camera, ...]
    sightings: Sightings
    rotations: np.ndarray
    translations: np.ndarray
    residuals: np.ndarray
    shared: np.ndarray
    rmse: float
    notes: tuple[str, ...]


def calibrate(
    board: Board,
    sightings: Sightings | Mapping[str, object],
    *,
    cameras: Sequence[Camera] | None = None,
    lens: Sequence[str] = ("k1", "k2"),
    centre: str = "free",
    refine_lens: bool | None = None,
    loss: str = "soft_l1",
    scale: float = 1.0,
    every: int = 1,
    only_connected: bool = False,
) -> Calibration:
    """Calibrate all cameras from recordings of one board moved through the room.

    The world is the first camera's place with Y up as that camera has it and Z backwards, out of its view; tie it to
    the floor with ``ground.place_on_board``.

    Parameters
    ----------
    board : Board
    sightings : Sightings, or a mapping from camera name to video, folder or pictures
        Pictures of one moment at the same index in every camera; see ``detection.find_boards``.
    cameras : sequence of Camera, optional
        Lenses that are known already (their places are not used), by name; otherwise estimated from the same sightings.
    lens, centre : see ``intrinsics.calibrate_intrinsics``
    refine_lens : bool, optional
        Whether the bundle adjustment moves the lenses too; by default it does when they were estimated here.
    loss, scale : see ``bundle.bundle_adjust``
    every : int
        Use each ``every``-th picture of recordings.
    only_connected : bool
        When some cameras share no boards with the others, calibrate the largest group instead of refusing.

    Raises
    ------
    ValueError
        Which camera cannot be calibrated, why, and what to do; for cameras that share too few boards, with the
        number of shared boards for every pair.
    """
    if not isinstance(sightings, Sightings):
        sightings = find_boards(board, sightings, every=every)
    board = replace(board, legacy=sightings.board.legacy)
    if sightings.points.shape[2] != len(board_points(board)) or sightings.board.square != board.square:
        raise ValueError("sightings: they were made with another board than the one given")
    if symmetric(board):
        raise ValueError(
            f"board: a chessboard of {board.columns} x {board.rows} squares looks the same upside down, so "
            f"cameras number "
            "its corners differently: use a ChArUco board, or one with an odd sum of columns and rows"
        )
    refine_lens = cameras is None if refine_lens is None else refine_lens
    lenses, notes = _lenses(board, sightings, cameras, lens, centre, refine_lens)
    candidates = [
        [board_candidates(opencv(), board, camera, points) for points in seen]
        for camera, seen in zip(lenses, sightings.points, strict=True)
    ]
    shared = _shared(candidates)
    lenses, kept, more = _chain(lenses, candidates, shared, sightings, only_connected)
    if more:
        notes += more
        sightings = sightings._replace(
            names=tuple(sightings.names[i] for i in kept),
            sizes=tuple(sightings.sizes[i] for i in kept),
            points=sightings.points[kept],
        )
        candidates, shared = [candidates[i] for i in kept], shared[np.ix_(kept, kept)]
    rotations, translations = _board_poses(board, lenses, candidates, sightings.points)
    free = ("fx", "fy", *(("cx", "cy") if centre == "free" else ()), *lens) if refine_lens else ()
    found = bundle_adjust(
        lenses, sightings.points, board=board_points(board), poses=(rotations, translations), free=free, loss=loss,
        scale=scale,
    )  # fmt: skip
    made = Calibration(
        found.cameras, sightings, found.rotations, found.translations, found.residuals, shared, found.rmse,
        (*sightings.notes, *notes, *_doubts(board, sightings, found)),
    )  # fmt: skip
    # OpenCV's camera has y down and z forward; half a turn about x stands the world up
    return move_world(made, np.array([0.0, 1.0, 0.0, 0.0]), np.zeros(3))


def move_world(calibration: Calibration, rotation, translation) -> Calibration:
    """The same calibration in another world: x_new = rotate(rotation, x_old) + translation."""
    rotation, translation = np.asarray(rotation, dtype=np.float64), np.asarray(translation, dtype=np.float64)
    cameras = []
    for camera in calibration.cameras:
        turn = rot.normalize(rot.multiply(camera.rotation, rot.inverse(rotation)))
        cameras.append(replace(camera, rotation=turn, translation=camera.translation - rot.rotate(turn, translation)))
    return replace(
        calibration,
        cameras=tuple(cameras),
        rotations=rot.multiply(rotation, calibration.rotations),
        translations=rot.rotate(rotation, calibration.translations) + translation,
    )


def corner_places(calibration: Calibration) -> np.ndarray:
    """World places (frames, corners, 3) of the board's corners."""
    points = board_points(calibration.sightings.board)
    return rot.rotate(calibration.rotations[:, None], points) + calibration.translations[:, None]


def errors_by_camera(calibration: Calibration):
    """Data frame, one row per camera: boards, corners, rms, median, 95th percentile and largest error in pixels."""
    import pandas as pd

    rows = {}
    for camera, residual in zip(calibration.cameras, calibration.residuals, strict=True):
        off = np.linalg.norm(residual, axis=-1)
        used = off[np.isfinite(off)]
        rows[camera.name] = {
            "boards": int(np.isfinite(off).any(axis=1).sum()),
            "corners": len(used),
            **_spread_of(used),
        }
    return pd.DataFrame(rows).T.rename_axis("camera").astype({"boards": int, "corners": int})


def errors_by_image(calibration: Calibration):
    """Data frame, one row per picture with corners used: camera, frame, corners and the same error columns."""
    import pandas as pd

    rows = []
    for camera, residual in zip(calibration.cameras, calibration.residuals, strict=True):
        off = np.linalg.norm(residual, axis=-1)
        for frame, row in zip(calibration.sightings.frames, off, strict=True):
            used = row[np.isfinite(row)]
            if len(used):
                rows.append({"camera": camera.name, "frame": frame, "corners": len(used), **_spread_of(used)})
    return pd.DataFrame(rows)


def _spread_of(off) -> dict[str, float]:
    if not len(off):
        return dict.fromkeys(("rms [px]", "median [px]", "95 % [px]", "largest [px]"), np.nan)
    return {
        "rms [px]": float(np.sqrt((off**2).mean())),
        "median [px]": float(np.median(off)),
        "95 % [px]": float(np.percentile(off, 95)),
        "largest [px]": float(off.max()),
    }


def shared_table(names: Sequence[str], shared) -> str:
    """Shared boards of every pair in words: ``cam01-cam02 48, cam01-cam03 0``."""
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    return ", ".join(f"{names[i]}-{names[j]} {shared[i, j]}" for i, j in pairs)


def tie_scale(points, board: Board) -> float:
    """The factor that makes neighbouring corners of ``points`` (frames, corners, 3) one square apart on average.

    A bundle adjustment of free points may grow or shrink the whole scene without any pixel moving.
    """
    from motionbook.capture.boards import board_edges

    pairs = board_edges(board)
    lengths = np.linalg.norm(points[:, pairs[:, 0]] - points[:, pairs[:, 1]], axis=-1)
    return float(board.square / np.nanmean(lengths))


def check_distance(calibration: Calibration, first: str, second: str, metres: float, tolerance: float = 0.03) -> float:
    """Distance between two cameras in metres, refused when it is not what a tape measured.

    Pictures alone cannot tell a small board nearby from a large one further off: a wrong square scales everything, and
    no reprojection error shows it.

    Raises
    ------
    KeyError
        When there is no such camera.
    ValueError
        When the two differ by more than ``tolerance``, with the side of the square that would fit.
    """
    names = [camera.name for camera in calibration.cameras]
    for name in (first, second):
        if name not in names:
            raise KeyError(f"{name!r} is not a camera; there are {', '.join(names)}")
    a, b = (camera_centre(calibration.cameras[names.index(name)]) for name in (first, second))
    found = float(np.linalg.norm(a - b))
    if abs(found / metres - 1) > tolerance:
        square = calibration.sightings.board.square
        raise ValueError(
            f"{first}-{second}: {found:.3f} m calibrated, {metres:.3f} m measured: the board is mis-sized. Measure a "
            f"printed square: {square * 1000:.1f} mm was given, {square * metres / found * 1000:.1f} mm would fit"
        )
    return found


def _lenses(board, sightings, cameras, lens, centre, refine_lens):
    notes, lenses = [], []
    if cameras is not None:
        known = {camera.name: camera for camera in cameras}
        missing = [name for name in sightings.names if name not in known]
        if missing:
            raise ValueError(f"cameras: no lens for {', '.join(missing)}; given are {', '.join(known)}")
        for name, size, points in zip(sightings.names, sightings.sizes, sightings.points, strict=True):
            if known[name].size != tuple(size):
                raise ValueError(
                    f"{name}: its lens was calibrated at {known[name].size[0]} x {known[name].size[1]} "
                    f"pixels, the board "
                    f"was filmed at {size[0]} x {size[1]}: use one size for both"
                )
            check_views(board, points, size, name)
            lenses.append(known[name])
        return lenses, notes
    for name, size, points in zip(sightings.names, sightings.sizes, sightings.points, strict=True):
        # a loose focal length may pass when the other cameras' view of the same boards is going to settle it
        found = calibrate_intrinsics(
            board, points, size, name=name, lens=lens, centre=centre, labels=sightings.frames,
            loosest=0.25 if refine_lens else 0.05,
        )  # fmt: skip
        lenses.append(found.camera)
        notes += found.notes
    return lenses, notes


def _shared(candidates) -> np.ndarray:
    sees = np.array([[bool(options) for options in row] for row in candidates], dtype=int)
    return sees @ sees.T


def _chain(lenses, candidates, shared, sightings, only_connected):
    """Cameras placed in the axes of the first one that is kept, by the relations with most boards behind them."""
    count = len(lenses)
    relations = {}
    for i in range(count):
        for j in range(i + 1, count):
            if shared[i, j] >= MIN_SHARED:
                found = relation(candidates[i], candidates[j])
                if found is not None and found.support >= MIN_SHARED:
                    relations[i, j] = found
    used, group = strongest_tree(count, relations)
    kept, notes = list(range(count)), []
    if len(set(group)) > 1:
        sets = sorted(([i for i in range(count) if group[i] == g] for g in set(group)), key=len, reverse=True)
        words = "; ".join("{" + ", ".join(sightings.names[i] for i in members) + "}" for members in sets)
        text = (
            f"the cameras fall into groups that share too few boards: {words}. Moments with at least "
            f"{MIN_CORNERS} corners "
            f"in both cameras ({MIN_SHARED} that agree are needed): {shared_table(sightings.names, shared)}"
        )
        if not only_connected or len(sets[0]) < 2:
            raise ValueError(
                text + ". Show the board to a camera of each group at the same time, check that the recordings are "
                "synchronised, or pass only_connected=True"
            )
        kept = sets[0]
        left = ", ".join(sightings.names[i] for i in range(count) if i not in kept)
        notes.append(f"{text}. Not calibrated: {left}")
    places = {kept[0]: (np.array([1.0, 0, 0, 0]), np.zeros(3))}
    while len(places) < len(kept):
        for i, j, found in used:
            # found takes camera i's axes to camera j's
            if i in places and j not in places:
                turn = rot.multiply(found.rotation, places[i][0])
                places[j] = turn, rot.rotate(found.rotation, places[i][1]) + found.translation
            elif j in places and i not in places:
                back = rot.inverse(found.rotation)
                places[i] = rot.multiply(back, places[j][0]), rot.rotate(back, places[j][1] - found.translation)
    placed = [
        replace(lenses[i], rotation=rot.normalize(places[i][0]), translation=places[i][1]) for i in kept
    ]  # fmt: skip
    return placed, kept, notes


def strongest_tree(count: int, relations: Mapping[tuple[int, int], Relation]):
    """The relations (i, j, relation) that join cameras with most boards behind them, and each camera's group number.

    Kruskal's maximum spanning tree: strongest relation first, unless its cameras are joined already.
    """
    group, used = list(range(count)), []
    for (i, j), found in sorted(relations.items(), key=lambda item: -item[1].support):
        if group[i] != group[j]:
            used.append((i, j, found))
            group = [group[i] if g == group[j] else g for g in group]
    return used, group


def _board_poses(board, cameras, candidates, points):
    rotations, translations = np.full((points.shape[1], 4), np.nan), np.full((points.shape[1], 3), np.nan)
    for frame in range(points.shape[1]):
        found = best_pose(board, cameras, [row[frame] for row in candidates], points[:, frame])
        if found is not None:
            rotations[frame], translations[frame] = found
    return rotations, translations


def _doubts(board, sightings, found) -> list[str]:
    """What a reader should look at in a finished adjustment."""
    notes = []
    if not found.converged:
        notes.append("the bundle adjustment stopped before it converged: look at the errors per picture")
    off = np.linalg.norm(found.residuals, axis=-1)
    seen = np.isfinite(off)
    views = np.where(seen, off, 0).sum(axis=-1) / np.maximum(seen.sum(axis=-1), 1)
    several = seen.any(axis=-1)
    typical = np.median(views[several])
    for name, row, there in zip(sightings.names, views, several, strict=True):
        bad = there & (row > max(3.0, 5 * typical))
        if bad.any():
            frames = ", ".join(str(sightings.frames[i]) for i in np.flatnonzero(bad)[:5])
            notes.append(
                f"{name}: {bad.sum()} pictures err much more than the typical {typical:.2f} px (frames {frames})"
            )
        if there.any() and np.median(row[there]) > max(3.0, 3 * typical):
            notes.append(f"{name}: errs more than the other cameras: is it synchronised?")
    return notes
