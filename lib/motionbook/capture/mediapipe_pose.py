"""MediaPipe Pose as a detector, in both of its interfaces, with models that are fetched and never shipped.

MediaPipe's packages demand a second OpenCV, the older line NumPy 1 as well, so it is installed beside the book without
its requirements:

    pip install "motionbook[capture,mediapipe]"
    pip install --no-deps mediapipe==1.2.3
    motionbook data fetch mediapipe_models --part full          (or: --part full heavy, for lite and heavy too)

Versions from 0.10.30 on hold no models: they read a bundle that `build_bundle` makes on this machine from the fetched
ones. The older line, 0.10.21 (Python 3.11 and 3.12), has its own interface, mp.solutions, and its full model inside. It
runs with NumPy 2 and the headless OpenCV when protobuf is older than 5:

    pip install "motionbook[capture,mediapipe]" "protobuf>=4.25.3,<5"
    pip install --no-deps mediapipe==0.10.21

Picture by picture, both give the same points (heavy, 100 real pictures: 0.15 pixels apart in the median). Their
smoothing differs and lags: 0.10.21 is about one picture late at 60 per second, and 1.2.3 smooths whenever it follows a
person. So it is off unless asked for; a zero-phase filter does it later (`motionbook.capture.postprocess`).
"""

import hashlib
import importlib
import importlib.util
import io
import sys
import types
import zipfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from motionbook.capture.landmarks import LANDMARKS
from motionbook.files import write_whole

MODELS = ("lite", "full", "heavy")
INSTALL = (
    "pip install 'motionbook[capture,mediapipe]' and then pip install --no-deps mediapipe==1.2.3; the models come with "
    "motionbook data fetch mediapipe_models --part full"
)

# Models by what they are: file name, SHA-256 and the manifest's parts that hold them.
_FILES = {
    "detector": (
        "pose_detection.tflite",
        "9ba9dd3d42efaaba86b4ff0122b06f29c4122e756b329d89dca1e297fd8f866c",
        "full",
    ),
    "lite": (
        "pose_landmark_lite.tflite",
        "f17bfbecadb61c3be1baa8b8d851cc6619c870a87167b32848ad20db306b9d61",
        "heavy",
    ),
    "full": (
        "pose_landmark_full.tflite",
        "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f",
        "full",
    ),
    "heavy": (
        "pose_landmark_heavy.tflite",
        "59e42d71bcd44cbdbabc419f0ff76686595fd265419566bd4009ef703ea8e1fe",
        "heavy",
    ),
}


def mediapipe_detector(model: str = "full", *, models: str | Path | None = None, smooth: bool = False):
    """MediaPipe Pose as a `motionbook.capture.detector.Detector`, by whichever interface the installed version has.

    Parameters
    ----------
    model : "lite", "full" or "heavy"
        FreeMoCap uses heavy.
    models : path, optional
        Folder of the fetched models; ``motionbook.data.catalogue.data_home() / "mediapipe_models"`` when left out.
    smooth : bool
        MediaPipe's own smoothing, which lags. Without it, 0.10.21 follows the person from picture to picture; newer
        versions cannot follow without smoothing and look at each picture by itself.

    Raises
    ------
    ImportError
        When MediaPipe is not installed, with how to.
    FileNotFoundError
        When a model is not there, with the command that fetches it.
    """
    if model not in MODELS:
        raise ValueError(f"model: expected {', '.join(MODELS)}, got {model!r}")
    try:
        mediapipe = importlib.import_module("mediapipe")
    except ImportError as error:
        raise ImportError(f"MediaPipe cannot be imported ({error}): {INSTALL}. Or read points from files") from None
    if hasattr(mediapipe, "solutions"):
        return _Solutions(mediapipe, model, models, smooth)
    return _Tasks(mediapipe, model, models, smooth)


class _Solutions:
    """MediaPipe up to 0.10.21."""

    landmarks = LANDMARKS

    def __init__(self, mediapipe, model: str, models, smooth: bool):
        self.name = f"mediapipe {mediapipe.__version__}, {model}{', smoothed' if smooth else ''}"
        _place_model(Path(mediapipe.__file__).parent, model, models)
        self._pose = mediapipe.solutions.pose.Pose(model_complexity=MODELS.index(model), smooth_landmarks=smooth)

    def detect(self, picture, seconds):
        found = self._pose.process(picture).pose_landmarks
        return _points(found.landmark if found else (), picture)

    def close(self):
        self._pose.close()


class _Tasks:
    """MediaPipe from 0.10.30 on."""

    landmarks = LANDMARKS

    def __init__(self, mediapipe, model: str, models, smooth: bool):
        vision = importlib.import_module("mediapipe.tasks.python.vision")
        options = importlib.import_module("mediapipe.tasks.python.core.base_options")
        self.name = f"mediapipe {mediapipe.__version__}, {model}{', smoothed' if smooth else ''}"
        self._video, self._image, self._last = smooth, mediapipe, -1
        mode = vision.RunningMode.VIDEO if smooth else vision.RunningMode.IMAGE
        bundle = build_bundle(model, models)
        self._landmarker = vision.PoseLandmarker.create_from_options(
            vision.PoseLandmarkerOptions(
                base_options=options.BaseOptions(model_asset_path=str(bundle)), running_mode=mode
            )
        )

    def detect(self, picture, seconds):
        image = self._image.Image(image_format=self._image.ImageFormat.SRGB, data=picture)
        if self._video:
            # milliseconds that must rise, also where two pictures fall into one
            self._last = max(round(1000 * seconds), self._last + 1)
            found = self._landmarker.detect_for_video(image, self._last).pose_landmarks
        else:
            found = self._landmarker.detect(image).pose_landmarks
        return _points(found[0] if found else (), picture)

    def close(self):
        self._landmarker.close()


def _points(found: Iterable, picture) -> np.ndarray:
    """Fractions of the picture as pixels, (33, 3); NaN when nobody was found."""
    height, width = picture.shape[:2]
    points = [(p.x * width, p.y * height, p.visibility) for p in found]
    return np.array(points) if points else np.full((len(LANDMARKS), 3), np.nan)


def find_model(model: str, models: str | Path | None = None) -> bytes:
    """A model file of MediaPipe ("detector", "lite", "full" or "heavy"), wherever it was fetched to.

    Looked into: the folder's .tflite files and MediaPipe wheels, then the installed package.

    Raises
    ------
    FileNotFoundError
        With the command that fetches it.
    ValueError
        When what is there is another file than the one this was tested with.
    """
    from motionbook.data.catalogue import data_home

    name, digest, part = _FILES[model]
    folder = Path(models) if models else data_home() / "mediapipe_models"
    content, origin = None, None
    for path in sorted(folder.rglob(name)) if folder.is_dir() else ():
        content, origin = path.read_bytes(), path
    for path in sorted(folder.glob("mediapipe-*.whl")) if content is None and folder.is_dir() else ():
        with zipfile.ZipFile(path) as wheel:
            inside = [entry for entry in wheel.namelist() if entry.endswith("/" + name)]
            content, origin = (wheel.read(inside[0]), path) if inside else (None, None)
    if content is None and (package := _package()) is not None:
        for path in sorted((package / "modules").rglob(name)):
            content, origin = path.read_bytes(), path
    if content is None:
        raise FileNotFoundError(f"{folder}: no {name}; fetch it: motionbook data fetch mediapipe_models --part {part}")
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(
            f"{origin}: {name} is not the file this was made for (SHA-256 {digest[:12]}...); fetch it again"
        )
    return content


def _package() -> Path | None:
    found = importlib.util.find_spec("mediapipe")
    return Path(found.origin).parent if found and found.origin else None


def _place_model(package: Path, model: str, models) -> None:
    """Put a model where mp.solutions looks for it, inside its package; it would try to download it otherwise."""
    target = package / "modules" / "pose_landmark" / _FILES[model][0]
    if not target.is_file():
        write_whole(target, find_model(model, models))


def build_bundle(model: str, models: str | Path | None = None) -> Path:
    """The .task bundle of a model that MediaPipe from 0.10.30 on reads, built from the fetched files on first use.

    A bundle is a stored zip of the person detector and the landmark model, each with a note of how its pictures are
    scaled: to -1..1 for the detector, 0..1 for the landmarks.

    Raises
    ------
    FileNotFoundError, ValueError
        As `find_model`.
    """
    from motionbook.data.catalogue import data_home

    folder = Path(models) if models else data_home() / "mediapipe_models"
    target = folder / f"pose_landmarker_{model}.task"
    if target.is_file():
        return target
    parts = (
        ("pose_detector.tflite", find_model("detector", models), 127.5, 127.5),
        ("pose_landmarks_detector.tflite", find_model(model, models), 0.0, 255.0),
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as bundle:
        for name, content, mean, deviation in parts:
            # a fixed date: equal models make equal bundles
            bundle.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), _with_scaling(content, mean, deviation))
    return write_whole(target, packed.getvalue())


_VERSION_MODULE = "mediapipe.tasks.cc.metadata.python._pywrap_metadata_version"


def _with_scaling(model: bytes, mean: float, deviation: float) -> bytes:
    """A model with the metadata of an image input, by MediaPipe's own writer."""
    standins = _stand_in_version_module()
    try:
        writer = importlib.import_module("mediapipe.tasks.python.metadata.metadata_writers.metadata_writer")
        made = writer.MetadataWriter.create(bytearray(model))
        made.add_image_input([mean], [deviation])
        return bytes(made.populate()[0])
    except ImportError as error:
        raise ImportError(f"MediaPipe's metadata writer cannot be imported ({error}): {INSTALL}") from None
    finally:
        for name in standins:
            sys.modules.pop(name, None)


def _stand_in_version_module() -> list[str]:
    """MediaPipe 1.x lacks a compiled module that its own writer imports; what it would say is the oldest version."""
    try:
        importlib.import_module(_VERSION_MODULE)
        return []
    except ImportError:
        pass
    made, words = [], _VERSION_MODULE.split(".")
    for end in range(3, len(words) + 1):
        name = ".".join(words[:end])
        if name in sys.modules:
            continue
        module = types.ModuleType(name)
        module.__path__ = []
        sys.modules[name] = module
        made.append(name)
    sys.modules[_VERSION_MODULE].GetMinimumMetadataParserVersion = lambda buffer: "1.0.0"
    sys.modules[".".join(words[:-1])]._pywrap_metadata_version = sys.modules[_VERSION_MODULE]
    return made
