"""The chapters' notebooks: identical to their sources, without outputs, with the parameters every runner relies on."""

import ast
import json
from pathlib import Path

import pytest

from motionbook.notebooks import render_ipynb
from motionbook.report.provenance import CHAPTERS

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
BOOTSTRAP = """\
import importlib.util
import subprocess
import sys

if "google.colab" in sys.modules and importlib.util.find_spec("motionbook") is None:
    source = "motionbook[book,capture,video,body] @ git+https://github.com/motionbook/motionbook"
    subprocess.check_call([sys.executable, "-m", "pip", "install", "--quiet", source])"""


@pytest.fixture(params=CHAPTERS)
def chapter(request) -> str:
    return request.param


def cells(chapter: str) -> list[dict]:
    return json.loads((FOLDER / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]


def test_ipynb_is_what_its_source_gives(chapter):
    assert (FOLDER / f"{chapter}.ipynb").read_text(encoding="utf-8") == render_ipynb(FOLDER / f"{chapter}.py")


def test_no_outputs(chapter):
    code = [cell for cell in cells(chapter) if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_cells_are_short(chapter):
    code = [cell for cell in cells(chapter) if cell["cell_type"] == "code"]
    lengths = {cell["id"]: len(cell["source"]) for cell in code}
    assert max(lengths.values()) <= 20, {name: n for name, n in lengths.items() if n > 20}


def test_bootstrap_cell_comes_first_and_is_hidden(chapter):
    code = [cell for cell in cells(chapter) if cell["cell_type"] == "code"]
    assert "".join(code[0]["source"]) == BOOTSTRAP
    assert "hide-cell" in code[0]["metadata"]["tags"]


def test_parameters_cell_declares_what_every_chapter_takes(chapter):
    tagged = [cell for cell in cells(chapter) if "parameters" in cell["metadata"].get("tags", [])]
    assert len(tagged) == 1
    statements = ast.parse("".join(tagged[0]["source"])).body
    # papermill shows a type and help only for annotated names
    assert all(isinstance(statement, ast.AnnAssign) for statement in statements)
    values = {statement.target.id: ast.literal_eval(statement.value) for statement in statements}
    common = {"budget": "smoke", "data": "", "out": "../results", "seed": 0, "device": "cpu"}
    assert common.items() <= values.items()
