"""Films of clips for the study page: one camera and size for all that is compared, VP9 and H.264.

The files are named by what they were made from, so a second build draws only what changed and no name tells a system.
"""

import hashlib
import json
import shutil
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook import drawing
from motionbook.bvh import read_bvh
from motionbook.files import sha256, write_whole
from motionbook.parallel import map_jobs
from motionbook.perception.study.ffmpeg import ffmpeg, film_facts
from motionbook.perception.study.pictures import make_pictures
from motionbook.perception.study.stimuli import VIDEO, Stimulus
from motionbook.resampling import resample

_DRAWING = 1  # raise when the drawing changes, so that films made before are made again
_CODECS = {
    "webm": ("libvpx-vp9", ("-crf", "31", "-b:v", "0", "-deadline", "good", "-cpu-used", "4", "-row-mt", "0")),
    "mp4": ("libx264", ("-crf", "20", "-preset", "medium", "-movflags", "+faststart")),
}
# the same bytes from the same frames
_EXACT = ("-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact", "-map_metadata", "-1")


class Look(NamedTuple):
    """How films are drawn; ``size`` is (width, height) of one of the two, both even.

    The default gives 4DHumanQA's pair of 1392 x 540 pixels with a gap of eight. ``seconds`` cuts longer clips.
    """

    size: tuple[int, int] = (692, 540)
    fps: float = 30.0
    seconds: float | None = None
    colour: str = "#4a78a8"
    smooth: int = 2
    checks: float = 0.5
    elevation: float = 0.35
    formats: tuple[str, ...] = ("webm", "mp4")


LOOK = Look()


class _Scene(NamedTuple):
    view: drawing.View
    floor: tuple[float, float, float]


def make_videos(
    files: tuple[Stimulus, ...],
    folder: Path,
    look: Look = LOOK,
    *,
    pictures: bool = False,
    jobs: int | None = None,
) -> dict:
    """Films of all stimuli in a folder: by stimulus ``files`` (format -> name), ``size`` and ``seconds``.

    Videos given ready are taken as they are. Clips that share a scene share the camera and the floor. Films in the
    folder that are no longer shown are removed. With ``pictures`` each film has the name of a file of its single frames
    there, too (``pictures``), made from its first format.

    Raises
    ------
    ValueError
        For odd sizes, no length, unknown formats, or a scene of which some clips are motion and some are videos.
    """
    if any(n % 2 or n < 16 for n in look.size):
        raise ValueError(f"size: expected even numbers of pixels from 16 up, got {look.size}")
    if look.seconds is not None and not look.seconds > 0:
        raise ValueError(f"seconds: expected a length above 0 to cut longer clips to, got {look.seconds}")
    unknown = [name for name in look.formats if name not in _CODECS]
    if unknown or not look.formats:
        raise ValueError(f"formats: expected some of {', '.join(_CODECS)}, got {look.formats}")
    folder.mkdir(parents=True, exist_ok=True)
    scenes = {}
    for stimulus in files:
        scenes.setdefault(stimulus.scene, []).append(stimulus)
    mixed = [s for s, part in scenes.items() if len({p.path.suffix.lower() in VIDEO for p in part}) > 1]
    if mixed:
        raise ValueError(f"clips of {mixed[0]} are partly motion, partly videos; they would look different")
    made = {}
    for part in map_jobs(
        partial(_scene_films, folder=folder, look=look, pictures=pictures), scenes.values(), jobs=jobs, describe="films"
    ):
        made.update(part)
    wanted = {name for film in made.values() for name in (*film["files"].values(), film.get("pictures"))}
    for path in folder.iterdir():
        if path.name not in wanted and path.suffix in (*VIDEO, ".js"):
            path.unlink()
            if path.suffix in VIDEO:
                path.with_suffix(".json").unlink(missing_ok=True)
    return made


def _scene_films(stimuli: list[Stimulus], *, folder: Path, look: Look, pictures: bool) -> dict:
    if stimuli[0].path.suffix.lower() in VIDEO:
        films = {stimulus.name: _taken(stimulus.path, folder, pictures) for stimulus in stimuli}
        sizes = {tuple(film["size"]): name for name, film in films.items()}
        if len(sizes) > 1:
            shown = "; ".join(f"{name} {width}x{height}" for (width, height), name in sizes.items())
            raise ValueError(f"films that are compared must be of one size: {shown}")
        return films
    # the camera of a scene depends on all of it, and so do the names of its films
    marks = [sha256(stimulus.path) for stimulus in stimuli]
    shared = json.dumps([_DRAWING, look._replace(formats=()), sorted(marks)])
    films, clips = {}, None
    for i, stimulus in enumerate(stimuli):
        key = hashlib.sha256(f"{shared}{marks[i]}".encode()).hexdigest()[:20]
        notes, names = folder / f"{key}.json", {form: f"{key}.{form}" for form in look.formats}
        if not notes.is_file() or not all((folder / name).is_file() for name in names.values()):
            clips = [_read(s.path, look) for s in stimuli] if clips is None else clips
            _encode(film_frames(clips[i], look, _scene(clips, look)), {f: folder / n for f, n in names.items()}, look)
            write_whole(notes, json.dumps({"seconds": round(len(clips[i]) / look.fps, 6)}))
        films[stimulus.name] = {"files": names, "size": look.size, **json.loads(notes.read_text())}
        if pictures:
            films[stimulus.name]["pictures"] = make_pictures(folder / names[look.formats[0]], look.fps)
    return films


def _taken(path: Path, folder: Path, pictures: bool) -> dict:
    """A video given ready, and its fellow in the other format where one lies beside it."""
    films = {}
    for form in _CODECS:
        source = path.with_suffix(f".{form}")
        if source.is_file():
            films[form] = f"{sha256(source)[:20]}.{form}"
            if not (folder / films[form]).is_file():
                shutil.copyfile(source, folder / films[form])
    if not films:
        raise ValueError(f"{path}: films end in .webm or .mp4, in small letters; rename it")
    size, fps = film_facts(path)
    made = {"files": films, "size": size, "seconds": None}
    return made | {"pictures": make_pictures(folder / next(iter(films.values())), fps)} if pictures else made


def _read(path: Path, look: Look):
    clip = resample(read_bvh(path), look.fps)
    return clip if look.seconds is None else clip[: max(1, round(look.seconds * look.fps))]


def _scene(clips, look: Look) -> _Scene:
    posed = [np.stack(drawing.pose(clip)).reshape(-1, 3) for clip in clips]
    places = np.concatenate(posed)
    view = drawing.fit_view(places, look.size, drawing.facing(clips[0]) + 0.436, look.elevation)
    low, high = places.min(axis=0), places.max(axis=0)
    middle = 0.5 * (low + high)
    radius = 1.6 + 0.5 * float(np.hypot(high[0] - low[0], high[2] - low[2])) + 0.5 * view.metres
    return _Scene(view, (float(middle[0]), float(middle[2]), radius))


def film_frames(clip, look: Look = LOOK, scene: _Scene | None = None):
    """Frames of a clip's film one by one, each (height, width, 3) uint8."""
    scene = _scene([clip], look) if scene is None else scene
    body = drawing.body_of(clip.skeleton, clip.translations)
    colour = drawing.rgb(look.colour)
    for starts, ends in zip(*drawing.pose(clip, body), strict=True):
        figure = drawing.Figure(starts, ends, body.radii, colour)
        yield drawing.draw([figure], scene.view, smooth=look.smooth, checks=look.checks, floor=scene.floor)


def _encode(frames, targets: dict[str, Path], look: Look) -> None:
    """All formats at once, so that no more than one frame is kept; the files appear when they are whole."""
    imageio_ffmpeg = ffmpeg()
    parts = {form: path.with_name(f".part-{path.name}") for form, path in targets.items()}
    writers = []
    for form, path in parts.items():
        codec, options = _CODECS[form]
        writer = imageio_ffmpeg.write_frames(
            str(path),
            look.size,
            fps=look.fps,
            codec=codec,
            quality=None,
            macro_block_size=2,
            pix_fmt_out="yuv420p",
            output_params=[*options, *_EXACT],
            ffmpeg_log_level="error",
        )
        writer.send(None)
        writers.append(writer)
    try:
        for frame in frames:
            for writer in writers:
                writer.send(np.ascontiguousarray(frame))
    finally:
        for writer in writers:
            writer.close()
    for form, path in parts.items():
        path.replace(targets[form])
