"""Table of contents of the stage `reliable_instances`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.reliable_instances.nodes import select_rows


def create_pipeline() -> Pipeline:
    """Return the stage: model and test rows -> reliable rows and their counts."""
    return Pipeline(
        [
            Node(
                select_rows,
                ["model", "test", "problem", "params:options"],
                ["reliable", "counts_table", "counts_metrics"],
                name="select_rows",
            )
        ],
        namespace="reliable_instances",
        inputs={"model", "test", "problem"},
        outputs={"reliable"},
        parameters={"params:options": "params:reliable_instances"},
    )
