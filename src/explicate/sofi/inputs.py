"""Tables and options as users give them, brought to the form the explainer works on; what is wrong is named."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import align_columns, check_number, shorten_list
from explicate.reliability import infer_task


def fixed_seed(random_state: Any) -> int:
    """Turn `None`, a number or a Generator (drawn from once) into a seed."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    if not isinstance(random_state, numbers.Integral):
        raise TypeError(
            f"random_state={random_state!r} has type {type(random_state).__name__}; give None, a whole number of at "
            "least 0, or a numpy Generator."
        )
    return int(check_number("random_state", random_state, low=0, integer=True))


def as_table(X: Any, what: str = "X", width: int | None = None) -> pd.DataFrame:
    """
    Return rows as a table; the columns of an array are named f0, f1, ….

    Parameters
    ----------
    X : DataFrame, Series or array
    what : str
        Its name in messages.
    width : int, optional
        Columns expected of an array; a flat one is a single row then.
    """
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, pd.Series):
        return X.to_frame()
    if hasattr(X, "toarray"):
        raise TypeError(f"{what} is a sparse {type(X).__name__}; give {what}.toarray(), or a DataFrame.")
    values = np.asarray(X)
    if values.ndim == 1 and width is not None:
        values = values[None, :]
    if values.ndim != 2 or (width is not None and values.shape[1] != width):
        raise ValueError(f"{what} has shape {values.shape}; give rows of {width or 'several'} columns.")
    return pd.DataFrame(values, columns=[f"f{k}" for k in range(values.shape[1])])


def like_training(X: Any, train: pd.DataFrame) -> pd.DataFrame:
    """
    Bring instances to the columns and dtypes of the training data.

    Parameters
    ----------
    X : DataFrame, Series or array
        A Series is one row; columns are matched by name.
    train : DataFrame

    Raises
    ------
    ValueError
        For columns that do not match, a dtype that does not fit, or no rows.
    """
    if isinstance(X, pd.DataFrame):
        table = align_columns(X, list(train.columns))
    elif isinstance(X, pd.Series):
        table = align_columns(X.to_frame().T.infer_objects(), list(train.columns))
    else:
        table = as_table(X, width=train.shape[1])
        table.columns = train.columns
    if table.empty:
        raise ValueError("X has no rows; give at least one instance.")
    converted = {}
    for position, dtype in enumerate(train.dtypes):
        column, name = table.iloc[:, position], train.columns[position]
        if column.dtype != dtype:
            try:
                converted[name] = _cast(column, dtype)
            except (TypeError, ValueError) as error:
                raise ValueError(
                    f"column {name!r} of X has dtype {column.dtype}, which does not fit {dtype} of X_train ({error}); "
                    "convert it."
                ) from error
    if not converted:
        return table
    return pd.concat([converted.get(name, table[name]) for name in table.columns], axis=1, keys=table.columns)


def suspects(table: pd.DataFrame, train: pd.DataFrame) -> list[str]:
    """
    List what in a table a model may have refused: infinite, missing or never seen values, by column.

    Parameters
    ----------
    table : DataFrame
        Rows the model was asked about.
    train : DataFrame
        Training data, with the same columns.
    """
    infinite, missing, unseen = [], [], []
    for name in table.columns:
        column = table[name]
        if pd.api.types.is_float_dtype(column) and np.isinf(column.to_numpy(np.float64, na_value=np.nan)).any():
            infinite.append(name)
        if column.isna().any():
            missing.append(name)
        if not pd.api.types.is_numeric_dtype(column):
            new = set(column.dropna().unique()) - set(train[name].dropna().unique())
            unseen += [f"column {name!r} holds {shorten_list(sorted(map(str, new)))}, unseen in X_train"] if new else []
    found = []
    if infinite:
        found.append(f"column(s) {shorten_list(infinite)} hold infinite values, replace them")
    if missing:
        found.append(f"column(s) {shorten_list(missing)} hold missing values, impute them or put an imputer in front")
    return found + unseen


def _cast(column: pd.Series, dtype: Any) -> pd.Series:
    if isinstance(dtype, pd.CategoricalDtype):
        return column.astype(pd.CategoricalDtype([*dtype.categories, *_unseen(column, dtype)], dtype.ordered))
    if pd.api.types.is_integer_dtype(dtype) and pd.api.types.is_float_dtype(column):
        if column.isna().any() or (column % 1 != 0).any():
            return column  # training had whole numbers only; what is explained keeps its value
        return column.astype(dtype)
    return column.astype(dtype)


def _unseen(column: pd.Series, dtype: pd.CategoricalDtype) -> list[Any]:
    return [value for value in column.dropna().unique() if value not in dtype.categories]


def encoded_groups(groups: Mapping[Any, Sequence[Any]], columns: pd.Index) -> dict[Any, list[Any]]:
    """Match the encoder's output names with the columns of encoded data (arrays have positions only)."""
    names = [name for group in groups.values() for name in group]
    if set(names) <= set(columns):
        return {feature: list(group) for feature, group in groups.items()}
    if len(names) != len(columns):
        raise ValueError(
            f"feature_groups='auto': encoder makes {len(names)} columns ({shorten_list(names)}), X_train has "
            f"{len(columns)}."
        )
    absent = shorten_list([name for name in names if name not in set(columns)])
    raise ValueError(
        f"feature_groups='auto': X_train lacks columns the encoder names, such as {absent}; keep the names with "
        "encoder.set_output(transform='pandas')."
    )


def check_fitted(model: Any, callables: bool) -> None:
    """Refuse an unfitted scikit-learn estimator that is asked itself (no callable stands in)."""
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import check_is_fitted

    if isinstance(model, BaseEstimator) and not callables:
        check_is_fitted(model)


def task_of_callables(model: Any, proba_fn: Any) -> str:
    """Read the task off the model, else off the callable that was given."""
    try:
        return infer_task(model)
    except ValueError:
        return "classification" if proba_fn is not None else "regression"
