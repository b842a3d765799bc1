"""How fast clips are generated, and what is left of the jumps at the seams.

    python benchmarks/bench_generation.py [folder of real BVH, such as ReActIdle] [--seconds 10] [--clips 16]

Speed: seconds of motion made per second of work, all clips together, by two networks of the published size (context
10,389,836 and detail 10,127,695 parameters; random weights take as long as trained ones), by the same networks one clip
after the other, and by SLERP. Set OMP_NUM_THREADS to the cores to be used. The aim is 20 times real time for 16 clips
on 2 cores. Where others use the machine too, the last column tells from the processor's own seconds.

Seams: real clips (embedded performers without a folder) with jumps of known size planted at every seam, under every
repair; and segments of a predictor that jumps.
"""

import argparse
import time

import numpy as np
import pandas as pd

from motionbook import rotations as rot
from motionbook.inbetweening.autoregression import fill_gaps, fill_segments, junctions, key_frames, there_and_back
from motionbook.inbetweening.baselines import LocalPose, slerp
from motionbook.inbetweening.correction import meet_ends
from motionbook.inbetweening.seams import displaced, jumps, key_misses, repair_table

DEGREES, CENTIMETRES = 3.0, 1.0  # standard deviation of a planted jump about and along each axis


def clips_to_fill(folder: str | None, count: int, frames: int):
    """Real clips on the LaFAN1 skeleton, or embedded performers, ``count`` of them and long enough, and their name."""
    if folder:
        from motionbook.inbetweening.own_recordings import open_folder

        dataset, recordings, _ = open_folder(folder)
        clips, label = [r.clip for r in recordings], dataset.label
    else:
        from motionbook.inbetweening.inputs import embedded_idle

        clips, label = embedded_idle(6, 0, frames / 30 + 1), "embedded performers (synthetic)"
    starts = [(i % len(clips), 400 * (i // len(clips))) for i in range(count)]
    return [there_and_back(clips[i][start % max(len(clips[i]) - 60, 1) :], frames) for i, start in starts], label


def two_stage(clips):
    """The published networks with random weights, over the statistics of these clips."""
    import torch

    from motionbook.inbetweening.motion_tensors import feature_statistics
    from motionbook.inbetweening.networks import ContextNetwork, DetailNetwork, parameter_count
    from motionbook.inbetweening.two_stage import TwoStage

    torch.manual_seed(0)
    context, detail = ContextNetwork().eval(), DetailNetwork().eval()
    sizes = f"{parameter_count(context):,} + {parameter_count(detail):,} parameters"
    return TwoStage(context, detail, feature_statistics(clips)).keys_only(), sizes, torch.get_num_threads()


def jumping(windows, transition: int) -> LocalPose:
    """SLERP with a turn of every joint and a shift of the root that are constant over the gap."""
    rng = np.random.default_rng(int(windows.starts[0]))
    turn = rng.normal(0.0, np.deg2rad(DEGREES), (len(windows), 1, len(windows.skeleton), 3))
    pose = slerp(windows, transition)
    root = pose.root_positions + rng.normal(0.0, CENTIMETRES, (len(windows), 1, 3))
    return LocalPose(root, rot.multiply(pose.rotations, rot.from_rotation_vector(turn)))


def timed(work, repeats: int = 2) -> tuple[float, float]:
    """Least wall-clock and least processor seconds of a few runs."""
    runs = []
    for _ in range(repeats):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        runs.append((time.perf_counter() - wall, time.process_time() - processor))
    return tuple(np.min(runs, axis=0))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--clips", type=int, default=16)
    options = parser.parse_args()
    frames = round(30 * options.seconds)
    needed = int(key_frames(frames)[-1]) + 1
    clips, label = clips_to_fill(options.folder, options.clips, needed)
    predictor, sizes, threads = two_stage(clips)
    print(f"{label}: {options.clips} clips of {options.seconds:g} s; two-stage network of {sizes}, {threads} threads")
    few = clips[:2]
    work = {
        "two-stage, all clips at once": (clips, lambda: fill_gaps(clips, predictor, frames, finish=meet_ends)),
        "two-stage, clip after clip": (few, lambda: [fill_gaps([c], predictor, frames, finish=meet_ends) for c in few]),
        "SLERP, all clips at once": (clips, lambda: fill_gaps(clips, slerp, frames, finish=meet_ends)),
    }
    rows = {}
    for name, (filled, run) in work.items():
        wall, processor = timed(run)
        motion = len(filled) * frames / 30
        rows[name] = (len(filled), wall, processor, motion / wall, motion / processor * threads)
    columns = ["clips", "wall s", "CPU s", "times real time", f"the same, {threads} cores undisturbed"]
    speed = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    print(speed.to_string(float_format=lambda x: f"{x:.3g}"), end="\n\n")

    seams, keys = junctions(frames), key_frames(frames)
    planted = [displaced(clip[:frames], seams, DEGREES, CENTIMETRES, seed=i) for i, clip in enumerate(clips)]
    print(f"recorded motion with planted jumps ({DEGREES:g} degrees, {CENTIMETRES:g} cm about and along each axis)")
    print(repair_table(planted, clips, seams, keys).T.to_string(float_format=lambda x: f"{x:.4g}"), end="\n\n")

    made = fill_segments(clips, jumping, frames)
    print("a predictor that jumps, segments as published")
    print(repair_table(made, clips, seams, keys).T.to_string(float_format=lambda x: f"{x:.4g}"), end="\n\n")

    print("the same predictor, key poses in the next context")
    inside = keys[keys < frames]
    for name, finish in (("as made", None), ("ends met", meet_ends)):
        chain = fill_gaps(clips, jumping, frames, finish=finish)
        first = np.median([jumps(clip, inside + 1) for clip in chain])
        at_keys = np.median([jumps(clip, inside) for clip in chain])
        miss = key_misses(chain, clips, inside)
        print(
            f"{name}: jump {first:.4f} degrees in the first frame of a gap, {at_keys:.4f} at the keys; key poses "
            f"missed by {miss.max_degrees.max():.1e} degrees, {miss.root_cm.max():.1e} cm at most"
        )


if __name__ == "__main__":
    main()
