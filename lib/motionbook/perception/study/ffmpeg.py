"""The ffmpeg that makes and reads films."""

import re
import subprocess
from pathlib import Path

_LIKELY_FPS = 30.0


def ffmpeg():
    """The module imageio_ffmpeg; RuntimeError that says how to install it."""
    try:
        import imageio_ffmpeg
    except ImportError:
        raise RuntimeError('films need imageio-ffmpeg: pip install "motionbook[book]"') from None
    return imageio_ffmpeg


def film_facts(path: Path) -> tuple[tuple[int, int], float]:
    """(width, height) of a film in pixels, and its frames per second (30 where the file tells no likely rate)."""
    done = subprocess.run(
        [ffmpeg().get_ffmpeg_exe(), "-hide_banner", "-i", str(path)], capture_output=True, check=False
    )
    said = done.stderr.decode(errors="replace")
    found = re.search(r"Video: .*?, (\d{2,5})x(\d{2,5})(?:.*?, (\d+(?:\.\d+)?) fps)?", said)
    if not found:
        raise ValueError(f"{path}: not a video that ffmpeg can read")
    fps = float(found[3] or 0)
    return (int(found[1]), int(found[2])), fps if 1 <= fps <= 240 else _LIKELY_FPS
