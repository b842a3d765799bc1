"""The study page: one folder that any web server, or none, can show."""

import base64
import json
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from string import Template

from motionbook.files import write_whole
from motionbook.perception.study import vendor
from motionbook.perception.study.design import plan_hash
from motionbook.perception.study.pictures import read_pictures
from motionbook.perception.study.records import COLUMNS
from motionbook.perception.study.vendor import ASSETS

LANGUAGES = ("en", "es", "eu")
SCRIPTS = ("log.js", "send.js", "table.js", "pages.js", "films.js", "pictures.js", "trial.js", "main.js")
RESUME = ("resume", "ask", "block")


@dataclass(frozen=True)
class PageSettings:
    """What the people who run a study decide.

    title, contact : shown to those who take part; contact is an address, without one whoever gave the link is named
    consent, consent_version : own text by language, with blank lines between paragraphs (a general one without it);
        its version is stored with every answer
    minutes : how long it takes, in the consent
    languages : offered
    endpoint, reserve : address that answers are sent to, "" for download only; whether to ask it for a place
    resume : after a reload go on ("resume"), ask whether to begin again ("ask"), or end ("block")
    days : after which an unfinished log is dropped
    least_watched, replays : share of the films to be seen before an answer; how often they may be seen again, None
        for any number
    age, age_bands : "band" or "years"
    """

    title: str = "Motion study"
    contact: str = ""
    consent_version: str = "1"
    consent: dict = field(default_factory=dict)
    minutes: int = 10
    languages: tuple[str, ...] = LANGUAGES
    endpoint: str = ""
    reserve: bool = False
    resume: str = "resume"
    days: float = 7.0
    least_watched: float = 1.0
    replays: int | None = None
    age: str = "band"
    age_bands: tuple[str, ...] = ("18-24", "25-34", "35-44", "45-54", "55-64", "65+")

    def __post_init__(self):
        unknown = [name for name in (*self.languages, *self.consent) if name not in LANGUAGES]
        if unknown or not self.languages:
            raise ValueError(f"languages: expected some of {', '.join(LANGUAGES)}, got {self.languages or unknown}")
        if self.resume not in RESUME:
            raise ValueError(f"resume: expected one of {', '.join(RESUME)}, got {self.resume!r}")
        if self.age not in ("band", "years"):
            raise ValueError(f"age: expected band or years, got {self.age!r}")
        if not 0 <= self.least_watched <= 1:
            raise ValueError(f"least_watched: expected a share from 0 to 1, got {self.least_watched}")
        if self.endpoint and not self.endpoint.startswith(("http://", "https://", "/")):
            raise ValueError(f"endpoint: expected an http(s) address, got {self.endpoint!r}")


SETTINGS = PageSettings()


def strings() -> dict:
    """Every text of the page: key -> language -> text."""
    return json.loads((ASSETS / "strings.json").read_text(encoding="utf-8"))


def write_site(folder: Path, plan: dict, films: dict, settings: PageSettings, *, single: bool = False) -> Path:
    """The page for a plan and its films (in ``folder/videos``); path of ``index.html``.

    Parameters
    ----------
    folder : path
    plan : dict
        From ``design``; kept as ``plan.json`` beside the page for the receiver and for merging.
    films : dict
        From ``videos.make_videos``.
    settings : PageSettings
    single : bool
        Everything, films included, in one file: for a demonstration.
    """
    if plan.get("hash") != plan_hash(plan):
        raise ValueError("plan: its hash does not fit; plans are not edited by hand, make a new one")
    shown = {name for person in plan["people"] for trial in person["trials"] for name in trial["videos"]}
    absent = sorted(shown - set(films))
    if absent:
        raise ValueError(f"films: none for {', '.join(absent[:5])} ({len(absent)} in all)")
    size = films[min(shown)]["size"]
    script, facts = vendor.jspsych()
    data = {
        "config": _config(settings, size),
        "plan": plan,
        "films": {name: _film(films[name], folder / "videos", single) for name in sorted(shown)},
        "strings": strings(),
        "columns": COLUMNS[plan["design"]],
    }
    texts = {
        "jspsych.js": script,
        "study-data.js": "(window.motionbookStudy = window.motionbookStudy || {}).data = "
        + json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        + ";\n",
        **{name: (ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS},
    }
    style = (ASSETS / "study.css").read_text(encoding="utf-8")
    if single:
        shutil.rmtree(folder / "assets", ignore_errors=True)
        styles = f"<style>{style}</style>"
        scripts = "\n".join(
            "<script>" + text.replace("</script", "<\\/script") + "</script>" for text in texts.values()
        )
    else:
        shutil.rmtree(folder / "assets", ignore_errors=True)
        for name, text in {**texts, "study.css": style}.items():
            write_whole(folder / "assets" / name, text)
        styles = '<link rel="stylesheet" href="assets/study.css">'
        scripts = "\n".join(f'<script src="assets/{name}"></script>' for name in texts)
    template = Template((ASSETS / "index.html").read_text(encoding="utf-8"))
    title = settings.title.replace("&", "&amp;").replace("<", "&lt;")
    html = template.substitute(title=title, styles=styles, scripts=scripts, aspect=f"{size[0]} / {size[1]}")
    vendor.write_notices(folder / "LICENCES.txt", facts)
    write_whole(folder / "plan.json", json.dumps(plan, ensure_ascii=False, separators=(",", ":")) + "\n")
    write_whole(folder / "study.json", json.dumps({"jspsych": facts, "settings": asdict(settings)}, indent=1) + "\n")
    return write_whole(folder / "index.html", html)


def _config(settings: PageSettings, size) -> dict:
    return {
        "title": settings.title,
        "contact": settings.contact,
        "consent": settings.consent,
        "consentVersion": settings.consent_version,
        "minutes": settings.minutes,
        "languages": settings.languages,
        "endpoint": settings.endpoint,
        "reserve": settings.reserve,
        "resume": settings.resume,
        "days": settings.days,
        "least": settings.least_watched,
        "replays": settings.replays,
        "age": settings.age,
        "ageBands": settings.age_bands,
        "size": size,
    }


def _film(film: dict, folder: Path, single: bool) -> dict:
    pictures = film.get("pictures")
    if not single:
        return {"files": film["files"]} | ({"pictures": pictures} if pictures else {})
    coded = {
        form: f"data:video/{form};base64,{base64.b64encode((folder / name).read_bytes()).decode()}"
        for form, name in film["files"].items()
    }
    return {"files": coded} | ({"pictures": read_pictures(folder / pictures)} if pictures else {})
