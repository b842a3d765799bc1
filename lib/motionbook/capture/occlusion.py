"""Which landmarks a person's own body hides from a camera.

The body is a handful of capsules between landmarks: head, the two sides of the trunk, arms and legs. A landmark is
hidden when the line from the camera to it passes through a capsule that it does not itself lie on. Radii are those of
an adult and grow with the distance between the ears' midpoint and the hips.
"""

import numpy as np

from motionbook.capture.cameras import Camera, camera_centre
from motionbook.checks import check_shape

# start, end (a landmark, or several whose mean is meant), radius in metres, landmarks that lie on or in it
_TRUNK = ("left_shoulder", "right_shoulder", "left_hip", "right_hip")
CAPSULES: list[tuple] = [(("left_ear", "right_ear"), ("left_ear", "right_ear"), 0.07, ())]
for _side in ("left", "right"):
    _hand = tuple(f"{_side}_{part}" for part in ("wrist", "pinky", "index", "thumb"))
    _foot = tuple(f"{_side}_{part}" for part in ("ankle", "heel", "foot_index"))
    _other = "right" if _side == "left" else "left"
    # three quarters of the way out: the flank ends where the arm hangs, not beyond it
    _chest, _waist = ((*[f"{_side}_{part}"] * 3, f"{_other}_{part}") for part in ("shoulder", "hip"))
    CAPSULES += [
        (_chest, _waist, 0.09, _TRUNK),
        (f"{_side}_shoulder", f"{_side}_elbow", 0.045, (f"{_side}_shoulder", f"{_side}_elbow")),
        (f"{_side}_elbow", f"{_side}_wrist", 0.035, (f"{_side}_elbow", *_hand)),
        (f"{_side}_hip", f"{_side}_knee", 0.075, (f"{_side}_hip", f"{_side}_knee")),
        (f"{_side}_knee", f"{_side}_ankle", 0.05, (f"{_side}_knee", *_foot)),
    ]
_ADULT = 0.62  # metres from the hips to between the ears, in the body the radii belong to
_MARGIN = 0.03  # the line ends this far before the landmark, which lies on a surface


def hidden(names, positions, camera: Camera) -> np.ndarray:
    """Whether the body is between the camera and each point, (frames, points) bool; unknown points are not hidden.

    Parameters
    ----------
    names : sequence of str
        MediaPipe's names of the points; capsules whose points are not among them are left out.
    positions : (frames, points, 3)
        Metres.
    camera : Camera
    """
    names = tuple(names)
    positions = check_shape(positions, f"frames {len(names)} 3", "positions")
    centre = camera_centre(camera)
    reach = positions - centre
    with np.errstate(invalid="ignore"):
        distance = np.linalg.norm(reach, axis=-1, keepdims=True)
        ends = centre + reach * np.maximum(1.0 - _MARGIN / np.maximum(distance, 1e-9), 0.0)
    size = _size(names, positions)
    found = np.zeros(positions.shape[:2], dtype=bool)
    for start, end, radius, own in CAPSULES:
        a, b = _point(names, positions, start), _point(names, positions, end)
        if a is None or b is None:
            continue
        others = np.array([name not in own for name in names])
        with np.errstate(invalid="ignore"):
            near = segment_distance(centre, ends[:, others], a[:, None], b[:, None]) < radius * size
        found[:, others] |= near
    return found


def segment_distance(p, q, a, b) -> np.ndarray:
    """Distance (...) between the straight pieces from p to q and from a to b, each (..., 3)."""
    p, q, a, b = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (p, q, a, b)))
    d, e, r = q - p, b - a, p - a
    dd, ee, de = (np.einsum("...i,...i->...", x, y) for x, y in ((d, d), (e, e), (d, e)))
    dr, er = (np.einsum("...i,...i->...", x, r) for x in (d, e))
    determinant = dd * ee - de * de
    with np.errstate(divide="ignore", invalid="ignore"):
        s = np.where(determinant > 1e-12 * dd * ee, np.clip((de * er - ee * dr) / determinant, 0.0, 1.0), 0.0)
        t = np.where(ee > 0, (de * s + er) / ee, 0.0)
        outside = (t < 0) | (t > 1) | (ee == 0)
        t = np.clip(t, 0.0, 1.0)
        s = np.where(outside & (dd > 0), np.clip((de * t - dr) / dd, 0.0, 1.0), s)
    return np.linalg.norm(r + s[..., None] * d - t[..., None] * e, axis=-1)


def _point(names, positions, which):
    parts = (which,) if isinstance(which, str) else which
    if any(part not in names for part in parts):
        return None
    return np.mean([positions[:, names.index(part)] for part in parts], axis=0)


def _size(names, positions) -> float:
    head, hips = (_point(names, positions, pair) for pair in (("left_ear", "right_ear"), ("left_hip", "right_hip")))
    if head is None or hips is None:
        return 1.0
    lengths = np.linalg.norm(head - hips, axis=-1)
    known = lengths[np.isfinite(lengths)]
    return float(np.median(known)) / _ADULT if known.size else 1.0
