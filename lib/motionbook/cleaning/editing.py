"""Edits that put a take where a data set wants it: over the origin, facing forward, on the floor, in other units.

Each is one `Placement` of the whole clip, x -> scale R x + t, so that shapes, timing and local rotations stay as they
are. ``centring``, ``facing`` and ``flooring`` measure it, ``place`` carries it out, and ``reverse`` is what undoes it:
``place(place(clip, p), reverse(p))`` is the clip again to rounding, 1e-9 m over any clip.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.bvh.guess import TURNS
from motionbook.bvh.read import turn_basis
from motionbook.checks import check_shape, check_unit
from motionbook.clip import Clip
from motionbook.headings import heading
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import SIDES, find_legs

_UPRIGHT = np.array([0.0, 1.0, 0.0])


class Placement(NamedTuple):
    """x -> scale R x + t for every point of a clip.

    Attributes
    ----------
    rotation : (4,) array
        R as a unit quaternion.
    translation : (3,) array
        t, metres after scaling.
    scale : float
        Positive.
    """

    rotation: np.ndarray
    translation: np.ndarray
    scale: float = 1.0


def place(clip: Clip, placement: Placement) -> Clip:
    """The clip moved, turned and scaled as one; a scale also changes the bones, and so the skeleton."""
    rotation = check_shape(placement.rotation, "4", "placement.rotation")
    check_unit(rotation, "placement.rotation")
    translation = check_shape(placement.translation, "3", "placement.translation")
    scale = float(placement.scale)
    if not (np.isfinite(scale) and scale > 0):
        raise ValueError(f"placement.scale: expected a positive number, got {placement.scale}")
    rotations = clip.rotations.copy()
    rotations[:, 0] = rot.multiply(rotation, rotations[:, 0])
    root = scale * rot.rotate(rotation, clip.root_positions) + translation
    placed = replace(clip, root_positions=root, rotations=rotations)
    if scale == 1.0:
        return placed
    ends = tuple((joint, tuple(scale * np.array(end))) for joint, end in clip.skeleton.end_offsets)
    skeleton = replace(clip.skeleton, offsets=scale * clip.skeleton.offsets, end_offsets=ends)
    return replace(
        placed, skeleton=skeleton, translations=None if clip.translations is None else scale * clip.translations
    )


def reverse(placement: Placement) -> Placement:
    """The placement that undoes this one."""
    back = rot.inverse(placement.rotation)
    return Placement(back, -rot.rotate(back, placement.translation) / placement.scale, 1.0 / placement.scale)


def follow(first: Placement, second: Placement) -> Placement:
    """One placement for two, ``first`` being carried out first."""
    turned = second.scale * rot.rotate(second.rotation, first.translation)
    rotation = rot.multiply(second.rotation, first.rotation)
    return Placement(rotation, turned + second.translation, first.scale * second.scale)


def shift(clip: Clip, offset) -> Clip:
    """The clip moved by ``offset`` (3,), metres."""
    return place(clip, Placement(rot.identity(), np.asarray(offset, dtype=np.float64)))


def turn(clip: Clip, angle: float) -> Clip:
    """The clip turned about the vertical through the origin by ``angle`` radians, from +Z towards +X."""
    return place(clip, Placement(rot.from_axis_angle(_UPRIGHT, float(angle)), np.zeros(3)))


def rescale(clip: Clip, factor: float) -> Clip:
    """The clip in other units or of another size: bones, root path and translations times ``factor``.

    ``rescale(clip, 100)`` turns metres into centimetres, ``rescale(clip, 0.01)`` turns them back.
    """
    if not (np.isfinite(factor) and factor > 0):
        raise ValueError(f"factor: expected a positive number, got {factor}")
    return place(clip, Placement(rot.identity(), np.zeros(3), factor))


def turn_up(clip: Clip, source: str, target: str = "Y") -> Clip:
    """The clip in axes with another one up, the rest pose turned with it so that it still stands.

    Parameters
    ----------
    clip : Clip
    source, target : "Y", "Z", "-Y" or "-Z"
        Which axis points up now and which shall. Axes stay right-handed; who faces -Y in a Z-up clip (as in Blender)
        faces +Z in a Y-up one, which is how `read_bvh` turns such files.

    Returns
    -------
    Clip
        With T the turn of the axes: T o for every offset o and the root's path, T R T^-1 for every rotation R. World
        places are the old ones turned by T, and ``turn_up(turn_up(clip, a, b), b, a)`` is the clip, exactly.
    """
    for name, value in (("source", source), ("target", target)):
        if value not in TURNS:
            raise ValueError(f"{name}: expected one of {', '.join(TURNS)}, got {value!r}")
    matrix = TURNS[target].T @ TURNS[source]
    skeleton = clip.skeleton
    ends = tuple((joint, tuple(matrix @ np.array(end))) for joint, end in skeleton.end_offsets)
    return replace(
        clip,
        skeleton=replace(skeleton, offsets=skeleton.offsets @ matrix.T, end_offsets=ends),
        root_positions=clip.root_positions @ matrix.T,
        rotations=turn_basis(clip.rotations, matrix),
        translations=None if clip.translations is None else clip.translations @ matrix.T,
    )


def centring(clip: Clip) -> Placement:
    """Over the floor, so that in the first frame the middle between the two ankles is at x = z = 0; heights are kept.

    StayStill, section 3.1.3: "centred".
    """
    _check_frames(clip)
    legs = find_legs(clip.skeleton)
    places = forward_kinematics(clip[:1]).positions[0]
    middle = np.mean([places[legs[side, "foot"]] for side in SIDES], axis=0)
    return Placement(rot.identity(), -middle * [1.0, 0.0, 1.0])


def facing(clip: Clip) -> Placement:
    """About the vertical through the origin, so that in the first frame the hips face +Z."""
    _check_frames(clip)
    return Placement(rot.from_axis_angle(_UPRIGHT, -heading(clip[:1])[0]), np.zeros(3))


def _check_frames(clip: Clip) -> None:
    if not len(clip):
        raise ValueError("clip: expected at least one frame, got none")


def centre_first_frame(clip: Clip) -> Clip:
    """The clip moved over the floor so that in its first frame the person stands at the origin; see `centring`."""
    return place(clip, centring(clip))


def face_forward(clip: Clip) -> Clip:
    """The clip turned about the vertical so that in its first frame the hips face +Z; see `facing`."""
    return place(clip, facing(clip))


def sole_heights(clip: Clip) -> np.ndarray:
    """Height (frames, 2) in metres of the tip of the left and the right foot: the toe, or the foot's end site."""
    legs = find_legs(clip.skeleton)
    places, turned = forward_kinematics(clip)
    heights = []
    for side in SIDES:
        joint = legs.get((side, "toe"))
        if joint is None:
            joint = legs[side, "foot"]
            end = next((np.array(offset) for j, offset in clip.skeleton.end_offsets if j == joint), np.zeros(3))
            heights.append(places[:, joint, 1] + rot.rotate(turned[:, joint], end)[:, 1])
        else:
            heights.append(places[:, joint, 1])
    return np.stack(heights, axis=1)


def flooring(clip: Clip, share: float = 0.25) -> Placement:
    """Up or down by a constant, so that the lower foot stands at height 0.

    Captured feet float and sink by centimetres, so the floor is the height under which the lower foot is during
    ``share`` of the frames: a quarter is robust to noise and still the floor for someone who walks.
    """
    _check_frames(clip)
    return Placement(rot.identity(), np.array([0.0, -np.quantile(sole_heights(clip).min(axis=1), share), 0.0]))


def put_on_floor(clip: Clip, share: float = 0.25) -> Clip:
    """The clip lifted or lowered by a constant so that its lower foot stands at height 0; see `flooring`."""
    return place(clip, flooring(clip, share))
