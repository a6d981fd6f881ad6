"""Loops over leaves, compiled: who shares a leaf with whom, without a matrix of all pairs."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def invert(codes: np.ndarray, n_codes: int) -> tuple[np.ndarray, np.ndarray]:
    """
    List the rows of every leaf.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_trees), dtype int32
        Leaf of each row in each tree; leaves of different trees have different codes.
    n_codes : int
        One more than the largest code.

    Returns
    -------
    starts : ndarray of shape (n_codes + 1,), dtype int64
    members : ndarray of shape (n_rows · n_trees,), dtype int32
        Rows of leaf `c` are ``members[starts[c] : starts[c + 1]]``, ascending.
    """
    starts = np.zeros(n_codes + 1, dtype=np.int64)
    for row in range(codes.shape[0]):
        for tree in range(codes.shape[1]):
            starts[codes[row, tree] + 1] += 1
    for code in range(n_codes):
        starts[code + 1] += starts[code]
    position = starts[:-1].copy()
    members = np.empty(codes.size, dtype=np.int32)
    for row in range(codes.shape[0]):
        for tree in range(codes.shape[1]):
            code = codes[row, tree]
            members[position[code]] = row
            position[code] += 1
    return starts, members


@numba.njit(cache=True, nogil=True)
def shared_weight(
    leaves: np.ndarray, starts: np.ndarray, members: np.ndarray, weight: np.ndarray, n_rows: int
) -> np.ndarray:
    """
    Return the weight of the trees in which each row shares a leaf with one row, shape (n_rows,), float64.

    Parameters
    ----------
    leaves : ndarray of shape (n_trees,), dtype int32
        Leaves of the one row.
    starts, members : ndarray
        As `invert` returns them.
    weight : ndarray of shape (n_trees,), dtype float64
    n_rows : int
    """
    total = np.zeros(n_rows)
    for tree in range(leaves.shape[0]):
        code = leaves[tree]
        for at in range(starts[code], starts[code + 1]):
            total[members[at]] += weight[tree]
    return total


@numba.njit(cache=True, nogil=True)
def shared_weight_sums(codes: np.ndarray, starts: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the sum over all rows of what `shared_weight` gives, per row of `codes`: leaf sizes times weights."""
    sums = np.zeros(codes.shape[0])
    for row in range(codes.shape[0]):
        for tree in range(codes.shape[1]):
            code = codes[row, tree]
            sums[row] += weight[tree] * (starts[code + 1] - starts[code])
    return sums


@numba.njit(cache=True, nogil=True)
def compare(a: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """
    Return the weight of common leaves of every row of `a` with every row of `b`, shape (n_a, n_b), float64.

    Parameters
    ----------
    a : ndarray of shape (n_a, n_trees), dtype int32
    b : ndarray of shape (n_b, n_trees), dtype int32
    weight : ndarray of shape (n_trees,), dtype float64
    """
    out = np.zeros((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for tree in range(a.shape[1]):
                if a[i, tree] == b[j, tree]:
                    total += weight[tree]
            out[i, j] = total
    return out


@numba.njit(cache=True, nogil=True)
def gain_over(value: np.ndarray, covered: np.ndarray) -> float:
    """
    Return Σ_i max(0, value_i − covered_i).

    Rounding is monotone and the order fixed, so the sum never grows when `covered` does, to the last bit.
    """
    total = 0.0
    for row in range(value.shape[0]):
        total += max(value[row] - covered[row], 0.0)
    return total
