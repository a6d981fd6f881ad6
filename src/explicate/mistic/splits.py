"""Splitters of rows into training and validation parts, in scikit-learn's form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from explicate.core.parallel import spawn_seeds
from explicate.core.validation import check_number, shorten_list

Split = tuple[np.ndarray, np.ndarray]


class RepeatedHoldOut:
    """
    Random hold-outs, stratified by class for labels.

    Parameters
    ----------
    n_splits : int, default 5
    test_size : float, default 0.2
        Share of the rows held out.
    stratify : bool, default True
        Whether every part has the classes' shares; use ``False`` for numeric targets.
    random_state : int, optional
        Seed.

    Examples
    --------
    >>> splitter = RepeatedHoldOut(2, 0.5, random_state=0)
    >>> [len(test) for _, test in splitter.split(np.zeros((8, 1)), [0, 1] * 4)]
    [4, 4]
    """

    def __init__(
        self, n_splits: int = 5, test_size: float = 0.2, stratify: bool = True, random_state: int | None = None
    ) -> None:
        self.n_splits, self.test_size, self.stratify, self.random_state = n_splits, test_size, stratify, random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield (training rows, validation rows)."""
        splitter = StratifiedShuffleSplit if self.stratify and y is not None else ShuffleSplit
        drawn = splitter(self.n_splits, test_size=self.test_size, random_state=self.random_state)
        yield from drawn.split(np.zeros((len(X), 1)), y)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits


class OneClassSplit:
    """
    Train on inliers alone, validate on held-out inliers and all outliers.

    Parameters
    ----------
    n_splits : int, default 5
    test_size : float, default 0.2
        Share of the inliers held out.
    inlier_label : object, default 1
    random_state : int, optional
        Seed.

    Examples
    --------
    >>> train, test = next(OneClassSplit(1, 0.5, random_state=0).split(np.zeros((5, 1)), [1, 1, 1, 1, -1]))
    >>> len(train), len(test), bool(4 in test)
    (2, 3, True)
    """

    def __init__(
        self, n_splits: int = 5, test_size: float = 0.2, inlier_label: Any = 1, random_state: int | None = None
    ) -> None:
        self.n_splits, self.test_size = n_splits, test_size
        self.inlier_label, self.random_state = inlier_label, random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield (training rows, validation rows); without labels every row is an inlier."""
        labels = np.full(len(X), self.inlier_label) if y is None else np.asarray(y)
        inside, outside = np.flatnonzero(labels == self.inlier_label), np.flatnonzero(labels != self.inlier_label)
        if len(inside) < 2:
            raise ValueError(f"inlier_label={self.inlier_label!r} marks {len(inside)} row(s); two are needed.")
        for train, test in ShuffleSplit(self.n_splits, test_size=self.test_size, random_state=self.random_state).split(
            inside
        ):
            yield np.sort(inside[train]), np.sort(np.concatenate([inside[test], outside]))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits


class IndependentPartitions:
    """
    Disjoint parts of the rows, each cut in a training and a validation part of its own.

    Parameters
    ----------
    n_splits : int, default 3
        Parts.
    test_size : float, default 0.2
        Share of each part held out.
    stratify : bool, default True
        Whether parts and hold-outs have the classes' shares.
    random_state : int, optional
        Seed.

    Examples
    --------
    >>> parts = IndependentPartitions(2, 0.5, random_state=0).split(np.zeros((8, 1)), [0, 1] * 4)
    >>> sorted(int(row) for train, test in parts for row in [*train, *test])
    [0, 1, 2, 3, 4, 5, 6, 7]
    """

    def __init__(
        self, n_splits: int = 3, test_size: float = 0.2, stratify: bool = True, random_state: int | None = None
    ) -> None:
        self.n_splits, self.test_size, self.stratify, self.random_state = n_splits, test_size, stratify, random_state

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Yield (training rows, validation rows)."""
        labels = np.asarray(y) if self.stratify and y is not None else None
        first, *seeds = spawn_seeds(self.random_state, self.n_splits + 1)
        folds = KFold if labels is None else StratifiedKFold
        parts = folds(self.n_splits, shuffle=True, random_state=first).split(np.zeros((len(X), 1)), labels)
        for (_, part), seed in zip(parts, seeds, strict=True):
            own = None if labels is None else labels[part]
            hold = RepeatedHoldOut(1, self.test_size, self.stratify, seed)
            train, test = next(hold.split(part[:, None], own))
            yield part[train], part[test]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return self.n_splits


def reserve_rows(n_rows: int, y: Any = None, size: float = 0.2, random_state: int | None = None) -> Split:
    """
    Set rows aside that no search may see.

    Parameters
    ----------
    n_rows : int
    y : array-like of shape (n_rows,), optional
        Labels, to stratify by.
    size : float, default 0.2
        Share reserved.
    random_state : int, optional

    Returns
    -------
    tuple of ndarray
        Rows to work with, and rows reserved, both sorted.

    Examples
    --------
    >>> [len(part) for part in reserve_rows(10, size=0.3, random_state=0)]
    [7, 3]
    """
    hold = RepeatedHoldOut(1, size, y is not None, random_state)
    kept, reserved = next(hold.split(np.zeros((n_rows, 1)), y))
    return np.sort(kept), np.sort(reserved)


def resolve_splits(
    cv: Any, kind: str, X: np.ndarray, y: Any, random_state: int | None, given: np.ndarray | None = None
) -> list[Split]:
    """
    Make the splits of a selection.

    Parameters
    ----------
    cv : int or splitter or iterable of (train, validation)
        A number means shuffled (stratified) folds, for one class hold-outs of the inliers.
    kind : {"classifier", "regressor", "one_class"}
    X : ndarray of shape (n_rows, n_columns)
    y : ndarray of shape (n_rows,) or None
        For one class 1 and -1; rows of -1 are taken out of the training parts.
    random_state : int, optional
    given : ndarray of bool, optional
        Which of the user's rows `X` holds: listed splits speak of those rows, the others fall out.

    Raises
    ------
    ValueError
        When rows do not exist or are on both sides of a split, a class is too rare for the folds, a split is empty,
        or a class is missing from a training part (or, for two classes, from a validation part).
    """
    if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
        check_number("cv", cv, low=2, integer=True)
        if kind == "classifier":
            labels, counts = np.unique(y, return_counts=True)
            if counts.min() < cv:
                raise ValueError(
                    f"class {shorten_list([labels[counts.argmin()]])} has {counts.min()} row(s), fewer than "
                    f"the cv={cv} folds; lower cv or drop the class."
                )
            cv = StratifiedKFold(cv, shuffle=True, random_state=random_state)
        elif kind == "regressor":
            if len(X) < cv:
                raise ValueError(f"cv={cv} folds of n_samples = {len(X)} rows; lower cv.")
            cv = KFold(cv, shuffle=True, random_state=random_state)
        else:
            cv = OneClassSplit(int(cv), random_state=random_state)
    listed = not hasattr(cv, "split")
    if isinstance(cv, str | bool) or (listed and not hasattr(cv, "__iter__")):
        raise TypeError(f"cv={cv!r} is no number of folds, splitter or list of (training rows, validation rows).")
    made = iter(cv) if listed else cv.split(X, y)
    kept = np.ones(len(X), dtype=bool) if given is None or not listed else given
    splits = [(_rows(train, kept), _rows(test, kept)) for train, test in made]
    if not splits:
        raise ValueError(f"cv={cv!r} makes no split; give a number of folds or a splitter.")
    if kind == "one_class" and y is not None:  # whatever the splitter, outliers are for validation
        splits = [(train[np.asarray(y)[train] == 1], test) for train, test in splits]
    return check_splits(splits, kind, y)


def check_splits(splits: list[Split], kind: str, y: Any) -> list[Split]:
    """Return the splits; ValueError when one is empty, uses a row twice, or lacks a class (see `resolve_splits`)."""
    for number, (train, test) in enumerate(splits):
        _check_split(number, train, test, kind, y)
    return splits


def _rows(part: Any, kept: np.ndarray) -> np.ndarray:
    """Read positions or a mask over the user's rows as positions among the rows kept."""
    rows = np.asarray(part)
    if rows.dtype == bool and len(rows) == len(kept):
        rows = np.flatnonzero(rows)
    if rows.dtype.kind not in "iu" or (len(rows) and not 0 <= rows.min() <= rows.max() < len(kept)):
        raise ValueError(f"cv names rows {rows[:3]}… beyond the {len(kept)} of X; give positions from 0, or a mask.")
    return (np.cumsum(kept) - 1)[rows[kept[rows]]]


def _check_split(number: int, train: np.ndarray, test: np.ndarray, kind: str, y: Any) -> None:
    if len(train) < 2 or len(test) < 1:
        raise ValueError(f"split {number} of cv has {len(train)} training and {len(test)} validation rows; change cv.")
    if np.intersect1d(train, test).size:
        raise ValueError(f"split {number} of cv trains and validates on the same row(s); keep the two parts apart.")
    if kind != "classifier":
        return
    classes = np.unique(y)
    for part, rows in (("training", train), ("validation", test)):
        missing = classes[~np.isin(classes, y[rows])]
        if len(missing) and (part == "training" or len(classes) == 2):
            raise ValueError(
                f"split {number} of cv has no {part} row of class {shorten_list(missing)}; use stratified splits."
            )
