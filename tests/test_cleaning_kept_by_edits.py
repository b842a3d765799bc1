"""The table of what edits keep: exact where it says so, and able to say otherwise."""

import pytest

from motionbook import read_bvh
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
    def careless(one, rest):
        two = mirror(one, rest=rest)
        two.root_positions[:, 1] += 1e-6
        return two

    monkeypatch.setattr(kept_by_edits, "mirror", careless)
    table = edits_table(clip)
    assert table.index[~table["exact"]].tolist()[0] == "mirrored"
    assert table.at["mirrored", "largest error [mm]"] == pytest.approx(2e-3)


@pytest.mark.parametrize(
    "name", ["06_bandai1_bow", "16_makehuman_walk", "20_xsens_mvn_tpose", "31_no_end_sites_inches_zup"]
)
def test_any_rig_and_length_has_a_table(name, shared_data):
    """A rest pose that does not stand, 14 and 9 frames, and 120000 / 1001 frames a second, near four times 29.97."""
    clip = read_bvh(shared_data / "bvh" / "real" / f"{name}.bvh")
    table = edits_table(clip)
    assert table.loc[[row for row in table.index if not row.endswith(", all")], "exact"].all(), table
    assert len(clip) > 60 or "joined with a blend of 0.3 s" not in table.index


def test_what_a_skeleton_does_not_allow_has_a_reason_and_no_number(shared_data):
    """The head carries this body, so its mirror image is not known."""
    table = edits_table(read_bvh(shared_data / "bvh" / "real" / "27_slimevr_hmd_root.bvh"))
    assert table.index[table["largest error [mm]"].isna()].tolist() == ["mirrored"]
    assert table.at["mirrored", "undone by"].startswith("not possible: skeleton: the body hangs down from Head")
    assert not table.at["mirrored", "exact"] and table.at["centred", "exact"]
    with pytest.raises(ValueError, match="at least 4 frames, got 3"):
        edits_table(read_bvh(shared_data / "bvh" / "real" / "29_three_pirouette_no_position.bvh"))
