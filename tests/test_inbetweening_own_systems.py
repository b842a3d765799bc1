"""The door for a reader's own clips and predictions: what fits is put beside the baselines and scored with them.

What does not fit is refused with the reason.
"""

from dataclasses import replace

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook.bvh import read_bvh, write_bvh
from motionbook.inbetweening.baselines import BASELINES, slerp
from motionbook.inbetweening.evaluation import evaluate_folds, fold_windows, summarise
from motionbook.inbetweening.generator import choose_spans, write_clips
from motionbook.inbetweening.own_predictions import score_predictions, write_questions
from motionbook.inbetweening.own_recordings import evaluate_folder
from motionbook.inbetweening.own_systems import clip_predictor, score_clips, score_systems, take_systems
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.scoring import position_moments, position_statistics, score_windows
from motionbook.inbetweening.windows import LENGTHS, make_windows
from motionbook.stickfigures.systems import find_clips


@pytest.fixture
def truth(tmp_path):
    """Two ground-truth clips by name, written with the baselines to <tmp_path>/clips."""
    spans = choose_spans([Recording(random_clip(700, 5), "00", "idle", "00_idle")], 2)
    return {name: versions["GT"] for name, versions in write_clips(spans, tmp_path / "clips").items()}


def write_system(folder, clips):
    for name, clip in clips.items():
        write_bvh(clip, folder / f"{name}.bvh")


def test_own_clips_stand_beside_the_baselines(tmp_path, truth):
    mine = tmp_path / "mine"
    write_system(mine / "MINE", truth)
    (mine / "notes.txt").write_text("not a system")
    (mine / "empty").mkdir()
    made = take_systems(mine, truth, tmp_path / "clips")
    assert list(made) == ["MINE"] and list(made["MINE"]) == list(truth)
    systems = {path.parent.name for path in find_clips(tmp_path)}
    assert systems == {"GT", "SLERP", "SLERP-Q", "NOISE", "MINE"}
    for name, clip in truth.items():
        copied = tmp_path / "clips" / "MINE" / f"{name}.bvh"
        assert copied.read_bytes() == (mine / "MINE" / f"{name}.bvh").read_bytes()
        assert np.abs(read_bvh(copied).root_positions - clip.root_positions).max() < 1e-4


def _other_joint(clip):
    skeleton = replace(clip.skeleton, names=("Pelvis", *clip.skeleton.names[1:]))
    return replace(clip, skeleton=skeleton)


def _giant(clip):
    return replace(clip, skeleton=replace(clip.skeleton, offsets=clip.skeleton.offsets * 2.5))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda clip: clip[:299], r"MINE/00_idle_00300.bvh: expected 300 frames, .* got 299"),
        (lambda clip: replace(clip, fps=60.0), r"expected 30 frames per second, got 60"),
        (_other_joint, r"got 22 without Hips and with Pelvis"),
        (_giant, r"its bones add up to .* mind the unit"),
    ],
)
def test_a_clip_that_does_not_fit_is_refused_and_nothing_is_copied(tmp_path, truth, change, words):
    last = max(truth)
    write_system(tmp_path / "mine" / "MINE", {**truth, last: change(truth[last])})
    with pytest.raises(ValueError, match=words):
        take_systems(tmp_path / "mine", truth, tmp_path / "clips")
    assert not (tmp_path / "clips" / "MINE").exists()


def test_folders_that_do_not_fit_are_named(tmp_path, truth):
    mine, clips = tmp_path / "mine", tmp_path / "clips"
    with pytest.raises(FileNotFoundError, match="mine does not exist"):
        take_systems(mine, truth, clips)
    mine.mkdir()
    with pytest.raises(ValueError, match="holds no folder with"):
        take_systems(mine, truth, clips)
    first, last = sorted(truth)
    write_system(mine / "MINE", {first: truth[first]})
    with pytest.raises(ValueError, match=f"MINE: 1 of 2 clips are missing: {last}"):
        take_systems(mine, truth, clips)
    write_system(mine / "MINE", {**truth, "other": truth[first]})
    with pytest.raises(ValueError, match="no clip of chapter 3 is named other; there are 00_idle_00000"):
        take_systems(mine, truth, clips)
    (mine / "MINE").rename(mine / "GT")
    with pytest.raises(ValueError, match="GT is a system of the book"):
        take_systems(mine, truth, clips)
    with pytest.raises(ValueError, match="no clips to stand beside"):
        take_systems(mine, {}, clips)
    with pytest.raises(NotADirectoryError, match="got the file"):
        take_systems(mine / "GT" / "other.bvh", truth, clips)


def test_scores_of_clips_are_the_benchmarks(truth):
    """The first transition of a SLERP clip is what the benchmark's SLERP makes, so one window scores the same."""
    name = min(truth)
    clip = {name: truth[name]}
    spans = choose_spans([Recording(random_clip(700, 5), "00", "idle", "00_idle")], 2)
    versions = {name: {s: c for s, c in zip(("GT", "SLERP"), (truth[name], None), strict=True)}}
    assert spans[0].name == name
    from motionbook.inbetweening.generator import generate

    versions[name]["SLERP"] = generate(spans[0].recording.clip, "SLERP", 300)
    std = position_statistics([position_moments(make_windows([truth[name]], 50, 20))])[1]
    table = score_clips(clip, {s: {name: c} for s, c in versions[name].items()})
    assert table.n_windows.tolist() == [6, 6] and (table.n_clips == 1).all()
    assert table.loc["GT", ["L2P@45", "L2Q@45"]].max() < 1e-9
    first = make_windows([truth[name]], 56, 300)
    expected = score_windows(first, std, (45,), {"SLERP": slerp})["SLERP", 45]
    found = score_windows(first, std, (45,), {"S": clip_predictor([truth[name]], [versions[name]["SLERP"]])})["S", 45]
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert "ground-truth clips themselves" in table.attrs["note"]
    doubled = score_clips(clip, {"SLERP": {name: versions[name]["SLERP"]}}, 2 * std)
    assert doubled.loc["SLERP", "L2P@45"] == pytest.approx(table.loc["SLERP", "L2P@45"] / 2)
    assert "training people" in doubled.attrs["note"]


def test_a_folder_of_systems_is_one_call_and_a_row_each(tmp_path, truth):
    mine = tmp_path / "mine"
    write_system(mine / "COPY", truth)
    beside = {"GT": truth}
    table = score_systems(mine, truth, beside=beside)
    assert list(table.index) == ["GT", "COPY"]
    assert table.loc["COPY", "L2P@45"] < 1e-3  # six decimals of a file
    with pytest.raises(ValueError, match="LACKING: 1 of 2 clips are missing"):
        score_clips(truth, {"LACKING": {min(truth): truth[min(truth)]}})
    with pytest.raises(ValueError, match="clip 0: expected 300 frames"):
        clip_predictor([truth[min(truth)]], [truth[min(truth)][:200]])
    with pytest.raises(ValueError, match="no clip has the 56 frames"):
        score_clips({"short": random_clip(55, 0)}, {})


@pytest.fixture
def folds():
    recordings = [Recording(random_clip(150, n), f"{n:02d}", "idle", f"{n:02d}_idle") for n in range(3)]
    listed = [{"train": ["00", "01"], "test": ["02"]}, {"train": ["02", "01"], "test": ["00"]}]
    return recordings, listed, fold_windows(recordings, "idle", listed)


def answer(folder, number, change=None):
    """A reader's program: from the file of questions alone, the place and pose held."""
    with np.load(folder / f"fold{number}_windows.npz") as asked:
        answers = {}
        for length in LENGTHS:
            answers[f"root_{length}"] = np.repeat(asked["context_root"][:, 9:], length, axis=1)
            answers[f"rotations_{length}"] = np.repeat(asked["context_rotations"][:, 9:], length, axis=1)
        assert asked["target_rotations_45"].shape == (len(asked["offsets"]), 22, 4)
    if change:
        change(answers)
    np.savez(folder / f"fold{number}_predictions.npz", **answers)


def test_predictions_by_window_are_one_more_row(tmp_path, folds):
    import pandas as pd

    recordings, listed, tested = folds
    assert [p.name for p in write_questions(tmp_path, tested)] == ["fold1_windows.npz", "fold2_windows.npz"]
    for number in (1, 2):
        answer(tmp_path, number)
    mine = score_predictions(tmp_path, tested, "HELD")
    ours = evaluate_folds(recordings, "idle", listed, systems={"0-velocity": BASELINES["0-velocity"]})
    same = ["fold", "length", "metric", "n_windows", "subjects"]
    pd.testing.assert_frame_equal(mine[same], ours[same])
    np.testing.assert_allclose(mine["value"], ours["value"], rtol=1e-9)
    summary = summarise(pd.concat([ours, mine]))
    assert set(summary.system) == {"0-velocity", "HELD"} and (summary.n_folds == 2).all()


def _spoil(name, value):
    def change(answers):
        answers[name] = value(answers[name])

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda answers: answers.pop("root_15"), "fold2_predictions.npz: expected an array root_15, got root_30"),
        (_spoil("root_5", lambda x: x[:, :4]), r"root_5: expected shape \(3, 5, 3\), got \(3, 4, 3\)"),
        (_spoil("rotations_5", lambda x: x * np.nan), "rotations_5: window 0 holds a number that is not finite"),
        (_spoil("root_5", lambda x: np.array([None])), "fold2_predictions.npz: root_5: expected numbers"),
        (_spoil("rotations_45", lambda x: 2 * x), "unit quaternions .* one of length 2"),
    ],
)
def test_predictions_that_do_not_fit_are_refused(tmp_path, folds, change, words):
    _, _, tested = folds
    write_questions(tmp_path, tested)
    answer(tmp_path, 1)
    with pytest.raises(FileNotFoundError, match="fold2_predictions"):
        score_predictions(tmp_path, tested, "HELD")
    answer(tmp_path, 2, change)
    with pytest.raises(ValueError, match=words):
        score_predictions(tmp_path, tested, "HELD")


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x93NUMPY\x01\x00"])
def test_files_that_are_no_archive_are_named(tmp_path, folds, content):
    _, _, tested = folds
    (tmp_path / "fold1_predictions.npz").write_bytes(content)
    with pytest.raises(ValueError, match=r"fold1_predictions\.npz: expected an \.npz as numpy\.savez writes it"):
        score_predictions(tmp_path, tested, "HELD")


def test_a_folder_of_any_bvh_is_one_call(tmp_path):
    """Another frame rate is resampled and says the same; what cannot be used is named."""
    for number in range(3):
        clip = random_clip(150, number)
        write_bvh(clip, tmp_path / "thirty" / f"{number:02d}_idle.bvh")
        twice = np.repeat(clip.rotations, 2, axis=0)[:-1]
        places = np.repeat(clip.root_positions, 2, axis=0)[:-1]
        write_bvh(
            replace(clip, rotations=twice, root_positions=places, fps=60.0),
            tmp_path / "sixty" / f"{number:02d}_idle.bvh",
        )
    table = evaluate_folder(tmp_path / "thirty", systems={**BASELINES, "MINE": slerp})
    assert list(table.index) == ["0-velocity", "SLERP", "SLERP-Q", "MINE"]
    assert table.loc["MINE", "L2P@5"] == table.loc["SLERP", "L2P@5"] and table.n_subjects.tolist() == [3] * 4
    again = evaluate_folder(tmp_path / "sixty")
    np.testing.assert_allclose(again.filter(like="@"), table.loc[again.index].filter(like="@"), rtol=1e-3)
    assert "3 clips" in table.attrs["note"] and "3 folds" in table.attrs["note"]
    (tmp_path / "thirty" / "03_idle.bvh").write_text("not a BVH")
    assert "left out: 03_idle.bvh" in evaluate_folder(tmp_path / "thirty").attrs["note"]
    for path in (tmp_path / "thirty").glob("0[0-2]*.bvh"):
        path.unlink()
    with pytest.raises(ValueError, match="none of 1 files can be used"):
        evaluate_folder(tmp_path / "thirty")


def test_other_skeletons_are_retargeted(shared_data, tmp_path):
    """Three real clips on FreeMoCap's rig, read at the rate that the layout's note states."""
    import shutil

    (tmp_path / "acted").mkdir()
    for name in sorted((shared_data / "reactidle" / "acted").iterdir())[:3]:
        shutil.copy(name, tmp_path / "acted")
    table = evaluate_folder(tmp_path, lengths=(5, 30))
    assert (table.loc["0-velocity"].filter(like="L2P") > table.loc["SLERP"].filter(like="L2P")).all()
    assert "30 fps (assumed)" in table.attrs["note"]
