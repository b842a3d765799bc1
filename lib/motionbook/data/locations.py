"""Where the files that travel with the library lie, in a checkout and in an installed package."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def manifests_folder() -> Path:
    """The folder of data manifests and published numbers.

    In a checkout (or an editable installation) it is ``data_manifests/`` beside ``lib/``; in an installed package it is
    the copy ``motionbook/_manifests`` that ``setup.py`` puts into the wheel.

    Raises
    ------
    FileNotFoundError
        When neither is there, with both places that were tried.
    """
    places = (_PACKAGE.parents[1] / "data_manifests", _PACKAGE / "_manifests")
    for folder in places:
        # a stranger's folder of that name beside site-packages must not be taken for ours
        if (folder / "published" / "index.yaml").is_file():
            return folder
    raise FileNotFoundError(
        f"no data manifests in {places[0]} or {places[1]}; install motionbook again, from a checkout or a wheel"
    )
