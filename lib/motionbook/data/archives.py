"""Unpacking archives from elsewhere without letting them write elsewhere.

A zip or tar file may hold absolute paths, "..", links, devices, the same name twice, or a few kilobytes that become a
full disk. All of that is refused by the table of contents before a byte is written; nothing is left in the target after
a refusal.
"""

import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
MAX_BYTES = 64 << 30
MAX_FILES = 200_000
_CHUNK = 1 << 20
_LEFT_OUT = ("__MACOSX", ".DS_Store")  # what Finder adds to zip files


class _Member(NamedTuple):
    name: str
    size: int
    kind: str  # "file", "folder" or what else it is, in words
    handle: object


def is_archive(name: str) -> bool:
    """Whether a file name ends like an archive that ``unpack`` reads."""
    return name.lower().endswith(SUFFIXES)


def unpack(
    archive: str | Path, folder: str | Path, *, max_bytes: int = MAX_BYTES, max_files: int = MAX_FILES
) -> list[str]:
    """Unpack an archive into a folder; the paths of its files there, relative and sorted.

    The whole archive is unpacked beside the target first and moved in afterwards, file by file; an error leaves the
    target as it was, and files of the target that are not in the archive are not touched.

    Parameters
    ----------
    archive : path
        ``.zip``, ``.tar``, ``.tar.gz``, ``.tar.bz2`` or ``.tar.xz``, told by content.
    folder : path
    max_bytes, max_files : int
        Limits on what it unpacks to.

    Raises
    ------
    ValueError
        Naming the archive, the member and what is wrong with it.
    """
    archive, folder = Path(archive), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpack-", dir=folder) as inside:
        try:
            # tar first: a tar whose last file is a zip looks like a zip from its end
            if tarfile.is_tarfile(archive):
                names = _unpack_tar(archive, Path(inside), max_bytes, max_files)
            elif zipfile.is_zipfile(archive):
                names = _unpack_zip(archive, Path(inside), max_bytes, max_files)
            else:
                raise ValueError(f"{archive}: expected a zip or tar archive, this is neither; fetch it again")
        except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # the disk's fault, not the archive's
            raise ValueError(f"{archive}: damaged archive: {error}; delete it and fetch it again") from None
        for name in names:
            _place(Path(inside) / name, folder, name, archive)
    return names


def _unpack_zip(archive: Path, target: Path, max_bytes: int, max_files: int) -> list[str]:
    with zipfile.ZipFile(archive) as file:
        members = []
        for info in file.infolist():
            kind = "folder" if info.is_dir() else _kind_of_mode(info.external_attr >> 16)
            if info.flag_bits & 1:
                raise ValueError(f"{archive}: {info.filename}: is encrypted; unpack it by hand")
            members.append(_Member(info.filename, info.file_size, kind, info))
        wanted = _check(archive, members, max_bytes, max_files)
        return _write(target, ((path, file.open(m.handle)) for path, m in wanted))


def _unpack_tar(archive: Path, target: Path, max_bytes: int, max_files: int) -> list[str]:
    with tarfile.open(archive) as file:
        members = []
        for info in file:
            members.append(_Member(info.name, info.size, _kind_of_tar(info), info))
            if len(members) > max_files:
                break  # _check refuses; a tar has no table of contents that could be counted first
        wanted = _check(archive, members, max_bytes, max_files)
        return _write(target, ((path, file.extractfile(m.handle)) for path, m in wanted))


def _check(archive: Path, members: list[_Member], max_bytes: int, max_files: int) -> list[tuple[str, _Member]]:
    """The files to write with their cleaned paths; ValueError for the first member that may not be unpacked."""
    if len(members) > max_files:
        raise ValueError(f"{archive}: holds more than {max_files:,} members, the limit; unpack it by hand")
    total = sum(member.size for member in members if member.kind == "file")
    if total > max_bytes:
        raise ValueError(f"{archive}: unpacks to {total:,} bytes, over the limit of {max_bytes:,}; unpack it by hand")
    files, seen, folders = [], {}, set()
    for member in members:
        path = _inside(archive, member.name)
        if path.name in _LEFT_OUT or path.parts[:1] == ("__MACOSX",):
            continue
        if member.kind not in ("file", "folder"):
            raise ValueError(f"{archive}: {member.name}: is {member.kind}; only files and folders are unpacked")
        folders.update(str(parent).casefold() for parent in path.parents)
        if member.kind == "folder" or not path.parts:
            folders.add(str(path).casefold())
            continue
        # names that differ in case only are one file on many disks
        key = str(path).casefold()
        if key in seen:
            raise ValueError(f"{archive}: {member.name} and {seen[key]}: two members with one name")
        seen[key] = member.name
        files.append((path.as_posix(), member))
    for key in sorted(seen.keys() & folders):
        raise ValueError(f"{archive}: {seen[key]}: is both a file and a folder")
    return files


def _inside(archive: Path, name: str) -> PurePosixPath:
    """The member's path, which must lie inside the target."""
    path = PurePosixPath(name.replace("\\", "/"))
    if "\0" in name or path.is_absolute() or ".." in path.parts or ":" in name:
        raise ValueError(f"{archive}: {name!r}: leads out of the target folder; do not unpack this archive")
    return path


def _write(target: Path, files: Iterator[tuple[str, IO[bytes]]]) -> list[str]:
    """Write the files; zipfile and tarfile give no more of one than its declared size, which _check has added up."""
    names = []
    for name, source in files:
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with source, open(place, "xb") as file:
            shutil.copyfileobj(source, file, _CHUNK)
        names.append(name)
    return sorted(names)


def _place(source: Path, folder: Path, name: str, archive: Path) -> None:
    """Move one unpacked file into the target, whose own links must not lead out of it either."""
    place = folder / name
    place.parent.mkdir(parents=True, exist_ok=True)
    if not place.parent.resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"{archive}: {name}: a link in {folder} leads out of it; remove the link")
    source.replace(place)


def _kind_of_mode(mode: int) -> str:
    kind = stat.S_IFMT(mode)
    if kind in (0, stat.S_IFREG):
        return "file"
    return {stat.S_IFDIR: "folder", stat.S_IFLNK: "a symbolic link"}.get(kind, "a device or special file")


def _kind_of_tar(info: tarfile.TarInfo) -> str:
    if info.isreg():
        return "file"
    if info.isdir():
        return "folder"
    if info.issym():
        return "a symbolic link"
    return "a hard link" if info.islnk() else "a device or special file"
