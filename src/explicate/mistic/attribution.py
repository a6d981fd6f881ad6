"""Integrated gradients of an SVM's own decision or probability, complete to a stated gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explicate.core.validation import check_choice, check_number
from explicate.mistic.counterfactuals import boundary_counterfactuals
from explicate.mistic.explained import ExplainedSVM, decisive_machines, explained_svm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Gauss-Legendre nodes per panel of the path.
ORDER = 5
#: Panels at most; a path over the kinks of a laplacian kernel may still have a gap there, which is reported.
MOST_PANELS = 4096


@dataclass(frozen=True, eq=False)
class IntegratedGradients:
    """
    Attributions of the change in output between a reference and each row.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features)
        Attributions, in units of the output.
    rows, references : ndarray of shape (n_rows, n_features)
        End and start of each path, in the user's units.
    outputs, reference_outputs : ndarray of shape (n_rows,)
        The model's output at both.
    steps : ndarray of int, shape (n_rows,)
        Gradients evaluated on each path.
    output : str
        ``"decision"`` or ``"probability"``.
    names, index : tuple
        Features and row labels.
    """

    values: np.ndarray
    rows: np.ndarray
    references: np.ndarray
    outputs: np.ndarray
    reference_outputs: np.ndarray
    steps: np.ndarray
    output: str
    names: tuple[object, ...]
    index: tuple[object, ...]

    @property
    def gaps(self) -> np.ndarray:
        """Sum of attributions minus change in output, shape (n_rows,): the discretisation error."""
        return self.values.sum(axis=1) - (self.outputs - self.reference_outputs)

    @property
    def importance(self) -> np.ndarray:
        """Mean absolute attribution per feature, shape (n_features,)."""
        return np.abs(self.values).mean(axis=0)

    @property
    def interaction_scores(self) -> np.ndarray:
        """
        How much another feature shapes a feature's attribution, shape (n_features, n_features), in [0, 1].

        Entry (i, j) is the root of a partial coefficient of determination, sqrt((S_i − S_ij) / S_i). S_i is the
        residual sum of squares when feature i's attributions are regressed on (1, x_i, x_i²), S_ij when they are
        regressed on (1, x_i, x_i², x_j, x_i x_j), by least squares over the rows explained. It is 0 on the diagonal
        and where a quadratic in x_i says all. It is not symmetric, and columns that go together share what they
        explain: it screens for interactions, it does not test for them.
        """
        n_rows, n = self.rows.shape
        scores = np.zeros((n, n))
        spread = self.rows.std(axis=0)
        data = (self.rows - self.rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        for i in range(n):
            basis = np.column_stack([np.ones(n_rows), data[:, i], data[:, i] ** 2])
            directions, lengths, _ = np.linalg.svd(basis, full_matrices=False)
            frame = directions[:, lengths > 1e-9 * lengths[0]]  # of two values, or one, the powers coincide
            left, alone, product = (
                part - frame @ (frame.T @ part) for part in (self.values[:, [i]], data, data * data[:, [i]])
            )
            size = float((left**2).sum())
            if size <= 1e-18 * float((self.values[:, i] ** 2).sum()):
                continue
            length = (alone**2).sum(axis=0)
            known = length > 1e-9 * n_rows
            product = product - alone * np.where(known, (alone * product).sum(axis=0) / np.where(known, length, 1), 0)
            for part in (alone, product):
                length = (part**2).sum(axis=0)
                known = length > 1e-9 * n_rows
                scores[i] += np.where(known, (part * left).sum(axis=0) ** 2 / np.where(known, length * size, 1), 0)
        np.fill_diagonal(scores, 0.0)
        return np.sqrt(np.clip(scores, 0.0, 1.0))

    def to_frame(self) -> pd.DataFrame:
        """Return the attributions, one row per explained row and one column per feature."""
        return pd.DataFrame(self.values, columns=list(self.names), index=list(self.index))

    def metrics(self) -> dict[str, float]:
        """Return the largest completeness gap and the mean gradients per row."""
        return {"max_completeness_gap": float(np.abs(self.gaps).max()), "mean_steps": float(self.steps.mean())}

    def summary(self) -> str:
        """Say which features matter and how complete the attributions are."""
        top = ", ".join(str(self.names[i]) for i in np.argsort(-self.importance, kind="stable")[:3])
        gap = np.abs(self.gaps).max()
        return f"{self.output} of {len(self.rows)} rows: {top} matter most; completeness gap at most {gap:.1e}."

    def plot(self, kind: str = "summary", **keywords: Any) -> Figure:
        """Draw ``"summary"``, ``"heatmap"`` or ``"dependence"`` (see `explicate.mistic.plotting`)."""
        from explicate.mistic import plotting

        check_choice("kind", kind, ["summary", "heatmap", "dependence"])
        return getattr(plotting, f"plot_{kind}")(self, **keywords)


def integrated_gradients(
    model: Any, X: Any, reference: Any = None, n_steps: int = 50, output: str = "decision", tolerance: float = 1e-6
) -> IntegratedGradients:
    """
    Integrate the model's gradient along the straight line from a reference to each row.

    The path is cut in panels of five Gauss-Legendre nodes, `n_steps` nodes at first; panels are doubled for the rows
    whose completeness gap exceeds `tolerance`, up to `MOST_PANELS`. Nothing is rescaled: `gaps` is what remains.

    Parameters
    ----------
    model : estimator
        Fitted SVC, SVR or OneClassSVM, a Pipeline of affine steps ending in one, or for probabilities a
        ``CalibratedClassifierCV(ensemble=False)`` with sigmoids around either (two classes).
    X : DataFrame or array of shape (n_rows, n_features)
        Rows in the user's units.
    reference : array-like of shape (n_features,) or (n_rows, n_features), optional
        Start of the paths. Default: each row's boundary counterfactual; regressors need one given.
    n_steps : int, default 50
        Gradients per path at first.
    output : {"decision", "probability"}, default "decision"
        Output explained. For three classes or more it is the one-vs-one decision between the predicted class and the
        runner-up, positive for the first of the two in ``classes_``; for two classes ``decision_function`` or the
        second class's probability.
    tolerance : float, default 1e-6
        Completeness gap aimed at.

    Returns
    -------
    IntegratedGradients

    Raises
    ------
    ValueError
        When a reference is needed or has the wrong shape, or the model gives no sigmoid probability.

    References
    ----------
    Sundararajan, Taly, Yan (2017), Axiomatic attribution for deep networks, equation 1.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> svm = SVC(kernel="linear").fit([[0.0, 0.0], [2.0, 0.0]], [0, 1])
    >>> integrated_gradients(svm, [[2.0, 5.0]], reference=[0.0, 5.0]).values.round(6).tolist()
    [[2.0, 0.0]]
    """
    check_choice("output", output, ["decision", "probability"])
    check_number("n_steps", n_steps, low=1, integer=True)
    check_number("tolerance", tolerance, low=0, low_included=False)
    inner, platt = _calibration(model, output)
    explained, rows = explained_svm(inner, X)
    which, _ = decisive_machines(explained, rows)
    if platt is not None and explained.decisions(rows[:1]).shape[1] > 1:
        raise ValueError("output='probability' needs two classes; use output='decision'.")
    starts = _references(inner, explained, X, rows, reference)
    values, steps = np.empty_like(rows), np.zeros(len(rows), dtype=int)
    ends, begins = (_outputs(explained, at, which, platt) for at in (rows, starts))
    for machine in np.unique(which):
        mine = np.flatnonzero(which == machine)
        panels = -(-n_steps // ORDER)
        while mine.size:
            means = _mean_gradients(explained, rows[mine], starts[mine], int(machine), panels, platt)
            values[mine] = (rows[mine] - starts[mine]) * means
            steps[mine] += panels * ORDER
            gap = np.abs(values[mine].sum(axis=1) - (ends[mine] - begins[mine]))
            mine, panels = mine[gap > tolerance * 0.1], 2 * panels
            if panels > MOST_PANELS:
                break
    index = tuple(X.index) if isinstance(X, pd.DataFrame) else tuple(range(len(rows)))
    return IntegratedGradients(values, rows, starts, ends, begins, steps, output, explained.names, index)


def _references(inner: Any, explained: ExplainedSVM, X: Any, rows: np.ndarray, reference: Any) -> np.ndarray:
    if reference is None:
        if explained.kind == "regressor":
            raise ValueError("reference=None: a regressor has no boundary; give a row, such as the training mean.")
        return boundary_counterfactuals(inner, X).values
    given = np.asarray(reference, dtype=np.float64)
    if given.shape not in (rows.shape, rows.shape[1:]) or not np.isfinite(given).all():
        raise ValueError(f"reference has shape {given.shape}; give finite values, {rows.shape[1:]} or {rows.shape}.")
    return np.broadcast_to(given, rows.shape).copy()


def _calibration(model: Any, output: str) -> tuple[Any, tuple[float, float] | None]:
    """Return the model underneath and Platt's (a, b) of p = 1 / (1 + exp(a f + b)) when probabilities are asked for."""
    inner, platt = model, None
    fitted = getattr(model, "calibrated_classifiers_", None)
    if fitted is not None:
        inner = fitted[0].estimator
        sigmoid = fitted[0].calibrators[0]
        if len(fitted) == 1 and len(fitted[0].calibrators) == 1 and hasattr(sigmoid, "a_"):
            platt = (float(sigmoid.a_), float(sigmoid.b_))
    if output == "probability" and platt is None:
        raise ValueError(
            "output='probability': the model has no single sigmoid; wrap it in "
            "CalibratedClassifierCV(ensemble=False, method='sigmoid') on two classes, or use output='decision'."
        )
    return inner, platt if output == "probability" else None


def _outputs(
    explained: ExplainedSVM, X: np.ndarray, which: np.ndarray, platt: tuple[float, float] | None
) -> np.ndarray:
    values = explained.decisions(X)[np.arange(len(X)), which]
    return values if platt is None else _sigmoid(values, platt)


def _sigmoid(decisions: np.ndarray, platt: tuple[float, float]) -> np.ndarray:
    return 0.5 * (1.0 - np.tanh((platt[0] * decisions + platt[1]) / 2))


def _mean_gradients(
    explained: ExplainedSVM,
    rows: np.ndarray,
    starts: np.ndarray,
    machine: int,
    panels: int,
    platt: tuple[float, float] | None,
) -> np.ndarray:
    nodes, weights = np.polynomial.legendre.leggauss(ORDER)
    total = np.zeros_like(rows)
    for panel in range(panels):
        for node, weight in zip(nodes, weights, strict=True):
            at = starts + (panel + (node + 1) / 2) / panels * (rows - starts)
            gradient = explained.gradient(at, machine)
            if platt is not None:
                p = _sigmoid(explained.decisions(at)[:, machine], platt)
                gradient = gradient * (-platt[0] * p * (1 - p))[:, None]
            total += weight / 2 / panels * gradient
    return total
