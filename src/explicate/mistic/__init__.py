"""MISTIC: features selected for, and decisions explained of, support vector machines through their dual form."""

from explicate.mistic.attribution import integrated_gradients
from explicate.mistic.counterfactuals import boundary_counterfactuals
from explicate.mistic.kernels import Kernel, resolve_kernel
from explicate.mistic.machine import SupportVectorMachine, read_svm
from explicate.mistic.perturbation import (
    decision_perturbation,
    dual_criterion,
    kernel_mass_criterion,
    one_class_contribution,
    probability_perturbation,
)
from explicate.mistic.pooling import refine_pool
from explicate.mistic.ranking import combined_rank
from explicate.mistic.refinement import refine
from explicate.mistic.selection import MisticSelector

__all__ = [
    "Kernel",
    "MisticSelector",
    "SupportVectorMachine",
    "boundary_counterfactuals",
    "combined_rank",
    "decision_perturbation",
    "dual_criterion",
    "integrated_gradients",
    "kernel_mass_criterion",
    "one_class_contribution",
    "probability_perturbation",
    "read_svm",
    "refine",
    "refine_pool",
    "resolve_kernel",
]
