"""
Tree ensembles compiled into mixtures: the response of any set of marginalised features without a model query.

For an instance x, a background row b and one tree, the leaves a mixture of the two can reach come from a walk that
forks only where x and b part: x's way notes that the feature must be kept, b's way that it must be marginalised. Each
leaf gives a triple (kept, marginalised, weight), active for S exactly when ``kept ∩ S = ∅`` and ``marginalised ⊆ S``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.encoding import column_origins, dense_floats, split_model
from explicate.core.tree_readers import is_tree_ensemble, read_trees
from explicate.core.trees import TreeEnsemble
from explicate.sofi import mixtures_kernels as kernels
from explicate.sofi import mixtures_walk_kernels as walks
from explicate.sofi.mixtures_response import CompiledResponse

__all__ = ["CompiledResponse", "NotCompilableError", "compile_response"]

_LINKS = {"identity": kernels.IDENTITY, "exp": kernels.EXPONENTIAL, "sigmoid": kernels.SIGMOID}


class NotCompilableError(Exception):
    """The response of this model has no mixture form here; the message is the reason, for a warning or a summary."""


def compile_response(
    model: Any,
    X: Any,
    background: Any,
    features: Sequence[Sequence[int]],
    *,
    regression: bool,
    encoder: Any = None,
    query: Callable[[Any], np.ndarray] | None = None,
    max_bytes: float = 1e9,
) -> CompiledResponse:
    """
    Compile the response of a tree ensemble to marginalised features.

    Parameters
    ----------
    model : estimator
        Fitted tree ensemble (see `explicate.core.tree_readers.read_trees`), or a Pipeline that ends in one.
    X : DataFrame or ndarray of shape (n_rows, n_columns)
        Instances, in the container `model` (or `encoder`) expects.
    background : DataFrame or ndarray of shape (n_background, n_columns)
        Rows that marginalised features take their values from; one row of statistics under the constant variant.
    features : sequence of sequences of int
        Column positions of each logical feature; a column in none of them is never marginalised.
    regression : bool
        Whether the response is minus the absolute deviation instead of a class probability.
    encoder : transformer, optional
        Fitted; applied before `model`.
    query : callable, optional
        Class probabilities, or estimates, for rows like `X`; default ``model.predict_proba`` or ``model.predict``
        after `encoder`. The compiled response is checked against it.
    max_bytes : float, default 1e9
        Memory that stored triples may take.

    Returns
    -------
    CompiledResponse

    Raises
    ------
    NotCompilableError
        With the reason: another kind of model, an encoder that mixes columns, or predictions that differ.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 0, 1])
    >>> response = compile_response(model, X[3:], X[:1], [[0], [1]], regression=False)
    >>> response.table().tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    pipeline, estimator = split_model(model)
    if not is_tree_ensemble(estimator):
        raise NotCompilableError(f"{type(estimator).__name__} is no tree ensemble")
    try:
        ensemble = read_trees(estimator)
    except (TypeError, ValueError) as error:
        raise NotCompilableError(str(error)) from error
    if regression != (ensemble.classes is None):
        raise NotCompilableError(f"{type(estimator).__name__} does not predict what the task asks for")
    origins: np.ndarray | None = np.arange(X.shape[1])
    for step in (encoder, pipeline):
        inner = column_origins(step, len(origins)) if origins is not None else None
        origins = None if inner is None or origins is None else origins[inner]
    if origins is None:
        raise NotCompilableError("the encoder mixes columns, or is not known to work column by column")
    feature_of_column = np.full(X.shape[1], -1, dtype=np.int64)
    for feature, columns in enumerate(features):
        feature_of_column[np.asarray(columns, dtype=np.intp)] = feature
    if query is None:
        query = _default_query(model, encoder, regression)
    try:
        x, b = (ensemble.prepare(_numbers(rows, (encoder, pipeline))) for rows in (X, background))
    except (TypeError, ValueError) as error:
        raise NotCompilableError(f"encoded rows are not numbers the trees can read ({error})") from error
    if len(origins) != ensemble.n_features:
        raise NotCompilableError("the encoder's columns could not be traced to the table's")
    compiled = _build(ensemble, x, b, feature_of_column[origins], regression, len(features), max_bytes)
    _verify(compiled, X, background, features, query)
    return compiled


def _build(
    ensemble: TreeEnsemble,
    x: np.ndarray,
    b: np.ndarray,
    logical: np.ndarray,
    regression: bool,
    n_features: int,
    max_bytes: float,
) -> CompiledResponse:
    outputs_of_tree = np.maximum(ensemble.output, 0).astype(np.int32)
    column = np.zeros(len(x), dtype=np.int64)
    target = ensemble.predict(x) if regression else np.argmax(ensemble.predict_proba(x), axis=1)
    values, base, scale = ensemble.value, ensemble.base, 1.0
    if ensemble.averaged:
        scale = 1.0 / ensemble.n_trees
        base = np.zeros(1)
        if not regression:
            column = target.astype(np.int64)
    else:  # a boosted tree feeds one output
        nodes = np.arange(ensemble.n_nodes)
        values = values[nodes, outputs_of_tree[ensemble.tree_of_node()]][:, None]
    if ensemble.averaged:
        link = kernels.IDENTITY if regression else kernels.LINEAR
    else:
        link = kernels.SOFTMAX if ensemble.link == "softmax" else _LINKS[ensemble.link]
    trees = (
        ensemble.roots,
        ensemble.feature,
        ensemble.threshold,
        ensemble.left,
        ensemble.right,
        ensemble.missing_left,
    )
    return CompiledResponse(
        trees=trees,
        values=np.ascontiguousarray(values),
        outputs_of_tree=outputs_of_tree,
        x=x,
        b=b,
        logical=np.ascontiguousarray(logical, dtype=np.int64),
        column=column,
        target=target.astype(np.float64),
        link=link,
        base=base,
        scale=scale,
        regression=regression,
        n_features=n_features,
        depth=int(walks.depth_of(ensemble.roots, ensemble.left, ensemble.right)),
        max_bytes=max_bytes,
    )


def _numbers(rows: Any, steps: Sequence[Any]) -> np.ndarray:
    """Encode rows and return them as float64, missing values as NaN."""
    for step in steps:
        rows = rows if step is None else step.transform(rows)
    return dense_floats(rows)


def _default_query(model: Any, encoder: Any, regression: bool) -> Callable[[Any], np.ndarray]:
    predict = model.predict if regression else model.predict_proba
    return lambda rows: np.asarray(predict(rows if encoder is None else encoder.transform(rows)))


def _verify(
    compiled: CompiledResponse,
    X: Any,
    background: Any,
    features: Sequence[Sequence[int]],
    query: Callable[[Any], np.ndarray],
    n_checks: int = 32,
) -> None:
    """
    Compare the compiled trees with the model on random mixtures of instances and background rows.

    Every row is in the query, though not compared, so that rows the model refuses are refused here as well.
    """
    generator = np.random.default_rng(0)
    at_x = generator.integers(len(X), size=n_checks)
    at_b = generator.integers(len(background), size=n_checks)
    sets = generator.random((n_checks, len(features))) < generator.random((n_checks, 1))
    every = np.concatenate(
        [sets, np.zeros((len(X), sets.shape[1]), bool), np.ones((len(background), sets.shape[1]), bool)]
    )
    from_x = np.concatenate([at_x, np.arange(len(X)), np.zeros(len(background), int)])
    from_b = np.concatenate([at_b, np.zeros(len(X), int), np.arange(len(background))])
    mixed = _mix(X, background, from_x, from_b, features, every)
    answers = np.asarray(query(mixed), dtype=np.float64)[:n_checks]
    target = compiled.target[at_x]
    wanted = answers.reshape(n_checks) if compiled.regression else answers[np.arange(n_checks), target.astype(int)]
    plain = dataclasses.replace(compiled, regression=False)
    got = np.array(
        [
            dataclasses.replace(plain.only(i), b=plain.b[j : j + 1]).per_row(one[None])[0, 0]
            for i, j, one in zip(at_x, at_b, sets, strict=True)
        ]
    )
    # A model that answers in single precision (XGBoost) rounds what the trees give exactly.
    tolerance = 1e-5 if np.array_equal(answers, answers.astype(np.float32)) else 1e-9
    worst = float(np.max(np.abs(got - wanted)))
    if not worst <= tolerance * max(1.0, float(np.max(np.abs(wanted)))):
        raise NotCompilableError(f"compiled predictions differ from the model's by {worst:.3g}")


def _mix(
    X: Any, background: Any, at_x: np.ndarray, at_b: np.ndarray, features: Sequence[Sequence[int]], sets: np.ndarray
) -> Any:
    """Return rows of `X` with the columns of marginalised features taken from `background`, dtypes kept."""
    both = pd.concat([pd.DataFrame(X), pd.DataFrame(background)], ignore_index=True)
    source = np.repeat(at_x[:, None], both.shape[1], axis=1)
    for feature, columns in enumerate(features):
        source[np.ix_(sets[:, feature], np.asarray(columns))] = (len(X) + at_b)[sets[:, feature], None]
    mixed = pd.concat([both.iloc[:, k].iloc[source[:, k]].reset_index(drop=True) for k in range(both.shape[1])], axis=1)
    if isinstance(X, pd.DataFrame):
        mixed.columns = X.columns
        return mixed
    return mixed.to_numpy(dtype=X.dtype)
