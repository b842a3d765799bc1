"""Data sets as values: their files, their people and the words that stand beside everything made from them."""

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from motionbook.data.catalogue import find_manifest
from motionbook.files import files_below

LISTING = "dataset.json"


@dataclass(frozen=True)
class ClipFile:
    """One file of a data set.

    Attributes
    ----------
    subject : str
        The person; clips of one person carry the same word whatever file they are in.
    group : "idle", "phone", "actions" or "motion"
    label, take, piece : str
        What is done, the repetition, and the number that cutting added; "" when the name has none.
    rig : "lafan", "freemocap" or ""
        Known only in StayStill's layout and ReActIdle's.
    read : mapping
        Keywords that ``read_bvh`` needs for this file.
    """

    path: Path
    subject: str
    group: str
    label: str
    take: str = ""
    piece: str = ""
    rig: str = ""
    read: MappingProxyType = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True)
class DataSet:
    """A folder of motion.

    Attributes
    ----------
    label : str
        The words that stand beside every table and figure made from it.
    kind : "real" or "synthetic"
        Synthetic when a generator wrote it and its ``dataset.json`` says so; a reader's own folder counts as real.
    folds : tuple of dict
        ``train``, ``validation`` and ``test`` subjects, when the folder's ``dataset.json`` brings some.
    notes : tuple of str
        What was recognised and assumed, one sentence each.
    """

    name: str
    label: str
    kind: str
    licence: str
    fps_note: str
    clips: tuple[ClipFile, ...]
    layout: str
    path: Path
    folds: tuple[dict, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def subjects(self) -> tuple[str, ...]:
        """The people, sorted."""
        return tuple(sorted({clip.subject for clip in self.clips}))


def bvh_files(folder: Path) -> list[Path]:
    """All BVH files below a folder in a fixed order, without hidden ones."""
    return [
        path
        for path in files_below(folder)
        if path.suffix.lower() == ".bvh" and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def joint_names(path: Path) -> tuple[str, ...]:
    """Joint names in the head of a BVH file, as written; nothing is checked."""
    return tuple(re.findall(r"(?im)^\s*(?:ROOT|JOINT)\s+(\S+)", _head(path)))


def _head(path: Path) -> str:
    head = []
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.strip().upper().startswith("MOTION") or len(head) > 10_000:
                break
            head.append(line)
    return "".join(head)


def joint_offsets(path: Path) -> list[tuple[float, ...]]:
    """Numbers of the OFFSET lines in the head of a BVH file, end sites too; a line without gives an empty tuple."""
    offsets = []
    for words in re.findall(r"(?im)^\s*OFFSET\s+(.*)$", _head(path)):
        try:
            offsets.append(tuple(float(word) for word in words.split()))
        except ValueError:
            offsets.append(())
    return offsets


def describe(folder: Path, layout: str, clips, about, notes, *, published: bool = False) -> DataSet:
    """The data set with its words: those of its own listing, of the published manifest, or of the reader's folder."""
    clips = sorted(clips, key=lambda clip: clip.path.relative_to(folder).as_posix())
    words = {"staystill": "StayStill's layout", "reactidle": "ReActIdle's layout", "lafan1": "LaFAN1's names"}
    notes = [f"recognised as {words.get(layout, 'a folder of BVH files')}", *notes]
    reading = {}
    own = {} if about["label"] else _of_results(folder)
    if own:
        told = own
        notes.append("lies in a results folder of Motionbook, whose record describes it")
    elif about["label"]:
        told = {name: about[name] for name in ("name", "label", "kind", "licence", "fps_note")}
        notes.append(f"described by its {LISTING}")
    elif published:
        manifest = find_manifest(layout)
        reading = {k: manifest.reading[k] for k in ("fps", "positions", "metres_per_unit") if k in manifest.reading}
        told = {
            "name": layout,
            "label": str(manifest.reading["label"]),
            "kind": "real",
            "licence": manifest.licence,
            "fps_note": str(manifest.reading["fps_note"]),
        }
    else:
        told = {
            "name": folder.name,
            "label": f"reader's folder {folder.name}",
            "kind": "real",
            "licence": "not stated (the reader's)",
            "fps_note": "frame rates as the files state them",
        }
    read = MappingProxyType(reading)
    clips = tuple(ClipFile(**{**vars(clip), "read": read}) for clip in clips)
    return DataSet(**told, clips=clips, layout=layout, path=folder, folds=about["folds"], notes=tuple(notes))


def _of_results(folder: Path) -> dict[str, str]:
    """Words for a folder among a chapter's artefacts, from the chapter's record; empty for any other folder.

    Motionbook's own clips carry no listing outside of chapter 2, and must not pass for recordings of the reader's.
    """
    folder = folder.resolve()
    if any(folder.glob("runs/0[0-9]_*.json")):
        raise ValueError(
            f"{folder}: expected motion, got the results of all chapters; name {folder}/02_cleaning/dataset"
        )
    for chapter in (folder, *folder.parents):
        record = chapter.parent / "runs" / f"{chapter.name}.json"
        try:
            label = str(json.loads(record.read_text(encoding="utf-8"))["data_label"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        return {
            "name": chapter.name,
            "label": f"{below(folder, chapter.parent)} of a Motionbook run on {label}",
            "kind": "synthetic" if re.search("(?i)synthe|simulat|embedded|procedural", label) else "real",
            "licence": "as what it was made from",
            "fps_note": "frame rates as the files state them",
        }
    return {}


def listing(folder: Path) -> dict:
    """What ``dataset.json`` says, with its clips by path; empty fields where there is none."""
    path = folder / LISTING
    empty = {"label": "", "clips": {}, "folds": ()}
    if not path.is_file():
        return empty
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        about = {name: str(content[name]) for name in ("name", "label", "kind", "licence", "fps_note")}
        clips = {entry["path"]: entry for entry in content.get("clips", [])}
        folds = tuple(dict(fold) for fold in content.get("folds", []))
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: expected name, label, kind, licence, fps_note and lists of clips and folds "
            f"({type(error).__name__}: {error}); delete it to have the files' names read instead"
        ) from None
    if about["kind"] not in ("real", "synthetic"):
        raise ValueError(f"{path}: kind: expected real or synthetic, got {about['kind']!r}")
    return {**about, "clips": clips, "folds": folds}


def below(path: Path, folder: Path) -> str:
    """Path of a file below a folder, with /."""
    return path.relative_to(folder).as_posix()
