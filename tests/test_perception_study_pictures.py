"""Films' single pictures in place of films: what is written, and the study page of a browser that plays no film."""

import base64
import io
import json
import shutil
import threading
import time

import matplotlib.pyplot as plt
import numpy as np
import pytest
from study_participant import LOOK, Participant, write_clips
from test_perception_study_page import visit

from motionbook.perception import read_responses
from motionbook.perception.study import PageSettings, build_study, make_server, merge_exports, vendor
from motionbook.perception.study.pictures import film_jpegs, make_pictures, read_pictures
from motionbook.perception.study.stimuli import find_pairs
from motionbook.perception.study.videos import make_videos
from motionbook.report.browser import Browser, find_chromium

imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="films need imageio-ffmpeg")

FPS, FRAMES, SIZE = 12, 15, (64, 48)
SYSTEMS = ("GT", "NOISE", "SLERP")
PLAYS_NOTHING = """
HTMLMediaElement.prototype.canPlayType = () => "";
HTMLMediaElement.prototype.load = function () {
  setTimeout(() => this.lastElementChild?.dispatchEvent(new Event("error")));
};
HTMLMediaElement.prototype.play = () => Promise.reject(new DOMException("no", "NotSupportedError"));
"""
FILMS_STALL = """
window.motionbookStudy = { patience: 300 };
Object.defineProperty(HTMLMediaElement.prototype, "readyState", { get: () => 0 });
const listen = EventTarget.prototype.addEventListener;
EventTarget.prototype.addEventListener = function (name, ...rest) {
  if (name !== "canplaythrough") listen.call(this, name, ...rest);
};
"""
# what every canvas was given to show: which, and the levels in the middle of its left and right half
RECORD = """
window.drawn = [];
const draw = CanvasRenderingContext2D.prototype.drawImage;
CanvasRenderingContext2D.prototype.drawImage = function (...given) {
  draw.apply(this, given);
  const { width, height } = this.canvas;
  const level = (x) => this.getImageData(x, height / 2, 1, 1).data[0];
  const which = [...document.querySelectorAll("canvas")].indexOf(this.canvas);
  window.drawn.push([which, level(width / 4), level((3 * width) / 4), document.timeline.currentTime]);
};
"""


def levels(frame, film):
    """Grey of the left half, which tells the frame, and of the right half, which tells the film."""
    return 20 + 14 * (frame % FRAMES), 30 + 35 * film


def write_film(path, film, *, frames=FRAMES, fps=FPS):
    path.parent.mkdir(parents=True, exist_ok=True)
    codec = {".webm": "libvpx-vp9", ".mp4": "libx264"}[path.suffix]
    output = ["-crf", "10", *(["-b:v", "0"] if path.suffix == ".webm" else [])]
    writer = imageio_ffmpeg.write_frames(
        str(path), SIZE, fps=fps, codec=codec, quality=None, macro_block_size=2, output_params=output
    )
    writer.send(None)
    for k in range(frames):
        picture = np.empty((SIZE[1], SIZE[0], 3), dtype=np.uint8)
        picture[:, : SIZE[0] // 2], picture[:, SIZE[0] // 2 :] = levels(k, film)
        writer.send(picture)
    writer.close()
    return path


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """Films of three systems, given ready, each of whose frames is known by its grey."""
    folder = tmp_path_factory.mktemp("ready")
    for i, system in enumerate(SYSTEMS):
        for clip in range(2):
            write_film(folder / system / f"{clip:02d}.webm", 2 * i + clip)
    return folder


@pytest.fixture(scope="module")
def chromium():
    if find_chromium() is None:
        pytest.skip("no Chromium on the PATH; apt package chromium")
    try:
        vendor.jspsych()
    except RuntimeError as error:
        pytest.skip(f"jsPsych cannot be fetched: {str(error).splitlines()[0]}")
    with Browser(reach=("127.0.0.1",)) as browser:
        yield browser


@pytest.fixture(scope="module")
def site(ready, chromium, tmp_path_factory):
    return build_study(ready, tmp_path_factory.mktemp("site"), people=2, scored=2)


@pytest.fixture
def copy(site, tmp_path):
    """The site once more, to be broken."""
    folder = tmp_path / "copy"
    shutil.copytree(site.page.parent, folder)
    return site._replace(page=folder / "index.html")


@pytest.fixture
def browser(chromium):
    """A browser to which `inject` gives a script that runs before every page's own."""
    marks = []
    chromium.inject = lambda source: marks.append(
        chromium.call("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
    )
    yield chromium
    for mark in marks:
        chromium.call("Page.removeScriptToEvaluateOnNewDocument", identifier=mark)


def come(browser, study, *, slot=0, size=(1280, 900), address=None):
    if address is None:
        visit(browser, study.page, f"?slot={slot}&lang=en", size)
    else:
        browser.open(address + "LICENCES.txt")
        browser.evaluate("localStorage.clear()")
        browser.resize(*size)
        browser.open(f"{address}?slot={slot}&lang=en")
    person = Participant(browser, study.plan, slot)
    person.begin()
    return person


def table_of(person, path):
    csv, _ = person.files()
    path.write_text(csv)
    return read_responses(path)


def film_of(study, name):
    """Number of a stimulus's film as `levels` takes it."""
    system, _, clip = name.partition("/")
    return 2 * SYSTEMS.index(system) + int(clip)


def frames_drawn(browser, which):
    """(frame, film) of all that one canvas showed, from the greys."""
    shown = [(left, right) for canvas, left, right, _ in browser.evaluate("drawn") if canvas == which]
    known = np.array([levels(k, 0)[0] for k in range(FRAMES)])
    films = np.array([levels(0, f)[1] for f in range(6)])
    made = []
    for left, right in shown:
        k, f = int(np.abs(known - left).argmin()), int(np.abs(films - right).argmin())
        assert abs(known[k] - left) <= 5 and abs(films[f] - right) <= 5, "the greys of the film"
        made.append((k, f))
    return made


def test_a_browser_without_films_answers_a_whole_study_with_pictures(site, tmp_path, browser):
    browser.inject(PLAYS_NOTHING)
    browser.inject(RECORD)
    person = come(browser, site)
    assert not person.has("video"), "no film is tried where none can play"
    person.watch()
    first = site.plan["people"][0]["trials"][0]
    for which, name in enumerate(first["videos"]):
        made = frames_drawn(browser, which)
        assert {film for _, film in made} == {film_of(site, name)}, "the film of this side"
        counts = [k for k, _ in made]
        assert counts == sorted(set(counts)) and counts[0] == 0 and counts[-1] == FRAMES - 1, "in order, to the end"
    starts = [at for _, left, _, at in browser.evaluate("drawn") if abs(left - levels(0, 0)[0]) < 5]
    assert len(starts) == 2 and starts[0] == starts[1], "both start in one frame of the screen"
    looks = json.loads(
        browser.evaluate(
            "JSON.stringify([...document.querySelectorAll('figure canvas')].map((c) => [c.getAttribute('role'), "
            "c.getAttribute('aria-label'), c.width, c.height]))"
        )
    )
    assert looks == [["img", "Video 1", *SIZE], ["img", "Video 2", *SIZE]]
    person.answer_all()
    table = table_of(person, tmp_path / "export.csv")
    assert dict(zip(table.responseCount, table.choice.astype(str), strict=True)) == person.told and len(table) == 6
    assert set(table.shown) == {"pictures"} and (table.watched.astype(float) == 1).all()
    assert set(table.interrupted.astype(int)) == {0} and (table.drift.astype(float) < 1).all()
    merged = merge_exports([tmp_path / "export.csv"], tmp_path / "merged.csv", plan=site.plan)
    assert merged.rows == 6 and merged.unfinished == ()
    # Chromium has a word on this test's own reading of the canvases
    assert [m for m in browser.messages if "getImageData" not in m] == [] and browser.failures == []


def test_where_films_play_nothing_changes_and_no_picture_is_loaded(site, tmp_path, browser):
    person = come(browser, site)
    person.answer_all()
    table = table_of(person, tmp_path / "export.csv")
    assert set(table.shown) == {"film"} and len(table) == 6
    names = [film["pictures"] for film in site.films.values()]
    assert not [address for address in browser.requests if any(name in address for name in names)]
    assert [a for a in browser.requests if a.endswith(".webm")] and browser.messages == [] and browser.failures == []


@pytest.mark.parametrize("size", [(1280, 900), (390, 844)], ids=["screen", "phone"])
def test_pictures_stand_where_films_would(site, browser, size):
    places = []
    for script, kind in (("", "video"), (PLAYS_NOTHING, "canvas")):
        browser.inject(script)
        person = come(browser, site, size=size)
        person.watch()
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
        boxes = browser.evaluate(
            f"[...document.querySelectorAll('{kind}, .choice, .confirm button')].map((e) => "
            "{ const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })"
        )
        assert len(boxes) == 8
        places.append(boxes)
    assert np.abs(np.subtract(*places)).max() < 0.5


def test_pictures_may_be_seen_again_as_often_as_films(ready, tmp_path, browser):
    study = build_study(ready, tmp_path, people=1, scored=2, training=0, settings=PageSettings(replays=1))
    browser.inject(PLAYS_NOTHING)
    browser.inject(RECORD)
    person = come(browser, study)
    person.press("2")
    person.press("Enter")
    assert person.state()["rows"] == [] and not person.has("input:checked"), "nothing counts before the pictures end"
    person.watch()
    browser.evaluate("window.drawn = []")
    person.press("r")
    person.press("r")
    person.sees("drawn.length && document.querySelector('.under button').disabled")
    person.sees(f"drawn.some(([, left]) => left > {levels(FRAMES - 1, 0)[0] - 6})")
    assert frames_drawn(browser, 0)[0][0] == 0, "from the start"
    person.press("r")
    person.answer()
    (row,) = person.state()["rows"]
    assert row["replays"] == "1" and row["shown"] == "pictures"


def test_films_that_cannot_be_read_give_way_to_pictures_once_and_for_all(copy, tmp_path, browser):
    """The files are broken, and a server shows the page: no script plays the browser's part here."""
    for path in (copy.page.parent / "videos").glob("*.webm"):
        path.write_bytes(b"no film at all" * 50)
    server = make_server(tmp_path / "inbox", port=0, site=copy.page.parent)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    begun = time.monotonic()
    person = come(browser, copy, address=f"http://127.0.0.1:{server.server_port}/")
    person.watch()
    assert time.monotonic() - begun < 15 and person.has("canvas") and not person.has("video")
    person.answer()
    asked = len([a for a in browser.requests if a.endswith(".webm")])
    person.answer_all()
    assert len([a for a in browser.requests if a.endswith(".webm")]) == asked, "films are not tried again"
    table = table_of(person, tmp_path / "export.csv")
    assert set(table.shown) == {"pictures"} and set(table.interrupted.astype(int)) == {0}
    server.shutdown()
    server.server_close()


def test_films_that_do_not_come_give_way_to_pictures(site, browser):
    browser.inject(FILMS_STALL)
    person = come(browser, site)
    person.answer()
    person.answer()
    (row,) = person.state()["rows"]
    assert row["shown"] == "pictures" and row["watched"] == "1.00"


def test_a_film_that_breaks_off_is_shown_as_pictures_from_the_start(site, browser):
    browser.inject(RECORD)
    person = come(browser, site)
    person.answer()
    person.sees("[...document.querySelectorAll('video')].some((v) => v.currentTime > 0.2)")
    browser.evaluate("document.querySelector('video').dispatchEvent(new Event('error'))")
    person.sees("document.querySelectorAll('canvas').length === 2 && !document.querySelector('video')")
    person.answer()
    assert frames_drawn(browser, 0)[0][0] == 0
    (row,) = person.state()["rows"]
    assert (row["shown"], row["interrupted"], row["replays"]) == ("pictures", "0", "0")


def test_where_neither_comes_the_page_says_so_and_tries_again(copy, browser):
    videos = copy.page.parent / "videos"
    whole = {path: path.read_bytes() for path in videos.iterdir()}
    for path in whole:
        path.unlink()
    person = come(browser, copy)
    person.sees("document.querySelector('.status button')")
    assert "could not be loaded" in browser.evaluate("document.querySelector('.status').textContent")
    for path, content in whole.items():
        path.write_bytes(content)
    browser.evaluate("document.querySelector('.status button').click()")
    person.answer()
    person.answer()
    (row,) = person.state()["rows"]
    assert row["shown"] == "film", "what failed was the connection"


def test_pictures_that_come_late_are_counted_as_dropped(ready, tmp_path, browser):
    study = build_study(ready, tmp_path, people=1, scored=2, training=0)
    browser.inject(PLAYS_NOTHING)
    browser.inject(RECORD)
    # twelve pictures of either film are ready at the start; then come two slow ones and one quick one
    browser.inject(
        """const make = createImageBitmap; let count = 0;
        window.createImageBitmap = async (blob) => {
          count += 1;
          if (count > 24 && count <= 28) await new Promise((done) => setTimeout(done, 3000));
          return make(blob);
        };"""
    )
    person = come(browser, study)
    person.watch()
    made = [[k for k, _ in frames_drawn(browser, which)] for which in (0, 1)]
    assert all(part[-1] == FRAMES - 1 and not {12, 13} & set(part) for part in made)
    person.answer()
    (row,) = person.state()["rows"]
    assert int(row["dropped"]) == sum(FRAMES - len(part) for part in made) >= 4


def test_the_clock_waits_while_nobody_can_see_the_pictures(site, browser):
    browser.inject(PLAYS_NOTHING)
    browser.inject(RECORD)
    person = come(browser, site)
    person.sees("drawn.length >= 6")
    hide = "Object.defineProperty(document, 'hidden', {{ value: {}, configurable: true }});"
    event = "document.dispatchEvent(new Event('visibilitychange'));"
    browser.evaluate(hide.format("true") + event)
    before = browser.evaluate("drawn.length")
    browser.evaluate("new Promise((done) => setTimeout(done, 1500))")
    assert browser.evaluate("drawn.length") <= before + 2 and person.has(".choices.off"), (
        "time out of sight is not watched"
    )
    browser.evaluate(hide.format("false") + event)
    person.watch()
    counts = [k for k, _ in frames_drawn(browser, 0)]
    assert counts[-1] == FRAMES - 1 and len(counts) >= FRAMES - 3, "and goes on where it was"


def test_one_file_holds_the_pictures_when_asked(ready, tmp_path, browser):
    bare = build_study(ready, tmp_path / "bare", people=1, scored=2, single=True)
    assert not any("pictures" in film for film in bare.films.values())
    study = build_study(ready, tmp_path / "full", people=1, scored=2, single=True, pictures=True)
    shutil.rmtree(tmp_path / "full" / "videos")
    browser.inject(PLAYS_NOTHING)
    person = come(browser, study)
    person.answer_all()
    assert {row["shown"] for row in person.state()["rows"]} == {"pictures"} and browser.failures == []


@pytest.mark.parametrize(("suffix", "fps", "frames"), [(".webm", 30, 45), (".mp4", 29.97, 31), (".mp4", 24, 1)])
def test_every_frame_of_a_film_is_a_picture(tmp_path, suffix, fps, frames):
    film = write_film(tmp_path / f"film{suffix}", 2, frames=frames, fps=fps)
    made = read_pictures(tmp_path / make_pictures(film, fps))
    assert made["fps"] == fps and len(made["frames"]) == frames
    for k in range(0, min(frames, FRAMES), 5):
        picture = plt.imread(io.BytesIO(base64.b64decode(made["frames"][k])), format="jpg")
        assert picture.shape == (SIZE[1], SIZE[0], 3)
        got = picture[24, 16].mean(), picture[24, 48].mean()
        assert got == pytest.approx(levels(k, 2), abs=5), "the grey of this frame"


def test_pictures_are_made_once_alike_and_taken_away_again(tmp_path):
    files = find_pairs(write_clips(tmp_path / "clips")).files
    folder = tmp_path / "films"
    films = make_videos(files, folder, LOOK, pictures=True)
    paths = {folder / film["pictures"] for film in films.values()}
    assert len(paths) == 6 and all(len(read_pictures(path)["frames"]) == 3 for path in paths)
    assert not any(system.lower() in path.name.lower() for path in paths for system in SYSTEMS)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    make_videos(files, folder, LOOK, pictures=True)
    assert before == {path: path.stat().st_mtime_ns for path in folder.iterdir()}, "made once"
    again = tmp_path / "again"
    make_videos(files, again, LOOK, pictures=True)
    assert all((again / path.name).read_bytes() == path.read_bytes() for path in paths)
    make_videos(files, folder, LOOK)
    assert not list(folder.glob("*.js")) and len(list(folder.glob("*.webm"))) == 6


def test_a_file_that_is_no_film_has_no_pictures(tmp_path):
    (tmp_path / "a.webm").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"a\.webm: no pictures of it"):
        film_jpegs(tmp_path / "a.webm", 30)
