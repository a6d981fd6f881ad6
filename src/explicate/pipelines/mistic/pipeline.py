"""Table of contents of the stage `mistic`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.mistic.nodes import explain_decisions, score_selection, select_features


def create_pipeline() -> Pipeline:
    """Return the stage: an SVM on selected features, its scores on test rows, its decisions on reliable rows."""
    return Pipeline(
        [
            Node(
                select_features,
                ["train", "problem", "params:options"],
                ["selected_model_result", "full_model_result", "ranking_table", "performance_table"],
                name="select_features",
            ),
            Node(
                score_selection,
                ["selected_model_result", "full_model_result", "test", "problem"],
                ["selected_table", "selection_metrics", "performance_figure", "summary_text"],
                name="score_selection",
            ),
            Node(
                explain_decisions,
                ["selected_model_result", "reliable", "problem", "params:options"],
                [
                    "attributions_table",
                    "counterfactuals_table",
                    "explanation_metrics",
                    "attributions_figure",
                    "heatmap_figure",
                    "counterfactuals_figure",
                    "explanation_text",
                ],
                name="explain_decisions",
            ),
        ],
        namespace="mistic",
        inputs={"train", "test", "reliable", "problem"},
        parameters={"params:options": "params:mistic"},
    )
