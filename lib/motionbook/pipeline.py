"""Run the chapters in order through papermill: skip what is done and unchanged, resume after a stop, name what failed.

A chapter is done when its last run ended well and nothing it depends on has changed since: its code, the library and
manifests, its parameters, the reader's data (by content), the artefacts of the chapters it reads, and its own
artefacts, which must still be the ones it wrote.
"""

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path

import motionbook
from motionbook.budgets import BUDGETS
from motionbook.capture.recordings import is_recording
from motionbook.data.datasets import bvh_files
from motionbook.data.locations import manifests_folder
from motionbook.files import files_below, held, sha256, tree_sha256, write_whole
from motionbook.notebooks import code_of, notebooks_folder, sync_notebooks
from motionbook.report.provenance import CHAPTERS
from motionbook.stickfigures.dataset import find_motions

# chapter -> the chapters whose artefacts it reads
READS = {
    "01_capture": (),
    "02_cleaning": ("01_capture",),
    "03_inbetweening": ("02_cleaning",),
    "04_stickfigures": ("03_inbetweening",),
    "05_perception": ("03_inbetweening", "04_stickfigures"),
    "06_quality": ("03_inbetweening", "05_perception"),
}


@dataclass(frozen=True)
class Plan:
    """What to run: sizes, the reader's data, where results go, which chapters, and their parameters."""

    budget: str = "smoke"
    data: str = ""
    out: Path = Path("results")
    chapters: tuple[str, ...] = CHAPTERS
    seed: int = 0
    device: str = "cpu"
    jobs: int = 1
    parameters: tuple[tuple[str, object], ...] = ()
    notebooks: Path | None = None
    force: bool = False
    timeout: int | None = None

    def __post_init__(self):
        if self.budget not in BUDGETS:
            raise ValueError(f"budget: expected one of {', '.join(BUDGETS)}, got {self.budget!r}")
        if self.data:
            _check_data(Path(self.data), Path(self.out))
        if Path(self.out).exists() and not Path(self.out).is_dir():
            raise NotADirectoryError(f"out: expected a folder, {self.out} is a file; name another")
        if self.jobs < 1:
            raise ValueError(f"jobs: expected at least 1, got {self.jobs}")
        if self.seed < 0:
            raise ValueError(f"seed: expected 0 or more, got {self.seed}")
        if own := sorted(_GIVEN & dict(self.parameters).keys()):
            raise ValueError(f"parameters: {', '.join(own)} is an option of its own, such as --{own[0]}")
        chapters = tuple(dict.fromkeys(find_chapter(name) for name in self.chapters))
        object.__setattr__(self, "chapters", tuple(c for c in CHAPTERS if c in chapters))
        object.__setattr__(self, "out", Path(self.out).resolve())
        object.__setattr__(self, "data", str(Path(self.data).resolve()) if self.data else "")


# parameters that every chapter has and that fields of a Plan set
_GIVEN = {"budget", "data", "out", "seed", "device"}


def _check_data(data: Path, out: Path) -> None:
    """Refuse data that no chapter can read, or that this run would read its own results from or clear away."""
    if not data.exists():
        raise FileNotFoundError(f"data: {data} does not exist; leave --data out for the embedded data")
    if not data.is_dir():
        raise NotADirectoryError(
            f"data: expected a folder of BVH files, got the file {data}; unpack it, or name a folder"
        )
    inside, around = data.resolve(), out.resolve()
    if inside.is_relative_to(around) or around.is_relative_to(inside):
        raise ValueError(
            f"out: {out} and the data {data} lie in one another, so results would be taken for data; name another --out"
        )
    if not bvh_files(data) and not find_motions(data) and not is_recording(data):
        raise FileNotFoundError(
            f"data: {data} holds neither .bvh files nor source motions of stick figures (.npz) nor a recording (a "
            "calibration .toml and 2-D points); leave --data out for the embedded data"
        )


class ChapterFailed(RuntimeError):
    """A chapter stopped; the message names the chapter, the cell and the error."""


def find_chapter(name: str) -> str:
    """The full name of a chapter from "03", "3" or "03_inbetweening"; KeyError lists them."""
    for chapter in CHAPTERS:
        if name == chapter or name.zfill(2) == chapter[:2]:
            return chapter
    raise KeyError(f"no chapter {name!r}; there are {', '.join(CHAPTERS)}")


def reproduce(plan: Plan, say=lambda line: None) -> dict[str, str]:
    """Run the chapters of a plan in order.

    Parameters
    ----------
    plan : Plan
    say : function of a line of text
        Told what happens, one line per chapter.

    Returns
    -------
    dict
        chapter -> "done" or "unchanged".

    Raises
    ------
    ChapterFailed
        With chapter, cell number and error; chapters done before it stay done.
    RuntimeError
        When another run is writing to the same folder.
    """
    with held(plan.out / "runs" / ".lock", f"another run is writing to {plan.out}; wait for it or name another --out"):
        return _reproduce(plan, say)


def _check_reach(plan: Plan) -> None:
    """Refuse BVH data that would not reach the chapters asked for, since only chapter 02 reads it for them."""
    later = [chapter for chapter in plan.chapters if chapter > "02_cleaning"]
    if not (plan.data and later) or "02_cleaning" in plan.chapters or not bvh_files(Path(plan.data)):
        return
    record = _read_json(plan.out / "runs" / "02_cleaning.json")
    if record.get("data") != plan.data:
        was = f"was made from {record.get('data') or 'embedded data'}" if record else "is not there"
        raise ValueError(
            f"data: {', '.join(later)} would not see {plan.data}: chapter 02 reads it for them, and what it wrote to "
            f"{plan.out} {was}; add 02 to --only"
        )


def _reproduce(plan: Plan, say) -> dict[str, str]:
    _check_reach(plan)
    folder = plan.notebooks or notebooks_folder()
    sources = {chapter: _notebook(folder, chapter) for chapter in plan.chapters}
    parameters = _parameters(plan, sources)
    code = _code_fingerprint()
    data = _data_fingerprint(plan)
    states = {}
    for chapter, source in sources.items():
        key = _key(plan, chapter, source, parameters[chapter], code, data)
        if not plan.force and _is_done(plan.out, chapter, key):
            states[chapter] = "unchanged"
            say(f"{chapter}: unchanged since its last run, skipped")
            continue
        started = time.time()
        _execute(plan, chapter, source, parameters[chapter])
        outputs = _outputs_fingerprint(plan.out, chapter)
        done = {"key": key, "outputs": outputs}
        write_whole(_state_path(plan.out, chapter), json.dumps(done) + "\n")
        states[chapter] = "done"
        say(f"{chapter}: done in {time.time() - started:.0f} s")
        for made in _read_json(plan.out / "runs" / f"{chapter}.json").get("made_here", ()):
            say(f"{chapter}: {made['note']}")
    return states


def _notebook(folder: Path, chapter: str) -> Path:
    source = folder / f"{chapter}.ipynb"
    if not source.is_file():
        raise FileNotFoundError(f"{source} is missing; `motionbook notebooks` writes it from {chapter}.py")
    if source.with_suffix(".py").is_file() and source in sync_notebooks(folder, check=True):
        raise ValueError(f"{source.name} differs from its source {chapter}.py; run `motionbook notebooks`")
    return source


def _parameters(plan: Plan, sources: dict[str, Path]) -> dict[str, dict]:
    """Values for every notebook's parameters cell; a name that none declares is refused, papermill would only warn."""
    import papermill

    declared = {chapter: set(papermill.inspect_notebook(str(source))) for chapter, source in sources.items()}
    for chapter, names in declared.items():
        if missing := sorted(_GIVEN - names):
            raise ValueError(f"{sources[chapter]}: its cell tagged parameters lacks {', '.join(missing)}")
    # a notebook runs in its own folder, where a file named relative to the reader's would not be found
    own = {name: str(Path(v).resolve()) if _is_path(v) else v for name, v in plan.parameters}
    if unknown := sorted(set(own) - set().union(*declared.values())):
        there = [
            f"{chapter} has {', '.join(sorted(names - _GIVEN))}"
            for chapter, names in declared.items()
            if names - _GIVEN
        ]
        raise ValueError(
            f"no parameter {', '.join(unknown)}; {'; '.join(there) or 'these chapters have none of their own'}"
        )
    for name, value in own.items():
        if _is_path(value) and any(Path(value).is_relative_to(plan.out / chapter) for chapter in CHAPTERS):
            raise ValueError(f"{name}: {value} lies where a chapter clears its results; keep it outside {plan.out}")
    given = {"budget": plan.budget, "data": plan.data, "out": str(plan.out), "seed": plan.seed, "device": plan.device}
    return {
        chapter: {**given, **{name: value for name, value in own.items() if name in names}}
        for chapter, names in declared.items()
    }


def _code_fingerprint() -> str:
    library, manifests = Path(motionbook.__file__).parent, manifests_folder()
    return tree_sha256([*library.rglob("*.py")], library) + tree_sha256(manifests.rglob("*.yaml"), manifests)


def _data_fingerprint(plan: Plan) -> str:
    """Content fingerprint of the reader's data; a file whose size and time are known is not read again."""
    if not plan.data:
        return "embedded"
    root = Path(plan.data)
    known_path = plan.out / "runs" / "data_files.json"
    known = _read_json(known_path)
    seen = {}
    for path in files_below(root):
        facts = path.stat()
        stamp = [facts.st_size, facts.st_mtime_ns]
        old = known.get(str(path))
        seen[str(path)] = old if old and old[:2] == stamp else [*stamp, sha256(path)]
    write_whole(known_path, json.dumps(seen, indent=1) + "\n")
    return json.dumps([(Path(name).relative_to(root).as_posix(), entry[2]) for name, entry in seen.items()])


def _is_path(value) -> bool:
    return isinstance(value, str) and bool(value) and (Path(value).is_file() or Path(value).is_dir())


def _content(path: str) -> str:
    """Fingerprint of a file, or of all files below a folder."""
    return sha256(path) if Path(path).is_file() else tree_sha256(files_below(path), Path(path))


def _key(plan: Plan, chapter: str, source: Path, parameters: dict, code: str, data: str) -> str:
    import hashlib

    read = [_outputs_fingerprint(plan.out, parent) for parent in READS[chapter]]
    # where results lie does not change what they are
    values = {name: value for name, value in parameters.items() if name not in ("out", "data")}
    values |= {name: _content(value) for name, value in values.items() if _is_path(value)}
    parts = [chapter, code_of(source), code, data, json.dumps(values, sort_keys=True, default=str), *read]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _outputs_fingerprint(out: Path, chapter: str) -> str:
    folder = out / chapter
    files = [path for path in folder.rglob("*") if path.is_file() and "made_here" not in path.parts]
    return tree_sha256(files, folder)


def _state_path(out: Path, chapter: str) -> Path:
    return out / "runs" / f"{chapter}.state.json"


def executed_path(out: Path, chapter: str) -> Path:
    """Where the executed notebook of a chapter is kept."""
    return out / "executed" / f"{chapter}.ipynb"


def _is_done(out: Path, chapter: str, key: str) -> bool:
    state, record = _state_path(out, chapter), out / "runs" / f"{chapter}.json"
    if not (state.is_file() and record.is_file() and executed_path(out, chapter).is_file()):
        return False
    done = _read_json(state)
    return done.get("key") == key and done.get("outputs") == _outputs_fingerprint(out, chapter)


def _read_json(path: Path) -> dict:
    """What a file of the runner's own says; nothing when it is missing or spoiled, the work is then done again."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _execute(plan: Plan, chapter: str, source: Path, parameters: dict) -> None:
    """Execute one notebook; the copy is kept whether it ended well (NN.ipynb) or not (NN.failed.ipynb)."""
    import tempfile

    import papermill
    from papermill.exceptions import PapermillExecutionError

    final = executed_path(plan.out, chapter)
    partial, failed = final.with_suffix(".partial.ipynb"), final.with_suffix(".failed.ipynb")
    final.parent.mkdir(parents=True, exist_ok=True)
    record = plan.out / "runs" / f"{chapter}.json"
    for stale in (_state_path(plan.out, chapter), record, partial, failed):
        stale.unlink(missing_ok=True)
    _clear(plan.out / chapter)
    threads = max(1, (os.cpu_count() or 1) // plan.jobs)
    environment = {
        "MOTIONBOOK_STATIC": "1",
        "MOTIONBOOK_JOBS": str(plan.jobs),
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": str(threads),
    }
    with (
        tempfile.TemporaryDirectory(prefix="motionbook-ipython-") as profile,
        _environment({**environment, "IPYTHONDIR": profile}),
    ):
        # the kernel's remarks on its own transport and shutdown would drown the progress bar
        write_whole(Path(profile, "profile_default", "ipython_kernel_config.py"), "c.IPKernelApp.log_level = 50\n")
        try:
            papermill.execute_notebook(
                str(source),
                str(partial),
                parameters=parameters,
                kernel_name="python3",
                cwd=str(source.parent),
                start_timeout=120,
                execution_timeout=plan.timeout,
                progress_bar={"desc": chapter, "unit": "cell"},
                log_output=False,
            )
        except PapermillExecutionError as error:
            partial.replace(failed)
            first = next((line for line in error.source.splitlines() if line.strip()), "")
            raise ChapterFailed(
                f"{chapter} failed in {_place(source, error.source)} ({first.strip()}): {error.ename}: {error.evalue}\n"
                f"the notebook up to there, with the traceback: {failed}"
            ) from None
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            raise ChapterFailed(f"{chapter} stopped: {type(error).__name__}: {error}") from error
    if not record.is_file():
        partial.replace(failed)
        raise ChapterFailed(f"{chapter} ended without report.finish_chapter(run): no {record}")
    partial.replace(final)


def _place(notebook: Path, code: str) -> str:
    """Which cell of the notebook holds this code; papermill's own count includes cells it adds."""
    cells = ["".join(cell["source"]) for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]]
    return f"cell {cells.index(code) + 1} of {len(cells)}" if code in cells else "its parameters"


def _clear(folder: Path) -> None:
    """Remove an earlier run's artefacts, which must not stand among new ones of other sizes; checkpoints stay."""
    import shutil

    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.name != "checkpoints":
            shutil.rmtree(path)


class _environment:
    """Environment variables for the time of a with block, inherited by the kernel started in it."""

    def __init__(self, values: dict[str, str]):
        self.values = values

    def __enter__(self):
        self.before = {name: os.environ.get(name) for name in self.values}
        os.environ.update(self.values)

    def __exit__(self, *error):
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
