"""``motionbook clip``: which files are taken, where results go, what is refused, and exit codes."""

import io
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bvh_samples import BODY, mended

from motionbook import Clip, cli, forward_kinematics, read_bvh, read_bvh_report, write_bvh
from motionbook import rotations as rot
from motionbook.cleaning.editing import heading, rescale, shift, turn
from motionbook.clip_files import Source, find_sources, target_path
from motionbook.export import read_npz, write_npz
from motionbook.skeletons import CSKEL27, LAFAN1
from motionbook.synthesis.freemocap_rig import to_freemocap
from motionbook.synthesis.performers import idle, make_performer


@pytest.fixture(scope="module")
def person():
    return idle(make_performer(7, 0), 4.0)


@pytest.fixture
def takes(tmp_path, person, monkeypatch):
    """A folder with two takes of a person, one of them a level down, and a file of other kind."""
    monkeypatch.chdir(tmp_path)
    write_bvh(person, "takes/07_idle.bvh")
    write_bvh(to_freemocap(person), "takes/deep/er/08_idle.bvh", metres_per_unit=1)
    (tmp_path / "takes/readme.txt").write_text("words")
    return tmp_path / "takes"


def run(capsys, *arguments):
    code = cli.main(["clip", *map(str, arguments)])
    said = capsys.readouterr()
    return code, said.out, said.err


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


# --------------------------------------------------------------------------------------------------- which and where


@pytest.mark.parametrize(
    ("wanted", "relative"),
    [
        (["takes"], ["07_idle.bvh", "deep/er/08_idle.bvh"]),
        (["takes/**/*.bvh"], ["07_idle.bvh", "deep/er/08_idle.bvh"]),
        (["takes/*.bvh"], ["07_idle.bvh"]),
        (["takes/deep/**"], ["er/08_idle.bvh"]),
        (["takes/0[0-7]_*"], ["07_idle.bvh"]),
        (["takes/deep/er/08_idle.bvh", "takes/./07_idle.bvh", "takes"], ["08_idle.bvh", "07_idle.bvh"]),
    ],
)
def test_files_folders_and_patterns_are_found_once(wanted, relative, takes):
    sources, others = find_sources(wanted)
    assert [source.relative.as_posix() for source in sources] == relative and others == []


def test_a_file_whose_name_has_brackets_is_a_file(takes):
    (takes / "a[1].bvh").write_text(BODY)
    sources, _ = find_sources(["takes/a[1].bvh"])
    assert [source.relative.as_posix() for source in sources] == ["a[1].bvh"]


def test_what_is_not_used_is_said(takes):
    (takes / "empty").mkdir()
    _, others = find_sources(["takes/*", "nowhere.bvh", "takes/x*.bvh", "takes/empty"])
    assert [(o.path, o.state, o.words) for o in others] == [
        ("takes/readme.txt", "skipped", "no motion file: expected .bvh or .npz"),
        ("nowhere.bvh", "failed", "there is no such file or folder"),
        ("takes/x*.bvh", "failed", "no file matches"),
        ("takes/empty", "failed", "no .bvh or .npz file in this folder or below it"),
    ]


@pytest.mark.parametrize(
    ("out", "wanted"),
    [
        (None, "in/x/a.npz"),
        ("out", "out/x/a.npz"),
        ("out/{name}", "out/a.npz"),
        ("out/{folder}/{stem}_30.{ext}", "out/x/a_30.npz"),
    ],
)
def test_targets(out, wanted, tmp_path):
    assert target_path(Source(Path("in/x/a.bvh"), Path("x/a.bvh")), out, ".npz").as_posix() == wanted


@pytest.mark.parametrize("out", ["o/{take}", "o/{", "o/{}", "o/}{stem}", "o/{0}"])
def test_templates_with_other_fields_are_refused(out, takes, capsys):
    code, _, err = run(capsys, "convert", "takes", "--to", "npz", "--out", out)
    assert code == 1 and "--out: a template has {stem}, {folder}, {ext}, {name}, got" in err
    assert "Traceback" not in err


def test_nothing_is_ever_written_over_an_input(takes, capsys):
    before = {path: (takes / path).read_bytes() for path in files(takes)}
    os.symlink(takes, takes.parent / "link")
    for arguments in (
        ["convert", "takes/*.bvh", "--to", "bvh"],
        ["convert", "takes/*.bvh", "--to", "bvh", "--out", "takes"],
        ["convert", "takes", "--to", "bvh", "--out", "link"],
        ["clean", "takes", "--out", "takes"],
        ["retarget", "takes", "--out", "link"],
    ):
        code, out, err = run(capsys, *arguments, "--overwrite")
        assert code == 1 and out == "" and "would be written over takes/07_idle.bvh; choose another --out" in err
    code, _, err = run(capsys, "retarget", "takes/07_idle.bvh", "--out", "{stem}.bvh", "--skeleton", "07_idle.bvh")
    assert code == 1 and "would be written over 07_idle.bvh" in err
    assert {path: (takes / path).read_bytes() for path in files(takes)} == before


def test_pieces_never_meet_other_files(takes, person, capsys):
    write_bvh(person, "takes/07_idle_2.bvh")
    code, _, err = run(capsys, "clean", "takes/*.bvh", "--out", "out", "--overwrite")
    assert code == 1 and "07_idle.bvh: its pieces could be written over" in err
    assert files(takes.parent / "out") == ["07_idle_2.bvh", "07_idle_2.json"]


def test_two_results_with_one_name_are_refused(takes, person, capsys):
    write_bvh(person, "takes/deep/07_idle.bvh")
    code, out, err = run(capsys, "convert", "takes", "--to", "npz", "--out", "out/{name}")
    assert code == 1 and out.splitlines() == ["out/07_idle.npz", "out/08_idle.npz"]
    assert "failed: takes/deep/07_idle.bvh: its result would be out/07_idle.npz, as that of takes/07_idle.bvh" in err
    assert "2 written, 0 skipped, 1 failed" in err


def test_results_that_exist_are_skipped_unless_overwritten(takes, capsys):
    arguments = ["convert", "takes", "--to", "npz", "--out", "out"]
    assert run(capsys, *arguments)[0] == 0
    (takes.parent / "out/07_idle.npz").write_bytes(b"mine")
    code, out, err = run(capsys, *arguments)
    assert code == 1 and out == ""  # nothing was done
    assert "skipped: takes/07_idle.bvh: out/07_idle.npz is there already; --overwrite replaces it" in err
    assert (takes.parent / "out/07_idle.npz").read_bytes() == b"mine"
    os.remove(takes.parent / "out/deep/er/08_idle.npz")
    code, out, err = run(capsys, *arguments)
    assert code == 0 and out == "out/deep/er/08_idle.npz\n" and "1 written, 1 skipped, 0 failed" in err
    assert run(capsys, *arguments, "--overwrite")[0] == 0
    assert len(read_npz(takes.parent / "out/07_idle.npz")) == 120


def test_files_that_fail_are_named_and_the_others_done(takes, capsys):
    (takes / "a.bvh").write_text(mended(("80 0", "8o 0")))
    (takes / "b.bvh").write_text(mended(("Frames: 2", "Frames: 3")))
    (takes / "c.npz").write_bytes(b"no archive")
    code, _, err = run(capsys, "convert", "takes", "--to", "glb", "--out", "out")
    assert code == 1 and files(takes.parent / "out") == ["07_idle.glb", "b.glb", "deep/er/08_idle.glb"]
    assert "failed: takes/a.bvh: a.bvh, line 8: OFFSET: expected a number, got '8o'" in err
    assert "failed: takes/c.npz: c.npz: not a NumPy archive" in err
    assert "note: takes/b.bvh: b.bvh declares 3 frames and holds 2 rows; the 2 rows are taken" in err
    assert err.splitlines()[-1] == "3 written, 0 skipped, 2 failed"
    code, _, err = run(capsys, "convert", "takes/b.bvh", "--to", "glb", "--out", "strict", "--strict")
    assert code == 1 and "declares 3 frames and holds 2 rows; correct the count" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["convert", "x"], "--to"),
        (["clean", "x"], "--out"),
        (["convert", "x", "--to", "fbx"], "invalid choice: 'fbx'"),
        (["convert", "x", "--to", "bvh", "--fps", "0"], "--fps: expected a positive number, got '0'"),
        (["convert", "x", "--to", "bvh", "--from", "1.5"], "--from: expected a whole number of 0 or more"),
        (["convert", "x", "--to", "bvh", "--units", "ell"], "--units: expected m, cm, mm, inch or metres per unit"),
        (["convert", "x", "--to", "bvh", "--jobs", "0"], "--jobs: expected a whole number of 1 or more"),
        (["retarget", "x", "--out", "o", "--scale", "big"], "--scale: expected legs, hips or a positive number"),
        (["info", "x", "--json", "--csv"], "not allowed with"),
        (["info", "x", "--read-fps", "inf"], "--read-fps: expected a positive number, got 'inf'"),
    ],
)
def test_wrong_calls_exit_with_2(arguments, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["clip", *arguments])
    assert stopped.value.code == 2 and words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--to", "npz", "--up", "Z"], "--up: only bvh results have it"),
        (["--to", "bvh", "--like", "source", "--units", "m"], "--units: --like keeps that of the file"),
    ],
)
def test_options_that_exclude_each_other(more, words, takes, capsys):
    code, out, err = run(capsys, "convert", "takes", "--out", "out", *more)
    assert code == 1 and words in err and out == ""


def test_the_progress_bar_is_for_terminals_only(takes, capsys, monkeypatch):
    assert "converting" not in run(capsys, "convert", "takes", "--to", "npz", "--out", "a")[2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert "converting" in run(capsys, "convert", "takes", "--to", "npz", "--out", "b")[2]


# --------------------------------------------------------------------------------------------------------------- info


def test_info_says_what_the_reader_found(takes, capsys):
    code, out, err = run(capsys, "info", "takes", "--json")
    assert code == 0 and err == "2 read, 0 skipped, 0 failed\n"
    first, second = json.loads(out)
    wanted = {"file": "takes/07_idle.bvh", "frames": 120, "joints": 22, "fps": 30.0, "seconds": 4.0, "unit": "cm"}
    assert wanted.items() <= first.items() and first["rig"] == "LaFAN1" and first["channels"] == 69
    assert second["unit"] == "m" and second["rig"] == "FreeMoCap"
    assert any("Frame Time 0.033333" in note for note in first["notes"])
    table = pd.read_csv(io.StringIO(run(capsys, "info", "takes", "--csv")[1]))
    assert list(table["frames"]) == [120, 120] and list(table["metres_per_unit"]) == [0.01, 1.0]
    lines = run(capsys, "info", "takes")[1].splitlines()
    assert lines[0].split()[:3] == ["file", "frames", "joints"] and len(lines) == 3


def test_info_json_names_the_files_that_fail(takes, capsys):
    (takes / "a.bvh").write_text("nothing")
    code, out, _ = run(capsys, "info", "takes/a.bvh", "takes/*.txt", "takes/07_idle.bvh", "--json")
    rows = json.loads(out)
    assert code == 1 and [row["file"] for row in rows] == ["takes/readme.txt", "takes/a.bvh", "takes/07_idle.bvh"]
    assert "expected HIERARCHY" in rows[1]["failed"] and "no motion file" in rows[0]["skipped"]


def test_reading_options_reach_the_reader(takes, capsys):
    arguments = ["--read-units", "inch", "--read-fps", "24", "--read-up", "Z", "--read-positions", "add"]
    (row,) = json.loads(run(capsys, "info", "takes/07_idle.bvh", "--json", *arguments)[1])
    assert (row["metres_per_unit"], row["fps"], row["up"], row["positions"]) == (0.0254, 24.0, "Z", "add")


# ------------------------------------------------------------------------------------------------------------ convert


def test_convert_to_every_form(takes, person, capsys):
    for form in ("bvh", "npz", "csv", "gltf", "glb"):
        assert run(capsys, "convert", "takes/07_idle.bvh", "--to", form, "--out", "out")[0] == 0
    out = takes.parent / "out"
    assert files(out) == [f"07_idle.{form}" for form in ("bvh", "csv", "glb", "gltf", "npz")]
    wanted = forward_kinematics(person).positions
    assert np.abs(forward_kinematics(read_npz(out / "07_idle.npz")).positions - wanted).max() < 1e-7
    assert np.abs(pd.read_csv(out / "07_idle.csv")["Head_y_m"] - wanted[:, 13, 1]).max() < 1e-6
    assert run(capsys, "convert", "out/07_idle.npz", "--to", "bvh", "--out", "back")[0] == 0
    assert np.abs(forward_kinematics(read_bvh("back/07_idle.bvh")).positions - wanted).max() < 1e-6
    assert run(capsys, "convert", "out/07_idle.npz", "--to", "csv", "--layout", "long", "--out", "back")[0] == 0
    assert len(pd.read_csv("back/07_idle.csv")) == 120 * 22


def test_convert_without_out_writes_beside_the_input(takes, capsys):
    assert run(capsys, "convert", "takes/deep", "--to", "npz", "--world")[0] == 0
    with np.load(takes / "deep/er/08_idle.npz") as archive:
        assert archive["positions"].shape == (120, 19, 3)


def test_convert_frames_rate_unit_and_axis(takes, person, capsys):
    arguments = ["--from", "30", "--until", "90", "--fps", "60", "--units", "m", "--up", "Z", "--decimals", "8"]
    assert run(capsys, "convert", "takes/07_idle.bvh", "--to", "bvh", "--out", "out", *arguments)[0] == 0
    clip, report = read_bvh_report("out/07_idle.bvh")
    assert (report.up, report.unit, clip.fps, len(clip)) == ("Z", "m", 60.0, 121)
    assert np.abs(clip.root_positions[::2] - person.root_positions[30:91]).max() < 1e-6
    code, _, err = run(capsys, "convert", "takes/07_idle.bvh", "--to", "npz", "--from", "5", "--until", "120")
    assert code == 1 and "--from, --until: expected 0 <= from <= until <= 119, got 5 to 120" in err


def test_convert_like_its_source_or_another_file(takes, capsys):
    assert run(capsys, "convert", "takes", "--to", "bvh", "--like", "source", "--fps", "25", "--out", "out")[0] == 0
    for path in ("07_idle.bvh", "deep/er/08_idle.bvh"):
        new, old = (read_bvh_report(folder / path)[1].header for folder in (takes.parent / "out", takes))
        assert new.names == old.names and new.channels == old.channels and new.frame_time == "0.040000"
    code, _, err = run(
        capsys, "convert", "takes", "--to", "bvh", "--like", "takes/07_idle.bvh", "--decimals", "3", "--out", "o2"
    )
    assert code == 1 and "failed: takes/deep/er/08_idle.bvh: like: expected the tree of 07_idle.bvh" in err
    last = (takes.parent / "o2/07_idle.bvh").read_text().splitlines()[-1]
    assert all(len(word.partition(".")[2]) == 3 for word in last.split())


def test_convert_mirror_twice_is_the_clip(takes, person, capsys):
    assert run(capsys, "convert", "takes/07_idle.bvh", "--to", "npz", "--mirror", "--out", "once")[0] == 0
    assert run(capsys, "convert", "once/07_idle.npz", "--to", "npz", "--mirror", "--out", "twice")[0] == 0
    once, twice, clip = (forward_kinematics(read_npz(f"{f}/07_idle.npz")).positions for f in ("once", "twice", "once"))
    truth = forward_kinematics(person).positions
    assert np.abs(twice - truth).max() < 1e-6
    left, right = LAFAN1.index("LeftHand"), LAFAN1.index("RightHand")
    assert np.abs(once[:, left] - truth[:, right] * [-1, 1, 1]).max() < 1e-2 and np.abs(clip - truth).max() > 0.1


def test_jobs_do_not_change_the_results(takes, capsys):
    for jobs in (1, 2):
        code, _, err = run(capsys, "convert", "takes", "--to", "csv", "--out", f"out{jobs}", "--jobs", jobs)
        assert code == 0, err
    one, two = takes.parent / "out1", takes.parent / "out2"
    assert files(one) == files(two) == ["07_idle.csv", "deep/er/08_idle.csv"]
    assert all((one / path).read_bytes() == (two / path).read_bytes() for path in files(one))


# -------------------------------------------------------------------------------------------------------------- clean


def test_clean_cuts_what_is_listed_centres_and_faces_forward_and_says_so(takes, person, capsys):
    turned = shift(turn(person, 1.0), [2.0, 0, 1.0])
    write_bvh(turned, "raw/Idle_07.bvh", metres_per_unit=1)
    (takes.parent / "cut.csv").write_text(
        "Animation name,From frame,To frame\n07_idle,50,59\nidle_09,1,2\n", encoding="utf-8"
    )
    code, out, err = run(
        capsys, "clean", "raw", "--out", "out", "--method", "none", "--annotations", "cut.csv", "--min-seconds", "1"
    )
    assert code == 0 and out.splitlines() == ["out/Idle_07_1.bvh", "out/Idle_07_2.bvh"], err
    assert "note: no input for the annotated clip 09_idle" in err and "1 written as 2 files" in err
    for number, (first, last) in enumerate(((0, 49), (60, 119)), start=1):
        piece, report = read_bvh_report(f"out/Idle_07_{number}.bvh")
        assert report.unit == "m" and len(piece) == last - first + 1  # its source's form is kept
        assert abs(heading(piece)[0]) < 1e-5
        places = forward_kinematics(piece).positions
        feet = places[0, [LAFAN1.index("LeftFoot"), LAFAN1.index("RightFoot")]].mean(axis=0)
        assert np.abs(feet[[0, 2]]).max() < 1e-5
        about = json.loads((takes.parent / f"out/Idle_07_{number}.json").read_text())
        assert about["kept"] == {"from": first, "to": last} and about["source"] == "raw/Idle_07.bvh"
        assert about["removed"] == [{"from": 50, "to": 59, "source": "listed by hand", "kind": "listed", "joint": ""}]
        back = rot.inverse(about["placed"]["rotation_wxyz"])
        again = rot.rotate(back, places - about["placed"]["translation_m"])
        source = forward_kinematics(turned).positions[first : last + 1]
        assert np.abs(again - source).max() < 1e-5


def test_clean_finds_a_planted_fault_and_refuses_what_is_all_faulty(takes, person, capsys):
    jumped = person.root_positions.copy()
    jumped[20:23] += [0.8, 0, 0]
    write_bvh(Clip(person.skeleton, jumped, person.rotations, 30.0), "bad/07_idle.bvh")
    for method in ("robust", "published"):
        arguments = ["clean", "bad", "--method", method, "--min-seconds", "1", "--no-centre", "--no-face", "--floor"]
        code, out, err = run(capsys, *arguments, "--out", method, "--to", "npz")
        assert code == 0, err
        (path,) = out.split()
        about = json.loads((takes.parent / method / "07_idle.json").read_text())
        assert about["kept"]["from"] > 22 and about["kept"]["to"] == 119 and about["method"] == method
        assert any(row["from"] <= 20 and row["to"] >= 22 for row in about["removed"])
        assert len(read_npz(path)) == 120 - about["kept"]["from"]
    code, _, err = run(capsys, "clean", "bad", "--min-seconds", "30", "--out", "none")
    assert code == 1 and "no run of 30 s is left of 120 frames" in err


def test_clean_reports_and_corrects_a_body_of_the_wrong_size(takes, person, capsys):
    write_bvh(rescale(person, 0.8), "small/07_idle.bvh")
    (takes.parent / "small/x.bvh").write_text("nothing")
    arguments = ["clean", "small/07*", "--method", "none", "--no-centre", "--no-face"]
    for choice, factor, words in (("report", 0.8, "left as it is"), ("correct", 1.0, "scaled by 1.25")):
        code, _, err = run(capsys, *arguments, "--sizes", choice, "--out", choice)
        assert code == 0 and f"note: small/07_idle.bvh: too small for an adult; {words}" in err
        clip = read_bvh(f"{choice}/07_idle.bvh", 0.01)
        assert np.abs(clip.root_positions - factor * person.root_positions).max() < 1e-6
        about = json.loads((takes.parent / choice / "07_idle.json").read_text())
        assert about["size_factor"] == (1.25 if choice == "correct" else 1.0)
    assert run(capsys, "clean", "small", "--sizes", "correct", "--out", "all")[0] == 1
    assert "small" not in run(capsys, *arguments, "--out", "leave")[2]


def test_clean_leaves_a_clean_take_whole(takes, capsys):
    code, out, err = run(capsys, "clean", "takes/07_idle.bvh", "--out", "out")
    assert code == 0 and out == "out/07_idle.bvh\n", err
    assert json.loads((takes.parent / "out/07_idle.json").read_text())["removed"] == []


# ----------------------------------------------------------------------------------------------------------- retarget


def test_retarget_to_lafan1_with_a_report(takes, capsys):
    code, out, err = run(capsys, "retarget", "takes", "--out", "out", "--fps", "60")
    assert code == 0 and len(out.split()) == 2, err
    clip = read_bvh("out/deep/er/08_idle.bvh")
    assert clip.skeleton.names == LAFAN1.names and clip.fps == 60
    about = json.loads((takes.parent / "out/deep/er/08_idle.json").read_text())
    assert about["rig"] == "FreeMoCap" and about["worst_bone_median_deg"] < 5
    assert {b["bone"]: b for b in about["bones"]}["left thigh"]["median_deg"] < 5 and about["text"]


def test_retarget_to_the_skeleton_of_a_file(takes, capsys):
    rest = Clip(CSKEL27, np.array([[0, 1.0, 0]]), rot.identity((1, 27)), 30.0)
    write_bvh(rest, "body.bvh", metres_per_unit=1)
    code, out, err = run(capsys, "retarget", "takes/07_idle.bvh", "--out", "out", "--skeleton", "body.bvh")
    assert code == 0, err
    clip, report = read_bvh_report(out.strip())
    assert clip.skeleton.names == CSKEL27.names and report.unit == "m" and len(clip) == 120


def test_retarget_says_why_a_skeleton_is_none(takes, capsys):
    (takes / "lamp.bvh").write_text(BODY)
    code, _, err = run(capsys, "retarget", "takes/*.bvh", "--out", "out")
    assert code == 1 and "failed: takes/lamp.bvh: skeleton: expected a humanoid" in err
    assert "1 written, 0 skipped, 1 failed" in err


def test_archives_are_clips_too(takes, person, capsys):
    write_npz(person, "takes/n/09_idle.npz")
    code, out, err = run(capsys, "retarget", "takes/n", "--out", "out", "--to", "glb")
    assert code == 0 and out == "out/09_idle.glb\n", err
    (row,) = json.loads(run(capsys, "info", "takes/n", "--json", "--read-fps", "15")[1])
    assert row["fps"] == 15 and row["seconds"] == 8.0 and "unit" not in row
