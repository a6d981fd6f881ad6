"""Drawing rows: train, validation and test parts, and samples that keep every class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from explicate.tables import Problem, labels_of


def split_table(
    table: pd.DataFrame,
    problem: Problem,
    *,
    validation_size: float = 0.2,
    test_size: float = 0.2,
    sample_rows: int | None = None,
    random_state: int = 0,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """
    Split rows into train, validation and test; stratified by class for classification.

    Parameters
    ----------
    table, problem
        What `check_table` returned.
    validation_size, test_size : float, default 0.2
        Shares of all rows, each above 0, together below 1.
    sample_rows : int, optional
        Rows drawn (stratified) before splitting; ``None`` keeps all.
    random_state : int, default 0
        Seed of the draw and of the splits.

    Returns
    -------
    train, validation, test : DataFrame
        Disjoint, in table order, index kept.

    Raises
    ------
    ValueError
        When shares leave nothing to train on, or a class has fewer rows than three parts need.

    Examples
    --------
    >>> from explicate.tables import check_table
    >>> table, problem = check_table(pd.DataFrame({"x": range(10), "y": [0.5 + i for i in range(10)]}), "y")
    >>> [len(part) for part in split_table(table, problem)]
    [6, 2, 2]
    """
    from sklearn.model_selection import train_test_split

    if min(validation_size, test_size) <= 0 or validation_size + test_size >= 1:
        raise ValueError(
            f"validation_size={validation_size} and test_size={test_size} leave no train, validation or test rows; "
            "give two shares above 0 that add up to less than 1."
        )
    table = _sample(table, problem, sample_rows, random_state)
    n_rows = len(table)
    n_test, n_validation = round(test_size * n_rows), round(validation_size * n_rows)
    classify = problem["task"] == "classification"
    need = len(problem["classes"]) if classify else 1
    if min(n_test, n_validation, n_rows - n_test - n_validation) < need:
        raise ValueError(
            f"{n_rows} rows split by validation_size={validation_size}, test_size={test_size} leave a part with fewer "
            f"than {need} row(s); give more rows or other sizes."
        )
    labels = pd.Series(labels_of(table[problem["target"]]), index=table.index) if classify else None
    if labels is not None:
        counts = labels.value_counts()
        if counts.min() < 3:
            rare = counts.index.tolist()[int(counts.argmin())]
            raise ValueError(
                f"class {rare!r} of target {problem['target']!r} has {counts.min()} row(s), fewer than the 3 that "
                "train, validation and test need; merge it with another class or drop its rows."
            )
    rest, test = train_test_split(table.index, test_size=n_test, stratify=labels, random_state=random_state)
    train, validation = train_test_split(
        rest,
        test_size=n_validation,
        stratify=None if labels is None else labels.loc[rest],
        random_state=random_state,
    )
    return table.loc[np.sort(train)], table.loc[np.sort(validation)], table.loc[np.sort(test)]


def sample_stratified(labels: np.ndarray | None, n_rows: int, size: int, random_state: int) -> np.ndarray:
    """
    Draw row positions, as evenly over the labels as their shares allow.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,), optional
        Classes to balance the draw by; ``None`` draws uniformly.
    n_rows, size : int
        Rows to draw from, and how many; every class keeps at least one row while `size` allows.
    random_state : int
        Seed.

    Returns
    -------
    ndarray of shape (min(size, n_rows),), dtype intp
        Sorted positions.

    Examples
    --------
    >>> sample_stratified(np.array(["a", "a", "a", "a", "b"]), 5, 3, random_state=0).size
    3
    """
    if size >= n_rows:
        return np.arange(n_rows)
    generator = np.random.default_rng(random_state)
    if labels is None:
        return np.sort(generator.choice(n_rows, size=size, replace=False))
    codes = pd.factorize(labels)[0]
    # Rank rows within their class at random, then take rows by (rank + ½) / class size: proportional for any size,
    # and rank 0 first so that no class vanishes.
    order = generator.permutation(n_rows)
    rank = np.empty(n_rows)
    rank[order] = pd.Series(codes[order]).groupby(codes[order]).cumcount().to_numpy()
    share = (rank + 0.5) / np.bincount(codes)[codes]
    chosen = np.lexsort((order.argsort(), share, rank > 0))[:size]
    return np.sort(chosen)


def _sample(table: pd.DataFrame, problem: Problem, sample_rows: int | None, random_state: int) -> pd.DataFrame:
    if sample_rows is None or sample_rows >= len(table):
        return table
    labels = labels_of(table[problem["target"]]) if problem["task"] == "classification" else None
    return table.iloc[sample_stratified(labels, len(table), sample_rows, random_state)]
