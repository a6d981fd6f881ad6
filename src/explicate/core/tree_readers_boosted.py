"""Readers of XGBoost and LightGBM, from their own dumps; neither library is imported."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from explicate.core.tree_parts import assemble, in_column
from explicate.core.trees import TreeEnsemble


def read_xgboost(model: Any) -> TreeEnsemble:
    """Read XGBoost's scikit-learn classes off the booster's JSON."""
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
        parts.append({**part, "value": in_column(part, condition.astype(np.float64), int(column), n_outputs)})
    return assemble(
        parts,
        output=output,
        link=link,
        base=base,
        float32=True,
        criterion=None,
        classes=classes,
        n_features=int(model.n_features_in_),
    )


def read_lightgbm(model: Any) -> TreeEnsemble:
    """Read LightGBM's scikit-learn classes off the booster's dump."""
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
        parts.append({**part, "value": in_column(part, scale * part["value"], index % n_outputs, n_outputs)})
        output.append(index % n_outputs)
    return assemble(
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
