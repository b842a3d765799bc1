"""Fit the flow of ``flow`` to a fold's training people, choose its temperatures on the validation people, keep it.

One small network per transition length, trained in about half a minute on one core when that length is first asked for.
The state that explains the validation people's residuals best is kept, which may be the start: the normal distribution.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from motionbook.inbetweening import checkpoints, delta_training, kriging
from motionbook.inbetweening import residual as res
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.delta import DeltaPredictor
from motionbook.inbetweening.flow import (
    TUNINGS,
    Flow,
    FlowConfig,
    LengthFlow,
    VelocityNetwork,
    centre_of,
    deviations_of,
    gaussian_velocity,
    inputs_of,
    noise_of,
    scale_terms,
    spread,
    steps_of,
)
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.sample_scores import nominal_coverage
from motionbook.inbetweening.scoring import position_moments, position_statistics, world
from motionbook.inbetweening.threads import one_thread
from motionbook.inbetweening.windows import CONTEXT, STATISTICS, Windows, make_windows
from motionbook.kinematics import world_pose
from motionbook.skeletons import LAFAN1

CHECK_EVERY = 100
# 1 is the model's own claim, made on what the centre leaves over of people it was fitted on; so it may be more. The
# nearest to 1 wins where several serve alike, as they do for somebody who stands still.
TEMPERATURES = tuple(sorted((n / 20 for n in range(1, 26)), key=lambda t: abs(t - 1.0)))
_SAMPLES = 16  # to choose a temperature with
_CHECK_OFFSET = 20  # frames between the windows that it is chosen on
_VERSION = 4  # of training and of the saved form; another number trains anew
_ARRAYS = ("scale", "axes", "inputs")
_SMALLEST = 1e-9
_CHUNK = 512  # windows held at a time


class Examples(NamedTuple):
    """Known offsets (windows, 10, 69) and what the centre leaves of the residual in half sines (windows, 69, waves)."""

    known: np.ndarray
    waves: np.ndarray


def examples(windows: Windows, transition: int, waves: int, centre: DeltaPredictor, mirrored: bool = False) -> Examples:
    """What a model is fitted on; with ``mirrored`` the windows' mirror images follow them."""
    over_time = res.time_waves(transition, waves)
    known, left = [], []
    for half in [windows, mirror_images(windows)] if mirrored else [windows]:
        for first in range(0, max(len(half), 1), _CHUNK):
            part = half[first : first + _CHUNK]
            known.append(kriging.known_offsets(part, transition))
            over = res.residual(part, transition) - centre_of(centre, part, transition)
            left.append(np.swapaxes(over, 1, 2) @ over_time)
    return Examples(np.concatenate(known), np.concatenate(left))


def mirror_images(windows: Windows) -> Windows:
    """Left and right exchanged and z turned round; the bones stay as they are."""
    return replace(
        windows,
        root_positions=windows.root_positions * [1.0, 1.0, -1.0],
        rotations=windows.rotations[:, :, kriging.mirror_joints()] * [1.0, -1.0, -1.0, 1.0],
    )


def flow_learner(
    config: FlowConfig | None = None,
    *,
    centre: Callable[..., DeltaPredictor] | None = None,
    folder: str | Path | None = None,
    count: int = _SAMPLES,
) -> Callable[..., Flow]:
    """A learner for ``evaluation``; a transition length is fitted when it is first asked for.

    Parameters
    ----------
    config : FlowConfig, optional
    centre : learner of DeltaPredictor, optional
        What samples are drawn around, e.g. ``delta_learner(steps=2000, folder=...)``; by default kriging.
    folder : path, optional
        Where fitted lengths are kept; one of the same configuration, seed, centre and data is loaded instead of
        trained.
    count : int
        Samples in the mean that the system answers with as a predictor.

    Returns
    -------
    learner
        ``learner(train, validation, seed=...)`` gives a ``Flow``: a predictor, and ``sample``.
    """
    config = config or FlowConfig()
    centre = centre or delta_training.delta_learner(steps=0)

    def learner(train: Sequence[Recording], validation: Sequence[Recording] = (), *, seed: int = 0) -> Flow:
        middle = centre(train, validation, seed=seed)
        version = f"flow {_VERSION} {_digest(middle)}"
        mark = (
            None
            if folder is None
            else delta_training.fingerprint(config, train, validation, steps=0, seed=seed, version=version)
        )

        @cache
        def of_length(transition: int) -> LengthFlow:
            path = None if folder is None else Path(folder) / f"flow_{mark[:16]}_{transition:02d}.safetensors"
            if path is not None and path.is_file():
                return load(path, middle).of_length(transition)
            model = fit_length(middle, train, validation, transition, config, seed)
            if path is not None:
                save(path, {transition: model}, config)
            return model

        return Flow(of_length, middle, config, seed=seed, count=count)

    return learner


def _digest(predictor: DeltaPredictor) -> str:
    """Hexadecimal hash of what a deterministic model has learned: its moments and its weights."""
    digest = hashlib.sha256()
    for value in predictor.moments:
        digest.update(np.ascontiguousarray(value).tobytes())
    for network in predictor.networks:
        for value in network.state_dict().values():
            digest.update(value.cpu().numpy().tobytes())
    return digest.hexdigest()


@one_thread()
def fit_length(centre: DeltaPredictor, train, validation, transition: int, config: FlowConfig, seed: int) -> LengthFlow:
    """The model of one transition length with its temperatures, from recordings."""
    windows = res.training_windows(train, transition, config.offset)
    known = examples(windows, transition, config.waves, centre, mirrored=True)
    checked = res.training_windows(validation, transition, config.offset)
    checked = examples(checked, transition, config.waves, centre)
    model = fit(known, checked, config, seed)
    windows = res.training_windows(validation, transition, _CHECK_OFFSET)
    if not len(windows):
        return model
    moments = position_moments(make_windows([r.clip for r in train], *STATISTICS))
    std = position_statistics([moments])[1]
    return model._replace(temperatures=choose_temperatures(model, centre, windows, transition, std, config, seed))


def choose_temperatures(
    model: LengthFlow, centre: DeltaPredictor, windows: Windows, transition: int, std, config: FlowConfig, seed: int = 0
) -> dict[str, float]:
    """The temperatures, of ``TEMPERATURES``, at which 16 samples in these windows serve best, by ``flow.TUNINGS``.

    "energy": that with the least energy score in L2P (``std`` is its scale), the proper score of a distribution.
    "coverage": that at which the truth lies between the samples as often as one more sample would, which is higher
    where the truth holds something that samples never show. "best": that at which the nearest sample is nearest, which
    is lower, because samples of a whole body's motion that keep far from the middle are seldom right in everything. See
    ``sample_scores``.

    Notes
    -----
    Joints are taken to move in proportion to the residual, near enough for turns of a few degrees, so that kinematics
    is done once for all temperatures.
    """
    sums: dict[str, np.ndarray] = {name: np.zeros(len(TEMPERATURES)) for name in (*TUNINGS, "all")}
    for first in range(0, len(windows), _CHUNK // _SAMPLES):
        part = windows[first : first + _CHUNK // _SAMPLES]
        for name, found in _sums_by_temperature(model, centre, part, transition, std, config, seed).items():
            sums[name] += found
    badness = {"energy": sums["energy"], "best": sums["best"]}
    badness["coverage"] = np.abs(sums["coverage"] / sums["all"] - nominal_coverage(_SAMPLES))
    return {tuning: TEMPERATURES[int(np.argmin(badness[tuning]))] for tuning in TUNINGS}


def _sums_by_temperature(model, centre, windows: Windows, transition: int, std, config, seed) -> dict[str, np.ndarray]:
    """Energy scores, errors of the nearest sample, coordinates covered and all coordinates, summed over windows."""
    noise = noise_of(windows, transition, _SAMPLES, seed, len(model.axes))
    away = deviations_of(model, kriging.known_offsets(windows, transition), noise, transition, config)
    guess, gap = centre_of(centre, windows, transition), slice(CONTEXT, CONTEXT + transition)

    def places(left):
        return world(windows, res.apply_residual(windows, transition, left)).positions

    middle = places(guess)
    truth = world(windows, LocalPose(windows.root_positions[:, gap], windows.rotations[:, gap])).positions - middle
    drawn = np.stack([places(guess + left) - middle for left in away])
    apart = np.mean([_lengths((drawn[i] - drawn[i - 1]) / std) for i in range(_SAMPLES)], axis=0)
    low, high = drawn.min(axis=0), drawn.max(axis=0)
    rows = []
    for t in TEMPERATURES:
        errors = np.stack([_lengths((t * each - truth) / std) for each in drawn])
        inside = (truth >= t * low) & (truth <= t * high)
        energy = errors.mean(axis=0) - 0.5 * t * apart
        rows.append((energy.sum(), inside.sum(), errors.min(axis=0).sum(), truth.size))
    return dict(zip(("energy", "coverage", "best", "all"), np.array(rows, dtype=float).T, strict=True))


def _lengths(error) -> np.ndarray:
    """Length of the error of all joint places together by window, mean over frames, of (windows, frames, joints, 3)."""
    return np.sqrt(np.einsum("wfjc,wfjc->wf", error, error)).mean(axis=1)


def save(path: str | Path, models: Mapping[int, LengthFlow], config: FlowConfig) -> Path:
    """Write fitted lengths to one safetensors file, whole or not at all."""
    tensors = {}
    for transition, model in models.items():
        for name in _ARRAYS:
            tensors[f"{transition}.{name}"] = torch.as_tensor(getattr(model, name))
        tensors |= {f"{transition}.network.{name}": value for name, value in model.network.state_dict().items()}
    about = {str(t): {"temperatures": dict(m.temperatures), "sizes": m.network.sizes} for t, m in models.items()}
    return checkpoints.write(Path(path), tensors, {"version": _VERSION, "config": asdict(config), "lengths": about})


def load(path: str | Path, centre: DeltaPredictor) -> Flow:
    """Read what ``save`` wrote, to be drawn around the deterministic model that it was fitted to.

    A length that the file does not hold is a KeyError, another version a ValueError.
    """
    tensors, notes = checkpoints.read(Path(path))
    if notes.get("version") != _VERSION:
        raise ValueError(f"{path}: expected a flow of version {_VERSION}, got {notes.get('version')}; train anew")
    models = {}
    for transition, about in notes["lengths"].items():
        network = VelocityNetwork(*about["sizes"], torch.Generator())
        start = f"{transition}.network."
        network.load_state_dict({k.removeprefix(start): v for k, v in tensors.items() if k.startswith(start)})
        arrays = {name: tensors[f"{transition}.{name}"].numpy() for name in _ARRAYS}
        models[int(transition)] = LengthFlow(**arrays, network=network.eval(), temperatures=about["temperatures"])

    def of_length(transition: int) -> LengthFlow:
        if transition not in models:
            held = ", ".join(map(str, sorted(models)))
            raise KeyError(f"{path}: no model of {transition} frames, it holds {held}; fit it with flow_learner")
        return models[transition]

    return Flow(of_length, centre, FlowConfig(**notes["config"]))


def fit(train: Examples, checked: Examples, config: FlowConfig, seed: int) -> LengthFlow:
    """The model of one transition length, before its temperatures are chosen.

    Parameters
    ----------
    train, checked : Examples
        ``checked`` may hold no window: then the last state is kept.
    """
    if not len(train.known):
        raise ValueError("flow: no training clip is long enough for this transition; give longer recordings")
    generator = torch.Generator().manual_seed(seed)
    left = train.waves
    terms = scale_terms(train.known)
    sizes = 0.5 * np.log((left**2).mean(axis=(1, 2)) + _SMALLEST)
    scale = np.linalg.lstsq(terms, sizes, rcond=None)[0]
    weigh = np.repeat(influence(), left.shape[2])
    axes = whitening(_unit(train.known, left, scale), weigh)
    steps = steps_of(train.known) / np.exp(terms[:, 1:].max(axis=1, keepdims=True))
    seen = min(config.seen, steps.shape[1], len(steps))
    powers, along = np.linalg.eigh(steps.T @ steps / len(steps))
    inputs = along[:, -seen:] / np.sqrt(np.maximum(powers[-seen:], 1e-6))
    components = min(config.components, len(axes))
    with torch.random.fork_rng(devices=[]):  # layers are made with random weights before they get those of the seed
        network = VelocityNetwork(components, seen + 4, config.width, config.blocks, generator)
    model = LengthFlow(scale, axes, inputs, network)
    z, told = _numbers(model, train, weigh), inputs_of(model, train.known)
    powers = ((axes[:components] * weigh) ** 2).sum(axis=1)
    # joints are moved by the first components; the root keeps the others from being forgotten
    weights = torch.from_numpy(np.sqrt(powers / powers.mean()).astype(np.float32))
    test = None
    if len(checked.known):
        test = _numbers(model, checked, weigh), inputs_of(model, checked.known)
    train_network(network, z, told, test, weights, config, generator)
    return model


def train_network(network, z, told, checked, weights, config: FlowConfig, generator) -> list[tuple[int, float]]:
    """Regress the velocity; keep the state with the smallest error on ``checked``. Gives (step, error)s."""
    optimizer = torch.optim.AdamW(network.parameters(), lr=config.rate, weight_decay=0.05)
    history, best, kept = [], np.inf, None
    if checked is not None:
        noise = torch.Generator().manual_seed(0)
        repeats = -(-4096 // len(checked[0]))
        many = [x.repeat(repeats, 1) for x in checked]
        start = torch.randn(many[0].shape, generator=noise)
        times = torch.rand(len(start), generator=noise)

    def check(step: int) -> None:
        nonlocal best, kept
        with torch.inference_mode():
            error = float(_loss(network, start, many[0], times, many[1], weights))
        history.append((step, error))
        if error < best:
            best, kept = error, {name: value.clone() for name, value in network.state_dict().items()}

    if checked is not None:
        check(0)
    for step in range(1, config.steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = config.rate * min(step / 50, 1.0) * 0.5 * (1 + np.cos(np.pi * step / config.steps))
        rows = torch.randint(len(z), (config.batch,), generator=generator)
        x0 = torch.randn(config.batch, z.shape[1], generator=generator)
        t = torch.rand(config.batch, generator=generator)
        seen = told[rows] + config.noise * torch.randn(config.batch, told.shape[1], generator=generator)
        # drop out by hand: the module of torch draws from the global generator
        seen = seen * (torch.rand(seen.shape, generator=generator) > config.dropout) / (1 - config.dropout)
        loss = _loss(network, x0, z[rows], t, seen, weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if checked is not None and (step % CHECK_EVERY == 0 or step == config.steps):
            check(step)
    if kept is not None:
        network.load_state_dict(kept)
    network.eval()
    return history


def _loss(network, x0, z, t, told, weights) -> torch.Tensor:
    """Error of the velocity on the straight path, in units of what the normal distribution leaves over."""
    x = (1 - t[:, None]) * x0 + t[:, None] * z
    wanted = (z - x0 - gaussian_velocity(x, t[:, None])) * spread(t[:, None])
    return ((network.correction(x, t, told) - wanted) ** 2 * weights).mean()


def whitening(left, weigh) -> np.ndarray:
    """Principal axes of residuals, the largest first, each times its standard deviation, (numbers, 69 * waves).

    Parameters
    ----------
    left : (windows, 69 * waves)
    weigh : (69 * waves,)
        How far a unit of each number moves the joints; components are ordered by how far theirs do.
    """
    scaled = left * weigh
    powers, axes = np.linalg.eigh(scaled.T @ scaled / len(scaled))
    kept = powers > powers[-1] * _SMALLEST
    return np.ascontiguousarray(((axes * np.sqrt(np.maximum(powers, 0.0)))[:, kept] / weigh[:, None]).T[::-1])


def influence() -> np.ndarray:
    """How far a unit of each of the residual's 69 numbers moves the joints, (69,): root mean square over joints in
    metres; a turn moves what hangs on the joint, the root's place moves all."""
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (len(LAFAN1), 1))
    places = world_pose(LAFAN1, np.zeros(3), rest).positions
    below = np.zeros(len(LAFAN1))
    for joint in range(len(LAFAN1)):
        above = LAFAN1.parents[joint]
        while above >= 0:
            below[above] += ((places[joint] - places[above]) ** 2).sum()
            above = LAFAN1.parents[above]
    # hands and feet move nobody else, and still count
    reach = np.sqrt(below / len(LAFAN1) + 0.02**2)
    return np.concatenate([np.repeat(reach, 3), np.ones(3)])


def _unit(known, left, scale) -> np.ndarray:
    return left.reshape(len(left), -1) / np.exp(scale_terms(known) @ scale)[:, None]


def _numbers(model: LengthFlow, examples: Examples, weigh) -> torch.Tensor:
    """The whitened numbers that the network learns, (windows, components) float32."""
    axes = model.axes[: model.network.components]
    powers = ((axes * weigh) ** 2).sum(axis=1)
    left = _unit(examples.known, examples.waves, model.scale)
    return torch.from_numpy(((left * weigh) @ (axes * weigh).T / powers).astype(np.float32))
