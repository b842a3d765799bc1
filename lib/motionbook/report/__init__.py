"""What a chapter shows and leaves behind: provenance, tables, figures, players, the ledger."""

from motionbook.report.artefacts import save_figure, save_table
from motionbook.report.provenance import ChapterRun, finish_chapter, record_artefact, start_chapter, take_inputs

__all__ = [
    "ChapterRun",
    "finish_chapter",
    "record_artefact",
    "save_figure",
    "save_table",
    "start_chapter",
    "take_inputs",
]
