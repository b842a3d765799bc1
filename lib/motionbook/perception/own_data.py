"""A reader's own study: what the words of the chapter's parameters for columns, scales and factors stand for."""

import re
import shlex


def column_names(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Names of a reader's columns from words such as 'userID=rater choice="my answer" score=points'.

    Returns
    -------
    for ``read_responses`` and for ``read_ratings``; each takes the names that it knows.
    """
    from motionbook.perception.opinion import SYNONYMS
    from motionbook.perception.responses import COLUMNS, PLAIN

    known = {*COLUMNS, *PLAIN}
    answers, ratings = {}, {}
    for name, column in _assignments(text, "columns"):
        if name not in known and name not in SYNONYMS:
            raise ValueError(f"columns: expected {', '.join(sorted({*known, *SYNONYMS}))}, got {name!r}")
        (ratings if name in SYNONYMS else answers)[name] = column
    return answers, ratings


def answer_scale(text: str):
    """A scale of pairwise answers from words: "" (the published five), "7", "0..100" (a slider), "left,same,right"."""
    from motionbook.perception.scales import FIVE, options_scale, slider_scale

    text = str(text).strip()
    if not text:
        return FIVE
    if text.isdigit():
        return options_scale(int(text))
    if slider := re.fullmatch(r"(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)", text):
        return slider_scale(float(slider[1]), float(slider[2]))
    return options_scale([part.strip() for part in text.split(",")])


def signed_scale(scale):
    """The scale of answers that ``read_responses`` has turned into signed preferences already."""
    from motionbook.perception.scales import Scale

    return Scale(scale.grades, scale.weights)


def scored_answers(answers, scale):
    """The answers that ``ranking_report`` counts: by the published exclusions where checks and counts are there."""
    from motionbook.perception.responses import ATTENTION, exclude

    top = max(scale.weights)
    if "responseCount" in answers and (answers.left == ATTENTION).any():
        return exclude(answers, attention_choice=top).answers
    return exclude(answers, least_answers=0, calibration=0, attention_choice=top).answers


def rating_design(ratings, text: str = "") -> dict:
    """Factors of an analysis of variance, as ``rating_report`` takes them, from words or from the paper's own columns.

    Parameters
    ----------
    ratings : data frame
    text : str
        Such as "within=system,speed between=group by=task compare=system". Without it the paper's design is taken where
        all its columns are there, else there is no analysis.
    """
    from motionbook.perception.effects import BETWEEN, WITHIN

    if not text.strip():
        if not {*WITHIN, *BETWEEN, "distortion"} <= set(ratings.columns):
            return {}
        return {"within": list(WITHIN), "between": list(BETWEEN), "by": "distortion", "compare": "strength"}
    design = {}
    for name, value in _assignments(text, "factors"):
        if name not in ("within", "between", "by", "compare"):
            raise ValueError(f"factors: expected within, between, by or compare, got {name!r}")
        columns = value.split(",")
        absent = [column for column in columns if column not in ratings]
        if absent:
            raise ValueError(f"factors: no column {', '.join(absent)}; there are {', '.join(ratings.columns)}")
        design[name] = columns if name in ("within", "between") else value
    return design


def is_published_design(design: dict) -> bool:
    """Whether Table I's rows can come out of a design: its factors within and between people, by distortion."""
    from motionbook.perception.effects import BETWEEN, WITHIN

    return (set(design.get("within", ())), set(design.get("between", ())), design.get("by")) == (
        {*WITHIN},
        {*BETWEEN},
        "distortion",
    )


def _assignments(text: str, parameter: str) -> list[tuple[str, str]]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{parameter}: {error} in {text!r}") from None
    parts = [part.partition("=") for part in words]
    wrong = [name for name, equals, value in parts if not (name and equals and value)]
    if wrong:
        raise ValueError(f"{parameter}: expected words such as name=value, got {wrong[0]!r}")
    return [(name, value) for name, _, value in parts]
