"""Where a training step runs: one device in plain torch, or many processes and nodes through accelerate.

Started by ``accelerate launch`` (or torchrun), a training script finds itself one of several processes and takes the
second way; it needs no other change. ``batch`` always means the whole batch: every process takes an equal share, and
because every loss is a mean, the mean over processes is the loss of the whole.
"""

import os
from contextlib import nullcontext

import numpy as np
import torch
from torch import nn

PRECISIONS = ("auto", "none", "bf16", "fp16")


def choose_precision(precision: str, device: str) -> str:
    """What "auto" means on a device: bf16 or else fp16 on CUDA, full precision elsewhere."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision: expected one of {', '.join(PRECISIONS)}, got {precision!r}")
    if precision != "auto":
        return precision
    if not device.startswith("cuda"):
        return "none"
    return "bf16" if torch.cuda.is_bf16_supported() else "fp16"


def open_devices(device: str = "cpu", precision: str = "auto"):
    """``OneDevice``, or ``ManyProcesses`` when a launcher started several."""
    precision = choose_precision(precision, device)
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    return ManyProcesses(device, precision) if several else OneDevice(device, precision)


class OneDevice:
    """A device in this process; with fp16 the gradients are scaled so that small ones survive."""

    processes, main = 1, True

    def __init__(self, device: str, precision: str):
        self.device, self.precision = torch.device(device), precision
        self._kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=precision == "fp16")

    def prepare(self, network: nn.Module, optimiser):
        """Network and optimiser as a step uses them."""
        return network, optimiser

    def share(self, numbers: np.ndarray) -> np.ndarray:
        """This process's part of a batch."""
        return numbers

    def autocast(self):
        """Context in which the network runs."""
        return torch.autocast(self.device.type, self._kind) if self._kind else nullcontext()

    def backward(self, loss: torch.Tensor) -> None:
        """Gradients of a loss."""
        self.scaler.scale(loss).backward()

    def update(self, network: nn.Module, optimiser, clip_norm: float | None) -> None:
        """Shorten the gradient to ``clip_norm`` if it is longer, and take the step."""
        if clip_norm is not None:
            self.scaler.unscale_(optimiser)
            nn.utils.clip_grad_norm_(network.parameters(), clip_norm)
        self.scaler.step(optimiser)
        self.scaler.update()

    def mean(self, values: torch.Tensor) -> torch.Tensor:
        """Over all processes."""
        return values

    def wait(self) -> None:
        """Until all processes are here."""

    def state(self) -> dict:
        """What a checkpoint must hold besides tensors."""
        return self.scaler.state_dict()

    def restore(self, state: dict) -> None:
        """From ``state``."""
        if state:
            self.scaler.load_state_dict(state)


class ManyProcesses:
    """The same doors through accelerate, for as many devices and nodes as its launcher started."""

    def __init__(self, device: str, precision: str):
        try:
            from accelerate import Accelerator
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "several processes need the package accelerate: pip install 'motionbook[video]'"
            ) from None
        self._accelerator = Accelerator(cpu=device == "cpu", mixed_precision="no" if precision == "none" else precision)
        self.device, self.precision = self._accelerator.device, precision
        self.processes, self.main = self._accelerator.num_processes, self._accelerator.is_main_process

    def prepare(self, network: nn.Module, optimiser):
        """Network and optimiser as a step uses them."""
        return self._accelerator.prepare(network, optimiser)

    def share(self, numbers: np.ndarray) -> np.ndarray:
        """This process's part of a batch."""
        if len(numbers) % self.processes:
            raise ValueError(f"batch: {len(numbers)} windows cannot be shared equally by {self.processes} processes")
        return np.split(numbers, self.processes)[self._accelerator.process_index]

    def autocast(self):
        """Context in which the network runs."""
        return self._accelerator.autocast()

    def backward(self, loss: torch.Tensor) -> None:
        """Gradients of a loss, averaged over processes."""
        self._accelerator.backward(loss)

    def update(self, network: nn.Module, optimiser, clip_norm: float | None) -> None:
        """Shorten the gradient to ``clip_norm`` if it is longer, and take the step."""
        if clip_norm is not None:
            self._accelerator.clip_grad_norm_(network.parameters(), clip_norm)
        optimiser.step()

    def mean(self, values: torch.Tensor) -> torch.Tensor:
        """Over all processes."""
        return self._accelerator.reduce(values, reduction="mean")

    def wait(self) -> None:
        """Until all processes are here."""
        self._accelerator.wait_for_everyone()

    def state(self) -> dict:
        """What a checkpoint must hold besides tensors."""
        scaler = self._accelerator.scaler
        return scaler.state_dict() if scaler is not None else {}

    def restore(self, state: dict) -> None:
        """From ``state``."""
        if state and self._accelerator.scaler is not None:
            self._accelerator.scaler.load_state_dict(state)
