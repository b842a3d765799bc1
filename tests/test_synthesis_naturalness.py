"""Embedded idle motion beside recorded idle motion: the statistics against known answers, then the two compared."""

import numpy as np
import pytest

from motionbook.clip import Clip
from motionbook.inbetweening.evaluation import position_moments, position_statistics
from motionbook.inbetweening.naturalness import compare_idle, idle_statistics, recorded_statistics, reference_clips
from motionbook.inbetweening.windows import STATISTICS, make_windows
from motionbook.skeletons import LAFAN1
from motionbook.synthesis.naturalness import SLOPE, SPEED, STILL, comparison, motion_statistics, spectral_slope
from motionbook.synthesis.performers import idle, make_performer
from motionbook.synthesis.signals import Key, blend_keys, coloured_noise, minimum_jerk, slerp_keys


@pytest.fixture(scope="module")
def embedded():
    return [idle(make_performer(subject, 0), 40.0) for subject in range(6)]


def moving_root(velocity, frames=600):
    root = np.arange(frames)[:, None] / 30.0 * np.asarray(velocity)
    turns = np.tile([1.0, 0.0, 0.0, 0.0], (frames, 22, 1))
    return Clip(LAFAN1, root, turns, 30.0)


def test_speed_and_stillness_of_a_body_carried_along():
    slow, fast = moving_root([0.015, 0, 0]), moving_root([0.0, 0, 0.04])
    rng = np.random.default_rng(0)
    noisy = [
        Clip(c.skeleton, c.root_positions + 1e-6 * rng.standard_normal((600, 3)), c.rotations, 30.0)
        for c in (slow, fast, fast)
    ]
    values = motion_statistics(noisy)
    assert values[SPEED] == pytest.approx(0.04, rel=1e-2)
    assert values[STILL] == pytest.approx(1 / 3, abs=1e-3)


@pytest.mark.parametrize("slope", [0.0, 2.0, 3.0])
def test_spectral_slope_of_noise_with_a_known_one(slope):
    """Noise made in the frequency domain of a long period, apart from the library's own."""
    rng = np.random.default_rng(1)
    frequency = np.fft.rfftfreq(6000, 1 / 30)
    shape = np.where(frequency > 0, np.maximum(frequency, 1e-9), np.inf) ** (-slope / 2)
    phases = rng.standard_normal((3001, 40)) + 1j * rng.standard_normal((3001, 40))
    noise = np.fft.irfft(shape[:, None] * phases, axis=0)
    assert spectral_slope(noise, 30.0) == pytest.approx(-slope, abs=0.15)


def test_coloured_noise_has_the_slope_and_variance_it_is_asked_for():
    from scipy.signal import welch

    noise = coloured_noise(3000, 300, 30.0, np.random.default_rng(2), corner=0.15, slope=3.0)
    assert noise.std() == pytest.approx(1.0, abs=0.03)
    frequency, power = welch(noise, 30.0, nperseg=600, axis=0)
    band = (frequency > 0.4) & (frequency < 3.0)
    assert np.polyfit(np.log(frequency[band]), np.log(power[band].mean(1)), 1)[0] == pytest.approx(-3.0, abs=0.15)


def test_minimum_jerk_profile():
    assert np.allclose(minimum_jerk([-1.0, 0.0, 0.5, 1.0, 2.0]), [0.0, 0.0, 0.5, 1.0, 1.0])
    share = np.linspace(0.0, 1.0, 2001)
    speed = np.gradient(minimum_jerk(share), share)
    assert speed.max() == pytest.approx(1.875, abs=1e-3)  # of the mean speed, Flash and Hogan (1985)
    assert speed[0] == pytest.approx(0.0, abs=1e-3) and speed[-1] == pytest.approx(0.0, abs=1e-3)


def test_overlapping_keys_end_at_the_last_one():
    seconds = np.arange(90) / 30.0
    keys = [Key(0.2, 1.0, np.array([1.0])), Key(0.7, 1.0, np.array([-2.0]))]
    path = blend_keys([0.0], keys, seconds)[:, 0]
    assert path[0] == 0.0 and path[-1] == -2.0 and 0.0 < path.max() < 1.0
    half = [np.array([1.0, 0, 0, 0]), np.array([0.0, 0, 1.0, 0])]
    turns = slerp_keys(half[0], [Key(0.0, 2.0, half[1])], seconds)
    assert np.allclose(np.linalg.norm(turns, axis=-1), 1.0) and np.allclose(
        turns[30], [np.sqrt(0.5), 0, np.sqrt(0.5), 0]
    )


def test_embedded_idle_is_within_a_factor_of_two_of_the_recorded_values(embedded):
    table = compare_idle(embedded)
    assert table["within factor 2"].all(), table.to_string()
    assert len(table) == 3 + 2 * 2 * 4
    assert "shipped" in table.attrs["note"] and "30" in table.attrs["note"]


def test_no_coordinate_of_a_foot_is_frozen(embedded):
    """L2P divides by the spread of each coordinate: feet that never lift made it 18 times too large in one cast."""
    _, std = position_statistics([position_moments(make_windows(embedded, *STATISTICS))])
    assert std.min() > 0.1  # cm


def test_the_table_notices_people_who_move_too_little(embedded):
    stiff = [
        Clip(
            c.skeleton,
            c.root_positions.mean(0) + 0.2 * (c.root_positions - c.root_positions.mean(0)),
            c.rotations,
            c.fps,
        )
        for c in embedded
    ]
    frozen = [Clip(c.skeleton, c.root_positions, np.tile(c.rotations[:1], (len(c), 1, 1)), c.fps) for c in stiff]
    table = compare_idle(frozen).set_index("statistic")
    assert not table.loc[SPEED, "within factor 2"] and not table.loc[STILL, "within factor 2"]
    assert not table.loc["0-velocity L2P (m) @30", "within factor 2"]


def test_recorded_values_are_those_of_the_real_clips(shared_data):
    clips = reference_clips(shared_data / "reactidle")
    stored = recorded_statistics()
    measured = idle_statistics(clips)
    assert len(clips) == len(stored["clips"]) == 12 and sum(map(len, clips)) == stored["frames"]
    for name, value in measured.items():
        assert stored["statistics"][name] == pytest.approx(value, rel=1e-3), name


def test_every_statistic_of_embedded_idle_is_near_the_real_clips(embedded, shared_data):
    table = compare_idle(embedded, reference_clips(shared_data / "reactidle"))
    assert table["within factor 2"].all(), table.to_string()
    assert "computed now" in table.attrs["note"]
    assert -4.0 < table.set_index("statistic").loc[SLOPE, "embedded"] < -2.0


def test_a_statistic_that_was_not_recorded_is_an_error():
    with pytest.raises(KeyError, match="measure the reference again"):
        comparison({SPEED: 1.0}, {STILL: 1.0})
