"""What public bug reports about BVH ask for beyond right places: the second half of each line of the collection."""

import locale
import logging
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from bvh_samples import same_motion

from motionbook import BvhError, Clip, forward_kinematics, read_bvh, read_bvh_report, write_bvh
from motionbook import rotations as rot
from motionbook.bvh.header import parse_header
from motionbook.kinematics import merge_root
from motionbook.resampling import resample


@pytest.fixture
def bug(shared_data):
    return lambda name: shared_data / f"bvh/bugs/{name}.bvh"


def speeds(clip, joint):
    places = forward_kinematics(clip).positions[:, clip.skeleton.index(joint)]
    return np.linalg.norm(np.diff(places, axis=0), axis=-1) * clip.fps


def test_01_the_offset_of_an_absolute_root_is_added_by_no_option_but_add(bug):
    for positions, place in (("auto", 100), ("replace", 100), ("add", 200), ("add_root", 200)):
        assert read_bvh(bug("01"), 1, positions).root_positions[0, 0] == place


def test_02_the_log_says_which_rule_was_used(bug, caplog):
    with caplog.at_level(logging.INFO, logger="motionbook"):
        read_bvh(bug("02"))
        read_bvh(bug("02"), positions="add_root")
    first, second = (record.getMessage() for record in caplog.records)
    assert "02.bvh" in first and "positions replace: lowest joint at" in first
    assert "positions add_root: asked for" in second


def test_03_speed_is_that_of_the_moving_hips_and_nothing_is_torn(bug):
    clip = read_bvh(bug("03"), 0.01, "replace")
    assert not speeds(clip, "joint_Root").any()
    assert np.allclose(speeds(clip, "Hips"), 0.05 * clip.fps)
    merged = merge_root(clip)
    assert merged.skeleton.names[0] == "Hips"
    assert np.allclose(np.linalg.norm(np.diff(merged.root_positions, axis=0), axis=-1), 0.05)
    for joint in ("Hips", "Head"):
        places = [forward_kinematics(c).positions[:, c.skeleton.index(joint)] for c in (clip, merged)]
        assert np.allclose(*places)


@pytest.mark.parametrize("name", ["05", "06", "19", "20"])
def test_05_06_channel_orders_are_written_as_they_are_read(name, bug, tmp_path):
    clip, report = read_bvh_report(bug(name), 1, "replace")
    path = write_bvh(clip, tmp_path / "again.bvh", like=report, decimals=12)
    again = read_bvh_report(path, 1, "replace")
    assert again[1].header.channels == report.header.channels
    same_motion(again[0], clip, 1e-9, 1e-9)
    other = write_bvh(clip, tmp_path / "xyz.bvh", order="XYZ", decimals=12)  # reordering angles is not renaming them
    same_motion(read_bvh(other, 0.01, "replace"), clip, 1e-9, 1e-9)


@pytest.mark.parametrize("name", ["07", "08"])
def test_07_08_whole_names_survive_writing_in_every_form(name, bug, tmp_path):
    clip = read_bvh(bug(name), 0.01)
    for like in (None, bug(name)):
        assert read_bvh(write_bvh(clip, tmp_path / "a.bvh", like=like), 0.01).skeleton.names == clip.skeleton.names


def test_10_an_end_site_keeps_its_words_and_head_end_its_channels(bug, tmp_path):
    clip, report = read_bvh_report(bug("10"), 0.01)
    assert report.header.channels[2] == (5, 3, 4)
    path = write_bvh(clip, tmp_path / "a.bvh", like=report)
    again = read_bvh_report(path, 0.01)[1].header
    assert [end.label for end in again.ends] == [end.label for end in report.header.ends]
    text = bug("10").read_text()
    assert all(f"End {end.label}" in text for end in report.header.ends)


def test_13_strict_accepts_the_file_once_its_count_is_right(bug, tmp_path):
    path = tmp_path / "mended.bvh"
    path.write_text(bug("13").read_text().replace("Frames: 3", "Frames: 4"))
    assert len(read_bvh(path, strict=True)) == 4


def test_14_tabs_blanks_and_line_ends_mean_what_the_tidy_file_means(bug, tmp_path):
    data = bug("14").read_bytes()
    tidy = tmp_path / "tidy.bvh"
    words = "\n".join(" ".join(line.split()) for line in data.decode().splitlines() if line.strip())
    tidy.write_text(words + "\n", newline="\n")
    assert b"\t" in data and b"\t" not in tidy.read_bytes() and tidy.read_bytes() != data
    same_motion(read_bvh(bug("14")), read_bvh(tidy), 0.0, 0.0)
    old_mac = tmp_path / "cr.bvh"
    old_mac.write_bytes(tidy.read_bytes().replace(b"\n", b"\r"))
    same_motion(read_bvh(old_mac), read_bvh(tidy), 0.0, 0.0)


def test_16_exponents_stand_in_offsets_rows_and_frame_time_and_are_never_written(bug, tmp_path):
    clip, report = read_bvh_report(bug("16"), 1)
    assert clip.fps == 30 and report.header.frame_time == "3.3333e-2"
    assert clip.skeleton.offsets[0, 1] == -1.0557e-17
    for decimals in (6, "exact"):
        path = write_bvh(clip, tmp_path / "a.bvh", decimals=decimals)
        assert not any(c in path.read_text().partition("Frame Time:")[2] for c in "eE")
        assert np.allclose(read_bvh(path, 0.01).root_positions, clip.root_positions, atol=1e-8)


def test_17_the_writer_ignores_a_locale_with_decimal_commas(bug, tmp_path):
    with pytest.raises(BvhError, match=r"17.bvh, line 4: OFFSET: '0,0' has a decimal comma; write a point"):
        read_bvh(bug("17"))
    clip = read_bvh(bug("16"), 1)
    plain = write_bvh(clip, tmp_path / "plain.bvh").read_bytes()
    before = locale.setlocale(locale.LC_ALL)
    for name in ("de_DE.UTF-8", "ru_RU.UTF-8", "es_ES.UTF-8", "fr_FR.UTF-8", "de_DE", "German"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        try:
            assert locale.localeconv()["decimal_point"] == ","
            assert write_bvh(clip, tmp_path / "german.bvh").read_bytes() == plain
            same_motion(read_bvh(tmp_path / "german.bvh"), read_bvh(tmp_path / "plain.bvh"), 0.0, 0.0)
        finally:
            locale.setlocale(locale.LC_ALL, before)
        return
    pytest.skip("no locale with a decimal comma is installed here")


def test_17_a_comma_in_a_row_is_named_too(bug, tmp_path):
    path = tmp_path / "row.bvh"
    lines = bug("16").read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], lines[-1].replace("1.5E+1", "1,5")]))
    with pytest.raises(BvhError, match=rf"row.bvh, line {len(lines)}: frame 0, joint Hips: '1,5' has a decimal comma"):
        read_bvh(path)


def test_21_angular_speed_is_the_same_everywhere_after_resampling(bug):
    clip = read_bvh(bug("21"))
    twice = resample(clip, 2 * clip.fps)
    for c, degrees in ((clip, 40), (twice, 20)):
        steps = rot.angle_between(c.rotations[1:, 1], c.rotations[:-1, 1])
        assert np.allclose(np.rad2deg(steps), degrees)


def test_22_relabelling_and_resampling_are_two_things(bug):
    relabelled = read_bvh(bug("22"), fps=29.476)
    resampled = resample(read_bvh(bug("22")), 29.476)
    assert len(relabelled) == 30 and relabelled.duration == pytest.approx(30 / 29.476)
    assert len(resampled) == 36
    assert np.allclose(speeds(resampled, "Hips"), speeds(read_bvh(bug("22")), "Hips")[0])


def test_23_rotations_are_interpolated_and_the_duration_kept(bug):
    clip = read_bvh(bug("23"), 1)
    angles = np.deg2rad(np.arange(13) * 15.0)  # past 90 degrees, where mixed numbers would no longer do
    turns = rot.from_axis_angle(np.array([0.0, 0, 1]), angles)
    moving = replace(clip, rotations=np.stack([turns, clip.rotations[:, 1], clip.rotations[:, 2]], axis=1))
    for fps in (20, 25, 30, 50):
        slower = resample(moving, fps)
        at = np.arange(len(slower)) * 60 / fps
        wanted = rot.from_axis_angle(np.array([0.0, 0, 1]), np.deg2rad(at * 15.0))
        assert rot.angle_between(slower.rotations[:, 0], wanted).max() < 1e-9
        assert at[-1] == 12 or 12 - at[-1] < 60 / fps
        assert slower.fps == fps
    assert len(resample(clip, 50)) == 11  # not every other frame labelled 50


def test_24_features_are_equal_in_every_unit_and_a_number_overrides_the_guess(bug):
    clips = [read_bvh(bug(name)) for name in ("24a_cm", "24b_m", "24c_inch")]
    truth = forward_kinematics(clips[0]).positions
    for clip in clips[1:]:
        assert np.abs(forward_kinematics(clip).positions - truth).max() < 1e-4  # the files' own decimals
        assert np.allclose(speeds(clip, "Hips"), speeds(clips[0], "Hips"), atol=1e-3)
    asked, report = read_bvh_report(bug("24a_cm"), metres_per_unit=1)
    assert np.allclose(forward_kinematics(asked).positions, 100 * truth) and report.unit == "1 m"


def test_25_turning_to_y_up_mirrors_nothing_and_keeps_lengths(bug):
    lying, standing = read_bvh(bug("25"), 1, up="file"), read_bvh(bug("25"), 1)
    places = [np.concatenate([c.root_positions, c.skeleton.offsets]) for c in (lying, standing)]
    turn = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    assert np.linalg.det(turn) == 1 and np.allclose(places[1], places[0] @ turn.T)
    lengths = [np.linalg.norm(c.skeleton.offsets, axis=-1) for c in (lying, standing)]
    assert np.allclose(*lengths)
    ends = [np.array([offset for _, offset in c.skeleton.end_offsets]) for c in (lying, standing)]
    assert np.allclose(ends[1], ends[0] @ turn.T)
    # the hips turn by +90 degrees about the axis that points up, in either
    for clip, up in ((lying, [0, 0, 1.0]), (standing, [0, 1.0, 0])):
        turned = rot.multiply(rot.inverse(clip.rotations[0, 0]), clip.rotations[1, 0])
        assert np.allclose(np.rad2deg(rot.to_rotation_vector(turned)), 90 * np.array(up))


def test_27_bone_directions_are_what_two_rest_poses_share(bug):
    t, a = (read_bvh(bug(name), 1, "replace", "file") for name in ("27a_tpose", "27b_apose"))
    directions = []
    for clip in (t, a):
        places = forward_kinematics(clip).positions
        bone = places[:, clip.skeleton.index("LeftHand")] - places[:, clip.skeleton.index("LeftArm")]
        directions.append(bone / np.linalg.norm(bone, axis=-1, keepdims=True))
    assert np.allclose(*directions)
    copied = forward_kinematics(Clip(a.skeleton, a.root_positions, t.rotations, a.fps)).positions
    wrong = copied[:, 2] - copied[:, 1]
    off = np.rad2deg(np.arccos(np.sum(wrong / np.linalg.norm(wrong, axis=-1, keepdims=True) * directions[0], -1)))
    assert np.allclose(off, 45)


def test_28_both_figures_are_counted_before_any_number_is_read(bug, tmp_path):
    path = tmp_path / "three.bvh"
    head, motion, rest = bug("28").read_text().partition("MOTION")
    second = head[head.index("ROOT", head.index("ROOT") + 1) :]
    path.write_text(head + second + motion + rest)
    with pytest.raises(BvhError, match="3 ROOT blocks; one clip holds one figure, split the file by figure"):
        read_bvh(path)


@pytest.mark.parametrize("fps", [30, 60, 120])
def test_29_the_slide_in_metres_a_second_does_not_depend_on_the_rate(fps, bug):
    clip = resample(read_bvh(bug("29"), 0.01), fps)
    toe = forward_kinematics(clip).positions[:, clip.skeleton.index("LeftToe")]
    sliding = np.linalg.norm(np.diff(toe[:, [0, 2]], axis=0), axis=-1) * fps
    assert np.abs(toe[:, 1]).max() < 1e-12  # at floor height all along
    assert sliding.sum() / fps == pytest.approx(0.2)
    assert sliding.max() == pytest.approx(0.6) and (sliding > 0.3).mean() == pytest.approx(10 / 19, abs=0.03)


def test_34_the_rate_of_a_file_with_braces_anywhere(bug):
    assert read_bvh(bug("34"), 0.01).fps == 25


def test_35_a_file_without_motion_is_refused_wherever_it_stops(bug, tmp_path):
    whole = bug("16").read_text()
    for end in (len("HIERARCHY"), whole.index("JOINT"), whole.index("End Site"), whole.index("MOTION")):
        path = tmp_path / "cut.bvh"
        path.write_text(whole[:end])
        with pytest.raises(BvhError, match=r"cut.bvh, line \d+: "):
            read_bvh(path)


@pytest.mark.parametrize("word", ["nan", "-nan", "NaN", "inf", "-inf", "Infinity", "-1.#IND", "1e999"])
def test_37_no_number_that_is_none_passes(word, bug, tmp_path):
    path = tmp_path / "row.bvh"
    lines = bug("19").read_text().splitlines()
    row = lines[-2].split()
    row[3] = word
    path.write_text("\n".join([*lines[:-2], " ".join(row), lines[-1]]) + "\n")
    with pytest.raises(BvhError, match=rf"row.bvh, line {len(lines) - 1}: frame 2, joint Hips: .*{word[-3:]}"):
        read_bvh(path)


def wide_file(path, rows, joints=316):
    """A chain of many joints, 951 numbers a row, the same row again and again."""
    head = ["HIERARCHY", "ROOT j0", "{", "OFFSET 0 0 0"]
    head.append("CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation")
    for joint in range(1, joints):
        head += [f"JOINT j{joint}", "{", "OFFSET 0 1 0", "CHANNELS 3 Zrotation Xrotation Yrotation"]
    head += ["}"] * joints + ["MOTION", f"Frames: {rows}", "Frame Time: 0.033333"]
    row = " ".join(f"{(7 * k) % 360 - 180:.4f}" for k in range(3 * joints + 3)) + "\n"
    path.write_text("\n".join(head) + "\n" + row * rows)
    return path


def test_large_files_are_read_in_memory_bounded_by_their_size(tmp_path):
    """The last report: loading never ends. The full size, 170 MB, is timed in benchmarks/bench_bvh.py."""
    peaks = []
    for rows in (500, 1000):
        path = wide_file(tmp_path / "wide.bvh", rows)
        assert parse_header(path.read_bytes(), "wide").width == 951
        tracemalloc.start()
        clip = read_bvh(path, 0.01, "replace", "Y")
        peaks.append(tracemalloc.get_traced_memory()[1] / path.stat().st_size)
        tracemalloc.stop()
        assert len(clip) == rows and np.array_equal(clip.rotations[0], clip.rotations[-1])
    assert max(peaks) < 12 and peaks[1] < 1.2 * peaks[0]
