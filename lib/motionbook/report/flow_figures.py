"""Figures of sampled motion: a fan of samples between the same keys, and whether the truth lies where they say."""

from collections.abc import Mapping, Sequence

import numpy as np

from motionbook.inbetweening.baselines import LocalPose, slerp
from motionbook.inbetweening.sample_scores import COUNT, nominal_coverage
from motionbook.inbetweening.scoring import Predictor, world
from motionbook.inbetweening.windows import CONTEXT, FPS, Windows
from motionbook.report.theme import CYCLE, SYSTEM_COLOURS, system_colour

_SAMPLE = CYCLE[5]
_AXES = ("forward", "up", "to the right")  # windows head along +X; +Z is then to the right


def fan_figure(
    windows: Windows,
    transition: int,
    flow,
    systems: Mapping[str, Predictor] | None = None,
    *,
    which: Sequence[int] | None = None,
    joint: str = "RightHand",
    axis: int | None = None,
    count: int = COUNT,
    seed: int = 0,
):
    """One coordinate of a joint over time: context, truth, SLERP, deterministic systems and samples.

    Parameters
    ----------
    windows : Windows
    transition : int
    flow : system with ``sample``
    systems : mapping of name to predictor, optional
        Drawn beside SLERP.
    which : indices of windows, optional
        A panel each; left out: three windows in which the joint moves less, as much as, and more than in most.
    joint : str
    axis : 0, 1 or 2, optional
        Forward, up, or right; left out, the one in which the truth moves most.
    count, seed
        Of the samples.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    number = windows.skeleton.index(joint)
    end = CONTEXT + transition
    if which is None:
        truth = _places(windows, windows.root_positions, windows.rotations)[:, CONTEXT:end, number]
        # the middle of each third: typical windows, none chosen by eye
        order = np.argsort(np.ptp(truth, axis=1).max(axis=-1))
        which = [int(order[len(order) * part // 6]) for part in (1, 3, 5)]
    figure, panels = plt.subplots(1, len(which), figsize=(3.0 * len(which) + 0.6, 3.2), squeeze=False)
    for panel, window in zip(panels[0], which, strict=True):
        part = windows[window : window + 1]
        truth = _places(part, part.root_positions, part.rotations)[0, : end + 1, number]
        along = int(np.ptp(truth, axis=0).argmax()) if axis is None else axis
        time = (np.arange(end + 1) - CONTEXT + 1) / FPS
        inside = slice(CONTEXT - 1, end + 1)

        def through_keys(pose: LocalPose, part=part, truth=truth, along=along):
            made = _places(part, *pose)[0, :, number, along]
            return np.concatenate([truth[CONTEXT - 1 : CONTEXT, along], made, truth[end : end + 1, along]])

        drawn = flow.sample(part, transition, count, seed)
        for sample in zip(*drawn, strict=True):
            panel.plot(time[inside], through_keys(LocalPose(*sample)), color=_SAMPLE, linewidth=0.8, alpha=0.65)
        panel.plot([], [], color=_SAMPLE, linewidth=0.8, label=f"{count} samples")
        for index, (name, predict) in enumerate({"SLERP": slerp, **(systems or {})}.items()):
            colour = system_colour(name, index)
            style = "--" if name == "SLERP" else "-"
            panel.plot(time[inside], through_keys(predict(part, transition)), color=colour, linestyle=style, label=name)
        panel.plot(time, truth[:, along], color=SYSTEM_COLOURS["GT"], linewidth=2.0, label="recorded")
        panel.plot(time[[CONTEXT - 1, end]], truth[[CONTEXT - 1, end], along], "o", color="#22272e", markersize=4)
        panel.axvspan(time[0], 0.0, color="#9aa3ad", alpha=0.15, linewidth=0)
        panel.set(xlabel="time after the context [s]", title=f"window {window}\n{joint}, {_AXES[along]}")
    panels[0, 0].set_ylabel("place [cm]")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def calibration_figure(scores):
    """Coverage of the samples' range by transition length with every person, and diversity and best sample beside.

    Parameters
    ----------
    scores : pandas.DataFrame
        From ``sample_scores.sample_scores``.
    """
    import matplotlib.pyplot as plt

    nominal = 100.0 * nominal_coverage(scores.attrs["count"])
    lengths = sorted(scores.length.unique())
    at = np.arange(len(lengths))
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.3))
    people = 100.0 * scores.groupby(["length", "subject"]).coverage.mean().unstack("length")
    for row in people[lengths].to_numpy():
        left.plot(at, row, "o", color=_SAMPLE, markersize=4, alpha=0.8)
    left.plot([], [], "o", color=_SAMPLE, markersize=4, label="one person")
    mean = 100.0 * scores.groupby("length").coverage.mean()[lengths]
    left.plot(at, mean, "D-", color=CYCLE[0], label="all windows")
    left.axhline(nominal, color="#22272e", linestyle="--", linewidth=1.0, label=f"nominal {nominal:.1f} %")
    left.set(ylabel="truth within the range [%]", ylim=(min(50.0, people.min().min() - 3), 100.0))
    left.legend(loc="lower right", fontsize=8)
    means = scores.groupby("length")[["SLERP", "diversity", "best", "mean"]].mean().loc[lengths]
    bars = (
        ("mean", f"mean of {scores.attrs['count']}", CYCLE[0]),
        ("best", f"best of {scores.attrs['count']}", CYCLE[2]),
        ("diversity", "two samples apart", _SAMPLE),
    )
    for shift, (column, label, colour) in enumerate(bars):
        right.bar(at + 0.27 * (shift - 1), 100 * means[column] / means.SLERP, 0.25, color=colour, label=label)
    right.axhline(100.0, color=SYSTEM_COLOURS["SLERP"], linewidth=1.2)
    right.set(
        ylabel="L2P [% of SLERP's error]", ylim=(0, 1.35 * max(100.0, (100 * means.diversity / means.SLERP).max()))
    )
    right.legend(loc="upper center", ncols=3, fontsize=7, handlelength=1.0, columnspacing=0.7, handletextpad=0.5)
    for panel in (left, right):
        panel.set_xticks(at, [str(length) for length in lengths])
        panel.set_xlabel("transition [frames]")
        panel.set_xlim(-0.6, len(lengths) - 0.4)
    return figure


def _places(windows: Windows, root, rotations) -> np.ndarray:
    return world(windows, LocalPose(root, rotations)).positions
