"""Holm, classes, rank intervals, weights, and the whole report from files of several kinds."""

import numpy as np
import pandas as pd
import pytest

from motionbook import perception
from motionbook.perception import exclude, fit_elo, options_scale, ranking_report, read_responses, slider_scale
from motionbook.perception.ranking import classes, pair_table, ranks
from motionbook.perception.weighting import weight_sensitivity


@pytest.fixture(scope="module")
def path(shared_data):
    return shared_data / "perception" / "elo" / "responses.csv"


@pytest.fixture(scope="module")
def report(path):
    return ranking_report(path, resamples=2000, seed=42)


@pytest.mark.parametrize("resamples", [0, 1])
def test_a_spread_needs_two_resamples(path, resamples):
    with pytest.raises(ValueError, match="resamples: expected at least 2"):
        ranking_report(path, resamples=resamples)


def test_p_never_falls_below_what_the_resamples_can_say():
    elo = pd.Series([1100.0, 900.0], index=["A", "B"])
    table = pair_table(elo, pd.DataFrame({"B": np.full(99, 900.0), "A": np.full(99, 1100.0)}))
    assert table.p.tolist() == [2 / 100] and table.index.tolist() == ["A - B"]
    # 10 of 99 at or below zero: 2 * 11 / 100; resamples without scores count neither way
    spread = np.r_[np.full(89, 5.0), np.full(10, -5.0), np.nan]
    table = pair_table(elo, pd.DataFrame({"A": 1000 + spread, "B": 1000.0 + 0 * spread}))
    assert table.p.tolist() == [pytest.approx(0.22)] and not table.apart.any()


def test_classes_hold_systems_that_are_not_told_apart():
    assert classes("ABC", [("A", "C")]) == [("A", "B"), ("B", "C")]
    assert classes("ABC", []) == [("A", "B", "C")]
    assert classes("ABC", [("A", "B"), ("A", "C"), ("B", "C")]) == [("A",), ("B",), ("C",)]
    # not an interval of the order: B is told apart from its neighbours and not from D
    assert classes("ABCD", [("A", "B"), ("B", "C"), ("A", "D")]) == [("A", "C"), ("B", "D"), ("C", "D")]
    rng = np.random.default_rng(0)
    names = [f"s{i}" for i in range(9)]
    apart = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < 0.5]
    together = {frozenset((a, b)) for s in classes(names, apart) for a in s for b in s if a != b}
    everyone = {frozenset((a, b)) for i, a in enumerate(names) for b in names[i + 1 :]}
    assert together == everyone - {frozenset(pair) for pair in apart}


def test_rank_intervals_by_hand():
    elo = pd.Series([1200.0, 1000.0, 950.0, 850.0], index=list("ABCD"))
    pairs = pd.DataFrame(
        [("A", "B", True), ("A", "C", True), ("A", "D", True), ("B", "C", False), ("B", "D", True), ("C", "D", False)],
        columns=["a", "b", "apart"],
    )
    table = ranks(elo, pairs)
    assert table.classes.tolist() == ["a", "b", "bc", "c"]
    assert table.rank_best.tolist() == [1, 2, 2, 3] and table.rank_worst.tolist() == [1, 3, 4, 4]


def test_the_report_of_the_published_study(report, path):
    assert report.flow.people.tolist() == [131, 125, 125, 118, 118]
    assert report.scores.classes.to_dict() == {"GT": "a", "NN": "b", "SLERP-Q": "b", "SLERP": "c", "NOISE": "d"}
    assert report.scores.rank_worst.to_dict() == {"GT": 1, "NN": 3, "SLERP-Q": 3, "SLERP": 4, "NOISE": 5}
    assert report.pairs.p.min() == pytest.approx(2 / 2001) and report.pairs.p_holm.min() == pytest.approx(20 / 2001)
    assert (report.connectivity.problem == "").all()
    spreads = report.spreads
    np.testing.assert_allclose(spreads["user, bootstrap"], spreads["user, sandwich"], rtol=0.05)
    assert (spreads["user and clip, bootstrap"] > spreads["user and clip, sandwich"]).all()
    assert report.ordinal["ordinal"].elo["GT"] == pytest.approx(1144.1668, abs=1e-3)
    assert report.fit.value["deviance"] == pytest.approx(25.0316, abs=1e-4)
    assert report.answers_by_side.answers.sum() == 2022 and report.answers_by_side.share.sum() == pytest.approx(1)
    # of people, not of answers
    people = report.people[report.people.about == "gender"]
    assert people.value.sum() == 118 and people.share.sum() == pytest.approx(1)
    scored = exclude(read_responses(path)).answers
    pd.testing.assert_series_equal(report.scores.elo, fit_elo(scored).elo)


def test_weights_change_scores_and_a_common_factor_changes_nothing(report, path):
    scored = exclude(read_responses(path)).answers
    own = report.weights[report.weights.own]
    assert set(own.varied) == {"growth", "tie"}
    for _, part in own.groupby("varied"):
        np.testing.assert_allclose(part.set_index("system").elo[report.scores.index], report.scores.elo)
    tripled = options_scale(5, {0: 3, 1: 6, 2: 12})
    np.testing.assert_allclose(weight_sensitivity(scored, tripled).elo, report.weights.elo, atol=1e-8)
    # the clearer a clear preference counts, the further the ends are apart
    spread = report.weights[report.weights.varied == "growth"].groupby("value").elo.agg(np.ptp)
    assert (spread.diff().iloc[1:] > 0).all()
    for growth in (1.0, 4.0):
        scale = {0: 1, 1: 2, 2: 2 * growth}
        chosen = report.weights[(report.weights.varied == "growth") & (report.weights.value == growth)]
        np.testing.assert_allclose(
            chosen.set_index("system").elo.sort_index(), fit_elo(scored, weights=scale).elo.sort_index()
        )


ELO = pd.Series([1120.0, 1000.0, 880.0], index=["ours", "theirs", "noise"])


@pytest.mark.parametrize("answers", [2, 3, 4, 7, "words", "slider"])
def test_any_file_of_comparisons_gives_the_full_report(tmp_path, answers):
    thresholds = {7: (0.3, 1.0, 2.0), 3: (0.5,), "words": (0.5,)}.get(answers, (0.42, 1.63))
    frame = perception.simulated_answers(ELO, 60, 1, thresholds=thresholds).drop(columns="clip")
    if answers in (2, 4):
        frame = frame[frame.choice != 0]
    scale = slider_scale() if answers == "slider" else options_scale(answers if answers != "words" else ("l", "o", "r"))
    if answers == 2:
        frame["choice"] = np.sign(frame.choice)
    elif answers == "words":
        frame["choice"] = frame.choice.map({-1: "l", 0: "o", 1: "r"})
    elif answers == "slider":
        frame["choice"] = 50 + 20 * frame.choice
    frame = frame.rename(columns={"userID": "rater", "left": "A", "right": "B", "choice": "answer"})
    frame.to_csv(tmp_path / "mine.csv", index=False)
    report = ranking_report(
        tmp_path / "mine.csv",
        columns={"userID": "rater", "left": "A", "right": "B", "choice": "answer"},
        scale=scale,
        resamples=400,
    )
    assert report.scores.index.tolist() == ["ours", "theirs", "noise"]
    assert report.settings.value["exclusions"] == "failed attention checks only"
    assert report.scores.classes.tolist() == ["a", "b", "c"] and len(report.pairs) == len(report.planner) == 3
    assert "ordinal" in report.ordinal.columns.get_level_values(0)
    assert ("Davidson" in report.ordinal.columns.get_level_values(0)) == (answers not in (2, 4))
    assert list(report.spreads) == ["user, bootstrap", "user, sandwich", "answers independent"]
    assert not any(getattr(report, name).empty for name in report._fields if name != "people")


def test_the_report_counts_malformed_rows_and_uses_a_pseudo_count(tmp_path):
    rows = [("a", "X", "Y", -2), ("b", "Y", "X", 2), ("a", "Y", "Z", 0), ("b", "Z", "Y", 1), ("b", "Z", "Y", 5)]
    pd.DataFrame(rows, columns=["user", "left", "right", "choice"]).to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match="line 6: choice"):
        ranking_report(tmp_path / "a.csv")
    with pytest.warns(UserWarning, match="1 malformed rows"), pytest.raises(ValueError, match=r"X never loses.*pseudo"):
        ranking_report(tmp_path / "a.csv", malformed="drop")
    with pytest.warns(UserWarning, match="1 malformed rows"):
        report = ranking_report(tmp_path / "a.csv", malformed="drop", pseudo=0.5, resamples=200)
    assert report.flow.answers_out.tolist()[0] == 1 and report.flow.index[0] == "malformed rows left out"
    assert report.connectivity.problem["X"] == "never loses" and report.settings.value["pseudo-count"] == 0.5
    # no fit statistics of answers that are partly made up
    assert report.fit.empty and report.residuals.empty and report.terms.empty
    assert report.settings.value["left out: ordinal"] == "no pseudo-count there"


def test_too_few_resamples_to_tell_anything_apart_are_pointed_out():
    answers = perception.simulated_answers(ELO, 60, 1)
    with pytest.warns(UserWarning, match="100 resamples cannot tell any of 3 pairs .* resamples=119 is"):
        assert not ranking_report(answers, resamples=100).pairs.apart.any()
    assert ranking_report(answers, resamples=119).pairs.apart.any()


def test_figures_show_every_system_its_class_and_the_study_s_own_weights(report):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from motionbook.report import planner_figure, position_figure, ranking_figure, sensitivity_figure

    axes = ranking_figure(report.scores, report.resampled).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(report.scores.index)
    assert [text.get_text() for text in axes.texts] == [*report.scores.classes, "class"]
    shares, pulls = position_figure(report.answers_by_side, report.terms).axes
    assert sum(bar.get_height() for bar in shares.patches) == pytest.approx(100)
    assert [label.get_text() for label in pulls.get_yticklabels()] == ["weighted, with side", "ordinal", "Davidson"]
    panels = sensitivity_figure(report.weights).axes
    assert [len(panel.lines) for panel in panels] == [6, 7]
    lines = planner_figure(perception.plan_curve([20, 50]), 118).axes[0].lines
    assert len(lines) == 3
    plt.close("all")
