"""Body landmarks in pictures and videos, behind a small interface; MediaPipe is one way to fill it.

A detector takes a picture and gives x, y and confidence of named points. Whatever finds them elsewhere comes in through
files (`motionbook.capture.readers`), which needs nothing installed; MediaPipe is installed beside the book
(`motionbook.capture.mediapipe_pose` says how).

Detectors differ between versions, and their own smoothing lags behind the motion; it is switched off here. Name and
version of the detector stay with its points (`Observations.source`), and `flicker` measures what it left.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from motionbook.capture.landmarks import Observations
from motionbook.capture.mediapipe_pose import MODELS, build_bundle, find_model, mediapipe_detector

__all__ = [
    "MODELS",
    "Detections",
    "Detector",
    "build_bundle",
    "detect_picture",
    "detect_video",
    "detect_videos",
    "find_model",
    "flicker",
    "mediapipe_detector",
]


class Detector(Protocol):
    """What finds landmarks in pictures, one after the other of one camera."""

    name: str
    """With version and model, e.g. "mediapipe 1.2.3, heavy"."""
    landmarks: tuple[str, ...]

    def detect(self, picture: np.ndarray, seconds: float) -> np.ndarray:
        """Points (landmarks, 3) x, y in pixels and confidence of a picture (height, width, 3), RGB uint8.

        NaN where nobody is seen. ``seconds`` is the picture's time, later than that of the one before.
        """

    def close(self) -> None:
        """Let go of what the detector holds."""


class Detections(NamedTuple):
    """Points of one video, (frames, landmarks, 3), their names, its rate and size, and the detector's name."""

    seen: np.ndarray
    names: tuple[str, ...]
    fps: float
    size: tuple[int, int]
    source: str


def detect_video(path: str | Path, detector: Detector, *, fps: float | None = None) -> Detections:
    """Landmarks of every picture of a video, decoded to its end: a header's frame count is not relied on.

    Parameters
    ----------
    path : path
    detector : Detector
        A fresh one per video, since it follows the person from picture to picture.
    fps : float, optional
        The true rate, where the file's header is wrong.

    Raises
    ------
    FileNotFoundError, ValueError
        When there is no such file, nothing can be decoded, or nothing says the rate.
    """
    import cv2

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such video")
    video = cv2.VideoCapture(str(path))
    try:
        rate = float(fps) if fps else float(video.get(cv2.CAP_PROP_FPS))
        if not (np.isfinite(rate) and rate > 0):
            raise ValueError(f"{path}: fps: the file does not say its rate; pass fps=")
        seen, size = [], None
        while True:
            there, picture = video.read()
            if not there:
                break
            size = (picture.shape[1], picture.shape[0])
            seen.append(detect_picture(detector, cv2.cvtColor(picture, cv2.COLOR_BGR2RGB), len(seen) / rate))
    finally:
        video.release()
    if not seen:
        raise ValueError(f"{path}: expected a video, no picture could be decoded")
    return Detections(np.stack(seen), tuple(detector.landmarks), rate, size, detector.name)


def detect_picture(detector: Detector, picture, seconds: float = 0.0) -> np.ndarray:
    """Points (landmarks, 3) of one picture, checked: right shape, and NaN for a confidence of 0.

    Raises
    ------
    ValueError
        When the picture is not (height, width, 3) uint8, or the detector gives another shape.
    """
    picture = np.asarray(picture)
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[-1] != 3:
        raise ValueError(f"picture: expected (height, width, 3) uint8, RGB, got {picture.shape} {picture.dtype}")
    points = np.asarray(detector.detect(np.ascontiguousarray(picture), seconds), dtype=np.float64)
    if points.shape != (len(detector.landmarks), 3):
        raise ValueError(f"{detector.name}: expected ({len(detector.landmarks)}, 3) numbers, got {points.shape}")
    return np.where(points[:, 2:] > 0, points, np.nan)


def detect_videos(
    paths: Sequence[str | Path], make_detector: Callable[[], Detector], *, fps: float | None = None
) -> Observations:
    """Landmarks of several cameras' videos of one take.

    Parameters
    ----------
    paths : sequence of path
        One per camera, synchronised and equally long.
    make_detector : function
        Gives a fresh detector per video, e.g. ``lambda: mediapipe_detector("heavy")``.
    fps : float, optional
        True rate of all of them.

    Raises
    ------
    ValueError
        When the videos have different numbers of pictures or rates, with all of them.
    """
    takes = []
    for path in paths:
        detector = make_detector()
        try:
            takes.append(detect_video(path, detector, fps=fps))
        finally:
            detector.close()
    counts = [len(take.seen) for take in takes]
    listed = ", ".join(f"{Path(p).name} {n} at {t.fps:g} fps" for p, n, t in zip(paths, counts, takes, strict=True))
    if len(set(counts)) != 1 or len({round(take.fps, 3) for take in takes}) != 1:
        raise ValueError(
            f"videos: expected equally many pictures at one rate, got {listed}; cut them with "
            "motionbook.capture.footage.equalise after synchronising, or detect them one by one (detect_video)"
        )
    seen = np.stack([take.seen for take in takes])
    return Observations(
        takes[0].names,
        seen[..., :2],
        np.nan_to_num(seen[..., 2]),
        takes[0].fps,
        tuple(take.size for take in takes),
        tuple(Path(path).stem for path in paths),
        takes[0].source,
    )


def flicker(pixels) -> np.ndarray:
    """Frame-to-frame noise in pixels per point, (..., points), from points (..., frames, points, 2).

    The robust spread of second differences, which vanish for steady motion, divided by sqrt(6): the standard deviation
    of noise that is independent from frame to frame. On a person who stands still it is the detector's own; quick
    motion adds to it. NaN where fewer than three frames in a row are known.
    """
    bends = np.diff(np.asarray(pixels, dtype=np.float64), n=2, axis=-3)
    bends = np.moveaxis(bends, -3, -1).reshape(*bends.shape[:-3], bends.shape[-2], -1)
    known = np.isfinite(bends)
    middle = np.ma.median(np.ma.masked_array(np.abs(bends), ~known), axis=-1)
    return 1.4826 * np.ma.filled(middle.astype(float), np.nan) / np.sqrt(6.0)
