"""How a fitted selection predicts: its unified model, on the selected columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.svm import SVC
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from explicate.mistic.machine import svm_kind


def _kind_is(*kinds: str) -> Any:
    def check(self: UnifiedPredictor) -> bool:
        return svm_kind(SVC() if self.estimator is None else self.estimator) in kinds

    return check


class UnifiedPredictor:
    """Methods of `MisticSelector` that answer for rows; which of them exist depends on the kind of SVM."""

    fit: Any
    estimator: Any
    estimator_: Any
    calibrated_: Any
    cutoff_: float
    classes_: np.ndarray
    support_: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """Return labels, estimates, or 1 and -1, of the unified model."""
        rows = self._selected(X)
        if svm_kind(self.estimator_) == "classifier" and len(self.classes_) == 2:
            return self.classes_[(self.estimator_.decision_function(rows) > self.cutoff_).astype(int)]
        return self.estimator_.predict(rows)

    @available_if(_kind_is("classifier", "one_class"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the unified model's decisions."""
        rows = self._selected(X)
        return self.estimator_.decision_function(rows)

    @available_if(_kind_is("one_class"))
    def score_samples(self, X: Any) -> np.ndarray:
        """Return the unified model's decisions without their offset."""
        rows = self._selected(X)
        return self.estimator_.score_samples(rows)

    @available_if(_kind_is("one_class"))
    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit and predict the same rows."""
        return self.fit(X, y).predict(X)

    @available_if(_kind_is("classifier"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities: sigmoids of the decisions, fitted out of fold."""
        rows = self._selected(X)
        if self.calibrated_ is None:
            raise ValueError("a class has a single training row, too few to calibrate probabilities; add rows.")
        return self.calibrated_.predict_proba(rows)

    @available_if(_kind_is("classifier", "regressor"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return accuracy, or the coefficient of determination."""
        from sklearn.metrics import accuracy_score, r2_score

        score = accuracy_score if svm_kind(self.estimator_) == "classifier" else r2_score
        return float(score(y, self.predict(X), sample_weight=sample_weight))

    def _selected(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "estimator_")
        return validate_data(self, X, dtype=np.float64, reset=False)[:, self.support_]
