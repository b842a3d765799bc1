"""A tiny book from hand-made executed notebooks: staged, rendered with warnings as errors, opened in a browser."""

import io
import json
import re
import shutil

import numpy as np
import pytest
from book_fixture import TITLE, make_results, waving_clip

from motionbook import Clip, forward_kinematics
from motionbook import rotations as rot
from motionbook.report import book, pages, web
from motionbook.report.browser import Browser, find_chromium
from motionbook.report.check_book import browser_problems, static_problems
from motionbook.report.players import player
from motionbook.report.provenance import CHAPTERS

needs_chromium = pytest.mark.skipif(find_chromium() is None, reason="no Chromium on the PATH; apt package chromium")


@pytest.fixture(scope="module")
def assets():
    """The web assets of the checkout; what npm cannot fetch is a reason to skip, what fails after that is a fault."""
    static = book.checkout() / "book" / "_static"
    try:
        web.install(book.checkout() / "build" / "web")
    except RuntimeError as error:
        pytest.skip(f"the web assets cannot be installed here: {str(error)[:200]}")
    web.vendor(static)
    return static


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return make_results(tmp_path_factory.mktemp("made") / "results", [c for c in CHAPTERS if c != "05_perception"])


@pytest.fixture(scope="module")
def html(assets, results, tmp_path_factory):
    index = book.build(results, target=tmp_path_factory.mktemp("book"), allow_missing=True)
    return index.parent


def text_of(path):
    return re.sub(r"<[^>]+>", "", path.read_text(encoding="utf-8"))


def test_index_leads_to_the_front_page(html):
    assert "book/intro.html" in (html / "index.html").read_text()


def test_chapters_are_numbered_and_carry_their_figures(html):
    page = html / "notebooks" / "03_inbetweening.html"
    assert TITLE.format(3) in text_of(page) and "A line that bends." in text_of(page)
    assert "Fig. 3.1" in text_of(page)


def test_launch_button_opens_the_notebook_of_the_repository(html):
    text = (html / "notebooks" / "03_inbetweening.html").read_text()
    address = "https://colab.research.google.com/github/motionbook/motionbook/blob/main/notebooks/03_inbetweening.ipynb"
    assert address in text


def test_chapter_that_was_not_run_says_so(html):
    text = text_of(html / "notebooks" / "05_perception.html")
    assert "Not run for this edition" in text and "motionbook reproduce --only 05" in text


def test_missing_chapters_are_named(results, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"not executed: 05_perception; run `motionbook reproduce"):
        book.build(results, target=tmp_path)


def test_no_path_of_this_machine_in_the_pages(html, results):
    for page in html.rglob("*.html"):
        assert str(results) not in page.read_text(encoding="utf-8"), page
    assert "results/03_inbetweening" in text_of(html / "notebooks" / "03_inbetweening.html")


def test_ledger_provenance_and_bibliography_are_filled(html):
    assert "staystill_table1" in (html / "book" / "ledger.html").read_text()
    provenance = text_of(html / "book" / "provenance.html")
    assert "made by a test (synthetic)" in provenance and "333333333333" in provenance and "made here" in provenance
    assert "robust motion in-betweening" in text_of(html / "book" / "bibliography.html").lower()


def test_conventions_page_is_the_repositorys_file(html):
    assert "What others do" in text_of(html / "book" / "conventions.html")
    assert "{cite" not in (book.checkout() / "CONVENTIONS.md").read_text()  # read on GitHub too, which knows no roles


def test_notebook_that_ended_in_an_error_is_refused(results):
    notebook = json.loads((results / "executed" / "01_capture.ipynb").read_text())
    notebook["cells"][3]["outputs"] = [{"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}]
    with pytest.raises(book.BookFailed, match=r"01_capture: cell 4 ended in ValueError: no"):
        book.clean_notebook(notebook, results, book.checkout(), "01_capture")


def test_injected_parameters_are_folded_away_without_paths(results):
    notebook = json.loads((results / "executed" / "01_capture.ipynb").read_text())
    notebook["cells"][3]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["/home/me/clips/a.bvh\n"]}]
    clean = book.clean_notebook(notebook, results, book.checkout(), "01_capture", private=["/home/me/clips"])
    assert "papermill" not in json.dumps(clean) and clean["cells"][3]["outputs"][0]["text"] == ["clips/a.bvh\n"]
    cell = clean["cells"][2]
    assert "hide-input" in cell["metadata"]["tags"] and 'out = "results"' in "".join(cell["source"])


def test_every_caption_of_a_figure_says_its_data_once(tmp_path):
    """The figure's own label, else the run's; fault seen: figures of simulated people that did not say so."""
    (tmp_path / "mine.json").write_text(json.dumps({"data": "answers of my_file.csv"}))

    def captions(*cells):
        figures = [
            {"metadata": {"mystnb": {"figure": {"caption": caption}}}, "source": [source]} for caption, source in cells
        ]
        labelled = book.label_figures(
            {"cells": [{"metadata": {}, "source": []}, *figures]}, tmp_path, "toys (synthetic)"
        )
        again = book.label_figures(labelled, tmp_path, "toys (synthetic)")
        return [cell["metadata"]["mystnb"]["figure"]["caption"] for cell in again["cells"][1:]]

    assert captions(
        ("A line.", 'report.save_figure(\n    run, "mine", figure, caption="x")'),
        ("A line", 'report.save_figure(run, "gone", figure, caption="x")'),
        ("Drawn from toys (synthetic).", "plot()"),
    ) == [
        r"A line. Data: answers of my\_file.csv.",
        "A line. Data: toys (synthetic).",
        "Drawn from toys (synthetic).",
    ]


def test_figures_of_the_rendered_book_say_their_data(html):
    for chapter in CHAPTERS:
        page = (html / "notebooks" / f"{chapter}.html").read_text(encoding="utf-8")
        found = re.findall(r"<figcaption.*?</figcaption>", page, re.DOTALL)
        assert found or chapter == "05_perception"
        assert all("Data: made by a test (synthetic)." in caption for caption in found), chapter


def test_own_paths_leave_no_trace_in_the_provenance():
    run = {"data": "/home/me/data", "parameters": {"systems": "/home/me/mine", "factor": 3, "word": "plain"}}
    assert pages.private_paths(run) == ["/home/me/data", "/home/me/mine"]


def test_a_warning_of_sphinx_stops_the_build(assets, results, tmp_path):
    source = tmp_path / "source"
    shutil.copytree(book.checkout() / "book", source / "book", ignore=shutil.ignore_patterns("_build", "vendor"))
    shutil.copytree(assets / "vendor", source / "book" / "_static" / "vendor")
    for name in ("_config.yml", "CONVENTIONS.md"):
        shutil.copy(book.checkout() / name, source / name)
    (source / "book" / "reproduce.md").write_text("# Reproduce\n\n[nowhere](missing.md)\n")
    with pytest.raises(book.BookFailed, match=r"missing\.md"):
        book.build(results, source=source, target=tmp_path / "built", allow_missing=True)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda page: page.replace("</head>", '<script src="https://cdn.example/x.js"></script></head>'),
            "cdn.example",
        ),
        (lambda page: page.replace("</head>", '<link rel="stylesheet" href="//fonts.example/a.css"></head>'), "fonts"),
        (lambda page: page.replace("</body>", '<img src="gone.png"></body>'), "gone.png is not there"),
        (lambda page: page + "<pre>Traceback (most recent call last)</pre>", "traceback"),
        (lambda page: page.replace("blob/main/notebooks", "blob/main/elsewhere"), "no launch button"),
        (lambda page: re.sub(r"<figcaption.*?</figcaption>", "", page, flags=re.DOTALL), "has no caption"),
    ],
)
def test_static_check_sees(html, tmp_path, change, problem):
    damaged = tmp_path / "html"
    shutil.copytree(html, damaged, ignore=shutil.ignore_patterns("_static", "_sources"))
    (damaged / "_static").symlink_to(html / "_static")
    (damaged / "_images").is_dir() or (damaged / "_images").mkdir()
    page = damaged / "notebooks" / "03_inbetweening.html"
    page.write_text(change(page.read_text()))
    assert any(problem in found for found in static_problems(damaged)), static_problems(damaged)


def test_static_check_finds_nothing_and_misses_no_page(html, tmp_path):
    assert static_problems(html) == []
    assert len(static_problems(tmp_path)) == 1 + 6 + len(CHAPTERS)


@needs_chromium
def test_pages_in_a_browser_without_a_network(html):
    assert browser_problems(html, ["book/intro", "book/conventions", "notebooks/03_inbetweening"]) == []


@needs_chromium
def test_browser_check_sees_what_is_wrong(assets, tmp_path, monkeypatch):
    monkeypatch.setenv("MOTIONBOOK_STATIC", "1")
    wait = Browser.wait
    monkeypatch.setattr(
        Browser, "wait", lambda self, expression, limit=60.0: wait(self, expression, limit=min(limit, 3))
    )
    still = waving_clip(1)
    frozen = Clip(still.skeleton, np.repeat(still.root_positions, 9, 0), np.repeat(still.rotations, 9, 0), 30.0)
    faults = {
        "fetches": ('<script>fetch("https://example.org/x").catch(() => 0)</script>', "asks for https://example.org/x"),
        "misses": ('<img src="gone.png">', "request failed"),
        "throws": ("<script>setTimeout(() => { throw new Error('planted') })</script>", "planted"),
        "complains": ("<script>console.error('planted too')</script>", "planted too"),
        "sprawls": ('<div style="width:900px">wide</div>', "pixels wide"),
        "raw_maths": ('<span class="math">x</span>', "mjx-container"),
        "stands_still": (
            player([("GT", frozen)]).to_html(),
            "player 1: its canvas does not change when the slider moves",
        ),
    }
    for name, (body, _) in faults.items():
        write_page(tmp_path, assets, body, name)
    found = browser_problems(tmp_path, list(faults))
    for name, (_, problem) in faults.items():
        mine = [line for line in found if line.startswith(f"{name}: ")]
        assert len(mine) >= 1 and any(problem in line for line in mine), (name, found)
    assert [line for line in found if line.startswith("stands_still")] == [f"stands_still: {faults['stands_still'][1]}"]


def write_page(folder, assets, body, name="page"):
    shutil.copy(assets / "skelplayer.js", folder / "skelplayer.js")
    head = "<meta charset=utf-8><meta name=viewport content='width=device-width'>"
    text = f'<!doctype html><html><head>{head}</head><body>{body}<script src="skelplayer.js"></script></body></html>'
    (folder / f"{name}.html").write_text(text)
    return folder / f"{name}.html"


@needs_chromium
def test_frame_of_a_live_notebook_plays(assets, tmp_path):
    """The output cell of a notebook: the page's own scripts know nothing of the player."""
    script = (assets / "skelplayer.js").read_text(encoding="utf-8")
    frame = (
        player([("GT", waving_clip(9))]).to_frame(script).replace("allow-scripts", "allow-scripts allow-same-origin")
    )
    (tmp_path / "page.html").write_text(f"<!doctype html><meta charset=utf-8>{frame}")
    with Browser(size=(560, 560), reduced_motion=True) as browser:
        browser.open(tmp_path / "page.html")
        inside = "document.querySelector('iframe').contentDocument.querySelector('.skel-player')"
        browser.wait(f"{inside} && {inside}.dataset.ready === '1'", limit=30)
        assert browser.evaluate(f"{inside}.querySelector('canvas').clientHeight") > 350
        assert not [line for line in browser.messages if line.startswith(("error", "exception"))]


@pytest.fixture(scope="module")
def opened(assets, tmp_path_factory):
    """A page with one player of two clips, opened once for the tests of its controls."""
    if find_chromium() is None:
        pytest.skip("no Chromium on the PATH; apt package chromium")
    clips = [("GT", waving_clip(31)), ("SLERP", waving_clip(31, phase=1.0))]
    page = write_page(tmp_path_factory.mktemp("player"), assets, player(clips, autoplay=True, marks=[9, 20]).to_html())
    with Browser(size=(560, 500), reduced_motion=True) as browser:
        browser.open(page)
        browser.wait("document.querySelector('.skel-player').dataset.ready === '1'")
        yield browser, clips


def frame(browser):
    return int(browser.evaluate("document.querySelector('.skel-player').dataset.frame"))


def test_player_stands_still_for_readers_who_want_less_motion(opened):
    browser, _ = opened
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    assert frame(browser) == 0


@pytest.mark.parametrize("time", [0.0, 1 / 3, 0.5 / 30 + 0.2])
def test_player_poses_are_those_of_forward_kinematics(opened, time):
    """At stored frames and between them, where the player interpolates; fault seen: w and x swapped on decoding."""
    browser, clips = opened
    found = browser.evaluate(
        f"""(() => {{ const stage = document.querySelector('.skel-player').skelPlayer.stage; stage.render({time});
        return stage.lanes.map(({{lane, joints}}) => joints.map((joint) => {{
          const e = joint.matrixWorld.elements; return [e[12] - lane.position.x, e[13], e[14]]; }})); }})()"""
    )
    for (_, clip), places in zip(clips, found, strict=True):
        before = int(time * 30 + 1e-9)
        share = time * 30 - before
        turns = rot.slerp(clip.rotations[before], clip.rotations[before + 1], share)[None]
        here = Clip(clip.skeleton, clip.root_positions[:1], turns, 30.0)
        expected = forward_kinematics(here).positions[0] - clip.root_positions.mean(axis=0) * [1, 0, 1]
        np.testing.assert_allclose(places, expected, atol=2e-3)


def test_keyboard_plays_and_steps(opened):
    browser, _ = opened
    browser.evaluate("document.querySelector('.skel-canvas').focus()")
    browser.press("Home", 36)
    browser.wait("document.querySelector('.skel-player').dataset.frame === '0'")
    browser.press("ArrowRight", 39)
    browser.wait("document.querySelector('.skel-player').dataset.frame === '1'")
    browser.press("End", 35)
    browser.wait("document.querySelector('.skel-player').dataset.frame === '30'")
    browser.press(" ", 32)
    browser.wait("document.querySelector('.skel-player').dataset.playing === '1'")
    browser.wait("Number(document.querySelector('.skel-player').dataset.frame) > 2")
    assert browser.evaluate("document.querySelector('.skel-bar button').getAttribute('aria-label')") == "Pause"
    browser.press(" ", 32)
    browser.wait("document.querySelector('.skel-player').dataset.playing === '0'")


def test_marks_stand_on_the_scrub_bar_and_page_keys_go_to_them(opened):
    """Fault looked for: a mark beside the place where the thumb stands at its frame."""
    browser, _ = opened
    browser.evaluate("document.querySelector('.skel-canvas').focus()")
    browser.press("Home", 36)
    for key, code, expected in (("PageDown", 34, 9), ("PageDown", 34, 20), ("PageDown", 34, 20), ("PageUp", 33, 9)):
        browser.press(key, code)
        browser.wait(f"document.querySelector('.skel-player').dataset.frame === '{expected}'")
    assert browser.evaluate("document.querySelector('.skel-player').dataset.marked") == "1"
    assert "key pose" in browser.evaluate("document.querySelector('.skel-scrub input').getAttribute('aria-valuetext')")
    left, width, marks = browser.evaluate(
        """(() => { const bar = document.querySelector('.skel-scrub input').getBoundingClientRect();
        const at = [...document.querySelectorAll('.skel-mark')].map((mark) => mark.getBoundingClientRect());
        return [bar.left, bar.width, at.map((box) => box.left + box.width / 2)]; })()"""
    )
    assert marks == pytest.approx([left + 8 + share * (width - 16) for share in (9 / 30, 20 / 30)], abs=1.0)


def test_drag_turns_the_camera_and_reset_turns_it_back(opened):
    browser, _ = opened
    where = "document.querySelector('.skel-player').skelPlayer.stage.camera.position.toArray()"
    before = np.array(browser.evaluate(where))
    box = browser.evaluate("(({x, y, width, height}) => [x + width / 2, y + height / 2])"
                           "(document.querySelector('.skel-canvas').getBoundingClientRect())")  # fmt: skip
    browser.drag(box, (box[0] + 120, box[1]), steps=2)
    assert np.linalg.norm(np.array(browser.evaluate(where)) - before) > 0.5
    browser.evaluate("document.querySelector('[aria-label=\"Reset the view\"]').click()")
    np.testing.assert_allclose(browser.evaluate(where), before, atol=1e-6)


def test_clips_can_be_hidden_and_laid_over_each_other(opened):
    browser, _ = opened
    stage = "document.querySelector('.skel-player').skelPlayer.stage"
    browser.evaluate("document.querySelectorAll('.skel-legend button')[1].click()")
    assert browser.evaluate(f"{stage}.lanes.map((item) => item.lane.visible)") == [True, False]
    browser.evaluate("document.querySelectorAll('.skel-legend button')[1].click()")
    apart = browser.evaluate(f"{stage}.lanes.map((item) => item.lane.position.x)")
    browser.evaluate("document.querySelector('[aria-label^=\"Lay the people\"]').click()")
    assert browser.evaluate(f"{stage}.lanes.map((item) => item.lane.position.x)") == [0, 0]
    browser.evaluate("document.querySelector('[aria-label^=\"Lay the people\"]').click()")
    assert apart[1] - apart[0] > 0.6
    assert browser.evaluate(f"{stage}.lanes.map((item) => item.lane.position.x)") == apart


def test_every_control_has_a_name(opened):
    browser, _ = opened
    nameless = browser.evaluate(
        "[...document.querySelectorAll('.skel-frame :is(button, input, select, canvas)')]"
        ".filter((node) => !(node.getAttribute('aria-label') || node.textContent.trim())).length"
    )
    assert nameless == 0
    spoken = browser.evaluate("document.querySelector('input[type=range]').getAttribute('aria-valuetext')")
    assert re.fullmatch(r"frame \d+, \d\.\d\d of 1\.00 seconds(, key pose)?", spoken)


def test_theme_follows_the_page(opened):
    browser, _ = opened
    shots = []
    for theme in ("light", "dark"):
        browser.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        browser.wait(f"document.querySelector('.skel-dark') {'=' if theme == 'light' else '!'}== null")
        browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shots.append(picture(browser.picture(".skel-frame")).mean())
    assert shots[0] > 180 and shots[1] < 90


def picture(png):
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)).convert("L"), dtype=float)


def test_front_player_without_results_shows_embedded_performers(tmp_path):
    pytest.importorskip("motionbook.synthesis.performers")
    assert "embedded performers (synthetic)" in pages.front_player(tmp_path)


def test_front_player_says_what_each_version_is(results):
    """Noise fills in nothing, and embedded motion was never recorded."""
    shown = re.search(r'skel-caption">(.*?)</p>', pages.front_player(results))[1]
    assert "the ground truth (GT) and filled in between its key poses by SLERP. Which" in shown
    assert shown.endswith("Data: made by a test (synthetic).")
    assert "(GT), filled in between its key poses by SLERP and shaken" in pages._versions(["GT", "SLERP", "NOISE"])
