"""The nearest point of the decision boundary, found with analytic gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from explicate.core.validation import check_number
from explicate.mistic.explained import ExplainedSVM, decisive_machines, explained_svm

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class BoundaryCounterfactuals:
    """
    Boundary points next to the rows explained, in the user's units.

    Parameters
    ----------
    rows, values : ndarray of shape (n_rows, n_features)
        The rows, and their counterfactuals.
    decisions : ndarray of shape (n_rows, 2)
        Decision (minus the level, for regression) at the row and at its counterfactual.
    distances : ndarray of shape (n_rows,)
        Length of the change in the SVM's inputs (features times `scale`).
    success : ndarray of bool, shape (n_rows,)
        Whether the decision at the counterfactual is within the tolerance of zero.
    classes : ndarray of shape (n_rows, 2)
        Predicted and target class (labels; +1/-1 for one-class; empty strings for regression).
    scale : ndarray of shape (n_features,)
        Inputs per unit of a feature.
    names, index : tuple
        Features and row labels.
    """

    rows: np.ndarray
    values: np.ndarray
    decisions: np.ndarray
    distances: np.ndarray
    success: np.ndarray
    classes: np.ndarray
    scale: np.ndarray
    names: tuple[object, ...]
    index: tuple[object, ...]

    @property
    def changes(self) -> np.ndarray:
        """Counterfactual minus row, in the user's units."""
        return self.values - self.rows

    @property
    def scaled_changes(self) -> np.ndarray:
        """Changes in the SVM's inputs, comparable between features."""
        return self.changes * self.scale

    def to_frame(self) -> pd.DataFrame:
        """Return one row per explained row: classes, decisions, distance, success, the counterfactual's features."""
        head = pd.DataFrame(
            {
                "from": self.classes[:, 0],
                "to": self.classes[:, 1],
                "decision_before": self.decisions[:, 0],
                "decision_after": self.decisions[:, 1],
                "distance": self.distances,
                "success": self.success,
            },
            index=list(self.index),
        )
        return pd.concat([head, pd.DataFrame(self.values, columns=list(self.names), index=list(self.index))], axis=1)

    def metrics(self) -> dict[str, float]:
        """Return the share of successes, mean distance and largest absolute decision among them."""
        done = self.success
        return {
            "success_rate": float(done.mean()) if len(done) else float("nan"),
            "mean_distance": float(self.distances[done].mean()) if done.any() else float("nan"),
            "max_abs_decision": float(np.abs(self.decisions[done, 1]).max()) if done.any() else float("nan"),
        }

    def summary(self) -> str:
        """Say how many rows reached the boundary and which features moved most."""
        size = np.abs(self.scaled_changes[self.success]).mean(axis=0) if self.success.any() else np.zeros(0)
        top = ", ".join(str(self.names[i]) for i in np.argsort(-size, kind="stable")[:3])
        return (
            f"{int(self.success.sum())} of {len(self.rows)} rows reached the boundary; largest changes: {top or '—'}."
        )

    def plot(self, row: int | None = None, **keywords: Any) -> Figure:
        """Draw all rows, or the one at position `row` (see `explicate.mistic.plotting`)."""
        from explicate.mistic.plotting import plot_counterfactual, plot_counterfactuals

        return plot_counterfactuals(self, **keywords) if row is None else plot_counterfactual(self, row, **keywords)


def boundary_counterfactuals(
    model: Any,
    X: Any,
    *,
    target: Any = None,
    bounds: Any = None,
    immutable: Any = None,
    tolerance: float = 1e-6,
    max_iterations: int = 100,
) -> BoundaryCounterfactuals:
    """
    Find the nearest point at which the decision is zero, for each row.

    Each search starts at a crossing between the row and a support vector on the other side (or on the gradient when
    bounds leave none), then repeats: minimise the length of the change under the linearised decision and the bounds,
    and return to the boundary. The length never grows; the result is a local optimum for a curved boundary.

    Parameters
    ----------
    model : estimator
        Fitted SVC, SVR or OneClassSVM, or a Pipeline of affine steps ending in one.
    X : DataFrame or array of shape (n_rows, n_features)
        Rows in the user's units.
    target : label or float, optional
        Classifiers: class to move towards, for three classes or more; default the runner-up, see `decisive_machines`.
        The boundary is that one-vs-one decision. Regressors: the level to reach, required.
    bounds : pair, optional
        (low, high), each a number or one per feature, in the user's units. A row outside keeps its own value as bound.
    immutable : sequence, optional
        Features that may not change.
    tolerance : float, default 1e-6
        Success means an absolute decision of at most this.
    max_iterations : int, default 100
        Refinement steps per row.

    Returns
    -------
    BoundaryCounterfactuals

    Raises
    ------
    ValueError
        When a level is missing for regression, an immutable feature is unknown, or bounds are inverted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> svm = SVC(kernel="linear").fit([[0.0, 0.0], [2.0, 0.0]], [0, 1])
    >>> boundary_counterfactuals(svm, [[0.0, 3.0]]).values.round(6).tolist()
    [[1.0, 3.0]]
    """
    check_number("tolerance", tolerance, low=0, low_included=False)
    check_number("max_iterations", max_iterations, low=1, integer=True)
    explained, rows = explained_svm(model, X)
    level = 0.0
    if explained.kind == "regressor":
        if target is None:
            raise ValueError("target=None: a regressor has no boundary; give the level to reach.")
        level = float(check_number("target", target))
        target = None
    which, chosen = decisive_machines(explained, rows, target)
    low, high = _limits(rows, bounds, immutable, explained.names)
    values = np.empty_like(rows)
    for i, row in enumerate(rows):
        values[i] = _nearest(explained, row, int(which[i]), level, low[i], high[i], tolerance, max_iterations)
    pick = np.arange(len(rows))
    decisions = np.column_stack([explained.decisions(at)[pick, which] - level for at in (rows, values)])
    labels = {"classifier": lambda: np.asarray(explained.svm.classes_)[chosen],
              "regressor": lambda: np.full(chosen.shape, ""),
              "one_class": lambda: np.where(chosen == 1, 1, -1)}[explained.kind]()  # fmt: skip
    return BoundaryCounterfactuals(
        rows=rows,
        values=values,
        decisions=decisions,
        distances=np.linalg.norm((values - rows) * explained.scale, axis=1),
        success=np.abs(decisions[:, 1]) <= tolerance,
        classes=labels,
        scale=explained.scale,
        names=explained.names,
        index=tuple(X.index) if isinstance(X, pd.DataFrame) else tuple(range(len(rows))),
    )


def _limits(rows: np.ndarray, bounds: Any, immutable: Any, names: tuple[object, ...]) -> tuple[np.ndarray, np.ndarray]:
    low, high = (-np.inf, np.inf) if bounds is None else bounds
    lower = np.minimum(np.broadcast_to(np.asarray(low, dtype=np.float64), rows.shape), rows)
    upper = np.maximum(np.broadcast_to(np.asarray(high, dtype=np.float64), rows.shape), rows)
    if np.any(np.asarray(low, dtype=np.float64) > np.asarray(high, dtype=np.float64)):
        raise ValueError(f"bounds={bounds!r} has a low above its high; give (low, high).")
    unknown = [name for name in immutable or () if name not in names]
    if unknown:
        raise ValueError(f"immutable names {unknown}, which X lacks; use its feature names (positions for an array).")
    fixed = np.isin(np.arange(len(names)), [names.index(name) for name in immutable or ()])
    return np.where(fixed, rows, lower), np.where(fixed, rows, upper)


def _nearest(
    explained: ExplainedSVM,
    row: np.ndarray,
    which: int,
    level: float,
    low: np.ndarray,
    high: np.ndarray,
    tolerance: float,
    max_iterations: int,
) -> np.ndarray:
    scale = explained.scale
    low, high = (low - row) * scale, (high - row) * scale

    def value(u: np.ndarray) -> float:
        return float(explained.decisions((row + u / scale)[None])[0, which]) - level

    def slope(u: np.ndarray) -> np.ndarray:
        return explained.gradient((row + u / scale)[None], which)[0] / scale

    def to_boundary(u: np.ndarray) -> np.ndarray:
        best, size = u, abs(value(u))
        for _ in range(30):
            if size <= tolerance * 1e-3:
                break
            g = slope(best)
            step = _closest(g, g @ best - value(best), low - best, high - best, best)
            moved = None
            for part in (1.0, 0.5, 0.25, 0.0625, 0.015625):
                trial = best + part * (step - best)
                if abs(value(trial)) < size:
                    moved = trial
                    break
            if moved is None:
                break
            best, size = moved, abs(value(moved))
        return best

    start = np.zeros_like(row)
    if abs(value(start)) <= tolerance:
        return row.copy()
    points = [to_boundary(start)]
    crossing = _crossing(explained, row, which, level, low, high)
    if crossing is not None:
        points.append(to_boundary(crossing))
    reached = [u for u in points if abs(value(u)) <= tolerance]
    if not reached:
        return row + min(points, key=lambda u: abs(value(u))) / scale
    best = min(reached, key=lambda u: float(u @ u))
    for _ in range(max_iterations):
        g = slope(best)
        aim = _closest(g, g @ best - value(best), low, high, np.zeros_like(best))
        for part in (1.0, 0.5, 0.25, 0.125, 0.03125):
            trial = to_boundary(best + part * (aim - best))
            if abs(value(trial)) <= tolerance and trial @ trial < (best @ best) * (1 - 1e-10):
                best = trial
                break
        else:
            break
    return row + best / scale


def _closest(g: np.ndarray, total: float, low: np.ndarray, high: np.ndarray, origin: np.ndarray) -> np.ndarray:
    """Return the point u nearest to `origin` with g · u = total, its step from there within the box."""
    # The minimiser is origin + clip(t g): its product with g grows with t, so t is found by bisection.
    if not g @ g > 0:  # flat, or so nearly that its square is zero
        return origin.copy()
    missing = total - g @ origin
    span = abs(missing) / (g @ g)
    reach = np.sign(missing) * g
    far = max(span, 1e-300)
    for _ in range(60):
        if abs(g @ np.clip(far * reach, low, high)) >= abs(missing):
            break
        far *= 2
    near = 0.0
    for _ in range(80):
        middle = (near + far) / 2
        if abs(g @ np.clip(middle * reach, low, high)) < abs(missing):
            near = middle
        else:
            far = middle
    return origin + np.clip(far * reach, low, high)


def _crossing(
    explained: ExplainedSVM, row: np.ndarray, which: int, level: float, low: np.ndarray, high: np.ndarray
) -> np.ndarray | None:
    """Return the nearest crossing on the way to support vectors of the other side, or None when none is in the box."""
    inverse = np.linalg.pinv(explained.slope)
    scale = explained.scale
    ends = np.clip(((explained.machine.support_vectors - explained.offset) @ inverse - row) * scale, low, high)
    side = np.sign(explained.decisions(row[None])[0, which] - level)
    other = ends[np.sign(explained.decisions(row + ends / scale)[:, which] - level) == -side]
    if not len(other):
        return None
    other = other[np.argsort((other**2).sum(axis=1), kind="stable")[:8]]
    near, far = np.zeros(len(other)), np.ones(len(other))
    for _ in range(50):  # bisection on all segments at once
        middle = (near + far) / 2
        values = explained.decisions(row + middle[:, None] * other / scale)[:, which] - level
        same = np.sign(values) == side
        near, far = np.where(same, middle, near), np.where(same, far, middle)
    found = far[:, None] * other
    return found[np.argmin((found**2).sum(axis=1))]
