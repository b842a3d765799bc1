"""What a chapter run read, made and was asked for, kept beside its artefacts.

A chapter opens with ``start_chapter``, asks for the files of the chapter before it with ``take_inputs``, saves through
``save_table`` and ``save_figure`` and closes with ``finish_chapter``, which writes ``<out>/runs/<chapter>.json``.
"""

import json
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import motionbook
from motionbook.files import sha256, tree_sha256, write_whole

CHAPTERS = ("01_capture", "02_cleaning", "03_inbetweening", "04_stickfigures", "05_perception", "06_quality")
PACKAGES = ("numpy", "scipy", "pandas", "torch", "scikit-learn", "matplotlib", "numba")


@dataclass
class ChapterRun:
    """One run of one chapter; a record that the functions of this module add to.

    ``data_label`` says in words what the numbers come from (e.g. "embedded performers (synthetic), smoke budget") and
    is written beside every table and figure.
    """

    chapter: str
    out: Path
    budget: str
    data: str
    seed: int
    device: str
    parameters: dict
    data_label: str = ""
    inputs: list[dict] = field(default_factory=list)
    made_here: list[dict] = field(default_factory=list)
    artefacts: list[dict] = field(default_factory=list)
    started: float = field(default_factory=time.time)

    @property
    def folder(self) -> Path:
        """Where this chapter's artefacts lie."""
        return self.out / self.chapter


def start_chapter(
    chapter: str, *, out: str, budget: str, data: str = "", seed: int = 0, device: str = "cpu", **parameters
) -> ChapterRun:
    """Open a run of a chapter and make its folder.

    Parameters
    ----------
    chapter : one of ``CHAPTERS``
    out : folder of all results
    budget : "smoke", "reduced" or "full"
    data : path of the reader's data, "" for the embedded data
    parameters : the chapter's own parameters, recorded as they are
    """
    if chapter not in CHAPTERS:
        raise KeyError(f"no chapter {chapter!r}; there are {', '.join(CHAPTERS)}")
    run = ChapterRun(chapter, Path(out), budget, str(data or ""), int(seed), device, parameters)
    run.folder.mkdir(parents=True, exist_ok=True)
    return run


def take_inputs(run: ChapterRun, chapter: str, pattern: str, make: Callable[[Path], object]) -> Path:
    """Folder that holds the files ``pattern`` of an earlier chapter; they are made small and here when it has none.

    Parameters
    ----------
    run : ChapterRun
    chapter : str
        The chapter whose artefacts are asked for.
    pattern : str
        Glob relative to that chapter's folder, e.g. "clips/*/*.bvh".
    make : function of a folder
        Called only when nothing matches; writes the same layout under the folder it gets. The run then records, and
        prints, that the input was made here.

    Returns
    -------
    Path
        The folder to read from: ``folder.glob(pattern)`` finds files.
    """
    folder = run.out / chapter
    files = sorted(path for path in folder.glob(pattern) if path.is_file())
    if not files:
        folder = run.folder / "made_here" / chapter
        note = f"made here: {chapter}/{pattern} is missing, so {run.chapter} made it at budget {run.budget}"
        print(note)  # noqa: T201 - the reader of the notebook must see it
        make(folder)
        files = sorted(path for path in folder.glob(pattern) if path.is_file())
        if not files:
            raise RuntimeError(f"{run.chapter}: the stand-in for {chapter}/{pattern} wrote no such file in {folder}")
        run.made_here.append({"chapter": chapter, "pattern": pattern, "note": note})
    run.inputs.append(
        {
            "chapter": chapter,
            "pattern": pattern,
            "made_here": folder != run.out / chapter,
            "sha256": tree_sha256(files, folder),
            "files": {path.relative_to(run.out).as_posix(): sha256(path) for path in files},
        }
    )
    return folder


def note_data(run: ChapterRun, paths: Iterable[str | Path], root: str | Path | None = None) -> None:
    """Record the reader's own files that a chapter read, with their hashes; none leaves no entry.

    They are named relative to ``root``, the reader's data folder when left out.
    """
    paths = sorted(Path(path) for path in paths)
    if not paths:
        return
    root = Path(run.data if root is None else root)
    run.inputs.append(
        {
            "chapter": "data",
            "pattern": root.name,
            "made_here": False,
            "sha256": tree_sha256(paths, root),
            "files": {path.relative_to(root).as_posix(): sha256(path) for path in paths},
        }
    )


def inherited_label(run: ChapterRun, chapter: str, otherwise: str, item: str = "") -> str:
    """The data label that an earlier chapter left in its record; ``otherwise`` when this run made its artefacts itself.

    With ``item``, the label of that table or figure, which may come from other data than the chapter as a whole.
    """
    record = run.out / "runs" / f"{chapter}.json"
    if any(made["chapter"] == chapter for made in run.made_here) or not record.is_file():
        return otherwise
    content = json.loads(record.read_text(encoding="utf-8"))
    if item:
        content = {"data_label": next((a["data"] for a in content["artefacts"] if a.get("id") == item), "")}
    return content.get("data_label") or otherwise


def record_artefact(run: ChapterRun, path: Path, **about) -> Path:
    """Note a file this chapter wrote, with its fingerprint; keywords are kept beside it."""
    path = Path(path)
    entry = {"path": path.relative_to(run.out).as_posix(), "sha256": sha256(path), **about}
    run.artefacts = [a for a in run.artefacts if a["path"] != entry["path"]] + [entry]
    return path


def finish_chapter(run: ChapterRun) -> Path:
    """Write ``<out>/runs/<chapter>.json`` and return its path."""
    record = {
        "chapter": run.chapter,
        "budget": run.budget,
        "data": run.data,
        "data_label": run.data_label,
        "seed": run.seed,
        "device": run.device,
        "parameters": run.parameters,
        "inputs": run.inputs,
        "made_here": run.made_here,
        "artefacts": run.artefacts,
        "seconds": round(time.time() - run.started, 1),
        **software(),
    }
    text = json.dumps(record, indent=1, sort_keys=True, default=str)
    return write_whole(run.out / "runs" / f"{run.chapter}.json", text + "\n")


def software() -> dict:
    """Versions: this library with the fingerprint of its code, the commit if there is one, Python and packages."""
    library = Path(motionbook.__file__).parent
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "version": motionbook.__version__,
        "library_sha256": tree_sha256(library.rglob("*.py"), library),
        "commit": _commit(library),
        "python": platform.python_version(),
        "packages": versions,
    }


def _commit(folder: Path) -> str | None:
    """The git commit of the checkout the library runs from, with "+changes" when it was edited; None outside git."""
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty=+changes", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
