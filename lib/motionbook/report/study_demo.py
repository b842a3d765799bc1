"""Small studies to try out in a chapter: the page with a few films of the clips at hand, for both designs."""

import shutil
from pathlib import Path
from typing import NamedTuple

from motionbook.bvh import read_bvh, write_bvh
from motionbook.perception import study
from motionbook.quality import STRENGTHS, distort


class Demo(NamedTuple):
    """A built study, or None and in ``problem`` why there is none (no npm and no network, say)."""

    study: study.Study | None
    problem: str


def demo_look(seconds: float, fps: float) -> study.Look:
    """How the films of a small study are drawn: the full size, cut short, one format."""
    return study.Look(seconds=seconds, fps=fps, formats=("webm",))


def demo_pairs(clips: str | Path, out: str | Path, *, count: int, look: study.Look, seed: int = 0) -> Demo:
    """Preference study of the first ``count`` clips of every system below a folder ``<system>/<clip>.bvh``."""
    clips, out = Path(clips), Path(out)
    paths = sorted(clips.glob("*/*.bvh"))
    chosen = sorted({path.name for path in paths})[:count]
    stimuli = _emptied(out / "stimuli")
    for path in paths:
        if path.name in chosen:
            target = stimuli / path.parent.name / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    systems = len({path.parent.name for path in paths})
    scored = min(16, len(chosen) * systems * (systems - 1) // 2)
    return _build(stimuli, out / "page", "pairs", look, people=4, scored=scored, seed=seed)


def demo_ratings(sources, out: str | Path, *, kinds, look: study.Look, levels=(1, 2, 3, 4, 5), seed: int = 0) -> Demo:
    """Rating study of some clips (two or more BVH files on LaFAN1's skeleton) with some distortions and strengths."""
    stimuli = _emptied(Path(out) / "stimuli")
    unknown = [kind for kind in kinds if kind not in STRENGTHS]
    if unknown or not kinds:
        raise ValueError(f"kinds: expected some of {', '.join(STRENGTHS)}, got {', '.join(unknown) or 'none'}")
    for source in map(Path, sources):
        clip = read_bvh(source)
        _write(clip, stimuli / "reference" / source.name)
        for kind in kinds:
            for level in levels:
                _write(distort(clip, kind, level, seed + level).clip, stimuli / kind / str(level) / source.name)
    return _build(
        stimuli, Path(out) / "page", "dsis", look, people=4, training=len(levels), practice=0, checks=1, seed=seed
    )


def strongest_trial(plan: dict, slot: int = 0) -> int:
    """Index of the scored trial of a rating study whose distorted film has the highest strength."""
    scored = [(trial["right"].rpartition("_")[2], i) for i, trial in enumerate(plan["people"][slot]["trials"])
              if trial["kind"] == "scored"]  # fmt: skip
    return max(scored, key=lambda pair: (float(pair[0]), -pair[1]))[1]


def _emptied(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _write(clip, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bvh(clip, path)


def _build(stimuli, page, design, look, **options) -> Demo:
    settings = study.PageSettings(title="Motion study", contact="", minutes=2)
    try:
        # one format will do, and no single frames: whoever reads the chapter need not be able to take part
        built = study.build_study(stimuli, page, design, look=look, settings=settings, pictures=False, **options)
        return Demo(built, "")
    except RuntimeError as error:
        # no npm, or no network at the first build: the rest of the chapter does without the page and says so
        return Demo(None, str(error).splitlines()[0])
