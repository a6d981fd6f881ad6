"""Prototypes and alike parts: rows that stand for a model's classes, and the features that make others like them."""

from explicate.prototypes.alike_parts import AlikeParts, alike_parts
from explicate.prototypes.attribution import normalize_importance, shap_attributions
from explicate.prototypes.distances import Distance, TreeDistance
from explicate.prototypes.gower import GowerDistance
from explicate.prototypes.metrics import SurrogateScores, compare_prototypes, feature_diversity, score_prototypes
from explicate.prototypes.selection import APete, GreedyKMedoids, SubmodularAdaptive
from explicate.prototypes.selector import PrototypeSelector
from explicate.prototypes.tuning import Tuning, tune

__all__ = [
    "APete",
    "AlikeParts",
    "Distance",
    "GowerDistance",
    "GreedyKMedoids",
    "PrototypeSelector",
    "SubmodularAdaptive",
    "SurrogateScores",
    "TreeDistance",
    "Tuning",
    "alike_parts",
    "compare_prototypes",
    "feature_diversity",
    "normalize_importance",
    "score_prototypes",
    "shap_attributions",
    "tune",
]
