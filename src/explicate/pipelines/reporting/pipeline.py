"""Table of contents of the stage `reporting`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.reporting.nodes import write_report

#: Argument of the node -> dataset of a finished stage.
FINISHED = {
    "model_scores": "model_training.scores_metrics",
    "counts": "reliable_instances.counts_table",
    "sofi_text": "sofi.summary_text",
    "sofi_ranking": "sofi.ranking_table",
    "sofi_local": "sofi.local_table",
    "pcfi_text": "pcfi.summary_text",
    "pcfi_importance": "pcfi.importance_table",
    "prototypes_text": "prototypes.summary_text",
    "prototypes_table": "prototypes.prototypes_table",
    "alike_text": "prototypes.alike_text",
    "comparison_text": "comparison.summary_text",
    "comparison_scores": "comparison.scores_table",
    "agreement": "comparison.agreement_table",
}


def create_pipeline() -> Pipeline:
    """Return the stage: what other stages stored -> the page."""
    arguments = {name: name for name in ("problem", "parameters", *FINISHED)} | {"options": "params:options"}
    return Pipeline(
        [Node(write_report, arguments, "report", name="write_report")],
        namespace="reporting",
        inputs={"problem": "problem"} | FINISHED,
        outputs={"report"},
        parameters={"params:options": "params:reporting"},
    )
