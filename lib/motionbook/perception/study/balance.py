"""How even a plan is: how often every pair, side, system, clip or stimulus is shown."""

import itertools
import json
from collections import Counter
from pathlib import Path

from motionbook.perception.study.design import plan_hash


def read_plan(path: str | Path) -> dict:
    """A plan from ``plan.json`` or from the folder of a study; ValueError when its hash does not fit."""
    path = Path(path)
    path = path / "plan.json" if path.is_dir() else path
    if not path.is_file():
        raise ValueError(f"{path}: no plan there; `motionbook study build` writes plan.json beside the page")
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not a plan ({error})") from None
    if not isinstance(plan, dict) or plan.get("hash") != plan_hash(plan):
        raise ValueError(f"{path}: not a plan whose hash fits; it was changed after it was made")
    return plan


def balance(plan: dict) -> dict:
    """Tables of how often things are shown in the scored trials, as data frames by name.

    ``pairs`` (``first left``, ``second left``, ``shown``, ``clips``) or ``stimuli`` (``rated``), ``systems`` (``left``,
    ``right``, ``shown``) for pairs, ``clips`` (``shown``), and ``places`` (first and last position of attention
    checks; longest run of one source).
    """
    import pandas as pd

    scored = [trial for person in plan["people"] for trial in person["trials"] if trial["kind"] == "scored"]
    shown = Counter(trial["clip"] for trial in scored)
    tables = {"clips": pd.DataFrame({"shown": pd.Series(shown, dtype=int)}).sort_index().rename_axis("clip")}
    if plan["design"] == "pairs":
        rows = {}
        for trial in scored:
            pair = tuple(sorted((trial["left"], trial["right"])))
            row = rows.setdefault(" - ".join(pair), {"first left": 0, "second left": 0, "shown": 0, "of": Counter()})
            row["first left" if trial["left"] == pair[0] else "second left"] += 1
            row["shown"] += 1
            row["of"][trial["clip"]] += 1
        tables["pairs"] = pd.DataFrame(
            {
                name: {
                    **{key: value for key, value in row.items() if key != "of"},
                    "clips": len(row["of"]),
                    "least per clip": min(row["of"].get(clip, 0) for clip in plan["clips"]),
                    "most per clip": max(row["of"].values()),
                }
                for name, row in sorted(rows.items())
            }
        ).T.rename_axis("pair")
        left, right = (Counter(trial[side] for trial in scored) for side in ("left", "right"))
        tables["systems"] = pd.DataFrame(
            {"left": left, "right": right, "shown": left + right}, index=plan["systems"]
        ).rename_axis("system")
    else:
        rated = Counter(trial["right"] for trial in scored)
        tables["stimuli"] = pd.DataFrame({"rated": pd.Series(rated, dtype=int)}).sort_index().rename_axis("stimulus")
    tables["places"] = pd.DataFrame(
        [_places(person) for person in plan["people"]],
        index=pd.RangeIndex(len(plan["people"]), name="place"),
    )
    return tables


def _places(person: dict) -> dict:
    trials = [trial for trial in person["trials"] if trial["count"] is not None]
    checks = [trial["count"] for trial in trials if trial["kind"] == "attention"]
    clips = [trial["clip"] for trial in trials if trial["kind"] == "scored"]
    run = longest = 1
    for before, after in itertools.pairwise(clips):
        run = run + 1 if before == after else 1
        longest = max(longest, run)
    return {
        "group": person["group"],
        "rated trials": len(trials),
        "scored": len(clips),
        "first check": min(checks, default=-1),
        "last check": max(checks, default=-1),
        "most of one clip": max(Counter(clips).values()),
        "longest run of one clip": longest,
    }


def balance_text(plan: dict) -> str:
    """The balance of a plan for reading: one line per pair and system, ranges for the rest."""
    tables = balance(plan)
    places, clips = tables["places"], tables["clips"].shown
    lines = [
        f"plan {plan['hash'][:16]}: {plan['design']}, seed {plan['seed']}, {len(places)} places, "
        f"{_range(places['rated trials'])} rated trials each ({_range(places.scored)} scored)",
        f"rule: {plan['rule']}",
        "",
    ]
    if plan["design"] == "pairs":
        lines += [tables["pairs"].to_string(), "", tables["systems"].to_string(), ""]
        lines.append(f"each of {len(clips)} clips: {_range(clips)} times; one person sees a clip at most "
                     f"{places['most of one clip'].max()} times")  # fmt: skip
    else:
        rated = tables["stimuli"].rated
        lines += [
            f"each of {len(rated)} stimuli: {_range(rated)} ratings; each of {len(clips)} sources: {_range(clips)}"
        ]
        lines += [f"longest run of one source: {places['longest run of one clip'].max()}"]
        if (places.group != "").any():
            lines.append("; ".join(f"group {name}: {n} places" for name, n in places.group.value_counts().items()))
    lines.append(
        f"attention checks: first at trial {_range(places['first check'])}, last at {_range(places['last check'])}"
    )
    return "\n".join(lines)


def _range(values) -> str:
    low, high = int(min(values)), int(max(values))
    return str(low) if low == high else f"{low} to {high}"
