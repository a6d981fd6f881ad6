"""SOFI: the ranking of features that degrades a model's response the fastest, proved optimal where affordable."""

from explicate.core.encoding import feature_groups_from_encoder
from explicate.core.features import FeatureSpace
from explicate.reliability import select_reliable_instances
from explicate.sofi.aggregation import aggregate_explanations
from explicate.sofi.climbing import hill_climbing
from explicate.sofi.explainer import SOFIExplainer
from explicate.sofi.explanation import SOFIExplanation
from explicate.sofi.marginalization import Marginalizer
from explicate.sofi.objective import Objective, RankingEvaluation, curve_auc, degradation_score, noise_onset
from explicate.sofi.plotting import plot_explanation_grid, set_curve_colors, set_plot_style

__all__ = [
    "FeatureSpace",
    "Marginalizer",
    "Objective",
    "RankingEvaluation",
    "SOFIExplainer",
    "SOFIExplanation",
    "aggregate_explanations",
    "curve_auc",
    "degradation_score",
    "feature_groups_from_encoder",
    "hill_climbing",
    "noise_onset",
    "plot_explanation_grid",
    "select_reliable_instances",
    "set_curve_colors",
    "set_plot_style",
]
