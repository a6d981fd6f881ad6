"""Checks, parallel maps and labels of figures."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from explicate.core.parallel import parallel_map, row_blocks, spawn_seeds
from explicate.core.plotting import colors, new_figure, note_figure, short_labels, tidy
from explicate.core.validation import align_columns, check_choice, check_memory, check_number, shorten_list


def test_choices_do_not_confuse_types():
    assert check_choice("normalize", None, ["forest", None]) is None
    with pytest.raises(ValueError, match=r"flag=1 is not accepted; use one of True"):
        check_choice("flag", 1, [True])


@pytest.mark.parametrize(
    ("value", "bounds", "error", "message"),
    [
        (True, {}, TypeError, "k=True has type bool; give a number"),
        ("3", {"integer": True}, TypeError, "k='3' has type str; give a whole number"),
        (2.5, {"integer": True}, TypeError, "has type float"),
        (float("nan"), {}, ValueError, "k=nan is out of range"),
        (float("inf"), {"low": 0}, ValueError, "k=inf is out of range"),
        (0, {"low": 0, "low_included": False}, ValueError, "give a number above 0"),
        (5, {"low": 1, "high": 4}, ValueError, "of at least 1 and of at most 4"),
    ],
)
def test_numbers_are_checked_with_the_remedy(value, bounds, error, message):
    with pytest.raises(error, match=message):
        check_number("k", value, **bounds)


def test_numpy_numbers_are_numbers():
    assert check_number("k", np.int64(3), low=1, integer=True) == 3
    assert check_number("k", np.float32(0.5), high=1) == 0.5


def test_columns_are_matched_by_name():
    X = pd.DataFrame({"b": [1], "a": [2]})
    assert align_columns(X, ["b", "a"]) is X
    assert align_columns(X, ["a", "b"]).iloc[0].tolist() == [2, 1]
    with pytest.raises(ValueError, match=r"X lacks the column.s. 'c'"):
        align_columns(X, ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"rows has the column.s. 'b' that the training data lacks"):
        align_columns(X, ["a"], what="rows")
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        align_columns(pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"])


def test_memory_is_refused_before_the_work():
    check_memory(1e9, 2e9, what="it", remedy="nothing")
    with pytest.raises(MemoryError, match=r"it would take about 3.0 GB, above max_memory=2.0 GB; lower n"):
        check_memory(3e9, 2e9, what="it", remedy="lower n")


@given(st.integers(0, 50), st.floats(1, 100), st.floats(1, 500))
def test_blocks_cover_every_row_once_within_the_limit(n_rows, each, limit):
    blocks = row_blocks(n_rows, each, limit)
    assert [row for block in blocks for row in range(n_rows)[block]] == list(range(n_rows))
    assert all((block.stop - block.start) * each <= limit or block.stop - block.start == 1 for block in blocks)


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
def test_the_backend_does_not_change_the_result(backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert parallel_map(abs, [-3, 2, -1], progress="counting") == [3, 2, 1]


def test_seeds_depend_on_the_seed_alone():
    assert spawn_seeds(1, 3) == spawn_seeds(1, 3) != spawn_seeds(2, 3)
    assert spawn_seeds(1, 3) == spawn_seeds(np.random.default_rng(1), 3)


@given(st.lists(st.text(min_size=1, max_size=60), unique_by=lambda text: " ".join(text.split()), max_size=8))
def test_labels_stay_distinct_and_plain(names):
    labels = short_labels(names, width=12)
    assert len(set(labels)) == len(names)
    assert all(label.count("$") == label.count(r"\$") for label in labels)


def test_long_names_that_differ_in_the_middle_are_short_and_show_where():
    names = [
        f"a very long name of a questionnaire item number {k} about satisfaction with the service" for k in range(4)
    ]
    labels = short_labels(names)
    assert len(set(labels)) == 4
    assert all(len(label) <= 24 and f"number {k}" in label for k, label in enumerate(labels))
    assert short_labels([names[0], names[0]]) == [short_labels([names[0]])[0]] * 2


def test_lists_in_messages_are_short():
    assert shorten_list([1, "b"]) == "1, 'b'"
    assert shorten_list(range(9), most=2) == "0, 1 and 7 more"


@pytest.mark.filterwarnings("ignore:Glyph")  # the font at hand may lack the script; drawing must not fail
def test_figures_draw_odd_text():
    figure, ax = new_figure(3, 2)
    tidy(ax, grid=None).set_xlabel(short_labels(["price $ of 価格 $"])[0])
    figure.canvas.draw()
    note_figure("costs $5 or $6").canvas.draw()
    assert len(colors(20)) == 20
