"""From a folder of clips to a study that people can take part in."""

import re
from pathlib import Path
from typing import NamedTuple

from motionbook.perception.study.design import pair_plan, rating_plan
from motionbook.perception.study.site import SETTINGS, PageSettings, write_site
from motionbook.perception.study.stimuli import find_pairs, find_ratings, groups_of
from motionbook.perception.study.videos import LOOK, Look, make_videos

DESIGNS = ("pairs", "dsis")


class Study(NamedTuple):
    """A built study: its page, its plan and its films by stimulus."""

    page: Path
    plan: dict
    films: dict


def make_plan(
    clips: str | Path,
    design: str,
    *,
    people: int = 60,
    seed: int = 0,
    scored: int | None = None,
    checks: int = 2,
    systems=None,
    calibration=None,
    training: int | None = None,
    practice: int = 3,
    between: str = "",
):
    """The plan of a study of the clips in a folder, and the stimuli it shows.

    Parameters
    ----------
    clips : folder
        As ``stimuli.find_pairs`` or ``stimuli.find_ratings`` reads it.
    design : "pairs" or "dsis"
    people : int
        Places in the study.
    seed : int
    scored : int, optional
        Scored trials per person: 16, or all stimuli of a rating study.
    checks : int
        Attention checks per person.
    systems, calibration : optional
        For pairs: which systems, and the fixed first pairs (``design.pair_plan``).
    training : int, optional
        Trials that are not counted: 1 for pairs; for ratings 5, one per strength, with a proposed score.
    practice : int
        For ratings: then rated without counting.
    between : str
        For ratings: a regular expression whose bracket finds a source's group; every person sees one group.

    Returns
    -------
    plan : dict, stimuli : tuple of Stimulus
    """
    if design not in DESIGNS:
        raise ValueError(f"design: expected one of {', '.join(DESIGNS)}, got {design!r}")
    if design == "pairs":
        found = find_pairs(clips, systems=systems)
        plan = pair_plan(
            found.systems,
            found.clips,
            people,
            seed=seed,
            scored=16 if scored is None else scored,
            checks=checks,
            calibration=calibration,
            training=1 if training is None else training,
        )
        return plan, found.files
    found = find_ratings(clips)
    shown, proposed = _first_trials(found, 5 if training is None else training, practice)
    plan = rating_plan(
        found.source_of,
        people,
        seed=seed,
        scored=scored,
        checks=checks,
        training=proposed,
        practice=shown,
        extra=found.extra,
        groups=groups_of({*found.source_of.values()}, between) if between else None,
    )
    return plan, found.files


def _first_trials(found, training: int, practice: int):
    """Items to practise on, and (item, proposed score) to show before: the strengths in order, one each.

    They come from the training folder; where it holds too few, from the stimuli that are rated later.
    """
    pool = found.extra if len(found.extra) >= training + practice else found.source_of
    levels = sorted(set(found.strength_of[item] for item in pool), key=_natural)
    by_level = {level: sorted(item for item in pool if found.strength_of[item] == level) for level in levels}
    rounds = [by_level[level][k] for k in range(len(pool)) for level in levels if k < len(by_level[level])]
    score = {level: 1 + round(4 * i / max(len(levels) - 1, 1)) for i, level in enumerate(levels)}
    proposed = [(item, score[found.strength_of[item]]) for item in rounds[:training]]
    return rounds[training : training + practice], proposed


def _natural(text: str):
    return [(0, float(part), "") if part else (1, 0.0, word) for part, word in re.findall(r"(\d+\.?\d*)|(\D+)", text)]


def build_study(
    clips: str | Path,
    out: str | Path,
    design: str = "pairs",
    *,
    look: Look = LOOK,
    settings: PageSettings = SETTINGS,
    single: bool = False,
    pictures: bool | None = None,
    jobs: int | None = None,
    **options,
) -> Study:
    """Plan, films and page in the folder ``out``; ``options`` go to ``make_plan``.

    ``pictures`` adds every film's single frames for browsers that can play neither format; without a word they come
    with a page whose films are files, and not with a ``single`` one, which everybody would load them with.

    A second build with the same clips draws nothing again. Another seed or other clips are another plan, and answers of
    two plans are never merged.
    """
    out = Path(out)
    plan, files = make_plan(clips, design, **options)
    needed = {name for person in plan["people"] for trial in person["trials"] for name in trial["videos"]}
    scenes = {stimulus.scene for stimulus in files if stimulus.name in needed}
    # all clips of a scene set its camera, so that a smaller plan shows them no larger
    files = tuple(stimulus for stimulus in files if stimulus.scene in scenes)
    pictures = not single if pictures is None else pictures
    films = make_videos(files, out / "videos", look, pictures=pictures, jobs=jobs)
    return Study(write_site(out, plan, films, settings, single=single), plan, films)
