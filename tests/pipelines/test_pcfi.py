"""The stage `pcfi` as Kedro runs it, on tables as users have them, and its reasons to skip."""

from __future__ import annotations

import logging

import lightgbm
import numpy as np
import pandas as pd
import pytest
import yaml
from kedro.io import DataCatalog, MemoryDataset
from kedro.runner import SequentialRunner
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.svm import SVC

from explicate.modelling import build_pipeline
from explicate.pcfi import held_out_importance, per_class_importance
from explicate.pipelines.pcfi import create_pipeline
from explicate.pipelines.pcfi.nodes import COLUMNS
from explicate.pipelines.pcfi.options import Pcfi
from explicate.tables import check_table, features_and_target


def label(raw):
    return np.where(raw["kind"] == "red", "rare", np.where(raw["size"] > 0, "large", "small"))


def prepare(estimator, target=label):
    generator = np.random.default_rng(0)
    n = 150
    raw = pd.DataFrame({"size": generator.normal(size=n), "kind": generator.choice(["red", *"xyz"], n)})
    raw.loc[::9, "size"] = np.nan
    raw["target"] = target(raw)
    table, problem = check_table(raw, "target")
    X, y = features_and_target(table.iloc[:100], problem)
    return build_pipeline(estimator, X, problem).fit(X, y), table.iloc[100:], problem


def run(model, test, problem, **options):
    data = {"model": model, "test": test, "problem": problem, "params:pcfi": Pcfi(**options)}
    stage = create_pipeline()
    catalog = DataCatalog({name: MemoryDataset(value, copy_mode="assign") for name, value in data.items()})
    outputs = SequentialRunner().run(stage, catalog)
    assert set(outputs) == stage.outputs()
    return {name: dataset.load() for name, dataset in outputs.items()}


def test_the_stage_stores_what_the_library_computes_for_the_users_features():
    model, test, problem = prepare(RandomForestClassifier(10, random_state=0))
    stored = run(model, test, problem, normalize="tree", max_features=1)
    expected = per_class_importance(model, normalize="tree")
    assert expected.features == ("size", "kind")
    pd.testing.assert_frame_equal(stored["pcfi.importance_table"], expected.to_frame())
    pd.testing.assert_frame_equal(
        stored["pcfi.held_out_table"],
        held_out_importance(model, *features_and_target(test, problem), normalize="tree").to_frame(),
    )
    metrics = stored["pcfi.importance_metrics"] | stored["pcfi.held_out_metrics"]
    assert len(metrics) == 2 * 3 * 2
    assert metrics["pcfi.rare.kind"] == expected.values[1, 1]
    assert all(isinstance(value, float) and np.isfinite(value) for value in metrics.values())
    assert "held-out rows)" in stored["pcfi.held_out_text"]
    assert "1 feature not shown" in stored["pcfi.importance_figure"].axes[1].get_title(loc="right")


def test_columns_of_an_empty_table_are_those_of_a_full_one():
    model, test, problem = prepare(RandomForestClassifier(3, random_state=0))
    full = run(model, test, problem)["pcfi.importance_table"].dtypes
    assert {name: str(dtype) for name, dtype in full.items()} == COLUMNS


def assert_skipped(stored, part, reason):
    assert stored[f"pcfi.{part}_table"].empty
    assert stored[f"pcfi.{part}_table"].dtypes.astype(str).to_dict() == COLUMNS
    assert stored[f"pcfi.{part}_metrics"] == {}
    assert reason in stored[f"pcfi.{'summary' if part == 'importance' else part}_text"]
    assert reason in stored[f"pcfi.{part}_figure"].axes[0].texts[0].get_text()


@pytest.mark.parametrize(
    ("estimator", "target", "reason"),
    [
        (RandomForestRegressor(3, random_state=0), lambda raw: raw["size"].fillna(0) * 10 + 0.5, "is a regressor"),
        (SVC(random_state=0), label, "SVC is none"),
        (
            lightgbm.LGBMClassifier(n_estimators=2, boosting_type="rf", subsample=0.5, subsample_freq=1, verbose=-1),
            label,
            "boosting_type='rf'",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # LightGBM warns of its own arrays
def test_a_model_it_cannot_explain_is_skipped_with_the_reason(estimator, target, reason, caplog):
    with caplog.at_level(logging.INFO, logger="explicate.pipelines.pcfi.nodes"):
        stored = run(*prepare(estimator, target))
    assert_skipped(stored, "importance", reason)
    assert_skipped(stored, "held_out", reason)
    assert caplog.text.count(reason) == 2


def test_boosted_trees_are_explained_in_training_only():
    stored = run(*prepare(GradientBoostingClassifier(n_estimators=3, random_state=0)))
    assert stored["pcfi.importance_table"]["importance"].sum() == pytest.approx(3.0)
    assert_skipped(stored, "held_out", "GradientBoostingClassifier hold no class fractions")


def test_parameters_of_the_base_environment_are_the_defaults(request):
    written = yaml.safe_load((request.config.rootpath / "conf/base/parameters_pcfi.yml").read_text())["pcfi"]
    assert written == Pcfi().model_dump()
