"""PCFI: which features matter to each class of a tree ensemble."""

from explicate.pcfi.importance import held_out_importance, per_class_importance
from explicate.pcfi.result import PerClassImportance

__all__ = ["PerClassImportance", "held_out_importance", "per_class_importance"]
