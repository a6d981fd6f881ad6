"""From a name in YAML to a fitted Pipeline, whatever the columns and the labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC

from explicate.modelling import build_estimator, build_pipeline, fit_model
from explicate.scoring import score_model
from explicate.tables import check_table, features_and_target


def mixed(labels=("no", "yes"), n=60):
    generator = np.random.default_rng(0)
    x = generator.normal(size=n)
    raw = pd.DataFrame(
        {
            "x": x,
            "whole": pd.array(np.where(generator.random(n) < 0.2, None, generator.integers(0, 9, n)), dtype="Int64"),
            "flag": pd.array(np.where(generator.random(n) < 0.2, None, x > 0.5), dtype="boolean"),
            "arrow": pd.array(np.where(generator.random(n) < 0.2, None, "t"), dtype="string[pyarrow]"),
            "category": pd.Categorical(np.where(x > 0, "u", "v"), categories=["u", "v", "unseen"]),
            "code": generator.integers(1, 4, n),
            "label": np.array(labels, dtype=object)[(x > 0).astype(int) + (x > 1) * (len(labels) > 2)],
        }
    )
    table, problem = check_table(raw, "label", categorical=["code"])
    return (*features_and_target(table, problem), problem)


ESTIMATORS = [
    ("auto", {"n_estimators": 5}),
    ("sklearn.linear_model.LogisticRegression", {}),
    ("sklearn.svm.SVC", {}),
    ("sklearn.ensemble.HistGradientBoostingClassifier", {"max_iter": 5}),
    ("sklearn.neighbors.KNeighborsClassifier", {}),
    ("xgboost.XGBClassifier", {"n_estimators": 5}),
    ("lightgbm.LGBMClassifier", {"n_estimators": 5, "verbose": -1}),
]


# LightGBM warns that a Pipeline's array carries no names; nothing is misread.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-5, 7), ("a", "b", "c")])
@pytest.mark.parametrize(("path", "keywords"), ESTIMATORS)
def test_any_estimator_reads_any_column_and_any_label(path, keywords, labels):
    X, y, problem = mixed(labels)
    estimator = build_estimator(path, keywords, random_state=0)
    model = fit_model(build_pipeline(estimator, X, problem, scale=True), X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert set(model.predict(X).tolist()) <= set(labels)
    assert (model.predict(X) == y).mean() > 0.6
    scores = score_model(model, X, y, problem)
    assert set(scores) >= {"accuracy", "balanced_accuracy", *(f"recall.{label}" for label in labels)}


def test_unknown_categories_and_reordered_columns_are_no_trouble():
    X, y, problem = mixed()
    model = fit_model(build_pipeline(build_estimator("auto", {}, random_state=0), X, problem), X, y)
    other = X.assign(arrow="never seen", category=pd.Categorical(["w"] * len(X)))
    assert len(model.predict(other)) == len(X)
    assert np.array_equal(model.predict(X[X.columns[::-1]]), model.predict(X))


def test_gaps_are_imputed_only_where_the_estimator_needs_it():
    X, y, problem = mixed()
    reads_gaps = build_pipeline(build_estimator("auto", {}, random_state=0), X, problem).fit(X, y)
    refuses = build_pipeline(SVC(random_state=0), X, problem).fit(X, y)
    assert np.isnan(reads_gaps[:-1].transform(X)).any()
    assert not np.isnan(refuses[:-1].transform(X)).any()


def test_integer_column_names_are_names_not_positions():
    raw = pd.DataFrame({5: np.arange(20.0), 0: ["a", "b"] * 10, 1: ["u", "v"] * 10})
    table, problem = check_table(raw, 1)
    X, y = features_and_target(table, problem)
    model = build_pipeline(build_estimator("auto", {}, random_state=0), X, problem).fit(X, y)
    assert model[:-1].transform(X).shape == (20, 3)
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize(
    ("path", "keywords", "task", "message"),
    [
        (
            "sklearn.svm.SVM",
            {},
            "classification",
            "estimator='sklearn.svm.SVM' cannot be imported .* no attribute 'SVM'",
        ),
        ("nowhere.Model", {}, "classification", "estimator='nowhere.Model' cannot be imported .*No module"),
        ("SVC", {}, "classification", "cannot be imported .it holds no dot"),
        ("numpy.mean", {}, "classification", "is no estimator class with fit and predict"),
        ("sklearn.svm.SVR", {}, "classification", "does not fit task='classification'"),
        ("auto", {"depth": 3}, "regression", "keywords='depth' unknown to auto; it takes .*max_depth"),
    ],
)
def test_a_wrong_estimator_is_named_with_the_remedy(path, keywords, task, message):
    with pytest.raises(ValueError, match=message):
        build_estimator(path, keywords, random_state=0, task=task)


def test_search_takes_the_best_of_the_grid():
    X, y, problem = mixed()
    pipeline = build_pipeline(build_estimator("auto", {"n_estimators": 3}, random_state=0), X, problem)
    model = fit_model(pipeline, X, y, search={"grid": {"max_depth": [1, 4]}, "cv": 3, "scoring": None})
    assert model["estimator"].max_depth in (1, 4)
    with pytest.raises(ValueError, match=r"search.grid names 'depth', unknown to RandomForestClassifier"):
        fit_model(pipeline, X, y, search={"grid": {"depth": [1]}})


@pytest.mark.parametrize("path", ["sklearn.svm.SVC", "sklearn.svm.LinearSVC"])
@pytest.mark.parametrize("search", [None, {"grid": {"C": [0.1, 1.0]}, "cv": 2}])
def test_a_classifier_without_probabilities_is_given_them(path, search):
    X, y, problem = mixed(("a", "b", "c"))
    pipeline = build_pipeline(build_estimator(path, {}, random_state=0), X, problem, scale=True)
    model = fit_model(pipeline, X, y, search=search)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (model.classes_[proba.argmax(axis=1)] == model.predict(X)).all()
    assert (model.predict(X) == y).mean() > 0.7


def test_a_class_of_one_row_cannot_be_calibrated():
    X, y, problem = mixed()
    y = np.where(np.arange(len(y)) == 0, "rare", y)
    pipeline = build_pipeline(build_estimator("sklearn.svm.SVC", {}, random_state=0), X, problem)
    with pytest.raises(ValueError, match=r"class 'rare' has a single training row, .* predict_proba"):
        fit_model(pipeline, X, y)


def test_lightgbm_is_quiet_unless_asked(capfd):
    X, y, problem = mixed()
    fit_model(build_pipeline(build_estimator("lightgbm.LGBMClassifier", {}, random_state=0), X, problem), X, y)
    assert "LightGBM" not in "".join(capfd.readouterr())
