"""The MLflow side of a tracked run: opening it, logging by kind, closing it. MLflow is imported here alone."""

from __future__ import annotations

import hashlib
import math
import os
import platform
import re
import shlex
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable
from importlib import metadata as packages
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from explicate.hooks.names import flatten, mlflow_name

#: Packages whose versions decide a result.
VERSIONS = ("explicate", "kedro", "mlflow", "numpy", "pandas", "scikit-learn", "numba", "shap", "kmedoids")
#: Rows of a table that MLflow's page shows; the whole table is in the catalog.
MAX_TABLE_ROWS = 2000
_MAX_PARAM, _MAX_TAG = 6000, 8000


class TrackedRun:
    """An open MLflow run, addressed by its id through the client (no global active run, safe under threads)."""

    def __init__(self, client: Any, run: Any, experiment: str, project: Path) -> None:
        self.client = client
        self.run_id = run.info.run_id
        self.name = run.info.run_name
        self.experiment = experiment
        self._project = project
        self._to_register: list[tuple[str, str]] = []
        self._flagged: list[str] = []

    @classmethod
    def start(cls, config: dict[str, Any], run_params: dict[str, Any], parameters: dict[str, Any]) -> TrackedRun:
        """Open a run in the experiment of the environment, after sweeping runs whose process is gone."""
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
        os.environ.setdefault("DO_NOT_TRACK", "true")
        import mlflow

        project = Path(run_params["project_path"])
        uri = os.environ.get("MLFLOW_TRACKING_URI") or absolute_uri(config["tracking_uri"], project)
        mlflow.set_tracking_uri(uri)  # model logging takes no client
        client = mlflow.MlflowClient(tracking_uri=uri)
        name = config.get("experiment") or run_params.get("env") or "base"
        experiment = client.get_experiment_by_name(name)
        if experiment is None:
            local = uri.startswith(("sqlite:", "file:"))
            folder = (project / config.get("artifacts", "mlartifacts") / name).as_uri() if local else None
            experiment_id = client.create_experiment(name, artifact_location=folder)
        else:
            experiment_id = experiment.experiment_id
        mlflow.set_experiment(experiment_id=experiment_id)  # logged models go to the active experiment
        _sweep(client, experiment_id)
        run = client.create_run(experiment_id, tags=_tags(run_params, config.get("tags") or {}))
        tracked = cls(client, run, name, project)
        tracked._log_parameters(parameters)
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
        for start in range(0, len(batch), 100):
            self.client.log_batch(self.run_id, params=batch[start : start + 100])

    def log(self, name: str, data: Any, recipe: dict[str, Any], catalog: Any) -> None:
        """Log one dataset by the kind its catalog entry names."""
        kinds: dict[str, Callable[..., None]] = {
            "metrics": self._log_metrics,
            "table": self._log_table,
            "figure": self._log_file,
            "text": self._log_file,
            "artifact": self._log_file,
            "input": self._log_input,
            "model": self._log_model,
        }
        kind = recipe.get("log")
        if kind not in kinds:
            raise ValueError(f"metadata.mlflow.log={kind!r} of dataset {name!r} is unknown; use one of {sorted(kinds)}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # MLflow's hints on integer columns and pickles: nothing a user can act on
            kinds[kind](name, data, recipe, catalog)

    def _log_metrics(self, name: str, data: Any, recipe: dict[str, Any], catalog: Any) -> None:
        import time

        from mlflow.entities import Metric

        now = int(time.time() * 1000)
        batch = []
        for key, value in flatten(data).items():
            if isinstance(value, bool | int | float) and math.isfinite(value):
                batch.append(Metric(mlflow_name(key), float(value), now, 0))
            else:
                self._flagged.append(f"{key} = {value}")
        for start in range(0, len(batch), 1000):
            self.client.log_batch(self.run_id, metrics=batch[start : start + 1000])

    def _log_table(self, name: str, data: pd.DataFrame, recipe: dict[str, Any], catalog: Any) -> None:
        shown = data.head(MAX_TABLE_ROWS)
        shown = shown.reset_index(names="row") if not isinstance(shown.index, pd.RangeIndex) else shown
        shown = shown.set_axis(shown.columns.map(str), axis=1)
        if len(shown):
            self.client.log_table(self.run_id, shown, f"tables/{_place(name)}.json")

    def _log_file(self, name: str, data: Any, recipe: dict[str, Any], catalog: Any) -> None:
        """Log the very file the catalog stored."""
        folder = {"figure": "figures", "text": "texts"}.get(recipe["log"], "")
        place = PurePosixPath(folder, _place(name)).parent
        self.client.log_artifact(
            self.run_id, str(catalog.get(name)._filepath), None if place == PurePosixPath(".") else str(place)
        )

    def _log_input(self, name: str, data: pd.DataFrame, recipe: dict[str, Any], catalog: Any) -> None:
        import mlflow.data
        from mlflow.entities import DatasetInput, InputTag

        named = data.set_axis(data.columns.map(str), axis=1)
        problem = catalog.load("problem") if catalog.exists("problem") else {}
        target = str(problem["target"]) if "target" in problem else None
        dataset = mlflow.data.from_pandas(named, source=str(catalog.get(name)._filepath), targets=target, name=name)
        tag = InputTag("mlflow.data.context", recipe.get("context", name))
        self.client.log_inputs(self.run_id, datasets=[DatasetInput(dataset._to_mlflow_entity(), [tag])])

    def _log_model(self, name: str, data: Any, recipe: dict[str, Any], catalog: Any) -> None:
        from mlflow.models import infer_signature

        example = catalog.load(recipe["example"])[catalog.load("problem")["features"]].head(5)
        signature = infer_signature(example, data.predict(example))
        example.columns = example.columns.map(str)
        keywords = {
            "artifact_path": None,
            "sk_model": data,
            "name": name,
            "signature": signature,
            "input_example": example if signature.inputs.has_input_names() else None,
            "pip_requirements": [f"{package}=={packages.version(package)}" for package in _packages_of(data)],
        }
        info = _log_sklearn(self.run_id, keywords)
        if recipe.get("register"):
            self._to_register.append((recipe["register"], info.model_uri))

    def register_models(self) -> None:
        """Register what the catalog asks for; called after success only."""
        from mlflow.exceptions import MlflowException

        for name, uri in self._to_register:
            try:
                self.client.create_registered_model(name)
            except MlflowException as error:
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
            self.client.create_model_version(name, source=uri, run_id=self.run_id)

    def log_error(self, text: str) -> None:
        """Keep a traceback as a tag (its end) and as an artifact (whole)."""
        self.client.set_tag(self.run_id, "kedro.error", text[-_MAX_TAG:])
        self.client.log_text(self.run_id, text, "error.txt")

    def end(self, status: str, warned: list[str]) -> None:
        """Log the run's warnings and metrics that are no numbers, and close it."""
        if warned:
            self.client.log_text(self.run_id, "\n".join(warned) + "\n", "warnings.txt")
        if self._flagged:
            self.client.set_tag(self.run_id, "metrics.not_finite", "; ".join(self._flagged)[:_MAX_TAG])
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


def _sweep(client: Any, experiment_id: str) -> None:
    """Close runs of this machine that were left open by a process that is gone (SIGKILL, power)."""
    running = client.search_runs([experiment_id], filter_string="attributes.status = 'RUNNING'")
    for run in running:
        host, _, pid = run.data.tags.get("kedro.process", "").rpartition(":")
        if host == socket.gethostname() and pid.isdigit() and not _alive(int(pid)):
            client.set_terminated(run.info.run_id, status="KILLED")


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _tags(run_params: dict[str, Any], own: dict[str, str]) -> dict[str, str]:
    project = run_params["project_path"]
    command = [Path(sys.argv[0]).name, *sys.argv[1:]]
    tags = {
        "kedro.env": run_params.get("env") or "base",
        "kedro.pipelines": ", ".join(run_params.get("pipeline_names") or []) or "__default__",
        "kedro.command": shlex.join(command),
        "kedro.runner": _runner_name(run_params.get("runner")),
        "kedro.process": f"{socket.gethostname()}:{os.getpid()}",
        "version.python": platform.python_version(),
        "mlflow.source.name": shlex.join(command),
        "mlflow.source.type": "PROJECT",
    }
    for package in VERSIONS:
        try:
            tags[f"version.{package}"] = packages.version(package)
        except packages.PackageNotFoundError:
            continue
    commit = _git(project, "rev-parse", "HEAD")
    if commit:
        changed = _git(project, "status", "--porcelain", "--untracked-files=no")
        tags |= {"mlflow.source.git.commit": commit, "git.uncommitted_changes": str(bool(changed)).lower()}
    return {key: str(value)[:_MAX_TAG] for key, value in {**tags, **own}.items()}


def _runner_name(runner: Any) -> str:
    """Find the class name in what Kedro hands over: a name, a runner, or a runner's repr."""
    found = re.search(r"\w+Runner", str(runner))
    return found.group() if found else str(runner)


def _git(project: str, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(project), *arguments], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _place(name: str) -> str:
    """``sofi.ranking_table`` -> ``sofi/ranking``: one folder a stage."""
    stage, _, rest = name.rpartition(".")
    return str(PurePosixPath(*stage.split("."), rest.rpartition("_")[0] or rest)) if stage else rest


def _packages_of(model: Any) -> list[str]:
    from explicate.core.encoding import split_model

    estimator = split_model(model)[1]
    modules = {type(part).__module__.partition(".")[0] for part in (estimator, getattr(estimator, "estimator", None))}
    known = {"sklearn": "scikit-learn", "lightgbm": "lightgbm", "xgboost": "xgboost-cpu", "explicate": "explicate"}
    named = [known[module] for module in sorted(modules) if module in known]
    return list(dict.fromkeys(["scikit-learn", "numpy", "pandas", *named]))


def _log_sklearn(run_id: str, keywords: dict[str, Any]) -> Any:
    """Log a model by skops, which loads without running code, or by cloudpickle where skops cannot."""
    import mlflow.sklearn
    import skops.io
    from mlflow.models import Model

    try:
        trusted = skops.io.get_untrusted_types(data=skops.io.dumps(keywords["sk_model"]))
        own = {"serialization_format": "skops", "skops_trusted_types": trusted}
        return Model.log(flavor=mlflow.sklearn, run_id=run_id, **keywords, **own)
    except Exception:
        return Model.log(flavor=mlflow.sklearn, run_id=run_id, **keywords, serialization_format="cloudpickle")
