"""Where parallel work goes: one file of configuration, no line of code."""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack
from typing import Any

from kedro.config import MissingConfigException
from kedro.framework.hooks import hook_impl

_KEYS = ("backend", "n_jobs", "inner_max_num_threads", "blas_threads", "dask")
_BACKENDS = ("loky", "threading", "multiprocessing", "dask")


class ComputeHook:
    """
    Enter ``joblib.parallel_config`` as ``conf/<env>/compute.yml`` says, for the length of a run.

    ``backend`` is joblib's (loky, threading, dask); with dask, the mapping ``dask`` goes to ``distributed.Client``
    (an ``address``, or ``n_workers`` for a cluster on this machine). ``inner_max_num_threads`` limits the BLAS threads
    of each loky or dask worker, ``blas_threads`` those of this process (for the threading backend). The setting belongs
    to the thread that runs the pipeline: under Kedro's ThreadRunner and ParallelRunner nodes fall back to one worker.
    """

    def __init__(self) -> None:
        self._config: dict[str, Any] = {}
        self._stack = ExitStack()

    @hook_impl
    def after_context_created(self, context: Any) -> None:
        """Read the configuration of the run's environment."""
        try:
            self._config = check_config(context.config_loader["compute"])
        except (KeyError, MissingConfigException):
            self._config = {}

    @hook_impl(tryfirst=True)  # a cluster that cannot be reached is known before a tracked run is opened
    def before_pipeline_run(self) -> None:
        """Enter the parallel configuration."""
        self._stack.close()  # of a run that Ctrl-C ended in a notebook
        keywords = dict(self._config)
        cluster, threads = keywords.pop("dask", {}), keywords.pop("blas_threads", None)
        if keywords.get("backend") == "dask":
            self._stack.enter_context(_dask_client(cluster))
        if threads is not None:
            import scipy.linalg  # noqa: F401  # only libraries that are loaded can be limited
            from threadpoolctl import threadpool_limits

            self._stack.enter_context(threadpool_limits(limits=threads))
        if keywords:
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


def check_config(config: dict[str, Any]) -> dict[str, Any]:
    """
    Return the settings of compute.yml that are set.

    Raises
    ------
    ValueError
        For an unknown setting or backend.

    Examples
    --------
    >>> check_config({"backend": "threading", "n_jobs": 2, "dask": None})
    {'backend': 'threading', 'n_jobs': 2}
    """
    for key in config:
        if key not in _KEYS:
            raise ValueError(f"compute.yml: {key!r} is no setting; use {', '.join(_KEYS)}.")
    given = {key: value for key, value in config.items() if value is not None}
    if given.get("backend", "loky") not in _BACKENDS:
        raise ValueError(f"compute.yml: backend={given['backend']!r} is not known; use {', '.join(_BACKENDS)} or null.")
    if given.get("dask") and given.get("backend") != "dask":
        raise ValueError("compute.yml: dask settings need backend: dask.")
    return given


def _dask_client(cluster: dict[str, Any]) -> Any:
    # Dask tells eighty lines of itself a run: quiet in its workers (the variable) and here (the logger).
    os.environ.setdefault("DASK_DISTRIBUTED__LOGGING__DISTRIBUTED", "warning")
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            'compute.yml: backend: dask needs the package distributed; pip install -e ".[dask]"'
        ) from error
    logging.getLogger("distributed").setLevel(logging.WARNING)
    local = {} if "address" in cluster else {"processes": bool(cluster), "dashboard_address": None}
    return Client(**{**local, **cluster})
