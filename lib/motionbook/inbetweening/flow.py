"""Many motions through the same keys: conditional flow matching on what a deterministic model leaves over.

Between two poses lies more than one motion. A regression answers with their mean; this model draws from them. What a
``delta`` model misses is written in half sines over the gap, which vanish at both keys, divided by how much it can be
expected to miss, and turned into uncorrelated numbers of unit variance (principal components, whitened).
Over the first of these numbers, z, a flow is learned (Lipman et al. 2023, Liu et al. 2023, Tong et al. 2024): on the
straight path

    x_t = (1 - t) x_0 + t z,    x_0 ~ N(0, 1)

a network regresses the velocity z - x_0 from x_t, t, and what is known before the gap is filled; a sample solves
dx/dt = v(x, t) from noise at t = 0 to t = 1. The remaining numbers are drawn as the normal numbers they nearly are.

Were z normal and independent of what is known, the velocity would be (2 t - 1) / ((1 - t)^2 + t^2) x
(``gaussian_velocity``, with standard deviation 1). The network adds to that and starts at zero, so that the untrained
model is the normal distribution of the training people's residuals.

Every sample meets both keys, has rotations that are rotations and bones of the right length, and knows neither place
nor heading. The noise of a window depends on the seed, the length and the window's own clip and start, not on the
windows beside it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from motionbook.inbetweening import kriging
from motionbook.inbetweening import residual as res
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.delta import DeltaPredictor
from motionbook.inbetweening.threads import one_thread
from motionbook.inbetweening.windows import Windows

METHODS = ("euler", "midpoint", "rk4")
# What a temperature is chosen for, see ``flow_training.choose_temperatures``
TUNINGS = ("energy", "coverage", "best")
_CHUNK = 4096  # samples sent through the network together
_WINDOWS = 512  # windows that the centre is asked for together
_AHEAD = 20.0  # frames that a step is followed for, which makes it about as large as the way to a target
_STILL = 1e-3  # no one moves less than a capture trembles
_TERMS_MEAN = -4.0  # of the logarithms, roughly: a hundredth of a radian


@dataclass(frozen=True)
class FlowConfig:
    """Sizes of the model and of its training, for each transition length.

    Attributes
    ----------
    waves : int
        Half sines per number of the residual.
    components : int
        Whitened numbers that the network sees; the others are drawn independently.
    width, blocks : int
        Of the network.
    seen : int
        Whitened inputs that describe the motion before the gap and the way to the target.
    dropout, noise : float
        Of what the network is told of these, in training.
    steps, batch, rate
        Of gradient descent. ``steps=0`` leaves the normal distribution.
    offset : int
        Frames between training windows.
    ode_steps : int
    method : "euler", "midpoint" or "rk4"
        Of the integration.
    """

    waves: int = 20
    components: int = 48
    width: int = 192
    blocks: int = 2
    seen: int = 64
    dropout: float = 0.5
    noise: float = 0.3
    steps: int = 1000
    batch: int = 256
    rate: float = 1e-3
    offset: int = 4
    ode_steps: int = 6
    method: str = "midpoint"


class LengthFlow(NamedTuple):
    """The model of one transition length.

    Attributes
    ----------
    scale : (5,)
        Weights of ``scale_terms`` for the logarithm of how much is left over.
    axes : (numbers, 69 * waves)
        What one standard deviation of each whitened number adds, the largest first, at scale 1.
    inputs : (276, seen)
        From motion of scale 1 to the network's whitened inputs.
    network : VelocityNetwork
    temperatures : mapping of tuning to number
        What the distance of samples from the deterministic answer is multiplied by; chosen on the validation people, 1
        where there are none. (Less noise to start from instead does worse: lively samples, which are rare, disappear
        first.)
    """

    scale: np.ndarray
    axes: np.ndarray
    inputs: np.ndarray
    network: "VelocityNetwork"
    temperatures: Mapping[str, float] = MappingProxyType(dict.fromkeys(TUNINGS, 1.0))


def steps_of(known) -> np.ndarray:
    """The context's last step, its mean steps over the last 3 and 9 frames, and the way to the target, (windows, 276).

    From the known offsets (windows, 10, 69). Steps rather than places, in which velocities are hard to find.
    """
    parts = [-known[:, span - 1] / span for span in (1, 3, 9)]
    steps = np.concatenate([_AHEAD * np.stack(parts, axis=1), known[:, -1:]], axis=1)
    return steps.reshape(len(known), 4 * known.shape[-1])


def scale_terms(known) -> np.ndarray:
    """A constant and the logarithms of how far the last step, the last 3 and 9 lead, and of the way to the target.

    (windows, 5), from the known offsets (windows, 10, 69).
    """
    sizes = (steps_of(known).reshape(len(known), 4, known.shape[-1]) ** 2).mean(axis=-1)
    return np.concatenate([np.ones((len(known), 1)), 0.5 * np.log(sizes + _STILL**2)], axis=1)


def inputs_of(model: LengthFlow, known) -> torch.Tensor:
    """What the network is told of windows with these known offsets, (windows, seen + 4) float32."""
    terms = scale_terms(known)
    size = np.exp(terms[:, 1:].max(axis=1, keepdims=True))
    motion = np.clip(steps_of(known) / size @ model.inputs, -5.0, 5.0)
    return torch.from_numpy(np.concatenate([motion, terms[:, 1:] - _TERMS_MEAN], axis=1).astype(np.float32))


class VelocityNetwork(nn.Module):
    """v(x, t, known) of the first whitened numbers: the velocity of a normal distribution, and a perceptron."""

    def __init__(self, components: int, known: int, width: int, blocks: int, generator: torch.Generator):
        super().__init__()
        self.components, self.sizes = components, (components, known, width, blocks)
        self.enter = nn.Linear(components + 11, width)
        self.tell = nn.Linear(known, width)
        self.blocks = nn.ModuleList(_Block(width) for _ in range(blocks))
        self.leave, self.gain = nn.Linear(width, components), nn.Linear(width, components)
        with torch.no_grad():
            for layer in (m for m in self.modules() if isinstance(m, nn.Linear)):
                bound = layer.in_features**-0.5
                layer.weight.uniform_(-bound, bound, generator=generator)
                layer.bias.zero_()
            self.leave.weight.zero_()
            self.gain.weight.zero_()

    def forward(self, x_BC: torch.Tensor, t_B: torch.Tensor, known_BK: torch.Tensor) -> torch.Tensor:
        """Velocity (B, components)."""
        return gaussian_velocity(x_BC, t_B[:, None]) + self.correction(x_BC, t_B, known_BK) / spread(t_B[:, None])

    def correction(self, x_BC: torch.Tensor, t_B: torch.Tensor, known_BK: torch.Tensor) -> torch.Tensor:
        """What is added, in units of the velocity's standard deviation around ``gaussian_velocity``."""
        scaled = x_BC / spread(t_B[:, None])
        angles = torch.pi * t_B[:, None] * torch.tensor([0.5, 1.0, 2.0, 4.0])
        # how large a sample is tells whether it is one of the lively ones, which all its numbers then are
        sizes = torch.stack(
            [scaled[:, :n].square().mean(dim=1).add(1e-4).log() for n in (4, 16, self.components)], dim=1
        )
        h = self.enter(torch.cat([scaled, sizes, angles.sin(), angles.cos()], dim=1)) + self.tell(known_BK)
        for block in self.blocks:
            h = block(h)
        h = nn.functional.silu(h)
        return self.leave(h) + self.gain(h) * scaled


class _Block(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, h):
        return h + self.down(nn.functional.silu(self.up(self.norm(h))))


def spread(t):
    """Standard deviation of x_t where x_0 and z are normal with variance 1."""
    return ((1 - t) ** 2 + t**2) ** 0.5


def gaussian_velocity(x, t, std=1.0):
    """The exact velocity where x_0 ~ N(0, 1) and z ~ N(0, std^2): its flow takes x_0 to std x_0."""
    return (t * std**2 - (1 - t)) / ((1 - t) ** 2 + t**2 * std**2) * x


def integrate(field: Callable, x, steps: int, method: str = "midpoint"):
    """Solve dx/dt = field(x, t) from t = 0 to t = 1 in equal steps.

    Parameters
    ----------
    field : function of (x, t)
        t is a float.
    x : array or tensor
    steps : int
    method : "euler", "midpoint" or "rk4"
        The error falls with the first, second and fourth power of the steps, for one, two and four calls a step.
    """
    if method not in METHODS:
        raise KeyError(f"no method {method!r}; there are {', '.join(METHODS)}")
    if steps < 1:
        raise ValueError(f"steps: expected at least 1, got {steps}")
    h = 1.0 / steps
    for step in range(steps):
        t = step * h
        slope = field(x, t)
        if method == "midpoint":
            slope = field(x + 0.5 * h * slope, t + 0.5 * h)
        elif method == "rk4":
            second = field(x + 0.5 * h * slope, t + 0.5 * h)
            third = field(x + 0.5 * h * second, t + 0.5 * h)
            slope = (slope + 2 * second + 2 * third + field(x + h * third, t + h)) / 6
        x = x + h * slope
    return x


class Flow:
    """A probabilistic in-betweening system; as a predictor it answers with the mean of samples, or with one.

    Parameters
    ----------
    of_length : function of a transition length
        Gives its ``LengthFlow``; called whenever one is needed.
    centre : DeltaPredictor
        The deterministic model that samples are drawn around; without networks it is kriging.
    config : FlowConfig
    seed : int
        Of the samples that a call as predictor draws.
    answer : "mean" or "sample"
        What a call as predictor returns.
    count : int
        Samples in the mean.
    tuned : "energy", "coverage" or "best"
        Which of the temperatures samples are drawn at: that which describes people best; that at which the truth lies
        between samples as often as it should; or that at which the best of 16 samples comes closest.
    """

    def __init__(
        self,
        of_length: Callable[[int], LengthFlow],
        centre: DeltaPredictor,
        config: FlowConfig,
        *,
        seed: int = 0,
        answer: str = "mean",
        count: int = 16,
        tuned: str = "energy",
    ):
        if answer not in ("mean", "sample"):
            raise ValueError(f'answer: expected "mean" or "sample", got {answer!r}')
        if tuned not in TUNINGS:
            raise ValueError(f"tuned: expected one of {', '.join(TUNINGS)}, got {tuned!r}")
        self.of_length, self.centre, self.config = of_length, centre, config
        self.seed, self.answer, self.count, self.tuned = seed, answer, count, tuned

    def __call__(self, windows: Windows, transition: int) -> LocalPose:
        """The frames in between; the mean is taken in the residual, so that it meets the keys and keeps the bones."""
        if self.answer == "sample":
            return LocalPose(*(x[0] for x in self.sample(windows, transition, 1, self.seed)))
        drawn = self.residuals(windows, transition, self.count, self.seed)
        return res.apply_residual(windows, transition, drawn.mean(axis=0))

    def sample(self, windows: Windows, transition: int, count: int = 1, seed: int = 0) -> LocalPose:
        """Different motions between the same keys.

        Returns
        -------
        LocalPose
            Root places (count, windows, frames, 3) and rotations (count, windows, frames, joints, 4). The first
            samples stay the same when more are asked for.
        """
        drawn = self.residuals(windows, transition, count, seed)
        made = [res.apply_residual(windows, transition, each) for each in drawn]
        return LocalPose(*(np.stack(parts) for parts in zip(*made, strict=True)))

    def answering(
        self, answer: str | None = None, seed: int | None = None, count: int | None = None, tuned: str | None = None
    ) -> "Flow":
        """The same model with another answer, seed, number of samples in the mean, or temperature."""
        return Flow(
            self.of_length,
            self.centre,
            self.config,
            seed=self.seed if seed is None else seed,
            answer=answer or self.answer,
            count=self.count if count is None else count,
            tuned=tuned or self.tuned,
        )

    def residuals(self, windows: Windows, transition: int, count: int, seed: int) -> np.ndarray:
        """Samples of the residual over the geodesic, (count, windows, transition, 69)."""
        if count < 1:
            raise ValueError(f"count: expected at least one sample, got {count}")
        model = self.of_length(transition)
        noise = noise_of(windows, transition, count, seed, len(model.axes))
        away = deviations_of(model, kriging.known_offsets(windows, transition), noise, transition, self.config)
        return centre_of(self.centre, windows, transition) + model.temperatures[self.tuned] * away


def centre_of(centre: DeltaPredictor, windows: Windows, transition: int) -> np.ndarray:
    """The deterministic model's residual over the geodesic, (windows, transition, 69)."""
    starts = range(0, max(len(windows), 1), _WINDOWS)
    return np.concatenate([centre.residual(windows[n : n + _WINDOWS], transition)[:, 1:-1] for n in starts])


def deviations_of(model: LengthFlow, known, noise, transition: int, config: FlowConfig) -> np.ndarray:
    """How far from the centre noise (count, windows, numbers) leads at temperature 1, (count, windows, frames, 69)."""
    numbers = np.array(noise, dtype=np.float64)
    seen, (count, n, _) = model.network.components, numbers.shape
    if n:
        told = inputs_of(model, known).repeat(count, 1)
        start = torch.from_numpy(numbers[..., :seen].reshape(-1, seen).astype(np.float32))
        parts = zip(start.split(_CHUNK), told.split(_CHUNK), strict=True)
        with torch.inference_mode(), one_thread():
            ends = [_flow(model.network, x, k, config) for x, k in parts]
        numbers[..., :seen] = torch.cat(ends).double().numpy().reshape(count, n, seen)
    left = (numbers @ model.axes).reshape(count, n, res.SIZE, model.axes.shape[1] // res.SIZE)
    left *= np.exp(scale_terms(known) @ model.scale)[:, None, None]
    return np.swapaxes(left @ res.time_waves(transition, config.waves).T, 2, 3)


def _flow(network: VelocityNetwork, x, known, config: FlowConfig) -> torch.Tensor:
    return integrate(lambda x, t: network(x, torch.full((len(x),), t), known), x, config.ode_steps, config.method)


def noise_of(windows: Windows, transition: int, count: int, seed: int, size: int) -> np.ndarray:
    """Standard normal noise (count, windows, size) that belongs to each window, whichever stand beside it."""
    noise = np.empty((count, len(windows), size))
    for at, key in enumerate(zip(windows.clips, windows.starts, strict=True)):
        generator = np.random.default_rng([seed, transition, *(int(k) for k in key)])
        noise[:, at] = generator.standard_normal((count, size))
    return noise
