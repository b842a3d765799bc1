"""The residual over the geodesic: it comes back exactly, vanishes at the keys, and knows neither place nor heading."""

from dataclasses import replace

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.inbetweening import residual as res
from motionbook.inbetweening.baselines import LocalPose, slerp
from motionbook.inbetweening.evaluation import world
from motionbook.inbetweening.windows import make_windows


def some_windows(seed: int = 0, **kwargs):
    return make_windows([random_clip(150, seed), random_clip(90, seed + 1)], **kwargs)


@pytest.mark.parametrize("centre", ["mean", "start"])
@pytest.mark.parametrize("transition", [1, 5, 30, 45])
def test_the_true_residual_gives_back_the_truth(transition, centre):
    """Places to a billionth of a centimetre; windows that do not face +X too."""
    windows = some_windows(centre=centre)
    turn = rot.from_axis_angle([0.0, 1.0, 0.0], 0.7)
    turned = windows.rotations.copy()
    turned[:, :, 0] = rot.multiply(turn, turned[:, :, 0])
    askew = replace(windows, rotations=turned, root_positions=rot.rotate(turn, windows.root_positions))
    for each in (windows, askew):
        left = res.residual(each, transition)
        assert left.shape == (len(each), transition, res.SIZE)
        made = world(each, res.apply_residual(each, transition, left))
        gap = slice(10, 10 + transition)
        truth = world(each, LocalPose(each.root_positions[:, gap], each.rotations[:, gap]))
        assert np.abs(made.positions - truth.positions).max() < 1e-9
        assert rot.angle_between(made.rotations, truth.rotations).max() < 1e-9
    assert np.allclose(res.residual(windows, transition), res.residual(askew, transition), atol=1e-12)


def test_it_vanishes_at_both_keys():
    """At times 0 and 1 the base is the last context frame and the target, so a zero residual meets both."""
    windows = some_windows()
    base = res.base_pose(windows, 30, [0.0, 1.0])
    keys = [9, 40]
    assert np.abs(base.root_positions - windows.root_positions[:, keys]).max() < 1e-9
    assert rot.angle_between(base.rotations, windows.rotations[:, keys]).max() < 1e-9
    nothing = res.apply_residual(windows, 30, np.zeros((len(windows), 2, res.SIZE)), [0.0, 1.0])
    assert np.abs(nothing.root_positions - windows.root_positions[:, keys]).max() < 1e-9


def test_the_base_is_slerp_where_slerp_is_exact():
    """Joints more than 16 degrees from their target agree; nearer ones are blended linearly in the published form."""
    windows = some_windows()
    far = rot.angle_between(windows.rotations[:, 9], windows.rotations[:, 55]) > 2 * np.arccos(0.99)
    apart = rot.angle_between(slerp(windows, 45).rotations, res.base_pose(windows, 45).rotations)
    far = np.broadcast_to(far[:, None], apart.shape)
    assert far.any() and apart[far].max() < 1e-7 and apart.max() < 2e-3


def test_features_know_nothing_of_the_gap_nor_of_what_follows_the_target():
    """Frames inside the gap and behind the target are replaced by noise: same features; context and target matter."""
    windows, other = some_windows(0, centre="start"), some_windows(5, centre="start")
    mixed_rotations, mixed_root = windows.rotations.copy(), windows.root_positions.copy()
    hidden = [*range(10, 25), *range(26, 65)]
    mixed_rotations[:, hidden], mixed_root[:, hidden] = other.rotations[:, hidden], other.root_positions[:, hidden]
    mixed = replace(windows, rotations=mixed_rotations, root_positions=mixed_root)
    assert np.array_equal(res.features(windows, 15), res.features(mixed, 15))
    for frame in (0, 8, 9, 25):
        changed = windows.rotations.copy()
        changed[:, frame] = other.rotations[:, frame]
        assert not np.allclose(res.features(windows, 15), res.features(replace(windows, rotations=changed), 15))


def test_features_do_not_depend_on_place_heading_or_signs():
    windows = some_windows()
    turn = rot.from_axis_angle([0.0, 1.0, 0.0], -2.0)
    turned = windows.rotations.copy()
    turned[:, :, 0] = rot.multiply(turn, turned[:, :, 0])
    moved = replace(
        windows,
        rotations=turned * np.random.default_rng(0).choice([-1.0, 1.0], (*turned.shape[:3], 1)),
        root_positions=rot.rotate(turn, windows.root_positions) + np.array([30.0, 0.0, -5.0]),
    )
    assert np.allclose(res.features(windows, 30), res.features(moved, 30), atol=1e-10)
    assert np.allclose(res.residual(windows, 30), res.residual(moved, 30), atol=1e-10)


def test_wrong_sizes_are_refused():
    windows = some_windows()
    with pytest.raises(ValueError, match=r"residual: expected \(4, 30, 69\).*got \(4, 29, 69\)"):
        res.apply_residual(windows, 30, np.zeros((4, 29, 69)))
    with pytest.raises(ValueError, match="1 to 54"):
        res.residual(windows, 55)
