"""Readers: one function per library format, each returning the flat arrays of `core.trees`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from explicate.core.labels import EncodedLabels
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
        return lambda one: _read_averaged(one, [one], [None])
    if isinstance(
        model,
        ensemble.RandomForestClassifier
        | ensemble.RandomForestRegressor
        | ensemble.ExtraTreesClassifier
        | ensemble.ExtraTreesRegressor,
    ):
        return lambda forest: _read_averaged(forest, forest.estimators_, [None] * len(forest.estimators_))
    if isinstance(model, ensemble.BaggingClassifier | ensemble.BaggingRegressor):
        base = getattr(model, "estimator_", model.estimator)
        return _read_bagging if base is None or isinstance(base, single) else None
    if isinstance(model, ensemble.GradientBoostingClassifier | ensemble.GradientBoostingRegressor):
        return _read_gradient_boosting
    if isinstance(model, ensemble.HistGradientBoostingClassifier | ensemble.HistGradientBoostingRegressor):
        return _read_hist_gradient_boosting
    names = {cls.__name__ for cls in type(model).__mro__ if cls.__module__.startswith(("xgboost.", "lightgbm."))}
    if "XGBModel" in names:
        return _read_xgboost
    return _read_lightgbm if "LGBMModel" in names else None


def _read_encoded(model: EncodedLabels) -> TreeEnsemble:
    return dataclasses.replace(read_trees(model.estimator_), classes=model.classes_)


def _assemble(parts: list[dict[str, np.ndarray]], **fields: Any) -> TreeEnsemble:
    """Join per-tree arrays, shifting the children's ids to the joined numbering."""
    sizes = np.array([len(part["feature"]) for part in parts], dtype=np.int64)
    roots = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    joined: dict[str, Any] = {}
    for name, dtype in (("threshold", np.float64), ("weight", np.float64), ("gain", np.float64), ("value", np.float64)):
        joined[name] = np.ascontiguousarray(np.concatenate([part[name] for part in parts]), dtype=dtype)
    joined["missing_left"] = np.concatenate([part["missing_left"] for part in parts]).astype(bool)
    joined["feature"] = np.concatenate([part["feature"] for part in parts]).astype(np.int32)
    for side in ("left", "right"):
        shifted = [
            np.where(part["feature"] < 0, -1, part[side] + root) for part, root in zip(parts, roots, strict=True)
        ]
        joined[side] = np.concatenate(shifted).astype(np.int32)
    return TreeEnsemble(roots=roots, **joined, **fields)


def _read_averaged(model: Any, trees: list[Any], subsets: list[np.ndarray | None]) -> TreeEnsemble:
    classes = getattr(model, "classes_", None)
    n_outputs = 1 if classes is None else len(classes)
    parts = []
    for one, subset in zip(trees, subsets, strict=True):
        columns = None
        if classes is not None and len(one.classes_) != n_outputs:
            columns = np.asarray(one.classes_, dtype=np.intp)  # a bag that missed a class knows only the others' codes
        parts.append(_sklearn_tree(one.tree_, n_outputs, columns, subset))
    return _assemble(
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


def _read_bagging(model: Any) -> TreeEnsemble:
    everything = np.arange(model.n_features_in_)
    subsets = [None if np.array_equal(columns, everything) else columns for columns in model.estimators_features_]
    return _read_averaged(model, list(model.estimators_), subsets)


def _read_gradient_boosting(model: Any) -> TreeEnsemble:
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
            parts.append({**part, "value": _in_column(part, part["value"][:, 0], column, n_outputs, model, double)})
            output.append(column)
    return _assemble(
        parts,
        output=np.array(output, dtype=np.int32),
        link="identity" if classes is None else "sigmoid" if n_outputs == 1 else "softmax",
        base=double * base.astype(np.float64),
        float32=True,
        criterion=None,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def _in_column(
    part: dict[str, np.ndarray],
    leaf_values: np.ndarray,
    column: int,
    n_outputs: int,
    model: Any = None,
    scale: float = 1.0,
) -> np.ndarray:
    """Place a boosted tree's leaf values in the output it feeds; zero at internal nodes."""
    rate = scale * (model.learning_rate if model is not None else 1.0)
    value = np.zeros((len(leaf_values), n_outputs))
    value[:, column] = np.where(part["feature"] < 0, rate * leaf_values, 0.0)
    return value


def _read_hist_gradient_boosting(model: Any) -> TreeEnsemble:
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
            parts.append({**part, "value": _in_column(part, nodes["value"], column, n_outputs)})
            output.append(column)
    if classes is None:
        link = "exp" if model.loss in ("poisson", "gamma") else "identity"
    else:
        link = "sigmoid" if n_outputs == 1 else "softmax"
    return _assemble(
        parts,
        output=np.array(output, dtype=np.int32),
        link=link,
        base=base,
        float32=False,
        criterion=None,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def _read_xgboost(model: Any) -> TreeEnsemble:
    learner = json.loads(model.get_booster().save_raw("json"))["learner"]
    booster = learner["gradient_booster"]
    if booster.get("name", "gbtree") != "gbtree":
        raise ValueError(f"booster={booster['name']!r} is not a plain sum of trees; use booster='gbtree'.")
    width = max(int(tree["tree_param"].get("size_leaf_vector", 1)) for tree in booster["model"]["trees"])
    if int(learner["learner_model_param"].get("num_target", 1)) > 1 or width > 1:
        raise ValueError(
            f"{type(model).__name__} predicts several outputs, or grows trees that feed several; fit one model per "
            "output with multi_strategy='one_output_per_tree'."
        )
    if model.missing is not None and not np.isnan(model.missing):
        raise ValueError(f"missing={model.missing!r} makes a number mean missing; use NaN for missing values.")
    objective = learner["objective"]["name"]
    links = {
        "binary:logistic": "sigmoid",
        "multi:softprob": "softmax",
        "multi:softmax": "softmax",
        "reg:squarederror": "identity",
        "reg:absoluteerror": "identity",
        "reg:pseudohubererror": "identity",
        "count:poisson": "exp",
        "reg:gamma": "exp",
        "reg:tweedie": "exp",
    }
    if objective not in links:
        raise ValueError(f"objective={objective!r} has a link that is not read; use one of {sorted(links)}.")
    link = links[objective]
    classes = model.classes_ if hasattr(model, "predict_proba") else None
    n_outputs = len(model.classes_) if link == "softmax" else 1
    base = np.array(
        json.loads(learner["learner_model_param"]["base_score"].replace("E", "e")), dtype=np.float64
    ).ravel()
    base = np.resize(
        np.log(base / (1 - base)) if link == "sigmoid" else np.log(base) if link == "exp" else base, n_outputs
    )
    trees, output = booster["model"]["trees"], np.array(booster["model"]["tree_info"], dtype=np.int32)
    try:
        rounds = model.best_iteration + 1  # early stopping: predict stops there
        used = booster["model"]["iteration_indptr"][rounds]
        trees, output = trees[:used], output[:used]
    except AttributeError:
        pass
    parts = []
    for tree, column in zip(trees, output, strict=True):
        if any(tree["split_type"]):
            raise ValueError("enable_categorical makes splits on sets of categories, which are not read; encode them.")
        left = np.array(tree["left_children"])
        condition = np.array(tree["split_conditions"], dtype=np.float32)
        part = {
            "feature": np.where(left < 0, -1, tree["split_indices"]),
            # x < t in float32 is x <= the float32 just below t.
            "threshold": np.nextafter(condition, np.float32(-np.inf)).astype(np.float64),
            "left": left,
            "right": np.array(tree["right_children"]),
            "missing_left": np.array(tree["default_left"], dtype=bool),
            "weight": np.array(tree["sum_hessian"]),
            "gain": np.where(left < 0, 0.0, tree["loss_changes"]),
        }
        parts.append({**part, "value": _in_column(part, condition.astype(np.float64), int(column), n_outputs)})
    return _assemble(
        parts,
        output=output,
        link=link,
        base=base,
        float32=True,
        criterion=None,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def _read_lightgbm(model: Any) -> TreeEnsemble:
    dump = model.booster_.dump_model(num_iteration=model.best_iteration_ or -1)
    objective, *details = dump.get("objective", "of the user's own").split()
    links = {
        "binary": "sigmoid",
        "multiclass": "softmax",
        "regression": "identity",
        "regression_l1": "identity",
        "huber": "identity",
        "quantile": "identity",
        "poisson": "exp",
        "gamma": "exp",
        "tweedie": "exp",
    }
    if objective not in links or "sqrt" in details:
        given = " ".join([objective, *details])
        raise ValueError(f"objective {given!r} has a link that is not read; use one of {sorted(links)}.")
    if dump["average_output"]:
        raise ValueError("boosting_type='rf' averages margins, which is not read; use 'gbdt' or a forest.")
    # A binary model means p = 1 / (1 + exp(-sigmoid * margin)).
    scale = next((float(item.split(":")[1]) for item in details if item.startswith("sigmoid:")), 1.0)
    classes = model.classes_ if hasattr(model, "predict_proba") else None
    n_outputs = dump["num_tree_per_iteration"]
    parts, output = [], []
    for index, tree in enumerate(dump["tree_info"]):
        part = _lightgbm_tree(tree["tree_structure"])
        parts.append({**part, "value": _in_column(part, scale * part["value"], index % n_outputs, n_outputs)})
        output.append(index % n_outputs)
    return _assemble(
        parts,
        output=np.array(output, dtype=np.int32),
        link=links[objective],
        base=np.zeros(n_outputs),
        float32=False,
        criterion=None,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def _lightgbm_tree(root: dict[str, Any]) -> dict[str, np.ndarray]:
    """Flatten LightGBM's nested nodes, parents before children."""
    rows: list[tuple[Any, ...]] = []
    stack: list[tuple[dict[str, Any], int, int]] = [(root, -1, 0)]
    children: dict[int, list[int]] = {}
    while stack:
        node, parent, side = stack.pop()
        here = len(rows)
        if parent >= 0:
            children[parent][side] = here
        if "split_index" not in node:
            if "leaf_coeff" in node:
                raise ValueError("linear_tree=True puts linear models in the leaves, which are not read; leave it off.")
            rows.append((-1, 0.0, False, node["leaf_value"], node.get("leaf_count", 0), 0.0))
            continue
        if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
            raise ValueError(
                "categorical splits and zero_as_missing are not read; encode categories and leave zero_as_missing off."
            )
        # Without missing values in training, LightGBM reads NaN as zero.
        goes_left = node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] >= 0.0
        rows.append(
            (node["split_feature"], node["threshold"], goes_left, 0.0, node["internal_count"], node["split_gain"])
        )
        children[here] = [-1, -1]
        stack += [(node["right_child"], here, 1), (node["left_child"], here, 0)]
    feature, threshold, missing_left, value, weight, gain = (np.array(column) for column in zip(*rows, strict=True))
    sides = np.array([children.get(node, [-1, -1]) for node in range(len(rows))])
    return {
        "feature": feature,
        "threshold": threshold.astype(np.float64),
        "left": sides[:, 0],
        "right": sides[:, 1],
        "missing_left": missing_left,
        "value": value.astype(np.float64),
        "weight": weight.astype(np.float64),
        "gain": gain.astype(np.float64),
    }
