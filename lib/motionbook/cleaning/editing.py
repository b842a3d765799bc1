"""Edits that put a take where a data set wants it: over the origin, facing forward, on the floor.

Each is one rigid motion of the whole clip, so that distances, speeds and local rotations stay as they are.
"""

from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import SIDES, find_rig


def shift(clip: Clip, offset) -> Clip:
    """The clip moved by ``offset`` (3,), metres."""
    return replace(clip, root_positions=clip.root_positions + np.asarray(offset, dtype=np.float64))


def turn(clip: Clip, angle: float) -> Clip:
    """The clip turned about the vertical through the origin by ``angle`` radians, from +Z towards +X."""
    q = rot.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.array(float(angle)))
    rotations = clip.rotations.copy()
    rotations[:, 0] = rot.multiply(q, rotations[:, 0])
    return replace(clip, root_positions=rot.rotate(q, clip.root_positions), rotations=rotations)


def heading(clip: Clip) -> np.ndarray:
    """Where the hips face, (frames,) radians about the vertical: 0 is +Z, a quarter turn is +X."""
    rig = find_rig(clip.skeleton)
    places = forward_kinematics(clip).positions
    left = places[:, rig.limbs["left", "thigh"]] - places[:, rig.limbs["right", "thigh"]]
    return np.arctan2(-left[:, 2], left[:, 0])  # forward = left x up


def centre_first_frame(clip: Clip) -> Clip:
    """The clip moved over the floor so that in its first frame the person stands at the origin.

    The middle between the two ankles comes to x = z = 0 (StayStill, section 3.1.3: "centred"); heights are kept.
    """
    rig = find_rig(clip.skeleton)
    places = forward_kinematics(clip[:1]).positions[0]
    middle = np.mean([places[rig.limbs[side, "foot"]] for side in SIDES], axis=0)
    return shift(clip, -middle * [1.0, 0.0, 1.0])


def face_forward(clip: Clip) -> Clip:
    """The clip turned about the vertical so that in its first frame the hips face +Z."""
    return turn(clip, -heading(clip[:1])[0])


def sole_heights(clip: Clip) -> np.ndarray:
    """Height (frames, 2) in metres of the tip of the left and the right foot: the toe, or the foot's end site."""
    rig = find_rig(clip.skeleton)
    places, turned = forward_kinematics(clip)
    heights = []
    for side in SIDES:
        joint = rig.limbs.get((side, "toe"))
        if joint is None:
            joint = rig.limbs[side, "foot"]
            end = next((np.array(offset) for j, offset in clip.skeleton.end_offsets if j == joint), np.zeros(3))
            heights.append(places[:, joint, 1] + rot.rotate(turned[:, joint], end)[:, 1])
        else:
            heights.append(places[:, joint, 1])
    return np.stack(heights, axis=1)


def put_on_floor(clip: Clip, share: float = 0.25) -> Clip:
    """The clip lifted or lowered by a constant so that its lower foot stands at height 0.

    Captured feet float and sink by centimetres, so the floor is the height under which the lower foot is during
    ``share`` of the frames: a quarter is robust to noise and still the floor for someone who walks.
    """
    return shift(clip, [0.0, -np.quantile(sole_heights(clip).min(axis=1), share), 0.0])
