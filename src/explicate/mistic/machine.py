"""A fitted SVM as its support vectors, coefficients and kernel: one row of coefficients per binary decision."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from explicate.mistic.kernels import Kernel, resolve_kernel


@dataclass(frozen=True, eq=False)
class SupportVectorMachine:
    """
    The sparse form of an SVC, SVR or OneClassSVM.

    Attributes
    ----------
    support_vectors : ndarray of shape (n_SV, n_features)
    beta : ndarray of shape (n_machines, n_SV)
        Signed dual coefficients; one machine, or one per pair of classes.
    intercept : ndarray of shape (n_machines,)
    pairs : tuple of (int, int)
        Class positions each machine separates, positive for the first; empty with one machine.
    kernel : Kernel
    """

    support_vectors: np.ndarray
    beta: np.ndarray
    intercept: np.ndarray
    pairs: tuple[tuple[int, int], ...]
    kernel: Kernel

    def decisions(self, X: np.ndarray) -> np.ndarray:
        """Return the value of every machine, shape (n_rows, n_machines)."""
        return self.kernel.matrix(np.asarray(X, dtype=float), self.support_vectors) @ self.beta.T + self.intercept


def read_svm(model: Any) -> SupportVectorMachine:
    """
    Read a fitted SVM.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted on dense rows.

    Returns
    -------
    SupportVectorMachine

    Raises
    ------
    TypeError
        For another estimator.
    ValueError
        For a kernel that is not understood, or sparse training rows.

    Examples
    --------
    >>> from sklearn.svm import SVR
    >>> model = SVR().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> bool(np.allclose(read_svm(model).decisions([[0.5]])[:, 0], model.predict([[0.5]])))
    True
    """
    from scipy.sparse import issparse
    from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, SVC | NuSVC | SVR | NuSVR | OneClassSVM):
        raise TypeError(f"{type(model).__name__} is no kernel SVM; give SVC, NuSVC, SVR, NuSVR or OneClassSVM.")
    check_is_fitted(model)
    kernel = resolve_kernel(model)
    if issparse(model.support_vectors_):
        raise ValueError("the SVM was fitted on sparse rows; fit it on a dense array.")
    n_classes = len(getattr(model, "classes_", ()))
    if n_classes <= 2:
        beta, intercept = np.atleast_2d(model.dual_coef_), np.atleast_1d(model.intercept_)
        return SupportVectorMachine(model.support_vectors_, beta, intercept, (), kernel)
    pairs = tuple(combinations(range(n_classes), 2))
    bounds = np.concatenate([[0], np.cumsum(model.n_support_)])
    beta = np.zeros((len(pairs), len(model.support_vectors_)))
    for row, (i, j) in enumerate(pairs):
        # A support vector of class i keeps its coefficient against class j in row j − 1 (or j, for j < i).
        own, other = slice(bounds[i], bounds[i + 1]), slice(bounds[j], bounds[j + 1])
        beta[row, own] = model.dual_coef_[j - 1, own]
        beta[row, other] = model.dual_coef_[i, other]
    return SupportVectorMachine(model.support_vectors_, beta, np.asarray(model.intercept_), pairs, kernel)
