"""Reading, kinematics and writing of BVH, beside bvhTools, pybvh and bvhio in one table of one run.

    OMP_NUM_THREADS=1 python benchmarks/bench_bvh.py [FILE.bvh] [--rounds N]

Without FILE the LaFAN1 clip dance1_subject2 (3945 frames, 22 joints) is taken from $MOTIONBOOK_TEST_DATA or
../shared/data, and where that is absent a clip of the same size is made. Figures of the table are CPU time, best of
several runs of one process that take turns; what is compared must be equal first: joint places of each library to the
digits it holds, and the numbers in the files that each has written. A peer that is not installed is left out, and this
is said. Cold figures are whole processes, and "cold" means that nothing has been compiled before. The last lines read
made files of about 90 and 180 MB.
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


class Library(NamedTuple):
    """One library's way to do what is timed; ``loaded`` is what its own ``read`` gives.

    ``tolerance`` is in metres, what its number format leaves of a joint's place; ``rounds`` how often it is timed.
    """

    name: str
    read: Callable[[], object]
    kinematics: Callable[[object], np.ndarray]
    write: Callable[[object], object]
    written: Path
    tolerance: float
    rounds: int
    pose: Callable[[], object] | None = None  # reads what kinematics needs, where that is not what read gives


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, help="a BVH file, by default LaFAN1's dance1_subject2")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="runs of what takes milliseconds")
    parser.add_argument("--table-only", action="store_true", help="neither cold figures nor large files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pybvh's, about the up axis
        path = options.file or find_or_make(Path(folder))
        table(path, Path(folder), options.rounds)
        if not options.table_only:
            cold_and_large(path, Path(folder))


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


def libraries(path: Path, folder: Path, rounds: int) -> list[Library]:
    """Ours and the peers that are installed."""
    ours = Library(
        "motionbook",
        lambda: read_bvh(path, 0.01),
        lambda clip: forward_kinematics(clip).positions,
        lambda clip: write_bvh(clip, folder / "motionbook.bvh"),
        folder / "motionbook.bvh",
        0.0,
        rounds,
    )
    found = [ours]
    names = read_bvh(path, 0.01).skeleton.names
    if pybvh := peer("pybvh"):
        its_file = folder / "pybvh.bvh"
        found.append(
            Library(
                "pybvh",
                lambda: pybvh.read_bvh_file(path),
                lambda data: data.joint_positions() * 0.01,
                lambda data: data.write(its_file),
                its_file,
                1e-13,
                rounds,
            )
        )
    if bvhtools := peer("bvhTools.bvhIO"):
        that_file = folder / "bvhtools.bvh"

        def places(data):
            frames = (data.getFKAtFrame(frame) for frame in range(data.motion.numFrames))
            return np.array([[frame[name][1] for name in names] for frame in frames]) * 0.01

        read, write = lambda: bvhtools.readBvh(str(path)), lambda data: bvhtools.writeBvh(data, str(that_file))
        found.append(Library("bvhTools", read, places, write, that_file, 1e-13, 3))
    if bvhio := peer("bvhio"):
        other = folder / "bvhio.bvh"

        def walked(root):
            joints = sorted((joint for joint, _, _ in root.layout()), key=lambda joint: names.index(joint.Name))
            result = np.empty((len(read_bvh(path, 0.01)), len(joints), 3))
            for frame in range(len(result)):
                root.loadPose(frame)
                for number, joint in enumerate(joints):
                    place = joint.PositionWorld
                    result[frame, number] = place.x, place.y, place.z
            return result * 0.01

        found.append(
            Library(
                "bvhio",
                lambda: bvhio.readAsBvh(str(path)),
                walked,
                lambda data: bvhio.writeBvh(str(other), data),
                other,
                5e-6,
                2,
                lambda: bvhio.readAsHierarchy(str(path)),
            )
        )
    return found


def table(path: Path, folder: Path, rounds: int) -> None:
    """The one table, after checking that all libraries compute the same."""
    clip = read_bvh(path, 0.01)
    print(f"{path.name}: {len(clip)} frames, {len(clip.skeleton)} joints, {path.stat().st_size / 1e6:.2f} MB")
    all_of_them = libraries(path, folder, rounds)
    truth = forward_kinematics(clip).positions
    print("largest difference from ours: joint places in metres, numbers of the written file in its units")
    for library in all_of_them:
        with contextlib.redirect_stdout(io.StringIO()):
            data = library.read()
            gap = np.abs(library.kinematics(library.pose() if library.pose else data) - truth).max()
            library.write(data)
        off = np.abs(forward_kinematics(read_bvh(library.written, 0.01)).positions - truth).max() * 100
        print(f"  {library.name:12}{gap:10.1e} m{off:12.1e} cm")
        # a file of six decimals is off by nothing here; bvhio rounds rotations to float32 before it writes
        if gap > library.tolerance or off > (5e-3 if library.tolerance > 1e-9 else 1e-9):
            raise SystemExit(f"{library.name} and motionbook do not compute the same")
    rows = {"reading": [], "kinematics": [], "reading and kinematics": [], "writing": []}
    for best in race(all_of_them):
        rows["reading"].append(best["read"])
        rows["kinematics"].append(best["kinematics"])
        rows["reading and kinematics"].append(best["both"])
        rows["writing"].append(best["write"])
    print("\nms of CPU time, best of the runs (times ours)")
    print(f"{'':24}" + "".join(f"{library.name:>22}" for library in all_of_them))
    for what, seconds in rows.items():
        cells = [f"{1e3 * s:.1f} ({s / seconds[0]:.1f})" if k else f"{1e3 * s:.1f}" for k, s in enumerate(seconds)]
        print(f"{what:24}" + "".join(f"{cell:>22}" for cell in cells))
    print("wanted of reading and kinematics: 5 times over pybvh, 100 times over bvhTools")
    print("ours reads to quaternions in metres with unit and axes found; the others' reading stops at their numbers")


def cold_and_large(path: Path, folder: Path) -> None:
    """Whole processes, and files of many megabytes."""
    pybvh, bvhtools = peer("pybvh"), peer("bvhTools.bvhIO")
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


def race(entries: list[Library]) -> list[dict[str, float]]:
    """Best CPU seconds of each step; they take turns, so that what else the machine does hits all of them alike.

    Every run of kinematics gets what was just read, for pybvh keeps its results. Each turn is done
    twice, which leaves the second the memory and caches of the first.
    """
    best = [dict.fromkeys(("read", "kinematics", "both", "write"), float("inf")) for _ in entries]

    def timed(step: str, place: int, work: Callable, *arguments):
        start = time.process_time()
        result = work(*arguments)
        best[place][step] = min(best[place][step], time.process_time() - start)
        return result

    with contextlib.redirect_stdout(io.StringIO()):
        for turn in range(max(entry.rounds for entry in entries)):
            for place, entry in enumerate(entries):
                for _ in range(2 if turn < entry.rounds and entry.rounds > 3 else turn < entry.rounds):
                    data = timed("read", place, entry.read)
                    pose = entry.pose() if entry.pose else data
                    timed("kinematics", place, entry.kinematics, pose)
                    pose = entry.pose or entry.read
                    timed("both", place, lambda entry=entry, pose=pose: entry.kinematics(pose()))
                    timed("write", place, entry.write, data)
    return best


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
