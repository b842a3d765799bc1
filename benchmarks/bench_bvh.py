"""Reading BVH to quaternions and placing all joints, beside pybvh and bvhTools in the same run.

    OMP_NUM_THREADS=1 python benchmarks/bench_bvh.py [FILE.bvh]

Without FILE the LaFAN1 clip dance1_subject2 (3945 frames, 22 joints) is taken from $MOTIONBOOK_TEST_DATA or
../shared/data, and where that is absent a clip of the same size is made. Each figure is the best of several runs in one
process, one run where it takes seconds; cold figures are whole processes, and "cold" means that nothing has been
compiled before. A peer that is not installed is left out, and this is said. The last lines read made files of about 90
and 180 MB.
"""

import argparse
import contextlib
import importlib
import io
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from motionbook import Clip, Skeleton, forward_kinematics, read_bvh, write_bvh
from motionbook import rotations as rot
from motionbook.skeletons import LAFAN1

ROUNDS = 20
LARGE_JOINTS, LARGE_FRAMES = 316, 20_000  # 951 numbers a row


class Entry(NamedTuple):
    """One thing to time, and how many times slower than ours it is wanted to be."""

    what: str
    who: str
    work: Callable[[], object]
    wanted: int | None = None
    rounds: int = ROUNDS


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, help="a BVH file, by default LaFAN1's dance1_subject2")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pybvh's, about the up axis
        path = parser.parse_args().file or find_or_make(Path(folder))
        report(path, Path(folder))


def find_or_make(folder: Path) -> Path:
    """The LaFAN1 file, or one of its size."""
    data = Path(os.environ.get("MOTIONBOOK_TEST_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    path = data / "bvh/lafan1/dance1_subject2.bvh"
    if path.is_file():
        return path
    print(f"{path} is absent: a clip of its size is made")
    rng = np.random.default_rng(0)
    turns = rot.from_rotation_vector(rng.standard_normal((3945, 22, 3)) * 0.5)
    clip = Clip(LAFAN1, rng.standard_normal((3945, 3)), turns, 30.0)
    return write_bvh(clip, folder / "made.bvh")


def report(path: Path, folder: Path) -> None:
    """All figures for one file."""
    clip = read_bvh(path, 0.01)
    print(f"{path.name}: {len(clip)} frames, {len(clip.skeleton)} joints, {path.stat().st_size / 1e6:.2f} MB")
    pybvh, bvhtools = peer("pybvh"), peer("bvhTools.bvhIO")

    truth = forward_kinematics(clip).positions

    reading = [Entry("reading to quaternions", "motionbook", lambda: read_bvh(path, 0.01))]
    placing = [Entry("reading and kinematics", "motionbook", lambda: forward_kinematics(read_bvh(path, 0.01)))]
    if pybvh:
        reading += [
            Entry("reading alone", "pybvh", lambda: pybvh.read_bvh_file(path)),
            Entry("reading to quaternions", "pybvh", lambda: pybvh.read_bvh_file(path).to_quat(), 3),
        ]
        placing += [Entry("reading and kinematics", "pybvh", lambda: pybvh.read_bvh_file(path).joint_positions(), 5)]
        agree("pybvh", pybvh.read_bvh_file(path).joint_positions() * 0.01, truth)
    if bvhtools:
        names = clip.skeleton.names

        def quaternions():
            return bvhtools.readBvh(str(path)).motion.getRepresentation("quaternion")

        def places():
            data = bvhtools.readBvh(str(path))
            frames = (data.getFKAtFrame(frame) for frame in range(data.motion.numFrames))
            return np.array([[frame[name][1] for name in names] for frame in frames])

        reading += [
            Entry("reading alone", "bvhTools", lambda: bvhtools.readBvh(str(path))),
            Entry("reading to quaternions", "bvhTools", quaternions, 4, rounds=1),
        ]
        placing += [Entry("reading and kinematics", "bvhTools", places, 100, rounds=1)]
        agree("bvhTools", places() * 0.01, truth)

    print(f"\n{'':26}{'':12}{'ms':>10}{'times ours':>12}{'wanted':>9}")
    for entries in (reading, placing):
        seconds = race(entries)
        for entry, taken in zip(entries, seconds, strict=True):
            ratio = f"{taken / seconds[0]:12.1f}" if taken is not seconds[0] else ""
            wanted = f">= {entry.wanted}" if entry.wanted else ""
            print(f"{entry.what:26}{entry.who:12}{1e3 * taken:10.1f}{ratio}{wanted:>9}")
    alone, writing = race(
        [
            Entry("kinematics alone", "motionbook", lambda: forward_kinematics(clip)),
            Entry("writing", "motionbook", lambda: write_bvh(clip, folder / "out.bvh")),
        ]
    )
    print(f"{'kinematics alone':26}{'motionbook':12}{1e3 * alone:10.1f}{'< 20':>21}")
    print(f"{'writing':26}{'motionbook':12}{1e3 * writing:10.1f}")

    print("\nseconds in a new process")
    ours = f"from motionbook import read_bvh; read_bvh({str(path)!r}, 0.01)"
    lines = {"import numpy": "import numpy", "import motionbook": "import motionbook"}
    for what, code in lines.items():
        print(f"  {what:44}{inside(code):8.3f}{'   < 0.3' if 'motionbook' in code else ''}")
    cache = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    print(f"  {'motionbook: import and read, cold':44}{inside(ours, cache, repeats=1):8.3f}   < 2.5")
    print(f"  {'motionbook: import and read, scanner kept':44}{inside(ours, cache):8.3f}")
    if pybvh:
        print(f"  {'pybvh: import and read':44}{inside(f'import pybvh; pybvh.read_bvh_file({str(path)!r})'):8.3f}")
    if bvhtools:
        code = f"from bvhTools.bvhIO import readBvh; readBvh({str(path)!r})"
        print(f"  {'bvhTools: import and read':44}{inside(code):8.3f}")

    print("\nlarge files: 951 numbers a row")
    for frames in (LARGE_FRAMES // 2, LARGE_FRAMES):
        large = make_large(folder / "large.bvh", frames)
        size = large.stat().st_size / 1e6
        seconds, peak = large_read(large)
        memory = f"peak memory {peak:4.0f} MB, {peak / size:.1f} times the file"
        print(f"  {frames:6} frames, {size:6.1f} MB: {seconds:5.2f} s, {memory}")


def peer(name: str):
    """The peer's module, or None with a word about it."""
    try:
        return importlib.import_module(name)
    except ImportError as reason:
        print(f"{name.split('.')[0]} is left out: {reason}")
        return None


def race(entries: list[Entry]) -> list[float]:
    """Best seconds of each entry; they take turns, so that what else the machine does hits all of them alike.

    Each runs twice at its turn, which leaves the second run the memory and caches of the first.
    """
    best = [float("inf")] * len(entries)
    with contextlib.redirect_stdout(io.StringIO()):
        for turn in range(ROUNDS):
            for place, entry in enumerate(entries):
                for _ in range(min(2, entry.rounds) if turn < entry.rounds else 0):
                    start = time.perf_counter()
                    entry.work()
                    best[place] = min(best[place], time.perf_counter() - start)
    return best


def agree(name: str, places: np.ndarray, truth: np.ndarray) -> None:
    """Say how far a peer's places are from ours; figures of programs that disagree mean nothing."""
    gap = np.abs(np.asarray(places) - truth).max()
    print(f"largest difference of joint places from {name}: {gap:.1e} m")
    if gap > 1e-6:
        raise SystemExit(f"{name} and motionbook place the joints differently")


def inside(code: str, environment: dict | None = None, repeats: int = 5) -> float:
    """Best seconds that code takes in a new interpreter, the start of Python itself left out."""
    script = f"import time, warnings; warnings.simplefilter('ignore'); start = time.perf_counter()\n{code}\n"
    script += "print(time.perf_counter() - start)"
    times = []
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, **(environment or {})},
        )
        times.append(float(done.stdout.split()[-1]))
    return min(times)


def make_large(path: Path, frames: int) -> Path:
    """A file of many joints: a chain of 316, the same thousand random rows again and again."""
    rng = np.random.default_rng(0)
    skeleton = Skeleton(
        tuple(f"joint{j}" for j in range(LARGE_JOINTS)),
        tuple(range(-1, LARGE_JOINTS - 1)),
        rng.standard_normal((LARGE_JOINTS, 3)) * 0.1,
    )
    some = Clip(skeleton, rng.standard_normal((1000, 3)), rot.random_rotations((1000, LARGE_JOINTS), rng), 30.0)
    text = write_bvh(some, path, decimals=5).read_text()
    start = text.index("\n", text.index("Frame Time:")) + 1
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text[:start].replace("Frames: 1000", f"Frames: {frames}"))
        file.writelines(text[start:] for _ in range(frames // 1000))
    return path


def large_read(path: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of reading a file in a new process."""
    code = (
        "import resource, sys, time; from motionbook import read_bvh; start = time.perf_counter()\n"
        f"read_bvh({str(path)!r}, 0.01)\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == 'darwin' else 1e3)\n"
        "print(time.perf_counter() - start, peak)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, peak = map(float, done.stdout.split())
    return seconds, peak


if __name__ == "__main__":
    main()
