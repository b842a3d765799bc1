"""Takes whose size is wrong: a calibration board entered with the wrong length makes everybody small or tall.

Angles do not show it, so it survives every look at the motion. What shows it: a body no adult has, a person whose
bones change between takes, and bones that two people share to the tenth of a millimetre.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from motionbook.cleaning.bodies import body_of_clip, leg_length
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import SIDES

_HEAD_CENTRE = 0.93  # height of the middle between the ears as a share of stature (eye 0.936, Drillis & Contini 1966)
ADULT_STATURE = (1.47, 2.05)
"""Metres; of women in the United States (mean 1.61, deviation 0.07) two in a hundred are shorter than the first."""
BOARD_FACTOR = 1.25
"""Square of a ChArUco board over its marker: the factor when the marker's side was entered as the square's."""
_SAME = 1e-4
_CHANGED = 0.05


def head_height(clip: Clip) -> float:
    """Height in metres of the head joint over the sole of a straight standing body, from the lengths of its bones.

    The legs, the line from the hips to the base of the neck, the neck, and the drop from ankle to the tip of the foot.
    """
    body, _, _ = body_of_clip(clip)
    rig = body.rig
    places = forward_kinematics(clip[:: 1 + len(clip) // 200]).positions
    hips = 0.5 * (places[:, rig.limbs["left", "thigh"]] + places[:, rig.limbs["right", "thigh"]])
    if not rig.neck or rig.head is None:
        raise ValueError("head_height: expected a rig with a neck and a head")
    points = [hips, *(places[:, joint] for joint in (*rig.neck, rig.head))]
    trunk = sum(np.median(np.linalg.norm(b - a, axis=-1)) for a, b in pairwise(points))
    drops = []
    for side in SIDES:
        tip = body.bone(rig.limbs[side, "foot"], rig.limbs.get((side, "toe")))
        drops.append(0.0 if tip is None else max(0.0, -tip[1]))
    return float(trunk + leg_length(body) + np.mean(drops))


def scale_faults(clips: Mapping[str, Clip], subjects: Mapping[str, str] | None = None):
    """Which takes have a size that cannot be right, and the factors that would correct them.

    Parameters
    ----------
    clips : mapping of name to Clip
        Of adults.
    subjects : mapping of clip name to person, optional
        Whose takes are whose, for comparing a person with himself.

    Returns
    -------
    DataFrame
        One row per clip: clip, subject, head_height_m, leg_m, stature_m (the head's height over 0.93), verdict (words,
        empty when nothing is odd), factor (that a correction would take: `BOARD_FACTOR` where it makes the stature an
        adult's, else to the median of the takes that are plausible, else 1), same_bones_as (clips with equal bones).
    """
    import pandas as pd

    subjects = {} if subjects is None else subjects
    heights = {name: head_height(clip) for name, clip in clips.items()}
    legs = {name: leg_length(body_of_clip(clip)[0]) for name, clip in clips.items()}
    low, high = (_HEAD_CENTRE * stature for stature in ADULT_STATURE)
    likely = [height for height in heights.values() if low <= height <= high]
    rows = []
    for name, clip in clips.items():
        verdict, factor = [], 1.0
        person = subjects.get(name, "")
        if not low <= heights[name] <= high:
            verdict.append("too small for an adult" if heights[name] < low else "too tall")
            if low <= BOARD_FACTOR * heights[name] <= high:
                factor = BOARD_FACTOR
            elif likely:
                factor = float(np.median(likely)) / heights[name]
        for other in clips:
            same_person = other != name and person and subjects.get(other) == person
            if same_person and abs(np.log(legs[other] / legs[name])) > np.log1p(_CHANGED):
                verdict.append(f"{legs[name] / legs[other]:.2f} times {other}, the same person")
        twins = [other for other in clips if other != name and _same_bones(clip, clips[other])]
        if any(subjects.get(other, "") != person for other in twins):
            verdict.append("bones of another person")
        rows.append(
            (
                name,
                person,
                heights[name],
                legs[name],
                heights[name] / _HEAD_CENTRE,
                "; ".join(verdict),
                factor,
                ", ".join(twins),
            )
        )
    columns = ["clip", "subject", "head_height_m", "leg_m", "stature_m", "verdict", "factor", "same_bones_as"]
    return pd.DataFrame(rows, columns=columns)


def _same_bones(a: Clip, b: Clip) -> bool:
    if a.skeleton.names != b.skeleton.names:
        return False
    lengths = [np.linalg.norm(c.skeleton.offsets[1:], axis=-1) for c in (a, b)]
    return bool(np.abs(lengths[0] - lengths[1]).max() < _SAME)
