"""The annealing of `refinement` and `pooling`, on the splits of a selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from explicate.core.parallel import spawn_seeds
from explicate.mistic.folds import Evaluation, Fold, FoldKernels, evaluate_grid, make_folds
from explicate.mistic.inputs import check_target
from explicate.mistic.pooling import refine_pool
from explicate.mistic.refinement import refine
from explicate.mistic.splits import check_splits, reserve_rows


def refine_selection(selector: Any, *, pooled: bool, reserve: float, **keywords: Any) -> tuple[Any, np.ndarray]:
    """
    Refine the groups of a fitted `MisticSelector`, at its own parameters.

    Parameters
    ----------
    selector : MisticSelector
        Fitted.
    pooled : bool
    reserve : float
        Share of the rows kept for judging.
    **keywords
        Of `refine` or `refine_pool`.

    Returns
    -------
    result : Refinement or PooledRefinement
    best : ndarray of bool, shape (n_groups,)
        The set to adopt: of a pool, the one with the best score.
    """
    X, y, weights, plan = selector.X_fit_, selector.y_fit_, selector.weights_fit_, selector.plan_
    fitted, scored, _ = check_target(y, plan.task.kind, len(X))
    kept, aside = np.arange(len(X)), None
    if pooled and reserve > 0:
        raise ValueError(f"reserve={reserve} judges one set, and pooled=True makes several; leave one of them out.")
    if reserve > 0:
        strata = y if plan.task.kind == "classifier" else None
        classes = 1 if strata is None else len(np.unique(strata))
        if int(reserve * len(X)) < classes:
            raise ValueError(f"reserve={reserve} of {len(X)} rows leaves fewer than {classes} to judge by; raise it.")
        # A seed of its own: hold-outs drawn with the selector's would reserve the very rows that validate.
        kept, aside = reserve_rows(len(X), strata, reserve, spawn_seeds(selector.seed_, 1)[0])
    splits = [tuple(part[np.isin(part, kept)] for part in split) for split in selector.splits_]
    labels = scored if y is None else y
    folds = make_folds(
        check_splits(splits, plan.task.kind, labels), X, fitted, scored, weights, max_memory=selector.max_memory
    )
    columns = int(selector.support_.sum())

    def evaluator(folds: list[Fold]) -> Callable[[np.ndarray], list[Evaluation]]:
        kernels = [FoldKernels(fold) for fold in folds]

        def evaluate(mask: np.ndarray) -> list[Evaluation]:
            chosen = plan.columns(np.flatnonzero(mask))
            factor = columns / len(chosen)
            return [
                evaluate_grid(fold, own, plan.task, [selector.best_params_], chosen, factor)[0]
                for fold, own in zip(folds, kernels, strict=True)
            ]

        return evaluate

    ranks = np.empty(len(plan.groups))
    ranks[selector.order_] = np.arange(1, len(ranks) + 1)
    shared = {"ranking": ranks, "names": list(selector.group_names_), "random_state": selector.seed_} | keywords
    start = np.zeros(len(plan.groups), dtype=bool)
    start[[selector.group_names_.index(name) for name in _selected_names(selector)]] = True
    if pooled:
        starts = np.zeros((len(selector.members_), len(plan.groups)), dtype=bool)
        for row, path in enumerate(selector.members_):
            starts[row, path.order[: selector.n_groups_]] = True
        evaluate, predictions = evaluator(folds), {}

        def score(mask: np.ndarray) -> float:
            found = evaluate(mask)
            predictions[mask.tobytes()] = np.vstack([one.decisions for one in found])
            return _mean_score(found)

        pool = refine_pool(score, starts, predict=lambda mask: predictions[mask.tobytes()], **shared)
        return pool, pool.supports[int(pool.scores.argmax())]
    judged = None
    if aside is not None:
        row_weights = None if weights is None else weights[kept]
        judge = Fold(0, X[kept], fitted[kept], X[aside], scored[aside], row_weights)
        judge_set = evaluator([judge])

        def judged(mask: np.ndarray) -> float:
            return _mean_score(judge_set(mask))

    search = evaluator(folds)
    result = refine(lambda mask: _mean_score(search(mask)), start, reserved=judged, **shared)
    return result, result.support


def _mean_score(found: list[Evaluation]) -> float:
    return float(np.mean([one.score for one in found]))


def _selected_names(selector: Any) -> list[Any]:
    table = selector.group_table_
    return list(table.loc[table["selected"], "feature"])
