"""What a chapter shows and leaves behind: provenance, tables, figures, players, the ledger."""

from motionbook.report.artefacts import save_figure, save_table
from motionbook.report.provenance import ChapterRun, finish_chapter, record_artefact, start_chapter, take_inputs
from motionbook.report.tables import published_frame, show_table

__all__ = [
    "ChapterRun",
    "finish_chapter",
    "published_frame",
    "record_artefact",
    "save_figure",
    "save_table",
    "show_table",
    "start_chapter",
    "take_inputs",
]
