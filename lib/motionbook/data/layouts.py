"""Folders of motion as the published data sets lay them out, opened to one list of clips.

``open_dataset`` looks at what lies in a folder, says which layout it took it for, and gives every file its person,
subset and label. Nothing is read but names (and the head of one file) until ``load_clip``.
"""

import math
import re
from collections.abc import Callable
from pathlib import Path

from motionbook.clip import Clip
from motionbook.data import names
from motionbook.data.catalogue import RECORDS, find_manifest
from motionbook.data.datasets import (
    LISTING,
    ClipFile,
    DataSet,
    below,
    bvh_files,
    describe,
    joint_names,
    joint_offsets,
    listing,
)
from motionbook.data.names import ClipName
from motionbook.files import sha256

__all__ = ["LAYOUTS", "LISTING", "RIGS", "ClipFile", "DataSet", "bvh_files", "load_clip", "open_dataset"]

LAYOUTS = ("staystill", "reactidle", "lafan1", "bvh")
RIGS = ("lafan", "freemocap")
_NESTING = 3  # how many folders that hold nothing but one folder are looked through


def open_dataset(
    path: str | Path, layout: str = "auto", *, rig: str = "auto", subject_pattern: str | None = None
) -> DataSet:
    """The clips of a folder with the people who move in them.

    Parameters
    ----------
    path : path
        A folder; folders that hold nothing but one folder are looked through.
    layout : "auto", "staystill", "reactidle", "lafan1" or "bvh"
        StayStill: ``freemocap/`` and ``lafan/``, each with ``actions``, ``idle`` and ``phone`` (or one of the two
        itself). ReActIdle: ``acted/`` and ``genuine/``. LaFAN1: names such as ``walk1_subject1.bvh``. "bvh": any files,
        the person by whichever rule of ``motionbook.data.names`` fits all of them, else every file its own person.
    rig : "auto", "lafan" or "freemocap"
        Which half of a StayStill folder; "auto" takes ``lafan`` where there is one.
    subject_pattern : str, optional
        Regular expression with a group named ``subject``, searched in the path below the folder; for folders whose
        names follow none of the rules.

    Raises
    ------
    FileNotFoundError
        Without the folder or without any BVH file in it.
    ValueError
        When a forced layout is not there, or a name does not say who moves; with the file and the way out.
    """
    if layout not in ("auto", *LAYOUTS):
        raise ValueError(f"layout: expected one of auto, {', '.join(LAYOUTS)}, got {layout!r}")
    if rig not in ("auto", *RIGS):
        raise ValueError(f"rig: expected one of auto, {', '.join(RIGS)}, got {rig!r}")
    folder = _find_folder(Path(path))
    subject_of = _subject_reader(subject_pattern, folder)
    recognisers = {"staystill": _staystill, "reactidle": _reactidle, "lafan1": _lafan1, "bvh": _any_bvh}
    for name, recogniser in recognisers.items():
        if layout not in ("auto", name):
            continue
        dataset = recogniser(folder, rig, subject_of)
        if dataset is not None:
            return dataset
        if layout == name:
            raise ValueError(f"{folder}: not laid out like {name}: {_WANTED[name]}; leave layout to 'auto'")
    raise AssertionError("the last recogniser takes any folder with BVH files")


_WANTED = {
    "staystill": "expected freemocap/ or lafan/ with idle/, phone/ or actions/ that hold .bvh files",
    "reactidle": "expected acted/ or genuine/ with files such as 001_acted.bvh",
    "lafan1": "expected files such as walk1_subject1.bvh and no others",
    "bvh": "expected .bvh files",
}


def load_clip(file: ClipFile) -> Clip:
    """Read one clip: metres, Y up, LaFAN1's local frames also for StayStill's variant of that skeleton.

    Raises
    ------
    ValueError
        As ``read_bvh``: file, line and way out.
    """
    from motionbook.bvh import read_bvh
    from motionbook.skeletons import is_staystill, staystill_to_lafan

    clip = read_bvh(file.path, **file.read)
    return staystill_to_lafan(clip) if is_staystill(clip.skeleton) else clip


def _find_folder(path: Path) -> Path:
    if path.is_file():
        raise ValueError(f"{path}: expected a folder of BVH files, got a file; unpack it, or pass its folder")
    if not path.is_dir():
        raise FileNotFoundError(f"no folder {path}; data sets are fetched with: motionbook data fetch ID")
    if not bvh_files(path):
        raise FileNotFoundError(f"{path}: no .bvh file in it; data sets are fetched with: motionbook data fetch ID")
    for _ in range(_NESTING):
        inside = [p for p in path.iterdir() if not p.name.startswith(".")]
        folders = [p for p in inside if p.is_dir()]
        known = {"acted", "genuine", *RIGS, *names.GROUPS}
        if len(folders) != 1 or folders[0].name.lower() in known or any(p.suffix.lower() == ".bvh" for p in inside):
            break
        path = folders[0]
    return path


def _subject_reader(pattern: str | None, folder: Path) -> Callable[[Path], str] | None:
    if pattern is None:
        return None
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(f"subject_pattern: not a regular expression: {error}") from None
    if "subject" not in compiled.groupindex:
        raise ValueError(f"subject_pattern: expected a group (?P<subject>...), got {pattern!r}")

    def subject(path: Path) -> str:
        found = compiled.search(path.relative_to(folder).as_posix())
        if not found or not found["subject"]:
            raise ValueError(f"{path}: the name does not match subject_pattern {pattern!r}")
        return found["subject"]

    return subject


def _staystill(folder: Path, rig: str, subject_of) -> DataSet | None:
    rigs = {}
    for sub in sorted(p for p in folder.iterdir() if p.is_dir()):
        if sub.name.lower() in RIGS and _groups(sub):
            rigs[sub.name.lower()] = sub
    notes, base = [], folder
    if not rigs and _groups(folder):
        first = next(file for files in _groups(folder).values() for file in files)
        rigs = {"freemocap" if "pelvis" in joint_names(first) else "lafan": folder}
        base = folder.parent if (folder.parent / LISTING).is_file() else folder
    if not rigs:
        return None
    chosen = next((name for name in RIGS if name in rigs), "") if rig == "auto" else rig
    if chosen not in rigs:
        raise ValueError(f"{folder}: has no {chosen}/ with motion; there is {', '.join(rigs)}")
    if len(rigs) > 1:
        notes.append(f"both rigs are there; {chosen}/ is read")
    about = listing(base)
    clips = []
    for group, files in _groups(rigs[chosen]).items():
        for path in files:
            entry = about["clips"].get(below(path, base), {})
            name = names.staystill_name(path.stem) or (ClipName("", group) if entry or subject_of else None)
            if name is None:
                raise ValueError(
                    f"{path}: the name does not say who moves; expected <subject>_<label>_<take>.bvh or "
                    "<label>_<take>_<subject>.bvh, or pass subject_pattern"
                )
            subject = subject_of(path) if subject_of else entry.get("subject") or name.subject
            label = entry.get("label") or name.label
            clips.append(ClipFile(path, subject, group, label, name.take, name.piece, chosen))
    _check_listing(base, about, chosen, clips)
    return describe(folder, "staystill", clips, about, notes, published=_is_staystill(folder, clips))


def _groups(folder: Path) -> dict[str, list[Path]]:
    """The files of idle/, phone/ and actions/ of one rig."""
    found = {}
    for sub in sorted(p for p in folder.iterdir() if p.is_dir()):
        if sub.name.lower() in names.GROUPS and (files := bvh_files(sub)):
            found[sub.name.lower()] = files
    return found


def _is_staystill(folder: Path, clips: list[ClipFile]) -> bool:
    """Whether this is the published data set: fetched as such, or with its number of people and clips."""
    for place in (folder, folder.parent):
        record = place / RECORDS
        if record.is_file() and '"id": "staystill"' in record.read_text(encoding="utf-8"):
            return True
    expected = find_manifest("staystill").expected_files
    counts = {group: sum(clip.group == group for clip in clips) for group in names.GROUPS}
    return counts == {group: expected[f"**/lafan/{group}/*.bvh"] for group in names.GROUPS}


def _reactidle(folder: Path, rig: str, subject_of) -> DataSet | None:
    clips = []
    for sub in sorted(p for p in folder.iterdir() if p.is_dir() and p.name.lower() in ("acted", "genuine")):
        for path in bvh_files(sub):
            if path.parent != sub:
                continue
            name = names.reactidle_name(path.stem)
            if name is None or name.label != sub.name.lower():
                return None
            subject = subject_of(path) if subject_of else name.subject
            clips.append(ClipFile(path, subject, "idle", name.label, name.take, name.piece, "freemocap"))
    if not clips:
        return None
    if rig == "lafan":
        raise ValueError(f"{folder}: ReActIdle has FreeMoCap's rig only; leave rig to 'auto'")
    known = {f.path: f.sha256 for source in find_manifest("reactidle").sources for f in source.files}
    stated = [clip for clip in clips if known.get(below(clip.path, folder))]
    differing = [clip.path.name for clip in stated if sha256(clip.path) != known[below(clip.path, folder)]]
    notes = [f"{len(stated) - len(differing)} of {len(clips)} files have the published checksum"]
    if differing:
        notes.append(f"not as published: {', '.join(differing)}")
    published = bool(stated) and len(differing) < len(stated)
    return describe(folder, "reactidle", clips, listing(folder), notes, published=published)


def _lafan1(folder: Path, rig: str, subject_of) -> DataSet | None:
    files = bvh_files(folder)
    parsed = [names.lafan1_name(path.stem) for path in files]
    if not all(parsed):
        return None
    if rig == "freemocap":
        raise ValueError(f"{folder}: LaFAN1 has its own rig only; leave rig to 'auto'")
    clips = [
        ClipFile(p, subject_of(p) if subject_of else n.subject, "motion", n.label, n.take, n.piece, "lafan")
        for p, n in zip(files, parsed, strict=True)
    ]
    published = all(map(_on_lafan1s_actor, files))
    notes = ["recognised by its file names and bones; excerpts are not told from whole clips"] if published else []
    return describe(folder, "lafan1", clips, listing(folder), notes, published=published)


def _on_lafan1s_actor(path: Path) -> bool:
    """Whether a file has the joints and the first bones of LaFAN1, on whose one actor all its people were put."""
    from motionbook.skeletons import LAFAN1

    stated = [(0.10346, 1.85783, 10.5485), (43.5, 0.0, 0.0), (42.3722, 0.0, 0.0)]
    bones = joint_offsets(path)[1:4]
    # LaFAN1's files differ from one another by up to 7e-5 cm; retargeted clips of ours have bones rounded to 1e-3 cm
    same = [len(bone) == 3 and math.dist(bone, was) < 3e-4 for bone, was in zip(bones, stated, strict=False)]
    return joint_names(path) == LAFAN1.names and len(same) == 3 and all(same)


# which rule of the names says who moves; the first that fits every file of a folder is taken
_RULES = {
    "StayStill's names": lambda stem: names.staystill_name(stem, known_only=True),
    "LaFAN1's names": names.lafan1_name,
    "ReActIdle's names": names.reactidle_name,
    "the words subject, person, actor or p with a number": names.worded_name,
    "two numbers, the first of which is the person (as the CMU recordings have it)": names.two_number_name,
    "the number before or after the words": names.staystill_name,
}


def _any_bvh(folder: Path, rig: str, subject_of) -> DataSet:
    files = bvh_files(folder)
    if rig != "auto":
        raise ValueError(f"{folder}: rig {rig!r} can be chosen in StayStill's layout only; leave rig to 'auto'")
    if subject_of:
        parsed = [ClipName(subject_of(path), path.stem) for path in files]
        note = "people by subject_pattern"
    else:
        for rule, parse in _RULES.items():
            parsed = [parse(path.stem) for path in files]
            if all(parsed):
                note = f"people by {rule}"
                break
        else:
            parsed = [ClipName(below(path, folder).removesuffix(path.suffix), "motion") for path in files]
            note = "no rule of names fits all files: every file counts as its own person (subject_pattern= tells them)"
    clips = [
        ClipFile(path, name.subject, names.group_of(name.label), name.label, name.take, name.piece)
        for path, name in zip(files, parsed, strict=True)
    ]
    return describe(folder, "bvh", clips, listing(folder), [note])


def _check_listing(folder: Path, about: dict, rig: str, clips: list[ClipFile]) -> None:
    listed = {path for path in about["clips"] if path.split("/")[0].lower() == rig}
    there = {below(clip.path, folder) for clip in clips}
    if missing := sorted(listed - there):
        raise FileNotFoundError(
            f"{folder / LISTING} lists {len(missing)} files that are not there, the first {missing[0]}; run the "
            "chapter that wrote it again"
        )
