"""The stage works on what other stages hand over, and when they hand over nothing."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from explicate.comparison.rankings import no_rankings
from explicate.pipelines.comparison.nodes import compare_rankings
from explicate.pipelines.comparison.options import Comparison
from explicate.pipelines.sofi.nodes import explain_globally
from explicate.pipelines.sofi.options import Sofi


@pytest.fixture(scope="module")
def run():
    generator = np.random.default_rng(0)
    table = pd.DataFrame(generator.normal(size=(60, 3)), columns=["a", "b", "c"])
    table["label"] = np.where(table["b"] > 0, "yes", "no")
    problem = {
        "target": "label",
        "task": "classification",
        "classes": ["no", "yes"],
        "positive_class": "yes",
        "features": ["a", "b", "c"],
        "categorical": [],
    }
    model = RandomForestClassifier(10, random_state=0).fit(table[["a", "b", "c"]], table["label"])
    return model, table, table.head(20), problem


def test_every_ranking_is_scored_and_a_users_own_joins(run):
    sofi = pd.DataFrame({"feature": ["b", "a", "c"], "rank": [1, 2, 3]})
    pcfi = pd.DataFrame(
        {"class": ["no"] * 3, "feature": list("abc"), "importance": [0.1, 0.7, 0.2], "overall": [0.2, 0.7, 0.1]}
    )
    mistic = pd.DataFrame({"feature": ["b", "c", "a"], "rank": [1, 2, 3]})
    extra = pd.DataFrame({"method": "worst", "feature": ["c", "a", "b"], "rank": [1, 2, 3]})
    scores, agreement, metrics, *_, text = compare_rankings(
        *run,
        pcfi,
        {"sofi.seconds": 0.5, "sofi.queries": 8.0},
        extra,
        Sofi(),
        Comparison(n_random=3),
        sofi=sofi,
        mistic=mistic,
    )
    methods = {"sofi", "mistic", "pcfi", "pcfi.no", "worst", "permutation", "impurity", "shap", "single_drops"}
    assert set(scores["method"]) == methods | {"random"}
    assert len(agreement) == len(methods) * (len(methods) - 1) / 2
    assert metrics["comparison.sofi.ds"] > metrics["comparison.worst.ds"]
    assert "best first" in text
    cost = scores.set_index("method").loc["sofi", ["seconds", "queries"]]
    assert cost.tolist() == [0.5, 8.0]


def test_absent_methods_leave_the_rest(run):
    empty = pd.DataFrame({"feature": [], "rank": []})
    scores, *_ = compare_rankings(*run, empty, {}, no_rankings(), Sofi(), Comparison(n_random=0), sofi=empty)
    assert {"permutation", "shap"} <= set(scores["method"])


def test_no_ranking_beats_the_proved_optimum_of_the_stage(run):
    model, train, reliable, problem = run
    protocol = Sofi(n_background=4, random_state=3, stability_draws=0, search="exact")
    ranking, *_, metrics, _, _ = explain_globally(model, train, reliable, problem, protocol)
    scores, *_ = compare_rankings(
        *run, ranking.head(0), {}, no_rankings(), protocol, Comparison(n_random=5), sofi=ranking
    )
    of = scores.set_index("method")["ds"]
    assert of["sofi"] == pytest.approx(metrics["sofi.ds"])
    assert of.drop("random").max() == pytest.approx(of["sofi"])
