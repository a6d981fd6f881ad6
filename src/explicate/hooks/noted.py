"""What a run warns of, kept for the report and for MLflow."""

from __future__ import annotations

import logging
import re
from collections import Counter

import pandas as pd

#: How Python writes a warning to the log: where, its kind, its text, the line of code.
_PYTHON = re.compile(r"^.*?:\d+: (?P<kind>\w+): (?P<text>.*?)(\n .*)?$", re.DOTALL)


class WarningLog(logging.Handler):
    """Keep every warning of a run, Python's included: those go to the log for its length."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.seen: Counter[tuple[str, str, str]] = Counter()

    def start(self) -> None:
        """Start with nothing seen."""
        self.seen.clear()
        logging.captureWarnings(True)
        logging.getLogger().addHandler(self)

    def stop(self) -> None:
        """Leave the log as it was."""
        logging.getLogger().removeHandler(self)
        logging.captureWarnings(False)

    def emit(self, record: logging.LogRecord) -> None:
        """Count a warning."""
        self.seen[record.levelname, record.name, record.getMessage().strip()] += 1

    def lines(self) -> list[str]:
        """Return the warnings in the order they came first, repeated ones once."""
        return [
            f"{level} {source}: {text}" + ("" if times == 1 else f" [{times} times]")
            for (level, source, text), times in self.seen.items()
        ]


#: The one of this process: the hook starts and stops it, the catalog reads it.
RUN_WARNINGS = WarningLog()


def run_warnings() -> pd.DataFrame:
    """
    Return what the run has warned of so far: the catalog's ``run_warnings``.

    Returns
    -------
    DataFrame
        ``source`` (a logger, or the kind of a Python warning), ``warning``, ``times``.

    Examples
    --------
    >>> list(run_warnings().columns)
    ['source', 'warning', 'times']
    """
    rows = []
    for (_, source, text), times in RUN_WARNINGS.seen.items():
        raised = _PYTHON.match(text) if source == "py.warnings" else None
        rows.append((raised["kind"], raised["text"].strip(), times) if raised else (source, text, times))
    return pd.DataFrame(rows, columns=["source", "warning", "times"])
