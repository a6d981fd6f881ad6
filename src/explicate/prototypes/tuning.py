"""Choosing β, α and k: on validation rows, reported on test rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from explicate.core.parallel import parallel_map
from explicate.core.validation import check_choice, check_number
from explicate.prototypes.attribution import shap_attributions
from explicate.prototypes.metrics import score_prototypes
from explicate.prototypes.selector import PrototypeSelector


@dataclass(frozen=True, eq=False)
class Tuning:
    """
    Every setting tried and the one chosen.

    Attributes
    ----------
    trials : DataFrame of shape (n_trials, n_parameters + 4)
        Parameters, ``n_prototypes_found``, ``validation_accuracy``, ``validation_fidelity``, and ``chosen``.
    best : PrototypeSelector
        Fitted with the chosen setting.
    test : dict of str to float
        Its metrics on test rows; empty when none were given.
    """

    trials: pd.DataFrame
    best: PrototypeSelector
    test: dict[str, float]

    def to_frame(self) -> pd.DataFrame:
        """Return the trials."""
        return self.trials.copy()

    def metrics(self) -> dict[str, float]:
        """Return the validation score of the chosen setting, and its test metrics with the prefix ``test_``."""
        row = self.trials[self.trials["chosen"]].iloc[0]
        chosen = {name: float(row[name]) for name in ("validation_accuracy", "validation_fidelity")}
        return chosen | {f"test_{name}": value for name, value in self.test.items()}

    def summary(self) -> str:
        """Return one line."""
        row = self.trials[self.trials["chosen"]].iloc[0]
        setting = ", ".join(f"{name}={row[name]}" for name in self.trials.columns[:-4])
        report = f"; test accuracy {self.test['accuracy']:.3f}" if "accuracy" in self.test else ""
        return f"{len(self.trials)} settings; chosen {setting}: validation {row['validation_accuracy']:.3f}{report}."

    def plot(self, parameter: str, **keywords: Any) -> Any:
        """Draw validation accuracy over `parameter` × β; see `plotting.plot_grid`."""
        from explicate.prototypes.plotting import plot_grid

        return plot_grid(self.trials, parameter, **keywords)


def tune(
    selector: PrototypeSelector,
    grid: Mapping[str, Sequence[Any]],
    X: Any,
    validation: tuple[Any, Any],
    test: tuple[Any, Any] | None = None,
    *,
    y: Any = None,
    metric: str = "accuracy",
    search: str = "grid",
    n_trials: int = 20,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Tuning:
    """
    Fit a selector under many settings and keep the best.

    Parameters
    ----------
    selector : PrototypeSelector
        Unfitted or fitted; cloned for each setting, its model as it is.
    grid : mapping of str to sequence
        Values to try per parameter.
    X : array-like of shape (n_rows, n_features)
        Candidate rows.
    validation, test : tuple of (X, y)
        Rows and labels to choose by, and to report on.
    y : array-like of shape (n_rows,), optional
        Classes of `X`, for a selector over a Distance.
    metric : {"accuracy", "fidelity", "balanced_fidelity"}, default "accuracy"
        What is maximised; the first of equal settings wins.
    search : {"grid", "optuna"}, default "grid"
        All combinations, or `n_trials` of them drawn by Optuna's TPE sampler (extra ``optuna``).
    n_trials, random_state : int
        Of Optuna's search.
    n_jobs : int, optional
        As in joblib, for the grid.

    Returns
    -------
    Tuning

    Examples
    --------
    >>> from explicate.prototypes import GowerDistance, GreedyKMedoids
    >>> rows, labels = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    >>> tuning = tune(GreedyKMedoids(GowerDistance()), {"n_prototypes": [1, 2]}, rows, (rows, labels), y=labels)
    >>> len(tuning.trials)
    2
    """
    check_choice("metric", metric, ["accuracy", "fidelity", "balanced_fidelity"])
    check_choice("search", search, ["grid", "optuna"])
    check_number("n_trials", n_trials, low=1, integer=True)
    if not grid or any(len(values) == 0 for values in grid.values()):
        raise ValueError("grid is empty; give at least one value for at least one parameter.")
    base = clone(selector)
    used = max([base.beta, *grid.get("beta", [])]) > 0 and not base.fi_at_prediction
    if isinstance(base.attributions, str) and used:  # SHAP once, not once per setting
        base.set_params(attributions=shap_attributions(base.model, X))
    if search == "grid":
        settings = list(ParameterGrid(dict(grid)))
        scores = parallel_map(_try, settings, n_jobs=n_jobs, selector=base, X=X, y=y, validation=validation)
    else:
        settings, scores = _optuna(base, grid, X, y, validation, metric, n_trials, random_state)
    best = int(np.argmax([score[metric] for score in scores]))
    names = list(grid)
    trials = pd.DataFrame({name: [setting[name] for setting in settings] for name in names})
    trials["n_prototypes_found"] = [int(score["n_prototypes"]) for score in scores]
    trials["validation_accuracy"] = [score["accuracy"] for score in scores]
    trials["validation_fidelity"] = [score["fidelity"] for score in scores]
    trials["chosen"] = np.arange(len(scores)) == best
    fitted = clone(base).set_params(**settings[best]).fit(X, y)
    report = {} if test is None else _score(fitted, *test)
    return Tuning(trials, fitted, report)


def _try(setting: Mapping[str, Any], selector: PrototypeSelector, X: Any, y: Any, validation: Any) -> dict[str, float]:
    return _score(clone(selector).set_params(**setting).fit(X, y), *validation)


def _score(selector: PrototypeSelector, X: Any, y: Any) -> dict[str, float]:
    from explicate.prototypes.distances import Distance

    known = y if isinstance(selector.model, Distance) else None
    return score_prototypes(selector, X, y, predicted=known).metrics()


def _optuna(
    base: PrototypeSelector,
    grid: Mapping[str, Sequence[Any]],
    X: Any,
    y: Any,
    validation: Any,
    metric: str,
    n_trials: int,
    random_state: int,
) -> tuple[list[dict[str, Any]], list[dict[str, float]]]:
    try:
        import optuna
    except ImportError as error:
        raise ImportError(
            "search='optuna' needs the extra `optuna`; install explicate[optuna] or use 'grid'."
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    settings: list[dict[str, Any]] = []
    scores: list[dict[str, float]] = []

    def objective(trial: Any) -> float:
        setting = {name: values[trial.suggest_int(name, 0, len(values) - 1)] for name, values in grid.items()}
        settings.append(setting)
        scores.append(_try(setting, base, X, y, validation))
        return scores[-1][metric]

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=random_state))
    study.optimize(objective, n_trials=n_trials)
    return settings, scores
