"""Coverage of the ranking's intervals: studies simulated from known scores, analysed, and compared with the truth.

    OMP_NUM_THREADS=1 python benchmarks/bench_recovery.py [--studies 2000]

Answers come from the five-level ordinal model at the scores of StayStill's Table 2, 118 raters with 16 scored pairs
each. The ordinal fit is held against those scores, the weighted fit against its own large-sample limit; the share in
which it holds the simulating scores is printed beside. The last column is the percentile interval of the bootstrap over
raters, which is what the chapter reports, on a share of the studies. To be reached: a mean coverage over systems of
93 to 97 % for both fits.
"""

import argparse
import time

import numpy as np
import pandas as pd

from motionbook.perception.comparisons import simulate_counts, win_cells
from motionbook.perception.elo import elo_from_wins
from motionbook.perception.recovery import recovery
from motionbook.perception.votes import WEIGHTS

TABLE_2 = pd.Series({"GT": 1179.36, "NN": 1083.73, "SLERP-Q": 1083.70, "SLERP": 913.38, "NOISE": 739.82})
RATERS, SEED = 118, 0
LOW, HIGH = 0.93, 0.97
RESAMPLES = 1000


def percentile_coverage(limit, studies: int) -> np.ndarray:
    """Share of studies (systems,) whose bootstrap percentile intervals hold the weighted fit's limit."""
    rng = np.random.default_rng([SEED, 1])
    counts = simulate_counts(TABLE_2.to_numpy(), RATERS, studies, rng)
    cells = win_cells(len(TABLE_2), WEIGHTS).reshape(counts.shape[2], -1)
    held = np.zeros(len(TABLE_2))
    for study in counts:
        wins = study @ cells
        drawn = rng.multinomial(RATERS, np.full(RATERS, 1 / RATERS), size=RESAMPLES)
        elo = elo_from_wins((drawn @ wins).reshape(-1, len(TABLE_2), len(TABLE_2)))
        low, high = np.percentile(elo, [2.5, 97.5], axis=0)
        held += (low <= limit) & (limit <= high)
    return held / studies


def main() -> None:
    """Print coverage by system, and whether the limits are kept."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=2000)
    studies = parser.parse_args().studies
    start = time.process_time()
    table = recovery(TABLE_2, raters=RATERS, studies=studies, seed=SEED)
    seconds = time.process_time() - start
    table["weighted_percentile"] = percentile_coverage(table.limit.to_numpy(), max(studies // 5, 1))
    print(f"{studies} studies of {RATERS} raters in {seconds:.1f} CPU s, seed {SEED}")
    print(table.round(3).T.to_string())
    error = 100 * np.sqrt(0.95 * 0.05 / studies)
    print(f"standard error of one coverage: {error:.1f} %")
    for name in ("ordinal_coverage", "weighted_coverage"):
        mean = table[name].mean()
        print(f"{'reached' if LOW <= mean <= HIGH else 'NOT reached'}: {name}, mean over systems {100 * mean:.1f} %")
    worst, best = table.weighted_coverage_simulated.min(), table.weighted_coverage_simulated.max()
    print(f"the weighted fit holds the simulating scores in {worst:.2f} to {best:.2f} of studies")


if __name__ == "__main__":
    main()
