"""The sparse form of an SVM decides as the SVM does; kernels are right, and so are their gradients."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR, OneClassSVM

from explicate.mistic.kernels import KERNELS, NAMED, CompositeKernel, Kernel, add_statistics, resolve_kernel
from explicate.mistic.machine import read_svm

COMPOSED = {
    "sum": Kernel("rbf", 0.2) + Kernel("linear"),
    "product": Kernel("poly", 0.3, 2, 1.0) * Kernel("laplacian", 0.1) * Kernel("rbf", 0.1),
    "nested": (Kernel("cosine") + Kernel("chi2", 0.4)) * Kernel("sigmoid", 0.1, 3, 0.2),
}
EVERY = {name: name if name in NAMED else Kernel(name, 0.3) for name in KERNELS} | COMPOSED


def data(n_classes):
    X, codes = make_classification(
        90, 5, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=1
    )
    return X - X.min(axis=0), np.array(["ash", "birch", "cedar"])[codes]  # "chi2" is for values of at least zero


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", EVERY)
def test_decisions_are_the_models_own(kernel, n_classes, class_weight, shape):
    X, y = data(n_classes)
    keywords = {"class_weight": class_weight, "random_state": 0, "coef0": 0.5, "gamma": 0.3}
    model = SVC(kernel=EVERY[kernel], decision_function_shape=shape, **keywords).fit(X, y)
    machine = read_svm(model)
    np.testing.assert_allclose(machine.decision_function(X, shape), model.decision_function(X), atol=1e-9)
    assert machine.classes == tuple(model.classes_)
    assert len(machine.pairs) == (3 if n_classes == 3 else 0)


@pytest.mark.global_random  # libsvm draws its seed from the global generator
@pytest.mark.parametrize("kernel", EVERY)
def test_regression_and_one_class_decisions(kernel):
    X, _ = data(2)
    for model, kind in (
        (SVR(kernel=EVERY[kernel], gamma="scale").fit(X, X[:, 0]), "regressor"),
        (OneClassSVM(kernel=EVERY[kernel], gamma="auto").fit(X), "one_class"),
    ):
        expected = model.predict(X) if kind == "regressor" else model.decision_function(X)
        machine = read_svm(model)
        np.testing.assert_allclose(machine.decision_function(X), expected, atol=1e-9)
        assert machine.kind == kind


@pytest.mark.parametrize("name", ["rbf", "linear", "poly", "sigmoid", "laplacian", "cosine", "chi2"])
def test_kernels_are_scikit_learns(name):
    X, Y = np.abs(np.random.default_rng(0).normal(size=(2, 6, 4)))
    keywords = {"gamma": 0.4} if name not in ("linear", "cosine") else {}
    if name in ("poly", "sigmoid"):
        keywords["coef0"] = 0.7
    expected = pairwise_kernels(X, Y, name, **keywords)
    np.testing.assert_allclose(Kernel(name, 0.4, 3, 0.7).matrix(X, Y), expected, atol=1e-12)


@pytest.mark.parametrize("kernel", [*(Kernel(name, 0.4, 3, 0.7) for name in KERNELS), *COMPOSED.values()], ids=str)
def test_gradient_agrees_with_finite_differences(kernel):
    generator = np.random.default_rng(0)
    X, Y = generator.uniform(0.1, 2.0, size=(2, 6, 3))
    for weights in (generator.normal(size=6), generator.normal(size=(6, 6))):
        gradient = kernel.gradient(X, Y, weights)
        for column in range(3):
            step = np.zeros(3)
            step[column] = 1e-6
            change = kernel.matrix(X + step, Y) - kernel.matrix(X - step, Y)
            np.testing.assert_allclose(gradient[:, column], (change * weights).sum(axis=1) / 2e-6, rtol=1e-5, atol=1e-7)


def test_gradient_where_a_kernel_has_none():
    point = np.zeros((1, 2))
    assert Kernel("laplacian").gradient(point, point, np.ones(1)).tolist() == [[0.0, 0.0]]
    assert Kernel("cosine").gradient(point, np.ones((1, 2)), np.ones(1)).tolist() == [[0.0, 0.0]]
    assert Kernel("chi2").gradient(point, point, np.ones(1)).tolist() == [[0.0, 0.0]]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), split=st.integers(1, 5))
def test_statistics_are_additive_over_columns(seed, split):
    X, Y = np.random.default_rng(seed).uniform(0, 3, size=(2, 5, 6))
    for kernel in [*(Kernel(name, 0.4, 3, 0.7) for name in KERNELS), *COMPOSED.values()]:
        left, right = (kernel.statistics(X[:, c], Y[:, c]) for c in (slice(None, split), slice(split, None)))
        whole = kernel.statistics(X, Y)
        np.testing.assert_allclose(
            kernel.from_statistics(add_statistics(left, right)), kernel.matrix(X, Y), rtol=1e-9, atol=1e-12
        )
        without = kernel.from_statistics(add_statistics(whole, left, -1))
        np.testing.assert_allclose(without, kernel.matrix(X[:, split:], Y[:, split:]), rtol=1e-7, atol=1e-9)


def test_rbf_statistics_are_squared_distances():
    X, Y = np.random.default_rng(0).normal(size=(2, 5, 3))
    np.testing.assert_allclose(Kernel("rbf").statistics(X, Y)[0], cdist(X, Y, "sqeuclidean"), atol=1e-12)


def test_gamma_is_the_fitted_one():
    X, y = data(2)
    model = SVC(gamma="scale", random_state=0).fit(X, y)
    assert resolve_kernel(model).gamma == pytest.approx(1 / (5 * X.var()))


def test_what_is_not_understood_is_named():
    X, y = data(2)
    own = SVC(kernel=lambda a, b: a @ b.T, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"kernel=a callable has no formula.*'rbf', 'linear'.*laplacian"):
        read_svm(own)
    with pytest.raises(ValueError, match="kernel='precomputed' has no formula"):
        read_svm(SVC(kernel="precomputed", random_state=0).fit(X @ X.T, y))
    with pytest.raises(TypeError, match="LogisticRegression is no kernel SVM"):
        read_svm(LogisticRegression())
    with pytest.raises(ValueError, match="kernel='gauss' is not accepted"):
        Kernel("gauss")
    with pytest.raises(TypeError, match="each a Kernel"):
        CompositeKernel("sum", ("rbf",))
