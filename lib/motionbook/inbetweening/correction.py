"""Taking the jump out of the first frame of a filled gap, without smoothing the motion (StayStill 4.1.3).

The published repair has two steps. At a junction j, the first frame of a new segment, the whole segment is shifted so
that it continues the motion before it; then the inverse of that shift is spread evenly over the segment's frames, so
that the motion ends where it did. Here rotations are shifted on the rotation group: the shift is the rotation D that
takes the predicted pose to the wanted one, applied from the parent's side as D^w with w falling from 1 to 0. From that
side the steps from frame to frame in the joint's own frame stay exactly as predicted, which no shift of Euler angles
does, and there is no wrap at 180 degrees.

What the repair does to key poses: a junction is the frame of a key pose, so moving it misses the key by the shift.
``meet_ends`` moves the frames between two key poses instead and leaves both where they are, and the motion enters each
gap at the speed at which it came to the key pose.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.baselines import evenly, interpolate

# What "the tendency" is that the first frame of a segment is made to follow. The paper's text: "match the tendency of
# the previous one". The released code takes the slope of the new segment's own first step.
TENDENCIES = ("new", "previous")
# OpenCV's rule for a kernel of 7: 0.3 ((7 - 1) / 2 - 1) + 0.8; the paper gives the size of its kernel only.
KERNEL, SIGMA = 7, 1.4
# Frames in which a gap comes back from the speed it was entered with to its own, half a second: over the whole gap
# the motion between is another one (a good predictor's error grows by 5 %, against 1 %), over a few the change is felt.
_BLEND = 15


def two_steps(clip: Clip, junctions: Sequence[int], *, tendency: str = "new", root: str = "shift") -> tuple[Clip, Clip]:
    """The published repair: the clip after the shift alone, and after the inverse of the shift has been spread.

    Parameters
    ----------
    clip : Clip
    junctions : increasing frames
        First frames of the segments, each with at least two frames before it.
    tendency : "new" or "previous"
        Which step leads into the junction's frame: the new segment's first (released code) or the last one of the
        motion before it (the paper's words).
    root : "shift" or "spread"
        The root's place keeps its shift for all later frames, as published, so that shifts add up; or it is treated as
        the rotations are.

    Returns
    -------
    shifted, corrected : Clip
        Junctions are treated in order, each on the motion that the ones before have left. In ``shifted`` every segment
        keeps its shape and the shifts add up; ``corrected`` ends each segment with the shift gone: the weight falls
        from 1 at the junction to 0 at the next (for the last segment at the same distance, or where the clip ends).

    Notes
    -----
    Every joint of every segment has its own weights from 1 to 0. (The released code shares one counter between joints
    and does not reset it in the last segment, where later joints are shifted by many times the jump.)
    """
    if tendency not in TENDENCIES:
        raise ValueError(f"tendency: expected one of {', '.join(TENDENCIES)}, got {tendency!r}")
    if root not in ("shift", "spread"):
        raise ValueError(f'root: expected "shift" or "spread", got {root!r}')
    starts = _checked(junctions, len(clip), tendency)
    shifted = _repair(clip, starts, tendency, spread=False, root_spread=False)
    return shifted, _repair(clip, starts, tendency, spread=True, root_spread=root == "spread")


def _repair(clip: Clip, starts: list[int], tendency: str, *, spread: bool, root_spread: bool) -> Clip:
    places, rotations = clip.root_positions.copy(), clip.rotations.copy()
    for number, j in enumerate(starts):
        d = places[j - 1] + _step(places, j, tendency) - places[j]
        turn = rot.multiply(
            rot.multiply(rotations[j - 1], _turn_step(rotations, j, tendency)), rot.inverse(rotations[j])
        )
        end = starts[number + 1] if number + 1 < len(starts) else _last_end(starts, len(clip))
        weights = np.clip(1.0 - np.arange(len(clip) - j) / (end - j), 0.0, 1.0)
        places[j:] += d * (weights[:, None] if root_spread else 1.0)
        rotations[j:] = _turned(rotations[j:], turn, weights if spread else np.ones(len(weights)))
    return replace(clip, root_positions=places, rotations=rotations)


def _last_end(starts: list[int], frames: int) -> int:
    return starts[-1] + (starts[-1] - starts[-2] if len(starts) > 1 else frames - starts[-1])


def _step(places, j: int, tendency: str):
    return places[j + 1] - places[j] if tendency == "new" else places[j - 1] - places[j - 2]


def _turn_step(rotations, j: int, tendency: str):
    a, b = (j, j + 1) if tendency == "new" else (j - 2, j - 1)
    return rot.multiply(rot.inverse(rotations[a]), rotations[b])


def _turned(rotations, turn, weights):
    """Rotations (..., frames, joints, 4) with ``turn`` (..., joints, 4) to the power of each frame's weight before."""
    vector = rot.to_rotation_vector(turn)[..., None, :, :] * weights[:, None, None]
    return rot.normalize(rot.multiply(rot.from_rotation_vector(vector), rotations))


def meet_ends(before, gap, after):
    """Take the jumps at both ends of a gap out of its frames; the key poses on either side stay where they are.

    Parameters
    ----------
    before, gap, after : pairs of root places (clips, frames, 3) and rotations (clips, frames, joints, 4)
        The motion up to the gap (its last two frames are used), the gap, and the pose that closes it; None where
        nothing closes it.

    Returns
    -------
    root places, rotations
        Of the gap. It goes on from the key pose with the step that led to it, and comes back to its own speed within
        half a second; its last frame stands one step of the gap's own before the pose that closes it. What is added
        to the gap for that is made of cubics in time (Hermite's), which start and end level: shifting both ends evenly
        would itself put a bend into every seam. Gaps of one or two frames are interpolated.

    Notes
    -----
    For use as ``finish`` of ``autoregression.fill_gaps``. Where ``before`` is a single frame, nothing led to it and the
    gap's own first step is kept.
    """
    frames = gap[0].shape[1]
    if frames < 3:
        if after is None:
            raise ValueError(f"meet_ends: expected 3 frames or more where nothing closes the gap, got {frames}")
        ends = [[x[:, -1] for x in before], [x[:, 0] for x in after]]
        return interpolate(ends[0][0], ends[1][0], ends[0][1], ends[1][1], evenly(frames))
    s = np.linspace(0.0, 1.0, frames)
    rising = s**2 * (3.0 - 2.0 * s)
    reach = min(_BLEND, frames - 1)
    u = np.minimum(np.arange(frames) / reach, 1.0)
    leaving = reach * u * (1.0 - u) ** 2  # how many times the change of the first step; gone with its slope
    (places, rotations), led = gap, before[0].shape[1] > 1

    step = places[:, 1] - places[:, 0]
    into = before[0][:, -1] - before[0][:, -2] if led else step
    shifts = [(into - step, leaving), (before[0][:, -1] + into - places[:, 0], 1.0 - rising)]
    turn = rot.multiply(rot.inverse(rotations[:, 0]), rotations[:, 1])
    turned = rot.multiply(rot.inverse(before[1][:, -2]), before[1][:, -1]) if led else turn
    turns = [
        (rot.multiply(rot.multiply(rotations[:, 0], turned), rot.inverse(rotations[:, 1])), leaving),
        (rot.multiply(rot.multiply(before[1][:, -1], turned), rot.inverse(rotations[:, 0])), 1.0 - rising),
    ]
    if after is not None:
        last = rot.multiply(rot.inverse(rotations[:, -1]), rotations[:, -2])
        shifts.append((after[0][:, 0] + places[:, -2] - 2 * places[:, -1], rising))
        turns.append((rot.multiply(rot.multiply(after[1][:, 0], last), rot.inverse(rotations[:, -1])), rising))
    places = places + sum(shift[:, None] * weights[:, None] for shift, weights in shifts)
    for turn, weights in turns:
        rotations = _turned(rotations, turn, weights)
    return places, rotations


def gaussian_smoothed(clip: Clip, size: int = KERNEL, sigma: float = SIGMA) -> Clip:
    """The clip under a Gaussian kernel over time (Figure 6's comparison), rotations averaged around each frame's own.

    Parameters
    ----------
    size : odd int
        Frames under the kernel; at the ends the first and the last frame are repeated.
    sigma : float
        Frames. An assumption: the paper gives the size 7 only.
    """
    if size < 3 or size % 2 == 0 or sigma <= 0:
        raise ValueError(f"smoothing: expected an odd size of 3 or more and sigma > 0, got {size} and {sigma}")
    reach = np.arange(-(size // 2), size // 2 + 1)
    weights = np.exp(-0.5 * (reach / sigma) ** 2)
    weights /= weights.sum()
    at = np.clip(np.arange(len(clip))[:, None] + reach, 0, len(clip) - 1)
    places = np.einsum("k,fkc->fc", weights, clip.root_positions[at])
    away = sum(
        w * rot.to_rotation_vector(rot.multiply(rot.inverse(clip.rotations), clip.rotations[at[:, k]]))
        for k, w in enumerate(weights)
    )
    turned = rot.normalize(rot.multiply(clip.rotations, rot.from_rotation_vector(away)))
    return replace(clip, root_positions=places, rotations=turned)


def repair_between_keys(clip: Clip, recorded: Clip, keys: Sequence[int]) -> Clip:
    """A finished clip with its key poses put in and the frames between them repaired by ``meet_ends``.

    Parameters
    ----------
    clip, recorded : Clip
        Frame by frame of the same motion.
    keys : increasing frames
        Of ``recorded``; those beyond the clip are not used. What follows the last key inside the clip is shifted at its
        start only, with a shift that falls to nothing at the clip's end.
    """
    places, rotations = clip.root_positions.copy(), clip.rotations.copy()
    inside = [int(k) for k in keys if k < len(clip)]
    if not inside:
        raise ValueError(f"keys: expected one below {len(clip)}, got {list(keys)}")
    places[inside], rotations[inside] = recorded.root_positions[inside], recorded.rotations[inside]
    for a, b in pairwise([*inside, len(clip)]):
        if b - a < 2:
            continue
        motion = (places[None], rotations[None])
        before, gap = [[x[:, part] for x in motion] for part in (slice(max(a - 1, 0), a + 1), slice(a + 1, b))]
        after = [x[:, b : b + 1] for x in motion] if b < len(clip) else None
        if after is None and b - a < 4:
            continue
        made = meet_ends(before, gap, after)
        places[a + 1 : b], rotations[a + 1 : b] = made[0][0], made[1][0]
    return replace(clip, root_positions=places, rotations=rotations)


def _checked(junctions: Sequence[int], frames: int, tendency: str) -> list[int]:
    starts = [int(j) for j in junctions]
    if not starts or any(b <= a for a, b in pairwise(starts)):
        raise ValueError(f"junctions: expected increasing frames, got {starts}")
    first, last = (2, frames - 1) if tendency == "previous" else (1, frames - 2)
    if starts[0] < first or starts[-1] > last:
        raise ValueError(
            f"junctions: of {frames} frames, {first} to {last} have the frames around them that tendency={tendency!r} "
            f"needs, got {starts[0]} to {starts[-1]}"
        )
    return starts
