"""How deep limbs are in one another: distances of the rounded cones that a body is drawn with.

Tested are forearms with hands against trunk, head, thighs, shins and the other arm, and shins with feet against the
other leg. Neighbours at a joint overlap always and are left out, upper arms and chest among them.
"""

import functools
from typing import NamedTuple

import numpy as np

from motionbook.clip import Skeleton
from motionbook.drawing import Body, body_of
from motionbook.kinematics import WorldPose
from motionbook.rigs import SIDES, find_rig

# What is tested against what; "other" is the same part on the other side
_TESTS = {
    "arm": ("trunk", "head", "thigh", "shin", "other arm", "other upper arm"),
    "shin": ("other shin", "other thigh"),
}


class LimbPairs(NamedTuple):
    """A body with the pairs of its cones that must not meet.

    Attributes
    ----------
    body : Body
    pairs : (pairs, 2) int array
        Cones.
    words : tuple of str
        One per pair, e.g. "left arm in head".
    """

    body: Body
    pairs: np.ndarray
    words: tuple[str, ...]


def limb_pairs(skeleton: Skeleton, translations: np.ndarray | None = None) -> LimbPairs | None:
    """The drawn body of a skeleton with its pairs; None when the joint names do not tell a person with a head.

    ``translations`` (frames, joints, 3) stand for the offsets by their median, as in `motionbook.drawing.body_of`.
    """
    offsets = skeleton.offsets if translations is None else np.median(translations, axis=0)
    return _limb_pairs(skeleton.names, skeleton.parents, offsets.tobytes(), skeleton.end_offsets)


@functools.lru_cache(maxsize=128)  # the clips of one person share a skeleton
def _limb_pairs(names, parents, offsets, end_offsets) -> LimbPairs | None:
    skeleton = Skeleton(names, parents, np.frombuffer(offsets).reshape(-1, 3), end_offsets)
    try:
        rig = find_rig(skeleton)
    except ValueError:
        return None
    if rig.head is None:
        return None
    body = body_of(skeleton)
    regions = _regions(skeleton, rig)
    of_cone = [regions[joint] for joint in body.joints]
    pairs, words = [], []
    for a, first in enumerate(of_cone):
        for b, second in enumerate(of_cone):
            if first == second or not _tested(first, second) or ((b, a) in pairs):
                continue
            pairs.append((a, b))
            words.append(f"{' '.join(first).strip()} in {' '.join(second).strip()}")
    return LimbPairs(body, np.array(pairs, dtype=np.int64).reshape(-1, 2), tuple(words))


def _regions(skeleton: Skeleton, rig) -> list[tuple[str, str]]:
    """(side, region) of every joint; side "" in the middle."""
    first = {rig.hips: ("", "trunk"), rig.head: ("", "head")}
    for side in SIDES:
        for part, region in (("upper_arm", "upper arm"), ("forearm", "arm"), ("thigh", "thigh"), ("shin", "shin")):
            first[rig.limbs[side, part]] = (side, region)
    found: list[tuple[str, str]] = []
    for joint, parent in enumerate(skeleton.parents):
        found.append(first.get(joint, found[parent] if parent >= 0 else ("", "trunk")))
    return found


def _tested(first: tuple[str, str], second: tuple[str, str]) -> bool:
    across = second[0] not in ("", first[0])
    return second[1] in _TESTS.get(first[1], ()) or (across and f"other {second[1]}" in _TESTS.get(first[1], ()))


def penetration_depths(world: WorldPose, body: LimbPairs) -> tuple[np.ndarray, np.ndarray]:
    """Greatest depth of every frame in metres, negative the smallest gap, and the pair it is of, each (frames,).

    Depth is by how much the radii at the closest points of two axes exceed their distance: exact for capsules, and
    within a few percent for cones as slender as limbs.
    """
    places = np.ascontiguousarray(np.moveaxis(world.positions, (-1, -2), (0, 1)))
    turns = np.ascontiguousarray(np.moveaxis(world.rotations, (-1, -2), (0, 1)))
    frames = places.shape[-1]
    depths, pairs = np.full(frames, -np.inf), np.zeros(frames, dtype=np.int64)
    cones = body.body
    used = np.unique(body.pairs)
    _kernel()(
        places,
        turns,
        cones.joints.astype(np.int64),
        np.ascontiguousarray(cones.starts),
        np.ascontiguousarray(cones.ends),
        np.ascontiguousarray(cones.radii),
        used,
        body.pairs,
        depths,
        pairs,
    )
    return depths, pairs


@functools.cache
def _kernel():
    from numba import types

    from motionbook.compiling import compiled

    cube, table = types.float64[:, :, ::1], types.float64[:, ::1]
    numbers = types.int64[::1]
    return compiled(
        _depths,
        types.void(cube, cube, numbers, table, table, table, numbers, types.int64[:, ::1], types.float64[::1], numbers),
    )


def _depths(places, turns, joints, starts, ends, radii, used, pairs, depths, worst):
    cones = len(joints)
    a = np.empty((cones, 3))
    d = np.empty((cones, 3))
    length = np.empty(cones)
    for frame in range(places.shape[2]):
        for n in range(len(used)):
            c = used[n]
            j = joints[c]
            w, x, y, z = turns[0, j, frame], turns[1, j, frame], turns[2, j, frame], turns[3, j, frame]
            sx, sy, sz = starts[c, 0], starts[c, 1], starts[c, 2]
            ex, ey, ez = ends[c, 0] - sx, ends[c, 1] - sy, ends[c, 2] - sz
            tx, ty, tz = 2 * (y * sz - z * sy), 2 * (z * sx - x * sz), 2 * (x * sy - y * sx)
            a[c, 0] = places[0, j, frame] + sx + w * tx + y * tz - z * ty
            a[c, 1] = places[1, j, frame] + sy + w * ty + z * tx - x * tz
            a[c, 2] = places[2, j, frame] + sz + w * tz + x * ty - y * tx
            tx, ty, tz = 2 * (y * ez - z * ey), 2 * (z * ex - x * ez), 2 * (x * ey - y * ex)
            d[c, 0] = ex + w * tx + y * tz - z * ty
            d[c, 1] = ey + w * ty + z * tx - x * tz
            d[c, 2] = ez + w * tz + x * ty - y * tx
            length[c] = ex * ex + ey * ey + ez * ez
        deepest = -np.inf
        for n in range(len(pairs)):
            p, q = pairs[n, 0], pairs[n, 1]
            rx, ry, rz = a[p, 0] - a[q, 0], a[p, 1] - a[q, 1], a[p, 2] - a[q, 2]
            pp, qq = length[p], length[q]
            pq = d[p, 0] * d[q, 0] + d[p, 1] * d[q, 1] + d[p, 2] * d[q, 2]
            pr = d[p, 0] * rx + d[p, 1] * ry + d[p, 2] * rz
            qr = d[q, 0] * rx + d[q, 1] * ry + d[q, 2] * rz
            # closest points of two segments, s along the first and t along the second (Ericson 2005, 5.1.9)
            if pp < 1e-12:
                s = 0.0
            else:
                area = pp * qq - pq * pq
                s = min(max((pq * qr - pr * qq) / area, 0.0), 1.0) if area > 1e-9 * pp * qq else 0.5
            t = (pq * s + qr) / qq if qq > 1e-12 else 0.0
            if t < 0.0 or t > 1.0:
                t = min(max(t, 0.0), 1.0)
                if pp >= 1e-12:
                    s = min(max((pq * t - pr) / pp, 0.0), 1.0)
            gx, gy, gz = rx + s * d[p, 0] - t * d[q, 0], ry + s * d[p, 1] - t * d[q, 1], rz + s * d[p, 2] - t * d[q, 2]
            reach = radii[p, 0] + s * (radii[p, 1] - radii[p, 0]) + radii[q, 0] + t * (radii[q, 1] - radii[q, 0])
            depth = reach - np.sqrt(gx * gx + gy * gy + gz * gz)
            if depth > deepest:
                deepest = depth
                worst[frame] = n
        depths[frame] = deepest
