"""A clip with left and right exchanged: the motion as a mirror in the plane x = 0 shows it.

With M = diag(-1, 1, 1), m(j) the joint opposite to j, and W the world rotations of the straight standing pose, the
mirrored joint is at M x_m(j) and turned by R'_j = M R_m(j) S_j. S_j = W_m(j)^-1 M W_j makes a rotation of it again and
maps the standing pose onto itself, whatever local frames the rig has: LaFAN1's along the bones, StayStill's half turn
of them, FreeMoCap's and CMU's parallel to the world. A left arm that hangs becomes a right arm that hangs.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.checks import check_shape
from motionbook.clip import Clip, Skeleton
from motionbook.rigs import find_rig, standing_pose

BONES = ("mirrored", "kept")
_M = np.array([-1.0, 1.0, 1.0])
_SAME = 1e-12  # metres; what rounding leaves of a symmetric skeleton

# What says the side in a joint's name, most telling first; a name counts as opposite only when a joint has it.
_SIDE_WORDS = (
    r"(?i)left|right",
    r"(?<=[._\-])[LRlr](?=$|[._\-\d])",
    r"(?:(?<=^)|(?<=[:_.\-]))[LRlr](?=[A-Z_.\-])",
    r"[LRlr]",
)
_SAID = _SIDE_WORDS[:2]  # these say a side even where the opposite is missing
_EXCHANGE = {"left": "right", "Left": "Right", "LEFT": "RIGHT", "l": "r", "L": "R"}
_EXCHANGE |= {right: left for left, right in _EXCHANGE.items()}


def mirror(
    clip: Clip, *, bones: str = "mirrored", pairs: Mapping[str, str] | None = None, rest: np.ndarray | None = None
) -> Clip:
    """The clip mirrored left to right in the plane x = 0; its own inverse.

    Parameters
    ----------
    clip : Clip
        Any skeleton whose joint names say left and right; `Clip.translations` are mirrored too.
    bones : "mirrored" or "kept"
        No person is symmetric. "mirrored" exchanges left and right bone lengths as well: every joint is exactly where
        the mirror shows it. "kept" leaves the skeleton, for data that must have one; joints are then off by what the
        two sides differ, summed along the chain. For a symmetric skeleton both are the same and the skeleton stays.
    pairs : mapping of joint name to joint name, optional
        Opposites that the names do not say; a joint on itself is in the middle.
    rest : (joints, 4) array, optional
        World rotations of a standing pose that faces +Z; `motionbook.rigs.standing_pose` when left out. For rigs whose
        rest pose does not stand, ``motionbook.cleaning.rest_pose.standing(clip).pose`` finds one from the motion; pass
        the same one to mirror back.

    Raises
    ------
    ValueError
        When a joint has no opposite, or the two sides are not built alike; it names the joints.
    """
    if bones not in BONES:
        raise ValueError(f"bones: expected one of {', '.join(BONES)}, got {bones!r}")
    skeleton = clip.skeleton
    other = opposite_joints(skeleton, pairs)
    pose = standing_pose(skeleton, find_rig(skeleton, armless=True)) if rest is None else rest
    pose = check_shape(pose, f"{len(skeleton)} 4", "rest")
    turns = rot.multiply(rot.inverse(_flipped(pose[other])), pose)  # S_j = M turns_j
    parents = np.array(skeleton.parents[1:], dtype=int)
    rotations = _flipped(clip.rotations[:, other])
    rotations[:, 1:] = rot.multiply(rot.inverse(turns[parents]), rotations[:, 1:])
    rotations = rot.multiply(rotations, turns)
    mirrored = _mirrored_skeleton(skeleton, other, turns)
    if bones == "kept" or _difference(skeleton, mirrored) <= _SAME:
        mirrored = skeleton
    translations = clip.translations
    if translations is not None:
        moved = translations[:, other[1:]]
        if bones == "kept":
            moved = moved - skeleton.offsets[other[1:]]
        translations = translations.copy()
        translations[:, 1:] = rot.rotate(rot.inverse(turns[parents]), moved * _M)
        if bones == "kept":
            translations[:, 1:] += skeleton.offsets[1:]
        translations[:, 0] = translations[:, 0] * _M
    root = clip.root_positions * _M
    return replace(clip, skeleton=mirrored, root_positions=root, rotations=rotations, translations=translations)


def opposite_joints(skeleton: Skeleton, pairs: Mapping[str, str] | None = None) -> np.ndarray:
    """Index (joints,) of the joint on the other side; a joint in the middle is its own.

    Raises
    ------
    ValueError
        When a name says a side and no joint has the name of the other, or the two sides hang together differently.
    KeyError
        For a name in ``pairs`` that the skeleton does not have.
    """
    given = {skeleton.index(a): skeleton.index(b) for a, b in (pairs or {}).items()}
    given |= {b: a for a, b in given.items()}
    other, alone = np.arange(len(skeleton)), []
    for joint, name in enumerate(skeleton.names):
        if joint in given:
            other[joint] = given[joint]
            continue
        found = next((swap for swap in _swapped_names(name) if swap in skeleton.names), None)
        if found is not None:
            other[joint] = skeleton.names.index(found)
        elif any(re.search(pattern, name) for pattern in _SAID):
            alone.append(name)
    if alone:
        raise ValueError(
            f"skeleton: no opposite for {', '.join(alone)} among {', '.join(skeleton.names)}; pass pairs=, a mapping "
            "of joint names (a joint on itself where it is in the middle)"
        )
    parents = np.array(skeleton.parents)
    wrong = [
        f"{skeleton.names[j]} and {skeleton.names[other[j]]}"
        for j in range(len(skeleton))
        if other[other[j]] != j or (other[parents[j]] if parents[j] >= 0 else -1) != parents[other[j]]
    ]
    if wrong:
        raise ValueError(
            f"skeleton: expected both sides to hang together alike, they do not at {'; '.join(wrong[:4])}; pass pairs= "
            "or retarget to another skeleton first"
        )
    return other


def asymmetry(skeleton: Skeleton) -> float:
    """Largest distance in metres between a joint's offset and its mirrored opposite's: 0 for a symmetric skeleton."""
    other = opposite_joints(skeleton)
    pose = standing_pose(skeleton, find_rig(skeleton, armless=True))
    turns = rot.multiply(rot.inverse(_flipped(pose[other])), pose)
    return _difference(skeleton, _mirrored_skeleton(skeleton, other, turns))


def _swapped_names(name: str) -> list[str]:
    """The name with one word for a side exchanged for the other side's, most telling first."""
    return [
        name[: found.start()] + _EXCHANGE.get(found[0], found[0]) + name[found.end() :]
        for pattern in _SIDE_WORDS
        for found in re.finditer(pattern, name)
        if found[0] in _EXCHANGE
    ]


def _flipped(q: np.ndarray) -> np.ndarray:
    """M R M as a quaternion: a mirror keeps the turn about its normal and reverses the others."""
    return q * np.array([1.0, 1.0, -1.0, -1.0])


def _mirrored_skeleton(skeleton: Skeleton, other: np.ndarray, turns: np.ndarray) -> Skeleton:
    back = rot.inverse(turns)
    offsets = skeleton.offsets.copy()  # the root's is kept: kinematics do not use it
    parents = np.array(skeleton.parents[1:], dtype=int)
    offsets[1:] = rot.rotate(back[parents], skeleton.offsets[other[1:]] * _M)
    ends: dict[int, list] = {}
    for joint, end in skeleton.end_offsets:
        ends.setdefault(int(other[joint]), []).append(rot.rotate(back[other[joint]], np.array(end) * _M))
    order = [joint for joint, _ in skeleton.end_offsets]
    if sorted(order) != sorted(int(other[joint]) for joint in order):
        order = sorted(int(other[joint]) for joint in order)
    waiting = {joint: iter(values) for joint, values in ends.items()}
    listed = tuple((joint, tuple(next(waiting[joint]))) for joint in order)
    return Skeleton(skeleton.names, skeleton.parents, offsets, listed)


def _difference(a: Skeleton, b: Skeleton) -> float:
    bones = np.linalg.norm(a.offsets[1:] - b.offsets[1:], axis=-1).max(initial=0.0)
    if [joint for joint, _ in a.end_offsets] != [joint for joint, _ in b.end_offsets]:
        return float("inf")
    pairs = zip(a.end_offsets, b.end_offsets, strict=True)
    return float(max([bones, *(np.linalg.norm(np.subtract(p[1], q[1])) for p, q in pairs)]))
