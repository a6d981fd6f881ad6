"""What a person at the terminal reads: each stage with its time, and the answer at the end."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from typing import Any

from kedro.framework.hooks import hook_impl

from explicate.hooks.summary import summarise

logger = logging.getLogger("explicate")


class ProgressHook:
    """Log a line per finished stage, then a summary of what the run stored."""

    def __init__(self) -> None:
        self._left: Counter[str] = Counter()
        self._spent: dict[str, float] = {}
        self._started: dict[str, float] = {}
        self._begun = 0.0
        self._lock = threading.Lock()

    @hook_impl
    def before_pipeline_run(self, pipeline: Any) -> None:
        """Count the nodes of each stage."""
        self._left = Counter(_stage(node) for node in pipeline.nodes)
        self._spent, self._started = {}, {}
        self._begun = time.perf_counter()

    @hook_impl
    def before_node_run(self, node: Any) -> None:
        """Start the node's clock."""
        self._started[node.name] = time.perf_counter()

    @hook_impl
    def after_node_run(self, node: Any) -> None:
        """Stop it; name the stage when its last node is done."""
        stage, now = _stage(node), time.perf_counter()
        with self._lock:  # ThreadRunner
            self._spent[stage] = self._spent.get(stage, 0.0) + now - self._started.pop(node.name, now)
            self._left[stage] -= 1
            done = self._left[stage] == 0
        if done:
            logger.info("%-20s %6.1f s", stage, self._spent[stage])

    @hook_impl
    def after_pipeline_run(self, pipeline: Any, catalog: Any) -> None:
        """Print the summary."""
        for line in summarise(pipeline, catalog):
            logger.info(line)
        logger.info("%-20s %6.1f s", "whole run", time.perf_counter() - self._begun)


def _stage(node: Any) -> str:
    return node.namespace or node.name
