"""The pieces behind the explainer: callable as sofi-tabular's are, with its answers; differences are stated here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sofi
from explicate import sofi as ours

GROUPS = {"size": ["size"], "kind": ["kind_a", "kind_b"], "count": ["count"]}
TABLE = pd.DataFrame(
    {
        "size": [1.5, 2.0, 3.0, 3.0, 8.0],
        "kind_a": [1, 0, 0, 1, 0],
        "kind_b": [0, 1, 1, 0, 1],
        "count": [3, 3, 1, 2, 2],
    }
)
BOTH = pytest.mark.parametrize("library", [ours, sofi], ids=["explicate", "sofi-tabular"])


class Sorted:
    """A score without a model: rankings close to 0, 1, 2, … are better."""

    def __init__(self, order):
        self.order, self.ds = list(order), -float(sum(abs(i - f) for i, f in enumerate(order)))


@pytest.mark.peer
@BOTH
def test_feature_space(library):
    space = library.FeatureSpace(GROUPS, transform=lambda X: X.to_numpy() * 2)
    assert space.n_features == 3
    assert space.feature_names == ["size", "kind", "count"]
    assert dict(space.groups) == GROUPS
    assert space.columns_of("kind") == space.columns_of(1) == ["kind_a", "kind_b"]
    assert np.asarray(space.transform(TABLE))[0].tolist() == [3.0, 2.0, 0.0, 6.0]
    assert library.FeatureSpace(GROUPS).transform(TABLE).equals(TABLE)
    described = space.describe()
    assert described.columns.tolist() == ["feature", "n_columns", "columns"]
    assert described["n_columns"].tolist() == [1, 2, 1]


@pytest.mark.peer
@BOTH
@pytest.mark.parametrize("feature", ["size", "kind", "count"])
def test_marginalizer_fills_tiled_rows_with_statistics(library, feature):
    marginalizer = library.Marginalizer(library.FeatureSpace(GROUPS), TABLE, strategy="constant")
    before = TABLE.copy()
    work = marginalizer.tile(TABLE.head(2))
    marginalizer.fill(work, feature, 2)
    assert marginalizer.n_replicas == 1
    wanted = {"size": [[3.5], [3.5]], "kind": [[0, 1], [0, 1]], "count": [[2], [2]]}[feature]
    assert work[GROUPS[feature]].to_numpy().tolist() == wanted
    untouched = [name for name in TABLE.columns if name not in GROUPS[feature]]
    pd.testing.assert_frame_equal(work[untouched].reset_index(drop=True), TABLE.head(2)[untouched])
    pd.testing.assert_frame_equal(TABLE, before)
    assert dict(work.dtypes) == dict(TABLE.dtypes)


@pytest.mark.peer
def test_marginalizer_fills_tiled_rows_with_the_same_background():
    filled = []
    for library in (ours, sofi):
        space = library.FeatureSpace(GROUPS)
        marginalizer = library.Marginalizer(
            space, TABLE, "background", "mean", "mode", "mode", n_background=3, random_state=4
        )
        assert marginalizer.n_replicas == 3
        work = marginalizer.tile(TABLE.tail(2))
        for feature in ("kind", "size"):
            marginalizer.fill(work, feature, 2)
        filled.append(work.reset_index(drop=True))
    pd.testing.assert_frame_equal(*filled)


@pytest.mark.peer
@pytest.mark.parametrize(
    "options",
    [
        {"max_iterations": 30, "patience": 4, "n_restarts": 2},
        {"max_iterations": 40, "accept_equal": True},
        {"max_iterations": 0},
        {"patience": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_hill_climbing_returns_the_same_record(n, options):
    start = np.random.default_rng(1).permutation(n).tolist()
    one, two = (
        library.hill_climbing(n, lambda order, *more: Sorted(order), start, rng=np.random.default_rng(0), **options)
        for library in (ours, sofi)
    )
    assert one.keys() == two.keys()
    assert one["evaluation"].order == two["evaluation"].order
    assert one["history"] == two["history"]
    for counter in ("n_iterations", "n_restarts_used", "n_evaluations"):
        assert one[counter] == two[counter], counter


def test_hill_climbing_takes_any_score_of_a_ranking_alone():
    found = ours.hill_climbing(6, Sorted, range(5, -1, -1), max_iterations=400, rng=np.random.default_rng(0))
    assert found["evaluation"].order == [0, 1, 2, 3, 4, 5]


@pytest.mark.peer
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("marginalization", ["background", "constant"])
def test_objective_scores_rankings_alike(task, marginalization):
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X.iloc[:, :5]
    model = LogisticRegression(max_iter=5000) if task == "classification" else LinearRegression()
    model.fit(X, y)
    theirs = sofi.SOFIExplainer(model, X, marginalization=marginalization, random_state=0, verbose=False)
    peer = sofi.Objective(theirs.wrapper_, theirs.space_, theirs.marginalizer_, X.iloc[:12], chunk_size=100)
    space = ours.FeatureSpace({name: [name] for name in X.columns})
    marginalizer = ours.Marginalizer(space, X, marginalization, random_state=0)
    objective = ours.Objective(model, space, marginalizer, X.iloc[:12], chunk_size=100)
    np.testing.assert_allclose(objective.single_feature_drops(), peer.single_feature_drops(), atol=1e-9)
    np.testing.assert_allclose(objective.anchors_, peer.anchors_, atol=1e-9)
    incumbent = objective.evaluate([4, 2, 0, 1, 3])
    swapped = objective.evaluate([4, 1, 0, 2, 3], incumbent=incumbent, swap=(1, 3))
    wanted = peer.evaluate([4, 1, 0, 2, 3])
    assert isinstance(swapped, ours.RankingEvaluation)
    assert swapped.order == wanted.order
    np.testing.assert_allclose(swapped.morf, wanted.morf, atol=1e-9)
    np.testing.assert_allclose(swapped.lerf, wanted.lerf, atol=1e-9)
    assert swapped.ds == pytest.approx(wanted.ds, abs=1e-9)
    np.testing.assert_allclose(objective.curve([3, 1, 0, 2, 4]), peer.curve([3, 1, 0, 2, 4]), atol=1e-9)
    np.testing.assert_allclose(objective.normalize(swapped.morf), peer.normalize(wanted.morf), atol=1e-9)


def test_objective_applies_the_transform_of_the_space():
    X = pd.DataFrame({"kind": ["a", "b", "c", "a", "b"], "size": [0.0, 1.0, 2.0, 3.0, 4.0]})
    encoder = make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough").fit(X)
    y = [0, 1, 1, 0, 1]
    apart = LogisticRegression().fit(encoder.transform(X), y)
    whole = make_pipeline(encoder, LogisticRegression()).fit(X, y)
    plain = ours.FeatureSpace.from_groups(None, X.columns)
    space = ours.FeatureSpace(plain.groups, transform=encoder.transform)
    marginalizer = ours.Marginalizer(plain, X, random_state=0)
    scores = [
        ours.Objective(apart, space, marginalizer, X).evaluate([0, 1]).ds,
        ours.Objective(whole, plain, marginalizer, X).evaluate([0, 1]).ds,
        ours.SOFIExplainer(apart, X, encoder=encoder, random_state=0).objective(X).evaluate([0, 1]).ds,
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    assert scores[0] == pytest.approx(scores[2], abs=1e-12)


@pytest.mark.peer
@BOTH
def test_curves(library):
    assert library.curve_auc([1.0, 0.5, 0.0]) == 0.5
    assert library.curve_auc([0.7]) == 0.7
    assert library.curve_auc([]) == 0.0
    assert library.degradation_score([1, 0.5, 0], [1, 0.9, 0]) == pytest.approx(0.2)
    assert library.noise_onset([1, 0.2, 0.5]) == library.noise_onset([1, 0.2, 0.2, 0.5]) == 1
    assert library.noise_onset([1, 0.2, 0.5], tolerance=0.31) is None
    assert library.noise_onset([1]) is library.noise_onset([]) is library.noise_onset([1, 0.5, 0.2]) is None
    evaluation = library.RankingEvaluation(order=[1, 0], morf=[1.0, 0.2, 0.0], lerf=[1.0, 0.9, 0.0], ds=0.35)
    assert (evaluation.order, evaluation.ds) == ([1, 0], 0.35)
    assert library.RankingEvaluation([0], [1.0], [1.0]).ds == 0.0
