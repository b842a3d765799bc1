"""Simulated people who answer studies. Their answers are synthetic and must be labelled so wherever they show.

The pairwise rater prefers the clip of higher quality, seen through noise and two thresholds (an ordinal probit with
symmetric thresholds); the DSIS rater scores a distortion by a logistic curve of its strength, with a bias and an
inconsistency of their own (the observer model of ITU-T P.910). How visible a distortion is on its clip plays no part in
the score: a stretched path counts the same on somebody who stands as on somebody who walks.
"""

import numpy as np

# Thresholds of the five-level answer in units of the rater's noise: below the first no preference, above the second a
# clear one. Chosen so that about a fifth of close pairs are called equal; an assumption.
NO_PREFERENCE, CLEAR_PREFERENCE = 0.25, 1.1

# Score = 1 + 4 / (1 + exp(-slope (level - middle))), level 1..5 of the study; assumed middles and slopes, ordered after
# the pilot's account of which distortions annoy at which strength (4DHumanQA, supplement VII-A).
DISTORTION_CURVES = {
    "glide": (2.8, 1.1),
    "moonwalk": (2.4, 1.2),
    "contact": (3.6, 0.8),
    "smoothness": (4.2, 0.7),
    "twist": (2.9, 1.0),
    "intersection": (2.7, 1.0),
}

LANGUAGES, LANGUAGE_SHARES = ("eu", "es", "en"), (0.6555, 0.2867, 0.0578)
GENDERS, GENDER_SHARES = ("male", "female", "non-binary"), (0.7539, 0.2369, 0.0092)


def pairwise_study(qualities, participants: int, seed: int, *, trials: int = 20):
    """Answers of simulated participants to a study in StayStill's form (section 4.3.1).

    Each person sees two calibration pairs, then ``trials - 4`` random pairs of two systems on one clip with two
    attention checks among them. A few people are inattentive: they answer at random and usually fail a check.

    Parameters
    ----------
    qualities : data frame (clips, systems)
        Latent quality of each clip as made by each system, in units of the rater's noise.
    participants : int
        People whose answers will pass the exclusions; inattentive ones come on top.
    seed : int
    trials : int

    Returns
    -------
    pandas.DataFrame
        In the columns of ``motionbook.perception.read_responses``.
    """
    import pandas as pd

    rng = np.random.default_rng([seed, 0x5EED])
    systems, clips = list(qualities.columns), list(qualities.index)
    values = qualities.to_numpy(dtype=np.float64)
    if len(systems) < 2 or not np.isfinite(values).all():
        raise ValueError("qualities: expected a finite value for at least two systems on every clip")
    best, worst = values.mean(0).argmax(), values.mean(0).argmin()
    pairs = [(a, b) for a in range(len(systems)) for b in range(len(systems)) if a != b]
    rows, attentive, person = [], 0, 0
    while attentive < participants:
        person += 1
        careless = rng.random() < 0.05
        about = {
            "language": rng.choice(LANGUAGES, p=LANGUAGE_SHARES),
            "gender": rng.choice(GENDERS, p=GENDER_SHARES),
            "age": int(np.clip(np.round(18 + rng.gamma(0.7, 9.9)), 18, 65)),
        }
        order = rng.permutation(len(pairs))
        scored = [pairs[order[i % len(pairs)]] for i in range(trials - 4)]
        shown = [(worst, best), (best, worst), *scored]
        for place in (int(rng.integers(3, 8)), int(rng.integers(trials - 6, trials - 1))):
            shown.insert(place, None)
        passed = True
        for count, pair in enumerate(shown):
            if pair is None:
                choice = int(rng.integers(-2, 3)) if careless else 2
                passed &= choice == 2
                left = right = "attentionCheck"
                clip = ""
            else:
                at = int(rng.integers(len(clips)))
                lean = values[at, pair[1]] - values[at, pair[0]] + np.sqrt(2) * rng.standard_normal()
                size = abs(lean)
                level = 0 if size < NO_PREFERENCE else 1 if size < CLEAR_PREFERENCE else 2
                choice = int(rng.integers(-2, 3)) if careless else int(np.sign(lean)) * level
                left, right, clip = systems[pair[0]], systems[pair[1]], clips[at]
            rows.append((f"s{person:03d}", count, left, right, clip, choice, *about.values()))
        attentive += passed
    names = ["userID", "responseCount", "left", "right", "clip", "choice", *about]
    return pd.DataFrame(rows, columns=names)


def rating_study(sources, participants: int, seed: int):
    """Scores of simulated participants in a double-stimulus impairment study (4DHumanQA, section V-D).

    The first half of the sources is rated by one half of the people, the rest by the other (motion type is a
    between-subject factor in the paper); everyone sees all distortions at all five levels of their sources, in an
    order of their own.

    Parameters
    ----------
    sources : list of str
    participants : int
    seed : int

    Returns
    -------
    pandas.DataFrame
        ``participant``, ``gender``, ``group``, ``trial``, ``stimulus`` ("<source>_<distortion>_<level>"), ``source``,
        ``distortion``, ``strength`` (1..5), ``score`` (1 imperceptible ... 5 very annoying).
    """
    import pandas as pd

    if len(sources) < 2 or participants < 2:
        raise ValueError(f"expected at least two sources and two participants, got {len(sources)} and {participants}")
    rng = np.random.default_rng([seed, 0xD515])
    half = len(sources) // 2
    groups = {"A": list(sources[:half]), "B": list(sources[half:])}
    # how much a source shows or hides distortions, in levels
    ease = {source: 0.35 * rng.standard_normal() for source in sources}
    rows = []
    for person in range(participants):
        group = "AB"[person % 2]
        gender = "F" if rng.random() < 0.354 else "M"
        bias, inconsistency = 0.35 * rng.standard_normal(), rng.uniform(0.35, 0.75)
        stimuli = [(s, d, level) for s in groups[group] for d in DISTORTION_CURVES for level in range(1, 6)]
        for trial, at in enumerate(rng.permutation(len(stimuli))):
            source, distortion, level = stimuli[at]
            middle, slope = DISTORTION_CURVES[distortion]
            quality = 1 + 4 / (1 + np.exp(-slope * (level + ease[source] - middle)))
            score = int(np.clip(np.rint(quality + bias + inconsistency * rng.standard_normal()), 1, 5))
            name = f"{source}_{distortion}_{level}"
            rows.append((f"p{person + 1:02d}", gender, group, trial, name, source, distortion, level, score))
    names = ["participant", "gender", "group", "trial", "stimulus", "source", "distortion", "strength", "score"]
    return pd.DataFrame(rows, columns=names)
