"""The catalogue: every manifest the project has, and the folder into which data are fetched."""

import os
from pathlib import Path
from typing import NamedTuple

from motionbook.data.locations import manifests_folder
from motionbook.data.manifests import Manifest, load_manifest

RECORDS = "checksums.json"  # written into each data folder by download.fetch


def data_home() -> Path:
    """The folder under which fetched data lie: ``$MOTIONBOOK_DATA``, else the user's cache folder for motionbook."""
    chosen = os.environ.get("MOTIONBOOK_DATA")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("motionbook"))


def list_manifests(folder: str | Path | None = None) -> tuple[Manifest, ...]:
    """All manifests, by id.

    Parameters
    ----------
    folder : path, optional
        Where the YAML files lie; the project's ``data_manifests`` when left out.
    """
    folder = Path(folder) if folder else manifests_folder()
    return tuple(load_manifest(path) for path in sorted(folder.glob("*.yaml")))


def find_manifest(id: str, folder: str | Path | None = None) -> Manifest:
    """One manifest; KeyError lists the ids there are."""
    folder = Path(folder) if folder else manifests_folder()
    path = folder / f"{id}.yaml"
    if not path.is_file() or path.parent != folder:
        there = ", ".join(sorted(found.stem for found in folder.glob("*.yaml")))
        raise KeyError(f"no data set {id!r}; there are {there}")
    return load_manifest(path)


class CatalogueRow(NamedTuple):
    """One line of the catalogue, in words for a table."""

    id: str
    title: str
    licence: str
    chapters: str
    access: str
    here: str


def catalogue(home: str | Path | None = None) -> tuple[CatalogueRow, ...]:
    """What there is, under which licence, for which chapters, and whether it lies in the data folder.

    ``here`` is the folder of a fetched data set, "" when there is none; ``download.verify`` tells whether it is whole.
    """
    home = Path(home) if home else data_home()
    rows = []
    for manifest in list_manifests():
        place = home / manifest.id
        rows.append(
            CatalogueRow(
                manifest.id,
                manifest.title,
                manifest.licence,
                " ".join(chapter[:2] for chapter in manifest.chapters),
                "by hand" if manifest.manual else "fetch",
                str(place) if place.is_dir() and any(place.iterdir()) else "",
            )
        )
    return tuple(rows)
