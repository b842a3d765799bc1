"""What a data set holds: StayStill's Tables 3 and 4 computed from a listing, and the balance of its folds."""

from collections.abc import Iterable, Mapping, Sequence

from motionbook.data.names import ACTION_LABELS

# Rows of Table 3 in its order, which is that of `motionbook.data.names.ACTION_LABELS`
ACTION_WORDS = (
    "look up/sky",
    "look around",
    "look down/floor",
    "look shoes",
    "check watch",
    "check phone",
    "scratch head",
    "scratch arm",
    "scratch leg",
    "scratch back",
    "touch face/chin",
    "stretch arms",
    "stretch back",
    "rub eyes",
    "yawn",
    "look back (left)",
    "look back (right)",
    "balance l/r",
    "balance r/l",
)
_ROW = dict(zip(ACTION_LABELS, ACTION_WORDS, strict=True))
TOTALS = ("Idle actions total", "General Idle", "Idle with a phone")
FILMED = "General Idle, filmed"
_TOTALS = {"idle": "General Idle", "phone": "Idle with a phone", "actions": "Idle actions total"}


def motion_row(group: str, label: str) -> str:
    """The row of Table 3 that a clip counts for; labels the table does not know get a row of their own words.

    The label ``FILMED``, which no data set has, is kept apart from other idle motion.
    """
    if group == "idle" and label == FILMED:
        return FILMED
    if group in ("idle", "phone"):
        return _TOTALS[group]
    other = label if group == "actions" else "Motion" if label == group else f"Motion: {label}"
    words = _ROW.get(label.lower().replace("-", "_"), other)
    return f"Action: {words}" if group == "actions" else words


def motion_rows(group: str, label: str) -> tuple[str, ...]:
    """The rows of Table 3 that a clip counts for, the total of the actions among them."""
    row = motion_row(group, label)
    return (row, _TOTALS["actions"]) if group == "actions" else (row,)


def group_name(group: str, label: str) -> str:
    """The part of the data set: the three totals of Table 3, or the row of any other motion."""
    return _TOTALS[group] if group in _TOTALS else motion_row(group, label)


def motion_order(names: Iterable[str]) -> list[str]:
    """Motion types in the order of Table 3, those it does not know between the actions and the totals."""
    names, published = set(names), [f"Action: {words}" for words in ACTION_WORDS]
    others = sorted(names - {*published, *TOTALS, FILMED})
    return [name for name in (*published, *others, *TOTALS, FILMED) if name in names]


def motion_table(clips: Iterable[Mapping]):
    """Table 3 of StayStill for any data set: frames, duration and clips by motion type, with totals.

    Parameters
    ----------
    clips : iterable of mappings
        ``takes`` of `motionbook.cleaning.dataset.Built` (as recorded, which is what the paper counts) or entries of
        ``dataset.json`` of one rig (after faults were cut; pieces of one take count as one clip): ``group``,
        ``label``, ``subject``, ``frames``, ``fps`` and ``clip``, ``source`` or ``path``.

    Returns
    -------
    pandas.DataFrame
        Indexed by motion type in the published order, only rows that occur; Frames, Duration (m:ss, seconds cut off
        as printed), Clips, Subjects.
    """
    import pandas as pd

    rows: dict[str, dict] = {}
    for clip in clips:
        for name in motion_rows(clip["group"], clip["label"]):
            row = rows.setdefault(name, {"frames": 0, "seconds": 0.0, "sources": set(), "people": set()})
            row["frames"] += clip["frames"]
            row["seconds"] += clip["frames"] / clip["fps"]
            row["sources"].add(next(clip[key] for key in ("clip", "source", "path") if key in clip))
            row["people"].add(clip["subject"])
    present = motion_order(rows)
    return pd.DataFrame(
        {
            "Frames": [rows[name]["frames"] for name in present],
            "Duration": [clock(rows[name]["seconds"]) for name in present],
            "Clips": [len(rows[name]["sources"]) for name in present],
            "Subjects": [len(rows[name]["people"]) for name in present],
        },
        index=pd.Index(present, name="Motion type"),
    )


def clock(seconds: float) -> str:
    """Seconds as m:ss or h:mm:ss, the fraction cut off as in the paper."""
    whole = int(seconds + 1e-6)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def fold_table(folds: Sequence[Mapping]):
    """Table 4 of StayStill: the subjects of each fold's training, validation and test set, numbers without zeros."""
    import pandas as pd

    def words(people):
        numbers = all(str(p).isdigit() for p in people)
        return " ".join(map(str, sorted(map(int, people)) if numbers else people))

    return pd.DataFrame(
        [[words(fold[part]) for part in ("train", "validation", "test")] for fold in folds],
        columns=["Train", "Validation", "Test"],
        index=pd.Index([str(i) for i in range(1, len(folds) + 1)], name="Split"),
    )


def fold_balance(folds: Sequence[Mapping], clips: Sequence[Mapping]):
    """How each fold divides people and frames, and whether every person is on one side only.

    Returns
    -------
    pandas.DataFrame
        Per fold: people, minutes and percent of frames in training, validation and test; ``disjoint``; ``tested
        elsewhere``, the number of test people that another fold tests too.
    """
    import pandas as pd

    frames: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for clip in clips:
        frames[clip["subject"]] = frames.get(clip["subject"], 0) + clip["frames"]
        seconds[clip["subject"]] = seconds.get(clip["subject"], 0.0) + clip["frames"] / clip["fps"]
    total = sum(frames.values())
    rows = []
    for fold in folds:
        others = {s for other in folds if other is not fold for s in other["test"]}
        row = {}
        for part in ("train", "validation", "test"):
            row[f"{part} people"] = len(fold[part])
            row[f"{part} minutes"] = sum(seconds.get(s, 0.0) for s in fold[part]) / 60
            row[f"{part} frames [%]"] = 100 * sum(frames.get(s, 0) for s in fold[part]) / total
        everyone = [s for part in ("train", "validation", "test") for s in fold[part]]
        row["disjoint"] = len(everyone) == len(set(everyone))
        row["tested elsewhere"] = len(others & set(fold["test"]))
        rows.append(row)
    return pd.DataFrame(rows, index=pd.Index([str(i) for i in range(1, len(folds) + 1)], name="Split"))


def dataset_numbers(clips: Sequence[Mapping], folds: Sequence[Mapping]):
    """The numbers of StayStill's sections 3.1.2 to 3.2.4 that a listing gives, one column ``value``."""
    import pandas as pd

    frames = {group: sum(c["frames"] for c in clips if c["group"] == group) for group in _TOTALS}
    total = sum(c["frames"] for c in clips)
    seconds = sum(c["frames"] / c["fps"] for c in clips)
    people = {c["subject"] for c in clips}
    rows = {"frames": total, "duration": clock(seconds)}
    names = {"actions": "idle actions frames", "idle": "general idle frames", "phone": "idle with a phone frames"}
    rows |= {names[group]: count for group, count in frames.items() if count}
    rows |= {"frame rate": f"{max(c['fps'] for c in clips):g}", "subjects": len(people)}
    classes = {c["label"] for c in clips if c["group"] == "actions"}
    if classes:
        rows["action classes"] = len(classes)
    if folds:
        for part in ("train", "validation", "test"):
            share = sum(len(fold[part]) for fold in folds) / sum(sum(map(len, fold.values())) for fold in folds)
            rows[f"{part} share"] = f"{100 * share:.0f}%"
    return pd.DataFrame({"value": pd.Series(rows, dtype=object)})


def fault_table(takes: Sequence[Mapping], most_rows: int = 20):
    """Percent of frames that the published and the robust fault rule remove, and that the data set lost.

    Parameters
    ----------
    takes : sequence of mappings
        ``takes`` of `motionbook.cleaning.dataset.Built`; only those in which a person waits count.
    most_rows : int
        One row per take up to this many, else one per subset; the last row is the whole.
    """
    import pandas as pd

    rows = _rows_of([take for take in takes if take["group"] in ("idle", "phone")], most_rows)
    share = {
        name: [
            sum(t["frames"] for t in part),
            100 * sum(t["published_removed"] for t in part) / sum(t["frames"] for t in part),
            100 * sum(t["robust_removed"] for t in part) / sum(t["frames"] for t in part),
            100 * sum(t["removed"] for t in part) / sum(t["frames"] for t in part),
        ]
        for name, part in rows.items()
    }
    columns = ["Frames", "published rule [%]", "robust rule [%]", "cut here [%]"]
    return pd.DataFrame.from_dict(share, orient="index", columns=columns).rename_axis("takes")


def retarget_table(takes: Sequence[Mapping], most_rows: int = 20):
    """What retargeting changed: direction of the worst bone, and how far planted feet slide before and after.

    Rows as in `fault_table`; the worst take of a row stands for its bones, the mean for its feet.
    """
    import pandas as pd

    rows = _rows_of(takes, most_rows)
    frame = pd.DataFrame(
        {
            name: {
                "takes": len(part),
                "worst bone [deg]": max(t["direction_error_deg"] for t in part),
                "slide before [%/s]": 100 * pd.Series([t["slide_source"] for t in part]).mean(),
                "slide after [%/s]": 100 * pd.Series([t["slide_result"] for t in part]).mean(),
            }
            for name, part in rows.items()
        }
    ).T
    return frame.rename_axis("takes of").astype({"takes": int})


def quality_summary(takes: Sequence[Mapping], most_rows: int = 20):
    """How fit the takes are as recorded: `motionbook.cleaning.clip_quality` per take or per subset.

    Rows as in `fault_table`. Foot skate, smoothness and penetration of a row are means over its takes, the deepest
    penetration and the bone change its largest.
    """
    import pandas as pd

    table = {}
    for name, part in _rows_of(takes, most_rows).items():
        quality = pd.DataFrame([take["quality"] for take in part])
        changes = quality.loc[quality["bone_change"].idxmax()]
        table[name] = {
            "takes": len(part),
            "foot skate [cm/s]": quality["foot_skate"].mean(),
            "planted [%]": 100 * quality["planted"].mean(),
            "LDLJ": quality["ldlj"].mean(),
            "penetration [% of frames]": 100 * quality["penetration"].mean(),
            "deepest [cm]": 100 * quality["depth"].max(),
            "bone change [%]": 100 * changes["bone_change"],
            "of": changes["bone"],
        }
    frame = pd.DataFrame.from_dict(table, orient="index").rename_axis("takes of")
    return frame.astype({"takes": int}) if len(frame) else frame


def _rows_of(takes: Sequence[Mapping], most_rows: int) -> dict[str, list[Mapping]]:
    """Takes by clip, by subset where they are more than ``most_rows``, and all of them."""
    by = "clip" if len(takes) <= most_rows else "group"
    rows: dict[str, list[Mapping]] = {}
    for take in takes:
        rows.setdefault(take[by], []).append(take)
    return rows | ({"all": list(takes)} if takes else {})
