"""From triangulated landmarks to a clip: constant bones, joint rotations, and which of them were measured.

The rig is FreeMoCap's (19 body joints). Its bones run between landmarks and four virtual points: head centre (mean of
the ears), neck centre (of the shoulders), hips centre (of the hips) and trunk centre (of hips and shoulders). Pelvis,
chest and neck have two directions each and get a full frame by Gram-Schmidt; every other bone has one and gets the
smallest turn from where its parent would carry it, so it adds no twist unless one is asked for.
"""

import warnings
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.bones import VIRTUAL, with_virtual_points
from motionbook.capture.filters import Filled, fill_gaps, low_pass
from motionbook.capture.landmarks import Landmarks
from motionbook.clip import Clip, Skeleton
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.skeletons import FREEMOCAP

__all__ = [
    "VIRTUAL",
    "Assembly",
    "Filled",
    "assemble",
    "bone_lengths",
    "fill_gaps",
    "low_pass",
    "with_virtual_points",
]

# Joint of the rig -> the points its bone runs between; the first is the joint's place.
_BONES = {
    "spine": ("hips_center", "trunk_center"),
    "spine.001": ("trunk_center", "neck_center"),
    "neck": ("neck_center", "head_center"),
    "face": ("head_center", "nose"),
}
for _side, _ending in (("left", ".L"), ("right", ".R")):
    _BONES |= {
        f"shoulder{_ending}": ("neck_center", f"{_side}_shoulder"),
        f"upper_arm{_ending}": (f"{_side}_shoulder", f"{_side}_elbow"),
        f"forearm{_ending}": (f"{_side}_elbow", f"{_side}_wrist"),
        f"pelvis{_ending}": ("hips_center", f"{_side}_hip"),
        f"thigh{_ending}": (f"{_side}_hip", f"{_side}_knee"),
        f"shin{_ending}": (f"{_side}_knee", f"{_side}_ankle"),
        f"foot{_ending}": (f"{_side}_ankle", f"{_side}_foot_index"),
    }
_NEEDED = ("spine", "spine.001", "neck", "face", "pelvis.L", "pelvis.R", "shoulder.L", "shoulder.R")
# Joints whose place is another bone's tip, with the bone that carries them there.
_TIPS = {"spine.001": "spine", "neck": "spine.001", "face": "neck"}
for _ending in (".L", ".R"):
    _TIPS |= {
        f"shoulder{_ending}": "spine.001",
        f"upper_arm{_ending}": f"shoulder{_ending}",
        f"forearm{_ending}": f"upper_arm{_ending}",
        f"thigh{_ending}": f"pelvis{_ending}",
        f"shin{_ending}": f"thigh{_ending}",
        f"foot{_ending}": f"shin{_ending}",
    }


class Assembly(NamedTuple):
    """A clip and how well it fits.

    Attributes
    ----------
    clip : Clip
        On the FreeMoCap rig with the person's bone lengths.
    residual : (frames, joints)
        Distance in metres between a joint of the clip and the point it was made from, NaN where there was none.
    bridged : int
        Bone directions (bone x frame) that no landmark gave and that were taken from the frames around.
    known : (frames, joints) bool
        Whether the landmarks gave the joint's bone in that frame; where not, the clip shows a stand-in.
    """

    clip: Clip
    residual: np.ndarray
    bridged: int
    known: np.ndarray


def bone_lengths(landmarks: Landmarks) -> dict[str, np.ndarray]:
    """Length (frames,) in metres of each bone of the rig, NaN where an end is unknown."""
    points = with_virtual_points(landmarks)
    return {bone: np.linalg.norm(points[b] - points[a], axis=-1) for bone, (a, b) in _BONES.items()}


def assemble(landmarks: Landmarks, twist: str = "none", foot: str = "toe", unseen: str = "refuse") -> Assembly:
    """A clip on the FreeMoCap rig from landmarks in space, at the landmarks' own frame rate.

    The bones get their median length over the clip (the two halves of the pelvis their common one) and keep it in
    every frame. Where a bone's landmarks are unknown, its direction is carried over from the frames around; that is
    counted, warned about, and marked in ``known``.

    Parameters
    ----------
    landmarks : Landmarks
    twist : "none" or "hinge"
        What turns a limb about its own length. "none": nothing does, as in FreeMoCap's rig. "hinge": upper and lower
        limb take the axis at right angles to both, about which elbow and knee bend; while a limb is straight, the axis
        is carried over from where it was bent, in the trunk's frame.
    foot : "toe" or "heel"
        "toe": the foot is the direction from ankle to toe. "heel": the line from heel to toe also turns it, so that
        the sole lies as the heel does.
    unseen : "refuse" or "rest"
        What happens to a bone of which no frame knows anything, such as the legs of a person at a desk. "rest": it
        stays as in the straight pose, carried by its parent, with the rig's own length; ``known`` says so.

    Raises
    ------
    ValueError
        When a landmark the rig needs is unknown in every frame and ``unseen`` is "refuse", or for another option.
    """
    for name, value, allowed in (
        ("twist", twist, ("none", "hinge")),
        ("foot", foot, ("toe", "heel")),
        ("unseen", unseen, ("refuse", "rest")),
    ):
        if value not in allowed:
            raise ValueError(f"{name}: expected {' or '.join(map(repr, allowed))}, got {value!r}")
    points = with_virtual_points(landmarks)
    directions, bridged, known, never = {}, 0, {}, []
    for bone, (a, b) in _BONES.items():
        along = points[b] - points[a]
        known[bone] = _has_direction(along)
        if not known[bone].any() and unseen == "rest" and bone not in _NEEDED:
            never.append(bone)
            continue
        directions[bone], count = _bridge(along, bone, known[bone])
        bridged += count
    known["pelvis"] = np.isfinite(points["hips_center"]).all(axis=-1)
    root, count = _bridge(points["hips_center"], "pelvis", known["pelvis"])
    if bridged + count or never:
        warnings.warn(
            f"assemble: {bridged} bone directions and {count} root places of {len(root)} frames had no landmarks and "
            "were carried over from the frames around"
            + (f"; {', '.join(never)} are never known and stay straight" if never else ""),
            stacklevel=2,
        )
    skeleton = _sized(landmarks, never)
    rest = {bone: _rest_bone(skeleton, bone) for bone in _BONES}
    across = directions["pelvis.L"] - directions["pelvis.R"]
    shoulders = directions["shoulder.L"] - directions["shoulder.R"]
    x = np.array([1.0, 0.0, 0.0])
    full = {  # two directions each, the first exact
        "pelvis": ((x, across), (rest["spine"], directions["spine"])),
        "spine.001": ((rest["spine.001"], directions["spine.001"]), (x, shoulders)),
        "neck": ((rest["neck"], directions["neck"]), (rest["face"], directions["face"])),
    }
    trunk = {
        name: rot.multiply(_frame(*now), rot.inverse(_frame(*still))) for name, (still, now) in _pairs(full).items()
    }
    hinges = _hinges(directions, trunk, rest) if twist == "hinge" else {}
    soles = _soles(points, directions, skeleton) if foot == "heel" else {}
    world = np.empty((len(root), len(skeleton), 4))
    for joint, name in enumerate(skeleton.names):
        if name in trunk:
            world[:, joint] = trunk[name]
            continue
        carried = world[:, skeleton.parents[joint]]
        if name not in directions:
            world[:, joint] = carried
            continue
        world[:, joint] = rot.multiply(rot.between(rot.rotate(carried, rest[name]), directions[name]), carried)
        still, now = hinges.get(name) or soles.get(name) or (None, None)
        if now is not None:
            world[:, joint] = _rolled(world[:, joint], rest[name], directions[name], still, now)
    local = rot.unroll(rot.normalize(local_rotations(skeleton.parents, world)))
    clip = Clip(skeleton, root, local, landmarks.fps)
    places = forward_kinematics(clip).positions
    measured = np.stack([points[_BONES.get(name, ("hips_center",))[0]] for name in skeleton.names], axis=1)
    sure = np.stack([known[name] for name in skeleton.names], axis=1)
    return Assembly(clip, np.linalg.norm(places - measured, axis=-1), bridged, sure)


def _has_direction(bones: np.ndarray) -> np.ndarray:
    """Which of the vectors (frames, 3) have one; two points in one place have none."""
    with np.errstate(invalid="ignore"):
        return np.linalg.norm(bones, axis=-1) > 1e-6


def _pairs(full):
    """First and second directions at rest and now, sorted into (rest pair, present pair) per joint."""
    return {name: ((a, b), (to_a, to_b)) for name, ((a, to_a), (b, to_b)) in full.items()}


def _rolled(turn, rest_bone, bone, still, now) -> np.ndarray:
    """``turn`` (frames, 4) with a roll about the bone that brings the rest direction ``still`` next to ``now``.

    Where ``now`` lies along the bone, it says nothing about a roll and the turn is kept.
    """
    axis = bone / np.linalg.norm(bone, axis=-1, keepdims=True)
    flat = [v - np.einsum("ti,ti->t", v, axis)[:, None] * axis for v in (rot.rotate(turn, still), now)]
    sine = np.einsum("ti,ti->t", axis, np.cross(*flat))
    cosine = np.einsum("ti,ti->t", *flat)
    lengths = np.linalg.norm(flat[0], axis=-1) * np.linalg.norm(flat[1], axis=-1)
    angle = np.where(lengths > 1e-9, np.arctan2(sine, cosine), 0.0)
    return rot.multiply(rot.from_axis_angle(axis, angle), turn)


_STRAIGHT = np.sin(np.deg2rad(12.0))  # a limb bent by less has no hinge axis worth the name: noise turns it about
# upper bone, lower bone, joint of the trunk that carries them, hinge axis in the straight pose
_HINGES = tuple(
    limb
    for ending, sign in ((".L", -1.0), (".R", 1.0))
    for limb in (
        (f"upper_arm{ending}", f"forearm{ending}", "spine.001", np.array([0.0, sign, 0.0])),
        (f"thigh{ending}", f"shin{ending}", "pelvis", np.array([1.0, 0.0, 0.0])),
    )
)


def _hinges(directions, trunk, rest) -> dict[str, tuple]:
    """Per limb bone the hinge's axis at rest and now (frames, 3), world."""
    found = {}
    for upper, lower, carrier, still in _HINGES:
        if upper not in directions or lower not in directions:
            continue
        units = [directions[b] / np.linalg.norm(directions[b], axis=-1, keepdims=True) for b in (upper, lower)]
        axis = np.cross(*units)
        bend = np.linalg.norm(axis, axis=-1)
        bent = bend > _STRAIGHT
        if not bent.any():
            continue  # always straight: nothing to go by
        inside = rot.rotate(rot.inverse(trunk[carrier]), axis)
        inside[bent] /= bend[bent, None]
        # an elbow or knee bent the wrong way by noise would turn the limb over
        bent &= inside @ np.median(inside[bent], axis=0) > 0
        inside, _ = _bridge(np.where(bent[:, None], inside, np.nan), f"hinge of {upper}", bent)
        now = rot.rotate(trunk[carrier], inside)
        found[upper] = found[lower] = (still, now)
    return found


def _soles(points, directions, skeleton) -> dict[str, tuple]:
    """Per foot the line from heel to toe at rest (straight ahead, level) and now (frames, 3)."""
    found = {}
    for side, ending in (("left", ".L"), ("right", ".R")):
        if f"{side}_heel" not in points or f"foot{ending}" not in directions:
            continue
        sole = points[f"{side}_foot_index"] - points[f"{side}_heel"]
        known = _has_direction(sole)
        if known.any():
            found[f"foot{ending}"] = (np.array([0.0, 0.0, 1.0]), _bridge(sole, f"sole {side}", known)[0])
    return found


def _bridge(vectors: np.ndarray, name: str, known: np.ndarray) -> tuple[np.ndarray, int]:
    """Vectors (frames, 3) with unknown ones put on a line between their neighbours, and how many there were."""
    unknown = ~known
    if unknown.all():
        raise ValueError(f"landmarks: nothing is known of {name!r} in any frame; more cameras must see its landmarks")
    if not unknown.any():
        return vectors, 0
    vectors, frames = vectors.copy(), np.arange(len(vectors))
    for axis in range(3):
        vectors[unknown, axis] = np.interp(frames[unknown], frames[known], vectors[known, axis])
    if name != "pelvis":  # half way between opposite directions there is none: the last known one stays
        lost = unknown & ~_has_direction(vectors)
        before = np.maximum.accumulate(np.where(known, frames, 0))
        vectors[lost] = vectors[np.where(known[before], before, np.flatnonzero(known)[0])[lost]]
    return vectors, int(unknown.sum())


def _sized(landmarks: Landmarks, never) -> Skeleton:
    """The rig in the straight pose of `motionbook.skeletons.FREEMOCAP` with the person's median bone lengths.

    Bones that are never known keep the rig's own length.
    """
    lengths = {
        bone: float(np.linalg.norm(_rest_bone(FREEMOCAP, bone)) if bone in never else np.nanmedian(values))
        for bone, values in bone_lengths(landmarks).items()
    }
    lengths["pelvis.L"] = lengths["pelvis.R"] = 0.5 * (lengths["pelvis.L"] + lengths["pelvis.R"])
    offsets = FREEMOCAP.offsets.copy()
    for joint, name in enumerate(FREEMOCAP.names):
        if name in _TIPS:
            offset = FREEMOCAP.offsets[joint]
            offsets[joint] = offset / np.linalg.norm(offset) * lengths[_TIPS[name]]
    ends = []
    for joint, offset in FREEMOCAP.end_offsets:
        offset = np.array(offset)
        ends.append((joint, tuple(offset / np.linalg.norm(offset) * lengths[FREEMOCAP.names[joint]])))
    return Skeleton(FREEMOCAP.names, FREEMOCAP.parents, offsets, tuple(ends))


def _rest_bone(skeleton: Skeleton, bone: str) -> np.ndarray:
    """Direction (3,) of a bone in the straight pose."""
    for child, carrier in _TIPS.items():
        if carrier == bone and child not in ("shoulder.L", "shoulder.R"):
            return skeleton.offsets[skeleton.index(child)]
    joint = skeleton.index(bone)
    return np.array(next(offset for j, offset in skeleton.end_offsets if j == joint))


def _frame(x, y) -> np.ndarray:
    """Rotation (..., 4) whose first axis is along x and whose second lies in the plane of x and y."""
    return rot.from_6d(np.concatenate(np.broadcast_arrays(x, y), axis=-1))
