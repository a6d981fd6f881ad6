"""Reading a fitted tree ensemble, whatever library grew it, into the flat arrays of `core.trees`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from explicate.core.labels import EncodedLabels
from explicate.core.tree_readers_boosted import read_lightgbm, read_xgboost
from explicate.core.tree_readers_sklearn import (
    read_averaged,
    read_bagging,
    read_gradient_boosting,
    read_hist_gradient_boosting,
)
from explicate.core.trees import TreeEnsemble

#: What `read_trees` understands, for messages.
SUPPORTED = (
    "scikit-learn's decision trees, random forests, extra-trees, bagging of trees, gradient boosting and histogram "
    "gradient boosting, XGBoost and LightGBM"
)


def read_trees(model: Any) -> TreeEnsemble:
    """
    Read a fitted tree ensemble into flat arrays.

    Parameters
    ----------
    model : estimator
        Fitted single-output classifier or regressor on encoded columns: scikit-learn's DecisionTree, ExtraTree,
        RandomForest, ExtraTrees, Bagging of such trees, GradientBoosting, HistGradientBoosting; the scikit-learn
        classes of XGBoost and LightGBM (trees, no categorical splits).

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    TypeError
        For an estimator of another kind.
    ValueError
        For an ensemble whose predictions the arrays cannot reproduce (several outputs, categorical splits, an initial
        estimator that depends on the row, XGBoost's DART or a `missing` other than NaN, LightGBM's linear leaves or
        `reg_sqrt`, an objective of the user's own), with the reason.
    sklearn.exceptions.NotFittedError
        When the model is not fitted.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> trees = read_trees(DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"]))
    >>> trees.predict([[0.2], [0.9]]).tolist()
    ['no', 'yes']
    """
    from sklearn.utils.validation import check_is_fitted

    reader = _reader(model)
    if reader is None:
        raise TypeError(f"{type(model).__name__} is no tree ensemble this reads; supported are {SUPPORTED}.")
    check_is_fitted(model)
    if getattr(model, "n_outputs_", 1) != 1:
        raise ValueError(f"{type(model).__name__} predicts {model.n_outputs_} outputs; fit one model per output.")
    return reader(model)


def is_tree_ensemble(model: Any) -> bool:
    """
    Whether `read_trees` knows the class of a model (not whether this very one can be read).

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> is_tree_ensemble(SVC())
    False
    """
    return _reader(model) is not None


def _reader(model: Any) -> Callable[[Any], TreeEnsemble] | None:
    from sklearn import ensemble, tree

    single = (tree.DecisionTreeClassifier, tree.DecisionTreeRegressor)
    if isinstance(model, EncodedLabels):
        return _read_encoded if is_tree_ensemble(model.estimator) else None
    if isinstance(model, single):
        return lambda one: read_averaged(one, [one], [None])
    if isinstance(
        model,
        ensemble.RandomForestClassifier
        | ensemble.RandomForestRegressor
        | ensemble.ExtraTreesClassifier
        | ensemble.ExtraTreesRegressor,
    ):
        return lambda forest: read_averaged(forest, forest.estimators_, [None] * len(forest.estimators_))
    if isinstance(model, ensemble.BaggingClassifier | ensemble.BaggingRegressor):
        base = getattr(model, "estimator_", model.estimator)
        return read_bagging if base is None or isinstance(base, single) else None
    if isinstance(model, ensemble.GradientBoostingClassifier | ensemble.GradientBoostingRegressor):
        return read_gradient_boosting
    if isinstance(model, ensemble.HistGradientBoostingClassifier | ensemble.HistGradientBoostingRegressor):
        return read_hist_gradient_boosting
    names = {cls.__name__ for cls in type(model).__mro__ if cls.__module__.startswith(("xgboost.", "lightgbm."))}
    if "XGBModel" in names:
        return read_xgboost
    return read_lightgbm if "LGBMModel" in names else None


def _read_encoded(model: EncodedLabels) -> TreeEnsemble:
    return dataclasses.replace(read_trees(model.estimator_), classes=model.classes_)
