"""Triangles of rounded cones: limbs that any viewer can show."""

import numpy as np

from motionbook import rotations as rot

SIDES, RINGS = 12, 3  # corners around, circles per cap


def cone_mesh(starts, ends, radii) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Closed meshes of rounded cones, one after the other.

    Parameters
    ----------
    starts, ends : (cones, 3)
        Metres; where both are one point the cone is a ball.
    radii : (cones, 2)
        At start and end.

    Returns
    -------
    vertices : (cones, 74, 3)
    normals : (cones, 74, 3)
        Unit, outwards.
    faces : (cones, 144, 3)
        Counter-clockwise from outside, indices over all cones.
    """
    starts, ends, radii = (np.asarray(a, dtype=np.float64) for a in (starts, ends, radii))
    along = ends - starts
    length = np.linalg.norm(along, axis=-1, keepdims=True)
    axis = np.where(length > 1e-9, along / np.where(length > 1e-9, length, 1.0), [0.0, 1.0, 0.0])
    turn = rot.between(np.broadcast_to([0.0, 1.0, 0.0], axis.shape), axis)
    ball, cap = _ball()
    normals = rot.rotate(turn[:, None], ball)
    centres = np.stack([starts, ends], axis=1)[:, cap]
    vertices = centres + radii[:, cap][..., None] * normals
    faces = _faces() + len(ball) * np.arange(len(starts))[:, None, None]
    return vertices, normals, faces


def _ball() -> tuple[np.ndarray, np.ndarray]:
    """Directions (74, 3) from the pole at -y to that at +y, and the end (74,) each belongs to: 0 start, 1 end."""
    steps = np.linspace(0, np.pi / 2, RINGS + 1)[1:]
    latitudes = np.concatenate([steps - np.pi / 2, np.pi / 2 - steps[::-1]])
    around = np.arange(SIDES) * (2 * np.pi / SIDES)
    rings = np.stack(
        [
            np.cos(latitudes)[:, None] * np.sin(around),
            np.repeat(np.sin(latitudes)[:, None], SIDES, axis=1),
            np.cos(latitudes)[:, None] * np.cos(around),
        ],
        axis=-1,
    ).reshape(-1, 3)
    directions = np.concatenate([[[0.0, -1, 0]], rings, [[0.0, 1, 0]]])
    return directions, np.repeat([0, 1], len(directions) // 2)


def _faces() -> np.ndarray:
    last = 2 * RINGS * SIDES + 1
    here = np.arange(SIDES)
    there = (here + 1) % SIDES
    bottom = np.stack([np.zeros_like(here), 1 + there, 1 + here], axis=-1)
    top = np.stack([np.full_like(here, last), last - SIDES + here, last - SIDES + there], axis=-1)
    bands = []
    for ring in range(2 * RINGS - 1):
        low, high = 1 + ring * SIDES, 1 + (ring + 1) * SIDES
        bands.append(np.stack([low + here, low + there, high + there], axis=-1))
        bands.append(np.stack([low + here, high + there, high + here], axis=-1))
    return np.concatenate([bottom, *bands, top])
