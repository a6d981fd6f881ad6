"""Reading a user's table: what it must satisfy, and what it asks (the problem)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from explicate.core.validation import shorten_list

#: Largest finite float32; tree ensembles read their input in that precision.
FLOAT32_MAX = float(np.finfo(np.float32).max)
#: A numeric target with at most this many distinct whole numbers is read as classes when the task is "auto".
MAX_NUMERIC_CLASSES = 20


class Problem(TypedDict):
    """
    What is to be predicted from what; plain values, so that it lives in a JSON file.

    Keys
    ----
    target : str or int
        Column predicted.
    task : {"classification", "regression"}
        Kind of target.
    classes : list
        Labels as the user wrote them, sorted; empty for regression.
    positive_class : object
        Class of interest of a binary problem, or ``None``.
    features : list
        Columns used, in table order.
    categorical : list
        Those of `features` that are nominal: neither numeric nor boolean, or declared so.
    """

    target: Any
    task: str
    classes: list[Any]
    positive_class: Any
    features: list[Any]
    categorical: list[Any]


def check_frame(raw: Any) -> pd.DataFrame:
    """
    Return `raw` when it is a table with rows and distinct, plain column names.

    Parameters
    ----------
    raw : DataFrame
        What a catalog entry loaded.

    Raises
    ------
    TypeError
        When it is no DataFrame.
    ValueError
        When it has no rows, nested or repeated column names, or names of mixed types.

    Examples
    --------
    >>> check_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    Traceback (most recent call last):
    ValueError: the table has more than one column named 'a'; rename or drop the copies.
    """
    if not isinstance(raw, pd.DataFrame):
        raise TypeError(f"the raw table is a {type(raw).__name__}; its catalog entry must load a pandas DataFrame.")
    if raw.empty:
        raise ValueError(f"the table has {len(raw)} rows and {raw.shape[1]} columns; give at least one of each.")
    if raw.columns.nlevels > 1:
        raise ValueError(f"the table has {raw.columns.nlevels} levels of column names; flatten them to one.")
    if not raw.columns.is_unique:
        twice = raw.columns[raw.columns.duplicated()].unique()
        raise ValueError(f"the table has more than one column named {shorten_list(twice)}; rename or drop the copies.")
    kinds = {"text" if isinstance(name, str) else "number" for name in raw.columns}
    if len(kinds) > 1:
        odd = [name for name in raw.columns if not isinstance(name, str)]
        raise ValueError(f"column names mix text and {shorten_list(odd)}; make all of them text or all whole numbers.")
    return raw


def check_table(
    raw: pd.DataFrame,
    target: Any,
    *,
    task: str = "auto",
    drop: Sequence[Any] = (),
    categorical: Sequence[Any] = (),
    positive_class: Any = None,
) -> tuple[pd.DataFrame, Problem]:
    """
    Check a raw table and say what problem it poses.

    Parameters
    ----------
    raw : DataFrame of shape (n_rows, n_columns)
        Any mixture of numeric, boolean, text and categorical columns; never modified.
    target : str or int
        Column to predict; rows without a target are left out.
    task : {"auto", "classification", "regression"}, default "auto"
        "auto" reads regression off a numeric target unless it holds at most 20 distinct whole numbers.
    drop : sequence, default ()
        Columns to ignore.
    categorical : sequence, default ()
        Numeric columns that are codes of categories.
    positive_class : object, optional
        Class of interest of a binary target, as it is written in the table.

    Returns
    -------
    table : DataFrame of shape (n_labelled_rows, n_features + 1)
        Features in table order, then the target. The index is the position of the row in `raw`; text columns have
        pandas' ``str`` dtype with NaN for missing, declared codes are ``category``.
    problem : Problem
        Target, task, classes and features.

    Raises
    ------
    ValueError
        Naming the column or parameter, what it holds and the remedy.

    Examples
    --------
    >>> table, problem = check_table(pd.DataFrame({"size": [1.0, 2.0], "kind": ["a", "b"]}), "kind")
    >>> problem["task"], problem["classes"]
    ('classification', ['a', 'b'])
    """
    check_frame(raw)
    known = list(raw.columns)
    for parameter, names in (("target", [target]), ("drop", drop), ("categorical", categorical)):
        unknown = [name for name in names if name not in known]
        if unknown:
            raise ValueError(
                f"{parameter}={shorten_list(unknown)} is no column of the table; it has {shorten_list(known, most=12)}."
            )
    if target in drop:
        raise ValueError(f"drop names the target column {target!r}; take it out of drop.")
    features = [name for name in known if name != target and name not in drop]
    if not features:
        raise ValueError(f"no feature is left beside target={target!r}; shorten drop={list(drop)!r}.")
    table = raw[[*features, target]].reset_index(drop=True)
    table = table[table[target].notna()]
    if table.empty:
        raise ValueError(f"target column {target!r} is missing in every row; choose another target.")
    columns = {name: _read_column(table[name], name, nominal=name in categorical) for name in features}
    table = pd.DataFrame({**columns, target: _read_column(table[target], target, nominal=False)}, index=table.index)
    table.columns = pd.Index([*features, target])  # a frame made from a dict would lose an integer dtype of names
    resolved = _read_task(table[target], task)
    classes = _classes(table[target]) if resolved == "classification" else []
    _check_target(table[target], resolved, classes, positive_class)
    problem: Problem = {
        "target": _plain(target),
        "task": resolved,
        "classes": classes,
        "positive_class": positive_class,
        "features": [_plain(name) for name in features],
        "categorical": [_plain(name) for name in features if is_nominal(table[name])],
    }
    return table, problem


def is_nominal(column: pd.Series) -> bool:
    """
    Whether a column is categorical: neither numeric nor boolean.

    Examples
    --------
    >>> is_nominal(pd.Series(["a"])), is_nominal(pd.Series([1])), is_nominal(pd.Series([True, None], dtype="boolean"))
    (True, False, False)
    """
    return not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def features_and_target(table: pd.DataFrame, problem: Problem) -> tuple[pd.DataFrame, np.ndarray]:
    """
    Separate a table into features and labels.

    Parameters
    ----------
    table : DataFrame
        Any of the split tables.
    problem : Problem
        What `check_table` returned.

    Returns
    -------
    X : DataFrame of shape (n_rows, n_features)
        Features in the order of the problem.
    y : ndarray of shape (n_rows,)
        Labels as written, or float64 targets for regression.

    Examples
    --------
    >>> table, problem = check_table(pd.DataFrame({"size": [1.0, 2.0], "kind": ["a", "b"]}), "kind")
    >>> X, y = features_and_target(table, problem)
    >>> y.tolist()
    ['a', 'b']
    """
    target = table[problem["target"]]
    if problem["task"] == "regression":
        return table[problem["features"]], target.to_numpy(dtype=float)
    return table[problem["features"]], np.asarray(labels_of(target))


def _read_column(column: pd.Series, name: Any, *, nominal: bool) -> pd.Series:
    """Bring one column to a dtype every stage understands, or say why it cannot be."""
    column = column.infer_objects()
    if column.isna().all():
        raise ValueError(f"column {name!r} is missing in every row; add it to drop.")
    if column.dtype == object:
        kind = pd.api.types.infer_dtype(column, skipna=True)
        if kind == "boolean":
            column = column.astype("boolean")
        elif kind in ("integer", "floating", "mixed-integer-float", "decimal"):
            column = pd.to_numeric(column)
        elif kind == "string":
            column = column.astype("str")
        else:
            types = sorted({type(value).__name__ for value in column.dropna()})
            raise ValueError(
                f"column {name!r} mixes values of type {', '.join(types)}; convert it to numbers or to text, or add it "
                "to drop."
            )
    if isinstance(column.dtype, pd.StringDtype):
        column = column.astype("str")  # one missing value for text: NaN
    if pd.api.types.is_bool_dtype(column) or isinstance(column.dtype, pd.CategoricalDtype):
        return column
    if not pd.api.types.is_numeric_dtype(column):
        if isinstance(column.dtype, pd.StringDtype):
            return column
        raise ValueError(
            f"column {name!r} has dtype {column.dtype}, which no model reads; turn it into numbers or text, or add it "
            "to drop."
        )
    if pd.api.types.is_complex_dtype(column):
        raise ValueError(f"column {name!r} holds complex numbers; split it into real columns or add it to drop.")
    values = column.to_numpy(dtype=float, na_value=np.nan)
    with np.errstate(invalid="ignore"):
        beyond = np.abs(values) > FLOAT32_MAX
    if beyond.any():
        worst = values[beyond][0]
        raise ValueError(
            f"column {name!r} holds {int(beyond.sum())} value(s) that are infinite or beyond float32 (first: {worst}); "
            "replace them with missing values, rescale the column or add it to drop."
        )
    return column.astype("category") if nominal else column


def _read_task(target: pd.Series, task: str) -> str:
    if task not in ("auto", "classification", "regression"):
        raise ValueError(f"task={task!r} is not accepted; use one of 'auto', 'classification', 'regression'.")
    numeric = not is_nominal(target) and not pd.api.types.is_bool_dtype(target)
    if task == "regression" and not numeric:
        raise ValueError(
            f"task='regression' but target column {target.name!r} has dtype {target.dtype}; choose a numeric target or "
            "task='classification'."
        )
    if task != "auto":
        return task
    if not numeric:
        return "classification"
    values = target.to_numpy(dtype=float)
    few = len(np.unique(values)) <= MAX_NUMERIC_CLASSES and np.array_equal(values, np.round(values))
    return "classification" if few else "regression"


def _check_target(target: pd.Series, task: str, classes: list[Any], positive_class: Any) -> None:
    if task == "regression":
        if target.nunique() < 2:
            raise ValueError(f"target column {target.name!r} is constant ({target.iloc[0]}); nothing can be explained.")
        return
    if len(classes) < 2:
        raise ValueError(
            f"target column {target.name!r} holds one class only ({classes[0]!r}); give rows of at least two classes."
        )
    if positive_class is not None and not any(type(c) is type(positive_class) and c == positive_class for c in classes):
        raise ValueError(
            f"positive_class={positive_class!r} is no value of target {target.name!r}; it holds "
            f"{shorten_list(classes)}."
        )


def labels_of(target: pd.Series) -> np.ndarray:
    """
    Return class labels as a plain array: bool, integer, float or text, never an extension dtype.

    Examples
    --------
    >>> labels_of(pd.Series([True, False], dtype="boolean"))
    array([ True, False])
    """
    if isinstance(target.dtype, pd.CategoricalDtype):
        target = pd.Series(target.to_numpy()).infer_objects()
    if pd.api.types.is_bool_dtype(target):
        return target.to_numpy(dtype=bool)
    if pd.api.types.is_integer_dtype(target):
        return target.to_numpy(dtype=np.int64)
    if pd.api.types.is_float_dtype(target):
        return target.to_numpy(dtype=float)
    return target.to_numpy(dtype=object)


def _classes(target: pd.Series) -> list[Any]:
    return [_plain(label) for label in np.unique(labels_of(target))]


def _plain(value: Any) -> Any:
    """Turn a NumPy scalar into the Python value JSON knows."""
    return value.item() if isinstance(value, np.generic) else value
