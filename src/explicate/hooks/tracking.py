"""One MLflow run per Kedro run: what is logged stands in the catalog, how it ended stands in its status."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from kedro.config import MissingConfigException
from kedro.framework.hooks import hook_impl
from kedro.io import SharedMemoryDataCatalog

from explicate.hooks.noted import RUN_WARNINGS
from explicate.hooks.summary import summarise

logger = logging.getLogger(__name__)

#: Signals that ask a process to end: a terminal that closes, a batch system that stops a job.
_ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class TrackingHook:
    """
    Track a run as ``conf/<env>/mlflow.yml`` says.

    A catalog entry takes part by ``metadata: {mlflow: {log: KIND}}``, KIND being ``metrics``, ``table``, ``figure``,
    ``text``, ``artifact``, ``input`` (with ``context``) or ``model`` (with ``example``, a table the model can predict,
    and ``register``, a name). The run ends FINISHED, FAILED with the traceback, or KILLED (Ctrl-C, SIGTERM, SIGHUP); a
    run whose process vanished is marked KILLED when the next one starts. Failing to start tracking stops the run
    before any work; failing to log something later is a warning.
    """

    def __init__(self) -> None:
        self._config: dict[str, Any] = {}
        self._parameters: dict[str, Any] = {}
        self._recipes: dict[str, dict[str, Any]] = {}
        self._run: Any = None
        self._catalog: Any = None
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self._pid = 0
        self._handled: list[int] = []

    @hook_impl
    def after_context_created(self, context: Any) -> None:
        """Read the configuration of the run's environment."""
        try:
            self._config = dict(context.config_loader["mlflow"])
        except (KeyError, MissingConfigException):
            self._config = {}

    @hook_impl
    def after_catalog_created(self, parameters: dict[str, Any]) -> None:
        """Keep the parameters, defaults of typed ones included."""
        self._parameters = parameters.get("parameters", parameters)

    @hook_impl
    def before_pipeline_run(self, run_params: dict[str, Any], pipeline: Any, catalog: Any) -> None:
        """Open the run with its parameters and tags."""
        self._killed()  # a notebook's earlier run that Ctrl-C left open
        RUN_WARNINGS.start()
        if not self._config.get("enabled", False):
            return
        from explicate.hooks.kinds import read_recipes
        from explicate.hooks.store import TrackedRun

        self._catalog, self._recipes = catalog, read_recipes(pipeline, catalog)
        self._seen, self._pid = set(), os.getpid()
        self._run = TrackedRun.start(self._config, run_params, self._parameters)
        atexit.register(self._killed)
        self._handle_signals()
        logger.info("MLflow run %s (%s) in experiment %s", self._run.name, self._run.run_id, self._run.experiment)

    @hook_impl
    def after_dataset_saved(self, dataset_name: str, data: Any) -> None:
        """Log what the catalog says of a dataset just saved."""
        self._log(dataset_name, data)

    @hook_impl
    def after_dataset_loaded(self, dataset_name: str, data: Any) -> None:
        """Log an input table that an earlier run saved."""
        if self._recipes.get(dataset_name, {}).get("log") == "input":
            self._log(dataset_name, data)

    @hook_impl
    def after_pipeline_run(self, pipeline: Any) -> None:
        """Log what worker processes saved, register models, and finish."""
        if not self._active():
            RUN_WARNINGS.stop()
            return
        if isinstance(self._catalog, SharedMemoryDataCatalog):
            # Under ParallelRunner nodes run in processes that have no run; their datasets are read back here.
            inputs = {name for name in pipeline.inputs() if self._recipes.get(name, {}).get("log") == "input"}
            for name in sorted(pipeline.all_outputs() | inputs):
                self._log(name)
        self._attempt("register models", lambda run: run.register_models())
        self._attempt("log the summary", lambda run: run.log_summary(summarise(pipeline, self._catalog)))
        run = self._run
        self._end("FINISHED")
        logger.info("MLflow run %s (%s) in experiment %s is finished", run.name, run.run_id, run.experiment)

    @hook_impl
    def on_pipeline_error(self, error: Exception) -> None:
        """Mark the run FAILED and keep the traceback."""
        RUN_WARNINGS.stop()
        if self._active():
            text = "".join(traceback.format_exception(error))
            self._attempt("log the error", lambda run: run.log_error(text))
            self._end("FAILED")

    def _active(self) -> bool:
        return self._run is not None and os.getpid() == self._pid

    def _log(self, name: str, data: Any = None) -> None:
        if not self._active() or name not in self._recipes:
            return
        with self._lock:
            if name in self._seen:
                return
            self._seen.add(name)
        from explicate.hooks.kinds import Item, log_item

        item = Item(name, self._recipes[name], self._catalog, data)
        self._attempt(f"log dataset {name!r}", lambda run: log_item(run, item))

    def _attempt(self, what: str, action: Callable[[Any], None]) -> None:
        """Do it, one at a time, or warn: a log line lost must not lose the computation."""
        try:
            with self._lock:
                action(self._run)
        except Exception as error:
            logger.warning("could not %s in MLflow: %s: %s", what, type(error).__name__, error)

    def _handle_signals(self) -> None:
        """Leave by SystemExit on signals that end a process, so that `atexit` closes the run."""
        if threading.current_thread() is threading.main_thread():
            self._handled = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_DFL]
            for number in self._handled:
                signal.signal(number, lambda received, frame: sys.exit(128 + received))

    def _killed(self) -> None:
        """Close a run that is still open: at exit of the interpreter, since Kedro calls no hook on Ctrl-C."""
        if self._active():
            self._end("KILLED")

    def _end(self, status: str) -> None:
        RUN_WARNINGS.stop()
        self._attempt("close the run", lambda run: run.end(status, RUN_WARNINGS.lines()))
        self._run = None
        atexit.unregister(self._killed)
        if threading.current_thread() is threading.main_thread():
            for number in self._handled:
                signal.signal(number, signal.SIG_DFL)
        self._handled = []
