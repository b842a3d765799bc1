"""Statistics of motion against closed forms: speed, stillness, range, sway and energy by frequency."""

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook import write_bvh
from motionbook.cleaning.motion_statistics import (
    BANDS,
    band_words,
    class_statistics,
    clip_statistics,
    dataset_statistics,
    listed_files,
)
from motionbook.cleaning.summary import motion_rows
from motionbook.clip import Clip
from motionbook.skeletons import LAFAN1, t_pose

FPS = 60.0


def clip_of(seconds, sway=None, arm=None, fps=FPS):
    """Somebody in a T-pose whose root sways along x by sway(t) metres and whose left arm turns about z by arm(t)."""
    t = np.arange(round(seconds * fps)) / fps
    rotations = np.tile(standing(), (len(t), 1, 1))
    root = np.tile([0.0, 1.0, 0.0], (len(t), 1))
    if sway is not None:
        root[:, 0] += sway(t)
    if arm is not None:
        joint = LAFAN1.names.index("LeftArm")
        turn = rot.from_axis_angle(np.array([0.0, 0.0, 1.0]), arm(t))
        rotations[:, joint] = rot.multiply(rotations[:, joint], turn)
    return Clip(LAFAN1, root, rotations, fps)


def standing():
    from motionbook.kinematics import local_rotations

    return local_rotations(LAFAN1.parents, t_pose(LAFAN1)[None])[0]


def test_a_body_that_sways_as_a_whole():
    amplitude, hertz = 0.05, 0.5
    found = clip_statistics(clip_of(40.0, sway=lambda t: amplitude * np.sin(2 * np.pi * hertz * t)))
    peak = 2 * np.pi * hertz * amplitude
    # mean square of a cosine, median of |cos| and its share below 2 cm/s
    assert found["energy"] == pytest.approx(peak**2 / 2, rel=0.02)
    assert found["speed"] == pytest.approx(peak / np.sqrt(2), rel=0.02)
    assert found["still"] == pytest.approx(2 / np.pi * np.arcsin(0.02 / peak), abs=0.01)
    # it rises over 10 cm/s twice a period
    assert found["moves"] == pytest.approx(2 * hertz * 60, rel=0.05)
    assert found["band 0"] > 0.95
    assert found["sway"] == pytest.approx(amplitude * np.sin(0.95 * np.pi / 2), rel=0.03)
    assert max(found[part] for part in ("head", "arms", "trunk", "legs")) < 1e-6


@pytest.mark.parametrize(("hertz", "band"), [(0.5, 0), (2.0, 1), (5.0, 2), (12.0, 3)])
def test_energy_is_in_the_band_of_the_movement(hertz, band):
    found = clip_statistics(clip_of(20.0, sway=lambda t: 0.01 * np.sin(2 * np.pi * hertz * t)))
    assert found[f"band {band}"] > 0.95
    assert sum(found[f"band {i}"] for i in range(len(BANDS))) == pytest.approx(1.0)


def test_range_of_motion_is_of_the_part_that_moves():
    swing = 0.6
    found = clip_statistics(clip_of(24.0, arm=lambda t: swing * np.sin(2 * np.pi * 0.5 * t)))
    # one of four joints of the arms; the range of a sine within which 95 % of the time lies
    assert found["arms"] == pytest.approx(swing * np.sin(0.95 * np.pi / 2) / 4, rel=0.02)
    assert found["head"] < 1e-6 and found["trunk"] < 1e-6 and found["legs"] < 1e-6


def test_windows_make_short_and_long_clips_comparable():
    def wander(t):
        return 0.02 * t

    short, long = (clip_statistics(clip_of(seconds, sway=wander)) for seconds in (4.0, 80.0))
    assert long["sway"] == pytest.approx(short["sway"], rel=0.02)
    assert short["speed"] == pytest.approx(0.02, rel=1e-3)


def test_rates_do_not_matter():
    def sway(t):
        return 0.05 * np.sin(2 * np.pi * 0.5 * t)

    slow, fast = (clip_statistics(clip_of(20.0, sway, sway, fps=fps)) for fps in (30.0, 120.0))
    for name in ("speed", "energy", "sway", "arms", "moves"):
        assert fast[name] == pytest.approx(slow[name], rel=0.03), name


def test_too_short_is_refused_and_left_out(tmp_path):
    with pytest.raises(ValueError, match="at least 2 s"):
        clip_statistics(clip_of(1.0))
    entries = []
    for name, seconds in (("a", 4.0), ("b", 1.0)):
        write_bvh(clip_of(seconds, sway=lambda t: 0.1 * t), tmp_path / f"{name}.bvh")
        entries.append({"path": f"{name}.bvh", "subject": "00", "group": "idle", "label": "idle"})
    one = dataset_statistics(listed_files(tmp_path, entries))
    assert [row["frames"] for row in one] == [240] and one[0]["speed"] == pytest.approx(0.1, rel=1e-3)
    entries.append({**entries[0], "group": "actions", "label": "yaw"})
    both = dataset_statistics(listed_files(tmp_path, entries), jobs=2)
    assert both[0] == one[0] and both[1]["label"] == "yaw"


def test_classes_are_means_by_frames_and_shares_by_energy():
    about = {"subject": "00", "group": "actions", "label": "yaw"}
    still = clip_statistics(clip_of(4.0, sway=lambda t: 0.001 * np.sin(2 * np.pi * 5 * t)))
    brisk = clip_statistics(clip_of(12.0, sway=lambda t: 0.1 * np.sin(2 * np.pi * 0.5 * t)))
    rows = [{**about, "frames": 240, **still}, {**about, "frames": 720, **brisk}]
    table = class_statistics(rows, motion_rows)
    assert table.index.tolist() == ["Action: yawn", "Idle actions total"]
    yawn = table.loc["Action: yawn"]
    assert yawn["clips"] == 2
    assert yawn["still [%]"] == pytest.approx(100 * (still["still"] + 3 * brisk["still"]) / 4)
    assert yawn["energy [cm²/s²]"] == pytest.approx(1e4 * (still["energy"] + 3 * brisk["energy"]) / 4)
    assert yawn["under 1 Hz [%]"] > 99  # the brisk clip has all of the energy
    assert not len(class_statistics([], motion_rows))


def test_a_rig_without_names_has_no_parts():
    from motionbook.clip import Skeleton

    skeleton = Skeleton(("a", "b"), (-1, 0), np.array([[0.0, 0, 0], [0.0, 1, 0]]))
    clip = Clip(skeleton, np.zeros((90, 3)), np.tile(rot.identity(), (90, 2, 1)), 30.0)
    found = clip_statistics(clip)
    assert np.isnan([found[part] for part in ("head", "arms", "trunk", "legs")]).all() and found["still"] == 1.0
    assert np.isnan(found["band 0"]) and found["energy"] == 0.0


def test_bands_in_words():
    assert [band_words(i) for i in range(4)] == ["under 1 Hz", "1 to 3 Hz", "3 to 8 Hz", "over 8 Hz"]
