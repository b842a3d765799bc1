"""The state of a training run in one safetensors file, written whole, and back without a bit lost.

Weights, the optimiser's moments, torch's random state and the step are tensors; the rest is a line of JSON. No pickle:
a checkpoint from somebody else cannot run code.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from motionbook.files import write_whole


class Checkpoint(NamedTuple):
    """Tensors by name ("network.*", "optimiser.<parameter>.*", "random.*", others) and what was noted with them."""

    tensors: dict[str, torch.Tensor]
    notes: dict


def write(path: Path, tensors: Mapping[str, torch.Tensor], notes: Mapping) -> Path:
    """Write tensors and JSON notes whole or not at all."""
    save_file = _safetensors().torch.save_file
    plain = {name: t.detach().cpu().contiguous().clone() for name, t in tensors.items()}
    about = {"notes": json.dumps(dict(notes), sort_keys=True)}
    return write_whole(path, lambda place: save_file(plain, place, metadata=about))


def read(path: Path) -> Checkpoint:
    """What ``write`` wrote, on the CPU."""
    with _safetensors().safe_open(str(path), "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}
        return Checkpoint(tensors, json.loads(file.metadata()["notes"]))


def run_state(network: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    """Everything that the next step depends on, by name."""
    tensors = {f"network.{name}": value for name, value in network.state_dict().items()}
    for name, parameter in network.named_parameters():
        for key, value in optimiser.state.get(parameter, {}).items():
            tensors[f"optimiser.{name}.{key}"] = torch.as_tensor(value)
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    return tensors


def restore_run(checkpoint: Checkpoint, network: nn.Module, optimiser: torch.optim.Optimizer) -> None:
    """Put a run back where ``run_state`` found it; the same network and optimiser, any device."""
    restore_network(checkpoint, network)
    for name, parameter in network.named_parameters():
        start = f"optimiser.{name}."
        state = {key.removeprefix(start): value for key, value in checkpoint.tensors.items() if key.startswith(start)}
        # the step count of a fused optimiser lives on the device too
        if state:
            optimiser.state[parameter] = {key: value.to(parameter.device) for key, value in state.items()}
    torch.set_rng_state(checkpoint.tensors["random.cpu"])
    if torch.cuda.is_available() and "random.cuda" in checkpoint.tensors:
        torch.cuda.set_rng_state(checkpoint.tensors["random.cuda"])


def restore_network(checkpoint: Checkpoint, network: nn.Module) -> None:
    """The weights alone."""
    start = "network."
    weights = {k.removeprefix(start): v for k, v in checkpoint.tensors.items() if k.startswith(start)}
    network.load_state_dict(weights)


def newest(folder: Path, pattern: str = "step_*.safetensors") -> Path | None:
    """The checkpoint of the highest step in a folder; half-written files have other names."""
    found = sorted(Path(folder).glob(pattern))
    return found[-1] if found else None


def _safetensors():
    try:
        import safetensors
        import safetensors.torch
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "checkpoints need the package safetensors: pip install 'motionbook[video]'; "
            "or train with folder=None, which keeps nothing"
        ) from None
    return safetensors
