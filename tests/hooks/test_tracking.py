"""What a run leaves in MLflow, in every ending: read back from the database of a small project."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from explicate.hooks.names import flatten, mlflow_name
from explicate.hooks.progress import summary_lines

NODES = """
import os, time, warnings
import numpy as np, pandas as pd
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
    scores = {"stage.accuracy": 1.0, "stage.recall.f(x)": 0.5, "stage.area": float("nan")}
    return model, scores, figure, table, "All is well."

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
    outputs = ["model", "stage.scores_metrics", "stage.curve_figure", "stage.rows_table", "stage.summary_text"]
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
"{stage}.{name}_metrics":
  {type: json.JSONDataset, filepath: "data/{stage}/{name}.json", metadata: {mlflow: {log: metrics}}}
"{stage}.{name}_figure":
  {type: matplotlib.MatplotlibDataset, filepath: "data/{stage}/{name}.png", metadata: {mlflow: {log: figure}}}
"{stage}.{name}_table":
  {type: explicate.datasets.TableDataset, filepath: "data/{stage}/{name}.parquet", metadata: {mlflow: {log: table}}}
"{stage}.{name}_text":
  {type: text.TextDataset, filepath: "data/{stage}/{name}.txt", metadata: {mlflow: {log: text}}}
"""


@pytest.fixture
def project(tmp_path):
    """Write a project whose folder has a space and an umlaut, with this project's hooks."""
    root = tmp_path / "kleines projekt ü"
    files = {
        "pyproject.toml": '[tool.kedro]\npackage_name = "tiny"\nproject_name = "tiny"\nkedro_init_version = "1.7.0"\n',
        ".telemetry": "consent: false\n",
        "src/tiny/__init__.py": "",
        "src/tiny/nodes.py": NODES,
        "src/tiny/pipeline_registry.py": REGISTRY,
        "src/tiny/settings.py": (Path(__file__).parents[2] / "src/explicate/settings.py").read_text(),
        "conf/base/catalog.yml": CATALOG,
        "conf/base/parameters.yml": f"options: {{fail: false, wait: false, note: {'x' * 7000}}}\n",
        "conf/base/mlflow.yml": "enabled: true\ntracking_uri: sqlite:///mlflow.db\nartifacts: mlartifacts\n",
        "conf/local/.gitkeep": "",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return root


def command(*arguments):
    return [sys.executable, "-m", "kedro", "run", *arguments]


def environment(project):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("MLFLOW_TRACKING")}
    return {**inherited, "PYTHONPATH": f"{project / 'src'}", "DO_NOT_TRACK": "true", "MLFLOW_DISABLE_TELEMETRY": "true"}


def run(project, *arguments):
    return subprocess.run(
        command(*arguments), cwd=project, env=environment(project), capture_output=True, text=True, timeout=120
    )


def runs_of(project, experiment="base"):
    import mlflow

    client = mlflow.MlflowClient(f"sqlite:///{project / 'mlflow.db'}")
    found = client.search_runs([client.get_experiment_by_name(experiment).experiment_id])
    return client, found


def artifacts(client, run_id, folder=None):
    return {entry.path for entry in client.list_artifacts(run_id, folder)}


@pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow")  # MLflow's own, on reading a run back
@pytest.mark.filterwarnings("ignore::FutureWarning:mlflow")
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")  # MLflow leaves SQLite to the collector
@pytest.mark.end_to_end
class TestEndings:
    def test_finished_run_holds_everything(self, project):
        done = run(project, "--params", "options.fail=false")
        assert done.returncode == 0, done.stdout + done.stderr
        assert not (project / "mlruns").exists()
        client, (found,) = runs_of(project)
        run_id = found.info.run_id
        assert found.info.status == "FINISHED"
        assert found.data.metrics["stage.accuracy"] == 1.0
        assert found.data.metrics[mlflow_name("stage.recall.f(x)")] == 0.5
        assert "stage.area" not in found.data.metrics
        assert found.data.tags["metrics.not_finite"] == "stage.area = nan"
        assert found.data.tags["kedro.command"].endswith("run --params options.fail=false")
        assert found.data.tags["kedro.runner"] == "SequentialRunner"
        assert found.data.params["options.fail"] == "False"
        assert found.data.params["options.note"].startswith("sha256:")
        assert artifacts(client, run_id, "parameters") == {"parameters/options.note.txt"}
        assert artifacts(client, run_id, "figures/stage") == {"figures/stage/curve.png"}
        assert artifacts(client, run_id, "tables/stage") == {"tables/stage/rows.json"}
        assert artifacts(client, run_id, "texts/stage") == {"texts/stage/summary.txt"}
        assert "a warning to keep" in Path(client.download_artifacts(run_id, "warnings.txt")).read_text()
        (dataset,) = found.inputs.dataset_inputs
        assert dataset.dataset.name == "table"
        assert dataset.dataset.digest
        assert client.get_registered_model("tiny").latest_versions

    def test_logged_model_predicts_what_the_run_predicted(self, project):
        import joblib
        import mlflow
        import pandas as pd

        assert run(project).returncode == 0
        _, (found,) = runs_of(project)
        mlflow.set_tracking_uri(f"sqlite:///{project / 'mlflow.db'}")
        (output,) = found.outputs.model_outputs
        logged = mlflow.sklearn.load_model(f"models:/{output.model_id}")
        rows = pd.DataFrame({"x": [0.5, 2.5, 1.5], "whole": [1, 4, 2]})
        saved = joblib.load(project / "data/model.pickle")
        assert np.array_equal(logged.predict_proba(rows), saved.predict_proba(rows))

    def test_failed_run_keeps_the_traceback_and_registers_nothing(self, project):
        done = run(project, "--params", "options.fail=true")
        assert done.returncode != 0
        client, (found,) = runs_of(project)
        assert found.info.status == "FAILED"
        assert "ValueError: the column 'x' is odd" in found.data.tags["kedro.error"]
        assert "error.txt" in artifacts(client, found.info.run_id)
        assert not client.search_registered_models()

    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_interrupted_run_is_killed(self, project, how):
        process = subprocess.Popen(
            command("--params", "options.wait=true"),
            cwd=project,
            env=environment(project),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for _ in range(600):
            if (project / "waiting").exists():
                break
            time.sleep(0.1)
        process.send_signal(how)
        assert process.wait(timeout=60) != 0
        _, (found,) = runs_of(project)
        if how == signal.SIGKILL:
            assert found.info.status == "RUNNING"
            assert run(project).returncode == 0  # the next start sweeps it
            _, found = runs_of(project)
            assert sorted(one.info.status for one in found) == ["FINISHED", "KILLED"]
        else:
            assert found.info.status == "KILLED"

    @pytest.mark.parametrize("runner", ["ThreadRunner", "ParallelRunner"])
    def test_other_runners_make_one_whole_run(self, project, runner):
        done = run(project, "--runner", runner)
        assert done.returncode == 0, done.stdout + done.stderr
        client, (found,) = runs_of(project)
        assert found.info.status == "FINISHED"
        assert found.data.metrics["stage.accuracy"] == 1.0
        assert artifacts(client, found.info.run_id, "figures/stage") == {"figures/stage/curve.png"}
        assert len(client.search_experiments()) == 2  # ours and MLflow's empty Default

    def test_environment_names_the_experiment_and_can_switch_off(self, project):
        for name, text in (("other", "tags: {team: demo}\n"), ("off", "enabled: false\n")):
            (project / "conf" / name).mkdir()
            (project / "conf" / name / "mlflow.yml").write_text(text)
        assert run(project, "--env", "off").returncode == 0
        assert not (project / "mlflow.db").exists()
        assert run(project, "--env", "other").returncode == 0
        _, (found,) = runs_of(project, "other")
        assert found.data.tags["team"] == "demo"

    def test_an_unreachable_store_stops_the_run_before_any_node(self, project):
        (project / "conf/base/mlflow.yml").write_text("enabled: true\ntracking_uri: sqlite:////proc/no/such/x.db\n")
        assert run(project).returncode != 0
        assert not (project / "data/table.parquet").exists()


def test_names_mlflow_refuses_do_not_collide():
    names = ["a(b)", "a[b]", "a_b_", "../a", "/a", "a//b", "", ".", "x" * 300, "x" * 301, "prix (€)"]
    cleaned = [mlflow_name(name) for name in names]
    assert len(set(cleaned)) == len(names)
    assert mlflow_name("sofi.ds") == "sofi.ds"
    from mlflow.utils.validation import _validate_metric_name

    for name in cleaned:
        _validate_metric_name(name)


def test_nested_parameters_become_dotted():
    assert flatten({"a": {"b": 1, "c": {"d": [1]}}, "e": {}}) == {"a.b": 1, "a.c.d": [1], "e": {}}


def test_summary_has_at_most_twelve_lines():
    saved = {f"stage{i}.summary_text": f"line {i}\nmore" for i in range(30)}
    lines = list(summary_lines({"m.scores_metrics": {"model.test.r2": 0.5, "model.test.recall.a": 1.0}, **saved}))
    assert len(lines) == 12
    assert lines[0] == "test r2 0.500"
