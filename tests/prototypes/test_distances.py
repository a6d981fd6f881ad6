from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.tree import DecisionTreeClassifier

from explicate.prototypes import Distance, GowerDistance, GreedyKMedoids, TreeDistance


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_forest_distance_is_the_share_of_trees_without_a_common_leaf(iris, kind):
    X, y = iris
    model = kind(12, random_state=0).fit(X, y)
    leaves = model.apply(X)
    expected = 1 - (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    assert np.allclose(TreeDistance(model).pairwise(X), expected, atol=1e-6)


def test_stumps_by_hand():
    # Two stumps split at 0.5 in either column: rows agree in both, one or none of the trees.
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    model = GradientBoostingClassifier(n_estimators=2, max_depth=1, learning_rate=1.0, random_state=0)
    model.fit(np.repeat(X, 5, axis=0), np.repeat([0, 1, 1], 5))
    forest = RandomForestClassifier(1, bootstrap=False, max_depth=1, max_features=None, random_state=0)
    forest.fit(X[:, :1], [0, 0, 1])
    assert TreeDistance(forest).pairwise(X[:, :1]).tolist() == [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    assert np.allclose(np.diag(TreeDistance(model).pairwise(X)), 0)


def test_boosted_trees_weigh_as_the_training_variance_of_their_output(iris):
    X, y = iris
    X, y = X[:100], y[:100]
    model = GradientBoostingClassifier(n_estimators=5, learning_rate=0.3, random_state=0).fit(X, y)
    variance = np.array([0.3**2 * tree.predict(X).var() for tree in model.estimators_[:, 0]])
    leaves = model.apply(X)[:, :, 0]
    shared = (leaves[:, None, :] == leaves[None, :, :]) @ (variance / variance.sum())
    assert np.allclose(TreeDistance(model).pairwise(X), 1 - shared, atol=1e-6)


def test_trees_of_all_classes_count(iris):
    X, y = iris
    model = HistGradientBoostingClassifier(max_iter=3, max_depth=2, random_state=0).fit(X, y)
    distance = TreeDistance(model)
    assert len(distance.weight) == 9
    assert np.isclose(distance.weight.sum(), 1)


@pytest.mark.parametrize("which", ["tree", "gower"])
def test_sums_and_columns_within_match_all_pairs(mixed, which):
    X, _, model = mixed
    distance = TreeDistance(model) if which == "tree" else GowerDistance().fit(X)
    codes = distance.encode(X)
    near = distance.within(codes)
    similarity = 1 - distance.between(codes, codes, dtype=float)
    columns = near.pairs()
    assert np.array_equal(columns, near.rows(np.arange(near.n_rows)))
    assert np.allclose(columns / near.total, similarity)
    assert np.allclose(near.sums, columns.sum(axis=0))


def test_leaf_renumbering_changes_nothing(iris):
    X, y = iris
    model = RandomForestClassifier(8, random_state=1).fit(X, y)
    distance = TreeDistance(model)
    codes = distance.encode(X)
    relabelled = np.random.default_rng(0).permutation(distance.trees.n_nodes).astype(np.int32)[codes]
    assert np.array_equal(distance.similarity(codes, codes), distance.similarity(relabelled, relabelled))
    some = np.array([3, 7])
    assert np.array_equal(distance.within(codes).rows(some), distance.within(relabelled).rows(some))


def test_gower_by_hand():
    X = pd.DataFrame({"n": [0.0, 5.0, 10.0, None], "c": ["a", "b", None, None], "b": [True, True, False, False]})
    found = GowerDistance().fit(X).pairwise(X)
    expected = np.array([[0, 1.5, 3, 3], [1.5, 0, 2.5, 3], [3, 2.5, 0, 1], [3, 3, 1, 0]]) / 3
    assert np.allclose(found, expected)


def test_gower_is_the_mean_over_features_pair_by_pair(mixed):
    X = mixed[0].iloc[:25].copy()
    X.loc[X.index[3], "number"] = np.nan
    X.loc[X.index[4:6], "kind"] = None
    X.loc[X.index[5], "count"] = pd.NA
    span = {name: float(X[name].max() - X[name].min()) for name in ("number", "count")}
    expected = np.zeros((25, 25))
    for i in range(25):
        for j in range(25):
            for name in X.columns:
                x, z = X[name].iloc[i], X[name].iloc[j]
                if pd.isna(x) or pd.isna(z):
                    expected[i, j] += pd.isna(x) != pd.isna(z)
                else:
                    expected[i, j] += abs(float(x - z)) / span[name] if name in span else x != z
    assert np.allclose(GowerDistance().fit(X).pairwise(X), expected / X.shape[1], atol=1e-6)


def test_gower_unseen_category_and_value_beyond_the_range():
    distance = GowerDistance().fit(pd.DataFrame({"n": [0.0, 1.0], "c": ["a", "b"]}))
    other = pd.DataFrame({"n": [50.0], "c": ["new"]})
    assert distance.pairwise(pd.DataFrame({"n": [0.0], "c": ["a"]}), other).tolist() == [[1.0]]


def test_infinite_values_are_refused_by_name():
    rows = pd.DataFrame({"n": [0.0, np.inf]})
    with pytest.raises(ValueError, match="column 'n' holds infinite values"):
        GowerDistance().fit(rows)
    with pytest.raises(ValueError, match="column 'n' holds infinite values"):
        GowerDistance().fit(pd.DataFrame({"n": [0.0, 1.0]})).encode(rows)


def test_columns_gower_cannot_compare_are_named():
    distance = GowerDistance().fit(pd.DataFrame({"n": [0.0, 1.0]}))
    with pytest.raises(ValueError, match="column 'n' was numeric in fit and is not now"):
        distance.encode(pd.DataFrame({"n": ["x"]}))
    with pytest.raises(ValueError, match="column 'c' holds values that cannot be told apart"):
        GowerDistance().fit(pd.DataFrame({"c": [[1], [2]]}))


def test_the_largest_numbers_have_a_range():
    assert GowerDistance().fit([[-1e308], [1e308]]).pairwise([[-1e308], [0.0], [1e308]])[0].tolist() == [0, 0.5, 1]


def test_sums_are_right_beyond_the_range_too():
    distance = GowerDistance().fit([[0.0], [1.0]])
    codes = distance.encode([[0.0], [0.5], [4.0], [9.0], [np.nan]])
    near = distance.within(codes)
    assert np.allclose(near.sums, near.pairs().sum(axis=0))
    assert near.sums.tolist() == [1.5, 1.5, 1.0, 1.0, 1.0]


def test_a_distance_of_ones_own_needs_codes_and_similarities(iris):
    class City(Distance):
        def encode(self, X):
            return np.asarray(X, dtype=float)

        def similarity(self, a, b):
            return 1 - np.minimum(np.abs(a[:, None] - b[None]).mean(axis=2) / 4, 1)

    X, y = iris
    selector = GreedyKMedoids(City(), 3).fit(X, y)
    assert (selector.predict(X) == y).mean() > 0.9
    near = selector.distance_.within(X)
    assert np.allclose(near.sums, near.pairs().sum(axis=0))


def test_gower_reads_every_dtype():
    n = 40
    generator = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "flag": generator.random(n) < 0.5,
            "maybe": pd.array([True, None] * (n // 2), dtype="boolean"),
            "count": pd.array([1, None, 3, 4] * (n // 4), dtype="Int64"),
            "kind": pd.Categorical(generator.choice(["x", "y", None], n)),
            "text": pd.array(generator.choice(["p", "q"], n), dtype="string[pyarrow]"),
            "arrow": pd.Series(generator.normal(size=n)).astype("double[pyarrow]"),
            "day": pd.date_range("2020", periods=n),
        }
    )
    d = GowerDistance().fit(X).pairwise(X)
    assert (np.diag(d) == 0).all()
    assert np.isclose(d[0, 1] - d[1, 0], 0)
    assert ((d >= 0) & (d <= 1)).all()


def test_columns_are_matched_by_name(mixed):
    X, _, model = mixed
    shuffled = X[X.columns[::-1]]
    for distance in (TreeDistance(model), GowerDistance().fit(X)):
        assert np.array_equal(distance.encode(X), distance.encode(shuffled), equal_nan=True)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_gower_is_a_bounded_semimetric(rows):
    X = pd.DataFrame(rows, columns=["n", "c"]).astype({"c": str})
    d = GowerDistance().fit(X).pairwise(X)
    assert (np.diag(d) == 0).all()
    assert np.array_equal(d, d.T)
    assert ((d >= 0) & (d <= 1)).all()
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-6).all()


def test_too_large_a_matrix_is_refused_before_work(iris):
    X, y = iris
    with pytest.raises(MemoryError, match="max_memory"):
        TreeDistance(DecisionTreeClassifier(random_state=0).fit(X, y)).pairwise(X, max_memory=1000)
