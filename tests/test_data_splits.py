"""Folds: whole people, everybody tested once."""

import pytest

from motionbook.data.layouts import open_dataset
from motionbook.data.splits import (
    LAFAN1_FOLD,
    STAYSTILL_SUBJECTS,
    Fold,
    check_disjoint,
    dataset_folds,
    published_folds,
    restrict,
    subject_folds,
)

NINE = ("000", "001", "002", "003", "004", "007", "008", "009", "010")


def test_the_published_folds_cover_all_fifty_people():
    folds, notes = published_folds()
    assert [tuple(map(len, fold)) for fold in folds] == [(35, 5, 10)] * 5
    for fold in folds:
        assert sorted(fold.train + fold.validation + fold.test) == list(STAYSTILL_SUBJECTS)
    assert sorted(person for fold in folds for person in fold.test) == list(STAYSTILL_SUBJECTS)
    assert folds[0].validation == ("08", "19", "21", "38", "40")
    assert folds[0].test == ("02", "06", "09", "10", "15", "22", "23", "28", "43", "45")
    assert folds[2].test == ("04", "05", "13", "16", "21", "29", "30", "32", "40", "49")
    assert notes == ("fold 3: test subject 50, which does not exist, read as 40, whom the fold leaves out",)


def test_the_misprint_can_be_kept_and_is_then_in_the_fold():
    folds, notes = published_folds(correct=False)
    assert notes == () and "50" in folds[2].test and "40" not in sum(folds[2], ())
    with pytest.raises(ValueError, match="50 are in the fold and not among the people"):
        check_disjoint(folds[2], STAYSTILL_SUBJECTS)


@pytest.mark.parametrize("people", [3, 4, 5, 6, 7, 9, 16, 20, 50])
@pytest.mark.parametrize("seed", [0, 1])
def test_everybody_is_tested_once_and_nobody_is_in_two_parts(people, seed):
    subjects = [f"{i:02d}" for i in range(people)]
    folds = subject_folds(subjects, 5, seed)
    assert len(folds) == min(5, people)
    assert sorted(person for fold in folds for person in fold.test) == subjects
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    for fold in folds:
        assert sorted(fold.train + fold.validation + fold.test) == subjects
        assert not set(fold.train) & set(fold.test) and not set(fold.validation) & (set(fold.train) | set(fold.test))
        assert len(fold.validation) >= 1 and len(fold.train) >= 1


def test_fifty_people_get_the_papers_sizes():
    assert {tuple(map(len, fold)) for fold in subject_folds(STAYSTILL_SUBJECTS)} == {(35, 5, 10)}


def test_nine_people_in_five_folds():
    folds = subject_folds(NINE)
    assert sorted(len(fold.test) for fold in folds) == [1, 2, 2, 2, 2]
    assert len({fold.validation for fold in folds}) == 5, "validation goes round too"


def test_folds_depend_on_the_seed_and_on_nothing_else():
    assert subject_folds(NINE, seed=3) == subject_folds(reversed(NINE * 2), seed=3)
    assert subject_folds(NINE, seed=3) != subject_folds(NINE, seed=4)


def test_too_few_people_are_refused():
    with pytest.raises(ValueError, match=r"at least three people .* got a, b; if the files hold more"):
        subject_folds(["a", "b", "a"])
    with pytest.raises(ValueError, match="got none"):
        subject_folds([])
    with pytest.raises(ValueError, match="n: expected at least one fold, got 0"):
        subject_folds("abc", 0)
    assert subject_folds("abcde", 1)[0].test and len(subject_folds("abcde", 1)) == 1


@pytest.mark.parametrize(
    ("fold", "words"),
    [
        ((("a", "b"), ("c",), ("b",)), "nobody in two parts, got b in train and in test"),
        ((("a", "b"), ("a",), ("c",)), "nobody in two parts, got a in train and in validation"),
        ((("a",), ("b", "c"), ("c",)), "nobody in two parts, got c in validation and in test"),
        ((("a", "a"), ("b",), ("c",)), "everybody once in train, got a more than once"),
        ((("a",), (), ("c",)), "expected people in validation, got none"),
        ((("a", "x"), ("b",), ("c",)), "x are in the fold and not among the people"),
        ((("a",), ("b",), ("c",)), "d are among the people of the data set and in no part"),
    ],
)
def test_what_is_wrong_with_a_fold_is_said_with_names(fold, words):
    with pytest.raises(ValueError, match=words):
        check_disjoint(fold, "abcd")


def test_a_fold_may_do_without_validation_where_its_authors_did():
    with pytest.raises(ValueError, match="expected people in validation"):
        check_disjoint(LAFAN1_FOLD)
    check_disjoint(LAFAN1_FOLD, needed=("train", "test"))


def test_published_folds_on_some_of_the_people():
    folds, _ = published_folds()
    some, notes = restrict(folds, ["00", "01", "02", "03", "04", "05"])
    assert some == (Fold(("00", "01", "02"), ("03",), ("04", "05")),)
    assert "fold 1 is left out: nobody of its validation is there" in notes
    assert "fold 3: 44 of its 50 people are not there" in notes
    assert restrict(folds, STAYSTILL_SUBJECTS) == (folds, ())


def test_a_data_set_gets_its_own_folds_the_published_ones_or_new_ones(tmp_path):
    for subject in STAYSTILL_SUBJECTS:
        path = tmp_path / "lafan" / "idle" / f"{subject}_idle.bvh"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("HIERARCHY\nROOT Hips\n{\n}\nMOTION\n")
    folds, notes = dataset_folds(open_dataset(tmp_path))
    assert folds == published_folds()[0] and "five published folds" in notes[0] and "subject 50" in notes[1]
    path.unlink()
    folds, notes = dataset_folds(open_dataset(tmp_path), seed=2)
    assert folds == subject_folds(STAYSTILL_SUBJECTS[:-1], seed=2)
    assert notes == ("5 folds by person over 49 people, seed 2",)


def test_the_real_reactidle_is_split_over_its_nine_people(shared_data):
    folds, notes = dataset_folds(open_dataset(shared_data / "reactidle"))
    assert folds == subject_folds(NINE) and notes == ("5 folds by person over 9 people, seed 0",)
