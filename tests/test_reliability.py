"""Reliable instances: the rows a model gets right, or nearly so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import sofi
from explicate.reliability import count_kept, infer_task, select_reliable_instances


@pytest.fixture
def regression():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(21, 2)), columns=["a", "b"], index=generator.permutation(21))
    y = X["a"].to_numpy() + generator.normal(size=21)
    return LinearRegression().fit(X, y), X, y


def test_by_hand():
    model = DecisionTreeClassifier(max_depth=1, random_state=0).fit([[0.0], [1.0]], ["no", "yes"])
    X = pd.DataFrame({"x": [0.0, 1.0, 0.0]}, index=[7, 7, 9]).to_numpy()
    kept, mask = select_reliable_instances(model, X, ["no", "no", "no"], return_mask=True)
    assert mask.tolist() == [True, False, True]
    assert kept.tolist() == [[0.0], [0.0]]


@pytest.mark.peer
@pytest.mark.parametrize("quantile", [0.0, 0.1, 0.37, 0.5, 0.99, 1.0])
def test_quantile_agrees_with_the_published_implementation(regression, quantile):
    model, X, y = regression
    ours = select_reliable_instances(model, X, y, quantile=quantile)
    theirs = sofi.select_reliable_instances(model, X, y, quantile=quantile)
    pd.testing.assert_frame_equal(ours, theirs)


@pytest.mark.peer
def test_tolerance_agrees_with_the_published_implementation(regression):
    model, X, y = regression
    ours, mask = select_reliable_instances(model, X, y, tolerance=0.7, return_mask=True)
    theirs, their_mask = sofi.select_reliable_instances(model, X, y, tolerance=0.7, return_mask=True)
    pd.testing.assert_frame_equal(ours, theirs)
    assert np.array_equal(mask, their_mask)


def test_targets_are_matched_by_position_not_index(regression):
    model, X, y = regression
    shuffled = pd.Series(y, index=np.arange(21)[::-1])
    pd.testing.assert_frame_equal(select_reliable_instances(model, X, shuffled), select_reliable_instances(model, X, y))


def test_an_encoder_apart_is_applied_first(regression):
    _, X, y = regression
    encoder = StandardScaler().fit(X)
    model = LinearRegression().fit(encoder.transform(X), y)
    assert len(select_reliable_instances(model, X, y, encoder=encoder)) == 11


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantile": 1.5}, "quantile=1.5 is out of range; give a number of at least 0 and of at most 1"),
        ({"tolerance": -1}, "tolerance=-1 is out of range"),
        ({"tolerance": 1e-9}, "none of the 21 rows is reliable; the smallest absolute error"),
        ({"task": "rank"}, "task='rank' is not accepted"),
    ],
)
def test_bad_options_are_named(regression, options, message):
    model, X, y = regression
    with pytest.raises(ValueError, match=message):
        select_reliable_instances(model, X, y, **options)


def test_bad_lengths_and_unknown_tasks_are_named(regression):
    model, X, y = regression
    with pytest.raises(ValueError, match=r"y has shape \(20,\) and X has 21 rows"):
        select_reliable_instances(model, X, y[:-1])
    with pytest.raises(ValueError, match="cannot read the task of object"):
        infer_task(object())


def test_counts_say_what_was_kept_of_each_class():
    problem = {"target": "kind", "task": "classification", "classes": [False, True]}
    table = pd.DataFrame({"kind": pd.array([True, True, False], dtype="boolean")})
    counts = count_kept(table, table[:2], table[:1], problem)
    assert counts.to_numpy().tolist() == [["False", 1, 0, 0], ["True", 2, 2, 1]]
