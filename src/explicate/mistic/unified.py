"""From the members of a selection to one order of the groups and one model of all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone

from explicate.core.parallel import parallel_map
from explicate.mistic.folds import Fold, FoldKernels, Parameters, Task, evaluate_grid, seeded
from explicate.mistic.scoring import f1_score
from explicate.mistic.searching import MemberPath, Plan


def mean_ranks(paths: Sequence[MemberPath]) -> np.ndarray:
    """
    Return the rank of every group (1 the most important) averaged over members, shape (n_members, n_groups).

    The rows are the members' ranks; their mean over rows orders the groups.
    """
    ranks = np.empty((len(paths), len(paths[0].order)))
    for row, path in enumerate(paths):
        ranks[row, path.order] = np.arange(1, len(path.order) + 1)
    return ranks


def column_ranks(order: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    """
    Return the place in `order` of the group of every column, 1 the first.

    Examples
    --------
    >>> column_ranks(np.array([1, 0]), [np.array([0, 2]), np.array([1])])
    array([2, 1, 2])
    """
    ranks = np.empty(sum(len(own) for own in groups), dtype=int)
    for place, group in enumerate(order, start=1):
        ranks[groups[group]] = place
    return ranks


def group_table(
    order: np.ndarray, ranks: np.ndarray, groups: Sequence[np.ndarray], names: Sequence[Any], chosen: np.ndarray
) -> pd.DataFrame:
    """Return one row per group in order: feature, rank, mean_rank and rank_sd over members, n_columns, selected."""
    return pd.DataFrame(
        {
            "feature": [names[group] for group in order],
            "rank": np.arange(1, len(order) + 1),
            "mean_rank": ranks.mean(axis=0)[order],
            "rank_sd": ranks.std(axis=0)[order],
            "n_columns": [len(groups[group]) for group in order],
            "selected": np.isin(order, chosen),
        }
    )


def performance_table(paths: Sequence[MemberPath], plan: Plan) -> pd.DataFrame:
    """
    Return one row per size of the set, smallest first.

    Columns: ``n_features`` (groups), ``n_columns`` (mean over members), ``score`` and ``score_sd`` over members, every
    metric (mean), ``support_vectors`` (mean).
    """
    rows = []
    for stages in zip(*(path.stages for path in paths), strict=True):
        scores = np.array([stage.score for stage in stages])
        row = {
            "n_features": len(stages[0].groups),
            "n_columns": float(np.mean([len(plan.columns(stage.groups)) for stage in stages])),
            "score": float(scores.mean()),
            "score_sd": float(scores.std(ddof=1)) if len(scores) > 1 else 0.0,
        }
        row |= {name: float(np.mean([stage.metrics[name] for stage in stages])) for name in stages[0].metrics}
        rows.append(row | {"support_vectors": float(np.mean([stage.n_support for stage in stages]))})
    return pd.DataFrame(rows).sort_values("n_features", ignore_index=True)


def tune_unified(
    folds: list[Fold], task: Task, grid: list[Parameters], columns: np.ndarray, n_jobs: int | None
) -> tuple[Parameters, pd.DataFrame]:
    """
    Choose the parameters with the best mean score over folds on one set of columns.

    Returns
    -------
    parameters : dict
    scores : DataFrame
        One row per combination: its parameters, ``score`` and ``score_sd``.
    """
    scores = np.array(
        parallel_map(
            _grid_scores, folds, n_jobs=n_jobs if len(grid) > 1 else None, task=task, grid=grid, columns=columns
        )
    )
    mean = scores.mean(axis=0)
    table = pd.DataFrame(grid, index=range(len(grid)))
    table["score"], table["score_sd"] = mean, scores.std(axis=0, ddof=1) if len(folds) > 1 else 0.0
    return grid[int(mean.argmax())], table


def tune_sizes(
    folds: list[Fold], paths: Sequence[MemberPath], plan: Plan, sizes: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """
    Return for every size the mean over members of the best score the grid reaches on the member's own first groups.

    The order over all members would not do: each fold's validation rows had a say in it as other folds' training rows.
    """
    pairs = list(zip(folds, paths, strict=True))
    return np.mean(parallel_map(_size_scores, pairs, n_jobs=n_jobs, plan=plan, sizes=sizes), axis=0)


def _size_scores(pair: tuple[Fold, MemberPath], plan: Plan, sizes: np.ndarray) -> list[float]:
    (fold, path), kernels = pair, FoldKernels(pair[0])
    sets = [plan.columns(path.order[:size]) for size in sizes]
    return [max(one.score for one in evaluate_grid(fold, kernels, plan.task, plan.grid, own)) for own in sets]


def _grid_scores(fold: Fold, task: Task, grid: list[Parameters], columns: np.ndarray) -> list[float]:
    return [one.score for one in evaluate_grid(fold, FoldKernels(fold), task, grid, columns)]


def fit_unified(
    task: Task, parameters: Parameters, X: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> tuple[Any, Any]:
    """
    Fit one SVM on all rows, and for classes sigmoids on decisions it makes out of fold (Platt).

    Parameters
    ----------
    task : Task
    parameters : dict
    X : ndarray of shape (n_rows, n_selected_columns)
    y : ndarray
    weights : ndarray or None

    Returns
    -------
    svm : SVC, SVR or OneClassSVM
    calibrated : CalibratedClassifierCV or None
        ``None`` outside classification, and where a class has a single row.
    """
    model = seeded(clone(task.estimator).set_params(**parameters))
    counts = np.unique(y, return_counts=True)[1]
    if task.kind != "classifier" or counts.min() < 2:
        return model.fit(X, y, sample_weight=weights), None
    from sklearn.calibration import CalibratedClassifierCV

    calibrated = CalibratedClassifierCV(model, method="sigmoid", cv=_few_folds(counts), ensemble=False)
    calibrated.fit(X, y, sample_weight=weights)
    return calibrated.calibrated_classifiers_[0].estimator, calibrated


def calibrate_cutoff(
    svm: Any, X: np.ndarray, y: np.ndarray, criterion: str, weights: np.ndarray | None = None
) -> float:
    """
    Choose the cutoff on out-of-fold decisions of two classes that maximises a criterion.

    Parameters
    ----------
    svm : SVC
        Cloned for the folds.
    X : ndarray of shape (n_rows, n_columns)
    y : ndarray of shape (n_rows,)
    criterion : {"f1", "balanced_accuracy"}
        Of the second class.
    weights : ndarray of shape (n_rows,), optional
        Of the rows, in the folds' fits.

    Returns
    -------
    float
        Midway between two decisions; of equal cutoffs the one nearest to zero.
    """
    from sklearn.model_selection import cross_val_predict

    labels, counts = np.unique(y, return_counts=True)
    given = {} if weights is None else {"sample_weight": weights}
    decisions = cross_val_predict(clone(svm), X, y, cv=_few_folds(counts), params=given, method="decision_function")
    positive = y == labels[1]
    ordered = np.unique(decisions)
    middle = (ordered[1:] + ordered[:-1]) / 2
    candidates = np.concatenate([[0.0], middle])
    if criterion == "f1":
        values = [f1_score(positive, decisions > cutoff) for cutoff in candidates]
    else:
        values = [
            ((decisions > cutoff)[positive].mean() + (decisions <= cutoff)[~positive].mean()) / 2
            for cutoff in candidates
        ]
    best = candidates[np.array(values) >= max(values) - 1e-12]
    return float(best[np.abs(best).argmin()])


def _few_folds(counts: np.ndarray) -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(int(min(5, counts.min())), shuffle=True, random_state=0)
