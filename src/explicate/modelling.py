"""From a name in YAML to a fitted Pipeline."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import shorten_list
from explicate.tables import Problem

#: What `estimator="auto"` trains.
DEFAULT_ESTIMATORS = {
    "classification": "sklearn.ensemble.RandomForestClassifier",
    "regression": "sklearn.ensemble.RandomForestRegressor",
}


def import_object(path: str, *, parameter: str) -> Any:
    """
    Import what a dotted path names.

    Parameters
    ----------
    path : str
        For example ``sklearn.svm.SVC``.
    parameter : str
        Parameter the path was given for, named in messages.

    Raises
    ------
    ValueError
        When the path does not import, with the reason.

    Examples
    --------
    >>> import_object("sklearn.svm.SVM", parameter="estimator")
    Traceback (most recent call last):
    ValueError: estimator='sklearn.svm.SVM' cannot be imported (module 'sklearn.svm' has no attribute 'SVM'); ...
    """
    module, _, name = path.rpartition(".")
    try:
        if not module:
            raise ImportError("it holds no dot")
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"{parameter}={path!r} cannot be imported ({error}); give a dotted path of an installed package, such as "
            "sklearn.ensemble.RandomForestClassifier."
        ) from error


def build_estimator(path: str, keywords: Mapping[str, Any], *, random_state: int, task: str = "classification") -> Any:
    """
    Build an unfitted estimator from its import path and keywords.

    Parameters
    ----------
    path : str
        Dotted path of a scikit-learn compatible class, or "auto" for a random forest of the right kind.
    keywords : mapping
        Arguments of its constructor.
    random_state : int
        Passed when the class takes it and `keywords` does not.
    task : {"classification", "regression"}
        Kind of estimator expected.

    Raises
    ------
    ValueError
        When the path does not import, is no estimator of that kind, or a keyword is unknown or refused.

    Examples
    --------
    >>> build_estimator("auto", {"n_estimators": 7}, random_state=0)
    RandomForestClassifier(n_estimators=7, random_state=0)
    """
    from sklearn.base import is_classifier, is_regressor

    from explicate.core.labels import EncodedLabels

    cls = import_object(DEFAULT_ESTIMATORS[task] if path == "auto" else path, parameter="estimator")
    if not (isinstance(cls, type) and hasattr(cls, "fit") and hasattr(cls, "predict")):
        raise ValueError(f"estimator={path!r} is no estimator class with fit and predict; give one.")
    accepted, open_ended = _constructor(cls)
    unknown = [] if accepted is None or open_ended else [name for name in keywords if name not in accepted]
    if unknown:
        raise ValueError(f"keywords={shorten_list(unknown)} unknown to {path}; it takes {', '.join(accepted or [])}.")
    library = cls.__module__.partition(".")[0]
    defaults: dict[str, Any] = {"random_state": random_state} if accepted and "random_state" in accepted else {}
    if library == "lightgbm" and "verbose" not in keywords:
        defaults["verbosity"] = -1  # a line per tree that stops splitting is nothing to act on
    try:
        estimator = cls(**{**defaults, **keywords})
    except TypeError as error:
        raise ValueError(f"keywords={dict(keywords)!r} are refused by {path} ({error}); correct them.") from error
    right = is_classifier(estimator) if task == "classification" else is_regressor(estimator)
    if not right:
        raise ValueError(f"estimator={path!r} does not fit task={task!r}; choose a {task} estimator or change task.")
    return EncodedLabels(estimator) if task == "classification" and library == "xgboost" else estimator


def _constructor(cls: Any) -> tuple[list[str] | None, bool]:
    """Return the keywords a class declares (``None`` outside scikit-learn's contract), and whether it takes any."""
    from sklearn.base import BaseEstimator

    kinds = [parameter.kind for parameter in inspect.signature(cls).parameters.values()]
    declared = list(cls._get_param_names()) if issubclass(cls, BaseEstimator) else None
    return declared, inspect.Parameter.VAR_KEYWORD in kinds


def build_pipeline(estimator: Any, X: pd.DataFrame, problem: Problem, *, scale: bool = False) -> Any:
    """
    Put a column-wise encoder in front of an estimator.

    Numeric columns are imputed with the median where they have gaps and the estimator refuses NaN, boolean ones with
    the most frequent value; nominal ones are one-hot encoded, unknown categories as zeros, missing as a category.

    Parameters
    ----------
    estimator : estimator
        Unfitted.
    X : DataFrame of shape (n_rows, n_features)
        Training features; only dtypes are read.
    problem : Problem
        Which columns are categorical.
    scale : bool, default False
        Whether numeric columns are standardised.

    Returns
    -------
    Pipeline
        Unfitted, with steps ``encoder`` and ``estimator``.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from explicate.tables import check_table, features_and_target
    >>> table, problem = check_table(pd.DataFrame({"size": [1.0, 2.0], "kind": ["a", "b"]}), "kind")
    >>> X, y = features_and_target(table, problem)
    >>> build_pipeline(DecisionTreeClassifier(), X, problem).fit(X, y).predict(X).tolist()
    ['a', 'b']
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    names = list(X.columns)
    nominal = [name for name in names if name in problem["categorical"]]
    boolean = [name for name in names if name not in nominal and pd.api.types.is_bool_dtype(X[name])]
    numeric = [name for name in names if name not in nominal and name not in boolean]
    impute = not estimator.__sklearn_tags__().input_tags.allow_nan
    # Neither centred nor scaled, StandardScaler is the identity that turns nullable dtypes into floats.
    scaler = StandardScaler(with_mean=scale, with_std=scale)
    number = [("impute", SimpleImputer(strategy="median"))] if impute else []
    flag = [("impute", SimpleImputer(strategy="most_frequent"))] if impute else []
    encoder = ColumnTransformer(
        [
            ("numeric", Pipeline([*number, ("scale", scaler)]), _columns(names, numeric)),
            ("boolean", Pipeline([("scale", scaler), *flag]), _columns(names, boolean)),  # the imputer refuses bool
            ("nominal", OneHotEncoder(handle_unknown="ignore", sparse_output=False), _columns(names, nominal)),
        ],
        verbose_feature_names_out=False,
    )
    return Pipeline([("encoder", encoder), ("estimator", estimator)])


def _columns(names: list[Any], chosen: list[Any]) -> list[Any]:
    """Name text columns (so that reordered input is matched), count the others: integers mean positions there."""
    return chosen if all(isinstance(name, str) for name in names) else [names.index(name) for name in chosen]


def fit_model(
    pipeline: Any,
    X: pd.DataFrame,
    y: np.ndarray,
    *,
    search: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Any:
    """
    Fit a pipeline, after a cross-validated search when a grid is given.

    Parameters
    ----------
    pipeline : Pipeline
        From `build_pipeline`.
    X : DataFrame of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
    search : mapping, optional
        ``grid`` (keyword of the estimator -> values), ``cv`` (folds), ``scoring`` (scikit-learn name or ``None``).
    n_jobs : int, optional
        As in joblib, for the search.

    Returns
    -------
    Pipeline
        Fitted; the best of the search, refitted on all rows. A classifier without probabilities (SVC, LinearSVC, …) is
        given them: sigmoids of its decisions, fitted out of fold.

    Raises
    ------
    ValueError
        When the grid names a parameter the estimator lacks, or a class has too few rows to calibrate on.

    Examples
    --------
    >>> from sklearn.pipeline import Pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = Pipeline([("estimator", DecisionTreeClassifier())])
    >>> X, y = pd.DataFrame({"x": range(8)}), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> fit_model(tree, X, y, search={"grid": {"max_depth": [1, 2]}, "cv": 2})["estimator"].max_depth
    1
    """
    from sklearn.model_selection import GridSearchCV

    from explicate.core.labels import EncodedLabels

    if not search or not search.get("grid"):
        return _with_probabilities(pipeline, y).fit(X, y)
    inner = "estimator__estimator__" if isinstance(pipeline["estimator"], EncodedLabels) else "estimator__"
    accepted = pipeline.get_params()
    unknown = [name for name in search["grid"] if inner + name not in accepted]
    if unknown:
        raise ValueError(
            f"search.grid names {shorten_list(unknown)}, unknown to {type(pipeline['estimator']).__name__}; use its "
            "keywords."
        )
    grid = {inner + name: list(values) for name, values in search["grid"].items()}
    searcher = GridSearchCV(
        pipeline, grid, cv=search.get("cv", 5), scoring=search.get("scoring"), n_jobs=n_jobs, error_score="raise"
    )
    best = searcher.fit(X, y).best_estimator_
    calibrated = _with_probabilities(best, y)
    return best if calibrated is best else calibrated.fit(X, y)


def _with_probabilities(pipeline: Any, y: np.ndarray) -> Any:
    """Calibrate the decisions of a classifier that has no probabilities: explanations speak of them."""
    from sklearn.base import clone, is_classifier
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.pipeline import Pipeline

    estimator = pipeline[-1]
    if not is_classifier(estimator) or hasattr(estimator, "predict_proba"):
        return pipeline
    labels, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise ValueError(
            f"class {labels.tolist()[int(counts.argmin())]!r} has a single training row, too few to calibrate the "
            f"probabilities {type(estimator).__name__} lacks; give more rows or choose an estimator with predict_proba."
        )
    calibrated = CalibratedClassifierCV(clone(estimator), ensemble=False, cv=min(5, int(counts.min())))
    return Pipeline([*clone(pipeline).steps[:-1], (pipeline.steps[-1][0], calibrated)])
