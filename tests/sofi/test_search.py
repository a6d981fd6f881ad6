"""The search finds what it claims: by hand, against all rankings, and never worse than climbing."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explicate.sofi import curve_auc, degradation_score, hill_climbing, noise_onset
from explicate.sofi.lattice import best_order, exact_order, window_order
from explicate.sofi.objective import Objective
from explicate.sofi.search import Budget, ExactCost, _affordable_width, _starts, descend, find_ranking


class TableResponse:
    """A response given by a table of all sets; counts what it is asked."""

    def __init__(self, table):
        self.values = np.asarray(table, dtype=float)
        self.n_features = int(np.log2(len(self.values)))
        self.asked = 0

    def __call__(self, sets):
        self.asked += len(sets)
        return self.values[sets.astype(int) @ (1 << np.arange(self.n_features))]

    def set_seconds(self):
        return 1e-6


def random_response(n, seed):
    return TableResponse(np.random.default_rng(seed).random(1 << n))


def greedy(objective, generator):
    return objective.greedy_order()


def test_score_by_hand():
    # R: nothing gone 1, feature 0 gone 0.2, feature 1 gone 0.9, both gone 0.
    objective = Objective.from_response(TableResponse([1.0, 0.2, 0.9, 0.0]))
    assert objective.evaluate([0, 1]).ds == pytest.approx((0.9 - 0.2) / 2)
    assert objective.evaluate([1, 0]).ds == pytest.approx((0.2 - 0.9) / 2)
    assert objective.evaluate([0, 1]).morf == [1.0, 0.2, 0.0]
    assert objective.evaluate([0, 1]).lerf == [1.0, 0.9, 0.0]
    assert objective.anchors_ == (1.0, 0.0)
    assert objective.greedy_order() == [0, 1]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 7), st.integers(0, 10_000))
def test_no_ranking_beats_the_exact_one(n, seed):
    response = random_response(n, seed)
    objective = Objective.from_response(response)
    best = max(objective.evaluate(order).ds for order in permutations(range(n)))
    found = objective.evaluate(exact_order(response.values, n))
    assert found.ds == pytest.approx(best, abs=1e-12)
    assert sorted(found.order) == list(range(n))


@settings(max_examples=10, deadline=None)
@given(st.integers(8, 11), st.integers(0, 1000))
def test_exact_is_above_random_and_climbed_rankings(n, seed):
    response = random_response(n, seed)
    budget = Budget(max_iterations=120)
    exact, objective = find_ranking(response, greedy, search="exact", budget=budget, seed=seed)
    climbed, _ = find_ranking(response, greedy, search="hill_climbing", budget=budget, seed=seed)
    assert exact.is_optimal
    assert not climbed.is_optimal
    assert exact.best.ds >= climbed.best.ds - 1e-12
    generator = np.random.default_rng(seed)
    assert all(objective.evaluate(generator.permutation(n)).ds <= exact.best.ds + 1e-12 for _ in range(50))


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 9), st.integers(0, 1000), st.integers(0, 60))
def test_auto_without_proof_is_never_worse_than_climbing(n, seed, iterations):
    budget = Budget(max_iterations=iterations, max_exact_seconds=0.0)
    auto, _ = find_ranking(random_response(n, seed), greedy, search="auto", budget=budget, seed=seed)
    climbed, _ = find_ranking(random_response(n, seed), greedy, search="hill_climbing", budget=budget, seed=seed)
    assert auto.search == "descent"
    assert "max_exact_seconds=0" in auto.reason
    assert auto.best.ds >= climbed.best.ds - 1e-12


def test_auto_proves_when_it_is_affordable():
    found, _ = find_ranking(random_response(6, 0), greedy, search="auto", budget=Budget(), seed=0)
    assert found.is_optimal
    assert found.search == "exact"


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 100), st.integers(0, 4), st.integers(2, 4))
def test_a_window_is_arranged_in_the_best_way(seed, start, width):
    objective = Objective.from_response(random_response(8, seed))
    order = np.random.default_rng(seed).permutation(8).tolist()
    found = window_order(objective, order, start, width)
    assert found[:start] == order[:start]
    assert found[start + width :] == order[start + width :]
    rivals = [
        [*order[:start], *middle, *order[start + width :]] for middle in permutations(order[start : start + width])
    ]
    best = max(objective.evaluate(rival).ds for rival in rivals)
    assert objective.evaluate(found).ds == pytest.approx(best, abs=1e-12)


def test_windows_are_as_wide_as_the_seconds_allow_and_cover_every_position():
    assert _affordable_width(30, 1e-6, 30.0) == 6
    assert _affordable_width(30, 0.2, 30.0) == 2
    assert _affordable_width(30, 0.03, 30.0) in {3, 4, 5}
    for n in range(2, 14):
        for width in range(2, min(n, 6) + 1):
            starts = _starts(n, width)
            assert {start + k for start in starts for k in range(width)} == set(range(n))
            assert starts == sorted(set(starts))
    response = random_response(9, 0)
    response.set_seconds = lambda: 1e3
    found, _ = find_ranking(response, greedy, search="auto", budget=Budget(), seed=0)
    assert found.reason.endswith("windows of 2")


def test_descent_ends_where_no_adjacent_swap_helps():
    objective = Objective.from_response(random_response(9, 3))
    end = descend(objective, list(range(9)), width=2)
    for i in range(8):
        swapped = list(end.order)
        swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
        assert objective.evaluate(swapped).ds <= end.ds + 1e-12


def test_work_too_large_is_refused_before_it_starts_with_the_parameter_to_change():
    response = random_response(8, 0)
    with pytest.raises(ValueError, match=r"2\^8 sets would take about .* max_exact_seconds=0; raise that limit"):
        find_ranking(response, greedy, search="exact", budget=Budget(max_exact_seconds=0.0), seed=0)
    with pytest.raises(ValueError, match=r"above max_memory=1e-06 GB"):
        find_ranking(response, greedy, search="exact", budget=Budget(max_memory=1000.0), seed=0)
    assert response.asked == 0
    assert "27 features make" in ExactCost(0.0, 0.0).refusal(27, Budget())


def test_each_set_is_asked_for_once_and_a_swap_costs_only_the_sets_it_changes():
    response = random_response(10, 0)
    objective = Objective.from_response(response)
    order = list(range(10))
    objective.evaluate(order)
    before = response.asked
    objective.evaluate([0, 1, 3, 2, *range(4, 10)])
    assert response.asked - before == 2
    objective.evaluate([0, 4, 2, 3, 1, *range(5, 10)])
    assert response.asked - before <= 2 + 2 * 3
    before = response.asked
    objective.evaluate(order)
    assert response.asked == before
    assert objective.n_sets == response.asked


@settings(max_examples=20, deadline=None)
@given(
    st.integers(2, 8),
    st.integers(0, 1000),
    st.integers(0, 80),
    st.none() | st.integers(1, 9),
    st.integers(0, 3),
    st.booleans(),
)
def test_proposing_ahead_does_not_change_what_is_accepted(n, seed, iterations, patience, restarts, equal):
    def climb(ahead):
        objective = Objective.from_response(random_response(n, seed))
        return hill_climbing(
            n,
            objective.evaluate,
            list(range(n)),
            max_iterations=iterations,
            patience=patience,
            n_restarts=restarts,
            accept_equal=equal,
            rng=np.random.default_rng(seed),
            prefetch=objective.prefetch if ahead else None,
        )

    one, two = climb(True), climb(False)
    assert one["evaluation"].order == two["evaluation"].order
    assert one["history"] == two["history"]
    assert one["n_restarts_used"] == two["n_restarts_used"] <= restarts


def test_features_beyond_a_machine_word():
    class Additive:
        n_features = 90
        weight = np.random.default_rng(0).random(90)

        def __call__(self, sets):
            return 1.0 - sets @ self.weight / 90

        def set_seconds(self):
            return 1e-6

    found, _ = find_ranking(Additive(), greedy, search="auto", budget=Budget(max_iterations=10), seed=0)
    assert found.best.order == np.argsort(-Additive.weight, kind="stable").tolist()


@settings(max_examples=15, deadline=None)
@given(st.permutations(range(6)), st.integers(0, 500))
def test_renaming_features_renames_the_optimum(order, seed):
    table = np.random.default_rng(seed).random(64)
    moved = np.empty(64)
    for mask in range(64):
        moved[sum(1 << order.index(i) for i in range(6) if mask >> i & 1)] = table[mask]
    straight = Objective.from_response(TableResponse(table)).evaluate(exact_order(table, 6))
    renamed = Objective.from_response(TableResponse(moved)).evaluate(exact_order(moved, 6))
    assert renamed.ds == pytest.approx(straight.ds, abs=1e-12)
    assert [order[i] for i in renamed.order] == straight.order


def test_one_feature_and_flat_responses():
    assert best_order(np.zeros(2), 1) == [0]
    found, _ = find_ranking(TableResponse([1.0, 0.3]), greedy, search="auto", budget=Budget(), seed=0)
    assert found.best.order == [0]
    assert found.is_optimal
    flat = Objective.from_response(TableResponse(np.ones(8)))
    assert flat.anchors_ == (1.0, 1.0)
    assert flat.evaluate([2, 0, 1]).ds == 0.0


def test_scale_widens_only_when_the_response_climbs_by_a_tenth_of_the_span():
    assert Objective.from_response(TableResponse([1.0, 1.05, 0.5, 0.0])).anchors_ == (1.0, 0.0)
    widened = Objective.from_response(TableResponse([1.0, 1.5, 0.5, 0.0]))
    assert widened.anchors_ == (1.5, 0.0)


def test_curves_are_scored_by_the_trapezoid_rule():
    assert curve_auc([1.0, 0.5, 0.0]) == 0.5
    assert curve_auc([0.7]) == 0.7
    assert degradation_score([1, 0, 0], [1, 1, 0]) == pytest.approx(0.5)
    assert noise_onset([1, 0.1, 0.3]) == 1
    assert noise_onset([1, 0.1, 0.11]) is None
    with pytest.raises(ValueError, match="curves of equal length"):
        degradation_score([1], [1, 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iterations": -1}, "max_iterations=-1 is out of range"),
        ({"patience": 0}, "patience=0 is out of range"),
        ({"n_restarts": -1}, "n_restarts=-1 is out of range"),
    ],
)
def test_bad_budgets_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        hill_climbing(2, Objective.from_response(random_response(2, 0)).evaluate, [0, 1], **options)
