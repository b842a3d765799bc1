"""Faults as capture makes them, put into clean clips at known frames, to see which rule finds them.

Every kind has sizes in physical units and is measured in seconds, so that one list serves all frame rates.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics, local_rotations
from motionbook.rigs import SIDES, find_rig


class Event(NamedTuple):
    """A fault that was put in: kind, size in the kind's unit, and its frames [start, stop)."""

    kind: str
    size: float
    start: int
    stop: int


class Kind(NamedTuple):
    """A kind of fault.

    Attributes
    ----------
    words : str
        What happens.
    unit : str
    sizes : tuple of float
        Small, middling and large.
    put : callable
        (clip, size, start, rng) -> (Clip, stop).
    seconds : float
        How long the longest lasts.
    """

    words: str
    unit: str
    sizes: tuple[float, float, float]
    put: Callable
    seconds: float


def inject(clip: Clip, kind: str, size: float, start: int, rng: np.random.Generator) -> tuple[Clip, Event]:
    """The clip with one fault from frame ``start`` on, and what was put in.

    Raises
    ------
    KeyError
        For an unknown kind.
    ValueError
        When the fault does not fit into the clip.
    """
    if kind not in KINDS:
        raise KeyError(f"no kind {kind!r} of fault; there are {', '.join(KINDS)}")
    if not 1 <= start < len(clip) - KINDS[kind].seconds * clip.fps - 1:
        raise ValueError(
            f"start: expected a frame from 1 with {KINDS[kind].seconds:g} s after it, got {start} of {len(clip)}"
        )
    broken, stop = KINDS[kind].put(clip, size, start, rng)
    return broken, Event(kind, float(size), start, stop)


def break_clip(
    clip: Clip, kind: str, rng: np.random.Generator, *, every_seconds: float = 12.0, avoid: np.ndarray | None = None
) -> tuple[Clip, tuple[Event, ...]]:
    """A copy with faults of one kind, sizes in turn, about one in ``every_seconds``.

    Parameters
    ----------
    clip : Clip
    kind : str
        One of ``KINDS``.
    rng : numpy Generator
        Draws places, limbs and directions.
    every_seconds : float
    avoid : (frames,) bool array, optional
        Frames that no fault may touch or come within half a second of.
    """
    sizes, room = KINDS[kind].sizes, int(np.ceil(KINDS[kind].seconds * clip.fps)) + 2
    away = round(0.5 * clip.fps)
    slot = round(every_seconds * clip.fps)
    taken = np.zeros(len(clip), dtype=bool) if avoid is None else np.asarray(avoid, dtype=bool)
    shift = int(rng.integers(len(sizes)))
    events = []
    for number, first in enumerate(range(away, len(clip) - room - away, slot)):
        last = min(first + slot - room - 2 * away, len(clip) - room - away)
        places = [p for p in range(first, last, 3) if not taken[max(p - away, 0) : p + room + away].any()]
        if not places:
            continue
        clip, event = inject(clip, kind, sizes[(number + shift) % len(sizes)], places[rng.integers(len(places))], rng)
        events.append(event)
    return clip, tuple(events)


def _frames(clip: Clip, seconds: float) -> int:
    return max(1, round(seconds * clip.fps))


def _limb(clip: Clip, rng, arms: float = 0.5) -> list[int]:
    """Joints of an arm or a leg that turn a bone, near the trunk first."""
    limbs = find_rig(clip.skeleton).limbs
    side = SIDES[rng.integers(2)]
    return [limbs[side, part] for part in (("upper_arm", "forearm") if rng.random() < arms else ("thigh", "shin"))]


def _bone(clip: Clip, joint: int) -> np.ndarray:
    """The bone (3,) that a joint turns, in its frame: to its first child, else to its end site."""
    offsets = clip.skeleton.offsets if clip.translations is None else np.median(clip.translations, axis=0)
    bones = [offsets[j] for j, parent in enumerate(clip.skeleton.parents) if parent == joint]
    bones += [np.asarray(end) for j, end in clip.skeleton.end_offsets if j == joint]
    bones = [bone for bone in bones if np.linalg.norm(bone) > 0.02]
    if not bones:
        raise ValueError(f"joint: expected one with a bone, got {clip.skeleton.names[joint]}")
    return bones[0]


def _aside(bone: np.ndarray, rng) -> np.ndarray:
    axis = np.cross(bone, rng.standard_normal(3))
    return axis / np.linalg.norm(axis)


def _turned(clip: Clip, joint: int, start: int, turns: np.ndarray) -> Clip:
    rotations = clip.rotations.copy()
    stop = start + len(turns)
    rotations[start:stop, joint] = rot.normalize(rot.multiply(rotations[start:stop, joint], turns))
    return replace(clip, rotations=rotations)


def _swung(clip, size, start, rng, course) -> tuple[Clip, int]:
    """One bone swung aside so that its tip moves by ``size`` metres times ``course`` (frames,)."""
    joint = _limb(clip, rng)[rng.integers(2)]
    bone = _bone(clip, joint)
    angles = 2 * np.arcsin(np.clip(0.5 * size * course / np.linalg.norm(bone), -1.0, 1.0))
    return _turned(clip, joint, start, rot.from_axis_angle(_aside(bone, rng), angles)), start + len(course)


def _spike(clip, size, start, rng):
    return _swung(clip, size, start, rng, np.ones(_frames(clip, 1 / 30)))


def _bump(clip, size, start, rng):
    frames = _frames(clip, 0.25)
    return _swung(clip, size, start, rng, 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(frames) + 1) / (frames + 1)))


def _jitter(clip, size, start, rng):
    frames = _frames(clip, 0.6)
    # noise of the camera's rate: held over a thirtieth of a second at higher rates would be steps, so it is linear
    knots = np.arange(frames) / (clip.fps / 30)
    for joint in _limb(clip, rng):
        noise = rng.standard_normal((int(knots[-1]) + 2, 3)) * size / np.linalg.norm(_bone(clip, joint))
        turns = np.stack([np.interp(knots, np.arange(len(noise)), column) for column in noise.T], axis=-1)
        clip = _turned(clip, joint, start, rot.from_rotation_vector(turns))
    return clip, start + frames


def _root_moved(clip: Clip, start: int, course: np.ndarray, rng) -> Clip:
    """The root moved horizontally by ``course`` (frames,) metres from ``start`` on, its last value to the end."""
    angle = rng.uniform(0.0, 2 * np.pi)
    root = clip.root_positions.copy()
    moved = np.zeros(len(root))
    moved[start : start + len(course)] = course
    moved[start + len(course) :] = course[-1]
    return replace(clip, root_positions=root + moved[:, None] * [np.cos(angle), 0.0, np.sin(angle)])


def _teleport(clip, size, start, rng):
    frames = _frames(clip, 0.4)
    return _root_moved(clip, start, np.append(np.full(frames, size), 0.0), rng), start + frames


def _step(clip, size, start, rng):
    return _root_moved(clip, start, np.array([size]), rng), start + 1


def _drift(clip, size, start, rng):
    frames = _frames(clip, 1.0)
    return _root_moved(clip, start, size * (np.arange(frames) + 1) / clip.fps, rng), start + frames


def _held(clip, size, start, rng):
    frames = _frames(clip, size)
    rotations = clip.rotations.copy()
    for joint in _limb(clip, rng):
        rotations[start : start + frames, joint] = rotations[start - 1, joint]
    return replace(clip, rotations=rotations), start + frames


def _filled(clip, size, start, rng):
    frames = _frames(clip, size)
    rotations = clip.rotations.copy()
    share = ((np.arange(frames) + 1) / (frames + 1))[:, None]
    for joint in _limb(clip, rng):
        before, after = rotations[start - 1, joint], rotations[start + frames, joint]
        rotations[start : start + frames, joint] = rot.slerp(before, after, share[:, 0])
    return replace(clip, rotations=rotations), start + frames


def _swapped(clip, size, start, rng):
    """Both arms or both legs point where the other one points."""
    stop = start + _frames(clip, size)
    limbs = find_rig(clip.skeleton).limbs
    parts = ("upper_arm", "forearm") if rng.random() < 0.5 else ("thigh", "shin")
    turned = forward_kinematics(clip).rotations[start:stop]
    world = turned.copy()
    for part in parts:
        bones = [rot.rotate(turned[:, limbs[s, part]], _bone(clip, limbs[s, part])) for s in SIDES]
        for side, own, other in zip(SIDES, bones, bones[::-1], strict=True):
            joint = limbs[side, part]
            world[:, joint] = rot.multiply(rot.between(own, other), turned[:, joint])
    for side in SIDES:  # hands and feet keep their turn in the limb
        last = limbs[side, parts[1]]
        for joint in range(last + 1, len(clip.skeleton)):
            parent = clip.skeleton.parents[joint]
            if parent == last or (parent > last and not np.array_equal(world[:, parent], turned[:, parent])):
                world[:, joint] = rot.multiply(world[:, parent], clip.rotations[start:stop, joint])
    rotations = clip.rotations.copy()
    rotations[start:stop] = rot.normalize(local_rotations(clip.skeleton.parents, world))
    return replace(clip, rotations=rotations), stop


def _stretched(clip, size, start, rng):
    """One bone longer by up to ``size`` metres."""
    frames = _frames(clip, 0.5)
    upper, lower = _limb(clip, rng)
    moved = clip.translations
    if moved is None:
        moved = np.broadcast_to(clip.skeleton.offsets, (len(clip), *clip.skeleton.offsets.shape))
    moved = moved.copy()
    bone = _bone(clip, upper)
    course = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(frames) + 1) / (frames + 1))
    moved[start : start + frames, lower] += size * course[:, None] * bone / np.linalg.norm(bone)
    return replace(clip, translations=moved), start + frames


def _twisted(clip, size, start, rng):
    """One bone turned about itself, which moves none of its ends."""
    frames = _frames(clip, 0.2)
    joint = _limb(clip, rng)[rng.integers(2)]
    bone = _bone(clip, joint)
    turn = rot.from_axis_angle(bone / np.linalg.norm(bone), np.full(frames, np.deg2rad(size)))
    return _turned(clip, joint, start, turn), start + frames


KINDS: dict[str, Kind] = {
    "spike": Kind("one bone swings aside for a thirtieth of a second", "cm", (0.03, 0.06, 0.12), _spike, 0.05),
    "bump": Kind("the same over 0.25 s, as the capture's low-pass leaves it", "cm", (0.05, 0.10, 0.20), _bump, 0.3),
    "jitter": Kind("a limb shakes for 0.6 s", "cm", (0.005, 0.01, 0.02), _jitter, 0.7),
    "teleport": Kind("the body is elsewhere for 0.4 s", "cm", (0.03, 0.10, 0.30), _teleport, 0.5),
    "step": Kind("the body jumps and stays there", "cm", (0.03, 0.10, 0.30), _step, 0.1),
    "drift": Kind("the body slides over the floor for 1 s", "cm/s", (0.10, 0.20, 0.40), _drift, 1.1),
    "held": Kind("a limb freezes", "s", (0.3, 0.8, 2.0), _held, 2.1),
    "filled": Kind("a limb is interpolated over a gap", "s", (0.3, 0.8, 2.0), _filled, 2.1),
    "swap": Kind("both arms or both legs change sides", "s", (0.1, 0.5, 2.0), _swapped, 2.1),
    "bone": Kind("a bone grows and shrinks within 0.5 s", "cm", (0.03, 0.06, 0.12), _stretched, 0.6),
    "twist": Kind("a bone turns about itself for 0.2 s", "deg", (30.0, 90.0, 180.0), _twisted, 0.3),
}


def size_words(kind: str, size: float) -> str:
    """A size with its unit, e.g. "6 cm"."""
    unit = KINDS[kind].unit
    return f"{100 * size:g} {unit}" if unit.startswith("cm") else f"{size:g} {unit}"


def faulty_frames(events: Sequence[Event], frames: int) -> np.ndarray:
    """Whether each frame is faulty, (frames,) bool."""
    mask = np.zeros(frames, dtype=bool)
    for event in events:
        mask[event.start : event.stop] = True
    return mask
