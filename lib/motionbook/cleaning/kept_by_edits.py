"""What edits keep, measured on a clip: how far joints end from where they should after doing and undoing each."""

import numpy as np

from motionbook.cleaning.editing import centring, facing, flooring, place, rescale, reverse, turn_up
from motionbook.cleaning.joining import concatenate, joined_ranges
from motionbook.cleaning.mirroring import mirror
from motionbook.cleaning.rest_pose import standing
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.resampling import resample

RATES = (24.0, 25.0, 29.97, 60.0, 120.0)
EXACT = 1e-9  # metres
SHARED = 1e-9  # frames; closer times are one to `resample`


def edits_table(clip: Clip, rates=RATES):
    """Every edit of a clip done and undone.

    Parameters
    ----------
    clip : Clip
        At least four frames. The blend is shorter than 0.3 s where half a clip has no room for it.
    rates : iterable of float
        Frames per second to go to and come back from.

    Returns
    -------
    pandas.DataFrame
        Indexed by edit: ``undone by``; ``frames`` compared; ``largest error [mm]`` of a joint's world place; ``exact``,
        whether that is below 1e-9 m. Other rates are exact at the times that both rates share; a second row per rate
        says what all frames keep. An edit that the skeleton does not allow has no number and the reason in
        ``undone by``.
    """
    import pandas as pd

    if len(clip) < 4:
        raise ValueError(f"clip: expected at least 4 frames, got {len(clip)}")
    places = forward_kinematics(clip).positions
    half = len(clip) // 2
    parts = [clip[:half], clip[half:]]
    blend = min(0.3, (half // 2) / clip.fps)

    def blended():
        own = forward_kinematics(concatenate(parts, blend, align=False)).positions
        (a, b), (c, d) = joined_ranges(parts, blend)
        apart = [np.abs(own[a:b] - places[a:b]).max(), np.abs(own[c:d] - places[len(clip) - (d - c) :]).max()]
        return b - a + d - c, float(max(apart))

    def moved(measure):
        placement = measure(clip)
        return _off(place(place(clip, placement), reverse(placement)), places)

    def mirrored():
        rest = standing(clip).pose
        return _off(mirror(mirror(clip, rest=rest), rest=rest), places)

    edits = [
        ("cut in two", "joined without a blend", lambda: _off(concatenate(parts, 0.0, align=False), places)),
        (f"joined with a blend of {blend:.2g} s", "the frames beside the blend", blended),
        ("centred", "the placement reversed", lambda: moved(centring)),
        ("facing forward", "the placement reversed", lambda: moved(facing)),
        ("on the floor", "the placement reversed", lambda: moved(flooring)),
        ("mirrored", "mirrored again", mirrored),
        ("in centimetres", "in metres", lambda: _off(rescale(rescale(clip, 100.0), 0.01), places)),
        ("Z up", "Y up", lambda: _off(turn_up(turn_up(clip, "Y", "Z"), "Z", "Y"), places)),
    ]
    rows = {}
    for words, way, work in edits:
        try:
            rows[words] = (way, *work())
        except ValueError as error:
            rows[words] = (f"not possible: {error}", 0, np.nan)
    for rate in rates:
        if abs(rate - clip.fps) < 1e-6:
            continue
        back = resample(resample(clip, rate), clip.fps)
        at = np.arange(len(back)) * (rate / clip.fps)
        shared = np.abs(at - np.round(at)) < SHARED
        found = np.linalg.norm(forward_kinematics(back).positions - places[: len(back)], axis=-1).max(axis=1)
        rows[f"at {rate:g} fps"] = (
            f"at {clip.fps:g} fps, frames of both",
            int(shared.sum()),
            float(found[shared].max()),
        )
        if not shared.all():
            rows[f"at {rate:g} fps, all"] = (f"at {clip.fps:g} fps", len(back), float(found.max()))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["undone by", "frames", "largest error [mm]"])
    table["exact"] = table["largest error [mm]"] < EXACT
    table["largest error [mm]"] *= 1000
    return table.rename_axis("edit")


def _off(clip: Clip, places: np.ndarray) -> tuple[int, float]:
    return len(clip), float(np.linalg.norm(forward_kinematics(clip).positions - places, axis=-1).max())
