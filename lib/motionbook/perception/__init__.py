"""Chapter 05: rank systems from pairwise answers; opinion scores and analyses of variance from ratings."""

from motionbook.perception.agreement import icc, krippendorff_alpha, pearson_interval, spearman_exact
from motionbook.perception.anova import mixed_anova
from motionbook.perception.auditor import audit_anova_rows, audit_sphericity, published_rows
from motionbook.perception.effects import corrected, distortion_anovas, table1
from motionbook.perception.elo import bootstrap_elo, fit_elo, pair_differences
from motionbook.perception.friedman import durbin_conover, friedman
from motionbook.perception.opinion import combine_ratings, mos, read_ratings, reversed_scale
from motionbook.perception.posthoc import adjust_p, marginal_means, pairwise, simple_effects, tukey_unpaired
from motionbook.perception.ratings_report import agreement_table, pilot_table, rating_report, score_table
from motionbook.perception.responses import exclude, read_responses
from motionbook.perception.screening import observer_model, rater_table, remove_bias, screen_bt500

__all__ = [
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
    "fit_elo",
    "friedman",
    "icc",
    "krippendorff_alpha",
    "marginal_means",
    "mixed_anova",
    "mos",
    "observer_model",
    "pair_differences",
    "pairwise",
    "pearson_interval",
    "pilot_table",
    "published_rows",
    "rater_table",
    "rating_report",
    "read_ratings",
    "read_responses",
    "remove_bias",
    "reversed_scale",
    "score_table",
    "screen_bt500",
    "simple_effects",
    "spearman_exact",
    "table1",
    "tukey_unpaired",
]
