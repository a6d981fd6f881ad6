"""Exact search: a ranking is a path through the lattice of sets, and the best one is found by dynamic programming."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from explicate.sofi.objective import Objective


def best_order(gain: np.ndarray, n: int) -> list[int]:
    """
    Find the ranking whose top sets gather the most gain.

    best[T] = gain[T] + max over i in T of best[T∖i]: every ranking is a path from the empty set to the whole, so no
    ranking gathers more. 2^n·n steps; 5 bytes for each of the 2^n sets beside `gain`, which is overwritten.

    Parameters
    ----------
    gain : ndarray of shape (2**n,), dtype float64
        Gain of each top set, bit i = feature i; those of the empty and the whole set do not matter.
    n : int
        Number of features.

    Returns
    -------
    list of int
        Features from the first to the last; of equal rankings, the one whose last features have the lowest numbers.

    Examples
    --------
    >>> best_order(np.array([0.0, 1.0, 2.0, 0.0]), 2)
    [1, 0]
    """
    last = np.empty(len(gain), dtype=np.int8)
    _longest_path(gain, last, n)
    order, top = [], len(gain) - 1
    while top:
        feature = int(last[top])
        order.append(feature)
        top ^= 1 << feature
    return order[::-1]


@numba.njit(cache=True, nogil=True)
def _longest_path(gain: np.ndarray, last: np.ndarray, n: int) -> None:
    gain[0] = 0.0
    for top in range(1, len(gain)):
        best, chosen = -np.inf, -1
        for i in range(n):
            if top >> i & 1:
                before = gain[top ^ (1 << i)]
                if before > best:
                    best, chosen = before, i
        gain[top] += best
        last[top] = chosen


def exact_order(table: np.ndarray, n: int) -> list[int]:
    """
    Find the ranking of greatest degradation score, given the response of every set.

    Parameters
    ----------
    table : ndarray of shape (2**n,), dtype float64
        Response of each set of marginalised features.
    n : int

    Returns
    -------
    list of int
    """
    return best_order(table[::-1] - table, n)  # the complement of T is the T-th set from the end


def window_order(objective: Objective, order: Sequence[int], start: int, width: int) -> list[int]:
    """
    Rearrange consecutive positions of a ranking in the best way, all else kept.

    Parameters
    ----------
    objective : Objective
    order : sequence of int
    start, width : int
        Positions ``start … start + width − 1`` are rearranged; 2·2^width sets are asked for.

    Returns
    -------
    list of int
        The ranking with its window rearranged.
    """
    window = list(order[start : start + width])
    masks = window_masks(order, start, width)
    whole = (1 << objective.n_features) - 1
    values = objective.responses([*masks, *(whole ^ mask for mask in masks)])
    inner = best_order(values[len(masks) :] - values[: len(masks)], len(window))
    return [*order[:start], *(window[i] for i in inner), *order[start + width :]]


def window_masks(order: Sequence[int], start: int, width: int) -> list[int]:
    """Return the top sets that rearranging a window can pass through, by subset of the window."""
    base = sum(1 << feature for feature in order[:start])
    masks = [base]
    for feature in order[start : start + width]:
        masks += [mask | (1 << feature) for mask in masks]
    return masks
