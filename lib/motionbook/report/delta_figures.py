"""Figure of the delta transformer: whom it helps, at which length, and how sure the mean is."""

import numpy as np

from motionbook.inbetweening.evaluation import compare, compare_subjects
from motionbook.report.theme import PUBLISHED_COLOUR

# light to dark with the length of the gap, one hue: an order, not kinds
_SHADES = ("#9ecae1", "#5aa5d1", "#2276b5", "#0b3c6b")


def gains_by_person_figure(
    scores, system: str = "delta", against: str = "SLERP", metrics: tuple[str, ...] = ("L2P", "L2Q")
):
    """How much smaller one system's error is than another's, for every person and over all.

    Parameters
    ----------
    scores : pandas.DataFrame
        From ``evaluation.window_scores``.
    system, against : str
    metrics : tuple of str
        One panel each.

    Returns
    -------
    matplotlib.figure.Figure
        People stand in the order of how large the other system's error is at the longest gap, that is, of how much
        they move; the last row has the window-weighted mean with its 95 % interval (people drawn with replacement).
    """
    import matplotlib.pyplot as plt

    other = scores[(scores.system == against) & (scores.length == scores.length.max())]
    order = other.groupby("subject").l2p.mean().sort_values(ascending=False)
    rows = np.arange(len(order))[::-1] + 1.0
    lengths = sorted(scores.length.unique())
    shades = [_SHADES[round(i * (len(_SHADES) - 1) / max(len(lengths) - 1, 1))] for i in range(len(lengths))]
    height = 1.9 + 0.27 * (len(order) + 1)
    figure, panels = plt.subplots(1, len(metrics), figsize=(7.4, height), sharey=True, squeeze=False)
    for axes, metric in zip(panels[0], metrics, strict=True):
        people = compare_subjects(scores, system, against, metric).loc[order.index]
        mean = compare(scores, system, against, metric)
        for i, (length, shade) in enumerate(zip(lengths, shades, strict=True)):
            shift = 0.18 * ((len(lengths) - 1) / 2 - i)
            axes.scatter(people[length], rows + shift, s=16, color=shade, label=f"T = {length}", zorder=3)
            value = mean.loc[length]
            error = [[value.difference - value.low], [value.high - value.difference]]
            style = {"fmt": "D", "markersize": 4, "color": shade, "elinewidth": 1.6}
            axes.errorbar(value.difference, -0.35 + 1.3 * shift, xerr=error, **style)
        axes.axvline(0, color=PUBLISHED_COLOUR, linewidth=1.2)
        axes.axhline(0.45, color=PUBLISHED_COLOUR, linewidth=0.8)
        axes.set(title=metric, ylim=(-0.95, len(order) + 0.6))
        axes.set_xlim(right=max(4.0, axes.get_xlim()[1]))
    counts = other.groupby("subject").size()
    labels = [f"{person}  ({against} {order[person]:.2f})" for person in order.index]
    panels[0, 0].set_yticks([*rows, -0.35], [*labels, f"all {counts.sum()} windows"])
    figure.supxlabel(f"change of the error against {against}, % (left is better)", fontsize=9.5)
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=len(lengths))
    return figure
