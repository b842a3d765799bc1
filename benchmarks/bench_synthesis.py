"""Making and writing the embedded performers of the smoke budget, on both rigs.

    OMP_NUM_THREADS=1 python benchmarks/bench_synthesis.py

Six people, each 40 s idle, 20 s with a phone and the 19 actions once: 126 motions, 252 files. To be reached: under 15
CPU seconds on one core.
"""

import tempfile
import time

from motionbook.budgets import sizes
from motionbook.synthesis.dataset import motions_of
from motionbook.synthesis.performers import write_dataset

LIMIT = 15.0


def main() -> None:
    """Print what making and writing cost, and whether it stays under the limit."""
    size = sizes("smoke", "02_cleaning")
    amounts = size["idle_seconds"], size["phone_seconds"], size["takes"], 0
    start = time.process_time()
    clips = [clip for subject in range(size["subjects"]) for _, clip in motions_of(subject, *amounts)]
    making = time.process_time() - start
    start = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        files = write_dataset(folder, size["subjects"], *amounts)
    total = time.process_time() - start
    frames = sum(map(len, clips))
    print(f"making {len(clips)} motions, {frames} frames: {making:.1f} CPU s ({frames / making:.0f} frames/s)")
    print(f"making and writing {len(files)} files on two rigs: {total:.1f} CPU s (limit {LIMIT:g})")
    print("reached" if total < LIMIT else "NOT reached")


if __name__ == "__main__":
    main()
