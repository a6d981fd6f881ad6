"""Nodes of the stage `reporting`."""

from importlib.metadata import version
from typing import Any

import pandas as pd

from explicate.pipelines.reporting.options import Reporting
from explicate.tables import Problem

LIBRARIES = ("explicate", "numpy", "pandas", "scikit-learn")


def write_report(
    problem: Problem,
    model_scores: dict[str, float],
    counts: pd.DataFrame,
    sofi_text: str,
    sofi_ranking: pd.DataFrame,
    sofi_local: pd.DataFrame,
    pcfi_text: str,
    pcfi_importance: pd.DataFrame,
    prototypes_text: str,
    prototypes_table: pd.DataFrame,
    alike_text: str,
    comparison_text: str,
    comparison_scores: pd.DataFrame,
    agreement: pd.DataFrame,
    parameters: dict[str, Any],
    options: Reporting,
) -> str:
    """Lay out what the stages found, as one page."""
    from explicate.report.page import Section, render_report
    from explicate.report.plotting import plot_bars

    def bars(table: pd.DataFrame, label: str, value: str, axis: str, alt: str) -> dict[str, Any]:
        return {alt: plot_bars(table, label, value, axis, options.max_features)} if len(table) else {}

    features = problem["features"]
    what = f"Target {problem['target']}, {problem['task']}, {len(features)} features: {', '.join(map(str, features))}."
    scores = pd.DataFrame({"score": list(model_scores), "value": list(model_scores.values())})
    local = sofi_local[sofi_local["row"].isin(sofi_local["row"].unique()[: options.local_shown])]
    classes = pcfi_importance.groupby("class", sort=False)
    per_class = {
        f"Bars: importance of the features to class {name}": plot_bars(
            part.sort_values("rank"), "feature", "importance", f"importance to {name}", options.max_features
        )
        for name, part in classes
    }
    ranking = bars(
        sofi_ranking, "feature", "drop", "fall of the scaled response", "Bars: fall of the response by feature"
    )
    compared = bars(comparison_scores, "method", "ds", "degradation score", "Bars: degradation score by method")
    used = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    sections = [
        Section("What was explained", what, counts),
        Section("Model scores", table=scores, whole=True),
        Section("Global explanation", sofi_text, sofi_ranking, ranking),
        Section(f"The first {options.local_shown} rows explained one by one", table=local),
        Section("Importance to each class", pcfi_text, figures=per_class),
        Section("Prototypes", f"{prototypes_text}\n{alike_text}", prototypes_table),
        Section("Agreement of the methods", comparison_text, comparison_scores, compared),
        Section("Pairs of rankings", table=agreement),
        Section("Settings and versions", f"Python libraries: {used}.", _settings(parameters), whole=True),
    ]
    lead = sofi_text.strip().splitlines()[0] if sofi_text.strip() else "No global explanation in this run."
    return render_report(f"What the model of {problem['target']} relies on", lead, sections, max_rows=options.max_rows)


def _settings(parameters: dict[str, Any]) -> pd.DataFrame:
    stages = {
        stage: values.model_dump() if hasattr(values, "model_dump") else values for stage, values in parameters.items()
    }
    flat = [
        (stage, name, str(value))
        for stage, values in stages.items()
        for name, value in (values.items() if isinstance(values, dict) else [("", values)])
    ]
    return pd.DataFrame(flat, columns=["stage", "setting", "value"])
