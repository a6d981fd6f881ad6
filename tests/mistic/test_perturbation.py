"""Perturbations and criteria equal what a kernel recomputed from scratch gives; ranks follow their definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC, SVR, OneClassSVM

from explicate.mistic.kernels import KERNELS, NAMED, Kernel
from explicate.mistic.machine import read_svm
from explicate.mistic.perturbation import (
    decision_perturbation,
    dual_criterion,
    kernel_mass_criterion,
    one_class_contribution,
    probability_perturbation,
)
from explicate.mistic.ranking import blend_ranks, combined_rank, ordinal_ranks

GROUPS = {"pair": [0, 3], "one": [1], "other": [2], "wide": [4, 5, 6]}
EVERY = {name: name if name in NAMED else Kernel(name, 0.2) for name in KERNELS}
EVERY["mixed"] = Kernel("rbf", 0.2) * Kernel("laplacian", 0.1) + Kernel("linear")


def data(n_classes=2, n_rows=60):
    X, y = make_classification(
        n_rows, 7, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=3
    )
    return X - X.min(axis=0), np.array(["ash", "birch", "cedar"])[y]


def recomputed(model, X, support, columns):
    """Decisions of the frozen machine with its kernel built from scratch on other columns."""
    machine = read_svm(model)
    return machine.kernel.matrix(X[:, columns], support[:, columns]) @ machine.beta.T


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", EVERY)
@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_groups_by_brute_force(direction, kernel, n_classes):
    X, y = data(n_classes)
    active = list(range(7)) if direction == "backward" else [1, 2]
    model = SVC(kernel=EVERY[kernel], gamma="scale", coef0=0.3, random_state=0).fit(X[:, active], y)
    support, machine = X[model.support_], read_svm(model)
    rows = X[:11]
    keywords = {"groups": GROUPS, "direction": direction, "active": active, "X_train": X}
    found = decision_perturbation(model, rows, normalization="sqrt", **keywords)
    dual = dual_criterion(model, normalization="none", **keywords)
    mass = kernel_mass_criterion(model, normalization="per_feature", **keywords)
    expected = [name for name, group in GROUPS.items() if (group[0] in active) == (direction == "backward")]
    assert list(found.names) == expected == list(dual.index)
    for position, name in enumerate(expected):
        group = set(GROUPS[name])
        changed = sorted(set(active) - group if direction == "backward" else set(active) | group)
        before, after = (recomputed(model, rows, support, columns) for columns in (active, changed))
        np.testing.assert_allclose(found.values[position], (before - after) / len(group) ** 0.5, atol=1e-9)
        kernels = [machine.kernel.matrix(support[:, c], support[:, c]) for c in (active, changed)]
        change = kernels[0] - kernels[1]
        gain = change if direction == "backward" else -change  # with the group, minus without
        quadratic = [beta @ gain @ beta / 2 for beta in machine.beta]
        assert dual[name] == pytest.approx(sum(quadratic), rel=1e-7, abs=1e-9)
        proxy = -(machine.beta**2).sum() * change.sum() / 2 / len(group)
        assert mass[name] == pytest.approx(proxy, rel=1e-7, abs=1e-7)
    energy = (found.values**2).sum(axis=(1, 2))
    np.testing.assert_allclose(found.energy, energy)
    np.testing.assert_allclose(found.to_frame()["total"], np.abs(found.values).sum(axis=(1, 2)))


def test_nothing_perturbed_is_the_models_decision():
    X, y = data(3)
    model = SVC(random_state=0).fit(X, y)
    # All columns in one group: what is left is a kernel of ones.
    gone = decision_perturbation(model, X, {"all": range(7)}, normalization="none").values[0]
    machine = read_svm(model)
    np.testing.assert_allclose(gone + machine.beta.sum(axis=1) + machine.intercept, machine.decisions(X), atol=1e-9)


def test_linear_dual_criterion_is_rfes_squared_weight():
    X, y = data()
    model = SVC(kernel="linear", random_state=0).fit(X, y)
    np.testing.assert_allclose(dual_criterion(model), model.coef_[0] ** 2 / 2, atol=1e-12)


@pytest.mark.global_random  # libsvm draws its seed from the global generator
def test_regression_and_one_class_machines_are_perturbed():
    X, _ = data()
    for model in (SVR().fit(X, X[:, 1]), OneClassSVM(nu=0.3).fit(X)):
        found = decision_perturbation(model, X[:5])
        before, after = (recomputed(model, X[:5], model.support_vectors_, c) for c in (range(7), range(1, 7)))
        np.testing.assert_allclose(found.values[0], before - after, atol=1e-9)


def test_probability_is_the_chain_rule_of_the_decision():
    X, y = data()
    model = CalibratedClassifierCV(SVC(random_state=0), ensemble=False, cv=3).fit(X, y)
    found = probability_perturbation(model, X)
    inner = model.calibrated_classifiers_[0]
    sigmoid = inner.calibrators[0]
    p = model.predict_proba(X)[:, 1]
    change = decision_perturbation(inner.estimator, X).values[:, :, 0]
    np.testing.assert_allclose(found.values[:, :, 0], -sigmoid.a_ * p * (1 - p) * change, atol=1e-9)
    with pytest.raises(ValueError, match="on two classes"):
        probability_perturbation(CalibratedClassifierCV(SVC(random_state=0), ensemble=False, cv=3).fit(*data(3)), X)


@pytest.mark.global_random
def test_one_class_eligibility_is_per_group():
    # With the offset frozen every group of an RBF kernel keeps the coverage (removed) or loses it (added).
    generator = np.random.default_rng(0)
    train = generator.normal(size=(120, 4))
    rows = np.column_stack([generator.normal(0.0, 0.6, size=(60, 3)), generator.normal(3.0, 1.0, size=60)])
    model = OneClassSVM(nu=0.2, gamma=0.1).fit(train)
    usual = generator.normal(size=(60, 4))
    frozen = model.decision_function(usual)[None] - decision_perturbation(model, usual).values[:, :, 0]
    assert ((frozen >= 0).mean(axis=1) >= 0.8).all()
    table = one_class_contribution(model, rows, X_train=train)
    assert table["eligible"].tolist() == [False, False, False, True]
    np.testing.assert_allclose(one_class_contribution(model, train)["coverage"], 0.8)
    ranks = combined_rank(model, rows, X_train=train, weight=1.0)
    assert ranks.idxmin() == 3  # its removal protects the coverage, so it goes first
    part = OneClassSVM(nu=0.2, gamma=0.1).fit(train[:, :2])
    forward = combined_rank(part, rows, direction="forward", active=[0, 1], X_train=train, weight=1.0)
    assert forward.idxmax() == 2


def test_objective_rank_is_right_both_ways():
    X, y = make_classification(
        500, 100, n_informative=10, n_redundant=10, weights=[0.55, 0.45], flip_y=0.03, shuffle=False, random_state=2026
    )  # Synthetic-100
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    signal = np.arange(100) < 20
    whole = SVC(gamma=2**-7, random_state=0).fit(X, y)
    assert roc_auc_score(signal, dual_criterion(whole)) > 0.95
    start = [0, 11]
    part = SVC(gamma=2**-5, random_state=0).fit(X[:, start], y)
    keywords = {"direction": "forward", "active": start, "X_train": X}
    added = dual_criterion(part, **keywords)
    assert roc_auc_score(signal[added.index], added) > 0.8
    proxy = combined_rank(part, X, weight=0.0, objective="kernel_mass", **keywords)
    assert roc_auc_score(signal[proxy.index], proxy) < 0.5  # the published order adds noise first
    published = kernel_mass_criterion(part, **keywords)
    assert proxy.idxmax() == published.idxmin()


def test_the_dual_criterion_keeps_its_sign():
    # A narrow kernel: every column, taken out, raises the form of the frozen machine less than a signal column lowers
    # it; absolute values then call the noise important (area below 0.1 here).
    X, y = make_classification(200, 30, n_informative=5, n_redundant=3, n_classes=3, shuffle=False, random_state=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    signal = np.arange(30) < 8
    model = SVC(gamma=0.15, random_state=0).fit(X, y)
    criterion = dual_criterion(model)
    assert roc_auc_score(signal, criterion) > 0.97
    assert roc_auc_score(signal, criterion.abs()) < 0.1
    np.testing.assert_allclose(dual_criterion(model, {"one": [0]})["one"], criterion[0])


@pytest.mark.global_random
def test_one_class_has_the_magnitude():
    X, _ = data()
    model = OneClassSVM(nu=0.3).fit(X)
    machine = read_svm(model)
    support, beta = machine.support_vectors, machine.beta[0]
    whole = machine.kernel.matrix(support, support)
    less = machine.kernel.matrix(support[:, 1:], support[:, 1:])
    assert beta @ (whole - less) @ beta < 0
    assert dual_criterion(model)[0] == pytest.approx(-beta @ (whole - less) @ beta / 2)


@pytest.mark.peer
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # raised in the peer
def test_the_published_package_computes_the_same_perturbations():
    from mistic import cvSet, kernelWrapper, paramSet, score_svc, svmSet

    X, y = make_classification(150, 12, n_informative=4, random_state=0)
    splits = cvSet(X=X, y=y)
    splits.classification(num_sets=2)
    peer = svmSet(
        SVC(kernel="precomputed", tol=1e-12),
        splits,
        score_method=score_svc().score,
        kernel=kernelWrapper(type="rbf"),
        separate_feature_sets=True,
        separate_parameters=True,
    )
    peer.tune_models([paramSet(model={"C": 1.0}, kernel={"gamma": 1 / 12})])
    rows = splits.train[0]
    ours = SVC(C=1.0, gamma=1 / 12, tol=1e-12, random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(peer.feature_importance_(0), kernel_mass_criterion(ours), rtol=1e-9)
    found = decision_perturbation(ours, X).values[:, :, 0].T
    np.testing.assert_allclose(peer.decision_perturbation_(0, X), found, atol=1e-9)


def test_gamma_stays_the_fitted_one():
    X, y = data()
    scaled, fixed = SVC(random_state=0).fit(X, y), SVC(gamma=1 / (7 * X.var()), random_state=0).fit(X, y)
    first, second = (decision_perturbation(model, X).values for model in (scaled, fixed))
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_ranks_share_ties_and_follow_the_columns():
    assert ordinal_ranks(np.array([2.0, 1.0, 2.0])).tolist() == [1.5, 0.0, 1.5]
    assert blend_ranks(np.array([1.0, 2.0]), np.array([5.0, 3.0]), 0.25).tolist() == [0.75, 0.25]
    X, y = data()
    model = SVC(random_state=0).fit(X, y)
    order = np.array([3, 1, 6, 0, 2, 5, 4])
    moved = SVC(random_state=0).fit(X[:, order], y)
    np.testing.assert_allclose(combined_rank(moved, X[:, order]), combined_rank(model, X)[order])
    doubled = np.column_stack([X, X[:, 2]])
    ranks = combined_rank(SVC(random_state=0).fit(doubled, y), doubled)
    assert ranks[2] == pytest.approx(ranks[7])
    constant = np.column_stack([X, np.ones(len(X))])
    assert combined_rank(SVC(random_state=0).fit(constant, y), constant).idxmin() == 7


def test_frames_speak_by_name_and_rows_are_left_alone():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    model = SVC(random_state=0).fit(frame, y)
    plain = SVC(random_state=0).fit(X, y)
    rows = X.copy()
    rows.flags.writeable = False
    by_name = decision_perturbation(model, frame[list("gfedcba")], {"pair": ["a", "d"]})
    assert by_name.names[0] == "pair"
    np.testing.assert_allclose(by_name.values, decision_perturbation(plain, rows, {"pair": [0, 3]}).values)


def test_what_cannot_be_done_is_said():
    X, y = data()
    model = SVC(random_state=0).fit(X[:, :2], y)
    with pytest.raises(ValueError, match="needs X_train"):
        decision_perturbation(model, X, direction="forward", active=[0, 1])
    with pytest.raises(ValueError, match="group 'half' has 1 of its 2 columns in the model"):
        decision_perturbation(model, X, {"half": [1, 2]}, active=[0, 1], X_train=X)
    with pytest.raises(ValueError, match="does not hold the model's support vectors"):
        decision_perturbation(model, X, direction="forward", active=[2, 3], X_train=X)
    with pytest.raises(ValueError, match="fitted on 2 columns, active names 7"):
        decision_perturbation(model, X)
    with pytest.raises(ValueError, match="in 'a' and 'b'"):
        decision_perturbation(model, X[:, :2], {"a": [0], "b": [0, 1]})
    with pytest.raises(ValueError, match="missing or infinite"):
        decision_perturbation(model, np.full((2, 2), np.nan))
    with pytest.raises(ValueError, match="direction='up' is not accepted"):
        decision_perturbation(model, X[:, :2], direction="up")
    with pytest.raises(MemoryError, match="give fewer rows"):
        decision_perturbation(model, X[:, :2], max_memory=100)
