"""Sessions cut by a table: what is wrong is said by line, what is right comes out whole under the published names."""

import json

import numpy as np
import pytest
from clips_for_editing import assert_same, moving

from motionbook import read_bvh, write_bvh
from motionbook.cleaning import takes_folder
from motionbook.cleaning.dataset import clean_take
from motionbook.cleaning.label_tables import LabelError, Take, read_labels, rows_of_takes, write_labels
from motionbook.cleaning.segmentation import segment
from motionbook.cleaning.takes_folder import write_takes
from motionbook.data.layouts import open_dataset
from motionbook.data.names import staystill_name
from motionbook.files import sha256
from motionbook.skeletons import CSKEL27, FREEMOCAP, LAFAN1


def table(tmp_path, text):
    path = tmp_path / "labels.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def recordings():
    return {"07_session": moving(LAFAN1, 300, 1), "session_12": moving(LAFAN1, 200, 2)}


def spans(result):
    return [(take.clip, take.start, take.stop, take.label) for take in result.takes]


def test_files_are_inclusive_and_takes_half_open(tmp_path, recordings):
    path = table(
        tmp_path, "clip,from,to,label\n07_session,10,49,yaw\nsession_12.bvh,0,199,idle\n07_session,50,50,l_up\n"
    )
    result = segment(recordings, path)
    assert spans(result) == [
        ("07_session", 10, 50, "yaw"),
        ("07_session", 50, 51, "l_up"),
        ("session_12", 0, 200, "idle"),
    ]
    assert [len(clip) for clip in result.clips] == [40, 1, 200]
    assert_same(result.clips[0], recordings["07_session"][10:50], 1e-15)
    assert [take.line for take in result.takes] == [2, 4, 3]
    assert [take.subject for take in result.takes] == ["07", "07", "12"]


def test_seconds_take_the_frames_between_and_share_none(tmp_path, recordings):
    path = table(
        tmp_path,
        "clip,from seconds,to seconds,label\n07_session,0.5,1,yaw\n07_session,1.0,2.01,l_up\n07_session,9,10,idle\n",
    )
    # frames 15..30, of which 30 is the next one's; 30..60; 270..299, as 10 s is where the recording ends
    assert [take[1:3] for take in segment(recordings, path).takes] == [(15, 30), (30, 61), (270, 300)]
    plain = table(tmp_path, "clip,from,to,label\n07_session,0.5,1,yaw\n")
    assert segment(recordings, plain, unit="seconds").takes[0][1:3] == (15, 31)
    with pytest.raises(LabelError, match=r"line 2: expected a whole frame number in 'from', got '0\.5'"):
        segment(recordings, plain)


def test_other_ways_to_write_a_table(tmp_path, recordings):
    text = "\ufeff# who: nobody\nAnimation name;From frame;To frame;Label;note\n\n session_07 ;1;2; Scratch Head ;x\n"
    result = segment(recordings, table(tmp_path, text))  # both naming orders, words of the table, semicolons, a BOM
    assert spans(result) == [("07_session", 1, 3, "sc_hea")] and result.takes[0].line == 4


BAD = """clip,from,to,label
07_session,10,49,yaw
07_session,49,80,l_up
07_session,90,85,l_up
07_session,290,300,l_up
07_sesion,0,5,l_up
07_session,100,110,scratch hed
07_session,ten,110,yaw
07_session,120,130
07_session,140,150,
07_session,60,95,sc_arm
session_12,0,1e9,idle
session_12,-5,4,idle
"""
WRONG = {
    3: "overlaps line 2 in 07_session: frames 49 to 49 are in both",
    4: "ends before it starts: 90 to 85",
    5: "290 to 300 is outside 07_session, which has 0 to 299",
    6: "unknown clip '07_sesion'; did you mean 07_session?",
    7: "unknown label 'scratch hed'; did you mean scratch head?",
    8: "expected a whole frame number in 'from', got 'ten'",
    9: "expected 4 fields, got 3",
    10: "no label; fill it in or delete the line",
    11: "overlaps line 3 in 07_session: frames 60 to 80 are in both",
    12: "0 to 1e+09 is outside session_12, which has 0 to 199",
    13: "-5 to 4 is outside session_12, which has 0 to 199",
}


def test_everything_wrong_is_said_at_once(tmp_path, recordings):
    path = table(tmp_path, BAD)
    with pytest.raises(LabelError) as error:
        segment(recordings, path)
    assert {problem.line: problem.text for problem in error.value.problems} == WRONG
    assert str(error.value).startswith(f"{path}: 11 problems\n  line 3: overlaps line 2")
    # without the recordings, what the file alone shows
    with pytest.raises(LabelError) as error:
        read_labels(path)
    assert [problem.line for problem in error.value.problems] == [4, 8, 9, 10]


def test_lines_with_problems_are_left_out_on_request(tmp_path, recordings):
    result = segment(recordings, table(tmp_path, BAD), on_problem="skip")
    # line 11 overlaps only what was left out, so it stays
    assert spans(result) == [("07_session", 10, 50, "yaw"), ("07_session", 60, 96, "sc_arm")]
    assert [problem.line for problem in result.problems] == [line for line in WRONG if line != 11]
    with pytest.raises(ValueError, match="on_problem: expected refuse or skip"):
        segment(recordings, table(tmp_path, BAD), on_problem="ignore")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clip,from,to\nx,1,2\n", "missing or there twice: label"),
        ("clip,from,from,to,label\n", "missing or there twice: from"),
        ("clip,from frame,to seconds,label\n", "expected one unit, got from and to in frames and seconds"),
        ("", "found nothing"),
    ],
)
def test_a_table_without_its_columns_is_refused(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        read_labels(table(tmp_path, text))


def test_labels_of_ones_own(tmp_path, recordings):
    path = table(tmp_path, "clip,from,to,label\n07_session,0,9,wave\n07_session,20,29,../wave\n")
    with pytest.raises(LabelError, match="unknown label 'wave'"):
        segment(recordings, path)
    with pytest.raises(LabelError, match=r"line 3: label '\.\./wave' cannot stand in a file name"):
        segment(recordings, path, labels=None)
    assert [take.label for take in segment(recordings, path, labels=None, on_problem="skip").takes] == ["wave"]
    assert [take.line for take in segment(recordings, path, labels=("WAVE",), on_problem="skip").takes] == [2]


def test_tables_are_written_as_they_are_read(tmp_path):
    takes = (Take("07_session", 3, 40, "yaw", "07", "2"), Take("a/b, c", 50, 51, "idle"))
    path = write_labels(tmp_path / "t.csv", takes, (0.5, 0.25))
    assert path.read_text().splitlines() == [
        "clip,from frame,to frame,label,subject,take,confidence",
        "07_session,3,39,yaw,07,2,0.500",
        '"a/b, c",50,50,idle,,,0.250',
    ]
    assert read_labels(path) == rows_of_takes(takes)


def sessions(folder, rig=LAFAN1):
    for name, frames, seed in (("07_session", 300, 1), ("session_12", 200, 2)):
        write_bvh(moving(rig, frames, seed, translations=rig is FREEMOCAP), folder / f"{name}.bvh")
    return folder


GOOD = """clip,from,to,label,subject,take
07_session,0,49,yaw,,
07_session,60,99,yaw,,
07_session,100,149,yaw,,2
07_session,150,200,idle,,
07_session,210,250,idle,,
session_12,0,99,look around,,
session_12,100,149,phone,,
session_12,150,180,lb_lef,3,
"""
NAMES = {
    "actions/07_yaw_1": (0, 49),
    "actions/07_yaw_3": (60, 99),
    "actions/07_yaw_2": (100, 149),
    "idle/07_idle_1": (150, 200),
    "idle/07_idle_2": (210, 250),
    "actions/12_l_aro_1": (0, 99),
    "phone/12_phone": (100, 149),
    "actions/03_lb_lef_1": (150, 180),
}


@pytest.mark.parametrize("rig", [LAFAN1, FREEMOCAP], ids=["lafan", "freemocap"])
def test_takes_are_written_under_their_published_names(tmp_path, rig):
    source = sessions(tmp_path / "in", rig)
    written = write_takes(source, table(tmp_path, GOOD), tmp_path / "out")
    word = "lafan" if rig is LAFAN1 else "freemocap"
    entries = {entry["path"]: entry for entry in written.listing["clips"]}
    assert set(entries) == {f"{word}/{name}.bvh" for name in NAMES}
    assert json.loads((tmp_path / "out/dataset.json").read_text()) == written.listing
    for name, (first, last) in NAMES.items():
        entry = entries[f"{word}/{name}.bvh"]
        origin = source / entry["source"]
        assert (entry["first"], entry["last"], entry["source_sha256"]) == (first, last, sha256(origin))
        whole, piece = read_bvh(origin), read_bvh(tmp_path / "out" / entry["path"])
        assert len(piece) == entry["frames"] == last + 1 - first
        assert_same(piece, whole[first : last + 1], 2e-7)
        assert entry["source_frames"] == len(whole) and entry["fps"] == entry["source_fps"] == 30.0
        named = staystill_name(name.rsplit("/", 1)[-1])
        assert (named.subject, named.label) == (entry["subject"], entry["label"])
    found = open_dataset(tmp_path / "out")
    assert found.layout == "staystill" and len(found.clips) == 8 and found.subjects == ("03", "07", "12")
    assert {clip.group for clip in found.clips} == {"actions", "idle", "phone"}


def test_equal_tables_give_equal_bytes_and_takes_can_be_prepared(tmp_path):
    source = sessions(tmp_path / "in")
    for name in ("a", "b"):
        write_takes(source, table(tmp_path, GOOD), tmp_path / name, prepare=clean_take)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*.*"))
    assert len(files) == 9
    assert all((tmp_path / "a" / f).read_bytes() == (tmp_path / "b" / f).read_bytes() for f in files)
    piece = read_bvh(tmp_path / "a/lafan/actions/07_yaw_3.bvh")
    assert_same(piece, clean_take(read_bvh(source / "07_session.bvh")[60:100]), 2e-7)


def test_nothing_is_half_written(tmp_path, monkeypatch):
    source, path, out = sessions(tmp_path / "in"), table(tmp_path, GOOD), tmp_path / "out"
    calls = []

    def full(clip, target, **options):
        if len(calls) == 3:
            raise OSError("no space left")
        calls.append(target)
        return write_bvh(clip, target, **options)

    monkeypatch.setattr(takes_folder, "write_bvh", full)
    with pytest.raises(OSError, match="no space"):
        write_takes(source, path, out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "labels.csv"]
    monkeypatch.undo()
    write_takes(source, path, out)
    before = {p: p.read_bytes() for p in out.rglob("*.bvh")}
    calls.clear()
    monkeypatch.setattr(takes_folder, "write_bvh", full)
    with pytest.raises(OSError, match="no space"):
        write_takes(source, path, out, replace=True)
    assert {p: p.read_bytes() for p in out.rglob("*.bvh")} == before


def test_a_folder_in_use_is_not_touched(tmp_path):
    source, path, out = sessions(tmp_path / "in"), table(tmp_path, GOOD), tmp_path / "out"
    out.mkdir()
    write_takes(source, path, out)  # empty is as good as new
    with pytest.raises(ValueError, match="replace=True"):
        write_takes(source, path, out)
    (out / "lafan/idle/old.bvh").write_text("left over")
    write_takes(source, path, out, replace=True)
    assert not (out / "lafan/idle/old.bvh").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in", "labels.csv", "out"]
    with pytest.raises(ValueError, match=r"no dataset\.json"):
        write_takes(source, path, source, replace=True)


def test_what_cannot_be_named_is_reported_with_the_rest(tmp_path):
    source = sessions(tmp_path / "in")
    (source / "07_session.bvh").rename(source / "morning.bvh")
    text = (
        "clip,from,to,label,subject,take\nmorning,0,9,yaw,,\nmorning,20,29,yaw,1/2,\nmorning,30,39,yaw,5,last\n"
        "morning,40,49,yaw,5,1\nmorning,60,69,yaw,05,01\nmorning,65,70,yow,5,\n"
    )
    with pytest.raises(LabelError) as error:
        write_takes(source, table(tmp_path, text), tmp_path / "out")
    assert {problem.line: problem.text for problem in error.value.problems} == {
        2: "the name 'morning' does not say who moves; add a column subject",
        3: "subject '1/2' cannot stand in a file name",
        4: "expected a number in 'take', got 'last'",
        6: "take 1 of yaw is on line 5 already",
        7: "unknown label 'yow'; did you mean yaw?",
    }
    assert not (tmp_path / "out").exists()
    written = write_takes(source, table(tmp_path, text), tmp_path / "out", on_problem="skip")
    assert [entry["path"] for entry in written.listing["clips"]] == ["lafan/actions/05_yaw_1.bvh"]
    assert len(written.problems) == 5
    with pytest.raises(ValueError, match="at least one take to write"):
        write_takes(source, table(tmp_path, "clip,from,to,label\nx,0,1,yaw\n"), tmp_path / "new", on_problem="skip")
    assert not (tmp_path / "new").exists()


def test_another_rig_is_refused_before_anything_is_there(tmp_path):
    write_bvh(moving(CSKEL27, 30), tmp_path / "in/01_session.bvh")
    with pytest.raises(ValueError, match="27 joints with the root Hips; retarget the recording first"):
        write_takes(tmp_path / "in", table(tmp_path, "clip,from,to,label\n01_session,0,9,yaw\n"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_recordings_of_one_name_are_told_by_their_folders(tmp_path):
    for day, frames in (("monday", 20), ("friday", 40)):
        write_bvh(moving(LAFAN1, frames), tmp_path / f"in/{day}/01_session.bvh")
    text = "clip,from,to,label\n01_session,0,9,yaw\nfriday/01_session.bvh,0,39,yaw\n"
    with pytest.raises(LabelError, match="line 2: clip '01_session' could be friday/01_session or monday/01_session"):
        write_takes(tmp_path / "in", table(tmp_path, text), tmp_path / "out")
    written = write_takes(tmp_path / "in", table(tmp_path, text), tmp_path / "out", on_problem="skip")
    assert written.listing["clips"][0]["source"] == "friday/01_session.bvh"
    assert np.isclose(written.listing["clips"][0]["frames"], 40)
