"""Seconds for the whole of 4DHumanQA's Table I, and for the nearest that pingouin can do.

    OMP_NUM_THREADS=1 python benchmarks/bench_anova.py

Six analyses of variance of a simulated study: 48 people, one of whom stopped half way, 20 within cells each (identity x
clothing x strength), motion x gender between; from the long table of ratings to the table of significant effects, with
Greenhouse-Geisser, Huynh-Feldt, Mauchly, both effect sizes and two corrections for 186 tests. To be reached: 2 s.
pingouin has neither three within factors nor two between: beside it stands what it does have, the analyses of identity
x strength and of gender x strength for each distortion, 6 tests in place of 31.
"""

import statistics
import time
import warnings

from motionbook.perception import distortion_anovas, mixed_anova, read_ratings, table1
from motionbook.synthesis.rating_panel import impairment_study

LIMIT, REPEATS = 2.0, 9


def seconds(work, repeats: int = REPEATS) -> tuple[float, float]:
    """Median wall and CPU seconds of some runs after a first."""
    work()
    walls, cpus = [], []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def whole_table(ratings):
    """Table I from the long table."""
    return table1(distortion_anovas(ratings, missing="drop"))


def ours_small(ratings):
    """The same two small designs that pingouin does."""
    for _, part in ratings.groupby("distortion"):
        mixed_anova(part, "score", "participant", ["identity", "strength"])
        mixed_anova(part, "score", "participant", "strength", "gender")


def pingouins(ratings):
    """Its two-way within and its one-by-one mixed analysis, for each distortion."""
    import pingouin

    for _, part in ratings.groupby("distortion"):
        cells = part.groupby(["participant", "identity", "strength"], as_index=False).score.mean()
        pingouin.rm_anova(cells, dv="score", within=["identity", "strength"], subject="participant")
        cells = part.groupby(["participant", "gender", "strength"], as_index=False).score.mean()
        pingouin.mixed_anova(cells, dv="score", within="strength", between="gender", subject="participant")


def main() -> None:
    """Print the table of timings."""
    study = impairment_study(48, seed=0)
    ratings = read_ratings(study[study.split == "train"])
    start = time.perf_counter()
    table = whole_table(ratings)
    first = time.perf_counter() - start
    wall, cpu = seconds(lambda: whole_table(ratings))
    print(f"{len(ratings)} ratings, {table.attrs['tests']} effects, {len(table)} with p < 0.05")
    print(f"first call, with imports   {first:8.3f} s wall")
    print(f"Table I                    {wall:8.3f} s wall {cpu:8.3f} s CPU   (to be reached: {LIMIT:g} s)")
    # people with every cell, as pingouin leaves others out without a word
    counts = ratings.groupby("participant").score.count()
    whole = ratings[ratings.participant.isin(counts.index[counts == counts.max()])]
    wall, cpu = seconds(lambda: ours_small(whole))
    print(f"two small designs, ours    {wall:8.3f} s wall {cpu:8.3f} s CPU")
    try:
        import pingouin  # noqa: F401
    except ImportError:
        print("pingouin is not installed")
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wall, cpu = seconds(lambda: pingouins(whole), 3)
    print(f"two small designs, pingouin{wall:8.3f} s wall {cpu:8.3f} s CPU")


if __name__ == "__main__":
    main()
