"""One split of the rows: kernels of any set of columns, fits on them, and their scores."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import config_context

from explicate.core.validation import check_memory
from explicate.mistic.kernels import NAMED, Kernel, KernelAlgebra, add_statistics
from explicate.mistic.machine import pairwise_coefficients
from explicate.mistic.scoring import score_decisions

Parameters = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Fold:
    """
    Training and validation rows of one split, on every column.

    Parameters
    ----------
    number : int
    X_train, X_valid : ndarray of shape (n_rows, n_columns)
    y_train : ndarray
        Labels or targets as the SVM takes them.
    y_valid : ndarray
        As `score_decisions` takes them.
    weights : ndarray or None
        Sample weights of the training rows.
    """

    number: int
    X_train: np.ndarray
    y_train: np.ndarray
    X_valid: np.ndarray
    y_valid: np.ndarray
    weights: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A fit on a fold's training rows, and its score on the validation rows."""

    score: float
    metrics: dict[str, float]
    support: np.ndarray
    beta: np.ndarray
    kernel: Any
    nu: float | None
    decisions: np.ndarray


@dataclass(frozen=True, eq=False)
class Task:
    """What is fitted and how it is scored: the same for every fold."""

    kind: str
    estimator: Any
    classes: np.ndarray
    scoring: Any


class FoldKernels:
    """
    Kernels between a fold's rows and its training rows, for one set of columns after another.

    The statistics behind a kernel (squared distances, inner products, …) are kept for the last set and updated by the
    columns that leave or enter: O(n² |g|). All values of γ share them.

    Parameters
    ----------
    fold : Fold
    """

    def __init__(self, fold: Fold) -> None:
        self.rows, self.train = np.vstack([fold.X_train, fold.X_valid]), fold.X_train
        self.known: dict[Any, tuple[np.ndarray, Any]] = {}

    def matrix(self, kernel: Any, columns: np.ndarray) -> np.ndarray:
        """Return K between all rows (training ones first) and the training rows, on `columns`."""
        family = kernel_family(kernel)
        inside = np.zeros(self.train.shape[1], dtype=bool)
        inside[columns] = True
        statistics = None
        if family in self.known:
            before, statistics = self.known[family]
            leaving, entering = np.flatnonzero(before & ~inside), np.flatnonzero(inside & ~before)
            if len(leaving) + len(entering) > 0.5 * len(columns):
                statistics = None  # cheaper, and rounder, from scratch
            else:
                for changed, sign in ((leaving, -1), (entering, 1)):
                    if len(changed):
                        own = kernel.statistics(self.rows[:, changed], self.train[:, changed])
                        statistics = add_statistics(statistics, own, sign)
        if statistics is None:
            statistics = kernel.statistics(self.rows[:, columns], self.train[:, columns])
        self.known[family] = (inside, statistics)
        return kernel.from_statistics(statistics)


def kernel_family(kernel: Any) -> Any:
    """
    Return what two kernels have in common when they are functions of the same statistics.

    Examples
    --------
    >>> kernel_family(Kernel("poly", 0.1)) == kernel_family(Kernel("linear"))
    True
    """
    if isinstance(kernel, Kernel):
        return "inner" if kernel.name in ("linear", "poly", "sigmoid") else kernel.name
    return tuple(kernel_family(part) for part in kernel.parts)


def kernel_for(estimator: Any, parameters: Parameters, X: np.ndarray, columns: np.ndarray, factor: float = 1.0) -> Any:
    """
    Resolve the kernel an unfitted SVM would use on some columns.

    Parameters
    ----------
    estimator : SVC, SVR or OneClassSVM
    parameters : dict
        Override the estimator's own.
    X : ndarray of shape (n_rows, n_columns)
        Training rows, for gamma="scale".
    columns : ndarray of int
    factor : float, default 1
        Multiplies a numeric gamma; "scale" and "auto" follow the columns by themselves.
    """
    given = {**estimator.get_params(deep=False), **parameters}
    kernel, gamma = given["kernel"], given["gamma"]
    if isinstance(kernel, KernelAlgebra):
        return kernel
    if callable(kernel) or kernel not in NAMED:
        what = "a callable" if callable(kernel) else repr(kernel)
        raise ValueError(f"kernel={what} has no formula here; use one of {', '.join(map(repr, NAMED))} or a Kernel.")
    if gamma == "scale":
        variance = X[:, columns].var()
        gamma = 1.0 / (len(columns) * variance) if variance > 0 else 1.0
    elif gamma == "auto":
        gamma = 1.0 / len(columns)
    else:
        gamma = float(gamma) * factor
    return Kernel(kernel, float(gamma), int(given["degree"]), float(given["coef0"]))


def evaluate_grid(
    fold: Fold,
    kernels: FoldKernels,
    task: Task,
    grid: list[Parameters],
    columns: np.ndarray,
    factor: float = 1.0,
) -> list[Evaluation]:
    """
    Fit and score every combination of parameters on one set of columns; kernels that repeat are made once.

    Parameters
    ----------
    fold : Fold
    kernels : FoldKernels
    task : Task
    grid : list of dict
    columns : ndarray of int
    factor : float, default 1
        See `kernel_for`.

    Returns
    -------
    list of Evaluation
        In the order of `grid`.
    """
    resolved = [kernel_for(task.estimator, parameters, fold.X_train, columns, factor) for parameters in grid]
    done: dict[int, Evaluation] = {}
    for kernel in dict.fromkeys(resolved):
        matrix = kernels.matrix(kernel, columns)
        for position, own in enumerate(resolved):
            if own == kernel:
                done[position] = _fit_and_score(fold, task, grid[position], kernel, matrix)
    return [done[position] for position in range(len(grid))]


def _fit_and_score(fold: Fold, task: Task, parameters: Parameters, kernel: Any, matrix: np.ndarray) -> Evaluation:
    model = seeded(copy(task.estimator))
    vars(model).update(parameters, kernel="precomputed")
    n_train = len(fold.X_train)
    # Rows and parameters were checked once for the whole search; again for every fit would take as long as the fits.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        model.fit(matrix[:n_train], fold.y_train, sample_weight=fold.weights)
    beta, intercept, _ = pairwise_coefficients(model)
    decisions = matrix[n_train:][:, model.support_] @ beta.T + intercept
    score, metrics = score_decisions(task.kind, fold.y_valid, decisions, task.classes, task.scoring)
    nu = float(model.nu) if task.kind == "one_class" else None
    return Evaluation(score, metrics, model.support_, beta, kernel, nu, decisions)


def seeded(model: Any) -> Any:
    """Give an SVM a seed where it has none: libsvm would draw one from NumPy's global generator."""
    if getattr(model, "random_state", None) is None:
        model.random_state = 0
    return model


def make_folds(
    splits: list[tuple[np.ndarray, np.ndarray]],
    X: np.ndarray,
    y: np.ndarray,
    scored: np.ndarray,
    weights: np.ndarray | None,
    *,
    max_memory: float,
) -> list[Fold]:
    """
    Cut rows into folds, refusing kernels beyond memory.

    Parameters
    ----------
    splits : list of (train, validation)
    X : ndarray of shape (n_rows, n_columns)
    y : ndarray of shape (n_rows,)
        For fits.
    scored : ndarray of shape (n_rows,)
        For scores, see `score_decisions`.
    weights : ndarray or None
    max_memory : float
        Bytes the kernels of one fold may take.
    """
    largest = max(len(train) * (len(train) + len(test)) for train, test in splits)
    check_memory(24.0 * largest, max_memory, what="the kernel of a fold", remedy="select on fewer rows")
    return [
        Fold(number, X[train], y[train], X[test], scored[test], None if weights is None else weights[train])
        for number, (train, test) in enumerate(splits)
    ]
