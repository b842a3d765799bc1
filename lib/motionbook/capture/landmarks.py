"""Body landmarks: what a pose detector reports, and a simulated detector for the embedded performers.

The 33 points and their order are those of MediaPipe Pose (BlazePose), which FreeMoCap uses. A performer's true
landmarks are read off the joints of its clip, joints of the LaFAN1 skeleton plus a few surface points; the simulated
detector projects them into each camera and adds what detectors add: jitter that changes slowly, a confidence that
follows it, limbs guessed where the body hides them, left and right exchanged, gross outliers, and landmarks lost for a
few frames at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.cameras import Camera, camera_centre, project
from motionbook.capture.occlusion import hidden
from motionbook.checks import check_shape
from motionbook.clip import Clip
from motionbook.kinematics import forward_kinematics
from motionbook.skeletons import LAFAN1, t_pose

LANDMARKS = tuple(
    "nose left_eye_inner left_eye left_eye_outer right_eye_inner right_eye right_eye_outer left_ear right_ear "
    "mouth_left mouth_right left_shoulder right_shoulder left_elbow right_elbow left_wrist right_wrist left_pinky "
    "right_pinky left_index right_index left_thumb right_thumb left_hip right_hip left_knee right_knee left_ankle "
    "right_ankle left_heel right_heel left_foot_index right_foot_index".split(" ")
)

# Joint and offset in metres for an adult, in the axes of the T-pose (x to the left, y up, z ahead); sides mirrored.
_PLACES = {
    "nose": ("Head", (0, 0.035, 0.115)),
    "left_eye_inner": ("Head", (0.017, 0.07, 0.095)),
    "left_eye": ("Head", (0.032, 0.07, 0.092)),
    "left_eye_outer": ("Head", (0.045, 0.07, 0.085)),
    "left_ear": ("Head", (0.075, 0.045, 0.01)),
    "mouth_left": ("Head", (0.025, -0.005, 0.1)),
    "left_shoulder": ("LeftArm", (0, 0, 0)),
    "left_elbow": ("LeftForeArm", (0, 0, 0)),
    "left_wrist": ("LeftHand", (0, 0, 0)),
    "left_pinky": ("LeftHand", (0.08, 0, -0.03)),
    "left_index": ("LeftHand", (0.09, 0, 0.02)),
    "left_thumb": ("LeftHand", (0.05, 0, 0.045)),
    "left_hip": ("LeftUpLeg", (0, 0, 0)),
    "left_knee": ("LeftLeg", (0, 0, 0)),
    "left_ankle": ("LeftFoot", (0, 0, 0)),
    "left_heel": ("LeftFoot", (0, -0.05, -0.05)),
    "left_foot_index": ("LeftToe", (0, 0, 0)),
}


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Named points in space.

    Attributes
    ----------
    names : tuple of str
    positions : (frames, points, 3)
        Metres, NaN where unknown.
    confidence : (frames, points)
        0 to 1.
    fps : float
        The recording's true rate, 29.97 and not 30 where the camera said so.
    steps : tuple of str
        What was done to the points, in order, so that nothing is done twice.
    """

    names: tuple[str, ...]
    positions: np.ndarray
    confidence: np.ndarray
    fps: float
    steps: tuple[str, ...] = ()

    def __post_init__(self):
        positions = check_shape(self.positions, f"frames {len(self.names)} 3", "positions")
        confidence = check_shape(self.confidence, f"{len(positions)} {len(self.names)}", "confidence")
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "confidence", confidence)


@dataclass(frozen=True, eq=False)
class Observations:
    """Named points in pictures.

    Attributes
    ----------
    names : tuple of str
    pixels : (cameras, frames, points, 2)
        NaN where nothing was detected.
    confidence : (cameras, frames, points)
        0 to 1; 0 where nothing was detected.
    fps : float
    sizes : tuple of (width, height), optional
        Of each camera's pictures, pixels; None where the source does not say.
    cameras : tuple of str, optional
        Names of the cameras.
    source : str
        The detector and its version, or the file's kind: jitter differs between versions of one detector.
    """

    names: tuple[str, ...]
    pixels: np.ndarray
    confidence: np.ndarray
    fps: float
    sizes: tuple[tuple[int, int], ...] | None = None
    cameras: tuple[str, ...] | None = None
    source: str = ""

    def __post_init__(self):
        pixels = check_shape(self.pixels, f"cameras frames {len(self.names)} 2", "pixels")
        confidence = check_shape(self.confidence, " ".join(map(str, pixels.shape[:-1])), "confidence")
        for field in ("sizes", "cameras"):
            given = getattr(self, field)
            if given is not None and len(given) != len(pixels):
                raise ValueError(f"{field}: expected one per camera ({len(pixels)}), got {len(given)}")
        if self.sizes is not None:
            object.__setattr__(self, "sizes", tuple((int(w), int(h)) for w, h in self.sizes))
        object.__setattr__(self, "pixels", pixels)
        object.__setattr__(self, "confidence", confidence)


def true_landmarks(clip: Clip) -> Landmarks:
    """The 33 landmarks of a performer's clip on the LaFAN1 joints, without error.

    Hip, shoulder, elbow, wrist, knee and ankle are the joints themselves, the foot index is the toe joint; face, heel
    and finger points hang on their joint at a fixed offset that grows with the neck's length.

    Raises
    ------
    ValueError
        When the clip's joints are not LaFAN1's.
    """
    skeleton = clip.skeleton
    if skeleton.names != LAFAN1.names:
        raise ValueError("clip: expected the LaFAN1 joints; retarget it with motionbook.cleaning.retarget first")
    places, turned = forward_kinematics(clip)
    straight = t_pose(skeleton)
    size = np.linalg.norm(skeleton.offsets[skeleton.index("Head")]) / np.linalg.norm(
        LAFAN1.offsets[LAFAN1.index("Head")]
    )
    positions = np.empty((len(clip), len(LANDMARKS), 3))
    for index, name in enumerate(LANDMARKS):
        mirrored = name.replace("right", "left")
        joint, offset = _PLACES[mirrored]
        offset = size * np.array(offset, dtype=np.float64)
        if mirrored != name:
            joint, offset = joint.replace("Left", "Right"), offset * [-1, 1, 1]
        j = skeleton.index(joint)
        lean = rot.multiply(turned[:, j], rot.inverse(straight[j]))
        positions[:, index] = places[:, j] + rot.rotate(lean, offset)
    return Landmarks(LANDMARKS, positions, np.ones(positions.shape[:2]), clip.fps)


class Simulated(NamedTuple):
    """What a simulated detector reports and what was done to it, each mask (cameras, frames, points) bool.

    ``hidden`` the body was in between, ``swapped`` left and right were exchanged, ``outliers`` thrown anywhere near,
    ``lost`` not reported.
    """

    observations: Observations
    hidden: np.ndarray
    swapped: np.ndarray
    outliers: np.ndarray
    lost: np.ndarray


# The embedded default. Measured on the Pose2Sim recording (MediaPipe heavy, four cameras): a limb's visibility falls
# from 0.98 to about 0.4 where the body hides it and its flicker doubles; face, shoulders and hips keep 1.0 always.
# Shares of swaps and outliers are assumptions: public reports describe both, none counts them.
REALISTIC = {
    "noise": 2.0,
    "drop_share": 0.03,
    "drop_seconds": 0.2,
    "occlusion": True,
    "swap_share": 0.01,
    "outlier_share": 0.005,
}
_PAIRS = [
    (i, LANDMARKS.index(name.replace("left", "right"))) for i, name in enumerate(LANDMARKS) if name.startswith("left")
]
_LIMBS = ("elbow", "wrist", "pinky", "index", "thumb", "knee", "ankle", "heel")
_HIDDEN_CONFIDENCE = 0.5  # what a hidden limb's confidence loses
_HIDDEN_SPREAD = 2.0  # and how much wider its noise gets, beside what the confidence says


def observe(landmarks: Landmarks, cameras: Sequence[Camera], rng: np.random.Generator, **errors) -> Observations:
    """What a simulated detector reports for each camera; ``errors`` as in `simulate`.

    ``observe(truth, cameras, rng, **REALISTIC)`` is the embedded default; without it, there is noise of 2 pixels and
    3 % of the observations are lost.
    """
    return simulate(landmarks, cameras, rng, **errors).observations


def simulate(
    landmarks: Landmarks,
    cameras: Sequence[Camera],
    rng: np.random.Generator,
    *,
    noise=2.0,
    drop_share=0.03,
    drop_seconds: float = 0.2,
    occlusion: bool = False,
    swap_share=0.0,
    swap_seconds: float = 0.2,
    outlier_share=0.0,
    outlier_pixels: float = 200.0,
) -> Simulated:
    """What a simulated detector reports, with the record of what was done to it.

    ``noise`` and the shares may be one number, or one per camera: a share of 1 is a dead camera.

    Parameters
    ----------
    landmarks : Landmarks
    cameras : sequence of Camera
    rng : numpy Generator
    noise : float or sequence of float
        Standard deviation in pixels per axis at a confidence of 0.9; half of the variance changes slowly (0.3 s),
        half from frame to frame. It grows as the confidence falls, to twice that at 0.
    drop_share, drop_seconds : float
        Share of observations lost, in bursts; points outside the picture are lost as well.
    occlusion : bool
        Points that the body hides are guessed: their noise triples, and the confidence of a limb's falls to 0.4. That
        of face, shoulders and hips does not, as MediaPipe's does not.
    swap_share, swap_seconds : float
        Share of pictures in which the left and right landmarks of the arms, of the legs or of both have changed
        places, in bursts; likelier the more a person stands sideways to the camera.
    outlier_share, outlier_pixels : float
        Share of observations moved by up to that many pixels along each axis, uniformly.
    """
    from scipy.ndimage import uniform_filter1d
    from scipy.signal import lfilter

    count, (frames, points) = len(cameras), landmarks.positions.shape[:2]
    noise, drop_share, swap_share, outlier_share = (
        _per_camera(value, count, name)
        for name, value in (
            ("noise", noise),
            ("drop_share", drop_share),
            ("swap_share", swap_share),
            ("outlier_share", outlier_share),
        )
    )
    shape = (count, frames, points)
    memory = np.exp(-1.0 / max(0.3 * landmarks.fps, 1e-9))

    def slow(size):
        drive = rng.standard_normal(size) * np.sqrt(1 - memory**2)
        drive[:, 0] /= np.sqrt(1 - memory**2)
        return lfilter([1.0], [1.0, -memory], drive, axis=1)

    confidence = 0.9 + 0.06 * slow(shape)
    guessed = np.zeros(shape, dtype=bool)
    widened = 1.0
    if occlusion:
        guessed = np.stack([hidden(landmarks.names, landmarks.positions, camera) for camera in cameras])
        # a detector looks at more than one pixel: what the body covers goes and comes back within a tenth of a second
        share = uniform_filter1d(guessed.astype(float), max(round(0.1 * landmarks.fps), 1), axis=1)
        limbs = np.array([name.endswith(_LIMBS) for name in landmarks.names])
        confidence = confidence - _HIDDEN_CONFIDENCE * share * limbs
        widened = 1.0 + _HIDDEN_SPREAD * share
    confidence = np.clip(confidence, 0.05, 1.0)
    spread = widened * noise * (2.0 - confidence) / 1.1
    jitter = np.sqrt(0.5) * (slow((*shape, 2)) + rng.standard_normal((*shape, 2)))
    exact = np.stack([project(camera, landmarks.positions) for camera in cameras])
    pixels = exact + spread[..., None] * jitter
    lost = _bursts(rng, np.broadcast_to(drop_share, shape), drop_seconds * landmarks.fps)
    swapped = np.zeros(shape, dtype=bool)
    if (swap_share > 0).any():
        swapped = _swap(landmarks, cameras, rng, swap_share, swap_seconds, pixels, confidence)
    outliers = np.zeros(shape, dtype=bool)
    if (outlier_share > 0).any():
        outliers = rng.random(shape) < outlier_share
        pixels += np.where(outliers[..., None], rng.uniform(-outlier_pixels, outlier_pixels, (*shape, 2)), 0.0)
    sizes = np.array([camera.size for camera in cameras])[:, None, None, :]
    with np.errstate(invalid="ignore"):
        lost |= ~((pixels >= 0) & (pixels < sizes)).all(axis=-1)
    pixels[lost] = np.nan
    seen = Observations(
        landmarks.names,
        pixels,
        np.where(lost, 0.0, confidence),
        landmarks.fps,
        tuple(camera.size for camera in cameras),
        tuple(camera.name for camera in cameras),
        "simulated detector",
    )
    return Simulated(seen, guessed, swapped, outliers, lost)


def _per_camera(value, count: int, name: str) -> np.ndarray:
    """One number per camera, (cameras, 1, 1)."""
    given = np.asarray(value, dtype=np.float64)
    if given.shape not in ((), (count,)):
        raise ValueError(f"{name}: expected one number, or one per camera ({count}), got shape {given.shape}")
    if not (given >= 0).all() or (name != "noise" and (given > 1).any()):
        raise ValueError(f"{name}: expected {'a standard deviation' if name == 'noise' else '0 to 1'}, got {value}")
    return np.broadcast_to(given, (count,)).reshape(count, 1, 1)


def _bursts(rng, share: np.ndarray, frames: float) -> np.ndarray:
    """Random runs of ``frames`` frames that cover ``share`` (cameras, frames, k) of the time, bool."""
    length = max(round(frames), 1)
    with np.errstate(divide="ignore"):
        rate = -np.log1p(-share) / length
    ahead = np.concatenate([np.repeat(rate[:, :1], length - 1, axis=1), rate], axis=1)
    starts = rng.random(ahead.shape) < ahead
    run = np.cumsum(np.pad(starts, ((0, 0), (1, 0), (0, 0))), axis=1)
    return run[:, length:] - run[:, :-length] > 0


def _swap(landmarks, cameras, rng, share, seconds, pixels, confidence) -> np.ndarray:
    """Exchange left and right in place where it happens; which points, (cameras, frames, points) bool."""
    if landmarks.names != LANDMARKS:
        raise ValueError("swap_share: left and right are known of MediaPipe's 33 landmarks only; set it to 0")
    places = landmarks.positions
    across = places[:, LANDMARKS.index("left_shoulder")] - places[:, LANDMARKS.index("right_shoulder")]
    middle = places[:, LANDMARKS.index("left_shoulder")] - 0.5 * across
    sideways = np.empty((len(cameras), len(places)))
    for index, camera in enumerate(cameras):
        view = middle - camera_centre(camera)
        cosine = np.einsum("ti,ti->t", view, across) / np.maximum(
            np.linalg.norm(view, axis=1) * np.linalg.norm(across, axis=1), 1e-9
        )
        sideways[index] = np.nan_to_num(cosine**2)
    weight = sideways / max(sideways.mean(), 1e-9) if len(places) else sideways
    chance = np.minimum(share * weight[..., None], 1.0)
    bursts = _bursts(rng, np.repeat(chance, 2, axis=2), seconds * landmarks.fps)
    swapped = np.zeros(pixels.shape[:3], dtype=bool)
    arms = ("shoulder", "elbow", "wrist", "pinky", "thumb", "left_index", "right_index")
    legs = ("hip", "knee", "ankle", "heel", "foot_index")
    for left, right in _PAIRS:
        for group, endings in enumerate((arms, legs)):
            if LANDMARKS[left].endswith(endings):
                now = bursts[..., group]
                swapped[..., left] = swapped[..., right] = now
                for values in (pixels, confidence):
                    a, b = values[:, :, left].copy(), values[:, :, right].copy()
                    values[:, :, left][now], values[:, :, right][now] = b[now], a[now]
    return swapped
