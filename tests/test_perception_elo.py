"""Bradley-Terry ranking against R, an independent implementation, and cases worked by hand."""

import numpy as np
import pandas as pd
import pytest

from motionbook.perception import bootstrap_elo, exclude, fit_elo, mos, pair_differences, read_ratings, read_responses
from motionbook.perception.connectivity import connectivity
from motionbook.perception.elo import elo_from_wins, is_connected, win_rate_from_wins
from motionbook.perception.inputs import source_names, study_facts
from motionbook.synthesis.raters import pairwise_study, rating_study


@pytest.fixture(scope="module")
def oracle(shared_data):
    return shared_data / "perception" / "elo"


@pytest.fixture(scope="module")
def scored(oracle):
    return exclude(read_responses(oracle / "responses.csv"))


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
    # the same one at a time as in company
    np.testing.assert_allclose(both[1], elo_from_wins(wins + wins.T), atol=1e-9)


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


def test_stigler_s_citations_give_the_published_abilities(shared_data):
    """The example of R's BradleyTerry2: citations between four journals, strengths in logits against the first."""
    import json

    folder = shared_data / "perception"
    cited = pd.read_csv(folder / "stigler_citations.csv", index_col=0)
    wins = cited.to_numpy(dtype=float) * (1 - np.eye(4))
    logits = elo_from_wins(wins) * np.log(10) / 400
    published = json.loads((folder / "expected_real.json").read_text())["stigler_citations"]
    expected = [published["published_BradleyTerry2_vignette"][name] for name in cited.index]
    np.testing.assert_allclose(logits - logits[0], expected, atol=5e-6)


def pivot_sum(answers):
    """Weighted wins the plain way: five pivot tables, added by their labels."""
    tables = {
        choice: answers[answers.choice == choice].pivot_table(
            index="left", columns="right", values="choice", aggfunc="count", fill_value=0
        )
        for choice in (-2, -1, 0, 1, 2)
    }
    return 4 * (tables[-2] + tables[2].T) + 2 * (tables[-1] + tables[1].T) + tables[0] + tables[0].T


def test_a_small_study_is_exact_where_added_pivot_tables_lose_systems(scored):
    """With 10 people most resamples lack some label in some table, which makes all of that system's row NaN."""
    from sklearn.linear_model import LogisticRegression

    users = sorted(scored.answers.userID.unique())[:10]
    small = scored.answers[scored.answers.userID.isin(users)]
    counts = np.random.default_rng(1).multinomial(10, np.full(10, 0.1), size=12)
    ours, rates = bootstrap_elo(small, user_counts=counts)
    assert np.isfinite(ours).all(axis=None)
    lost = 0
    for drawn, elo, rate in zip(counts, ours.to_numpy(), rates.to_numpy(), strict=True):
        parts = [small[small.userID == user] for user, times in zip(users, drawn, strict=True) for _ in range(times)]
        sample = pd.concat(parts, ignore_index=True)
        added = pivot_sum(sample)
        # a pair with a missing count either way is skipped; a system all of whose pairs are skipped keeps Elo 1000
        skipped = added.isna() | added.T.isna() | np.eye(len(added), dtype=bool)
        lost += bool(skipped.all(axis=1).any())
        # the truth: every answer one or two rows of a logistic regression, without tables
        rows, results, weights = [], [], []
        place = {name: i for i, name in enumerate(ours.columns)}
        for answer in sample.itertuples():
            row = np.zeros(5)
            row[place[answer.left]], row[place[answer.right]] = 1.0, -1.0
            for result in {-1: [1], 0: [1, 0], 1: [0]}[int(np.sign(answer.choice))]:
                rows.append(row)
                results.append(result)
                weights.append({0: 1, 1: 2, 2: 4}[abs(answer.choice)])
        # a last column ties down the mean, which the answers leave open
        model = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cholesky", tol=1e-12)
        theta = model.fit(np.array(rows)[:, :4] - np.array(rows)[:, 4:], results, sample_weight=weights).coef_[0]
        theta = np.r_[theta, -theta.sum()]
        np.testing.assert_allclose(elo, 1000 + 400 / np.log(10) * theta, atol=1e-6)
        won = sum(w for row, r, w in zip(rows, results, weights, strict=True) if row[place["GT"]] == 2 * r - 1)
        met = sum(w for row, w in zip(rows, weights, strict=True) if row[place["GT"]])
        assert rate[0] == pytest.approx(won / met, abs=1e-12)
    assert lost >= 9


def test_systems_without_a_score_are_named_with_the_way_out():
    answers = pd.DataFrame(
        [("a", "X", "Y", -2), ("b", "X", "Z", -1), ("a", "Y", "Z", 0), ("b", "P", "Q", 0)],
        columns=["userID", "left", "right", "choice"],
    )
    with pytest.raises(
        ValueError, match=r"connect P, Q, X, Y, Z .*P never meets, even through others, X, Y, Z.*pseudo"
    ):
        fit_elo(answers)
    # a pseudo-count joins pairs that were shown, and invents none
    with pytest.raises(ValueError, match="never meets"):
        fit_elo(answers, pseudo=0.5)
    # X and Y met twice: the pseudo-count is one for the pair, not one for each time
    answers = answers.iloc[[0, 0, 1, 2]]
    table = connectivity(answers)
    assert table.problem["X"] == "never loses" and table.problem["Y"] == "with Z never beats the others"
    assert table.group["Y"] == table.group["Z"] != table.group["X"]
    with pytest.raises(ValueError, match="X never loses; Y with Z never beats"):
        fit_elo(answers)
    padded = fit_elo(answers, pseudo=0.5).elo
    # X met Y twice (8 : 0) and Z once (2 : 0), and Y and Z tied once (1 : 1)
    wins = np.array([[0, 8.5, 2.5], [0.5, 0, 1.5], [0.5, 1.5, 0]])
    np.testing.assert_allclose(padded[["X", "Y", "Z"]], elo_from_wins(wins), atol=1e-9)
    elo, _ = bootstrap_elo(answers, 50, pseudo=0.5)
    assert np.isfinite(elo).all(axis=None)
    assert bootstrap_elo(answers, 50)[0].isna().all(axis=None)


def test_resamples_of_people_and_clips_repeat_answers(scored):
    """An answer counts as often as its person times as often as its clip."""
    small = scored.answers.head(400)
    users, clips = sorted(small.userID.unique()), sorted(small["clip"].astype(str).unique())
    rng = np.random.default_rng(5)
    by_user = rng.multinomial(len(users), np.full(len(users), 1 / len(users)), size=4)
    by_clip = rng.multinomial(len(clips), np.full(len(clips), 1 / len(clips)), size=4)
    both, _ = bootstrap_elo(small, 4, seed=5, unit="user and clip")
    for drawn_users, drawn_clips, elo in zip(by_user, by_clip, both.to_numpy(), strict=True):
        times = small.userID.map(dict(zip(users, drawn_users, strict=True))).to_numpy()
        times = times * small["clip"].astype(str).map(dict(zip(clips, drawn_clips, strict=True))).to_numpy()
        repeated = small.loc[small.index.repeat(times)]
        np.testing.assert_allclose(elo, fit_elo(repeated).elo[both.columns], atol=1e-6)
    alone, _ = bootstrap_elo(small, 3, seed=5, unit="clip")
    drawn = np.random.default_rng(5).multinomial(len(clips), np.full(len(clips), 1 / len(clips)), size=3)
    times = small["clip"].astype(str).map(dict(zip(clips, drawn[2], strict=True)))
    np.testing.assert_allclose(
        alone.iloc[2], fit_elo(small.loc[small.index.repeat(times)]).elo[alone.columns], atol=1e-6
    )
    with pytest.raises(ValueError, match="expected 'user', 'clip' or 'user and clip', got 'pair'"):
        bootstrap_elo(small, 2, unit="pair")


def test_many_systems_agree_with_a_plain_fixed_point():
    """Forty systems, sparse tables and several chunks, against minorisation-maximisation (Hunter 2004)."""
    rng = np.random.default_rng(0)
    strength = rng.normal(0, 1, 40)
    pair = np.array([rng.choice(40, 2, replace=False) for _ in range(6000)])
    left_wins = rng.random(6000) < 1 / (1 + np.exp(strength[pair[:, 1]] - strength[pair[:, 0]]))
    answers = pd.DataFrame(
        {
            "userID": [f"u{i % 1500:04d}" for i in range(6000)],
            "left": [f"s{i:02d}" for i in pair[:, 0]],
            "right": [f"s{i:02d}" for i in pair[:, 1]],
            "choice": np.where(left_wins, -1, 1),
        }
    )
    wins = np.zeros((40, 40))
    np.add.at(wins, (np.where(left_wins, pair[:, 0], pair[:, 1]), np.where(left_wins, pair[:, 1], pair[:, 0])), 2.0)
    worth = np.ones(40)
    for _ in range(4000):
        worth = wins.sum(1) / ((wins + wins.T) / (worth[:, None] + worth[None, :])).sum(1)
        worth /= np.exp(np.log(worth).mean())
    np.testing.assert_allclose(fit_elo(answers).elo.sort_index(), 1000 + 400 * np.log10(worth), atol=1e-6)
    counts = np.ones((300, 1500), dtype=int)
    counts[7] = 2
    elo, _ = bootstrap_elo(answers, user_counts=counts)
    np.testing.assert_allclose(elo.iloc[[0, 7, 299]], np.tile(1000 + 400 * np.log10(worth), (3, 1)), atol=1e-6)
