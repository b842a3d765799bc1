"""The eighteen pitfalls, one test each: the fault as it was released, and what stands in its place."""

from dataclasses import replace

import numpy as np
import pytest
from test_inbetweening_evaluation import FOLDS, people
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.bvh import read_bvh
from motionbook.data.names import staystill_name
from motionbook.data.published import published_item
from motionbook.data.splits import published_folds
from motionbook.inbetweening import evaluation, metrics, pitfalls
from motionbook.inbetweening.baselines import BASELINES
from motionbook.inbetweening.cubic import EXTRA_BASELINES
from motionbook.inbetweening.windows import heading_turn, make_windows, window_starts


def frozen_toes(frames: int = 150, seed: int = 0):
    clip = random_clip(frames, seed)
    rotations = clip.rotations.copy()
    rotations[:, [4, 8]] = [1.0, 0.0, 0.0, 0.0]
    return replace(clip, rotations=rotations)


def small_network(statistics, **options):
    """A two-stage predictor with random weights."""
    torch = pytest.importorskip("torch")
    from motionbook.inbetweening.networks import ContextNetwork, DetailNetwork, NetworkConfig
    from motionbook.inbetweening.two_stage import TwoStage

    torch.manual_seed(0)
    config = NetworkConfig.small(16, 1, 2)
    networks = (kind(config).double().eval() for kind in (ContextNetwork, DetailNetwork))
    return TwoStage(*networks, statistics, **options)


def test_the_table_is_complete():
    """Eighteen rows in order, each fixed or kept, with a switch; every function that a row names exists."""
    table = pitfalls.pitfalls_table()
    assert list(table.index) == list(range(1, 19)) and set(table.status) == {"fixed", "kept"}
    assert (table.map(len) > 3).all(axis=None)
    named = " ".join(" ".join(map(str, row)) for row in pitfalls.PITFALLS)
    for name in ("released_heading", "released_window_count", "single_precision", "with_first_scale", "easing_bound"):
        assert callable(getattr(pitfalls, name)) and name in named


def test_pitfall_01_joints_that_never_turn():
    """Frozen toes give finite features; without the smallest deviation they divide by zero."""
    pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import feature_statistics, features

    clip = frozen_toes()
    windows = make_windows([clip], centre="start")
    x = features(windows.root_positions, windows.rotations)
    ours, released = (feature_statistics([clip], smallest=s) for s in (1e-3, 0.0))
    assert np.isfinite((x - ours.mean) / ours.std).all() and (released.std == 0).sum() >= 4
    with np.errstate(invalid="ignore", divide="ignore"):
        assert not np.isfinite((x - released.mean) / released.std).all()


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_pitfall_02_batches_of_three(count):
    """Each window's heading is its own; the released product is right for 1, 2 and 4 windows and wrong for 3."""
    roots = rot.random_rotations((count,), np.random.default_rng(4))
    each = np.array([pitfalls.released_heading(r[None])[0] for r in roots])
    assert np.allclose(rot.rotate(heading_turn(roots), each), [1.0, 0.0, 0.0])
    assert np.allclose(pitfalls.released_heading(roots), each) == (count != 3)


def test_pitfall_03_signs_of_truth_and_prediction():
    """A prediction that is right up to its sign costs nothing when aligned and 2 per joint and frame as published."""
    truth = metrics.continuous_signs(make_windows([random_clip(65, 0)]).rotations)[:, 10:25]
    guess = truth.copy()
    guess[:, :, 3] *= -1
    assert metrics.l2q(truth, guess) == pytest.approx(2.0) and metrics.l2q(truth, guess, aligned=True) == 0.0
    # a turn of 270 degrees, which interpolation makes the other way: the same pose at the end, the other sign
    clip = random_clip(65, 1)
    rotations = clip.rotations.copy()
    angle = np.clip((np.arange(65) - 9) / 46, 0, 1) * 1.5 * np.pi
    rotations[:, 15] = rot.from_axis_angle([0.0, 0.0, 1.0], angle)
    windows, std = make_windows([replace(clip, rotations=rotations)]), np.ones((22, 3))
    plain, aligned = (evaluation.score_windows(windows, std, [45], aligned=a)["SLERP", 45] for a in (False, True))
    assert aligned.l2q < plain.l2q - 0.1
    assert plain.l2p == aligned.l2p and plain.npss_distance == aligned.npss_distance
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    switched = evaluation.window_scores(folds, [45], aligned=True)
    assert (switched.l2q <= evaluation.window_scores(folds, [45]).l2q + 1e-12).all()


def test_pitfall_04_power_or_squared_real_part():
    """The extras against NumPy's whole and one-sided transforms; the default is the published real part."""
    a, b = np.random.default_rng(0).standard_normal((2, 4, 15, 3, 4))

    def expected(power):
        x, y = power(a), power(b)
        totals = x.sum(axis=1)
        gap = np.cumsum(y / y.sum(axis=1, keepdims=True), axis=1) - np.cumsum(x / totals[:, None], axis=1)
        return (np.abs(gap).sum(axis=1) * totals).sum() / totals.sum()

    forms = {
        "real part": lambda q: np.real(np.fft.fft(q, axis=1)) ** 2,
        "power": lambda q: np.abs(np.fft.fft(q, axis=1)) ** 2,
        "one-sided": lambda q: np.abs(np.fft.rfft(q, axis=1)) ** 2,
    }
    values = {name: metrics.npss(a, b, spectrum=name) for name in forms}
    assert tuple(forms) == metrics.SPECTRA and metrics.npss(a, b) == values["real part"]
    for name, power in forms.items():
        assert values[name] == pytest.approx(expected(power), rel=1e-10)
    assert len({round(v, 6) for v in values.values()}) == 3
    with pytest.raises(KeyError, match="real part, power, one-sided"):
        metrics.npss(a, b, spectrum="modulus")
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    plain, power = (evaluation.window_scores(folds, [15], spectrum=s) for s in ("real part", "power"))
    assert not np.allclose(plain.npss_distance, power.npss_distance) and np.array_equal(plain.l2q, power.l2q)


def test_pitfall_05_single_precision():
    """Small components vanish in float32 by way of matrices, and with them the spectrum that the guard asks for.

    A joint that sways by a ten-thousandth of a radian and its exact prediction: NPSS 0 in float64. Rounded on one side,
    whole components are zero and NPSS is far from 0.
    """
    sway = 1e-4 * np.sin(np.arange(30) / 3.0)[None, :, None, None] * [1.0, 0.0, 0.0]
    q = rot.from_rotation_vector(sway + np.array([2e-4, 0.0, 0.0]))
    rounded = pitfalls.single_precision(q)
    assert rounded.dtype == np.float32 and (rounded[..., 1] == 0).any() and (q[..., 1] != 0).any()
    assert metrics.npss(q, q) == 0.0
    small = metrics.npss(q[..., 1:2], rounded[..., 1:2].astype(float))
    assert small > 0.1
    assert metrics.npss_terms(q.astype(np.float32), q).distance.dtype == np.float64
    large = rot.random_rotations((50,), np.random.default_rng(0))
    assert rot.angle_between(pitfalls.single_precision(large).astype(float), large).max() < 2e-3


def test_pitfall_06_the_first_folds_scale():
    """Each fold its own scale; the first one's in all of them changes L2P of the others and nothing else."""
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    ours, cached = (evaluation.window_scores(f) for f in (folds, pitfalls.with_first_scale(folds)))
    first = ours.fold == 1
    assert np.array_equal(ours.l2p[first], cached.l2p[first])
    ratio = cached.l2p[~first].mean() / ours.l2p[~first].mean()
    assert abs(ratio - 1) > 0.3 and np.array_equal(ours.l2q, cached.l2q)


def test_pitfall_07_clips_shorter_than_a_window():
    """185 and 30 frames, windows of 41: 145 windows, released count 135; 30 frames and 65/40: none, released one."""
    assert [len(window_starts(n, 41, 1)) for n in (185, 30)] == [145, 0]
    assert sum(pitfalls.released_window_count(n, 41, 1) for n in (185, 30)) == 135
    assert pitfalls.released_window_count(30, 65, 40) == 1 and len(window_starts(30, 65, 40)) == 0
    assert len(make_windows([random_clip(185, 0), random_clip(30, 1)], 41, 1)) == 145
    for frames in range(65, 400):
        assert len(window_starts(frames, 65, 40)) == pitfalls.released_window_count(frames, 65, 40)
    assert len(window_starts(185, 65, 40, strict=True)) == len(window_starts(185, 65, 40)) - 1


def test_pitfall_08_slices_are_not_people():
    """A slice's name still says who moves in it, in either order of names; released, the person is the slice."""
    for stem in ("00_idle_2", "idle_00_2", "00_idle", "idle_00"):
        assert staystill_name(stem).subject == "00"
    assert "00_idle_2".rsplit("_", 1)[1] == "2"
    with pytest.raises(ValueError, match="fold 1: 01"):
        evaluation.evaluate(people(), "idle", [{"train": ["00", "01"], "test": ["01", "02"]}])


def test_pitfall_09_no_frame_is_lost_between_slices():
    """Frames kept and frames listed as bad add up to the clip; ranges of files include their ends."""
    from motionbook.cleaning.faults import listed_faults

    clip = random_clip(400, 0)
    faults = listed_faults(clip, [(100, 129), (250, 250)])
    assert faults.kept == ((0, 100), (130, 250), (251, 400)) and faults.removed == 31
    assert sum(len(clip[a:b]) for a, b in faults.kept) + faults.removed == len(clip)


def test_pitfall_10_contact_looks_ahead():
    """A foot that lands between frames 4 and 5 is in contact from frame 5 on; the last frame repeats."""
    pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import foot_contacts

    clip = random_clip(10, 0)
    root = np.zeros((10, 3))
    root[:5, 0] = 0.01 * np.arange(5)
    root[5:, 0] = 0.05
    still = replace(clip, rotations=clip.rotations[[0] * 10], root_positions=root)
    assert foot_contacts(still).astype(int).tolist() == [[0] * 4] * 5 + [[1] * 4] * 5


def test_pitfall_11_which_state_the_second_stage_is_trained_on():
    """Published: the last one; the best one by a switch; nothing else is taken."""
    pytest.importorskip("torch")
    from motionbook.inbetweening.two_stage_training import TwoStageConfig

    assert TwoStageConfig().detail_on == "last" and TwoStageConfig(detail_on="best").detail_on == "best"
    with pytest.raises(ValueError, match='"last" or "best"'):
        TwoStageConfig(detail_on="first")


def noise_after_the_target(windows, transition):
    other = make_windows([random_clip(65, 77)] * len(windows))
    rotations, root = windows.rotations.copy(), windows.root_positions.copy()
    later = slice(10 + transition + 1, None)
    rotations[:, later], root[:, later] = other.rotations[:, later], other.root_positions[:, later]
    return replace(windows, rotations=rotations, root_positions=root)


def test_pitfall_12_nothing_after_the_target_is_read():
    """Not by interpolation, the cubic or features; by the two-stage network only as published, not with keys_only()."""
    from motionbook.inbetweening.residual import features

    windows = make_windows([random_clip(150, 0)])
    hidden = noise_after_the_target(windows, 15)
    for predict in {**BASELINES, **EXTRA_BASELINES}.values():
        for a, b in zip(predict(windows, 15), predict(hidden, 15), strict=True):
            assert np.array_equal(a, b)
    assert np.array_equal(features(windows, 15), features(hidden, 15))
    pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import feature_statistics

    network = small_network(feature_statistics([random_clip(150, 0)]))
    assert not np.allclose(network(windows, 15).rotations, network(hidden, 15).rotations)
    strict = network.keys_only()
    assert np.array_equal(strict(windows, 15).rotations, strict(hidden, 15).rotations)


def test_pitfall_13_bones_are_not_copied_from_the_truth():
    """Clips whose bones move are refused; resolved, every prediction has the same bones as the truth, of one length."""
    from motionbook.kinematics import constant_bones

    clip = random_clip(70, 2)
    moving = np.broadcast_to(clip.skeleton.offsets, (70, 22, 3)).copy()
    moving[:, 5, 0] += 0.003 * np.sin(np.arange(70))
    stretching = replace(clip, translations=moving)
    with pytest.raises(ValueError, match="copied from the truth"):
        make_windows([stretching])
    windows = make_windows([constant_bones(stretching)])
    places = evaluation.world(windows, BASELINES["SLERP"](windows, 15)).positions
    lengths = np.linalg.norm(places[:, :, 5] - places[:, :, 0], axis=-1)
    assert np.ptp(lengths) < 1e-9


def test_pitfall_14_times_in_single_precision():
    """The released easing differs, by less than the tolerance of 1e-6 that agreement is asked for with."""
    windows, std = make_windows([random_clip(185, 0)]), np.full((22, 3), 10.0)
    both = {"f64": BASELINES["SLERP-Q"], "f32": pitfalls.slerp_q_single_precision}
    scores = evaluation.score_windows(windows, std, systems=both)
    for length in (5, 15, 30, 45):
        a, b = scores["f64", length].l2p.mean(), scores["f32", length].l2p.mean()
        assert a == pytest.approx(b, rel=1e-6)
    assert scores["f64", 30].l2p.mean() != scores["f32", 30].l2p.mean()


def test_pitfall_15_every_joint_has_its_own_order(tmp_path):
    """Two joints with different channel orders and a root that lists rotations first, against rotations by hand."""
    text = """HIERARCHY
ROOT a
{
 OFFSET 0 0 0
 CHANNELS 6 Zrotation Yrotation Xrotation Xposition Yposition Zposition
 JOINT b
 {
  OFFSET 0 1 0
  CHANNELS 3 Yrotation Xrotation Zrotation
  End Site
  {
   OFFSET 0 1 0
  }
 }
}
MOTION
Frames: 1
Frame Time: 0.033333
10 20 30\t1e0 2 3 40  50 60
"""
    (tmp_path / "mixed.bvh").write_text(text)
    clip = read_bvh(tmp_path / "mixed.bvh", metres_per_unit=1.0, positions="replace", up="Y")
    expected = [rot.from_euler(np.deg2rad([10, 20, 30]), "ZYX"), rot.from_euler(np.deg2rad([40, 50, 60]), "YXZ")]
    assert rot.angle_between(clip.rotations[0], expected).max() < 1e-9
    assert np.allclose(clip.root_positions[0], [1, 2, 3])


def test_pitfall_16_subject_fifty():
    """Read as 40, every person is tested once over the folds; as printed, somebody who does not exist."""
    folds, notes = published_folds()
    tested = sorted(s for fold in folds for s in fold.test)
    assert tested == [f"{i:02d}" for i in range(50)] and len(notes) == 1
    printed, _ = published_folds(correct=False)
    assert "50" in printed[2].test and "40" not in {*printed[2].train, *printed[2].validation, *printed[2].test}


def test_pitfall_17_impossible_cells():
    """Of SLERP-Q's cells in three tables, those at 5 frames of Table 5 (and L2Q at 15) lie above the bound.

    On windows of our own the bound holds at every length.
    """
    above = set()
    for table in ("staystill_table1", "staystill_table5", "staystill_table6"):
        cells = published_item(table).cells
        for metric in ("L2P", "L2Q"):
            for length in (5, 15, 30, 45):
                zero, line, eased = (
                    float(cells[row, f"{metric}@{length}"].printed) for row in ("0-velocity", "SLERP", "SLERP-Q")
                )
                # half of the last printed digit in each of the three
                if eased - 0.0005 > pitfalls.easing_bound(zero + 0.0005, line + 0.0005, length):
                    above.add((table, metric, length))
    assert above == {("staystill_table5", "L2P", 5), ("staystill_table5", "L2Q", 5), ("staystill_table5", "L2Q", 15)}
    windows, std = make_windows([random_clip(400, 3)]), np.full((22, 3), 10.0)
    scores = evaluation.score_windows(windows, std)
    for length in (5, 15, 30, 45):
        zero, line, eased = (scores[s, length].l2p.mean() for s in ("0-velocity", "SLERP", "SLERP-Q"))
        assert eased <= 1.02 * pitfalls.easing_bound(zero, line, length)


def test_pitfall_18_one_set_of_statistics(tmp_path):
    """Both stages read the statistics that the predictor holds; its file brings them back, whatever lies beside it."""
    pytest.importorskip("safetensors")
    pytest.importorskip("torch")
    from motionbook.inbetweening import two_stage_training
    from motionbook.inbetweening.motion_tensors import feature_statistics

    windows = make_windows([random_clip(150, 1)])
    own, other = (feature_statistics([random_clip(150, seed)]) for seed in (0, 5))
    network = small_network(own)
    two_stage_training.save(network, tmp_path / "p.safetensors")
    back = two_stage_training.load(tmp_path / "p.safetensors")
    assert np.array_equal(back.statistics.std, own.std)
    assert np.array_equal(back(windows, 15).rotations, network(windows, 15).rotations)
    assert not np.allclose(replace(network, statistics=other)(windows, 15).rotations, network(windows, 15).rotations)
