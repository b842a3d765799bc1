"""The conventions every chapter shares, one test each: what a reader of the conventions page may rely on."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import motionbook
from motionbook import Clip, Skeleton, forward_kinematics, read_bvh, write_bvh
from motionbook import rotations as rot
from motionbook.skeletons import CSKEL27, FREEMOCAP, LAFAN1, t_pose

LIBRARY = Path(motionbook.__file__).parent
CORE = [LIBRARY / f"{name}.py" for name in ("checks", "clip", "kinematics", "rotations", "skeletons", "files")]
CORE += sorted((LIBRARY / "bvh").glob("*.py"))


def arm(frames=3, **changes):
    """A trunk and an arm: shoulder 1.4 m up, hand 0.6 m to the left."""
    skeleton = Skeleton(("Hips", "Shoulder", "Hand"), (-1, 0, 1), [[0, 0, 0], [0, 0.5, 0], [0.6, 0, 0]])
    values = {"root_positions": np.tile([0, 0.9, 0], (frames, 1)), "rotations": rot.identity((frames, 3)), "fps": 30.0}
    return Clip(skeleton, **{**values, **changes})


@pytest.mark.parametrize("skeleton", [LAFAN1, FREEMOCAP, CSKEL27], ids=["lafan1", "freemocap", "cskel27"])
def test_convention_axes_right_handed_y_up_facing_z_left_is_x(skeleton):
    from motionbook.kinematics import local_rotations, world_pose

    places = world_pose(skeleton, np.zeros(3), local_rotations(skeleton.parents, t_pose(skeleton))).positions
    at = {name: places[j] for j, name in enumerate(skeleton.names)}
    ends = {j: places[j] + rot.rotate(t_pose(skeleton)[j], np.array(offset)) for j, offset in skeleton.end_offsets}
    head = at.get("Head", at.get("face"))
    left_hand, right_hand = (at.get(f"{s}Hand", at.get(f"forearm.{s[0]}")) for s in ("Left", "Right"))
    left_foot = at.get("LeftFoot", at.get("foot.L"))
    left_toe = at.get("LeftToe", at.get("LeftToeBase", ends.get(15)))
    assert head[1] > 0.5 > left_foot[1]
    assert left_hand[0] > 0.3 and right_hand[0] < -0.3
    assert left_toe[2] - left_foot[2] > 0.1
    assert left_foot[0] > 0
    assert np.allclose(np.cross([1, 0, 0], [0, 1, 0]), [0, 0, 1])
    # a quarter turn about +Y takes forward (+Z) to the left (+X)
    quarter = rot.from_axis_angle(np.array([0.0, 1, 0]), np.pi / 2)
    assert np.allclose(rot.rotate(quarter, [0, 0, 1.0]), [1, 0, 0])


def test_convention_axes_z_up_files_are_turned_in_the_reader(shared_data):
    clip = read_bvh(shared_data / "bvh/bugs/25.bvh", metres_per_unit=0.01)
    places = forward_kinematics(clip).positions
    head = places[:, clip.skeleton.index("Head")]
    assert np.allclose(head, [[0, 1.7, 0], [0, 1.7, 0.1]])
    forward = rot.rotate(forward_kinematics(clip).rotations[:, 0], [0, 0, 1.0])  # the file's -Y
    assert np.allclose(forward, [[0, 0, 1], [1, 0, 0]], atol=1e-12)  # a quarter turn about the up axis


def test_convention_units_are_metres_seconds_radians(tmp_path):
    clip = arm(frames=31)
    assert np.isclose(forward_kinematics(clip).positions[0, 2, 1], 1.4)
    assert clip.duration == 31 / 30
    quarter = rot.from_euler([np.pi / 2, 0, 0], "ZYX")
    assert np.allclose(rot.rotate(quarter, [1.0, 0, 0]), [0, 1, 0])
    text = write_bvh(clip, tmp_path / "arm.bvh").read_text()
    assert "OFFSET 60.000000 0.000000 0.000000" in text  # files are in centimetres unless told otherwise
    assert np.isclose(forward_kinematics(read_bvh(tmp_path / "arm.bvh", metres_per_unit=0.01)).positions[0, 2, 1], 1.4)


def test_convention_units_fps_is_a_float_and_must_be_positive():
    assert isinstance(arm(fps=25).fps, float)
    for fps in (0, -1, np.nan, np.inf):
        with pytest.raises(ValueError, match="fps: expected a positive number of frames per second"):
            arm(fps=fps)


def test_convention_rotations_are_wxyz_parent_relative_on_column_vectors():
    turns = rot.identity((1, 3))
    turns[0, 0] = [np.sqrt(0.5), 0, np.sqrt(0.5), 0]  # w first: a quarter turn about y
    clip = arm(frames=1, rotations=turns)
    assert np.allclose(forward_kinematics(clip).positions[0, 2], [0, 1.4, -0.6])  # left goes to the back
    turns[0, 1] = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]  # then, in the turned frame, a quarter turn about z
    clip = arm(frames=1, rotations=turns)
    assert np.allclose(forward_kinematics(clip).positions[0, 2], [0, 2.0, 0])


def test_convention_rotations_multiply_applies_its_second_argument_first():
    about_x = rot.from_axis_angle(np.array([1.0, 0, 0]), np.pi / 2)
    about_y = rot.from_axis_angle(np.array([0.0, 1, 0]), np.pi / 2)
    assert np.allclose(rot.rotate(rot.multiply(about_x, about_y), [0, 0, 1.0]), [1, 0, 0])
    assert np.allclose(rot.to_matrix(about_x) @ rot.to_matrix(about_y) @ [0, 0, 1.0], [1, 0, 0])


def test_convention_rotations_6d_is_the_first_two_columns():
    quarter = rot.from_axis_angle(np.array([0.0, 0, 1]), np.pi / 2)  # columns (0 1 0), (-1 0 0), (0 0 1)
    assert np.allclose(rot.to_6d(quarter), [0, 1, 0, -1, 0, 0])


def test_convention_rotations_must_be_unit_quaternions():
    with pytest.raises(
        ValueError, match=r"rotations: expected unit quaternions \(wxyz\), 1 are not, the first at index \(1, 2\)"
    ):
        turns = rot.identity((3, 3))
        turns[1, 2] *= 1.01
        arm(rotations=turns)


def test_convention_arrays_are_frames_joints_components_in_float64():
    clip = arm(rotations=rot.identity((3, 3)).astype(np.float32))
    pose = forward_kinematics(clip)
    assert pose.positions.shape == (3, 3, 3) and pose.rotations.shape == (3, 3, 4)
    assert {a.dtype for a in (clip.rotations, clip.root_positions, *pose)} == {np.dtype(np.float64)}
    with pytest.raises(ValueError, match=r"rotations: expected \(frames, 3, 4\), got \(3, 4, 3\)"):
        arm(rotations=np.zeros((3, 4, 3)))


def test_convention_words_parents_are_minus_one_at_the_root_and_come_first():
    with pytest.raises(
        ValueError, match=r"parents: expected -1 first and every parent before its child, got \(1, -1\)"
    ):
        Skeleton(("a", "b"), (1, -1), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="a more than once"):
        Skeleton(("a", "a"), (-1, 0), np.zeros((2, 3)))


def test_convention_randomness_is_an_argument():
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global state that the library must not touch
    rot.random_rotations((5,), np.random.default_rng(1))
    assert np.array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    for path in LIBRARY.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert "random.seed(" not in text and "manual_seed_all(" not in text, path


def test_convention_errors_name_what_was_expected_and_what_there_is():
    with pytest.raises(KeyError, match="no joint 'Tail'; this skeleton has Hips, Shoulder, Hand"):
        arm().skeleton.index("Tail")
    with pytest.raises(ValueError, match="root_positions: 2 values are not finite, the first at index"):
        arm(root_positions=[[0, 1, 0], [0, np.nan, np.inf], [0, 1, 0]])
    with pytest.raises(TypeError, match=r"cut with a slice such as clip\[10:20\], got 3"):
        arm()[3]


def test_convention_docstrings_every_public_function_of_the_core_has_one():
    for path in CORE:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        public = [n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("_")]
        assert ast.get_docstring(tree), path
        assert all(ast.get_docstring(node) for node in public), path
        assert not [n for n in ast.walk(tree) if isinstance(n, ast.Assert)], (
            f"{path}: assert is for tests and notebooks"
        )


def test_convention_clips_are_cut_by_frames_and_keep_their_rate():
    clip = arm(frames=10, root_positions=np.arange(30.0).reshape(10, 3), translations=np.zeros((10, 3, 3)))
    part = clip[2:5]
    assert len(part) == 3 and part.fps == 30 and part.translations.shape == (3, 3, 3)
    assert np.array_equal(part.root_positions, clip.root_positions[2:5])
    assert clip[::3].fps == 10 and clip[::3].duration == pytest.approx(0.4)  # 4 frames, each a tenth of a second
    with pytest.raises(ValueError, match="runs forward"):
        clip[::-1]


def test_convention_a_clip_and_its_skeleton_cannot_be_reassigned():
    clip = arm()
    with pytest.raises(AttributeError):
        clip.fps = 60
    with pytest.raises(ValueError, match="read-only"):
        clip.skeleton.offsets[0] = 1


def test_importing_motionbook_loads_numpy_alone():
    heavy = ("scipy", "pandas", "numba", "torch", "matplotlib", "sklearn", "cv2")
    code = f"import sys, motionbook; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_clips_and_skeletons_show_themselves_in_a_line():
    """Not a page of numbers; fault seen: the arrays in full."""
    skeleton = Skeleton(("hips", "knee"), (-1, 0), np.zeros((2, 3)))
    clip = Clip(skeleton, np.zeros((45, 3)), rot.identity((45, 2)), 30.0)
    assert repr(skeleton) == "Skeleton(2 joints, root 'hips')"
    assert repr(clip) == str(clip) == "Clip(45 frames, 2 joints, 30 fps, 1.50 s)"
    moved = Clip(skeleton, clip.root_positions, clip.rotations, 30.0, np.zeros((45, 2, 3)))
    assert repr(moved).endswith("1.50 s, bones of their own in every frame)")
