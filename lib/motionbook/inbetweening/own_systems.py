"""Clips that a reader's own systems made, checked against the ground truth and put beside those of the baselines.

The folder has one folder of BVH per system, with the clip names of chapter 3's list. It lies outside the results, which
a chapter clears when it runs again.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from motionbook.bvh import read_bvh
from motionbook.clip import Clip
from motionbook.inbetweening.generator import SYSTEMS

# Header rates such as 0.033333 are rounded
_RATE_TOLERANCE = 1e-3


def find_systems(folder: str | Path, names) -> dict[str, list[Path]]:
    """The BVH files of each system below a folder, by system, each holding every clip.

    Parameters
    ----------
    folder : path
        With ``<system>/<clip>.bvh``.
    names : iterable of str
        The clips of chapter 3; every system needs all of them, or people would compare systems on different motions.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
        No such folder.
    ValueError
        No system in it, one named as a system of the book, or clips that are missing or unknown.
    """
    folder, names = Path(folder), sorted(names)
    if not folder.exists():
        raise FileNotFoundError(f"systems: {folder} does not exist; name a folder with one folder of BVH per system")
    if not folder.is_dir():
        raise NotADirectoryError(f"systems: expected a folder with one folder of BVH per system, got the file {folder}")
    if not names:
        raise ValueError("systems: there are no clips to stand beside; give recordings long enough for them")
    found = {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        files = sorted(path for path in place.iterdir() if path.suffix.lower() == ".bvh")
        if not files:
            continue
        if place.name in SYSTEMS:
            raise ValueError(f"systems: {place.name} is a system of the book ({', '.join(SYSTEMS)}); rename the folder")
        there = {path.stem for path in files}
        if lacking := [name for name in names if name not in there]:
            raise ValueError(f"{place.name}: {len(lacking)} of {len(names)} clips are missing: {_few(lacking)}")
        if unknown := sorted(there - set(names)):
            raise ValueError(f"{place.name}: no clip of chapter 3 is named {_few(unknown)}; there are {_few(names)}")
        found[place.name] = files
    if not found:
        raise ValueError(f"systems: {folder} holds no folder with .bvh files; expected <system>/<clip>.bvh")
    return found


def take_systems(folder: str | Path, truth: Mapping[str, Clip], target: str | Path) -> dict[str, dict[str, Clip]]:
    """Check every clip of a reader's systems and copy its file to ``<target>/<system>/<clip>.bvh``.

    Nothing is copied when one of them is refused.

    Parameters
    ----------
    folder : path
        See ``find_systems``.
    truth : mapping of clip name to Clip
        The ground truth; each clip needs its frames, frame rate, joints and, within a factor of two, its size.
    target : path

    Returns
    -------
    dict
        System to clip name to Clip.

    Raises
    ------
    ValueError
        With the file and what differs. Files that are no BVH raise BvhError, a ValueError.
    """
    found = find_systems(folder, truth)
    made = {}
    for system, files in found.items():
        made[system] = {}
        for path in files:
            clip = read_bvh(path)
            _check(f"{system}/{path.name}", clip, truth[path.stem])
            made[system][path.stem] = clip
    for system, files in found.items():
        place = Path(target) / system
        place.mkdir(parents=True, exist_ok=True)
        for path in files:
            shutil.copyfile(path, place / f"{path.stem}.bvh")
    return made


def _check(name: str, clip: Clip, truth: Clip) -> None:
    """Refuse a clip that does not stand for the same frames of the same body."""
    if clip.skeleton.names != truth.skeleton.names or clip.skeleton.parents != truth.skeleton.parents:
        lacking = [joint for joint in truth.skeleton.names if joint not in clip.skeleton.names]
        unknown = [joint for joint in clip.skeleton.names if joint not in truth.skeleton.names]
        parts = [f"without {_few(lacking)}"] if lacking else []
        parts += [f"with {_few(unknown)}"] if unknown else []
        raise ValueError(
            f"{name}: expected the {len(truth.skeleton)} joints of the ground truth in their order, got "
            f"{len(clip.skeleton)} {' and '.join(parts) or 'in another order'}"
        )
    if len(clip) != len(truth):
        raise ValueError(f"{name}: expected {len(truth)} frames, one for each of the ground truth, got {len(clip)}")
    if abs(clip.fps / truth.fps - 1) > _RATE_TOLERANCE:
        raise ValueError(f"{name}: expected {truth.fps:g} frames per second, got {clip.fps:g}")
    size, expected = (np.linalg.norm(c.skeleton.offsets[1:], axis=1).sum() for c in (clip, truth))
    if not 0.5 < size / expected < 2.0:
        raise ValueError(
            f"{name}: its bones add up to {size:.3g} m, the ground truth's to {expected:.3g} m; mind the unit"
        )


def _few(names, most: int = 4) -> str:
    names = list(names)
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
