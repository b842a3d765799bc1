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


def bodies_figure(reference, others, faces, *, fps: float, azimuth: float = 0.45):
    """What distortions do: each body before its reference, which is orange, and below, enlarged, where it is off.

    Each is shown in the frame in which a vertex is furthest from where it should be, and from the one of two sides, a
    quarter turn apart, on which that shows better.

    Parameters
    ----------
    reference : (frames, vertices, 3)
        Metres, Y up.
    others : list of (title, vertices (frames, vertices, 3))
    faces : (faces, 3)
    fps : float
    azimuth : float
        Radians by which the viewer stands to the side of +Z.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    from matplotlib.patches import Rectangle

    shown = [(title, *_greatest(reference, vertices, azimuth), vertices) for title, vertices in others]
    floor = reference[..., 1].min()
    height = max(max(vertices[frame, :, 1].max() for _, frame, _, _, vertices in shown) - floor, 1.0)
    half = 0.17  # of the enlarged square, in metres
    figure, panels = plt.subplots(
        2, len(shown), figsize=(7.6, 7.6 / len(shown) * (height + 0.3) + 1.75), height_ratios=[height + 0.3, 0.9]
    )
    for (whole, part), (title, frame, vertex, right, vertices) in zip(panels.T.reshape(-1, 2), shown, strict=True):
        is_, should = vertices[frame] - [0.0, floor, 0.0], reference[frame] - [0.0, floor, 0.0]
        middle = (np.ptp(should, axis=0) / 2 + should.min(0)) @ right
        for axes in (whole, part):
            axes.axhline(0.0, color="#b9c0c8", linewidth=0.8, zorder=0)
            axes.add_collection(_shaded(should, faces, right, middle, _GHOST))
            axes.add_collection(_shaded(is_, faces, right, middle, _BODY))
            axes.set(aspect="equal", xticks=[], yticks=[])
            axes.grid(False)
        whole.set(xlim=(-0.5, 0.5), ylim=(-0.2, height + 0.1))
        whole.set_axis_off()
        centre = 0.5 * (is_[vertex] + should[vertex])
        x, y = float(centre @ right) - middle, float(centre[1])
        part.set(xlim=(x - half, x + half), ylim=(y - half, y + half))
        for spine in part.spines.values():
            spine.set_visible(True)
        whole.add_patch(Rectangle((x - half, y - half), 2 * half, 2 * half, fill=False, color="#6b7480", linewidth=0.8))
        far = 100 * np.linalg.norm(is_[vertex] - should[vertex])
        whole.set_title(title, fontsize=10, loc="center")
        part.set_xlabel(f"{far:.1f} cm\nat {frame / fps:.1f} s", fontsize=9)
    return figure


_GHOST, _BODY = np.array([1.0, 0.78, 0.56]), np.array([0.42, 0.62, 0.85])


def _greatest(reference, vertices, azimuth: float):
    """Frame and vertex that are furthest off, and the viewer's right (3,) from the side on which that shows best."""
    moved = vertices - reference
    frame, vertex = np.unravel_index(np.argmax((moved**2).sum(-1)), moved.shape[:2])
    rights = [np.array([np.cos(a), 0.0, -np.sin(a)]) for a in (azimuth, azimuth + 0.5 * np.pi)]
    across = [abs(moved[frame, vertex] @ right) for right in rights]
    return int(frame), int(vertex), rights[1] if across[1] > 1.5 * across[0] else rights[0]


def _shaded(vertices, faces, right, middle, colour):
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
    colours = shade[:, None] * colour
    flat = np.stack([corners @ right - middle, corners[..., 1]], axis=-1)
    return PolyCollection(flat, facecolors=colours, edgecolors=colours, linewidths=0.3)


def scatter_figure(predicted, scores, groups):
    """Predicted against given opinion scores, one colour per distortion.

    Predictions that are off the scale by more than one step are arrowheads at the edge; how many there are, and how far
    they go, stands there.
    """
    import matplotlib.pyplot as plt

    from motionbook.report.theme import CYCLE

    predicted, scores, groups = (np.asarray(values) for values in (predicted, scores, groups))
    low, high = 0.0, 6.0
    figure, axes = plt.subplots(figsize=(5.6, 4.6))
    axes.axhspan(1, 5, color="#f3f5f7", linewidth=0)
    axes.plot([1, 5], [1, 5], color="#9aa2ac", linewidth=1)
    for colour, name in zip(CYCLE, dict.fromkeys(groups), strict=False):
        mine = groups == name
        axes.plot([], [], "o", color=colour, label=name)
        for marker, where, place in (
            ("o", (predicted >= low) & (predicted <= high), predicted),
            ("v", predicted < low, np.full(len(predicted), low)),
            ("^", predicted > high, np.full(len(predicted), high)),
        ):
            chosen = mine & where
            if chosen.any():
                axes.plot(scores[chosen], place[chosen], marker, color=colour, alpha=0.8, markersize=6, clip_on=False)
    below, above = predicted[predicted < low], predicted[predicted > high]
    if len(above):
        words = f"{len(above)} above, to {above.max():.1f}"
        axes.text(0.99, 0.945, words, transform=axes.transAxes, ha="right", va="top", size=8.5)
    if len(below):
        words = f"{len(below)} below, to {below.min():.1f}"
        axes.text(0.99, 0.055, words, transform=axes.transAxes, ha="right", va="bottom", size=8.5)
    axes.set(xlabel="mean opinion score", ylabel="predicted score", xlim=(0.8, 5.2), ylim=(low, high))
    figure.legend(loc="outside right upper", fontsize=8.5)
    return figure
