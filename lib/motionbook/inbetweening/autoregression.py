"""Long motion from short gaps: each gap is filled from the frames that were made just before it.

A predictor fills the frames between ten frames of context and one target pose. Called again and again it makes clips
of any length: the last ten frames become the next context, moved to the origin and turned to head along +X, as the
predictor was trained on, and what it returns is put back where the motion was.

Two ways to chain the gaps (StayStill 4.1.3 and ours):

* ``fill_gaps``: the target pose itself closes the gap and is the last frame of the next context, so every key pose is
  met exactly, and a gap after the first has one frame less than the distance of the keys.
* ``fill_segments``: as published, the context is the ten frames before the key pose, and the frame of the key pose is
  the first of the next gap: predicted again, and missed.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.windows import CENTIMETRES, CONTEXT, FPS, Windows, face_forward, make_windows

KEY_DISTANCE = 45


def key_frames(frames: int, every: int = KEY_DISTANCE) -> np.ndarray:
    """Indices of the known poses that a clip of this many frames is filled between.

    The first is the last context frame, the others are the targets; the last lies at or after the clip's last frame,
    so that the recording must be ``key_frames(frames)[-1] + 1`` frames long.
    """
    if frames <= CONTEXT or every < 2:
        raise ValueError(f"key_frames: expected more than {CONTEXT} frames and every >= 2, got {frames} and {every}")
    transitions = -(-(frames - 1 - CONTEXT) // every)
    return np.concatenate([[CONTEXT - 1], CONTEXT + every * np.arange(1, max(transitions, 1) + 1)])


def there_and_back(clip: Clip, frames: int) -> Clip:
    """A recording played forward and backward until it is ``frames`` long, to take key poses from for longer clips.

    No pose is shown twice in a row where the direction changes, and no place jumps.
    """
    if len(clip) < 2:
        raise ValueError(f"there_and_back: expected at least 2 frames, got {len(clip)}")
    at = np.arange(frames) % (2 * (len(clip) - 1))
    at = np.minimum(at, 2 * (len(clip) - 1) - at)
    return Clip(clip.skeleton, clip.root_positions[at], clip.rotations[at], clip.fps)


def fill_gaps(
    clips: Sequence[Clip],
    predictor: Callable,
    frames: int,
    *,
    every: int = KEY_DISTANCE,
    finish: Callable | None = None,
) -> list[Clip]:
    """The first ``frames`` frames of every clip, made by a predictor between the clips' own key poses.

    Parameters
    ----------
    clips : sequence of Clip
        Recordings on the LaFAN1 skeleton (bone lengths may differ), metres, 30 fps, each long enough to hold the
        target after the last frame, see ``key_frames``; ``there_and_back`` makes longer ones. Only their first ten
        frames and their key poses are looked at.
    predictor : function of (windows, transition)
        Called once for each gap with the windows of all clips together.
    frames : int
    every : int
        Frames between targets.
    finish : function of (before, gap, after), optional
        Changes the frames of a gap before they become context; each argument is a pair of root places
        (clips, frames, 3) and rotations (clips, frames, joints, 4) in the world: all frames up to the gap, the gap,
        the key pose. ``correction.meet_ends`` takes the jumps at both ends out.

    Returns
    -------
    list of Clip
        In the order of the clips; context and key poses are the recordings' own numbers.
    """
    chain = _start(clips, frames, key_frames(frames, every), "fill_gaps")
    for a, b in pairwise(chain.keys):
        made = _fill(chain, slice(a + 1 - CONTEXT, a + 1), int(b), int(b - a - 1), predictor)
        if finish is not None:
            parts = ((x[:, : a + 1], m, x[:, b : b + 1]) for x, m in zip(chain.motion, made, strict=True))
            before, gap, after = zip(*parts, strict=True)
            made = finish(before, gap, after)
        for stored, new in zip(chain.motion, made, strict=True):
            stored[:, a + 1 : b] = new
    return _clips(chain, clips, frames)


def fill_segments(
    clips: Sequence[Clip],
    predictor: Callable,
    frames: int,
    *,
    every: int = KEY_DISTANCE,
    context: str = "generated",
) -> list[Clip]:
    """The published chain: segment n fills frames ``10 + every n`` and following, up to the frame before its target.

    Parameters
    ----------
    clips, predictor, frames, every
        As for ``fill_gaps``.
    context : "generated" or "recorded"
        The ten frames before a segment: those just made (as the paper says) or the recording's (as the released code
        does, which is therefore not autoregressive).

    Returns
    -------
    list of Clip
        Uncorrected; ``junctions`` says where the segments meet, ``correction.two_steps`` is the published repair.

    Notes
    -----
    Unlike the released code, segments are put back to the place and heading of their context, no transition is left
    out at the end, and frame i is frame i of the recording in every system.
    """
    if context not in ("generated", "recorded"):
        raise ValueError(f'context: expected "generated" or "recorded", got {context!r}')
    chain = _start(clips, frames, key_frames(frames, every), "fill_segments")
    recorded = tuple(x.copy() for x in chain.motion)
    for start in range(CONTEXT, int(chain.keys[-1]), every):
        source = recorded if context == "recorded" else chain.motion
        known = chain._replace(motion=source)
        made = _fill(known, slice(start - CONTEXT, start), start + every, every, predictor, targets=recorded)
        for stored, new in zip(chain.motion, made, strict=True):
            stored[:, start : start + every] = new
    return _clips(chain, clips, frames)


def junctions(frames: int, every: int = KEY_DISTANCE) -> np.ndarray:
    """First frames of the segments of ``fill_segments``: 10, 55, 100 and so on, below ``frames``."""
    return np.arange(CONTEXT, frames, every)


class _Chain(NamedTuple):
    """Motion of all clips as far as it is known: root places in metres (clips, frames, 3) and rotations."""

    motion: tuple[np.ndarray, np.ndarray]
    offsets: np.ndarray
    skeleton: object
    keys: np.ndarray


def _start(clips: Sequence[Clip], frames: int, keys: np.ndarray, name: str) -> _Chain:
    clips = list(clips)
    if not clips:
        raise ValueError(f"{name}: expected at least one clip, got none")
    needed = int(keys[-1]) + 1
    if short := [len(clip) for clip in clips if len(clip) < needed]:
        raise ValueError(
            f"{name}: {frames} frames need clips of {needed} (to the last target), got one of {short[0]}; "
            "there_and_back(clip, frames) makes a clip longer"
        )
    make_windows([clip[:CONTEXT] for clip in clips], CONTEXT, 1, fps=FPS)  # refuses other skeletons and rates
    motion = (
        np.stack([clip.root_positions[:needed] for clip in clips]),
        np.stack([clip.rotations[:needed] for clip in clips]),
    )
    offsets = np.stack([clip.skeleton.offsets for clip in clips]) * CENTIMETRES
    return _Chain(motion, offsets, clips[0].skeleton, keys)


def _fill(chain: _Chain, context: slice, target: int, transition: int, predictor, targets=None):
    """World motion (root, rotations) of one gap for all clips, from the context's frames and the pose at ``target``."""
    targets = chain.motion if targets is None else targets
    # the gap holds the last known pose: whoever reads it finds nothing of the recording
    given = [
        np.concatenate(
            [x[:, context], np.repeat(x[:, context.stop - 1 : context.stop], transition, axis=1), t[:, [target]]],
            axis=1,
        )
        for x, t in zip(chain.motion, targets, strict=True)
    ]
    root, turned = face_forward(given[0] * CENTIMETRES, given[1][:, :, 0], centre="start")
    last = CONTEXT - 1
    back = rot.multiply(given[1][:, last, 0], rot.inverse(turned[:, last]))[:, None]
    floor = given[0][:, last : last + 1] * [1.0, 0.0, 1.0]
    rotations = np.concatenate([turned[:, :, None], given[1][:, :, 1:]], axis=2)
    count = len(root)
    windows = Windows(
        chain.skeleton,
        root,
        rotations,
        chain.offsets,
        np.arange(count),
        np.full(count, context.start),
    )
    made_root, made_rotations = (np.array(x, dtype=np.float64) for x in predictor(windows, transition))
    expected = ((count, transition, 3), (count, transition, *rotations.shape[2:]))
    if (made_root.shape, made_rotations.shape) != expected:
        raise ValueError(
            f"predictor: expected root places {expected[0]} and rotations {expected[1]}, got {made_root.shape} and "
            f"{made_rotations.shape}"
        )
    if not (np.isfinite(made_root).all() and np.isfinite(made_rotations).all()):
        raise ValueError(f"predictor: some numbers of the gap before frame {target} are not finite")
    made_rotations = rot.normalize(made_rotations)
    made_rotations[:, :, 0] = rot.multiply(back, made_rotations[:, :, 0])
    return rot.rotate(back, made_root) / CENTIMETRES + floor, made_rotations


def _clips(chain: _Chain, clips: Sequence[Clip], frames: int) -> list[Clip]:
    return [
        replace(clip, root_positions=root[:frames], rotations=rotations[:frames])
        for clip, root, rotations in zip(clips, *chain.motion, strict=True)
    ]
