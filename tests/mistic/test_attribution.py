"""Integrated gradients: completeness of the model's own output, closed forms, invariances."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from explicate.mistic.attribution import integrated_gradients

#: libsvm's seed is drawn from the global generator unless a state is given.
svc = partial(SVC, random_state=0)

X, Y = make_classification(120, 5, n_informative=4, n_redundant=0, flip_y=0.05, random_state=0)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("gamma", [0.05, 0.5])
def test_completeness_of_the_models_own_decision(kernel, gamma):
    # A polynomial gradient that lacks gamma would be off by the factor 1 / gamma here.
    model = make_pipeline(StandardScaler(), svc(kernel=kernel, gamma=gamma, coef0=0.3)).fit(X, Y)
    reference = X.mean(axis=0)
    result = integrated_gradients(model, X[:30], reference=reference)
    change = model.decision_function(X[:30]) - model.decision_function([reference])
    np.testing.assert_allclose(result.values.sum(axis=1), change, atol=1e-6)
    assert np.abs(result.gaps).max() < 1e-6


def test_linear_is_weight_times_change():
    svm = svc(kernel="linear").fit(X, Y)
    result = integrated_gradients(svm, X, reference=np.zeros(5))
    np.testing.assert_allclose(result.values, X * svm.coef_[0], atol=1e-9)
    assert result.interaction_scores.max() < 1e-6
    np.testing.assert_allclose(result.importance, np.abs(X * svm.coef_[0]).mean(axis=0))


def test_agrees_with_a_fine_trapezoid():
    svm = svc(gamma=0.3).fit(X, Y)
    row, start, step = X[0], X[1], 1e-6
    grid = np.linspace(0, 1, 2001)
    path = start + grid[:, None] * (row - start)
    slopes = np.stack(
        [(svm.decision_function(path + step * e) - svm.decision_function(path - step * e)) / (2 * step)
         for e in np.eye(5)], axis=1)  # fmt: skip
    expected = (row - start) * np.trapezoid(slopes, grid, axis=0)
    np.testing.assert_allclose(integrated_gradients(svm, [row], reference=start).values[0], expected, atol=1e-6)


def test_the_default_reference_is_on_the_boundary():
    svm = svc().fit(X, Y)
    result = integrated_gradients(svm, X[:20])
    np.testing.assert_allclose(svm.decision_function(result.references), 0, atol=1e-6)
    np.testing.assert_allclose(result.values.sum(axis=1), svm.decision_function(X[:20]), atol=3e-6)


def test_few_steps_are_refined_until_complete():
    svm = svc(gamma=5.0).fit(X, Y)
    result = integrated_gradients(svm, X[:10], reference=X[50], n_steps=5)
    assert np.abs(result.gaps).max() < 1e-6
    assert result.steps.max() > 5
    np.testing.assert_allclose(
        result.values, integrated_gradients(svm, X[:10], reference=X[50], n_steps=2000).values, atol=1e-5
    )


def test_completeness_of_the_models_own_probability():
    inner = make_pipeline(StandardScaler(), svc())
    model = CalibratedClassifierCV(inner, ensemble=False, cv=3).fit(X, np.where(Y == 1, "yes", "no"))
    result = integrated_gradients(model, X[:20], reference=X[40], output="probability")
    change = model.predict_proba(X[:20])[:, 1] - model.predict_proba(X[40:41])[:, 1]
    np.testing.assert_allclose(result.values.sum(axis=1), change, atol=1e-6)
    with pytest.raises(ValueError, match="no single sigmoid"):
        integrated_gradients(svc().fit(X, Y), X, output="probability")


def test_three_classes_explain_the_pairwise_decision():
    data, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), svc(decision_function_shape="ovo")).fit(data, y)
    result = integrated_gradients(model, data[::15], reference=data.mean(axis=0))
    own = model.decision_function(data[::15]) - model.decision_function(data.mean(axis=0)[None])
    gap = np.abs(result.values.sum(axis=1)[:, None] - own).min(axis=1)
    assert gap.max() < 1e-6


@pytest.mark.global_random  # SVR and OneClassSVM take no state and draw their seed
def test_regression_needs_a_reference():
    X = np.random.default_rng(0).normal(size=(300, 5))
    svr = SVR(C=100).fit(X, X[:, 0] * X[:, 1])
    with pytest.raises(ValueError, match="reference=None: a regressor"):
        integrated_gradients(svr, X)
    result = integrated_gradients(svr, X, reference=np.zeros(5))
    change = svr.predict(X) - svr.predict(np.zeros((1, 5)))
    np.testing.assert_allclose(result.values.sum(axis=1), change, atol=1e-6)
    scores = result.interaction_scores
    assert scores[0].argmax() == 1
    assert scores[1].argmax() == 0
    assert (np.diag(scores) == 0).all()


def test_columns_and_rows_may_be_permuted():
    order, rows = [3, 0, 4, 1, 2], np.arange(10)[::-1]
    a = integrated_gradients(svc(gamma=0.2).fit(X, Y), X[:10], reference=X[20])
    b = integrated_gradients(svc(gamma=0.2).fit(X[:, order], Y), X[rows][:, order], reference=X[20, order])
    np.testing.assert_allclose(a.values[rows][:, order], b.values, atol=1e-6)


def test_frame_keeps_names_and_index_and_inputs_stay():
    frame = pd.DataFrame(X, columns=list("abcde"), index=np.arange(120) + 1000)
    result = integrated_gradients(svc().fit(frame, Y), frame[:4], reference=np.zeros(5))
    assert result.to_frame().columns.tolist() == list("abcde")
    assert result.to_frame().index.tolist() == [1000, 1001, 1002, 1003]
    rows = X[:4].copy()
    rows.flags.writeable = False
    np.testing.assert_array_equal(
        integrated_gradients(svc().fit(X, Y), rows, reference=np.zeros(5)).values, result.values
    )
    assert "completeness gap" in result.summary()
    with pytest.raises(ValueError, match="reference has shape"):
        integrated_gradients(svc().fit(X, Y), X, reference=[0.0])


def test_interaction_scores_are_partial_determination():
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(40, 4))
    rows[:, 1] = rows[:, 1] > 0  # its square is itself
    rows[:, 3] = 2.0
    values = generator.normal(size=(40, 4)) + rows[:, [2]] * rows + rows[:, [0]]
    base = integrated_gradients(svc(kernel="linear").fit(X[:, :4], Y), X[:40, :4], reference=np.zeros(4))
    scores = replace(base, rows=rows, values=values).interaction_scores

    def left(target, columns):
        design = np.column_stack(columns)
        return ((target - design @ np.linalg.lstsq(design, target, rcond=None)[0]) ** 2).sum()

    for i in range(4):
        x = rows[:, i]
        own = [np.ones(40), x, x**2]
        for j in range(4):
            if i == j:
                assert scores[i, j] == 0
                continue
            before = left(values[:, i], own)
            after = left(values[:, i], [*own, rows[:, j], x * rows[:, j]])
            assert scores[i, j] == pytest.approx(np.sqrt(max(before - after, 0) / before), abs=1e-6)
