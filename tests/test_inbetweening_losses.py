"""Loss terms against values from the published code and against sums written out, and forward kinematics in torch."""

import json
from dataclasses import replace

import numpy as np
import pytest
from test_inbetweening_networks import clip, motion, network, units  # noqa: F401 (fixtures)

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.windows import make_windows
from motionbook.kinematics import world_pose
from motionbook.skeletons import LAFAN1


def moving(frames: int = 60, seed: int = 0) -> Clip:
    rng = np.random.default_rng(seed)
    steps = rng.normal(0, 0.05, (frames, 22, 3)).cumsum(axis=0)
    root = np.array([2.0, 0.9, -3.0]) + rng.normal(0, 0.01, (frames, 3)).cumsum(axis=0)
    return Clip(LAFAN1, root, rot.from_rotation_vector(steps), 30.0)


def truth_of(windows, clips, z, x):
    import torch

    from motionbook.inbetweening.losses import Truth
    from motionbook.inbetweening.motion_tensors import columns_of, foot_contacts

    places = world_pose(windows.skeleton, windows.root_positions, windows.rotations, windows.offsets[:, None]).positions
    length = windows.rotations.shape[1]
    labels = [foot_contacts(clips[c])[s : s + length] for c, s in zip(windows.clips, windows.starts, strict=True)]
    return Truth(
        z,
        columns_of(torch.as_tensor(x)),
        torch.as_tensor(places).permute(3, 2, 0, 1),
        torch.as_tensor(windows.offsets),
        torch.as_tensor(np.stack(labels)).to(z),
    )


def test_terms_with_given_weights(units, clip, motion):  # noqa: F811
    """Raw instead of orthonormal columns would give 0.0524 for the rotation term."""
    import torch

    from motionbook.inbetweening.losses import gap_losses
    from motionbook.inbetweening.two_stage import Scale, TwoStage

    windows, statistics, x, z = motion
    scale = Scale(statistics, z)
    predictor = TwoStage(network(units, "context"), network(units, "detail"), statistics)
    with torch.no_grad():
        made, contacts = predictor.stages(z, scale, 30)
    found = gap_losses(torch.cat([made, contacts], dim=-1), truth_of(windows, [clip], z, x), scale)
    reference = units["numbers"]["tiny_end_to_end_synth"]["losses_detail_T30"]
    names = {"rotation": "r", "position": "p", "contact": "c", "foot": "f", "smooth": "smooth"}
    for ours, theirs in names.items():
        assert float(found[ours]) == pytest.approx(reference[theirs], rel=1e-9), ours


def test_weights_of_the_stages():
    import torch

    from motionbook.inbetweening.losses import CONTEXT_WEIGHTS, DETAIL_WEIGHTS, weighted

    terms = {name: torch.tensor(1.0) for name in ("rotation", "position", "smooth", "contact", "foot")}
    assert float(weighted(terms, CONTEXT_WEIGHTS)) == pytest.approx(1.0 + 0.01 + 0.005)
    assert float(weighted(terms, DETAIL_WEIGHTS)) == pytest.approx(1.0 + 0.02 + 0.05 + 0.05)


def test_joint_places_are_those_of_the_library():
    import torch

    from motionbook.inbetweening.motion_tensors import columns_of, features, joint_places

    windows = make_windows([moving()], 30, 10)
    x = torch.as_tensor(features(windows.root_positions, windows.rotations))
    found = joint_places(columns_of(x), x[..., 132:], torch.as_tensor(windows.offsets)).permute(2, 3, 1, 0)
    wanted = world_pose(windows.skeleton, windows.root_positions, windows.rotations, windows.offsets[:, None]).positions
    assert np.abs(found.numpy() - wanted).max() < 1e-10


def test_gradients_are_those_of_the_formulas():
    import torch

    from motionbook.inbetweening.motion_tensors import columns_of, joint_places, orthonormal

    rng = torch.Generator().manual_seed(0)
    x = torch.randn((1, 2, 135), generator=rng, dtype=torch.float64, requires_grad=True)
    offsets = torch.randn((1, 22, 3), generator=rng, dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda v: joint_places(orthonormal(columns_of(v)), v[..., 132:], offsets), x)


def test_foot_and_smooth_terms_reach_the_frames_around_the_gap():
    """A truth that is predicted exactly has no error, but still steps: from frame 9 to the target."""
    import torch

    from motionbook.inbetweening.losses import gap_losses
    from motionbook.inbetweening.motion_tensors import FEET, Statistics, features
    from motionbook.inbetweening.two_stage import Scale

    clips = [moving()]
    windows = make_windows(clips, 20, 10, centre="start")
    x = features(windows.root_positions, windows.rotations)
    z = torch.as_tensor(x)
    truth = truth_of(windows, clips, z, x)
    scale = Scale(Statistics(np.zeros(135), np.ones(135)), z)
    logits = torch.full((*z.shape[:1], 5, 4), 100.0, dtype=torch.float64)
    found = gap_losses(torch.cat([z[:, 10:15], logits], dim=-1), truth, scale)
    steps = np.abs(np.diff(truth.places.numpy(), axis=-1))
    assert float(found["rotation"]) < 1e-12 and float(found["position"]) < 1e-10
    assert float(found["smooth"]) == pytest.approx(steps[..., 9:15].mean(), rel=1e-9)
    assert float(found["foot"]) == pytest.approx(steps[:, list(FEET), :, 9:14].mean(), rel=1e-9)
    assert float(found["contact"]) == pytest.approx(1 - truth.contacts[:, 10:15].mean().item(), abs=1e-9)


def test_training_windows_are_the_centred_windows():
    """Batches cut on the device are what ``make_windows`` cuts, for people far from the origin as well."""
    import torch

    from motionbook.inbetweening.motion_tensors import feature_statistics, features
    from motionbook.inbetweening.training_batches import TrainingWindows

    still = moving(70, 3)
    order = np.r_[np.zeros(35, int), np.arange(35)]  # feet rest for a while
    still = replace(still, root_positions=still.root_positions[order], rotations=still.rotations[order])
    clips = [moving(60, 1), moving(30, 2), still]
    statistics = feature_statistics(clips)
    data = TrainingWindows(clips, statistics, 41, dtype=torch.float64)
    windows = make_windows(clips, 41, 1, centre="start")
    assert len(data) == len(windows) == 20 + 0 + 30
    which = np.array([0, 19, 20, 49])
    batch = data.batch(which)
    x = features(windows.root_positions, windows.rotations)[which]
    assert np.abs(data.scale.plain(batch.z).numpy() - x).max() < 1e-9
    wanted = truth_of(windows[which], clips, batch.z, x)
    assert torch.abs(batch.places - wanted.places).max() < 1e-9 and torch.equal(batch.offsets, wanted.offsets)
    assert torch.equal(batch.contacts, wanted.contacts) and 0 < batch.contacts.mean() < 1
    assert torch.abs(batch.columns - wanted.columns).max() < 1e-12
    single = TrainingWindows(clips, statistics, 41).batch(which)
    assert torch.abs(single.places - wanted.places).max() < 1e-3
    with pytest.raises(ValueError, match="41 frames"):
        TrainingWindows([moving(40)], statistics, 41)


def test_midway_targets_and_lengths(shared_data):
    from motionbook.inbetweening.training_batches import draw_gap

    expected = json.loads((shared_data / "inbetweening/units.json").read_text())["midway_counts"]
    rng = np.random.default_rng(0)
    gaps = [draw_gap(rng) for _ in range(4000)]
    lengths = np.array([g.transition for g in gaps])
    assert lengths.min() == 5 and lengths.max() == 30
    assert np.abs(np.bincount(lengths)[5:] / 4000 - 1 / 26).max() < 0.015
    for length, trials in expected.items():
        mine = [len(g.midways) for g in gaps if g.transition == int(length)]
        assert max(mine) <= trials and abs(np.mean(mine) - trials / 2) < 0.35
    assert all(10 <= m < 10 + g.transition for g in gaps for m in g.midways)
