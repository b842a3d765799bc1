"""The folder that the performers are written to: StayStill's layout, two rigs of one motion, equal bytes each time."""

import hashlib

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.bvh import read_bvh
from motionbook.clip import Clip
from motionbook.data.layouts import open_dataset
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import FREEMOCAP, LAFAN1
from motionbook.synthesis import dataset
from motionbook.synthesis.actions import ACTION_ROWS
from motionbook.synthesis.dataset import motions_of, takes_of
from motionbook.synthesis.freemocap_rig import freemocap_skeleton
from motionbook.synthesis.performers import ACTIONS, action, idle, make_performer, to_freemocap, write_dataset


def digests(folder):
    return {p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.rglob("*.bvh")}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("performers")
    return folder, write_dataset(folder, 2, 5.0, 4.0, 1, seed=3)


def test_layout_and_names(written):
    folder, files = written
    expected = set()
    for rig in ("freemocap", "lafan"):
        for subject in ("00", "01"):
            expected |= {f"{rig}/idle/{subject}_idle.bvh", f"{rig}/phone/{subject}_phone.bvh"}
            expected |= {f"{rig}/actions/{subject}_{label}_1.bvh" for label in ACTIONS}
    assert {p.relative_to(folder).as_posix() for p in folder.rglob("*.bvh")} == expected
    assert len(files) == len(expected)


def test_the_loader_of_the_published_data_reads_it(written):
    folder, _ = written
    data = open_dataset(folder, layout="staystill", rig="lafan")
    assert len(data.clips) == 2 * 21 and {c.subject for c in data.clips} == {"00", "01"}
    assert {c.group for c in data.clips} == {"idle", "phone", "actions"}
    assert {c.label for c in data.clips if c.group == "actions"} == set(ACTIONS)


def test_lafan_files_have_lafan1s_form_and_hold_the_motion(written):
    folder, _ = written
    path = folder / "lafan/idle/01_idle.bvh"
    text = path.read_text()
    assert "CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation" in text
    assert text.count("CHANNELS 3 Zrotation Yrotation Xrotation") == 21 and "Frame Time: 0.033333" in text
    clip, source = read_bvh(path, metres_per_unit=0.01, positions="replace", up="Y"), idle(make_performer(1, 3), 5.0)
    assert clip.skeleton.names == LAFAN1.names and clip.fps == pytest.approx(30.0, abs=1e-3)
    error = forward_kinematics(clip).positions - forward_kinematics(source).positions
    assert np.abs(error).max() < 1e-6


def test_equal_arguments_give_equal_bytes_and_people_do_not_depend_on_each_other(written, tmp_path):
    folder, _ = written
    write_dataset(tmp_path / "again", 2, 5.0, 4.0, 1, seed=3, rigs=("lafan",))
    write_dataset(tmp_path / "alone", [1], 5.0, 4.0, 1, seed=3, rigs=("lafan",))
    first = {k: v for k, v in digests(folder).items() if k.startswith("lafan")}
    assert digests(tmp_path / "again") == first
    assert digests(tmp_path / "alone") == {k: v for k, v in first.items() if "/01_" in k}
    write_dataset(tmp_path / "other", 1, 5.0, 0.0, 0, seed=4, rigs=("lafan",))
    assert digests(tmp_path / "other")["lafan/idle/00_idle.bvh"] != first["lafan/idle/00_idle.bvh"]


def test_takes_count_from_one(tmp_path):
    write_dataset(tmp_path, [7], 0.0, 0.0, 2, seed=0, rigs=("freemocap",))
    names = sorted(p.name for p in (tmp_path / "freemocap/actions").iterdir())
    assert names == sorted(f"07_{label}_{take}.bvh" for label in ACTIONS for take in (1, 2))


def test_unknown_rig_is_refused(tmp_path):
    with pytest.raises(ValueError, match="freemocap, lafan"):
        write_dataset(tmp_path, 1, 1.0, 1.0, 1, 0, rigs=("mixamo",))


@pytest.mark.parametrize("label", ["idle", "st_arm", "sc_leg", "lb_lef"])
def test_both_rigs_put_the_same_joints_in_the_same_places(label):
    """Hips, knees, ankles, toes and wrists exactly, the rest of the upper body within 15 mm."""
    person = make_performer(6, 2)
    clip = idle(person, 10.0) if label == "idle" else action(person, label)
    twin = to_freemocap(clip)
    assert twin.skeleton.names == FREEMOCAP.names and twin.translations is None and twin.fps == clip.fps
    lafan, (places, turns) = forward_kinematics(clip).positions, forward_kinematics(twin)
    ends = {j: np.array(o) for j, o in twin.skeleton.end_offsets}
    for side, s in (("Left", "L"), ("Right", "R")):
        pairs = [("UpLeg", "thigh", 1e-6), ("Leg", "shin", 1e-6), ("Foot", "foot", 1e-6)]
        pairs += [("Arm", "upper_arm", 0.015), ("ForeArm", "forearm", 0.015)]
        for joint, name, tolerance in pairs:
            gap = places[:, twin.skeleton.index(f"{name}.{s}")] - lafan[:, clip.skeleton.index(side + joint)]
            assert np.linalg.norm(gap, axis=-1).max() < tolerance, name
        for joint, name in (("Toe", "foot"), ("Hand", "forearm")):
            j = twin.skeleton.index(f"{name}.{s}")
            tip = places[:, j] + rot.rotate(turns[:, j], ends[j])
            assert np.linalg.norm(tip - lafan[:, clip.skeleton.index(side + joint)], axis=-1).max() < 1e-5, name
    head = places[:, twin.skeleton.index("face")] - lafan[:, clip.skeleton.index("Head")]
    assert np.linalg.norm(head, axis=-1).max() < 0.01


def test_freemocap_rig_keeps_its_own_directions_at_the_persons_lengths():
    rig = freemocap_skeleton(make_performer(3, 0).skeleton)
    for joint in range(1, len(rig)):
        if FREEMOCAP.offsets[joint].any():
            cosine = rig.offsets[joint] @ FREEMOCAP.offsets[joint]
            assert cosine == pytest.approx(
                np.linalg.norm(rig.offsets[joint]) * np.linalg.norm(FREEMOCAP.offsets[joint])
            )
    average = freemocap_skeleton(LAFAN1)
    # the core's table was made for the same average body
    assert np.abs(np.linalg.norm(average.offsets, axis=-1) - np.linalg.norm(FREEMOCAP.offsets, axis=-1)).max() < 0.03
    with pytest.raises(ValueError, match="retarget"):
        to_freemocap(Clip(FREEMOCAP, np.zeros((1, 3)), rot.identity((1, 19)), 30.0))


def test_a_written_data_set_is_known_as_synthetic(tmp_path):
    write_dataset(tmp_path / "people", 1, 2.0, 0, 0, seed=0, rigs=("lafan",))
    opened = open_dataset(tmp_path / "people")
    assert (opened.kind, opened.label) == ("synthetic", "embedded performers (synthetic)")


def test_published_takes_add_up_to_table_3():
    people = [takes_of(place, 50) for place in range(50)]
    for row in ACTION_ROWS:
        counts = [takes[row.code] for takes in people]
        assert sum(counts) == row.clips and max(counts) - min(counts) <= 1
    # nobody does much more than the others
    totals = [sum(takes.values()) for takes in people]
    assert sum(totals) == 1534 and max(totals) - min(totals) <= 1
    assert sum(sum(takes_of(place, 7).values()) for place in range(7)) == 1534


def test_takes_by_label_are_the_same_motions_as_by_number():
    own = dict.fromkeys(ACTIONS, 0) | {"yaw": 2, "lb_lef": 1}
    by_label = dict(motions_of(4, 0.0, 0.0, own, seed=3))
    by_number = dict(motions_of(4, 0.0, 0.0, 2, seed=3))
    assert sorted(by_label) == ["actions/04_lb_lef_1", "actions/04_yaw_1", "actions/04_yaw_2"]
    for name, clip in by_label.items():
        np.testing.assert_array_equal(clip.rotations, by_number[name].rotations)


def test_the_published_number_of_takes_is_written(tmp_path, monkeypatch):
    asked = []

    def few(place, people):
        asked.append((place, people))
        return {"yaw": 1 + place}

    monkeypatch.setattr(dataset, "takes_of", few)
    files = write_dataset(tmp_path, [3, 8], 0.0, 0.0, "published", seed=3, rigs=("lafan",))
    assert [path.stem for path in files] == ["03_yaw_1", "08_yaw_1", "08_yaw_2"] and asked == [(0, 2), (1, 2)]
