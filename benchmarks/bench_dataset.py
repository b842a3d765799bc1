"""The whole published size through chapter 2: 1634 clips of 50 people, read, cleaned, retargeted, measured, written.

    OMP_NUM_THREADS=1 python benchmarks/bench_dataset.py [--folder MADE_BEFORE] [--jobs 2] [--keep OUT]

The takes are the embedded performers of the budget ``full`` on the FreeMoCap rig, as many clips of every action as the
published Table 3 counts and at least its 645,338 frames. Making them takes minutes and is not timed; ``--folder`` names
a folder that has them already (and may hold more takes: those beyond the published counts are left out), else they are
made in a temporary one.

Timed, on two processes: every take read, its faults found by the robust and by the published rule, cut, put over the
origin, retargeted to LaFAN1's skeleton, checked (bone directions, foot slide, skate, smoothness, penetration), written
on both rigs with its listing and fingerprints; then the written clips read again and their statistics of motion taken;
then all tables: Table 3, faults, retargeting, quality, statistics, Table 4, balance of the folds. To be reached: less
than 300 s on two cores and 2 GiB for all processes together. On a machine that does other work, CPU seconds say more:
the wall time on two idle cores is about half of them.
"""

import argparse
import os
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd
import psutil

from motionbook import budgets
from motionbook.cleaning import embedded, summary
from motionbook.cleaning.dataset import build_dataset
from motionbook.cleaning.motion_statistics import class_statistics, dataset_statistics, listed_files
from motionbook.data.layouts import open_dataset
from motionbook.data.splits import published_folds
from motionbook.synthesis.dataset import takes_of

FRAMES, CLIPS = 645_338, 1634
SECONDS, GIBIBYTES = 300.0, 2.0


class Peak(threading.Thread):
    """Samples the resident memory of this process and those it started; ``peak`` in bytes."""

    def __init__(self):
        super().__init__(daemon=True)
        self.peak, self.over = 0, threading.Event()

    def run(self):
        """Until ``over`` is set."""
        here = psutil.Process()
        while not self.over.wait(0.1):
            total = 0
            for process in (here, *here.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.peak = max(self.peak, total)


@contextmanager
def timed(name: str, rows: dict):
    """Wall and CPU seconds of a step, those of processes that ended in it included."""
    wall, before = time.perf_counter(), os.times()
    yield
    after = os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    rows[name] = {"wall [s]": time.perf_counter() - wall, "CPU [s]": cpu}


def published_size(folder: Path):
    """The takes of ``folder`` that make up Table 3's counts."""
    size = budgets.sizes("full", "02_cleaning")
    if not folder.is_dir() or not any(folder.rglob("*.bvh")):
        print(f"making {size['subjects']} people under {folder}")
        embedded.embedded_takes(folder, size, 0)
    files = open_dataset(folder, layout="staystill", rig="freemocap").clips
    wanted = {f"{i:02d}": takes_of(i, size["subjects"]) for i in range(size["subjects"])}
    takes = [
        replace(take, read=embedded.OWN_FILES)
        for take in files
        if take.group != "actions" or int(take.take) <= wanted[take.subject][take.label]
    ]
    return takes


def main() -> None:
    """Run everything and print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="write the data set here and leave it")
    options = parser.parse_args()
    pd.set_option("display.width", 240, "display.max_columns", 30, "display.max_rows", 60)
    pd.set_option("display.float_format", "{:.1f}".format)
    with tempfile.TemporaryDirectory() as beside:
        takes = published_size(options.folder or Path(beside) / "generated")
        steps: dict[str, dict] = {}
        memory = Peak()
        memory.start()
        root, out = takes[0].path.parents[2], options.keep or Path(beside) / "dataset"
        with timed("read, clean, retarget, check, write", steps):
            folds = published_folds()[0]
            built = build_dataset(takes, out, about=embedded.ABOUT, folds=folds, root=root, jobs=options.jobs)
        clips = [entry for entry in built.listing["clips"] if entry["path"].startswith("lafan/")]
        with timed("read again, statistics of motion", steps):
            rows = dataset_statistics(listed_files(out, clips), jobs=options.jobs)
        with timed("tables", steps):
            table3 = summary.motion_table(built.takes)
            tables = {
                "Table 3": table3.assign(kept=summary.motion_table(clips)["Frames"]),
                "faults": summary.fault_table(built.takes),
                "retargeting": summary.retarget_table(built.takes),
                "quality": summary.quality_summary(built.takes),
                "statistics": (found := class_statistics(rows, summary.motion_rows)).loc[
                    summary.motion_order(found.index)
                ],
                "Table 4": summary.fold_table(built.listing["folds"]),
                "balance": summary.fold_balance(built.listing["folds"], clips),
            }
        memory.over.set()
        memory.join()
        written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    for name, table in tables.items():
        print(f"\n{name}\n{table}")
    frames = sum(take["frames"] for take in built.takes)
    print(
        f"\n{len(built.takes)} takes, {frames} frames; {len(built.listing['clips'])} files, {written / 2**20:.0f} MiB"
    )
    result = pd.DataFrame.from_dict(steps, orient="index")
    result.loc["all"] = result.sum()
    print(result)
    wall, cpu = result.loc["all"]
    peak = memory.peak / 2**30
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; {options.jobs} processes")
    print(f"half of the CPU seconds: {cpu / 2:.0f}; wall {wall:.0f} s, to be under {SECONDS:g}")
    print(f"peak memory of all processes {peak:.2f} GiB, to be under {GIBIBYTES:g}")
    whole = len(built.takes) >= CLIPS and frames >= FRAMES
    good = whole and wall < SECONDS and peak < GIBIBYTES
    print("reached" if good else "NOT reached" if whole else "not the published size")


if __name__ == "__main__":
    main()
