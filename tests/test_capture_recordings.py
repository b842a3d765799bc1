"""A reader's folder through the whole chain: the real Pose2Sim recording, and folders that cannot be read."""

import shutil

import numpy as np
import pytest

from motionbook.capture import Observations, recordings
from motionbook.skeletons import FREEMOCAP


@pytest.fixture
def folder(shared_data, tmp_path):
    source = shared_data / "capture" / "pose2sim_demo"
    shutil.copy(source / "Calib_qualisys.toml", tmp_path / "Calib.toml")
    shutil.copy(source / "mediapipe33_heavy_2d.npz", tmp_path / "points.npz")
    (tmp_path / "recording.toml").write_text('up = "z"\n')
    return tmp_path


def test_the_real_recording_becomes_a_clip(folder):
    assert recordings.is_recording(folder)
    recording = recordings.read_recording(folder)
    made = recordings.reconstruct(recording)
    found = recordings.report(recording, made)
    clip = made.solved.assembly.clip
    assert clip.skeleton.names == FREEMOCAP.names and clip.fps == 60.0 and 95 <= len(clip) <= 100
    assert 10 < found["reprojection [px]"] < 13 and found["known [%]"] > 99  # the peer's own is 10.0 after rejection
    assert found["bone spread filtered [mm]"] < found["bone spread raw [mm]"] < 15
    assert 0.7 < clip.root_positions[:, 1].min() < clip.root_positions[:, 1].max() < 1.1  # hips of a standing person
    late = made.clocks.frames_late
    assert abs(late[2] - 2) < 0.75 and abs(late[[1, 3]]).max() < 1
    notes = " ".join(made.notes)
    assert "64" in notes and "the video is 1080 x 1920" in notes
    assert {path.name for path in recording.files} == {"Calib.toml", "points.npz", "recording.toml"}


def test_openpose_names_and_stated_offsets(folder, shared_data):
    (folder / "points.npz").unlink()
    shutil.copy(shared_data / "capture" / "pose2sim_demo" / "openpose_body25b_2d.npz", folder / "points.npz")
    (folder / "recording.toml").write_text('up = "z"\noffsets = [0, 0, 2, 0]\n')
    recording = recordings.read_recording(folder)
    made = recordings.reconstruct(recording)
    assert list(made.clocks.frames_late) == [0, 0, 2, 0] and len(made.solved.raw.positions) == 98
    assert "left_foot_index" in made.seen.names and "Neck" not in made.seen.names
    assert list(recordings.offsets_table(recording, made)["value"]) == [0, 0, 2, 0]


def test_names_keep_their_points():
    rng = np.random.default_rng(0)
    names = ("Head", "LHip", "RBigToe", "Nose")
    seen = Observations(names, rng.random((2, 3, 4, 2)), np.ones((2, 3, 4)), 30.0)
    renamed = recordings.as_mediapipe(seen)
    assert renamed.names == ("left_hip", "right_foot_index", "nose")
    np.testing.assert_array_equal(renamed.pixels, seen.pixels[:, :, 1:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: (f / "Calib.toml").unlink(), "expected a calibration"),
        (lambda f: (f / "points.npz").unlink(), "expected a set of 2-D points"),
        (lambda f: shutil.copy(f / "points.npz", f / "more.npz"), "expected one set of 2-D points"),
        (lambda f: (f / "recording.toml").write_text("rate = 30\n"), "unknown keys rate"),
        (lambda f: (f / "recording.toml").write_text("offsets = [0, 2]\n"), "one per camera"),
    ],
)
def test_a_folder_that_cannot_be_read_says_why(folder, change, message):
    change(folder)
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        recordings.read_recording(folder)


def test_other_folders_are_none(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    np.savez(tmp_path / "motion.npz", positions=np.zeros(3))
    assert not recordings.is_recording(tmp_path)
