"""Bradley-Terry ranking against R, an independent implementation, and cases worked by hand."""

import numpy as np
import pandas as pd
import pytest

from motionbook.perception import bootstrap_elo, exclude, fit_elo, mos, pair_differences, read_ratings, read_responses
from motionbook.perception.elo import elo_from_wins, is_connected, win_rate_from_wins
from motionbook.perception.inputs import source_names, study_facts
from motionbook.synthesis.raters import pairwise_study, rating_study


@pytest.fixture(scope="module")
def oracle(shared_data):
    return shared_data / "perception" / "elo"


@pytest.fixture(scope="module")
def scored(oracle):
    return exclude(read_responses(oracle / "responses.csv"))


def test_exclusions_follow_the_published_order(scored):
    assert scored.flow.people.tolist() == [131, 125, 125, 118, 118]
    assert scored.flow.answers.iloc[-1] == len(scored.answers) == 2022


def test_elo_and_win_rates_agree_with_the_oracle_and_with_r(scored, oracle):
    expected = pd.read_csv(oracle / "elo_oracle.csv", index_col="system")
    ours = fit_elo(scored.answers)
    assert ours.index.tolist() == expected.elo.sort_values(ascending=False).index.tolist()
    np.testing.assert_allclose(ours.elo, expected.elo[ours.index], atol=1e-6)
    np.testing.assert_allclose(ours.win_rate, expected.win_rate[ours.index], atol=1e-12)
    assert (ours.appearances == expected.appearances[ours.index]).all()
    in_r = pd.read_csv(oracle / "bradleyterry2_oracle.csv", index_col=0).elo
    np.testing.assert_allclose(ours.elo, in_r[ours.index], atol=1e-6)


def test_bootstrap_agrees_resample_by_resample(scored, oracle):
    counts = pd.read_csv(oracle / "user_counts_first200.csv")
    expected = pd.read_csv(oracle / "elo_first200.csv")
    elo, _ = bootstrap_elo(scored.answers, user_counts=counts.to_numpy())
    np.testing.assert_allclose(elo[expected.columns], expected, atol=1e-6)


def test_bootstrap_intervals_and_spread(scored, oracle):
    elo, rate = bootstrap_elo(scored.answers, n=10_000, seed=42)
    expected = pd.read_csv(oracle / "elo_oracle.csv", index_col="system")
    # same generator, same draws: the whole bootstrap is the oracle's
    np.testing.assert_allclose(elo.std(ddof=1)[expected.index], expected.elo_boot_sd, atol=1e-6)
    np.testing.assert_allclose(rate.std(ddof=1)[expected.index], expected.wr_boot_sd, atol=1e-9)
    pairs = pd.read_csv(oracle / "pairwise_oracle.csv")
    ours = pair_differences(fit_elo(scored.answers).elo.sort_index(), elo)
    for row in pairs.itertuples():
        got = ours.loc[f"{row.a} - {row.b}"]
        np.testing.assert_allclose([got.difference, got.low, got.high], [row.diff, row.lo, row.hi], atol=1e-6)
        assert got.significant == row.significant


def test_two_systems_by_hand():
    # 30 wins against 10: strength difference ln 3, so 400 log10(3) Elo points
    elo = elo_from_wins([[0, 30], [10, 0]])
    assert elo[0] - elo[1] == pytest.approx(400 * np.log10(3), abs=1e-9) and elo.mean() == pytest.approx(1000)
    np.testing.assert_allclose(win_rate_from_wins([[0, 30], [10, 0]]), [0.75, 0.25])


def test_systems_that_never_lose_have_no_score():
    wins = np.array([[0, 5, 5], [0, 0, 3], [0, 2, 0]])
    assert not is_connected(wins) and np.isnan(elo_from_wins(wins)).all()
    both = elo_from_wins(np.stack([wins, wins + wins.T]))
    assert np.isnan(both[0]).all() and np.isfinite(both[1]).all()
    answers = pd.DataFrame({"userID": ["a", "b"], "left": ["X", "X"], "right": ["Y", "Y"], "choice": [-2, -1]})
    with pytest.raises(ValueError, match=r"do not connect X, Y"):
        fit_elo(answers)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.drop(columns="left"), "no column left; it has userID"),
        (lambda f: f.iloc[:0], "expected scored answers, got none"),
        (lambda f: f.assign(choice=3), "choice must be -2, -1, 0, 1 or 2, got 3"),
        (lambda f: f.assign(choice=float("nan")), "choice must be -2, -1, 0, 1 or 2, got nan"),
    ],
)
def test_answers_that_cannot_be_scored_are_refused(change, words):
    answers = pd.DataFrame({"userID": ["a", "a"], "left": ["X", "Y"], "right": ["Y", "X"], "choice": [0.0, 0.0]})
    # ties of one person alone, stored as floats, are answers too
    assert list(fit_elo(answers).elo) == [1000.0, 1000.0]
    for score in (fit_elo, bootstrap_elo):
        with pytest.raises(ValueError, match=words):
            score(change(answers))


def test_study_facts_count_people_and_answers(scored, oracle):
    facts = study_facts(read_responses(oracle / "responses.csv"), scored.answers, 50, 10, 10_000).value
    assert facts["participants"] == 118 and facts["evaluated pairs"] == 2022 and facts["Elo scale"] == 400
    appearances = [facts[name] for name in facts.index if name.startswith("appearances")]
    assert sum(appearances) == 2 * 2022 and facts["appearances of GT"] == 824
    assert sum(float(facts[name].rstrip("%")) for name in ("Basque", "Spanish", "English")) == pytest.approx(
        100, abs=0.02
    )


def test_malformed_answers_name_file_and_line(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("userID,responseCount,left,right,choice\na,0,GT,NN,2\na,1,GT,NN,3\n")
    with pytest.raises(ValueError, match=r"answers\.csv, line 3: choice must be"):
        read_responses(path)
    path.write_text("userID,left,right,choice\na,GT,NN,2\n")
    with pytest.raises(ValueError, match="no column responseCount"):
        read_responses(path)


def test_mean_opinion_scores_agree_with_the_reference(shared_data):
    expected = pd.read_csv(shared_data / "perception" / "opinion" / "stimuli.csv", index_col="stimulus")
    ours = mos(read_ratings(shared_data / "perception" / "opinion" / "dsis_ratings.csv"))
    for name, column in (("mos", "mos"), ("sd", "sd"), ("ci95", "ci95_t"), ("n", "n")):
        np.testing.assert_allclose(ours[name], expected[column][ours.index], rtol=1e-12)


def test_ratings_outside_the_scale_or_given_twice_are_refused(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("participant,stimulus,score\np1,a,2\np1,b,6\n")
    with pytest.raises(ValueError, match=r"ratings\.csv, line 3: score must lie in 1\.\.5"):
        read_ratings(path)
    path.write_text("participant,stimulus,score\np1,a,2\np1,a,3\n")
    with pytest.raises(ValueError, match="line 3: this participant rated this stimulus before"):
        read_ratings(path)


def test_simulated_raters_rank_systems_by_their_quality():
    qualities = pd.DataFrame({"bad": [0.0, 0.1], "fair": [1.0, 0.9], "good": [1.6, 1.8]}, index=["c1", "c2"])
    answers = pairwise_study(qualities, participants=118, seed=1)
    scored, flow = exclude(answers)
    # of those who answer carelessly a few pass both checks by luck
    assert flow.people.iloc[-1] == 118 < flow.people.iloc[0]
    assert (answers.groupby("userID").size() == 20).all()
    assert fit_elo(scored).index.tolist() == ["good", "fair", "bad"]
    pd.testing.assert_frame_equal(answers, pairwise_study(qualities, participants=118, seed=1))
    assert not answers.equals(pairwise_study(qualities, participants=118, seed=2))


def test_simulated_ratings_rise_with_strength_and_cover_the_design():
    ratings = rating_study(["a", "b", "c", "d"], participants=48, seed=0)
    assert len(ratings) == 48 * 2 * 30 and not ratings.duplicated(["participant", "stimulus"]).any()
    assert (ratings.groupby("stimulus").size() == 24).all()
    means = ratings.groupby(["distortion", "strength"]).score.mean().unstack()
    assert (means.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)


def test_a_rating_study_of_one_clip_is_refused_with_the_way_out():
    one = pd.DataFrame({"clip": ["a", "a"], "system": ["GT", "SLERP"]})
    with pytest.raises(
        ValueError, match="two ground-truth ten-second clips to distort, got 1; give data with more or longer"
    ):
        source_names(one, 5)
