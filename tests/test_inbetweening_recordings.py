"""The data set read back from chapter 2's folder, and the small decisions of the chapter."""

import json

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook.bvh import write_bvh
from motionbook.inbetweening import inputs
from motionbook.inbetweening.baselines import slerp
from motionbook.inbetweening.evaluation import error_curves, evaluate, evaluate_folds, fold_windows, published_table
from motionbook.inbetweening.generator import choose_spans, write_clips
from motionbook.inbetweening.recordings import read_recordings, select
from motionbook.inbetweening.windows import make_windows
from motionbook.kinematics import forward_kinematics


@pytest.fixture
def folder(tmp_path):
    """Two idle people and a phone clip on the lafan rig, and one clip on another rig that must not be read."""
    clips = []
    for i, (rig, group) in enumerate([("lafan", "idle"), ("lafan", "idle"), ("lafan", "phone"), ("freemocap", "idle")]):
        subject = f"{i % 2:02d}"
        path = f"{rig}/{group}/{subject}_{group}.bvh"
        write_bvh(random_clip(400 + i, i), tmp_path / path)
        clips.append({"path": path, "subject": subject, "group": group, "label": group, "frames": 400 + i, "fps": 30.0})
    about = {"name": "x", "label": "random (synthetic)", "kind": "synthetic", "licence": "", "fps_note": "rate assumed"}
    folds = [{"train": ["00"], "validation": [], "test": ["01"]}, {"train": ["01"], "validation": [], "test": ["00"]}]
    (tmp_path / "dataset.json").write_text(json.dumps({**about, "clips": clips, "folds": folds}))
    return tmp_path


def test_dataset_is_read_as_listed(folder):
    """Clips of one rig with people, groups and rate; places as written."""
    about, recordings, folds = read_recordings(folder)
    assert about["label"] == "random (synthetic)" and folds[0]["test"] == ["01"]
    assert [(r.subject, r.group, r.name, len(r.clip)) for r in recordings] == [
        ("00", "idle", "00_idle", 400),
        ("01", "idle", "01_idle", 401),
        ("00", "phone", "00_phone", 402),
    ]
    places = [forward_kinematics(c).positions for c in (recordings[1].clip, random_clip(401, 1))]
    assert np.abs(places[0] - places[1]).max() < 1e-5 and recordings[1].clip.fps == 30.0
    assert [r.name for r in read_recordings(folder, groups=["phone"]).recordings] == ["00_phone"]
    assert [r.name for r in select(recordings, "idle", ["01"])] == ["01_idle"]
    with pytest.raises(ValueError, match="no clips of actions under lafan/"):
        read_recordings(folder, groups=["actions"])
    with pytest.raises(FileNotFoundError, match="chapter 2"):
        read_recordings(folder / "lafan")


def test_real_data_is_scored_whole_and_embedded_by_budget():
    """The order is that of Tables 1, 5 and 6; other groups are scored when there is none of the three."""
    groups = ["actions", "phone", "idle", "idle"]
    assert inputs.choose_subsets(groups, ("idle",), real=False) == ["idle"]
    assert inputs.choose_subsets(groups, ("idle",), real=True) == ["idle", "phone", "actions"]
    assert inputs.choose_subsets(["walk", "dance", "walk"], ("idle",), real=True) == ["dance", "walk"]
    assert [inputs.table_item(s) for s in ("idle", "walk")] == ["staystill_table1", "inbetweening_walk"]


def test_notes_and_lists_say_what_was_used(folder, tmp_path):
    """Data, folds, windows, people and rate below every table; where each clip starts; where SLERP is furthest off."""
    about, recordings, folds = read_recordings(folder)
    summary = evaluate(recordings, "idle", folds)
    note = inputs.table_note(summary, about, "100 steps")
    assert note.startswith(
        "Random (synthetic): every cell is the mean over 2 folds, 18 windows of 2 people. Rate assumed."
    )
    assert note.endswith("Trained here: 100 steps.")
    assert published_table(summary, value="spread").loc["SLERP", "L2P@5"] > 0
    spans = choose_spans(select(recordings, "idle"), 5)
    assert list(inputs.clip_listing(spans).start_seconds) == [0.0, 0.0]
    made = write_clips(spans, tmp_path / "clips", systems=("GT", "SLERP"))
    still = {**made, "still": {"GT": made["00_idle_00000"]["GT"], "SLERP": made["00_idle_00000"]["GT"]}}
    assert inputs.liveliest(still) != "still"
    window, transition = inputs.lively_window(recordings)
    assert transition == 45 and window.rotations.shape == (1, 101, 22, 4)
    window, transition = inputs.lively_window([recordings[0]._replace(clip=recordings[0].clip[:70])])
    assert transition == 29 and window.rotations.shape == (1, 69, 22, 4)
    facts = inputs.generator_facts(2, {"epochs": 199}).value.to_dict()
    assert facts["distance of the target"] == 45 and facts["epochs"] == 199


def test_figures_draw_the_windows(folder):
    """Each panel of the error figure holds a line per system with its frames; the diagram asks for a long window."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from motionbook.report import inbetweening_figures as figures

    _, recordings, folds = read_recordings(folder, groups=["idle"])
    curves = error_curves(fold_windows(recordings, "idle", folds))
    figure = figures.error_over_time_figure(curves)
    for axes, length in zip(figure.axes, (5, 15, 30, 45), strict=True):
        assert [len(line.get_xdata()) for line in axes.lines] == [length] * 3
    windows = make_windows([recordings[0].clip], 101, 45)
    before = windows.rotations.copy()
    diagram = figures.autoregression_figure(windows[:1], slerp, "SLERP")
    assert len(diagram.axes) == 2 and np.array_equal(windows.rotations, before)
    with pytest.raises(ValueError, match="one window of 101"):
        figures.autoregression_figure(make_windows([recordings[0].clip])[:1], slerp, "SLERP")
    plt.close("all")
    assert set(evaluate_folds(recordings, "idle", folds).fold) == {1, 2}
