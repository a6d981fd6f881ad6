"""One MLflow run per Kedro run: what is logged stands in the catalog, how it ended stands in its status."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
import traceback
from typing import Any

from kedro.config import MissingConfigException
from kedro.framework.hooks import hook_impl

logger = logging.getLogger(__name__)


class WarningLog(logging.Handler):
    """Keep every warning of a run, Python's included (Kedro sends those to the log)."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Store one line per record."""
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage().strip()}")


class TrackingHook:
    """
    Track a run as ``conf/<env>/mlflow.yml`` says.

    A catalog entry takes part by ``metadata: {mlflow: {log: KIND}}``, KIND being ``metrics``, ``table``, ``figure``,
    ``text``, ``artifact``, ``input`` (with ``context``) or ``model`` (with ``example``, a table, and ``register``, a
    name). The run ends FINISHED, FAILED with the traceback, or KILLED (Ctrl-C, SIGTERM); a run whose process vanished
    is marked KILLED when the next one starts. Failing to start tracking stops the run before any work; failing to
    log something later is a warning.
    """

    def __init__(self) -> None:
        self._config: dict[str, Any] = {}
        self._parameters: dict[str, Any] = {}
        self._run: Any = None
        self._catalog: Any = None
        self._seen: set[str] = set()
        self._lock = threading.Lock()
        self._warnings = WarningLog()
        self._pid = 0

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
    def before_pipeline_run(self, run_params: dict[str, Any], catalog: Any) -> None:
        """Open the run with its parameters and tags."""
        if not self._config.get("enabled", False):
            return
        from explicate.hooks.store import TrackedRun

        self._catalog, self._seen, self._pid = catalog, set(), os.getpid()
        self._warnings.lines.clear()
        logging.getLogger().addHandler(self._warnings)
        self._run = TrackedRun.start(self._config, run_params, self._parameters)
        logger.info("MLflow run %s (%s) in experiment %s", self._run.name, self._run.run_id, self._run.experiment)
        atexit.register(self._killed)
        on_main_thread = threading.current_thread() is threading.main_thread()
        if on_main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))

    @hook_impl
    def after_dataset_saved(self, dataset_name: str, data: Any) -> None:
        """Log what the catalog says of a dataset just saved."""
        self._log(dataset_name, data)

    @hook_impl
    def after_dataset_loaded(self, dataset_name: str, data: Any) -> None:
        """Log an input table that an earlier run saved."""
        if self._recipe(dataset_name).get("log") == "input":
            self._log(dataset_name, data)

    @hook_impl
    def after_pipeline_run(self, pipeline: Any) -> None:
        """Log what worker processes saved, register models, and finish."""
        if not self._active():
            return
        for name in sorted(pipeline.all_outputs()):
            # Under ParallelRunner nodes run in processes that have no run; their datasets are read back here.
            kind = self._recipe(name).get("log")
            if kind and name not in self._seen:
                stored = kind in ("figure", "text", "artifact")  # the file itself is logged
                self._log(name, None if stored else self._catalog.load(name))
        self._attempt("register models", lambda run: run.register_models())
        self._end("FINISHED")

    @hook_impl
    def on_pipeline_error(self, error: Exception) -> None:
        """Mark the run FAILED and keep the traceback."""
        if self._active():
            text = "".join(traceback.format_exception(error))
            self._attempt("log the error", lambda run: run.log_error(text))
            self._end("FAILED")

    def _active(self) -> bool:
        return self._run is not None and os.getpid() == self._pid

    def _recipe(self, name: str) -> dict[str, Any]:
        if not self._active():
            return {}
        metadata = getattr(self._catalog.get(name), "metadata", None) or {}
        return metadata.get("mlflow") or {}

    def _log(self, name: str, data: Any) -> None:
        recipe = self._recipe(name)
        with self._lock:
            if not recipe or name in self._seen:
                return
            self._seen.add(name)
        self._attempt(f"log dataset {name!r}", lambda run: run.log(name, data, recipe, self._catalog))

    def _attempt(self, what: str, action: Any) -> None:
        """Do it, or warn: a log line lost must not lose the computation."""
        try:
            action(self._run)
        except Exception as error:
            logger.warning("could not %s in MLflow: %s: %s", what, type(error).__name__, error)

    def _killed(self) -> None:
        """At exit of the interpreter with a run still open: Kedro calls no hook on Ctrl-C."""
        if self._active():
            self._end("KILLED")

    def _end(self, status: str) -> None:
        logging.getLogger().removeHandler(self._warnings)
        self._attempt("close the run", lambda run: run.end(status, self._warnings.lines))
        self._run = None
        atexit.unregister(self._killed)
