"""The same motion on FreeMoCap's body rig, as the published data set holds it beside the LaFAN1 version.

The rig knows fewer joints: two bones for the trunk, no hands, no toes. What the two skeletons share lies in the same
place: hips, knees, ankles, toe tips and wrists exactly, shoulders, elbows and head up to the little that a rig with
rigid bones and another collar cannot follow.
"""

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton
from motionbook.inverse_kinematics import two_bone_ik, two_bone_pose
from motionbook.kinematics import forward_kinematics, local_rotations, world_pose
from motionbook.skeletons import FREEMOCAP, LAFAN1, t_pose

# FreeMoCap joint or end and the LaFAN1 joint in whose place it is
SAME_PLACE = {
    "thigh": "UpLeg",
    "shin": "Leg",
    "foot": "Foot",
    "upper_arm": "Arm",
    "forearm": "ForeArm",
}
_SLACK = 1.006  # the two trunk bones against their straight distance: a back is never quite straight


def to_freemocap(clip: Clip) -> Clip:
    """A clip on a LaFAN1 skeleton as the same motion on the FreeMoCap rig with that person's bone lengths.

    Raises
    ------
    ValueError
        When the clip is not on LaFAN1's joints.
    """
    if clip.skeleton.names != LAFAN1.names:
        raise ValueError("clip: expected LaFAN1's 22 joints; call motionbook.cleaning.retarget first")
    j = clip.skeleton.index
    skeleton = freemocap_skeleton(clip.skeleton)
    places, world = forward_kinematics(clip)
    turned = rot.multiply(world, rot.inverse(t_pose(clip.skeleton)))
    f = skeleton.index
    turns = np.tile(rot.identity(), (len(clip), len(skeleton), 1))
    hips = 0.5 * (places[:, j("LeftUpLeg")] + places[:, j("RightUpLeg")])
    turns[:, f("pelvis")] = turns[:, f("pelvis.L")] = turns[:, f("pelvis.R")] = turned[:, j("Hips")]

    collar = _collar(clip.skeleton, places, turned)
    lower, upper = (np.linalg.norm(skeleton.offsets[f(name)]) for name in ("spine.001", "neck"))
    back = rot.rotate(turned[:, j("Spine1")], [0.0, 0.0, -1.0])
    middle, collar = two_bone_pose(hips, collar, lower, upper, back)
    turns[:, f("spine")] = _aimed(turned[:, j("Spine")], skeleton.offsets[f("spine.001")], middle - hips)
    turns[:, f("spine.001")] = _aimed(turned[:, j("Spine2")], skeleton.offsets[f("neck")], collar - middle)
    turns[:, f("neck")] = _aimed(turned[:, j("Neck")], skeleton.offsets[f("face")], places[:, j("Head")] - collar)
    turns[:, f("face")] = turned[:, j("Head")]
    for side, s in (("Left", "L"), ("Right", "R")):
        ends = {joint: np.array(offset) for joint, offset in skeleton.end_offsets}
        legs = (
            (f"thigh.{s}", "UpLeg", "Leg", f"shin.{s}"),
            (f"shin.{s}", "Leg", "Foot", f"foot.{s}"),
            (f"foot.{s}", "Foot", "Toe", None),
        )
        for name, start, end, child in legs:
            offset = skeleton.offsets[f(child)] if child else ends[f(name)]
            bone = places[:, j(side + end)] - places[:, j(side + start)]
            turns[:, f(name)] = _aimed(turned[:, j(side + start)], offset, bone)
        out = skeleton.offsets[f(f"upper_arm.{s}")]
        girdle = _aimed(turned[:, j(f"{side}Shoulder")], out, places[:, j(f"{side}Arm")] - collar)
        shoulder = collar + rot.rotate(girdle, out)
        elbow = shoulder + places[:, j(f"{side}ForeArm")] - places[:, j(f"{side}Arm")]
        wrist = elbow + places[:, j(f"{side}Hand")] - places[:, j(f"{side}ForeArm")]
        arm = two_bone_ik(shoulder, elbow, wrist, places[:, j(f"{side}Hand")], straightest=0.99995)
        turns[:, f(f"shoulder.{s}")] = girdle
        turns[:, f(f"upper_arm.{s}")] = rot.multiply(arm.upper, turned[:, j(f"{side}Arm")])
        turns[:, f(f"forearm.{s}")] = rot.multiply(arm.lower, turned[:, j(f"{side}ForeArm")])
    local = rot.normalize(local_rotations(skeleton.parents, turns))
    return Clip(skeleton, hips, local, clip.fps)


def freemocap_skeleton(skeleton: Skeleton) -> Skeleton:
    """The FreeMoCap rig with the bone lengths of a person on LaFAN1's joints; directions are the rig's own."""
    rest = t_pose(skeleton)
    places = world_pose(skeleton, np.zeros(3), local_rotations(skeleton.parents, rest)).positions
    j, f = skeleton.index, FREEMOCAP.index

    def distance(a, b):
        return float(np.linalg.norm(places[j(b)] - places[j(a)]))

    hips = 0.5 * (places[j("LeftUpLeg")] + places[j("RightUpLeg")])
    collar = 0.5 * (places[j("LeftArm")] + places[j("RightArm")])
    trunk = _SLACK * np.linalg.norm(collar - hips)
    share = [np.linalg.norm(FREEMOCAP.offsets[f(name)]) for name in ("spine.001", "neck")]
    lengths = {
        "spine.001": trunk * share[0] / sum(share),
        "neck": trunk * share[1] / sum(share),
        "face": np.linalg.norm(places[j("Head")] - collar),
        "upper_arm": 0.5 * distance("LeftArm", "RightArm"),
        "forearm": distance("LeftArm", "LeftForeArm"),
        "thigh": 0.5 * distance("LeftUpLeg", "RightUpLeg"),
        "shin": distance("LeftUpLeg", "LeftLeg"),
        "foot": distance("LeftLeg", "LeftFoot"),
    }
    lengths["shoulder"] = lengths["neck"]
    offsets = FREEMOCAP.offsets.copy()
    for joint, name in enumerate(FREEMOCAP.names):
        length = lengths.get(name) or lengths.get(name.rsplit(".", 1)[0])
        if length and offsets[joint].any():
            offsets[joint] *= length / np.linalg.norm(offsets[joint])
    end_lengths = {
        "forearm": distance("LeftForeArm", "LeftHand"),
        "foot": distance("LeftFoot", "LeftToe"),
        "pelvis": lengths["thigh"],
    }
    ends = []
    for joint, offset in FREEMOCAP.end_offsets:
        length = end_lengths.get(FREEMOCAP.names[joint].rsplit(".", 1)[0], np.linalg.norm(offset))
        ends.append((joint, tuple(np.array(offset) * length / np.linalg.norm(offset))))
    return Skeleton(FREEMOCAP.names, FREEMOCAP.parents, offsets, tuple(ends))


def _collar(skeleton, places, turned) -> np.ndarray:
    """Between the shoulders as long as the collar bones do not move: a point (frames, 3) of the chest."""
    rest = world_pose(skeleton, np.zeros(3), local_rotations(skeleton.parents, t_pose(skeleton))).positions
    chest = skeleton.index("Spine2")
    local = 0.5 * (rest[skeleton.index("LeftArm")] + rest[skeleton.index("RightArm")]) - rest[chest]
    return places[:, chest] + rot.rotate(turned[:, chest], local)


def _aimed(turn, rest_bone, bone) -> np.ndarray:
    """World turns (frames, 4) next to ``turn`` that take the rig's rest bone onto the direction ``bone``."""
    return rot.multiply(rot.between(rot.rotate(turn, rest_bone), bone), turn)
