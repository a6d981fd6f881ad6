"""Compiled loops over tree mixtures: links, and the response of given sets from triples."""

from __future__ import annotations

import numpy as np
from numba import njit

#: What turns the summed leaves of one mixture into its response (see `link_value`).
LINEAR, IDENTITY, EXPONENTIAL, SIGMOID, SOFTMAX = 0, 1, 2, 3, 4


@njit(cache=True, nogil=True)
def link_value(link: int, margins: np.ndarray, base: np.ndarray, target: float, regression: bool) -> float:
    """Turn the margins of one mixture into its response; `target` is the class, or the unperturbed estimate."""
    if link == LINEAR:
        return margins[0] + base[0]
    if link == SOFTMAX:
        highest = -np.inf
        for k in range(margins.size):
            highest = max(highest, margins[k] + base[k])
        total = 0.0
        for k in range(margins.size):
            total += np.exp(margins[k] + base[k] - highest)
        return np.exp(margins[int(target)] + base[int(target)] - highest) / total
    value = margins[0] + base[0]
    if link == SIGMOID:
        return 1.0 / (1.0 + np.exp(-value)) if target > 0 else 1.0 / (1.0 + np.exp(value))
    if link == EXPONENTIAL:
        value = np.exp(value)
    return -abs(value - target) if regression else value


@njit(cache=True, nogil=True)
def evaluate(
    offsets: np.ndarray,
    keys: np.ndarray,
    outputs: np.ndarray,
    weights: np.ndarray,
    sets: np.ndarray,
    n_b: int,
    link: int,
    base: np.ndarray,
    target: np.ndarray,
    regression: bool,
) -> np.ndarray:
    """
    Return the response of every row for every set, shape (n_sets, n_rows).

    `n_b` groups per row are averaged after the link (one when the response is linear and already merged).
    """
    n_sets, n_words = sets.shape
    n_rows = (offsets.size - 1) // n_b
    result = np.zeros((n_sets, n_rows))
    margins = np.zeros(base.size)
    batch = 64
    sums = np.empty((base.size, batch))
    inside, outside = np.empty(batch, dtype=np.uint64), np.empty(batch, dtype=np.uint64)
    clash = np.empty(batch, dtype=np.uint64)
    for first in range(0, n_sets, batch):
        size = min(batch, n_sets - first)
        for s in range(size):
            inside[s], outside[s] = sets[first + s, 0], ~sets[first + s, 0]
        for group in range(offsets.size - 1):
            row = group // n_b
            sums[:] = 0.0
            for at in range(offsets[group], offsets[group + 1]):
                weight, into = weights[at], sums[outputs[at]]
                if n_words == 1:  # without a branch, so that several sets go at once
                    kept, gone = keys[at, 0], keys[at, 1]
                    for s in range(size):
                        into[s] += weight if (kept & inside[s]) | (gone & outside[s]) == np.uint64(0) else 0.0
                    continue
                clash[:size] = np.uint64(0)
                for k in range(n_words):
                    kept, gone = keys[at, k], keys[at, n_words + k]
                    if kept | gone != np.uint64(0):
                        for s in range(size):
                            clash[s] |= (kept & sets[first + s, k]) | (gone & ~sets[first + s, k])
                for s in range(size):
                    into[s] += weight if clash[s] == np.uint64(0) else 0.0
            for s in range(size):
                for k in range(base.size):
                    margins[k] = sums[k, s]
                result[first + s, row] += link_value(link, margins, base, target[row], regression)
    return result / n_b


@njit(cache=True, nogil=True)
def evaluate_buckets(
    starts: np.ndarray, kept: np.ndarray, gone: np.ndarray, weights: np.ndarray, sets: np.ndarray
) -> np.ndarray:
    """
    Return the summed weights of the active triples of every set, shape (n_sets,).

    Bucket g holds the triples starts[g] … starts[g+1], which share the mask kept[g]: most buckets fall at once.
    """
    n_sets, n_words = sets.shape
    result = np.zeros(n_sets)
    for s in range(n_sets):
        inside, outside = sets[s, 0], ~sets[s, 0]
        total = 0.0
        for bucket in range(starts.size - 1):
            clash = kept[bucket, 0] & inside
            for k in range(1, n_words):
                clash |= kept[bucket, k] & sets[s, k]
            if clash != np.uint64(0):
                continue
            for at in range(starts[bucket], starts[bucket + 1]):
                clash = gone[at, 0] & outside
                for k in range(1, n_words):
                    clash |= gone[at, k] & ~sets[s, k]
                if clash == np.uint64(0):
                    total += weights[at]
        result[s] = total
    return result
