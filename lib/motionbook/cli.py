"""The ``motionbook`` command."""

import argparse
import ast
import os
import sys
from pathlib import Path

from motionbook import __version__, clip_commands
from motionbook.budgets import BUDGETS
from motionbook.study_commands import add_study


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it ended well, 1 when it failed, 2 when it was called wrongly."""
    options = _parser().parse_args(arguments)
    try:
        return options.command(options) or 0
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the reader of a pipe such as `| head` has gone; nothing is wrong here
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, KeyError, OSError, RuntimeError) as error:
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        print(f"motionbook: {text}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="motionbook",
        description="Run the chapters of Motionbook on embedded data or your own, render the book, and set published "
        "values beside reproduced ones.",
        epilog="Start with `motionbook reproduce --budget smoke`, then `motionbook book`.",
    )
    parser.add_argument("--version", action="version", version=f"motionbook {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    run = commands.add_parser("reproduce", help="run the chapters and keep their tables, figures and notebooks")
    run.add_argument("--budget", choices=BUDGETS, default="smoke", help="sizes of everything (default: smoke)")
    run.add_argument("--data", type=_path, metavar="PATH", help="your data; without it the embedded performers")
    run.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="default: results")
    run.add_argument(
        "--only", nargs="+", type=_chapter, metavar="CHAPTER", help="chapters such as 03 or 03_inbetweening"
    )
    run.add_argument(
        "--jobs", type=_at_least(1), default=1, metavar="N", help="processes for work that splits (default: 1)"
    )
    run.add_argument("--seed", type=_at_least(0), default=0)
    run.add_argument("--device", default="cpu", help="torch device of chapters that train (default: cpu)")
    run.add_argument("--force", action="store_true", help="run chapters again that are done and unchanged")
    run.add_argument(
        "--timeout", type=_at_least(1), metavar="SECONDS", help="longest time for one cell (default: none)"
    )
    run.add_argument(
        "-p",
        "--parameter",
        action="append",
        type=_parameter,
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of a chapter's own; those that lack it run without it",
    )
    run.add_argument("--notebooks", type=Path, metavar="DIR", help="default: notebooks/ of the checkout")
    run.set_defaults(command=_reproduce)

    book = commands.add_parser("book", help="render the executed notebooks to book/_build/html")
    book.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="results to render")
    book.add_argument(
        "--allow-missing", action="store_true", help="render with a page that says so in place of chapters not run"
    )
    book.set_defaults(command=_book)

    ledger = commands.add_parser("ledger", help="published values beside reproduced ones")
    ledger.add_argument("--out", type=Path, default=Path("results"), metavar="DIR", help="results to compare")
    ledger.add_argument("--cells", action="store_true", help="every cell, not one line per table or figure")
    ledger.set_defaults(command=_ledger)

    data = commands.add_parser("data", help="data sets and weights: what there is, fetch, verify")
    _data_parser(data.add_subparsers(required=True, metavar="action"))

    clip = commands.add_parser(
        "clip",
        help="look at motion files, convert, clean and retarget them, many at a time",
        description="Work on many motion files. Exit code 0 when something was done and nothing failed, else 1.",
    )
    clip_commands.add_actions(clip.add_subparsers(required=True, metavar="action"))
    add_study(commands)

    sync = commands.add_parser("notebooks", help="write the .ipynb of every chapter from its .py source")
    sync.add_argument("--check", action="store_true", help="only say which differ; exit 1 if any does")
    sync.add_argument("--notebooks", type=Path, metavar="DIR", help="default: notebooks/ of the checkout")
    sync.set_defaults(command=_notebooks)
    return parser


def _path(text: str) -> str:
    # an empty value is a failed $(...), not a wish for embedded data
    if not text.strip():
        raise argparse.ArgumentTypeError("expected a path, got nothing; leave --data out for the embedded performers")
    return text


def _data_parser(actions) -> None:
    show = actions.add_parser("list", help="every manifest: licence, chapters, how to get it, whether it is here")
    show.set_defaults(command=_data_list)
    fetch = actions.add_parser("fetch", help="download, resume, check and unpack a data set")
    fetch.add_argument("id", help="as `motionbook data list` names it")
    fetch.add_argument("--folder", type=Path, metavar="DIR", help="default: the data folder's <id>")
    fetch.add_argument("--part", nargs="+", metavar="PART", help="parts of a data set that has several")
    fetch.set_defaults(command=_data_fetch)
    verify = actions.add_parser("verify", help="compare a data set on disk with its manifest")
    verify.add_argument("id")
    verify.add_argument("--folder", type=Path, metavar="DIR", help="default: the data folder's <id>")
    verify.set_defaults(command=_data_verify)
    path = actions.add_parser("path", help="print where a fetched data set lies, for --data")
    path.add_argument("id")
    path.set_defaults(command=_data_path)


def _reproduce(options) -> int:
    from motionbook import pipeline
    from motionbook.report import ledger

    plan = pipeline.Plan(
        budget=options.budget,
        data=options.data or "",
        out=options.out,
        chapters=tuple(options.only or pipeline.CHAPTERS),
        seed=options.seed,
        device=options.device,
        jobs=options.jobs,
        parameters=tuple(options.parameter),
        notebooks=options.notebooks,
        force=options.force,
        timeout=options.timeout,
    )
    pipeline.reproduce(plan, say=lambda line: print(line, flush=True))
    print(f"tables, figures and executed notebooks: {plan.out}")
    print(f"published beside reproduced: {ledger.write_ledger(plan.out)}")
    return 0


def _at_least(least: int):
    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"expected a whole number of {least} or more, got {text!r}")
        return value

    return number


def _chapter(text: str) -> str:
    from motionbook.pipeline import find_chapter

    try:
        return find_chapter(text)
    except KeyError as error:
        raise argparse.ArgumentTypeError(error.args[0]) from None


def _parameter(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _book(options) -> int:
    from motionbook.report import book

    print(book.build(options.out, allow_missing=options.allow_missing))
    return 0


def _ledger(options) -> int:
    from motionbook.report import ledger

    if not any(options.out.glob("*/tables/*.csv")):
        print(f"note: {options.out} holds no tables yet; `motionbook reproduce` makes them", file=sys.stderr)
    cells, items = ledger.ledger(options.out)
    if options.cells:
        print(cells.to_string(index=False))
    else:
        print(ledger.ledger_text(items))
        print("\nevery number with its data and version: --cells, or ledger.csv beside the results")
    return 0


def _data_list(options) -> int:
    from motionbook.data.catalogue import catalogue, data_home

    print(f"data folder: {data_home()} (MOTIONBOOK_DATA chooses another)\n")
    for row in catalogue():
        print(f"{row.id}: {row.title}")
        print(f"    licence {row.licence}; chapters {row.chapters}; {row.access}")
        print(f"    {'here: ' + row.here if row.here else 'not fetched'}\n")
    return 0


def _data_fetch(options) -> int:
    from motionbook.data.download import fetch

    done = fetch(options.id, options.folder, parts=tuple(options.part) if options.part else None)
    for file in done.files:
        print(f"{file.action:9}{file.size:>13,} bytes  {file.path}  (checked: {file.checked})")
    for note in done.notes:
        print(f"note: {note}")
    print(done.folder)
    return 0


def _data_verify(options) -> int:
    from motionbook.data.download import verify

    found = verify(options.id, options.folder)
    for row in found.rows:
        print(f"{row.state:10}{row.path}  {row.detail}".rstrip())
    print(f"{found.id}: {'as the manifest says' if found.ok else 'not as the manifest says'} ({found.folder})")
    return 0 if found.ok else 1


def _data_path(options) -> int:
    from motionbook.data.catalogue import data_home, find_manifest

    folder = data_home() / find_manifest(options.id).id
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not there; fetch it with `motionbook data fetch {options.id}`")
    print(folder)
    return 0


def _notebooks(options) -> int:
    from motionbook.notebooks import sync_notebooks

    folder = options.notebooks or Path(__file__).resolve().parents[2] / "notebooks"
    if not any(folder.glob("[0-9][0-9]_*.py")):
        raise FileNotFoundError(
            f"{folder} holds no numbered .py such as 01_capture.py; pass --notebooks DIR of a checkout"
        )
    differing = sync_notebooks(folder, check=options.check)
    for path in differing:
        print(f"{path.name} differs from {path.with_suffix('.py').name}" if options.check else f"wrote {path}")
    return 1 if options.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
