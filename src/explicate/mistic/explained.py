"""The decision functions of an SVM and their gradients in the user's units, affine preprocessing included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from explicate.core.validation import align_columns
from explicate.mistic.machine import read_svm


@dataclass(frozen=True, eq=False)
class ExplainedSVM:
    """
    A fitted SVM seen through the affine map z = x · `slope` + `offset` of what stands before it.

    Parameters
    ----------
    svm : estimator
        The fitted SVC, SVR or OneClassSVM.
    machine : object
        Its sparse form, as `read_svm` returns it.
    slope : ndarray of shape (n_features, n_inputs)
        Jacobian of the preprocessing.
    offset : ndarray of shape (n_inputs,)
        Its value at zero.
    names : tuple
        Feature names of the user's table.
    """

    svm: Any
    machine: Any
    slope: np.ndarray
    offset: np.ndarray
    names: tuple[object, ...]

    @property
    def kind(self) -> str:
        """``"classifier"``, ``"regressor"`` or ``"one_class"``."""
        return "classifier" if is_classifier(self.svm) else "regressor" if is_regressor(self.svm) else "one_class"

    @property
    def scale(self) -> np.ndarray:
        """Length in the SVM's inputs of one unit of each feature, shape (n_features,); 1 where a feature has none."""
        length = np.linalg.norm(self.slope, axis=1)
        return np.where(length > 0, length, 1.0)

    def decisions(self, X: np.ndarray) -> np.ndarray:
        """Return the value of every machine, shape (n_rows, n_machines)."""
        Z = X @ self.slope + self.offset
        machine = self.machine
        kernel = machine.kernel.matrix(Z, machine.support_vectors)
        return kernel @ np.atleast_2d(machine.beta).T + np.atleast_1d(machine.intercept)

    def gradient(self, X: np.ndarray, which: int) -> np.ndarray:
        """Return the gradient of machine `which` at each row, in the user's units, shape (n_rows, n_features)."""
        Z = X @ self.slope + self.offset
        machine = self.machine
        inner = machine.kernel.gradient(Z, machine.support_vectors, np.atleast_2d(machine.beta)[which])
        return inner @ self.slope.T


def explained_svm(model: Any, X: Any) -> tuple[ExplainedSVM, np.ndarray]:
    """
    Read a fitted SVM, alone or at the end of a Pipeline of affine steps, and the rows to explain as float64.

    Parameters
    ----------
    model : estimator
        Fitted SVC, NuSVC, SVR, NuSVR or OneClassSVM, or a Pipeline of scalers (or PCA, column selection) ending in one.
    X : DataFrame or array of shape (n_rows, n_features)
        Rows in the user's units.

    Returns
    -------
    tuple of (ExplainedSVM, ndarray of shape (n_rows, n_features))

    Raises
    ------
    ValueError
        When a value is missing, a column is not numeric, or the steps before the SVM are not affine on these rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> explained, rows = explained_svm(make_pipeline(StandardScaler(), SVC()).fit(X, y), X)
    >>> explained.decisions(rows).shape
    (150, 3)
    """
    names = getattr(model, "feature_names_in_", None)
    if isinstance(X, pd.DataFrame):
        X = X if names is None else align_columns(X, list(names))
        labels = tuple(X.columns)
    else:
        labels = tuple(names) if names is not None else tuple(range(np.shape(X)[1] if np.ndim(X) == 2 else 0))
    try:
        rows = np.array(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X holds values that are no numbers ({error}); encode or impute before the SVM.") from error
    if rows.ndim != 2 or rows.shape[1] != len(labels):
        raise ValueError(f"X has shape {rows.shape} for {len(labels)} features; give (n_rows, n_features).")
    if not np.isfinite(rows).all():
        raise ValueError("X has missing or infinite values; impute before explaining, an SVM takes none.")
    steps = model[:-1] if isinstance(model, Pipeline) and len(model.steps) > 1 else None
    svm = model.steps[-1][1] if isinstance(model, Pipeline) else model
    n = rows.shape[1]
    if steps is None:
        return ExplainedSVM(svm, read_svm(svm), np.eye(n), np.zeros(n), labels), rows

    def before(values: np.ndarray) -> np.ndarray:
        table = values if names is None else pd.DataFrame(values, columns=list(names))
        return np.asarray(steps.transform(table), dtype=np.float64)

    centre = rows.mean(axis=0)
    width = np.maximum(np.ptp(rows, axis=0), 1e-3 + 1e-3 * np.abs(centre))
    probes = before(np.vstack([centre, centre + np.diag(width)]))
    slope = (probes[1:] - probes[0]) / width[:, None]
    offset = probes[0] - centre @ slope
    inputs = before(rows)
    if not np.allclose(rows @ slope + offset, inputs, rtol=1e-7, atol=1e-7):
        raise ValueError(
            f"the steps {[name for name, _ in model.steps[:-1]]} before the SVM are not affine on X; "
            "explain the SVM itself on the transformed rows."
        )
    return ExplainedSVM(svm, read_svm(svm), slope, offset, labels), rows


def decisive_machines(explained: ExplainedSVM, X: np.ndarray, target: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """
    Choose per row the machine that separates the predicted class from a target class, and its sign.

    For several classes the machines are the one-vs-one decisions. The predicted class has the most votes (ties: the
    first, as scikit-learn without ``break_ties``). The target defaults to the runner-up: among the others the class
    with the most votes, ties going to the one whose decision against the predicted class is nearest to zero.

    Parameters
    ----------
    explained : ExplainedSVM
    X : ndarray of shape (n_rows, n_features)
    target : label, optional
        Class every row should be compared with; rows already predicted so keep their runner-up.

    Returns
    -------
    tuple of (which, classes)
        Index of the machine per row, shape (n_rows,), and class indices (predicted, target), shape (n_rows, 2).
    """
    values = explained.decisions(X)
    if explained.kind != "classifier" or values.shape[1] == 1:
        positive = (values[:, 0] > 0).astype(int)
        return np.zeros(len(X), dtype=int), np.column_stack([positive, 1 - positive])
    classes = list(explained.svm.classes_)
    n = len(classes)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    index = {pair: k for k, pair in enumerate(pairs)}
    votes = np.zeros((len(X), n))
    for k, (i, j) in enumerate(pairs):
        votes[:, i] += values[:, k] > 0
        votes[:, j] += values[:, k] <= 0
    if target is not None and target not in classes:
        raise ValueError(f"target={target!r} is no class of the model; use one of {classes}.")
    predicted = votes.argmax(axis=1)
    which, chosen = np.zeros(len(X), dtype=int), np.zeros((len(X), 2), dtype=int)
    for row, p in enumerate(predicted):
        others = [c for c in range(n) if c != p]
        margin = {c: abs(values[row, index[min(p, c), max(p, c)]]) for c in others}
        rival = min(others, key=lambda c: (-votes[row, c], margin[c]))
        if target is not None and classes.index(target) != p:
            rival = classes.index(target)
        which[row], chosen[row] = index[min(p, rival), max(p, rival)], (p, rival)
    return which, chosen
