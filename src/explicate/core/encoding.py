"""Which encoded columns each column of the user's table becomes, read off a fitted scikit-learn encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd


def split_model(model: Any) -> tuple[Any, Any]:
    """
    Split a Pipeline into what encodes and what predicts.

    Parameters
    ----------
    model : estimator
        Fitted Pipeline, or any other estimator.

    Returns
    -------
    encoder : transformer or None
        Every step but the last as one fitted Pipeline; ``None`` when there is none.
    estimator : estimator
        The last step, or `model` itself.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> model = make_pipeline(StandardScaler(), LinearRegression()).fit([[0.0], [1.0]], [0, 1])
    >>> [type(part).__name__ for part in split_model(model)]
    ['Pipeline', 'LinearRegression']
    """
    from sklearn.pipeline import Pipeline

    if not isinstance(model, Pipeline):
        return None, model
    steps = [step for _, step in model.steps[:-1] if step not in (None, "passthrough")]
    return (model[:-1] if steps else None), model.steps[-1][1]


def dense_floats(rows: Any) -> np.ndarray:
    """
    Return encoded rows as float64, whatever container an encoder left them in; missing values become NaN.

    Parameters
    ----------
    rows : DataFrame, sparse matrix or array-like of shape (n_rows, n_columns)
        Numbers.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> dense_floats(csr_array([[0, 2]])).tolist()
    [[0.0, 2.0]]
    """
    if hasattr(rows, "toarray"):
        rows = rows.toarray()
    if isinstance(rows, pd.DataFrame):
        return rows.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.asarray(rows, dtype=np.float64)


def column_origins(encoder: Any, n_columns: int) -> np.ndarray | None:
    """
    Map every output column of a fitted encoder to the one input column it is computed from.

    Parameters
    ----------
    encoder : transformer
        Fitted; ColumnTransformer, Pipeline, FeatureUnion and the column-wise transformers of scikit-learn are
        understood (one-hot, ordinal, target and spline encoders, scalers, binning, simple imputation, selectors).
    n_columns : int
        Columns the encoder takes.

    Returns
    -------
    ndarray of shape (n_output_columns,), dtype intp, or None
        Input position per output position; ``None`` when an output mixes several inputs (PCA, KNN imputation, …)
        or the transformer is not known to work column by column.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> column_origins(OneHotEncoder().fit([["a", 1], ["b", 1]]), 2)
    array([0, 0, 1])
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    if encoder is None or (isinstance(encoder, str) and encoder == "passthrough"):
        return np.arange(n_columns)
    if isinstance(encoder, Pipeline):
        origins: np.ndarray | None = np.arange(n_columns)
        for _, step in encoder.steps:
            inner = column_origins(step, len(origins)) if origins is not None else None
            origins = None if inner is None or origins is None else origins[inner]
        return origins
    if isinstance(encoder, FeatureUnion):
        parts = [column_origins(step, n_columns) for _, step in encoder.transformer_list if step != "drop"]
        known = [part for part in parts if part is not None]
        return np.concatenate(known) if parts and len(known) == len(parts) else None
    if isinstance(encoder, ColumnTransformer):
        return _column_transformer_origins(encoder)
    return _single_origins(encoder, n_columns)


def _column_transformer_origins(encoder: Any) -> np.ndarray | None:
    """Place each transformer's origins where ``output_indices_`` says its columns went."""
    names = list(getattr(encoder, "feature_names_in_", range(encoder.n_features_in_)))
    width = max((where.stop for where in encoder.output_indices_.values()), default=0)
    origins = np.full(width, -1, dtype=np.intp)
    for name, transformer, columns in encoder.transformers_:
        where = encoder.output_indices_[name]
        if (isinstance(transformer, str) and transformer == "drop") or where.start == where.stop:
            continue
        positions = _positions(columns, names)
        inner = column_origins(transformer, len(positions))
        if inner is None or len(inner) != where.stop - where.start:
            return None
        origins[where] = positions[inner]
    return None if (origins < 0).any() else origins


def _positions(columns: Any, names: Sequence[object]) -> np.ndarray:
    """Turn any column specification a fitted ColumnTransformer holds into positions."""
    if isinstance(columns, slice):
        if isinstance(columns.start, str) or isinstance(columns.stop, str):
            start = None if columns.start is None else names.index(columns.start)
            stop = None if columns.stop is None else names.index(columns.stop) + 1
            return np.arange(len(names))[start : stop : columns.step]
        return np.arange(len(names))[columns]
    listed = [columns] if isinstance(columns, str) or np.isscalar(columns) else list(columns)
    if listed and all(isinstance(item, bool | np.bool_) for item in listed):
        return np.flatnonzero(np.array(listed))
    if all(isinstance(item, str) for item in listed):
        return np.array([names.index(item) for item in listed], dtype=np.intp)
    return np.arange(len(names))[np.array(listed, dtype=np.intp)]


def _single_origins(step: Any, n_columns: int) -> np.ndarray | None:
    from sklearn import impute, preprocessing
    from sklearn.feature_selection import SelectorMixin

    everything = np.arange(n_columns)
    if isinstance(step, preprocessing.OneHotEncoder):
        return np.repeat(everything, _one_hot_widths(step))
    if isinstance(step, preprocessing.TargetEncoder):
        return np.repeat(everything, len(step.classes_) if step.target_type_ == "multiclass" else 1)
    if isinstance(step, preprocessing.SplineTransformer):
        return np.repeat(everything, step.n_features_out_ // n_columns)
    if isinstance(step, preprocessing.KBinsDiscretizer):
        return np.repeat(everything, 1 if step.encode == "ordinal" else step.n_bins_)
    if isinstance(step, impute.SimpleImputer):
        return _imputed_origins(step, everything)
    if isinstance(step, impute.MissingIndicator):
        return step.features_
    if isinstance(step, SelectorMixin):
        return np.flatnonzero(step.get_support())
    if isinstance(step, preprocessing.FunctionTransformer):
        return everything if step.func is None else None
    one_to_one = (
        preprocessing.StandardScaler,
        preprocessing.MinMaxScaler,
        preprocessing.MaxAbsScaler,
        preprocessing.RobustScaler,
        preprocessing.QuantileTransformer,
        preprocessing.PowerTransformer,
        preprocessing.OrdinalEncoder,
        preprocessing.Binarizer,
    )
    return everything if isinstance(step, one_to_one) else None


def _one_hot_widths(step: Any) -> list[int]:
    """Count the columns of each input: rare categories share one, a dropped category has none."""
    rare = getattr(step, "infrequent_categories_", None) or [None] * len(step.categories_)
    dropped = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(step.categories_)
    return [
        len(categories) - (0 if few is None else len(few) - 1) - (drop is not None)
        for categories, few, drop in zip(step.categories_, rare, dropped, strict=True)
    ]


def _imputed_origins(step: Any, everything: np.ndarray) -> np.ndarray:
    statistics = np.asarray(step.statistics_)
    lost = np.array([isinstance(value, float) and np.isnan(value) for value in statistics.tolist()])
    kept = everything if step.keep_empty_features else everything[~lost]
    return np.concatenate([kept, step.indicator_.features_]) if step.add_indicator else kept


def feature_groups_from_encoder(encoder: Any) -> dict[Any, list[Any]]:
    """
    Recover which encoded columns belong to each original feature.

    Parameters
    ----------
    encoder : transformer
        Fitted encoder that works column by column (see `column_origins`) and names its outputs.

    Returns
    -------
    dict
        Input column name -> list of output column names, in input order; inputs that were dropped are absent.

    Raises
    ------
    ValueError
        When an output column mixes several inputs, so that no grouping exists.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> feature_groups_from_encoder(OneHotEncoder().fit(pd.DataFrame({"sex": ["f", "m"]})))
    {'sex': ['sex_f', 'sex_m']}
    """
    n_columns = encoder.n_features_in_
    inputs = list(getattr(encoder, "feature_names_in_", [f"x{position}" for position in range(n_columns)]))
    origins = column_origins(encoder, n_columns)
    if origins is None:
        raise ValueError(
            f"encoder={type(encoder).__name__} has output columns that mix several inputs or a transformer not known "
            "to work column by column; declare feature_groups explicitly."
        )
    groups: dict[Any, list[Any]] = {}
    for origin, output in sorted(zip(origins, encoder.get_feature_names_out(), strict=True), key=lambda pair: pair[0]):
        groups.setdefault(inputs[origin], []).append(output)
    return groups
