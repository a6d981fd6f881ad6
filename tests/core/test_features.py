"""Logical features and their columns: groups, singles, rankings by name and by position, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explicate.core.features import FeatureSpace

COLUMNS = ["size", "kind_a", "kind_b", "age"]


def test_groups_come_first_and_columns_left_out_follow_in_table_order():
    space = FeatureSpace.from_groups({"kind": ["kind_b", "kind_a"]}, COLUMNS)
    assert space.names == ("kind", "size", "age")
    assert space.members == ((2, 1), (0,), (3,))
    assert space.n_features == 3
    assert space.feature_of_column().tolist() == [1, 0, 0, 2]
    table = space.to_frame()
    assert table["n_columns"].tolist() == [2, 1, 1]
    assert table["columns"].tolist() == [["kind_b", "kind_a"], ["size"], ["age"]]


def test_without_groups_every_column_is_a_feature():
    space = FeatureSpace.from_groups(None, COLUMNS)
    assert space.names == tuple(COLUMNS)
    assert space.feature_of_column().tolist() == [0, 1, 2, 3]


def test_a_group_of_one_column_may_be_a_plain_name_and_bear_that_name():
    space = FeatureSpace.from_groups({"size": "size"}, COLUMNS)
    assert space.names == ("size", "kind_a", "kind_b", "age")
    assert space.members[0] == (0,)


@given(st.permutations(range(4)))
def test_rankings_by_name_and_by_position_mean_the_same(order):
    space = FeatureSpace.from_groups(None, COLUMNS)
    assert space.positions([COLUMNS[i] for i in order]) == list(order)
    assert space.positions(order) == list(order)
    assert space.positions(np.array(order)) == list(order)


def test_integer_column_names_win_over_positions():
    space = FeatureSpace.from_groups(None, [2, 0, 1])
    assert space.positions([0, 1, 2]) == [1, 2, 0]


@given(st.integers(1, 12), st.data())
def test_every_column_belongs_to_exactly_one_feature(n, data):
    owner = data.draw(st.lists(st.integers(0, n), min_size=n, max_size=n))
    groups = {f"group {g}": [f"c{k}" for k in range(n) if owner[k] == g] for g in set(owner) if g}
    space = FeatureSpace.from_groups(groups, [f"c{k}" for k in range(n)])
    assert sorted(k for group in space.members for k in group) == list(range(n))
    assert [k in space.members[space.feature_of_column()[k]] for k in range(n)] == [True] * n


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"kind": []}, r"feature_groups\['kind'\] is empty; name its columns or leave it out"),
        ({"kind": ["kind_c"]}, r"feature_groups\['kind'\] names 'kind_c', no column of X_train"),
        ({"a": ["size"], "b": ["size", "age"]}, "puts column 'size' in 'a' and 'b'; choose one"),
        ({"a": ["size", "size"]}, "puts column 'size' in 'a' and 'a'"),
        ({"age": ["size"]}, "has a feature 'age' without the column of that name; rename the feature"),
    ],
)
def test_wrong_groups_are_named(groups, message):
    with pytest.raises(ValueError, match=message):
        FeatureSpace.from_groups(groups, COLUMNS)


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        (["size", "kind_a", "kind_b"], "each of the 4 features once; it has 3 entries and lacks 'age'"),
        (["size", "size", "kind_b", "age"], "it has 4 entries and lacks 'kind_a'"),
        (["size", "kind_a", "kind_b", "height"], "the ranking names 'height', no feature"),
        ([0, 1, 2, 4], "the ranking names 4, no feature"),
        ([0, 1, 2, -1], "the ranking names -1, no feature"),
        (["size", 1, 2, 3], "the ranking names 1, 2, 3, no feature"),
    ],
)
def test_wrong_rankings_are_named(ranking, message):
    with pytest.raises(ValueError, match=message):
        FeatureSpace.from_groups(None, COLUMNS).positions(ranking)
