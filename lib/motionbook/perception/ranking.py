"""From answers to a ranking that says no more than they do: classes, rank intervals, and everything a report shows."""

import warnings
from itertools import combinations
from typing import NamedTuple

import numpy as np

from motionbook.perception.connectivity import connectivity
from motionbook.perception.elo import bootstrap_elo, fit_elo, pair_differences
from motionbook.perception.ordinal import fit_davidson, fit_ordinal, fit_position
from motionbook.perception.planner import raters_from_answers
from motionbook.perception.posthoc import adjust_p
from motionbook.perception.responses import ATTENTION, Scored, exclude, malformed_rows, read_responses
from motionbook.perception.sandwich import goodness_of_fit, sandwich
from motionbook.perception.scales import FIVE, Scale
from motionbook.perception.votes import SCALE, votes_of
from motionbook.perception.weighting import weight_sensitivity


def pair_table(elo, resampled, *, alpha: float = 0.05):
    """Every pair of systems, the better first: difference, 95 % interval, p, Holm's p and whether they are told apart.

    p is two-sided from the resamples, ``2 (c + 1) / (B + 1)`` with c the resamples on the rarer side of zero; it never
    falls below 2 / (B + 1), which is all that B resamples can say.

    Parameters
    ----------
    elo : series by system
    resampled : data frame
        Elo scores from ``bootstrap_elo``; resamples without scores are left out.

    Returns
    -------
    pandas.DataFrame
        By pair "A - B": ``a``, ``b``, ``difference``, ``low``, ``high``, ``sd``, ``p``, ``p_holm``, ``apart``.
    """
    elo = elo.sort_values(ascending=False, kind="stable")
    kept = resampled[list(elo.index)].dropna().to_numpy()
    table = pair_differences(elo, resampled).rename_axis("pair")
    pairs = list(combinations(range(len(elo)), 2))
    table.insert(0, "a", [elo.index[i] for i, _ in pairs])
    table.insert(1, "b", [elo.index[j] for _, j in pairs])
    sd, p = np.empty(len(pairs)), np.empty(len(pairs))
    for n, (i, j) in enumerate(pairs):
        difference = kept[:, i] - kept[:, j]
        crossing = min((difference <= 0).sum(), (difference >= 0).sum())
        sd[n], p[n] = difference.std(ddof=1), min(1.0, 2 * (crossing + 1) / (len(difference) + 1))
    table["sd"], table["p"], table["p_holm"] = sd, p, adjust_p(p, "holm")
    table["apart"] = table.p_holm <= alpha
    return table.drop(columns="significant")


def classes(order, apart) -> list[tuple[str, ...]]:
    """Largest sets of systems of which no two are told apart, best first; a system may belong to several.

    Every pair that is not told apart shares a class and no pair that is does (the compact letter display of Piepho
    2004).

    Parameters
    ----------
    order : sequence of systems, best first
    apart : iterable of pairs of systems
    """
    place = {name: i for i, name in enumerate(order)}
    sets = [frozenset(order)]
    for a, b in apart:
        split = {s - {x} if {a, b} <= s else s for s in sets for x in (a, b)}
        sets = [s for s in split if not any(s < other for other in split)]
    ordered = sorted((sorted(s, key=place.get) for s in sets if s), key=lambda s: [place[name] for name in s])
    return [tuple(s) for s in ordered]


def ranks(elo, pairs):
    """Class letters and rank interval of every system.

    A system's best rank is one more than the number of systems told apart above it, its worst the number of systems
    less those told apart below; with Holm's p the intervals hold for all systems together.

    Returns
    -------
    pandas.DataFrame
        By system, best first: ``classes`` ("a", "ab", ...), ``rank_best``, ``rank_worst``.
    """
    import pandas as pd

    order = list(elo.sort_values(ascending=False, kind="stable").index)
    told = pairs[pairs.apart]
    letters = {name: "" for name in order}
    for number, members in enumerate(classes(order, zip(told.a, told.b, strict=True))):
        for name in members:
            letters[name] += chr(97 + number) if number < 26 else f"({number + 1})"
    better, worse = told.b.value_counts(), told.a.value_counts()
    rows = [(letters[n], 1 + int(better.get(n, 0)), len(order) - int(worse.get(n, 0))) for n in order]
    return pd.DataFrame(rows, columns=["classes", "rank_best", "rank_worst"], index=pd.Index(order, name="system"))


class RankingReport(NamedTuple):
    """Everything a pairwise study says, as data frames; ``ranking_report`` makes it.

    ``settings`` (what was assumed), ``flow`` (people and answers left by each exclusion), ``people`` (gender, language,
    age; empty when the answers do not tell), ``connectivity``, ``scores`` (by system: Elo, spread, win rate, classes,
    rank interval), ``pairs``, ``spreads`` (standard deviation of Elo by unit and method), ``ordinal`` and ``terms``
    (scores, left/right bias and thresholds by model), ``answers_by_side``, ``fit`` and ``residuals``, ``weights``
    (sensitivity), ``planner`` (raters to separate each pair), ``resampled`` and ``resampled_rates`` (the bootstrap).
    """

    settings: object
    flow: object
    people: object
    connectivity: object
    scores: object
    pairs: object
    spreads: object
    ordinal: object
    terms: object
    answers_by_side: object
    fit: object
    residuals: object
    weights: object
    planner: object
    resampled: object
    resampled_rates: object


def ranking_report(
    answers,
    *,
    columns=None,
    scale: Scale = FIVE,
    malformed: str = "raise",
    published_rules: bool | None = None,
    pseudo: float = 0.0,
    resamples: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    power: float = 0.8,
) -> RankingReport:
    """The full report of a pairwise study.

    Parameters
    ----------
    answers : path or data frame
        A file or a frame with left, right, choice and user; see ``read_responses``.
    columns, scale, malformed
        As for ``read_responses``; the scale's weights are those of the fit, and malformed rows that are dropped are
        counted in the flow.
    published_rules : bool, optional
        Whether StayStill's exclusions apply (``exclude``); by default when the answers hold attention checks and
        ``responseCount``. Otherwise all answers count but those to attention checks and those of people who failed one.
    pseudo : float
        As for ``fit_elo``; for answers that leave a system without a score.
    resamples, seed : int
        With many systems more are needed, as p is at least 2 / (resamples + 1) before Holm's correction; a warning says
        when no pair could be told apart.
    alpha, power : float
        Of the tests, and of the planner.
    """
    import pandas as pd

    if resamples < 2:
        raise ValueError(f"resamples: expected at least 2, which a spread needs, got {resamples}")
    frame = read_responses(answers, columns=columns, scale=scale, malformed=malformed)
    if published_rules is None:
        published_rules = "responseCount" in frame and bool((frame.left == ATTENTION).any())
    weights = scale.weights
    scored, flow = _exclusions(frame, published_rules, max(weights))
    if malformed == "drop":
        dropped = len(malformed_rows(answers, columns=columns, scale=scale))
        flow = _with_malformed(flow, frame.userID.nunique(), len(frame), dropped)
    votes = votes_of(scored, weights)
    links = connectivity(scored, weights)
    elo = fit_elo(scored, weights=weights, pseudo=pseudo)
    resampled, rates = bootstrap_elo(scored, resamples, seed, weights=weights, pseudo=pseudo)
    pairs = pair_table(elo.elo, resampled, alpha=alpha)
    enough = int(np.ceil(2 * len(pairs) / alpha)) - 1
    if len(resampled.dropna()) < enough:
        warnings.warn(
            f"{len(resampled.dropna())} resamples cannot tell any of {len(pairs)} pairs apart at {alpha:g} after "
            f"Holm's correction; resamples={enough} is the least that can",
            stacklevel=2,
        )
    low, high = resampled.quantile(alpha / 2), resampled.quantile(1 - alpha / 2)
    scores = elo.assign(
        sd=resampled.std(ddof=1), low=low, high=high, win_rate_sd=rates.std(ddof=1), **ranks(elo.elo, pairs)
    )[["elo", "sd", "low", "high", "win_rate", "win_rate_sd", "appearances", "classes", "rank_best", "rank_worst"]]
    ordinal, terms, missing = _models(scored, scores, weights, pseudo)
    fit = goodness_of_fit(scored, weights=weights) if not pseudo else None
    settings = {
        "weights of grades": ", ".join(f"{size}: {weight:g}" for size, weight in sorted(weights.items())),
        "exclusions": "published" if published_rules else "failed attention checks only",
        "pseudo-count": pseudo,
        "resamples": resamples,
        "resamples without scores": int(resampled.isna().any(axis=1).sum()),
        "seed": seed,
        "level of tests": alpha,
        "people": len(votes.users),
        "answers": len(votes.user),
        "systems": len(votes.systems),
        "clips": len(votes.clips),
        **{f"left out: {name}": reason for name, reason in missing.items()},
    }
    return RankingReport(
        pd.DataFrame({"value": settings}),
        flow,
        people_table(scored),
        links,
        scores,
        pairs,
        _spreads(scored, resampled, resamples, seed, weights, pseudo).loc[scores.index],
        ordinal,
        terms,
        answers_by_side(scored, scale),
        fit.summary.to_frame() if fit else pd.DataFrame({"value": []}),
        fit.pairs if fit else pd.DataFrame(),
        weight_sensitivity(scored, scale, pseudo=pseudo),
        raters_from_answers(scored, weights=weights, pseudo=pseudo, power=power, alpha=alpha),
        resampled,
        rates,
    )


def people_table(scored):
    """Count and share of people by gender and by language, and their ages, as far as the answers tell.

    Of people, not of answers: a share of answers counts those who answered more twice over.
    """
    import pandas as pd

    people = scored.drop_duplicates("userID")
    rows = []
    for column in ("gender", "language"):
        if column in people:
            counts = people[column].value_counts()
            rows += [(column, name, count, count / len(people)) for name, count in counts.items()]
    if "age" in people:
        ages = pd.to_numeric(people.age, errors="coerce").dropna()
        for name, value in (("mean", ages.mean()), ("sd", ages.std(ddof=1)), ("median", ages.median())):
            rows.append(("age", name, value, np.nan))
    return pd.DataFrame(rows, columns=["about", "group", "value", "share"])


def answers_by_side(scored, scale: Scale = FIVE):
    """Share of each answer, and of the same answer for the other side: apart, they show a pull to one side.

    Returns
    -------
    pandas.DataFrame
        By signed preference: ``answers``, ``share`` and ``mirrored``, the share of the opposite preference.
    """
    import pandas as pd

    grades = list(scale.grades)
    counts = scored.choice.value_counts().reindex(grades, fill_value=0)
    share = counts / counts.sum()
    frame = {"answers": counts, "share": share, "mirrored": share.to_numpy()[::-1]}
    return pd.DataFrame(frame, index=pd.Index(grades, name="choice"))


def _exclusions(frame, published, top) -> Scored:
    if published:
        return exclude(frame, attention_choice=top)
    scored, flow = exclude(frame, least_answers=0, calibration=0, attention_choice=top)
    idle = ["calibration pairs left out", "people with fewer than 0 answers left out"]
    return Scored(scored, flow.drop(index=idle))


def _with_malformed(flow, people, answers, dropped):
    import pandas as pd

    first = pd.DataFrame(
        {"people": people, "answers": answers, "people_out": 0, "answers_out": dropped},
        index=pd.Index(["malformed rows left out"], name="step"),
    )
    return pd.concat([first, flow.drop(index="all answers")])


def _models(scored, scores, weights, pseudo):
    """Scores by model, the terms of those that have any, and why models are missing."""
    import pandas as pd

    by_model, terms, missing = {"weighted": scores[["elo", "sd"]]}, {}, {}
    fits = {"weighted, with side": fit_position, "ordinal": fit_ordinal, "Davidson": fit_davidson}
    if 0 not in weights:
        del fits["Davidson"]
    for name, fit in fits.items():
        if pseudo:
            missing[name] = "no pseudo-count there"
            continue
        try:
            found = fit(scored, weights=weights)
        except ValueError as error:
            # the scores stand without it, and the settings say that and why
            missing[name] = str(error)
            continue
        by_model[name] = found.scores
        if name == "Davidson":
            values = pd.Series({"left_bias": found.left_bias, "tie": found.tie})
            terms[name] = pd.DataFrame({"value": values, "elo": SCALE * values}).rename_axis("term")
        else:
            terms[name] = found.terms
    frame = pd.concat(by_model, axis=1).loc[scores.index].dropna(axis=1, how="all")
    return frame, pd.concat(terms, names=["model", "term"]) if terms else pd.DataFrame(), missing


def _spreads(scored, resampled, resamples, seed, weights, pseudo):
    """Standard deviation of each system's Elo by what is taken to vary and by method."""
    import pandas as pd

    units = ["user", "clip", "user and clip"]
    if not votes_of(scored, weights).clips:
        units = units[:1]
    columns = {}
    for unit in units:
        drawn = resampled
        if unit != "user":
            drawn = bootstrap_elo(scored, min(resamples, 2000), seed, unit=unit, weights=weights, pseudo=pseudo)[0]
        columns[f"{unit}, bootstrap"] = drawn.std(ddof=1)
        columns[f"{unit}, sandwich"] = sandwich(scored, unit=unit, weights=weights, pseudo=pseudo).frame().sd
    columns["answers independent"] = sandwich(scored, unit="answer", weights=weights, pseudo=pseudo).frame().sd
    return pd.DataFrame(columns).rename_axis("system")
