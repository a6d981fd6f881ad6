"""PCFI: which features matter to each class of a tree ensemble."""

from explicate.pcfi.importance import PerClassImportance, held_out_importance, per_class_importance

__all__ = ["PerClassImportance", "held_out_importance", "per_class_importance"]
