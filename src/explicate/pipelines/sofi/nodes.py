"""Nodes of the stage `sofi`."""

import logging
import warnings
from typing import Any

import pandas as pd

from explicate.pipelines.sofi.options import Sofi
from explicate.tables import Problem, features_and_target

logger = logging.getLogger(__name__)


def explain_globally(
    model: Any, train: pd.DataFrame, reliable: pd.DataFrame, problem: Problem, options: Sofi
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, dict[str, float], Any, str]:
    """Search the ranking of all reliable rows together, and how much of it other samples confirm."""
    explanation = _explainer(model, train, problem, options).explain(features_and_target(reliable, problem)[0])
    metrics, text = explanation.metrics(), explanation.summary()
    spread = pd.DataFrame(columns=["feature", "mean_rank", "sd_rank", "top_share"])
    if options.stability_draws:
        stability = explanation.stability(options.stability_draws, random_state=options.random_state)
        metrics, text = metrics | stability.metrics(), f"{text}\n{stability.summary()}"
        spread = stability.to_frame().astype({"feature": "str"})
    named = {f"sofi.{key}": value for key, value in metrics.items()}
    return explanation.to_frame(), explanation.curves(), spread, named, explanation.plot().figure, text


def explain_locally(
    model: Any, train: pd.DataFrame, reliable: pd.DataFrame, problem: Problem, options: Sofi
) -> tuple[pd.DataFrame, pd.DataFrame, Any, Any]:
    """Search the ranking of single rows: chosen ones to draw, and more to aggregate."""
    from explicate.sampling import sample_stratified
    from explicate.sofi.aggregation import aggregate_explanations
    from explicate.sofi.instances import choose_instances
    from explicate.sofi.plotting import plot_explanation_grid, plot_ranks

    X, y = features_and_target(reliable, problem)
    classify = problem["task"] == "classification"
    chosen = choose_instances(model, X, classification=classify, most=options.local_shown)
    drawn = sample_stratified(y if classify else None, len(X), options.local_rows, options.random_state)
    rows = list(dict.fromkeys([*chosen.values(), *drawn.tolist()]))
    with warnings.catch_warnings(record=True) as noted:  # single rows often climb: worth a note, not an alarm
        warnings.simplefilter("always", UserWarning)
        explained = _explainer(model, train, problem, options).explain(
            X.iloc[rows], mode="local", search=options.local_search
        )
    for note in noted:
        logger.info("%s", note.message)
    explanations = explained if isinstance(explained, list) else [explained]
    reasons = {row: why for why, row in chosen.items()}
    table = pd.concat(
        [
            one.to_frame().assign(row=one.instance_index, why=reasons.get(row, ""), ds=one.ds)
            for row, one in zip(rows, explanations, strict=True)
        ]
    )
    shown = {f"row {X.index[row]}: {why}": explanations[rows.index(row)] for why, row in chosen.items()}
    ranks = aggregate_explanations(explanations)
    return table.reset_index(drop=True), ranks, plot_explanation_grid(shown), plot_ranks(ranks)


def _explainer(model: Any, train: pd.DataFrame, problem: Problem, options: Sofi) -> Any:
    from explicate.sofi.explainer import SOFIExplainer

    return SOFIExplainer(
        model,
        features_and_target(train, problem)[0],
        task=problem["task"],
        marginalization=options.marginalization,
        n_background=options.n_background,
        max_iterations=options.max_iterations,
        patience=options.patience,
        n_restarts=options.n_restarts,
        random_state=options.random_state,
        search=options.search,
        max_exact_seconds=options.max_exact_seconds,
    )
