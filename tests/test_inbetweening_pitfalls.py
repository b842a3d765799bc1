"""The eighteen pitfalls, one test each: the fault as it was released, and what stands in its place."""

import importlib
import inspect
import re
from copy import deepcopy
from dataclasses import replace
from itertools import count as counted
from types import SimpleNamespace

import numpy as np
import pytest
from test_inbetweening_evaluation import FOLDS, people
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.bvh import read_bvh
from motionbook.data.layouts import open_dataset
from motionbook.data.names import staystill_name
from motionbook.data.published import published_item
from motionbook.data.splits import dataset_folds, published_folds
from motionbook.inbetweening import evaluation, metrics, pitfall_effects, pitfalls
from motionbook.inbetweening.baselines import BASELINES, LocalPose, slerp
from motionbook.inbetweening.cubic import EXTRA_BASELINES
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import STATISTICS, heading_turn, make_windows, window_starts


def frozen_toes(frames: int = 150, seed: int = 0):
    clip = random_clip(frames, seed)
    rotations = clip.rotations.copy()
    rotations[:, [4, 8]] = [1.0, 0.0, 0.0, 0.0]
    return replace(clip, rotations=rotations)


def small_network(statistics, single: bool = False, **options):
    """A two-stage predictor with random weights, in float64 or (single) in float32."""
    torch = pytest.importorskip("torch")
    from motionbook.inbetweening.networks import ContextNetwork, DetailNetwork, NetworkConfig
    from motionbook.inbetweening.two_stage import TwoStage

    torch.manual_seed(0)
    config = NetworkConfig.small(16, 1, 2)
    networks = (kind(config).to(torch.float32 if single else torch.float64) for kind in (ContextNetwork, DetailNetwork))
    return TwoStage(*(n.eval() for n in networks), statistics, **options)


def turned(windows, turn):
    """Windows whose people are turned by ``turn`` (windows, 4), about the origin."""
    rotations = windows.rotations.copy()
    rotations[:, :, 0] = rot.multiply(turn[:, None], rotations[:, :, 0])
    return replace(windows, rotations=rotations, root_positions=rot.rotate(turn[:, None], windows.root_positions))


def turning_far(clip):
    """An arm turned by 270 degrees from frame 9 to 55, which interpolation turns the other way: the same pose at the
    end, the other sign."""
    rotations = clip.rotations.copy()
    angle = np.clip((np.arange(len(clip)) - 9) / 46, 0, 1) * 1.5 * np.pi
    rotations[:, 15] = rot.from_axis_angle([0.0, 0.0, 1.0], angle)
    return replace(clip, rotations=rotations)


def trained(monkeypatch, **options):
    """A tiny training run whose first validated state of each stage counts as the best, and what was seen during it."""
    torch = pytest.importorskip("torch")
    from test_inbetweening_training import tiny

    from motionbook.inbetweening import two_stage_training

    losses, seen, order = (
        two_stage_training.detail_losses,
        SimpleNamespace(below=[], scales=[], validated=[]),
        counted(),
    )

    def watched(network, context, truth, scale, *rest):
        seen.below.append(deepcopy(context.state_dict()))
        seen.scales.append(scale)
        return losses(network, context, truth, scale, *rest)

    def score(predictor):
        seen.validated.append(predictor)
        return {"score": float(next(order))}

    with monkeypatch.context() as patched:
        patched.setattr(two_stage_training, "detail_losses", watched)
        patched.setattr(two_stage_training, "_validation", lambda *_: score)
        config = replace(tiny(validate_every=2), **options)
        run = two_stage_training.train(config, people()[:2], people()[2:3], steps=(4, 2), seed=3)
    same = {k: all(torch.equal(w, run.context.last[n]) for n, w in s.items()) for k, s in enumerate(seen.below)}
    return run, seen, set(same.values())


def test_the_table_is_complete():
    """Eighteen rows in order, six of them kept; every function and argument that a row names exists."""
    pytest.importorskip("torch")
    table = pitfalls.pitfalls_table()
    assert list(table.index) == list(range(1, 19)) and set(table.status) == {"fixed", "kept"}
    assert list(table.index[table.status == "kept"]) == [3, 4, 10, 11, 12, 17]
    assert list(table.index[table.switch.str.startswith("none")]) == [9, 10, 15, 17]
    assert (table.map(len) > 3).all(axis=None)
    found = 0
    for row in pitfalls.PITFALLS:
        for name, arguments in re.findall(r"([a-z_]+(?:\.\w+)+)(?:\(([^)]*)\))?", f"{row.switch}; {row.here}"):
            *modules, last = name.split(".")
            if modules[-1] == "TwoStage":
                modules, last = modules[:-1], f"TwoStage.{last}"
            near = "" if modules[0] in ("data", "kinematics") else "inbetweening."
            target = importlib.import_module(f"motionbook.{near}{'.'.join(modules)}")
            for part in last.split("."):
                target = getattr(target, part)
            assert set(re.findall(r"(\w+)=", arguments)) <= set(inspect.signature(target).parameters), row.number
            found += 1
    assert found == 17


def test_pitfall_01_joints_that_never_turn():
    """Frozen toes give finite features and poses; without the smallest deviation they divide by zero.

    Toes that only tremble stay small too, and nothing else changes its deviation.
    """
    pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import feature_statistics, features

    clip = frozen_toes()
    windows = make_windows([clip], centre="start")
    x = features(windows.root_positions, windows.rotations)
    ours, released = feature_statistics([clip]), feature_statistics([clip], smallest=0.0)
    frozen = released.std < 1e-3
    assert np.isfinite((x - ours.mean) / ours.std).all() and (released.std == 0).sum() >= 4 and frozen.sum() == 12
    assert (ours.std[frozen] == 1e-3).all() and np.array_equal(ours.std[~frozen], released.std[~frozen])
    with np.errstate(invalid="ignore", divide="ignore"):
        assert not np.isfinite((x - released.mean) / released.std).all()
        broken = small_network(released).fill(x, 15)
    assert np.isfinite(small_network(ours).fill(x, 15).numpy()).all() and np.isnan(broken.numpy()).any()


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_pitfall_02_batches_of_three(count):
    """Each window has its own heading, in scores, before a network and in training.

    The released product is right for 1, 2 and 4 windows; 3 it leaves as they are or turns by half, which changes L2P
    and NPSS, and L2Q not at all.
    """
    roots = rot.random_rotations((count,), np.random.default_rng(4))
    each = np.array([pitfalls.released_turn(r[None])[0] for r in roots])
    assert rot.angle_between(heading_turn(roots), each).max() < 1e-9
    released = pitfalls.released_turn(roots)
    if count == 3:
        assert rot.angle_between(released, each).max() > 0.1
        assert np.isclose(np.abs(released[:, [0, 2]]).max(axis=1), 1.0).all()  # no turn, or half a turn about +Y
    else:
        assert rot.angle_between(released, each).max() < 1e-9

    clips = [random_clip(65, seed) for seed in range(count)]
    windows = make_windows(clips)
    apart = turned(windows, rot.from_axis_angle([0.0, 1.0, 0.0], np.array([0.4, 2.0, -1.0, 3.0])[:count]))
    other = turned(apart, pitfalls.released_turn(apart.rotations[:, 9, 0]))
    std = np.broadcast_to([40.0, 20.0, 10.0], (22, 3))
    a, b = (evaluation.score_windows(w, std, [30], {"": slerp})["", 30] for w in (windows, other))
    assert np.allclose(a.l2p, b.l2p, rtol=1e-9) == (count != 3) and np.allclose(a.l2q, b.l2q, rtol=1e-9)
    assert np.allclose(a.npss_distance, b.npss_distance, rtol=1e-6) == (count != 3)

    pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import feature_statistics, start_centred
    from motionbook.inbetweening.training_batches import TrainingWindows

    batch = TrainingWindows(clips, feature_statistics(clips), 65).batch(range(count))
    ahead = [0.0, 1.0, 0.0]
    for forward in (
        rot.rotate(windows.rotations[:, 9, 0], ahead),
        rot.rotate(start_centred(apart)[1][:, 9, 0], ahead),
        batch.columns[1, :, 0, :, 9].numpy().T,
    ):
        assert np.allclose(forward[:, 2], 0.0, atol=1e-5) and (forward[:, 0] > 0).all()


def test_pitfall_03_signs_of_truth_and_prediction():
    """A prediction that is right up to its sign costs nothing when aligned and 2 per joint and frame as published."""
    truth = metrics.continuous_signs(make_windows([random_clip(65, 0)]).rotations)[:, 10:25]
    guess = truth.copy()
    guess[:, :, 3] *= -1
    assert metrics.l2q(truth, guess) == pytest.approx(2.0) and metrics.l2q(truth, guess, aligned=True) == 0.0
    windows, std = make_windows([turning_far(random_clip(65, 1))]), np.ones((22, 3))
    plain, aligned = (evaluation.score_windows(windows, std, [45], aligned=a)["SLERP", 45] for a in (False, True))
    assert aligned.l2q < plain.l2q - 0.1
    assert plain.l2p == aligned.l2p and plain.npss_distance == aligned.npss_distance
    assert evaluation.score_windows(windows, std, [45])["SLERP", 45].l2q == plain.l2q
    fold = evaluation.FoldWindows(1, windows, std, ("00",))
    for options, expected in (({}, plain), ({"aligned": False}, plain), ({"aligned": True}, aligned)):
        assert evaluation.window_scores([fold], [45], {"SLERP": slerp}, **options).l2q.tolist() == expected.l2q.tolist()


def expected_npss(truth, prediction, power) -> float:
    """NPSS written out for a function that gives the power of each frequency."""
    x, y = power(truth), power(prediction)
    totals = x.sum(axis=1)
    gap = np.cumsum(y / y.sum(axis=1, keepdims=True), axis=1) - np.cumsum(x / totals[:, None], axis=1)
    return (np.abs(gap).sum(axis=1) * totals).sum() / totals.sum()


def whole_npss(scores) -> float:
    return scores.npss_distance.sum() / scores.npss_power.sum()


def test_pitfall_04_power_or_squared_real_part():
    """The extras against NumPy's whole and one-sided transforms; the default is the published real part, everywhere."""
    a, b = np.random.default_rng(0).standard_normal((2, 4, 15, 3, 4))
    forms = {
        "real part": lambda q: np.real(np.fft.fft(q, axis=1)) ** 2,
        "power": lambda q: np.abs(np.fft.fft(q, axis=1)) ** 2,
        "one-sided": lambda q: np.abs(np.fft.rfft(q, axis=1)) ** 2,
    }
    values = {name: metrics.npss(a, b, spectrum=name) for name in forms}
    assert tuple(forms) == metrics.SPECTRA and metrics.npss(a, b) == values["real part"]
    for name, power in forms.items():
        assert values[name] == pytest.approx(expected_npss(a, b, power), rel=1e-10)
    assert len({round(v, 6) for v in values.values()}) == 3
    terms = metrics.npss_terms(a, b)
    assert terms.distance.sum() / terms.power.sum() == pytest.approx(values["real part"])
    spectra = metrics.normalised_spectrum(a), metrics.normalised_spectrum(b)
    assert np.array_equal(metrics.spectral_distance(*spectra).distance, terms.distance)
    with pytest.raises(KeyError, match="real part, power, one-sided"):
        metrics.npss(a, b, spectrum="modulus")
    # through the benchmark's doors, against signs and transforms of its own
    fold = evaluation.fold_windows(people(), "idle", FOLDS)[0]
    windows, made = fold.windows, slerp(fold.windows, 15)
    truth = metrics.continuous_signs(
        evaluation.world(windows, LocalPose(windows.root_positions[:, :25], windows.rotations[:, :25])).rotations
    )
    guess = np.concatenate([truth[:, :10], evaluation.world(windows, made).rotations], axis=1)
    guess = metrics.continuous_signs(guess)[:, 10:]
    for name, power in forms.items():
        expected = pytest.approx(expected_npss(truth[:, 10:], guess, power), rel=1e-9)
        asked = {"spectrum": name}
        for options in (asked, {}) if name == "real part" else (asked,):
            assert whole_npss(evaluation.window_scores([fold], [15], {"": slerp}, **options)) == expected
            assert (
                whole_npss(evaluation.score_windows(windows, fold.std, [15], {"": slerp}, **options)["", 15])
                == expected
            )


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
    large = rot.random_rotations((50,), np.random.default_rng(0))
    assert rot.angle_between(pitfalls.single_precision(large).astype(float), large).max() < 2e-3


def test_pitfall_05_every_metric_in_double_precision():
    """Errors of 1e-6 cm and 1e-7 radians, which float32 cannot hold, are scored to four digits and more.

    A network in float32 hands over float64, made so before anything is computed from its output.
    """
    windows = make_windows([random_clip(150, 0)])
    assert np.array_equal(np.abs(metrics.continuous_signs(windows.rotations)), np.abs(windows.rotations))

    def truth(windows, length, moved=0.0, turn=0.0):
        gap = slice(10, 10 + length)
        rotations = windows.rotations[:, gap].copy()
        rotations[:, :, 0] = rot.multiply(rot.from_axis_angle([0.0, 1.0, 0.0], turn), rotations[:, :, 0])
        return LocalPose(windows.root_positions[:, gap] + [0.0, moved, 0.0], rotations)

    systems = {
        "moved": lambda w, length: truth(w, length, moved=1e-6),
        "turned": lambda w, length: truth(w, length, turn=1e-7),
        "single": lambda w, length: LocalPose(*(p.astype(np.float32) for p in truth(w, length))),
        "double": lambda w, length: LocalPose(*(p.astype(np.float32).astype(float) for p in truth(w, length))),
    }
    found = evaluation.score_windows(windows, np.ones((22, 3)), [15], systems)
    assert found["moved", 15].l2p == pytest.approx(1e-6 * 22**0.5, rel=1e-4) and (found["moved", 15].l2q == 0).all()
    assert found["turned", 15].l2q == pytest.approx(0.5e-7 * 22**0.5, rel=1e-4)
    assert 0 < whole_npss(found["turned", 15]) < 1e-6
    for a, b in zip(found["single", 15], found["double", 15], strict=True):
        assert a.dtype == np.float64 and np.array_equal(a, b)
    a, b = windows.rotations[:, 10:25], slerp(windows, 15).rotations
    real = expected_npss(a, b, lambda q: np.real(np.fft.fft(q, axis=1)) ** 2)
    assert metrics.npss(a, b) == pytest.approx(real, rel=1e-10)
    a, b = a.astype(np.float32), b.astype(np.float32)
    assert metrics.npss(a, b) == metrics.npss(a.astype(float), b.astype(float))

    torch = pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import columns_of, feature_statistics, features, orthonormal

    network = small_network(feature_statistics([random_clip(150, 0)]), single=True)
    windows = make_windows([random_clip(150, 0)], centre="start")
    made = network.fill(features(windows.root_positions, windows.rotations), 15)
    predicted = network(windows, 15)
    columns = orthonormal(columns_of(made)).permute(3, 4, 2, 1, 0).numpy()
    assert made.dtype == torch.float64 and predicted.root_positions.dtype == predicted.rotations.dtype == np.float64
    assert np.abs(rot.to_matrix(predicted.rotations)[..., :2] - columns).max() < 1e-10


def test_pitfall_06_the_first_folds_scale():
    """Each fold its own scale, and networks its own statistics, in whichever order folds are asked for.

    The first fold's scale in all of them changes L2P of the others and nothing else.
    """
    folds = evaluation.fold_windows(people(), "idle", FOLDS)
    own = [make_windows([r.clip for r in people()[:4] if r.subject in fold["train"]], *STATISTICS) for fold in FOLDS]
    for windows, one, again in zip(
        own, folds, evaluation.fold_windows(people(), "idle", FOLDS[::-1])[::-1], strict=True
    ):
        places = evaluation.world(windows, LocalPose(windows.root_positions, windows.rotations)).positions
        assert np.allclose(one.std, places.reshape(-1, 22, 3).std(axis=0)) and np.array_equal(one.std, again.std)
    ours, cached = (evaluation.window_scores(f) for f in (folds, pitfalls.with_first_scale(folds)))
    first = ours.fold == 1
    assert np.array_equal(ours.l2p[first], cached.l2p[first])
    ratio = cached.l2p[~first].mean() / ours.l2p[~first].mean()
    assert abs(ratio - 1) > 0.3 and np.array_equal(ours.l2q, cached.l2q)

    pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import feature_statistics, features

    for fold in FOLDS:
        clips = [r.clip for r in people()[:4] if r.subject in fold["train"]]
        windows = make_windows(clips, *STATISTICS, centre="start")
        x = features(windows.root_positions, windows.rotations).reshape(-1, 135)
        found = feature_statistics(clips)
        assert np.allclose(found.mean, x.mean(axis=0)) and np.allclose(found.std, np.maximum(x.std(axis=0), 1e-3))


def test_pitfall_07_clips_shorter_than_a_window():
    """185 and 30 frames, windows of 41: 145 windows, released count 135; 30 frames and 65/40: none, released one."""
    assert [len(window_starts(n, 41, 1)) for n in (185, 30)] == [145, 0]
    assert sum(pitfalls.released_window_count(n, 41, 1) for n in (185, 30)) == 135
    assert pitfalls.released_window_count(30, 65, 40) == 1 and len(window_starts(30, 65, 40)) == 0
    assert len(make_windows([random_clip(185, 0), random_clip(30, 1)], 41, 1)) == 145
    for frames in range(65, 400):
        assert len(window_starts(frames, 65, 40)) == pitfalls.released_window_count(frames, 65, 40)
    assert len(window_starts(185, 65, 40, strict=True)) == len(window_starts(185, 65, 40)) - 1
    # frames of which each gives a window less when counted strictly
    recordings = people((145, 185, 105, 225))
    assert len(make_windows([recordings[0].clip], strict=True)) == len(make_windows([recordings[0].clip])) - 1 == 2
    counts = [
        [len(f.windows) for f in evaluation.fold_windows(recordings, "idle", FOLDS, strict=s)] for s in (False, True)
    ]
    assert counts == [[2 + 5, 3 + 4], [1 + 4, 2 + 3]]

    pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import feature_statistics
    from motionbook.inbetweening.training_batches import TrainingWindows

    # no training window runs from one clip into the next, and none is out of reach
    clips = [random_clip(n, seed) for seed, n in enumerate((185, 30, 60))]
    data = TrainingWindows(clips, feature_statistics(clips), 41)
    wanted = make_windows(clips, 41, 1, centre="start")
    assert len(data) == len(wanted) == 145 + 0 + 20
    found = data.batch(range(len(data))).places.numpy()[:, 0]
    assert np.abs(found - np.moveaxis(wanted.root_positions, -1, 0)).max() < 1e-3


def test_pitfall_08_slices_are_not_people(tmp_path):
    """A slice's name still says who moves in it, in either order of names; released, the person is the slice.

    ``subject_pattern`` is the way back. No person may be in two parts of any fold.
    """
    for stem in ("00_idle_2", "idle_00_2", "00_idle", "idle_00", "0_idle", "00_l_up_1_2", "l_up_1_00_2", "l_up_00_2"):
        assert staystill_name(stem).subject == "00", stem
    assert "00_idle_2".rsplit("_", 1)[1] == "2"
    for name in ("idle_00_1", "idle_00_2", "idle_01_1"):
        (tmp_path / f"{name}.bvh").write_text("HIERARCHY\nROOT Hips\n{\n}\nMOTION\n")
    assert open_dataset(tmp_path).subjects == ("00", "01")
    assert open_dataset(tmp_path, subject_pattern=r"_(?P<subject>\d+)\.bvh$").subjects == ("1", "2")
    with pytest.raises(ValueError, match="fold 1: 01"):
        evaluation.evaluate(people(), "idle", [{"train": ["00", "01"], "test": ["01", "02"]}])
    shared = (
        {"train": ["00", "01"], "test": ["01", "02"]},
        {"train": ["00", "01"], "validation": ["03"], "test": ["01", "02"]},
        {"train": ["00"], "validation": ["01"], "test": ["01", "02"]},
        {"train": ["00", "01"], "validation": ["01"], "test": ["02"]},
    )
    for fold in shared:
        with pytest.raises(ValueError, match="fold 3: 01"):
            evaluation.fold_windows(people(), "idle", [*FOLDS, fold])


def test_pitfall_09_no_frame_is_lost_between_slices(tmp_path):
    """Slices and bad frames add up to the clip; ranges in files include their ends, and come back the same."""
    from motionbook.cleaning.annotations import read_annotations
    from motionbook.cleaning.fault_records import COLUMNS, cut_rows, widened
    from motionbook.cleaning.faults import cut_faults, listed_faults
    from motionbook.cleaning.segmentation import segment

    clip = random_clip(400, 0)
    faults = listed_faults(clip, [(100, 129), (250, 250)])
    assert faults.kept == ((0, 100), (130, 250), (251, 400)) and faults.removed == 31
    slices = cut_faults(clip, faults)
    assert [len(s) for s in slices] == [100, 120, 149] and sum(map(len, slices)) + faults.removed == len(clip)
    whole = np.concatenate([s.root_positions for s in slices])
    assert np.array_equal(whole, np.delete(clip.root_positions, [*range(100, 130), 250], axis=0))
    # written down and read again
    rows = cut_rows("idle_00", faults)
    assert [[row[name] for name in COLUMNS[1:]] for row in rows] == [[100, 129], [250, 250]]
    lines = [",".join(COLUMNS), *(",".join(str(row[name]) for name in COLUMNS) for row in rows)]
    (tmp_path / "cuts.csv").write_text("\n".join(lines) + "\n")
    assert listed_faults(clip, read_annotations(tmp_path / "cuts.csv")["00", "idle"]).kept == faults.kept
    # a bad frame takes as many with it after as before
    bad = np.zeros(400, dtype=bool)
    bad[200] = True
    assert np.flatnonzero(widened(bad, 10)).tolist() == list(range(190, 211))
    # takes of a session
    (tmp_path / "takes.csv").write_text("clip,from,to,label\n00_session,0,99,idle\n00_session,100,399,phone\n")
    takes = segment({"00_session": clip}, tmp_path / "takes.csv")
    assert [len(c) for c in takes.clips] == [100, 300]


def test_pitfall_10_contact_looks_ahead():
    """A foot that lands between frames 4 and 5 is in contact from frame 5 on; the last frame repeats.

    In the network's loss it is multiplied with the step to its frame, in the panel of measures with the step from it.
    """
    torch = pytest.importorskip("torch")
    from motionbook.inbetweening.losses import Truth, gap_losses
    from motionbook.inbetweening.motion_panels import motion_panel
    from motionbook.inbetweening.motion_tensors import Statistics, columns_of, features, foot_contacts
    from motionbook.inbetweening.two_stage import Scale
    from motionbook.kinematics import world_pose

    clip = random_clip(10, 0)
    root = np.zeros((10, 3))
    root[:5, 0] = 0.01 * np.arange(5)
    root[5:, 0] = 0.05
    still = replace(clip, rotations=clip.rotations[[0] * 10], root_positions=root)
    assert foot_contacts(still).astype(int).tolist() == [[0] * 4] * 5 + [[1] * 4] * 5
    lifting = replace(still, root_positions=root[::-1])
    assert foot_contacts(lifting).astype(int).tolist() == [[1] * 4] * 4 + [[0] * 4] * 6
    # by so many centimetres the whole body moves from frame 9 to 10, 10 to 11 and so on
    steps = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    places = np.zeros((1, 16, 3))
    places[0, 10:, 1] = np.cumsum(steps)
    rotations = np.tile(clip.rotations[:1], (1, 16, 1, 1))
    x = torch.as_tensor(features(places, rotations))
    world = world_pose(clip.skeleton, places, rotations, 100.0 * clip.skeleton.offsets).positions
    bones = torch.as_tensor(100.0 * clip.skeleton.offsets)[None]
    contacts = torch.zeros((1, 16, 4), dtype=torch.float64)
    contacts[:, 12] = 1.0
    truth = Truth(x, columns_of(x), torch.as_tensor(world).permute(3, 2, 0, 1), bones, contacts)
    logits = torch.where(contacts[:, 10:15] > 0, 100.0, -100.0)
    found = gap_losses(
        torch.cat([x[:, 10:15], logits], dim=-1), truth, Scale(Statistics(np.zeros(135), np.ones(135)), x)
    )
    assert float(found["contact"]) < 1e-12
    assert float(found["foot"]) == pytest.approx(steps[2] / (5 * 3))  # from 11 to 12, of five steps and three axes
    # a body that slides by 1 mm in one step and by 1 cm in the next, at 30 frames per second
    sliding = replace(still, root_positions=np.cumsum([[0.001, 0, 0], [0.01, 0, 0]] * 5, axis=0))
    assert motion_panel({"GT": [sliding]}).foot_skate_cm_s.tolist() == pytest.approx([3.0])


def test_pitfall_11_which_state_the_second_stage_is_trained_on(monkeypatch):
    """Published: the last one; the best one by a switch; nothing else is taken. The predictor holds the best."""
    torch = pytest.importorskip("torch")
    from motionbook.inbetweening.two_stage_training import TwoStageConfig

    assert TwoStageConfig().detail_on == "last" and TwoStageConfig.small().detail_on == "best"
    with pytest.raises(ValueError, match='"last" or "best"'):
        TwoStageConfig(detail_on="first")
    for options, on_last in (({}, True), ({"detail_on": "last"}, True), ({"detail_on": "best"}, False)):
        run, seen, was_last = trained(monkeypatch, **options)
        assert run.context.best_step == 2 and was_last == {on_last}
        best = run.context.network.state_dict()
        assert not all(torch.equal(w, run.context.last[n]) for n, w in best.items())
        for other in (run.predictor.context.state_dict(), *([] if on_last else seen.below)):
            assert all(torch.equal(w, other[n]) for n, w in best.items())


def noise_after_the_target(windows, transition):
    other = make_windows([random_clip(65, 77)] * len(windows))
    rotations, root = windows.rotations.copy(), windows.root_positions.copy()
    later = slice(10 + transition + 1, None)
    rotations[:, later], root[:, later] = other.rotations[:, later], other.root_positions[:, later]
    return replace(windows, rotations=rotations, root_positions=root)


def test_pitfall_12_nothing_after_the_target_is_read(tmp_path, monkeypatch):
    """Not by interpolation, the cubic, learned systems or a reader's questions; by the two-stage network only as
    published, not with keys_only(), and when trained without it, neither in training nor afterwards."""
    from motionbook.inbetweening.kriging import kriging_learner
    from motionbook.inbetweening.own_predictions import write_questions
    from motionbook.inbetweening.residual import features
    from motionbook.inbetweening.ridge import ridge_learner

    windows = make_windows([random_clip(150, 0)])
    hidden = noise_after_the_target(windows, 15)
    assert not np.allclose(windows.rotations[:, 26], hidden.rotations[:, 26])

    def same(predict) -> bool:
        return all(np.array_equal(a, b) for a, b in zip(predict(windows, 15), predict(hidden, 15), strict=True))

    learned = [learner(people()[:2], people()[2:3], seed=0) for learner in (kriging_learner(15), ridge_learner())]
    for predict in (*BASELINES.values(), *EXTRA_BASELINES.values(), *learned):
        assert same(predict)
    assert np.array_equal(features(windows, 15), features(hidden, 15))
    asked = []
    for name, shown in (("plain", windows), ("hidden", hidden)):
        fold = evaluation.FoldWindows(1, shown, np.ones((22, 3)), ("00",) * len(shown))
        with np.load(write_questions(tmp_path / name, [fold], [15])[0]) as file:
            asked.append({key: file[key] for key in file})
    assert all(np.array_equal(value, asked[1][key]) for key, value in asked[0].items())

    torch = pytest.importorskip("torch")
    from motionbook.inbetweening import two_stage_training
    from motionbook.inbetweening.delta import DeltaConfig, DeltaNetwork, DeltaPredictor
    from motionbook.inbetweening.flow import FlowConfig
    from motionbook.inbetweening.flow_training import flow_learner
    from motionbook.inbetweening.kriging import gap_moments
    from motionbook.inbetweening.motion_tensors import feature_statistics
    from motionbook.inbetweening.perceptron import perceptron_learner
    from motionbook.inbetweening.training_batches import TrainingWindows

    config = DeltaConfig(width=16, layers=1, heads=2, waves=4)
    delta = DeltaNetwork(config)
    torch.nn.init.normal_(delta.out.weight)
    assert same(DeltaPredictor(config, gap_moments(people()[:2], 15), [delta]))
    flow = FlowConfig(waves=6, components=12, width=32, blocks=1, seen=16, steps=2, batch=64, offset=5)
    for learner in (flow_learner(flow), perceptron_learner(2)):
        assert same(learner(people()[:2], people()[2:3], seed=0))

    statistics = feature_statistics([random_clip(150, 0)])
    network = small_network(statistics)
    for a, b in zip(network(windows, 15), network(hidden, 15), strict=True):
        assert not np.allclose(a, b)
    assert same(network.keys_only()) and same(replace(network, detail=None))
    for options in ({"shift_context": True, "detail": None}, {"shift_detail": True}):
        assert not same(replace(network, **options)) and same(replace(network, **options).keys_only())
    # in training
    data = TrainingWindows([random_clip(150, 0)], statistics, 42, dtype=torch.float64)
    truth = data.batch(range(4))
    noisy = truth._replace(z=truth.z.clone())
    noisy.z[:, 26:] += 1.0
    for after_target in (True, False):
        losses = [
            two_stage_training.detail_losses(network.detail, network.context, t, data.scale, 15, (), after_target)
            for t in (truth, noisy)
        ]
        assert bool(losses[0]["position"] == losses[1]["position"]) != after_target
    for after_target in (True, False):
        run, _, _ = trained(monkeypatch, after_target=after_target)
        assert run.predictor.after_target == after_target and same(run.predictor) != after_target


def test_pitfall_13_bones_are_not_copied_from_the_truth():
    """Clips whose bones move are refused; resolved, every prediction has the bones of its own person, of one length."""
    from motionbook.inbetweening.generator import generate
    from motionbook.kinematics import constant_bones

    clip = random_clip(70, 2)
    moving = np.broadcast_to(1.1 * clip.skeleton.offsets, (70, 22, 3)).copy()
    moving[:, 5, 0] += 0.003 * np.sin(np.arange(70))
    stretching = replace(clip, translations=moving)
    with pytest.raises(ValueError, match=r"clip 1: .*copied from the truth"):
        make_windows([clip, stretching])
    with pytest.raises(ValueError, match="constant_bones"):
        generate(stretching, "SLERP", 56)
    windows = make_windows([clip, constant_bones(stretching)])
    places = evaluation.world(windows, BASELINES["SLERP"](windows, 15)).positions
    parents = list(clip.skeleton.parents[1:])
    lengths = np.linalg.norm(places[:, :, 1:] - places[:, :, parents], axis=-1)
    median = np.stack([clip.skeleton.offsets, np.median(moving, axis=0)])[:, 1:]
    assert np.abs(lengths - 100.0 * np.linalg.norm(median, axis=-1)[:, None]).max() < 1e-9


def test_pitfall_14_times_in_single_precision():
    """The released easing differs, by less than the tolerance of 1e-6 that agreement is asked for with.

    Ours has the times of arithmetic without NumPy to the last bits, in the benchmark and in the generator.
    """
    from motionbook.inbetweening.generator import generate

    windows, std = make_windows([random_clip(185, 0)]), np.full((22, 3), 10.0)
    both = {"f64": BASELINES["SLERP-Q"], "f32": pitfalls.slerp_q_single_precision}
    scores = evaluation.score_windows(windows, std, systems=both)
    for length in (5, 15, 30, 45):
        a, b = scores["f64", length].l2p.mean(), scores["f32", length].l2p.mean()
        assert a == pytest.approx(b, rel=1e-6)
    assert scores["f64", 30].l2p.mean() != scores["f32", 30].l2p.mean()
    times = [i / 46 for i in range(1, 46)]
    eased = np.array([2 * t * t if t < 0.5 else 1 - 2 * (1 - t) * (1 - t) for t in times])[:, None]
    clip = random_clip(56, 1)
    for place, made in (
        (windows.root_positions[0], BASELINES["SLERP-Q"](windows, 45).root_positions[0]),
        (clip.root_positions, generate(clip, "SLERP-Q", 55).root_positions[10:]),
    ):
        expected = place[9] + eased * (place[55] - place[9])
        assert np.abs(made - expected).max() < 1e-12


def test_pitfall_15_every_joint_has_its_own_order(tmp_path):
    """Three joints with different orders of channels, and a root that lists rotations first and its places as z, x, y,
    against rotations by hand; numbers with exponents, between tabs and several spaces."""
    text = """HIERARCHY
ROOT a
{
 OFFSET 0 0 0
 CHANNELS 6 Zrotation Yrotation Xrotation Zposition Xposition Yposition
 JOINT b
 {
  OFFSET 0 1 0
  CHANNELS 3 Yrotation Xrotation Zrotation
  JOINT c
  {
   OFFSET 0 1 0
   CHANNELS 3 Xrotation Zrotation Yrotation
   End Site
   {
    OFFSET 0 1 0
   }
  }
 }
}
MOTION
Frames: 1
Frame Time: 0.033333
10 20 30\t3E0 1e0 2 40  50 60 7.0E+1\t\t80 15
"""
    (tmp_path / "mixed.bvh").write_text(text)
    clip = read_bvh(tmp_path / "mixed.bvh", metres_per_unit=1.0, positions="replace", up="Y")
    turns = (([10, 20, 30], "ZYX"), ([40, 50, 60], "YXZ"), ([70, 80, 15], "XZY"))
    expected = [rot.from_euler(np.deg2rad(angles), order) for angles, order in turns]
    assert rot.angle_between(clip.rotations[0], expected).max() < 1e-9
    assert np.allclose(clip.root_positions[0], [1, 2, 3])


def test_pitfall_16_subject_fifty(tmp_path):
    """Read as 40, every person is tested once over the folds and in each of them; as printed, somebody who does not
    exist. The data set of all fifty gets the folds as read."""
    folds, notes = published_folds()
    everybody = [f"{i:02d}" for i in range(50)]
    assert sorted(s for fold in folds for s in fold.test) == everybody and len(notes) == 1
    for fold in folds:
        assert sorted([*fold.train, *fold.validation, *fold.test]) == everybody
    printed, _ = published_folds(correct=False)
    assert "50" in printed[2].test and "40" not in {*printed[2].train, *printed[2].validation, *printed[2].test}
    assert printed[:2] == folds[:2] and printed[3:] == folds[3:]
    assert set(folds[2].test) - set(printed[2].test) == {"40"}
    for subject in everybody:
        path = tmp_path / "lafan" / "idle" / f"{subject}_idle.bvh"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("HIERARCHY\nROOT Hips\n{\n}\nMOTION\n")
    assert dataset_folds(open_dataset(tmp_path))[0] == folds


def test_pitfall_17_impossible_cells():
    """Of SLERP-Q's cells in three tables, those at 5 frames of Table 5 (and L2Q at 15) lie above the bound.

    On windows of our own the bound holds at every length. Table 5's 0-velocity is the only row of the three whose NPSS
    falls with the length. The published values carry a note at each of these cells.
    """
    # three frames at 1/4, 1/2, 3/4, eased to 1/8, 1/2, 7/8: mean distance 1/12 over mean time 1/2
    assert (
        pitfalls.easing_bound(2.0, 1.0, 3) == pytest.approx(1.0 + 3.0 / 6.0) and pitfalls.easing_bound(2, 1, 1) == 1.0
    )
    above, falling = set(), set()
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
        for row in ("0-velocity", "SLERP", "SLERP-Q", "Neural Network"):
            npss = [float(cells[row, f"NPSS@{length}"].printed) for length in (5, 15, 30, 45)]
            falling |= {(table, row, n) for n, a, b in zip((5, 15, 30), npss, npss[1:], strict=False) if b < a}
    assert falling == {("staystill_table5", "0-velocity", 30)}
    noted = {(p.row, p.column) for p in published_item("staystill_table5").problems}
    assert noted >= {("SLERP-Q", "L2P@5"), ("SLERP-Q", "L2Q@5"), ("SLERP-Q", "L2Q@15"), ("0-velocity", "NPSS@30")}
    assert above == {("staystill_table5", "L2P", 5), ("staystill_table5", "L2Q", 5), ("staystill_table5", "L2Q", 15)}
    windows, std = make_windows([random_clip(400, 3)]), np.full((22, 3), 10.0)
    scores = evaluation.score_windows(windows, std)
    for length in (5, 15, 30, 45):
        zero, line, eased = (scores[s, length].l2p.mean() for s in ("0-velocity", "SLERP", "SLERP-Q"))
        assert eased <= 1.02 * pitfalls.easing_bound(zero, line, length)
    from motionbook.report import published_frame

    bounds = pitfall_effects.easing_bounds(published_frame("staystill_table5"))
    assert list(bounds.index[bounds.possible == "no"]) == ["L2P@5", "L2Q@5", "L2Q@15"]


def test_pitfall_18_one_set_of_statistics(tmp_path, monkeypatch):
    """Both stages read the statistics that the predictor holds; its file brings them back, whatever lies beside it.

    In training too: both stages, all that is validated, and the predictor that comes out.
    """
    pytest.importorskip("safetensors")
    pytest.importorskip("torch")
    from motionbook.inbetweening import two_stage, two_stage_training
    from motionbook.inbetweening.motion_tensors import feature_statistics

    windows = make_windows([random_clip(150, 1)])
    own, other = (feature_statistics([random_clip(150, seed)]) for seed in (0, 5))
    network = small_network(own)
    two_stage_training.save(network, tmp_path / "p.safetensors")
    two_stage_training.save(replace(network, statistics=other), tmp_path / "a.safetensors")
    np.savez(tmp_path / "statistics.npz", **other._asdict())
    back = two_stage_training.load(tmp_path / "p.safetensors")
    assert np.array_equal(back.statistics.std, own.std) and np.array_equal(back.statistics.mean, own.mean)
    assert np.array_equal(back(windows, 15).rotations, network(windows, 15).rotations)
    assert not np.allclose(replace(network, statistics=other)(windows, 15).rotations, network(windows, 15).rotations)

    made, scales = two_stage.detail_input, []
    with monkeypatch.context() as patched:
        patched.setattr(
            two_stage, "detail_input", lambda m, z, scale, *rest: scales.append(scale) or made(m, z, scale, *rest)
        )
        network(windows, 15)
    run, seen, _ = trained(monkeypatch)
    learned = feature_statistics([r.clip for r in people()[:2]])
    for scale, expected in ((scales[0], own), *((s, learned) for s in seen.scales)):
        assert np.allclose(scale.mean, expected.mean, rtol=1e-6) and np.allclose(scale.std, expected.std, rtol=1e-6)
    assert len(scales) == 1 and len(seen.scales) == 2 and len(seen.validated) == 3
    for predictor in (run.predictor, *seen.validated):
        assert np.array_equal(predictor.statistics.std, learned.std)


def test_effects_are_measured_both_ways():
    """Every row of the measured effects against the scores that it stands for."""
    pytest.importorskip("torch")
    from motionbook.inbetweening.motion_tensors import feature_statistics

    network = small_network(feature_statistics([random_clip(150, 0)]))
    idle = [r._replace(clip=turning_far(r.clip)) for r in people() if r.group == "idle"]
    folds = [f._replace(learned={"NN": network}) for f in evaluation.fold_windows(idle, "idle", FOLDS)]
    table = pitfall_effects.measured_effects(folds, [*idle, Recording(random_clip(30, 9), "00", "idle", "short")])
    assert list(table.index) == [3, 4, 5, 6, 7, 12, 14]
    assert (table.here[7], table["other way"][7]) == (12, 13)

    def mean(system, predict, length, metric, parts=folds, **options):
        scores = evaluation.window_scores(
            [f._replace(learned={}) for f in parts], [length], {system: predict}, **options
        )
        found = evaluation.fold_scores(scores)
        return found[found.metric == metric].value.mean()

    def rounded(windows, length):
        made = slerp(windows, length)
        q = pitfalls.single_precision(made.rotations).astype(float)
        return made._replace(rotations=q / np.linalg.norm(q, axis=-1, keepdims=True))

    eased, single = BASELINES["SLERP-Q"], pitfalls.slerp_q_single_precision
    cached = [f._replace(std=folds[0].std) for f in folds]
    expected = {
        3: (mean("", slerp, 45, "L2Q"), mean("", slerp, 45, "L2Q", aligned=True)),
        4: (mean("", slerp, 30, "NPSS"), mean("", slerp, 30, "NPSS", spectrum="power")),
        5: (mean("", slerp, 30, "NPSS"), mean("", rounded, 30, "NPSS")),
        6: (mean("", slerp, 30, "L2P"), mean("", slerp, 30, "L2P", cached)),
        12: (mean("", network, 5, "L2P"), mean("", network.keys_only(), 5, "L2P")),
        14: (mean("", eased, 45, "L2P"), mean("", single, 45, "L2P")),
    }
    for number, values in expected.items():
        assert tuple(table.loc[number, ["here", "other way"]]) == pytest.approx(values, rel=1e-12)
        assert values[0] != values[1]
    assert np.allclose(table.change, 100.0 * (table["other way"] / table.here - 1.0))
