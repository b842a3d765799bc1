"""Which way is up, where the floor is, and whether a scene can be true.

A calibration may put the world's axes anywhere: a board that stood against a wall, a mirrored solution of a board on
the floor, a unit taken for another. Each leaves small reprojection errors and shows in the person instead: head below
feet, cameras under the floor, a height of 1,700 metres.
"""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.bones import with_virtual_points
from motionbook.capture.cameras import camera_centre
from motionbook.capture.landmarks import Landmarks
from motionbook.checks import check_shape

# axis that points up in the source -> the rotation's rows, each of the new axes in terms of the old
_UP = {
    "y": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "z": ((0, 1, 0), (0, 0, 1), (1, 0, 0)),
    "x": ((0, 0, 1), (1, 0, 0), (0, 1, 0)),
    "-y": ((1, 0, 0), (0, -1, 0), (0, 0, -1)),
    "-z": ((0, 1, 0), (0, 0, -1), (-1, 0, 0)),
    "-x": ((0, 0, 1), (-1, 0, 0), (0, -1, 0)),
}
_FEET = ("left_heel", "right_heel", "left_foot_index", "right_foot_index")


class Ground(NamedTuple):
    """The floor under the feet.

    Attributes
    ----------
    normal : (3,)
        Unit vector out of the floor; straight up where the feet say nothing about its tilt.
    height : float
        Of the floor on the world's vertical axis, metres.
    tilt : float
        Angle in radians between the normal and the vertical; NaN where the feet stood in too few places to tell.
    residual : float
        Median distance in metres of the standing feet from the floor.
    contacts : int
        Foot points (point x frame) that stood still.
    """

    normal: np.ndarray
    height: float
    tilt: float
    residual: float
    contacts: int


def turn_up(points, up: str) -> np.ndarray:
    """Points (..., 3) turned so that the source's ``up`` axis becomes Y; a rotation, never a mirror image.

    ``up`` is "x", "y", "z" or one of them with a minus sign in front. From Z up, (x, y, z) becomes (y, z, x), which is
    what Pose2Sim does.
    """
    if up not in _UP:
        raise ValueError(f"up: expected one of {', '.join(_UP)}, got {up!r}")
    return check_shape(points, "... 3", "points") @ np.array(_UP[up], dtype=np.float64).T


def upright_share(landmarks: Landmarks) -> dict[str, float]:
    """Share of the frames with both known in which the head is above the ankles, for each of the six axes."""
    rise = _rise(landmarks)
    rise = rise[np.isfinite(rise).all(axis=-1)]
    if not len(rise):
        raise ValueError(
            "landmarks: head and ankles are never known in the same frame, so nothing says which way is up"
        )
    # above: further along this axis than along any other
    steepest = np.abs(rise).argmax(axis=-1)
    return {
        sign + axis: float(((steepest == k) & (rise[:, k] * (-1 if sign else 1) > 0)).mean())
        for k, axis in enumerate("xyz")
        for sign in ("", "-")
    }


def check_upright(landmarks: Landmarks, share: float = 0.95) -> None:
    """Refuse landmarks whose head is not above the feet.

    Raises
    ------
    ValueError
        When the head is above the ankles along +Y in fewer than ``share`` of the frames, with the axis that fits.
    """
    shares = upright_share(landmarks)
    if shares["y"] < share:
        best = max(shares, key=shares.get)
        way = (
            f"; it is along {best} in {100 * shares[best]:.0f} %: read the points with up={best!r}"
            if best != "y"
            else ""
        )
        raise ValueError(
            f"landmarks: the head is above the feet along y in {100 * shares['y']:.0f} % of the frames, expected "
            f"{100 * share:.0f} % or more{way}. A board that stood upright does this"
        )


def find_ground(landmarks: Landmarks, max_speed: float = 0.1) -> Ground:
    """The floor as the feet know it: heels and toes that stand still.

    The floor goes through the standing points, which lie a few centimetres above the sole. Its tilt is told only when
    they spread over at least half a metre in two directions; one stance cannot tell a sloping floor from a high heel.

    Parameters
    ----------
    landmarks : Landmarks
        Y up, metres.
    max_speed : float
        Metres per second below which a foot point stands.

    Raises
    ------
    ValueError
        When no foot point ever stands still.
    """
    points = {name: landmarks.positions[:, i] for i, name in enumerate(landmarks.names)}
    feet = [points[name] for name in _FEET if name in points]
    if not feet:
        raise ValueError(f"landmarks: expected heels and toes ({', '.join(_FEET)}), found none of them")
    places = []
    for foot in feet:
        speed = np.linalg.norm(np.gradient(foot, axis=0), axis=-1) * landmarks.fps if len(foot) > 1 else np.zeros(1)
        with np.errstate(invalid="ignore"):
            places.append(foot[(speed <= max_speed) & np.isfinite(foot).all(axis=-1)])
    still = np.concatenate(places)
    if not len(still):
        raise ValueError(f"landmarks: no foot point stands still (slower than {max_speed:g} m/s); smooth them first")
    # a lifted foot that rests in the air is not on the floor
    still = still[still[:, 1] <= np.median(still[:, 1]) + 0.15]
    level = still[:, [0, 2]] - still[:, [0, 2]].mean(axis=0)
    spread = 2.0 * np.sqrt(np.maximum(np.linalg.eigvalsh(level.T @ level / len(level)), 0.0))
    if spread.min() < 0.25:  # of the narrower direction, twice its deviation: about half a metre from end to end
        height = float(np.median(still[:, 1]))
        return Ground(
            np.array([0.0, 1.0, 0.0]), height, np.nan, float(np.median(np.abs(still[:, 1] - height))), len(still)
        )
    weight = np.ones(len(still))
    design = np.column_stack([still[:, 0], still[:, 2], np.ones(len(still))])
    for _ in range(20):
        slope = np.linalg.lstsq(design * weight[:, None], still[:, 1] * weight, rcond=None)[0]
        off = np.abs(still[:, 1] - design @ slope)
        weight = 1.0 / np.sqrt(np.maximum(off, 0.005))  # least absolute distance: a foot in the air pulls little
    normal = np.array([-slope[0], 1.0, -slope[1]])
    normal /= np.linalg.norm(normal)
    tilt = float(np.arccos(np.clip(normal[1], -1.0, 1.0)))
    centre = np.median(still, axis=0)
    height = float(slope @ [centre[0], centre[2], 1.0])
    return Ground(normal, height, tilt, float(np.median(off) * normal[1]), len(still))


def level(landmarks: Landmarks, ground: Ground | None = None) -> tuple[Landmarks, np.ndarray, np.ndarray]:
    """Landmarks with the floor at y = 0 and its normal up, and the move: new = rotate(rotation, old) + shift.

    The turn is the smallest one, so headings stay; a tilt above 10 degrees is done and warned about.
    """
    ground = find_ground(landmarks) if ground is None else ground
    if np.isfinite(ground.tilt) and ground.tilt > np.deg2rad(10.0):
        warnings.warn(
            f"level: the floor is tilted by {np.rad2deg(ground.tilt):.0f} degrees against the world's vertical; the "
            "calibration's axes are probably wrong",
            stacklevel=2,
        )
    rotation = rot.between(ground.normal, np.array([0.0, 1.0, 0.0]))
    turned = rot.rotate(rotation, landmarks.positions)
    low = rot.rotate(rotation, _on_floor(landmarks, ground))
    shift = np.array([0.0, -low[1], 0.0])
    steps = (*landmarks.steps, "levelled")
    return replace(landmarks, positions=turned + shift, steps=steps), rotation, shift


def find_contradictions(landmarks: Landmarks, cameras=(), height: tuple[float, float] = (0.8, 2.3)) -> tuple[str, ...]:
    """What in a scene cannot be true, in words; empty when all is well.

    Looked at: the head above the feet, a person's height in metres, cameras above the floor, the person in front of
    every camera.

    Parameters
    ----------
    landmarks : Landmarks
        Y up, metres.
    cameras : sequence of Camera
    height : (float, float)
        Metres from the feet to between the ears that a standing or sitting person may have, at most over time.
    """
    try:
        check_upright(landmarks)
    except ValueError as error:
        return (str(error),)  # with another axis up, floor and heights mean nothing
    found = []
    tall = np.linalg.norm(_rise(landmarks), axis=-1)
    tall = float(np.nanpercentile(tall, 95)) if np.isfinite(tall).any() else np.nan
    if np.isfinite(tall) and not height[0] <= tall <= height[1]:
        fits = [
            unit
            for unit, metres in (("millimetres", 1e-3), ("centimetres", 1e-2))
            if height[0] <= tall * metres <= height[1]
        ]
        way = f"; in {fits[0]} it would fit" if fits else "; check the size of the board's squares"
        found.append(f"landmarks: from ankles to ears {tall:.3g} m, expected {height[0]:g} to {height[1]:g}{way}")
    floor = find_ground(landmarks).height if any(name in landmarks.names for name in _FEET) and tall < 10 else np.nan
    middle = np.nanmedian(landmarks.positions.reshape(-1, 3), axis=0)
    for camera in cameras:
        centre = camera_centre(camera)
        if np.isfinite(floor) and centre[1] < floor - 0.05:
            found.append(
                f"{camera.name}: stands {floor - centre[1]:.2f} m under the floor; the ground plane is mirrored, as a "
                "flat board allows: use its other solution"
            )
        depth = rot.rotate(camera.rotation, middle)[2] + camera.translation[2]
        if np.isfinite(depth) and depth <= 0:
            found.append(f"{camera.name}: the person is behind it; its rotation or translation is not world to camera")
    return tuple(found)


def _rise(landmarks: Landmarks) -> np.ndarray:
    points = with_virtual_points(landmarks)
    ankles = [points[name] for name in ("left_ankle", "right_ankle") if name in points]
    return points["head_center"] - np.mean(ankles, axis=0)


def _on_floor(landmarks: Landmarks, ground: Ground) -> np.ndarray:
    """A point of the floor, under the feet."""
    feet = [landmarks.positions[:, landmarks.names.index(name)] for name in _FEET if name in landmarks.names]
    centre = np.nanmedian(np.concatenate(feet), axis=0)
    return np.array([centre[0], ground.height, centre[2]])
