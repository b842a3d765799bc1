"""Ankles where they should be: a leg bent so that its foot stands still, without snapping an almost straight knee."""

import numpy as np

from motionbook import rotations as rot
from motionbook.cleaning.bodies import FORWARD, Body, joint_places
from motionbook.inverse_kinematics import two_bone_ik

_STRAIGHT_KNEE = np.deg2rad([5.0, 20.0])  # below the first a knee keeps its angle, above the second it may change


def place_ankle(body: Body, side: str, root, world: np.ndarray, ankle: np.ndarray) -> np.ndarray:
    """World rotations with one leg bent so that its ankle is where it should be; the foot keeps its rotation."""
    parents = body.skeleton.parents
    hip, knee, foot = (body.rig.limbs[side, part] for part in ("thigh", "shin", "foot"))
    a, b, c = joint_places(body.skeleton, root, world, (hip, knee, foot))
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
    forward = rot.rotate(world[:, hip], rot.rotate(rot.inverse(body.pose[hip]), FORWARD))
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
