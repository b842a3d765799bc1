"""The same motion on another skeleton: bone directions kept, size taken from the new body, feet where they were.

For every body part the source's world rotation is read against the pose in which its rig stands straight and written
into the target's: global(target) = global(source) x inverse(standing source) x aligned standing target. The alignment
turns each bone of the target's standing pose onto the direction the source's bone has there, so that a bone points
where the source's bone points whatever pose (T, A, arms down) either rig was drawn in. The root's path is scaled by
the ratio of the leg lengths, then the ankles are put by two-bone inverse kinematics where the scaled source has them,
so that feet slide no more than they did.
"""

from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton
from motionbook.inverse_kinematics import two_bone_ik
from motionbook.kinematics import forward_kinematics, local_rotations, world_pose
from motionbook.rigs import SIDES, Rig, find_rig, standing_places, standing_pose

_UP, _DOWN, _FORWARD = np.array([[0.0, 1, 0], [0, -1, 0], [0, 0, 1]])
_STRAIGHT_KNEE = np.deg2rad([5.0, 20.0])  # below the first a knee keeps its angle, above the second it may change
_NEXT = {
    "clavicle": "upper_arm",
    "upper_arm": "forearm",
    "forearm": "hand",
    "thigh": "shin",
    "shin": "foot",
    "foot": "toe",
}


class _Body(NamedTuple):
    """A skeleton with its rig and standing pose."""

    skeleton: Skeleton
    rig: Rig
    pose: np.ndarray
    places: np.ndarray

    def bone(self, joint: int, end: int | None) -> np.ndarray | None:
        """Vector (3,) of a bone in the standing pose, to another joint or to the joint's own end site."""
        if end is not None:
            vector = self.places[end] - self.places[joint]
        else:
            ends = [np.array(o) for j, o in self.skeleton.end_offsets if j == joint and np.linalg.norm(o) > 1e-6]
            if not ends:
                return None
            vector = rot.rotate(self.pose[joint], ends[0])
        return vector if np.linalg.norm(vector) > 1e-6 else None


def retarget(clip: Clip, skeleton: Skeleton, *, keep_size: bool = False, rest=None, keep_ankles: bool = True) -> Clip:
    """A clip of any humanoid rig on another skeleton.

    Parameters
    ----------
    clip : Clip
        On a rig whose joint names say the body part (LaFAN1, FreeMoCap, Mixamo, CMU, Xsens, Bandai-Namco and alike).
    skeleton : Skeleton
        The target, e.g. ``motionbook.skeletons.LAFAN1``, ``FREEMOCAP`` or ``CSKEL27``.
    keep_size : bool
        False: the target's own proportions, the root's path scaled by the ratio of leg lengths. True: the target's
        bones are stretched to the source person's and the path is kept.
    rest : (joints, 4), optional
        World rotations in which the source stands straight and faces +Z, for rigs whose rest pose is none.
    keep_ankles : bool
        Put the ankles where the (scaled) source has them.

    Returns
    -------
    Clip
        Same frames and rate. A skeleton with the source's joints and offsets (to 0.1 mm) gives the rotations
        unchanged.

    Raises
    ------
    ValueError
        When a rig cannot be read from the names, or the rest pose is no standing person.
    """
    source = _body(clip.skeleton, rest)
    target = _body(skeleton, None)
    same_joints = clip.skeleton.names == skeleton.names and clip.skeleton.parents == skeleton.parents
    if same_joints and clip.translations is None and rest is None:
        if keep_size or np.abs(clip.skeleton.offsets[1:] - skeleton.offsets[1:]).max() < 1e-4:
            skeleton = clip.skeleton if keep_size else skeleton
            return Clip(skeleton, clip.root_positions, clip.rotations, clip.fps)
    if keep_size:
        target = _body(_stretched(target, source), None)
    places, turns = forward_kinematics(clip)
    world = _world_rotations(source, target, turns)
    scale = 1.0 if keep_size else _leg_length(target) / _leg_length(source)
    source_ankle, target_ankle = _ankle_heights(source, target)

    def placed(point):
        return scale * (point - [0.0, source_ankle, 0.0]) + [0.0, target_ankle, 0.0]

    root = placed(_hip_centre(source, places)) - _hip_centre(
        target,
        world_pose(
            target.skeleton, np.zeros((len(clip), 3)), local_rotations(target.skeleton.parents, world)
        ).positions,
    )
    if keep_ankles:
        for side in SIDES:
            ankle = placed(places[:, source.rig.limbs[side, "foot"]])
            world = _with_ankle(target, side, root, world, ankle)
    local = rot.unroll(rot.normalize(local_rotations(target.skeleton.parents, world)))
    return Clip(target.skeleton, root, local, clip.fps)


def _body(skeleton: Skeleton, rest) -> _Body:
    rig = find_rig(skeleton)
    pose = standing_pose(skeleton, rig) if rest is None else rot.normalize(rest)
    return _Body(skeleton, rig, pose, standing_places(skeleton, pose))


def _bones(body: _Body) -> dict:
    """Part -> (joint, straight direction, bone vector in the standing pose or None)."""
    rig = body.rig
    bones = {}
    for side in SIDES:
        out = np.array([1.0 if side == "left" else -1.0, 0, 0])
        for part, end in _NEXT.items():
            joint = rig.limbs.get((side, part))
            if joint is not None:
                straight = _FORWARD if part == "foot" else _DOWN if part in ("thigh", "shin") else out
                bones[side, part] = (joint, straight, body.bone(joint, rig.limbs.get((side, end))))
    for chain, above in ((rig.spine, (*rig.neck, rig.head)[0]), (rig.neck, rig.head)):
        for joint, end in zip(chain, (*chain, above)[1:], strict=True):
            bones["chain", joint] = (joint, _UP, body.bone(joint, end))
    return bones


def _standing_turns(body: _Body) -> dict:
    """Part -> (4,) turn C such that world rotation x C takes the part's straight direction onto its bone."""
    turns = {}
    for part, (joint, straight, bone) in _bones(body).items():
        lean = rot.identity() if bone is None else rot.between(straight, bone)
        turns[part] = rot.multiply(rot.inverse(body.pose[joint]), lean)
    return turns


def _world_rotations(source: _Body, target: _Body, turns: np.ndarray) -> np.ndarray:
    """World rotations (frames, joints, 4) of the target from those of the source."""
    read, write = _standing_turns(source), _standing_turns(target)
    lean_free = rot.multiply(turns, rot.inverse(source.pose))  # each joint's turn away from standing straight
    frames = {}
    for side in SIDES:
        for part in _NEXT:
            joint, mine = source.rig.limbs.get((side, part)), target.rig.limbs.get((side, part))
            if joint is not None and mine is not None:
                frames[mine] = rot.multiply(rot.multiply(turns[:, joint], read[side, part]), _inv(write[side, part]))
        for part, instead in (("hand", None), ("toe", "foot")):
            # where the source ends at the ankle, the toes follow the foot's own turn, so that a flat foot stays flat
            joint = source.rig.limbs.get((side, part), source.rig.limbs.get((side, instead)))
            mine = target.rig.limbs.get((side, part))
            if joint is not None and mine is not None:
                outwards = _toe_out(source, target, side) if part == "toe" else rot.identity()
                frames[mine] = rot.multiply(lean_free[:, joint], rot.multiply(outwards, target.pose[mine]))
    frames[target.rig.hips] = rot.multiply(lean_free[:, source.rig.hips], target.pose[target.rig.hips])
    if source.rig.head is not None and target.rig.head is not None:
        frames[target.rig.head] = rot.multiply(lean_free[:, source.rig.head], target.pose[target.rig.head])
    for chain in ("spine", "neck"):
        theirs, ours = getattr(source.rig, chain), getattr(target.rig, chain)
        if theirs and ours:
            straightened = [rot.multiply(turns[:, j], read["chain", j]) for j in theirs]
            # FreeMoCap's spine starts between the hips, LaFAN1's a hand's breadth above and behind: with equal bone
            # directions the trunk as a whole would lean back by 4 degrees.
            whole = rot.between(_trunk(target), _trunk(source)) if chain == "spine" else rot.identity()
            for joint, turn in zip(ours, _along_chain(source, theirs, straightened, target, ours), strict=True):
                frames[joint] = rot.multiply(rot.multiply(turn, whole), _inv(write["chain", joint]))
    world = np.empty((len(turns), len(target.skeleton), 4))
    for joint, parent in enumerate(target.skeleton.parents):
        if joint in frames:
            world[:, joint] = frames[joint]
        elif parent < 0:
            world[:, joint] = target.pose[joint]
        else:  # a joint the source lacks keeps its place against its parent
            kept = rot.multiply(rot.inverse(target.pose[parent]), target.pose[joint])
            world[:, joint] = rot.multiply(world[:, parent], kept)
    return world


def _toe_out(source: _Body, target: _Body, side: str) -> np.ndarray:
    """Turn (4,) about the vertical from the way the target's foot points in the standing pose to the source's."""
    ways = []
    for body in (target, source):
        bone = body.bone(body.rig.limbs[side, "foot"], body.rig.limbs.get((side, "toe")))
        flat = None if bone is None else bone * [1.0, 0.0, 1.0]
        if flat is None or np.linalg.norm(flat) < 1e-6:
            return rot.identity()
        ways.append(flat)
    return rot.between(*ways)


def _inv(q):
    return rot.inverse(q)


def _trunk(body: _Body) -> np.ndarray:
    """Vector (3,) from between the hips to the base of the neck with every bone of the spine straight up."""
    bones = _bones(body)
    height = sum(np.linalg.norm(bones["chain", j][2]) for j in body.rig.spine if bones["chain", j][2] is not None)
    return body.places[body.rig.spine[0]] - _hip_centre(body, body.places) + height * _UP


def _along_chain(source, theirs, turns, target, ours):
    """Turns of the target's chain, interpolated at the same share of the way along the source's."""
    at_source, at_target = _middles(source, theirs), _middles(target, ours)
    result = []
    for where in at_target:
        k = int(np.clip(np.searchsorted(at_source, where) - 1, 0, max(len(theirs) - 2, 0)))
        if len(theirs) == 1:
            result.append(turns[0])
            continue
        share = np.clip((where - at_source[k]) / max(at_source[k + 1] - at_source[k], 1e-9), 0.0, 1.0)
        result.append(rot.slerp(turns[k], turns[k + 1], np.full(turns[k].shape[:-1], share)))
    return result


def _middles(body: _Body, chain) -> np.ndarray:
    """Share of the chain's length at the middle of each of its bones, increasing."""
    bones = _bones(body)
    lengths = np.array([0.0 if b is None else np.linalg.norm(b) for b in (bones["chain", j][2] for j in chain)])
    lengths = np.where(lengths > 0, lengths, 1e-3)
    return (np.cumsum(lengths) - 0.5 * lengths) / lengths.sum()


def _hip_centre(body: _Body, places: np.ndarray) -> np.ndarray:
    left, right = (places[..., body.rig.limbs[side, "thigh"], :] for side in SIDES)
    return 0.5 * (left + right)


def _leg_length(body: _Body) -> float:
    limbs = body.rig.limbs
    return float(
        np.mean(
            [
                np.linalg.norm(body.places[limbs[side, a]] - body.places[limbs[side, b]])
                for side in SIDES
                for a, b in (("thigh", "shin"), ("shin", "foot"))
            ]
        )
        * 2
    )


def _ankle_heights(source: _Body, target: _Body) -> tuple[float, float]:
    """Height of the ankle over the toes, standing, in the source and in the target with the source's foot slope."""
    heights = []
    for side in SIDES:
        theirs, ours = (b.bone(b.rig.limbs[side, "foot"], b.rig.limbs.get((side, "toe"))) for b in (source, target))
        if theirs is None or ours is None:
            return 0.0, 0.0
        heights.append((-theirs[1], -theirs[1] * np.linalg.norm(ours) / np.linalg.norm(theirs)))
    return tuple(np.mean(heights, axis=0))


def _with_ankle(body: _Body, side: str, root, world: np.ndarray, ankle: np.ndarray) -> np.ndarray:
    """World rotations with one leg bent so that its ankle is where it should be; the foot keeps its rotation."""
    parents = body.skeleton.parents
    hip, knee, foot = (body.rig.limbs[side, part] for part in ("thigh", "shin", "foot"))
    places = world_pose(body.skeleton, root, local_rotations(parents, world)).positions
    a, b, c = places[:, hip], places[:, knee], places[:, foot]
    # Another hip width or knee height moves a standing foot by a constant amount, and a captured person's legs differ
    # in length by up to 2 cm. Sideways the constant is granted whole, for it makes no foot slide; upwards by half, a
    # compromise between a foot off the floor by millimetres and a knee bent by degrees.
    ankle = ankle + np.mean(c - ankle, axis=0) * [1.0, 0.5, 1.0]
    if np.linalg.norm(c - ankle, axis=-1).max() < 1e-7:
        return world
    along = (c - a) / np.linalg.norm(c - a, axis=-1, keepdims=True)
    bend = (b - a) - np.sum((b - a) * along, axis=-1, keepdims=True) * along
    straight = np.linalg.norm(bend, axis=-1, keepdims=True) < 1e-5
    # a leg stretched to a line has no plane of its own; the knee then bends to the front of the thigh
    forward = rot.rotate(world[:, hip], rot.rotate(rot.inverse(body.pose[hip]), _FORWARD))
    reach = _reach(a, b, c, ankle)
    turned = two_bone_ik(a, np.where(straight, b + 1e-4 * forward, b), c, reach, straightest=1 - 1e-9)
    old = world
    world = old.copy()
    for joint in range(len(parents)):
        if _leads_to(parents, joint, hip, foot):
            turn = turned.lower if _leads_to(parents, joint, knee, foot) else turned.upper
            world[:, joint] = rot.multiply(turn, old[:, joint])
    return world


def _reach(hip, knee, ankle, goal) -> np.ndarray:
    """The goal (frames, 3), lifted or lowered where the leg is all but straight so that the knee keeps its angle.

    A captured knee that is nearly straight bends forwards in one frame and backwards in the next by a degree. Made to
    bend more, because the other body's leg is longer, it would snap. The ankle therefore keeps its place over the
    floor, which is what foot contact needs, and gives way by millimetres in height.
    """
    thigh, shin = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (knee - hip, ankle - knee))
    bent = np.arccos(np.clip(np.sum(thigh * shin, axis=-1), -1.0, 1.0))
    share = np.clip((bent - _STRAIGHT_KNEE[0]) / (_STRAIGHT_KNEE[1] - _STRAIGHT_KNEE[0]), 0.0, 1.0)
    share = share * share * (3.0 - 2.0 * share)
    to_goal = goal - hip
    wanted, now = np.linalg.norm(to_goal, axis=-1), np.linalg.norm(ankle - hip, axis=-1)
    length = now + share * (wanted - now)
    aside = np.hypot(to_goal[:, 0], to_goal[:, 2])
    below = -to_goal[:, 1] > 0.5 * wanted
    dropped = to_goal.copy()
    dropped[:, 1] = -np.sqrt(np.maximum(length**2 - aside**2, 0.0))
    along = to_goal * (length / wanted)[:, None]
    return hip + np.where(below[:, None], dropped, along)


def _leads_to(parents, joint: int, start: int, stop: int) -> bool:
    """Whether ``joint`` is start or hangs below it, without passing ``stop``."""
    while joint >= 0 and joint != stop:
        if joint == start:
            return True
        joint = parents[joint]
    return False


def _stretched(target: _Body, source: _Body) -> Skeleton:
    """The target's skeleton with the source's bone lengths where both have the bone, else scaled as the legs are."""
    theirs, ours = _bones(source), _bones(target)
    overall = _leg_length(source) / _leg_length(target)
    factor = np.full(len(target.skeleton), overall)
    for part, (joint, _, bone) in ours.items():
        other = theirs.get(part) if part[0] != "chain" else None
        if bone is None or other is None or other[2] is None:
            continue
        end = target.rig.limbs.get((part[0], _NEXT[part[1]]))
        if end is not None and target.skeleton.parents[end] == joint:
            factor[end] = np.linalg.norm(other[2]) / np.linalg.norm(bone)
    trunk = [
        np.linalg.norm(
            np.mean([b.places[b.rig.limbs[s, "upper_arm"]] for s in SIDES], axis=0) - _hip_centre(b, b.places)
        )
        for b in (source, target)
    ]
    for joint in (*target.rig.spine, *target.rig.neck[:1]):
        factor[joint] = trunk[0] / trunk[1]
    for side in SIDES:
        thigh = target.rig.limbs[side, "thigh"]
        widths = [
            abs(b.places[b.rig.limbs["left", "thigh"]] - b.places[b.rig.limbs["right", "thigh"]])[0]
            for b in (source, target)
        ]
        factor[thigh] = widths[0] / widths[1]
        clavicle = target.rig.limbs.get((side, "clavicle"))
        if clavicle is not None:
            factor[clavicle] = trunk[0] / trunk[1]
    skeleton = target.skeleton
    ends = tuple((j, tuple(factor[j] * np.array(offset))) for j, offset in skeleton.end_offsets)
    return Skeleton(skeleton.names, skeleton.parents, skeleton.offsets * factor[:, None], ends)
