"""Reading small BVH files made here: grammar, errors, frame rates and guesses."""

import logging

import numpy as np
import pytest
from bvh_samples import BODY, mended, same_motion

from motionbook import BvhError, Clip, Skeleton, forward_kinematics, read_bvh, read_bvh_report, write_bvh
from motionbook import rotations as rot
from motionbook.bvh.header import frame_rate


@pytest.fixture
def save(tmp_path):
    def write(text, name="clip.bvh"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# ---------------------------------------------------------------------------------------------------- grammar


def test_a_plain_file_is_read_into_metres_and_quaternions(save):
    clip = read_bvh(save(BODY))
    assert clip.skeleton.names == ("Hips", "Head", "Foot")
    assert clip.skeleton.parents == (-1, 0, 0)
    assert clip.skeleton.end_offsets == ((1, (0.0, 0.1, 0.0)),)
    assert clip.fps == 30 and clip.translations is None
    assert np.allclose(clip.root_positions, [[0, 0.9, 0], [0.05, 0.9, 0]])
    expected = rot.from_euler(np.deg2rad([10, 20, 30]), "ZYX")
    assert rot.angle_between(clip.rotations[:, 1], expected).max() < 1e-14


@pytest.mark.parametrize(
    "text",
    [
        BODY.lower().replace("hips", "Hips").replace("head", "Head").replace("foot", "Foot"),
        BODY.upper().replace("HIPS", "Hips").replace("HEAD", "Head").replace("FOOT", "Foot"),
        BODY.replace("\n", "\r\n"),
        BODY.replace("\n", "\r"),
        BODY.replace(" ", "\t").replace("End\tSite", "End Site").replace("Frame\tTime", "Frame Time"),
        BODY.replace("\n", "\n\n"),
        BODY.replace("\n", "  \n"),
        BODY.replace("\n{", " {").replace("\n  {", " {").replace("\n    {", "{"),
        BODY.rstrip("\n"),
        BODY + "\n  \n\n",
        "\ufeff" + BODY,
        BODY.encode("utf-16"),
        BODY.replace("End Site", "EndSite"),
        BODY.replace("End Site", "End Site #name: skull"),
        BODY.replace("90 0 0", "9.0E+1 0 -0.0e0").replace("-9.0E+1 0 -0.0e0", "-90 0 0"),
        BODY.replace("OFFSET 0 80 0\n    CHANNELS 3", "OFFSET 0 80. .0 CHANNELS 3"),
        BODY.replace("Frames: 2", "Frames:\t2        ").replace("Frame Time:", "frame time :"),
    ],
    ids=[
        "lower", "upper", "crlf", "cr", "tabs", "blank-lines", "trailing-blanks", "brace-on-line", "no-last-newline",
        "blank-end", "bom", "utf16", "endsite", "end-comment", "exponents", "one-line", "padded",
    ],
)  # fmt: skip
def test_harmless_differences_of_form_change_nothing(text, save):
    same_motion(read_bvh(save(text, "other.bvh"), 0.01), read_bvh(save(BODY), 0.01))


@pytest.mark.parametrize(
    "name", ["mixamorig:Hips", "spine.001", "Bip01  Left Foot", "Hand#2", "Ärmel_左", "End", "OFFSET x"]
)
def test_a_joint_name_is_the_rest_of_its_line_and_is_written_back(name, save, tmp_path):
    clip = read_bvh(save(mended(("JOINT Head", f"JOINT {name}   "))), 0.01)
    assert clip.skeleton.names[1] == name
    again = read_bvh(write_bvh(clip, tmp_path / "again.bvh"), 0.01)
    assert again.skeleton.names[1] == name


def test_a_latin1_name_is_read(save):
    assert read_bvh(save(mended(("Head", "Kopfstück")).encode("latin-1")), 0.01).skeleton.names[1] == "Kopfstück"


def test_repeated_names_are_numbered_with_a_warning_and_kept_in_files_like_the_source(save, tmp_path):
    path = save(mended(("JOINT Foot", "JOINT Head")))
    with pytest.warns(UserWarning, match="more than once: Head"):
        clip, report = read_bvh_report(path)
    assert clip.skeleton.names == ("Hips", "Head", "Head.2")
    assert write_bvh(clip, tmp_path / "again.bvh", like=report).read_text().count("JOINT Head\n") == 2
    with pytest.raises(BvhError, match="line 15: uses joint names more than once: Head; rename them"):
        read_bvh(path, strict=True)


def test_channels_may_come_in_any_order_and_number(save):
    rotation_first = mended(
        ("Xposition Yposition Zposition Zrotation", "Zrotation Yrotation Xrotation Zposition"),
        ("Yrotation Xrotation\n  JOINT", "Xposition Yposition\n  JOINT"),
        ("0 90 0 0 0 0 10", "40 50 60 0 0 90 10"),
        ("5 90 0 0 0 0 10", "40 50 60 0 5 90 10"),
    )  # fmt: skip
    clip = read_bvh(save(rotation_first), 0.01)
    assert np.allclose(clip.root_positions, [[0, 0.9, 0], [0.05, 0.9, 0]])
    assert rot.angle_between(clip.rotations[:, 0], rot.from_euler(np.deg2rad([40, 50, 60]), "ZYX")).max() < 1e-14
    hinge = mended(("CHANNELS 3 Zrotation Yrotation Xrotation\n    End", "CHANNELS 1 Xrotation\n    End"))
    hinge = hinge.replace(" 10 20 30", " 170")
    clip = read_bvh(save(hinge), 0.01)
    assert rot.angle_between(clip.rotations[:, 1], rot.from_euler(np.deg2rad([170]), "X")).max() < 1e-14
    none = mended(("    CHANNELS 3 Zrotation Yrotation Xrotation\n    End", "    End")).replace(" 10 20 30", "")
    assert rot.angle_between(read_bvh(save(none), 0.01).rotations[:, 1], rot.identity()).max() == 0


# ----------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("changes", "line", "words"),
    [
        ([("HIERARCHY", "SKELETON")], 1, "expected HIERARCHY, got 'SKELETON'"),
        ([("ROOT Hips", "JOINT Hips")], 2, "JOINT outside a joint"),
        ([("JOINT Head", "ROOT Head")], 6, "ROOT inside a joint"),
        ([("JOINT Head", "JOINT")], 6, "JOINT without a name"),
        ([("ROOT Hips\n{", "ROOT Hips\n")], 4, "expected the opening brace of Hips, got 'OFFSET'"),
        ([("OFFSET 0 80 0", "OFFSET 0 80")], 9, "OFFSET: expected a number, got 'CHANNELS'"),
        ([("OFFSET 0 80 0", "OFFSET 0 80,5 0")], 8, "'80,5' has a decimal comma"),
        ([("OFFSET 0 80 0", "OFFSET 0 1e999 0")], 8, "too large"),
        ([("OFFSET 0 80 0", "")], 14, "joint Head closes without its OFFSET"),
        ([("OFFSET 0 10 0", "")], 13, "an End Site closes without its OFFSET"),
        ([("OFFSET 0 10 0", "OFFSET 0 10 0 CHANNELS 3")], 12, "CHANNELS inside an End Site"),
        ([("CHANNELS 3", "CHANNELS 4")], 10, "expected 4 such as Xposition or Zrotation, got 'End'"),
        ([("CHANNELS 3", "CHANNELS three")], 9, "expected their number (0 to 6), got 'three'"),
        ([("Zrotation Yrotation Xrotation\n    End", "Zrotation Yscale Xrotation\n    End")], 9, "got 'Yscale'"),
        ([("CHANNELS 6 Xposition Yposition", "CHANNELS 6 Xposition Xposition")], 5, "at most one position per axis"),
        ([("}\nMOTION", "MOTION")], 19, "the file ends where a closing brace is expected"),
        ([("}\nMOTION", "}\n}\nMOTION")], 21, "expected MOTION after the skeleton, got '}'"),
        ([("MOTION", "MOTIONS")], 21, "expected MOTION after the skeleton, got 'MOTIONS'"),
        ([("Frames: 2", "")], 23, "expected 'Frames: <count>', got 'Frame Time: 0.033333'"),
        ([("Frames: 2", "Frames: two")], 22, "Frames: expected a whole number, got 'two'"),
        ([("Frame Time: 0.033333", "")], 24, "expected 'Frame Time: <seconds>', got '0 90 0"),
        ([("0.033333", "0,033333")], 23, "Frame Time: '0,033333' has a decimal comma"),
        ([("0.033333", "0")], 23, "pass fps= to set the rate"),
        ([("0.033333", "-0.033")], 23, "expected seconds above zero, got -0.033"),
        ([("5 90 0 0 0 0 10 20 30 0 0 0\n", "5 90 0 0 0 0 10 2")], 25, "12 numbers, got 8; the file seems cut"),
        ([("0 90 0 0 0 0 10 20", "0 90 0 0 0 0 20")], 24, "frame 0: expected 12 numbers, got 11"),
        ([("0 90 0 0 0 0 10 20", "0 90 0 0 0 0 0 10 20")], 24, "more than the 12 numbers"),
        ([("5 90 0 0 0 0 10", "5 90 0 0 0 0 nan")], 25, "frame 1, joint Head: 'nan' is not a finite number"),
        ([("5 90 0 0 0 0 10", "5 90 0 0 0 0 -1.#IND")], 25, "joint Head: '-1.#IND' is not a finite number"),
        ([("5 90 0 0 0 0 10", "5 90 -Infinity 0 0 0 10")], 25, "joint Hips: '-Infinity' is not a finite number"),
        ([("5 90 0 0 0 0 10", "5 90 0 0 0 0 1e999")], 25, "'1e999' is too large a number"),
        ([("5 90 0 0 0 0 10", "\n 5 -1e10 0 0 0 0 10")], 26, "frame 1, joint Hips: -1e+10 is too large a number"),
        ([("5 90 0 0 0 0 10", "5 90 0 0 0 0 1,5")], 25, "'1,5' has a decimal comma"),
        ([("5 90 0 0 0 0 10", "5 90 0 0 0 0 1.2.3")], 25, "expected a number, got '1.2.3'"),
        ([("5 90 0 0 0 0 10", "5 90 0 0 0 0 1_0")], 25, "expected a number, got '1_0'"),
        ([("5 90 0 0 0 0 10", "5 90 0 0 0 0 -")], 25, "expected a number, got '-'"),
        ([("5 90 0 0 0 0 10", "5 90 0 0 0 0 1e")], 25, "expected a number, got '1e'"),
        ([(BODY[BODY.index("0 90 0 0 0 0") :], "")], 23, "no rows of motion, 2 frames are declared"),
    ],
)  # fmt: skip
def test_a_malformed_file_gives_one_error_with_file_line_and_cause(changes, line, words, save):
    with pytest.raises(BvhError) as caught:
        read_bvh(save(mended(*changes)), 0.01)
    assert f"clip.bvh, line {line}: " in str(caught.value)
    assert words in str(caught.value)


def test_line_numbers_survive_crlf_and_a_byte_order_mark(save):
    text = mended(("5 90 0 0 0 0 10", "5 90 0 0 0 0 ten"))
    with pytest.raises(BvhError, match="line 25: frame 1, joint Head: expected a number, got 'ten'"):
        read_bvh(save("\ufeff" + text.replace("\n", "\r\n")))


@pytest.mark.parametrize(
    "content", [b"", b"\n \n", b"\x00\x01\xff" * 50, b"HIERARCHY", b"{" * 9999, b"HIERARCHY\nROOT a\n{\n"]
)
def test_what_is_no_bvh_file_at_all_is_refused(content, save):
    with pytest.raises(BvhError, match=r"clip.bvh, line \d"):
        read_bvh(save(content))


def test_no_damage_to_a_file_gives_any_other_error(save, recwarn):
    """Bytes cut, dropped, doubled or replaced anywhere: the clip is read or a BvhError is raised."""
    rng = np.random.default_rng(0)
    whole, read, refused = BODY.encode(), 0, 0
    damaged = [whole[:n] for n in range(0, len(whole), 3)]
    for _ in range(600):
        at, span = int(rng.integers(len(whole))), int(rng.integers(1, 8))
        junk = bytes(rng.choice(list(b"{} \n\t.,-+eE019XZ:\x00\xc3\xff"), span))
        kind = rng.integers(3)
        damaged.append(
            whole[:at] + (b"" if kind == 0 else junk if kind == 1 else whole[at : at + span] * 2) + whole[at + span :]
        )
    for content in damaged:
        try:
            read_bvh(save(content))
            read += 1
        except BvhError:
            refused += 1
    assert read > 30 and refused > 300


def test_options_that_do_not_exist_are_refused(save):
    path = save(BODY)
    with pytest.raises(ValueError, match="positions: expected one of auto, replace, add_root, add, got 'sum'"):
        read_bvh(path, positions="sum")
    with pytest.raises(ValueError, match="up: expected one of auto, file, Y, -Y, Z, -Z, got 'X'"):
        read_bvh(path, up="X")
    with pytest.raises(ValueError, match=r"positive number, got 'cm'; centimetres are 0\.01"):
        read_bvh(path, metres_per_unit="cm")
    with pytest.raises(ValueError, match="metres_per_unit: expected 'auto' or a positive number, got 0"):
        read_bvh(path, metres_per_unit=0)
    with pytest.raises(ValueError, match="fps: expected a positive number"):
        read_bvh(path, fps=0)
    with pytest.raises(FileNotFoundError):
        read_bvh(path.with_name("missing.bvh"))


# ----------------------------------------------------------------------------------------- rows, rates, guesses


@pytest.mark.parametrize("declared", [1, 5])
def test_the_rows_count_when_the_declared_number_is_wrong(declared, save):
    path = save(mended(("Frames: 2", f"Frames: {declared}")))
    with pytest.warns(UserWarning, match=f"clip.bvh declares {declared} frames and holds 2 rows; the 2 rows are taken"):
        clip, report = read_bvh_report(path)
    assert len(clip) == 2 and (report.frames, report.frames_declared) == (2, declared)
    with pytest.raises(BvhError, match=f"line 22: declares {declared} frames and holds 2 rows"):
        read_bvh(path, strict=True)


@pytest.mark.parametrize(
    ("text", "fps"),
    [
        ("0.033333", 30), ("0.0333333", 30), ("0.03333", 30), ("0.0333", 30), ("0.033", 30), (".0333333333", 30),
        ("0.0333333333333333", 30), ("3.3333e-2", 30), ("0.03333334", 30), ("0.041667", 24), ("0.0416667", 24),
        ("0.04", 25), ("0.02", 50), ("0.016667", 60), ("0.016666", 60), ("0.0166666698", 60), ("0.01666667", 60),
        ("0.008333", 120), (".0083333", 120), ("0.0083", 120), ("0.010000", 100), ("0.01", 100), ("0.00625", 160),
        ("0.011111", 90), ("0.013889", 72), ("0.004167", 240), ("0.001", 1000), ("1", 1), ("0.5", 2),
        ("0.033367", 30000 / 1001), ("0.008342", 120000 / 1001), ("0.0166833", 60000 / 1001),
        ("0.03", 1 / 0.03), ("0.033926", 1 / 0.033926), ("0", None), ("-1", None), ("1e-400", None),
    ],
)  # fmt: skip
def test_a_printed_frame_time_stands_for_a_rate(text, fps):
    assert frame_rate(text) == fps


def test_fps_relabels_and_never_resamples(save):
    path = save(BODY)
    relabelled = read_bvh(path, fps=29.476)
    assert relabelled.fps == 29.476 and np.array_equal(relabelled.rotations, read_bvh(path).rotations)
    assert read_bvh(save(mended(("0.033333", "0"))), fps=25).fps == 25


@pytest.mark.parametrize(("unit", "scale"), [("cm", 1.0), ("m", 0.01), ("inch", 1 / 2.54)])
def test_units_are_guessed_from_body_height_and_said(unit, scale, save, caplog):
    numbers = {80: 80 * scale, 90: 90 * scale, 10: 10 * scale}
    text = BODY.replace("OFFSET 0 80 0", f"OFFSET 0 {numbers[80]} 0").replace(
        "OFFSET 0 10 0", f"OFFSET 0 {numbers[10]} 0"
    )
    text = text.replace("OFFSET 0 -90 0", f"OFFSET 0 {-numbers[90]} 0").replace(
        " 90 0 0 0 0 10", f" {numbers[90]} 0 0 0 0 10"
    )
    text = text.replace("5 ", f"{5 * scale} ")
    with caplog.at_level(logging.INFO, logger="motionbook"):
        clip, report = read_bvh_report(save(text))
    assert report.unit == unit and f"unit {unit}: the body is then 1.79 m long" in caplog.text
    assert np.allclose(clip.root_positions[1], [0.05, 0.9, 0])
    assert 1.7 < report.body_height < 1.8


def test_a_size_no_unit_explains_is_read_as_centimetres_and_said(save):
    text = mended(
        ("OFFSET 0 80 0", "OFFSET 0 5 0"), ("OFFSET 0 -90 0", "OFFSET 0 -9 0"), ("OFFSET 0 10 0", "OFFSET 0 1 0")
    )
    _, report = read_bvh_report(save(text))
    assert report.metres_per_unit == 0.01
    assert any("pass metres_per_unit if it is not cm" in note for note in report.notes)


HELPER = """HIERARCHY
ROOT Reference
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Hips
  {
    OFFSET 0 0 0
    CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
    JOINT Head
    {
      OFFSET 0 80 0
      CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
    }
    JOINT Foot
    {
      OFFSET 0 -90 0
      CHANNELS 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.04
0 0 0 0 0 0 2000 90 0 0 0 0 0 80 0 0 0 0
0 0 0 0 0 0 2400 90 0 0 0 0 0 80 0 0 0 0
"""


def test_a_helper_root_far_from_the_body_does_not_count_as_its_size(save):
    clip, report = read_bvh_report(save(HELPER))
    assert report.unit == "cm" and report.body_height == pytest.approx(1.7)
    assert clip.translations.shape == (2, 4, 3)
    assert np.allclose(clip.translations[:, 1], [[20, 0.9, 0], [24, 0.9, 0]])


def test_the_size_is_that_of_the_rule_asked_for(save):
    text = HELPER.replace(" 0 80 0 0 0 0\n", " 0 0 0 0 0 0\n")  # channels that are to be added to the OFFSET
    assert read_bvh_report(save(text), 0.01, "add")[1].body_height == pytest.approx(1.7)
    assert read_bvh_report(save(text), 0.01, "replace")[1].body_height == pytest.approx(0.9)


def test_moving_bones_are_turned_with_the_figure(save, tmp_path):
    upright = read_bvh(save(HELPER), 0.01)
    z_up = HELPER.replace("2000 90 0", "2000 0 90").replace("2400 90 0", "2400 0 90").replace(" 0 80 0 ", " 0 0 80 ")
    z_up = z_up.replace("OFFSET 0 80 0", "OFFSET 0 0 80").replace("OFFSET 0 -90 0", "OFFSET 0 0 -90")
    clip, report = read_bvh_report(save(z_up), 0.01)
    assert report.up == "Z"
    same_motion(clip, upright)
    same_motion(read_bvh(write_bvh(clip, tmp_path / "a.bvh", like=report), 0.01), upright)


def rooted(offset, first="0 90 0", second="5 90 0"):
    return mended(("OFFSET 0 0 0", f"OFFSET {offset}"), ("0 90 0 0", f"{first} 0"), ("5 90 0 0", f"{second} 0"))


@pytest.mark.parametrize(
    ("text", "rule", "height"),
    [
        (rooted("0 0 0"), "replace", 0.9),
        (rooted("0 90 0"), "replace", 0.9),  # absolute channels, OFFSET repeats the first frame
        (rooted("0 90 0", "0 0 0", "5 0 0"), "add_root", 0.9),  # channels relative to the OFFSET
        (rooted("0 30 0", "0 0 0", "5 0 0"), "replace", 0.0),  # neither stands on the floor
        (rooted("0 -10 0", "0 100 0", "5 100 0"), "replace", 1.0),  # both stand near the floor
    ],
)
def test_positions_auto_adds_at_the_root_only_when_that_alone_stands_on_the_floor(text, rule, height, save):
    clip, report = read_bvh_report(save(text), metres_per_unit=0.01)
    assert report.positions == rule
    assert any(note.startswith(f"positions {rule}: lowest joint at ") for note in report.notes)
    assert np.allclose(clip.root_positions[:, 1], height)


def test_a_root_without_position_channels_stands_at_its_offset(save):
    text = mended(
        ("OFFSET 0 0 0", "OFFSET 0 45 0"),
        ("CHANNELS 6 Xposition Yposition Zposition", "CHANNELS 3"),
        ("\n0 90 0 ", "\n"),
        ("\n5 90 0 ", "\n"),
    )
    for rule in ("auto", "replace", "add_root", "add"):
        clip, report = read_bvh_report(save(text), 0.01, rule)
        assert np.allclose(clip.root_positions, [0, 0.45, 0])
        assert report.positions == (rule if rule != "auto" else "replace")  # there is nothing to add


def test_positions_rules_differ_below_the_root_as_they_say(save, tmp_path):
    six = mended(
        ("OFFSET 0 0 0", "OFFSET 0 7 0"),
        ("CHANNELS 3 Zrotation", "CHANNELS 6 Xposition Yposition Zposition Zrotation"),
    ).replace(" 10 20 30", " 1 81 3 0 0 0")  # fmt: skip
    path = save(six)
    heads = {}
    for rule in ("replace", "add_root", "add"):
        clip, report = read_bvh_report(path, metres_per_unit=0.01, positions=rule)
        heads[rule] = forward_kinematics(clip).positions[0, 1] * 100
        same_motion(read_bvh(write_bvh(clip, tmp_path / "a.bvh", like=report), 0.01, rule), clip)
        same_motion(read_bvh(write_bvh(clip, tmp_path / "a.bvh"), 0.01), clip)
    assert np.allclose(heads["replace"], [1, 90 + 81, 3])
    assert np.allclose(heads["add_root"], [1, 97 + 81, 3])
    assert np.allclose(heads["add"], [1, 97 + 80 + 81, 3])


def test_translations_are_kept_only_where_positions_leave_the_offset(save):
    wide = "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n    End"
    constant = mended(("CHANNELS 3 Zrotation Yrotation Xrotation\n    End", wide)).replace(
        " 10 20 30", " 0 80 0 10 20 30"
    )
    assert read_bvh(save(constant), 0.01).translations is None
    moving = mended(("0 80 0 10", "0 80 0.001 10"), text=constant)
    clip = read_bvh(save(moving), 0.01)
    assert np.allclose(clip.translations[:, 1], [[0, 0.8, 1e-5], [0, 0.8, 0]])
    assert np.allclose(clip.translations[:, 2], [0, -0.9, 0])


@pytest.mark.parametrize("up", ["Y", "-Y", "Z", "-Z"])
def test_a_figure_upright_along_any_axis_is_turned_to_stand_on_y(up, save, tmp_path):
    """The same body written along another axis, by permuting the numbers, reads as the same clip."""
    from motionbook.bvh.guess import TURNS

    clip = read_bvh(save(BODY), 0.01)
    turn = TURNS[up]
    assert np.allclose(turn @ turn.T, np.eye(3)) and np.isclose(np.linalg.det(turn), 1)  # turned, not mirrored
    skeleton = clip.skeleton
    q = clip.rotations.copy()
    q[..., 1:] = q[..., 1:] @ turn
    ends = tuple((joint, tuple(np.array(offset) @ turn)) for joint, offset in skeleton.end_offsets)
    along = Clip(
        Skeleton(skeleton.names, skeleton.parents, skeleton.offsets @ turn, ends), clip.root_positions @ turn, q, 30
    )
    path = write_bvh(along, tmp_path / "turned.bvh")
    read, report = read_bvh_report(path, 0.01)
    assert report.up == up
    same_motion(read, clip, 1e-7, 1e-7)
    same_motion(read_bvh(path, 0.01, up=up), clip, 1e-7, 1e-7)
    same_motion(read_bvh(path, 0.01, up="file"), along, 1e-7, 1e-7)
    again = read_bvh(write_bvh(read, tmp_path / "again.bvh", like=report), 0.01, up="file")
    same_motion(again, along, 1e-7, 1e-7)


def test_a_figure_that_lies_down_is_not_stood_up(save):
    lying = BODY.replace("0 90 0 0 0 0 10 20 30", "0 9 0 0 0 90 10 20 30").replace(
        "5 90 0 0 0 0 10 20 30", "5 9 0 0 0 90 10 20 30"
    )
    assert read_bvh_report(save(lying))[1].up == "Y"
