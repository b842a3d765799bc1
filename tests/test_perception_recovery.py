"""Answers simulated from known scores are recovered, each fit within its own meaning."""

import numpy as np
import pandas as pd
import pytest

from motionbook.perception.comparisons import (
    THRESHOLDS,
    answer_chances,
    simulate_counts,
    simulated_answers,
    simulated_study,
)
from motionbook.perception.cumulative import ordered_pairs
from motionbook.perception.ordinal import fit_ordinal
from motionbook.perception.planner import fit_studies
from motionbook.perception.recovery import recovery
from motionbook.perception.responses import exclude
from motionbook.perception.sandwich import sandwich

TABLE_2 = pd.Series([1179.36, 1083.73, 1083.70, 913.38, 739.82], index=["GT", "NN", "SLERP-Q", "SLERP", "NOISE"])


def test_intervals_hold_what_they_promise_in_a_hundred_studies():
    table = recovery(TABLE_2, studies=100, seed=1)
    # two standard errors of 500 correlated intervals are about 3 %
    assert 0.90 <= table.ordinal_coverage.mean() <= 0.99
    assert 0.90 <= table.weighted_coverage.mean() <= 0.99
    # means within 3.5 standard errors: about 11 Elo points a study, 100 studies
    np.testing.assert_allclose(table.ordinal_mean, table.simulated, atol=4)
    np.testing.assert_allclose(table.weighted_mean, table.limit, atol=6)


def test_the_weighted_fit_does_not_hold_the_simulating_scores():
    table = recovery(TABLE_2, studies=100, seed=2)
    assert 0.1 < table.weighted_coverage_simulated.min() < 0.6 and table.weighted_coverage_simulated.max() < 0.92
    # each system lies further from the mean than it was simulated
    away = np.sign(TABLE_2 - 1000) * (table.limit - table.simulated)
    assert (away > 0).all()


def test_chances_of_answers():
    chances = answer_chances([1000.0, 1000.0], THRESHOLDS)
    np.testing.assert_allclose(chances.sum(1), 1)
    # equals: symmetric, a fifth of ties
    np.testing.assert_allclose(chances, chances[:, ::-1])
    assert chances[0, 2] == pytest.approx(0.207, abs=0.001)
    # 400 points are odds of ten to one: cut in the middle, ten times as often to the better side
    better = answer_chances([1200.0, 800.0], (1e-12,))[0]
    assert better[0] / better[-1] == pytest.approx(10, rel=1e-9)
    with pytest.raises(ValueError, match="positive rising"):
        answer_chances([1000.0, 900.0], (1.0, 0.5))


def test_many_studies_at_once_are_each_study_alone():
    rng = np.random.default_rng(0)
    counts = simulate_counts(TABLE_2.to_numpy(), 30, 3, rng)
    assert (counts.sum(2) == 16).all()
    names, pairs = sorted(TABLE_2.index), ordered_pairs(5)
    for model in ("ordinal", "weighted"):
        elo, covariance = fit_studies(counts, 5, model=model)
        raters, cells = np.nonzero(counts[1])
        times = counts[1][raters, cells]
        raters, cells = np.repeat(raters, times), np.repeat(cells, times)
        answers = pd.DataFrame(
            {
                "userID": [f"u{i:02d}" for i in raters],
                "left": [names[i] for i in pairs[cells // 5, 0]],
                "right": [names[i] for i in pairs[cells // 5, 1]],
                "choice": cells % 5 - 2,
            }
        )
        fit = fit_ordinal(answers) if model == "ordinal" else sandwich(answers)
        alone = fit.scores.elo.sort_index() if model == "ordinal" else fit.elo
        np.testing.assert_allclose(elo[1], alone, atol=1e-6)
        np.testing.assert_allclose(covariance[1], fit.covariance, rtol=1e-6, atol=1e-6)


def test_a_simulated_study_runs_through_the_exclusions():
    answers = simulated_study(TABLE_2, 118, 0)
    scored, flow = exclude(answers)
    assert flow.people.iloc[-1] == 118 < flow.people.iloc[0]
    assert len(scored) == 118 * 16 and (answers.groupby("userID").size() == 20).all()
    fit = fit_ordinal(scored)
    assert (np.abs(fit.scores.elo - TABLE_2[fit.scores.index]) < 4 * fit.scores.sd).all()
    # calibration shows the ends of the ranking
    assert set(answers.left[answers.responseCount < 2]) == {"GT", "NOISE"}


def test_a_simulated_study_is_the_same_for_the_same_seed():
    answers = simulated_answers(TABLE_2, 10, 3)
    assert len(answers) == 160 and set(answers.choice) <= {-2, -1, 0, 1, 2} and (answers.left != answers.right).all()
    pd.testing.assert_frame_equal(answers, simulated_answers(TABLE_2, 10, 3))
    assert not answers.equals(simulated_answers(TABLE_2, 10, 4))
