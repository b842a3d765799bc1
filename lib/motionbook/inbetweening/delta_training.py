"""Training of the delta transformer: every window of the training people, all lengths, the metrics as the loss.

Each step draws windows that start anywhere, half of them mirrored, and one transition length. The loss is L2P and L2Q
themselves, divided by what kriging expects to be off by in that window and length: left as they are, a few lively
people and long gaps are all that the steps see (on two folds of nine people, 800 such steps gained little over kriging
at any length but five frames). The average of the weights over the steps is what validates: the state kept is the one
with the smallest mean of L2P and L2Q relative to SLERP's, where the first candidate is kriging alone.
"""

import copy
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from motionbook.inbetweening import checkpoints, kriging
from motionbook.inbetweening import quaternion_tensors as qt
from motionbook.inbetweening.baselines import slerp
from motionbook.inbetweening.delta import JOINTS, TOKENS, DeltaConfig, DeltaNetwork, DeltaPredictor
from motionbook.inbetweening.kriging import Moments, gap_maps, gap_moments, mirror_joints, motion_scale, shares
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.scoring import position_moments, position_statistics, score_windows
from motionbook.inbetweening.threads import one_thread
from motionbook.inbetweening.windows import BENCHMARK, CENTIMETRES, CONTEXT, LENGTHS, STATISTICS, make_windows

STEPS = {"smoke": 30, "reduced": 2000, "full": 20_000}
SHORTEST = 3
VALIDATIONS = 8  # times that a run stops to validate
_CLIP_NORM = 1.0
_LOSS_UNIT = 0.01  # brings the loss to about 1, for the gradient's clipping
_VERSION = 3  # of training and of the saved form; another number trains anew


class Batch(NamedTuple):
    """Windows as torch sees them: root (B, frames, 3) in cm, rotations (B, frames, 22, 4), bones (B, 22, 3) in cm."""

    root: torch.Tensor
    rotations: torch.Tensor
    bones: torch.Tensor


class TrainingMotion:
    """All frames of some recordings on a device, to draw windows from."""

    def __init__(self, recordings: Sequence[Recording], device: str = "cpu"):
        clips = [r.clip for r in recordings]
        if not clips:
            raise ValueError("delta: expected at least one training clip, got none")

        def joined(arrays):
            return torch.as_tensor(np.concatenate(list(arrays)), dtype=torch.float32, device=device)

        self.root = joined(CENTIMETRES * c.root_positions for c in clips)
        self.rotations = joined(c.rotations for c in clips)
        self.bones = joined(CENTIMETRES * c.skeleton.offsets[None] for c in clips)
        self.lengths = np.array([len(c) for c in clips])
        self.first = np.concatenate([[0], np.cumsum(self.lengths)[:-1]])

    def draw(self, rng: np.random.Generator, count: int, transition: int) -> Batch:
        """Windows that start anywhere, frame 9 at the origin and heading along +X, half of them mirrored."""
        frames = CONTEXT + transition + 1
        room = np.maximum(self.lengths - frames + 1, 0)
        if not room.sum():
            raise ValueError(f"delta: no training clip holds a window of {frames} frames; give longer recordings")
        ends = np.cumsum(room)
        chosen = rng.integers(ends[-1], size=count)
        clip = np.searchsorted(ends, chosen, side="right")
        start = self.first[clip] + chosen - (ends - room)[clip]
        index = torch.as_tensor(start[:, None] + np.arange(frames), device=self.root.device)
        root, rotations, bones = self.root[index], self.rotations[index], self.bones[torch.as_tensor(clip)]
        mirror = torch.as_tensor(rng.random(count) < 0.5, device=self.root.device)
        return start_facing(*mirrored(Batch(root, rotations, bones), mirror))


def mirrored(batch: Batch, which: torch.Tensor) -> Batch:
    """The batch with the windows of a mask (B,) seen in a mirror: left and right change places."""
    swap, q = mirror_joints(), batch.rotations
    other = Batch(
        batch.root * q.new_tensor([1.0, 1.0, -1.0]),
        q[:, :, swap] * q.new_tensor([1.0, -1.0, -1.0, 1.0]),
        batch.bones[:, swap] * q.new_tensor([1.0, 1.0, -1.0]),
    )
    return Batch(*(torch.where(which.view(-1, *[1] * (a.dim() - 1)), b, a) for a, b in zip(batch, other, strict=True)))


def start_facing(root, rotations, bones) -> Batch:
    """Windows moved to have frame 9 over the origin and heading along +X."""
    last = CONTEXT - 1
    turn = qt.heading_turn(rotations[:, last, 0])[:, None].expand(-1, root.shape[1], -1)
    origin = root[:, last : last + 1] * root.new_tensor([1.0, 0.0, 1.0])
    rotations = rotations.clone()
    rotations[:, :, 0] = qt.multiply(turn, rotations[:, :, 0])
    return Batch(qt.rotate(turn, root - origin), rotations, bones)


def known_of(batch: Batch) -> torch.Tensor:
    """``kriging.known_offsets`` of a batch whose last frame is the target, (B, 10, 69)."""
    frames, last = [*range(CONTEXT - 2, -1, -1), batch.root.shape[1] - 1], CONTEXT - 1
    turns = qt.logarithm(qt.multiply(qt.inverse(batch.rotations[:, last : last + 1]), batch.rotations[:, frames]))
    moved = (batch.root[:, frames] - batch.root[:, last : last + 1]) / CENTIMETRES
    return torch.cat([turns.flatten(2), moved], dim=-1)


def pose_of(batch: Batch) -> torch.Tensor:
    """``delta.pose_tokens`` of a batch that faces +X, (B, 23, 6)."""
    w, x, y, z = batch.rotations[:, CONTEXT - 1].unbind(-1)
    first = [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)]
    second = [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)]
    tokens = w.new_zeros(len(w), TOKENS, 6)
    tokens[:, :JOINTS] = torch.stack(first + second, dim=-1)
    tokens[:, JOINTS, 0] = batch.root[:, CONTEXT - 1, 1] / CENTIMETRES
    return tokens


def filled(batch: Batch, known: torch.Tensor, left: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Root places and rotations of the gap that a residual (B, T, 69) over the geodesic stands for."""
    count, last = left.shape[1], CONTEXT - 1
    t = torch.arange(1, count + 1, device=left.device)[:, None] / (count + 1)
    target, turns = known[:, -1:], 3 * JOINTS
    base = qt.exponential((t * target[..., :turns]).unflatten(-1, (JOINTS, 3)))
    base = qt.multiply(batch.rotations[:, last : last + 1], base)
    rotations = qt.multiply(base, qt.exponential(left[..., :turns].unflatten(-1, (JOINTS, 3))))
    root = batch.root[:, last : last + 1] + CENTIMETRES * (t * target[..., turns:] + left[..., turns:])
    return root, rotations


def gap_errors(batch: Batch, root, rotations, std) -> tuple[torch.Tensor, torch.Tensor]:
    """L2P and L2Q of each window, (B,) each; L2Q with the signs of every quaternion aligned."""
    gap, bones = slice(CONTEXT, CONTEXT + root.shape[1]), batch.bones[:, None]
    with torch.no_grad():
        places, turns = qt.world_pose(batch.root[:, gap], batch.rotations[:, gap], bones)
    guess, turned = qt.world_pose(root, rotations, bones)
    sign = (turned * turns).sum(-1, keepdim=True).detach().sign()
    l2p = (((guess - places) / std).square().sum((-1, -2)) + 1e-10).sqrt()
    l2q = ((turned - sign * turns).square().sum((-1, -2)) + 1e-12).sqrt()
    return l2p.mean(1), l2q.mean(1)


def fit(
    config: DeltaConfig,
    train: Sequence[Recording],
    validation: Sequence[Recording] = (),
    *,
    steps: int = STEPS["reduced"],
    seed: int = 0,
    device: str = "cpu",
    progress: bool = False,
) -> DeltaPredictor:
    """Measure the moments, train the members one after the other, return the predictor.

    The same arguments give the same weights on a CPU; torch's random state outside is left as it was.
    """
    moments = gap_moments(train, config.longest)
    motion, std = TrainingMotion(train, device), _scale(train)
    check = _Validation(config, moments, validation, std, device)
    networks = []
    for member in range(config.members if steps else 0):
        with torch.random.fork_rng(devices=[device] if str(device).startswith("cuda") else []):
            torch.manual_seed(1000 * seed + member)
            rng = np.random.default_rng([seed, member])
            networks.append(_fit_member(config, moments, motion, std, check, steps, rng, progress))
    return DeltaPredictor(config, moments, networks, device)


@one_thread()
def _fit_member(config, moments, motion, std, check, steps, rng, progress) -> DeltaNetwork:
    device = motion.root.device
    network = DeltaNetwork(config).to(device).train()
    average = copy.deepcopy(network).eval()
    best, best_score = copy.deepcopy(average), check(average)
    optimiser = torch.optim.AdamW(network.parameters(), config.rate, betas=(0.9, 0.98), weight_decay=config.decay)
    warm = max(min(100, steps // 5), 1)
    scale, maps = torch.as_tensor(std, dtype=torch.float32, device=device), _Maps(moments, device)
    for step in _counted(steps, progress):
        for group in optimiser.param_groups:
            group["lr"] = config.rate * min(1.0, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * step / steps))
        transition = int(rng.integers(min(SHORTEST, config.longest), config.longest + 1))
        loss = batch_loss(config, network, maps, motion.draw(rng, config.batch, transition), scale)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), _CLIP_NORM)
        optimiser.step()
        keep = min(config.averaging, (1 + step) / (10 + step))
        with torch.no_grad():
            for mean, now in zip(average.parameters(), network.parameters(), strict=True):
                mean.lerp_(now, 1 - keep)
        if (step + 1) % max(steps // VALIDATIONS, 1) == 0 or step + 1 == steps:
            score = check(average)
            if score <= best_score:
                best, best_score = copy.deepcopy(average), score
    return best


def batch_loss(config: DeltaConfig, network: DeltaNetwork, maps, batch: Batch, scale: torch.Tensor) -> torch.Tensor:
    """L2P plus weighted L2Q over the expected size of the error, mean over the batch."""
    known = known_of(batch)
    left, expected = batch_residual(network, maps, batch, known)
    l2p, l2q = gap_errors(batch, *filled(batch, known, left), scale)
    return _LOSS_UNIT * ((l2p + config.rotation_weight * l2q) / expected).mean()


def batch_residual(network: DeltaNetwork, maps, batch: Batch, known) -> tuple[torch.Tensor, torch.Tensor]:
    """``DeltaPredictor.residual`` of a batch, without the keys, and how far off kriging expects to be, (B,)."""
    transition = batch.root.shape[1] - CONTEXT - 1
    weights, whitening, deviation = maps(transition)
    seen = known.cpu().numpy().astype(np.float64)
    motion, share = (known.new_tensor(a) for a in (motion_scale(seen), shares(maps.moments, seen)))
    left = torch.einsum("kcit,bkic->btc", weights, share[:, :, None, None] * known[:, None])
    made = network(known, motion, pose_of(batch), whitening, transition)
    return left + made * deviation.T * motion[:, None, None], motion * deviation.square().mean().sqrt()


def delta_learner(
    config: DeltaConfig | None = None,
    *,
    steps: int = STEPS["reduced"],
    device: str = "cpu",
    folder: str | Path | None = None,
    progress: bool = False,
) -> Callable[..., DeltaPredictor]:
    """A learner for ``evaluation``.

    Parameters
    ----------
    config : DeltaConfig, optional
    steps : int
        Per member; ``STEPS`` has the budgets' numbers. 0 leaves kriging alone.
    device : str
        As torch names it.
    folder : path, optional
        Where fitted models are kept; one of the same configuration, steps, seed and data is loaded instead of trained.
    progress : bool
    """
    config = config or DeltaConfig()

    def learner(train: Sequence[Recording], validation: Sequence[Recording] = (), *, seed: int = 0) -> DeltaPredictor:
        if folder is None:
            return fit(config, train, validation, steps=steps, seed=seed, device=device, progress=progress)
        mark = fingerprint(config, train, validation, steps=steps, seed=seed)
        path = Path(folder) / f"delta_{mark[:16]}.safetensors"
        if path.is_file():
            return load(path, device)
        predictor = fit(config, train, validation, steps=steps, seed=seed, device=device, progress=progress)
        save(path, predictor)
        return predictor

    return learner


def fingerprint(config, train, validation=(), *, steps: int, seed: int, version: int | str = _VERSION) -> str:
    """Hexadecimal hash of everything that a fitted model depends on; ``version`` is that of the code that fits it."""
    about = {"version": version, "kriging": kriging.VERSION, "config": asdict(config), "steps": steps, "seed": seed}
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for part in (train, validation):
        digest.update(f"{len(part)} recordings".encode())
        for clip in (r.clip for r in part):
            for array in (clip.root_positions, clip.rotations, clip.skeleton.offsets):
                digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return digest.hexdigest()


def save(path: str | Path, predictor: DeltaPredictor) -> Path:
    """Write a fitted model, whole or not at all."""
    tensors = {name: torch.as_tensor(np.asarray(value)) for name, value in predictor.moments._asdict().items()}
    for member, network in enumerate(predictor.networks):
        tensors |= {f"member{member}.{name}": value for name, value in network.state_dict().items()}
    notes = {"version": _VERSION, "config": asdict(predictor.config), "members": len(predictor.networks)}
    return checkpoints.write(Path(path), tensors, notes)


def load(path: str | Path, device: str = "cpu") -> DeltaPredictor:
    """Read a fitted model; ValueError for a file of another version."""
    tensors, notes = checkpoints.read(Path(path))
    if notes.get("version") != _VERSION:
        raise ValueError(
            f"{path}: expected a delta model of version {_VERSION}, got {notes.get('version')}; train anew"
        )
    config, networks = DeltaConfig(**notes["config"]), []
    for member in range(notes["members"]):
        start = f"member{member}."
        networks.append(DeltaNetwork(config))
        networks[-1].load_state_dict({k.removeprefix(start): v for k, v in tensors.items() if k.startswith(start)})
    parts = [tensors[name].numpy() for name in Moments._fields[:-1]]
    moments = Moments(*parts, float(tensors["width"]))
    return DeltaPredictor(config, moments, networks, device)


class _Maps:
    """Kriging's maps between the keys as tensors, by transition length."""

    def __init__(self, moments, device):
        self.moments, self._device, self._made = moments, device, {}

    def __call__(self, transition: int):
        if transition not in self._made:
            weights, whitening, deviation, *_ = gap_maps(self.moments, transition)
            parts = (weights[..., 1:-1], whitening, deviation[..., 1:-1])
            self._made[transition] = [torch.as_tensor(a, dtype=torch.float32, device=self._device) for a in parts]
        return self._made[transition]


class _Validation:
    """Mean of L2P and L2Q relative to SLERP's over the lengths; without validation windows every later state wins."""

    def __init__(self, config, moments, recordings, std, device):
        self.config, self.moments, self.std, self.device = config, moments, std, device
        self.windows = make_windows([r.clip for r in recordings], *BENCHMARK)
        self.lengths = [length for length in LENGTHS if length <= config.longest]
        if len(self.windows):
            self.base = self._errors(slerp)

    def __call__(self, network: DeltaNetwork) -> float:
        if not len(self.windows):
            return 0.0
        predictor = DeltaPredictor(self.config, self.moments, [copy.deepcopy(network)], self.device)
        return float((self._errors(predictor) / self.base).mean())

    def _errors(self, predictor) -> np.ndarray:
        scores = score_windows(self.windows, self.std, self.lengths, {"": predictor}).values()
        return np.array([(s.l2p.mean(), s.l2q.mean()) for s in scores])


def _scale(recordings: Sequence[Recording]) -> np.ndarray:
    """The scale of L2P (22, 3) of some people."""
    return position_statistics([position_moments(make_windows([r.clip for r in recordings], *STATISTICS))])[1]


def _counted(steps: int, progress: bool):
    if not progress:
        return range(steps)
    from tqdm.auto import tqdm

    return tqdm(range(steps), desc="delta transformer", unit="step")
