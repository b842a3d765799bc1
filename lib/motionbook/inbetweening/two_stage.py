"""From windows to a filled gap by the two-stage transformer: inputs, the shift between the stages, the predictor.

Everything here works on z-scored features (B, N, 135) of windows that start at the origin and head along +X, in the
order of time; frame 9 is the last of the context and frame 10 + T the target.

The shift ("post-process") of Qin et al. adds one vector to all predicted frames, the mean of what the curvature at both
ends asks for. At the target's end it looks at the frame after the target, which somebody who only has key poses does
not have. It is part of the published system, so ``after_target=True`` is the default; False puts the last predicted
step in place of the target's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from motionbook import rotations as rot
from motionbook.inbetweening.attention import layout
from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.motion_tensors import (
    FEATURES,
    JOINTS,
    Statistics,
    columns_of,
    features,
    features_of,
    orthonormal,
    put_back,
    start_centred,
)
from motionbook.inbetweening.networks import ContextNetwork, DetailNetwork
from motionbook.inbetweening.threads import threads_for
from motionbook.inbetweening.windows import CONTEXT, Windows

ROOT = slice(6 * JOINTS, FEATURES)


class Scale:
    """Statistics as tensors: to units of standard deviations and back.

    Parameters
    ----------
    statistics : Statistics
    like : torch.Tensor
        Gives the device and the kind of float.
    """

    def __init__(self, statistics: Statistics, like: torch.Tensor):
        self.mean, self.std = (torch.as_tensor(s).to(like) for s in statistics)

    def standard(self, x: torch.Tensor) -> torch.Tensor:
        """Features (..., 135) in standard deviations from the mean."""
        return (x - self.mean) / self.std

    def plain(self, z: torch.Tensor) -> torch.Tensor:
        """The way back."""
        return z * self.std + self.mean


def known_frames(length: int, transition: int, midways: Sequence[int] = ()) -> np.ndarray:
    """The mask channel (length,): 1 for context, target and midway targets."""
    known = np.zeros(length)
    known[[*range(CONTEXT), CONTEXT + transition, *midways]] = 1.0
    return known


def context_input(z: torch.Tensor, transition: int, midways: Sequence[int] = ()) -> torch.Tensor:
    """What the context network is given, (B, N, 136): known frames, the root on straight lines between them, the mask.

    Parameters
    ----------
    z : (B, N, 135)
        At least up to the target; what it holds in the other frames is not read.
    """
    length, target = z.shape[1], CONTEXT + transition
    known = known_frames(length, transition, midways)
    mask = torch.as_tensor(known).to(z)[:, None]
    filled = torch.where(mask > 0, z, torch.zeros((), dtype=z.dtype, device=z.device))
    ends = [CONTEXT - 1, *sorted(set(midways)), target]
    gap = np.arange(CONTEXT, target)
    weights = np.stack([np.interp(gap, ends, row) for row in np.eye(len(ends))], axis=1)
    filled[:, CONTEXT:target, ROOT] = torch.as_tensor(weights).to(z) @ z[:, ends, ROOT]
    return torch.cat([filled, mask.expand(len(z), -1, 1)], dim=-1)


def detail_input(made: torch.Tensor, z: torch.Tensor, scale: Scale, transition: int, midways: Sequence[int] = ()):
    """What the detail network is given, (B, N, 136): the shifted first stage with true rotations, and the mask.

    Parameters
    ----------
    made : (B, transition, 135)
        The context network's frames after ``shift``.
    z : (B, N, 135)
        Known frames are taken from here, midway targets among them.
    """
    x = scale.plain(made)
    made = scale.standard(features_of(orthonormal(columns_of(x)), x[..., ROOT]))
    known = torch.as_tensor(known_frames(z.shape[1], transition, midways)).to(z)[:, None].expand(len(z), -1, 1)
    gap = slice(CONTEXT, CONTEXT + transition)
    middle = torch.where(known[:, gap] > 0, z[:, gap], made)
    after = torch.zeros_like(z[:, gap.stop + 1 :])
    x = torch.cat([z[:, :CONTEXT], middle, z[:, gap.stop : gap.stop + 1], after], dim=1)
    return torch.cat([x, known], dim=-1)


def in_time(out: torch.Tensor, plan) -> torch.Tensor:
    """Network outputs (B, target and transition, numbers) in the order of time, the target left out."""
    frames = plan.frames[plan.wanted :]
    return out[:, [int(i) for i in np.argsort(frames)]]


def shift(made: torch.Tensor, z: torch.Tensor, after_target: bool = True) -> torch.Tensor:
    """Predicted frames (B, T, numbers) moved together so that both ends go on as the known frames do.

    Parameters
    ----------
    made : (B, T, numbers)
    z : (B, N, numbers)
        The window; with ``after_target`` one frame longer than the target.
    after_target : bool
        As published. Otherwise the step from the last predicted frame to the target is asked to be the step before it.
    """
    last, target = CONTEXT - 1, CONTEXT + made.shape[1]
    start = 2 * z[:, last] - z[:, last - 1] - made[:, 0]
    if after_target:
        end = 2 * z[:, target] - z[:, target + 1] - made[:, -1]
    elif made.shape[1] > 1:
        end = z[:, target] + made[:, -2] - 2 * made[:, -1]
    else:  # the frame before the only predicted one is known and does not move with it
        end = 0.5 * (z[:, target] + z[:, last]) - made[:, -1]
    return made + 0.5 * (start + end)[:, None]


@dataclass(frozen=True, eq=False)
class TwoStage:
    """A predictor of ``evaluate``: call it with windows and a transition length.

    Attributes
    ----------
    context : ContextNetwork
    detail : DetailNetwork or None
        None: the first stage alone.
    statistics : Statistics
        Of the people the networks were trained on.
    after_target : bool
        Let the shift read the frame after the target, as published.
    shift_context, shift_detail : bool
        Shift what the stage returns in the end. Published results do neither for the networks named "context" and
        "context + detail"; between the stages the shift is always made.
    """

    context: ContextNetwork
    detail: DetailNetwork | None
    statistics: Statistics
    after_target: bool = True
    shift_context: bool = False
    shift_detail: bool = False

    def keys_only(self) -> "TwoStage":
        """The same without a look beyond the target, for generating from key poses."""
        return replace(self, after_target=False)

    def __call__(self, windows: Windows, transition: int) -> LocalPose:
        """The frames 10 .. 9 + transition of windows that may stand anywhere and face any way."""
        beyond = self.after_target and (self.detail is not None or self.shift_context or self.shift_detail)
        needed = CONTEXT + transition + (2 if beyond else 1)
        if transition < 1 or windows.rotations.shape[1] < needed:
            raise ValueError(
                f"transition {transition}: expected windows of at least {needed} frames, got "
                f"{windows.rotations.shape[1]}; without the frame after the target use TwoStage.keys_only()"
            )
        short = replace(
            windows, root_positions=windows.root_positions[:, :needed], rotations=windows.rotations[:, :needed]
        )
        root, rotations, facing = start_centred(short)
        made = self.fill(features(root, rotations), transition)
        columns = orthonormal(columns_of(made)).permute(3, 4, 2, 1, 0).numpy()  # (B, T, J, 3, 2)
        matrices = np.concatenate([columns, np.cross(columns[..., 0], columns[..., 1])[..., None]], axis=-1)
        return LocalPose(*put_back(made[..., ROOT].numpy(), rot.from_matrix(matrices), facing))

    def fill(self, x: np.ndarray, transition: int) -> torch.Tensor:
        """Predicted features (B, transition, 135), float64, of features (B, N, 135) that are centred at frame 9."""
        like = next(self.context.parameters())
        scale = Scale(self.statistics, like)
        z = torch.as_tensor((x - self.statistics.mean) / self.statistics.std).to(like)
        if not len(z):
            return torch.zeros((0, transition, FEATURES), dtype=torch.float64)
        with torch.inference_mode(), threads_for(self.context, self.detail):
            made, _ = self.stages(z, scale, transition)
            return scale.plain(made).double().cpu()

    def stages(self, z: torch.Tensor, scale: Scale, transition: int):
        """Predicted z-scored features (B, transition, 135), and logits of contacts (B, transition, 4) or None."""
        made = first_stage(self.context, z, transition)
        if self.detail is None:
            return (shift(made, z, self.after_target) if self.shift_context else made), None
        plan = layout(transition, all_keys=True)
        given = detail_input(shift(made, z, self.after_target), z, scale, transition)
        out = in_time(self.detail(given, plan), plan)
        made, contacts = out[..., :FEATURES], out[..., FEATURES:]
        return (shift(made, z, self.after_target) if self.shift_detail else made), contacts


def first_stage(network: ContextNetwork, z: torch.Tensor, transition: int, midways: Sequence[int] = ()):
    """The context network's frames (B, transition, 135), z-scored, midway targets predicted as well."""
    plan = layout(transition, midways)
    return in_time(network(context_input(z, transition, midways), plan), plan)
