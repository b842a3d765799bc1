"""The rows that the page makes: their columns, what makes one well-formed, and whether it belongs to a plan."""

import re
import zlib

from motionbook.perception.responses import ATTENTION
from motionbook.perception.study.design import CHOICES

# the first ten are StayStill's own
_PAIRS = ("userID", "timestamp", "responseCount", "left", "right", "clip", "choice", "language", "gender", "age")
_DSIS = ("item", "subject", "score", "source", "timestamp", "responseCount", "language", "gender", "age", "scale")
_MORE = (
    "kind",
    "group",
    "slot",
    "seconds",  # from the start of the films to the answer
    "watched",  # share of the films seen, 1 for all
    "replays",
    "hidden",  # times the page was out of sight
    "interrupted",  # times the trial had been begun before, without an answer
    "dropped",  # frames of both films
    "drift",  # seconds, the furthest the films were apart
    "shown",  # film, or pictures where the browser could not play it
    "screen",
    "consent",  # version and time
    "plan",
    "answerID",
    "checksum",
)
COLUMNS = {"pairs": _PAIRS + _MORE, "dsis": _DSIS + _MORE}
PERSON = {"pairs": "userID", "dsis": "subject"}
ANSWER = {"pairs": "choice", "dsis": "score"}
_FORMS = {
    "timestamp": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d",
    # one way to write each, or a trial could be answered again under another id
    "responseCount": r"0|[1-9]\d{0,4}",
    "slot": r"0|[1-9]\d{0,5}",
    "language": r"[a-z]{2}",
    "gender": r"female|male|non-binary|",
    "age": r"\d{1,3}(-\d{1,3}|\+)?|",
    "seconds": r"\d{1,7}\.\d{2}",
    "watched": r"[01]\.\d{2}",
    "replays": r"\d{1,5}",
    "hidden": r"\d{1,5}",
    "interrupted": r"\d{1,5}",
    "dropped": r"\d{1,7}",
    "drift": r"\d{1,5}\.\d{3}",
    "shown": r"film|pictures",
    "screen": r"\d{1,5}x\d{1,5}",
    "consent": r".{1,80} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d",
}
_PERSON_FORM = r"p[0-9a-f]{16}"


def is_person(name) -> bool:
    """Whether a value is an id as the page draws it for a person."""
    return isinstance(name, str) and bool(re.fullmatch(_PERSON_FORM, name))


def is_text(value: str) -> bool:
    """Whether a text can be written; JSON may escape halves of characters, which no file can hold."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def crc(text: str) -> str:
    """CRC-32 of a text's UTF-8 bytes, as the page computes it."""
    return f"{zlib.crc32(text.encode()):08x}"


def row_checksum(row: dict, design: str) -> str:
    """Checksum of a row's other values, in the order of the columns."""
    return crc("\n".join(row[name] for name in COLUMNS[design] if name != "checksum"))


def problem(row, plan: dict) -> str | None:
    """What is wrong with a row for this plan; None when it is an answer to a trial of it."""
    design = plan["design"]
    columns = COLUMNS[design]
    if not isinstance(row, dict) or set(row) != set(columns):
        return f"expected the columns {', '.join(columns)}"
    if not all(isinstance(value, str) and len(value) <= 300 and is_text(value) for value in row.values()):
        return "expected texts of at most 300 characters"
    if row["plan"] != plan["hash"]:
        return f"made with another plan ({row['plan'][:12]}, this is {plan['hash'][:12]})"
    for name, form in {**_FORMS, PERSON[design]: _PERSON_FORM}.items():
        if not re.fullmatch(form, row[name], re.ASCII):
            return f"{name} {row[name]!r} is malformed"
    if row["checksum"] != row_checksum(row, design):
        return "its checksum does not fit"
    if row["answerID"] != f"{row[PERSON[design]]}-{row['responseCount']}":
        return "its answerID does not fit"
    if row[ANSWER[design]] not in map(str, CHOICES[design]):
        return f"{ANSWER[design]} {row[ANSWER[design]]!r} is none of {', '.join(map(str, CHOICES[design]))}"
    return _unlike_trial(row, plan)


def _unlike_trial(row: dict, plan: dict) -> str | None:
    slot, count = int(row["slot"]), int(row["responseCount"])
    if slot >= len(plan["people"]):
        return f"the plan has no place {slot}"
    person = plan["people"][slot]
    trial = next((t for t in person["trials"] if t["count"] == count), None)
    if trial is None:
        return f"place {slot} has no trial {count}"
    expected = {"kind": trial["kind"], "group": person["group"]}
    if plan["design"] == "pairs":
        expected |= {"left": trial["left"], "right": trial["right"], "clip": trial["clip"]}
    else:
        expected |= {"item": trial["right"], "source": trial["clip"], "scale": plan["scale"]}
    wrong = [f"{name} {row[name]!r} for {value!r}" for name, value in expected.items() if row[name] != value]
    return f"trial {count} of place {slot} is another: {'; '.join(wrong)}" if wrong else None


def is_check(row: dict) -> bool:
    """Whether a row answers an attention check."""
    return ATTENTION in (row.get("left"), row.get("item"))
