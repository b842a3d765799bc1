"""What a chapter shows and leaves behind: provenance, tables, figures, players, the ledger."""

from motionbook.report.artefacts import save_csv, save_figure, save_table
from motionbook.report.figures import contact_sheet
from motionbook.report.players import live_scene, player
from motionbook.report.provenance import (
    ChapterRun,
    finish_chapter,
    inherited_label,
    note_data,
    record_artefact,
    start_chapter,
    take_inputs,
)
from motionbook.report.ranking_figures import planner_figure, position_figure, ranking_figure, sensitivity_figure
from motionbook.report.rating_figures import pilot_figure, raters_figure, strength_figure
from motionbook.report.study_figures import bodies_figure, elo_figure, opinion_figure, scatter_figure
from motionbook.report.tables import published_frame, show_table
from motionbook.report.theme import PUBLISHED_COLOUR, SYSTEM_COLOURS, use_theme
from motionbook.report.words import sentences

__all__ = [
    "PUBLISHED_COLOUR",
    "SYSTEM_COLOURS",
    "ChapterRun",
    "bodies_figure",
    "contact_sheet",
    "elo_figure",
    "finish_chapter",
    "inherited_label",
    "live_scene",
    "note_data",
    "opinion_figure",
    "pilot_figure",
    "planner_figure",
    "player",
    "position_figure",
    "published_frame",
    "ranking_figure",
    "raters_figure",
    "record_artefact",
    "save_csv",
    "save_figure",
    "save_table",
    "scatter_figure",
    "sensitivity_figure",
    "sentences",
    "show_table",
    "start_chapter",
    "strength_figure",
    "take_inputs",
    "use_theme",
]
