"""Scoring 98 windows at four transition lengths with three baselines, beside a plain matrix version of the same.

    OMP_NUM_THREADS=1 python benchmarks/bench_inbetweening.py

The plain version works as the published evaluators do: rotation matrices throughout, kinematics of the whole cut
window for truth and prediction anew at every length and system, quaternions from the matrices, complex FFTs. Both
start from the same windows and must give the same twelve times three numbers. Qin et al.'s own evaluator took 5.9 CPU
seconds for this amount on a two-core server (stored figure; it is not run here).
"""

import time

import numpy as np

from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.baselines import ease, evenly
from motionbook.inbetweening.evaluation import position_moments, position_statistics, score_windows
from motionbook.inbetweening.windows import BENCHMARK, CONTEXT, LENGTHS, STATISTICS, make_windows
from motionbook.skeletons import LAFAN1

FRAMES = 3945  # gives 98 windows of 65 frames, 40 apart
REPEATS = 15  # the shortest counts; a busy machine makes single runs longer


def wandering_clip(frames: int, seed: int = 0) -> Clip:
    """Smooth motion of all joints from slow random sines, metres and 30 fps."""
    rng = np.random.default_rng(seed)
    t = np.arange(frames)[:, None, None, None] / 30.0
    rates, phases = rng.uniform(0.05, 0.8, (2, 1, 22, 3, 4))
    vectors = (0.25 * np.sin(2 * np.pi * (rates * t + phases))).sum(axis=-1)
    root = np.array([0.0, 0.9, 0.0]) + 0.3 * np.sin(0.3 * t[:, 0, :, 0] + np.arange(3))
    return Clip(LAFAN1, root, rot.from_rotation_vector(vectors), 30.0)


def plain_scores(windows, std) -> dict:
    """The same numbers the straightforward way; (system, length) to (L2P, L2Q, NPSS)."""
    matrices, quaternions = rot.to_matrix(windows.rotations), windows.rotations
    results = {}
    for length in LENGTHS:
        cut, gap, t = CONTEXT + length + 2, slice(CONTEXT, CONTEXT + length), evenly(length)
        for system in ("0-velocity", "SLERP", "SLERP-Q"):
            local, root = matrices[:, :cut].copy(), windows.root_positions[:, :cut].copy()
            last, target = CONTEXT - 1, CONTEXT + length
            if system == "0-velocity":
                local[:, gap], root[:, gap] = local[:, last : last + 1], root[:, last : last + 1]
            else:
                times = evenly(length) if system == "SLERP" else ease(t)
                local[:, gap] = rot.to_matrix(_slerp(quaternions[:, last], quaternions[:, target], times))
                root[:, gap] = root[:, last, None] + times[:, None] * (root[:, target] - root[:, last])[:, None]
            truth = _world(matrices[:, :cut], windows.root_positions[:, :cut], windows)
            guess = _world(local, root, windows)
            error = ((truth[0] - guess[0]) / std)[:, gap].reshape(len(windows), length, -1)
            a, b = (_signed(rot.from_matrix(g[1]))[:, gap].reshape(len(windows), length, -1) for g in (truth, guess))
            results[system, length] = (
                np.linalg.norm(error, axis=-1).mean(),
                np.linalg.norm(a - b, axis=-1).mean(),
                _npss(a, b),
            )
    return results


def _world(local, root, windows):
    world, places = np.empty_like(local), np.empty((*local.shape[:3], 3))
    world[:, :, 0], places[:, :, 0] = local[:, :, 0], root
    for joint, parent in enumerate(windows.skeleton.parents[1:], start=1):
        world[:, :, joint] = world[:, :, parent] @ local[:, :, joint]
        bone = windows.offsets[:, None, joint, :, None]
        places[:, :, joint] = places[:, :, parent] + (world[:, :, parent] @ bone)[..., 0]
    return places, world


def _slerp(a, b, t):
    a, b, t = a[:, None], b[:, None], t[:, None]
    dot = (a * b).sum(axis=-1)
    b, dot = np.where(dot[..., None] < 0, -b, b), np.abs(dot)
    with np.errstate(invalid="ignore", divide="ignore"):
        angle = np.arccos(np.minimum(dot, 1.0))
        near = 1.0 - dot < 0.01
        wa = np.where(near, 1 - t, np.sin((1 - t) * angle) / np.sin(angle))[..., None]
        wb = np.where(near, t, np.sin(t * angle) / np.sin(angle))[..., None]
    return rot.normalize(wa * a + wb * b)


def _signed(q):
    q = q.copy()
    q[:, 0] = np.where(q[:, 0, :, :1] < 0, -q[:, 0], q[:, 0])
    for frame in range(1, q.shape[1]):
        flip = (q[:, frame] * q[:, frame - 1]).sum(axis=-1, keepdims=True) < 0
        q[:, frame] = np.where(flip, -q[:, frame], q[:, frame])
    return q


def _npss(a, b):
    a, b = np.real(np.fft.fft(a, axis=1)) ** 2, np.real(np.fft.fft(b, axis=1)) ** 2
    total_a, total_b = a.sum(axis=1), b.sum(axis=1)
    a = np.where(total_a[:, None] < 1e-8, 0.0, a / np.maximum(total_a, 1e-300)[:, None])
    b = np.where(total_b[:, None] < 1e-8, 0.0, b / np.maximum(total_b, 1e-300)[:, None])
    distance = np.abs(np.cumsum(b, axis=1) - np.cumsum(a, axis=1)).sum(axis=1)
    return (distance * total_a).sum() / total_a.sum()


def best_of(task, repeats: int = REPEATS):
    """Shortest CPU time of several runs, with the result."""
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        result = task()
        seconds.append(time.process_time() - started)
    return min(seconds), result


def main():
    """Print both times and the largest difference of any number."""
    clip = wandering_clip(FRAMES)
    windows = make_windows([clip], *BENCHMARK)
    _, std = position_statistics([position_moments(make_windows([clip], *STATISTICS))])
    ours, scores = best_of(lambda: score_windows(windows, std))
    plain, expected = best_of(lambda: plain_scores(windows, std), 5)
    worst = 0.0
    for key, s in scores.items():
        values = (s.l2p.mean(), s.l2q.mean(), s.npss_distance.sum() / s.npss_power.sum())
        worst = max(worst, np.abs(np.array(values) / expected[key] - 1).max())
    print(f"{len(windows)} windows x {len(LENGTHS)} lengths x 3 baselines, CPU seconds")
    print(f"  motionbook        {ours:8.3f}")
    print(f"  plain matrices    {plain:8.3f}   {plain / ours:.1f}x")
    print("  Qin et al.        5.9 (stored, another machine, not run here)")
    print(f"  largest relative difference of a score: {worst:.1e}")


if __name__ == "__main__":
    main()
