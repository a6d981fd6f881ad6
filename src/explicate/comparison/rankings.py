"""Rankings from many methods over the original features, and their scores under one protocol."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.encoding import column_origins, split_model
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
        ``method``, ``ds``, ``auc_morf``, ``auc_lerf``, ``seconds`` (scoring alone), best first.
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
        lines = [f"{m}: {ds:.3f}" for m, ds in zip(self.scores["method"], self.scores["ds"], strict=True)]
        return "\n".join(["Degradation score of each ranking, best first:", *lines, floor])


def collect_rankings(
    model: Any, X: pd.DataFrame, y: Any, *, n_repeats: int = 5, random_state: int = 0
) -> tuple[Rankings, dict[str, str]]:
    """
    Rank features by mean |SHAP|, permutation importance and, where the model has it, impurity importance.

    Parameters
    ----------
    model : estimator
        Fitted; a Pipeline carries its encoder. Encoded columns are summed into the feature they come from.
    X : DataFrame of shape (n_rows, n_features)
    y : array of shape (n_rows,)
    n_repeats : int, default 5
        Shuffles per feature.
    random_state : int, default 0
        Seed of the shuffles.

    Returns
    -------
    rankings : dict
        Method -> features, the most important first; ties keep the order of the columns.
    skipped : dict
        Method -> why it gave no ranking.
    """
    from sklearn.inspection import permutation_importance

    check_number("n_repeats", n_repeats, low=1, integer=True)
    names = list(X.columns)
    encoder, estimator = split_model(model)
    rankings: Rankings = {}
    skipped: dict[str, str] = {}
    shuffled = permutation_importance(model, X, y, n_repeats=n_repeats, random_state=random_state)
    rankings["permutation"] = order_by(names, shuffled.importances_mean)
    encoded = X if encoder is None else encoder.transform(X)
    origins = np.arange(len(names)) if encoder is None else column_origins(encoder, encoded.shape[1])
    if origins is None:
        reason = f"the columns {type(encoder).__name__} makes cannot be traced to features"
        return rankings, {"shap": reason, "impurity": reason}
    impurity = getattr(estimator, "feature_importances_", None)
    if impurity is None:
        skipped["impurity"] = f"{type(estimator).__name__} has no feature_importances_"
    else:
        rankings["impurity"] = order_by(names, _summed(impurity, origins, len(names)))
    try:
        rankings["shap"] = order_by(names, mean_absolute_shap(estimator, encoded, origins, len(names)))
    except Exception as error:  # SHAP refuses models in many ways; the comparison goes on without it
        skipped["shap"] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return rankings, skipped


def mean_absolute_shap(estimator: Any, encoded: Any, origins: np.ndarray, n_features: int) -> np.ndarray:
    """Return mean |SHAP| of shape (n_features,); a feature's columns are summed before the absolute value is taken."""
    with warnings.catch_warnings():  # importing SHAP touches a part of matplotlib about to go
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        import shap

    values = np.asarray(shap.TreeExplainer(estimator).shap_values(encoded, check_additivity=False))
    if values.ndim == 2:
        values = values[:, :, None]
    block = np.zeros((values.shape[0], n_features, values.shape[2]))
    for column, feature in enumerate(origins):
        block[:, feature] += values[:, column]
    return np.asarray(np.abs(block).mean(axis=(0, 2)))


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


def stage_rankings(features: Sequence[Any], sofi: pd.DataFrame, pcfi: pd.DataFrame, extra: pd.DataFrame) -> Rankings:
    """
    Read the rankings of finished stages; an empty table gives none.

    Parameters
    ----------
    features : sequence
        Every feature.
    sofi : DataFrame
        ``feature``, ``rank``.
    pcfi : DataFrame
        ``class``, ``feature``, ``importance``, ``overall``: a ranking of the whole and one per class.
    extra : DataFrame
        ``method``, ``feature``, ``rank``, as users supply them.
    """
    rankings: Rankings = {}
    if not sofi.empty:
        rankings |= rankings_from_table(sofi[["feature", "rank"]].assign(method="sofi"), features)
    if not pcfi.empty:
        tall = pcfi.assign(method="pcfi." + pcfi["class"].astype(str))
        whole = tall.drop_duplicates("feature").assign(method="pcfi", importance=lambda part: part["overall"])
        ranked = pd.concat([whole, tall])
        ranked["rank"] = ranked.groupby("method")["importance"].rank(ascending=False, method="first")
        rankings |= rankings_from_table(ranked, features)
    return rankings | rankings_from_table(extra, features)


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


def no_rankings() -> pd.DataFrame:
    """Return an empty table of rankings: the default of what users supply."""
    return pd.DataFrame({"method": pd.Series(dtype="str"), "feature": pd.Series(dtype="str"), "rank": [0][:0]})


def score_rankings(
    rankings: Mapping[str, Sequence[Any]],
    score: Callable[[list[Any]], Any],
    features: Sequence[Any],
    *,
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
        Takes a ranking; returns an object with ``ds``, ``auc_morf``, ``auc_lerf``, ``morf_scores``, ``lerf_scores``.
    features : sequence
        Every feature.
    n_random : int, default 20
        Random rankings in the floor.
    random_state : int, default 0
        Seed of the random rankings.
    """
    check_number("n_random", n_random, low=0, integer=True)
    rows, curves = [], []
    for method, ranking in rankings.items():
        started = time.perf_counter()
        one = score(list(ranking))
        rows.append((method, one.ds, one.auc_morf, one.auc_lerf, time.perf_counter() - started))
        steps = range(len(one.morf_scores))
        curves.append(pd.DataFrame({"method": method, "step": steps, "morf": one.morf_scores, "lerf": one.lerf_scores}))
    generator = np.random.default_rng(random_state)
    drawn = [[features[k] for k in generator.permutation(len(features))] for _ in range(n_random)]
    floor = np.array([score(ranking).ds for ranking in drawn], dtype=float)
    table = pd.DataFrame(rows, columns=["method", "ds", "auc_morf", "auc_lerf", "seconds"])
    numbers = dict.fromkeys(table.columns[1:], "float64")
    table = table.astype({"method": "str"} | numbers).sort_values("ds", ascending=False, kind="stable")
    empty = pd.DataFrame({"method": pd.Series(dtype="str"), "step": [0][:0], "morf": [0.0][:0], "lerf": [0.0][:0]})
    return ScoredRankings(
        rankings={method: list(ranking) for method, ranking in rankings.items()},
        scores=table.reset_index(drop=True),
        curves=pd.concat(curves, ignore_index=True) if curves else empty,
        floor=floor,
    )


def _summed(values: Any, origins: np.ndarray, n_features: int) -> np.ndarray:
    return np.bincount(origins, weights=np.asarray(values, dtype=float), minlength=n_features)
