"""A data set built from takes: names, listing, provenance, equal bytes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from motionbook import read_bvh, write_bvh
from motionbook import rotations as rot
from motionbook.cleaning import build_dataset
from motionbook.cleaning.annotations import RangeError, read_annotations
from motionbook.cleaning.editing import heading, rescale, sole_heights
from motionbook.cleaning.scale_faults import BOARD_FACTOR
from motionbook.cleaning.takes import check_parameters, find_take, first_usable, one_per_rig, open_takes, wrong_sizes
from motionbook.clip import Clip
from motionbook.data.layouts import ClipFile, open_dataset
from motionbook.data.splits import Fold
from motionbook.files import sha256
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import FREEMOCAP, LAFAN1

ABOUT = {"name": "test", "label": "made for a test", "kind": "synthetic", "licence": "MIT", "fps_note": "30 by design"}


def standing(frames, seed, jump=None):
    """Someone on the FreeMoCap rig who sways over (1, 2), turned by half a radian; a jump of 30 cm where asked."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames) / 30.0
    angles = rng.uniform(-0.1, 0.1, (len(FREEMOCAP), 3, 1)) * np.sin(2 * np.pi * rng.uniform(0.1, 0.4, (1, 3, 1)) * t)
    rotations = rot.from_rotation_vector(np.moveaxis(angles, -1, 0))
    rotations[:, 0] = rot.multiply(rot.from_axis_angle(np.array([0.0, 1, 0]), np.array(0.5)), rotations[:, 0])
    root = np.tile([1.0, 1.2, 2.0], (frames, 1))
    if jump is not None:
        root[jump] += [0.3, 0, 0]
    return Clip(FREEMOCAP, root, rotations, 30.0)


@pytest.fixture
def takes(tmp_path):
    plan = [("00", "idle", "idle", "", 300, 120), ("00", "actions", "lb_lef", "1", 90, None)]
    plan += [("01", "idle", "idle", "", 200, None), ("01", "phone", "phone", "", 150, None)]
    plan += [("02", "idle", "idle", "", 200, None), ("02", "actions", "lb_lef", "2", 80, None)]
    made = []
    for number, (subject, group, label, take, frames, jump) in enumerate(plan):
        path = tmp_path / "source" / f"{subject}_{label}_{number}.bvh"
        write_bvh(standing(frames, number, jump), path)
        made.append(ClipFile(path, subject, group, label, take, "", "freemocap", {"metres_per_unit": 0.01}))
    return made


def build(takes, tmp_path, name="set", **options):
    return build_dataset(takes, tmp_path / name, about=ABOUT, root=tmp_path, **options)


def test_layout_and_listing(takes, tmp_path):
    built = build(takes, tmp_path)
    files = {p.relative_to(built.folder).as_posix() for p in built.folder.rglob("*.bvh")}
    stems = {
        "idle/00_idle_1",
        "idle/00_idle_2",
        "actions/00_lb_lef_1",
        "idle/01_idle",
        "phone/01_phone",
        "idle/02_idle",
    }
    stems |= {"actions/02_lb_lef_2"}
    assert files == {f"{rig}/{stem}.bvh" for rig in ("lafan", "freemocap") for stem in stems}
    listing = json.loads((built.folder / "dataset.json").read_text())
    assert {entry["path"] for entry in listing["clips"]} == files and listing["skipped"] == []
    assert all(listing[key] == value for key, value in ABOUT.items())
    for entry in listing["clips"]:
        clip = read_bvh(built.folder / entry["path"], metres_per_unit=0.01, positions="replace")
        assert len(clip) == entry["frames"] == entry["last"] - entry["first"] + 1 and clip.fps == entry["fps"] == 30
        assert clip.skeleton.names == (LAFAN1 if entry["path"].startswith("lafan") else FREEMOCAP).names
        assert entry["source_sha256"] == sha256(tmp_path / entry["source"])
    # the loader of the layout opens it again, with its own words and folds
    again = open_dataset(built.folder)
    assert again.label == ABOUT["label"] and again.layout == "staystill" and len(again.clips) == len(stems)
    assert [dict(fold) for fold in again.folds] == listing["folds"] and len(listing["folds"]) == 3


def test_a_fault_is_cut_out_of_both_rigs_and_told(takes, tmp_path):
    built = build(takes, tmp_path)
    pieces = {e["path"]: [e["first"], e["last"] + 1] for e in built.listing["clips"] if "00_idle" in e["path"]}
    assert pieces["lafan/idle/00_idle_1.bvh"] == pieces["freemocap/idle/00_idle_1.bvh"] == [0, 112]
    # the body is elsewhere in frame 120, which the feet show for 0.1 s on each side, and five more frames go with it
    assert pieces["lafan/idle/00_idle_2.bvh"] == [129, 300]
    assert built.takes[0]["removed"] == 17 < built.takes[0]["published_removed"] == 22


def test_clips_stand_at_the_origin_facing_forward_on_the_floor(takes, tmp_path):
    built = build(takes, tmp_path)
    for entry in built.listing["clips"]:
        clip = read_bvh(built.folder / entry["path"], metres_per_unit=0.01, positions="replace")
        assert abs(heading(clip)[0]) < 1e-4
        feet = [
            j for j, name in enumerate(clip.skeleton.names) if name in ("LeftFoot", "RightFoot", "foot.L", "foot.R")
        ]
        assert np.abs(forward_kinematics(clip).positions[0, feet].mean(axis=0)[[0, 2]]).max() < 1e-4
        assert abs(np.quantile(sole_heights(clip).min(axis=1), 0.25)) < 1e-4


def test_same_bytes_again_in_two_processes_and_after_another_run(takes, tmp_path):
    takes = takes[:3]
    first = build(takes, tmp_path, "a")
    stale = tmp_path / "b" / "lafan" / "idle" / "99_idle.bvh"
    write_bvh(standing(30, 0), stale)
    second = build(takes, tmp_path, "b", jobs=2)
    assert not stale.exists()
    for path in sorted(first.folder.rglob("*.*")):
        assert path.read_bytes() == (second.folder / path.relative_to(first.folder)).read_bytes(), path.name


def test_what_cannot_be_used_is_listed_with_its_reason(takes, tmp_path):
    broken = tmp_path / "source" / "broken.bvh"
    broken.write_text("HIERARCHY\nROOT a\n{\n")
    snake = tmp_path / "source" / "snake.bvh"
    lines = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}\nMOTION\nFrames: 2\n"
    snake.write_text(lines + "Frame Time: 0.033333\n0 0 0\n0 0 0\n")
    more = [ClipFile(path, "09", "idle", "idle") for path in (broken, snake)]
    built = build([*takes, *more], tmp_path)
    reasons = {entry["path"]: entry["reason"] for entry in built.skipped}
    assert set(reasons) == {"source/broken.bvh", "source/snake.bvh"} and built.listing["skipped"] == built.skipped
    assert "broken.bvh" in reasons["source/broken.bvh"] and "humanoid" in reasons["source/snake.bvh"]
    assert "09" not in {e["subject"] for e in built.listing["clips"]}
    with pytest.raises(ValueError, match=r"got 2: source/broken\.bvh"):
        build(more, tmp_path, "none")


def test_listed_ranges_are_removed_and_other_rates_resampled(takes, tmp_path):
    fast = tmp_path / "source" / "fast.bvh"
    clip = standing(400, 7)
    write_bvh(Clip(clip.skeleton, clip.root_positions, clip.rotations, 60.0), fast)
    built = build([*takes, ClipFile(fast, "05", "idle", "idle")], tmp_path, annotations={("01", "idle"): [(0, 9)]})
    kept = {e["path"]: (e["first"], e["last"], e["frames"]) for e in built.listing["clips"]}
    assert kept["lafan/idle/01_idle.bvh"] == (10, 199, 190)
    assert kept["lafan/idle/05_idle.bvh"] == (0, 399, 200)
    cuts = read_annotations(built.folder / "cuts.csv")
    assert cuts["01", "idle"] == [(0, 9)]
    for subject in ("00", "01", "05"):  # what is kept of a take and what cuts.csv lists make up the take
        own = [e for e in built.listing["clips"] if e["path"].startswith(f"lafan/idle/{subject}")]
        gone = {frame for first, last in cuts.get((subject, "idle"), ()) for frame in range(first, last + 1)}
        left = {frame for entry in own for frame in range(entry["first"], entry["last"] + 1)}
        assert gone | left == set(range(own[0]["source_frames"])) and not gone & left


def test_annotations_that_fit_no_take_are_refused_or_told(takes, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Animation name,From frame,To frame\n01_idle,0,9\nIdle_01,190,200\nIdle_88,0,9\n")
    with pytest.raises(RangeError, match=r"a\.csv, line 3: expected 0 <= first <= last < 200 frames, got 190 to 200"):
        build(takes, tmp_path, annotations=read_annotations(path))
    path.write_text("Animation name,From frame,To frame\n01_idle,0,9\nIdle_88,0,9\n")
    assert build(takes, tmp_path, annotations=read_annotations(path)).notes == (
        "no take for the annotated clip 88_idle",
    )


def test_annotations_may_call_a_take_by_its_file(takes, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Animation name,From frame,To frame\nTake A.bvh,0,9\n")
    takes[2].path.rename(tmp_path / "source" / "take a.bvh")
    named = replace(takes[2], path=tmp_path / "source" / "take a.bvh")
    built = build([named], tmp_path, annotations=read_annotations(path))
    assert built.notes == () and built.listing["clips"][0]["first"] == 10


def test_another_rule_is_refused_before_anything_is_done(takes, tmp_path):
    with pytest.raises(ValueError, match="method: expected one of robust, published, got 'best'"):
        build(takes, tmp_path, method="best")


def test_same_person_and_label_twice_do_not_overwrite_each_other(takes, tmp_path):
    built = build([takes[2], takes[4], ClipFile(takes[2].path, "02", "idle", "idle")], tmp_path)
    assert len({e["path"] for e in built.listing["clips"]}) == 6


def test_folds_are_those_given_or_drawn(takes, tmp_path):
    given = [Fold(("00", "77"), ("01",), ("02",))]
    built = build(takes, tmp_path, folds=given)
    assert built.listing["folds"] == [{"train": ["00"], "validation": ["01"], "test": ["02"]}]
    assert "1 of its 4 people" in built.listing["folds_note"]
    alone = build(takes[:2], tmp_path, "alone")
    assert "one person only" in alone.listing["folds_note"]


def test_a_wrong_size_is_found_and_corrected_on_request(takes, tmp_path):
    small = tmp_path / "source" / "small.bvh"
    write_bvh(rescale(standing(200, 9), 0.8), small)
    more = [*takes, ClipFile(small, "07", "idle", "idle", "", "", "freemocap", {"metres_per_unit": 0.01})]
    table, factors = wrong_sizes(more, tmp_path)
    assert len(table) == 5 and factors == {str(small): BOARD_FACTOR}  # the actions are not looked at
    legs = {}
    for name, given in (("left", None), ("right", factors)):
        built = build(more, tmp_path, name, factors=given)
        entries = {entry["path"]: entry for entry in built.listing["clips"]}
        clip = read_bvh(built.folder / "freemocap/idle/07_idle.bvh", metres_per_unit=0.01, positions="replace")
        legs[name] = np.linalg.norm(clip.skeleton.offsets, axis=-1).sum()
        assert entries["freemocap/idle/07_idle.bvh"].get("factor") == (BOARD_FACTOR if given else None)
        assert "factor" not in entries["freemocap/idle/01_idle.bvh"]
    assert legs["right"] / legs["left"] == pytest.approx(1.25, abs=1e-5)


def test_takes_by_name_and_one_of_each_rig(takes, tmp_path):
    other = tmp_path / "source" / "lafan.bvh"
    write_bvh(Clip(LAFAN1, np.zeros((3, 3)), np.tile(rot.identity(), (3, 22, 1)), 30.0), other)
    more = [*takes, ClipFile(other, "09", "motion", "walk")]
    assert one_per_rig(more) == [takes[0], more[-1]]
    assert one_per_rig(more, most=1) == takes[:1]
    assert find_take(more, "source/lafan.bvh", tmp_path) is more[-1] and find_take(more, "lafan.bvh") is more[-1]
    with pytest.raises(KeyError, match="no take 'x'"):
        find_take(more, "x", tmp_path)


def test_the_published_rule_cuts_when_it_is_asked_for(takes, tmp_path):
    built = build(takes[:1], tmp_path, method="published")
    (row,) = built.takes
    assert row["removed"] == row["published_removed"] == 22 and row["robust_removed"] == 17
    assert "z-score" in built.listing["rule"]


def test_a_readers_folder_or_none(tmp_path, takes):
    assert open_takes("") is None
    (tmp_path / "empty").mkdir()
    assert open_takes(tmp_path / "empty") is None
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_takes(tmp_path / "nowhere")
    opened = open_takes(tmp_path / "source")
    assert len(opened.takes) == 6 and opened.about["kind"] == "real" and opened.folds is not None


def test_reactidle_becomes_a_data_set(shared_data, tmp_path):
    """Two real clips of one person and one of another, whole chain, as the chapter runs it."""
    opened = open_takes(shared_data / "reactidle")
    some = [take for take in opened.takes if take.path.stem in ("002_genuine", "003_genuine", "010_acted")]
    built = build_dataset(some, tmp_path / "set", about=opened.about, folds=opened.folds, root=opened.root)
    lafan = [entry for entry in built.listing["clips"] if entry["path"].startswith("lafan/")]
    assert [entry["frames"] for entry in lafan] == [604, 256, 450, 918, 2921] and {e["fps"] for e in lafan} == {30.0}
    assert sorted(take["removed"] for take in built.takes) == [0, 0, 209]  # filled gaps, a forearm that jerks
    assert built.listing["kind"] == "real" and "30 fps" in built.listing["label"]
    assert max(take["direction_error_deg"] for take in built.takes) < 1.0


@pytest.mark.parametrize(
    "given, words",
    [
        ({"labels": "is.csv"}, "labels: they cut recordings; give the folder"),
        ({"data": ".", "labels": "nowhere.csv"}, "labels: there is no nowhere.csv"),
        ({"annotations": "."}, r"annotations: expected a CSV file, \. is a folder"),
        ({"data": "nowhere"}, "data: there is no nowhere"),
        ({"rule": "strict"}, "rule: expected one of robust, published, got 'strict'"),
        ({"correct_sizes": "no"}, "correct_sizes: expected True or False, got 'no'"),
    ],
)
def test_a_parameter_that_cannot_be_meant_is_refused_by_its_name(given, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "is.csv").write_text("clip,from,to,label\n")
    fine = {"data": "", "labels": "", "annotations": "", "rule": "robust", "correct_sizes": False}
    check_parameters(**fine)
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        check_parameters(**fine | given)


def test_the_take_that_is_shown_can_be_read_and_is_long_enough(takes, tmp_path):
    broken, brief = tmp_path / "source" / "broken.bvh", tmp_path / "source" / "brief.bvh"
    broken.write_text("HIERARCHY\nROOT a\n{\n")
    write_bvh(standing(3, 0), brief)
    bad = [ClipFile(path, "09", "idle", "idle") for path in (broken, brief)]
    assert first_usable([*bad, *takes[1:]]) is takes[2]
    with pytest.raises(ValueError, match=r"none of 2 can be used; broken\.bvh"):
        first_usable(bad)
