"""Greedy removal or addition of groups, on one fold or on several that move together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import parallel_config

from explicate.core.parallel import parallel_map, spawn_seeds
from explicate.mistic.folds import Evaluation, Fold, FoldKernels, Parameters, Task, evaluate_grid
from explicate.mistic.freezing import FrozenMachine
from explicate.mistic.medoids import column_medoids
from explicate.mistic.ranking import rank_groups, synthetic_rows


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything a search needs besides the rows; see `MisticSelector` for the meaning of each."""

    task: Task
    grid: list[Parameters]
    groups: tuple[np.ndarray, ...]
    direction: str
    step: float
    tune: str
    weight: float
    objective: str
    normalization: str
    ranking_rows: str
    n_synthetic: int
    max_groups: int
    n_initial_medoids: int
    shared_features: bool
    shared_parameters: bool
    random_state: int

    def columns(self, chosen: np.ndarray) -> np.ndarray:
        """Return the columns of the groups chosen, in table order."""
        return np.sort(np.concatenate([self.groups[g] for g in chosen]))


@dataclass(frozen=True, eq=False)
class Stage:
    """One set of groups on one fold: score, metrics, support vectors, parameters."""

    groups: np.ndarray
    score: float
    metrics: dict[str, float]
    n_support: int
    parameters: Parameters


@dataclass(frozen=True, eq=False)
class MemberPath:
    """
    A fold's way through the sets.

    Parameters
    ----------
    order : ndarray of int
        Groups, the most important first.
    stages : tuple of Stage
        In the order of the search.
    """

    order: np.ndarray
    stages: tuple[Stage, ...]


class _Walker:
    """One fold on its way: its current set, kernels, parameters and order."""

    def __init__(self, fold: Fold, plan: Plan) -> None:
        self.fold, self.plan, self.kernels = fold, plan, FoldKernels(fold)
        seed = spawn_seeds(plan.random_state, fold.number + 1)[-1]
        self.ranking_rows = {
            "synthetic": lambda: synthetic_rows(fold.X_train, plan.n_synthetic, seed),
            "train": lambda: fold.X_train,
            "validation": lambda: fold.X_valid,
        }[plan.ranking_rows]()
        self.evaluations: list[Evaluation] = []
        self.best: Evaluation | None = None
        self.parameters: Parameters = {}
        self.tuned_columns = 0
        self.stages: list[Stage] = []

    def evaluate(self, chosen: np.ndarray, grid: list[Parameters]) -> list[Evaluation]:
        """Fit and score the grid on a set; a set of one combination takes the frozen γ rule."""
        columns = self.plan.columns(chosen)
        factor = self.tuned_columns / len(columns) if self.tuned_columns and self.plan.tune == "once" else 1.0
        return evaluate_grid(self.fold, self.kernels, self.plan.task, grid, columns, factor)

    def take(self, chosen: np.ndarray, evaluation: Evaluation, parameters: Parameters) -> None:
        """Note the stage that was reached."""
        self.best = evaluation
        self.stages.append(
            Stage(chosen, evaluation.score, evaluation.metrics, len(evaluation.support), dict(parameters))
        )

    def rank(self, chosen: np.ndarray, candidates: np.ndarray) -> np.ndarray:
        """Return the consensus rank of every candidate at the current machine."""
        assert self.best is not None
        plan, best = self.plan, self.best
        machine = FrozenMachine(self.fold.X_train[best.support], best.beta, best.kernel, plan.columns(chosen))
        return rank_groups(
            machine,
            self.ranking_rows,
            [plan.groups[g] for g in candidates],
            plan.direction,
            weight=plan.weight,
            objective=plan.objective,
            normalization=plan.normalization,
            nu=best.nu,
            reference=self.fold.X_train,
        )


def search(folds: list[Fold], plan: Plan, n_jobs: int | None = None) -> list[MemberPath]:
    """
    Search every fold: alone, or in step where features or parameters are shared.

    Parameters
    ----------
    folds : list of Fold
    plan : Plan
    n_jobs : int, optional
        As in joblib.

    Returns
    -------
    list of MemberPath
        In the order of `folds`.
    """
    if plan.shared_features or plan.shared_parameters:
        return _search_together(folds, plan, n_jobs)
    alone = parallel_map(_search_together, [[fold] for fold in folds], n_jobs=n_jobs, plan=plan, n_jobs_inside=1)
    return [paths[0] for paths in alone]


def _search_together(
    folds: list[Fold], plan: Plan, n_jobs: int | None = None, n_jobs_inside: int | None = None
) -> list[MemberPath]:
    n_jobs = n_jobs_inside if n_jobs_inside is not None else n_jobs
    walkers = [_Walker(fold, plan) for fold in folds]
    everything = np.arange(len(plan.groups))
    chosen = [everything] * len(walkers) if plan.direction == "backward" else _first_groups(walkers, plan, n_jobs)
    left: list[list[int]] = [[] if plan.direction == "backward" else list(own) for own in chosen]
    target = 1 if plan.direction == "backward" else plan.max_groups
    while True:
        _evaluate_all(walkers, chosen, plan, n_jobs)
        size = len(chosen[0])
        if size == target:
            break
        ranks = _rank_all(walkers, chosen, plan, n_jobs)
        count = min(batch_size(plan.step, len(ranks[0][0])), abs(size - target))
        for i, (candidates, values) in enumerate(ranks):
            # Backward the lowest leave, forward the highest enter; equals in table order.
            signed = values if plan.direction == "backward" else -values
            batch = candidates[np.argsort(signed, kind="stable")[:count]]
            left[i].extend(batch.tolist())
            if plan.direction == "backward":
                chosen[i] = np.setdiff1d(chosen[i], batch)
            else:
                chosen[i] = np.sort(np.concatenate([chosen[i], batch]))
    if plan.direction == "backward":
        orders = [np.array([*own, *reversed(left[i])]) for i, own in enumerate(chosen)]
    else:
        orders = [np.array(own) for own in left]
        if target < len(everything):  # those never added follow in the order in which they would have been
            for i, (candidates, values) in enumerate(_rank_all(walkers, chosen, plan, n_jobs)):
                orders[i] = np.concatenate([orders[i], candidates[np.argsort(-values, kind="stable")]])
    return [MemberPath(order, tuple(walker.stages)) for order, walker in zip(orders, walkers, strict=True)]


def batch_size(step: float, n_candidates: int) -> int:
    """
    Return how many groups move at once: a share of the candidates (at least one), or a count.

    Examples
    --------
    >>> batch_size(0.1, 55), batch_size(0.1, 5), batch_size(3, 55), batch_size(0, 55)
    (5, 1, 3, 1)
    """
    return max(1, int(step * n_candidates + 1e-9)) if step < 1 else int(step)


def _in_threads(function: Any, items: list[Any], n_jobs: int | None) -> list[Any]:
    # Walkers keep their kernels from step to step, so they stay in this process; libsvm releases the interpreter.
    if n_jobs in (None, 1) or len(items) == 1:
        return [function(item) for item in items]
    from threadpoolctl import threadpool_limits

    with parallel_config(backend="threading"), threadpool_limits(1):
        return parallel_map(function, items, n_jobs=n_jobs)


def _evaluate_all(walkers: list[_Walker], chosen: list[np.ndarray], plan: Plan, n_jobs: int | None) -> None:
    tune = plan.tune == "each_step" or not walkers[0].stages
    pairs = list(zip(walkers, chosen, strict=True))

    def run(pair: tuple[_Walker, np.ndarray]) -> list[Evaluation]:
        walker, own = pair
        return walker.evaluate(own, plan.grid if tune else [walker.parameters])

    results = _in_threads(run, pairs, n_jobs)
    if tune:
        scores = np.array([[one.score for one in own] for own in results])
        # The first of equals: grids list the simplest first.
        best = [int(scores.mean(axis=0).argmax())] * len(walkers) if plan.shared_parameters else scores.argmax(axis=1)
        for (walker, own), k in zip(pairs, best, strict=True):
            walker.parameters = plan.grid[k]
            walker.tuned_columns = len(plan.columns(own))
    else:
        best = [0] * len(walkers)
    for (walker, own), result, k in zip(pairs, results, best, strict=True):
        walker.take(own, result[k], walker.parameters)


def _rank_all(
    walkers: list[_Walker], chosen: list[np.ndarray], plan: Plan, n_jobs: int | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    everything = np.arange(len(plan.groups))
    candidates = [own if plan.direction == "backward" else np.setdiff1d(everything, own) for own in chosen]
    triples = list(zip(walkers, chosen, candidates, strict=True))
    values = _in_threads(lambda triple: triple[0].rank(triple[1], triple[2]), triples, n_jobs)
    if plan.shared_features:
        values = [np.mean(values, axis=0)] * len(walkers)
    return list(zip(candidates, values, strict=True))


def _first_groups(walkers: list[_Walker], plan: Plan, n_jobs: int | None) -> list[np.ndarray]:
    """Start from the best group that holds a medoid of the columns, at the estimator's own parameters."""
    owner = np.empty(walkers[0].fold.X_train.shape[1], dtype=np.intp)
    for g, columns in enumerate(plan.groups):
        owner[columns] = g
    shared = plan.shared_features

    def seeds(walker: _Walker) -> np.ndarray:
        return np.unique(owner[column_medoids(walker.fold.X_train, plan.n_initial_medoids)])

    if shared:
        rows = np.vstack([walker.fold.X_train for walker in walkers])
        common = np.unique(owner[column_medoids(rows, plan.n_initial_medoids)])
    starts = [common if shared else seeds(walker) for walker in walkers]

    def run(pair: tuple[_Walker, np.ndarray]) -> np.ndarray:
        walker, own = pair
        return np.array([walker.evaluate(np.array([g]), [{}])[0].score for g in own])

    scores = _in_threads(run, list(zip(walkers, starts, strict=True)), n_jobs)
    if shared:
        scores = [np.mean(scores, axis=0)] * len(walkers)
    return [own[[int(values.argmax())]] for own, values in zip(starts, scores, strict=True)]
