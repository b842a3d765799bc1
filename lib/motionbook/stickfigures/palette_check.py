"""How well the nearest palette colour finds the part that a pixel shows, told from the segmentation of rendered frames.

Source: Dancing Stick Figures, section 4; the palette validation of its repository.
"""

import hashlib

import numpy as np

from motionbook.stickfigures.figure import PALETTE, PARTS
from motionbook.stickfigures.topology import COLOUR_DISTANCE, OPAQUE, label_colours

_CLASSES = len(PALETTE)
# palette position + 1 of every segmentation id; 0 for the background
_CLASS_OF_ID = np.zeros(256, np.uint8)
for _part in PARTS:
    _CLASS_OF_ID[_part.joint + 1] = list(PALETTE).index(_part.colour) + 1


def frame_of_clip(clip_id: str, frames: int) -> int:
    """The frame of a clip that is looked at: the first 8 bytes of the id's SHA-256, modulo the number of frames."""
    return int.from_bytes(hashlib.sha256(clip_id.encode()).digest()[:8], "big") % frames


def check_frame(color, seg) -> np.ndarray:
    """Pixels by true part and assigned colour, (11, 10): counts that can be summed over frames.

    Parameters
    ----------
    color : (height, width, 4) uint8
    seg : (height, width) uint8

    Returns
    -------
    (11, 10) array
        Row: assigned palette position + 1, 0 for figure without a palette colour, 10 for pixels outside the alpha gate.
        Column: part shown by the segmentation as palette position + 1, 0 for none.
    """
    assigned = label_colours(np.asarray(color)[None])[0]
    gate = np.asarray(color)[..., 3] > OPAQUE
    row = np.where(gate, np.where(assigned == 255, 0, assigned), _CLASSES + 1)
    counts = np.zeros((_CLASSES + 2, _CLASSES + 1), np.int64)
    np.add.at(counts, (row, _CLASS_OF_ID[seg]), 1)
    return counts


def palette_table(counts):
    """The published figures of the check from summed counts: shares in percent, and the constants of the metrics."""
    import pandas as pd

    inside = counts[: _CLASSES + 1, 1:]  # inside the alpha gate, and with a part: halved pictures have a few without
    assigned = inside[1:]
    right = np.diag(assigned)
    union = assigned.sum(axis=1) + inside.sum(axis=0) - right
    values = {
        "colour distance": COLOUR_DISTANCE,
        "smallest mask": 4,
        "alpha above": OPAQUE,
        "foreground assigned": 100 * assigned.sum() / inside.sum(),
        "accuracy among assigned": 100 * right.sum() / assigned.sum(),
        "macro IoU": 100 * np.mean(right / np.maximum(union, 1)),
        "segmentation outside the alpha gate": 100 * counts[_CLASSES + 1, 1:].sum() / counts[:, 1:].sum(),
    }
    return pd.DataFrame({"value": values})
