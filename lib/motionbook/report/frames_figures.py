"""Figures of stick-figure frames: strips, one motion with all that is stored of it, and the temporal stress test."""

from pathlib import Path

import numpy as np

from motionbook.bvh import read_bvh
from motionbook.kinematics import forward_kinematics
from motionbook.report.theme import CYCLE, PUBLISHED_COLOUR, SYSTEM_COLOURS, system_colour
from motionbook.resampling import resample
from motionbook.stickfigures.dataset import FPS, WINDOW
from motionbook.stickfigures.systems import draw_clip, find_clips

_PAPER = np.array([1.0, 1.0, 1.0])
_SHOWN = 0.62  # share of the width that a figure needs


def on_white(color) -> np.ndarray:
    """Straight RGBA frames (..., 4) uint8 over white, (..., 3) floats from 0 to 1."""
    color = np.asarray(color) / 255.0
    return color[..., :3] * color[..., 3:] + _PAPER * (1 - color[..., 3:])


def strip_figure(rows, *, height: float = 0.95, label_width: float = 1.55):
    """Strips of frames: each row a list of frames with a label at its left, its first line bold.

    Parameters
    ----------
    rows : list of (label, frames)
        frames (n, size, size, 4) uint8; the same n for all rows.
        A label that names a system has its colour.
    height, label_width : float
        Inches per row, and for the labels.
    """
    import matplotlib.pyplot as plt

    counts = {len(frames) for _, frames in rows}
    if len(counts) != 1:
        raise ValueError(f"strip_figure: expected rows of equally many frames, got {sorted(counts)}")
    count = counts.pop()
    size = (label_width + _SHOWN * height * count, height * len(rows))
    figure = plt.figure(figsize=size)
    # given as layout="none", the theme's own would come back when the figure is saved
    figure.set_layout_engine("none")
    for i, (label, frames) in enumerate(rows):
        low = 1 - (i + 1) / len(rows)
        head, *rest = label.split("\n")
        colour = system_colour(head) if head in SYSTEM_COLOURS else None
        middle = low + (0.5 + 0.075 * len(rest) / height) / len(rows)
        figure.text(0.05 / size[0], middle, head, va="center", fontsize=8.5, weight="bold", color=colour)
        for k, line in enumerate(rest, start=1):
            figure.text(0.05 / size[0], middle - 0.15 * k / size[1], line, va="center", fontsize=8)
        for j, picture in enumerate(_cropped(on_white(frames))):
            left = (label_width + _SHOWN * height * j) / size[0]
            axes = figure.add_axes((left, low, _SHOWN * height / size[0], 1 / len(rows)))
            axes.imshow(picture, interpolation="nearest")
            axes.set_axis_off()
    return figure


def _cropped(pictures):
    """The middle of the width: a standing figure leaves the sides of its square empty."""
    width = pictures.shape[2]
    out = round(width * (1 - _SHOWN) / 2)
    return pictures[:, :, out : width - out]


def systems_figure(folder: Path, *, moments: int = 7, size: int = 128):
    """One lively stretch of one clip by every system: overlaid neighbours, and what changes from frame to frame.

    The stretch is the 64 frames in which the joints of a recorded clip travel furthest. A picture at the left lays five
    frames in a row over each other, so that jitter blurs it; the one at the right is the mean change of a pixel from
    one frame to the next, on one scale for all systems (its root, so that small changes show).

    Parameters
    ----------
    folder : path
        Of chapter 03.
    moments : int
        Pictures of overlaid frames per system, at equal distances.
    size : int
        Pixels per side.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import PowerNorm

    paths = find_clips(folder)
    name, first = _liveliest_stretch([path for path in paths if path.parent.name == paths[0].parent.name])
    drawn = [draw_clip(p, frames=first + WINDOW, size=size) for p in paths if p.stem == name]
    shots = [(clip.system, on_white(clip.frames[first:])) for clip in drawn]
    box = _ink_box(np.concatenate([frames for _, frames in shots]))
    changes = [np.abs(np.diff(frames, axis=0)).mean(axis=(0, 3)) for _, frames in shots]
    starts = np.linspace(0, WINDOW - 5, moments).round().astype(int)
    wide = (box[1].stop - box[1].start) / (box[0].stop - box[0].start)
    height = 7.4 / (moments + 1.25) / wide
    figure, panels = plt.subplots(len(shots), moments + 1, figsize=(7.6, len(shots) * height), squeeze=False)
    strongest = max(change.max() for change in changes)
    for row, (system, frames), change in zip(panels, shots, changes, strict=True):
        for axes, start in zip(row, starts, strict=False):
            axes.imshow(frames[start : start + 5].mean(axis=0)[box], interpolation="nearest")
        shown = row[-1].imshow(change[box], norm=PowerNorm(0.5, 0, strongest), cmap="Greys", interpolation="nearest")
        row[0].set_ylabel(system, fontsize=11, weight="bold", color=system_colour(system))
    for axes in panels.flat:
        axes.set(xticks=[], yticks=[])
        axes.grid(False)
        for spine in axes.spines.values():
            spine.set_visible(False)
    for axes, start in zip(panels[0], starts, strict=False):
        axes.set_title(f"{(first + start) / FPS:.1f} s", fontsize=9.5, weight="normal", loc="center")
    panels[0, -1].set_title("change", fontsize=9.5, weight="normal", loc="center")
    bar = figure.colorbar(shown, ax=list(panels[:, -1]), shrink=0.6, aspect=30, pad=0.02)
    bar.ax.tick_params(labelsize=8.5)
    bar.set_label("mean change of a pixel per frame", size=9)
    return figure


def _liveliest_stretch(paths) -> tuple[str, int]:
    """Clip and first frame (20 per second) of the window in which joints travel furthest; of twenty clips at most."""
    best = (-1.0, "", 0)
    for path in paths[:: max(1, len(paths) // 20)]:
        clip = resample(read_bvh(path), FPS)
        steps = np.linalg.norm(np.diff(forward_kinematics(clip).positions, axis=0), axis=-1).mean(axis=1)
        travelled = np.concatenate([[0.0], np.cumsum(steps)])
        if len(travelled) >= WINDOW:
            far = travelled[WINDOW - 1 :] - travelled[: len(travelled) - WINDOW + 1]
            best = max(best, (float(far.max()), path.stem, int(far.argmax())))
    return best[1:]


def _ink_box(frames: np.ndarray, margin: int = 3) -> tuple[slice, slice]:
    """Rows and columns that hold everything drawn in frames (n, height, width, 3), and a margin."""
    inked = (frames < 1.0).any(axis=(0, 3))
    rows, columns = (np.flatnonzero(inked.any(axis=axis)) for axis in (1, 0))
    return tuple(slice(max(0, at[0] - margin), at[-1] + 1 + margin) for at in (rows, columns))


def stored_figure(views, moments, rendering, joint_xy, frame_label: str):
    """One motion as it is stored (Dancing Stick Figures, Figure 3).

    Parameters
    ----------
    views : list of (title, frame)
        Pictures (128, 128, 4) uint8 of one frame from several views.
    moments : list of (title, frame)
        Pictures of several frames from one view.
    rendering : Rendering
        One frame, with depth and normals.
    joint_xy : (27, 2)
        Projected joints of that frame as shares of the side.
    frame_label : str
        Which frame the lower row shows.
    """
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap

    from motionbook.skeletons import CSKEL27

    figure = plt.figure(figsize=(7.4, 3.7))
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.45])
    for axes, (title, picture) in zip(above.subplots(1, 8), [*views, *moments], strict=True):
        axes.imshow(_cropped(on_white(picture)[None])[0], interpolation="nearest")
        _title(axes, title)
    color, seg = on_white(rendering.color[0]), rendering.seg[0]
    normal = np.where(seg[..., None] > 0, rendering.normal[0], 255)
    parts = np.vstack([[1, 1, 1, 1], plt.get_cmap("tab20")(np.arange(27) % 20)])
    stored = (
        ("colour", color, {}),
        ("27 parts", seg, {"cmap": ListedColormap(parts), "vmin": 0, "vmax": 27}),
        ("depth", rendering.depth[0], {"cmap": "viridis"}),
        ("normals", normal, {}),
        ("joints", 0.35 * color + 0.65, {}),
    )
    panels = below.subplots(1, 5)
    for axes, (title, picture, options) in zip(panels, stored, strict=True):
        shown = axes.imshow(_cropped(picture[None])[0], interpolation="nearest", **options)
        _title(axes, title)
        if title == "depth":
            bar = figure.colorbar(shown, ax=axes, shrink=0.6, pad=0.02, aspect=15)
            bar.ax.tick_params(labelsize=8.5)
            bar.ax.set_title("m", fontsize=8.5, weight="normal", loc="center")
    side = seg.shape[-1]
    x, y = (joint_xy * side - 0.5 - np.array([round(side * (1 - _SHOWN) / 2), 0])).T
    for joint, parent in enumerate(CSKEL27.parents):
        if parent >= 0:
            panels[-1].plot(x[[parent, joint]], y[[parent, joint]], color="#22272e", linewidth=0.7)
    panels[-1].plot(x, y, "o", color=CYCLE[4], markersize=2.2)
    figure.supxlabel(frame_label, fontsize=9.5)
    return figure


def _title(axes, text):
    axes.set_title(text, fontsize=9.5, weight="normal", loc="center")
    axes.set_axis_off()


_SIGNALS = (("Speed", "px / frame"), ("Acceleration", "px / frame²"), ("Jerk", "rad / frame²"))


def stress_figure(ours, published=None):
    """Motion signals under each change of the frames' order (Dancing Stick Figures, Figure 5a).

    Parameters
    ----------
    ours : data frame
        From ``stress.temporal_table``.
    published : data frame, optional
        Drawn beside in grey.
    """
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(7.4, 2.5), sharey=True)
    places = np.arange(len(ours))
    for axes, (name, unit) in zip(panels, _SIGNALS, strict=True):
        axes.barh(places - 0.18, ours[name], height=0.36, color=CYCLE[0], label="ours")
        if published is not None:
            axes.barh(
                places + 0.18, published.loc[ours.index, name], height=0.36, color=PUBLISHED_COLOUR, label="published"
            )
        for place in places[ours[name] == 0]:
            axes.text(0, place - 0.18, " 0", va="center", fontsize=7.5)
        axes.set(title=name, xlabel=unit, yticks=places, yticklabels=ours.index)
        axes.grid(axis="y", visible=False)
    panels[0].set_ylim(len(ours) - 0.5, -0.5)
    panels[-1].legend(loc="lower right")
    return figure


_DIAGNOSTICS = {
    "centroid_speed": "speed [px/frame]",
    "centroid_accel": "acceleration [px/frame²]",
    "motion_fraction": "share of moving frames",
    "angle_speed": "turning [rad/frame]",
    "angle_jerk": "jerk [rad/frame²]",
    "TVR": "TVR",
    "LIE": "LIE",
    "CPE": "CPE",
}


def readable_diagnostics(table):
    """The columns of a table of diagnostics that chapters 4 and 5 speak of, with words for names."""
    return table[[name for name in _DIAGNOSTICS if name in table]].rename(columns=_DIAGNOSTICS)
