"""The capsule renderer: joints, body and view in, coloured pixels with depth, normals and part labels out.

Every bone is a capsule in the picture plane with a round front; a z-buffer with 4 x 4 samples per pixel decides what
is seen. In the default mode the colour and part labels equal the published frames bit for bit.

Source: Dancing Stick Figures, section 3; its renderer.
"""

from typing import NamedTuple

import numpy as np

from motionbook.checks import check_finite, check_shape
from motionbook.skeletons import CSKEL27
from motionbook.stickfigures.camera import CANVAS, SUPERSAMPLING, View, project
from motionbook.stickfigures.figure import HEAD_RADIUS, PALETTE, PARTS, REST_THUMB, Part
from motionbook.stickfigures.parameters import Body

SIZES = (128, 64)
# Metres by which a later part may lie behind and still be drawn, per mode. Ends that two bones share are equally deep,
# so rounding decides their colour in the published frames; the margin gives such places to the bone farther out.
MARGINS = {"reference": 0.0, "stable": 1e-5}
DEPTH_RANGE = (-1.5, 1.5)
_POINT = 1e-3  # a hand or foot shorter than this many samples is drawn as a ball


class Rendering(NamedTuple):
    """Frames of one clip.

    color (frames, size, size, 4) uint8, straight RGBA on nothing; seg (frames, size, size) uint8, joint index + 1 of
    the bone seen, 0 for the background; depth (frames, size, size) float32 in metres toward the camera, NaN outside
    the figure; normal (frames, size, size, 3) uint8, (n + 1) / 2 with x right, y up, z to the camera. depth and normal
    are None where they were not asked for.
    """

    color: np.ndarray
    seg: np.ndarray
    depth: np.ndarray | None = None
    normal: np.ndarray | None = None


def render(
    joints,
    body: Body,
    camera: View,
    size: int = CANVAS,
    mode: str = "reference",
    *,
    geometry: bool = False,
    parts: tuple[Part, ...] = PARTS,
) -> Rendering:
    """Draw a figure.

    Parameters
    ----------
    joints : (frames, 27, 3)
        CSKEL27 places in the figure frame (``camera.figure_motion``), bones already scaled (``figure.scale_bones``).
    body : Body
    camera : View
    size : 128 or 64
        64 is the published small tier: the 128 picture halved, not drawn again.
    mode : "reference" or "stable"
        "reference" equals the published frames. "stable" gives places that two bones share to the outer one, so that
        rounding errors in the joints change no colours.
    geometry : bool
        Depth and normals as well, at 128 only.
    parts : tuple of Part
        What is drawn, in which order and colour.
    """
    joints = check_shape(joints, "frames 27 3", "joints")
    check_finite(joints, "joints")
    if size not in SIZES:
        raise ValueError(f"size: expected one of {SIZES} pixels, got {size}")
    if mode not in MARGINS:
        raise ValueError(f"mode: expected one of {', '.join(MARGINS)}, got {mode!r}")
    if geometry and size != CANVAS:
        raise ValueError(f"geometry: depth and normals exist at {CANVAS} px only; ask for size={CANVAS}, got {size}")
    from motionbook.stickfigures import raster

    capsules, colours, ids = _capsules(joints, body, camera, parts)
    frames = len(joints)
    inner = CANVAS if geometry else 0
    color = np.zeros((frames, CANVAS, CANVAS, 4), np.uint8)
    seg = np.zeros((frames, CANVAS, CANVAS), np.uint8)
    depth = np.full((frames, inner, inner), np.nan, np.float32)
    normal = np.full((frames, inner, inner, 3), (128, 128, 255), np.uint8)
    raster.draw_frames(capsules, body.px_per_m * SUPERSAMPLING, MARGINS[mode], colours, ids, color, seg, depth, normal)
    if size == CANVAS:
        return Rendering(color, seg, depth if geometry else None, normal if geometry else None)
    return Rendering(halve(color), np.ascontiguousarray(seg[:, 1::2, 1::2]))


def halve(color) -> np.ndarray:
    """RGBA frames (..., n, n, 4) uint8 at half the size: means of premultiplied colour, rounded half up."""
    color = np.asarray(color)
    n = color.shape[-2] // 2
    blocks = np.moveaxis(color.reshape(-1, n, 2, n, 2, 4), 2, 3)
    covered = (blocks[..., 3] > 0).any(axis=(-2, -1))  # one pixel in twenty: the rest stays nothing
    straight = blocks[covered].astype(np.float32) / np.float32(255)
    straight[..., :3] *= straight[..., 3:]
    mean = straight.mean(axis=(1, 2))
    alpha = mean[:, 3:]
    mean[:, :3] = np.where(alpha > 1e-4, mean[:, :3] / np.maximum(alpha, np.float32(1e-4)), 0)
    small = np.zeros((len(blocks), n, n, 4), np.uint8)
    small[covered] = (mean * np.float32(255) + np.float32(0.5)).astype(np.uint8)
    return small.reshape(*color.shape[:-3], n, n, 4)


def quantise_depth(depth) -> np.ndarray:
    """Depth in metres as the published uint16: -1.5 to 1.5 m over 0 to 65535, background 0."""
    low, high = DEPTH_RANGE
    filled = np.where(np.isnan(depth), low, depth)
    return (np.clip((filled - low) / (high - low), 0, 1) * 65535).astype(np.uint16)


def visible_joints(seg) -> np.ndarray:
    """(frames, 27) True where the bone that ends in a joint owns a pixel; hips and thumbs never do."""
    seg = np.asarray(seg)
    return np.stack([(seg == joint + 1).any(axis=(-1, -2)) for joint in range(len(CSKEL27))], axis=-1)


def _capsules(joints, body, camera, parts):
    """Capsules (frames, n, 8), colours (n, 3) and ids (n,) in drawing order; a hand is two, palm and thumb."""
    projected = project(joints, camera, body.px_per_m)
    points, depths = projected.points * SUPERSAMPLING, projected.depths
    width, samples = body.stroke * SUPERSAMPLING, body.px_per_m * SUPERSAMPLING
    rows, colours, ids = [], [], []
    for part in parts:
        end, start = part.joint, CSKEL27.parents[part.joint]
        a, b, za, zb = points[:, start], points[:, end], depths[:, start], depths[:, end]
        if part.shape == "bone":
            shapes = [_row(a, b, za, zb, 0.5 * width)]
        elif part.shape == "head":
            shapes = [_row(b, b, zb, zb, HEAD_RADIUS * samples)]
        elif part.shape == "foot":
            length, along = _direction(a, b)
            heel = a - np.where(length < _POINT, 0.0, 0.35 * width)[:, None] * along
            radius = np.where(length < _POINT, 0.7, 0.625) * width
            shapes = [
                _row(heel, np.where((length < _POINT)[:, None], a, b), za, np.where(length < _POINT, za, zb), radius)
            ]
        else:
            shapes = _hand(points, depths, part.joint, width, samples)
        rows += shapes
        colours += [PALETTE[part.colour]] * len(shapes)
        ids += [part.joint + 1] * len(shapes)
    return np.stack(rows, axis=1), np.array(colours, np.uint8), np.array(ids, np.uint8)


def _hand(points, depths, tip, width, samples):
    wrist = CSKEL27.parents[tip]
    thumb = CSKEL27.index(CSKEL27.names[tip].replace("End", "Thumb1"))
    a, b, za, zb = points[:, wrist], points[:, tip], depths[:, wrist], depths[:, tip]
    length, along = _direction(a, b)
    ball = length < _POINT
    # a palm seen from its edge is narrow: the thumb then lies close to the wrist in the picture
    roll = np.minimum(1.0, np.linalg.norm(points[:, thumb] - a, axis=-1) / (REST_THUMB * samples))
    radius = width * (0.55 + 0.55 * roll) / 2
    near, far = a + (0.15 * length)[:, None] * along, a + (0.9 * length)[:, None] * along
    z_near, z_far = za + 0.15 * (zb - za), za + 0.9 * (zb - za)
    palm = _row(
        np.where(ball[:, None], a, near),
        np.where(ball[:, None], a, far),
        np.where(ball, za, z_near),
        np.where(ball, za, z_far),
        np.where(ball, 0.8 * width, radius),
    )
    # a hand drawn as a ball has no thumb: it is put where no picture is
    place = np.where(ball[:, None], -1e6, points[:, thumb])
    return [palm, _row(place, place, depths[:, thumb], depths[:, thumb], 0.42 * width)]


def _direction(a, b):
    """Lengths (frames,) and unit vectors (frames, 2) from a to b."""
    length = np.linalg.norm(b - a, axis=-1)
    return length, (b - a) / np.maximum(length, 1e-12)[:, None]


def _row(a, b, za, zb, radius):
    radius = np.broadcast_to(radius, za.shape)
    return np.column_stack([a, b, za, zb, radius, radius])
