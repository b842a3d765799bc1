"""What was fetched into a data folder: ``checksums.json`` beside the data.

One entry a file: SHA-256, size, address (or the archive it was unpacked from) and what it was checked against when it
came: ``manifest``, ``record`` (the source's own) or ``first download``, when nobody stated a checksum.
"""

import json
from pathlib import Path

from motionbook.data.catalogue import RECORDS
from motionbook.data.manifests import Manifest
from motionbook.data.remote import Check
from motionbook.files import write_whole


def read_records(folder: Path, manifest: Manifest) -> dict:
    """The record of a folder, an empty one where there is none; ValueError when it is damaged or another data set's."""
    path = folder / RECORDS
    empty = {"id": manifest.id, "files": {}, "archives": {}, "revisions": {}}
    if not path.exists():
        return empty
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        whole = isinstance(records, dict) and all(isinstance(records.get(k), type(v)) for k, v in empty.items())
    except ValueError:
        whole = False
    if not whole:
        raise ValueError(f"{path}: not a record of checksums; move it away, and the next fetch records them anew")
    if records["id"] != manifest.id:
        raise ValueError(f"{folder} holds the data set {records['id']!r}, not {manifest.id!r}; choose another folder")
    return records


def write_records(folder: Path, records: dict) -> None:
    """Write the record whole; equal records give equal bytes."""
    write_whole(folder / RECORDS, json.dumps(records, indent=1, sort_keys=True) + "\n")


def recorded_check(path: str, checks: tuple[Check, ...], records) -> tuple[Check, ...]:
    """The checksum recorded on the first download, where no other tells one file from another."""
    known = records["files"].get(path)
    if not known or any(check.algorithm in ("sha256", "md5", "git") for check in checks):
        return ()
    return (Check("sha256", known["sha256"], known["checked"]),)
