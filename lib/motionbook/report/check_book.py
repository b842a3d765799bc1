"""Checks of a rendered book: that its pages are whole, and that a browser without a network shows them.

``python -m motionbook.report.check_book book/_build/html`` runs both and names every problem.
"""

import html as html_text
import io
import re
import sys
import time
from pathlib import Path

from motionbook.report.provenance import CHAPTERS

PAGES = ("book/intro", "book/reproduce", "book/conventions", "book/ledger", "book/provenance", "book/bibliography")
# Two lines that every page of this theme writes; they have no effect on what the reader sees.
HARMLESS = ("THEBE_JS_URL", "Got invalid theme mode")


def static_problems(html: Path) -> list[str]:
    """What is wrong with a rendered book as files: missing pages, tracebacks, anything loaded from elsewhere."""
    html = Path(html)
    expected = [*PAGES, *(f"notebooks/{chapter}" for chapter in CHAPTERS)]
    problems = [f"{page}.html is missing" for page in ["index", *expected] if not (html / f"{page}.html").is_file()]
    for path in sorted(html.rglob("*.html")):
        if "_static" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(html).as_posix()
        problems += [f"{name}: loads {address} from elsewhere" for address in _foreign(text)]
        if re.search(r"Traceback \(most recent call last\)", html_text.unescape(text)):
            problems.append(f"{name}: shows a traceback")
        problems += [f"{name}: {missing} is not there" for missing in _missing_files(text, path)]
    for chapter in CHAPTERS:
        path = html / "notebooks" / f"{chapter}.html"
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            ran = 'class="cell docutils' in text
            button = f"github/motionbook/motionbook/blob/main/notebooks/{chapter}.ipynb"
            if ran and button not in text:
                problems.append(f"notebooks/{chapter}.html: no launch button to {button}")
            problems += [f"notebooks/{chapter}.html: {picture} has no caption" for picture in _bare_pictures(text)]
    return problems


def _foreign(text: str) -> list[str]:
    """Scripts, styles, pictures, frames and media that a page would load over the network."""
    tags = re.findall(r"<(?:script|img|iframe|video|audio|source|embed)\b[^>]*?\bsrc=[\"']([^\"']+)", text)
    for tag in re.findall(r"<link\b[^>]*>", text):
        if re.search(r"rel=[\"'][^\"']*(stylesheet|preload|icon|modulepreload)", tag):
            tags += re.findall(r"href=[\"']([^\"']+)", tag)
    return [address[:120] for address in tags if re.match(r"(?:https?:)?//", address)]


def _bare_pictures(text: str) -> list[str]:
    """Pictures that a cell left outside a figure; the player's picture has the player's caption."""
    outside = re.sub(r"<figure\b.*?<figcaption.*?</figure>", "", text, flags=re.DOTALL)
    pictures = re.findall(r"<img\b[^>]*?src=[\"']([^\"']*_images/[^\"']+)", outside)
    return [picture.rsplit("/", 1)[-1] for picture in pictures]


def _missing_files(text: str, page: Path) -> list[str]:
    tags = re.findall(r"<(?:script|img|iframe|video|audio|source)\b[^>]*?\bsrc=[\"']([^\"']+)", text)
    local = [address.split("?")[0].split("#")[0] for address in tags if not re.match(r"[a-z]+:|//", address)]
    return sorted({address for address in local if address and not (page.parent / address).is_file()})


def browser_problems(html: Path, pages: list[str] | None = None, *, pictures: Path | None = None) -> list[str]:
    """What a headless Chromium without a network finds wrong with the pages.

    Every page is opened from its file: no request may fail or leave the folder, no error but two known harmless lines
    may be written to the console, every player must get ready, show something, and show something else when its slider
    is moved, and no page may be wider than the screen of a phone.

    Parameters
    ----------
    html : folder of the rendered book
    pages : names such as "book/intro", all pages of the book when left out
    pictures : folder, optional
        Keep a picture of every page, in a wide light and a narrow dark window.

    Raises
    ------
    FileNotFoundError
        When there is no Chromium.
    """
    from motionbook.report.browser import Browser

    html = Path(html).resolve()
    names = pages or [*PAGES, *(f"notebooks/{chapter}" for chapter in CHAPTERS)]
    problems = []
    with Browser(reduced_motion=True) as browser:
        for name in names:
            try:
                found = _page_problems(browser, html / f"{name}.html", html)
            except RuntimeError as error:
                found = [str(error), *_errors(browser)]
            problems += [f"{name}: {problem}" for problem in found]
            if pictures:
                _keep_pictures(browser, html / f"{name}.html", Path(pictures) / name.replace("/", "_"))
    return problems


def _page_problems(browser, page: Path, html: Path) -> list[str]:
    browser.open(page)
    problems = []
    for number in range(browser.evaluate("document.querySelectorAll('.skel-player').length")):
        problems += [f"player {number + 1}: {problem}" for problem in _player_problems(browser, number)]
    if browser.evaluate("!!document.querySelector('.math')"):
        browser.wait("[...document.querySelectorAll('.math')].every((node) => node.querySelector('mjx-container'))")
    if browser.evaluate("!!document.querySelector('script[type=\"application/vnd.jupyter.widget-view+json\"]')"):
        browser.wait("!!document.querySelector('.jupyter-widgets')")
    _settle(browser)
    problems += _overflow(browser)
    inside = html.as_uri()
    problems += [f"asks for {address}" for address in browser.requests if not address.startswith(inside)]
    problems += [f"request failed: {failure}" for failure in browser.failures]
    return problems + _errors(browser)


def _overflow(browser, width: int = 390) -> list[str]:
    """A page that is wider than a phone makes its reader scroll sideways; wide tables must scroll by themselves."""
    browser.resize(width, 800)
    wide = browser.evaluate("document.scrollingElement.scrollWidth")
    browser.resize(*browser.size)
    return [f"is {wide} pixels wide on a screen of {width}"] if wide > width + 1 else []


def _errors(browser) -> list[str]:
    return [
        f"console: {message[:300]}"
        for message in browser.messages
        if message.startswith(("error", "exception", "assert")) and not any(line in message for line in HARMLESS)
    ]


def _settle(browser, quiet: float = 0.4, limit: float = 10.0) -> None:
    """Wait until no new request was made for a while."""
    end, seen, since = time.monotonic() + limit, -1, time.monotonic()
    while time.monotonic() < end and time.monotonic() - since < quiet:
        browser.evaluate("new Promise((done) => setTimeout(done, 50))")
        if len(browser.requests) != seen:
            seen, since = len(browser.requests), time.monotonic()


def _player_problems(browser, number: int) -> list[str]:
    player = f"document.querySelectorAll('.skel-player')[{number}]"
    browser.evaluate(f"{player}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    browser.wait(f"{player}.dataset.ready")
    if browser.evaluate(f"{player}.dataset.ready") != "1":
        return ["shows only its picture, not the 3-D view"]
    browser.evaluate(f"{player}.querySelector('canvas').dataset.seen = '{number}'")
    last = int(browser.evaluate(f"{player}.querySelector('input[type=range]').max"))
    shots = []
    for frame in (0, last // 2):
        # pictures above that load late have moved it out of sight, where nothing is drawn
        browser.evaluate(f"{player}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
        browser.evaluate(
            f"(() => {{ const slider = {player}.querySelector('input[type=range]'); slider.value = {frame};"
            " slider.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
        browser.wait(f"{player}.dataset.frame === '{frame}'")
        browser.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shots.append(_pixels(browser.picture(f"canvas[data-seen='{number}']")))
    problems = []
    # an empty canvas shows only the page's soft gradient; a person has a colour and edges of its own
    if _edges(shots[0]) < 0.001:
        problems.append("its canvas is blank")
    if last > 0 and (abs(shots[0] - shots[1]).max(axis=-1) > 24).mean() < 1e-5:
        problems.append("its canvas does not change when the slider moves")
    return problems


def _pixels(png: bytes):
    import numpy as np
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), dtype=np.int16)


def _edges(picture) -> float:
    """Share of pixels that differ clearly from their right neighbour."""
    return float((abs(picture[:, 1:] - picture[:, :-1]).max(axis=-1) > 24).mean())


def _keep_pictures(browser, page: Path, stem: Path) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    for look, theme, size in (("wide", "light", (1280, 900)), ("narrow", "dark", (400, 800))):
        browser.resize(*size)
        browser.open(page)
        browser.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        _settle(browser)
        stem.with_name(f"{stem.name}_{look}_{theme}.png").write_bytes(browser.picture(whole=True))
    browser.resize(*browser.size)


def main(arguments: list[str] | None = None) -> int:
    """Check a rendered book; 0 when nothing is wrong."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or len(arguments) > 2:
        print("usage: python -m motionbook.report.check_book HTML [PICTURES]", file=sys.stderr)  # noqa: T201
        return 2
    html = Path(arguments[0])
    problems = static_problems(html)
    try:
        problems += browser_problems(html, pictures=Path(arguments[1]) if len(arguments) == 2 else None)
    except FileNotFoundError as error:
        print(f"pages not opened in a browser: {error}")  # noqa: T201
    print("\n".join(problems) or f"{html}: nothing is wrong")  # noqa: T201
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
