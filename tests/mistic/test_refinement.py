"""Refinement against brute force on small lattices, and its guarantees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from explicate.mistic.pooling import jaccard_distance, prediction_distance, refine_pool
from explicate.mistic.refinement import propose, refine

N = 7
WEIGHTS = np.random.default_rng(0).normal(size=(N, N))


def rugged(mask):
    """A quadratic set function with local optima."""
    return float(mask @ WEIGHTS @ mask)


def best_by_brute_force(score):
    return max(score(np.array(bits, dtype=bool)) for bits in product([False, True], repeat=N) if any(bits))


def test_finds_the_brute_force_optimum():
    start = np.eye(N, dtype=bool)[0]
    run = refine(rugged, start, n_iterations=3000, patience=3000, temperature=1.0, cooling=0.998, random_state=1)
    assert run.score == pytest.approx(best_by_brute_force(rugged), abs=1e-12)
    assert run.score == rugged(run.support)


def test_scores_each_set_once_and_restores_the_best():
    calls = []

    def score(mask):
        calls.append(mask.tobytes())
        return rugged(mask)

    run = refine(score, np.ones(N, dtype=bool), n_iterations=300, patience=300, temperature=50.0, random_state=0)
    assert len(calls) == len(set(calls)) == run.n_evaluations < 128
    assert run.score == max(run.initial_score, run.history["score"].max())
    assert run.history["best"].is_monotonic_increasing
    assert run.history["score"].iloc[-1] < run.score, "hot: the last state must not be what is returned"


def test_patience_stops_and_equal_scores_prefer_fewer_groups():
    run = refine(lambda mask: 0.5, np.ones(N, dtype=bool), patience=200, n_iterations=5000, random_state=0)
    assert run.support.sum() == 1
    assert run.stopped == "patience"
    assert len(run.history) < 5000


def test_same_seed_same_answer_and_input_untouched():
    start = np.ones(N, dtype=bool)
    start.flags.writeable = False
    a, b = (refine(rugged, start, random_state=3) for _ in range(2))
    assert a.history.equals(b.history)
    assert start.all()


def test_reserved_rows_are_seen_at_the_two_ends_only():
    asked = []

    def reserved(mask):
        asked.append(mask)
        return 0.25

    run = refine(rugged, np.ones(N, dtype=bool), reserved=reserved, random_state=0)
    assert len(asked) == 2
    assert run.metrics()["reserved_score"] == 0.25
    assert "reserved" in run.summary()


def test_proposals_follow_ranks_and_sizes():
    rng, ranks = np.random.default_rng(0), np.array([1.0, 1.0, 1.0, 1.0, 50.0, 50.0])
    mask = np.array([True, True, False, False, True, False])
    moves = [propose(mask, ranks, rng, 1, 6) for _ in range(2000)]
    added = np.sum([changed & ~mask for changed, _ in moves], axis=0)
    dropped = np.sum([mask & ~changed for changed, _ in moves], axis=0)
    assert added[2] > 10 * added[5]
    assert dropped[4] > 10 * dropped[0]
    for changed, move in moves:
        assert changed.sum() - mask.sum() == {"add": 1, "remove": -1, "swap": 0}[move]
    assert {propose(mask, ranks, rng, 3, 3)[1] for _ in range(50)} == {"swap"}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(value):
    with pytest.raises(ValueError, match=r"score returned .* return a finite number"):
        refine(lambda mask: value, [True, False])


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"initial": [1, 0]}, "mask of booleans"),
        ({"initial": [False, False]}, "initial holds 0 groups"),
        ({"initial": [True, False], "ranking": [0, 1]}, "positive ranks"),
        ({"initial": [True, False], "names": ["a"]}, "one per group"),
        ({"initial": [True, False], "cooling": 0.0}, "cooling=0.0"),
    ],
)
def test_bad_input(keywords, message):
    with pytest.raises(ValueError, match=message):
        refine(rugged, **keywords)


def test_the_pool_trades_score_for_diversity():
    start = np.tile(np.eye(N, dtype=bool)[0], (3, 1))
    alike = refine_pool(rugged, start, feature_diversity=0.0, n_iterations=2500, patience=2500, temperature=1.0,
                        cooling=0.998, random_state=0)  # fmt: skip
    apart = refine_pool(rugged, start, feature_diversity=50.0, n_iterations=2500, patience=2500, temperature=1.0,
                        cooling=0.998, random_state=0)  # fmt: skip
    assert apart.feature_diversity > alike.feature_diversity
    assert alike.scores.mean() > apart.scores.mean()
    for run in (alike, apart):
        assert run.scores.tolist() == [rugged(mask) for mask in run.supports]
        assert run.objective >= run.initial_objective
    expected = apart.scores.mean() + 50.0 * np.mean(
        [jaccard_distance(apart.supports[i], apart.supports[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    )
    assert apart.objective == pytest.approx(expected)
    assert apart.to_frame().shape == (3, 2 + N)


def test_the_pool_uses_predictions():
    values = np.random.default_rng(1).normal(size=(20, N))
    run = refine_pool(lambda mask: 0.0, np.tile(np.eye(N, dtype=bool)[0], (2, 1)), predict=lambda mask: values @ mask,
                      feature_diversity=0.0, prediction_diversity=1.0, random_state=0)  # fmt: skip
    a, b = (values @ mask for mask in run.supports)
    assert run.prediction_diversity == pytest.approx((1 - np.corrcoef(a, b)[0, 1]) / 2)
    assert run.objective == pytest.approx(run.prediction_diversity)


def test_distances_by_hand():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([3.0, 2.0, 1.0])
    assert prediction_distance(a, a) == pytest.approx(0)
    assert prediction_distance(a, b) == pytest.approx(1)
    assert prediction_distance(a, np.ones(3)) == 1.0
    assert jaccard_distance(np.zeros(2, bool), np.zeros(2, bool)) == 0.0
