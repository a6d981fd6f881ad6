"""Table of contents of the stage `reporting`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.reporting.nodes import write_report

SHARED = ["problem", "model", "reliable", "run_warnings"]

#: Datasets of finished stages; the node knows ``sofi.ranking_table`` as ``sofi_ranking_table``.
FINISHED = [
    "model_training.scores_metrics",
    "reliable_instances.counts_table",
    "sofi.ranking_table",
    "sofi.curves_table",
    "sofi.stability_table",
    "sofi.explanation_metrics",
    "sofi.summary_text",
    "sofi.local_table",
    "pcfi.importance_table",
    "pcfi.summary_text",
    "prototypes.prototypes_table",
    "prototypes.scores_table",
    "prototypes.summary_text",
    "prototypes.alike_table",
    "prototypes.alike_text",
    "mistic.ranking_table",
    "mistic.performance_table",
    "mistic.selection_metrics",
    "mistic.summary_text",
    "mistic.explanation_text",
    "comparison.scores_table",
    "comparison.agreement_table",
    "comparison.summary_text",
]


def create_pipeline() -> Pipeline:
    """Return the stage: what other stages stored -> the page."""
    arguments = {name: name for name in [*SHARED, "parameters"]} | {"options": "params:options"}
    arguments |= {name.replace(".", "_"): name for name in FINISHED}
    return Pipeline(
        [Node(write_report, arguments, "report", name="write_report")],
        namespace="reporting",
        inputs={*SHARED, *FINISHED},
        outputs={"report"},
        parameters={"params:options": "params:reporting"},
    )
