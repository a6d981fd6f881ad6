"""Tree ensembles as flat arrays: one form for every library, read by every method that looks inside a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numba
import numpy as np


@dataclass(frozen=True, eq=False)
class TreeEnsemble:
    """
    An ensemble of binary decision trees.

    A row goes left at a node when its value is at most the threshold, or when it is NaN and the node sends NaN left.

    Attributes
    ----------
    roots : ndarray of shape (n_trees,), dtype int64
        Node id of each root; the nodes of a tree are consecutive, its root first.
    feature : ndarray of shape (n_nodes,), dtype int32
        Column split on; -1 at a leaf.
    threshold : ndarray of shape (n_nodes,), dtype float64
    left, right : ndarray of shape (n_nodes,), dtype int32
        Node ids of the children; -1 at a leaf.
    missing_left : ndarray of shape (n_nodes,), dtype bool
    value : ndarray of shape (n_nodes, n_outputs), dtype float64
        What a node adds to the output: class fractions or means for averaged trees (at every node), scaled margins
        for boosted ones (at leaves; zero elsewhere).
    weight : ndarray of shape (n_nodes,), dtype float64
        Training weight that reached the node, as the library stored it (class and sample weights and bootstrap
        included; the sum of second derivatives for XGBoost).
    gain : ndarray of shape (n_nodes,), dtype float64
        What the split gained on the library's own scale; zero at leaves. For scikit-learn's trees
        w·H − w_left·H_left − w_right·H_right.
    output : ndarray of shape (n_trees,), dtype int32
        Output the tree feeds; -1 for all of them.
    link : {"mean", "identity", "sigmoid", "softmax", "exp"}
        How summed outputs become a prediction; "mean" divides by the number of trees.
    base : ndarray of shape (n_outputs,), dtype float64
        Added to the sum.
    float32 : bool
        Whether rows are rounded to float32 before they are compared.
    criterion : str or None
        Impurity of averaged classification trees ("gini", "entropy", "log_loss").
    classes : ndarray of shape (n_classes,) or None
        Labels as the user wrote them; ``None`` for a regressor.
    n_features : int
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    value: np.ndarray
    weight: np.ndarray
    gain: np.ndarray
    output: np.ndarray
    link: str
    base: np.ndarray
    float32: bool
    criterion: str | None
    classes: np.ndarray | None
    n_features: int

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.roots)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees together."""
        return len(self.feature)

    @property
    def averaged(self) -> bool:
        """Whether the output is a mean of leaves, hence linear in them."""
        return self.link == "mean"

    def tree_of_node(self) -> np.ndarray:
        """Return the tree each node belongs to, shape (n_nodes,), dtype int64."""
        sizes = np.diff(np.append(self.roots, self.n_nodes))
        return np.repeat(np.arange(self.n_trees), sizes)

    def prepare(self, X: Any) -> np.ndarray:
        """
        Return rows as the trees compare them: float64, rounded to float32 first where the library does.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Encoded rows; NaN is a missing value.

        Raises
        ------
        ValueError
            When the number of columns differs.
        """
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"X has shape {rows.shape}; the trees read {self.n_features} columns.")
        if self.float32:
            with np.errstate(over="ignore"):
                rows = rows.astype(np.float32).astype(np.float64)
        return np.ascontiguousarray(rows)

    def apply(self, X: Any) -> np.ndarray:
        """
        Return the leaf each row reaches in each tree.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_trees), dtype int32
            Node ids.
        """
        return _apply(
            self.prepare(X), self.roots, self.feature, self.threshold, self.left, self.right, self.missing_left
        )

    def raw(self, X: Any) -> np.ndarray:
        """
        Return outputs before the link: mean or sum of leaf values plus the base, shape (n_rows, n_outputs).

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        """
        total = _sum_leaves(self.apply(X), self.value)
        return total / self.n_trees + self.base if self.averaged else total + self.base

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities, shape (n_rows, n_classes); classifiers only."""
        if self.classes is None:
            raise ValueError("these trees are a regressor and have no class probabilities; use predict.")
        return link_outputs(self.raw(X), self.link)

    def predict(self, X: Any) -> np.ndarray:
        """Return labels, or estimates, of shape (n_rows,)."""
        if self.classes is None:
            return link_outputs(self.raw(X), self.link)[:, 0]
        return self.classes[np.argmax(self.predict_proba(X), axis=1)]


def link_outputs(raw: np.ndarray, link: str) -> np.ndarray:
    """
    Turn summed outputs into predictions.

    Parameters
    ----------
    raw : ndarray of shape (..., n_outputs)
    link : {"mean", "identity", "sigmoid", "softmax", "exp"}

    Returns
    -------
    ndarray
        Same shape, except that "sigmoid" turns one margin into two class probabilities.

    Examples
    --------
    >>> link_outputs(np.array([[0.0]]), "sigmoid")
    array([[0.5, 0.5]])
    """
    from scipy.special import expit, softmax

    if link == "sigmoid":
        return np.concatenate([expit(-raw), expit(raw)], axis=-1)
    if link == "softmax":
        return softmax(raw, axis=-1)
    return np.exp(raw) if link == "exp" else raw


@numba.njit(cache=True, nogil=True)
def _apply(
    rows: np.ndarray,
    roots: np.ndarray,
    feature: np.ndarray,
    threshold: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    missing_left: np.ndarray,
) -> np.ndarray:
    leaves = np.empty((rows.shape[0], roots.shape[0]), dtype=np.int32)
    for tree in range(roots.shape[0]):  # tree by tree: its nodes stay in cache
        root = roots[tree]
        for row in range(rows.shape[0]):
            node = root
            while feature[node] >= 0:
                x = rows[row, feature[node]]
                goes_left = missing_left[node] if np.isnan(x) else x <= threshold[node]
                node = left[node] if goes_left else right[node]
            leaves[row, tree] = node
    return leaves


@numba.njit(cache=True, nogil=True)
def _sum_leaves(leaves: np.ndarray, value: np.ndarray) -> np.ndarray:
    total = np.zeros((leaves.shape[0], value.shape[1]))
    for row in range(leaves.shape[0]):
        for tree in range(leaves.shape[1]):
            for output in range(value.shape[1]):
                total[row, output] += value[leaves[row, tree], output]
    return total
