"""Impurity decreases of every split, once per class against the rest: the arithmetic of PCFI."""

from __future__ import annotations

import numba
import numpy as np

from explicate.core.trees import TreeEnsemble


def node_statistics(
    trees: TreeEnsemble, leaves: np.ndarray, codes: np.ndarray, weight: np.ndarray, used: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """
    Pass labelled rows down the trees and count what arrives at each node.

    Parameters
    ----------
    trees : TreeEnsemble
    leaves : ndarray of shape (n_rows, n_trees), dtype int32
        Leaf of each row in each tree, from ``trees.apply``.
    codes : ndarray of shape (n_rows,), dtype intp
        Class position of each row.
    weight : ndarray of shape (n_rows,), dtype float64
        Weight of each row.
    used : ndarray of shape (n_rows, n_trees), dtype bool, optional
        Which rows count in which tree; all of them by default.

    Returns
    -------
    weight : ndarray of shape (n_nodes,), dtype float64
    fraction : ndarray of shape (n_nodes, n_classes), dtype float64
        Class fractions; zero where no row arrived.
    """
    n_classes = trees.value.shape[1]
    counts = np.zeros((trees.n_nodes, n_classes))
    for tree in range(trees.n_trees):
        rows = slice(None) if used is None else used[:, tree]
        np.add.at(counts, (leaves[rows, tree], codes[rows]), weight[rows])
    _sum_upwards(counts, trees.feature, trees.left, trees.right)
    total = counts.sum(axis=1)
    return total, np.divide(counts, total[:, None], out=counts, where=total[:, None] > 0)


@numba.njit(cache=True, nogil=True)
def _sum_upwards(counts: np.ndarray, feature: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    for node in range(len(feature) - 1, -1, -1):  # children stand behind their parents
        if feature[node] >= 0:
            for k in range(counts.shape[1]):
                counts[node, k] = counts[left[node], k] + counts[right[node], k]


@numba.njit(cache=True, nogil=True, inline="always")
def _impurity(p: float, entropy: bool) -> float:
    if not entropy:
        return 2.0 * p * (1.0 - p)
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return -p * np.log2(p) - (1.0 - p) * np.log2(1.0 - p)


@numba.njit(cache=True, nogil=True)
def accumulate(
    bounds: np.ndarray,
    feature: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    majority: np.ndarray,
    weight: np.ndarray,
    fraction: np.ndarray,
    entropy: bool,
    path_filter: bool,
    normalize_trees: bool,
    group_of: np.ndarray,
    n_groups: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Sum each tree's impurity decreases per class and feature, and their squares over trees.

    Parameters
    ----------
    bounds : ndarray of shape (n_trees + 1,), dtype int64
        First node of each tree, and the number of nodes.
    feature, left, right : ndarray of shape (n_nodes,)
        Structure, as in `TreeEnsemble`.
    majority : ndarray of shape (n_nodes,), dtype int64
        Class the node would predict (used at leaves).
    weight : ndarray of shape (n_nodes,)
    fraction : ndarray of shape (n_nodes, n_classes)
    entropy : bool
        Whether impurity is entropy in bits; Gini otherwise.
    path_filter : bool
        Whether a split counts for a class only when a leaf below it predicts that class.
    normalize_trees : bool
        Whether each tree's rows are divided by their sums before they are added.
    group_of : ndarray of shape (n_features,), dtype int64
        Group each column counts for; -1 for none.
    n_groups : int

    Returns
    -------
    total, square : ndarray of shape (n_classes + 1, n_groups), dtype float64
        The last row is the decrease of all classes together, without path filter.
    predicted : ndarray of shape (n_classes,), dtype bool
        Classes that some leaf predicts.
    """
    n_classes = fraction.shape[1]
    total = np.zeros((n_classes + 1, n_groups))
    square = np.zeros((n_classes + 1, n_groups))
    predicted = np.zeros(n_classes, dtype=np.bool_)
    for tree in range(len(bounds) - 1):
        start, stop = bounds[tree], bounds[tree + 1]
        one = np.zeros((n_classes + 1, n_groups))
        reach = np.zeros((stop - start, n_classes), dtype=np.bool_)
        mass = np.empty((stop - start, n_classes + 1))
        for node in range(stop - 1, start - 1, -1):
            here = node - start
            whole = 0.0
            for k in range(n_classes):
                p = fraction[node, k]
                mass[here, k] = weight[node] * _impurity(p, entropy)
                if not entropy:
                    whole += p * (1.0 - p)
                elif p > 0.0:
                    whole -= p * np.log2(p)
            mass[here, n_classes] = weight[node] * whole
            if feature[node] < 0:
                reach[here, majority[node]] = True
                predicted[majority[node]] = True
                continue
            low, high = left[node] - start, right[node] - start
            group = group_of[feature[node]]
            for k in range(n_classes + 1):
                if k < n_classes:
                    reach[here, k] = reach[low, k] or reach[high, k]
                if group >= 0 and (k == n_classes or not path_filter or reach[here, k]):
                    one[k, group] += mass[here, k] - mass[low, k] - mass[high, k]
        root = weight[start]
        for k in range(n_classes + 1):
            row = 0.0
            for group in range(n_groups):
                row += one[k, group]
            scale = row if normalize_trees else root
            if scale <= 0.0:
                continue
            for group in range(n_groups):
                value = one[k, group] / scale
                total[k, group] += value
                square[k, group] += value * value
    return total, square, predicted
