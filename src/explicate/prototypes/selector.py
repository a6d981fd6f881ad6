"""What every prototype selector does: classes, distances, importance, 1-NN prediction; scikit-learn's contract."""

from __future__ import annotations

import copy
from abc import ABCMeta, abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from explicate.core.encoding import split_model
from explicate.core.validation import check_choice, check_memory, check_number, shorten_list
from explicate.prototypes.attribution import importance_of_rows
from explicate.prototypes.classes import Bands, one_column, predictions, predicts_numbers, quantile_bands
from explicate.prototypes.distances import Distance, TreeDistance
from explicate.prototypes.gower import GowerDistance
from explicate.prototypes.greedy import LazyGreedy, polish


@dataclass(eq=False, repr=False)  # writes the __init__ scikit-learn reads, of each subclass too
class PrototypeSelector(ClassifierMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta):
    """
    Base of the selectors: what a class is, what near means, and 1-NN prediction over the prototypes.

    Parameters
    ----------
    model : estimator or Distance
        Fitted model whose predictions on the rows given to `fit` are the classes; it is never refitted, nor copied
        by ``clone``. With a `Distance` instead, `fit` takes the classes as `y`.
    distance : {"auto", "tree", "gower"} or Distance, default "auto"
        "auto" compares leaves of tree ensembles, and features (Gower) for any other model, or where trees cannot be
        read (said in `notes_`).
    beta : float, default 0.0
        Weight of the importance term of eq. 6; 0 selects by distance alone ("raw").
    fi_role : {"diversity", "similarity"}, default "diversity"
        Whether a prototype important in the same features as a row costs more (eq. 6 as printed) or less.
    attributions : "shap", callable or array of shape (n_rows, n_features), default "shap"
        Importance of features, used when ``beta > 0``; a callable takes rows, an array belongs to the rows of `fit`.
    per_class_minimum : int, default 1
        Prototypes every predicted class gets at least, while it has rows to gain from; 0 for the published behaviour.
    polish : bool, default False
        Whether FasterPAM swaps prototypes afterwards; never ends worse. Off, since then the published prototypes and
        their order are kept, and neither all pairs in memory nor `kmedoids` (GPL) is needed.
    fi_at_prediction : bool, default False
        Whether `predict` adds the importance term as well; `attributions` must then be "shap" or a callable.
    n_bands : int, default 3
        Regressors only: quantile bands of the predictions that act as classes.
    max_memory : float, default 2e9
        Bytes the leaves of the rows, or the pairs of `polish`, may take.

    Attributes
    ----------
    prototype_indices_ : ndarray of shape (n_prototypes,), dtype intp
        Positions in the rows given to `fit`, in order of selection (class by class for G-KM and after `polish`).
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Index labels of these rows; the positions when `fit` was given an array.
    prototypes_ : DataFrame or ndarray of shape (n_prototypes, n_features)
        The rows themselves, as given.
    prototype_classes_ : ndarray of shape (n_prototypes,)
        Class the model predicts for each.
    classes_ : ndarray of shape (n_classes,)
        Classes predicted at least once, sorted.
    gains_ : ndarray of shape (n_prototypes,), dtype float64
        What each prototype took off the objective when it was added, in rows.
    objective_ : float
        Σ_i min(1, min_p d(i, p) ± β·fi(i, p)) over prototypes of the class of each row: eq. 6 with a phantom at 1.
    importance_ : ndarray of shape (n_rows, n_features) or None
        Normalised importance (eq. 1) of the rows of `fit`; ``None`` when ``beta = 0``.
    band_edges_ : ndarray or None
        Inner edges of the bands of a regressor.
    notes_ : list of str
        Where fewer prototypes than asked for exist, classes never predicted, and leaves that could not be read.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    """

    model: Any
    _: KW_ONLY
    distance: Any = "auto"
    beta: float = 0.0
    fi_role: str = "diversity"
    attributions: Any = "shap"
    per_class_minimum: int = 1
    polish: bool = False
    fi_at_prediction: bool = False
    n_bands: int = 3
    max_memory: float = 2e9

    _per_class = False

    def __sklearn_clone__(self) -> Self:
        """Clone the parameters but keep the fitted model, which a deep clone would empty."""
        return type(self)(**self.get_params(deep=False))

    def __sklearn_tags__(self) -> Any:
        """Say that rows may hold missing values, and when `fit` needs classes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []  # distances are float32
        tags.target_tags.required = isinstance(self.model, Distance)
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """
        Select prototypes among rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_rows, n_features)
            Candidates, as the model takes them.
        y : array-like of shape (n_rows,), optional
            Classes, needed when `model` is a Distance and ignored otherwise.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter out of range, or when the budget cannot serve every predicted class.
        MemoryError
            When the work would exceed `max_memory`.
        """
        self._check_parameters()
        rows = self._check_rows(X, reset=True)
        self.notes_: list[str] = []
        labels = self._classes_of_rows(rows, y)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.distance_ = self._make_distance().fit(rows)
        if isinstance(self.distance_, TreeDistance):
            check_memory(
                14.0 * len(rows) * self.distance_.trees.n_trees,
                self.max_memory,
                what="the leaves of all rows",
                remedy="give fewer rows",
            )
        encoded = self.distance_.encode(rows)
        self.importance_ = importance_of_rows(self.attributions, self.model, rows, own=True) if self.beta > 0 else None
        members = [np.flatnonzero(codes == k) for k in range(len(self.classes_))]
        pairs = 4.0 * sum(len(rows_of) ** 2 for rows_of in members)
        groups = [self._greedy(encoded, rows_of, keep=pairs <= self.max_memory / 4) for rows_of in members]
        order = self._select(groups)
        self._note_shortfalls(groups)
        if self.polish:
            groups = [polish(group, self.max_memory) for group in groups]
            order = class_by_class(groups)
        chosen = [(members[k][groups[k].chosen[at]], k, groups[k].gains[at]) for k, at in order]
        self.prototype_indices_ = np.array([row for row, _, _ in chosen], dtype=np.intp)
        self.prototype_labels_ = (
            np.asarray(X.index[self.prototype_indices_]) if isinstance(X, pd.DataFrame) else self.prototype_indices_
        )
        self.prototypes_ = _take(rows, self.prototype_indices_)
        self.prototype_classes_ = self.classes_[[k for _, k, _ in chosen]]
        self.gains_ = np.array([gain for _, _, gain in chosen])
        self.objective_ = float(sum(group.cost() for group in groups))
        self._encoded = encoded[self.prototype_indices_]
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each row's nearest prototype, shape (n_rows,); ties go to the one selected first."""
        nearest = self.nearest(X)[0]
        return self.prototype_classes_[nearest]

    def transform(self, X: Any) -> np.ndarray:
        """Return distances of rows to prototypes, shape (n_rows, n_prototypes), float32."""
        check_is_fitted(self)
        return self.distance_.between(self.distance_.encode(self._check_rows(X)), self._encoded)

    def nearest(self, X: Any, *, same_class: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """
        Find each row's nearest prototype.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        same_class : bool, default False
            Look among the prototypes of the class the model predicts for the row (all of them, should the class have
            none).

        Returns
        -------
        prototype : ndarray of shape (n_rows,), dtype intp
            Position in ``prototypes_``.
        distance : ndarray of shape (n_rows,), dtype float32
        """
        check_is_fitted(self)
        rows = self._check_rows(X)
        distances = self.distance_.between(self.distance_.encode(rows), self._encoded)
        cost = distances.astype(float)
        if self.fi_at_prediction and self.importance_ is not None:
            shared = (
                importance_of_rows(self.attributions, self.model, rows) @ self.importance_[self.prototype_indices_].T
            )
            cost = cost - self._signed_beta() * shared
        if same_class:
            other = self.model_classes(rows)[:, None] != self.prototype_classes_[None, :]
            cost = np.where(other & ~other.all(axis=1, keepdims=True), np.inf, cost)
        prototype = cost.argmin(axis=1)
        return prototype, distances[np.arange(len(distances)), prototype]

    def model_classes(self, X: Any) -> np.ndarray:
        """Return what the model predicts as classes (bands, for a regressor), shape (n_rows,)."""
        if isinstance(self.model, Distance):
            raise ValueError("this selector was given a Distance and no model; pass the classes yourself.")
        return self.to_classes(predictions(self.model, X))

    def to_classes(self, y: Any) -> np.ndarray:
        """Return targets as classes: as they are, or as bands when the model is a regressor."""
        values = one_column(y, "y has")
        bands: Bands | None = getattr(self, "_bands", None)
        return values if bands is None else bands.of(values)

    @abstractmethod
    def _select(self, groups: list[LazyGreedy]) -> list[tuple[int, int]]:
        """Run the groups; return (class position, position in its selection) in the order prototypes are listed."""

    def _check_parameters(self) -> None:
        check_number("beta", self.beta, low=0)
        check_choice("fi_role", self.fi_role, ["diversity", "similarity"])
        check_number("per_class_minimum", self.per_class_minimum, low=0, integer=True)
        check_number("n_bands", self.n_bands, low=2, integer=True)
        check_number("max_memory", self.max_memory, low=0, low_included=False)
        if not isinstance(self.distance, Distance):
            if not isinstance(self.distance, str):
                raise TypeError(
                    f"distance={self.distance!r} has type {type(self.distance).__name__}; give 'auto', 'tree', 'gower' "
                    "or a Distance (a subclass that encodes rows and says how similar codes are)."
                )
            check_choice("distance", self.distance, ["auto", "tree", "gower"])
        if isinstance(self.attributions, str):
            check_choice("attributions", self.attributions, ["shap"])

    def _check_rows(self, X: Any, *, reset: bool = False) -> Any:
        if not isinstance(X, pd.DataFrame):
            X = check_array(X, dtype=None, ensure_all_finite=False, estimator=self)
        elif len(X) == 0:
            raise ValueError("X has 0 rows; give at least one.")
        _check_feature_names(self, X, reset=reset)
        _check_n_features(self, X, reset=reset)
        return X

    def _classes_of_rows(self, rows: Any, y: Any) -> np.ndarray:
        self._bands, self.band_edges_ = None, None
        if isinstance(self.model, Distance):
            if y is None:
                raise ValueError(
                    "model is a Distance, so requires y to be passed, but the target y is None; give the classes as y "
                    "or a fitted model."
                )
            y = y.to_numpy() if hasattr(y, "to_numpy") else y  # nullable whole numbers stay whole
            if np.asarray(y).dtype.kind == "O" and pd.isna(np.asarray(y)).any():
                raise ValueError("y holds missing values; give a class for every row.")
            y = column_or_1d(check_array(y, ensure_2d=False, dtype=None, input_name="y"), warn=True)
            check_consistent_length(rows, y)
            check_classification_targets(y)
            return y
        predicted = predictions(self.model, rows)
        if predicts_numbers(self.model):
            self._bands = quantile_bands(predicted.astype(float), self.n_bands)
            self.band_edges_ = self._bands.edges
        return self.to_classes(predicted)

    def _make_distance(self) -> Distance:
        from explicate.core.tree_readers import is_tree_ensemble

        given = self.model if isinstance(self.model, Distance) else self.distance
        if isinstance(given, Distance):
            return copy.copy(given)
        estimator = split_model(self.model)[1] if given == "auto" else None
        if given == "gower" or (given == "auto" and not is_tree_ensemble(estimator)):
            return GowerDistance()
        try:
            return TreeDistance(self.model)
        except ValueError as error:
            if given == "tree":
                raise
            self.notes_.append(f"rows are compared by their features (Gower), not by leaves: {error}")
            return GowerDistance()

    def _signed_beta(self) -> float:
        return self.beta if self.fi_role == "similarity" else -self.beta

    def _greedy(self, encoded: np.ndarray, rows_of: np.ndarray, *, keep: bool) -> LazyGreedy:
        importance = None if self.importance_ is None else self.importance_[rows_of]
        return LazyGreedy(self.distance_.within(encoded[rows_of]), importance, self._signed_beta(), keep=keep)

    def _serve(self, group: LazyGreedy) -> bool:
        """Add one prototype to a class that must have one; whether any row was left to add."""
        if group.add()[0] >= 0:
            return True
        if not group.chosen:
            group.add_central()
            return True
        return False

    def _note_shortfalls(self, groups: list[LazyGreedy]) -> None:
        known = [] if self._bands else np.asarray(getattr(self.model, "classes_", [])).tolist()
        never = [label for label in known if label not in set(self.classes_.tolist())]
        if never:
            self.notes_.append(f"never predicted on these rows, so without prototype: class {shorten_list(never)}")
        for label, group in zip(self.classes_, groups, strict=True):
            asked = max(self.per_class_minimum, getattr(self, "n_prototypes", 0) if self._per_class else 0)
            if len(group.chosen) < asked:
                self.notes_.append(
                    f"class {label}: {len(group.chosen)} prototype(s) instead of {asked}; no other row of it adds "
                    "anything"
                )


def _take(rows: Any, positions: np.ndarray) -> Any:
    return rows.iloc[positions] if isinstance(rows, pd.DataFrame) else rows[positions]


def class_by_class(groups: list[LazyGreedy]) -> list[tuple[int, int]]:
    """Return every prototype as (class position, position in its selection), class by class."""
    return [(k, at) for k, group in enumerate(groups) for at in range(len(group.chosen))]
