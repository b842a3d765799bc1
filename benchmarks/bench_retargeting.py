"""Retargeting FreeMoCap's rig to LaFAN1's: milliseconds a frame by clip length, and the whole published data set.

    OMP_NUM_THREADS=1 python benchmarks/bench_retargeting.py

The clips are an embedded performer's on the FreeMoCap rig, cut and repeated to length. The last lines add up 1,534
clips of 180 frames and 100 of 3,696, StayStill's 645,338 frames but for rounding.
"""

import logging
import time

import numpy as np

from motionbook import Clip
from motionbook.cleaning import retarget
from motionbook.skeletons import LAFAN1
from motionbook.synthesis.performers import idle, make_performer, to_freemocap

ROUNDS = 5
LENGTHS = (180, 1000, 3696, 20_000)


def main():
    """Print the table."""
    logging.disable(logging.CRITICAL)
    base = to_freemocap(idle(make_performer(0, 0), 30.0))
    seconds = {}
    print(f"{'frames':>8} {'twist':>8} {'CPU ms a clip':>14} {'ms a frame':>11}")
    for frames in LENGTHS:
        index = np.arange(frames) % len(base)
        moved = None if base.translations is None else base.translations[index]
        clip = Clip(base.skeleton, base.root_positions[index], base.rotations[index], base.fps, moved)
        for twist in ("source", "hinge"):
            times = []
            for _ in range(ROUNDS):
                start = time.process_time()
                retarget(clip, LAFAN1, twist=twist)
                times.append(time.process_time() - start)
            seconds[frames, twist] = min(times)
            print(f"{frames:8d} {twist:>8} {1e3 * min(times):14.1f} {1e3 * min(times) / frames:11.4f}")
    for twist in ("source", "hinge"):
        total = 1534 * seconds[180, twist] + 100 * seconds[3696, twist]
        print(f"whole data set, twist {twist}: {total:.1f} CPU s, {1e3 * total / 645_338:.4f} ms a frame")


if __name__ == "__main__":
    main()
