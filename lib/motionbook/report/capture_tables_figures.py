"""Figures of the capture chapter's experiments: the board in the pictures, and what moves the error."""

from collections.abc import Mapping, Sequence

import numpy as np

from motionbook.capture.calibration import Calibration
from motionbook.capture.detection import corner_counts
from motionbook.report.theme import CYCLE


def board_figure(pictures: Mapping[str, Sequence[np.ndarray]], calibration: Calibration, moments: Sequence[int] = ()):
    """The board as every camera saw it (columns) at some moments (rows), with the corners that were found.

    Without ``moments``: the first, and the later one that the cameras see most of.

    Parameters
    ----------
    pictures : mapping of camera to pictures (height, width) uint8
    calibration : Calibration
        Made from them.
    moments : sequence of int

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    names = calibration.sightings.names
    if not moments:
        moments = (0, 1 + int(corner_counts(calibration.sightings)[:, 1:].sum(axis=0).argmax()))
    figure, axes = plt.subplots(
        len(moments), len(names), figsize=(7.2, 1.12 * len(moments) + 0.25), squeeze=False, layout="constrained"
    )
    for row, moment in zip(axes, moments, strict=True):
        for c, (panel, name) in enumerate(zip(row, names, strict=True)):
            picture = pictures[name][moment]
            height, width = picture.shape
            # every fourth pixel: more than the page shows
            small = (
                picture[: height // 4 * 4, : width // 4 * 4].reshape(height // 4, 4, width // 4, 4).mean(axis=(1, 3))
            )
            panel.imshow(small, cmap="gray", vmin=0, vmax=255, extent=(0, width, height, 0))
            found = calibration.sightings.points[c, moment]
            panel.plot(*found[np.isfinite(found[:, 0])].T, ".", color=CYCLE[4], markersize=2.2)
            panel.set(xticks=[], yticks=[], xlim=(0, width), ylim=(height, 0))
            panel.grid(False)
            if moment == moments[0]:
                panel.set_title(name, fontsize=8.5, fontweight="normal")
    return figure


def conditions_figure(tables: Mapping[str, object], before: str, after: str):
    """One panel per table, one line per row of it: two of its columns, joined by a line.

    Parameters
    ----------
    tables : mapping of a panel's title to a data frame
    before, after : str
        Columns; the axis is logarithmic, in millimetres.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    heights = [len(table) + 1.4 for table in tables.values()]
    figure, axes = plt.subplots(
        len(tables),
        1,
        figsize=(6.8, 0.235 * sum(heights) + 0.5),
        sharex=True,
        height_ratios=heights,
        layout="constrained",
    )
    axes = np.atleast_1d(axes)
    for panel, (title, table) in zip(axes, tables.items(), strict=True):
        rows = np.arange(len(table))[::-1]
        first, second = table[before].to_numpy(), table[after].to_numpy()
        panel.hlines(rows, np.minimum(first, second), np.maximum(first, second), color="#c6ccd3", linewidth=2.2)
        panel.plot(first, rows, "o", color=CYCLE[1], label=before.replace(" [mm]", ""))
        panel.plot(second, rows, "o", color=CYCLE[0], label=after.replace(" [mm]", ""))
        panel.set_yticks(rows, [str(label) for label in table.index])
        panel.set(xscale="log", ylim=(-0.7, len(table) - 0.3))
        panel.set_title(title)
    axes[0].legend(ncols=2, loc="lower right", bbox_to_anchor=(1.0, 1.0))
    axes[-1].xaxis.set_major_locator(FixedLocator([1, 2, 5, 10, 20, 50, 100]))
    axes[-1].xaxis.set_minor_locator(NullLocator())
    axes[-1].xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes[-1].set_xlabel("error [mm]")
    return figure
