"""Tables and figures saved under their published ids, each with the data it came from written beside it."""

import json
from pathlib import Path

from motionbook.files import write_csv, write_whole
from motionbook.report.provenance import ChapterRun, record_artefact


def save_table(run: ChapterRun, item: str, frame, *, note: str = "", data: str | None = None):
    """Write ``tables/<item>.csv`` (first column: the row names) and ``tables/<item>.json``; return the frame.

    Parameters
    ----------
    run : ChapterRun
    item : str
        Id of the ledger (``data_manifests/published/index.yaml``) or a name of the chapter's own.
    frame : pandas.DataFrame
        Indexed by the published row names, columns named as published; further rows and columns may be added.
    note : str
        What a reader must know beside the numbers, e.g. "baselines only; no network at this budget".
    data : str, optional
        What the numbers come from; the run's ``data_label`` when left out.
    """
    path = run.folder / "tables" / f"{item}.csv"
    write_csv(path, frame, index=True)
    _save(run, path, item, "table", note, data)
    return frame


def save_csv(run: ChapterRun, name: str, frame):
    """Write ``<chapter>/<name>`` without the frame's index, for the chapters that read it; return the frame."""
    record_artefact(run, write_csv(run.folder / name, frame))
    return frame


def save_figure(run: ChapterRun, item: str, figure, *, caption: str, note: str = "", data: str | None = None):
    """Write ``figures/<item>.png`` and ``.svg`` with their caption; return the matplotlib figure.

    Of simulated people or scores the picture itself says so, below its right corner: pictures travel without captions.
    """
    # a figure that is saved a second time has the mark of its data, not of the first time's
    for text in [text for text in figure.texts if text.get_gid() == "simulated"]:
        text.remove()
    if "simulated" in (run.data_label if data is None else data):
        figure.text(1.0, -0.01, "simulated", ha="right", va="top", fontsize=7, color="#5b6675", gid="simulated")
    folder = run.folder / "figures"
    for suffix, about in ((".png", {"Software": None}), (".svg", {"Date": None, "Creator": None})):
        path = write_whole(
            folder / f"{item}{suffix}",
            lambda p, about=about: figure.savefig(p, dpi=200, bbox_inches="tight", metadata=about),
        )
        _save(run, path, item, "figure", note, data, caption=caption)
    return figure


def _save(run: ChapterRun, path: Path, item: str, kind: str, note: str, data: str | None, **about) -> None:
    label = run.data_label if data is None else data
    if not label:
        raise ValueError(f"{item}: set run.data_label or pass data=, every artefact says what it was computed from")
    facts = {"id": item, "kind": kind, "data": label, "budget": run.budget, "seed": run.seed, "note": note, **about}
    write_whole(path.with_suffix(".json"), json.dumps(facts, indent=1) + "\n")
    record_artefact(run, path, id=item, kind=kind, data=label, note=note)
