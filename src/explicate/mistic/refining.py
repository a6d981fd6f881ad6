"""The annealing of `refinement` and `pooling`, on the splits of a selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from explicate.mistic.folds import Evaluation, Fold, FoldKernels, evaluate_grid
from explicate.mistic.inputs import check_target
from explicate.mistic.pooling import refine_pool
from explicate.mistic.refinement import refine
from explicate.mistic.splits import reserve_rows


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
    if reserve > 0:
        strata = y if plan.task.kind == "classifier" else None
        kept, aside = reserve_rows(len(X), strata, reserve, selector.seed_)
    own = None if weights is None else weights[kept]
    folds = selector._folds(X[kept], None if y is None else y[kept], fitted[kept], scored[kept], own)
    columns = int(selector.support_.sum())

    def scorer(folds: list[Fold]) -> Callable[[np.ndarray], float]:
        kernels = [FoldKernels(fold) for fold in folds]

        def evaluate(mask: np.ndarray) -> float:
            chosen = plan.columns(np.flatnonzero(mask))
            factor = columns / len(chosen)
            found: list[Evaluation] = [
                evaluate_grid(fold, own, plan.task, [selector.best_params_], chosen, factor)[0]
                for fold, own in zip(folds, kernels, strict=True)
            ]
            return float(np.mean([one.score for one in found]))

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
        pool = refine_pool(scorer(folds), starts, **shared)
        return pool, pool.supports[int(pool.scores.argmax())]
    judged = None
    if aside is not None:
        row_weights = None if weights is None else weights[kept]
        judge = Fold(0, X[kept], fitted[kept], X[aside], scored[aside], row_weights)
        judged = scorer([judge])
    result = refine(scorer(folds), start, reserved=judged, **shared)
    return result, result.support


def _selected_names(selector: Any) -> list[Any]:
    table = selector.group_table_
    return list(table.loc[table["selected"], "feature"])
