"""What an explanation says: a ranking, its curves on the reported scale, and how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explicate.sofi.objective import curve_auc, noise_onset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from explicate.sofi.stability import Stability


@dataclass(frozen=True, eq=False)
class SOFIExplanation:
    """
    A ranking of features and how the model's response degrades along it.

    Attributes
    ----------
    feature_names : tuple
        Features in table order.
    order : list of int
        Positions of features from the most to the least important.
    morf_scores_raw, lerf_scores_raw : list of float, length n_features + 1
        Raw response while the most (least) relevant features vanish first.
    ds_raw : float
        Area between the raw curves: what the search maximises.
    task : {"classification", "regression"}
    mode : {"global", "local"}
    anchor_high, anchor_low : float
        Raw responses reported as one and zero; they belong to model and data, not to the ranking.
    raw_baseline : float
        Response of the unperturbed instances.
    is_optimal : bool
        Whether no ranking has a higher score, by proof.
    search : {"exact", "descent", "hill_climbing", "none"}
        Search that ran; "none" when a given ranking was scored.
    search_reason : str
        Why that one.
    history : list of dict
        One record per proposed swap.
    instance_index : object
        Index label of a local instance, else ``None``.
    n_instances, n_iterations, n_restarts_used, n_evaluations, n_model_calls, n_sets : int
        Instances explained; swaps proposed; restarts; rankings scored; batches the response answered; different sets
        it was asked for.
    seconds : float
        Wall time of the search.
    response : {"compiled trees", "model queries"}
        Where responses came from.
    noise_tolerance : float
        Rise of the reported MoRF curve that counts as noise.
    single_drops : ndarray of shape (n_features,), dtype float64
        Raw fall of the response when each feature vanishes alone, in table order.
    source : tuple or None
        Explainer and instances, for `stability`; not part of a pickle.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the model and the data."""
        return {**self.__dict__, "source": None}

    feature_names: tuple[Any, ...]
    order: list[int]
    morf_scores_raw: list[float]
    lerf_scores_raw: list[float]
    ds_raw: float
    task: str
    mode: str
    anchor_high: float = 1.0
    anchor_low: float = 0.0
    raw_baseline: float | None = None
    is_optimal: bool = False
    search: str = "none"
    search_reason: str = ""
    history: list[dict[str, Any]] = field(default_factory=list, repr=False)
    instance_index: Any = None
    n_instances: int = 1
    n_iterations: int = 0
    n_restarts_used: int = 0
    n_evaluations: int = 0
    n_model_calls: int = 0
    n_sets: int = 0
    seconds: float = 0.0
    response: str = "model queries"
    noise_tolerance: float = 0.02
    single_drops: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    source: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        """Show task, mode, score and the leading features."""
        leading = ", ".join(str(name) for name in self.top(4))
        return f"SOFIExplanation(task={self.task}, mode={self.mode}, DS={self.ds:.3f}, top=[{leading}])"

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()

    @property
    def ranking(self) -> list[Any]:
        """Features by name, most important first."""
        return [self.feature_names[i] for i in self.order]

    def top(self, k: int = 10) -> list[Any]:
        """Return the first `k` features of the ranking."""
        return self.ranking[:k]

    @property
    def span(self) -> float:
        """Distance of the anchors: raw units per reported unit (1 when the response never falls)."""
        span = self.anchor_high - self.anchor_low
        return span if span > 0 else 1.0

    @property
    def ds(self) -> float:
        """Degradation score: ``ds_raw`` over the span of the anchors."""
        return self.ds_raw / self.span

    @property
    def morf_scores(self) -> np.ndarray:
        """Reported MoRF curve, inside the unit interval."""
        return self._reported(self.morf_scores_raw)

    @property
    def lerf_scores(self) -> np.ndarray:
        """Reported LeRF curve, inside the unit interval."""
        return self._reported(self.lerf_scores_raw)

    @property
    def scores(self) -> np.ndarray:
        """The reported MoRF curve, under its short name."""
        return self.morf_scores

    def _reported(self, raw: Sequence[float]) -> np.ndarray:
        if self.anchor_high - self.anchor_low <= 0:
            return np.ones(len(raw))
        return np.clip((np.asarray(raw) - self.anchor_low) / self.span, 0.0, 1.0)

    @property
    def auc_morf(self) -> float:
        """Mean height of the reported MoRF curve."""
        return curve_auc(self.morf_scores.tolist())

    @property
    def auc_lerf(self) -> float:
        """Mean height of the reported LeRF curve."""
        return curve_auc(self.lerf_scores.tolist())

    @property
    def drops(self) -> np.ndarray:
        """Fall of the reported MoRF curve at each step, shape (n_features,), in ranking order."""
        return -np.diff(self.morf_scores)

    @property
    def importances(self) -> pd.Series:
        """Rank-based importance (n − rank) / n with ranks from zero, by feature, in ranking order."""
        n = len(self.order)
        return pd.Series((n - np.arange(n)) / n, index=pd.Index(self.ranking), name="importance")

    @property
    def noise_onset(self) -> int | None:
        """Features marginalised when the reported MoRF curve is lowest, if it rises again; else ``None``."""
        return noise_onset(self.morf_scores.tolist(), self.noise_tolerance)

    @property
    def noise_features(self) -> list[Any]:
        """Features behind the onset of the noise region."""
        return [] if self.noise_onset is None else self.ranking[self.noise_onset :]

    @property
    def sparsity(self) -> float:
        """Share of features until the response has lost nine tenths of the span, following the ranking."""
        fallen = np.flatnonzero(self.morf_scores <= 0.1)
        return float(fallen[0] / len(self.order)) if len(fallen) else 1.0

    @property
    def modularity_gap(self) -> float:
        """
        How far the response is from a sum of single features, following the ranking (0: additive).

        Mean over the top sets T_1 … T_n of |R(T_k) − (R(∅) − Σ_{i in T_k} drop_i)| over the span, drop_i being what
        feature i costs alone. Above 1, features mask each other more than they add up.
        """
        expected = self.morf_scores_raw[0] - np.cumsum(self.single_drops[self.order])
        return float(np.abs(np.asarray(self.morf_scores_raw[1:]) - expected).mean() / self.span)

    def stability(self, n_draws: int = 20, top_k: int = 3, random_state: int = 0) -> Stability:
        """
        Repeat the explanation over re-drawn background rows and bootstrapped instances.

        Parameters
        ----------
        n_draws : int, default 20
        top_k : int, default 3
            Features that count as leading.
        random_state : int, default 0

        Returns
        -------
        Stability

        Raises
        ------
        ValueError
            For an explanation read from a file, which no longer knows its model.
        """
        from explicate.sofi.stability import repeat_explanation

        if self.source is None:
            raise ValueError("this explanation does not know its model any more; call explain again, then stability.")
        explainer, table = self.source
        return repeat_explanation(explainer, table, self, n_draws=n_draws, top_k=top_k, random_state=random_state)

    @property
    def statistics(self) -> dict[str, Any]:
        """Every figure of the run."""
        return {
            "task": self.task,
            "mode": self.mode,
            "n_features": len(self.order),
            "n_instances": self.n_instances,
            "degradation_score": self.ds,
            "degradation_score_raw": self.ds_raw,
            "auc_morf": self.auc_morf,
            "auc_lerf": self.auc_lerf,
            "raw_baseline": self.raw_baseline,
            "anchor_high": self.anchor_high,
            "anchor_low": self.anchor_low,
            "noise_onset": self.noise_onset,
            "n_noise_features": len(self.noise_features),
            "sparsity": self.sparsity,
            "modularity_gap": self.modularity_gap,
            "is_optimal": self.is_optimal,
            "search": self.search,
            "n_iterations": self.n_iterations,
            "n_restarts_used": self.n_restarts_used,
            "n_evaluations": self.n_evaluations,
            "n_model_calls": self.n_model_calls,
            "n_sets": self.n_sets,
            "seconds": self.seconds,
        }

    def metrics(self) -> dict[str, float]:
        """Return the figures that compare between runs."""
        return {
            "ds": self.ds,
            "ds_raw": self.ds_raw,
            "auc_morf": self.auc_morf,
            "auc_lerf": self.auc_lerf,
            "noise_onset": float(len(self.order) if self.noise_onset is None else self.noise_onset),
            "sparsity": self.sparsity,
            "modularity_gap": self.modularity_gap,
            "is_optimal": float(self.is_optimal),
            "queries": float(self.n_sets),
            "seconds": self.seconds,
        }

    def summary(self, top_k: int | None = None) -> str:
        """
        Return a report to print.

        Parameters
        ----------
        top_k : int, optional
            Features listed; all of them by default.
        """
        proof = "proved optimal" if self.is_optimal else "not proved optimal"
        what = "probability" if self.task == "classification" else "deviation"
        shown = self.ranking[:top_k]
        names = ", ".join(f"{rank}. {name}" for rank, name in enumerate(shown, 1))
        left = len(self.order) - len(shown)
        noise = f"from step {self.noise_onset}: {', '.join(map(str, self.noise_features))}"
        ran = f"{self.search} ({self.search_reason}), {proof}" if self.search != "none" else "none, a given ranking"
        baseline = float("nan") if self.raw_baseline is None else self.raw_baseline + 0.0  # never "-0.0000"
        return "\n".join(
            [
                f"SOFI, {self.mode}: {', '.join(map(str, self.top(3)))} lead; degradation score {self.ds:.4f}, "
                f"{proof if self.search != 'none' else 'as given'}",
                f"  task                {self.task}, {self.n_instances} instance(s), {len(self.order)} features",
                f"  area under MoRF     {self.auc_morf:.4f}",
                f"  area under LeRF     {self.auc_lerf:.4f}",
                f"  unperturbed {what} {baseline:.4f}",
                f"  noise region        {'none' if self.noise_onset is None else noise}",
                f"  search              {ran}",
                f"  cost                {self.n_evaluations} rankings, {self.n_sets} sets from {self.response}, "
                f"{self.seconds:.2f} s",
                f"  ranking             {names}{f', and {left} more' if left else ''}",
            ]
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per feature in ranking order: rank, feature, curves after its step, drop, importance."""
        n = len(self.order)
        return pd.DataFrame(
            {
                "rank": np.arange(1, n + 1),
                "feature": [str(name) for name in self.ranking],
                "morf_score_after": self.morf_scores[1:],
                "lerf_score_before": self.lerf_scores[::-1][1:],
                "drop": self.drops,
                "importance": self.importances.to_numpy(),
            }
        ).astype({"feature": "str"})

    def curves(self) -> pd.DataFrame:
        """Return one row per step: features marginalised, reported and raw curves."""
        return pd.DataFrame(
            {
                "marginalised": np.arange(len(self.order) + 1),
                "morf": self.morf_scores,
                "lerf": self.lerf_scores,
                "morf_raw": self.morf_scores_raw,
                "lerf_raw": self.lerf_scores_raw,
            }
        )

    def plot(self, **keywords: Any) -> Axes:
        """Draw both curves and the area between them; see `explicate.sofi.plotting.plot_explanation`."""
        from explicate.sofi.plotting import plot_explanation

        return plot_explanation(self, **keywords)
