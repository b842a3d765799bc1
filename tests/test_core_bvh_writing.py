"""Writing BVH: LaFAN1's form, the form of another file, and what a file cannot hold."""

import numpy as np
import pytest
from bvh_samples import BODY, mended, same_motion

from motionbook import Clip, Skeleton, forward_kinematics, read_bvh, read_bvh_report, write_bvh
from motionbook import rotations as rot
from motionbook.bvh import write
from motionbook.bvh.read import _read_numbers
from motionbook.bvh.text import rows_text, rows_text_slowly
from motionbook.skeletons import LAFAN1


@pytest.fixture
def save(tmp_path):
    def write(text, name="clip.bvh"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def lafan_clip(frames=20, seed=1):
    rng = np.random.default_rng(seed)
    return Clip(LAFAN1, rng.standard_normal((frames, 3)), rot.random_rotations((frames, 22), rng), 30.0)


def test_a_written_clip_has_lafan1s_form(tmp_path):
    lines = write_bvh(lafan_clip(), tmp_path / "a.bvh").read_text().splitlines()
    assert lines[:5] == [
        "HIERARCHY",
        "ROOT Hips",
        "{",
        "\tOFFSET 0.000000 0.000000 0.000000",
        "\tCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation",
    ]
    assert "\t\tOFFSET 0.103000 1.858000 10.549000" in lines
    assert "\t\tCHANNELS 3 Zrotation Yrotation Xrotation" in lines
    at = lines.index("MOTION")
    assert lines[at + 1 : at + 3] == ["Frames: 20", "Frame Time: 0.033333"]
    assert len(lines) == at + 3 + 20 and all(len(line.split()) == 69 for line in lines[at + 3 :])


@pytest.mark.parametrize("order", ["ZYX", "XYZ", "YXZ"])
@pytest.mark.parametrize("scale", [0.01, 1.0, 0.0254])
def test_a_written_clip_is_read_back(order, scale, tmp_path):
    clip = lafan_clip()
    path = write_bvh(clip, tmp_path / "a.bvh", metres_per_unit=scale, order=order, decimals=9)
    read = read_bvh(path, metres_per_unit=scale, positions="replace", up="Y")
    same_motion(read, clip, 1e-8, 1e-9)
    assert np.abs(read.skeleton.offsets - LAFAN1.offsets).max() < 1e-9
    assert read.skeleton.end_offsets == LAFAN1.end_offsets and read.fps == clip.fps


def test_equal_clips_give_equal_bytes_and_no_negative_zeros(tmp_path):
    clip = lafan_clip()
    nearly = Clip(clip.skeleton, clip.root_positions * 0 - 1e-12, clip.rotations, clip.fps)
    a, b = (write_bvh(nearly, tmp_path / name).read_bytes() for name in ("a.bvh", "b.bvh"))
    assert a == b and b"-0.000000" not in a
    assert b"\r" not in a


def test_decimals_set_the_digits(tmp_path):
    text = write_bvh(lafan_clip(2), tmp_path / "a.bvh", decimals=3).read_text()
    assert all(len(number.split(".")[1]) == 3 for number in text.splitlines()[-1].split())
    assert "OFFSET 0.103 1.858 10.549" in text


def test_exact_decimals_give_back_every_bit(tmp_path):
    clip = lafan_clip(5)
    path = write_bvh(clip, tmp_path / "a.bvh", decimals="exact")
    values = write._values(clip, write._own_layout(clip, "ZYX"), LAFAN1.offsets / 0.01, np.eye(3), 0.01, "replace")
    rows = path.read_text().partition("Frame Time:")[2].splitlines()[1:]
    assert np.array_equal([[float(word) for word in row.split()] for row in rows], values)
    assert "e" not in "".join(rows)
    assert np.array_equal(_read_numbers(path)[1], values)


def test_decimals_are_those_of_the_file_like_counted_with_exponents(save, tmp_path):
    path = save(
        mended(("OFFSET 0 80 0", "OFFSET 0 80.25 5E-5"), ("5 90 0 0 0 0 10 20 30", "5 90 0 0 0 0 10.125 20 3e+1"))
    )
    assert write.file_decimals(path) == (5, 3)
    written = write_bvh(read_bvh(path), tmp_path / "b.bvh", like=path, decimals="like").read_text()
    assert "OFFSET 0.00000 80.25000 0.00005" in written
    assert written.splitlines()[-1] == "5.000 90.000 0.000 0.000 0.000 0.000 10.125 20.000 30.000 0.000 0.000 0.000"


@pytest.mark.parametrize("decimals", ["all", -1, 2.5, True, "like"])
def test_decimals_that_mean_nothing_are_refused(decimals, tmp_path):
    words = "needs like=" if decimals == "like" else "expected a whole number from 0"
    with pytest.raises(ValueError, match=words):
        write_bvh(lafan_clip(2), tmp_path / "a.bvh", decimals=decimals)


def test_the_frame_time_of_like_is_kept_only_for_its_rate(save, tmp_path):
    path = save(mended(("0.033333", "0.03333333")))
    clip, report = read_bvh_report(path)
    assert clip.fps == 30
    assert "Frame Time: 0.03333333\n" in write_bvh(clip, tmp_path / "b.bvh", like=report).read_text()
    slower = Clip(clip.skeleton, clip.root_positions, clip.rotations, 25.0)
    assert "Frame Time: 0.040000\n" in write_bvh(slower, tmp_path / "b.bvh", like=report).read_text()


@pytest.mark.parametrize("up", ["Z", "-Y", "-Z"])
def test_another_up_axis_is_written_and_turned_back_by_the_reader(up, tmp_path):
    clip = lafan_clip()
    path = write_bvh(clip, tmp_path / "a.bvh", up=up, decimals=9)
    same_motion(read_bvh(path, 0.01, "replace", up), clip, 1e-8, 1e-9)
    axis = "XYZ".index(up[-1])
    raw = read_bvh(path, 0.01, "replace", "file")
    assert np.allclose(raw.root_positions[:, axis] * (-1 if up[0] == "-" else 1), clip.root_positions[:, 1], atol=1e-8)
    with pytest.raises(ValueError, match="up: expected one of Y, -Y, Z, -Z, got 'X'"):
        write_bvh(clip, tmp_path / "a.bvh", up="X")


@pytest.mark.parametrize("decimals", [0, 1, 2, 3, 6, 9, 12, 15, 17])
def test_rows_are_the_bytes_that_pythons_formatting_gives(decimals):
    rng = np.random.default_rng(decimals)
    values = rng.standard_normal((500, 12)) * 10.0 ** rng.integers(-12, 9, (500, 12))
    halves = rng.integers(-2000, 2000, (200, 12)) * 0.5 * 10.0**-decimals  # ties, and what is nearly one
    small = np.array([[0.0, -0.0, 1e-300, -1e-300, 0.5, -0.5, 1.5, 2.5, 9.9999999, -99.9999995, 1e9, -1e9]])
    table = np.concatenate([values, halves, small])
    row = " ".join([f"%.{decimals}f"] * 12) + "\n"
    wanted = "".join(row % tuple(line) for line in (np.round(table, decimals) + 0.0).tolist()).encode()
    assert b"".join(rows_text(table, decimals)) == wanted
    assert b"".join(rows_text_slowly(table, decimals)) == wanted


def test_numbers_too_large_for_whole_ones_are_formatted_all_the_same():
    table = np.array([[2.0**35, -1e10], [0.25, 4503599627.5]])
    wanted = b"34359738368.000000 -10000000000.000000\n0.250000 4503599627.500000\n"
    assert b"".join(rows_text(table, 6)) == wanted


@pytest.mark.parametrize("fps", [24, 25, 29.476, 30, 30000 / 1001, 59.94, 60, 100, 120, 7.3])
def test_the_frame_rate_survives_writing(fps, tmp_path):
    clip = lafan_clip(2)
    path = write_bvh(Clip(clip.skeleton, clip.root_positions, clip.rotations, fps), tmp_path / "a.bvh")
    assert read_bvh(path, 0.01).fps == pytest.approx(fps, rel=1e-12)


def test_moving_bones_are_written_as_position_channels(tmp_path):
    clip = lafan_clip()
    places = np.tile(LAFAN1.offsets, (20, 1, 1))
    places[:, 7] += np.linspace(0, 0.02, 20)[:, None]
    moving = Clip(LAFAN1, clip.root_positions, clip.rotations, 30.0, places)
    path = write_bvh(moving, tmp_path / "a.bvh", decimals=9)
    assert path.read_text().count("CHANNELS 6") == 2
    same_motion(read_bvh(path, 0.01, "replace"), moving, 1e-8, 1e-9)


def test_joints_are_written_in_depth_first_order_whatever_their_index(tmp_path):
    rng = np.random.default_rng(0)
    skeleton = Skeleton(
        ("root", "left", "right", "left end", "right end"), (-1, 0, 0, 1, 2), rng.standard_normal((5, 3))
    )
    clip = Clip(skeleton, rng.standard_normal((6, 3)), rot.random_rotations((6, 5), rng), 30.0)
    read = read_bvh(write_bvh(clip, tmp_path / "a.bvh", decimals=9), 0.01, "replace")
    assert read.skeleton.names == ("root", "left", "left end", "right", "right end")
    order = [skeleton.index(name) for name in read.skeleton.names]
    assert np.abs(forward_kinematics(read).positions - forward_kinematics(clip).positions[:, order]).max() < 1e-8


def test_like_keeps_names_orders_end_sites_and_their_words(save, tmp_path):
    text = mended(
        ("End Site", "End Site #name: skull"),
        ("Zrotation Yrotation Xrotation\n    End", "Yrotation Xrotation Zrotation\n    End"),
    )
    path = save(text)
    clip = read_bvh(path)
    written = write_bvh(clip, tmp_path / "b.bvh", like=path).read_text()
    assert "End Site #name: skull" in written
    assert "CHANNELS 3 Yrotation Xrotation Zrotation" in written
    row = [float(x) for x in written.splitlines()[-1].split()]
    assert np.allclose(row, [5, 90, 0, 0, 0, 0, 10, 20, 30, 0, 0, 0], atol=1e-6)


def test_like_refuses_what_its_channels_cannot_hold(save, tmp_path):
    path = save(BODY)
    clip, report = read_bvh_report(path)
    with pytest.raises(
        ValueError, match=r"expected the tree of clip.bvh, 3 joints \(Hips, Head, Foot\), got 22 joints"
    ):
        write_bvh(lafan_clip(), tmp_path / "b.bvh", like=path)
    places = np.tile(clip.skeleton.offsets, (2, 1, 1))
    places[1, 1, 0] += 0.01
    moving = Clip(clip.skeleton, clip.root_positions, clip.rotations, 30.0, places)
    with pytest.raises(ValueError, match="joint Head leaves its OFFSET but has no Xposition channel"):
        write_bvh(moving, tmp_path / "b.bvh", like=report)
    assert not (tmp_path / "b.bvh").exists()


@pytest.mark.parametrize(
    ("axes", "angles"), [("X", [170.0]), ("Z", [-30.0]), ("XZ", [100.0, 140.0]), ("YX", [-170.0, -95.0])]
)
def test_joints_with_fewer_rotation_channels_are_written_where_they_suffice(axes, angles, save, tmp_path):
    channels = f"CHANNELS {len(axes)} " + " ".join(f"{axis}rotation" for axis in axes)
    text = mended(("CHANNELS 3 Zrotation Yrotation Xrotation\n    End", f"{channels}\n    End"))
    path = save(text.replace(" 10 20 30", " " + " ".join(map(str, angles))))
    clip, report = read_bvh_report(path)
    same_motion(read_bvh(write_bvh(clip, tmp_path / "b.bvh", like=report)), clip, 1e-8, 1e-7)
    turned = clip.rotations.copy()
    turned[:, 1] = rot.from_euler([0.3, 0.4, 0.5], "ZYX")
    with pytest.raises(ValueError, match=r"joint Head has \d rotation channels, too few for its rotation"):
        write_bvh(Clip(clip.skeleton, clip.root_positions, turned, 30.0), tmp_path / "b.bvh", like=report)


@pytest.mark.parametrize("name", [" a", "a\nb", "a{", ""])
def test_names_a_bvh_file_cannot_hold_are_refused(name, tmp_path):
    clip = Clip(Skeleton((name,), (-1,), np.zeros((1, 3))), np.zeros((1, 3)), rot.identity((1, 1)), 30.0)
    with pytest.raises(ValueError, match="cannot stand in a BVH file"):
        write_bvh(clip, tmp_path / "a.bvh")


def test_an_unfinished_file_never_replaces_a_whole_one(tmp_path, monkeypatch):
    path = write_bvh(lafan_clip(), tmp_path / "a.bvh")
    before = path.read_bytes()

    def stops(*_):
        yield b"1 2 3"
        raise KeyboardInterrupt

    monkeypatch.setattr(write, "rows_text", stops)
    with pytest.raises(KeyboardInterrupt):
        write_bvh(lafan_clip(seed=2), path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_a_clip_without_frames_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="clip: expected at least one frame"):
        write_bvh(lafan_clip()[:0], tmp_path / "a.bvh")
