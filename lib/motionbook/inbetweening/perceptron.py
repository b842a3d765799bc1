"""A three-layer perceptron on the principal components of the residual, beside the ridge regression.

The ridge of ``ridge`` sees each number alone. The perceptron sees the whole body, the pose and how much the person
moves, and adds what it can to the ridge's answer, as the first principal components of the residual over the training
windows. It starts at zero, so that the system starts as the ridge; the state that is best on the validation people is
kept, which may be the start. On nine people's recorded idle motion it mostly is: six or seven people to learn from are
too few for it to find anything that carries over, and its scores equal the ridge's to a tenth of a per cent in most
cells. One network per transition length, trained in seconds on a CPU.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from motionbook.inbetweening import residual as res
from motionbook.inbetweening import ridge
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.threads import one_thread
from motionbook.inbetweening.windows import Windows

WIDTH, COMPONENTS, SEEN = 256, 64, 160
STEPS, BATCH, CHECK_EVERY = 400, 256, 25
_RATE, _DECAY, _DROPOUT, _NOISE = 1e-3, 0.1, 0.3, 0.1


class Inputs(NamedTuple):
    """How motion and pose become inputs of order one: axes (483, seen) of whitened motion, and the pose's scale."""

    axes: np.ndarray
    pose_mean: np.ndarray
    pose_std: np.ndarray

    def __call__(self, windows: Windows, transition: int) -> torch.Tensor:
        """Inputs (windows, seen + 70 + 1), float32."""
        size = res.motion_size(windows, transition)[:, None]
        motion = np.clip(res.motion_features(windows, transition) / size @ self.axes, -6.0, 6.0)
        pose = (res.pose_features(windows) - self.pose_mean) / self.pose_std
        return _tensor(np.concatenate([motion, np.clip(pose, -3.0, 3.0), np.log(size)], axis=1))


class Fitted(NamedTuple):
    """One transition length: the ridge, the inputs, the network and the components (components, 69 * waves)."""

    maps: ridge.LinearMaps
    inputs: Inputs
    network: nn.Module
    components: np.ndarray

    def __call__(self, windows: Windows, transition: int) -> LocalPose:
        """The frames in between."""
        plain = ridge.inputs_of(windows, transition) @ self.maps.weights
        with torch.inference_mode(), one_thread():
            added = self.network(self.inputs(windows, transition)).double().numpy() @ self.components
        added = np.moveaxis(added.reshape(len(windows), res.SIZE, added.shape[1] // res.SIZE), 1, 0)
        return ridge.pose_of(windows, transition, plain + added)


def perceptron_learner(steps: int = STEPS, offset: int = ridge.OFFSET) -> Callable[..., Callable]:
    """A learner for ``evaluation``; the network of a transition length is trained when it is first asked for.

    Parameters
    ----------
    steps : int
        Of gradient descent per transition length.
    offset : int
        Frames between training windows.
    """

    def learner(train: Sequence[Recording], validation: Sequence[Recording] = (), *, seed: int = 0):
        @cache
        def fitted(transition: int) -> Fitted:
            parts = [res.training_windows(r, transition, offset) for r in (train, validation)]
            return fit(*parts, transition, seed, steps)

        return lambda windows, transition: fitted(transition)(windows, transition)

    return learner


@one_thread()
def fit(known: Windows, checked: Windows, transition: int, seed: int, steps: int = STEPS) -> Fitted:
    """Ridge first, then the network on what the ridge leaves over."""
    examples, checks = ridge.examples(known, transition), ridge.examples(checked, transition)
    maps = ridge.fit(examples, checks)
    targets = _flat(examples.outputs)
    moments = np.linalg.eigh(targets.T @ targets)[1]
    components = np.ascontiguousarray(moments[:, ::-1][:, :COMPONENTS].T)
    inputs = _inputs(known, transition)
    left, checked_left = (
        _tensor(_flat(e.outputs - e.inputs @ maps.weights) @ components.T) for e in (examples, checks)
    )
    generator = torch.Generator().manual_seed(seed)
    x, y = inputs(known, transition), (inputs(checked, transition) if len(checked) else None)
    network = _train(x, left, y, checked_left, steps, generator)
    return Fitted(maps, inputs, network, components)


def _inputs(windows: Windows, transition: int) -> Inputs:
    motion = res.motion_features(windows, transition) / res.motion_size(windows, transition)[:, None]
    spread = np.sqrt((motion**2).mean(axis=0)) + 1e-6
    powers, axes = np.linalg.eigh((motion / spread).T @ (motion / spread) / len(motion))
    # whitened: velocities are small beside the way to the target, and count as much
    kept = slice(-SEEN, None)
    axes = axes[:, kept] / np.sqrt(np.maximum(powers[kept], 1e-9)) / spread[:, None]
    pose = res.pose_features(windows)
    return Inputs(axes, pose.mean(axis=0), np.maximum(pose.std(axis=0), 1e-2))


def _train(x, target, checked, checked_target, steps: int, generator: torch.Generator) -> nn.Module:
    network = _network(x.shape[1], target.shape[1], generator)
    unit = target.square().sum(1).mean().sqrt()
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=steps)

    def error() -> float:
        with torch.inference_mode():
            return float(torch.linalg.vector_norm(network(checked) - checked_target, dim=1).mean())

    best, kept = (np.inf, None) if checked is None else (error(), _copy(network))
    for step in range(1, steps + 1):
        rows = torch.randint(len(x), (BATCH,), generator=generator)
        noisy = x[rows] + _NOISE * torch.randn(BATCH, x.shape[1], generator=generator)
        # drop out by hand: the module of torch draws from the global generator
        seen = noisy * (torch.rand(noisy.shape, generator=generator) > _DROPOUT) / (1 - _DROPOUT)
        loss = ((network(seen) - target[rows]).square().sum(1) / unit**2 + 1e-4).sqrt().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if checked is not None and (step % CHECK_EVERY == 0 or step == steps) and (now := error()) < best:
            best, kept = now, _copy(network)
    if kept is not None:
        network.load_state_dict(kept)
    return network.eval()


def _network(inputs: int, outputs: int, generator: torch.Generator) -> nn.Module:
    layers = [nn.Linear(inputs, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, outputs)]
    with torch.no_grad():
        for layer in layers[::2]:
            bound = layer.in_features**-0.5
            layer.weight.uniform_(-bound, bound, generator=generator)
            layer.bias.zero_()
        layers[-1].weight.zero_()
    return nn.Sequential(*layers)


def _copy(network: nn.Module) -> dict:
    return {name: value.clone() for name, value in network.state_dict().items()}


def _flat(outputs) -> np.ndarray:
    """Outputs (69, windows, waves) as (windows, 69 * waves)."""
    return np.moveaxis(outputs, 0, 1).reshape(outputs.shape[1], outputs.shape[0] * outputs.shape[2])


def _tensor(values) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))
