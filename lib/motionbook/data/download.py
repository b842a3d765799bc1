"""Fetch a data set by its id, and verify what lies in its folder.

A file counts as fetched when it is whole and has the checksums of the manifest and of the source's own record. Where
neither states one, its SHA-256 is recorded in ``<folder>/checksums.json`` on the first download and must be met ever
after; the report says which files that concerns.
"""

import contextlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from motionbook.data import hub
from motionbook.data.archives import is_archive, unpack
from motionbook.data.catalogue import RECORDS, data_home, find_manifest
from motionbook.data.manifests import Manifest
from motionbook.data.records import read_records, recorded_check, write_records
from motionbook.data.remote import RemoteFile, failing_check, inside, remote_files
from motionbook.data.transfer import download_file
from motionbook.data.verification import verify
from motionbook.files import sha256

__all__ = ["FetchReport", "FetchedFile", "fetch", "verify"]

_PARTIAL = ".partial"


class FetchedFile(NamedTuple):
    """One file of a fetch. ``action``: kept, fetched, replaced or unpacked; ``checked``: what it was held against."""

    path: str
    action: str
    size: int
    checked: str


class FetchReport(NamedTuple):
    """What a fetch did; ``notes`` are sentences to show the reader."""

    id: str
    folder: Path
    files: tuple[FetchedFile, ...]
    notes: tuple[str, ...]


def fetch(
    id: str,
    folder: str | Path | None = None,
    *,
    parts: tuple[str, ...] | None = None,
    base_url: str | None = None,
    manifests: str | Path | None = None,
    progress: bool = True,
    tries: int = 5,
    wait: float = 1.0,
) -> FetchReport:
    """Download a data set into its folder; files that are there and right are left alone.

    Parameters
    ----------
    id : str
        As in ``catalogue.list_manifests``.
    folder : path, optional
        The data set's own folder; ``data_home() / id`` when left out.
    parts : tuple of str, optional
        Parts of a data set that has some (``mini``, ``motion``, ``frames`` of the stick figures); the first when left
        out. Ignored for the others.
    base_url : str, optional
        A mirror of the sources: every ``https://host/path`` is asked for as ``<base_url>/host/path``.
    manifests : path, optional
        Folder of other manifests than the project's.
    progress : bool
        Whether bars are drawn.
    tries, wait
        As in ``transfer.download_file``.

    Raises
    ------
    KeyError
        For an id or part that does not exist, with those that do.
    ValueError
        For a data set that has to be fetched by hand (with how), a file that is not what it should be, or an archive
        that may not be unpacked.
    RuntimeError
        When a server refuses or cannot be reached. What has arrived stays, the same call continues.
    """
    manifest = find_manifest(id, manifests)
    if manifest.manual:
        raise ValueError(f"{manifest.title} is not fetched for you ({manifest.licence}). {manifest.by_hand}")
    folder = Path(folder) if folder else data_home() / id
    folder.mkdir(parents=True, exist_ok=True)
    records = read_records(folder, manifest)
    transfer = {"tries": tries, "wait": wait, "progress": progress}
    done, notes = [], []
    for source in _chosen(manifest, parts):
        if source.kind == "manual":
            notes.append(f"{source.url} has to be fetched by hand: {manifest.by_hand}")
        elif source.kind == "huggingface":
            done += _fetch_hub(source, folder, records, notes, base_url, progress)
        else:
            files, about = remote_files(source, base_url=base_url, **transfer)
            notes += about
            done += _fetch_all(files, folder, records, notes, source.unpack, transfer)
    with contextlib.suppress(OSError):
        (folder / _PARTIAL).rmdir()
    return FetchReport(id, folder, tuple(done), tuple(notes))


def _chosen(manifest: Manifest, parts: tuple[str, ...] | None) -> Iterator:
    parts = manifest.parts[:1] if parts is None else tuple(parts)
    for part in parts:
        if manifest.parts and part not in manifest.parts:
            raise KeyError(f"{manifest.id} has no part {part!r}; there are {', '.join(manifest.parts)}")
    return (source for source in manifest.sources if not source.part or source.part in parts)


def _fetch_all(files: list[RemoteFile], folder, records, notes, unpacked: bool, transfer) -> list[FetchedFile]:
    """Fetch file by file; one that fails does not keep the others away, two failures in a row end it."""
    done, failures, in_a_row = [], [], 0
    for file in files:
        try:
            done += _fetch_one(file, folder, records, notes, unpacked, transfer)
            in_a_row = 0
        except (ValueError, RuntimeError) as error:
            failures.append(error)
            in_a_row += 1
            if in_a_row == 2:
                break
    if len(failures) == 1:
        raise failures[0]
    if failures:
        listed = "".join(f"\n  {error}" for error in failures)
        raise RuntimeError(
            f"{len(failures)} files could not be fetched, {len(done)} are in {folder}; the same call tries the rest "
            f"again:{listed}"
        )
    return done


def _fetch_one(file: RemoteFile, folder, records, notes, unpacked: bool, transfer) -> list[FetchedFile]:
    target = inside(folder, file.path)
    as_archive = unpacked and is_archive(file.path)
    if as_archive and (members := _unpacked_before(file, folder, records)):
        return [FetchedFile(name, "kept", (folder / name).stat().st_size, f"in {file.path}") for name in members]
    checks = file.checks + recorded_check(file.path, file.checks, records)
    there = target.is_file()
    if there and checks and failing_check(target, checks) is None:
        action = "kept"
    else:
        if there and not checks:
            notes.append(f"{file.path} was there without a checksum to compare; it was fetched again")
        _retrieve(file, target, folder / _PARTIAL / file.path, checks, transfer)
        action = "replaced" if there else "fetched"
    origin = checks[0].origin if checks else "first download"
    size, found = target.stat().st_size, sha256(target)
    if not checks:
        notes.append(
            f"{file.path}: no checksum was known; SHA-256 {found} of this first download is recorded in "
            f"{folder / RECORDS} and will be compared from now on"
        )
    entry = {"sha256": found, "size": size, "checked": origin, "url": file.url}
    if not as_archive:
        records["files"][file.path] = entry
        write_records(folder, records)
        return [FetchedFile(file.path, action, size, origin)]
    names = unpack(target, folder)
    for name in names:
        place = folder / name
        about = {"sha256": sha256(place), "size": place.stat().st_size, "checked": origin, "archive": file.path}
        records["files"][name] = about
    records["archives"][file.path] = {**entry, "checks": {c.algorithm: c.value for c in checks}, "members": names}
    write_records(folder, records)
    target.unlink()  # its files are recorded one by one; keeping it would double the space
    return [FetchedFile(name, "unpacked", (folder / name).stat().st_size, f"in {file.path}") for name in names]


def _retrieve(file: RemoteFile, target: Path, partial: Path, checks, transfer) -> None:
    """Bring one file to its place, whole and checked, or raise and leave the place as it was."""
    import pooch

    def resuming(url, output_file, _):
        """A downloader for pooch that continues broken transfers and checks the file before it is handed over."""
        for second in (False, True):
            continued = download_file(url, partial, size=file.size, checked=bool(checks), **transfer)
            failed = failing_check(partial, checks)
            if failed is None:
                os.replace(partial, output_file)
                return
            partial.unlink()
            if not continued or second:
                break  # a fresh transfer is wrong: another one will be too
        check, found = failed
        raise ValueError(
            f"{url}: {file.path}: expected {check.algorithm} {check.value} (by the {check.origin}), got {found}; "
            "nothing was kept. Try again; if it stays so, the file has changed at its source"
        )

    arrived = f".{target.name}.arrived"
    target.parent.mkdir(parents=True, exist_ok=True)
    partial.parent.mkdir(parents=True, exist_ok=True)
    with _quiet(pooch.get_logger()):
        (target.parent / arrived).unlink(missing_ok=True)
        pooch.retrieve(file.url, known_hash=None, fname=arrived, path=target.parent, downloader=resuming)
    (target.parent / arrived).replace(target)
    with contextlib.suppress(OSError):
        partial.parent.rmdir()


def _fetch_hub(source, folder, records, notes, base_url, progress) -> list[FetchedFile]:
    pinned = source.revision or records["revisions"].get(source.repo)
    commit, files = hub.fetch_hub(source, folder, pinned, base_url=base_url, progress=progress)
    if not pinned:
        notes.append(f"{source.repo}: no commit was pinned; {commit} of this first download is recorded and kept to")
    records["revisions"][source.repo] = commit
    done = []
    for file in files:
        place = folder / file.path
        origin = file.checks[0].origin if file.checks else "first download"
        size = place.stat().st_size
        records["files"][file.path] = {"sha256": sha256(place), "size": size, "checked": origin, "url": source.repo}
        done.append(FetchedFile(file.path, file.action, size, origin))
    write_records(folder, records)
    return done


def _unpacked_before(file: RemoteFile, folder: Path, records) -> list[str]:
    """The members of an archive that was unpacked here and is the same still, [] when it has to be fetched."""
    known = records["archives"].get(file.path)
    if not known or any(known["checks"].get(c.algorithm, c.value) != c.value for c in file.checks):
        return []
    for name in known["members"]:
        entry, place = records["files"].get(name), folder / name
        if not entry or not place.is_file() or place.stat().st_size != entry["size"]:
            return []
    return known["members"]


@contextlib.contextmanager
def _quiet(logger: logging.Logger):
    """Silence pooch's advice to paste checksums into code; ours are recorded."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
