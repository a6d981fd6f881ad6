"""An MLflow run from its opening to its end."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from explicate.hooks.names import flatten, mlflow_name
from explicate.hooks.provenance import PROCESS_TAG, process_is_gone, run_tags

_MAX_PARAM, _MAX_TAG, _MAX_BATCH = 6000, 8000, 100
_SERVERS = ("http:", "https:", "databricks")


class TrackedRun:
    """
    An open MLflow run, addressed by its id through the client (no global active run, safe under threads).

    Attributes
    ----------
    client : mlflow.MlflowClient
    run_id, name, experiment : str
    not_finite : list of str
        Metrics that are no finite numbers, as ``name = value``.
    notes : list of str
        What was logged in another form than the catalog holds it.
    models : list of tuple
        ``(registered name, model address)`` to register if the run succeeds.
    """

    def __init__(self, client: Any, run: Any, experiment: str) -> None:
        self.client = client
        self.run_id: str = run.info.run_id
        self.name: str = run.info.run_name
        self.experiment = experiment
        self.not_finite: list[str] = []
        self.notes: list[str] = []
        self.models: list[tuple[str, str]] = []

    @classmethod
    def start(cls, config: dict[str, Any], run_params: dict[str, Any], parameters: dict[str, Any]) -> TrackedRun:
        """
        Open a run in the experiment of the environment, after sweeping runs whose process is gone.

        Parameters
        ----------
        config : dict
            Of ``conf/<env>/mlflow.yml``.
        run_params : dict
            What Kedro tells hooks of a run.
        parameters : dict
            Parameters of the project, typed or not.

        Raises
        ------
        RuntimeError
            When the store cannot be used, or the experiment was deleted in MLflow; with what to do about it.
        """
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("DO_NOT_TRACK", "true")
        import mlflow

        project = Path(run_params["project_path"])
        asked = os.environ.get("MLFLOW_TRACKING_URI")
        uri = absolute_uri(asked or config["tracking_uri"], project)
        mlflow.set_tracking_uri(uri)  # model logging takes no client
        if not asked:  # MLflow sets the variable itself; the next run of this process may belong to another project
            os.environ.pop("MLFLOW_TRACKING_URI", None)
        name = config.get("experiment") or run_params.get("env") or "base"
        artifacts = _artifacts(uri, project, config.get("artifacts") or "mlartifacts")
        try:
            with _one_at_a_time(artifacts), quiet():  # a new database tells of every table it makes
                client = mlflow.MlflowClient(tracking_uri=uri)
                experiment = _experiment(client, name, artifacts)
                _sweep(client)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}".partition("\n")[0]
            message = (
                f"MLflow cannot use the store {uri} ({reason}); correct tracking_uri in conf/<env>/mlflow.yml or "
                "MLFLOW_TRACKING_URI, or run without tracking by enabled: false."
            )
            # An address may hold a password, which MLflow's own traceback repeats.
            raise RuntimeError(re.sub("//[^/@ ]*@", "//***@", message)) from None
        if experiment.lifecycle_stage == "deleted":
            raise RuntimeError(
                f"The MLflow experiment {name!r} was deleted; restore it (mlflow experiments restore --experiment-id "
                f"{experiment.experiment_id}) or name another one in conf/<env>/mlflow.yml (experiment: NAME)."
            )
        experiment_id = experiment.experiment_id
        mlflow.set_experiment(experiment_id=experiment_id)  # logged models go to the active experiment
        tags = {**run_tags(run_params), **(config.get("tags") or {})}
        run = client.create_run(experiment_id, tags={key: str(value)[:_MAX_TAG] for key, value in tags.items()})
        tracked = cls(client, run, name)
        try:
            tracked._log_parameters(parameters)
        except BaseException:
            client.set_terminated(tracked.run_id, status="FAILED")
            raise
        return tracked

    def _log_parameters(self, parameters: dict[str, Any]) -> None:
        from mlflow.entities import Param

        batch = []
        for key, value in flatten(parameters).items():
            text = str(value)
            if len(text) > _MAX_PARAM:
                digest = hashlib.sha256(text.encode()).hexdigest()
                self.client.log_text(self.run_id, text, f"parameters/{mlflow_name(key)}.txt")
                text = f"sha256:{digest} (whole value in parameters/{mlflow_name(key)}.txt)"
            batch.append(Param(mlflow_name(key), text))
        for start in range(0, len(batch), _MAX_BATCH):
            self.client.log_batch(self.run_id, params=batch[start : start + _MAX_BATCH])

    def register_models(self) -> None:
        """Register what the catalog asks for; called after success only."""
        from mlflow.exceptions import MlflowException

        for name, uri in self.models:
            try:
                self.client.create_registered_model(name)
            except MlflowException as error:
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
            self.client.create_model_version(name, source=uri, run_id=self.run_id)

    def log_summary(self, lines: list[str]) -> None:
        """Show the summary as the run's description."""
        if lines:
            self.client.set_tag(self.run_id, "mlflow.note.content", "\n\n".join(lines)[:_MAX_TAG])

    def log_error(self, text: str) -> None:
        """Keep a traceback as a tag (its end) and as an artifact (whole)."""
        self.client.set_tag(self.run_id, "kedro.error", text[-_MAX_TAG:])
        self.client.log_text(self.run_id, text, "error.txt")

    def end(self, status: str, warned: Iterable[str]) -> None:
        """
        Log what was noted on the way, and close the run; it is closed even if the notes are lost.

        Parameters
        ----------
        status : {"FINISHED", "FAILED", "KILLED"}
        warned : iterable of str
            The run's warnings, a line each.
        """
        try:
            for tag, lines in (("metrics.not_finite", self.not_finite), ("tracking.notes", self.notes)):
                if lines:
                    text = "; ".join(lines)
                    if len(text) > _MAX_TAG:
                        self.client.log_text(self.run_id, "\n".join(lines) + "\n", f"{tag}.txt")
                        text = f"{len(lines)} entries, in {tag}.txt"
                    self.client.set_tag(self.run_id, tag, text)
            lines = list(warned)
            if lines:
                self.client.log_text(self.run_id, "\n".join(lines) + "\n", "warnings.txt")
        finally:
            self.client.set_terminated(self.run_id, status=status)


def absolute_uri(uri: str, project: Path) -> str:
    """
    Make a relative SQLite path absolute inside the project, whatever folder the command was given in.

    Examples
    --------
    >>> absolute_uri("sqlite:///mlflow.db", Path("/home/me/project"))
    'sqlite:////home/me/project/mlflow.db'
    """
    prefix = "sqlite:///"
    if not uri.startswith(prefix) or uri.startswith(prefix + "/"):
        return uri
    return f"{prefix}{(project / uri.removeprefix(prefix)).as_posix()}"


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence MLflow's hints (integer columns, pickles, new tables): nothing a user of this project can act on."""
    log = logging.getLogger("mlflow")
    level = log.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log.setLevel(logging.ERROR)
        try:
            yield
        finally:
            log.setLevel(level)


@contextlib.contextmanager
def _one_at_a_time(folder: Path | None) -> Iterator[None]:
    """Hold a lock on the folder: two runs that make the tables of one new database at once break each other."""
    if folder is None or sys.platform == "win32":
        yield
        return
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _artifacts(uri: str, project: Path, folder: str) -> Path | None:
    """Return the folder of artifacts: beside an SQLite file, in the project for another database, a server's own."""
    if uri.startswith(_SERVERS):
        return None
    sqlite = uri.startswith("sqlite:///")
    return (Path(uri.removeprefix("sqlite:///")).parent if sqlite else project) / folder


def _experiment(client: Any, name: str, artifacts: Path | None) -> Any:
    """Find or create the experiment."""
    from mlflow.exceptions import MlflowException

    if client.get_experiment_by_name(name) is None:
        try:
            client.create_experiment(name, artifact_location=(artifacts / name).as_uri() if artifacts else None)
        except MlflowException as error:  # on a server, another run may be faster
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
    return client.get_experiment_by_name(name)


def _sweep(client: Any) -> None:
    """Close runs of this machine that were left open by a process that is gone (SIGKILL, power)."""
    experiments = [found.experiment_id for found in client.search_experiments()]
    for run in client.search_runs(experiments, filter_string="attributes.status = 'RUNNING'"):
        if process_is_gone(run.data.tags.get(PROCESS_TAG, "")):
            client.set_terminated(run.info.run_id, status="KILLED")
