"""Chained gaps: interpolation comes out as without a chain, key poses are met, and predictors see what they were told.

The released code of the paper differs in ways that each have a test here: it takes every context from the recording,
leaves segments in their own frame, drops the last transition, and shows interpolated keys twice.
"""

from dataclasses import replace

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.inbetweening.autoregression import (
    fill_gaps,
    fill_segments,
    junctions,
    key_frames,
    there_and_back,
)
from motionbook.inbetweening.baselines import LocalPose, slerp, slerp_q
from motionbook.inbetweening.correction import meet_ends
from motionbook.inbetweening.generator import generate
from motionbook.inbetweening.windows import CONTEXT
from motionbook.skeletons import LAFAN1


def people(count: int, frames: int):
    """Clips of bodies that differ in size."""
    sizes = np.linspace(0.8, 1.2, count)
    return [
        random_clip(frames, seed, replace(LAFAN1, offsets=LAFAN1.offsets * size)) for seed, size in enumerate(sizes)
    ]


def jumping(windows, transition):
    """Interpolation off by a turn and a shift that differ from call to call."""
    rng = np.random.default_rng(int(windows.starts[0]))
    pose = slerp(windows, transition)
    turn = rot.from_rotation_vector(0.05 * rng.standard_normal((len(windows), 1, 22, 3)))
    return LocalPose(
        pose.root_positions + rng.standard_normal((len(windows), 1, 3)), rot.multiply(pose.rotations, turn)
    )


def angles(a, b):
    return rot.angle_between(a.rotations, b.rotations)


@pytest.mark.parametrize(("system", "predictor"), [("SLERP", slerp), ("SLERP-Q", slerp_q)])
@pytest.mark.parametrize("frames", [300, 56, 11])
def test_interpolation_through_the_chain_is_interpolation(system, predictor, frames):
    """Moving to the origin, facing +X and going back changes nothing: the heading is not lost on the way."""
    clips = people(3, 326)
    for clip, made in zip(clips, fill_gaps(clips, predictor, frames), strict=True):
        expected = generate(clip, system, frames)
        assert len(made) == frames and made.skeleton is clip.skeleton
        np.testing.assert_allclose(made.root_positions, expected.root_positions, atol=1e-12)
        assert angles(made, expected).max() < 1e-12


@pytest.mark.parametrize("finish", [None, meet_ends])
def test_key_poses_are_met_whatever_the_predictor_does(finish):
    clips, keys = people(2, 500), key_frames(455)
    known = np.concatenate([np.arange(CONTEXT), keys[keys < 455]])
    for clip, made in zip(clips, fill_gaps(clips, jumping, 455, finish=finish), strict=True):
        assert np.array_equal(made.root_positions[known], clip.root_positions[known])
        assert np.array_equal(made.rotations[known], clip.rotations[known])
        assert angles(made, clip[:455])[11:50].min() > 0


def test_predictor_sees_its_own_frames_centred_and_forward_and_no_recorded_gap():
    clips, seen = people(2, 326), []

    def spy(windows, transition):
        seen.append((windows, transition))
        return jumping(windows, transition)

    made = fill_gaps(clips, spy, 300)
    assert [t for _, t in seen] == [45, *[44] * 6]
    for (windows, transition), key in zip(seen, key_frames(300), strict=False):
        assert windows.rotations.shape == (2, CONTEXT + transition + 1, 22, 4)
        assert np.array_equal(windows.starts, [key + 1 - CONTEXT] * 2)
        np.testing.assert_allclose(windows.root_positions[:, 9, [0, 2]], 0, atol=1e-9)
        ahead = rot.rotate(windows.rotations[:, 9, 0], [0.0, 1.0, 0.0])
        assert np.allclose(ahead[:, 2], 0, atol=1e-12) and (ahead[:, 0] > 0).all()
        for number, clip in enumerate(made):
            # ten frames that were made, with the key pose as the last
            context = clip.rotations[key - 9 : key + 1, 1:]
            assert np.array_equal(windows.rotations[number, :10, 1:], context)
            assert np.array_equal(windows.offsets[number], 100 * clips[number].skeleton.offsets)
            if key + transition + 1 < 300:
                assert np.array_equal(
                    windows.rotations[number, -1, 1:], clips[number].rotations[key + transition + 1, 1:]
                )
        # what lies between is the last known pose, nothing of the recording
        assert np.array_equal(windows.rotations[:, 10:-1], np.repeat(windows.rotations[:, 9:10], transition, axis=1))


def test_clips_do_not_see_each_other():
    clips = people(3, 326)

    def network(windows, transition):
        pose = slerp(windows, transition)
        # the size of the body and the context matter, the place of a clip in the batch does not
        size = windows.offsets[:, 2, 0].reshape(-1, 1, 1, 1) / 1000
        bend = size * windows.rotations[:, :10, :, 1:].mean(axis=1, keepdims=True)
        return pose.root_positions, rot.multiply(pose.rotations, rot.from_rotation_vector(bend))

    together = fill_gaps(clips, network, 200)
    for clip, made in zip(clips, together, strict=True):
        (alone,) = fill_gaps([clip], network, 200)
        np.testing.assert_allclose(made.root_positions, alone.root_positions, atol=1e-12)
        assert angles(made, alone).max() < 1e-12


def test_a_random_torch_network_runs_and_turning_the_recording_turns_the_result():
    """Fault looked for: a segment put back with the wrong turn, or a window that does not head along +X."""
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    weights = 0.05 * torch.randn(88, 88, generator=generator)

    def network(windows, transition):
        with torch.inference_mode():
            x = torch.as_tensor(windows.rotations[:, 9].reshape(len(windows), -1), dtype=torch.float32)
            bend = torch.tanh(x @ weights).reshape(-1, 1, 22, 4).numpy()
        pose = slerp(windows, transition)
        return pose.root_positions + 5 * bend[:, :, 0, :3], pose.rotations + 0.3 * bend

    clips = people(2, 326)
    turn, aside = rot.from_axis_angle([0.0, 1.0, 0.0], 1.3), np.array([3.0, 0.0, -2.0])
    turned = []
    for clip in clips:
        q = clip.rotations.copy()
        q[:, 0] = rot.multiply(turn, q[:, 0])
        turned.append(replace(clip, root_positions=rot.rotate(turn, clip.root_positions) + aside, rotations=q))
    for made, other in zip(fill_gaps(clips, network, 300), fill_gaps(turned, network, 300), strict=True):
        assert angles(made, other)[:, 1:].max() < 1e-5  # float32 inside
        back = rot.rotate(rot.inverse(turn), other.root_positions - aside)
        np.testing.assert_allclose(back, made.root_positions, atol=1e-6)
        assert angles(made, generate(clips[0], "SLERP", 300)).max() > 0.01


def test_the_two_stage_networks_fill_gap_after_gap():
    """Random weights: any length, no look beyond the target, keys met; the frame after the target is asked for else."""
    torch = pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import feature_statistics
    from motionbook.inbetweening.networks import ContextNetwork, DetailNetwork, NetworkConfig
    from motionbook.inbetweening.two_stage import TwoStage

    torch.manual_seed(0)
    clips = people(3, 326)
    config = NetworkConfig.small()
    networks = TwoStage(ContextNetwork(config), DetailNetwork(config), feature_statistics(clips))
    made = fill_gaps(clips, networks.keys_only(), 300, finish=meet_ends)
    keys = key_frames(300)[:-1]
    for clip, m in zip(clips, made, strict=True):
        assert np.abs(m.root_positions[keys] - clip.root_positions[keys]).max() < 1e-6
        assert angles(m, clip[:300])[keys].max() < 1e-6 < angles(m, generate(clip, "SLERP", 300)).max()
    with pytest.raises(ValueError, match="keys_only"):
        fill_gaps(clips, networks, 300)


def test_published_segments_predict_the_frame_of_the_key_and_keep_place_and_heading():
    clips = people(2, 326)
    assert list(junctions(300)) == [10, 55, 100, 145, 190, 235, 280]
    seen = []

    def spy(windows, transition):
        seen.append((windows, transition))
        return slerp(windows, transition)

    made = fill_segments(clips, spy, 300)
    assert [t for _, t in seen] == [45] * 7 and all(len(m) == 300 for m in made)
    assert [int(w.starts[0]) for w, _ in seen] == [0, 45, 90, 135, 180, 225, 270]
    # interpolation goes from its own last frame to the key and never leaves the way: within a frame's step of the keys
    for clip, clip_made in zip(clips, made, strict=True):
        step = angles(clip_made[1:], clip_made[:-1])[10:].max()
        keys = key_frames(300)[1:-1]
        assert 0 < angles(clip_made, clip[:300])[keys].max() < 1.5 * step
    recorded = fill_segments(clips, slerp, 300, context="recorded")
    assert angles(recorded[0], made[0])[:55].max() == 0 and angles(recorded[0], made[0])[55:].max() > 1e-3


def test_longer_than_the_recording():
    clip = random_clip(100, 3)
    longer = there_and_back(clip, 326)
    assert np.array_equal(longer.rotations[99:199], clip.rotations[::-1])
    assert np.array_equal(longer.rotations[198:298], clip.rotations)
    assert angles(longer[1:], longer[:-1]).max() <= angles(clip[1:], clip[:-1]).max() + 1e-12
    assert len(fill_gaps([longer], slerp, 300)[0]) == 300
    with pytest.raises(ValueError, match="at least 2 frames"):
        there_and_back(clip[:1], 10)


@pytest.mark.parametrize(
    ("predictor", "words"),
    [
        (lambda w, t: slerp(w, t - 1), r"expected root places \(1, 45, 3\)"),
        (lambda w, t: (slerp(w, t).root_positions * np.nan, slerp(w, t).rotations), "before frame 55 are not finite"),
    ],
)
def test_wrong_answers_of_a_predictor_are_refused(predictor, words):
    with pytest.raises(ValueError, match=words):
        fill_gaps([random_clip(326, 0)], predictor, 300)


def test_clips_that_cannot_be_filled_are_refused():
    clip = random_clip(325, 0)
    with pytest.raises(ValueError, match=r"need clips of 326 .* got one of 325; there_and_back"):
        fill_gaps([clip], slerp, 300)
    with pytest.raises(ValueError, match="expected 30 frames per second, got 24"):
        fill_gaps([replace(clip, fps=24.0)], slerp, 200)
    with pytest.raises(ValueError, match="at least one clip"):
        fill_gaps([], slerp, 200)
    with pytest.raises(ValueError, match="generated"):
        fill_segments([clip], slerp, 200, context="truth")
