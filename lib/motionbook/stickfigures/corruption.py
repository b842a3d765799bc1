"""Known damage: five changes of the figure's build and four of the order of frames, to see which diagnostic reacts.

Structural damage is drawn again from a clip's joints, body and view; temporal damage only rearranges frames.
Source: Dancing Stick Figures, section 4 "Controlled validation" and section 5 "Metric stress test".
"""

import numpy as np

from motionbook.checks import check_shape
from motionbook.skeletons import CSKEL27
from motionbook.stickfigures.camera import CANVAS, View
from motionbook.stickfigures.figure import PARTS, Part, select
from motionbook.stickfigures.parameters import Body
from motionbook.stickfigures.renderer import halve, render
from motionbook.stickfigures.topology import check_frames

STRUCTURAL = ("swap_LR_partial", "swap_LR_full", "stretch_bone", "delete_hand", "extra_arm")
TEMPORAL = ("freeze", "shuffle", "loop", "reverse")
_LOOP = 8  # frames repeated by "loop"
_STRETCH = 0.3  # of the left forearm's length
_EXTRA_TURN = np.deg2rad(40.0)
_ARM = ("LeftForeArm", "LeftHand", "LeftHandEnd")
_LIMB_BONES = ("ForeArm", "Hand", "HandEnd", "Leg", "Foot", "ToeBase")


def corrupt(frames, kind: str, *, joints=None, body: Body | None = None, camera: View | None = None, rng=None):
    """Frames of the same shape with one kind of damage.

    Parameters
    ----------
    frames : (frames, size, size, 4) uint8
        The clean frames, straight RGBA.
    kind : str
        One of ``STRUCTURAL``: swap_LR_partial (colours of the two upper arms exchanged), swap_LR_full (of all limbs),
        stretch_bone (left forearm 30 % longer), delete_hand (right hand not drawn), extra_arm (a second left arm,
        turned 40 degrees, laid over the picture). Or one of ``TEMPORAL``: freeze (first frame only), shuffle,
        loop (first eight frames over and over), reverse.
    joints, body, camera
        What the frames were rendered from; needed for structural damage.
    rng : numpy.random.Generator
        Needed for shuffle.
    """
    frames = check_frames(frames)
    if kind in TEMPORAL:
        return frames[_order(kind, len(frames), rng)]
    if kind not in STRUCTURAL:
        raise ValueError(f"kind: expected one of {', '.join(STRUCTURAL + TEMPORAL)}, got {kind!r}")
    if joints is None or body is None or camera is None:
        raise ValueError(f"{kind}: give the joints, body and camera that the frames were rendered from")
    joints = check_shape(joints, f"{len(frames)} 27 3", "joints")
    return _structural(kind, joints, body, camera, frames.shape[1])


def _order(kind, n, rng):
    if kind == "freeze":
        return np.zeros(n, int)
    if kind == "loop":
        return np.arange(n) % _LOOP
    if kind == "reverse":
        return np.arange(n)[::-1]
    if rng is None:
        raise ValueError("shuffle: give rng, a numpy Generator, so that the order can be repeated")
    return rng.permutation(n)


def _structural(kind, joints, body, camera, size):
    if kind == "swap_LR_partial":
        return render(joints, body, camera, size, parts=_swapped(("ForeArm",))).color
    if kind == "swap_LR_full":
        return render(joints, body, camera, size, parts=_swapped(_LIMB_BONES)).color
    if kind == "delete_hand":
        hand = CSKEL27.index("RightHandEnd")
        return render(joints, body, camera, size, parts=tuple(p for p in PARTS if p.joint != hand)).color
    moved = joints.copy()
    if kind == "stretch_bone":
        elbow, wrist = CSKEL27.index("LeftForeArm"), CSKEL27.index("LeftHand")
        longer = _STRETCH * (joints[:, wrist] - joints[:, elbow])
        for name in ("LeftHand", "LeftHandEnd", "LeftHandThumb1"):
            moved[:, CSKEL27.index(name)] += longer
        return render(moved, body, camera, size).color
    shoulder = joints[:, CSKEL27.index("LeftArm")]
    c, s = np.cos(_EXTRA_TURN), np.sin(_EXTRA_TURN)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    for name in (*_ARM, "LeftHandThumb1"):
        joint = CSKEL27.index(name)
        moved[:, joint] = shoulder + (joints[:, joint] - shoulder) @ turn.T
    arm = render(moved, body, camera, parts=select(_ARM)).color
    both = _over(arm, render(joints, body, camera).color)
    return both if size == CANVAS else halve(both)


def _swapped(bones) -> tuple[Part, ...]:
    """The parts with left and right colours of some bones exchanged, places and labels as they were."""
    names = {CSKEL27.index(side + bone) for side in ("Left", "Right") for bone in bones}
    return tuple(
        p._replace(colour=p.colour[:-1] + {"L": "R", "R": "L"}[p.colour[-1]]) if p.joint in names else p for p in PARTS
    )


def _over(top, under):
    """Straight-alpha colours blended by the upper alpha, which also mixes in transparent black, as published."""
    share = top[..., 3:].astype(np.float64) / 255
    blended = top[..., :3] * share + under[..., :3] * (1 - share)
    return np.concatenate([blended.astype(np.uint8), np.maximum(top[..., 3:], under[..., 3:])], axis=-1)
