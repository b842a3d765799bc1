"""The rendered book: executed notebooks and pages put together and handed to Jupyter Book, which executes nothing.

``build`` copies the checkout's ``_config.yml``, ``book/`` and the executed notebooks into ``book/_build/stage``, adds
the pages that are made from results (ledger, provenance, front page), renders with warnings as errors, and checks what
came out.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from motionbook.files import write_whole
from motionbook.report import pages
from motionbook.report.provenance import CHAPTERS
from motionbook.report.words import sentences

_ASIDE = {"_build", "__pycache__", ".ipynb_checkpoints"}


class BookFailed(RuntimeError):
    """The book could not be rendered as it should; the message lists what is wrong."""


def build(
    out: str | Path = "results",
    *,
    source: Path | None = None,
    target: Path | None = None,
    strict: bool = True,
    allow_missing: bool = False,
) -> Path:
    """Render the book from the results under ``out``.

    Parameters
    ----------
    out : folder of results
        ``<out>/executed/NN_name.ipynb`` and ``<out>/runs/*.json`` as the runner leaves them.
    source : folder, optional
        The checkout: holds ``_config.yml``, ``book/`` and ``notebooks/``. Default: the one this library runs from.
    target : folder, optional
        ``<target>/html/index.html`` is made; ``book/_build`` of the checkout when left out.
    strict : bool
        Warnings of Sphinx are errors.
    allow_missing : bool
        Put a page that says "not run" in the place of chapters without an executed notebook, instead of an error.

    Returns
    -------
    Path
        Of ``index.html``.

    Raises
    ------
    FileNotFoundError
        No checkout, or chapters that were not executed.
    BookFailed
        Errors in an executed notebook, warnings or errors of Sphinx, or pages that are incomplete.
    """
    from motionbook.report import web
    from motionbook.report.check_book import static_problems

    source = Path(source) if source else checkout()
    out, target = Path(out).resolve(), Path(target or source / "book" / "_build").resolve()
    executed = _executed(out, allow_missing)
    static = source / "book" / "_static"
    web.vendor(static)
    stage = target / "stage"
    for old in (stage, target / "html", target / ".doctrees", target / "_build"):
        shutil.rmtree(old, ignore_errors=True)
    _stage(source, out, stage, executed)
    _render(stage, target, strict)
    html = target / "html"
    problems = static_problems(html)
    if problems:
        raise BookFailed(f"{len(problems)} problems in {html}:\n" + "\n".join(problems))
    return html / "index.html"


def checkout() -> Path:
    """The checkout this library runs from; FileNotFoundError when it was installed without one."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "_config.yml").is_file():
        raise FileNotFoundError(
            f"no _config.yml in {root}: the book is rendered from a checkout of the repository, installed with "
            "`pip install -e .`"
        )
    return root


def _executed(out: Path, allow_missing: bool) -> dict[str, Path | None]:
    """Executed notebook by chapter, None for those that were not run."""
    paths = {chapter: out / "executed" / f"{chapter}.ipynb" for chapter in CHAPTERS}
    missing = [chapter for chapter, path in paths.items() if not path.is_file()]
    if missing and not allow_missing:
        failed = [c for c in missing if paths[c].with_suffix(".failed.ipynb").is_file()]
        also = f" ({', '.join(failed)} failed: see {out / 'executed'})" if failed else ""
        raise FileNotFoundError(
            f"not executed: {', '.join(missing)}{also}; run `motionbook reproduce --out {out}` first, or render "
            "without them with --allow-missing"
        )
    return {chapter: None if chapter in missing else path for chapter, path in paths.items()}


def _stage(source: Path, out: Path, stage: Path, executed: dict[str, Path | None]) -> None:
    """Everything that Jupyter Book reads, in the layout of the checkout, so that links to the repository are right."""
    stage.mkdir(parents=True)
    for name in ("_config.yml", "CONVENTIONS.md"):
        shutil.copyfile(source / name, stage / name)
    shutil.copytree(source / "book", stage / "book", ignore=lambda folder, names: [n for n in names if n in _ASIDE])
    runs = pages.read_runs(out)
    for chapter, path in executed.items():
        if path is None:
            title = pages.chapter_title(source / "notebooks" / f"{chapter}.py")
            notebook = pages.not_run_notebook(chapter, title)
        else:
            notebook = json.loads(path.read_text(encoding="utf-8"))
            run = runs.get(chapter, {})
            notebook = clean_notebook(notebook, out, source, chapter, pages.private_paths(run))
            notebook = label_figures(notebook, out / chapter / "figures", run.get("data_label", ""))
        text = json.dumps(notebook, indent=1, ensure_ascii=False)
        write_whole(stage / "notebooks" / f"{chapter}.ipynb", text + "\n")
    titles = {chapter: pages.staged_title(stage / "notebooks", chapter) for chapter in executed}
    ledger = stage / "book" / "ledger.md"
    template = ledger.read_text(encoding="utf-8") if ledger.is_file() else "# Ledger\n\n<!-- ledger -->\n"
    write_whole(ledger, pages.ledger_page(template, out))
    write_whole(stage / "book" / "provenance.md", pages.provenance_page(runs, titles))
    write_whole(stage / "_generated" / "chapter_map.html", pages.chapter_map(titles, runs))
    write_whole(stage / "_generated" / "front_player.html", pages.front_player(out))


def label_figures(notebook: dict, folder: Path, label: str) -> dict:
    """The notebook with what its data was said at the end of every figure's caption, once and as a sentence.

    Parameters
    ----------
    notebook : dict
    folder : Path
        Of the chapter's figures: ``<id>.json`` holds the label of the figure that a cell saves under that id.
    label : str
        The run's own, for cells that save no figure.
    """
    for cell in notebook["cells"]:
        figure = cell.get("metadata", {}).get("mystnb", {}).get("figure")
        if not figure:
            continue
        saved = re.search(r"save_figure\(\s*run,\s*[\"']([^\"']+)[\"']", "".join(cell["source"]))
        about = folder / f"{saved[1]}.json" if saved else None
        own = json.loads(about.read_text(encoding="utf-8"))["data"] if about and about.is_file() else label
        # captions are Markdown, in which a file's name could start emphasis or a link
        words = re.sub(r"([\\`*_\[\]<$])", r"\\\1", own)
        if own and words not in figure["caption"]:
            figure["caption"] = sentences(figure["caption"], f"Data: {words}")
    return notebook


def clean_notebook(notebook: dict, out: Path, source: Path, chapter: str = "", private: Sequence[str] = ()) -> dict:
    """An executed notebook fit to be a page: no papermill notes, no paths of this machine, no error in its outputs.

    The cell that papermill injected stays, folded away: it says what the chapter was run with. Of the paths of results,
    of the reader's own files (``private``) and of the checkout only the last name is left.

    Raises
    ------
    BookFailed
        When an output is an error that its cell does not announce with the tag ``raises-exception``.
    """
    text = json.dumps(notebook, ensure_ascii=False)
    for path, name in ((out, out.name), *((own, Path(own).name) for own in private), (source, ".")):
        # JSON strings hold the path as it is: neither has quotes or backslashes on the systems this runs on
        text = re.sub(re.escape(str(path)) + r"(?=[/\"'\\ ,;:)]|$)", name, text)
    notebook = json.loads(text)
    notebook.get("metadata", {}).pop("papermill", None)
    for number, cell in enumerate(notebook["cells"], start=1):
        cell.get("metadata", {}).pop("papermill", None)
        cell.get("metadata", {}).pop("execution", None)
        tags = cell.get("metadata", {}).get("tags", [])
        if "injected-parameters" in tags:
            cell["metadata"]["tags"] = [*tags, "hide-input"]
        for output in cell.get("outputs", []):
            if output.get("output_type") == "error" and "raises-exception" not in tags:
                raise BookFailed(f"{chapter}: cell {number} ended in {output.get('ename')}: {output.get('evalue')}")
    return notebook


def _render(stage: Path, target: Path, strict: bool) -> None:
    """Run Jupyter Book on the stage; its output goes to ``<target>/html``."""
    command = [sys.executable, "-c", "import sys; from jupyter_book.cli.main import main; sys.exit(main())"]
    command += ["build", str(stage), "--toc", str(stage / "book" / "_toc.yml"), "--config", str(stage / "_config.yml")]
    command += ["--path-output", str(target / "render"), "-n", "--keep-going", *(["-W"] if strict else [])]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    log = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    write_whole(target / "build.log", log)
    made = target / "render" / "_build" / "html"
    if done.returncode or not (made / "index.html").is_file():
        bad = [
            line for line in log.splitlines() if re.search(r"WARNING|ERROR|Error|exception", line)
        ] or log.splitlines()
        raise BookFailed(
            f"Jupyter Book ended with exit status {done.returncode}; its log is {target / 'build.log'}:\n"
            + "\n".join(bad[-30:]).replace(str(stage) + "/", "")
        )
    made.replace(target / "html")
    shutil.rmtree(target / "render")
