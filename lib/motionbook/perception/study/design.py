"""Who sees what, where and when: one plan for all people of a study, made from a seed and told by a hash.

A plan is plain data that goes into the page, the receiver and the merged table alike:

``version``, ``design`` ("pairs" or "dsis"), ``seed``, ``rule`` (the attention checks' right answer, in words),
``people`` (one entry per place in the study: ``group`` and ``trials``) and ``hash``. A trial has ``kind`` (training,
calibration, practice, attention or scored), ``left`` and ``right`` as they go into the table, ``clip``, ``videos`` (the
stimuli shown left and right), ``count`` (its number in the table, None where it is not rated) and, where there is
one, the ``expected`` answer.
"""

import hashlib
import itertools
import json
from collections import Counter

import numpy as np

from motionbook.perception.responses import ATTENTION

REFERENCE = "reference"
CHOICES = {"pairs": (-2, -1, 0, 1, 2), "dsis": (1, 2, 3, 4, 5)}
# the ratings' direction, in the words that the reader of ratings understands: 1 imperceptible, 5 very annoying
SCALE = "1..5, best 1"
# the pair check is passed by a clear preference for the right, as in the published answers
EXPECTED = {"pairs": 2, "dsis": 4}


def plan_hash(plan: dict) -> str:
    """SHA-256 of a plan without its hash, in one fixed spelling."""
    bare = {name: value for name, value in plan.items() if name != "hash"}
    text = json.dumps(bare, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _finish(plan: dict) -> dict:
    for person in plan["people"]:
        counts = itertools.count()
        for trial in person["trials"]:
            trial["count"] = None if trial["kind"] == "training" else next(counts)
    return plan | {"hash": plan_hash(plan)}


def _trial(kind: str, left: str, right: str, clip: str, videos: tuple[str, str], expected: int | None = None) -> dict:
    made = {"kind": kind, "left": left, "right": right, "clip": clip, "videos": list(videos)}
    return made if expected is None else made | {"expected": expected}


def _with_checks(trials: list[dict], checks: list[dict], rng) -> list[dict]:
    """Attention checks among the scored trials: the first in the early third, the last in the late third."""
    n = len(trials)
    edges = [(n * i // max(len(checks), 1), n * (i + 1) // max(len(checks), 1)) for i in range(len(checks))]
    if len(checks) == 2:
        edges = [(min(1, n), max(n // 3, min(1, n))), (n - max(n // 3, min(1, n)), max(n - 1, n - n // 3))]
    places = [int(rng.integers(low, high + 1)) for low, high in edges]
    trials = list(trials)
    for place, check in sorted(zip(places, checks, strict=True), key=lambda pair: -pair[0]):
        trials.insert(place, check)
    return trials


def _pair_name(system: str, clip: str) -> str:
    return f"{system}/{clip}"


def default_calibration(systems) -> list[tuple[str, str]]:
    """The two published calibration pairs, by position (noise against ground truth, ground truth against SLERP).

    Where a study has other systems, its first stands for the ground truth and its last two for the others.
    """
    first = "GT" if "GT" in systems else systems[0]
    rest = [name for name in systems if name != first]
    noise = "NOISE" if "NOISE" in rest else rest[-1]
    other = "SLERP" if "SLERP" in rest else next((name for name in reversed(rest) if name != noise), noise)
    return [(noise, first), (first, other)]


def pair_plan(
    systems,
    clips,
    people: int,
    *,
    seed: int = 0,
    scored: int = 16,
    checks: int = 2,
    calibration=None,
    training: int = 1,
) -> dict:
    """A plan of pairwise preferences (StayStill, section 4.3.1): balanced, incomplete, counterbalanced.

    Over all people every pair of systems is shown equally often (to one), each side of it equally often (to one), and
    every clip of it before any clip of it comes again; the two videos of a trial show the same clip. Nobody sees a clip
    twice among the scored trials while there are others. The calibration pairs are the same for all.

    Parameters
    ----------
    systems, clips : sequence of str
        Every system has every clip.
    people : int
        Places in the study.
    seed : int
    scored, checks, training : int
        Trials of each kind; with two calibration pairs the published study has 2 + 2 + 16.
    calibration : list of (left, right), optional
        Systems of the fixed first pairs; ``default_calibration`` when left out.
    """
    systems, clips = [str(name) for name in systems], [str(name) for name in clips]
    if len(set(systems)) != len(systems) or len(systems) < 2:
        raise ValueError(f"systems: expected at least two different names, got {systems}")
    if not clips or len(set(clips)) != len(clips):
        raise ValueError(f"clips: expected different names, got {clips}")
    if people < 1 or scored < 1 or checks < 0 or training < 0:
        raise ValueError(
            f"expected people and scored of 1 or more, got {people} and {scored}; checks, training 0 or more"
        )
    calibration = default_calibration(systems) if calibration is None else [tuple(pair) for pair in calibration]
    unknown = {name for pair in calibration for name in pair} - set(systems)
    if unknown:
        raise ValueError(f"calibration: no system {', '.join(sorted(unknown))}; there are {', '.join(systems)}")
    rng = np.random.default_rng(seed)
    rounds = _rounds(list(itertools.combinations(systems, 2)), rng)
    cells, shown, lefts, sides = Counter(), Counter(), Counter(), Counter()
    order = {clip: i for i, clip in enumerate(rng.permutation(clips))}
    made = []
    for _ in range(people):
        trials, seen = [], Counter()
        for pair in itertools.islice(rounds, scored):
            clip = min(clips, key=lambda c: (seen[c], cells[pair, c], shown[c], order[c]))
            a, b = pair
            # the side shown less often goes left: of this pair, then of this pair and clip, then of the system
            even = [lefts[pair, a] - lefts[pair, b], lefts[pair, clip, a] - lefts[pair, clip, b], sides[a] - sides[b]]
            first = next((d for d in even if d), rng.choice([-1, 1]))
            left, right = (a, b) if first < 0 else (b, a)
            for key in ((pair, left), (pair, clip, left)):
                lefts[key] += 1
            sides.update({left: 1, right: -1})
            seen[clip], cells[pair, clip], shown[clip] = seen[clip] + 1, cells[pair, clip] + 1, shown[clip] + 1
            trials.append(_trial("scored", left, right, clip, (_pair_name(left, clip), _pair_name(right, clip))))
        trials = [trials[i] for i in rng.permutation(len(trials))]
        quiet = calibration[0][1] if calibration else systems[0]
        tests = [
            _trial("attention", ATTENTION, ATTENTION, clip, (_pair_name(quiet, clip),) * 2, EXPECTED["pairs"])
            for clip in rng.choice(clips, checks, replace=checks > len(clips))
        ]
        fixed = [_fixed("training", pair, clips, -1 - i) for i, pair in enumerate(_first(calibration, training))]
        fixed += [_fixed("calibration", pair, clips, i) for i, pair in enumerate(calibration)]
        made.append({"group": "", "trials": fixed + _with_checks(trials, tests, rng)})
    rule = "people who do not choose 2 (video 2, clear preference) in every attention check leave"
    plan = {"version": 1, "design": "pairs", "seed": seed, "rule": rule, "systems": systems, "clips": clips}
    return _finish(plan | {"people": made})


def _first(pairs, count: int) -> list:
    return list(itertools.islice(itertools.cycle(pairs), count)) if pairs else []


def _fixed(kind: str, pair, clips, index: int) -> dict:
    clip = clips[index % len(clips)]
    return _trial(kind, *pair, clip, tuple(_pair_name(system, clip) for system in pair))


def _rounds(pairs: list, rng):
    """All pairs in a random order, then in another, for ever; a round may not start with the pair that ended one."""
    last = None
    while True:
        order = [pairs[i] for i in rng.permutation(len(pairs))]
        if len(pairs) > 1 and order[0] == last:
            order = order[1:] + order[:1]
        last = order[-1]
        yield from order


def rating_plan(
    stimuli: dict[str, str],
    people: int,
    *,
    seed: int = 0,
    scored: int | None = None,
    checks: int = 2,
    training=(),
    practice=(),
    extra: dict[str, str] | None = None,
    groups: dict[str, str] | None = None,
) -> dict:
    """A plan of DSIS ratings (4DHumanQA, section V): reference left, distorted right, in random order.

    No source comes twice in a row. With ``scored`` below the number of stimuli each person rates a part, and all
    stimuli of a group are rated equally often (to one) over its people.

    Parameters
    ----------
    stimuli : dict of item -> source
        The distorted stimuli and the reference each is held against.
    people : int
    seed : int
    scored : int, optional
        Ratings per person; all stimuli of the person's group when left out.
    checks : int
        Attention checks.
    training : sequence of (item, score)
        Stimuli shown first together with the score proposed for them, the same for all.
    practice : sequence of items
        Then rated to get used to the scale, the same for all; not counted.
    extra : dict of item -> source, optional
        Those of training and practice that are not among ``stimuli``.
    groups : dict of source -> group, optional
        A factor between people (the motion, say): each person sees one group's sources only, groups in turn.
    """
    if not stimuli or people < 1:
        raise ValueError(f"expected stimuli and 1 person or more, got {len(stimuli)} stimuli and {people} people")
    groups, known = groups or {}, stimuli | (extra or {})
    unknown = {*practice, *(item for item, _ in training)} - set(known)
    if unknown:
        raise ValueError(f"training and practice: no stimulus {', '.join(sorted(unknown))}")
    names = sorted({groups.get(source, "") for source in stimuli.values()})
    rng, used, made = np.random.default_rng(seed), Counter(), []
    for slot in range(people):
        group = names[slot % len(names)]
        own = sorted(item for item, source in stimuli.items() if groups.get(source, "") == group)
        chosen = own
        if scored is not None:
            if not 1 <= scored <= len(own):
                raise ValueError(f"scored: expected 1 to {len(own)}, the stimuli of group {group!r}, got {scored}")
            luck = rng.random(len(own))
            chosen = sorted(own, key=lambda item: (used[item], luck[own.index(item)]))[:scored]
        used.update(chosen)
        ratings = [
            _trial("scored", REFERENCE, item, stimuli[item], (_pair_name(REFERENCE, stimuli[item]), item))
            for item in _apart(chosen, stimuli, rng)
        ]
        sources = sorted({stimuli[item] for item in own})
        tests = [
            _trial("attention", ATTENTION, ATTENTION, source, (_pair_name(REFERENCE, source),) * 2, EXPECTED["dsis"])
            for source in rng.choice(sources, checks, replace=checks > len(sources))
        ]
        first = [_rating("training", item, known, score) for item, score in training]
        first += [_rating("practice", item, known) for item in practice]
        made.append({"group": group, "trials": first + _with_checks(ratings, tests, rng)})
    rule = f"people who do not give {EXPECTED['dsis']} in every attention check leave"
    plan = {"version": 1, "design": "dsis", "seed": seed, "rule": rule, "stimuli": stimuli}
    return _finish(plan | {"scale": SCALE, "people": made})


def _rating(kind: str, item: str, stimuli: dict, expected: int | None = None) -> dict:
    return _trial(kind, REFERENCE, item, stimuli[item], (_pair_name(REFERENCE, stimuli[item]), item), expected)


def _apart(items, source_of: dict, rng) -> list:
    """The items in a random order in which no source comes twice in a row."""
    left = {}
    for item in rng.permutation(items):
        left.setdefault(source_of[item], []).append(str(item))
    most = max(left, key=lambda source: len(left[source]))
    if len(left[most]) > (len(items) + 1) // 2:
        raise ValueError(
            f"{len(left[most])} of {len(items)} stimuli have the source {most}: no order keeps them apart; "
            "rate more sources, or fewer stimuli of this one"
        )
    made, last = [], None
    for rest in range(len(items), 0, -1):
        # a source that fills every second place of what remains must come now
        forced = [s for s, rows in left.items() if s != last and len(rows) > rest // 2]
        free = forced or [s for s, rows in left.items() if rows and s != last]
        weights = np.array([len(left[s]) for s in free], dtype=float)
        last = free[int(rng.choice(len(free), p=weights / weights.sum()))]
        made.append(left[last].pop())
    return made
