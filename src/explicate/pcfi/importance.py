"""Per-class feature importance of tree ensembles, in training and on held-out rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from explicate.core.encoding import split_model
from explicate.core.trees import TreeEnsemble
from explicate.core.validation import shorten_list
from explicate.pcfi.impurity import accumulate, node_statistics
from explicate.pcfi.reading import Normalize, encoded_rows, out_of_bag_rows, read_model
from explicate.pcfi.result import PerClassImportance


def per_class_importance(
    model: Any,
    *,
    normalize: Normalize = "forest",
    path_filter: bool = True,
    feature_groups: Mapping[Any, Sequence[Any]] | None = None,
    feature_names: Sequence[Any] | None = None,
) -> PerClassImportance:
    """
    Compute per-class feature importance (PCFI) from a fitted tree classifier.

    For tree t, class c and feature j: the sum over splits on j with a leaf below that predicts c of
    w·H(p_c) − w_L·H(p_c,L) − w_R·H(p_c,R), H being the tree's impurity of the two-class problem (p, 1−p), divided by
    the root's weight; averaged over trees. Weights and fractions are those stored in the nodes, so class_weight,
    sample_weight and bootstrap count as they did in training. A boosted model has one tree per round and class (one
    per round if binary): row c is the split gain of class c's trees, and `path_filter` plays no part.

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted DecisionTree, RandomForest, ExtraTrees, Bagging (of trees), GradientBoosting, HistGradientBoosting,
        XGBoost or LightGBM classifier, alone or behind an encoder.
    normalize : {"forest", "tree", None}, default "forest"
        Divide each class row by its sum after averaging ("forest", the reference), before and after ("tree", as
        scikit-learn does), or never (decrease per unit of training weight).
    path_filter : bool, default True
        Whether a split counts for a class only when a leaf below it predicts that class.
    feature_groups : mapping, optional
        Name -> features of a Pipeline's input, or columns the trees read (names or positions), to report as one
        feature; what is unlisted stays alone. Read off a Pipeline's encoder when left out.
    feature_names : sequence, optional
        Names of the columns the trees read, or of the Pipeline's input; default: as fitted, else ``x0``, ``x1``, ….

    Returns
    -------
    PerClassImportance

    Raises
    ------
    TypeError
        When the model is no tree ensemble that is read.
    ValueError
        For a regressor, a model of several outputs, or groups that overlap or name unknown columns.

    Notes
    -----
    Time is linear in nodes × classes. Memory is the flat arrays (about 60 bytes + 8 per class a node) and a few
    matrices of classes × features.

    References
    ----------
    Per Class Feature Importance (PCFI), reference implementation *Pcfi*; mean decrease in impurity: Breiman et al.
    (1984), Classification and Regression Trees.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(random_state=0).fit([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"])
    >>> per_class_importance(tree, feature_names=["u", "v"]).rank("a")
    ['u', 'v']
    """
    trees, features, group_of = read_model(model, normalize, feature_groups, feature_names)
    if not trees.averaged:
        return _boosted_importance(trees, features, group_of, normalize)
    return _averaged_importance(
        trees, trees.weight, trees.value, features, group_of, normalize, path_filter, source="training"
    )


def held_out_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    out_of_bag: bool = False,
    normalize: Normalize = "forest",
    path_filter: bool = True,
    feature_groups: Mapping[Any, Sequence[Any]] | None = None,
    feature_names: Sequence[Any] | None = None,
) -> PerClassImportance:
    """
    Compute PCFI with node weights and class fractions of rows the trees were not grown on.

    Splits that only fitted noise separate nothing in new rows, so features with many distinct values lose the
    inflation that the training rows give them.

    Parameters
    ----------
    model : estimator or Pipeline
        As in `per_class_importance`; averaged trees only.
    X : DataFrame or array of shape (n_rows, n_features)
        Held-out rows, as `model` takes them (a table's columns are matched by name); with ``out_of_bag=True`` the very
        rows it was trained on, in their order.
    y : array-like of shape (n_rows,)
        Labels, matched by position.
    sample_weight : array-like of shape (n_rows,), optional
        Weights; one each by default.
    out_of_bag : bool, default False
        Whether each tree uses only the training rows its bootstrap left out.
    normalize, path_filter, feature_groups, feature_names
        As in `per_class_importance`; the path filter asks what the leaves predict, as trained.

    Returns
    -------
    PerClassImportance

    Raises
    ------
    ValueError
        Besides those of `per_class_importance`: a boosted model, labels the model does not know, lengths that differ,
        no rows or no positive weight, columns missing from a table, or ``out_of_bag`` for a model without bootstrap.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    >>> held_out_importance(forest, X[1::2], y[1::2]).values.shape
    (3, 4)
    """
    trees, features, group_of = read_model(model, normalize, feature_groups, feature_names)
    encoder, estimator = split_model(model)
    if not trees.averaged or trees.classes is None:
        raise ValueError(
            f"held-out importance needs class fractions in the leaves, which {type(estimator).__name__} does not have; "
            "use a tree, a forest, extra-trees or bagging."
        )
    labels = np.asarray(y).ravel()
    position = {label: code for code, label in enumerate(trees.classes.tolist())}
    unknown = [label for label in dict.fromkeys(labels.tolist()) if label not in position]
    if unknown:
        raise ValueError(f"y holds {shorten_list(unknown)}, unknown to the model; it has {shorten_list(position)}.")
    codes = np.array([position[label] for label in labels.tolist()], dtype=np.intp)
    weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=float).ravel()
    rows = encoded_rows(X, encoder, estimator)
    if not len(rows) == len(codes) == len(weight):
        raise ValueError(f"X has {len(rows)} rows, y {len(codes)} and sample_weight {len(weight)}; give equal lengths.")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.any()):
        raise ValueError(
            f"the {len(weight)} held-out rows have no positive total weight, or a weight that is negative or missing; "
            "give at least one row and weights of zero or more."
        )
    used = out_of_bag_rows(estimator, len(rows)) if out_of_bag else None
    node_weight, fraction = node_statistics(trees, trees.apply(rows), codes, weight, used)
    source = "out-of-bag" if out_of_bag else "held-out"
    return _averaged_importance(trees, node_weight, fraction, features, group_of, normalize, path_filter, source=source)


def _averaged_importance(
    trees: TreeEnsemble,
    weight: np.ndarray,
    fraction: np.ndarray,
    features: tuple[Any, ...],
    group_of: np.ndarray,
    normalize: Normalize,
    path_filter: bool,
    *,
    source: str,
) -> PerClassImportance:
    assert trees.classes is not None
    total, square, predicted = accumulate(
        np.append(trees.roots, trees.n_nodes),
        trees.feature,
        trees.left,
        trees.right,
        np.argmax(trees.value, axis=1),
        weight,
        np.ascontiguousarray(fraction),
        trees.criterion != "gini",
        path_filter,
        normalize == "tree",
        group_of,
        len(features),
    )
    if path_filter and not predicted.all():
        warnings.warn(
            f"no leaf predicts {shorten_list(trees.classes[~predicted])}; the importances of such a class are zero: "
            "balance the classes or grow deeper trees.",
            UserWarning,
            stacklevel=3,
        )
    support = fraction[trees.roots].mean(axis=0)
    return _finish(total, square, trees.n_trees, trees.classes, features, support, normalize, source)


def _boosted_importance(
    trees: TreeEnsemble, features: tuple[Any, ...], group_of: np.ndarray, normalize: Normalize
) -> PerClassImportance:
    """Sum split gains of each class's trees; the one tree per round of a binary model serves both classes."""
    assert trees.classes is not None
    n_classes, n_outputs = len(trees.classes), trees.value.shape[1]
    n_rounds = trees.n_trees // n_outputs
    inner = trees.feature >= 0
    tree = trees.tree_of_node()[inner]
    cell = (tree // n_outputs * n_outputs + trees.output[tree]) * len(features) + group_of[trees.feature[inner]]
    gains = np.bincount(cell, trees.gain[inner], minlength=trees.n_trees * len(features))
    gains = gains.reshape(n_rounds, n_outputs, len(features))
    if normalize == "tree":
        sums = gains.sum(axis=2, keepdims=True)
        gains = np.divide(gains, sums, out=np.zeros_like(gains), where=sums > 0)
    both = np.broadcast_to(gains, (n_rounds, n_classes, len(features))) if n_outputs == 1 else gains
    stacked = np.concatenate([both, gains.sum(axis=1, keepdims=True)], axis=1)
    support = np.full(n_classes, np.nan)
    total, square = stacked.sum(axis=0), (stacked**2).sum(axis=0)
    return _finish(total, square, n_rounds, trees.classes, features, support, normalize, "training")


def _finish(
    total: np.ndarray,
    square: np.ndarray,
    n_trees: int,
    classes: np.ndarray,
    features: tuple[Any, ...],
    support: np.ndarray,
    normalize: Normalize,
    source: str,
) -> PerClassImportance:
    mean = total / n_trees
    sd = np.sqrt(np.maximum(square / n_trees - mean**2, 0.0))
    if normalize is not None:
        sums = mean.sum(axis=1, keepdims=True)
        sd = np.divide(sd, sums, out=np.zeros_like(sd), where=sums > 0)
        mean = np.divide(mean, sums, out=np.zeros_like(mean), where=sums > 0)
    return PerClassImportance(
        values=mean[:-1],
        overall=mean[-1],
        sd=sd[:-1],
        classes=classes,
        features=features,
        support=support,
        n_trees=n_trees,
        source=source,
    )
