"""Figure of a session recording: how much moves over time, where it was cut and what it was called."""

from collections.abc import Sequence

import numpy as np

from motionbook.cleaning.cut_points import Suggestion
from motionbook.cleaning.label_tables import Take
from motionbook.report.theme import CYCLE, OTHER_COLOURS


def motion_energy_figure(
    suggestion: Suggestion, fps: float, takes: Sequence[Take] = (), *, seconds_per_row: float = 60.0
):
    """Motion energy of one session over time, its threshold, the suggested cuts, and labelled takes where given.

    Parameters
    ----------
    suggestion : Suggestion
        Of `motionbook.cleaning.cut_points.suggest_cuts`.
    fps : float
        Of the clip.
    takes : sequence of Take
        The labels, drawn as bands with their words; the truth where it is known.
    seconds_per_row : float
        A long session is drawn in several rows.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    energy, seconds = np.asarray(suggestion.energy), np.arange(len(suggestion.energy)) / fps
    rows = max(1, int(np.ceil(seconds[-1] / seconds_per_row)))
    width = seconds[-1] / rows
    figure, axes = plt.subplots(rows, 1, figsize=(7.6, 0.6 + 1.6 * rows), sharey=True, squeeze=False)
    low, high = max(energy.min(), 1e-6), energy.max()
    for row, axis in enumerate(axes[:, 0]):
        left, right = row * width, (row + 1) * width
        axis.semilogy(seconds, np.maximum(energy, 1e-7), color=CYCLE[6], linewidth=1.1, label="motion energy")
        axis.axhline(suggestion.enter, color=CYCLE[6], linewidth=0.8, linestyle=":", label="motion begins")
        for number, take in enumerate(takes):
            start, stop = take.start / fps, take.stop / fps
            if stop < left or start > right:
                continue
            axis.axvspan(start, stop, color=CYCLE[5], alpha=0.28, linewidth=0, label="labelled takes")
            seen = min(stop, right) - max(start, left)
            if seen < min(stop - start, 0.03 * width):
                continue  # its words stand in the row that shows more of it
            middle = max(start, left) + 0.5 * seen
            # neighbours on two levels, so that short takes do not write over each other
            height = 0.97 if number % 2 == 0 else 0.86
            axis.text(
                middle,
                height,
                take.label,
                ha="center",
                va="top",
                fontsize=7.5,
                transform=axis.get_xaxis_transform(),
                bbox={"facecolor": "#ffffff", "alpha": 0.7, "edgecolor": "none", "pad": 0.8},
            )
        for cut in suggestion.cuts:
            if left <= cut.seconds <= right:
                colour = CYCLE[4] if cut.kind == "start" else OTHER_COLOURS[1]
                axis.axvline(
                    cut.seconds,
                    color=colour,
                    linewidth=1.2,
                    alpha=0.35 + 0.65 * cut.confidence,
                    linestyle="-" if cut.kind == "start" else "--",
                    label=f"suggested {cut.kind}",
                )
        axis.set(xlim=(left, right), ylim=(low / 2, high * 12))
        axis.grid(axis="x", visible=False)
    axes[-1, 0].set_xlabel("time [s]")
    figure.supylabel("motion energy [m²/s²]", fontsize=9.5)
    known = {}
    for axis in axes[:, 0]:
        handles, words = axis.get_legend_handles_labels()
        known |= dict(zip(words, handles, strict=True))
    figure.legend(known.values(), known.keys(), loc="outside upper center", ncols=5, fontsize=8)
    return figure
