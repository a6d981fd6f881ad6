"""Rows are drawn by class, by seed, and never twice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explicate.sampling import sample_stratified, split_table
from explicate.tables import check_table


def frame(**columns):
    return pd.DataFrame({"size": np.arange(30.0), "kind": ["a", "b", "c"] * 10, **columns})


def test_split_is_stratified_disjoint_seeded_and_complete():
    table, problem = check_table(frame(), "kind")
    parts = split_table(table, problem, random_state=1)
    again = split_table(table, problem, random_state=1)
    other = split_table(table, problem, random_state=2)
    assert [len(part) for part in parts] == [18, 6, 6]
    assert all(len(set(part["kind"].value_counts())) == 1 for part in parts)
    assert sorted(np.concatenate([part.index for part in parts])) == list(range(30))
    assert all(one.index.equals(two.index) for one, two in zip(parts, again, strict=True))
    assert not parts[0].index.equals(other[0].index)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test_size": 0.0}, "test_size=0.0 leave no"),
        ({"test_size": 0.5, "validation_size": 0.5}, "add up to less than 1"),
        ({"test_size": 0.01}, r"30 rows split by .* fewer than 3 row"),
    ],
)
def test_split_sizes_that_leave_nothing_are_refused(options, message):
    table, problem = check_table(frame(), "kind")
    with pytest.raises(ValueError, match=message):
        split_table(table, problem, **options)


def test_a_class_too_small_for_three_parts_is_named():
    table, problem = check_table(frame(kind=["a"] * 28 + ["rare"] * 2), "kind")
    with pytest.raises(ValueError, match=r"class 'rare' of target 'kind' has 2 row\(s\).* merge it"):
        split_table(table, problem)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(0, 99), st.data())
def test_stratified_sample_is_proportional_and_keeps_every_class(counts, seed, data):
    labels = np.repeat(np.arange(len(counts)), counts)
    size = data.draw(st.integers(len(counts), len(labels)))
    rows = sample_stratified(labels, len(labels), size, seed)
    assert len(rows) == size == len(set(rows.tolist()))
    kept = np.bincount(labels[rows], minlength=len(counts))
    share = size * np.array(counts) / len(labels)
    assert (kept >= 1).all()
    assert (np.abs(kept - share) <= len(counts) + 1).all()
    assert np.array_equal(rows, sample_stratified(labels, len(labels), size, seed))
