"""A clip at another frame rate: rotations along the shortest arc, places along straight lines."""

from dataclasses import replace

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip


def resample(clip: Clip, fps: float) -> Clip:
    """The same motion at ``fps`` frames per second, from the same first frame and not beyond the last.

    Frame i of the result is the motion at i / fps seconds; where that is a frame of the source (to 1e-9 of a frame)
    the values are the source's own. Nothing is filtered: going down in rate keeps what is faster than half the new
    rate as a false slow motion, which matters for jitter but not for gestures.

    Parameters
    ----------
    clip : Clip
        At least one frame.
    fps : float
        Frames per second, positive.

    Returns
    -------
    Clip
        ``floor((len(clip) - 1) * fps / clip.fps) + 1`` frames: from first to last they last as long as the source's, or
        less by a part of one new frame. Frames at the source's time stamps are the source's, so that going up and down
        again changes none that both rates share; at whole multiples of the rate those are all.
    """
    fps = float(fps)
    if not (np.isfinite(fps) and fps > 0):
        raise ValueError(f"fps: expected a positive number of frames per second, got {fps}")
    if not len(clip):
        raise ValueError("clip: expected at least one frame, got none")
    frames = int(np.floor((len(clip) - 1) * fps / clip.fps + 1e-9)) + 1
    at = np.arange(frames) * (clip.fps / fps)
    whole = np.round(at)
    at = np.where(np.abs(at - whole) < 1e-9, whole, at)
    before = np.minimum(np.floor(at).astype(int), len(clip) - 1)
    after = np.minimum(before + 1, len(clip) - 1)
    t = at - before

    def line(places):
        share = t.reshape(-1, *(1,) * (places.ndim - 1))
        return places[before] + share * (places[after] - places[before])

    turned = rot.slerp(clip.rotations[before], clip.rotations[after], t[:, None])
    turned = np.where((t == 0)[:, None, None], clip.rotations[before], turned)
    moved = None if clip.translations is None else line(clip.translations)
    return replace(clip, root_positions=line(clip.root_positions), rotations=turned, fps=fps, translations=moved)
