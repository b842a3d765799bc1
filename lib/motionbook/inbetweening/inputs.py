"""What the notebook of chapter 3 needs around the benchmark: a stand-in for chapter 2, names, notes, lists."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from motionbook import budgets
from motionbook import rotations as rot
from motionbook.clip import Clip
from motionbook.inbetweening.baselines import zero_velocity
from motionbook.inbetweening.evaluation import error_over_time
from motionbook.inbetweening.generator import KEY_DISTANCE, SECONDS, Span
from motionbook.inbetweening.recordings import Recording
from motionbook.inbetweening.windows import CONTEXT, Windows, make_windows

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


def table_note(summary, about: Mapping) -> str:
    """What stands below a table: data, counts, rate, and the row that is not ours."""
    cell = summary.iloc[0]
    parts = [
        f"{about['label']}: every cell is the mean over {cell.n_folds} folds, {cell.n_windows} windows of "
        f"{cell.n_subjects} people",
        about.get("fps_note", ""),
        about.get("folds_note", ""),
        "no network has been trained here, so that row is absent",
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


def generator_facts(folds: int):
    """The numbers of StayStill's text that the baselines share with its generator, as used here."""
    import pandas as pd

    facts = {"context frames": CONTEXT, "distance of the target": KEY_DISTANCE, "clip length": SECONDS, "folds": folds}
    return pd.DataFrame({"value": facts})


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
