"""Table of contents of the stage `prototypes`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.prototypes.nodes import explain_by_prototypes, score_surrogates, select_prototypes


def create_pipeline() -> Pipeline:
    """Return the stage: prototypes of training rows, scores on test rows, alike parts of reliable rows."""
    return Pipeline(
        [
            Node(
                select_prototypes,
                ["model", "train", "problem", "params:options"],
                "selection_result",
                name="select_prototypes",
            ),
            Node(
                score_surrogates,
                ["selection_result", "test", "problem", "params:options"],
                ["prototypes_table", "scores_table", "scores_metrics", "importance_figure", "summary_text"],
                name="score_surrogates",
            ),
            Node(
                explain_by_prototypes,
                ["selection_result", "reliable", "problem", "params:options"],
                ["alike_table", "frequency_table", "alike_metrics", "frequency_figure", "alike_text"],
                name="explain_by_prototypes",
            ),
        ],
        namespace="prototypes",
        inputs={"model", "train", "test", "reliable", "problem"},
        parameters={"params:options": "params:prototypes"},
    )
