"""The chapter runner, on tiny notebooks in place of the book's: order, skipping, resuming, failing."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from motionbook import pipeline
from motionbook.files import held
from motionbook.notebooks import render_ipynb, sync_notebooks

CHAPTER = """\
# %% tags=["parameters"]
budget: str = "smoke"
data: str = ""
out: str = "results"
seed: int = 0
device: str = "cpu"
factor: int = 1

# %%
import os, time
from pathlib import Path
from motionbook import report
run = report.start_chapter("{chapter}", out=out, budget=budget, data=data, seed=seed, device=device, factor=factor)
run.data_label = "a test"

# %%
{body}

# %%
report.finish_chapter(run)
"""

FIRST = """
with open(os.environ["TEST_LOG"], "a") as log: log.write("01 ")
path = run.folder / "clips" / "a.txt"
path.parent.mkdir(exist_ok=True)
path.write_text(str(seed * factor))
report.record_artefact(run, path);
"""

SECOND = """
with open(os.environ["TEST_LOG"], "a") as log: log.write("02 ")
def make(folder):
    (folder / "clips").mkdir(parents=True)
    (folder / "clips" / "a.txt").write_text("stand-in")
folder = report.take_inputs(run, "01_capture", "clips/*.txt", make=make)
text = (folder / "clips" / "a.txt").read_text()
{extra}
(run.folder / "result.txt").write_text(text)
report.record_artefact(run, run.folder / "result.txt");
"""


class Book:
    def __init__(self, folder: Path, monkeypatch):
        self.notebooks, self.out, self.log = folder / "notebooks", folder / "results", folder / "log.txt"
        self.notebooks.mkdir()
        monkeypatch.setenv("TEST_LOG", str(self.log))
        self.write("01_capture", FIRST)
        self.write("02_cleaning", SECOND.format(extra=""))

    def write(self, chapter: str, body: str) -> None:
        (self.notebooks / f"{chapter}.py").write_text(CHAPTER.format(chapter=chapter, body=body))
        sync_notebooks(self.notebooks)

    def run(self, *chapters: str, **changes) -> dict[str, str]:
        settings = {"chapters": chapters or ("01", "02"), "out": self.out, "notebooks": self.notebooks, **changes}
        return pipeline.reproduce(pipeline.Plan(**settings))

    def record(self, chapter: str) -> dict:
        return json.loads((self.out / "runs" / f"{chapter}.json").read_text())


@pytest.fixture
def book(tmp_path, monkeypatch):
    # papermill and nbclient warn about their own future; that is theirs to mend
    monkeypatch.setattr("warnings.filters", [("ignore", None, Warning, None, 0)])
    return Book(tmp_path, monkeypatch)


def test_chapters_run_in_order_and_only_what_changed_runs_again(book, tmp_path):
    assert book.run() == {"01_capture": "done", "02_cleaning": "done"}
    assert book.run() == {"01_capture": "unchanged", "02_cleaning": "unchanged"}
    assert book.log.read_text() == "01 02 "
    # provenance of the second chapter lists the file of the first it read, with its hash
    inputs = book.record("02_cleaning")["inputs"]
    assert list(inputs[0]["files"]) == ["01_capture/clips/a.txt"] and not inputs[0]["made_here"]
    # a change in the second leaves the first alone; a new parameter reaches both
    book.write("02_cleaning", SECOND.format(extra="text += '!'"))
    assert book.run() == {"01_capture": "unchanged", "02_cleaning": "done"}
    assert book.run(seed=3) == {"01_capture": "done", "02_cleaning": "done"}
    assert (book.out / "02_cleaning" / "result.txt").read_text() == "3!"
    assert (book.out / "executed" / "02_cleaning.ipynb").is_file()
    # data is compared by content, wherever it lies
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.bvh").write_text("one")
    assert book.run("01", data=str(data))["01_capture"] == "done"
    assert book.run("01", data=str(data))["01_capture"] == "unchanged"
    (data / "a.bvh").write_text("two")
    assert book.run("01", data=str(data))["01_capture"] == "done"


def test_a_deleted_input_is_noticed_and_made_here(book):
    book.run()
    (book.out / "01_capture" / "clips" / "a.txt").unlink()
    said = []
    plan = pipeline.Plan(chapters=("02",), out=book.out, notebooks=book.notebooks)
    assert pipeline.reproduce(plan, say=said.append) == {"02_cleaning": "done"}
    assert len(said) == 2 and said[1].startswith("02_cleaning: made here: ")
    record = book.record("02_cleaning")
    assert record["made_here"][0]["note"].startswith("made here") and record["inputs"][0]["made_here"]
    executed = (book.out / "executed" / "02_cleaning.ipynb").read_text()
    assert "made here" in executed
    # the first chapter no longer holds what it wrote, so it runs again, and the second with it
    assert book.run() == {"01_capture": "done", "02_cleaning": "done"}
    assert book.record("02_cleaning")["made_here"] == []


def test_a_failure_names_chapter_cell_and_error_and_keeps_the_notebook(book):
    book.write("02_cleaning", "wrong = 1 / 0")
    with pytest.raises(
        pipeline.ChapterFailed, match=r"02_cleaning failed in cell 3 of 4 \(wrong = 1 / 0\): ZeroDivision"
    ):
        book.run()
    assert (book.out / "executed" / "02_cleaning.failed.ipynb").is_file()
    assert not (book.out / "executed" / "02_cleaning.ipynb").exists()
    book.write("02_cleaning", SECOND.format(extra=""))
    assert book.run() == {"01_capture": "unchanged", "02_cleaning": "done"}
    assert not (book.out / "executed" / "02_cleaning.failed.ipynb").exists()


def test_unknown_parameters_chapters_and_data_are_refused(book, tmp_path):
    with pytest.raises(ValueError, match=r"no parameter colour; 01_capture has factor; 02_cleaning"):
        book.run(parameters=(("colour", 1),))
    assert book.run("01", seed=2, parameters=(("factor", 5),)) == {"01_capture": "done"}
    assert (book.out / "01_capture" / "clips" / "a.txt").read_text() == "10"
    with pytest.raises(KeyError, match="no chapter '9'; there are 01_capture"):
        book.run("9")
    with pytest.raises(FileNotFoundError, match="leave --data out"):
        book.run(data=str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match="budget: expected one of smoke, reduced, full"):
        book.run(budget="huge")
    with pytest.raises(ValueError, match="seed is an option of its own, such as --seed"):
        book.run(parameters=(("seed", 1),))
    with pytest.raises(ValueError, match="seed: expected 0 or more, got -1"):
        book.run(seed=-1)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="out: expected a folder"):
        book.run(out=tmp_path / "file")


def test_data_that_no_chapter_can_read_or_that_holds_the_results_is_refused(book, tmp_path):
    data = tmp_path / "mine"
    data.mkdir()
    (data / "notes.txt").touch()
    with pytest.raises(NotADirectoryError, match="data: expected a folder of BVH files, got the file"):
        book.run(data=str(data / "notes.txt"))
    with pytest.raises(FileNotFoundError, match=r"neither \.bvh files nor"):
        book.run(data=str(data))
    (data / "a.bvh").write_text("one")
    with pytest.raises(ValueError, match="lie in one another"):
        book.run(data=str(data), out=data / "results")
    # clearing a chapter would delete the data
    with pytest.raises(ValueError, match="lie in one another"):
        book.run(data=str(data), out=tmp_path)
    assert (data / "a.bvh").is_file()
    # a linked folder counts as one that lies there
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "there").symlink_to(data)
    (data / "back").symlink_to(data)
    assert book.run("01", data=str(tmp_path / "links")) == {"01_capture": "done"}
    (data / "a.bvh").write_text("two")
    assert book.run("01", data=str(tmp_path / "links")) == {"01_capture": "done"}


def test_data_that_would_not_reach_a_later_chapter_is_refused(book, tmp_path):
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.bvh").write_text(name)
    with pytest.raises(ValueError, match=r"03_inbetweening would not see .*mine.* is not there; add 02 to --only"):
        book.run("03", data=str(tmp_path / "mine"))
    book.run("01", "02")
    with pytest.raises(ValueError, match=r"was made from embedded data; add 02"):
        book.run("03", "05", data=str(tmp_path / "mine"))
    book.run("02", data=str(tmp_path / "mine"))
    with pytest.raises(ValueError, match=r"was made from .*mine; add 02"):
        book.run("03", data=str(tmp_path / "other"))
    # this one gets past, to the notebook that the test book lacks
    with pytest.raises(FileNotFoundError, match=r"03_inbetweening\.ipynb is missing"):
        book.run("03", data=str(tmp_path / "mine"))


def test_a_parameter_goes_to_the_chapters_that_have_it_and_its_file_is_compared_by_content(book, tmp_path, monkeypatch):
    source = book.notebooks / "02_cleaning.py"
    source.write_text(source.read_text().replace("factor: int = 1", 'answers: str = ""').replace("factor=factor", ""))
    sync_notebooks(book.notebooks)
    monkeypatch.chdir(tmp_path)
    Path("answers.csv").write_text("one")
    given = (("answers", "answers.csv"), ("factor", 3))
    assert book.run(parameters=given) == {"01_capture": "done", "02_cleaning": "done"}
    assert book.record("01_capture")["parameters"] == {"factor": 3}
    assert str(tmp_path / "answers.csv") in (book.out / "executed" / "02_cleaning.ipynb").read_text()
    assert book.run(parameters=given) == {"01_capture": "unchanged", "02_cleaning": "unchanged"}
    Path("answers.csv").write_text("two")
    assert book.run(parameters=given) == {"01_capture": "unchanged", "02_cleaning": "done"}


def test_a_folder_as_parameter_is_compared_by_content_and_kept_out_of_the_results(book, tmp_path, monkeypatch):
    """Fault seen: a reader's clips below results/ were deleted when their chapter ran again."""
    monkeypatch.chdir(tmp_path)
    Path("mine/SYSTEM").mkdir(parents=True)
    Path("mine/SYSTEM/a.bvh").write_text("one")
    book.write("01_capture", FIRST)
    source = book.notebooks / "01_capture.py"
    source.write_text(source.read_text().replace("factor: int = 1", 'systems: str = ""\nfactor: int = 1'))
    sync_notebooks(book.notebooks)
    given = (("systems", "mine"),)
    assert book.run("01", parameters=given) == {"01_capture": "done"}
    assert str(tmp_path / "mine") in (book.out / "executed" / "01_capture.ipynb").read_text()
    assert book.run("01", parameters=given) == {"01_capture": "unchanged"}
    Path("mine/SYSTEM/a.bvh").write_text("two")
    assert book.run("01", parameters=given) == {"01_capture": "done"}
    inside = book.out / "01_capture" / "clips"
    with pytest.raises(ValueError, match=r"systems: .* lies where a chapter clears its results"):
        book.run("01", parameters=(("systems", str(inside)),))


def test_two_runs_do_not_write_to_one_folder(book):
    with held(book.out / "runs" / ".lock", "never"):
        with pytest.raises(
            RuntimeError, match=r"another run is writing to .*results; wait for it or name another --out"
        ):
            book.run()
    assert book.run("01") == {"01_capture": "done"}


def test_spoiled_files_of_the_runner_mean_work_done_again(book, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "a.bvh").write_text("one")
    book.run("01", data=str(data))
    for name in ("01_capture.state.json", "data_files.json"):
        (book.out / "runs" / name).write_text('{"key": ')
    assert book.run("01", data=str(data)) == {"01_capture": "done"}
    assert book.run("01", data=str(data)) == {"01_capture": "unchanged"}
    # artefacts may lie on another disk: the link goes, what it points to stays
    elsewhere = tmp_path / "disk"
    elsewhere.mkdir()
    (elsewhere / "kept.txt").touch()
    (book.out / "01_capture" / "models").symlink_to(elsewhere)
    assert book.run("01", data=str(data), force=True) == {"01_capture": "done"}
    assert (elsewhere / "kept.txt").is_file()


def test_a_notebook_that_lags_behind_its_source_is_refused(book):
    source = book.notebooks / "01_capture.py"
    source.write_text(source.read_text() + "\n# %%\nmore = 1\n")
    with pytest.raises(ValueError, match="differs from its source"):
        book.run("01")
    assert render_ipynb(source) == render_ipynb(source)


def test_a_killed_run_goes_on_where_it_was(book):
    book.write("02_cleaning", "time.sleep(60)")
    command = [sys.executable, "-m", "motionbook.cli", "reproduce", "--only", "01", "02", "--out", str(book.out)]
    process = subprocess.Popen(
        [*command, "--notebooks", str(book.notebooks)], env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        deadline = time.monotonic() + 120
        while not (book.out / "runs" / "01_capture.state.json").is_file():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.2)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    book.write("02_cleaning", SECOND.format(extra=""))
    assert book.run() == {"01_capture": "unchanged", "02_cleaning": "done"}
