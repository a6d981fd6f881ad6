"""Where parallel work goes: one file of configuration, no line of code."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from kedro.config import MissingConfigException
from kedro.framework.hooks import hook_impl


class ComputeHook:
    """
    Enter ``joblib.parallel_config`` with the keywords of ``conf/<env>/compute.yml`` for the length of a run.

    ``backend`` is joblib's (loky, threading, dask); with dask, the mapping ``dask`` goes to ``distributed.Client``
    (an ``address``, or ``n_workers`` for a cluster on this machine). The setting belongs to the thread that runs the
    pipeline: under Kedro's ThreadRunner and ParallelRunner nodes fall back to one worker each.
    """

    def __init__(self) -> None:
        self._config: dict[str, Any] = {}
        self._stack = ExitStack()

    @hook_impl
    def after_context_created(self, context: Any) -> None:
        """Read the configuration of the run's environment."""
        try:
            self._config = dict(context.config_loader["compute"])
        except (KeyError, MissingConfigException):
            self._config = {}

    @hook_impl
    def before_pipeline_run(self) -> None:
        """Enter the parallel configuration."""
        keywords = {key: value for key, value in self._config.items() if value is not None}
        cluster = keywords.pop("dask", None)
        if not keywords:
            return
        if keywords.get("backend") == "dask":
            from distributed import Client

            self._stack.enter_context(Client(**(cluster or {"processes": False})))
        from joblib import parallel_config

        self._stack.enter_context(parallel_config(**keywords))

    @hook_impl
    def after_pipeline_run(self) -> None:
        """Leave it."""
        self._stack.close()

    @hook_impl
    def on_pipeline_error(self) -> None:
        """Leave it."""
        self._stack.close()
