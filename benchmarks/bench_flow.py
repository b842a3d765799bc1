"""How different, how good and how honest samples of the flow are, and how systems' motion is distributed.

    python benchmarks/bench_flow.py DATASET [--group idle] [--lengths 45] [--folds 5] [--delta STEPS] [--steps STEPS]
        [--tuned energy best] [--models FOLDER] [--distribution] [--figures FOLDER]

DATASET is a folder as chapter 2 leaves it (dataset.json). Prints a row per transition length and temperature over the
test windows of all folds: diversity of 16 samples in % of SLERP's L2P, the best sample and the samples' mean against
the deterministic systems, how often the truth lies in the samples' range (nominal 88.2 %), the energy score, and the
training time. Training people, test people and the people that temperatures are chosen on are never the same.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

from motionbook.inbetweening import evaluation
from motionbook.inbetweening.baselines import slerp, slerp_q, zero_velocity
from motionbook.inbetweening.chapter_systems import tuned
from motionbook.inbetweening.delta_training import delta_learner
from motionbook.inbetweening.distribution import Motions, distribution_table, window_motions
from motionbook.inbetweening.flow import TUNINGS, FlowConfig
from motionbook.inbetweening.flow_training import flow_learner
from motionbook.inbetweening.kriging import kriging_learner
from motionbook.inbetweening.recordings import read_recordings
from motionbook.inbetweening.sample_scores import sample_scores, sample_table


def main() -> None:
    """Parse, fit, score, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--group", default="idle")
    parser.add_argument("--lengths", type=int, nargs="+", default=[45])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=FlowConfig().steps)
    parser.add_argument("--tuned", nargs="+", choices=TUNINGS, default=["energy", "best"], help="temperatures")
    parser.add_argument("--delta", type=int, default=2000, help="steps of the delta transformer drawn around")
    parser.add_argument("--models", type=Path, help="keep fitted models here")
    parser.add_argument("--distribution", action="store_true")
    parser.add_argument("--figures", type=Path)
    options = parser.parse_args()
    found = read_recordings(options.dataset, groups=[options.group])
    config = FlowConfig(steps=options.steps)
    with tempfile.TemporaryDirectory() as made:
        run(found, config, options, options.models or Path(made))


def run(found, config: FlowConfig, options, models: Path) -> None:
    """Fit in every fold, print scores at every temperature."""
    delta = delta_learner(steps=options.delta, folder=models)
    learners = {"Kriging": kriging_learner(), "DELTA": delta, "FLOW": flow_learner(config, centre=delta, folder=models)}
    start = time.process_time()
    folds = evaluation.fold_windows(found.recordings, options.group, found.folds[: options.folds], learners)
    print(f"{found.about['label']}, {options.group}, {len(folds)} folds")
    print(f"prepared in {time.process_time() - start:.0f} s of the processor")
    for fold in folds:
        start = time.process_time()
        flows = {t: fold.learned["FLOW"].of_length(t) for t in options.lengths}
        chosen = "; ".join(
            f"{t}: " + ", ".join(f"{k} {x:g}" for k, x in m.temperatures.items()) for t, m in flows.items()
        )
        print(f"fold {fold.number}: fitted in {time.process_time() - start:.0f} s; temperatures {chosen}", flush=True)
    others = [name for name in learners if name != "FLOW"]
    for tuning in options.tuned:
        scores = sample_scores(tuned(folds, tuning), "FLOW", options.lengths)
        for against in others:
            print(f"\ntemperature for {tuning}, against {against}")
            print(sample_table(scores, against).round(1).T.to_string())
        columns = ["SLERP", *others, "mean", "best", "diversity", "coverage"]
        people = scores.groupby(["length", "subject"])[columns].mean()
        print("\nby person\n" + people.round(3).to_string(), flush=True)
    if options.distribution:
        for length in options.lengths:
            print(f"\nmotions of {length} frames with two frames on either side, halves of people")
            for tuning in options.tuned:
                print(f"FLOW tuned for {tuning}")
                print(distributions(tuned(folds, tuning), length).round(2).to_string(), flush=True)
    if options.figures:
        draw(folds, sample_scores(folds, "FLOW", options.lengths), options.lengths[-1], options.figures)


def distributions(folds, length: int):
    """The table of ``distribution`` for SLERP, SLERP-Q, what was learned, and single samples, over all folds."""

    def gathered(predictor_of):
        parts = [window_motions(f.windows, length, predictor_of(f), f.subjects) for f in folds]
        return Motions(*(np.concatenate(p) for p in zip(*parts, strict=True)))

    systems = {"0-velocity": zero_velocity, "SLERP": slerp, "SLERP-Q": slerp_q}
    found = {name: gathered(lambda f, p=p: p) for name, p in systems.items()}
    for name in folds[0].learned:
        if name == "FLOW":
            found["FLOW, mean of 16"] = gathered(lambda f: f.learned["FLOW"])
            found["FLOW, sample"] = gathered(lambda f: f.learned["FLOW"].answering("sample"))
        else:
            found[name] = gathered(lambda f, n=name: f.learned[n])
    return distribution_table(gathered(lambda f: None), found)


def draw(folds, scores, length: int, folder: Path) -> None:
    """Both figures as PNG."""
    import matplotlib

    matplotlib.use("Agg")
    from motionbook.report.flow_figures import calibration_figure, fan_figure
    from motionbook.report.theme import use_theme

    use_theme()
    folder.mkdir(parents=True, exist_ok=True)
    fold = folds[0]
    systems = {name: fold.learned[name] for name in ("Kriging", "DELTA")}
    fan_figure(fold.windows, length, fold.learned["FLOW"], systems).savefig(folder / "flow_fan.png")
    calibration_figure(scores).savefig(folder / "flow_calibration.png")


if __name__ == "__main__":
    main()
