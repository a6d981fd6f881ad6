"""What a user's table may hold, and what is said of one that cannot be used."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from explicate.tables import check_frame, check_table, features_and_target


def frame(**columns):
    return pd.DataFrame({"size": np.arange(30.0), "kind": ["a", "b", "c"] * 10, **columns})


def problem_of(target="kind", **options):
    return check_table(frame(), target, **options)[1]


BAD = {
    "missing target": (frame(), {"target": "species"}, r"target='species' is no column .* 'size', 'kind'"),
    "unknown drop": (frame(), {"drop": ["colour"]}, r"drop='colour' is no column"),
    "unknown categorical": (frame(), {"categorical": ["colour"]}, r"categorical='colour' is no column"),
    "target dropped": (frame(), {"drop": ["kind"]}, r"drop names the target column 'kind'"),
    "nothing left": (frame(), {"drop": ["size"]}, r"no feature is left .* shorten drop"),
    "one class": (frame(kind=["a"] * 30), {}, r"'kind' holds one class only \('a'\)"),
    "constant target": (frame(y=1.5), {"target": "y", "task": "regression"}, r"'y' is constant \(1.5\)"),
    "no labels": (frame(kind=[None] * 30), {}, r"target column 'kind' is missing in every row"),
    "mixed": (frame(odd=[1, "x"] * 15), {}, r"column 'odd' mixes values of type int, str; .* add it to drop"),
    "infinite": (frame(odd=[np.inf] + [0.0] * 29), {}, r"column 'odd' holds 1 value\(s\) .* \(first: inf\)"),
    "beyond float32": (frame(odd=[1e39] * 30), {}, r"column 'odd' holds 30 .* float32 .* rescale"),
    "all missing": (frame(odd=[np.nan] * 30), {}, r"column 'odd' is missing in every row; add it to drop"),
    "dates": (frame(odd=pd.date_range("2026", periods=30)), {}, r"column 'odd' has dtype datetime64.* drop"),
    "complex": (frame(odd=[1j] * 30), {}, r"column 'odd' holds complex numbers"),
    "lists": (frame(odd=[[1]] * 30), {}, r"column 'odd' mixes values of type list"),
    "text regression": (frame(), {"task": "regression"}, r"task='regression' but target column 'kind' has dtype str"),
    "odd task": (frame(), {"task": "ranking"}, r"task='ranking' is not accepted"),
    "positive class": (frame(), {"positive_class": "z"}, r"positive_class='z' is no value .* 'a', 'b', 'c'"),
    "positive type": (
        frame(flag=[True, False] * 15),
        {"target": "flag", "positive_class": 1},
        r"positive_class=1 is no",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_is_refused_by_name_value_and_remedy(name):
    table, options, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        check_table(table, options.pop("target", "kind"), **options)


def test_an_all_missing_column_may_be_dropped():
    table, problem = check_table(frame(odd=[np.nan] * 30), "kind", drop=["odd"])
    assert problem["features"] == ["size"]
    assert list(table) == ["size", "kind"]


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        ([1], TypeError, "raw table is a list"),
        (pd.DataFrame({"a": []}), ValueError, "0 rows and 1 columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ValueError, "more than one column named 'a'"),
        (pd.DataFrame([[1, 2]], columns=["a", 1]), ValueError, "column names mix text and 1"),
        (pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), ValueError, "2 levels"),
    ],
)
def test_what_is_no_plain_table_is_refused(raw, error, message):
    with pytest.raises(error, match=message):
        check_frame(raw)


def test_every_kind_of_column_simply_works():
    n = 30
    raw = frame(
        arrow=pd.array(["x", None, "y"] * 10, dtype="string[pyarrow]"),
        category=pd.Categorical(["u", "v", None] * 10, categories=["u", "v", "unseen"]),
        whole=pd.array([1, None, 3] * 10, dtype="Int64"),
        flag=pd.array([True, None, False] * 10, dtype="boolean"),
        plain=[True, False] * 15,
        odd_flag=pd.Series([True, None] * 15, dtype=object),
        numbers=pd.Series([1, 2.5] * 15, dtype=object),
        code=[1, 2, 3] * 10,
    )
    table, problem = check_table(raw, "kind", categorical=["code"])
    assert problem["categorical"] == ["arrow", "category", "code"]
    assert table["arrow"].dtype == "str"
    assert table["whole"].dtype == "Int64"
    assert table["flag"].dtype == "boolean"
    assert table["odd_flag"].dtype == "boolean"
    assert table["numbers"].dtype == float
    assert table["code"].dtype == "category"
    assert len(table) == n


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([True, False], [False, True]),
        (["no", "yes"], ["no", "yes"]),
        ([-3, 7], [-3, 7]),
        (pd.array([5, 1], dtype="Int64"), [1, 5]),
        (pd.array([True, False], dtype="boolean"), [False, True]),
        (pd.Categorical([10, 2]), [2, 10]),
        (pd.Categorical(["x", "w"], categories=["w", "x", "unseen"]), ["w", "x"]),
        ([0.0, 2.0], [0.0, 2.0]),
    ],
)
def test_labels_are_reported_as_the_user_wrote_them(labels, classes):
    raw = pd.DataFrame({"x": range(20), "label": pd.Series(labels).repeat(10).reset_index(drop=True)})
    table, problem = check_table(raw, "label")
    assert problem["classes"] == classes
    assert [type(one) for one in problem["classes"]] == [type(one) for one in classes]
    _, y = features_and_target(table, problem)
    assert sorted(set(y.tolist())) == classes


@pytest.mark.parametrize(
    ("target", "task"),
    [
        (np.arange(30.0) + 0.5, "regression"),
        (np.arange(30), "regression"),
        ([0, 1, 2] * 10, "classification"),
        ([0.0, 1.0, 2.0] * 10, "classification"),
        (["x", "y", "z"] * 10, "classification"),
        ([True, False, True] * 10, "classification"),
    ],
)
def test_task_is_read_off_the_target(target, task):
    assert check_table(frame(y=target), "y")[1]["task"] == task
    if task == "classification" and not isinstance(target[0], str | bool):
        assert check_table(frame(y=target), "y", task="regression")[1]["task"] == "regression"


def test_rows_without_a_target_are_left_out_and_positions_kept():
    raw = frame()
    raw.loc[[0, 4], "kind"] = None
    raw.index = np.random.default_rng(0).permutation(30)
    before = raw.copy()
    table, _ = check_table(raw, "kind")
    assert table.index.tolist() == [row for row in range(30) if row not in (0, 4)]
    pd.testing.assert_frame_equal(raw, before)


def test_integer_column_names_stay_integers():
    raw = pd.DataFrame({3: range(20), 1: ["a", "b"] * 10})
    table, problem = check_table(raw, 1)
    assert table.columns.tolist() == [3, 1]
    assert problem["features"] == [3]
