"""Which systems chapter 3 compares, at which size for which budget, and what the notebook asks of all of them.

Systems without parameters are predictors; the others are learners, fitted on the training people of every fold. A
person's clips are made by what was fitted in the fold that tests this person, never by anything that has seen them.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook.bvh import write_bvh
from motionbook.clip import Clip
from motionbook.inbetweening.autoregression import fill_segments
from motionbook.inbetweening.baselines import BASELINES
from motionbook.inbetweening.comparison import compare
from motionbook.inbetweening.cubic import EXTRA_BASELINES
from motionbook.inbetweening.distribution import Motions, window_motions
from motionbook.inbetweening.evaluation import FoldWindows, Learner, Predictor
from motionbook.inbetweening.failures import error_maps, failures
from motionbook.inbetweening.generator import JUDGED, SECONDS, Span, predicted_clips
from motionbook.inbetweening.recordings import Recording

# The name in folders and figures, and the row of the published tables
PUBLISHED_ROWS = {"NN": "Neural Network"}
# Peak of the published schedule of the context network, at step 8000
_PUBLISHED_PEAK = 0.0625 * 8000**-0.5


class ChapterSystems(NamedTuple):
    """What ``choose_systems`` gives.

    Attributes
    ----------
    fixed : mapping of name to predictor
    learners : mapping of name to learner
    about : mapping of name to a sentence
        Of every system, in the order of the tables.
    network : str
        The network's size and length of training, for the notes of tables.
    recipe : dict
        The network's training in the words of StayStill's text.
    trained : str
        Size and steps of everything that is trained, for the notes of tables.
    """

    fixed: Mapping[str, Predictor]
    learners: Mapping[str, Learner]
    about: Mapping[str, str]
    network: str
    recipe: dict
    trained: str


def choose_systems(
    sizes: Mapping, recordings: Sequence[Recording], folder: str | Path, device: str = "cpu"
) -> ChapterSystems:
    """Every system of the chapter at the sizes of a budget.

    Parameters
    ----------
    sizes : mapping
        ``budgets.sizes(budget, "03_inbetweening")``.
    recordings : sequence of Recording
        What is trained on and tested; checkpoints of other motion are kept apart.
    folder : path
        For checkpoints, which a later run goes on from.
    device : str
        As torch names it.
    """
    from motionbook.inbetweening.delta_training import delta_learner
    from motionbook.inbetweening.flow import FlowConfig
    from motionbook.inbetweening.flow_training import flow_learner
    from motionbook.inbetweening.kriging import kriging_learner
    from motionbook.inbetweening.perceptron import perceptron_learner
    from motionbook.inbetweening.ridge import ridge_learner
    from motionbook.inbetweening.two_stage_training import label, two_stage_learner

    config, steps = network_config(sizes, device)
    offset = sizes["window_offset"]
    place = Path(folder) / f"two_stage_{_mark(config, steps, recordings)}"
    delta = delta_learner(steps=sizes["delta_steps"], device=device, folder=Path(folder) / "delta")
    flow = FlowConfig(steps=sizes["flow_steps"], offset=offset)
    learners = {
        "NN": two_stage_learner(config, steps, place, device),
        "Ridge": ridge_learner(offset=offset),
        "Perceptron": perceptron_learner(sizes["perceptron_steps"], offset),
        "Kriging": kriging_learner(),
        "DELTA": delta,
        "FLOW": flow_learner(flow, centre=delta, folder=Path(folder) / "flow"),
    }
    network = label(config, steps).removeprefix("Neural Network (").removesuffix(")")
    training = f"{sizes['delta_steps']:,} steps" if sizes["delta_steps"] else "no step"
    about = {
        "0-velocity": "holds the last pose of the context",
        "SLERP": "turns every joint at constant speed to its target",
        "SLERP-Q": "the same with quadratic ease-in and ease-out",
        "Cubic": "leaves with the velocity of the context's last two frames",
        "NN": f"the published two-stage transformer, context then detail, trained from nothing: {network}",
        "Ridge": "SLERP and a linear correction, each number of the pose from its own past and target",
        "Perceptron": f"the ridge and a perceptron that sees the whole body, {sizes['perceptron_steps']} steps",
        "Kriging": "SLERP and the best linear guess across the gap after contexts as smooth or rough as this one, each "
        "number of the pose on its own; no network",
        "DELTA": f"SLERP, kriging across the gap, and a transformer over the joints that corrects it, {training}",
        "FLOW": "draws motions around DELTA's by flow matching; in tables of errors the mean of 16 samples, in clips "
        f"one; {sizes['flow_steps']:,} steps a length",
    }
    trained = (
        f"NN {network}; Perceptron {sizes['perceptron_steps']:,} steps; DELTA {training}; "
        f"FLOW {sizes['flow_steps']:,} steps a length"
    )
    fixed = {**BASELINES, **EXTRA_BASELINES}
    return ChapterSystems(fixed, learners, about, network, _recipe(config, steps), trained)


def network_config(sizes: Mapping, device: str = "cpu"):
    """The two-stage network's configuration and steps: small on a CPU, of the published size on other devices.

    Returns
    -------
    TwoStageConfig, int or None
        None: the published 199 epochs.
    """
    from motionbook.inbetweening.networks import NetworkConfig
    from motionbook.inbetweening.two_stage_training import TwoStageConfig

    if sizes["network"] is None:
        return TwoStageConfig(), None
    steps = sizes["network"]["steps"]
    if device == "cpu" or not sizes.get("reference_steps"):
        return TwoStageConfig.small(sizes["network"]["width"], sizes["network"]["layers"], steps), steps
    steps = sizes["reference_steps"]
    short = TwoStageConfig.small(steps=steps)
    training = replace(short.context, rate=_PUBLISHED_PEAK * short.context.warmup**0.5)
    return replace(short, network=NetworkConfig(), context=training, detail=training), steps


def training_folders(learner: Learner, recordings: Sequence[Recording], seed: int = 0) -> dict[str, Path]:
    """Titles and folders of both stages' tables for the training people of a fold, for ``training_figures``."""
    place = learner.place(recordings, seed)
    return {"context network": place / "context", "detail network": place / "detail"}


def published_rows(table):
    """A table with the row names of the papers, their rows first and in their order."""
    renamed = table.rename(index=PUBLISHED_ROWS)
    first = [*BASELINES, *PUBLISHED_ROWS.values()]
    rows = [*(r for r in first if r in renamed.index), *(r for r in renamed.index if r not in first)]
    return renamed.loc[rows]


def all_systems(fold: FoldWindows, fixed: Mapping[str, Predictor], names: Sequence[str] | None = None):
    """Predictors of a fold by name, ``names`` of them or all."""
    known = {**fixed, **fold.learned}
    return known if names is None else {name: known[name] for name in names}


def mean_error_maps(folds: Sequence[FoldWindows], fixed: Mapping, length: int, names: Sequence[str]):
    """``failures.error_maps`` in centimetres over all windows of all folds, by system."""
    counts = np.array([len(fold.windows) for fold in folds], dtype=float)
    maps = [error_maps(fold.windows, length, all_systems(fold, fixed, names)) for fold in folds]
    weights = counts / counts.sum()
    return {name: sum(w * m[name] for w, m in zip(weights, maps, strict=True)) for name in names}


def worst_windows(folds: Sequence[FoldWindows], fixed: Mapping, length: int, names: Sequence[str], worst: int = 2):
    """The worst windows of each system over all folds, by L2P, see ``failures.failures``."""
    import pandas as pd

    parts = []
    for fold in folds:
        people = dict(zip(fold.windows.clips.tolist(), fold.subjects, strict=True))
        clips = [people.get(i, "") for i in range(max(people) + 1)]
        systems = all_systems(fold, fixed, names)
        found = failures(fold.windows, fold.std, length, systems, names=clips, worst=worst)
        parts.append(found.assign(fold=fold.number).rename(columns={"clip": "subject"}))
    table = pd.concat(parts).sort_values("l2p", ascending=False, kind="stable")
    table = pd.concat([table[table.system == name].head(worst) for name in names], ignore_index=True)
    return table.drop(columns=["rank", "share"])


def tuned(folds: Sequence[FoldWindows], tuning: str, name: str = "FLOW") -> list[FoldWindows]:
    """Folds whose probabilistic system draws at another of its temperatures, see ``flow.TUNINGS``."""
    return [fold._replace(learned={**fold.learned, name: fold.learned[name].answering(tuned=tuning)}) for fold in folds]


def generating(predictor: Predictor) -> Predictor:
    """A predictor as the generator calls it: without a look beyond the target, and one new sample for each gap."""
    if hasattr(predictor, "keys_only"):
        return predictor.keys_only()
    if not hasattr(predictor, "sample"):
        return predictor
    gaps = count(predictor.seed)
    return lambda windows, transition: predictor.answering("sample", next(gaps))(windows, transition)


def motions(folds: Sequence[FoldWindows], fixed: Mapping, length: int, names: Sequence[str]):
    """Recorded motions of the test windows, and every system's, as ``distribution.distribution_table`` takes them.

    Of a probabilistic system one sample in each window.
    """
    found: dict[str, list[Motions]] = {name: [] for name in ("GT", *names)}
    for fold in folds:
        systems = all_systems(fold, fixed, names)
        for name, parts in found.items():
            system = systems.get(name)
            system = system.answering("sample") if hasattr(system, "sample") else system
            parts.append(window_motions(fold.windows, length, system, fold.subjects))
    joined = {name: Motions(*(np.concatenate(x) for x in zip(*parts, strict=True))) for name, parts in found.items()}
    return joined.pop("GT"), joined


def spans_by_fold(spans: Sequence[Span], folds: Sequence[FoldWindows]) -> list[tuple[FoldWindows, list[Span]]]:
    """Each span with the first fold that tests its person; ValueError when none does."""
    rows: dict[int, list[Span]] = {}
    for span in spans:
        tested = next((i for i, f in enumerate(folds) if span.recording.subject in f.subjects), None)
        if tested is None:
            raise ValueError(f"{span.name}: no fold tests {span.recording.subject}, so nothing may fill the clip")
        rows.setdefault(tested, []).append(span)
    return [(folds[i], rows[i]) for i in sorted(rows)]


def learned_clips(spans: Sequence[Span], folds: Sequence[FoldWindows], names: Sequence[str]) -> dict[str, dict]:
    """Ten-second clips of learned systems through the key poses: clip name to system to Clip."""
    made: dict[str, dict[str, Clip]] = {span.name: {} for span in spans}
    for fold, mine in spans_by_fold(spans, folds):
        for system in names:
            for name, clip in predicted_clips(mine, generating(fold.learned[system])).items():
                made[name][system] = clip
    return made


def write_judged(made: Mapping[str, Mapping[str, Clip]], folder: str | Path, names: Sequence[str] = JUDGED) -> None:
    """Write ``<folder>/<system>/<clip>.bvh`` of learned systems."""
    for name, versions in made.items():
        for system in (s for s in names if s in versions):
            write_bvh(versions[system], Path(folder) / system / f"{name}.bvh")


def uncorrected(spans: Sequence[Span], folds: Sequence[FoldWindows], system: str) -> tuple[list[Clip], list[Clip]]:
    """A system's segments chained as published and not repaired, and the recordings they belong to."""
    segments, recorded = [], []
    for fold, mine in spans_by_fold(spans, folds):
        clips = [span.recording.clip[span.start :] for span in mine]
        segments += fill_segments(clips, generating(fold.learned[system]), round(SECONDS * clips[0].fps))
        recorded += clips
    return segments, recorded


def gains(scores, systems: Sequence[str], against: str = "SLERP", metrics: Sequence[str] = ("L2P", "L2Q")):
    """Differences to one system in % with 95 % subject-bootstrap intervals, see ``comparison.compare``.

    Returns
    -------
    pandas.DataFrame
        Columns system, metric, length and those of ``compare``.
    """
    import pandas as pd

    parts = [
        compare(scores, system, against, metric).reset_index().assign(system=system, metric=metric)
        for system in systems
        for metric in metrics
    ]
    table = pd.concat(parts, ignore_index=True)
    return table[["system", "metric", *(c for c in table.columns if c not in ("system", "metric"))]]


def gains_table(found):
    """``gains`` as text for a table: a row per system and metric, difference and interval at every length."""
    import pandas as pd

    found = found.assign(
        words=[f"{r.difference:+.1f} ({r.low:+.1f} to {r.high:+.1f})" for r in found.itertuples()],
        row=found.system + ", " + found.metric,
    )
    table = found.pivot(index="row", columns="length", values="words").loc[list(dict.fromkeys(found.row))]
    table.columns = [f"T = {length}" for length in table.columns]
    counts = found.groupby("row")[["n_windows", "n_subjects"]].max()
    return pd.DataFrame(table.join(counts)).rename_axis("system")


def aims_table(compared, aims: Mapping[int, float]):
    """What a system was to gain over SLERP and what it gained, in %, with its interval, by length.

    Parameters
    ----------
    compared : data frame
        From ``comparison.compare``.
    aims : mapping of length to per cent
    """
    import pandas as pd

    table = pd.DataFrame({"aim": -pd.Series(aims, dtype=float), "reached": compared.difference})
    table = table.join(compared[["low", "high", "n_windows", "n_subjects"]]).dropna()
    table["missed by"] = (table.reached - table.aim).clip(lower=0.0)
    table["below zero"] = np.where(table.high < 0, "yes", "no")
    return table.rename_axis("frames")


def _recipe(config, steps) -> dict:
    epochs = {} if steps else {"epochs": config.context.epochs}
    return epochs | {
        "batch size": config.context.batch,
        "learning rate, context model": config.context.rate,
        "learning rate, detail model": config.detail.rate,
        "warm-up iterations": config.context.warmup,
        "longest training transition": config.longest,
    }


def _mark(config, steps, recordings: Sequence[Recording]) -> str:
    """Twelve hexadecimal digits of a configuration and the motion it is trained on."""
    from motionbook.inbetweening.two_stage_training import VERSION

    digest = hashlib.sha256(f"{VERSION} {config} {steps}".encode())
    for recording in recordings:
        digest.update(f"{recording.group}/{recording.name}".encode())
        for array in (recording.clip.root_positions, recording.clip.rotations, recording.clip.skeleton.offsets):
            digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return digest.hexdigest()[:12]
