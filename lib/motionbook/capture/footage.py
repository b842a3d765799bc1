"""What a video file really holds: frames counted by decoding them, brightness, sound.

The number of frames and the rate in a file's header are what its writer meant to write. Cameras that stop early, drop
frames or write variable rates leave other numbers, so every count here comes from decoding the whole file; the header's
is kept beside it.
"""

import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.capture.clocks import camera_names


class Footage(NamedTuple):
    """A decoded video.

    Attributes
    ----------
    frames : int
        Decoded.
    stated_frames, stated_fps : int, float
        From the header; 0 where it says nothing.
    size : (int, int)
        Width and height of the decoded pictures.
    brightness : (frames,)
        Mean of each picture's grey values, 0 to 255.
    times : (frames,)
        Seconds at which the container says each frame is shown.
    """

    frames: int
    stated_frames: int
    stated_fps: float
    size: tuple[int, int]
    brightness: np.ndarray
    times: np.ndarray


def scan_video(path: str | Path, step: int = 4) -> Footage:
    """Decode a video to its end and count, measuring the brightness on every ``step``-th pixel of every row and column.

    Raises
    ------
    FileNotFoundError, ImportError
        When there is no such file, or OpenCV is not installed (the ``capture`` extra).
    ValueError
        When not one frame can be decoded.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no video {path}")
    try:
        import cv2
    except ImportError:
        raise ImportError("videos are decoded with OpenCV: pip install 'motionbook[capture]'") from None
    video = cv2.VideoCapture(str(path))
    brightness, times, size = [], [], (0, 0)
    try:
        stated = int(max(video.get(cv2.CAP_PROP_FRAME_COUNT), 0)), float(video.get(cv2.CAP_PROP_FPS))
        while True:
            good, picture = video.read()
            if not good:
                break
            times.append(video.get(cv2.CAP_PROP_POS_MSEC) / 1000)
            size = picture.shape[1], picture.shape[0]
            brightness.append(picture[::step, ::step].mean())
    finally:
        video.release()
    if not brightness:
        raise ValueError(f"{path}: not one frame could be decoded; is it a video, and whole?")
    return Footage(len(brightness), stated[0], stated[1], size, np.array(brightness), np.array(times))


def list_frames(footage: Sequence[Footage], names=None) -> list[dict]:
    """One row per camera: decoded and stated frames, rate, seconds, and what is odd about it in words."""
    names = camera_names(names, len(footage))
    counts = [video.frames for video in footage]
    common = max(set(counts), key=lambda n: (counts.count(n), n))
    rows = []
    for name, video in zip(names, footage, strict=True):
        notes = []
        if video.stated_frames and video.stated_frames != video.frames:
            notes.append(f"header says {video.stated_frames} frames")
        if video.frames != common:
            notes.append(
                f"{abs(video.frames - common)} frames {'more' if video.frames > common else 'fewer'} than others"
            )
        if video.frames > 2 and video.times[-1] > 0:
            measured = (video.frames - 1) / (video.times[-1] - video.times[0])
            if video.stated_fps and abs(measured / video.stated_fps - 1) > 0.002:
                notes.append(f"header says {video.stated_fps:g} fps, its timestamps {measured:.3f}")
        rows.append(
            {
                "camera": name,
                "decoded frames": video.frames,
                "stated frames": video.stated_frames,
                "stated fps": video.stated_fps,
                "width": video.size[0],
                "height": video.size[1],
                "note": "; ".join(notes),
            }
        )
    return rows


class Equalised(NamedTuple):
    """Arrays of one length, (cameras, frames, ...), and per camera what was done: given, cut or added, where."""

    tracks: np.ndarray
    report: tuple[dict, ...]


def equalise(tracks: Sequence[np.ndarray], how: str = "refuse", *, names=None, shifts=None) -> Equalised:
    """Tracks (frames, ...) of several cameras made equally long.

    Parameters
    ----------
    tracks : sequence of (frames, ...)
    how : {"refuse", "trim_end", "trim_start", "pad"}
        "refuse" allows no difference; "trim_end" keeps the first frames of all (they started together), "trim_start"
        the last (they stopped together), "pad" adds NaN at the end.
    shifts : (cameras,) int, optional
        Whole frames by which a camera is late, taken off its start (or, when negative, off the others') before.

    Raises
    ------
    ValueError
        With all counts when they differ and ``how`` is "refuse", or when nothing would be left.
    """
    tracks = [np.asarray(track, dtype=np.float64) for track in tracks]
    names = camera_names(names, len(tracks))
    if how not in ("refuse", "trim_end", "trim_start", "pad"):
        raise ValueError(f"how: expected refuse, trim_end, trim_start or pad, got {how!r}")
    if any(track.shape[1:] != tracks[0].shape[1:] for track in tracks):
        raise ValueError(f"tracks: expected the same points in every camera, got {[t.shape for t in tracks]}")
    given = [len(track) for track in tracks]
    late = np.zeros(len(tracks), dtype=int)
    if shifts is not None:
        late = np.asarray(shifts)
        if late.shape != (len(tracks),) or not np.equal(late, np.round(late)).all():
            raise ValueError(f"shifts: expected one whole number of frames per camera, got {shifts}")
        late = late.astype(int) - int(late.min())
    tracks = [track[start:] for track, start in zip(tracks, late, strict=True)]
    counts = [len(track) for track in tracks]
    if how == "refuse" and len(set(counts)) > 1:
        listed = ", ".join(f"{name} {count}" for name, count in zip(names, counts, strict=True))
        raise ValueError(
            f"cameras hold unequal numbers of frames ({listed}); synchronise them with "
            "motionbook.capture.synchronisation, which takes unequal counts, or choose how='trim_end' (they started "
            "together), 'trim_start' (they stopped together) or 'pad'"
        )
    length = max(counts) if how == "pad" else min(counts)
    if length < 1:
        raise ValueError(f"no frame is left: counts {given}, shifts {late.tolist()}")
    out, report = [], []
    for name, track, total, first in zip(names, tracks, given, late, strict=True):
        surplus = len(track) - length
        start = surplus if how == "trim_start" else 0
        added = max(-surplus, 0)
        kept = track[start : start + length]
        out.append(np.concatenate([kept, np.full((added, *kept.shape[1:]), np.nan)]))
        report.append(
            {
                "camera": name,
                "frames given": total,
                "cut at start": int(first + start),
                "cut at end": int(max(surplus, 0) - start),
                "added at end": int(added),
                "frames": length,
            }
        )
    return Equalised(np.stack(out), tuple(report))


def read_wav(path: str | Path) -> tuple[np.ndarray, float]:
    """Samples (samples,), mean of the channels, full scale 1, and their rate in Hz."""
    from scipy.io import wavfile

    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no sound file {path}; extract_sound writes one from a video")
    with warnings.catch_warnings():
        # cameras add chunks of their own to the file; the sound is whole without them
        warnings.filterwarnings("ignore", message="Chunk .non-data. not understood")
        try:
            rate, samples = wavfile.read(path)
        except (ValueError, EOFError, OSError) as error:
            raise ValueError(f"{path}: expected a wav file, {error}") from None
        except Exception as error:  # struct.error of a cut header, which is no subclass of the above
            raise ValueError(f"{path}: expected a whole wav file, {type(error).__name__}: {error}") from error
    if not len(samples):
        raise ValueError(f"{path}: the file holds no sound")
    if samples.dtype.kind in "iu":
        middle = 128 if samples.dtype == np.uint8 else 0
        full = float(np.iinfo(samples.dtype).max) - middle
        samples = (samples.astype(np.float64) - middle) / full
    samples = np.asarray(samples, dtype=np.float64)
    return (samples.mean(axis=1) if samples.ndim == 2 else samples), float(rate)


def extract_sound(video: str | Path, wav: str | Path, rate: int = 48000) -> Path:
    """Write a video's sound as a mono wav that begins with its first frame, by imageio-ffmpeg (the ``book`` extra).

    Raises
    ------
    FileNotFoundError, ImportError
        When there is no such video, or no imageio-ffmpeg.
    ValueError
        When the video has no sound; a flash, the motion or the reprojection error can synchronise it.
    """
    video, wav = Path(video), Path(wav)
    if not video.is_file():
        raise FileNotFoundError(f"no video {video}")
    try:
        import imageio_ffmpeg
    except ImportError:
        raise ImportError("sound is taken from videos with ffmpeg: pip install imageio-ffmpeg") from None
    # first_pts=0 pads or cuts a sound track that does not start with the picture
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-y", "-i", str(video), "-vn", "-ac", "1"]
    command += ["-af", "aresample=async=1:first_pts=0", "-ar", str(rate), "-c:a", "pcm_s16le", str(wav)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or not wav.is_file():
        why = done.stderr.strip().splitlines()[-1:] or ["ffmpeg failed"]
        raise ValueError(
            f"{video}: no sound could be read ({why[0]}); synchronise by flash, motion or reprojection instead"
        )
    return wav
