"""The stage `sofi`: what its nodes return for classifiers and regressors, compiled or queried."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import yaml
from pydantic import ValidationError
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression

from explicate.modelling import build_pipeline
from explicate.pipelines.sofi.nodes import explain_globally, explain_locally
from explicate.pipelines.sofi.options import Sofi
from explicate.pipelines.sofi.pipeline import create_pipeline
from explicate.tables import check_table, features_and_target

SMALL = {"n_background": 5, "local_rows": 4, "local_shown": 3, "stability_draws": 2}


def inputs(target, estimator):
    generator = np.random.default_rng(0)
    n = 80
    raw = pd.DataFrame(
        {
            "size": generator.normal(size=n),
            "kind": generator.choice(["red", "blue"], n),
            "weight": generator.normal(size=n),
        }
    )
    raw["target"] = target(raw)
    table, problem = check_table(raw, "target")
    train, reliable = table.iloc[:60], table.iloc[60:]
    X, y = features_and_target(train, problem)
    return build_pipeline(estimator, X, problem).fit(X, y), train, reliable, problem


def label(raw):
    return np.where(raw["size"] > 0, "large", "small")


def estimate(raw):
    return raw["size"] * 10 + 0.5


@pytest.mark.parametrize(
    ("target", "estimator"),
    [
        (label, RandomForestClassifier(10, random_state=0)),
        (label, LogisticRegression()),
        (estimate, RandomForestRegressor(10, random_state=0)),
    ],
    ids=["forest", "queried", "regression"],
)
def test_global_tables_metrics_and_words_agree(target, estimator):
    ranking, curves, spread, metrics, figure, text = explain_globally(*inputs(target, estimator), Sofi(**SMALL))
    assert ranking["feature"].iloc[0] == "size"
    assert sorted(ranking["feature"]) == sorted(spread["feature"]) == ["kind", "size", "weight"]
    np.testing.assert_allclose(ranking["morf_score_after"], curves["morf"].iloc[1:])
    assert metrics["sofi.is_optimal"] == 1.0
    wanted = {"ds", "auc_morf", "auc_lerf", "noise_onset", "is_optimal", "queries", "seconds", "stability.ds_sd"}
    assert {f"sofi.{key}" for key in wanted} <= set(metrics)
    assert all(isinstance(value, float) and np.isfinite(value) for value in metrics.values())
    assert metrics["sofi.ds_raw"] == pytest.approx((curves["lerf_raw"] - curves["morf_raw"]).iloc[1:-1].sum() / 3)
    assert f"degradation score {metrics['sofi.ds']:.4f}, proved optimal" in text
    np.testing.assert_allclose(figure.axes[0].lines[0].get_ydata(), curves["morf"])


@pytest.mark.parametrize("target", [label, estimate])
def test_local_ranks_are_those_of_the_single_rows(target):
    estimator = (RandomForestClassifier if target is label else RandomForestRegressor)(10, random_state=0)
    given = inputs(target, estimator)
    table, ranks, grid, drawn = explain_locally(*given, Sofi(**SMALL))
    assert set(table["row"]) <= set(given[2].index)
    assert table.groupby("row")["rank"].apply(sorted).map(lambda found: found == [1, 2, 3]).all()
    means = table.groupby("feature")["rank"].mean()
    np.testing.assert_allclose(ranks["mean_rank"], means[ranks["feature"]])
    titles = [ax.get_title(loc="left") for ax in grid.axes if ax.axison]
    assert len(titles) == 3
    assert all(int(re.match(r"row (\d+): ", title).group(1)) in set(table["row"]) for title in titles)
    assert [tick.get_text() for tick in drawn.axes[0].get_yticklabels()] == ranks["feature"].tolist()


def test_without_stability_its_table_is_empty_with_its_columns():
    given = inputs(label, RandomForestClassifier(5, random_state=0))
    _, _, spread, metrics, _, _ = explain_globally(*given, Sofi(**{**SMALL, "stability_draws": 0}))
    assert spread.columns.tolist() == ["feature", "mean_rank", "sd_rank", "top_share"]
    assert spread.empty
    assert not any("stability" in key for key in metrics)


def test_one_reliable_row_is_enough():
    model, train, reliable, problem = inputs(label, RandomForestClassifier(5, random_state=0))
    table, ranks, _, _ = explain_locally(model, train, reliable.iloc[:1], problem, Sofi(**SMALL))
    assert table["row"].unique().tolist() == [reliable.index[0]]
    assert len(ranks) == 3


def test_parameter_file_and_options_have_the_same_keys_and_defaults(request):
    text = (request.config.rootpath / "conf/base/parameters_sofi.yml").read_text()
    assert Sofi(**yaml.safe_load(text)["sofi"]) == Sofi()
    assert set(yaml.safe_load(text)["sofi"]) == set(Sofi.model_fields)


@pytest.mark.parametrize(
    ("option", "value"), [("n_background", 0), ("search", "best"), ("local_rows", "many"), ("n_backgrounds", 5)]
)
def test_bad_parameters_are_named(option, value):
    with pytest.raises(ValidationError, match=option):
        Sofi(**{option: value})


def test_outputs_follow_the_patterns_of_the_catalog():
    outputs = create_pipeline().outputs()
    assert all(re.fullmatch(r"sofi\.\w+_(table|metrics|figure|text)", name) for name in outputs)
    assert create_pipeline().inputs() == {"model", "train", "reliable", "problem", "params:sofi"}
