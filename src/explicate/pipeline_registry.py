"""The pipelines of this project: every folder of `explicate.pipelines`; the default run is all of them."""

import warnings

from kedro.framework.project import find_pipelines
from kedro.pipeline import Pipeline


def register_pipelines() -> dict[str, Pipeline]:
    """
    Find the pipelines by their folders.

    Returns
    -------
    dict
        Stage name -> Pipeline, and their sum as ``__default__``.
    """
    with warnings.catch_warnings():
        # A stage that reads another stage's dataset names it with its namespace's dot, as it must.
        warnings.filterwarnings("ignore", message="One or more dataset names contain '.'")
        pipelines = find_pipelines(raise_errors=True)
    pipelines["__default__"] = sum(pipelines.values(), Pipeline([]))
    return pipelines
