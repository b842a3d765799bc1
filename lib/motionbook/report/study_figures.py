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


def bodies_figure(row, *, azimuth: float = 0.45):
    """Bodies side by side in one light and at one scale, standing on or off a common floor.

    Parameters
    ----------
    row : list of (title, vertices (vertices, 3), faces)
        The first is the reference: the floor lies under its lowest vertex, and each picture is centred on it.
    azimuth : float
        Radians by which the viewer stands to the side of +Z.
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Ellipse

    right = np.array([np.cos(azimuth), 0.0, -np.sin(azimuth)])
    reference = row[0][1]
    middle, floor = (np.ptp(reference, axis=0) / 2 + reference.min(0)) @ right, reference[:, 1].min()
    height = max(vertices[:, 1].max() for _, vertices, _ in row) - floor
    figure, panels = plt.subplots(1, len(row), figsize=(1.12 * len(row), 1.75 * (height + 0.25)), sharey=True)
    for axes, (title, vertices, faces) in zip(np.atleast_1d(panels), row, strict=True):
        place = vertices.mean(0) @ right - middle
        axes.add_patch(Ellipse((place, 0.0), 0.62, 0.07, color="#cfd4da", linewidth=0))
        axes.add_collection(_shaded(vertices - np.array([0.0, floor, 0.0]), faces, right, middle))
        axes.set(xlim=(-0.5, 0.5), ylim=(-0.08, height + 0.1), aspect="equal")
        axes.set_title(title, fontsize=8.5, weight="normal", loc="center")
        axes.set_axis_off()
    return figure


def _shaded(vertices, faces, right, middle):
    """Faces that look at the viewer, far ones first, lit from the upper left; in the viewer's plane."""
    from matplotlib.collections import PolyCollection

    towards = np.cross(right, [0.0, 1.0, 0.0])
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True).clip(1e-12)
    # which way round the faces run is the surface's own business; outside is where the volume is positive
    normals *= np.sign(np.einsum("fi,fi->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])))
    seen = normals @ towards > 0
    corners, normals = corners[seen], normals[seen]
    order = np.argsort(corners.mean(1) @ towards)
    corners, normals = corners[order], normals[order]
    light = -0.5 * right + 0.6 * np.array([0.0, 1.0, 0.0]) + 0.62 * towards
    shade = 0.45 + 0.55 * np.clip(normals @ (light / np.linalg.norm(light)), 0.0, 1.0)
    colours = shade[:, None] * np.array([0.50, 0.69, 0.88])
    flat = np.stack([corners @ right - middle, corners[..., 1]], axis=-1)
    return PolyCollection(flat, facecolors=colours, edgecolors=colours, linewidths=0.3)


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
