"""Who attends to whom in a gap, and attention whose scores know how far apart two frames are.

Legend of the axes: B windows, N frames, K attended frames, H heads, D a head's width.

Both networks hide frames from all others: the context network lets only known frames be attended to (the context, the
target and targets midway), the detail network only those up to the target. Because the mask is the same for every
query, keys and values of hidden frames are never read: a ``Layout`` puts the attended frames first, and everything
behind them needs a query only. In the context network that leaves 11 to 14 of 41 frames to be keys. Frames after the
target influence nothing and are left out altogether.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F

from motionbook.inbetweening.windows import CONTEXT

FEW_KEYS = 16


class Layout(NamedTuple):
    """Order in which a network works on the frames of a window.

    Attributes
    ----------
    frames : tuple of int
        Numbers of the frames; the last context frame is number 9.
    keys : int
        The first so many are attended to.
    wanted : int
        From this one on, to the end, there is an output.
    target : int
        Number of the target frame.
    """

    frames: tuple[int, ...]
    keys: int
    wanted: int
    target: int


def layout(transition: int, midways: Sequence[int] = (), *, all_keys: bool = False) -> Layout:
    """Known frames first: context, target, midway targets; then the others between them. Output: the transition.

    Parameters
    ----------
    transition : int
        Frames to predict, 10 .. 9 + transition.
    midways : sequence of int
        Frames of the transition that are given.
    all_keys : bool
        The detail network attends to all frames up to the target, the context network to known ones.
    """
    target, midways = CONTEXT + transition, sorted(set(midways))
    if transition < 1 or any(not CONTEXT <= m < target for m in midways):
        raise ValueError(f"layout: expected midway targets in {CONTEXT} .. {target - 1}, got {list(midways)}")
    between = [f for f in range(CONTEXT, target) if f not in midways]
    frames = (*range(CONTEXT), target, *midways, *between)
    return Layout(frames, len(frames) if all_keys else CONTEXT + 1 + len(midways), CONTEXT + 1, target)


def whole_window(length: int, transition: int, midways: Sequence[int] = (), *, all_keys: bool = False) -> Layout:
    """The same with an output for every frame of a longer window, those after the target included."""
    plan = layout(transition, midways, all_keys=all_keys)
    return Layout((*plan.frames, *range(plan.target + 1, length)), plan.keys, 0, plan.target)


def relative_offsets(plan: Layout) -> torch.Tensor:
    """Offset j - i from every frame i of a layout to every attended frame j, (N, K)."""
    frames = torch.tensor(plan.frames)
    return frames[None, : plan.keys] - frames[:, None]


def relative_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, table: torch.Tensor, scale: float):
    """softmax over K of (q . k + q . r) scale, times v.

    Parameters
    ----------
    q : (N, B, H, D)
    k, v : (K, B, H, D)
    table : (N, K, D)
        r: the vector that belongs to the offset from a frame to an attended one, shared by all heads.
    scale : float
        1 / sqrt(width of the network), not of a head.

    Returns
    -------
    (N, B, H, D)

    Notes
    -----
    The position term is an additive bias of torch's fused kernel. Over a handful of keys on a CPU that kernel spends
    its time on rows of eleven numbers; there the scores are laid out with the keys first (a third less time).
    """
    form = _keys_first if len(k) <= FEW_KEYS and q.device.type == "cpu" else _fused
    return form(q, k, v, table, scale)


def _fused(q, k, v, table, scale):
    frames, windows, heads, width = q.shape
    # one product per frame: (N, B H, D) with (N, D, K)
    bias = torch.bmm(q.reshape(frames, windows * heads, width), (table * scale).transpose(1, 2))
    bias = bias.view(frames, windows, heads, -1).permute(1, 2, 0, 3)
    q, k, v = (x.permute(1, 2, 0, 3) for x in (q, k, v))
    mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias, scale=scale)
    return mixed.permute(2, 0, 1, 3)


def _keys_first(q, k, v, table, scale):
    frames, windows, heads, width = q.shape
    rows = windows * heads
    q = q * scale
    bias = torch.bmm(table, q.reshape(frames, rows, width).transpose(1, 2)).permute(2, 1, 0)  # (B H, K, N)
    q, k, v = (x.permute(1, 2, 0, 3).reshape(rows, -1, width) for x in (q, k, v))
    weights = torch.softmax(torch.baddbmm(bias, k, q.transpose(1, 2)), dim=1)
    return torch.bmm(weights.transpose(1, 2), v).view(windows, heads, frames, width).permute(2, 0, 1, 3)
