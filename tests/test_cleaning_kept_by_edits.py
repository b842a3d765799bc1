"""The table of what edits keep: exact where it says so, and able to say otherwise."""

import pytest

from motionbook.cleaning import kept_by_edits
from motionbook.cleaning.kept_by_edits import edits_table
from motionbook.cleaning.mirroring import mirror
from motionbook.synthesis.performers import action, make_performer, to_freemocap


@pytest.fixture(scope="module", params=["lafan", "freemocap"])
def clip(request):
    moving = action(make_performer(3, 5), "wei_lr")
    return moving if request.param == "lafan" else to_freemocap(moving)


def test_all_is_exact_but_times_between_frames(clip):
    table = edits_table(clip)
    between = [name for name in table.index if name.endswith(", all")]
    assert between == [f"at {rate} fps, all" for rate in ("24", "25", "29.97")]
    assert table.drop(index=between)["exact"].all() and not table.loc[between, "exact"].any()
    # millimetres, of a movement of centimetres per frame
    assert table.loc[between, "largest error [mm]"].between(1e-3, 20).all()
    assert table.at["at 60 fps", "frames"] == len(clip) == table.at["mirrored", "frames"]


def test_an_edit_that_loses_something_is_not_exact(clip, monkeypatch):
    def careless(one):
        two = mirror(one)
        two.root_positions[:, 1] += 1e-6
        return two

    monkeypatch.setattr(kept_by_edits, "mirror", careless)
    table = edits_table(clip)
    assert table.index[~table["exact"]].tolist()[0] == "mirrored"
    assert table.at["mirrored", "largest error [mm]"] == pytest.approx(2e-3)
