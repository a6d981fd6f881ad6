"""The sparse form of an SVM decides as the SVM does; gradients agree with finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, SVR, OneClassSVM

from explicate.mistic.kernels import KERNELS, Kernel, resolve_kernel
from explicate.mistic.machine import read_svm


def data(n_classes):
    X, codes = make_classification(
        90, 5, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=1
    )
    return X, np.array(["ash", "birch", "cedar"])[codes]


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_decisions_are_the_models_own(kernel, n_classes, class_weight, shape):
    X, y = data(n_classes)
    keywords = {"kernel": kernel, "class_weight": class_weight, "random_state": 0, "coef0": 0.5, "gamma": 0.3}
    model = SVC(decision_function_shape=shape, **keywords).fit(X, y)
    machine = read_svm(model)
    model.set_params(decision_function_shape="ovo")
    expected = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(machine.decisions(X), expected, atol=1e-9)
    assert len(machine.pairs) == (3 if n_classes == 3 else 0)


@pytest.mark.global_random  # libsvm draws its seed from the global generator
@pytest.mark.parametrize("kernel", KERNELS)
def test_regression_and_one_class_decisions(kernel):
    X, _ = data(2)
    for model in (SVR(kernel=kernel, gamma="scale").fit(X, X[:, 0]), OneClassSVM(kernel=kernel, gamma="auto").fit(X)):
        expected = model.predict(X) if isinstance(model, SVR) else model.decision_function(X)
        np.testing.assert_allclose(read_svm(model).decisions(X)[:, 0], expected, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradient_agrees_with_finite_differences(kernel):
    generator = np.random.default_rng(0)
    X, Y, weights = generator.normal(size=(4, 3)), generator.normal(size=(6, 3)), generator.normal(size=6)
    one = Kernel(kernel, 0.4, 3, 0.7)
    gradient = one.gradient(X, Y, weights)
    for column in range(3):
        step = np.zeros(3)
        step[column] = 1e-6
        difference = (one.matrix(X + step, Y) - one.matrix(X - step, Y)) @ weights / 2e-6
        np.testing.assert_allclose(gradient[:, column], difference, rtol=1e-5, atol=1e-7)


def test_gamma_is_the_fitted_one():
    X, y = data(2)
    model = SVC(gamma="scale", random_state=0).fit(X, y)
    assert resolve_kernel(model).gamma == pytest.approx(1 / (5 * X.var()))


def test_what_is_not_understood_is_named():
    X, y = data(2)
    own = SVC(kernel=lambda a, b: a @ b.T, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="kernel='callable' is not accepted; use one of 'rbf'"):
        read_svm(own)
    with pytest.raises(ValueError, match="kernel='precomputed' is not accepted"):
        read_svm(SVC(kernel="precomputed", random_state=0).fit(X @ X.T, y))
    with pytest.raises(TypeError, match="LogisticRegression is no kernel SVM"):
        read_svm(LogisticRegression())
