"""Figures of rating studies: scores by strength with marks of differences, a pilot's answers, the raters themselves."""

import numpy as np

from motionbook.report.study_figures import _ANSWER_COLOURS, _ANSWERS
from motionbook.report.theme import CYCLE

_INK, _QUIET = "#15191e", "#8a929c"


def stars(p: float) -> str:
    """The paper's marks: "***" below 0.001, "**" below 0.01, "*" below 0.05, else "n.s."."""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "n.s."


def strength_figure(ratings, comparisons, *, titles=None, pairs: str = "neighbours"):
    """Share of each answer and MOS by strength for every distortion, with marks of differences (4DHumanQA, Figure 5).

    Bars are shares of answers; dots the mean over people of each person's mean, with its 95 % interval (Student's t),
    so that somebody's many scores do not count as many people. Brackets join strengths and carry the mark of their
    difference; strengths further apart are told in words below the title.

    Parameters
    ----------
    ratings : data frame
        ``participant``, ``distortion``, ``strength`` (1..n), ``score`` (whole points).
    comparisons : data frame
        ``rating_report(...).comparisons``: indexed by distortion, a and b, with ``p_adjusted``.
    titles : mapping of distortion to panel title, optional
    pairs : {"neighbours", "all"}

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    from scipy import stats

    kinds = list(dict.fromkeys(comparisons.index.get_level_values(0)))
    columns = min(3, len(kinds))
    rows = -(-len(kinds) // columns)
    low, high = int(ratings.score.min()), int(ratings.score.max())
    low, high = min(low, 1), max(high, 5)
    reach = high - low
    top = high + reach * (0.17 if pairs == "neighbours" else 0.92)
    size = (2.55 * columns + 0.3, (2.55 if pairs == "neighbours" else 3.5) * rows + 0.8)
    figure, panels = plt.subplots(rows, columns, figsize=size, sharex=True, sharey=True, squeeze=False)
    points = np.arange(low, high + 1)
    colours = _ANSWER_COLOURS if len(points) == 5 else plt.get_cmap("RdYlBu_r")(np.linspace(0.08, 0.92, len(points)))
    for axes, kind in zip(panels.flat, kinds, strict=False):
        part = ratings[ratings.distortion == kind]
        levels = sorted(part.strength.unique())
        place = {level: i + 1 for i, level in enumerate(levels)}
        below = np.zeros(len(levels))
        for colour, point in zip(colours, points, strict=True):
            share = part.assign(hit=np.rint(part.score) == point).groupby("strength").hit.mean().to_numpy()
            axes.bar(range(1, len(levels) + 1), reach * share, bottom=low + reach * below, width=0.8, color=colour)
            below = below + share
        person = (
            part.groupby(["participant", "strength"]).score.mean().groupby("strength").agg(["mean", "std", "count"])
        )
        half = stats.t.ppf(0.975, person["count"] - 1) * person["std"] / np.sqrt(person["count"])
        axes.errorbar(
            range(1, len(levels) + 1), person["mean"], yerr=half, fmt="o-", color=_INK, markersize=3.5, linewidth=1.2
        )
        axes.set_title((titles or {}).get(kind, kind), pad=16 if pairs == "neighbours" else 6)
        axes.grid(visible=False)
        axes.spines["left"].set_bounds(low, high)
        _brackets(axes, comparisons.loc[kind], place, high, reach, pairs)
    for axes in panels.flat[len(kinds) :]:
        axes.set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel("strength")
    for axes in panels[:, 0]:
        axes.set(ylabel="mean opinion score", ylim=(low, top), yticks=points)
    handles = [plt.Rectangle((0, 0), 1, 1, color=colour) for colour in colours]
    names = _ANSWERS if len(points) == 5 else [f"{point:g}" for point in points]
    figure.legend(handles, names, loc="outside lower center", ncols=5, fontsize=7.5, title="share of answers (bars)")
    return figure


def _brackets(axes, table, place, high, reach, pairs: str) -> None:
    further = []
    level = 0
    rows = sorted(table.itertuples(), key=lambda row: (place[row.Index[1]] - place[row.Index[0]], place[row.Index[0]]))
    for row in rows:
        a, b = (place[name] for name in row.Index)
        mark = stars(row.p_adjusted)
        if b - a > 1 and pairs == "neighbours":
            further.append((f"{row.Index[0]}\N{EN DASH}{row.Index[1]}", mark))
            continue
        if b - a > 1:
            level += 1
        y = high + reach * (0.045 + 0.115 * level)
        axes.plot([a + 0.1, b - 0.1], [y, y], color=_INK, linewidth=0.9, clip_on=False)
        raised = 0.0 if mark.startswith("*") else 0.02
        axes.text((a + b) / 2, y + reach * raised, mark, ha="center", va="bottom", size=7, color=_INK)
    if further:
        common = max({mark for _, mark in further}, key=[mark for _, mark in further].count)
        others = ", ".join(f"{pair} {mark}" for pair, mark in further if mark != common)
        words = f"further apart: {common}" + (f"; {others}" if others else "")
        axes.text(0.0, 1.02, words, transform=axes.transAxes, size=7, color=_QUIET, va="bottom")


def pilot_figure(ratings, tests=None, *, titles=None):
    """Least, greatest and distribution of a pilot's answers at every strength (4DHumanQA, Figure 6).

    Boxes span the middle half of the answers, thick bars are medians, whiskers reach the least and the greatest answer;
    the size of a dot is how many gave that answer.

    Parameters
    ----------
    ratings : data frame
        ``distortion``, ``strength`` (as applied), ``score``.
    tests : data frame, optional
        ``pilot_table(...)[0]``; its rows, in the order of the panels, are written above them.
    titles : mapping of distortion to title, optional
    """
    import matplotlib.pyplot as plt

    kinds = list(dict.fromkeys(ratings.distortion))
    figure, panels = plt.subplots(2, 3, figsize=(7.9, 4.9), sharey=True)
    for number, (axes, kind) in enumerate(zip(panels.flat, kinds, strict=False)):
        part = ratings[ratings.distortion == kind]
        levels = sorted(part.strength.unique(), reverse=kind == "moonwalk")
        for at, level in enumerate(levels):
            scores = part.score[part.strength == level]
            q1, median, q3 = scores.quantile([0.25, 0.5, 0.75])
            axes.plot([at, at], [scores.min(), scores.max()], color=_QUIET, linewidth=1.2, zorder=1)
            axes.bar(at, q3 - q1, bottom=q1, width=0.62, color="#cfe0ee", edgecolor=_QUIET, linewidth=0.8, zorder=2)
            axes.plot([at - 0.31, at + 0.31], [median, median], color=CYCLE[0], linewidth=2.6, zorder=3)
            counts = scores.value_counts()
            axes.scatter([at] * len(counts), counts.index, s=9 * counts, color=_INK, zorder=4, linewidths=0)
        axes.set_xticks(range(len(levels)), [f"{level:g}" for level in levels], rotation=90 if len(levels) > 6 else 0)
        axes.set_title((titles or {}).get(kind, kind), pad=15 if tests is not None else 6)
        axes.grid(axis="x", visible=False)
        axes.set(ylim=(0.7, 5.3), yticks=range(1, 6))
        if tests is not None:
            row = tests.iloc[number]
            p = "p < 0.001" if row.p < 0.001 else f"p = {row.p:.3f}"
            words = f"Friedman $\\chi^2$({row.df:.0f}) = {row.chi2:.1f}, {p}"
            axes.text(0.0, 1.02, words, transform=axes.transAxes, size=7.5, color=_QUIET, va="bottom")
    for axes in panels.flat[len(kinds) :]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel("score")
    for axes in panels[-1]:
        axes.set_xlabel("strength as applied")
    return figure


def raters_figure(raters):
    """Every rater's bias and inconsistency, and their correlation with all others (screening and the observer model).

    Parameters
    ----------
    raters : data frame of ``perception.rater_table``
    """
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.3))
    rejected, inverted = raters.rejected.astype(bool), raters.inverted.astype(bool)
    passed = ~rejected & ~inverted
    unrelated = raters.unrelated.astype(bool)
    ordered = raters.with_others.sort_values()
    place = {name: at for at, name in enumerate(ordered.index)}
    groups = (
        ("others", passed & ~unrelated, "o", _QUIET),
        ("no relation to the others", passed & unrelated, "^", CYCLE[0]),
        ("rejected by BT.500", rejected & ~inverted, "s", CYCLE[1]),
        ("scale turned round", inverted & ~rejected, "D", CYCLE[3]),
        ("rejected, scale turned round", inverted & rejected, "X", CYCLE[4]),
    )
    for label, mask, marker, colour in groups:
        if mask.any():
            chosen = raters[mask]
            left.plot(chosen.bias, chosen.inconsistency, marker, color=colour, label=label, markersize=6)
            right.plot([place[n] for n in chosen.index], chosen.with_others, marker, color=colour, markersize=5)
            if label != "others":
                spot = {"textcoords": "offset points", "size": 8, "va": "center"}
                for turn, (name, row) in enumerate(chosen.sort_values("bias").iterrows()):
                    # labels of two who lie close together go to either side
                    side = {"xytext": (-7, 0), "ha": "right"} if turn % 2 == 0 else {"xytext": (7, 0), "ha": "left"}
                    left.annotate(name, (row.bias, row.inconsistency), **spot, **side)
                    right.annotate(name, (place[name], row.with_others), **spot, xytext=(7, 0), ha="left")
    left.axvline(0, color="#c6ccd3", linewidth=1, zorder=0)
    right.axhline(0, color="#c6ccd3", linewidth=1, zorder=0)
    left.set(xlabel="bias (points)", ylabel="inconsistency (points)", ylim=(0, None), title="P.910 observer model")
    right.set(xlabel="raters, in order", ylabel="correlation with the others", ylim=(-1.05, 1.05), title="Correlation")
    right.set_xticks([])
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
