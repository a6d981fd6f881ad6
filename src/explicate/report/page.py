"""Render tables, texts and figures as one HTML page that needs no network."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd


@dataclass(frozen=True, eq=False)
class Section:
    """
    One part of the page.

    Attributes
    ----------
    title : str
    text : str
        Plain text; line breaks are kept.
    table : DataFrame, optional
        Left out when empty.
    figures : mapping
        Alternative text -> matplotlib Figure.
    whole : bool
        Show every row of the table, as it is stored nowhere else.
    """

    title: str
    text: str = ""
    table: pd.DataFrame | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False


def figure_uri(figure: Any, dpi: int = 130) -> str:
    """Return a matplotlib figure as a data URI of PNG."""
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=dpi)
    return "data:image/png;base64," + base64.b64encode(stream.getvalue()).decode("ascii")


def render_report(title: str, lead: str, sections: Sequence[Section], *, max_rows: int = 30) -> str:
    """
    Return one self-contained HTML page; every string given is escaped.

    Parameters
    ----------
    title : str
        Of the page.
    lead : str
        The answer in a sentence.
    sections : sequence of Section
    max_rows : int, default 30
        Rows of a table shown at most; the page says how many were left out.

    Examples
    --------
    >>> "&lt;b&gt;" in render_report("<b>", "", [])
    True
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = Path(__file__).parent
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    parts = [
        {
            "title": section.title,
            "text": section.text.strip(),
            "table": _rows(section.table, None if section.whole else max_rows),
            "figures": [(alt, figure_uri(figure)) for alt, figure in section.figures.items()],
        }
        for section in sections
    ]
    return environment.get_template("page.html").render(title=title, lead=lead, sections=parts)


def _rows(table: pd.DataFrame | None, max_rows: int | None) -> dict[str, Any] | None:
    if table is None or table.empty:
        return None
    shown = table.head(len(table) if max_rows is None else max_rows)
    rows = [[_cell(value) for value in row] for row in shown.itertuples(index=False, name=None)]
    return {"columns": [str(name) for name in table.columns], "rows": rows, "left_out": len(table) - len(shown)}


def _cell(value: Any) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
