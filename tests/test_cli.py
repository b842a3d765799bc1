"""The command line: exit codes, and one clear line for what a user got wrong."""

import pytest

from motionbook import __version__, cli


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "--jobs", "0"], "--jobs: expected a whole number of 1 or more, got '0'"),
        (["reproduce", "--timeout", "0.5"], "--timeout: expected a whole number of 1 or more"),
        (["reproduce", "--seed", "-1"], "--seed: expected a whole number of 0 or more"),
        (["reproduce", "--only", "9"], "--only: no chapter '9'; there are 01_capture"),
        (["reproduce", "-p", "no value"], "expected NAME=VALUE, got 'no value'"),
        (["reproduce", "--budget", "huge"], "invalid choice: 'huge'"),
        ([], "required: command"),
    ],
)
def test_wrong_calls_exit_with_2(arguments, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(arguments)
    assert stopped.value.code == 2 and words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "--data", "nowhere"], "data: nowhere does not exist; leave --data out"),
        (["reproduce", "--notebooks", "nowhere"], "01_capture.ipynb is missing"),
        (["notebooks", "--notebooks", "nowhere"], "nowhere holds no numbered .py"),
        (["data", "fetch", "nothing"], "no data set 'nothing'; there are"),
        (["data", "verify", "reactidle", "--folder", "nowhere"], "no folder nowhere"),
        (["book", "--out", "nowhere"], "run `motionbook reproduce --out"),
    ],
)
def test_failures_exit_with_1_and_one_line(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(arguments) == 1
    said = capsys.readouterr().err
    assert words in said and said.startswith("motionbook: ") and "Traceback" not in said


def test_the_ledger_of_no_results_says_that_there_are_none(capsys, tmp_path):
    assert cli.main(["ledger", "--out", str(tmp_path / "nowhere")]) == 0
    said = capsys.readouterr()
    assert "holds no tables yet; `motionbook reproduce` makes them" in said.err and "staystill_table1" in said.out
    assert max(map(len, said.out.splitlines())) <= 110


def test_version_and_help_say_what_it_is(capsys):
    for arguments, words in (
        (["--version"], f"motionbook {__version__}\n"),
        (["--help"], "Run the chapters of Motionbook"),
    ):
        with pytest.raises(SystemExit) as stopped:
            cli.main(arguments)
        said = capsys.readouterr().out
        assert stopped.value.code == 0 and words in said and "``" not in said
