"""Controlled damage on held-out motions: which diagnostic reacts to which change.

Source: Dancing Stick Figures, section 4 "Controlled validation", section 5 "Metric stress test" and Figure 5.
"""

from typing import NamedTuple

import numpy as np

from motionbook.stickfigures.camera import View
from motionbook.stickfigures.corruption import STRUCTURAL, TEMPORAL, corrupt
from motionbook.stickfigures.dataset import WINDOW, Prepared, SourceMotion, prepare, split_of
from motionbook.stickfigures.parameters import VIEWS
from motionbook.stickfigures.renderer import render
from motionbook.stickfigures.scoring import score
from motionbook.stickfigures.topology import label_colours, topology


class HeldOut(NamedTuple):
    """One motion and the view it is seen from."""

    motion: SourceMotion
    prepared: Prepared
    view: View


def held_out(motions, seed: int) -> list[HeldOut]:
    """Validation and test motions without a levitation flag, each from one view drawn at random.

    One view per motion, because views of a motion are not independent. All motions are taken when none is held out.
    """
    chosen = [m for m in motions if split_of(m.seed) in ("val", "test")] or list(motions)
    rng = np.random.default_rng(seed)
    drawn = [(motion, prepare(motion), int(rng.integers(VIEWS))) for motion in chosen]
    return [HeldOut(m, p, p.parameters.views[view]) for m, p, view in drawn if "levitation" not in p.flags]


def structural_table(clips: list[HeldOut], frames_per_clip: int, size: int = 128):
    """Mean TVR, LIE, CPE, foreground and clean rate of the real frames and under each structural damage.

    Frames are spread evenly over the first 64 of every clip.

    Returns
    -------
    pandas.DataFrame
        Rows real and ``corruption.STRUCTURAL``; ``frames`` counts what a row is the mean of.
    """
    import pandas as pd

    rates = {name: [] for name in ("real", *STRUCTURAL)}
    at = np.round(np.linspace(0, WINDOW - 1, frames_per_clip)).astype(int)
    for clip in clips:
        joints, body = clip.prepared.joints[at], clip.prepared.parameters.body
        real = render(joints, body, clip.view, size).color
        for name, found in rates.items():
            frames = real if name == "real" else corrupt(real, name, joints=joints, body=body, camera=clip.view)
            found.append(np.stack(topology(label_colours(frames))))
    columns = ["TVR", "LIE", "CPE", "foreground", "clean"]
    rows = {name: [*np.concatenate(found, axis=1).mean(axis=1), len(at) * len(clips)] for name, found in rates.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=[*columns, "frames"]).astype({"frames": int})


def temporal_table(clips: list[HeldOut], seed: int, size: int = 64):
    """Mean motion signals of the real windows and under each change of their order, 64 frames each.

    Returns
    -------
    pandas.DataFrame
        Rows real, freeze, shuffle, loop, reverse; columns Speed, Acceleration, Jerk as published, then motion
        fraction, angular speed, TVR, and how many windows a row is the mean of.
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    signals = {name: [] for name in ("real", *TEMPORAL)}
    for clip in clips:
        real = render(clip.prepared.joints[:WINDOW], clip.prepared.parameters.body, clip.view, size).color
        for name, found in signals.items():
            s = score(real if name == "real" else corrupt(real, name, rng=rng))
            found.append([s.centroid_speed, s.centroid_accel, s.angle_jerk, s.motion_fraction, s.angle_speed, s.TVR])
    columns = ["Speed", "Acceleration", "Jerk", "Motion fraction", "Angular speed", "TVR"]
    table = pd.DataFrame.from_dict({k: np.mean(v, axis=0) for k, v in signals.items()}, orient="index", columns=columns)
    return table.assign(windows=len(clips))
