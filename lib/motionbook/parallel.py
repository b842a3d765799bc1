"""One map for work that falls into independent pieces."""

import os
from collections.abc import Callable, Iterable

JOBS_VARIABLE = "MOTIONBOOK_JOBS"


def map_jobs(function: Callable, items: Iterable, *, jobs: int | None = None, describe: str = "") -> list:
    """``[function(item) for item in items]``, in processes when more than one job is allowed.

    Parameters
    ----------
    function : callable
        Importable by name (a module's function or a functools.partial of one), its results picklable.
    items : iterable
    jobs : int, optional
        Processes at once; the environment variable MOTIONBOOK_JOBS, which ``motionbook reproduce --jobs`` sets, when
        left out, and 1 without it. The results and their order do not depend on it.
    describe : str
        Words for the progress bar; none is shown when empty.
    """
    items = list(items)
    jobs = int(os.environ.get(JOBS_VARIABLE, "1")) if jobs is None else jobs
    if jobs < 1:
        raise ValueError(f"jobs: expected at least 1, got {jobs}")
    jobs = min(jobs, len(items))
    if jobs <= 1:
        return list(_progress(map(function, items), len(items), describe))
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # spawned workers start clean: forking a process that runs threads (a kernel, numba) can deadlock
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        return list(_progress(pool.map(function, items), len(items), describe))


def _progress(results, total: int, describe: str):
    if not describe:
        return results
    from tqdm import tqdm

    # a notebook run in batch would fill its output with one line per step
    return tqdm(results, total=total, desc=describe, disable=None)
