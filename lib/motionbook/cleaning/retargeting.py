"""The same motion on another skeleton: bone directions kept, size taken from the new body, feet where they were.

For every body part the source's world rotation is read against the pose in which its rig stands straight and written
into the target's: global(target) = global(source) x inverse(standing source) x aligned standing target. The alignment
turns each bone of the target's standing pose onto the direction the source's bone has there, so that a bone points
where the source's bone points whatever pose (T, A, arms down) either rig was drawn in. The root's path is scaled by
the ratio of the leg lengths, then the ankles are put by two-bone inverse kinematics where the scaled source has them,
so that feet slide no more than they did.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.cleaning.ankles import place_ankle
from motionbook.cleaning.bodies import (
    NEXT,
    UP,
    Body,
    ankle_heights,
    body_of_clip,
    bones_of,
    hip_centre,
    joint_places,
    leg_length,
    make_body,
    pelvis_turns,
    standing_hip_height,
    standing_turns,
    straight_trunk,
    stretched,
)
from motionbook.cleaning.editing import put_on_floor
from motionbook.cleaning.rest_pose import trunk_frames
from motionbook.cleaning.twists import with_hinged_elbows
from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.rerooting import hangs_from_head, rooted_at_hips
from motionbook.rigs import SIDES, RigFinding

_TRUNK_STRAYS = np.deg2rad(4.5)


class Plan(NamedTuple):
    """What is retargeted to what: made by `plan_retarget`, before any frame is computed.

    Attributes
    ----------
    clip : Clip
        The source, turned to stand on its hips where it hung from a headset.
    source, target : Body
    finding : RigFinding
        How the parts of the source were found.
    rest : str
        Where the standing pose of the source is from, in words.
    scale : float
        Factor of the root's path.
    """

    clip: Clip
    source: Body
    target: Body
    finding: RigFinding
    rest: str
    scale: float


def plan_retarget(
    clip: Clip, skeleton: Skeleton, *, keep_size: bool = False, rest=None, names=None, scale: str | float = "legs"
) -> Plan:
    """The bodies, the map between them and the scale; parameters and errors as `retarget`."""
    if hangs_from_head(clip.skeleton):
        clip = rooted_at_hips(clip)
    source, finding, how = body_of_clip(clip, rest, names)
    target = make_body(skeleton)
    if keep_size:
        target = make_body(stretched(target, source))
    if keep_size:
        factor = 1.0
    elif scale == "legs":
        factor = leg_length(target) / leg_length(source)
    elif scale == "hips":
        factor = standing_hip_height(target) / standing_hip_height(source)
    elif isinstance(scale, int | float) and np.isfinite(scale) and scale > 0:
        factor = float(scale)
    else:
        raise ValueError(f"scale: expected 'legs', 'hips' or a positive number, got {scale!r}")
    return Plan(clip, source, target, finding, how, factor)


def retarget(
    clip: Clip,
    skeleton: Skeleton,
    *,
    keep_size: bool = False,
    rest=None,
    keep_ankles: bool = True,
    names: Mapping[str, str] | None = None,
    scale: str | float = "legs",
    on_floor: bool = False,
    twist: str = "source",
) -> Clip:
    """A clip of any humanoid rig on another skeleton.

    Parameters
    ----------
    clip : Clip
        On a rig of `motionbook.rig_names.KNOWN_RIGS` or one whose joint names say the body part. A rig without arms
        is taken, too, and so is one that hangs from a headset; parts it lacks stay at rest in the result.
    skeleton : Skeleton
        The target, e.g. ``motionbook.skeletons.LAFAN1``, ``FREEMOCAP`` or ``CSKEL27``.
    keep_size : bool
        False: the target's own proportions, the root's path scaled. True: the target's bones are stretched to the
        source person's and the path is kept.
    rest : (joints, 4), optional
        World rotations in which the source stands straight and faces +Z. Without it the rest pose counts where it is
        a standing person, and else the motion (`motionbook.cleaning.rest_pose`).
    keep_ankles : bool
        Put the ankles where the (scaled) source has them.
    names : mapping, optional
        Joint of the clip to joint of LaFAN1, over what the names would say (`motionbook.rig_names.read_name_map`).
    scale : "legs", "hips" or float
        Factor of the root's path: ratio of the leg lengths, of the heights of the hips over the floor when standing,
        or given.
    on_floor : bool
        Lift or lower the result by a constant so that its lower foot stands at height 0.
    twist : "source" or "hinge"
        "source": arms turn about their own bones as the source's joints say. "hinge": as the plane says in which the
        elbow bends, for rigs that know no twist (`motionbook.cleaning.twists`).

    Returns
    -------
    Clip
        Same frames and rate. A skeleton with the source's joints and offsets (to 0.1 mm) gives the rotations
        unchanged.

    Raises
    ------
    ValueError
        When a rig cannot be read from the names, or neither rest pose nor motion shows how it stands.
    """
    if not len(clip):
        raise ValueError("clip: expected at least one frame, got none")
    if twist not in ("source", "hinge"):
        raise ValueError(f"twist: expected 'source' or 'hinge', got {twist!r}")
    same_joints = clip.skeleton.names == skeleton.names and clip.skeleton.parents == skeleton.parents
    if same_joints and clip.translations is None and rest is None and not names and twist == "source":
        if keep_size or np.abs(clip.skeleton.offsets[1:] - skeleton.offsets[1:]).max() < 1e-4:
            skeleton = clip.skeleton if keep_size else skeleton
            same = Clip(skeleton, clip.root_positions, clip.rotations, clip.fps)
            return put_on_floor(same) if on_floor else same
    plan = plan_retarget(clip, skeleton, keep_size=keep_size, rest=rest, names=names, scale=scale)
    result = carry_out(plan, keep_ankles, twist)
    return put_on_floor(result) if on_floor else result


def carry_out(plan: Plan, keep_ankles: bool = True, twist: str = "source") -> Clip:
    """The retargeted clip of a plan."""
    clip, source, target = plan.clip, plan.source, plan.target
    places, turns = forward_kinematics(clip)
    trunk = None
    if source.pelvis != "joint":
        turns = turns.copy()
        turns[:, source.rig.hips] = pelvis_turns(source, places)
        trunk = trunk_frames(source.rig, places)
    world = _world_rotations(source, target, turns, trunk)
    world = _with_trunk(source, target, places, world)
    if twist == "hinge":
        world = with_hinged_elbows(target, world)
    source_ankle, target_ankle = ankle_heights(source, target)

    def placed(point):
        return plan.scale * (point - [0.0, source_ankle, 0.0]) + [0.0, target_ankle, 0.0]

    thighs = [target.rig.limbs[side, "thigh"] for side in SIDES]
    left, right = joint_places(target.skeleton, np.zeros((len(clip), 3)), world, thighs)
    root = placed(hip_centre(source, places)) - 0.5 * (left + right)
    if keep_ankles:
        for side in SIDES:
            ankle = placed(places[:, source.rig.limbs[side, "foot"]])
            world = place_ankle(target, side, root, world, ankle)
    local = rot.unroll(rot.normalize(local_rotations(target.skeleton.parents, world)))
    return Clip(target.skeleton, root, local, clip.fps)


def joint_sources(source: Body, target: Body) -> dict[int, tuple[str, tuple[int, ...]]]:
    """What drives each joint of the target: how, and the source joints. A joint left out stays at rest.

    "bone": points where the source's bone points; "turn": takes the source joint's turn from standing straight;
    "chain": interpolated along spine or neck; "follows": the turn of the source's joint below which there is no other.
    """
    found = {target.rig.hips: ("turn", (source.rig.hips,))}
    read = bones_of(source)
    for side in SIDES:
        for part in NEXT:
            joint, mine = source.rig.limbs.get((side, part)), target.rig.limbs.get((side, part))
            if joint is not None and mine is not None:
                found[mine] = ("turn" if read[side, part][2] is None else "bone", (joint,))
        for part, instead in (("hand", None), ("toe", "foot")):
            own, other = source.rig.limbs.get((side, part)), source.rig.limbs.get((side, instead))
            mine = target.rig.limbs.get((side, part))
            if mine is not None and (own is not None or other is not None):
                found[mine] = ("turn", (own,)) if own is not None else ("follows", (other,))
    if source.rig.head is not None and target.rig.head is not None:
        found[target.rig.head] = ("turn", (source.rig.head,))
    for chain in ("spine", "neck"):
        theirs, ours = getattr(source.rig, chain), getattr(target.rig, chain)
        if theirs or (chain == "spine" and source.pelvis != "joint"):
            found.update({joint: ("chain", theirs) for joint in ours})
    return found


def _world_rotations(source: Body, target: Body, turns: np.ndarray, trunk) -> np.ndarray:
    """World rotations (frames, joints, 4) of the target from those of the source.

    ``trunk`` are the frames of pelvis and chest where no joint of the source carries them, else None.
    """
    read, write = standing_turns(source), standing_turns(target)
    lean_free = rot.multiply(turns, rot.inverse(source.pose))  # each joint's turn away from standing straight
    frames = {}
    for mine, (how, joints) in joint_sources(source, target).items():
        if how in ("turn", "follows"):
            frames[mine] = rot.multiply(lean_free[:, joints[0]], target.pose[mine])
    for side in SIDES:
        for part in NEXT:
            joint, mine = source.rig.limbs.get((side, part)), target.rig.limbs.get((side, part))
            if joint is not None and mine is not None and mine not in frames:
                turn = rot.multiply(turns[:, joint], read[side, part])
                frames[mine] = rot.multiply(turn, rot.inverse(write[side, part]))
        hand, mine = (body.rig.limbs.get((side, "hand")) for body in (source, target))
        if hand is not None and mine is not None:  # a rig drawn with its arms down has its hands down, too
            out = np.array([1.0 if side == "left" else -1.0, 0.0, 0.0])
            theirs, ours = (b.bone(b.rig.limbs[side, "forearm"], b.rig.limbs[side, "hand"]) for b in (source, target))
            if theirs is not None and ours is not None:
                aligned = rot.multiply(rot.between(out, theirs), rot.inverse(rot.between(out, ours)))
                frames[mine] = rot.multiply(lean_free[:, hand], rot.multiply(aligned, target.pose[mine]))
        # where the source ends at the ankle, the toes follow the foot's own turn, so that a flat foot stays flat
        joint = source.rig.limbs.get((side, "toe"), source.rig.limbs.get((side, "foot")))
        mine = target.rig.limbs.get((side, "toe"))
        if joint is not None and mine is not None:
            outwards = rot.multiply(_toe_out(source, target, side), target.pose[mine])
            frames[mine] = rot.multiply(lean_free[:, joint], outwards)
    for chain in ("spine", "neck"):
        theirs, ours = getattr(source.rig, chain), getattr(target.rig, chain)
        if chain == "spine" and trunk is not None and ours:
            whole = rot.between(straight_trunk(target), UP)
            for joint, share in zip(ours, _middles(target, ours), strict=True):
                turn = rot.multiply(rot.slerp(*trunk, np.full(len(turns), share)), whole)
                frames[joint] = rot.multiply(turn, rot.inverse(write["chain", joint]))
        elif theirs and ours:
            straightened = [rot.multiply(turns[:, j], read["chain", j]) for j in theirs]
            # FreeMoCap's spine starts between the hips, LaFAN1's a hand's breadth above and behind: with equal bone
            # directions the trunk as a whole would lean back by 4 degrees.
            whole = rot.between(straight_trunk(target), straight_trunk(source)) if chain == "spine" else rot.identity()
            for joint, turn in zip(ours, _along_chain(source, theirs, straightened, target, ours), strict=True):
                frames[joint] = rot.multiply(rot.multiply(turn, whole), rot.inverse(write["chain", joint]))
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


def _with_trunk(source: Body, target: Body, places, world: np.ndarray) -> np.ndarray:
    """World rotations with the spine turned as a whole to where the source's trunk points, if it strays in the median.

    A spine bent strongly, with other shares of its length at the bends, ends elsewhere although each bone is right.
    """
    if not (target.rig.spine and target.rig.neck and source.rig.neck):
        return world
    wanted = places[:, source.rig.neck[0]] - hip_centre(source, places)
    if np.linalg.norm(wanted, axis=-1).min() < 1e-6:
        return world
    joints = (target.rig.neck[0], *(target.rig.limbs[side, "thigh"] for side in SIDES))
    for _ in range(4):
        neck, left, right = joint_places(target.skeleton, np.zeros((len(world), 3)), world, joints)
        trunk = neck - 0.5 * (left + right)
        turn = rot.between(trunk, wanted)
        if np.median(rot.angle_between(turn, rot.identity())) < _TRUNK_STRAYS:
            break
        world = world.copy()
        for joint in target.rig.spine:
            world[:, joint] = rot.multiply(turn, world[:, joint])
    return world


def _toe_out(source: Body, target: Body, side: str) -> np.ndarray:
    """Turn (4,) about the vertical from the way the target's foot points in the standing pose to the source's."""
    ways = []
    for body in (target, source):
        bone = body.bone(body.rig.limbs[side, "foot"], body.rig.limbs.get((side, "toe")))
        flat = None if bone is None else bone * [1.0, 0.0, 1.0]
        if flat is None or np.linalg.norm(flat) < 1e-6:
            return rot.identity()
        ways.append(flat)
    return rot.between(*ways)


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


def _middles(body: Body, chain) -> np.ndarray:
    """Share of the chain's length at the middle of each of its bones, increasing."""
    bones = bones_of(body)
    lengths = np.array([0.0 if b is None else np.linalg.norm(b) for b in (bones["chain", j][2] for j in chain)])
    lengths = np.where(lengths > 0, lengths, 1e-3)
    return (np.cumsum(lengths) - 0.5 * lengths) / lengths.sum()
