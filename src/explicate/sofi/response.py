"""How the model responds to marginalised features: batched queries that keep every column's dtype."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from explicate.core.features import FeatureSpace
from explicate.core.parallel import row_blocks

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
    return default or (hasattr(estimator, "n_features_in_") and not hasattr(estimator, "steps"))


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
        self.n_features, self.n_rows, self.n_background = space.n_features, len(X), len(background)
        self._chunk = chunk_size
        self._kept, self._gone = self._plain_pairs(X, background)
        self.n_queries = 1
        self.n_queried_rows = len(X)
        answers = adapter.output(X)
        target = np.argmax(answers, axis=1) if adapter.classification else answers
        self._target = np.repeat(target, self.n_background)

    def _plain_pairs(self, X: pd.DataFrame, background: pd.DataFrame) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Lay out all pairs as plain matrices when every column has the same NumPy dtype: mixing is one selection."""
        dtypes = {*X.dtypes, *background.dtypes}
        one = next(iter(dtypes))
        size = self.n_rows * self.n_background * X.shape[1] * 16
        if len(dtypes) > 1 or not isinstance(one, np.dtype) or one.kind == "O" or size > 1e9:
            return None, None
        kept = np.repeat(X.to_numpy(), self.n_background, axis=0)
        return kept, np.tile(background.to_numpy(), (self.n_rows, 1))

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
        sets = np.asarray(sets, dtype=bool)[:, self._owner]
        answers = np.empty((len(sets), self.n_rows * self.n_background))
        for some in row_blocks(len(sets), 1, max(1, self._chunk // answers.shape[1])):
            for rows in row_blocks(answers.shape[1], 1, self._chunk):
                output = self._ask(sets[some], rows)
                target = np.tile(self._target[rows], len(output) // (rows.stop - rows.start))
                if self._adapter.classification:
                    values = output[np.arange(len(output)), target]
                else:
                    values = -np.abs(output - target)
                answers[some, rows] = values.reshape(-1, rows.stop - rows.start)
        return answers.reshape(len(sets), self.n_rows, self.n_background).mean(axis=2)

    def set_seconds(self) -> float:
        """Nominal seconds one set costs."""
        return SECONDS_PER_ROW * self.n_rows * self.n_background

    def _ask(self, sets: np.ndarray, rows: slice) -> np.ndarray:
        """Query pairs of instance and background row, once per set of columns taken from the background."""
        n_pairs = rows.stop - rows.start
        self.n_queries += 1
        self.n_queried_rows += len(sets) * n_pairs
        if self._kept is not None and self._gone is not None:
            values = np.where(sets[:, None, :], self._gone[None, rows], self._kept[None, rows])
            return self._adapter.output(pd.DataFrame(values.reshape(-1, sets.shape[1]), columns=self._columns))
        pair = np.arange(rows.start, rows.stop)
        kept, gone = pair // self.n_background, self.n_rows + pair % self.n_background
        taken = {k: pool.take(np.where(sets[:, k, None], gone, kept).ravel()) for k, pool in enumerate(self._pool)}
        table = pd.DataFrame(taken)
        table.columns = self._columns
        return self._adapter.output(table)
