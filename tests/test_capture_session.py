"""A performer filmed: errors shrink step by step, more cameras help, the takes are what chapter 2 reads."""

import numpy as np
import pytest
from motionbook import read_bvh
from motionbook.capture import semicircle, session
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


def test_takes_are_written_for_chapter_2(tmp_path):
    paths = session.write_takes(tmp_path, 2, 2.0, seed=3)
    assert [p.relative_to(tmp_path).as_posix() for p in paths] == ["clips/00_idle.bvh", "clips/01_idle.bvh"]
    clips = [read_bvh(path, metres_per_unit=0.01, positions="replace") for path in paths]
    for clip in clips:
        assert clip.skeleton.names == FREEMOCAP.names and len(clip) == 60 and clip.fps == 30.0
    assert np.abs(clips[0].skeleton.offsets - clips[1].skeleton.offsets).max() > 0.005  # two different people
    again = session.write_takes(tmp_path / "again", 2, 2.0, seed=3)
    assert [p.read_bytes() for p in paths] == [p.read_bytes() for p in again]
