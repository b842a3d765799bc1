"""Tables of a data set against the published ones: Table 3 to the frame, Table 4 to the person."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from motionbook.cleaning.published_counts import declared_size, differences, folds_differ, listed_takes, published_check
from motionbook.cleaning.summary import (
    TOTALS,
    clock,
    dataset_numbers,
    fault_table,
    fold_balance,
    fold_table,
    group_name,
    motion_order,
    motion_rows,
    motion_table,
    quality_summary,
    retarget_table,
)
from motionbook.data.layouts import open_dataset
from motionbook.data.published import published_item
from motionbook.data.splits import published_folds

HEAD = """HIERARCHY
ROOT Hips
{{
  OFFSET 0 0 0
  CHANNELS 3 Zrotation Yrotation Xrotation
  End Site
  {{
    OFFSET 0 1 0
  }}
}}
MOTION
Frames: {frames}
Frame Time: {time}
0 0 0
"""


def published_listing():
    """A listing with the frames and clips that Table 3 prints, all of one frame rate."""
    cells = published_item("staystill_table3").cells
    rows = published_item("staystill_table3").rows
    codes = (
        "l_up l_aro l_dow l_sho l_wat l_pho sc_hea sc_arm sc_leg sc_bac t_fac st_arm st_bac sc_eye yaw lb_lef lb_rig"
    )
    labels = [*codes.split(), "wei_lr", "wei_rl"]
    clips = []
    for row, label, group in zip(
        rows, [*labels, None, "idle", "phone"], ["actions"] * 20 + ["idle", "phone"], strict=True
    ):
        if label is None:  # the total
            continue
        count, frames = int(cells[row, "Clips"].value), int(cells[row, "Frames"].value)
        for number in range(count):
            share = frames // count + (frames % count if number == 0 else 0)
            entry = {"group": group, "label": label, "frames": share, "fps": 30.0, "subject": f"{number % 50:02d}"}
            clips.append({**entry, "source": f"{label}_{number}"})
    return clips


def test_table_3_has_the_published_rows_and_durations():
    table = motion_table(published_listing())
    published = published_item("staystill_table3")
    assert tuple(table.index) == tuple(published.rows)
    for row in table.index:
        for column in ("Frames", "Clips"):
            assert table.at[row, column] == published.cells[row, column].value, (row, column)
        assert table.at[row, "Duration"] == published.cells[row, "Duration"].printed, row
    assert dataset_numbers(published_listing(), []).at["frames", "value"] == 645_338
    assert dataset_numbers(published_listing(), []).at["duration", "value"] == "5:58:31"


def test_pieces_count_as_one_clip_and_unknown_labels_get_their_own_row():
    entry = {"group": "idle", "label": "idle", "frames": 100, "fps": 30.0, "subject": "00", "source": "a"}
    other = {**entry, "group": "motion", "label": "dance", "source": "b"}
    table = motion_table([entry, {**entry, "frames": 50}, other])
    assert table.loc["General Idle", ["Frames", "Clips"]].tolist() == [150, 1]
    assert table.loc["Motion: dance", "Frames"] == 100
    assert clock(59.99) == "0:59" and clock(3600) == "1:00:00"


def test_published_folds_are_shown_as_printed_and_their_balance_checked():
    folds = [fold._asdict() for fold in published_folds()[0]]
    table = fold_table(folds)
    published = published_item("staystill_table4")
    for split in ("1", "4"):
        for part in ("Train", "Validation", "Test"):
            printed = published.cells[split, part].printed.split()
            assert table.at[split, part].split() == sorted(printed, key=int)
    clips = [{"subject": f"{i:02d}", "frames": 1800, "fps": 30.0} for i in range(50)]
    balance = fold_balance(folds, clips)
    assert balance["disjoint"].all() and balance["test people"].tolist() == [10] * 5
    np.testing.assert_allclose(balance["train frames [%]"], 70.0)
    np.testing.assert_allclose(balance[["train minutes", "validation minutes", "test minutes"]], [[35, 5, 10]] * 5)
    broken = [{**folds[0], "test": [*folds[0]["test"], folds[0]["train"][0]]}]
    assert not fold_balance(broken, clips)["disjoint"].any()


def test_fault_table_adds_up():
    takes = [
        {"clip": "a", "group": "idle", "frames": 100, "published_removed": 20, "robust_removed": 0, "removed": 4},
        {"clip": "b", "group": "phone", "frames": 300, "published_removed": 0, "robust_removed": 30, "removed": 36},
        {"clip": "c", "group": "actions", "frames": 300, "published_removed": 99, "robust_removed": 99, "removed": 99},
    ]
    table = fault_table(takes)
    assert table.index.tolist() == ["a", "b", "all"]
    np.testing.assert_allclose(table.loc["all"], [400, 5.0, 7.5, 10.0])


def fabricate(folder, clips, time="0.0333333"):
    """The published layout with the names and declared frames of these clips, and one row of motion each."""
    takes = {}
    for clip in clips:
        key = (clip["subject"], clip["label"])
        takes[key] = takes.get(key, 0) + 1
        number = f"_{takes[key]}" if clip["group"] == "actions" else ""
        path = folder / "lafan" / clip["group"] / f"{clip['subject']}_{clip['label']}{number}.bvh"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD.format(frames=clip["frames"], time=time))
    return folder


@pytest.fixture(scope="module")
def as_published(tmp_path_factory):
    return fabricate(tmp_path_factory.mktemp("published"), published_listing())


def test_a_layout_with_the_published_counts_passes(as_published):
    dataset = open_dataset(as_published)
    takes = listed_takes(dataset)
    assert dataset.name == "staystill" and len(takes) == 1634 and {take["fps"] for take in takes} == {30.0}
    check = published_check(motion_table(takes))
    assert check["equal"].all() and differences(check) == []
    # 22 rows of three columns, and the sums of the actions and of the parts
    assert len(check) == 22 * 3 + 4
    sums = check.set_index(["row", "column"])["here"]
    assert sums["All parts", "Frames"] == 645_338 and sums["All parts", "Clips"] == 1634
    assert sums["Sum of the actions", "Frames"] == 275_751


def test_one_frame_or_one_clip_off_is_told(as_published):
    takes = listed_takes(open_dataset(as_published))
    yawn = next(i for i, take in enumerate(takes) if take["label"] == "yaw")
    more = [{**take, "frames": take["frames"] + (i == yawn)} for i, take in enumerate(takes)]
    assert differences(published_check(motion_table(more))) == [
        "Action: yawn, Frames: 13767, published 13766",
        "Idle actions total, Frames: 275752, published 275751",
        "Sum of the actions, Frames: 275752, published 275751",
        "All parts, Frames: 645339, published 645338",
    ]
    lost = [take for take in takes if take is not takes[yawn]]
    said = differences(published_check(motion_table(lost)))
    assert "Action: yawn, Clips: 94, published 95" in said and "All parts, Clips: 1633, published 1634" in said
    # a frame moved from one action to another leaves every total as it was
    watch = next(i for i, take in enumerate(takes) if take["label"] == "l_wat")
    moved = [{**take, "frames": take["frames"] + (i == yawn) - (i == watch)} for i, take in enumerate(takes)]
    assert [one.split(",")[0] for one in differences(published_check(motion_table(moved)))] == [
        "Action: check watch",
        "Action: yawn",
    ]


def test_rows_that_are_missing_or_unknown_are_told(as_published):
    takes = listed_takes(open_dataset(as_published))
    without = [take for take in takes if take["group"] != "phone"]
    assert "Idle with a phone, Frames: none, published 187741" in differences(published_check(motion_table(without)))
    other = [*takes, {**takes[0], "group": "motion", "label": "dance", "clip": "x"}]
    assert any(one.startswith("Motion: dance, Frames: ") for one in differences(published_check(motion_table(other))))


def test_listed_ranges_do_not_count(as_published):
    dataset = open_dataset(as_published)
    whole = {take["clip"]: take["frames"] for take in listed_takes(dataset)}
    cut = {
        take["clip"]: take["frames"]
        for take in listed_takes(dataset, {("07", "idle"): [(10, 19), (15, 24)], ("08", "idle"): [(0, 10**6)]})
    }
    assert whole["07_idle"] - cut["07_idle"] == 15 and cut["08_idle"] == 0
    assert {name for name in whole if whole[name] != cut[name]} == {"07_idle", "08_idle"}


def test_declared_size(tmp_path):
    path = tmp_path / "a.bvh"
    path.write_text(HEAD.format(frames=77, time="0.0416667"))
    assert declared_size(path) == (77, 24.0)
    # long heads: the number lies across what is read at once
    text = HEAD.format(frames=12345, time="0.0333333")
    for pad in range((1 << 14) - len(text) - 4, (1 << 14) - len(text) + 20):
        path.write_text(" " * pad + text)
        assert declared_size(path) == (12345, 30.0)
    path.write_text("HIERARCHY\n")
    with pytest.raises(ValueError, match=r"a\.bvh.*Frame Time"):
        declared_size(path)
    path.write_text(HEAD.format(frames=2, time="0"))
    with pytest.raises(ValueError, match="positive frame time"):
        declared_size(path)


def staystill_folder():
    """The real data set, where somebody has it: MOTIONBOOK_STAYSTILL, or fetched to the data folder."""
    from motionbook.data.catalogue import data_home

    named = os.environ.get("MOTIONBOOK_STAYSTILL")
    folder = Path(named) if named else data_home() / "staystill"
    if not folder.is_dir() or not any(folder.rglob("*.bvh")):
        pytest.skip(f"no StayStill motion at {folder}; fetch it and set MOTIONBOOK_STAYSTILL to its folder")
    return folder


@pytest.mark.parametrize("rig", ["lafan", "freemocap"])
def test_the_real_data_set_has_every_row_and_total_of_table_3(rig, shared_data):
    """Idle frames count as recorded or without the authors' listed ranges; which one, the paper does not say."""
    from motionbook.cleaning.faults import read_annotations

    dataset = open_dataset(staystill_folder(), rig=rig)
    said = differences(published_check(motion_table(listed_takes(dataset))))
    ranges = read_annotations(shared_data / "staystill" / "removeParts.csv")
    without = differences(published_check(motion_table(listed_takes(dataset, ranges))))
    assert said == [] or without == [], "\n".join(said)
    folds, _ = published_folds()
    assert set(dataset.subjects) == {person for fold in folds for part in fold for person in part}


def test_published_folds_and_others():
    published = published_folds()[0]
    folds = [fold._asdict() for fold in published]
    assert folds_differ(folds, published) == []
    swapped = [folds[0], {**folds[1], "test": folds[1]["validation"], "validation": folds[1]["test"]}, *folds[2:]]
    assert folds_differ(swapped, published) == [2]
    assert folds_differ(folds[:4], published) == [5]


def test_classes_and_their_order():
    assert motion_rows("actions", "yaw") == ("Action: yawn", "Idle actions total")
    assert motion_rows("idle", "acted") == ("General Idle",) and motion_rows("motion", "dance") == ("Motion: dance",)
    assert motion_rows("motion", "motion") == ("Motion",) and motion_rows("actions", "wave") == (
        "Action: wave",
        TOTALS[0],
    )
    assert [group_name(*pair) for pair in (("actions", "yaw"), ("motion", "dance"))] == [TOTALS[0], "Motion: dance"]
    names = ["General Idle", "Idle actions total", "Motion: b", "Action: yawn", "Motion: a", "Action: look up/sky"]
    assert motion_order(names) == [
        "Action: look up/sky",
        "Action: yawn",
        "Motion: a",
        "Motion: b",
        "Idle actions total",
        "General Idle",
    ]


def quality(**values):
    usual = {"foot_skate": 1.0, "planted": 1.0, "ldlj": -13.0, "penetration": 0.0, "depth": 0.0, "bone_change": 0.0}
    return {**usual, "bone": "", "seconds": 1.0, "deepest": "", **values}


def test_quality_and_retargeting_by_take_or_by_subset():
    slide = {"direction_error_deg": 1.0, "slide_source": 0.02, "slide_result": 0.01}
    takes = [
        {"clip": "a", "group": "idle", **slide, "quality": quality(foot_skate=3.0, depth=0.05)},
        {"clip": "b", "group": "idle", **slide, "quality": quality(bone_change=0.2, bone="Head")},
        {
            "clip": "c",
            "group": "phone",
            **{**slide, "direction_error_deg": 4.0},
            "quality": quality(foot_skate=np.nan, penetration=0.5),
        },
    ]
    table = quality_summary(takes, most_rows=2)
    assert table.index.tolist() == ["idle", "phone", "all"] and table["takes"].tolist() == [2, 1, 3]
    assert table.at["all", "foot skate [cm/s]"] == 2.0 and pd.isna(table.at["phone", "foot skate [cm/s]"])
    assert table.at["idle", "deepest [cm]"] == 5.0 and table.at["all", "penetration [% of frames]"] == pytest.approx(
        100 * 0.5 / 3
    )
    assert table.at["all", "bone change [%]"] == pytest.approx(20) and table.at["all", "of"] == "Head"
    assert quality_summary(takes).index.tolist() == ["a", "b", "c", "all"]
    kept = retarget_table(takes, most_rows=2)
    assert kept.at["all", "worst bone [deg]"] == 4.0 and kept.at["idle", "slide after [%/s]"] == 1.0
    assert not len(quality_summary([])) and not len(fault_table([]))
