"""Nodes of the stage `mistic`."""

import logging
from typing import Any

import numpy as np
import pandas as pd

from explicate.pipelines.mistic.options import Mistic
from explicate.sampling import sample_stratified
from explicate.tables import Problem, features_and_target

logger = logging.getLogger(__name__)

RANKING = ["feature", "rank", "mean_rank", "rank_sd", "n_columns", "selected"]
PERFORMANCE = ["n_features", "n_columns", "score", "score_sd", "support_vectors"]


def select_features(
    train: pd.DataFrame, problem: Problem, options: Mistic
) -> tuple[Any, Any, pd.DataFrame, pd.DataFrame]:
    """Select features on training rows; return the SVM on them, the SVM on all, the ranking and the curve."""
    from copy import deepcopy

    X, y = features_and_target(train, problem)
    classify = problem["task"] == "classification"
    rows = sample_stratified(y if classify else None, len(X), options.max_rows, options.random_state)
    X, y = X.iloc[rows], y[rows]
    n_splits = min(options.n_splits, int(np.unique(y, return_counts=True)[1].min()) if classify else len(y))
    if n_splits < 2:
        logger.info(_why_skipped())
        return None, None, pd.DataFrame(columns=RANKING), pd.DataFrame(columns=PERFORMANCE)
    selected = _fit(X, y, problem, options, n_splits)
    full = deepcopy(selected)
    selector = _selector(full)
    selector.set_n_features(len(selector.group_table_))
    best = _selector(selected)
    return selected, full, best.group_table_.astype({"feature": "str"}), best.performance_


def score_selection(
    selected: Any, full: Any, test: pd.DataFrame, problem: Problem
) -> tuple[pd.DataFrame, dict[str, float], Any, str]:
    """Score the SVM on test rows with and without selection, and draw the curve the choice was made on."""
    from explicate.core.plotting import note_figure
    from explicate.mistic.plotting import plot_performance
    from explicate.scoring import score_model

    if selected is None:
        return pd.DataFrame(columns=["column", "feature", "rank"]), {}, note_figure(_why_skipped()), _why_skipped()
    X, y = features_and_target(test, problem)
    selector = _selector(selected)
    metrics = {
        f"mistic.{name}.{key}": value
        for name, model in (("selected", selected), ("full", full))
        for key, value in score_model(model, X, y, problem).items()
    }
    metrics |= {
        "mistic.n_selected": float(selector.n_groups_),
        "mistic.n_features": float(len(selector.group_table_)),
        "mistic.knee": float(selector.knee_),
        "mistic.enrichment": selector.enrichment_score(),
        "mistic.validation_score": float(selector.tuning_["score"].max()),
        "mistic.support_vectors": float(len(selector.estimator_.support_)),
    }
    metrics |= {
        f"mistic.{name}": float(value)
        for name, value in selector.best_params_.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    names = selected["encoder"].get_feature_names_out()
    owner = np.empty(len(names), dtype=object)
    for name, columns in zip(selector.group_names_, selector.groups_, strict=True):
        owner[columns] = str(name)
    kept = selector.support_
    table = pd.DataFrame({"column": names[kept], "feature": owner[kept], "rank": selector.ranking_[kept]})
    figure = plot_performance(selector.performance_, selector.n_groups_, selector.knee_)
    first = "accuracy" if problem["task"] == "classification" else "r2"
    chosen = [str(name) for name in selector.group_table_.loc[selector.group_table_["selected"], "feature"]]
    listed = ", ".join(chosen[:8]) + (f" and {len(chosen) - 8} more" if len(chosen) > 8 else "")
    used = ", ".join(f"{name}={value}" for name, value in selector.best_params_.items())
    text = (
        f"{selector.n_groups_} of {len(selector.group_table_)} features ({listed}): test {first} "
        f"{metrics[f'mistic.selected.{first}']:.3f}, with all {metrics[f'mistic.full.{first}']:.3f}; "
        f"{used}{', ' if used else ''}{len(selector.estimator_.support_)} support vectors."
    )
    return table.sort_values(["rank", "column"], ignore_index=True), metrics, figure, text


def explain_decisions(
    selected: Any, reliable: pd.DataFrame, problem: Problem, options: Mistic
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, float], Any, Any, Any, str]:
    """Attribute the selected SVM's decisions on reliable rows, and find the boundary next to them."""
    from explicate.core.plotting import note_figure
    from explicate.mistic.attribution import integrated_gradients
    from explicate.mistic.counterfactuals import boundary_counterfactuals

    if selected is None:
        note = _why_skipped()
        figures = [note_figure(note) for _ in range(3)]
        return pd.DataFrame({"row": []}), pd.DataFrame({"row": []}), {}, *figures, note
    X, y = features_and_target(reliable, problem)
    classify = problem["task"] == "classification"
    X = X.iloc[sample_stratified(y if classify else None, len(X), options.explained_rows, options.random_state)]
    selector = _selector(selected)
    names = selected["encoder"].get_feature_names_out()[selector.support_]
    rows = pd.DataFrame(selected["encoder"].transform(X)[:, selector.support_], columns=names, index=X.index)
    svm = selector.estimator_
    # A regressor has no boundary: changes lead to the mean of the target, attributions start at the mean row.
    level, start = (None, None) if classify else (0.0, np.zeros(rows.shape[1]))
    counterfactuals = boundary_counterfactuals(svm, rows, target=level)
    attributions = integrated_gradients(svm, rows, reference=start if not classify else counterfactuals.values)
    predicted = selected.predict(X)
    metrics = {f"mistic.attributions.{key}": value for key, value in attributions.metrics().items()}
    metrics |= {f"mistic.counterfactuals.{key}": value for key, value in counterfactuals.metrics().items()}
    tables = [result.to_frame().rename_axis("row").reset_index() for result in (attributions, counterfactuals)]
    return (
        tables[0],
        tables[1].astype({"from": "str", "to": "str"}),
        metrics,
        attributions.plot("summary", max_features=options.figure_features),
        attributions.plot("heatmap", target=predicted, max_features=options.figure_features),
        counterfactuals.plot(max_features=options.figure_features),
        f"{attributions.summary()}\n{counterfactuals.summary()}",
    )


def _fit(X: pd.DataFrame, y: np.ndarray, problem: Problem, options: Mistic, n_splits: int) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.frozen import FrozenEstimator
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    from explicate.mistic.selection import MisticSelector
    from explicate.modelling import build_pipeline

    classify = problem["task"] == "classification"
    svm = (SVC if classify else SVR)(**options.keywords)
    encoder = build_pipeline(svm, X, problem, scale=True)["encoder"].fit(X)
    most = None if options.max_features is None else min(options.max_features, X.shape[1])
    selector = MisticSelector(
        svm,
        options.grid,
        direction=options.direction,
        cv=n_splits,
        step=options.step,
        groups=FrozenEstimator(encoder),
        group_normalization=options.group_normalization,
        ranking_weight=options.ranking_weight,
        ranking_rows=options.ranking_rows,
        tune=options.tune,
        max_features=most,
        select=options.select if isinstance(options.select, str) else min(options.select, most or X.shape[1]),
        random_state=options.random_state,
    )
    estimator = selector if classify else TransformedTargetRegressor(selector, transformer=StandardScaler())
    return Pipeline([("encoder", encoder), ("estimator", estimator.fit(encoder.transform(X), y))])


def _selector(model: Any) -> Any:
    estimator = model["estimator"]
    return getattr(estimator, "regressor_", estimator)


def _why_skipped() -> str:
    return "MISTIC skipped: a class has a single training row, which no split can hold on both sides."
