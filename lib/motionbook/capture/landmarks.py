"""Body landmarks: what a pose detector reports, and a simulated detector for the embedded performers.

The 33 points and their order are those of MediaPipe Pose (BlazePose), which FreeMoCap uses. A performer's true
landmarks are read off the joints of its clip, joints of the LaFAN1 skeleton plus a few surface points; the simulated
detector projects them into each camera and adds what detectors add: jitter that changes slowly, a confidence that
follows it, and landmarks lost for a few frames at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from motionbook import rotations as rot
from motionbook.capture.cameras import Camera, project
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
    """

    names: tuple[str, ...]
    positions: np.ndarray
    confidence: np.ndarray
    fps: float

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
    """

    names: tuple[str, ...]
    pixels: np.ndarray
    confidence: np.ndarray
    fps: float

    def __post_init__(self):
        pixels = check_shape(self.pixels, f"cameras frames {len(self.names)} 2", "pixels")
        confidence = check_shape(self.confidence, " ".join(map(str, pixels.shape[:-1])), "confidence")
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


def observe(
    landmarks: Landmarks,
    cameras: Sequence[Camera],
    rng: np.random.Generator,
    *,
    noise: float = 2.0,
    drop_share: float = 0.03,
    drop_seconds: float = 0.2,
) -> Observations:
    """What a simulated detector reports for each camera.

    Parameters
    ----------
    landmarks : Landmarks
    cameras : sequence of Camera
    rng : numpy Generator
    noise : float
        Standard deviation in pixels per axis at a confidence of 0.9; half of the variance changes slowly (0.3 s),
        half from frame to frame. It grows as the confidence falls, to twice that at 0.
    drop_share : float
        Share of observations lost, in bursts of ``drop_seconds``; points outside the picture are lost as well.
    """
    from scipy.signal import lfilter

    frames, count = landmarks.positions.shape[:2]
    shape = (len(cameras), frames, count)
    memory = np.exp(-1.0 / max(0.3 * landmarks.fps, 1e-9))

    def slow(size):
        drive = rng.standard_normal(size) * np.sqrt(1 - memory**2)
        drive[:, 0] /= np.sqrt(1 - memory**2)
        return lfilter([1.0], [1.0, -memory], drive, axis=1)

    confidence = np.clip(0.9 + 0.06 * slow(shape), 0.05, 1.0)
    spread = noise * (2.0 - confidence) / 1.1
    jitter = np.sqrt(0.5) * (slow((*shape, 2)) + rng.standard_normal((*shape, 2)))
    pixels = np.stack([project(camera, landmarks.positions) for camera in cameras]) + spread[..., None] * jitter
    length = max(round(drop_seconds * landmarks.fps), 1)
    starts = rng.random((len(cameras), frames + length - 1, count)) < -np.log1p(-drop_share) / length
    run = np.cumsum(np.pad(starts, ((0, 0), (1, 0), (0, 0))), axis=1)
    lost = run[:, length:] - run[:, :-length] > 0
    sizes = np.array([camera.size for camera in cameras])[:, None, None, :]
    with np.errstate(invalid="ignore"):
        lost |= ~((pixels >= 0) & (pixels < sizes)).all(axis=-1)
    pixels[lost] = np.nan
    return Observations(landmarks.names, pixels, np.where(lost, 0.0, confidence), landmarks.fps)
