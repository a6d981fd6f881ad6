"""How much of an explanation survives other background rows and other instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explicate.core.parallel import spawn_seeds
from explicate.core.validation import check_number

if TYPE_CHECKING:
    from explicate.sofi.explainer import SOFIExplainer
    from explicate.sofi.explanation import SOFIExplanation


@dataclass(frozen=True, eq=False)
class Stability:
    """
    Ranks and scores over repeated explanations.

    Attributes
    ----------
    feature_names : tuple
    ranks : ndarray of shape (n_draws, n_features), dtype int64
        Rank (from 1) of each feature in each repetition.
    ds : ndarray of shape (n_draws,), dtype float64
        Score of the ranking found anew in each repetition.
    ds_kept : ndarray of shape (n_draws,), dtype float64
        Score of the original ranking there; never above `ds` when searches are exact.
    top_k : int
    """

    feature_names: tuple[Any, ...]
    ranks: np.ndarray
    ds: np.ndarray
    ds_kept: np.ndarray
    top_k: int

    def to_frame(self) -> pd.DataFrame:
        """Return ``feature``, ``mean_rank``, ``sd_rank``, ``top_share``, best mean rank first."""
        table = pd.DataFrame(
            {
                "feature": list(self.feature_names),
                "mean_rank": self.ranks.mean(axis=0),
                "sd_rank": self.ranks.std(axis=0),
                "top_share": (self.ranks <= self.top_k).mean(axis=0),
            }
        )
        return table.sort_values("mean_rank", kind="stable", ignore_index=True)

    def metrics(self) -> dict[str, float]:
        """Return mean and standard deviation of both scores, and the mean standard deviation of ranks."""
        return {
            "stability.ds_mean": float(self.ds.mean()),
            "stability.ds_sd": float(self.ds.std()),
            "stability.ds_kept_mean": float(self.ds_kept.mean()),
            "stability.rank_sd": float(self.ranks.std(axis=0).mean()),
        }

    def summary(self) -> str:
        """Return one sentence."""
        lead = self.to_frame().iloc[0]
        return (
            f"Over {len(self.ds)} re-drawn samples the degradation score is {self.ds.mean():.3f} ± "
            f"{self.ds.std():.3f}; "
            f"{lead['feature']} is in the top {self.top_k} in {lead['top_share']:.0%} of them."
        )


def repeat_explanation(
    explainer: SOFIExplainer,
    table: pd.DataFrame,
    original: SOFIExplanation,
    *,
    n_draws: int,
    top_k: int,
    random_state: int,
) -> Stability:
    """
    Explain again and again, each time with other background rows and instances drawn with replacement.

    Parameters
    ----------
    explainer : SOFIExplainer
    table : DataFrame of shape (n_rows, n_columns)
        Instances of the original explanation; a local one keeps its instance.
    original : SOFIExplanation
    n_draws, top_k, random_state : int

    Returns
    -------
    Stability
    """
    check_number("n_draws", n_draws, low=1, integer=True)
    check_number("top_k", top_k, low=1, integer=True)
    ranks, found, kept = [], [], []
    for seed in spawn_seeds(random_state, n_draws):
        rows = np.random.default_rng(seed).integers(0, len(table), len(table))
        twin, drawn = explainer.redrawn(seed), table.iloc[rows]
        again = (
            twin.explain(drawn, mode=original.mode) if original.mode == "global" else twin.explain(table, mode="local")
        )
        held = twin.score_ranking(original.order, drawn)
        ranks.append(np.argsort(again.order) + 1)
        found.append(again.ds)
        kept.append(held.ds_raw / again.span)
    return Stability(original.feature_names, np.array(ranks), np.array(found), np.array(kept), top_k)
