"""Skeletons the book uses by name, in metres, with the pose in which each of them stands straight.

An offset table fixes the bones but not how a person stands in them: LaFAN1's rest pose has all bones along local +X.
``t_pose`` therefore gives, per skeleton, the world rotations of a T-pose (Y up, facing +Z, left arm along +X), which
is what retargeting and the embedded performers start from.
"""

from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton


def _tree(rows: str, metres_per_unit: float, ends=()) -> Skeleton:
    """A skeleton from lines of ``name parent x y z``, the parent by name and ``-`` for the root."""
    table = [line.split() for line in rows.strip().splitlines()]
    names = tuple(row[0] for row in table)
    parents = tuple(-1 if row[1] == "-" else names.index(row[1]) for row in table)
    offsets = np.array([[float(x) for x in row[2:5]] for row in table]) * metres_per_unit
    return Skeleton(names, parents, offsets, tuple((names.index(name), offset) for name, offset in ends))


_NO_OFFSET = (0.0, 0.0, 0.0)

# Ubisoft LaFAN1, 22 joints (Harvey et al. 2020); offsets differ between its files by up to 7e-5 cm.
LAFAN1 = _tree(
    """
    Hips            -              0      0      0
    LeftUpLeg       Hips           0.103  1.858  10.549
    LeftLeg         LeftUpLeg      43.5   0      0
    LeftFoot        LeftLeg        42.372 0      0
    LeftToe         LeftFoot       17.3   0      0
    RightUpLeg      Hips           0.103  1.858  -10.549
    RightLeg        RightUpLeg     43.5   0      0
    RightFoot       RightLeg       42.372 0      0
    RightToe        RightFoot      17.3   0      0
    Spine           Hips           6.902  -2.604 0
    Spine1          Spine          12.588 0      0
    Spine2          Spine1         12.343 0      0
    Neck            Spine2         25.833 0      0
    Head            Neck           11.767 0      0
    LeftShoulder    Spine2         19.746 -1.480 6.000
    LeftArm         LeftShoulder   11.284 0      0
    LeftForeArm     LeftArm        33.0   0      0
    LeftHand        LeftForeArm    25.2   0      0
    RightShoulder   Spine2         19.746 -1.480 -6.000
    RightArm        RightShoulder  11.284 0      0
    RightForeArm    RightArm       33.0   0      0
    RightHand       RightForeArm   25.2   0      0
    """,
    0.01,
    ends=[(name, _NO_OFFSET) for name in ("LeftToe", "RightToe", "Head", "LeftHand", "RightHand")],
)

# FreeMoCap's Blender rig as the StayStill authors publish it: 19 body joints, no fingers, hands or heels. The joint
# order, the shared origins (spine and pelvis.L/R at the pelvis, neck and shoulders at the top of spine.001) and the
# rest T-pose are the rig's; the lengths are those of the LaFAN1 body above, so that the two stand equally tall.
FREEMOCAP = _tree(
    """
    pelvis       -            0       0       0
    spine        pelvis       0       0       0
    spine.001    spine        0       0.2320  0.0120
    neck         spine.001    0       0.2900 -0.0380
    face         neck         0       0.1500  0.0000
    shoulder.L   spine.001    0       0.2900 -0.0380
    upper_arm.L  shoulder.L   0.1728  0       0
    forearm.L    upper_arm.L  0.3300  0       0
    shoulder.R   spine.001    0       0.2900 -0.0380
    upper_arm.R  shoulder.R  -0.1728  0       0
    forearm.R    upper_arm.R -0.3300  0       0
    pelvis.L     pelvis       0       0       0
    pelvis.R     pelvis       0       0       0
    thigh.L      pelvis       0.1055  0       0
    shin.L       thigh.L      0.0228 -0.4344  0
    foot.L       shin.L       0.0222 -0.4231  0
    thigh.R      pelvis      -0.1055  0       0
    shin.R       thigh.R     -0.0228 -0.4344  0
    foot.R       shin.R      -0.0222 -0.4231  0
    """,
    1.0,
    ends=[
        ("face", (0.0, -0.0071, 0.1000)),
        ("forearm.L", (0.2520, 0.0, 0.0)),
        ("forearm.R", (-0.2520, 0.0, 0.0)),
        ("pelvis.L", (0.1055, 0.0, 0.0)),
        ("pelvis.R", (-0.1055, 0.0, 0.0)),
        ("foot.L", (0.0159, -0.0640, 0.1599)),
        ("foot.R", (-0.0159, -0.0640, 0.1599)),
    ],
)

# Core skeleton of NVIDIA ARDY's motions, 27 joints; x is the figure's left, y up, z forward.
CSKEL27 = _tree(
    """
    Hips             -               0        0        0
    Spine            Hips            0        0.07099 -0.04733
    Spine1           Spine           0        0.09321 -0.01643
    Spine2           Spine1          0        0.0943  -0.00825
    Spine3           Spine2          0        0.09465  0
    Neck             Spine3          0        0.24846  0.03549
    Head             Neck            0        0.12817  0.0226
    RightShoulder    Spine3         -0.03199  0.17277  0.05332
    RightArm         RightShoulder  -0.15891  0        0
    RightForeArm     RightArm       -0.29544  0        0
    RightHand        RightForeArm   -0.23265  0        0
    RightHandEnd     RightHand      -0.06961  0        0
    RightHandThumb1  RightHand      -0.02785 -0.01856  0.04641
    LeftShoulder     Spine3          0.03199  0.17277  0.05332
    LeftArm          LeftShoulder    0.15891  0        0
    LeftForeArm      LeftArm         0.29544  0        0
    LeftHand         LeftForeArm     0.23265  0        0
    LeftHandEnd      LeftHand        0.06961  0        0
    LeftHandThumb1   LeftHand        0.02785 -0.01856  0.04641
    RightUpLeg       Hips           -0.09492 -0.02773  0
    RightLeg         RightUpLeg      0       -0.41212  0
    RightFoot        RightLeg        0       -0.45609  0
    RightToeBase     RightFoot       0       -0.05847  0.16066
    LeftUpLeg        Hips            0.09492 -0.02773  0
    LeftLeg          LeftUpLeg       0       -0.41212  0
    LeftFoot         LeftLeg         0       -0.45609  0
    LeftToeBase      LeftFoot        0       -0.05847  0.16066
    """,
    1.0,
)

# Where the local x and y axes of a LaFAN1 joint point in the T-pose; read off the mean local frames and hinge axes
# of its walking, running and dancing clips, in which knees and elbows turn about local z.
_UP, _DOWN, _LEFT, _RIGHT, _FORWARD, _BACK = np.array(
    [[0, 1, 0], [0, -1, 0], [1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1.0]]
)
_FOOT_PITCH = np.deg2rad(21.7)  # with the foot this far below level, LaFAN1's constant toe rotation lays the toe flat
_FOOT = np.cos(_FOOT_PITCH) * _FORWARD + np.sin(_FOOT_PITCH) * _DOWN
_INSTEP = np.cos(_FOOT_PITCH) * _UP + np.sin(_FOOT_PITCH) * _FORWARD
_LAFAN1_AXES = {"Foot": (_FOOT, _INSTEP), "Toe": (_FORWARD, _UP), "Leg": (_DOWN, _FORWARD)}


def t_pose(skeleton: Skeleton) -> np.ndarray:
    """World rotations (joints, 4) in which the skeleton stands in a T-pose: Y up, facing +Z, left arm along +X.

    LAFAN1 (by joint names) has a table; every other skeleton's own rest pose is returned, which for FREEMOCAP and
    CSKEL27 is a T-pose already.
    """
    if skeleton.names != LAFAN1.names:
        return rot.identity((len(skeleton),))
    matrices = np.empty((len(skeleton), 3, 3))
    for j, name in enumerate(skeleton.names):
        x, y = _UP, _FORWARD
        for ending, axes in _LAFAN1_AXES.items():
            if name.endswith(ending):
                x, y = axes
                break
        if name.endswith(("Shoulder", "Arm", "Hand")):
            x, y = (_LEFT if name.startswith("Left") else _RIGHT), _BACK
        matrices[j] = np.stack([x, y, np.cross(x, y)], axis=-1)
    return rot.from_matrix(matrices)


_HALF_TURN = np.array([0.0, 1.0, 0.0, 0.0])  # D = diag(1, -1, -1), a half turn about x
_D = np.array([1.0, -1.0, -1.0])


def is_staystill(skeleton: Skeleton) -> bool:
    """Whether a skeleton with LaFAN1's joint names has StayStill's local frames: the left hip joint lies along -z."""
    return skeleton.names == LAFAN1.names and bool(skeleton.offsets[1, 2] < 0)


def staystill_to_lafan(clip: Clip) -> Clip:
    """StayStill's LaFAN-format variant with LaFAN1's own local frames; joints stay where they are in the world.

    StayStill's exporter turned every local frame by a half turn D = diag(1, -1, -1) about its x axis. With o the
    offsets: o' = D o, R'_root = R_root D and R'_j = D R_j D. Only then do weights and statistics made on LaFAN1 apply.

    Raises
    ------
    ValueError
        When the clip does not have StayStill's frames.
    """
    if not is_staystill(clip.skeleton):
        raise ValueError(
            "staystill_to_lafan: expected LaFAN1's 22 joint names and LeftUpLeg's offset along -z, got "
            f"{len(clip.skeleton)} joints and {clip.skeleton.offsets[1:2].tolist()}; LaFAN1's own clips need no change"
        )
    return _turn_frames(clip)


def lafan_to_staystill(clip: Clip) -> Clip:
    """The inverse of ``staystill_to_lafan``, for the authors' own tools; ``write_bvh(..., order="XYZ")`` writes it."""
    if clip.skeleton.names != LAFAN1.names or is_staystill(clip.skeleton):
        raise ValueError(
            "lafan_to_staystill: expected a clip in LaFAN1's frames (its 22 joint names, LeftUpLeg's offset along +z), "
            f"got {len(clip.skeleton)} joints and {clip.skeleton.offsets[1:2].tolist()}"
        )
    return _turn_frames(clip)


def _turn_frames(clip: Clip) -> Clip:
    skeleton = clip.skeleton
    offsets = skeleton.offsets * _D
    offsets[0] = skeleton.offsets[0]  # in the world, which does not turn
    rotations = clip.rotations * np.concatenate([[1.0], _D])  # D R D turns the axis of R
    rotations[:, 0] = rot.multiply(clip.rotations[:, 0], _HALF_TURN)
    turned = Skeleton(
        skeleton.names,
        skeleton.parents,
        offsets,
        tuple((joint, tuple(np.multiply(offset, _D))) for joint, offset in skeleton.end_offsets),
    )
    moved = None if clip.translations is None else clip.translations * _D
    return replace(clip, skeleton=turned, rotations=rotations, translations=moved)
