"""Chapter 06: body surfaces, their distortions, and a measure that predicts how annoying people find them."""

from motionbook.quality.body import MeshSequence, make_surface, move_surface
from motionbook.quality.distortion import STRENGTHS, distort
from motionbook.quality.features import FEATURES, Performance, features
from motionbook.quality.model import RIDGE, QualityModel, fit, judge
from motionbook.quality.stimuli import feature_table

__all__ = [
    "FEATURES",
    "RIDGE",
    "STRENGTHS",
    "MeshSequence",
    "Performance",
    "QualityModel",
    "distort",
    "feature_table",
    "features",
    "fit",
    "judge",
    "make_surface",
    "move_surface",
]
