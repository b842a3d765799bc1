"""Opinion scores and raters against an independent implementation (sureal), published real tables, and by hand."""

import json

import numpy as np
import pandas as pd
import pytest

from motionbook.perception import (
    combine_ratings,
    mos,
    observer_model,
    participants_table,
    pilot_table,
    rater_table,
    rating_report,
    read_ratings,
    remove_bias,
    reversed_scale,
    screen_bt500,
)
from motionbook.perception.opinion import (
    IMPAIRMENT,
    ITU_QUALITY,
    Scale,
    as_scale,
    join_stimuli,
    long_ratings,
    same_scale,
    scale_of,
)
from motionbook.perception.screening import panels, rater_correlation, without
from motionbook.synthesis.rating_panel import impairment_study, pilot_study


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data / "perception"


@pytest.fixture(scope="module")
def ratings(folder):
    return read_ratings(folder / "opinion" / "dsis_ratings.csv")


@pytest.fixture(scope="module")
def stimuli(folder):
    return pd.read_csv(folder / "opinion" / "stimuli.csv", index_col="stimulus")


@pytest.fixture(scope="module")
def observers(folder):
    return pd.read_csv(folder / "opinion" / "observers.csv", index_col="participant")


def test_scores_equal_the_reference(ratings, stimuli, folder):
    ours = mos(ratings)
    for name, column in (("mos", "mos"), ("sd", "sd"), ("ci95", "ci95_t")):
        np.testing.assert_allclose(ours[name], stimuli[column][ours.index], rtol=1e-12)
    normal = mos(ratings, interval="normal")
    np.testing.assert_allclose(normal.ci95, 1.959963985 * ours.sd / np.sqrt(ours.n), rtol=1e-8)
    assert (normal.ci95 < ours.ci95).all()
    # and R's, on the third design of the analyses of variance
    likert = pd.read_csv(folder / "anova" / "anova_C_n46_likert.csv").rename(columns={"y": "score"})
    keys = ["motion", "identity", "clothing", "strength"]
    likert["stimulus"] = likert[keys].astype(str).agg("_".join, axis=1)
    expected = pd.read_csv(folder / "anova" / "mos_ci_C.csv")
    expected.index = expected[keys].astype(str).agg("_".join, axis=1)
    ours = mos(likert)
    np.testing.assert_allclose(ours.ci95, expected.ci_half[ours.index], rtol=1e-10)
    np.testing.assert_allclose(ours.mos, expected.mos[ours.index], rtol=1e-12)


def test_screening_equals_sureal(ratings, stimuli, observers):
    """Fails when the spread of a stimulus is divided by n, or the limits for a peaked one are the narrow ones."""
    ours = screen_bt500(ratings)
    assert ours.p.tolist() == observers.bt500_p.tolist() and ours.q.tolist() == observers.bt500_q.tolist()
    np.testing.assert_allclose(ours.ratio, observers.bt500_ratio, rtol=1e-12)
    assert ours.index[ours.rejected].tolist() == observers.index[observers.bt500_rejected].tolist() == ["p12", "p31"]
    kurtosis = pd.Series(ours.attrs["kurtosis"])
    np.testing.assert_allclose(kurtosis, stimuli["kurtosis"][kurtosis.index], rtol=1e-10)
    kept = mos(without(ratings, ours.index[ours.rejected]))
    np.testing.assert_allclose(kept.mos, stimuli.mos_bt500[kept.index], rtol=1e-12)


def test_bias_removal_equals_sureal(ratings, stimuli, observers):
    corrected, bias = remove_bias(ratings)
    np.testing.assert_allclose(bias, observers.p913_bias[bias.index], atol=1e-12)
    ours = mos(corrected)
    np.testing.assert_allclose(ours.mos, stimuli.mos_p913[ours.index], rtol=1e-12)


def test_observer_model_equals_sureal(ratings, stimuli, observers):
    model = observer_model(ratings)
    np.testing.assert_allclose(model.stimuli.mos, stimuli.mos_p910[model.stimuli.index], atol=1e-8)
    np.testing.assert_allclose(model.stimuli.ci95, stimuli.ci95_p910[model.stimuli.index], atol=1e-8)
    np.testing.assert_allclose(model.people.bias, observers.p910_bias[model.people.index], atol=1e-8)
    np.testing.assert_allclose(model.people.inconsistency, observers.p910_inconsistency[model.people.index], atol=1e-8)


def test_the_inverted_rater_passes_bt500_and_shows_in_the_correlation(ratings, observers):
    ours = rater_table(ratings)
    np.testing.assert_allclose(ours.with_mos, observers.corr_with_mos[ours.index], rtol=1e-10)
    assert not ours.rejected["p41"] and ours.index[ours.inverted].tolist() == ["p41"]
    assert set(ours.index[ours.unrelated]) == {"p12", "p31"}
    assert ours.inconsistency.nlargest(3).index.tolist() == ["p41", "p31", "p12"]


def test_correlation_with_others_leaves_out_ones_own_scores():
    scores = np.random.default_rng(3).uniform(1, 5, (20, 4))
    ours = rater_correlation(long_ratings(pd.DataFrame(scores, index=[f"{i:02d}" for i in range(20)])))
    expected = [np.corrcoef(scores[:, i], np.delete(scores, i, 1).mean(1))[0, 1] for i in range(4)]
    np.testing.assert_allclose(ours.with_others, expected, rtol=1e-10)
    np.testing.assert_allclose(ours.with_mos, [np.corrcoef(scores[:, i], scores.mean(1))[0, 1] for i in range(4)])


def test_figures_carry_the_marks_of_the_table():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from motionbook.report.rating_figures import pilot_figure, raters_figure, stars, strength_figure

    assert [stars(p) for p in (0.0009, 0.009, 0.049, 0.05)] == ["***", "**", "*", "n.s."]
    study = impairment_study(16, seed=2, incomplete=0)
    report = rating_report(
        study[study.split == "train"], within="strength", between="motion", by="distortion", compare="strength"
    )
    figure = strength_figure(report.ratings, report.comparisons, pairs="all")
    drawn = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert sorted(drawn) == sorted(stars(p) for p in report.comparisons.p_adjusted) and len(drawn) == 60
    figure = strength_figure(report.ratings, report.comparisons)
    assert sum(len(axes.texts) for axes in figure.axes) == 6 * 5
    pilot = pilot_study(5, seed=0)
    titles = [axes.texts[0].get_text() for axes in pilot_figure(pilot, pilot_table(pilot)[0]).axes]
    assert len(titles) == 6 and all("Friedman" in title for title in titles)
    raters_figure(report.raters)
    plt.close("all")


def test_published_scores_of_a_real_study(folder):
    expected = json.loads((folder / "expected_real.json").read_text())["NFLX_published"]
    table = pd.read_csv(folder / "nflx_dataset_public_raw.csv").iloc[:, 3:]
    ours = mos(long_ratings(table.to_numpy(), scale=ITU_QUALITY))
    error = ours.sd / np.sqrt(ours.n)
    assert ours.mos.mean() == pytest.approx(expected["mean_mos"], rel=1e-12)
    assert error.mean() == pytest.approx(expected["mean_standard_error"], rel=1e-12)
    assert ours.mos["0"] == pytest.approx(expected["mos0"], rel=1e-12) or expected["mos0"] in ours.mos.to_numpy()
    assert ours.mos.std(ddof=0) == pytest.approx(expected["std_mos"], rel=1e-12)


def test_published_observer_model_of_a_real_study_with_a_missing_score(folder):
    """Fails when the biases are not centred: with a hole they drift by 1e-4."""
    expected = json.loads((folder / "expected_real.json").read_text())["sureal_demo_79x26"]["documented_P913"]
    table = pd.read_csv(folder / "sureal_demo_79x26.csv", header=None)
    assert table.isna().sum().sum() == 1
    names = {"index": [f"{i:02d}" for i in range(79)], "columns": [f"{i:02d}" for i in range(26)]}
    model = observer_model(long_ratings(table.set_axis(names["index"]).set_axis(names["columns"], axis=1), ITU_QUALITY))
    np.testing.assert_allclose(model.stimuli.mos, expected["mos_j"], atol=1e-7)
    np.testing.assert_allclose(model.stimuli.se, expected["sos_j"], atol=1e-7)
    np.testing.assert_allclose(model.people.bias, expected["bias_i"], atol=1e-7)
    np.testing.assert_allclose(model.people.inconsistency, expected["inconsistency_i"], atol=1e-7)


def test_observer_model_recovers_what_it_was_made_from():
    rng = np.random.default_rng(4)
    quality, bias, spread = rng.uniform(1, 5, 200), 0.4 * rng.standard_normal(20), rng.uniform(0.2, 1.0, 20)
    bias -= bias.mean()
    scores = quality[:, None] + bias + spread * rng.standard_normal((200, 20))
    scores[rng.random(scores.shape) < 0.2] = np.nan
    index = [f"{i:03d}" for i in range(200)]
    table = pd.DataFrame(scores, index=index, columns=[f"r{i:02d}" for i in range(20)])
    model = observer_model(long_ratings(table, scale=(-3, 9, "high")))
    # three standard errors of the largest of 160 scores each
    assert np.abs(model.people.bias - bias).max() < 0.24 and np.abs(model.people.inconsistency - spread).max() < 0.17
    plain = np.nanmean(scores, 1)
    assert np.abs(model.stimuli.mos - quality).mean() < 0.8 * np.abs(plain - quality).mean()
    assert 0.9 < (np.abs(model.stimuli.mos - quality) < model.stimuli.ci95).mean() < 0.99


def test_panels_that_share_no_stimulus_are_told_apart(ratings):
    parts = panels(ratings)
    assert [part.participant.nunique() for part in parts] == [24, 24]
    assert not set(parts[0].stimulus) & set(parts[1].stimulus)


def test_scales_of_opposite_direction_are_never_mixed(ratings):
    assert scale_of(ratings) == IMPAIRMENT and str(IMPAIRMENT) == "1..5, best 1"
    turned = reversed_scale(ratings)
    assert scale_of(turned) == Scale(1, 5, "high") and (turned.score + ratings.score == 6).all()
    with pytest.raises(ValueError, match=r"different scales: 1\.\.5, best 1; 1\.\.5, best 5; turn one with"):
        combine_ratings([ratings, turned])
    with pytest.raises(ValueError, match="different scales"):
        same_scale(mos(ratings), mos(turned))
    both = combine_ratings([ratings, reversed_scale(turned)])
    assert len(both) == 2 * len(ratings) and scale_of(both) == IMPAIRMENT
    with pytest.raises(ValueError, match="do not say which scale"):
        scale_of(pd.DataFrame({"score": [1]}))


def test_the_scale_survives_a_file_and_may_not_be_contradicted(tmp_path):
    study = impairment_study(8, seed=0, incomplete=0)
    path = tmp_path / "ratings.csv"
    study.to_csv(path, index=False)
    assert scale_of(read_ratings(path)) == IMPAIRMENT
    with pytest.raises(ValueError, match=r"its scale is 1\.\.5, best 1, not 1\.\.5, best 5"):
        read_ratings(path, scale=ITU_QUALITY)
    study.loc[3, "scale"] = "1..5, best 5"
    study.to_csv(path, index=False)
    with pytest.raises(ValueError, match="scores on different scales"):
        read_ratings(path)
    assert as_scale("0..100, best 100") == Scale(0, 100, "high")
    for wrong in ("five points", (5, 1, "low"), (1, 5, "up"), "1..5, best 3"):
        with pytest.raises(ValueError, match="scale: expected"):
            as_scale(wrong)


@pytest.mark.parametrize("scale", [(0, 100, "high"), (1, 7, "high"), (1, 5, "low")])
def test_any_csv_gives_the_full_report(tmp_path, scale):
    low, high, _ = scale
    rng = np.random.default_rng(2)
    rows = [
        (f"clip{s}{g}", f"r{p}", s, g, float(np.clip(np.rint((low + high) / 2 + (high - low) * x), low, high)))
        for p in range(9)
        for s in (1, 2, 3)
        for g in "ab"
        for x in [0.12 * (s - 2) + 0.1 * rng.standard_normal() + 0.02 * p]
    ]
    frame = pd.DataFrame(rows, columns=["item", "subject", "speed", "style", "score"])
    path = tmp_path / "mine.csv"
    frame.to_csv(path, index=False)
    report = rating_report(path, scale=scale, within=["speed", "style"], compare="speed")
    assert report.facts.value["people"] == 9 and report.facts.value["scale"] == str(Scale(*scale))
    assert len(report.scores) == 6 and len(report.comparisons) == 3 and "all scores" in report.anovas
    assert "ICC2" in report.agreement.loc[1].index and report.comparisons.attrs["factor"] == "speed"
    other = frame.rename(columns={"item": "film", "subject": "who", "score": "mark"})
    again = rating_report(
        other, columns={"stimulus": "film", "participant": "who", "score": "mark"}, scale=scale, within=["speed"]
    )
    pd.testing.assert_frame_equal(again.scores, report.scores)
    # without factors there is no analysis of variance
    assert rating_report(path, scale=scale).anovas == {}


def test_factors_can_come_from_a_table_of_stimuli(folder, ratings):
    table = pd.read_csv(folder / "opinion" / "dsis_stimuli.csv")
    whole = join_stimuli(ratings, table)
    report = rating_report(
        whole[whole.split == "train"],
        within=["identity", "clothing", "strength"],
        between=["motion", "gender"],
        by="distortion",
    )
    assert len(report.anovas) == 6 and (report.effects.index.str.contains("Strength")).any()
    assert report.facts.value["rejected by BT.500"] == "p12, p31" and report.facts.value["scale turned round"] == "p41"
    with pytest.raises(ValueError, match=r"\d+ that were rated are not in the table, such as"):
        join_stimuli(ratings, table.iloc[:10])


def test_few_scores_have_no_observer_model_and_the_report_says_so():
    frame = pd.DataFrame({"item": list("abab"), "subject": list("xxyy"), "score": [1, 2, 1, 2]})
    report = rating_report(frame)
    assert "not estimated: x, y" in report.facts.value["observer model (P.910)"] and report.raters.bias.isna().all()
    assert "no error" in report.agreement.note.loc[(1, "ICC")]
    one = rating_report(pd.DataFrame({"item": ["a", "b"], "subject": ["x", "x"], "score": [1, 2]}))
    assert one.agreement.value.isna().all() and (one.agreement.note != "").all()


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("stimulus,score\na,1\n", {}, "no column participant; it has stimulus, score; name yours with"),
        ("who,item,score\np,a,1\n", {"columns": {"person": "who"}}, "columns: expected names for participant"),
        ("who,item,score\np,a,1\n", {"columns": {"participant": "whom"}}, "no column whom; it has who"),
        ("subject,item,score\np,a,60\n", {}, r"line 2: score must lie in 1\.\.5; name another scale"),
        ("subject,item,score\np,a,\n", {}, "line 2: score must lie"),
        ("subject,item,score\np,a,1\np,a,2\n", {}, "line 3: this participant rated this stimulus before"),
    ],
)
def test_tables_that_cannot_be_read_name_what_is_wrong(tmp_path, text, arguments, words):
    path = tmp_path / "ratings.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_ratings(path, **arguments)


def test_the_simulated_study_has_the_papers_design():
    study = impairment_study(48, seed=1)
    sizes = study.groupby("participant").size()
    assert (sizes == 125).sum() == 47 and sizes.min() < 125 and study.stimulus.nunique() == 250
    people = study.groupby("participant").first()
    facts = participants_table(read_ratings(study))
    assert facts["count"]["stimuli per participant"] == 125 and facts["share"]["female"] == "35.4%"
    assert facts["count"]["stimuli of the test set"] == 5 and facts["count"]["ratings per stimulus"] == 24
    assert (people.gender == "F").sum() == 17 and (people.motion == "walk").sum() == 24
    train = study[study.split == "train"]
    assert train.stimulus.nunique() == 240 and study[study.split == "test"].stimulus.nunique() == 10
    means = train.groupby(["distortion", "strength"]).score.mean().unstack()
    assert (means.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    pd.testing.assert_frame_equal(study, impairment_study(48, seed=1))
    assert not study.equals(impairment_study(48, seed=2))
    odd = impairment_study(48, seed=1, careless=2, inverted=1, incomplete=0)
    table = rater_correlation(read_ratings(odd))
    assert table.inverted.sum() == 1 and (table.with_others < 0.3).sum() == 3
    with pytest.raises(ValueError, match="at least 8"):
        impairment_study(4)
