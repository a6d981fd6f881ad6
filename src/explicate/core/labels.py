"""Classifiers that know only the labels 0 … K−1, made to speak the user's labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted


class EncodedLabels(ClassifierMixin, BaseEstimator):
    """
    Train `estimator` on class positions; predict and report the user's labels.

    Parameters
    ----------
    estimator : classifier
        Unfitted; XGBoost's, which refuses text, negative and non-contiguous labels.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The user's labels, sorted.
    estimator_ : classifier
        Fitted on 0 … n_classes − 1.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> EncodedLabels(DecisionTreeClassifier()).fit([[0], [1]], ["no", "yes"]).predict([[1]]).tolist()
    ['yes']
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> EncodedLabels:
        """Fit on `X` of shape (n_rows, n_features) and labels `y` of shape (n_rows,)."""
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, codes)
        self.n_features_in_ = self.estimator_.n_features_in_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return labels of shape (n_rows,)."""
        check_is_fitted(self)
        return self.classes_[np.asarray(self.estimator_.predict(X), dtype=np.intp)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return class probabilities of shape (n_rows, n_classes)."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        """Take what the wrapped estimator can read (missing values, sparse input)."""
        tags = super().__sklearn_tags__()
        tags.input_tags = self.estimator.__sklearn_tags__().input_tags
        return tags
