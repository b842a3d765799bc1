"""Figures of the cleaning chapter: one pose on two skeletons, and the classes of a data set at a glance."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.report.figures import sheet_pictures
from motionbook.report.theme import CYCLE

_LIGHT = "#9fb2c6"
_LETTERS = 22  # that fit over a picture
_SIDES = {"left": CYCLE[4], "right": CYCLE[0], "": "#5f6b7a"}


def two_skeletons_figure(first: Clip, second: Clip, frame: int, labels: tuple[str, str]):
    """The same frame on two skeletons, from the front and from the person's left (after StayStill, Figure 2).

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(7.6, 4.0), sharey=True)
    for i, (clip, label) in enumerate(zip((first, second), labels, strict=True)):
        for k, view in enumerate(("front", "from the left")):
            _draw_joints(axes[2 * i + k], clip, frame, view)
            axes[2 * i + k].set_title(f"{'ab'[i]}  {label}" if k == 0 else "", fontsize=10)
            axes[2 * i + k].set_xlabel(view)
    axes[0].set_ylabel("height [m]")
    return figure


def _draw_joints(axes, clip: Clip, frame: int, view: str) -> None:
    places, turned = (x[0] for x in forward_kinematics(clip[frame : frame + 1]))
    skeleton = clip.skeleton
    segments = [(places[p], places[j], skeleton.names[j]) for j, p in enumerate(skeleton.parents) if p >= 0]
    for joint, offset in skeleton.end_offsets:
        if np.linalg.norm(offset) > 1e-6:
            segments.append((places[joint], places[joint] + rot.rotate(turned[joint], offset), skeleton.names[joint]))
    centre = places[0]
    for start, end, name in sorted(segments, key=lambda segment: not _side(segment[2])):
        # a camera in front of the person has their left on its right; from the left, ahead is to the left
        x = [(p - centre)[0] if view == "front" else -(p - centre)[2] for p in (start, end)]
        axes.plot(x, [start[1], end[1]], color=_SIDES[_side(name)], linewidth=3, solid_capstyle="round")
    x = places[:, 0] - centre[0] if view == "front" else centre[2] - places[:, 2]
    axes.plot(x, places[:, 1], "o", color="#22272e", markersize=3)
    axes.set(xlim=(-0.55, 0.55), ylim=(-0.05, 1.95), aspect="equal", xticks=[])
    axes.grid(axis="x", visible=False)


def _side(name: str) -> str:
    lower = name.lower()
    if lower.startswith("left") or lower.endswith(".l"):
        return "left"
    return "right" if lower.startswith("right") or lower.endswith(".r") else ""


def classes_figure(examples: Sequence[tuple[str, Clip, int]], columns: int = 5, inches: float = 1.5):
    """One capsule picture per class with its name below (after StayStill, Figure 3).

    Parameters
    ----------
    examples : sequence of (words, clip, frame)

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    columns = min(columns, len(examples))
    rows = int(np.ceil(len(examples) / columns))
    # recordings all, so all in the colour that stands for them, lighter: folds of the body show in it
    rows_of_one = [("GT", clip, [frame]) for _, clip, frame in examples]
    pictures = [row[0] for row in sheet_pictures(rows_of_one, pixels=420, colour=_LIGHT, each_front=True)]
    high = pictures[0].shape[0]
    pictures = [picture[round(0.05 * high) : round(0.93 * high)] for picture in pictures]
    shape = pictures[0].shape
    size = (inches * columns, rows * (inches * shape[0] / shape[1] + 0.22))
    figure, axes = plt.subplots(rows, columns, figsize=size, gridspec_kw={"wspace": 0, "hspace": 0})
    axes = np.atleast_1d(axes).ravel()
    for axis in axes:
        axis.set_axis_off()
    for axis, picture, (words, _, _) in zip(axes, pictures, examples, strict=False):
        axis.imshow(picture, interpolation="antialiased")
        lines = wrap(words, _LETTERS)[:2]
        axis.set_title(
            "\n".join(lines), fontsize=9.5 if lines == [words] else 7.5, fontweight="normal", loc="center", pad=2
        )
    return figure


def telling_frame(clip: Clip) -> int:
    """The frame whose pose is furthest from the clip's first, as the mean joint angle: the gesture at its height."""
    return int(rot.angle_between(clip.rotations, clip.rotations[:1]).mean(axis=1).argmax())


def example_clips(
    entries: Sequence[dict], words, order: Sequence[str] = (), few: int = 5, most: int = 21
) -> list[tuple[str, dict]]:
    """One clip per class of a listing; people take turns.

    Parameters
    ----------
    entries : sequence of dict
        Clips of ``dataset.json`` of one rig.
    words : function of (group, label)
        The class's name.
    order : sequence of str
        Of the classes; those not in it come last.
    few, most : int
        With fewer than ``few`` classes each take is shown instead, up to ``most``, by person and label.
    """
    classes: dict[str, list[dict]] = {}
    for entry in entries:
        classes.setdefault(words(entry["group"], entry["label"]), []).append(entry)
    if len(classes) < few:
        return [(_take_words(entry), entry) for entry in entries[:most]]
    place = {name: i for i, name in enumerate(order)}
    names = sorted(classes, key=lambda name: place.get(name, len(place)))
    return [(name, classes[name][i % len(classes[name])]) for i, name in enumerate(names)]


def _take_words(entry: dict) -> str:
    words = entry["subject"] if entry["label"] == entry["group"] else f"{entry['subject']} {entry['label']}"
    return words.replace("_", " ")


def paired_clip(entries: Sequence[dict]) -> list[tuple[str, str]]:
    """Rig and path of the first clip that a listing has on both rigs; of its first LaFAN1 clip when there is none."""
    paths = {entry["path"] for entry in entries}
    first = sorted(path for path in paths if path.startswith("lafan/"))
    for path in sorted(first, key=lambda p: (not p.startswith("lafan/idle/"), p)):
        other = path.replace("lafan/", "freemocap/", 1)
        if other in paths:
            return [("FreeMoCap", other), ("LaFAN1", path)]
    return [("LaFAN1", first[0])]


def clip_names(frame):
    """A table of clips by path with their bare names instead, where those are unique."""
    names = [str(name).rsplit("/", 1)[-1].removesuffix(".bvh") for name in frame.index]
    return frame.set_axis(names).rename_axis(frame.index.name) if len(set(names)) == len(names) else frame


PANELS = (
    ("speed [cm/s]", "a  speed\n[cm/s]"),
    ("still [%]", "b  still\n[% of time]"),
    ("head [deg]", "c  head\n[deg]"),
    ("arms [deg]", "d  arms\n[deg]"),
    ("trunk [deg]", "e  trunk\n[deg]"),
    ("legs [deg]", "f  legs\n[deg]"),
)


def statistics_figure(table, groups: Sequence[str] = ()):
    """Small multiples of `motionbook.cleaning.motion_statistics.class_statistics`: a row per class of motion.

    Parameters
    ----------
    table : pandas.DataFrame
    groups : sequence of str
        Rows that stand for a whole part of the data set; their bars are dark and they come last.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    names = [*(n for n in table.index if n not in groups), *(n for n in groups if n in table.index)]
    table = table.loc[names]
    where = np.arange(len(names)) + 0.5 * np.array([n in groups for n in names])
    bands = [column for column in table.columns if column.endswith("Hz [%]")]
    figure, axes = plt.subplots(
        1,
        len(PANELS) + 1,
        figsize=(9.6, 1.5 + 0.2 * len(names)),
        sharey=True,
        gridspec_kw={"width_ratios": [1.0] * len(PANELS) + [1.6], "wspace": 0.08},
    )
    colours = [CYCLE[0] if n in groups else _LIGHT for n in names]
    for axis, (column, words) in zip(axes, PANELS, strict=False):
        axis.barh(where, table[column].to_numpy(float), 0.74, color=colours)
        axis.set_title(words, fontsize=8.5)
        axis.grid(axis="y", visible=False)
        axis.tick_params(axis="x", labelsize=7.5)
    left = np.zeros(len(names))
    for band, colour in zip(bands, (CYCLE[6], CYCLE[1], CYCLE[4], CYCLE[2]), strict=False):
        share = table[band].fillna(0.0).to_numpy(float)
        axes[-1].barh(where, share, 0.74, left=left, color=colour, label=band.removesuffix(" [%]"))
        left += share
    axes[-1].set_title("g  energy by frequency\n[%]", fontsize=8.5)
    axes[-1].set_xlim(0, 100)
    axes[-1].grid(axis="y", visible=False)
    axes[-1].tick_params(axis="x", labelsize=7.5)
    axes[0].set_yticks(where, [name.removeprefix("Action: ") for name in names], fontsize=8.5)
    axes[0].invert_yaxis()
    handles, words = axes[-1].get_legend_handles_labels()
    figure.legend(handles, words, loc="outside lower right", ncols=len(bands), fontsize=8)
    return figure


def balance_figure(balance):
    """Minutes of every fold's training, validation and test set; of `motionbook.cleaning.summary.fold_balance`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7.6, 1.1 + 0.28 * len(balance)))
    where, left = np.arange(len(balance)), np.zeros(len(balance))
    parts = (("train", _LIGHT, "#22272e"), ("validation", CYCLE[1], "#22272e"), ("test", CYCLE[0], "#ffffff"))
    for part, colour, ink in parts:
        minutes = balance[f"{part} minutes"].to_numpy(float)
        axis.barh(where, minutes, 0.72, left=left, color=colour, label=part)
        for y, x, wide, people in zip(where, left, minutes, balance[f"{part} people"], strict=True):
            if wide > 0.06 * (left + minutes).max():
                axis.text(
                    x + wide / 2,
                    y,
                    f"{people} {'person' if people == 1 else 'people'}",
                    ha="center",
                    va="center",
                    fontsize=8,
                    color=ink,
                )
        left += minutes
    axis.set(yticks=where, yticklabels=[f"fold {name}" for name in balance.index], xlabel="minutes")
    axis.grid(axis="y", visible=False)
    axis.invert_yaxis()
    figure.legend(*axis.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure
