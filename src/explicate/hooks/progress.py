"""What a person at the terminal reads: each stage with its time, and the answer at the end."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from typing import Any

from kedro.framework.hooks import hook_impl

logger = logging.getLogger("explicate")


class ProgressHook:
    """Log a line per finished stage, then a summary made of the metrics and texts the run saved."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        self._spent: dict[str, float] = {}
        self._started: dict[str, float] = {}
        self._begun = 0.0
        self._saved: dict[str, Any] = {}

    @hook_impl
    def before_pipeline_run(self, pipeline: Any) -> None:
        """Count the nodes of each stage."""
        self._left, self._spent, self._saved = {}, {}, {}
        for node in pipeline.nodes:
            stage = _stage(node)
            self._left[stage] = self._left.get(stage, 0) + 1
        self._begun = time.perf_counter()

    @hook_impl
    def before_node_run(self, node: Any) -> None:
        """Start the node's clock."""
        self._started[node.name] = time.perf_counter()

    @hook_impl
    def after_node_run(self, node: Any, outputs: dict[str, Any]) -> None:
        """Stop it; name the stage when its last node is done."""
        stage = _stage(node)
        self._spent[stage] = (
            self._spent.get(stage, 0.0) + time.perf_counter() - self._started.pop(node.name, self._begun)
        )
        self._left[stage] = self._left.get(stage, 1) - 1
        self._saved |= {name: data for name, data in outputs.items() if name.endswith(("_metrics", "_text"))}
        if self._left[stage] == 0:
            logger.info("%-20s %6.1f s", stage, self._spent[stage])

    @hook_impl
    def after_pipeline_run(self) -> None:
        """Print the summary."""
        for line in summary_lines(self._saved):
            logger.info(line)
        logger.info("%-20s %6.1f s", "whole run", time.perf_counter() - self._begun)


def _stage(node: Any) -> str:
    return node.namespace or node.name


def summary_lines(saved: dict[str, Any], most: int = 12) -> Iterator[str]:
    r"""
    Yield the summary of a run: test scores, then the headline of each stage's text.

    Parameters
    ----------
    saved : dict
        Dataset name -> metrics (dict) or text (str).
    most : int, default 12
        Lines at most.

    Examples
    --------
    >>> list(summary_lines({"m.scores_metrics": {"model.test.accuracy": 0.9}, "sofi.summary_text": "Optimal.\nMore."}))
    ['test accuracy 0.900', 'sofi: Optimal.']
    """
    scores = {
        key.removeprefix("model.test."): value
        for name, data in saved.items()
        if name.endswith("_metrics")
        for key, value in data.items()
        if key.startswith("model.test.") and "recall." not in key
    }
    lines = ["test " + ", ".join(f"{key} {value:.3f}" for key, value in scores.items())] if scores else []
    for name, text in saved.items():
        if name.endswith("_text") and str(text).strip():
            lines.append(f"{name.partition('.')[0]}: {str(text).strip().splitlines()[0]}")
    yield from lines[:most]
