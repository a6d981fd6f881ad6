from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.svm import SVC

from explicate.modelling import build_pipeline
from explicate.pipelines.prototypes.nodes import explain_by_prototypes, score_surrogates, select_prototypes
from explicate.pipelines.prototypes.options import Prototypes
from explicate.tables import check_table, features_and_target


def run(target, estimator, **options):
    generator = np.random.default_rng(0)
    n = 90
    raw = pd.DataFrame(
        {
            "size": generator.normal(size=n),
            "kind": generator.choice(["red", "blue"], n),
            "row": generator.normal(size=n),
        }
    )
    raw["target"] = target(raw)
    table, problem = check_table(raw, "target")
    train, test = table.iloc[:60], table.iloc[60:]
    X, y = features_and_target(train, problem)
    model = build_pipeline(estimator, X, problem).fit(X, y)
    chosen = Prototypes(**options)
    selections = select_prototypes(model, train, problem, chosen)
    scores = score_surrogates(selections, test, problem, chosen)
    return model, train, test, selections, scores, explain_by_prototypes(selections, test, problem, chosen)


def label(raw):
    return np.where(raw["size"] > 0, "large", "small")


def test_raw_and_informed_side_by_side():
    _, train, test, _, scores, explained = run(label, RandomForestClassifier(10, random_state=0), n_prototypes=2)
    prototypes, table, metrics, figure, text = scores
    assert prototypes["selection"].tolist() == ["raw"] * 4 + ["informed"] * 4
    assert set(prototypes["row"]) <= set(train.index)
    row = prototypes.iloc[0]
    assert row["kind"] == train.loc[row["row"], "kind"]  # as the user wrote it
    assert row["row (feature)"] == train.loc[row["row"], "row"]  # a feature named like a column of ours
    assert table["selection"].tolist() == ["raw", "informed"]
    assert {"prototypes.raw.accuracy", "prototypes.informed.fidelity", "prototypes.agreement.rand"} <= set(metrics)
    assert all(isinstance(value, float) for value in metrics.values())
    assert text.startswith("raw: 4 prototypes")
    assert len(figure.axes) == 2
    alike, frequency, numbers, drawn, sentence = explained
    assert len(alike) == 2 * len(test)
    assert (alike["predicted"] == alike["prototype_class"]).all()
    assert (alike["alike_part"].str.contains("size")).mean() > 0.9
    assert frequency["feature"].tolist() == ["size", "kind", "row"]
    assert "prototypes.informed.alike_length" in numbers
    assert "like row" in sentence
    assert drawn.axes


@pytest.mark.parametrize(("algorithm", "n_prototypes"), [("sma", 6), ("apete", None), ("apete", 3)])
def test_every_algorithm_and_the_raw_selection_alone(algorithm, n_prototypes):
    *_, scores, _ = run(
        label, RandomForestClassifier(10, random_state=0), algorithm=algorithm, n_prototypes=n_prototypes, beta=0.0
    )
    assert scores[1]["selection"].tolist() == ["raw"]
    assert "prototypes.agreement.rand" not in scores[2]


def test_regressor_is_explained_by_bands():
    *_, scores, explained = run(
        lambda raw: raw["size"] * 10 + 0.5, RandomForestRegressor(10, random_state=0), n_prototypes=2, n_bands=3
    )
    assert scores[0]["predicted"].nunique() == 3
    assert scores[2]["prototypes.raw.fidelity"] > 0.5
    assert (explained[0]["predicted"] == explained[0]["prototype_class"]).all()


def test_any_classifier_is_explained_by_features():
    *_, selections, scores, _ = run(label, SVC(random_state=0), n_prototypes=2, max_rows=40)
    assert len(selections["background"]) == 40
    assert scores[2]["prototypes.raw.fidelity"] > 0.5


def test_missing_number_of_prototypes_is_named():
    with pytest.raises(ValueError, match="n_prototypes is null"):
        run(label, RandomForestClassifier(5, random_state=0), algorithm="sma", n_prototypes=None)
