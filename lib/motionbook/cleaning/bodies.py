"""Two bodies made comparable: a skeleton, which joint is which part, and the pose in which it stands straight."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.cleaning.rest_pose import Standing, standing, trunk_frames
from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import SIDES, Rig, RigFinding, explain_rig, find_rig, standing_places, standing_pose

UP, DOWN, FORWARD, LEFT = np.array([[0.0, 1, 0], [0, -1, 0], [0, 0, 1], [1, 0, 0]])
_CARRIED = np.cos(np.deg2rad(5.0))  # a hip line that stays this close to its mean is carried by the joint
NEXT = {
    "clavicle": "upper_arm",
    "upper_arm": "forearm",
    "forearm": "hand",
    "thigh": "shin",
    "shin": "foot",
    "foot": "toe",
}


class Body(NamedTuple):
    """A skeleton with its rig and standing pose.

    ``pose`` (joints, 4) are the world rotations in which it stands straight, its hips level, and faces +Z, ``places``
    (joints, 3) its joints then. ``pelvis`` says what carries both thighs: "joint", or "hip line" where no joint does
    and the pelvis is read off the line between the hips.
    """

    skeleton: Skeleton
    rig: Rig
    pose: np.ndarray
    places: np.ndarray
    pelvis: str = "joint"

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


def make_body(skeleton: Skeleton, rest=None, rig: Rig | None = None) -> Body:
    """The body of a skeleton; ``rest`` (joints, 4) stands for a standing pose that its rest pose does not give."""
    rig = find_rig(skeleton, armless=True) if rig is None else rig
    pose = standing_pose(skeleton, rig) if rest is None else rot.normalize(rest)
    # a hip joint may lie lower or further back than the other; a person who stands has level hips
    left, right = (standing_places(skeleton, pose)[rig.limbs[side, "thigh"]] for side in SIDES)
    if np.linalg.norm(left - right) > 1e-6:
        pose = pose.copy()
        pose[rig.hips] = rot.multiply(rot.between(left - right, LEFT), pose[rig.hips])
    return Body(skeleton, rig, pose, standing_places(skeleton, pose))


def body_of_clip(clip: Clip, rest=None, names: Mapping[str, str] | None = None) -> tuple[Body, RigFinding, str]:
    """The body that moves in a clip, how its parts were found, and in words where its standing pose is from.

    Where bones have no length in the skeleton but do in the frames, their median place there counts.
    """
    skeleton = clip.skeleton
    if clip.translations is not None and (np.linalg.norm(skeleton.offsets[1:], axis=-1) < 1e-9).all():
        skeleton = replace(skeleton, offsets=np.median(clip.translations, axis=0))
        clip = replace(clip, skeleton=skeleton)
    finding = explain_rig(skeleton, names, armless=True)
    _check_legs(skeleton, finding.rig, forward_kinematics(clip[:1]).positions[0])
    found = standing(clip, finding.rig) if rest is None else Standing(rot.normalize(rest), "given as rest=")
    body = make_body(skeleton, found.pose, finding.rig)
    carrier = _pelvis_carrier(clip, finding.rig)
    if carrier != "joint":  # a tracked first frame, hips a little aside: the hip line says where it faces
        left, right = (body.places[finding.rig.limbs[side, "thigh"]] for side in SIDES)
        x, _, z = left - right
        body = make_body(skeleton, rot.multiply(rot.from_axis_angle(UP, np.arctan2(z, x)), found.pose), finding.rig)
    return body._replace(pelvis=carrier), finding, found.how


def _check_legs(skeleton: Skeleton, rig: Rig, places: np.ndarray) -> None:
    """Refuse legs of no length and hips at one place, (joints, 3): nothing says then how the person stands."""
    thighs = [rig.limbs[side, "thigh"] for side in SIDES]
    pairs = [
        thighs,
        *([rig.limbs[s, a], rig.limbs[s, b]] for s in SIDES for a, b in pairwise(("thigh", "shin", "foot"))),
    ]
    for a, b in pairs:
        if np.linalg.norm(places[a] - places[b]) < 1e-6:
            raise ValueError(
                f"skeleton: {skeleton.names[a]} and {skeleton.names[b]} are at one place; expected a bone between "
                "them, or say in names= which joints are hips, knees and ankles"
            )


def _pelvis_carrier(clip: Clip, rig: Rig) -> str:
    some = clip[:: 1 + len(clip) // 200]
    places, turned = forward_kinematics(some)
    line = places[:, rig.limbs["left", "thigh"]] - places[:, rig.limbs["right", "thigh"]]
    line = rot.rotate(rot.inverse(turned[:, rig.hips]), line)
    mean = line.mean(axis=0)
    cosine = line @ mean / np.maximum(np.linalg.norm(line, axis=-1) * np.linalg.norm(mean), 1e-12)
    return "joint" if np.quantile(cosine, 0.1) > _CARRIED else "hip line"


def pelvis_turns(body: Body, places) -> np.ndarray:
    """World rotations (frames, 4) of the pelvis read off its hip line; body.pose's row of the hips belongs to them."""
    return rot.multiply(trunk_frames(body.rig, places)[0], body.pose[body.rig.hips])


def _top_of_trunk(rig: Rig, places) -> np.ndarray:
    """Base of the neck, or where there is none the middle between the arms."""
    if rig.neck:
        return places[..., rig.neck[0], :]
    if ("left", "upper_arm") in rig.limbs:
        return 0.5 * (places[..., rig.limbs["left", "upper_arm"], :] + places[..., rig.limbs["right", "upper_arm"], :])
    return places[..., rig.hips if rig.head is None else rig.head, :]


def bones_of(body: Body) -> dict:
    """Part -> (joint, straight direction, bone vector in the standing pose or None)."""
    rig = body.rig
    bones = {}
    for side in SIDES:
        out = np.array([1.0 if side == "left" else -1.0, 0, 0])
        for part, end in NEXT.items():
            joint = rig.limbs.get((side, part))
            if joint is not None:
                straight = FORWARD if part == "foot" else DOWN if part in ("thigh", "shin") else out
                bones[side, part] = (joint, straight, body.bone(joint, rig.limbs.get((side, end))))
    for chain, above in ((rig.spine, (*rig.neck, rig.head)[0]), (rig.neck, rig.head)):
        for joint, end in zip(chain, (*chain, above)[1:], strict=True):
            bones["chain", joint] = (joint, UP, body.bone(joint, end))
    return bones


def standing_turns(body: Body) -> dict:
    """Part -> (4,) turn C such that world rotation x C takes the part's straight direction onto its bone."""
    turns = {}
    for part, (joint, straight, bone) in bones_of(body).items():
        lean = rot.identity() if bone is None else rot.between(straight, bone)
        turns[part] = rot.multiply(rot.inverse(body.pose[joint]), lean)
    return turns


def straight_trunk(body: Body) -> np.ndarray:
    """Vector (3,) from between the hips to the base of the neck with every bone of the spine straight up."""
    bones = bones_of(body)
    height = sum(np.linalg.norm(bones["chain", j][2]) for j in body.rig.spine if bones["chain", j][2] is not None)
    return body.places[body.rig.spine[0]] - hip_centre(body, body.places) + height * UP


def hip_centre(body: Body, places: np.ndarray) -> np.ndarray:
    """The middle (..., 3) between the hips."""
    left, right = (places[..., body.rig.limbs[side, "thigh"], :] for side in SIDES)
    return 0.5 * (left + right)


def leg_length(body: Body) -> float:
    """Thigh and shin, metres, mean of the two legs."""
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


def joint_places(skeleton: Skeleton, root, world, joints) -> list[np.ndarray]:
    """World places (frames, 3) of a few joints from world rotations (frames, joints, 4), by way of their ancestors."""
    found = {0: np.asarray(root, dtype=np.float64)}

    def place(joint):
        if joint not in found:
            parent = skeleton.parents[joint]
            found[joint] = place(parent) + rot.rotate(world[:, parent], skeleton.offsets[joint])
        return found[joint]

    return [place(joint) for joint in joints]


def standing_hip_height(body: Body) -> float:
    """Height in metres of the middle between the hips over the soles when standing straight."""
    soles = []
    for side in SIDES:
        foot, toe = body.rig.limbs[side, "foot"], body.rig.limbs.get((side, "toe"))
        tip = body.bone(foot, toe)
        soles.append(body.places[foot][1] + min(0.0, 0.0 if tip is None else tip[1]))
    return float(hip_centre(body, body.places)[1] - np.mean(soles))


def ankle_heights(source: Body, target: Body) -> tuple[float, float]:
    """Height of the ankle over the toes, standing, in the source and in the target with the source's foot slope."""
    heights = []
    for side in SIDES:
        theirs, ours = (b.bone(b.rig.limbs[side, "foot"], b.rig.limbs.get((side, "toe"))) for b in (source, target))
        if theirs is None or ours is None:
            return 0.0, 0.0
        heights.append((-theirs[1], -theirs[1] * np.linalg.norm(ours) / np.linalg.norm(theirs)))
    return tuple(np.mean(heights, axis=0))


def stretched(target: Body, source: Body) -> Skeleton:
    """The target's skeleton with the source's bone lengths where both have the bone, else scaled as the legs are."""
    theirs, ours = bones_of(source), bones_of(target)
    overall = leg_length(source) / leg_length(target)
    factor = np.full(len(target.skeleton), overall)
    for part, (joint, _, bone) in ours.items():
        other = theirs.get(part) if part[0] != "chain" else None
        if bone is None or other is None or other[2] is None:
            continue
        end = target.rig.limbs.get((part[0], NEXT[part[1]]))
        if end is not None and target.skeleton.parents[end] == joint:
            factor[end] = np.linalg.norm(other[2]) / np.linalg.norm(bone)
    armed = all(("left", "upper_arm") in b.rig.limbs for b in (source, target))
    tops = [
        np.mean([b.places[b.rig.limbs[s, "upper_arm"]] for s in SIDES], axis=0)
        if armed
        else _top_of_trunk(b.rig, b.places)
        for b in (source, target)
    ]
    trunk = [np.linalg.norm(top - hip_centre(b, b.places)) for top, b in zip(tops, (source, target), strict=True)]
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
