"""YAML cannot drift from the code: parameters fit their models, every dataset resolves, imports stay lean."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from kedro.framework.project import configure_project, pipelines
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project

PROJECT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = sorted(path.name for path in (PROJECT / "conf").iterdir() if path.is_dir() and path.name != "local")
STAGES = sorted(path.parent.name for path in (PROJECT / "src/explicate/pipelines").glob("*/options.py"))


@pytest.fixture(scope="module", autouse=True)
def _project():
    bootstrap_project(PROJECT)
    configure_project("explicate")


def options_class(stage):
    from pydantic import BaseModel

    module = importlib.import_module(f"explicate.pipelines.{stage}.options")
    wanted = stage.replace("_", "")
    found = [one for name, one in vars(module).items() if name.lower() == wanted and isinstance(one, type)]
    assert len(found) == 1, f"{module.__name__} must define one class named after the stage"
    assert issubclass(found[0], BaseModel)
    return found[0]


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_parameters_of_every_experiment_fit_their_models(env):
    with KedroSession.create(project_path=PROJECT, env=env) as session:
        parameters = session.load_context().params
    assert set(parameters) == set(STAGES)
    for stage in STAGES:
        values = parameters[stage]
        options_class(stage).model_validate(values if isinstance(values, dict) else values.model_dump())


@pytest.mark.parametrize("stage", STAGES)
def test_base_yaml_shows_every_option_and_unknown_ones_are_refused(stage):
    with KedroSession.create(project_path=PROJECT, env="base") as session:
        shown = session.load_context().config_loader["parameters"][stage]
    model = options_class(stage)
    assert set(shown) == set(model.model_fields)
    assert model.model_config["extra"] == "forbid"
    assert all(field.description for field in model.model_fields.values())


@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_every_dataset_of_every_pipeline_is_stored(env):
    with KedroSession.create(project_path=PROJECT, env=env) as session:
        catalog = session.load_context().catalog
        for name in pipelines["__default__"].datasets():
            if not name.startswith(("params:", "parameters")):
                assert type(catalog.get(name)).__name__ != "MemoryDataset", f"{name} is not in conf/base/catalog.yml"


def test_layers_only_go_forward_so_that_kedro_viz_can_draw_them():
    order = ["raw", "intermediate", "model_input", "models", "model_output", "reporting"]
    with KedroSession.create(project_path=PROJECT, env="base") as session:
        catalog = session.load_context().catalog

    def layers(names):
        found = [
            (catalog.get(name).metadata or {}).get("kedro-viz", {}).get("layer")
            for name in names
            if "param" not in name
        ]
        return [order.index(layer) for layer in found if layer]

    for node in pipelines["__default__"].nodes:
        assert max(layers(node.inputs), default=0) <= min(layers(node.outputs)), node.name


def test_default_pipeline_is_all_of_them_and_stages_stay_small():
    whole = {node.name for node in pipelines["__default__"].nodes}
    for name, pipeline in pipelines.items():
        assert {node.name for node in pipeline.nodes} <= whole
        if name != "__default__":
            assert 1 <= len(pipeline.nodes) <= 10
            assert {node.namespace for node in pipeline.nodes} == {name}


@pytest.mark.parametrize("module", ["explicate", "explicate.settings", "explicate.pipeline_registry", "explicate.core"])
def test_nothing_heavy_is_imported_early(module):
    code = (
        f"import sys, {module}; heavy = {{'sklearn', 'shap', 'mlflow', 'matplotlib', 'numba', 'xgboost', 'lightgbm'}};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT / "src")
    assert done.stdout.strip().splitlines()[-1].strip() == "[]"


def test_import_contracts_hold():
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports"))], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_locks_name_no_address():
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (PROJECT / lock).read_text()
        assert "://" not in text
        assert "--hash=sha256:" in text
        assert "setuptools==" in text
