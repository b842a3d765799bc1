"""Training windows drawn by number: step i of a run always sees the same windows, gap length and midway targets.

Nothing is remembered between steps, so a resumed run goes on exactly, and every process of a distributed run takes its
own share of the same batch.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from motionbook.clip import Clip
from motionbook.inbetweening.losses import Truth
from motionbook.inbetweening.motion_tensors import JOINTS, Statistics, columns_of, features, foot_contacts
from motionbook.inbetweening.two_stage import Scale
from motionbook.inbetweening.windows import CENTIMETRES, CONTEXT, window_starts
from motionbook.kinematics import world_pose

SHORTEST, LONGEST = 5, 30
MIDWAY_SHARE, MIDWAY_CHANCE = 0.1, 0.5


class Gap(NamedTuple):
    """What is predicted in one batch: frames, and the frames among them that are given all the same."""

    transition: int
    midways: tuple[int, ...]


def draw_gap(rng: np.random.Generator, shortest: int = SHORTEST, longest: int = LONGEST, midways: bool = True) -> Gap:
    """A transition of uniform length, ends included; of one frame in ten, half become midway targets."""
    transition = int(rng.integers(shortest, longest + 1))
    trials = int(MIDWAY_SHARE * transition) if midways else 0
    chosen = {int(rng.integers(CONTEXT, CONTEXT + transition)) for _ in range(trials) if rng.random() < MIDWAY_CHANCE}
    return Gap(transition, tuple(sorted(chosen)))


class TrainingWindows:
    """All windows of some clips, one frame apart, on the device that trains.

    Parameters
    ----------
    clips : sequence of Clip
        On LaFAN1's skeleton, 30 frames per second. One shorter than ``length`` gives no window.
    statistics : Statistics
    length : int
        Frames of a window: context, the longest transition, the target, and for the detail network one more.
    device : torch device
    dtype : torch dtype
    """

    def __init__(self, clips: Sequence[Clip], statistics: Statistics, length: int, device="cpu", dtype=torch.float32):
        clips = [clip for clip in clips if len(clip) >= length]
        if not clips:
            raise ValueError(f"training: no clip is as long as a window of {length} frames; give longer recordings")
        ends = np.cumsum([len(clip) for clip in clips])
        starts = [end - len(c) + window_starts(len(c), length, 1) for c, end in zip(clips, ends, strict=True)]
        placed = [world_pose(c.skeleton, c.root_positions, c.rotations).positions * CENTIMETRES for c in clips]
        # the middle of each clip becomes its origin, so that float32 is fine enough far from where it was recorded
        middles = [p[:, :1].mean(axis=0) * [1, 0, 1] for p in placed]
        placed = [p - m for p, m in zip(placed, middles, strict=True)]
        x = [features(p[:, 0], c.rotations) for c, p in zip(clips, placed, strict=True)]

        def tensor(parts, kind=dtype):
            return torch.as_tensor(np.concatenate(parts)).to(kind).to(device)

        self.length, self.device = length, device
        self.x, self.places = tensor(x), tensor(placed)
        self.root = _root_matrices(self.x)
        self.contacts = tensor([foot_contacts(c) for c in clips])
        self.offsets = tensor([c.skeleton.offsets[None] * CENTIMETRES for c in clips])
        self.starts = tensor(starts, torch.long)
        self.owner = tensor([np.repeat(np.arange(len(clips)), [len(s) for s in starts])], torch.long)
        self.scale = Scale(statistics, self.x[:1])

    def __len__(self):
        return len(self.starts)

    def batch(self, which) -> Truth:
        """The windows of these numbers, frame 9 at the origin and heading along +X."""
        which = torch.as_tensor(which, device=self.device)
        frames = self.starts[which][:, None] + torch.arange(self.length, device=self.device)
        x, places, root = self.x[frames], self.places[frames], self.root[frames]
        turn = _turn_to_x(root[:, CONTEXT - 1, :, 1])
        origin = places[:, CONTEXT - 1, 0] * torch.tensor([1.0, 0.0, 1.0], dtype=x.dtype, device=x.device)
        places = (places - origin[:, None, None]) @ turn.mT[:, None]
        root = turn[:, None] @ root
        x = torch.cat([root[..., :2].flatten(-2), x[..., 6 : 6 * JOINTS], places[:, :, 0]], dim=-1)
        planes = places.permute(3, 2, 0, 1).contiguous()
        columns = columns_of(x).contiguous()
        return Truth(self.scale.standard(x), columns, planes, self.offsets[self.owner[which]], self.contacts[frames])

    def numbers(self, step: int, batch: int, seed: int) -> np.ndarray:
        """Which windows a step sees: every epoch all of them in a new order, the last few that fill no batch left out.

        Fewer windows than a batch give batches of all windows.
        """
        size = min(batch, len(self))
        epoch, place = divmod(step, len(self) // size)
        order = np.random.default_rng((seed, 1, epoch)).permutation(len(self))
        return order[place * size : (place + 1) * size]

    def steps_per_epoch(self, batch: int) -> int:
        """Full batches."""
        return len(self) // min(batch, len(self))


def gap_of_step(step: int, seed: int, shortest: int = SHORTEST, longest: int = LONGEST, midways: bool = True) -> Gap:
    """The gap of a step's batch, from the seed and the step alone."""
    return draw_gap(np.random.default_rng((seed, 2, step)), shortest, longest, midways)


def _root_matrices(x: torch.Tensor) -> torch.Tensor:
    columns = x[:, :6].unflatten(-1, (3, 2))
    third = torch.linalg.cross(columns[..., 0], columns[..., 1], dim=-1)
    return torch.cat([columns, third[..., None]], dim=-1)


def _turn_to_x(heading: torch.Tensor) -> torch.Tensor:
    """Matrices (B, 3, 3) about +Y that take the horizontal part of a direction to +X."""
    x, z = heading[:, 0], heading[:, 2]
    length = (x * x + z * z).sqrt()
    x, z, zero, one = x / length, z / length, torch.zeros_like(x), torch.ones_like(x)
    return torch.stack([x, zero, z, zero, one, zero, -z, zero, x], dim=-1).unflatten(-1, (3, 3))
