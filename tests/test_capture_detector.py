"""The detector's interface with a detector of our own; MediaPipe's models by files made here; the real one if there."""

import hashlib
import importlib.util
import sys
import types
import zipfile

import numpy as np
import pytest

from motionbook.capture import LANDMARKS, mediapipe_pose
from motionbook.capture.detector import (
    build_bundle,
    detect_picture,
    detect_video,
    detect_videos,
    find_model,
    flicker,
    mediapipe_detector,
)
from motionbook.data.catalogue import data_home, find_manifest

HAS_MEDIAPIPE = importlib.util.find_spec("mediapipe") is not None


class RedSquare:
    """Finds the middle of what is red; every landmark is there."""

    landmarks = LANDMARKS

    def __init__(self, name="red square 1.0"):
        self.name, self.times, self.closed = name, [], False

    def detect(self, picture, seconds):
        self.times.append(seconds)
        rows, columns = np.nonzero((picture[..., 0] > 150) & (picture[..., 2] < 100))
        if not len(rows):
            return np.full((33, 3), np.nan)
        return np.tile([columns.mean(), rows.mean(), 0.9], (33, 1))

    def close(self):
        self.closed = True


def film(path, places, fps=29.97, size=(160, 120)):
    cv2 = pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
    out = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"mp4v"), fps, size)
    for place in places:
        picture = np.full((size[1], size[0], 3), 40, dtype=np.uint8)
        if place is not None:
            x, y = place
            picture[y - 8 : y + 8, x - 8 : x + 8] = (0, 0, 230)  # red in OpenCV's order
        out.write(picture)
    out.release()
    return path


def test_a_video_is_read_to_its_end_in_rgb_at_its_own_rate(tmp_path):
    places = [(20 + 3 * i, 40) for i in range(20)]
    places[7] = None
    path = film(tmp_path / "cam1.mp4", places)
    detector = RedSquare()
    found = detect_video(path, detector)
    assert found.seen.shape == (20, 33, 3) and found.size == (160, 120) and found.source == "red square 1.0"
    assert found.fps == pytest.approx(29.97, abs=1e-3)
    wanted = np.array([(np.nan, np.nan) if p is None else p for p in places]) - 0.5
    np.testing.assert_allclose(found.seen[:, 0, :2], wanted, atol=1.5)
    np.testing.assert_allclose(detector.times, np.arange(20) / 29.97, atol=1e-5)
    assert detect_video(path, RedSquare(), fps=30000 / 1001).fps == 30000 / 1001


def test_several_videos_become_observations_with_sizes_names_and_source(tmp_path):
    a = film(tmp_path / "left.mp4", [(30, 30)] * 6)
    b = film(tmp_path / "right.mp4", [(60, 50), None, (60, 50), (60, 50), (60, 50), (60, 50)], size=(120, 160))
    made = []

    def make():
        made.append(RedSquare())
        return made[-1]

    seen = detect_videos([a, b], make)
    assert seen.names == LANDMARKS and seen.pixels.shape == (2, 6, 33, 2) and seen.cameras == ("left", "right")
    assert seen.sizes == ((160, 120), (120, 160)) and seen.source == "red square 1.0"
    assert np.isnan(seen.pixels[1, 1]).all() and (seen.confidence[1, 1] == 0).all() and (seen.confidence[0] > 0).all()
    assert len(made) == 2 and all(detector.closed for detector in made)  # a fresh one per camera
    short = film(tmp_path / "short.mp4", [(30, 30)] * 4)
    with pytest.raises(ValueError, match=r"left\.mp4 6 at 29\.97 fps, short\.mp4 4 at 29\.97 fps; cut them"):
        detect_videos([a, short], make)


def test_what_a_detector_gives_is_checked():
    class Short(RedSquare):
        def detect(self, picture, seconds):
            return np.zeros((5, 3))

    class Unsure(RedSquare):
        def detect(self, picture, seconds):
            return np.tile([3.0, 4.0, 0.0], (33, 1))

    picture = np.zeros((4, 4, 3), dtype=np.uint8)
    with pytest.raises(ValueError, match=r"red square 1\.0: expected \(33, 3\) numbers, got \(5, 3\)"):
        detect_picture(Short(), picture)
    with pytest.raises(ValueError, match=r"picture: expected \(height, width, 3\) uint8"):
        detect_picture(RedSquare(), picture.astype(float))
    assert np.isnan(detect_picture(Unsure(), picture)).all()


def test_files_that_are_no_videos_are_named(tmp_path):
    pytest.importorskip("cv2", reason="OpenCV comes with the capture extra")
    with pytest.raises(FileNotFoundError, match=r"gone\.mp4: no such video"):
        detect_video(tmp_path / "gone.mp4", RedSquare())
    (tmp_path / "text.mp4").write_text("no video")
    with pytest.raises(ValueError, match=r"text\.mp4: (fps|expected a video)"):
        detect_video(tmp_path / "text.mp4", RedSquare())


def test_flicker_is_the_noise_of_a_still_person_and_not_the_motion():
    rng = np.random.default_rng(0)
    t = np.arange(2000) / 60.0
    path = np.stack([300 * np.sin(0.5 * t), 100 * t], axis=-1)[None, :, None].repeat(3, axis=2)
    noise = np.array([0.5, 2.0, 0.0])[None, None, :, None] * rng.standard_normal(path.shape)
    noisy = path + noise
    noisy[:, 100:110] = np.nan
    np.testing.assert_allclose(flicker(noisy)[0], [0.5, 2.0, 0.0], rtol=0.06, atol=0.02)
    assert np.isnan(flicker(np.full((2, 1, 2), np.nan))).all()


def test_smoothing_shows_as_less_flicker_on_the_real_recording(shared_data):
    """MediaPipe heavy with its smoothing on; without it, the same video gave 1.7 pixels."""
    with np.load(shared_data / "capture" / "pose2sim_demo" / "mediapipe33_heavy_2d.npz") as arrays:
        left = np.median(flicker(arrays["xyv"][..., :2]))
    assert 0.4 < left < 1.2


# --- models ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def models(tmp_path, monkeypatch):
    """Small files in place of the models, known by their checksums, in the two packages that hold the real ones."""
    content = {key: f"model {key}".encode() * 3 for key in mediapipe_pose._FILES}
    known = {
        key: (name, hashlib.sha256(content[key]).hexdigest(), part)
        for key, (name, _, part) in mediapipe_pose._FILES.items()
    }
    monkeypatch.setattr(mediapipe_pose, "_FILES", known)
    monkeypatch.setattr(mediapipe_pose, "_package", lambda: None)
    with zipfile.ZipFile(tmp_path / "mediapipe-0.10.21-cp311-cp311-any.whl", "w") as wheel:
        for key, folder in (("detector", "pose_detection"), ("full", "pose_landmark")):
            wheel.writestr(f"mediapipe/modules/{folder}/{known[key][0]}", content[key])
    (tmp_path / "package").mkdir()
    for key in ("lite", "heavy"):
        (tmp_path / "package" / known[key][0]).write_bytes(content[key])
    return tmp_path, content


def test_models_are_found_in_the_wheel_and_the_npm_package(models):
    folder, content = models
    for key, wanted in content.items():
        assert find_model(key, folder) == wanted


def test_missing_models_are_named_with_the_command(models, tmp_path_factory):
    with pytest.raises(
        FileNotFoundError, match=r"no pose_landmark_heavy\.tflite; fetch it: motionbook data fetch .* heavy"
    ):
        find_model("heavy", tmp_path_factory.mktemp("empty"))


def test_another_file_under_a_models_name_is_refused(models):
    folder, _ = models
    (folder / "package" / "pose_landmark_heavy.tflite").write_bytes(b"a web page")
    with pytest.raises(ValueError, match=r"pose_landmark_heavy\.tflite is not the file this was made for"):
        find_model("heavy", folder)


def test_a_bundle_is_a_stored_zip_of_two_scaled_models_made_once(models, monkeypatch):
    """With a writer in place of MediaPipe's, which must find the module that its newer packages lack."""
    folder, content = models
    calls = []

    class Writer:
        @classmethod
        def create(cls, model):
            from importlib import import_module

            version = import_module(mediapipe_pose._VERSION_MODULE).GetMinimumMetadataParserVersion(b"")
            writer = cls()
            writer.model, writer.version = bytes(model), version
            return writer

        def add_image_input(self, mean, deviation):
            calls.append((self.model, mean, deviation))
            return self

        def populate(self):
            return bytearray(self.model + self.version.encode()), "json"

    name = "mediapipe.tasks.python.metadata.metadata_writers"
    for index in range(1, 6):
        part = ".".join(name.split(".")[:index])
        module = types.ModuleType(part)
        module.__path__ = []
        monkeypatch.setitem(sys.modules, part, module)
    writer = types.ModuleType(f"{name}.metadata_writer")
    writer.MetadataWriter = Writer
    monkeypatch.setitem(sys.modules, f"{name}.metadata_writer", writer)
    before = set(sys.modules)
    path = build_bundle("heavy", folder)
    assert set(sys.modules) == before  # the stand-in is gone
    with zipfile.ZipFile(path) as bundle:
        assert bundle.namelist() == ["pose_detector.tflite", "pose_landmarks_detector.tflite"]
        assert {entry.compress_type for entry in bundle.infolist()} == {zipfile.ZIP_STORED}
        assert bundle.read("pose_landmarks_detector.tflite") == content["heavy"] + b"1.0.0"
    assert calls == [(content["detector"], [127.5], [127.5]), (content["heavy"], [0.0], [255.0])]
    first = path.read_bytes()
    assert build_bundle("heavy", folder) == path and len(calls) == 2
    path.unlink()
    assert build_bundle("heavy", folder).read_bytes() == first


def test_manifest_has_the_packages_and_what_is_known_of_them():
    manifest = find_manifest("mediapipe_models")
    assert manifest.parts == ("full", "heavy") and manifest.licence == "Apache-2.0"
    files = {source.part: source.files[0] for source in manifest.sources}
    assert (files["full"].size, files["heavy"].size) == (35622638, 40985403)
    assert all(len(file.sha256) == 64 for file in files.values())
    assert {part for _, _, part in mediapipe_pose._FILES.values()} == set(manifest.parts)


@pytest.mark.skipif(HAS_MEDIAPIPE, reason="MediaPipe is installed")
def test_without_mediapipe_it_says_how_to_get_it():
    with pytest.raises(ImportError, match=r"pip install --no-deps mediapipe==1\.2\.3; the models come with motionbook"):
        mediapipe_detector("full")


def test_model_names_are_checked():
    with pytest.raises(ValueError, match="model: expected lite, full, heavy, got 'best'"):
        mediapipe_detector("best")


@pytest.mark.skipif(not HAS_MEDIAPIPE, reason="MediaPipe is not installed; motionbook.capture.mediapipe_pose says how")
@pytest.mark.filterwarnings("ignore")
def test_real_mediapipe_on_a_real_picture():
    """The nose of scikit-image's astronaut, where 0.10.21's full model put it: (222.7, 128.0), shoulders at 0.998."""
    data = pytest.importorskip("skimage.data", reason="scikit-image comes with the body extra")
    try:
        detector = mediapipe_detector("full")
    except FileNotFoundError as error:
        pytest.skip(f"no models in {data_home()}: {error}")
    points = detect_picture(detector, data.astronaut())
    detector.close()
    np.testing.assert_allclose(points[0, :2], [222.7, 128.0], atol=0.3)
    assert points[11:13, 2].min() > 0.99 and detector.name.startswith("mediapipe ")
