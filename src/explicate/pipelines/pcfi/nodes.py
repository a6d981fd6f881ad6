"""Nodes of the stage `pcfi`."""

import logging
from typing import Any

import pandas as pd

from explicate.pipelines.pcfi.options import Pcfi
from explicate.tables import Problem, features_and_target

logger = logging.getLogger(__name__)

Outputs = tuple[pd.DataFrame, dict[str, float], Any, str]
COLUMNS = {
    "class": "str",
    "support": "float64",
    "feature": "str",
    "importance": "float64",
    "sd": "float64",
    "standard_error": "float64",
    "rank": "int64",
    "overall": "float64",
}


def explain_classes(model: Any, problem: Problem, options: Pcfi) -> Outputs:
    """Compute per-class importance from the training weights in the trees."""
    from explicate.pcfi import per_class_importance

    reason = _reason_to_skip(model, problem)
    if reason:
        return _skipped(reason)
    result = per_class_importance(model, normalize=options.normalize, path_filter=options.path_filter)
    return _outputs(result, "pcfi", options)


def explain_classes_held_out(model: Any, test: pd.DataFrame, problem: Problem, options: Pcfi) -> Outputs:
    """Compute the same quantity from test rows passed down the trees."""
    from explicate.pcfi import held_out_importance

    reason = _reason_to_skip(model, problem, averaged=True)
    if reason:
        return _skipped(reason)
    X, y = features_and_target(test, problem)
    result = held_out_importance(model, X, y, normalize=options.normalize, path_filter=options.path_filter)
    return _outputs(result, "pcfi.held_out", options)


def _reason_to_skip(model: Any, problem: Problem, *, averaged: bool = False) -> str | None:
    from explicate.core.encoding import split_model
    from explicate.core.labels import EncodedLabels
    from explicate.core.tree_readers import is_tree_ensemble, read_trees

    estimator = split_model(model)[1]
    name = type(estimator.estimator if isinstance(estimator, EncodedLabels) else estimator).__name__
    if problem["task"] != "classification":
        return f"PCFI skipped: it explains classes, and {name} is a regressor."
    if not is_tree_ensemble(estimator):
        return f"PCFI skipped: it explains tree ensembles, and {name} is none."
    try:
        trees = read_trees(estimator)
    except ValueError as error:
        return f"PCFI skipped: {error}"
    if averaged and not trees.averaged:
        return f"PCFI on held-out rows skipped: the boosted trees of {name} hold no class fractions."
    return None


def _skipped(reason: str) -> Outputs:
    from explicate.core.plotting import note_figure

    logger.info(reason)
    empty = pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in COLUMNS.items()})
    return empty, {}, note_figure(reason), reason


def _outputs(result: Any, prefix: str, options: Pcfi) -> Outputs:
    metrics = {f"{prefix}.{key}": value for key, value in result.metrics().items()}
    return result.to_frame(), metrics, result.plot(max_features=options.max_features), result.summary()
