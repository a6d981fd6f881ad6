"""PCFI against a tree solved by hand, a walk over every path, the reference implementation, and its axioms."""

from __future__ import annotations

import json
from pathlib import Path

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import datasets, ensemble, tree
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from explicate.core.labels import EncodedLabels
from explicate.pcfi import held_out_importance, per_class_importance

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())


def reference_data(name):
    if name != "rare":
        return getattr(datasets, f"load_{name}")(return_X_y=True)
    return datasets.make_classification(
        800,
        10,
        n_informative=5,
        n_redundant=2,
        n_classes=4,
        n_clusters_per_class=1,
        weights=[0.75, 0.15, 0.07, 0.03],
        random_state=11,
    )


def forest_of(n_classes=3, seed=0, **keywords):
    X, codes = datasets.make_classification(
        120, 5, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=seed
    )
    keywords = {"n_estimators": 6, "max_depth": 3, "random_state": seed, **keywords}
    return ensemble.RandomForestClassifier(**keywords).fit(X, codes), X, codes


def two_class_impurity(p, criterion):
    if criterion == "gini":
        return 1 - p**2 - (1 - p) ** 2
    return -sum(q * np.log2(q) for q in (p, 1 - p) if q > 0)


def walk_every_path(forest, path_filter=True):
    """Definition, word by word: recursion over one scikit-learn tree after another."""
    n_classes, n_features = len(forest.classes_), forest.n_features_in_
    total = np.zeros((n_classes, n_features))
    for one in forest.estimators_:
        t = one.tree_

        def visit(node, t=t, criterion=one.criterion):
            if t.children_left[node] < 0:
                return {int(np.argmax(t.value[node, 0]))}, np.zeros((n_classes, n_features))
            low, high = t.children_left[node], t.children_right[node]
            (seen_low, sum_low), (seen_high, sum_high) = visit(low), visit(high)
            seen, inner = seen_low | seen_high, sum_low + sum_high
            for c in range(n_classes):
                if c in seen or not path_filter:
                    inner[c, t.feature[node]] += sum(
                        sign * t.weighted_n_node_samples[n] * two_class_impurity(t.value[n, 0, c], criterion)
                        for n, sign in ((node, 1), (low, -1), (high, -1))
                    )
            return seen, inner

        total += visit(0)[1] / t.weighted_n_node_samples[0]
    return total / len(forest.estimators_)


def test_three_nodes_by_hand():
    # 4 of a, 2 of b; x <= 0.5 sends 3 a left, and 1 a, 2 b right.
    X = [[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]]
    stump = tree.DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, ["a", "a", "a", "a", "b", "b"])
    raw = per_class_importance(stump, normalize=None)
    expected = 2 * (4 / 6) * (2 / 6) - (3 / 6) * 2 * (1 / 3) * (2 / 3)
    np.testing.assert_allclose(raw.values, [[expected], [expected]], atol=1e-15)
    assert raw.classes.tolist() == ["a", "b"]
    assert raw.support.tolist() == pytest.approx([4 / 6, 2 / 6])


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
@pytest.mark.parametrize("path_filter", [True, False])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_agrees_with_a_walk_over_every_path(criterion, path_filter, class_weight):
    forest, _, _ = forest_of(4, criterion=criterion, class_weight=class_weight)
    ours = per_class_importance(forest, normalize=None, path_filter=path_filter)
    np.testing.assert_allclose(ours.values, walk_every_path(forest, path_filter), atol=1e-14)


@pytest.mark.parametrize("case", REFERENCE["cases"], ids=lambda case: f"{case['data']}-{len(case['forest'])}")
def test_agrees_with_the_reference_implementation(case):
    X, y = reference_data(case["data"])
    forest = ensemble.RandomForestClassifier(**case["forest"]).fit(X, y)
    ours = per_class_importance(forest)
    assert ours.classes.tolist() == case["classes"]
    np.testing.assert_allclose(ours.values, np.array(case["values"], dtype=float), atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(st.integers(2, 5), st.integers(0, 50))
def test_without_path_filter_the_classes_add_up_to_twice_the_impurity_decrease(n_classes, seed):
    X, codes = np.random.default_rng(seed).normal(size=(60, 4)), np.arange(60) % n_classes
    forest = ensemble.RandomForestClassifier(4, max_depth=4, random_state=seed).fit(X, codes)
    raw = per_class_importance(forest, normalize=None, path_filter=False)
    decrease = np.mean([t.tree_.compute_feature_importances(normalize=False) for t in forest.estimators_], axis=0)
    np.testing.assert_allclose(raw.values.sum(axis=0) / 2, decrease, atol=1e-14)
    np.testing.assert_allclose(raw.overall, decrease, atol=1e-14)


def test_overall_equals_feature_importances_with_tree_normalisation():
    forest, _, _ = forest_of(3, max_depth=None)
    np.testing.assert_allclose(
        per_class_importance(forest, normalize="tree").overall, forest.feature_importances_, atol=1e-14
    )


def test_binary_equals_feature_importances_where_every_split_leads_to_both_classes():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 5)
    y = X[:, 0] != X[:, 1]
    grown = tree.DecisionTreeClassifier(random_state=0).fit(X, y)
    for normalize in ("forest", "tree"):
        values = per_class_importance(grown, normalize=normalize).values
        np.testing.assert_allclose(values, np.tile(grown.feature_importances_, (2, 1)), atol=1e-14)


def test_binary_differs_from_feature_importances_where_a_minority_lacks_leaves():
    X, y = datasets.make_classification(600, 6, weights=[0.95], flip_y=0.02, random_state=4)
    forest = ensemble.RandomForestClassifier(30, max_depth=2, random_state=0).fit(X, y)
    gap = np.abs(per_class_importance(forest).values - forest.feature_importances_).max()
    assert gap > 0.01
    whole = per_class_importance(forest, path_filter=False, normalize="tree").values
    np.testing.assert_allclose(whole, np.tile(forest.feature_importances_, (2, 1)), atol=1e-12)


MODELS = {
    "tree": tree.DecisionTreeClassifier(max_depth=4, random_state=0),
    "extra": ensemble.ExtraTreesClassifier(5, random_state=0),
    "bagging": ensemble.BaggingClassifier(n_estimators=5, max_features=0.6, random_state=0),
    "gradient": ensemble.GradientBoostingClassifier(n_estimators=4, random_state=0),
    "hist": ensemble.HistGradientBoostingClassifier(max_iter=4, random_state=0),
    "xgboost": EncodedLabels(xgboost.XGBClassifier(n_estimators=4)),
    "lightgbm": lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, random_state=0),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("normalize", ["forest", "tree"])
@pytest.mark.parametrize("name", MODELS)
def test_every_ensemble_gives_rows_that_sum_to_one(name, n_classes, normalize):
    _, X, codes = forest_of(n_classes)
    labels = np.array(["north", "south", "west"])[codes]
    result = per_class_importance(MODELS[name].fit(X, labels), normalize=normalize)
    assert result.values.shape == (n_classes, 5)
    assert (result.values >= 0).all()
    np.testing.assert_allclose(result.values.sum(axis=1), 1.0)
    assert result.classes.tolist() == sorted(set(labels))
    if n_classes == 2 and name in ("gradient", "hist", "xgboost", "lightgbm"):
        assert np.array_equal(result.values[0], result.values[1])


def test_boosted_rows_are_the_gains_of_their_own_trees():
    _, X, codes = forest_of(3)
    model = MODELS["gradient"].fit(X, codes)
    rows = [
        np.sum([t.tree_.compute_feature_importances(normalize=False) for t in model.estimators_[:, c]], axis=0)
        for c in range(3)
    ]
    expected = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(per_class_importance(model).values, expected, atol=1e-12)


def test_overall_of_boosted_models_is_what_their_libraries_report():
    _, X, codes = forest_of(3)
    gradient = MODELS["gradient"].fit(X, codes)
    np.testing.assert_allclose(per_class_importance(gradient).overall, gradient.feature_importances_, atol=1e-12)
    light = MODELS["lightgbm"].fit(X, codes)
    gains = light.booster_.feature_importance("gain")
    np.testing.assert_allclose(per_class_importance(light).overall, gains / gains.sum(), atol=1e-12)
    extreme = xgboost.XGBClassifier(n_estimators=4).fit(X, codes)
    scores = extreme.get_booster().get_score(importance_type="total_gain")
    gains = np.array([scores.get(f"f{column}", 0.0) for column in range(5)])
    np.testing.assert_allclose(per_class_importance(extreme).overall, gains / gains.sum(), atol=1e-6)


@settings(max_examples=10, deadline=None)
@given(st.permutations(range(5)))
def test_features_keep_their_importance_when_columns_move(order):
    grown, X, codes = forest_of(3)
    result = per_class_importance(grown, feature_names=list("abcde"))
    one = tree.DecisionTreeClassifier(max_depth=2, random_state=0)  # large nodes: no two splits tie
    straight = per_class_importance(one.fit(X, codes))
    moved = per_class_importance(one.fit(X[:, order], codes))
    np.testing.assert_allclose(moved.values, straight.values[:, order], atol=1e-12)
    assert set(result.rank(1)) == set("abcde")


def test_classes_keep_their_importance_when_labels_change():
    forest, X, codes = forest_of(3, max_depth=1)  # large nodes: neither splits nor majorities tie
    renamed = ensemble.RandomForestClassifier(6, max_depth=1, random_state=0).fit(X, -codes * 10)
    np.testing.assert_allclose(
        per_class_importance(renamed).values, per_class_importance(forest).values[::-1], atol=1e-12
    )


def test_encoded_blocks_are_reported_as_the_features_the_user_knows():
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"kind": generator.choice(list("uvwxyz"), 200), "size": generator.normal(size=200)})
    y = np.where(X["kind"].isin(["u", "w"]), "in", np.where(X["size"] > 0, "big", "small"))
    encoder = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough")
    model = make_pipeline(encoder, ensemble.RandomForestClassifier(8, random_state=0)).fit(X, y)
    result = per_class_importance(model)
    assert result.features == ("kind", "size")
    bare = per_class_importance(model[-1], normalize=None)
    raw = per_class_importance(model, normalize=None)
    np.testing.assert_allclose(raw.values, np.c_[bare.values[:, :6].sum(axis=1), bare.values[:, 6]], atol=1e-14)
    declared = per_class_importance(model[-1], feature_groups={"kind": range(6)})
    assert declared.features == ("kind", "x6")
    np.testing.assert_allclose(declared.values, result.values, atol=1e-14)


def test_groups_are_told_by_the_features_of_the_users_table():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.choice(list("uvw"), (150, 2)), columns=["left", "right"]).assign(
        size=generator.normal(size=150)
    )
    y = np.where(X["left"] == "u", "in", np.where(X["size"] > 0, "big", "small"))
    encoder = make_column_transformer((OneHotEncoder(), ["left", "right"]), remainder="passthrough")
    model = make_pipeline(encoder, ensemble.RandomForestClassifier(8, random_state=0)).fit(X, y)
    single = per_class_importance(model)
    grouped = per_class_importance(model, feature_groups={"sides": ["left", "right"]})
    assert grouped.features == ("sides", "size")
    np.testing.assert_allclose(grouped.values[:, 0], single.values[:, :2].sum(axis=1), atol=1e-14)
    encoded = per_class_importance(model, feature_groups={"u": ["onehotencoder__left_u", "onehotencoder__right_u"]})
    assert len(encoded.features) == 6
    assert per_class_importance(model, feature_groups={"extent": "size"}).features == ("extent", "left", "right")


def test_an_encoder_that_mixes_columns_is_reported_as_encoded():
    _, X, codes = forest_of(3)
    model = make_pipeline(PCA(2, random_state=0), tree.DecisionTreeClassifier(random_state=0)).fit(X, codes)
    assert per_class_importance(model).features == ("pca0", "pca1")


def test_a_class_no_leaf_predicts_is_zero_with_one_warning():
    X = np.arange(40.0)[:, None]
    y = np.array(["common"] * 38 + ["rare"] * 2)
    stump = tree.DecisionTreeClassifier(max_depth=1, min_samples_leaf=10, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match="no leaf predicts 'rare'") as caught:
        result = per_class_importance(stump)
    assert len(caught) == 1
    assert result.values.tolist() == [[1.0], [0.0]]
    assert "rare (5% of training weight): no split counts for this class" in result.summary()
    whole = per_class_importance(stump, path_filter=False)  # no warning: the row is not zero
    assert whole.values.tolist() == [[1.0], [1.0]]


def test_a_tree_of_one_node_counts_as_zero():
    forest, X, codes = forest_of(3)
    lonely = tree.DecisionTreeClassifier(min_samples_split=1.0, max_leaf_nodes=2, random_state=0).fit(X, codes * 0)
    forest.estimators_.append(lonely)
    assert lonely.tree_.node_count == 1
    with_it = per_class_importance(forest, normalize=None)
    forest.estimators_.pop()
    without = per_class_importance(forest, normalize=None)
    np.testing.assert_allclose(with_it.values * 7, without.values * 6, atol=1e-12)


def test_missing_values_in_training_are_counted_where_they_went():
    _, X, codes = forest_of(3)
    X = X.copy()
    X[::3, 1] = np.nan
    gaps = ensemble.RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, codes)
    np.testing.assert_allclose(per_class_importance(gaps, normalize=None).values, walk_every_path(gaps), atol=1e-14)


def test_held_out_with_the_training_rows_is_the_training_importance():
    forest, X, codes = forest_of(3, bootstrap=False)
    np.testing.assert_allclose(
        held_out_importance(forest, X, codes).values, per_class_importance(forest).values, atol=1e-12
    )


def test_held_out_weights_are_row_counts():
    forest, X, codes = forest_of(3)
    twice = held_out_importance(forest, np.r_[X, X[:30]], np.r_[codes, codes[:30]])
    weighted = held_out_importance(forest, X, codes, sample_weight=np.where(np.arange(120) < 30, 2, 1))
    np.testing.assert_allclose(twice.values, weighted.values, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_held_out_rows_remove_the_inflation_of_many_distinct_values(seed):
    generator = np.random.default_rng(seed)
    n = 600
    noise = generator.random(n)
    X = np.column_stack([generator.normal(size=n), generator.integers(0, 2, n), generator.integers(0, 3, n), noise])
    y = (X[:, 0] > 0) + (X[:, 1] > 0) * (generator.random(n) < 0.7) + (X[:, 2] > 1) * (generator.random(n) < 0.5)
    forest = ensemble.RandomForestClassifier(50, random_state=0).fit(X[:300], y[:300])
    in_sample = per_class_importance(forest).overall
    held_out = held_out_importance(forest, X[300:], y[300:]).overall
    assert np.argmin(in_sample) != 3
    assert np.argmin(held_out) == 3
    assert held_out_importance(forest, X[:300], y[:300], out_of_bag=True).overall[3] < in_sample[3]


def test_a_table_is_matched_by_name_and_read_with_its_gaps():
    _, X, codes = forest_of(3)
    table = pd.DataFrame(X, columns=list("abcde")).round().astype("Int64")
    table.iloc[::4, 1] = pd.NA
    plain = table.astype(float).to_numpy()
    forest = ensemble.RandomForestClassifier(5, max_depth=3, random_state=0).fit(table, codes)
    expected = held_out_importance(forest, table, codes)
    assert expected.features == tuple("abcde")
    np.testing.assert_array_equal(held_out_importance(forest, table[list("edcba")], codes).values, expected.values)
    bare = ensemble.RandomForestClassifier(5, max_depth=3, random_state=0).fit(plain, codes)
    np.testing.assert_array_equal(held_out_importance(bare, plain, codes).values, expected.values)
    np.testing.assert_array_equal(per_class_importance(bare).values, per_class_importance(forest).values)
    with pytest.raises(ValueError, match="lacks the column"):
        held_out_importance(forest, table.drop(columns="c"), codes)


def test_a_class_absent_from_held_out_rows_is_said_to_be_absent():
    forest, X, codes = forest_of(3)
    result = held_out_importance(forest, X[codes != 2], codes[codes != 2])
    assert not result.values[2].any()
    assert "2 (0% of rows): no such rows" in result.summary()


def test_out_of_bag_uses_only_the_rows_a_tree_never_saw():
    forest, X, codes = forest_of(3, n_estimators=1)
    outside = np.setdiff1d(np.arange(120), forest.estimators_samples_[0])
    np.testing.assert_allclose(
        held_out_importance(forest, X, codes, out_of_bag=True).values,
        held_out_importance(forest, X[outside], codes[outside]).values,
        atol=1e-14,
    )


def test_a_rare_class_is_seen_where_the_global_importance_hides_it():
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"age": generator.normal(size=2000), "marker": generator.normal(size=2000)})
    y = np.where(X["age"] > 0, "healthy", "ill").astype(object)
    y[(X["marker"] > 1.65)] = "rare"
    forest = ensemble.RandomForestClassifier(20, max_depth=4, random_state=0).fit(X, y)
    result = per_class_importance(forest)
    assert np.argmax(result.overall) == 0
    assert result.rank("healthy")[0] == "age"
    assert result.rank("rare")[0] == "marker"
    assert result.values[2, 1] > 0.9


def test_results_come_as_table_text_metrics_and_picture():
    forest, _, _ = forest_of(3)
    result = per_class_importance(forest, feature_names=["a", "b", "c", "price $", "x" * 80])
    table = result.to_frame()
    assert len(table) == 15
    np.testing.assert_allclose(table["importance"], result.values.ravel())
    best = table[(table["class"] == "1") & (table["rank"] == 1)]["feature"].item()
    assert best == result.rank(1)[0]
    assert result.metrics()["2.b"] == result.values[2, 1]
    first = result.summary().splitlines()[0]
    assert first.startswith(f"leading feature of each class: 0 {result.rank(0)[0]}, 1 {best}, 2 ")
    assert "6 trees, training rows" in first
    np.testing.assert_allclose(result.standard_error, result.sd / np.sqrt(6))
    figure = result.plot(max_features=3)
    assert "2 features not shown" in figure.axes[1].get_title(loc="right")
    drawn = {text.get_text() for text in figure.axes[1].texts}
    assert f"{result.values.max():.2f}".lstrip("0") in drawn


def test_spread_over_trees_is_the_standard_deviation_of_single_trees():
    forest, _, _ = forest_of(3)
    whole = per_class_importance(forest, normalize=None)
    class_codes = np.array([per_class_importance(one, normalize=None).values for one in forest.estimators_])
    np.testing.assert_allclose(whole.values, class_codes.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose(whole.sd, class_codes.std(axis=0), atol=1e-9)


REGRESSOR = tree.DecisionTreeRegressor(random_state=0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m, X, y: per_class_importance(REGRESSOR.fit(X, X[:, 0])), ValueError, "is a regressor; per-class"),
        (lambda m, X, y: per_class_importance(ensemble.AdaBoostClassifier()), TypeError, "AdaBoostClassifier is no"),
        (lambda m, X, y: per_class_importance(m, normalize="rows"), ValueError, "normalize='rows' is not accepted"),
        (lambda m, X, y: per_class_importance(m, feature_names=["a"]), ValueError, "feature_names has 1 names"),
        (lambda m, X, y: per_class_importance(m, feature_groups={"g": ["z"]}), ValueError, "names 'z', no column"),
        (lambda m, X, y: per_class_importance(m, feature_groups={"g": [0], "h": [0]}), ValueError, "puts 0 in 'g' and"),
        (lambda m, X, y: per_class_importance(m).rank("z"), ValueError, "class_label='z' is unknown"),
        (lambda m, X, y: held_out_importance(m, X, y + 7), ValueError, "y holds .* unknown to the model"),
        (lambda m, X, y: held_out_importance(m, X, y[:-1]), ValueError, "X has 120 rows, y 119"),
        (lambda m, X, y: held_out_importance(m, X[:0], y[:0]), ValueError, "the 0 held-out rows have no positive"),
        (lambda m, X, y: held_out_importance(m, X, y, sample_weight=y * 0), ValueError, "weights of zero or more"),
        (lambda m, X, y: held_out_importance(m, X, y, sample_weight=y - 1.0), ValueError, "negative or missing"),
        (lambda m, X, y: held_out_importance(m, X, y, sample_weight=y * np.nan), ValueError, "negative or missing"),
        (lambda m, X, y: per_class_importance(m, feature_groups={"x1": ["x0"]}), ValueError, "rename the feature"),
        (lambda m, X, y: held_out_importance(m, X[:5], y[:5], out_of_bag=True), ValueError, "needs the 120 training"),
        (lambda m, X, y: held_out_importance(m[0], X, y, out_of_bag=True), ValueError, "needs trees grown on boot"),
        (lambda m, X, y: held_out_importance(MODELS["gradient"].fit(X, y), X, y), ValueError, "use a tree, a forest"),
    ],
)  # fmt: skip
def test_wrong_use_is_named_with_the_remedy(call, error, message):
    forest, X, codes = forest_of(3)
    with pytest.raises(error, match=message):
        call(forest, X, codes)


def test_inputs_stay_untouched():
    forest, X, codes = forest_of(3)
    X.setflags(write=False)
    codes.setflags(write=False)
    first = held_out_importance(forest, X, codes).values
    assert np.array_equal(first, held_out_importance(forest, X, codes).values)
