"""A study in a notebook cell: its trials with ipywidgets, answered there, read as the chapter's own table."""

from datetime import UTC, datetime
from pathlib import Path

from motionbook.perception.study import read_plan
from motionbook.perception.study.design import CHOICES
from motionbook.perception.study.site import strings
from motionbook.report.study_pages import film_path

COLUMNS = ("userID", "timestamp", "responseCount", "left", "right", "clip", "choice", "language", "gender", "age")


class StudyPreview:
    """The rated trials of one place in the plan of a built study, for trying it out before anybody is asked.

    The films are the study's own. What is missing is what needs the real page: equal starts to the frame, timing,
    sending, going on after a reload. Answers are under ``responses()``; they are a preview's, not data.

    Parameters
    ----------
    folder : path
        The built study.
    slot : int
        Place in the plan.
    language : str
    width : int
        Of each film in pixels.
    """

    def __init__(self, folder: str | Path, *, slot: int = 0, language: str = "en", width: int = 300):
        import ipywidgets

        self.folder, self.language, self.width = Path(folder), language, width
        self.plan = read_plan(folder)
        self.trials = [t for t in self.plan["people"][slot]["trials"] if t["count"] is not None]
        self.text = {key: value[language] for key, value in strings().items()}
        self.rows = []
        self._head, self._films = ipywidgets.HTML(), ipywidgets.HBox()
        labels = [self.text[f"{self.plan['design']}_{i}"] for i in range(1, 6)]
        self.buttons = [
            ipywidgets.Button(description=label, tooltip=label, layout=ipywidgets.Layout(width="auto"))
            for label in labels
        ]
        for button, value in zip(self.buttons, CHOICES[self.plan["design"]], strict=True):
            button.on_click(lambda _, value=value: self.answer(value))
        self.widget = ipywidgets.VBox([self._head, self._films, ipywidgets.HBox(self.buttons)])
        self._show()

    def _repr_mimebundle_(self, **options):
        return self.widget._repr_mimebundle_(**options)

    def _show(self) -> None:
        import ipywidgets

        count = len(self.rows)
        progress = self.text["progress"].format(done=count, all=len(self.trials))
        if count == len(self.trials):
            self._head.value = f"<b>{self.text['end_title']}</b> {progress}"
            self._films.children = ()
            for button in self.buttons:
                button.disabled = True
            return
        trial = self.trials[count]
        question = self.text[f"question_{self.plan['design']}"]
        if trial["kind"] == "attention":
            option = self.buttons[CHOICES[self.plan["design"]].index(trial["expected"])].description
            question = self.text["attention"].format(option=option)
        self._head.value = f"<b>{question}</b><br><small>{progress}</small>"
        pairs = self.plan["design"] == "pairs"
        captions = ("video_1", "video_2") if pairs else ("video_reference", "video_rated")
        self._films.children = [
            ipywidgets.VBox([ipywidgets.HTML(self.text[caption]), self._film(name)])
            for name, caption in zip(trial["videos"], captions, strict=True)
        ]

    def _film(self, name: str):
        import ipywidgets

        path = film_path(self.folder, name)
        return ipywidgets.Video(
            value=path.read_bytes(), format=path.suffix[1:], autoplay=True, loop=True, controls=False, width=self.width
        )

    def answer(self, value: int) -> None:
        """Answer the trial on view, as its buttons do."""
        allowed = CHOICES[self.plan["design"]]
        if value not in allowed:
            raise ValueError(f"value: expected one of {', '.join(map(str, allowed))}, got {value!r}")
        if len(self.rows) == len(self.trials):
            raise ValueError("every trial is answered")
        trial = self.trials[len(self.rows)]
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        told = (
            "preview",
            now,
            trial["count"],
            trial["left"],
            trial["right"],
            trial["clip"],
            value,
            self.language,
            "",
            "",
        )
        self.rows.append(dict(zip(COLUMNS, told, strict=True)) | {"kind": trial["kind"]})
        self._show()

    def responses(self):
        """The answers so far as a data frame: StayStill's columns and ``kind``; for ratings item, subject and score."""
        import pandas as pd

        frame = pd.DataFrame(self.rows, columns=[*COLUMNS, "kind"])
        if self.plan["design"] == "pairs":
            return frame
        names = {"right": "item", "userID": "subject", "choice": "score", "clip": "source"}
        return frame.rename(columns=names)[["item", "subject", "score", "source", "kind", "responseCount", "timestamp"]]
