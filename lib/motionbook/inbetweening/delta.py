"""A small transformer over SLERP: kriging guesses the residual, attention between joints corrects the guess.

``kriging`` predicts each of the 69 numbers of the pose from its own past and target alone. What that leaves over is
what one part of the body says about another and what is not linear; a transformer whose tokens are the 22 joints and
the root's place adds it. Everything it reads is divided by how much the person moves, everything it adds is multiplied
by that again and by the deviation that kriging expects in that frame. So

* the addition vanishes at both keys whatever the weights, and there is no jump at either end;
* someone who stands still is left standing still;
* one model serves all lengths: the course over time is a sum of waves that are functions of the time to both keys.

It reads the context and the target, seen from frame 9. Rotations are corrected by rotation vectors, so that they stay
rotations and bones keep their length.
"""

from dataclasses import asdict, dataclass
from functools import lru_cache

import numpy as np
import torch
from torch import nn

from motionbook import rotations as rot
from motionbook.inbetweening import residual as res
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.kriging import LONGEST, GapMaps, Moments, gap_maps, known_offsets, motion_scale, shares
from motionbook.inbetweening.threads import one_thread
from motionbook.inbetweening.windows import CENTIMETRES, Windows, heading_turn

JOINTS = res.JOINTS
TOKENS = JOINTS + 1  # and one for the root's place
_KNOWN = 10  # offsets that are known: nine frames and the target
_TIMES, _SUMMARY = 6, 5
_LARGEST = 8.0  # inputs of about unit size are cut here, so that one odd frame cannot run away with the output


@dataclass(frozen=True)
class DeltaConfig:
    """Size of the network and how it is trained; not for how long.

    Attributes
    ----------
    width, layers, heads : int
        Of the transformer; its hidden layers are twice as wide.
    waves : int
        Functions of time that the correction of a gap is made of.
    dropout, pose_dropout : float
        Share of activations, and of training windows whose pose is hidden: few people have few poses.
    reach : float
        Size of the first steps' corrections in units of what kriging expects to be off by.
    longest : int
        Longest transition in frames.
    members : int
        Networks trained from different starts, whose corrections are averaged.
    batch, rate, decay, averaging
        Windows per step, highest learning rate, weight decay, and the share that the average of the weights keeps.
    rotation_weight : float
        Of L2Q's term in the loss beside L2P's, which is this much larger in number.
    """

    width: int = 64
    layers: int = 3
    heads: int = 4
    waves: int = 16
    dropout: float = 0.05
    pose_dropout: float = 0.5
    reach: float = 1.0
    longest: int = LONGEST
    members: int = 1
    batch: int = 64
    rate: float = 3e-3
    decay: float = 0.02
    averaging: float = 0.995
    rotation_weight: float = 10.0

    def __post_init__(self):
        if self.width % self.heads:
            raise ValueError(f"width: expected a multiple of {self.heads} heads, got {self.width}")
        if min(self.layers, self.waves, self.longest, self.members, self.batch) < 1:
            raise ValueError(f"layers, waves, longest, members and batch: expected at least 1, got {asdict(self)}")


class DeltaNetwork(nn.Module):
    """The correction of kriging's guess in units of its expected error, as waves over time.

    Legend: B windows, T frames, 23 tokens, W width, K waves.
    """

    def __init__(self, config: DeltaConfig):
        super().__init__()
        width, self.config = config.width, config
        self.motion = nn.Linear(3 * _KNOWN, width)
        self.pose = nn.Linear(6, width)
        self.summary = nn.Sequential(nn.Linear(_SUMMARY, width), nn.GELU(), nn.Linear(width, width))
        self.names = nn.Parameter(0.3 * torch.randn(TOKENS, width))
        layer = nn.TransformerEncoderLayer(
            width, config.heads, 2 * width, config.dropout, "gelu", batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, config.layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.out = nn.Linear(width, 3 * config.waves)
        self.waves = nn.Sequential(nn.Linear(_TIMES, 64), nn.GELU(), nn.Linear(64, config.waves))
        # training starts from kriging itself
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, known, scale, pose, whitening, transition: int) -> torch.Tensor:
        """Corrections (B, T, 69), in units of scale times deviation.

        Parameters
        ----------
        known : (B, 10, 69)
        scale : (B,)
            Of motion, see ``kriging.motion_scale``.
        pose : (B, 23, 6)
        whitening : (69, 10, 10)
        transition : int
            T.
        """
        white = torch.einsum("cij,bjc->bci", whitening, known / scale[:, None, None]).clamp(-_LARGEST, _LARGEST)
        white = white.unflatten(1, (TOKENS, 3)).flatten(2)  # B, 23, 30
        hidden = self.motion(white) + self.names + self.summary(_summary(known, scale, transition))[:, None]
        shown = self.pose(pose)
        if self.training:
            shown = shown * (torch.rand(len(pose), 1, 1, device=pose.device) >= self.config.pose_dropout)
        waves = self.out(self.body(hidden + shown)).unflatten(-1, (3, -1))  # B, 23, 3, K
        over_time = self.waves(_times(transition, known))  # T, K
        return self.config.reach * torch.einsum("tk,bjck->btjc", over_time, waves).flatten(2)


class DeltaPredictor:
    """Fitted networks over their kriging: a predictor for ``evaluation``.

    Parameters
    ----------
    config : DeltaConfig
    moments : Moments
        Of the training people, see ``kriging.gap_moments``.
    networks : sequence of DeltaNetwork
        None leaves kriging alone.
    device : str
    """

    def __init__(self, config: DeltaConfig, moments: Moments, networks=(), device: str = "cpu"):
        self.config, self.moments, self.device = config, moments, torch.device(device)
        self.networks = tuple(n.to(self.device).eval() for n in networks)
        self._maps = lru_cache(maxsize=None)(lambda transition: gap_maps(moments, transition))

    def __call__(self, windows: Windows, transition: int) -> LocalPose:
        """The frames of the gap."""
        return res.apply_residual(windows, transition, self.residual(windows, transition)[:, 1:-1])

    def residual(self, windows: Windows, transition: int) -> np.ndarray:
        """The residual over the geodesic from key to key, (windows, transition + 2, 69); zero in the first and last."""
        maps, known = self._maps(transition), known_offsets(windows, transition)
        left = maps.guess(known, shares(maps, known))
        if self.networks and len(windows):
            scale = motion_scale(known)
            given = [known, scale, pose_tokens(windows), maps.whitening]
            given = [torch.as_tensor(a, dtype=torch.float32, device=self.device) for a in given]
            with torch.inference_mode(), one_thread():
                made = [n(*given, transition).cpu().double().numpy() for n in self.networks]
            left[:, 1:-1] += np.mean(made, axis=0) * (scale[:, None, None] * maps.deviation.T[1:-1])
        return left

    def maps(self, transition: int) -> GapMaps:
        """Kriging's maps of a transition length."""
        return self._maps(transition)


def pose_tokens(windows: Windows) -> np.ndarray:
    """The pose at frame 9, (windows, 23, 6): two columns of each joint's matrix, the root's seen from its heading, and
    a token with the root's height in metres."""
    rotations = windows.rotations[:, res.LAST].copy()
    rotations[:, 0] = rot.multiply(heading_turn(rotations[:, 0]), rotations[:, 0])
    tokens = np.zeros((len(windows), TOKENS, 6))
    tokens[:, :JOINTS] = rot.to_6d(rotations)
    tokens[:, JOINTS, 0] = windows.root_positions[:, res.LAST, 1] / CENTIMETRES
    return tokens


def _summary(known, scale, transition: int) -> torch.Tensor:
    """Length of the gap, how much the person moves, and how much of that is the way to the target, (B, 5)."""
    onward = known[:, -1].square().mean(-1).sqrt() / scale
    length = known.new_tensor([transition / 45, np.log(transition) / 3, 5 / (transition + 1)]).expand(len(known), 3)
    return torch.cat([length, (torch.log(10 * scale).clamp(-2, 2))[:, None], torch.log(onward + 0.01)[:, None]], dim=1)


def _times(transition: int, like: torch.Tensor) -> torch.Tensor:
    """What the waves are functions of: each frame's time to both keys, (T, 6)."""
    i = torch.arange(1, transition + 1, device=like.device, dtype=like.dtype)
    left = transition + 1 - i
    whole = torch.full_like(i, transition / 45)
    times = (
        2 * i / (transition + 1) - 1,
        i.log() / 2 - 1,
        left.log() / 2 - 1,
        (-i / 3).exp(),
        (-left / 3).exp(),
        whole,
    )
    return torch.stack(times, dim=1)
