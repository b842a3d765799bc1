"""People drawn from their joints: rounded limbs with light, shadow and a floor, as plain RGB arrays.

No window, no graphics card and no plotting library, so chapters, posters and study videos draw alike everywhere. A
``Body`` says which rounded cones hang on which joint; the interactive player of the book draws the same body.
"""

import re
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip, Skeleton
from motionbook.headings import heading
from motionbook.kinematics import forward_kinematics
from motionbook.rigs import Rig, find_rig, standing_places, standing_pose


class Body(NamedTuple):
    """Rounded cones that move with the joints of a skeleton; all in metres.

    joints (cones,) int; starts, ends (cones, 3) in the frame of that joint; radii (cones, 2) at start and end.
    """

    joints: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    radii: np.ndarray


class Figure(NamedTuple):
    """A posed body in the world: starts, ends (cones, 3), radii (cones, 2), colour (3,) as sRGB in 0..1."""

    starts: np.ndarray
    ends: np.ndarray
    radii: np.ndarray
    colour: np.ndarray


class View(NamedTuple):
    """A camera without perspective: where it looks, from which side (radians), how many metres its height shows."""

    target: tuple[float, float, float]
    azimuth: float
    elevation: float
    metres: float
    size: tuple[int, int]


# Radii at the near and far end of the segment that starts at a joint, in metres for a person of 1.75 m.
_RADII = {
    "thigh": (0.090, 0.060),
    "shin": (0.058, 0.040),
    "foot": (0.044, 0.038),
    "toe": (0.038, 0.030),
    "clavicle": (0.050, 0.054),
    "upper_arm": (0.051, 0.041),
    "forearm": (0.041, 0.030),
    "hand": (0.038, 0.026),
    "thumb": (0.022, 0.015),
    "neck": (0.056, 0.050),
}
_LEG, _ARM = ("thigh", "shin", "foot", "toe"), ("clavicle", "upper_arm", "forearm", "hand")


def body_of(skeleton: Skeleton, translations: np.ndarray | None = None) -> Body:
    """The rounded body of a skeleton.

    A skeleton whose joint names tell the parts of a person (``rigs.find_rig``) gets limbs, a trunk, a head with a nose,
    hands and toes, sized by its height; any other skeleton gets one thin rounded cone per bone.

    Parameters
    ----------
    skeleton : Skeleton
    translations : (frames, joints, 3), optional
        Per-frame joint places; their median stands for offsets where a source stores no bone lengths.
    """
    if translations is not None:
        offsets = np.median(translations, axis=0)
        skeleton = Skeleton(skeleton.names, skeleton.parents, offsets, skeleton.end_offsets)
    try:
        rig = find_rig(skeleton)
        frames = standing_pose(skeleton, rig)
    except ValueError:
        return _plain_body(skeleton)
    return _plain_body(skeleton) if rig.head is None else _human_body(skeleton, rig, frames)


def _plain_body(skeleton: Skeleton) -> Body:
    bones = [(p, skeleton.offsets[j]) for j, p in enumerate(skeleton.parents) if p >= 0] + list(skeleton.end_offsets)
    bones = [(joint, np.asarray(end)) for joint, end in bones if np.linalg.norm(end) > 1e-6]
    joints, ends = np.array([joint for joint, _ in bones], int), np.array([end for _, end in bones]).reshape(-1, 3)
    radius = np.clip(0.16 * np.linalg.norm(ends, axis=-1), 0.008, 0.045)
    return Body(joints, np.zeros_like(ends), ends, np.stack([radius, 0.8 * radius], axis=-1))


def _human_body(skeleton: Skeleton, rig: Rig, frames: np.ndarray) -> Body:
    rest = standing_places(skeleton, frames)
    thighs, arms = (
        np.stack([rest[rig.limbs[side, part]] for side in ("left", "right")]) for part in ("thigh", "upper_arm")
    )
    up = rest[rig.head] - thighs.mean(axis=0)
    size = np.linalg.norm(up) / 0.66  # hip joints to the base of the skull, in a person of 1.75 m
    up, left = up / np.linalg.norm(up), arms[0] - arms[1]
    left = left - (left @ up) * up
    left /= np.linalg.norm(left)
    forward = np.cross(left, up)
    cones = []

    def add(joint, start, end, radii):
        """A cone given in the standing pose, kept in the frame of its joint."""
        ends = rot.rotate(rot.inverse(frames[joint]), np.stack([start, end]) - rest[joint])
        cones.append((joint, *ends, np.asarray(radii) * size))

    for side in ("left", "right"):
        for chain in (_LEG, _ARM):
            for part, following in zip(chain, [*chain[1:], None], strict=True):
                joint, after = rig.limbs.get((side, part)), rig.limbs.get((side, following))
                if joint is not None and after is not None:
                    add(joint, rest[joint], rest[after], _RADII[part])
        _add_ends(add, skeleton, rig, side, rest, frames, size, forward)
    for joint, after in zip(rig.neck, (*rig.neck, rig.head)[1:], strict=True):
        add(joint, rest[joint], rest[after], _RADII["neck"])
    throat = rest[rig.neck[0]] if rig.neck else arms.mean(axis=0) + 0.02 * size * up
    _add_trunk(add, skeleton, rig, rest, thighs, arms, throat, size, up, left)
    lift = -0.03 if "face" in skeleton.names[rig.head].lower() else 0.0
    skull = rest[rig.head] + size * lift * up
    chin, crown = skull + size * (0.035 * up + 0.022 * forward), skull + size * (0.112 * up + 0.008 * forward)
    add(rig.head, chin, crown, (0.074, 0.09))
    nose = skull + size * (0.068 * up + 0.094 * forward)
    add(rig.head, nose, nose + size * (-0.016 * up + 0.010 * forward), (0.012, 0.016))
    joints, starts, ends, radii = (np.array(column) for column in zip(*cones, strict=True))
    return Body(joints, starts, ends, radii)


def _add_ends(add, skeleton, rig, side, rest, frames, size, forward) -> None:
    """Hands and toes, which many rigs end before: at the last joint there is, or at its end site."""
    site = {joint: rest[joint] + rot.rotate(frames[joint], np.asarray(end)) for joint, end in skeleton.end_offsets}
    hand, forearm = rig.limbs.get((side, "hand")), rig.limbs[side, "forearm"]
    elbow = rest[rig.limbs[side, "upper_arm"]]
    if hand is not None:
        along = rest[hand] - rest[forearm]
        wrist, joint = rest[hand], hand
        along /= np.linalg.norm(along)
        for child in (j for j, parent in enumerate(skeleton.parents) if parent == hand):
            finger = rest[child] - rest[hand]
            if np.linalg.norm(finger) > 0.025 * size and finger @ along < 0.9 * np.linalg.norm(finger):
                add(hand, rest[hand], rest[child], _RADII["thumb"])
    else:
        along = site.get(forearm, rest[forearm]) - rest[forearm]
        if np.linalg.norm(along) < 0.1 * size:
            along = 0.25 * size * (rest[forearm] - elbow) / np.linalg.norm(rest[forearm] - elbow)
        wrist, joint = rest[forearm] + along, forearm
        add(forearm, rest[forearm], wrist, _RADII["forearm"])
        along = along / np.linalg.norm(along)
    add(joint, wrist + 0.02 * size * along, wrist + 0.10 * size * along, _RADII["hand"])
    foot, toe = rig.limbs[side, "foot"], rig.limbs.get((side, "toe"))
    if toe is not None:
        add(toe, rest[toe], rest[toe] + 0.045 * size * forward, _RADII["toe"])
    else:
        tip = site.get(foot, rest[foot])
        if np.linalg.norm(tip - rest[foot]) < 0.08 * size:
            tip = rest[foot] + size * np.array([0.0, -0.05, 0.0]) + 0.16 * size * forward
        add(foot, rest[foot], tip, _RADII["foot"])


def _add_trunk(add, skeleton, rig, rest, thighs, arms, throat, size, up, left) -> None:
    """Pelvis, belly, chest and shoulders as cones that lie across, so that the trunk is wider than deep."""
    hips, shoulders, across = thighs.mean(axis=0), arms.mean(axis=0), size * left
    add(rig.hips, hips + 0.02 * size * up + 0.055 * across, hips + 0.02 * size * up - 0.055 * across, (0.102, 0.102))
    chest = rig.spine[-1] if rig.spine else rig.hips
    # the belly hangs on the first spine joint that lies above the hips
    belly = next((j for j in rig.spine if np.dot(rest[j] - hips, up) > 0.04 * size), chest)
    waist, low, high = (hips + share * (shoulders - hips) for share in (0.36, 0.52, 0.84))
    for sign in (1.0, -1.0):
        add(belly, hips + 0.10 * size * up + sign * 0.036 * across, waist + sign * 0.030 * across, (0.098, 0.094))
        add(chest, low + sign * 0.036 * across, high + sign * 0.070 * across, (0.096, 0.098))
        add(chest, waist + sign * 0.030 * across, low + sign * 0.036 * across, (0.094, 0.096))
    add(chest, high + 0.075 * across, high - 0.075 * across, (0.098, 0.098))
    add(chest, high + 0.02 * size * up, throat, (0.088, 0.062))
    for arm in arms:
        add(chest, throat + 0.03 * size * up, throat + 0.8 * (arm - throat), (0.044, 0.05))


def pose(clip: Clip, body: Body | None = None) -> tuple[np.ndarray, np.ndarray]:
    """World starts and ends, each (frames, cones, 3), of a clip's body."""
    body = body_of(clip.skeleton, clip.translations) if body is None else body
    world = forward_kinematics(clip)
    places, turns = world.positions[:, body.joints], world.rotations[:, body.joints]
    return places + rot.rotate(turns, body.starts), places + rot.rotate(turns, body.ends)


def facing(clip: Clip) -> float:
    """Angle in radians about Y from +Z to where the hips face in the clip's first frame; 0 when hips are not named."""
    try:
        return float(heading(clip[:1])[0])
    except ValueError:
        return 0.0


def fit_view(places, size: tuple[int, int], azimuth=0.0, elevation=0.157, margin=0.22) -> View:
    """A view that shows all ``places`` (..., 3) with ``margin`` metres around them; ``size`` is (width, height)."""
    right, up, _ = _axes(azimuth, elevation)
    places = np.asarray(places, dtype=np.float64).reshape(-1, 3)
    across, along = places @ right, places @ up
    wide, high = np.ptp(across) + 2 * margin, np.ptp(along) + 2 * margin
    middle = places.mean(axis=0)
    middle = middle + right * (0.5 * (across.max() + across.min()) - middle @ right)
    middle = middle + up * (0.5 * (along.max() + along.min()) - middle @ up)
    return View(tuple(middle), float(azimuth), float(elevation), float(max(high, wide * size[1] / size[0])), size)


def _axes(azimuth: float, elevation: float) -> np.ndarray:
    """Rows: right, up and towards the viewer, in the world."""
    towards = np.array([np.sin(azimuth) * np.cos(elevation), np.sin(elevation), np.cos(azimuth) * np.cos(elevation)])
    right = np.array([np.cos(azimuth), 0.0, -np.sin(azimuth)])
    return np.stack([right, np.cross(towards, right), towards])


def draw(
    figures: list[Figure], view: View, *, background=(1.0, 1.0, 1.0), smooth: int = 2, checks: float = 0.0, floor=None
) -> np.ndarray:
    """One picture, (height, width, 3) uint8.

    Parameters
    ----------
    figures : list of Figure
    view : View
    background : (3,) sRGB in 0..1
    smooth : int
        Samples per pixel side; 1 is fastest, 2 or 3 give clean edges.
    checks : float
        Side in metres of the squares of a checkered floor; lines at every metre when 0.
    floor : (x, z, radius), optional
        Where the floor lies and how far it reaches, in metres; around the figures when left out. A film keeps one.
    """
    from scipy.ndimage import gaussian_filter

    from motionbook.raster import rounded_cones, shade

    width, height = view.size[0] * smooth, view.size[1] * smooth
    starts, ends, radii = (np.concatenate([getattr(f, name) for f in figures]) for name in ("starts", "ends", "radii"))
    owners = np.repeat(np.arange(len(figures)), [len(f.starts) for f in figures])
    axes, per_metre = _axes(view.azimuth, view.elevation), height / view.metres
    to_pixels = axes * np.array([[1.0], [-1.0], [1.0]]) * per_metre
    shift = np.array([0.5 * width, 0.5 * height, 0.0]) - to_pixels @ np.asarray(view.target)
    seen = rounded_cones(
        starts @ to_pixels.T + shift, ends @ to_pixels.T + shift, radii * per_metre, owners, height, width
    )
    key = _axes(view.azimuth + np.deg2rad(38.0), np.deg2rad(56.0))
    light = _shadow_map(starts, ends, radii, key * np.array([[1.0], [-1.0], [1.0]]))
    above = _shadow_map(starts, ends, radii, np.array([[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]]))
    shadow = gaussian_filter((light.depth > -np.inf).astype(np.float64), 0.028 * light.per_metre)
    # what stands low darkens the floor more: the falloff is over half a metre
    low = np.clip(1.0 - above.depth / above.per_metre / 0.5, 0.0, 1.0) * (above.depth > -np.inf)
    low = gaussian_filter(np.nan_to_num(low, posinf=0.0), 0.045 * above.per_metre)
    to_world = np.linalg.inv(to_pixels)
    middle = 0.5 * (starts + ends).mean(axis=0)
    reach = np.abs(np.concatenate([starts, ends]) - middle).max(axis=0)
    x, z, radius = (middle[0], middle[2], 1.25 + float(np.hypot(reach[0], reach[2]))) if floor is None else floor
    image = shade(
        *seen,
        np.array([_linear(f.colour) for f in figures]),
        to_world,
        -to_world @ shift,
        key[2],
        light.matrix,
        light.shift,
        light.depth,
        shadow,
        low,
        np.array([above.per_metre, above.shift[0], above.per_metre, above.shift[1]]),
        _linear(np.asarray(background) * 0.965),
        _linear(background),
        float(radius),
        np.array([x, z]),
        smooth,
        float(checks),
    )
    return np.rint(255 * _gamma(image)).astype(np.uint8)


class _ShadowMap(NamedTuple):
    depth: np.ndarray
    matrix: np.ndarray
    shift: np.ndarray
    per_metre: float


def _shadow_map(starts, ends, radii, axes, per_metre=90.0, margin=0.35) -> _ShadowMap:
    """Depth of the figures seen along the third of ``axes`` (rows x, y, z of the picture), with room to blur."""
    from motionbook.raster import rounded_cones

    matrix = axes * per_metre
    a, b = starts @ matrix.T, ends @ matrix.T
    edge = np.minimum(a, b).min(axis=0)[:2] - margin * per_metre
    far = np.maximum(a, b).max(axis=0)[:2] + margin * per_metre
    shift = np.array([*-edge, 0.0])
    width, height = (int(n) + 1 for n in far - edge)
    depth, _, _ = rounded_cones(a + shift, b + shift, radii * per_metre, np.zeros(len(a), np.int64), height, width)
    return _ShadowMap(depth, matrix, shift, per_metre)


def _linear(colour) -> np.ndarray:
    return np.asarray(colour, dtype=np.float64) ** 2.2


def _gamma(linear) -> np.ndarray:
    return linear ** (1 / 2.2)


def rgb(colour: str) -> np.ndarray:
    """sRGB in 0..1, (3,), from "#rrggbb"."""
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", colour):
        raise ValueError(f"colour: expected #rrggbb, got {colour!r}")
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0


def draw_clip(
    clip: Clip,
    frames=None,
    *,
    colour: str = "#56626f",
    size: tuple[int, int] = (240, 320),
    view: View | None = None,
    azimuth: float = 0.436,
    smooth: int = 2,
) -> np.ndarray:
    """Pictures of a clip's frames from one fixed camera, (frames, height, width, 3) uint8.

    Parameters
    ----------
    clip : Clip
    frames : sequence of int, optional
        All frames when left out.
    size : (width, height) in pixels
    view : View, optional
        Without it a view that holds the whole motion, turned by ``azimuth`` from the person's front.
    """
    frames = np.arange(len(clip)) if frames is None else np.asarray(frames, dtype=int)
    body = body_of(clip.skeleton, clip.translations)
    starts, ends = pose(clip, body)
    if view is None:
        view = fit_view(np.stack([starts, ends]), size, facing(clip) + azimuth)
    shade = rgb(colour)
    return np.stack([draw([Figure(starts[i], ends[i], body.radii, shade)], view, smooth=smooth) for i in frames])
