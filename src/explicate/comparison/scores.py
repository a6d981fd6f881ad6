"""Rankings scored by one protocol, over a floor of random ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.comparison.rankings import Rankings
from explicate.core.validation import check_number


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
