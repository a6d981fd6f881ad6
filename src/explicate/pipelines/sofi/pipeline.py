"""Table of contents of the stage `sofi`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.sofi.nodes import explain_globally, explain_locally

INPUTS = ["model", "train", "reliable", "problem"]


def create_pipeline() -> Pipeline:
    """Return the stage: model and reliable rows -> global ranking, local rankings, their figures."""
    return Pipeline(
        [
            Node(
                explain_globally,
                [*INPUTS, "params:options"],
                [
                    "ranking_table",
                    "curves_table",
                    "stability_table",
                    "explanation_metrics",
                    "degradation_figure",
                    "summary_text",
                ],
                name="explain_globally",
            ),
            Node(
                explain_locally,
                [*INPUTS, "params:options"],
                ["local_table", "local_ranks_table", "local_figure", "ranks_figure"],
                name="explain_locally",
            ),
        ],
        namespace="sofi",
        inputs=set(INPUTS),
        parameters={"params:options": "params:sofi"},
    )
