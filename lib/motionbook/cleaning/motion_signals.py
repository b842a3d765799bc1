"""Signals that show a capture's faults: bones as they move, their speed and jerk, turns, what stands on the floor.

All in SI units and measured over a thirtieth of a second whatever the frame rate, so that a limit means the same at
24 and at 120 frames per second. Arrays keep components and joints in front of frames, (3, points, frames), the layout
in which forward kinematics computes.
"""

from typing import NamedTuple

import numpy as np

from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import SIDES, find_legs, find_rig

STEP = 1 / 30
_SHORTEST_END = 0.01  # metres; shorter end sites add nothing to their joint


class Points(NamedTuple):
    """Joints and end sites of a skeleton.

    Attributes
    ----------
    names : tuple of str
        The joint's name; an end site has its joint's with " end".
    parents : (points,) int array
        -1 for the root.
    ends : tuple of (joint, (x, y, z))
        The end sites that follow the joints.
    parts : tuple of str
        "trunk", "leg" or "arm".
    feet : tuple of two tuples of int
        Points of the left and the right foot, ankle to toes; empty when the names do not tell.
    pairs : tuple of (left point, right point, limb)
        Bones that have a counterpart on the other side, limb "arm" or "leg".
    """

    names: tuple[str, ...]
    parents: np.ndarray
    ends: tuple[tuple[int, tuple[float, float, float]], ...]
    parts: tuple[str, ...]
    feet: tuple[tuple[int, ...], tuple[int, ...]]
    pairs: tuple[tuple[int, int, str], ...]


def body_points(skeleton: Skeleton) -> Points:
    """Joints and end sites with their part of the body; without telling names every point but the root is an "arm"."""
    ends = tuple((j, end) for j, end in skeleton.end_offsets if np.linalg.norm(end) > _SHORTEST_END)
    names = (*skeleton.names, *(f"{skeleton.names[j]} end" for j, _ in ends))
    parents = np.array([*skeleton.parents, *(j for j, _ in ends)])
    limbs = _limbs(skeleton)
    if not limbs:
        parts = ("trunk", *["arm"] * (len(names) - 1))
        return Points(names, parents, ends, parts, ((), ()), ())
    parts = ["trunk"] * len(names)
    of_joint = {}
    for side in SIDES:
        of_joint |= {limbs[side, "shin"]: "leg", limbs[side, "foot"]: "leg"}
        if (side, "forearm") in limbs:
            of_joint[limbs[side, "forearm"]] = "arm"
    for point in range(1, len(names)):
        parts[point] = of_joint.get(point, parts[parents[point]])
    feet, chains = [], []
    for side in SIDES:
        foot = limbs[side, "foot"]
        below = [p for p in range(len(names)) if p == foot or _hangs_on(parents, p, foot)]
        feet.append(tuple(below))
        forearm = limbs.get((side, "forearm"))
        hand = next((p for p in range(len(names)) if forearm is not None and parents[p] == forearm), None)
        chains.append((forearm, hand, limbs[side, "shin"], foot))
    pairs = tuple(
        (left, right, limb)
        for left, right, limb in zip(*chains, ("arm", "arm", "leg", "leg"), strict=True)
        if left is not None and right is not None
    )
    return Points(names, parents, ends, tuple(parts), tuple(feet), pairs)


def _limbs(skeleton: Skeleton) -> dict[tuple[str, str], int]:
    """Joints of arms and legs, of legs alone where a body has no arms or hangs from its head, or none."""
    for find in (lambda: find_rig(skeleton).limbs, lambda: find_legs(skeleton)):
        try:
            return find()
        except ValueError:
            continue
    return {}


def _hangs_on(parents, point: int, joint: int) -> bool:
    while point >= 0:
        point = int(parents[point])
        if point == joint:
            return True
    return False


def point_places(clip: Clip, points: Points, world=None) -> np.ndarray:
    """World places (3, points, frames) in metres of joints and end sites."""
    world = forward_kinematics(clip) if world is None else world
    joints = np.moveaxis(world.positions, (-1, -2), (0, 1))
    if not points.ends:
        return joints
    places = np.empty((3, len(points.names), len(clip)))
    places[:, : joints.shape[1]] = joints
    for point, (joint, (ox, oy, oz)) in enumerate(points.ends, start=joints.shape[1]):
        w, x, y, z = np.moveaxis(world.rotations[:, joint], -1, 0)
        tx, ty, tz = 2 * (y * oz - z * oy), 2 * (z * ox - x * oz), 2 * (x * oy - y * ox)
        places[0, point] = joints[0, joint] + ox + w * tx + y * tz - z * ty
        places[1, point] = joints[1, joint] + oy + w * ty + z * tx - x * tz
        places[2, point] = joints[2, joint] + oz + w * tz + x * ty - y * tx
    return places


def bone_paths(places: np.ndarray, points: Points) -> np.ndarray:
    """World vectors (3, points, frames) to each point from its parent; the root's own place for the root.

    Relative, so that a fault of one bone shows at that bone and not at all that hangs on it.
    """
    bones = places.copy()
    bones[:, 1:] -= places[:, points.parents[1:]]
    return bones


def lag(fps: float) -> int:
    """Frames in a thirtieth of a second, at least 1."""
    return max(1, round(STEP * fps))


def speeds(paths: np.ndarray, fps: float) -> np.ndarray:
    """Speed (points, frames) in m/s of each point since a thirtieth of a second ago, 0 before that."""
    step = lag(fps)
    return _padded(_length(paths[..., step:] - paths[..., :-step]) * (fps / step), step, 0, paths.shape[-1])


def excursions(paths: np.ndarray, fps: float, seconds: float, rest: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """How far, in metres, each point is from the middle of its places half of ``seconds`` before and after.

    Returns
    -------
    away : (points, frames) array
        0 at the ends.
    rested : (points, frames) bool array
        Whether the point came back to where it was and rested before and after, each to ``rest`` times that distance.
    """
    half = max(1, round(0.5 * seconds * fps))
    frames = paths.shape[-1]
    if frames <= 4 * half:
        return np.zeros(paths.shape[1:]), np.zeros(paths.shape[1:], dtype=bool)
    early, before, here, after, late = (paths[..., i * half : frames - (4 - i) * half] for i in range(5))
    away = _length(here - 0.5 * (before + after))
    allowed = rest * away
    rested = _length(after - before) <= allowed
    for one, other in ((early, before), (after, late)):
        rested &= _length(one - other) <= allowed
    return _padded(away, 2 * half, 2 * half, frames), _padded(rested, 2 * half, 2 * half, frames)


def jerks(paths: np.ndarray, fps: float) -> np.ndarray:
    """Size of the third derivative (points, frames) in m/s^3 from four places a thirtieth of a second apart.

    Each value stands at the second of its four frames; 0 at the ends.
    """
    step = lag(fps)
    if paths.shape[-1] <= 3 * step:
        return np.zeros(paths.shape[1:])
    third = paths[..., 3 * step :] - paths[..., : -3 * step]
    third -= 3 * (paths[..., 2 * step : -step] - paths[..., step : -2 * step])
    return _padded(_length(third) * (fps / step) ** 3, step, 2 * step, paths.shape[-1])


def rms(signal: np.ndarray, width: int) -> np.ndarray:
    """Root mean square (points, frames) of a signal over ``width`` frames centred on each, less at the ends."""
    frames = signal.shape[-1]
    total = np.zeros((len(signal), frames + 1))
    np.cumsum(np.square(signal), axis=-1, out=total[:, 1:])
    start = np.clip(np.arange(frames) - width // 2, 0, None)
    stop = np.minimum(start + width, frames)
    return np.sqrt(np.maximum(total[:, stop] - total[:, start], 0.0) / width)


def turn_steps(clip: Clip) -> np.ndarray:
    """Half the cosine-angle of each joint's turn (frames, joints) since a thirtieth of a second ago: |q . q'|."""
    step = lag(clip.fps)
    steps = np.ones(clip.rotations.shape[:2])
    np.abs(np.einsum("fjk,fjk->fj", clip.rotations[step:], clip.rotations[:-step], optimize=False), out=steps[step:])
    return steps


def turn_bends(clip: Clip) -> np.ndarray:
    """How far each rotation is from the middle of the great circle through its neighbours, (frames, joints) in radians.

    It vanishes for a joint that is held and for one that is interpolated between two poses, and never for long in a
    joint that somebody moves. Infinite at the ends of the clip.
    """
    step = lag(clip.fps)
    bends = np.full(clip.rotations.shape[:2], np.inf)
    if len(clip) <= 2 * step:
        return bends
    q = clip.rotations
    one = np.einsum("fjk,fjk->fj", q[step:], q[:-step], optimize=False)
    two = np.einsum("fjk,fjk->fj", q[2 * step :], q[: -2 * step], optimize=False)
    before, after = one[:-step], one[step:]
    square = 2 + 2 * two * np.sign(before) * np.sign(after) - np.square(np.abs(before) + np.abs(after))
    bends[step:-step] = np.sqrt(np.maximum(square, 0.0))
    return bends


def foot_travel(places: np.ndarray, points: Points, fps: float, seconds: float) -> np.ndarray:
    """Horizontal speed (frames,) in m/s, over ``seconds``, of that point of both feet that moves least.

    Somebody who stands, turns or walks always has one point of a foot at rest.
    """
    frames = places.shape[-1]
    half = max(1, round(0.5 * seconds * fps))
    found = np.zeros(frames)
    feet = [*points.feet[0], *points.feet[1]]
    if not feet or frames <= 2 * half:
        return found
    flat = places[0::2, feet]
    moved = _length(flat[..., 2 * half :] - flat[..., : -2 * half]).min(axis=0)
    found[half:-half] = moved * (fps / (2 * half))
    return found


def robust_limit(signal: np.ndarray, z: float) -> np.ndarray:
    """Median plus ``z`` standard deviations estimated from the median absolute deviation, (points,), over frames."""
    middle = np.median(signal, axis=-1)
    return middle + z * 1.4826 * np.median(np.abs(signal - middle[:, None]), axis=-1)


def _length(vectors: np.ndarray) -> np.ndarray:
    total = np.square(vectors[0])
    for component in vectors[1:]:
        total += np.square(component)
    return np.sqrt(total, out=total)


def _padded(values: np.ndarray, before: int, after: int, frames: int) -> np.ndarray:
    if not values.shape[-1]:
        return np.zeros((len(values), frames))
    return np.pad(values, ((0, 0), (before, after)))
