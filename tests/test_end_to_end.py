"""Whole runs in a copy of the project: the small experiment, a user's own table, partial runs, bad parameters."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PROJECT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.end_to_end


def kedro(folder, *arguments):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("MLFLOW_TRACKING")}
    return subprocess.run(
        [sys.executable, "-m", "kedro", *arguments],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        timeout=300,
    )


def copy_project(folder):
    for name in ("src", "conf"):
        shutil.copytree(PROJECT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", ".telemetry", "README.md"):
        shutil.copy(PROJECT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Run the small experiment once, tracked."""
    folder = copy_project(tmp_path_factory.mktemp("project"))
    (folder / "conf/test/mlflow.yml").unlink()
    done = kedro(folder, "run", "--env", "test")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder, done


def test_small_experiment_runs_and_is_tracked(finished):
    import mlflow

    folder, done = finished
    assert "whole run" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    client = mlflow.MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
    (run,) = client.search_runs([client.get_experiment_by_name("test").experiment_id])
    assert run.info.status == "FINISHED"
    assert {"model.test.accuracy", "model.validation.roc_auc", "reliable.rows"} <= set(run.data.metrics)
    assert run.data.params["model_training.keywords.n_estimators"] == "10"
    assert {one.dataset.name for one in run.inputs.dataset_inputs} == {"train", "validation", "test"}
    assert len(run.outputs.model_outputs) == 1
    figures = {entry.path for entry in client.list_artifacts(run.info.run_id, "figures/model_training")}
    assert figures == {"figures/model_training/errors.png"}


def test_no_warning_a_user_cannot_act_on(finished):
    _, done = finished
    assert not re.findall(r".*WARNING.*", done.stdout + done.stderr)


def test_a_partial_run_starts_anywhere(finished):
    folder, _ = finished
    done = kedro(folder, "run", "--env", "test", "--from-nodes", "reliable_instances.select_rows")
    assert done.returncode == 0, done.stdout + done.stderr
    done = kedro(
        folder, "run", "--env", "test", "--pipelines", "model_training", "--params", "model_training.scale=true"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    done = kedro(folder, "run", "--env", "test", "--only-missing-outputs")
    assert done.returncode == 0, done.stdout + done.stderr


def test_registry_and_patterns_are_listed(finished):
    folder, _ = finished
    listed = kedro(folder, "registry", "list").stdout
    assert all(stage in listed for stage in ("data_loading", "model_training", "reliable_instances", "__default__"))
    assert "{stage}.{name}_table" in kedro(folder, "catalog", "list-patterns").stdout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("data_loading.target=specie", r"target='specie' is no column of the table; it has 'species'"),
        ("data_loading.tagret=species", r"tagret"),
        ("data_loading.target=01", r"target=1 is no column of the table; it has 'species'"),
        ("data_loading.test_size=yes", r"test_size"),
        ("data_loading.random_state=None", r"random_state"),
        ("data_loading.drop=island", r"drop"),
        ("model_training.estimator=sklearn.svm.SVM", r"estimator='sklearn.svm.SVM' cannot be imported"),
        ("model_training.search.cv=1", r"cv"),
        ("reliable_instances.quantile=2", r"quantile"),
    ],
)
def test_a_bad_parameter_is_one_clear_error(finished, given, message):
    folder, _ = finished
    done = kedro(folder, "run", "--env", "test", "--params", given)
    assert done.returncode != 0
    last = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()][-8:]
    assert re.search(message, " ".join(last)), "\n".join(last)


def own_table_from_readme(folder):
    """Write the files of README's section on a table of one's own."""
    text = (PROJECT / "README.md").read_text()
    section = text[text.index("## Your own table") : text.index("## Your own estimator")]
    blocks = re.findall(r"```yaml\n# (conf/my_data/\S+)\n(.*?)```", section, re.S)
    assert {name for name, _ in blocks} == {
        "conf/my_data/globals.yml",
        "conf/my_data/catalog.yml",
        "conf/my_data/parameters.yml",
    }
    assert sum(len(body.strip().splitlines()) for _, body in blocks) <= 15
    for name, body in blocks:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(body)
    return folder


def test_readme_example_of_your_own_table(tmp_path):
    (tmp_path / "mein projekt ü").mkdir()
    folder = own_table_from_readme(copy_project(tmp_path / "mein projekt ü"))
    generator = np.random.default_rng(0)
    income = generator.normal(40, 10, 150)
    table = pd.DataFrame(
        {
            "customer_id": np.arange(150),
            "income": income,
            "region": generator.choice(["north", "south"], 150),
            "churned": np.where(income + generator.normal(0, 5, 150) > 42, "yes", "no"),
        }
    )
    catalog = (folder / "conf/my_data/catalog.yml").read_text()
    path = folder / re.search(r"filepath: (\S.*)", catalog).group(1)
    odd = folder / "data/01_raw/kunden größe 1.csv"
    (folder / "conf/my_data/catalog.yml").write_text(
        catalog.replace(str(path.relative_to(folder)), f"data/01_raw/{odd.name}")
    )
    odd.parent.mkdir(parents=True)
    table.to_csv(odd, index=False)
    done = kedro(folder, "run", "--env", "my_data", "--params", "model_training.keywords.n_estimators=10")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "data/06_models/my_data/model.pickle").exists()


def test_tour_notebook_reads_the_finished_run(finished, monkeypatch):
    import nbformat
    from nbclient import NotebookClient

    folder, _ = finished
    notebook = nbformat.read(PROJECT / "notebooks/01_tour.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    monkeypatch.setenv("EXPLICATE_TOUR_ENV", "test")
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    NotebookClient(
        notebook, resources={"metadata": {"path": str(folder)}}, timeout=120, kernel_name="python3"
    ).execute()
    shown = " ".join(str(cell.get("outputs")) for cell in notebook.cells)
    assert "species" in shown
    assert "SOFI, global" in shown
