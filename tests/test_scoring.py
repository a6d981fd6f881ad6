"""Scores are scikit-learn's, and NaN where the rows define none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.ensemble import RandomForestClassifier

from explicate.scoring import score_model, tabulate_predictions


def rows(labels, n=60):
    generator = np.random.default_rng(0)
    X = pd.DataFrame({"x": generator.normal(size=n), "noise": generator.normal(size=n)})
    y = np.array(list(labels))[(X["x"] > 0).astype(int) + (X["x"] > 1) * (len(labels) > 2)]
    return X, y, {"target": "label", "task": "classification", "classes": list(labels), "positive_class": None}


def test_scores_are_scikit_learns():
    X, y, problem = rows("abc")
    model = RandomForestClassifier(20, random_state=0).fit(X[:40], y[:40])
    scores = score_model(model, X[40:], y[40:], {**problem, "positive_class": "b"})
    proba = model.predict_proba(X[40:])
    assert scores["roc_auc"] == pytest.approx(metrics.roc_auc_score(y[40:], proba, multi_class="ovr"))
    assert scores["log_loss"] == pytest.approx(metrics.log_loss(y[40:], proba))
    assert scores["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(y[40:], model.predict(X[40:])))
    assert {"f1", "average_precision"} <= set(scores)


def test_a_score_the_rows_cannot_define_is_nan():
    X, y, problem = rows(["no", "yes"])
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    only = y == "no"
    scores = score_model(model, X[only], y[only], problem)
    assert np.isnan(scores["roc_auc"])
    assert np.isnan(scores["recall.yes"])
    assert scores["accuracy"] == 1.0


def test_predictions_stand_beside_the_truth():
    X, y, _ = rows(["no", "yes"])
    model = RandomForestClassifier(20, random_state=0).fit(X, y)
    table = tabulate_predictions(model, X, y)
    assert list(table) == ["truth", "prediction", "probability.no", "probability.yes"]
    np.testing.assert_allclose(table[["probability.no", "probability.yes"]].sum(axis=1), 1.0)
