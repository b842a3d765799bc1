"""Which files a ``motionbook clip`` command works on, where each result goes, and what became of it."""

import glob
import os
import re
import string
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from motionbook.clip import Clip
from motionbook.files import files_below
from motionbook.parallel import map_jobs

READABLE = (".bvh", ".npz")
_FIELDS = ("stem", "folder", "ext", "name")


class Source(NamedTuple):
    """A file to read and its place below the folder that was asked for."""

    path: Path
    relative: Path


class Outcome(NamedTuple):
    """What became of one file.

    Attributes
    ----------
    path : str
    state : str
        "done", "skipped" or "failed".
    words : str
        Why it was skipped or failed.
    written : tuple of str
        Files that were written.
    notes : tuple of str
        Repairs and findings.
    row : dict
        Values for a table.
    """

    path: str
    state: str
    words: str = ""
    written: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    row: dict = {}  # noqa: RUF012  (a NamedTuple's default, never changed)


class Skipped(Exception):
    """Raised by work on a file that is left out for a reason."""


def find_sources(wanted: Iterable[str]) -> tuple[list[Source], list[Outcome]]:
    """The motion files that paths, folders and patterns name, each once, and what was not used and why.

    Parameters
    ----------
    wanted : iterable of str
        Files; folders, searched with everything below them; patterns of ``*``, ``?`` and ``[...]``, in which ``**``
        stands for any folders, whether or not the shell has expanded them.

    Returns
    -------
    sources : list of Source
        ``relative`` is the path below the folder, or below the part of a pattern before its first special character.
    others : list of Outcome
        Failed: names that match nothing. Skipped: files that hold no motion.
    """
    sources, others, seen = [], [], set()
    for text in wanted:
        path = Path(text)
        if path.is_dir():
            found = [(file, file.relative_to(path)) for file in files_below(path) if _readable(file)]
            empty = f"no {' or '.join(READABLE)} file in this folder or below it"
        elif path.exists():
            found, empty = [(path, Path(path.name))], ""
        elif glob.has_magic(text):
            start = _fixed_part(text)
            matches = sorted(Path(match) for match in glob.glob(text, recursive=True))
            found = [(match, match.relative_to(start)) for match in matches if match.is_file()]
            empty = "no file matches"
        else:
            found, empty = [], "there is no such file or folder"
        if not found:
            others.append(Outcome(text, "failed", empty))
        for file, relative in found:
            real = os.path.realpath(file)
            if real in seen:
                continue
            seen.add(real)
            if _readable(file):
                sources.append(Source(file, relative))
            else:
                kinds = " or ".join(READABLE)
                others.append(Outcome(str(file), "skipped", f"no motion file: expected {kinds}"))
    return sources, others


def _readable(path: Path) -> bool:
    return path.suffix.lower() in READABLE


def _fixed_part(pattern: str) -> Path:
    parts = []
    for part in Path(pattern).parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return Path(*parts)


def target_path(source: Source, out: str | None, suffix: str) -> Path:
    """Where the result for a source goes.

    Parameters
    ----------
    source : Source
    out : str or None
        A folder, below which the source's relative path is kept; or a template with ``{stem}``, ``{folder}`` (its
        folder below the one asked for), ``{ext}`` (without a point) or ``{name}`` (stem and ending); None: beside the
        source.
    suffix : str
        Ending with its point.

    Raises
    ------
    ValueError
        For a template with another field.
    """
    if out is None:
        return source.path.with_suffix(suffix)
    if "{" not in out:
        return Path(out) / source.relative.with_suffix(suffix)
    try:
        fields = {field for _, field, _, _ in string.Formatter().parse(out) if field is not None}
    except ValueError:
        fields = {""}
    if fields - set(_FIELDS):
        raise ValueError(f"--out: a template has {', '.join('{' + field + '}' for field in _FIELDS)}, got {out!r}")
    folder = source.relative.parent.as_posix()
    stem = source.relative.stem
    return Path(out.format(stem=stem, folder=folder, ext=suffix[1:], name=stem + suffix))


def plan_targets(
    sources: Sequence[Source], out: str | None, suffix: str, *, kept: Iterable = (), pieces: bool = False
) -> tuple[list[tuple[Source, Path]], list[Outcome]]:
    """Pairs (source, target) that may be written, and what stands in the way of the others.

    No target is a file that is read, and no two targets are one file.

    Parameters
    ----------
    sources, out, suffix
        As in `target_path`.
    kept : iterable of path
        Further files that must not be written over.
    pieces : bool
        Whether results may get ``_1``, ``_2``, ... behind their names, which then must not meet either.
    """
    inputs = {os.path.realpath(path): str(path) for path in (*kept, *(source.path for source in sources))}
    targets = [target_path(source, out, suffix) for source in sources]
    reals = [os.path.realpath(target) for target in targets]
    numbered = {}  # a target's path -> a file that one of its pieces would be
    for path in (*inputs, *reals) if pieces else ():
        stem, ending = os.path.splitext(path)
        if found := re.fullmatch(r"(.+)_\d+", stem):
            numbered[found.group(1) + ending] = path
    pairs, others, taken = [], [], {}
    for source, target, real in zip(sources, targets, reals, strict=True):
        words = ""
        if real in inputs:
            words = f"its result would be written over {inputs[real]}; choose another --out"
        elif real in taken:
            words = f"its result would be {target}, as that of {taken[real]}; use {{folder}} and {{stem}} in --out"
        elif real in numbered:
            words = f"its pieces could be written over {numbered[real]}; choose another --out"
        if words:
            others.append(Outcome(str(source.path), "failed", words))
        else:
            taken[real] = source.path
            pairs.append((source, target))
    return pairs, others


def check_free(paths: Iterable[Path], overwrite: bool) -> None:
    """Raise Skipped when a file is there already and may not be replaced."""
    there = [path for path in paths if path.exists()]
    if there and not overwrite:
        raise Skipped(f"{there[0]} is there already; --overwrite replaces it")


def run_over(work: Callable, items: Sequence, jobs: int, describe: str) -> list[Outcome]:
    """``work(*item)`` for every item, in processes where asked, its errors and warnings as outcomes.

    ``work`` is importable by name, takes a Source first, and returns an Outcome.
    """
    return map_jobs(partial(_guarded, work), items, jobs=jobs, describe=describe)


def _guarded(work: Callable, item: tuple) -> Outcome:
    path = str(item[0].path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = work(*item)
        except Skipped as reason:
            outcome = Outcome(path, "skipped", str(reason))
        except (ValueError, KeyError, OSError, RuntimeError) as error:
            # str() of a KeyError quotes its text
            outcome = Outcome(path, "failed", str(error.args[0] if isinstance(error, KeyError) else error))
        except Exception as error:  # a fault of ours must not cost the other files
            outcome = Outcome(path, "failed", f"unexpected {type(error).__name__}: {error}")
    said = dict.fromkeys(str(warning.message) for warning in caught if issubclass(warning.category, UserWarning))
    return outcome._replace(notes=(*outcome.notes, *said))


def read_clip(path: Path, reading: dict) -> tuple[Clip, object]:
    """A clip and, for a BVH file, the reader's report (else None).

    ``reading`` holds arguments of `motionbook.read_bvh`; of them only ``fps`` means anything for an archive.
    """
    if path.suffix.lower() == ".npz":
        from dataclasses import replace

        from motionbook.export import read_npz

        clip = read_npz(path)
        return (clip if reading.get("fps") is None else replace(clip, fps=reading["fps"])), None
    from motionbook.bvh import read_bvh_report

    return read_bvh_report(path, **reading)
