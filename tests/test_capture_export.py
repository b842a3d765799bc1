"""Files for other programs: the peer's TRC byte for byte, round trips, true rates, and errors that name the line."""

import numpy as np
import pytest

from motionbook import read_bvh, write_bvh
from motionbook.capture import (
    LANDMARKS,
    Landmarks,
    assemble,
    bone_lengths,
    read_cameras,
    side_pairs,
    triangulate,
    true_landmarks,
)
from motionbook.capture.bones import rigid_bones
from motionbook.capture.camera_files import CalibrationWarning
from motionbook.capture.export import (
    read_c3d_csv,
    read_trc,
    write_c3d_csv,
    write_freemocap,
    write_gaps,
    write_trc,
)
from motionbook.capture.ground import find_contradictions
from motionbook.capture.postprocess import Gap, clean
from motionbook.capture.readers import read_arrays, read_freemocap_3d
from motionbook.clip import Clip
from motionbook.kinematics import constant_bones, translation_spread
from motionbook.synthesis.performers import idle, make_performer

NTSC = 30000 / 1001


def some(fps=NTSC, frames=60):
    rng = np.random.default_rng(0)
    positions = rng.uniform(-2, 2, (frames, 4, 3))
    positions[10:14, 2] = np.nan
    names = ("LAnkle", "Nose", "RHip", "Neck")
    return Landmarks(names, positions, np.isfinite(positions).all(axis=-1).astype(float), fps)


def same(read, written, atol):
    assert read.names == written.names and read.fps == pytest.approx(written.fps, rel=1e-9)
    np.testing.assert_allclose(read.positions, written.positions, atol=atol)
    np.testing.assert_array_equal(read.confidence, written.confidence)


def test_trc_is_the_peers_byte_for_byte(shared_data, tmp_path):
    """Read Pose2Sim's file and write it again: header, tabs, decimals, times and line ends."""
    source = shared_data / "capture" / "pose2sim_demo" / "pose2sim_body25b_0-99.trc"
    trc = read_trc(source)
    assert (len(trc.landmarks.names), len(trc.landmarks.positions)) == (21, 100)
    assert (trc.start, trc.units, trc.stated_frames, trc.landmarks.fps) == (0, "m", 100, 60.0)
    again = write_trc(tmp_path / "b25_0-99.trc", trc.landmarks)
    assert again.read_bytes() == source.read_bytes()


def test_peers_filtered_file_says_100_and_holds_99(shared_data):
    source = shared_data / "capture" / "pose2sim_demo" / "pose2sim_body25b_0-99_filt_butterworth.trc"
    with pytest.warns(UserWarning, match="the header says 100 frames, holds 99 rows; the rows count"):
        trc = read_trc(source)
    assert len(trc.landmarks.positions) == 99 and trc.stated_frames == 100


def test_optical_markers_in_millimetres(shared_data):
    """Another program's TRC: frames from 1, milliseconds in the time column, millimetres, Y up."""
    trc = read_trc(shared_data / "capture" / "actor_run.trc")
    marks = trc.landmarks
    assert (trc.start, trc.units, marks.fps, marks.positions.shape) == (1, "mm", 120.0, (105, 49, 3))
    np.testing.assert_allclose(marks.positions[0, 0], [-1.66508765, 0.93967419, 0.04011145], atol=1e-12)
    np.testing.assert_allclose(marks.positions[-1, 0], [1.62543945, 0.86098322, 0.00763976], atol=1e-12)
    assert marks.positions[..., 1].min() == pytest.approx(0.02015849)
    speed = np.linalg.norm(np.diff(marks.positions[:, 0], axis=0), axis=-1).mean() * 120
    assert speed == pytest.approx(3.8154, abs=0.04)


@pytest.mark.parametrize("units", ["m", "mm"])
def test_trc_round_trip_keeps_29_97(tmp_path, units):
    """Pose2Sim would write 30, and its last time would be 1 ms per second early."""
    marks = some(frames=600)
    trc = read_trc(write_trc(tmp_path / "a.trc", marks, units=units, start=3))
    same(trc.landmarks, marks, 6e-7 if units == "m" else 6e-10)
    assert trc.start == 3 and trc.times[-1] == pytest.approx(602 / NTSC, abs=1e-6)
    assert "29.97002997" in (tmp_path / "a.trc").read_text().splitlines()[2]
    assert trc.times[-1] - 602 / 30 > 0.019


def test_a_rounded_rate_is_told_where_the_file_knows_better(tmp_path):
    text = write_trc(tmp_path / "a.trc", some(frames=200)).read_text().replace("29.97002997", "30")
    (tmp_path / "b.trc").write_text(text)
    with pytest.warns(UserWarning, match=r"header says 30 frames per second, the time column 29\.97"):
        trc = read_trc(tmp_path / "b.trc")
    assert trc.landmarks.fps == pytest.approx(NTSC, abs=1e-3) and trc.stated_rate == 30
    lines = text.splitlines()  # as the peer does it: rounded in both places, so that nothing in the file knows
    rounded = [line if i < 5 else _retimed(line) for i, line in enumerate(lines)]
    (tmp_path / "c.trc").write_text("\n".join(rounded))
    assert read_trc(tmp_path / "c.trc").landmarks.fps == 30
    assert read_trc(tmp_path / "c.trc", fps=NTSC).landmarks.fps == NTSC


def _retimed(line):
    cells = line.split("\t")
    return "\t".join([cells[0], f"{int(cells[0]) / 30:.6f}", *cells[2:]])


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("PathFileType", "Path", r"line 1: expected a TRC file"),
        ("\tm\t", "\tinch\t", r"line 3: Units: expected m, cm, mm, got 'inch'"),
        ("\t60\t4\t", "\t60\t5\t", r"line 4: expected 5 marker names \(NumMarkers\), got 4"),
        ("Nose", "Neck", r"line 4: expected every marker name once, got Neck more than once"),
        ("0.033367\t", "0.033367\tx", r"line 7: expected a number for a coordinate, got 'x"),
        ("NumMarkers", "Markers", r"the header has no NumMarkers"),
    ],
)
def test_a_broken_trc_is_refused_by_line(tmp_path, old, new, words):
    text = write_trc(tmp_path / "a.trc", some()).read_text()
    assert old in text
    (tmp_path / "a.trc").write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=rf"a\.trc: .*{words}"):
        read_trc(tmp_path / "a.trc")


def test_a_cut_trc_is_refused(tmp_path):
    text = write_trc(tmp_path / "a.trc", some()).read_text()
    (tmp_path / "a.trc").write_text(text[: len(text) - 40])
    with pytest.raises(ValueError, match=r"line 65: expected 14 values, got \d+: it is cut short"):
        read_trc(tmp_path / "a.trc")


def test_c3d_csv_round_trip_and_layout(tmp_path):
    marks = some()
    path = write_c3d_csv(tmp_path / "a.csv", marks)
    same(read_c3d_csv(path), marks, 1e-9)
    lines = path.read_text().splitlines()
    assert lines[0] == "Trajectories" and lines[1] == "29.97002997"
    assert lines[2] == ",,LAnkle,,,Nose,,,RHip,,,Neck,," and lines[3].startswith("Frame,Sub Frame,X,Y,Z,X")
    assert lines[4] == ",," + ",".join(["mm"] * 12) and lines[5].startswith("1,0,")
    assert float(lines[5].split(",")[2]) == pytest.approx(1000 * marks.positions[0, 0, 0])
    assert lines[15].split(",")[8:11] == ["", "", ""]  # unknown is empty, not zero
    foreign = "\n".join(lines).replace("LAnkle", "Anna:LAnkle")  # a subject in front, as Vicon writes it
    (tmp_path / "b.csv").write_text("Model Outputs\n100\n\n" + foreign + "\n\nDevices\n1\n")
    same(read_c3d_csv(tmp_path / "b.csv"), marks, 1e-9)
    (tmp_path / "c.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"c\.csv: expected a line 'Trajectories'"):
        read_c3d_csv(tmp_path / "c.csv")


def test_freemocap_files_round_trip(tmp_path):
    rng = np.random.default_rng(1)
    positions = rng.uniform(-2, 2, (90, 33, 3))
    positions[5:9, 15] = np.nan
    marks = Landmarks(LANDMARKS, positions, np.isfinite(positions).all(axis=-1).astype(float), NTSC)
    array, body, times = write_freemocap(tmp_path, marks, name="take")
    same(read_freemocap_3d(array, fps=NTSC), marks, 1e-9)
    same(read_freemocap_3d(body, fps=NTSC), marks, 1e-9)
    read = read_freemocap_3d(times)  # the only one that knows its rate
    same(read, marks, 1e-9)
    assert np.load(array)[0, 0, 2] == pytest.approx(1000 * positions[0, 0, 1])  # millimetres, Z up
    assert array.name == "mediapipe_3dData_numFrames_numTrackedPoints_spatialXYZ.npy"
    assert body.read_text().startswith("nose_x,nose_y,nose_z,left_eye_inner_x")


def test_gaps_are_listed_beside_a_file_that_cannot_hold_them(tmp_path):
    path = write_gaps(tmp_path / "gaps.csv", [Gap("left_heel", 4, 9, 1 / 6, "too few cameras", False)])
    assert path.read_text() == (
        "point,first_frame,last_frame,seconds,reason,filled\nleft_heel,4,8,0.1666666667,too few cameras,0\n"
    )


@pytest.mark.parametrize("fps", [NTSC, 31.09, 30.0, 60.0, 24.0])
def test_bvh_carries_the_rate_of_the_recording(tmp_path, fps):
    """FreeMoCap's files say 24 whatever the capture ran at; ours say what the points said."""
    truth = true_landmarks(idle(make_performer(1, 1), 1.0))
    clip = assemble(Landmarks(truth.names, truth.positions, truth.confidence, fps)).clip
    path = write_bvh(clip, tmp_path / "a.bvh")
    again = read_bvh(path, metres_per_unit=0.01, positions="replace")
    assert again.fps == pytest.approx(fps, rel=1e-6) and again.skeleton.names == clip.skeleton.names
    assert len(again.skeleton) == 19 and not any("thumb" in n or "palm" in n for n in again.skeleton.names)


def test_real_detections_become_a_clip_at_60_frames_per_second(shared_data, tmp_path):
    """The whole way on the Pose2Sim recording with MediaPipe's points, cam03 two frames late, the floor Z up."""
    folder = shared_data / "capture" / "pose2sim_demo"
    with pytest.warns(CalibrationWarning):
        cameras = read_cameras(folder / "Calib_qualisys.toml", up="z")
    seen = read_arrays(folder / "mediapipe33_heavy_2d.npz")
    arrays = (seen.pixels, seen.confidence)
    pixels, sure = (np.stack([a[c, 2:] if c == 2 else a[c, :-2] for c in range(4)]) for a in arrays)
    solved = triangulate(cameras, pixels, sure, min_confidence=0.3, sides=side_pairs(seen.names))
    known = np.isfinite(solved.positions).all(axis=-1)
    cleaned = clean(Landmarks(seen.names, solved.positions, known.astype(float), seen.fps), reasons=solved.reason)
    assert find_contradictions(cleaned.landmarks, cameras) == ()
    made = assemble(rigid_bones(cleaned.landmarks).landmarks, twist="hinge", foot="heel")
    assert np.median(made.residual) < 0.006 and made.bridged == 0
    spread = {bone: np.nanstd(length) for bone, length in bone_lengths(cleaned.landmarks).items()}
    assert 0.005 < spread["shin.L"] < 0.02  # what the constant bones take away
    again = read_bvh(write_bvh(made.clip, tmp_path / "a.bvh"), metres_per_unit=0.01, positions="replace")
    assert again.fps == pytest.approx(60.0) and len(again) == 98


def test_translations_of_inner_joints_are_kept_or_their_loss_is_measured(tmp_path):
    """Blender writes 3 or 6 channels per joint; dropping the shoulders' would break them without a word."""
    truth = true_landmarks(idle(make_performer(1, 1), 1.0))
    clip = assemble(truth).clip
    moved = np.broadcast_to(clip.skeleton.offsets, (len(clip), 19, 3)).copy()
    joint = clip.skeleton.index("upper_arm.L")
    moved[:, joint, 1] += 0.03 * np.sin(np.linspace(0, 6, len(clip)))
    loose = Clip(clip.skeleton, clip.root_positions, clip.rotations, clip.fps, moved)
    again = read_bvh(write_bvh(loose, tmp_path / "a.bvh"), metres_per_unit=0.01, positions="replace")
    np.testing.assert_allclose(again.translations[:, joint], moved[:, joint], atol=1e-6)
    assert translation_spread(again)[joint] > 0.02
    assert constant_bones(again).translations is None
