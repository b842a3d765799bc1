"""What a frame shows of the figure's build: are the limbs whole, do they touch what they should, are the colours pure.

The rates are read from colours alone, so they apply to generated frames without any labels. They are not zero on real
frames (limbs hide each other) and mean something only beside the same rates of real frames at the same size.

Source: Dancing Stick Figures, section 4, "Structural diagnostics"; its evaluator.
"""

from typing import NamedTuple

import numpy as np

from motionbook.stickfigures.figure import ADJACENT, LIMBS, PALETTE

COLOUR_DISTANCE = 60.0  # RGB, strict
OPAQUE = 127  # alpha above this is figure
_LEAST_FIGURE = 20  # pixels; with fewer every rate is 1
_LEAST_LIMB = 4  # pixels; with fewer the limb counts as absent
_REACH = 2  # pixels by which touching limbs may be apart
_INK = len(PALETTE)  # largest label; 0 is background


class Topology(NamedTuple):
    """Per frame, each (frames,): TVR, LIE, CPE, foreground share, and whether TVR and LIE are both zero."""

    tvr: np.ndarray
    lie: np.ndarray
    cpe: np.ndarray
    foreground: np.ndarray
    clean: np.ndarray


def check_frames(frames) -> np.ndarray:
    """Frames (frames, height, width, 4) uint8 straight RGBA, or ValueError."""
    frames = np.asarray(frames)
    if frames.ndim != 4 or frames.shape[-1] != 4 or frames.dtype != np.uint8 or not len(frames):
        raise ValueError(
            f"frames: expected (frames, height, width, 4) uint8 RGBA, got {frames.shape} {frames.dtype}; "
            "frames without alpha need a figure mask as fourth channel"
        )
    return frames


def label_colours(frames) -> np.ndarray:
    """Nearest palette colour of every pixel, (frames, height, width) uint8.

    0 is background, 1 to 9 the position in ``PALETTE`` plus one, 255 figure of no palette colour.
    """
    frames = check_frames(frames)
    labels = np.zeros(frames.shape[:3], np.uint8)
    figure = frames[..., 3] > OPAQUE
    colours = frames[figure][:, :3].astype(np.int32)
    palette = np.array(list(PALETTE.values()), np.int32)
    squares = ((colours[:, None] - palette) ** 2).sum(axis=-1)
    nearest = squares.argmin(axis=1)
    known = squares[np.arange(len(nearest)), nearest] < COLOUR_DISTANCE**2
    labels[figure] = np.where(known, nearest + 1, 255)
    return labels


def topology(labels) -> Topology:
    """The structural rates of labelled frames (``label_colours``)."""
    from scipy import ndimage

    pixels = labels.shape[1] * labels.shape[2]
    labels = _cropped(labels)
    frames = len(labels)
    names = list(PALETTE)
    masks = np.stack([labels == names.index(name) + 1 for name in PALETTE], axis=1)
    sizes = masks.sum(axis=(-2, -1))
    present = sizes >= _LEAST_LIMB
    figure = (labels > 0).sum(axis=(-2, -1))
    empty = figure < _LEAST_FIGURE

    limbs = masks[:, 1:].reshape(-1, *labels.shape[1:])
    within_frame = np.zeros((3, 3, 3), bool)
    within_frame[1] = True  # neighbours in the frame, corners included, never in the next mask of the stack
    components, count = ndimage.label(limbs, within_frame)
    home = np.zeros(count + 1, np.int64)
    where = np.flatnonzero(components)
    home[components.reshape(-1)[where]] = where // (labels.shape[1] * labels.shape[2])
    pieces = np.bincount(home[1:], minlength=len(limbs)).reshape(frames, len(LIMBS))
    tvr = (np.where(present[:, 1:], pieces, 0) != 1).mean(axis=1)

    grown = {near: _grown(masks[:, names.index(near)]) for near in dict(ADJACENT)}
    missing = np.zeros(frames)
    for near, far in ADJACENT:
        i, j = names.index(near), names.index(far)
        touching = (grown[near] & masks[:, j]).any(axis=(-2, -1))
        missing += ~(touching & present[:, i] & present[:, j])
    lie = missing / len(ADJACENT)

    cpe = (labels == 255).sum(axis=(-2, -1)) / np.maximum(figure, 1)
    tvr, lie, cpe = (np.where(empty, 1.0, rate) for rate in (tvr, lie, cpe))
    return Topology(tvr, lie, cpe, figure / pixels, (tvr == 0) & (lie == 0))


def _cropped(labels):
    """The rows and columns that any frame's figure touches, one at least: nineteen pixels of twenty are empty."""
    for axis in (1, 2):
        used = np.flatnonzero((labels > 0).any(axis=(0, 3 - axis)))
        first, last = (used[0], used[-1]) if len(used) else (0, 0)
        labels = np.take(labels, np.arange(first, last + 1), axis=axis)
    return labels


def _grown(masks):
    """Masks (frames, height, width) widened by the reach to all sides and corners."""
    for axis in (1, 2):
        masks = np.moveaxis(masks, axis, -1)
        wide = masks.copy()
        for step in range(1, _REACH + 1):
            wide[..., step:] |= masks[..., :-step]
            wide[..., :-step] |= masks[..., step:]
        masks = np.moveaxis(wide, -1, axis)
    return masks
