"""Answers of a pairwise study: one table, read once, checked once, and the published exclusion rules."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from motionbook.perception.scales import FIVE, Scale, signed_preferences
from motionbook.perception.tables import read_table

COLUMNS = ("userID", "left", "right", "choice")
ATTENTION = "attentionCheck"
# what the columns may be called without being asked: the published spreadsheet's names and the plainest ones
PLAIN = {"userID": ("userID", "user"), "responseCount": ("responseCount",)}
_SHOWN = 5


def read_responses(path, *, columns: Mapping[str, str] | None = None, scale: Scale = FIVE, malformed: str = "raise"):
    """The answers of a study as a checked data frame, from a CSV file, a spreadsheet (.xlsx) or another frame.

    Columns (StayStill's own names, which the study page exports too): ``userID`` or ``user``, ``left`` and ``right``
    (systems; both ``attentionCheck`` for a check), ``choice`` (-2 clear and -1 slight preference for the left, 0 none,
    1 and 2 for the right) and, where there is one, ``responseCount`` (0 and 1 are the calibration pairs). Others, such
    as ``timestamp``, ``clip``, ``language``, ``gender``, ``age``, are kept.

    Parameters
    ----------
    path : str, Path or data frame
    columns : dict, optional
        What the file calls them: ``{"userID": "rater", "left": "A", "right": "B", "choice": "answer"}``.
    scale : Scale
        What the values of ``choice`` mean; ``options_scale`` and ``slider_scale`` make others than the published five.
    malformed : {"raise", "drop"}
        ``drop`` leaves malformed rows out, with a warning that counts and names them; ``malformed_rows`` lists all.

    Raises
    ------
    ValueError
        Naming the file, and the column or the lines that are wrong.
    """
    frame, wrong = _read(path, columns, scale, malformed)
    path, line = (path, "line") if isinstance(path, str | Path) else ("answers", "row")
    if len(wrong) and malformed == "raise":
        first = wrong[wrong.reason == wrong.reason.iloc[0]]
        lines = ", ".join(map(str, first.line[:_SHOWN])) + (", ..." if len(first) > _SHOWN else "")
        others = f"; {len(wrong) - len(first)} more are malformed in other ways" if len(wrong) > len(first) else ""
        raise ValueError(f'{path}, {line} {lines}: {first.reason.iloc[0]}{others}; malformed="drop" leaves them out')
    if len(wrong):
        lines = ", ".join(map(str, wrong.line[:_SHOWN])) + (", ..." if len(wrong) > _SHOWN else "")
        warnings.warn(f"{path}: {len(wrong)} malformed rows left out ({line} {lines})", stacklevel=2)
        frame = frame.drop(index=wrong.index)
    return frame.reset_index(drop=True).astype({name: int for name in ("choice", "responseCount") if name in frame})


def malformed_rows(path, *, columns: Mapping[str, str] | None = None, scale: Scale = FIVE):
    """Every malformed row of answers: ``line`` (of a file, whose header is line 1; of a frame its first row is 1),
    ``reason``, and the ``choice`` as written.
    """
    return _read(path, columns, scale, "drop")[1].reset_index(drop=True)


def _read(path, columns, scale, malformed):
    """The renamed frame with numbers for choices (NaN where wrong) and its malformed rows, by the frame's index."""
    if malformed not in ("raise", "drop"):
        raise ValueError(f"malformed: expected 'raise' or 'drop', got {malformed!r}")
    is_file = isinstance(path, str | Path)
    called = dict(columns or {})
    names = (
        "userID",
        "user",
        "left",
        "right",
        *(called[name] for name in ("userID", "left", "right") if name in called),
    )
    table = read_table(path, names) if is_file else path.reset_index(drop=True)
    frame = _named(path if is_file else "answers", table, called)
    written = frame.choice
    # a new frame: the reader's own keeps its columns
    frame = frame.assign(choice=signed_preferences(written, scale))
    # the header of a file is line 1
    return frame, _malformed(frame, written, scale, 2 if is_file else 1)


def _named(path, frame, columns):
    written = ", ".join(map(str, frame.columns))
    for name in (*COLUMNS, "responseCount", "clip"):
        given = (columns[name],) if name in columns else PLAIN.get(name, (name,))
        found = next((word for word in given if word in frame), None)
        if found is None and (name in COLUMNS or name in columns):
            raise ValueError(
                f"{path}: no column {given[0]}; it has {written}; columns={{{name!r}: ...}} says which one it is"
            )
        if found is not None and found != name:
            frame = frame.drop(columns=name, errors="ignore").rename(columns={found: name})
    if unknown := set(columns) - {*COLUMNS, "responseCount", "clip"}:
        raise ValueError(f"columns: no meaning is called {', '.join(sorted(unknown))}")
    for name in ("userID", "left", "right"):
        # a short row leaves its last cells missing, and a mapped column may have been read as numbers
        frame = frame.assign(**{name: frame[name].where(frame[name].notna(), "").astype(str).str.strip()})
    # the published script calls a row a check when the word stands anywhere in it
    check = frame.left.str.lower().str.contains(ATTENTION.lower()) | frame.right.str.lower().str.contains(
        ATTENTION.lower()
    )
    if "clip" in frame:
        check |= frame["clip"].astype(str).str.lower().str.contains(ATTENTION.lower())
    if check.any():
        frame.loc[check, ["left", "right"]] = ATTENTION
    return frame


def _malformed(frame, written, scale, first):
    """Rows that cannot be used, by index: the line of the file and why; the first reason of each row."""
    import pandas as pd

    found = []
    if "responseCount" in frame:
        count = pd.to_numeric(frame.responseCount, errors="coerce")
        frame["responseCount"] = count
        found.append(((count >= 0) & (count % 1 == 0), "responseCount must be 0, 1, 2, ..."))
    if scale.cuts:
        expected = f"a number from {min(scale.answers):g} to {max(scale.answers):g}"
    else:
        expected = ", ".join(map(str, scale.answers[:-1])) + f" or {scale.answers[-1]}"
    found.insert(0, (frame.choice.notna(), f"choice must be {expected}"))
    filled = (frame[["userID", "left", "right"]] != "").all(axis=1)
    found.append((filled, "userID, left and right must not be empty"))
    found.append(((frame.left != frame.right) | (frame.left == ATTENTION), "left and right are the same system"))
    if "responseCount" in frame:
        again = frame.duplicated(["userID", "responseCount"])
        found.append((~again, "this user answered this responseCount before"))
    reason = pd.Series("", index=frame.index, dtype=object)
    for good, words in reversed(found):
        reason[~good] = words
    wrong = reason[reason != ""]
    return pd.DataFrame(
        {"line": wrong.index + first, "reason": wrong, "choice": written[wrong.index]}, index=wrong.index
    )


class Scored(NamedTuple):
    """The answers that count, and how many people and answers each rule left (a data frame)."""

    answers: object
    flow: object


def exclude(responses, *, least_answers: int = 18, calibration: int = 2, attention_choice: int = 2) -> Scored:
    """The published exclusions, in the published order (StayStill, section 4.3.1 and its analysis script).

    People who fail any attention check (whose right answer is ``attention_choice``) leave whole; the calibration pairs
    are dropped; people with fewer than ``least_answers`` answers left, attention checks still counted, leave; then the
    checks go. For a study with rules of its own, ``least_answers=0, calibration=0`` keeps all but failed checks.

    Raises
    ------
    ValueError
        When calibration pairs are to be dropped and no ``responseCount`` says which they are.
    """
    import pandas as pd

    if calibration and "responseCount" not in responses:
        raise ValueError(
            "responses: no column responseCount, so calibration pairs cannot be told; calibration=0 keeps all answers"
        )
    steps = [("all answers", responses)]
    checks = responses[responses.left == ATTENTION]
    failed = set(checks.userID[checks.choice != attention_choice])
    rest = responses[~responses.userID.isin(failed)]
    steps.append(("people who failed an attention check left out", rest))
    if calibration:
        rest = rest[rest.responseCount >= calibration]
    steps.append(("calibration pairs left out", rest))
    counts = rest.userID.value_counts()
    rest = rest[rest.userID.isin(counts.index[counts >= least_answers])]
    steps.append((f"people with fewer than {least_answers} answers left out", rest))
    rest = rest[rest.left != ATTENTION]
    steps.append(("attention checks left out: scored", rest))
    flow = pd.DataFrame(
        [(name, part.userID.nunique(), len(part)) for name, part in steps], columns=["step", "people", "answers"]
    ).set_index("step")
    flow["people_out"] = -flow.people.diff().fillna(0).astype(int)
    flow["answers_out"] = -flow.answers.diff().fillna(0).astype(int)
    return Scored(rest.reset_index(drop=True), flow)
