"""A body surface for any named humanoid skeleton, made from its joints alone, and its motion as meshes.

Stand-in for acquired people: the rounded limbs that the book draws are melted into one closed surface, meshed in the
T-pose and moved by linear blend skinning. Nothing is learnt or licensed; what it lacks is cloth, hair and muscle.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.checks import check_shape
from motionbook.clip import Clip, Skeleton
from motionbook.drawing import body_of
from motionbook.kinematics import forward_kinematics, local_rotations, world_pose
from motionbook.skeletons import t_pose


@dataclass(frozen=True, eq=False)
class MeshSequence:
    """A moving surface: vertices (frames, vertices, 3) in metres, faces (faces, 3) int, fps."""

    vertices: np.ndarray
    faces: np.ndarray
    fps: float

    def __post_init__(self):
        object.__setattr__(self, "vertices", check_shape(self.vertices, "frames vertices 3", "vertices"))
        faces = np.asarray(self.faces)
        if faces.ndim != 2 or faces.shape[1] != 3 or not np.issubdtype(faces.dtype, np.integer):
            raise ValueError(f"faces: expected (faces, 3) integers, got {faces.shape} {faces.dtype}")
        if faces.size and not (0 <= faces.min() and faces.max() < self.vertices.shape[1]):
            raise ValueError(f"faces: an index lies outside 0..{self.vertices.shape[1] - 1}")
        object.__setattr__(self, "faces", faces)

    def __len__(self):
        return len(self.vertices)


class Surface(NamedTuple):
    """A skinned surface: vertices (vertices, 3) at rest, faces, weights (vertices, joints), rest places and turns."""

    vertices: np.ndarray
    faces: np.ndarray
    weights: np.ndarray
    rest_positions: np.ndarray
    rest_rotations: np.ndarray


def make_surface(skeleton: Skeleton, vertices: int = 2_000, *, spacing: float = 0.015) -> Surface:
    """The closed surface of a person with this skeleton, in the T-pose.

    Parameters
    ----------
    skeleton : Skeleton
        With names that tell thighs, upper arms and head (``drawing.body_of``).
    vertices : int
        About how many are kept (to a few per cent).
    spacing : float
        Metres between the grid points at which the melted limbs are sampled.
    """
    import fast_simplification
    from skimage.measure import marching_cubes

    turns = t_pose(skeleton)
    rest = world_pose(skeleton, np.zeros(3), local_rotations(skeleton.parents, turns))
    body = body_of(skeleton)
    starts = rest.positions[body.joints] + rot.rotate(rest.rotations[body.joints], body.starts)
    ends = rest.positions[body.joints] + rot.rotate(rest.rotations[body.joints], body.ends)
    low = np.minimum(starts, ends).min(0) - 0.25
    shape = np.ceil((np.maximum(starts, ends).max(0) + 0.25 - low) / spacing).astype(int)
    grid = low + spacing * np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    field = _melted(grid.reshape(-1, 3), starts, ends, body.radii).reshape(shape)
    points, faces, _, _ = marching_cubes(field, 0.0, spacing=(spacing,) * 3)
    share = 1.0 - min(vertices / len(points), 1.0)
    if share > 0:
        points, faces = fast_simplification.simplify(points.astype(np.float32), faces.astype(np.int32), share)
    points = points.astype(np.float64) + low
    weights = _skin(points, starts, ends, body, len(skeleton))
    return Surface(points, faces.astype(np.int64), weights, rest.positions, rest.rotations)


def _distances(points, starts, ends, radii):
    """Signed distance (points, cones) to rounded cones, negative inside."""
    along = ends - starts
    length = np.einsum("ci,ci->c", along, along)
    t = np.einsum("pci,ci->pc", points[:, None] - starts, along) / np.where(length > 0, length, 1.0)
    t = np.clip(t, 0.0, 1.0)
    nearest = starts + t[..., None] * along
    return np.linalg.norm(points[:, None] - nearest, axis=-1) - (radii[:, 0] + t * (radii[:, 1] - radii[:, 0]))


def _melted(points, starts, ends, radii, softness=0.012):
    """Smooth minimum of the distances to all cones, in blocks that fit the cache."""
    blocks = []
    for block in np.array_split(points, max(1, len(points) // 20_000)):
        near = -_distances(block, starts, ends, radii) / softness
        peak = near.max(-1)
        blocks.append(-softness * (peak + np.log(np.exp(near - peak[:, None]).sum(-1))))
    return np.concatenate(blocks)


def _skin(points, starts, ends, body, joints, softness=0.025):
    """Weights (points, joints) that fall off with the distance to each joint's cones; they add to one."""
    distance = _distances(points, starts, ends, body.radii)
    per_joint = np.full((len(points), joints), np.inf)
    for cone, joint in enumerate(body.joints):
        per_joint[:, joint] = np.minimum(per_joint[:, joint], distance[:, cone])
    weights = np.exp(-(per_joint - per_joint.min(-1, keepdims=True)) / softness)
    weights[weights < 0.01] = 0.0
    return weights / weights.sum(-1, keepdims=True)


def move_surface(surface: Surface, clip: Clip) -> MeshSequence:
    """The surface in every frame of a clip, by linear blend skinning (4DHumanQA, Eq. 8 without blend shapes)."""
    world = forward_kinematics(clip)
    turns = rot.multiply(world.rotations, rot.inverse(surface.rest_rotations))
    shifts = world.positions - rot.rotate(turns, surface.rest_positions)
    # (vertices, joints) x (joints, 12): one product per frame for rotation and translation together
    transforms = np.concatenate([rot.to_matrix(turns), shifts[..., None]], axis=-1).reshape(*turns.shape[:2], 12)
    blended = (surface.weights @ transforms).reshape(len(clip), -1, 3, 4)
    vertices = np.einsum("fvij,vj->fvi", blended[..., :3], surface.vertices) + blended[..., 3]
    return MeshSequence(vertices, surface.faces, clip.fps)
