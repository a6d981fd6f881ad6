"""Scores of decisions on validation rows: the weighted scores of MISTIC, or any scorer of scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin

from explicate.core.validation import check_number
from explicate.mistic.machine import count_votes, join_decisions


@dataclass(frozen=True)
class WeightedScore:
    """
    Two scores blended: w · first + (1 − w) · second.

    Classification: area under the ROC curve and F1 (two classes: of the second; more: unweighted mean over classes).
    Regression: squared correlation, zero when negative, and max(1e-5, coefficient of determination). One class: area
    and F1 of the inliers where outliers are known, else the share of inliers inside.

    Parameters
    ----------
    weight : float, default 0.5
        w.

    Examples
    --------
    >>> WeightedScore(1.0)
    WeightedScore(weight=1.0)
    """

    weight: float = 0.5

    def __post_init__(self) -> None:
        """Refuse a weight outside [0, 1]."""
        check_number("weight", self.weight, low=0, high=1)


def area_under_curve(positive: np.ndarray, values: np.ndarray) -> float:
    """
    Return the area under the ROC curve, ties counted half; NaN when one class is absent.

    Examples
    --------
    >>> area_under_curve(np.array([False, True, True]), np.array([0.1, 0.1, 0.9]))
    0.75
    """
    n_positive = int(positive.sum())
    n_negative = len(positive) - n_positive
    if n_positive == 0 or n_negative == 0:
        return float("nan")
    ordered = np.sort(values[~positive])
    below = np.searchsorted(ordered, values[positive], "left") + np.searchsorted(ordered, values[positive], "right")
    return float(below.sum() / (2.0 * n_positive * n_negative))


def f1_score(positive: np.ndarray, predicted: np.ndarray) -> float:
    """Return 2 TP / (2 TP + FP + FN), zero when nothing is positive or predicted so."""
    hits = int((positive & predicted).sum())
    marked = int(positive.sum()) + int(predicted.sum())
    return 2.0 * hits / marked if marked else 0.0


def predicted_codes(decisions: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the position of the class that the machines vote for, as scikit-learn without ``break_ties``."""
    if decisions.shape[1] == 1:
        return (decisions[:, 0] > 0).astype(np.intp)
    return count_votes(decisions, n_classes).argmax(axis=1)


def classification_metrics(codes: np.ndarray, decisions: np.ndarray, n_classes: int) -> dict[str, float]:
    """
    Return ``auc``, ``f1``, ``accuracy``.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        True classes by position.
    decisions : ndarray of shape (n_rows, n_machines)
    n_classes : int

    Examples
    --------
    >>> classification_metrics(np.array([0, 1]), np.array([[-1.0], [2.0]]), 2)
    {'auc': 1.0, 'f1': 1.0, 'accuracy': 1.0}
    """
    predicted = predicted_codes(decisions, n_classes)
    joined = join_decisions(decisions, n_classes)
    if n_classes == 2:
        auc, f1 = area_under_curve(codes == 1, joined), f1_score(codes == 1, predicted == 1)
    else:
        present = [k for k in range(n_classes) if 0 < (codes == k).sum() < len(codes)]
        auc = float(np.mean([area_under_curve(codes == k, joined[:, k]) for k in present])) if present else np.nan
        f1 = float(np.mean([f1_score(codes == k, predicted == k) for k in np.unique(codes)]))
    return {"auc": auc, "f1": f1, "accuracy": float((predicted == codes).mean())}


def regression_metrics(y: np.ndarray, estimate: np.ndarray) -> dict[str, float]:
    """
    Return ``squared_correlation`` (zero when the correlation is negative), ``r2`` (of determination), ``mae``.

    Examples
    --------
    >>> regression_metrics(np.array([0.0, 1.0, 2.0]), np.array([2.0, 1.0, 0.0]))["squared_correlation"]
    0.0
    """
    centred, around = y - y.mean(), estimate - estimate.mean()
    spread = float((centred**2).sum())
    size = np.sqrt(spread * float((around**2).sum()))
    correlation = float((centred * around).sum() / size) if size > 0 else 0.0
    r2 = 1.0 - float(((y - estimate) ** 2).sum()) / spread if spread > 0 else float("nan")
    return {
        "squared_correlation": max(correlation, 0.0) ** 2,
        "r2": r2,
        "mae": float(np.abs(y - estimate).mean()),
    }


def one_class_metrics(inlier: np.ndarray, decisions: np.ndarray) -> dict[str, float]:
    """Return ``inlier_rate``, and ``auc`` and ``f1`` of the inliers (NaN where no outlier is known)."""
    inside = decisions >= 0
    known = bool((~inlier).any() and inlier.any())
    return {
        "inlier_rate": float(inside[inlier].mean()) if inlier.any() else float("nan"),
        "auc": area_under_curve(inlier, decisions) if known else float("nan"),
        "f1": f1_score(inlier, inside) if known else float("nan"),
    }


def score_decisions(
    kind: str, y: np.ndarray, decisions: np.ndarray, classes: np.ndarray, scoring: Any
) -> tuple[float, dict[str, float]]:
    """
    Score the decisions of one fitted machine on rows it has not seen.

    Parameters
    ----------
    kind : {"classifier", "regressor", "one_class"}
    y : ndarray of shape (n_rows,)
        Positions of the classes; targets; or for one class whether the row is an inlier.
    decisions : ndarray of shape (n_rows, n_machines)
    classes : ndarray
        Labels, for a classifier.
    scoring : WeightedScore or callable
        A scorer of scikit-learn sees the labels and a model with ``predict`` and ``decision_function``.

    Raises
    ------
    ValueError
        When the score is not finite.
    """
    if kind == "classifier":
        metrics = classification_metrics(y, decisions, len(classes))
        pair = metrics["auc"], metrics["f1"]
    elif kind == "regressor":
        metrics = regression_metrics(y, decisions[:, 0])
        pair = metrics["squared_correlation"], max(1e-5, metrics["r2"])
    else:
        metrics = one_class_metrics(y, decisions[:, 0])
        known = np.isfinite(metrics["auc"])
        pair = (metrics["auc"], metrics["f1"]) if known else (metrics["inlier_rate"],) * 2
    if isinstance(scoring, WeightedScore):
        # A weight of zero drops a score that the rows do not define.
        score = sum(w * value for w, value in zip((scoring.weight, 1 - scoring.weight), pair, strict=True) if w > 0)
    else:
        truth = classes[y] if kind == "classifier" else np.where(y, 1, -1) if kind == "one_class" else y
        try:
            score = float(scoring(_ADAPTERS[kind](classes), decisions, truth))
        except (AttributeError, TypeError) as error:
            raise ValueError(
                f"scoring={scoring!r} did not give one number ({error}); a scorer sees rows, labels and a model with "
                "predict and, but for regression, decision_function."
            ) from error
    if not np.isfinite(score):
        name = repr(scoring)
        raise ValueError(
            f"scoring={name} returned {score} on {len(y)} validation rows; choose another score, or splits whose "
            "validation rows define it."
        )
    return float(score), metrics


def resolve_scoring(scoring: Any) -> Any:
    """
    Return a WeightedScore or a scorer.

    Parameters
    ----------
    scoring : None, str, callable or WeightedScore
        ``None`` is ``WeightedScore()``.

    Examples
    --------
    >>> resolve_scoring(None)
    WeightedScore(weight=0.5)
    """
    from sklearn.metrics import get_scorer

    if scoring is None:
        return WeightedScore()
    if isinstance(scoring, str):
        return get_scorer(scoring)
    if not (isinstance(scoring, WeightedScore) or callable(scoring)):
        raise TypeError(f"scoring={scoring!r} is no scorer; give a name, a callable or a WeightedScore.")
    return scoring


class _Decided(BaseEstimator):
    """A model whose rows are the decisions themselves, for scorers that want a model and rows."""

    def __init__(self, classes: Any = None) -> None:
        self.classes = classes

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _DecidedClassifier(ClassifierMixin, _Decided):
    @property
    def classes_(self) -> np.ndarray:
        return self.classes

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return join_decisions(X, len(self.classes))

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.classes[predicted_codes(X, len(self.classes))]


class _DecidedRegressor(RegressorMixin, _Decided):
    def predict(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0]


class _DecidedOutlier(OutlierMixin, _Decided):
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0]

    def predict(self, X: np.ndarray) -> np.ndarray:
        return np.where(X[:, 0] >= 0, 1, -1)


_ADAPTERS = {"classifier": _DecidedClassifier, "regressor": _DecidedRegressor, "one_class": _DecidedOutlier}
