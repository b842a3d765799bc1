"""How many cut points of a session are found: embedded sessions with known cuts, and real people who only stand.

    python benchmarks/bench_segmentation.py [--people 6] [--seeds 11 101 202] [--reactidle FOLDER]

The thresholds of ``suggest_cuts`` were set on seed 11; the other seeds have other people, actions, rests and sway.
"""

import argparse
import warnings
from pathlib import Path
from time import process_time

import numpy as np

from motionbook import read_bvh
from motionbook.cleaning.cut_points import suggest_cuts
from motionbook.cleaning.session import cuts_found, embedded_session
from motionbook.synthesis.performers import make_performer


def sessions(seed: int, people: int, shifts: float):
    """Counts over the people of a seed: true cuts, suggested, found, takes with both ends right, seconds needed."""
    totals, whole, takes, spent, frames, sure = np.zeros(3), 0, 0, 0.0, 0, [[], []]
    for subject in range(people):
        session = embedded_session(make_performer(subject, seed), seed=seed, shifts=shifts)
        began = process_time()
        suggestion = suggest_cuts(session.clip)
        spent += process_time() - began
        frames += len(session.clip)
        counts = cuts_found(session.takes, suggestion, session.clip.fps)
        totals += [counts.true, counts.suggested, counts.found]
        takes += len(session.takes)
        for number, cut in enumerate(suggestion.cuts):
            sure[number in counts.matched].append(cut.confidence)
        half = 0.5 * session.clip.fps
        for take in session.takes:
            ends = np.array(suggestion.stretches).reshape(-1, 2) - [take.start, take.stop]
            whole += bool((np.abs(ends) <= half).all(axis=1).any())
    return totals, whole / takes, spent, frames, [float(np.median(s)) if s else float("nan") for s in sure]


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=6)
    parser.add_argument("--seeds", type=int, nargs="+", default=[11, 101, 202])
    parser.add_argument("--reactidle", type=Path)
    args = parser.parse_args()
    print(
        "seed  shifts  cuts  suggested  recall  precision  takes whole  confidence right/wrong  frames per CPU second"
    )
    for seed in args.seeds:
        for shifts in (0.5, 0.0):
            (true, said, found), whole, spent, frames, sure = sessions(seed, args.people, shifts)
            print(
                f"{seed:4d}  {shifts:6.1f}  {true:4.0f}  {said:9.0f}  {found / true:6.3f}  {found / said:9.3f}  "
                f"{whole:11.3f}  {sure[1]:10.2f} / {sure[0]:.2f}  {frames / spent:22.0f}"
            )
    if args.reactidle:
        print("\nclip            seconds  median energy  stretches  share of time in them  lowest confidence")
        for path in sorted(args.reactidle.rglob("*.bvh")):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                clip = read_bvh(path)
            found = suggest_cuts(clip)
            share = sum(stop - start for start, stop in found.stretches) / len(clip)
            lowest = f"{min(found.confidences):.2f}" if found.confidences else "-"
            print(
                f"{path.stem:14s}  {clip.duration:7.0f}  {np.median(found.energy):13.1e}  {len(found.stretches):9d}  "
                f"{share:21.2f}  {lowest:>17s}"
            )


if __name__ == "__main__":
    main()
