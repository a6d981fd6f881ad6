"""Table of contents of the stage `pcfi`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.pcfi.nodes import explain_classes, explain_classes_held_out


def create_pipeline() -> Pipeline:
    """Return the stage: model -> table, metrics, figure and text, in training and on test rows."""
    return Pipeline(
        [
            Node(
                explain_classes,
                ["model", "problem", "params:options"],
                ["importance_table", "importance_metrics", "importance_figure", "summary_text"],
                name="explain_classes",
            ),
            Node(
                explain_classes_held_out,
                ["model", "test", "problem", "params:options"],
                ["held_out_table", "held_out_metrics", "held_out_figure", "held_out_text"],
                name="explain_classes_held_out",
            ),
        ],
        namespace="pcfi",
        inputs={"model", "test", "problem"},
        parameters={"params:options": "params:pcfi"},
    )
