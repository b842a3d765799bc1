"""Intraclass correlations, Krippendorff's alpha, Friedman and exact Spearman against published and reference values."""

import json
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from motionbook.perception import (
    durbin_conover,
    friedman,
    icc,
    krippendorff_alpha,
    pearson_interval,
    pilot_table,
    spearman_exact,
)
from motionbook.synthesis.rating_panel import PILOT_STRENGTHS, level_of, pilot_study

# Krippendorff (2011), "Computing Krippendorff's alpha-reliability": four observers, twelve units, 0 not observed
EXAMPLE = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ],
    dtype=float,
).T


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data / "perception"


def test_intraclass_correlations_equal_shrout_and_fleiss(folder):
    expected = json.loads((folder / "expected_real.json").read_text())["shrout_fleiss_1979"]
    ours = icc(pd.read_csv(folder / "shrout_fleiss_1979.csv", index_col=0).to_numpy())
    for form, value in expected["published"].items():
        assert round(ours.icc[form], 2) == value
        assert ours.icc[form] == pytest.approx(expected["own"][form], rel=1e-12)
    # their table: single ratings, 95 %
    assert ours.low["ICC3"] == pytest.approx(0.34, abs=0.005) and ours.high["ICC3"] == pytest.approx(0.95, abs=0.005)


@pytest.mark.filterwarnings("ignore")  # its own
def test_intraclass_correlations_and_intervals_equal_pingouin(folder):
    pingouin = pytest.importorskip("pingouin", reason="comparator")
    scores = pd.read_csv(folder / "nflx_dataset_public_raw.csv").iloc[:, 3:]
    long = scores.stack().rename("s").rename_axis(["t", "j"]).reset_index()
    theirs = pingouin.intraclass_corr(long, "t", "j", "s")
    ours = icc(scores.to_numpy())
    np.testing.assert_allclose(ours.icc, theirs["ICC"], rtol=1e-9)
    np.testing.assert_allclose(ours[["low", "high"]], np.stack(theirs["CI95"]), atol=0.0051)


def test_stimuli_without_every_score_are_left_out_and_counted():
    x = np.random.default_rng(0).normal(size=(12, 1)) + 0.3 * np.random.default_rng(1).normal(size=(12, 4))
    gap = x.copy()
    gap[3, 1] = np.nan
    assert icc(gap).icc["ICC2"] == pytest.approx(icc(np.delete(x, 3, 0)).icc["ICC2"]) and icc(gap).attrs["dropped"] == 1
    with pytest.raises(ValueError, match="krippendorff_alpha takes missing scores"):
        icc(np.where(np.eye(4, dtype=bool), np.nan, x[:4]))


@pytest.mark.parametrize(
    ("level", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_equals_krippendorffs_own_example(level, value):
    """Fails when units with a single score are kept, or the ordinal distance counts both ends whole."""
    assert krippendorff_alpha(np.where(EXAMPLE > 0, EXAMPLE, np.nan), level) == pytest.approx(value, abs=6e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_equals_the_krippendorff_package(folder, level):
    package = pytest.importorskip("krippendorff", reason="comparator")
    scores = pd.read_csv(folder / "sureal_demo_79x26.csv", header=None).to_numpy()
    holes = np.where(np.random.default_rng(0).random(scores.shape) < 0.3, np.nan, scores)
    for table in (scores, holes):
        theirs = package.alpha(reliability_data=table.T, level_of_measurement=level)
        assert krippendorff_alpha(table, level) == pytest.approx(theirs, abs=1e-12)


def test_alpha_at_its_ends():
    same = np.repeat([[1.0], [2.0], [5.0]], 4, axis=1)
    assert krippendorff_alpha(same, "interval") == 1.0
    opposite = np.array([[1.0, 5.0], [5.0, 1.0], [1.0, 5.0]])
    assert krippendorff_alpha(opposite, "interval") < 0
    with pytest.raises(ValueError, match="all scores are equal"):
        krippendorff_alpha(np.ones((3, 3)))
    with pytest.raises(ValueError, match="a stimulus with two scores"):
        krippendorff_alpha(np.array([[1.0, np.nan], [np.nan, 2.0]]))
    with pytest.raises(ValueError, match=r"does not have: \[5\.0\]"):
        krippendorff_alpha(opposite, values=[1, 2, 3, 4])


def test_friedman_and_durbin_conover_equal_r(folder):
    table = pd.read_csv(folder / "anova" / "friedman_pilot.csv", index_col=0)
    expected = pd.read_csv(folder / "anova" / "friedman_pilot_result.csv").iloc[0]
    ours = friedman(table)
    np.testing.assert_allclose([ours.chi2, ours.df, ours.p], [expected.statistic, expected.df, expected.p], rtol=1e-12)
    scipys = stats.friedmanchisquare(*table.to_numpy().T)
    assert ours.chi2 == pytest.approx(scipys.statistic, rel=1e-12)
    pairs, oracle = durbin_conover(table), pd.read_csv(folder / "anova" / "durbin_conover_pilot.csv")
    assert pairs[["a", "b"]].equals(oracle[["a", "b"]].astype(pairs.a.dtype))
    for name, column in (("t", "t"), ("p", "p"), ("p_adjusted", "p_holm")):
        np.testing.assert_allclose(pairs[name], oracle[column], rtol=1e-10)


def test_tables_without_ranks_are_refused():
    with pytest.raises(ValueError, match="1 scores are missing"):
        friedman([[1, 2, 3], [1, np.nan, 2]])
    with pytest.raises(ValueError, match="nobody told any two levels apart"):
        friedman(np.ones((4, 3)))
    with pytest.raises(ValueError, match="the same order"):
        durbin_conover(np.tile([1, 2, 3], (4, 1)))


def test_exact_spearman_equals_the_count_over_all_orders(folder):
    frame = pd.read_csv(folder / "anova" / "corr_input.csv").iloc[:10]
    rho, p = spearman_exact(frame.x, frame.y)
    assert rho == pytest.approx(stats.spearmanr(frame.x, frame.y).statistic, abs=1e-12) and p == 13446 / 3628800
    # with ties, against all 720 orders
    x, y = np.array([1, 2, 2, 3, 5, 4]), np.array([2, 1, 3, 3, 5, 5])
    rho, p = spearman_exact(x, y)
    a, b = stats.rankdata(x), stats.rankdata(y)
    every = np.array([np.corrcoef(a, b[list(order)])[0, 1] for order in permutations(range(6))])
    assert p == pytest.approx((np.abs(every) >= abs(rho) - 1e-12).mean(), abs=1e-12)
    with pytest.raises(ValueError, match="from 3 to 14"):
        spearman_exact(np.arange(15), np.arange(15))


def test_the_interval_of_ten_stimuli_is_wide():
    low, high = pearson_interval(0.917, 10)
    assert (round(low, 2), round(high, 2)) == (0.68, 0.98)
    ours = stats.pearsonr(*np.random.default_rng(0).normal(size=(2, 30)))
    expected = ours.confidence_interval()
    np.testing.assert_allclose(pearson_interval(ours.statistic, 30), [expected.low, expected.high], rtol=1e-10)


def test_the_pilot_has_46_stimuli_and_the_papers_degrees_of_freedom():
    ratings = pilot_study(5, seed=0)
    assert ratings.groupby("participant").size().tolist() == [46] * 5
    tests, pairs = pilot_table(ratings)
    # foot contact: eight strengths are listed, so 7, where the paper prints 6
    assert tests.df.to_dict() == {
        "foot skate glide": 5,
        "foot skate moonwalking": 7,
        "foot contact": 7,
        "motion smoothness": 8,
        "temporal twists": 8,
        "self-intersections": 5,
    }
    assert (pairs.groupby("distortion").size() == pd.Series({k: n * (n - 1) // 2 for k, n in lengths().items()})).all()
    assert level_of("moonwalk", 0.97) == 1 and level_of("moonwalk", 0.2) == 5 and level_of("moonwalk", 0.1) > 5
    assert level_of("contact", 0.025) < 1


def lengths():
    return {kind: len(strengths) for kind, strengths in sorted(PILOT_STRENGTHS.items())}
