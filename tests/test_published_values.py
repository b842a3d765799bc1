"""The published numbers: the list is whole, and sums and identities that the papers state or imply hold on our copy."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from motionbook.budgets import _SIZES
from motionbook.data.published import load_published, papers, published_item, read_number
from motionbook.report import published_frame


def value(item: str, row: str, column: str | None = None) -> float:
    about = published_item(item)
    return about.cells[row, column or about.columns[0]].value


def values(item: str, column: str | None = None) -> dict[str, float]:
    about = published_item(item)
    return {row: cell.value for (row, col), cell in about.cells.items() if col == (column or about.columns[0])}


# --- the list ---------------------------------------------------------------------------------------------------------


def test_the_index_lists_every_table_figure_and_experiment():
    items = load_published().values()
    count = {
        paper: {kind: sum(i.paper == paper and i.kind == kind for i in items) for kind in ("table", "figure", "text")}
        for paper in papers()
    }
    assert count == {
        "staystill": {"table": 6, "figure": 8, "text": 5},
        "stickfigures": {"table": 3, "figure": 5, "text": 8},
        "quality4d": {"table": 3, "figure": 6, "text": 4},
    }
    for paper, kinds in count.items():  # numbered from 1 without a gap
        for kind, stem in (("table", "table"), ("figure", "fig")):
            assert {f"{paper}_{stem}{n + 1}" for n in range(kinds[kind])} == {
                i.id for i in items if i.paper == paper and i.kind == kind
            }


def test_every_item_has_values_or_a_description_and_a_chapter():
    for item in load_published().values():
        assert item.chapter in _SIZES, item.id
        assert item.place and item.title, item.id
        assert item.description if item.kind == "figure" else item.cells, item.id


def test_every_value_is_finite_or_words():
    cells = [cell for item in load_published().values() for cell in item.cells.values()]
    assert sum(cell.source == "paper" for cell in cells) == 884
    for cell in cells:
        assert cell.printed
        assert math.isfinite(cell.value) or not cell.printed[0].isdigit() or " " in cell.printed, cell


# --- StayStill --------------------------------------------------------------------------------------------------------


def test_table_3_frames_and_clips_add_up():
    frames, clips = values("staystill_table3", "Frames"), values("staystill_table3", "Clips")
    actions = [row for row in frames if row.startswith("Action: ")]
    assert len(actions) == 19
    assert sum(frames[row] for row in actions) == frames["Idle actions total"] == 275_751
    assert sum(clips[row] for row in actions) == clips["Idle actions total"] == 1_534
    parts = ("Idle actions total", "General Idle", "Idle with a phone")
    assert sum(frames[row] for row in parts) == value("staystill_text_dataset", "frames") == 645_338
    assert sum(clips[row] for row in parts) == 1_634
    assert clips["General Idle"] == clips["Idle with a phone"] == value("staystill_text_dataset", "subjects")


def test_table_3_durations_are_cut_to_seconds_and_so_miss_ten():
    frames, durations = values("staystill_table3", "Frames"), values("staystill_table3", "Duration")
    assert {row: math.floor(n / 30) for row, n in frames.items()} == durations
    actions = sum(seconds for row, seconds in durations.items() if row.startswith("Action: "))
    assert actions == read_number("2:33:01").value
    assert durations["Idle actions total"] - actions == 10
    assert math.floor(645_338 / 30) == value("staystill_text_dataset", "duration")


def test_table_4_folds_are_disjoint_and_only_fold_3_slips():
    folds = {}
    for fold in ("1", "2", "3", "4", "5"):
        parts = [published_item("staystill_table4").cells[fold, c].printed for c in ("Train", "Validation", "Test")]
        folds[fold] = [[int(subject) for subject in part.split()] for part in parts]
        assert [len(part) for part in folds[fold]] == [35, 5, 10]
        assert len(set().union(*folds[fold])) == 50  # no subject twice
    everybody = set(range(50))
    slips = {fold: (set().union(*parts) - everybody, everybody - set().union(*parts)) for fold, parts in folds.items()}
    assert {fold: slip for fold, slip in slips.items() if slip != (set(), set())} == {"3": ({50}, {40})}
    # independent evidence that 50 is 40: every subject is tested exactly once over the five folds
    tested = [40 if subject == 50 else subject for parts in folds.values() for subject in parts[2]]
    assert sorted(tested) == list(range(50))
    assert any(p.row == "3" and "50" in p.note for p in published_item("staystill_table4").problems)


def test_table_2_elo_scores_average_the_initial_score():
    elo = values("staystill_table2", "Elo")
    assert len(elo) == 5
    assert abs(np.mean(list(elo.values())) - value("staystill_text_study", "initial Elo")) < 0.005
    assert list(elo) == sorted(elo, key=elo.get, reverse=True)


def test_every_pair_has_two_appearances_and_demographic_shares_are_not_of_people():
    study = values("staystill_text_study")
    systems = [study[f"appearances of {name}"] for name in ("GT", "SLERP", "SLERP-Q", "NN", "NOISE")]
    assert sum(systems) == 2 * study["evaluated pairs"]
    assert study["videos"] == 5 * study["videos per system"]
    for shares in (("male", "female", "non-binary"), ("Basque", "Spanish", "English")):
        assert sum(study[name] for name in shares) == pytest.approx(100, abs=0.005)
    possible = {round(100 * n / 118, 2) for n in range(119)}
    assert study["male"] not in possible and study["non-binary"] not in possible


def test_significant_pairs_follow_from_table_2():
    """Independent normal errors from the printed standard deviations give the stated verdicts for all ten pairs."""
    elo, spread = values("staystill_table2", "Elo"), values("staystill_table2", "Std Elo")
    cells = published_item("staystill_text_significance").cells
    verdicts = {row: cell.printed for (row, column), cell in cells.items() if column == "significant"}
    assert len(verdicts) == 10
    for pair, verdict in verdicts.items():
        a, b = pair.split(" - ")
        z = abs(elo[a] - elo[b]) / math.hypot(spread[a], spread[b])
        assert (z > NormalDist().inv_cdf(0.975)) == (verdict == "yes"), pair


@pytest.mark.parametrize("table", ["staystill_table1", "staystill_table5", "staystill_table6"])
def test_errors_grow_with_the_gap_except_for_the_noted_cell(table):
    item = published_item(table)
    noted = {(p.row, p.column) for p in item.problems if p.column}
    for row in item.rows:
        for metric in ("L2P", "L2Q", "NPSS"):
            cells = [(row, f"{metric}@{n}") for n in (5, 15, 30, 45)]
            for a, b in itertools.pairwise(cells):
                falls = item.cells[a].value > item.cells[b].value
                assert falls == (a in noted and metric == "NPSS"), (a, b)


def test_slerp_q_cells_beyond_the_triangle_inequality_are_the_noted_ones():
    """Along a path of length D, SLERP-Q is |t' - t| D away from SLERP, and SLERP t D away from the last pose, so
    SLERP-Q's mean error is at most SLERP's plus a known share of what SLERP and 0-velocity err together."""
    for table in ("staystill_table1", "staystill_table5", "staystill_table6"):
        item = published_item(table)
        beyond = set()
        for n in (5, 15, 30, 45):
            t = np.arange(1, n + 1) / (n + 1)
            eased = np.where(t < 0.5, 2 * t**2, 1 - 2 * (1 - t) ** 2)
            share = np.abs(eased - t).sum() / t.sum()
            for column in (f"L2P@{n}", f"L2Q@{n}"):
                zero, slerp, easing = (item.cells[row, column] for row in ("0-velocity", "SLERP", "SLERP-Q"))
                most = slerp.value + slerp.half_unit + share * (slerp.value + zero.value + 2 * zero.half_unit)
                if easing.value - easing.half_unit > most:
                    beyond.add(("SLERP-Q", column))
        assert beyond == {(p.row, p.column) for p in item.problems if p.row == "SLERP-Q"}, table


# --- Dancing Stick Figures --------------------------------------------------------------------------------------------


def test_stick_figure_counts():
    data = {
        row: published_item("stickfigures_text_dataset").cells.get((row, "value"))
        for row in published_item("stickfigures_text_dataset").rows
    }
    data = {row: cell.value for row, cell in data.items() if cell}
    groups = [data[f"{name} prompts"] for name in ("dance", "gesture", "locomotion", "transition", "idle", "sport")]
    assert data["candidate prompts"] - data["excluded prompts"] == sum(groups) == data["prompts"] == 134
    assert data["prompts"] * data["seeds"] == data["motions"] == 1_340
    assert data["motions"] * data["views per motion"] == data["clips"] == 4_020
    assert data["clips"] * data["frames per clip"] == value("stickfigures_table1", "frames", "Records") == 482_400
    assert value("stickfigures_table1", "motion", "Records") == data["motions"]
    before = data["candidate prompts"] * data["seeds"] * data["views per motion"] * data["frames per clip"]
    assert before == value("stickfigures_text_rebuild", "frames compared")


def test_stick_figure_splits_add_up():
    table = published_frame("stickfigures_table2")
    assert (table.loc[["Train", "Validation", "Test"], ["Motions", "Videos", "Frames"]].sum() ==
            table.loc["All", ["Motions", "Videos", "Frames"]]).all()  # fmt: skip
    assert (table.Motions * 3 == table.Videos).all() and (table.Videos * 120 == table.Frames).all()
    assert list(table.Motions / 134) == [8, 1, 1, 10]  # seeds 0-7, 8, 9


def test_stick_figure_training_arithmetic():
    training = values("stickfigures_text_training")
    assert training["updates"] * training["batch, video"] == training["sampled examples"]
    # an epoch lists each of the 3,216 training views four times
    assert training["sampled examples"] / (4 * 3216) == pytest.approx(
        training["passes through the training loader"], abs=0.05
    )
    difference = value("stickfigures_table3", "Video DiT + local mixer, 30k", "Params") - value(
        "stickfigures_table3", "Video DiT, 30k (image)", "Params"
    )
    assert difference == pytest.approx(training["parameters, local mixer"], abs=0.05)


def test_stick_figure_tables_and_text_agree():
    table = published_frame("stickfigures_table3")
    stress = published_frame("stickfigures_text_temporal")
    real = table.loc["Real reference windows"]
    assert [real.Speed, real.Jerk, real.FVD] == [stress.loc["real", c] for c in ("Speed", "Jerk", "FVD")]
    assert (stress.loc["reverse", ["Speed", "Acceleration", "Jerk"]] == stress.loc["real", ["Speed", "Acceleration",
            "Jerk"]]).all()  # fmt: skip
    low, high = stress.loc["reverse", "FVD difference low"], stress.loc["reverse", "FVD difference high"]
    assert low < stress.loc["reverse", "FVD difference"] < high


# --- 4DHumanQA --------------------------------------------------------------------------------------------------------


def test_stimuli_and_participants_add_up():
    stimuli = values("quality4d_text_stimuli")
    main = stimuli["source models"] * stimuli["distortion types"] * stimuli["strengths"]
    assert main == stimuli["stimuli of the training and validation set"] == 240
    assert main + stimuli["stimuli of the test set"] == stimuli["stimuli"] == 250
    item = published_item("quality4d_text_stimuli")
    pilot = [cell.printed.split() for (row, _), cell in item.cells.items() if row.startswith("pilot, ")]
    assert [len(strengths) for strengths in pilot] == [6, 8, 8, 9, 9, 6]
    assert sum(map(len, pilot)) == stimuli["pilot stimuli"]

    people = published_frame("quality4d_text_participants")
    for group in ("animation: ", "human motion: ", "aged ", ("female", "male")):
        rows = [row for row in people.index if row.startswith(group)]
        assert people["count"][rows].sum() == people["count"]["participants"] == 48
    for row in people.index[people.share.notna()]:
        digits = len(published_item("quality4d_text_participants").cells[row, "share"].printed.split(".")[1]) - 1
        assert round(100 * people["count"][row] / 48, digits) == people.share[row], row
    assert 2 * people["count"]["ratings per stimulus"] == people["count"]["participants"]
    assert people["count"]["stimuli per participant"] == (240 + 10) / 2


def _can_be(lowest: float, highest: float, cell) -> bool:
    """Whether a quantity between two limits can round to the printed one."""
    return lowest <= cell.value + cell.half_unit * 1.000001 and highest >= cell.value - cell.half_unit * 1.000001


def test_table_i_rows_that_contradict_themselves_are_the_noted_ones():
    """p and partial eta squared follow from F and its degrees of freedom, whatever the rounding of the three.

    And of 47 people in four between cells df2 is 43 times df1 in every row, with or without correction.
    """
    item = published_item("quality4d_table1")
    assert len(item.rows) == 35
    wrong = set()
    for row in item.rows:
        f, df1, df2, p, eta = (item.cells[row, column] for column in item.columns[:5])
        low, high = (max(f.value + side * f.half_unit, 0) for side in (-1, 1))
        if not _can_be(stats.f.sf(high, df1.value, df2.value), stats.f.sf(low, df1.value, df2.value), p):
            wrong.add(row)
        if not _can_be(*(x * df1.value / (x * df1.value + df2.value) for x in (low, high)), eta):
            wrong.add(row)
        # whole numbers are exact
        half = 0 if df1.half_unit >= 0.5 else df1.half_unit
        if not _can_be(43 * (df1.value - half), 43 * (df1.value + half), df2):
            wrong.add(row)
    # "copied" rows are noted because two distortion types cannot share them, whatever else is wrong in them
    copied = {p.row for p in item.problems if p.row and "opied" in p.note}
    noted = {p.row for p in item.problems if p.row} - copied
    assert wrong - copied == noted and len(noted) == 6 and len(copied) == 2


def test_table_i_foot_contact_repeats_foot_glide():
    item = published_item("quality4d_table1")
    for effect in ("Identity × Gender", "Strength"):
        glide, contact = ([item.cells[f"{kind}: {effect}", c].printed for c in item.columns[:5]] for kind in
                          ("Foot Glide", "Foot contact"))  # fmt: skip
        assert glide == contact
        assert any(p.row == f"Foot contact: {effect}" for p in item.problems)


def test_pilot_p_values_follow_from_the_statistics():
    item = published_item("quality4d_text_pilot")
    for row in item.rows:
        chi2, df, p = (item.cells[row, column] for column in item.columns)
        least, most = (stats.chi2.sf(chi2.value + side * chi2.half_unit, df.value) for side in (1, -1))
        assert most < p.value if p.bound == "below" else _can_be(least, most, p), row


def _p_value_fits(r, p, n: int) -> bool:
    least, most = (
        2 * stats.t.sf(abs(x) * math.sqrt((n - 2) / (1 - x * x)), n - 2)
        for x in (r.value + r.half_unit, r.value - r.half_unit)
    )
    return bool(most < p.value if p.bound == "below" else _can_be(least, most, p))


def test_p_values_of_correlations_follow_from_the_sample_size():
    """240 stimuli in Table II, 10 in Table III; only the noted p-value of LPIPS is off."""
    table2, table3 = published_item("quality4d_table2"), published_item("quality4d_table3")
    assert all(_p_value_fits(table2.cells[row, "SROCC"], table2.cells[row, "p-value"], 240) for row in table2.rows)
    wrong = {
        (f"{name} p-value", column)
        for name in ("PLCC", "SROCC")
        for column in table3.columns
        if not _p_value_fits(table3.cells[name, column], table3.cells[f"{name} p-value", column], 10)
    }
    assert wrong == {(p.row, p.column) for p in table3.problems if p.column} == {("PLCC p-value", "LPIPS")}
