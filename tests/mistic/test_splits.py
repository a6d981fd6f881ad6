"""Splits keep their promises; scores are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.model_selection import KFold

from explicate.mistic.knee import best_count, find_knee
from explicate.mistic.medoids import column_medoids
from explicate.mistic.scoring import (
    WeightedScore,
    area_under_curve,
    classification_metrics,
    one_class_metrics,
    regression_metrics,
    resolve_scoring,
    score_decisions,
)
from explicate.mistic.splits import IndependentPartitions, OneClassSplit, RepeatedHoldOut, reserve_rows, resolve_splits

Y = np.array(["no"] * 30 + ["yes"] * 10)
X = np.zeros((40, 1))


def test_hold_outs_are_stratified_and_repeat():
    splits = list(RepeatedHoldOut(4, 0.2, random_state=1).split(X, Y))
    assert len(splits) == 4
    for train, test in splits:
        assert set(train) | set(test) == set(range(40))
        assert (Y[test] == "yes").sum() == 2
    again = list(RepeatedHoldOut(4, 0.2, random_state=1).split(X, Y))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(splits, again, strict=True))


def test_one_class_trains_on_inliers_and_meets_every_outlier():
    y = np.where(Y == "yes", -1, 1)
    for train, test in OneClassSplit(3, 0.2, random_state=0).split(X, y):
        assert (y[train] == 1).all()
        assert set(np.flatnonzero(y == -1)) <= set(test)
        assert not set(train) & set(test)


def test_partitions_share_no_row():
    seen = [row for train, test in IndependentPartitions(3, 0.3, random_state=0).split(X, Y) for row in [*train, *test]]
    assert sorted(seen) == list(range(40))
    kept, reserved = reserve_rows(40, Y, 0.25, random_state=0)
    assert sorted([*kept, *reserved]) == list(range(40))
    assert (Y[reserved] == "yes").mean() == pytest.approx(0.25, abs=0.06)


def test_splits_that_cannot_work_are_refused():
    with pytest.raises(ValueError, match=r"class 'yes' has 10 row\(s\), fewer than the cv=11 folds"):
        resolve_splits(11, "classifier", X, Y, 0)
    with pytest.raises(ValueError, match="split 0 of cv has no training row of class 'yes'"):
        resolve_splits([(np.arange(20), np.arange(20, 40))], "classifier", X, Y, 0)
    with pytest.raises(ValueError, match="split 0 of cv has no validation row of class 'yes'"):
        resolve_splits([(np.arange(10, 40), np.arange(10))], "classifier", X, Y, 0)
    with pytest.raises(ValueError, match="makes no split"):
        resolve_splits([], "classifier", X, Y, 0)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4))
def test_metrics_are_scikit_learns(seed, n_classes):
    generator = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), generator.integers(0, n_classes, 20)])
    n_machines = 1 if n_classes == 2 else n_classes * (n_classes - 1) // 2
    decisions = generator.normal(size=(len(codes), n_machines)).round(1)
    found = classification_metrics(codes, decisions, n_classes)
    if n_classes == 2:
        predicted = (decisions[:, 0] > 0).astype(int)
        assert found["auc"] == pytest.approx(metrics.roc_auc_score(codes, decisions[:, 0]))
        assert found["f1"] == pytest.approx(metrics.f1_score(codes, predicted, zero_division=0))
        assert found["accuracy"] == pytest.approx(metrics.accuracy_score(codes, predicted))
    assert 0 <= found["auc"] <= 1


def test_an_anti_correlated_estimate_earns_nothing():
    y = np.arange(10.0)
    assert regression_metrics(y, -y)["squared_correlation"] == 0.0
    assert score_decisions("regressor", y, -y[:, None], np.array([]), WeightedScore(0.5))[0] < 1e-4
    assert regression_metrics(y, y)["r2"] == 1.0


def test_one_class_scores_with_and_without_outliers():
    inlier, decisions = np.array([True, True, True, False]), np.array([1.0, 0.5, -0.1, -1.0])
    assert one_class_metrics(inlier, decisions) == {"inlier_rate": pytest.approx(2 / 3), "auc": 1.0, "f1": 0.8}
    score, _ = score_decisions("one_class", inlier[:3], decisions[:3, None], np.array([]), WeightedScore())
    assert score == pytest.approx(2 / 3)


def test_scorers_see_labels_and_nan_is_refused():
    codes, decisions = np.array([0, 1, 1, 0]), np.array([[-1.0], [2.0], [-0.5], [-2.0]])
    classes = np.array(["no", "yes"])
    score, _ = score_decisions("classifier", codes, decisions, classes, resolve_scoring("accuracy"))
    assert score == 0.75
    score, _ = score_decisions("classifier", codes, decisions, classes, resolve_scoring("roc_auc"))
    assert score == area_under_curve(codes == 1, decisions[:, 0])
    with pytest.raises(ValueError, match="returned nan on 4 validation rows"):
        score_decisions("classifier", codes, decisions, classes, lambda model, X, y: float("nan"))
    with pytest.raises(TypeError, match="is no scorer"):
        resolve_scoring(3)


def test_knee_by_hand_and_where_there_is_none():
    assert find_knee(np.array([4, 3, 2, 1]), np.array([1.0, 0.99, 0.9, 0.2])) == 2
    for counts, scores in (([1, 2], [0.1, 0.9]), ([1, 2, 3], [0.5, 0.5, 0.5]), ([1, 2, 3], [0.0, 0.1, 1.0])):
        with pytest.warns(UserWarning, match="no knee"):
            assert find_knee(np.array(counts), np.array(scores)) == best_count(np.array(counts), np.array(scores))


def test_medoids_are_spread_and_constant_columns_left_out():
    generator = np.random.default_rng(0)
    base = generator.normal(size=(50, 3))
    columns = np.column_stack([base + 0.01 * generator.normal(size=(50, 3)) for _ in range(4)] + [np.ones(50)])
    medoids = column_medoids(columns, 3)
    assert sorted(medoids % 3) == [0, 1, 2]
    assert 12 not in medoids
    assert column_medoids(np.ones((5, 2)), 3).tolist() == [0]


def test_one_class_trains_on_inliers_whatever_the_splitter():
    y = np.where(np.arange(30) % 5 == 0, -1, 1)
    for train, test in resolve_splits(KFold(3), "one_class", np.zeros((30, 1)), y, 0):
        assert (y[train] == 1).all()
        assert (y[test] == -1).any()
