"""Tables come back as they went in; loaders say what is wrong with them."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from kedro.io import DatasetError
from sklearn.utils import Bunch

from explicate.datasets import LoaderDataset, TableDataset


def every_dtype():
    return pd.DataFrame(
        {
            "text": pd.Series(["a", None, "ü"], dtype="str"),
            "category": pd.Categorical(["u", None, "v"], categories=["v", "u", "unseen"], ordered=True),
            "number category": pd.Categorical([3, None, 1], categories=[1, 2, 3]),
            "flag category": pd.Categorical([True, False, None]),
            "flag": [True, False, True],
            "nullable flag": pd.array([True, None, False], dtype="boolean"),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "small": np.array([1, 2, 3], dtype="int8"),
            "real": [0.1, np.nan, 3.0],
            "single": np.array([0.1, np.nan, 3.0], dtype="float32"),
        },
        index=[5, 0, 3],
    )


@pytest.mark.parametrize("folder", ["plain", "with space", "größe"])
def test_every_dtype_survives_the_round_trip(tmp_path, folder):
    table = every_dtype()
    dataset = TableDataset(filepath=str(tmp_path / folder / "table.parquet"))
    dataset.save(table)
    pd.testing.assert_frame_equal(dataset.load(), table)
    assert table.attrs == {}
    assert [path.name for path in (tmp_path / folder).iterdir()] == ["table.parquet"]


def test_integer_column_names_and_empty_tables_survive(tmp_path):
    dataset = TableDataset(filepath=str(tmp_path / "table.parquet"))
    for table in (
        pd.DataFrame({7: [1.0], 3: pd.Categorical([2])}),
        pd.DataFrame({"feature": pd.Series([], dtype="str"), "rank": pd.Series([], dtype="int64")}),
    ):
        dataset.save(table)
        pd.testing.assert_frame_equal(dataset.load(), table)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    dataset = TableDataset(filepath=str(tmp_path / "table.parquet"))
    dataset.save(every_dtype())
    with pytest.raises(DatasetError):
        dataset.save(pd.DataFrame({"odd": [1, "x", datetime.date(2026, 1, 1)]}))
    pd.testing.assert_frame_equal(dataset.load(), every_dtype())
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


def prices():
    """Return a Bunch whose one target name is that of a number, as scikit-learn's housing table does."""
    frame = pd.DataFrame({"rooms": [3.0, 4.0], "price": [1.5, 2.5]})
    return Bunch(frame=frame, target=frame["price"], target_names=["price"])


def test_loader_names_classes():
    loader = LoaderDataset(loader="sklearn.datasets.load_iris", load_args={"as_frame": True}, name_classes=True)
    assert loader.load()["target"].unique().tolist() == ["setosa", "versicolor", "virginica"]
    assert loader.exists()


def test_default_table_loads_offline():
    penguins = LoaderDataset(loader="palmerpenguins.load_penguins").load()
    assert penguins.shape == (344, 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loader": "nowhere.load"}, "loader='nowhere.load' cannot be imported"),
        ({"loader": "load"}, "loader='load' cannot be imported"),
        ({"loader": "math.pi"}, "loader='math.pi' is a float; give a function"),
        ({"loader": "sklearn.datasets.load_iris"}, "without a table; .*as_frame"),
        ({"loader": "palmerpenguins.load_penguins", "name_classes": True}, "names no classes"),
        (
            {"loader": f"{__name__}.prices", "name_classes": True},
            "'price' .* is not a column of the numbers 0 to 0 of its 1 class names",
        ),
        (
            {"loader": "sklearn.datasets.load_iris", "load_args": {"frame": True}},
            r"refuses load_args=\{'frame': True\}: .*frame",
        ),
    ],
)
def test_a_wrong_loader_is_named(options, message):
    with pytest.raises(DatasetError, match=message):
        LoaderDataset(**options).load()


def test_a_loader_is_read_only():
    with pytest.raises(DatasetError, match="read-only"):
        LoaderDataset(loader="palmerpenguins.load_penguins").save(pd.DataFrame({"a": [1]}))
