"""Pictures of a study page as people see it: screenshots where there is a browser, drawn after it where there is none.

StayStill's Figure 7 shows such a page of the preference study, 4DHumanQA's Figure 4 one of the rating study.
"""

import io
import json
import subprocess
import textwrap
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.perception.study import read_plan
from motionbook.perception.study.site import strings
from motionbook.report.browser import Browser, find_chromium

_PERSON = "p0000000000000000"


class PageFigure(NamedTuple):
    """A matplotlib figure of a page, and ``source``: "screenshot" or "drawn, for lack of a browser"."""

    figure: object
    source: str


def first_scored(plan: dict, slot: int = 0) -> int:
    """Index of the first scored trial of a place in a plan."""
    return next(i for i, trial in enumerate(plan["people"][slot]["trials"]) if trial["kind"] == "scored")


def page_picture(
    folder: str | Path,
    *,
    place: int | str | None = None,
    slot: int = 0,
    language: str = "en",
    size: tuple[int, int] = (1280, 900),
    moment: float | None = None,
) -> bytes:
    """PNG of a page of a built study, as a headless Chromium shows it.

    Parameters
    ----------
    folder : path
        The built study.
    place : int or "consent" or "about" or "instructions"
        A trial of the plan, or a page before them; the first scored trial when left out.
    slot : int
        Place in the plan.
    language : str
    size : (width, height)
        In CSS pixels; narrower than 600 is a phone.
    moment : float, optional
        Seconds into the films at which they are shown; without it they are shown at their end, ready for an answer.

    Raises
    ------
    FileNotFoundError
        When there is no Chromium.
    """
    plan = read_plan(folder)
    page = Path(folder).resolve() / "index.html"
    place = first_scored(plan, slot) if place is None else place
    key = json.dumps(f"motionbook-study:{plan['hash'][:16]}")
    with Browser(size=size) as browser:
        # a page of the same origin that starts no study, to say what is done already
        browser.open(page.with_name("study.json"))
        events = json.dumps(_events(plan, slot, place, language))
        browser.evaluate(
            f"localStorage.setItem({key}, JSON.stringify({events}.map((e) => "
            "({...e, time: new Date().toISOString().slice(0, 19).replace('T', ' ')}))))"
        )
        browser.open(page.as_uri() + f"?slot={slot}")
        if isinstance(place, int):
            browser.wait("!!document.querySelector('.choices:not(.off)')")
            if moment is not None:
                browser.evaluate(
                    "Promise.all([...document.querySelectorAll('video')].map((v) => new Promise((done) => "
                    f"{{ v.onseeked = done; v.currentTime = {float(moment)}; }})))"
                )
        browser.wait("!!document.querySelector('.page, .trial')")
        browser.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 150)))")
        return browser.picture()


def _events(plan: dict, slot: int, place, language: str) -> list[dict]:
    """The log of somebody who has come as far as a page; its earlier trials are passed over, not answered."""
    events = [
        {"type": "start", "participant": _PERSON, "slot": slot},
        {"type": "language", "language": language},
        {"type": "consent", "version": "1"},
        {"type": "about", "about": {"gender": "", "age": ""}},
        {"type": "read", "page": f"instructions_{plan['design']}"},
    ]
    pages = {"consent": 2, "about": 3, "instructions": 4}
    if place in pages:
        return events[: pages[place]]
    if not isinstance(place, int):
        raise ValueError(f"place: expected the number of a trial or one of {', '.join(pages)}, got {place!r}")
    return events + [{"type": "trained", "place": i} for i in range(place)]


def study_page_figure(
    folder: str | Path, *, place=None, slot: int = 0, language: str = "en", size=(1280, 900), moment=None
) -> PageFigure:
    """Figure of a trial of a built study, by screenshot or, without a Chromium, drawn from its films and texts."""
    import matplotlib.pyplot as plt

    if find_chromium() is None:
        return PageFigure(_drawn(Path(folder), place, slot, language), "drawn, for lack of a browser")
    png = page_picture(folder, place=place, slot=slot, language=language, size=size, moment=moment)
    picture = plt.imread(io.BytesIO(png))
    figure = plt.figure(figsize=(6.6, 6.6 * picture.shape[0] / picture.shape[1]))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(picture)
    axes.set_axis_off()
    return PageFigure(figure, "screenshot")


def _drawn(folder: Path, place, slot: int, language: str):
    import matplotlib.pyplot as plt

    plan = read_plan(folder)
    trial = plan["people"][slot]["trials"][first_scored(plan, slot) if place is None else place]
    text = {key: value[language] for key, value in strings().items()}
    titles = ("video_1", "video_2") if plan["design"] == "pairs" else ("video_reference", "video_rated")
    figure = plt.figure(figsize=(6.6, 4.4))
    figure.set_layout_engine("none")
    figure.text(0.5, 0.95, text[f"question_{plan['design']}"], ha="center", va="center", fontsize=11, weight="bold")
    for i, (name, title) in enumerate(zip(trial["videos"], titles, strict=True)):
        axes = figure.add_axes((0.02 + 0.485 * i, 0.24, 0.475, 0.62))
        axes.imshow(last_frame(folder, name))
        axes.set_title(text[title], loc="center", fontsize=9)
        axes.set_xticks([])
        axes.set_yticks([])
        axes.grid(visible=False)
    for i in range(5):
        label = "\n".join(textwrap.wrap(text[f"{plan['design']}_{i + 1}"], 16))
        box = {"boxstyle": "round,pad=0.5", "facecolor": "#ffffff", "edgecolor": "#aab3bf"}
        figure.text(0.11 + 0.195 * i, 0.11, f"{i + 1}\n{label}", ha="center", va="center", fontsize=7, bbox=box)
    return figure


def last_frame(folder: str | Path, stimulus: str) -> np.ndarray:
    """Last frame of the film of a stimulus of a built study, (height, width, 3) uint8."""
    import imageio_ffmpeg
    import matplotlib.pyplot as plt

    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-sseof", "-0.5", "-i", str(film_path(folder, stimulus))]
    done = subprocess.run([*command, "-f", "image2pipe", "-c:v", "png", "-"], capture_output=True, check=False)
    start = done.stdout.rfind(b"\x89PNG\r\n\x1a\n")
    if start < 0:
        raise RuntimeError(f"no frame of {stimulus} in {folder}: {done.stderr.decode(errors='replace').strip()}")
    return np.rint(255 * plt.imread(io.BytesIO(done.stdout[start:]))[..., :3]).astype(np.uint8)


def film_path(folder: str | Path, stimulus: str) -> Path:
    """File of the film of a stimulus of a built study; the first of its formats."""
    text = (Path(folder) / "assets" / "study-data.js").read_text(encoding="utf-8")
    films = json.loads(text[text.index("{", text.index(".data =")) : text.rindex(";")])["films"]
    if stimulus not in films:
        raise KeyError(f"no film of {stimulus!r} in {folder}")
    return Path(folder) / "videos" / next(iter(films[stimulus]["files"].values()))
