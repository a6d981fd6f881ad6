"""Distances in which prototypes are near: their contract, and common leaves of a tree ensemble."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.encoding import split_model
from explicate.core.parallel import row_blocks
from explicate.core.validation import align_columns, check_memory
from explicate.prototypes import kernels


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """
    Similarities among the rows of one set, asked for some rows at a time.

    Attributes
    ----------
    n_rows : int
    total : float
        Similarity of a row with itself; the largest there is.
    sums : ndarray of shape (n_rows,), dtype float64
        Sum of each row's similarities with all rows.
    rows : callable
        Positions of some rows -> their similarities with all rows, shape (n_positions, n_rows), float32.
    pairs : callable
        -> the similarities of all rows with all rows, shape (n_rows, n_rows), float32, bit for bit those of `rows`.
    """

    n_rows: int
    total: float
    sums: np.ndarray
    rows: Callable[[np.ndarray], np.ndarray]
    pairs: Callable[[], np.ndarray]


class Distance(ABC):
    """
    A distance between 0 and 1 whose rows are encoded once and compared many times.

    One of your own needs `encode` and `similarity`.

    Examples
    --------
    >>> class Overlap(Distance):
    ...     def encode(self, X):
    ...         return np.asarray(X)
    ...     def similarity(self, a, b):
    ...         return (a[:, None] == b[None, :]).mean(axis=2)
    >>> Overlap().pairwise([[1, 2], [1, 3]]).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """

    def fit(self, X: Any) -> Distance:
        """Learn what the distance needs from rows `X` (nothing, unless a subclass says so); returns self."""
        return self

    @abstractmethod
    def encode(self, X: Any) -> np.ndarray:
        """Return one row of codes per row of `X`."""

    @abstractmethod
    def similarity(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return similarities in [0, 1] between encoded rows, shape (n_a, n_b), float64."""

    def within(self, codes: np.ndarray) -> Neighbourhood:
        """Return the similarities among encoded rows; subclasses may know a cheaper way to sum them."""
        sums = np.empty(len(codes))
        for block in row_blocks(len(codes), 32 * len(codes), 64e6):
            sums[block] = self.similarity(codes[block], codes).sum(axis=1)
        return self._neighbourhood(codes, sums)

    def _neighbourhood(self, codes: np.ndarray, sums: np.ndarray) -> Neighbourhood:
        def rows(which: np.ndarray) -> np.ndarray:
            return 1.0 - self.between(codes[which], codes)

        return Neighbourhood(len(codes), 1.0, sums, rows, lambda: rows(np.arange(len(codes))))

    def between(self, a: np.ndarray, b: np.ndarray, *, dtype: Any = np.float32) -> np.ndarray:
        """Return distances between encoded rows, shape (n_a, n_b), filled in blocks."""
        out = np.empty((len(a), len(b)), dtype=dtype)
        for block in row_blocks(len(a), 32 * max(len(b), 1), 64e6):
            out[block] = 1.0 - self.similarity(a[block], b)
        return out

    def pairwise(self, X: Any, Z: Any = None, *, max_memory: float = 2e9) -> np.ndarray:
        """
        Return all distances between rows.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        Z : array-like of shape (n_others, n_features), optional
            ``None`` compares `X` with itself.
        max_memory : float, default 2e9
            Bytes allowed for the answer.

        Returns
        -------
        ndarray of shape (n_rows, n_others), dtype float32

        Raises
        ------
        MemoryError
            When the answer would exceed `max_memory`.
        """
        n_others = len(X) if Z is None else len(Z)
        check_memory(4.0 * len(X) * n_others, max_memory, what="the distance matrix", remedy="give fewer rows")
        a = self.encode(X)
        return self.between(a, a if Z is None else self.encode(Z))


class TreeDistance(Distance):
    """
    One minus the share of trees in which two rows reach the same leaf.

    Trees of a forest weigh the same. Boosted trees weigh as the variance of their scaled output over the training
    rows (weighted as the library stored its leaves), over all trees of all classes.

    Parameters
    ----------
    model : estimator
        Fitted tree ensemble, or a Pipeline that ends in one.

    References
    ----------
    Tan, Soloviev, Hooker and Wells (2020), Tree Space Prototypes, FODS 2020.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> forest = RandomForestClassifier(4, bootstrap=False, random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> TreeDistance(forest).pairwise([[0.0], [0.2], [1.0]]).tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """

    def __init__(self, model: Any) -> None:
        from explicate.core.tree_readers import read_trees

        self.model = model
        self.encoder, estimator = split_model(model)
        self.trees = read_trees(estimator)
        self.weight = _tree_weights(self.trees)
        self.total = float(self.weight.sum())

    def encode(self, X: Any) -> np.ndarray:
        """Return the leaf of each row in each tree, shape (n_rows, n_trees), dtype int32."""
        return np.asarray(self.trees.apply(as_floats(self.encoder, X, self.model)), dtype=np.int32)

    def within(self, codes: np.ndarray) -> Neighbourhood:
        """Return the similarities among encoded rows, read off the rows listed per leaf."""
        starts, members = kernels.invert(codes, self.trees.n_nodes)
        return Neighbourhood(
            len(codes),
            self.total,
            kernels.shared_weight_sums(codes, starts, self.weight),
            lambda which: kernels.shared_weights(codes, which, starts, members, self.weight),
            lambda: kernels.all_shared_weights(codes, starts, members, self.weight),
        )

    def similarity(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return shares of common leaves, shape (n_a, n_b), float64."""
        return kernels.compare(a, b, self.weight) / self.total


def as_floats(encoder: Any, X: Any, model: Any = None) -> np.ndarray:
    """Return encoded rows as floats, missing values as NaN; frames are matched by name where the model has names."""
    if isinstance(X, pd.DataFrame) and hasattr(model, "feature_names_in_"):
        X = align_columns(X, list(model.feature_names_in_))
    rows = X if encoder is None else encoder.transform(X)
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if isinstance(rows, pd.DataFrame):
        return rows.to_numpy(dtype=float, na_value=np.nan)
    return np.asarray(rows, dtype=float)


def _tree_weights(trees: Any) -> np.ndarray:
    if trees.averaged:
        return np.ones(trees.n_trees)  # whole numbers: sums of similarities stay exact
    weight = np.empty(trees.n_trees)
    for tree, nodes in enumerate(np.split(np.arange(trees.n_nodes), trees.roots[1:])):
        leaf = nodes[trees.feature[nodes] < 0]
        value = trees.value[leaf, max(int(trees.output[tree]), 0)]
        mass = trees.weight[leaf]
        mass = mass / mass.sum() if mass.sum() > 0 else np.full(len(leaf), 1 / len(leaf))
        weight[tree] = mass @ (value - mass @ value) ** 2
    return weight / weight.sum() if weight.sum() > 0 else np.full(trees.n_trees, 1 / trees.n_trees)
