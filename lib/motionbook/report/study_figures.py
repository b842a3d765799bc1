"""Figures of the two perceptual chapters: Elo scores, opinion scores, distorted bodies."""

import numpy as np

from motionbook.report.theme import PUBLISHED_COLOUR, system_colour


def elo_figure(elo, spread, published=None):
    """Elo score of every system with one standard deviation either way, best first (StayStill, Figure 8).

    Parameters
    ----------
    elo, spread : series by system
    published : data frame by system with ``Elo`` and ``Std Elo``, optional
        Drawn beside in grey.
    """
    import matplotlib.pyplot as plt

    elo = elo.sort_values(ascending=False)
    figure, axes = plt.subplots(figsize=(6.6, 0.42 * len(elo) + 1.1))
    places = np.arange(len(elo))
    for place, (name, score) in zip(places, elo.items(), strict=True):
        axes.errorbar(score, place, xerr=spread[name], fmt="o", color=system_colour(name), capsize=3, markersize=7)
    if published is not None:
        for place, name in zip(places, elo.index, strict=True):
            if name in published.index:
                row = published.loc[name]
                axes.errorbar(
                    row["Elo"], place + 0.22, xerr=row["Std Elo"], fmt="o", color=PUBLISHED_COLOUR, markersize=4
                )
        axes.plot([], [], "o", color=PUBLISHED_COLOUR, markersize=4, label="published (118 real people)")
        axes.legend(loc="lower right")
    axes.axvline(1000, color="#c6ccd3", linewidth=1)
    axes.set_yticks(places, elo.index)
    axes.set(xlabel="Elo score (mean of systems 1000)", ylim=(len(elo) - 0.5, -0.5))
    axes.grid(axis="y", visible=False)
    return figure


_ANSWER_COLOURS = ("#2b6ca3", "#7fb2d9", "#d9d9d9", "#f0a868", "#c4561c")
_ANSWERS = ("imperceptible", "perceptible", "slightly annoying", "annoying", "very annoying")


def opinion_figure(ratings):
    """Share of each answer by strength, one panel per distortion, with MOS and 95 % interval (4DHumanQA, Figure 5).

    Parameters
    ----------
    ratings : data frame
        ``distortion``, ``strength`` (1..5), ``score`` (1..5).
    """
    import matplotlib.pyplot as plt
    from scipy import stats

    kinds = list(dict.fromkeys(ratings.sort_values("distortion").distortion))
    figure, panels = plt.subplots(2, 3, figsize=(7.4, 4.6), sharex=True, sharey=True)
    for axes, kind in zip(panels.flat, kinds, strict=False):
        part = ratings[ratings.distortion == kind]
        shares = part.groupby("strength").score.value_counts(normalize=True).unstack(fill_value=0.0)
        below = np.zeros(len(shares))
        for score in range(1, 6):
            share = shares[score].to_numpy() if score in shares else np.zeros(len(shares))
            axes.bar(shares.index, 4 * share, bottom=1 + 4 * below, width=0.8, color=_ANSWER_COLOURS[score - 1])
            below = below + share
        scores = part.groupby("strength").score.agg(["mean", "std", "count"])
        half = stats.t.ppf(0.975, scores["count"] - 1) * scores["std"] / np.sqrt(scores["count"])
        axes.errorbar(scores.index, scores["mean"], yerr=half, fmt="o-", color="#15191e", markersize=3.5, linewidth=1.2)
        axes.set_title(kind)
        axes.grid(visible=False)
    for axes in panels[1]:
        axes.set_xlabel("strength")
    for axes in panels[:, 0]:
        axes.set(ylabel="mean opinion score", ylim=(1, 5), yticks=range(1, 6))
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in _ANSWER_COLOURS]
    figure.legend(handles, _ANSWERS, loc="outside lower center", ncols=5, fontsize=7.5, title="share of answers (bars)")
    return figure


def bodies_figure(rows):
    """Rows of bodies in a common light: each row a list of (title, vertices (vertices, 3), faces).

    Every picture shows a cube of the same size, so that raised or shifted bodies stay so beside the others.
    """
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    columns = max(len(row) for row in rows)
    figure = plt.figure(figsize=(1.25 * columns, 2.5 * len(rows)), layout="none")
    figure.set_layout_engine("none")  # the theme's layout would move the hand-placed pictures
    for i, row in enumerate(rows):
        # all bodies of a row are placed by the first, the reference
        middle = np.ptp(row[0][1], axis=0) / 2 + row[0][1].min(0)
        for j, (title, vertices, faces) in enumerate(row):
            box = (j / columns, 1 - (i + 1) / len(rows), 1 / columns, 0.93 / len(rows))
            axes = figure.add_axes(box, projection="3d")
            # matplotlib's vertical axis is its third
            turned = (vertices - middle)[:, [0, 2, 1]] * np.array([1.0, -1.0, 1.0])
            axes.add_collection3d(
                Poly3DCollection(turned[faces], facecolors="#6d9fd1", shade=True, linewidth=0, antialiased=False)
            )
            axes.set(xlim=(-0.55, 0.55), ylim=(-0.55, 0.55), zlim=(-0.95, 1.25))
            axes.set_box_aspect((1, 1, 2), zoom=1.55)
            axes.view_init(elev=9, azim=-62)
            axes.set_axis_off()
            figure.text((j + 0.5) / columns, 1 - (i + 0.045) / len(rows), title, ha="center", va="top", fontsize=8)
    return figure


def scatter_figure(predicted, scores, groups):
    """Predicted against given opinion scores, one colour per distortion."""
    import matplotlib.pyplot as plt

    from motionbook.report.theme import CYCLE

    figure, axes = plt.subplots(figsize=(4.2, 3.9))
    axes.plot([1, 5], [1, 5], color="#c6ccd3", linewidth=1)
    for colour, name in zip(CYCLE, dict.fromkeys(groups), strict=False):
        inside = np.asarray(groups) == name
        axes.plot(np.asarray(scores)[inside], np.asarray(predicted)[inside], "o", color=colour, label=name, alpha=0.85)
    axes.set(xlabel="mean opinion score", ylabel="predicted", xlim=(0.8, 5.2), ylim=(0.8, 5.2), aspect="equal")
    axes.legend(loc="upper left", fontsize=7.5)
    return figure
