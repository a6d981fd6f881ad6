"""The page holds what stages found, and still comes out when they found nothing."""

import re

import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from explicate.core.labels import EncodedLabels
from explicate.pipelines.reporting.nodes import write_report
from explicate.pipelines.reporting.options import Reporting
from explicate.pipelines.reporting.pipeline import FINISHED
from explicate.report.references import REFERENCES

NASTY = '<script>"a"</script>'
OTHER = "b, c"
PROBLEM = {
    "target": "label",
    "task": "classification",
    "classes": ["no", "yes"],
    "positive_class": "yes",
    "features": [NASTY, OTHER],
    "categorical": [],
}
SKIPPED = {
    "model_training.scores_metrics": {},
    "reliable_instances.counts_table": pd.DataFrame(),
    "sofi.ranking_table": pd.DataFrame({"rank": [], "feature": [], "drop": [], "importance": []}),
    "sofi.curves_table": pd.DataFrame({"marginalised": [], "morf": [], "lerf": []}),
    "sofi.stability_table": pd.DataFrame({"feature": [], "mean_rank": [], "sd_rank": []}),
    "sofi.explanation_metrics": {},
    "sofi.local_table": pd.DataFrame({"row": [], "rank": [], "feature": [], "drop": [], "why": []}),
    "pcfi.importance_table": pd.DataFrame({"class": [], "feature": [], "importance": [], "rank": [], "overall": []}),
    "prototypes.prototypes_table": pd.DataFrame(),
    "prototypes.scores_table": pd.DataFrame(),
    "prototypes.alike_table": pd.DataFrame(),
    "mistic.ranking_table": pd.DataFrame(columns=["rank", "feature", "mean_rank", "rank_sd", "selected"]),
    "mistic.performance_table": pd.DataFrame(columns=["n_features", "score", "score_sd"]),
    "mistic.selection_metrics": {},
    "comparison.scores_table": pd.DataFrame({"method": [], "ds": [], "ds_low": [], "ds_high": []}),
    "comparison.agreement_table": pd.DataFrame(columns=["method", "other", "kendall_tau"]),
}
TEXTS = {name: f"{name}: skipped, and why" for name in FINISHED if name.endswith("_text")}


@pytest.fixture(scope="module")
def model():
    return RandomForestClassifier(2, random_state=0).fit([[0, 1], [1, 0]], ["no", "yes"])


def page(model, **found):
    given = {
        "problem": PROBLEM,
        "model": model,
        "reliable": pd.DataFrame(),
        "run_warnings": pd.DataFrame(columns=["source", "warning", "times"]),
        "parameters": {},
        "options": Reporting(table="t", local_shown=1),
    }
    stored = {name.replace(".", "_"): data for name, data in {**SKIPPED, **TEXTS}.items()}
    assert set(stored) == {name.replace(".", "_") for name in FINISHED}
    return write_report(**{**given, **stored, **found})


def test_stages_that_were_skipped_say_why_and_nothing_is_made_up(model):
    html = page(model)
    assert "No global explanation in this run." in html
    assert "<img" not in html
    for stage in ("sofi", "pcfi", "prototypes", "mistic", "comparison"):
        assert f"{stage}.summary_text: skipped, and why" in html.lower()


def test_findings_are_shown_and_escaped(model):
    ranking = pd.DataFrame({"rank": [1, 2], "feature": [NASTY, OTHER], "drop": [0.7, 0.3], "importance": [1, 0.5]})
    classes = pd.DataFrame(
        {"class": NASTY, "feature": [NASTY, OTHER], "importance": [0.4, 0.6], "rank": [2, 1], "overall": [0.1, 0.9]}
    )
    local = [ranking.assign(row=7001, why="most confident"), ranking.assign(row=7002, why="")]
    alike = {"selection": "informed", "row": [7001, 7002], "predicted": NASTY, "prototype": [3, 3]}
    alike |= {"prototype_class": NASTY, "alike_part": [OTHER, f"{NASTY}, {OTHER}"], "explanation": "like row 3 in …"}
    prototypes = {"selection": "informed", "row": [3], "predicted": NASTY, "coverage": 1.0, "gain": 1.0}
    html = page(
        model,
        reliable=pd.DataFrame({NASTY: [0.125, None], OTHER: ["x", NASTY]}, index=[7001, 7002]),
        sofi_explanation_metrics={"sofi.ds": 0.5, "sofi.is_optimal": 1.0},
        sofi_ranking_table=ranking,
        sofi_curves_table=pd.DataFrame({"marginalised": [0, 1, 2], "morf": [1, 0.2, 0], "lerf": [1, 0.8, 0]}),
        sofi_local_table=pd.concat(local),
        pcfi_importance_table=classes,
        prototypes_alike_table=pd.DataFrame(alike),
        prototypes_prototypes_table=pd.DataFrame(prototypes | {NASTY: [0.25], OTHER: ["x"]}),
        prototypes_scores_table=pd.DataFrame({"selection": ["informed"], "fidelity": [0.875]}),
        model_training_scores_metrics={"model.test.accuracy": 0.625, "model.validation.accuracy": 0.75},
        run_warnings=pd.DataFrame({"source": ["UserWarning"], "warning": [NASTY], "times": [3]}),
        parameters={"sofi": {f"option_{k}": k for k in range(40)}},
    )
    assert "proved: no ranking scores higher" in html
    assert "<script" not in html
    assert html.count("<img") == 4
    assert "Row 7001" in html
    assert "Row 7002" not in html
    (shared,) = re.findall(r"<tr>((?:(?!</tr>).)*✓.*?)</tr>", html)  # `b, c` alone, not the feature `<script>…`
    assert "b, c" in shared
    assert "0.625" in html
    assert "RandomForestClassifier" in html
    assert "option_39" in html
    assert all(method in html for method in REFERENCES)


def test_the_model_is_named_without_what_wraps_it(model):
    assert "Model: RandomForestClassifier," in page(make_pipeline(model))
    wrapped = EncodedLabels(RandomForestClassifier(2, random_state=0)).fit([[0, 1], [1, 0]], ["no", "yes"])
    assert "Model: RandomForestClassifier," in page(wrapped)


def test_a_regressors_page_says_number(model):
    assert "(a number)" in page(model, problem=PROBLEM | {"task": "regression", "classes": []})


def test_a_calibrated_model_says_so(model):
    calibrated = CalibratedClassifierCV(SVC(random_state=0), ensemble=False, cv=2).fit(
        [[0], [0], [1], [1]], [0, 0, 1, 1]
    )
    assert "Model: SVC, calibrated," in page(make_pipeline(calibrated))


def test_classes_may_be_called_as_columns_are_and_hold_mathematics(model):
    names = ["feature", "overall", "$1_$2", "a long name that goes on and on and on and on until nothing is left"]
    importance = pd.DataFrame(
        [(name, feature, 0.5, 0.25, rank) for name in names for rank, feature in enumerate([NASTY, OTHER], 1)],
        columns=["class", "feature", "importance", "overall", "rank"],
    )
    html = page(model, pcfi_importance_table=importance)
    assert html.count("<img") == len(names)
    assert re.findall(r"<th[^>]*>([^<]*)</th>", html)[1:4] == ["feature", "overall", "$1_$2"]
