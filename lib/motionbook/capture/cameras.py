"""Pinhole cameras with lens distortion, and where to put four of them.

A camera maps a world point X to x = R X + t in its own axes (x right, y down, z along the view), divides by depth,
bends the result by the lens (radial k1, k2, k3 and tangential p1, p2, in OpenCV's order k1 k2 p1 p2 k3) and scales it
to pixels. The world is Y up and in metres, as everywhere in the book.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionbook import rotations as rot
from motionbook.capture import lens
from motionbook.checks import check_finite, check_shape, check_unit


@dataclass(frozen=True, eq=False)
class Camera:
    """One calibrated camera.

    Attributes
    ----------
    intrinsics : (3, 3) array
        Focal lengths and principal point, pixels: [[fx, 0, cx], [0, fy, cy], [0, 0, 1]].
    distortion : (5,) array
        k1, k2, p1, p2, k3; four numbers are taken as k3 = 0.
    rotation : (4,) array
        Unit quaternion wxyz, world to camera.
    translation : (3,) array
        World to camera, metres: x_camera = rotate(rotation, x_world) + translation.
    size : (int, int)
        Width and height of the picture, pixels.
    name : str
    """

    intrinsics: np.ndarray
    distortion: np.ndarray
    rotation: np.ndarray
    translation: np.ndarray
    size: tuple[int, int]
    name: str = "camera"

    def __post_init__(self):
        distortion = np.zeros(5)
        given = np.asarray(self.distortion, dtype=np.float64).ravel()
        if len(given) not in (0, 4, 5):
            raise ValueError(f"distortion: expected 4 or 5 numbers (k1 k2 p1 p2 [k3]), got {len(given)}")
        distortion[: len(given)] = given
        values = {
            "intrinsics": check_shape(self.intrinsics, "3 3", "intrinsics"),
            "distortion": distortion,
            "rotation": check_shape(self.rotation, "4", "rotation"),
            "translation": check_shape(self.translation, "3", "translation"),
        }
        for field, value in values.items():
            check_finite(value, f"{self.name}: {field}")
            object.__setattr__(self, field, value)
        check_unit(values["rotation"], f"{self.name}: rotation")
        if not (values["intrinsics"][0, 0] > 0 and values["intrinsics"][1, 1] > 0):
            raise ValueError(f"{self.name}: intrinsics: expected positive focal lengths, got {self.intrinsics}")
        width, height = (int(n) for n in self.size)
        object.__setattr__(self, "size", (width, height))


def camera_centre(camera: Camera) -> np.ndarray:
    """World place (3,) of the camera's centre, metres."""
    return -rot.rotate(rot.inverse(camera.rotation), camera.translation)


def project(camera: Camera, points) -> np.ndarray:
    """Pixels (..., 2) of world points (..., 3); NaN for points behind the camera. Lens distortion included."""
    seen = rot.rotate(camera.rotation, check_shape(points, "... 3", "points")) + camera.translation
    depth = np.where(seen[..., 2] > 1e-6, seen[..., 2], np.nan)
    flat = seen[..., :2] / depth[..., None]
    return _distort(camera, flat) * _focal(camera) + _principal(camera)


def normalised(camera: Camera, pixels) -> np.ndarray:
    """Distortion-free image coordinates (..., 2), x/z and y/z in the camera's axes, from pixels (..., 2).

    The lens model has no closed inverse; `motionbook.capture.lens.undistort` iterates to rounding. Pixels far outside
    the picture, where the lens polynomial turns back, have no such place and give NaN.
    """
    bent = (check_shape(pixels, "... 2", "pixels") - _principal(camera)) / _focal(camera)
    return np.stack(lens.undistort(camera.distortion, bent[..., 0], bent[..., 1]), axis=-1)


def _focal(camera):
    return camera.intrinsics[[0, 1], [0, 1]]


def _principal(camera):
    return camera.intrinsics[:2, 2]


def _distort(camera, flat):
    if not camera.distortion.any():
        return flat
    return np.stack(lens.distort(camera.distortion, flat[..., 0], flat[..., 1]), axis=-1)


def look_at(position, target, *, focal: float, size: tuple[int, int], distortion=(), name: str = "camera") -> Camera:
    """An upright camera at ``position`` whose optical axis goes through ``target``, both (3,) in metres."""
    position, target = check_shape(position, "3", "position"), check_shape(target, "3", "target")
    forward = target - position
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, [0.0, 1.0, 0.0])
    right = right / np.linalg.norm(right)
    rotation = rot.from_matrix(np.stack([right, np.cross(forward, right), forward]))
    intrinsics = np.array([[focal, 0, size[0] / 2], [0, focal, size[1] / 2], [0, 0, 1.0]])
    return Camera(intrinsics, distortion, rotation, -rot.rotate(rotation, position), size, name)


def semicircle(
    count: int = 4,
    *,
    radius: float = 3.0,
    height: float = 1.4,
    spread: float = np.deg2rad(135.0),
    focal: float = 1010.0,
    size: tuple[int, int] = (1920, 1080),
    distortion: Sequence[float] = (),
) -> tuple[Camera, ...]:
    """Cameras on an arc in front of a person who stands at the origin and faces +Z (StayStill, Figure 1).

    The paper prints the number of cameras (4), their kind (GoPro Hero 11), 1080p and 30 fps, and a drawing with
    approximate measures; the defaults here are ours: a focal length of 1010 pixels is the 87 degree view of that
    camera's linear mode.

    Parameters
    ----------
    count : int
    radius, height : float
        Metres, on the floor from the origin and above it; the cameras look at the middle of a standing person.
    spread : float
        Angle in radians between the outermost cameras as seen by the person.
    """
    if count < 2:
        raise ValueError(f"count: expected at least 2 cameras, one sees no depth, got {count}")
    angles = np.linspace(-0.5, 0.5, count) * spread
    places = np.stack([radius * np.sin(angles), np.full(count, height), radius * np.cos(angles)], axis=-1)
    return tuple(
        look_at(place, (0.0, 0.95, 0.0), focal=focal, size=size, distortion=distortion, name=f"cam{i + 1:02d}")
        for i, place in enumerate(places)
    )
