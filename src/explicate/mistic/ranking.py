"""From perturbations to one order of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import check_choice, check_number
from explicate.mistic.criteria import exact_dual, mass_proxy, recalibrated_coverage
from explicate.mistic.freezing import FrozenMachine, freeze, group_sizes
from explicate.mistic.perturbation import Groups

#: Criteria over the support vectors.
OBJECTIVES = ("dual", "kernel_mass")


def ordinal_ranks(values: np.ndarray) -> np.ndarray:
    """
    Return zero-based ranks, smallest first; equal values share the mean of their ranks, whatever their order.

    Examples
    --------
    >>> ordinal_ranks(np.array([5.0, 1.0, 5.0]))
    array([1.5, 0. , 1.5])
    """
    from scipy.stats import rankdata

    return rankdata(values, method="average") - 1.0


def blend_ranks(sample: np.ndarray, objective: np.ndarray, weight: float) -> np.ndarray:
    """
    Return c_g = w · rank of `sample` + (1 − w) · rank of `objective`.

    Parameters
    ----------
    sample, objective : ndarray of shape (n_groups,)
        Raw criteria, high is important.
    weight : float
        Share of the sample criterion, in [0, 1].

    Examples
    --------
    >>> blend_ranks(np.array([3.0, 2.0]), np.array([0.1, 0.9]), 0.75)
    array([0.75, 0.25])
    """
    check_number("weight", weight, low=0, high=1)
    return weight * ordinal_ranks(sample) + (1.0 - weight) * ordinal_ranks(objective)


def combined_rank(
    model: Any,
    X: Any,
    groups: Groups = None,
    direction: str = "backward",
    *,
    weight: float = 0.9,
    objective: str = "dual",
    active: Sequence[Any] | None = None,
    X_train: Any = None,
    normalization: str = "per_feature",
) -> pd.Series:
    """
    Consensus of what a group does to decisions on `X` and to the dual objective.

    Parameters
    ----------
    model, X, groups, direction, active, X_train, normalization
        As in `explicate.mistic.decision_perturbation`.
    weight : float, default 0.9
        Share of the sample criterion: energy of the decision's change, or for a one-class SVM its coverage and
        dispersion.
    objective : {"dual", "kernel_mass"}, default "dual"
        Exact frozen change of the dual objective, or the proxy of MISTIC 0.1.1 in its own order.

    Returns
    -------
    Series
        Per group; the lowest is removed first, the highest added first.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svm = SVC(kernel="linear").fit([[0.0, 5.0], [2.0, 5.0]], [0, 1])
    >>> combined_rank(svm, [[2.0, 5.0]]).round(3).tolist()
    [1.0, 0.0]
    """
    view = freeze(model, X, groups, direction, active=active, X_train=X_train)
    values = rank_groups(
        view.machine,
        view.rows,
        view.groups,
        direction,
        weight=weight,
        objective=objective,
        normalization=normalization,
        nu=model.nu if type(model).__name__ == "OneClassSVM" else None,
        reference=view.rows if view.training_rows is None else view.training_rows,
    )
    return pd.Series(values, index=list(view.names), name="combined")


def rank_groups(
    machine: FrozenMachine,
    rows: np.ndarray,
    groups: Sequence[np.ndarray],
    direction: str,
    *,
    weight: float,
    objective: str,
    normalization: str,
    nu: float | None = None,
    reference: np.ndarray | None = None,
) -> np.ndarray:
    """
    Return the consensus rank of every group; a criterion whose weight is zero is not computed.

    Even consensus goes by the sample's rank (a millionth of it is added).

    Parameters
    ----------
    machine : FrozenMachine
    rows : ndarray of shape (n_rows, n_columns)
        Ranking rows.
    groups : sequence of ndarray of int
    direction, weight, objective, normalization
        As in `combined_rank`.
    nu : float, optional
        Of a one-class SVM; ``None`` for the others.
    reference : ndarray, optional
        Training rows, which set the offset of a one-class SVM.
    """
    check_choice("objective", objective, OBJECTIVES)
    check_number("weight", weight, low=0, high=1)
    sample = objective_values = np.zeros(len(groups))
    if weight > 0 and nu is None:
        changes = machine.decision_changes(rows, groups, direction)
        sample = (changes**2).sum(axis=(1, 2)) / group_sizes(groups, normalization) ** 2
    elif weight > 0 and nu is not None:
        held = rows if reference is None else reference
        coverage, spread = recalibrated_coverage(machine, rows, held, groups, direction, nu)
        eligible = coverage >= 1 - nu - 1e-12
        spread = spread / group_sizes(groups, normalization)
        # Backward: what would break the coverage goes last. Forward: what keeps it comes first.
        sample = ordinal_ranks(spread) + len(groups) * (eligible if direction == "forward" else ~eligible)
    if weight < 1:
        if objective == "dual":
            objective_values = exact_dual(machine, groups, direction, normalization, one_class=nu is not None)
            # What never varies changes nothing: 0, above columns that do harm and yet of no use, so it goes first.
            support = machine.support_vectors
            spread = support.max(axis=0, initial=-np.inf) - support.min(axis=0, initial=np.inf)
            moving = np.asarray(spread > 1e-12 * np.abs(support).max(axis=0, initial=0.0))
            still = [not moving[own].any() for own in groups]
            objective_values = np.where(still, -np.inf, objective_values)
        else:  # as MISTIC 0.1.1: the lowest M_g leaves first, and the lowest enters first
            mass = mass_proxy(machine, groups, direction, normalization)
            objective_values = mass if direction == "backward" else -mass
    # Two rankings of few groups often disagree evenly; the sample's then decides, not the order of the columns.
    return blend_ranks(sample, objective_values, weight) + 1e-6 * ordinal_ranks(sample)


def synthetic_rows(rows: np.ndarray, n_rows: int, random_state: int) -> np.ndarray:
    """
    Draw independent normal rows with the mean and standard deviation of each column.

    Parameters
    ----------
    rows : ndarray of shape (n_train, n_columns)
    n_rows : int
    random_state : int

    Examples
    --------
    >>> synthetic_rows(np.array([[1.0], [1.0]]), 2, 0)
    array([[1.],
           [1.]])
    """
    drawn = np.random.default_rng(random_state).standard_normal((n_rows, rows.shape[1]))
    return rows.mean(axis=0) + rows.std(axis=0) * drawn
