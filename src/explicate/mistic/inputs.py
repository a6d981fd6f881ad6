"""Checks of what a selection is given, before long work starts."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from explicate.core.encoding import column_origins
from explicate.core.features import FeatureSpace
from explicate.core.parallel import spawn_seeds
from explicate.core.validation import check_choice, check_number, shorten_list
from explicate.mistic.folds import Parameters, Task, kernel_for
from explicate.mistic.freezing import NORMALIZATIONS
from explicate.mistic.ranking import OBJECTIVES
from explicate.mistic.scoring import resolve_scoring
from explicate.mistic.searching import Plan


def resolve_seed(random_state: Any) -> int:
    """
    Return one whole number for a seed, a RandomState (which is drawn from) or ``None`` (fresh entropy).

    Examples
    --------
    >>> resolve_seed(3)
    3
    """
    if random_state is None:
        return spawn_seeds(None, 1)[0]
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(check_number("random_state", random_state, low=0, high=2**32 - 1, integer=True))


def plain_labels(y: Any) -> Any:
    """
    Return labels of pandas' nullable types as NumPy's, which scikit-learn would turn into floats.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_labels(pd.Series([True, False], dtype="boolean"))
    array([ True, False])
    """
    kind = getattr(getattr(y, "dtype", None), "kind", None)
    if isinstance(y, np.ndarray) or kind not in ("b", "i", "u") or not hasattr(y, "isna") or y.isna().any():
        return y
    return y.to_numpy(dtype=getattr(y.dtype, "numpy_dtype", y.dtype))


def check_weights(
    X: np.ndarray, y: Any, weights: Any, kind: str
) -> tuple[np.ndarray, Any, np.ndarray | None, np.ndarray | None]:
    """
    Drop rows of weight zero; the last of what is returned is the mask of those kept.

    Raises
    ------
    ValueError
        When weights are negative, not finite, of another length, all zero, or wipe out a class.
    """
    if weights is None:
        return X, y, None, None
    from sklearn.utils.validation import _check_sample_weight

    checked = _check_sample_weight(weights, X, dtype=np.float64, ensure_non_negative=True)
    kept = checked > 0
    if kept.sum() < 2:
        raise ValueError(f"sample_weight is zero but for {kept.sum()} row(s); two are needed.")
    if kind == "classifier":
        lost = np.setdiff1d(np.unique(y), np.unique(y[kept]))
        if len(lost):
            raise ValueError(f"sample_weight is zero on every row of class {shorten_list(lost)}; drop the class first.")
    return X[kept], None if y is None else y[kept], checked[kept], kept


def check_target(y: Any, kind: str, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Return the target as an SVM takes it, as `score_decisions` takes it, and the classes (empty outside classification).

    Raises
    ------
    ValueError
        For one class only, or continuous labels.
    """
    from sklearn.utils.multiclass import check_classification_targets

    none = np.array([])
    if kind == "regressor":
        target = np.asarray(y, dtype=np.float64)
        return target, target, none
    if kind == "one_class":
        inlier = np.ones(n_rows, dtype=bool) if y is None else np.asarray(y) != -1
        return np.where(inlier, 1, -1), inlier, none
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y holds one class ({shorten_list(classes)}); a classifier needs two classes or more.")
    return np.asarray(y), codes, classes


def read_groups(groups: Any, names: Any, n_columns: int) -> tuple[tuple[Any, ...], tuple[np.ndarray, ...]]:
    """
    Return names and columns of the groups; columns in no group stand alone.

    Parameters
    ----------
    groups : mapping, fitted transformer or None
        Name -> columns, by name or position; or an encoder whose inputs are the groups.
    names : array of str or None
        Columns of the table, when it has names.
    n_columns : int

    Raises
    ------
    ValueError
        When groups overlap or name an unknown column, or the encoder mixes columns or does not match.
    """
    columns = list(range(n_columns)) if names is None else list(names)
    if groups is None or isinstance(groups, Mapping):
        if (
            groups
            and names is not None
            and not any(c in columns for own in groups.values() for c in np.atleast_1d(own))
        ):
            columns = list(range(n_columns))  # positions, of a table with names
        space = FeatureSpace.from_groups(groups, columns)
        return space.names, tuple(np.array(own, dtype=np.intp) for own in space.members)
    if isinstance(groups, FrozenEstimator):
        groups = groups.estimator
    if not hasattr(groups, "n_features_in_"):
        raise TypeError(
            f"groups={type(groups).__name__} is no mapping and no fitted encoder; give one. Where the selector is "
            "cloned (a search, a target transformer), wrap the encoder in sklearn.frozen.FrozenEstimator."
        )
    origins = column_origins(groups, groups.n_features_in_)
    if origins is None:
        raise ValueError(f"groups={type(groups).__name__} mixes its inputs, so that no group exists; give a mapping.")
    if len(origins) != n_columns:
        raise ValueError(f"groups makes {len(origins)} columns, X has {n_columns}; fit on what the encoder returns.")
    inputs = list(getattr(groups, "feature_names_in_", range(groups.n_features_in_)))
    used = np.unique(origins)
    return tuple(inputs[i] for i in used), tuple(np.flatnonzero(origins == i) for i in used)


def list_parameters(svm: Any, param_grid: Any, n_candidates: int, random_state: int | None) -> list[Parameters]:
    """
    Return the combinations of parameters to try.

    Raises
    ------
    ValueError
        When a name is no parameter of the SVM, or nothing is listed.
    """
    from sklearn.model_selection import ParameterGrid, ParameterSampler

    if not param_grid:
        return [{}]
    spaces = [param_grid] if isinstance(param_grid, Mapping) else list(param_grid)
    known = svm.get_params(deep=False)
    unknown = [name for space in spaces for name in space if name not in known]
    if unknown:
        raise ValueError(
            f"param_grid names {shorten_list(unknown)}, unknown to {type(svm).__name__}; use its parameters."
        )
    if any(hasattr(values, "rvs") for space in spaces for values in space.values()):
        check_number("n_candidates", n_candidates, low=1, integer=True)
        seed = np.random.RandomState(random_state)  # scipy's distributions take no other kind of seed here
        return list(ParameterSampler(spaces, n_candidates, random_state=seed))
    grid = list(ParameterGrid(spaces))
    if not grid:
        raise ValueError(f"param_grid={param_grid!r} lists no combination; give values.")
    return grid


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _without_probabilities(svm: Any) -> Any:
    # libsvm's own sigmoids cost five fits more each time and warn; probabilities come from `fit_unified`.
    if "probability" in svm.get_params(deep=False):
        svm.set_params(probability=type(svm)().probability)
    return svm


def make_plan(selector: Any, svm: Any, kind: str, classes: np.ndarray, grid: list[Parameters]) -> Plan:
    """Check every option of a selector against the data it was given, and gather them for the search."""
    n_groups = len(selector.groups_)
    check_choice("direction", selector.direction, ("backward", "forward"))
    check_choice("tune", selector.tune, ("once", "each_step"))
    check_choice("objective", selector.objective, OBJECTIVES)
    check_choice("group_normalization", selector.group_normalization, NORMALIZATIONS)
    check_choice("ranking_rows", selector.ranking_rows, ("synthetic", "train", "validation"))
    check_choice("cutoff", selector.cutoff, ("zero", "f1", "balanced_accuracy"))
    check_number("step", selector.step, low=0, integer=selector.step >= 1 if _is_number(selector.step) else False)
    check_number("ranking_weight", selector.ranking_weight, low=0, high=1)
    check_number("n_synthetic", selector.n_synthetic, low=1, integer=True)
    check_number("n_initial_medoids", selector.n_initial_medoids, low=1, integer=True)
    check_number("max_memory", selector.max_memory, low=0, low_included=False)
    if selector.cutoff != "zero" and len(classes) != 2:
        raise ValueError(f"cutoff={selector.cutoff!r} is for two classes; use cutoff='zero'.")
    if selector.max_features is not None:
        check_number("max_features", selector.max_features, low=1, high=n_groups, integer=True)
    if isinstance(selector.select, str):
        check_choice("select", selector.select, ("knee", "best", "tuned"))
    else:
        check_number("select", selector.select, low=1, high=selector.max_features or n_groups, integer=True)
    for parameters in grid:  # a kernel that is not understood is said before anything is fitted
        kernel_for(svm, parameters, selector.X_fit_[:2], np.arange(selector.X_fit_.shape[1]))
        clone(svm).set_params(**parameters)._validate_params()
    return Plan(
        task=Task(kind, _without_probabilities(clone(svm)), classes, resolve_scoring(selector.scoring)),
        grid=grid,
        groups=selector.groups_,
        direction=selector.direction,
        step=selector.step,
        tune=selector.tune,
        weight=selector.ranking_weight,
        objective=selector.objective,
        normalization=selector.group_normalization,
        ranking_rows=selector.ranking_rows,
        n_synthetic=selector.n_synthetic,
        max_groups=selector.max_features or n_groups,
        n_initial_medoids=selector.n_initial_medoids,
        shared_features=selector.shared_features,
        shared_parameters=selector.shared_parameters,
        random_state=selector.seed_,
    )
