"""The five-level model against R, the side, ties by hand, errors over people, and how well the model fits."""

import numpy as np
import pandas as pd
import pytest

from motionbook.perception import (
    bootstrap_elo,
    exclude,
    fit_davidson,
    fit_elo,
    fit_ordinal,
    fit_position,
    goodness_of_fit,
    options_scale,
    read_responses,
    simulated_answers,
)
from motionbook.perception.comparisons import answer_chances
from motionbook.perception.cumulative import ordered_pairs
from motionbook.perception.sandwich import sandwich


@pytest.fixture(scope="module")
def oracle(shared_data):
    return shared_data / "perception" / "elo"


@pytest.fixture(scope="module")
def answers(oracle):
    return exclude(read_responses(oracle / "responses.csv")).answers


def mirrored(answers):
    return answers.assign(left=answers.right, right=answers.left, choice=-answers.choice)


def test_the_ordinal_model_agrees_with_r(answers, oracle):
    """R: ordinal::clm, log-likelihood -2907.861; its optimiser stops about 1e-5 Elo from the maximum."""
    fit = fit_ordinal(answers)
    expected = pd.read_csv(oracle / "ordinal_bt_oracle.csv", index_col="system")
    assert fit.log_likelihood == pytest.approx(-2907.861, abs=5e-4)
    assert fit.log_likelihood == pytest.approx(-expected.nll.iloc[0], abs=1e-6)
    np.testing.assert_allclose(fit.scores.elo[expected.index], expected.elo_scaled, atol=5e-5)
    terms = expected[["left_bias", "t1", "t2"]].iloc[0]
    np.testing.assert_allclose(fit.terms.value[terms.index], terms, atol=1e-6)


def log_likelihood(answers, scores, terms):
    names = sorted(scores.index)
    chances = answer_chances(scores[names], terms.drop("left_bias").to_numpy(), terms["left_bias"])
    place = {(names[a], names[b]): i for i, (a, b) in enumerate(ordered_pairs(len(names)))}
    pair = [place[key] for key in zip(answers.left, answers.right, strict=True)]
    return np.log(chances[pair, answers.choice + chances.shape[1] // 2]).sum()


def test_the_fit_is_a_maximum_on_a_seven_point_scale():
    elo = pd.Series([1150.0, 1000.0, 850.0], index=["A", "B", "C"])
    answers = simulated_answers(elo, 60, 3, thresholds=(0.3, 0.9, 1.8), left_bias=0.2)
    fit = fit_ordinal(answers, weights=options_scale(7).weights)
    best = log_likelihood(answers, fit.scores.elo, fit.terms.value)
    assert best == pytest.approx(fit.log_likelihood, abs=1e-8)
    found = {"scores": fit.scores.elo, "terms": fit.terms.value}
    for part, step in (("scores", 1.0), ("terms", 0.01)):
        for name in found[part].index:
            lower, higher = (
                log_likelihood(answers, **(found | {part: found[part] + sign * step * (found[part].index == name)}))
                for sign in (-1, 1)
            )
            # lower on either side, and level in the middle
            assert max(lower, higher) < best
            assert abs(higher - lower) < 0.02 * (2 * best - lower - higher)


def test_two_answers_without_a_tie_are_bradley_terry_with_a_side(answers):
    binary = answers[answers.choice != 0].assign(choice=lambda frame: np.sign(frame.choice))
    weights = options_scale(2).weights
    ordinal, position = fit_ordinal(binary, weights=weights), fit_position(binary, weights=weights)
    np.testing.assert_allclose(ordinal.scores.elo, position.scores.elo, atol=1e-8)
    assert list(ordinal.terms.index) == ["left_bias"]
    # each answer shown both ways has no side left, and the rest is plain Bradley-Terry
    both = pd.concat([binary, mirrored(binary)])
    even = fit_position(both, weights=weights)
    assert even.terms.value["left_bias"] == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(even.scores.elo, fit_elo(binary, weights=weights).elo[even.scores.index], atol=1e-7)


def test_convention_a_positive_bias_favours_the_left():
    elo = pd.Series([1050.0, 950.0], index=["A", "B"])
    answers = simulated_answers(elo, 300, 0, left_bias=0.4)
    assert answers.choice.mean() < 0
    for fit in (fit_ordinal, fit_position):
        term = fit(answers).terms.loc["left_bias"]
        assert abs(term.value - 0.4) < 3 * term.sd or fit is fit_position
        assert term.value > 3 * term.sd
        turned = fit(mirrored(answers))
        assert turned.terms.value["left_bias"] == pytest.approx(-term.value, abs=1e-9)
        assert turned.scores.elo["A"] == pytest.approx(fit(answers).scores.elo["A"], abs=1e-7)
    assert fit_davidson(answers).left_bias > 0.2


def test_answers_that_do_not_bound_the_ordinal_model_are_refused():
    frame = pd.DataFrame(
        [("a", "X", "Y", -2), ("b", "X", "Y", -2), ("a", "Y", "Z", 0), ("b", "Z", "Y", 1)],
        columns=["userID", "left", "right", "choice"],
    )
    with pytest.raises(ValueError, match="do not bound the scores of X: every comparison"):
        fit_ordinal(frame)
    with pytest.raises(ValueError, match="nobody gave an answer of grade 1"):
        fit_ordinal(frame[frame.choice != 1])
    # slight preferences among the clear ones bound X, although it never loses
    both = pd.concat([frame, frame.iloc[[0, 2, 3]].assign(choice=[-1, 2, 0])])
    fit = fit_ordinal(pd.concat([both, mirrored(both)]))
    assert fit.scores.index[0] == "X" and fit.scores.elo["X"] < 3000
    with pytest.raises(ValueError, match="answers do not determine scores, thresholds and side at once"):
        fit_ordinal(pd.concat([frame, frame.iloc[:1].assign(choice=-1)]))


def test_davidson_s_ties_by_hand():
    """30 wins, 10 losses and 20 ties: ln 3 apart, and ties at nu = 20 / sqrt(300)."""
    rows = [("A", "B", -1)] * 15 + [("B", "A", 1)] * 15 + [("A", "B", 1)] * 5 + [("B", "A", -1)] * 5
    rows += [("A", "B", 0)] * 10 + [("B", "A", 0)] * 10
    answers = pd.DataFrame(rows, columns=["left", "right", "choice"]).assign(userID="a")
    fit = fit_davidson(answers)
    assert fit.scores.elo["A"] - fit.scores.elo["B"] == pytest.approx(400 * np.log10(3), abs=1e-7)
    assert fit.tie == pytest.approx(np.log(20 / np.sqrt(300)), abs=1e-9)
    assert fit.left_bias == pytest.approx(0, abs=1e-9)
    share = np.array([30, 10, 20])
    assert fit.log_likelihood == pytest.approx((share * np.log(share / 60)).sum(), abs=1e-9)
    with pytest.raises(ValueError, match="no ties"):
        fit_davidson(answers[answers.choice != 0])


def test_errors_over_people_agree_with_jackknife_and_bootstrap(answers):
    """Published check: 11.6, 12.5, 15.9, 10.3, 12.9 in the order GT, NN, NOISE, SLERP, SLERP-Q."""
    found = sandwich(answers).frame().sd.sort_index()
    np.testing.assert_allclose(found, [11.6, 12.5, 15.9, 10.3, 12.9], atol=0.1)
    users = answers.userID.nunique()
    without, _ = bootstrap_elo(answers, user_counts=1 - np.eye(users, dtype=int))
    jackknife = np.sqrt((users - 1) ** 2 / users * without.var(ddof=1))
    np.testing.assert_allclose(found, jackknife, rtol=0.02)
    ordinal = fit_ordinal(answers).scores.sd
    assert (ordinal < found[ordinal.index]).all()


def test_errors_over_people_and_clips_add_up(answers):
    parts = {unit: sandwich(answers, unit=unit).covariance for unit in ("user", "clip", "user and clip")}
    both = answers.assign(userID=answers.userID + "/" + answers["clip"].astype(str))
    crossed = parts["user"] + parts["clip"] - sandwich(both).covariance
    np.testing.assert_allclose(parts["user and clip"], crossed, rtol=1e-8)
    # every answer its own unit: the people and their habits gone
    independent = sandwich(answers.assign(userID=np.arange(len(answers)).astype(str)))
    np.testing.assert_allclose(sandwich(answers, unit="answer").covariance, independent.covariance, rtol=1e-10)
    with pytest.raises(ValueError, match="at least two clips, got 0"):
        sandwich(answers.drop(columns="clip"), unit="clip")


def test_deviance_agrees_with_r(answers, oracle):
    expected = pd.read_csv(oracle / "bradleyterry2_oracle.csv").iloc[0]
    fit = goodness_of_fit(answers)
    assert fit.summary.deviance == pytest.approx(expected.deviance, abs=1e-8) and fit.summary.df == expected.df == 6
    assert len(fit.pairs) == 10 and (fit.pairs.wins * 0 == 0).all()


def test_the_robust_test_of_fit_holds_its_level_and_sees_a_misfit():
    rng = np.random.default_rng(2)
    strength = np.array([0.8, 0.2, -0.3, -0.7])
    ps, zs = [], []
    for _ in range(120):
        pair = np.array([rng.choice(4, 2, replace=False) for _ in range(600)])
        wins = rng.random(600) < 1 / (1 + np.exp(strength[pair[:, 1]] - strength[pair[:, 0]]))
        frame = pd.DataFrame(
            {"userID": np.arange(600) // 10, "left": pair[:, 0], "right": pair[:, 1], "choice": np.where(wins, -1, 1)}
        ).astype({"userID": str, "left": str, "right": str})
        # each answer thrice: the deviance triples, the robust test stays
        fit = goodness_of_fit(pd.concat([frame] * 3))
        ps.append(fit.summary)
        zs.append(fit.pairs.z)
    ps = pd.DataFrame(ps)
    np.testing.assert_allclose(pd.DataFrame(zs).std(), 1.0, atol=0.2)
    assert 0.4 < ps.robust_p.mean() < 0.6 and (ps.robust_p < 0.05).mean() < 0.12
    assert (ps.deviance > 7.81).mean() > 0.3
    # rock, paper, scissors beside one that loses to all
    wins = (pair[:, 1] - pair[:, 0]) % 3 == 1
    frame["choice"] = np.where(wins ^ (rng.random(600) < 0.2), -1, 1)
    assert goodness_of_fit(frame).summary.robust_p < 1e-4
