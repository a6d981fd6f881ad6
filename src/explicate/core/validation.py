"""Checks that fail early and say what to do: every message names the parameter or column, the value, the remedy."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd


def check_choice(name: str, value: object, choices: Iterable[object]) -> Any:
    """
    Return `value` when it is one of `choices`.

    Parameters
    ----------
    name : str
        Parameter the value was given for, as the user wrote it.
    value : object
        Value received.
    choices : iterable
        Accepted values.

    Raises
    ------
    ValueError
        Naming the parameter, the value and the accepted values.

    Examples
    --------
    >>> check_choice("mode", "lokal", ["global", "local"])
    Traceback (most recent call last):
    ValueError: mode='lokal' is not accepted; use one of 'global', 'local'.
    """
    accepted = list(choices)
    if not any(type(value) is type(choice) and value == choice for choice in accepted):
        raise ValueError(f"{name}={value!r} is not accepted; use one of {', '.join(map(repr, accepted))}.")
    return value


def check_number(
    name: str,
    value: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    integer: bool = False,
    low_included: bool = True,
    high_included: bool = True,
) -> Any:
    """
    Return `value` when it is a finite number within the bounds.

    Parameters
    ----------
    name : str
        Parameter the value was given for.
    value : object
        Value received; booleans are refused.
    low, high : float, optional
        Bounds; ``None`` leaves the side open.
    integer : bool, default False
        Whether only whole numbers are accepted.
    low_included, high_included : bool, default True
        Whether each bound itself is accepted.

    Raises
    ------
    TypeError
        When the value is no number (of the kind asked for).
    ValueError
        When it is not finite or outside the bounds.

    Examples
    --------
    >>> check_number("n_background", 0, low=1, integer=True)
    Traceback (most recent call last):
    ValueError: n_background=0 is out of range; give a whole number of at least 1.
    """
    kind: Any = numbers.Integral if integer else numbers.Real
    word = "a whole number" if integer else "a number"
    parts = []
    if low is not None:
        parts.append(f"{'of at least' if low_included else 'above'} {low}")
    if high is not None:
        parts.append(f"{'of at most' if high_included else 'below'} {high}")
    wanted = " ".join([word, " and ".join(parts)]).strip()
    if isinstance(value, bool | np.bool_) or not isinstance(value, kind):
        raise TypeError(f"{name}={value!r} has type {type(value).__name__}; give {wanted}.")
    below = low is not None and (value < low or (value == low and not low_included))
    above = high is not None and (value > high or (value == high and not high_included))
    if below or above or not np.isfinite(float(value)):
        raise ValueError(f"{name}={value!r} is out of range; give {wanted}.")
    return value


def shorten_list(names: Iterable[object], most: int = 5) -> str:
    """
    Return names for a message: quoted, at most `most` of them, the rest counted.

    Examples
    --------
    >>> shorten_list("abc", most=2)
    "'a', 'b' and 1 more"
    """
    items = [repr(name.item() if isinstance(name, np.generic) else name) for name in names]
    head = ", ".join(items[:most])
    return head if len(items) <= most else f"{head} and {len(items) - most} more"


def align_columns(X: pd.DataFrame, columns: Sequence[object], *, what: str = "X") -> pd.DataFrame:
    """
    Return `X` with exactly `columns` in that order, matched by name.

    Parameters
    ----------
    X : DataFrame of shape (n_rows, n_columns)
        Table received; never modified.
    columns : sequence
        Names expected, in the order wanted.
    what : str, default "X"
        Name of the table in messages.

    Returns
    -------
    DataFrame of shape (n_rows, len(columns))
        `X` itself when nothing had to move.

    Raises
    ------
    ValueError
        When a name occurs twice, is missing, or is not expected.

    Examples
    --------
    >>> align_columns(pd.DataFrame({"b": [1], "a": [2]}), ["a", "b"]).columns.tolist()
    ['a', 'b']
    """
    expected = list(columns)
    if list(X.columns) == expected and X.columns.is_unique:
        return X
    if not X.columns.is_unique:
        twice = X.columns[X.columns.duplicated()].unique()
        raise ValueError(f"{what} has more than one column named {shorten_list(twice)}; rename or drop the copies.")
    present = set(X.columns)
    missing = [name for name in expected if name not in present]
    if missing:
        raise ValueError(f"{what} lacks the column(s) {shorten_list(missing)} that the training data has; add them.")
    extra = [name for name in X.columns if name not in set(expected)]
    if extra:
        raise ValueError(f"{what} has the column(s) {shorten_list(extra)} that the training data lacks; drop them.")
    return X[expected]


def check_memory(estimate: float, max_memory: float, *, what: str, remedy: str) -> None:
    """
    Refuse work whose estimated memory exceeds the limit, before it starts.

    Parameters
    ----------
    estimate : float
        Bytes the work would take.
    max_memory : float
        Bytes allowed (the caller's ``max_memory`` parameter).
    what : str
        The work, as a noun phrase for the message.
    remedy : str
        What the user can change, as an imperative.

    Raises
    ------
    MemoryError
        With the estimate, the limit and the remedy.

    Examples
    --------
    >>> check_memory(8e9, 2e9, what="the distance matrix", remedy="lower n_rows")
    Traceback (most recent call last):
    MemoryError: the distance matrix would take about 8.0 GB, above max_memory=2.0 GB; lower n_rows or raise max_memory.
    """
    if estimate > max_memory:
        raise MemoryError(
            f"{what} would take about {estimate / 1e9:.1f} GB, above max_memory={max_memory / 1e9:.1f} GB; "
            f"{remedy} or raise max_memory."
        )
