"""Rankings of features: from importances, from finished stages, from users; one name a method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

#: Method -> features, the most important first.
Rankings = dict[str, list[Any]]


def order_by(names: Sequence[Any], importance: Any) -> list[Any]:
    """
    Return `names` by falling importance; ties keep their order, NaN comes last.

    Examples
    --------
    >>> order_by(["a", "b", "c"], [1.0, 3.0, 1.0])
    ['b', 'a', 'c']
    """
    values = np.nan_to_num(np.asarray(importance, dtype=float), nan=-np.inf)
    return [names[k] for k in np.argsort(-values, kind="stable")]


def order_by_drops(response: Callable[[np.ndarray], Any], names: Sequence[Any]) -> list[Any]:
    """
    Return `names` by how far the response falls when each feature alone is marginalised.

    Parameters
    ----------
    response : callable
        Takes booleans of shape (n_sets, n_features), True where marginalised; returns shape (n_sets,).
    names : sequence
        Features in the order of the columns.

    Examples
    --------
    >>> order_by_drops(lambda sets: 1 - sets @ np.array([0.1, 0.5]), ["a", "b"])
    ['b', 'a']
    """
    return order_by(names, -np.asarray(response(np.eye(len(names), dtype=bool))))


def stage_rankings(features: Sequence[Any], whole: Mapping[str, pd.DataFrame], per_class: pd.DataFrame) -> Rankings:
    """
    Read the rankings of finished stages; an empty table gives none.

    Parameters
    ----------
    features : sequence
        Every feature.
    whole : mapping
        Method -> ``feature``, ``rank``.
    per_class : DataFrame
        ``class``, ``feature``, ``importance``, ``overall``: PCFI, a ranking of the whole and one per class.
    """
    tables = [table[["feature", "rank"]].assign(method=method) for method, table in whole.items() if len(table)]
    if len(per_class):
        tall = per_class.assign(method="pcfi." + per_class["class"].astype(str))
        overall = tall.drop_duplicates("feature").assign(method="pcfi", importance=lambda part: part["overall"])
        ranked = pd.concat([overall, tall])
        tables.append(ranked.assign(rank=ranked.groupby("method")["importance"].rank(ascending=False, method="first")))
    return {method: order for table in tables for method, order in rankings_from_table(table, features).items()}


def rankings_from_table(table: pd.DataFrame, features: Sequence[Any]) -> Rankings:
    """
    Read rankings a user supplies: ``method``, ``feature``, ``rank`` (1 is the most important).

    Raises
    ------
    ValueError
        Columns are missing, or a method does not rank every feature once.
    """
    missing = {"method", "feature", "rank"} - set(table.columns)
    if missing:
        raise ValueError(f"the table of rankings lacks {sorted(missing)}; give method, feature and rank.")
    if table["method"].isna().any():
        raise ValueError("the table of rankings has rows without a method; name the method of every row.")
    ranks = pd.to_numeric(table["rank"], errors="coerce")
    if ranks.isna().any():
        method, rank = (table.loc[ranks.isna(), name].tolist()[0] for name in ("method", "rank"))
        raise ValueError(f"rank {rank!r} of ranking {method!r} is no number; give 1 for the most important feature.")
    table = table.assign(rank=ranks)
    by_text = {str(feature): feature for feature in features}
    found: Rankings = {}
    for method, part in table.groupby("method", sort=False):
        named = part.sort_values("rank", kind="stable")["feature"].astype(str).tolist()
        if sorted(named) != sorted(by_text):
            twice = {name for name in named if named.count(name) > 1}
            wrong = sorted(set(named) ^ set(by_text) | twice)[:5]
            raise ValueError(f"ranking {method!r} must hold every feature once; missing, unknown or twice: {wrong}.")
        found[str(method)] = [by_text[name] for name in named]
    return found


def merge_rankings(*sources: Mapping[str, Sequence[Any]]) -> Rankings:
    """
    Put rankings of several sources together.

    Raises
    ------
    ValueError
        Two sources name a method alike.

    Examples
    --------
    >>> merge_rankings({"sofi": ["a", "b"]}, {"mine": ["b", "a"]})
    {'sofi': ['a', 'b'], 'mine': ['b', 'a']}
    """
    merged: Rankings = {}
    for source in sources:
        for method, ranking in source.items():
            if method in merged or method == "random":
                raise ValueError(f"method {method!r} is already ranked in this run; give yours another name.")
            merged[method] = list(ranking)
    return merged


def no_rankings() -> pd.DataFrame:
    """Return an empty table of rankings: the default of what users supply."""
    return pd.DataFrame({"method": pd.Series(dtype="str"), "feature": pd.Series(dtype="str"), "rank": [0][:0]})
