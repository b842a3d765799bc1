"""Effects of several analyses of variance in 4DHumanQA's layout (Table I), with corrections for many tests."""

from collections.abc import Mapping

import numpy as np

from motionbook.perception.anova import INTERCEPT, mixed_anova
from motionbook.perception.designs import as_names
from motionbook.perception.posthoc import adjust_p

# the paper's names of distortion types and factors, in its order
DISTORTIONS = {
    "glide": "Foot Glide",
    "moonwalk": "Moonwalking",
    "contact": "Foot contact",
    "smoothness": "Motion smoothness",
    "twist": "Temporal Twist",
    "intersection": "Self intersection",
}
FACTORS = {
    "identity": "Identity",
    "clothing": "Clothing",
    "strength": "Strength",
    "gender": "Gender",
    "motion": "Motion Type",
}
WITHIN, BETWEEN = ("identity", "clothing", "strength"), ("motion", "gender")
CORRECTIONS = ("GG", "HF", "mauchly", "published", "none")


def distortion_anovas(ratings, within=WITHIN, between=BETWEEN, *, by: str = "distortion", missing: str = "error"):
    """One ``mixed_anova`` of the scores for each distortion type, as a dictionary in order of first appearance.

    Parameters
    ----------
    ratings : data frame
        ``participant``, ``score``, the factors and ``by``.
    missing : {"error", "drop"}
    """
    if by not in ratings:
        raise ValueError(f"ratings: no column {by}; it has {', '.join(map(str, ratings.columns))}")
    known = [kind for kind in DISTORTIONS if kind in set(ratings[by])]
    kinds = known + [kind for kind in dict.fromkeys(ratings[by]) if kind not in known]
    options = (as_names(within), as_names(between))
    groups = dict(list(ratings.groupby(by, sort=False)))
    return {kind: mixed_anova(groups[kind], "score", "participant", *options, missing=missing) for kind in kinds}


def corrected(anova, correction: str = "GG", alpha: float = 0.05):
    """Which df and p to report for every effect.

    Parameters
    ----------
    anova : data frame of ``mixed_anova``
    correction : {"GG", "HF", "mauchly", "published", "none"}
        Correct wherever sphericity is a question, by either epsilon; by Greenhouse-Geisser only where Mauchly's test
        rejects; as Table I does, by Greenhouse-Geisser for the main effects of within factors and for nothing else,
        though crossings share their error term; nowhere.

    Returns
    -------
    pandas.DataFrame
        By effect: ``F``, ``df1``, ``df2``, ``p``, ``pes``, ``correction`` ("F*" where corrected).
    """
    import pandas as pd

    if correction not in CORRECTIONS:
        raise ValueError(f"correction: expected one of {', '.join(CORRECTIONS)}, got {correction!r}")
    kind = "HF" if correction == "HF" else "GG"
    possible = anova.eps_GG.notna().to_numpy(copy=True)
    if correction == "mauchly":
        # with too few subjects there is no test; the correction is then the safe side
        possible &= ~(anova.W_p.to_numpy() >= alpha)
    elif correction == "published":
        possible &= ~anova.index.str.contains(":")
    elif correction == "none":
        possible[:] = False
    chosen = {
        "F": anova.F,
        "df1": np.where(possible, anova[f"{kind}_num_df"], anova.num_df),
        "df2": np.where(possible, anova[f"{kind}_den_df"], anova.den_df),
        "p": np.where(possible, anova[f"p_{kind}"], anova.p),
        "pes": anova.pes,
        "correction": np.where(possible, "F*", ""),
    }
    return pd.DataFrame(chosen, index=anova.index).drop(index=INTERCEPT, errors="ignore")


def table1(anovas: Mapping, *, correction: str = "GG", alpha: float = 0.05, keep=(), every: bool = False):
    """Significant effects of several analyses, in the layout of 4DHumanQA's Table I.

    Parameters
    ----------
    anovas : mapping of distortion type to ``mixed_anova``'s data frame
    correction : see ``corrected``
    alpha : float
        Rows with p below it are shown.
    keep : sequence of str
        Rows to show whatever their p, such as those of the published table.
    every : bool
        Show all effects.

    Returns
    -------
    pandas.DataFrame
        Rows "Foot Glide: Identity × Motion Type"; ``F``, ``df1``, ``df2``, ``p-value``, ``eta_p^2``, ``correction``
        ("F*" for Greenhouse-Geisser), and p over all effects of all analyses by ``Holm`` and by ``FDR``.
    """
    import pandas as pd

    parts = []
    for kind, anova in anovas.items():
        part = corrected(anova, correction, alpha)
        order = sorted(range(len(part)), key=lambda i: _place(part.index[i]))
        part = part.iloc[order]
        part.index = [f"{DISTORTIONS.get(kind, str(kind))}: {_effect_name(effect)}" for effect in part.index]
        part.attrs = {}
        parts.append(part)
    if not parts:
        raise ValueError("anovas: expected at least one analysis, got none")
    frame = pd.concat(parts).rename(columns={"p": "p-value", "pes": "eta_p^2"}).rename_axis("Effect")
    frame["p Holm"], frame["p FDR"] = adjust_p(frame["p-value"], "holm"), adjust_p(frame["p-value"], "fdr")
    shown = np.ones(len(frame), dtype=bool) if every else (frame["p-value"] < alpha) | frame.index.isin(list(keep))
    out = frame[shown]
    out.attrs = {"tests": len(frame), "correction": correction, "alpha": alpha}
    return out


def _place(effect: str) -> tuple:
    parts = effect.split(":")
    order = list(FACTORS)
    # main effects first, then crossings by size, each in the order of FACTORS
    return (len(parts), sorted(order.index(p) if p in order else len(order) for p in parts))


def _effect_name(effect: str) -> str:
    order = list(FACTORS)
    parts = sorted(effect.split(":"), key=lambda p: order.index(p) if p in order else len(order))
    return " × ".join(FACTORS.get(part, part) for part in parts)
