"""Which features matter to each row: one (n_rows, n_features) array of the predicted class, whatever the source."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.encoding import column_origins, split_model
from explicate.core.labels import EncodedLabels
from explicate.core.validation import check_choice
from explicate.prototypes.classes import predictions, predicts_numbers
from explicate.prototypes.distances import Distance, as_floats

N_BACKGROUND, N_PERMUTATIONS = 50, 10


def normalize_importance(attributions: Any) -> np.ndarray:
    """
    Square attributions and scale every row to sum to one (eq. 1); a row of zeros stays zero.

    Parameters
    ----------
    attributions : array-like of shape (n_rows, n_features)
        Signed or unsigned.

    Returns
    -------
    ndarray of shape (n_rows, n_features), dtype float64

    Examples
    --------
    >>> normalize_importance([[1.0, -2.0], [0.0, 0.0]]).tolist()
    [[0.2, 0.8], [0.0, 0.0]]
    """
    values = np.asarray(attributions, dtype=float)
    if values.ndim != 2:
        raise ValueError(
            f"attributions have shape {values.shape}; give one row per instance and one column per feature."
        )
    if not np.isfinite(values).all():
        raise ValueError("attributions hold values that are not finite; replace them before use.")
    largest = np.abs(values).max(axis=1, keepdims=True, initial=0.0)
    squares = (values / np.where(largest > 0, largest, 1.0)) ** 2  # scaled first: tiny values would underflow
    total = squares.sum(axis=1, keepdims=True)
    return squares / np.where(total > 0, total, 1.0)


def shap_attributions(
    model: Any, X: Any, background: Any = None, *, explainer: str = "auto", random_state: int = 0
) -> np.ndarray:
    """
    Return SHAP values of each row's predicted class, per feature of the user's table.

    Parameters
    ----------
    model : estimator
        Fitted; a Pipeline is read as encoder and estimator, and encoded columns are summed back.
    X : array-like of shape (n_rows, n_features)
    background : array-like of shape (n_background, n_features), optional
        Rows that stand for absent features in the permutation explainer (at most 50 are drawn); `X` by default.
    explainer : {"auto", "tree", "permutation"}, default "auto"
        "auto" walks trees (path-dependent) where SHAP can. Where it cannot (other models, encoders that mix
        columns, GradientBoosting of more than two classes) values are estimated by sampling 10 permutations, each there
        and back, each from a background row drawn for every row.
    random_state : int, default 0
        Seed of the permutations.

    Returns
    -------
    ndarray of shape (n_rows, n_features), dtype float64
        In units of the output explained: probability for averaged trees and permutations, margin for boosted trees;
        for a model that only predicts, being the class predicted (0 or 1).

    References
    ----------
    Lundberg et al. (2020), From local explanations to global understanding with explainable AI for trees.
    Štrumbelj and Kononenko (2014), Explaining prediction models and individual predictions with feature contributions.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0, 5.0], [1.0, 5.0]], [0, 1])
    >>> shap_attributions(tree, [[1.0, 5.0]]).tolist()
    [[0.5, 0.0]]
    """
    check_choice("explainer", explainer, ["auto", "tree", "permutation"])
    if explainer != "permutation":
        values = _tree_shap(model, X, needed=explainer == "tree")
        if values is not None:
            return values
    return _permutation_shap(model, X, X if background is None else background, random_state)


def importance_of_rows(attributions: Any, model: Any, rows: Any, *, own: bool = False) -> np.ndarray:
    """
    Return normalised importance (eq. 1) of rows, whatever a selector was given as `attributions`.

    Parameters
    ----------
    attributions : "shap", callable or array of shape (n_rows, n_features)
        A callable takes rows and returns such an array.
    model : estimator or Distance
        Explained by "shap".
    rows : array-like of shape (n_rows, n_features)
    own : bool, default False
        Whether these are the rows an array belongs to.

    Returns
    -------
    ndarray of shape (n_rows, n_features), dtype float64
    """
    if isinstance(attributions, str):
        if isinstance(model, Distance):
            raise ValueError("attributions='shap' needs a model and model is a Distance; give an array or callable.")
        return normalize_importance(shap_attributions(model, rows))
    if not callable(attributions) and not own:
        raise ValueError("attributions is an array of the rows of fit; give 'shap' or a callable for other rows.")
    importance = normalize_importance(attributions(rows) if callable(attributions) else attributions)
    if importance.shape != np.shape(rows):
        raise ValueError(
            f"attributions have shape {importance.shape} and X has {np.shape(rows)}; give one row per row of X and one "
            "column per feature."
        )
    return importance


def _tree_shap(model: Any, X: Any, *, needed: bool) -> np.ndarray | None:
    from explicate.core.tree_readers import is_tree_ensemble

    encoder, estimator = split_model(model)
    origins = column_origins(encoder, np.shape(X)[1])
    if not is_tree_ensemble(estimator) or origins is None:
        if needed:
            raise ValueError(
                f"explainer='tree' needs a tree ensemble and an encoder that keeps columns apart; "
                f"{type(model).__name__} is not; use explainer='auto'."
            )
        return None
    shap = _import_shap()
    inner = estimator.estimator_ if isinstance(estimator, EncodedLabels) else estimator
    rows = as_floats(encoder, X, model)
    try:
        with _numpy_seed_kept(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "LightGBM binary classifier")  # says what shape it answers in
            raw = shap.TreeExplainer(inner, feature_perturbation="tree_path_dependent").shap_values(
                rows, check_additivity=False
            )
    except Exception as error:  # SHAP refuses some ensembles with exceptions of many types
        if needed:
            raise ValueError(f"explainer='tree': SHAP refuses {type(inner).__name__} ({error}).") from error
        return None
    values = _of_predicted(raw, model, X, getattr(model, "classes_", None))
    summed = np.zeros((len(values), np.shape(X)[1]))
    np.add.at(summed.T, origins, values.T)
    return summed


def _permutation_shap(model: Any, X: Any, background: Any, random_state: int) -> np.ndarray:
    """Walk from a background row to the row, feature by feature, along permutations and back; average the steps."""
    rows, others = _as_frame(X).reset_index(drop=True), _as_frame(background).reset_index(drop=True)
    n_rows, d = rows.shape
    generator = np.random.default_rng(random_state)
    ask, classes = _asker(model, X, background)
    pool = generator.permutation(len(others))[:N_BACKGROUND]
    steps: np.ndarray | None = None
    for _ in range(N_PERMUTATIONS):
        permutation = generator.permutation(d)
        for path in (permutation, permutation[::-1]):
            table = others.iloc[pool[generator.integers(len(pool), size=n_rows)]].reset_index(drop=True)
            before = ask(table)
            if steps is None:
                steps = np.zeros((n_rows, d, *before.shape[1:]))
            for k in path:
                table.isetitem(k, rows.iloc[:, k])
                after = ask(table)
                steps[:, k] += after - before
                before = after
    assert steps is not None
    return _of_predicted(steps / (2 * N_PERMUTATIONS), model, X, classes)


def _asker(model: Any, X: Any, background: Any) -> tuple[Callable[[pd.DataFrame], np.ndarray], Any]:
    """
    Return what to explain as a function of a table, and the classes its columns stand for (``None``: a number).

    Probabilities, else margins, one per class or one in all; else whether each class is the one predicted; else the
    number predicted.
    """
    classes = getattr(model, "classes_", None)
    pairwise = getattr(split_model(model)[1], "decision_function_shape", None) == "ovo"  # margins of pairs of classes

    def given(table: pd.DataFrame) -> Any:
        return table if isinstance(X, pd.DataFrame) else table.to_numpy()

    if hasattr(model, "predict_proba"):
        return lambda table: np.asarray(model.predict_proba(given(table)), dtype=float), classes
    if hasattr(model, "decision_function") and not pairwise:
        return lambda table: np.asarray(model.decision_function(given(table)), dtype=float), classes
    if predicts_numbers(model):
        return lambda table: predictions(model, given(table)).astype(float), None
    if classes is None:
        classes = np.unique(np.concatenate([predictions(model, X), predictions(model, background)]))
    known = np.asarray(classes)
    return lambda table: (predictions(model, given(table))[:, None] == known).astype(float), classes


def _of_predicted(raw: Any, model: Any, X: Any, classes: Any) -> np.ndarray:
    """Reduce SHAP's list, 2-D or 3-D answer to the predicted class of each row."""
    values = np.stack(raw, axis=-1) if isinstance(raw, list) else np.asarray(raw, dtype=float)
    if classes is None:
        return values[:, :, 0] if values.ndim == 3 else values
    predicted = np.searchsorted(classes, predictions(model, X))
    if values.ndim == 3 and values.shape[2] == len(classes):
        return values[np.arange(len(values)), :, predicted]
    flat = values[:, :, 0] if values.ndim == 3 else values
    return np.where(predicted[:, None] == 1, flat, -flat)  # one margin: that of the second class


def _as_frame(X: Any) -> pd.DataFrame:
    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X))


def _import_shap() -> Any:
    with warnings.catch_warnings():
        # SHAP sets up colormaps with calls Matplotlib is about to deprecate, and bars that want Jupyter's widgets.
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        warnings.filterwarnings("ignore", "IProgress not found")
        import shap
    return shap


@contextlib.contextmanager
def _numpy_seed_kept() -> Iterator[None]:
    """SHAP seeds NumPy's global generator; hand it back as it was."""
    state = np.random.get_state()  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
