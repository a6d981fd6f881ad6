from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from explicate.prototypes import (
    APete,
    GowerDistance,
    GreedyKMedoids,
    SubmodularAdaptive,
    TreeDistance,
    score_prototypes,
)

SELECTORS = [(GreedyKMedoids, 3), (SubmodularAdaptive, 7), (APete, 0.05)]


@pytest.mark.global_random
@parametrize_with_checks(
    [
        GreedyKMedoids(GowerDistance(), 8),
        SubmodularAdaptive(GowerDistance(), 30),
        APete(GowerDistance(), 0.0, max_prototypes=30),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def published(model, X, kind, parameter):
    """Oracle: the published pseudo-code, rows indexed in the whole table, all pairs and full scans."""
    leaves = model.apply(X)
    distances = 1 - (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    predicted = model.predict(X)
    classes = np.unique(predicted)
    current = {c: np.ones((predicted == c).sum()) for c in classes}
    chosen = {c: [] for c in classes}

    def best(c):
        rows = np.flatnonzero(predicted == c)
        gains = np.round([np.maximum(current[c] - distances[rows, j], 0).sum() for j in rows], 9)
        return gains.max(), rows[int(np.argmax(gains))], rows

    def add(c):
        gain, row, rows = best(c)
        chosen[c].append(int(row))
        current[c] = np.minimum(current[c], distances[rows, row])
        return gain, int(row)

    if kind is GreedyKMedoids:
        return [add(c)[1] for c in classes for _ in range(parameter)]
    order, before = [], 0.0
    for _ in range(parameter if kind is SubmodularAdaptive else 1000):
        c = classes[int(np.argmax([best(c)[0] for c in classes]))]
        gain, row = add(c)
        order.append(row)
        if kind is APete and (gain == 0 or abs(before - gain) / gain <= parameter):
            break
        before = gain
    return order


@pytest.mark.parametrize(("kind", "parameter"), SELECTORS)
def test_same_prototypes_as_the_published_algorithms_indexed_right(wine, forest, kind, parameter):
    X = wine[0]
    ours = kind(forest, parameter, per_class_minimum=0).fit(X)
    assert ours.prototype_indices_.tolist() == published(forest, X, kind, parameter)
    assert (forest.predict(X)[ours.prototype_indices_] == ours.prototype_classes_).all()


@pytest.mark.parametrize(("kind", "parameter"), SELECTORS)
@pytest.mark.parametrize("role", ["diversity", "similarity"])
def test_objective_is_eq_6_with_a_phantom(wine, forest, kind, parameter, role):
    X = wine[0]
    phi = np.random.default_rng(0).normal(size=X.shape)
    selector = kind(forest, parameter, beta=0.7, fi_role=role, attributions=phi).fit(X)
    share = phi**2 / (phi**2).sum(axis=1, keepdims=True)
    sign = 1 if role == "diversity" else -1
    p = selector.prototype_indices_
    cost = TreeDistance(forest).pairwise(X)[:, p] + sign * 0.7 * share @ share[p].T
    cost[forest.predict(X)[:, None] != selector.prototype_classes_[None, :]] = np.inf
    assert np.isclose(selector.objective_, np.minimum(cost.min(axis=1), 1).sum(), rtol=1e-5)
    assert np.isclose(selector.gains_.sum(), len(X) - selector.objective_)


@pytest.mark.parametrize(("kind", "parameter"), SELECTORS)
def test_prediction_is_the_nearest_prototype_over_all_classes(wine, forest, kind, parameter):
    X = wine[0]
    selector = kind(forest, parameter).fit(X)
    distances = selector.transform(X)
    assert distances.dtype == np.float32
    assert np.array_equal(selector.predict(X), selector.prototype_classes_[distances.argmin(axis=1)])
    assert np.allclose(distances, TreeDistance(forest).pairwise(X)[:, selector.prototype_indices_])
    own, _ = selector.nearest(X, same_class=True)
    assert (selector.prototype_classes_[own] == forest.predict(X)).all()


@pytest.mark.parametrize(("kind", "parameter"), SELECTORS)
@pytest.mark.parametrize("beta", [0.0, 0.5])
def test_row_and_column_order_do_not_matter(mixed, kind, parameter, beta):
    X, _, model = mixed
    phi = pd.DataFrame(np.random.default_rng(1).normal(size=X.shape), index=X.index)
    order = np.random.default_rng(2).permutation(len(X))

    def fitted(rows):
        return kind(model, parameter, beta=beta, attributions=phi.loc[rows.index].to_numpy()).fit(rows)

    a = fitted(X)
    b = fitted(X.iloc[order])
    assert np.isclose(a.gains_[0], b.gains_[0])  # ties aside, the same rows
    if beta:
        assert set(a.prototype_labels_) == set(b.prototype_labels_)
        assert np.isclose(a.objective_, b.objective_)
    gower = kind(GowerDistance(), parameter).fit(X, model.predict(X))
    turned = kind(GowerDistance(), parameter).fit(X[X.columns[::-1]], model.predict(X))
    assert np.isclose(gower.objective_, turned.objective_)


def test_index_labels_rows_and_attributes_are_the_users(mixed):
    X, _, model = mixed
    before = X.copy()
    selector = GreedyKMedoids(model, 2, beta=0.5).fit(X)
    assert selector.prototypes_.equals(X.iloc[selector.prototype_indices_])
    assert selector.prototype_labels_.tolist() == X.index[selector.prototype_indices_].tolist()
    assert selector.feature_names_in_.tolist() == X.columns.tolist()
    assert selector.classes_.tolist() == ["no", "yes"]
    assert X.equals(before)


def test_array_and_frame_agree_and_inputs_may_be_read_only(iris):
    X, y = iris
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    frozen = X.copy()
    frozen.setflags(write=False)
    a = GreedyKMedoids(model, 2, beta=0.3).fit(frozen)
    named = RandomForestClassifier(10, random_state=0).fit(pd.DataFrame(X, columns=list("abcd")), y)
    b = GreedyKMedoids(named, 2, beta=0.3).fit(pd.DataFrame(X, columns=list("abcd")))
    assert np.array_equal(a.prototype_indices_, b.prototype_indices_)


def test_clone_keeps_the_fitted_model(wine, forest):
    copy = clone(GreedyKMedoids(forest, 2))
    assert copy.model is forest
    assert copy.fit(wine[0]).predict(wine[0]).shape == (178,)
    with pytest.raises(NotFittedError):
        GreedyKMedoids(forest).predict(wine[0])


def test_every_predicted_class_is_served():
    X = np.concatenate([np.zeros((30, 1)) + np.arange(30)[:, None] / 10, [[100.0]]])
    labels = np.array(["many"] * 30 + ["one"])
    for selector in (SubmodularAdaptive(GowerDistance(), 2), APete(GowerDistance(), 1e9)):
        assert set(selector.fit(X, labels).prototype_classes_) == {"many", "one"}
        bare = clone(selector).set_params(per_class_minimum=0).fit(X, labels)
        assert bare.prototype_classes_[0] == "many"
    with pytest.raises(ValueError, match="n_prototypes=1 is fewer than per_class_minimum"):
        SubmodularAdaptive(GowerDistance(), 1).fit(X, labels)


def test_a_class_that_cannot_have_its_minimum_leaves_the_rest_to_others():
    X = np.array([[0.0], [0.0], [0.0], [5.0], [6.0], [9.0], [12.0]])
    labels = np.array(["a"] * 3 + ["b"] * 4)
    selector = SubmodularAdaptive(GowerDistance(), 4, per_class_minimum=2).fit(X, labels)
    assert selector.prototype_classes_.tolist().count("a") == 1
    assert selector.prototype_classes_.tolist().count("b") == 3
    assert selector.notes_ == ["class a: 1 prototype(s) instead of 2; no other row of it adds anything"]
    penalised = clone(selector).set_params(beta=50.0, attributions=np.ones((7, 1))).fit(X, labels)
    assert sorted(penalised.prototype_classes_) == ["a", "b"]  # none gains, each class is served once
    assert "2 prototype(s) instead of 4; no other row adds anything" in penalised.notes_


def test_weighted_gains_count_relative_to_class_size():
    X = np.concatenate([np.linspace(0, 10, 40), [4.0, 9.0]])[:, None]
    labels = np.array(["large"] * 40 + ["small"] * 2)
    plain = SubmodularAdaptive(GowerDistance(), 3, per_class_minimum=0).fit(X, labels)
    weighted = SubmodularAdaptive(GowerDistance(), 3, weighted=True, per_class_minimum=0).fit(X, labels)
    assert (plain.prototype_classes_ == "small").sum() < (weighted.prototype_classes_ == "small").sum()


@pytest.mark.parametrize(("kind", "parameter"), SELECTORS)
def test_duplicates_and_single_leaf_give_fewer_prototypes_and_a_note(kind, parameter):
    X = np.array([[0.0], [0.0], [0.0], [5.0], [5.0], [9.0]])
    labels = np.array([0, 0, 0, 0, 0, 1])
    selector = kind(GowerDistance(), parameter).fit(X, labels)
    rows = X[selector.prototype_indices_, 0]
    assert len(set(zip(rows, selector.prototype_classes_, strict=True))) == len(rows)
    assert set(selector.prototype_classes_) == {0, 1}
    stump = RandomForestClassifier(5, max_depth=1, min_samples_leaf=len(X), random_state=0).fit(X, labels)
    one_leaf = GreedyKMedoids(stump, 3).fit(X)
    assert len(one_leaf.prototype_indices_) == 1
    assert one_leaf.notes_[0] == "never predicted on these rows, so without prototype: class 1"
    assert "1 prototype(s) instead of 3" in one_leaf.notes_[1]


def test_penalty_that_leaves_no_gain_still_serves_each_class():
    X, labels = np.array([[0.0], [1.0], [5.0]]), ["a", "a", "b"]
    phi = np.ones((3, 1))
    selector = GreedyKMedoids(GowerDistance(), 2, beta=10.0, attributions=phi).fit(X, labels)
    assert set(selector.prototype_classes_) == {"a", "b"}
    assert selector.objective_ == 3.0


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_polish_is_never_worse(wine, forest, beta):
    X = wine[0]
    phi = np.random.default_rng(3).normal(size=X.shape)
    for k in (1, 4, 100):
        for distance in ("tree", "gower"):
            greedy = GreedyKMedoids(forest, k, distance=distance, beta=beta, attributions=phi).fit(X)
            polished = clone(greedy).set_params(polish=True).fit(X)
            assert polished.objective_ <= greedy.objective_ + 1e-9
            assert len(polished.prototype_indices_) <= len(greedy.prototype_indices_)


def test_polish_reaches_the_best_pair_greedy_misses():
    # Greedy takes the middle of five points first; the best two medoids are the quarter points.
    X = np.array([[0.0], [0.1], [0.5], [0.9], [1.0]])
    labels = ["a"] * 5
    greedy = GreedyKMedoids(GowerDistance(), 2).fit(X, labels)
    polished = GreedyKMedoids(GowerDistance(), 2, polish=True).fit(X, labels)
    assert greedy.objective_ > polished.objective_
    assert np.isclose(polished.objective_, 0.6)


@pytest.mark.parametrize(("kind", "parameter"), SELECTORS)
def test_polished_prototypes_are_listed_class_by_class_with_the_gains_of_their_greedy_order(
    wine, forest, kind, parameter
):
    X = wine[0]
    polished = kind(forest, parameter, polish=True).fit(X)
    assert (np.diff(np.searchsorted(polished.classes_, polished.prototype_classes_)) >= 0).all()
    assert np.isclose(polished.gains_.sum(), len(X) - polished.objective_, rtol=1e-6)
    for label in polished.classes_:
        assert (np.diff(polished.gains_[polished.prototype_classes_ == label]) <= 1e-9).all()


def test_polish_without_its_package_is_named(wine, forest, monkeypatch):
    monkeypatch.setitem(sys.modules, "kmedoids", None)
    with pytest.raises(ImportError, match="set polish=False"):
        GreedyKMedoids(forest, 3, polish=True).fit(wine[0])


def test_other_models_are_explained_by_features(iris):
    X, y = iris
    model = SVC(random_state=0).fit(X, y)
    selector = GreedyKMedoids(model, 4).fit(X)
    assert isinstance(selector.distance_, GowerDistance)
    assert (selector.predict(X) == model.predict(X)).mean() > 0.9


def test_boosting_and_importance_at_prediction(iris):
    X, y = iris
    X, y = X[:100], y[:100]
    model = GradientBoostingClassifier(n_estimators=8, random_state=0).fit(X, y)
    selector = GreedyKMedoids(model, 2, beta=0.5, fi_at_prediction=True).fit(X)
    assert (selector.predict(X) == model.predict(X)).mean() > 0.9
    fixed = GreedyKMedoids(model, 2, beta=0.5, fi_at_prediction=True, attributions=np.ones(X.shape)).fit(X)
    with pytest.raises(ValueError, match="attributions is an array of the rows of fit"):
        fixed.predict(X)


def test_regressor_is_explained_by_bands_of_its_prediction():
    X = np.linspace(0, 1, 60)[:, None]
    model = RandomForestRegressor(10, min_samples_leaf=5, random_state=0).fit(X, X[:, 0] * 30)
    selector = GreedyKMedoids(model, 5, n_bands=3).fit(X)
    assert len(selector.classes_) == 3
    assert selector.classes_[0].startswith("1: ≤")
    assert (selector.to_classes([0.0, 15.0, 30.0]) == selector.classes_).all()
    assert (selector.predict(X) == selector.model_classes(X)).mean() > 0.9
    constant = RandomForestRegressor(2, random_state=0).fit(X, np.ones(60))
    assert GreedyKMedoids(constant, 2).fit(X).classes_.tolist() == ["1: all"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": -1}, "beta=-1"),
        ({"fi_role": "both"}, "fi_role='both'"),
        ({"distance": "euclid"}, "distance='euclid'"),
        ({"attributions": "lime"}, "attributions='lime'"),
        ({"n_prototypes": 0}, "n_prototypes=0"),
        ({"beta": 1.0, "attributions": np.ones((3, 13))}, r"attributions have shape \(3, 13\) and X has \(178, 13\)"),
    ],
)
def test_bad_parameters_are_named(wine, forest, parameters, message):
    with pytest.raises(ValueError, match=message):
        GreedyKMedoids(forest).set_params(**parameters).fit(wine[0])


@pytest.mark.parametrize("attributions", [np.ones((178, 4)), lambda rows: np.ones((len(rows), 4))])
def test_attributions_have_one_column_per_feature(wine, forest, attributions):
    with pytest.raises(ValueError, match=r"attributions have shape \(178, 4\)"):
        GreedyKMedoids(forest, 2, beta=1.0, attributions=attributions).fit(wine[0])


def test_distance_that_is_no_distance_is_refused(wine, forest):
    with pytest.raises(TypeError, match="has type function; give 'auto', 'tree', 'gower' or a Distance"):
        GreedyKMedoids(forest, 2, distance=lambda a, b: 0).fit(wine[0])


class Duck:
    """A model that is no scikit-learn estimator."""

    def __init__(self, answer):
        self.predict = answer


@pytest.mark.parametrize("beta", [0.0, 1.0])
@pytest.mark.parametrize(
    "answer",
    [
        lambda rows: np.where(np.asarray(rows)[:, 0] > 13, "big", "small"),
        lambda rows: ["big" if row[0] > 13 else "small" for row in np.asarray(rows)],
        lambda rows: np.where(np.asarray(rows)[:, [0]] > 13, 1, -1),
    ],
    ids=["strings", "list", "column"],
)
def test_a_model_needs_only_predict(wine, answer, beta):
    X = wine[0]
    selector = GreedyKMedoids(Duck(answer), 4, beta=beta).fit(X)
    assert isinstance(selector.distance_, GowerDistance)
    assert (selector.predict(X) == np.asarray(answer(X)).ravel()).mean() > 0.7


def test_what_is_no_model_or_predicts_two_outputs_is_named(wine, iris):
    with pytest.raises(TypeError, match="has no predict; give a fitted model or a Distance"):
        GreedyKMedoids(lambda rows: rows, 2).fit(wine[0])
    X, y = iris
    two = RandomForestClassifier(3, random_state=0).fit(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match=r"RandomForestClassifier predicts an array of shape \(150, 2\)"):
        GreedyKMedoids(two, 2).fit(X)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes", "may"], dtype=object),
        np.array([True, True, False]),
        np.array([-5, -4, 7]),
        np.array([0.0, 1.0, 2.0]),
        pd.Categorical(["k", "l", "m"]),
        pd.array(["k", "l", "m"], dtype="string[pyarrow]"),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_any_kind_stay_as_they_are(iris, labels):
    X, y = iris
    selector = GreedyKMedoids(RandomForestClassifier(8, random_state=0).fit(X, labels[y]), 3, beta=0.5).fit(X)
    assert set(selector.classes_.tolist()) == set(np.asarray(labels).tolist())
    assert score_prototypes(selector, X, labels[y]).metrics()["accuracy"] > 0.9


def test_a_class_never_predicted_has_no_prototype_and_rows_may_be_one(iris):
    X, y = iris
    model = RandomForestClassifier(5, max_depth=1, random_state=0).fit(np.vstack([X, X[:1]]), np.append(y, 9))
    selector = GreedyKMedoids(model, 2).fit(X)
    assert 9 not in selector.classes_
    assert "never predicted on these rows, so without prototype: class 2, 9" in selector.notes_
    assert GreedyKMedoids(model, 2).fit(X[:1]).predict(X[:1]).shape == (1,)


def test_repeated_index_labels_are_kept(iris):
    X = pd.DataFrame(iris[0], columns=list("abcd"), index=[7] * 150)
    model = RandomForestClassifier(8, random_state=0).fit(X, iris[1])
    selector = GreedyKMedoids(model, 2).fit(X)
    assert selector.prototype_labels_.tolist() == [7] * 6
    assert selector.prototypes_.equals(X.iloc[selector.prototype_indices_])


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_boosting_libraries_are_read(iris, library, kind):
    module = pytest.importorskip(library)
    X, y = iris
    name = ("XGB" if library == "xgboost" else "LGBM") + kind
    quiet = {} if library == "xgboost" else {"verbose": -1}
    model = getattr(module, name)(n_estimators=4, n_jobs=1, **quiet).fit(X, y)
    selector = GreedyKMedoids(model, 4, beta=0.3, fi_role="similarity").fit(X)
    assert isinstance(selector.distance_, TreeDistance)
    assert (selector.predict(X) == selector.model_classes(X)).mean() > 0.8


def test_memory_limit_is_checked_first(wine, forest):
    with pytest.raises(MemoryError, match="give fewer rows or raise max_memory"):
        GreedyKMedoids(forest, max_memory=1000.0).fit(wine[0])


@pytest.mark.parametrize(("kind", "parameter"), SELECTORS)
@pytest.mark.parametrize("beta", [0.0, 1.0])
@pytest.mark.parametrize("booster", [False, True])
def test_pairs_kept_or_computed_when_needed_give_the_same(wine, forest, kind, parameter, beta, booster):
    X, y = wine
    model = GradientBoostingClassifier(n_estimators=5, random_state=0).fit(X, y) if booster else forest
    phi = np.random.default_rng(4).normal(size=X.shape)
    kept = kind(model, parameter, beta=beta, fi_role="similarity", attributions=phi).fit(X)
    spared = clone(kept).set_params(max_memory=6e4).fit(X)
    assert np.array_equal(kept.prototype_indices_, spared.prototype_indices_)
    assert np.array_equal(kept.gains_, spared.gains_)


def test_classes_are_needed_with_a_distance():
    with pytest.raises(ValueError, match="requires y to be passed"):
        GreedyKMedoids(GowerDistance()).fit([[0.0], [1.0]])


def test_classes_given_with_a_distance_keep_their_kind_and_may_not_be_missing():
    X = [[0.0], [1.0], [2.0]]
    selector = GreedyKMedoids(GowerDistance(), 1).fit(X, pd.array([3, 5, 5], dtype="Int64"))
    assert selector.classes_.dtype.kind in "iO"
    assert selector.classes_.tolist() == [3, 5]
    for labels in (["a", None, "b"], pd.array(["a", None, "b"], dtype="string"), pd.array([1, None, 2], dtype="Int64")):
        with pytest.raises(ValueError, match=r"y holds missing values|y contains NaN"):
            GreedyKMedoids(GowerDistance(), 1).fit(X, labels)
