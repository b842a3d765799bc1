"""The published fault rule with its arithmetic by hand, the floor, the authors' slips, annotations."""

import pickle

import numpy as np
import pytest

from motionbook import read_bvh
from motionbook import rotations as rot
from motionbook.cleaning import cut_faults, find_faults
from motionbook.cleaning.faults import (
    apply_ranges,
    clip_key,
    cut_rows,
    find_published_faults,
    join_faults,
    joint_speeds,
    listed_faults,
    read_annotations,
    runs,
    write_cuts,
)
from motionbook.clip import Clip
from motionbook.skeletons import LAFAN1


def gliding(frames=400, jumps=(), fps=30.0):
    """A rigid figure whose root moves 1 cm per frame, and jumps 20 cm into each frame of ``jumps``."""
    step = np.full(frames, 0.01)
    step[list(jumps)] = 0.2
    path = np.cumsum(step)[:, None] * [1.0, 0, 0]
    return Clip(LAFAN1, path, rot.identity((frames, 22)), fps)


def test_a_jump_is_cut_with_ten_frames_on_both_sides():
    """Half-open: frames 190 to 210 are bad, the pieces are 0-189 and 211-399, and no good frame is lost."""
    clip = gliding(jumps=[200])
    faults = find_published_faults(clip)
    assert [(f.start, f.stop, f.frame) for f in faults.faults] == [(190, 211, 200)]
    assert faults.faults[0].speed == pytest.approx(6.0) and faults.faults[0].z == pytest.approx(np.sqrt(399), rel=1e-6)
    assert faults.kept == ((0, 190), (211, 400)) and faults.removed == 21
    pieces = cut_faults(clip, faults)
    assert [len(piece) for piece in pieces] == [190, 189]
    np.testing.assert_array_equal(pieces[1].root_positions[-1], clip.root_positions[-1])


def test_short_runs_are_dropped_and_a_fault_at_the_end_leaves_no_empty_piece():
    faults = find_published_faults(gliding(jumps=[100, 175, 395]))
    # 111..164 are 54 frames: too short; the last fault reaches the end
    assert faults.kept == ((0, 90), (186, 385)) and faults.removed == 400 - 90 - 199
    assert len(cut_faults(gliding(jumps=[100, 175, 395]), faults)) == 2
    assert find_published_faults(gliding(jumps=[100, 175, 395]), min_seconds=54 / 30).kept[1] == (111, 165)


def test_seconds_not_frames():
    fast = find_published_faults(gliding(800, jumps=[400], fps=60.0))
    assert [(f.start, f.stop) for f in fast.faults] == [(380, 421)] and fast.kept == ((0, 380), (421, 800))


def test_a_clip_without_faults_is_kept_whole_however_short():
    assert find_published_faults(gliding(20)).kept == ((0, 20),)


def test_speed_floor_spares_still_clips():
    """One weight shift in a minute of standing still is an outlier to a z-score, not to a person."""
    still = gliding(600)
    path = np.zeros((600, 3))
    path[300:310, 0] = np.linspace(0, 0.02, 10)  # 2 mm per frame
    path[310:, 0] = 0.02
    clip = Clip(LAFAN1, path, still.rotations, 30.0)
    assert find_published_faults(clip, min_speed=0.0).removed > 20
    assert find_published_faults(clip, min_speed=2.0).removed == 0
    assert joint_speeds(clip).max() < 0.1


def test_published_rule_on_real_clips(shared_data):
    """ReActIdle: the published rule removes 6 to 25 % of every clip, also of one in which nothing moves."""
    share = {}
    for path in sorted((shared_data / "reactidle").glob("*/*.bvh")):
        clip = read_bvh(path, positions="add_root", fps=30.0)
        share[path.stem] = find_faults(clip, method="published").removed / len(clip)
        if path.stem == "010_acted":
            assert joint_speeds(clip).max() < 0.15  # 5 mm per frame
    assert len(share) == 12 and min(share.values()) > 0.06 and max(share.values()) < 0.25
    assert share["010_acted"] == min(share.values()) == pytest.approx(0.064, abs=5e-4)
    assert share["002_genuine"] == max(share.values()) == pytest.approx(0.248, abs=5e-4)


def test_the_window_is_even_and_no_good_frame_is_lost():
    """The authors' script takes frames -10 to +9 and drops the last good frame of every piece; here neither happens."""
    clip = gliding(600, jumps=[300])
    kept = find_faults(clip, method="published").kept
    assert kept == ((0, 290), (311, 600))
    assert sum(stop - start for start, stop in kept) == 600 - 21


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="expected one of robust, published"):
        find_faults(gliding(), method="magic")


def test_listed_ranges_are_inclusive():
    clip = gliding(100)
    faults = listed_faults(clip, [(10, 19), (95, 99)])
    assert faults.kept == ((0, 10), (20, 95)) and faults.removed == 15
    with pytest.raises(ValueError, match="last < 100 frames, got 90 to 100"):
        listed_faults(clip, [(90, 100)])


def test_listed_ranges_are_cut_kept_or_extracted():
    clip = gliding(100)
    ranges = [(10, 19), (95, 99)]
    faults, pieces = apply_ranges(clip, ranges)
    assert [len(p) for p in pieces] == [10, 75] and faults.kept == ((0, 10), (20, 95))
    faults, pieces = apply_ranges(clip, ranges, "keep")
    assert [len(p) for p in pieces] == [100] and [(f.start, f.stop) for f in faults.faults] == [(10, 20), (95, 100)]
    assert cut_rows("x", faults) == []  # nothing is removed
    faults, pieces = apply_ranges(clip, ranges, "extract")
    assert [len(p) for p in pieces] == [10, 5]
    np.testing.assert_array_equal(pieces[1].root_positions, clip.root_positions[95:])
    with pytest.raises(ValueError, match="expected one of cut, keep, extract"):
        apply_ranges(clip, ranges, "drop")


def test_every_removed_frame_has_a_row_and_the_file_reads_back(tmp_path):
    """Rows are inclusive, say which rule, and their union is what is missing; frames of short runs are named so."""
    clip = gliding(jumps=[100, 175, 395])
    both = join_faults(find_published_faults(clip), listed_faults(clip, [(300, 309)]), clip.fps)
    rows = cut_rows("07_idle", both)
    gone = np.zeros(400, dtype=bool)
    for row in rows:
        gone[row["From frame"] : row["To frame"] + 1] = True
        assert row["Frames"] == row["To frame"] - row["From frame"] + 1
    np.testing.assert_array_equal(gone, both.removed_mask())
    assert {row["Source"] for row in rows} == {"published rule", "listed by hand", "short run"}
    assert [(r["From frame"], r["To frame"]) for r in rows if r["Source"] == "listed by hand"] == [(300, 309)]
    assert [(r["From frame"], r["To frame"]) for r in rows if r["Source"] == "short run"] == [(111, 164)]
    write_cuts(tmp_path / "cuts.csv", rows)
    found = read_annotations(tmp_path / "cuts.csv")[clip_key("Idle_07")]
    assert found == [(row["From frame"], row["To frame"]) for row in rows]
    again = listed_faults(clip, found)
    np.testing.assert_array_equal(again.removed_mask(), both.removed_mask())


def test_names_in_both_orders_are_one_clip_and_numbers_are_not_substrings():
    assert clip_key("Idle_07") == clip_key("07_idle") == clip_key("7_idle.bvh") == ("07", "idle")
    assert clip_key("01_idle") != clip_key("10_idle") and clip_key("01_idle") != clip_key("21_idle")
    assert clip_key("05_check_watch_2") == ("05", "check_watch_2")
    assert clip_key("03_rub.bvh") == ("03", "rub")  # only the suffix goes, not letters of the name
    with pytest.raises(ValueError, match="subject number"):
        clip_key("idle")


def test_annotations_of_the_authors(shared_data):
    found = read_annotations(shared_data / "staystill" / "removeParts.csv")
    ranges = [r for clip in found.values() for r in clip]
    assert len(found) == 25 and len(ranges) == 82
    assert sum(last - first + 1 for first, last in ranges) == 6345
    assert found[clip_key("01_idle")] == [(2843, 2854)]


@pytest.mark.parametrize(
    "row, message",
    [
        ("Idle_01,12,4", "line 2: the range ends before"),
        ("Idle_01,x,4", "line 2: expected two frame numbers"),
        (" ,1,2", "line 2: expected the name of a clip"),
    ],
)
def test_bad_annotations_are_refused_with_their_line(tmp_path, row, message):
    path = tmp_path / "a.csv"
    path.write_text(f"Animation name,From frame,To frame\n{row}\n")
    with pytest.raises(ValueError, match=message):
        read_annotations(path)


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbfAnimation name,From frame,To frame\nIdle_07,0,9\n",
        b"Animation name;From frame;To frame\r\n\r\n;;\r\nIdle_07;0;9\r\n",
        b"sep=;\r\nAnimation name;From frame;To frame\r\nIdle_07;0;9\r\n",
        "Animation name\tFrom frame\tTo frame\r\nidle/07_idle.bvh\t0\t9\r\n".encode("utf-16"),
        b"# by hand\nto frame, from frame, ANIMATION NAME, why\n9, 0, 07_Idle, blinked\n",
    ],
    ids=["mark", "Excel", "Excel's separator", "UTF-16", "another order"],
)
def test_annotations_as_spreadsheet_programs_save_them(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_bytes(text)
    assert read_annotations(path) == {("07", "idle"): [(0, 9)]}


def test_all_that_is_wrong_with_annotations_is_told_at_once_with_the_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Animation name,From frame,To frame\nIdle_01,12,4\nIdle_01,1,4\n,1,2\nIdle_01,7\n")
    with pytest.raises(ValueError, match="3 problems") as error:
        read_annotations(path)
    assert [problem.line for problem in error.value.problems] == [2, 4, 5]
    path.write_bytes(b"Animation name,From frame,To frame\nJos\xe9_1,0,9\n")
    with pytest.raises(ValueError, match=r"a\.csv, line 2: expected text in UTF-8"):
        read_annotations(path)
    path.write_text("Animation name,From frame,To frame\nIdle_01,1,4\nIdle_01,0,500\n")
    ranges = pickle.loads(pickle.dumps(read_annotations(path)))["01", "idle"]  # as another process gets them
    with pytest.raises(ValueError, match=r"a\.csv, line 3: expected 0 <= first <= last < 400 frames, got 0 to 500"):
        listed_faults(gliding(), ranges)


def test_runs():
    assert runs([True, True, False, True]) == [(0, 2), (3, 4)] and runs([False]) == [] and runs([]) == []
