"""Clips one after the other as one clip, each blended into the next."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.cleaning.editing import Placement, heading, place
from motionbook.clip import Clip

_SAME_BONE = 1e-5  # metres; files of one skeleton differ by what their text rounds, LaFAN1's by 7e-7
_UPRIGHT = np.array([0.0, 1.0, 0.0])


def concatenate(clips: Sequence[Clip], blend_seconds: float = 0.3, *, align: bool = True) -> Clip:
    """Clips joined in order; where two meet they overlap for ``blend_seconds`` and one fades into the other.

    Let b = round(blend_seconds * fps). The last b frames of a clip and the first b of the next become b frames in which
    rotations go from the one to the other along the shortest arc and places along a straight line, with the weight
    3 u^2 - 2 u^3 at u = i / (b + 1), i = 1 to b, so that neither pose nor speed jumps at either end. All other frames
    are those of the clips, moved as a whole where ``align`` says so: `joined_ranges` lists them. The result has
    ``sum(frames) - b (clips - 1)`` frames, and its duration is shorter than theirs together by that many.

    Parameters
    ----------
    clips : sequence of Clip
        At least one; equal skeletons and rates; each with at least b frames per neighbour.
    blend_seconds : float
        0 joins without a blend: the next clip follows the last frame of the one before.
    align : bool
        Move each clip over the floor and turn it about the vertical so that its root is above the place, and its hips
        face the direction, of the clip before: in the middle of the blend, or from last frame to first without one.
        Heights are kept. Without it, people travel through the blend to wherever the next clip begins.

    Raises
    ------
    ValueError
        For different joints, bones or rates, with the first difference and what to call before; for clips shorter than
        their blends.
    """
    clips = list(clips)
    _check_alike(clips)
    blend = _blend_frames(clips, blend_seconds)
    result = clips[0]
    for clip in clips[1:]:
        result = _joined(result, place(clip, _onto(result, clip, blend)) if align else clip, blend)
    return result


def joined_ranges(clips: Sequence[Clip], blend_seconds: float = 0.3) -> list[tuple[int, int]]:
    """Frames [start, stop) of the result of `concatenate` that are each clip's own, without the blends."""
    blend = _blend_frames(list(clips), blend_seconds)
    ranges, at = [], 0
    for number, clip in enumerate(clips):
        first = blend if number else 0
        last = len(clip) - (blend if number < len(clips) - 1 else 0)
        ranges.append((at + first, at + last))
        at += len(clip) - blend
    return ranges


def _check_alike(clips: list[Clip]) -> None:
    if not clips:
        raise ValueError("clips: expected at least one, got none")
    first = clips[0].skeleton
    for number, clip in enumerate(clips[1:], start=1):
        other = clip.skeleton
        if other.names != first.names or other.parents != first.parents:
            alone = sorted(set(first.names) ^ set(other.names)) or ["none by name: their order or parents differ"]
            raise ValueError(
                f"clips: expected one skeleton, but clip {number} differs from clip 0 in {', '.join(alone[:6])} "
                f"({len(other)} and {len(first)} joints); retarget(clip, clips[0].skeleton) first"
            )
        off = np.linalg.norm(other.offsets[1:] - first.offsets[1:], axis=-1)
        if off.max(initial=0.0) > _SAME_BONE:
            worst = int(np.argmax(off)) + 1
            raise ValueError(
                f"clips: expected equal bones, but {first.names[worst]} of clip {number} lies {off.max():.4f} m from "
                "where it is in clip 0; retarget(clip, clips[0].skeleton) first"
            )
        if abs(clip.fps - clips[0].fps) > 1e-6 * clips[0].fps:
            raise ValueError(
                f"clips: expected one frame rate, but clip {number} has {clip.fps:g} and clip 0 {clips[0].fps:g} "
                "frames per second; resample(clip, clips[0].fps) first"
            )


def _blend_frames(clips: list[Clip], blend_seconds: float) -> int:
    seconds = float(blend_seconds)
    if not (np.isfinite(seconds) and seconds >= 0):
        raise ValueError(f"blend_seconds: expected 0 or more, got {blend_seconds}")
    blend = round(seconds * clips[0].fps)
    for number, clip in enumerate(clips):
        needed = blend * ((number > 0) + (number < len(clips) - 1))
        if len(clip) < max(needed, 1):
            raise ValueError(
                f"clips: expected at least {max(needed, 1)} frames, clip {number} has {len(clip)}; its blends of "
                f"{blend} frames must not overlap: lower blend_seconds"
            )
    return blend


def _onto(before: Clip, after: Clip, blend: int) -> Placement:
    """The placement over the floor that puts ``after`` where ``before`` is in the middle of their overlap."""
    at = len(before) - 1 - blend // 2
    there = blend - 1 - blend // 2 if blend else 0
    a, b = before[at : at + 1], after[there : there + 1]
    rotation = rot.from_axis_angle(_UPRIGHT, float(heading(a)[0] - heading(b)[0]))
    offset = a.root_positions[0] - rot.rotate(rotation, b.root_positions[0])
    return Placement(rotation, offset * [1.0, 0.0, 1.0])


def _joined(before: Clip, after: Clip, blend: int) -> Clip:
    tail, head = before[len(before) - blend :], after[:blend]
    u = np.arange(1, blend + 1) / (blend + 1)
    weight = u * u * (3.0 - 2.0 * u)

    def chain(a, overlap, b):
        return np.concatenate([a[: len(before) - blend], overlap, b[blend:]])

    def line(a, b):
        return a + weight.reshape(-1, *(1,) * (a.ndim - 1)) * (b - a)

    root = chain(before.root_positions, line(tail.root_positions, head.root_positions), after.root_positions)
    turned = chain(before.rotations, rot.slerp(tail.rotations, head.rotations, weight[:, None]), after.rotations)
    translations = None
    if before.translations is not None or after.translations is not None:
        a, b = _translations(before), _translations(after)
        translations = chain(a, line(a[len(before) - blend :], b[:blend]), b)
    return replace(before, root_positions=root, rotations=turned, translations=translations)


def _translations(clip: Clip) -> np.ndarray:
    if clip.translations is not None:
        return clip.translations
    return np.broadcast_to(clip.skeleton.offsets, (len(clip), *clip.skeleton.offsets.shape))
