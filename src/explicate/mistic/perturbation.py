"""What happens to a fitted SVM when a group of columns leaves its kernel or enters it, nothing else changing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.validation import check_memory
from explicate.mistic.criteria import exact_dual, mass_proxy, recalibrated_coverage
from explicate.mistic.freezing import freeze, group_sizes
from explicate.mistic.machine import svm_kind

Groups = Mapping[Any, Sequence[Any]] | None


@dataclass(frozen=True, eq=False)
class GroupPerturbations:
    """
    Effects of groups on rows.

    Parameters
    ----------
    values : ndarray of shape (n_groups, n_rows, n_machines)
        Signed effects, divided by s_g; one machine, or one per pair of classes.
    names : tuple
        Groups.
    """

    values: np.ndarray
    names: tuple[Any, ...]

    @property
    def energy(self) -> np.ndarray:
        """D_g: squared effects summed over rows and, for several classes, over one-vs-one decisions."""
        return (self.values**2).sum(axis=(1, 2))

    @property
    def total(self) -> np.ndarray:
        """P_g: absolute effects summed over rows and machines."""
        return np.abs(self.values).sum(axis=(1, 2))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per group: ``group``, ``energy``, ``total``."""
        return pd.DataFrame({"group": list(self.names), "energy": self.energy, "total": self.total})


def decision_perturbation(
    model: Any,
    X: Any,
    groups: Groups = None,
    direction: str = "backward",
    *,
    active: Sequence[Any] | None = None,
    X_train: Any = None,
    normalization: str = "per_feature",
    max_memory: float = 2e9,
) -> GroupPerturbations:
    """
    Change of the decision when a group leaves (or enters) the kernel: (f_F(x) − f_{F_g}(x)) / s_g.

    Coefficients, intercept and kernel parameters stay as fitted; the change is exact, not a linearisation.

    Parameters
    ----------
    model : SVC, SVR or OneClassSVM
        Fitted on dense rows.
    X : DataFrame or array of shape (n_rows, n_columns)
        Rows to evaluate.
    groups : mapping, optional
        Name -> columns (names of a frame, positions of an array); columns in no group stand alone.
    direction : {"backward", "forward"}, default "backward"
        Remove groups the model uses, or add groups it does not.
    active : sequence, optional
        Columns of `X` the model was fitted on, in its order; default all of them.
    X_train : DataFrame or array, optional
        Rows the model was fitted on, with every column; needed for "forward".
    normalization : {"per_feature", "sqrt", "none"}, default "per_feature"
        s_g: number of columns of the group, its root, or 1.
    max_memory : float, default 2e9
        Bytes the result may take.

    Returns
    -------
    GroupPerturbations

    Raises
    ------
    ValueError
        For a kernel without known formula, groups that overlap or are cut in half, values that are missing.
    MemoryError
        When the result would exceed `max_memory`.

    References
    ----------
    MISTIC documentation, "Decision perturbation".

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svm = SVC(kernel="linear").fit([[0.0, 5.0], [2.0, 5.0]], [0, 1])
    >>> decision_perturbation(svm, [[2.0, 5.0]]).values[:, 0, 0].round(9).tolist()
    [2.0, 0.0]
    """
    view = freeze(model, X, groups, direction, active=active, X_train=X_train)
    n_values = len(view.groups) * len(view.rows) * len(view.machine.beta)
    check_memory(8.0 * n_values, max_memory, what="decision_perturbation", remedy="give fewer rows")
    changes = view.machine.decision_changes(view.rows, view.groups, direction)
    return GroupPerturbations(changes / group_sizes(view.groups, normalization)[:, None, None], view.names)


def probability_perturbation(
    model: Any,
    X: Any,
    groups: Groups = None,
    direction: str = "backward",
    *,
    active: Sequence[Any] | None = None,
    X_train: Any = None,
    normalization: str = "per_feature",
) -> GroupPerturbations:
    """
    First-order change of the second class's probability: −A p (1 − p) times the change of the decision.

    Parameters
    ----------
    model : CalibratedClassifierCV
        ``CalibratedClassifierCV(svm, ensemble=False)`` with sigmoids, fitted on two classes; its p is
        1 / (1 + exp(A f + B)).
    X, groups, direction, active, X_train, normalization
        As in `decision_perturbation`.

    Returns
    -------
    GroupPerturbations
        Use ``total`` (P_g), in units of probability.

    Raises
    ------
    ValueError
        When the model has no single sigmoid, or as `decision_perturbation` does.

    References
    ----------
    MISTIC documentation, "Probability perturbation"; Platt (1999).

    Examples
    --------
    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.svm import SVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifierCV(SVC(), ensemble=False, cv=3).fit(X[:, :5], y)
    >>> probability_perturbation(model, X[:50, :5]).total.argmax()
    np.int64(3)
    """
    from explicate.mistic.attribution import _calibration

    inner, platt = _calibration(model, "probability")
    if len(inner.classes_) != 2 or platt is None:
        raise ValueError(f"the model has {len(inner.classes_)} classes; probabilities are perturbed for two.")
    changes = decision_perturbation(
        inner, X, groups, direction, active=active, X_train=X_train, normalization=normalization
    )
    view = freeze(inner, X, groups, direction, active=active, X_train=X_train)
    used = view.machine.active
    decisions = view.machine.kernel.matrix(view.rows[:, used], view.machine.support_vectors[:, used])
    values = decisions @ view.machine.beta.T + inner.intercept_
    p = 0.5 * (1.0 - np.tanh((platt[0] * values + platt[1]) / 2))
    return GroupPerturbations((-platt[0] * p * (1 - p))[None] * changes.values, changes.names)


def dual_criterion(
    model: Any,
    groups: Groups = None,
    direction: str = "backward",
    *,
    active: Sequence[Any] | None = None,
    X_train: Any = None,
    normalization: str = "per_feature",
) -> pd.Series:
    """
    Exact change of the frozen dual objective: ½ βᵀ (K_with − K_without) β / s_g, over the support vectors.

    K_with is the kernel with the group in it, K_without the one without, so that both directions have one sign: high
    is a group that holds the classes apart, below zero one without which the machine separates more. Several classes
    add up over the one-vs-one machines. A linear kernel and single columns give w²/2, as in SVM-RFE. A one-class SVM
    has nothing to hold apart: its criterion is the absolute change.

    Parameters
    ----------
    model, groups, direction, active, X_train, normalization
        As in `decision_perturbation`.

    Returns
    -------
    Series
        Criterion per group.

    Notes
    -----
    The sign matters. Any column of an RBF kernel, noise too, makes rows less alike, which shifts the form by an amount
    all groups share; where that shift is negative, absolute values put signal and noise in the wrong order.

    References
    ----------
    Guyon, Weston, Barnhill, Vapnik (2002), Gene selection for cancer classification using support vector machines,
    Machine Learning 46, the criterion DJ for nonlinear kernels.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svm = SVC(kernel="linear").fit([[0.0, 5.0], [2.0, 5.0]], [0, 1])
    >>> dual_criterion(svm).round(9).tolist()
    [0.5, 0.0]
    """
    view = freeze(model, X_train, groups, direction, active=active, X_train=X_train)
    one_class = svm_kind(model) == "one_class"
    values = exact_dual(view.machine, view.groups, direction, normalization, one_class=one_class)
    return pd.Series(values, index=list(view.names), name="dual")


def kernel_mass_criterion(
    model: Any,
    groups: Groups = None,
    direction: str = "backward",
    *,
    active: Sequence[Any] | None = None,
    X_train: Any = None,
    normalization: str = "per_feature",
) -> pd.Series:
    """
    Proxy of MISTIC 0.1.1: M_g = −|β|² / (2 s_g) · Σ_ij (ΔK_g)_ij, signed.

    Parameters
    ----------
    model, groups, direction, active, X_train, normalization
        As in `decision_perturbation`.

    Returns
    -------
    Series
        Criterion per group; for several classes |β|² is summed over the one-vs-one machines.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svm = SVC(kernel="linear").fit([[0.0, 5.0], [2.0, 5.0]], [0, 1])
    >>> kernel_mass_criterion(svm).round(9).tolist()
    [-1.0, -25.0]
    """
    view = freeze(model, X_train, groups, direction, active=active, X_train=X_train)
    values = mass_proxy(view.machine, view.groups, direction, normalization)
    return pd.Series(values, index=list(view.names), name="kernel_mass")


def one_class_contribution(
    model: Any,
    X: Any,
    groups: Groups = None,
    direction: str = "backward",
    *,
    active: Sequence[Any] | None = None,
    X_train: Any = None,
    normalization: str = "per_feature",
) -> pd.DataFrame:
    """
    Coverage and dispersion of a one-class SVM after a group has left or entered.

    The offset of every changed machine is set again so that a share 1 − ν of the training rows lies inside, as a fit
    would do; with the old offset all groups of an RBF kernel would keep the coverage, or none.

    Parameters
    ----------
    model : OneClassSVM
    X : DataFrame or array
        Rows whose coverage counts.
    groups, direction, active, normalization
        As in `decision_perturbation`.
    X_train : DataFrame or array, optional
        Training rows, which set the offset; default `X` itself, which then is covered by construction.

    Returns
    -------
    DataFrame
        Indexed by group: ``coverage`` (share of `X` inside), ``eligible`` (coverage of at least 1 − ν),
        ``dispersion`` (absolute change of the decision's standard deviation, divided by s_g).

    Examples
    --------
    >>> from sklearn.svm import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> one_class_contribution(OneClassSVM(nu=0.2).fit(X), X)["coverage"].tolist()
    [0.8, 0.8]
    """
    view = freeze(model, X, groups, direction, active=active, X_train=X_train)
    reference = view.rows if view.training_rows is None else view.training_rows
    coverage, dispersion = recalibrated_coverage(view.machine, view.rows, reference, view.groups, direction, model.nu)
    sizes = group_sizes(view.groups, normalization)
    table = {"coverage": coverage, "eligible": coverage >= 1 - model.nu - 1e-12, "dispersion": dispersion / sizes}
    return pd.DataFrame(table, index=list(view.names))
