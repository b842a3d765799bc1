"""What chapter 5 shows beside the analyses: tables in the papers' rows, a reader's words, small studies to try."""

import numpy as np
import pandas as pd
import pytest

from motionbook import budgets, perception
from motionbook.perception import inputs, own_data, study
from motionbook.report import published_frame, study_demo
from motionbook.synthesis import rating_panel
from motionbook.synthesis.performers import idle, make_performer


@pytest.fixture(scope="module")
def truth():
    return published_frame("staystill_table2").Elo


@pytest.fixture(scope="module")
def ranking(truth):
    return perception.ranking_report(perception.simulated_study(truth, 60, 3), resamples=1000, seed=1)


def test_table2_has_the_published_rows_and_columns_in_percent(ranking):
    table = inputs.elo_table(ranking.scores)
    published = published_frame("staystill_table2")
    assert set(published.index) == set(table.index) and set(published.columns) <= set(table.columns)
    assert table["W/R"].between(0, 100).all() and table["W/R"].max() > 50
    np.testing.assert_allclose(table["W/R"], 100 * ranking.scores.win_rate)
    assert table.loc["NOISE", "rank"] == "5" and table.loc["GT", "class"] == "a"


def test_pairs_are_named_as_published_and_signs_follow_their_order(ranking):
    table = inputs.significance_table(ranking.pairs)
    assert list(table.index) == list(published_frame("staystill_text_significance").index)
    scores = ranking.scores.elo
    for pair, row in table.iterrows():
        a, b = pair.split(" - ")
        assert row.difference == pytest.approx(scores[a] - scores[b])
        assert row.low < row.difference < row.high
        assert (row.significant == "yes") == (row.low > 0 or row.high < 0)
    # the better one second: the sign has to turn with the name
    turned = inputs.significance_table(ranking.pairs.assign(a=ranking.pairs.b, b=ranking.pairs.a))
    np.testing.assert_allclose(turned.difference, -table.difference)
    np.testing.assert_allclose(turned.low, -table.high)


def test_systems_the_paper_does_not_have_come_after_its_own(ranking):
    pairs = ranking.pairs.replace({"a": {"NN": "DELTA"}, "b": {"NN": "DELTA"}})
    names = list(inputs.significance_table(pairs).index)
    assert "GT - DELTA" in names and "NOISE - DELTA" in names and not any(n.startswith("DELTA") for n in names)


def test_recovered_scores_near_their_targets_and_the_weights_stretch(truth, ranking):
    table = inputs.recovered_table(truth, ranking)
    assert ((table.ordinal - truth).abs() < 4 * table["ordinal sd"]).all()
    assert ((table.weighted - table["weighted limit"]).abs() < 4 * table["weighted sd"]).all()
    assert np.ptp(table["weighted limit"]) > 1.1 * np.ptp(truth)


def test_facts_leave_out_what_answers_do_not_tell(truth):
    answers = perception.simulated_answers(truth, 20, 0)
    assert set(own_data.scored_answers(answers, own_data.answer_scale("")).index) == set(answers.index)
    facts = inputs.study_facts(answers, answers, 50, None, 100).value
    assert (
        facts["participants"] == 20 and facts["evaluated pairs"] == 320 and facts["weight of a clear preference"] == 4
    )
    assert not {"calibration pairs", "clip length", "male", "mean age"} & set(facts.index)
    seven = own_data.answer_scale("7")
    assert inputs.study_facts(answers, answers, 50, 10, 100, seven.weights).value["weight of a grade 3"] == 8


def test_a_system_that_never_loses_is_named_and_a_pseudo_count_gives_it_a_score(truth):
    few = perception.exclude(inputs.few_and_unbeaten(perception.simulated_study(truth, 30, 0), "GT", 15)).answers
    assert few.userID.nunique() <= 15 and set(few.choice[few.left == "GT"]) == {-2}
    with pytest.raises(ValueError, match="GT"):
        perception.fit_elo(few)
    low, high = (perception.fit_elo(few, pseudo=pseudo).elo["GT"] for pseudo in (2, 0.1))
    assert high > low > 1000


def test_audit_in_words_lists_the_rows_that_fail_and_why():
    words = inputs.audit_words(perception.audit_anova_rows(perception.published_rows()))
    assert len(words) == 8
    assert words.loc["Motion smoothness: Strength", "does not fit"] == "effect size, df"
    assert words.loc["Temporal Twist: Gender", "does not fit"] == "p"
    assert words.loc["Foot contact: Strength", "does not fit"] == "copy of Foot Glide: Strength"


def test_flat_names_are_unique(ranking):
    for frame in (ranking.ordinal, ranking.terms):
        flat = inputs.flat_names(frame)
        assert flat.index.is_unique and flat.columns.is_unique and flat.index.nlevels == flat.columns.nlevels == 1
    assert "ordinal: left_bias" in inputs.flat_names(ranking.terms).index
    people = inputs.named_people(ranking.people)
    assert people.loc["age: median"].iloc[0] == ranking.people.value.iloc[-1]


def test_words_of_columns_are_sorted_by_table():
    answers, ratings = own_data.column_names("userID=rater choice=answer score=points")
    assert answers == {"userID": "rater", "choice": "answer"} and ratings == {"score": "points"}
    assert own_data.column_names("") == ({}, {})
    for text, words in (("rater", "name=value"), ("user=", "name=value"), ("who=rater", "'who'")):
        with pytest.raises(ValueError, match=words):
            own_data.column_names(text)


@pytest.mark.parametrize(
    ("words", "values", "grades"),
    [
        ("", [-2, 0, 1], [-2, 0, 1]),
        (7, [-3, 0, 2], [-3, 0, 2]),
        ("3", [-1, 0, 1], [-1, 0, 1]),
        ("0..100", [0, 50, 100, 60], [-2, 0, 2, 1]),
        ("left, same, right", ["left", "same", "right"], [-1, 0, 1]),
    ],
)
def test_words_of_scales(words, values, grades):
    scale = own_data.answer_scale(words)
    frame = pd.DataFrame({"user": "u", "left": "A", "right": "B", "choice": values})
    read = perception.read_responses(frame, scale=scale)
    assert read.choice.tolist() == grades
    # what was read once reads the same again on the scale of its signed preferences
    assert perception.read_responses(read, scale=own_data.signed_scale(scale)).choice.tolist() == grades


def test_a_readers_table_on_seven_options_is_ranked(tmp_path, truth):
    answers = perception.simulated_answers(truth, 40, 5, thresholds=(0.4, 1.2, 2.2))
    path = tmp_path / "mine.csv"
    answers.rename(columns={"userID": "rater", "choice": "answer"}).assign(answer=answers.choice + 4).to_csv(path)
    scale = own_data.answer_scale("1,2,3,4,5,6,7")
    names, _ = own_data.column_names("userID=rater choice=answer")
    numbers = perception.options_scale(range(1, 8))
    read = perception.read_responses(path, columns=names, scale=numbers)
    assert read.choice.tolist() == answers.choice.tolist()
    assert perception.read_responses(path, columns=names, scale=scale).choice.tolist() == answers.choice.tolist()
    report = perception.ranking_report(read, scale=own_data.signed_scale(numbers), resamples=400)
    direct = perception.ranking_report(path, columns=names, scale=numbers, resamples=400)
    pd.testing.assert_frame_equal(report.scores, direct.scores)
    assert report.scores.index[0] == "GT" and report.scores.index[-1] == "NOISE"
    facts = inputs.study_facts(read, own_data.scored_answers(read, numbers), 0, None, 400, numbers.weights)
    assert facts.value["response options"] == 7 and facts.value["weight of a grade 3"] == 8


def test_the_papers_design_is_recognised_and_others_are_read_from_words():
    ratings = rating_panel.impairment_study(16, 0)
    design = own_data.rating_design(ratings)
    assert own_data.is_published_design(design) and design["compare"] == "strength"
    plain = ratings[["participant", "stimulus", "score"]]
    assert own_data.rating_design(plain) == {} and not own_data.is_published_design({})
    own = own_data.rating_design(ratings, "within=identity,strength between=motion by=distortion compare=identity")
    assert own["within"] == ["identity", "strength"] and own["by"] == "distortion"
    assert not own_data.is_published_design(own)
    for text, words in (
        ("within=colour", "no column colour"),
        ("inside=identity", "'inside'"),
        ("within", "name=value"),
    ):
        with pytest.raises(ValueError, match=words):
            own_data.rating_design(ratings, text)


def test_unpaired_comparisons_pool_people(ranking):
    ratings = rating_panel.impairment_study(16, 0)
    p = inputs.unpaired_comparisons(ratings)
    assert len(p) == 60 and p.between(0, 1).all()
    twice = pd.concat([ratings, ratings.assign(participant=ratings.participant + "b")])
    # the same scores counted as other people's: every p falls, which is what is wrong with it
    assert (inputs.unpaired_comparisons(twice) <= p + 1e-12).all()


def test_published_spreadsheet_is_found_where_it_was_fetched(tmp_path, monkeypatch):
    monkeypatch.setenv("MOTIONBOOK_DATA", str(tmp_path))
    assert inputs.published_answers() is None
    path = tmp_path / "staystill" / "scripts" / "user_study_results.xlsx"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    assert inputs.published_answers() == path


@pytest.mark.parametrize("budget", budgets.BUDGETS)
def test_small_studies_have_room_for_every_system_and_strength(budget, tmp_path, monkeypatch):
    from motionbook import write_bvh

    sizes = budgets.sizes(budget, "05_perception")
    clip = idle(make_performer(0, 0), 1.0)
    for system in ("GT", "NN", "SLERP", "DELTA"):
        for name in ("a", "b", "c"):
            path = tmp_path / "clips" / system / f"{name}.bvh"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bvh(clip, path)
    plans = {}
    monkeypatch.setattr(
        study,
        "build_study",
        lambda clips, out, design, look, settings, pictures, **options: plans.setdefault(
            design, study.Study(out, study.make_plan(clips, design, **options)[0], {})
        ),
    )
    look = study_demo.demo_look(sizes["demo_seconds"], sizes["demo_fps"])
    made = study_demo.demo_pairs(tmp_path / "clips", tmp_path / "p", count=sizes["demo_clips"], look=look)
    assert made.study.plan["systems"] == ["DELTA", "GT", "NN", "SLERP"] and len(made.study.plan["clips"]) < 3
    sources = sorted((tmp_path / "clips" / "GT").glob("*.bvh"))[:2]
    levels, kinds = sizes["demo_levels"], sizes["demo_distortions"]
    made = study_demo.demo_ratings(sources, tmp_path / "d", kinds=kinds, levels=levels, look=look)
    trials = made.study.plan["people"][0]["trials"]
    strongest = trials[study_demo.strongest_trial(made.study.plan)]
    assert strongest["kind"] == "scored" and strongest["right"].endswith("_5")
    assert len({t["right"] for t in trials if t["kind"] == "scored"}) == 2 * len(kinds) * len(levels)
    with pytest.raises(ValueError, match="wobble"):
        study_demo.demo_ratings(sources, tmp_path / "d", kinds=["wobble"], look=look)


def test_without_a_page_the_reason_is_told(tmp_path, monkeypatch):
    def fail(*args, **options):
        raise RuntimeError("npm ci failed\nmore")

    from motionbook import write_bvh

    for system in ("GT", "SLERP"):
        (tmp_path / system).mkdir()
        write_bvh(idle(make_performer(0, 0), 1.0), tmp_path / system / "a.bvh")
    monkeypatch.setattr(study, "build_study", fail)
    made = study_demo.demo_pairs(tmp_path, tmp_path / "out", count=1, look=study_demo.demo_look(1.0, 10.0))
    assert made.study is None and made.problem == "npm ci failed"


def test_diagnostics_are_made_of_the_clips_at_hand(tmp_path, monkeypatch):
    from motionbook.stickfigures import systems

    seen = []
    monkeypatch.setattr(
        systems, "measure", lambda folder: seen.append(folder) or pd.DataFrame({"clip": ["a"], "system": ["GT"]})
    )
    inputs.make_diagnostics(tmp_path / "03")(tmp_path / "04")
    assert seen == [tmp_path / "03"]
    assert pd.read_csv(tmp_path / "04" / "tables" / "systems_motion.csv").system.tolist() == ["GT"]
