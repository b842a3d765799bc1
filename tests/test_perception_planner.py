"""Numbers of raters against simulated studies, and against what a pilot's own errors say."""

import numpy as np
import pandas as pd
import pytest

from motionbook.perception import plan_curve, raters_from_answers, raters_needed, simulated_answers, simulated_power
from motionbook.perception.planner import expected_fit
from motionbook.perception.sandwich import sandwich

ELO = pd.Series([1180.0, 1085.0, 1015.0, 915.0, 805.0], index=["GT", "NN", "EASE", "SLERP", "NOISE"])


@pytest.mark.parametrize("model", ["weighted", "ordinal"])
@pytest.mark.parametrize("power", [0.5, 0.9])
def test_planned_raters_reach_the_power_in_simulation(model, power):
    plan = raters_needed(ELO, "NN", "EASE", power=power, model=model, comparisons=10)
    reached = simulated_power(ELO, "NN", "EASE", plan.raters, studies=600, model=model, comparisons=10, seed=1)
    # two standard errors of 600 studies are 0.04; Student's t costs small studies a little more
    assert abs(reached - power) < 0.055


def test_equal_systems_are_told_apart_as_often_as_the_level_says():
    even = ELO.replace({1085.0: 1050.0, 1015.0: 1050.0})
    assert simulated_power(even, "NN", "EASE", 80, studies=800, alpha=0.1) == pytest.approx(0.1, abs=0.03)
    with pytest.raises(ValueError, match="the same score, which no number of raters tells apart"):
        raters_needed(even, "NN", "EASE")


def test_the_expected_fit_is_that_of_a_very_large_study():
    limit, covariance = expected_fit(ELO)
    answers = simulated_answers(ELO, 20_000, 0)
    found = sandwich(answers)
    order = [found.systems.index(name) for name in ELO.index]
    sd = np.sqrt(np.diag(found.covariance))[order]
    assert (np.abs(found.elo[order] - limit) < 4 * sd).all()
    np.testing.assert_allclose(sd * np.sqrt(20_000), np.sqrt(np.diag(covariance)), rtol=0.03)
    # the weights stretch differences
    assert np.ptp(limit) > 1.05 * np.ptp(ELO)


def test_a_pilot_plans_as_the_closed_form_does():
    answers = simulated_answers(ELO, 4000, 2)
    table = raters_from_answers(answers, difference=50.0)
    _, covariance = expected_fit(ELO)
    sd = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert table.sd_of_one["GT - NN"] == pytest.approx(sd, rel=0.05)
    # what as many raters detect takes as many raters
    again = raters_from_answers(answers, difference=table.detectable["GT - NN"])
    assert again.raters["GT - NN"] == pytest.approx(4000, abs=1)
    assert len(table) == 10 and table.index[0] == "GT - NN"


def test_half_the_difference_takes_four_times_the_raters():
    curve = plan_curve([10, 20, 40], models=("ordinal",))
    np.testing.assert_allclose(curve.raters.to_numpy()[:-1] / curve.raters.to_numpy()[1:], 4, rtol=0.06)
    with pytest.raises(KeyError, match="no system 'X'"):
        raters_needed(ELO, "GT", "X")
    with pytest.raises(ValueError, match="0 < alpha < power < 1"):
        raters_needed(ELO, "GT", "NN", power=1.0)
    with pytest.raises(ValueError, match="expected 'weighted' or 'ordinal', got 'probit'"):
        raters_needed(ELO, "GT", "NN", model="probit")
