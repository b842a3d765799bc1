"""Tables as the reader sees them: best marked, published values beside ours, equal bytes for equal input."""

import re

import numpy as np
import pandas as pd
import pytest

from motionbook import report


def cells(styler) -> dict[tuple[str, str], tuple[str, str, bool]]:
    """(ours, published, marked best) by row and column, read from the HTML."""
    html = styler.to_html()
    heading = r'<th id="\S+" class="col_heading level{} \S+"(?: colspan="(\d+)")?[^>]*>(.*?)</th>'
    columns, below = ([(int(n or 1), name) for n, name in re.findall(heading.format(i), html)] for i in range(2))
    columns = [name for n, name in columns for _ in range(n)]
    if below:
        columns = [f"{metric}@{frames}" for metric, (_, frames) in zip(columns, below, strict=True)]
    found = {}
    for line in re.findall(r"<tr>(.*?)</tr>", html.split("<tbody>")[1], flags=re.S):
        row = re.search(r'class="row_heading[^>]*>(.*?)</th>', line)[1]
        for column, (classes, content) in zip(
            columns, re.findall(r'<td id="\S+" class="([^"]*)"[^>]*>(.*?)</td>', line, flags=re.S), strict=True
        ):
            parts = [re.search(rf'<span class="{part}"[^>]*>(.*?)</span>', content) for part in ("ours", "published")]
            found[row, column] = (*(part[1] if part else "" for part in parts), "best" in classes)
    return found


def test_published_frame_has_numbers_and_empty_cells():
    table = report.published_frame("staystill_table1")
    assert table.shape == (4, 12)
    assert table.loc["SLERP", "L2P@45"] == 2.558
    assert all(dtype.kind == "f" for dtype in table.dtypes)
    table = report.published_frame("stickfigures_table3")
    assert np.isnan(table.loc["Real validation frames", "FVD"])
    assert table["Attention"].dtype == object
    assert report.published_frame("staystill_table3").loc["Action: yawn", "Duration"] == 7 * 60 + 38
    assert report.published_frame("staystill_table3", printed=True).loc["Action: yawn", "Duration"] == "7:38"


def test_values_that_only_the_repository_holds_are_asked_for():
    assert "delete_hand" not in report.published_frame("stickfigures_text_corruption").index
    assert report.published_frame("stickfigures_text_corruption", repository=True).loc["delete_hand", "TVR"] == 0.1725


def test_a_figure_has_no_frame():
    with pytest.raises(ValueError, match="figure without values"):
        report.published_frame("staystill_fig1")


def test_ours_and_published_stand_in_one_cell_with_the_published_decimals():
    ours = report.published_frame("staystill_table1").loc[["0-velocity", "SLERP"]] + 0.1234
    shown = cells(report.show_table(ours, "staystill_table1", note="made up"))
    assert shown["SLERP", "L2P@5"] == ("0.320", "0.197", True)
    assert shown["0-velocity", "L2P@5"] == ("1.023", "0.900", False)
    assert shown["Neural Network", "L2P@5"] == ("", "0.609", False)
    assert shown["SLERP", "NPSS@5"][0] == "0.1235"


def test_best_follows_direction_blocks_and_references():
    shown = cells(report.show_table(report.published_frame("stickfigures_table3"), "stickfigures_table3"))
    best = {row for (row, column), cell in shown.items() if column == "TVR" and cell[2]}
    assert best == {"Video DiT + local mixer, 30k"}  # not a reference row, not a lone row of another block
    shown = cells(report.show_table(report.published_frame("staystill_table2"), "staystill_table2"))
    # GT and NOISE bound the scale; the two below differ by 0.03 Elo
    assert {row for (row, column), cell in shown.items() if column == "Elo" and cell[2]} == {"NN"}
    shown = cells(report.show_table(report.published_frame("quality4d_table3"), "quality4d_table3"))
    assert shown["Mean squared error", "4DHumanQA (Ours)"][2] and shown["SROCC", "4DHumanQA (Ours)"][2]
    assert not shown["PLCC", "LPIPS"][2]


def test_ties_at_the_shown_precision_are_all_best():
    frame = pd.DataFrame({"error": [0.10001, 0.10004, 0.2]}, index=["a", "b", "c"])
    shown = cells(report.show_table(frame, better={"error": "lower"}))
    assert [shown[row, "error"][2] for row in "abc"] == [True, True, False]


def test_own_tables_need_no_item_and_escape_markup():
    frame = pd.DataFrame({"n": [1, 20_000], "x": [1e-7, np.nan], "word": ["<b>", None]}, index=["a<", "b"])
    shown = cells(report.show_table(frame, note="data & <label>"))
    assert shown["a&lt;", "word"][0] == "&lt;b&gt;"
    assert shown["a&lt;", "n"][0] == "1" and shown["b", "n"][0] == "20,000"
    assert shown["b", "x"][0] == "–"
    assert float(shown["a&lt;", "x"][0]) == 1e-7
    assert "data &amp; &lt;label&gt;" in report.show_table(frame, note="data & <label>").to_html()


def test_one_format_per_column_and_nothing_below_its_last_digit():
    frame = pd.DataFrame({"slide": [1.103, 5.9e-05, 0.0526], "p": [0.25, 1e-7, 0.004]}, index=["a", "b", "c"])
    shown = cells(report.show_table(frame))
    assert [shown[row, "slide"][0] for row in "abc"] == ["1.103", "0", "0.053"]
    assert shown["b", "p"][0] == "&lt;0.0001"
    shown = cells(report.show_table(pd.DataFrame({"x": [0.25, 1.5]}, index=["a", "b"])))
    assert shown["b", "x"][0] == "1.50"  # no more decimals than the values have
    shown = cells(report.show_table(frame[["slide"]].T, by_row=True))
    assert shown["slide", "b"][0] == "0"


def test_facts_have_their_own_decimals_and_units_and_no_column_of_dashes():
    names = ["clips", "angular path", "pixels per metre"]
    frame = pd.DataFrame({"value": [108, 22.967, np.nan], "low": [np.nan, 1.527, 50]}, index=names)
    html = report.show_table(frame.assign(nothing=np.nan), "stickfigures_text_dataset").to_html()
    assert "nothing" not in html and "–" not in html and "108.0" not in html
    assert re.search(r'angular path <span class="unit">\[rad\]', html) and ">22.97<" in html
    html = report.show_table(pd.DataFrame({"value": [96.587]}, ["foreground assigned"]), "stickfigures_text_palette")
    assert ">96.6%<" in html.to_html()


def test_metrics_by_length_stand_under_one_heading_and_the_note_is_no_caption():
    table = report.published_frame("staystill_table1")
    html = report.show_table(table, "staystill_table1", note="made up").to_html()
    assert html.count('colspan="4"') == 3 and "@" not in html
    assert "<caption" not in html and '<p class="motionbook-note"' in html


def test_equal_input_gives_equal_bytes_and_leaves_the_frame():
    frame = report.published_frame("staystill_table2")
    before = frame.copy()
    once, twice = (report.show_table(frame, "staystill_table2", note="n").to_html() for _ in range(2))
    assert once == twice
    pd.testing.assert_frame_equal(frame, before)
    other = report.show_table(frame + 1, "staystill_table2", note="n").to_html()
    identity = re.compile(r'<table id="(T_\w+)"')
    assert identity.search(once)[1] != identity.search(other)[1]


def test_bad_directions_and_repeated_rows_are_refused():
    frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "x"])
    with pytest.raises(ValueError, match="unique row"):
        report.show_table(frame)
    with pytest.raises(ValueError, match="lower or higher"):
        report.show_table(frame.set_axis(["x", "y"]), better={"a": "smaller"})
