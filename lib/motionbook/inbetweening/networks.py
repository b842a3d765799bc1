"""The two networks of Qin et al. (2022) that StayStill trains: context, then detail.

One trunk serves both. Numbers of a frame and a channel that says whether the frame is known go through an encoder, six
blocks of attention and feed-forward, and a decoder. The context network adds an embedding of the distance to both ends
of the gap; the detail network also gives four foot contacts. Parameters carry the names of the published code, so its
weights load as they are.

Legend of the axes: N frames, B windows, D width, H heads. Frames stand first, so that the attended frames, which a
layout puts at the beginning, are one piece of memory.
"""

import math
from dataclasses import asdict, dataclass

import torch
from torch import nn

from motionbook.inbetweening.attention import Layout, relative_attention, relative_offsets
from motionbook.inbetweening.motion_tensors import FEATURES, FEET
from motionbook.inbetweening.windows import CONTEXT


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes; the defaults are the published ones.

    Attributes
    ----------
    layers, heads, width, head_width, feed_forward : int
    encoder_width, decoder_width : int
    dropout : float
        In training only.
    """

    layers: int = 6
    heads: int = 8
    width: int = 512
    head_width: int = 64
    feed_forward: int = 512
    encoder_width: int = 512
    decoder_width: int = 512
    dropout: float = 0.0

    @classmethod
    def small(cls, width: int = 64, layers: int = 3, heads: int = 4) -> "NetworkConfig":
        """A network that a CPU trains in a minute."""
        return cls(layers, heads, width, width // heads, 2 * width, width, width)

    def as_dict(self) -> dict:
        """Plain values, for a file."""
        return asdict(self)


class Attention(nn.Module):
    """Block of attention; what passes it by is the normalised input, not the input."""

    def __init__(self, config: NetworkConfig):
        super().__init__()
        inner = config.heads * config.head_width
        self.heads, self.scale = config.heads, 1.0 / math.sqrt(config.width)
        self.q_linear = nn.Linear(config.width, inner, bias=False)
        self.k_linear = nn.Linear(config.width, inner, bias=False)
        self.v_linear = nn.Linear(config.width, inner, bias=False)
        self.out_linear = nn.Linear(inner, config.width, bias=False)
        self.layer_norm = nn.LayerNorm(config.width)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x_NBD: torch.Tensor, table: torch.Tensor, keys: int, first: int = 0) -> torch.Tensor:
        """Attend from frames ``first`` on to the first ``keys``; table (N - first, keys, head width)."""
        h = self.layer_norm(x_NBD)
        known = h if keys == len(h) else h[:keys]
        h = h[first:] if first else h
        q, k, v = (
            linear(part).unflatten(-1, (self.heads, -1))
            for linear, part in ((self.q_linear, h), (self.k_linear, known), (self.v_linear, known))
        )
        mixed = relative_attention(q, k, v, table, self.scale)
        return h + self.drop(self.out_linear(mixed.flatten(-2)))


class FeedForward(nn.Module):
    """Block of two layers per frame around its input."""

    def __init__(self, config: NetworkConfig):
        super().__init__()
        self.network = nn.Sequential(
            nn.Linear(config.width, config.feed_forward),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.feed_forward, config.width),
            nn.Dropout(config.dropout),
        )
        self.layer_norm = nn.LayerNorm(config.width)

    def forward(self, x_NBD: torch.Tensor) -> torch.Tensor:
        """Same shape."""
        return x_NBD + self.network(self.layer_norm(x_NBD))


class Trunk(nn.Module):
    """What both networks share.

    Parameters
    ----------
    config : NetworkConfig
    outputs : int
        Numbers per frame.
    keyframe_embedding : bool
        Add an embedding of (t - 9, target - t).
    """

    def __init__(self, config: NetworkConfig, outputs: int, keyframe_embedding: bool):
        super().__init__()
        self.config = config
        self.encoder = nn.Sequential(
            nn.Linear(FEATURES + 1, config.encoder_width),
            nn.PReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.encoder_width, config.width),
            nn.PReLU(),
            nn.Dropout(config.dropout),
        )
        if keyframe_embedding:
            self.keyframe_pos_layer = _embedding(2, config.width, config.dropout)
        self.rel_pos_layer = _embedding(1, config.head_width, config.dropout)
        self.att_layers = nn.ModuleList(Attention(config) for _ in range(config.layers))
        self.pff_layers = nn.ModuleList(FeedForward(config) for _ in range(config.layers))
        self.layer_norm = nn.LayerNorm(config.width)
        self.decoder = nn.Sequential(
            nn.Linear(config.width, config.decoder_width), nn.PReLU(), nn.Linear(config.decoder_width, outputs)
        )

    def forward(self, x_BNC: torch.Tensor, plan: Layout) -> torch.Tensor:
        """Outputs (B, wanted frames, numbers) in the layout's order.

        Parameters
        ----------
        x_BNC : (B, N, 136)
            In the order of time, at least up to the layout's last frame; the last channel is 1 where a frame is known.
        plan : Layout
        """
        frames = torch.tensor(plan.frames, device=x_BNC.device)
        x = self.encoder(x_BNC.index_select(1, frames).transpose(0, 1).contiguous())
        if hasattr(self, "keyframe_pos_layer"):
            ends = torch.stack([frames - (CONTEXT - 1), plan.target - frames], dim=-1)
            x = x + self.keyframe_pos_layer(ends.to(x_BNC.dtype))[:, None]
        table = self._position_table(plan, x_BNC)
        last = len(self.att_layers) - 1
        for index, (attend, feed) in enumerate(zip(self.att_layers, self.pff_layers, strict=True)):
            # after the last block only the wanted frames are read
            first = plan.wanted if index == last else 0
            x = feed(attend(x, table[first:], plan.keys, first))
        return self.decoder(self.layer_norm(x)).transpose(0, 1)

    def _position_table(self, plan: Layout, like: torch.Tensor) -> torch.Tensor:
        """Vectors (N, K, head width) of the offsets between frames: one table for all layers and heads."""
        offsets = relative_offsets(plan).to(like.device)
        low = int(offsets.min())
        rows = torch.arange(low, int(offsets.max()) + 1, device=like.device, dtype=like.dtype)
        return self.rel_pos_layer(rows[:, None])[offsets - low]


class ContextNetwork(Trunk):
    """First stage: the transition from the known frames alone, (B, wanted, 135)."""

    def __init__(self, config: NetworkConfig = NetworkConfig()):
        super().__init__(config, FEATURES, keyframe_embedding=True)


class DetailNetwork(Trunk):
    """Second stage: the transition anew from the first stage's, with logits of foot contacts, (B, wanted, 139)."""

    def __init__(self, config: NetworkConfig = NetworkConfig()):
        super().__init__(config, FEATURES + len(FEET), keyframe_embedding=False)


def parameter_count(network: nn.Module) -> int:
    """Numbers that training changes."""
    return sum(p.numel() for p in network.parameters())


def _embedding(inputs: int, width: int, dropout: float) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, width), nn.PReLU(), nn.Dropout(dropout), nn.Linear(width, width))
