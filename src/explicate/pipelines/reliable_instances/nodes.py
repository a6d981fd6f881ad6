"""Nodes of the stage `reliable_instances`."""

import logging
from typing import Any

import pandas as pd

from explicate.pipelines.reliable_instances.options import ReliableInstances
from explicate.tables import Problem, features_and_target

logger = logging.getLogger(__name__)


def select_rows(
    model: Any, test: pd.DataFrame, problem: Problem, options: ReliableInstances
) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, float]]:
    """Keep reliable test rows (a stratified sample of them when capped); count what was kept."""
    from explicate.reliability import count_kept, select_reliable_instances
    from explicate.sampling import sample_stratified

    X, y = features_and_target(test, problem)
    _, mask = select_reliable_instances(
        model, X, y, task=problem["task"], quantile=options.quantile, tolerance=options.tolerance, return_mask=True
    )
    reliable, labels = test[mask], y[mask]
    if options.max_rows is not None:
        strata = labels if problem["task"] == "classification" else None
        reliable = reliable.iloc[sample_stratified(strata, len(reliable), options.max_rows, options.random_state)]
    counts = count_kept(test, test[mask], reliable, problem)
    kept = counts["explained"].sum()
    logger.info("%d of %d test rows are reliable; %d are explained", mask.sum(), len(test), kept)
    return reliable, counts, {"reliable.share": float(mask.mean()), "reliable.rows": float(kept)}
