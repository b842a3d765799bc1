"""Tables as people's programs write them: separators, encodings, gaps, and names that look like numbers."""

import pandas as pd
import pytest

from motionbook.perception import options_scale, own_data, read_ratings, read_responses

ANSWERS = pd.DataFrame(
    {
        "userID": ["007", "7", "ñ"],
        "left": "A",
        "right": "B, the second",
        "choice": [-2, 0, 1],
        "clip": ["01", "02", "01"],
    }
)
RATINGS = pd.DataFrame({"subject": ["007", "007", "7"], "item": ["a", "b", "ñ"], "rating": [1.5, 2.0, 5.0]})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_and_encodings(tmp_path, separator, encoding):
    kind = {"index": False, "sep": separator, "encoding": encoding}
    ANSWERS.to_csv(tmp_path / "answers.csv", **kind)
    answers = read_responses(tmp_path / "answers.csv")
    assert list(answers.userID) == ["007", "7", "ñ"] and list(answers.right) == ["B, the second"] * 3
    assert list(answers.choice) == [-2, 0, 1]
    RATINGS.to_csv(tmp_path / "ratings.csv", decimal="," if separator == ";" else ".", **kind)
    ratings = read_ratings(tmp_path / "ratings.csv")
    assert list(ratings.participant) == ["007", "007", "7"] and list(ratings.stimulus) == ["a", "b", "ñ"]
    assert list(ratings.score) == [1.5, 2.0, 5.0]


def test_columns_under_other_names_hold_names_too(tmp_path):
    ANSWERS.rename(columns={"userID": "Rater ID"}).to_csv(tmp_path / "a.csv", index=False)
    names, rating_names = own_data.column_names("""userID="Rater ID" participant='Rater ID'""")
    assert names == {"userID": "Rater ID"} and rating_names == {"participant": "Rater ID"}
    assert list(read_responses(tmp_path / "a.csv", columns=names).userID) == ["007", "7", "ñ"]
    RATINGS.rename(columns={"subject": "Rater ID"}).to_csv(tmp_path / "r.csv", index=False)
    assert list(read_ratings(tmp_path / "r.csv", columns=rating_names).participant) == ["007", "007", "7"]
    with pytest.raises(ValueError, match="columns: No closing quotation"):
        own_data.column_names('userID="Rater ID')


def test_ratings_in_a_spreadsheet(tmp_path):
    RATINGS.to_excel(tmp_path / "r.xlsx", index=False)
    ours = read_ratings(tmp_path / "r.xlsx")
    assert list(ours.participant) == ["007", "007", "7"] and list(ours.score) == [1.5, 2.0, 5.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty"),
        ("subject,item,rating\n", "without rows"),
        ("subject,item,rating\nx,a,1\n\n,b,2\n", "line 4: participant must not be empty"),
        ("subject,item,rating\nx,a,1\nx,,2\n", "line 3: stimulus must not be empty"),
        ("subject,item,rating\nx,a,1\n\n\nx,b,9\n", "line 5: score must lie"),
        ("subject,item,rating\nx,a,1\n\nx,a,1\n", "line 4: this participant rated"),
        ("subject,item,rating\nx,a,1\nx,b,1,4\n", "not a table, .*line 3"),
        ("subject,item,rating\nx,a,1,2\ny,a,1,2\n", "more values than its first line has names"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, words):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(ValueError, match=rf"r\.csv.*{words}"):
        read_ratings(tmp_path / "r.csv")


def test_names_that_pandas_takes_for_gaps_are_names(tmp_path):
    (tmp_path / "r.csv").write_text("subject,item,rating,factor\nNA,None,1,\nnull,nan,2,x\n")
    ratings = read_ratings(tmp_path / "r.csv")
    assert list(ratings.participant) == ["NA", "null"] and list(ratings.stimulus) == ["None", "nan"]
    assert list(ratings.factor.isna()) == [True, False]


def test_a_missing_file_is_named(tmp_path):
    for read in (read_responses, read_ratings):
        with pytest.raises(ValueError, match=r"nothing\.csv: no such file"):
            read(tmp_path / "nothing.csv")


def test_answers_given_as_words_are_found_in_numbers_with_a_decimal():
    frame = pd.DataFrame({"userID": ["a", "b"], "left": "X", "right": "Y", "choice": [1.0, 7.0]})
    assert list(read_responses(frame, scale=own_data.answer_scale("1,2,3,4,5,6,7")).choice) == [-3, 3]
    words = options_scale(["left", "same", "right"])
    assert list(read_responses(frame.assign(choice=["left", "right"]), scale=words).choice) == [-1, 1]


@pytest.mark.parametrize("scale", [(1, 5), "1-5", "1..5.., best 5", "1..5, best 3", (5, 1, "low")])
def test_scales_that_cannot_be_meant(scale):
    with pytest.raises(ValueError, match=r"^scale: expected"):
        read_ratings(RATINGS, scale=scale)
