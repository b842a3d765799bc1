"""The six real chapters after a smoke run: what each read from the one before, and what it does when that is gone.

Needs the results of ``motionbook reproduce --budget smoke`` and their folder in MOTIONBOOK_RESULTS; it works on a copy.
"""

import json
import os
import shutil
import warnings
from pathlib import Path

import pytest

from motionbook import pipeline
from motionbook.files import sha256
from motionbook.report.provenance import CHAPTERS

# what each chapter takes from an earlier one; the first is the chapter before it
HANDED_ON = {
    "02_cleaning": "01_capture/clips/*.bvh",
    "03_inbetweening": "02_cleaning/dataset/dataset.json",
    "04_stickfigures": "03_inbetweening/clips/*/*.bvh",
    "05_perception": "04_stickfigures/tables/systems_motion.csv",
    "06_quality": "05_perception/mos.csv",
}


@pytest.fixture(scope="module")
def results() -> Path:
    folder = os.environ.get("MOTIONBOOK_RESULTS")
    if not folder:
        pytest.skip("MOTIONBOOK_RESULTS names no results; run `motionbook reproduce --budget smoke` and set it to them")
    return Path(folder)


def record(out: Path, chapter: str) -> dict:
    return json.loads((out / "runs" / f"{chapter}.json").read_text())


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_provenance_lists_what_was_read_and_made(results, chapter):
    run = record(results, chapter)
    assert run["made_here"] == [] and run["data_label"] and run["budget"] == "smoke"
    assert {taken["chapter"] for taken in run["inputs"]} == set(pipeline.READS[chapter])
    read = {name: digest for taken in run["inputs"] for name, digest in taken["files"].items()}
    made = {artefact["path"]: artefact["sha256"] for artefact in run["artefacts"]}
    assert made and all(sha256(results / name) == digest for name, digest in {**read, **made}.items())
    assert any(a["kind"] == "table" for a in run["artefacts"] if "kind" in a)
    assert any(a["kind"] == "figure" for a in run["artefacts"] if "kind" in a)


@pytest.mark.parametrize("chapter", HANDED_ON)
def test_a_chapter_without_its_input_makes_it_and_says_so(results, chapter, tmp_path):
    before, pattern = HANDED_ON[chapter].split("/", 1)
    assert any(name.startswith(f"{before}/") for taken in record(results, chapter)["inputs"] for name in taken["files"])
    out = tmp_path / "results"
    shutil.copytree(results, out)
    for path in list((out / before).glob(pattern)):
        path.unlink()
    with warnings.catch_warnings():
        # papermill and nbclient warn about their own future
        warnings.simplefilter("ignore")
        done = pipeline.reproduce(pipeline.Plan(out=out, chapters=(chapter,)))
    assert done == {chapter: "done"}
    (note,) = record(out, chapter)["made_here"]
    assert note["chapter"] == before and note["note"].startswith("made here")
    assert "made here" in (out / "executed" / f"{chapter}.ipynb").read_text()
