"""A fitted SVM as its support vectors, coefficients and kernel: one row of coefficients per binary decision."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from explicate.core.validation import check_choice
from explicate.mistic.kernels import CompositeKernel, Kernel, resolve_kernel


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
    kernel : Kernel or CompositeKernel
    kind : {"classifier", "regressor", "one_class"}
    classes : tuple
        Labels, for a classifier.
    """

    support_vectors: np.ndarray
    beta: np.ndarray
    intercept: np.ndarray
    pairs: tuple[tuple[int, int], ...]
    kernel: Kernel | CompositeKernel
    kind: str = "classifier"
    classes: tuple[Any, ...] = ()

    def decisions(self, X: np.ndarray) -> np.ndarray:
        """Return the value of every machine, shape (n_rows, n_machines)."""
        return self.kernel.matrix(np.asarray(X, dtype=float), self.support_vectors) @ self.beta.T + self.intercept

    def decision_function(self, X: np.ndarray, shape: str = "ovr") -> np.ndarray:
        """
        Return what the model's ``decision_function`` (for regression ``predict``) returns.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
        shape : {"ovr", "ovo"}, default "ovr"
            As ``decision_function_shape``: with three classes or more one value per class, or one per pair.
        """
        check_choice("shape", shape, ("ovr", "ovo"))
        return join_decisions(self.decisions(X), len(self.classes), shape)


def join_decisions(decisions: np.ndarray, n_classes: int, shape: str = "ovr") -> np.ndarray:
    """
    Turn the values of the machines into a decision function: votes plus bounded confidences for several classes.

    Parameters
    ----------
    decisions : ndarray of shape (n_rows, n_machines)
        Positive for the first class of a pair, or for the second of two classes.
    n_classes : int
    shape : {"ovr", "ovo"}

    Examples
    --------
    >>> join_decisions(np.array([[1.0, 2.0, -3.0]]), 3).round(3).tolist()
    [[2.25, -0.267, 1.167]]
    """
    if decisions.shape[1] == 1:
        return decisions[:, 0]
    if shape == "ovo":
        return decisions
    confidence = sum_by_class(decisions, n_classes)
    return count_votes(decisions, n_classes) + confidence / (3 * (np.abs(confidence) + 1))


def count_votes(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Return how many machines prefer each class, shape (n_rows, n_classes); a zero goes to the first of the pair."""
    return (sum_by_class(np.where(decisions < 0, -1.0, 1.0), n_classes) + (n_classes - 1)) / 2


def sum_by_class(values: np.ndarray, n_classes: int) -> np.ndarray:
    """Return per class the sum of `values` of its machines, signed so that it speaks for the class."""
    signs = np.zeros((values.shape[1], n_classes))
    for row, (i, j) in enumerate(combinations(range(n_classes), 2)):
        signs[row, i], signs[row, j] = 1.0, -1.0
    return values @ signs


def pairwise_coefficients(model: Any) -> tuple[np.ndarray, np.ndarray, tuple[tuple[int, int], ...]]:
    """
    Return coefficients (n_machines, n_SV), intercepts and pairs of classes of a fitted SVM.

    Parameters
    ----------
    model : SVC, NuSVC, SVR, NuSVR or OneClassSVM
        Fitted, on a kernel of any kind.
    """
    n_classes = len(getattr(model, "classes_", ()))
    if n_classes <= 2:
        return np.atleast_2d(model.dual_coef_), np.atleast_1d(model.intercept_), ()
    pairs = tuple(combinations(range(n_classes), 2))
    bounds = np.concatenate([[0], np.cumsum(model.n_support_)])
    beta = np.zeros((len(pairs), len(model.support_)))
    for row, (i, j) in enumerate(pairs):
        # A support vector of class i keeps its coefficient against class j in row j − 1 (or j, for j < i).
        own, other = slice(bounds[i], bounds[i + 1]), slice(bounds[j], bounds[j + 1])
        beta[row, own] = model.dual_coef_[j - 1, own]
        beta[row, other] = model.dual_coef_[i, other]
    return beta, np.asarray(model.intercept_), pairs


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
    from sklearn.utils.validation import check_is_fitted

    kind = svm_kind(model)
    check_is_fitted(model)
    kernel = resolve_kernel(model)
    if issparse(model.support_vectors_):
        raise ValueError("the SVM was fitted on sparse rows; fit it on a dense array.")
    beta, intercept, pairs = pairwise_coefficients(model)
    rows = model.support_vectors_
    if callable(model.kernel):  # the model then keeps its training rows instead of the support vectors
        rows = np.asarray(model._BaseLibSVM__Xfit, dtype=float)[model.support_]
    return SupportVectorMachine(rows, beta, intercept, pairs, kernel, kind, tuple(getattr(model, "classes_", ())))


def svm_kind(model: Any) -> str:
    """
    Return ``"classifier"``, ``"regressor"`` or ``"one_class"``; TypeError for an estimator that is no kernel SVM.

    Examples
    --------
    >>> from sklearn.svm import OneClassSVM
    >>> svm_kind(OneClassSVM())
    'one_class'
    """
    from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

    for classes, kind in (((SVC, NuSVC), "classifier"), ((SVR, NuSVR), "regressor"), ((OneClassSVM,), "one_class")):
        if isinstance(model, classes):
            return kind
    raise TypeError(f"{type(model).__name__} is no kernel SVM; give SVC, NuSVC, SVR, NuSVR or OneClassSVM.")
