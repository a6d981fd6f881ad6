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
    figures : mapping
        Alternative text -> matplotlib Figure; they stand side by side where the page is wide enough.
    table : DataFrame, optional
        Left out when empty.
    whole : bool
        Show every row of the table, as it is stored nowhere else.
    details : str
        Text in columns, kept as it is and folded away on screen.
    parts : sequence of Section
        Sections inside this one.
    """

    title: str
    text: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    table: pd.DataFrame | None = None
    whole: bool = False
    details: str = ""
    parts: Sequence[Section] = ()


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

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    parts = [_content(section, max_rows) for section in sections]
    return environment.get_template("page.html").render(title=title, lead=lead, sections=parts)


def _content(section: Section, max_rows: int) -> dict[str, Any]:
    return {
        "title": section.title,
        "text": section.text.strip(),
        "figures": [(alt, figure_uri(figure), *_size(figure)) for alt, figure in section.figures.items()],
        "table": _rows(section.table, None if section.whole else max_rows),
        "details": section.details.strip(),
        "parts": [_content(part, max_rows) for part in section.parts],
    }


def _size(figure: Any) -> tuple[int, int]:
    """Return width and height on the page, in CSS pixels: text is drawn at the size it is read."""
    width, height = figure.get_size_inches()
    return round(96 * width), round(96 * height)


def _rows(table: pd.DataFrame | None, max_rows: int | None) -> dict[str, Any] | None:
    if table is None or table.empty:
        return None
    shown = table.head(len(table) if max_rows is None else max_rows)
    columns = [
        {"name": str(name), "number": pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)}
        for name, dtype in zip(table.columns, table.dtypes, strict=True)
    ]
    rows = [[_cell(value) for value in row] for row in shown.itertuples(index=False, name=None)]
    return {"columns": columns, "rows": rows, "left_out": len(table) - len(shown)}


def _cell(value: Any) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return f"{value + 0.0:.4g}" if isinstance(value, float) else str(value)  # + 0.0: no minus before a zero
