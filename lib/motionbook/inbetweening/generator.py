"""Ten-second clips of every system through the same key poses, for people to compare.

Key poses lie every 45 frames: frames 0 .. 9 are the recorded context, the targets follow at 55, 100, 145 and so on.
Frame i of every system's clip stands for frame i of the recording, so clips can be compared frame by frame. (The
released code starts some systems ten frames later than others and places interpolated keys at 10, 55, 100.)

Interpolation works in metres and in the recording's place: it is the same in any frame of reference. Systems that are
predictors (a network, a regression) are run gap by gap, see ``autoregression``.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.bvh import write_bvh
from motionbook.clip import Clip
from motionbook.inbetweening.autoregression import KEY_DISTANCE, fill_gaps, key_frames
from motionbook.inbetweening.baselines import ease, evenly, interpolate
from motionbook.inbetweening.correction import meet_ends
from motionbook.inbetweening.recordings import Recording

SECONDS = 10.0
# An assumption: the paper adds "Gaussian noise" and gives no size. Two degrees about each axis of every joint, new in
# every frame, shake the body visibly and leave the motion recognisable.
NOISE_DEGREES = 2.0


class Span(NamedTuple):
    """Where a clip comes from: a recording and the frame of it at which the clip starts."""

    recording: Recording
    start: int

    @property
    def name(self) -> str:
        """File name without its ending, the same for every system."""
        return f"{self.recording.name}_{self.start:05d}"


def ground_truth(clip: Clip, keys: np.ndarray, rng: np.random.Generator) -> Clip:
    """The recording itself."""
    return clip


def fill_slerp(clip: Clip, keys: np.ndarray, rng: np.random.Generator) -> Clip:
    """Constant speed from key to key."""
    return _filled(clip, keys, evenly)


def fill_slerp_q(clip: Clip, keys: np.ndarray, rng: np.random.Generator) -> Clip:
    """Quadratic ease-in and ease-out from key to key."""
    return _filled(clip, keys, lambda transition: ease(evenly(transition)))


def noise(clip: Clip, keys: np.ndarray, rng: np.random.Generator, degrees: float = NOISE_DEGREES) -> Clip:
    """The recording with every joint turned by Gaussian noise in every frame, the context included.

    Parameters
    ----------
    degrees : float
        Standard deviation about each axis of the joint's own frame.
    """
    shake = rng.normal(0.0, np.deg2rad(degrees), (*clip.rotations.shape[:2], 3))
    turned = rot.normalize(rot.multiply(clip.rotations, rot.from_rotation_vector(shake)))
    return Clip(clip.skeleton, clip.root_positions, turned, clip.fps)


# Systems that learn and whose clips people are asked to judge as well
JUDGED = ("NN", "DELTA")
SYSTEMS = {"GT": ground_truth, "SLERP": fill_slerp, "SLERP-Q": fill_slerp_q, "NOISE": noise}


def generate(clip: Clip, system: str, frames: int, *, every: int = KEY_DISTANCE, seed=0) -> Clip:
    """One system's version of the first ``frames`` frames of a clip.

    Parameters
    ----------
    clip : Clip
        Constant bones; long enough to hold the target after the last frame, see ``key_frames``.
    system : one of ``SYSTEMS``
    frames : int
    every : int
        Frames between targets.
    seed : int, sequence of int or numpy Generator
        Only NOISE draws from it.
    """
    if system not in SYSTEMS:
        raise KeyError(f"no system {system!r}; there are {', '.join(SYSTEMS)}")
    if clip.translations is not None:
        raise ValueError("generate: bones change length, call motionbook.kinematics.constant_bones(clip) first")
    keys = key_frames(frames, every)
    if len(clip) <= keys[-1]:
        raise ValueError(
            f"generate: {frames} frames need a clip of {keys[-1] + 1} (to the last target), got {len(clip)}"
        )
    return SYSTEMS[system](clip[: keys[-1] + 1], keys, np.random.default_rng(seed))[:frames]


def choose_spans(recordings: Sequence[Recording], count: int, seconds: float = SECONDS) -> list[Span]:
    """Evenly spaced, non-overlapping places for clips, so that the whole set is covered; fewer when it is short."""
    slots = []
    for recording in recordings:
        frames = round(seconds * recording.clip.fps)
        reach = int(key_frames(frames)[-1])
        slots += [Span(recording, start) for start in range(0, len(recording.clip) - reach, frames)]
    count = min(count, len(slots))
    return [slots[int((i + 0.5) * len(slots) / count)] for i in range(count)]


def write_clips(
    spans: Sequence[Span],
    folder: Path,
    *,
    seconds: float = SECONDS,
    seed: int = 0,
    systems: Sequence[str] = tuple(SYSTEMS),
    predictors: Mapping[str, Callable] | None = None,
    finish: Callable | None = meet_ends,
) -> Mapping[str, dict[str, Clip]]:
    """Write ``<folder>/<system>/<clip>.bvh`` for every span and system; other BVH files in those folders are removed.

    Clips of an earlier run with other data would otherwise be rendered and rated together with these.

    Parameters
    ----------
    spans, folder, seconds, seed
        The noise of a clip depends on its name and ``seed`` alone.
    systems : names of ``SYSTEMS``
    predictors : mapping of name to predictor, optional
        Further systems, such as ``{"NN": predictor}``: functions of (windows, transition) that ``fill_gaps`` runs over
        all spans together.
    finish : function, optional
        What is done to each gap of a predictor's clips, see ``fill_gaps``; None leaves them as predicted.

    Returns
    -------
    dict
        Clip name to system to Clip.
    """
    predictors = dict(predictors or {})
    if taken := sorted(set(predictors) & set(SYSTEMS)):
        raise ValueError(f"predictors: {', '.join(taken)} is a system of the book; choose another name")
    made = {}
    for span in spans:
        clip = span.recording.clip[span.start :]
        frames = round(seconds * clip.fps)
        # the noise of a clip depends on its name alone, not on which others were chosen
        made[span.name] = {s: generate(clip, s, frames, seed=(seed, zlib.crc32(span.name.encode()))) for s in systems}
    for system, predictor in predictors.items():
        for name, clip in predicted_clips(spans, predictor, seconds=seconds, finish=finish).items():
            made[name][system] = clip
    for name, versions in made.items():
        for system, version in versions.items():
            write_bvh(version, Path(folder) / system / f"{name}.bvh")
    for system in (*systems, *predictors):
        for path in (Path(folder) / system).glob("*.bvh"):
            if path.stem not in made:
                path.unlink()
    return made


def predicted_clips(
    spans: Sequence[Span], predictor: Callable, *, seconds: float = SECONDS, finish: Callable | None = meet_ends
) -> dict[str, Clip]:
    """A predictor's version of every span, by clip name; all spans of one frame rate are filled together."""
    if not spans:
        return {}
    clips = [span.recording.clip[span.start :] for span in spans]
    frames = round(seconds * clips[0].fps)
    made = fill_gaps(clips, predictor, frames, finish=finish)
    return {span.name: clip for span, clip in zip(spans, made, strict=True)}


def _filled(clip: Clip, keys: np.ndarray, timing) -> Clip:
    root, rotations = clip.root_positions.copy(), clip.rotations.copy()
    for a, b in pairwise(keys):
        ends = (clip.root_positions[[a]], clip.root_positions[[b]], clip.rotations[[a]], clip.rotations[[b]])
        pose = interpolate(*ends, timing(b - a - 1))
        root[a + 1 : b], rotations[a + 1 : b] = pose.root_positions[0], pose.rotations[0]
    return Clip(clip.skeleton, root, rotations, clip.fps)
