"""Rankings from many methods over the original features, and their scores under one protocol."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.encoding import column_origins, split_model
from explicate.core.labels import EncodedLabels
from explicate.core.validation import check_number

Rankings = dict[str, list[Any]]


@dataclass(frozen=True, eq=False)
class ScoredRankings:
    """
    Rankings and how each fared.

    Attributes
    ----------
    rankings : dict
        Method -> features, the most important first.
    scores : DataFrame
        ``method``, ``ds``, ``auc_morf``, ``auc_lerf``, ``seconds``, ``queries``, best first. The last two are what
        the ranking cost to make: time, and how often all rows were answered; NaN where its maker does not say.
    curves : DataFrame
        ``method``, ``step``, ``morf``, ``lerf``.
    floor : ndarray of shape (n_random,)
        Degradation scores of random rankings.
    """

    rankings: Rankings
    scores: pd.DataFrame
    curves: pd.DataFrame
    floor: np.ndarray

    @property
    def band(self) -> tuple[float, float, float]:
        """Mean and 2.5 % and 97.5 % quantiles of the random rankings; NaN without any."""
        if not len(self.floor):
            return (float("nan"),) * 3
        low, high = np.quantile(self.floor, [0.025, 0.975])
        return float(self.floor.mean()), float(low), float(high)

    def to_frame(self) -> pd.DataFrame:
        """Return the scores with the random floor as last row (``ds_low`` and ``ds_high`` hold its band)."""
        mean, low, high = self.band
        floor = pd.DataFrame({"method": ["random"], "ds": [mean], "ds_low": [low], "ds_high": [high]})
        table = self.scores.assign(ds_low=np.nan, ds_high=np.nan)
        columns = list(table.columns)
        return pd.concat([table, floor.reindex(columns=columns).astype(table.dtypes.to_dict())], ignore_index=True)

    def metrics(self) -> dict[str, float]:
        """Return ``<method>.ds`` of every method and of the random floor."""
        named = {f"{m}.ds": float(ds) for m, ds in zip(self.scores["method"], self.scores["ds"], strict=True)}
        mean, low, high = self.band
        return named | {"random.ds": mean, "random.ds_low": low, "random.ds_high": high}

    def summary(self) -> str:
        """Say which ranking degrades the response the fastest, and how random ones fare."""
        mean, low, high = self.band
        floor = f"Random rankings: mean {mean:.3f}, 95 % band {low:.3f} to {high:.3f}."
        if self.scores.empty:
            return f"No ranking to compare. {floor}"
        listed = [f"{m} {ds:.3f}" for m, ds in zip(self.scores["method"], self.scores["ds"], strict=True)]
        first = f"degradation score, best first: {', '.join(listed[:4])}{', …' if len(listed) > 4 else '.'}"
        return "\n".join([first, *([", ".join(listed[4:]) + "."] if len(listed) > 4 else []), floor])


@dataclass(frozen=True, eq=False)
class CollectedRankings:
    """
    Rankings made of a model and rows.

    Attributes
    ----------
    rankings : dict
        Method -> features, the most important first; ties keep the order of the columns.
    skipped : dict
        Method -> why it gave no ranking.
    costs : dict
        Method -> seconds it took, and how often it asked the model for all rows (NaN where that is not counted).
    """

    rankings: Rankings
    skipped: dict[str, str]
    costs: dict[str, tuple[float, float]]


def collect_rankings(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    background: pd.DataFrame | None = None,
    *,
    n_repeats: int = 5,
    random_state: int = 0,
) -> CollectedRankings:
    """
    Rank features by mean |SHAP|, permutation importance and, where the model has it, impurity importance.

    Parameters
    ----------
    model : estimator
        Fitted; a Pipeline carries its encoder. Encoded columns are summed into the feature they come from.
    X : DataFrame of shape (n_rows, n_features)
    y : array of shape (n_rows,)
    background : DataFrame of shape (n_background, n_features), optional
        Rows that stand for absent features where SHAP cannot walk trees; `X` by default.
    n_repeats : int, default 5
        Shuffles per feature.
    random_state : int, default 0
        Seed of the shuffles and of SHAP's permutations.

    Returns
    -------
    CollectedRankings
        SHAP is of each row's predicted class; its absolute value is taken after a feature's columns are summed.
    """
    from sklearn.inspection import permutation_importance

    from explicate.prototypes.attribution import shap_attributions

    check_number("n_repeats", n_repeats, low=1, integer=True)
    names = list(X.columns)
    makers: dict[str, Callable[[], Any]] = {
        "shap": lambda: np.abs(shap_attributions(model, X, background, random_state=random_state)).mean(axis=0),
        "permutation": lambda: (
            permutation_importance(model, X, y, n_repeats=n_repeats, random_state=random_state).importances_mean
        ),
        "impurity": lambda: impurity_importance(model, len(names)),
    }
    queries = {"permutation": 1.0 + len(names) * n_repeats, "impurity": 0.0}
    rankings, skipped, costs = Rankings(), dict[str, str](), dict[str, tuple[float, float]]()
    for method, importance in makers.items():
        started = time.perf_counter()
        try:
            rankings[method] = order_by(names, importance())
        except NoRankingError as reason:
            skipped[method] = str(reason)
        else:
            costs[method] = (time.perf_counter() - started, queries.get(method, float("nan")))
    return CollectedRankings(rankings, skipped, costs)


class NoRankingError(ValueError):
    """A model lacks what a method ranks by."""


def impurity_importance(model: Any, n_features: int) -> np.ndarray:
    """
    Return a model's ``feature_importances_`` summed over the columns of each feature, shape (n_features,).

    Raises
    ------
    NoRankingError
        The model has none, or its encoder mixes features.
    """
    encoder, estimator = split_model(model)
    inner = estimator.estimator_ if isinstance(estimator, EncodedLabels) else estimator
    importance = getattr(inner, "feature_importances_", None)
    if importance is None:
        raise NoRankingError(f"{type(inner).__name__} has no feature_importances_")
    origins = column_origins(encoder, n_features)
    if origins is None:
        raise NoRankingError(f"the columns {type(encoder).__name__} makes cannot be traced to features")
    return np.bincount(origins, weights=np.asarray(importance, dtype=float), minlength=n_features)


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
    by_text = {str(feature): feature for feature in features}
    found: Rankings = {}
    for method, part in table.groupby("method", sort=False):
        named = part.sort_values("rank", kind="stable")["feature"].astype(str).tolist()
        if sorted(named) != sorted(by_text):
            wrong = sorted(set(named) ^ set(by_text))[:5]
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


def score_rankings(
    rankings: Mapping[str, Sequence[Any]],
    score: Callable[[dict[Any, list[Any]]], Mapping[Any, Any]],
    features: Sequence[Any],
    *,
    costs: Mapping[str, tuple[float, float]] | None = None,
    n_random: int = 20,
    random_state: int = 0,
) -> ScoredRankings:
    """
    Score every ranking, and random ones as the floor, by one protocol.

    Parameters
    ----------
    rankings : mapping
        Method -> features, the most important first.
    score : callable
        Takes rankings by name; returns by name objects with ``ds``, ``auc_morf``, ``auc_lerf``, ``morf_scores`` and
        ``lerf_scores``, as ``SOFIExplainer.score_rankings`` does.
    features : sequence
        Every feature.
    costs : mapping, optional
        Method -> seconds and queries its ranking took.
    n_random : int, default 20
        Random rankings in the floor.
    random_state : int, default 0
        Seed of the random rankings.
    """
    check_number("n_random", n_random, low=0, integer=True)
    unknown = (float("nan"), float("nan"))
    generator = np.random.default_rng(random_state)
    drawn = {k: [features[i] for i in generator.permutation(len(features))] for k in range(n_random)}
    named = {str(method): list(ranking) for method, ranking in rankings.items()}
    scored = score({**named, **drawn})
    rows, curves = [], []
    for method in named:
        one = scored[method]
        rows.append((method, one.ds, one.auc_morf, one.auc_lerf, *(costs or {}).get(method, unknown)))
        steps = range(len(one.morf_scores))
        curves.append(pd.DataFrame({"method": method, "step": steps, "morf": one.morf_scores, "lerf": one.lerf_scores}))
    floor = np.array([scored[k].ds for k in drawn], dtype=float)
    table = pd.DataFrame(rows, columns=["method", "ds", "auc_morf", "auc_lerf", "seconds", "queries"])
    numbers = dict.fromkeys(table.columns[1:], "float64")
    table = table.astype({"method": "str"} | numbers).sort_values("ds", ascending=False, kind="stable")
    empty = pd.DataFrame({"method": pd.Series(dtype="str"), "step": [0][:0], "morf": [0.0][:0], "lerf": [0.0][:0]})
    return ScoredRankings(
        rankings=named,
        scores=table.reset_index(drop=True),
        curves=pd.concat(curves, ignore_index=True) if curves else empty,
        floor=floor,
    )
