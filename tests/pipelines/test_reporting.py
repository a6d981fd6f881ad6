"""The page holds what stages found, and still comes out when they found nothing."""

import pandas as pd

from explicate.pipelines.reporting.nodes import write_report
from explicate.pipelines.reporting.options import Reporting

NASTY = '<script>"a"</script>'
PROBLEM = {
    "target": "label",
    "task": "classification",
    "classes": ["no", "yes"],
    "positive_class": "yes",
    "features": [NASTY, "b"],
    "categorical": [],
}


def page(**found):
    empty = {
        "counts": pd.DataFrame(),
        "sofi_ranking": pd.DataFrame({"feature": [], "drop": []}),
        "sofi_local": pd.DataFrame({"row": []}),
        "pcfi_importance": pd.DataFrame({"class": [], "feature": [], "importance": [], "rank": []}),
        "prototypes_table": pd.DataFrame(),
        "comparison_scores": pd.DataFrame({"method": [], "ds": []}),
        "agreement": pd.DataFrame(),
    }
    texts = dict.fromkeys(["sofi_text", "pcfi_text", "prototypes_text", "alike_text", "comparison_text"], "")
    given = {"problem": PROBLEM, "model_scores": {}, "parameters": {}, "options": Reporting(local_shown=1)}
    return write_report(**{**given, **empty, **texts, **found})


def test_nothing_found_is_still_a_page():
    html = page()
    assert "No global explanation in this run." in html
    assert "<img" not in html


def test_findings_are_shown_and_escaped():
    ranking = pd.DataFrame({"rank": [1, 2], "feature": [NASTY, "b"], "drop": [0.7, 0.3]})
    classes = pd.DataFrame({"class": NASTY, "feature": [NASTY, "b"], "importance": [0.4, 0.6], "rank": [2, 1]})
    html = page(
        sofi_text="leads, proved optimal\nmore",
        sofi_ranking=ranking,
        sofi_local=pd.concat([ranking.assign(row=7001), ranking.assign(row=7002)]),
        pcfi_importance=classes,
        parameters={"sofi": {f"option_{k}": k for k in range(40)}},
    )
    assert '<p class="lead">leads, proved optimal</p>' in html
    assert "<script" not in html
    assert html.count("<img") == 2
    assert "7001" in html
    assert "<td>7002" not in html
    assert "option_39" in html
