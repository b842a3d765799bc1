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
    layout = [["plan", *(f"view {i}" for i in range(columns))]]
    layout.append(["plan", *(f"view {columns + i}" if columns + i < len(cameras) else "." for i in range(columns))])
    figure, axes = plt.subplot_mosaic(layout, figsize=(7.6, 4.0), width_ratios=[2.1, *[1.0] * columns])
    _plan(axes["plan"], cameras, take.truth, frame)
    for i, camera in enumerate(cameras):
        _view(axes[f"view {i}"], camera, take, i, frame)
    return figure


def _plan(axes, cameras, truth: Landmarks, frame: int) -> None:
    for camera in cameras:
        place = camera_centre(camera)
        half = np.arctan(0.5 * camera.size[0] / camera.intrinsics[0, 0])
        ahead = rot.rotate(rot.inverse(camera.rotation), [0.0, 0.0, 1.0])
        heading = np.arctan2(ahead[0], ahead[2])
        edges = [place[[0, 2]] + 1.1 * np.array([np.sin(a), np.cos(a)]) for a in (heading - half, heading + half)]
        axes.fill(*zip(place[[0, 2]], *edges, strict=True), color=CYCLE[0], alpha=0.12, linewidth=0)
        axes.plot([place[0], 0], [place[2], 0], color="#9aa2ac", linewidth=0.7, linestyle=":")
        axes.plot(*place[[0, 2]], "s", color=CYCLE[0], markersize=7)
        away = place[[0, 2]] + 0.42 * place[[0, 2]] / np.linalg.norm(place[[0, 2]])
        axes.annotate(camera.name, away, ha="center", va="center", size=8)
    distance = np.linalg.norm(camera_centre(cameras[0])[[0, 2]])
    around = np.linspace(0, 2 * np.pi, 100)
    axes.plot(0.9 * np.sin(around), 0.9 * np.cos(around), color="#9aa2ac", linewidth=0.9, linestyle="--")
    points = with_virtual_points(truth)
    for chain in (
        ("left_shoulder", "right_shoulder"),
        ("left_ankle", "left_foot_index"),
        ("right_ankle", "right_foot_index"),
    ):
        line = np.array([points[name][frame] for name in chain])
        axes.plot(line[:, 0], line[:, 2], color=CYCLE[1], linewidth=3, solid_capstyle="round")
    nose, head = points["nose"][frame], points["head_center"][frame]
    axes.plot([head[0], nose[0]], [head[2], nose[2]], color=CYCLE[1], linewidth=5, solid_capstyle="round")
    axes.text(0, -0.62, "performer,\nrecording area", ha="center", va="center", size=7.5)
    axes.text(0.0, distance * 0.62, f"{distance:.1f} m", ha="center", va="center", size=8, color="#6b7480")
    axes.set(
        xlim=(-3.7, 3.7), ylim=(-1.3, 3.7), aspect="equal", xlabel="x [m], the performer's left", ylabel="z [m], ahead"
    )
    axes.set_title("Plan")
    axes.grid(False)


def _view(axes, camera, take: Take, index: int, frame: int) -> None:
    seen = dict(zip(take.seen.names, take.seen.pixels[index, frame], strict=True))
    for chain in _LINES:
        line = np.array([seen[name] for name in chain])
        axes.plot(line[:, 0], line[:, 1], color=CYCLE[1], linewidth=1.2)
    pixels = take.seen.pixels[index, frame]
    axes.scatter(pixels[:, 0], pixels[:, 1], c=take.seen.confidence[index, frame], vmin=0.6, vmax=1.0, s=5, zorder=3)
    lost = np.isnan(pixels[:, 0]).sum()
    # the middle of the picture, where the person is
    left, right = 0.27 * camera.size[0], 0.73 * camera.size[0]
    axes.set(xlim=(left, right), ylim=(camera.size[1], 0), aspect="equal", xticks=[], yticks=[])
    axes.set_title(camera.name + (f", {lost} lost" if lost else ""), fontsize=8.5, fontweight="normal")
    axes.grid(False)
    for spine in axes.spines.values():
        spine.set_visible(True)


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
