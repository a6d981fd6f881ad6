"""What each part of the page says, from stored tables alone; a stage that was skipped says why in its text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

import pandas as pd
from sklearn.calibration import CalibratedClassifierCV

from explicate.core.encoding import split_model
from explicate.core.labels import EncodedLabels
from explicate.pipelines.reporting.options import Reporting
from explicate.report.page import Section
from explicate.report.plotting import plot_bars, plot_degradation, plot_scores
from explicate.report.references import references_table
from explicate.tables import Problem

LIBRARIES = ("explicate", "kedro", "numpy", "pandas", "scikit-learn", "shap")


def lead(problem: Problem, ranking: pd.DataFrame, metrics: Mapping[str, float]) -> str:
    """Answer in one sentence: which features, how good the answer is, whether it is proved."""
    if ranking.empty:
        return "No global explanation in this run."
    first = [str(name) for name in ranking.sort_values("rank")["feature"].head(3)]
    listed = first[0] if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]}"
    sure = "proved: no ranking scores higher" if metrics.get("sofi.is_optimal") else "not proved the best"
    return (
        f"The model of {problem['target']} relies most on {listed}: losing them first degrades its response fastest "
        f"(SOFI, degradation score {metrics.get('sofi.ds', float('nan')):.3f}, {sure})."
    )


def explained(
    problem: Problem, model: Any, counts: pd.DataFrame, scores: Mapping[str, float], options: Reporting
) -> Section:
    """Name the table, the model, how well it does, and the rows explained."""
    encoder, estimator = split_model(model)
    inner = estimator.estimator_ if isinstance(estimator, EncodedLabels) else estimator
    calibrated = isinstance(inner, CalibratedClassifierCV)
    kind = type(inner.estimator if calibrated else inner).__name__ + (", calibrated," if calibrated else "")
    what = f"classes {_listed(problem['classes'])}" if problem["classes"] else "a number"
    text = (
        f"Table {options.table or 'unnamed'}: {problem['target']} ({what}) from {len(problem['features'])} features: "
        f"{_listed(problem['features'], 40)}.\n"
        f"Model: {kind}{'' if encoder is None else ' behind its encoder'}, scored on rows it was not "
        "trained on. Explained are reliable test rows: those it predicts right, or, for a number, best."
    )
    return Section(
        "What was explained",
        text,
        parts=[
            Section("Scores of the model", table=_wide(scores, "model."), whole=True),
            Section("Reliable test rows", table=counts),
        ],
    )


def global_explanation(
    ranking: pd.DataFrame, curves: pd.DataFrame, stability: pd.DataFrame, text: str, options: Reporting
) -> Section:
    """Show the ranking, its curves, and how it fares over other samples."""
    if ranking.empty:
        return Section("Global explanation", text)
    shown = ranking.sort_values("rank")[["rank", "feature", "drop", "importance"]]
    if len(stability):
        shown = shown.merge(stability[["feature", "mean_rank", "sd_rank"]], on="feature", how="left")
    figures = {
        "Bars: how far the response falls when each feature is marginalised in turn": plot_bars(
            shown, "feature", "drop", "fall of the response (scaled)", options.max_features
        ),
        "Curves: response while features are marginalised, most and least relevant first": plot_degradation(curves),
    }
    return Section("Global explanation", _first(text), figures, shown, details=text)


def local_explanations(
    local: pd.DataFrame, reliable: pd.DataFrame, alike: pd.DataFrame, prototypes: pd.DataFrame, options: Reporting
) -> Section:
    """Show single rows: their values, ranking, nearest prototype and what they share with it."""
    parts = []
    near = alike[alike["selection"] == alike["selection"].iloc[-1]] if len(alike) else alike
    for row in local["row"].drop_duplicates().head(options.local_shown):
        own = local[local["row"] == row].sort_values("rank").head(options.max_features)
        table = own[["rank", "feature", "drop"]].copy()
        value = reliable.loc[row]
        table.insert(2, "this row", [_shown(value.get(name)) for name in own["feature"]])
        found = near[near["row"] == row] if len(near) else near
        text, shared = _why(own), set[Any]()
        if len(found):
            one = found.iloc[0]
            listed = f", {one['alike_part']}, "
            shared = {name for name in own["feature"] if f", {name}, " in listed}
            text += f" Predicted {one['predicted']}; {one['explanation']}, a prototype of {one['prototype_class']}."
            other = prototypes[prototypes["row"] == one["prototype"]].iloc[0]
            table.insert(3, f"prototype, row {one['prototype']}", [_shown(other.get(name)) for name in own["feature"]])
            table["alike"] = ["✓" if name in shared else "" for name in own["feature"]]
        figure = plot_bars(
            own, "feature", "drop", "fall of the response (scaled)", options.max_features,
            marked=shared, mark="alike part",
        )  # fmt: skip
        parts.append(
            Section(f"Row {row}", text, {f"Bars: fall of the response of row {row} by feature": figure}, table)
        )
    return Section("Single rows", parts=parts) if parts else Section("Single rows", "None were explained.")


def per_class(importance: pd.DataFrame, text: str, options: Reporting) -> Section:
    """Show what matters to each class."""
    if importance.empty:
        return Section("Importance to each class", text)
    figures = {
        f"Bars: importance of the features to class {name}": plot_bars(
            part.sort_values("rank"), "feature", "importance", f"importance to {name}", options.max_features
        )
        for name, part in importance.groupby("class", sort=False)
    }
    whole = importance.drop_duplicates("feature").set_index("feature")["overall"]
    whole = whole.sort_values(ascending=False, kind="stable")
    table = importance.pivot_table("importance", "feature", "class", sort=False).loc[whole.index]
    table = table.rename_axis(index=None, columns=None)  # a class may be called "feature" or "overall"
    table.insert(0, "feature", table.index, allow_duplicates=True)
    table.insert(table.shape[1], "overall", whole, allow_duplicates=True)
    return Section("Importance to each class", _first(text), figures, table, details=text)


def prototypes_found(scores: pd.DataFrame, prototypes: pd.DataFrame, texts: Iterable[str]) -> Section:
    """Show the training rows that stand for the rest."""
    table = prototypes.drop(columns=[name for name in ("gain", "contribution") if name in prototypes])
    return Section(
        "Prototypes",
        "Training rows that stand for the model's classes, chosen by distance alone (raw) and with importance in the "
        "objective (informed); a nearest-prototype model of each is scored on test rows."
        if len(table)
        else "\n".join(texts),
        parts=[
            Section("Nearest-prototype models", table=scores.drop(columns="objective", errors="ignore")),
            Section("The rows", table=table, details="\n".join(texts)),
        ]
        if len(table)
        else [],
    )


def svm_subset(
    performance: pd.DataFrame, ranking: pd.DataFrame, metrics: Mapping[str, float], texts: Iterable[str]
) -> Section:
    """Show the smallest set of features a support vector machine does well with."""
    from explicate.mistic.plotting import plot_performance

    title, first, *rest = "Smallest set for a support vector machine", *texts
    if performance.empty:
        return Section(title, first)
    n_selected = int(metrics["mistic.n_selected"])
    curve = plot_performance(performance, n_selected, int(metrics["mistic.knee"]))
    scores = {key: value for key, value in metrics.items() if key.startswith(("mistic.selected.", "mistic.full."))}
    order = ranking[["rank", "feature", "mean_rank", "rank_sd"]].assign(
        selected=["✓" if chosen else "" for chosen in ranking["selected"]]
    )
    return Section(
        title,
        first,
        {"Curve: cross-validated score by number of features": curve},
        details="\n".join(rest),
        parts=[
            Section("Test scores, with the selected and with all features", table=_wide(scores, "mistic.")),
            Section("Order of the features", table=order),
        ],
    )


def agreement(scores: pd.DataFrame, pairs: pd.DataFrame, text: str, options: Reporting) -> Section:
    """Show how every ranking of the run scores under one protocol, and how far they agree."""
    from explicate.comparison.plotting import plot_agreement

    figures = {
        "Dots: degradation score of each ranking, over the band of random rankings": plot_scores(
            scores, options.max_features
        ),
        "Matrix: Kendall's tau between the rankings": plot_agreement(pairs),
    }
    return Section(
        "Agreement of the methods",
        _first(text),
        figures if len(scores) else {},
        scores,
        details=text,
        parts=[Section("Pairs of rankings", table=pairs)],
    )


def warned(warnings: pd.DataFrame) -> Section:
    """List what the run warned of."""
    return Section("Warnings of this run", "" if len(warnings) else "None.", table=warnings, whole=True)


def settings(parameters: Mapping[str, Any]) -> Section:
    """List every parameter and the versions that decide a result."""
    used = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    stages = {
        stage: values.model_dump() if hasattr(values, "model_dump") else values for stage, values in parameters.items()
    }
    flat = [
        (stage, name, str(value))
        for stage, values in stages.items()
        for name, value in (values.items() if isinstance(values, dict) else [("", values)])
    ]
    table = pd.DataFrame(flat, columns=["stage", "setting", "value"])
    return Section("Settings and versions", f"{used}.", table=table, whole=True)


def cite() -> Section:
    """List what to cite."""
    return Section("How to cite", table=references_table(), whole=True)


def _wide(scores: Mapping[str, float], prefix: str) -> pd.DataFrame:
    """``prefix + split.metric`` -> one row a metric, one column a split."""
    rows = [(*key.removeprefix(prefix).split(".", 1), value) for key, value in scores.items()]
    tall = pd.DataFrame(rows, columns=["split", "metric", "value"])
    if tall.empty:
        return tall
    wide = tall.pivot_table("value", "metric", "split", sort=False, dropna=False)
    return wide.rename_axis(columns=None).reset_index()


def _listed(names: Iterable[object], most: int = 12) -> str:
    texts = [str(name) for name in names]
    left = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {left} more" if left > 0 else "")


def _first(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line[:1].upper() + line[1:]


def _why(own: pd.DataFrame) -> str:
    reason = _first(str(own["why"].iloc[0]))
    return f"{reason}." if reason else ""


def _shown(value: Any) -> str:
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
