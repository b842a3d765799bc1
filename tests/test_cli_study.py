"""``motionbook study``: each action once, and one clear line for what is wrong."""

import http.client
import json
import os
import signal
import subprocess
import sys

import pytest
from study_participant import write_clips
from test_perception_study_answers import make_rows, messages, write_csv

from motionbook import cli
from motionbook.perception.study import pair_plan, read_plan, vendor


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    return write_clips(tmp_path_factory.mktemp("clips"))


@pytest.fixture
def no_npm(monkeypatch):
    """jsPsych's place taken by a line: what these tests are about needs no network."""
    facts = {"version": "8.3.0", "integrity": "sha512-x", "sha256": "0"}
    monkeypatch.setattr(vendor, "jspsych", lambda: ("/* jsPsych */ // </script>\n", facts))


def build(clips, out, *more):
    films = ["--size", "64x48", "--fps", "5", "--seconds", "0.4", "--formats", "webm", "--participants", "3"]
    return cli.main(["study", "build", "--clips", str(clips), "--out", str(out), *films, *more])


def test_build_writes_a_site_that_loads_nothing_from_elsewhere(clips, tmp_path, no_npm, capsys):
    pytest.importorskip("imageio_ffmpeg")
    assert build(clips, tmp_path) == 0
    said = capsys.readouterr().out
    assert "GT - NOISE" in said and "?slot=0 to ?slot=2" in said and "ethics committee" in said
    assert "no native speaker has checked the page's Spanish and Basque yet" in said
    html = (tmp_path / "index.html").read_text()
    assert "http" not in html and 'src="assets/main.js"' in html
    text = (tmp_path / "assets" / "study-data.js").read_text()
    data = json.loads(text[text.index("{", text.index("=", 60)) : text.rindex(";")])
    assert data["plan"] == read_plan(tmp_path)
    names = {name for film in data["films"].values() for name in film["files"].values()}
    assert names == {path.name for path in (tmp_path / "videos").glob("*.webm")} and len(names) == 6
    assert not any(system.lower() in name.lower() for name in names for system in ("GT", "NOISE", "SLERP"))
    assert "Joshua R. de Leeuw" in (tmp_path / "LICENCES.txt").read_text()
    reels = {film["pictures"] for film in data["films"].values()}
    assert reels == {path.name for path in (tmp_path / "videos").glob("*.js")} and len(reels) == 6
    in_reels = sum((tmp_path / "videos" / name).stat().st_size for name in reels)
    assert (
        f"6 films, 0.0 MB; and as pictures, for browsers that can play none of their formats, {in_reels / 1e6:.1f} MB"
        in said
    )
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "videos").glob("*.webm")}
    assert build(clips, tmp_path, "--trials", "4", "--seed", "1") == 0
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "videos").glob("*.webm")}, "drawn once"
    again = tmp_path / "again"
    build(clips, again, "--no-pictures")
    assert "cannot take part (--pictures)" in capsys.readouterr().out and not list((again / "videos").glob("*.js"))
    for path in before:
        assert (again / "videos" / path.name).read_bytes() == path.read_bytes(), "the same bytes from the same clips"


@pytest.mark.parametrize("seconds", ["0", "-1"])
def test_films_of_no_length_are_refused(clips, tmp_path, no_npm, capsys, seconds):
    pytest.importorskip("imageio_ffmpeg")
    assert build(clips, tmp_path, "--seconds", seconds) == 1
    assert "seconds: expected a length above 0" in capsys.readouterr().err


def test_one_file_holds_everything(clips, tmp_path, no_npm):
    pytest.importorskip("imageio_ffmpeg")
    assert build(clips, tmp_path, "--single-file", "--trials", "2") == 0
    html = (tmp_path / "index.html").read_text()
    assert "data:video/webm;base64," in html and 'src="assets' not in html and not (tmp_path / "assets").exists()
    assert html.count("</script>") == html.count("<script>"), "no script ends early"


def test_a_plan_is_told_before_anything_is_drawn(clips, tmp_path, capsys):
    assert cli.main(["study", "plan", "--clips", str(clips), "--participants", "30"]) == 0
    said = capsys.readouterr().out
    assert "30 places, 20 rated trials each (16 scored)" in said and "GT - SLERP" in said
    plan = pair_plan(["A", "B"], ["x", "y"], 2, scored=4)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    assert cli.main(["study", "plan", str(tmp_path)]) == 0 and plan["hash"][:16] in capsys.readouterr().out


def test_distorted_clips_make_a_rating_study(tmp_path, capsys):
    sources = write_clips(tmp_path / "clips", systems=("GT",), clips=2) / "GT"
    out = tmp_path / "dsis"
    assert cli.main(["study", "stimuli", "--clips", str(sources), "--out", str(out), "--training", "01"]) == 0
    assert len(list(out.rglob("*.bvh"))) == 2 + 60 and (out / "training" / "glide" / "3" / "01.bvh").is_file()
    again = ["study", "plan", "--clips", str(out), "--design", "dsis", "--trials", "1", "--participants", "60"]
    assert cli.main(again) == 0
    assert "each of 30 stimuli: 2 ratings" in capsys.readouterr().out


def test_receive_and_merge(tmp_path, capsys):
    plan = pair_plan(["GT", "NN", "NOISE"], ["00", "01"], 3, scored=4)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    command = [sys.executable, "-m", "motionbook.cli", "study", "receive", "--folder", str(tmp_path), "--port", "0"]
    folder = os.path.dirname(os.path.dirname(cli.__file__))
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": folder}, start_new_session=True
    )
    try:
        first, second = process.stdout.readline(), process.stdout.readline()
        assert plan["hash"][:16] in first and "listening at http://127.0.0.1:" in second
        port = int(second.split(":")[2].split("/")[0])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        body = json.dumps({"plan": plan["hash"], "messages": messages(make_rows(plan))})
        connection.request("POST", "/", body)
        assert connection.getresponse().status == 200
        connection.close()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        process.stdout.close()
    received = next(tmp_path.glob("answers_*.jsonl"))
    out = tmp_path / "responses.csv"
    extra = write_csv(tmp_path / "one.csv", make_rows(plan, slot=1, person="p" + "5" * 16)[:2])
    command = ["study", "merge", str(received), str(extra), "--out", str(out), "--plan", str(tmp_path)]
    assert cli.main(command) == 0
    said = capsys.readouterr().out
    assert "10 answers; 2 people took part" in said and "did not finish: p555" in said
    content = received.read_bytes()
    received.write_bytes(content[:-40])
    assert cli.main(command) == 0
    said = capsys.readouterr().out
    last = content.count(b"\n")
    assert "9 answers" in said and f"{received}, line {last}: cut short when the receiver stopped" in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build", "--clips", "nowhere", "--out", "x"], "no folder nowhere"),
        (["build", "--clips", ".", "--out", "x"], "at least two systems"),
        (["plan"], "expected either a plan"),
        (["plan", "nowhere.json"], "no plan there"),
        (["receive", "--folder", "nowhere"], "no plan*.json"),
        (["merge", "nowhere.csv", "--out", "x.csv"], "no such file"),
        (["stimuli", "--clips", ".", "--out", "x"], "no BVH file"),
    ],
)
def test_failures_exit_with_1_and_one_line(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["study", *arguments]) == 1
    said = capsys.readouterr().err
    assert words in said and said.startswith("motionbook: ") and len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["build", "--clips", ".", "--out", "x", "--size", "big"], "expected WxH"),
        (["build", "--clips", ".", "--out", "x", "--calibration", "GT"], "expected LEFT:RIGHT"),
        (["build", "--clips", ".", "--out", "x", "--consent", "fr=x"], "expected en=FILE"),
        (["build"], "--clips, --out"),
    ],
)
def test_wrong_calls_exit_with_2(arguments, words, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["study", *arguments])
    assert stopped.value.code == 2 and words in capsys.readouterr().err
