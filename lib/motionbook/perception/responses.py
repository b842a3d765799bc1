"""Answers of a pairwise study: one table, read once, checked once, and the published exclusion rules."""

from pathlib import Path
from typing import NamedTuple

COLUMNS = ("userID", "responseCount", "left", "right", "choice")
ATTENTION = "attentionCheck"


def read_responses(path: str | Path):
    """The answers of a study as a data frame.

    Columns (StayStill's own names): ``userID``, ``responseCount`` (0 and 1 are the calibration pairs), ``left`` and
    ``right`` (systems; both ``attentionCheck`` for a check), ``choice`` (-2 clear and -1 slight preference for the
    left, 0 none, 1 and 2 for the right). Others, such as ``clip``, ``language``, ``gender``, ``age``, are kept.

    Raises
    ------
    ValueError
        Naming the file, and the column or the lines that are wrong.
    """
    import pandas as pd

    path = Path(path)
    frame = pd.read_csv(path, dtype={"userID": str, "left": str, "right": str}, keep_default_na=False)
    missing = [name for name in COLUMNS if name not in frame]
    if missing:
        raise ValueError(f"{path}: no column {', '.join(missing)}; it has {', '.join(frame.columns)}")
    for name in ("choice", "responseCount"):
        values = pd.to_numeric(frame[name], errors="coerce")
        allowed = values.isin([-2, -1, 0, 1, 2]) if name == "choice" else (values >= 0) & (values % 1 == 0)
        if not allowed.all():
            # the header is line 1
            lines = ", ".join(str(i + 2) for i in frame.index[~allowed][:5])
            expected = "-2, -1, 0, 1 or 2" if name == "choice" else "0, 1, 2, ..."
            raise ValueError(f"{path}, line {lines}: {name} must be {expected}")
        frame[name] = values.astype(int)
    empty = (frame[["userID", "left", "right"]] == "").any(axis=1)
    if empty.any():
        raise ValueError(f"{path}, line {frame.index[empty][0] + 2}: userID, left and right must not be empty")
    return frame


class Scored(NamedTuple):
    """The answers that count, and how many people and answers each rule left (a data frame)."""

    answers: object
    flow: object


def exclude(responses, *, least_answers: int = 18, calibration: int = 2) -> Scored:
    """The published exclusions, in the published order (StayStill, section 4.3.1 and its analysis script).

    People who fail any attention check (whose right answer is +2) leave whole; the calibration pairs are dropped;
    people with fewer than ``least_answers`` answers left, attention checks still counted, leave; then the checks go.
    """
    import pandas as pd

    steps = [("all answers", responses)]
    checks = responses[responses.left == ATTENTION]
    failed = set(checks.userID[checks.choice != 2])
    rest = responses[~responses.userID.isin(failed)]
    steps.append(("people who failed an attention check left out", rest))
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
    return Scored(rest.reset_index(drop=True), flow)
