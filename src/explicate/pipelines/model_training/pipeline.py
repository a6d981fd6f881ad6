"""Table of contents of the stage `model_training`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.model_training.nodes import draw_errors, predict_test, score_splits, train_model


def create_pipeline() -> Pipeline:
    """Return the stage: train -> model -> scores, predictions and their figure."""
    return Pipeline(
        [
            Node(train_model, ["train", "problem", "params:options"], "model", name="train_model"),
            Node(score_splits, ["model", "validation", "test", "problem"], "scores_metrics", name="score_splits"),
            Node(predict_test, ["model", "test", "problem"], "predictions_table", name="predict_test"),
            Node(draw_errors, ["predictions_table", "problem"], "errors_figure", name="draw_errors"),
        ],
        namespace="model_training",
        inputs={"train", "validation", "test", "problem"},
        outputs={"model"},
        parameters={"params:options": "params:model_training"},
    )
