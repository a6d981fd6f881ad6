"""What each kind of catalog entry becomes in MLflow: ``metadata: {mlflow: {log: KIND}}``."""

from __future__ import annotations

import hashlib
import math
import numbers
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pandas as pd

from explicate.hooks.models import log_model
from explicate.hooks.names import flatten, mlflow_name
from explicate.hooks.store import TrackedRun, quiet

#: Rows of a table that MLflow's page shows; the whole table is in the catalog.
MAX_TABLE_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Item:
    """
    A dataset to log.

    Attributes
    ----------
    name : str
        In the catalog.
    recipe : mapping
        Its ``metadata.mlflow``.
    catalog : kedro.io.DataCatalog
    saved : object, optional
        What a node returned; ``None`` reads it back, as after worker processes.
    """

    name: str
    recipe: Mapping[str, Any]
    catalog: Any
    saved: Any = None

    @property
    def data(self) -> Any:
        """The dataset's content."""
        return self.catalog.load(self.name) if self.saved is None else self.saved

    @property
    def file(self) -> Path | None:
        """The local file that holds it, if one does."""
        dataset = self.catalog.get(self.name)
        find = getattr(dataset, "_get_load_path", None)
        if find is None or getattr(dataset, "_protocol", "file") not in ("file", "local"):
            return None
        return Path(str(find()))

    @property
    def place(self) -> PurePosixPath:
        """``sofi.ranking_table`` -> ``sofi/ranking``: one folder a stage."""
        stage, _, rest = self.name.rpartition(".")
        return PurePosixPath(*stage.split("."), rest.rpartition("_")[0] or rest) if stage else PurePosixPath(rest)


def log_item(run: TrackedRun, item: Item) -> None:
    """Log a dataset by the kind its catalog entry names."""
    with quiet():
        KINDS[item.recipe["log"]](run, item)


def read_recipes(pipeline: Any, catalog: Any) -> dict[str, dict[str, Any]]:
    """
    Collect what the catalog says of tracking, for the datasets of a pipeline.

    Parameters
    ----------
    pipeline : kedro.pipeline.Pipeline
    catalog : kedro.io.DataCatalog

    Returns
    -------
    dict
        Dataset name -> its ``metadata.mlflow``.

    Raises
    ------
    ValueError
        When an entry asks for what is not known.
    """
    recipes = {}
    for name in sorted(pipeline.datasets()):
        if name == "parameters" or name.startswith("params:"):
            continue
        recipe = (getattr(catalog.get(name), "metadata", None) or {}).get("mlflow")
        if recipe is None:
            continue
        kind = recipe.get("log") if isinstance(recipe, Mapping) else recipe
        if not isinstance(recipe, Mapping) or kind not in KINDS:
            raise ValueError(
                f"metadata.mlflow of dataset {name!r} asks for {kind!r}; write {{log: KIND}} with one of "
                f"{', '.join(sorted(KINDS))}."
            )
        recipes[name] = dict(recipe)
    return recipes


def table_digest(table: pd.DataFrame) -> str:
    """
    Return 16 hexadecimal digits that change with any cell, row id, dtype or column name of a table.

    MLflow's own digest leaves out booleans, categories, text with gaps, and rows beyond 10 000.

    Examples
    --------
    >>> table = pd.DataFrame({"sex": ["f", None]})
    >>> table_digest(table) == table_digest(table.copy()), table_digest(table) == table_digest(table.fillna("m"))
    (True, False)
    """
    rows = pd.util.hash_pandas_object(table, index=True, categorize=True).to_numpy()
    heading = repr([(str(name), str(dtype)) for name, dtype in zip(table.columns, table.dtypes, strict=True)])
    return hashlib.sha256(rows.tobytes() + heading.encode()).hexdigest()[:16]


def _log_metrics(run: TrackedRun, item: Item) -> None:
    from mlflow.entities import Metric

    data, now, batch = item.data, int(time.time() * 1000), []
    if not isinstance(data, Mapping):
        raise ValueError(f"metrics are a mapping of names to numbers, not a {type(data).__name__}")
    for key, value in flatten(data).items():
        if isinstance(value, numbers.Real) and math.isfinite(value):
            batch.append(Metric(mlflow_name(key), float(value), now, 0))
        else:
            run.not_finite.append(f"{key} = {value}")
    for start in range(0, len(batch), 1000):
        run.client.log_batch(run.run_id, metrics=batch[start : start + 1000])


def _log_table(run: TrackedRun, item: Item) -> None:
    table = item.data
    if len(table) > MAX_TABLE_ROWS:
        run.notes.append(f"{item.name}: first {MAX_TABLE_ROWS} of {len(table)} rows")
    shown = table.head(MAX_TABLE_ROWS)
    shown = shown.reset_index(names="row") if not isinstance(shown.index, pd.RangeIndex) else shown
    if len(shown):
        run.client.log_table(run.run_id, shown.set_axis(shown.columns.map(str), axis=1), f"tables/{item.place}.json")


def _log_figure(run: TrackedRun, item: Item) -> None:
    if item.file:
        _copy(run, item.file, "figures" / item.place.parent)
    else:
        run.client.log_figure(run.run_id, item.data, f"figures/{item.place}.png")


def _log_text(run: TrackedRun, item: Item) -> None:
    if item.file:
        _copy(run, item.file, "texts" / item.place.parent)
    else:
        run.client.log_text(run.run_id, str(item.data), f"texts/{item.place}.txt")


def _log_artifact(run: TrackedRun, item: Item) -> None:
    if item.file is None:
        raise ValueError("only a dataset stored in a local file can be logged as an artifact")
    _copy(run, item.file, item.place.parent)


def _copy(run: TrackedRun, file: Path, folder: PurePosixPath) -> None:
    """Log the very file the catalog stored."""
    run.client.log_artifact(run.run_id, str(file), None if folder == PurePosixPath(".") else str(folder))


def _log_input(run: TrackedRun, item: Item) -> None:
    import mlflow.data
    from mlflow.entities import DatasetInput, InputTag

    table, digest = item.data, table_digest(item.data)
    named = table.set_axis(table.columns.map(str), axis=1)
    target = str(problem_of(item.catalog).get("target", item.recipe.get("target")))
    dataset = mlflow.data.from_pandas(
        named,
        source=str(item.file or item.name),
        targets=target if target in named else None,
        name=item.name,
        digest=digest,
    )
    tag = InputTag("mlflow.data.context", item.recipe.get("context", item.name))
    run.client.log_inputs(run.run_id, datasets=[DatasetInput(dataset._to_mlflow_entity(), [tag])])


def _log_model(run: TrackedRun, item: Item) -> None:
    problem = problem_of(item.catalog)
    example = item.recipe.get("example")
    rows = item.catalog.load(example) if example and item.catalog.exists(example) else None
    if rows is not None and "features" in problem:
        rows = rows[problem["features"]]
    elif rows is not None:
        rows = rows.drop(columns=[item.recipe.get("target")], errors="ignore")
    uri = log_model(run.run_id, item.name, item.data, rows)
    if item.recipe.get("register"):
        run.models.append((str(item.recipe["register"]), uri))


def problem_of(catalog: Any) -> dict[str, Any]:
    """Return the dataset `problem` (target, features), or nothing where there is none."""
    return catalog.load("problem") if catalog.exists("problem") else {}


KINDS: dict[str, Callable[[TrackedRun, Item], None]] = {
    "metrics": _log_metrics,
    "table": _log_table,
    "figure": _log_figure,
    "text": _log_text,
    "artifact": _log_artifact,
    "input": _log_input,
    "model": _log_model,
}
