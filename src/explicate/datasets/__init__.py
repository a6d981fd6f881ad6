"""Kedro datasets of this project: a table from a loader function, a Parquet table that keeps every dtype."""

from explicate.datasets.loader import LoaderDataset
from explicate.datasets.table import TableDataset

__all__ = ["LoaderDataset", "TableDataset"]
