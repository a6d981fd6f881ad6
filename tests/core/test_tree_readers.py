"""Flat arrays predict what the model they were read from predicts, for every library and kind of row."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
import xgboost
from sklearn import ensemble, tree
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from explicate.core.labels import EncodedLabels
from explicate.core.tree_readers import is_tree_ensemble, read_trees


def labelled(n_classes, missing=False):
    X, codes = make_classification(
        160, 6, n_informative=4, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=3
    )
    if missing:
        X = X.copy()
        X[np.random.default_rng(0).random(X.shape) < 0.15] = np.nan
    return X, np.array(["ash", "birch", "cedar"])[codes]


CLASSIFIERS = {
    "tree": tree.DecisionTreeClassifier(max_depth=5, random_state=0),
    "entropy tree": tree.DecisionTreeClassifier(max_depth=5, criterion="entropy", random_state=0),
    "forest": ensemble.RandomForestClassifier(7, random_state=0),
    "balanced forest": ensemble.RandomForestClassifier(7, class_weight="balanced", random_state=0),
    "extra": ensemble.ExtraTreesClassifier(7, random_state=0),
    "bagging": ensemble.BaggingClassifier(
        tree.DecisionTreeClassifier(), 7, max_samples=6, max_features=0.5, random_state=0
    ),
    "gradient": ensemble.GradientBoostingClassifier(n_estimators=7, random_state=0),
    "hist": ensemble.HistGradientBoostingClassifier(max_iter=7, random_state=0),
    "lightgbm": lightgbm.LGBMClassifier(n_estimators=7, verbose=-1, random_state=0),
    "xgboost": EncodedLabels(xgboost.XGBClassifier(n_estimators=7, random_state=0)),
}
REGRESSORS = {
    "tree": tree.DecisionTreeRegressor(max_depth=4, random_state=0),
    "forest": ensemble.RandomForestRegressor(7, random_state=0),
    "bagging": ensemble.BaggingRegressor(n_estimators=5, random_state=0),
    "gradient": ensemble.GradientBoostingRegressor(n_estimators=7, random_state=0),
    "huber": ensemble.GradientBoostingRegressor(n_estimators=7, loss="huber", random_state=0),
    "hist": ensemble.HistGradientBoostingRegressor(max_iter=7, random_state=0),
    "hist poisson": ensemble.HistGradientBoostingRegressor(max_iter=7, loss="poisson", random_state=0),
    "hist gamma": ensemble.HistGradientBoostingRegressor(max_iter=7, loss="gamma", random_state=0),
    "lightgbm": lightgbm.LGBMRegressor(n_estimators=7, verbose=-1, random_state=0),
    "lightgbm poisson": lightgbm.LGBMRegressor(n_estimators=7, objective="poisson", verbose=-1, random_state=0),
    "xgboost": xgboost.XGBRegressor(n_estimators=7, random_state=0),
    "xgboost poisson": xgboost.XGBRegressor(n_estimators=7, objective="count:poisson", random_state=0),
}
READS_MISSING = ["tree", "forest", "extra", "hist", "lightgbm", "xgboost"]


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM warns of its own arrays
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifier_probabilities_are_the_models_own(name, n_classes):
    X, y = labelled(n_classes)
    model = CLASSIFIERS[name].fit(X, y)
    rows = np.random.default_rng(1).normal(size=(300, 6)) * 2
    trees = read_trees(model)
    np.testing.assert_allclose(trees.predict_proba(rows), model.predict_proba(rows), atol=1e-6)
    assert trees.predict(X).tolist() == model.predict(X).tolist()
    assert is_tree_ensemble(model)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM warns of its own arrays
@pytest.mark.parametrize("name", READS_MISSING)
def test_missing_values_take_the_side_learned(name):
    X, y = labelled(3, missing=True)
    model = CLASSIFIERS[name].fit(X, y)
    np.testing.assert_allclose(read_trees(model).predict_proba(X), model.predict_proba(X), atol=1e-6)
    everything = np.full((1, 6), np.nan)
    np.testing.assert_allclose(read_trees(model).predict_proba(everything), model.predict_proba(everything), atol=1e-6)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM warns of its own arrays
def test_lightgbm_trained_without_gaps_reads_missing_as_zero():
    X, y = labelled(2)
    model = CLASSIFIERS["lightgbm"].fit(X, y)
    rows = X.copy()
    rows[::2, 1] = np.nan
    np.testing.assert_allclose(read_trees(model).predict_proba(rows), model.predict_proba(rows), atol=1e-9)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM warns of its own arrays
@pytest.mark.parametrize("name", REGRESSORS)
def test_regression_estimates_are_the_models_own(name):
    X, y = make_regression(150, 6, noise=4.0, random_state=2)
    y = np.round(np.exp(y / 200) * 5) + 1.0
    model = REGRESSORS[name].fit(X, y)
    rows = np.random.default_rng(1).normal(size=(200, 6)) * 2
    np.testing.assert_allclose(read_trees(model).predict(rows), model.predict(rows), rtol=2e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM warns of its own arrays
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_row_on_a_threshold_goes_where_the_library_sends_it(name):
    X, y = labelled(2)
    model = CLASSIFIERS[name].fit(X, y)
    trees = read_trees(model)
    inner = np.flatnonzero(trees.feature >= 0)[:60]
    rows = np.repeat(X[:1], len(inner), axis=0)
    rows[np.arange(len(inner)), trees.feature[inner]] = trees.threshold[inner]
    for nudged in (rows, np.nextafter(rows, np.inf), np.nextafter(rows.astype(np.float32), np.float32(np.inf))):
        np.testing.assert_allclose(trees.predict_proba(nudged), model.predict_proba(nudged), atol=1e-6)


def test_exponential_loss_doubles_the_margin():
    X, y = labelled(2)
    model = ensemble.GradientBoostingClassifier(n_estimators=5, loss="exponential", random_state=0).fit(X, y)
    np.testing.assert_allclose(read_trees(model).predict_proba(X), model.predict_proba(X), atol=1e-12)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM warns of its own arrays
@pytest.mark.parametrize("sigmoid", [0.5, 1.5])
def test_steepness_of_lightgbm_scales_the_margin(sigmoid):
    X, y = labelled(2)
    model = lightgbm.LGBMClassifier(n_estimators=5, sigmoid=sigmoid, verbose=-1, random_state=0).fit(X, y)
    np.testing.assert_allclose(read_trees(model).predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_several_trees_per_round_of_xgboost_are_all_read():
    X, y = labelled(3)
    model = EncodedLabels(xgboost.XGBClassifier(n_estimators=3, num_parallel_tree=2, subsample=0.7)).fit(X, y)
    np.testing.assert_allclose(read_trees(model).predict_proba(X), model.predict_proba(X), atol=1e-6)


def own_objective(truth, guess):
    return guess - truth, np.ones_like(guess)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lightgbm.LGBMRegressor(n_estimators=2, linear_tree=True, verbose=-1), "linear_tree=True"),
        (lightgbm.LGBMRegressor(n_estimators=2, reg_sqrt=True, verbose=-1), "'regression sqrt' has a link"),
        (lightgbm.LGBMRegressor(n_estimators=2, objective=own_objective, verbose=-1), "of the user's own"),
        (lightgbm.LGBMRegressor(n_estimators=2, boosting_type="rf", subsample=0.5, subsample_freq=1, verbose=-1), "rf"),
        (xgboost.XGBRegressor(n_estimators=2, missing=-999.0), "missing=-999.0"),
        (xgboost.XGBRegressor(n_estimators=2, objective="reg:squaredlogerror"), "reg:squaredlogerror"),
    ],
)
def test_boosting_options_that_change_the_prediction_are_refused(model, message):
    X, _ = labelled(2)
    with pytest.raises(ValueError, match=message):
        read_trees(model.fit(X, np.abs(X[:, 0])))


def test_xgboost_of_several_outputs_is_refused():
    X, _ = labelled(2)
    with pytest.raises(ValueError, match="several outputs"):
        read_trees(xgboost.XGBRegressor(n_estimators=2).fit(X, X[:, :2]))
    shared = xgboost.XGBClassifier(n_estimators=2, multi_strategy="multi_output_tree")
    with pytest.raises(ValueError, match="one_output_per_tree"):
        read_trees(shared.fit(X, np.arange(160) % 3))


def test_early_stopping_of_xgboost_is_respected():
    X, y = make_regression(200, 5, noise=20.0, random_state=0)
    model = xgboost.XGBRegressor(n_estimators=60, early_stopping_rounds=2, learning_rate=0.8)
    model.fit(X[:100], y[:100], eval_set=[(X[100:], y[100:])], verbose=False)
    assert model.best_iteration < 40
    np.testing.assert_allclose(read_trees(model).predict(X), model.predict(X), rtol=1e-4, atol=1e-3)


def test_apply_gives_the_leaves_of_the_forest():
    X, y = labelled(3)
    forest = CLASSIFIERS["forest"].fit(X, y)
    trees = read_trees(forest)
    assert np.array_equal(trees.apply(X) - trees.roots, forest.apply(X))


def test_gain_of_a_forest_is_the_numerator_of_its_importances():
    X, y = labelled(3)
    trees = read_trees(CLASSIFIERS["tree"].fit(X, y))
    inner = trees.feature >= 0
    gain = np.bincount(trees.feature[inner], trees.gain[inner], minlength=6) / trees.weight[0]
    importances = CLASSIFIERS["tree"].tree_.compute_feature_importances(normalize=False)
    np.testing.assert_allclose(gain, importances, atol=1e-12)


def test_what_cannot_be_read_is_refused_with_the_reason():
    X, y = labelled(2)
    with pytest.raises(TypeError, match=r"LogisticRegression is no tree ensemble.*XGBoost"):
        read_trees(LogisticRegression())
    with pytest.raises(NotFittedError):
        read_trees(tree.DecisionTreeClassifier())
    with pytest.raises(ValueError, match="2 outputs; fit one model per output"):
        read_trees(tree.DecisionTreeRegressor(random_state=0).fit(X, np.column_stack([X[:, 0], X[:, 1]])))
    started = ensemble.GradientBoostingRegressor(
        n_estimators=2, init=tree.DecisionTreeRegressor(max_depth=1, random_state=0), random_state=0
    )
    with pytest.raises(ValueError, match="depends on the row"):
        read_trees(started.fit(X, X[:, 0]))
    sets = ensemble.HistGradientBoostingClassifier(max_iter=2, categorical_features=[0], random_state=0)
    with pytest.raises(ValueError, match="sets of categories"):
        read_trees(sets.fit(np.abs(np.round(X)), y))
    dart = EncodedLabels(xgboost.XGBClassifier(n_estimators=2, booster="dart")).fit(X, y)
    with pytest.raises(ValueError, match="dart"):
        read_trees(dart)
    with pytest.raises(ValueError, match=r"X has shape \(1, 2\); the trees read 6 columns"):
        read_trees(CLASSIFIERS["tree"].fit(X, y)).apply([[0.0, 1.0]])


def test_inputs_stay_untouched():
    X, y = labelled(2)
    X.setflags(write=False)
    trees = read_trees(CLASSIFIERS["forest"].fit(X, y))
    before = X.copy()
    trees.predict_proba(X)
    assert np.array_equal(X, before)
