"""What whole runs leave in MLflow, in every ending: the kedro command on a small project, read back."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.hooks.conftest import TinyProject

from explicate.hooks.kinds import table_digest
from explicate.hooks.names import mlflow_name

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow"),  # MLflow's own, on reading a run back
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow"),
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run once from nothing, in a folder whose name is hard on addresses."""
    project = TinyProject(tmp_path_factory.mktemp("hard") / "kleines projekt ü 100% #1")
    code, output = project.run("--params", "options.fail=false")
    assert code == 0, output
    (run,) = project.runs()
    return project, run, output


def test_a_finished_run_holds_everything(finished):
    project, run, _ = finished
    assert run.info.status == "FINISHED"
    assert run.data.metrics == {
        "model.test.accuracy": 0.75,
        mlflow_name("stage.recall.f(x)"): 0.5,
        "stage.held": 2.0,
    }
    assert run.data.tags["metrics.not_finite"] == "stage.area = nan"
    assert run.data.tags["kedro.command"] == "python -m kedro run --params options.fail=false"
    assert run.data.tags["kedro.runner"] == "SequentialRunner"
    assert run.data.tags["kedro.env"] == "base"
    assert {"version.numpy", "version.scikit-learn", "kedro.process"} <= set(run.data.tags)
    assert run.data.params["options.fail"] == "False"
    assert project.artifacts(run, "figures/stage") == {"figures/stage/curve.png"}
    assert project.artifacts(run, "tables/stage") == {"tables/stage/ranking.json"}
    assert project.artifacts(run, "texts/stage") == {"texts/stage/summary.txt"}
    assert project.artifacts(run, "stage") == {"stage/report.html"}
    assert project.client.get_registered_model("tiny").latest_versions
    assert not (project.folder / "mlruns").exists()


def test_the_run_shows_its_summary_and_keeps_its_warnings(finished):
    project, run, output = finished
    summary = ["test: accuracy 0.750", "stage: first 2 features x, whole", "stage: All is well."]
    assert run.data.tags["mlflow.note.content"].split("\n\n")[:3] == summary
    assert all(line in output for line in [*summary, "stage: data/report.html"])
    last = output.strip().splitlines()[-1]
    assert run.info.run_id in last
    assert run.info.run_name in last
    assert "INFO mlflow" not in output
    warned = Path(project.client.download_artifacts(run.info.run_id, "warnings.txt")).read_text()
    assert "a warning to keep" in warned


def test_a_long_parameter_is_an_artifact_with_its_hash(finished):
    project, run, _ = finished
    import hashlib

    assert hashlib.sha256(b"x" * 7000).hexdigest() in run.data.params["options.note"]
    whole = project.client.download_artifacts(run.info.run_id, "parameters/options.note.txt")
    assert Path(whole).read_text() == "x" * 7000


def test_the_input_table_is_shown_with_its_digest(finished):
    project, run, _ = finished
    (given,) = run.inputs.dataset_inputs
    assert given.dataset.name == "table"
    assert given.dataset.digest == table_digest(pd.read_parquet(project.folder / "data/table.parquet"))
    assert [(tag.key, tag.value) for tag in given.tags] == [("mlflow.data.context", "training")]


def test_the_logged_model_predicts_what_the_run_predicted(finished):
    project, run, _ = finished
    import joblib
    import mlflow

    mlflow.set_tracking_uri(f"sqlite:///{project.folder / 'mlflow.db'}")
    (output,) = run.outputs.model_outputs
    logged = mlflow.sklearn.load_model(f"models:/{output.model_id}")
    rows = pd.DataFrame({"x": [0.5, 2.5, 1.5], "whole": [1, 4, 2]})
    saved = joblib.load(project.folder / "data/model.pickle")
    assert np.array_equal(logged.predict_proba(rows), saved.predict_proba(rows))


def test_a_failed_run_keeps_the_traceback_and_registers_nothing(project):
    code, _ = project.run("--params", "options.fail=true")
    assert code != 0
    (run,) = project.runs()
    assert run.info.status == "FAILED"
    assert "ValueError: the column 'x' is odd" in run.data.tags["kedro.error"]
    assert {"error.txt", "warnings.txt"} <= project.artifacts(run)
    assert not project.client.search_registered_models()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_is_killed(project, how):
    interrupt(project, how)
    (run,) = project.runs()
    assert run.info.status == "KILLED"
    assert run.data.metrics["model.test.accuracy"] == 0.75  # what was done before stays


def test_a_run_that_vanished_is_swept_by_the_next_one_of_any_experiment(project):
    interrupt(project, signal.SIGKILL)
    (run,) = project.runs()
    assert run.info.status == "RUNNING"
    project.write("conf/other/mlflow.yml", "tags: {team: demo}\n")
    code, output = project.run("--env", "other", "--to-nodes", "make")
    assert code == 0, output
    assert project.runs()[0].info.status == "KILLED"
    (run,) = project.runs("other")
    assert run.info.status == "FINISHED"
    assert run.data.tags["team"] == "demo"


def interrupt(project, how):
    process = project.start("--params", "options.wait=true")
    for _ in range(600):
        if (project.folder / "waiting").exists() or process.poll() is not None:
            break
        time.sleep(0.1)
    process.send_signal(how)
    process.communicate(timeout=60)
    assert process.returncode != 0


@pytest.mark.parametrize("runner", ["ThreadRunner", "ParallelRunner"])
def test_other_runners_make_one_whole_run(project, runner):
    code, output = project.run("--runner", runner)
    assert code == 0, output
    (run,) = project.runs()
    assert run.info.status == "FINISHED"
    assert run.data.metrics["model.test.accuracy"] == 0.75
    assert run.data.tags["kedro.runner"] == runner
    assert project.artifacts(run, "figures/stage") == {"figures/stage/curve.png"}
    assert len(run.inputs.dataset_inputs) == len(run.outputs.model_outputs) == 1
    assert len(project.client.search_experiments()) == 2  # ours and MLflow's empty Default


def test_an_environment_can_switch_tracking_off(tmp_path):
    project = TinyProject(tmp_path / "untracked")
    project.write("conf/off/mlflow.yml", "enabled: false\n")
    code, output = project.run("--env", "off")
    assert code == 0, output
    assert not (project.folder / "mlflow.db").exists()


def test_a_store_that_cannot_be_used_stops_the_run_before_any_node(project):
    project.write("conf/base/mlflow.yml", "enabled: true\ntracking_uri: sqlite:////proc/no/such/x.db\n")
    code, _ = project.run()
    assert code != 0
    assert not (project.folder / "data/table.parquet").exists()
