"""Nodes of the stage `reporting`."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from explicate.pipelines.reporting.options import Reporting
from explicate.tables import Problem


def write_report(
    problem: Problem,
    model: Any,
    reliable: pd.DataFrame,
    run_warnings: pd.DataFrame,
    parameters: Mapping[str, Any],
    options: Reporting,
    **found: Any,
) -> str:
    """Lay out what the stages found, as one page; `found` holds their datasets (``sofi_ranking_table``, …)."""
    from explicate.pipelines.reporting import sections
    from explicate.report.page import render_report

    ranking, sofi = found["sofi_ranking_table"], found["sofi_explanation_metrics"]
    prototypes = found["prototypes_prototypes_table"]
    page = [
        sections.explained(
            problem, model, found["reliable_instances_counts_table"], found["model_training_scores_metrics"], options
        ),
        sections.global_explanation(
            ranking, found["sofi_curves_table"], found["sofi_stability_table"], found["sofi_summary_text"], options
        ),
        sections.local_explanations(
            found["sofi_local_table"], reliable, found["prototypes_alike_table"], prototypes, options
        ),
        sections.per_class(found["pcfi_importance_table"], found["pcfi_summary_text"], options),
        sections.prototypes_found(
            found["prototypes_scores_table"],
            prototypes,
            [found["prototypes_summary_text"], found["prototypes_alike_text"]],
        ),
        sections.svm_subset(
            found["mistic_performance_table"],
            found["mistic_ranking_table"],
            found["mistic_selection_metrics"],
            [found["mistic_summary_text"], found["mistic_explanation_text"]],
        ),
        sections.agreement(
            found["comparison_scores_table"],
            found["comparison_agreement_table"],
            found["comparison_summary_text"],
            options,
        ),
        sections.warned(run_warnings),
        sections.settings(parameters),
        sections.cite(),
    ]
    title = f"What the model of {problem['target']} relies on"
    return render_report(title, sections.lead(problem, ranking, sofi), page, max_rows=options.max_rows)
