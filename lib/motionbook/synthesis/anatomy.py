"""Motion in anatomical terms: joint angles with the range a person has, centre of mass, room the trunk takes.

Everything here works on *body turns*: the turn of each joint relative to its parent, away from a T-pose and in the
axes of the body (x left, y up, z forward), so that it reads the same on every skeleton that has a T-pose. The angles
of the right side are mirrored, so that one table of limits serves both sides.
"""

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton
from motionbook.skeletons import t_pose

# Degrees, lowest and highest. Single joints: the active ranges of adults in American Academy of Orthopaedic Surgeons
# (1965) and Kapandji's Physiology of the Joints, widened by a few degrees where the skeleton lumps several joints.
# Rotation of the shoulder is counted along the shortest swing from the hanging arm, which reads a hand on the other
# shoulder as some 30 degrees more than a goniometer does.
LIMITS = {
    "hip flexion": (-25.0, 120.0),
    "hip abduction": (-30.0, 45.0),
    "hip rotation": (-45.0, 45.0),
    "knee flexion": (0.0, 140.0),
    "knee sideways": (-5.0, 5.0),
    "knee rotation": (-15.0, 15.0),
    "ankle plantarflexion": (-30.0, 50.0),
    "ankle sideways": (-25.0, 25.0),
    "ankle rotation": (-30.0, 30.0),
    "toe plantarflexion": (-60.0, 35.0),
    "spine flexion": (-30.0, 80.0),
    "spine sideways": (-35.0, 35.0),
    "spine rotation": (-45.0, 45.0),
    "neck flexion": (-60.0, 60.0),
    "neck sideways": (-45.0, 45.0),
    "neck rotation": (-80.0, 80.0),
    "clavicle elevation": (-12.0, 40.0),
    "clavicle protraction": (-30.0, 35.0),
    "shoulder elevation": (0.0, 180.0),
    "shoulder behind": (-90.0, 60.0),
    "shoulder across": (-180.0, 50.0),
    "shoulder internal rotation": (-95.0, 120.0),
    "elbow flexion": (0.0, 150.0),
    "elbow sideways": (-5.0, 5.0),
    "forearm pronation": (-90.0, 90.0),
    "wrist flexion": (-70.0, 80.0),
    "wrist deviation": (-25.0, 35.0),
}

# Segment: share of body mass, and the place of its centre between two joints (Winter 2009, table 4.1). The trunk runs
# from between the hips to between the shoulders; the head's centre lies at the head joint, the hand's at the wrist.
_SEGMENTS = (
    (0.497, 0.50, ("LeftUpLeg", "RightUpLeg"), ("LeftArm", "RightArm")),
    (0.081, 1.00, ("Neck",), ("Head",)),
    *((0.028, 0.436, (f"{s}Arm",), (f"{s}ForeArm",)) for s in ("Left", "Right")),
    *((0.016, 0.430, (f"{s}ForeArm",), (f"{s}Hand",)) for s in ("Left", "Right")),
    *((0.006, 1.000, (f"{s}ForeArm",), (f"{s}Hand",)) for s in ("Left", "Right")),
    *((0.100, 0.433, (f"{s}UpLeg",), (f"{s}Leg",)) for s in ("Left", "Right")),
    *((0.0465, 0.433, (f"{s}Leg",), (f"{s}Foot",)) for s in ("Left", "Right")),
    *((0.0145, 0.500, (f"{s}Foot",), (f"{s}Toe",)) for s in ("Left", "Right")),
)

# A standing arm: bone down, elbow bending forward. Internal rotation of the shoulder is counted from here.
_HANGING = rot.from_matrix(np.stack([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], axis=-1))


def body_turns(clip: Clip) -> np.ndarray:
    """Turns (frames, joints, 4) of each joint from the T-pose, in the body's axes; the root's against the world."""
    rest = t_pose(clip.skeleton)
    parents = _with_root(rest, clip.skeleton)
    return rot.multiply(parents, rot.multiply(clip.rotations, rot.inverse(rest)))


def rotations_from_turns(skeleton: Skeleton, turns) -> np.ndarray:
    """Parent-relative rotations (..., joints, 4) of a skeleton whose joints are turned so from its T-pose."""
    rest = t_pose(skeleton)
    return rot.multiply(rot.inverse(_with_root(rest, skeleton)), rot.multiply(turns, rest))


def _with_root(rest, skeleton):
    parents = rest[list(skeleton.parents)].copy()
    parents[0] = rot.identity()
    return parents


def mirrored(turns) -> np.ndarray:
    """The same turns (..., 4) seen in a mirror that swaps left and right (x)."""
    return np.asarray(turns) * np.array([1.0, 1.0, -1.0, -1.0])


def joint_angles(clip: Clip) -> dict[str, np.ndarray]:
    """Angles in degrees, (frames, sides), by the names in `LIMITS`; the trunk's have one column, limbs' left, right.

    Flexion bends the way the joint bends in daily life; rotation of the hip is positive outward, of the shoulder
    inward; "behind" is how far the upper arm points behind the frontal plane of the chest, "across" how far it
    crosses to the other side.

    Raises
    ------
    KeyError
        When the clip is not on a skeleton with LaFAN1's joint names.
    """
    skeleton, turns = clip.skeleton, body_turns(clip)
    angles: dict[str, list[np.ndarray]] = {name: [] for name in LIMITS}

    def euler(q, order, **named):
        values = np.rad2deg(rot.to_euler(q, order))
        for name, (axis, sign) in named.items():
            angles[name.replace("_", " ")].append(sign * values[..., order.index(axis)])

    spine = rot.identity((len(clip),))
    for name in ("Spine", "Spine1", "Spine2"):
        spine = rot.multiply(spine, turns[:, skeleton.index(name)])
    euler(spine, "YXZ", spine_flexion=("X", 1), spine_sideways=("Z", 1), spine_rotation=("Y", 1))
    neck = rot.multiply(turns[:, skeleton.index("Neck")], turns[:, skeleton.index("Head")])
    euler(neck, "YXZ", neck_flexion=("X", 1), neck_sideways=("Z", 1), neck_rotation=("Y", 1))
    for side in ("Left", "Right"):
        joint = {
            name: turns[:, skeleton.index(side + name)]
            if side == "Left"
            else mirrored(turns[:, skeleton.index(side + name)])
            for name in ("UpLeg", "Leg", "Foot", "Toe", "Shoulder", "Arm", "ForeArm", "Hand")
        }
        euler(joint["UpLeg"], "XZY", hip_flexion=("X", -1), hip_abduction=("Z", 1), hip_rotation=("Y", 1))
        euler(joint["Leg"], "XZY", knee_flexion=("X", 1), knee_sideways=("Z", 1), knee_rotation=("Y", 1))
        euler(joint["Foot"], "XZY", ankle_plantarflexion=("X", 1), ankle_sideways=("Z", 1), ankle_rotation=("Y", 1))
        euler(joint["Toe"], "XZY", toe_plantarflexion=("X", 1))
        euler(joint["Shoulder"], "YZX", clavicle_elevation=("Z", 1), clavicle_protraction=("Y", -1))
        euler(joint["ForeArm"], "YZX", elbow_flexion=("Y", -1), elbow_sideways=("Z", 1))
        hand = rot.to_euler(joint["Hand"], "XYZ")
        forearm = rot.to_euler(joint["ForeArm"], "YZX")
        angles["forearm pronation"].append(np.rad2deg(forearm[..., 2] + hand[..., 0]))
        angles["wrist deviation"].append(np.rad2deg(hand[..., 1]))
        angles["wrist flexion"].append(-np.rad2deg(hand[..., 2]))
        arm = rot.multiply(joint["Shoulder"], joint["Arm"])
        bone = rot.rotate(arm, [1.0, 0.0, 0.0])
        angles["shoulder elevation"].append(np.rad2deg(np.arccos(np.clip(-bone[..., 1], -1, 1))))
        angles["shoulder behind"].append(np.rad2deg(np.arcsin(np.clip(-bone[..., 2], -1, 1))))
        angles["shoulder across"].append(np.rad2deg(np.arcsin(np.clip(-bone[..., 0], -1, 1))))
        _, twist = rot.swing_twist(rot.multiply(arm, rot.inverse(_HANGING)), [0.0, -1.0, 0.0])
        # near the vertical the arm's heading, and with it this angle, is not defined
        rotation = -np.rad2deg(rot.to_rotation_vector(twist)[..., 1])
        angles["shoulder internal rotation"].append(np.where(bone[..., 1] > np.cos(np.deg2rad(40.0)), 0.0, rotation))
    return {name: np.stack(columns, axis=-1) for name, columns in angles.items()}


def beyond_limits(clip: Clip) -> dict[str, float]:
    """Largest excess over `LIMITS` in degrees by angle, only of the angles that do exceed them."""
    excess = {}
    for name, values in joint_angles(clip).items():
        low, high = LIMITS[name]
        most = float(max(low - values.min(), values.max() - high))
        if most > 1e-6:
            excess[name] = most
    return excess


def centre_of_mass(skeleton: Skeleton, positions) -> np.ndarray:
    """Centre of mass (..., 3) of a body on LaFAN1's joints (..., joints, 3), from Winter's segment table."""

    def between(names):
        return sum(positions[..., skeleton.index(n), :] for n in names) / len(names)

    total = sum(mass for mass, *_ in _SEGMENTS)
    return sum(m * ((1 - share) * between(a) + share * between(b)) for m, share, a, b in _SEGMENTS) / total


# Half width and half depth of the trunk at four heights between the crotch and the base of the neck, for 1.75 m.
_TRUNK = np.array([[0.00, 0.160, 0.110], [0.35, 0.140, 0.100], [0.75, 0.150, 0.112], [1.00, 0.085, 0.085]])


def trunk_coordinates(points, pelvis, chest, turns, stature: float) -> tuple[np.ndarray, np.ndarray]:
    """Where points are against the trunk, an elliptic tube from the crotch to the base of the neck.

    Parameters
    ----------
    points : (frames, ..., 3)
    pelvis, chest : (frames, 3)
        Between the hip joints; between the shoulder joints.
    turns : (frames, 4)
        World turn of the middle of the trunk from the T-pose.
    stature : float
        Metres; the tube's girth is that of an average build of this height.

    Returns
    -------
    height, radius : (frames, ...)
        Height is 0 at the crotch and 1 at the neck's base; radius is 1 on the skin and less inside.
    """
    offset, height, half = _trunk_frame(points, pelvis, chest, turns, stature)
    return height, np.hypot(offset[..., 0] / half[..., 0], offset[..., 2] / half[..., 1])


def _trunk_frame(points, pelvis, chest, turns, stature):
    extra = (slice(None),) + (None,) * (np.ndim(points) - 2)
    scale = stature / 1.75
    bottom = pelvis + rot.rotate(turns, np.array([0.0, -0.09, -0.012]) * scale)
    top = chest + rot.rotate(turns, np.array([0.0, 0.02, 0.022]) * scale)
    axis = (top - bottom)[extra]
    from_bottom = points - bottom[extra]
    height = np.sum(from_bottom * axis, axis=-1) / np.sum(axis * axis, axis=-1)
    offset = rot.rotate(rot.inverse(turns)[extra], from_bottom - np.clip(height, 0, 1)[..., None] * axis)
    half = np.stack([np.interp(height, _TRUNK[:, 0], _TRUNK[:, k] * scale) for k in (1, 2)], axis=-1)
    return offset, height, half


def out_of_trunk(points, pelvis, chest, turns, stature: float, room: float) -> np.ndarray:
    """Shifts (frames, ..., 3) that keep points ``room`` metres off the trunk; nearly zero for far points.

    Parameters as in `trunk_coordinates`. The shift is sideways, away from the trunk's axis, and grows smoothly from
    where a point comes near.
    """
    extra = (slice(None),) + (None,) * (np.ndim(points) - 2)
    offset, height, half = _trunk_frame(points, pelvis, chest, turns, stature)
    half = half + room
    radius = np.hypot(offset[..., 0] / half[..., 0], offset[..., 2] / half[..., 1])
    # a smooth maximum of the radius and 1: no corner in the path where it meets the skin
    wanted = 0.5 * (radius + 1.0 + np.sqrt((radius - 1.0) ** 2 + 0.05**2))
    beside = np.clip((1.12 - height) / 0.12, 0.0, 1.0) * np.clip((height + 0.25) / 0.25, 0.0, 1.0)
    stretch = beside * (wanted / np.maximum(radius, 0.05) - 1.0)
    return rot.rotate(turns[extra], offset * [1.0, 0.0, 1.0] * stretch[..., None])
