"""Fréchet distance, diversity, density and coverage: closed forms, invariances, a table that tells systems apart."""

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.inbetweening import distribution as dist
from motionbook.inbetweening.baselines import slerp, zero_velocity
from motionbook.inbetweening.windows import make_windows
from motionbook.kinematics import forward_kinematics


def normal(n: int, mean, covariance, seed: int = 0):
    """n points whose sample mean and covariance are exactly these."""
    x = np.random.default_rng(seed).standard_normal((n, len(mean)))
    x -= x.mean(axis=0)
    x = x @ np.linalg.inv(np.linalg.cholesky(np.cov(x, rowvar=False))).T
    return x @ np.linalg.cholesky(covariance).T + mean


def test_frechet_distance_of_normal_distributions_in_closed_form():
    """Covariances that commute: sum of squared differences of means and of standard deviations along the axes."""
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    first, second = (turn @ np.diag(np.square(s)) @ turn.T for s in ([1.0, 2.0, 0.5], [3.0, 1.0, 0.5]))
    a, b = normal(50, np.zeros(3), first), normal(70, np.array([1.0, 0.0, -2.0]), second, 2)
    assert dist.frechet_motion_distance(a, b) == pytest.approx(5.0 + 4.0 + 1.0, abs=1e-9)
    assert dist.frechet_motion_distance(b, a) == pytest.approx(10.0, abs=1e-9)
    assert dist.frechet_motion_distance(a, a) == pytest.approx(0.0, abs=1e-9)


def test_frechet_distance_agrees_with_a_general_matrix_root():
    """Covariances that do not commute, against SciPy's sqrtm."""
    linalg = pytest.importorskip("scipy.linalg")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((40, 5)) @ rng.standard_normal((5, 5)) for _ in range(2))
    first, second = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    shift = ((a.mean(axis=0) - b.mean(axis=0)) ** 2).sum()
    expected = shift + np.trace(first + second - 2 * linalg.sqrtm(first @ second).real)
    assert dist.frechet_motion_distance(a, b) == pytest.approx(expected, rel=1e-9)


def test_frechet_distance_is_finite_for_fewer_motions_than_features():
    """Covariances without full rank, where roots of products turn complex."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((6, 27)), rng.standard_normal((5, 27))
    assert 0 < dist.frechet_motion_distance(a, b) < np.inf
    assert dist.frechet_motion_distance(a, a) == pytest.approx(0.0, abs=1e-6)
    with pytest.raises(ValueError, match=r"generated: expected \(two or more motions, 27 features\)"):
        dist.frechet_motion_distance(a, b[:1])


def test_the_stated_bias_of_small_sets():
    """Two sets of n from one normal distribution: d (d + 5) / (2 n) in the mean, within a fifth at n = 400."""
    rng = np.random.default_rng(0)
    d, n = 8, 400
    found = [dist.frechet_motion_distance(*rng.standard_normal((2, n, d))) for _ in range(40)]
    assert np.mean(found) == pytest.approx(d * (d + 5) / (2 * n), rel=0.1)


def test_diversity_density_and_coverage_by_hand():
    assert dist.diversity([[0.0], [1.0], [3.0]]) == pytest.approx(2.0)
    real = np.array([[0.0], [1.0], [2.0], [10.0]])  # radii to the nearest: 1, 1, 1, 8
    density, coverage = dist.density_and_coverage(real, [[0.5], [2.5], [30.0]], k=1)
    # 0.5 lies with 0 and 1; 2.5 with 2 and 10; 30 with nobody
    assert density == pytest.approx(4 / 3) and coverage == 1.0
    assert dist.density_and_coverage(real, [[0.0], [0.1]], k=1)[1] == pytest.approx(0.5)
    with pytest.raises(ValueError, match="expected 1 to 3 neighbours"):
        dist.density_and_coverage(real, real, k=4)


def test_features_do_not_depend_on_place_and_heading_and_do_on_speed():
    places = forward_kinematics(random_clip(60, 0)).positions
    turned = rot.rotate(rot.from_axis_angle([0.0, 1.0, 0.0], 1.0), places) + np.array([3.0, 0.0, -1.0])
    found = dist.motion_features(np.stack([places, turned]))
    assert found.shape == (2, len(dist.FEATURES)) and np.allclose(found[0], found[1], atol=1e-9)
    slower, faster = (dist.motion_features(places[None], fps=fps)[0] for fps in (30.0, 60.0))
    at = [dist.FEATURES.index(name) for name in ("speed, hips", "acceleration, left arm", "excursion, trunk")]
    assert np.allclose((faster - slower)[at], np.log([2.0, 4.0, 1.0]), atol=0.01)


def test_a_jump_at_a_seam_shows_in_the_acceleration():
    """The frames on either side of the gap are part of the motion."""
    windows = make_windows([random_clip(70, 1)])

    def jumping(windows, transition):
        root, rotations = slerp(windows, transition)
        return root + 10.0, rotations

    smooth, jumps = (dist.window_motions(windows, 30, p).features[0] for p in (slerp, jumping))
    at = dist.FEATURES.index("acceleration, hips")
    assert jumps[at] - smooth[at] > 1.0


def test_the_table_tells_a_system_that_moves_from_one_that_does_not():
    clips = [random_clip(150, n) for n in range(8)]
    windows = make_windows(clips, 65, 20)
    real = dist.window_motions(windows, 30, None)
    assert len(np.unique(real.people)) == 8
    systems = {
        "0-velocity": dist.window_motions(windows, 30, zero_velocity),
        "copy": dist.Motions(real.features.copy(), real.people),
    }
    table = dist.distribution_table(real, systems, draws=20, k=3)
    assert list(table.index) == ["GT", "0-velocity", "copy"]
    assert table.loc["copy", "frechet"] == pytest.approx(table.loc["GT", "frechet"], rel=0.2)
    assert table.loc["0-velocity", "frechet"] > 3 * table.loc["GT", "frechet"]
    assert table.loc["0-velocity", "coverage"] < table.loc["copy", "coverage"]
    assert (table.frechet_low <= table.frechet).all() and (table.frechet <= table.frechet_high).all()
    assert table.loc["GT", "n_motions"] == len(windows)
    again = dist.distribution_table(real, systems, draws=20, k=3)
    assert table.equals(again)
    with pytest.raises(ValueError, match='"GT" is the row'):
        dist.distribution_table(real, {"GT": real})


def test_pieces_of_clips():
    clips = [random_clip(130, 0), random_clip(50, 1)]
    found = dist.clip_motions(clips, 60, ["anna", "ben"])
    assert found.features.shape == (2, 27) and list(found.people) == ["anna", "anna"]
    with pytest.raises(ValueError, match="none is as long as a piece of 60 frames"):
        dist.clip_motions(clips[1:], 60)
