"""Kernels with resolved parameters: their matrix and their gradient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explicate.core.validation import check_choice

#: Kernels understood, by scikit-learn's names.
KERNELS = ("rbf", "linear", "poly", "sigmoid")


@dataclass(frozen=True)
class Kernel:
    """
    A kernel of scikit-learn's SVMs.

    Attributes
    ----------
    name : {"rbf", "linear", "poly", "sigmoid"}
    gamma : float
        As fitted: a number even when the model was given "scale" or "auto".
    degree : int
        Of "poly".
    coef0 : float
        Of "poly" and "sigmoid".

    Examples
    --------
    >>> Kernel("linear", 1.0, 3, 0.0).matrix(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    name: str
    gamma: float
    degree: int
    coef0: float

    def matrix(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """
        Return K(x, y) for all pairs, shape (n, m).

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
        Y : ndarray of shape (m, n_features)
        """
        if self.name == "rbf":
            squared = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1)[None, :] - 2.0 * X @ Y.T
            return np.exp(-self.gamma * np.maximum(squared, 0.0))
        inner = X @ Y.T
        if self.name == "linear":
            return inner
        scaled = self.gamma * inner + self.coef0
        return scaled**self.degree if self.name == "poly" else np.tanh(scaled)

    def gradient(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """
        Return the gradient of Σ_j w_j K(x, y_j) at each row of `X`, shape (n, n_features).

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
        Y : ndarray of shape (m, n_features)
        weights : ndarray of shape (m,)
        """
        if self.name == "rbf":
            pull = self.matrix(X, Y) * weights
            return -2.0 * self.gamma * (X * pull.sum(axis=1)[:, None] - pull @ Y)
        inner = X @ Y.T
        if self.name == "linear":
            slope = np.ones_like(inner)
        elif self.name == "poly":
            slope = self.gamma * self.degree * (self.gamma * inner + self.coef0) ** (self.degree - 1)
        else:
            slope = self.gamma * (1.0 - np.tanh(self.gamma * inner + self.coef0) ** 2)
        return (slope * weights) @ Y


def resolve_kernel(model: Any) -> Kernel:
    """
    Read the kernel of a fitted SVM.

    Parameters
    ----------
    model : SVC, SVR or OneClassSVM
        Fitted.

    Raises
    ------
    ValueError
        For a callable or precomputed kernel, whose formula is unknown here.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> resolve_kernel(SVC(gamma="auto").fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])).gamma
    0.5
    """
    name = "callable" if callable(model.kernel) else model.kernel
    check_choice("kernel", name, KERNELS)
    return Kernel(name, float(model._gamma), int(model.degree), float(model.coef0))
