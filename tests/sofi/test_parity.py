"""The published search, reproduced: order, curves, anchors and raw score equal sofi-tabular 1.0.0 to 1e-9."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import sofi
from explicate.sofi import SOFIExplainer, aggregate_explanations, feature_groups_from_encoder

pytestmark = [
    pytest.mark.peer,
    pytest.mark.filterwarnings("ignore"),  # both warn of over-confident rows; the texts are tested elsewhere
]


#: Leaves of many rows give fractions that do not tie; ties are broken by rounding errors, which differ.
SHALLOW = {"n_estimators": 25, "max_depth": 3, "min_samples_leaf": 4, "random_state": 0}


def mixed(n=90):
    generator = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "size": generator.normal(size=n),
            "kind": generator.choice(["a", "b", "c"], n),
            "count": generator.integers(0, 6, n),
            "flag": generator.random(n) < 0.4,
            "level": pd.Categorical(generator.choice(["low", "high"], n)),
        }
    )
    score = X["size"] + (X["kind"] == "b") + 0.4 * X["count"] - X["flag"] + generator.normal(size=n) * 0.3
    return X, score.to_numpy()


def encoder():
    return ColumnTransformer(
        [("o", OneHotEncoder(sparse_output=False), ["kind", "level"])],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")


def cases():
    X, score = mixed()
    y = np.where(score > np.median(score), "yes", "no")
    fitted = encoder().fit(X)
    encoded = fitted.transform(X)
    groups = feature_groups_from_encoder(fitted)
    forest = RandomForestClassifier(**SHALLOW)
    wine, label = load_wine(return_X_y=True, as_frame=True)
    sugar, progress = load_diabetes(return_X_y=True, as_frame=True)
    return {
        "pipeline": (make_pipeline(encoder(), forest).fit(X, y), X, {}),
        "encoder apart": (RandomForestClassifier(**SHALLOW).fit(encoded, y), X, {"encoder": fitted}),
        "groups": (RandomForestClassifier(**SHALLOW).fit(encoded, y), encoded, {"feature_groups": groups}),
        "regression": (make_pipeline(encoder(), RandomForestRegressor(**SHALLOW)).fit(X, score), X, {}),
        "numeric": (RandomForestClassifier(**SHALLOW).fit(wine, label), wine, {}),
        "array": (LogisticRegression(max_iter=5000).fit(wine.to_numpy(), label), wine.to_numpy(), {}),
        "linear": (make_pipeline(StandardScaler(), Ridge()).fit(sugar, progress), sugar, {}),
        "boosting": (GradientBoostingClassifier(n_estimators=8, random_state=0).fit(wine, label), wine, {}),
        "nominal": (
            make_pipeline(OneHotEncoder(), LogisticRegression()).fit(X[["kind", "level"]], y),
            X[["kind", "level"]],
            {},
        ),
    }


@pytest.fixture(scope="module")
def known():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cases()


def same(ours, theirs):
    assert list(ours.order) == list(theirs.order)
    np.testing.assert_allclose(ours.morf_scores_raw, theirs.morf_scores_raw, atol=1e-9)
    np.testing.assert_allclose(ours.lerf_scores_raw, theirs.lerf_scores_raw, atol=1e-9)
    assert ours.ds_raw == pytest.approx(theirs.ds_raw, abs=1e-9)
    assert ours.anchor_high == pytest.approx(theirs.anchor_high, abs=1e-9)
    assert ours.anchor_low == pytest.approx(theirs.anchor_low, abs=1e-9)
    np.testing.assert_allclose(ours.morf_scores, theirs.morf_scores, atol=1e-7)
    assert ours.auc_morf == pytest.approx(theirs.auc_morf, abs=1e-7)
    assert ours.noise_onset == theirs.noise_onset
    assert ours.n_iterations == theirs.n_iterations
    assert ours.n_restarts_used == theirs.n_restarts_used


NAMES = ["pipeline", "encoder apart", "groups", "regression", "numeric", "array", "linear", "boosting", "nominal"]


@pytest.mark.parametrize("marginalization", ["background", "constant"])
@pytest.mark.parametrize("mode", ["global", "local"])
@pytest.mark.parametrize("name", NAMES)
def test_same_search_gives_the_same_explanation(known, name, mode, marginalization):
    model, X, how = known[name]
    shared = {**how, "marginalization": marginalization, "n_background": 6, "max_iterations": 25, "random_state": 5}
    ours = SOFIExplainer(model, X, search="hill_climbing", verbose=False, **shared)
    theirs = sofi.SOFIExplainer(model, X, verbose=False, **shared)
    rows = X[:3] if mode == "local" else X[10:25]
    mine, other = ours.explain(rows, mode=mode), theirs.explain(rows, mode=mode)
    if mode == "local":
        for one, two in zip(mine, other, strict=True):
            same(one, two)
        one, two = (
            table.sort_values("feature", ignore_index=True)
            for table in (aggregate_explanations(mine), sofi.aggregate_explanations(other))
        )  # equal mean ranks stand in any order
        pd.testing.assert_frame_equal(one, two)
    else:
        same(mine, other)


@pytest.mark.parametrize(
    "options",
    [
        {"initialization": "random"},
        {"patience": 5},
        {"patience": 4, "n_restarts": 3},
        {"accept_equal": True},
        {"max_iterations": 0},
        {"numeric_strategy": "median", "marginalization": "constant"},
        {"numeric_strategy": "mode", "marginalization": "constant"},
    ],
    ids=str,
)
@pytest.mark.parametrize("compiled", [True, False])
def test_same_options_give_the_same_search(known, options, compiled):
    model, X, _ = known["numeric"]
    shared = {"n_background": 5, "max_iterations": 40, "random_state": 1, **options}
    ours = SOFIExplainer(model, X, search="hill_climbing", compile_trees=compiled, verbose=False, **shared)
    same(ours.explain(X[:12]), sofi.SOFIExplainer(model, X, verbose=False, **shared).explain(X[:12]))


@pytest.mark.parametrize("strategy", ["mode", "median", "mean"])
def test_integer_statistics_agree(known, strategy):
    model, X, _ = known["pipeline"]
    shared = {"marginalization": "constant", "integer_strategy": strategy, "random_state": 0, "verbose": False}
    ours = SOFIExplainer(model, X, **shared).marginalization_values()
    theirs = sofi.SOFIExplainer(model, X, **shared).marginalization_values()
    assert ours["value"].tolist() == theirs["value"].tolist()
    assert ours["feature"].tolist() == theirs["feature"].tolist()


def test_a_given_ranking_gets_the_same_score(known):
    model, X, _ = known["numeric"]
    shared = {"n_background": 5, "random_state": 1, "verbose": False}
    ranking = list(X.columns[::-1])
    ours = SOFIExplainer(model, X, **shared).score_ranking(ranking, X[:12])
    theirs = sofi.SOFIExplainer(model, X, **shared).score_ranking(ranking, X[:12])
    assert ours.ds_raw == pytest.approx(theirs.ds_raw, abs=1e-9)
    assert ours.anchor_low == pytest.approx(theirs.anchor_low, abs=1e-9)
    assert ours.ranking == ranking


def test_reported_score_is_the_raw_one_over_the_span_even_when_curves_are_clipped(known):
    """The published ds comes from clipped curves, so rankings that clip differ in scale."""
    model, X, _ = known["numeric"]
    explainer = SOFIExplainer(model, X, marginalization="constant", n_background=5, random_state=1, verbose=False)
    generator = np.random.default_rng(0)
    scored = [explainer.score_ranking(generator.permutation(13), X[:12]) for _ in range(12)]
    ratio = {round(one.ds / one.ds_raw, 9) for one in scored if abs(one.ds_raw) > 1e-9}
    assert len(ratio) == 1
