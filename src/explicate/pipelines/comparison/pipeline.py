"""Table of contents of the stage `comparison`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.comparison.nodes import compare_rankings

SHARED = ["model", "train", "reliable", "problem"]
RANKINGS = {
    "sofi_ranking": "sofi.ranking_table",
    "sofi_metrics": "sofi.explanation_metrics",
    "pcfi_importance": "pcfi.importance_table",
    "mistic_ranking": "mistic.ranking_table",
}


def create_pipeline() -> Pipeline:
    """Return the stage: model, reliable rows and rankings -> scores, agreement and their figures."""
    return Pipeline(
        [
            Node(
                compare_rankings,
                [*SHARED, *RANKINGS, "extra_rankings", "params:sofi", "params:options"],
                [
                    "scores_table",
                    "agreement_table",
                    "scores_metrics",
                    "curves_figure",
                    "ranks_figure",
                    "agreement_figure",
                    "summary_text",
                ],
                name="compare_rankings",
            ),
        ],
        namespace="comparison",
        inputs={name: name for name in [*SHARED, "extra_rankings"]} | RANKINGS,
        parameters={"params:options": "params:comparison", "params:sofi": "params:sofi"},
    )
