"""A few columns that stand for all, where a forward search may start."""

from __future__ import annotations

import numpy as np


def column_medoids(X: np.ndarray, n_medoids: int, max_iterations: int = 50) -> np.ndarray:
    """
    Choose medoids among columns: centred, of unit length, farthest first, then alternating k-medoids.

    Under squared distances the member with the least sum over its cluster is the one nearest to the cluster's mean, so
    no matrix between columns is made: O(n_rows · n_columns · n_medoids) per round.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
    n_medoids : int
        At most; fewer when columns repeat.
    max_iterations : int, default 50

    Returns
    -------
    ndarray of int
        Positions of the medoids, sorted; constant columns are left out unless all are.

    Examples
    --------
    >>> column_medoids(np.array([[0.0, 0.0, 1.0], [1.0, 1.1, 0.0], [2.0, 2.0, 1.0]]), 2)
    array([0, 2])
    """
    centred = X - X.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    alive = np.flatnonzero(length > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300))
    if not len(alive):
        return np.array([0])
    units = (centred[:, alive] / length[alive]).T
    middle = units.mean(axis=0)
    chosen = [int(((units - middle) ** 2).sum(axis=1).argmin())]
    nearest = ((units - units[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < min(n_medoids, len(units)) and nearest.max() > 1e-12:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, ((units - units[chosen[-1]]) ** 2).sum(axis=1))
    medoids = np.array(chosen)
    for _ in range(max_iterations):
        owner = (2.0 - 2.0 * units @ units[medoids].T).argmin(axis=1)
        moved = medoids.copy()
        for k in range(len(medoids)):
            members = np.flatnonzero(owner == k)
            if len(members):
                moved[k] = members[((units[members] - units[members].mean(axis=0)) ** 2).sum(axis=1).argmin()]
        if np.array_equal(moved, medoids):
            break
        medoids = moved
    return np.unique(alive[medoids])
