"""MISTIC: support vector machines through their dual form: explained decisions, refined selections."""

from explicate.mistic.attribution import integrated_gradients
from explicate.mistic.counterfactuals import boundary_counterfactuals
from explicate.mistic.kernels import Kernel, resolve_kernel
from explicate.mistic.machine import SupportVectorMachine, read_svm
from explicate.mistic.pooling import refine_pool
from explicate.mistic.refinement import refine

__all__ = [
    "Kernel",
    "SupportVectorMachine",
    "boundary_counterfactuals",
    "integrated_gradients",
    "read_svm",
    "refine",
    "refine_pool",
    "resolve_kernel",
]
