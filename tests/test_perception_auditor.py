"""The auditor of printed rows: what it says of 4DHumanQA's Table I, and rows made right and wrong by hand."""

import pandas as pd
import pytest
from scipy import stats

from motionbook.perception import audit_anova_rows, audit_sphericity, distortion_anovas, published_rows, table1
from motionbook.synthesis.rating_panel import impairment_study


@pytest.fixture(scope="module")
def audit():
    return audit_anova_rows(published_rows())


def test_six_published_rows_cannot_be_right_and_two_are_copies(audit):
    assert len(audit) == 35 and audit.attrs["error_df"] == 43 and "round to it" in audit.attrs["rule"]
    wrong = audit[audit.verdict == "impossible"]
    failing = {row: [c for c in ("p_ok", "eta_ok", "df_ok") if not wrong.at[row, c]] for row in wrong.index}
    assert failing == {
        "Foot Glide: Strength": ["df_ok"],
        "Motion smoothness: Strength": ["eta_ok", "df_ok"],
        "Motion smoothness: Identity × Clothing × Strength": ["p_ok", "eta_ok"],
        "Temporal Twist: Gender": ["p_ok"],
        "Temporal Twist: Identity × Clothing × Strength × Motion Type": ["p_ok"],
        "Self intersection: Identity": ["eta_ok"],
    }
    copied = audit[audit.verdict == "copied"].copy_of
    assert copied.to_dict() == {
        "Foot contact: Identity × Gender": "Foot Glide: Identity × Gender",
        "Foot contact: Strength": "Foot Glide: Strength",
    }
    assert (audit.verdict == "consistent").sum() == 27


def test_it_says_what_the_numbers_would_have_to_be(audit):
    row = audit.loc["Motion smoothness: Identity × Clothing × Strength"]
    assert row.F_of_p == pytest.approx(2.45, abs=0.005) and row.p_high < 1e-11 and row.eta_low > 0.28
    assert audit.loc["Temporal Twist: Gender"].p_low == pytest.approx(stats.f.sf(5.645, 1, 43), rel=1e-9)


def test_uncorrected_crossings_with_the_epsilon_of_their_stratum():
    rows = audit_sphericity(published_rows())
    row = rows.loc["Motion smoothness: Strength × Gender"]
    assert row.epsilon == pytest.approx(0.459, abs=5e-4) and row.p_corrected == pytest.approx(0.062, abs=5e-4)
    assert rows.loc["Self intersection: Strength × Motion Type"].p_corrected < 1e-3 and len(rows) == 2


def printed(f, df1, df2, p, eta):
    return pd.DataFrame({"F": [f], "df1": [df1], "df2": [df2], "p": [p], "pes": [eta]}, index=["A: x"])


def test_rounding_is_given_its_due_and_no_more():
    """4.50 on 1 and 43 gives p .0397 and eta .0947; closing zeros are digits."""
    right = audit_anova_rows(printed("4.50", "1", "43", "0.040", "0.095")).iloc[0]
    assert right.verdict == "consistent" and right.p_ok and right.eta_ok
    assert audit_anova_rows(printed("4.50", "1", "43", "0.043", "0.095")).verdict.iloc[0] == "impossible"
    # 4.5 stands for 4.45 to 4.55, whose p runs from .0387 to .0408
    assert audit_anova_rows(printed("4.5", "1", "43", "0.041", "")).verdict.iloc[0] == "consistent"
    assert audit_anova_rows(printed("4.50", "1", "43", "0.041", "")).verdict.iloc[0] == "impossible"
    assert audit_anova_rows(printed("4.50", "1", "43", "<.05", "")).verdict.iloc[0] == "consistent"
    assert audit_anova_rows(printed("4.50", "1", "43", "<.01", "")).verdict.iloc[0] == "impossible"


def test_own_rows_printed_as_the_paper_prints_pass():
    ratings = impairment_study(24, seed=5, incomplete=0)
    anovas = distortion_anovas(ratings[ratings.split == "train"])
    table = table1(anovas, every=True)
    text = pd.DataFrame(
        {
            "F": table.F.map("{:.2f}".format),
            "df1": table.df1.map(lambda v: f"{v:.0f}" if v == round(v) else f"{v:.2f}"),
            "df2": [f"{v:.0f}" if c == "" else f"{v:.1f}" for v, c in zip(table.df2, table.correction, strict=True)],
            "p-value": table["p-value"].map("{:.3f}".format),
            "eta_p^2": table["eta_p^2"].map("{:.3f}".format),
        },
        index=table.index,
    )
    audit = audit_anova_rows(text, error_df=20)
    assert not (audit.verdict == "impossible").any()
    text.iloc[3, 0] = f"{float(text.iloc[3, 0]) + 2:.2f}"
    assert audit_anova_rows(text, error_df=20).verdict.iloc[3] == "impossible"


def test_tables_it_cannot_read_are_refused():
    with pytest.raises(ValueError, match="no column df2; it has F, df1"):
        audit_anova_rows(pd.DataFrame({"F": ["2"], "df1": ["1"]}))
    with pytest.raises(ValueError, match="A: x: F must be a number, got 'large'"):
        audit_anova_rows(printed("large", "1", "43", "0.04", "0.1"))
    with pytest.raises(ValueError, match="A: x: df1 must be above 0, got '0'"):
        audit_anova_rows(printed("2", "0", "43", "0.04", "0.1"))
    with pytest.raises(ValueError, match="expected printed rows, got none"):
        audit_anova_rows(published_rows().head(0))
