"""Every real BVH file and every file of publicly reported faults, against values made by other programs or by hand."""

import csv
import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motionbook import BvhError, forward_kinematics, read_bvh, read_bvh_report, write_bvh
from motionbook import rotations as rot
from motionbook.bvh.angles import channel_rotations
from motionbook.bvh.header import ROTATION
from motionbook.bvh.read import _read_numbers
from motionbook.bvh.write import file_decimals
from motionbook.kinematics import constant_bones, merge_root, translation_spread
from motionbook.resampling import resample

REAL = "01 02 05 06 08 10 11 12 14 15 16 18 19 20 22 25 27 29 30 31 33 34".split()

# What the files' descriptions say about unit, up axis and frame rate; 10 and 11 have the CMU conversions' unit. Of 19
# it is known that its channels are relative, and neither rule puts its camera-space figure on a floor.
UNITS = {"05": "m", "10": "CMU", "11": "CMU", "16": "dm", "19": "mm", "22": "inch", "31": "inch", "33": "m"}
Z_UP = {"16", "31"}
ADD_ROOT = {"05", "16"}
RATES = {
    "05": 24, "08": 100, "10": 120, "15": 24, "16": 24, "18": 25, "20": 60, "22": 120, "25": 60, "27": 100, "29": 120,
    "30": 100, "31": 120000 / 1001, "33": 24, "34": 120,
}  # fmt: skip


@pytest.fixture
def real(shared_data):
    def find(number) -> Path:
        (path,) = (shared_data / "bvh/real").glob(f"{number}_*.bvh")
        return path

    return find


@pytest.fixture
def bug(shared_data):
    return lambda name: shared_data / f"bvh/bugs/{name}.bvh"


def read_as_it_is(path, positions="replace"):
    """File axes and units; the one file that declares a frame too few may say so."""
    with warnings.catch_warnings():
        if path.name.startswith("30_"):
            warnings.simplefilter("ignore")
        return read_bvh(path, metres_per_unit=1, positions=positions, up="file")


def end_places(clip, frame):
    pose = forward_kinematics(clip)
    places: dict[int, list] = {}
    for joint, offset in clip.skeleton.end_offsets:
        place = pose.positions[frame, joint] + rot.rotate(pose.rotations[frame, joint], np.array(offset))
        places.setdefault(joint, []).append(place)
    return places


def test_every_real_file_has_its_test(shared_data):
    text = (shared_data / "bvh/INDEX.csv").read_text(encoding="utf-8")
    assert [row["id"] for row in csv.DictReader(text.splitlines())] == REAL


@pytest.mark.parametrize("number", REAL)
def test_real_files_place_all_joints_as_other_programs_do(number, real, shared_data):
    truth = json.loads((shared_data / f"bvh/truth/{number}.json").read_text())
    for rule in ("replace", "add", "rootonly"):
        clip = read_as_it_is(real(number), "replace" if rule == "rootonly" else rule)
        if rule == "rootonly":
            clip = replace(clip, translations=None)
        assert list(clip.skeleton.names) == truth["names"]
        assert list(clip.skeleton.parents) == truth["parents"]
        places = forward_kinematics(clip).positions
        assert np.abs(places[0] - truth[rule]["first"]).max() < 1e-6
        assert np.abs(places[truth["last"]] - truth[rule]["last"]).max() < 1e-6
    ends = end_places(read_as_it_is(real(number)), 0)
    assert {str(joint) for joint in ends} == set(truth["end_sites_replace_first"])
    for joint, places in truth["end_sites_replace_first"].items():
        assert np.abs(np.array(ends[int(joint)]) - places).max() < 1e-6


@pytest.mark.parametrize("number", REAL)
def test_real_files_have_the_unit_axis_rule_and_rate_their_descriptions_say(number, real):
    path = real(number)
    if number == "30":
        with pytest.warns(UserWarning, match="declares 59 frames and holds 60 rows"):
            clip, report = read_bvh_report(path)
    else:
        clip, report = read_bvh_report(path)
    assert report.unit.startswith(UNITS.get(number, "cm"))
    assert report.up == ("Z" if number in Z_UP else "Y")
    assert report.positions == ("add_root" if number in ADD_ROOT else "replace")
    assert clip.fps == RATES.get(number, 30)
    assert (clip.translations is not None) == (number in {"05", "06"})
    assert 1.1 < report.body_height < 2.4


@pytest.mark.parametrize("number", REAL)
def test_real_files_are_written_back_as_they_were(number, real, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if number == "30" else "error")
        clip, report = read_bvh_report(real(number))
    truth = forward_kinematics(clip)
    scale = report.metres_per_unit
    for name, like, options in (
        ("like.bvh", report, {"positions": report.positions, "up": report.up, "metres_per_unit": scale}),
        ("lafan.bvh", None, {"positions": "replace", "up": "Y", "metres_per_unit": 0.01}),
    ):
        again, second = read_bvh_report(write_bvh(clip, tmp_path / name, like=like), **options)
        pose = forward_kinematics(again)
        assert np.abs(pose.positions - truth.positions).max() < 4e-6 * max(
            scale, 0.01
        )  # six decimals of the file's unit
        assert rot.angle_between(pose.rotations, truth.rotations).max() < 1e-7
        assert again.fps == clip.fps
        if like is None:
            assert second.header.offsets[0] == (0, 0, 0)  # so that no reader can add it to the absolute channels
        else:
            kept = ("names", "parents", "channels")
            assert all(getattr(second.header, field) == getattr(report.header, field) for field in kept)
            labels = [[end.label for end in r.header.ends] for r in (second, report)]
            assert labels[0] == labels[1]
            assert np.allclose(
                [e.offset for e in second.header.ends], [e.offset for e in report.header.ends], atol=1e-6
            )


@pytest.mark.parametrize("number", REAL)
def test_real_files_keep_their_decimals_and_the_text_of_their_frame_time(number, real, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if number == "30" else "error")
        clip, report = read_bvh_report(real(number))
    offset_digits, digits = file_decimals(real(number))
    path = write_bvh(clip, tmp_path / "again.bvh", like=report, decimals="like")
    (header, numbers), (source, wanted) = _read_numbers(path), _read_numbers(real(number))
    assert header.frame_time == source.frame_time
    assert np.abs(np.subtract(header.offsets, source.offsets)).max() < 1e-12
    places = [column for start, row in source.columns for column, c in enumerate(row, start) if c < ROTATION]
    assert np.abs(numbers[:, places] - wanted[:, places]).max(initial=0.0) < 1e-12
    half = 0.501 * 10.0**-digits
    turned, truth = (channel_rotations(source, rows) for rows in (numbers, wanted))
    assert np.rad2deg(rot.angle_between(turned, truth)).max() < 3 * half + 1e-9
    text = path.read_text(encoding="utf-8")
    assert all(len(word.partition(".")[2]) == digits for word in text.splitlines()[-1].split())
    assert all(len(word.partition(".")[2]) == offset_digits for word in text.partition("OFFSET ")[2].split()[:3])


def test_like_takes_a_path_and_the_readers_own_guesses(real, tmp_path):
    clip = read_bvh(real("05"))
    again = read_bvh(write_bvh(clip, tmp_path / "again.bvh", like=real("05")))
    assert np.abs(forward_kinematics(again).positions - forward_kinematics(clip).positions).max() < 1e-6


@pytest.mark.parametrize("number", ["02", "06", "11", "16"])
def test_real_files_read_the_same_without_numba(number, real):
    from motionbook.bvh import angles, header, scan

    data = real(number).read_bytes()
    head = header.parse_header(data, number)
    fast, slow = (read(data, head.body_start, head.width) for read in (scan.scan_rows, scan.scan_rows_slowly))
    assert np.array_equal(fast[0], slow[0]) and fast[1] is slow[1] is None
    turned = angles.channel_rotations(head, fast[0])
    assert np.abs(turned - angles.channel_rotations_slowly(head, fast[0])).max() < 1e-15


def test_reactidle_stands_on_the_floor(shared_data):
    """Root channels are relative there: toe tips near 0, which `replace` would put 0.6 to 0.95 m below it."""
    paths = sorted((shared_data / "reactidle").glob("*/*.bvh"))
    assert len(paths) >= 12
    for path in paths:
        clip, report = read_bvh_report(path)
        assert (report.positions, report.unit, report.up) == ("add_root", "m", "Y"), path
        toes = [place[0][1] for joint, place in end_places(clip, len(clip) // 2).items() if joint in (15, 18)]
        assert np.abs(toes).max() < 0.06, path
        assert clip.fps == 24
        spread = translation_spread(clip)
        assert spread.argmax() in (13, 16)  # thigh.L, thigh.R
        assert spread.max() < 0.02
        assert constant_bones(clip).translations is None


def test_bandais_pelvis_becomes_the_root_and_its_bones_constant(real):
    clip = read_bvh(real("06"))
    with pytest.raises(ValueError, match="call merge_root"):
        constant_bones(clip)
    merged = merge_root(clip)
    assert merged.skeleton.names[0] == "Hips"
    gap = forward_kinematics(constant_bones(merged)).positions - forward_kinematics(clip).positions[:, 1:]
    assert np.abs(gap).max() < 1e-4


# ---------------------------------------------------------------------------- faults reported in public, by number

WORLD = "01 03 05 06 14 16 32 34".split()
SHAPES = "01 02 03 05 06 07 08 10 11 14 16 19 20 21 22 23 24a_cm 25 29 30 32 34".split()
REFUSED = {
    "17": "17.bvh, line 4: OFFSET: '0,0' has a decimal comma",
    "28": "28.bvh, line 16: 2 ROOT blocks; one clip holds one figure",
    "35": "35.bvh, line 20: the file ends without a MOTION section",
    "37": "37.bvh, line 24: frame 0, joint Spine: 'nan' is not a finite number",
}


def expected(shared_data, number):
    return json.loads((shared_data / "bvh/bugs/expected.json").read_text())[number[:2]]


def test_every_file_of_faults_has_its_test(shared_data):
    here = Path(__file__).read_text(encoding="utf-8")
    files = sorted(path.stem for path in (shared_data / "bvh/bugs").glob("*.bvh"))
    tested = {*WORLD, *SHAPES, *REFUSED}
    assert [name for name in files if name not in tested and f'"{name}"' not in here] == []
    marked = {
        key
        for key, value in json.loads((shared_data / "bvh/bugs/expected.json").read_text()).items()
        if "error" in value
    }
    assert marked <= set(REFUSED)


@pytest.mark.parametrize("name", WORLD)
def test_faults_world_places(name, bug, shared_data):
    clip, wanted = read_as_it_is(bug(name)), expected(shared_data, name)
    places = forward_kinematics(clip).positions
    for joint, path in wanted["world"].items():
        assert np.abs(places[:, clip.skeleton.index(joint)] - path).max() < 1e-9, joint
    by_default = read_bvh(bug(name), metres_per_unit=1, up="file")
    assert np.array_equal(by_default.root_positions, clip.root_positions)


@pytest.mark.parametrize("name", SHAPES)
def test_faults_joints_end_sites_frames_and_channels(name, bug, shared_data):
    clip, report = read_bvh_report(bug(name), metres_per_unit=1)
    wanted = expected(shared_data, name)
    assert len(clip.skeleton) == wanted["joints"]
    assert len(clip.skeleton.end_offsets) == wanted["ends"]
    assert len(clip) == wanted["frames"]
    assert report.header.width == wanted.get("channels", report.header.width)
    assert list(clip.skeleton.names) == wanted.get("names", list(clip.skeleton.names))


@pytest.mark.parametrize("name", REFUSED)
def test_faults_that_must_be_refused_name_file_line_and_cause(name, bug):
    with pytest.raises(BvhError) as caught:
        read_bvh(bug(name))
    assert str(caught.value).startswith(REFUSED[name])


def test_fault_02_relative_root_channels_are_read_either_way_and_the_choice_is_said(bug, shared_data):
    wanted = expected(shared_data, "02")
    for rule in ("replace", "add_root", "add"):
        root = read_as_it_is(bug("02"), rule).root_positions
        assert np.array_equal(root, wanted["world_replace" if rule == "replace" else "world_add"]["Torso"])
    assert read_bvh_report(bug("02"))[1].positions == "replace"


def test_fault_08_names_with_blanks_are_written_unchanged(bug, tmp_path):
    clip = read_bvh(bug("08"), 0.01)
    for like in (None, bug("08")):
        text = write_bvh(clip, tmp_path / "again.bvh", like=like).read_text()
        assert "ROOT Bip01 Pelvis\n" in text and "JOINT Bip01 Neck\n" in text and "JOINT Bip01 Head\n" in text


def test_fault_10_end_sites_in_every_spelling(bug):
    for name in ("10", "10b_onewordendsite"):
        skeleton = read_bvh(bug(name), 0.01).skeleton
        assert skeleton.names == ("Hips", "Spine", "Head_End", "L_Ankle", "R_Ankle")
        assert [joint for joint, _ in skeleton.end_offsets] == [2, 3, 4]


def test_fault_11_a_leaf_keeps_its_motion_through_reading_and_writing(bug, tmp_path):
    clip = read_bvh(bug("11"), 0.01)
    wanted = rot.from_euler(np.deg2rad([10, 20, 30]), "ZXY")
    for like in (None, bug("11")):
        again = read_bvh(write_bvh(clip, tmp_path / "again.bvh", like=like), 0.01)
        assert again.skeleton.names == ("Hips", "Tail")
        assert rot.angle_between(again.rotations[1, 1], wanted) < 1e-7


def test_fault_13_the_rows_count_or_strict_names_both_numbers(bug):
    with pytest.warns(UserWarning, match=r"13.bvh declares 3 frames and holds 4 rows; the 4 rows are taken"):
        assert len(read_bvh(bug("13"))) == 4
    with pytest.raises(BvhError, match=r"13.bvh, line 22: declares 3 frames and holds 4 rows"):
        read_bvh(bug("13"), strict=True)


def test_fault_19_yaw_across_180_is_mixed_the_short_way(bug):
    clip = read_bvh(bug("19"))
    arm = clip.rotations[:, 1]
    steps = rot.to_rotation_vector(rot.multiply(rot.inverse(arm[:-1]), arm[1:]))
    assert np.allclose(np.rad2deg(steps), [[0, 0, 8]] * 3)
    middle = rot.to_euler(rot.slerp(arm[1], arm[2], 0.5), "ZXY")
    assert np.isclose(np.rad2deg(middle[0]) % 360, 182)
    turned = np.unwrap(rot.to_euler(arm, "ZXY")[:, 0])
    assert np.allclose(np.rad2deg(turned), [170, 178, 186, 194])


def test_fault_20_gimbal_lock_is_a_rotation_like_any_other(bug, tmp_path):
    clip = read_bvh(bug("20"))
    arm = clip.rotations[:, 1]
    assert rot.angle_between(arm[0], arm[1]) < 1e-9
    assert rot.angle_between(rot.from_euler(rot.to_euler(arm, "ZXY"), "ZXY"), arm).max() < 1e-9
    again = read_bvh(write_bvh(clip, tmp_path / "again.bvh", like=bug("20"), decimals=12))
    assert rot.angle_between(again.rotations, clip.rotations).max() < 1e-9


def test_fault_21_neighbours_agree_in_sign(bug, shared_data):
    arm = read_bvh(bug("21")).rotations[:, 1]
    canonical = np.where(arm[:, :1] < 0, -arm, arm)
    assert ((canonical[1:] * canonical[:-1]).sum(-1) < 0).any()
    smooth = rot.unroll(canonical)
    assert np.allclose((smooth[1:] * smooth[:-1]).sum(-1), expected(shared_data, "21")["dot"])
    middles = rot.slerp(canonical[:-1], canonical[1:], 0.5)
    assert np.allclose(np.rad2deg(rot.angle_between(middles, canonical[1:])), 20)
    assert np.allclose(np.rad2deg(rot.angle_between(canonical[:-1], canonical[1:])), 40)


def test_fault_22_another_rate_relabels_the_same_rows(bug):
    by_header, true = read_bvh(bug("22"), 1), read_bvh(bug("22"), 1, fps=29.476)
    assert np.array_equal(by_header.root_positions, true.root_positions)
    for clip, speed in ((by_header, 2.4), (true, 2.9476)):
        assert np.allclose(np.linalg.norm(np.diff(clip.root_positions, axis=0), axis=-1) * clip.fps, speed)


@pytest.mark.parametrize(
    ("fps", "rows"), [(20, [0, 3, 6, 9, 12]), (30, [0, 2, 4, 6, 8, 10, 12]), (25, [0, 2.4, 4.8, 7.2, 9.6, 12])]
)
def test_fault_23_resampling_takes_the_right_rows_and_keeps_the_last(fps, rows, bug):
    clip = read_bvh(bug("23"), 1)
    assert clip.fps == 60  # printed in single precision as 59.9999887
    slower = resample(clip, fps)
    assert np.allclose(slower.root_positions[:, 0], rows, atol=1e-9)
    assert (len(slower) - 1) / slower.fps == pytest.approx((len(clip) - 1) / clip.fps)


def test_fault_24_one_body_in_three_units_is_one_clip(bug):
    heights = []
    for name, unit in (("24a_cm", "cm"), ("24b_m", "m"), ("24c_inch", "inch")):
        clip, report = read_bvh_report(bug(name))
        assert report.unit == unit
        assert np.allclose(np.diff(clip.root_positions[:, 0]), 0.1, atol=1e-6)
        ends = end_places(clip, 0)
        heights.append(ends[2][0][1] - ends[3][0][1])
    assert np.allclose(heights, 1.8, atol=1e-6)


def test_fault_25_a_z_up_file_is_turned_as_a_whole(bug, shared_data):
    wanted = expected(shared_data, "25")
    for up, key in (("file", "world_file"), ("auto", "world_y_up"), ("Z", "world_y_up")):
        clip = read_bvh(bug("25"), metres_per_unit=1, up=up)
        places = forward_kinematics(clip).positions
        for joint, path in wanted[key].items():
            assert np.abs(places[:, clip.skeleton.index(joint)] - path).max() < 1e-9, (up, joint)
    assert np.allclose(clip.skeleton.offsets[1], [0, 50, 0])  # the rest pose stands, too


def test_fault_27_equal_places_do_not_mean_equal_angles(bug, shared_data):
    wanted = expected(shared_data, "27")["world"]["LeftHand"]
    clips = [read_as_it_is(bug(name)) for name in ("27a_tpose", "27b_apose")]
    for clip in clips:
        assert np.allclose(forward_kinematics(clip).positions[:, clip.skeleton.index("LeftHand")], wanted)
    assert np.allclose(np.rad2deg(rot.angle_between(clips[0].rotations[:, 1], clips[1].rotations[:, 1])), 45)


def test_fault_29_the_slide_of_a_planted_toe(bug):
    clip = read_bvh(bug("29"), 0.01)
    toe = forward_kinematics(clip).positions[:, clip.skeleton.index("LeftToe")]
    assert np.allclose(toe[:, 1], 0)
    path = np.linalg.norm(np.diff(toe, axis=0), axis=-1)
    assert path.sum() == pytest.approx(0.2)
    assert path.mean() * clip.fps == pytest.approx(0.3158, abs=1e-4)  # metres per second


def test_fault_30_one_frame_is_a_clip(bug, tmp_path):
    clip = read_bvh(bug("30"), 0.01)
    assert len(clip) == 1 and clip.duration == pytest.approx(1 / 30)
    places = forward_kinematics(clip).positions
    assert np.isfinite(places).all() and np.diff(places, axis=0).shape == (0, 3, 3)
    assert len(resample(clip, 60)) == 1
    assert len(read_bvh(write_bvh(clip, tmp_path / "one.bvh"), 0.01)) == 1


def test_fault_32_bones_that_are_only_in_the_channels(bug):
    clip = constant_bones(read_as_it_is(bug("32")))
    assert np.allclose(np.linalg.norm(clip.skeleton.offsets[1:], axis=-1), [10, 5])
