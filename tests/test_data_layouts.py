"""Folders of motion: which layout, whose clips, how they are read."""

import json
from dataclasses import replace

import numpy as np
import pytest

from motionbook import forward_kinematics, read_bvh, write_bvh
from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.data import layouts, names
from motionbook.data.catalogue import find_manifest
from motionbook.data.layouts import load_clip, open_dataset
from motionbook.data.published import published_item
from motionbook.files import files_below
from motionbook.skeletons import FREEMOCAP, LAFAN1, is_staystill, lafan_to_staystill, t_pose


def standing(skeleton=LAFAN1, frames=3, seed=0):
    """A standing person with some turns on every joint."""
    rng = np.random.default_rng(seed)
    world = t_pose(skeleton)
    local = world.copy()
    for joint, parent in enumerate(skeleton.parents[1:], start=1):
        local[joint] = rot.multiply(rot.inverse(world[parent]), world[joint])
    turns = rot.from_rotation_vector(rng.normal(0, 0.1, (frames, len(skeleton), 3)))
    root = np.tile([0.1, 0.95, 0.2], (frames, 1))
    return Clip(skeleton, root, rot.multiply(local, turns), 30.0)


def touch(folder, *files):
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("HIERARCHY\nROOT Hips\n{\n}\nMOTION\n")
    return folder


def found(dataset):
    return {c.path.name: (c.subject, c.group, c.label, c.take, c.piece) for c in dataset.clips}


# names


@pytest.mark.parametrize(
    ("stem", "subject", "label", "take", "piece"),
    [
        # the data folder's description: subject first
        ("00_lb_lef_1", "00", "lb_lef", "1", ""),
        ("07_l_up", "07", "l_up", "", ""),
        ("00_idle", "00", "idle", "", ""),
        ("49_phone", "49", "phone", "", ""),
        # the README: subject last
        ("idle_07", "07", "idle", "", ""),
        ("phone_7", "07", "phone", "", ""),
        ("lb_lef_1_00", "00", "lb_lef", "1", ""),
        ("wei_rl_2_9", "09", "wei_rl", "2", ""),
        ("yaw_31", "31", "yaw", "", ""),
        ("Idle_07", "07", "idle", "", ""),
        # pieces left by cutting: the person stays
        ("00_idle_1", "00", "idle", "", "1"),
        ("00_idle_12", "00", "idle", "", "12"),
        ("idle_00_3", "00", "idle", "", "3"),
        ("idle_07_12", "07", "idle", "", "12"),
        ("00_lb_lef_1_2", "00", "lb_lef", "1", "2"),
        ("lb_lef_1_00_3", "00", "lb_lef", "1", "3"),
        ("l_up_07_2", "07", "l_up", "", "2"),
        ("l_up_2_07", "07", "l_up", "2", ""),
        ("l_up_12_34", "34", "l_up", "12", ""),
        # people with names
        ("anna_idle", "anna", "idle", "", ""),
        ("anna_maria_t_fac_2", "anna_maria", "t_fac", "2", ""),
        ("idle_anna", "anna", "idle", "", ""),
        ("sc_arm_1_anna", "anna", "sc_arm", "1", ""),
        # labels of one's own
        ("00_wave_1", "00", "wave", "1", ""),
        ("wave_hand_1_03", "03", "wave_hand", "1", ""),
    ],
)
def test_staystill_names_in_all_their_forms(stem, subject, label, take, piece):
    assert names.staystill_name(stem) == (subject, label, take, piece)


@pytest.mark.parametrize(
    "stem", ["idle", "walk", "12", "00", "_idle_00", "idle__00", "00_idle_x", "idle_1_2_3_4", "a b_0"]
)
def test_names_that_do_not_say_who_moves(stem):
    assert names.staystill_name(stem) is None


def test_no_two_pieces_of_one_recording_get_two_people():
    for form in ("{s}_idle", "idle_{s}", "{s}_l_up_{t}", "l_up_{t}_{s}", "{s}_phone", "phone_{s}"):
        for subject in ("00", "07", "41"):
            stem = form.format(s=subject, t=2)
            people = {names.staystill_name(name).subject for name in (stem, *(f"{stem}_{i}" for i in range(1, 13)))}
            assert people == {subject}, form


def test_the_nineteen_labels_are_those_of_the_papers_table():
    rows = [row for row in published_item("staystill_table3").rows if row.startswith("Action")]
    assert len(rows) == len(set(names.ACTION_LABELS)) == 19
    assert {names.group_of(label) for label in names.ACTION_LABELS} == {"actions"}
    assert (names.group_of("idle"), names.group_of("phone"), names.group_of("walk")) == ("idle", "phone", "motion")


def test_names_of_the_other_data_sets():
    assert names.lafan1_name("fightAndSports1_subject4") == ("subject4", "fightAndSports", "1", "")
    assert names.lafan1_name("walk3_subject1_2") == ("subject1", "walk", "3", "2")
    assert names.lafan1_name("walk_subject1") is None and names.lafan1_name("walk1_subject") is None
    assert names.reactidle_name("015_genuine") == ("015", "genuine", "", "")
    assert names.reactidle_name("15_idle") is None
    assert names.worded_name("reach-P07") == ("07", "reach", "", "")
    assert names.worded_name("Subject3_walk").subject == names.worded_name("walk_s3").subject == "03"
    assert names.worded_name("steps3") is None
    assert names.two_number_name("05_12") == ("05", "motion", "12", "")


# StayStill


BOTH = [
    "freemocap/actions/00_lb_lef_1.bvh",
    "freemocap/idle/00_idle.bvh",
    "freemocap/phone/00_phone.bvh",
    "lafan/actions/00_lb_lef_1.bvh",
    "lafan/actions/l_up_2_01.bvh",
    "lafan/idle/00_idle.bvh",
    "lafan/idle/idle_01_3.bvh",
    "lafan/phone/phone_01.bvh",
]


def test_staystills_folder_is_recognised_and_both_orders_of_names_are_read(tmp_path):
    dataset = open_dataset(touch(tmp_path, *BOTH))
    assert dataset.layout == "staystill" and dataset.subjects == ("00", "01")
    assert found(dataset) == {
        "00_lb_lef_1.bvh": ("00", "actions", "lb_lef", "1", ""),
        "l_up_2_01.bvh": ("01", "actions", "l_up", "2", ""),
        "00_idle.bvh": ("00", "idle", "idle", "", ""),
        "idle_01_3.bvh": ("01", "idle", "idle", "", "3"),
        "phone_01.bvh": ("01", "phone", "phone", "", ""),
    }
    assert {clip.rig for clip in dataset.clips} == {"lafan"}
    assert "recognised as StayStill's layout" in dataset.notes
    assert "both rigs are there; lafan/ is read" in dataset.notes


def test_the_other_rig_is_read_when_asked_for(tmp_path):
    dataset = open_dataset(touch(tmp_path, *BOTH), rig="freemocap")
    assert {clip.path.parts[-3] for clip in dataset.clips} == {"freemocap"} and len(dataset.clips) == 3
    only = touch(tmp_path / "only", "Lafan/Idle/00_idle.bvh")
    assert open_dataset(only).clips[0].rig == "lafan"
    with pytest.raises(ValueError, match=r"only: has no freemocap/ with motion; there is lafan"):
        open_dataset(only, rig="freemocap")


@pytest.mark.parametrize(("root", "rig"), [("Hips", "lafan"), ("pelvis", "freemocap")])
def test_one_half_of_it_is_recognised_by_its_subfolders_and_joints(tmp_path, root, rig):
    touch(tmp_path, "half/idle/00_idle.bvh")
    (tmp_path / "half/idle/00_idle.bvh").write_text(f"HIERARCHY\nROOT {root}\n{{\n}}\nMOTION\n")
    assert open_dataset(tmp_path / "half").clips[0].rig == rig


def test_folders_within_folders_are_looked_through(tmp_path):
    touch(tmp_path, *("StayStill/dataset/" + name for name in BOTH))
    assert open_dataset(tmp_path).layout == "staystill"


def test_somebody_elses_data_in_that_layout_is_not_called_staystill(tmp_path):
    dataset = open_dataset(touch(tmp_path / "mine", *BOTH))
    assert dataset.label == "reader's folder mine" and dataset.name == "mine" and dataset.kind == "real"
    assert "not stated" in dataset.licence and dict(dataset.clips[0].read) == {}


def test_staystill_itself_is_known_by_its_counts_or_by_its_fetch_record(tmp_path, monkeypatch):
    (touch(tmp_path / "fetched", *BOTH) / "checksums.json").write_text('{\n "id": "staystill"\n}')
    dataset = open_dataset(tmp_path / "fetched")
    assert dataset.label == "StayStill, real, MIT" and dataset.licence == "MIT"
    assert dataset.clips[0].read["fps"] == 30 and "30 fps as the paper states" in dataset.fps_note

    manifest = find_manifest("staystill")
    counts = {f"**/lafan/{group}/*.bvh": n for group, n in (("actions", 2), ("idle", 2), ("phone", 1))}
    monkeypatch.setattr(layouts, "find_manifest", lambda _: replace(manifest, expected_files=counts))
    assert open_dataset(touch(tmp_path / "whole", *BOTH)).label == "StayStill, real, MIT"


def test_a_name_without_a_person_is_one_clear_error(tmp_path):
    touch(tmp_path, "lafan/idle/00_idle.bvh", "lafan/idle/somebody.bvh")
    with pytest.raises(ValueError, match=r"somebody.bvh: the name does not say who moves; expected <subject>_<label>"):
        open_dataset(tmp_path)
    dataset = open_dataset(tmp_path, subject_pattern=r"(?P<subject>[^/_]+)[^/]*\.bvh$")
    assert dataset.subjects == ("00", "somebody")
    with pytest.raises(ValueError, match=r"00_idle.bvh: the name does not match subject_pattern 'P"):
        open_dataset(tmp_path, subject_pattern=r"P(?P<subject>\d+)")
    with pytest.raises(ValueError, match=r"expected a group \(\?P<subject>"):
        open_dataset(tmp_path, subject_pattern=r"\d+")
    with pytest.raises(ValueError, match=r"not a regular expression"):
        open_dataset(tmp_path, subject_pattern="(")


def test_staystills_xyz_variant_is_turned_into_lafan1s_frames(tmp_path):
    clip = standing()
    (tmp_path / "lafan/idle").mkdir(parents=True)
    write_bvh(lafan_to_staystill(clip), tmp_path / "lafan/idle/00_idle.bvh", order="XYZ")
    write_bvh(clip, tmp_path / "lafan/idle/01_idle.bvh")
    assert is_staystill(read_bvh(tmp_path / "lafan/idle/00_idle.bvh").skeleton)
    variant, plain = map(load_clip, open_dataset(tmp_path).clips)
    for read in (variant, plain):
        assert read.skeleton.names == LAFAN1.names and read.fps == 30
        np.testing.assert_allclose(read.skeleton.offsets[1:], LAFAN1.offsets[1:], atol=1e-7)
        same = np.abs((read.rotations * clip.rotations).sum(-1))
        np.testing.assert_allclose(same, 1, atol=1e-9)
        np.testing.assert_allclose(forward_kinematics(read)[0], forward_kinematics(clip)[0], atol=1e-6)


def test_freemocaps_rig_is_read_as_it_is(tmp_path):
    clip = standing(FREEMOCAP)
    (tmp_path / "freemocap/idle").mkdir(parents=True)
    write_bvh(clip, tmp_path / "freemocap/idle/00_idle.bvh", metres_per_unit=1.0, order="XYZ")
    read = load_clip(open_dataset(tmp_path).clips[0])
    np.testing.assert_allclose(forward_kinematics(read)[0], forward_kinematics(clip)[0], atol=1e-5)


# dataset.json


def listing(folder, **changes):
    clips = [
        {"path": f"lafan/idle/{s}_idle.bvh", "subject": s, "group": "idle", "label": "idle", "frames": 3, "fps": 30.0}
        for s in ("00", "01", "02")
    ]
    folds = [{"train": ["00"], "validation": ["01"], "test": ["02"]}]
    about = {
        "name": "embedded",
        "label": "embedded performers (synthetic)",
        "kind": "synthetic",
        "licence": "MIT",
        "fps_note": "made at 30 fps",
        "clips": clips,
        "folds": folds,
    }
    touch(folder, *(clip["path"] for clip in clips))
    (folder / "dataset.json").write_text(json.dumps({**about, **changes}))
    return folder


def test_a_data_set_with_a_listing_is_what_the_listing_says(tmp_path):
    dataset = open_dataset(listing(tmp_path))
    assert (dataset.label, dataset.kind, dataset.licence) == ("embedded performers (synthetic)", "synthetic", "MIT")
    assert dataset.folds == ({"train": ["00"], "validation": ["01"], "test": ["02"]},)
    assert open_dataset(tmp_path / "lafan").label == "embedded performers (synthetic)"


def test_the_listing_outranks_the_names(tmp_path):
    clips = [{"path": "lafan/idle/00_idle.bvh", "subject": "anna", "group": "idle", "label": "waiting"}]
    dataset = open_dataset(listing(tmp_path, clips=clips))
    assert found(dataset)["00_idle.bvh"] == ("anna", "idle", "waiting", "", "")


def test_a_listing_that_is_wrong_or_ahead_of_its_files_is_one_clear_error(tmp_path):
    listing(tmp_path)
    (tmp_path / "lafan/idle/01_idle.bvh").unlink()
    with pytest.raises(FileNotFoundError, match=r"lists 1 files that are not there, the first lafan/idle/01"):
        open_dataset(tmp_path)
    listing(tmp_path, kind="made up")
    with pytest.raises(ValueError, match=r"kind: expected real or synthetic, got 'made up'"):
        open_dataset(tmp_path)
    (tmp_path / "dataset.json").write_text('{"name": "x"}')
    with pytest.raises(ValueError, match=r"dataset.json: expected name, label.*KeyError.*delete it to have"):
        open_dataset(tmp_path)


# ReActIdle, LaFAN1, any folder


def test_reactidle_one_person_may_be_acted_and_genuine(tmp_path):
    touch(tmp_path, "acted/007_acted.bvh", "genuine/007_genuine.bvh", "genuine/000_genuine.bvh", "acted/csv/x.bvh")
    dataset = open_dataset(tmp_path / ".")
    assert dataset.layout == "reactidle" and dataset.subjects == ("000", "007")
    assert found(dataset)["007_acted.bvh"] == ("007", "idle", "acted", "", "")
    assert dataset.label.startswith("reader's folder"), "none of these files has the published checksum"
    assert "0 of 3 files have the published checksum" in dataset.notes
    with pytest.raises(ValueError, match=r"FreeMoCap's rig only"):
        open_dataset(tmp_path, rig="lafan")


def test_acted_clips_among_the_genuine_ones_are_not_that_layout(tmp_path):
    dataset = open_dataset(touch(tmp_path, "acted/007_acted.bvh", "acted/000_genuine.bvh"))
    assert dataset.layout == "bvh" and "people by ReActIdle's names" in dataset.notes


def test_the_real_reactidle(shared_data):
    dataset = open_dataset(shared_data / "reactidle")
    assert dataset.label == "ReActIdle, real, MIT; header 24 fps read as 30 fps (assumed)"
    assert (dataset.kind, dataset.licence, len(dataset.clips)) == ("real", "MIT", 12)
    assert "12 of 12 files have the published checksum" in dataset.notes
    assert len(dataset.subjects) == 9 and {clip.group for clip in dataset.clips} == {"idle"}
    by_name = {clip.path.name: clip for clip in dataset.clips}
    shortest = by_name["003_genuine.bvh"]
    assert dict(shortest.read) == {"fps": 30, "positions": "add_root", "metres_per_unit": 1}
    clip = load_clip(shortest)
    assert clip.fps == 30.0 and len(clip) == 918, "the same rows, relabelled"
    positions = forward_kinematics(clip)[0]
    feet = [clip.skeleton.index("foot.L"), clip.skeleton.index("foot.R")]
    ankle = np.median(positions[:, feet, 1], axis=0)
    assert ((ankle > 0.03) & (ankle < 0.12)).all(), "ankles stand above the floor, not 0.6 m under it"
    head = np.median(positions[:, clip.skeleton.index("face"), 1])
    assert 0.9 < head < 1.8


def test_lafan1(shared_data):
    dataset = open_dataset(shared_data / "bvh" / "lafan1")
    assert dataset.layout == "lafan1" and dataset.label == "LaFAN1, real, CC BY-NC-ND 4.0"
    assert found(dataset)["walk1_subject1.bvh"] == ("subject1", "motion", "walk", "1", "")
    clip = load_clip(next(clip for clip in dataset.clips if clip.label == "run"))
    assert clip.fps == 30.0 and len(clip) == 1800
    # the first 300 frames of walk1 are file 01 of the reader's truth collection, in centimetres
    truth = json.loads((shared_data / "bvh" / "truth" / "01.json").read_text())
    walk = load_clip(next(clip for clip in dataset.clips if clip.label == "walk"))
    positions = forward_kinematics(walk[:300])[0]
    for row, when in ((0, "first"), (299, "last")):
        np.testing.assert_allclose(positions[row] * 100, truth["replace"][when], atol=2e-4)


def test_lafan1s_names_with_other_joints_are_not_called_lafan1(tmp_path):
    dataset = open_dataset(touch(tmp_path / "mine", "walk1_subject1.bvh"))
    assert dataset.layout == "lafan1" and dataset.label == "reader's folder mine"
    # on LaFAN1's skeleton, but not its actor: retargeted clips of anybody look like this
    write_bvh(standing(), tmp_path / "retargeted" / "walk1_subject1.bvh")
    assert open_dataset(tmp_path / "retargeted").label == "reader's folder retargeted"


def test_motionbooks_own_results_are_called_what_they_are(tmp_path):
    write_bvh(standing(), tmp_path / "results" / "01_capture" / "clips" / "00_idle.bvh")
    (tmp_path / "results" / "runs").mkdir()
    record = tmp_path / "results" / "runs" / "01_capture.json"
    record.write_text(json.dumps({"data_label": "embedded performers (synthetic)"}))
    dataset = open_dataset(tmp_path / "results" / "01_capture" / "clips")
    assert dataset.kind == "synthetic"
    assert dataset.label == "01_capture/clips of a Motionbook run on embedded performers (synthetic)"
    record.write_text(json.dumps({"data_label": "ReActIdle, real, MIT"}))
    assert open_dataset(tmp_path / "results" / "01_capture" / "clips").kind == "real"
    with pytest.raises(ValueError, match=r"got the results of all chapters; name .*02_cleaning/dataset"):
        open_dataset(tmp_path / "results")


def test_linked_folders_are_looked_into(tmp_path):
    touch(tmp_path / "disk", "walk_subject3.bvh")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "there").symlink_to(tmp_path / "disk")
    (tmp_path / "disk" / "back").symlink_to(tmp_path / "disk")
    assert list(found(open_dataset(tmp_path / "mine"))) == ["walk_subject3.bvh"]
    with pytest.raises(FileNotFoundError, match="gone"):
        files_below(tmp_path / "gone")


@pytest.mark.parametrize(
    ("files", "subjects", "rule"),
    [
        (["wave_1_03.bvh", "more/nod_03.bvh"], ("03",), "the number before or after the words"),
        (["00_l_up_1.bvh", "00_idle_2.bvh"], ("00",), "StayStill's names"),
        (["reach_P07.bvh", "walk-p8.bvh"], ("07", "08"), "the words subject, person, actor or p with a number"),
        (["05_12.bvh", "05_13.bvh", "16_01.bvh"], ("05", "16"), "two numbers"),
        (["a/one.bvh", "a/two.bvh"], ("one", "two"), "every file counts as its own person"),
        (["05_12.bvh", "walk.bvh"], ("05_12", "walk"), "every file counts as its own person"),
    ],
)
def test_any_folder_people_by_the_first_rule_that_fits_all_files(tmp_path, files, subjects, rule):
    dataset = open_dataset(touch(tmp_path / "mine", *files))
    assert dataset.layout == "bvh" and dataset.subjects == subjects
    assert any(rule in note for note in dataset.notes)
    assert dataset.label == "reader's folder mine" or dataset.label == "reader's folder a"


def test_a_layout_can_be_forced_and_is_refused_where_it_is_not(tmp_path):
    touch(tmp_path, *BOTH)
    assert open_dataset(tmp_path, layout="bvh").layout == "bvh"
    with pytest.raises(ValueError, match=r"not laid out like reactidle: expected acted/ or genuine/"):
        open_dataset(tmp_path, layout="reactidle")
    with pytest.raises(ValueError, match=r"not laid out like lafan1"):
        open_dataset(tmp_path, layout="lafan1")
    with pytest.raises(ValueError, match=r"layout: expected one of auto, staystill, reactidle, lafan1, bvh, got 'cmu'"):
        open_dataset(tmp_path, layout="cmu")
    with pytest.raises(ValueError, match=r"rig: expected one of auto, lafan, freemocap, got 'smpl'"):
        open_dataset(tmp_path, rig="smpl")


def test_folders_without_motion_say_how_to_get_some(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no folder .*nowhere; data sets .* motionbook data fetch"):
        open_dataset(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"no .bvh file in it"):
        open_dataset(tmp_path)
    (tmp_path / "all.zip").touch()
    with pytest.raises(ValueError, match=r"all.zip: expected a folder of BVH files, got a file"):
        open_dataset(tmp_path / "all.zip")


def test_hidden_files_are_not_motion(tmp_path):
    touch(tmp_path, "mine/walk_01.bvh", "mine/._walk_01.bvh", "mine/.partial/run_01.bvh", "mine/NOD_01.BVH")
    assert [clip.path.name for clip in open_dataset(tmp_path / "mine").clips] == ["NOD_01.BVH", "walk_01.bvh"]


def test_a_bad_file_is_one_error_that_names_it(tmp_path):
    touch(tmp_path, "walk_01.bvh")
    with pytest.raises(ValueError, match=r"walk_01.bvh"):
        load_clip(open_dataset(tmp_path).clips[0])
