"""What chapter 05 reads and hands on: diagnostics of the rendered clips in, tables of answers and scores out."""

from collections.abc import Callable
from pathlib import Path

from motionbook.files import write_whole


def save_csv(frame, path: Path) -> Path:
    """Write a data frame without its index, whole."""
    return write_whole(path, frame.to_csv(index=False, float_format="%.10g", lineterminator="\n"))


def make_diagnostics(budget: str, seed: int) -> Callable[[Path], object]:
    """Stand-in for chapter 04's table: renders small clips of every system and measures them, into a given folder."""

    def make(folder: Path):
        from motionbook.inbetweening import inputs as inbetweening
        from motionbook.stickfigures import systems

        clips = folder.parent / "03_inbetweening"
        inbetweening.make_clips(clips, budget, seed)
        frame = systems.measure(clips)
        return save_csv(frame, folder / "tables" / "systems_motion.csv")

    return make


def elo_table(elo, resampled, rates):
    """StayStill's Table 2: ``Elo``, ``Std Elo``, ``W/R`` and ``Std W/R`` (both in percent) by system."""
    import pandas as pd

    return pd.DataFrame(
        {
            "Elo": elo.elo,
            "Std Elo": resampled.std(ddof=1)[elo.index],
            "W/R": 100 * elo.win_rate,
            "Std W/R": 100 * rates.std(ddof=1)[elo.index],
            "appearances": elo.appearances,
        }
    ).rename_axis("System")


def source_names(diagnostics, count: int) -> list[str]:
    """Names of the first ``count`` recorded clips, the sources whose distorted copies are rated.

    Raises
    ------
    ValueError
        When there are fewer than two: the study needs one for each half of the people.
    """
    names = sorted(diagnostics.clip[diagnostics.system == "GT"].unique())[:count]
    if len(names) < 2:
        raise ValueError(f"expected at least two ground-truth clips to distort, got {len(names)}")
    return names
