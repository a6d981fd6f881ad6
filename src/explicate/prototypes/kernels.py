"""Compiled loops: who shares a leaf with whom, how far features are apart, what a candidate gains."""

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
def shared_weights(
    codes: np.ndarray, which: np.ndarray, starts: np.ndarray, members: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """
    Return the weight of the trees in which some rows share a leaf with each row, shape (n_which, n_rows), float32.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_trees), dtype int32
    which : ndarray of shape (n_which,), dtype intp
        Positions of the rows asked for.
    starts, members : ndarray
        As `invert` returns them.
    weight : ndarray of shape (n_trees,), dtype float64
    """
    out = np.zeros((which.shape[0], codes.shape[0]), dtype=np.float32)
    for k in range(which.shape[0]):
        total = out[k]
        for tree in range(codes.shape[1]):
            code = codes[which[k], tree]
            share = np.float32(weight[tree])
            for row in members[starts[code] : starts[code + 1]]:
                total[row] += share
    return out


@numba.njit(cache=True, nogil=True)
def all_shared_weights(codes: np.ndarray, starts: np.ndarray, members: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """
    Return what `shared_weights` gives for all rows, to the last bit, shape (n_rows, n_rows), float32.

    Pairs are counted leaf by leaf, once for both orders; codes must ascend from tree to tree.
    """
    n_rows = codes.shape[0]
    out = np.zeros((n_rows, n_rows), dtype=np.float32)
    for tree in range(codes.shape[1]):
        share = np.float32(weight[tree])
        for code in range(codes[:, tree].min(), codes[:, tree].max() + 1):
            for first in range(starts[code], starts[code + 1]):
                total = out[members[first]]
                for row in members[first : starts[code + 1]]:
                    total[row] += share
    block = 32  # mirrored in squares that fit the cache
    for top in range(0, n_rows, block):
        for left in range(0, top + 1, block):
            for i in range(top, min(top + block, n_rows)):
                for j in range(left, min(left + block, i)):
                    out[i, j] = out[j, i]
    return out


@numba.njit(cache=True, nogil=True)
def shared_weight_sums(codes: np.ndarray, starts: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the sum over all rows of what `shared_weights` gives, per row of `codes`: leaf sizes times weights."""
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
def gower_similarity(a: np.ndarray, b: np.ndarray, numeric: np.ndarray) -> np.ndarray:
    """
    Return one minus Gower's distance of every row of `a` to every row of `b`, shape (n_a, n_b), float64.

    Parameters
    ----------
    a : ndarray of shape (n_a, n_features), dtype float64
        Scaled numbers and category positions; NaN is missing.
    b : ndarray of shape (n_features, n_b), dtype float64
        The other rows, transposed.
    numeric : ndarray of shape (n_features,), dtype bool
    """
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        far = out[i]
        for feature in range(a.shape[1]):
            x = a[i, feature]
            other = b[feature]
            if np.isnan(x):
                for j in range(far.shape[0]):
                    far[j] += 0.0 if np.isnan(other[j]) else 1.0
            elif numeric[feature]:
                for j in range(far.shape[0]):
                    gap = abs(x - other[j])
                    far[j] += gap if gap < 1.0 else 1.0  # a missing value compares false: as far as can be
            else:
                for j in range(far.shape[0]):
                    far[j] += 0.0 if x == other[j] else 1.0
        for j in range(far.shape[0]):
            far[j] = 1.0 - far[j] / a.shape[1]
    return out


@numba.njit(cache=True, nogil=True)
def add_products(values: np.ndarray, left: np.ndarray, right: np.ndarray, factor: float) -> None:
    """
    Add ``factor * left @ right`` to `values` in place, every product summed in the same order wherever it stands.

    Parameters
    ----------
    values : ndarray of shape (n_which, n_rows), dtype float32
    left : ndarray of shape (n_which, n_features), dtype float64
    right : ndarray of shape (n_features, n_rows), dtype float64
    factor : float
    """
    total = np.empty(right.shape[1])
    for k in range(left.shape[0]):
        total[:] = 0.0
        for feature in range(left.shape[1]):
            scale = factor * left[k, feature]
            for row in range(right.shape[1]):
                total[row] += scale * right[feature, row]
        for row in range(right.shape[1]):
            values[k, row] += total[row]


@numba.njit(cache=True, nogil=True, fastmath={"reassoc"})  # sums in vector lanes: the same lanes in every call
def gains_over(values: np.ndarray, which: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """
    Return Σ_i max(0, values[j, i] − covered_i) for every j in `which`, shape (n_which,), float64.

    Rounding is monotone and the order fixed, so no sum grows when `covered` does, to the last bit.

    Parameters
    ----------
    values : ndarray of shape (n_values, n_rows), dtype float32
    which : ndarray of shape (n_which,), dtype intp
        Rows of `values`.
    covered : ndarray of shape (n_rows,), dtype float32
    """
    gains = np.empty(which.shape[0])
    for k in range(which.shape[0]):
        value = values[which[k]]
        total = 0.0
        for row in range(covered.shape[0]):
            total += np.float64(max(value[row] - covered[row], np.float32(0.0)))
        gains[k] = total
    return gains
