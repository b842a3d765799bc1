"""What chapter 3 asks of its systems: sizes by budget, who may fill whose clip, tables of gains, aims and effects."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from test_inbetweening_evaluation import FOLDS, people
from test_inbetweening_windows import random_clip

from motionbook import budgets
from motionbook.inbetweening import chapter_systems, evaluation, inputs, pitfall_effects
from motionbook.inbetweening.baselines import BASELINES, slerp, zero_velocity
from motionbook.inbetweening.generator import choose_spans
from motionbook.inbetweening.own_predictions import ANSWER, QUESTION, write_questions
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import LENGTHS, Windows
from motionbook.report import inbetweening_figures as figures


def long_people(count: int = 4) -> list[Recording]:
    """One idle recording of 700 frames each."""
    return [Recording(random_clip(700, seed), f"{seed:02d}", "idle", f"{seed:02d}_idle") for seed in range(count)]


def folds_that_remember(recordings) -> list[evaluation.FoldWindows]:
    """Folds whose learner "MINE" is SLERP that notes the clips it was trained on and counts what it fills."""

    def learner(train, validation=(), *, seed=0):
        seen = {r.subject for r in train}

        def predict(windows: Windows, transition: int):
            predict.filled += len(windows)
            return slerp(windows, transition)

        predict.seen, predict.filled = seen, 0
        return predict

    return evaluation.fold_windows(recordings, "idle", FOLDS, {"MINE": learner})


@pytest.mark.parametrize("budget", budgets.BUDGETS)
def test_every_budget_has_sizes_for_every_learner(budget, tmp_path):
    pytest.importorskip("torch")
    sizes = budgets.sizes(budget, "03_inbetweening")
    chosen = chapter_systems.choose_systems(sizes, people(), tmp_path)
    assert set(chosen.about) == {*chosen.fixed, *chosen.learners}
    assert {"NN", "DELTA", "FLOW", "Ridge", "Perceptron", "Kriging"} == set(chosen.learners)
    assert chosen.recipe["batch size"] == 32 and chosen.network in chosen.about["NN"]
    if budget == "full":
        # StayStill's recipe
        assert "width 512, 6 layers, 199 epochs" in chosen.network
        assert chosen.recipe["learning rate, context model"] == 0.0625
        assert chosen.recipe["learning rate, detail model"] == 0.025
        assert chosen.recipe["warm-up iterations"] == 8000 and chosen.recipe["epochs"] == 199
        assert chosen.recipe["longest training transition"] == 30


def test_reduced_uses_the_published_size_where_there_is_an_accelerator():
    pytest.importorskip("torch")
    sizes = budgets.sizes("reduced", "03_inbetweening")
    small, _ = chapter_systems.network_config(sizes, "cpu")
    large, steps = chapter_systems.network_config(sizes, "cuda")
    assert steps == 2000 and large.network.width == 512 and small.network.width < 128
    # the peak of the published schedule, reached at the shorter warm-up's end
    assert large.context.rate_at(large.context.warmup) == pytest.approx(6.988e-4, rel=1e-3)


def test_checkpoints_of_other_motion_or_sizes_are_kept_apart(tmp_path):
    pytest.importorskip("torch")
    sizes = budgets.sizes("smoke", "03_inbetweening")
    longer = {**sizes, "network": {**sizes["network"], "steps": 7}}
    first, second = people(), people((150, 200, 120, 181))
    places = {
        chapter_systems.choose_systems(s, r, tmp_path).learners["NN"].place(r[:2], 0)
        for s, r in ((sizes, first), (sizes, second), (longer, first))
    }
    assert len(places) == 3
    again = chapter_systems.choose_systems(sizes, first, tmp_path).learners["NN"].place(first[:2], 0)
    assert again in places


def test_nobody_fills_a_clip_of_a_person_it_was_trained_on():
    """Planted fault: the first fold for all spans fills people 00 and 01 by what was trained on them."""
    recordings = long_people()
    folds = folds_that_remember(recordings)
    spans = choose_spans(recordings, 4)
    pairs = chapter_systems.spans_by_fold(spans, folds)
    assert sum(len(mine) for _, mine in pairs) == len(spans) == 4
    for fold, mine in pairs:
        assert not {s.recording.subject for s in mine} & fold.learned["MINE"].seen
    made = chapter_systems.learned_clips(spans, folds, ["MINE"])
    assert list(made) == [span.name for span in spans] and all(fold.learned["MINE"].filled == 14 for fold in folds)
    stranger = choose_spans([long_people(5)[4]], 1)
    with pytest.raises(ValueError, match="no fold tests 04"):
        chapter_systems.spans_by_fold(stranger, folds)


def test_a_generated_gap_looks_no_further_than_its_target_and_each_gap_is_a_new_sample():
    strict = SimpleNamespace(keys_only=lambda: "strict")
    assert chapter_systems.generating(strict) == "strict" and chapter_systems.generating(slerp) is slerp
    seeds = []

    def answering(answer, seed):
        seeds.append((answer, seed))
        return lambda windows, transition: None

    sampler = SimpleNamespace(sample=None, seed=5, answering=answering)
    call = chapter_systems.generating(sampler)
    call(None, 44), call(None, 44)
    assert seeds == [("sample", 5), ("sample", 6)]


def test_gains_aims_and_their_figure():
    """A system that halves SLERP's error gains 50 % everywhere, and 20 % of it are missing to an aim of 70."""
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    scores = evaluation.window_scores(folds)
    half = scores[scores.system == "SLERP"].assign(system="HALF")
    half[["l2p", "l2q"]] *= 0.5
    scores = pd.concat([scores, half])
    found = chapter_systems.gains(scores, ["SLERP-Q", "HALF"])
    mine = found[found.system == "HALF"]
    assert len(found) == 16 and np.allclose(mine[["difference", "low", "high"]], -50.0)
    table = chapter_systems.gains_table(found)
    assert table.loc["HALF, L2P", "T = 5"] == "-50.0 (-50.0 to -50.0)" and table.loc["HALF, L2P", "n_subjects"] == 4
    aims = chapter_systems.aims_table(evaluation.compare(scores, "HALF", "SLERP"), {5: 70, 45: 18})
    assert np.allclose(aims["missed by"], [20.0, 0.0]) and list(aims["below zero"]) == ["yes", "yes"]
    figure = figures.gains_figure(found)
    assert [axes.get_title() for axes in figure.axes][:2] == ["L2P, T = 5", "L2P, T = 15"]


def test_rows_have_the_published_names_and_order():
    names = ["0-velocity", "SLERP", "Cubic", "SLERP-Q", "NN", "DELTA"]
    table = chapter_systems.published_rows(pd.DataFrame({"L2P@5": range(6)}, index=names))
    assert list(table.index) == ["0-velocity", "SLERP", "SLERP-Q", "Neural Network", "Cubic", "DELTA"]
    assert table.loc["Neural Network", "L2P@5"] == 4


def test_error_maps_weigh_folds_by_their_windows_and_the_worst_window_is_the_worst():
    folds = evaluation.fold_windows(people((150, 400, 120, 180)), "idle", FOLDS)
    assert len({len(fold.windows) for fold in folds}) == 2
    maps = chapter_systems.mean_error_maps(folds, BASELINES, 15, ["SLERP", "0-velocity"])
    from motionbook.inbetweening.failures import joint_errors

    together = np.concatenate([joint_errors(fold.windows, 15, slerp) for fold in folds])
    assert np.allclose(maps["SLERP"], together.mean(axis=0))
    worst = chapter_systems.worst_windows(folds, BASELINES, 15, ["SLERP", "0-velocity"], worst=1)
    scores = evaluation.window_scores(folds, (15,))
    for row in worst.itertuples():
        mine = scores[scores.system == row.system]
        top = mine.loc[mine.l2p.idxmax()]
        assert row.l2p == pytest.approx(top.l2p) and row.subject == top.subject and row.fold == top.fold


def test_effects_are_those_of_the_scores():
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    recordings = [r for r in people() if r.group == "idle"]
    table = pitfall_effects.measured_effects(folds, recordings)
    assert list(table.index) == [3, 4, 5, 6, 7, 14]
    summary = evaluation.summarise(evaluation.fold_scores(evaluation.window_scores(folds)))
    mine = evaluation.published_table(summary)
    assert table.here[4] == pytest.approx(mine.at["SLERP", "NPSS@30"]) and abs(table.change[4]) > 1
    assert table.here[6] == pytest.approx(mine.at["SLERP", "L2P@30"]) and abs(table.change[6]) > 1
    assert abs(table.change[14]) < 1e-4 and table.here[7] == sum(
        len(range(0, len(r.clip) - 64, 40)) for r in recordings
    )
    bounds = pitfall_effects.easing_bounds(mine)
    assert set(bounds.possible) == {"yes"} and len(bounds) == 2 * len(LENGTHS)


def test_the_published_table_has_impossible_cells():
    from motionbook.report import published_frame

    bounds = pitfall_effects.easing_bounds(published_frame("staystill_table5"))
    assert list(bounds.index[bounds.possible == "no"]) == ["L2P@5", "L2Q@5", "L2Q@15"]


def test_facts_of_the_generator():
    """A jump of 5 degrees is taken back over the 45 frames to the next junction, as printed: 0.11 a frame."""
    facts = inputs.generator_facts(5, {"batch size": 32}).value
    assert round(facts["example shift undone per frame"], 2) == 0.11
    assert facts["Gaussian kernel"] == 7 and facts["distance of the target"] == 45 and facts["batch size"] == 32


def test_answers_of_a_reader_make_rows(tmp_path):
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    write_questions(tmp_path / "questions", folds)
    place = tmp_path / "mine" / "STILL" / "idle"
    place.mkdir(parents=True)
    for fold in folds:
        assert (tmp_path / "questions" / QUESTION.format(fold.number)).is_file()
        answers = {length: zero_velocity(fold.windows, length) for length in LENGTHS}
        arrays = {f"root_{n}": a.root_positions for n, a in answers.items()}
        arrays |= {f"rotations_{n}": a.rotations for n, a in answers.items()}
        np.savez(place / ANSWER.format(fold.number), **arrays)
    rows, files = inputs.own_rows(tmp_path / "mine", "idle", folds)
    per_fold = evaluation.fold_scores(evaluation.window_scores(folds))
    theirs = per_fold[per_fold.system == "0-velocity"]
    assert len(files) == 2 and np.allclose(rows[0].value, theirs.value) and set(rows[0].system) == {"STILL"}
    assert inputs.own_rows(tmp_path / "mine", "phone", folds) == ([], [])
    with pytest.raises(FileNotFoundError, match="such as mine/idle"):
        inputs.own_rows(tmp_path / "questions", "idle", folds)
