"""A small Kedro project with this project's hooks, and what its runs left in MLflow."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

NODES = """
import os, time, warnings
import pandas as pd
from matplotlib.figure import Figure
from sklearn.tree import DecisionTreeClassifier

def make():
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0], "whole": [1, 2, 3, 4], "kind": ["a", "a", "b", "b"]})
    return table, {"target": "kind", "features": ["x", "whole"]}

def train(table, options):
    warnings.warn("a warning to keep")
    if options["fail"]:
        raise ValueError("the column 'x' is odd")
    model = DecisionTreeClassifier(random_state=0).fit(table[["x", "whole"]], table["kind"])
    figure = Figure()
    figure.subplots().plot([0, 1])
    scores = {"model.test.accuracy": 0.75, "stage.recall.f(x)": 0.5, "stage.area": float("nan")}
    ranking = pd.DataFrame({"feature": ["whole", "x"], "rank": [2, 1]})
    return model, scores, figure, ranking, "All is well.\\nAnd more.", "<h1>report</h1>", {"stage.held": 2.0}

def wait(model, options):
    if options["wait"]:
        open("waiting", "w").close()
        time.sleep(60)
    return "done"
"""
REGISTRY = """
from kedro.pipeline import Node, Pipeline
from tiny.nodes import make, train, wait

def register_pipelines():
    outputs = ["model", "stage.scores_metrics", "stage.curve_figure", "stage.ranking_table", "stage.summary_text",
               "stage.page", "stage.held_metrics"]
    return {"__default__": Pipeline([
        Node(make, None, ["table", "problem"], name="make"),
        Node(train, ["table", "params:options"], outputs, name="train"),
        Node(wait, ["model", "params:options"], "ending", name="wait"),
    ])}
"""
CATALOG = """
table:
  type: explicate.datasets.TableDataset
  filepath: data/table.parquet
  metadata: {mlflow: {log: input, context: training}}
problem: {type: json.JSONDataset, filepath: data/problem.json}
model:
  type: pickle.PickleDataset
  filepath: data/model.pickle
  metadata: {mlflow: {log: model, example: table, register: tiny}}
stage.page: {type: text.TextDataset, filepath: data/report.html, metadata: {mlflow: {log: artifact}}}
"{stage}.{name}_metrics":
  {type: json.JSONDataset, filepath: "data/{stage}/{name}.json", metadata: {mlflow: {log: metrics}}}
"{stage}.{name}_figure":
  {type: matplotlib.MatplotlibDataset, filepath: "data/{stage}/{name}.png", metadata: {mlflow: {log: figure}}}
"{stage}.{name}_table":
  {type: explicate.datasets.TableDataset, filepath: "data/{stage}/{name}.parquet", metadata: {mlflow: {log: table}}}
"{stage}.{name}_text":
  {type: text.TextDataset, filepath: "data/{stage}/{name}.txt", metadata: {mlflow: {log: text}}}
"""


class TinyProject:
    """A project on disk that is run by the kedro command."""

    def __init__(self, folder: Path, database: Path | None = None) -> None:
        self.folder = folder
        ours = Path(__file__).parents[2]
        pyproject = '[tool.kedro]\npackage_name = "tiny"\nproject_name = "tiny"\nkedro_init_version = "1.7.0"\n'
        self.write("pyproject.toml", pyproject)
        self.write(".telemetry", "consent: false\n")
        self.write("src/tiny/__init__.py", "")
        self.write("src/tiny/nodes.py", NODES)
        self.write("src/tiny/pipeline_registry.py", REGISTRY)
        self.write("src/tiny/settings.py", (ours / "src/explicate/settings.py").read_text())
        self.write("conf/logging.yml", (ours / "conf/logging.yml").read_text())
        self.write("conf/base/catalog.yml", CATALOG)
        self.write("conf/base/parameters.yml", f"options: {{fail: false, wait: false, note: {'x' * 7000}}}\n")
        self.write("conf/base/mlflow.yml", "enabled: true\ntracking_uri: sqlite:///mlflow.db\nartifacts: mlartifacts\n")
        (folder / "conf/local").mkdir(parents=True)
        if database:
            shutil.copy(database, folder / "mlflow.db")

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def start(self, *arguments: str) -> subprocess.Popen:
        inherited = {key: value for key, value in os.environ.items() if not key.startswith("MLFLOW_TRACKING")}
        return subprocess.Popen(
            [sys.executable, "-m", "kedro", "run", *arguments],
            cwd=self.folder,
            env={**inherited, "PYTHONPATH": str(self.folder / "src")},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A shell that starts tests in the background ignores Ctrl-C, and so would every child.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        process = self.start(*arguments)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    @property
    def client(self):
        import mlflow

        return mlflow.MlflowClient(f"sqlite:///{self.folder / 'mlflow.db'}")

    def runs(self, experiment: str = "base") -> list:
        return self.client.search_runs([self.client.get_experiment_by_name(experiment).experiment_id])

    def artifacts(self, run, folder: str | None = None) -> set[str]:
        return {entry.path for entry in self.client.list_artifacts(run.info.run_id, folder)}


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    """MLflow's tables, made once: making them takes longer than a run."""
    import mlflow

    from explicate.hooks.store import quiet

    path = tmp_path_factory.mktemp("database") / "mlflow.db"
    with quiet():
        mlflow.MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def project(tmp_path, empty_database):
    return TinyProject(tmp_path / "project", empty_database)


@pytest.fixture(autouse=True)
def _no_store_of_another_test():
    """Forget what ``mlflow.set_tracking_uri`` puts into the environment."""
    os.environ.pop("MLFLOW_TRACKING_URI", None)
    yield
    os.environ.pop("MLFLOW_TRACKING_URI", None)
