"""Nodes of the stage `model_training`."""

from typing import Any

import pandas as pd

from explicate.pipelines.model_training.options import ModelTraining
from explicate.tables import Problem, features_and_target


def train_model(train: pd.DataFrame, problem: Problem, options: ModelTraining) -> Any:
    """Fit the estimator the options name, behind its encoder."""
    from explicate.modelling import build_estimator, build_pipeline, fit_model

    X, y = features_and_target(train, problem)
    estimator = build_estimator(
        options.estimator, options.keywords, random_state=options.random_state, task=problem["task"]
    )
    pipeline = build_pipeline(estimator, X, problem, scale=options.scale)
    return fit_model(pipeline, X, y, search=options.search.model_dump())


def score_splits(model: Any, validation: pd.DataFrame, test: pd.DataFrame, problem: Problem) -> dict[str, float]:
    """Score the model on validation and test rows."""
    from explicate.scoring import score_model

    return {
        f"model.{split}.{name}": value
        for split, table in (("validation", validation), ("test", test))
        for name, value in score_model(model, *features_and_target(table, problem), problem).items()
    }


def predict_test(model: Any, test: pd.DataFrame, problem: Problem) -> pd.DataFrame:
    """Tabulate truth, prediction and class probabilities of the test rows."""
    from explicate.scoring import tabulate_predictions

    return tabulate_predictions(model, *features_and_target(test, problem))


def draw_errors(predictions: pd.DataFrame, problem: Problem) -> Any:
    """Draw the confusion matrix, or predicted against true values."""
    from explicate.pipelines.model_training.plotting import plot_confusion, plot_predicted_against_true

    if problem["task"] == "classification":
        return plot_confusion(predictions)
    return plot_predicted_against_true(predictions, problem["target"])
