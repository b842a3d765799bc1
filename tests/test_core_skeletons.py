"""The skeletons kept by name: their tables against the data they describe, and StayStill's turned frames."""

from dataclasses import replace

import numpy as np
import pytest

from motionbook import Clip, Skeleton, forward_kinematics, read_bvh, read_bvh_report, write_bvh
from motionbook import rotations as rot
from motionbook.kinematics import local_rotations, world_pose
from motionbook.skeletons import (
    CSKEL27,
    FREEMOCAP,
    LAFAN1,
    is_staystill,
    lafan_to_staystill,
    staystill_to_lafan,
    t_pose,
)

# Rest places of the ARDY core skeleton as the data set's builder prints them, Hips at the origin.
CSKEL27_REST = """
Hips 0 0 0
Spine 0 .07099 -.04733
Spine1 0 .1642 -.06376
Spine2 0 .2585 -.07201
Spine3 0 .35315 -.07201
Neck 0 .60161 -.03652
Head 0 .72978 -.01392
RightShoulder -.03199 .52592 -.01869
RightArm -.1909 .52592 -.01869
RightForeArm -.48634 .52592 -.01869
RightHand -.71899 .52592 -.01869
RightHandEnd -.7886 .52592 -.01869
RightHandThumb1 -.74684 .50736 .02772
LeftShoulder .03199 .52592 -.01869
LeftArm .1909 .52592 -.01869
LeftForeArm .48634 .52592 -.01869
LeftHand .71899 .52592 -.01869
LeftHandEnd .7886 .52592 -.01869
LeftHandThumb1 .74684 .50736 .02772
RightUpLeg -.09492 -.02773 0
RightLeg -.09492 -.43985 0
RightFoot -.09492 -.89594 0
RightToeBase -.09492 -.95441 .16066
LeftUpLeg .09492 -.02773 0
LeftLeg .09492 -.43985 0
LeftFoot .09492 -.89594 0
LeftToeBase .09492 -.95441 .16066
"""


def rest(skeleton):
    return world_pose(skeleton, np.zeros(3), rot.identity((len(skeleton),))).positions


def test_cskel27_rests_where_the_published_table_says():
    rows = [line.split() for line in CSKEL27_REST.strip().splitlines()]
    assert CSKEL27.names == tuple(row[0] for row in rows)
    assert np.abs(rest(CSKEL27) - np.array([[float(x) for x in row[1:]] for row in rows])).max() < 1.5e-5


@pytest.mark.parametrize("name", ["walk1_subject1", "run1_subject5", "dance1_subject2"])
def test_lafan1_has_the_bones_of_its_files(name, shared_data):
    clip = read_bvh(shared_data / f"bvh/lafan1/{name}.bvh")
    assert clip.skeleton.names == LAFAN1.names
    assert clip.skeleton.parents == LAFAN1.parents
    assert [j for j, _ in clip.skeleton.end_offsets] == [j for j, _ in LAFAN1.end_offsets]
    assert np.abs(clip.skeleton.offsets - LAFAN1.offsets)[1:].max() < 1e-5  # metres: 1e-3 cm
    assert clip.fps == 30


def test_freemocap_has_the_joints_of_the_recorded_rig(shared_data):
    clip, report = read_bvh_report(shared_data / "reactidle/genuine/000_genuine.bvh")
    assert report.positions == "add_root" and report.unit == "m" and report.up == "Y"
    assert FREEMOCAP.names == clip.skeleton.names
    assert FREEMOCAP.parents == clip.skeleton.parents
    assert [j for j, _ in FREEMOCAP.end_offsets] == [j for j, _ in clip.skeleton.end_offsets]
    ours, theirs = FREEMOCAP.offsets[1:], clip.skeleton.offsets[1:]
    long = np.linalg.norm(theirs, axis=-1) > 0.05
    along = (ours * theirs).sum(-1)[long] / np.linalg.norm(ours[long], axis=-1) / np.linalg.norm(theirs[long], axis=-1)
    assert along.min() > 0.97  # bones of the rest pose point the same way


def test_t_pose_of_lafan1_has_feet_on_one_floor_and_is_mirror_symmetric():
    places = world_pose(LAFAN1, np.zeros(3), local_rotations(LAFAN1.parents, t_pose(LAFAN1))).positions
    at = {name: places[j] for j, name in enumerate(LAFAN1.names)}
    for name in LAFAN1.names:
        if name.startswith("Left"):
            mirrored = at[name.replace("Left", "Right")] * [-1, 1, 1]
            assert np.abs(at[name] - mirrored).max() < 1e-3, name
    assert abs(at["LeftHand"][1] - at["LeftArm"][1]) < 1e-9  # arms level
    assert at["LeftToe"][1] < at["LeftFoot"][1] < -0.8
    assert 1.45 < at["Head"][1] - at["LeftToe"][1] < 1.7


def random_lafan_clip(moving=False):
    rng = np.random.default_rng(2)
    turns = rot.random_rotations((6, 22), rng)
    rooted = LAFAN1.offsets.copy()
    rooted[0] = [0.3, 0.9, -2.0]  # a place in the world, which no turn of a bone's frame may touch
    skeleton = replace(LAFAN1, offsets=rooted)
    places = LAFAN1.offsets + 0.01 * rng.standard_normal((6, 22, 3)) if moving else None
    return Clip(skeleton, rng.standard_normal((6, 3)), turns, 30.0, places)


@pytest.mark.parametrize("moving", [False, True])
def test_staystill_frames_turn_without_moving_a_joint(moving):
    clip = random_lafan_clip(moving)
    turned = lafan_to_staystill(clip)
    assert np.allclose(turned.skeleton.offsets[1], [0.00103, -0.01858, -0.10549])  # as its files print them, in metres
    assert np.allclose(turned.skeleton.offsets[14], [0.19746, 0.0148, -0.06])
    assert np.abs(forward_kinematics(turned).positions - forward_kinematics(clip).positions).max() < 1e-12
    # every world frame is the old one turned half about its own x axis: R' = R D
    d = np.diag([1.0, -1, -1])
    before, after = (rot.to_matrix(forward_kinematics(c).rotations) for c in (clip, turned))
    assert np.abs(after - before @ d).max() < 1e-12
    back = staystill_to_lafan(turned)
    assert np.array_equal(turned.skeleton.offsets[0], clip.skeleton.offsets[0])
    assert np.abs(back.skeleton.offsets - clip.skeleton.offsets).max() < 1e-15
    assert rot.angle_between(back.rotations, clip.rotations).max() < 1e-12


def test_staystill_frames_are_recognised_and_not_turned_twice():
    clip = random_lafan_clip()
    assert not is_staystill(clip.skeleton) and is_staystill(lafan_to_staystill(clip).skeleton)
    with pytest.raises(ValueError, match="LaFAN1's own clips need no change"):
        staystill_to_lafan(clip)
    with pytest.raises(ValueError, match="expected a clip in LaFAN1's frames"):
        lafan_to_staystill(lafan_to_staystill(clip))


def test_staystill_files_in_xyz_order_are_read_and_turned(tmp_path):
    """As the authors export: XYZ channels, offsets with y and z negated, End Sites 0.1 cm off the joint."""
    clip = random_lafan_clip()
    path = write_bvh(lafan_to_staystill(clip), tmp_path / "00_idle.bvh", order="XYZ")
    text = path.read_text().replace("\t\tOFFSET 0.000000 0.000000 0.000000", "\t\tOFFSET 0.000000 -0.099998 0.000000")
    assert "CHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation" in text
    assert "OFFSET 0.103000 -1.858000 -10.549000" in text
    path.write_text(text)
    read = read_bvh(path, metres_per_unit=0.01)
    assert is_staystill(read.skeleton)
    back = staystill_to_lafan(read)
    assert np.abs(back.skeleton.offsets - LAFAN1.offsets).max() < 1e-9
    assert np.abs(forward_kinematics(back).positions - forward_kinematics(clip).positions).max() < 1e-6
    assert rot.angle_between(back.rotations, clip.rotations).max() < 1e-7


@pytest.mark.parametrize(
    ("names", "ends", "words"),
    [
        (("a", 2), (), "names: expected text, got 2"),
        (("a", "b"), ((5, (0, 0, 0)),), "end_offsets: expected joints 0 to 1, got 5"),
        (("a", "b"), ((1, (0, np.nan, 0)),), "end_offsets: 1 values are not finite"),
        (("a", "b"), ((1, (0, 0)),), "end_offsets: expected"),
    ],
)
def test_a_skeleton_no_file_could_hold_is_refused(names, ends, words):
    with pytest.raises(ValueError, match=words):
        Skeleton(names, (-1, 0), np.zeros((2, 3)), ends)
