"""One visible training loop: Adam, a schedule, logs, checkpoints, exact resume, the best by validation.

A step's losses depend on the seed, the step's number and the state in the checkpoint, on nothing else. A run that was
killed therefore goes on as if nothing had happened: its table of losses ends up the same, to the last bit on a CPU.
"""

import csv
import io
import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from motionbook.files import write_whole
from motionbook.inbetweening import checkpoints
from motionbook.inbetweening.threads import small_on_one_thread
from motionbook.inbetweening.training_devices import open_devices


@dataclass(frozen=True)
class TrainingConfig:
    """How a network is trained; the defaults are the published recipe, all but ``rate``, which differs by stage.

    Attributes
    ----------
    rate, warmup : float, int
        See ``noam_rate``; 0.0625 and 8000 for the context network, 0.025 for the detail network.
    batch : int
        Windows per step, over all processes.
    epochs : int
        StayStill says 200, but its counter starts at 1.
    clip_norm : float, optional
        Longest gradient. None: not shortened, as published.
    precision : "auto", "none", "bf16" or "fp16"
    checkpoint_every, validate_every : int
        Steps.
    keep : int
        Newest checkpoints that stay.
    """

    rate: float = 0.0625
    warmup: int = 8000
    batch: int = 32
    epochs: int = 199
    clip_norm: float | None = None
    precision: str = "auto"
    checkpoint_every: int = 1000
    validate_every: int = 1000
    keep: int = 2

    def rate_at(self, step: int) -> float:
        """Learning rate of step ``step``, counted from 0."""
        return noam_rate(step, self.rate, self.warmup)


class Trained(NamedTuple):
    """What a run leaves: the network at its best by validation, its last state, the tables, and notes for the reader.

    ``losses`` and ``validation`` are lists of rows by column name; ``best_step`` counts the steps made before.
    """

    network: nn.Module
    last: dict[str, torch.Tensor]
    losses: list[dict]
    validation: list[dict]
    best_step: int
    notes: tuple[str, ...]


def noam_rate(step: int, base: float, warmup: int = 8000) -> float:
    """Learning rate that grows evenly for ``warmup`` steps from 0 and then falls with the root of the step."""
    return base * (step * warmup**-1.5 if step < warmup else step**-0.5)


@small_on_one_thread
def fit(
    network: nn.Module,
    losses_of: Callable[[nn.Module, int, Callable], tuple[torch.Tensor, Mapping[str, torch.Tensor]]],
    config: TrainingConfig,
    *,
    steps: int,
    folder: str | Path | None = None,
    device: str = "cpu",
    seed: int = 0,
    validate: Callable[[nn.Module], Mapping[str, float]] | None = None,
    identity: Mapping | None = None,
    title: str = "training",
    progress: bool = False,
    tensorboard: bool = False,
) -> Trained:
    """Train a network for so many steps, or go on where a killed run of the same folder stopped.

    Parameters
    ----------
    network : torch module
        Changed in place; holds the best weights afterwards.
    losses_of : function of the network, the step and a function that takes this process's share of a batch
        Gives the loss to differentiate and the terms to log.
    config : TrainingConfig
    steps : int
    folder : path, optional
        For checkpoints, losses.csv, validation.csv, TensorBoard's log. None keeps nothing.
    device, seed
        As torch names devices.
    validate : function of the network, optional
        Numbers of which "score" decides (least is best). Without it the last state counts as the best.
    identity : mapping, optional
        What makes this run itself (sizes, seed, people, ...); a folder of another run is refused.
    title : str
        In the progress bar.
    progress, tensorboard : bool
        Bar with the time left on stderr; TensorBoard's event file beside the tables.
    """
    if steps < 1:
        raise ValueError(f"steps: expected at least 1, got {steps}")
    devices = open_devices(device, config.precision)
    network.to(devices.device)
    fused = devices.device.type in ("cpu", "cuda")
    optimiser = torch.optim.Adam(network.parameters(), lr=config.rate_at(0), fused=fused)
    identity = json.loads(json.dumps({**(identity or {}), "seed": seed, "config": vars(config)}))
    run = _Run(folder, identity, devices, config)
    torch.manual_seed(seed + 1)
    first, best = run.resume(network, optimiser)
    wrapped, stepper = devices.prepare(network, optimiser)
    board = run.tensorboard(first) if tensorboard and devices.main else None
    for step in _counted(range(first, steps), title, first, steps, progress and devices.main):
        for group in optimiser.param_groups:
            group["lr"] = config.rate_at(step)
        wrapped.train()
        with devices.autocast():
            loss, terms = losses_of(wrapped, step, devices.share)
        optimiser.zero_grad(set_to_none=True)
        devices.backward(loss)
        devices.update(wrapped, stepper, config.clip_norm)
        values = devices.mean(torch.stack([loss.detach(), *(t.detach() for t in terms.values())]).float())
        row = {"step": step, "rate": config.rate_at(step)}
        row |= dict(zip(("loss", *terms), values.tolist(), strict=True))
        if not np.isfinite(row["loss"]):
            raise RuntimeError(f"{title}: the loss is {row['loss']} at step {step}; lower the rate or set clip_norm")
        run.losses.append(row)
        _plot(board, "training", row)
        done = step + 1
        if validate and (done % config.validate_every == 0 or done == steps):
            network.eval()
            scores = {"step": done, **validate(network)}
            run.validation.append(scores)
            _plot(board, "validation", scores)
            if best is None or scores["score"] < best.notes["score"]:
                best = _snapshot(network, {"step": done, "score": scores["score"]})
                run.write_best(best)
        if done % config.checkpoint_every == 0 or done == steps:
            run.write(done, network, optimiser)
    if board is not None:
        board.close()
    network.eval()
    last = {name: t.detach().clone() for name, t in network.state_dict().items()}
    if best is not None:
        checkpoints.restore_network(best, network)
    elif validate is None:
        run.notes.append("no validation: the last state counts")
    best_step = best.notes["step"] if best is not None else steps
    devices.wait()
    return Trained(network, last, run.losses, run.validation, best_step, tuple(run.notes))


class _Run:
    """Files of a run."""

    def __init__(self, folder, identity: Mapping, devices, config: TrainingConfig):
        self.folder = None if folder is None else Path(folder)
        self.identity, self.devices, self.config = identity, devices, config
        self.losses, self.validation, self.notes = [], [], []

    def resume(self, network, optimiser):
        """The step to go on from and the best state so far (or None)."""
        newest = checkpoints.newest(self.folder) if self.folder else None
        if newest is None:
            return 0, None
        found = checkpoints.read(newest)
        if found.notes["identity"] != self.identity:
            different = sorted(
                k
                for k in {*self.identity, *found.notes["identity"]}
                if self.identity.get(k) != found.notes["identity"].get(k)
            )
            raise ValueError(
                f"{self.folder}: holds another run, it differs in {', '.join(different)}; choose another folder"
            )
        checkpoints.restore_run(found, network, optimiser)
        self.devices.restore(found.notes["scaler"])
        step = found.notes["step"]
        # a killed run may have logged steps, or found a best, after its last checkpoint
        self.losses = [r for r in _read_rows(self.folder / "losses.csv") if r["step"] < step]
        self.validation = [r for r in _read_rows(self.folder / "validation.csv") if r["step"] <= step]
        self.notes.append(f"resumed at step {step}")
        return step, checkpoints.read(self.folder / "best.safetensors") if found.notes["best"] else None

    def write(self, step, network, optimiser):
        """Tables first, then the checkpoint that makes them valid; then the oldest checkpoint goes."""
        if self.folder is None or not self.devices.main:
            return
        _write_rows(self.folder / "losses.csv", self.losses)
        if self.validation:
            _write_rows(self.folder / "validation.csv", self.validation)
        notes = {"step": step, "identity": self.identity, "scaler": self.devices.state(), "best": bool(self.validation)}
        state = checkpoints.run_state(network, optimiser)
        checkpoints.write(self.folder / f"step_{step:09d}.safetensors", state, notes)
        for old in sorted(self.folder.glob("step_*.safetensors"))[: -self.config.keep]:
            old.unlink()

    def write_best(self, best):
        """The weights that validation prefers."""
        if self.folder is not None and self.devices.main:
            checkpoints.write(self.folder / "best.safetensors", best.tensors, best.notes)

    def tensorboard(self, first: int):
        """A writer, or None with a note where the package is absent."""
        if self.folder is None:
            return None
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            note = "no TensorBoard log: the package tensorboard is not installed (pip install 'motionbook[video]')"
            self.notes.append(note)
            warnings.warn(f"{note}; losses.csv holds the same numbers", stacklevel=3)
            return None
        return SummaryWriter(self.folder / "tensorboard", purge_step=first)


def _snapshot(network, notes) -> checkpoints.Checkpoint:
    return checkpoints.Checkpoint(
        {f"network.{n}": t.detach().cpu().clone() for n, t in network.state_dict().items()}, notes
    )


def _plot(board, what: str, row: Mapping) -> None:
    if board is not None:
        for name, value in row.items():
            if name != "step":
                board.add_scalar(f"{what}/{name}", value, row["step"])


def _counted(numbers, title, first, steps, shown):
    if not shown:
        return numbers
    from tqdm import tqdm

    return tqdm(numbers, desc=title, initial=first, total=steps, unit="step", dynamic_ncols=True)


def _write_rows(path: Path, rows: list[dict]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)  # floats as repr: reading gives the same bits
    write_whole(path, text.getvalue())


def _read_rows(path: Path) -> list[dict]:
    if not path.is_file():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return [{k: int(v) if k == "step" else float(v) for k, v in row.items()} for row in csv.DictReader(file)]
