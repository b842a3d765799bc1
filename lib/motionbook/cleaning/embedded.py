"""The embedded performers as the takes that a data set is built from, some of them filmed in chapter 1."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from motionbook.cleaning.dataset import Built, build_dataset
from motionbook.data.layouts import ClipFile, bvh_files, open_dataset
from motionbook.data.names import staystill_name
from motionbook.synthesis.dataset import ABOUT

# How Motionbook writes BVH itself, so that nothing has to be guessed
OWN_FILES = MappingProxyType({"metres_per_unit": 0.01, "positions": "replace", "up": "Y"})


def embedded_takes(
    folder: str | Path, sizes: Mapping, seed: int, captured: str | Path | None = None
) -> tuple[ClipFile, ...]:
    """Write the performers' motion on the FreeMoCap rig under ``folder`` and list it, filmed takes in their place.

    Parameters
    ----------
    folder : path
        Gets ``freemocap/`` in StayStill's layout.
    sizes : mapping
        ``subjects``, ``idle_seconds``, ``phone_seconds`` and ``takes``, as ``budgets.sizes(budget, "02_cleaning")``.
    seed : int
    captured : path, optional
        Folder of chapter 1's ``<subject>_idle.bvh``; they stand for the idle motion of the people in them.
    """
    from motionbook.synthesis.performers import write_dataset

    folder = Path(folder)
    for old in folder.glob("freemocap/**/*.bvh"):
        old.unlink()
    write_dataset(
        folder,
        sizes["subjects"],
        sizes["idle_seconds"],
        sizes["phone_seconds"],
        sizes["takes"],
        seed,
        rigs=("freemocap",),
    )
    written = open_dataset(folder, layout="staystill", rig="freemocap").clips
    takes = [replace(take, read=OWN_FILES) for take in written]
    filmed = captured_takes(captured) if captured is not None else ()
    people = {take.subject for take in filmed}
    return (*filmed, *(take for take in takes if take.group != "idle" or take.subject not in people))


def captured_takes(folder: str | Path) -> tuple[ClipFile, ...]:
    """Chapter 1's takes, ``<subject>_idle.bvh`` files of a folder."""
    takes = []
    for path in bvh_files(Path(folder)):
        name = staystill_name(path.stem)
        if name is None:
            raise ValueError(f"{path}: expected <subject>_idle.bvh")
        takes.append(ClipFile(path, name.subject, "idle", name.label, name.take, name.piece, "freemocap", OWN_FILES))
    return tuple(takes)


def is_filmed(clip: Mapping) -> bool:
    """Whether a clip of ``dataset.json`` is one of chapter 1's, with the jitter of its cameras."""
    return "01_capture" in Path(clip["source"]).parts


def build_embedded(
    folder: str | Path, sizes: Mapping, seed: int, captured: str | Path | None = None, jobs: int | None = None
) -> Built:
    """The data set of the embedded performers: ``folder/generated`` is written first, then ``folder/dataset``.

    Chapters after this one call it to make a stand-in when chapter 2 has not run.
    """
    folder = Path(folder)
    takes = embedded_takes(folder / "generated", sizes, seed, captured)
    return build_dataset(takes, folder / "dataset", about=ABOUT, seed=seed, root=folder.parent, jobs=jobs)
