"""The data set that chapter 2 leaves behind, read for the benchmark: clips with their people, and the folds."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from motionbook.bvh import read_bvh
from motionbook.clip import Clip


class Recording(NamedTuple):
    """A clip with the person who moves in it and the subset it belongs to ("idle", "phone" or "actions")."""

    clip: Clip
    subject: str
    group: str
    name: str


class Recordings(NamedTuple):
    """All clips of a data set on one rig.

    Attributes
    ----------
    about : dict
        What ``dataset.json`` says of the whole: name, label, kind, licence, fps_note.
    recordings : tuple of Recording
    folds : tuple of dict
        Each with "train", "validation" and "test", lists of subjects.
    """

    about: dict
    recordings: tuple[Recording, ...]
    folds: tuple[dict, ...]


def read_recordings(folder: str | Path, rig: str = "lafan", groups: Iterable[str] | None = None) -> Recordings:
    """Read ``dataset.json`` and the BVH files it lists for one rig.

    Parameters
    ----------
    folder : path
        Holds ``dataset.json`` and the folder ``<rig>/`` with ``actions``, ``idle`` and ``phone``.
    rig : str
        "lafan" is the one that in-betweening works on.
    groups : iterable of str, optional
        Only these subsets.

    Raises
    ------
    FileNotFoundError
        Without ``dataset.json``.
    ValueError
        When no clip of this rig and these groups is listed.
    """
    folder, wanted = Path(folder), None if groups is None else set(groups)
    listing = folder / "dataset.json"
    if not listing.is_file():
        raise FileNotFoundError(f"{listing}: expected the data set of chapter 2; run motionbook reproduce --only 02")
    about = json.loads(listing.read_text(encoding="utf-8"))
    entries, folds = about.pop("clips"), about.pop("folds")
    entries = [e for e in entries if Path(e["path"]).parts[0] == rig and (wanted is None or e["group"] in wanted)]
    if not entries:
        what = "clips" if wanted is None else f"clips of {', '.join(sorted(wanted))}"
        raise ValueError(f"{listing}: lists no {what} under {rig}/")
    recordings = tuple(
        Recording(
            read_bvh(folder / e["path"], metres_per_unit=0.01, positions="replace", up="Y", fps=e["fps"]),
            e["subject"],
            e["group"],
            Path(e["path"]).stem,
        )
        for e in entries
    )
    return Recordings(about, recordings, tuple(folds))


def select(recordings: Iterable[Recording], subset: str, subjects: Iterable[str] | None = None) -> list[Recording]:
    """The recordings of one subset, of some people or (None) of all, in the order given."""
    wanted = None if subjects is None else set(subjects)
    return [r for r in recordings if r.group == subset and (wanted is None or r.subject in wanted)]
