"""Clips of in-betweening systems as stick figures: the same body and camera for all, so only the motion differs.

Every ``<system>/<clip>.bvh`` is put on the stick figure's skeleton, resampled to its 20 frames per second and drawn
from the first view that the clip's name gives; the video diagnostics are then those of any stick-figure clip.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook import budgets
from motionbook.bvh import read_bvh
from motionbook.cleaning import retarget
from motionbook.parallel import map_jobs
from motionbook.resampling import resample
from motionbook.skeletons import CSKEL27
from motionbook.stickfigures.dataset import FPS, WINDOW, Prepared, SourceMotion, draw, motion_of_clip, prepare
from motionbook.stickfigures.scoring import Score, score

GROUP = "idle"
ORDER = ("GT", "NN", "SLERP-Q", "SLERP", "NOISE")  # of StayStill's Table 2


class SystemClip(NamedTuple):
    """A drawn clip of a system: its names, motion and frames (frames, size, size, 4) uint8."""

    system: str
    clip: str
    motion: SourceMotion
    prepared: Prepared
    frames: np.ndarray


def make_clips(budget: str, seed: int) -> Callable[[Path], object]:
    """A function that writes small clips of every system to a folder, for when chapter 03 has made none."""

    def make(folder: Path):
        from motionbook.inbetweening.generator import SECONDS, choose_spans, write_clips
        from motionbook.inbetweening.recordings import Recording
        from motionbook.synthesis.performers import idle, make_performer

        count = budgets.sizes(budget, "03_inbetweening")["clips_per_system"]
        people = [(f"{i:02d}", make_performer(i, seed)) for i in range(count)]
        # one clip a person, and room for the last target after it
        recordings = [Recording(idle(person, SECONDS + 2.0), name, "idle", f"{name}_idle") for name, person in people]
        write_clips(choose_spans(recordings, count), Path(folder) / "clips", seed=seed)

    return make


def find_clips(folder: str | Path, pattern: str = "clips/*/*.bvh") -> list[Path]:
    """The clips below a chapter's folder, by clip name, then known systems, then others; ValueError without any."""

    def place(path):
        system = path.parent.name
        return path.stem, ORDER.index(system) if system in ORDER else len(ORDER), system

    paths = sorted(Path(folder).glob(pattern), key=place)
    if not paths:
        raise ValueError(f"{folder}: expected BVH files like {pattern}, one folder per system; found none")
    return paths


def draw_clip(path: Path, *, frames: int = WINDOW, size: int = 64) -> SystemClip:
    """Read, retarget, resample and draw one clip; the folder's name is the system.

    Raises
    ------
    ValueError
        When the clip is shorter than ``frames`` frames at 20 per second.
    """
    path = Path(path)
    clip = resample(retarget(read_bvh(path), CSKEL27), FPS)
    # the name leaves out the system, so body and camera are the same for all systems of a clip
    motion = motion_of_clip(clip, f"{GROUP}/{path.stem}", path.stem)
    prepared = prepare(motion)
    drawn = draw(motion, prepared, 0, size=size, frames=frames)
    return SystemClip(path.parent.name, path.stem, motion, prepared, drawn.rendering.color)


def measure(folder: str | Path, pattern: str = "clips/*/*.bvh", *, frames: int = WINDOW, size: int = 64):
    """Video diagnostics of every system's clips: first ``frames`` frames at 20 per second, camera 0.

    Parameters
    ----------
    folder : path
        Of chapter 03, or any folder with one folder of BVH per system.
    pattern : str
        Glob below it; a file's parent folder names the system.

    Returns
    -------
    pandas.DataFrame
        One row per clip and system: clip, system and the fields of ``scoring.Score`` but the paths of single limbs.
    """
    import pandas as pd

    rows = map_jobs(partial(_row, frames=frames, size=size), find_clips(folder, pattern))
    return pd.DataFrame(rows, columns=["clip", "system", *Score._fields[:-1]])


def _row(path, frames, size):
    drawn = draw_clip(path, frames=frames, size=size)
    return [drawn.clip, drawn.system, *score(drawn.frames)[:-1]]
