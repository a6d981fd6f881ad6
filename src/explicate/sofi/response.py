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


def encoding_of(encoder: Any, model: Any, as_array: bool = False) -> Callable[[Any], Any]:
    """
    Return what a fitted encoder does to a table, in the container `model` was fitted with.

    Parameters
    ----------
    encoder : transformer
        Fitted.
    model : estimator
        Fitted on its output; its column names are put on a bare array.
    as_array : bool, default False
        Whether the user handed over arrays.
    """
    names = getattr(model, "feature_names_in_", None)

    def transform(table: pd.DataFrame) -> Any:
        rows = encoder.transform(table.to_numpy() if _wants_array(encoder, as_array) else table)
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        return pd.DataFrame(rows, columns=names) if names is not None and not isinstance(rows, pd.DataFrame) else rows

    return transform


def adapt_model(
    model: Any,
    *,
    classification: bool,
    transform: Callable[[Any], Any] | None = None,
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
    transform : callable, optional
        Applied to tables first, when the model was fitted on encoded data (`FeatureSpace.transform`).
    predict_fn, proba_fn : callable, optional
        Used instead of ``model.predict`` and ``model.predict_proba``.
    as_array : bool, default False
        Whether the user handed over arrays, so that callables get arrays too.
    """
    answer = proba_fn if classification else predict_fn
    takes_array = as_array if answer is not None else _wants_array(model, as_array)
    if answer is None:
        answer = model.predict_proba if classification else model.predict

    def output(table: pd.DataFrame) -> np.ndarray:
        rows: Any = table if transform is None else transform(table)
        if takes_array and isinstance(rows, pd.DataFrame):
            rows = rows.to_numpy()
        return _checked(np.asarray(answer(rows), dtype=np.float64), len(table), classification)

    return ModelAdapter(output, classification)


def _checked(answers: np.ndarray, n_rows: int, classification: bool) -> np.ndarray:
    """Return a model's answers in the shape the search works on, or say what is wrong with them."""
    fits = answers.ndim == 2 and len(answers) == n_rows if classification else answers.size == n_rows
    if not fits:
        wanted = f"class probabilities of shape ({n_rows}, n_classes)" if classification else f"{n_rows} estimates"
        raise ValueError(f"the model answered with shape {answers.shape} instead of {wanted}")
    if not np.isfinite(answers).all():
        raise ValueError(f"{np.count_nonzero(~np.isfinite(answers))} of the model's answers are NaN or infinite")
    return answers if classification else answers.reshape(n_rows)


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
        self._columns = X.columns
        self._owner = space.feature_of_column()
        # Instances and background rows stand in one pool per column, so that pairing them is one take per column.
        self._pool = [_joined(X.iloc[:, k], background.iloc[:, k]) for k in range(X.shape[1])]
        dtypes = {column.dtype for column in self._pool}
        self._plain = dtypes.pop() if len(dtypes) == 1 and isinstance(self._pool[0], np.ndarray) else None
        self._pairs: tuple[slice, list[tuple[Any, Any]]] = (slice(0), [])
        self.n_features, self.n_rows, self.n_background = space.n_features, len(X), len(background)
        self._chunk = chunk_size
        self.n_queries = 1
        self.n_queried_rows = len(X)
        answers = adapter.output(X)
        target = np.argmax(answers, axis=1) if adapter.classification else answers
        self._target = np.repeat(target, self.n_background)

    def __call__(self, sets: np.ndarray) -> np.ndarray:
        """Return the mean response for each set, shape (n_sets,)."""
        blocks = row_blocks(len(sets), 8.0 * len(self._target), 64e6)
        return np.concatenate([self.per_row(sets[block]).mean(axis=1) for block in blocks] or [np.zeros(0)])

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
        answers = np.empty((len(sets), len(self._target)))
        for rows in row_blocks(len(self._target), 1, self._chunk):
            size = rows.stop - rows.start
            target = self._target[rows]
            for some in row_blocks(len(sets), 1, max(1, self._chunk // size)):
                output = self._adapter.output(self._mixed(sets[some], rows))
                self.n_queries += 1
                self.n_queried_rows += len(output)
                output = output.reshape(-1, size, *output.shape[1:])
                if self._adapter.classification:
                    answers[some, rows] = output[:, np.arange(size), target]
                else:
                    answers[some, rows] = -np.abs(output - target)
        return answers.reshape(len(sets), self.n_rows, self.n_background).mean(axis=2)

    def set_seconds(self) -> float:
        """Nominal seconds one set costs."""
        return SECONDS_PER_ROW * self.n_rows * self.n_background

    def _mixed(self, sets: np.ndarray, rows: slice) -> pd.DataFrame:
        """Lay out pairs of instance and background row, once per set of columns taken from the background."""
        if self._pairs[0] != rows:
            pair = np.arange(rows.start, rows.stop)
            kept, gone = pair // self.n_background, self.n_rows + pair % self.n_background
            self._pairs = rows, [(column.take(kept), column.take(gone)) for column in self._pool]
        pairs = self._pairs[1]
        if self._plain is not None:  # one block, a column after the other: pandas keeps it as it is
            block = np.empty((len(pairs), len(sets), rows.stop - rows.start), dtype=self._plain)
            for into, choice, taken in zip(block, sets.T, pairs, strict=True):
                for row, swapped in zip(into, choice.tolist(), strict=True):
                    row[:] = taken[swapped]
            flat = block.reshape(len(pairs), -1).T
            return pd.DataFrame(flat, columns=self._columns, dtype=self._plain, copy=False)
        table = pd.DataFrame({k: _chosen(taken, sets[:, k].tolist()) for k, taken in enumerate(pairs)}, copy=False)
        table.columns = self._columns
        return table


def _joined(kept: pd.Series, gone: pd.Series) -> Any:
    """Return values of instances, then of background rows, as one array of their dtype."""
    if isinstance(kept.dtype, pd.CategoricalDtype) and isinstance(gone.dtype, pd.CategoricalDtype):
        gone = gone.astype(kept.dtype)  # the instances' categories are the training data's, and more if need be
    both = pd.concat([kept, gone], ignore_index=True)
    return both.to_numpy() if isinstance(both.dtype, np.dtype) else both.array


def _chosen(taken: tuple[Any, Any], swapped: list[bool]) -> Any:
    """Return one column of several sets: from the instances or from the background, set by set."""
    parts = [taken[choice] for choice in swapped]
    if not isinstance(parts[0], np.ndarray):
        return type(parts[0])._concat_same_type(parts)
    values = np.concatenate(parts)
    return pd.Series(values, dtype=object, copy=False) if values.dtype == object else values
