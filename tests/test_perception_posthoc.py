"""Marginal means and comparisons against R's emmeans; corrections against statsmodels and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from motionbook.perception import adjust_p, marginal_means, mixed_anova, pairwise, simple_effects, tukey_unpaired

WITHIN, BETWEEN = ["identity", "clothing", "strength"], ["motion", "gender"]


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data / "perception" / "anova"


@pytest.fixture(scope="module")
def mild(folder):
    return pd.read_csv(folder / "anova_A_n47_mild.csv")


def test_marginal_means_equal_emmeans(folder, mild):
    expected = pd.read_csv(folder / "emmeans_strength_A.csv")
    ours = marginal_means(mild, "y", "subject", WITHIN, BETWEEN, factors="strength")
    for name, column in (("mean", "emmean"), ("se", "SE"), ("low", "lower.CL"), ("high", "upper.CL"), ("df", "df")):
        np.testing.assert_allclose(ours[name], expected[column], rtol=1e-10)


@pytest.mark.parametrize("adjust", ["tukey", "holm"])
def test_comparisons_equal_emmeans(folder, mild, adjust):
    """Fails when groups are weighed by their size, or Tukey's range lacks its factor of the square root of two."""
    expected = pd.read_csv(folder / f"emmeans_{adjust}_strength_A.csv")
    ours = pairwise(mild, "y", "subject", WITHIN, BETWEEN, factor="strength", adjust=adjust)
    names = "X" + ours.a.astype(str) + " - X" + ours.b.astype(str)
    assert names.tolist() == expected.contrast.tolist()
    for name, column in (("difference", "estimate"), ("se", "SE"), ("t", "t.ratio"), ("df", "df")):
        np.testing.assert_allclose(ours[name], expected[column], rtol=1e-10)
    np.testing.assert_allclose(ours.p_adjusted, expected["p.value"], rtol=1e-9 if adjust == "holm" else 0, atol=1e-10)


def test_ignoring_repeated_measures_changes_a_conclusion(folder):
    data = pd.read_csv(folder / "anova_C_n46_likert.csv")
    ours = pairwise(data, "y", "subject", WITHIN, BETWEEN, factor="strength").iloc[-1]
    long = tukey_unpaired(data, "y", "strength").iloc[-1]
    assert (ours.a, ours.b) == (long.a, long.b) == (4, 5)
    assert ours.p_adjusted == pytest.approx(0.055, abs=5e-4) and long.p_adjusted == pytest.approx(0.011, abs=5e-4)


def test_without_groups_a_comparison_is_the_paired_t_test(folder):
    data = pd.read_csv(folder / "anova_C_n46_likert.csv")
    means = data.groupby(["subject", "strength"]).y.mean().unstack()
    ours = pairwise(data, "y", "subject", "strength", factor="strength", adjust="none")
    paired = stats.ttest_rel(means[1], means[2])
    np.testing.assert_allclose([ours.t[0], ours.p_adjusted[0]], [paired.statistic, paired.pvalue], rtol=1e-10)


def test_a_two_level_factor_compared_is_its_f_test(mild):
    anova = mixed_anova(mild, "y", "subject", WITHIN, BETWEEN)
    for factor in ("identity", "gender"):
        ours = pairwise(mild, "y", "subject", WITHIN, BETWEEN, factor=factor).iloc[0]
        assert ours.t**2 == pytest.approx(anova.F[factor], rel=1e-9)
        assert ours.p_adjusted == pytest.approx(anova.p[factor], rel=1e-6)


def test_comparisons_by_another_factor_and_simple_effects(mild):
    parts = pairwise(mild, "y", "subject", WITHIN, BETWEEN, factor="strength", by=["identity", "motion"], adjust="holm")
    assert len(parts) == 4 * 10 and list(parts.columns[:4]) == ["identity", "motion", "a", "b"]
    means = marginal_means(mild, "y", "subject", WITHIN, BETWEEN, factors=["identity", "motion", "strength"])["mean"]
    row = parts.iloc[13]
    gap = means[row.identity, row.motion, row.a] - means[row.identity, row.motion, row.b]
    assert row.difference == pytest.approx(gap, abs=1e-12)
    simple = simple_effects(mild, "y", "subject", WITHIN, BETWEEN, at="motion")
    alone = mixed_anova(mild[mild.motion == "hop"], "y", "subject", WITHIN, "gender")
    np.testing.assert_allclose(simple.loc["hop"].F, alone.F, rtol=1e-12)
    assert simple.attrs["levels"]["hop"]["n"] + simple.attrs["levels"]["walk"]["n"] == 47


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("fdr", "fdr_bh"), ("bonferroni", "bonferroni")])
def test_corrections_equal_statsmodels(ours, theirs):
    multipletests = pytest.importorskip("statsmodels.stats.multitest", reason="comparator").multipletests
    p = np.random.default_rng(0).beta(0.4, 2.0, 40)
    p[7] = p[11]
    np.testing.assert_allclose(adjust_p(p, ours), multipletests(p, method=theirs)[1], rtol=1e-12)


def test_corrections_by_hand_and_with_gaps():
    np.testing.assert_allclose(adjust_p([0.01, np.nan, 0.04, 0.03], "holm"), [0.03, np.nan, 0.06, 0.06])
    np.testing.assert_allclose(adjust_p([0.01, 0.04, 0.03], "fdr"), [0.03, 0.04, 0.04])
    assert adjust_p([], "holm").size == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"factor": "speed"}, "expected some of identity, clothing, strength, motion, gender, got speed"),
        ({"factor": "strength", "by": "strength"}, "strength is the factor compared"),
        ({"factor": "strength", "adjust": "scheffe"}, "adjust: expected tukey, holm"),
    ],
)
def test_comparisons_that_make_no_sense_are_refused(mild, arguments, words):
    with pytest.raises(ValueError, match=words):
        pairwise(mild, "y", "subject", WITHIN, BETWEEN, **arguments)
