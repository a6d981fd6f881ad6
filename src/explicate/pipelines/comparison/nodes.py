"""Nodes of the stage `comparison`."""

import logging
import warnings
from typing import Any

import pandas as pd

from explicate.pipelines.comparison.options import Comparison
from explicate.pipelines.sofi.options import Sofi
from explicate.tables import Problem, features_and_target

logger = logging.getLogger(__name__)


def compare_rankings(
    model: Any,
    train: pd.DataFrame,
    reliable: pd.DataFrame,
    problem: Problem,
    pcfi_importance: pd.DataFrame,
    sofi_metrics: dict[str, float],
    extra_rankings: pd.DataFrame,
    protocol: Sofi,
    options: Comparison,
    **rankings: pd.DataFrame,
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, float], Any, Any, Any, str]:
    """Score every ranking of the run on the reliable rows, and compare them pairwise; `rankings` are of stages."""
    from explicate.comparison.agreement import agreement_table
    from explicate.comparison.models import collect_rankings
    from explicate.comparison.plotting import plot_agreement, plot_curves, plot_ranks
    from explicate.comparison.rankings import merge_rankings, order_by_drops, rankings_from_table, stage_rankings
    from explicate.comparison.scores import score_rankings
    from explicate.sofi.explainer import SOFIExplainer

    X, y = features_and_target(reliable, problem)
    features, background = list(X.columns), features_and_target(train, problem)[0]
    explainer = SOFIExplainer(
        model,
        background,
        task=problem["task"],
        marginalization=protocol.marginalization,
        n_background=protocol.n_background,
        random_state=protocol.random_state,  # the very rows the SOFI stage averaged over, so its optimum stays one
    )

    def score(rankings: dict[Any, list[Any]]) -> dict[Any, Any]:
        with warnings.catch_warnings():  # the explanation itself warned of its scale once already
            warnings.simplefilter("ignore", UserWarning)
            return explainer.score_rankings(rankings, X)

    found = collect_rankings(model, X, y, background, n_repeats=options.n_repeats, random_state=options.random_state)
    notes = [f"{method} skipped: {reason}" for method, reason in found.skipped.items()]
    for note in notes:
        logger.info(note)
    merged = merge_rankings(
        stage_rankings(features, rankings, pcfi_importance),
        found.rankings,
        {"single_drops": order_by_drops(explainer.response(X), features)},
        rankings_from_table(extra_rankings, features),
    )
    cost = (sofi_metrics.get("sofi.seconds", float("nan")), sofi_metrics.get("sofi.queries", float("nan")))
    costs = found.costs | {"sofi": cost, "single_drops": (float("nan"), float(len(features)))}
    result = score_rankings(
        merged, score, features, costs=costs, n_random=options.n_random, random_state=options.random_state
    )
    agreement = agreement_table(result.rankings, p=options.persistence, k=options.top_k)
    metrics = {f"comparison.{key}": value for key, value in result.metrics().items()}
    return (
        result.to_frame(),
        agreement,
        metrics,
        plot_curves(result),
        plot_ranks(result, options.max_features),
        plot_agreement(agreement),
        "\n".join([result.summary(), *notes]),
    )
