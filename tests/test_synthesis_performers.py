"""Who the performers are: builds that differ, nothing left to chance but the seed, nobody in another's way."""

import hashlib
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.skeletons import LAFAN1, t_pose
from motionbook.synthesis.actions import ACTION_ROWS, find_row
from motionbook.synthesis.performers import ACTIONS, action, idle, make_performer, phone
from motionbook.synthesis.takes import MOST_ALIKE, PROMISED, arm_correlations


def fingerprint(clip) -> str:
    return hashlib.sha256(clip.rotations.tobytes() + clip.root_positions.tobytes()).hexdigest()


def test_heights_and_bone_lengths_differ_between_people():
    people = [make_performer(subject, 0) for subject in range(50)]
    statures = np.array([p.stature for p in people])
    assert statures.min() >= 1.55 and statures.max() <= 1.95
    assert np.ptp(statures) > 0.3 and len(set(statures.round(4))) > 40
    lengths = np.array([np.linalg.norm(p.skeleton.offsets[1:], axis=-1) / p.stature for p in people])
    # proportions, not only sizes: every kind of bone varies by more than 1 % of its length after scaling
    assert (lengths.std(0) / lengths.mean(0) > 0.01).all()
    left = [j for j, name in enumerate(LAFAN1.names) if name.startswith("Left")]
    right = [LAFAN1.index(LAFAN1.names[j].replace("Left", "Right")) for j in left]
    for person in people:
        assert np.allclose(person.skeleton.offsets[left], person.skeleton.offsets[right] * [1, 1, -1])


def test_stature_is_the_head_joint_at_nine_tenths():
    for subject in range(5):
        person = make_performer(subject, 3)
        rest = local_rotations(LAFAN1.parents, t_pose(person.skeleton)[None])
        standing = forward_kinematics(Clip(person.skeleton, np.zeros((1, 3)), rest, 30.0)).positions[0]
        height = standing[LAFAN1.index("Head"), 1] - standing[LAFAN1.index("LeftToe"), 1] + 0.006
        assert height == pytest.approx(0.9 * person.stature, abs=0.005)


def test_same_seed_same_motion_in_another_process():
    """Python's own hash of strings differs from process to process; a stream seeded with it fails here."""
    here = fingerprint(idle(make_performer(2, 9), 4.0)), fingerprint(action(make_performer(2, 9), "sc_hea"))
    code = (
        "import sys; sys.path.insert(0, 'tests'); from test_synthesis_performers import *;"
        "p = make_performer(2, 9); print(fingerprint(idle(p, 4.0)), fingerprint(action(p, 'sc_hea')))"
    )
    root = __file__.rsplit("/tests/", 1)[0]
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert tuple(there.stdout.split()) == here


def test_seeds_subjects_and_takes_change_the_motion():
    made = [idle(make_performer(s, seed), 3.0, take) for s, seed, take in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))]
    assert len({fingerprint(clip) for clip in made}) == len(made)


def test_habits_tempo_and_energy_are_personal():
    people = [make_performer(subject, 1) for subject in range(20)]
    for trait in ("tempo", "energy", "stance", "knee_flexion", "sway", "hip_drop", "leg_habit"):
        values = np.array([getattr(p, trait) for p in people])
        assert values.std() > 0.1 * abs(values).mean(), trait
    favourites = {max(p.rest_habit, key=lambda entry: entry[1])[0] for p in people}
    assert len(favourites) >= 5
    assert {p.handed for p in people} == {0, 1}
    for person in people:
        assert sum(share for _, share in person.rest_habit) == pytest.approx(1.0, abs=1e-4)


def test_actions_are_table_3s_rows_in_its_order():
    assert len(ACTIONS) == 19 and len(set(ACTIONS)) == 19
    # the table's own sums
    assert sum(row.frames for row in ACTION_ROWS) == 275_751
    assert sum(row.clips for row in ACTION_ROWS) == 1_534
    from motionbook.data.names import ACTION_LABELS

    assert list(ACTIONS) == list(ACTION_LABELS)
    assert find_row("look back (left)").code == "lb_lef"


def test_action_lengths_follow_the_table():
    lengths = {row.code: [] for row in ACTION_ROWS}
    for subject in range(4):
        for code in lengths:
            lengths[code].append(len(action(make_performer(subject, 2), code)))
    ratios = [np.mean(lengths[row.code]) / (row.frames / row.clips) for row in ACTION_ROWS]
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.15)
    assert min(ratios) > 0.7 and max(ratios) < 1.5
    assert all(len(set(values)) > 2 for values in lengths.values())


@pytest.mark.parametrize("do", [idle, phone])
def test_length_rate_and_skeleton(do):
    person = make_performer(4, 0)
    clip = do(person, 7.5)
    assert len(clip) == 225 and clip.fps == 30.0
    assert clip.skeleton.names == LAFAN1.names and np.array_equal(clip.skeleton.offsets, person.skeleton.offsets)
    assert clip.translations is None
    # signs of quaternions do not jump, so that reading a joint over time needs no repair
    assert all((np.einsum("ji,ji->j", a, b) > 0).all() for a, b in pairwise(clip.rotations))


def test_wrong_requests_say_what_is_possible():
    with pytest.raises(ValueError, match="subject"):
        make_performer(-1, 0)
    with pytest.raises(KeyError, match="sc_hea"):
        action(make_performer(0, 0), "juggle")
    with pytest.raises(ValueError, match="take"):
        idle(make_performer(0, 0), 5.0, take=-1)
    with pytest.raises(ValueError, match="seconds"):
        idle(make_performer(0, 0), 0.0)


def test_the_least_alike_draw_is_taken_where_none_is_wholly_different():
    """Person 45 glances at the watch the same way every time; taking any draw, or none, is the planted fault."""
    performer = make_performer(45, 0)
    first, second = (action(performer, "l_wat", take) for take in (0, 1))
    alike = max(arm_correlations(first, second).values())
    assert MOST_ALIKE < alike <= PROMISED
