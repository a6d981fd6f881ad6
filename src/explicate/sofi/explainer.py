"""SOFIExplainer: from a fitted model and its training data to explanations."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.encoding import feature_groups_from_encoder
from explicate.core.features import FeatureSpace
from explicate.core.parallel import parallel_map
from explicate.core.validation import align_columns, check_choice, check_number
from explicate.reliability import infer_task
from explicate.sofi.aggregation import warn_of_scale
from explicate.sofi.climbing import no_climb
from explicate.sofi.explanation import SOFIExplanation
from explicate.sofi.inputs import (
    as_table,
    check_fitted,
    encoded_groups,
    fixed_seed,
    like_training,
    task_of_callables,
)
from explicate.sofi.marginalization import Marginalizer
from explicate.sofi.objective import Objective
from explicate.sofi.reading import ModelReader
from explicate.sofi.response import adapt_model, encoding_of
from explicate.sofi.search import Budget, Found, find_ranking


class SOFIExplainer:
    """
    Rank features so that marginalising them in order degrades the model's response the fastest.

    Parameters
    ----------
    model : estimator
        Fitted, with ``predict`` (and ``predict_proba`` for classification); a Pipeline that carries its encoder is
        the recommended form.
    X_train : DataFrame, Series or array of shape (n_train, n_columns)
        Only source of marginalisation values; dtypes decide the statistics.
    encoder : transformer, optional
        Fitted; applied after every perturbation.
    feature_groups : mapping or "auto", optional
        Feature -> encoded columns, for data that is encoded already; "auto" reads it off `encoder`, which is then not
        applied. Columns left out become features of their own.
    task : {"auto", "classification", "regression"}, default "auto"
    predict_fn, proba_fn : callable, optional
        Estimates, or class probabilities, of an estimator outside scikit-learn's interface.
    marginalization : {"background", "constant"}, default "background"
    numeric_strategy : {"mean", "median", "mode"}, default "mean"
    integer_strategy : {"mode", "median", "mean"}, default "mode"
    categorical_strategy : {"mode"}, default "mode"
    n_background : int, default 25
        Training rows averaged over.
    initialization : {"greedy", "random"} or sequence, default "greedy"
        Where hill climbing starts.
    max_iterations : int, default 200
    patience : int, optional
    n_restarts : int, default 0
    accept_equal : bool, default False
    chunk_size : int, default 20000
        Rows in one query at most.
    random_state : int, Generator or None
        Seed of the background rows, swaps and restarts; ``None`` draws one, which repeated calls share.
    verbose : bool, default True
        Whether progress bars are drawn (in a terminal).
    search : {"auto", "exact", "hill_climbing"}, default "auto"
        "exact" proves the optimum; "auto" does so when it fits the two limits below, else climbs, then descends by
        adjacent swaps and exact windows; "hill_climbing" is the published search.
    max_exact_seconds : float, default 30
        Predicted seconds an exact search may take.
    max_memory : float, default 2e9
        Bytes its tables may take.
    compile_trees : bool, default True
        Whether responses of tree ensembles are read off the trees instead of queried.
    n_jobs : int, optional
        As in joblib, for local explanations; results do not depend on it.

    Attributes
    ----------
    feature_names_ : list
        Logical features.
    space_ : FeatureSpace
    marginalizer_ : Marginalizer

    References
    ----------
    Grau and Nápoles (2024), Sparseness-Optimized Feature Importance, xAI 2024, doi:10.1007/978-3-031-63797-1_20.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> explanation = SOFIExplainer(model, X, random_state=0, verbose=False).explain(X.head(20))
    >>> explanation.is_optimal, explanation.top(2)
    (True, ['petal width (cm)', 'petal length (cm)'])
    """

    def __init__(
        self,
        model: Any,
        X_train: Any,
        encoder: Any = None,
        feature_groups: Mapping[Any, Sequence[Any]] | str | None = None,
        task: str = "auto",
        predict_fn: Callable[[Any], Any] | None = None,
        proba_fn: Callable[[Any], Any] | None = None,
        marginalization: str = "background",
        numeric_strategy: str = "mean",
        integer_strategy: str = "mode",
        categorical_strategy: str = "mode",
        n_background: int = 25,
        initialization: str | Sequence[Any] = "greedy",
        max_iterations: int = 200,
        patience: int | None = None,
        n_restarts: int = 0,
        accept_equal: bool = False,
        chunk_size: int = 20000,
        random_state: int | np.random.Generator | None = None,
        verbose: bool = True,
        *,
        search: str = "auto",
        max_exact_seconds: float = 30.0,
        max_memory: float = 2e9,
        compile_trees: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        check_choice("task", task, ["auto", "classification", "regression"])
        check_choice("search", search, ["auto", "exact", "hill_climbing"])
        check_number("chunk_size", chunk_size, low=1, integer=True)
        check_number("max_exact_seconds", max_exact_seconds, low=0)
        check_number("max_memory", max_memory, low=0)
        self._seed = fixed_seed(random_state)
        self._as_array = not isinstance(X_train, pd.DataFrame | pd.Series)
        self._train = as_table(X_train, "X_train")
        if self._train.empty:
            raise ValueError(f"X_train has shape {self._train.shape}; give at least one row and one column.")
        align_columns(self._train, list(dict.fromkeys(self._train.columns)), what="X_train")
        known = predict_fn is not None or proba_fn is not None
        check_fitted(model, known)
        self.task = task if task != "auto" or not known else task_of_callables(model, proba_fn)
        self.task = infer_task(model, self.task)
        classification = self.task == "classification"
        if classification and proba_fn is None and not hasattr(model, "predict_proba"):
            raise ValueError(
                f"{type(model).__name__} has no predict_proba; give proba_fn, or a classifier with probabilities."
            )
        if isinstance(feature_groups, str):
            check_choice("feature_groups", feature_groups, ["auto"])
            if encoder is None:
                raise ValueError("feature_groups='auto' reads the groups off encoder, which is None; pass the encoder.")
            names = feature_groups_from_encoder(encoder)
            feature_groups, encoder = encoded_groups(names, self._train.columns), None
        columns = list(self._train.columns)
        if encoder is None:
            self.space_ = FeatureSpace.from_groups(feature_groups, columns)
        else:
            self.space_ = FeatureSpace.from_groups(feature_groups, columns, encoding_of(encoder, model, self._as_array))
        self.marginalizer_ = Marginalizer(
            self.space_,
            self._train,
            marginalization,
            numeric_strategy,
            integer_strategy,
            categorical_strategy,
            n_background,
            self._seed,
        )
        adapter = adapt_model(
            model,
            classification=classification,
            transform=None if encoder is None else self.space_.transform,
            predict_fn=predict_fn,
            proba_fn=proba_fn,
            as_array=self._as_array,
        )
        self._reader = ModelReader(
            model,
            adapter,
            encoder,
            self.space_,
            self._train,
            compile_trees=compile_trees and not known,
            chunk_size=chunk_size,
        )
        self._verbose, self._n_jobs = verbose, n_jobs
        self._search, self._initialization = search, initialization
        self._budget = Budget(max_iterations, patience, n_restarts, accept_equal, max_exact_seconds, max_memory)
        self._starting_order(initialization)
        self._reader.try_first_rows()

    @property
    def feature_names_(self) -> list[Any]:
        """Logical features, in order."""
        return list(self.space_.names)

    def feature_map(self) -> pd.DataFrame:
        """Return one row per feature: ``feature``, ``n_columns``, ``columns``."""
        return self.space_.to_frame()

    def marginalization_values(self) -> pd.DataFrame:
        """Return ``feature``, ``column``, ``value``: the statistic that replaces each column (constant variant)."""
        if self.marginalizer_.strategy == "background":
            return pd.DataFrame({"feature": [], "column": [], "value": []})
        row = self.marginalizer_.rows_.iloc[0]
        listed = [
            {"feature": name, "column": self.space_.columns[k], "value": row.iloc[k]}
            for name, group in zip(self.space_.names, self.space_.members, strict=True)
            for k in group
        ]
        return pd.DataFrame(listed)

    def explain(
        self,
        X: Any,
        mode: str = "global",
        initialization: str | Sequence[Any] | None = None,
        max_iterations: int | None = None,
        patience: int | None = None,
        n_restarts: int | None = None,
        random_state: int | np.random.Generator | None = None,
        search: str | None = None,
    ) -> Any:
        """
        Search the ranking of a data set, or of each instance.

        Parameters
        ----------
        X : DataFrame, Series or array
            Instances in the space of the training data; columns are matched by name.
        mode : {"global", "local"}, default "global"
            One ranking for the mean response of all instances, or one per instance.
        initialization, max_iterations, patience, n_restarts, random_state, search
            Override the constructor's for this call; ``None`` keeps them.

        Returns
        -------
        SOFIExplanation, or list of SOFIExplanation
            A list when several instances are explained locally.

        Raises
        ------
        ValueError
            For columns that do not match, no rows, a bad option, or an exact search that is too large.
        """
        check_choice("mode", mode, ["global", "local"])
        table = like_training(X, self._train)
        given = {"max_iterations": max_iterations, "patience": patience, "n_restarts": n_restarts}
        own = self._budget.__dict__
        budget = Budget(**{**own, **{name: value for name, value in given.items() if value is not None}})
        start = self._starting_order(self._initialization if initialization is None else initialization)
        seed = self._seed if random_state is None else fixed_seed(random_state)
        keywords: dict[str, Any] = {"start": start, "search": search or self._search, "budget": budget, "seed": seed}
        response, kind = self._reader.response(table, self.marginalizer_.rows_)
        if mode == "global":
            explanation = self._explain_one(response, kind, table, mode="global", **keywords)
            warn_of_scale([explanation])
            return explanation
        rows = list(range(len(table)))
        explanations = parallel_map(
            self._explain_row,
            rows,
            n_jobs=self._n_jobs,
            progress="local explanations" if self._verbose and len(rows) > 1 else None,
            table=table,
            compiled=response if kind == "compiled trees" else None,
            keywords=keywords,
        )
        warn_of_scale(explanations)
        return explanations[0] if len(explanations) == 1 else explanations

    def score_ranking(self, ranking: Sequence[Any], X: Any) -> SOFIExplanation:
        """
        Score a ranking made elsewhere under the same protocol and on the same scale.

        Parameters
        ----------
        ranking : sequence
            Every feature once, by name or by position.
        X : DataFrame, Series or array

        Returns
        -------
        SOFIExplanation
        """
        return self.score_rankings({"": ranking}, X)[""]

    def score_rankings(self, rankings: Mapping[Any, Sequence[Any]], X: Any) -> dict[Any, SOFIExplanation]:
        """
        Score many rankings at once; the response to the instances is prepared for all of them together.

        Parameters
        ----------
        rankings : mapping
            Name -> every feature once, by name or by position.
        X : DataFrame, Series or array

        Returns
        -------
        dict
            Name -> SOFIExplanation.
        """
        orders = {name: self.space_.positions(ranking) for name, ranking in rankings.items()}
        table = like_training(X, self._train)
        response, kind = self._reader.response(table, self.marginalizer_.rows_)
        scored = {}
        for name, order in orders.items():
            started = time.perf_counter()
            objective = Objective.from_response(response)
            best = objective.evaluate(order)
            found = Found(best, "none", "", False, no_climb(best))
            scored[name] = self._explanation(found, objective, kind, table, "global", started)
        return scored

    def redrawn(self, seed: int) -> SOFIExplainer:
        """Return a twin whose background rows and searches start from another seed."""
        twin = copy.copy(self)
        twin._seed, twin._verbose = seed, False
        twin.marginalizer_ = self.marginalizer_.redrawn(self._train, seed)
        return twin

    def objective(self, X: Any) -> Objective:
        """
        Return what scores rankings on these instances, for a search of your own.

        Parameters
        ----------
        X : DataFrame, Series or array

        Returns
        -------
        Objective
        """
        return Objective.from_response(self.response(X))

    def response(self, X: Any) -> Any:
        """
        Return the response of instances to sets of marginalised features: what the search works on.

        Parameters
        ----------
        X : DataFrame, Series or array

        Returns
        -------
        callable
            Takes booleans of shape (n_sets, n_features); returns the mean response of each set, shape (n_sets,).
        """
        return self._reader.response(like_training(X, self._train), self.marginalizer_.rows_)[0]

    def _explain_row(
        self, row: int, *, table: pd.DataFrame, compiled: Any, keywords: dict[str, Any]
    ) -> SOFIExplanation:
        one = table.iloc[row : row + 1]
        response = self._reader.queries(one, self.marginalizer_.rows_) if compiled is None else compiled.only(row)
        kind = "model queries" if compiled is None else "compiled trees"
        return self._explain_one(response, kind, one, mode="local", **keywords)

    def _explain_one(
        self,
        response: Any,
        kind: str,
        table: pd.DataFrame,
        *,
        mode: str,
        start: Callable[[Objective, np.random.Generator], list[int]],
        search: str,
        budget: Budget,
        seed: Any,
    ) -> SOFIExplanation:
        started = time.perf_counter()
        found, objective = find_ranking(
            response, start, search=search, budget=budget, seed=seed, verbose=self._verbose and mode == "global"
        )
        return self._explanation(found, objective, kind, table, mode, started)

    def _explanation(
        self, found: Found, objective: Objective, kind: str, table: pd.DataFrame, mode: str, started: float
    ) -> SOFIExplanation:
        high, low = objective.anchors_
        return SOFIExplanation(
            feature_names=self.space_.names,
            order=found.best.order,
            morf_scores_raw=found.best.morf,
            lerf_scores_raw=found.best.lerf,
            ds_raw=found.best.ds,
            task=self.task,
            mode=mode,
            anchor_high=high,
            anchor_low=low,
            raw_baseline=objective.baseline,
            is_optimal=found.is_optimal,
            search=found.search,
            search_reason=found.reason,
            history=found.climb["history"],
            instance_index=table.index[0] if mode == "local" else None,
            n_instances=len(table),
            n_iterations=found.climb["n_iterations"],
            n_restarts_used=found.climb["n_restarts_used"],
            n_evaluations=objective.n_evaluations,
            n_model_calls=objective.n_batches,
            n_sets=objective.n_sets,
            seconds=time.perf_counter() - started,
            response=kind,
            single_drops=objective.single_feature_drops(),
            source=(self, table),
        )

    def _starting_order(self, initialization: Any) -> Callable[[Objective, np.random.Generator], list[int]]:
        if isinstance(initialization, str):
            check_choice("initialization", initialization, ["greedy", "random"])
            if initialization == "greedy":
                return lambda objective, generator: objective.greedy_order()
            return lambda objective, generator: generator.permutation(objective.n_features).tolist()
        order = self.space_.positions(initialization)
        return lambda objective, generator: order
