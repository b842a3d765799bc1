"""Takes that a data set can be made from: a reader's folder opened, one of each rig found, wrong sizes told."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from motionbook.cleaning.faults import METHODS
from motionbook.cleaning.scale_faults import scale_faults
from motionbook.data.datasets import joint_names
from motionbook.data.layouts import ClipFile, bvh_files, load_clip, open_dataset
from motionbook.data.splits import Fold, dataset_folds
from motionbook.rigs import find_legs

# Takes in which a person waits; only there is a joint that suddenly moves fast a fault rather than the motion.
SEARCHED_GROUPS = ("idle", "phone")


class Opened(NamedTuple):
    """A reader's folder: its takes, the words for it, its folds (None: to be drawn), notes, and the folder itself."""

    takes: tuple[ClipFile, ...]
    about: dict[str, str]
    folds: tuple[Fold, ...] | None
    notes: tuple[str, ...]
    root: Path


def open_takes(data: str | Path) -> Opened | None:
    """The takes of the reader's folder; None when nothing is given or it holds no BVH file.

    Raises
    ------
    FileNotFoundError
        When ``data`` is given and does not exist.
    """
    if not data:
        return None
    path = Path(data)
    if not path.exists():
        raise FileNotFoundError(f"data: there is no {path}; give a folder of BVH files or leave it empty")
    if path.is_file() or not bvh_files(path):
        return None
    found = open_dataset(path)
    about = {name: getattr(found, name) for name in ("name", "label", "kind", "licence", "fps_note")}
    if len(found.subjects) < 3:
        return Opened(found.clips, about, None, found.notes, found.path)
    folds, notes = dataset_folds(found)
    return Opened(found.clips, about, folds, (*found.notes, *notes), found.path)


def check_parameters(data: str, labels: str, annotations: str, rule: str, correct_sizes: bool) -> None:
    """Refuse chapter 2's own parameters at once when one cannot be meant, by its name.

    Raises
    ------
    FileNotFoundError
        For files and folders that are not there.
    ValueError
        For labels without data, another rule, and a switch that is no switch, such as the word "no".
    """
    for name, path in (("data", data), ("labels", labels), ("annotations", annotations)):
        if path and not Path(path).exists():
            raise FileNotFoundError(f"{name}: there is no {path} (from {Path.cwd()})")
        if path and name != "data" and not Path(path).is_file():
            raise ValueError(f"{name}: expected a CSV file, {path} is a folder")
    if labels and not data:
        raise ValueError("labels: they cut recordings; give the folder of the recordings as data")
    if rule not in METHODS:
        raise ValueError(f"rule: expected one of {', '.join(METHODS)}, got {rule!r}")
    if not isinstance(correct_sizes, bool):
        raise ValueError(f"correct_sizes: expected True or False, got {correct_sizes!r}")


def first_usable(takes: Sequence[ClipFile], least: int = 4) -> ClipFile:
    """The first take of a waiting person, else the first, that can be read, has a body and ``least`` frames or more.

    Raises
    ------
    ValueError
        When there is none, with the first reason.
    """
    reasons = []
    for take in sorted(takes, key=lambda take: take.group != "idle"):
        try:
            clip = load_clip(take)
            find_legs(clip.skeleton)
        except (ValueError, KeyError) as error:
            reasons.append(f"{take.path.name}: {error}")
            continue
        if len(clip) >= least:
            return take
        reasons.append(f"{take.path.name}: {len(clip)} frames")
    raise ValueError(f"takes: none of {len(takes)} can be used; {reasons[0] if reasons else 'there are none'}")


def wrong_sizes(takes: Sequence[ClipFile], root: str | Path | None = None, most: int = 200):
    """`motionbook.cleaning.scale_faults.scale_faults` of takes in which a person waits, of a captured rig.

    Returns
    -------
    table : pandas.DataFrame
        Without rows when no take is on FreeMoCap's rig.
    factors : dict
        Path -> factor of the takes whose size cannot be right, for `build_dataset`.
    """
    chosen = [take for take in takes if take.group in SEARCHED_GROUPS and take.rig == "freemocap"][:most]
    names = {take_name(take.path, None if root is None else Path(root)): take for take in chosen}
    # bones do not change within a take, ten seconds show them
    table = scale_faults(
        {name: load_clip(take)[:300] for name, take in names.items()},
        {name: take.subject for name, take in names.items()},
    )
    wrong = table[table["factor"] != 1.0]
    return table, {str(names[row.clip].path): float(row.factor) for row in wrong.itertuples()}


def one_per_rig(takes: Sequence[ClipFile], most: int = 40) -> list[ClipFile]:
    """The first take of every set of joints among takes."""
    found: dict[tuple[str, ...], ClipFile] = {}
    for take in takes:
        try:
            found.setdefault(joint_names(take.path), take)
        except ValueError:
            continue
        if len(found) == most:
            break
    return list(found.values())


def find_take(takes: Sequence[ClipFile], name: str, root: str | Path | None = None) -> ClipFile:
    """The take that a row of `Built.takes` calls ``name``."""
    for take in takes:
        if take_name(take.path, None if root is None else Path(root)) == name:
            return take
    raise KeyError(f"no take {name!r}; the first is {takes[0].path if takes else 'none'}")


def take_name(path: Path, root: Path | None) -> str:
    """The file below ``root``, or its bare name where it lies elsewhere."""
    return path.relative_to(root).as_posix() if root is not None and path.is_relative_to(root) else path.name
