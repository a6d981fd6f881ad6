"""Gower's distance on the features themselves: for models that are no trees, and columns of any kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import align_columns
from explicate.prototypes.distances import Distance, Neighbourhood
from explicate.prototypes.kernels import gower_similarity


class GowerDistance(Distance):
    """
    Mean over features of the range-scaled difference (numeric) or of being different (other columns).

    A missing value is at distance 0 from another missing value and at distance 1 from anything else. Differences
    beyond the range learned by `fit` count as 1.

    Examples
    --------
    >>> rows = pd.DataFrame({"size": [0.0, 10.0], "kind": ["a", "b"]})
    >>> GowerDistance().fit(rows).pairwise(rows).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """

    def fit(self, X: Any) -> GowerDistance:
        """Learn names, ranges and categories from `X` of shape (n_rows, n_features); returns self."""
        frame = _frame(X)
        self.columns_ = list(frame.columns)
        self.named_ = isinstance(X, pd.DataFrame)
        self.numeric_ = np.array([_is_numeric(frame.iloc[:, k]) for k in range(frame.shape[1])], dtype=bool)
        self.low_, self.span_ = np.zeros(frame.shape[1]), np.ones(frame.shape[1])  # of halves
        self.categories_: dict[int, pd.Index] = {}
        for k in range(frame.shape[1]):
            column = frame.iloc[:, k]
            if not self.numeric_[k]:
                self.categories_[k] = _categories(column)
                continue
            values = _halves(column)
            known = values[~np.isnan(values)]
            if len(known):
                self.low_[k] = known.min()
                self.span_[k] = (known.max() - known.min()) or 1.0
        return self

    def encode(self, X: Any) -> np.ndarray:
        """Return scaled numbers and category positions (NaN when missing), shape (n_rows, n_features), float64."""
        frame = _frame(X)
        if self.named_ and isinstance(X, pd.DataFrame):
            frame = align_columns(frame, self.columns_)
        codes = np.empty(frame.shape, dtype=float)
        for k in range(frame.shape[1]):
            column = frame.iloc[:, k]
            if self.numeric_[k]:
                codes[:, k] = (_halves(column) - self.low_[k]) / self.span_[k]
                continue
            missing = column.isna().to_numpy()
            found = self.categories_[k].get_indexer(column.astype(object).where(~missing, None))
            # An unseen category gets a position of its own, different from every known one.
            codes[:, k] = np.where(missing, np.nan, np.where(found < 0, len(self.categories_[k]), found))
        return codes

    def within(self, codes: np.ndarray) -> Neighbourhood:
        """Return the similarities among encoded rows; within the range sums come from sorted columns, not pairs."""
        numbers = codes[:, self.numeric_]
        if ((numbers < 0) | (numbers > 1)).any():
            return super().within(codes)
        sums = np.zeros(len(codes))
        for k in range(codes.shape[1]):
            values = codes[:, k]
            missing = np.isnan(values)
            known = values[~missing]
            if self.numeric_[k]:
                sums[~missing] += len(known) - _sums_of_differences(known)
            else:
                _, which, counts = np.unique(known, return_inverse=True, return_counts=True)
                sums[~missing] += counts[which]
            sums[missing] += missing.sum()
        return self._neighbourhood(codes, sums / codes.shape[1])

    def similarity(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return one minus Gower's distance, shape (n_a, n_b), float64."""
        return gower_similarity(a, np.ascontiguousarray(b.T), self.numeric_)


def _sums_of_differences(values: np.ndarray) -> np.ndarray:
    """Return Σ_i |values_i − values_j| for every j, in the order of `values`."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    below = np.concatenate([[0.0], np.cumsum(ordered)])[:-1]
    rank = np.arange(len(values))
    out = np.empty(len(values))
    out[order] = rank * ordered - below + (ordered.sum() - below - ordered) - (len(values) - 1 - rank) * ordered
    return out


def _frame(X: Any) -> pd.DataFrame:
    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X)).infer_objects()


def _is_numeric(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)


def _halves(column: pd.Series) -> np.ndarray:
    """Return half of each number, so that the range of the largest ones is finite too."""
    try:
        values = column.to_numpy(dtype=float, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {column.name!r} was numeric in fit and is not now ({error}).") from error
    if np.isinf(values).any():
        raise ValueError(f"column {column.name!r} holds infinite values; replace them (missing values may stay).")
    return values / 2


def _categories(column: pd.Series) -> pd.Index:
    try:
        return pd.Index(column.dropna().astype(object).unique())
    except TypeError as error:
        raise ValueError(f"column {column.name!r} holds values that cannot be told apart ({error}).") from error
