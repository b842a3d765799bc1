"""How much the pitfalls change numbers of the data set at hand: the same windows scored this way and the other way."""

from collections.abc import Callable, Sequence

import numpy as np

from motionbook import rotations as rot
from motionbook.inbetweening.baselines import LocalPose, slerp, slerp_q
from motionbook.inbetweening.evaluation import FoldWindows, fold_scores, window_scores
from motionbook.inbetweening.pitfalls import (
    easing_bound,
    released_window_count,
    single_precision,
    slerp_q_single_precision,
    with_first_scale,
)
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import BENCHMARK, LENGTHS, Windows, window_starts


def measured_effects(folds: Sequence[FoldWindows], recordings: Sequence[Recording]):
    """The pitfalls whose effect can be measured, each on the number that it touches most.

    Parameters
    ----------
    folds : sequence of FoldWindows
        Of one subset; the two-stage network's row needs it under the name "NN" among what each fold has learned.
    recordings : sequence of Recording
        Of the subset.

    Returns
    -------
    pandas.DataFrame
        Index the pitfall's number; columns measure, here, other way, change (in %), way (what the other way is).
    """
    import pandas as pd

    def score(system: str, metric: str, length: int, predictor=None, parts=folds, **options) -> float:
        parts = [fold._replace(learned={}) for fold in parts]
        table = fold_scores(window_scores(parts, (length,), {system: predictor or slerp}, **options))
        return float(table[table.metric == metric].value.mean())

    rows = [
        (3, "SLERP L2Q@45", score("SLERP", "L2Q", 45), score("SLERP", "L2Q", 45, aligned=True), "signs aligned"),
        (
            4,
            "SLERP NPSS@30",
            score("SLERP", "NPSS", 30),
            score("SLERP", "NPSS", 30, spectrum="power"),
            "true power",
        ),
        (5, "SLERP NPSS@30", score("SLERP", "NPSS", 30), score("SLERP", "NPSS", 30, _rounded(slerp)), "float32"),
        (
            6,
            "SLERP L2P@30",
            score("SLERP", "L2P", 30),
            score("SLERP", "L2P", 30, parts=with_first_scale(folds)),
            "first fold's scale",
        ),
        (
            14,
            "SLERP-Q L2P@45",
            score("SLERP-Q", "L2P", 45, slerp_q),
            score("SLERP-Q", "L2P", 45, slerp_q_single_precision),
            "times in float32",
        ),
        (7, "windows", *_window_counts(recordings), "counted as released"),
    ]
    if all("NN" in fold.learned for fold in folds):
        both = [_network(folds, score_with, 5) for score_with in (lambda p: p, lambda p: p.keys_only())]
        rows.append((12, "NN L2P@5", *both, "no look beyond the target"))
    table = pd.DataFrame(rows, columns=["number", "measure", "here", "other way", "way"]).set_index("number")
    base = table.here.where(table.here != 0)
    table.insert(3, "change", 100.0 * (table["other way"] - table.here) / base)
    return table.sort_index()


def easing_bounds(table, metrics: Sequence[str] = ("L2P", "L2Q")):
    """Published or own SLERP-Q cells beside the largest value that 0-velocity and SLERP of the same table allow.

    Parameters
    ----------
    table : pandas.DataFrame
        With rows "0-velocity", "SLERP" and "SLERP-Q" and columns such as "L2P@5".

    Returns
    -------
    pandas.DataFrame
        A row per column of the table: SLERP-Q, at most, possible ("yes" or "no").
    """
    import pandas as pd

    rows = {}
    for column in (f"{metric}@{length}" for metric in metrics for length in LENGTHS):
        length = int(column.split("@")[1])
        most = easing_bound(table.at["0-velocity", column], table.at["SLERP", column], length)
        value = table.at["SLERP-Q", column]
        rows[column] = {"SLERP-Q": value, "at most": most, "possible": "yes" if value <= most else "no"}
    return pd.DataFrame.from_dict(rows, orient="index")


def _rounded(predictor: Callable) -> Callable:
    def predict(windows: Windows, transition: int) -> LocalPose:
        made = predictor(windows, transition)
        return LocalPose(made.root_positions, rot.normalize(single_precision(made.rotations).astype(np.float64)))

    return predict


def _window_counts(recordings: Sequence[Recording]) -> tuple[int, int]:
    length, offset = BENCHMARK[:2]
    ours = sum(len(window_starts(len(r.clip), length, offset)) for r in recordings)
    return ours, sum(released_window_count(len(r.clip), length, offset) for r in recordings)


def _network(folds: Sequence[FoldWindows], change: Callable, length: int) -> float:
    parts = [fold._replace(learned={"NN": change(fold.learned["NN"])}) for fold in folds]
    table = fold_scores(window_scores(parts, (length,), {}))
    return float(table[table.metric == "L2P"].value.mean())
