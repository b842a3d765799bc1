"""Figures of the in-betweening chapter: how clips are generated step by step, and where in the gap systems go wrong."""

from dataclasses import replace

import numpy as np

from motionbook.inbetweening.baselines import LocalPose
from motionbook.inbetweening.evaluation import Predictor, world
from motionbook.inbetweening.windows import CONTEXT, Windows
from motionbook.report.theme import PUBLISHED_COLOUR, SYSTEM_COLOURS, system_colour

_AZIMUTH = 0.6  # radians from the front, so that arms held forward are seen
_TARGET_COLOUR = SYSTEM_COLOURS["NN"]


def autoregression_figure(windows: Windows, predictor: Predictor, label: str, transition: int = 45, every: int = 5):
    """Two steps of autoregressive generation over real poses (after StayStill, Figure 4).

    Parameters
    ----------
    windows : Windows
        One window of at least ``10 + 2 transition + 1`` frames.
    predictor : function of windows and transition
        Fills both gaps; the second starts from the last ten frames that it made itself.
    label : str
        Its name, which gives the colour.
    transition, every : int
        Frames to fill per step, and frames between two drawn poses.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    frames = CONTEXT + 2 * transition + 1
    if len(windows) != 1 or windows.rotations.shape[1] < frames:
        raise ValueError(f"windows: expected one window of {frames} frames or more, got {windows.rotations.shape[:2]}")
    figure, panels = plt.subplots(2, 1, figsize=(7.4, 4.6), sharex=True)
    root, rotations = windows.root_positions[:, :frames].copy(), windows.rotations[:, :frames].copy()
    for step, axes in enumerate(panels):
        first = step * transition
        here, target = slice(first, first + CONTEXT + transition + 1), first + CONTEXT + transition
        given = replace(windows, root_positions=root[:, here], rotations=rotations[:, here])
        made = predictor(given, transition)
        gap = slice(first + CONTEXT, target)
        root[:, gap], rotations[:, gap] = made
        places = _seen_from_the_front(world(windows, LocalPose(root[:, here], rotations[:, here])).positions[0])
        _draw_step(axes, places, windows.skeleton.parents, first, transition, every, system_colour(label))
        source = "recorded" if step == 0 else f"the last ten frames that {label} made"
        axes.set_title(f"Iteration {step + 1}: context {source}", fontsize=9.5)
        axes.text(target, 1.85, f"$t_{step + 1}$", ha="center", color=_TARGET_COLOUR, size=11)
    panels[0].tick_params(bottom=False)
    panels[0].spines["bottom"].set_visible(False)
    panels[-1].set_xlabel("frame (30 per second)")
    handles = [
        plt.Line2D([], [], color=colour, linewidth=3, label=text)
        for colour, text in (
            (SYSTEM_COLOURS["GT"], "context"),
            (system_colour(label), f"filled by {label}"),
            (_TARGET_COLOUR, "target"),
        )
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def error_over_time_figure(curves):
    """L2P by frame of the gap, one panel per transition length, panels as wide as their gaps are long.

    Parameters
    ----------
    curves : data frame
        From ``evaluation.error_curves``.
    """
    import matplotlib.pyplot as plt

    lengths = sorted(curves.length.unique())
    figure, panels = plt.subplots(
        1, len(lengths), figsize=(7.4, 3.5), squeeze=False, width_ratios=[n + 12 for n in lengths]
    )
    for axes, length in zip(panels[0], lengths, strict=True):
        for i, (system, part) in enumerate(curves[curves.length == length].groupby("system", sort=False)):
            colour = system_colour(system, i)
            axes.plot(part.frame, part.error, color=colour, label=system)
        part = curves[curves.length == length]
        # what is far worse than holding still would press all other curves to the ground
        still = part[part.system == "0-velocity"].error
        top = 1.1 * (still.max() if len(still) else part.error.max())
        axes.set(title=f"T = {length}", xlim=(0, length + 1), ylim=(0, top), xticks=_ticks(length))
    panels[0, 0].set(ylabel="error, standard deviations")
    figure.supxlabel("frame of the gap (0: last known frame)", fontsize=9.5)
    handles, labels = panels[0, -1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=5)
    return figure


def gains_figure(found, *, right: float = 45.0, left: float = -65.0):
    """Change of the error against one system, with 95 % intervals over people: rows metrics, columns lengths.

    Parameters
    ----------
    found : data frame
        From ``chapter_systems.gains``.
    right, left : float
        Per cent that are shown; what lies beyond is written at the edge.
    """
    import matplotlib.pyplot as plt

    systems, metrics = list(dict.fromkeys(found.system)), list(dict.fromkeys(found.metric))
    lengths = sorted(found.length.unique())
    shape = (len(metrics), len(lengths))
    size = (7.4, 1.0 + len(metrics) * (0.5 + 0.22 * len(systems)))
    figure, panels = plt.subplots(*shape, figsize=size, sharex=True, sharey=True, squeeze=False)
    cells = found.set_index(["metric", "length", "system"])
    for (i, metric), (j, length) in ((a, b) for a in enumerate(metrics) for b in enumerate(lengths)):
        axes = panels[i, j]
        for y, system in enumerate(systems):
            row, colour = cells.loc[(metric, length, system)], system_colour(system, y)
            if row.difference > right:
                axes.annotate(f"{row.difference:+.0f} %", (right, y), ha="right", va="center", color=colour, size=8)
                continue
            axes.plot([max(row.low, left), min(row.high, right)], [y, y], color=colour, linewidth=2.2)
            axes.plot(row.difference, y, "o", color=colour, markersize=5.5)
        axes.axvline(0, color=PUBLISHED_COLOUR, linewidth=1.2)
        axes.set(xlim=(left, right), ylim=(len(systems) - 0.5, -0.5), yticks=range(len(systems)))
        axes.set_yticklabels(systems)
        axes.grid(visible=False, axis="y")
        axes.set_title(f"{metric}, T = {length}", fontsize=9)
    figure.supxlabel(f"change against {found.attrs.get('against', 'SLERP')}, % (left is better)", fontsize=9.5)
    return figure


def _ticks(length: int) -> list[int]:
    """Tens, with the target's frame at the end and nothing crowding it."""
    return [*range(0, max(length - 4, 1), 10), length + 1]


def _seen_from_the_front(places: np.ndarray) -> np.ndarray:
    """Joint places (frames, joints, 3) in cm, heading +X, as the viewer's right and up in metres, about each pelvis."""
    places = places / 100.0
    middle = places[:, :1]
    right = np.cos(_AZIMUTH) * -(places - middle)[..., 2] + np.sin(_AZIMUTH) * (places - middle)[..., 0]
    return np.stack([right, places[..., 1]], axis=-1)


def _draw_step(axes, places, parents, first: int, transition: int, every: int, colour: str) -> None:
    """Poses along the time axis with the bars of context, gap and target under them."""
    metre = 11.0  # frames of the time axis that a metre takes, so that people are not stretched
    target = first + CONTEXT + transition
    shown = sorted({first, first + CONTEXT - 1, target, *range(first + CONTEXT + every - 1, target - 2, every)})
    for frame in shown:
        pose = places[frame - first]
        known = frame < first + CONTEXT
        ink = SYSTEM_COLOURS["GT"] if known else _TARGET_COLOUR if frame == target else colour
        for joint, parent in enumerate(parents):
            if parent >= 0:
                xs, ys = zip(pose[parent], pose[joint], strict=True)
                axes.plot(frame + metre * np.array(xs), ys, color=ink, linewidth=1.2, solid_capstyle="round")
    bars = ((first - 0.5, CONTEXT, SYSTEM_COLOURS["GT"]), (first + CONTEXT - 0.5, transition, colour))
    for start, width, ink in (*bars, (target - 0.5, 1, _TARGET_COLOUR)):
        axes.broken_barh([(start, width)], (-0.2, 0.09), color=ink)
    axes.set(xlim=(-8, CONTEXT + 2 * transition + 8), ylim=(-0.3, 2.05), yticks=[])
    axes.set_xticks(range(0, CONTEXT + 2 * transition + 1, 10))
    axes.spines["left"].set_visible(False)
    axes.grid(visible=False)
