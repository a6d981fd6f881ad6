"""The pages of the MLflow UI that README sends people to, opened in a browser on two runs that differ."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset

from explicate.hooks.kinds import Item, log_item
from explicate.hooks.store import TrackedRun

RANKING = pd.DataFrame({"feature": ["bill_length_mm", "island"], "rank": [1, 2]})

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow"),  # MLflow's own
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow"),
]


def log_run(folder, draws, score):
    """Log what a stage of that many draws would."""
    run = TrackedRun.start(
        {"tracking_uri": "sqlite:///mlflow.db"}, {"project_path": folder}, {"sofi": {"stability_draws": draws}}
    )
    catalog = DataCatalog({"sofi.ranking_table": MemoryDataset(), "sofi.explanation_metrics": MemoryDataset()})
    log_item(run, Item("sofi.ranking_table", {"log": "table"}, catalog, RANKING))
    log_item(run, Item("sofi.explanation_metrics", {"log": "metrics"}, catalog, {"sofi.ds": score}))
    run.end("FINISHED", [])
    return run


@pytest.fixture(scope="module")
def shown(tmp_path_factory, empty_database):
    """Two finished runs, and the address of a UI on them, started as `make mlflow` does."""
    folder = tmp_path_factory.mktemp("shown")
    (folder / "mlflow.db").write_bytes(empty_database.read_bytes())
    runs = [log_run(folder, draws, score) for draws, score in ((3, 0.25), (10, 0.75))]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    server = subprocess.Popen(
        [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", "sqlite:///mlflow.db", *options],
        cwd=folder,
        env={**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError):
                assert server.poll() is None, "the MLflow UI ended"
                time.sleep(0.2)
        yield address, runs
    finally:
        os.killpg(server.pid, 15)
        server.wait(timeout=30)


@pytest.fixture
def tab(chromium):
    return chromium.new_page(viewport={"width": 1600, "height": 1000})


def test_tables_of_two_runs_stand_side_by_side(shown, tab):
    address, runs = shown
    tab.goto(f"{address}/#/experiments/1/runs?workflowType=machine_learning&compareRunsMode=ARTIFACT")
    tab.get_by_text("tables/sofi/ranking.json").first.wait_for(timeout=30_000)
    tab.get_by_text("bill_length_mm").first.wait_for(timeout=30_000)
    text = tab.inner_text("body")
    assert all(run.name in text for run in runs)
    assert "Model training" in text


def test_parameters_and_metrics_of_two_runs_are_compared(shown, tab):
    address, runs = shown
    ids = urllib.parse.quote(json.dumps([run.run_id for run in runs]))
    tab.goto(f"{address}/#/compare-runs?runs={ids}&experiments=%5B%221%22%5D")
    tab.get_by_text("Comparing 2 Runs").first.wait_for(timeout=30_000)
    tab.get_by_text("sofi.stability_draws").first.wait_for(timeout=30_000)
    text = tab.inner_text("body")
    assert all(run.name in text for run in runs)
    assert "0.25" in text
    assert "0.75" in text
