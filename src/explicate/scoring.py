"""How good a model is on rows it has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from explicate.tables import Problem


def score_model(model: Any, X: pd.DataFrame, y: np.ndarray, problem: Problem) -> dict[str, float]:
    """
    Score a fitted model on rows it has not seen.

    Parameters
    ----------
    model : Pipeline
        Fitted.
    X : DataFrame of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    problem : Problem
        Task and positive class.

    Returns
    -------
    dict
        Classification: ``accuracy``, ``balanced_accuracy``, ``recall.<class>``, and with probabilities ``log_loss``
        (nats) and ``roc_auc`` (one-vs-rest, macro, for several classes); with a positive class ``f1`` and
        ``average_precision`` too. Regression: ``r2``, ``mae``, ``rmse`` (units of the target). A score that the rows
        cannot define (one class only) is NaN.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> X, y = pd.DataFrame({"x": [0.0, 1.0]}), np.array([1.0, 3.0])
    >>> problem = {"target": "y", "task": "regression", "classes": [], "positive_class": None}
    >>> score_model(DummyRegressor().fit(X, y), X, y, problem)
    {'r2': 0.0, 'mae': 1.0, 'rmse': 1.0}
    """
    from sklearn import metrics

    estimate = model.predict(X)
    if problem["task"] == "regression":
        return {
            "r2": float(metrics.r2_score(y, estimate)) if len(y) > 1 else float("nan"),
            "mae": float(metrics.mean_absolute_error(y, estimate)),
            "rmse": float(metrics.root_mean_squared_error(y, estimate)),
        }
    classes = model.classes_
    recalls = metrics.recall_score(y, estimate, labels=classes, average=None, zero_division=np.nan)
    scores = {
        "accuracy": float(metrics.accuracy_score(y, estimate)),
        "balanced_accuracy": float(np.nanmean(recalls)),
        **{f"recall.{label}": float(recall) for label, recall in zip(classes, recalls, strict=True)},
    }
    positive = problem["positive_class"]
    if positive is not None:
        scores["f1"] = float(metrics.f1_score(y == positive, estimate == positive, zero_division=np.nan))
    if hasattr(model, "predict_proba"):
        scores |= _probability_scores(y, model.predict_proba(X), classes, positive)
    return scores


def _probability_scores(y: np.ndarray, proba: np.ndarray, classes: np.ndarray, positive: Any) -> dict[str, float]:
    from sklearn import metrics

    present = np.isin(classes, y)
    scores = {"log_loss": float(metrics.log_loss(y, proba, labels=classes)), "roc_auc": float("nan")}
    if present.sum() > 1:
        areas = [metrics.roc_auc_score(y == label, proba[:, k]) for k, label in enumerate(classes) if present[k]]
        scores["roc_auc"] = float(np.mean(areas))
    if positive is not None:
        column = int(np.flatnonzero(classes == positive)[0])
        scores["average_precision"] = float(metrics.average_precision_score(y == positive, proba[:, column]))
    return scores


def tabulate_predictions(model: Any, X: pd.DataFrame, y: np.ndarray) -> pd.DataFrame:
    """
    Return truth, prediction and class probabilities side by side.

    Parameters
    ----------
    model : Pipeline
        Fitted.
    X : DataFrame of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)

    Returns
    -------
    DataFrame of shape (n_rows, 2 or 2 + n_classes)
        ``truth``, ``prediction``, then ``probability.<class>`` where the model gives them; the index of `X`.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> X, y = pd.DataFrame({"x": [0.0, 1.0]}), np.array([1.0, 3.0])
    >>> tabulate_predictions(DummyRegressor().fit(X, y), X, y)["prediction"].tolist()
    [2.0, 2.0]
    """
    table = pd.DataFrame({"truth": y, "prediction": model.predict(X)}, index=X.index)
    if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        proba = model.predict_proba(X)
        for column, label in enumerate(model.classes_):
            table[f"probability.{label}"] = proba[:, column]
    return table
