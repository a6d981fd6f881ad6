"""What PCFI reads off a model: its trees, the features they speak of, and the rows they compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from explicate.core.encoding import column_origins, dense_floats, split_model
from explicate.core.tree_readers import read_trees
from explicate.core.trees import TreeEnsemble
from explicate.core.validation import align_columns, check_choice

Normalize = Literal["forest", "tree"] | None


def encoded_rows(X: Any, encoder: Any, estimator: Any) -> np.ndarray:
    """Return the rows the trees compare; columns of a table are matched by name, missing values become NaN."""
    if encoder is not None:
        rows = encoder.transform(X)
    elif isinstance(X, pd.DataFrame) and hasattr(estimator, "feature_names_in_"):
        rows = align_columns(X, estimator.feature_names_in_.tolist())
    else:
        rows = X
    return dense_floats(rows)


def out_of_bag_rows(estimator: Any, n_rows: int) -> np.ndarray:
    """Tell which of the training rows each tree has not seen: booleans of shape (n_rows, n_trees)."""
    samples = getattr(estimator, "estimators_samples_", None) if getattr(estimator, "bootstrap", False) else None
    if samples is None:
        raise ValueError(
            f"out_of_bag=True needs trees grown on bootstrap samples; {type(estimator).__name__} has none: pass "
            "held-out rows with out_of_bag=False."
        )
    n_trained = getattr(estimator, "_n_samples", n_rows)
    if n_rows != n_trained:
        raise ValueError(f"out_of_bag=True needs the {n_trained} training rows, in their order; X has {n_rows}.")
    used = np.ones((n_rows, len(samples)), dtype=bool)
    for tree, drawn in enumerate(samples):
        used[drawn, tree] = False
    return used


def read_model(
    model: Any,
    normalize: Normalize,
    feature_groups: Mapping[Any, Sequence[Any]] | None,
    feature_names: Sequence[Any] | None,
) -> tuple[TreeEnsemble, tuple[Any, ...], np.ndarray]:
    """Read trees, names of reported features, and the feature each column counts for."""
    check_choice("normalize", normalize, ["forest", "tree", None])
    encoder, estimator = split_model(model)
    trees = read_trees(estimator)
    if trees.classes is None:
        raise ValueError(
            f"{type(estimator).__name__} is a regressor; per-class importance needs a tree classifier, such as "
            "RandomForestClassifier."
        )
    if encoder is None:
        columns = _names(feature_names, getattr(estimator, "feature_names_in_", None), trees.n_features)
        origins: np.ndarray | None = np.arange(trees.n_features)
        inputs = columns
    else:
        inputs = _names(feature_names, getattr(encoder, "feature_names_in_", None), encoder.n_features_in_)
        origins = column_origins(encoder, encoder.n_features_in_)
        named = feature_names is None and hasattr(encoder, "get_feature_names_out")
        columns = list(encoder.get_feature_names_out()) if named else [f"x{i}" for i in range(trees.n_features)]
    if feature_groups is not None:
        groups = {name: [group] if isinstance(group, str) else list(group) for name, group in feature_groups.items()}
        if origins is not None and all(member in inputs for group in groups.values() for member in group):
            inputs, owner = _declared_groups(groups, inputs)
            origins = owner[origins]
        else:
            inputs, origins = _declared_groups(groups, columns)
    elif origins is None:  # an output mixes several inputs: report the encoded columns themselves
        inputs, origins = columns, np.arange(trees.n_features)
    return trees, tuple(inputs), origins.astype(np.int64)


def _names(given: Sequence[Any] | None, fitted: Any, n: int) -> list[Any]:
    names = list(given) if given is not None else list(fitted) if fitted is not None else [f"x{i}" for i in range(n)]
    if len(names) != n:
        raise ValueError(f"feature_names has {len(names)} names; the model reads {n} columns.")
    return names


def _declared_groups(groups: Mapping[Any, Sequence[Any]], columns: list[Any]) -> tuple[list[Any], np.ndarray]:
    group_of = np.full(len(columns), -1)
    names = list(groups)
    for number, (name, members) in enumerate(groups.items()):
        for member in members:
            place = columns.index(member) if member in columns else member
            if not isinstance(place, int | np.integer) or not 0 <= place < len(columns):
                raise ValueError(f"feature_groups[{name!r}] names {member!r}, no column of the model.")
            if group_of[place] >= 0:
                raise ValueError(
                    f"feature_groups puts {member!r} in {names[group_of[place]]!r} and {name!r}; choose one."
                )
            group_of[place] = number
    for place in np.flatnonzero(group_of < 0):
        group_of[place] = len(names)
        if columns[place] in groups:
            raise ValueError(
                f"feature_groups has a feature {columns[place]!r} without the column of that name; rename the feature."
            )
        names.append(columns[place])
    return names, group_of
