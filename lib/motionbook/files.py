"""Files written whole or not at all, and their fingerprints."""

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes | Callable[[Path], None]) -> Path:
    """Write to a temporary name in the same folder, then rename; a stop in between leaves the old file.

    Parameters
    ----------
    path : path
        Its folder is made when it is missing.
    content : str, bytes or function
        A function gets the temporary path (with the same suffix) and writes it.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        if callable(content):
            content(temporary)
        elif isinstance(content, bytes):
            temporary.write_bytes(content)
        else:
            temporary.write_text(content, encoding="utf-8", newline="\n")
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def files_below(folder: str | Path) -> list[Path]:
    """All files below a folder in a fixed order, linked folders included, each folder once.

    Raises
    ------
    OSError
        For a folder that cannot be looked into, which would otherwise be left out without a word.
    """

    def refuse(error):
        raise error

    found, seen = [], set()
    for place, folders, names in os.walk(folder, followlinks=True, onerror=refuse):
        here = os.path.realpath(place)
        if here in seen:
            folders.clear()
            continue
        seen.add(here)
        folders.sort()
        found += [path for path in (Path(place, name) for name in names) if path.is_file()]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


@contextmanager
def held(path: str | Path, refusal: str):
    """Hold a lock file for the time of a with block; the system lets go of it when the process ends in any way.

    Raises
    ------
    RuntimeError
        With ``refusal`` when another process holds it.
    """
    from filelock import FileLock, Timeout

    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RuntimeError(refusal) from None
    try:
        yield
    finally:
        lock.release()


def write_csv(path: str | Path, frame, *, index: bool = False) -> Path:
    """Write a data frame whole, with ten significant digits and the same bytes on every system."""
    return write_whole(path, frame.to_csv(index=index, float_format="%.10g", lineterminator="\n"))


def sha256(path: str | Path) -> str:
    """Hexadecimal SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def tree_sha256(paths: Iterable[Path], root: Path) -> str:
    """One fingerprint for several files: of their names relative to ``root`` and their contents, order-free."""
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(root).as_posix(), path) for path in paths):
        digest.update(f"{name}\0{sha256(path)}\n".encode())
    return digest.hexdigest()
