"""Which instances an explanation may rest on: those the model handles well (SOFI's premise)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import check_choice, check_number
from explicate.tables import Problem, labels_of


def select_reliable_instances(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    encoder: Any = None,
    task: str = "auto",
    quantile: float = 0.5,
    tolerance: float | None = None,
    return_mask: bool = False,
) -> pd.DataFrame | np.ndarray | tuple[Any, np.ndarray]:
    """
    Keep the rows a model classifies correctly, or estimates with a small absolute error.

    Parameters
    ----------
    model : estimator
        Fitted, with ``predict``.
    X : DataFrame or ndarray of shape (n_rows, n_features)
        Candidates.
    y : array-like of shape (n_rows,)
        True targets, matched to `X` by position; an index plays no part.
    encoder : transformer, optional
        Fitted; applied first when the model does not carry it.
    task : {"auto", "classification", "regression"}, default "auto"
        "auto" asks the estimator.
    quantile : float, default 0.5
        Share of regression rows kept, those of smallest absolute error; superseded by `tolerance`, ignored for
        classifiers.
    tolerance : float, optional
        Largest absolute error kept, in the units of the target.
    return_mask : bool, default False
        Whether the mask is returned as well.

    Returns
    -------
    selected : as `X`, of shape (n_kept, n_features)
        Rows kept, in their order.
    mask : ndarray of shape (n_rows,), dtype bool
        Only with ``return_mask=True``.

    Raises
    ------
    ValueError
        For lengths that differ, a parameter out of range, a task that cannot be inferred, or when no row is left.

    References
    ----------
    Grau and Nápoles (2024), Sparseness-Optimized Feature Importance, xAI 2024.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> X = pd.DataFrame({"x": [1, 2, 3]})
    >>> model = DummyClassifier().fit(X, ["a", "a", "b"])
    >>> len(select_reliable_instances(model, X, ["a", "a", "b"]))
    2
    """
    check_choice("task", task, ["auto", "classification", "regression"])
    check_number("quantile", quantile, low=0, high=1)
    if tolerance is not None:
        check_number("tolerance", tolerance, low=0)
    truth = np.asarray(y)
    if truth.ndim == 2 and truth.shape[1] == 1:
        truth = truth[:, 0]
    if truth.ndim != 1 or len(truth) != len(X):
        raise ValueError(f"y has shape {truth.shape} and X has {len(X)} rows; give one target per row.")
    estimate = np.asarray(model.predict(X if encoder is None else encoder.transform(X))).ravel()
    if infer_task(model, task) == "classification":
        mask = np.asarray(estimate == truth, dtype=bool)
        remedy = "the model gets every one of them wrong: check the target, or train a better model"
    else:
        errors = np.abs(estimate.astype(float) - truth.astype(float))
        limit = np.quantile(errors, quantile) if tolerance is None else tolerance
        mask = errors <= limit
        remedy = f"the smallest absolute error is {errors.min():.4g}: raise tolerance={tolerance}"
    if not mask.any():
        raise ValueError(f"none of the {len(mask)} rows is reliable; {remedy}.")
    selected = X[mask]
    return (selected, mask) if return_mask else selected


def infer_task(model: Any, task: str = "auto") -> str:
    """
    Return the task of a model: as given, or as the estimator declares it.

    Raises
    ------
    ValueError
        When "auto" meets an estimator that is neither a classifier nor a regressor by its own word.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> infer_task(LinearRegression())
    'regression'
    """
    from sklearn.base import is_classifier, is_regressor

    if task != "auto":
        return task
    try:
        if is_classifier(model):
            return "classification"
        if is_regressor(model):
            return "regression"
    except AttributeError:  # an estimator outside scikit-learn carries no tags
        pass
    raise ValueError(
        f"task='auto' cannot read the task of {type(model).__name__}; give task='classification' or 'regression'."
    )


def count_kept(
    candidates: pd.DataFrame, reliable: pd.DataFrame, explained: pd.DataFrame, problem: Problem
) -> pd.DataFrame:
    """
    Count rows of each class before and after selection.

    Parameters
    ----------
    candidates, reliable, explained : DataFrame
        Tables with the target column, each a subset of the one before.
    problem : Problem
        Names the target; regression counts as one group.

    Returns
    -------
    DataFrame
        Columns ``class`` (text), ``candidates``, ``reliable``, ``explained``.

    Examples
    --------
    >>> rows = pd.DataFrame({"kind": ["a", "a", "b"]})
    >>> problem = {"target": "kind", "task": "classification", "classes": ["a", "b"]}
    >>> count_kept(rows, rows[:1], rows[:1], problem).to_numpy().tolist()
    [['a', 2, 1, 1], ['b', 1, 0, 0]]
    """
    tables = {"candidates": candidates, "reliable": reliable, "explained": explained}
    if problem["task"] == "regression":
        return pd.DataFrame({"class": ["all rows"], **{name: [len(table)] for name, table in tables.items()}})
    counts = {
        name: [int((labels_of(table[problem["target"]]) == label).sum()) for label in problem["classes"]]
        for name, table in tables.items()
    }
    return pd.DataFrame({"class": [str(label) for label in problem["classes"]], **counts})
