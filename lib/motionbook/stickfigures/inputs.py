"""What the notebook of chapter 4 needs around the data set: sizes that fit the motions, facts, strips and views."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from motionbook.skeletons import CSKEL27
from motionbook.stickfigures.building import Sources
from motionbook.stickfigures.camera import SUPERSAMPLING, View, project
from motionbook.stickfigures.dataset import FROZEN, LEVITATION, WINDOW, SourceMotion, mean_joint_speed, prepare
from motionbook.stickfigures.parameters import clip_parameters
from motionbook.stickfigures.renderer import render
from motionbook.synthesis.prompts import GROUPS, listed_prompts, released_prompts

STORED_FRAME = 24
_TITLES = (("front", 0.0), ("three-quarter", np.pi / 4), ("side", np.pi / 2))


def window(motions: Sequence[SourceMotion], wanted: int) -> int:
    """Frames to draw of every motion: ``wanted``, or as many as the shortest motion has when it has the window of 64.

    Raises
    ------
    ValueError
        When a motion is shorter than the 64 frames that all diagnostics are made for.
    """
    shortest = min(motions, key=lambda motion: len(motion.positions))
    frames = min(wanted, len(shortest.positions))
    if frames < WINDOW:
        raise ValueError(
            f"{shortest.clip_id}: expected at least {WINDOW} frames, got {frames}; leave it out of the data"
        )
    return frames


def dataset_facts(sources: Sources, clips, frames: int):
    """Published statistics of the set, as they are here: columns value, low, high.

    Parameters
    ----------
    sources : Sources
    clips : data frame
        Of ``building.build``.
    frames : int
        Drawn per motion.
    """
    import pandas as pd

    listed, released = listed_prompts(), released_prompts()
    first = clips[clips["view"] == 0]
    rows = {
        "candidate prompts": (len(listed),),
        "excluded prompts": (len(listed) - len(released),),
        "prompts": (len({motion.text for motion in sources.motions}),),
        "seeds": (len({motion.seed for motion in sources.motions} - {None}),),
        "motions": (len(sources.motions),),
        "clips": (len(clips),),
        "views per motion": (clips["view"].nunique(),),
        "frames per clip": (frames,),
        "frozen motions": (int(first.qa_flags.str.contains("frozen").sum()),),
        "frozen motions of the idle group": (int(first[first.group == "idle"].qa_flags.str.contains("frozen").sum()),),
        "levitating motions": (int(first.qa_flags.str.contains("levitation").sum()),),
        "frame rate": (sources.motions[0].fps,),
        "frames of the evaluation window": (WINDOW,),
        "joints": (len(CSKEL27),),
        "supersampling": (SUPERSAMPLING,),
        "frozen below": (FROZEN,),
        "levitation above": (LEVITATION,),
        **_drawn_ranges(sources.motions),
        "foreground fraction": _middle(clips.foreground),
        "centroid speed": _middle(first.centroid_speed),
        "angular path": _middle(first.rig_path),
    }
    for group in GROUPS:
        name = f"{group.removesuffix('s') if group == 'transitions' else group} prompts"
        rows[name] = (sum(prompt.group == group for prompt in released),)
    table = {name: [*values, *[np.nan] * (3 - len(values))] for name, values in rows.items()}
    return pd.DataFrame.from_dict(table, orient="index", columns=["value", "low", "high"])


def _drawn_ranges(motions):
    """Least and greatest of what the clips' names drew."""
    parameters = [clip_parameters(motion.clip_id) for motion in motions]
    drawn = {
        "pixels per metre": [p.body.px_per_m for p in parameters],
        "stroke": [p.body.stroke for p in parameters],
        "camera pitch": [np.rad2deg(view.pitch) for p in parameters for view in p.views],
        "bone scale": [scale for p in parameters for scale in p.body.bone_scale.values()],
    }
    return {name: (np.nan, min(values), max(values)) for name, values in drawn.items()}


def _middle(values):
    """Median, 5th and 95th percentile."""
    return tuple(np.quantile(values, (0.5, 0.05, 0.95)))


def group_strips(clips, folder: Path, moments: int) -> list[tuple[str, np.ndarray]]:
    """One video of each group, view 0: its prompt and ``moments`` frames at equal distances, read from the files."""
    rows = []
    for group in GROUPS:
        chosen = clips[(clips.group == group) & (clips["view"] == 0)].sort_values("angle_path")
        if len(chosen):
            row = chosen.iloc[-1]
            with np.load(Path(folder) / row.path) as stored:
                color = stored["color"]
            rows.append((f"{group}\n{_wrap(row.text)}", color[_evenly(len(color), moments)]))
    return rows


def liveliest(motions: Sequence[SourceMotion]) -> SourceMotion:
    """The motion with the fastest joints, to show what a motion stores."""
    return max(motions, key=lambda m: mean_joint_speed(m.positions - m.positions[:, :1], m.fps))


def stored_views(motion: SourceMotion):
    """What ``report.frames_figures.stored_figure`` draws of a motion: views, moments, one whole frame, its joints.

    Moments lie at equal steps of pose change, not of time.
    """
    prepared = prepare(motion)
    body, joints = prepared.parameters.body, prepared.joints
    upright = View(centre=(64.0, 66.0))
    frame = min(STORED_FRAME, len(joints) - 1)
    views = [(title, render(joints[[frame]], body, replace(upright, yaw=yaw)).color[0]) for title, yaw in _TITLES]
    oblique = replace(upright, yaw=np.pi / 4)
    change = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(joints, axis=0), axis=-1).mean(axis=1))])
    at = np.searchsorted(change, np.linspace(0, change[-1], 5)).clip(max=len(joints) - 1)
    colors = render(joints[at], body, oblique).color
    moments = [(f"{index / motion.fps:.1f} s", color) for index, color in zip(at, colors, strict=True)]
    whole = render(joints[[frame]], body, oblique, geometry=True)
    joint_xy = project(joints[frame], oblique, body.px_per_m).points / 128
    return views, moments, whole, joint_xy


def _evenly(frames: int, moments: int) -> np.ndarray:
    return np.round(np.linspace(0, frames - 1, moments)).astype(int)


def _wrap(text: str, width: int = 24) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(text.removeprefix("A person ").removesuffix("."), width))
