"""The two-stage transformer trained on some people and handed over as a predictor: the published system, at any size.

First the context network, then the detail network on top of it. Statistics, windows and networks are made anew from the
training people of each call, so nothing passes from one fold to the next.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from motionbook.inbetweening import checkpoints
from motionbook.inbetweening.attention import layout
from motionbook.inbetweening.evaluation import position_moments, position_statistics, score_windows
from motionbook.inbetweening.losses import CONTEXT_WEIGHTS, DETAIL_WEIGHTS, Truth, gap_losses, weighted
from motionbook.inbetweening.motion_tensors import Statistics, feature_statistics
from motionbook.inbetweening.networks import ContextNetwork, DetailNetwork, NetworkConfig
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.training import Trained, TrainingConfig, fit
from motionbook.inbetweening.training_batches import LONGEST, SHORTEST, TrainingWindows, gap_of_step
from motionbook.inbetweening.two_stage import TwoStage, detail_input, first_stage, in_time, shift
from motionbook.inbetweening.windows import BENCHMARK, CONTEXT, STATISTICS, Windows, make_windows

# Windows that decide when to stop: 65 frames, so far apart, from this frame on; filled at this length
VALIDATION_OFFSET, VALIDATION_START, VALIDATION_LENGTH = 80, 35, 30
VERSION = 1  # of training; runs of another are not gone on from


@dataclass(frozen=True)
class TwoStageConfig:
    """Everything about a training run but its data, seed and number of steps.

    Attributes
    ----------
    network : NetworkConfig
        Of both stages.
    context, detail : TrainingConfig
    shortest, longest : int
        Transition lengths in training.
    midways : bool
        Give some frames of long transitions to the networks.
    after_target : bool
        Let the shift between the stages read the frame after the target, as published; see ``two_stage``.
    detail_on : "last" or "best"
        Which state of the context network the detail network learns on. The published training takes the last, its
        evaluation the best; in a short run the two can be far apart, so ``small`` learns on the best.
    """

    network: NetworkConfig = NetworkConfig()  # noqa: RUF009 (frozen)
    context: TrainingConfig = field(default_factory=TrainingConfig)
    detail: TrainingConfig = field(default_factory=lambda: TrainingConfig(rate=0.025, validate_every=2000))
    shortest: int = SHORTEST
    longest: int = LONGEST
    midways: bool = True
    after_target: bool = True
    detail_on: str = "last"

    def __post_init__(self):
        if self.detail_on not in ("last", "best"):
            raise ValueError(f'detail_on: expected "last" or "best", got {self.detail_on!r}')

    @classmethod
    def small(cls, width: int = 64, layers: int = 3, steps: int = 200) -> "TwoStageConfig":
        """A size and a schedule for so many steps per stage on a CPU: highest rate 0.002 after a tenth of them."""
        warmup = max(steps // 10, 1)
        training = TrainingConfig(
            rate=0.002 * warmup**0.5,
            warmup=warmup,
            clip_norm=1.0,
            checkpoint_every=steps,
            validate_every=max(steps // 4, 1),
        )
        return cls(NetworkConfig.small(width, layers), training, training, detail_on="best")


class TwoStageRun(NamedTuple):
    """A trained predictor with what each stage's training left."""

    predictor: TwoStage
    context: Trained
    detail: Trained


def context_losses(network, truth: Truth, scale, transition: int, midways=()) -> Mapping[str, torch.Tensor]:
    """Terms of the first stage's loss for a batch."""
    made = first_stage(network, truth.z[:, : CONTEXT + transition + 1], transition, midways)
    return gap_losses(made.to(truth.z.dtype), truth, scale)


def detail_losses(network, context, truth: Truth, scale, transition, midways=(), after_target=True):
    """Terms of the second stage's loss for a batch; no gradient reaches the context network."""
    until = truth.z[:, : CONTEXT + transition + 1]
    with torch.no_grad():
        made = first_stage(context, until, transition, midways).to(truth.z.dtype)
        given = detail_input(shift(made, truth.z, after_target), until, scale, transition, midways)
    plan = layout(transition, midways, all_keys=True)
    return gap_losses(in_time(network(given, plan), plan).to(truth.z.dtype), truth, scale)


def train(
    config: TwoStageConfig,
    recordings: Sequence[Recording],
    validation: Sequence[Recording] = (),
    folder: str | Path | None = None,
    *,
    steps: int | tuple[int, int] | None = None,
    device: str = "cpu",
    seed: int = 0,
    progress: bool = False,
    tensorboard: bool = False,
) -> TwoStageRun:
    """Train both stages on some people, or go on where a killed run of the same folder stopped.

    Parameters
    ----------
    config : TwoStageConfig
    recordings, validation : sequences of Recording
        People to learn from, and others that decide which state is best: lowest L2P + L2Q + NPSS over 30 frames. With
        nobody (or nobody long enough) there the last state counts, which the notes of the result say.
    folder : path, optional
        Gets ``context`` and ``detail``, each with checkpoints and tables, and ``predictor.safetensors``.
    steps : int or two of them, optional
        Of the context and the detail stage. None: the epochs of the configuration.
    device, seed, progress, tensorboard
        See ``training.fit``.
    """
    folder = None if folder is None else Path(folder)
    clips = [r.clip for r in recordings]
    statistics = feature_statistics(clips)
    windows = TrainingWindows(clips, statistics, CONTEXT + config.longest + 1, device)
    # the shift between the stages reads one frame more
    longer = TrainingWindows(clips, statistics, windows.length + config.after_target, device)
    counts = _steps(config, steps, windows, longer)
    checked = _validation(recordings, validation)
    # the caller's own random numbers go on as if nothing had happened
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        networks = ContextNetwork(config.network), DetailNetwork(config.network)
    identity = {
        "version": VERSION,
        "validated on": sorted(f"{r.group}/{r.name}" for r in validation),
        "people": sorted({r.subject for r in recordings}),
        "frames": [len(c) for c in clips],
        "motion": zlib.crc32(statistics.mean.tobytes() + statistics.std.tobytes()),
        "network": config.network.as_dict(),
    }
    common = {"device": device, "seed": seed, "progress": progress, "tensorboard": tensorboard}

    def gap(step):
        return gap_of_step(step, seed, config.shortest, config.longest, config.midways)

    def context_step(network, step, share):
        truth = windows.batch(share(windows.numbers(step, config.context.batch, seed)))
        terms = context_losses(network, truth, windows.scale, *gap(step))
        return weighted(terms, CONTEXT_WEIGHTS), {k: terms[k] for k in CONTEXT_WEIGHTS}

    context = fit(
        networks[0],
        context_step,
        config.context,
        steps=counts[0],
        folder=folder and folder / "context",
        validate=checked and (lambda n: checked(TwoStage(n, None, statistics, config.after_target))),
        identity={**identity, "stage": "context", "options": _options(config)},
        title="context",
        **common,
    )
    below = ContextNetwork(config.network).to(windows.device)
    below.load_state_dict(context.last if config.detail_on == "last" else context.network.state_dict())
    below.requires_grad_(False).eval()

    def detail_step(network, step, share):
        truth = longer.batch(share(longer.numbers(step, config.detail.batch, seed)))
        terms = detail_losses(network, below, truth, longer.scale, *gap(step), config.after_target)
        return weighted(terms, DETAIL_WEIGHTS), {k: terms[k] for k in DETAIL_WEIGHTS}

    detail = fit(
        networks[1],
        detail_step,
        config.detail,
        steps=counts[1],
        folder=folder and folder / "detail",
        validate=checked and (lambda n: checked(TwoStage(context.network, n, statistics, config.after_target))),
        identity={**identity, "stage": "detail", "options": _options(config), "context_steps": counts[0]},
        title="detail",
        **common,
    )
    predictor = TwoStage(context.network, detail.network, statistics, config.after_target)
    if folder is not None:
        save(predictor, folder / "predictor.safetensors")
    return TwoStageRun(predictor, context, detail)


def two_stage_learner(
    config: TwoStageConfig | None = None,
    steps: int | tuple[int, int] | None = None,
    folder: str | Path | None = None,
    device: str = "cpu",
    *,
    progress: bool = False,
    tensorboard: bool = False,
) -> Callable:
    """A learner for ``evaluate``: ``learner(train, validation, *, seed) -> predictor``, trained anew for every fold.

    Each fold's run has a folder of its own below ``folder``, named after its training people, which
    ``learner.place(recordings, seed)`` gives; a fold that was trained before is not trained again.
    """
    config = config or TwoStageConfig()

    def place(recordings: Sequence[Recording], seed: int) -> Path | None:
        people = " ".join(sorted({f"{r.group}/{r.name}" for r in recordings}))
        return folder and Path(folder) / f"fold_{zlib.crc32(people.encode()):08x}_seed{seed}"

    def learner(recordings: Sequence[Recording], validation: Sequence[Recording] = (), *, seed: int = 0) -> TwoStage:
        run = train(
            config, recordings, validation, place(recordings, seed),
            steps=steps, device=device, seed=seed, progress=progress, tensorboard=tensorboard,
        )  # fmt: skip
        return run.predictor

    learner.label, learner.place = label(config, steps), place
    return learner


def label(config: TwoStageConfig, steps: int | tuple[int, int] | None = None) -> str:
    """What a table calls the system: its size and how long it was trained."""
    size = f"width {config.network.width}, {config.network.layers} layers"
    if steps is None:
        return f"Neural Network ({size}, {config.context.epochs} epochs)"
    counts = (steps, steps) if isinstance(steps, int) else steps
    return f"Neural Network ({size}, {counts[0]:,} + {counts[1]:,} steps)"


def predict(predictor: TwoStage, windows: Windows, transition: int, batch: int = 256):
    """Fill many windows that stand and face anywhere, ``batch`` at a time: root places and rotations of the gaps."""
    parts = [predictor(windows[i : i + batch], transition) for i in range(0, len(windows), batch)]
    return (
        type(parts[0])(*(np.concatenate(p) for p in zip(*parts, strict=True)))
        if parts
        else predictor(windows, transition)
    )


def save(predictor: TwoStage, path: str | Path) -> Path:
    """Networks, statistics and options in one safetensors file."""
    tensors = {f"context.{k}": v for k, v in predictor.context.state_dict().items()}
    if predictor.detail is not None:
        tensors |= {f"detail.{k}": v for k, v in predictor.detail.state_dict().items()}
    tensors |= {f"statistics.{k}": torch.as_tensor(v) for k, v in predictor.statistics._asdict().items()}
    options = {k: getattr(predictor, k) for k in ("after_target", "shift_context", "shift_detail")}
    notes = {"network": predictor.context.config.as_dict(), "options": options}
    return checkpoints.write(Path(path), tensors, notes)


def load(path: str | Path, device: str = "cpu") -> TwoStage:
    """What ``save`` wrote."""
    tensors, notes = checkpoints.read(Path(path))
    config = NetworkConfig(**notes["network"])

    def network(kind, name):
        weights = {k.removeprefix(f"{name}."): v for k, v in tensors.items() if k.startswith(f"{name}.")}
        if not weights:
            return None
        made = kind(config).to(next(iter(weights.values())).dtype)
        made.load_state_dict(weights)
        return made.to(device).eval()

    statistics = Statistics(tensors["statistics.mean"].numpy(), tensors["statistics.std"].numpy())
    return TwoStage(
        network(ContextNetwork, "context"), network(DetailNetwork, "detail"), statistics, **notes["options"]
    )


def _steps(config, steps, windows, longer) -> tuple[int, int]:
    if steps is None:
        return tuple(
            part.epochs * data.steps_per_epoch(part.batch)
            for part, data in ((config.context, windows), (config.detail, longer))
        )
    return (steps, steps) if isinstance(steps, int) else tuple(steps)


def _options(config: TwoStageConfig) -> dict:
    """What of a configuration is not in its network or its training."""
    return {k: v for k, v in asdict(replace(config)).items() if k not in ("network", "context", "detail")}


def _validation(recordings, validation):
    """A function that scores a predictor on people it was not trained on, or None without windows of theirs."""
    windows = make_windows([r.clip for r in validation], BENCHMARK[0], VALIDATION_OFFSET, start=VALIDATION_START)
    if not len(windows):
        return None
    moments = position_moments(make_windows([r.clip for r in recordings], *STATISTICS))
    _, std = position_statistics([moments])

    def score(predictor: TwoStage) -> dict[str, float]:
        found = score_windows(windows, std, (VALIDATION_LENGTH,), {"": predictor})["", VALIDATION_LENGTH]
        numbers = {
            "L2P": float(found.l2p.mean()),
            "L2Q": float(found.l2q.mean()),
            "NPSS": float(found.npss_distance.sum() / found.npss_power.sum()),
        }
        return {**numbers, "score": sum(numbers.values())}

    return score
