"""Does a data folder hold what its manifest says, unchanged since it was fetched?"""

import re
from pathlib import Path
from typing import NamedTuple

from motionbook.data.archives import is_archive
from motionbook.data.catalogue import data_home, find_manifest
from motionbook.data.manifests import Manifest
from motionbook.data.records import read_records, recorded_check
from motionbook.data.remote import Check, failing_check, manifest_checks, wanted


class VerifyRow(NamedTuple):
    """One finding of ``verify``. ``state``: ok, recorded, unchecked, missing, changed or count."""

    path: str
    state: str
    detail: str


class VerifyReport(NamedTuple):
    """Findings, one row a file or count; ``ok`` when nothing is missing, changed or miscounted."""

    id: str
    folder: Path
    rows: tuple[VerifyRow, ...]
    ok: bool


def verify(id: str, folder: str | Path | None = None, *, manifests: str | Path | None = None) -> VerifyReport:
    """Compare a data set's folder with its manifest and with what was recorded when it was fetched.

    Reads every file once. States of a row: ``ok`` (has the checksum of the manifest or the source's record),
    ``recorded`` (has the one recorded on the first download), ``unchecked`` (there, no checksum known), ``missing``,
    ``changed``, ``count`` (another number of files or motion frames than expected).

    Raises
    ------
    FileNotFoundError
        When the folder does not exist: how to fetch it.
    """
    manifest = find_manifest(id, manifests)
    folder = Path(folder) if folder else data_home() / id
    if not folder.is_dir():
        way = manifest.by_hand if manifest.manual else f"fetch it with: motionbook data fetch {id}"
        raise FileNotFoundError(f"no folder {folder}; {way}")
    records = read_records(folder, manifest)
    rows = [_verify_file(folder, path, checks) for path, checks in _files_to_verify(manifest, records).items()]
    for pattern, expected in manifest.expected_files.items():
        found = sum(1 for path in folder.glob(pattern) if path.is_file())
        rows.append(_count_row(pattern, found, expected, "files"))
    for pattern, expected in manifest.expected_frames.items():
        found = sum(bvh_frames(path) for path in folder.glob(pattern) if path.is_file())
        rows.append(_count_row(pattern, found, expected, "frames"))
    ok = not any(row.state in ("missing", "changed", "count") for row in rows)
    return VerifyReport(id, folder, tuple(rows), ok)


def bvh_frames(path: Path) -> int:
    """The number of frames a BVH file declares, 0 where it declares none; only its head is read."""
    with open(path, "rb") as file:
        head = b""
        while chunk := file.read(1 << 16):
            head += chunk
            if found := re.search(rb"(?i)\bFrames\s*:\s*(\d+)\s", head):
                return int(found.group(1))
            if len(head) > 1 << 22:
                break
    return 0


def _files_to_verify(manifest: Manifest, records) -> dict[str, tuple[Check, ...]]:
    """Every file the manifest names or the records hold, with the checksums it must have."""
    files = {}
    for source in manifest.sources:
        if source.part and not any(wanted(path, source.select) for path in records["files"]):
            continue  # a part that was not fetched is not missing
        for file in source.files:
            if not (source.unpack and is_archive(file.path)):
                files[file.path] = manifest_checks(file)
    for path in records["files"]:
        files[path] = files.get(path, ())
    return {path: checks + recorded_check(path, checks, records) for path, checks in sorted(files.items())}


def _verify_file(folder: Path, path: str, checks: tuple[Check, ...]) -> VerifyRow:
    place = folder / path
    if not place.is_file():
        return VerifyRow(path, "missing", "")
    if not checks:
        return VerifyRow(path, "unchecked", "no checksum is known")
    failed = failing_check(place, checks)
    if failed:
        check, found = failed
        return VerifyRow(
            path, "changed", f"expected {check.algorithm} {check.value} by the {check.origin}, got {found}"
        )
    first = checks[0]
    state = "recorded" if first.origin == "first download" else "ok"
    return VerifyRow(path, state, f"{first.algorithm} {first.value} by the {first.origin}")


def _count_row(pattern: str, found: int, expected: int, what: str) -> VerifyRow:
    same = found == expected
    return VerifyRow(
        pattern, "ok" if same else "count", f"{found:,} {what}" + ("" if same else f", expected {expected:,}")
    )
