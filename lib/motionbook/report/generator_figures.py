"""Figures of generated motion: seams and their repair, how systems move, and where they fail."""

from collections.abc import Mapping, Sequence

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.correction import KERNEL, gaussian_smoothed, repair_between_keys, two_steps
from motionbook.inbetweening.motion_panels import BANDS
from motionbook.inbetweening.seams import jumps
from motionbook.report.theme import CYCLE, SYSTEM_COLOURS, system_colour

_BEFORE, _MIDDLE, _AFTER, _OTHER = SYSTEM_COLOURS["GT"], CYCLE[1], CYCLE[0], CYCLE[4]
_PANELS = {
    "foot_skate_cm_s": "foot skate [cm/s]",
    "jerk_m_s3": "jerk [m/s$^3$]",
    "ldlj": "log dimensionless jerk",
}


def two_step_figure(clip: Clip, junctions: Sequence[int], *, joint: str | None = None, before: int = 20):
    """One rotation as made, after the shift, and after the inverse has been spread (after StayStill, Figure 5).

    Parameters
    ----------
    clip : Clip
        Uncorrected segments, see ``autoregression.fill_segments``.
    junctions : frames
        First frames of the segments.
    joint : str, optional
        The joint with the largest jump when left out.
    before : int
        Frames shown before the junction with the joint's largest jump; after it the segment is shown to its end.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    number, seam = _largest_jump(clip, junctions, joint)
    # the curves are those of the segment at this seam: everything before it has been repaired already
    made = corrected_until(clip, junctions, seam)
    curves = _curves((made, *two_steps(made, [j for j in junctions if j >= seam])), number, seam)
    end = next((j for j in junctions if j > seam), len(clip))
    frames = np.arange(max(seam - before, 0), end)
    figure, axes = plt.subplots(figsize=(7.0, 3.2))
    styles = (
        (curves[0], _BEFORE, "as made", 1.8, "-"),
        (curves[1], _MIDDLE, "step 1: the segment shifted to follow on", 1.8, "-"),
        (curves[2], _AFTER, "step 2: the inverse spread over the segment", 2.2, "-"),
    )
    after = frames[frames >= seam]
    axes.plot(frames[frames < seam], curves[0][frames[frames < seam]], color=_BEFORE, linewidth=1.8)
    for curve, colour, label, width, style in styles:
        axes.plot(after, curve[after], color=colour, label=label, linewidth=width, linestyle=style)
    axes.axvline(seam - 0.5, color="#9aa3ad", linewidth=0.9, linestyle=":")
    axes.set(
        xlabel="frame (30 per second)",
        ylabel="turn [degrees]",
        title=f"{clip.skeleton.names[number]}, seam at frame {seam}",
        xlim=(frames[0], frames[-1]),
    )
    axes.legend(loc="best")
    return figure


def corrected_until(clip: Clip, junctions: Sequence[int], seam: int) -> Clip:
    """The clip with the junctions before ``seam`` repaired as published and nothing done from ``seam`` on."""
    earlier = [j for j in junctions if j < seam]
    if not earlier:
        return clip
    _, repaired = two_steps(clip, earlier)
    rotations = np.concatenate([repaired.rotations[:seam], clip.rotations[seam:]])
    places = np.concatenate([repaired.root_positions[:seam], clip.root_positions[seam:]])
    return Clip(clip.skeleton, places, rotations, clip.fps)


def smoothing_figure(
    clip: Clip, recorded: Clip, junctions: Sequence[int], keys: Sequence[int], *, joint: str | None = None
):
    """A seam under the repairs and under a Gaussian kernel (after StayStill, Figure 6), and the speed of the turn.

    Parameters
    ----------
    clip, recorded : Clip
        Uncorrected segments, and the recording whose key poses they should pass through.
    junctions, keys : frames
    joint : str, optional
        The joint with the largest jump when left out.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    number, seam = _largest_jump(clip, junctions, joint)
    _, published = two_steps(clip, junctions)
    versions = {
        "as made": (clip, _BEFORE, 1.4),
        f"Gaussian, {KERNEL} frames": (gaussian_smoothed(clip), _OTHER, 1.8),
        "published, two steps": (published, _MIDDLE, 1.8),
        "between key poses": (repair_between_keys(clip, recorded, keys), _AFTER, 2.2),
    }
    frames = np.arange(max(seam - 15, 1), min(seam + 16, len(clip)))
    curves = _curves([v[0] for v in versions.values()], number, seam)
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 3.2))
    for (label, (version, colour, width)), curve in zip(versions.items(), curves, strict=True):
        left.plot(frames, curve[frames], color=colour, linewidth=width, label=label)
        step = rot.angle_between(version.rotations[frames, number], version.rotations[frames - 1, number])
        right.plot(frames, np.rad2deg(step), color=colour, linewidth=width)
    inside = [k for k in keys if frames[0] <= k <= frames[-1]]
    truth = _curves([clip, recorded[: len(clip)]], number, seam)[1]
    left.plot(inside, truth[inside], "D", color=SYSTEM_COLOURS["0-velocity"], label="key pose", markersize=6, zorder=5)
    left.set(xlabel="frame", ylabel="turn [degrees]", title=f"{clip.skeleton.names[number]} at the seam")
    right.set(xlabel="frame", ylabel="step [degrees per frame]", title="How fast it turns", ylim=(0, None))
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure


def motion_panel_figure(summary, spectra):
    """Foot skate and jitter by system with 95 % intervals over clips, and the spectrum of joint velocities.

    Parameters
    ----------
    summary : data frame
        From ``motion_panels.motion_summary``.
    spectra : data frame
        From ``motion_panels.mean_spectra``.
    """
    import matplotlib.pyplot as plt

    systems = list(dict.fromkeys(summary.system))
    figure, panels = plt.subplot_mosaic([[*_PANELS], ["spectrum"] * 3], figsize=(7.4, 2.2 + 0.24 * len(systems) + 2.4))
    for measure, title in _PANELS.items():
        axes = panels[measure]
        rows = summary[summary.measure == measure].set_index("system")
        for i, system in enumerate(systems):
            row, colour = rows.loc[system], system_colour(system, i)
            if np.isfinite(row.low):
                axes.plot([row.low, row.high], [i, i], color=colour, linewidth=2.2, solid_capstyle="round")
            axes.plot(row["mean"], i, "o", color=colour, markersize=6)
        if "GT" in systems and np.isfinite(rows.loc["GT", "mean"]):
            axes.axvline(rows.loc["GT", "mean"], color=SYSTEM_COLOURS["GT"], linewidth=0.9, linestyle=":")
        axes.set(title=title, ylim=(len(systems) - 0.5, -0.5), yticks=range(len(systems)))
        axes.set_yticklabels(systems if axes is panels[next(iter(_PANELS))] else [])
        axes.grid(visible=False, axis="y")
        if measure != "ldlj":
            axes.set_xscale("log")  # a lower anchor that shakes is hundreds of times above the rest
            axes.minorticks_off()
    axes = panels["spectrum"]
    for i, system in enumerate(systems):
        part = spectra[(spectra.system == system) & (spectra.frequency > 0)]
        colour = system_colour(system, i)
        power = _by_octave(part.frequency.to_numpy(), part.power.to_numpy())
        axes.plot(*power, color=colour, label=system, linewidth=2.2 if system == "GT" else 1.6)
    top = BANDS[-1][1]
    axes.set(xscale="log", yscale="log", xlim=(0.15, top), xlabel="frequency [Hz]", title="power of joint velocities")
    axes.set(ylabel="(cm/s)$^2$ per Hz")
    axes.set_xticks([0.2, 0.5, 1, 2, 5, 10, 15], labels=["0.2", "0.5", "1", "2", "5", "10", "15"])
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _by_octave(frequency, power, per_octave: int = 6):
    """Means over steps of equal ratio, so that a log axis is not a thicket at its right."""
    number = np.floor(np.log2(frequency / frequency[0]) * per_octave + 1e-9)
    groups = [number == n for n in np.unique(number)]
    return np.array([frequency[g].mean() for g in groups]), np.array([power[g].mean() for g in groups])


def failures_figure(maps: Mapping[str, np.ndarray], joints: Sequence[str], *, unit: str = "cm"):
    """Joint by frame, mean error over all windows, one map per system on one scale.

    Parameters
    ----------
    maps : mapping of system to (frames, joints)
        From ``failures.error_maps``.
    joints : names of the joints
    unit : str
        What the errors are in.
    """
    import matplotlib.pyplot as plt

    columns = 5 if len(maps) > 8 else min(len(maps), 4)
    lines = -(-len(maps) // columns)
    figure, panels = plt.subplots(
        lines,
        columns,
        figsize=(1.9 + 6.2 * columns / max(columns, 4), 0.5 + 2.9 * lines),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    top = max(float(m.max()) for m in maps.values())
    for axes in panels.ravel()[len(maps) :]:
        axes.set_axis_off()
    for i, (axes, (system, errors)) in enumerate(zip(panels.ravel(), maps.items(), strict=False)):
        length = len(errors)
        picture = axes.imshow(
            errors.T, aspect="auto", vmin=0.0, vmax=top, extent=(0.5, length + 0.5, len(joints) - 0.5, -0.5)
        )
        axes.set_title(system, color=system_colour(system, i))
        axes.set_xticks([1, *range(10, length - 8, 10), length])
        axes.grid(visible=False)
    panels[0, 0].set_yticks(range(len(joints)))
    for axes in panels[:, 0]:
        axes.set_yticklabels(joints, fontsize=7)
    figure.supxlabel("frame of the gap", fontsize=9.5)
    figure.colorbar(picture, ax=panels, label=f"mean error [{unit}]", shrink=0.7)
    return figure


def _largest_jump(clip: Clip, junctions: Sequence[int], joint: str | None) -> tuple[int, int]:
    """Joint and junction of the largest jump; the last junction is left out when there are others."""
    seams = list(junctions)[:-1] or list(junctions)
    found = jumps(clip, seams)
    if joint is not None:
        number = clip.skeleton.index(joint)
        return number, int(seams[found[:, number].argmax()])
    seam, number = np.unravel_index(found.argmax(), found.shape)
    return int(number), int(seams[seam])


def _curves(clips: Sequence[Clip], joint: int, seam: int) -> list[np.ndarray]:
    """Degrees by frame along the axis of the first clip's jump, from its pose just before the seam."""
    first = clips[0].rotations[:, joint]
    origin = rot.inverse(first[seam - 1])
    axis = rot.to_rotation_vector(rot.multiply(origin, first[seam]))
    axis = axis / max(float(np.linalg.norm(axis)), 1e-12)
    return [np.rad2deg(rot.to_rotation_vector(rot.multiply(origin, c.rotations[:, joint])) @ axis) for c in clips]
