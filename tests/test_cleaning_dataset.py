"""A data set built from takes: names, listing, provenance, equal bytes; and its tables against published sums."""

import json

import numpy as np
import pytest

from motionbook import read_bvh, write_bvh
from motionbook import rotations as rot
from motionbook.cleaning import build_dataset
from motionbook.cleaning.editing import heading, sole_heights
from motionbook.cleaning.summary import clock, dataset_numbers, fault_table, fold_balance, fold_table, motion_table
from motionbook.cleaning.takes import open_takes
from motionbook.clip import Clip
from motionbook.data.layouts import ClipFile, open_dataset
from motionbook.data.published import published_item
from motionbook.data.splits import Fold, published_folds
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
        assert len(clip) == entry["frames"] == entry["kept"][1] - entry["kept"][0] and clip.fps == entry["fps"] == 30
        assert clip.skeleton.names == (LAFAN1 if entry["path"].startswith("lafan") else FREEMOCAP).names
        assert entry["source_sha256"] == sha256(tmp_path / entry["source"])
    # the loader of the layout opens it again, with its own words and folds
    again = open_dataset(built.folder)
    assert again.label == ABOUT["label"] and again.layout == "staystill" and len(again.clips) == len(stems)
    assert [dict(fold) for fold in again.folds] == listing["folds"] and len(listing["folds"]) == 3


def test_a_fault_is_cut_out_of_both_rigs_and_told(takes, tmp_path):
    built = build(takes, tmp_path)
    pieces = {e["path"]: e["kept"] for e in built.listing["clips"] if "00_idle" in e["path"]}
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
    kept = {e["path"]: (e["kept"], e["frames"]) for e in built.listing["clips"]}
    assert kept["lafan/idle/01_idle.bvh"] == ([10, 200], 190)
    assert kept["lafan/idle/05_idle.bvh"] == ([0, 400], 200)


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


def published_listing():
    """A listing with the frames and clips that Table 3 prints, all of one frame rate."""
    cells = published_item("staystill_table3").cells
    rows = published_item("staystill_table3").rows
    codes = (
        "l_up l_aro l_dow l_sho l_wat l_pho sc_hea sc_arm sc_leg sc_bac t_fac st_arm st_bac sc_eye yaw lb_lef lb_rig"
    )
    labels = [*codes.split(), "wei_lr", "wei_rl"]
    clips = []
    for row, label, group in zip(
        rows, [*labels, None, "idle", "phone"], ["actions"] * 20 + ["idle", "phone"], strict=True
    ):
        if label is None:  # the total
            continue
        count, frames = int(cells[row, "Clips"].value), int(cells[row, "Frames"].value)
        for number in range(count):
            share = frames // count + (frames % count if number == 0 else 0)
            entry = {"group": group, "label": label, "frames": share, "fps": 30.0, "subject": f"{number % 50:02d}"}
            clips.append({**entry, "source": f"{label}_{number}"})
    return clips


def test_table_3_has_the_published_rows_and_durations():
    table = motion_table(published_listing())
    published = published_item("staystill_table3")
    assert tuple(table.index) == tuple(published.rows)
    for row in table.index:
        for column in ("Frames", "Clips"):
            assert table.at[row, column] == published.cells[row, column].value, (row, column)
        assert table.at[row, "Duration"] == published.cells[row, "Duration"].printed, row
    assert dataset_numbers(published_listing(), []).at["frames", "value"] == 645_338
    assert dataset_numbers(published_listing(), []).at["duration", "value"] == "5:58:31"


def test_pieces_count_as_one_clip_and_unknown_labels_get_their_own_row():
    entry = {"group": "idle", "label": "idle", "frames": 100, "fps": 30.0, "subject": "00", "source": "a"}
    other = {**entry, "group": "motion", "label": "dance", "source": "b"}
    table = motion_table([entry, {**entry, "frames": 50}, other])
    assert table.loc["General Idle", ["Frames", "Clips"]].tolist() == [150, 1]
    assert table.loc["Motion: dance", "Frames"] == 100
    assert clock(59.99) == "0:59" and clock(3600) == "1:00:00"


def test_published_folds_are_shown_as_printed_and_their_balance_checked():
    folds = [fold._asdict() for fold in published_folds()[0]]
    table = fold_table(folds)
    published = published_item("staystill_table4")
    for split in ("1", "4"):
        for part in ("Train", "Validation", "Test"):
            printed = published.cells[split, part].printed.split()
            assert table.at[split, part].split() == sorted(printed, key=int)
    clips = [{"subject": f"{i:02d}", "frames": 1800, "fps": 30.0} for i in range(50)]
    balance = fold_balance(folds, clips)
    assert balance["disjoint"].all() and balance["test people"].tolist() == [10] * 5
    np.testing.assert_allclose(balance["train frames [%]"], 70.0)
    np.testing.assert_allclose(balance[["train minutes", "validation minutes", "test minutes"]], [[35, 5, 10]] * 5)
    broken = [{**folds[0], "test": [*folds[0]["test"], folds[0]["train"][0]]}]
    assert not fold_balance(broken, clips)["disjoint"].any()


def test_fault_table_adds_up():
    takes = [
        {"clip": "a", "group": "idle", "frames": 100, "published_removed": 20, "robust_removed": 0, "removed": 4},
        {"clip": "b", "group": "phone", "frames": 300, "published_removed": 0, "robust_removed": 30, "removed": 36},
        {"clip": "c", "group": "actions", "frames": 300, "published_removed": 99, "robust_removed": 99, "removed": 99},
    ]
    table = fault_table(takes)
    assert table.index.tolist() == ["a", "b", "all"]
    np.testing.assert_allclose(table.loc["all"], [400, 5.0, 7.5, 10.0])


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
