"""The frames of a film as single pictures, for browsers that play neither of its formats.

A film's pictures are one script, the only thing that a page opened from a folder may load and look into. Each frame is
a JPEG of its own: a browser makes pictures of single ones beside its other work, and of a sheet of many only by
standing still.
"""

import base64
import hashlib
import json
import subprocess
from pathlib import Path

from motionbook.files import write_whole
from motionbook.perception.study.ffmpeg import ffmpeg

_RECIPE = 1  # raise when the pictures change, so that those made before are made again
# 5: at 8 the blocks show on the body when enlarged; browsers take a JPEG for BT.601 in full range
_FORM = ("-c:v", "mjpeg", "-q:v", "5", "-huffman", "optimal", "-pix_fmt", "yuvj420p")
_COLOURS = "scale=out_color_matrix=bt601:out_range=full"
_EXACT = ("-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact")


def pictures_name(film: str) -> str:
    """File name of the pictures of a film, from the film's own."""
    return hashlib.sha256(f"{_RECIPE} {film}".encode()).hexdigest()[:20] + ".js"


def make_pictures(film: Path, fps: float) -> str:
    """Write the pictures of a film beside it, unless they are there; the name of their file.

    Parameters
    ----------
    film : path
    fps : float
        Frames per second of the pictures, the film's own.

    Raises
    ------
    ValueError
        For a film without a frame that ffmpeg can read, with what it said.
    """
    target = film.with_name(pictures_name(film.name))
    if not target.is_file():
        frames = [base64.b64encode(frame).decode() for frame in film_jpegs(film, fps)]
        reel = json.dumps({"fps": fps, "frames": frames}, separators=(",", ":"))
        write_whole(target, f'motionbookStudy.reels["{target.name}"] = {reel};\n')
    return target.name


def read_pictures(path: Path) -> dict:
    """``fps`` and ``frames`` (JPEGs in base64) from a file of ``make_pictures``."""
    text = path.read_text(encoding="ascii")
    return json.loads(text[text.index("{") : text.rindex("}") + 1])


def film_jpegs(film: Path, fps: float) -> list[bytes]:
    """Every frame of a film as a JPEG, at a constant rate."""
    command = [ffmpeg().get_ffmpeg_exe(), "-v", "error", "-threads", "1", "-i", str(film), "-an"]
    command += ["-vf", f"fps={fps:.6f},{_COLOURS}", *_FORM, *_EXACT, "-f", "image2pipe", "-"]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode or not done.stdout:
        raise ValueError(f"{film}: no pictures of it: {done.stderr.decode(errors='replace').strip() or 'no frame'}")
    # the end of one picture and the start of the next never stand together inside one
    *first, last = done.stdout.split(b"\xff\xd9\xff\xd8")
    frames = [part + b"\xff\xd9" for part in first] + [last]
    return frames[:1] + [b"\xff\xd8" + frame for frame in frames[1:]]
