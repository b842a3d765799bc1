"""The flow: its integration and optimal field in closed form, samples that keep keys, bones and seeds, their scores."""

from dataclasses import replace

import numpy as np
import pytest
from test_inbetweening_windows import random_clip

from motionbook import rotations as rot
from motionbook.inbetweening import chapter_systems, evaluation
from motionbook.inbetweening import residual as res
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.evaluation import fold_windows, world
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.sample_scores import (
    nominal_coverage,
    sample_scores,
    sample_table,
    score_samples,
    window_sample_scores,
)
from motionbook.inbetweening.windows import make_windows

torch = pytest.importorskip("torch")

from motionbook.inbetweening.delta_training import delta_learner  # noqa: E402
from motionbook.inbetweening.flow import (  # noqa: E402
    TUNINGS,
    Flow,
    FlowConfig,
    VelocityNetwork,
    centre_of,
    deviations_of,
    gaussian_velocity,
    integrate,
    scale_terms,
)
from motionbook.inbetweening.flow_training import (  # noqa: E402
    choose_temperatures,
    examples,
    flow_learner,
    load,
    mirror_images,
    save,
    train_network,
    whitening,
)

SMALL = FlowConfig(waves=6, components=12, width=32, blocks=1, seen=16, steps=20, batch=64, offset=5)
TRANSITION = 15


def people(count: int = 5, frames: int = 110):
    """Real enough: smooth motion, one clip a person."""
    return [Recording(smooth_clip(frames, n), f"{n:02d}", "idle", f"{n:02d}_idle") for n in range(count)]


def smooth_clip(frames: int, seed: int):
    """Random motion below 2 Hz of a tenth of a radian and some centimetres."""
    rng = np.random.default_rng(seed)
    waves = np.sin(np.arange(frames)[:, None] / 30 * 2 * np.pi * rng.uniform(0.1, 2.0, 12) + rng.uniform(0, 6.3, 12))
    clip = random_clip(frames, seed)
    turns = rot.from_rotation_vector((waves @ (0.03 * rng.standard_normal((12, 66)))).reshape(frames, 22, 3))
    first = np.repeat(clip.rotations[:1], frames, axis=0)
    return replace(
        clip, root_positions=waves @ (0.01 * rng.standard_normal((12, 3))), rotations=rot.multiply(first, turns)
    )


@pytest.fixture(scope="module")
def flow():
    recordings = people()
    return flow_learner(SMALL)(recordings[:4], recordings[4:], seed=0)


@pytest.fixture(scope="module")
def windows():
    return make_windows([smooth_clip(150, 40), smooth_clip(90, 41)])


@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("midpoint", 2), ("rk4", 4)])
def test_integration_converges_with_its_order_on_a_field_with_a_known_integral(method, order):
    """dx/dt = t - 2 x, x(1) = 1/4 + (x(0) + 1/4) exp(-2): half the step, 2^order times less error."""
    start = np.array([1.0, -2.0])
    exact = 0.25 + (start + 0.25) * np.exp(-2.0)
    errors = [np.abs(integrate(lambda x, t: t - 2.0 * x, start, n, method) - exact).max() for n in (20, 40)]
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.15)


def test_the_optimal_field_of_a_normal_distribution_carries_noise_to_it():
    """Linear path, x_0 ~ N(0, 1), z ~ N(0, s^2): the flow of E[z - x_0 | x_t] takes x_0 to s x_0."""
    x0 = np.array([-2.0, 0.3, 1.5])
    for std in (0.2, 1.0, 3.0):
        end = integrate(lambda x, t, s=std: gaussian_velocity(x, t, s), x0, 200, "rk4")
        assert np.abs(end - std * x0).max() < 1e-6
    # and it is the conditional mean: least squares on draws
    rng = np.random.default_rng(0)
    a, z, t = rng.standard_normal(200_000), 3.0 * rng.standard_normal(200_000), 0.3
    x = (1 - t) * a + t * z
    assert (x @ (z - a)) / (x @ x) == pytest.approx(gaussian_velocity(1.0, t, 3.0), abs=0.02)


def test_matching_learns_a_normal_distribution_that_depends_on_what_is_known():
    """z ~ N(m(known), 0.5^2) with m = +-1: samples have those means and that deviation; untrained they are N(0, 1)."""
    generator = torch.Generator().manual_seed(0)
    config = FlowConfig(width=48, blocks=1, steps=500, batch=256, rate=3e-3, dropout=0.0, noise=0.0)
    network = VelocityNetwork(2, 1, 48, 1, generator)
    known = torch.randint(0, 2, (4000, 1), generator=generator) * 2.0 - 1.0
    z = known + 0.5 * torch.randn(4000, 2, generator=generator)

    def drawn(sign):
        told, x = torch.full((2000, 1), sign), torch.randn(2000, 2, generator=torch.Generator().manual_seed(1))
        with torch.inference_mode():
            return integrate(lambda x, t: network(x, torch.full((2000,), t), told), x, 8).numpy()

    assert np.abs(drawn(1.0).mean(axis=0)).max() < 0.1 and np.abs(drawn(1.0).std(axis=0) - 1.0).max() < 0.1
    train_network(network, z, known, None, torch.ones(2), config, generator)
    for sign in (-1.0, 1.0):
        assert np.abs(drawn(sign).mean(axis=0) - sign).max() < 0.12
        assert np.abs(drawn(sign).std(axis=0) - 0.5).max() < 0.12


def test_whitened_numbers_have_unit_variance_and_give_the_residual_back():
    rng = np.random.default_rng(0)
    left = rng.standard_normal((500, 6)) @ rng.standard_normal((6, 6))
    weigh = np.array([1.0, 2.0, 3.0, 0.5, 1.0, 1.0])
    axes = whitening(left, weigh)
    numbers = left @ np.linalg.inv(axes)
    assert np.allclose(numbers.T @ numbers / 500, np.eye(6), atol=1e-9)
    powers = ((axes * weigh) ** 2).sum(axis=1)
    assert (np.diff(powers) < 0).all()


def test_mirrored_examples_are_mirror_images(flow, windows):
    """Turns about x and y and places along z change sign, left and right change places; kriging is its own mirror."""
    from motionbook.inbetweening.kriging import mirror_order

    signs, order, n = np.array([-1.0, -1.0, 1.0] * 22 + [1.0, 1.0, -1.0]), mirror_order(), len(windows)
    both = examples(windows, TRANSITION, 6, flow.centre, mirrored=True)
    assert np.allclose(both.known[n:], both.known[:n, :, order] * signs, atol=1e-9)
    assert np.allclose(both.waves[n:], both.waves[:n, order] * signs[:, None], atol=1e-9)
    again = mirror_images(mirror_images(windows))
    assert rot.angle_between(again.rotations, windows.rotations).max() < 1e-7
    assert np.array_equal(again.root_positions, windows.root_positions)


def test_examples_are_what_the_centre_leaves_over(flow, windows):
    left = res.residual(windows, TRANSITION) - centre_of(flow.centre, windows, TRANSITION)
    found = examples(windows, TRANSITION, TRANSITION, flow.centre).waves @ res.time_waves(TRANSITION, TRANSITION).T
    assert np.allclose(np.swapaxes(found, 1, 2), left, atol=1e-9) and np.abs(left).max() > 1e-3


def test_samples_are_drawn_around_the_centre_at_the_temperature_asked_for(windows):
    """Twice the temperature, twice as far; a network that has learned nothing has the centre for its mean."""
    recordings = people(3, 80)
    delta = delta_learner(steps=3)
    flow = flow_learner(replace(SMALL, steps=0), centre=delta)(recordings[:2], recordings[2:], seed=0)
    middle = delta(recordings[:2], recordings[2:], seed=0).residual(windows, TRANSITION)[:, 1:-1]
    model = flow.of_length(TRANSITION)._replace(temperatures={"energy": 1.0, "coverage": 0.5, "best": 0.25})
    flow = Flow(lambda t: model, flow.centre, SMALL)
    away = {name: flow.answering(tuned=name).residuals(windows, TRANSITION, 400, 0) - middle for name in TUNINGS}
    assert np.allclose(away["energy"], 2 * away["coverage"], atol=1e-9)
    assert np.allclose(away["energy"], 4 * away["best"], atol=1e-9)
    assert np.abs(away["energy"].mean(axis=0)).max() < 0.3 * away["energy"].std(axis=0).max()


def test_a_flow_around_another_centre_is_fitted_anew(windows, tmp_path):
    pytest.importorskip("safetensors")
    recordings, config = people(2, 70), replace(SMALL, steps=2)
    for steps in (0, 2, 2):
        flow_learner(config, centre=delta_learner(steps=steps), folder=tmp_path)(recordings, seed=0)(windows, 5)
    assert len(list(tmp_path.iterdir())) == 2


def test_samples_differ_and_the_same_seed_gives_the_same(flow, windows):
    one, again = (flow.sample(windows, TRANSITION, 4, seed=3) for _ in range(2))
    assert one.rotations.shape == (4, len(windows), TRANSITION, 22, 4)
    assert all(np.array_equal(a, b) for a, b in zip(one, again, strict=True))
    angles = rot.angle_between(one.rotations[:, None], one.rotations[None]).max(axis=(2, 3, 4))
    assert (angles[~np.eye(4, dtype=bool)] > 1e-3).all()
    other = flow.sample(windows, TRANSITION, 4, seed=4)
    assert rot.angle_between(one.rotations, other.rotations).max(axis=(0, 2, 3)).min() > 1e-3
    more = flow.sample(windows, TRANSITION, 6, seed=3)
    assert np.allclose(more.root_positions[:4], one.root_positions, atol=1e-6)


def test_a_window_alone_gives_what_it_gives_among_others(flow, windows):
    together = flow.sample(windows, TRANSITION, 3, seed=1)
    for n in range(len(windows)):
        alone = flow.sample(windows[n : n + 1], TRANSITION, 3, seed=1)
        assert np.abs(alone.root_positions[:, 0] - together.root_positions[:, n]).max() < 1e-4
        assert rot.angle_between(alone.rotations[:, 0], together.rotations[:, n]).max() < 1e-5


def test_rotations_are_rotations_and_bones_keep_their_length(flow, windows):
    drawn = flow.sample(windows, TRANSITION, 2)
    assert np.abs(np.linalg.norm(drawn.rotations, axis=-1) - 1.0).max() < 1e-9
    parents = windows.skeleton.parents
    places = world(windows, LocalPose(*(x[1] for x in drawn))).positions
    bones = np.linalg.norm(places[:, :, 1:] - places[:, :, list(parents[1:])], axis=-1)
    assert np.allclose(bones, np.linalg.norm(windows.offsets[:, None, 1:], axis=-1), atol=1e-9)


def test_keys_are_met_and_there_is_no_jump(flow, windows):
    """The drawn part is half sines, zero at times 0 and 1; the step into and out of the gap is like those inside."""
    waves = res.time_waves(45, 6)
    assert np.abs(waves[0]).max() < 6 * np.pi / 46 * np.sqrt(2 / 46) + 1e-9
    drawn = flow.sample(windows, TRANSITION, 3)
    for sample in range(3):
        gap = world(windows, LocalPose(*(x[sample] for x in drawn))).positions
        keys = [9, 10 + TRANSITION]
        ends = world(windows, LocalPose(windows.root_positions[:, keys], windows.rotations[:, keys])).positions
        path = np.concatenate([ends[:, :1], gap, ends[:, 1:]], axis=1)
        steps = np.linalg.norm(np.diff(path, axis=1), axis=-1).max(axis=-1)
        assert (steps[:, [0, -1]].max(axis=1) < 1.5 * steps[:, 1:-1].max(axis=1)).all()


def test_samples_know_neither_place_nor_heading_nor_what_follows(flow, windows):
    turn = rot.from_axis_angle([0.0, 1.0, 0.0], 2.1)
    rotations = windows.rotations.copy()
    rotations[:, :, 0] = rot.multiply(turn, rotations[:, :, 0])
    root = rot.rotate(turn, windows.root_positions) + np.array([50.0, 0.0, -20.0])
    hidden = [*range(10, 10 + TRANSITION), *range(11 + TRANSITION, 65)]
    rotations[:, hidden], root[:, hidden] = rotations[:, :1], root[:, :1]
    moved = replace(windows, rotations=rotations, root_positions=root)
    here, there = (flow.sample(w, TRANSITION, 2) for w in (windows, moved))
    back = rot.rotate(rot.inverse(turn), there.root_positions - np.array([50.0, 0.0, -20.0]))
    assert np.abs(back - here.root_positions).max() < 1e-3
    assert rot.angle_between(here.rotations[..., 1:, :], there.rotations[..., 1:, :]).max() < 1e-4


def test_as_a_predictor_it_answers_with_the_mean_or_a_sample(flow, windows):
    mean, one = flow(windows, TRANSITION), flow.answering("sample", 5)(windows, TRANSITION)
    assert mean.rotations.shape == one.rotations.shape == (len(windows), TRANSITION, 22, 4)
    first = flow.sample(windows, TRANSITION, 1, seed=5)
    assert np.array_equal(one.root_positions, first.root_positions[0])
    assert not np.allclose(mean.root_positions, one.root_positions, atol=1e-4)
    with pytest.raises(ValueError, match='answer: expected "mean" or "sample"'):
        flow.answering("median")


def test_a_saved_model_draws_the_same(flow, windows, tmp_path):
    pytest.importorskip("safetensors")
    path = save(tmp_path / "flow.safetensors", {TRANSITION: flow.of_length(TRANSITION)}, SMALL)
    again = load(path, flow.centre)
    for a, b in zip(flow.sample(windows, TRANSITION, 2), again.sample(windows, TRANSITION, 2), strict=True):
        assert np.array_equal(a, b)
    with pytest.raises(KeyError, match="no model of 30 frames, it holds 15"):
        again(windows, 30)


def test_a_kept_model_is_loaded_instead_of_trained(windows, tmp_path):
    pytest.importorskip("safetensors")
    recordings = people(2, 70)
    config = replace(SMALL, steps=2)
    drawn = [flow_learner(config, folder=tmp_path)(recordings, seed=0).sample(windows, 5, 1) for _ in range(2)]
    assert [p.name[:5] for p in tmp_path.iterdir()] == ["flow_"]
    assert np.array_equal(drawn[0].rotations, drawn[1].rotations)


def test_models_of_another_training_are_trained_anew(windows, tmp_path, monkeypatch):
    from motionbook.inbetweening import delta_training, flow_training

    pytest.importorskip("safetensors")
    recordings, config = people(2, 70), replace(SMALL, steps=2)

    def ask() -> int:
        flow_learner(config, folder=tmp_path)(recordings, seed=0)(windows, 5)
        return len(list(tmp_path.iterdir()))

    assert ask() == 1
    # the other model's version is none of its business
    monkeypatch.setattr(delta_training, "_VERSION", 99)
    assert ask() == 1
    monkeypatch.setattr(flow_training, "_VERSION", flow_training._VERSION + 1)
    assert ask() == 2


def test_scores_of_samples_in_closed_form():
    """Normal truth and samples: coverage 15/17, CRPS and energy score half the mean distance of two draws."""
    rng = np.random.default_rng(0)
    truth, samples = rng.standard_normal((1500, 1, 1, 3)), rng.standard_normal((16, 1500, 1, 1, 3))
    found = score_samples(truth, samples, samples.mean(axis=0), np.ones((1, 3)))
    assert found.coverage.mean() == pytest.approx(nominal_coverage(16), abs=0.015)
    # E|y - s| - E|s - s'| / 2 = E|s - s'| / 2 = 1 / sqrt(pi)
    assert found.crps.mean() == pytest.approx(1 / np.sqrt(np.pi), abs=0.015)
    # distance of two points in space: 2 sqrt(2) sqrt(2 / pi) = 4 / sqrt(pi)
    assert found.diversity.mean() == pytest.approx(4 / np.sqrt(np.pi), abs=0.03)
    assert found.energy.mean() == pytest.approx(2 / np.sqrt(np.pi), abs=0.03)
    same = score_samples(truth, np.zeros((16, *truth.shape)), np.zeros_like(truth), np.ones((1, 3)))
    assert same.diversity.max() == 0.0 and np.allclose(same.best, same.energy)
    with pytest.raises(ValueError, match="at least two"):
        score_samples(truth, samples[:1], truth, np.ones((1, 3)))


def test_the_table_of_samples_over_folds():
    recordings = people(4)
    folds = [{"train": ["00", "01"], "validation": ["02"], "test": ["03"]}]
    found = fold_windows(recordings, "idle", folds, {"FLOW": flow_learner(replace(SMALL, steps=0))})
    scores = sample_scores(found, "FLOW", [5], count=4)
    table = sample_table(scores)
    assert table.loc[5, "n_windows"] == len(found[0].windows) and table.loc[5, "nominal"] == pytest.approx(60.0)
    expected = 100 * scores.diversity.mean() / scores.SLERP.mean()
    assert table.loc[5, "diversity"] == pytest.approx(expected) and expected > 0
    with pytest.raises(KeyError, match="no learned system 'DELTA' with samples"):
        sample_scores(found, "DELTA", [5])


def test_the_temperature_is_found_again(flow, windows):
    """Truth drawn from the model itself at temperature 0.7: energy and coverage find about that, the best is lower."""
    model = flow.of_length(TRANSITION)
    many = make_windows([smooth_clip(110, n) for n in range(60, 72)], 30, 10)
    cooler = model._replace(temperatures=dict.fromkeys(TUNINGS, 0.7))
    gap = slice(10, 10 + TRANSITION)
    root, rotations = many.root_positions.copy(), many.rotations.copy()
    drawing = Flow(lambda t: cooler, flow.centre, SMALL, answer="sample", seed=9)
    root[:, gap], rotations[:, gap] = drawing(many, TRANSITION)
    truth = replace(many, root_positions=root, rotations=rotations)
    found = choose_temperatures(model, flow.centre, truth, TRANSITION, np.ones((22, 3)), SMALL)
    assert set(found) == set(TUNINGS)
    assert found["energy"] == pytest.approx(0.7, abs=0.1) and found["coverage"] == pytest.approx(0.7, abs=0.1)
    near = (found["best"] - 0.1, found["best"], found["best"] + 0.1)
    scores = [best_of(model, flow.centre, truth, t) for t in near]
    assert found["best"] < 0.7 and scores[1] == min(scores)
    with pytest.raises(ValueError, match="tuned: expected one of energy, coverage, best, got 'luck'"):
        flow.answering(tuned="luck")


def test_somebody_who_stands_still_tells_nothing_about_temperatures(flow):
    clip = smooth_clip(110, 60)
    still = replace(
        clip, root_positions=clip.root_positions[:1].repeat(110, 0), rotations=clip.rotations[:1].repeat(110, 0)
    )
    model = flow.of_length(TRANSITION)._replace(axes=np.zeros_like(flow.of_length(TRANSITION).axes))
    found = choose_temperatures(model, flow.centre, make_windows([still], 30, 10), TRANSITION, np.ones((22, 3)), SMALL)
    assert found == dict.fromkeys(TUNINGS, 1.0)


def test_temperatures_are_chosen_on_the_validation_people_in_units_of_the_training_people(monkeypatch):
    from motionbook.inbetweening import flow_training
    from motionbook.inbetweening.scoring import position_moments, position_statistics
    from motionbook.inbetweening.windows import STATISTICS

    recordings, asked = people(4), {}

    def choose(model, centre, windows, transition, std, config, seed=0):
        asked.update(windows=windows, std=std)
        return {"energy": 0.3, "coverage": 0.4, "best": 0.5}

    monkeypatch.setattr(flow_training, "choose_temperatures", choose)
    config = replace(SMALL, steps=0)
    flow = flow_learner(config)(recordings[:3], recordings[3:], seed=0)
    assert flow.of_length(TRANSITION).temperatures == {"energy": 0.3, "coverage": 0.4, "best": 0.5}
    expected = res.training_windows(recordings[3:], TRANSITION, 20)
    assert np.array_equal(asked["windows"].rotations, expected.rotations)
    parts = position_moments(make_windows([r.clip for r in recordings[:3]], *STATISTICS))
    assert np.allclose(asked["std"], position_statistics([parts])[1])
    # nobody to choose on
    assert set(flow_learner(config)(recordings[:3], seed=0).of_length(TRANSITION).temperatures.values()) == {1.0}


def test_errors_are_in_units_of_each_coordinate(flow):
    """A coordinate with a large scale hardly counts: what is best without it is best with it."""
    model, many = flow.of_length(TRANSITION), make_windows([smooth_clip(110, n) for n in range(60, 66)], 30, 10)
    plain = choose_temperatures(model, flow.centre, many, TRANSITION, np.ones((22, 3)), SMALL)
    hands = np.full((22, 3), 1e6)
    hands[4] = 1.0
    found = choose_temperatures(model, flow.centre, many, TRANSITION, hands, SMALL)
    assert found["best"] > plain["best"], "one joint is hit more easily than the whole body"


def test_whitened_numbers_lead_back_to_the_residual(flow, windows):
    """The numbers of a window's own residual as noise of a flow that has learned nothing."""
    config = replace(SMALL, waves=TRANSITION, components=12, steps=0, ode_steps=40)
    recordings = people()
    idle = flow_learner(config)(recordings[:4], seed=0)
    model, own = idle.of_length(TRANSITION), res.training_windows(recordings[:1], TRANSITION, 20)
    found = examples(own, TRANSITION, TRANSITION, idle.centre)
    size = np.exp(scale_terms(found.known) @ model.scale)[:, None]
    numbers = found.waves.reshape(len(own), -1) / size @ np.linalg.pinv(model.axes)
    left = deviations_of(model, found.known, numbers[None], TRANSITION, config)[0]
    expected = res.residual(own, TRANSITION) - centre_of(idle.centre, own, TRANSITION)
    assert np.abs(left - expected).max() < 0.01 * np.abs(expected).max()


def test_fitting_leaves_random_state_alone(windows):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    flow_learner(replace(SMALL, steps=2))(people(2, 80), seed=0)(windows, 5)
    assert torch.equal(before, torch.get_rng_state())


def test_no_windows_no_motion(flow, windows):
    drawn = flow.sample(windows[:0], TRANSITION, 2)
    assert drawn.rotations.shape == (2, 0, TRANSITION, 22, 4)
    assert flow(windows[:0], TRANSITION).root_positions.shape == (0, TRANSITION, 3)


def test_the_centre_has_the_learners_seed_and_energy_is_the_default(windows):
    recordings, delta = people(3, 80), delta_learner(steps=3)
    flow = flow_learner(replace(SMALL, steps=0), centre=delta)(recordings, seed=1)
    assert np.array_equal(flow.centre.residual(windows, 5), delta(recordings, seed=1).residual(windows, 5))
    assert not np.array_equal(flow.centre.residual(windows, 5), delta(recordings, seed=0).residual(windows, 5))
    model = flow.of_length(5)._replace(temperatures={"energy": 0.3, "coverage": 0.4, "best": 0.5})
    plain = Flow(lambda t: model, flow.centre, SMALL)
    fold = evaluation.FoldWindows(1, windows, np.ones((22, 3)), ("00",) * len(windows), {"FLOW": plain, "A": None})
    (other,) = chapter_systems.tuned([fold], "best")
    assert other.learned["A"] is None and fold.learned["FLOW"] is plain
    drawn, cooler = plain.residuals(windows, 5, 1, 0), other.learned["FLOW"].residuals(windows, 5, 1, 0)
    middle = flow.centre.residual(windows, 5)[:, 1:-1]
    assert np.allclose((cooler - middle) * 0.3, (drawn - middle) * 0.5, atol=1e-12)
    assert np.array_equal(drawn, plain.answering(tuned="energy").residuals(windows, 5, 1, 0))


def best_of(model, centre, windows, temperature: float) -> float:
    """Mean L2P of the nearest of 16 samples, by the kinematics that ``choose_temperatures`` does without."""
    at = model._replace(temperatures=dict.fromkeys(TUNINGS, temperature))
    flow = Flow(lambda t: at, centre, SMALL)
    return window_sample_scores(windows, np.ones((22, 3)), TRANSITION, flow, 16).best.mean()


def test_the_figures_show_every_sample_and_every_person(flow, windows):
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    from motionbook.report.flow_figures import calibration_figure, fan_figure

    fan = fan_figure(windows, TRANSITION, flow, which=[0, 1], count=3)
    recorded = fan.axes[0].lines[-2].get_ydata()
    samples = [line.get_ydata() for line in fan.axes[0].lines[:3]]
    # all through the same keys, and apart in between
    assert all(np.allclose(y[[0, -1]], recorded[[9, 10 + TRANSITION]]) for y in samples)
    assert np.ptp([y[8] for y in samples]) > 0
    folds = [{"train": ["00", "01"], "test": ["02", "03"]}]
    found = fold_windows(people(4), "idle", folds, {"FLOW": flow_learner(replace(SMALL, steps=0))})
    figure = calibration_figure(sample_scores(found, "FLOW", [5, 15], count=3))
    dots = [line for line in figure.axes[0].lines if line.get_marker() == "o" and len(line.get_xdata()) == 2]
    assert len(dots) == 2
    plt.close("all")
