"""The ledger: states follow from the artefacts on disk, differences from their numbers, and nothing is hidden."""

import json
from pathlib import Path

import matplotlib.figure
import pandas as pd
import pytest

from motionbook import report
from motionbook.data.published import load_published, published_item
from motionbook.report.ledger import (
    EXACT,
    LEDGER_MARK,
    MISSING,
    REDUCED,
    SIMULATED,
    STATES,
    is_simulated,
    ledger,
    ledger_markdown,
    ledger_page,
    ledger_text,
    shown_state,
    write_ledger,
)

SYNTHETIC = "embedded performers (synthetic), smoke budget"


def chapter(tmp_path, item: str, label: str, budget: str = "smoke"):
    run = report.start_chapter(published_item(item).chapter, out=str(tmp_path), budget=budget, seed=3)
    run.data_label = label
    return run


def state(tmp_path, item: str):
    items = ledger(tmp_path).items.set_index("id")
    return items.loc[item]


def test_without_results_everything_is_listed_as_missing(tmp_path):
    cells, items = ledger(tmp_path / "nothing")
    assert list(items.id) == list(load_published())
    assert set(items.state) == {MISSING}
    assert items.reproduced.sum() == 0 and items.cells.sum() == 884 + 19
    assert set(cells.columns) >= set(
        "id row column published reproduced difference data budget seed version state".split()
    )


def test_simulated_data_is_said_whatever_the_numbers(tmp_path):
    item = "staystill_table1"
    run = chapter(tmp_path, item, SYNTHETIC)
    ours = report.published_frame(item).loc[["0-velocity", "SLERP", "SLERP-Q"]]
    report.save_table(run, item, (ours * 1.5).assign(windows=412), note="baselines only")
    report.finish_chapter(run)
    entry = state(tmp_path, item)
    assert (entry.state, entry.cells, entry.reproduced) == (SIMULATED, 48, 36)
    assert entry.largest_relative == pytest.approx(0.5)
    assert (entry.data, entry.budget, entry.seed, entry.note) == (SYNTHETIC, "smoke", "3", "baselines only")
    assert entry.version.startswith(report.provenance.software()["version"])
    cells = ledger(tmp_path).cells.query("id == @item").set_index(["row", "column"])
    assert cells.loc[("SLERP", "L2P@5"), "difference"] == pytest.approx(0.0985)
    assert cells.loc[("SLERP", "L2P@5"), "published"] == "0.197"
    assert cells.loc[("Neural Network", "L2P@5"), "state"] == MISSING
    # equal numbers from simulated data are still not exact
    report.save_table(run, item, report.published_frame(item))
    assert state(tmp_path, item).state == SIMULATED


def test_parts_are_said_and_p_values_are_no_differences(tmp_path):
    """Fault seen: a p of 1e-9 beside a printed 0.018 was "the largest difference" of its table."""
    item = "quality4d_table2"
    run = chapter(tmp_path, item, SYNTHETIC)
    table = report.published_frame(item).iloc[:3]
    table["SROCC"] *= 1.25
    table["p-value"] = 0.9
    report.save_table(run, item, table)
    entry = state(tmp_path, item)
    assert entry.largest_relative == pytest.approx(0.25)
    words = f"{SIMULATED}, partly (9 of {entry.cells} cells)"
    assert shown_state(entry) == words and entry.reproduced == 9 and entry.state in STATES
    lines = ledger_text(ledger(tmp_path).items).splitlines()
    assert next(line for line in lines if line.startswith(item)).split("  ")[-1] == "25 %"
    assert max(map(len, lines)) <= 110 and len(lines) == 1 + len(load_published())
    assert f"<code>{item}</code>): {words}</summary>" in ledger_markdown(ledger(tmp_path).cells)


def test_exact_needs_every_cell_to_round_to_the_printed_number(tmp_path):
    item = "staystill_table1"
    run = chapter(tmp_path, item, "StayStill (Zenodo), recorded people", "full")
    frame = report.published_frame(item)
    report.save_table(run, item, frame + 0.00004)
    assert state(tmp_path, item).state == EXACT
    frame.loc["SLERP", "L2P@5"] += 0.0006
    report.save_table(run, item, frame)
    entry = state(tmp_path, item)
    assert (entry.state, entry.agreeing, entry.reproduced) == (REDUCED, 47, 48)
    report.save_table(run, item, report.published_frame(item).drop("SLERP"))
    assert state(tmp_path, item).state == REDUCED


def test_values_the_papers_do_not_print_decide_no_state(tmp_path):
    item = "stickfigures_text_corruption"
    run = chapter(tmp_path, item, "Dancing Stick Figures, re-rendered", "full")
    frame = report.published_frame(item, repository=True)
    frame.loc["delete_hand"] *= 2
    report.save_table(run, item, frame)
    assert state(tmp_path, item)[["state", "cells", "agreeing"]].tolist() == [EXACT, 4, 4]
    report.save_table(run, item, frame.loc[["delete_hand"]])
    assert state(tmp_path, item).state == MISSING


def test_words_clock_times_and_bounds_are_compared(tmp_path):
    folds = report.published_frame("staystill_table4")
    run = chapter(tmp_path, "staystill_table4", "published folds")
    shuffled = folds.map(lambda text: " ".join(sorted(text.split())))
    report.save_table(run, "staystill_table4", shuffled)
    table3 = report.published_frame("staystill_table3").drop(columns="Duration")
    table3["Duration"] = table3.Frames / 30  # seconds, not cut
    report.save_table(run, "staystill_table3", table3)
    assert state(tmp_path, "staystill_table4").state == EXACT
    assert state(tmp_path, "staystill_table3").state == EXACT
    run = chapter(tmp_path, "quality4d_table2", "4DHumanPercept")
    table2 = report.published_frame("quality4d_table2")
    table2.loc["Velocity", "p-value"] = 1e-9
    table2.loc["Global translation", "p-value"] = 0.002
    report.save_table(run, "quality4d_table2", table2)
    cells = ledger(tmp_path).cells.query("id == 'quality4d_table2'").set_index(["row", "column"]).agrees
    assert cells[("Velocity", "p-value")] and not cells[("Global translation", "p-value")]
    corrected = folds.replace({"Test": {"4 5 13 16 21 29 30 32 49 50": "4 5 13 16 21 29 30 32 49 40"}})
    run = chapter(tmp_path, "staystill_table4", "published folds, fold 3 corrected")
    report.save_table(run, "staystill_table4", corrected)
    assert state(tmp_path, "staystill_table4")[["state", "agreeing"]].tolist() == [REDUCED, 14]


def test_names_match_across_typings_and_places(tmp_path):
    run = chapter(tmp_path, "quality4d_table1", "simulated raters")
    frame = report.published_frame("quality4d_table1").iloc[:4, :2]
    frame.index = [name.replace("×", "x").lower() for name in frame.index]
    report.save_table(run, "quality4d_table1", frame)
    pairs = pd.DataFrame({"significant": [True, False]}, index=["NOISE - GT", "SLERP-Q - NN"])
    report.save_table(run, "staystill_text_significance", pairs)
    counted = report.published_frame("staystill_text_dataset").loc[["frames"]].reset_index(names="what")
    report.save_table(
        run, "staystill_text_dataset", counted
    )  # row names in the second column, another chapter's folder
    cells = ledger(tmp_path).cells.set_index("id")
    assert (cells.loc["quality4d_table1"].reproduced != "").sum() == 8
    significance = cells.loc["staystill_text_significance"].query("reproduced != ''")
    assert len(significance) == 2 and significance.agrees.all()
    assert (cells.loc["staystill_text_dataset"].reproduced != "").sum() == 1


def test_figures_count_when_file_and_json_exist(tmp_path):
    item = "staystill_fig8"
    run = chapter(tmp_path, item, "simulated raters", "full")
    figure = matplotlib.figure.Figure()
    figure.subplots().plot([0, 1])
    report.save_figure(run, item, figure, caption="Elo")
    entry = state(tmp_path, item)
    assert (entry.state, entry.cells, entry.reproduced) == (SIMULATED, 1, 1)
    assert [text.get_text() for text in figure.texts] == ["simulated"], "the picture itself says so"
    for label, budget, expected in (
        ("StayStill answers", "full", EXACT),
        ("StayStill answers", "reduced", REDUCED),
        ("answers of mine.csv", "full", REDUCED),
    ):
        report.save_figure(chapter(tmp_path, item, label, budget), item, figure, caption="Elo")
        assert state(tmp_path, item).state == expected and not figure.texts
    for path in (tmp_path / run.chapter / "figures").glob("*.json"):
        path.unlink()
    entry = state(tmp_path, item)
    assert entry.state == MISSING and "cannot be used" in entry.note


@pytest.mark.parametrize("damage", ["", "{", '{"data": "x"}'])
def test_damaged_artefacts_are_missing_with_a_reason(tmp_path, damage):
    item = "quality4d_text_weights"
    run = chapter(tmp_path, item, SYNTHETIC)
    report.save_table(run, item, report.published_frame(item))
    (run.folder / "tables" / f"{item}.json").write_text(damage)
    entry = state(tmp_path, item)
    assert entry.state == MISSING
    assert entry.note.startswith(f"06_quality/tables/{item}.csv cannot be used")


def test_a_table_of_other_names_says_so(tmp_path):
    item = "quality4d_text_weights"
    run = chapter(tmp_path, item, SYNTHETIC)
    report.save_table(run, item, pd.DataFrame({"weight": [1.0]}, index=["intercept"]))
    assert "none of the published rows and columns" in state(tmp_path, item).note


def test_a_table_changed_after_its_run_loses_its_version(tmp_path):
    item = "quality4d_text_weights"
    run = chapter(tmp_path, item, SYNTHETIC)
    report.save_table(run, item, report.published_frame(item))
    assert state(tmp_path, item).note == "not of a finished run"
    report.finish_chapter(run)
    assert state(tmp_path, item).version
    path = run.folder / "tables" / f"{item}.csv"
    path.write_text(path.read_text().replace("7.49", "7.48"))
    entry = state(tmp_path, item)
    assert (entry.version, entry.note) == ("", "changed after its run")
    (tmp_path / "runs" / "06_quality.json").write_text("{")
    assert state(tmp_path, item).note == "not of a finished run"


@pytest.mark.parametrize(
    ("label", "simulated"),
    [
        (SYNTHETIC, True),
        ("simulated raters (no person answered)", True),
        ("Simulation from Table 2", True),
        ("made-up answers of a toy", True),
        ("ReActIdle (real, MIT), fps assumed 30", False),
        ("StayStill, recorded people", False),
        ("published folds", False),
    ],
)
def test_data_labels_that_mean_simulated(label, simulated):
    assert is_simulated(label) == simulated


def test_no_state_is_typed_into_the_files():
    from motionbook.data.locations import manifests_folder

    for path in (manifests_folder() / "published").glob("*.yaml"):
        assert "state:" not in path.read_text(encoding="utf-8")


def test_csv_and_page_show_everything(tmp_path):
    item = "staystill_table1"
    run = chapter(tmp_path, item, "embedded <performers> | synthetic")
    report.save_table(run, item, report.published_frame(item).iloc[:2] + 0.01)
    report.finish_chapter(run)
    path = write_ledger(tmp_path)
    assert path == tmp_path / "ledger.csv"
    assert path.read_bytes() == write_ledger(tmp_path).read_bytes()
    read = pd.read_csv(path, dtype=str)
    assert len(read) == len(ledger(tmp_path).cells)
    page = ledger_markdown(ledger(tmp_path).cells)
    assert page.startswith("Of 48 tables, figures and in-text experiments: 0 exact, 1 reproduced on simulated data, 0 ")
    assert all(f"<code>{name}</code>" in page for name in load_published())
    assert "embedded &lt;performers&gt; | synthetic" in page
    assert page.count("(authors' repository, not printed)".replace("'", "&#x27;")) == 32
    assert "<td>0.197</td><td>0.207</td><td>+0.01</td>" in page
    assert ledger_markdown(read) == page
    for block in page.split("\n\n"):  # a blank line would end an HTML block in the middle
        assert block.count("<table") == block.count("</table>") and block.count("<details") == block.count("</details>")


def test_the_page_puts_the_ledger_where_its_template_says(tmp_path):
    cells = ledger(tmp_path).cells
    page = ledger_page(f"# Ledger\n\n{LEDGER_MARK}\n\nend\n", cells)
    assert page.startswith("# Ledger\n\nOf 48") and page.endswith("end\n")
    with pytest.raises(ValueError, match="expected one line"):
        ledger_page("# Ledger", cells)
    ours = Path(__file__).resolve().parents[1] / "book" / "ledger.md"
    page = ledger_page(ours.read_text(encoding="utf-8"), cells)
    assert all(f'<a href="#{name}">' in page and f'<details id="{name}">' in page for name in load_published())


def test_the_json_beside_an_artefact_is_what_the_ledger_reports(tmp_path):
    item = "quality4d_text_weights"
    run = chapter(tmp_path, item, SYNTHETIC)
    report.save_table(run, item, report.published_frame(item))
    path = run.folder / "tables" / f"{item}.json"
    about = json.loads(path.read_text())
    path.write_text(json.dumps({**about, "budget": "full", "seed": 11, "data": "4DHumanPercept ratings"}))
    entry = state(tmp_path, item)
    assert (entry.state, entry.budget, entry.seed) == (EXACT, "full", "11")
