"""Chapter 05: rank systems from pairwise answers; opinion scores and analyses of variance from ratings."""

from motionbook.perception.agreement import icc, krippendorff_alpha, pearson_interval, spearman_exact
from motionbook.perception.anova import mixed_anova
from motionbook.perception.auditor import audit_anova_rows, audit_sphericity, published_rows
from motionbook.perception.comparisons import simulated_answers, simulated_study
from motionbook.perception.effects import corrected, distortion_anovas, table1
from motionbook.perception.elo import bootstrap_elo, fit_elo, pair_differences
from motionbook.perception.friedman import durbin_conover, friedman
from motionbook.perception.opinion import combine_ratings, mos, read_ratings, reversed_scale
from motionbook.perception.ordinal import fit_davidson, fit_ordinal, fit_position
from motionbook.perception.planner import plan_curve, raters_from_answers, raters_needed, simulated_power
from motionbook.perception.posthoc import adjust_p, marginal_means, pairwise, simple_effects, tukey_unpaired
from motionbook.perception.ranking import RankingReport, pair_table, ranking_report
from motionbook.perception.ratings_report import (
    agreement_table,
    participants_table,
    pilot_table,
    rating_report,
    score_table,
)
from motionbook.perception.responses import exclude, malformed_rows, read_responses
from motionbook.perception.sandwich import goodness_of_fit
from motionbook.perception.scales import Scale, options_scale, slider_scale
from motionbook.perception.screening import observer_model, rater_table, remove_bias, screen_bt500
from motionbook.perception.weighting import weight_sensitivity

__all__ = [
    "RankingReport",
    "Scale",
    "adjust_p",
    "agreement_table",
    "audit_anova_rows",
    "audit_sphericity",
    "bootstrap_elo",
    "combine_ratings",
    "corrected",
    "distortion_anovas",
    "durbin_conover",
    "exclude",
    "fit_davidson",
    "fit_elo",
    "fit_ordinal",
    "fit_position",
    "friedman",
    "goodness_of_fit",
    "icc",
    "krippendorff_alpha",
    "malformed_rows",
    "marginal_means",
    "mixed_anova",
    "mos",
    "observer_model",
    "options_scale",
    "pair_differences",
    "pair_table",
    "pairwise",
    "participants_table",
    "pearson_interval",
    "pilot_table",
    "plan_curve",
    "published_rows",
    "ranking_report",
    "rater_table",
    "raters_from_answers",
    "raters_needed",
    "rating_report",
    "read_ratings",
    "read_responses",
    "remove_bias",
    "reversed_scale",
    "score_table",
    "screen_bt500",
    "simple_effects",
    "simulated_answers",
    "simulated_power",
    "simulated_study",
    "slider_scale",
    "spearman_exact",
    "table1",
    "tukey_unpaired",
    "weight_sensitivity",
]
