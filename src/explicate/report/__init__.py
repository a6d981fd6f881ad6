"""One self-contained page about a run."""

from explicate.report.page import Section, figure_uri, render_report

__all__ = ["Section", "figure_uri", "render_report"]
