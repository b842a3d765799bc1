"""Answers read from files of several kinds, scales and column names; malformed rows named; exclusions counted."""

import numpy as np
import pandas as pd
import pytest

from motionbook.perception import exclude, malformed_rows, options_scale, read_responses, slider_scale
from motionbook.perception.scales import FIVE, signed_preferences


def write(path, text):
    path.write_text(text)
    return path


def test_the_published_scale_is_the_default():
    assert FIVE.answers == (-2, -1, 0, 1, 2) and FIVE.weights == {0: 1.0, 1: 2.0, 2: 4.0}


@pytest.mark.parametrize(
    ("scale", "values", "signed"),
    [
        (options_scale(2), [-1, 1, 0], [-1, 1, np.nan]),
        (options_scale(3), [-1, 0, 1, 2], [-1, 0, 1, np.nan]),
        (options_scale(4), [-2, -1, 1, 2, 0], [-2, -1, 1, 2, np.nan]),
        (options_scale(7), [-3, 0, 3, 4], [-3, 0, 3, np.nan]),
        (options_scale(range(1, 8)), [1, 4, "5", 7, 8, "x"], [-3, 0, 1, 3, np.nan, np.nan]),
        (options_scale(("left", "same", "right")), ["right", " left ", "same", "Left"], [1, -1, 0, np.nan]),
        # the ends of a tie belong to it; 25 lies half way from the middle to the end
        (slider_scale(), [0, 24.9, 25, 44.9, 45, 50, 55, 55.1, 100, 101], [-2, -2, -1, -1, 0, 0, 0, 1, 2, np.nan]),
        # turned round: the low end means the right
        (slider_scale(1, -1, cuts=(0.0,)), [1, 0.1, 0, -0.1, -1], [-1, -1, 0, 1, 1]),
    ],
)
def test_answers_of_a_scale_become_signed_preferences(scale, values, signed):
    np.testing.assert_array_equal(signed_preferences(values, scale), signed)


def test_weights_of_a_scale_are_doubled_or_given():
    assert options_scale(7).weights == {0: 1.0, 1: 2.0, 2: 4.0, 3: 8.0}
    assert options_scale(2).weights == {1: 2.0} and options_scale(4).grades == (-2, -1, 1, 2)
    assert options_scale(3, {0: 0.5, 1: 1}).weights == {0: 0.5, 1: 1.0}
    with pytest.raises(ValueError, match="one for each of the grades 0, 1, 2"):
        options_scale(5, {1: 1, 2: 2})
    with pytest.raises(ValueError, match="not only ties above 0"):
        options_scale(3, {0: 1, 1: 0})
    with pytest.raises(ValueError, match="every answer once"):
        options_scale(("left", "left"))
    with pytest.raises(ValueError, match="rising cuts"):
        slider_scale(cuts=(0.5, 0.1))


def test_plain_columns_and_mapped_columns_give_the_same_frame(tmp_path):
    plain = write(tmp_path / "plain.csv", "user,left,right,choice\na,X,Y,-2\n7,Y,X,0\n")
    named = write(tmp_path / "named.csv", "rater;A;B;answer\n".replace(";", ",") + "a,X,Y,1\n7,Y,X,3\n")
    ours = read_responses(plain)
    assert ours.userID.tolist() == ["a", "7"] and ours.choice.tolist() == [-2, 0]
    mapped = read_responses(
        named,
        columns={"userID": "rater", "left": "A", "right": "B", "choice": "answer"},
        scale=options_scale(range(1, 6)),
    )
    pd.testing.assert_frame_equal(mapped, ours)
    pd.testing.assert_frame_equal(read_responses(ours), ours)
    with pytest.raises(ValueError, match=r"named\.csv: no column left; it has rater, A, B, answer"):
        read_responses(named, columns={"userID": "rater"})
    with pytest.raises(ValueError, match="no meaning is called user"):
        read_responses(plain, columns={"user": "userID"})


def test_a_spreadsheet_reads_as_its_csv_does(tmp_path, shared_data):
    pytest.importorskip("openpyxl", reason="spreadsheets need openpyxl")
    path = shared_data / "perception" / "elo" / "responses.csv"
    table = pd.read_csv(path).head(60)
    # the published sheet: times as dates, systems of checks empty but for the word in one column
    table["timestamp"] = pd.to_datetime(table.timestamp)
    checks = table.left == "attentionCheck"
    assert checks.any()
    table.loc[checks, "right"] = None
    table.to_excel(tmp_path / "answers.xlsx", index=False)
    ours, expected = read_responses(tmp_path / "answers.xlsx"), read_responses(path).head(60)
    names = ["userID", "responseCount", "left", "right", "choice"]
    assert (ours[names] == expected[names]).all(axis=None)


def test_a_spreadsheet_without_openpyxl_says_what_to_do(tmp_path, monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] == "openpyxl":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    path = write(tmp_path / "answers.xlsx", "")
    with pytest.raises(ImportError, match="needs openpyxl; pip install openpyxl, or save the sheet as CSV"):
        read_responses(path)


MALFORMED = """userID,responseCount,left,right,choice
a,0,GT,NN,2
a,1,GT,NN,3
a,two,GT,NN,1
,3,GT,NN,1

a,4,GT,GT,0
a,5,NN,GT
a,0,GT,NN,-1
a,6,GT,NN,1
"""


def test_malformed_rows_are_named_by_line_and_can_be_left_out(tmp_path):
    """The empty line is no answer, and lines after it keep their number."""
    path = write(tmp_path / "answers.csv", MALFORMED)
    rows = malformed_rows(path)
    assert rows.line.tolist() == [3, 4, 5, 7, 8, 9]
    assert rows.reason.str.split(" ").str[0].tolist() == [
        "choice",
        "responseCount",
        "userID,",
        "left",
        "choice",
        "this",
    ]
    with pytest.raises(ValueError, match=r"answers\.csv, line 3, 8: choice must be -2, -1, 0, 1 or 2; 4 more"):
        read_responses(path)
    with pytest.warns(UserWarning, match=r"6 malformed rows left out \(line 3, 4, 5, 7, 8, \.\.\.\)"):
        kept = read_responses(path, malformed="drop")
    assert kept.responseCount.tolist() == [0, 6] and kept.choice.tolist() == [2, 1]
    with pytest.raises(ValueError, match=r"answers, row 2: choice must be"):
        read_responses(pd.DataFrame({"user": ["a", "b"], "left": "X", "right": "Y", "choice": [1, 9]}))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("user,left,right,choice\na,X,Y,1\na,X,Y,1,5\n", "not a table, .*line 3"),
        ("user,left,right\na,X,Y\n", "no column choice; it has user, left, right"),
    ],
)
def test_files_that_are_no_table_of_answers_are_refused(tmp_path, text, words):
    with pytest.raises(ValueError, match=words):
        read_responses(write(tmp_path / "answers.csv", text))


def test_each_exclusion_is_counted(shared_data):
    answers = read_responses(shared_data / "perception" / "elo" / "responses.csv")
    scored, flow = exclude(answers)
    assert flow.people.tolist() == [131, 125, 125, 118, 118]
    assert flow.people_out.tolist() == [0, 6, 0, 7, 0]
    # 2705 rows; two calibration pairs of each of 125 people; what is left of 118 people are 2022 pairs and their checks
    assert flow.answers.iloc[0] == len(answers) == 2705 and flow.answers_out.iloc[2] == 250
    assert flow.answers.iloc[0] - flow.answers_out.sum() == len(scored) == 2022
    # a person with 17 answers left goes, one with 18 stays
    sizes = answers[answers.responseCount >= 2].groupby("userID").size()
    assert sizes[scored.userID.unique()].min() >= 18


def test_a_study_of_its_own_rules_keeps_all_but_failed_checks(tmp_path):
    text = "user,left,right,choice\na,X,Y,1\na,attentionCheck,attentionCheck,2\nb,X,Y,1\nb,attentionCheck,x,1\n"
    answers = read_responses(write(tmp_path / "answers.csv", text))
    with pytest.raises(ValueError, match="no column responseCount, so calibration pairs cannot be told"):
        exclude(answers)
    scored, flow = exclude(answers, least_answers=0, calibration=0)
    assert scored.userID.tolist() == ["a"] and flow.people_out.sum() == 1
