"""MISTIC against mistic-svm 0.1.1, in one run: python benchmarks/mistic_speed.py [--skip-peer]."""

from __future__ import annotations

import argparse
import contextlib
import io
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from explicate.mistic.freezing import FrozenMachine
from explicate.mistic.machine import read_svm
from explicate.mistic.ranking import rank_groups, synthetic_rows
from explicate.mistic.scoring import WeightedScore
from explicate.mistic.selection import MisticSelector
from explicate.mistic.splits import RepeatedHoldOut

COSTS, GAMMAS = [2.0**k for k in range(-2, 5)], [2.0**k for k in range(-9, 1)]


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function()
    return time.perf_counter() - start, result


def best(function: Callable[[], Any], repeats: int) -> float:
    return min(timed(function)[0] for _ in range(repeats))


def wdbc() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    rows, _, labels, _ = train_test_split(X, y, stratify=y, random_state=0, test_size=1 / 5)
    return rows, labels


def ours(X: np.ndarray, y: np.ndarray, n_jobs: int) -> MisticSelector:
    return MisticSelector(
        SVC(class_weight="balanced", tol=1e-12),
        {"C": COSTS, "gamma": GAMMAS},
        cv=RepeatedHoldOut(5, 0.2, random_state=0),
        ranking_weight=0.9,
        n_jobs=n_jobs,
        random_state=0,
    ).fit(X, y)


def theirs(X: np.ndarray, y: np.ndarray) -> Any:
    from mistic import combined_rank, cvSet, kernelWrapper, paramSet, score_svc, svmSet

    splits = cvSet(X=X, y=y)
    splits.classification(num_sets=5)
    grid = [paramSet(model={"C": C}, kernel={"gamma": gamma}) for C in COSTS for gamma in GAMMAS]
    peer = svmSet(
        SVC(kernel="precomputed", class_weight="balanced", tol=1e-12),
        splits,
        score_method=score_svc().score,
        kernel=kernelWrapper(type="rbf"),
        separate_feature_sets=True,
        separate_parameters=True,
    )
    peer.greedy_backward_selection(
        parameter_grid=grid,
        reduction_factor=0.1,
        feature_ranker=combined_rank(weight=0.9).compute,
        set_for_rank="sample",
        tune_models_each_step=False,
    )
    return peer


def ranking_pass(n_columns: int, peer: bool) -> tuple[float, float]:
    X, y = make_classification(300, n_columns, n_informative=10, random_state=0)
    X = StandardScaler().fit_transform(X)
    groups = [np.array([column]) for column in range(n_columns)]
    rest: float = np.nan
    train = np.arange(300)
    if peer:
        from mistic import combined_rank, cvSet, kernelWrapper, paramSet, score_svc, svmSet

        splits = cvSet(X=X, y=y)
        splits.classification(num_sets=1)
        train = splits.train[0]
        other = svmSet(
            SVC(kernel="precomputed"), splits, score_method=score_svc().score, kernel=kernelWrapper(type="rbf")
        )
        timed(lambda: other.tune_models([paramSet(model={"C": 1.0}, kernel={"gamma": 1 / n_columns})]))
        rest, _ = timed(lambda: combined_rank(weight=0.9).compute(other, 0, "sample"))
    svm = read_svm(SVC(gamma=1 / n_columns, random_state=0).fit(X[train], y[train]))
    machine = FrozenMachine(svm.support_vectors, svm.beta, svm.kernel, np.arange(n_columns))

    def rank() -> np.ndarray:
        rows = synthetic_rows(X[train], 100, 0)
        return rank_groups(machine, rows, groups, "backward", weight=0.9, objective="dual", normalization="per_feature")

    return best(rank, 3), rest


def wide_selection(n_columns: int, n_jobs: int) -> float:
    X, y = make_classification(200, n_columns, n_informative=10, n_redundant=10, class_sep=1.5, random_state=0)
    X = StandardScaler().fit_transform(X)
    selector = MisticSelector(
        SVC(), {"C": [0.25, 1.0, 4.0]}, step=0.1, scoring=WeightedScore(), n_jobs=n_jobs, random_state=0
    )
    return timed(lambda: selector.fit(X, y))[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skip-peer", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    peer = not arguments.skip_peer
    print("| task | explicate, s | mistic-svm 0.1.1, s | ratio |\n|---|---|---|---|")

    def line(task: str, mine: float, other: float) -> None:
        print(f"| {task} | {mine:.2f} | {other:.1f} | {other / mine:.1f} |", flush=True)

    X, y = wdbc()
    ours(X, y, 2)  # workers start once per session
    other = min(timed(lambda: theirs(X, y))[0] for _ in range(2)) if peer else np.nan
    for n_jobs in (1, 2):
        mine = best(lambda n=n_jobs: ours(X, y, n), arguments.repeats)
        line(f"wdbc, backward, tune once, 70 grid points, 5 members, n_jobs={n_jobs}", mine, other)
    line("one ranking pass, 2 000 columns, 300 rows", *ranking_pass(2000, peer))
    line("backward, 200 rows × 5 000 columns, 3 grid points, 5 members, n_jobs=2", wide_selection(5000, 2), np.nan)


if __name__ == "__main__":
    main()
