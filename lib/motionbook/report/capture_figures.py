"""Figures of the capture chapter: the room with its cameras, what they see, and what each cleaning step does."""

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.assembly import with_virtual_points
from motionbook.capture.cameras import camera_centre
from motionbook.capture.landmarks import Landmarks
from motionbook.capture.session import Take
from motionbook.report.theme import CYCLE, SYSTEM_COLOURS

# Landmarks that are joined by lines in a picture
_LINES = (
    ("left_shoulder", "left_elbow", "left_wrist"),
    ("right_shoulder", "right_elbow", "right_wrist"),
    ("left_hip", "left_knee", "left_ankle", "left_foot_index"),
    ("right_hip", "right_knee", "right_ankle", "right_foot_index"),
    ("left_shoulder", "right_shoulder", "right_hip", "left_hip", "left_shoulder"),
    ("left_ear", "nose", "right_ear"),
)


def camera_figure(cameras, take: Take, frame: int):
    """Plan of the recording area (after StayStill, Figure 1) beside the middle of every camera's picture in one frame.

    Parameters
    ----------
    cameras : sequence of Camera
    take : Take
    frame : int

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    columns = int(np.ceil(len(cameras) / 2))
    figure = plt.figure(figsize=(7.6, 4.7))
    left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1.0])
    _plan(left.subplots(), cameras, take.truth, frame)
    views = np.ravel(right.subplots(2, columns))
    boxes = [_seen_box(take, i, frame) for i in range(len(cameras))]
    size = max(np.ptp(box, axis=0).max() for box in boxes) + 40
    for axes in views[len(cameras) :]:
        axes.set_axis_off()
    for i, (axes, camera) in enumerate(zip(views, cameras, strict=False)):
        dots = _view(axes, camera, take, i, frame, boxes[i].mean(axis=0), size)
    bar = right.colorbar(dots, ax=list(views), location="bottom", shrink=0.8, aspect=28, pad=0.03)
    bar.set_label("confidence of the detector", size=9)
    return figure


def _plan(axes, cameras, truth: Landmarks, frame: int) -> None:
    from matplotlib.patches import Circle

    for camera in cameras:
        place = camera_centre(camera)[[0, 2]]
        half = np.arctan(0.5 * camera.size[0] / camera.intrinsics[0, 0])
        ahead = rot.rotate(rot.inverse(camera.rotation), [0.0, 0.0, 1.0])
        heading = np.arctan2(ahead[0], ahead[2])
        edges = [place + 1.1 * np.array([np.sin(a), np.cos(a)]) for a in (heading - half, heading + half)]
        axes.fill(*zip(place, *edges, strict=True), color=CYCLE[0], alpha=0.12, linewidth=0)
        axes.plot([place[0], 0], [place[1], 0], color="#9aa2ac", linewidth=0.7, linestyle=":", zorder=0)
        axes.plot(*place, "s", color=CYCLE[0], markersize=8)
        axes.text(place[0], place[1] + 0.24, camera.name, ha="center", va="bottom", size=9)
    distance = np.linalg.norm(camera_centre(cameras[0])[[0, 2]])
    axes.add_patch(Circle((0, 0), 0.9, fill=False, color="#9aa2ac", linewidth=1, linestyle="--"))
    points = {name: place[frame][[0, 2]] for name, place in with_virtual_points(truth).items()}
    _person_from_above(axes, points, 0.45)
    closer = axes.inset_axes([-3.4, -2.35, 2.0, 2.0], transform=axes.transData)
    _person_from_above(closer, points, 1.6)
    closer.set(xlim=(-0.42, 0.42), ylim=(-0.42, 0.42), xticks=[], yticks=[], aspect="equal")
    closer.grid(False)
    for spine in closer.spines.values():
        spine.set_visible(True)
    axes.indicate_inset_zoom(closer, edgecolor="#6b7480")
    axes.text(-0.75, -2.3, "performer from above,\nenlarged", ha="left", va="bottom", size=9)
    axes.text(0.72, -0.7, "recording area", ha="left", va="top", size=9)
    axes.text(0.0, distance * 0.55, f"{distance:.1f} m", ha="center", va="center", size=9, color="#4b5560")
    axes.set(
        xlim=(-3.5, 3.5), ylim=(-2.5, 3.7), aspect="equal", xlabel="x [m], the performer's left", ylabel="z [m], ahead"
    )
    axes.set_title("Plan")
    axes.grid(False)


def _person_from_above(axes, points, scale: float) -> None:
    """Feet, arms, trunk and head with its nose, from the places (x, z) of landmarks; lines as wide as ``scale``."""
    from matplotlib.patches import Circle, Ellipse

    for side in ("left", "right"):
        foot = np.array([points[f"{side}_{name}"] for name in ("heel", "foot_index")])
        axes.plot(*foot.T, color=CYCLE[6], linewidth=9 * scale, solid_capstyle="round", zorder=3)
        arm = np.array([points[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist")])
        axes.plot(*arm.T, color="#c98a00", linewidth=7 * scale, solid_capstyle="round", zorder=4)
    shoulders = points["left_shoulder"] - points["right_shoulder"]
    middle = 0.5 * (points["left_shoulder"] + points["right_shoulder"])
    turn = np.rad2deg(np.arctan2(shoulders[1], shoulders[0]))
    axes.add_patch(Ellipse(middle, np.linalg.norm(shoulders) + 0.08, 0.2, angle=turn, color=CYCLE[1], zorder=5))
    head = points["head_center"]
    ahead = (points["nose"] - head) / max(np.linalg.norm(points["nose"] - head), 1e-6)
    axes.plot(*np.array([head, head + 0.12 * ahead]).T, color="#22272e", linewidth=3 * scale, zorder=6)
    axes.add_patch(Circle(head, 0.085, facecolor="#ffffff", edgecolor="#22272e", linewidth=1.6 * scale, zorder=7))


def _seen_box(take: Take, index: int, frame: int) -> np.ndarray:
    """Least and greatest pixel of what a camera sees in a frame, (2, 2)."""
    pixels = take.seen.pixels[index, frame]
    return np.array([np.nanmin(pixels, axis=0), np.nanmax(pixels, axis=0)])


def _view(axes, camera, take: Take, index: int, frame: int, centre, size: float):
    seen = dict(zip(take.seen.names, take.seen.pixels[index, frame], strict=True))
    for chain in _LINES:
        line = np.array([seen[name] for name in chain])
        axes.plot(line[:, 0], line[:, 1], color="#b3bac2", linewidth=1.6, zorder=1)
    pixels = take.seen.pixels[index, frame]
    dots = axes.scatter(
        *pixels.T,
        c=take.seen.confidence[index, frame],
        vmin=0.6,
        vmax=1.0,
        s=13,
        linewidth=0,
        cmap="plasma_r",
        zorder=3,
    )
    lost = np.isnan(pixels[:, 0]).sum()
    wide = 0.31 * size
    axes.set(xlim=(centre[0] - wide, centre[0] + wide), ylim=(centre[1] + 0.5 * size, centre[1] - 0.5 * size))
    axes.set(aspect="equal", xticks=[], yticks=[])
    axes.set_title(camera.name + (f", {lost} lost" if lost else ""), fontsize=9, fontweight="normal")
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(True)
    return dots


def steps_figure(take: Take, landmark: str = "right_wrist", seconds: float = 4.0):
    """Height of one landmark over time: true, triangulated, filtered; and its error.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt

    index = take.truth.names.index(landmark)
    frames = min(len(take.truth.positions), round(seconds * take.truth.fps))
    time = np.arange(frames) / take.truth.fps
    truth = take.truth.positions[:frames, index]
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(6.6, 3.6), sharex=True, height_ratios=[2, 1])
    upper.plot(time, 100 * truth[:, 1], color=SYSTEM_COLOURS["GT"], linewidth=3.2, alpha=0.55, label="performer")
    for label, points, colour in (("triangulated", take.raw, CYCLE[4]), ("filled and filtered", take.smooth, CYCLE[0])):
        places = points.positions[:frames, index]
        upper.plot(time, 100 * places[:, 1], color=colour, linewidth=1.1, label=label)
        lower.plot(time, 1000 * np.linalg.norm(places - truth, axis=-1), color=colour, linewidth=1.1)
    upper.set_ylabel(f"height of the\n{landmark.replace('_', ' ')} [cm]")
    upper.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.22))
    lower.set(xlabel="time [s]", ylabel="error [mm]", ylim=(0, None))
    return figure


def by_person(errors, most: int = 8):
    """Errors as rows, people as columns; of more than ``most`` people their mean, least and greatest.

    Parameters
    ----------
    errors : data frame
        One row per person.
    """
    import pandas as pd

    if len(errors) <= most:
        return errors.T.rename_axis("subject")
    return pd.DataFrame({"mean": errors.mean(), "least": errors.min(), "greatest": errors.max()})
