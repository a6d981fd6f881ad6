"""How the model responds to marginalised features: batched queries that keep every column's dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from explicate.core.features import FeatureSpace

#: Nominal seconds one row costs a model, for predictions of cost that do not depend on the clock.
SECONDS_PER_ROW = 1e-5


class Response(Protocol):
    """Mean response for sets of marginalised features: what a search needs to know of a model."""

    n_features: int

    def __call__(self, sets: np.ndarray) -> np.ndarray:
        """Return shape (n_sets,) for a boolean array of shape (n_sets, n_features)."""
        ...


@dataclass(frozen=True, eq=False)
class ModelAdapter:
    """
    Queries in the container the estimator was fitted with.

    Attributes
    ----------
    output : callable
        Takes a DataFrame in the space of the training data; returns class probabilities of shape (n_rows, n_classes),
        or estimates of shape (n_rows,).
    classification : bool
    """

    output: Callable[[pd.DataFrame], np.ndarray]
    classification: bool


def adapt_model(
    model: Any,
    *,
    classification: bool,
    encoder: Any = None,
    predict_fn: Callable[[Any], Any] | None = None,
    proba_fn: Callable[[Any], Any] | None = None,
    as_array: bool = False,
) -> ModelAdapter:
    """
    Wrap an estimator so that it answers tables of the training space.

    Parameters
    ----------
    model : estimator
        Fitted.
    classification : bool
        Whether class probabilities are asked for.
    encoder : transformer, optional
        Fitted; applied first.
    predict_fn, proba_fn : callable, optional
        Used instead of ``model.predict`` and ``model.predict_proba``.
    as_array : bool, default False
        Whether the user handed over arrays, so that callables get arrays too.
    """
    answer = proba_fn if classification else predict_fn
    takes_array = as_array if answer is not None else _wants_array(model, as_array)
    if answer is None:
        answer = model.predict_proba if classification else model.predict
    names = getattr(model, "feature_names_in_", None)

    def output(table: pd.DataFrame) -> np.ndarray:
        rows: Any = table
        if encoder is not None:
            rows = encoder.transform(table.to_numpy() if _wants_array(encoder, as_array) else table)
            if hasattr(rows, "toarray"):
                rows = rows.toarray()
            if names is not None and not isinstance(rows, pd.DataFrame):
                rows = pd.DataFrame(rows, columns=names)
        elif takes_array:
            rows = table.to_numpy()
        answers = np.asarray(answer(rows), dtype=np.float64)
        return answers if classification else answers.reshape(len(table))

    return ModelAdapter(output, classification)


def _wants_array(estimator: Any, default: bool) -> bool:
    """Whether a scikit-learn estimator was fitted without column names."""
    if hasattr(estimator, "feature_names_in_"):
        return False
    return default or hasattr(estimator, "n_features_in_") and not hasattr(estimator, "steps")


class QueryResponse:
    """
    Responses by asking the model about mixtures of instances and background rows.

    Classification: probability of the class predicted before any perturbation. Regression: minus the absolute
    deviation from the unperturbed estimate. Both averaged over background rows, then over instances.

    Parameters
    ----------
    adapter : ModelAdapter
    space : FeatureSpace
    X : DataFrame of shape (n_rows, n_columns)
        Instances; never modified.
    background : DataFrame of shape (n_background, n_columns)
        Values of marginalised features.
    chunk_size : int, default 20000
        Rows in one query at most.

    Attributes
    ----------
    n_features, n_rows : int
    n_queries, n_queried_rows : int
        Calls of the model so far, and rows in them.
    """

    def __init__(
        self,
        adapter: ModelAdapter,
        space: FeatureSpace,
        X: pd.DataFrame,
        background: pd.DataFrame,
        chunk_size: int = 20000,
    ) -> None:
        self._adapter = adapter
        self._owner = space.feature_of_column()
        self._columns = X.columns
        # Instances and background rows stand in one pool per column, so that a mixture is one take per column.
        self._pool = [
            pd.concat([X.iloc[:, k], background.iloc[:, k]], ignore_index=True).array for k in range(X.shape[1])
        ]
        dtypes = {X.dtypes.iloc[k] for k in range(X.shape[1])}
        same = len(dtypes) == 1 and isinstance(next(iter(dtypes)), np.dtype) and next(iter(dtypes)) != object
        self._matrix = np.column_stack([np.asarray(column) for column in self._pool]) if same else None
        self.n_features, self.n_rows, self.n_background = space.n_features, len(X), len(background)
        self._chunk = chunk_size
        self.n_queries = 0
        self.n_queried_rows = 0
        answers = self._ask(
            np.arange(self.n_rows), np.arange(self.n_rows), np.zeros((self.n_rows, 1), dtype=bool), True
        )
        self._target = np.argmax(answers, axis=1) if adapter.classification else answers

    def __call__(self, sets: np.ndarray) -> np.ndarray:
        """Return the mean response for each set, shape (n_sets,)."""
        return self.per_row(sets).mean(axis=1)

    def per_row(self, sets: np.ndarray) -> np.ndarray:
        """
        Return the response of each instance for each set of marginalised features.

        Parameters
        ----------
        sets : ndarray of shape (n_sets, n_features), dtype bool

        Returns
        -------
        ndarray of shape (n_sets, n_rows), dtype float64
        """
        sets = np.asarray(sets, dtype=bool)
        replicas = self.n_rows * self.n_background
        total = len(sets) * replicas
        answers = np.empty(total)
        for start in range(0, total, self._chunk):
            flat = np.arange(start, min(start + self._chunk, total))
            which, rest = np.divmod(flat, replicas)
            row, draw = np.divmod(rest, self.n_background)
            output = self._ask(row, self.n_rows + draw, sets[which])
            if self._adapter.classification:
                answers[flat] = output[np.arange(len(flat)), self._target[row]]
            else:
                answers[flat] = -np.abs(output - self._target[row])
        return answers.reshape(len(sets), self.n_rows, self.n_background).mean(axis=2)

    def set_seconds(self) -> float:
        """Nominal seconds one set costs."""
        return SECONDS_PER_ROW * self.n_rows * self.n_background

    def _ask(self, kept: np.ndarray, gone: np.ndarray, sets: np.ndarray, whole: bool = False) -> np.ndarray:
        """Query the rows that take each column from pool row `kept`, or from `gone` where its feature is in the set."""
        self.n_queries += 1
        self.n_queried_rows += len(kept)
        source = kept[:, None] if whole else np.where(sets[:, self._owner], gone[:, None], kept[:, None])
        if whole:
            source = np.repeat(source, len(self._owner), axis=1)
        if self._matrix is not None:
            values = self._matrix[source, np.arange(source.shape[1])]
            return self._adapter.output(pd.DataFrame(values, columns=self._columns))
        taken: Sequence[Any] = [pool.take(source[:, k]) for k, pool in enumerate(self._pool)]
        table = pd.DataFrame(dict(enumerate(taken)))
        table.columns = self._columns
        return self._adapter.output(table)
