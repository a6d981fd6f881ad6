"""Table of contents of the stage `comparison`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.comparison.nodes import compare_rankings

SHARED = ["model", "train", "reliable", "problem"]
#: Method -> the table (``feature``, ``rank``) its stage stores; a line here has a method of yours compared.
RANKINGS = {"sofi": "sofi.ranking_table", "mistic": "mistic.ranking_table"}


def create_pipeline() -> Pipeline:
    """Return the stage: model, reliable rows and rankings -> scores, agreement and their figures."""
    stored = {"pcfi_importance": "pcfi.importance_table", "sofi_metrics": "sofi.explanation_metrics"} | RANKINGS
    shared = [*SHARED, "extra_rankings"]
    arguments = {name: name for name in shared} | stored
    return Pipeline(
        [
            Node(
                compare_rankings,
                arguments | {"protocol": "params:sofi", "options": "params:options"},
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
        inputs={*shared, *stored.values()},
        parameters={"params:options": "params:comparison", "params:sofi": "params:sofi"},
    )
