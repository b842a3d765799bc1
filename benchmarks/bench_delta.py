"""The delta transformer and kriging beside SLERP and SLERP-Q, over all folds of a data set; errors, people, times.

    OMP_NUM_THREADS=1 python benchmarks/bench_delta.py results/02_cleaning/dataset --subset idle --steps 2000

The folder holds ``dataset.json`` as chapter 2 writes it. Fitted models are kept under ``--models`` and found there
again. Prints the window-weighted means over all folds, the differences in % with 95 % intervals (people drawn with
replacement), the differences for every person, and how far the motion jumps at the first predicted frame.
"""

import argparse
import time

import numpy as np

from motionbook import rotations as rot
from motionbook.inbetweening.baselines import slerp, slerp_q
from motionbook.inbetweening.delta import DeltaConfig
from motionbook.inbetweening.delta_training import STEPS, delta_learner
from motionbook.inbetweening.evaluation import METRICS, compare, compare_subjects, fold_windows, window_scores
from motionbook.inbetweening.kriging import kriging_learner
from motionbook.inbetweening.recordings import read_recordings
from motionbook.inbetweening.windows import CONTEXT, LENGTHS


def seam_jumps(folds, name, transition: int = 45) -> np.ndarray:
    """Median over joints and windows of the change of angular velocity at both keys, degrees per frame."""
    found = []
    for fold in folds:
        keys = slice(CONTEXT - 2, CONTEXT + transition + 2)
        whole = fold.windows.rotations[:, keys].copy()
        if name != "GT":
            predict = {"SLERP": slerp, "SLERP-Q": slerp_q, **fold.learned}[name]
            whole[:, 2:-2] = predict(fold.windows, transition).rotations
        steps = rot.to_rotation_vector(rot.multiply(rot.inverse(whole[:, :-1]), whole[:, 1:]))
        changes = np.rad2deg(np.linalg.norm(np.diff(steps, axis=1), axis=-1))
        found.append(changes[:, [0, -1]])
    return np.median(np.concatenate(found))


def main() -> None:
    """Fit, score, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dataset")
    parser.add_argument("--subset", default="idle")
    parser.add_argument("--steps", type=int, default=STEPS["reduced"])
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--models", default=None)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scores", default=None, help="also write every window's scores to this CSV")
    args = parser.parse_args()

    about, recordings, folds = read_recordings(args.dataset)
    times = {"kriging": [], "delta": []}

    def timed(name, learn):
        def learner(train, validation, *, seed):
            start = time.process_time()
            made = learn(train, validation, seed=seed)
            times[name].append(time.process_time() - start)
            print(f"{name}: fold {len(times[name])} of {len(folds)}, {times[name][-1]:.0f} CPU s", flush=True)
            return made

        return learner

    config = DeltaConfig(members=args.members)
    delta = delta_learner(config, steps=args.steps, device=args.device, folder=args.models)
    learners = {"kriging": timed("kriging", kriging_learner()), "delta": timed("delta", delta)}
    found = fold_windows(recordings, args.subset, folds, learners, seed=args.seed)
    scores = window_scores(found, LENGTHS, {"SLERP": slerp, "SLERP-Q": slerp_q})
    if args.scores:
        scores.to_csv(args.scores, index=False)
    print(f"{about['label']}, {args.subset}: {args.steps} steps, {config}")
    for metric in METRICS:
        for system in ("kriging", "delta"):
            for against in ("SLERP", "SLERP-Q", *(["kriging"] if system == "delta" else [])):
                print(f"\n{metric}: {system} against {against}")
                print(compare(scores, system, against, metric).round(4).to_string())
    for metric in METRICS[:2]:
        print(f"\n{metric}: delta against SLERP, % by person")
        print(compare_subjects(scores, "delta", "SLERP", metric).round(1).to_string())
    jumps = {name: float(seam_jumps(found, name)) for name in ("GT", "SLERP", "SLERP-Q", "kriging", "delta")}
    print("\nchange of angular velocity at the keys, T = 45, median, degrees per frame:")
    print("  ".join(f"{name} {value:.4f}" for name, value in jumps.items()))


if __name__ == "__main__":
    main()
