"""Rankings of features made of a model and rows: SHAP, permutation and impurity importance."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.comparison.rankings import Rankings, order_by
from explicate.core.encoding import column_origins, split_model
from explicate.core.labels import EncodedLabels
from explicate.core.validation import check_number


@dataclass(frozen=True, eq=False)
class CollectedRankings:
    """
    Rankings made of a model and rows.

    Attributes
    ----------
    rankings : dict
        Method -> features, the most important first; ties keep the order of the columns.
    skipped : dict
        Method -> why it gave no ranking.
    costs : dict
        Method -> seconds it took, and how often it asked the model for all rows (NaN where that is not counted).
    """

    rankings: Rankings
    skipped: dict[str, str]
    costs: dict[str, tuple[float, float]]


def collect_rankings(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    background: pd.DataFrame | None = None,
    *,
    n_repeats: int = 5,
    random_state: int = 0,
) -> CollectedRankings:
    """
    Rank features by mean |SHAP|, permutation importance and, where the model has it, impurity importance.

    Parameters
    ----------
    model : estimator
        Fitted; a Pipeline carries its encoder. Encoded columns are summed into the feature they come from.
    X : DataFrame of shape (n_rows, n_features)
    y : array of shape (n_rows,)
    background : DataFrame of shape (n_background, n_features), optional
        Rows that stand for absent features where SHAP cannot walk trees; `X` by default.
    n_repeats : int, default 5
        Shuffles per feature.
    random_state : int, default 0
        Seed of the shuffles and of SHAP's permutations.

    Returns
    -------
    CollectedRankings
        SHAP is of each row's predicted class; its absolute value is taken after a feature's columns are summed.
    """
    from sklearn.inspection import permutation_importance

    from explicate.prototypes.attribution import shap_attributions

    check_number("n_repeats", n_repeats, low=1, integer=True)
    names = list(X.columns)
    makers: dict[str, Callable[[], Any]] = {
        "shap": lambda: np.abs(shap_attributions(model, X, background, random_state=random_state)).mean(axis=0),
        "permutation": lambda: (
            permutation_importance(model, X, y, n_repeats=n_repeats, random_state=random_state).importances_mean
        ),
        "impurity": lambda: impurity_importance(model, len(names)),
    }
    queries = {"permutation": 1.0 + len(names) * n_repeats, "impurity": 0.0}
    rankings, skipped, costs = Rankings(), dict[str, str](), dict[str, tuple[float, float]]()
    for method, importance in makers.items():
        started = time.perf_counter()
        try:
            rankings[method] = order_by(names, importance())
        except NoRankingError as reason:
            skipped[method] = str(reason)
        else:
            costs[method] = (time.perf_counter() - started, queries.get(method, float("nan")))
    return CollectedRankings(rankings, skipped, costs)


class NoRankingError(ValueError):
    """A model lacks what a method ranks by."""


def impurity_importance(model: Any, n_features: int) -> np.ndarray:
    """
    Return a model's ``feature_importances_`` summed over the columns of each feature, shape (n_features,).

    Raises
    ------
    NoRankingError
        The model has none, or its encoder mixes features.
    """
    encoder, estimator = split_model(model)
    inner = estimator.estimator_ if isinstance(estimator, EncodedLabels) else estimator
    importance = getattr(inner, "feature_importances_", None)
    if importance is None:
        raise NoRankingError(f"{type(inner).__name__} has no feature_importances_")
    origins = column_origins(encoder, n_features)
    if origins is None:
        raise NoRankingError(f"the columns {type(encoder).__name__} makes cannot be traced to features")
    return np.bincount(origins, weights=np.asarray(importance, dtype=float), minlength=n_features)
