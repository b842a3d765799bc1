"""Figures of stick-figure frames: strips, one motion with all that is stored of it, and the temporal stress test."""

import numpy as np

from motionbook.report.theme import CYCLE, PUBLISHED_COLOUR, SYSTEM_COLOURS, system_colour

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
            bar.ax.tick_params(labelsize=6)
            bar.ax.set_title("m", fontsize=6, weight="normal", loc="center")
    side = seg.shape[-1]
    x, y = (joint_xy * side - 0.5 - np.array([round(side * (1 - _SHOWN) / 2), 0])).T
    for joint, parent in enumerate(CSKEL27.parents):
        if parent >= 0:
            panels[-1].plot(x[[parent, joint]], y[[parent, joint]], color="#22272e", linewidth=0.7)
    panels[-1].plot(x, y, "o", color=CYCLE[4], markersize=2.2)
    figure.supxlabel(frame_label, fontsize=7.5)
    return figure


def _title(axes, text):
    axes.set_title(text, fontsize=7.5, weight="normal", loc="center")
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
