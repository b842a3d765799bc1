"""Embedded idle motion against ReActIdle, with how well simple in-betweening predicts each of them.

What a baseline misses over a gap says how much, and how suddenly, people move; it is the measure that the benchmark
of this chapter rests on, so the embedded performers should be about as predictable as recorded people.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from motionbook.clip import Clip
from motionbook.inbetweening.evaluation import position_moments, position_statistics, score_windows
from motionbook.inbetweening.windows import CENTIMETRES, LENGTHS, STATISTICS, make_windows
from motionbook.synthesis.naturalness import comparison, motion_statistics

MEASURED = "measured/reactidle_idle_statistics.yaml"  # in the folder of data manifests
SYSTEMS = ("0-velocity", "SLERP")


def idle_statistics(clips: Sequence[Clip]) -> dict[str, float]:
    """Speed, stillness, spectrum, and L2P of 0-velocity and SLERP at the four lengths, twice.

    "L2P (m)" is in metres: the length of the error of the 66 joint coordinates together, mean over frames and
    windows. "L2P" is the benchmark's, each coordinate in units of its standard deviation in these same clips.

    Parameters
    ----------
    clips : sequence of Clip
        On LaFAN1's joints at 30 fps.
    """
    values = motion_statistics(clips)
    windows = make_windows(clips)
    _, std = position_statistics([position_moments(make_windows(clips, *STATISTICS))])
    for unit, scale in (("L2P (m)", np.full_like(std, CENTIMETRES)), ("L2P", std)):
        scores = score_windows(windows, scale)
        for system in SYSTEMS:
            for length in LENGTHS:
                values[f"{system} {unit} @{length}"] = float(scores[system, length].l2p.mean())
    return values


def compare_idle(embedded: Sequence[Clip], reference: Sequence[Clip] | Mapping[str, float] | None = None):
    """Table of embedded beside recorded idle motion; `reference` None stands for the recorded values that we ship.

    Returns
    -------
    pandas.DataFrame
        Columns statistic, embedded, recorded, ratio, within factor 2. ``attrs["note"]`` says where the recorded
        values come from, for the table's note.
    """
    if reference is None:
        stored = recorded_statistics()
        recorded = stored["statistics"]
        note = (
            f"Recorded: {stored['data']}, measured on {stored['date']}, shipped, not computed now. {stored['fps_note']}"
        )
    elif isinstance(reference, Mapping):
        recorded, note = reference, "Recorded values: as given."
    else:
        recorded = idle_statistics(reference)
        note = f"Recorded values: computed now from {len(reference)} clips, {sum(map(len, reference))} frames."
    table = comparison(idle_statistics(embedded), recorded)
    table.attrs["note"] = note
    return table


def recorded_statistics(path: str | Path | None = None) -> dict:
    """The statistics of ReActIdle measured before: data, clips, frames, date, command, fps_note and statistics."""
    import yaml

    from motionbook.data.locations import manifests_folder

    path = manifests_folder() / MEASURED if path is None else Path(path)
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def reference_clips(folder: str | Path) -> list[Clip]:
    """ReActIdle's clips on the LaFAN1 skeleton: read at the assumed 30 fps and retargeted, nothing cut out."""
    from motionbook.cleaning.retargeting import retarget
    from motionbook.data.layouts import load_clip, open_dataset
    from motionbook.skeletons import LAFAN1

    return [retarget(load_clip(file), LAFAN1) for file in open_dataset(folder, layout="reactidle").clips]
