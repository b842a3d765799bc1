"""Motion as the two-stage transformer sees it: 135 numbers per frame, and the way back to joint places.

Frame t is x_t of 22 joints times 6 plus the root's place (centimetres, 3). The six numbers of a joint are the first two
columns of its parent-relative rotation matrix, read row by row: (r00, r01, r10, r11, r20, r21) (Zhou et al. 2019; Qin
et al. 2022). Every number is then divided into units of its standard deviation over the training people.

Legend of the axes: B windows, N frames, J joints; "planes" are tensors whose components stand first, (3, J, B, N), so
that every product of small matrices is a few operations on long rows.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.windows import CENTIMETRES, STATISTICS, Windows, make_windows
from motionbook.kinematics import world_pose
from motionbook.skeletons import LAFAN1

JOINTS = len(LAFAN1)
FEATURES = 6 * JOINTS + 3
FEET = tuple(LAFAN1.index(name) for name in ("LeftFoot", "LeftToe", "RightFoot", "RightToe"))
# toes that nobody moves have a standard deviation of zero, and 0 / 0 is not a number
SMALLEST_STD = 1e-3
# a foot rests when |dx| + |dy| + |dz| to the next frame is below this
CONTACT_CM_PER_FRAME = 0.2


class Statistics(NamedTuple):
    """Mean and standard deviation (135,) of the training people's frames, float64."""

    mean: np.ndarray
    std: np.ndarray


def features(root_positions, rotations) -> np.ndarray:
    """The 135 numbers of every frame, (..., 135) float64.

    Parameters
    ----------
    root_positions : (..., 3)
        Centimetres.
    rotations : (..., 22, 4)
        Parent-relative, wxyz.
    """
    columns = rot.to_matrix(rotations)[..., :2]
    flat = columns.reshape(*columns.shape[:-3], 6 * JOINTS)
    return np.concatenate([flat, root_positions], axis=-1)


def feature_statistics(clips: Sequence[Clip], smallest: float = SMALLEST_STD) -> Statistics:
    """Mean and standard deviation over all frames of the windows of 50 frames, 20 apart, centred at frame 9.

    Nothing is kept between calls: every fold has the numbers of its own training people. ``smallest`` (unitless for
    rotations, centimetres for the root) stands in for the deviation of what hardly moves; the published code divides by
    zero there (0 switches that on).
    """
    windows = make_windows(clips, *STATISTICS, centre="start")
    if not len(windows):
        raise ValueError(f"statistics: no training clip is as long as a window of {STATISTICS[0]} frames")
    x = features(windows.root_positions, windows.rotations).reshape(-1, FEATURES)
    return Statistics(x.mean(axis=0), np.maximum(x.std(axis=0), smallest))


def foot_contacts(clip: Clip) -> np.ndarray:
    """Which feet rest, (frames, 4) of 0 and 1 for left foot, left toe, right foot, right toe.

    From the clip as recorded: the sum of absolute coordinate changes depends on which way a person faces. The last
    frame repeats the one before it.
    """
    places = CENTIMETRES * world_pose(clip.skeleton, clip.root_positions, clip.rotations).positions[:, FEET]
    change = np.abs(np.diff(places, axis=0)).sum(axis=-1)
    return np.concatenate([change, change[-1:]]) < CONTACT_CM_PER_FRAME


class Facing(NamedTuple):
    """How windows were moved: turned by ``turn`` (windows, 1, 4) about the vertical after subtracting ``origin``."""

    turn: np.ndarray
    origin: np.ndarray


def start_centred(windows: Windows, frame: int = 9) -> tuple[np.ndarray, np.ndarray, Facing]:
    """Root places and all rotations with one frame at the origin of x and z and heading along +X, and the way back."""
    heading = rot.rotate(windows.rotations[:, frame, 0], [0.0, 1.0, 0.0])
    turn = rot.from_axis_angle([0.0, 1.0, 0.0], np.arctan2(heading[:, 2], heading[:, 0]))[:, None]
    origin = windows.root_positions[:, frame : frame + 1] * [1.0, 0.0, 1.0]
    rotations = windows.rotations.copy()
    rotations[:, :, 0] = rot.multiply(turn, rotations[:, :, 0])
    return rot.rotate(turn, windows.root_positions - origin), rotations, Facing(turn, origin)


def put_back(root_positions, rotations, facing: Facing) -> tuple[np.ndarray, np.ndarray]:
    """Undo ``start_centred`` for frames of the same windows."""
    back = rot.inverse(facing.turn)
    rotations = np.array(rotations)
    rotations[:, :, 0] = rot.multiply(back, rotations[:, :, 0])
    return rot.rotate(back, root_positions) + facing.origin, rotations


def columns_of(x: torch.Tensor) -> torch.Tensor:
    """Rotation part of features (B, N, >=132) as planes (2, 3, J, B, N): two columns of every matrix."""
    return x[..., : 6 * JOINTS].unflatten(-1, (JOINTS, 3, 2)).permute(4, 3, 2, 0, 1)


def orthonormal(columns: torch.Tensor) -> torch.Tensor:
    """Two columns (2, 3, ...) made unit and at right angles, Gram-Schmidt from the first."""
    first = columns[0] / columns[0].square().sum(0, keepdim=True).sqrt()
    second = columns[1] - (first * columns[1]).sum(0, keepdim=True) * first
    second = second / second.square().sum(0, keepdim=True).sqrt()
    return torch.stack([first, second])


def features_of(columns: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
    """Features (B, N, 135) from columns (2, 3, J, B, N) and root places (B, N, 3)."""
    flat = columns.permute(3, 4, 2, 1, 0).flatten(-3)
    return torch.cat([flat, root], dim=-1)


def third_column(columns: torch.Tensor) -> torch.Tensor:
    """Matrices (3 rows, 3 columns, ...) as planes from two orthonormal columns (2, 3, ...)."""
    (ax, ay, az), (bx, by, bz) = columns
    c = torch.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
    return torch.stack([columns[0], columns[1], c], dim=1)


def joint_places(columns: torch.Tensor, root: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """World places (3, J, B, N) of all joints, in the order of the skeleton.

    Parameters
    ----------
    columns : (2, 3, J, B, N)
        Orthonormal, of parent-relative rotations.
    root : (B, N, 3)
    offsets : (B, J, 3)
        Bones of each window's person, in the unit of ``root``.
    """
    local, bones = third_column(columns), offsets.permute(2, 1, 0)[..., None]
    turns, places, order = local[:, :, :1], root.permute(2, 0, 1)[:, None], [0]
    collected = [places]
    for children, parents in _LEVELS:
        above = turns[:, :, parents]
        # a joint's place needs its parent's turn only, and its own turn only when it has children
        places = places[:, parents] + (above * bones[None, :, children]).sum(1)
        if any(has_children := [child in _PARENTS for child in children]):
            onward = [i for i, more in enumerate(has_children) if more]
            chosen = local[:, :, [children[i] for i in onward]]
            turns = (above[:, :, None, onward] * chosen[None]).sum(1)
            turns = turns if len(onward) == len(children) else _spread(turns, onward, len(children))
        collected.append(places)
        order += children
    return torch.cat(collected, dim=1)[:, np.argsort(order)]


def _spread(turns: torch.Tensor, where: list[int], count: int) -> torch.Tensor:
    """Turns of some joints of a level at their places among all of it; the others are leaves and never read."""
    index = [where.index(i) if i in where else 0 for i in range(count)]
    return turns[:, :, index]


def _levels(parents: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Joints by depth below the root, each with the place of its parent within the level above."""
    levels, above = [], [0]
    while children := [j for j, p in enumerate(parents) if p in above]:
        levels.append((children, [above.index(parents[j]) for j in children]))
        above = children
    return levels


_PARENTS = frozenset(LAFAN1.parents)
_LEVELS = _levels(LAFAN1.parents)
