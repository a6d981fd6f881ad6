"""The tracking hook by itself: what stops a run, what must not, and what a notebook leaves behind."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pandas as pd
import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.pipeline import Node, Pipeline
from kedro_datasets.json import JSONDataset
from pydantic import BaseModel

from explicate.hooks import TrackingHook
from explicate.hooks.noted import RUN_WARNINGS, run_warnings
from explicate.hooks.provenance import process_is_gone, process_mark
from explicate.hooks.store import TrackedRun, absolute_uri

pytestmark = [
    pytest.mark.filterwarnings("ignore:One or more dataset names contain:UserWarning"),  # as stages name them
    pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow"),  # MLflow's own
    pytest.mark.filterwarnings("ignore::FutureWarning:mlflow"),
]


class Options(BaseModel):
    depth: int = 3


def nothing(given):
    return given


def memory(**recipe):
    return MemoryDataset(metadata={"mlflow": recipe} if recipe else None)


class Session:
    """The order in which Kedro calls a hook."""

    def __init__(self, folder, database, catalog=None, **config):
        self.folder, self.database = folder, database
        self.config = {"enabled": True, "tracking_uri": f"sqlite:///{database}", **config}
        self.catalog = catalog or DataCatalog({"scores_metrics": memory(log="metrics")})
        self.pipeline = Pipeline([Node(nothing, "given", name, name=name) for name in self.catalog if name != "given"])
        self.hook = TrackingHook()

    def begin(self):
        self.hook.after_context_created(SimpleNamespace(config_loader={"mlflow": self.config}))
        self.hook.after_catalog_created({"parameters": {"training": Options()}})
        run_params = {"project_path": self.folder.as_posix(), "env": None, "pipeline_names": None, "runner": None}
        self.hook.before_pipeline_run(run_params, self.pipeline, self.catalog)
        return self

    def end(self):
        self.hook.after_pipeline_run(self.pipeline)
        return self

    @property
    def client(self):
        import mlflow

        return mlflow.MlflowClient(f"sqlite:///{self.database}")

    def runs(self):
        return self.client.search_runs([self.client.get_experiment_by_name("base").experiment_id])


@pytest.fixture
def database(tmp_path, empty_database):
    path = tmp_path / "mlflow.db"
    path.write_bytes(empty_database.read_bytes())
    return path


@pytest.fixture
def session(tmp_path, database):
    yield (one := Session(tmp_path, database))
    one.hook._killed()


def test_typed_parameters_are_flattened(session):
    session.begin().end()
    (run,) = session.runs()
    assert run.data.params == {"training.depth": "3"}
    assert run.info.status == "FINISHED"


def test_a_lost_log_line_is_a_warning_and_the_run_goes_on(session, caplog):
    session.begin()
    session.hook.after_dataset_saved("scores_metrics", [1, 2])  # no mapping
    assert "could not log dataset 'scores_metrics' in MLflow" in caplog.text
    session.end()
    (run,) = session.runs()
    assert run.info.status == "FINISHED"
    (warned,) = session.client.list_artifacts(run.info.run_id)
    assert warned.path == "warnings.txt"


def test_a_store_lost_on_the_way_loses_no_computation(session, caplog, monkeypatch):
    session.begin()

    def refuse(*arguments, **keywords):
        raise OSError("the network is down")

    monkeypatch.setattr(session.hook._run, "client", SimpleNamespace(log_batch=refuse, set_terminated=refuse))
    session.hook.after_dataset_saved("scores_metrics", {"a": 1.0})
    session.end()
    assert caplog.text.count("the network is down") >= 2


def test_repeated_warnings_are_kept_once(session):
    session.begin()
    for _ in range(3):
        logging.getLogger("some.library").warning("again")
    session.end()
    (run,) = session.runs()
    path = session.client.download_artifacts(run.info.run_id, "warnings.txt")
    with open(path) as file:
        assert file.read() == "WARNING some.library: again [3 times]\n"


@pytest.mark.filterwarnings("always::UserWarning")
@pytest.mark.parametrize("enabled", [True, False])
def test_warnings_of_a_run_are_a_table_without_paths_tracked_or_not(tmp_path, database, enabled):
    session = Session(tmp_path, database, enabled=enabled)
    logging.getLogger("some.library").warning("before the run")
    session.begin()
    logging.getLogger("some.library").warning("careful")
    for _ in range(2):
        warnings.warn("column 'x' is constant:\nnothing to learn", UserWarning, stacklevel=1)
    session.end()
    logging.getLogger("some.library").warning("after the run")
    assert run_warnings().to_numpy().tolist() == [
        ["some.library", "careful", 1],
        ["UserWarning", "column 'x' is constant:\nnothing to learn", 2],
    ]
    assert RUN_WARNINGS not in logging.getLogger().handlers


@pytest.mark.parametrize("recipe", [{"log": "figur"}, {"lgo": "figure"}])
def test_a_misspelt_recipe_stops_the_run_before_it_starts(tmp_path, database, recipe):
    session = Session(tmp_path, database, DataCatalog({"curve": memory(**recipe)}))
    with pytest.raises(ValueError, match=r"metadata.mlflow of dataset 'curve' asks for .*figure, input, metrics"):
        session.begin()
    assert session.client.get_experiment_by_name("base") is None


def test_parameters_that_cannot_be_logged_fail_the_run_at_once(session, monkeypatch):
    def refuse(self, parameters):
        raise OSError("full")

    monkeypatch.setattr(TrackedRun, "_log_parameters", refuse)
    with pytest.raises(OSError, match="full"):
        session.begin()
    assert [run.info.status for run in session.runs()] == ["FAILED"]


def test_a_deleted_experiment_is_named_with_the_remedy(session):
    session.begin().end()
    session.client.delete_experiment(session.client.get_experiment_by_name("base").experiment_id)
    with pytest.raises(RuntimeError, match=r"'base' was deleted; restore it .*--experiment-id 1"):
        session.begin()


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("sqlite:////proc/no/such/x.db", r"sqlite:////proc/no/such/x\.db"),
        ("nosuch://me:secret@host/db", r"nosuch://\*\*\*@host/db"),
    ],
)
def test_a_store_that_cannot_be_used_is_named_with_the_remedy_and_without_its_password(session, uri, shown):
    session.config["tracking_uri"] = uri
    with pytest.raises(RuntimeError, match=rf"cannot use the store {shown} \(.*tracking_uri.*enabled: false") as raised:
        session.begin()
    assert "secret" not in str(raised.value)


def test_two_runs_may_make_the_database_at_once(tmp_path):
    code = (
        "import sys; from explicate.hooks.store import TrackedRun;"
        "TrackedRun.start({'tracking_uri': 'sqlite:///m.db'}, {'project_path': sys.argv[1]}, {}).end('FINISHED', [])"
    )
    begun = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.PIPE) for _ in range(2)]
    errors = [process.communicate(timeout=120)[1] for process in begun]
    assert [process.returncode for process in begun] == [0, 0], errors
    assert [run.info.status for run in Session(tmp_path, tmp_path / "m.db").runs()] == ["FINISHED"] * 2


def test_a_run_that_ctrl_c_left_open_in_a_notebook_is_closed_by_the_next(session):
    session.begin()
    session.begin().end()
    assert sorted(run.info.status for run in session.runs()) == ["FINISHED", "KILLED"]


def test_signals_are_handled_during_a_run_only(session):
    before = signal.getsignal(signal.SIGTERM)
    session.begin()
    assert signal.getsignal(signal.SIGTERM) != before
    with pytest.raises(SystemExit) as leaving:
        signal.raise_signal(signal.SIGTERM)
    assert leaving.value.code == 128 + signal.SIGTERM
    session.end()
    assert signal.getsignal(signal.SIGTERM) == before
    assert RUN_WARNINGS not in logging.getLogger().handlers


def test_a_failed_run_hides_nothing(session):
    session.begin()
    try:
        raise KeyError("bill_length")
    except KeyError as error:
        session.hook.on_pipeline_error(error)
    (run,) = session.runs()
    assert run.info.status == "FAILED"
    assert "KeyError: 'bill_length'" in run.data.tags["kedro.error"]


def test_outputs_that_were_skipped_are_not_passed_off_as_this_runs(tmp_path, database):
    stored = JSONDataset(filepath=str(tmp_path / "old.json"), metadata={"mlflow": {"log": "metrics"}})
    stored.save({"old": 1.0})
    session = Session(tmp_path, database, DataCatalog({"old_metrics": stored})).begin().end()
    assert session.runs()[0].data.metrics == {}


def test_what_lies_in_memory_is_logged_too(tmp_path, database):
    from matplotlib.figure import Figure

    datasets = {
        "stage.curve_figure": memory(log="figure"),
        "stage.summary_text": memory(log="text"),
        "stage.page": memory(log="artifact"),
        "stage.long_table": memory(log="table"),
    }
    session = Session(tmp_path, database, DataCatalog(datasets)).begin()
    session.hook.after_dataset_saved("stage.curve_figure", Figure())
    session.hook.after_dataset_saved("stage.summary_text", "text")
    session.hook.after_dataset_saved("stage.page", "page")  # is no file: a warning
    session.hook.after_dataset_saved("stage.long_table", pd.DataFrame({"a": range(3000)}))
    session.end()
    (run,) = session.runs()
    listed = {
        entry.path
        for folder in ("figures/stage", "texts/stage", "tables/stage", None)
        for entry in session.client.list_artifacts(run.info.run_id, folder)
        if not entry.is_dir
    }
    assert listed == {
        "figures/stage/curve.png",
        "texts/stage/summary.txt",
        "tables/stage/long.json",
        "warnings.txt",
    }
    assert run.data.tags["tracking.notes"] == "stage.long_table: first 2000 of 3000 rows"


def test_many_odd_metrics_become_an_artifact_not_a_cut(session):
    session.begin()
    session.hook.after_dataset_saved("scores_metrics", {f"area {'x' * 90} {i}": float("inf") for i in range(200)})
    session.end()
    (run,) = session.runs()
    assert run.data.metrics == {}
    assert run.data.tags["metrics.not_finite"] == "200 entries, in metrics.not_finite.txt"


def test_the_environment_variable_overrides_the_store(session, tmp_path, monkeypatch, empty_database):
    other = tmp_path / "elsewhere" / "other.db"
    other.parent.mkdir()
    other.write_bytes(empty_database.read_bytes())
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{other}")
    session.begin().end()
    assert session.client.get_experiment_by_name("base") is None
    session.database = other
    assert len(session.runs()) == 1
    location = session.client.get_experiment_by_name("base").artifact_location
    assert location == (other.parent / "mlartifacts/base").as_uri()


def test_a_relative_database_lies_in_the_project():
    from pathlib import Path

    assert absolute_uri("sqlite:///a/m.db", Path("/p")) == "sqlite:////p/a/m.db"
    assert absolute_uri("sqlite:////a/m.db", Path("/p")) == "sqlite:////a/m.db"
    assert absolute_uri("https://host", Path("/p")) == "https://host"


def test_a_process_is_told_from_a_later_one_with_its_number():
    mark = process_mark(os.getpid())
    assert not process_is_gone(mark)
    host, pid, started = mark.split(":")
    assert process_is_gone(f"{host}:{pid}:{int(started) - 1}")
    assert process_is_gone(f"{host}:{2**22 + 1}:5")
    assert not process_is_gone(f"elsewhere:{2**22 + 1}:5")
    assert not process_is_gone("")
