"""A training step of both networks at the published size, batch 32 and 30 frames to fill, beside a plain version.

    python benchmarks/bench_training_step.py [--threads 2] [--rounds 10]

The plain version is the description of the networks taken literally: every frame of the window is a key, hidden ones
are masked with minus infinity after their scores have been computed, all products are einsum, position vectors are
picked for every pair of frames in every layer, forward kinematics goes joint by joint in matrices, Adam loops over
tensors. Both versions start from the same weights and windows, and their steps alternate in one process, so that
whatever else the machine does falls on both; losses and gradients must agree. A detail step contains the context
network's inference. Memory is measured by further processes that take two steps of one version each. On a quiet
two-core server Qin et al.'s code took 1.154 s (context) and 1.603 s (detail) on two threads, 2.22 and 2.98 CPU seconds
on one. How fast this machine multiplies matrices of that size stands in the first line: the published size needs
about 83 thousand million operations for a plain context step.
"""

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from bench_inbetweening import wandering_clip
from torch import nn

from motionbook.inbetweening.attention import layout
from motionbook.inbetweening.losses import CONTEXT_WEIGHTS, DETAIL_WEIGHTS, gap_losses, weighted
from motionbook.inbetweening.motion_tensors import FEATURES, FEET, feature_statistics
from motionbook.inbetweening.networks import ContextNetwork, DetailNetwork
from motionbook.inbetweening.training_batches import TrainingWindows
from motionbook.inbetweening.two_stage import context_input, detail_input, first_stage, in_time, shift
from motionbook.skeletons import LAFAN1

BATCH, TRANSITION, FIRST = 32, 30, 10
TARGET = FIRST + TRANSITION
GAP = slice(FIRST, TARGET)
RATE = 1e-6  # so small that the losses of both versions stay comparable over the rounds


def plain_network(network: nn.Module, x: torch.Tensor, allowed: torch.Tensor, target: int) -> torch.Tensor:
    """Outputs for all frames with the same parameters, the long way."""
    count, config = x.shape[1], network.config
    x = network.encoder(x)
    if hasattr(network, "keyframe_pos_layer"):
        t = torch.arange(count)
        ends = torch.stack([t - (FIRST - 1), target - t], dim=-1).to(x.dtype)
        x = x + network.keyframe_pos_layer(ends)
    offsets = torch.arange(-(count - 1), count, dtype=x.dtype)[:, None]
    table = network.rel_pos_layer(offsets)
    pairs = torch.arange(count)[None] - torch.arange(count)[:, None] + count - 1
    for attend, feed in zip(network.att_layers, network.pff_layers, strict=True):
        h = attend.layer_norm(x)
        q = torch.einsum("bnd,ed->bne", h, attend.q_linear.weight).reshape(*h.shape[:2], config.heads, -1)
        k = torch.einsum("bnd,ed->bne", h, attend.k_linear.weight).reshape(*h.shape[:2], config.heads, -1)
        v = torch.einsum("bnd,ed->bne", h, attend.v_linear.weight).reshape(*h.shape[:2], config.heads, -1)
        scores = torch.einsum("bihd,bjhd->bhij", q, k) + torch.einsum("bihd,ijd->bhij", q, table[pairs])
        scores = (scores / config.width**0.5).masked_fill(~allowed, -torch.inf)
        mixed = torch.einsum("bhij,bjhd->bihd", torch.softmax(scores, dim=-1), v)
        x = h + torch.einsum("bne,de->bnd", mixed.flatten(-2), attend.out_linear.weight)
        x = x + feed.network(feed.layer_norm(x))
    return network.decoder(network.layer_norm(x))


def plain_matrices(x: torch.Tensor) -> torch.Tensor:
    """Rotation matrices (B, N, 22, 3, 3) of features."""
    columns = x[..., :132].unflatten(-1, (22, 3, 2))
    a = nn.functional.normalize(columns[..., 0], dim=-1)
    b = columns[..., 1]
    b = nn.functional.normalize(b - (a * b).sum(-1, keepdim=True) * a, dim=-1)
    return torch.stack([a, b, torch.linalg.cross(a, b, dim=-1)], dim=-1)


def plain_places(matrices: torch.Tensor, root: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Forward kinematics joint by joint, (B, N, 22, 3)."""
    turns, places = [matrices[:, :, 0]], [root]
    for joint, parent in enumerate(LAFAN1.parents[1:], start=1):
        turns.append(torch.matmul(turns[parent], matrices[:, :, joint]))
        bone = offsets[:, None, joint, :, None].expand(-1, root.shape[1], -1, -1)
        places.append(places[parent] + torch.matmul(turns[parent], bone)[..., 0])
    return torch.stack(places, dim=2)


def plain_losses(out: torch.Tensor, truth, scale) -> dict[str, torch.Tensor]:
    """The terms of the loss from the whole window's new motion."""
    x_true = scale.plain(truth.z)
    x = torch.cat([x_true[:, :FIRST], scale.plain(out[:, GAP, :FEATURES]), x_true[:, TARGET:]], dim=1)
    matrices = plain_matrices(x)
    places = plain_places(matrices, x[..., 132:], truth.offsets)
    true_places = truth.places.permute(2, 3, 1, 0)
    flat, flat_true = (m[..., :2].flatten(-3) for m in (matrices, plain_matrices(x_true)))
    losses = {
        "rotation": (flat - flat_true)[:, GAP].abs().mean(),
        "position": (places - true_places)[:, GAP].abs().mean(),
        "smooth": (places[:, FIRST : TARGET + 1] - places[:, FIRST - 1 : TARGET]).abs().mean(),
    }
    if out.shape[-1] > FEATURES:
        resting = torch.sigmoid(out[..., FEATURES:])
        losses["contact"] = (resting - truth.contacts)[:, GAP].abs().mean()
        feet = places[:, :, list(FEET)]
        speed = torch.cat([torch.zeros_like(feet[:, :1]), feet[:, 1:] - feet[:, :-1]], dim=1)
        losses["foot"] = (resting.detach()[..., None] * speed)[:, GAP].abs().mean()
    return losses


class Version:
    """Networks, optimisers and the two steps of one way of computing."""

    def __init__(self, plain: bool):
        self.plain = plain
        clip = wandering_clip(400)
        stats = feature_statistics([clip])
        torch.manual_seed(0)
        self.context, self.detail = ContextNetwork(), DetailNetwork()
        kind = {"foreach": False, "fused": False} if plain else {"fused": True}
        self.optimisers = [torch.optim.Adam(n.parameters(), lr=RATE, **kind) for n in (self.context, self.detail)]
        # one draw of windows serves both stages: the shift between them reads the frame after the target
        self.windows = TrainingWindows([clip], stats, TARGET + 2)
        self.truth = self.windows.batch(np.arange(BATCH) * 10)
        self.scale = self.windows.scale

    def context_output(self) -> torch.Tensor:
        """The first stage's transition."""
        z = self.truth.z[:, : TARGET + 1]
        if not self.plain:
            return first_stage(self.context, z, TRANSITION)
        allowed = torch.zeros(z.shape[1], dtype=torch.bool)
        allowed[:FIRST] = allowed[TARGET] = True
        return plain_network(self.context, context_input(z, TRANSITION), allowed, TARGET)[:, GAP]

    def detail_output(self) -> torch.Tensor:
        """The second stage's transition, first stage included."""
        with torch.no_grad():
            made = shift(self.context_output(), self.truth.z)
        if not self.plain:
            plan = layout(TRANSITION, all_keys=True)
            given = detail_input(made, self.truth.z[:, : TARGET + 1], self.scale, TRANSITION)
            return in_time(self.detail(given, plan), plan)
        allowed = torch.arange(self.truth.z.shape[1]) <= TARGET
        given = detail_input(made, self.truth.z, self.scale, TRANSITION)
        return plain_network(self.detail, given, allowed, TARGET)[:, GAP]

    def losses(self, out: torch.Tensor) -> dict[str, torch.Tensor]:
        """By term."""
        if not self.plain:
            return gap_losses(out, self.truth, self.scale)
        whole = torch.cat([out[:, :1].expand(-1, FIRST, -1), out, out[:, :1].expand(-1, 2, -1)], dim=1)
        return plain_losses(whole, self.truth, self.scale)

    def step(self, stage: str) -> dict[str, float]:
        """One training step; the losses before it."""
        detail = stage == "detail"
        optimiser = self.optimisers[detail]
        losses = self.losses(self.detail_output() if detail else self.context_output())
        optimiser.zero_grad(set_to_none=True)
        weighted(losses, DETAIL_WEIGHTS if detail else CONTEXT_WEIGHTS).backward()
        optimiser.step()
        return {name: float(value.detach()) for name, value in losses.items()}


def peak_memory() -> int:
    """Most memory this process has held, MiB."""
    # getrusage would report the parent's peak when that is larger
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def matrix_rate() -> float:
    """Thousand million operations per second of products of 1312 frames with 512 x 512 weights, best of 20."""
    a, b = torch.randn(1312, 512), torch.randn(512, 512)
    spent = []
    for _ in range(20):
        start = time.perf_counter()
        nn.functional.linear(a, b)
        spent.append(time.perf_counter() - start)
    return 2 * 1312 * 512 * 512 / min(spent) / 1e9


def measure(rounds: int) -> None:
    """Print a table of times, the ratio, the difference of the losses and of the gradients."""
    versions = {"plain": Version(True), "ours": Version(False)}
    wanted = {"context": 1.35, "detail": 1.1}
    print(f"{torch.get_num_threads()} threads, torch {torch.__version__}, {rounds} rounds, {matrix_rate():.0f} GFLOPS")
    for stage in ("context", "detail"):
        spent = {name: [] for name in versions}
        gap = 0.0
        for turn in range(rounds + 1):
            found = {}
            for name, version in versions.items():
                wall, cpu = time.perf_counter(), time.process_time()
                found[name] = version.step(stage)
                if turn:  # the first is for warming up
                    spent[name].append((time.perf_counter() - wall, time.process_time() - cpu))
                else:
                    network = version.context if stage == "context" else version.detail
                    found[name]["gradient"] = float(sum(p.grad.double().square().sum() for p in network.parameters()))
            gap = max(gap, *(abs(found["ours"][k] / found["plain"][k] - 1) for k in found["plain"]))
        for name, pairs in spent.items():
            wall, cpu = zip(*pairs, strict=True)
            print(
                f"{stage:8}{name:6} wall {statistics.median(wall):.3f} s (least {min(wall):.3f})   "
                f"CPU {statistics.median(cpu):.3f} s (least {min(cpu):.3f})"
            )
        ratios = []
        for i, what in enumerate(("wall", "CPU")):
            plain, ours = ([pair[i] for pair in spent[name]] for name in ("plain", "ours"))
            least = min(plain) / min(ours)
            ratios.append(f"{what} {statistics.median(plain) / statistics.median(ours):.2f} (least {least:.2f})")
        print(f"{stage:8}faster {', '.join(ratios)}; wanted {wanted[stage]}; losses agree to {gap:.1e}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--memory", choices=("plain", "ours"), help="take two steps of each stage and print the peak")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.memory:
        version = Version(options.memory == "plain")
        for stage in ("context", "detail"):
            for _ in range(2):
                version.step(stage)
            print(stage, peak_memory(), "MiB")
        return
    measure(options.rounds)
    for name in ("plain", "ours"):
        command = [sys.executable, __file__, "--memory", name, "--threads", str(options.threads)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"peak memory, {name}: {', '.join(done.stdout.splitlines())}")


if __name__ == "__main__":
    main()
