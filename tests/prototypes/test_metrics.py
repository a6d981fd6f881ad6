from __future__ import annotations

import joblib
import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from explicate.prototypes import (
    APete,
    GowerDistance,
    GreedyKMedoids,
    compare_prototypes,
    feature_diversity,
    score_prototypes,
    tune,
)

ROWS, LABELS = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]]), np.array(["a"] * 3 + ["b"] * 3)


@pytest.fixture(scope="module")
def selector():
    return GreedyKMedoids(GowerDistance(), 1).fit(ROWS, LABELS)


def test_scores_by_hand(selector):
    predicted = np.array(["a", "a", "b", "b"])
    scores = score_prototypes(selector, [[0.0], [1.0], [2.0], [9.0]], ["a", "b", "b", "b"], predicted=predicted)
    values = scores.metrics()
    assert selector.prototypes_.tolist() == [[1.0], [9.0]]
    assert values["fidelity"] == 0.75
    assert values["accuracy"] == 0.5
    assert values["balanced_fidelity"] == 0.75
    assert np.isclose(values["hubness_entropy"], -(0.75 * np.log(0.75) + 0.25 * np.log(0.25)) / np.log(2))
    similarity = 1 - np.array([[0.1, 0.9], [0.0, 0.8], [0.1, 0.7], [0.8, 0.0]])
    assert np.isclose(values["within_similarity"], similarity[[0, 1, 2, 3], [0, 0, 1, 1]].mean())
    assert np.isclose(values["between_similarity"], similarity[[0, 1, 2, 3], [1, 1, 0, 0]].mean())
    assert scores.to_frame()["coverage"].tolist() == [0.75, 0.25]
    assert scores.classes["fidelity"].tolist() == [1.0, 0.5]
    assert scores.classes["accuracy"].tolist() == [1.0, 1 / 3]
    assert scores.summary() == "2 prototypes: fidelity 0.750, accuracy 0.500."


def test_contribution_is_the_fidelity_lost_without_the_prototype(iris):
    X, y = iris
    fitted = GreedyKMedoids(GowerDistance(), 3).fit(X, y)
    found = score_prototypes(fitted, X, predicted=y).to_frame()["contribution"]
    distances = fitted.transform(X)
    whole = (fitted.prototype_classes_[distances.argmin(axis=1)] == y).mean()
    for k in range(distances.shape[1]):
        left = np.delete(distances, k, axis=1).argmin(axis=1)
        without = (np.delete(fitted.prototype_classes_, k)[left] == y).mean()
        assert np.isclose(found[k], whole - without)


def test_agreement_of_a_set_with_itself_and_with_another(iris):
    X, y = iris
    one, other = GreedyKMedoids(GowerDistance(), 2).fit(X, y), APete(GowerDistance(), 0.5).fit(X, y)
    assert set(compare_prototypes(one, one, X).values()) == {1.0}
    assert compare_prototypes(one, other, X)["rand"] < 1
    assert compare_prototypes(one, other, X) == compare_prototypes(one, other, X)


def test_feature_diversity_by_hand():
    importance = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    found = feature_diversity(importance)
    assert np.isclose(found["feature_diversity"], 0.5)
    assert np.isclose(found["features_highlighted"], 2 / 3)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_tuning_chooses_on_validation_and_reports_on_test(iris, forest, wine, n_jobs):
    X, y = wine
    parts = [np.arange(start, 178, 3) for start in range(3)]
    train, validation, test = [(X.iloc[part], y.iloc[part]) for part in parts]
    grid = {"n_prototypes": [1, 4], "beta": [0.0, 0.5]}
    with joblib.parallel_config("threading"):  # starting processes takes longer than the work
        tuning = tune(GreedyKMedoids(forest), grid, train[0], validation, test, n_jobs=n_jobs)
    trials = tuning.to_frame()
    assert len(trials) == 4
    best = trials[trials["chosen"]].iloc[0]
    assert best["validation_accuracy"] == trials["validation_accuracy"].max()
    assert tuning.best.n_prototypes == best["n_prototypes"]
    again = score_prototypes(tuning.best, *test).metrics()
    assert tuning.metrics()["test_accuracy"] == again["accuracy"]
    assert "4 settings; chosen" in tuning.summary()


def test_optuna_search_is_seeded():
    pytest.importorskip("optuna")
    arguments = (GreedyKMedoids(GowerDistance()), {"n_prototypes": [1, 2, 3]}, ROWS, (ROWS, LABELS))
    found = [tune(*arguments, y=LABELS, search="optuna", n_trials=4).to_frame() for _ in range(2)]
    assert found[0].equals(found[1])
    assert len(found[0]) == 4


def test_empty_grid_is_refused(selector):
    with pytest.raises(ValueError, match="grid is empty"):
        tune(selector, {}, ROWS, (ROWS, LABELS), y=LABELS)


def test_labels_that_do_not_fit_the_rows_or_the_model_are_named(iris):
    X, y = iris
    selector = GreedyKMedoids(RandomForestClassifier(5, random_state=0).fit(X, y), 2).fit(X)
    with pytest.raises(ValueError, match="y has 3 labels and X has 150 rows"):
        score_prototypes(selector, X, y[:3])
    with pytest.raises(ValueError, match="y holds '0', '1', '2', none of them a class of the model"):
        score_prototypes(selector, X, y.astype(str))
