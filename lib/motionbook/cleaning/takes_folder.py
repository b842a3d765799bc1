"""Labelled takes as a folder in the published layout, each with where it was cut from; all of it or nothing."""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from motionbook.bvh import read_bvh, write_bvh
from motionbook.cleaning.label_tables import Problem, Row, Take, refuse_or_skip, rows_of
from motionbook.cleaning.segmentation import LABELS, locate
from motionbook.clip import Clip
from motionbook.data.layouts import LISTING, bvh_files
from motionbook.data.names import group_of
from motionbook.files import sha256, write_whole
from motionbook.skeletons import FREEMOCAP, LAFAN1

# what a folder of takes says about itself when its maker does not
ABOUT = {
    "name": "takes",
    "label": "takes cut from session recordings",
    "kind": "real",
    "licence": "that of the recordings",
    "fps_note": "as the recordings say",
}


class Written(NamedTuple):
    """What was written.

    Attributes
    ----------
    folder : Path
    listing : dict
        The content of ``dataset.json``: ``clips`` with path, subject, group, label, frames, fps, and of the source its
        file, SHA-256, number of frames, rate, first and last frame (inclusive) and the line of the table.
    problems : tuple of Problem
        Lines that were left out.
    """

    folder: Path
    listing: dict
    problems: tuple[Problem, ...]


def write_takes(
    recordings: str | Path | Sequence[str | Path],
    table: str | Path | Iterable[Row],
    folder: str | Path,
    *,
    unit: str = "frames",
    labels: Iterable[str] | None = LABELS,
    on_problem: str = "refuse",
    prepare: Callable[[Clip], Clip] | None = None,
    read: Mapping | None = None,
    about: Mapping[str, str] | None = None,
    replace: bool = False,
) -> Written:
    """Cut recordings by an annotation table and write the takes under their published names.

    ``<rig>/actions/<subject>_<label>_<take>.bvh``, ``<rig>/idle/<subject>_idle.bvh`` and
    ``<rig>/phone/<subject>_phone.bvh`` (numbered where one person has several), and
    ``<rig>/motion/<subject>_<label>_<take>.bvh`` for other labels, the rig being ``freemocap`` or ``lafan``. Takes of
    one person and label count from 1 in the order of recordings and time, around numbers that the table gives.
    ``dataset.json`` lists them. Everything is written beside the folder first and renamed when it is whole.

    Parameters
    ----------
    recordings : path or sequence of paths
        A folder of BVH files, or the files.
    table, unit, labels, on_problem
        As for `motionbook.cleaning.segmentation.segment`. A recording whose name does not say who moves needs the
        column ``subject``.
    folder : path
        New, empty, or with ``replace`` one that has a ``dataset.json``.
    prepare : function of Clip, optional
        Done to each take before it is written, e.g. `motionbook.cleaning.dataset.clean_take`; as recorded without.
    read : mapping, optional
        Keywords of `read_bvh` for the recordings.
    about : mapping, optional
        ``name``, ``label``, ``kind``, ``licence`` and ``fps_note`` of the listing.

    Raises
    ------
    LabelError
        With every problem of the table, by line.
    ValueError
        For another rig, a folder in use, and for a table of which nothing is left.
    """
    folder, files, options = Path(folder), _named(recordings), dict(read or {})
    _check_folder(folder, replace)
    problems: list[Problem] = []
    rows = rows_of(table, unit, problems)
    sizes = {}
    for name, path in files.items():
        clip = read_bvh(path, **options)
        sizes[name] = (len(clip), clip.fps)
    refuse = on_problem == "refuse"
    takes = locate(rows, sizes, labels=labels, problems=problems, every_overlap=refuse)
    named = name_takes(takes, problems)
    refuse_or_skip(table, problems, on_problem)
    if not named:
        raise ValueError(f"table: expected at least one take to write, got none ({len(problems)} lines left out)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as beside:
        whole = Path(beside) / "whole"
        entries = []
        for name, path in files.items():
            if own := [(take, stem) for take, stem in named if take.clip == name]:
                entries += _write_recording(path, name, own, whole, options, prepare)
        entries.sort(key=lambda entry: entry["path"])
        listing = {**ABOUT, **(about or {}), "clips": entries}
        write_whole(whole / LISTING, json.dumps(listing, indent=1) + "\n")
        before = Path(beside) / "before"
        if folder.exists():
            folder.rename(before)
        try:
            whole.rename(folder)
        except OSError:
            if before.exists():
                before.rename(folder)
            raise
    return Written(folder, listing, tuple(sorted(problems)))


def name_takes(takes: Iterable[Take], problems: list[Problem]) -> list[tuple[Take, str]]:
    """Takes with ``<group>/<file name without suffix>``; what cannot be named goes to ``problems``."""
    takes, used, named = list(takes), {}, []
    good = []
    for take in takes:
        if not take.subject:
            text = f"the name {take.clip!r} does not say who moves; add a column subject"
            problems.append(Problem(take.line, text))
        elif not take.subject.replace("-", "").isalnum():
            problems.append(Problem(take.line, f"subject {take.subject!r} cannot stand in a file name"))
        elif take.take and not take.take.isdigit():
            problems.append(Problem(take.line, f"expected a number in 'take', got {take.take!r}"))
        else:
            person = f"{int(take.subject):02d}" if take.subject.isdigit() else take.subject
            good.append(take._replace(subject=person, take=str(int(take.take)) if take.take else ""))
    given: dict[tuple[str, str, str], int] = {}
    for take in good:
        if take.take:
            key = (take.subject, take.label, take.take)
            if key in given:
                problems.append(Problem(take.line, f"take {take.take} of {take.label} is on line {given[key]} already"))
                continue
            given[key] = take.line
        named.append(take)
    several = {key: sum((t.subject, t.label) == key for t in named) for key in {(t.subject, t.label) for t in named}}
    out = []
    for take in named:
        key, group = (take.subject, take.label), group_of(take.label)
        number = take.take
        if not number and (group not in ("idle", "phone") or several[key] > 1):
            count = used.get(key, 0) + 1
            while (*key, str(count)) in given:
                count += 1
            used[key], number = count, str(count)
        stem = "_".join(word for word in (take.subject, take.label, number) if word)
        out.append((take._replace(take=number), f"{group}/{stem}"))
    return out


def _named(recordings) -> dict[str, Path]:
    """Recordings by their path below the folder, or by their names, without suffix."""
    if isinstance(recordings, (str, Path)):
        folder = Path(recordings)
        if folder.is_file():
            return {folder.stem: folder}
        if not folder.is_dir() or not (files := bvh_files(folder)):
            raise FileNotFoundError(f"recordings: no BVH file at {folder}")
        return {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}
    files = [Path(path) for path in recordings]
    named = {path.stem: path for path in files}
    if len(named) < len(files):
        named = {path.with_suffix("").as_posix(): path for path in files}
    return named


def _check_folder(folder: Path, replace: bool) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    if replace and (folder / LISTING).is_file():
        return
    way = (
        "it has no dataset.json, so it is not replaced; choose another"
        if replace
        else "choose another, or replace=True"
    )
    raise ValueError(f"folder: expected a new or empty folder, {folder} has something in it; {way}")


def _write_recording(path: Path, name: str, own, whole: Path, options: dict, prepare) -> list[dict]:
    clip = read_bvh(path, **options)
    rig = _rig(clip, path)
    fingerprint, entries = sha256(path), []
    for take, stem in own:
        piece = clip[take.start : take.stop]
        if prepare is not None:
            piece = prepare(piece)
        target = f"{rig}/{stem}.bvh"
        write_bvh(piece, whole / target)
        entries.append(
            {
                "path": target,
                "subject": take.subject,
                "group": group_of(take.label),
                "label": take.label,
                "frames": len(piece),
                "fps": piece.fps,
                "source": f"{name}.bvh",
                "source_sha256": fingerprint,
                "source_frames": len(clip),
                "source_fps": clip.fps,
                "first": take.start,
                "last": take.stop - 1,
                "line": take.line,
            }
        )
    return entries


def _rig(clip: Clip, path: Path) -> str:
    for rig, skeleton in (("freemocap", FREEMOCAP), ("lafan", LAFAN1)):
        if clip.skeleton.names == skeleton.names:
            return rig
    raise ValueError(
        f"{path}: the layout has FreeMoCap's rig and LaFAN1's, this has {len(clip.skeleton)} joints with the root "
        f"{clip.skeleton.names[0]}; retarget the recording first"
    )
