"""A simulated impairment study in 4DHumanQA's whole design (section V-D), and its pilot. No person answered.

A psychometric model: how visible a distortion is rises with its strength along a logistic curve, which the source
(identity, clothing, motion) and the person shift; every person adds a bias and an inconsistency of their own (the
observer model of ITU-T P.910) and answers with the nearest of five points. The curves are those of ``raters``; the
sizes of all shifts are assumptions, chosen so that effects of every kind occur. They say nothing about people.
"""

import numpy as np

from motionbook.synthesis.raters import DISTORTION_CURVES

MOTIONS, IDENTITIES, CLOTHES = ("walk", "hop"), ("deb", "pat"), ("tig", "sho")
TEST_IDENTITIES = ("ada", "bea", "joy", "tom", "mat")
WOMEN_SHARE = 17 / 48
SCALE = "1..5, best 1"

# Strengths of the main study as its text resolves them, and of the pilot (supplement VII-A), weakest first. The main
# study's glide is said to be "kept" while five of the pilot's six are needed; the second (1.18) is left out here, an
# assumption. Moonwalk gets stronger as its factor falls.
MAIN_STRENGTHS = {
    "glide": (1.115, 1.25, 1.5, 1.75, 2.0),
    "moonwalk": (0.97, 0.8, 0.6, 0.4, 0.2),
    "contact": (0.05, 0.15, 0.25, 0.35, 0.45),
    "smoothness": (0.1, 0.2, 0.3, 0.4, 0.5),
    "twist": (0.1, 0.15, 0.2, 0.25, 0.3),
    "intersection": (0.025, 0.075, 0.125, 0.175, 0.225),
}
PILOT_STRENGTHS = {
    "glide": (1.115, 1.18, 1.25, 1.5, 1.75, 2.0),
    "moonwalk": (0.97, 0.8, 0.75, 0.5, 0.4, 0.3, 0.2, 0.1),
    "contact": (0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.175, 0.2),
    "smoothness": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
    "twist": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5),
    "intersection": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
}

# Standard deviations, in levels of strength unless said otherwise.
SOURCE_SHIFT, CROSSED_SHIFT = 0.3, 0.15  # of a source factor, of a crossing of two
PERSON_SHIFT, PERSON_KIND_SHIFT = 0.35, 0.35  # how early a person sees distortions, and each kind of them
GENDER_SHIFT = 0.15
BIAS = 0.35  # in points of the scale
INCONSISTENCY = (0.35, 0.75)  # least and greatest, in points


def impairment_study(
    participants: int = 48, seed: int = 0, *, careless: int = 0, inverted: int = 0, incomplete: int = 1
):
    """Scores of simulated people for 240 stimuli and the 10 of the test set, half of them each.

    Within a person: identity x clothing x strength for each of six distortions; between people: motion and gender. Each
    rates 125 stimuli of one motion in an order of their own.

    Parameters
    ----------
    participants, seed : int
    careless, inverted : int
        People who answer at random, and who read the scale the wrong way round.
    incomplete : int
        People who stop half way. The paper's degrees of freedom belong to 47 of its 48 people; why one is left out it
        does not say. Here one stops.

    Returns
    -------
    pandas.DataFrame
        ``participant``, ``gender``, ``motion``, ``trial``, ``stimulus``
        ("<motion>_<identity>_<clothing>_<distortion>_<strength>"), ``identity``, ``clothing``, ``distortion``,
        ``strength`` (1..5), ``split`` ("train", "test"), ``score`` (1 imperceptible ... 5 very annoying), ``scale``.
    """
    import pandas as pd

    if participants < 8:
        raise ValueError(
            f"participants: expected at least 8, two in each of the four between cells, got {participants}"
        )
    if careless + inverted + incomplete > participants // 2:
        raise ValueError("careless, inverted and incomplete: expected no more than half of the people altogether")
    rng = np.random.default_rng([seed, 0xD515, participants])
    shifts = {kind: _source_shifts(rng) for kind in DISTORTION_CURVES}
    stimuli = {motion: _stimuli(motion, rng) for motion in MOTIONS}
    women = round(WOMEN_SHARE * participants)
    genders = ["F" if i < women else "M" for i in range(participants)]
    about = [(f"p{i + 1:02d}", genders[i], MOTIONS[i % 2]) for i in range(participants)]
    special = rng.permutation(participants)
    parts = []
    for i, (name, gender, motion) in enumerate(about):
        table = stimuli[motion]
        order = rng.permutation(len(table))
        score = _answers(table, gender, shifts, rng)
        place = int(np.flatnonzero(special == i)[0])
        if place < careless:
            score = rng.integers(1, 6, len(table))
        elif place < careless + inverted:
            score = 6 - score
        part = table.assign(participant=name, gender=gender, score=score).iloc[order].assign(trial=range(len(table)))
        if careless + inverted <= place < careless + inverted + incomplete:
            part = part.iloc[: len(part) // 2]
        parts.append(part)
    names = ["participant", "gender", "motion", "trial", "stimulus", "identity", "clothing", "distortion", "strength"]
    return pd.concat(parts, ignore_index=True).assign(scale=SCALE)[[*names, "split", "score", "scale"]]


def pilot_study(people: int = 5, seed: int = 0):
    """Scores of a simulated pilot: 46 stimuli of one source, every strength of every distortion, rated by each person.

    The strengths of the pilot are placed on the main study's five levels by straight lines between (and beyond) them.

    Returns
    -------
    pandas.DataFrame
        ``participant``, ``stimulus``, ``distortion``, ``strength`` (as in the supplement), ``score``, ``scale``.
    """
    import pandas as pd

    rng = np.random.default_rng([seed, 0x9170])
    rows = []
    for person in range(people):
        early, bias, spread = (
            PERSON_SHIFT * rng.standard_normal(),
            BIAS * rng.standard_normal(),
            rng.uniform(*INCONSISTENCY),
        )
        for kind, strengths in PILOT_STRENGTHS.items():
            for strength in strengths:
                quality = _curve(kind, level_of(kind, strength) + early) + bias + spread * rng.standard_normal()
                score = int(np.clip(np.rint(quality), 1, 5))
                rows.append((f"pilot{person + 1}", f"walk_deb_tig_{kind}_{strength:g}", kind, strength, score, SCALE))
    return pd.DataFrame(rows, columns=["participant", "stimulus", "distortion", "strength", "score", "scale"])


def level_of(kind: str, strength: float) -> float:
    """Where a strength lies on the main study's levels 1..5, by straight lines, continued beyond both ends."""
    x = np.array(MAIN_STRENGTHS[kind])
    sign = np.sign(x[-1] - x[0])
    x, at = sign * x, sign * strength
    inside = float(np.interp(at, x, np.arange(1.0, 6.0)))
    return inside + min(0.0, at - x[0]) / (x[1] - x[0]) + max(0.0, at - x[-1]) / (x[-1] - x[-2])


def _curve(kind: str, level):
    middle, slope = DISTORTION_CURVES[kind]
    return 1 + 4 / (1 + np.exp(-slope * (level - middle)))


def _source_shifts(rng) -> dict:
    """Shift by (motion, identity, clothing): main effects and crossings of two, and one for gender under "F"."""
    signs = np.array([(m, i, c) for m in (1, -1) for i in (1, -1) for c in (1, -1)])
    main, crossed = SOURCE_SHIFT * rng.standard_normal(3), CROSSED_SHIFT * rng.standard_normal(3)
    values = (
        signs @ main / 2 + np.stack([signs[:, a] * signs[:, b] for a, b in ((0, 1), (0, 2), (1, 2))], 1) @ crossed / 2
    )
    keys = [(m, i, c) for m in MOTIONS for i in IDENTITIES for c in CLOTHES]
    return {**dict(zip(keys, values, strict=True)), "F": GENDER_SHIFT * rng.standard_normal()}


def _stimuli(motion: str, rng):
    import pandas as pd

    rows = [
        (motion, identity, clothing, kind, level, "train")
        for identity in IDENTITIES
        for clothing in CLOTHES
        for kind in DISTORTION_CURVES
        for level in range(1, 6)
    ]
    kinds = rng.permutation(list(DISTORTION_CURVES))
    for at, identity in enumerate(TEST_IDENTITIES):
        rows.append((motion, identity, CLOTHES[int(rng.integers(2))], str(kinds[at]), int(rng.integers(1, 6)), "test"))
    table = pd.DataFrame(rows, columns=["motion", "identity", "clothing", "distortion", "strength", "split"])
    names = table[["motion", "identity", "clothing", "distortion"]].agg("_".join, axis=1)
    return table.assign(stimulus=names + "_" + table.strength.astype(str))


def _answers(table, gender: str, shifts: dict, rng) -> np.ndarray:
    early, bias, spread = (
        PERSON_SHIFT * rng.standard_normal(),
        BIAS * rng.standard_normal(),
        rng.uniform(*INCONSISTENCY),
    )
    own = {kind: PERSON_KIND_SHIFT * rng.standard_normal() for kind in DISTORTION_CURVES}
    level = np.empty(len(table))
    keys = zip(table.motion, table.identity, table.clothing, table.distortion, table.strength, strict=True)
    for row, (motion, identity, clothing, kind, strength) in enumerate(keys):
        # a source of the test set shows distortions as the average source does
        source = shifts[kind].get((motion, identity, clothing), 0.0)
        level[row] = strength + source + (shifts[kind]["F"] if gender == "F" else 0.0) + early + own[kind]
    quality = np.array([_curve(kind, at) for kind, at in zip(table.distortion, level, strict=True)])
    return np.clip(np.rint(quality + bias + spread * rng.standard_normal(len(table))), 1, 5).astype(int)
