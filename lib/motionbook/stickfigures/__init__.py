"""Stick figures: from a motion to labelled frames, and diagnostics that read a figure from its colours.

After "Dancing Stick Figures: An Introductory Dataset for Training Video Generation Models".
"""

from motionbook.stickfigures.camera import View, figure_motion
from motionbook.stickfigures.corruption import corrupt
from motionbook.stickfigures.figure import scale_bones
from motionbook.stickfigures.parameters import Body, clip_parameters
from motionbook.stickfigures.renderer import Rendering, render
from motionbook.stickfigures.scoring import Score, score

__all__ = [
    "Body",
    "Rendering",
    "Score",
    "View",
    "clip_parameters",
    "corrupt",
    "figure_motion",
    "render",
    "scale_bones",
    "score",
]
