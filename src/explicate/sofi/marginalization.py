"""What a feature is replaced with when it vanishes: rows or statistics of the training data alone."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.features import FeatureSpace
from explicate.core.validation import check_choice, check_number, shorten_list


class Marginalizer:
    """
    The values that neutralise a feature.

    Parameters
    ----------
    space : FeatureSpace
        Features and their columns.
    X_train : DataFrame of shape (n_train, n_columns)
        The only source of values.
    strategy : {"background", "constant"}, default "background"
        Average over a sample of training rows, or one statistic per column.
    numeric_strategy : {"mean", "median", "mode"}, default "mean"
        Statistic of floating point columns.
    integer_strategy : {"mode", "median", "mean"}, default "mode"
        Statistic of integer columns; mean and median are rounded, with a warning, so that the dtype stays.
    categorical_strategy : {"mode"}, default "mode"
        Statistic of all other columns, and of blocks of several columns (their most frequent joint pattern).
    n_background : int, default 25
        Training rows drawn, without replacement; all of them when there are fewer.
    random_state : int or Generator, optional
        Seed of the draw.

    Attributes
    ----------
    rows_ : DataFrame of shape (n_replicas, n_columns)
        Values to take: the background rows in training order, or one row of statistics.

    Notes
    -----
    A Generator given as `random_state` is drawn from once. Explanations do not go through `tile` and `fill`, which
    are for searches of your own.

    Examples
    --------
    >>> table = pd.DataFrame({"size": [1.0, 3.0], "count": [1, 1], "kind": ["a", "a"]})
    >>> space = FeatureSpace.from_groups(None, table.columns)
    >>> Marginalizer(space, table, strategy="constant").rows_.to_dict("list")
    {'size': [2.0], 'count': [1], 'kind': ['a']}
    >>> background = Marginalizer(space, table, n_background=2, random_state=0)
    >>> work = background.tile(table.head(1))
    >>> background.fill(work, "size", n_rows=1)
    >>> work["size"].tolist()
    [1.0, 3.0]
    """

    def __init__(
        self,
        space: FeatureSpace,
        X_train: pd.DataFrame,
        strategy: str = "background",
        numeric_strategy: str = "mean",
        integer_strategy: str = "mode",
        categorical_strategy: str = "mode",
        n_background: int = 25,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        check_choice("marginalization", strategy, ["background", "constant"])
        check_choice("numeric_strategy", numeric_strategy, ["mean", "median", "mode"])
        check_choice("integer_strategy", integer_strategy, ["mode", "median", "mean"])
        check_choice("categorical_strategy", categorical_strategy, ["mode"])
        check_number("n_background", n_background, low=1, integer=True)
        self._space = space
        self.strategy = strategy
        self.n_background = n_background
        if strategy == "background":
            self.rows_ = _draw_rows(X_train, n_background, random_state)
        else:
            self.rows_ = _statistics(space, X_train, numeric_strategy, integer_strategy)

    def redrawn(self, X_train: pd.DataFrame, seed: int) -> Marginalizer:
        """Return a twin with other background rows (statistics stay as they are)."""
        twin = copy.copy(self)
        if self.strategy == "background":
            twin.rows_ = _draw_rows(X_train, self.n_background, seed)
        return twin

    @property
    def n_replicas(self) -> int:
        """Number of rows a marginalised instance is replaced with."""
        return len(self.rows_)

    def tile(self, X: pd.DataFrame) -> pd.DataFrame:
        """
        Repeat instances once per replica: all of them for the first, then all for the second, and so on.

        Parameters
        ----------
        X : DataFrame of shape (n_rows, n_columns)

        Returns
        -------
        DataFrame of shape (n_replicas * n_rows, n_columns)
            A copy, for `fill` to work on.
        """
        return pd.concat([X] * self.n_replicas, ignore_index=True)

    def fill(self, X_work: pd.DataFrame, feature: Any, n_rows: int) -> None:
        """
        Marginalise a feature of tiled instances in place; each replica takes its own row of `rows_`.

        Parameters
        ----------
        X_work : DataFrame of shape (n_replicas * n_rows, n_columns)
            What `tile` returned; overwritten in the columns of the feature.
        feature : object
            Its name.
        n_rows : int
            Number of instances.
        """
        for column in self._space.columns_of(feature):
            values = self.rows_[column].repeat(n_rows)
            X_work[column] = values.set_axis(X_work.index)


def _draw_rows(X_train: pd.DataFrame, n_background: int, seed: Any) -> pd.DataFrame:
    size = min(n_background, len(X_train))
    drawn = np.random.default_rng(seed).choice(len(X_train), size=size, replace=False)
    return X_train.iloc[np.sort(drawn)]


def _statistics(space: FeatureSpace, X: pd.DataFrame, numeric: str, integer: str) -> pd.DataFrame:
    """Return one row, each column in its training dtype."""
    values: dict[int, pd.Series] = {}
    gaps = [name for name in X.columns if X[name].isna().any()]
    if gaps:
        warnings.warn(
            f"column(s) {shorten_list(gaps)} hold missing values, which their statistics leave out; "
            "marginalization='background' keeps them.",
            UserWarning,
            stacklevel=4,
        )
    for group in space.members:
        if len(group) > 1:
            row = _joint_mode(X.iloc[:, list(group)])
            values |= {position: X.iloc[row : row + 1, position] for position in group}
        else:
            values[group[0]] = _statistic(X.iloc[:, group[0]], numeric, integer)
    columns = [values[position].reset_index(drop=True) for position in range(X.shape[1])]
    return pd.concat(columns, axis=1, keys=X.columns)


def _joint_mode(block: pd.DataFrame) -> int:
    """Position of the first row that shows the most frequent pattern."""
    codes, _ = pd.factorize(pd.MultiIndex.from_frame(block.reset_index(drop=True)), sort=False)
    pattern = block.assign(__count=pd.Series(codes, index=block.index).groupby(codes).transform("size").to_numpy())
    most = pattern["__count"].max()
    ties = block[pattern["__count"].to_numpy() == most]
    first = ties.drop_duplicates().sort_values(list(block.columns)).iloc[0] if _sortable(ties) else ties.iloc[0]
    return int(np.flatnonzero((block == first).all(axis=1).to_numpy())[0])


def _sortable(block: pd.DataFrame) -> bool:
    return all(pd.api.types.is_numeric_dtype(block[name]) for name in block.columns)


def _statistic(column: pd.Series, numeric: str, integer: str) -> pd.Series:
    known = column.dropna()
    if known.empty:
        return column.iloc[:1]
    is_boolean = pd.api.types.is_bool_dtype(column)
    if not pd.api.types.is_numeric_dtype(column) or is_boolean:
        return pd.Series(_mode(known), dtype=column.dtype)
    whole = pd.api.types.is_integer_dtype(column)
    strategy = integer if whole else numeric
    if strategy == "mode":
        return pd.Series(_mode(known), dtype=column.dtype)
    value = float(known.mean() if strategy == "mean" else known.median())
    if whole and value != round(value):
        warnings.warn(
            f"the {strategy} {value:.4g} of integer column {column.name!r} was rounded to {round(value)}; make the "
            "column float, or use integer_strategy='mode', if that matters.",
            UserWarning,
            stacklevel=5,
        )
    return pd.Series([round(value) if whole else value], dtype=column.dtype)


def _mode(known: pd.Series) -> Sequence[Any]:
    """Most frequent value; of several the smallest (the first category, or the first in the alphabet)."""
    return known.mode().iloc[:1].tolist()
