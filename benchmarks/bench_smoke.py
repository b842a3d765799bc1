"""Time and peak memory of the smoke reproduction of all six chapters, and of importing the library.

``python benchmarks/bench_smoke.py [--data PATH]``; limits: ten minutes on two cores, 4 GiB, 0.3 s.
"""

import argparse
import subprocess
import sys
import tempfile
import time

import psutil


def run_and_watch(command: list[str]) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds and peak resident bytes of a command with all of its children."""
    started, cpu, peak = time.perf_counter(), {}, 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while process.poll() is None:
            resident = 0
            for member in tree(process.pid):
                try:
                    times = member.cpu_times()
                    cpu[member.pid] = times.user + times.system
                    resident += member.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            peak = max(peak, resident)
            time.sleep(0.1)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with status {process.returncode}")
    return time.perf_counter() - started, sum(cpu.values()), peak


def tree(pid: int) -> list[psutil.Process]:
    """A process and its children, [] when it has ended."""
    try:
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def import_seconds() -> float:
    """Median of nine imports in fresh processes, numpy included."""
    code = "import time; t = time.perf_counter(); import motionbook; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout) for _ in range(9)
    ]
    return sorted(runs)[4]


def main() -> None:
    """Print the figures beside their limits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default="")
    options = parser.parse_args()
    print(f"import motionbook                 {import_seconds():8.3f} s     limit 0.3 s")
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "motionbook.cli", "reproduce", "--budget", "smoke", "--out", out]
        wall, cpu, peak = run_and_watch(command + (["--data", options.data] if options.data else []))
    print(f"smoke reproduction, wall          {wall:8.1f} s     limit 600 s on two cores")
    print(f"smoke reproduction, CPU           {cpu:8.1f} s")
    print(f"smoke reproduction, peak memory   {peak / 2**30:8.2f} GiB   limit 4 GiB (runner, kernel and workers)")


if __name__ == "__main__":
    main()
