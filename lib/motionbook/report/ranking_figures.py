"""Figures of a ranking: scores with their bootstrap, the pull to one side, the weights, and the raters it takes."""

import numpy as np

from motionbook.report.theme import PUBLISHED_COLOUR, system_colour

_LEFT, _TIE, _RIGHT, _INK = "#2b6ca3", "#c6ccd3", "#c4561c", "#22272e"


def _colours(systems) -> dict[str, str]:
    return {name: system_colour(name, index) for index, name in enumerate(systems)}


def ranking_figure(scores, resampled, published=None):
    """Elo scores, best first, over the distribution of their resamples, with classes (StayStill, Figure 8).

    Bars are 95 % intervals; systems that share a letter are not told apart.

    Parameters
    ----------
    scores, resampled : data frames
        ``RankingReport.scores`` and ``.resampled``.
    published : data frame by system with ``Elo`` and ``Std Elo``, optional
        Drawn below each in grey, with one standard deviation either way.
    """
    import matplotlib.pyplot as plt

    scores = scores.sort_values("elo", ascending=False, kind="stable")
    colours = _colours(scores.index)
    figure, axes = plt.subplots(figsize=(6.6, 0.62 * len(scores) + 1.1))
    kept = resampled.dropna()
    bins = np.histogram_bin_edges(kept.to_numpy().ravel(), bins=160)
    tallest = max(np.histogram(kept[name], bins=bins)[0].max() for name in scores.index)
    for place, (name, row) in enumerate(scores.iterrows()):
        height = 0.62 * np.histogram(kept[name], bins=bins)[0] / tallest
        shown = np.flatnonzero(height)
        edges = slice(shown[0], shown[-1] + 1)
        axes.fill_between(
            bins[:-1][edges], place - height[edges], place, step="post", color=colours[name], alpha=0.35, linewidth=0
        )
        axes.plot([row.low, row.high], [place, place], color=colours[name], linewidth=2.2, solid_capstyle="butt")
        axes.plot(row.elo, place, "o", color=colours[name], markersize=6.5, markeredgecolor="white", zorder=3)
        if published is not None and name in published.index:
            printed = published.loc[name]
            axes.errorbar(
                printed["Elo"], place + 0.2, xerr=printed["Std Elo"], fmt="o", color=PUBLISHED_COLOUR, markersize=3.5
            )
        axes.annotate(
            row.classes, (1.0, place), xycoords=("axes fraction", "data"), xytext=(6, 0), textcoords="offset points",
            va="center", color=_INK, fontweight="bold",
        )  # fmt: skip
    if published is not None:
        axes.plot([], [], "o", color=PUBLISHED_COLOUR, markersize=3.5, label="published, one standard deviation")
        axes.legend(loc="lower right")
    axes.annotate(
        "class", (1.0, 1.0), xycoords="axes fraction", xytext=(6, 3), textcoords="offset points", color=_INK, fontsize=8
    )
    axes.axvline(1000, color="#c6ccd3", linewidth=1, zorder=0)
    axes.set_yticks(range(len(scores)), scores.index)
    axes.set(xlabel="Elo score (mean of systems 1000), 95 % interval over people", ylim=(len(scores) - 0.45, -0.85))
    axes.grid(axis="y", visible=False)
    return figure


def position_figure(answers_by_side, terms):
    """Left against right: answers given for either side, and the pull to the left that each model finds.

    Parameters
    ----------
    answers_by_side, terms : data frames
        From ``RankingReport``.
    """
    import matplotlib.pyplot as plt

    figure, (shares, pulls) = plt.subplots(1, 2, figsize=(7.2, 2.9), width_ratios=(1.15, 1.0))
    grades = [grade for grade in answers_by_side.index if grade > 0]
    places = np.arange(len(grades))
    width = 0.38
    for offset, sign, colour, name in ((-0.5, -1, _LEFT, "left"), (0.5, 1, _RIGHT, "right")):
        values = 100 * answers_by_side.share.reindex([sign * grade for grade in grades]).to_numpy()
        bars = shares.bar(places + offset * width, values, width, color=colour, label=f"preferred the {name}")
        shares.bar_label(bars, fmt="%.1f", fontsize=7.5, padding=1.5)
    names = {1: ["preference"], 2: ["slight", "clear"], 3: ["slight", "middling", "clear"]}
    words = names.get(len(grades), [f"grade {grade}" for grade in grades])
    if 0 in answers_by_side.index:
        bars = shares.bar(len(grades), 100 * answers_by_side.share[0], width, color=_TIE)
        shares.bar_label(bars, fmt="%.1f", fontsize=7.5, padding=1.5)
        words = [*words, "none"]
    shares.set_xticks(range(len(words)), words)
    shares.set(ylabel="answers (%)", title="Answers by side", ylim=(0, 1.32 * 100 * answers_by_side.share.max()))
    shares.legend(loc="upper right", ncols=2, fontsize=7.5)
    shares.grid(axis="x", visible=False)
    rows = terms.xs("left_bias", level="term")
    for place, row in enumerate(rows.itertuples()):
        points = row.elo / row.value if row.value else 0.0
        half = 1.96 * row.sd * points if np.isfinite(row.sd) else None
        pulls.errorbar(row.elo, place, xerr=half, fmt="o" if half else "D", color=_INK, capsize=3, markersize=5)
        if half is None:
            pulls.annotate(
                "no interval", (row.elo, place), xytext=(7, 0), textcoords="offset points", va="center", fontsize=7.5
            )
    pulls.axvline(0, color="#9aa3ad", linewidth=1)
    reach = 1.15 * max(abs(limit) for limit in pulls.get_xlim())
    pulls.set_yticks(range(len(rows)), rows.index)
    pulls.set(
        xlabel="pull to the left (Elo points)", title="Fitted term", xlim=(-reach, reach),
        ylim=(len(rows) - 0.5, -0.5),
    )  # fmt: skip
    pulls.grid(axis="y", visible=False)
    return figure


def sensitivity_figure(weights):
    """Elo scores under other weights, with one standard deviation over people: what the ranking owes to them.

    Parameters
    ----------
    weights : data frame
        ``RankingReport.weights``.
    """
    import matplotlib.pyplot as plt

    kinds = [kind for kind in ("growth", "tie") if kind in set(weights.varied)]
    if not kinds:
        raise ValueError("weights: this scale has a single grade and no tie, so there is nothing to vary")
    figure, panels = plt.subplots(1, len(kinds), figsize=(3.7 * len(kinds), 3.4), sharey=True, squeeze=False)
    own = weights[weights.own]
    colours = _colours(own[own.varied == kinds[0]].sort_values("elo", ascending=False).system)
    labels = {"growth": "weight of a grade / of the one below", "tie": "weight of a tie / of a slight preference"}
    for axes, kind in zip(panels[0], kinds, strict=True):
        part = weights[weights.varied == kind]
        for name, colour in colours.items():
            line = part[part.system == name].sort_values("value")
            axes.fill_between(line.value, line.elo - line.sd, line.elo + line.sd, color=colour, alpha=0.18, linewidth=0)
            axes.plot(line.value, line.elo, "o-", color=colour, markersize=3, label=name)
        axes.axvline(part.value[part.own].iloc[0], color="#9aa3ad", linewidth=1, linestyle="--")
        axes.set(xlabel=labels[kind])
    axes.plot([], [], "--", color="#9aa3ad", linewidth=1, label="this study's")
    panels[0, 0].set_ylabel("Elo score")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper center", ncols=min(6, len(colours) + 1))
    return figure


def planner_figure(plans, marked=None):
    """Raters needed against the difference to be told apart, one line per model (both axes logarithmic).

    Parameters
    ----------
    plans : data frame
        ``difference`` (Elo points of the simulating scores), ``model`` and ``raters``.
    marked : int, optional
        A number of raters to mark, that of the study at hand.
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(5.6, 3.2))
    for model, part in plans.groupby("model", sort=False):
        axes.plot(part.difference, part.raters, "o-", markersize=3.5, label=model)
    if marked:
        axes.axhline(marked, color="#9aa3ad", linewidth=1, linestyle="--")
        axes.annotate(
            f"{marked} raters", (1.0, marked), xycoords=("axes fraction", "data"), xytext=(-4, 3),
            textcoords="offset points", ha="right", fontsize=8,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log", xlabel="difference (Elo points)", ylabel="raters")
    ticks = [10, 20, 50, 100, 200, 400]
    shown = [tick for tick in ticks if plans.difference.min() <= tick <= plans.difference.max()]
    axes.set_xticks(shown, [str(tick) for tick in shown])
    axes.minorticks_off()
    axes.legend(title="fit")
    return figure
