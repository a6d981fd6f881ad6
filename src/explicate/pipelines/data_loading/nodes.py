"""Nodes of the stage `data_loading`."""

import pandas as pd

from explicate.pipelines.data_loading.options import DataLoading
from explicate.tables import Problem


def check_raw_table(raw: pd.DataFrame, options: DataLoading) -> tuple[pd.DataFrame, Problem]:
    """Check the user's table; return it with the problem it poses."""
    from explicate.tables import check_table

    return check_table(
        raw,
        options.target,
        task=options.task,
        drop=options.drop,
        categorical=options.categorical,
        positive_class=options.positive_class,
    )


def split_rows(
    table: pd.DataFrame, problem: Problem, options: DataLoading
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Split the checked rows into train, validation and test."""
    from explicate.sampling import split_table

    return split_table(
        table,
        problem,
        validation_size=options.validation_size,
        test_size=options.test_size,
        sample_rows=options.sample_rows,
        random_state=options.random_state,
    )
