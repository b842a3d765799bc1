"""A performer filmed: errors shrink step by step, more cameras help, the takes are what chapter 2 reads."""

import numpy as np
import pytest

from motionbook import read_bvh
from motionbook.capture import semicircle, session
from motionbook.capture.export import read_trc
from motionbook.capture.landmarks import REALISTIC
from motionbook.skeletons import FREEMOCAP
from motionbook.synthesis.performers import idle, make_performer


@pytest.fixture(scope="module")
def performer():
    return idle(make_performer(4, 1), 5.0)


def film(clip, cameras, **options):
    return session.errors(session.record(clip, semicircle(cameras, distortion=session.LENS), 0, **options))


def test_errors_against_the_truth(performer):
    found = film(performer, 4)
    assert 1.5 < found["reprojection [px]"] < 2.5  # two pixels per axis, fitted by four cameras
    assert found["MPJPE clip [mm]"] < found["MPJPE filtered [mm]"] < found["MPJPE raw [mm]"] < 8
    assert found["bone error [mm]"] < 2 < found["bone spread [mm]"] < 8
    assert found["unsolved points"] == 0 and 2 < found["lost [%]"] < 4


def test_without_noise_nothing_is_wrong_but_the_filter(performer):
    found = film(performer, 3, noise=0.0, drop_share=0.0)
    assert found["MPJPE raw [mm]"] < 1e-3 and found["bone error [mm]"] < 0.05 and found["lost [%]"] == 0
    assert 0 < found["MPJPE filtered [mm]"] < 2  # quick moves lose what is above 7 Hz


def test_more_cameras_and_less_noise_help(performer):
    by_count = [film(performer, count)["MPJPE raw [mm]"] for count in (3, 4, 8)]
    assert by_count[0] > by_count[1] > by_count[2]
    assert film(performer, 4, noise=4.0)["MPJPE raw [mm]"] == pytest.approx(2 * by_count[1], rel=0.15)


def test_exchanged_sides_are_put_right(performer):
    """Fault seen: triangulate called without sides."""
    room = semicircle(4, distortion=session.LENS)
    take = session.record(performer, room, 3, drop_share=0.0, swap_share=0.05)
    swapped = take.simulated.swapped
    assert swapped.any()
    found = take.triangulation.swaps
    back = np.zeros(swapped.shape, dtype=bool)
    for part, pairs in enumerate(found.pairs):
        for pair in pairs:
            back[:, :, list(pair)] |= found.swapped[:, :, part, None]
    assert (back & swapped).sum() > 0.8 * swapped.sum()


def test_what_is_believed_of_the_cameras_counts(performer):
    """Fault seen: the true cameras used for solving."""
    room = semicircle(4, distortion=session.LENS)
    exact = session.record(performer, room, 0, noise=0.0, drop_share=0.0)
    wrong = session.record(performer, room, 0, noise=0.0, drop_share=0.0, solve_with=semicircle(4, radius=3.1))
    assert session.mpjpe(exact.raw, exact.truth) < 1e-3 and session.mpjpe(wrong.raw, wrong.truth) > 5


def test_the_embedded_detector_is_worse_than_noise_alone(performer):
    realistic, plain = film(performer, 4, **REALISTIC), film(performer, 4)
    assert plain["MPJPE raw [mm]"] < realistic["MPJPE raw [mm]"] < 15


def test_takes_are_written_for_chapter_2(tmp_path):
    paths = session.write_takes(tmp_path, 2, 2.0, seed=3)
    assert [p.relative_to(tmp_path).as_posix() for p in paths] == ["clips/00_idle.bvh", "clips/01_idle.bvh"]
    clips = [read_bvh(path, metres_per_unit=0.01, positions="replace") for path in paths]
    for clip in clips:
        assert clip.skeleton.names == FREEMOCAP.names and len(clip) == 60 and clip.fps == 30.0
    assert np.abs(clips[0].skeleton.offsets - clips[1].skeleton.offsets).max() > 0.005  # two different people
    again = session.write_takes(tmp_path / "again", 2, 2.0, seed=3)
    assert [p.read_bytes() for p in paths] == [p.read_bytes() for p in again]


def test_a_take_is_exported_whole(performer, tmp_path):
    take = session.record(performer, semicircle(4), 0)
    paths = session.export(tmp_path, "00_idle", take.solved)
    assert {path.suffix for path in paths} == {".trc", ".csv", ".npy", ".bvh"}
    back = read_trc(tmp_path / "00_idle.trc").landmarks
    np.testing.assert_allclose(back.positions, take.solved.rigid.positions, atol=1e-6)
    array = np.load(next(path for path in paths if path.suffix == ".npy"))
    np.testing.assert_allclose(array[..., [1, 2, 0]], 1000 * take.solved.rigid.positions, atol=1e-6)
