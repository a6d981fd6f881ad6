from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from explicate.core.labels import EncodedLabels
from explicate.prototypes import GowerDistance, GreedyKMedoids, shap_attributions


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(max_depth=3, random_state=0),
        RandomForestClassifier(5, random_state=0),
        ExtraTreesClassifier(5, random_state=0),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_one_shape_for_every_ensemble(iris, model, n_classes):
    X, y = iris
    X, y = X[y < n_classes], np.array(["a", "b", "c"])[y[y < n_classes]]
    model.fit(X, y)
    rows = X[:: 150 // 20]
    phi = shap_attributions(model, rows)
    assert phi.shape == rows.shape
    assert np.isfinite(phi).all()
    # Of the predicted class: on average it is pushed up, whichever class that is.
    for label in model.classes_:
        assert phi[model.predict(rows) == label].sum(axis=1).mean() > 0


def test_forest_values_add_up_to_the_probability_of_the_predicted_class(iris):
    X, y = iris
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    phi = shap_attributions(model, X)
    chosen = np.searchsorted(model.classes_, model.predict(X))
    rest = model.predict_proba(X)[np.arange(len(X)), chosen] - phi.sum(axis=1)
    for k in range(3):  # what is left is the class's expectation: one number per class
        assert np.ptp(rest[chosen == k]) < 1e-9


def test_encoded_columns_are_summed_back_and_every_dtype_is_read(mixed):
    X, _, model = mixed
    phi = shap_attributions(model, X)
    assert phi.shape == X.shape
    strength = np.abs(phi).mean(axis=0)
    assert set(np.argsort(-strength)[:2]) == {0, 1}  # number and kind decide the label
    sampled = shap_attributions(model, X, explainer="permutation")
    assert set(np.argsort(-np.abs(sampled).mean(axis=0))[:2]) == {0, 1}


def test_permutations_of_a_linear_model_by_hand():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[:, 2] = 0.0
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    phi = shap_attributions(model, X, X[:1])
    probability = model.predict_proba(X)
    chosen = model.predict(X).astype(int)
    base = model.predict_proba(X[:1])[0]
    # One background row: the values add up to the change of the predicted class's probability.
    assert np.allclose(phi.sum(axis=1), probability[np.arange(60), chosen] - base[chosen])
    assert (phi[:, 2] == 0).all()
    assert np.array_equal(phi, shap_attributions(model, X, X[:1]))


def test_mixing_encoders_and_regressors(iris):
    X, y = iris
    mixing = make_pipeline(PCA(2), RandomForestClassifier(5, random_state=0)).fit(X, y)
    assert shap_attributions(mixing, X[:10]).shape == (10, 4)
    with pytest.raises(ValueError, match="explainer='tree' needs"):
        shap_attributions(mixing, X[:10], explainer="tree")
    regressor = RandomForestRegressor(5, random_state=0).fit(X, X[:, 0])
    assert np.abs(shap_attributions(regressor, X)).mean(axis=0).argmax() == 0


def test_three_class_gradient_boosting_is_refused_only_when_asked(iris):
    X, y = iris
    model = GradientBoostingClassifier(n_estimators=2, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="SHAP refuses GradientBoostingClassifier"):
        shap_attributions(model, X[:5], explainer="tree")


@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_boosting_libraries(iris, library):
    module = pytest.importorskip(library)
    X, y = iris
    names = np.array(["a", "b", "c"])[y]
    if library == "xgboost":
        model = EncodedLabels(module.XGBClassifier(n_estimators=3, n_jobs=1)).fit(X, names)
    else:
        model = module.LGBMClassifier(n_estimators=3, n_jobs=1, verbose=-1).fit(X, names)
    phi = shap_attributions(model, X)
    assert phi.shape == X.shape
    assert (phi.sum(axis=1) > 0).mean() > 0.6


class OnlyPredicts:
    """A classifier without probabilities, margins or classes_."""

    def predict(self, X):
        return np.array(["low", "middle", "high"])[np.digitize(np.asarray(X)[:, 1], [0.3, 0.6])]


def test_a_model_that_only_predicts_is_explained_by_being_of_its_class():
    X = np.random.default_rng(0).random((40, 3))
    phi = shap_attributions(OnlyPredicts(), X)
    assert (phi[:, [0, 2]] == 0).all()
    assert (phi[:, 1] >= 0).all()  # having its own value makes a row what it is, never less
    assert phi[:, 1].mean() > 0.4


def test_margins_of_pairs_are_not_taken_for_margins_of_classes(iris):
    X, y = iris
    model = SVC(decision_function_shape="ovo", random_state=0).fit(X, y)
    phi = shap_attributions(model, X[::5])
    assert np.isin(np.round(phi.sum(axis=1) * 20), np.arange(21)).all()  # twenty paths end at 1, from 0 or 1


def test_margins_are_the_same_behind_a_pipeline(iris):
    X, y = iris
    alone = SVC(random_state=0).fit(X, y)
    piped = make_pipeline(FunctionTransformer(), SVC(random_state=0)).fit(X, y)
    assert np.array_equal(shap_attributions(alone, X[::10]), shap_attributions(piped, X[::10]))


def test_shap_of_a_distance_is_refused():
    with pytest.raises(ValueError, match="attributions='shap' needs a model and model is a Distance"):
        GreedyKMedoids(GowerDistance(), 1, beta=1.0).fit([[0.0], [1.0]], ["a", "b"])
