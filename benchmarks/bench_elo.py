"""Speed of the ranking: 10,000 resamples of people against the plain loop, and 100 systems with a million votes.

    OMP_NUM_THREADS=1 python benchmarks/bench_elo.py [--answers FILE] [--peer 20]

The plain loop is how such studies are commonly analysed: for each resample the answers of the drawn people are put
together with pandas, counted in five pivot tables, fitted with scikit-learn's logistic regression, and counted again
for the win rates. It is timed on some resamples of its own kind and scaled to 10,000; both have to agree. Without a
file of answers a study of 118 simulated people is taken. The million votes are simulated too, written to a CSV file and
read back in a process of its own, whose peak memory is reported. To be reached: 1,000 times the plain loop's speed and
under 2 s; the million votes read, fitted, with sandwich intervals and 1,000 resamples, in under 30 s and 2 GiB.
"""

import argparse
import multiprocessing
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from motionbook.perception import bootstrap_elo, exclude, fit_elo, read_responses
from motionbook.perception.comparisons import simulated_answers
from motionbook.perception.sandwich import sandwich
from motionbook.perception.scales import FIVE

RESAMPLES = 10_000
RATIO_LIMIT, SECONDS_LIMIT = 1000.0, 2.0
SYSTEMS, VOTERS, EACH, LARGE_RESAMPLES = 100, 20_000, 50, 1000
LARGE_SECONDS, LARGE_GIB = 30.0, 2.0
TABLE_2 = pd.Series({"GT": 1179.36, "NN": 1083.73, "SLERP-Q": 1083.70, "SLERP": 913.38, "NOISE": 739.82})


def plain_elo(answers):
    """Elo scores from pivot tables and a logistic regression, as the plain loop does for every resample."""
    tables = {}
    for choice in (-2, -1, 0, 1, 2):
        chosen = answers[answers.choice == choice]
        tables[choice] = chosen.pivot_table(
            index="left", columns="right", values="choice", aggfunc="count", fill_value=0
        )
    wins = 4 * (tables[-2] + tables[2].T) + 2 * (tables[-1] + tables[1].T) + tables[0] + tables[0].T
    systems = list(wins.index)
    rows, results, weights = [], [], []
    for i, a in enumerate(systems):
        for j, b in enumerate(systems):
            if i == j or np.isnan(wins.loc[a, b]) or np.isnan(wins.loc[b, a]):
                continue
            row = np.zeros(len(systems))
            row[i], row[j] = np.log(10.0), -np.log(10.0)
            rows += [row, row]
            results += [1.0, 0.0]
            weights += [wins.loc[a, b], wins.loc[b, a]]
    model = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-6).fit(rows, results, sample_weight=weights)
    return pd.Series(400 * model.coef_[0] + 1000, index=systems)


def plain_rates(answers):
    """Win rates from value counts: half a win for a tie, one for a slight preference, two for a clear one."""
    won, shown = 0.0, 0.0
    for size, worth in ((0, 0.5), (1, 1.0), (2, 2.0)):
        for sign, side in ((-1, "left"), (1, "right")):
            won = answers[answers.choice == sign * size][side].value_counts().mul(worth).add(won, fill_value=0)
            both = answers[answers.choice.abs() == size][side].value_counts()
            shown = both.mul(2 * worth if size == 0 else worth).add(shown, fill_value=0)
    return won / shown


def plain_loop(answers, counts):
    """Elo scores and win rates of resamples, one at a time; counts (resamples, users) say who was drawn how often."""
    groups = {user: part for user, part in answers.groupby("userID")}
    users = sorted(groups)
    elo, rates = [], []
    for drawn in counts:
        parts = [groups[user] for user, times in zip(users, drawn, strict=True) for _ in range(times)]
        elo.append(plain_elo(pd.concat(parts, ignore_index=True)))
        # the common script draws and puts together once more for the win rates
        rates.append(plain_rates(pd.concat(parts, ignore_index=True)))
    return pd.DataFrame(elo), pd.DataFrame(rates).reset_index(drop=True)


def small_study(path: str, peer: int) -> dict[str, bool]:
    """Time 10,000 resamples of one study both ways."""
    answers = exclude(read_responses(path)).answers if path else simulated_answers(TABLE_2, 118, 0, answers_each=17)
    users = answers.userID.nunique()
    name = Path(path).name if path else "simulated"
    print(f"{users} people, {len(answers)} answers, {answers.left.nunique()} systems ({name})")
    bootstrap_elo(answers, 10)  # imports
    runs = []
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        elo, rates = bootstrap_elo(answers, RESAMPLES, seed=42)
        runs.append((time.process_time() - cpu, time.perf_counter() - wall))
    ours, wall = min(runs)
    print(f"  ours, {RESAMPLES} resamples            {ours:9.3f} CPU s  {wall:9.3f} s")
    counts = np.random.default_rng(42).multinomial(users, np.full(users, 1 / users), size=RESAMPLES)[:peer]
    start, cpu = time.perf_counter(), time.process_time()
    loop_elo, loop_rates = plain_loop(answers, counts)
    cpu, wall_loop = time.process_time() - cpu, time.perf_counter() - start
    scaled = cpu * RESAMPLES / peer
    print(f"  plain loop, {peer} resamples            {cpu:9.3f} CPU s  {wall_loop:9.3f} s")
    print(f"  plain loop, scaled to {RESAMPLES}      {scaled:9.1f} CPU s  {scaled / ours:9.0f} times ours")
    off = (loop_elo[elo.columns] - elo[:peer]).abs().max(axis=None)
    off_rates = (loop_rates[rates.columns] - rates[:peer]).abs().max(axis=None)
    print(f"  largest difference: {off:.1g} Elo (the loop's own tolerance), {off_rates:.1g} of win rate")
    assert off < 0.05 and off_rates < 1e-12, "both must agree"
    return {
        f"{RATIO_LIMIT:g} times the plain loop": scaled / ours >= RATIO_LIMIT,
        f"{RESAMPLES} resamples in under {SECONDS_LIMIT:g} s": wall < SECONDS_LIMIT,
    }


def write_votes(path: Path) -> None:
    """A million simulated votes on 100 systems whose scores spread evenly over 600 points."""
    elo = pd.Series(np.linspace(700.0, 1300.0, SYSTEMS), index=[f"system {i:03d}" for i in range(SYSTEMS)])
    simulated_answers(elo, VOTERS, 0, answers_each=EACH).to_csv(path, index=False)


def large_study(path: str, queue) -> None:
    """Read, fit, errors and resamples of a file of votes; sends the steps' times and this process's peak memory."""
    import scipy.sparse
    import scipy.sparse.csgraph  # noqa: F401

    clock, cpu, steps = time.perf_counter(), time.process_time(), []

    def done(name):
        nonlocal clock, cpu
        steps.append((name, time.process_time() - cpu, time.perf_counter() - clock))
        clock, cpu = time.perf_counter(), time.process_time()

    answers = read_responses(path, scale=FIVE)
    done("read")
    elo = fit_elo(answers)
    done("fit")
    spread = sandwich(answers).frame().sd
    done("sandwich")
    resampled, _ = bootstrap_elo(answers, LARGE_RESAMPLES, seed=0)
    done("resamples")
    truth = pd.Series(np.linspace(700.0, 1300.0, SYSTEMS), index=sorted(elo.index))
    order = truth.corr(elo.elo, method="spearman")
    ratio = (resampled.std(ddof=1) / spread).median()
    queue.put((steps, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, order, ratio))


def main() -> None:
    """Print times beside the limits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", default="", help="CSV in the study's columns; default a simulated study")
    parser.add_argument("--peer", type=int, default=20, help="resamples of the plain loop")
    options = parser.parse_args()
    held = small_study(options.answers, options.peer)
    print(f"{SYSTEMS} systems, {VOTERS * EACH} votes of {VOTERS} people (simulated)")
    # a process that starts afresh, so that its memory is its own
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.csv"
        writer = context.Process(target=write_votes, args=(path,))
        writer.start()
        writer.join()
        queue = context.Queue()
        process = context.Process(target=large_study, args=(str(path), queue))
        process.start()
        steps, peak, order, ratio = queue.get()
        process.join()
    for name, cpu, wall in steps:
        print(f"  {name:32s}{cpu:9.3f} CPU s  {wall:9.3f} s")
    cpu, wall = (sum(step[k] for step in steps) for k in (1, 2))
    print(f"  {'together':32s}{cpu:9.3f} CPU s  {wall:9.3f} s, peak memory {peak:.2f} GiB")
    print(f"  rank correlation with the simulated scores {order:.4f}; bootstrap over sandwich, median {ratio:.3f}")
    held |= {
        f"a million votes in under {LARGE_SECONDS:g} s": wall < LARGE_SECONDS,
        f"a million votes in under {LARGE_GIB:g} GiB": peak < LARGE_GIB,
    }
    for name, good in held.items():
        print(f"{'reached' if good else 'NOT reached'}: {name}")


if __name__ == "__main__":
    main()
