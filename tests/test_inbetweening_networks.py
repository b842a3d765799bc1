"""The two-stage transformer against values from the published code: units, end to end, and what may not change them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from motionbook import rotations as rot
from motionbook.bvh import read_bvh
from motionbook.inbetweening.evaluation import score_windows
from motionbook.inbetweening.windows import CONTEXT, Windows, make_windows

TINY = (2, 3, 20, 8, 28, 24, 26)
STAGES = {"context": ("ctx", "tiny_ctx_out", False), "detail": ("det", "tiny_det_out", True)}


@pytest.fixture(scope="module")
def units(shared_data):
    folder = shared_data / "inbetweening"
    numbers = json.loads((folder / "units.json").read_text())
    with np.load(folder / "units.npz") as arrays:
        return {"numbers": numbers, "arrays": dict(arrays)}


@pytest.fixture(scope="module")
def clip(shared_data):
    path = shared_data / "inbetweening/synthetic_clip.bvh"
    return read_bvh(path, metres_per_unit=0.01, positions="replace", up="Y")


def network(units, stage: str, kind: str = "float64"):
    import torch

    from motionbook.inbetweening import networks

    made = {"context": networks.ContextNetwork, "detail": networks.DetailNetwork}[stage](networks.NetworkConfig(*TINY))
    made = made.to(getattr(torch, kind))
    prefix = STAGES[stage][0] + "."
    weights = {k.removeprefix(prefix): torch.as_tensor(v) for k, v in units["arrays"].items() if k.startswith(prefix)}
    made.load_state_dict(weights)
    return made.eval()


def statistics_of(clip):
    from motionbook.inbetweening.motion_tensors import feature_statistics

    return feature_statistics([clip])


@pytest.fixture(scope="module")
def motion(clip):
    """Features of the clip's windows, centred at frame 9, their z-scores, and the statistics."""
    import torch

    from motionbook.inbetweening.motion_tensors import features

    windows, statistics = make_windows([clip], centre="start"), statistics_of(clip)
    x = features(windows.root_positions, windows.rotations)
    return windows, statistics, x, torch.as_tensor((x - statistics.mean) / statistics.std)


def plain_attention(q, k, v, table, scale):
    """Row by row as written; q (N, B, H, D), table (N, K, D)."""
    import torch

    scores = torch.einsum("nbhd,kbhd->bhnk", q, k) + torch.einsum("nbhd,nkd->bhnk", q, table)
    return torch.einsum("bhnk,kbhd->nbhd", torch.softmax(scores * scale, dim=-1), v)


def test_parameter_counts_are_the_published_ones():
    from motionbook.inbetweening.networks import ContextNetwork, DetailNetwork, parameter_count

    assert parameter_count(ContextNetwork()) == 10_389_836
    assert parameter_count(DetailNetwork()) == 10_127_695


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(("kind", "tolerance"), [("float64", 1e-12), ("float32", 2e-5)])
def test_outputs_with_given_weights(units, stage, kind, tolerance):
    """Scaling by a head's width instead of the network's, or a residual of x instead of LN(x), is off by over 0.01."""
    import torch

    from motionbook.inbetweening.attention import whole_window

    _, key, all_keys = STAGES[stage]
    plan = whole_window(17, 5, [12], all_keys=all_keys)
    given = torch.as_tensor(units["arrays"]["tiny_in"]).to(getattr(torch, kind))
    with torch.no_grad():
        out = network(units, stage, kind)(given, plan).double().numpy()
    wanted = units["arrays"][key][:, list(plan.frames)]
    assert np.abs(out - wanted).max() < tolerance * max(np.abs(wanted).max(), 1)


@pytest.mark.parametrize("stage", STAGES)
def test_only_the_wanted_frames_are_computed_and_are_the_same(units, stage):
    """Fewer frames (none after the target, last block for the transition only) and any subset give equal outputs."""
    import torch

    from motionbook.inbetweening.attention import layout, whole_window

    all_keys = STAGES[stage][2]
    given, made = torch.as_tensor(units["arrays"]["tiny_in"]), network(units, stage)
    full, plan = whole_window(17, 5, [12], all_keys=all_keys), layout(5, [12], all_keys=all_keys)
    assert (plan.keys, len(plan.frames), plan.wanted) == (16 if all_keys else 12, 16, 11)
    with torch.no_grad():
        everything, wanted = made(given, full), made(given[:, :16], plan)
        assert torch.abs(everything[:, 11:16] - wanted).max() < 1e-12
        if not all_keys:
            # in-between frames do not see each other: leaving some out changes nothing, disturbing them neither
            few = plan._replace(frames=(*plan.frames[: plan.keys], 14))
            assert torch.abs(made(given, few)[:, -1] - wanted[:, plan.frames.index(14) - 11]).max() < 1e-12
            disturbed = given.clone()
            disturbed[:, [10, 11, 13]] += 1.0
            again = made(disturbed, plan)
            assert torch.abs(again[:, -1] - wanted[:, -1]).max() < 1e-12 and not torch.allclose(again, wanted)


def test_masks_and_distances(units):
    from motionbook.inbetweening.attention import layout, relative_offsets
    from motionbook.inbetweening.two_stage import known_frames

    numbers = units["numbers"]
    context, detail = layout(5, [12]), layout(5, [12], all_keys=True)
    assert sorted(context.frames[: context.keys]) == numbers["mask_context_W17_T5_mid12_allowed_keys"]
    assert sorted(detail.frames[: detail.keys]) == numbers["mask_detail_W17_T5_allowed_keys"]
    assert known_frames(17, 5, [12]).tolist() == numbers["data_mask_W17_T5_mid12"]
    ends = [[frame - 9, context.target - frame] for frame in range(17)]
    assert ends == numbers["keyframe_pos_W17_T5"]
    offsets = relative_offsets(context)
    assert offsets.shape == (16, 12) and offsets[11, 10] == 15 - 12 and offsets[0, 3] == 3
    for wrong in ((0, []), (5, [15]), (5, [9])):
        with pytest.raises(ValueError, match="midway targets"):
            layout(*wrong)


@pytest.mark.parametrize("keys", [11, 41])
def test_attention_is_what_it_says(keys):
    """Both forms, values and gradients, against the sums written out."""
    import torch

    from motionbook.inbetweening import attention

    rng = torch.Generator().manual_seed(0)
    shapes = ((41, 2, 3, 8), (keys, 2, 3, 8), (keys, 2, 3, 8), (41, keys, 8))
    tensors = [torch.randn(s, generator=rng, dtype=torch.float64, requires_grad=True) for s in shapes]
    out = plain_attention(*tensors, 0.2)
    weight = torch.randn(out.shape, generator=rng, dtype=torch.float64)
    wanted = torch.autograd.grad((out * weight).sum(), tensors)
    for form in (attention._fused, attention._keys_first, attention.relative_attention):
        again = form(*tensors, 0.2)
        assert torch.abs(again - out).max() < 1e-12
        found = torch.autograd.grad((again * weight).sum(), tensors)
        assert max(torch.abs(a - b).max() for a, b in zip(found, wanted, strict=True)) < 1e-12


def test_statistics_inputs_and_shift(units, clip, motion):
    import torch

    from motionbook.inbetweening import two_stage
    from motionbook.inbetweening.motion_tensors import features, foot_contacts

    windows, statistics, _, z = motion
    numbers, arrays = units["numbers"], units["arrays"]
    assert np.allclose(
        features(windows.root_positions, windows.rotations)[0, 40], numbers["repr_synth_window0_frame40"]
    )
    assert np.allclose(statistics.mean, numbers["train_stats_synth"]["mean"], rtol=1e-9, atol=1e-12)
    std = np.maximum(numbers["train_stats_synth"]["std"], numbers["std_clamped_at"])
    assert np.allclose(statistics.std, std, rtol=1e-9, atol=1e-12)
    assert foot_contacts(clip).sum(axis=0).tolist() == numbers["contacts_synth"]["count_true_per_channel"]
    assert foot_contacts(clip)[:20].astype(int).tolist() == numbers["contacts_synth"]["first_20_frames"]
    given = two_stage.context_input(z[:1, :17], 5, [12])[0]
    assert np.abs(given.numpy() - arrays["placeholder_input_window0"]).max() < 1e-9
    made, truth = (torch.as_tensor(arrays[k]) for k in ("post_in", "post_gt"))
    shifted = two_stage.shift(made[:, 10:15], truth)
    assert np.abs(shifted.numpy() - arrays["post_out"][:, 10:15]).max() < 1e-12


def test_toes_that_never_move_give_numbers(clip):
    """Pitfall: four of the 135 numbers have no deviation at all; dividing by it gives 0 / 0."""
    from motionbook.inbetweening.motion_tensors import feature_statistics, features

    windows = make_windows([clip], centre="start")
    x = features(windows.root_positions, windows.rotations)
    for smallest, finite in ((0.0, False), (1e-3, True)):
        mean, std = feature_statistics([clip], smallest)
        with np.errstate(invalid="ignore", divide="ignore"):
            assert np.isfinite((x - mean) / std).all() == finite
    assert (feature_statistics([clip], 0.0).std == 0).sum() >= 4


def test_statistics_are_those_of_the_people_given(clip):
    """Pitfall: nothing is remembered from an earlier call."""
    first, second = statistics_of(clip[:100]), statistics_of(clip[80:])
    assert not np.allclose(first.std, second.std, rtol=0.05)
    assert np.array_equal(statistics_of(clip[:100]).std, first.std)
    with pytest.raises(ValueError, match="window of 50 frames"):
        statistics_of(clip[:49])


@pytest.mark.parametrize("transition", [5, 30])
@pytest.mark.parametrize("post", [0, 1])
@pytest.mark.parametrize("stage", STAGES)
def test_evaluation_from_end_to_end(units, clip, motion, shared_data, stage, transition, post):
    from motionbook.inbetweening.two_stage import ROOT, TwoStage

    _, statistics, x, _ = motion
    expected = json.loads((shared_data / "inbetweening/synthetic_expected.json").read_text())
    detail = network(units, "detail") if stage == "detail" else None
    predictor = TwoStage(
        network(units, "context"), detail, statistics, shift_context=bool(post), shift_detail=bool(post)
    )
    scores = score_windows(make_windows([clip]), np.array(expected["bench_std"]), (transition,), {"": predictor})
    scores = scores["", transition]
    reference = units["numbers"]["tiny_end_to_end_synth"][f"{stage}_T{transition}_post{post}"]
    npss = scores.npss_distance.sum() / scores.npss_power.sum()
    found = {"L2P": scores.l2p.mean(), "L2Q": scores.l2q.mean(), "NPSS": npss}
    for name, value in found.items():
        assert value == pytest.approx(reference[name], rel=1e-6), name
    root = predictor.fill(x, transition)[0, [0, -1], ROOT].numpy()
    assert np.allclose(root, reference["root_first_last"], rtol=1e-6, atol=1e-9)


def turned(windows: Windows, angle: float, by) -> Windows:
    """The same motion elsewhere in the room."""
    turn = rot.from_axis_angle([0.0, 1.0, 0.0], angle)
    rotations = windows.rotations.copy()
    rotations[:, :, 0] = rot.multiply(turn, rotations[:, :, 0])
    return replace(windows, root_positions=rot.rotate(turn, windows.root_positions) + by, rotations=rotations)


def test_predictor_does_not_mind_where_people_stand_or_how_many(units, clip):
    """Turned and moved windows give turned and moved predictions; three windows give what each of them gives alone.

    Pitfall: with exactly three windows the published code turns them by a cross product over the wrong axis.
    """
    from motionbook.inbetweening.two_stage import TwoStage
    from motionbook.inbetweening.two_stage_training import predict

    predictor = TwoStage(network(units, "context"), network(units, "detail"), statistics_of(clip))
    windows = make_windows([clip])[:3]
    made = predictor(windows, 15)
    moved = predictor(turned(windows, 1.1, [300.0, 0.0, -70.0]), 15)
    back = turned(
        replace(windows, root_positions=made.root_positions, rotations=made.rotations), 1.1, [300.0, 0.0, -70.0]
    )
    assert np.abs(moved.root_positions - back.root_positions).max() < 1e-9
    assert rot.angle_between(moved.rotations, back.rotations).max() < 1e-7
    alone = [predictor(windows[i : i + 1], 15) for i in range(3)]
    assert np.abs(made.root_positions - np.concatenate([p.root_positions for p in alone])).max() < 1e-10
    by_two = predict(predictor, windows, 15, batch=2)
    assert np.abs(made.rotations - by_two.rotations).max() < 1e-10
    assert predict(predictor, windows[:0], 15).rotations.shape == (0, 15, 22, 4)


def test_frame_after_the_target_is_read_only_when_asked(units, clip):
    """Pitfall: the published shift knows the target's velocity; without it the predictor needs the target alone."""
    from motionbook.inbetweening.two_stage import TwoStage

    predictor = TwoStage(network(units, "context"), network(units, "detail"), statistics_of(clip))
    windows = make_windows([clip])
    changed = replace(windows, root_positions=windows.root_positions.copy())
    changed.root_positions[:, CONTEXT + 15 + 1] += 5.0
    leaks, strict = predictor, predictor.keys_only()
    assert np.abs(leaks(changed, 15).root_positions - leaks(windows, 15).root_positions).max() > 0.1
    assert np.array_equal(strict(changed, 15).root_positions, strict(windows, 15).root_positions)
    short = make_windows([clip], CONTEXT + 15 + 1)
    assert strict(short, 15).rotations.shape[1] == 15
    with pytest.raises(ValueError, match="keys_only"):
        leaks(short, 15)


def test_strict_shift_makes_the_last_step_the_one_before_it():
    import torch

    from motionbook.inbetweening.two_stage import shift

    t = torch.arange(17, dtype=torch.float64)[None, :, None]
    line = 2.0 * t + 1.0
    made = line[:, 10:15] - 3.0  # right but for a constant: both ends ask for 3
    assert torch.allclose(shift(made, line, after_target=False), line[:, 10:15])
    assert torch.allclose(shift(made, line), line[:, 10:15])
    one = line[:, 10:11]
    assert torch.allclose(shift(one - 3.0, line[:, :12], after_target=False), one)
