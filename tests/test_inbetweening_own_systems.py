"""The door for a reader's own clips: what fits goes beside the baselines, what does not is refused with the reason."""

from dataclasses import replace

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook.bvh import read_bvh, write_bvh
from motionbook.inbetweening.generator import choose_spans, write_clips
from motionbook.inbetweening.own_systems import take_systems
from motionbook.inbetweening.recordings import Recording
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
