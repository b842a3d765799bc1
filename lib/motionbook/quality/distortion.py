"""The six distortions of 4DHumanQA (section IV-B), made on the motion; each has five strengths."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.synthesis.rating_panel import MAIN_STRENGTHS as STRENGTHS

UNITS = {"contact": "m", "twist": "rad", "intersection": "rad", "smoothness": "share of frames"}


class Distorted(NamedTuple):
    """A distorted clip and, per frame, the frame of the reference that it shows."""

    clip: Clip
    source_index: np.ndarray


def distort(clip: Clip, kind: str, level: int, seed: int = 0) -> Distorted:
    """One distortion of a clip on the LaFAN1 skeleton.

    Parameters
    ----------
    clip : Clip
    kind : str
        ``glide`` and ``moonwalk`` scale the root's horizontal path from its first frame by K (Eq. 4, horizontal only:
        taken literally the equation also lifts the body). ``contact`` raises the body (Eq. 5). ``smoothness`` drops a
        share of the frames at random; the one before is shown in their place, so the length stays. ``twist`` turns both
        feet about the shin's axis, ``intersection`` both upper arms into the trunk (Eq. 6 and 7 as composed turns),
        rising and falling over the middle half of the clip.
    level : int
        1 to 5.
    seed : int
        For ``smoothness``.
    """
    if kind not in STRENGTHS:
        raise KeyError(f"no distortion {kind!r}; there are {', '.join(STRENGTHS)}")
    if level not in range(1, 6):
        raise ValueError(f"level: expected 1 to 5, got {level}")
    strength = STRENGTHS[kind][level - 1]
    frames = np.arange(len(clip))
    if kind in ("glide", "moonwalk"):
        scale = np.array([strength, 1.0, strength])
        root = clip.root_positions[:1] + scale * (clip.root_positions - clip.root_positions[:1])
        return Distorted(replace(clip, root_positions=root), frames)
    if kind == "contact":
        return Distorted(replace(clip, root_positions=clip.root_positions + np.array([0.0, strength, 0.0])), frames)
    if kind == "smoothness":
        shown = hold(len(clip), strength, seed)
        held = replace(clip, root_positions=clip.root_positions[shown], rotations=clip.rotations[shown])
        return Distorted(held, shown)
    turn = strength * middle_window(len(clip))
    # knees and elbows of this skeleton bend about local z; local x runs along the bone
    joints, axis = (
        (("LeftFoot", "RightFoot"), (1.0, 0.0, 0.0)) if kind == "twist" else (("LeftArm", "RightArm"), (0.0, 1.0, 0.0))
    )
    rotations = clip.rotations.copy()
    for name, side in zip(joints, (1.0, -1.0), strict=True):
        joint = clip.skeleton.index(name)
        added = rot.from_axis_angle(np.array(axis), side * turn)
        rotations[:, joint] = (
            rot.multiply(added, rotations[:, joint]) if kind == "twist" else rot.multiply(rotations[:, joint], added)
        )
    return Distorted(replace(clip, rotations=rotations), frames)


def hold(frames: int, share: float, seed: int) -> np.ndarray:
    """Index of the frame shown at each time when a random share is dropped; the first frame is always kept."""
    rng = np.random.default_rng(seed)
    dropped = 1 + rng.choice(frames - 1, size=round(share * (frames - 1)), replace=False)
    shown = np.arange(frames)
    shown[dropped] = 0
    return np.maximum.accumulate(shown)


def middle_window(frames: int) -> np.ndarray:
    """Raised cosine over the middle half of a clip (frames,), 1 at its centre and 0 outside."""
    t = (np.arange(frames) + 0.5) / frames
    return np.where(np.abs(t - 0.5) < 0.25, 0.5 + 0.5 * np.cos(4 * np.pi * (t - 0.5)), 0.0)
