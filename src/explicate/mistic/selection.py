"""MisticSelector: feature selection by support vector machines, as a selector and predictor of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from explicate.core.validation import check_choice, check_number
from explicate.mistic.folds import Fold, make_folds
from explicate.mistic.inputs import (
    check_target,
    check_weights,
    list_parameters,
    make_plan,
    plain_labels,
    read_groups,
    resolve_seed,
)
from explicate.mistic.knee import best_count, find_knee
from explicate.mistic.machine import svm_kind
from explicate.mistic.predicting import UnifiedPredictor
from explicate.mistic.refining import refine_selection
from explicate.mistic.searching import search
from explicate.mistic.splits import resolve_splits
from explicate.mistic.unified import (
    calibrate_cutoff,
    column_ranks,
    fit_unified,
    group_table,
    mean_ranks,
    performance_table,
    tune_sizes,
    tune_unified,
)


class MisticSelector(UnifiedPredictor, MetaEstimatorMixin, SelectorMixin, BaseEstimator):
    """
    Select groups of columns by what they do to fitted support vector machines.

    On every split of the rows a search removes (or adds) groups, ranked by the exact change of the frozen machine's
    decisions and dual objective; the machine is fitted again on what is left. The members' mean ranks give one order,
    the mean performance curve the number of groups, and one SVM tuned over the splits and fitted on all rows predicts.

    Parameters
    ----------
    estimator : SVC, NuSVC, SVR, NuSVR or OneClassSVM, optional
        Unfitted; default ``SVC()``. Its kernel is one of scikit-learn's, or a `Kernel` of this package.
    param_grid : dict or list of dict, optional
        Parameters to try, or distributions of which `n_candidates` are drawn; default the estimator's own alone.
    direction : {"backward", "forward"}, default "backward"
    cv : int, splitter or iterable, default 5
        Splits; a number means shuffled stratified folds (see also `explicate.mistic.splits`).
    scoring : str, callable or WeightedScore, optional
        Default ``WeightedScore()``. A scorer may use ``predict`` and ``decision_function``.
    step : float, default 0.1
        Share of the candidates that move at once (below 1), or their number; 0 means one at a time. Candidates are
        the groups inside (backward) or outside (forward).
    groups : mapping or fitted ColumnTransformer, optional
        Name -> columns that stay together; columns in no group stand alone. A fitted encoder gives its inputs.
    group_normalization : {"per_feature", "sqrt", "none"}, default "per_feature"
    ranking_weight : float, default 0.5
        Share of the decisions' change in the consensus rank; the rest is the objective's. A forward search of few
        columns does well at 0.9. A backward search wants 0.5 or less: from a kernel of many columns any column, noise
        too, moves the decisions, as all of them shrink or grow together.
    ranking_rows : {"synthetic", "train", "validation"}, default "synthetic"
        Rows whose decisions count: independent normal draws, or the split's own.
    n_synthetic : int, default 100
    objective : {"dual", "kernel_mass"}, default "dual"
        "kernel_mass" is the proxy of MISTIC 0.1.1, in its own order.
    tune : {"once", "each_step"}, default "once"
        "once" keeps the first parameters; a numeric γ then grows as the columns become fewer. A forward search is then
        tuned on its first group alone, and its curve may sag where that group suits an odd γ; the selected set is
        tuned again in any case.
    shared_features, shared_parameters : bool, default False
        Whether the splits move together, with one set of features or of parameters.
    max_features : int, optional
        Groups at most: where a forward search ends, and the largest set that may be selected.
    n_initial_medoids : int, default 20
        Columns among which a forward search starts.
    select : {"knee", "best", "tuned"} or int, default "knee"
        Number of groups to keep: at the knee of the curve, at its top, or at the top of the curve that members reach
        when they are tuned for every number of their own groups (slower: a grid search for each).
    cutoff : {"zero", "f1", "balanced_accuracy"}, default "zero"
        Decision above which `predict` answers the second of two classes; others are found out of fold.
    n_candidates : int, default 20
        Draws from distributions.
    max_memory : float, default 2e9
        Bytes that the kernels of one split may take.
    n_jobs : int, optional
        As in joblib.
    random_state : int or RandomState, optional
        Seed of splits, synthetic rows and drawn parameters.
    verbose : int, default 0
        Above 0 prints what is done.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features_in_,)
    ranking_ : ndarray of int, shape (n_features_in_,)
        Rank of each column's group, 1 the most important.
    performance_ : DataFrame
        One row per number of groups: score over members, metrics, support vectors; ``tuned_score`` for "tuned".
    group_table_ : DataFrame
        One row per group in order: rank, mean rank over members, its standard deviation, whether selected.
    splits_ : list of (ndarray, ndarray)
        Training and validation rows of the members.
    members_ : tuple of MemberPath
    knee_ : int
        Groups at the knee of `performance_`.
    n_groups_ : int
        Groups selected.
    best_params_ : dict
    tuning_ : DataFrame
        Mean score of every combination on the selected columns.
    estimator_ : SVM
        The unified model, fitted on all rows and the selected columns.
    calibrated_ : CalibratedClassifierCV or None
        Its probabilities.
    cutoff_ : float
    classes_ : ndarray
        Of a classifier.
    offset_ : ndarray
        Of a one-class SVM: `score_samples` minus `decision_function`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(80, 6, n_informative=2, n_redundant=0, shuffle=False, random_state=0)
    >>> selector = MisticSelector(select=2, cv=3, random_state=0).fit(X, y)
    >>> selector.support_.tolist()
    [True, True, False, False, False, False]
    """

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Any = None,
        *,
        direction: str = "backward",
        cv: Any = 5,
        scoring: Any = None,
        step: float = 0.1,
        groups: Any = None,
        group_normalization: str = "per_feature",
        ranking_weight: float = 0.5,
        ranking_rows: str = "synthetic",
        n_synthetic: int = 100,
        objective: str = "dual",
        tune: str = "once",
        shared_features: bool = False,
        shared_parameters: bool = False,
        max_features: int | None = None,
        n_initial_medoids: int = 20,
        select: str | int = "knee",
        cutoff: str = "zero",
        n_candidates: int = 20,
        max_memory: float = 2e9,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.direction = direction
        self.cv = cv
        self.scoring = scoring
        self.step = step
        self.groups = groups
        self.group_normalization = group_normalization
        self.ranking_weight = ranking_weight
        self.ranking_rows = ranking_rows
        self.n_synthetic = n_synthetic
        self.objective = objective
        self.tune = tune
        self.shared_features = shared_features
        self.shared_parameters = shared_parameters
        self.max_features = max_features
        self.n_initial_medoids = n_initial_medoids
        self.select = select
        self.cutoff = cutoff
        self.n_candidates = n_candidates
        self.max_memory = max_memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> MisticSelector:
        """
        Select, tune and fit.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Numbers without gaps, on comparable scales.
        y : array-like of shape (n_rows,), optional
            Labels or targets; for one class -1 marks outliers, anything else inliers, and it may be left out.
        sample_weight : array-like of shape (n_rows,), optional
            Rows of weight zero are dropped.

        Returns
        -------
        MisticSelector
            Fitted.
        """
        svm = SVC() if self.estimator is None else self.estimator
        kind = svm_kind(svm)
        if kind == "one_class" and y is None:
            X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        else:
            y = plain_labels(y)
            X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2, y_numeric=kind == "regressor")
        self.seed_ = resolve_seed(self.random_state)
        X, y, weights, kept = check_weights(X, y, sample_weight, kind)
        self.X_fit_, self.y_fit_, self.weights_fit_ = X, y, weights
        fitted, scored, classes = check_target(y, kind, len(X))
        if kind == "classifier":
            self.classes_ = classes
        space = read_groups(self.groups, getattr(self, "feature_names_in_", None), X.shape[1])
        self.group_names_, self.groups_ = space
        grid = list_parameters(svm, self.param_grid, self.n_candidates, self.seed_)
        plan = make_plan(self, svm, kind, classes, grid)
        labels = np.where(scored, 1, -1) if kind == "one_class" else y
        self.splits_ = resolve_splits(self.cv, kind, X, labels, self.seed_, kept)
        folds = self._folds(fitted, scored)
        self._say(f"{len(folds)} splits, {len(plan.groups)} groups, {len(grid)} combinations, {self.direction}")
        self.plan_, self.members_ = plan, tuple(search(folds, plan, self.n_jobs))
        self.performance_ = performance_table(self.members_, plan)
        self.member_ranks_ = mean_ranks(self.members_)
        self.order_ = np.argsort(self.member_ranks_.mean(axis=0), kind="stable")
        wanted = self._choose_size(folds)
        return self._adopt(self.order_[:wanted], folds)

    def set_n_features(self, n_features: int) -> MisticSelector:
        """
        Keep another number of groups: tune and fit the unified model again, on the same order and splits.

        Parameters
        ----------
        n_features : int
            Groups to keep.
        """
        check_is_fitted(self, "estimator_")
        check_number("n_features", n_features, low=1, high=len(self.groups_), integer=True)
        return self._adopt(self.order_[:n_features])

    def refine(self, *, pooled: bool = False, reserve: float = 0.0, adopt: bool = True, **keywords: Any) -> Any:
        """
        Improve the selected set by simulated annealing over the mean score of the splits.

        Parameters
        ----------
        pooled : bool, default False
            Refine one set per member together, for score and diversity (`explicate.mistic.refine_pool`).
        reserve : float, default 0
            Share of the rows this search does not see; they judge the first and the last set. The selection before it
            saw them. Not for `pooled`.
        adopt : bool, default True
            Whether the unified model is fitted on the best set found.
        **keywords
            Of `explicate.mistic.refine` or `refine_pool`: ``n_iterations``, ``patience``, ``max_groups``, …

        Returns
        -------
        Refinement or PooledRefinement
        """
        check_is_fitted(self, "estimator_")
        check_number("reserve", reserve, low=0, high=1, high_included=False)
        result, best = refine_selection(self, pooled=pooled, reserve=reserve, **keywords)
        if adopt:
            self._adopt(np.flatnonzero(best))
        return result

    def enrichment_score(self, metric: str = "score") -> float:
        """
        Return the area under the performance curve over the share of groups: how early the score is reached.

        Parameters
        ----------
        metric : str, default "score"
            Column of `performance_`.
        """
        check_is_fitted(self, "performance_")
        table = self.performance_
        check_choice("metric", metric, [name for name in table.columns if name != "n_features"])
        if len(table) < 2:
            return float(table[metric].iloc[0])
        share = table["n_features"].to_numpy() / table["n_features"].max()
        return float(np.trapezoid(table[metric].to_numpy(), share) / (share[-1] - share[0]))

    def __sklearn_tags__(self) -> Any:
        """Take the kind of estimator from the SVM inside."""
        tags, inner = super().__sklearn_tags__(), get_tags(SVC() if self.estimator is None else self.estimator)
        tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        tags.regressor_tags, tags.input_tags.sparse = inner.regressor_tags, False
        tags.target_tags.required = inner.estimator_type in ("classifier", "regressor")
        return tags

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def _choose_size(self, folds: list[Fold]) -> int:
        table = self.performance_[self.performance_["n_features"] <= self.plan_.max_groups]
        counts, scores = table["n_features"].to_numpy(), table["score"].to_numpy()
        with warnings.catch_warnings():
            if self.select != "knee":
                warnings.simplefilter("ignore", UserWarning)
            self.knee_ = find_knee(counts, scores)
        self.best_ = best_count(counts, scores)
        if self.select == "tuned":
            tuned = tune_sizes(folds, self.members_, self.plan_, counts, self.n_jobs)
            self.performance_["tuned_score"] = pd.Series(tuned, index=table.index)
            return best_count(counts, tuned)
        if self.select == "knee":
            return self.knee_
        return self.best_ if self.select == "best" else int(self.select)

    def _folds(self, fitted: np.ndarray, scored: np.ndarray) -> list[Fold]:
        return make_folds(self.splits_, self.X_fit_, fitted, scored, self.weights_fit_, max_memory=self.max_memory)

    def _adopt(self, chosen: np.ndarray, folds: list[Fold] | None = None) -> MisticSelector:
        plan, task = self.plan_, self.plan_.task
        X, y, weights = self.X_fit_, self.y_fit_, self.weights_fit_
        fitted, scored, _ = check_target(y, task.kind, len(X))
        if folds is None:
            folds = self._folds(fitted, scored)
        columns = plan.columns(chosen)
        self.best_params_, self.tuning_ = tune_unified(folds, task, plan.grid, columns, self.n_jobs)
        inside = scored if task.kind == "one_class" else np.ones(len(X), dtype=bool)
        own = None if weights is None else weights[inside]
        rows = X[np.ix_(inside, columns)]
        self.estimator_, self.calibrated_ = fit_unified(task, self.best_params_, rows, fitted[inside], own)
        if task.kind == "one_class":
            self.offset_ = self.estimator_.offset_
        self.cutoff_ = 0.0
        if self.cutoff != "zero":
            self.cutoff_ = calibrate_cutoff(self.estimator_, rows, fitted, self.cutoff, own)
        self.n_groups_ = len(chosen)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[columns] = True
        self.ranking_ = column_ranks(self.order_, self.groups_)
        self.group_table_ = group_table(self.order_, self.member_ranks_, self.groups_, self.group_names_, chosen)
        self._say(f"{self.n_groups_} groups kept, score {self.tuning_['score'].max():.4f}, {self.best_params_}")
        return self

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"[MISTIC] {text}")
