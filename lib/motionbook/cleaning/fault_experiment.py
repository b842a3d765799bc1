"""Which faults does a rule find, what does it remove besides: an experiment with faults whose frames are known.

Kinds, sizes, places, limbs and directions follow from a seed. No fault is put where a rule already removes frames of
the untouched clip, so that nothing is found by accident.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from motionbook.cleaning.fault_records import Faults, runs
from motionbook.cleaning.faults import find_faults
from motionbook.cleaning.injection import KINDS, Event, break_clip, faulty_frames, size_words
from motionbook.clip import Clip


def _published(clip: Clip) -> Faults:
    return find_faults(clip, method="published")


RULES: Mapping[str, Callable[[Clip], Faults]] = {"published": _published, "robust": find_faults}


def fault_experiment(
    clips: Sequence[Clip],
    seed: int,
    *,
    kinds: Sequence[str] = tuple(KINDS),
    rules: Mapping[str, Callable[[Clip], Faults]] = RULES,
    every_seconds: float = 12.0,
):
    """Break every clip once per kind of fault and let every rule look for it.

    Parameters
    ----------
    clips : sequence of Clip
    seed : int
    kinds : sequence of str
        Of `motionbook.cleaning.injection.KINDS`.
    rules : mapping
        Name -> function from a clip to its Faults.
    every_seconds : float
        One fault in so many seconds.

    Returns
    -------
    pandas.DataFrame
        One row per kind, size and rule: ``events``, ``found`` (events that a fault of the rule overlaps), ``faulty``
        and ``faulty removed`` (frames). Rows with size NaN hold what cannot be told by size: ``stretches`` that the
        rule calls bad, ``right`` of them (overlapping an event), ``good`` and ``good removed`` (frames), all in the
        broken clips of the kind. Rows of the kind "none": the untouched clips.
    """
    import pandas as pd

    rows: dict[tuple, dict] = {}

    def add(kind, size, rule, **counts):
        row = rows.setdefault((kind, size, rule), {})
        for name, count in counts.items():
            row[name] = row.get(name, 0) + int(count)

    for number, clip in enumerate(clips):
        avoid = np.zeros(len(clip), dtype=bool)
        for rule, find in rules.items():
            faults = find(clip)
            bad = _bad(faults)
            avoid |= bad
            add(
                "none",
                np.nan,
                rule,
                stretches=len(runs(bad)),
                right=0,
                good=len(clip),
                **{"good removed": faults.removed},
            )
        for place, kind in enumerate(KINDS):
            if kind not in kinds:
                continue
            rng = np.random.default_rng([seed, number, place])
            broken, events = break_clip(clip, kind, rng, every_seconds=every_seconds, avoid=avoid)
            truth = faulty_frames(events, len(clip))
            for rule, find in rules.items():
                _score(add, kind, rule, find(broken), events, truth)
    return pd.DataFrame([dict(zip(("kind", "size", "rule"), key, strict=True)) | row for key, row in rows.items()])


def _bad(faults: Faults) -> np.ndarray:
    bad = np.zeros(faults.frames, dtype=bool)
    for fault in faults.faults:
        bad[fault.start : fault.stop] = True
    return bad


def _score(add, kind: str, rule: str, faults: Faults, events: Sequence[Event], truth: np.ndarray) -> None:
    bad, removed = _bad(faults), faults.removed_mask()
    for event in events:
        span = slice(event.start, event.stop)
        add(
            kind,
            event.size,
            rule,
            events=1,
            found=bad[span].any(),
            faulty=event.stop - event.start,
            **{"faulty removed": removed[span].sum()},
        )
    stretches = runs(bad)
    add(
        kind,
        np.nan,
        rule,
        stretches=len(stretches),
        right=sum(truth[start:stop].any() for start, stop in stretches),
        good=(~truth).sum(),
        **{"good removed": (removed & ~truth).sum()},
    )


def recall_table(scores):
    """Percent of events found and of faulty frames removed, by kind and size, the rules side by side.

    Parameters
    ----------
    scores : pandas.DataFrame
        Of `fault_experiment`.
    """
    import pandas as pd

    sized = scores[scores["size"].notna()]
    rules = list(dict.fromkeys(sized["rule"]))
    rows = {}
    for kind in dict.fromkeys(sized["kind"]):
        for size in KINDS[kind].sizes:
            here = sized[(sized["kind"] == kind) & (sized["size"] == size)]
            if len(here):
                rows[kind, size_words(kind, size)] = _shares(here, rules)
    rows["all", ""] = _shares(sized, rules)
    frame = pd.DataFrame.from_dict(rows, orient="index")
    frame.index = pd.MultiIndex.from_tuples(frame.index, names=["kind", "size"])
    return frame.astype({"events": int})


def _shares(scores, rules) -> dict:
    row = {"events": scores[scores["rule"] == rules[0]]["events"].sum()}
    for rule in rules:
        own = scores[scores["rule"] == rule]
        row[f"{rule}: found [%]"] = 100 * own["found"].sum() / own["events"].sum()
    for rule in rules:
        own = scores[scores["rule"] == rule]
        row[f"{rule}: faulty frames removed [%]"] = 100 * own["faulty removed"].sum() / own["faulty"].sum()
    return row


def precision_table(scores):
    """By kind: recall and precision of events and of frames, and percent of good frames that are removed with them.

    Precision counts as wrong whatever was not put in, also true faults that a recording had before. The row "none" has
    the untouched clips, in which whatever is removed counts as lost.

    Returns
    -------
    pandas.DataFrame
        Columns are pairs (quantity, rule), all in percent.
    """
    import pandas as pd

    rules = list(dict.fromkeys(scores["rule"]))
    kinds = [kind for kind in dict.fromkeys(scores["kind"]) if kind != "none"]
    groups = {**{kind: scores[scores["kind"] == kind] for kind in kinds}, "all": scores[scores["kind"] != "none"]}
    groups["none"] = scores[scores["kind"] == "none"]
    rows = {
        name: {
            (quantity, rule): value
            for rule in rules
            for quantity, value in _quantities(here[here["rule"] == rule], clean=name == "none").items()
        }
        for name, here in groups.items()
    }
    columns = [(quantity, rule) for quantity in QUANTITIES for rule in rules]
    frame = pd.DataFrame.from_dict(rows, orient="index")[columns].rename_axis("kind")
    frame.columns = pd.MultiIndex.from_tuples(columns)
    return frame


QUANTITIES = ("events found", "stretches right", "faulty frames removed", "removed frames faulty", "good frames lost")


def _quantities(scores, clean: bool) -> dict[str, float]:
    names = ["events", "found", "stretches", "right", "faulty", "faulty removed", "good", "good removed"]
    n = scores.reindex(columns=names).sum()
    removed = n["faulty removed"] + n["good removed"]
    shares = (
        (n["found"], n["events"]),
        (n["right"], n["stretches"]),
        (n["faulty removed"], n["faulty"]),
        (n["faulty removed"], removed),
        (n["good removed"], n["good"]),
    )
    return {
        quantity: 100 * part / whole if whole and not (clean and quantity != "good frames lost") else float("nan")
        for quantity, (part, whole) in zip(QUANTITIES, shares, strict=True)
    }
