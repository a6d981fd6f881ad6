"""The answer of a run in a few lines, made of what its stages stored."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

_ENDINGS = ("_metrics", ".summary_text", ".ranking_table")


def summarise(pipeline: Any, catalog: Any) -> list[str]:
    """
    Read a run's outputs back and summarise them; what is not there is left out.

    Parameters
    ----------
    pipeline : kedro.pipeline.Pipeline
        That has run.
    catalog : kedro.io.DataCatalog

    Returns
    -------
    list of str
        Twelve lines at most.
    """
    stored: dict[str, Any] = {}
    for name in (output for node in pipeline.nodes for output in node.outputs):
        dataset = catalog.get(name)
        path = getattr(dataset, "_filepath", None)
        if path is None:
            continue  # held in memory, gone by now
        if str(path).endswith(".html"):
            stored[name] = Path(str(path))
        elif name.endswith(_ENDINGS):
            try:
                stored[name] = dataset.load()
            except Exception:  # a summary is a courtesy: whatever cannot be read back is left out
                continue
    return list(summary_lines(stored))


def summary_lines(stored: Mapping[str, Any], most: int = 12) -> Iterator[str]:
    r"""
    Yield the summary of a run: test scores, leading features, the headline of each text, where pages lie.

    Parameters
    ----------
    stored : mapping
        Dataset name -> metrics (``*_metrics``: mapping), text (``*.summary_text``: str), ranking (``*.ranking_table``:
        DataFrame with columns ``feature`` and ``rank``) or Path of a page.
    most : int, default 12
        Lines at most; headlines give way first.

    Examples
    --------
    >>> list(summary_lines({"m.scores_metrics": {"model.test.accuracy": 0.9}, "sofi.summary_text": "Optimal.\nMore."}))
    ['test: accuracy 0.900', 'sofi: Optimal.']
    """
    scores: dict[str, float] = {}
    rankings, headlines, pages = [], [], []
    for name, data in stored.items():
        stage = name.partition(".")[0]
        if isinstance(data, Path):
            pages.append(f"{stage}: {_shown(data)}")
        elif name.endswith("_metrics") and isinstance(data, Mapping):
            scores |= {
                key.removeprefix("model.test."): value
                for key, value in data.items()
                if key.startswith("model.test.") and ".recall." not in key and isinstance(value, Real)
            }
        elif name.endswith(".summary_text") and str(data).strip():
            headlines.append(f"{stage}: {str(data).strip().splitlines()[0]}")
        elif name.endswith(".ranking_table") and {"feature", "rank"} <= set(data) and len(data):
            leading = data.sort_values("rank", kind="stable")["feature"].head(5)
            rankings.append(f"{stage}: first {len(leading)} features " + ", ".join(map(str, leading)))
    first = ["test: " + ", ".join(f"{key} {value:.3f}" for key, value in scores.items())] if scores else []
    room = max(most - len(first) - len(rankings) - len(pages), 0)
    yield from [*first, *rankings, *headlines[:room], *pages][:most]


def _shown(path: Path) -> str:
    """Return a path as short as a terminal in this folder needs it."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
