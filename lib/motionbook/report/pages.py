"""The pages of the book that are made from results: front page, provenance, ledger, chapters that were not run."""

import hashlib
import html
import json
import re
from pathlib import Path

from motionbook.notebooks import KERNEL
from motionbook.report.provenance import CHAPTERS

# what a chapter is for, in a line, on the map of the front page
_ABOUT = {
    "01_capture": "Four simulated cameras, triangulated landmarks: a take on FreeMoCap's rig, and how far off it is.",
    "02_cleaning": "Faults found and cut, people split into folds, motion carried over to LaFAN1's skeleton.",
    "03_inbetweening": "Fill a gap of motion from its two sides; the errors of every baseline, and clips to look at.",
    "04_stickfigures": "The same motion as labelled video, and metrics whose blind spots are measured.",
    "05_perception": "Which clip looks more natural? Elo scores from pairs, opinion scores from ratings.",
    "06_quality": "Bodies distorted on purpose, features of what went wrong, a measure that predicts the opinion.",
}


def read_runs(out: Path) -> dict[str, dict]:
    """The run record of every chapter that left one under ``<out>/runs``."""
    paths = {chapter: out / "runs" / f"{chapter}.json" for chapter in CHAPTERS}
    return {c: json.loads(path.read_text(encoding="utf-8")) for c, path in paths.items() if path.is_file()}


def private_paths(run: dict) -> list[str]:
    """Paths of the reader's own that a run was given: its data, and parameters that name files or folders."""
    given = [run.get("data", ""), *run.get("parameters", {}).values()]
    return [value for value in given if isinstance(value, str) and value.startswith("/")]


def chapter_title(notebook_source: Path) -> str:
    """First heading of a chapter's source, or its file's name without one."""
    if notebook_source.is_file():
        found = re.search(r"^# # (.+)$", notebook_source.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found.group(1).strip()
    return notebook_source.stem


def staged_title(folder: Path, chapter: str) -> str:
    """First heading of a chapter's notebook in the stage, or the chapter's name without one."""
    cells = json.loads((folder / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else chapter


def not_run_notebook(chapter: str, title: str) -> dict:
    """The page that stands for a chapter without results; a notebook too, so that links between chapters hold."""
    text = (
        f"# {title}\n\n"
        "```{warning}\nNot run for this edition of the book; nothing on this page is a result.\n```\n\n"
        f"{_ABOUT[chapter]}\n\nTo run it and render again:\n\n"
        f"```console\nmotionbook reproduce --only {chapter[:2]}\nmotionbook book\n```\n"
    )
    cell = {"cell_type": "markdown", "id": "not-run", "metadata": {}, "source": text.splitlines(keepends=True)}
    return {"cells": [cell], "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}


def ledger_page(template: str, out: Path) -> str:
    """The ledger's page: the text written for it with the tables made from the results."""
    from motionbook.report import ledger

    return ledger.ledger_page(template, ledger.ledger(out).cells)


def chapter_map(titles: dict[str, str], runs: dict[str, dict]) -> str:
    """HTML cards of the chapters with title, purpose and what their data was."""
    cards = []
    for chapter, title in titles.items():
        data = runs[chapter]["data_label"] if chapter in runs else "not run"
        cards.append(
            f'<a href="../notebooks/{chapter}.html"><b>{int(chapter[:2])}&ensp;{html.escape(title)}</b>'
            f"<span>{html.escape(_ABOUT[chapter])}<br/><em>{html.escape(data)}</em></span></a>"
        )
    return '<div class="mb-map">' + "".join(cards) + "</div>\n"


def front_player(out: Path) -> str:
    """A player of what the chapters made: one idle clip as every system of chapter 3 gives it back.

    Without those clips two embedded performers are shown.
    """
    from motionbook import read_bvh
    from motionbook.report.players import player
    from motionbook.report.theme import SYSTEM_COLOURS

    folder = out / "03_inbetweening" / "clips"
    recorded = {path.name: read_bvh(path) for path in sorted(folder.glob("GT/*.bvh"))}
    if recorded:
        name = max(recorded, key=lambda name: _liveliness(recorded[name]))
        systems = [system for system in SYSTEM_COLOURS if (folder / system / name).is_file()]
        clips = [(system, read_bvh(folder / system / name)) for system in systems]
        record = read_runs(out).get("03_inbetweening", {})
        return player(
            clips,
            caption=(
                f"One clip in {len(clips)} versions from chapter 3: {_versions(systems)}. Which looks most natural? "
                f"Drag to turn, press space to play. Data: {record.get('data_label') or 'see chapter 3'}."
            ),
            autoplay=True,
        ).to_html()
    from motionbook.synthesis.performers import idle, make_performer

    clips = [(f"performer {i}", idle(make_performer(i, 0), 8.0)) for i in range(2)]
    return player(clips, caption="Two embedded performers (synthetic), standing idle.", autoplay=True).to_html()


def _versions(systems: list[str]) -> str:
    """What the systems of chapter 3 do, in words."""
    filled = [system for system in systems if system not in ("GT", "NOISE")]
    words = ["the ground truth (GT)"]
    if filled:
        words.append(f"filled in between its key poses by {', '.join(filled)}")
    if "NOISE" in systems:
        words.append("shaken by noise (NOISE)")
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]


def _liveliness(clip) -> float:
    """Mean speed of all joints, metres per second."""
    import numpy as np

    from motionbook import forward_kinematics

    steps = np.diff(forward_kinematics(clip).positions, axis=0)
    return float(np.linalg.norm(steps, axis=-1).mean() * clip.fps)


def provenance_page(runs: dict[str, dict], titles: dict[str, str]) -> str:
    """Per chapter: parameters, data, inputs with fingerprints, software, time; as Markdown."""
    text = [
        "# Provenance\n",
        "What this edition was made from. Every chapter leaves such a record in `results/runs/`; a fingerprint is the "
        "first twelve digits of a SHA-256, of one file or of all files of a kind.\n",
    ]
    if not runs:
        return "\n".join([*text, "No chapter has been run."]) + "\n"
    text += ["## Runs\n", _runs_table(runs, titles), "## Software\n", _software(runs)]
    for chapter, title in titles.items():
        text.append(f"## {int(chapter[:2])} {title}\n")
        text.append(_chapter(runs[chapter]) if chapter in runs else "Not run.\n")
    return "\n".join(text) + "\n"


def _runs_table(runs: dict[str, dict], titles: dict[str, str]) -> str:
    rows = ["| chapter | data | budget | seed | device | seconds |", "|---|---|---|---|---|---|"]
    for chapter, run in runs.items():
        link = f"[{int(chapter[:2])} {titles[chapter]}](../notebooks/{chapter})"
        facts = (run["data_label"], run["budget"], run["seed"], run["device"], f"{run['seconds']:.0f}")
        rows.append(f"| {link} | " + " | ".join(_cell(fact) for fact in facts) + " |")
    total = sum(run["seconds"] for run in runs.values())
    return "\n".join([*rows, f"| all | | | | | {total:.0f} |", ""])


def _software(runs: dict[str, dict]) -> str:
    """One list when all chapters agree, else the difference is visible as one list per kind of run."""
    kinds: dict[str, list[str]] = {}
    for chapter, run in runs.items():
        packages = ", ".join(f"{name} {version}" for name, version in sorted(run["packages"].items()))
        facts = (
            f"motionbook {run['version']}, library `{run['library_sha256'][:12]}`, commit `{run['commit'] or 'none'}`; "
            f"Python {run['python']}; {packages}"
        )
        kinds.setdefault(facts, []).append(str(int(chapter[:2])))
    if len(kinds) == 1:
        return f"All chapters: {next(iter(kinds))}.\n"
    return "".join(f"- Chapters {', '.join(chapters)}: {facts}.\n" for facts, chapters in kinds.items())


def _chapter(run: dict) -> str:
    parts = []
    private = private_paths(run)
    own = {name: Path(value).name if value in private else value for name, value in run["parameters"].items()}
    if run["data"]:
        own["data"] = Path(run["data"]).name
    if own:
        parts.append("Parameters: " + ", ".join(f"`{name} = {value!r}`" for name, value in sorted(own.items())) + ".\n")
    if run["inputs"]:
        parts += ["| read | from | files | fingerprint |", "|---|---|---|---|"]
        for entry in run["inputs"]:
            origin = "made here" if entry["made_here"] else entry["chapter"]
            facts = (f"`{entry['pattern']}`", origin, len(entry["files"]), f"`{entry['sha256'][:12]}`")
            parts.append("| " + " | ".join(_cell(fact) for fact in facts) + " |")
        parts.append("")
    rows = list(_made(run["artefacts"]))
    if rows:
        parts += [
            f"````{{dropdown}} Made: {len(run['artefacts'])} files",
            "| made | what | fingerprint |",
            "|---|---|---|",
        ]
        parts += ["| " + " | ".join(_cell(fact) for fact in row) + " |" for row in rows]
        parts += ["````", ""]
    return "\n".join(parts) + "\n"


def _made(artefacts: list[dict]):
    """Rows of what a run made: tables and figures one by one, everything else by folder."""
    others: dict[str, list[dict]] = {}
    for entry in artefacts:
        if entry.get("kind") in ("table", "figure"):
            if not entry["path"].endswith(".svg"):
                yield f"`{entry['path']}`", entry["kind"], f"`{entry['sha256'][:12]}`"
        else:
            others.setdefault(str(Path(entry["path"]).parent), []).append(entry)
    for folder, entries in sorted(others.items()):
        if len(entries) == 1:
            yield f"`{entries[0]['path']}`", "file", f"`{entries[0]['sha256'][:12]}`"
            continue
        lines = sorted(f"{Path(entry['path']).name} {entry['sha256']}" for entry in entries)
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
        yield f"`{folder}/`", f"{len(entries)} files", f"`{digest[:12]}`"


def _cell(value) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")
