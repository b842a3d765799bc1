"""The stick figure: which of the 27 joints are drawn as what, in which colour, and how a body is scaled.

Joints, offsets and their order are ``skeletons.CSKEL27``; x is the figure's left, y up, z forward. A bone is named by
its child joint. Figures are described by a tuple of ``Part`` in drawing order, a plain value: a corrupted figure is
another tuple, never a changed global.

Source: Dancing Stick Figures, section 3 and Figure 3.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from motionbook.checks import check_shape
from motionbook.skeletons import CSKEL27

# Red, green, blue, by the name that the metrics use; ink comes first because ties in colour distance go to it.
PALETTE = {
    "ink": (40, 40, 40),
    "arm_L": (232, 64, 48),
    "fore_L": (255, 150, 40),
    "arm_R": (40, 110, 230),
    "fore_R": (80, 200, 240),
    "leg_L": (200, 50, 160),
    "shin_L": (255, 120, 200),
    "leg_R": (30, 150, 90),
    "shin_R": (120, 220, 90),
}
LIMBS = tuple(name for name in PALETTE if name != "ink")

# Colours that touch on a whole figure: trunk to upper limb, upper limb to lower limb, on both sides.
ADJACENT = tuple(
    pair
    for side in "LR"
    for upper, lower in (("arm", "fore"), ("leg", "shin"))
    for pair in (("ink", f"{upper}_{side}"), (f"{upper}_{side}", f"{lower}_{side}"))
)

HEAD_RADIUS = 0.125
REST_THUMB = 0.05722  # metres from wrist to thumb in the rest pose, which says how far the palm is turned

_COLOUR_OF = {"ForeArm": "arm", "Hand": "fore", "HandEnd": "fore", "Leg": "leg", "Foot": "shin", "ToeBase": "shin"}
_UNDRAWN = ("Hips", "Head", "LeftHandThumb1", "RightHandThumb1")


class Part(NamedTuple):
    """One drawn thing: the bone that ends in ``joint`` (index), its shape and its palette name.

    ``shape`` is "bone", "hand" (mitten and thumb), "foot" (shoe) or "head" (sphere); the segmentation id is joint + 1.
    """

    joint: int
    shape: str
    colour: str


def _parts() -> tuple[Part, ...]:
    parts = []
    for joint, name in enumerate(CSKEL27.names):
        if name in _UNDRAWN:
            continue
        side = name[0] if name.startswith(("Left", "Right")) else ""
        limb = _COLOUR_OF.get(name.removeprefix("Left").removeprefix("Right")) if side else None
        shape = "hand" if name.endswith("HandEnd") else "foot" if name.endswith("ToeBase") else "bone"
        parts.append(Part(joint, shape, f"{limb}_{side}" if limb else "ink"))
    return (*parts, Part(CSKEL27.index("Head"), "head", "ink"))


# The 23 bones in joint order, then the head: the order in which equal depths are decided.
PARTS = _parts()


def select(joints: Iterable[str], parts: tuple[Part, ...] = PARTS) -> tuple[Part, ...]:
    """The parts whose child joint is named, in drawing order; KeyError for a joint that is not drawn."""
    wanted = {CSKEL27.index(name) for name in joints}
    missing = wanted - {part.joint for part in parts}
    if missing:
        raise KeyError(f"not drawn: {', '.join(CSKEL27.names[j] for j in sorted(missing))}")
    return tuple(part for part in parts if part.joint in wanted)


def scale_bones(joints, scales: Mapping[str, float]) -> np.ndarray:
    """Joint places (frames, 27, 3) with some bones longer or shorter, directions and the hips unchanged.

    Parameters
    ----------
    joints : (frames, 27, 3)
        Metres, any frame of reference.
    scales : mapping of joint name to factor
        The bone that ends in the named joint; the joints below it move along rigidly.
    """
    joints = check_shape(joints, "frames 27 3", "joints")
    unknown = [name for name in scales if name not in CSKEL27.names]
    if unknown:
        raise KeyError(f"bone scales: no joint {', '.join(unknown)} in {', '.join(CSKEL27.names)}")
    moved = np.zeros_like(joints)
    for joint, parent in enumerate(CSKEL27.parents[1:], start=1):
        factor = scales.get(CSKEL27.names[joint], 1.0)
        moved[:, joint] = moved[:, parent] + (factor - 1.0) * (joints[:, joint] - joints[:, parent])
    return joints + moved
