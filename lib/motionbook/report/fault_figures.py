"""Figures of the fault rules: what each removes from one clip, and which of the faults put in each finds."""

from motionbook.cleaning import motion_signals as signals
from motionbook.cleaning.faults import find_faults, runs
from motionbook.cleaning.injection import KINDS
from motionbook.clip import Clip
from motionbook.report.theme import CYCLE, PUBLISHED_COLOUR

_COLOURS = {"published": PUBLISHED_COLOUR, "robust": CYCLE[0]}
_WORDS = {"published": "published rule", "robust": "robust rule"}


def removal_figure(clip: Clip, title: str = "", joints: tuple[str, ...] = ()):
    """Speed of a clip's joints over time, and below what the published and the robust rule remove of it.

    Parameters
    ----------
    clip : Clip
    title : str
    joints : tuple of str
        Joints whose speed against their parents is drawn, end sites as "forearm.L end"; the two fastest when left out.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    import numpy as np

    points = signals.body_points(clip.skeleton)
    speed = signals.speeds(signals.bone_paths(signals.point_places(clip, points), points), clip.fps)
    names = joints or [points.names[i] for i in np.argsort(-np.quantile(speed, 0.999, axis=-1))[:2]]
    seconds = np.arange(len(clip)) / clip.fps
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(7.6, 3.7), sharex=True, gridspec_kw={"height_ratios": [3.0, 1.0]}
    )
    for name, colour in zip(names, (CYCLE[1], CYCLE[2], CYCLE[3]), strict=False):
        above.plot(seconds, speed[points.names.index(name)], color=colour, linewidth=0.8, label=_plain(name))
    above.set_ylabel("speed against\nparent [m/s]")
    above.set_ylim(0, 1.2 * max(above.dataLim.y1, 1e-3))  # room for the legend
    above.legend(loc="upper right", ncols=2)
    above.set_title(title)
    for row, method in enumerate(_COLOURS):
        faults = find_faults(clip, method=method)
        share = 100 * faults.removed / max(len(clip), 1)
        gone = [(a / clip.fps, (b - a) / clip.fps) for a, b in runs(faults.removed_mask())]
        hit = [(f.start / clip.fps, (f.stop - f.start) / clip.fps) for f in faults.faults]
        # frames that only fall because their run is too short to keep are lighter
        for spans, shade in ((gone, 0.35), (hit, 1.0)):
            below.broken_barh(spans, (0.6 - row, 0.8), color=_COLOURS[method], alpha=shade, linewidth=0)
        below.text(1.01, 1.0 - row, f"{share:.1f} %", transform=below.get_yaxis_transform(), va="center", size=8.5)
    below.set(ylim=(-0.6, 1.6), yticks=[1.0, 0.0], yticklabels=list(_WORDS.values()), xlabel="time [s]")
    below.set_xlim(0, clip.duration)
    below.grid(axis="y", visible=False)
    return figure


def _plain(name: str) -> str:
    return name.removesuffix(" end") + (" to its end" if name.endswith(" end") else "")


def scores_figure(table):
    """Events found, how much of what is flagged is one, and good frames lost, by kind of fault.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `motionbook.cleaning.fault_experiment.precision_table`, rules "published" and "robust".

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    import numpy as np

    kinds = [kind for kind in table.index if kind in KINDS]
    shown = [*kinds, "all"]
    where = np.array([*range(len(kinds)), len(kinds) + 0.4])
    panels = {
        "events found": "a  faults found [%]",
        "stretches right": "b  flags that are faults [%]",
        "good frames lost": "c  good frames lost [%]",
    }
    figure, axes = plt.subplots(1, 3, figsize=(8.4, 4.0), sharey=True)
    for axis, (quantity, words) in zip(axes, panels.items(), strict=True):
        for row, (method, colour) in enumerate(_COLOURS.items()):
            values = table.loc[shown, (quantity, method)].to_numpy(float)
            axis.barh(where + 0.19 * (2 * row - 1), values, 0.36, color=colour, label=_WORDS[method])
        axis.set_title(words, fontsize=9)
        axis.grid(axis="y", visible=False)
        axis.set_xlim(0, 104 if quantity != "good frames lost" else None)
    axes[0].set(yticks=where, yticklabels=[*kinds, "all kinds"])
    axes[0].invert_yaxis()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    return figure
