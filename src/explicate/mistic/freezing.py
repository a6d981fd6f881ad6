"""A fitted SVM held still while groups of columns leave or enter its kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.features import FeatureSpace
from explicate.core.parallel import row_blocks
from explicate.core.validation import align_columns, check_choice, shorten_list
from explicate.mistic.kernels import CompositeKernel, Kernel, add_statistics
from explicate.mistic.machine import read_svm

#: Size s_g that a group's effect is divided by.
NORMALIZATIONS = ("per_feature", "sqrt", "none")
#: Kernel entries worked on at a time: few enough for the processor's cache.
BLOCK = 32_768


@dataclass(frozen=True, eq=False)
class FrozenMachine:
    """
    Coefficients and kernel of a fitted SVM, with its support vectors on columns it uses and on others.

    Parameters
    ----------
    support_vectors : ndarray of shape (n_SV, n_columns)
        On every column of the table, used or not.
    beta : ndarray of shape (n_machines, n_SV)
    kernel : Kernel or CompositeKernel
    active : ndarray of int
        Positions of the columns the SVM uses.
    """

    support_vectors: np.ndarray
    beta: np.ndarray
    kernel: Kernel | CompositeKernel
    active: np.ndarray

    def decision_changes(self, X: np.ndarray, groups: Sequence[np.ndarray], direction: str) -> np.ndarray:
        """
        Return f_F(x) − f_{F_g}(x), shape (n_groups, n_rows, n_machines); the intercept cancels.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        groups : sequence of ndarray of int
            Columns of each group.
        direction : {"backward", "forward"}
            Whether F_g is F without g, or with it.
        """
        out = np.empty((len(groups), len(X), len(self.beta)))
        sign = _sign(direction)
        if isinstance(self.kernel, Kernel) and self.kernel.name == "linear":
            weights = self.beta @ self.support_vectors
            for g, columns in enumerate(groups):
                out[g] = -sign * X[:, columns] @ weights[:, columns].T
            return out
        for rows in self._blocks(len(X)):
            whole = None
            for g, kernel in self._kernels(X[rows], self.support_vectors, groups, sign):
                values = kernel @ self.beta.T
                if whole is None:
                    whole = values
                else:
                    out[g, rows] = whole - values
        return out

    def dual_changes(self, groups: Sequence[np.ndarray], direction: str) -> np.ndarray:
        """Return ½ βᵀ ΔK β of every machine, ΔK = K_F − K_{F_g}, shape (n_groups, n_machines)."""
        sign = _sign(direction)
        if isinstance(self.kernel, Kernel) and self.kernel.name == "linear":
            weights = self.beta @ self.support_vectors
            return np.array([-sign * 0.5 * (weights[:, columns] ** 2).sum(axis=1) for columns in groups])
        total = np.zeros((len(groups), len(self.beta)))
        for rows in self._blocks(len(self.support_vectors)):
            first, whole = self.beta[:, rows], None
            second = self.beta[:, rows.start :].copy()  # K is symmetric: pairs beyond the block count twice
            second[:, first.shape[1] :] *= 2.0
            later = self.support_vectors[rows.start :]
            for g, kernel in self._kernels(self.support_vectors[rows], later, groups, sign):
                value = ((kernel @ second.T) * first.T).sum(axis=0)
                if whole is None:
                    whole = value
                else:
                    total[g] += 0.5 * (whole - value)
        return total

    def mass_changes(self, groups: Sequence[np.ndarray], direction: str) -> np.ndarray:
        """Return Σ_ij ΔK_ij over support vectors, shape (n_groups,)."""
        total = np.zeros(len(groups))
        for rows in self._blocks(len(self.support_vectors)):
            whole = None
            block = self.support_vectors[rows]
            for g, kernel in self._kernels(block, self.support_vectors, groups, _sign(direction)):
                value = kernel.sum()
                if whole is None:
                    whole = value
                else:
                    total[g] += whole - value
        return total

    def _blocks(self, n_rows: int) -> list[slice]:
        return row_blocks(n_rows, len(self.support_vectors), max(BLOCK, 16 * len(self.support_vectors)))

    def _kernels(
        self, X: np.ndarray, Y: np.ndarray, groups: Sequence[np.ndarray], sign: int
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the kernel of the active columns as number -1, then that of every changed set."""
        base = self.kernel.statistics(X[:, self.active], Y[:, self.active])
        yield -1, self.kernel.from_statistics(base)
        for g, columns in enumerate(groups):
            own = self.kernel.statistics(X[:, columns], Y[:, columns])
            yield g, self.kernel.from_statistics(add_statistics(base, own, sign))


def _sign(direction: str) -> int:
    return -1 if check_choice("direction", direction, ("backward", "forward")) == "backward" else 1


def group_sizes(groups: Sequence[np.ndarray], normalization: str) -> np.ndarray:
    """
    Return s_g for every group.

    Examples
    --------
    >>> group_sizes([np.arange(4)], "sqrt")
    array([2.])
    """
    check_choice("normalization", normalization, NORMALIZATIONS)
    power = {"per_feature": 1.0, "sqrt": 0.5, "none": 0.0}[normalization]
    return np.array([len(group) for group in groups], dtype=float) ** power


@dataclass(frozen=True, eq=False)
class FrozenView:
    """A frozen machine, rows to evaluate it on, and the groups that may leave or enter."""

    machine: FrozenMachine
    rows: np.ndarray
    names: tuple[Any, ...]
    groups: tuple[np.ndarray, ...]
    model: Any
    training_rows: np.ndarray | None


def freeze(
    model: Any,
    X: Any = None,
    groups: Mapping[Any, Sequence[Any]] | None = None,
    direction: str = "backward",
    *,
    active: Sequence[Any] | None = None,
    X_train: Any = None,
) -> FrozenView:
    """
    Read a fitted SVM and the groups that may leave it or enter it.

    Parameters
    ----------
    model : SVC, SVR or OneClassSVM
        Fitted.
    X : DataFrame or array of shape (n_rows, n_columns), optional
        Rows to evaluate; default the support vectors.
    groups : mapping, optional
        Name -> columns (names, or positions); columns in no group stand alone.
    direction : {"backward", "forward"}
        Whether the model's groups leave, or the others enter.
    active : sequence, optional
        Columns of `X` the model was fitted on, in its order; default all. Needed for "forward".
    X_train : DataFrame or array of shape (n_train, n_columns), optional
        Rows the model was fitted on, with every column. Needed for "forward".

    Raises
    ------
    ValueError
        When columns do not match the model, a group is cut in half, or what "forward" needs is missing.
    """
    _sign(direction)
    svm = read_svm(model)
    tables = [table for table in (X_train, X) if table is not None]
    known = getattr(model, "feature_names_in_", None) if active is None else None
    names = (
        _column_names(tables[0]) if tables else list(range(svm.support_vectors.shape[1]) if known is None else known)
    )
    if known is not None and tables and isinstance(tables[0], pd.DataFrame):
        names = list(known)
    rows = None if X is None else _as_rows(X, names, "X")
    training = None if X_train is None else _as_rows(X_train, names, "X_train")
    used = np.arange(len(names)) if active is None else _positions(active, names)
    if len(used) != svm.support_vectors.shape[1]:
        raise ValueError(
            f"the model was fitted on {svm.support_vectors.shape[1]} columns, active names {len(used)}; "
            "give the columns of X it was fitted on."
        )
    if training is None:
        if direction == "forward":
            raise ValueError("direction='forward' needs X_train: the rows the model was fitted on, with every column.")
        support = np.zeros((len(svm.support_vectors), len(names)))
        support[:, used] = svm.support_vectors
    else:
        fits = len(training) > model.support_.max()
        support = training[model.support_] if fits else np.full((1, len(names)), np.nan)
        if not fits or not np.allclose(support[:, used], svm.support_vectors):
            raise ValueError("X_train does not hold the model's support vectors; give the rows it was fitted on.")
    space = FeatureSpace.from_groups(groups, names)
    chosen, inside = [], set(used.tolist())
    for position, columns in enumerate(space.members):
        share = sum(column in inside for column in columns)
        if 0 < share < len(columns):
            raise ValueError(
                f"group {space.names[position]!r} has {share} of its {len(columns)} columns in the model; "
                "a group is used whole or not at all."
            )
        if (share > 0) == (direction == "backward"):
            chosen.append(position)
    machine = FrozenMachine(support, svm.beta, svm.kernel, used)
    return FrozenView(
        machine,
        support if rows is None else rows,
        tuple(space.names[position] for position in chosen),
        tuple(np.array(space.members[position], dtype=np.intp) for position in chosen),
        model,
        training,
    )


def _column_names(table: Any) -> list[Any]:
    return list(table.columns) if isinstance(table, pd.DataFrame) else list(range(np.shape(table)[1]))


def _positions(columns: Sequence[Any], names: list[Any]) -> np.ndarray:
    listed = list(columns)
    unknown = [column for column in listed if column not in names]
    if unknown:
        raise ValueError(f"active names {shorten_list(unknown)}, no column of X; use its columns.")
    return np.array([names.index(column) for column in listed], dtype=np.intp)


def _as_rows(table: Any, names: list[Any], what: str) -> np.ndarray:
    if isinstance(table, pd.DataFrame):
        table = align_columns(table, names, what=what)
    try:
        rows = np.asarray(table, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} holds values that are no numbers ({error}); encode them first.") from error
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ValueError(f"{what} has shape {rows.shape}; give (n_rows, {len(names)}).")
    if not np.isfinite(rows).all():
        raise ValueError(f"{what} has missing or infinite values; impute first, an SVM takes none.")
    return rows
