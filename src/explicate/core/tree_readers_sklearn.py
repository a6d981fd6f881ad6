"""Readers of scikit-learn's trees, forests, bags and boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from explicate.core.tree_parts import assemble, in_column
from explicate.core.trees import TreeEnsemble


def read_averaged(model: Any, trees: list[Any], subsets: list[np.ndarray | None]) -> TreeEnsemble:
    """Read trees whose leaves are averaged; a subset names the columns a tree was grown on (``None`` is all)."""
    classes = getattr(model, "classes_", None)
    n_outputs = 1 if classes is None else len(classes)
    parts = []
    for one, subset in zip(trees, subsets, strict=True):
        columns = None
        if classes is not None and len(one.classes_) != n_outputs:
            columns = np.asarray(one.classes_, dtype=np.intp)  # a bag that missed a class knows only the others' codes
        parts.append(_sklearn_tree(one.tree_, n_outputs, columns, subset))
    return assemble(
        parts,
        output=np.full(len(trees), -1, dtype=np.int32),
        link="mean",
        base=np.zeros(n_outputs),
        float32=True,
        criterion=None if classes is None else trees[0].criterion,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def _sklearn_tree(
    tree: Any, n_outputs: int, columns: np.ndarray | None = None, subset: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    leaf = tree.children_left < 0
    feature = np.where(leaf, -1, tree.feature)
    value = tree.value[:, 0, :]
    if columns is not None:
        wide = np.zeros((len(value), n_outputs))
        wide[:, columns] = value
        value = wide
    mass = tree.weighted_n_node_samples * tree.impurity
    return {
        "feature": feature if subset is None else np.where(leaf, -1, np.asarray(subset)[feature]),
        "threshold": tree.threshold,
        "left": tree.children_left,
        "right": tree.children_right,
        "missing_left": tree.missing_go_to_left,
        "value": value,
        "weight": tree.weighted_n_node_samples,
        "gain": np.where(leaf, 0.0, mass - mass[tree.children_left] - mass[tree.children_right]),
    }


def read_bagging(model: Any) -> TreeEnsemble:
    """Read a bag of decision trees, each on its own columns."""
    everything = np.arange(model.n_features_in_)
    subsets = [None if np.array_equal(columns, everything) else columns for columns in model.estimators_features_]
    return read_averaged(model, list(model.estimators_), subsets)


def read_gradient_boosting(model: Any) -> TreeEnsemble:
    """Read gradient boosting that starts from a constant."""
    init = model.init_
    if not (init == "zero" or type(init).__name__ in ("DummyClassifier", "DummyRegressor")):
        raise ValueError(
            f"init={init!r} starts from a prediction that depends on the row, which trees alone cannot reproduce; use "
            "the default init."
        )
    base = np.asarray(model._raw_predict_init(np.zeros((1, model.n_features_in_), dtype=np.float32)))[0]
    n_outputs = len(base)
    classes = getattr(model, "classes_", None)
    # The exponential loss means p = 1 / (1 + exp(-2 margin)).
    double = 2.0 if classes is not None and model.loss == "exponential" else 1.0
    parts, output = [], []
    for round_ in model.estimators_:
        for column, tree in enumerate(round_):
            part = _sklearn_tree(tree.tree_, 1)
            parts.append({**part, "value": in_column(part, part["value"][:, 0], column, n_outputs, model, double)})
            output.append(column)
    return assemble(
        parts,
        output=np.array(output, dtype=np.int32),
        link="identity" if classes is None else "sigmoid" if n_outputs == 1 else "softmax",
        base=double * base.astype(np.float64),
        float32=True,
        criterion=None,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def read_hist_gradient_boosting(model: Any) -> TreeEnsemble:
    """Read histogram gradient boosting without categorical splits."""
    if getattr(model, "is_categorical_", None) is not None and np.any(model.is_categorical_):
        raise ValueError("categorical_features makes splits on sets of categories, which are not read; encode them.")
    classes = getattr(model, "classes_", None)
    base = np.asarray(model._baseline_prediction, dtype=np.float64).ravel()
    n_outputs = len(base)
    parts, output = [], []
    for round_ in model._predictors:
        for column, predictor in enumerate(round_):
            nodes = predictor.nodes
            leaf = nodes["is_leaf"].astype(bool)
            part = {
                "feature": np.where(leaf, -1, nodes["feature_idx"]),
                "threshold": np.where(leaf, 0.0, nodes["num_threshold"]),
                "left": nodes["left"].astype(np.int64),
                "right": nodes["right"].astype(np.int64),
                "missing_left": nodes["missing_go_to_left"].astype(bool),
                "weight": nodes["count"].astype(np.float64),
                "gain": np.where(leaf, 0.0, nodes["gain"]),
            }
            parts.append({**part, "value": in_column(part, nodes["value"], column, n_outputs)})
            output.append(column)
    if classes is None:
        link = "exp" if model.loss in ("poisson", "gamma") else "identity"
    else:
        link = "sigmoid" if n_outputs == 1 else "softmax"
    return assemble(
        parts,
        output=np.array(output, dtype=np.int32),
        link=link,
        base=base,
        float32=False,
        criterion=None,
        classes=classes,
        n_features=int(model.n_features_in_),
    )
