"""Clips of every system: same frames, same key poses, files that come out the same twice."""

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.bvh import read_bvh
from motionbook.clip import Clip
from motionbook.inbetweening.autoregression import key_frames
from motionbook.inbetweening.baselines import slerp, slerp_q, zero_velocity
from motionbook.inbetweening.evaluation import world
from motionbook.inbetweening.generator import (
    NOISE_DEGREES,
    SYSTEMS,
    Span,
    choose_spans,
    generate,
    write_clips,
)
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import make_windows
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import LAFAN1


def test_convention_key_frames():
    """Ten context frames, targets at 55, 100, ...; the last one lies at or behind the end."""
    assert list(key_frames(300)) == [9, 55, 100, 145, 190, 235, 280, 325]
    assert list(key_frames(56)) == [9, 55] and list(key_frames(57)) == [9, 55, 100]
    assert list(key_frames(11)) == [9, 55]
    with pytest.raises(ValueError, match="more than 10"):
        key_frames(10)


def test_all_systems_meet_at_the_key_poses():
    """Interpolated clips equal the recording in the context and at every key, and nowhere in between."""
    clip = random_clip(326, 0)
    keys = key_frames(300)
    inside = np.setdiff1d(np.arange(10, 300), keys)
    for system in ("SLERP", "SLERP-Q"):
        made = generate(clip, system, 300)
        assert len(made) == 300 and made.fps == clip.fps
        for known in (np.arange(10), keys[keys < 300]):
            assert np.array_equal(made.rotations[known], clip.rotations[known])
            assert np.array_equal(made.root_positions[known], clip.root_positions[known])
        assert (np.linalg.norm(made.root_positions - clip.root_positions[:300], axis=-1)[inside] > 0).all()
    same = generate(clip, "GT", 300)
    assert np.array_equal(same.rotations, clip.rotations[:300])


def test_first_transition_is_the_benchmarks():
    """Frames 10 .. 54 of a generated clip are the benchmark's prediction at T = 45, up to place and heading."""
    clip = random_clip(326, 1)
    windows = make_windows([clip], 65, 300)
    for system, predict in (("SLERP", slerp), ("SLERP-Q", slerp_q)):
        benchmark = world(windows, predict(windows, 45)).positions[0] / 100
        ours = forward_kinematics(generate(clip, system, 300)[10:55]).positions
        between = [np.linalg.norm(p[:, :, None] - p[:, None, :], axis=-1) for p in (benchmark, ours)]
        assert np.allclose(*between, atol=1e-9)
        assert np.allclose(benchmark[..., 1], ours[..., 1], atol=1e-9)


def test_noise_has_the_stated_size():
    """Turns of 2 degrees about each of three axes, in every joint and frame; other seeds give other noise."""
    clip = random_clip(326, 2)
    noisy = generate(clip, "NOISE", 300, seed=1)
    turns = rot.to_rotation_vector(rot.multiply(rot.inverse(clip.rotations[:300]), noisy.rotations))
    assert np.rad2deg(turns.std(axis=(0, 1))) == pytest.approx([NOISE_DEGREES] * 3, rel=0.05)
    assert np.array_equal(noisy.root_positions, clip.root_positions[:300])
    again, other = (generate(clip, "NOISE", 300, seed=s).rotations for s in (1, 2))
    assert np.array_equal(noisy.rotations, again) and not np.array_equal(noisy.rotations, other)


def test_short_or_unknown_is_refused():
    """The recording must hold the target behind the last frame."""
    with pytest.raises(ValueError, match="need a clip of 326"):
        generate(random_clip(325, 0), "SLERP", 300)
    with pytest.raises(KeyError, match="GT, SLERP, SLERP-Q, NOISE"):
        generate(random_clip(326, 0), "NN", 300)


def test_spans_cover_the_set():
    """Evenly spaced, no two overlap, each long enough; fewer than asked for when the set is short."""
    recordings = [Recording(random_clip(n, n), "00", "idle", f"{n}") for n in (1000, 325, 700)]
    spans = choose_spans(recordings, 99)
    assert [(s.recording.name, s.start) for s in spans] == [
        ("1000", 0),
        ("1000", 300),
        ("1000", 600),
        ("700", 0),
        ("700", 300),
    ]
    assert [s.name for s in choose_spans(recordings, 2)] == ["1000_00300", "700_00000"]
    assert choose_spans(recordings[1:2], 3) == []


def test_written_clips_are_complete_and_repeatable(tmp_path):
    """Every system has every clip; a second run gives the same bytes, also when other clips are made with it."""
    recordings = [Recording(random_clip(700, 5), "00", "idle", "00_idle")]
    spans = choose_spans(recordings, 2)
    made = write_clips(spans, tmp_path / "a", seed=3)
    write_clips(spans[1:], tmp_path / "b", seed=3)
    assert list(made) == ["00_idle_00000", "00_idle_00300"]
    for system in SYSTEMS:
        names = [p.name for p in sorted((tmp_path / "a" / system).iterdir())]
        assert names == ["00_idle_00000.bvh", "00_idle_00300.bvh"]
        first, second = (tmp_path / folder / system / names[1] for folder in "ab")
        assert first.read_bytes() == second.read_bytes()
        back = read_bvh(first, metres_per_unit=0.01)
        assert len(back) == 300 and back.fps == pytest.approx(30.0, rel=1e-4)
        expected = forward_kinematics(made["00_idle_00300"][system]).positions
        assert np.abs(forward_kinematics(back).positions - expected).max() < 1e-4
    write_clips(spans[:1], tmp_path / "a", systems=("GT",))
    left = sorted(p.relative_to(tmp_path / "a").as_posix() for p in (tmp_path / "a").rglob("*.bvh"))
    assert left[0] == "GT/00_idle_00000.bvh" and len(left) == 7
    assert Span(recordings[0], 300).name == "00_idle_00300"


def test_predictors_are_further_systems(tmp_path):
    """A predictor's clips lie beside the others, meet the key poses, and replace those of an earlier run."""
    recordings = [
        Recording(random_clip(700, 5), "00", "idle", "00_idle"),
        Recording(random_clip(400, 6), "01", "idle", "x"),
    ]
    spans = choose_spans(recordings, 3)
    (tmp_path / "NN").mkdir()
    (tmp_path / "NN" / "old.bvh").write_text("of another run")
    made = write_clips(spans, tmp_path, predictors={"NN": slerp, "HOLD": zero_velocity}, finish=None)
    assert list(made["x_00000"]) == ["GT", "SLERP", "SLERP-Q", "NOISE", "NN", "HOLD"]
    keys = key_frames(300)[:-1]
    for name, versions in made.items():
        assert rot.angle_between(versions["NN"].rotations, versions["SLERP"].rotations).max() < 1e-12
        assert np.array_equal(versions["HOLD"].rotations[keys], versions["GT"].rotations[keys])
        assert len(read_bvh(tmp_path / "HOLD" / f"{name}.bvh", metres_per_unit=0.01)) == 300
    assert sorted(path.stem for path in (tmp_path / "NN").iterdir()) == sorted(made)
    # the jump that holding leaves at the next key is taken out of the gap unless told otherwise
    calm = write_clips(spans, tmp_path / "calm", predictors={"HOLD": zero_velocity})["x_00000"]["HOLD"]
    assert not np.array_equal(calm.rotations, made["x_00000"]["HOLD"].rotations)
    with pytest.raises(ValueError, match="SLERP is a system of the book"):
        write_clips(spans, tmp_path, predictors={"SLERP": slerp})
    assert write_clips([], tmp_path / "none", predictors={"NN": slerp}) == {}


def test_no_frame_is_shown_twice_and_root_and_limbs_keep_step():
    """The released generator shows every key pose twice and lets the root lag behind the limbs by up to a frame."""
    t = np.arange(326) / 30.0
    turn = rot.from_axis_angle([0.0, 0.0, 1.0], t)
    steady = Clip(LAFAN1, np.stack([t, 0 * t, 0 * t], axis=1), np.repeat(turn[:, None], 22, axis=1), 30.0)
    made = generate(steady, "SLERP", 300)
    np.testing.assert_allclose(np.diff(made.root_positions[:, 0]), 1 / 30, atol=1e-12)
    np.testing.assert_allclose(rot.angle_between(made.rotations[1:], made.rotations[:-1]), 1 / 30, atol=2e-4)
    eased = generate(steady, "SLERP-Q", 300)
    turned = 2 * np.arctan2(eased.rotations[:, 4, 3], eased.rotations[:, 4, 0])
    np.testing.assert_allclose(np.unwrap(turned, period=2 * np.pi), eased.root_positions[:, 0], atol=6e-3)
