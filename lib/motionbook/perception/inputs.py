"""What chapter 05 reads and shows: clips and their diagnostics in, the words of its parameters, the papers' tables."""

import math
from collections.abc import Callable
from pathlib import Path

from motionbook.files import write_csv


def make_clips(budget: str, seed: int) -> Callable[[Path], object]:
    """Stand-in for chapter 03's clips: small ones of the systems that need no training, into a given folder."""

    def make(folder: Path):
        from motionbook.stickfigures import systems

        systems.make_clips(budget, seed)(folder)

    return make


def make_diagnostics(clips: Path) -> Callable[[Path], object]:
    """Stand-in for chapter 04's table: draws and measures the clips of a folder of chapter 03, into a given folder."""

    def make(folder: Path):
        from motionbook.stickfigures import systems

        return write_csv(folder / "tables" / "systems_motion.csv", systems.measure(clips))

    return make


def published_answers() -> Path | None:
    """StayStill's spreadsheet of answers where it has been fetched (``motionbook data fetch staystill``)."""
    from motionbook.data.catalogue import data_home

    return next(iter(sorted((data_home() / "staystill").rglob("user_study_results.xlsx"))), None)


def elo_table(scores):
    """StayStill's Table 2 from ``RankingReport.scores``: ``Elo``, ``Std Elo``, ``W/R``, ``Std W/R`` (in percent).

    Appearances, classes and rank intervals beside them.
    """
    import pandas as pd

    return pd.DataFrame(
        {
            "Elo": scores.elo,
            "Std Elo": scores.sd,
            "W/R": 100 * scores.win_rate,
            "Std W/R": 100 * scores.win_rate_sd,
            "appearances": scores.appearances,
            "class": scores.classes,
            "rank": [
                f"{best}" if best == worst else f"{best} to {worst}"
                for best, worst in zip(scores.rank_best, scores.rank_worst, strict=True)
            ],
        }
    ).rename_axis("System")


# the order of StayStill's Table 2, so that pairs are named as published whatever the ranking
SYSTEM_ORDER = ("GT", "NN", "SLERP-Q", "SLERP", "NOISE")


def significance_table(pairs):
    """``RankingReport.pairs`` in the published order: difference, 95 % interval, ``significant``, p and Holm's p.

    ``significant`` is the paper's rule for one pair, an interval without 0; ``apart`` holds for all pairs together.
    """
    import pandas as pd

    names = [*dict.fromkeys([*pairs.a, *pairs.b])]
    order = [n for n in SYSTEM_ORDER if n in names] + sorted(n for n in names if n not in SYSTEM_ORDER)
    rows = {}
    for row in pairs.itertuples():
        turned = order.index(row.a) > order.index(row.b)
        a, b = (row.b, row.a) if turned else (row.a, row.b)
        low, high = (-row.high, -row.low) if turned else (row.low, row.high)
        rows[order.index(a), order.index(b)] = {
            "pair": f"{a} - {b}",
            "difference": -row.difference if turned else row.difference,
            "low": low,
            "high": high,
            "significant": "yes" if low > 0 or high < 0 else "no",
            "p": row.p,
            "p Holm": row.p_holm,
            "apart": "yes" if row.apart else "no",
        }
    return pd.DataFrame([rows[key] for key in sorted(rows)]).set_index("pair")


def recovered_table(simulating, report):
    """Scores found in answers that were simulated from known ones, by the ordinal and by the weighted fit.

    Parameters
    ----------
    simulating : series by system
    report : RankingReport of the simulated answers

    Returns
    -------
    pandas.DataFrame
        By system: ``simulated from``; ``ordinal`` and ``weighted`` scores with ``sd``; ``weighted limit``, what the
        weighted fit tends to with ever more such answers.
    """
    import pandas as pd

    from motionbook.perception.planner import expected_fit

    limit, _ = expected_fit(simulating)
    ordinal, weighted = report.ordinal["ordinal"], report.ordinal["weighted"]
    return pd.DataFrame(
        {
            "simulated from": simulating,
            "ordinal": ordinal.elo,
            "ordinal sd": ordinal.sd,
            "weighted": weighted.elo,
            "weighted sd": weighted.sd,
            "weighted limit": pd.Series(limit, index=simulating.index),
        }
    ).loc[simulating.index]


def study_facts(answers, scored, clips: int, seconds: float | None, resamples: int, weights=None):
    """Numbers of the study's design and people, by the names of StayStill's text (sections 4.3.1 to 4.3.3).

    Shares are of scored answers, as the paper's are. What the answers do not tell (age, say) is left out.
    """
    import pandas as pd

    from motionbook.perception.elo import CENTRE, SCALE, WEIGHTS, systems_of
    from motionbook.perception.responses import ATTENTION

    weights = WEIGHTS if weights is None else weights
    systems = systems_of(scored, weights)
    shown = pd.concat([scored.left, scored.right]).value_counts()
    checks = (answers.left == ATTENTION).groupby(answers.userID).sum()
    calibration = None
    if "responseCount" in answers:
        calibration = int((answers.responseCount < 2).groupby(answers.userID).sum().median())
    grades = {0: "tie", 1: "slight preference", 2: "clear preference"} if max(weights) == 2 else {0: "tie"}
    facts = {
        "participants": scored.userID.nunique(),
        "evaluated pairs": len(scored),
        **{f"appearances of {name}": int(shown[name]) for name in systems},
        "pairs shown": int(answers.groupby("userID").size().median()),
        "calibration pairs": calibration,
        "attention checks": int(checks.median()),
        "response options": int(answers.choice.nunique()),
        "clip length": seconds,
        "videos per system": clips or None,
        "videos": clips * len(systems) or None,
        **{f"weight of a {grades.get(size, f'grade {size}')}": weight for size, weight in sorted(weights.items())},
        "Elo base": 10,
        "Elo scale": round(SCALE * math.log(10), 9),
        "initial Elo": CENTRE,
        "bootstrap iterations": resamples,
    }
    facts = {name: value for name, value in facts.items() if value is not None}
    words = {"eu": "Basque", "es": "Spanish", "en": "English"}
    for column in ("gender", "language"):
        if column in scored:
            for name, share in scored[column].value_counts(normalize=True).items():
                facts[words.get(name, name)] = f"{100 * share:.2f}%"
    if "age" in scored:
        ages = pd.to_numeric(scored.drop_duplicates("userID").age, errors="coerce").dropna()
        if len(ages):
            spread = ages.std(ddof=1)
            facts |= {"mean age": ages.mean(), "standard deviation of age": spread, "median age": ages.median()}
    return pd.DataFrame({"value": facts})


def clip_count(scored) -> int:
    """How many clips the scored answers show; 0 when they do not say."""
    return scored["clip"].nunique() if "clip" in scored else 0


def named_people(people):
    """``RankingReport.people`` with one name a row, "gender: male"."""
    import pandas as pd

    names = pd.Index(people.about + ": " + people.group.astype(str), name="people")
    return people[["value", "share"]].set_axis(names).rename(columns={"value": "count or years"})


def flat_names(frame):
    """The same table with one level of names: columns "model sd", rows "model: term"."""
    import pandas as pd

    out = frame.copy()
    if isinstance(out.columns, pd.MultiIndex):
        out.columns = [f"{model}: {what}" for model, what in out.columns]
    if isinstance(out.index, pd.MultiIndex):
        out.index = pd.Index([": ".join(map(str, row)) for row in out.index], name=" ".join(out.index.names))
    return out


def few_and_unbeaten(answers, system: str, people: int):
    """The answers of the first people of a study, with one system clearly preferred whenever it was shown."""
    few = answers[answers.userID.isin(answers.userID.unique()[:people])].copy()
    few.loc[few.left == system, "choice"] = -2
    few.loc[few.right == system, "choice"] = 2
    return few


def audit_words(audit):
    """The rows of an audit that are not consistent, for reading: as printed, recomputed, and what does not fit."""
    import pandas as pd

    rows = {}
    for name, row in audit[audit.verdict != "consistent"].iterrows():
        wrong = {"p": row.p_ok, "effect size": row.eta_ok, "df": row.df_ok}
        words = ", ".join(what for what, fits in wrong.items() if fits is not None and not fits)
        rows[name] = {
            **{key: row[key] for key in ("F", "df1", "df2", "p")},
            "p is": f"{row.p_high:.2g}",
            "eta": row.eta,
            "eta is": f"{row.eta_high:.3f}",
            "does not fit": f"copy of {row.copy_of}" if row.copy_of else words,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("row")


def unpaired_comparisons(ratings):
    """p of Tukey's test between strengths as if all scores were other people's, by distortion and two strengths."""
    import pandas as pd

    from motionbook.perception.posthoc import tukey_unpaired

    parts = [
        tukey_unpaired(part, "score", "strength").assign(part=kind)
        for kind, part in ratings.groupby("distortion", sort=False)
    ]
    return pd.concat(parts).set_index(["part", "a", "b"]).p_adjusted


def source_names(diagnostics, count: int) -> list[str]:
    """Names of the first ``count`` ground-truth clips, the sources whose distorted copies are rated.

    Raises
    ------
    ValueError
        When there are fewer than two: the study needs one for each half of the people.
    """
    names = sorted(diagnostics["clip"][diagnostics["system"] == "GT"].unique())[:count]
    if len(names) < 2:
        raise ValueError(
            f"expected at least two ground-truth ten-second clips to distort, got {len(names)}; give data with more or "
            "longer recordings, or run chapters 01 to 04 alone (--only 01 02 03 04)"
        )
    return names
