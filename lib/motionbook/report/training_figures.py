"""Figures of training runs, from the tables that training leaves."""

from collections.abc import Mapping
from pathlib import Path

from motionbook.report.theme import CYCLE

# Terms that are drawn, with what a reader calls them; rates and sums stay in the table
_TERMS = {
    "loss": "loss",
    "rotation": "rotation",
    "position": "position, cm",
    "smooth": "step of a joint, cm",
    "contact": "contact",
    "foot": "step of a resting foot, cm",
}


def training_curves(runs: Mapping[str, str | Path], smooth: int = 0):
    """Every term of the loss and the validation score by step, a column per run.

    Parameters
    ----------
    runs : mapping of title to folder
        A folder holds ``losses.csv`` and may hold ``validation.csv``, see ``inbetweening.training``.
    smooth : int
        Also draw the median over so many steps around each (0: a fiftieth of the run): the gap's length changes from
        batch to batch, and with it the loss.

    Returns
    -------
    matplotlib.figure.Figure
    """
    import matplotlib.pyplot as plt
    import pandas as pd

    if not runs:
        raise ValueError("runs: expected at least one folder with losses.csv")
    figure, panels = plt.subplots(2, len(runs), figsize=(7.4, 5.0), sharex="col", squeeze=False, height_ratios=[2, 1])
    for (title, folder), (above, below) in zip(runs.items(), panels.T, strict=True):
        losses = pd.read_csv(Path(folder) / "losses.csv").set_index("step")
        width = smooth or max(len(losses) // 50, 1)
        terms = [name for name in _TERMS if name in losses and (losses[name] > 0).any()]
        for colour, name in zip(CYCLE, terms, strict=False):
            middle = losses[name].rolling(width, center=True, min_periods=1).median()
            above.plot(losses.index, losses[name], color=colour, linewidth=0.6, alpha=0.35)
            above.plot(middle.index, middle, color=colour, label=_TERMS[name])
        above.set(yscale="log", title=title)
        low, high = above.get_ylim()
        above.set_ylim(low, high * (high / low) ** 0.45)  # room for the legend above the curves
        above.legend(loc="upper right", ncols=2, fontsize=7.5)
        below.set_xlabel("step")
        _draw_validation(below, Path(folder) / "validation.csv")
    panels[0, 0].set_ylabel("mean over a batch")
    panels[1, 0].set_ylabel("validation")
    return figure


def _draw_validation(axes, path: Path) -> None:
    import pandas as pd

    if not path.is_file():
        axes.text(0.5, 0.5, "no validation people", ha="center", va="center", transform=axes.transAxes)
        return
    scores = pd.read_csv(path)
    best = scores.loc[scores.score.idxmin()]
    axes.plot(scores.step, scores.score, marker="o", markersize=3, label="L2P + L2Q + NPSS, T = 30")
    axes.plot(best.step, best.score, marker="*", markersize=11, linestyle="none", label=f"kept: step {best.step:.0f}")
    axes.legend(loc="best", fontsize=7.5)
