"""Where a performance curve stops paying for more features."""

from __future__ import annotations

import warnings

import numpy as np


def find_knee(counts: np.ndarray, scores: np.ndarray) -> int:
    """
    Return the count at the knee: both axes scaled to [0, 1], the interior maximum of score minus count.

    Parameters
    ----------
    counts : ndarray of int
        Sizes of the sets, in any order; of repeats the best score counts.
    scores : ndarray
        Higher is better.

    Warns
    -----
    UserWarning
        When the curve is flat, never above its diagonal inside, or has fewer than three points: the answer then is
        `best_count`.

    References
    ----------
    Satopää, Albrecht, Irwin, Raghavan (2011), Finding a "kneedle" in a haystack.

    Examples
    --------
    >>> find_knee(np.array([1, 2, 3, 4]), np.array([0.5, 0.9, 0.91, 0.92]))
    2
    """
    sizes = np.unique(counts)
    best = np.array([scores[counts == size].max() for size in sizes])
    spread = best.max() - best.min()
    if len(sizes) < 3 or spread <= 1e-12:
        return _fall_back(counts, scores, f"{len(sizes)} point(s), range {spread:.1e}")
    gap = (best - best.min()) / spread - (sizes - sizes[0]) / (sizes[-1] - sizes[0])
    inside = gap[1:-1]
    if inside.max() <= 0:
        return _fall_back(counts, scores, "no interior point above the diagonal")
    return int(sizes[1 + int(inside.argmax())])


def best_count(counts: np.ndarray, scores: np.ndarray) -> int:
    """
    Return the smallest count that has the best score.

    Examples
    --------
    >>> best_count(np.array([3, 2, 1]), np.array([0.9, 0.9, 0.5]))
    2
    """
    return int(counts[scores >= scores.max()].min())


def _fall_back(counts: np.ndarray, scores: np.ndarray, why: str) -> int:
    count = best_count(counts, scores)
    warnings.warn(f"the performance curve has no knee ({why}); keeping the best set, of {count}.", stacklevel=3)
    return count
