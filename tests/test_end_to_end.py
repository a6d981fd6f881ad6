"""Whole runs in a copy of the project: the small experiment, a user's own table, partial runs, bad parameters."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

PROJECT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.end_to_end


def kedro(folder, *arguments, **variables):
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("MLFLOW_TRACKING")}
    return subprocess.run(
        [sys.executable, "-m", "kedro", *arguments],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(folder / "src"), **variables},
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
    shutil.copytree(folder / ".viz", folder / ".viz-finished")  # later runs of other tests write their own
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


def execute(name, folder, monkeypatch):
    """Run a notebook that holds no outputs; return what it shows."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(PROJECT / f"notebooks/{name}.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)
    monkeypatch.setenv("PYTHONPATH", str(folder / "src"))
    NotebookClient(
        notebook, resources={"metadata": {"path": str(folder)}}, timeout=240, kernel_name="python3"
    ).execute()
    return " ".join(str(cell.get("outputs")) for cell in notebook.cells)


def test_tour_notebook_reads_the_finished_run(finished, monkeypatch):
    monkeypatch.setenv("EXPLICATE_TOUR_ENV", "test")
    shown = execute("01_tour", finished[0], monkeypatch)
    assert "species" in shown
    assert "SOFI, global" in shown
    assert "single_drops" in shown


@pytest.mark.parametrize(
    ("name", "found"), [("02_your_own_model", "like training row"), ("03_methods", "of the best pair")]
)
def test_library_notebooks_run_without_the_project(name, found, monkeypatch):
    shown = execute(name, PROJECT, monkeypatch)  # their assertions check the methods against the formulas
    assert found in shown
    assert "proved optimal" in shown or name == "03_methods"
    assert "responses are queried from the model" not in shown


@pytest.mark.browser
def test_the_report_of_a_run_reads_well_wide_and_narrow(finished, chromium):
    folder, done = finished
    (path,) = (folder / "data/08_reporting/test").glob("report.html")
    assert "data/08_reporting/test/report.html" in done.stdout
    for width in (1280, 390):
        tab = chromium.new_page(viewport={"width": width, "height": 900})
        errors = []
        tab.on("console", lambda message, errors=errors: errors.append(message.text))
        tab.goto(path.as_uri())
        assert not errors
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert all(tab.evaluate("[...document.images].map(i => i.alt.length > 10 && i.naturalWidth > 100)"))
        titles = tab.locator("h2").all_inner_texts()
        assert titles[:3] == ["What was explained", "Global explanation", "Single rows"]
        assert titles[-3:] == ["Warnings of this run", "Settings and versions", "How to cite"]
        assert "species relies most on" in tab.locator(".lead").inner_text()
        assert tab.locator("section", has_text="Single rows").locator("h3").count() >= 3


@pytest.fixture(scope="module")
def site(finished):
    """Build kedro viz's static site of the finished run, and serve it."""
    folder, _ = finished
    shutil.copytree(folder / ".viz-finished", folder / ".viz", dirs_exist_ok=True)
    built = kedro(folder, "viz", "build", "--include-previews", KEDRO_ENV="test")
    assert built.returncode == 0, built.stdout + built.stderr
    assert "WARNING" not in built.stdout + built.stderr

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder / "build"))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder / "build", f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def drawn(tab, address):
    tab.goto(address)
    tab.locator(".pipeline-node").first.wait_for(timeout=30_000)
    return tab.evaluate("[...document.querySelectorAll('.pipeline-node__text')].map(node => node.textContent)")


@pytest.mark.browser
def test_kedro_viz_draws_stages_layers_and_previews(site, chromium):
    _, address = site
    tab = chromium.new_page(viewport={"width": 1600, "height": 1000})
    stages = ["data_loading", "model_training", "reliable_instances", "sofi", "pcfi", "mistic", "prototypes"]
    assert sorted(drawn(tab, f"{address}/?types=nodes")) == sorted([*stages, "comparison", "reporting"])
    everything = drawn(tab, f"{address}/?types=nodes,datasets")
    assert {"raw_table", "train", "model", "reliable", "sofi.ranking_table", "report"} <= set(everything)
    layers = tab.locator(".pipeline-layer-name").all_inner_texts()
    assert layers == ["raw", "intermediate", "model_input", "models", "model_output", "reporting"]
    tab.locator(".pipeline-node", has_text="sofi.ranking_table").click()
    tab.get_by_text("bill_length_mm").first.wait_for(timeout=30_000)


def test_kedro_viz_shows_how_the_last_run_went(site):
    folder, _ = site
    status = json.loads((folder / "api/run-status").read_text())
    nodes = status["nodes"].values()
    tasks = [node for node in json.loads((folder / "api/main").read_text())["nodes"] if node["type"] == "task"]
    assert len(nodes) == len(tasks) > 10
    assert {node["status"] for node in nodes} == {"success"}
    assert all(node["duration"] > 0 for node in nodes)


def test_a_method_added_as_readme_says_is_run_stored_tracked_and_compared(finished, tmp_path):
    import mlflow

    folder = tmp_path / "project"
    shutil.copytree(finished[0], folder, ignore=shutil.ignore_patterns("build", "mlartifacts", "mlflow.db*"))
    text = (PROJECT / "README.md").read_text()
    blocks = re.findall(r"```\w+\n# (\S+)\n(.*?)```", text[text.index("## How to add a method") :], re.DOTALL)
    stage = "src/explicate/pipelines/information"
    files = dict(blocks) | {
        f"{stage}/__init__.py": "from explicate.pipelines.information.pipeline import create_pipeline\n"
    }
    assert {Path(name).name for name in files} == {
        "__init__.py", "options.py", "nodes.py", "pipeline.py", "parameters_information.yml",
    }  # fmt: skip
    for name, body in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(body)
    comparison = folder / "src/explicate/pipelines/comparison/pipeline.py"
    line = comparison.read_text()
    comparison.write_text(line.replace("RANKINGS = {", 'RANKINGS = {"information": "information.ranking_table", '))
    done = kedro(folder, "run", "--env", "test", "--pipelines", "information,comparison")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "information: first 5 features" in done.stdout
    scores = pd.read_parquet(folder / "data/07_model_output/test/comparison/scores.parquet")
    assert "information" in set(scores["method"])
    client = mlflow.MlflowClient(f"sqlite:///{folder / 'mlflow.db'}")
    (run,) = client.search_runs([client.get_experiment_by_name("test").experiment_id])
    assert {"information.bill_length_mm", "comparison.information.ds"} <= set(run.data.metrics)
    assert run.data.params["information.n_neighbors"] == "3"
    bad = kedro(folder, "run", "--env", "test", "--pipelines", "information", "--params", "information.neighbours=3")
    assert bad.returncode != 0
    assert "neighbours" in bad.stdout + bad.stderr
