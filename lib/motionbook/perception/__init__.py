"""Chapter 05: rank systems from pairwise answers, and turn ratings into opinion scores."""

from motionbook.perception.elo import bootstrap_elo, fit_elo, pair_differences
from motionbook.perception.opinion import mos, read_ratings
from motionbook.perception.responses import exclude, read_responses

__all__ = ["bootstrap_elo", "exclude", "fit_elo", "mos", "pair_differences", "read_ratings", "read_responses"]
