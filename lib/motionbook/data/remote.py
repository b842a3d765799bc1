"""What a source holds: its files with addresses and the checksums that its own record states.

Zenodo's record of a deposit gives name, size and MD5 of every file, GitHub's list of a commit gives name, size and
git's blob id. Both are asked for through ``transfer.download_file``, so they are retried and refused like any other
file.
"""

import hashlib
import json
import tempfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from motionbook.data.manifests import CHECKSUMS, Source
from motionbook.data.transfer import download_file


class Check(NamedTuple):
    """One checksum a file must have. ``origin``: "manifest", "record" (the source's own) or "first download"."""

    algorithm: str
    value: str
    origin: str


class RemoteFile(NamedTuple):
    """One file to fetch: where it goes, where it comes from and what is known of it."""

    path: str
    url: str
    size: int | None
    checks: tuple[Check, ...]


def remote_files(source: Source, *, base_url: str | None = None, **transfer) -> tuple[list[RemoteFile], list[str]]:
    """The files of a Zenodo, GitHub or https source, and notes on what could not be found out.

    Parameters
    ----------
    source : Source
    base_url : str, optional
        A mirror: every address ``https://host/path`` becomes ``<base_url>/host/path``.
    transfer
        Keywords of ``download_file`` for reading the source's record.

    Raises
    ------
    ValueError, RuntimeError
        As ``download_file``; and when a record does not have the form it should have.
    """
    lister = {"zenodo": _zenodo, "github": _github, "https": _https}[source.kind]
    files, notes = lister(source, base_url, transfer)
    return [file._replace(url=mirrored(file.url, base_url)) for file in files], notes


def mirrored(url: str, base_url: str | None) -> str:
    """The address of ``url`` on a mirror, itself when there is none."""
    if not base_url:
        return url
    parts = urlsplit(url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{base_url.rstrip('/')}/{parts.netloc}{parts.path}{query}"


def digest(path: Path, algorithm: str) -> str:
    """Checksum of a file; ``git`` is git's blob id, ``sha256_prefix`` the whole SHA-256."""
    import pooch

    if algorithm == "git":
        blob = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
        with open(path, "rb") as file:
            while chunk := file.read(1 << 20):
                blob.update(chunk)
        return blob.hexdigest()
    return pooch.file_hash(str(path), alg=algorithm.removesuffix("_prefix"))


def failing_check(path: Path, checks: tuple[Check, ...]) -> tuple[Check, str] | None:
    """The first checksum that a file does not have, with the one it has; None when it has all."""
    for check in checks:
        found = digest(path, check.algorithm)
        if not (found.startswith(check.value) if check.algorithm == "sha256_prefix" else found == check.value):
            return check, found
    return None


def manifest_checks(file) -> tuple[Check, ...]:
    """The checksums a manifest states for a file, strongest first."""
    return tuple(Check(name, getattr(file, name), "manifest") for name in CHECKSUMS if getattr(file, name))


def wanted(path: str, patterns: tuple[str, ...]) -> bool:
    """Whether a path matches one of several patterns; ``*`` does not cross a folder."""
    parts = path.split("/")
    return any(
        len(parts) == len(pattern.split("/")) and all(map(fnmatchcase, parts, pattern.split("/")))
        for pattern in patterns
    )


def inside(folder: Path, path: str) -> Path:
    """The place of a file named by somebody else's record, which must lie in the folder."""
    place = folder / path
    if Path(path).is_absolute() or ".." in Path(path).parts or not place.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{path!r} leads out of {folder}, by its name or by a link there; it was not fetched")
    return place


def _https(source, base_url, transfer):
    return [RemoteFile(f.path, f.url, f.size, manifest_checks(f)) for f in source.files], []


def _zenodo(source, base_url, transfer):
    url = f"https://zenodo.org/api/records/{source.record}"
    record = _read_json(mirrored(url, base_url), transfer)
    files = []
    try:
        for entry in record["files"]:
            name, size = entry["key"], int(entry["size"])
            algorithm, _, value = entry["checksum"].partition(":")
            if algorithm not in ("md5", "sha256") or not value:
                raise ValueError(f"checksum {entry['checksum']!r}")
            address = entry.get("links", {}).get("self") or f"{url}/files/{quote(name)}/content"
            files.append(RemoteFile(name, address, size, (Check(algorithm, value.lower(), "record"),)))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"{url}: the record does not list its files with key, size and checksum ({type(error).__name__}: {error}); "
            "fetch it by hand"
        ) from None
    chosen = [file for file in files if not source.select or wanted(file.path, source.select)]
    if not chosen:
        raise ValueError(
            f"{url}: the record holds no file of {', '.join(source.select) or 'any name'}; fetch it by hand"
        )
    return chosen, []


def _github(source, base_url, transfer):
    host = "media.githubusercontent.com/media" if source.lfs else "raw.githubusercontent.com"
    listed, notes = {}, []
    # the list costs one of the 60 requests an hour that GitHub allows without a login: only where it tells anything
    if source.also or (not source.lfs and not all(manifest_checks(file) for file in source.files)):
        url = f"https://api.github.com/repos/{source.repo}/git/trees/{source.commit}?recursive=1"
        try:
            listed = _tree(_read_json(mirrored(url, base_url), transfer), url)
        except (RuntimeError, ValueError) as error:
            notes.append(
                f"the list of files of {source.repo} could not be read ({error}); only files that the manifest names "
                "are fetched" + (f", of {', '.join(source.also)} there may be more" if source.also else "")
            )
    known = {file.path: file for file in source.files}
    more = [path for path in listed if path not in known and wanted(path, source.also)]
    files = []
    for path in [*known, *sorted(more)]:
        file = known.get(path)
        if file is not None and listed and path not in listed:
            notes.append(f"{path} is not in {source.repo} at {source.commit[:12]}")
            continue
        size, blob = listed.get(path, (None, None))
        checks = manifest_checks(file) if file else ()
        if blob and not source.lfs:
            checks += (Check("git", blob, "record"),)
        address = f"https://{host}/{source.repo}/{source.commit}/{quote(path)}"
        files.append(RemoteFile(path, address, (file.size if file and file.size else size), checks))
    return files, notes


def _tree(listing, url: str) -> dict[str, tuple[int, str]]:
    try:
        if listing.get("truncated"):
            raise ValueError("the list is cut short")
        blobs = [entry for entry in listing["tree"] if entry["type"] == "blob"]
        return {entry["path"]: (int(entry["size"]), str(entry["sha"])) for entry in blobs}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"{url}: not a list of files ({type(error).__name__}: {error})") from None


def _read_json(url: str, transfer: dict):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record.json"
        download_file(url, path, **{**transfer, "progress": False})
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            raise ValueError(f"{url}: expected JSON, got {path.read_bytes()[:60]!r}; try later") from None
