"""From a table of ratings to the whole report: opinion scores, raters, agreement, analyses of variance, comparisons."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from motionbook.perception.agreement import icc, krippendorff_alpha
from motionbook.perception.designs import as_names
from motionbook.perception.effects import distortion_anovas, table1
from motionbook.perception.friedman import durbin_conover, friedman
from motionbook.perception.opinion import join_stimuli, mos, read_ratings, scale_of
from motionbook.perception.posthoc import pairwise
from motionbook.perception.screening import (
    panels,
    rater_table,
    remove_bias,
    screen_bt500,
    try_observer_model,
    without,
)

# the names of section V-C
PILOT_NAMES = {
    "contact": "foot contact",
    "glide": "foot skate glide",
    "moonwalk": "foot skate moonwalking",
    "intersection": "self-intersections",
    "twist": "temporal twists",
    "smoothness": "motion smoothness",
}


class RatingReport(NamedTuple):
    """All tables of ``rating_report``.

    ``ratings`` as read; ``facts`` of the study; ``scores`` by stimulus, plain and by every way of treating raters;
    ``raters`` by participant; ``agreement`` by panel; ``anovas`` by distortion type (empty without factors);
    ``effects``, their table; ``comparisons`` of the levels of the compared factor.
    """

    ratings: object
    facts: object
    scores: object
    raters: object
    agreement: object
    anovas: dict
    effects: object
    comparisons: object


def rating_report(
    ratings,
    *,
    columns: Mapping[str, str] | None = None,
    scale=None,
    stimuli=None,
    within=(),
    between=(),
    by: str | None = None,
    compare: str | None = None,
    adjust: str = "tukey",
    correction: str = "GG",
    missing: str = "drop",
) -> RatingReport:
    """The full report of a rating study, of any table with a stimulus, a person and a score per row.

    Parameters
    ----------
    ratings : path or data frame
    columns, scale : see ``opinion.read_ratings``
    stimuli : data frame, optional
        Factors of the stimuli, by a column ``stimulus``, when the ratings do not carry them.
    within, between : str or sequence of str
        Factors of the analysis of variance; without any there is none.
    by : str, optional
        Column that splits the ratings into analyses of their own, such as the distortion type.
    compare : str, optional
        Factor whose levels are compared in pairs, with ``adjust`` over the pairs.
    correction : see ``effects.corrected``
    missing : {"drop", "error"}
        What happens to people who lack a cell of the design. Those left out are named in ``facts``.

    Returns
    -------
    RatingReport
    """
    import pandas as pd

    table = read_ratings(ratings, columns=columns, scale=scale)
    if stimuli is not None:
        table = join_stimuli(table, stimuli)
    within, between = as_names(within), as_names(between)
    if compare and compare not in (*within, *between):
        raise ValueError(f"compare: expected one of the factors, {', '.join([*within, *between])}, got {compare!r}")
    raters = rater_table(table)
    anovas, effects, comparisons = {}, pd.DataFrame(), pd.DataFrame()
    if within or between:
        split = table if by else table.assign(**{"": "all scores"})
        column = by or ""
        anovas = distortion_anovas(split, within, between, by=column, missing=missing)
        effects = table1(anovas, correction=correction)
        if compare:
            groups = dict(list(split.groupby(column, sort=False)))
            parts = [
                pairwise(
                    groups[kind],
                    "score",
                    "participant",
                    within,
                    between,
                    factor=compare,
                    adjust=adjust,
                    missing=missing,
                ).assign(part=kind)
                for kind in anovas
            ]
            for part in parts:
                part.attrs = {}
            comparisons = pd.concat(parts, ignore_index=True).set_index(["part", "a", "b"])
            comparisons.attrs = {"adjust": adjust, "factor": compare}
    facts = _facts(table, raters, anovas)
    return RatingReport(table, facts, score_table(table), raters, agreement_table(table), anovas, effects, comparisons)


def score_table(ratings):
    """Opinion scores of every stimulus by every way of treating raters.

    Returns
    -------
    pandas.DataFrame
        By stimulus: ``n``, ``mos``, ``sd``, ``ci95`` (Student's t), ``ci95_normal``; ``mos_bt500`` (after BT.500's
        rejections), ``mos_p913`` (biases removed), ``mos_p910`` and ``ci95_p910`` (observer model; NaN where it has no
        solution, see ``rater_table``).
    """
    frame = mos(ratings)
    frame["ci95_normal"] = mos(ratings, interval="normal").ci95
    verdict = screen_bt500(ratings)
    frame["mos_bt500"] = mos(without(ratings, verdict.index[verdict.rejected])).mos
    frame["mos_p913"] = mos(remove_bias(ratings)[0]).mos
    model, _ = try_observer_model(ratings)
    frame["mos_p910"], frame["ci95_p910"] = (
        (np.nan, np.nan) if model is None else (model.stimuli.mos, model.stimuli.ci95)
    )
    return frame


def agreement_table(ratings):
    """Intraclass correlations and Krippendorff's alpha, for each panel of people who share stimuli.

    Returns
    -------
    pandas.DataFrame
        By ``panel`` and ``measure``: ``value``, ``low``, ``high`` (95 %; none for alpha), ``stimuli``, ``raters``, and
        a ``note`` where there is no value. The intraclass correlations leave out people who rated fewer stimuli than
        others of their panel; alpha takes everybody.
    """
    import pandas as pd

    rows = []
    for number, panel in enumerate(panels(ratings), start=1):
        size = {"panel": number, "stimuli": panel.stimulus.nunique(), "raters": panel.participant.nunique(), "note": ""}
        counts = panel.groupby("participant").score.count()
        full = panel[panel.participant.isin(counts.index[counts == counts.max()])]
        try:
            forms = icc(full)
            size_full = {**size, "stimuli": forms.attrs["stimuli"], "raters": forms.attrs["raters"]}
            for form, row in forms.iterrows():
                rows.append({**size_full, "measure": form, "value": row.icc, "low": row.low, "high": row.high})
        except ValueError as error:
            rows.append({**size, "measure": "ICC", "note": str(error)})
        for level in ("nominal", "ordinal", "interval"):
            name = f"Krippendorff's alpha, {level}"
            try:
                rows.append({**size, "measure": name, "value": krippendorff_alpha(panel, level)})
            except ValueError as error:
                rows.append({**size, "measure": name, "note": str(error)})
    names = ["panel", "measure", "value", "low", "high", "stimuli", "raters", "note"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype({"value": float, "low": float, "high": float}).set_index(["panel", "measure"])


def participants_table(ratings):
    """Who took part, by the names of 4DHumanQA's section V: ``count`` and ``share`` of the people where that is meant.

    What the ratings do not tell, such as ages, is left out.

    Parameters
    ----------
    ratings : data frame
        ``participant``, ``stimulus``, ``score`` and, where known, ``gender`` ("F", "M") and ``split``.
    """
    import pandas as pd

    people = ratings.groupby("participant").first()
    rows = {"participants": (len(people), "")}
    if "gender" in people:
        for name, letter in (("female", "F"), ("male", "M")):
            count = int((people.gender == letter).sum())
            rows[name] = (count, f"{100 * count / len(people):.1f}%")
    rows["stimuli per participant"] = (int(ratings.groupby("participant").size().median()), "")
    if "split" in ratings:
        for split, name in (("train", "training and validation"), ("test", "test")):
            each = (ratings.split == split).groupby(ratings.participant).sum()
            rows[f"stimuli of the {name} set"] = (int(each.median()), "")
    rows["ratings per stimulus"] = (int(ratings.groupby("stimulus").score.count().median()), "")
    scale = scale_of(ratings)
    rows["points of the scale"] = (int(scale.high - scale.low + 1), "")
    return pd.DataFrame.from_dict(rows, orient="index", columns=["count", "share"]).rename_axis("fact")


def pilot_table(ratings):
    """Friedman's test of each distortion type of a pilot, in the layout of 4DHumanQA's section V-C.

    Parameters
    ----------
    ratings : data frame
        ``participant``, ``distortion``, ``strength``, ``score``; everybody rated every strength.

    Returns
    -------
    (tests, comparisons)
        By distortion: ``chi2``, ``df``, ``p``, ``kendall_w``, ``median low`` and ``median high`` (of the weakest and
        strongest strength); and the Durbin-Conover comparisons with a column ``distortion``.
    """
    import pandas as pd

    tests, comparisons = {}, []
    for kind, part in ratings.groupby("distortion", sort=False):
        table = part.pivot(index="participant", columns="strength", values="score")
        if kind == "moonwalk":  # it is stronger the smaller its factor
            table = table[sorted(table.columns, reverse=True)]
        result = friedman(table)
        medians = table.median()
        ends = {"median low": medians.iloc[0], "median high": medians.iloc[-1]}
        tests[PILOT_NAMES.get(kind, kind)] = {**result._asdict(), **ends}
        comparisons.append(durbin_conover(table).assign(distortion=kind))
    return pd.DataFrame.from_dict(tests, orient="index").rename_axis("distortion"), pd.concat(
        comparisons, ignore_index=True
    )


def _facts(table, raters, anovas):
    import pandas as pd

    per_stimulus = table.groupby("stimulus").score.count()
    facts = {
        "people": table.participant.nunique(),
        "stimuli": table.stimulus.nunique(),
        "ratings": len(table),
        "scale": str(scale_of(table)),
        "scores per stimulus": _span(per_stimulus),
        "rejected by BT.500": _listed(raters.index[raters.rejected]),
        "scale turned round": _listed(raters.index[raters.inverted]),
        "no relation to the others": _listed(raters.index[raters.unrelated]),
    }
    if raters.attrs["observer_model"]:
        facts["observer model (P.910)"] = f"not estimated: {raters.attrs['observer_model']}"
    for kind, anova in anovas.items():
        facts[f"people in the analysis, {kind}"] = anova.attrs["n"]
        facts[f"left out of it, {kind}"] = _listed(anova.attrs["dropped"])
    return pd.DataFrame({"value": facts})


def _span(values) -> str:
    return str(values.min()) if values.min() == values.max() else f"{values.min()} to {values.max()}"


def _listed(names) -> str:
    return ", ".join(map(str, names)) or "none"
