"""What chapter 06 reads: ground-truth clips of chapter 03 and the opinion scores of chapter 05."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from motionbook.bvh import read_bvh
from motionbook.clip import Clip
from motionbook.files import write_csv


def make_ratings(budget: str, seed: int, sources: list[str]) -> Callable[[Path], object]:
    """Stand-in for chapter 05's simulated ratings of the distortions of ``sources``, into a given folder."""

    def make(folder: Path):
        from motionbook import budgets
        from motionbook.perception import mos
        from motionbook.synthesis.raters import rating_study

        ratings = rating_study(sources, budgets.sizes(budget, "05_perception")["raters"], seed)
        write_csv(folder / "ratings.csv", ratings)
        write_csv(folder / "mos.csv", mos(ratings).reset_index())

    return make


def read_sources(folder: Path, count: int) -> dict[str, Clip]:
    """The first ``count`` ground-truth clips of chapter 03, by name."""
    paths = sorted((folder / "clips" / "GT").glob("*.bvh"))[:count]
    if not paths:
        raise FileNotFoundError(f"{folder / 'clips' / 'GT'} holds no .bvh; run chapter 03 first")
    return {path.stem: read_bvh(path) for path in paths}


def stimulus_facts(sources: int):
    """Numbers of the stimuli by the names of 4DHumanQA's text (section IV, supplement VII-A)."""
    import pandas as pd

    from motionbook.quality.distortion import STRENGTHS

    names = {
        "contact": "foot contact",
        "smoothness": "motion smoothness",
        "twist": "temporal twist",
        "intersection": "self intersection",
    }
    levels = {len(values) for values in STRENGTHS.values()}
    facts = {
        "source models": sources,
        "distortion types": len(STRENGTHS),
        "strengths": levels.pop(),
        "stimuli of the training and validation set": sources * sum(map(len, STRENGTHS.values())),
    }
    for kind, name in names.items():
        values = STRENGTHS[kind]
        facts[f"greatest, {name}"] = values[-1]
        facts[f"step, {name}"] = round(values[-1] - values[-2], 9)
    walk = STRENGTHS["moonwalk"]
    facts |= {f"{word}, foot skate moonwalking": walk[at] for word, at in (("weakest", 0), ("strongest", -1))}
    facts["step, foot skate moonwalking"] = round(walk[-2] - walk[-1], 9)
    return pd.DataFrame({"value": facts})


def travel(sources: dict[str, Clip]):
    """How far glide and moonwalk at their strongest move each source from where it was, by source, in metres."""
    import pandas as pd

    from motionbook.quality.distortion import distort

    kinds = ("glide", "moonwalk")
    rows = {}
    for name, clip in sources.items():
        moved = [distort(clip, kind, 5).clip.root_positions - clip.root_positions for kind in kinds]
        rows[name] = [float(np.linalg.norm(shift, axis=1).max()) for shift in moved]
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(kinds)).rename_axis("source")


def feature_correlations(table, scores):
    """Spearman correlation of every feature with the opinion scores (4DHumanQA, Table II), by the feature's title."""
    import pandas as pd
    from scipy import stats

    from motionbook.quality.features import FEATURES, TITLES

    rows = {}
    for name in FEATURES:
        result = stats.spearmanr(table[name], scores)
        rows[TITLES[name]] = (name, result.statistic, result.pvalue)
    return pd.DataFrame.from_dict(rows, orient="index", columns=["ID", "SROCC", "p-value"]).rename_axis("Feature")


def leave_one_source_out(table, scores, sources, *, ridge: float = 0.0):
    """Predictions of every stimulus by a model that never saw its source, as a series like ``scores``.

    ``ridge`` as in ``fit``.
    """
    import pandas as pd

    from motionbook.quality.model import fit

    predicted = pd.Series(index=scores.index, dtype=float)
    for source in dict.fromkeys(sources):
        held_out = sources == source
        predicted[held_out] = fit(table[~held_out], scores[~held_out], ridge=ridge).predict(table[held_out])
    return predicted
