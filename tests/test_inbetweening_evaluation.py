"""Folds, statistics, counts; and the published LaFAN1 table where LaFAN1 is present."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_inbetweening_windows import random_clip

from motionbook.bvh import read_bvh
from motionbook.inbetweening import evaluation, scoring
from motionbook.inbetweening.baselines import BASELINES, LocalPose
from motionbook.inbetweening.evaluation import evaluate, evaluate_folds, published_table, summarise, world
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import STATISTICS, make_windows

# Published with LaFAN1's evaluator (its tests and read-me): 5, 15, 30, 45 frames
LAFAN1_TABLE = {
    ("0-velocity", "L2P"): (1.523, 3.694, 6.600, 9.329),
    ("0-velocity", "L2Q"): (0.56, 1.10, 1.51, 1.81),
    ("0-velocity", "NPSS"): (0.0053, 0.0522, 0.2318, 0.4918),
    ("SLERP", "L2P"): (0.373, 1.249, 2.316, 3.447),
    ("SLERP", "L2Q"): (0.22, 0.62, 0.98, 1.25),
    ("SLERP", "NPSS"): (0.0023, 0.0391, 0.2013, 0.4493),
}


def people(frames=(150, 200, 120, 180)) -> list[Recording]:
    """One idle recording each of as many people, the later ones livelier, and a short phone clip."""
    clips = [random_clip(n, seed) for seed, n in enumerate(frames)]
    clips = [replace(c, root_positions=(1 + i) * c.root_positions) for i, c in enumerate(clips)]
    made = [Recording(c, f"{i:02d}", "idle", f"{i:02d}_idle") for i, c in enumerate(clips)]
    return [*made, Recording(random_clip(40, 9), "00", "phone", "00_phone")]


FOLDS = [{"train": ["00", "01"], "test": ["02", "03"]}, {"train": ["02", "03"], "test": ["00", "01"]}]


def test_every_fold_has_its_own_scale():
    """A fold scores the same alone, first or last; the released evaluator's cached scale makes the second fold differ.

    Planted fault: the first fold's std for all folds changes fold 2's L2P by more than half.
    """
    both = evaluate_folds(people(), "idle", FOLDS)
    reverse = evaluate_folds(people(), "idle", FOLDS[::-1])
    alone = evaluate_folds(people(), "idle", FOLDS[1:])
    second = both[both.fold == 2].value.to_numpy()
    assert np.array_equal(second, alone.value) and np.array_equal(second, reverse[reverse.fold == 1].value)
    clips = [r.clip for r in people()[2:4]]
    places = world(w := make_windows(clips, *STATISTICS), LocalPose(w.root_positions, w.rotations)).positions
    _, std = evaluation.position_statistics([evaluation.position_moments(w)])
    assert np.allclose(std, places.reshape(-1, 22, 3).std(axis=0))
    parts = [evaluation.position_moments(make_windows([c], *STATISTICS)) for c in clips]
    mean, pooled = evaluation.position_statistics(parts)
    assert np.allclose(pooled, std, rtol=1e-12) and np.allclose(mean, places.mean(axis=(0, 1)))


def test_counts_stand_beside_every_cell():
    """Windows are added over folds, people counted once, and a fold without windows drops out."""
    folds = [*FOLDS, {"train": ["00"], "test": ["99"]}, {"train": ["03"], "test": ["00"]}]
    summary = evaluate(people(), "idle", folds)
    assert len(summary) == 3 * 4 * 3
    windows = [len(make_windows([r.clip])) for r in people()[:4]]
    assert windows == [3, 4, 2, 3]
    assert set(summary.n_windows) == {sum(windows) + windows[0]}
    assert set(summary.n_subjects) == {4} and set(summary.n_folds) == {3}
    per_fold = evaluate_folds(people(), "idle", folds)
    cell = per_fold[(per_fold.system == "SLERP") & (per_fold.length == 30) & (per_fold.metric == "L2P")].value
    row = summary[(summary.system == "SLERP") & (summary.length == 30) & (summary.metric == "L2P")].iloc[0]
    assert row["mean"] == pytest.approx(cell.mean()) and row["spread"] == pytest.approx(cell.std(ddof=1))
    table = published_table(summary)
    assert list(table.index) == ["0-velocity", "SLERP", "SLERP-Q"]
    assert (
        table.columns[0] == "L2P@5" and table.columns[11] == "NPSS@45" and table.loc["SLERP", "L2P@30"] == row["mean"]
    )
    assert np.isnan(summarise(per_fold[per_fold.fold == 1]).spread).all()


def test_scores_rank_as_they_must():
    """The truth itself scores zero; interpolating between close keys beats holding still."""

    def oracle(windows, length):
        gap = slice(10, 10 + length)
        return LocalPose(windows.root_positions[:, gap], windows.rotations[:, gap])

    summary = evaluate(people(), "idle", FOLDS, systems={**BASELINES, "truth": oracle})
    table = published_table(summary).drop(columns=["n_windows", "n_subjects", "n_folds"])
    assert np.abs(table.loc["truth"]).max() < 1e-12
    assert (table.loc["SLERP", ["L2P@5", "L2Q@5"]] < table.loc["0-velocity", ["L2P@5", "L2Q@5"]]).all()


def test_one_chunk_or_many(monkeypatch):
    """Windows scored in parts give the same numbers as all at once."""
    whole = evaluate(people(), "idle", FOLDS)
    monkeypatch.setattr(scoring, "_CHUNK", 2)
    assert np.allclose(evaluate(people(), "idle", FOLDS)["mean"], whole["mean"], rtol=1e-12)


def test_a_person_who_never_moves_gives_numbers():
    """A frozen training set has a scale of zero; the smallest scale stands in and nothing is NaN or infinite."""
    recordings = people()
    still = recordings[0].clip
    still = replace(still, rotations=still.rotations[[0] * 150], root_positions=still.root_positions[[0] * 150])
    summary = evaluate([recordings[0]._replace(clip=still), recordings[1]], "idle", [{"train": ["00"], "test": ["01"]}])
    assert np.isfinite(summary["mean"]).all()


def test_what_cannot_be_scored_is_said():
    """Unknown subset, people on both sides, no fold, clips shorter than a window."""
    with pytest.raises(ValueError, match="'walking'; the groups are idle, phone"):
        evaluate(people(), "walking", FOLDS)
    with pytest.raises(ValueError, match="fold 1: 01"):
        evaluate(people(), "idle", [{"train": ["00", "01"], "test": ["01"]}])
    with pytest.raises(ValueError, match="at least one"):
        evaluate(people(), "idle", [])
    with pytest.raises(ValueError, match="65 frames"):
        evaluate(people(), "phone", [{"train": ["01"], "test": ["00"]}])


def test_a_data_set_of_one_person_is_scored_with_a_warning():
    """There is nobody else to take the scale from; two people on both sides stay an error."""
    with pytest.warns(UserWarning, match="fold 1: 01 is the only person"):
        assert set(evaluate(people(), "idle", [{"train": ["01"], "test": ["01"]}]).n_subjects) == {1}
    with pytest.raises(ValueError, match="fold 1: 00, 01"):
        evaluate(people(), "idle", [{"train": ["00", "01"], "test": ["00", "01"]}])


def test_error_over_time_averages_to_l2p():
    """Its mean over frames is the L2P of each window."""
    windows, std = make_windows([random_clip(150, 0)]), np.full((22, 3), 7.0)
    for system, predict in BASELINES.items():
        curve = evaluation.error_over_time(windows, std, 15, predict)
        scores = evaluation.score_windows(windows, std, [15], {system: predict})[system, 15]
        assert curve.shape == (3, 15) and np.allclose(curve.mean(axis=1), scores.l2p)


def test_error_curves_pool_the_windows_of_all_folds():
    """Every window counts once, whatever the size of its fold, with its own fold's scale."""
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    assert [f.number for f in folds] == [1, 2] and folds[0].subjects == ("02", "02", "03", "03", "03")
    curves = evaluation.error_curves(folds, [15])
    part = curves[(curves.system == "SLERP") & (curves.length == 15)]
    pooled = np.concatenate([evaluation.score_windows(f.windows, f.std, [15])["SLERP", 15].l2p for f in folds])
    assert list(part.frame) == list(range(1, 16)) and part.error.mean() == pytest.approx(pooled.mean())


def test_learners_see_their_folds_people_only():
    """Called once per fold with the subset's train and validation recordings; scored beside the other systems."""
    calls = []

    def learner(train, validation, *, seed):
        calls.append(([r.name for r in train], [r.name for r in validation], seed))
        return BASELINES["SLERP"]

    folds = [{**FOLDS[0], "validation": ["03"], "test": ["02"]}, FOLDS[1]]
    summary = evaluate(people(), "idle", folds, learners={"copy": learner}, seed=7)
    assert calls == [(["00_idle", "01_idle"], ["03_idle"], 7), (["02_idle", "03_idle"], [], 7)]
    table = published_table(summary)
    assert list(table.index) == [*BASELINES, "copy"] and (table.loc["copy"] == table.loc["SLERP"]).all()
    with pytest.raises(ValueError, match="SLERP is also the name of a learner"):
        evaluate(people(), "idle", folds, learners={"SLERP": learner})
    fitted = evaluation.fold_windows(people(), "idle", folds, {"copy": learner})
    assert set(evaluation.error_curves(fitted, [5]).system) == {*BASELINES, "copy"}


def test_window_scores_add_up_to_the_folds_numbers():
    """One row per window and system; means, and sums of NPSS terms, give ``evaluate_folds``."""
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    scores = evaluation.window_scores(folds, [15])
    assert list(scores.columns) == [
        "fold", "system", "length", "subject", "window", "l2p", "l2q", "npss_distance", "npss_power",
    ]  # fmt: skip
    assert len(scores) == 3 * sum(len(f.windows) for f in folds)
    part = scores[(scores.fold == 1) & (scores.system == "SLERP")]
    assert list(part.subject) == list(folds[0].subjects) and list(part.window) == list(range(5))
    per_fold = evaluate_folds(people(), "idle", FOLDS, [15])
    mine = per_fold[(per_fold.fold == 1) & (per_fold.system == "SLERP")].set_index("metric").value
    assert mine["L2P"] == pytest.approx(part.l2p.mean())
    assert mine["NPSS"] == pytest.approx(part.npss_distance.sum() / part.npss_power.sum())


def made_up_scores(change, windows=(10, 20, 30, 40)):
    """Scores of "new", a person's share ``change`` better than "old" in every window."""
    rows = []
    for person, (count, share) in enumerate(zip(windows, change, strict=True)):
        for window in range(count):
            value = 1.0 + person
            rows.append((1, "old", 5, f"{person:02d}", window, value, value, value, 2.0))
            rows.append((1, "new", 5, f"{person:02d}", window, value * (1 + share), value, value * (1 + share), 2.0))
    columns = ["fold", "system", "length", "subject", "window", "l2p", "l2q", "npss_distance", "npss_power"]
    return pd.DataFrame(rows, columns=columns)


def test_comparison_by_hand():
    """Windows weigh equally; the interval draws people: equal people give none, unequal ones a wide one.

    The interval agrees with drawing people one by one.
    """
    equal = evaluation.compare(made_up_scores([-0.2] * 4), "new", "old", "L2P").loc[5]
    assert equal.difference == pytest.approx(-20) and equal.low == pytest.approx(-20) == equal.high
    assert equal.n_windows == 100 and equal.n_subjects == 4
    scores, change = made_up_scores([-0.4, -0.2, 0.0, 0.2]), np.array([-0.4, -0.2, 0.0, 0.2])
    for metric in ("L2P", "NPSS"):
        row = evaluation.compare(scores, "new", "old", metric).loc[5]
        weight = np.array([10, 20, 30, 40]) * np.array([1, 2, 3, 4])
        assert row.difference == pytest.approx(100 * (weight * change).sum() / weight.sum())
        rng, drawn = np.random.default_rng(1), []
        for _ in range(4000):
            who = rng.integers(4, size=4)
            drawn.append(100 * (weight[who] * change[who]).sum() / weight[who].sum())
        assert [row.low, row.high] == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=2.0)
    assert evaluation.compare(scores, "new", "old", "L2Q").loc[5, "difference"] == 0.0
    each = evaluation.compare_subjects(scores, "new", "old")
    assert np.allclose(each[5], 100 * change) and list(each.n_windows) == [10, 20, 30, 40]
    with pytest.raises(KeyError, match="old, new"):
        evaluation.compare(scores, "best", "old")
    with pytest.raises(KeyError, match="L2P, L2Q, NPSS"):
        evaluation.compare(scores, "new", "old", "L2")


@pytest.mark.parametrize(
    ("folds", "words"),
    [
        ([], "folds: expected at least one"),
        ([{"train": ["00"]}], "fold 1: expected subjects under train and test, got none under test"),
        ([{"train": ["00"], "test": ["x"]}], "none tests anybody who is there: 00, 01, 02, 03"),
        ([{"train": ["00"], "test": ["00", "01"]}], "fold 1: 00 are trained on and tested"),
    ],
)
def test_folds_that_cannot_be_scored_are_refused(folds, words):
    with pytest.raises(ValueError, match=words):
        evaluate(people(), "idle", folds)


def test_clips_shorter_than_a_window_are_told_from_missing_people():
    with pytest.raises(ValueError, match="window of 65 frames, the longest clip has 60; give longer recordings"):
        evaluate(people((60, 55, 60, 51)), "idle", FOLDS)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (
            lambda p: LocalPose(p.root_positions, p.rotations[:, :, 1:]),
            r"MINE: .* \(\d+, 5, 22, 4\) at T = 5, got .* 21, 4",
        ),
        (lambda p: LocalPose(p.root_positions[:, 1:], p.rotations), r"MINE: expected .* at T = 5, got \(\d+, 4, 3\)"),
        (lambda p: LocalPose(np.nan * p.root_positions, p.rotations), "MINE: some numbers .* T = 5 are not finite"),
        (lambda p: None, "MINE: expected root places and rotations at T = 5, got NoneType"),
    ],
)
def test_a_system_that_answers_something_else_is_named(spoil, words):
    with pytest.raises(ValueError, match=words):
        evaluate_folds(people(), "idle", FOLDS, (5,), {"MINE": lambda w, t: spoil(BASELINES["SLERP"](w, t))})


def test_lengths_that_are_none_and_people_too_short_to_train_on_are_refused():
    for lengths in ((0, 5), ()):
        with pytest.raises(ValueError, match="lengths: expected numbers of frames of at least 1"):
            evaluate_folds(people(), "idle", FOLDS, lengths)
    folds = [{"train": ["01"], "test": ["00"]}, {"train": ["02"], "test": ["03"]}]
    with pytest.raises(ValueError, match=r"fold 2: none of its training people \(02\) has a clip of 50 frames"):
        evaluate_folds(people((150, 200, 40, 180)), "idle", folds)


def test_lafan1_baseline_table(shared_data):
    """LaFAN1's published baselines, as the acceptance test of the whole path from BVH to table.

    Train subjects 1 to 4, test subject 5, LaFAN1's own (strict) windows, 2232 of them. Needs all 77 files.
    """
    folder = Path(os.environ.get("MOTIONBOOK_LAFAN1", shared_data / "bvh" / "lafan1"))
    files = sorted(folder.rglob("*_subject?.bvh"))
    if len(files) < 77:
        pytest.skip(f"needs the 77 files of LaFAN1, found {len(files)} in {folder}; set MOTIONBOOK_LAFAN1")
    recordings = [
        Recording(read_bvh(f, metres_per_unit=0.01, up="file"), f.stem.rsplit("_", 1)[1], "all", f.stem) for f in files
    ]
    fold = {"train": [f"subject{i}" for i in range(1, 5)], "test": ["subject5"]}
    systems = {name: BASELINES[name] for name in ("0-velocity", "SLERP")}
    summary = evaluate(recordings, "all", [fold], systems=systems, strict=True)
    assert set(summary.n_windows) == {2232}
    table = published_table(summary)
    for (system, metric), values in LAFAN1_TABLE.items():
        ours = table.loc[system, [f"{metric}@{n}" for n in (5, 15, 30, 45)]].to_numpy(float)
        # the last printed digit, which the sources cut or round
        digit = {"L2P": 1e-3, "L2Q": 1e-2, "NPSS": 1e-4}[metric]
        assert np.abs(ours - values).max() <= digit, (system, metric, ours)
