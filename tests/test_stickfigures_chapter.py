"""What the notebook of chapter 4 saves: names as published, labels that say where numbers come from, figures."""

import json
from dataclasses import replace

import matplotlib
import numpy as np
import pytest

from motionbook import report
from motionbook.data.published import published_item
from motionbook.report import frames_figures
from motionbook.stickfigures import building, dataset, inputs, stress
from motionbook.stickfigures.palette_check import palette_table

matplotlib.use("agg")


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chapter")
    sources = building.source_motions("", folder / "motions", prompts=2, seeds=(0, 8, 9), limit=6)
    return folder, sources, building.build(sources.motions, folder / "frames", frames=64, size=64)


def test_tables_have_published_rows_and_columns(chapter):
    _, sources, built = chapter
    clips = stress.held_out(sources.motions, seed=0)
    tables = {
        "stickfigures_table2": dataset.split_table(sources.motions, 3, 64),
        "stickfigures_text_dataset": inputs.dataset_facts(sources, built.clips, 64),
        "stickfigures_text_palette": palette_table(built.palette),
        "stickfigures_text_corruption": stress.structural_table(clips, 1),
        "stickfigures_text_temporal": stress.temporal_table(clips, seed=0),
    }
    for item, table in tables.items():
        about = published_item(item)
        assert set(table.index) <= set(about.rows), item
        assert set(table.columns) & set(about.columns), item
    facts = tables["stickfigures_text_dataset"].value
    # what comes from the prompt list and the format is the published number whatever the motions
    for row in ("candidate prompts", "excluded prompts", "dance prompts", "transition prompts", "joints", "frame rate"):
        assert facts[row] == published_item("stickfigures_text_dataset").cells[row, "value"].value, row
    temporal = tables["stickfigures_text_temporal"]
    assert (temporal.loc["freeze", ["Speed", "Acceleration", "Jerk"]] == 0).all() and temporal.windows.iloc[0] == 4


def test_label_is_inherited_only_from_files_that_were_read(tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "03_inbetweening.json").write_text(json.dumps({"data_label": "ReActIdle"}))
    run = report.start_chapter("04_stickfigures", out=str(tmp_path), budget="smoke")
    made = []

    def make(folder):
        folder.mkdir(parents=True)
        made.append((folder / "a.txt").write_text("x"))

    report.take_inputs(run, "03_inbetweening", "*.txt", make=make)
    assert made and report.inherited_label(run, "03_inbetweening", "made up") == "made up"
    (tmp_path / "03_inbetweening").mkdir()
    (tmp_path / "03_inbetweening" / "a.txt").write_text("x")
    run = report.start_chapter("04_stickfigures", out=str(tmp_path), budget="smoke")
    report.take_inputs(run, "03_inbetweening", "*.txt", make=make)
    assert len(made) == 1 and report.inherited_label(run, "03_inbetweening", "made up") == "ReActIdle"
    # a table of made-up clips in a chapter on real ones, and a stand-in for another chapter's files
    saved = [{"id": "systems", "data": "made up by 03"}]
    record = {"data_label": "ReActIdle", "artefacts": saved}
    (tmp_path / "runs" / "03_inbetweening.json").write_text(json.dumps(record))
    assert report.inherited_label(run, "03_inbetweening", "made up", item="systems") == "made up by 03"
    assert report.inherited_label(run, "03_inbetweening", "made up", item="another") == "made up"
    report.take_inputs(run, "05_perception", "*.txt", make=make)
    assert report.inherited_label(run, "03_inbetweening", "made up") == "ReActIdle"


def test_window_fits_the_shortest_motion(chapter):
    _, sources, _ = chapter
    assert inputs.window(sources.motions, 200) == 120 and inputs.window(sources.motions, 64) == 64
    short = replace(sources.motions[0], positions=sources.motions[0].positions[:50])
    with pytest.raises(ValueError, match="at least 64 frames"):
        inputs.window([short], 64)


def test_figures_draw(chapter):
    folder, sources, built = chapter
    figure = frames_figures.strip_figure(inputs.group_strips(built.clips, folder / "frames", moments=4))
    groups = built.clips.group.nunique()
    assert len(figure.axes) == 4 * groups
    views, moments, whole, joint_xy = inputs.stored_views(inputs.liveliest(sources.motions))
    assert len(views) == 3 and len(moments) == 5 and joint_xy.shape == (27, 2)
    assert frames_figures.stored_figure(views, moments, whole, joint_xy, "x").subfigs
    with pytest.raises(ValueError, match="equally many"):
        frames_figures.strip_figure([("a", whole.color), ("b", np.repeat(whole.color, 2, axis=0))])
