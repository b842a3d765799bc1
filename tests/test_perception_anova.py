"""Mixed-design analysis of variance against R's afex, ordinary least squares and pingouin."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from motionbook.perception import corrected, distortion_anovas, mixed_anova, published_rows, table1
from motionbook.perception.anova import mauchly, within_contrasts
from motionbook.perception.designs import read_design, subsets
from motionbook.synthesis.rating_panel import impairment_study

WITHIN, BETWEEN = ["identity", "clothing", "strength"], ["motion", "gender"]


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data / "perception" / "anova"


def agrees(ours, expected, columns, rtol=1e-9):
    assert list(ours.index) == list(expected.index)
    for column in columns:
        got, want = ours[column].to_numpy(), expected[column].to_numpy()
        assert (np.isnan(got) == np.isnan(want)).all(), column
        np.testing.assert_allclose(got, want, rtol=rtol, err_msg=column)


@pytest.mark.parametrize(
    ("data", "oracle", "type"),
    [
        ("A_n47_mild", "A_n47_mild", 3),
        ("A_n47_mild", "A_n47_mild_type2", 2),
        ("B_n48_nonspherical", "B_n48_nonspherical", 3),
    ],
)
def test_every_column_equals_afex(folder, data, oracle, type):
    """Fails when Helmert columns lose their unit length, type 2 is type 3, or ges takes one error term only."""
    expected = pd.read_csv(folder / f"afex_{oracle}.csv", index_col="effect")
    ours = mixed_anova(pd.read_csv(folder / f"anova_{data}.csv"), "y", "subject", WITHIN, BETWEEN, type=type)
    assert ours.index[0] == "(Intercept)" and len(ours) == 32
    agrees(ours, expected, expected.columns)


def test_smaller_designs_equal_afex_with_scores_averaged_over_unnamed_factors(folder):
    oracle = pd.read_csv(folder / "afex_small_designs.csv", index_col="effect")
    for (data, design, type), expected in oracle.groupby(["data", "design", "type"]):
        between, within = design.split("|")
        frame = pd.read_csv(folder / f"anova_{data}.csv")
        ours = mixed_anova(
            frame, "y", "subject", within.split("*"), between.split("*") if between else (), type=int(type)
        )
        agrees(ours.iloc[1:], expected, ["num_df", "den_df", "F", "p", "p_GG", "GG_num_df", "pes"])
    assert ours.attrs["per_cell"] == [2, 2] and ours.attrs["n"] == 48


def random_design(seed):
    """A long table of an unbalanced design with a two-level within factor, so that one-degree effects exist."""
    rng = np.random.default_rng(seed)
    within = {f"w{i}": int(rng.integers(2, 5)) for i in range(int(rng.integers(1, 4)))}
    within["w0"] = 2
    between = {f"b{i}": int(rng.integers(2, 4)) for i in range(int(rng.integers(0, 3)))}
    cells = [()]
    for size in between.values():
        cells = [(*cell, level) for cell in cells for level in range(size)]
    people = [cell for cell in cells for _ in range(int(rng.integers(3, 8)))]
    grid = [()]
    for size in within.values():
        grid = [(*cell, level) for cell in grid for level in range(size)]
    cut = rng.standard_normal((len(grid), len(grid)))
    rows = []
    for person, own in enumerate(people):
        scores = cut @ rng.standard_normal(len(grid)) + 0.5 * sum(own)
        for cell, score in zip(grid, scores, strict=True):
            rows.append((f"s{person}", *[f"{name}{v}" for name, v in zip("pqr", own, strict=False)], *cell, score))
    names = ["subject", *between, *within, "y"]
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=seed), list(within), list(between)


@pytest.mark.parametrize("seed", range(10))
def test_one_degree_effects_equal_type_three_least_squares_on_contrast_scores(seed):
    """Fails when groups are weighed by size (type 2) or a contrast is not orthogonal to the others."""
    pytest.importorskip("statsmodels", reason="comparator, comes with pingouin")
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    data, within, between = random_design(seed)
    ours = mixed_anova(data, "y", "subject", within, between)
    levels = data.groupby("subject")[between].first() if between else data.groupby("subject")[["y"]].count()
    wide = data.pivot(index="subject", columns=within, values="y").sort_index(axis=1)
    sizes = {name: tuple(sorted(data[name].unique())) for name in within}
    checked = 0
    for effect in subsets(within):
        basis = within_contrasts(sizes, effect)
        if basis.shape[1] > 1:
            continue
        frame = levels.assign(score=wide.to_numpy() @ basis[:, 0])
        formula = " * ".join(f"C({name}, Sum)" for name in between) or "1"
        table = anova_lm(ols(f"score ~ {formula}", frame).fit(), typ=3) if between else None
        for term in subsets(between):
            name = ":".join((*term, *effect)) or "(Intercept)"
            if table is None:
                t = frame.score.mean() / (frame.score.std(ddof=1) / np.sqrt(len(frame)))
                np.testing.assert_allclose(ours.F[name], t**2, rtol=1e-8)
            else:
                row = table.loc[":".join(f"C({part}, Sum)" for part in term) or "Intercept"]
                np.testing.assert_allclose([ours.F[name], ours.p[name]], [row.F, row["PR(>F)"]], rtol=1e-6, atol=1e-12)
            checked += 1
    assert checked >= 2


@pytest.mark.filterwarnings("ignore")  # its own
def test_pingouin_agrees_where_it_can(folder):
    pingouin = pytest.importorskip("pingouin", reason="comparator")
    data = pd.read_csv(folder / "anova_B_n48_nonspherical.csv")
    averaged = data.groupby(["subject", "identity", "strength"], as_index=False).y.mean()
    theirs = pingouin.rm_anova(
        averaged, dv="y", within=["identity", "strength"], subject="subject", detailed=True, effsize="np2"
    )
    ours = mixed_anova(data, "y", "subject", ["identity", "strength"]).iloc[1:]
    np.testing.assert_allclose(ours.F, theirs.F, rtol=1e-8)
    np.testing.assert_allclose(ours.eps_GG.fillna(1.0), theirs.eps, rtol=1e-8)
    np.testing.assert_allclose(ours.pes, theirs.np2, rtol=1e-8)


def test_one_between_factor_alone_is_the_plain_analysis(folder):
    from scipy import stats

    data = pd.read_csv(folder / "anova_C_n46_likert.csv")
    means = data.groupby(["subject", "gender"], as_index=False).y.mean()
    ours = mixed_anova(data, "y", "subject", between="gender").loc["gender"]
    f = stats.f_oneway(*(part.y for _, part in means.groupby("gender")))
    np.testing.assert_allclose([ours.F, ours.p], [f.statistic, f.pvalue], rtol=1e-10)


def test_invariances(folder):
    """Units, order of rows and names of levels change no test."""
    data = pd.read_csv(folder / "anova_C_n46_likert.csv")
    first = mixed_anova(data, "y", "subject", WITHIN, BETWEEN)
    other = data.assign(y=100 - 20 * data.y, identity=data.identity.map({"deb": "z", "pat": "a"}))
    again = mixed_anova(other.sample(frac=1, random_state=1), "y", "subject", WITHIN, BETWEEN)
    columns = ["F", "p", "W", "eps_GG", "eps_HF", "p_GG", "p_HF", "pes", "ges"]
    agrees(again.iloc[1:], first.iloc[1:], columns, rtol=1e-7)


def test_a_missing_cell_is_refused_or_the_subject_reported(folder):
    data = pd.read_csv(folder / "anova_A_n47_mild.csv")
    less = data.drop(index=data.index[(data.subject == "s03") & (data.strength == 4)][:1])
    with pytest.raises(ValueError, match=r"1 of 47 subjects lack 1 of the scores that 20 within cells need: s03"):
        mixed_anova(less, "y", "subject", WITHIN, BETWEEN)
    ours = mixed_anova(less, "y", "subject", WITHIN, BETWEEN, missing="drop")
    assert ours.attrs["dropped"] == ["s03"] and ours.attrs["n"] == 46
    whole = mixed_anova(data[data.subject != "s03"], "y", "subject", WITHIN, BETWEEN)
    pd.testing.assert_frame_equal(ours, whole, check_like=True)
    blank = data.assign(y=data.y.where(data.index != less.index[0]))
    with pytest.raises(ValueError, match="lack 1 of the scores"):
        mixed_anova(blank, "y", "subject", WITHIN, BETWEEN)


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        (
            lambda d: d[~((d.motion == "hop") & (d.gender == "F"))],
            {},
            r"no complete subject in hop/F \(motion x gender\)",
        ),
        (lambda d: d, {"within": ["identity", "speed"]}, "no column speed; it has subject"),
        (
            lambda d: d,
            {"between": ["motion", "strength"], "within": ["identity"]},
            "strength: listed as between, but it",
        ),
        (lambda d: d[d.strength == 1], {}, "strength: a factor needs two levels, got only 1"),
        (lambda d: d.assign(y="high"), {}, "y: expected finite numbers, got 920"),
        (lambda d: d.assign(y=np.inf), {}, "y: expected finite numbers, got 920"),
        (lambda d: d.assign(y=3.0), {}, "no error term"),
        (lambda d: d, {"within": [], "between": []}, "at least one factor"),
        (lambda d: d, {"type": 1}, "type: expected 2 or 3"),
        (lambda d: d.assign(gender=d.gender.where(d.index > 0)), {}, "rows without a value in gender"),
        (lambda d: d.iloc[:0], {}, "got an empty table"),
    ],
)
def test_designs_that_cannot_be_tested_are_refused(folder, change, arguments, words):
    data = change(pd.read_csv(folder / "anova_C_n46_likert.csv"))
    with pytest.raises(ValueError, match=words):
        mixed_anova(data, "y", "subject", **{"within": WITHIN, "between": BETWEEN, **arguments})


def test_the_shape_of_a_sphere_is_one():
    w, p = mauchly(3.0 * np.eye(4), 40)
    assert w == pytest.approx(1.0, abs=1e-12) and p == pytest.approx(1.0, abs=1e-12)
    # fewer error degrees of freedom than contrasts: no test
    assert np.isnan(mauchly(np.eye(4), 3)).all()


@pytest.mark.parametrize("people", [2, 3, 5])
def test_few_people_have_no_test_of_shape_but_an_analysis(people):
    rng = np.random.default_rng(people)
    rows = [(f"s{i}", t, rng.standard_normal()) for i in range(people) for t in range(6)]
    ours = mixed_anova(pd.DataFrame(rows, columns=["s", "t", "y"]), "y", "s", "t").loc["t"]
    assert np.isnan(ours.W_p) == (people < 6) and 0 < ours.p_GG <= 1 and 0 < ours.p_HF <= 1
    assert 1 / 5 - 1e-12 <= ours.eps_GG <= 1


def test_contrasts_are_orthonormal_and_complete():
    sizes = {"a": (1, 2), "b": (1, 2, 3), "c": (1, 2, 3, 4, 5)}
    every = np.hstack([within_contrasts(sizes, effect) for effect in subsets(sizes)])
    np.testing.assert_allclose(every.T @ every, np.eye(30), atol=1e-12)


@pytest.fixture(scope="module")
def anovas():
    ratings = impairment_study(48, seed=3)
    return distortion_anovas(ratings[ratings.split == "train"], missing="drop")


def test_table_one_has_the_papers_degrees_of_freedom_and_layout(anovas):
    assert list(anovas) == ["glide", "moonwalk", "contact", "smoothness", "twist", "intersection"]
    for anova in anovas.values():
        assert anova.attrs["n"] == 47 and len(anova.attrs["dropped"]) == 1
        row = anova.loc["strength"]
        assert (row.num_df, row.den_df) == (4, 172) and anova.den_df["motion:identity"] == 43
    keep = ["Foot contact: Identity × Clothing × Strength × Gender"]
    table = table1(anovas, keep=keep)
    assert list(table.columns[:6]) == ["F", "df1", "df2", "p-value", "eta_p^2", "correction"]
    strengths = [f"{kind}: Strength" for kind in ("Foot Glide", "Moonwalking", "Temporal Twist")]
    assert (table.loc[strengths, "correction"] == "F*").all() and (table.loc[strengths, "p-value"] < 1e-3).all()
    assert keep[0] in table.index and (table["p-value"].drop(keep) < 0.05).all()
    # every published row has a row of ours by the same name
    assert set(published_rows().index) <= set(table1(anovas, every=True).index)
    assert table.attrs["tests"] == 6 * 31 and len(table1(anovas, every=True)) == 186
    assert (table["p Holm"] >= table["p FDR"] - 1e-15).all() and (table["p FDR"] >= table["p-value"] - 1e-15).all()


def test_corrections_differ_where_the_paper_left_crossings_uncorrected(anovas):
    anova = anovas["smoothness"]
    every, papers, none = (corrected(anova, name) for name in ("GG", "published", "none"))
    crossing, main = "gender:strength", "strength"
    assert every.df2[crossing] < 172 and papers.df2[crossing] == 172 and papers.df2[main] == every.df2[main] < 172
    assert none.df2[main] == 172 and (none.correction == "").all()
    by_test = corrected(anova, "mauchly")
    assert (by_test.correction == "F*").tolist() == (anova.W_p.iloc[1:] < 0.05).tolist()
    with pytest.raises(ValueError, match="correction: expected one of GG"):
        corrected(anova, "sphere")


def test_design_keeps_people_in_their_rows():
    data = pd.DataFrame({"who": ["b", "a", "b", "a", "c", "c"], "t": [1, 2, 2, 1, 1, 2], "y": [1.0, 2, 3, 4, 5, 6]})
    design = read_design(data, "y", "who", "t")
    assert design.subjects == ("a", "b", "c") and design.scores.tolist() == [[4, 2], [1, 3], [5, 6]]


def test_comparators_are_never_imported_by_the_library():
    library = Path(__file__).resolve().parents[1] / "lib"
    for path in library.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.split(".")[0] for name in names} & {"pingouin", "krippendorff", "statsmodels"}, path
