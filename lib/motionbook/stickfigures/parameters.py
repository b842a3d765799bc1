"""Body, stroke and cameras of a clip, drawn from its name alone.

The published data set seeds Python's own generator with the first 48 bits of the SHA-256 of the clip id, so anyone
can rebuild every frame from the motion and its name. The order of the draws is part of the data format; it is kept
here exactly. Source: Dancing Stick Figures, section 3; its builder.
"""

import hashlib
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from motionbook.stickfigures.camera import View

VIEWS = 3
_SIDED = ("ForeArm", "Hand", "Leg", "Foot")
_TRUNK = ("Spine", "Spine1", "Spine2", "Spine3", "Neck", "Head")
_STROKES = (3.0, 3.5, 4.0, 4.0, 4.5, 5.0)
_YAWS = (0, 45, -45, 90, -90, 135, -135, 180)


@dataclass(frozen=True)
class Body:
    """How a figure is drawn: pixels per metre and stroke width in pixels, both at 128 px, and bone length factors."""

    px_per_m: float = 54.0
    stroke: float = 4.0
    bone_scale: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ClipParameters:
    """Everything but the motion that a clip's frames depend on."""

    body: Body
    views: tuple[View, ...]


def clip_parameters(clip_id: str) -> ClipParameters:
    """Body and three views of a clip.

    Parameters
    ----------
    clip_id : str
        ``group/slug_s<seed>``, without a camera.
    """
    # random.Random is the published format here; numpy's generators cannot reproduce its stream
    rng = random.Random(int(hashlib.sha256(clip_id.encode()).hexdigest()[:12], 16))
    scales = {f"{side}{bone}": round(rng.uniform(0.92, 1.08), 3) for side in ("Left", "Right") for bone in _SIDED}
    scales |= {bone: round(rng.uniform(0.94, 1.06), 3) for bone in _TRUNK}
    px_per_m = round(rng.uniform(50, 58), 2)
    stroke = rng.choice(_STROKES)
    views = tuple(_draw_view(rng) for _ in range(VIEWS))
    return ClipParameters(Body(px_per_m, stroke, scales), views)


def _draw_view(rng: random.Random) -> View:
    snapped = rng.random() < 0.7
    yaw = rng.choice(_YAWS) + rng.uniform(-6, 6) if snapped else rng.uniform(-180, 180)
    pitch = rng.uniform(-3, 10)
    centre = (64 + rng.uniform(-3, 3), 66 + rng.uniform(-3, 3))
    return View(math.radians(yaw), math.radians(pitch), centre)
