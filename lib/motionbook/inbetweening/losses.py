"""What the two networks are trained to make small (Qin et al. 2022).

All terms are means of absolute differences over the predicted frames, of the numbers themselves and not of their
z-scores: rotation columns (after they have been made orthonormal), centimetres, probabilities. Their weights differ
between the stages.

Legend of the axes: B windows, T predicted frames, J joints; places are planes (3, J, B, frames).
"""

from typing import NamedTuple

import torch

from motionbook.inbetweening.motion_tensors import FEATURES, FEET, columns_of, joint_places, orthonormal
from motionbook.inbetweening.two_stage import ROOT, Scale
from motionbook.inbetweening.windows import CONTEXT

# rotation, position, smoothness, contact, foot
CONTEXT_WEIGHTS = {"rotation": 1.0, "position": 0.01, "smooth": 0.005}
DETAIL_WEIGHTS = {"rotation": 1.0, "position": 0.02, "contact": 0.05, "foot": 0.05}


class Truth(NamedTuple):
    """Recorded motion of the windows of a batch, centred at frame 9.

    Attributes
    ----------
    z : (B, N, 135)
        Standardised features.
    columns : (2, 3, J, B, N)
        Of the parent-relative rotations.
    places : (3, J, B, N)
        Centimetres.
    offsets : (B, J, 3)
        Bones, centimetres.
    contacts : (B, N, 4)
        0 or 1, from the clip as recorded.
    """

    z: torch.Tensor
    columns: torch.Tensor
    places: torch.Tensor
    offsets: torch.Tensor
    contacts: torch.Tensor


def gap_losses(out: torch.Tensor, truth: Truth, scale: Scale) -> dict[str, torch.Tensor]:
    """Every term that the output of a network allows, unweighted.

    Parameters
    ----------
    out : (B, T, 135) or (B, T, 139)
        Standardised features of frames 10 .. 9 + T, then logits of contacts.

    Returns
    -------
    dict
        "rotation", "position", "smooth" (mean step of all joints from frame 9 to the target: pulls towards standing
        still), and with contacts "contact" and "foot" (steps of the feet times the probability that they rest).

    Notes
    -----
    A contact at t is about the step from t to t + 1, the foot term multiplies it with the step from t - 1 to t; so it
    is in the published code.
    """
    frames = out.shape[1]
    gap, target = slice(CONTEXT, CONTEXT + frames), CONTEXT + frames
    x = scale.plain(out[..., :FEATURES])
    columns = orthonormal(columns_of(x).contiguous())
    places = joint_places(columns, x[..., ROOT], truth.offsets)
    known = truth.places
    around = torch.cat([known[..., gap.start - 1 : gap.start], places, known[..., target : target + 1]], dim=-1)
    steps = around.diff(dim=-1).abs()
    losses = {
        "rotation": (columns - truth.columns[..., gap]).abs().mean(),
        "position": (places - known[..., gap]).abs().mean(),
        "smooth": steps.mean(),
    }
    if out.shape[-1] > FEATURES:
        resting = torch.sigmoid(out[..., FEATURES:])
        losses["contact"] = (resting - truth.contacts[:, gap]).abs().mean()
        feet = steps[:, list(FEET), :, :-1]
        losses["foot"] = (feet * resting.detach().permute(2, 0, 1)).mean()
    return losses


def weighted(losses: dict[str, torch.Tensor], weights: dict[str, float]) -> torch.Tensor:
    """The sum that is differentiated."""
    return sum(weight * losses[name] for name, weight in weights.items())
