"""Is it the data set that the paper counts? Table 3 of a folder from its headers, held against the printed one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from motionbook.bvh.header import frame_rate
from motionbook.cleaning.summary import TOTALS
from motionbook.data.layouts import DataSet
from motionbook.data.published import published_item

TABLE = "staystill_table3"
COLUMNS = ("Frames", "Duration", "Clips")
_FRAMES = re.compile(rb"^\s*frames\s*:\s*(\d+)", re.IGNORECASE | re.MULTILINE)
_FRAME_TIME = re.compile(rb"^\s*frame\s+time\s*:\s*(\S+)", re.IGNORECASE | re.MULTILINE)
_LONGEST_HEAD = 1 << 22


def listed_takes(dataset: DataSet, removed: Mapping[tuple[str, str], Sequence[tuple[int, int]]] | None = None):
    """What `motionbook.cleaning.summary.motion_table` counts, from the heads of the files alone.

    Parameters
    ----------
    dataset : DataSet
        Of `motionbook.data.layouts.open_dataset`.
    removed : mapping, optional
        Inclusive ranges by clip (`motionbook.cleaning.faults.read_annotations`) whose frames do not count.

    Returns
    -------
    list of dict
        clip (person, label and take; pieces of one take have one name), subject, group, label, frames, fps.
    """
    takes = []
    for clip in dataset.clips:
        frames, fps = declared_size(clip.path)
        name = "_".join(part for part in (clip.subject, clip.label, clip.take) if part)
        key = (clip.subject, "_".join(part for part in (clip.label, clip.take, clip.piece) if part))
        gone = {f for first, last in (removed or {}).get(key, ()) for f in range(first, min(last, frames - 1) + 1)}
        about = {"clip": name, "subject": clip.subject, "group": clip.group, "label": clip.label}
        takes.append({**about, "frames": frames - len(gone), "fps": float(clip.read.get("fps", fps))})
    return takes


def declared_size(path: str | Path) -> tuple[int, float]:
    """Frames and frames per second that a BVH file's head declares.

    Raises
    ------
    ValueError
        When it declares none.
    """
    head = b""
    with open(path, "rb") as file:
        while len(head) < _LONGEST_HEAD and (chunk := file.read(1 << 14)):
            head += chunk
            frames, time = _FRAMES.search(head), _FRAME_TIME.search(head)
            # the number must have ended, lest half of it is read
            if frames and time and time.end() < len(head):
                break
    if not (frames and time):
        raise ValueError(f"{path}: expected the lines 'Frames:' and 'Frame Time:' at its head, found no such line")
    fps = frame_rate(time.group(1).decode("ascii", "replace"))
    if fps is None:
        raise ValueError(f"{path}: expected a positive frame time, got {time.group(1)!r}")
    return int(frames.group(1)), fps


def published_check(table):
    """Every cell of the published Table 3 beside a data set's own.

    Parameters
    ----------
    table : pandas.DataFrame
        Of `motionbook.cleaning.summary.motion_table`.

    Returns
    -------
    pandas.DataFrame
        row, column, published, here (missing: ""), equal. "Sum of the actions" holds the own rows' sum against the
        printed total; "All parts", which has no printed total, the own three parts' against the printed parts'. A row
        that the paper does not have is listed with an empty published cell.
    """
    import pandas as pd

    published = published_item(TABLE)
    rows = []
    for row in published.rows:
        for column in COLUMNS:
            cell = published.cells[row, column]
            printed = cell.printed if column == "Duration" else int(cell.value)
            rows.append((row, column, printed, table.at[row, column] if row in table.index else ""))
    actions = [row for row in published.rows if row.startswith("Action: ")]
    for name, printed_rows, own in (("Sum of the actions", TOTALS[:1], actions), ("All parts", TOTALS, TOTALS)):
        for column in ("Frames", "Clips"):
            printed = sum(int(published.cells[row, column].value) for row in printed_rows)
            rows.append((name, column, printed, int(table.loc[table.index.intersection(own), column].sum())))
    for row in table.index.difference(list(published.rows)):
        rows += [(row, column, "", table.at[row, column]) for column in COLUMNS]
    frame = pd.DataFrame(rows, columns=["row", "column", "published", "here"])
    frame["equal"] = [a == b for a, b in zip(frame["published"], frame["here"], strict=True)]
    return frame


def differences(check) -> list[str]:
    """Where a `published_check` fails, one sentence each; empty when every row and total is the printed one."""
    wrong = check[~check["equal"]]
    return [f"{r.row}, {r.column}: {r.here or 'none'}, published {r.published or 'none'}" for r in wrong.itertuples()]


def folds_differ(folds: Iterable[Mapping], published: Iterable) -> list[int]:
    """Numbers, from 1, of the folds whose people are not those of the published ones (training, validation, test)."""
    ours = [tuple(frozenset(fold[part]) for part in ("train", "validation", "test")) for fold in folds]
    theirs = [tuple(map(frozenset, fold)) for fold in published]
    count = max(len(ours), len(theirs))
    return [i + 1 for i in range(count) if ours[i : i + 1] != theirs[i : i + 1]]
