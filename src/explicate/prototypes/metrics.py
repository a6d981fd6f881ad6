"""What prototypes are worth: the 1-NN surrogate against labels and model, coverage, and agreement between sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_mutual_info_score, fowlkes_mallows_score, rand_score
from sklearn.utils.validation import check_is_fitted

from explicate.core.validation import shorten_list
from explicate.prototypes.alike_parts import mask_weights
from explicate.prototypes.selector import PrototypeSelector


@dataclass(frozen=True, eq=False)
class SurrogateScores:
    """
    How well 1-NN over the prototypes stands for the model on given rows.

    Attributes
    ----------
    prototypes : DataFrame of shape (n_prototypes, 5)
        ``label`` (index label of the row), ``class``, ``gain`` (rows), ``coverage`` (share of rows nearest to it),
        ``contribution`` (fidelity lost when it is removed).
    classes : DataFrame of shape (n_classes, 4)
        ``class`` (of the model's prediction), ``n_rows``, ``fidelity``, ``accuracy`` (NaN without labels).
    values : dict of str to float
        What `metrics` returns.
    """

    prototypes: pd.DataFrame
    classes: pd.DataFrame
    values: dict[str, float]

    def to_frame(self) -> pd.DataFrame:
        """Return the table of prototypes."""
        return self.prototypes.copy()

    def metrics(self) -> dict[str, float]:
        """
        Return the numbers by name.

        ``n_prototypes``; ``fidelity`` (agreement with the model) and its ``balanced_fidelity`` over predicted
        classes; ``accuracy`` (against labels, when given); ``hubness_entropy`` (of the coverage, 1 when even);
        ``within_similarity`` and ``between_similarity`` (mean similarity of rows to prototypes of their own predicted
        class and of others).
        """
        return dict(self.values)

    def summary(self) -> str:
        """Return one line."""
        accuracy = f", accuracy {self.values['accuracy']:.3f}" if "accuracy" in self.values else ""
        return f"{len(self.prototypes)} prototypes: fidelity {self.values['fidelity']:.3f}{accuracy}."


def score_prototypes(selector: PrototypeSelector, X: Any, y: Any = None, *, predicted: Any = None) -> SurrogateScores:
    """
    Score fitted prototypes on rows they were not selected from.

    Parameters
    ----------
    selector : PrototypeSelector
        Fitted.
    X : array-like of shape (n_rows, n_features)
    y : array-like of shape (n_rows,), optional
        True labels (targets, for a regressor).
    predicted : array-like of shape (n_rows,), optional
        Classes the model gives; asked of the model by default.

    Returns
    -------
    SurrogateScores

    Examples
    --------
    >>> from explicate.prototypes import GowerDistance, GreedyKMedoids
    >>> selector = GreedyKMedoids(GowerDistance(), 1).fit([[0.0], [1.0]], ["a", "b"])
    >>> score_prototypes(selector, [[0.2], [0.9]], predicted=["a", "b"]).metrics()["fidelity"]
    1.0
    """
    check_is_fitted(selector)
    classes = selector.model_classes(X) if predicted is None else selector.to_classes(predicted)
    nearest = selector.nearest(X)[0]
    distances = selector.transform(X)
    guess = selector.prototype_classes_[nearest]
    m = len(selector.prototype_classes_)
    coverage = np.bincount(nearest, minlength=m) / len(nearest)
    faithful = guess == classes
    values = {"n_prototypes": float(m), "fidelity": float(faithful.mean())}
    labels = sorted(set(classes.tolist()), key=lambda label: (str(type(label)), label))
    by_class = pd.DataFrame(
        {
            "class": labels,
            "n_rows": [int((classes == label).sum()) for label in labels],
            "fidelity": [float(faithful[classes == label].mean()) for label in labels],
            "accuracy": np.nan,
        }
    )
    values["balanced_fidelity"] = float(by_class["fidelity"].mean())
    if y is not None:
        truth = selector.to_classes(y)
        _check_labels(truth, classes, selector)
        right = guess == truth
        values["accuracy"] = float(right.mean())
        by_class["accuracy"] = [
            float(right[truth == label].mean()) if (truth == label).any() else np.nan for label in labels
        ]
    share = coverage[coverage > 0]
    values["hubness_entropy"] = float(-(share * np.log(share)).sum() / np.log(m)) if m > 1 else 1.0
    same = classes[:, None] == selector.prototype_classes_[None, :]
    similarity = 1.0 - distances.astype(float)
    values["within_similarity"] = float(similarity[same].mean()) if same.any() else float("nan")
    values["between_similarity"] = float(similarity[~same].mean()) if (~same).any() else float("nan")
    prototypes = pd.DataFrame(
        {
            "label": selector.prototype_labels_,
            "class": selector.prototype_classes_,
            "gain": selector.gains_,
            "coverage": coverage,
            "contribution": _contributions(distances, selector.prototype_classes_, classes),
        }
    )
    return SurrogateScores(prototypes, by_class, values)


def _check_labels(truth: np.ndarray, classes: np.ndarray, selector: PrototypeSelector) -> None:
    if len(truth) != len(classes):
        raise ValueError(f"y has {len(truth)} labels and X has {len(classes)} rows; give one label per row.")
    known = [*np.asarray(getattr(selector.model, "classes_", [])).tolist(), *selector.classes_.tolist()]
    given = set(truth.tolist())
    if given.isdisjoint(known):
        raise ValueError(
            f"y holds {shorten_list(sorted(given, key=str))}, none of them a class of the model "
            f"({shorten_list(sorted(set(known), key=str))}); give labels as the model predicts them."
        )


def _contributions(distances: np.ndarray, prototype_classes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the fidelity lost without each prototype; only rows nearest to it can change."""
    m = distances.shape[1]
    if m == 1:
        return np.array([float((prototype_classes[0] == classes).mean())])
    order = np.argsort(distances, axis=1, kind="stable")[:, :2]
    before = prototype_classes[order[:, 0]] == classes
    after = prototype_classes[order[:, 1]] == classes
    change = np.bincount(order[:, 0], weights=before.astype(float) - after, minlength=m)
    return change / len(classes)


def compare_prototypes(first: PrototypeSelector, second: PrototypeSelector, X: Any) -> dict[str, float]:
    """
    Compare two sets of prototypes by how they divide the same rows among them.

    Parameters
    ----------
    first, second : PrototypeSelector
        Fitted.
    X : array-like of shape (n_rows, n_features)

    Returns
    -------
    dict of str to float
        ``adjusted_mutual_information``, ``rand`` and ``fowlkes_mallows`` of the two assignments to nearest
        prototypes, and ``shared`` (Jaccard index of the prototypes themselves, by position in the rows of `fit`).

    Examples
    --------
    >>> from explicate.prototypes import GowerDistance, GreedyKMedoids
    >>> selector = GreedyKMedoids(GowerDistance(), 1).fit([[0.0], [1.0]], ["a", "b"])
    >>> compare_prototypes(selector, selector, [[0.2], [0.9]])["rand"]
    1.0
    """
    a, b = first.nearest(X)[0], second.nearest(X)[0]
    one, other = set(first.prototype_indices_.tolist()), set(second.prototype_indices_.tolist())
    return {
        "adjusted_mutual_information": float(adjusted_mutual_info_score(a, b)),
        "rand": float(rand_score(a, b)),
        "fowlkes_mallows": float(fowlkes_mallows_score(a, b)),
        "shared": len(one & other) / len(one | other),
    }


def feature_diversity(importance: np.ndarray) -> dict[str, float]:
    """
    Say how different the prototypes are in what matters to them.

    Parameters
    ----------
    importance : ndarray of shape (n_prototypes, n_features)
        Normalised (eq. 1).

    Returns
    -------
    dict of str to float
        ``feature_diversity`` (one minus the mean eq. 5 product over pairs of prototypes) and ``features_highlighted``
        (share of features above the mean importance of at least one prototype).

    Examples
    --------
    >>> feature_diversity(np.eye(2))
    {'feature_diversity': 1.0, 'features_highlighted': 1.0}
    """
    m = len(importance)
    products = importance @ importance.T
    pairs = (products.sum() - np.trace(products)) / (m * (m - 1)) if m > 1 else float("nan")
    highlighted = mask_weights(importance, "mean").any(axis=0).mean() if m else 0.0
    return {"feature_diversity": float(1.0 - pairs), "features_highlighted": float(highlighted)}
