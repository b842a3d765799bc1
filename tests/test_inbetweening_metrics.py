"""Metrics and baselines against the published evaluators' own results and against numbers worked out by hand."""

import json

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.bvh import read_bvh
from motionbook.clip import Clip, Skeleton
from motionbook.inbetweening import baselines
from motionbook.inbetweening.evaluation import position_moments, position_statistics, score_windows, world
from motionbook.inbetweening.metrics import continuous_signs, l2p, l2q, npss, npss_terms
from motionbook.inbetweening.windows import BENCHMARK, LENGTHS, STATISTICS, make_windows
from motionbook.skeletons import LAFAN1

NAMES = {"0-velocity": "zero_velocity", "SLERP": "interpolation", "SLERP-Q": "quadratic_f64_t"}


def assert_scores_agree(scores, expected):
    """Twelve cells of three metrics, and every window of each, to one part in a million."""
    checked = 0
    for (system, length), ours in scores.items():
        # SLERP-Q with times in float32, as released, where the float64 form was not stored (7e-8 apart)
        cells = expected[str(length)]
        theirs = cells.get(NAMES[system], cells["quadratic_staystill_f32_t"])
        shares = ours.npss_distance / ours.npss_power.sum()
        total = [ours.l2p.mean(), ours.l2q.mean(), shares.sum()]
        assert np.allclose(total, [theirs["L2P"], theirs["L2Q"], theirs["NPSS"]], rtol=1e-6, atol=0)
        checked += 1
        if "per_window" in theirs:
            each = theirs["per_window"]
            assert np.allclose(ours.l2p, each["L2P"], rtol=1e-6, atol=0)
            assert np.allclose(ours.l2q, each["L2Q"], rtol=1e-6, atol=0)
            assert np.allclose(shares, each["NPSS_contribution"], rtol=1e-6, atol=0)
    return checked


def test_reference_windows_synthetic(shared_data):
    """Qin et al.'s evaluator on a generated clip, statistics included.

    Fails when the statistics divide by n - 1, when signs start at the first predicted frame, or when easing is left
    out (each tried).
    """
    folder = shared_data / "inbetweening"
    expected = json.loads((folder / "synthetic_expected.json").read_text())
    clip = read_bvh(folder / "synthetic_clip.bvh", metres_per_unit=0.01, up="file")
    mean, std = position_statistics([position_moments(make_windows([clip], *STATISTICS))])
    assert np.allclose(std, expected["bench_std"], rtol=1e-6)
    assert np.allclose(mean, expected["bench_mean"], atol=1e-6)
    scores = score_windows(make_windows([clip], *BENCHMARK), std)
    assert assert_scores_agree(scores, expected["results"]) == 12


def test_reference_windows_real(shared_data):
    """The same on a piece of LaFAN1, whose quaternions change sign, with two sets of statistics."""
    folder = shared_data / "inbetweening"
    expected = json.loads((folder / "real_segment_expected.json").read_text())
    with np.load(folder / "real_segment.npz") as data:
        places, matrices = data["local_positions"], data["local_rotations"]
        statistics = {
            "with_bench_stats_from_5_clips": data["bench_std"],
            "with_lafan1_published_stats": data["lafan1_std"],
        }
    skeleton = Skeleton(LAFAN1.names, LAFAN1.parents, places[0] / 100)
    windows = make_windows([Clip(skeleton, places[:, 0] / 100, rot.from_matrix(matrices), 30.0)], *BENCHMARK)
    for name, std in statistics.items():
        assert assert_scores_agree(score_windows(windows, std), expected[name]) == 12


def test_l2p_and_l2q_by_hand():
    """Two joints off by 3-4-0 and 0-0-12 are off by 13 together; frames and windows are averaged."""
    truth = np.zeros((2, 2, 2, 3))
    guess = truth.copy()
    guess[0, 0, 0], guess[0, 0, 1] = [3, 4, 0], [0, 0, 12]
    assert l2p(truth, guess, np.ones((2, 3)), per_window=True) == pytest.approx([6.5, 0.0])
    assert l2p(truth, guess, np.full((2, 3), 2.0)) == pytest.approx(6.5 / 4)
    q = np.zeros((1, 1, 2, 4))
    q[..., 0] = 1.0
    turned = q.copy()
    turned[0, 0, 1] = [0, 1, 0, 0]
    assert l2q(q, turned) == pytest.approx(np.sqrt(2))


def test_npss_by_hand():
    """A constant against an alternating signal: all power at frequency 0 against all at 2, two bins apart."""
    truth, guess = np.zeros((1, 4, 1, 4)), np.zeros((1, 4, 1, 4))
    truth[..., 0] = 1.0
    guess[0, :, 0, 0] = [1, -1, 1, -1]
    assert npss(truth, guess) == pytest.approx(2.0)
    # against cos(2 pi t / 4): halves at 1 and 3, |cumulative| = 1, 1/2, 1/2, 0
    guess[0, :, 0, 0] = [1, 0, -1, 0]
    assert npss(truth, guess) == pytest.approx(2.0)
    # a second dimension that agrees, with a quarter of the power, is averaged in by power: 2 * 16 / (16 + 4)
    truth[..., 1] = guess[..., 1] = 0.5
    assert npss(truth, guess) == pytest.approx(1.6)
    # a spectrum whose sum is below the guard counts as zero: distance 1 at each of four frequencies
    assert npss(truth[..., :1], np.full((1, 4, 1, 1), 1e-6)) == pytest.approx(4.0)


@pytest.mark.parametrize("frames", [5, 15, 30, 45, 1, 2])
def test_npss_agrees_with_the_full_transform(frames):
    """The half spectrum in use gives what NumPy's whole FFT gives, odd and even lengths, and adds up over parts."""
    a, b = np.random.default_rng(frames).standard_normal((2, 6, frames, 3, 4))
    x, y = (np.real(np.fft.fft(q, axis=1)) ** 2 for q in (a, b))
    totals = x.sum(axis=1)
    gap = np.cumsum(y / y.sum(axis=1, keepdims=True), axis=1) - np.cumsum(x / totals[:, None], axis=1)
    expected = (np.abs(gap).sum(axis=1) * totals).sum() / totals.sum()
    assert npss(a, b) == pytest.approx(expected, rel=1e-10)
    assert npss(a, b, per_window=True).sum() == pytest.approx(expected, rel=1e-10)
    halves = [npss_terms(a[part], b[part]) for part in (slice(0, 2), slice(2, 6))]
    assert sum(h.distance.sum() for h in halves) / sum(h.power.sum() for h in halves) == pytest.approx(expected)


def test_continuous_signs_do_not_depend_on_the_signs_given():
    """Random sign changes of the input leave the result as it was; the first frame has w >= 0 or follows ``before``."""
    rng = np.random.default_rng(3)
    q = random_clip(40, 1).rotations[None]
    steady = continuous_signs(q)
    assert (steady[:, 0, :, 0] >= 0).all()
    assert (np.einsum("wfjc,wfjc->wfj", steady[:, 1:], steady[:, :-1]) > 0).all()
    mixed = q * rng.choice([-1.0, 1.0], (1, 40, 22, 1))
    assert np.array_equal(continuous_signs(mixed), steady)
    assert np.array_equal(continuous_signs(mixed[:, 10:], before=steady[:, 9]), steady[:, 10:])
    assert np.einsum("wfjc,wfjc->wfj", rot.unroll(q, axis=1), steady) ** 2 == pytest.approx(1.0)


def test_scores_do_not_depend_on_place_heading_or_signs():
    """A clip moved, turned about the vertical and stored with other signs scores the same."""
    clip = random_clip(145, 4)
    turn = rot.from_axis_angle([0.0, 1.0, 0.0], 2.1)
    turned = clip.rotations.copy()
    turned[:, 0] = rot.multiply(turn, turned[:, 0])
    turned *= np.random.default_rng(0).choice([-1.0, 1.0], (145, 22, 1))
    moved = Clip(clip.skeleton, rot.rotate(turn, clip.root_positions) + np.array([3.0, 0.0, -2.0]), turned, 30.0)
    std = np.full((22, 3), 10.0)
    before, after = (score_windows(make_windows([c]), std) for c in (clip, moved))
    for key in before:
        for a, b in zip(before[key], after[key], strict=True):
            assert np.allclose(a, b, rtol=1e-8)


def test_baselines_reach_from_context_to_target():
    """SLERP of a turn at constant speed is that turn; easing is symmetric, slow at both ends and meets it halfway."""
    angle = 0.01 * np.arange(65)
    rotations = rot.identity((65, 22))
    rotations[:, 15] = rot.from_axis_angle([0.0, 0.0, 1.0], 3 * angle)
    clip = Clip(LAFAN1, np.stack([angle, np.ones(65), -2 * angle], axis=-1), rotations, 30.0)
    windows = make_windows([clip])
    for length in LENGTHS:
        gap = slice(10, 10 + length)
        pose = baselines.slerp(windows, length)
        assert np.allclose(pose.root_positions, windows.root_positions[:, gap])
        # below 16 degrees the published code blends linearly
        near = 3 * 0.01 * (length + 1) / 2 < np.arccos(0.99)
        worst = rot.angle_between(pose.rotations, windows.rotations[:, gap]).max()
        assert worst < (2e-3 if near else 1e-7)
        eased = baselines.slerp_q(windows, length)
        step = np.linalg.norm(np.diff(eased.root_positions[0], axis=0), axis=-1)
        assert np.allclose(step, step[::-1]) and step[0] < step[len(step) // 2]
        held = baselines.zero_velocity(windows, length)
        assert held.rotations.shape == (1, length, 22, 4)
        assert np.array_equal(held.rotations[:, -1], windows.rotations[:, 9])
        places = world(windows, held).positions
        again = world(windows, baselines.LocalPose(*(np.array(p) for p in held))).positions
        assert np.array_equal(places, again) and places.shape == (1, length, 22, 3)
    with pytest.raises(ValueError, match="1 to 54"):
        baselines.slerp(windows, 55)


def test_slerp_takes_the_shorter_arc():
    """A target stored with the other sign gives the same frames."""
    windows = make_windows([random_clip(65, 9)])
    flipped = windows.rotations.copy()
    flipped[:, 55] *= -1
    from dataclasses import replace

    other = baselines.slerp(replace(windows, rotations=flipped), 45)
    assert np.allclose(other.rotations, baselines.slerp(windows, 45).rotations)
