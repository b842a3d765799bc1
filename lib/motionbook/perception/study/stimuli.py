"""The clips of a study on disk: what there is, and what is shown beside what."""

import re
from pathlib import Path
from typing import NamedTuple

from motionbook.files import files_below

MOTION, VIDEO = (".bvh",), (".mp4", ".webm")
REFERENCE, EXTRA = "reference", "training"


class Stimulus(NamedTuple):
    """A file of the study: its name in the plan, the file, and the name of the scene it shares a camera with."""

    name: str
    path: Path
    scene: str


class PairStimuli(NamedTuple):
    """Stimuli of a preference study: every system has every clip."""

    systems: tuple[str, ...]
    clips: tuple[str, ...]
    files: tuple[Stimulus, ...]


class RatingStimuli(NamedTuple):
    """Stimuli of a rating study: ``source_of`` and ``strength_of`` by item, ``extra`` for those of the training."""

    source_of: dict
    strength_of: dict
    extra: dict
    files: tuple[Stimulus, ...]


def find_pairs(folder: str | Path, *, systems=None) -> PairStimuli:
    """``<folder>/<system>/<clip>.bvh``, as chapter 03 writes them, or videos in their place.

    Clips that some system lacks are an error: a pair shows one clip by two systems.
    """
    folder = Path(folder)
    found = {}
    for path in _files(folder):
        parts = path.relative_to(folder).parts
        if len(parts) == 2:
            _put(found.setdefault(parts[0], {}), path.stem, path)
    if systems:
        absent = [name for name in systems if name not in found]
        if absent:
            raise ValueError(f"{folder}: no system {', '.join(absent)}; there are {', '.join(sorted(found))}")
        found = {name: found[name] for name in systems}
    if len(found) < 2:
        raise ValueError(f"{folder}: expected <system>/<clip>.bvh of at least two systems, got {sorted(found)}")
    clips = sorted(set().union(*found.values()))
    lacking = [f"{system} lacks {clip}" for system in sorted(found) for clip in clips if clip not in found[system]]
    if lacking:
        raise ValueError(f"{folder}: every system needs every clip; {'; '.join(lacking[:5])} ({len(lacking)} in all)")
    files = [Stimulus(f"{system}/{clip}", found[system][clip], clip) for system in found for clip in clips]
    return PairStimuli(tuple(sorted(found)), tuple(clips), tuple(files))


def find_ratings(folder: str | Path) -> RatingStimuli:
    """``<folder>/reference/<source>.bvh`` and ``<folder>/<distortion>/<strength>/<source>.bvh``, or videos.

    What lies below ``<folder>/training/`` in the same form is for training and practice only.
    """
    folder = Path(folder)
    references, source_of, strength_of, extra, files = {}, {}, {}, {}, []
    for path in _files(folder):
        parts = path.relative_to(folder).parts
        if len(parts) == 2 and parts[0] == REFERENCE:
            _put(references, path.stem, path)
            continue
        inside = extra if parts[0] == EXTRA else source_of
        parts = parts[1:] if parts[0] == EXTRA else parts
        if len(parts) != 3:
            continue
        item = f"{'training_' if inside is extra else ''}{path.stem}_{parts[0]}_{parts[1]}"
        if item in inside:
            raise ValueError(f"{path}: a second file for {item}")
        inside[item], strength_of[item] = path.stem, parts[1]
        files.append(Stimulus(item, path, path.stem))
    if not source_of or not references:
        raise ValueError(
            f"{folder}: expected reference/<source>.bvh and <distortion>/<strength>/<source>.bvh, got "
            f"{len(references)} references and {len(source_of)} distorted clips"
        )
    absent = sorted({*source_of.values(), *extra.values()} - set(references))
    if absent:
        raise ValueError(f"{folder}: no reference/{absent[0]}.bvh for the distorted clips of {', '.join(absent)}")
    files += [Stimulus(f"{REFERENCE}/{name}", path, name) for name, path in references.items()]
    return RatingStimuli(source_of, strength_of, extra, tuple(files))


def groups_of(sources, pattern: str) -> dict[str, str]:
    """Group of every source: the part of its name that a regular expression's first bracket finds."""
    found = {source: re.search(pattern, source) for source in sources}
    lost = [source for source, match in found.items() if not match or not match.groups()]
    if lost:
        raise ValueError(
            f"between: {pattern!r} finds no group in {', '.join(lost[:5])}; bracket the part that names it"
        )
    return {source: match.group(1) for source, match in found.items()}


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ValueError(f"clips: no folder {folder}")
    return [path for path in files_below(folder) if path.suffix.lower() in MOTION + VIDEO]


def _put(found: dict, name: str, path: Path) -> None:
    if name in found:
        raise ValueError(f"{path}: {found[name].name} beside it has the same name; keep one")
    found[name] = path
