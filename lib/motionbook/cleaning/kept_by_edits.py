"""What edits keep, measured on a clip: how far joints end from where they should after doing and undoing each."""

import numpy as np

from motionbook.cleaning.editing import centring, facing, flooring, place, rescale, reverse, turn_up
from motionbook.cleaning.joining import concatenate, joined_ranges
from motionbook.cleaning.mirroring import mirror
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.resampling import resample

RATES = (24.0, 25.0, 29.97, 60.0, 120.0)
EXACT = 1e-9  # metres


def edits_table(clip: Clip, rates=RATES):
    """Every edit of a clip done and undone.

    Parameters
    ----------
    clip : Clip
        At least a second long.
    rates : iterable of float
        Frames per second to go to and come back from.

    Returns
    -------
    pandas.DataFrame
        Indexed by edit: ``undone by``; ``frames`` compared; ``largest error [mm]`` of a joint's world place; ``exact``,
        whether that is below 1e-9 m. Other rates are exact at the times that both rates share; a second row per rate
        says what all frames keep.
    """
    import pandas as pd

    places = forward_kinematics(clip).positions
    half = len(clip) // 2
    rows = {
        "cut in two": (
            "joined without a blend",
            *_off(concatenate([clip[:half], clip[half:]], 0.0, align=False), places),
        )
    }
    blended = concatenate([clip[:half], clip[half:]], 0.3, align=False)
    (a, b), (c, d) = joined_ranges([clip[:half], clip[half:]], 0.3)
    own = forward_kinematics(blended).positions
    apart = max(np.abs(own[a:b] - places[a:b]).max(), np.abs(own[c:d] - places[len(clip) - (d - c) :]).max())
    rows["joined with a blend of 0.3 s"] = ("the frames beside the blend", b - a + d - c, float(apart))
    for words, measure in (("centred", centring), ("facing forward", facing), ("on the floor", flooring)):
        placement = measure(clip)
        rows[words] = ("the placement reversed", *_off(place(place(clip, placement), reverse(placement)), places))
    rows["mirrored"] = ("mirrored again", *_off(mirror(mirror(clip)), places))
    rows["in centimetres"] = ("in metres", *_off(rescale(rescale(clip, 100.0), 0.01), places))
    rows["Z up"] = ("Y up", *_off(turn_up(turn_up(clip, "Y", "Z"), "Z", "Y"), places))
    for rate in rates:
        if abs(rate - clip.fps) < 1e-6:
            continue
        back = resample(resample(clip, rate), clip.fps)
        times = np.arange(len(back)) / clip.fps
        shared = np.abs(times * rate - np.round(times * rate)) < 1e-6
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
