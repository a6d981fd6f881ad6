"""Counterfactuals against closed forms, a constrained optimiser and the model's own decisions."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PowerTransformer, StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM

from explicate.mistic.counterfactuals import boundary_counterfactuals
from explicate.mistic.explained import explained_svm

#: libsvm's seed is drawn from the global generator unless a state is given.
svc = partial(SVC, random_state=0)

X, Y = make_classification(120, 5, n_informative=4, n_redundant=0, flip_y=0.05, random_state=0)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "sigmoid"])
def test_gradient_in_user_units_agrees_with_differences(kernel):
    model = make_pipeline(MinMaxScaler((-1, 3)), svc(kernel=kernel, coef0=0.5, gamma=0.2)).fit(X, Y)
    explained, rows = explained_svm(model, X[:6])
    step = 1e-5
    numeric = np.stack(
        [
            (model.decision_function(rows + step * unit) - model.decision_function(rows - step * unit)) / (2 * step)
            for unit in np.eye(5)
        ],
        axis=1,
    )
    np.testing.assert_allclose(explained.gradient(rows, 0), numeric, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(explained.decisions(rows)[:, 0], model.decision_function(rows), atol=1e-9)


def test_linear_is_the_orthogonal_projection():
    svm = svc(kernel="linear").fit(X, Y)
    w, f = svm.coef_[0], svm.decision_function(X)
    result = boundary_counterfactuals(svm, X)
    np.testing.assert_allclose(result.values, X - f[:, None] * w / (w @ w), atol=1e-6)
    np.testing.assert_allclose(result.distances, np.abs(f) / np.linalg.norm(w), atol=1e-6)
    assert result.success.all()


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_success_means_the_models_own_decision_is_zero(kernel):
    model = make_pipeline(StandardScaler(), svc(kernel=kernel)).fit(X * 100 + 7, Y)
    result = boundary_counterfactuals(model, X * 100 + 7)
    assert result.success.mean() > 0.95
    assert np.abs(model.decision_function(result.values[result.success])).max() < 1e-6
    labels = model.predict(X * 100 + 7)
    np.testing.assert_array_equal(result.classes[:, 0], labels)
    np.testing.assert_array_equal(result.classes[:, 1], 1 - labels)


def test_as_near_as_a_general_optimiser():
    svm = svc(gamma=0.2).fit(X, Y)
    result = boundary_counterfactuals(svm, X[:12])
    for row, distance in zip(X[:12], result.distances, strict=True):
        found = [
            minimize(
                lambda u: u @ u,
                start - row,
                constraints={"type": "eq", "fun": lambda u, row=row: svm.decision_function([row + u])[0]},
                method="SLSQP",
                options={"ftol": 1e-12, "maxiter": 300},
            )
            for start in svm.support_vectors_[:10]
        ]
        best = min(np.sqrt(run.fun) for run in found if run.success)
        assert distance <= best * 1.02 + 1e-6


def test_bounds_and_immutable_features_hold():
    frame = pd.DataFrame(X, columns=list("abcde"), index=[f"r{i}" for i in range(len(X))])
    svm = svc().fit(frame, Y)
    low, high = X.min(axis=0), X.max(axis=0)
    result = boundary_counterfactuals(svm, frame[:40], bounds=(low, high), immutable=["b", "d"])
    assert (result.changes[:, [1, 3]] == 0).all()
    assert (result.values >= low - 1e-12).all()
    assert (result.values <= high + 1e-12).all()
    assert result.success.mean() > 0.5
    free = boundary_counterfactuals(svm, frame[:40])
    both = result.success & free.success
    assert (result.distances[both] >= free.distances[both] * 0.98).all()
    assert result.to_frame().index.tolist() == frame.index[:40].tolist()


def test_nothing_movable_is_reported_as_failure():
    result = boundary_counterfactuals(svc().fit(X, Y), X[:3], immutable=range(5))
    assert not result.success.any()
    assert (result.values == X[:3]).all()
    assert result.metrics()["success_rate"] == 0


def test_three_classes_reach_the_boundary_with_the_runner_up_or_the_target():
    data, y = load_iris(return_X_y=True)
    names = np.array(["s", "ve", "vi"])
    model = make_pipeline(StandardScaler(), svc(decision_function_shape="ovo")).fit(data, names[y])
    result = boundary_counterfactuals(model, data[::10])
    assert result.success.all()
    np.testing.assert_array_equal(result.classes[:, 0], model.predict(data[::10]))
    pairs = [("s", "ve"), ("s", "vi"), ("ve", "vi")]
    at = model.decision_function(result.values)
    for row, pair in zip(at, result.classes, strict=True):
        assert abs(row[pairs.index(tuple(sorted(pair)))]) < 1e-6
    aimed = boundary_counterfactuals(model, data[:5], target="vi")
    assert (aimed.classes == ["s", "vi"]).all()
    with pytest.raises(ValueError, match="target='x' is no class"):
        boundary_counterfactuals(model, data, target="x")


@pytest.mark.global_random  # SVR and OneClassSVM take no state and draw their seed
def test_regression_needs_a_level_and_one_class_does_not():
    svr = SVR().fit(X, X[:, 0])
    result = boundary_counterfactuals(svr, X[:5], target=0.5)
    np.testing.assert_allclose(svr.predict(result.values[result.success]), 0.5, atol=1e-6)
    assert result.success.any()
    with pytest.raises(ValueError, match="give the level"):
        boundary_counterfactuals(svr, X[:5])
    one = OneClassSVM(nu=0.2, gamma=0.1).fit(X)
    edge = boundary_counterfactuals(one, X[:20])
    assert edge.success.all()
    assert np.abs(one.decision_function(edge.values)).max() < 1e-6


def test_array_and_frame_agree_and_inputs_stay():
    rows = X[:10].copy()
    rows.flags.writeable = False
    svm = svc().fit(X, Y)
    named = svc().fit(pd.DataFrame(X, columns=list("abcde")), Y)
    a = boundary_counterfactuals(svm, rows)
    b = boundary_counterfactuals(named, pd.DataFrame(rows, columns=list("abcde"))[list("edcba")])
    np.testing.assert_array_equal(a.values, b.values)


def test_what_cannot_be_explained_says_why():
    model = make_pipeline(PowerTransformer(), svc()).fit(X, Y)
    with pytest.raises(ValueError, match=r"\['powertransformer'\] before the SVM are not affine"):
        boundary_counterfactuals(model, X)
    with pytest.raises(ValueError, match="missing or infinite"):
        boundary_counterfactuals(svc().fit(X, Y), np.full((1, 5), np.nan))
    with pytest.raises(ValueError, match="immutable names"):
        boundary_counterfactuals(svc().fit(X, Y), X, immutable=["zz"])
    with pytest.raises(ValueError, match="low above its high"):
        boundary_counterfactuals(svc().fit(X, Y), X, bounds=(1.0, 0.0))
