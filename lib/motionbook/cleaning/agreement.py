"""Is it still the same motion? What retargeting must keep, measured: bone directions, planted feet, twist."""

from itertools import pairwise

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.rerooting import hangs_from_head, rooted_at_hips
from motionbook.rigs import SIDES, Rig, find_rig

_CHAIN = ("clavicle", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe")


def _with_rig(clip: Clip, rig: Rig | None) -> tuple[Clip, Rig]:
    if rig is not None:
        return clip, rig
    clip = rooted_at_hips(clip) if hangs_from_head(clip.skeleton) else clip
    return clip, find_rig(clip.skeleton, armless=True)


def bone_vectors(clip: Clip, rig: Rig | None = None) -> dict[str, np.ndarray]:
    """World vectors (frames, 3) in metres of the bones whose two ends the clip has, by names such as "left shin".

    A limb that ends in an end site (FreeMoCap's forearm and foot) reaches to it. "trunk" runs from between the hips
    to the base of the neck, "neck" from there to the head.
    """
    clip, rig = _with_rig(clip, rig)
    places, turned = forward_kinematics(clip)
    vectors = {}
    for side in SIDES:
        for chain in _CHAIN:
            for part, end in pairwise(chain):
                joint, tip = rig.limbs.get((side, part)), rig.limbs.get((side, end))
                if joint is None:
                    continue
                if tip is not None:
                    vectors[f"{side} {part}"] = places[:, tip] - places[:, joint]
                    continue
                ends = [np.array(o) for j, o in clip.skeleton.end_offsets if j == joint and np.linalg.norm(o) > 1e-6]
                if ends:
                    vectors[f"{side} {part}"] = rot.rotate(turned[:, joint], ends[0])
    hips = 0.5 * (places[:, rig.limbs["left", "thigh"]] + places[:, rig.limbs["right", "thigh"]])
    if rig.neck:
        vectors["trunk"] = places[:, rig.neck[0]] - hips
        if rig.head is not None:
            vectors["neck"] = places[:, rig.head] - places[:, rig.neck[0]]
    return {name: v for name, v in vectors.items() if np.linalg.norm(v, axis=-1).min() > 1e-6}


def direction_errors(source: Clip, result: Clip, rig: Rig | None = None) -> dict[str, np.ndarray]:
    """Angle (frames,) in radians between each bone of the result and the source's, for bones that both have.

    ``rig`` is the source's, where its names do not say it.
    """
    a, b = bone_vectors(source, rig), bone_vectors(result)
    errors = {}
    for name in a:
        if name in b:
            u, v = (x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (a[name], b[name]))
            errors[name] = 2 * np.arctan2(np.linalg.norm(u - v, axis=-1), np.linalg.norm(u + v, axis=-1))
    return errors


def planted(clip: Clip, max_speed: float = 0.05, rig: Rig | None = None) -> np.ndarray:
    """Whether the left and the right ankle stand still, (frames - 1, 2) bool: slower than ``max_speed`` in m/s."""
    clip, rig = _with_rig(clip, rig)
    ankles = forward_kinematics(clip).positions[:, [rig.limbs[side, "foot"] for side in SIDES]]
    return np.linalg.norm(np.diff(ankles, axis=0), axis=-1) * clip.fps < max_speed


def foot_slide(clip: Clip, contacts: np.ndarray, rig: Rig | None = None) -> float:
    """Mean horizontal speed of the ankles in leg lengths per second while ``contacts`` (frames - 1, 2) says planted.

    Leg lengths, so that a tall and a short body compare; NaN without contact.
    """
    clip, rig = _with_rig(clip, rig)
    places = forward_kinematics(clip).positions
    ankles = places[:, [rig.limbs[side, "foot"] for side in SIDES]]
    legs = [
        np.linalg.norm(places[:, rig.limbs[side, a]] - places[:, rig.limbs[side, b]], axis=-1)
        for side in SIDES
        for a, b in (("thigh", "shin"), ("shin", "foot"))
    ]
    speed = np.linalg.norm(np.diff(ankles[..., [0, 2]], axis=0), axis=-1) * clip.fps
    leg = 0.5 * np.sum(np.mean(legs, axis=1))
    return float(speed[contacts].mean() / leg) if contacts.any() else float("nan")


def limb_twists(clip: Clip, rig: Rig | None = None) -> dict[str, np.ndarray]:
    """Turn (frames,) in radians of forearms and shins about their own bone, against upper arm and thigh."""
    clip, rig = _with_rig(clip, rig)
    twists = {}
    for side in SIDES:
        for part, end in (("forearm", "hand"), ("shin", "foot")):
            joint, tip = rig.limbs.get((side, part)), rig.limbs.get((side, end))
            if joint is not None and tip is not None:
                bone = clip.skeleton.offsets[tip]
                _, twist = rot.swing_twist(clip.rotations[:, joint], bone / np.linalg.norm(bone))
                twists[f"{side} {part}"] = rot.angle_between(twist, rot.identity())
    return twists
