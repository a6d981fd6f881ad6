"""A Parquet table that comes back as it went in."""

from __future__ import annotations

from typing import Any

import pandas as pd
from kedro.io.core import get_filepath_str
from kedro_datasets.pandas import ParquetDataset

#: Where Parquet metadata keeps what its types cannot say.
_KEY = "explicate.categories"


class TableDataset(ParquetDataset):
    """
    Parquet that keeps categories that are not text, and is written whole or not at all.

    Parquet stores a ``category`` of numbers as plain numbers; their categories and order travel in the file's
    metadata and are restored on load. The file is written beside its place and moved there when complete.

    Examples
    --------
    >>> import tempfile
    >>> table = pd.DataFrame({7: pd.Categorical([1, None], categories=[1, 2])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dataset = TableDataset(filepath=f"{folder}/table.parquet")
    ...     dataset.save(table)
    ...     bool((dataset.load().dtypes == table.dtypes).all())
    True
    """

    def save(self, data: pd.DataFrame) -> None:
        """Write the table of any dtypes Parquet knows."""
        stored = data.copy(deep=False)
        categories: dict[str, dict[str, Any]] = {}
        for position, dtype in enumerate(data.dtypes):
            if isinstance(dtype, pd.CategoricalDtype) and not isinstance(dtype.categories.dtype, pd.StringDtype):
                categories[str(position)] = {"values": dtype.categories.tolist(), "ordered": bool(dtype.ordered)}
        stored.attrs = {**data.attrs, _KEY: categories}
        path = get_filepath_str(self._get_save_path(), self._protocol)
        partial = f"{path}.partial"
        try:
            with self._fs.open(partial, **self._fs_open_args_save) as file:
                stored.to_parquet(file, **self._save_args)
            self._fs.mv(partial, path)
        finally:
            if self._fs.exists(partial):
                self._fs.rm(partial)
        self._invalidate_cache()

    def load(self) -> pd.DataFrame:
        """Read the table with the dtypes it was saved with."""
        table = super().load()
        categories = table.attrs.pop(_KEY, {})
        columns = {position: table.iloc[:, position] for position in range(table.shape[1])}
        for position, known in categories.items():
            dtype = pd.CategoricalDtype(known["values"], ordered=known["ordered"])
            columns[int(position)] = columns[int(position)].astype(dtype)
        if not categories:
            return table
        restored = pd.DataFrame(columns, index=table.index)
        restored.columns = table.columns
        return restored
