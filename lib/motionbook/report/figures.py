"""Figures that show motion on paper: contact sheets of people in time."""

import numpy as np

from motionbook import drawing
from motionbook.report.theme import system_colour


def contact_sheet(rows, *, height: float = 1.75, azimuth: float = 0.436):
    """A sheet with one row per clip and one picture per frame, all from one camera and at one scale.

    Parameters
    ----------
    rows : list of (label, Clip, frames)
        ``frames`` are indices into the clip; the label's colour is that of the system it names.
    height : float
        Inches per row.
    azimuth : float
        Radians by which the camera stands to the side of the first clip's front.

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    if not rows or any(not len(frames) for _, _, frames in rows):
        raise ValueError("contact_sheet: expected at least one (label, clip, frames) row, each with at least one frame")
    pictures = sheet_pictures(rows, pixels=round(height * 190), azimuth=azimuth)
    columns = max(len(row) for row in pictures)
    wide = height * pictures[0][0].shape[1] / pictures[0][0].shape[0]
    label_width = 0.1 * max(len(label) for label, _, _ in rows) + 0.25
    size = (label_width + columns * wide, height * len(rows))
    figure = Figure(figsize=size, facecolor="#ffffff", layout="none")
    for i, ((label, clip, frames), row) in enumerate(zip(rows, pictures, strict=True)):
        low = 1.0 - (i + 1) / len(rows)
        colour = system_colour(label, i)
        figure.text(0.12 / size[0], low + 0.5 / len(rows), label, color=colour, va="center", weight="bold", size=10)
        for j, (frame, picture) in enumerate(zip(frames, row, strict=True)):
            axes = figure.add_axes(((label_width + j * wide) / size[0], low, wide / size[0], 1.0 / len(rows)))
            axes.imshow(picture, interpolation="antialiased")
            axes.set_axis_off()
            text = f"{frame / clip.fps:.2f} s"
            axes.text(0.5, 0.015, text, transform=axes.transAxes, ha="center", va="bottom", size=8, color="#4b5560")
    return figure


def sheet_pictures(
    rows, *, pixels: int, azimuth: float = 0.436, colour: str = "", each_front: bool = False
) -> list[list[np.ndarray]]:
    """The pictures of a contact sheet, row by row, each (pixels, width, 3) uint8; people stand in the middle.

    With ``colour`` all people have it; with ``each_front`` every clip is seen from its own front.
    """
    posed = []
    for label, clip, frames in rows:
        frames = np.asarray(frames, dtype=int)
        body = drawing.body_of(clip.skeleton, clip.translations)
        starts, ends = drawing.pose(clip, body)
        posed.append((label, body, starts[frames], ends[frames], drawing.facing(clip)))
    turn = posed[0][4] + azimuth
    shifted = []
    for label, body, starts, ends, front in posed:
        if each_front:
            starts, ends = (_turned(places, posed[0][4] - front) for places in (starts, ends))
        # each picture follows the person over the floor, so that a walk does not shrink everyone
        middle = 0.5 * (starts + ends).mean(axis=1, keepdims=True) * np.array([1.0, 0.0, 1.0])
        shifted.append((label, body, starts - middle, ends - middle))
    places = np.concatenate([np.stack([a, b]).reshape(-1, 3) for _, _, a, b in shifted])
    tight = drawing.fit_view(places, (1, 1), turn, margin=0.14)
    right = np.array([np.cos(turn), 0.0, -np.sin(turn)])
    across = 2 * max(abs((places @ right).max()), abs((places @ right).min())) + 0.36
    high = np.ptp(places[:, 1]) + 0.44
    # a little lower than the middle: the time is written below the feet
    view = tight._replace(
        target=(0.0, tight.target[1] - 0.05, 0.0), metres=float(high), size=(round(pixels * across / high), pixels)
    )
    sheet = []
    for i, (label, body, starts, ends) in enumerate(shifted):
        ink = drawing.rgb(colour or system_colour(label, i))
        figures = [drawing.Figure(a, b, body.radii, ink) for a, b in zip(starts, ends, strict=True)]
        sheet.append([drawing.draw([figure], view) for figure in figures])
    return sheet


def _turned(places: np.ndarray, angle: float) -> np.ndarray:
    """Places (..., 3) turned about the vertical by an angle in radians."""
    c, s = np.cos(angle), np.sin(angle)
    return places @ np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
