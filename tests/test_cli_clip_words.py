"""``motionbook clip`` in new hands: what it says when a file cannot be had as wanted, and the way out."""

import numpy as np
import pytest

from motionbook import cli, clip_work, forward_kinematics, read_bvh, write_bvh
from motionbook.clip_files import Source, run_over
from motionbook.synthesis.freemocap_rig import to_freemocap
from motionbook.synthesis.performers import idle, make_performer


@pytest.fixture
def real(shared_data, tmp_path, monkeypatch):
    """Path of a real file by its number; the working folder is an empty one."""
    monkeypatch.chdir(tmp_path)

    def found(number):
        (path,) = (shared_data / "bvh" / "real").glob(f"{number}_*.bvh")
        return path

    return found


def run(capsys, *arguments):
    code = cli.main(["clip", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_rig_whose_rest_pose_does_not_stand_is_mirrored_and_mirrored_back(real, capsys):
    source = real("06")
    for folder, path in (("one", source), ("two", f"one/{source.name}")):
        assert run(capsys, "convert", path, "--to", "bvh", "--mirror", "--out", folder)[0] == 0
    before, once, twice = (read_bvh(path) for path in (source, f"one/{source.name}", f"two/{source.name}"))
    places = [forward_kinematics(clip).positions for clip in (before, once, twice)]
    assert np.abs(places[2] - places[0]).max() < 1e-6
    hands = [before.skeleton.index(f"Hand_{side}") for side in "LR"]
    assert np.abs(places[1][:, hands[0]] - places[0][:, hands[1]] * [-1.0, 1.0, 1.0]).max() < 1e-6


def test_a_walk_is_nothing_the_rules_know_and_the_way_out_is_told(real, capsys):
    code, _, err = run(capsys, "clean", real("12"), "--out", "out")
    assert code == 1 and "no run of 2 s is left of 69 frames (faulty: " in err
    assert "--method none for other motion" in err
    assert run(capsys, "clean", real("12"), "--out", "out", "--method", "none")[0] == 0


def test_a_form_without_position_channels_cannot_be_placed_and_the_way_out_works(real, capsys):
    code, _, err = run(capsys, "clean", real("29"), "--out", "out")
    assert code == 1 and "no position channels" in err and "--units cm" in err
    assert run(capsys, "clean", real("29"), "--out", "out", "--units", "cm")[0] == 0
    assert run(capsys, "clean", real("29"), "--out", "as-is", "--no-centre", "--no-face")[0] == 0


def test_a_body_without_arms_that_hangs_from_a_headset_is_cleaned(real, capsys):
    assert run(capsys, "clean", real("27"), "--out", "out", "--floor")[0] == 0


def test_freemocaps_header_rate_is_doubted_until_one_is_given(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    clip = to_freemocap(idle(make_performer(1, 0), 3.0))
    for fps, doubted in ((24.0, True), (30.0, False)):
        write_bvh(type(clip)(clip.skeleton, clip.root_positions, clip.rotations, fps), "a.bvh")
        for action in (("info",), ("clean", "--out", f"out{fps}"), ("retarget", "--out", f"put{fps}")):
            code, _, err = run(capsys, action[0], "a.bvh", *action[1:])
            assert code == 0 and ("24 frames per second whatever the cameras did" in err) == doubted, err
            _, _, err = run(capsys, action[0], "a.bvh", *action[1:], "--read-fps", "30", "--read-units", "cm")
            assert "whatever the cameras did" not in err


def test_an_annotated_range_that_is_not_there_is_told_with_file_and_line(real, capsys, tmp_path):
    write_bvh(idle(make_performer(1, 0), 3.0), "Take B.bvh")
    (tmp_path / "a.csv").write_bytes(b"Animation name;From frame;To frame\r\n;;\r\ntake b;0;9\r\ntake b;80;90\r\n")
    code, _, err = run(capsys, "clean", "Take B.bvh", "--out", "out", "--annotations", "a.csv")
    assert code == 1 and "a.csv, line 4: expected 0 <= first <= last < 90 frames, got 80 to 90" in err
    (tmp_path / "a.csv").write_bytes(b"Animation name;From frame;To frame\r\ntake b;0;9\r\n")
    assert run(capsys, "clean", "Take B.bvh", "--out", "out", "--annotations", "a.csv")[0] == 0
    assert len(read_bvh("out/Take B.bvh")) == 80


def test_an_error_nobody_foresaw_costs_one_file_only(tmp_path, monkeypatch):
    def broken(path, reading):
        if path.stem == "a":
            raise IndexError("index 3 is out of bounds")
        return original(path, reading)

    original = clip_work.read_clip
    monkeypatch.setattr(clip_work, "read_clip", broken)
    items = []
    for name in "ab":
        path = tmp_path / f"{name}.bvh"
        write_bvh(idle(make_performer(1, 0), 1.0), path)
        items.append((Source(path, path), {}))
    first, second = run_over(clip_work.describe, items, 1, "")
    assert (first.state, first.words) == ("failed", "unexpected IndexError: index 3 is out of bounds")
    assert second.state == "done"
