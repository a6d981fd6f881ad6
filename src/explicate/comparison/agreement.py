"""How far two rankings of the same features agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from explicate.core.validation import check_number


def kendall_tau(a: Sequence[Any], b: Sequence[Any]) -> float:
    """
    Return Kendall's tau of two rankings without ties; NaN for fewer than two features.

    Examples
    --------
    >>> round(kendall_tau("abc", "acb"), 3)
    0.333
    """
    from scipy.stats import kendalltau

    _check_same(a, b)
    if len(a) < 2:
        return float("nan")
    place = {feature: k for k, feature in enumerate(b)}
    return float(kendalltau(range(len(a)), [place[feature] for feature in a]).statistic)


def rank_biased_overlap(a: Sequence[Any], b: Sequence[Any], p: float = 0.9) -> float:
    """
    Return the rank-biased overlap of two full rankings, extrapolated beyond their end.

    Parameters
    ----------
    a, b : sequence
        The same features, the most important first.
    p : float, default 0.9
        Weight kept from one depth to the next, in (0, 1); the smaller, the more the top counts.

    Returns
    -------
    float
        1 for equal rankings, above 0 otherwise.

    References
    ----------
    Webber, Moffat, Zobel (2010), "A similarity measure for indefinite rankings", equation 23.

    Examples
    --------
    >>> rank_biased_overlap("ab", "ba", p=0.5)
    0.5
    """
    _check_same(a, b)
    check_number("p", p, low=0, high=1)
    if not 0 < p < 1:
        raise ValueError(f"p is {p}; give a number strictly between 0 and 1.")
    seen_a: set[Any] = set()
    seen_b: set[Any] = set()
    total = 0.0
    for depth, (x, y) in enumerate(zip(a, b, strict=True), start=1):
        seen_a.add(x)
        seen_b.add(y)
        total += (1 - p) * p ** (depth - 1) * len(seen_a & seen_b) / depth
    return total + p ** len(a)


def top_k_jaccard(a: Sequence[Any], b: Sequence[Any], k: int = 5) -> float:
    """
    Return the shared part of the first `k` features of both rankings, as intersection over union.

    Examples
    --------
    >>> round(top_k_jaccard("abcd", "acbd", k=2), 3)
    0.333
    """
    _check_same(a, b)
    check_number("k", k, low=1, integer=True)
    first, second = set(a[:k]), set(b[:k])
    return len(first & second) / len(first | second) if first else float("nan")


def agreement_table(rankings: Mapping[str, Sequence[Any]], *, p: float = 0.9, k: int = 5) -> pd.DataFrame:
    """
    Compare every pair of rankings.

    Returns
    -------
    DataFrame
        ``method``, ``other``, ``kendall_tau``, ``rank_biased_overlap``, ``top_k_jaccard``, ``k``; one row per pair.

    Examples
    --------
    >>> agreement_table({"x": ["a", "b"], "y": ["b", "a"]})["kendall_tau"].tolist()
    [-1.0]
    """
    rows = [
        (one, two, kendall_tau(a, b), rank_biased_overlap(a, b, p), top_k_jaccard(a, b, k), k)
        for (one, a), (two, b) in combinations(rankings.items(), 2)
    ]
    columns = ["method", "other", "kendall_tau", "rank_biased_overlap", "top_k_jaccard", "k"]
    return pd.DataFrame(rows, columns=columns)


def _check_same(a: Sequence[Any], b: Sequence[Any]) -> None:
    if len(a) != len(b) or len(set(a)) != len(a) or set(a) != set(b):
        raise ValueError("a and b must rank the same features, each once.")
