from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explicate.prototypes.distances import Neighbourhood
from explicate.prototypes.greedy import LazyGreedy


def neighbourhood(similarity, total):
    whole = similarity.astype(np.float32)
    return Neighbourhood(
        len(similarity), total, similarity.sum(axis=0), lambda which: whole[which], lambda: whole.copy()
    )


def symmetric(seed, n, levels):
    """Return similarities in a few whole steps, so that ties are common."""
    generator = np.random.default_rng(seed)
    half = generator.integers(0, levels, size=(n, n)).astype(float)
    out = np.maximum(half, half.T)
    np.fill_diagonal(out, levels)
    return out


def full_scan(value, k):
    """Oracle: evaluate every candidate every time, first of equals."""
    covered, chosen, gains = np.zeros(len(value)), [], []
    for _ in range(k):
        gain = np.array([np.maximum(value[:, j] - covered, 0).sum() for j in range(len(value))])
        best = int(np.argmax(gain))
        if gain[best] <= 0:
            break
        chosen.append(best)
        gains.append(gain[best])
        covered = np.maximum(covered, value[:, best])
    return chosen, gains


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 25), st.sampled_from([0.0, 0.5, -0.5, 3.0, -3.0]), st.booleans())
def test_lazy_is_the_full_scan_ties_included(seed, n, beta, keep):
    similarity = symmetric(seed, n, 4)
    importance = np.random.default_rng(seed).dirichlet(np.ones(3), size=n)
    greedy = LazyGreedy(neighbourhood(similarity, 4.0), importance, beta, keep=keep)
    while greedy.add()[0] >= 0:
        pass
    value = greedy.values(np.arange(n)).T
    if beta:
        assert np.allclose(value, similarity + 4 * beta * importance @ importance.T)
    chosen, gains = full_scan(value, n)
    assert greedy.chosen == chosen
    assert np.allclose(np.array(greedy.gains) * 4, gains)
    assert np.isclose(greedy.cost(), n - sum(gains) / 4)
    assert (np.diff(greedy.gains) <= 1e-9).all()  # submodular: gains never grow


@pytest.mark.parametrize("seed", range(8))
def test_greedy_is_within_its_bound_of_the_best_subset(seed):
    similarity = symmetric(seed, 9, 6)
    greedy = LazyGreedy(neighbourhood(similarity, 6.0))
    for _ in range(3):
        greedy.add()
    best = max(similarity[:, list(some)].max(axis=1).sum() for some in combinations(range(9), 3))
    reached = 6 * sum(greedy.gains)
    assert (1 - 1 / np.e) * best <= reached <= best + 1e-9


def test_laziness_spares_evaluations():
    points = np.random.default_rng(0).random((200, 2))
    similarity = 1 - np.minimum(np.abs(points[:, None] - points[None]).sum(axis=2), 1)
    greedy = LazyGreedy(neighbourhood(similarity, 1.0))
    for _ in range(10):
        greedy.add()
    assert greedy.n_evaluations < 200 * 10 / 2


def test_only_candidates_are_chosen():
    greedy = LazyGreedy(neighbourhood(symmetric(0, 6, 4), 4.0), candidates=[2, 5])
    while greedy.add()[0] >= 0:
        pass
    assert set(greedy.chosen) <= {2, 5}
