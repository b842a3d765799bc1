"""How a rig stands when its rest pose does not say it: all bones along one axis, or a rest pose that lies or sits.

Found from the motion. Knees and elbows bend about one axis each, so the joint's own frame shows which of its
directions points sideways; hips and shoulders lie left and right; over a clip the head looks where the chest faces; a
standing foot lies flat. What is found within 20 degrees of the rig's own axes is taken to be meant along them.
"""

from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import SIDES, Rig, find_rig, standing_pose, stands

_X, _Y, _Z = np.eye(3)
_SNAP = np.cos(np.deg2rad(20.0))
_BENT = np.sin(np.deg2rad(12.0))  # less says nothing about the axis a joint bends about
_FRAMES = 2000


class Standing(NamedTuple):
    """World rotations (joints, 4) in which a rig stands straight and faces +Z, and where they are from, in words."""

    pose: np.ndarray
    how: str


def standing(clip: Clip, rig: Rig | None = None) -> Standing:
    """The standing pose of a clip's rig: from its rest pose where that is a standing person, else from the motion."""
    rig = find_rig(clip.skeleton, armless=True) if rig is None else rig
    try:
        return Standing(standing_pose(clip.skeleton, rig), "rest pose")
    except ValueError:
        return standing_from_motion(clip, rig)


def standing_from_motion(clip: Clip, rig: Rig | None = None) -> Standing:
    """The standing pose found from how the joints of a clip move.

    Raises
    ------
    ValueError
        When the person found that way does not stand, e.g. because the up axis of the file is wrong.
    """
    rig = find_rig(clip.skeleton, armless=True) if rig is None else rig
    clip = clip[:: 1 + len(clip) // _FRAMES]
    places, turned = forward_kinematics(clip)
    limbs, parents = rig.limbs, clip.skeleton.parents
    pose = np.full((len(clip.skeleton), 4), np.nan)
    pelvis, chest = trunk_frames(rig, places)
    unbent = []
    for joint in (rig.hips, *rig.spine[:-1]):
        pose[joint] = _snapped(rot.inverse(_mean(rot.multiply(rot.inverse(turned[:, joint]), pelvis))))
    clavicles = [limbs[s, "clavicle"] for s in SIDES if (s, "clavicle") in limbs]
    for joint in (*rig.spine[-1:], *rig.neck, *([] if rig.head is None else [rig.head]), *clavicles):
        pose[joint] = _snapped(rot.inverse(_mean(rot.multiply(rot.inverse(turned[:, joint]), chest))))
    for side, out in zip(SIDES, (_X, -_X), strict=True):
        for upper, lower, end, along, hinge, frame in (
            ("thigh", "shin", "foot", -_Y, _X, pelvis),
            ("upper_arm", "forearm", "hand", out, np.cross(out, _Z), chest),
        ):
            chain = [limbs.get((side, part)) for part in (upper, lower, end)]
            if chain[0] is None or chain[1] is None:
                continue
            first = places[:, chain[1]] - places[:, chain[0]]
            second = _bone(clip, places, turned, chain[1], chain[2])
            bend = np.zeros_like(first) if second is None else np.cross(_unit(first), _unit(second))
            sideways = rot.rotate(rot.between(rot.rotate(frame, along), first), rot.rotate(frame, hinge))
            for joint, bone in ((chain[0], first), (chain[1], second)):
                to_local = rot.inverse(turned[:, joint])
                found = _axis(rot.rotate(to_local, bend), rot.rotate(to_local, sideways))
                if found is None:
                    found = rot.rotate(to_local, sideways).mean(axis=0)
                    if bone is not None:
                        unbent.append(f"{side} {upper if joint == chain[0] else lower}")
                direction = along if bone is None else rot.rotate(to_local, bone).mean(axis=0)
                pose[joint] = _matching(direction, found, along, hinge)
        _stand_foot(pose, rig, side, clip, places, turned)
        hand, forearm = limbs.get((side, "hand")), limbs.get((side, "forearm"))
        if hand is not None and forearm is not None:
            kept = rot.multiply(rot.inverse(turned[:, forearm]), turned[:, hand])
            # a wrist is turned most of the time, so its mean says little; zero does where it lays hand along forearm
            straight = _lies_along(clip.skeleton, hand)
            pose[hand] = rot.multiply(pose[forearm], rot.identity() if straight else _snapped(_mean(kept)))
    for joint, parent in enumerate(parents):
        if np.isnan(pose[joint, 0]):
            pose[joint] = rot.identity() if parent < 0 else rot.multiply(pose[parent], _mean(clip.rotations[:, joint]))
    if not stands(clip.skeleton, rig, pose):
        raise ValueError(
            "standing_from_motion: the rig's rest pose is not a standing person and none was found in the motion; "
            "check the up axis the file was read with, or pass rest=, the world rotations (joints, 4) in which it "
            "stands straight and faces +Z"
        )
    how = f"from the motion of {len(clip)} frames, as the rest pose is not a standing person"
    return Standing(pose, how + (f"; too little bent for their twist: {', '.join(unbent)}" if unbent else ""))


def _lies_along(skeleton, joint) -> bool:
    """Whether the joint's bone continues its parent's when its own rotation is zero."""
    ends = [skeleton.offsets[j] for j, parent in enumerate(skeleton.parents) if parent == joint]
    ends += [np.array(offset) for j, offset in skeleton.end_offsets if j == joint]
    ends = [end for end in ends if np.linalg.norm(end) > 1e-6]
    return bool(ends) and _unit(np.mean(ends, axis=0)) @ _unit(skeleton.offsets[joint]) > np.cos(np.deg2rad(30.0))


def trunk_frames(rig: Rig, places) -> tuple[np.ndarray, np.ndarray]:
    """World frames (frames, 4) of pelvis and chest: x to the left, y up along the trunk."""
    hips = [places[:, rig.limbs[side, "thigh"]] for side in SIDES]
    arms = [places[:, rig.limbs.get((side, "upper_arm"), rig.limbs[side, "thigh"])] for side in SIDES]
    top = places[:, (*rig.neck, rig.head)[0]] if rig.neck or rig.head is not None else 0.5 * (arms[0] + arms[1])
    up = top - 0.5 * (hips[0] + hips[1])
    return _upright(hips[0] - hips[1], up), _upright(arms[0] - arms[1], up)


def _upright(left, up) -> np.ndarray:
    """Rotations (..., 4) whose y is along ``up`` and whose x is the part of ``left`` at right angles to it."""
    up = _unit(up)
    left = _unit(left - np.sum(left * up, axis=-1, keepdims=True) * up)
    return rot.from_matrix(np.stack([left, up, np.cross(left, up)], axis=-1))


def _bone(clip, places, turned, joint, end):
    """World vectors of a bone, to the next joint or to its own end site; None when there is neither."""
    if end is not None:
        return places[:, end] - places[:, joint]
    ends = [np.array(o) for j, o in clip.skeleton.end_offsets if j == joint and np.linalg.norm(o) > 1e-6]
    return rot.rotate(turned[:, joint], ends[0]) if ends else None


def _axis(bends, sideways) -> np.ndarray | None:
    """The direction (3,) in the joint's frame about which it bends, or None when it hardly does or in all ways."""
    strong = np.linalg.norm(bends, axis=-1)
    used = strong > _BENT
    if used.sum() < 3:
        return None
    total = bends[used].sum(axis=0)
    if np.linalg.norm(total) < 0.7 * strong[used].sum() or total @ sideways.mean(axis=0) < 0:
        return None
    return total


def _matching(bone, side, along, hinge, snap: bool = True) -> np.ndarray:
    """World rotation (4,) that lays the joint's ``bone`` along ``along`` and its ``side`` along ``hinge``."""
    bone = _unit(bone)
    side = side - (side @ bone) * bone
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    nearest = axes[np.argmax(axes @ _unit(side))]
    if snap and nearest @ _unit(side) > _SNAP and abs(nearest @ bone) < 0.1:
        side = nearest - (nearest @ bone) * bone
    columns = [np.stack([a, b, np.cross(a, b)], axis=-1) for a, b in ((bone, _unit(side)), (along, hinge))]
    return rot.from_matrix(columns[1] @ columns[0].T)


def _stand_foot(pose, rig, side, clip, places, turned):
    foot, toe = rig.limbs[side, "foot"], rig.limbs.get((side, "toe"))
    bone = _bone(clip, places, turned, foot, toe)
    shin = rig.limbs[side, "shin"]
    if bone is None or np.linalg.norm(bone, axis=-1).min() < 1e-6:
        pose[foot] = rot.multiply(pose[shin], _mean(clip.rotations[:, foot]))
        return
    speed = np.linalg.norm(np.gradient(places[:, foot], axis=0), axis=-1) if len(clip) > 1 else np.zeros(1)
    low = places[:, foot, 1] <= np.quantile(places[:, foot, 1], 0.3)  # of the ankle: on tiptoe it is high
    flat = low & (speed <= np.quantile(speed, 0.6))
    flat = flat if flat.any() else low
    pitch = np.median(np.arcsin(np.clip(_unit(bone[flat])[:, 1], -1.0, 1.0)))
    along = np.cos(pitch) * _Z + np.sin(pitch) * _Y
    lateral = rot.rotate(turned[:, shin], rot.rotate(rot.inverse(pose[shin]), _X))
    to_local = rot.inverse(turned[:, foot])
    pose[foot] = _matching(
        rot.rotate(to_local, bone).mean(axis=0), rot.rotate(to_local, lateral)[flat].mean(axis=0), along, _X, snap=False
    )
    if toe is not None:
        pose[toe] = rot.multiply(pose[foot], _mean(rot.multiply(to_local, turned[:, toe])[flat]))


def _mean(q) -> np.ndarray:
    """Mean rotation (4,) of rotations (frames, 4): the direction in which their outer products are largest."""
    _, vectors = np.linalg.eigh(q.T @ q)
    return vectors[:, -1]


def _snapped(q) -> np.ndarray:
    """The turn by whole right angles nearest to q, where every axis is within 20 degrees of it, else q."""
    matrix = rot.to_matrix(q)
    whole = np.round(matrix)
    near = (np.abs(matrix).max(axis=0) > _SNAP).all() and abs(np.linalg.det(whole) - 1.0) < 1e-9
    return rot.from_matrix(whole) if near else q


def _unit(v):
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12)
