"""What the notebook of chapter 3 needs around the benchmark: a stand-in for chapter 2, names, notes, lists."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from motionbook import budgets
from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.baselines import zero_velocity
from motionbook.inbetweening.correction import KERNEL, two_steps
from motionbook.inbetweening.evaluation import error_over_time
from motionbook.inbetweening.generator import KEY_DISTANCE, SECONDS, Span
from motionbook.inbetweening.own_predictions import score_predictions
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.seams import jumps
from motionbook.inbetweening.windows import CONTEXT, Windows, make_windows
from motionbook.skeletons import LAFAN1

_EXAMPLE_SHIFT = 5.0  # degrees, of the paper's example of its repair
# Where StayStill prints the errors of a subset
TABLES = {"idle": "staystill_table1", "phone": "staystill_table5", "actions": "staystill_table6"}


def table_item(subset: str) -> str:
    """Id under which the table of a subset is saved: a published one, or one of the chapter's own for other data."""
    return TABLES.get(subset, f"inbetweening_{subset}")


def choose_subsets(groups: Sequence[str], wanted: Sequence[str], real: bool) -> list[str]:
    """The subsets to score, in the order of the published tables.

    Parameters
    ----------
    groups : the groups that the data set has
    wanted : the subsets of the budget
    real : bool
        Real data is scored whole; a budget limits embedded data only.
    """
    known = [s for s in TABLES if s in groups and (real or s in wanted)]
    return known or sorted(set(groups))


def table_note(summary, about: Mapping, trained: str) -> str:
    """What stands below a table: data, counts, rate, and how long the networks of its rows have learned."""
    cell = summary.iloc[0]
    parts = [
        f"{about['label']}: every cell is the mean over {cell.n_folds} folds, {cell.n_windows} windows of "
        f"{cell.n_subjects} people",
        about.get("fps_note", ""),
        about.get("folds_note", ""),
        f"trained here: {trained}",
    ]
    return " ".join(f"{p[0].upper()}{p[1:].rstrip('.')}." for p in parts if p)


def make_dataset(budget: str, seed: int) -> Callable[[Path], object]:
    """A function of a folder that builds chapter 2's data set of embedded performers there, for when 02 has not run."""

    def make(folder: Path):
        from motionbook.cleaning.embedded import build_embedded

        return build_embedded(folder, budgets.sizes(budget, "02_cleaning"), seed, jobs=1)

    return make


def embedded_idle(people: int, seed: int, seconds: float = 40.0) -> list[Clip]:
    """Idle clips of embedded performers, to stand beside recorded people."""
    from motionbook.synthesis.performers import idle, make_performer

    return [idle(make_performer(subject, seed), seconds) for subject in range(people)]


def clip_listing(spans: Sequence[Span]):
    """One row per generated clip: name, person, subset, recording, first frame and time in it."""
    import pandas as pd

    rows = [
        (s.name, s.recording.subject, s.recording.group, s.recording.name, s.start, s.start / s.recording.clip.fps)
        for s in spans
    ]
    columns = ["clip", "subject", "subset", "recording", "start", "start_seconds"]
    return pd.DataFrame(rows, columns=columns).set_index("clip")


def generator_facts(folds: int, recipe: Mapping):
    """The numbers of StayStill's text on training and generating, as used here.

    Parameters
    ----------
    folds : int
    recipe : mapping
        Of the network's training, see ``chapter_systems.ChapterSystems``.
    """
    import pandas as pd

    facts = {
        **recipe,
        "context frames": CONTEXT,
        "distance of the target": KEY_DISTANCE,
        "clip length": SECONDS,
        "folds": folds,
        "Gaussian kernel": KERNEL,
        "example shift": _EXAMPLE_SHIFT,
        "example shift undone per frame": _undone_per_frame(_EXAMPLE_SHIFT),
    }
    return pd.DataFrame({"value": facts})


def _undone_per_frame(degrees: float) -> float:
    """Degrees by which the published repair takes a jump of so many back from one frame to the next, measured."""
    rest = np.tile([1.0, 0.0, 0.0, 0.0], (CONTEXT + 2 * KEY_DISTANCE, len(LAFAN1), 1))
    jumped = rest.copy()
    jumped[CONTEXT:] = rot.from_rotation_vector([0.0, np.deg2rad(degrees), 0.0])
    still = np.zeros((len(rest), 3))
    starts = [CONTEXT, CONTEXT + KEY_DISTANCE]
    _, repaired = two_steps(Clip(LAFAN1, still, jumped, 30.0), starts)
    angles = np.rad2deg(rot.angle_between(repaired.rotations[CONTEXT : starts[1]], rest[CONTEXT : starts[1]]))[:, 1]
    return float(np.abs(np.diff(angles)).mean())


def lively_window(recordings: Sequence[Recording]) -> tuple[Windows, int]:
    """A window of two transitions in which a person moves, and their length in frames: 45, less on short recordings.

    Of the windows in order of how far the joints get from the last context frame, the one at 95 %: the very first would
    be the one with a fault in it, if there is one.
    """
    longest = max(len(r.clip) for r in recordings)
    transition = min(KEY_DISTANCE, (longest - CONTEXT - 1) // 2)
    windows = make_windows([r.clip for r in recordings], CONTEXT + 2 * transition + 1, transition)
    unit = np.ones((len(windows.skeleton), 3))
    change = error_over_time(windows, unit, transition, zero_velocity).mean(axis=1)
    which = int(np.argsort(change)[round(0.95 * (len(windows) - 1))])
    return windows[which : which + 1], transition


def liveliest(made: Mapping[str, Mapping[str, Clip]]) -> str:
    """The clip on which SLERP is furthest from the recording, as mean angle over joints and frames."""
    angles = {
        name: float(np.mean(rot.angle_between(versions["GT"].rotations, versions["SLERP"].rotations)))
        for name, versions in made.items()
    }
    return max(angles, key=angles.get)


def by_system(made: Mapping[str, Mapping[str, Clip]]) -> dict[str, list[Clip]]:
    """Clips of each system in the order of clip names, from clip name to system to Clip."""
    names = sorted(made)
    return {system: [made[name][system] for name in names] for system in next(iter(made.values()), {})}


def largest_jump(clips: Sequence[Clip], seams: Sequence[int]) -> int:
    """Which clip jumps most at a seam, in degrees of any joint."""
    return int(np.argmax([jumps(clip, seams).max() for clip in clips]))


def own_rows(folder: str | Path, subset: str, folds: Sequence) -> tuple[list, list[Path]]:
    """Scores of every system of a reader that answered a subset's questions, and the files they come from.

    Parameters
    ----------
    folder : path
        With ``<system>/<subset>/fold<n>_predictions.npz``; a system without a folder of the subset gets no row.
    subset : str
    folds : sequence of FoldWindows

    Raises
    ------
    FileNotFoundError
        No such folder, or no system in it.
    """
    places = sorted(p for p in Path(folder).glob(f"*/{subset}") if p.is_dir())
    if not any(p.is_dir() for p in Path(folder).glob("*/*")):
        raise FileNotFoundError(f"predictions: {folder} holds no folder <system>/<subset>, such as mine/{subset}")
    rows = [score_predictions(place, folds, place.parent.name) for place in places]
    return rows, [path for place in places for path in sorted(place.glob("*.npz"))]
