"""Fault rules against faults put in, what they remove from clean takes, and how many frames a second they and the
quality of clips take.

    OMP_NUM_THREADS=1 python benchmarks/bench_faults.py [folder of ReActIdle]

(a) Embedded performers who wait or use a phone, on both rigs, and (b) the real recordings when their folder is given,
every second of them. The limits of the robust rule were tuned with another seed on other performers and on faults put
into the other recordings; as they are, all recordings had been looked at.
Published rule: z-score of joint speed above 5, 10 frames on either side, runs of 60 at least.
Timed on one core with forward kinematics, over takes of two minutes repeated to the published size of 645,338 frames
in 1634 clips. To be reached: the robust rule under 40 s, all of the quality of clips under 60 s.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from motionbook import read_bvh
from motionbook.cleaning.clip_quality import clip_quality, quality_table
from motionbook.cleaning.fault_experiment import fault_experiment, precision_table, recall_table
from motionbook.cleaning.faults import find_faults
from motionbook.synthesis.performers import ACTIONS, action, idle, make_performer, phone, to_freemocap

SEED, PEOPLE, CLIPS, FRAMES = 1, range(20, 30), 1634, 645_338
FAULT_LIMIT, QUALITY_LIMIT = 40.0, 60.0


def performers():
    """Name -> clip: ten people, a minute of waiting and one with a phone each, on either rig in turn."""
    clips = {}
    for subject in PEOPLE:
        person = make_performer(subject, SEED)
        clips[f"{subject} idle"] = to_freemocap(idle(person, 60.0)) if subject % 2 else idle(person, 60.0)
        clips[f"{subject} phone"] = phone(person, 60.0) if subject % 2 else to_freemocap(phone(person, 60.0))
    return clips


def recordings(folder):
    """Name -> clip: every recording; their header says 24 fps, their authors state 30."""
    paths = sorted(Path(folder).glob("*/*.bvh"))
    return {path.stem: read_bvh(path, positions="add_root", fps=30.0) for path in paths}


def losses(clips):
    """Percent of frames that either rule removes from clips as they are, and what the robust one calls it."""
    rows = {}
    for name, clip in clips.items():
        published, robust = find_faults(clip, method="published"), find_faults(clip)
        kinds = pd.Series([fault.kind for fault in robust.faults], dtype=object).value_counts()
        rows[name] = {
            "frames": len(clip),
            "published [%]": 100 * published.removed / len(clip),
            "robust [%]": 100 * robust.removed / len(clip),
            "kinds": ", ".join(f"{count} {kind}" for kind, count in kinds.items()),
        }
    table = pd.DataFrame.from_dict(rows, orient="index")
    weights = table["frames"] / table["frames"].sum()
    total = [table["frames"].sum(), *((table[c] * weights).sum() for c in ("published [%]", "robust [%]")), ""]
    table.loc["all"] = total
    return table


def timed(clips, work) -> float:
    """Seconds for 1634 clips of 645,338 frames in all, from the time for these."""
    work(clips[0])  # compiles
    start = time.perf_counter()
    for clip in clips:
        work(clip)
    return time.perf_counter() - start


def published_size(clips):
    """1634 clips of the published mean length, cut from these."""
    length = FRAMES // CLIPS
    pieces = [clip[start : start + length] for clip in clips for start in range(0, len(clip) - length + 1, length)]
    return [pieces[i % len(pieces)] for i in range(CLIPS)]


def main() -> None:
    """Run everything and print tables."""
    pd.set_option("display.width", 220, "display.max_columns", 20, "display.max_rows", 200)
    pd.set_option("display.float_format", "{:.1f}".format)
    own = performers()
    groups = {"embedded performers": own}
    if len(sys.argv) > 1:
        groups["recordings"] = dict(list(recordings(sys.argv[1]).items())[1::2])
        print("\nrecordings as they are")
        print(losses(recordings(sys.argv[1])))
    for name, clips in groups.items():
        start = time.perf_counter()
        scores = fault_experiment(list(clips.values()), SEED)
        print(f"\n{name}: {len(clips)} clips, {sum(map(len, clips.values()))} frames, seed {SEED}")
        print(recall_table(scores))
        print(precision_table(scores))
        print(f"{time.perf_counter() - start:.1f} s")
    actions = {label: action(make_performer(20, SEED), label) for label in ACTIONS}
    print("\nperformers as they are\n", losses(own).loc[["all"]], "\nactions\n", losses(actions).loc[["all"]])
    print("\nquality of clips\n", quality_table(dict(list(own.items())[:4])))
    sized = published_size([clip for clip in own.values() if len(clip.skeleton) == 22])
    frames = sum(map(len, sized))
    print(f"\n{len(sized)} clips, {frames} frames of 22 joints, one core")
    for name, work, limit in (("robust rule", find_faults, FAULT_LIMIT), ("quality", clip_quality, QUALITY_LIMIT)):
        seconds = timed(sized, work)
        print(f"{name}: {seconds:.1f} s, {1e6 * seconds / frames:.1f} us a frame, to be under {limit:g} s")
    seconds = timed(sized, lambda clip: find_faults(clip, method="published"))
    print(f"published rule: {seconds:.1f} s; numpy {np.__version__}")


if __name__ == "__main__":
    main()
