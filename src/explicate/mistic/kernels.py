"""Kernels with resolved parameters: matrix, gradient, and the statistics by which columns leave or enter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from explicate.core.validation import check_choice, check_number

#: Kernels that scikit-learn's SVMs know by name.
NAMED = ("rbf", "linear", "poly", "sigmoid")
#: All kernels understood; the others are given to an SVM as ``SVC(kernel=Kernel("laplacian", 0.1))``.
KERNELS = (*NAMED, "laplacian", "cosine", "chi2")
#: Kernels of a distance, exp(−γ D).
DISTANCES = ("rbf", "laplacian", "chi2")


class KernelAlgebra:
    """What simple and composed kernels share: they are callable, and can be added and multiplied."""

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        """Return `matrix`, so that an SVM takes the kernel as its ``kernel`` parameter."""
        return self.matrix(np.asarray(X, dtype=float), np.asarray(Y, dtype=float))

    def __add__(self, other: Any) -> CompositeKernel:
        """Return the sum of two kernels."""
        return CompositeKernel("sum", (self, other))

    def __mul__(self, other: Any) -> CompositeKernel:
        """Return the elementwise product of two kernels."""
        return CompositeKernel("product", (self, other))

    def matrix(self, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """
        Return K(x, y) for all pairs, shape (n, m).

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
        Y : ndarray of shape (m, n_features)
        """
        return self.from_statistics(self.statistics(X, Y))

    def statistics(self, X: np.ndarray, Y: np.ndarray) -> Any:
        """
        Return the (nested) tuple of arrays, additive over columns, that the kernel is a function of.

        Columns g leave or enter by subtracting or adding their own statistics: O(n m |g|), whatever stays.
        """
        raise NotImplementedError

    def from_statistics(self, statistics: Any) -> np.ndarray:
        """Return the kernel of given statistics, shape (n, m)."""
        raise NotImplementedError


@dataclass(frozen=True)
class Kernel(KernelAlgebra):
    """
    A kernel of one formula.

    Parameters
    ----------
    name : {"rbf", "linear", "poly", "sigmoid", "laplacian", "cosine", "chi2"}
        exp(−γ|x−y|²), x·y, (γ x·y + r)^d, tanh(γ x·y + r), exp(−γ|x−y|₁), the cosine of the angle between x and y,
        exp(−γ Σ (x−y)²/(x+y)) for values of at least zero.
    gamma : float, default 1
        γ; as fitted, a number even when a model was given "scale" or "auto".
    degree : int, default 3
        d, of "poly".
    coef0 : float, default 0
        r, of "poly" and "sigmoid".

    Examples
    --------
    >>> Kernel("linear").matrix(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """

    name: str
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 0.0

    def __post_init__(self) -> None:
        """Refuse an unknown name or a parameter that is no number."""
        check_choice("kernel", self.name, KERNELS)
        check_number("gamma", self.gamma, low=0)
        check_number("degree", self.degree, low=0, integer=True)
        check_number("coef0", self.coef0)

    def statistics(self, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return (distances,), (inner products,) or for "cosine" (inner products, squared lengths of X, of Y)."""
        if self.name == "rbf":
            return (_squared_distances(X, Y),)
        if self.name == "laplacian":
            from scipy.spatial.distance import cdist

            return (cdist(X, Y, "cityblock"),)
        if self.name == "chi2":
            from sklearn.metrics.pairwise import additive_chi2_kernel

            return (-additive_chi2_kernel(X, Y),)
        inner = X @ Y.T if X.shape[1] > 1 else X * Y.T
        if self.name == "cosine":
            return inner, (X**2).sum(axis=1)[:, None], (Y**2).sum(axis=1)[None, :]
        return (inner,)

    def from_statistics(self, statistics: tuple[np.ndarray, ...]) -> np.ndarray:
        """Return the kernel of given statistics, shape (n, m)."""
        first = statistics[0]
        if self.name in DISTANCES:
            scaled = first * -self.gamma
            return np.exp(scaled, out=scaled)
        if self.name == "linear":
            return first
        if self.name == "cosine":
            squared = np.maximum(statistics[1], 0.0) * np.maximum(statistics[2], 0.0)
            return np.divide(first, np.sqrt(squared), out=np.zeros_like(first), where=squared > 0)
        scaled = self.gamma * first + self.coef0
        return scaled**self.degree if self.name == "poly" else np.tanh(scaled)

    def gradient(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """
        Return the gradient of Σ_j w_j K(x, y_j) at each row of `X`, shape (n, n_features).

        Where the kernel has a kink ("laplacian" at equal coordinates) it is the middle of the subgradients.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
        Y : ndarray of shape (m, n_features)
        weights : ndarray of shape (m,) or (n, m)
        """
        if self.name == "rbf":
            pull = self.matrix(X, Y) * weights
            return -2.0 * self.gamma * (X * pull.sum(axis=1)[:, None] - pull @ Y)
        if self.name in DISTANCES:
            pull = -self.gamma * self.matrix(X, Y) * weights
            slope = _l1_slope if self.name == "laplacian" else _chi2_slope
            columns = [(pull * slope(X[:, [c]], Y[:, c])).sum(axis=1) for c in range(X.shape[1])]
            return np.stack(columns, axis=1)
        inner = X @ Y.T
        if self.name == "cosine":
            length = np.sqrt((X**2).sum(axis=1))[:, None] * np.sqrt((Y**2).sum(axis=1))[None, :]
            pull = np.divide(weights * np.ones_like(inner), length, out=np.zeros_like(inner), where=length > 0)
            own = np.maximum((X**2).sum(axis=1), np.finfo(float).tiny)
            return pull @ Y - X * ((pull * inner).sum(axis=1) / own)[:, None]
        if self.name == "linear":
            return (np.ones_like(inner) * weights) @ Y
        if self.name == "poly":
            base = (self.gamma * inner + self.coef0) ** max(self.degree - 1, 0)
            return (self.gamma * self.degree * base * weights) @ Y
        return (self.gamma * (1.0 - np.tanh(self.gamma * inner + self.coef0) ** 2) * weights) @ Y


@dataclass(frozen=True)
class CompositeKernel(KernelAlgebra):
    """
    Sum or elementwise product of kernels.

    Parameters
    ----------
    how : {"sum", "product"}
    parts : tuple of Kernel or CompositeKernel

    Examples
    --------
    >>> mixed = Kernel("linear") + Kernel("rbf", 0.5) * Kernel("poly", 1.0, 2)
    >>> mixed.matrix(np.array([[1.0]]), np.array([[1.0]]))
    array([[2.]])
    """

    how: str
    parts: tuple[Any, ...]

    def __post_init__(self) -> None:
        """Refuse parts whose formula is unknown."""
        check_choice("how", self.how, ("sum", "product"))
        strange = [part for part in self.parts if not isinstance(part, KernelAlgebra)]
        if strange or not self.parts:
            raise TypeError(f"parts={self.parts!r}: give one kernel or more, each a Kernel or CompositeKernel.")

    def statistics(self, X: np.ndarray, Y: np.ndarray) -> tuple[Any, ...]:
        """Return the statistics of every part."""
        return tuple(part.statistics(X, Y) for part in self.parts)

    def from_statistics(self, statistics: tuple[Any, ...]) -> np.ndarray:
        """Return the kernel of given statistics, shape (n, m)."""
        matrices = [part.from_statistics(own) for part, own in zip(self.parts, statistics, strict=True)]
        together = np.sum if self.how == "sum" else np.prod
        return together(matrices, axis=0)

    def gradient(self, X: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the gradient of Σ_j w_j K(x, y_j) at each row of `X`, as `Kernel.gradient` does."""
        if self.how == "sum":
            return np.sum([part.gradient(X, Y, weights) for part in self.parts], axis=0)
        matrices = [part.matrix(X, Y) for part in self.parts]
        total = np.zeros_like(X, dtype=float)
        for i, part in enumerate(self.parts):
            others = [matrix for j, matrix in enumerate(matrices) if j != i]
            total += part.gradient(X, Y, np.prod([weights * np.ones_like(matrices[0]), *others], axis=0))
        return total


def add_statistics(first: Any, second: Any, sign: int = 1) -> Any:
    """
    Add (or with ``sign=-1`` subtract) two nested tuples of statistics, array by array; `second` is written over.

    Examples
    --------
    >>> add_statistics((np.array([1.0]),), (np.array([3.0]),), -1)
    (array([-2.]),)
    """
    if isinstance(first, tuple):
        return tuple(add_statistics(a, b, sign) for a, b in zip(first, second, strict=True))
    return (np.add if sign > 0 else np.subtract)(first, second, out=second)


def take_statistics(statistics: Any, rows: np.ndarray, columns: np.ndarray) -> Any:
    """Return the statistics of some rows of X and some of Y, array by array."""
    if isinstance(statistics, tuple):
        return tuple(take_statistics(part, rows, columns) for part in statistics)
    if statistics.shape[0] > 1:
        statistics = statistics[rows]
    return statistics[:, columns] if statistics.shape[1] > 1 else statistics


def resolve_kernel(model: Any) -> Kernel | CompositeKernel:
    """
    Read the kernel of a fitted SVM.

    Parameters
    ----------
    model : SVC, SVR or OneClassSVM
        Fitted.

    Raises
    ------
    ValueError
        For a callable that is no kernel of this module, or a precomputed kernel: their formula is unknown here.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> resolve_kernel(SVC(gamma="auto").fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])).gamma
    0.5
    """
    if isinstance(model.kernel, KernelAlgebra):
        return model.kernel  # type: ignore[return-value]
    if callable(model.kernel) or model.kernel not in NAMED:
        what = "a callable" if callable(model.kernel) else repr(model.kernel)
        raise ValueError(
            f"kernel={what} has no formula that could be read; use one of {', '.join(map(repr, NAMED))}, or a Kernel "
            f"of this package ({', '.join(KERNELS[len(NAMED) :])}, sums and products)."
        )
    return Kernel(model.kernel, float(model._gamma), int(model.degree), float(model.coef0))


def _squared_distances(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    if X.shape[1] == 1:  # one column: exact, and no slower
        difference = X - Y.T
        return np.multiply(difference, difference, out=difference)
    squared = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1)[None, :] - 2.0 * X @ Y.T
    return np.maximum(squared, 0.0, out=squared)


def _l1_slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.sign(x - y)


def _chi2_slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    total = x + y
    return np.divide((x - y) * (x + 3 * y), total**2, out=np.zeros(np.shape(total)), where=total > 0)
