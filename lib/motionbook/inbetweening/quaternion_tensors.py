"""Rotations and forward kinematics in torch, with gradients: the few functions that learning on residuals needs.

Quaternions are wxyz as in ``motionbook.rotations``, last axis 4; angles are radians, lengths in any unit.
"""

import numpy as np
import torch

from motionbook.skeletons import LAFAN1

_FORWARD = (0.0, 1.0, 0.0)  # of a LaFAN1 root, in its own frame


def multiply(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product a b, (..., 4): b is applied first."""
    aw, ax, ay, az = a.unbind(-1)
    bw, bx, by, bz = b.unbind(-1)
    return torch.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        dim=-1,
    )


def inverse(q: torch.Tensor) -> torch.Tensor:
    """The inverse of unit quaternions (..., 4)."""
    return q * q.new_tensor([1.0, -1.0, -1.0, -1.0])


def rotate(q: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Vectors v (..., 3) turned by q (..., 4)."""
    w, x, y, z = q.unbind(-1)
    a, b, c = v.unbind(-1)
    s, t, u = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return torch.stack(
        [a + w * s + y * u - z * t, b + w * t + z * s - x * u, c + w * u + x * t - y * s],
        dim=-1,
    )


def logarithm(q: torch.Tensor) -> torch.Tensor:
    """Rotation vectors (..., 3) of at most half a turn."""
    q = torch.where(q[..., :1] < 0, -q, q)
    sine = q[..., 1:].norm(dim=-1, keepdim=True)
    angle = 2 * torch.atan2(sine, q[..., :1])
    return q[..., 1:] * torch.where(sine > 1e-6, angle / sine.clamp_min(1e-6), torch.full_like(sine, 2.0))


def exponential(v: torch.Tensor) -> torch.Tensor:
    """Unit quaternions (..., 4) of rotation vectors (..., 3)."""
    # the tiny number keeps the gradient of the root finite at no rotation
    angle = (v.square().sum(-1, keepdim=True) + 1e-12).sqrt()
    return torch.cat([torch.cos(angle / 2), v * (torch.sin(angle / 2) / angle)], dim=-1)


def heading_turn(root_rotations: torch.Tensor) -> torch.Tensor:
    """Turns (..., 4) about the vertical that make roots (..., 4) head along +X."""
    heading = rotate(root_rotations, root_rotations.new_tensor(_FORWARD).expand(*root_rotations.shape[:-1], 3))
    half = torch.atan2(heading[..., 2], heading[..., 0]) / 2
    return torch.stack([torch.cos(half), torch.zeros_like(half), torch.sin(half), torch.zeros_like(half)], dim=-1)


def world_pose(root, rotations, offsets) -> tuple[torch.Tensor, torch.Tensor]:
    """World places (..., 22, 3) and rotations (..., 22, 4) of LaFAN1's joints.

    Parameters
    ----------
    root : (..., 3)
    rotations : (..., 22, 4)
        Parent-relative.
    offsets : (..., 22, 3)
        Bones, in the unit of ``root``; leading axes may be 1.
    """
    places, turns = root[..., None, :], rotations[..., :1, :]
    all_places, all_turns, order = [places], [turns], [0]
    for children, parents in _LEVELS:  # a level at once: eight steps instead of twenty-two
        above, bones = turns[..., parents, :], offsets[..., children, :]
        places = places[..., parents, :] + rotate(above, bones.expand(*above.shape[:-1], 3))
        turns = multiply(above, rotations[..., children, :])
        all_places.append(places)
        all_turns.append(turns)
        order += children
    back = np.argsort(order).tolist()
    return torch.cat(all_places, -2)[..., back, :], torch.cat(all_turns, -2)[..., back, :]


def _levels(parents) -> list[tuple[list[int], list[int]]]:
    """Joints by depth below the root, with the place of each one's parent in the level above."""
    levels, above = [], [0]
    while children := [j for j, parent in enumerate(parents) if parent in above]:
        levels.append((children, [above.index(parents[j]) for j in children]))
        above = children
    return levels


_LEVELS = _levels(LAFAN1.parents)
