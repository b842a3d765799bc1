"""Who is in training, validation and test: always whole people, never single clips.

StayStill publishes five folds of its 50 people (Table 4). Other data sets get folds of their own here.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

STAYSTILL_SUBJECTS = tuple(f"{number:02d}" for number in range(50))
_MISPRINT = ("50", "40")  # fold 3 tests a subject 50, which does not exist, and places 40 nowhere


class Fold(NamedTuple):
    """People of one fold, each part sorted."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]


LAFAN1_FOLD = Fold(("subject1", "subject2", "subject3", "subject4"), (), ("subject5",))
"""LaFAN1's authors train on four people, test on the fifth and validate on nobody."""


def published_folds(*, correct: bool = True) -> tuple[tuple[Fold, ...], tuple[str, ...]]:
    """The five folds of StayStill's Table 4, and notes on what was changed in them.

    Parameters
    ----------
    correct : bool
        Whether fold 3's subject 50 is read as 40, the only one of 0 to 49 that the fold leaves out. Printed as they are
        otherwise, the folds then test 49 people and one who does not exist.

    Returns
    -------
    tuple
        Five folds (35 people to train, 5 to validate, 10 to test; subjects written ``00`` to ``49``), and sentences.
    """
    from motionbook.data.published import published_item

    cells = published_item("staystill_table4").cells
    folds, notes = [], []
    for number in range(1, 6):
        parts = []
        for part in ("Train", "Validation", "Test"):
            people = [f"{int(word):02d}" for word in cells[str(number), part].printed.split()]
            wrong, right = _MISPRINT
            if wrong in people and correct:
                people[people.index(wrong)] = right
                notes.append(
                    f"fold {number}: {part.lower()} subject {wrong}, which does not exist, read as {right}, whom the "
                    "fold leaves out"
                )
            parts.append(tuple(sorted(people)))
        fold = Fold(*parts)
        if correct:
            check_disjoint(fold, STAYSTILL_SUBJECTS)
        folds.append(fold)
    return tuple(folds), tuple(notes)


def subject_folds(subjects: Iterable[str], n: int = 5, seed: int = 0) -> tuple[Fold, ...]:
    """Folds for any people, as even as possible: everybody is tested once, somebody else validates.

    The people are put in a random order that is cut into the folds' test sets, whose sizes differ by one at most: of
    nine people in five folds, four folds test two and one tests one. Of the others an eighth (the paper's 5 of 40), at
    least one, validate: those who follow the tested ones in the order, so that validation goes round too.

    Parameters
    ----------
    subjects : iterable of str
        Repeated ones count once.
    n : int
        Number of folds; fewer when there are fewer people than that.
    seed : int

    Raises
    ------
    ValueError
        With fewer than three people: one each to train, validate and test.
    """
    people = sorted(set(subjects))
    if n < 1:
        raise ValueError(f"n: expected at least one fold, got {n}")
    if len(people) < 3:
        raise ValueError(
            "subjects: expected at least three people (to train, validate and test), got "
            f"{', '.join(people) or 'none'}; if the files hold more, tell them apart: open_dataset(subject_pattern=)"
        )
    order = [people[i] for i in np.random.default_rng(seed).permutation(len(people))]
    n = min(n, len(people))
    bounds = np.linspace(0, len(order), n + 1).round().astype(int) if n > 1 else (0, max(1, round(len(order) / 5)))
    folds = []
    for start, end in pairwise(bounds):
        after = order[end:] + order[:start]
        validating = max(1, round(len(after) / 8))
        fold = Fold(*map(_sorted, (after[validating:], after[:validating], order[start:end])))
        check_disjoint(fold, people)
        folds.append(fold)
    return tuple(folds)


def dataset_folds(dataset, n: int = 5, seed: int = 0) -> tuple[tuple[Fold, ...], tuple[str, ...]]:
    """The folds to use on a data set of ``layouts.open_dataset``, and notes on which they are.

    Those its own ``dataset.json`` brings; StayStill's five for StayStill with all its people; ``subject_folds`` else.
    """
    if dataset.folds:
        folds = tuple(Fold(*(tuple(fold[part]) for part in Fold._fields)) for fold in dataset.folds)
        for fold in folds:
            check_disjoint(fold)
        return folds, (f"{len(folds)} folds of {dataset.path.name}'s own listing",)
    if dataset.layout == "staystill" and set(dataset.subjects) == set(STAYSTILL_SUBJECTS):
        folds, notes = published_folds()
        return folds, ("the five published folds (StayStill, Table 4)", *notes)
    folds = subject_folds(dataset.subjects, n, seed)
    return folds, (f"{len(folds)} folds by person over {len(dataset.subjects)} people, seed {seed}",)


def check_disjoint(
    fold: Fold, subjects: Iterable[str] | None = None, *, needed: tuple[str, ...] = Fold._fields
) -> None:
    """Refuse a fold in which a person is in two parts, a part is empty, or somebody is unknown or left out.

    Parameters
    ----------
    fold : Fold
    subjects : iterable of str, optional
        All people there are; without it only repetitions and empty parts are looked for.
    needed : tuple of str
        The parts that may not be empty.

    Raises
    ------
    ValueError
        With the people concerned.
    """
    fold = Fold(*fold)
    parts = {name: list(people) for name, people in fold._asdict().items()}
    for name, people in parts.items():
        if not people and name in needed:
            raise ValueError(f"fold: expected people in {name}, got none")
        if twice := sorted({person for person in people if people.count(person) > 1}):
            raise ValueError(f"fold: expected everybody once in {name}, got {', '.join(twice)} more than once")
    for one, other in (("train", "validation"), ("train", "test"), ("validation", "test")):
        if both := sorted(set(parts[one]) & set(parts[other])):
            raise ValueError(f"fold: expected nobody in two parts, got {', '.join(both)} in {one} and in {other}")
    if subjects is not None:
        there, placed = set(subjects), {person for people in parts.values() for person in people}
        if unknown := sorted(placed - there):
            raise ValueError(f"fold: {', '.join(unknown)} are in the fold and not among the people of the data set")
        if left := sorted(there - placed):
            raise ValueError(f"fold: {', '.join(left)} are among the people of the data set and in no part")


def restrict(folds: Sequence[Fold], subjects: Iterable[str]) -> tuple[tuple[Fold, ...], tuple[str, ...]]:
    """Folds for the people who are there: published folds on part of a data set, with notes on who is missing.

    A fold that loses a whole part is left out, and the notes say so.
    """
    there = set(subjects)
    kept, notes = [], []
    for number, fold in enumerate(folds, start=1):
        parts = Fold(*(tuple(person for person in part if person in there) for part in fold))
        lost = sum(map(len, fold)) - sum(map(len, parts))
        if not all(parts):
            notes.append(f"fold {number} is left out: nobody of its {_empty(parts)} is there")
            continue
        if lost:
            notes.append(f"fold {number}: {lost} of its {sum(map(len, fold))} people are not there")
        kept.append(parts)
    return tuple(kept), tuple(notes)


def _empty(fold: Fold) -> str:
    return ", ".join(name for name, people in fold._asdict().items() if not people)


def _sorted(people: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(people))
