"""How the explainer gets responses out of a model: read off its trees where that reproduces it, else asked."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from explicate.core.encoding import split_model
from explicate.core.features import FeatureSpace
from explicate.sofi.inputs import suspects
from explicate.sofi.response import ModelAdapter, QueryResponse

PATHS = (
    "fit a Pipeline that carries the encoder, pass the fitted encoder as encoder=, or pass encoded data with "
    "feature_groups="
)


class ModelReader:
    """
    A model, and what is needed to read or to ask it.

    Parameters
    ----------
    model : estimator or None
        ``None`` when callables stand in.
    adapter : ModelAdapter
    encoder : transformer or None
        Fitted; stands in front of `model`.
    space : FeatureSpace
    train : DataFrame
        Training data, to say what in refused rows was never seen.
    compile_trees : bool
    chunk_size : int
        Rows in one query at most.
    """

    def __init__(
        self,
        model: Any,
        adapter: ModelAdapter,
        encoder: Any,
        space: FeatureSpace,
        train: pd.DataFrame,
        *,
        compile_trees: bool,
        chunk_size: int,
    ) -> None:
        self._model, self._encoder, self._space, self._train = model, encoder, space, train
        self._ask, self._chunk, self._compile = adapter.output, chunk_size, compile_trees
        self._adapter = ModelAdapter(self.answer, adapter.classification)

    def try_first_rows(self) -> None:
        """Fail early, and name the ways to declare an encoding."""
        try:
            self.answer(self._train.head(2))
        except ValueError as error:
            raise ValueError(f"{error} If X_train is not what the model was fitted on: {PATHS}.") from error.__cause__

    def answer(self, table: pd.DataFrame) -> np.ndarray:
        """Ask the model; when it refuses, say which columns may be why."""
        try:
            return self._ask(table)
        except Exception as error:
            reasons = [" ".join(str(error).split()).rstrip("."), *suspects(table, self._train)]
            name = type(self._model).__name__ if self._model is not None else "the callable"
            raise ValueError(f"{name} cannot predict rows ({type(error).__name__}: {'; '.join(reasons)}).") from error

    def queries(self, table: pd.DataFrame, background: pd.DataFrame) -> QueryResponse:
        """Return the response of instances by asking the model."""
        return QueryResponse(self._adapter, self._space, table, background, self._chunk)

    def response(self, table: pd.DataFrame, background: pd.DataFrame) -> tuple[Any, str]:
        """Return the response of instances and where it comes from: "compiled trees" or "model queries"."""
        from explicate.core.tree_readers import is_tree_ensemble

        if self._compile and is_tree_ensemble(split_model(self._model)[1]):
            from explicate.sofi.mixtures import NotCompilableError, compile_response

            try:
                compiled = compile_response(
                    self._model,
                    table,
                    background,
                    self._space.members,
                    regression=not self._adapter.classification,
                    encoder=self._encoder,
                    query=self.answer,
                )
                return compiled, "compiled trees"
            except NotCompilableError as error:
                warnings.warn(
                    f"responses are queried from the model, since its trees were not compiled: {error}. Set "
                    "compile_trees=False to silence this.",
                    UserWarning,
                    stacklevel=3,
                )
                self._compile = False
        return self.queries(table, background), "model queries"
