"""Table of contents of the stage `data_loading`."""

from kedro.pipeline import Node, Pipeline

from explicate.pipelines.data_loading.nodes import check_raw_table, split_rows


def create_pipeline() -> Pipeline:
    """Return the stage: raw table -> checked table and problem -> three tables."""
    return Pipeline(
        [
            Node(
                check_raw_table, ["raw_table", "params:options"], ["checked_table", "problem"], name="check_raw_table"
            ),
            Node(
                split_rows,
                ["checked_table", "problem", "params:options"],
                ["train", "validation", "test"],
                name="split_rows",
            ),
        ],
        namespace="data_loading",
        inputs={"raw_table"},
        outputs={"checked_table", "problem", "train", "validation", "test"},
        parameters={"params:options": "params:data_loading"},
    )
