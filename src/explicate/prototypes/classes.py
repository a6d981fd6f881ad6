"""What the classes are: labels a model predicts, or quantile bands where it predicts numbers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor


@dataclass(frozen=True, eq=False)
class Bands:
    """
    Intervals of a number that act as classes.

    Attributes
    ----------
    edges : ndarray of shape (n_bands − 1,), dtype float64
        Inner edges, ascending; an edge belongs to the band below it.
    names : ndarray of shape (n_bands,), dtype object
        One name per band; they sort as the bands do.
    """

    edges: np.ndarray
    names: np.ndarray

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the band of each number, shape (n_values,), dtype object."""
        return self.names[np.searchsorted(self.edges, np.asarray(values, dtype=float), side="left")]


def quantile_bands(values: np.ndarray, n_bands: int) -> Bands:
    """
    Cut numbers at their quantiles; equal quantiles make fewer bands.

    Examples
    --------
    >>> bands = quantile_bands(np.array([1.0, 2.0, 3.0, 4.0]), 2)
    >>> bands.of([0.0, 9.0]).tolist()
    ['1: ≤ 2.5', '2: > 2.5']
    """
    edges = np.unique(np.quantile(values, np.arange(1, n_bands) / n_bands))
    edges = edges[edges < values.max()]
    if len(edges) == 0:
        return Bands(edges, np.array(["1: all"], dtype=object))
    texts = [f"{edge:.4g}" for edge in edges]
    middle = [f"({low}, {high}]" for low, high in itertools.pairwise(texts)]
    width = len(str(len(edges) + 1))
    names = [f"{k + 1:0{width}d}: {name}" for k, name in enumerate([f"≤ {texts[0]}", *middle, f"> {texts[-1]}"])]
    return Bands(edges, np.array(names, dtype=object))


def predicts_numbers(model: Any) -> bool:
    """Whether a model is a regressor; one that scikit-learn knows nothing about is not, unless it says so."""
    try:
        return bool(is_regressor(model))
    except AttributeError:
        return getattr(model, "_estimator_type", None) == "regressor"


def predictions(model: Any, X: Any) -> np.ndarray:
    """
    Return what a model predicts, one value per row.

    Raises
    ------
    TypeError
        When the model has no `predict`.
    ValueError
        When it predicts several outputs.
    """
    if not hasattr(model, "predict"):
        raise TypeError(f"model={model!r} has no predict; give a fitted model or a Distance.")
    return one_column(model.predict(X), f"{type(model).__name__} predicts")


def one_column(values: Any, what: str) -> np.ndarray:
    """
    Return values as one dimension.

    Examples
    --------
    >>> one_column([[1], [2]], "y has")
    array([1, 2])
    """
    values = np.asarray(values)
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.ndim != 1:
        raise ValueError(f"{what} an array of shape {values.shape}; give one value per row.")
    return values
