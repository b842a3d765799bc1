"""Arms turned about their own bones so that the elbow bends about its hinge.

A rig whose bones follow markers by the smallest turn (FreeMoCap's) knows directions and no twist: its elbow bends
about any axis. On a body with a hinge, LaFAN1's, that shows as a forearm broken sideways, although every bone points
where it should.
"""

import numpy as np

from motionbook import rotations as rot
from motionbook.cleaning.bodies import Body, joint_places
from motionbook.rigs import SIDES

_BENT = np.deg2rad(20.0)


def with_hinged_elbows(body: Body, world: np.ndarray) -> np.ndarray:
    """World rotations (frames, joints, 4) with upper arms and forearms twisted to the plane the elbow bends in.

    Bone directions and hands stay. While an arm is straighter than 20 degrees its twist is interpolated between the
    frames before and after; an arm that never bends more is left as it is.
    """
    root = np.zeros((len(world), 3))
    world = world.copy()
    for side, out in zip(SIDES, (1.0, -1.0), strict=True):
        chain = [body.rig.limbs.get((side, part)) for part in ("upper_arm", "forearm", "hand")]
        if None in chain:
            continue
        shoulder, elbow, wrist = joint_places(body.skeleton, root, world, chain)
        upper, lower = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (elbow - shoulder, wrist - elbow))
        normal = np.cross(upper, lower)
        bent = np.linalg.norm(normal, axis=-1) > np.sin(_BENT)
        if not bent.any():
            continue
        standing_hinge = np.array([0.0, -out, 0.0])  # out to the side crossed with forwards
        for joint, bone in zip(chain[:2], (upper, lower), strict=True):
            hinge = rot.rotate(rot.multiply(world[:, joint], rot.inverse(body.pose[joint])), standing_hinge)
            sine = np.sum(np.cross(hinge, normal) * bone, axis=-1)
            angle = np.arctan2(sine, np.sum(hinge * normal, axis=-1))
            known = np.flatnonzero(bent)
            angle = np.interp(np.arange(len(world)), known, np.unwrap(angle[known]))
            world[:, joint] = rot.multiply(rot.from_axis_angle(bone, angle), world[:, joint])
    return world
