"""The data set of a chapter: source motions found or performed, drawn view by view, written and scored."""

from functools import partial
from pathlib import Path
from typing import NamedTuple

from motionbook.parallel import map_jobs
from motionbook.stickfigures.dataset import (
    SourceMotion,
    draw,
    find_motions,
    labels,
    prepare,
    read_motion,
    split_of,
    write_sample,
)
from motionbook.stickfigures.palette_check import check_frame, frame_of_clip
from motionbook.stickfigures.parameters import VIEWS
from motionbook.stickfigures.rig import angular_path
from motionbook.stickfigures.scoring import Score, score
from motionbook.synthesis.prompt_files import write_prompt_motions
from motionbook.synthesis.prompt_motions import PERFORMANCES
from motionbook.synthesis.prompts import released_prompts


class Sources(NamedTuple):
    """Source motions, words that say where they come from, whether a reader gave them, and the files then."""

    motions: tuple[SourceMotion, ...]
    label: str
    given: bool
    paths: tuple[Path, ...] = ()


class Built(NamedTuple):
    """Clips written: a data frame with a row per clip, and the counts of ``palette_check`` summed over one frame each.

    The rows hold clip_id, group, text, seed, split, view, qa_flags, path (of the file), rig_path (radians over the
    whole motion) and the fields of ``scoring.Score`` but the paths of single limbs.
    """

    clips: object
    palette: object


def source_motions(data: str, folder: str | Path, *, prompts: int, seeds, limit: int) -> Sources:
    """The source motions below ``data``, or, where there are none, performances written to ``folder`` and read back.

    Parameters
    ----------
    data : path
        "" or a folder without source motions (.npz) means performances.
    prompts : int
        How many prompts of the release to perform; fewer when fewer have a performance.
    seeds : sequence of int
    limit : int
        How many of the reader's motions to take, spread evenly over their sorted names.
    """
    paths = find_motions(data) if data and Path(data).is_dir() else []
    if paths:
        count = min(limit, len(paths))
        taken = tuple(paths[int((i + 0.5) * len(paths) / count)] for i in range(count))
        share = f"{count}" if count == len(paths) else f"{count} of {len(paths)}"
        label = f"{share} source motions of the reader ({Path(data).resolve().name})"
        return Sources(tuple(map(read_motion, taken)), label, True, taken)
    performed = tuple(prompt for prompt in released_prompts() if prompt.text in PERFORMANCES)[:prompts]
    # read back through the reader of the published files, so that no other path exists
    motions = tuple(read_motion(path) for path in write_prompt_motions(folder, performed, seeds))
    return Sources(motions, f"{len(performed)} procedural prompt motions x {len(seeds)} seeds (synthetic)", False)


def build(motions, folder: str | Path, *, frames: int, size: int, views: int = VIEWS) -> Built:
    """Draw, label, score and write every view of every motion.

    Parameters
    ----------
    motions : iterable of SourceMotion
        At least ``frames`` frames each.
    folder : path
        Where the clips are written, one .npz per view.
    frames, size : int
        First frames of each motion, and pixels per side.
    """
    import pandas as pd

    parts = map_jobs(partial(_build_one, folder=Path(folder), frames=frames, size=size, views=views), motions)
    rows = [row for part in parts for row, _ in part]
    return Built(pd.DataFrame(rows), sum(counts for part in parts for _, counts in part))


def _build_one(motion, folder, frames, size, views):
    prepared = prepare(motion)
    results = []
    for view in range(views):
        sample = draw(motion, prepared, view, size=size, frames=frames)
        path = write_sample(folder, labels(motion, prepared, view, sample))
        clip_id = f"{motion.clip_id}/c{view}"
        row = {
            "clip_id": clip_id,
            "group": motion.group,
            "text": motion.text,
            "seed": motion.seed,
            "split": split_of(motion.seed),
            "view": view,
            "qa_flags": prepared.flags,
            "path": path.name,
            "rig_path": angular_path(prepared.joints, sample.view).sum(),
            **dict(zip(Score._fields[:-1], score(sample.rendering.color), strict=False)),
        }
        frame = frame_of_clip(clip_id, frames)
        results.append((row, check_frame(sample.rendering.color[frame], sample.rendering.seg[frame])))
    return results
