"""The stage `mistic` selects, scores and explains for two classes, several, and numbers; and says when it cannot."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from explicate.pipelines.mistic.nodes import explain_decisions, score_selection, select_features
from explicate.pipelines.mistic.options import Mistic
from explicate.tables import check_table

pytestmark = pytest.mark.filterwarnings("ignore:the performance curve has no knee:UserWarning")  # tiny tables


def table(target):
    generator = np.random.default_rng(0)
    raw = pd.DataFrame(
        {
            "size": generator.normal(size=110),
            "kind": generator.choice(["red", "blue", "green"], 110),
            "noise": generator.normal(size=110),
            "flag": generator.random(110) < 0.5,
        }
    )
    raw["target"] = target(raw)
    raw.loc[::17, "size"] = np.nan
    return check_table(raw, "target")


def run(target, **options):
    checked, problem = table(target)
    train, test = checked.iloc[:70], checked.iloc[70:]
    chosen = Mistic(**options)
    selected, full, ranking, performance = select_features(train, problem, chosen)
    scores = score_selection(selected, full, test, problem)
    explained = explain_decisions(selected, test, problem, chosen)
    return selected, ranking, performance, scores, explained


def two(raw):
    return np.where(raw["size"] + (raw["kind"] == "red") > 0.3, "yes", "no")


def three(raw):
    return np.where(raw["size"] > 0.7, 2, np.where(raw["kind"] == "red", 1, 0))


@pytest.mark.parametrize(("target", "score"), [(two, "accuracy"), (three, "accuracy")])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_classes(target, score, direction):
    selected, ranking, performance, scores, explained = run(target, direction=direction, select=2, explained_rows=8)
    kept = set(ranking["feature"].iloc[:2])
    assert kept == {"size", "kind"} if direction == "forward" else len(kept) == 2
    assert ranking["selected"].tolist() == [True, True, False, False]
    assert performance["n_features"].tolist() == [1, 2, 3, 4]
    columns, metrics, figure, text = scores
    assert set(columns["feature"]) == kept
    assert (columns["feature"] == "kind").sum() in (0, 3)  # a one-hot block stays whole
    assert metrics[f"mistic.selected.{score}"] > 0.8 or direction == "backward"  # 70 rows mislead it
    assert metrics["mistic.n_selected"] == 2.0
    assert {f"mistic.full.{score}", "mistic.selected.roc_auc", "mistic.C"} <= set(metrics)
    assert all(isinstance(value, float) for value in metrics.values())
    assert text.startswith("2 of 4 features (")
    assert figure.axes
    attributions, counterfactuals, numbers, *figures, note = explained
    assert len(attributions) == len(counterfactuals) == 8
    assert attributions["row"].min() >= 70
    assert numbers["mistic.attributions.max_completeness_gap"] < 1e-6
    assert numbers["mistic.counterfactuals.success_rate"] > 0.5
    assert all(one.axes for one in figures)
    assert "rows reached the boundary" in note
    assert selected.predict(table(target)[0].iloc[:3][["size", "kind", "noise", "flag"]]).shape == (3,)


def test_regression_explains_from_the_mean():
    selected, ranking, _, scores, explained = run(
        lambda raw: 300 + 40 * raw["size"] + 30 * (raw["kind"] == "red"), select=2, explained_rows=6
    )
    assert set(ranking["feature"].iloc[:2]) == {"size", "kind"}
    assert scores[1]["mistic.selected.r2"] > 0.5
    assert explained[2]["mistic.attributions.max_completeness_gap"] < 1e-6
    assert abs(selected.predict(table(two)[0].iloc[:5]).mean() - 300) < 60  # in units of the target


def test_a_class_of_one_row_is_skipped_with_a_reason():
    def rare(raw):
        labels = two(raw).astype(object)
        labels[5] = "rare"
        return labels

    selected, ranking, performance, scores, explained = run(rare)
    assert selected is None
    assert ranking.empty
    assert "n_features" in performance
    assert scores[1] == explained[2] == {}
    assert scores[3] == explained[-1]
    assert "MISTIC skipped: a class has a single training row" in scores[3]
